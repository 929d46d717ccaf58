// SPDX-License-Identifier: MIT
/* Tests of all of libpanthor-perf that needs no GPU. Prints TAP. */
#define _GNU_SOURCE
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interface.h"
#include "internal.h"
#include "suggest.h"
#include "tap.h"
#include "tests-common.h"

#define NUM_LAYOUTS 5

static void test_csv(void)
{
	char text[] = "# a comment\na,b c,\"d, \"\"e\"\"\",\n\n# another\n1,,\"\"\nlast";
	char *rest = text, *f[5];
	unsigned int n;

	begin();
	n = pperf_csv_row(&rest, f, 5);
	expect(n == 4, "first row: %u fields", n);
	if (n == 4)
		expect(!strcmp(f[0], "a") && !strcmp(f[1], "b c") && !strcmp(f[2], "d, \"e\"") &&
		       !strcmp(f[3], ""), "first row: %s|%s|%s|%s", f[0], f[1], f[2], f[3]);
	n = pperf_csv_row(&rest, f, 5);
	expect(n == 3, "second row: %u fields", n);
	if (n == 3)
		expect(!strcmp(f[0], "1") && !*f[1] && !*f[2], "second row: %s|%s|%s", f[0], f[1], f[2]);
	n = pperf_csv_row(&rest, f, 5);
	expect(n == 1 && !strcmp(f[0], "last"), "third row: %u fields, %s", n, f[0]);
	n = pperf_csv_row(&rest, f, 5);
	expect(n == 0, "after the end: %u fields", n);
	end("rows of comma-separated values");
}

static void test_products(void)
{
	static const struct {
		uint32_t gpu_id;
		const char *name, *layout;
	} products[] = {
		{ 0xa0040000, "Mali-G310", "Mali-G710" }, { 0xa0030000, "Mali-G510", "Mali-G710" },
		{ 0xa8670005, "Mali-G610", "Mali-G710" }, { 0xa8620000, "Mali-G710", "Mali-G710" },
		{ 0xb0030000, "Mali-G615", "Mali-G715" }, { 0xb8820000, "Mali-G715", "Mali-G715" },
		{ 0xc0010000, "Mali-G620", "Mali-G720" }, { 0xc8000000, "Mali-G720", "Mali-G720" },
		{ 0xd0010000, "Mali-G625", "Mali-G725" }, { 0xd8700000, "Mali-G725", "Mali-G725" },
		{ 0xe0030000, "Mali G1-Pro", "Mali G1" }, { 0xe0010000, "Mali G1-Premium", "Mali G1" },
		{ 0xe0000000, "Mali G1-Ultra", "Mali G1" },
	};
	static const uint32_t unknown_ids[] = { 0x90910000, 0xa8680000 };
	static const char *const unknown_names[] = { "", "G", "Mali-" };
	const char *name, *layout;
	size_t i;

	begin();
	for (i = 0; i < COUNT(products); i++) {
		if (pperf_product_by_id(products[i].gpu_id, &name, &layout)) {
			expect(false, "%#x: %s", products[i].gpu_id, pperf_message());
			continue;
		}
		expect(!strcmp(name, products[i].name) && layout && !strcmp(layout, products[i].layout),
		       "%#x: %s, %s", products[i].gpu_id, name, layout);
		expect(!pperf_product_by_name(products[i].name + 5, &name, &layout) &&
		       !strcmp(name, products[i].name), "%s: not found", products[i].name + 5);
	}
	expect(!pperf_product_by_name("MALI-G610", &name, &layout), "MALI-G610: not found");
	for (i = 0; i < COUNT(unknown_ids); i++)
		expect(pperf_product_by_id(unknown_ids[i], &name, &layout) == PPERF_ERROR_UNKNOWN,
		       "%#x is known", unknown_ids[i]);
	for (i = 0; i < COUNT(unknown_names); i++)
		expect(pperf_product_by_name(unknown_names[i], &name, &layout) == PPERF_ERROR_UNKNOWN,
		       "\"%s\" is known", unknown_names[i]);
	end("products");
}

/* A database, or the end of the tests. */
static struct pperf_db *open_db(const char *layout)
{
	struct pperf_db *db;

	if (!pperf_db_open(layout, &db))
		return db;
	printf("Bail out! %s\n", pperf_message());
	exit(1);
}

static void test_counters(const char *layout, unsigned int hw, unsigned int max_index)
{
	static const struct pperf_masks nothing;
	unsigned int by_place[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES] = {}, n = 0;
	struct pperf_db *db = open_db(layout);
	const struct pperf_counter *const *list;
	char name[64];
	size_t i, count;

	begin();
	list = pperf_db_counters(db, &count);
	for (i = 0; i < count; i++) {
		const struct pperf_counter *c = list[i];
		struct pperf_masks needs = {};

		expect(*c->name && *c->title && *c->group && *c->unit, "row %zu has an empty field", i);
		expect(strncmp(c->name, "Mali", 4) || pperf_db_find(db, c->name) == c,
		       "%s stands for two counters", c->name);
		pperf_counter_needs(db, c, &needs);
		expect((c->kind == PPERF_KIND_CONSTANT) == !memcmp(&needs, &nothing, sizeof(needs)),
		       "%s: kind %d", c->name, c->kind);
		if (c->equation) {
			expect(i >= hw && !c->type, "%s is no derived counter", c->name);
			continue;
		}
		n++;
		expect(c->type >= PPERF_BLOCK_CSHW && c->type < PPERF_BLOCK_TYPES,
		       "%s: block type %u", c->name, c->type);
		expect(c->index >= PPERF_FIRST_COUNTER && c->index < max_index, "%s: index %u", c->name,
		       c->index);
		expect(!by_place[c->type][c->index]++, "%s: %u.%u is taken", c->name, c->type, c->index);
		expect(pperf_db_at(db, c->type, c->index) == c, "%s is not at its place", c->name);
	}
	expect(n == hw, "%u counters of hardware, not %u", n, hw);
	expect(pperf_db_at(db, PPERF_BLOCK_FW, 5) && !pperf_db_at(db, PPERF_BLOCK_FW, 3) &&
	       !pperf_db_at(db, PPERF_BLOCK_FW, PPERF_MAX_VALUES) && !pperf_db_at(db, 0, 5) &&
	       !pperf_db_at(db, PPERF_BLOCK_TYPES, 5), "places without a row");
	pperf_db_close(db);
	snprintf(name, sizeof(name), "counters of %s", layout);
	end(name);
}

