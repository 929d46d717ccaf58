// SPDX-License-Identifier: MIT
/*
 * A table of samples has a column for each counter: those of hardware are stored, those derived from them are computed when
 * somebody reads them. The file has its name only when it is whole, so that there is no journal.
 */
#define _GNU_SOURCE
#include "sqlite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <sql.h>
#include <sqlite3.h>

#include "common.h"
#include "job-times.h"

/* Rows of a transaction. */
#define ROWS 10000

struct database {
	struct view *view;
	sqlite3 *db;
	sqlite3_stmt *insert;

	/* The counters that have columns: those of hardware first, and where their values are. */
	struct pperf_selection *selection;
	const struct pperf_counter *const *counters;
	size_t num_counters, num_stored;
	struct recording_column *columns;

	/* Sums of each sample, of all, and of each region. */
	struct pperf_sums *one, *all, **regions;

	uint64_t samples, start_ns, end_ns, gaps;
	struct clocks clocks;

	/* Of rows that are inserted as they are found. */
	int status;
};

/* ---- The schema ---- */

static const char tables[] =
	"CREATE TABLE recording (\n"
	"  tool TEXT, host TEXT, kernel TEXT, machine TEXT,\n"
	"  command TEXT,               -- a JSON array of its words\n"
	"  gpu TEXT, layout TEXT, cores INTEGER, slices INTEGER, bus_bytes INTEGER,\n"
	"  counter_set TEXT,\n"
	"  period_ns INTEGER,\n"
	"  start_ns INTEGER, end_ns INTEGER,   -- CLOCK_MONOTONIC_RAW, as all times\n"
	"  start_realtime_ns INTEGER,  -- start_ns since 1970\n"
	"  samples INTEGER,\n"
	"  ended TEXT,                 -- command, interrupt, gpu, failure, continued; NULL: cut short\n"
	"  status INTEGER,             -- exit status of the command\n"
	"  lost_samples INTEGER, lost_marks INTEGER,\n"
	"  measured_hz INTEGER, nominal_hz INTEGER,\n"
	"  active_seconds REAL         -- time in which the GPU was active\n"
	");\n"
	"CREATE TABLE counter (\n"
	"  name TEXT PRIMARY KEY,      -- the column of sample\n"
	"  block TEXT, position INTEGER,       -- NULL: derived\n"
	"  title TEXT, category TEXT, unit TEXT,\n"
	"  kind TEXT,                  -- count: adds up; ratio\n"
	"  equation TEXT               -- NULL: counted by hardware\n"
	");\n"
	"CREATE TABLE region (\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  name TEXT,                  -- NULL: the time in no region\n"
	"  times INTEGER, seconds REAL,\n"
	"  active_seconds REAL\n"
	");\n"
	"CREATE TABLE mark (\n"
	"  start_ns INTEGER, end_ns INTEGER,\n"
	"  region INTEGER REFERENCES region\n"
	");\n"
	"CREATE TABLE frame (           -- from a call of pperf_frame() to the next of the process\n"
	"  program TEXT, pid INTEGER,\n"
	"  start_ns INTEGER, end_ns INTEGER,\n"
	"  lost INTEGER                -- more frames that ended in between and were lost\n"
	");\n"
	"CREATE TABLE gap (             -- nothing was counted\n"
	"  start_ns INTEGER, end_ns INTEGER\n"
	");\n";

