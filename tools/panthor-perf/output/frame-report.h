/* SPDX-License-Identifier: MIT */
/* What report says of the frames of each process. */
#ifndef PANTHOR_PERF_FRAME_REPORT_H
#define PANTHOR_PERF_FRAME_REPORT_H

#include <stdio.h>

#include "view.h"

struct json_object;

/* No frame should have more: of a counter, or of time, in seconds. */
struct frame_budget {
	/* A counter's name, NULL for the time. */
	char *name;
	const struct pperf_counter *counter;
	double limit;
};

struct frame_budgets {
	struct frame_budget *list;
	size_t count;
};

/* Reads a list such as 16.7ms,MaliFragActiveCy=8e6. Returns false if it is none, or without memory. */
bool frame_budgets_parse(struct frame_budgets *budgets, const char *text);
void frame_budgets_free(struct frame_budgets *budgets);

struct frame_report;

/*
 * Reads all frames that are looked at: those whose middle is. With per_frame, finds what each counter of the summaries has in a
 * frame; with csv, prints a line for each frame. Prints what is wrong. Returns a status.
 */
int frame_report_new(struct view *view, const struct summaries *summaries, bool per_frame, const struct frame_budgets *budgets,
		     FILE *csv, struct frame_report **report);
void frame_report_free(struct frame_report *report);

/*
 * The frames of each process: how many, times, the slowest; counters per frame; and the first that are over a budget: all is what
 * lists all of them.
 */
void frame_report_print(FILE *out, const struct frame_report *report);
void frame_report_print_counters(FILE *out, const struct frame_report *report);
void frame_report_print_breaks(FILE *out, const struct frame_report *report, const char *all);

/* Breaks: with the list of those over a budget. */
struct json_object *frame_report_json(const struct frame_report *report, bool breaks);

/* How many frames are over a budget; and the budget of time in seconds, INFINITY without one. */
size_t frame_report_breaks(const struct frame_report *report);
double frame_report_budget(const struct frame_report *report);

/* Of all frames of a process; noise is a part of the value, as that of a summary. NAN if there is none. */
struct frame_figure {
	double value, noise;
};

/* Times in milliseconds, and the rate. */
#define FRAME_TIMES 5
extern const char *const frame_times[FRAME_TIMES][2];

/* How many frames of a process are looked at, and their time; a time by its number; and what a summary's counter has in a frame. */
size_t frame_report_count(const struct frame_report *report, size_t process);
double frame_report_seconds(const struct frame_report *report, size_t process);
struct frame_figure frame_report_time(const struct frame_report *report, size_t process, unsigned int time);
struct frame_figure frame_report_counter(const struct frame_report *report, size_t process, size_t counter);

/* A process as people know it. */
void frame_report_print_name(FILE *out, const struct frame_process *process);

#endif