static void test_unknown_layout(void)
{
	struct pperf_db *db = open_db(NULL), *none = NULL;
	const struct pperf_counter *c;
	struct pperf_topdown *topdown;
	struct fake fake;
	size_t count;

	begin();
	expect(pperf_db_open("Mali-G900", &none) == PPERF_ERROR_UNKNOWN && !none, "Mali-G900 is known");
	pperf_db_counters(db, &count);
	expect(!count, "%zu counters", count);
	c = pperf_db_find(db, "shader.127");
	expect(c && c->type == PPERF_BLOCK_SHADER && c->index == 127 && !c->described &&
	       !strcmp(c->name, "SHADER.127"), "no SHADER.127");
	fake_init(&fake, NULL, 1, 1, 16);
	expect(!pperf_db_topdown(db, &count) && !count, "there is a top-down tree");
	expect(pperf_topdown_new(db, &fake.info, &topdown) == PPERF_ERROR_UNKNOWN, "there is top-down");
	pperf_db_close(db);
	end("a GPU that is not known has places");
}

static bool two(void *context, const char *name, unsigned int *symbol)
{
	(void)context;
	*symbol = 7;
	return !strcmp(name, "Two");
}

/* 2, 1 and 0 for the first three. */
static void load_two(void *context, unsigned int symbol, double *values)
{
	size_t count = *(size_t *)context, i;

	for (i = 0; i < count; i++)
		values[i] = symbol == 7 ? 2.0 - i : NAN;
}

static void test_expressions(void)
{
	static const struct {
		const char *text;
		double value;
	} right[] = {
		{ "1", 1 }, { "0.125", 0.125 }, { " 1 + 2 * 3 ", 7 }, { "(1 + 2) * 3", 9 },
		{ "10 - 4 - 3", 3 }, { "100 / 5 / 2", 10 }, { "2 * 9 / 3", 6 }, { "-3 + 5", 2 },
		{ "2 * -3", -6 }, { "0 / 0", 0 }, { "(0 / 0) * 100", 0 }, { "Two", 2 },
		{ "max(1, Two)", 2 }, { "min(1, Two)", 1 }, { "max(1, 5, 3, 4)", 5 },
		{ "max(min(4, 3), 2) * 10", 30 }, { "1 / 0", INFINITY }, { "min(7)", 7 },
		{ "((((((((((((((((((((1))))))))))))))))))))", 1 },
		{ "1 + (1 + (1 + (1 + (1 + (1 + (1 + (1 * (1 * (2 * (2 + 3))))))))))", 17 },
	};
	static const char *const wrong[] = {
		"", "1 +", "(1", "1)", "1 2", "* 2", "Three", "mix(1, 2)", "max(1", "max()", "1 $ 2",
		"Two Two", "1 + Three * 0",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	};
	struct expr expr;
	char deep[1000];
	size_t one = 1, three = 3, operands, i;
	double value, values[3];
	enum pperf_error error;

	begin();
	for (i = 0; i < COUNT(right); i++) {
		if (pperf_expr_compile(right[i].text, two, NULL, &expr)) {
			expect(false, "\"%s\": %s", right[i].text, pperf_message());
			continue;
		}
		pperf_expr_run(&expr, load_two, &one, one, &value);
		expect(value == right[i].value, "\"%s\" is %g", right[i].text, value);
		pperf_expr_run(&expr, load_two, &three, three, values);
		expect(values[0] == right[i].value, "\"%s\" is %g as the first of three", right[i].text, values[0]);
		pperf_expr_free(&expr);
	}
	expect(!pperf_expr_compile("max(Two, 1.5) * -Two / Two", two, NULL, &expr), "%s", pperf_message());
	pperf_expr_run(&expr, load_two, &three, three, values);
	expect(values[0] == -2 && values[1] == -1.5 && values[2] == 0, "for 2, 1 and 0 it is %g, %g and %g", values[0],
	       values[1], values[2]);
	pperf_expr_free(&expr);
	for (i = 0; i < COUNT(wrong); i++)
		expect(pperf_expr_compile(wrong[i], two, NULL, &expr) == PPERF_ERROR_BROKEN,
		       "\"%s\" is understood", wrong[i]);
	expect(pperf_expr_compile("1 + Three", two, NULL, &expr) && strstr(pperf_message(), "Three"),
	       "the unknown name is not told: %s", pperf_message());

	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	expect(pperf_expr_compile(deep, two, NULL, &expr), "a thousand parentheses are understood");
	memset(deep, '-', sizeof(deep) - 1);
	expect(pperf_expr_compile(deep, two, NULL, &expr), "a thousand signs are understood");
	for (i = 0; i + 5 < sizeof(deep); i += 4)
		memcpy(deep + i, "min(", 4);
	deep[i] = 0;
	expect(pperf_expr_compile(deep, two, NULL, &expr), "hundreds of min( are understood");
	for (operands = EXPR_MAX_OPERANDS; operands <= EXPR_MAX_OPERANDS + 1; operands++) {
		*deep = 0;
		for (i = 1; i < operands; i++)
			strcat(deep, "1 + (");
		strcat(deep, "1");
		for (i = 1; i < operands; i++)
			strcat(deep, ")");
		error = pperf_expr_compile(deep, two, NULL, &expr);
		expect(operands > EXPR_MAX_OPERANDS ? error == PPERF_ERROR_BROKEN : !error && expr.operands == operands,
		       "%zu operands: %d, %s", operands, error, pperf_message());
		pperf_expr_free(&expr);
	}
	end("expressions");
}

