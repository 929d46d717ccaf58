// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "frame-report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "fields.h"
#include "figures.h"
#include "frame-sums.h"
#include "job-report.h"
#include "quantiles.h"

#define SLOWEST 10

/* As many frames over a budget are printed, and as many nodes of a level are looked at. */
#define MAX_BREAKS 20
#define MAX_NODES 64

static const unsigned int percentiles[] = { 50, 95, 99 };
#define PERCENTILES 3

enum { TIME_MAX = PERCENTILES, RATE };
const char *const frame_times[FRAME_TIMES][2] = {
	{ "time_p50", "ms" }, { "time_p95", "ms" }, { "time_p99", "ms" }, { "time_max", "ms" }, { "rate", "frames/s" },
};

/* What is known of a frame. */
struct facts {
	bool seen;

	/* No sample lies in it as a whole; a part of it was not counted. */
	bool interpolated, partial;
	uint32_t flags;

	/* The part of its time that the GPU was idle, NAN if it is not known; the largest other part, NULL if there is none. */
	double idle, share;
	const struct pperf_topdown_node *limit;
};

/* A counter in the frames of a process that were counted as a whole. */
struct per_frame {
	double sum, max;

	/* Over all frames, whatever they are. */
	double total;
	uint64_t count;
	struct quantiles quantiles;

	/* By equal parts of the frames. */
	double part_sums[SUMMARY_PARTS];
	uint64_t part_counts[SUMMARY_PARTS];
};

struct process {
	/* Frames that are looked at; and, of these, those that are one frame each, by their times. */
	size_t count, single;
	uint64_t *times_ns;
	size_t *slowest;
	uint64_t seconds_ns, lost;
	struct frame_figure times[FRAME_TIMES];
	size_t lossy, interpolated, partial, others, others_unknown;

	/* What the GPU did in them, as far as jobs tell. */
	struct job_times jobs;

	/* By counter; NULL if they are not wanted. */
	struct per_frame *counters;
};

struct broken_budget {
	size_t frame, budget;
	double value;
};

struct frame_report {
	const struct view *view;
	const struct summaries *summaries;
	const struct frame_budgets *budgets;
	FILE *csv;
	bool per_frame;

	struct facts *facts;
	struct process *processes;
	struct broken_budget *breaks;
	size_t num_breaks, room, broken_frames;

	/* NULL if top-down is not known; the columns of all nodes' shares; the nodes of what the GPU is limited by. */
	struct pperf_topdown *topdown;
	const struct pperf_topdown_node *const *nodes;
	size_t num_nodes;
	double (*share_values)[FRAME_SUMS_MAX], **shares;
	bool is_limit[MAX_NODES * 4];
	size_t idle;
};

/* ---- Budgets ---- */

static bool parse_budget(struct frame_budgets *budgets, char *text)
{
	struct frame_budget *more = reallocarray(budgets->list, budgets->count + 1, sizeof(*more)), budget = {};
	char *equal = strchr(text, '='), *end;
	uint64_t ns;

	if (!more)
		return false;
	budgets->list = more;
	if (equal) {
		*equal = 0;
		budget.limit = strtod(equal + 1, &end);
		if (!*text || end == equal + 1 || *end || !isfinite(budget.limit))
			return false;
		budget.name = strdup(text);
		if (!budget.name)
			return false;
	} else {
		if (!parse_duration(text, &ns))
			return false;
		budget.limit = ns / 1e9;
	}
	more[budgets->count++] = budget;
	return true;
}

bool frame_budgets_parse(struct frame_budgets *budgets, const char *text)
{
	char *copy = strdup(text), *rest = copy, *one;
	bool valid = copy;

	while (valid && (one = strsep(&rest, ",")))
		valid = parse_budget(budgets, one);
	free(copy);
	return valid;
}

void frame_budgets_free(struct frame_budgets *budgets)
{
	size_t i;

	for (i = 0; i < budgets->count; i++)
		free(budgets->list[i].name);
	free(budgets->list);
}

/* Finds the counters of budgets. Prints what is wrong. Returns a status. */
static int find_counters(const struct view *view, const struct frame_budgets *budgets)
{
	size_t i;

	for (i = 0; i < budgets->count; i++) {
		struct frame_budget *b = &budgets->list[i];

		if (!b->name)
			continue;
		b->counter = pperf_db_find(view->db, b->name);
		if (!b->counter) {
			complain("--budget: there is no counter \"%s\". Run panthor-perf report to see those of the recording", b->name);
			return STATUS_USAGE;
		}
		if (!pperf_counter_in(view->db, b->counter, &view->recording.head.masks)) {
			complain("--budget: %s does not contain %s: it was not recorded", view->path, b->name);
			return STATUS_USAGE;
		}
	}
	return STATUS_OK;
}

