/* SPDX-License-Identifier: MIT */
/* Text that may come from anybody, for terminals and for JSON. */
#ifndef PPERF_TEXT_H
#define PPERF_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at the begin of a text, as UTF-8 has it; 0 if there is none, or the text has ended. */
size_t pperf_text_character(const char *text);

/*
 * Replaces by ? what could move a terminal's cursor or change what it shows: control characters, also those
 * of two bytes, and bytes that are no UTF-8.
 */
void pperf_text_clean(char *text);

/* Whether it would leave a text as it is. */
bool pperf_text_is_clean(const char *text);

/* A copy in which bytes that are no UTF-8 are U+FFFD, or NULL without memory. */
char *pperf_text_utf8(const char *text);

#endif
