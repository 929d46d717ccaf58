// SPDX-License-Identifier: MIT
/* Numbers as people read them. Prints TAP. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common.h"

static unsigned int tests;
static int failed;

static void is(const char *what, const char *got, const char *want)
{
	bool good = !strcmp(got, want);

	printf("%sok %u - %s: %s\n", good ? "" : "not ", ++tests, what, want);
	if (!good)
		printf("# got: %s\n", got);
	failed |= !good;
}

int main(void)
{
	static const char *const counts[] = {
		"1", "10", "100", "1,000", "10,000", "100,000", "1,000,000", "10,000,000", "100,000,000", "1,000,000,000",
		"10,000,000,000", "100,000,000,000", "1,000,000,000,000", "10,000,000,000,000", "100,000,000,000,000",
		"1,000,000,000,000,000", "10,000,000,000,000,000", "100,000,000,000,000,000", "1,000,000,000,000,000,000",
		"10,000,000,000,000,000,000",
	};
	static const char *const texts[][2] = {
		{ "0", "0" }, { "-1", "-1" }, { "-1234", "-1,234" }, { "1234.5678", "1,234.5678" }, { "+999999.9", "+999,999.9" },
		{ "999", "999" }, { "-inf", "-inf" }, { "nan", "nan" }, { "", "" },
	};
	char buffer[64];
	uint64_t power = 1;
	size_t i;

	printf("1..%zu\n", 2 * sizeof(counts) / sizeof(counts[0]) + 1 + sizeof(texts) / sizeof(texts[0]) + 1);
	for (i = 0; i < sizeof(counts) / sizeof(counts[0]); i++, power *= 10) {
		is("a count", grouped(power, buffer), counts[i]);
		snprintf(buffer, sizeof(buffer), "%.0f", (double)power);
		group_digits(buffer, sizeof(buffer));
		is("a value", buffer, counts[i]);
	}
	is("the largest count", grouped(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		strcpy(buffer, texts[i][0]);
		group_digits(buffer, sizeof(buffer));
		is("a text", buffer, texts[i][1]);
	}
	snprintf(buffer, sizeof(buffer), "%d %d %d", widen(3, "1234"), widen(4, "1234"), widen(5, "1234"));
	is("a column", buffer, "4 4 5");
	return failed;
}