/* ---- All frames ---- */

static uint64_t length_of(const struct frame *frame)
{
	return frame->end_ns - frame->start_ns;
}

/* Values of a counter in the frames: NAN where there are none. */
static void find_values(const struct frame_report *r, const struct frame_columns *f, const struct pperf_counter *counter,
			double *values)
{
	size_t n;

	view_values(r->view, &f->columns, counter, values);
	for (n = 0; n < f->columns.count; n++)
		if (!f->counted_ns[n])
			values[n] = NAN;
}

static int add_break(struct frame_report *r, size_t frame, size_t budget, double value)
{
	struct broken_budget *more;

	if (r->num_breaks == r->room) {
		more = reallocarray(r->breaks, 2 * r->room + 64, sizeof(*more));
		if (!more)
			return complain_of_memory();
		r->breaks = more;
		r->room = 2 * r->room + 64;
	}
	r->breaks[r->num_breaks++] = (struct broken_budget){ frame, budget, value };
	return STATUS_OK;
}

/* Budgets of counters; those of time are looked at with the list of frames. */
static int check_budgets(struct frame_report *r, const struct frame_columns *f)
{
	double values[FRAME_SUMS_MAX];
	int status = STATUS_OK;
	size_t b, n;

	for (b = 0; b < r->budgets->count && !status; b++) {
		if (!r->budgets->list[b].counter)
			continue;
		find_values(r, f, r->budgets->list[b].counter, values);
		for (n = 0; n < f->columns.count && !status; n++)
			if (r->facts[f->first + n].seen && !r->view->frames.list[f->first + n].lost &&
			    values[n] > r->budgets->list[b].limit)
				status = add_break(r, f->first + n, b, values[n]);
	}
	return status;
}

static void find_limits(struct frame_report *r, const struct frame_columns *f)
{
	struct facts *facts;
	size_t i, n;

	if (!r->topdown)
		return;
	if (pperf_topdown_add_columns(r->topdown, &f->columns, r->shares)) {
		/* No GPU could have counted this. */
		pperf_topdown_free(r->topdown);
		r->topdown = NULL;
		return;
	}
	for (n = 0; n < f->columns.count; n++) {
		facts = &r->facts[f->first + n];
		if (!f->counted_ns[n])
			continue;
		facts->idle = r->shares[r->idle][n];
		for (i = 0; i < r->num_nodes; i++) {
			if (!r->is_limit[i] || !(r->shares[i][n] > facts->share))
				continue;
			facts->share = r->shares[i][n];
			facts->limit = r->nodes[i];
		}
	}
}

/* Which part of the frames of its process a frame is in. */
static unsigned int part_of_frame(const struct frame_report *r, size_t frame)
{
	const struct frame_process *process = &r->view->frames.processes[r->view->frames.list[frame].process];

	return (frame - process->first) * SUMMARY_PARTS / process->count;
}

static int add_counters(struct frame_report *r, const struct frame_columns *f)
{
	struct process *p = &r->processes[r->view->frames.list[f->first].process];
	double values[FRAME_SUMS_MAX], weights[FRAME_SUMS_MAX];
	const struct facts *facts = r->facts + f->first;
	struct per_frame *c;
	size_t i, n;

	if (!p->counters)
		p->counters = calloc(r->summaries->count + 1, sizeof(*p->counters));
	if (!p->counters)
		return complain_of_memory();
	for (n = 0; n < f->columns.count; n++)
		weights[n] = 1;
	for (i = 0; i < r->summaries->count; i++) {
		c = &p->counters[i];
		find_values(r, f, r->summaries->list[i].counter, values);
		for (n = 0; n < f->columns.count; n++) {
			if (facts[n].seen && !isnan(values[n]))
				c->total += values[n];
			if (!facts[n].seen || facts[n].partial || r->view->frames.list[f->first + n].lost)
				values[n] = NAN;
			if (isnan(values[n]))
				continue;
			c->max = c->count++ && c->max > values[n] ? c->max : values[n];
			c->sum += values[n];
			c->part_sums[part_of_frame(r, f->first + n)] += values[n];
			c->part_counts[part_of_frame(r, f->first + n)]++;
		}
		if (quantiles_add(&c->quantiles, values, weights, f->columns.count))
			return complain_of_memory();
	}
	return STATUS_OK;
}

