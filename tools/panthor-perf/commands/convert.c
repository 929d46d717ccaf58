// SPDX-License-Identifier: MIT
/* panthor-perf convert: a recording in forms that other programs read. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "commands.h"
#include "common.h"
#include "fields.h"
#include "perfetto.h"
#include "recording-write.h"
#include "sqlite.h"
#include "view.h"

enum form { FORM_NONE, FORM_CSV, FORM_JSON, FORM_PERFETTO, FORM_SQLITE, FORM_SCHEMA };

#define KEY_SCHEMA 0x100

struct arguments {
	enum form form;
	enum perfetto_compression compression;
	const char *output;
	const char *input;
};

static const struct argp_option options[] = {
	{ "csv", 'c', NULL, 0, "Write comma-separated values, one line per sample", 0 },
	{ "json", 'j', NULL, 0, "Write JSON", 0 },
	{ "perfetto", 'P', "zstd|deflate", OPTION_ARG_OPTIONAL, PERFETTO_HELP, 0 },
	{ "sqlite", 's', NULL, 0, "Write a database of SQLite; needs --output", 0 },
	{ "schema", KEY_SCHEMA, NULL, 0, "Write the statements that create the tables of --sqlite", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	enum form form = FORM_NONE;

	switch (key) {
	case 'c':
		form = FORM_CSV;
		break;
	case 'j':
		form = FORM_JSON;
		break;
	case 'P':
		form = FORM_PERFETTO;
		if (!perfetto_parse_compression(arg, &arguments->compression))
			argp_error(state, "--perfetto: use zstd or deflate, not \"%s\"", arg);
		break;
	case 's':
		form = FORM_SQLITE;
		break;
	case KEY_SCHEMA:
		form = FORM_SCHEMA;
		break;
	case 'o':
		arguments->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->input)
			argp_error(state, "unexpected argument: %s", arg);
		arguments->input = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->input)
			arguments->input = RECORDING_DEFAULT;
		if (!arguments->form)
			argp_error(state, "no format: use --csv, --json, --perfetto or --sqlite");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (arguments->form && arguments->form != form)
		argp_error(state, "use only one of --csv, --json, --perfetto, --sqlite and --schema");
	arguments->form = form;
	return 0;
}

/* ---- Comma-separated values ---- */

/* Characters of the longest number, and of the comma before it. */
#define MAX_NUMBER 21

static void csv_begin(struct view *v, FILE *out)
{
	const struct recording_layout *layout = &v->recording.layout;
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	unsigned int b, i, clock, index = 0;

	fprintf(out, "start_ns,end_ns,flags");
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (info->clocks >> clock & 1)
			fprintf(out, ",%s_cycles", pperf_clock_name(clock));

	for (b = 0; b < layout->blocks; b++, index++) {
		unsigned int type = layout->types[b];

		if (b && type != layout->types[b - 1])
			index = 0;
		if (info->has_states)
			fprintf(out, ",%s.%u:states", pperf_block_name(type), index);
		for (i = 0; i < layout->counters[type]; i++)
			fprintf(out, ",%s.%u:%s", pperf_block_name(type), index,
				pperf_db_at(v->db, type, layout->indices[type][i])->name);
	}
	fputc('\n', out);
}

/* A comma and a number; MAX_NUMBER characters are written. printf() would take most of the time. */
static char *put_number(char *at, uint64_t number)
{
	char digits[2 * MAX_NUMBER], *end = digits + MAX_NUMBER, *first = end;

	do {
		*--first = '0' + number % 10;
		number /= 10;
	} while (number);
	*--first = ',';
	memcpy(at, first, MAX_NUMBER);
	return at + (end - first);
}

