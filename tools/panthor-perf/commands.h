/* SPDX-License-Identifier: MIT */
/* The subcommands: each takes its own arguments, argv[0] being for messages, and returns an exit status. */
#ifndef PANTHOR_PERF_COMMANDS_H
#define PANTHOR_PERF_COMMANDS_H

int command_info(int argc, char **argv);
int command_list(int argc, char **argv);
int command_stat(int argc, char **argv);

/* Exit statuses of panthor-perf itself; stat has those of its command as well. */
#define STATUS_FAILED 1
#define STATUS_USAGE 2

#endif
