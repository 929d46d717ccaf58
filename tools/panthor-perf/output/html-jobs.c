// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "html-jobs.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "html-text.h"
#include "job-report.h"
#include "job-times.h"
#include "view.h"

/* As many processes and causes are shown, and as many lanes and bars of all of them drawn: a page's size does not depend on jobs. */
#define MAX_PROCESSES 20
#define MAX_CAUSES 5
#define MAX_LANES 12
#define MAX_BARS (2 * LINE_MAX_BINS)

/* Reasons, in the order in which they are shown. */
static const enum job_state reasons[] = { JOBS_NONE, JOBS_WAITING, JOBS_READY, JOBS_UNKNOWN };
#define REASONS (sizeof(reasons) / sizeof(reasons[0]))

/* ---- Tables ---- */

static void print_ms(FILE *out, struct json_object *ns)
{
	if (!ns) {
		fputs("<td></td>", out);
		return;
	}
	fputs("<td", out);
	html_value(out, ns);
	fprintf(out, ">%.3f ms</td>", json_object_get_uint64(ns) / 1e6);
}

static void print_name(FILE *out, struct json_object *object)
{
	const char *process = html_get_text(object, "process");
	uint64_t pid = json_object_get_uint64(html_get(object, "pid"));

	html_escape(out, *process ? process : "(unknown program)");
	if (pid)
		fprintf(out, " (PID %" PRIu64 ")", pid);
}

static void print_process(FILE *out, struct json_object *process)
{
	static const char *const times[] = { "queued_to_run_ns", "run_to_end_ns" }, *const keys[] = { "p50", "p95", "max" };
	struct json_object *values;
	size_t i, n;

	fputs("<tr><th scope=\"row\">", out);
	print_name(out, process);
	fputs("</th>", out);
	print_ms(out, html_get(process, "busy_ns"));
	html_cell(out, html_get(process, "share"), "%");
	html_cell(out, html_get(process, "jobs"), "");
	for (i = 0; i < 2; i++) {
		values = html_get(process, times[i]);
		for (n = 0; n < 3; n++)
			print_ms(out, values ? html_get(values, keys[n]) : NULL);
	}
	fputs("</tr>\n", out);
}

static void print_cause(FILE *out, enum job_state state, struct json_object *cause)
{
	bool known = html_get(cause, "queue");

	fputs("<tr><td>", out);
	fputs(job_cause_words(state, known, json_object_get_boolean(html_get(cause, "several"))), out);
	if (known) {
		print_name(out, cause);
		fputs(", ", out);
		html_escape(out, html_get_text(cause, "queue"));
	}
	fputs("</td>", out);
	print_ms(out, html_get(cause, "ns"));
	html_cell(out, html_get(cause, "times"), "");
	print_ms(out, html_get(cause, "longest_ns"));
	fputs("</tr>\n", out);
}

static void print_reason(FILE *out, enum job_state state, struct json_object *part)
{
	struct json_object *causes = html_get(part, "causes");
	size_t count = causes ? json_object_array_length(causes) : 0, i;

	fputs("<tr><th scope=\"row\">", out);
	html_escape(out, job_states[state][1]);
	fputs("</th>", out);
	print_ms(out, html_get(part, "ns"));
	fputs("<td></td><td></td></tr>\n", out);
	for (i = 0; i < count && i < MAX_CAUSES; i++)
		print_cause(out, state, json_object_array_get_idx(causes, i));
	if (i < count)
		fprintf(out, "<tr><td>%zu more: <code>report -j</code> lists them</td><td></td><td></td><td></td></tr>\n", count - i);
}

void html_jobs_print(FILE *out, struct json_object *values)
{
	struct json_object *list, *idle;
	size_t count, i;

	if (!values)
		return;
	list = html_get(values, "processes");
	idle = html_get(values, "idle");
	count = json_object_array_length(list);
	fputs("<section id=\"jobs\">\n<h2>Jobs</h2>\n<p>A process is busy while firmware has a job of it. Times are the median, the 95th "
	      "percentile and the longest.</p>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Process</th>"
	      "<th scope=\"col\">Busy</th><th scope=\"col\">Share</th><th scope=\"col\">Jobs</th>"
	      "<th scope=\"col\" colspan=\"3\">From queued to run</th><th scope=\"col\" colspan=\"3\">From run to end</th></tr></thead>\n"
	      "<tbody>\n", out);
	for (i = 0; i < count && i < MAX_PROCESSES; i++)
		print_process(out, json_object_array_get_idx(list, i));
	fputs("</tbody>\n</table></div>\n", out);
	if (i < count)
		fprintf(out, "<p><code>report -j</code> lists %zu more processes.</p>\n", count - i);
	fputs("<h3>GPU idle</h3>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Reason</th><th scope=\"col\">Time</th>"
	      "<th scope=\"col\">Times</th><th scope=\"col\">Longest</th></tr></thead>\n<tbody>\n", out);
	for (i = 0; i < REASONS; i++)
		print_reason(out, reasons[i], html_get(idle, job_states[reasons[i]][0]));
	fputs("</tbody>\n</table></div>\n</section>\n", out);
}