static struct pperf_sums *open_sums(const struct pperf_db *db, const struct fake *fake)
{
	struct pperf_sums *sums;

	if (!pperf_sums_new(db, &fake->info, &sums))
		return sums;
	printf("Bail out! %s\n", pperf_message());
	exit(1);
}

/* The counter of a name, or the end of the tests. */
static const struct pperf_counter *find(const struct pperf_db *db, const char *name)
{
	const struct pperf_counter *c = pperf_db_find(db, name);

	if (c)
		return c;
	printf("Bail out! there is no %s\n", name);
	exit(1);
}

static void set(struct fake *fake, const struct pperf_db *db, const char *name, unsigned int block,
		uint64_t value)
{
	const struct pperf_counter *c = find(db, name);

	*fake_value(fake, c->type, block, c->index) = value;
}

static void expect_value(const struct pperf_sums *sums, const struct pperf_db *db, const char *name,
			 double want)
{
	double value;

	if (pperf_sums_value(sums, find(db, name), &value))
		expect(false, "%s: %s", name, pperf_message());
	else
		expect(fabs(value - want) < 1e-9, "%s is %.17g, not %g", name, value, want);
}

/* Values by hand. */
static void test_values(void)
{
	struct pperf_db *db = open_db("Mali-G710");
	const struct pperf_counter *util = find(db, "MaliCoreUtil"), *beats = find(db, "MaliExtBusRdBt");
	struct pperf_sums *sums;
	struct fake fake;
	unsigned int i;
	double value;

	begin();
	fake_init(&fake, "Mali-G710", 2, 4, 16);
	fake.sample.start_ns = 1000;
	fake.sample.end_ns = 500001000;
	set(&fake, db, "MaliGPUActiveCy", 0, 1000);
	set(&fake, db, "MaliExtBusRdBt", 0, 30);
	set(&fake, db, "MaliExtBusRdBt", 1, 20);
	set(&fake, db, "MaliExtBusRdStallCy", 1, 300);
	for (i = 0; i < 4; i++) {
		*fake_value(&fake, PPERF_BLOCK_SHADER, i, 53) = 200;
		*fake_value(&fake, PPERF_BLOCK_SHADER, i, 26) = 20 * (i + 1);
	}
	*fake_value(&fake, PPERF_BLOCK_SHADER, 0, 27) = 10;
	*fake_value(&fake, PPERF_BLOCK_SHADER, 1, 28) = 20;
	*fake_value(&fake, PPERF_BLOCK_SHADER, 2, 29) = 15;
	/* Of visible, culled by plane, by Z plane and by sample. */
	*fake_value(&fake, PPERF_BLOCK_TILER, 0, 11) = 4;
	*fake_value(&fake, PPERF_BLOCK_TILER, 0, 12) = 3;
	*fake_value(&fake, PPERF_BLOCK_TILER, 0, 13) = 2;
	*fake_value(&fake, PPERF_BLOCK_TILER, 0, 14) = 1;

	sums = open_sums(db, &fake);
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	expect(pperf_sums_seconds(sums) == 0.5, "%g seconds", pperf_sums_seconds(sums));
	expect_value(sums, db, "MaliGPUActiveCy", 1000);
	expect_value(sums, db, "MaliExtBusRdBt", 50);
	/* Bytes, and bytes a second over half of one. */
	expect_value(sums, db, "MaliExtBusRdBy", 800);
	expect_value(sums, db, "MaliExtBusRdBPS", 1600);
	/* 300 cycles of two slices. */
	expect_value(sums, db, "MaliExtBusRdStallRate", 15);
	expect_value(sums, db, "MaliAnyUtil", 20);
	expect_value(sums, db, "MaliCoreUtil", 25);
	/* The greater of 10 + 20 + 15 and 4 x 15. */
	expect_value(sums, db, "MaliALUIssueCy", 60);
	expect_value(sums, db, "MaliALUUtil", 30);
	expect_value(sums, db, "MaliConfigCoreCount", 4);
	expect_value(sums, db, "MaliGeomVisibleRate", 40);
	end("values of counters");

	begin();
	expect(pperf_sums_total(sums, beats) == 50 && pperf_sums_block(sums, beats, 0) == 30 &&
	       pperf_sums_block(sums, beats, 1) == 20 && !pperf_sums_block(sums, beats, 2),
	       "slices have %llu and %llu", (unsigned long long)pperf_sums_block(sums, beats, 0),
	       (unsigned long long)pperf_sums_block(sums, beats, 1));
	expect(pperf_counter_block_type(db, util) == PPERF_BLOCK_SHADER, "%s belongs to block type %u",
	       util->name, pperf_counter_block_type(db, util));
	for (i = 0; i < 4; i++)
		expect(!pperf_sums_block_value(sums, util, i, &value) && fabs(value - 10 * (i + 1)) < 1e-9,
		       "core %u: %g", i, value);
	expect(pperf_sums_block_value(sums, util, 4, &value) == PPERF_ERROR_INVALID, "there is a fifth core");
	/* Bytes of cores and of slices. */
	expect(!pperf_counter_block_type(db, find(db, "MaliGPUCyPerPix")) &&
	       pperf_sums_block_value(sums, find(db, "MaliGPUCyPerPix"), 0, &value) == PPERF_ERROR_INVALID,
	       "what belongs to no block has a value of one");
	/* A slice's stalls are parts of the time of one slice. */
	expect(!pperf_sums_block_value(sums, find(db, "MaliExtBusRdStallRate"), 1, &value) &&
	       fabs(value - 30) < 1e-9, "slice 1 stalls %g %%", value);
	end("values of single blocks");

	pperf_sums_free(sums);
	pperf_db_close(db);
}

