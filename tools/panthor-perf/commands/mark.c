// SPDX-License-Identifier: MIT
/* panthor-perf mark: names what happens from now on, in all that is recorded. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <string.h>

#include <mark.h>

#include "commands.h"
#include "common.h"
#include "text.h"

/* A recorder takes marks at once, unless it was stopped, or the machine has no time for it. */
#define TIMEOUT_MS 1000

struct arguments {
	const char *name, *socket;
	bool end;
};

enum { KEY_SOCKET = 256, KEY_END };

static const struct argp_option options[] = {
	{ "end", KEY_END, NULL, 0, "End the current region without beginning another", 0 },
	{ "socket", KEY_SOCKET, "PATH", 0, "Send the mark to the recorder at this socket only", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case KEY_END:
		arguments->end = true;
		return 0;
	case KEY_SOCKET:
		arguments->socket = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (arguments->name)
			argp_error(state, "unexpected argument: %s", arg);
		arguments->name = arg;
		return 0;
	case ARGP_KEY_END:
		if (!arguments->name == !arguments->end)
			argp_error(state, "use either NAME or --end");
		if (arguments->name && !pperf_text_is_clean(arguments->name))
			argp_error(state, "the name must be UTF-8 without control characters");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int command_mark(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "NAME | --end",
		"Begins a named region in all running recordings. It lasts until the next mark of any program. "
		"Without a running recording, this does nothing.", NULL, NULL, NULL
	};
	struct arguments arguments = {};
	unsigned int missed = 0;
	enum pperf_error error;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	error = pperf_mark_send(arguments.socket, arguments.name, TIMEOUT_MS, &missed);
	if (error)
		return complain_of(error);
	/* No failure of the script that this is in. */
	if (missed)
		complain("%u recorder%s did not receive the mark", missed, missed == 1 ? "" : "s");
	return STATUS_OK;
}
