/* SPDX-License-Identifier: MIT */
/* Jobs on a page for a browser: tables by process and of idle time, and lanes of queues that the page's script draws. */
#ifndef PANTHOR_PERF_HTML_JOBS_H
#define PANTHOR_PERF_HTML_JOBS_H

#include <stdio.h>

#include "jobs.h"

struct json_object;

/* Values are the jobs of report's JSON, NULL if there are none. */
void html_jobs_print(FILE *out, struct json_object *values);

/*
 * What queues and the idle GPU did between two times. Times are in nanoseconds, since start_ns: of each job where it ran, how long
 * (took), and how long before that it was ready and had waited, null if it is not known. If there are too many, equal parts
 * of the time have the share in which any ran, how many began, and the times of the longest; and idle's have the share of each
 * reason. Shares are of a thousand. NULL without memory.
 */
struct json_object *html_jobs_json(const struct jobs *jobs, uint64_t start_ns, uint64_t end_ns);

#endif