/* Several samples, and what is enabled in some of them only. */
static void test_sums(void)
{
	struct pperf_db *db = open_db("Mali-G715");
	const struct pperf_counter *tiler = find(db, "MaliTilerActiveCy"), *core = find(db, "MaliCoreActiveCy");
	struct pperf_sums *sums, *other;
	struct fake fake;
	uint64_t total;
	double value;

	begin();
	fake_init(&fake, "Mali-G715", 2, 3, 32);
	sums = open_sums(db, &fake);
	other = open_sums(db, &fake);
	fake.sample.end_ns = 1000;
	fake.sample.cycles[PPERF_CLOCK_SHADER] = 5;
	set(&fake, db, "MaliTilerActiveCy", 0, 1ull << 40);
	set(&fake, db, "MaliCoreActiveCy", 0, 3);
	set(&fake, db, "MaliCoreActiveCy", 2, 4);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_add(sums, &fake.sample), "%s",
	       pperf_message());
	fake.sample.start_ns = 5000;
	fake.sample.end_ns = 7000;
	fake.sample.flags = PPERF_SAMPLE_STRETCHED;
	expect(!pperf_sums_add(other, &fake.sample), "%s", pperf_message());
	pperf_sums_merge(sums, other);

	total = pperf_sums_total(sums, tiler);
	expect(total == 3ull << 40, "the tiler has %llu", (unsigned long long)total);
	expect(pperf_sums_total(sums, core) == 21 && pperf_sums_block(sums, core, 0) == 9 &&
	       pperf_sums_block(sums, core, 1) == 0 && pperf_sums_block(sums, core, 2) == 12,
	       "cores have %llu", (unsigned long long)pperf_sums_total(sums, core));
	expect(pperf_sums_samples(sums) == 3 && pperf_sums_start_ns(sums) == 0 &&
	       pperf_sums_end_ns(sums) == 7000 && pperf_sums_flags(sums) == PPERF_SAMPLE_STRETCHED &&
	       pperf_sums_cycles(sums, PPERF_CLOCK_SHADER) == 15, "head of the sums");
	expect(fabs(pperf_sums_seconds(sums) - 4e-6) < 1e-15, "%g seconds", pperf_sums_seconds(sums));
	expect(pperf_sums_states(sums, PPERF_BLOCK_SHADER, 2) & PPERF_STATE_ON, "the third core was off");

	/* Not enabled in one block is not enabled. */
	fake.blocks[pperf_info_first_block(&fake.info, PPERF_BLOCK_SHADER) + 1].enabled[0] = 0;
	expect(!pperf_sums_value(sums, core, &value) && value == 21, "cores: %g", value);
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	expect(pperf_sums_value(sums, core, &value) == PPERF_ERROR_NOT_COUNTED &&
	       pperf_sums_value(sums, find(db, "MaliCoreUtil"), &value) == PPERF_ERROR_NOT_COUNTED,
	       "a value of what was not counted");
	expect(!pperf_sums_value(sums, tiler, &value), "%s", pperf_message());
	expect(!pperf_counter_in(db, core, pperf_sums_masks(sums)) &&
	       pperf_counter_in(db, tiler, pperf_sums_masks(sums)), "masks of the sums");

	pperf_sums_reset(sums);
	expect(!pperf_sums_total(sums, tiler) && !pperf_sums_block(sums, core, 2) &&
	       !pperf_sums_samples(sums), "something is left after a reset");

	/* Blocks that are not the GPU's. */
	fake.blocks[3].index = 9;
	expect(pperf_sums_add(sums, &fake.sample) == PPERF_ERROR_BROKEN && !pperf_sums_samples(sums),
	       "a broken sample is added");
	fake.blocks[3].index = 1;
	fake.sample.num_blocks--;
	expect(pperf_sums_add(sums, &fake.sample) == PPERF_ERROR_BROKEN, "a short sample is added");
	pperf_sums_free(sums);
	pperf_sums_free(other);
	pperf_db_close(db);
	end("sums");
}

static void test_load(void)
{
	struct pperf_db *db = open_db("Mali-G710");
	struct pperf_load load = {};
	struct pperf_sums *sums;
	struct fake fake;

	begin();
	fake_init(&fake, "Mali-G710", 1, 1, 16);
	sums = open_sums(db, &fake);
	expect(!pperf_sums_load(sums, &load, sizeof(load)) && !load.of_time && !load.of_cycles, "a load of nothing");

	/* A millisecond at 100 MHz, half of it active; then one at 50 MHz, idle. */
	fake.sample.end_ns = 1000000;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 100000;
	set(&fake, db, "MaliGPUActiveCy", 0, 50000);
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 50000;
	set(&fake, db, "MaliGPUActiveCy", 0, 0);
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	expect(!pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.of_time - 0.25) < 1e-12 && fabs(load.of_cycles - 1 / 3.) < 1e-12,
	       "%g of the time, %g of the cycles", load.of_time, load.of_cycles);
	expect(load.active_cycles == 50000 && load.cycles == 150000 &&
	       fabs(load.active_seconds - 0.0005) < 1e-12 && fabs(load.seconds - 0.002) < 1e-12,
	       "%llu of %llu cycles, %g of %g s", (unsigned long long)load.active_cycles,
	       (unsigned long long)load.cycles, load.active_seconds, load.seconds);

	/* Four milliseconds, of which the GPU slept all but the 5000 cycles it worked: the rate is known. */
	pperf_sums_reset(sums);
	fake.sample.end_ns = 4000000;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 5000;
	fake.blocks[0].states |= PPERF_STATE_OFF;
	set(&fake, db, "MaliGPUActiveCy", 0, 5000);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.of_time - 0.025) < 1e-12 && load.of_cycles == 1, "asleep: %g of the time, %g of "
	       "the cycles", load.of_time, load.of_cycles);
	pperf_sums_free(sums);

	/* Of a GPU of which no rate is known: as if it had been awake for the cycles that were counted. */
	sums = open_sums(db, &fake);
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 20000;
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.of_time - 0.25) < 1e-12, "of no rate: %g of the time", load.of_time);
	pperf_sums_free(sums);
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 5000;

	/* Of one that was asleep all the time before; its frequency is known. */
	fake.info.toplevel_hz = 10000000;
	sums = open_sums(db, &fake);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.of_time - 0.125) < 1e-12, "by the frequency: %g of the time", load.of_time);

	/* That was the nominal one: awake, it turns out to run at 8 MHz. */
	fake.blocks[0].states &= ~PPERF_STATE_OFF;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 32000;
	set(&fake, db, "MaliGPUActiveCy", 0, 32000);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.active_seconds - 37000 / 8e6) < 1e-12, "%g s active at 8 MHz", load.active_seconds);

	/* Or it was set to another: 5000 cycles were at 10 MHz, 80000 at 20 MHz. */
	pperf_sums_free(sums);
	sums = open_sums(db, &fake);
	fake.blocks[0].states |= PPERF_STATE_OFF;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 5000;
	set(&fake, db, "MaliGPUActiveCy", 0, 5000);
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	fake.blocks[0].states &= ~PPERF_STATE_OFF;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 80000;
	set(&fake, db, "MaliGPUActiveCy", 0, 80000);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)), "%s", pperf_message());
	expect(fabs(load.active_seconds - 0.0045) < 1e-12, "%g s active at 10 and 20 MHz", load.active_seconds);
	fake.blocks[0].states |= PPERF_STATE_OFF;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 5000;

	/* More of them than a double can tell apart, and as many as there can be. */
	pperf_sums_reset(sums);
	set(&fake, db, "MaliGPUActiveCy", 0, (1ull << 53) + 1);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)) &&
	       load.active_cycles == (1ull << 53) + 1, "%llu cycles", (unsigned long long)load.active_cycles);
	pperf_sums_reset(sums);
	set(&fake, db, "MaliGPUActiveCy", 0, UINT64_MAX);
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_sums_load(sums, &load, sizeof(load)) &&
	       load.active_cycles == UINT64_MAX, "%llu cycles", (unsigned long long)load.active_cycles);

	fake.blocks[0].enabled[0] = 0;
	expect(!pperf_sums_add(sums, &fake.sample), "%s", pperf_message());
	expect(pperf_sums_load(sums, &load, sizeof(load)) == PPERF_ERROR_NOT_COUNTED, "a load of what was not counted");
	pperf_sums_free(sums);
	pperf_db_close(db);
	end("load in percent of time and of cycles");
}

