// SPDX-License-Identifier: MIT
/* Compares the rate at which the GPU's clock ran with the nominal one. */
#define _GNU_SOURCE
#include "rates.h"

#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>

#include "common.h"

/* The nominal rate is read at this interval at most. */
#define READ_NS 100000000ull

/* Powered time below which the ends of samples matter: each is exact to about 0.1 ms. */
#define MIN_SECONDS 0.05

/* How often devfreq has changed the rate, which may be back where it was. Returns false if that is not known. */
static bool read_changes(const struct pperf_gpu *gpu, uint64_t *changes)
{
	const char *sysfs = pperf_gpu_info(gpu)->sysfs;
	char pattern[PATH_MAX], line[4096];
	bool known = false;
	glob_t found;
	FILE *file;

	snprintf(pattern, sizeof(pattern), "%s/devfreq/*/trans_stat", sysfs ? sysfs : "");
	if (!sysfs || glob(pattern, 0, NULL, &found))
		return false;
	file = fopen(found.gl_pathv[0], "re");
	globfree(&found);
	while (file && !known && fgets(line, sizeof(line), file))
		known = sscanf(line, "Total transition : %" SCNu64, changes) == 1;
	if (file)
		fclose(file);
	return known;
}

void rates_read(struct rates_meter *m, const struct pperf_gpu *gpu, bool now)
{
	uint64_t time = now_ns(CLOCK_MONOTONIC_RAW), hz = 0, changes = 0;

	if (!now && time - m->read_ns < READ_NS)
		return;
	if (!read_changes(gpu, &changes) || pperf_gpu_frequency(gpu, &hz))
		hz = 0;
	if (hz == m->hz && changes == m->changes) {
		m->seconds += hz ? m->new_seconds : 0;
		m->cycles += hz ? m->new_cycles : 0;
		m->nominal_cycles += m->new_seconds * hz;
	} else if (m->read_ns) {
		/* The rate may have changed while it was read. */
		m->valid_ns = now_ns(CLOCK_MONOTONIC_RAW);
	}
	m->new_seconds = m->new_cycles = 0;
	m->read_ns = time;
	m->hz = hz;
	m->changes = changes;
}

void rates_add(struct rates_meter *m, const struct pperf_sample *sample)
{
	const struct pperf_block *front_end = pperf_sample_block(sample, PPERF_BLOCK_CSHW, 0);

	/* How much of a sample's time was powered is only known if all of it was. */
	if (!front_end || (front_end->states & (PPERF_STATE_ON | PPERF_STATE_OFF)) != PPERF_STATE_ON ||
	    sample->start_ns < m->valid_ns || sample->flags & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR))
		return;
	m->new_seconds += (sample->end_ns - sample->start_ns) / 1e9;
	m->new_cycles += sample->cycles[PPERF_CLOCK_TOPLEVEL];
}

struct rates rates_of(const struct rates_meter *m)
{
	struct rates rates = {};

	if (m->seconds < MIN_SECONDS)
		return rates;
	rates.measured_hz = llround(m->cycles / m->seconds);
	rates.nominal_hz = llround(m->nominal_cycles / m->seconds);
	return rates;
}
