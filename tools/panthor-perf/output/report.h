/* SPDX-License-Identifier: MIT */
/* What is said of a recording, whatever form it has. */
#ifndef PANTHOR_PERF_REPORT_H
#define PANTHOR_PERF_REPORT_H

#include "view.h"

/* Lines on where a recording is from, and on its samples. */
void report_print_head(FILE *out, const struct view *view, const struct summaries *summaries);

/* A line of SUMMARY_BINS characters, the largest being full height. */
void report_print_sparkline(FILE *out, const double *values, bool utf8);

/* How busy the GPU was, its clock, and its regions. */
void report_show_figures(FILE *out, const struct view *view, const struct summaries *summaries);

/* Summaries of counters and metrics, by group. */
void report_show_counters(FILE *out, const struct view *view, const struct summaries *summaries, bool per_block);

/* What limited performance. The summaries have top-down. */
void report_show_topdown(FILE *out, const struct view *view, const struct summaries *summaries);

/* All of it, as an object and as text. They take the list of frames and what is said of jobs, NULL for none. */
void report_show_json(FILE *out, const struct view *view, const struct summaries *summaries, struct json_object *frames,
		      struct json_object *jobs);
struct json_object *report_json(const struct view *view, const struct summaries *summaries, struct json_object *frames,
				struct json_object *jobs);

#endif