static void test_topdown(const char *layout)
{
	struct pperf_db *db = open_db(layout);
	const struct pperf_topdown_node *const *nodes, *parts[64], *largest;
	struct pperf_topdown *topdown, *other;
	double sum, whole, parent;
	struct fake fake;
	char name[64];
	size_t i, j, n, count;
	unsigned int level;

	begin();
	fake_init(&fake, layout, 2, 4, 16);
	expect(!pperf_topdown_new(db, &fake.info, &topdown) && !pperf_topdown_new(db, &fake.info, &other),
	       "%s", pperf_message());
	nodes = pperf_db_topdown(db, &count);
	expect(!nodes[0]->parent && !nodes[0]->level && count > 20, "the first is %s of %zu", nodes[0]->name, count);
	expect(pperf_db_topdown_levels(db) == 3, "%u levels", pperf_db_topdown_levels(db));
	expect(!pperf_topdown_largest(topdown, 1), "something is the largest of nothing");

	/* Two phases: the GPU waits for work, then its cores for memory. */
	fake.sample.end_ns = 1000000;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 100000;
	fake.sample.cycles[PPERF_CLOCK_SHADER] = 100000;
	expect(!pperf_topdown_add(topdown, &fake.sample), "%s", pperf_message());
	largest = pperf_topdown_largest(topdown, 1);
	expect(largest && !strcmp(largest->name, "td_idle") && pperf_topdown_share(topdown, largest) == 1 &&
	       pperf_topdown_cycles(topdown, largest) == 100000, "an idle GPU is mostly %s",
	       largest ? largest->name : "nothing");
	expect(pperf_topdown_largest(topdown, 3) == largest, "it is not below");

	for (i = 0; i < 4; i++) {
		set(&fake, db, "MaliAnyActiveCy", i, 90000);
		set(&fake, db, "MaliCoreActiveCy", i, 90000);
		set(&fake, db, "MaliEngStarveCy", i, 360000);
	}
	for (i = 0; i < 2; i++)
		set(&fake, db, "MaliExtBusRdStallCy", i, 80000);
	set(&fake, db, "MaliGPUAnyQueueActiveCy", 0, 95000);
	if (find(db, "MaliGPUActiveCy")->type)
		set(&fake, db, "MaliGPUActiveCy", 0, 100000);
	set(&fake, db, "MaliCompQueuedCy", 0, 95000);
	expect(!pperf_topdown_add(other, &fake.sample), "%s", pperf_message());
	largest = pperf_topdown_largest(other, 1);
	expect(largest && !strcmp(largest->name, "td_memory") && pperf_topdown_cycles(other, largest) == 80000,
	       "a GPU that waits for memory is mostly %s, %g cycles", largest ? largest->name : "nothing",
	       largest ? pperf_topdown_cycles(other, largest) : 0);
	pperf_topdown_merge(topdown, other);
	expect(pperf_topdown_samples(topdown) == 2, "%llu samples",
	       (unsigned long long)pperf_topdown_samples(topdown));

	/* Parts add up, by parent and by level. */
	whole = pperf_topdown_cycles(topdown, nodes[0]);
	expect(whole == 200000, "the whole is %g", whole);
	for (i = 0; i < count; i++) {
		expect(*nodes[i]->title && *nodes[i]->next && *nodes[i]->equation, "%s lacks a text", nodes[i]->name);
		if (!nodes[i]->children)
			continue;
		for (sum = 0, n = 0, j = 0; j < count; j++) {
			if (nodes[j]->parent != nodes[i])
				continue;
			expect(j > i && nodes[j]->level == nodes[i]->level + 1, "%s is misplaced", nodes[j]->name);
			sum += pperf_topdown_cycles(topdown, nodes[j]);
			n++;
		}
		parent = pperf_topdown_cycles(topdown, nodes[i]);
		expect(n == nodes[i]->children && fabs(sum - parent) < 1e-6, "%s: %zu parts add up to %g, not %g",
		       nodes[i]->name, n, sum, parent);
	}
	for (level = 0; level <= 4; level++) {
		n = pperf_db_topdown_level(db, level, parts, COUNT(parts));
		for (sum = 0, i = 0; i < n; i++)
			sum += pperf_topdown_share(topdown, parts[i]);
		expect(fabs(sum - 1) < 1e-9, "%zu parts of level %u are %g of the whole", n, level, sum);
	}
	expect(pperf_db_topdown_level(db, 1, parts, 1) == 5, "level 1 has %zu parts",
	       pperf_db_topdown_level(db, 1, parts, 1));

	fake.blocks[0].enabled[0] = 0;
	expect(pperf_topdown_add(topdown, &fake.sample) == PPERF_ERROR_NOT_COUNTED &&
	       pperf_topdown_samples(topdown) == 2, "a sample without counters is evaluated");
	pperf_topdown_reset(topdown);
	expect(!pperf_topdown_cycles(topdown, nodes[0]) && !pperf_topdown_share(topdown, nodes[0]),
	       "something is left after a reset");
	pperf_topdown_free(topdown);
	pperf_topdown_free(other);
	pperf_db_close(db);
	snprintf(name, sizeof(name), "top-down of %s", layout);
	end(name);
}