/* The line has room for all fields. */
static void csv_sample(struct view *v, char *line, FILE *out)
{
	const struct recording_layout *layout = &v->recording.layout;
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	const struct pperf_sample *sample = &v->recording.sample;
	unsigned int b, i, clock;
	char *at = line;

	at = put_number(at, sample->start_ns);
	at = put_number(at, sample->end_ns);
	at = put_number(at, sample->flags);
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (info->clocks >> clock & 1)
			at = put_number(at, sample->cycles[clock]);

	for (b = 0; b < layout->blocks; b++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, b);
		unsigned int type = layout->types[b];

		if (info->has_states)
			at = put_number(at, block->states);
		for (i = 0; i < layout->counters[type]; i++)
			at = put_number(at, block->values[layout->indices[type][i]]);
	}
	*at++ = '\n';
	/* Without the first comma. */
	fwrite(line + 1, 1, at - line - 1, out);
}

static enum recording_item to_csv(struct view *v, FILE *out)
{
	enum recording_item item = RECORDING_NO_MEMORY;
	char *line = malloc((v->recording.layout.fields + 1) * MAX_NUMBER);

	if (!line) {
		snprintf(v->recording.error, sizeof(v->recording.error), "out of memory");
		return item;
	}
	csv_begin(v, out);
	while ((item = pperf_records_next(&v->recording)) <= RECORDING_CLOCKS && !ferror(out))
		if (item == RECORDING_SAMPLE)
			csv_sample(v, line, out);
	free(line);
	return item;
}

/* ---- JSON ---- */

/* An object is printed as it is made: a recording can be larger than memory. */
static void print_object(FILE *out, struct json_object *object)
{
	fputs(json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE),
	      out);
	json_object_put(object);
}

static void print_flags(FILE *out, uint32_t flags)
{
	static const char *const names[] = { "overflow", "error", "stretched" };
	const char *comma = "";
	unsigned int bit;

	fputs("\"flags\":[", out);
	for (bit = 0; bit < 3; bit++) {
		if (!(flags >> bit & 1))
			continue;
		fprintf(out, "%s\"%s\"", comma, names[bit]);
		comma = ",";
	}
	fputc(']', out);
}

static void print_states(FILE *out, unsigned int states)
{
	static const char *const names[] = { "on", "off", "available", "unavailable", "normal", "protected" };
	const char *comma = "";
	unsigned int bit;

	fputs(",\"states\":[", out);
	for (bit = 0; bit < 6; bit++) {
		if (!(states >> bit & 1))
			continue;
		fprintf(out, "%s\"%s\"", comma, names[bit]);
		comma = ",";
	}
	fputc(']', out);
}

static void json_sample(struct view *v, FILE *out)
{
	const struct recording_layout *layout = &v->recording.layout;
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	const struct pperf_sample *sample = &v->recording.sample;
	unsigned int b, i, clock;

	fprintf(out, "{\"start_ns\":%" PRIu64 ",\"end_ns\":%" PRIu64 ",", sample->start_ns, sample->end_ns);
	print_flags(out, sample->flags);
	fputs(",\"cycles\":{", out);
	for (clock = 0, i = 0; clock < PPERF_CLOCKS; clock++)
		if (info->clocks >> clock & 1)
			fprintf(out, "%s\"%s\":%" PRIu64, i++ ? "," : "", pperf_clock_name(clock),
				sample->cycles[clock]);
	fputs("},\"blocks\":[", out);

	for (b = 0; b < layout->blocks; b++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, b);

		fprintf(out, "%s{\"type\":\"%s\",\"index\":%u,\"clock\":\"%s\"", b ? "," : "",
			pperf_block_name(block->type), block->index, pperf_clock_name(block->clock));
		if (info->has_states)
			print_states(out, block->states);
		fputs(",\"values\":{", out);
		for (i = 0; i < layout->counters[block->type]; i++) {
			unsigned int index = layout->indices[block->type][i];

			/* Names of the tables have no characters that JSON would want changed. */
			fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "",
				pperf_db_at(v->db, block->type, index)->name, block->values[index]);
		}
		fputs("}}", out);
	}
	fputs("]}", out);
}

static void add_mark(struct json_object *marks, const struct recording_mark *mark)
{
	struct json_object *item = json_object_new_object();

	json_add_count(item, "time_ns", mark->time_ns);
	json_object_object_add(item, "name", *mark->name ? json_object_new_string(mark->name) : NULL);
	json_object_array_add(marks, item);
}

