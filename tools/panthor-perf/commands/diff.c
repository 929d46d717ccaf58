// SPDX-License-Identifier: MIT
/* panthor-perf diff: what changed from one recording to another. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "commands.h"
#include "common.h"
#include "fields.h"
#include "figures.h"
#include "frame-report.h"
#include "text.h"
#include "view.h"

/* A change is taken for one if it is larger than so many times the noise of both. */
#define CLEAR 2

/* Of a region or of frames, beside which there is more, people see as many changes unless they have said of what. */
#define SOME_CHANGES 10

struct arguments {
	const char *inputs[2];
	unsigned int num_inputs;
	const char *output;

	/* NULL for the whole recordings. */
	const char *region;

	char **events;
	unsigned int num_events;
	bool totals;
	bool json;
};

/* One counter of both recordings, or another figure. */
struct change {
	const char *name, *unit, *per;
	double value[2];

	/* A part of the value. */
	double noise[2];

	/* In the tables. */
	size_t order;

	/* Part by which it changed: 0.5 is half as much again. */
	double part;
	bool clear;
};

enum { KEY_REGION = 256 };

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0, "Compare these counters and metrics, named as for stat (may be repeated; default: all "
	  "that both have)", 0 },
	{ "totals", 'T', NULL, 0, "Compare totals instead of rates, for the same work done in different times", 0 },
	{ "region", KEY_REGION, "NAME", 0, "Compare one region only, by the name given to mark (default: the whole recordings, "
	  "then each region that both have)", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'e':
		return add_pattern(&arguments->events, &arguments->num_events, arg) ? ENOMEM : 0;
	case 'T':
		arguments->totals = true;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_REGION:
		arguments->region = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->num_inputs == 2)
			argp_error(state, "unexpected argument: %s", arg);
		arguments->inputs[arguments->num_inputs++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->num_inputs < 2)
			argp_error(state, "two recordings are needed");
		if (is_standard(arguments->inputs[0]) && is_standard(arguments->inputs[1]))
			argp_error(state, "standard input can be only one of the two files");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* The largest first; of those that are alike, in the order of the tables. */
static int by_size(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (fabs(x->part) != fabs(y->part))
		return fabs(x->part) < fabs(y->part) ? 1 : -1;
	return x->order < y->order ? -1 : 1;
}

/* Finds what values changed by. */
static void find_change(struct change *c)
{
	if (c->value[0] == c->value[1])
		c->part = 0;
	else if (c->value[0] == 0)
		c->part = c->value[1] > 0 ? INFINITY : -INFINITY;
	else
		c->part = (c->value[1] - c->value[0]) / fabs(c->value[0]);
	c->clear = fabs(c->part) > CLEAR * (c->noise[0] + c->noise[1]);
}

/* The summary of the same counter. NULL if there is none. */
static const struct summary *find_summary(const struct summaries *summaries, const struct pperf_counter *counter)
{
	size_t i;

	for (i = 0; i < summaries->count; i++)
		if (!strcmp(summaries->list[i].counter->name, counter->name))
			return &summaries->list[i];
	return NULL;
}

static size_t compare(const struct summaries both[2], const struct arguments *arguments, struct change *changes)
{
	size_t i, n = 0;
	int k;

	for (i = 0; i < both[0].count; i++) {
		const struct summary *of[2] = { &both[0].list[i], find_summary(&both[1], both[0].list[i].counter) };
		const struct pperf_counter *counter = of[0]->counter;
		bool counts = counter->kind == PPERF_KIND_COUNT;

		if (!of[1] || !of[0]->valid || !of[1]->valid)
			continue;
		changes[n] = (struct change){
			.name = counter->name, .unit = counter->unit, .per = counts && !arguments->totals ? "/s" : "", .order = i,
		};
		for (k = 0; k < 2; k++) {
			changes[n].value[k] = counts && arguments->totals ? of[k]->total : of[k]->mean;
			changes[n].noise[k] = of[k]->noise;
		}
		find_change(&changes[n++]);
	}
	qsort(changes, n, sizeof(*changes), by_size);
	return n;
}