static void expect_choice(struct pperf_selection *s, const char *pattern, enum pperf_error error,
			  size_t count)
{
	enum pperf_error got = pperf_selection_add(s, pattern);
	size_t chosen;

	pperf_selection_counters(s, &chosen);
	expect(got == error && chosen == count, "\"%s\": error %d, %zu chosen, not %d and %zu",
	       pattern, got, chosen, error, count);
}

static void expect_masks(const struct pperf_selection *s, const uint64_t masks[PPERF_BLOCK_TYPES])
{
	const struct pperf_masks *got = pperf_selection_masks(s);
	unsigned int type;

	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		expect(got->bits[type][0] == masks[type] && !got->bits[type][1],
		       "mask of type %u is %#llx, %#llx", type, (unsigned long long)got->bits[type][0],
		       (unsigned long long)got->bits[type][1]);
}

static struct pperf_selection *open_selection(const struct pperf_db *db, const struct pperf_gpu_info *info)
{
	struct pperf_selection *s;

	if (!pperf_selection_new(db, info, &s))
		return s;
	printf("Bail out! %s\n", pperf_message());
	exit(1);
}

static void test_choice(void)
{
	const uint64_t simple[PPERF_BLOCK_TYPES] = {
		[PPERF_BLOCK_FW] = 1ull << 5,
		[PPERF_BLOCK_CSHW] = 1ull << 4 | 1ull << 5,
		[PPERF_BLOCK_TILER] = 1ull << 4,
	};
	/* What MaliExtBusRdStallRate is made of. */
	const uint64_t derived[PPERF_BLOCK_TYPES] = {
		[PPERF_BLOCK_CSHW] = 1ull << 4,
		[PPERF_BLOCK_MEMSYS] = 1ull << 33,
	};
	const uint64_t active[PPERF_BLOCK_TYPES] = { [PPERF_BLOCK_CSHW] = 1ull << 4 };
	const struct pperf_counter *const *chosen;
	struct pperf_db *db = open_db("Mali-G710");
	struct pperf_selection *s = open_selection(db, NULL);
	struct fake fake;
	size_t count, all;

	begin();
	expect_choice(s, "MaliGPUActiveCy", PPERF_OK, 1);
	expect_choice(s, "gpu_active", PPERF_OK, 1);
	expect_choice(s, "MCU active cycles", PPERF_OK, 2);
	/* The capital letter of i, in any language. */
	expect_choice(s, "MALIGPUACTIVECY", PPERF_OK, 2);
	expect_choice(s, "maligpuactive?y", PPERF_OK, 2);
	expect_choice(s, "MALIGPUACTIVE?Y", PPERF_OK, 2);
	expect_choice(s, "tiler.4", PPERF_OK, 3);
	expect_choice(s, "FW.5", PPERF_OK, 4);
	expect_choice(s, "fw.5", PPERF_OK, 4);
	expect_choice(s, "FW.3", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "FW.128", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "FW.5x", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "FW.", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "FW.99999999999999999999", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "Nothing", PPERF_ERROR_UNKNOWN, 4);
	expect_choice(s, "", PPERF_ERROR_UNKNOWN, 4);
	chosen = pperf_selection_counters(s, &count);
	expect(!strcmp(chosen[3]->name, "FW.5"), "the fourth is %s", chosen[3]->name);
	expect_masks(s, simple);
	pperf_selection_free(s);
	end("counters chosen by name and place");

	begin();
	s = open_selection(db, NULL);
	expect_choice(s, "MaliExtBusRdStallRate", PPERF_OK, 1);
	expect_masks(s, derived);
	pperf_selection_free(s);
	s = open_selection(db, NULL);
	pperf_selection_need_load(s);
	expect_masks(s, active);
	pperf_selection_need_topdown(s);
	pperf_selection_counters(s, &count);
	expect(!count && pperf_masks_count(pperf_selection_masks(s), PPERF_BLOCK_SHADER) > 10,
	       "top-down: %zu counters, %u of cores", count,
	       pperf_masks_count(pperf_selection_masks(s), PPERF_BLOCK_SHADER));
	pperf_selection_free(s);
	end("a derived counter enables what it is made of");

	begin();
	s = open_selection(db, NULL);
	expect_choice(s, "MaliExtBusRdLat*", PPERF_OK, 6);
	expect(pperf_selection_masks(s)->bits[PPERF_BLOCK_MEMSYS][0] == (1ull << 32 | 0x1full << 37),
	       "mask %#llx", (unsigned long long)pperf_selection_masks(s)->bits[PPERF_BLOCK_MEMSYS][0]);
	pperf_db_counters(db, &all);
	expect_choice(s, "*", PPERF_OK, all);
	pperf_selection_free(s);
	s = open_selection(db, NULL);
	expect(!pperf_selection_add_list(s, "GPU_ACTIVE,FW.5,Mali*QueuedCy") &&
	       pperf_selection_counters(s, &count) && count > 4, "a list: %s", pperf_message());
	expect(pperf_selection_add_list(s, "GPU_ACTIVE,,FW.5") == PPERF_ERROR_INVALID &&
	       pperf_selection_add_list(s, "") == PPERF_ERROR_INVALID, "an empty name in a list");
	expect(pperf_selection_add_list(s, "GPU_ACTIVE,NoSuch") == PPERF_ERROR_UNKNOWN &&
	       strstr(pperf_message(), "\"NoSuch\""), "an unknown name: %s", pperf_message());
	pperf_selection_free(s);
	s = open_selection(db, NULL);
	expect(pperf_selection_add_list(s, "GPU_ACTIVE,NoSuch") == PPERF_ERROR_UNKNOWN &&
	       pperf_selection_add_list(s, "GPU_ACTIVE,") == PPERF_ERROR_INVALID, "a list that ends badly");
	pperf_selection_counters(s, &count);
	expect(!count && !pperf_masks_count(pperf_selection_masks(s), PPERF_BLOCK_CSHW),
	       "%zu counters of lists that failed", count);
	pperf_selection_free(s);
	end("counters chosen by pattern and list");

	/* 64 values of a block, and no firmware blocks. */
	begin();
	fake_init(&fake, "Mali-G710", 2, 4, 16);
	s = open_selection(db, &fake.info);
	expect_choice(s, "FW.5", PPERF_ERROR_UNKNOWN, 0);
	expect_choice(s, "SHADER.64", PPERF_ERROR_UNKNOWN, 0);
	expect_choice(s, "SHADER.63", PPERF_OK, 1);
	fake.info.blocks[PPERF_BLOCK_TILER] = 0;
	expect_choice(s, "MaliTilerUtil", PPERF_ERROR_UNKNOWN, 1);
	expect_choice(s, "MaliTilerActive*", PPERF_ERROR_UNKNOWN, 1);
	expect(!pperf_selection_add_all(s), "%s", pperf_message());
	pperf_selection_counters(s, &count);
	expect(count > 100 && count < all && !pperf_masks_count(pperf_selection_masks(s), PPERF_BLOCK_TILER),
	       "%zu of %zu counters", count, all);
	pperf_selection_free(s);
	end("only counters that the GPU has are chosen");

	pperf_db_close(db);
}

