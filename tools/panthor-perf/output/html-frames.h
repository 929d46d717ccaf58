/* SPDX-License-Identifier: MIT */
/* Frames on a page for a browser: tables of the slowest ones, and bars that the page's script draws. */
#ifndef PANTHOR_PERF_HTML_FRAMES_H
#define PANTHOR_PERF_HTML_FRAMES_H

#include "frame-report.h"

struct json_object;

/* List: the frames of report's JSON. Times on the page are since start_ns. */
void html_frames_print(FILE *out, const struct view *view, const struct frame_report *frames, struct json_object *list,
		       uint64_t start_ns);

/*
 * For each process its bars: where each begins and ends; of its slowest frame the number, where it begins, and its time; and the
 * mean time. Times are in seconds. A bar is a frame, or several if there are too many.
 */
struct json_object *html_frames_json(const struct view *view, const struct frame_report *frames, uint64_t start_ns);

#endif