#define PERCENT_SIZE 512

/* Columns of percentages. */
struct widths {
	int change, noise[2];
};

static const char *percent_text(const char *format, double part, char buffer[PERCENT_SIZE])
{
	snprintf(buffer, PERCENT_SIZE, format, 100 * part);
	group_digits(buffer, PERCENT_SIZE - 1);
	return strcat(buffer, "%");
}

static void widen_change(struct widths *widths, const struct change *c)
{
	char text[PERCENT_SIZE];
	int k;

	widths->change = widen(widths->change, percent_text("%+.1f", c->part, text));
	for (k = 0; k < 2; k++)
		widths->noise[k] = widen(widths->noise[k], percent_text("%.1f", c->noise[k], text));
}

static void print_change(FILE *out, const struct change *c, const struct widths *widths)
{
	char text[PERCENT_SIZE], value[32];
	int k;

	fprintf(out, "%*s%s", widths->change, percent_text("%+.1f", c->part, text), c->clear ? " " : "~");
	for (k = 0; k < 2; k++)
		fprintf(out, "%12s %*s ", scaled(c->value[k], "", value, sizeof(value)), widths->noise[k],
			percent_text("%.1f", c->noise[k], text));
	fprintf(out, " %-26s %s%s\n", c->name, c->unit, c->per);
}

/* Neither has counted any. */
static bool is_nothing(const struct change *c)
{
	return c->value[0] == 0 && c->value[1] == 0;
}

/* So many at the most. Returns how many there are beyond. */
static size_t print_changes(FILE *out, const struct change *changes, size_t count, size_t most)
{
	struct widths widths = { 10, { 8, 8 } };
	size_t i, shown = 0, more = 0;

	for (i = 0; i < count; i++)
		if (!is_nothing(&changes[i]) && shown++ < most)
			widen_change(&widths, &changes[i]);
	shown = 0;
	fprintf(out, "\n%*s %12s %*s %12s %*s\n", widths.change, "change", "A", widths.noise[0], "noise", "B", widths.noise[1],
		"noise");
	for (i = 0; i < count; i++) {
		if (is_nothing(&changes[i]))
			continue;
		if (shown++ < most)
			print_change(out, &changes[i], &widths);
		else
			more++;
	}
	return more;
}

static void print_plain(FILE *out, const struct view views[2], const struct arguments *arguments,
			const struct change *changes, size_t count)
{
	int k;

	if (arguments->region) {
		fputs("Region: ", out);
		print_text(out, arguments->region);
		fputc('\n', out);
	}
	for (k = 0; k < 2; k++) {
		fprintf(out, "%c: ", "AB"[k]);
		print_text(out, views[k].path);
		fputc('\n', out);
	}
	print_changes(out, changes, count, count);
	fprintf(out, "\n~: within the noise\n");
}

/* What the user has said need not be UTF-8. */
static void add_text(struct json_object *object, const char *key, const char *text)
{
	char *copy = pperf_text_utf8(text);

	json_object_object_add(object, key, copy ? json_object_new_string(copy) : NULL);
	free(copy);
}

static struct json_object *changes_json(const struct change *changes, size_t count)
{
	struct json_object *list = json_object_new_array(), *item;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct change *c = &changes[i];

		item = json_object_new_object();
		json_object_object_add(item, "name", json_object_new_string(c->name));
		json_object_object_add(item, "unit", json_object_new_string(c->unit));
		json_add_double(item, "a", c->value[0]);
		json_add_double(item, "b", c->value[1]);
		/* Null where there was nothing before. */
		json_add_double(item, "change_percent", 100 * c->part);
		json_add_double(item, "noise_a_percent", 100 * c->noise[0]);
		json_add_double(item, "noise_b_percent", 100 * c->noise[1]);
		json_object_object_add(item, "clear", json_object_new_boolean(c->clear));
		json_object_array_add(list, item);
	}
	return list;
}