/* Adds what the GPU did in a frame. */
static void add_jobs(const struct frame_report *r, const struct frame *frame, struct job_times *times)
{
	job_times_add(times, &r->view->jobs, frame->start_ns, frame->end_ns, r->view->frames.processes[frame->process].pid);
}

static void print_jobs_of_line(const struct frame_report *r, const struct frame *frame)
{
	struct job_times t = {};
	int state;

	add_jobs(r, frame, &t);
	fprintf(r->csv, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, t.own_ns, t.others_ns, t.several_ns);
	for (state = JOB_STATES - 1; state >= 0; state--)
		if (state != JOBS_RUNNING)
			fprintf(r->csv, ",%" PRIu64, t.ns[state]);
}

static int print_lines(struct frame_report *r, const struct frame_columns *f)
{
	const struct frame_process *process = &r->view->frames.processes[r->view->frames.list[f->first].process];
	double (*values)[FRAME_SUMS_MAX] = calloc(r->summaries->count + 1, sizeof(*values));
	size_t i, n;

	if (!values)
		return complain_of_memory();
	for (i = 0; i < r->summaries->count; i++)
		find_values(r, f, r->summaries->list[i].counter, values[i]);
	for (n = 0; n < f->columns.count; n++) {
		const struct frame *frame = &r->view->frames.list[f->first + n];
		const struct facts *facts = &r->facts[f->first + n];

		if (!facts->seen)
			continue;
		csv_text(r->csv, process->name);
		fprintf(r->csv, ",%" PRIu32 ",%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu64 ",%d,%s,", process->pid,
			f->first + n - process->first + 1, frame->start_ns, frame->end_ns, frame->lost, f->counted_ns[n],
			facts->interpolated, frame->others == OTHERS_SOME ? "1" : frame->others == OTHERS_NONE ? "0" : "");
		if (facts->limit)
			csv_text(r->csv, facts->limit->title);
		csv_number(r->csv, facts->limit ? facts->share : NAN);
		if (r->view->has_jobs)
			print_jobs_of_line(r, frame);
		for (i = 0; i < r->summaries->count; i++)
			csv_number(r->csv, values[i][n]);
		fputc('\n', r->csv);
	}
	free(values);
	return STATUS_OK;
}

/* What was counted in frames. */
static int add_frames(void *context, const struct frame_columns *f)
{
	struct frame_report *r = context;
	int status = STATUS_OK;
	struct facts *facts;
	size_t n;

	for (n = 0; n < f->columns.count; n++) {
		facts = &r->facts[f->first + n];
		facts->partial = f->counted_ns[n] < length_of(&r->view->frames.list[f->first + n]);
		facts->interpolated = f->shared_ns[n] && f->shared_ns[n] == f->counted_ns[n];
		facts->flags = f->flags[n];
	}
	find_limits(r, f);
	if (r->per_frame)
		status = add_counters(r, f);
	if (!status)
		status = check_budgets(r, f);
	if (!status && r->csv)
		status = print_lines(r, f);
	return status;
}

/* The nodes that stand for what limits a GPU that is at work: those of the second level that are not idle. */
static int make_topdown(struct frame_report *r)
{
	const struct pperf_topdown_node *level[MAX_NODES];
	size_t count, i, n;

	r->nodes = pperf_db_topdown(r->view->db, &r->num_nodes);
	count = pperf_db_topdown_level(r->view->db, 2, level, MAX_NODES);
	if (!r->summaries->topdown || r->num_nodes > sizeof(r->is_limit) || count > MAX_NODES)
		return STATUS_OK;
	r->share_values = calloc(r->num_nodes, sizeof(*r->share_values));
	r->shares = calloc(r->num_nodes, sizeof(*r->shares));
	if (!r->share_values || !r->shares || pperf_topdown_new(r->view->db, &r->view->recording.head.gpu, &r->topdown))
		return complain_of_memory();
	for (i = 0; i < r->num_nodes; i++) {
		r->shares[i] = r->share_values[i];
		if (!strcmp(r->nodes[i]->name, "td_idle"))
			r->idle = i;
		for (n = 0; n < count; n++)
			r->is_limit[i] |= r->nodes[i] == level[n] && strcmp(r->nodes[i]->name, "td_idle");
	}
	return STATUS_OK;
}