/* ---- Lanes ---- */

/* The jobs of a queue, in the order in which they began to run, and for how long any ran. */
struct lane {
	const struct recording_job **jobs;
	size_t count;
	uint32_t queue;
	uint64_t busy_ns;
};

struct lanes {
	const struct jobs *jobs;
	uint64_t start_ns, end_ns;

	/* Those that are drawn, of all. */
	struct lane *list;
	size_t count, all;

	/* What queues are called, and the places of their names, from 1 on. */
	struct json_object *names;
	uint32_t *places;

	/* Of idle: spans, where they go, or their times in equal parts of the time. */
	size_t spans;
	struct json_object *lists[4];
	uint64_t width_ns, *parts;
};

/* An array, which an object has. */
static struct json_object *add_list(struct json_object *object, const char *key)
{
	struct json_object *list = json_object_new_array();

	json_object_object_add(object, key, list);
	return list;
}

static void add_int(struct json_object *list, int64_t value)
{
	json_object_array_add(list, json_object_new_int64(value));
}

/* The place of a queue's name. */
static int64_t name_of(struct lanes *l, uint32_t queue)
{
	const struct job_queue *q = &l->jobs->queues[queue];
	const struct job_process *p = &l->jobs->processes[q->process];
	char name[RECORDING_PROCESS_NAME + RECORDING_QUEUE_NAME + 64], pid[32] = "";

	if (!l->places[queue]) {
		if (p->pid)
			snprintf(pid, sizeof(pid), " (PID %" PRIu32 ")", p->pid);
		snprintf(name, sizeof(name), "%s%s, %s", *p->name ? p->name : "unknown program", pid, q->name);
		json_object_array_add(l->names, json_object_new_string(name));
		l->places[queue] = json_object_array_length(l->names);
	}
	return l->places[queue] - 1;
}

