// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "job-report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "fields.h"
#include "job-parts.h"
#include "job-sums.h"
#include "job-times.h"
#include "quantiles.h"

/* As many processes, and causes of a part of idle time, are printed. */
#define MAX_PROCESSES 20
#define MAX_CAUSES 5

#define PERCENTILES 3
static const unsigned int percentiles[PERCENTILES] = { 50, 95, 100 };
static const char *const percentile_names[PERCENTILES] = { "p50", "p95", "max" };

/* Times of jobs: from one moment to another. */
enum { TO_RUN, TO_END, TIMES };
static const char *const time_names[TIMES] = { "queued_to_run_ns", "run_to_end_ns" };

struct process {
	/* The time in which its jobs ran, and of that the time in which no others did. */
	uint64_t busy_ns, alone_ns;

	/* All its jobs, and of them those of which there are no times: each is one of these. */
	size_t jobs, dropped, unfinished, unknown;

	/* Those of which there are times, and their percentiles. */
	size_t timed;
	uint64_t times_ns[TIMES][PERCENTILES];
};

/* Why the GPU was idle: a state and its owner. */
struct cause {
	enum job_state state;
	uint32_t owner;
	uint64_t times, ns, longest_ns;
};

/* Events that a CPU lost. */
struct losses {
	uint32_t cpu;
	uint64_t gaps, ns, lost;

	/* Gaps of which it is not known how many. */
	uint64_t uncounted;
};

struct job_report {
	const struct view *view;
	const struct jobs *jobs;

	/* What is looked at, and of that the time of which jobs are known. */
	struct job_parts seen, known;

	struct job_times times;
	struct process *processes;

	/* Those that have jobs or ran, the busiest first. */
	uint32_t *order;
	size_t num_processes;

	/* By state, the longest first. */
	struct cause *causes;
	size_t num_causes;

	/* While spans are added: by idle state, of each queue, of several, of nobody. */
	struct cause *by_owner;

	struct losses *losses;
	size_t num_losses;
	bool no_memory;

	/* Counters by place: of each summary a value for each place. NULL if they are not wanted. */
	const struct summaries *summaries;
	struct job_sums sums;
	double *values;
};

/* Of samples that are those of no process alone: names for programs and for people. */
static const char *const others[JOB_SUMS_PROCESSES][2] = {
	[JOB_SUMS_SEVERAL] = { "several", "while jobs of several processes ran" },
	[JOB_SUMS_EDGES] = { "edges", "of samples at edges, which are in more than one of these times" },
	[JOB_SUMS_IDLE] = { "idle", "while the GPU was idle" },
	[JOB_SUMS_UNKNOWN] = { "unknown", "while jobs are unknown" },
};

/* ---- Idle ---- */

static size_t owners(const struct job_report *r)
{
	return r->jobs->num_queues + 2;
}

static struct cause *cause_of(struct job_report *r, const struct job_span *span)
{
	size_t place = span->owner;

	if (span->owner == JOBS_SEVERAL)
		place = r->jobs->num_queues;
	if (span->owner == JOBS_NOBODY)
		place = r->jobs->num_queues + 1;
	return &r->by_owner[span->state * owners(r) + place];
}

static void take_span(void *context, const struct job_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;
	struct job_report *r = context;
	struct cause *cause;

	if (span->state != JOBS_UNKNOWN)
		r->no_memory |= job_parts_add(&r->known, span->start_ns, span->end_ns);
	if (span->state == JOBS_RUNNING) {
		if (span->owner != JOBS_SEVERAL)
			r->processes[span->owner].alone_ns += ns;
		return;
	}
	cause = cause_of(r, span);
	cause->state = span->state;
	cause->owner = span->owner;
	cause->times++;
	cause->ns += ns;
	if (ns > cause->longest_ns)
		cause->longest_ns = ns;
}

static void take_part(void *context, uint64_t from_ns, uint64_t until_ns)
{
	struct job_report *r = context;

	r->no_memory |= job_parts_add(&r->seen, from_ns, until_ns);
	job_times_add(&r->times, r->jobs, from_ns, until_ns, 0);
	job_times_each(r->jobs, from_ns, until_ns, take_span, r);
}

static int compare_causes(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->state != y->state)
		return (int)y->state - (int)x->state;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return (x->owner > y->owner) - (x->owner < y->owner);
}

