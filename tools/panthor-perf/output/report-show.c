// SPDX-License-Identifier: MIT
/* What a recording says, in figures: for people and for programs. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <langinfo.h>
#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "fields.h"
#include "figures.h"
#include "job-report.h"
#include "recording-write.h"
#include "report.h"

/* Of a whole row, with the longest unit; of a row that is folded, those before its second line. */
#define ROW_COLUMNS 160
#define FOLD_COLUMNS 20

/* Of totals, if none is wider. */
#define TOTAL_COLUMNS 17
#define TOTAL_SIZE 512

/* Of the samples, the time between them left out. */
static double mean_length_ns(const struct summaries *s)
{
	return pperf_sums_seconds(s->sums) * 1e9 / s->log.samples;
}

/* ---- For people ---- */

/* How many samples, of which length. */
static void print_samples(FILE *out, const struct view *v, const struct summaries *s)
{
	double mean_ns = mean_length_ns(s), period_ns = v->recording.head.period_ns;
	double seconds = (s->log.end_ns - s->log.start_ns) / 1e9;
	char number[32];

	if (!s->log.samples) {
		fputs("no samples\n", out);
		return;
	}
	fprintf(out, "%s samples of ", grouped(s->log.samples, number));
	/* The last may be shorter, whatever came before it. */
	if (v->region)
		fprintf(out, "%g ms on average, %.6f s in total; the period is %g ms\n", mean_ns / 1e6,
			pperf_sums_seconds(s->sums), period_ns / 1e6);
	else if (fabs(mean_ns - period_ns) * s->log.samples < 2 * period_ns)
		fprintf(out, "%g ms over %.6f s\n", period_ns / 1e6, seconds);
	else
		fprintf(out, "%g ms on average over %.6f s; the period is %g ms\n", mean_ns / 1e6, seconds, period_ns / 1e6);
}

static void print_log(FILE *out, const struct view *v, const struct summaries *s)
{
	struct pperf_log log = s->log;
	char line[PPERF_LOG_TEXT];
	unsigned int i;

	/* Time between samples of a region is that of others. */
	if (v->region) {
		log.gaps = 0;
		log.gap_ns = log.end_ns - log.start_ns - pperf_sums_seconds(s->sums) * 1e9;
	}
	for (i = 0; pperf_log_text(&log, i, line, sizeof(line)); i++)
		fprintf(out, "%s\n", line);
	for (i = 0; v->region && pperf_log_text(&s->gaps, i, line, sizeof(line)); i++)
		fprintf(out, "%s\n", line);
}

/* The one that is looked at. */
static void print_region(FILE *out, const struct view *v)
{
	const struct region *region = v->region ? &v->regions.list[v->region] : NULL;

	if (!region)
		return;
	fputs("Region ", out);
	print_text(out, region->name);
	fprintf(out, ": %" PRIu64 " time%s, %.6f s between marks", region->times, region->times == 1 ? "" : "s",
		region->lasts_ns / 1e9);
	fprintf(out, "; %.1f %% of its time is from samples shared with another region\n",
		100 * regions_uncertain(region));
}

void report_print_head(FILE *out, const struct view *v, const struct summaries *s)
{
	const struct recording_head *head = &v->recording.head;
	unsigned int i;

	print_text(out, v->path);
	fputs(": ", out);
	print_text(out, head->gpu.name);
	fputs(", ", out);
	print_samples(out, v, s);

	if (head->command) {
		fputs("Command:", out);
		for (i = 0; head->command[i]; i++) {
			fputc(' ', out);
			print_text(out, head->command[i]);
		}
		fputc('\n', out);
	}
	if (head->host && head->kernel) {
		fputs("Host: ", out);
		print_text(out, head->host);
		fputs(", Linux ", out);
		print_text(out, head->kernel);
		fputc('\n', out);
	}
	print_region(out, v);
	print_log(out, v, s);
}

static struct figures figures(const struct view *v, const struct summaries *s)
{
	struct figures_source source;
	struct figures f;

	figures_find(&source, v->db, &v->recording.head.gpu);
	f = figures_of(&source, s->sums);
	/* That is of the whole recording. */
	if (!v->region)
		f.clock = v->recording.end.clock;
	return f;
}

