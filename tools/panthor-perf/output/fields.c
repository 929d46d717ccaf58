// SPDX-License-Identifier: MIT
#include "fields.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include <json-c/json.h>

#include "recording.h"

void json_add_double(struct json_object *object, const char *key, double value)
{
	json_object_object_add(object, key, isfinite(value) ? json_object_new_double(value) : NULL);
}

void json_add_count(struct json_object *object, const char *key, uint64_t count)
{
	json_object_object_add(object, key, json_object_new_uint64(count));
}

void json_add_cpu(struct json_object *object, uint32_t cpu)
{
	json_object_object_add(object, "cpu", cpu == RECORDING_NO_CPU ? NULL : json_object_new_uint64(cpu));
}

void json_add_text(struct json_object *object, const char *key, const char *text)
{
	json_object_object_add(object, key, json_object_new_string(text));
}

void csv_text(FILE *out, const char *text)
{
	bool quoted = text[strcspn(text, ",\"")];

	for (fputs(quoted ? "\"" : "", out); *text; text++)
		fputs(*text == '"' ? "\"\"" : (char[]){ *text, 0 }, out);
	fputs(quoted ? "\"" : "", out);
}

void csv_number(FILE *out, double value)
{
	if (isnan(value))
		fputc(',', out);
	else
		fprintf(out, ",%.*g", fabs(value) < 9007199254740992.0 && value == floor(value) ? 17 : 9, value);
}
