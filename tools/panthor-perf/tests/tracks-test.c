// SPDX-License-Identifier: MIT
/* How values of tracks are rounded: as with the functions of the math library, bit by bit. Prints TAP. */
#include "../output/tracks.c"

#include <inttypes.h>
#include <stdio.h>

#define NUMBERS 1000000

static unsigned int tests;
static int failed;

static uint64_t random_bits(void)
{
	static uint64_t state = 1;
	uint64_t high;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	high = state >> 32;
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return high << 32 | state >> 32;
}

/* Of as many bits as comes, from none to all. */
static uint64_t random_number(void)
{
	unsigned int bits = random_bits() % 65;

	return bits ? random_bits() >> (64 - bits) : 0;
}

static double slow_multiple_of(double number, int exponent)
{
	return ldexp(nearbyint(ldexp(number, -exponent)), exponent);
}

static double slow_rate_of(uint64_t count, uint64_t length_ns)
{
	double one = 1e9 / length_ns;

	return slow_multiple_of(count * one, ilogb(one) - 2);
}

static double slow_rounded(const struct track *track, double number)
{
	if (track->unit == PERCENT && !track->per)
		return slow_multiple_of(number, -7);
	return number ? slow_multiple_of(number, ilogb(number) - 20) : 0;
}

static void result(const char *name, uint64_t different, const char *first)
{
	failed |= different != 0;
	printf("%s %u - %s\n", different ? "not ok" : "ok", ++tests, name);
	if (different)
		printf("# %" PRIu64 " of %u differ, the first: %s\n", different, NUMBERS, first);
}

static void test_rates(void)
{
	uint64_t count, length_ns, different = 0, n;
	double fast, slow;
	char first[160];

	for (n = 0; n < NUMBERS; n++) {
		count = random_number();
		/* A period of a recording, or anything. */
		length_ns = n % 2 ? 1000000 : random_number() | 1;
		fast = rate_of(count, length_ns);
		slow = slow_rate_of(count, length_ns);
		if (bits_of(fast) != bits_of(slow) && !different++)
			snprintf(first, sizeof(first), "%" PRIu64 " in %" PRIu64 " ns: %a instead of %a", count, length_ns, fast, slow);
	}
	result("a rate is that of the math library", different, first);
}

/* Numbers with an exponent that a metric can have, and those halfway between two that are kept. */
static void test_metrics(const char *name, const struct track *track)
{
	uint64_t bits, different = 0, n;
	double number, fast, slow;
	char first[160];

	for (n = 0; n < NUMBERS; n++) {
		bits = random_bits();
		if (n % 2)
			bits = bits >> 31 << 31 | 1ull << 31;
		/* From 2^-100 to 2^100, of either sign, and 0. */
		number = n ? ldexp(from_bits((bits & ~(0x7ffull << 52)) | 0x3ffull << 52), (int)(random_bits() % 201) - 100) : 0;
		fast = rounded(track, number);
		slow = slow_rounded(track, number);
		if (bits_of(fast) != bits_of(slow) && !different++)
			snprintf(first, sizeof(first), "%a: %a instead of %a", number, fast, slow);
	}
	result(name, different, first);
}

int main(void)
{
	const struct track percent = { .unit = PERCENT }, other = {};

	test_rates();
	test_metrics("so is a part in percent", &percent);
	test_metrics("and any other number", &other);
	printf("1..%u\n", tests);
	return failed;
}
