// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "region-sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum pperf_error regions_begin(struct regions *r, const struct pperf_db *db, const struct pperf_gpu_info *info)
{
	enum pperf_error error = PPERF_OK;
	size_t n;

	for (n = 0; n < r->count && !error; n++) {
		error = pperf_sums_new(db, info, &r->list[n].sums);
		if (!error)
			error = pperf_sums_new(db, info, &r->list[n].sure);
		if (!error)
			error = pperf_sums_new(db, info, &r->list[n].across);
	}
	return error;
}

void regions_add(struct regions *r, const struct pperf_columns *columns, const struct pperf_sample *sum, uint32_t region,
		 bool sure)
{
	size_t n, last;

	if (!r->samples)
		r->start_ns = columns->start_ns[0];
	r->samples += columns->count;
	r->end_ns = columns->end_ns[columns->count - 1];

	pperf_sums_add_columns(r->list[region].sums, columns, sum);
	if (sure) {
		pperf_sums_add_columns(r->list[region].sure, columns, sum);
		return;
	}
	/* There is one sample alone, of some length. */
	last = pperf_regions_marks_until(r, r->end_ns - 1);
	for (n = pperf_regions_marks_until(r, columns->start_ns[0]); n <= last; n++) {
		region = region_behind(r, n);
		if (r->list[region].latest == r->samples)
			continue;
		r->list[region].latest = r->samples;
		pperf_sums_add_columns(r->list[region].across, columns, sum);
	}
}

double regions_uncertain(const struct region *region)
{
	double across, all;

	/* Of no samples at all. */
	if (!region->across)
		return 0;
	across = pperf_sums_seconds(region->across);
	all = pperf_sums_seconds(region->sure) + across;
	return all > 0 ? across / all : 0;
}

static void print_column(FILE *out, double value, const char *unit)
{
	char text[32];

	fprintf(out, " %12s", isfinite(value) ? scaled(value, unit, text, sizeof(text)) : "-");
}

static const char *seconds_text(const struct region *region, char buffer[32])
{
	snprintf(buffer, 32, "%.6f", region->lasts_ns / 1e9);
	group_digits(buffer, 32);
	return buffer;
}

static void print_region(FILE *out, const struct region *region, const struct figures_source *source,
			 const struct job_times *jobs, int time_width, int times_width)
{
	char number[32], reason[JOB_TIMES_TEXT];
	struct figures f = figures_of(source, region->sums);
	bool missing = pperf_sums_flags(region->sums) & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR);

	fprintf(out, "%*s s", time_width, seconds_text(region, number));
	fprintf(out, " %*s", times_width, *region->name ? grouped(region->times, number) : "");
	if (f.has_load && pperf_sums_samples(region->sums))
		fprintf(out, " %6.1f %%", 100 * f.load.of_time);
	else
		fprintf(out, " %8s", "-");
	print_column(out, f.hz, "Hz");
	print_column(out, f.read, "B/s");
	print_column(out, f.written, "B/s");
	if (jobs)
		fprintf(out, " %6.1f %%  %-26s", job_times_percent(jobs, job_times_idle(jobs)), job_times_reason_text(jobs, reason));
	fprintf(out, " %6.1f %%  ", 100 * regions_uncertain(region));
	print_text(out, *region->name ? region->name : "(no region)");
	fprintf(out, "%s\n", missing ? " (counts may be missing)" : "");
}

void regions_print(FILE *out, const struct regions *r, const struct figures_source *source, const struct job_times *jobs)
{
	int time_width = 12, times_width = 7;
	char number[32];
	size_t n;

	for (n = 0; n < r->count; n++) {
		time_width = widen(time_width, seconds_text(&r->list[n], number));
		times_width = widen(times_width, grouped(r->list[n].times, number));
	}
	fprintf(out, "\n%*s %*s %8s %12s %12s %12s", time_width + 2, "time", times_width, "times", "load", "frequency", "read",
		"written");
	if (jobs)
		fprintf(out, " %8s  %-26s", "GPU idle", "mostly");
	fprintf(out, " %8s  %s\n", "across", "region");
	for (n = 1; n < r->count; n++)
		print_region(out, &r->list[n], source, jobs ? &jobs[n] : NULL, time_width, times_width);
	print_region(out, &r->list[0], source, jobs, time_width, times_width);
	fputs("across: share of time from samples that overlap another region; each counts where its midpoint is\n", out);
}
