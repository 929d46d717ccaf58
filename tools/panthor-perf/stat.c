// SPDX-License-Identifier: MIT
/* panthor-perf stat */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "commands.h"
#include "gpu.h"
#include "select.h"
#include "session.h"

extern char **environ;

/* Often enough that no counter reaches its top, whatever the driver does for it. */
#define SAMPLE_MS 200

/* Samples are read as they come: a few slots bridge a busy moment. */
#define RING_SLOTS 8

#define TAG_SAMPLE 1
#define TAG_STOP 2

/* What shells return of a command that cannot be run, and that is not there. */
#define STATUS_CANNOT_RUN 126
#define STATUS_NOT_FOUND 127

struct arguments {
	const char *device;
	const char *output;
	const char *separator;
	bool json;
	bool per_block;
	bool all;
	char **events;
	unsigned int num_events;
	char **command;
};

struct result {
	/* Sums by block type and over time, and the same by block. */
	struct sums sums;
	uint64_t *blocks;

	uint64_t start_ns, end_ns;
	uint64_t cycles[3];
	uint64_t samples;
	uint32_t flags;
	bool stopped;
};

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0,
	  "Counters, by name, source name, title, pattern or BLOCK.INDEX (may be repeated; "
	  "see panthor-perf list)", 0 },
	{ "all", 'a', NULL, 0, "All counters that have a name", 0 },
	{ "per-block", 'b', NULL, 0, "Print each block's count besides the sum", 0 },
	{ "field-separator", 'x', "SEPARATOR", 0,
	  "Print for programs: value, unit, name, block, index, rate", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "output", 'o', "FILE", 0, "Write to a file instead of the standard error", 0 },
	{ "device", 'd', "NODE", 0, "Render node of the GPU (default: the first with panthor)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char **events, *name, *rest;

	switch (key) {
	case 'e':
		for (rest = arg; (name = strsep(&rest, ","));) {
			if (!*name)
				argp_error(state, "a counter's name is missing after -e");
			events = reallocarray(arguments->events, arguments->num_events + 1,
					      sizeof(*events));
			if (!events)
				return ENOMEM;
			arguments->events = events;
			events[arguments->num_events++] = name;
		}
		return 0;
	case 'a':
		arguments->all = true;
		return 0;
	case 'b':
		arguments->per_block = true;
		return 0;
	case 'x':
		arguments->separator = arg;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case 'd':
		arguments->device = arg;
		return 0;
	case ARGP_KEY_ARG:
		/* The command's options are its own. */
		arguments->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (arguments->json && arguments->separator)
			argp_error(state, "-j and -x exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int choose(const struct arguments *arguments, const struct gpu *gpu,
		  struct selection *selection)
{
	unsigned int i;
	int found;

	for (i = 0; i < arguments->num_events; i++) {
		found = select_add(selection, arguments->events[i]);
		if (found < 0)
			goto no_memory;
		if (!found) {
			complain("%s has no counter \"%s\": see panthor-perf list",
				 gpu_name(gpu), arguments->events[i]);
			return STATUS_USAGE;
		}
	}

	if (arguments->all && select_add(selection, "*") < 0)
		goto no_memory;

	if (!arguments->num_events && !arguments->all && select_default(selection) < 0)
		goto no_memory;

	if (!selection->count) {
		complain("no counter names are known for this GPU (GPU_ID %#x): "
			 "name some as BLOCK.INDEX with -e", gpu->info.gpu_id);
		return STATUS_FAILED;
	}

	for (i = 0; i < selection->count; i++) {
		const struct counter *c = selection->chosen[i];

		if (c->equation)
			continue;
		if (!gpu_blocks(gpu, c->type) || c->index >= gpu->perf.counters_per_block) {
			complain("this GPU does not have %s", c->name);
			return STATUS_USAGE;
		}
	}
	return 0;

no_memory:
	complain("out of memory");
	return STATUS_FAILED;
}

static unsigned int num_blocks(const struct gpu *gpu)
{
	unsigned int type, n = 0;

	for (type = 1; type < BLOCK_TYPES; type++)
		n += gpu_blocks(gpu, type);
	return n;
}

/* Position in a sample of the first block of a type. */
static unsigned int first_block(const struct gpu *gpu, unsigned int of_type)
{
	unsigned int type, n = 0;

	for (type = 1; type < of_type; type++)
		n += gpu_blocks(gpu, type);
	return n;
}

/* Adds a sample. Returns -1 if it is not what the query promised. */
static int add_sample(const struct gpu *gpu, const struct drm_panthor_perf_sample_header *sample,
		      struct result *result)
{
	unsigned int values = gpu->perf.counters_per_block, b, i, type = 1, index = 0;
	const char *at = (const char *)(sample + 1);

	if (!result->samples)
		result->start_ns = sample->timestamp_start_ns;
	result->end_ns = sample->timestamp_end_ns;
	result->flags |= sample->flags;
	result->cycles[0] += sample->toplevel_clock_cycles;
	result->cycles[1] += sample->coregroup_clock_cycles;
	result->cycles[2] += sample->shader_clock_cycles;
	result->samples++;
	result->stopped |= sample->user_data == TAG_STOP;

	for (b = 0; b < num_blocks(gpu); b++, index++) {
		const struct drm_panthor_perf_block_header *block = (const void *)at;
		const uint64_t *value = (const uint64_t *)(block + 1);

		for (; index == gpu_blocks(gpu, type); index = 0)
			type++;
		if (block->block_type != type || block->block_idx != index) {
			complain("block %u of a sample is %u.%u instead of %u.%u: the kernel's "
				 "interface is not the one this program was built for",
				 b, block->block_type, block->block_idx, type, index);
			return -1;
		}
		for (i = 4; i < values; i++) {
			result->sums.value[type][i] += value[i];
			result->blocks[b * values + i] += value[i];
		}
		at = (const char *)(value + values);
	}
	return 0;
}

static int drain(struct session *session, struct result *result)
{
	const struct drm_panthor_perf_sample_header *sample;
	uint64_t signals;
	int ret = 0;

	/* Cleared first: what is signalled while reading is found the next time. */
	if (read(session->eventfd, &signals, sizeof(signals)) < 0 && errno != EAGAIN) {
		complain("cannot read the eventfd: %s", strerror(errno));
		return -1;
	}

	while (!ret && (sample = session_next(session))) {
		ret = add_sample(session->gpu, sample, result);
		session_release(session);
	}
	return ret;
}

/* Waits for the command or, without one, for Ctrl-C. Returns an exit status, or -1. */
static int count_until_end(struct session *session, struct result *result, int signals, pid_t child,
			   int *status)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = session->eventfd, .events = POLLIN },
	};
	struct signalfd_siginfo info;
	bool ended = false;
	int ret;

	while (!ended) {
		ret = poll(fds, 2, SAMPLE_MS);
		if (ret < 0 && errno != EINTR) {
			complain("cannot wait: %s", strerror(errno));
			return -1;
		}
		if (!ret && session_sample(session, TAG_SAMPLE))
			return -1;
		if (ret > 0 && fds[1].revents && drain(session, result))
			return -1;
		if (ret <= 0 || !fds[0].revents)
			continue;

		if (read(signals, &info, sizeof(info)) != sizeof(info))
			continue;
		if (!child)
			ended = info.ssi_signo != SIGCHLD;
		else if (info.ssi_signo == SIGTERM)
			kill(child, SIGTERM);
		/* The terminal has sent SIGINT to the command as well; it decides. */
		while (child && waitpid(child, status, WNOHANG) == child)
			child = 0, ended = true;
	}
	return 0;
}