static void add_frame(struct json_object *frames, const struct recording_frame *frame)
{
	struct json_object *item = json_object_new_object();

	json_add_count(item, "end_ns", frame->time_ns);
	json_object_object_add(item, "program", json_object_new_string(frame->name));
	json_add_count(item, "pid", frame->pid);
	json_add_count(item, "lost", frame->lost);
	json_object_array_add(frames, item);
}

static struct json_object *job_object(const struct recording_job *job, const struct recording_queue *queues)
{
	const struct recording_queue *queue = &queues[job->queue], *fence = job->waited_for ? &queues[job->waited_for - 1] : NULL;
	struct json_object *object = json_object_new_object();

	json_add_count(object, "pid", queue->pid);
	json_object_object_add(object, "process", json_object_new_string(queue->process));
	json_add_count(object, "queue_id", queue->id);
	json_object_object_add(object, "queue", json_object_new_string(queue->name));
	json_add_count(object, "thread", job->thread);
	if (!job->no_queued)
		json_add_count(object, "queued_ns", job->queued_ns);
	json_add_count(object, "ready_ns", job->ready_ns);
	if (!job->no_run)
		json_add_count(object, "run_ns", job->run_ns);
	json_add_count(object, "end_ns", job->end_ns);
	json_object_object_add(object, "outcome", json_object_new_string(pperf_records_outcomes[job->outcome]));
	if (fence) {
		json_add_count(object, "waited_for_id", fence->id);
		json_object_object_add(object, "waited_for_process", json_object_new_string(fence->process));
		json_object_object_add(object, "waited_for", json_object_new_string(fence->name));
	}
	return object;
}

/*
 * The times of which jobs are known, the gaps in them, and the jobs that ended there. They follow the samples, among which they are,
 * and wait in a file: there can be millions. Returns -1 without memory.
 */
static int add_jobs(FILE *records, const struct recording_record *record)
{
	struct json_object *object = json_object_new_object(), *gaps = json_object_new_array(), *list = json_object_new_array(), *gap;
	struct recording_jobs jobs;
	enum recording_item item = pperf_records_get_jobs(record, &jobs);
	size_t i;

	json_add_count(object, "start_ns", jobs.start_ns);
	json_add_count(object, "end_ns", jobs.end_ns);
	json_add_count(object, "open_ns", jobs.open_ns);
	for (i = 0; i < jobs.num_gaps && item == RECORDING_JOBS; i++) {
		gap = json_object_new_object();
		json_add_count(gap, "start_ns", jobs.gaps[i].start_ns);
		json_add_count(gap, "end_ns", jobs.gaps[i].end_ns);
		json_add_cpu(gap, jobs.gaps[i].cpu);
		json_add_count(gap, "lost", jobs.gaps[i].lost);
		json_object_array_add(gaps, gap);
	}
	for (i = 0; i < jobs.count && item == RECORDING_JOBS; i++)
		json_object_array_add(list, job_object(&jobs.list[i], jobs.queues));
	json_object_object_add(object, "gaps", gaps);
	json_object_object_add(object, "jobs", list);
	fputs(ftell(records) ? "," : "[", records);
	print_object(records, object);
	pperf_records_free_jobs(&jobs);
	return item == RECORDING_JOBS ? 0 : -1;
}

static void print_list(FILE *out, const char *key, struct json_object *list)
{
	if (json_object_array_length(list)) {
		fprintf(out, "\"%s\":", key);
		print_object(out, json_object_get(list));
		fputs(",\n", out);
	}
	json_object_put(list);
}

static int print_jobs(FILE *out, FILE *records)
{
	char bytes[1 << 16];
	size_t size;

	if (!ftell(records))
		return 0;
	if (ferror(records) || fflush(records))
		return -1;
	rewind(records);
	fputs("\"jobs\":", out);
	while ((size = fread(bytes, 1, sizeof(bytes), records)))
		fwrite(bytes, 1, size, out);
	fputs("],\n", out);
	return ferror(records) ? -1 : 0;
}