static int compare_jobs(const void *a, const void *b)
{
	const struct recording_job *x = *(const struct recording_job **)a, *y = *(const struct recording_job **)b;

	if (x->queue != y->queue)
		return x->queue < y->queue ? -1 : 1;
	if (x->run_ns != y->run_ns)
		return x->run_ns < y->run_ns ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int compare_busy(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	if (x->busy_ns != y->busy_ns)
		return x->busy_ns > y->busy_ns ? -1 : 1;
	return (x->queue > y->queue) - (x->queue < y->queue);
}

static int compare_queues(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;

	return (x->queue > y->queue) - (x->queue < y->queue);
}

/* Adds a time to equal parts of all. */
static void add_to_parts(const struct lanes *l, uint64_t *parts, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t part = (from_ns - l->start_ns) / l->width_ns, edge_ns;

	for (; from_ns < until_ns; from_ns = edge_ns, part++) {
		edge_ns = l->start_ns + (part + 1) * l->width_ns;
		if (edge_ns > until_ns)
			edge_ns = until_ns;
		parts[part] += edge_ns - from_ns;
	}
}

/* For how long any of the jobs ran, in all and, unless it is NULL, in parts. */
static uint64_t find_busy(const struct lanes *l, const struct lane *lane, uint64_t *parts)
{
	uint64_t until_ns = l->start_ns, busy_ns = 0, from_ns, end_ns;
	size_t i;

	for (i = 0; i < lane->count; i++) {
		from_ns = lane->jobs[i]->run_ns > until_ns ? lane->jobs[i]->run_ns : until_ns;
		end_ns = lane->jobs[i]->end_ns < l->end_ns ? lane->jobs[i]->end_ns : l->end_ns;
		if (from_ns >= end_ns)
			continue;
		busy_ns += end_ns - from_ns;
		until_ns = end_ns;
		if (parts)
			add_to_parts(l, parts, from_ns, end_ns);
	}
	return busy_ns;
}

/* Sorted has room for all jobs, and the list for all queues. */
static void find_lanes(struct lanes *l, const struct recording_job **sorted)
{
	size_t count = 0, i;
	struct lane *lane;

	for (i = 0; i < l->jobs->count; i++)
		if (l->jobs->list[i].run_ns < l->end_ns && l->jobs->list[i].end_ns >= l->start_ns)
			sorted[count++] = &l->jobs->list[i];
	qsort(sorted, count, sizeof(*sorted), compare_jobs);
	for (i = 0; i < count; i++) {
		if (!i || sorted[i]->queue != sorted[i - 1]->queue)
			l->list[l->all++] = (struct lane){ .jobs = &sorted[i], .queue = sorted[i]->queue };
		l->list[l->all - 1].count++;
	}
	for (lane = l->list; lane < l->list + l->all; lane++)
		lane->busy_ns = find_busy(l, lane, NULL);
	qsort(l->list, l->all, sizeof(*l->list), compare_busy);
	l->count = l->all < MAX_LANES ? l->all : MAX_LANES;
	qsort(l->list, l->count, sizeof(*l->list), compare_queues);
}

/* Lists of what is told of jobs. */
static const char *const keys[] = { "run", "took", "ready", "waited", "thread", "fence", "outcome" };
#define KEYS (sizeof(keys) / sizeof(keys[0]))

/* NULL: there is none. */
static void add_job(struct lanes *l, struct json_object *lists[KEYS], const struct recording_job *job)
{
	size_t i;

	if (!job) {
		for (i = 0; i < KEYS; i++)
			json_object_array_add(lists[i], NULL);
		return;
	}
	add_int(lists[0], job->run_ns - l->start_ns);
	add_int(lists[1], job->end_ns - job->run_ns);
	add_int(lists[2], job->run_ns - job->ready_ns);
	json_object_array_add(lists[3], job->no_queued ? NULL : json_object_new_int64(job->ready_ns - job->queued_ns));
	add_int(lists[4], job->thread);
	add_int(lists[5], job->waited_for ? name_of(l, job->waited_for - 1) : -1);
	add_int(lists[6], job->no_run && job->outcome == JOB_DONE ? -1 : (int)job->outcome);
}

/* What equal parts of the time have, so many at most. Returns -1 without memory. */
static int add_parts(struct lanes *l, const struct lane *lane, struct json_object *object, struct json_object *lists[KEYS], size_t most)
{
	uint64_t *busy_ns = calloc(most + 1, sizeof(*busy_ns)), *counts = calloc(most + 1, sizeof(*counts));
	const struct recording_job **longest = calloc(most + 1, sizeof(*longest)), *job;
	struct json_object *shares = add_list(object, "share"), *numbers = add_list(object, "count");
	size_t count, part, i;

	l->width_ns = (l->end_ns - l->start_ns) / most + 1;
	count = (l->end_ns - l->start_ns - 1) / l->width_ns + 1;
	json_object_object_add(object, "width", json_object_new_int64(l->width_ns));
	if (busy_ns && counts && longest)
		find_busy(l, lane, busy_ns);
	for (i = 0; i < lane->count && busy_ns && counts && longest; i++) {
		job = lane->jobs[i];
		part = job->run_ns > l->start_ns ? (job->run_ns - l->start_ns) / l->width_ns : 0;
		counts[part]++;
		if (!longest[part] || job->end_ns - job->run_ns > longest[part]->end_ns - longest[part]->run_ns)
			longest[part] = job;
	}
	for (i = 0; i < count && busy_ns && counts && longest; i++) {
		add_int(shares, ceil(1000.0 * busy_ns[i] / l->width_ns));
		add_int(numbers, counts[i]);
		add_job(l, lists, longest[i]);
	}
	free(busy_ns);
	free(counts);
	free(longest);
	return i == count ? 0 : -1;
}

/* NULL without memory. */
static struct json_object *lane_json(struct lanes *l, const struct lane *lane, size_t most)
{
	struct json_object *object = json_object_new_object(), *lists[KEYS];
	int failed = 0;
	size_t i;

	json_object_object_add(object, "name", json_object_new_int64(name_of(l, lane->queue)));
	json_object_object_add(object, "process", json_object_new_int64(l->jobs->queues[lane->queue].process));
	for (i = 0; i < KEYS; i++)
		lists[i] = add_list(object, keys[i]);
	if (lane->count > most)
		failed = add_parts(l, lane, object, lists, most);
	for (i = 0; i < lane->count && lane->count <= most; i++)
		add_job(l, lists, lane->jobs[i]);
	if (!failed)
		return object;
	json_object_put(object);
	return NULL;
}

/* ---- Idle ---- */

static void count_idle(void *context, const struct job_span *span)
{
	struct lanes *l = context;

	l->spans += span->state != JOBS_RUNNING;
}

static size_t reason_of(enum job_state state)
{
	size_t i;

	for (i = 0; i < REASONS - 1 && reasons[i] != state; i++)
		;
	return i;
}

static void add_idle(void *context, const struct job_span *span)
{
	struct lanes *l = context;

	if (span->state == JOBS_RUNNING)
		return;
	add_int(l->lists[0], span->start_ns - l->start_ns);
	add_int(l->lists[1], span->end_ns - span->start_ns);
	add_int(l->lists[2], reason_of(span->state));
	add_int(l->lists[3], span->owner < l->jobs->num_queues ? name_of(l, span->owner) : -1);
}

static void add_idle_to_parts(void *context, const struct job_span *span)
{
	struct lanes *l = context;

	if (span->state != JOBS_RUNNING)
		add_to_parts(l, l->parts + reason_of(span->state) * (LINE_MAX_BINS + 1), span->start_ns, span->end_ns);
}

/* Returns -1 without memory. */
static int add_idle_parts(struct lanes *l, struct json_object *object)
{
	struct json_object *list;
	size_t count, reason, i;

	l->width_ns = (l->end_ns - l->start_ns) / LINE_MAX_BINS + 1;
	count = (l->end_ns - l->start_ns - 1) / l->width_ns + 1;
	l->parts = calloc(REASONS, (LINE_MAX_BINS + 1) * sizeof(*l->parts));
	if (!l->parts)
		return -1;
	job_times_each(l->jobs, l->start_ns, l->end_ns, add_idle_to_parts, l);
	json_object_object_add(object, "width", json_object_new_int64(l->width_ns));
	for (reason = 0; reason < REASONS; reason++) {
		list = add_list(object, job_states[reasons[reason]][0]);
		for (i = 0; i < count; i++)
			add_int(list, ceil(1000.0 * l->parts[reason * (LINE_MAX_BINS + 1) + i] / l->width_ns));
	}
	free(l->parts);
	return 0;
}

static struct json_object *idle_json(struct lanes *l)
{
	static const char *const names[] = { "from", "took", "reason", "queue" };
	struct json_object *object = json_object_new_object();
	size_t i;

	job_times_each(l->jobs, l->start_ns, l->end_ns, count_idle, l);
	if (l->spans > MAX_BARS) {
		if (!add_idle_parts(l, object))
			return object;
		json_object_put(object);
		return NULL;
	}
	for (i = 0; i < 4; i++)
		l->lists[i] = add_list(object, names[i]);
	job_times_each(l->jobs, l->start_ns, l->end_ns, add_idle, l);
	return object;
}

static struct json_object *reasons_json(void)
{
	struct json_object *list = json_object_new_array();
	size_t i;

	for (i = 0; i < REASONS; i++) {
		struct json_object *pair = json_object_new_array();

		json_object_array_add(pair, json_object_new_string(job_states[reasons[i]][0]));
		json_object_array_add(pair, json_object_new_string(job_states[reasons[i]][1]));
		json_object_array_add(list, pair);
	}
	return list;
}

struct json_object *html_jobs_json(const struct jobs *jobs, uint64_t start_ns, uint64_t end_ns)
{
	const struct recording_job **sorted = calloc(jobs->count + 1, sizeof(*sorted));
	struct lanes l = { .jobs = jobs, .start_ns = start_ns, .end_ns = end_ns };
	struct json_object *top = json_object_new_object(), *list, *one;
	bool wrong = false;
	size_t i;

	l.list = calloc(jobs->num_queues + 1, sizeof(*l.list));
	l.places = calloc(jobs->num_queues + 1, sizeof(*l.places));
	if (!sorted || !l.list || !l.places || start_ns >= end_ns) {
		json_object_put(top);
		top = NULL;
		goto out;
	}
	find_lanes(&l, sorted);
	json_object_object_add(top, "all", json_object_new_int64(l.all));
	json_object_object_add(top, "reasons", reasons_json());
	l.names = add_list(top, "names");
	list = add_list(top, "lanes");
	for (i = 0; i < l.count; i++) {
		one = lane_json(&l, &l.list[i], MAX_BARS / l.count);
		wrong |= !one;
		json_object_array_add(list, one);
	}
	one = idle_json(&l);
	wrong |= !one;
	json_object_object_add(top, "idle", one);
	if (wrong) {
		json_object_put(top);
		top = NULL;
	}
out:
	free(sorted);
	free(l.list);
	free(l.places);
	return top;
}
