// SPDX-License-Identifier: MIT
/* panthor-perf list */
#define _GNU_SOURCE
#include <string.h>

#include "commands.h"

struct arguments {
	const char *device;
	const char *product;
	const char *separator;
};

static const struct argp_option options[] = {
	{ "gpu", 'g', "NAME", 0, "A product, such as G610, instead of a GPU of this machine", 0 },
	{ "field-separator", 'x', "SEPARATOR", 0,
	  "Print for programs: name, block, index, unit, title, equation", 0 },
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
	case ARGP_KEY_ARG:
		argp_error(state, "%s: there are no arguments", arg);
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
static void print_by_group(const struct pperf_counter *list, size_t count)
{
	size_t i, j;

	for (i = 0; i < count; i++) {
		for (j = 0; j < i && strcmp(list[j].group, list[i].group); j++)
			;
		if (j < i)
			continue;

		printf("%s%s\n", i ? "\n" : "", list[i].group);
		for (j = i; j < count; j++)
			if (!strcmp(list[j].group, list[i].group))
				print_counter(&list[j], NULL);
	}
}

/* The layout of the product that was named, or of the GPU there is. */
static enum pperf_error find_layout(const struct arguments *arguments, const char **layout)
{
	const char *product;
	enum pperf_error error;
	struct pperf_gpu *gpu;

	if (arguments->product)
		return pperf_product_by_name(arguments->product, &product, layout);

	error = pperf_gpu_open(arguments->device, &gpu);
	if (error)
		return error;
	error = pperf_product_by_id(pperf_gpu_info(gpu)->gpu_id, &product, layout);
	pperf_gpu_close(gpu);
	return error;
}

int command_list(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL,
		"Lists the counters of a GPU, by the names that stat takes.", children, NULL, NULL
	};
	struct arguments arguments = {};
	const struct pperf_counter *list;
	enum pperf_error error;
	const char *layout;
	struct pperf_db *db;
	size_t i, count;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);

	error = find_layout(&arguments, &layout);
	if (!error)
		error = pperf_db_open(layout, &db);
	if (error) {
		status = complain_of(error);
		/* What is not known of the GPU itself is nobody's wrong argument. */
		return error == PPERF_ERROR_UNKNOWN && !arguments.product ? STATUS_FAILED : status;
	}

	list = pperf_db_counters(db, &count);
	if (arguments.separator) {
		for (i = 0; i < count; i++)
			print_counter(&list[i], arguments.separator);
	} else {
		print_by_group(list, count);
	}
	pperf_db_close(db);
	return finish_output(stdout, "the standard output");
}
