// SPDX-License-Identifier: MIT
/* panthor-perf info */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "board.h"
#include "commands.h"
#include "common.h"

struct arguments {
	const char *device;
	bool json;
	bool debug;
};

enum { OPTION_DEBUG = 256 };

static const struct argp_option options[] = {
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "debug", OPTION_DEBUG, NULL, 0, "Print details for a bug report", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case OPTION_DEBUG:
		arguments->debug = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print_bits(const char *what, uint32_t bits, const char *(*name)(unsigned int))
{
	const char *separator = "";
	unsigned int i;

	printf("%-22s", what);
	if (!bits)
		printf("none");
	for (i = 0; name(i); i++) {
		if (!(bits & (1u << i)))
			continue;
		printf("%s%s", separator, name(i));
		separator = ", ";
	}
	putchar('\n');
}

static void print_board(const struct pperf_gpu_info *gpu)
{
	char positions[256];
	struct board board;

	board_read(&board, gpu->sysfs);
	board_positions(gpu, positions, sizeof(positions));
	if (board.name[0])
		printf("%-22s%s%s%s%s\n", "Board", board.name, board.compatible[0] ? " (" : "", board.compatible,
		       board.compatible[0] ? ")" : "");
	if (positions[0])
		printf("%-22s%s\n", "Core positions", positions);
	if (board.clocks[0])
		printf("%-22s%s%s\n", "Names of clocks", board.clocks, board_has_bus_clock(&board, gpu) ?
		       " (coregroup is a bus clock: the core group counts as top level)" : "");
	if (board.memory[0])
		printf("%-22s%s\n", "Memory", board.memory);
}

static void print_plain(const struct pperf_gpu_info *gpu)
{
	unsigned int type;

	printf("%-22s%s (GPU_ID %#x, %u shader cores)\n", "GPU", gpu->name, gpu->gpu_id, gpu->cores);
	printf("%-22s%s, panthor %d.%d\n", "Device", gpu->node, gpu->driver_major, gpu->driver_minor);
	printf("%-22s%s\n", "Counter names", gpu->layout ? gpu->layout :
	       "unknown; use BLOCK.INDEX instead");
	printf("%-22s%u, of which the first %u are not counters\n", "Values per block", gpu->values_per_block,
	       PPERF_FIRST_COUNTER);
	printf("%-22s", "Blocks");
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		printf("%s%s %u", type > 1 ? ", " : "", pperf_block_name(type), gpu->blocks[type]);
	putchar('\n');
	printf("%-22s%s\n", "Block states", gpu->has_states ? "yes" : "no");
	print_bits("Clocks", gpu->clocks, pperf_clock_name);
	if (gpu->toplevel_hz)
		printf("%-22s%g MHz\n", "Frequency", gpu->toplevel_hz / 1e6);
	else if (!gpu->sysfs)
		printf("%-22s%s\n", "Frequency", "unknown until the first sample, because /sys is not mounted");
	if (gpu->sample_size)
		printf("%-22s%u bytes\n", "Sample", gpu->sample_size);
	if (gpu->sets)
		print_bits("Counter sets", gpu->sets, pperf_set_name);
	if (gpu->min_period_ns)
		printf("%-22s%g us\n", "Shortest period", gpu->min_period_ns / 1e3);
	if (gpu->max_slots)
		printf("%-22s%u samples\n", "Longest ring", gpu->max_slots);
	print_board(gpu);
}

static struct json_object *bits_json(uint32_t bits, const char *(*name)(unsigned int))
{
	struct json_object *array = json_object_new_array();
	unsigned int i;

	for (i = 0; name(i); i++)
		if (bits & (1u << i))
			json_object_array_add(array, json_object_new_string(name(i)));
	return array;
}

/* A comma and a space are between those of the text. */
static struct json_object *strings_json(const char *text)
{
	struct json_object *array = json_object_new_array();
	const char *end;

	for (; *text; text = *end ? end + 2 : end) {
		end = strstr(text, ", ");
		if (!end)
			end = text + strlen(text);
		json_object_array_add(array, json_object_new_string_len(text, end - text));
	}
	return array;
}

static void print_json(const struct pperf_gpu_info *gpu)
{
	struct json_object *top = json_object_new_object(), *blocks = json_object_new_object();
	struct board board;
	char version[32];
	unsigned int type;

	board_read(&board, gpu->sysfs);
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		json_object_object_add(blocks, pperf_block_name(type),
				       json_object_new_int(gpu->blocks[type]));

	snprintf(version, sizeof(version), "%d.%d", gpu->driver_major, gpu->driver_minor);
	json_object_object_add(top, "gpu", json_object_new_string(gpu->name));
	json_object_object_add(top, "gpu_id", json_object_new_int64(gpu->gpu_id));
	json_object_object_add(top, "shader_present", json_object_new_uint64(gpu->shader_present));
	json_object_object_add(top, "device", json_object_new_string(gpu->node));
	json_object_object_add(top, "driver_version", json_object_new_string(version));
	json_object_object_add(top, "counters", gpu->layout ? json_object_new_string(gpu->layout) : NULL);
	json_object_object_add(top, "values_per_block", json_object_new_int(gpu->values_per_block));
	json_object_object_add(top, "blocks", blocks);
	json_object_object_add(top, "block_states", json_object_new_boolean(gpu->has_states));
	json_object_object_add(top, "clocks", bits_json(gpu->clocks, pperf_clock_name));
	json_object_object_add(top, "frequency_hz", json_object_new_int64(gpu->toplevel_hz));
	json_object_object_add(top, "sample_header_size", json_object_new_int(gpu->sample_header_size));
	json_object_object_add(top, "block_header_size", json_object_new_int(gpu->block_header_size));
	json_object_object_add(top, "sample_size", json_object_new_int64(gpu->sample_size));
	json_object_object_add(top, "min_sample_period_ns", json_object_new_int64(gpu->min_period_ns));
	json_object_object_add(top, "max_sample_slots", json_object_new_int64(gpu->max_slots));
	json_object_object_add(top, "sets", bits_json(gpu->sets, pperf_set_name));
	json_object_object_add(top, "board", json_object_new_string(board.name));
	json_object_object_add(top, "board_compatible", strings_json(board.compatible));
	json_object_object_add(top, "clock_names", strings_json(board.clocks));
	json_object_object_add(top, "memory", json_object_new_string(board.memory));
	puts(json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

/* Node is NULL for the first. */
static int print_gpu(const char *node, bool json)
{
	struct pperf_gpu *gpu;
	enum pperf_error error = pperf_gpu_open(node, &gpu);

	if (error)
		return complain_of(error);
	if (json)
		print_json(pperf_gpu_info(gpu));
	else
		print_plain(pperf_gpu_info(gpu));
	pperf_gpu_close(gpu);
	return STATUS_OK;
}

/* Those that cannot be opened are told of behind those that can. */
static int print_all(bool json)
{
	enum pperf_error error;
	int status = STATUS_OK, one;
	size_t count, i;
	char **nodes;

	error = pperf_gpu_nodes(&nodes, &count);
	if (error)
		return complain_of(error);
	/* Opening tells why there is none. */
	if (!count)
		status = print_gpu(NULL, json);
	for (i = 0; i < count; i++) {
		if (i && !json)
			putchar('\n');
		one = print_gpu(nodes[i], json);
		status = status ? status : one;
	}
	pperf_gpu_nodes_free(nodes, count);
	return status;
}

int command_info(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL, "Shows what a GPU can count; without -d, shows all GPUs.", children, NULL, NULL
	};
	struct arguments arguments = {};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	if (arguments.debug) {
		status = debug_info(arguments.device);
		return finish_output(stdout, "standard output") ?: status;
	}
	status = arguments.device ? print_gpu(arguments.device, arguments.json) : print_all(arguments.json);
	return finish_output(stdout, "standard output") ?: status;
}