void report_show_figures(FILE *out, const struct view *v, const struct summaries *s)
{
	struct figures f = figures(v, s);
	struct figures_source source;

	fputc('\n', out);
	figures_print(out, &f);
	if (s->topdown)
		figures_print_topdown(out, v->db, figures_topdown_share, s->topdown);
	if (v->regions.samples && !v->region) {
		figures_find(&source, v->db, &v->recording.head.gpu);
		regions_print(out, &v->regions, &source, v->region_jobs);
	}
}

void report_print_sparkline(FILE *out, const double *values, bool utf8)
{
	static const char *const bars[] = { " ", "\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588" };
	static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
	const char *const *steps = utf8 ? bars : plain;
	double max = 0;
	int i, step;

	for (i = 0; i < SUMMARY_BINS; i++)
		if (values[i] > max)
			max = values[i];
	for (i = 0; i < SUMMARY_BINS; i++) {
		step = max > 0 && values[i] > 0 ? ceil(values[i] / max * 8) : 0;
		fputs(steps[step > 8 ? 8 : step], out);
	}
}

static void print_value(FILE *out, double value)
{
	char text[32];

	fprintf(out, " %9s", scaled(value, "", text, sizeof(text)));
}

/* Of a counter that has one: a total. */
static const char *total_text(const struct summaries *s, const struct summary *one, char buffer[TOTAL_SIZE])
{
	if (!one->valid)
		return "-";
	if (one->counter->kind != PPERF_KIND_COUNT)
		return "";
	if (!one->counter->equation)
		return grouped(pperf_sums_total(s->sums, one->counter), buffer);
	snprintf(buffer, TOTAL_SIZE, "%.0f", one->total);
	group_digits(buffer, TOTAL_SIZE);
	return buffer;
}

/* The total of each block, and which part of the whole it is. */
static void print_blocks(FILE *out, const struct view *v, const struct summaries *s, const struct summary *one, int width)
{
	const struct pperf_counter *counter = one->counter;
	char name[32], number[32];
	unsigned int b;
	uint64_t count;

	for (b = 0; b < v->recording.head.gpu.blocks[counter->type]; b++) {
		count = pperf_sums_block(s->sums, counter, b);
		snprintf(name, sizeof(name), "%s %u", pperf_block_name(counter->type), b);
		fprintf(out, "    %-26s %*s %6.1f%% of total\n", name, width, grouped(count, number),
			one->total > 0 ? 100 * count / one->total : 0.0);
	}
}

static void print_summary(FILE *out, const struct view *v, const struct summaries *s, const struct summary *one,
			  bool per_block, bool narrow, int width)
{
	const struct pperf_counter *counter = one->counter;
	const char *per = counter->kind == PPERF_KIND_COUNT ? "/s" : "";
	char number[TOTAL_SIZE];
	int p;

	fprintf(out, "  %-28s %*s", counter->name, width, total_text(s, one, number));
	if (!one->valid) {
		fputc('\n', out);
		return;
	}

	if (one->share >= 0)
		fprintf(out, " %6.1f%%", 100 * one->share);
	else
		fprintf(out, " %7s", "");

	print_value(out, one->mean);
	if (narrow)
		fprintf(out, "  %s%s\n%*s", counter->unit, per, FOLD_COLUMNS, "");
	print_value(out, one->min);
	for (p = 0; p < SUMMARY_PERCENTILES; p++)
		print_value(out, one->percentile[p]);
	print_value(out, one->max);
	fputs("  ", out);
	report_print_sparkline(out, one->timeline, !strcmp(nl_langinfo(CODESET), "UTF-8"));
	if (narrow)
		fputc('\n', out);
	else
		fprintf(out, "  %s%s\n", counter->unit, per);
	if (per_block && !counter->equation)
		print_blocks(out, v, s, one, width);
}