/* ---- Times ---- */

/* Puts a frame among the slowest, unless there are enough that are slower. */
static void add_slow(const struct frame_report *r, struct process *p, size_t frame)
{
	const struct frame *list = r->view->frames.list;
	size_t at = p->single < SLOWEST ? p->single : SLOWEST;

	for (; at && length_of(&list[frame]) > length_of(&list[p->slowest[at - 1]]); at--)
		if (at < SLOWEST)
			p->slowest[at] = p->slowest[at - 1];
	if (at < SLOWEST)
		p->slowest[at] = frame;
}

/* Sorts times. Values are NAN if there are none. */
static void find_times(uint64_t *times_ns, size_t count, uint64_t frames, uint64_t ns, double values[FRAME_TIMES])
{
	unsigned int i;

	quantiles_sort(times_ns, count);
	for (i = 0; i < PERCENTILES; i++)
		values[i] = count ? quantiles_of_sorted(times_ns, count, percentiles[i]) / 1e6 : NAN;
	values[TIME_MAX] = count ? quantiles_of_sorted(times_ns, count, 100) / 1e6 : NAN;
	values[RATE] = ns ? frames * 1e9 / ns : NAN;
}

/* Frames of a process in a part of them. */
struct part {
	/* Those with times; all; and the time of all. */
	size_t single;
	uint64_t frames, ns;
};

/* The noise is that of the parts; of the slowest, of which no mean is taken, it is their standard deviation. */
static void summarize_times(struct process *p, const struct part parts[SUMMARY_PARTS])
{
	double values[SUMMARY_PARTS][FRAME_TIMES], all[FRAME_TIMES], one[SUMMARY_PARTS];
	unsigned int i, n, has = 0;
	size_t at = 0;

	for (n = 0; n < SUMMARY_PARTS; at += parts[n++].single) {
		find_times(p->times_ns + at, parts[n].single, parts[n].frames, parts[n].ns, values[n]);
		has += parts[n].single > 0;
	}
	find_times(p->times_ns, p->single, p->count + p->lost, p->seconds_ns, all);
	for (i = 0; i < FRAME_TIMES; i++) {
		for (n = 0; n < SUMMARY_PARTS; n++)
			one[n] = values[n][i];
		p->times[i].value = all[i];
		p->times[i].noise = summary_noise(one, SUMMARY_PARTS, all[i]) * (i == TIME_MAX ? sqrt(has) : 1);
	}
}

/* What the list of frames tells, without samples. */
static int read_list(struct frame_report *r)
{
	const struct frames *frames = &r->view->frames;
	int status = STATUS_OK;
	size_t i, n, b;

	for (i = 0; i < frames->num_processes && !status; i++) {
		const struct frame_process *process = &frames->processes[i];
		struct process *p = &r->processes[i];
		struct part parts[SUMMARY_PARTS] = {}, *part;

		p->times_ns = calloc(process->count + 1, sizeof(*p->times_ns));
		p->slowest = calloc(SLOWEST, sizeof(*p->slowest));
		if (!p->times_ns || !p->slowest)
			return complain_of_memory();
		for (n = process->first; n < process->first + process->count && !status; n++) {
			const struct frame *frame = &frames->list[n];

			r->facts[n].idle = NAN;
			r->facts[n].partial = true;
			r->facts[n].seen = view_sees(r->view, frame->start_ns, frame->end_ns);
			if (!r->facts[n].seen)
				continue;
			part = &parts[part_of_frame(r, n)];
			part->frames += 1 + frame->lost;
			part->ns += length_of(frame);
			p->count++;
			p->seconds_ns += length_of(frame);
			if (r->view->has_jobs)
				add_jobs(r, frame, &p->jobs);
			p->lost += frame->lost;
			p->lossy += !!frame->lost;
			if (frame->lost)
				continue;
			for (b = 0; b < r->budgets->count && !status; b++)
				if (!r->budgets->list[b].name && length_of(frame) / 1e9 > r->budgets->list[b].limit)
					status = add_break(r, n, b, length_of(frame) / 1e9);
			add_slow(r, p, n);
			p->times_ns[p->single++] = length_of(frame);
			part->single++;
		}
		summarize_times(p, parts);
	}
	return status;
}

static int compare_breaks(const void *a, const void *b)
{
	const struct broken_budget *x = a, *y = b;

	if (x->frame != y->frame)
		return x->frame < y->frame ? -1 : 1;
	return (x->budget > y->budget) - (x->budget < y->budget);
}

