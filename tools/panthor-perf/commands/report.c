// SPDX-License-Identifier: MIT
/* panthor-perf report */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common.h"
#include "frame-report.h"
#include "html.h"
#include "job-report.h"
#include "report.h"
#include "view.h"

struct arguments {
	const char *input;
	const char *output;

	/* Where a page goes, instead of all else. */
	const char *html;

	/* NULL for the whole recording; and a part of its time. */
	const char *region;
	uint64_t from_ns, until_ns;

	char **events;
	unsigned int num_events;
	bool per_block;
	bool topdown;
	bool json;

	/* Of frames: counters of each, all of them as lines, and what none should exceed; of jobs: counters of each process. */
	bool frames, jobs, csv;
	struct frame_budgets budgets;
};

enum { KEY_HTML = 256, KEY_REGION, KEY_TIME, KEY_FRAMES, KEY_CSV, KEY_BUDGET, KEY_JOBS };

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0, "Show these counters and metrics, named as for stat (may be repeated; default: all "
	  "recorded ones)", 0 },
	{ "per-block", 'b', NULL, 0, "Show each block's part of each count", 0 },
	{ "topdown", 't', NULL, 0, "Show what limited performance instead of counters", 0 },
	{ "region", KEY_REGION, "NAME", 0, "Report on one region only, by the name given to mark", 0 },
	{ "time", KEY_TIME, "[FROM],[UNTIL]", 0, "Report on this part of the recording only, in times since its begin, such as "
	  "1.5s,2s", 0 },
	{ "frames", KEY_FRAMES, NULL, 0, "Show counters per frame instead of counters over time", 0 },
	{ "jobs", KEY_JOBS, NULL, 0, "Show counters by the process whose jobs ran instead of counters over time", 0 },
	{ "csv", KEY_CSV, NULL, 0, "Print each frame with its counters as a line of CSV; with --jobs, each process", 0 },
	{ "budget", KEY_BUDGET, "TIME|COUNTER=N,...", 0, "List frames that take longer or count more, such as 16.7ms,MaliFragActiveCy=8e6; "
	  "exit status 1 if there are any", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "html", KEY_HTML, "PAGE", 0, "Write an HTML page that works offline; - is standard output", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{}
};

/* A time, or nothing. */
static bool parse_time(char *text, uint64_t *ns)
{
	if (!strcmp(text, "0") || !strcmp(text, "0s"))
		*ns = 0;
	else if (*text)
		return parse_duration(text, ns);
	return true;
}

static bool parse_times(char *text, uint64_t *from_ns, uint64_t *until_ns)
{
	char *comma = strchr(text, ',');
	bool valid;

	if (!comma)
		return false;
	*comma = 0;
	*from_ns = 0;
	*until_ns = UINT64_MAX;
	valid = parse_time(text, from_ns) && parse_time(comma + 1, until_ns) && *from_ns < *until_ns;
	*comma = ',';
	return valid;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'e':
		return add_pattern(&arguments->events, &arguments->num_events, arg) ? ENOMEM : 0;
	case 'b':
		arguments->per_block = true;
		return 0;
	case 't':
		arguments->topdown = true;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case KEY_HTML:
		arguments->html = arg;
		return 0;
	case KEY_REGION:
		arguments->region = arg;
		return 0;
	case KEY_FRAMES:
		arguments->frames = true;
		return 0;
	case KEY_JOBS:
		arguments->jobs = true;
		return 0;
	case KEY_CSV:
		arguments->csv = true;
		return 0;
	case KEY_BUDGET:
		if (!frame_budgets_parse(&arguments->budgets, arg))
			argp_error(state, "--budget: use times and COUNTER=NUMBER, separated by commas, such as "
				   "16.7ms,MaliFragActiveCy=8e6, not \"%s\"", arg);
		return 0;
	case KEY_TIME:
		if (!parse_times(arg, &arguments->from_ns, &arguments->until_ns))
			argp_error(state, "--time: use [FROM],[UNTIL] with FROM before UNTIL, such as 1.5s,2s, not \"%s\"", arg);
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->input)
			argp_error(state, "unexpected argument: %s", arg);
		arguments->input = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->html && (arguments->json || arguments->output || arguments->per_block || arguments->topdown))
			argp_error(state, "--html cannot be combined with -b, -j, -o or -t");
		if (arguments->html && (arguments->frames || arguments->jobs || arguments->csv))
			argp_error(state, "--html cannot be combined with --frames, --jobs or --csv");
		if (arguments->csv && arguments->frames && arguments->jobs)
			argp_error(state, "--csv cannot be combined with both --frames and --jobs");
		if (arguments->csv && (arguments->json || arguments->topdown || arguments->per_block))
			argp_error(state, "--csv cannot be combined with -b, -j or -t");
		if (!arguments->input)
			arguments->input = RECORDING_DEFAULT;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static void print_plain(FILE *out, struct view *v, const struct summaries *s, const struct arguments *arguments,
			const struct frame_report *frames, const struct job_report *jobs)
{
	report_print_head(out, v, s);
	report_show_figures(out, v, s);
	if (jobs)
		job_report_print(out, jobs);
	if (frames)
		frame_report_print(out, frames);
	if (arguments->topdown)
		report_show_topdown(out, v, s);
	else if (!arguments->frames && !arguments->jobs)
		report_show_counters(out, v, s, arguments->per_block);
	if (arguments->frames && !arguments->topdown)
		frame_report_print_counters(out, frames);
	if (arguments->jobs && !arguments->topdown)
		job_report_print_counters(out, jobs);
	if (frames)
		frame_report_print_breaks(out, frames, "-j");
}