void report_show_counters(FILE *out, const struct view *v, const struct summaries *s, bool per_block)
{
	int width = TOTAL_COLUMNS;
	char number[TOTAL_SIZE];
	const char *group = "";
	bool narrow;
	size_t i, j;

	/* Totals of blocks are no wider. */
	for (i = 0; i < s->count; i++)
		width = widen(width, total_text(s, &s->list[i], number));
	narrow = is_narrow(out, ROW_COLUMNS + width - TOTAL_COLUMNS);
	fprintf(out, "\n  %-28s %*s %7s %9s", "", width, "total", "share", "mean");
	if (narrow)
		fprintf(out, "\n%*s", FOLD_COLUMNS, "");
	fprintf(out, " %9s", "min");
	for (i = 0; i < SUMMARY_PERCENTILES; i++)
		fprintf(out, " %8d%%", summary_percentiles[i]);
	fprintf(out, " %9s  %s\n", "max", "over time");

	/* By group, in the order in which groups first occur. */
	for (i = 0; i < s->count; i++) {
		group = s->list[i].counter->group;
		for (j = 0; j < i && strcmp(s->list[j].counter->group, group); j++)
			;
		if (j < i)
			continue;
		fprintf(out, "%s\n", group);
		for (j = i; j < s->count; j++)
			if (!strcmp(s->list[j].counter->group, group))
				print_summary(out, v, s, &s->list[j], per_block, narrow, width);
	}
}

void report_show_topdown(FILE *out, const struct view *v, const struct summaries *s)
{
	const struct pperf_topdown_node *const *nodes, *largest;
	size_t count, i;

	nodes = pperf_db_topdown(v->db, &count);
	fprintf(out, "\n");
	for (i = 0; i < count; i++)
		if (nodes[i]->level)
			fprintf(out, "%5.1f %%  %*s%s\n", 100 * pperf_topdown_share(s->topdown, nodes[i]),
				2 * (int)(nodes[i]->level - 1), "", nodes[i]->title);
	largest = pperf_topdown_largest(s->topdown, 1);
	if (largest)
		fprintf(out, "\nLargest: %s. %s\n", largest->title, largest->next ? largest->next : "");
	fprintf(out, "%s\n", pperf_topdown_note());
}

/* ---- For programs ---- */

static struct json_object *summary_json(const struct view *v, const struct summaries *s, const struct summary *one)
{
	struct json_object *top = json_object_new_object(), *list;
	const struct pperf_counter *counter = one->counter;
	unsigned int i;
	char key[16];

	json_add_text(top, "name", counter->name);
	json_add_text(top, "title", counter->title);
	json_add_text(top, "group", counter->group);
	json_add_text(top, "unit", counter->unit);
	if (!one->valid)
		return top;

	if (!counter->equation) {
		json_add_count(top, "total", pperf_sums_total(s->sums, counter));
		list = json_object_new_array();
		for (i = 0; i < v->recording.head.gpu.blocks[counter->type]; i++)
			json_object_array_add(list, json_object_new_uint64(pperf_sums_block(s->sums, counter, i)));
		json_object_object_add(top, "blocks", list);
	} else if (counter->kind == PPERF_KIND_COUNT) {
		json_add_double(top, "total", one->total);
	}
	if (one->share >= 0)
		json_add_double(top, "share", one->share);

	json_add_double(top, "mean", one->mean);
	json_add_double(top, "min", one->min);
	json_add_double(top, "max", one->max);
	for (i = 0; i < SUMMARY_PERCENTILES; i++) {
		snprintf(key, sizeof(key), "p%d", summary_percentiles[i]);
		json_add_double(top, key, one->percentile[i]);
	}
	json_add_double(top, "noise", one->noise);
	list = json_object_new_array();
	for (i = 0; i < SUMMARY_BINS; i++)
		json_object_array_add(list, isfinite(one->timeline[i]) ? json_object_new_double(one->timeline[i]) : NULL);
	json_object_object_add(top, "timeline", list);
	return top;
}

static struct json_object *topdown_json(const struct view *v, const struct summaries *s)
{
	struct json_object *list = json_object_new_array(), *item;
	const struct pperf_topdown_node *const *nodes;
	size_t count, i;

	nodes = pperf_db_topdown(v->db, &count);
	for (i = 0; i < count; i++) {
		item = json_object_new_object();
		json_add_text(item, "name", nodes[i]->name);
		json_add_text(item, "title", nodes[i]->title);
		json_object_object_add(item, "level", json_object_new_int(nodes[i]->level));
		if (nodes[i]->parent)
			json_add_text(item, "parent", nodes[i]->parent->name);
		json_add_double(item, "cycles", pperf_topdown_cycles(s->topdown, nodes[i]));
		json_add_double(item, "share", pperf_topdown_share(s->topdown, nodes[i]));
		json_object_array_add(list, item);
	}
	return list;
}

