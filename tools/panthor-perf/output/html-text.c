// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "html-text.h"

#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"
#include "text.h"

/* Of a line, such as a command that is a whole script. */
#define MAX_LINE 2000

void html_escape(FILE *out, const char *text)
{
	char *copy = strdup(text), *at = copy;

	if (!copy)
		return;
	pperf_text_clean(copy);
	for (; *at; at++) {
		switch (*at) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		case '\'':
			fputs("&#39;", out);
			break;
		default:
			fputc(*at, out);
		}
	}
	free(copy);
}

/* Cuts a line that is too long, between two characters. */
static void shorten(char *line)
{
	char *end = line + MAX_LINE;

	if (strlen(line) <= MAX_LINE + strlen("..."))
		return;
	while ((*end & 0xc0) == 0x80)
		end--;
	strcpy(end, "...");
}

void html_lines(FILE *out, char *text)
{
	char *line;

	while ((line = strsep(&text, "\n"))) {
		if (!*line)
			continue;
		shorten(line);
		fputs("<p>", out);
		html_escape(out, line);
		fputs("</p>\n", out);
	}
}

struct json_object *html_get(struct json_object *object, const char *key)
{
	struct json_object *value;

	return json_object_object_get_ex(object, key, &value) ? value : NULL;
}

const char *html_get_text(struct json_object *object, const char *key)
{
	struct json_object *value = html_get(object, key);

	return value ? json_object_get_string(value) : "";
}

void html_value(FILE *out, struct json_object *value)
{
	fprintf(out, " data-v=\"%s\"", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
}

void html_cell(FILE *out, struct json_object *value, const char *unit)
{
	char text[32];

	if (!value) {
		fputs("<td></td>", out);
		return;
	}
	fputs("<td", out);
	html_value(out, value);
	if (!strcmp(unit, "%"))
		fprintf(out, ">%.1f %%</td>", 100 * json_object_get_double(value));
	else if (!strcmp(unit, "s"))
		fprintf(out, ">%.6f s</td>", json_object_get_double(value));
	else if (*unit)
		fprintf(out, ">%s</td>", scaled(json_object_get_double(value), unit, text, sizeof(text)));
	else
		fprintf(out, ">%s</td>", grouped(json_object_get_uint64(value), text));
}
