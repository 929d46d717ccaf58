// SPDX-License-Identifier: MIT
/*
 * ledger-sum WORDS SLICES POSITIONS LEDGER - sums a ledger of the virtual Mali up
 *
 * Prints "BLOCK INDEX COUNTER SUM" of every counter of the hardware's blocks over
 * all samples, in the order of panthor-perf: CSHW, TILER, MEMSYS and SHADER, a
 * shader core by its number among those there are. WORDS are those of a block
 * (64, 128), SLICES the L2 cache's, POSITIONS the mask of shader cores.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ledger.h"

#define HEADER_WORDS	4

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (!n || *end) {
		fprintf(stderr, "ledger-sum: '%s' is not a number above 0\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	static const char * const names[] = {
		[LEDGER_CSHW] = "CSHW", [LEDGER_TILER] = "TILER",
		[LEDGER_MEMSYS] = "MEMSYS", [LEDGER_SHADER] = "SHADER",
	};
	struct ledger_layout layout = { .count = { [LEDGER_CSHW] = 1, [LEDGER_TILER] = 1 } };
	uint64_t cores, *sums;
	struct ledger_record r;
	struct ledger *l;
	size_t blocks, n;
	int found;

	if (argc != 5) {
		fprintf(stderr, "usage: ledger-sum WORDS SLICES POSITIONS LEDGER\n");
		return 2;
	}
	layout.words = number(argv[1]);
	layout.count[LEDGER_MEMSYS] = number(argv[2]);
	cores = number(argv[3]);
	layout.count[LEDGER_SHADER] = 64 - __builtin_clzll(cores);
	blocks = 2 + layout.count[LEDGER_MEMSYS] + layout.count[LEDGER_SHADER];
	sums = calloc(blocks * layout.words, sizeof(*sums));
	l = ledger_open(argv[4]);
	if (!sums || !l)
		return 1;
	while ((found = ledger_next(l, &r)) > 0) {
		const uint8_t *p;

		if (ledger_no_room(&r))
			continue;
		/* What firmware says of itself and of groups is before the hardware's blocks. */
		if (r.size < blocks * layout.words * 4) {
			fprintf(stderr, "ledger-sum: a sample of %" PRIu32 " bytes is too small\n", r.size);
			return 1;
		}
		p = r.blocks + r.size - blocks * layout.words * 4;
		for (size_t i = 0; i < blocks * layout.words; i++, p += 4)
			sums[i] += p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24;
	}
	ledger_close(l);
	if (found < 0)
		return 1;

	n = 0;
	for (unsigned int type = LEDGER_CSHW; type <= LEDGER_SHADER; type++) {
		unsigned int index = 0;

		for (unsigned int i = 0; i < layout.count[type]; i++, n += layout.words) {
			if (type == LEDGER_SHADER && !(cores >> i & 1))
				continue;
			for (unsigned int w = HEADER_WORDS; w < layout.words; w++)
				printf("%s %u %u %" PRIu64 "\n", names[type], index, w, sums[n + w]);
			index++;
		}
	}
	return 0;
}
