// SPDX-License-Identifier: MIT
/* Prints the load of the GPU over 100 samples of 10 ms. */
#include <stdio.h>
#include <panthor-perf.h>

int main(void)
{
	struct pperf_session_options options = { .size = sizeof(options) };
	const struct pperf_counter *active;
	const struct pperf_sample *sample;
	struct pperf_session *session;
	struct pperf_sums *sums;
	struct pperf_load load;
	struct pperf_gpu *gpu;
	struct pperf_db *db;
	bool ready;

	options.period_ns = 10000000;
	if (pperf_gpu_open(NULL, &gpu) ||
	    pperf_db_open(pperf_gpu_info(gpu)->layout, &db))
		return fprintf(stderr, "%s\n", pperf_message()), 1;
	active = pperf_db_find(db, "MaliGPUActiveCy");
	if (!active)
		return fprintf(stderr, "this GPU's counters have no names\n"), 1;
	pperf_counter_needs(db, active, &options.masks);
	if (pperf_session_open(gpu, &options, &session) ||
	    pperf_sums_new(db, pperf_gpu_info(gpu), &sums) ||
	    pperf_session_start(session, 0))
		return fprintf(stderr, "%s\n", pperf_message()), 1;

	while (pperf_sums_samples(sums) < 100 && !pperf_session_wait(session, -1, &ready))
		while (!pperf_session_next(session, &sample) && sample)
			pperf_sums_add(sums, sample);

	if (!pperf_sums_load(sums, &load, sizeof(load)))
		printf("GPU load %.1f %%\n", 100 * load.of_time);
	pperf_session_close(session);
	pperf_gpu_close(gpu);
	return 0;
}