static struct json_object *whole_json(const struct view views[2], const struct arguments *arguments,
				      const struct change *changes, size_t count)
{
	struct json_object *top = json_object_new_object();

	add_text(top, "a", views[0].path);
	add_text(top, "b", views[1].path);
	if (arguments->region)
		add_text(top, "region", arguments->region);
	json_object_object_add(top, "changes", changes_json(changes, count));
	return top;
}

/* ---- Frames ---- */

/* Frames of a process of each recording. Changes: first the times, then of the counters what each has in a frame. */
struct frame_pair {
	const struct frame_process *of[2];
	size_t frames[2];
	double seconds[2];
	struct change *changes;
	size_t times, count;
};

static void add_figures(struct frame_pair *pair, struct change change, const struct frame_figure figures[2])
{
	int k;

	if (isnan(figures[0].value) || isnan(figures[1].value))
		return;
	for (k = 0; k < 2; k++) {
		change.value[k] = figures[k].value;
		change.noise[k] = figures[k].noise;
	}
	find_change(&change);
	pair->changes[pair->count++] = change;
}

/* Compares processes by their numbers. Returns a status. */
static int compare_frames(const struct frame_report *const reports[2], const struct summaries both[2], const size_t processes[2],
			  struct frame_pair *pair)
{
	const struct pperf_counter *counter;
	const struct summary *other;
	struct frame_figure figures[2];
	size_t i;
	int k;

	pair->changes = calloc(FRAME_TIMES + both[0].count, sizeof(*pair->changes));
	if (!pair->changes)
		return complain_of_memory();
	for (k = 0; k < 2; k++) {
		pair->frames[k] = frame_report_count(reports[k], processes[k]);
		pair->seconds[k] = frame_report_seconds(reports[k], processes[k]);
	}
	for (i = 0; i < FRAME_TIMES; i++) {
		for (k = 0; k < 2; k++)
			figures[k] = frame_report_time(reports[k], processes[k], i);
		add_figures(pair, (struct change){ .name = frame_times[i][0], .unit = frame_times[i][1], .per = "" }, figures);
	}
	pair->times = pair->count;
	for (i = 0; i < both[0].count; i++) {
		counter = both[0].list[i].counter;
		other = find_summary(&both[1], counter);
		if (!other)
			continue;
		figures[0] = frame_report_counter(reports[0], processes[0], i);
		figures[1] = frame_report_counter(reports[1], processes[1], other - both[1].list);
		add_figures(pair, (struct change){
			.name = counter->name, .unit = counter->unit, .per = counter->kind == PPERF_KIND_COUNT ? "/frame" : "",
			.order = i,
		}, figures);
	}
	qsort(pair->changes + pair->times, pair->count - pair->times, sizeof(*pair->changes), by_size);
	return STATUS_OK;
}

static void print_frames(FILE *out, const struct arguments *arguments, const struct frame_pair *pair)
{
	size_t more;
	int k;

	fputc('\n', out);
	for (k = 0; k < 2; k++) {
		fprintf(out, "Frames of %c: ", "AB"[k]);
		frame_report_print_name(out, pair->of[k]);
		fprintf(out, ", %zu in %.6f s\n", pair->frames[k], pair->seconds[k]);
	}
	more = print_changes(out, pair->changes, pair->count, arguments->num_events ? pair->count : pair->times + SOME_CHANGES);
	if (more)
		fprintf(out, "%10s %zu more: use -e or -j to see them\n", "", more);
}

static struct json_object *frames_json(const struct frame_pair *pair)
{
	struct json_object *item = json_object_new_object();
	char key[16];
	int k;

