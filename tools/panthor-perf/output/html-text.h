/* SPDX-License-Identifier: MIT */
/* Text of a page for a browser, and values of report's JSON in it. */
#ifndef PANTHOR_PERF_HTML_TEXT_H
#define PANTHOR_PERF_HTML_TEXT_H

#include <stdio.h>

struct json_object;

void html_escape(FILE *out, const char *text);

/* Lines, each a paragraph. One that is too long is cut: a page's size does not depend on it. */
void html_lines(FILE *out, char *text);

/* NULL or "" if the object has none. */
struct json_object *html_get(struct json_object *object, const char *key);
const char *html_get_text(struct json_object *object, const char *key);

/* A number as it is in JSON, as an attribute. */
void html_value(FILE *out, struct json_object *value);

/* The same as a cell of a table: a number of a unit, a part in "%", a time in "s", a count in "". NULL is an empty cell. */
void html_cell(FILE *out, struct json_object *value, const char *unit);

#endif