/* Where there are jobs. */
static const char job_tables[] =
	"CREATE TABLE queue (           -- of a process, or another timeline of fences\n"
	"  id INTEGER PRIMARY KEY,\n"
	"  process TEXT, pid INTEGER,  -- NULL: none; process is a driver then, or not known\n"
	"  name TEXT\n"
	");\n"
	"CREATE TABLE job (\n"
	"  queue INTEGER REFERENCES queue,\n"
	"  thread INTEGER,             -- the one that queued it\n"
	"  queued_ns INTEGER, ready_ns INTEGER,    -- ready: its fences were signalled\n"
	"  run_ns INTEGER, end_ns INTEGER,         -- run: it was given to firmware\n"
	"  waited_for INTEGER REFERENCES queue,    -- that of the fence that was signalled last\n"
	"  outcome TEXT                -- done, dropped before it ran, unfinished: it ends later\n"
	");\n"
	"CREATE TABLE idle (            -- no job was running\n"
	"  start_ns INTEGER, end_ns INTEGER,\n"
	"  reason TEXT,                -- no job queued, waiting for a fence, ready, unknown\n"
	"  queue INTEGER REFERENCES queue  -- the last that had a job, that of the fence, that of the ready job;\n"
	"                              -- NULL: several, or not known\n"
	");\n";

/* The derived counters, each after a comma. Returns -1 without memory. */
static int put_derived(const struct database *d, FILE *out, const char *form)
{
	size_t i;
	char *sql;

	for (i = d->num_stored; i < d->num_counters; i++) {
		sql = pperf_counter_sql(d->view->db, &d->view->recording.head.gpu, d->counters[i]);
		if (!sql)
			return -1;
		fprintf(out, form, d->counters[i]->name, sql);
		free(sql);
	}
	return 0;
}

static bool has_clock(const struct database *d, unsigned int clock)
{
	return d->view->recording.head.gpu.clocks >> clock & 1;
}

static int put_samples(const struct database *d, FILE *out)
{
	unsigned int clock;
	size_t i;
	int ret;

	fputs("CREATE TABLE sample (\n"
	      "  number INTEGER PRIMARY KEY,\n"
	      "  start_ns INTEGER, end_ns INTEGER,\n"
	      "  flags INTEGER,              -- 1: overflow, 2: error, 4: stretched\n"
	      "  region INTEGER REFERENCES region,   -- the one of its midpoint\n", out);
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (has_clock(d, clock))
			fprintf(out, "  %s_cycles INTEGER,\n", pperf_clock_name(clock));
	fputs("  active_seconds REAL,\n", out);
	for (i = 0; i < d->num_stored; i++)
		fprintf(out, "  \"%s\" INTEGER,\n", d->counters[i]->name);
	fputs("  seconds REAL AS ((end_ns - start_ns) / 1e9)", out);
	ret = put_derived(d, out, ",\n  \"%s\" REAL AS (%s)");
	fputs("\n);\n", out);
	return ret;
}

/* A row with all samples together, or one for each region. */
static int put_total(const struct database *d, FILE *out, const char *name, const char *first, const char *active, const char *last)
{
	unsigned int clock;
	size_t i;
	int ret;

	fprintf(out, "CREATE VIEW %s AS SELECT *", name);
	ret = put_derived(d, out, ",\n  %2$s AS \"%1$s\"");
	fprintf(out, "\nFROM (SELECT %scount(*) AS samples, min(start_ns) AS start_ns, max(end_ns) AS end_ns,\n"
		"  sum(end_ns - start_ns) / 1e9 AS seconds,\n  (SELECT active_seconds FROM %s) AS active_seconds", first, active);
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (has_clock(d, clock))
			fprintf(out, ",\n  sum(%1$s_cycles) AS %1$s_cycles", pperf_clock_name(clock));
	for (i = 0; i < d->num_stored; i++)
		fprintf(out, ",\n  sum(\"%1$s\") AS \"%1$s\"", d->counters[i]->name);
	fprintf(out, "\n  FROM sample%s);\n", last);
	return ret;
}

/* Returns -1 without memory. */
static int put_schema(const struct database *d, FILE *out)
{
	fputs(tables, out);
	if (d->view->recording.head.jobs)
		fputs(job_tables, out);
	if (put_samples(d, out) || put_total(d, out, "total", "", "recording", "") ||
	    put_total(d, out, "region_total", "region, ", "region WHERE id = sample.region", " GROUP BY region"))
		return -1;
	return 0;
}