	for (k = 0; k < 2; k++) {
		snprintf(key, sizeof(key), "program_%c", "ab"[k]);
		add_text(item, key, pair->of[k]->name);
		snprintf(key, sizeof(key), "pid_%c", "ab"[k]);
		json_object_object_add(item, key, json_object_new_uint64(pair->of[k]->pid));
		snprintf(key, sizeof(key), "frames_%c", "ab"[k]);
		json_object_object_add(item, key, json_object_new_uint64(pair->frames[k]));
		snprintf(key, sizeof(key), "seconds_%c", "ab"[k]);
		json_object_object_add(item, key, json_seconds(pair->seconds[k]));
	}
	json_object_object_add(item, "times", changes_json(pair->changes, pair->times));
	json_object_object_add(item, "changes", changes_json(pair->changes + pair->times, pair->count - pair->times));
	return item;
}

/* Processes with frames that are looked at: how many, and the first. */
static size_t count_processes(const struct view *view, const struct frame_report *report, size_t *first)
{
	size_t i, count = 0;

	for (i = view->frames.num_processes; i-- > 0;) {
		if (!frame_report_count(report, i))
			continue;
		*first = i;
		count++;
	}
	return count;
}

/*
 * The process of B that is compared with one of A: the next that has not been taken, of the same name, or the only one. Returns
 * whether there is one.
 */
static bool find_other(const struct view views[2], const struct frame_report *const reports[2], size_t of_a, const bool *taken,
		       size_t *of_b)
{
	const struct frames *b = &views[1].frames;
	size_t first;

	if (count_processes(&views[1], reports[1], of_b) == 1 && count_processes(&views[0], reports[0], &first) == 1)
		return true;
	for (*of_b = 0; *of_b < b->num_processes; ++*of_b)
		if (!taken[*of_b] && frame_report_count(reports[1], *of_b) &&
		    !strcmp(b->processes[*of_b].name, views[0].frames.processes[of_a].name))
			return true;
	return false;
}

/* What one has alone. */
static void tell_alone(FILE *out, struct json_object *top, const struct view *view, const struct frame_report *report,
		       const bool *taken, int k)
{
	struct json_object *list = top ? json_object_new_array() : NULL;
	size_t i, count = 0;

	for (i = 0; i < view->frames.num_processes; i++) {
		if (taken[i] || !frame_report_count(report, i))
			continue;
		if (top) {
			json_object_array_add(list, json_object_new_string(view->frames.processes[i].name));
			continue;
		}
		if (!count++)
			fprintf(out, "\nFrames only in %c:", "AB"[k]);
		fputs(count > 1 ? ", " : " ", out);
		frame_report_print_name(out, &view->frames.processes[i]);
	}
	if (count)
		fputc('\n', out);
	if (top)
		json_object_object_add(top, k ? "frames_of_b_alone" : "frames_of_a_alone", list);
}

static int compare_processes(struct view views[2], const struct frame_report *const reports[2], const struct summaries both[2],
			     const struct arguments *arguments, FILE *out, struct json_object *top, bool *taken[2])
{
	struct json_object *list = NULL;
	int status = STATUS_OK, k;
	size_t of[2];

	if (top) {
		list = json_object_new_array();
		json_object_object_add(top, "frames", list);
	}
	for (of[0] = 0; of[0] < views[0].frames.num_processes && !status; of[0]++) {
		struct frame_pair pair = {};

		if (!frame_report_count(reports[0], of[0]) || !find_other(views, reports, of[0], taken[1], &of[1]))
			continue;
		for (k = 0; k < 2; k++) {
			taken[k][of[k]] = true;
			pair.of[k] = &views[k].frames.processes[of[k]];
		}
		status = compare_frames(reports, both, of, &pair);
		if (!status && list)
			json_object_array_add(list, frames_json(&pair));
		else if (!status)
			print_frames(out, arguments, &pair);
		free(pair.changes);
	}
	for (k = 0; k < 2 && !status; k++)
		tell_alone(out, top, &views[k], reports[k], taken[k], k);
	return status;
}

