/* SPDX-License-Identifier: MIT */
/* Recordings as databases of SQLite. */
#ifndef PANTHOR_PERF_SQLITE_H
#define PANTHOR_PERF_SQLITE_H

#include "view.h"

/* Prints the statements that make the tables and views of a recording. Returns a status. */
int sqlite_print_schema(const struct view *view, FILE *out);

/* Writes all of a recording into an empty file. Prints what is wrong. Returns a status. */
int sqlite_convert(struct view *view, const char *path);

#endif