/* Finds the counters. Prints what is wrong. Returns a status. */
static int choose_columns(struct database *d)
{
	const struct recording *r = &d->view->recording;
	enum pperf_error error = pperf_selection_new(d->view->db, &r->head.gpu, &d->selection);
	unsigned int type, i;
	size_t n;

	if (!error)
		error = pperf_records_select(&r->head, d->view->db, d->selection);
	if (error)
		return complain_of(error);
	d->counters = pperf_selection_counters(d->selection, &d->num_counters);
	for (n = 0; n < d->num_counters; n++)
		d->num_stored += !d->counters[n]->equation;
	d->columns = calloc(d->num_stored + 1, sizeof(*d->columns));
	if (!d->columns)
		return complain_of_memory();
	/* They come in the order of fields. */
	for (type = 1, n = 0; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; r->head.gpu.blocks[type] && i < r->layout.counters[type]; i++)
			d->columns[n++] = pperf_records_column(r, type, i);
	return STATUS_OK;
}

static void close_database(struct database *d)
{
	size_t i;

	for (i = 0; d->regions && i < d->view->regions.count; i++)
		pperf_sums_free(d->regions[i]);
	free(d->regions);
	pperf_sums_free(d->one);
	pperf_sums_free(d->all);
	free(d->columns);
	pperf_selection_free(d->selection);
	sqlite3_finalize(d->insert);
	sqlite3_close(d->db);
}

int sqlite_print_schema(const struct view *view, FILE *out)
{
	struct database d = { .view = (struct view *)view };
	int status = choose_columns(&d);

	if (!status && put_schema(&d, out))
		status = complain_of_memory();
	close_database(&d);
	return status;
}

/* ---- Rows ---- */

static int complain_of_sqlite(const struct database *d)
{
	complain("cannot write the database: %s", sqlite3_errmsg(d->db));
	return STATUS_IO;
}

static int run(struct database *d, const char *sql)
{
	return sqlite3_exec(d->db, sql, NULL, NULL, NULL) ? complain_of_sqlite(d) : STATUS_OK;
}

/* Prepares an insertion of so many values. Returns a status. */
static int prepare(struct database *d, const char *table, size_t values)
{
	char *sql = NULL;
	size_t size, i;
	FILE *out = open_memstream(&sql, &size);
	int status = STATUS_OK;

	sqlite3_finalize(d->insert);
	d->insert = NULL;
	if (!out)
		return complain_of_memory();
	fprintf(out, "INSERT INTO %s VALUES (?", table);
	for (i = 1; i < values; i++)
		fputs(", ?", out);
	fputc(')', out);
	if (fclose(out))
		status = complain_of_memory();
	else if (sqlite3_prepare_v2(d->db, sql, -1, &d->insert, NULL))
		status = complain_of_sqlite(d);
	free(sql);
	return status;
}

/* Values of a row, from the first on: each gives the position of the next. */
static int bind_count(struct database *d, int at, uint64_t count)
{
	/* Integers of SQL have a sign. */
	if (count > INT64_MAX)
		sqlite3_bind_double(d->insert, at, count);
	else
		sqlite3_bind_int64(d->insert, at, count);
	return at + 1;
}

static int bind_text(struct database *d, int at, const char *text)
{
	sqlite3_bind_text(d->insert, at, text, -1, SQLITE_STATIC);
	return at + 1;
}

/* NULL for a number that is not known: what is not is NULL, too. */
static int bind_number(struct database *d, int at, double number)
{
	if (isfinite(number))
		sqlite3_bind_double(d->insert, at, number);
	else
		sqlite3_bind_null(d->insert, at);
	return at + 1;
}

static int bind_known(struct database *d, int at, uint64_t count)
{
	if (count)
		return bind_count(d, at, count);
	sqlite3_bind_null(d->insert, at);
	return at + 1;
}

static int insert_row(struct database *d)
{
	if (sqlite3_step(d->insert) != SQLITE_DONE)
		return complain_of_sqlite(d);
	sqlite3_reset(d->insert);
	return STATUS_OK;
}

