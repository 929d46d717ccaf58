// SPDX-License-Identifier: MIT
/*
 * ledger-sums   adds up what a ledger has of each counter
 *
 *   ledger-sums LEDGER WORDS FW CSG CSHW TILER MEMSYS SHADER_PRESENT FIRST LAST [TYPE.COUNTER]...
 *
 * WORDS is the number of values of a block; FW to MEMSYS are numbers of blocks; shader cores are at
 * the positions of SHADER_PRESENT's bits, and are numbered without the gaps, as the kernel does.
 * Records of the enable epochs FIRST to LAST are added; if they are EPOCH.INSERT, as the
 * driver's tracepoints have it, those that were written after INSERT was FIRST, until it was LAST. Prints lines of type, block, counter, sum.
 * With TYPE.COUNTER, as CSHW.4, it prints a line after each record instead: how many there were, and
 * for each such counter the sum so far, over all blocks.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ledger.h"

#define MAX_WORDS 128
#define MAX_BLOCKS 64
#define FIRST_COUNTER 4
#define MAX_CHOSEN 16

static const char *const names[LEDGER_TYPES] = { "", "FW", "CSG", "CSHW", "TILER", "MEMSYS", "SHADER" };

static uint64_t sums[LEDGER_TYPES][MAX_BLOCKS][MAX_WORDS];

static uint64_t number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "ledger-sums: %s is no number\n", text);
		exit(2);
	}
	return n;
}

/* An epoch and an INSERT in it, @insert if the text has none, as a number that grows. */
static uint64_t place(const char *text, uint32_t insert)
{
	char epoch[16];
	size_t length = strcspn(text, ".");

	if (!text[length])
		return number(text) << 32 | insert;
	snprintf(epoch, sizeof(epoch), "%.*s", (int)length, text);
	return number(epoch) << 32 | number(text + length + 1);
}

static void add(const struct ledger_layout *layout, const struct ledger_record *r)
{
	for (int t = LEDGER_FW; t < LEDGER_TYPES; t++)
		for (unsigned int i = 0; i < layout->count[t]; i++)
			for (unsigned int w = FIRST_COUNTER; w < layout->words; w++)
				sums[t][i][w] += ledger_word(layout, r, t, i, w);
}

/* A counter that is told after each record. */
static struct chosen {
	int type;
	unsigned int counter;
} chosen[MAX_CHOSEN];

static struct chosen parse_counter(const struct ledger_layout *layout, const char *text)
{
	const char *dot = strchr(text, '.');
	struct chosen c;

	for (c.type = LEDGER_FW; c.type < LEDGER_TYPES; c.type++)
		if (dot && strlen(names[c.type]) == (size_t)(dot - text) && !strncmp(names[c.type], text, dot - text))
			break;
	if (c.type == LEDGER_TYPES) {
		fprintf(stderr, "ledger-sums: '%s' is no TYPE.COUNTER\n", text);
		exit(2);
	}
	c.counter = number(dot + 1);
	if (c.counter < FIRST_COUNTER || c.counter >= layout->words) {
		fprintf(stderr, "ledger-sums: '%s': no block has such a counter\n", text);
		exit(2);
	}
	return c;
}

static void print_chosen(unsigned int records, int count)
{
	printf("%u", records);
	for (int i = 0; i < count; i++) {
		uint64_t sum = 0;

		for (unsigned int b = 0; b < MAX_BLOCKS; b++)
			sum += sums[chosen[i].type][b][chosen[i].counter];
		printf(" %" PRIu64, sum);
	}
	putchar('\n');
}

/* The metadata block is known by a sample that is longer by it. */
static void check_size(struct ledger_layout *layout, const struct ledger_record *r)
{
	layout->count[LEDGER_META] = 0;
	if (ledger_sample_size(layout) != r->size)
		layout->count[LEDGER_META] = 1;
	if (ledger_sample_size(layout) == r->size)
		return;
	fprintf(stderr, "ledger-sums: a record has %u bytes, and not %zu\n", r->size, ledger_sample_size(layout));
	exit(2);
}

int main(int argc, char **argv)
{
	struct ledger_layout layout = {};
	struct ledger_record record;
	uint64_t present, first, last;
	unsigned int records = 0;
	struct ledger *ledger;
	int ret;

	if (argc < 11 || argc > 11 + MAX_CHOSEN) {
		fprintf(stderr, "usage: ledger-sums LEDGER WORDS FW CSG CSHW TILER MEMSYS SHADER_PRESENT FIRST LAST [TYPE.COUNTER]...\n");
		return 2;
	}
	layout.words = number(argv[2]);
	for (int t = LEDGER_FW; t < LEDGER_SHADER; t++)
		layout.count[t] = number(argv[2 + t]);
	present = number(argv[8]);
	first = place(argv[9], 0);
	last = place(argv[10], UINT32_MAX);
	layout.count[LEDGER_SHADER] = present ? 64 - __builtin_clzll(present) : 0;
	if (layout.words > MAX_WORDS) {
		fprintf(stderr, "ledger-sums: no block has %u values\n", layout.words);
		return 2;
	}
	for (int i = 11; i < argc; i++)
		chosen[i - 11] = parse_counter(&layout, argv[i]);

	ledger = ledger_open(argv[1]);
	if (!ledger)
		return 2;
	while ((ret = ledger_next(ledger, &record)) > 0) {
		uint64_t at = (uint64_t)record.epoch << 32 | record.insert;

		if (ledger_no_room(&record) || at < first || at >= last)
			continue;
		check_size(&layout, &record);
		add(&layout, &record);
		if (argc > 11)
			print_chosen(++records, argc - 11);
	}
	ledger_close(ledger);
	if (ret)
		return 2;
	if (argc > 11)
		return 0;

	for (int t = LEDGER_FW; t < LEDGER_TYPES; t++) {
		for (unsigned int i = 0, n = 0; i < layout.count[t]; i++) {
			if (t == LEDGER_SHADER && !(present >> i & 1))
				continue;
			for (unsigned int w = FIRST_COUNTER; w < layout.words; w++)
				printf("%s %u %u %" PRIu64 "\n", names[t], n, w, sums[t][i][w]);
			n++;
		}
	}
	return 0;
}
