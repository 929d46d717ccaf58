// SPDX-License-Identifier: MIT
/* panthor-perf list */
#define _GNU_SOURCE
#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "gpu.h"

struct arguments {
	const char *device;
	const char *product;
	const char *separator;
};

static const struct argp_option options[] = {
	{ "device", 'd', "NODE", 0, "Render node of the GPU (default: the first with panthor)", 0 },
	{ "gpu", 'g', "NAME", 0, "A product, such as G610, instead of a GPU of this machine", 0 },
	{ "field-separator", 'x', "SEPARATOR", 0,
	  "Print for programs: name, block, index, unit, title, equation", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'd':
		arguments->device = arg;
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

static void print_counter(const struct counter *counter, const char *sep)
{
	char place[32] = "derived";

	if (sep) {
		printf("%s%s%s%s", counter->name, sep,
		       counter->equation ? "derived" : block_names[counter->type], sep);
		if (!counter->equation)
			printf("%u", counter->index);
		printf("%s%s%s%s%s%s\n", sep, counter->unit, sep, counter->title, sep,
		       counter->equation ? counter->equation : "");
		return;
	}

	if (!counter->equation)
		snprintf(place, sizeof(place), "%s.%u", block_names[counter->type], counter->index);
	printf("  %-28s %-11s %s (%s)\n", counter->name, place, counter->title, counter->unit);
}

/* Groups in the order in which they first occur. */
static void print_by_group(const struct counters *counters)
{
	const struct counter *list = counters->list;
	size_t i, j;

	for (i = 0; i < counters->count; i++) {
		for (j = 0; j < i && strcmp(list[j].group, list[i].group); j++)
			;
		if (j < i)
			continue;

		printf("%s%s\n", i ? "\n" : "", list[i].group);
		for (j = i; j < counters->count; j++)
			if (!strcmp(list[j].group, list[i].group))
				print_counter(&list[j], NULL);
	}
}

int command_list(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL,
		"Lists the counters of a GPU, by the names that stat takes.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct counters counters;
	struct product product;
	struct gpu gpu = { .fd = -1 };
	size_t i;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);

	if (arguments.product) {
		if (data_product_by_name(arguments.product, &product)) {
			complain("no GPU \"%s\" is known; try G610", arguments.product);
			return STATUS_USAGE;
		}
	} else {
		if (gpu_open(&gpu, arguments.device))
			return STATUS_FAILED;
		product = gpu.product;
		gpu_close(&gpu);
		if (!product.layout) {
			complain("no names are known for this GPU (GPU_ID %#x): "
				 "counters can be named BLOCK.INDEX", gpu.info.gpu_id);
			return STATUS_FAILED;
		}
	}

	if (data_counters(product.layout, &counters)) {
		complain("out of memory");
		return STATUS_FAILED;
	}

	if (arguments.separator) {
		for (i = 0; i < counters.count; i++)
			print_counter(&counters.list[i], arguments.separator);
	} else {
		print_by_group(&counters);
	}
	data_free(&counters);
	return 0;
}