static double active_seconds(const struct pperf_sums *sums)
{
	struct pperf_load load;

	return !sums || pperf_sums_load(sums, &load, sizeof(load)) ? NAN : load.active_seconds;
}

static int insert_counters(struct database *d)
{
	static const char *const kinds[] = { [PPERF_KIND_COUNT] = "count", [PPERF_KIND_RATIO] = "ratio" };
	int status = prepare(d, "counter", 8), at;
	size_t i;

	for (i = 0; i < d->num_counters && !status; i++) {
		const struct pperf_counter *c = d->counters[i];

		at = bind_text(d, 1, c->name);
		at = bind_text(d, at, c->type ? pperf_block_name(c->type) : NULL);
		at = c->type ? bind_count(d, at, c->index) : bind_number(d, at, NAN);
		at = bind_text(d, at, c->title);
		at = bind_text(d, at, c->group);
		at = bind_text(d, at, c->unit);
		at = bind_text(d, at, kinds[c->kind]);
		bind_text(d, at, c->equation);
		status = insert_row(d);
	}
	return status;
}

static int insert_regions(struct database *d)
{
	const struct regions *regions = &d->view->regions;
	int status = prepare(d, "region", 5), at;
	size_t i;

	pperf_regions_lengths(&d->view->regions, d->start_ns, d->end_ns);
	for (i = 0; i < regions->count && !status; i++) {
		at = bind_count(d, 1, i);
		at = bind_text(d, at, i ? regions->list[i].name : NULL);
		at = bind_count(d, at, regions->list[i].times);
		at = bind_number(d, at, regions->list[i].lasts_ns / 1e9);
		bind_number(d, at, active_seconds(d->regions[i]));
		status = insert_row(d);
	}
	if (!status)
		status = prepare(d, "mark", 3);
	for (i = 0; i < regions->num_marks && !status; i++) {
		at = bind_count(d, 1, regions->marks[i].time_ns);
		at = bind_count(d, at, i + 1 < regions->num_marks ? regions->marks[i + 1].time_ns :
				d->end_ns > regions->marks[i].time_ns ? d->end_ns : regions->marks[i].time_ns);
		bind_count(d, at, regions->marks[i].region);
		status = insert_row(d);
	}
	return status;
}

static int insert_frames(struct database *d)
{
	const struct frames *frames = &d->view->frames;
	int status = prepare(d, "frame", 5), at;
	size_t i;

	for (i = 0; i < frames->count && !status; i++) {
		const struct frame *frame = &frames->list[i];
		const struct frame_process *process = &frames->processes[frame->process];

		at = bind_text(d, 1, *process->name ? process->name : NULL);
		at = bind_known(d, at, process->pid);
		at = bind_count(d, at, frame->start_ns);
		at = bind_count(d, at, frame->end_ns);
		bind_count(d, at, frame->lost);
		status = insert_row(d);
	}
	return status;
}

/* Queues have their place in the list, from 1 on: NULL for 0. */
static int insert_queues(struct database *d)
{
	const struct jobs *jobs = &d->view->jobs;
	int status = prepare(d, "queue", 4), at;
	size_t i;

	for (i = 0; i < jobs->num_queues && !status; i++) {
		const struct job_process *process = &jobs->processes[jobs->queues[i].process];

		at = bind_count(d, 1, i + 1);
		at = bind_text(d, at, process->name);
		at = bind_known(d, at, process->pid);
		bind_text(d, at, jobs->queues[i].name);
		status = insert_row(d);
	}
	return status;
}

static void insert_idle(void *context, const struct job_span *span)
{
	struct database *d = context;
	int at;

	if (d->status || span->state == JOBS_RUNNING)
		return;
	at = bind_count(d, 1, span->start_ns);
	at = bind_count(d, at, span->end_ns);
	at = bind_text(d, at, job_states[span->state][1]);
	bind_known(d, at, span->owner < d->view->jobs.num_queues ? span->owner + 1 : 0);
	d->status = insert_row(d);
}