/* Divides the time that is looked at. */
static int divide_time(struct job_report *r)
{
	size_t i, count = JOB_STATES * owners(r);

	r->by_owner = calloc(count, sizeof(*r->by_owner));
	if (!r->by_owner)
		return -1;
	view_each_time(r->view, take_part, r);
	for (i = 0; i < count; i++)
		r->num_causes += r->by_owner[i].times > 0;
	r->causes = calloc(r->num_causes + 1, sizeof(*r->causes));
	if (!r->causes || r->no_memory)
		return -1;
	r->num_causes = 0;
	for (i = 0; i < count; i++)
		if (r->by_owner[i].times)
			r->causes[r->num_causes++] = r->by_owner[i];
	qsort(r->causes, r->num_causes, sizeof(*r->causes), compare_causes);
	free(r->by_owner);
	r->by_owner = NULL;
	return 0;
}

/* ---- Processes ---- */

static uint32_t process_of(const struct job_report *r, const struct recording_job *job)
{
	return r->jobs->queues[job->queue].process;
}

static int find_busy(struct job_report *r)
{
	uint64_t *busy_ns = calloc(r->jobs->num_processes + 1, sizeof(*busy_ns));
	int wrong = !busy_ns || job_parts_busy(&r->known, r->jobs, busy_ns);
	size_t i;

	for (i = 0; !wrong && i < r->jobs->num_processes; i++)
		r->processes[i].busy_ns = busy_ns[i];
	free(busy_ns);
	return wrong ? -1 : 0;
}

static bool sees(const struct job_report *r, const struct recording_job *job)
{
	return view_sees(r->view, job->run_ns, job->end_ns);
}

static void count_job(struct process *p, const struct recording_job *job)
{
	p->jobs++;
	if (job_has_times(job))
		p->timed++;
	else if (job->outcome == JOB_DROPPED)
		p->dropped++;
	else if (job->outcome == JOB_UNFINISHED)
		p->unfinished++;
	else
		p->unknown++;
}

/* Times of one kind: those of a process lie together. */
static void find_percentiles(struct job_report *r, unsigned int kind, uint64_t *times_ns, size_t *next)
{
	size_t first = 0, i, n;

	for (i = 0; i < r->jobs->num_processes; first += r->processes[i++].timed)
		next[i] = first;
	for (i = 0; i < r->jobs->count; i++) {
		const struct recording_job *job = &r->jobs->list[i];

		if (sees(r, job) && job_has_times(job))
			times_ns[next[process_of(r, job)]++] = kind == TO_RUN ? job->run_ns - job->queued_ns : job->end_ns - job->run_ns;
	}
	for (i = first = 0; i < r->jobs->num_processes; first += r->processes[i++].timed) {
		struct process *p = &r->processes[i];

		quantiles_sort(times_ns + first, p->timed);
		for (n = 0; n < PERCENTILES; n++)
			p->times_ns[kind][n] = quantiles_of_sorted(times_ns + first, p->timed, percentiles[n]);
	}
}

static int find_times(struct job_report *r)
{
	uint64_t *times_ns;
	size_t *next, timed = 0, i;
	unsigned int kind;

	for (i = 0; i < r->jobs->count; i++) {
		const struct recording_job *job = &r->jobs->list[i];

		if (!sees(r, job))
			continue;
		count_job(&r->processes[process_of(r, job)], job);
		timed += job_has_times(job);
	}
	times_ns = calloc(timed + 1, sizeof(*times_ns));
	next = calloc(r->jobs->num_processes + 1, sizeof(*next));
	for (kind = 0; kind < TIMES && times_ns && next; kind++)
		find_percentiles(r, kind, times_ns, next);
	i = times_ns && next ? 0 : 1;
	free(times_ns);
	free(next);
	return i ? -1 : 0;
}