/* A counter in a region: what it is at the least and at the most is of counters of hardware alone. */
static struct json_object *region_counter_json(const struct region *region, const struct pperf_counter *counter)
{
	struct json_object *top = json_object_new_object();
	uint64_t sure;
	double value;

	json_add_text(top, "name", counter->name);
	if (!counter->equation) {
		sure = pperf_sums_total(region->sure, counter);
		json_add_count(top, "total", pperf_sums_total(region->sums, counter));
		json_add_count(top, "least", sure);
		json_add_count(top, "most", sure + pperf_sums_total(region->across, counter));
	} else if (!pperf_sums_value(region->sums, counter, &value)) {
		json_add_double(top, counter->kind == PPERF_KIND_COUNT ? "total" : "mean", value);
	}
	return top;
}

static struct json_object *region_json(const struct view *v, const struct summaries *s, const struct region *region)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	uint32_t flags = pperf_sums_flags(region->sums);
	struct figures_source source;
	struct figures f;
	size_t i;

	/* Null: all that is in none. */
	json_object_object_add(top, "name", *region->name ? json_object_new_string(region->name) : NULL);
	if (*region->name)
		json_add_count(top, "times", region->times);
	json_object_object_add(top, "seconds", json_seconds(region->lasts_ns / 1e9));
	json_add_count(top, "samples", pperf_sums_samples(region->sums));
	json_object_object_add(top, "sampled_seconds", json_seconds(pperf_sums_seconds(region->sums)));
	json_object_object_add(top, "across_seconds", json_seconds(pperf_sums_seconds(region->across)));
	json_object_object_add(top, "missing", json_object_new_boolean(flags & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR)));
	figures_find(&source, v->db, &v->recording.head.gpu);
	f = figures_of(&source, region->sums);
	figures_add_json(top, &f);
	if (v->region_jobs)
		json_object_object_add(top, "jobs", job_times_json(&v->region_jobs[region - v->regions.list], false));
	for (i = 0; i < s->count; i++)
		json_object_array_add(list, region_counter_json(region, s->list[i].counter));
	json_object_object_add(top, "counters", list);
	return top;
}

static struct json_object *regions_json(const struct view *v, const struct summaries *s)
{
	struct json_object *list = json_object_new_array();
	size_t n;

	for (n = 1; n < v->regions.count; n++)
		json_object_array_add(list, region_json(v, s, &v->regions.list[n]));
	json_object_array_add(list, region_json(v, s, &v->regions.list[0]));
	return list;
}

struct json_object *report_json(const struct view *v, const struct summaries *s, struct json_object *frames,
				struct json_object *jobs)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	struct figures f = figures(v, s);
	size_t i;

	json_object_object_add(top, "recording", recording_head_json(&v->recording.head));
	json_add_count(top, "start_ns", s->log.start_ns);
	json_add_count(top, "end_ns", s->log.end_ns);
	json_add_count(top, "samples", s->log.samples);
	json_add_count(top, "overflow", s->log.overflowed);
	json_add_count(top, "error", s->log.failed);
	json_add_count(top, "stretched", s->log.stretched);
	json_add_count(top, "longest_ns", s->log.longest_ns);
	json_add_double(top, "mean_ns", mean_length_ns(s));

	if (v->region)
		json_add_text(top, "region", v->regions.list[v->region].name);
	figures_add_json(top, &f);
	if (v->regions.samples && !v->region)
		json_object_object_add(top, "regions", regions_json(v, s));
	if (s->topdown)
		json_object_object_add(top, "topdown", topdown_json(v, s));
	for (i = 0; i < s->count; i++)
		json_object_array_add(list, summary_json(v, s, &s->list[i]));
	json_object_object_add(top, "counters", list);
	if (frames)
		json_object_object_add(top, "frames", frames);
	if (jobs)
		json_object_object_add(top, "jobs", jobs);
	return top;
}

void report_show_json(FILE *out, const struct view *v, const struct summaries *s, struct json_object *frames,
		      struct json_object *jobs)
{
	struct json_object *top = report_json(v, s, frames, jobs);

	fprintf(out, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}