/* Stops, and waits for the last sample. */
static int finish(struct session *session, struct result *result, int signals)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = session->eventfd, .events = POLLIN },
	};
	struct signalfd_siginfo info;

	if (session_stop(session, TAG_STOP))
		return -1;

	while (!result->stopped) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR) {
			complain("cannot wait: %s", strerror(errno));
			return -1;
		}
		if (fds[1].revents && drain(session, result))
			return -1;
		if (fds[0].revents && read(signals, &info, sizeof(info)) == sizeof(info) &&
		    info.ssi_signo != SIGCHLD) {
			complain("interrupted while waiting for the last sample");
			return -1;
		}
	}
	return 0;
}

/* 12345678 as 12,345,678. */
static const char *with_commas(uint64_t value, char *buffer, size_t size)
{
	char *at = buffer + size;
	int digits = 0;

	*--at = 0;
	do {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = '0' + value % 10;
		value /= 10;
		digits++;
	} while (value);
	return at;
}

static void print_number(FILE *out, int width, double value)
{
	char buffer[32];

	/* Whole numbers as counts, others with what matters of the fraction. */
	if (value >= 0 && value < 1e18 && value == (double)(uint64_t)value)
		fprintf(out, "%*s", width, with_commas(value, buffer, sizeof(buffer)));
	else
		fprintf(out, "%*.2f", width, value);
}

