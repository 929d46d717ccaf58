// SPDX-License-Identifier: MIT
/* What is to be said of the counters and metrics of a recording. */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "batches.h"
#include "common.h"
#include "quantiles.h"
#include "view.h"

/* Equal parts of the time over which there are means: those that are shown, and those that noise is found by. */
static const unsigned int part_counts[BATCH_PARTS] = { SUMMARY_BINS, SUMMARY_PARTS };
#define MAX_PARTS SUMMARY_BINS

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
	enum pperf_error error = PPERF_OK;
	unsigned int i;

	for (i = 0; i < num_patterns && !error; i++)
		error = pperf_selection_add_list(selection, patterns[i]);
	return error || num_patterns ? error : pperf_records_select(&v->recording.head, v->db, selection);
}

double summary_noise(const double *means, unsigned int parts, double mean)
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
	return sample * s->bins / s->samples;
}

void line_add(struct bin *line, const struct summaries *s, uint64_t number, const double *values, const double *weights,
	      size_t count)
{
	size_t at = line_bin(s, number), i;
	/* The first sample behind the bin. */
	uint64_t next = ((at + 1) * s->samples + s->bins - 1) / s->bins;

	for (i = 0; i < count; i++) {
		if (number + i == next)
			next = ((++at + 1) * s->samples + s->bins - 1) / s->bins;
		if (isnan(values[i]))
			continue;
		line[at].mean += values[i] * weights[i];
		line[at].weight += weights[i];
		if (values[i] < line[at].min)
			line[at].min = values[i];
		if (values[i] > line[at].max)
			line[at].max = values[i];
	}
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

/* ---- What each sample says ---- */

/* A counter over all samples. */
struct counting {
	struct summary *summary;
	double min, max;
	struct quantiles quantiles;

	/* Values by the time for which they stand, and that time. */
	double sums[BATCH_PARTS][MAX_PARTS], times[BATCH_PARTS][MAX_PARTS];
	bool no_memory;
};

/* All that is read of a recording. Tasks: sums, top-down, and a counter each. */
struct reading {
	struct view *view;
	struct summaries *summaries;
	struct batches batches;
	struct adder adder;
	struct counting *countings;

	/* NULL if none are wanted; their tasks come last, from this one on. */
	const struct summary_lines *lines;
	size_t first_of_lines;
};

enum { TASK_SUMS, TASK_TOPDOWN, TASK_COUNTERS };

static void add_to_parts(struct counting *c, const struct reading *r, const struct batch *batch, unsigned int which,
			 const double *values)
{
	const struct batch_part *at = batch->parts[which];
	const struct pperf_columns *columns = &batch->columns;
	double overlap;
	unsigned int part;
	size_t n;

	for (n = 0; n < columns->count; n++, at++) {
		if (isnan(values[n]))
			continue;
		overlap = at->overlap;
		for (part = at->first; part <= at->last && part < part_counts[which]; part++) {
			if (part > at->first)
				overlap = batch_overlap(&r->batches, which, columns->start_ns[n], columns->end_ns[n], part);
			if (overlap <= 0)
				continue;
			c->sums[which][part] += values[n] * overlap;
			c->times[which][part] += overlap;
		}
	}
}

static void find_extremes(struct counting *c, const double *values, size_t count)
{
	double min = c->min, max = c->max;
	size_t n;

	/* NAN is neither. */
	for (n = 0; n < count; n++) {
		min = values[n] < min ? values[n] : min;
		max = values[n] > max ? values[n] : max;
	}
	c->min = min;
	c->max = max;
}

void view_values(const struct view *v, const struct pperf_columns *columns, const struct pperf_counter *counter, double *values)
{
	size_t done, i;

	for (done = 0; done < columns->count;)
		done += pperf_columns_values(columns, v->db, &v->recording.head.gpu, counter, done, values + done);
	for (i = 0; i < columns->count; i++)
		if (!isfinite(values[i]))
			values[i] = NAN;
}

/* What each sample says of a counter, counts a second: NAN if it has no value. */
static void read_values(const struct view *v, const struct pperf_counter *counter, const struct pperf_columns *columns,
			double *values)
{
	size_t i;

	view_values(v, columns, counter, values);
	for (i = 0; i < columns->count && counter->kind == PPERF_KIND_COUNT; i++)
		values[i] = columns->seconds[i] > 0 ? values[i] / columns->seconds[i] : NAN;
}

static void add_values(struct reading *r, struct counting *c, const struct batch *batch)
{
	double values[RECORDING_CHUNK_SAMPLES];
	size_t count = batch->columns.count;
	unsigned int which;

	read_values(r->view, c->summary->counter, &batch->columns, values);
	find_extremes(c, values, count);
	c->no_memory |= quantiles_add(&c->quantiles, values, batch->length_ns, count);
	for (which = 0; which < BATCH_PARTS; which++)
		add_to_parts(c, r, batch, which, values);
	if (c->summary->line)
		line_add(c->summary->line, r->summaries, batch->number, values, batch->length_ns, count);
}

/* What the log looks at of each sample is made a sample again. */
static void add_to_log(struct summaries *s, const struct batch *batch)
{
	const struct pperf_columns *c = &batch->columns;
	struct pperf_block block = {};
	struct pperf_sample sample = {
		.size = sizeof(sample), .block_size = sizeof(block), .num_blocks = 1, .blocks = &block,
	};
	size_t i;

	for (i = 0; i < c->count; i++) {
		if (batch->follows[i] && c->start_ns[i] != s->log.end_ns) {
			s->gaps.gaps++;
			s->gaps.gap_ns += c->start_ns[i] - s->log.end_ns;
		}
		sample.start_ns = c->start_ns[i];
		sample.end_ns = c->end_ns[i];
		sample.flags = batch->flags[i];
		block.states = batch->in_protected[i] ? PPERF_STATE_PROTECTED : 0;
		pperf_log_add(&s->log, &sample);
	}
}

static void run_task(void *context, size_t number, const struct batch *batch)
{
	struct reading *r = context;
	struct summaries *s = r->summaries;

	switch (number) {
	case TASK_SUMS:
		add_to_log(s, batch);
		pperf_sums_add_columns(s->sums, &batch->columns, adder_sum(&r->adder, &batch->runs[0]));
		break;
	case TASK_TOPDOWN:
		if (s->topdown && pperf_topdown_add_columns(s->topdown, &batch->columns, NULL)) {
			/* No GPU could have counted this. */
			pperf_topdown_free(s->topdown);
			s->topdown = NULL;
		}
		break;
	default:
		if (number < r->first_of_lines)
			add_values(r, &r->countings[number - TASK_COUNTERS], batch);
		else
			r->lines->task(r->lines->context, number - r->first_of_lines, batch);
	}
}

static void summarize_values(struct counting *c)
{
	double means[BATCH_PARTS][MAX_PARTS];
	struct summary *s = c->summary;
	unsigned int which, i;

	s->valid &= c->min <= c->max;
	if (!s->valid)
		return;
	s->min = c->min;
	s->max = c->max;
	for (i = 0; i < SUMMARY_PERCENTILES; i++)
		s->percentile[i] = quantiles_percentile(&c->quantiles, summary_percentiles[i]);
	for (which = 0; which < BATCH_PARTS; which++)
		for (i = 0; i < part_counts[which]; i++)
			means[which][i] = c->times[which][i] > 0 ? c->sums[which][i] / c->times[which][i] : NAN;
	memcpy(s->timeline, means[0], sizeof(s->timeline));
	s->noise = summary_noise(means[1], SUMMARY_PARTS, s->mean);
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

/* As many as there are samples, if they are not too many for all counters, and what else is drawn. */
static size_t choose_bins(const struct summaries *s, uint64_t samples)
{
	size_t bins = LINES_MAX_BINS / (s->count + 40);

	if (bins > LINE_MAX_BINS)
		bins = LINE_MAX_BINS;
	if (bins < 1)
		bins = 1;
	return bins < samples ? bins : samples;
}

/* Makes what all that is read is added to. Returns a status. */
static int make_countings(struct reading *r, enum summary_depth depth, const struct extent *extent)
{
	struct summaries *s = r->summaries;
	size_t i;

	if (r->lines)
		s->bins = choose_bins(s, extent->samples);
	s->samples = extent->samples;
	r->countings = calloc(s->count + 1, sizeof(*r->countings));
	if (!r->countings || adder_new(&r->adder, &r->view->recording))
		return complain_of_memory();
	for (i = 0; i < s->count; i++) {
		r->countings[i].summary = &s->list[i];
		r->countings[i].min = INFINITY;
		r->countings[i].max = -INFINITY;
		if (s->bins && !(s->list[i].line = line_new(s)))
			return complain_of_memory();
	}
	r->batches = (struct batches){
		.view = r->view, .task = run_task, .context = r,
		.tasks = TASK_COUNTERS + (depth > SUMMARY_SUMS ? s->count : 0),
		.parts = { part_counts[0], part_counts[1] }, .start_ns = extent->start_ns, .end_ns = extent->end_ns,
	};
	r->first_of_lines = r->batches.tasks;
	return r->lines ? r->lines->begin(r->lines->context, s, &r->batches) : STATUS_OK;
}

/* Reads all that is looked at. Returns a status. */
static int read_all(struct view *v, struct summaries *s, enum summary_depth depth, const struct summary_lines *lines,
		    const struct extent *extent)
{
	struct reading r = { .view = v, .summaries = s, .lines = lines };
	int status = make_countings(&r, depth, extent);
	bool failed = false;
	size_t i;

	if (!status)
		status = view_finish(v, batches_run(&r.batches));
	for (i = 0; i < s->count && !status; i++)
		failed |= r.countings[i].no_memory;
	if (failed && !status)
		status = complain_of_memory();
	for (i = 0; i < s->count && !status; i++) {
		summarize_sums(&s->list[i], s->sums, v);
		if (depth > SUMMARY_SUMS)
			summarize_values(&r.countings[i]);
		if (s->bins)
			line_end(s->list[i].line, s);
	}
	for (i = 0; r.countings && i < s->count; i++)
		quantiles_free(&r.countings[i].quantiles);
	free(r.countings);
	adder_free(&r.adder);
	return status;
}

/* Top-down of what has all that it needs. Returns a status. */
static int make_topdown(struct view *v, struct summaries *s)
{
	const struct recording_head *head = &v->recording.head;
	struct pperf_selection *needed;
	enum pperf_error error = pperf_topdown_new(v->db, &head->gpu, &s->topdown);
	const struct pperf_masks *masks;
	bool has = true;
	unsigned int type, i;

	/* A layout of which nothing is known has no tree. */
	if (error == PPERF_ERROR_UNKNOWN)
		return STATUS_OK;
	if (!error)
		error = pperf_selection_new(v->db, &head->gpu, &needed);
	if (error)
		return complain_of(error);
	pperf_selection_need_topdown(needed);
	masks = pperf_selection_masks(needed);
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < PPERF_MAX_VALUES / 64; i++)
			has &= !(masks->bits[type][i] & ~(head->gpu.blocks[type] ? head->masks.bits[type][i] : 0));
	pperf_selection_free(needed);
	if (!has) {
		pperf_topdown_free(s->topdown);
		s->topdown = NULL;
	}
	return STATUS_OK;
}

/* Finds what is to be said of. Returns a status. */
static int make_list(struct view *v, char *const *patterns, unsigned int num_patterns, struct summaries *s)
{
	const struct pperf_counter *const *counters;
	struct pperf_selection *selection = NULL;
	enum pperf_error error = pperf_selection_new(v->db, &v->recording.head.gpu, &selection);
	int status = STATUS_OK;
	size_t i;

	if (!error)
		error = choose(v, patterns, num_patterns, selection);
	if (error) {
		status = complain_of(error);
		goto out;
	}
	counters = pperf_selection_counters(selection, &s->count);
	s->list = calloc(s->count + 1, sizeof(*s->list));
	if (!s->list) {
		status = complain_of_memory();
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
out:
	pperf_selection_free(selection);
	return status;
}

int summarize(struct view *v, char *const *patterns, unsigned int num_patterns, enum summary_depth depth,
	      const struct summary_lines *lines, struct summaries *s)
{
	enum pperf_error error;
	struct extent extent;
	int status;

	memset(s, 0, sizeof(*s));
	s->log.size = s->gaps.size = sizeof(s->log);
	error = pperf_sums_new(v->db, &v->recording.head.gpu, &s->sums);
	status = error ? complain_of(error) : make_list(v, patterns, num_patterns, s);
	if (!status)
		status = make_topdown(v, s);
	if (!status)
		status = view_extent(v, &extent);
	if (!status && !extent.samples && v->region)
		complain("%s has no samples of region \"%s\", which is shorter than a sample", v->path,
			 v->regions.list[v->region].name);
	else if (!status && !extent.samples)
		complain("%s has no samples", v->path);
	else if (!status)
		status = read_all(v, s, depth, lines, &extent);
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
