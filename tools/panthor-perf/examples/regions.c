// SPDX-License-Identifier: MIT
/* regions RECORDING COUNTER: the mean of a counter, such as MaliCoreUtil, in each region of a recording. */
#include <stdio.h>
#include <stdlib.h>
#include <panthor-perf.h>

int main(int argc, char **argv)
{
	const struct pperf_region *const *regions;
	const struct pperf_counter *counter;
	const struct pperf_sample *sample;
	struct pperf_recording *recording;
	struct pperf_sums **sums;
	const struct pperf_db *db;
	size_t count, n;
	double value;

	if (argc != 3 || pperf_recording_open(argv[1], &recording))
		return fprintf(stderr, "%s\n", argc == 3 ? pperf_message() : "regions RECORDING COUNTER"), 1;
	db = pperf_recording_db(recording);
	counter = pperf_db_find(db, argv[2]);
	regions = pperf_recording_regions(recording, &count);
	sums = calloc(count, sizeof(*sums));
	if (!counter || !sums)
		return fprintf(stderr, "there is no counter %s\n", argv[2]), 1;
	for (n = 0; n < count; n++)
		if (pperf_sums_new(db, pperf_recording_info(recording)->gpu, &sums[n]))
			return fprintf(stderr, "%s\n", pperf_message()), 1;

	while (!pperf_recording_next(recording, &sample) && sample)
		pperf_sums_add(sums[pperf_recording_region(recording, (sample->start_ns + sample->end_ns) / 2)], sample);

	for (n = 0; n < count; n++)
		if (!pperf_sums_value(sums[n], counter, &value))
			printf("%12.3f %s  %s\n", value, counter->unit, *regions[n]->name ? regions[n]->name : "(no region)");
	pperf_recording_close(recording);
	return 0;
}
