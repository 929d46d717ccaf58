// SPDX-License-Identifier: MIT
/* panthor-perf diff: what changed from one recording to another. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "commands.h"
#include "text.h"
#include "view.h"

/* A change is taken for one if it is larger than so many times the noise of both. */
#define CLEAR 2

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

/* One counter of both recordings. */
struct change {
	const struct summary *of[2];
	double value[2];

	/* Part by which it changed: 0.5 is half as much again. */
	double part;
	bool clear;
};

enum { KEY_REGION = 256 };

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0, "Counters and metrics, as those of stat (may be repeated; default: all that "
	  "both have)", 0 },
	{ "totals", 'T', NULL, 0, "Compare totals instead of rates: of the same work, done in other times", 0 },
	{ "region", KEY_REGION, "NAME", 0, "Compare one region alone, as mark has named it in both", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of the standard output", 0 },
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
			argp_error(state, "there is one file too many: %s", arg);
		arguments->inputs[arguments->num_inputs++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->num_inputs < 2)
			argp_error(state, "which two files?");
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
	return x->of[0] < y->of[0] ? -1 : 1;
}

static size_t compare(const struct summaries both[2], const struct arguments *arguments, struct change *changes)
{
	size_t i, j, n = 0;
	int k;

	for (i = 0; i < both[0].count; i++) {
		const struct summary *a = &both[0].list[i];
		struct change *c = &changes[n];

		for (j = 0; j < both[1].count; j++)
			if (!strcmp(both[1].list[j].counter->name, a->counter->name))
				break;
		if (j == both[1].count || !a->valid || !both[1].list[j].valid)
			continue;

		c->of[0] = a;
		c->of[1] = &both[1].list[j];
		for (k = 0; k < 2; k++)
			c->value[k] = arguments->totals && a->counter->kind == PPERF_KIND_COUNT ? c->of[k]->total :
												   c->of[k]->mean;
		if (c->value[0] == c->value[1])
			c->part = 0;
		else if (c->value[0] == 0)
			c->part = c->value[1] > 0 ? INFINITY : -INFINITY;
		else
			c->part = (c->value[1] - c->value[0]) / fabs(c->value[0]);
		c->clear = fabs(c->part) > CLEAR * (c->of[0]->noise + c->of[1]->noise);
		n++;
	}
	qsort(changes, n, sizeof(*changes), by_size);
	return n;
}

/* Of counts that are compared, totals or rates. */
static bool is_rate(const struct arguments *arguments, const struct pperf_counter *counter)
{
	return counter->kind == PPERF_KIND_COUNT && !arguments->totals;
}

static void print_plain(FILE *out, const struct view views[2], const struct arguments *arguments,
			const struct change *changes, size_t count)
{
	char texts[2][32], unit[64];
	size_t i;
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
	fprintf(out, "\n%10s %12s %8s %12s %8s\n", "change", "A", "noise", "B", "noise");
	for (i = 0; i < count; i++) {
		const struct change *c = &changes[i];
		const struct pperf_counter *counter = c->of[0]->counter;

		/* Neither has counted any. */
		if (c->value[0] == 0 && c->value[1] == 0)
			continue;
		for (k = 0; k < 2; k++)
			scaled(c->value[k], "", texts[k], sizeof(texts[k]));
		snprintf(unit, sizeof(unit), "%s%s", counter->unit, is_rate(arguments, counter) ? "/s" : "");
		fprintf(out, "%+9.1f%%%s%12s %7.1f%% %12s %7.1f%%  %-26s %s\n", 100 * c->part, c->clear ? " " : "~", texts[0],
			100 * c->of[0]->noise, texts[1], 100 * c->of[1]->noise, counter->name, unit);
	}
	fprintf(out, "\n~: less than noise makes\n");
}

static void add_double(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

/* What the user has said need not be UTF-8. */
static void add_text(struct json_object *object, const char *key, const char *text)
{
	char *copy = text_utf8(text);

	json_object_object_add(object, key, copy ? json_object_new_string(copy) : NULL);
	free(copy);
}

static void print_json(FILE *out, const struct view views[2], const struct arguments *arguments,
		       const struct change *changes, size_t count)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array(), *item;
	size_t i;

	add_text(top, "a", views[0].path);
	add_text(top, "b", views[1].path);
	if (arguments->region)
		add_text(top, "region", arguments->region);
	for (i = 0; i < count; i++) {
		const struct change *c = &changes[i];

		item = json_object_new_object();
		json_object_object_add(item, "name", json_object_new_string(c->of[0]->counter->name));
		json_object_object_add(item, "unit", json_object_new_string(c->of[0]->counter->unit));
		add_double(item, "a", c->value[0]);
		add_double(item, "b", c->value[1]);
		/* Null where there was nothing before. */
		add_double(item, "change_percent", 100 * c->part);
		add_double(item, "noise_a_percent", 100 * c->of[0]->noise);
		add_double(item, "noise_b_percent", 100 * c->of[1]->noise);
		json_object_object_add(item, "clear", json_object_new_boolean(c->clear));
		json_object_array_add(list, item);
	}
	json_object_object_add(top, "changes", list);
	fprintf(out, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
							     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

static int diff(const struct view views[2], const struct summaries both[2], const struct arguments *arguments)
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
		complain("%s and %s have no counter in common", views[0].path, views[1].path);
		free(changes);
		return STATUS_FAILED;
	}

	status = output_open(&output, arguments->output);
	if (!status) {
		if (arguments->json)
			print_json(output.file, views, arguments, changes, count);
		else
			print_plain(output.file, views, arguments, changes, count);
		status = output_close(&output, STATUS_OK);
	}
	free(changes);
	return status;
}

int command_diff(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "A B",
		"Shows what changed from recording A to recording B: the largest change first, in percent of A, beside "
		"the noise of each, which is how far its mean may be from that of another recording of the same.",
		NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct summaries summaries[2] = {};
	struct view views[2] = {};
	int status, i;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);

	for (status = STATUS_OK, i = 0; i < 2 && !status; i++) {
		status = view_open(&views[i], arguments.inputs[i]);
		if (!status && arguments.region)
			status = view_choose_region(&views[i], arguments.region);
		if (!status)
			status = summarize(&views[i], arguments.events, arguments.num_events, SUMMARY_SAMPLES,
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
