// SPDX-License-Identifier: MIT
/* The tables in data/, which are part of the library, and their reader. */
#include <string.h>

#include "internal.h"

/* The assembler finds the file from the -I directory that has the library's header. */
#define EMBED(name, file)							\
	__asm__(".pushsection .rodata\n"					\
		".global " #name "\n"						\
		".hidden " #name "\n"						\
		#name ": .incbin \"../libpanthor-perf/../data/" file "\"\n"	\
		".byte 0\n"							\
		".popsection\n")

EMBED(pperf_products_csv, "products.csv");
EMBED(pperf_hw_counters_csv, "hw_counters.csv");
EMBED(pperf_derived_counters_csv, "derived_counters.csv");
EMBED(pperf_topdown_csv, "topdown.csv");

/* Reads one field in place, and returns the character that ended it. */
static char csv_field(char **text, char **field)
{
	char *in = *text, *out, end;

	if (*in == '"') {
		out = ++in;
		*field = out;
		for (; *in && (*in != '"' || in[1] == '"'); in++) {
			if (*in == '"')
				in++;
			*out++ = *in;
		}
		if (*in)
			in++;
		end = *in;
		*out = 0;
	} else {
		*field = in;
		in += strcspn(in, ",\n");
		end = *in;
		*in = 0;
	}

	*text = end ? in + 1 : in;
	return end;
}

unsigned int pperf_csv_row(char **text, char **fields, unsigned int max)
{
	unsigned int n = 0;
	char *ignored, end;

	while (**text == '#' || **text == '\n') {
		*text += strcspn(*text, "\n");
		*text += **text == '\n';
	}

	if (!**text)
		return 0;

	do {
		end = csv_field(text, n < max ? &fields[n] : &ignored);
		n++;
	} while (end == ',');

	return n;
}
