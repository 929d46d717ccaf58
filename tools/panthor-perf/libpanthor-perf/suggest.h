/* SPDX-License-Identifier: MIT */
/* Names that somebody who mistyped one may have meant. */
#ifndef PPERF_SUGGEST_H
#define PPERF_SUGGEST_H

#include <stddef.h>

#define PPERF_SUGGESTIONS 3

/* Begin with { .wrong = NAME }. The names are not copied. */
struct pperf_suggestions {
	const char *wrong;

	/* The nearest names, the best first. */
	const char *names[PPERF_SUGGESTIONS];
	unsigned int distances[PPERF_SUGGESTIONS];
	unsigned int count;
};

/* Remember a name if it is one of the nearest. */
void pperf_suggest(struct pperf_suggestions *suggestions, const char *name);

/* Return "Did you mean A, B or C?", or the other text if no name is near. */
const char *pperf_suggestion(const struct pperf_suggestions *suggestions, const char *otherwise, char *buffer, size_t size);

#endif
