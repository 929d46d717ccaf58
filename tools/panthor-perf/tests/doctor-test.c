// SPDX-License-Identifier: MIT
/* panthor-perf doctor alone, with the GPU of fake-gpu.c. */
#include "commands.h"
#include "common.h"

int main(int argc, char **argv)
{
	return command_doctor(argc, argv);
}
