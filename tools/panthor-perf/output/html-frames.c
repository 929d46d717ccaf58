// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "html-frames.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "html-text.h"

/* As many processes are shown, and as many bars are drawn of all of them: a page's size does not depend on frames. */
#define MAX_PROCESSES 8
#define MAX_BARS LINE_MAX_BINS

/* Frames that follow each other. */
struct bar {
	uint64_t start_ns, end_ns;

	/* Those that are one frame each: how many, their time, and the slowest; NULL if there is none. */
	uint64_t single, sum_ns;
	const struct frame *slowest;
};

static double seconds_since(uint64_t ns, uint64_t start_ns)
{
	return (int64_t)(ns - start_ns) / 1e9;
}

/* To be freed. NULL without memory. */
static char *name_of(const struct frame_process *process)
{
	char *name = NULL;
	size_t size;
	FILE *text = open_memstream(&name, &size);

	if (!text)
		return NULL;
	frame_report_print_name(text, process);
	if (!fclose(text))
		return name;
	free(name);
	return NULL;
}

/* ---- Tables ---- */

static void print_limit(FILE *out, const struct view *view, struct json_object *slow)
{
	const char *name = html_get_text(slow, "limited_by");
	const struct pperf_topdown_node *const *nodes;
	size_t count, i;

	nodes = pperf_db_topdown(view->db, &count);
	for (i = 0; i < count && strcmp(nodes[i]->name, name); i++)
		;
	if (i == count) {
		fputs("<td></td><td></td>", out);
		return;
	}
	fprintf(out, "<td data-limit=\"%s\">", name);
	html_escape(out, nodes[i]->title);
	fputs("</td>", out);
	html_cell(out, html_get(slow, "share"), "%");
}

static void print_slow(FILE *out, const struct view *view, const struct frame_process *process, struct json_object *slow,
		       uint64_t start_ns)
{
	uint64_t number = json_object_get_uint64(html_get(slow, "frame"));
	const struct frame *frame = &view->frames.list[process->first + number - 1];
	double from = seconds_since(frame->start_ns, start_ns), to = seconds_since(frame->end_ns, start_ns);

	fprintf(out, "<tr data-from=\"%.9f\" data-to=\"%.9f\">", from, to);
	html_cell(out, html_get(slow, "frame"), "");
	fputs("<td", out);
	html_value(out, html_get(slow, "start_ns"));
	fprintf(out, ">%.6f s</td><td", from);
	html_value(out, html_get(slow, "end_ns"));
	fprintf(out, ">%.3f ms</td>", (to - from) * 1e3);
	html_cell(out, html_get(slow, "idle"), "%");
	print_limit(out, view, slow);
	fprintf(out, "<td>%s%s%s%s</td></tr>\n", json_object_get_boolean(html_get(slow, "interpolated")) ? "interpolated " : "",
		json_object_get_boolean(html_get(slow, "partial")) ? "not counted throughout " : "",
		json_object_get_boolean(html_get(slow, "missing")) ? "counts may be missing " : "",
		json_object_get_boolean(html_get(slow, "others")) ? "other processes at work" : "");
}

static void print_process(FILE *out, const struct view *view, const struct frame_process *process, struct json_object *item,
			  uint64_t start_ns)
{
	struct json_object *slowest = html_get(item, "slowest"), *times = html_get(item, "times");
	static const char *const keys[][2] = {
		{ "p50", "50 %" }, { "p95", "95 %" }, { "p99", "99 %" }, { "max", "slowest" },
	};
	char *name = name_of(process), number[32];
	size_t i;

	fputs("<h3>", out);
	html_escape(out, name ? name : "");
	free(name);
	fprintf(out, "</h3>\n<p>%s frames, %.2f per second. Time:", grouped(json_object_get_uint64(html_get(item, "frames")), number),
		json_object_get_double(html_get(item, "per_second")));
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		fprintf(out, "%s %s <b data-time=\"%s\"", i ? "," : "", keys[i][1], keys[i][0]);
		html_value(out, html_get(times, keys[i][0]));
		fprintf(out, ">%.3f ms</b>", 1e3 * json_object_get_double(html_get(times, keys[i][0])));
	}
	fputs(".</p>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Slowest</th><th scope=\"col\">At</th>"
	      "<th scope=\"col\">Time</th><th scope=\"col\">Idle</th><th scope=\"col\">Largest part of the rest</th>"
	      "<th scope=\"col\">Share</th><th scope=\"col\"></th></tr></thead>\n<tbody>\n", out);
	for (i = 0; i < json_object_array_length(slowest); i++)
		print_slow(out, view, process, json_object_array_get_idx(slowest, i), start_ns);
	fputs("</tbody>\n</table></div>\n", out);
}

static void print_breaks(FILE *out, const struct frame_report *frames)
{
	char *text = NULL;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	frame_report_print_breaks(lines, frames, "report -j");
	if (!fclose(lines))
		html_lines(out, text);
	free(text);
}

