// SPDX-License-Identifier: MIT
/* What is to be said of the counters and metrics of a recording. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "view.h"

/* Memory for the values of samples. What does not fit is read in further passes. */
#define VALUES_BYTES (256ull << 20)

const int summary_percentiles[SUMMARY_PERCENTILES] = { 50, 95, 99 };

int add_pattern(char ***patterns, unsigned int *count, char *list)
{
	char **more = reallocarray(*patterns, *count + 1, sizeof(*more));

	if (!more)
		return -1;
	*patterns = more;
	more[(*count)++] = list;
	return 0;
}

/* Everything that the recorded counters give, or what is asked for. */
static enum pperf_error choose(struct view *v, char *const *patterns, unsigned int num_patterns,
			       struct pperf_selection *selection)
{
	const struct recording_head *head = &v->recording.head;
	const struct pperf_counter *const *counters;
	enum pperf_error error = PPERF_OK;
	unsigned int type, value, i;
	size_t count, n;

	for (i = 0; i < num_patterns && !error; i++)
		error = pperf_selection_add_list(selection, patterns[i]);
	if (error || num_patterns)
		return error;

	for (type = 1; type < PPERF_BLOCK_TYPES && !error; type++)
		for (value = PPERF_FIRST_COUNTER; value < head->gpu.values_per_block && !error; value++)
			if (head->gpu.blocks[type] && (head->masks.bits[type][value / 64] >> (value % 64) & 1))
				error = pperf_selection_add_counter(selection, pperf_db_at(v->db, type, value));

	counters = pperf_db_counters(v->db, &count);
	for (n = 0; n < count && !error; n++)
		if (counters[n]->equation && counters[n]->kind != PPERF_KIND_CONSTANT &&
		    pperf_counter_in(v->db, counters[n], &head->masks) &&
		    pperf_counter_exists(v->db, counters[n], &head->gpu))
			error = pperf_selection_add_counter(selection, counters[n]);
	return error;
}

/* ---- What each sample says ---- */

struct period {
	uint64_t start_ns, end_ns;
};

/* A value, or NAN, and the time for which it stands. */
struct point {
	double value, weight;
};

static double sample_value(const struct pperf_sums *sums, const struct pperf_counter *counter)
{
	double value, seconds = pperf_sums_seconds(sums);

	if (pperf_sums_value(sums, counter, &value))
		return NAN;
	if (counter->kind != PPERF_KIND_COUNT)
		return value;
	return seconds > 0 ? value / seconds : NAN;
}

enum recording_item view_changed(struct view *v)
{
	snprintf(v->recording.error, sizeof(v->recording.error), "the file changed while it was being read");
	return RECORDING_UNREADABLE;
}

/* Reads the recording once more, and what each sample says of some counters. Returns what ended it. */
static enum recording_item read_values(struct view *v, const struct summary *list, size_t count,
				       struct period *periods, double *values, size_t samples,
				       struct pperf_sums *sums, enum pperf_error *error)
{
	enum recording_item item;
	size_t n = 0, i;

	*error = PPERF_OK;
	if (view_rewind(v))
		return RECORDING_UNREADABLE;

	while ((item = view_next(v)) == RECORDING_SAMPLE) {
		/* A file that has grown meanwhile. */
		if (n == samples)
			return RECORDING_CUT;
		pperf_sums_reset(sums);
		*error = pperf_sums_add(sums, &v->recording.sample);
		if (*error)
			return item;
		periods[n].start_ns = v->recording.sample.start_ns;
		periods[n].end_ns = v->recording.sample.end_ns;
		for (i = 0; i < count; i++)
			values[i * samples + n] = sample_value(sums, list[i].counter);
		n++;
	}
	return item <= RECORDING_CUT && n < samples ? view_changed(v) : item;
}

