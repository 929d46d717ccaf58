// SPDX-License-Identifier: MIT
#include "text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* U+FFFD, the character for what is none. */
#define REPLACEMENT "\xef\xbf\xbd"

size_t pperf_text_character(const char *text)
{
	/* Characters of so many bytes are from here on: a smaller one has a shorter form, which alone is valid. */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const uint8_t *at = (const uint8_t *)text;
	size_t size = *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : 2, i;
	uint32_t code;

	if (*at < 0x80)
		return *at ? 1 : 0;
	if (*at < 0xc0 || *at >= 0xf8)
		return 0;

	code = *at & (0x7f >> size);
	for (i = 1; i < size; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (at[i] & 0x3f);
	}
	/* Half of a pair of UTF-16 is no character. */
	if (code < least[size] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return size;
}

static bool is_control(const char *text, size_t size)
{
	if (size == 1)
		return (uint8_t)*text < ' ' || *text == 0x7f;
	return size == 2 && (uint8_t)text[0] == 0xc2 && (uint8_t)text[1] < 0xa0;
}

void pperf_text_clean(char *text)
{
	char *to = text;
	size_t size;

	while (*text) {
		size = pperf_text_character(text);
		if (!size || is_control(text, size)) {
			*to++ = '?';
			text += size ? size : 1;
			continue;
		}
		memmove(to, text, size);
		to += size;
		text += size;
	}
	*to = 0;
}

bool pperf_text_is_clean(const char *text)
{
	size_t size;

	for (; *text; text += size) {
		size = pperf_text_character(text);
		if (!size || is_control(text, size))
			return false;
	}
	return true;
}

char *pperf_text_utf8(const char *text)
{
	char *copy = malloc(strlen(text) * strlen(REPLACEMENT) + 1), *to = copy;
	size_t size;

	if (!copy)
		return NULL;
	while (*text) {
		size = pperf_text_character(text);
		if (size) {
			memcpy(to, text, size);
			to += size;
			text += size;
		} else {
			memcpy(to, REPLACEMENT, strlen(REPLACEMENT));
			to += strlen(REPLACEMENT);
			text++;
		}
	}
	*to = 0;
	return copy;
}