static int compare_processes(const void *a, const void *b, void *context)
{
	const struct process *processes = context, *x = &processes[*(const uint32_t *)a], *y = &processes[*(const uint32_t *)b];

	if (x->busy_ns != y->busy_ns)
		return x->busy_ns > y->busy_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static int order_processes(struct job_report *r)
{
	size_t i;

	r->order = calloc(r->jobs->num_processes + 1, sizeof(*r->order));
	if (!r->order)
		return -1;
	for (i = 0; i < r->jobs->num_processes; i++)
		if (r->processes[i].jobs || r->processes[i].busy_ns)
			r->order[r->num_processes++] = i;
	qsort_r(r->order, r->num_processes, sizeof(*r->order), compare_processes, r->processes);
	return 0;
}

/* ---- Gaps ---- */

static int compare_gaps(const void *a, const void *b)
{
	const struct recording_gap *x = a, *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Adds up what each CPU lost in the time that is looked at. Gaps without one may overlap. */
static int find_losses(struct job_report *r)
{
	size_t count = r->jobs->num_gaps, i;
	struct recording_gap *gaps = calloc(count + 1, sizeof(*gaps));
	struct losses *l = NULL;
	uint64_t start_ns, until_ns = 0, ns;

	r->losses = calloc(count + 1, sizeof(*r->losses));
	if (!gaps || !r->losses) {
		free(gaps);
		return -1;
	}
	if (count)
		memcpy(gaps, r->jobs->gaps, count * sizeof(*gaps));
	qsort(gaps, count, sizeof(*gaps), compare_gaps);
	for (i = 0; i < count; i++) {
		bool unseen = gaps[i].cpu == RECORDING_NO_CPU;

		start_ns = gaps[i].start_ns;
		if (unseen && start_ns < until_ns)
			start_ns = until_ns < gaps[i].end_ns ? until_ns : gaps[i].end_ns;
		if (unseen && until_ns < gaps[i].end_ns)
			until_ns = gaps[i].end_ns;
		ns = job_parts_between(&r->seen, start_ns, gaps[i].end_ns);
		if (unseen ? !ns : !view_sees(r->view, start_ns, gaps[i].end_ns))
			continue;
		if (!l || l->cpu != gaps[i].cpu) {
			l = &r->losses[r->num_losses++];
			l->cpu = gaps[i].cpu;
		}
		l->gaps++;
		l->ns += ns;
		l->lost += gaps[i].lost;
		l->uncounted += !gaps[i].lost && !unseen;
	}
	free(gaps);
	return 0;
}

/* ---- Counters ---- */

static const double *values_of(const struct job_report *r, size_t summary)
{
	return r->values + summary * r->sums.columns.count;
}

static int find_values(struct job_report *r, struct view *view)
{
	int status = job_sums_read(&r->sums, view);
	size_t i, n, count = r->sums.columns.count;

	if (status)
		return status;
	r->values = calloc(r->summaries->count + 1, count * sizeof(*r->values));
	if (!r->values)
		return complain_of_memory();
	for (i = 0; i < r->summaries->count; i++) {
		view_values(view, &r->sums.columns, r->summaries->list[i].counter, r->values + i * count);
		for (n = 0; n < count; n++)
			if (!r->sums.samples[n])
				r->values[i * count + n] = NAN;
	}
	return STATUS_OK;
}

int job_report_new(struct view *view, const struct summaries *summaries, bool counters, struct job_report **report)
{
	struct job_report *r = calloc(1, sizeof(*r));

	*report = r;
	if (!r)
		return complain_of_memory();
	r->view = view;
	r->summaries = summaries;
	r->jobs = &view->jobs;
	r->processes = calloc(view->jobs.num_processes + 1, sizeof(*r->processes));
	if (!r->processes || divide_time(r) || find_busy(r) || find_times(r) || order_processes(r) || find_losses(r))
		return complain_of_memory();
	return counters ? find_values(r, view) : STATUS_OK;
}

void job_report_free(struct job_report *r)
{
	if (!r)
		return;
	free(r->seen.list);
	free(r->known.list);
	free(r->processes);
	free(r->order);
	free(r->causes);
	free(r->by_owner);
	free(r->losses);
	job_sums_free(&r->sums);
	free(r->values);
	free(r);
}

/* ---- For people ---- */

static uint64_t all_ns(const struct job_report *r)
{
	return job_parts_until(&r->seen, UINT64_MAX);
}

static double part_of(uint64_t ns, uint64_t all)
{
	return all ? (double)ns / all : 0;
}

static void print_name(FILE *out, const struct job_process *process)
{
	print_text(out, *process->name ? process->name : "(unknown program)");
	if (process->pid)
		fprintf(out, " (PID %" PRIu32 ")", process->pid);
}

const char *job_cause_words(enum job_state state, bool known, bool several)
{
	static const struct {
		const char *one, *several, *nobody;
	} words[JOB_STATES] = {
		[JOBS_READY] = { "of ", "of several queues", "" },
		[JOBS_WAITING] = { "for ", "for several fences", "for an unknown fence" },
		[JOBS_NONE] = { "after ", "", "before the first job" },
	};

	return known ? words[state].one : several ? words[state].several : words[state].nobody;
}

/* A process and its queue, or a driver and its timeline. */
static void print_owner(FILE *out, const struct job_report *r, const struct cause *cause)
{
	bool several = cause->owner == JOBS_SEVERAL, known = !several && cause->owner != JOBS_NOBODY;

	fputs(job_cause_words(cause->state, known, several), out);
	if (!known)
		return;
	print_name(out, &r->jobs->processes[r->jobs->queues[cause->owner].process]);
	fputs(", ", out);
	print_text(out, r->jobs->queues[cause->owner].name);
}

/* Jobs of which there are no times. */
static void print_untimed(FILE *out, const struct process *p)
{
	const struct {
		size_t count;
		const char *what;
	} list[] = { { p->dropped, "dropped" }, { p->unfinished, "unfinished" }, { p->unknown, "with unknown times" } };
	const char *separator = "; without times of ";
	char number[32];
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		if (!list[i].count)
			continue;
		fprintf(out, "%s%s %s", separator, grouped(list[i].count, number), list[i].what);
		separator = ", ";
	}
	fputc('\n', out);
}

static void print_process(FILE *out, const struct job_report *r, uint32_t number)
{
	const struct process *p = &r->processes[number];
	unsigned int kind, n;
	char text[32];

	fprintf(out, "%12.6f s %6.1f %% %9s ", p->busy_ns / 1e9, 100 * part_of(p->busy_ns, all_ns(r)), grouped(p->jobs, text));
	for (kind = 0; kind < TIMES; kind++) {
		for (n = 0; n < PERCENTILES; n++) {
			if (p->timed)
				fprintf(out, " %9.3f", p->times_ns[kind][n] / 1e6);
			else
				fprintf(out, " %9s", "-");
		}
		fputc(' ', out);
	}
	fputs(" ", out);
	print_name(out, &r->jobs->processes[number]);
	print_untimed(out, p);
}

static void print_processes(FILE *out, const struct job_report *r)
{
	char number[32];
	size_t i;

	if (!r->num_processes)
		return;
	fprintf(out, "%14s %8s %9s   %-29s  %s\n", "", "", "", "from queued to run, in ms", "from run to end, in ms");
	fprintf(out, "%14s %8s %9s ", "busy", "share", "jobs");
	for (i = 0; i < TIMES; i++)
		fprintf(out, " %9s %9s %9s ", "50%", "95%", "max");
	fputs(" process\n", out);
	for (i = 0; i < r->num_processes && i < MAX_PROCESSES; i++)
		print_process(out, r, r->order[i]);
	if (i < r->num_processes)
		fprintf(out, "  and %s more: -j has all of them\n", grouped(r->num_processes - i, number));
}

static void print_cause(FILE *out, const struct job_report *r, const struct cause *cause)
{
	char number[32];

	fprintf(out, "%14.6f s  %s time%s, longest %.6f s, ", cause->ns / 1e9, grouped(cause->times, number),
		cause->times == 1 ? "" : "s", cause->longest_ns / 1e9);
	print_owner(out, r, cause);
	fputc('\n', out);
}

static void print_idle(FILE *out, const struct job_report *r)
{
	uint64_t idle_ns = job_times_idle(&r->times), all = all_ns(r);
	char number[32];
	size_t i, n;
	int state;

	fprintf(out, "GPU idle%s: %.6f s, %.1f %% of the time\n", r->times.ns[JOBS_UNKNOWN] ? ", or not known" : "", idle_ns / 1e9,
		100 * part_of(idle_ns, all));
	for (state = JOB_STATES - 1; state >= 0; state--) {
		if (state == JOBS_RUNNING || !r->times.ns[state])
			continue;
		fprintf(out, "%12.6f s %6.1f %%  %s\n", r->times.ns[state] / 1e9, 100 * part_of(r->times.ns[state], all),
			job_states[state][1]);
		for (i = n = 0; i < r->num_causes && state != JOBS_UNKNOWN; i++)
			if (r->causes[i].state == (enum job_state)state && n++ < MAX_CAUSES)
				print_cause(out, r, &r->causes[i]);
		if (n > MAX_CAUSES)
			fprintf(out, "%16s  and %s more: -j has all of them\n", "", grouped(n - MAX_CAUSES, number));
	}
}

static void print_losses(FILE *out, const struct losses *l)
{
	char number[32], times[32];

	if (l->cpu == RECORDING_NO_CPU) {
		fprintf(out, "As events were lost, jobs may have been there unseen in %s gap%s of %.6f s\n", grouped(l->gaps, times),
			l->gaps == 1 ? "" : "s", l->ns / 1e9);
		return;
	}
	fprintf(out, "CPU %" PRIu32 " lost ", l->cpu);
	if (l->lost)
		fprintf(out, "%s%s event%s", l->uncounted ? "at least " : "", grouped(l->lost, number), l->lost == 1 ? "" : "s");
	else
		fputs("an unknown number of events", out);
	fprintf(out, " in %s gap%s of %.6f s: jobs may be missing\n", grouped(l->gaps, times), l->gaps == 1 ? "" : "s", l->ns / 1e9);
}

void job_report_print(FILE *out, const struct job_report *r)
{
	size_t i;

	fprintf(out, "\nJobs ran for %.6f s of %.6f s", r->times.ns[JOBS_RUNNING] / 1e9, all_ns(r) / 1e9);
	if (r->times.several_ns)
		fprintf(out, ", those of several processes at once for %.6f s", r->times.several_ns / 1e9);
	fputc('\n', out);
	print_processes(out, r);
	print_idle(out, r);
	for (i = 0; i < r->num_losses; i++)
		print_losses(out, &r->losses[i]);
}

static void print_counter(FILE *out, const struct job_report *r, size_t i, size_t place)
{
	const struct summary *summary = &r->summaries->list[i];
	const struct pperf_counter *counter = summary->counter;
	bool counts = counter->kind == PPERF_KIND_COUNT;
	double value = values_of(r, i)[place];
	char text[512];

	fprintf(out, "  %-28s", counter->name);
	if (isnan(value)) {
		fprintf(out, " %17s\n", "-");
		return;
	}
	if (counts) {
		snprintf(text, sizeof(text), "%.0f", value);
		group_digits(text, sizeof(text));
		fprintf(out, " %17s", text);
	} else {
		fprintf(out, " %17s", "");
	}
	if (counts && summary->valid && summary->total > 0)
		fprintf(out, " %6.1f%%", 100 * value / summary->total);
	else
		fprintf(out, " %7s", "");
	if (counts)
		value = r->sums.counted_ns[place] ? value / r->sums.seconds[place] : 0;
	fprintf(out, " %9s  %s%s\n", scaled(value, "", text, sizeof(text)), counter->unit, counts ? "/s" : "");
}

/* Behind what they are of. */
static void print_counters(FILE *out, const struct job_report *r, size_t place)
{
	char number[32];
	size_t i;

	fprintf(out, ": %s sample%s, %.6f s\n", grouped(r->sums.samples[place], number), r->sums.samples[place] == 1 ? "" : "s",
		r->sums.seconds[place]);
	fprintf(out, "  %-28s %17s %7s %9s\n", "", "total", "of all", "mean");
	for (i = 0; i < r->summaries->count; i++)
		print_counter(out, r, i, place);
}

/* A process that was never alone has no place. */
static bool has_samples(const struct job_report *r, uint32_t process)
{
	return r->sums.places[process] && r->sums.samples[r->sums.places[process]];
}

void job_report_print_counters(FILE *out, const struct job_report *r)
{
	const char *separator = "\nNo sample lies wholly in the time of ";
	size_t i, place;

	for (i = 0; i < r->num_processes; i++) {
		if (!has_samples(r, r->order[i]))
			continue;
		fputs("\nCounters while jobs of ", out);
		print_name(out, &r->jobs->processes[r->order[i]]);
		fputs(" alone ran", out);
		print_counters(out, r, r->sums.places[r->order[i]]);
	}
	for (place = 0; place < JOB_SUMS_PROCESSES; place++) {
		if (!r->sums.samples[place])
			continue;
		fprintf(out, "\nCounters %s", others[place][1]);
		print_counters(out, r, place);
	}
	for (i = 0; i < r->num_processes; i++) {
		if (has_samples(r, r->order[i]))
			continue;
		fputs(separator, out);
		print_name(out, &r->jobs->processes[r->order[i]]);
		separator = ", ";
	}
	if (*separator == ',')
		fputs(" alone. Record with a shorter period (-p)\n", out);
}

/* ---- For programs ---- */

struct json_object *job_times_json(const struct job_times *times, bool own)
{
	struct json_object *top = json_object_new_object(), *idle = json_object_new_object();
	enum job_state reason = job_times_reason(times);
	int state;

	json_add_count(top, "busy_ns", times->ns[JOBS_RUNNING]);
	if (own) {
		json_add_count(top, "own_ns", times->own_ns);
		json_add_count(top, "others_ns", times->others_ns);
		json_add_count(top, "several_ns", times->several_ns);
	}
	json_add_count(top, "idle_ns", job_times_idle(times));
	for (state = JOB_STATES - 1; state >= 0; state--)
		if (state != JOBS_RUNNING)
			json_add_count(idle, job_states[state][0], times->ns[state]);
	json_object_object_add(top, "idle", idle);
	json_object_object_add(top, "mostly", reason == JOBS_RUNNING ? NULL : json_object_new_string(job_states[reason][0]));
	return top;
}

/* Process and queue, null if it is none or several. */
static void add_owner(struct json_object *object, const struct job_report *r, uint32_t owner)
{
	const struct job_queue *queue = owner < r->jobs->num_queues ? &r->jobs->queues[owner] : NULL;

	json_object_object_add(object, "process", queue ? json_object_new_string(r->jobs->processes[queue->process].name) : NULL);
	json_object_object_add(object, "pid", queue ? json_object_new_uint64(r->jobs->processes[queue->process].pid) : NULL);
	json_object_object_add(object, "queue", queue ? json_object_new_string(queue->name) : NULL);
	json_object_object_add(object, "several", json_object_new_boolean(owner == JOBS_SEVERAL));
}

static struct json_object *causes_json(const struct job_report *r, enum job_state state)
{
	struct json_object *list = json_object_new_array(), *item;
	size_t i;

	for (i = 0; i < r->num_causes; i++) {
		if (r->causes[i].state != state)
			continue;
		item = json_object_new_object();
		add_owner(item, r, r->causes[i].owner);
		json_add_count(item, "times", r->causes[i].times);
		json_add_count(item, "ns", r->causes[i].ns);
		json_add_count(item, "longest_ns", r->causes[i].longest_ns);
		json_object_array_add(list, item);
	}
	return list;
}

static struct json_object *idle_json(const struct job_report *r)
{
	struct json_object *top = json_object_new_object(), *item;
	int state;

	for (state = JOB_STATES - 1; state >= 0; state--) {
		if (state == JOBS_RUNNING)
			continue;
		item = json_object_new_object();
		json_add_count(item, "ns", r->times.ns[state]);
		if (state != JOBS_UNKNOWN)
			json_object_object_add(item, "causes", causes_json(r, state));
		json_object_object_add(top, job_states[state][0], item);
	}
	return top;
}

/* What samples of a place have. */
static void add_counters(struct json_object *object, const struct job_report *r, size_t place)
{
	struct json_object *list = json_object_new_array(), *item;
	const struct pperf_counter *counter;
	size_t i;

	json_add_count(object, "samples", r->sums.samples[place]);
	json_add_count(object, "sampled_ns", r->sums.counted_ns[place]);
	for (i = 0; i < r->summaries->count && r->sums.samples[place]; i++) {
		counter = r->summaries->list[i].counter;
		item = json_object_new_object();
		json_add_text(item, "name", counter->name);
		json_add_double(item, counter->kind == PPERF_KIND_COUNT ? "total" : "mean", values_of(r, i)[place]);
		json_object_array_add(list, item);
	}
	json_object_object_add(object, "counters", list);
}

static struct json_object *others_json(const struct job_report *r)
{
	struct json_object *top = json_object_new_object(), *item;
	size_t place;

	for (place = 0; place < JOB_SUMS_PROCESSES; place++) {
		item = json_object_new_object();
		add_counters(item, r, place);
		json_object_object_add(top, others[place][0], item);
	}
	return top;
}

static struct json_object *process_json(const struct job_report *r, uint32_t number)
{
	struct json_object *top = json_object_new_object(), *times;
	const struct process *p = &r->processes[number];
	unsigned int kind, n;

	json_add_text(top, "process", r->jobs->processes[number].name);
	json_add_count(top, "pid", r->jobs->processes[number].pid);
	json_add_count(top, "busy_ns", p->busy_ns);
	json_add_double(top, "share", part_of(p->busy_ns, all_ns(r)));
	json_add_count(top, "alone_ns", p->alone_ns);
	json_add_count(top, "jobs", p->jobs);
	json_add_count(top, "timed", p->timed);
	json_add_count(top, "dropped", p->dropped);
	json_add_count(top, "unfinished", p->unfinished);
	json_add_count(top, "unknown", p->unknown);
	for (kind = 0; kind < TIMES; kind++) {
		times = p->timed ? json_object_new_object() : NULL;
		for (n = 0; n < PERCENTILES && times; n++)
			json_add_count(times, percentile_names[n], p->times_ns[kind][n]);
		json_object_object_add(top, time_names[kind], times);
	}
	if (r->values && has_samples(r, number))
		add_counters(top, r, r->sums.places[number]);
	return top;
}

static struct json_object *losses_json(const struct job_report *r)
{
	struct json_object *list = json_object_new_array(), *item;
	size_t i;

	for (i = 0; i < r->num_losses; i++) {
		item = json_object_new_object();
		json_add_cpu(item, r->losses[i].cpu);
		json_add_count(item, "gaps", r->losses[i].gaps);
		json_add_count(item, "ns", r->losses[i].ns);
		json_add_count(item, "lost", r->losses[i].lost);
		json_add_count(item, "uncounted", r->losses[i].uncounted);
		json_object_array_add(list, item);
	}
	return list;
}

struct json_object *job_report_json(const struct job_report *r)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	size_t i;

	json_add_count(top, "time_ns", all_ns(r));
	json_add_count(top, "busy_ns", r->times.ns[JOBS_RUNNING]);
	json_add_count(top, "several_ns", r->times.several_ns);
	json_add_count(top, "idle_ns", job_times_idle(&r->times));
	json_object_object_add(top, "idle", idle_json(r));
	for (i = 0; i < r->num_processes; i++)
		json_object_array_add(list, process_json(r, r->order[i]));
	json_object_object_add(top, "processes", list);
	if (r->values)
		json_object_object_add(top, "other_samples", others_json(r));
	json_object_object_add(top, "gaps", losses_json(r));
	return top;
}