static int insert_jobs(struct database *d)
{
	const struct jobs *jobs = &d->view->jobs;
	int status = insert_queues(d), at;
	size_t i;

	if (!status)
		status = prepare(d, "job", 8);
	for (i = 0; i < jobs->count && !status; i++) {
		const struct recording_job *job = &jobs->list[i];

		at = bind_count(d, 1, job->queue + 1);
		at = bind_known(d, at, job->thread);
		at = bind_known(d, at, job->no_queued ? 0 : job->queued_ns);
		at = bind_count(d, at, job->ready_ns);
		at = bind_known(d, at, job->no_run ? 0 : job->run_ns);
		at = bind_count(d, at, job->end_ns);
		at = bind_known(d, at, job->waited_for);
		bind_text(d, at, pperf_records_outcomes[job->outcome]);
		status = insert_row(d);
	}
	if (!status)
		status = prepare(d, "idle", 4);
	if (status)
		return status;
	job_times_each(jobs, d->start_ns, d->end_ns, insert_idle, d);
	return d->status;
}

static struct json_object *command_json(char *const *command)
{
	struct json_object *list = command ? json_object_new_array() : NULL;

	for (; command && *command; command++)
		json_object_array_add(list, json_object_new_string(*command));
	return list;
}

/* Item is what ended the recording. */
static int insert_recording(struct database *d, enum recording_item item)
{
	const struct recording_head *head = &d->view->recording.head;
	const struct recording_end *end = &d->view->recording.end;
	struct json_object *command = command_json(head->command);
	const char *const texts[] = {
		head->tool, head->host, head->kernel, head->machine,
		command ? json_object_to_json_string_ext(command, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE) : NULL,
		head->gpu.name, head->gpu.layout,
	};
	int status = prepare(d, "recording", 23), at = 1;
	uint64_t realtime = d->clocks.realtime && d->samples ? d->clocks.realtime + (d->start_ns - d->clocks.monotonic_raw) : 0;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		at = bind_text(d, at, texts[i]);
	at = bind_count(d, at, head->gpu.cores);
	at = bind_count(d, at, head->gpu.slices);
	at = bind_count(d, at, head->gpu.bus_bytes);
	at = bind_text(d, at, pperf_set_name(head->set));
	at = bind_known(d, at, head->period_ns);
	at = bind_known(d, at, d->start_ns);
	at = bind_known(d, at, d->end_ns);
	at = bind_known(d, at, realtime);
	at = bind_count(d, at, d->samples);
	at = bind_text(d, at, item == RECORDING_END ? pperf_records_reasons[end->reason] : NULL);
	if (item == RECORDING_END) {
		at = bind_count(d, at, end->status);
		at = bind_count(d, at, end->lost);
		at = bind_count(d, at, end->dropped);
		at = bind_known(d, at, end->clock.measured_hz);
		bind_known(d, at, end->clock.nominal_hz);
	}
	bind_number(d, 23, active_seconds(d->all));
	if (!status)
		status = insert_row(d);
	json_object_put(command);
	return status;
}

static int insert_gap(struct database *d, uint64_t start_ns, uint64_t end_ns)
{
	sqlite3_stmt *samples = d->insert;
	int status;

	d->insert = NULL;
	status = prepare(d, "gap", 2);
	bind_count(d, bind_count(d, 1, start_ns), end_ns);
	if (!status)
		status = insert_row(d);
	sqlite3_finalize(d->insert);
	d->insert = samples;
	return status;
}

/* Returns the library's error, or PPERF_OK. */
static enum pperf_error add_up(struct database *d, uint32_t region)
{
	const struct pperf_sample *sample = &d->view->recording.sample;
	enum pperf_error error;

	pperf_sums_reset(d->one);
	error = pperf_sums_add(d->one, sample);
	if (!error)
		error = pperf_sums_add(d->all, sample);
	return error ? error : pperf_sums_add(d->regions[region], sample);
}

