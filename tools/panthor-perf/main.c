// SPDX-License-Identifier: MIT
/* panthor-perf - performance counters of Arm Mali GPUs */
#define _GNU_SOURCE
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "gpu.h"

const char *argp_program_version = "panthor-perf 0.1";

static const char doc[] =
	"Performance counters of Arm Mali GPUs with the panthor driver."
	"\v"
	"Commands:\n"
	"  info   what the GPU can count\n"
	"  list   names of the counters\n"
	"  stat   count while a command runs\n"
	"\n"
	"'panthor-perf COMMAND --help' tells more of each.";

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "info", command_info },
	{ "list", command_list },
	{ "stat", command_stat },
};

struct arguments {
	int first;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	(void)arg;
	switch (key) {
	case ARGP_KEY_ARG:
		arguments->first = state->next - 1;
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_usage(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
	static const struct argp argp = { NULL, parse, "COMMAND [ARGUMENT...]", doc, NULL, NULL, NULL };
	struct arguments arguments = {};
	char name[64];
	size_t i;
	int n;

	argp_err_exit_status = STATUS_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);

	n = arguments.first;
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[n], commands[i].name))
			continue;
		/* So that messages and usage say "panthor-perf stat". */
		snprintf(name, sizeof(name), "panthor-perf %s", commands[i].name);
		argv[n] = name;
		return commands[i].run(argc - n, argv + n);
	}

	complain("there is no command \"%s\"; there are info, list and stat", argv[n]);
	return STATUS_USAGE;
}
