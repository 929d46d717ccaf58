// SPDX-License-Identifier: MIT
/* hold-set SET   counts a counter set until it is killed; prints "counting" once it does */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <panthor-perf.h>

#define TRY(call)							\
	do {								\
		if (call) {						\
			fprintf(stderr, "hold-set: %s\n", pperf_message());	\
			return 1;					\
		}							\
	} while (0)

int main(int argc, char **argv)
{
	struct pperf_session_options options = { .size = sizeof(options) };
	struct pperf_session *session;
	struct pperf_gpu *gpu;

	if (argc != 2) {
		fprintf(stderr, "usage: hold-set SET\n");
		return 2;
	}
	options.set = atoi(argv[1]);
	options.masks.bits[PPERF_BLOCK_CSHW][0] = 1u << PPERF_FIRST_COUNTER;
	TRY(pperf_gpu_open(NULL, &gpu));
	TRY(pperf_session_open(gpu, &options, &session));
	TRY(pperf_session_start(session, 0));
	puts("counting");
	fflush(stdout);
	for (;;)
		pause();
}
