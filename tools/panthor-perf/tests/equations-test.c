// SPDX-License-Identifier: MIT
/*
 * equations-test LAYOUT INPUTS   evaluates every equation of a layout on made-up counts
 *
 * What was counted goes to INPUTS, in the form that the program of equations.awk
 * reads; what the library makes of it to the standard output, in the form in
 * which that program prints.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests-common.h"

#define DRAWS 200

/* The same on every machine: xorshift. */
static uint64_t state = 88172645463325252ull;

static uint64_t draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Counts of all sizes, and often none. */
static uint64_t draw_count(void)
{
	unsigned int bits = draw() % 42;

	return bits < 6 ? draw() % 2 : draw() >> (64 - bits);
}

static void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, pperf_message());
	exit(1);
}

static void fill(struct fake *fake, const struct pperf_db *db, FILE *inputs)
{
	const struct pperf_counter *const *c;
	unsigned int block;
	uint64_t total, *value;
	size_t i, count;

	c = pperf_db_counters(db, &count);
	for (i = 0; i < count; i++) {
		if (!c[i]->type)
			continue;
		total = 0;
		for (block = 0; block < fake->info.blocks[c[i]->type]; block++) {
			value = fake_value(fake, c[i]->type, block, c[i]->index);
			*value = draw_count();
			total += *value;
		}
		fprintf(inputs, "%s.%u %" PRIu64 "\n", pperf_block_name(c[i]->type), c[i]->index, total);
	}

	fake->sample.start_ns = draw() >> 20;
	fake->sample.end_ns = fake->sample.start_ns + 1 + (draw() >> 34);
	fake->sample.cycles[PPERF_CLOCK_TOPLEVEL] = draw() >> 24;
	fake->sample.cycles[PPERF_CLOCK_SHADER] = draw() >> 24;
	fprintf(inputs, "MALI_CONFIG_SHADER_CORE_COUNT %u\n", fake->info.cores);
	fprintf(inputs, "MALI_CONFIG_L2_CACHE_COUNT %u\n", fake->info.slices);
	fprintf(inputs, "MALI_CONFIG_EXT_BUS_BYTE_SIZE %u\n", fake->info.bus_bytes);
	fprintf(inputs, "MALI_CONFIG_TIME_SPAN %.17g\n",
		(fake->sample.end_ns - fake->sample.start_ns) / 1e9);
	fprintf(inputs, "MALI_CONFIG_ELAPSED_CYCLES %" PRIu64 "\n",
		fake->sample.cycles[PPERF_CLOCK_TOPLEVEL]);
	fprintf(inputs, "MALI_CONFIG_SHADER_CLOCK_RATIO %.17g\n=\n",
		(double)fake->sample.cycles[PPERF_CLOCK_SHADER] / fake->sample.cycles[PPERF_CLOCK_TOPLEVEL]);
}

static void print(const char *name, bool valid, double value)
{
	if (valid)
		printf("%s %.17g\n", name, value);
	else
		printf("%s -\n", name);
}

/* In the order of the tables: derived counters, then the rows of top-down that are nodes. */
static void evaluate(const struct fake *fake, const struct pperf_db *db)
{
	const struct pperf_topdown_node *const *nodes;
	const struct pperf_counter *const *c;
	struct pperf_topdown *topdown;
	struct pperf_sums *sums;
	enum pperf_error error;
	size_t i, count;
	double value;

	if (pperf_sums_new(db, &fake->info, &sums) || pperf_sums_add(sums, &fake->sample))
		fail("sums");
	if (pperf_topdown_new(db, &fake->info, &topdown) || pperf_topdown_add(topdown, &fake->sample))
		fail("top-down");

	c = pperf_db_counters(db, &count);
	for (i = 0; i < count; i++) {
		if (c[i]->type)
			continue;
		error = pperf_sums_value(sums, c[i], &value);
		if (error && error != PPERF_ERROR_NO_VALUE)
			fail(c[i]->name);
		print(c[i]->name, !error, value);
	}

	nodes = pperf_db_topdown(db, &count);
	for (i = 0; i < count; i++)
		print(nodes[i]->name, true, pperf_topdown_cycles(topdown, nodes[i]));
	puts("=");
	pperf_sums_free(sums);
	pperf_topdown_free(topdown);
}

int main(int argc, char **argv)
{
	static struct fake fake;
	struct pperf_db *db;
	FILE *inputs;
	int i;

	if (argc != 3) {
		fprintf(stderr, "usage: equations-test LAYOUT INPUTS\n");
		return 2;
	}
	if (pperf_db_open(argv[1], &db))
		fail(argv[1]);
	inputs = fopen(argv[2], "w");
	if (!inputs) {
		perror(argv[2]);
		return 1;
	}
	for (i = 0; i < DRAWS; i++) {
		fake_init(&fake, argv[1], 1 + draw() % 8, 1 + draw() % 16, 8u << draw() % 3);
		fill(&fake, db, inputs);
		evaluate(&fake, db);
	}
	pperf_db_close(db);
	return fclose(inputs) != 0;
}
