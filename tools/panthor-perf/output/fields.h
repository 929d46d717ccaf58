/* SPDX-License-Identifier: MIT */
/* Fields of objects of JSON and of lines of CSV. */
#ifndef PANTHOR_PERF_FIELDS_H
#define PANTHOR_PERF_FIELDS_H

#include <stdint.h>
#include <stdio.h>

struct json_object;

/* Null unless it is finite. */
void json_add_double(struct json_object *object, const char *key, double value);
void json_add_count(struct json_object *object, const char *key, uint64_t count);

/* That of a gap: null is none. */
void json_add_cpu(struct json_object *object, uint32_t cpu);
void json_add_text(struct json_object *object, const char *key, const char *text);

/* In quotes, if that is needed. */
void csv_text(FILE *out, const char *text);

/* With the comma before it: all digits of a count, nothing for NAN. */
void csv_number(FILE *out, double value);

#endif