static void count_facts(struct frame_report *r)
{
	const struct frames *frames = &r->view->frames;
	size_t n;

	for (n = 0; n < frames->count; n++) {
		struct process *p = &r->processes[frames->list[n].process];

		p->interpolated += r->facts[n].seen && r->facts[n].interpolated;
		p->partial += r->facts[n].seen && r->facts[n].partial;
		p->others += r->facts[n].seen && frames->list[n].others == OTHERS_SOME;
		p->others_unknown += r->facts[n].seen && frames->list[n].others == OTHERS_UNKNOWN;
	}
	if (r->num_breaks)
		qsort(r->breaks, r->num_breaks, sizeof(*r->breaks), compare_breaks);
	for (n = 0; n < r->num_breaks; n++)
		r->broken_frames += !n || r->breaks[n].frame != r->breaks[n - 1].frame;
}

int frame_report_new(struct view *view, const struct summaries *summaries, bool per_frame, const struct frame_budgets *budgets,
		     FILE *csv, struct frame_report **report)
{
	struct frame_report *r = calloc(1, sizeof(*r));
	int status;
	size_t i;

	if (!r)
		return complain_of_memory();
	*r = (struct frame_report){
		.view = view, .summaries = summaries, .budgets = budgets, .csv = csv, .per_frame = per_frame,
		.facts = calloc(view->frames.count + 1, sizeof(*r->facts)),
		.processes = calloc(view->frames.num_processes + 1, sizeof(*r->processes)),
	};
	*report = r;
	if (!r->facts || !r->processes)
		return complain_of_memory();
	status = find_counters(view, budgets);
	if (!status)
		status = make_topdown(r);
	if (!status)
		status = read_list(r);
	if (csv) {
		fputs("program,pid,frame,start_ns,end_ns,lost,counted_ns,interpolated,others,limited_by,limited_by_share", csv);
		if (view->has_jobs)
			fputs(",own_ns,others_ns,several_ns,none_ns,waiting_ns,ready_ns,unknown_ns", csv);
		for (i = 0; i < summaries->count; i++)
			fprintf(csv, ",%s", summaries->list[i].counter->name);
		fputc('\n', csv);
	}
	if (!status)
		status = view_sum_frames(view, add_frames, r);
	count_facts(r);
	return status;
}

void frame_report_free(struct frame_report *r)
{
	size_t i, n;

	if (!r)
		return;
	for (i = 0; r->processes && i < r->view->frames.num_processes; i++) {
		for (n = 0; r->processes[i].counters && n < r->summaries->count; n++)
			quantiles_free(&r->processes[i].counters[n].quantiles);
		free(r->processes[i].counters);
		free(r->processes[i].times_ns);
		free(r->processes[i].slowest);
	}
	pperf_topdown_free(r->topdown);
	free(r->share_values);
	free(r->shares);
	free(r->facts);
	free(r->processes);
	free(r->breaks);
	free(r);
}

size_t frame_report_breaks(const struct frame_report *r)
{
	return r->broken_frames;
}

size_t frame_report_count(const struct frame_report *r, size_t process)
{
	return r->processes[process].count;
}

double frame_report_seconds(const struct frame_report *r, size_t process)
{
	return r->processes[process].seconds_ns / 1e9;
}

struct frame_figure frame_report_time(const struct frame_report *r, size_t process, unsigned int time)
{
	return r->processes[process].times[time];
}

struct frame_figure frame_report_counter(const struct frame_report *r, size_t process, size_t counter)
{
	const struct per_frame *c = r->processes[process].counters ? &r->processes[process].counters[counter] : NULL;
	struct frame_figure figure = { .value = NAN };
	double means[SUMMARY_PARTS];
	unsigned int i;

	if (!c || !c->count)
		return figure;
	for (i = 0; i < SUMMARY_PARTS; i++)
		means[i] = c->part_counts[i] ? c->part_sums[i] / c->part_counts[i] : NAN;
	figure.value = c->sum / c->count;
	figure.noise = summary_noise(means, SUMMARY_PARTS, figure.value);
	return figure;
}

double frame_report_budget(const struct frame_report *r)
{
	double least = INFINITY;
	size_t i;

	for (i = 0; i < r->budgets->count; i++)
		if (!r->budgets->list[i].name)
			least = fmin(least, r->budgets->list[i].limit);
	return least;
}

