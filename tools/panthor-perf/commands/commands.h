/* SPDX-License-Identifier: MIT */
/* The subcommands. */
#ifndef PANTHOR_PERF_COMMANDS_H
#define PANTHOR_PERF_COMMANDS_H

#include <panthor-perf.h>

/* What --version says: the makefile knows more of it than the library's version, such as the last commit. */
#ifndef PANTHOR_PERF_VERSION
#define PANTHOR_PERF_VERSION PPERF_VERSION
#endif

/* What record writes and the others read if no file is named. */
#define RECORDING_DEFAULT "panthor-perf.data"

/* Each takes its own arguments, argv[0] being for messages, and returns an exit status. */
int command_doctor(int argc, char **argv);
int command_export(int argc, char **argv);
int command_info(int argc, char **argv);
int command_list(int argc, char **argv);
int command_stat(int argc, char **argv);
int command_selftest(int argc, char **argv);
int command_streamline(int argc, char **argv);
int command_mark(int argc, char **argv);
int command_record(int argc, char **argv);
int command_report(int argc, char **argv);
int command_convert(int argc, char **argv);
int command_diff(int argc, char **argv);
int command_top(int argc, char **argv);

/* Prints what --debug of info does, and returns a status. */
int debug_info(const char *device);

#endif
