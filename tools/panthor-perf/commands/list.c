// SPDX-License-Identifier: MIT
/* panthor-perf list */
#define _GNU_SOURCE
#include <string.h>

#include <json-c/json.h>

#include "commands.h"
#include "common.h"

struct arguments {
	const char *device;
	const char *product;
	const char *separator;
	bool json;
};

static const struct argp_option options[] = {
	{ "gpu", 'g', "NAME", 0, "Use this product, such as G610, instead of a GPU in this machine", 0 },
	{ "field-separator", 'x', "SEPARATOR", 0,
	  "Print fields for programs: name, block, index, unit, title, equation", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'g':
		arguments->product = arg;
		return 0;
	case 'x':
		arguments->separator = arg;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (arguments->json && arguments->separator)
			argp_error(state, "-j cannot be combined with -x");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print_counter(const struct pperf_counter *counter, const char *sep)
{
	char place[32] = "derived";

	if (sep) {
		printf("%s%s%s%s", counter->name, sep,
		       counter->equation ? "derived" : pperf_block_name(counter->type), sep);
		if (!counter->equation)
			printf("%u", counter->index);
		printf("%s%s%s%s%s%s\n", sep, counter->unit, sep, counter->title, sep,
		       counter->equation ? counter->equation : "");
		return;
	}

	if (!counter->equation)
		snprintf(place, sizeof(place), "%s.%u", pperf_block_name(counter->type), counter->index);
	printf("  %-28s %-11s %s (%s)\n", counter->name, place, counter->title, counter->unit);
}

/* Groups in the order in which they first occur. */
static void print_by_group(const struct pperf_counter *const *list, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < i && strcmp(list[j]->group, list[i]->group); j++)
			;
		if (j < i)
			continue;

		printf("%s%s\n", i ? "\n" : "", list[i]->group);
		for (j = i; j < count; j++)
			if (!strcmp(list[j]->group, list[i]->group))
				print_counter(list[j], NULL);
	}
}

static void add_text(struct json_object *item, const char *key, const char *text)
{
	json_object_object_add(item, key, json_object_new_string(text));
}

static void print_json(const char *layout, const struct pperf_counter *const *list, size_t count)
{
	static const char *const kinds[] = { "count", "ratio", "constant" };
	struct json_object *top = json_object_new_object(), *counters = json_object_new_array(), *item;
	size_t i;

	for (i = 0; i < count; i++) {
		item = json_object_new_object();
		add_text(item, "name", list[i]->name);
		add_text(item, "title", list[i]->title);
		add_text(item, "group", list[i]->group);
		add_text(item, "unit", list[i]->unit);
		add_text(item, "kind", kinds[list[i]->kind]);
		if (list[i]->equation) {
			add_text(item, "equation", list[i]->equation);
		} else {
			add_text(item, "source", list[i]->source);
			add_text(item, "block", pperf_block_name(list[i]->type));
			json_object_object_add(item, "index", json_object_new_int(list[i]->index));
		}
		json_object_array_add(counters, item);
	}
	add_text(top, "layout", layout);
	json_object_object_add(top, "counters", counters);
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int command_list(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL,
		"Lists the counters and metrics of a GPU, by name.", children, NULL, NULL
	};
	struct arguments arguments = {};
	const struct pperf_counter *const *list;
	const char *layout;
	struct pperf_db *db;
	size_t i, count;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);

	status = open_layout(arguments.device, arguments.product, &layout, &db);
	if (status)
		return status;

	list = pperf_db_counters(db, &count);
	if (arguments.json) {
		print_json(layout, list, count);
	} else if (arguments.separator) {
		for (i = 0; i < count; i++)
			print_counter(list[i], arguments.separator);
	} else {
		print_by_group(list, count);
	}
	pperf_db_close(db);
	return finish_output(stdout, "standard output");
}