/* ---- For people ---- */

/* Since the recording began. */
static double seconds_at(const struct frame_report *r, size_t frame)
{
	return ((double)r->view->frames.list[frame].start_ns - view_whole(r->view).start_ns) / 1e9;
}

static size_t number_of(const struct frame_report *r, size_t frame)
{
	return frame - r->view->frames.processes[r->view->frames.list[frame].process].first + 1;
}

void frame_report_print_name(FILE *out, const struct frame_process *process)
{
	print_text(out, *process->name ? process->name : "(unknown program)");
	if (process->pid)
		fprintf(out, " (PID %" PRIu32 ")", process->pid);
}

static void print_jobs(FILE *out, const struct frame_report *r, size_t frame)
{
	struct job_times t = {};
	char reason[JOB_TIMES_TEXT];

	add_jobs(r, &r->view->frames.list[frame], &t);
	fprintf(out, " %6.1f %% %6.1f %% %6.1f %% %6.1f %%  %-26s", job_times_percent(&t, t.own_ns),
		job_times_percent(&t, t.others_ns), job_times_percent(&t, t.several_ns), job_times_percent(&t, job_times_idle(&t)),
		job_times_reason_text(&t, reason));
}

static void print_jobs_of_process(FILE *out, const struct job_times *t)
{
	char reason[JOB_TIMES_TEXT];

	fprintf(out, "  jobs: own %.1f %% of the time, others' %.1f %%, of several at once %.1f %%; GPU idle%s %.1f %%",
		job_times_percent(t, t->own_ns), job_times_percent(t, t->others_ns), job_times_percent(t, t->several_ns),
		t->ns[JOBS_UNKNOWN] ? " or not known" : "", job_times_percent(t, job_times_idle(t)));
	if (job_times_idle(t))
		fprintf(out, ", mostly %s", job_times_reason_text(t, reason));
	fputc('\n', out);
}

static void print_slow(FILE *out, const struct frame_report *r, size_t frame)
{
	const struct facts *facts = &r->facts[frame];
	char number[32];

	fprintf(out, "  %10s %10.3f s %9.3f ms", grouped(number_of(r, frame), number), seconds_at(r, frame),
		length_of(&r->view->frames.list[frame]) / 1e6);
	if (isnan(facts->idle))
		fprintf(out, " %8s", "-");
	else
		fprintf(out, " %6.1f %%", 100 * facts->idle);
	if (r->view->has_jobs)
		print_jobs(out, r, frame);
	if (facts->limit)
		fprintf(out, "  %s %.1f %%", facts->limit->title, 100 * facts->share);
	else
		fputs("  -", out);
	fprintf(out, "%s%s%s%s\n", facts->interpolated ? " (interpolated)" : "", facts->partial ? " (not counted throughout)" : "",
		facts->flags & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR) ? " (counts may be missing)" : "",
		r->view->frames.list[frame].others == OTHERS_SOME ? " (other processes at work)" : "");
}

static void print_process(FILE *out, const struct frame_report *r, size_t i)
{
	const struct process *p = &r->processes[i];
	char number[32];
	size_t n;

	fputs("\nFrames of ", out);
	frame_report_print_name(out, &r->view->frames.processes[i]);
	fprintf(out, ": %s in %.6f s, %.2f per second\n", grouped(p->count, number), p->seconds_ns / 1e9, p->times[RATE].value);
	if (p->lossy)
		fprintf(out, "  %zu cover others that were lost (%" PRIu64 "); the lines below leave these out\n", p->lossy, p->lost);
	if (p->interpolated)
		fprintf(out, "  %s contain no whole sample: their counts are interpolated. Record with a shorter period (-p)\n",
			grouped(p->interpolated, number));
	if (p->others)
		fprintf(out, "  %s have work of other processes in their counts: the GPU worked for others at the time\n",
			grouped(p->others, number));
	if (r->view->frames.num_uses && p->others_unknown)
		fprintf(out, "  %s may have work of other processes in their counts: the kernel did not tell\n",
			grouped(p->others_unknown, number));
	if (r->view->has_jobs)
		print_jobs_of_process(out, &p->jobs);
	if (!p->single)
		return;
	fputs("  time:", out);
	for (n = 0; n < PERCENTILES; n++)
		fprintf(out, " %u %% up to %.3f ms,", percentiles[n], p->times[n].value);
	fprintf(out, " all up to %.3f ms\n", p->times[TIME_MAX].value);
	fprintf(out, "  %10s %12s %12s %8s", "slowest", "at", "time", "idle");
	if (r->view->has_jobs)
		fprintf(out, " %8s %8s %8s %8s  %-26s", "own jobs", "others'", "several", "GPU idle", "mostly");
	fputs("  largest part of the rest (top-down, an estimate)\n", out);
	for (n = 0; n < p->single && n < SLOWEST; n++)
		print_slow(out, r, p->slowest[n]);
}