static void test_default(const char *layout)
{
	struct pperf_db *db = open_db(layout);
	struct pperf_selection *s = open_selection(db, NULL);
	const struct pperf_masks *masks = pperf_selection_masks(s);
	char name[64];
	size_t count;

	begin();
	expect(!pperf_selection_add_default(s), "%s", pperf_message());
	pperf_selection_counters(s, &count);
	expect(count >= 20, "%zu counters", count);
	expect(pperf_masks_count(masks, PPERF_BLOCK_CSHW) && pperf_masks_count(masks, PPERF_BLOCK_TILER) &&
	       pperf_masks_count(masks, PPERF_BLOCK_MEMSYS) && pperf_masks_count(masks, PPERF_BLOCK_SHADER),
	       "a block is left out");
	pperf_selection_free(s);
	pperf_db_close(db);
	snprintf(name, sizeof(name), "default counters of %s", layout);
	end(name);
}

static void test_kinds(void)
{
	static const struct {
		const char *name;
		enum pperf_kind kind;
	} cases[] = {
		{ "MaliGPUActiveCy", PPERF_KIND_COUNT }, { "MaliExtBusRdBy", PPERF_KIND_COUNT },
		{ "MaliGeomTotalPrim", PPERF_KIND_COUNT }, { "MaliExtBusRdBPS", PPERF_KIND_RATIO },
		{ "MaliCoreUtil", PPERF_KIND_RATIO }, { "MaliConfigCoreCount", PPERF_KIND_CONSTANT },
		{ "MaliGPUCyPerPix", PPERF_KIND_RATIO }, { "MaliTexCPI", PPERF_KIND_RATIO },
		{ "MaliFragOverdraw", PPERF_KIND_RATIO }, { "SHADER.63", PPERF_KIND_COUNT },
	};
	struct pperf_db *db = open_db("Mali-G710");
	size_t i;

	begin();
	for (i = 0; i < COUNT(cases); i++)
		expect(find(db, cases[i].name)->kind == cases[i].kind, "%s: %d", cases[i].name,
		       find(db, cases[i].name)->kind);
	pperf_db_close(db);
	end("which values add up");
}

static void test_log(void)
{
	struct pperf_log log = { .size = sizeof(log) };
	unsigned int texts = 0;
	struct fake fake;
	char text[256];

	begin();
	fake_init(&fake, "Mali-G710", 1, 1, 16);
	expect(!pperf_log_text(&log, 0, text, sizeof(text)) && !*text, "there is something to tell: %s", text);
	fake.sample.start_ns = 1000;
	fake.sample.end_ns = 2000;
	pperf_log_add(&log, &fake.sample);
	fake.sample.start_ns = 2000;
	fake.sample.end_ns = 5000000;
	fake.sample.flags = PPERF_SAMPLE_STRETCHED | PPERF_SAMPLE_OVERFLOW;
	pperf_log_add(&log, &fake.sample);
	fake.sample.start_ns = 6000000;
	fake.sample.end_ns = 7000000;
	fake.sample.flags = PPERF_SAMPLE_STRETCHED | PPERF_SAMPLE_ERROR;
	fake.blocks[2].states |= PPERF_STATE_PROTECTED;
	pperf_log_add(&log, &fake.sample);
	expect(log.samples == 3 && log.overflowed == 1 && log.failed == 1 && log.stretched == 2 &&
	       log.gaps == 1 && log.gap_ns == 1000000 && log.in_protected == 1 && log.start_ns == 1000 &&
	       log.end_ns == 7000000 && log.longest_ns == 4998000, "the log");
	while (pperf_log_text(&log, texts, text, sizeof(text)))
		texts++;
	expect(texts == 5, "%u sentences", texts);
	pperf_log_text(&log, 2, text, sizeof(text));
	expect(!strcmp(text, "2 of 3 samples cover more than one period (longest 4.998 ms, mean 2.000 ms): the kernel or "
	       "panthor-perf was late. No counts are missing."), "stretched: %s", text);
	log.samples = log.stretched = 600000;
	log.gaps = 1234;
	log.gap_ns = 240000000;
	pperf_log_text(&log, 2, text, sizeof(text));
	expect(strstr(text, "600,000 of 600,000 samples cover") == text, "stretched: %s", text);
	pperf_log_text(&log, 3, text, sizeof(text));
	expect(!strcmp(text, "1,234 gaps between samples, 0.24 s in total, were not counted."), "gaps: %s", text);
	end("what happened to samples is told");
}