static const char *with_prefix(double rate, const char *unit, char *buffer, size_t size)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P" };
	size_t p = 0;

	for (; rate >= 1000 && p + 1 < sizeof(prefixes) / sizeof(prefixes[0]); p++)
		rate /= 1000;
	snprintf(buffer, size, "%.2f %s%s/s", rate, prefixes[p], unit);
	return buffer;
}

static void print_warnings(FILE *out, const struct result *result)
{
	if (result->flags & DRM_PANTHOR_PERF_SAMPLE_OVERFLOW)
		fprintf(out, "Counts may be missing: a counter reached its top, or firmware had "
			"no room for a sample.\n");
	if (result->flags & DRM_PANTHOR_PERF_SAMPLE_ERROR)
		fprintf(out, "Counts may be missing: the GPU was reset or failed.\n");
}

struct printer {
	FILE *out;
	const struct arguments *arguments;
	const struct gpu *gpu;
	const struct counters *counters;
	const struct selection *selection;
	const struct result *result;
	struct config config;
};

/* The value of a counter, and its rate if it has one. */
static bool value_of(const struct printer *p, const struct counter *counter, double *value)
{
	return !select_value(p->counters, counter, &p->config, &p->result->sums, value);
}

static uint64_t sum_of(const struct printer *p, const struct counter *counter)
{
	return p->result->sums.value[counter->type][counter->index];
}

static uint64_t block_value(const struct printer *p, const struct counter *counter, unsigned int idx)
{
	unsigned int b = first_block(p->gpu, counter->type) + idx;

	return p->result->blocks[b * p->gpu->perf.counters_per_block + counter->index];
}

static bool rate_of(const struct printer *p, const struct counter *counter, double value,
		    double *rate)
{
	if (!select_has_rate(counter) || !(p->result->sums.seconds > 0))
		return false;
	*rate = value / p->result->sums.seconds;
	return true;
}

static void print_counter(const struct printer *p, const struct counter *c)
{
	unsigned int idx;
	char buffer[64];
	double value, rate;

	if (!value_of(p, c, &value)) {
		fprintf(p->out, "%20s  %-24s %s\n", "-", c->name, c->title);
		return;
	}

	if (c->equation)
		print_number(p->out, 20, value);
	else
		fprintf(p->out, "%20s", with_commas(sum_of(p, c), buffer, sizeof(buffer)));

	fprintf(p->out, "  %-24s %-40s # ", c->name, c->title);
	if (rate_of(p, c, value, &rate))
		fprintf(p->out, "%s\n", with_prefix(rate, c->unit, buffer, sizeof(buffer)));
	else
		fprintf(p->out, "%s\n", c->unit);

	if (!p->arguments->per_block || c->equation)
		return;
	for (idx = 0; idx < gpu_blocks(p->gpu, c->type); idx++)
		fprintf(p->out, "%20s    %s %u\n",
			with_commas(block_value(p, c, idx), buffer, sizeof(buffer)),
			block_names[c->type], idx);
}

/* By group, in the order in which groups first occur. */
static void print_plain(const struct printer *p)
{
	const struct counter **chosen = p->selection->chosen;
	size_t i, j;

	fprintf(p->out, "\nCounters of %s (%s) over %.6f s, %" PRIu64 " sample%s:\n",
		gpu_name(p->gpu), p->gpu->path, p->result->sums.seconds, p->result->samples,
		p->result->samples == 1 ? "" : "s");

	for (i = 0; i < p->selection->count; i++) {
		for (j = 0; j < i && strcmp(chosen[j]->group, chosen[i]->group); j++)
			;
		if (j < i)
			continue;

		fprintf(p->out, "\n %s\n", chosen[i]->group);
		for (j = i; j < p->selection->count; j++)
			if (!strcmp(chosen[j]->group, chosen[i]->group))
				print_counter(p, chosen[j]);
	}

	fputc('\n', p->out);
	print_warnings(p->out, p->result);
}