/* Page is NULL for none. Broken becomes whether a frame is over a budget. Returns a status. */
static int report(FILE *out, struct view *v, const struct summaries *s, const struct arguments *arguments, struct page *page,
		  bool *broken)
{
	struct frame_report *frames = NULL;
	struct job_report *jobs = NULL;
	int status = STATUS_OK;

	if (arguments->topdown && !s->topdown) {
		complain("%s lacks some of the counters that top-down needs. Record without -e, or with -a", v->path);
		return STATUS_USAGE;
	}
	if (!v->has_jobs && arguments->jobs) {
		complain("%s has no jobs. Record with --jobs", v->path);
		return STATUS_USAGE;
	}
	if (!v->frames.count && (arguments->frames || (arguments->csv && !arguments->jobs) || arguments->budgets.count)) {
		complain("%s has no frames. Programs have frames if they call pperf_frame(): see libpanthor-perf(3)", v->path);
		return STATUS_USAGE;
	}
	if (v->frames.count)
		status = frame_report_new(v, s, arguments->frames || arguments->json, &arguments->budgets,
					  arguments->csv && !arguments->jobs ? out : NULL, &frames);
	if (!status && v->has_jobs)
		status = job_report_new(v, s, arguments->jobs || arguments->json, &jobs);
	if (status)
		goto out;

	if (page)
		status = html_print(out, page, frames, jobs);
	else if (arguments->json)
		report_show_json(out, v, s, frames ? frame_report_json(frames, true) : NULL,
				 jobs ? job_report_json(jobs) : NULL);
	else if (arguments->csv && arguments->jobs)
		job_report_print_csv(out, jobs);
	else if (!arguments->csv)
		print_plain(out, v, s, arguments, frames, jobs);
	*broken = frames && frame_report_breaks(frames);
out:
	frame_report_free(frames);
	job_report_free(jobs);
	return status;
}

int command_report(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[FILE]",
		"Summarizes each counter and metric of a recording: counts as rates, ratios as they are, and both over time.", NULL, NULL, NULL
	};
	struct arguments arguments = { .until_ns = UINT64_MAX };
	struct summary_lines lines = { .begin = html_begin, .task = html_task };
	enum summary_depth depth;
	struct summaries summaries;
	struct page *page = NULL;
	struct output output;
	bool broken = false;
	struct view view;
	int status;

	if (argp_parse(&argp, argc, argv, 0, NULL, &arguments))
		return complain_of_memory();
	setlocale(LC_CTYPE, "");

	status = view_open(&view, arguments.input);
	if (!status && arguments.region)
		status = view_choose_region(&view, arguments.region);
	if (!status && (arguments.from_ns || arguments.until_ns != UINT64_MAX))
		view_choose_time(&view, arguments.from_ns, arguments.until_ns);
	if (!status)
		status = view_read_jobs(&view);
	if (status)
		goto out;
	depth = arguments.topdown && !arguments.json ? SUMMARY_SUMS : SUMMARY_SAMPLES;
	if (arguments.html) {
		lines.context = page = html_new(&view);
		if (!page) {
			complain("out of memory");
			status = STATUS_FAILED;
			goto out;
		}
	}
	status = summarize(&view, arguments.events, arguments.num_events, depth, page ? &lines : NULL, &summaries);
	if (status)
		goto out;
	if (view.regions.num_marks)
		status = view_sum_regions(&view);
	if (!status)
		status = output_open(&output, page ? arguments.html : arguments.output, false);
	if (!status)
		status = output_close(&output, report(output.file, &view, &summaries, &arguments, page, &broken));
	if (!status && broken)
		status = STATUS_FAILED;
	summaries_free(&summaries);
out:
	html_free(page);
	view_close(&view);
	frame_budgets_free(&arguments.budgets);
	free(arguments.events);
	return status;
}