static void test_errors(void)
{
	const char *text;
	int error;

	begin();
	for (error = PPERF_OK; error <= PPERF_ERROR_OTHER_INTERFACE; error++) {
		text = pperf_strerror(error);
		expect(*text && strcmp(text, pperf_strerror(1000)), "error %d is %s", error, text);
	}
	expect(!strcmp(pperf_version(), PPERF_VERSION), "version %s", pperf_version());
	end("every error has a text");
}

static void test_interface(void)
{
	/* A G610. */
	static const struct drm_panthor_perf_info good_info = {
		.counters_per_block = 64, .sample_header_size = 56, .block_header_size = 24,
		.cshw_blocks = 1, .tiler_blocks = 1, .memsys_blocks = 4, .shader_blocks = 4,
		.sample_size = 5416,
	};
	/* A word of the query's answer that is not what it should be. */
	static const struct {
		const char *name;
		size_t offset;
		uint32_t value;
	} changes[] = {
		{ "a sample header of 64 bytes", offsetof(struct drm_panthor_perf_info, sample_header_size), 64 },
		{ "a block header of 32 bytes", offsetof(struct drm_panthor_perf_info, block_header_size), 32 },
		{ "96 values", offsetof(struct drm_panthor_perf_info, counters_per_block), 96 },
		{ "a larger sample", offsetof(struct drm_panthor_perf_info, sample_size), 5424 },
		{ "no size of a sample", offsetof(struct drm_panthor_perf_info, sample_size), 0 },
		{ "a block more", offsetof(struct drm_panthor_perf_info, csg_blocks), 1 },
		{ "blocks that make the size wrap", offsetof(struct drm_panthor_perf_info, fw_blocks), 0x80000000 },
	};
	struct drm_panthor_perf_info info = good_info;
	size_t i;

	begin();
	expect(pperf_interface_is_known(&info, 64), "the interface is not known");
	expect(pperf_interface_is_known(&info, 48), "its shorter form is not known");
	expect(!pperf_interface_is_known(&info, 44), "an answer without the size of a sample is known");
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		info = good_info;
		memcpy((char *)&info + changes[i].offset, &changes[i].value, 4);
		expect(!pperf_interface_is_known(&info, 64), "%s: is known", changes[i].name);
	}
	end("only the interface of the headers is used");
}

static void test_suggestions(void)
{
	static const char *const names[] = { "alpha", "alphabet", "Beta", "gamma", "gamut", "delta", "alphas", "betas", "abcdefghijklmnop" };
	static const struct {
		const char *wrong, *text;
	} cases[] = {
		{ "ALPHA", "Did you mean alpha?" },
		{ "alp", "Did you mean alpha, alphas or alphabet?" },
		{ "ebta", "Did you mean Beta?" },
		{ "bet", "Did you mean Beta or betas?" },
		{ "gama", "Did you mean gamma?" },
		{ "gamm", "Did you mean gamma?" },
		{ "hijk", "Did you mean abcdefghijklmnop?" },
		{ "bcdefghijklmnopq", "Did you mean abcdefghijklmnop?" },
		{ "omega", "none" },
		{ "a", "none" },
		{ "", "none" },
		{ "alpha alpha alpha alpha alpha alpha alpha alpha alpha alpha alpha alpha", "none" },
	};
	struct pperf_suggestions near;
	char text[128], small[20];
	size_t i, j;

	begin();
	for (i = 0; i < COUNT(cases); i++) {
		near = (struct pperf_suggestions){ .wrong = cases[i].wrong };
		for (j = 0; j < COUNT(names); j++)
			pperf_suggest(&near, names[j]);
		pperf_suggest(&near, near.count ? near.names[0] : "omitted");
		expect(!strcmp(pperf_suggestion(&near, "none", text, sizeof(text)), cases[i].text), "%s: %s", cases[i].wrong,
		       pperf_suggestion(&near, "none", text, sizeof(text)));
		pperf_suggestion(&near, "none", small, sizeof(small));
	}
	end("names that were meant");
}

int main(void)
{
	static const struct {
		const char *layout;
		unsigned int hw, max_index;
	} expected[NUM_LAYOUTS] = {
		{ "Mali-G710", 156, 64 }, { "Mali-G715", 174, 128 }, { "Mali-G720", 185, 128 },
		{ "Mali-G725", 209, 128 }, { "Mali G1", 214, 128 },
	};
	size_t i;

	if (!setlocale(LC_ALL, "")) {
		printf("Bail out! this locale is not there\n");
		return 1;
	}
	printf("1..%u\n", 17 + 3 * NUM_LAYOUTS);
	test_csv();
	test_products();
	test_unknown_layout();
	test_expressions();
	test_values();
	test_sums();
	test_load();
	test_choice();
	test_interface();
	test_kinds();
	test_log();
	test_errors();
	test_suggestions();
	for (i = 0; i < NUM_LAYOUTS; i++) {
		expect(!strcmp(pperf_layouts()[i], expected[i].layout), "layout %zu is %s", i, pperf_layouts()[i]);
		test_counters(expected[i].layout, expected[i].hw, expected[i].max_index);
		test_topdown(expected[i].layout);
		test_default(expected[i].layout);
	}
	return failed;
}