static void print_separated(const struct printer *p)
{
	const char *sep = p->arguments->separator;
	unsigned int idx;
	double value, rate;
	size_t i;

	for (i = 0; i < p->selection->count; i++) {
		const struct counter *c = p->selection->chosen[i];
		bool valid = value_of(p, c, &value);

		if (!c->equation)
			fprintf(p->out, "%" PRIu64, sum_of(p, c));
		else if (valid)
			fprintf(p->out, "%.17g", value);
		fprintf(p->out, "%s%s%s%s%s%s%s%s", sep, c->unit, sep, c->name, sep,
			c->equation ? "derived" : block_names[c->type], sep, sep);
		if (valid && rate_of(p, c, value, &rate))
			fprintf(p->out, "%.17g", rate);
		fputc('\n', p->out);

		for (idx = 0; p->arguments->per_block && !c->equation &&
			      idx < gpu_blocks(p->gpu, c->type); idx++)
			fprintf(p->out, "%" PRIu64 "%s%s%s%s%s%s%s%u%s\n", block_value(p, c, idx),
				sep, c->unit, sep, c->name, sep, block_names[c->type], sep, idx, sep);
	}
	print_warnings(stderr, p->result);
}

static void print_json(const struct printer *p)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	static const char *const clocks[] = { "toplevel", "coregroup", "shader" };
	struct json_object *cycles = json_object_new_object(), *item, *blocks;
	unsigned int idx;
	double value, rate;
	size_t i;

	for (i = 0; i < 3; i++)
		if (p->gpu->perf.supported_clocks & (1u << i))
			json_object_object_add(cycles, clocks[i],
					       json_object_new_uint64(p->result->cycles[i]));

	for (i = 0; i < p->selection->count; i++) {
		const struct counter *c = p->selection->chosen[i];
		bool valid = value_of(p, c, &value);

		item = json_object_new_object();
		json_object_object_add(item, "name", json_object_new_string(c->name));
		json_object_object_add(item, "title", json_object_new_string(c->title));
		json_object_object_add(item, "group", json_object_new_string(c->group));
		json_object_object_add(item, "unit", json_object_new_string(c->unit));
		if (!c->equation)
			json_object_object_add(item, "value", json_object_new_uint64(sum_of(p, c)));
		else
			json_object_object_add(item, "value",
					       valid ? json_object_new_double(value) : NULL);
		if (valid && rate_of(p, c, value, &rate))
			json_object_object_add(item, "rate", json_object_new_double(rate));
		if (!c->equation) {
			blocks = json_object_new_array();
			for (idx = 0; idx < gpu_blocks(p->gpu, c->type); idx++)
				json_object_array_add(blocks, json_object_new_uint64(
						      block_value(p, c, idx)));
			json_object_object_add(item, "block",
					       json_object_new_string(block_names[c->type]));
			json_object_object_add(item, "index", json_object_new_int(c->index));
			json_object_object_add(item, "blocks", blocks);
		}
		json_object_array_add(list, item);
	}

	json_object_object_add(top, "gpu", json_object_new_string(gpu_name(p->gpu)));
	json_object_object_add(top, "device", json_object_new_string(p->gpu->path));
	json_object_object_add(top, "start_ns", json_object_new_uint64(p->result->start_ns));
	json_object_object_add(top, "end_ns", json_object_new_uint64(p->result->end_ns));
	item = json_object_new_double(p->result->sums.seconds);
	json_object_set_serializer(item, json_object_double_to_json_string, "%.9f", NULL);
	json_object_object_add(top, "seconds", item);
	json_object_object_add(top, "samples", json_object_new_uint64(p->result->samples));
	json_object_object_add(top, "overflow", json_object_new_boolean(
			       p->result->flags & DRM_PANTHOR_PERF_SAMPLE_OVERFLOW));
	json_object_object_add(top, "error", json_object_new_boolean(
			       p->result->flags & DRM_PANTHOR_PERF_SAMPLE_ERROR));
	json_object_object_add(top, "cycles", cycles);
	json_object_object_add(top, "counters", list);
	fprintf(p->out, "%s\n", json_object_to_json_string_ext(top, JSON_C_TO_STRING_PRETTY |
								     JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

static int start_command(char **command, const sigset_t *mask, pid_t *child)
{
	posix_spawnattr_t attributes;
	int ret;

	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, mask);
	ret = posix_spawnp(child, command[0], NULL, &attributes, command, environ);
	posix_spawnattr_destroy(&attributes);

	if (!ret)
		return 0;
	complain("cannot run %s: %s", command[0], strerror(ret));
	*child = 0;
	return ret == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

/* Counts over the command. Returns an exit status, which is the command's if all went well. */
static int measure(const struct arguments *arguments, const struct gpu *gpu,
		   const struct selection *selection, struct result *result)
{
	struct session session;
	sigset_t caught, before;
	int signals, status = 0, wait_status = 0;
	pid_t child = 0;

	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigprocmask(SIG_BLOCK, &caught, &before);
	signals = signalfd(-1, &caught, SFD_CLOEXEC);
	if (signals < 0) {
		complain("cannot wait for signals: %s", strerror(errno));
		return STATUS_FAILED;
	}

	if (session_open(&session, gpu, selection->masks, RING_SLOTS)) {
		close(signals);
		return STATUS_FAILED;
	}

	if (session_start(&session, TAG_SAMPLE)) {
		status = STATUS_FAILED;
		goto out;
	}

	if (arguments->command) {
		status = start_command(arguments->command, &before, &child);
		if (status)
			goto out;
	}

	if (count_until_end(&session, result, signals, child, &wait_status) ||
	    finish(&session, result, signals))
		status = STATUS_FAILED;
	else if (WIFSIGNALED(wait_status))
		status = 128 + WTERMSIG(wait_status);
	else
		status = WEXITSTATUS(wait_status);

out:
	session_close(&session);
	close(signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return status;
}

int command_stat(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[--] [COMMAND [ARGUMENT...]]",
		"Counts what the GPU does while a command runs, or until Ctrl-C.\v"
		"The counts are those of all work on the GPU, whoever it is from. The exit status "
		"is the command's.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct selection selection = {};
	struct result result = {};
	struct counters counters = {};
	struct gpu gpu;
	struct printer printer;
	FILE *out = stderr;
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);

	if (gpu_open(&gpu, arguments.device))
		return STATUS_FAILED;

	status = STATUS_FAILED;
	if (gpu_check(&gpu))
		goto out;

	if (gpu.product.layout && data_counters(gpu.product.layout, &counters)) {
		complain("out of memory");
		goto out;
	}

	selection.counters = &counters;
	status = choose(&arguments, &gpu, &selection);
	if (status)
		goto out;

	status = STATUS_FAILED;
	if (arguments.output) {
		out = fopen(arguments.output, "we");
		if (!out) {
			complain("%s: %s", arguments.output, strerror(errno));
			goto out;
		}
	}

	result.blocks = calloc((size_t)num_blocks(&gpu) * gpu.perf.counters_per_block,
			       sizeof(*result.blocks));
	if (!result.blocks) {
		complain("out of memory");
		goto out;
	}

	status = measure(&arguments, &gpu, &selection, &result);
	if (!result.stopped)
		goto out;

	result.sums.seconds = (result.end_ns - result.start_ns) / 1e9;
	printer = (struct printer) {
		.out = out,
		.arguments = &arguments,
		.gpu = &gpu,
		.counters = &counters,
		.selection = &selection,
		.result = &result,
		.config = gpu_config(&gpu),
	};
	if (arguments.json)
		print_json(&printer);
	else if (arguments.separator)
		print_separated(&printer);
	else
		print_plain(&printer);

	if (ferror(out) | fflush(out)) {
		complain("cannot write the counts: %s", strerror(errno));
		status = STATUS_FAILED;
	}

out:
	if (out && out != stderr)
		fclose(out);
	free(result.blocks);
	select_free(&selection);
	data_free(&counters);
	free(arguments.events);
	gpu_close(&gpu);
	return status;
}
