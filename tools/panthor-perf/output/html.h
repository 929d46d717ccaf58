/* SPDX-License-Identifier: MIT */
/* A recording as a page for a browser. */
#ifndef PANTHOR_PERF_HTML_H
#define PANTHOR_PERF_HTML_H

#include "view.h"

/*
 * Prints a page that has all that it needs in it. The summaries have lines; what else is drawn takes another
 * look at the samples. Prints what is wrong. Returns a status.
 */
int html_print(FILE *out, struct view *view, const struct summaries *summaries);

#endif