/* Processes that both have, in the order of A. Returns a status. */
static int diff_frames(struct view views[2], const struct summaries both[2], const struct arguments *arguments, FILE *out,
		       struct json_object *top)
{
	static const struct frame_budgets none;
	struct frame_report *reports[2] = {};
	bool *taken[2] = {};
	int status = STATUS_OK, k;

	for (k = 0; k < 2 && !status; k++) {
		taken[k] = calloc(views[k].frames.num_processes, sizeof(*taken[k]));
		status = taken[k] ? frame_report_new(&views[k], &both[k], true, &none, NULL, &reports[k]) : complain_of_memory();
	}
	if (!status)
		status = compare_processes(views, (const struct frame_report *const *)reports, both, arguments, out, top, taken);
	for (k = 0; k < 2; k++) {
		frame_report_free(reports[k]);
		free(taken[k]);
	}
	return status;
}

/* ---- Regions ---- */

/* One that both recordings have. */
struct pair {
	const struct region *of[2];
	struct change *changes;
	size_t count;
};

static struct json_object *pair_json(const struct pair *pair)
{
	struct json_object *item = json_object_new_object();

	json_object_object_add(item, "name", json_object_new_string(pair->of[0]->name));
	json_object_object_add(item, "times_a", json_object_new_uint64(pair->of[0]->times));
	json_object_object_add(item, "times_b", json_object_new_uint64(pair->of[1]->times));
	json_object_object_add(item, "seconds_a", json_seconds(pair->of[0]->lasts_ns / 1e9));
	json_object_object_add(item, "seconds_b", json_seconds(pair->of[1]->lasts_ns / 1e9));
	json_object_object_add(item, "changes", changes_json(pair->changes, pair->count));
	return item;
}

static void print_pair(FILE *out, const struct arguments *arguments, const struct pair *pair)
{
	const struct region *const *of = pair->of;
	size_t more;
	int k;

	fputs("\nRegion: ", out);
	print_text(out, of[0]->name);
	fputc('\n', out);
	for (k = 0; k < 2; k++)
		fprintf(out, "%c: %" PRIu64 " time%s, %.6f s%s\n", "AB"[k], of[k]->times, of[k]->times == 1 ? "" : "s",
			of[k]->lasts_ns / 1e9, pperf_sums_samples(of[k]->sums) ? "" : ", shorter than a sample");
	if (!pair->count)
		return;

	more = print_changes(out, pair->changes, pair->count, arguments->num_events ? pair->count : SOME_CHANGES);
	if (more)
		fprintf(out, "%10s %zu more: use --region to see all\n", "", more);
}

/* What one has alone. */
static void tell_missing(FILE *out, struct json_object *top, const struct view views[2], int k)
{
	struct json_object *list = json_object_new_array();
	const struct regions *r = &views[k].regions;
	size_t n, count = 0;

	for (n = 1; n < r->count; n++) {
		if (pperf_regions_find(&views[!k].regions, r->list[n].name))
			continue;
		json_object_array_add(list, json_object_new_string(r->list[n].name));
		if (!top) {
			if (!count++)
				fprintf(out, "\nRegions only in %c:", "AB"[k]);
			fputs(count > 1 ? ", " : " ", out);
			print_text(out, r->list[n].name);
		}
	}
	if (count)
		fputc('\n', out);
	if (top)
		json_object_object_add(top, k ? "regions_of_b_alone" : "regions_of_a_alone", json_object_get(list));
	json_object_put(list);
}