void frame_report_print(FILE *out, const struct frame_report *r)
{
	size_t i;

	for (i = 0; i < r->view->frames.num_processes; i++)
		if (r->processes[i].count)
			print_process(out, r, i);
}

static void print_per_frame(FILE *out, const struct frame_report *r, const struct process *p, size_t i)
{
	const struct per_frame *c = &p->counters[i];
	const struct pperf_counter *counter = r->summaries->list[i].counter;
	char text[32];

	fprintf(out, "  %-28s", counter->name);
	if (!c->count) {
		fputs(" -\n", out);
		return;
	}
	fprintf(out, " %9s", scaled(c->sum / c->count, "", text, sizeof(text)));
	fprintf(out, " %9s", scaled(quantiles_percentile(&c->quantiles, 95), "", text, sizeof(text)));
	fprintf(out, " %9s  %s\n", scaled(c->max, "", text, sizeof(text)), counter->unit);
}

void frame_report_print_counters(FILE *out, const struct frame_report *r)
{
	size_t i, n;

	for (i = 0; i < r->view->frames.num_processes; i++) {
		const struct process *p = &r->processes[i];

		if (!p->count || !p->counters)
			continue;
		fputs("\nPer frame of ", out);
		frame_report_print_name(out, &r->view->frames.processes[i]);
		fprintf(out, "\n  %-28s %9s %9s %9s\n", "", "mean", "95%", "max");
		for (n = 0; n < r->summaries->count; n++)
			print_per_frame(out, r, p, n);
	}
}

static void print_value(FILE *out, const struct frame_budget *budget, double value)
{
	char text[64];

	if (!budget->name) {
		fprintf(out, "%.3f ms", value * 1e3);
		return;
	}
	snprintf(text, sizeof(text), "%.10g", value);
	if (!strchr(text, 'e'))
		group_digits(text, sizeof(text));
	fputs(text, out);
}

void frame_report_print_breaks(FILE *out, const struct frame_report *r, const char *all)
{
	const struct broken_budget *b;
	char number[32];
	size_t n;

	if (!r->num_breaks)
		return;
	fprintf(out, "\n%s frame%s over budget:\n", grouped(r->broken_frames, number), r->broken_frames == 1 ? " is" : "s are");
	for (n = 0; n < r->num_breaks && n < MAX_BREAKS; n++) {
		b = &r->breaks[n];
		fprintf(out, "  frame %s of ", grouped(number_of(r, b->frame), number));
		frame_report_print_name(out, &r->view->frames.processes[r->view->frames.list[b->frame].process]);
		fprintf(out, " at %.3f s: ", seconds_at(r, b->frame));
		if (r->budgets->list[b->budget].name)
			fprintf(out, "%s ", r->budgets->list[b->budget].name);
		print_value(out, &r->budgets->list[b->budget], b->value);
		fputs(", budget ", out);
		print_value(out, &r->budgets->list[b->budget], r->budgets->list[b->budget].limit);
		fputc('\n', out);
	}
	if (n < r->num_breaks)
		fprintf(out, "  and %s more: %s has all of them\n", grouped(r->num_breaks - n, number), all);
}

/* ---- For programs ---- */

/* Null if it is not known. */
static void add_others(struct json_object *object, enum frame_others others)
{
	json_object_object_add(object, "others", others == OTHERS_UNKNOWN ? NULL : json_object_new_boolean(others == OTHERS_SOME));
}

static struct json_object *slow_json(const struct frame_report *r, size_t frame)
{
	struct json_object *top = json_object_new_object();
	const struct facts *facts = &r->facts[frame];
	struct job_times times = {};