static int by_value(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

/* Means of the values over so many equal parts of the time, NAN where there is no time. */
static void mean_by_part(const struct period *periods, const double *values, size_t samples, uint64_t start,
			 uint64_t end, double *means, unsigned int parts)
{
	double length = (double)(end - start) / parts, time[SUMMARY_BINS] = {}, from, to, overlap;
	unsigned int part, last;
	size_t n;

	memset(means, 0, parts * sizeof(*means));
	for (n = 0; n < samples && length > 0; n++) {
		if (isnan(values[n]))
			continue;
		from = periods[n].start_ns - start;
		to = periods[n].end_ns - start;
		part = from / length;
		last = to / length;
		for (; part <= last && part < parts; part++) {
			overlap = fmin(to, (part + 1) * length) - fmax(from, part * length);
			if (overlap <= 0)
				continue;
			means[part] += values[n] * overlap;
			time[part] += overlap;
		}
	}
	for (part = 0; part < parts; part++)
		means[part] = time[part] > 0 ? means[part] / time[part] : NAN;
}

static double noise_of(const double *means, unsigned int parts, double mean)
{
	double sum = 0, squares = 0;
	unsigned int i, n = 0;

	for (i = 0; i < parts; i++) {
		if (isnan(means[i]))
			continue;
		sum += means[i];
		n++;
	}
	for (i = 0; i < parts; i++)
		if (!isnan(means[i]))
			squares += (means[i] - sum / n) * (means[i] - sum / n);
	return n > 1 && mean != 0 ? sqrt(squares / (n - 1) / n) / fabs(mean) : 0;
}

struct bin *line_new(const struct summaries *s)
{
	struct bin *line = calloc(s->bins + 1, sizeof(*line));
	size_t i;

	for (i = 0; line && i < s->bins; i++) {
		line[i].min = INFINITY;
		line[i].max = -INFINITY;
	}
	return line;
}

size_t line_bin(const struct summaries *s, uint64_t sample)
{
	return sample * s->bins / s->log.samples;
}

void line_add(struct bin *bin, double value, double weight)
{
	if (isnan(value))
		return;
	bin->mean += value * weight;
	bin->weight += weight;
	if (value < bin->min)
		bin->min = value;
	if (value > bin->max)
		bin->max = value;
}

void line_end(struct bin *line, const struct summaries *s)
{
	size_t i;

	for (i = 0; i < s->bins; i++) {
		/* Samples of no time at all are one, or alike. */
		if (line[i].weight > 0)
			line[i].mean /= line[i].weight;
		else
			line[i].mean = line[i].min <= line[i].max ? line[i].min : NAN;
	}
}

static int make_line(struct summary *one, const struct summaries *s, const struct period *periods,
		     const double *values)
{
	size_t n;

	one->line = line_new(s);
	if (!one->line)
		return -1;
	for (n = 0; n < s->log.samples; n++)
		line_add(&one->line[line_bin(s, n)], values[n], periods[n].end_ns - periods[n].start_ns);
	line_end(one->line, s);
	return 0;
}

static void summarize_values(struct summary *s, const struct period *periods, const double *values,
			     size_t samples, const struct pperf_log *log, struct point *points)
{
	double weight = 0, seen = 0, parts[SUMMARY_PARTS];
	size_t n, count = 0;
	unsigned int p = 0;

	for (n = 0; n < samples; n++) {
		if (isnan(values[n]))
			continue;
		points[count].value = values[n];
		points[count].weight = periods[n].end_ns - periods[n].start_ns;
		weight += points[count++].weight;
	}
	s->valid &= count > 0;
	if (!s->valid)
		return;

	qsort(points, count, sizeof(*points), by_value);
	s->min = points[0].value;
	s->max = points[count - 1].value;
	for (n = 0; n < count; n++) {
		seen += points[n].weight;
		for (; p < SUMMARY_PERCENTILES && seen >= weight * summary_percentiles[p] / 100; p++)
			s->percentile[p] = points[n].value;
	}
	for (; p < SUMMARY_PERCENTILES; p++)
		s->percentile[p] = s->max;

	mean_by_part(periods, values, samples, log->start_ns, log->end_ns, s->timeline, SUMMARY_BINS);
	mean_by_part(periods, values, samples, log->start_ns, log->end_ns, parts, SUMMARY_PARTS);
	s->noise = noise_of(parts, SUMMARY_PARTS, s->mean);
}

/* What follows from the sums of all samples. */
static void summarize_sums(struct summary *s, const struct pperf_sums *sums, const struct view *v)
{
	const struct pperf_counter *counter = s->counter;
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	double seconds = pperf_sums_seconds(sums), cycles;
	const struct pperf_block *block;

	s->share = -1;
	s->valid = !pperf_sums_value(sums, counter, &s->mean);
	if (!s->valid)
		return;
	if (counter->kind != PPERF_KIND_COUNT)
		return;

	s->total = s->mean;
	s->mean = seconds > 0 ? s->total / seconds : 0;
	if (counter->equation || strcmp(counter->unit, "cycles"))
		return;
	/* Blocks of a type run with the same clock, in all samples. */
	block = pperf_sample_block(&v->recording.sample, counter->type, 0);
	cycles = (double)pperf_sums_cycles(sums, block->clock) * info->blocks[counter->type];
	if (cycles > 0)
		s->share = s->total / cycles;
}

/* The first pass: sums, top-down, and how many samples there are. Returns what ended it. */
static enum recording_item add_up(struct view *v, struct summaries *s, enum pperf_error *error)
{
	enum recording_item item;

	*error = PPERF_OK;
	while ((item = view_next(v)) == RECORDING_SAMPLE) {
		pperf_log_add(&s->log, &v->recording.sample);
		*error = pperf_sums_add(s->sums, &v->recording.sample);
		if (*error)
			return item;
		if (s->topdown && pperf_topdown_add(s->topdown, &v->recording.sample)) {
			/* Not all of it was recorded, or no GPU could have counted this. */
			pperf_topdown_free(s->topdown);
			s->topdown = NULL;
		}
	}
	return item;
}

static int no_memory(void)
{
	complain("out of memory");
	return STATUS_FAILED;
}

/* Further passes, each for as many counters as there is memory for. */
static int summarize_samples(struct view *v, struct summaries *s)
{
	size_t samples = s->log.samples, batch, first, n, i;
	struct pperf_sums *sums = NULL;
	struct period *periods = calloc(samples, sizeof(*periods));
	struct point *points = calloc(samples, sizeof(*points));
	enum pperf_error error;
	enum recording_item item;
	double *values = NULL;
	int status = STATUS_OK;

	batch = VALUES_BYTES / sizeof(*values) / samples;
	batch = batch < 1 ? 1 : batch > s->count ? s->count : batch;
	values = calloc(batch * samples + 1, sizeof(*values));
	if (!periods || !points || !values) {
		status = no_memory();
		goto out;
	}
	error = pperf_sums_new(v->db, &v->recording.head.gpu, &sums);
	if (error) {
		status = complain_of(error);
		goto out;
	}

	for (first = 0; first < s->count && !status; first += n) {
		n = s->count - first < batch ? s->count - first : batch;
		item = read_values(v, s->list + first, n, periods, values, samples, sums, &error);
		if (error)
			status = complain_of(error);
		else if (item > RECORDING_CUT)
			status = view_finish(v, item);
		for (i = 0; i < n && !status; i++) {
			struct summary *one = &s->list[first + i];

			summarize_values(one, periods, values + i * samples, samples, &s->log, points);
			if (s->bins && make_line(one, s, periods, values + i * samples))
				status = no_memory();
		}
	}
out:
	pperf_sums_free(sums);
	free(periods);
	free(points);
	free(values);
	return status;
}

/* As many as there are samples, if they are not too many for all counters, and what else is drawn. */
static size_t choose_bins(const struct summaries *s)
{
	size_t bins = LINES_MAX_BINS / (s->count + 40);

	if (bins > LINE_MAX_BINS)
		bins = LINE_MAX_BINS;
	if (bins < 1)
		bins = 1;
	return bins < s->log.samples ? bins : s->log.samples;
}

int summarize(struct view *v, char *const *patterns, unsigned int num_patterns, enum summary_depth depth,
	      struct summaries *s)
{
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	const struct pperf_counter *const *counters;
	struct pperf_selection *selection = NULL;
	enum recording_item item;
	enum pperf_error error;
	int status;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->log.size = sizeof(s->log);
	error = pperf_sums_new(v->db, info, &s->sums);
	if (!error)
		error = pperf_selection_new(v->db, info, &selection);
	if (!error)
		error = choose(v, patterns, num_patterns, selection);
	if (!error) {
		error = pperf_topdown_new(v->db, info, &s->topdown);
		/* A layout of which nothing is known has no tree. */
		if (error == PPERF_ERROR_UNKNOWN)
			error = PPERF_OK;
	}
	if (error) {
		status = complain_of(error);
		goto out;
	}

	counters = pperf_selection_counters(selection, &s->count);
	s->list = calloc(s->count + 1, sizeof(*s->list));
	if (!s->list) {
		status = no_memory();
		goto out;
	}
	for (i = 0; i < s->count; i++) {
		s->list[i].counter = counters[i];
		if (pperf_counter_in(v->db, counters[i], &v->recording.head.masks))
			continue;
		complain("%s does not contain %s: it was not recorded", v->path, counters[i]->name);
		status = STATUS_USAGE;
		goto out;
	}

	item = add_up(v, s, &error);
	status = error ? complain_of(error) : view_finish(v, item);
	if (status)
		goto out;
	if (!s->log.samples) {
		if (v->region)
			complain("%s has no samples of region \"%s\", which is shorter than a sample", v->path,
				 v->regions.list[v->region].name);
		else
			complain("%s has no samples", v->path);
		goto out;
	}

	for (i = 0; i < s->count; i++)
		summarize_sums(&s->list[i], s->sums, v);
	if (depth == SUMMARY_LINES)
		s->bins = choose_bins(s);
	if (depth > SUMMARY_SUMS)
		status = summarize_samples(v, s);
out:
	pperf_selection_free(selection);
	if (status)
		summaries_free(s);
	return status;
}

void summaries_free(struct summaries *s)
{
	size_t i;

	pperf_sums_free(s->sums);
	pperf_topdown_free(s->topdown);
	for (i = 0; s->list && i < s->count; i++)
		free(s->list[i].line);
	free(s->list);
	memset(s, 0, sizeof(*s));
}