/* The end of a line. */
static void print_values(FILE *out, const struct job_report *r, size_t place)
{
	size_t i;

	for (i = 0; i < r->summaries->count; i++)
		csv_number(out, values_of(r, i)[place]);
	fputc('\n', out);
}

static void print_line(FILE *out, const struct job_report *r, uint32_t number)
{
	const struct job_process *process = &r->jobs->processes[number];
	const struct process *p = &r->processes[number];
	size_t place = r->sums.places[number];
	unsigned int kind, n;

	fputs("process,", out);
	csv_text(out, process->name);
	fprintf(out, ",%" PRIu32 ",%" PRIu64 ",%" PRIu64, process->pid, place ? r->sums.samples[place] : 0,
		place ? r->sums.counted_ns[place] : 0);
	fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%zu,%zu,%zu,%zu,%zu", p->busy_ns, p->alone_ns, p->jobs, p->timed, p->dropped, p->unfinished,
		p->unknown);
	for (kind = 0; kind < TIMES; kind++)
		for (n = 0; n < PERCENTILES; n++)
			csv_number(out, p->timed ? p->times_ns[kind][n] : NAN);
	if (place) {
		print_values(out, r, place);
		return;
	}
	for (n = 0; n < r->summaries->count; n++)
		csv_number(out, NAN);
	fputc('\n', out);
}

void job_report_print_csv(FILE *out, const struct job_report *r)
{
	unsigned int kind, n;
	size_t i;

	fputs("samples_of,process,pid,samples,sampled_ns,busy_ns,alone_ns,jobs,timed,dropped,unfinished,unknown", out);
	for (kind = 0; kind < TIMES; kind++)
		for (n = 0; n < PERCENTILES; n++)
			fprintf(out, ",%s_%s", time_names[kind], percentile_names[n]);
	for (i = 0; i < r->summaries->count; i++)
		fprintf(out, ",%s", r->summaries->list[i].counter->name);
	fputc('\n', out);
	for (i = 0; i < r->num_processes; i++)
		print_line(out, r, r->order[i]);
	for (i = 0; i < JOB_SUMS_PROCESSES; i++) {
		fprintf(out, "%s,,,%" PRIu64 ",%" PRIu64, others[i][0], r->sums.samples[i], r->sums.counted_ns[i]);
		for (n = 0; n < 7 + TIMES * PERCENTILES; n++)
			fputc(',', out);
		print_values(out, r, i);
	}
}