/* Compares one as --region does. Returns a status. */
static int compare_pair(struct view views[2], const struct arguments *arguments, const uint32_t regions[2],
			FILE *out, struct json_object *list)
{
	struct summaries both[2] = {};
	struct pair pair = {};
	int status = STATUS_OK, k;

	for (k = 0; k < 2; k++)
		pair.of[k] = &views[k].regions.list[regions[k]];
	if (pperf_sums_samples(pair.of[0]->sums) && pperf_sums_samples(pair.of[1]->sums)) {
		for (k = 0; k < 2 && !status; k++) {
			views[k].region = regions[k];
			status = summarize(&views[k], arguments->events, arguments->num_events, SUMMARY_SAMPLES, NULL,
					   &both[k]);
		}
		if (!status && !(pair.changes = calloc(both[0].count + 1, sizeof(*pair.changes)))) {
			complain("out of memory");
			status = STATUS_FAILED;
		}
		if (!status)
			pair.count = compare(both, arguments, pair.changes);
	}
	if (!status && list)
		json_object_array_add(list, pair_json(&pair));
	else if (!status)
		print_pair(out, arguments, &pair);
	free(pair.changes);
	for (k = 0; k < 2; k++)
		summaries_free(&both[k]);
	return status;
}

/* All that both have, in the order of A. Returns a status. */
static int diff_regions(struct view views[2], const struct arguments *arguments, FILE *out, struct json_object *top)
{
	struct json_object *list = NULL;
	uint32_t regions[2];
	int status = STATUS_OK, k;

	for (k = 0; k < 2 && !status; k++)
		status = view_sum_regions(&views[k]);
	if (status)
		return status;

	if (top) {
		list = json_object_new_array();
		json_object_object_add(top, "regions", list);
	}
	for (regions[0] = 1; regions[0] < views[0].regions.count && !status; regions[0]++) {
		regions[1] = pperf_regions_find(&views[1].regions, views[0].regions.list[regions[0]].name);
		if (regions[1])
			status = compare_pair(views, arguments, regions, out, list);
	}
	for (k = 0; k < 2 && !status; k++)
		tell_missing(out, top, views, k);
	return status;
}

static int show(FILE *out, struct view views[2], const struct summaries both[2], const struct arguments *arguments,
		const struct change *changes, size_t count)
{
	bool regions = !arguments->region && views[0].regions.num_marks && views[1].regions.num_marks;
	struct json_object *top = NULL;
	int status = STATUS_OK;

	if (arguments->json)
		top = whole_json(views, arguments, changes, count);
	else
		print_plain(out, views, arguments, changes, count);
	if (views[0].frames.count && views[1].frames.count)
		status = diff_frames(views, both, arguments, out, top);
	if (regions && !status)
		status = diff_regions(views, arguments, out, top);
	if (top && !status)
		fprintf(out, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
								     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
	return status;
}

static int diff(struct view views[2], const struct summaries both[2], const struct arguments *arguments)
{
	struct change *changes = calloc(both[0].count + 1, sizeof(*changes));
	struct output output;
	size_t count;
	int status;

	if (!changes) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	count = compare(both, arguments, changes);
	if (!count) {
		complain("%s and %s have no counters in common", views[0].path, views[1].path);
		free(changes);
		return STATUS_FAILED;
	}

	status = output_open(&output, arguments->output, false);
	if (!status)
		status = output_close(&output, show(output.file, views, both, arguments, changes, count));
	free(changes);
	return status;
}

int command_diff(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "A B",
		"Compares recording B with recording A: the largest changes first, in percent of A, with the noise of "
		"each (how far the mean of another recording of the same work may differ); then frames and regions that both "
		"have.",
		NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct summaries summaries[2] = {};
	struct view views[2] = {};
	int status, i;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		return complain_of_memory();

	for (status = STATUS_OK, i = 0; i < 2 && !status; i++) {
		status = view_open(&views[i], arguments.inputs[i]);
		if (!status && arguments.region)
			status = view_choose_region(&views[i], arguments.region);
		if (!status)
			status = summarize(&views[i], arguments.events, arguments.num_events, SUMMARY_SAMPLES, NULL,
					   &summaries[i]);
	}
	if (!status)
		status = diff(views, summaries, &arguments);

	for (i = 0; i < 2; i++) {
		summaries_free(&summaries[i]);
		view_close(&views[i]);
	}
	free(arguments.events);
	return status;
}
