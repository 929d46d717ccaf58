// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "suggest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Longer names are not compared. */
#define MAX_LENGTH 64

/* Kinds of likeness, the best first; within a kind, a smaller distance is better. */
#define DISTANCE_PREFIX 0x100
#define DISTANCE_EDITS 0x200
#define DISTANCE_PART 0x300
#define DISTANCE_FAR 0x400

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static unsigned int min(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* The number of characters to insert, remove, replace or swap with their neighbour, whatever their case. */
static unsigned int edits(const char *a, size_t a_length, const char *b, size_t b_length)
{
	unsigned int rows[3][MAX_LENGTH + 1], *before = rows[0], *last = rows[1], *row = rows[2], *free_row;
	size_t i, j;

	for (j = 0; j <= b_length; j++)
		last[j] = j;
	for (i = 1; i <= a_length; i++) {
		row[0] = i;
		for (j = 1; j <= b_length; j++) {
			row[j] = min(min(last[j], row[j - 1]) + 1, last[j - 1] + (lower(a[i - 1]) != lower(b[j - 1])));
			if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]))
				row[j] = min(row[j], before[j - 2] + 1);
		}
		free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return last[b_length];
}

static unsigned int distance(const char *wrong, const char *name)
{
	size_t length = strlen(wrong), other = strlen(name);
	unsigned int n;

	if (length < 2 || length > MAX_LENGTH || other > MAX_LENGTH)
		return DISTANCE_FAR;
	if (!strcasecmp(wrong, name))
		return 0;
	if (!strncasecmp(wrong, name, length))
		return DISTANCE_PREFIX + other - length;
	n = edits(wrong, length, name, other);
	if (n <= (length < 6 ? 1 : length / 3))
		return DISTANCE_EDITS + n;
	return length >= 4 && strcasestr(name, wrong) ? DISTANCE_PART + other - length : DISTANCE_FAR;
}

void pperf_suggest(struct pperf_suggestions *s, const char *name)
{
	unsigned int d = distance(s->wrong, name), i, n;

	for (i = 0; i < s->count && s->distances[i] <= d; i++)
		if (!strcmp(s->names[i], name))
			return;
	if (d == DISTANCE_FAR || i == PPERF_SUGGESTIONS)
		return;
	s->count += s->count < PPERF_SUGGESTIONS;
	for (n = s->count - 1; n > i; n--) {
		s->names[n] = s->names[n - 1];
		s->distances[n] = s->distances[n - 1];
	}
	s->names[i] = name;
	s->distances[i] = d;
}

const char *pperf_suggestion(const struct pperf_suggestions *s, const char *otherwise, char *buffer, size_t size)
{
	unsigned int i, count = 1;
	size_t length;

	if (!s->count)
		return otherwise;
	/* Any that begin with it, else those that are as near as the nearest. */
	while (count < s->count && (s->distances[count] == s->distances[0] || s->distances[count] / DISTANCE_PREFIX == 1) &&
	       s->distances[0])
		count++;
	length = snprintf(buffer, size, "Did you mean %s", s->names[0]);
	for (i = 1; i < count && length < size; i++)
		length += snprintf(buffer + length, size - length, "%s%s", i + 1 < count ? ", " : " or ", s->names[i]);
	if (length < size)
		snprintf(buffer + length, size - length, "?");
	return buffer;
}