static int insert_sample(struct database *d)
{
	const struct recording *r = &d->view->recording;
	const struct pperf_sample *sample = &r->sample;
	enum pperf_error error;
	unsigned int clock;
	int status = STATUS_OK, at;
	uint32_t region;
	size_t i;

	if (!d->samples)
		d->start_ns = sample->start_ns;
	else if (sample->start_ns != d->end_ns)
		status = insert_gap(d, d->end_ns, sample->start_ns);
	if (status)
		return status;
	d->end_ns = sample->end_ns;
	pperf_regions_place(&d->view->regions, sample->start_ns, sample->end_ns, &region);
	error = add_up(d, region);
	if (error)
		return complain_of(error);

	at = bind_count(d, 1, d->samples++);
	at = bind_count(d, at, sample->start_ns);
	at = bind_count(d, at, sample->end_ns);
	at = bind_count(d, at, sample->flags);
	at = bind_count(d, at, region);
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (has_clock(d, clock))
			at = bind_count(d, at, sample->cycles[clock]);
	at = bind_number(d, at, active_seconds(d->one));
	for (i = 0; i < d->num_stored; i++)
		at = bind_count(d, at, recording_total(r->previous, &d->columns[i]));
	status = insert_row(d);
	if (!status && d->samples % ROWS == 0)
		status = run(d, "COMMIT; BEGIN");
	return status;
}

/* Item becomes what ended the recording. */
static int insert_samples(struct database *d, enum recording_item *item)
{
	struct recording *r = &d->view->recording;
	size_t values = 6 + d->num_stored;
	unsigned int clock;
	int status;

	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		values += has_clock(d, clock);
	status = prepare(d, "sample", values);
	if (!status && pperf_records_rewind(r))
		status = view_finish(d->view, RECORDING_UNREADABLE);
	while (!status && (*item = pperf_records_next(r)) <= RECORDING_CLOCKS) {
		if (*item == RECORDING_CLOCKS && !d->samples)
			d->clocks = r->clocks;
		if (*item == RECORDING_SAMPLE)
			status = insert_sample(d);
	}
	return status;
}

static int make_sums(struct database *d)
{
	const struct pperf_gpu_info *info = &d->view->recording.head.gpu;
	enum pperf_error error = pperf_sums_new(d->view->db, info, &d->one);
	size_t i;

	d->regions = calloc(d->view->regions.count, sizeof(*d->regions));
	if (!d->regions)
		return complain_of_memory();
	if (!error)
		error = pperf_sums_new(d->view->db, info, &d->all);
	for (i = 0; i < d->view->regions.count && !error; i++)
		error = pperf_sums_new(d->view->db, info, &d->regions[i]);
	return error ? complain_of(error) : STATUS_OK;
}

static int make_tables(struct database *d)
{
	char *schema = NULL;
	size_t size;
	FILE *out = open_memstream(&schema, &size);
	int status;

	if (!out)
		return complain_of_memory();
	status = put_schema(d, out);
	if (fclose(out) || status)
		status = complain_of_memory();
	else
		status = run(d, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN");
	if (!status)
		status = run(d, schema);
	free(schema);
	return status;
}

int sqlite_convert(struct view *view, const char *path)
{
	struct database d = { .view = view };
	enum recording_item item = RECORDING_END;
	int status = choose_columns(&d);

	if (!status)
		status = make_sums(&d);
	if (!status && sqlite3_open_v2(path, &d.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL))
		status = complain_of_sqlite(&d);
	if (!status)
		status = make_tables(&d);
	if (!status)
		status = insert_counters(&d);
	if (!status)
		status = insert_samples(&d, &item);
	if (!status)
		status = insert_regions(&d);
	if (!status)
		status = insert_frames(&d);
	if (!status && view->has_jobs)
		status = insert_jobs(&d);
	if (!status)
		status = insert_recording(&d, item);
	if (!status)
		status = run(&d, "COMMIT");
	if (!status)
		status = item == RECORDING_CUT ? STATUS_OK : view_finish(view, item);
	close_database(&d);
	return status;
}