	json_add_count(top, "frame", number_of(r, frame));
	json_add_count(top, "start_ns", r->view->frames.list[frame].start_ns);
	json_add_count(top, "end_ns", r->view->frames.list[frame].end_ns);
	json_add_double(top, "idle", facts->idle);
	json_object_object_add(top, "limited_by", facts->limit ? json_object_new_string(facts->limit->name) : NULL);
	json_add_double(top, "share", facts->limit ? facts->share : NAN);
	json_object_object_add(top, "interpolated", json_object_new_boolean(facts->interpolated));
	json_object_object_add(top, "partial", json_object_new_boolean(facts->partial));
	json_object_object_add(top, "missing", json_object_new_boolean(facts->flags & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR)));
	add_others(top, r->view->frames.list[frame].others);
	if (r->view->has_jobs) {
		add_jobs(r, &r->view->frames.list[frame], &times);
		json_object_object_add(top, "jobs", job_times_json(&times, true));
	}
	return top;
}

static struct json_object *per_frame_json(const struct frame_report *r, const struct process *p)
{
	struct json_object *list = json_object_new_array(), *item;
	const struct per_frame *c;
	size_t i;

	for (i = 0; i < r->summaries->count; i++) {
		c = &p->counters[i];
		item = json_object_new_object();
		json_object_object_add(item, "name", json_object_new_string(r->summaries->list[i].counter->name));
		if (r->summaries->list[i].counter->kind == PPERF_KIND_COUNT)
			json_add_double(item, "total", c->total);
		if (c->count) {
			json_add_double(item, "mean", c->sum / c->count);
			json_add_double(item, "p95", quantiles_percentile(&c->quantiles, 95));
			json_add_double(item, "max", c->max);
		}
		json_object_array_add(list, item);
	}
	return list;
}

static struct json_object *process_json(const struct frame_report *r, size_t i)
{
	struct json_object *top = json_object_new_object(), *times = json_object_new_object(), *list = json_object_new_array();
	const struct frame_process *process = &r->view->frames.processes[i];
	const struct process *p = &r->processes[i];
	char key[16];
	size_t n;

	json_object_object_add(top, "program", json_object_new_string(process->name));
	json_add_count(top, "pid", process->pid);
	json_add_count(top, "frames", p->count);
	json_object_object_add(top, "seconds", json_seconds(p->seconds_ns / 1e9));
	json_add_double(top, "per_second", p->times[RATE].value);
	json_add_count(top, "lost", p->lost);
	json_add_count(top, "interpolated", p->interpolated);
	json_add_count(top, "partial", p->partial);
	json_add_count(top, "others", p->others);
	json_add_count(top, "others_unknown", p->others_unknown);
	for (n = 0; n < PERCENTILES; n++) {
		snprintf(key, sizeof(key), "p%u", percentiles[n]);
		json_add_double(times, key, p->times[n].value / 1e3);
	}
	json_add_double(times, "max", p->times[TIME_MAX].value / 1e3);
	json_object_object_add(top, "times", times);
	if (r->view->has_jobs)
		json_object_object_add(top, "jobs", job_times_json(&p->jobs, true));
	for (n = 0; n < p->single && n < SLOWEST; n++)
		json_object_array_add(list, slow_json(r, p->slowest[n]));
	json_object_object_add(top, "slowest", list);
	if (p->counters)
		json_object_object_add(top, "counters", per_frame_json(r, p));
	return top;
}

static struct json_object *breaks_json(const struct frame_report *r, uint32_t process)
{
	struct json_object *list = json_object_new_array(), *item;
	size_t i;

	for (i = 0; i < r->num_breaks; i++) {
		const struct broken_budget *b = &r->breaks[i];

		if (r->view->frames.list[b->frame].process != process)
			continue;
		item = json_object_new_object();
		json_add_count(item, "frame", number_of(r, b->frame));
		json_add_count(item, "start_ns", r->view->frames.list[b->frame].start_ns);
		json_object_object_add(item, "budget", json_object_new_string(r->budgets->list[b->budget].name ?
									       r->budgets->list[b->budget].name : "seconds"));
		json_add_double(item, "value", b->value);
		json_add_double(item, "limit", r->budgets->list[b->budget].limit);
		json_object_array_add(list, item);
	}
	return list;
}

struct json_object *frame_report_json(const struct frame_report *r, bool breaks)
{
	struct json_object *list = json_object_new_array(), *process;
	size_t i;

	for (i = 0; i < r->view->frames.num_processes; i++) {
		if (!r->processes[i].count)
			continue;
		process = process_json(r, i);
		if (breaks && r->budgets->count)
			json_object_object_add(process, "over_budget", breaks_json(r, i));
		json_object_array_add(list, process);
	}
	return list;
}
