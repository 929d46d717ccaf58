/* SPDX-License-Identifier: MIT */
/* What is said of a recording, whatever form it has. */
#ifndef PANTHOR_PERF_REPORT_H
#define PANTHOR_PERF_REPORT_H

#include "view.h"

/* Lines on where a recording is from, and on its samples. */
void report_print_head(FILE *out, const struct view *view, const struct summaries *summaries);

/* A line of SUMMARY_BINS characters, the largest being full height. */
void report_print_sparkline(FILE *out, const double *values, bool utf8);

/* All of it. */
struct json_object *report_json(const struct view *view, const struct summaries *summaries);

#endif
