/* SPDX-License-Identifier: MIT */
/* A recording as a page for a browser. */
#ifndef PANTHOR_PERF_HTML_H
#define PANTHOR_PERF_HTML_H

#include "view.h"

struct frame_report;
struct job_report;
struct page;

/* NULL without memory. The view has to outlive it. */
struct page *html_new(struct view *view);

/* For struct summary_lines, with the page as context: what is drawn beside the lines of the summaries. */
int html_begin(void *page, const struct summaries *summaries, struct batches *batches);
void html_task(void *page, size_t number, const struct batch *batch);

/*
 * Prints a page that has all that it needs in it, of summaries that were made with it, and of frames and jobs, which may be
 * NULL. Returns a status; what is wrong was printed.
 */
int html_print(FILE *out, struct page *page, const struct frame_report *frames, const struct job_report *jobs);
void html_free(struct page *page);

#endif