static enum recording_item to_json(struct view *v, FILE *out, FILE *jobs)
{
	struct json_object *marks = json_object_new_array(), *frames = json_object_new_array();
	const char *comma = "";
	enum recording_item item;

	fputs("{\"recording\":", out);
	print_object(out, recording_head_json(&v->recording.head));
	fputs(",\n\"samples\":[\n", out);
	while ((item = pperf_records_next(&v->recording)) <= RECORDING_CLOCKS && !ferror(out)) {
		if (item == RECORDING_MARK)
			add_mark(marks, &v->recording.mark);
		if (item == RECORDING_FRAME_END)
			add_frame(frames, &v->recording.frame);
		/* It was read before: memory is all that can be missing. */
		if (item == RECORDING_JOBS && jobs && add_jobs(jobs, &v->recording.jobs)) {
			snprintf(v->recording.error, sizeof(v->recording.error), "out of memory");
			item = RECORDING_NO_MEMORY;
			break;
		}
		if (item != RECORDING_SAMPLE)
			continue;
		fputs(comma, out);
		json_sample(v, out);
		comma = ",\n";
	}
	fputs("\n],\n", out);
	print_list(out, "marks", marks);
	print_list(out, "frames", frames);
	if (jobs && print_jobs(out, jobs)) {
		snprintf(v->recording.error, sizeof(v->recording.error), "cannot keep its jobs in a temporary file: %s", strerror(errno));
		item = RECORDING_UNREADABLE;
	}
	fputs("\"end\":", out);
	/* A recording that was cut short has none. */
	print_object(out, item == RECORDING_END ? recording_end_json(&v->recording.end) : NULL);
	fputs("}\n", out);
	return item;
}

/* ---- All of them ---- */

static int convert(struct view *v, const struct arguments *arguments, const struct output *output)
{
	enum pperf_error error = PPERF_OK;
	enum recording_item item;
	FILE *out = output->file, *jobs = NULL;

	switch (arguments->form) {
	case FORM_SCHEMA:
		return sqlite_print_schema(v, out);
	case FORM_SQLITE:
		return sqlite_convert(v, output->temporary);
	case FORM_CSV:
		item = to_csv(v, out);
		break;
	case FORM_JSON:
		if (v->recording.head.jobs)
			jobs = view_temporary(v);
		if (v->recording.head.jobs && !jobs)
			return STATUS_IO;
		item = to_json(v, out, jobs);
		if (jobs)
			fclose(jobs);
		break;
	default:
		item = perfetto_convert(&v->recording, out, arguments->compression, &error, NULL);
		break;
	}
	/* Without details: those of this thread may be of another error. */
	if (error && error != PPERF_ERROR_SYSTEM) {
		complain("%s", pperf_strerror(error));
		return status_of(error);
	}
	/* What cannot be written is told when the output is closed. */
	return ferror(out) ? STATUS_OK : view_finish(v, item);
}

int command_convert(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[FILE]",
		"Converts a recording, with the exact values of every sample, for other programs. Times are "
		"CLOCK_MONOTONIC_RAW, in nanoseconds.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	struct output output;
	struct view view;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	status = arguments.form == FORM_SQLITE ? view_open(&view, arguments.input) : view_open_stream(&view, arguments.input);
	if (!status && arguments.form == FORM_SQLITE && !output_replaces(arguments.output)) {
		complain("a database cannot be written to %s: use --output with the name of a file",
			 arguments.output && strcmp(arguments.output, "-") ? arguments.output : "standard output");
		status = STATUS_USAGE;
	}
	if (!status && arguments.form == FORM_SQLITE)
		status = view_read_jobs(&view);
	if (!status)
		status = output_open(&output, arguments.output, arguments.form == FORM_PERFETTO);
	if (!status)
		status = output_close(&output, convert(&view, &arguments, &output));
	view_close(&view);
	return status;
}
