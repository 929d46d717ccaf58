// SPDX-License-Identifier: MIT
/* panthor-perf report */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#include "commands.h"
#include "common.h"
#include "html.h"
#include "report.h"
#include "view.h"

struct arguments {
	const char *input;
	const char *output;

	/* Where a page goes, instead of all else. */
	const char *html;

	/* NULL for the whole recording. */
	const char *region;

	char **events;
	unsigned int num_events;
	bool per_block;
	bool topdown;
	bool json;
};

enum { KEY_HTML = 256, KEY_REGION };

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0, "Show these counters and metrics, named as for stat (may be repeated; default: all "
	  "recorded ones)", 0 },
	{ "per-block", 'b', NULL, 0, "Show each block's part of each count", 0 },
	{ "topdown", 't', NULL, 0, "Show what limited performance instead of counters", 0 },
	{ "region", KEY_REGION, "NAME", 0, "Report on one region only, by the name given to mark", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "html", KEY_HTML, "PAGE", 0, "Write an HTML page that works offline; - is standard output", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard output", 0 },
	{}
};

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
	case ARGP_KEY_ARG:
		if (arguments->input)
			argp_error(state, "unexpected argument: %s", arg);
		arguments->input = arg;
		return 0;
	case ARGP_KEY_END:
		if (arguments->html && (arguments->json || arguments->output || arguments->per_block || arguments->topdown))
			argp_error(state, "--html cannot be combined with -b, -j, -o or -t");
		if (!arguments->input)
			arguments->input = RECORDING_DEFAULT;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int report(FILE *out, struct view *v, const struct summaries *s, const struct arguments *arguments)
{
	if (arguments->topdown && !s->topdown) {
		complain("%s lacks some of the counters that top-down needs. Record without -e, or with -a", v->path);
		return STATUS_USAGE;
	}

	if (arguments->json) {
		report_show_json(out, v, s);
		return STATUS_OK;
	}
	report_print_head(out, v, s);
	report_show_figures(out, v, s);
	if (arguments->topdown)
		report_show_topdown(out, v, s);
	else
		report_show_counters(out, v, s, arguments->per_block);
	return STATUS_OK;
}

int command_report(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[FILE]",
		"Summarizes each counter and metric of a recording: counts as rates, ratios as they are, and both over time.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	enum summary_depth depth;
	struct summaries summaries;
	struct output output;
	struct view view;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	setlocale(LC_CTYPE, "");

	status = view_open(&view, arguments.input, true);
	if (!status && arguments.region)
		status = view_choose_region(&view, arguments.region);
	if (status)
		goto out;
	/* Top-down needs no more than one look at each sample, JSON has all in any case. */
	depth = arguments.topdown && !arguments.json ? SUMMARY_SUMS : SUMMARY_SAMPLES;
	if (arguments.html)
		depth = SUMMARY_LINES;
	status = summarize(&view, arguments.events, arguments.num_events, depth, &summaries);
	if (status)
		goto out;
	if (view.regions.num_marks)
		status = view_sum_regions(&view);
	if (!status)
		status = output_open(&output, arguments.html ? arguments.html : arguments.output, false);
	if (!status)
		status = output_close(&output, arguments.html ? html_print(output.file, &view, &summaries) :
				      report(output.file, &view, &summaries, &arguments));
	summaries_free(&summaries);
out:
	view_close(&view);
	free(arguments.events);
	return status;
}