void html_frames_print(FILE *out, const struct view *view, const struct frame_report *frames, struct json_object *list,
		       uint64_t start_ns)
{
	size_t count = json_object_array_length(list), shown = 0, i;

	if (!count)
		return;
	fputs("<section id=\"frames\">\n<h2>Frames</h2>\n<p>Click a bar or a line to zoom to a frame. Counts are those of the GPU while "
	      "the frame lasted; parts are those of top-down, an estimate.</p>\n", out);
	/* The list has those with frames, in this order. */
	for (i = 0; shown < count && shown < MAX_PROCESSES; i++)
		if (frame_report_count(frames, i))
			print_process(out, view, &view->frames.processes[i], json_object_array_get_idx(list, shown++), start_ns);
	if (shown < count)
		fprintf(out, "<p><code>report</code> lists the frames of %zu more processes.</p>\n", count - shown);
	print_breaks(out, frames);
	fputs("</section>\n", out);
}

/* ---- Bars ---- */

static void add_to_bar(struct bar *bar, const struct frame *frame)
{
	uint64_t length = frame->end_ns - frame->start_ns;

	if (!bar->end_ns)
		bar->start_ns = frame->start_ns;
	bar->end_ns = frame->end_ns;
	if (frame->lost)
		return;
	bar->single++;
	bar->sum_ns += length;
	if (!bar->slowest || length > bar->slowest->end_ns - bar->slowest->start_ns)
		bar->slowest = frame;
}

static void add_seconds(struct json_object *list, double seconds)
{
	struct json_object *value = isnan(seconds) ? NULL : json_object_new_double(seconds);

	if (value)
		json_object_set_serializer(value, json_object_double_to_json_string, "%.7f", NULL);
	json_object_array_add(list, value);
}

static struct json_object *bars_json(const struct view *view, const struct frame_process *process, const struct bar *bars,
				     size_t count, uint64_t start_ns)
{
	static const char *const keys[] = { "start", "end", "frame", "at", "time", "mean" };
	struct json_object *top = json_object_new_object(), *lists[sizeof(keys) / sizeof(keys[0])];
	const struct frame *slowest;
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		lists[i] = json_object_new_array();
		json_object_object_add(top, keys[i], lists[i]);
	}
	for (i = 0; i < count; i++) {
		slowest = bars[i].slowest;
		add_seconds(lists[0], seconds_since(bars[i].start_ns, start_ns));
		add_seconds(lists[1], seconds_since(bars[i].end_ns, start_ns));
		json_object_array_add(lists[2], json_object_new_int64(slowest ? slowest - view->frames.list - process->first + 1 : 0));
		add_seconds(lists[3], slowest ? seconds_since(slowest->start_ns, start_ns) : NAN);
		add_seconds(lists[4], slowest ? (slowest->end_ns - slowest->start_ns) / 1e9 : NAN);
		add_seconds(lists[5], slowest ? bars[i].sum_ns / 1e9 / bars[i].single : NAN);
	}
	return top;
}

/* NULL without memory. */
static struct json_object *process_json(const struct view *view, const struct frame_process *process, size_t seen, size_t most,
					double budget, uint64_t start_ns)
{
	size_t count = seen < most ? seen : most, n, number = 0;
	struct bar *bars = calloc(count + 1, sizeof(*bars));
	struct json_object *top;
	char *name;

	if (!bars)
		return NULL;
	for (n = process->first; n < process->first + process->count; n++)
		if (view_sees(view, view->frames.list[n].start_ns, view->frames.list[n].end_ns))
			add_to_bar(&bars[number++ * count / seen], &view->frames.list[n]);
	top = bars_json(view, process, bars, count, start_ns);
	free(bars);
	name = name_of(process);
	json_object_object_add(top, "name", json_object_new_string(name ? name : ""));
	free(name);
	json_object_object_add(top, "frames", json_object_new_uint64(seen));
	if (isfinite(budget))
		json_object_object_add(top, "budget", json_object_new_double(budget));
	return top;
}

struct json_object *html_frames_json(const struct view *view, const struct frame_report *frames, uint64_t start_ns)
{
	struct json_object *list = json_object_new_array(), *one;
	size_t shown = 0, seen, i;

	for (i = 0; i < view->frames.num_processes; i++)
		shown += shown < MAX_PROCESSES && frame_report_count(frames, i);
	for (i = 0; i < view->frames.num_processes && json_object_array_length(list) < MAX_PROCESSES; i++) {
		seen = frame_report_count(frames, i);
		one = seen ? process_json(view, &view->frames.processes[i], seen, MAX_BARS / shown, frame_report_budget(frames),
					  start_ns) : NULL;
		if (one)
			json_object_array_add(list, one);
	}
	return list;
}
