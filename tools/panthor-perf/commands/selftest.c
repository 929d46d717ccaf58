// SPDX-License-Identifier: MIT
/* panthor-perf selftest: the driver's selftests and a report of them, by a program of its own. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"

#define PROGRAM "panthor-perf-selftest"

int command_selftest(int argc, char **argv)
{
	(void)argc;
	argv[0] = (char *)PROGRAM;
	execvp(PROGRAM, argv);
	complain("cannot run %s: %s. It is installed with panthor-perf", PROGRAM, strerror(errno));
	return STATUS_FAILED;
}
