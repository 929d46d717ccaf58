// SPDX-License-Identifier: MIT
/* panthor-perf - performance counters of Arm Mali GPUs */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include <suggest.h>

#include "commands.h"
#include "common.h"

const char *argp_program_version = "panthor-perf " PANTHOR_PERF_VERSION;

/* A command a line, in the order in which they are listed. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *what;
} commands[] = {
	{ "info", command_info, "show what the GPU can count" },
	{ "list", command_list, "list counters and metrics" },
	{ "stat", command_stat, "count while a command runs" },
	{ "top", command_top, "show live GPU usage and its clients" },
	{ "record", command_record, "record samples to a file" },
	{ "mark", command_mark, "begin a named region in running recordings" },
	{ "report", command_report, "summarize a recording" },
	{ "convert", command_convert, "convert a recording to CSV, JSON or a Perfetto trace" },
	{ "diff", command_diff, "compare two recordings" },
	{ "streamline", command_streamline, "write configuration files for Arm Streamline" },
	{ "export", command_export, "export counters and metrics to Prometheus" },
	{ "doctor", command_doctor, "diagnose setup problems" },
	{ "selftest", command_selftest, "test driver and firmware, and write a report" },
};

#define NUM_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void list_commands(FILE *out)
{
	size_t i;

	fprintf(out, "Commands:\n");
	for (i = 0; i < NUM_COMMANDS; i++)
		fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].what);
	fprintf(out, "\nRun 'panthor-perf COMMAND --help' for details.\n");
}

/* The list of commands, behind the options in the text of --help. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)text;
	out = open_memstream(&list, &size);
	if (!out)
		return NULL;
	list_commands(out);
	fclose(out);
	return list;
}

struct arguments {
	int first;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	arguments->first = state->next - 1;
	state->next = state->argc;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		NULL, parse, "COMMAND [ARGUMENT...]",
		"Performance counters of Arm Mali GPUs driven by panthor.\v", NULL, help_filter, NULL
	};
	struct arguments arguments = {};
	struct pperf_suggestions near = {};
	char name[64], text[128];
	size_t i;
	int n;

	argp_err_exit_status = STATUS_USAGE;
	/* help, help stat and stat -h, as people type them. */
	if (argc > 1 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "-h")))
		argv[1] = (char *)"--help";
	if (argc > 2 && !strcmp(argv[1], "--help")) {
		argv[1] = argv[2];
		argv[2] = (char *)"--help";
	} else if (argc > 2 && !strcmp(argv[2], "-h")) {
		argv[2] = (char *)"--help";
	}
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);

	n = arguments.first;
	if (!n) {
		fprintf(stderr, "Usage: panthor-perf COMMAND [ARGUMENT...]\n\n");
		list_commands(stderr);
		return STATUS_USAGE;
	}

	for (i = 0; i < NUM_COMMANDS; i++) {
		if (strcmp(argv[n], commands[i].name))
			continue;
		/* So that messages and usage say "panthor-perf stat". */
		snprintf(name, sizeof(name), "panthor-perf %s", commands[i].name);
		argv[n] = name;
		return commands[i].run(argc - n, argv + n);
	}

	near.wrong = argv[n];
	for (i = 0; i < NUM_COMMANDS; i++)
		pperf_suggest(&near, commands[i].name);
	complain("unknown command \"%s\". %s", argv[n],
		 pperf_suggestion(&near, "Run panthor-perf help to list all commands.", text, sizeof(text)));
	return STATUS_USAGE;
}
