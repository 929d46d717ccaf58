// SPDX-License-Identifier: MIT
/* panthor-perf info */
#define _GNU_SOURCE
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "commands.h"
#include "gpu.h"

struct arguments {
	const char *device;
	bool json;
};

static const struct argp_option options[] = {
	{ "device", 'd', "NODE", 0, "Render node of the GPU (default: the first with panthor)", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{}
};

static const char *const clock_names[] = { "toplevel", "coregroup", "shader" };
static const char *const set_names[] = { "primary", "secondary", "tertiary" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'd':
		arguments->device = arg;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "%s: there are no arguments", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print_bits(const char *what, uint32_t bits, const char *const *names, size_t count)
{
	const char *separator = "";
	size_t i;

	printf("%-22s", what);
	if (!bits)
		printf("none");
	for (i = 0; i < count; i++) {
		if (!(bits & (1u << i)))
			continue;
		printf("%s%s", separator, names[i]);
		separator = ", ";
	}
	putchar('\n');
}

static void print_plain(const struct gpu *gpu)
{
	const struct drm_panthor_perf_info *perf = &gpu->perf;
	unsigned int type;

	printf("%-22s%s (GPU_ID %#x, %u shader cores)\n", "GPU", gpu_name(gpu), gpu->info.gpu_id,
	       perf->shader_blocks);
	printf("%-22s%s, panthor %d.%d\n", "Device", gpu->path, gpu->major, gpu->minor);
	printf("%-22s%s\n", "Counter names", gpu->product.layout ? gpu->product.layout :
	       "unknown, counters can be named BLOCK.INDEX");
	printf("%-22s%u, 4 of them no counters\n", "Values per block", perf->counters_per_block);
	printf("%-22s", "Blocks");
	for (type = 1; type < BLOCK_TYPES; type++)
		printf("%s%s %u", type > 1 ? ", " : "", block_names[type], gpu_blocks(gpu, type));
	putchar('\n');
	printf("%-22s%s\n", "Block states",
	       perf->flags & DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT ? "yes" : "no");
	print_bits("Clocks", perf->supported_clocks, clock_names, COUNT(clock_names));
	if (perf->sample_size)
		printf("%-22s%u bytes\n", "Sample", perf->sample_size);
	if (gpu->perf_size >= sizeof(*perf)) {
		print_bits("Counter sets", perf->supported_sets, set_names, COUNT(set_names));
		printf("%-22s%g us\n", "Shortest period", perf->min_sample_period_ns / 1e3);
		printf("%-22s%u samples\n", "Longest ring", perf->max_sample_slots);
	}
}

static struct json_object *bits_json(uint32_t bits, const char *const *names, size_t count)
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < count; i++)
		if (bits & (1u << i))
			json_object_array_add(array, json_object_new_string(names[i]));
	return array;
}

static void print_json(const struct gpu *gpu)
{
	const struct drm_panthor_perf_info *perf = &gpu->perf;
	struct json_object *top = json_object_new_object(), *blocks = json_object_new_object();
	char version[32];
	unsigned int type;

	for (type = 1; type < BLOCK_TYPES; type++)
		json_object_object_add(blocks, block_names[type],
				       json_object_new_int(gpu_blocks(gpu, type)));

	snprintf(version, sizeof(version), "%d.%d", gpu->major, gpu->minor);
	json_object_object_add(top, "gpu", json_object_new_string(gpu_name(gpu)));
	json_object_object_add(top, "gpu_id", json_object_new_int64(gpu->info.gpu_id));
	json_object_object_add(top, "device", json_object_new_string(gpu->path));
	json_object_object_add(top, "driver_version", json_object_new_string(version));
	json_object_object_add(top, "counters", gpu->product.layout ?
			       json_object_new_string(gpu->product.layout) : NULL);
	json_object_object_add(top, "values_per_block",
			       json_object_new_int(perf->counters_per_block));
	json_object_object_add(top, "blocks", blocks);
	json_object_object_add(top, "block_states",
			       json_object_new_boolean(perf->flags &
						       DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT));
	json_object_object_add(top, "clocks", bits_json(perf->supported_clocks, clock_names,
							COUNT(clock_names)));
	json_object_object_add(top, "sample_header_size",
			       json_object_new_int(perf->sample_header_size));
	json_object_object_add(top, "block_header_size",
			       json_object_new_int(perf->block_header_size));
	json_object_object_add(top, "sample_size", json_object_new_int64(perf->sample_size));
	json_object_object_add(top, "min_sample_period_ns",
			       json_object_new_int64(perf->min_sample_period_ns));
	json_object_object_add(top, "max_sample_slots",
			       json_object_new_int64(perf->max_sample_slots));
	json_object_object_add(top, "sets", bits_json(perf->supported_sets, set_names,
						      COUNT(set_names)));
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

int command_info(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, NULL, "Tells what the GPU can count.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct gpu gpu;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (gpu_open(&gpu, arguments.device))
		return STATUS_FAILED;

	if (arguments.json)
		print_json(&gpu);
	else
		print_plain(&gpu);
	gpu_close(&gpu);
	return 0;
}
