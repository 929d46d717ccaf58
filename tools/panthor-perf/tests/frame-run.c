// SPDX-License-Identifier: MIT
/* frame-run COMMAND...: runs each command, by the shell; each is a frame. */
#include <stdlib.h>

#include "panthor-perf.h"

int main(int argc, char **argv)
{
	int i;

	pperf_frame();
	for (i = 1; i < argc; i++) {
		if (system(argv[i]))
			return 1;
		pperf_frame();
	}
	return 0;
}
