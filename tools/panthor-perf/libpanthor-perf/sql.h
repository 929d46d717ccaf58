/* SPDX-License-Identifier: MIT */
/* Equations as SQL, for the program, which has the library in it: no part of the library's interface. */
#ifndef PPERF_SQL_H
#define PPERF_SQL_H

#include "panthor-perf.h"

/*
 * A derived counter as an expression of SQLite, over columns that have the names of counters of hardware, and one of "seconds".
 * Its value is the library's for the same numbers, to the last digit, and NULL where there is none. To be freed by the caller;
 * NULL without memory.
 */
char *pperf_counter_sql(const struct pperf_db *db, const struct pperf_gpu_info *info, const struct pperf_counter *counter);

#endif
