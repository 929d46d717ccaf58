// SPDX-License-Identifier: MIT
/* Tests of panthor-perf's tables, equations and choice of counters. Prints TAP. */
#define _GNU_SOURCE
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <drm/panthor_perf_drm.h>

#include "data.h"
#include "expr.h"
#include "interface.h"
#include "select.h"

static unsigned int tests;
static int failed;
static bool good;

static void begin(void)
{
	good = true;
}

static void __attribute__((format(printf, 2, 3))) expect(bool condition, const char *format, ...)
{
	va_list args;

	if (condition)
		return;
	good = false;
	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}

static void end(const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
}

static const char *const layouts[] = { "Mali-G710", "Mali-G715", "Mali-G720", "Mali-G725", "Mali G1" };

#define NUM_LAYOUTS (sizeof(layouts) / sizeof(layouts[0]))

static void test_csv(void)
{
	char text[] = "# a comment\na,b c,\"d, \"\"e\"\"\",\n\n# another\n1,,\"\"\nlast";
	char *rest = text, *f[5];
	unsigned int n;

	begin();
	n = csv_row(&rest, f, 5);
	expect(n == 4, "first row: %u fields", n);
	if (n == 4)
		expect(!strcmp(f[0], "a") && !strcmp(f[1], "b c") && !strcmp(f[2], "d, \"e\"") &&
		       !strcmp(f[3], ""), "first row: %s|%s|%s|%s", f[0], f[1], f[2], f[3]);
	n = csv_row(&rest, f, 5);
	expect(n == 3, "second row: %u fields", n);
	if (n == 3)
		expect(!strcmp(f[0], "1") && !*f[1] && !*f[2], "second row: %s|%s|%s", f[0], f[1], f[2]);
	n = csv_row(&rest, f, 5);
	expect(n == 1 && !strcmp(f[0], "last"), "third row: %u fields, %s", n, f[0]);
	n = csv_row(&rest, f, 5);
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
	struct product p;
	size_t i;

	begin();
	for (i = 0; i < sizeof(products) / sizeof(products[0]); i++) {
		if (data_product(products[i].gpu_id, &p)) {
			expect(false, "%#x: no product", products[i].gpu_id);
			continue;
		}
		expect(!strcmp(p.name, products[i].name) && !strcmp(p.layout, products[i].layout),
		       "%#x: %s, %s", products[i].gpu_id, p.name, p.layout);
		expect(!data_product_by_name(products[i].name + 5, &p) &&
		       !strcmp(p.name, products[i].name), "%s: not found", products[i].name + 5);
	}
	expect(data_product(0x90910000, &p), "0x90910000 is %s", p.name);
	expect(data_product(0xa8680000, &p), "0xa8680000 is %s", p.name);
	expect(data_product_by_name("", &p), "the empty name is %s", p.name);
	expect(data_product_by_name("G", &p), "G is %s", p.name);
	end("products");
}

static void test_counters(const char *layout, unsigned int hw, unsigned int max_index)
{
	unsigned int by_place[BLOCK_TYPES][MAX_VALUES] = {}, n = 0;
	struct counters counters;
	char name[64];
	size_t i;

	begin();
	expect(!data_counters(layout, &counters), "out of memory");
	for (i = 0; i < counters.count; i++) {
		const struct counter *c = &counters.list[i];

		expect(*c->name && *c->title && *c->group && *c->unit, "row %zu has an empty field", i);
		expect(strncmp(c->name, "Mali", 4) || select_find(&counters, c->name) == c,
		       "%s stands for two counters", c->name);
		if (c->equation) {
			expect(i >= hw, "%s comes before a counter of hardware", c->name);
			continue;
		}
		n++;
		expect(c->type >= DRM_PANTHOR_PERF_BLOCK_CSHW && c->type < BLOCK_TYPES,
		       "%s: block type %u", c->name, c->type);
		expect(c->index >= 4 && c->index < max_index, "%s: index %u", c->name, c->index);
		expect(!by_place[c->type][c->index]++, "%s: %u.%u is taken", c->name, c->type, c->index);
	}
	expect(n == hw, "%u counters of hardware, not %u", n, hw);
	data_free(&counters);
	snprintf(name, sizeof(name), "counters of %s", layout);
	end(name);
}

static int no_names(void *context, const char *name, double *value)
{
	(void)context;
	if (strcmp(name, "Two"))
		return -1;
	*value = 2;
	return 0;
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
		{ "max(min(4, 3), 2) * 10", 30 }, { "1 / 0", INFINITY },
		{ "((((((((((((((((((((1))))))))))))))))))))", 1 },
	};
	static const char *const wrong[] = {
		"", "1 +", "(1", "1)", "1 2", "* 2", "Three", "mix(1, 2)", "max(1", "max()", "1 $ 2",
		"Two Two", "1 + Three * 0",
		"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
	};
	char deep[1000];
	double value;
	size_t i;

	begin();
	for (i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		if (expr_eval(right[i].text, no_names, NULL, &value))
			expect(false, "\"%s\" is not understood", right[i].text);
		else
			expect(value == right[i].value, "\"%s\" is %g", right[i].text, value);
	}
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		expect(expr_eval(wrong[i], no_names, NULL, &value), "\"%s\" is %g", wrong[i], value);

	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	expect(expr_eval(deep, no_names, NULL, &value), "a thousand parentheses are %g", value);
	memset(deep, '-', sizeof(deep) - 1);
	expect(expr_eval(deep, no_names, NULL, &value), "a thousand signs are %g", value);
	end("expressions");
}

/* Every equation has a value, with nothing counted and with everything 1. */
static void test_equations(const char *layout)
{
	static const struct config config = { .cores = 4, .slices = 2, .bus_bytes = 16 };
	struct sums zero = { .seconds = 1 }, one = { .seconds = 1 };
	unsigned int type, n = 0, i;
	struct counters counters;
	char name[64];
	double value;

	for (type = 0; type < BLOCK_TYPES; type++)
		for (i = 0; i < MAX_VALUES; i++)
			one.value[type][i] = 1;

	begin();
	expect(!data_counters(layout, &counters), "out of memory");
	for (i = 0; i < counters.count; i++) {
		const struct counter *c = &counters.list[i];

		if (!c->equation)
			continue;
		n++;
		expect(!select_value(&counters, c, &config, &zero, &value),
		       "%s has no value of nothing: %s", c->name, c->equation);
		/* A division by a difference of ones has no value, but all names are known. */
		if (select_value(&counters, c, &config, &one, &value))
			expect(isinf(value), "%s has no value: %s", c->name, c->equation);
	}
	expect(n > 90, "only %u equations", n);
	data_free(&counters);
	snprintf(name, sizeof(name), "equations of %s", layout);
	end(name);
}

/* Values by hand. */
static void test_values(void)
{
	static const struct config config = { .cores = 4, .slices = 2, .bus_bytes = 16 };
	static const struct {
		const char *name;
		double value;
	} values[] = {
		{ "MaliGPUActiveCy", 1000 },
		{ "MaliExtBusRdBt", 50 },
		/* Bytes, and bytes a second over half of one. */
		{ "MaliExtBusRdBy", 800 },
		{ "MaliExtBusRdBPS", 1600 },
		/* 300 cycles of two slices. */
		{ "MaliExtBusRdStallRate", 15 },
		{ "MaliAnyUtil", 20 },
		{ "MaliCoreUtil", 25 },
		/* The greater of 10 + 20 + 15 and 4 x 15. */
		{ "MaliALUIssueCy", 60 },
		{ "MaliALUUtil", 30 },
		{ "MaliConfigCoreCount", 4 },
		{ "MaliGeomVisibleRate", 40 },
	};
	struct counters counters;
	struct sums sums = { .seconds = 0.5 };
	double value;
	size_t i;

	begin();
	expect(!data_counters("Mali-G710", &counters), "out of memory");
	sums.value[DRM_PANTHOR_PERF_BLOCK_CSHW][4] = 1000;
	sums.value[DRM_PANTHOR_PERF_BLOCK_MEMSYS][32] = 50;
	sums.value[DRM_PANTHOR_PERF_BLOCK_MEMSYS][33] = 300;
	sums.value[DRM_PANTHOR_PERF_BLOCK_SHADER][53] = 800;
	sums.value[DRM_PANTHOR_PERF_BLOCK_SHADER][26] = 200;
	sums.value[DRM_PANTHOR_PERF_BLOCK_SHADER][27] = 10;
	sums.value[DRM_PANTHOR_PERF_BLOCK_SHADER][28] = 20;
	sums.value[DRM_PANTHOR_PERF_BLOCK_SHADER][29] = 15;
	/* Of visible, culled by plane, by Z plane and by sample. */
	sums.value[DRM_PANTHOR_PERF_BLOCK_TILER][11] = 4;
	sums.value[DRM_PANTHOR_PERF_BLOCK_TILER][12] = 3;
	sums.value[DRM_PANTHOR_PERF_BLOCK_TILER][13] = 2;
	sums.value[DRM_PANTHOR_PERF_BLOCK_TILER][14] = 1;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		const struct counter *c = select_find(&counters, values[i].name);

		if (!c || select_value(&counters, c, &config, &sums, &value))
			expect(false, "%s has no value", values[i].name);
		else
			expect(fabs(value - values[i].value) < 1e-9, "%s is %.17g, not %g",
			       values[i].name, value, values[i].value);
	}
	data_free(&counters);
	end("values of counters");
}

static void expect_choice(struct selection *s, const char *pattern, int found, size_t count)
{
	int ret = select_add(s, pattern);

	expect(ret == found && s->count == count, "\"%s\": %d found, %zu chosen, not %d and %zu",
	       pattern, ret, s->count, found, count);
}

static void expect_masks(const struct selection *s, const uint64_t masks[BLOCK_TYPES])
{
	unsigned int type;

	for (type = 0; type < BLOCK_TYPES; type++)
		expect(s->masks[type][0] == masks[type] && !s->masks[type][1],
		       "mask of type %u is %#llx, %#llx", type, (unsigned long long)s->masks[type][0],
		       (unsigned long long)s->masks[type][1]);
}

static void test_choice(void)
{
	const uint64_t simple[BLOCK_TYPES] = {
		[DRM_PANTHOR_PERF_BLOCK_FW] = 1ull << 5,
		[DRM_PANTHOR_PERF_BLOCK_CSHW] = 1ull << 4 | 1ull << 5,
		[DRM_PANTHOR_PERF_BLOCK_TILER] = 1ull << 4,
	};
	/* What MaliExtBusRdStallRate is made of. */
	const uint64_t derived[BLOCK_TYPES] = {
		[DRM_PANTHOR_PERF_BLOCK_CSHW] = 1ull << 4,
		[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = 1ull << 33,
	};
	struct counters counters;
	struct selection s = { .counters = &counters };

	expect(!data_counters("Mali-G710", &counters), "out of memory");

	begin();
	expect_choice(&s, "MaliGPUActiveCy", 1, 1);
	expect_choice(&s, "gpu_active", 1, 1);
	expect_choice(&s, "MCU active cycles", 1, 2);
	expect_choice(&s, "tiler.4", 1, 3);
	expect_choice(&s, "FW.5", 1, 4);
	expect_choice(&s, "fw.5", 1, 4);
	expect_choice(&s, "FW.3", 0, 4);
	expect_choice(&s, "FW.128", 0, 4);
	expect_choice(&s, "FW.5x", 0, 4);
	expect_choice(&s, "FW.", 0, 4);
	expect_choice(&s, "Nothing", 0, 4);
	expect_choice(&s, "", 0, 4);
	expect(s.count == 4 && !strcmp(s.chosen[3]->name, "FW.5"), "the fourth is %s",
	       s.count == 4 ? s.chosen[3]->name : "missing");
	expect_masks(&s, simple);
	select_free(&s);
	end("counters chosen by name and place");

	begin();
	memset(&s, 0, sizeof(s));
	s.counters = &counters;
	expect_choice(&s, "MaliExtBusRdStallRate", 1, 1);
	expect_masks(&s, derived);
	select_free(&s);
	end("a derived counter enables what it is made of");

	begin();
	memset(&s, 0, sizeof(s));
	s.counters = &counters;
	expect_choice(&s, "MaliExtBusRdLat*", 6, 6);
	expect(s.masks[DRM_PANTHOR_PERF_BLOCK_MEMSYS][0] == (1ull << 32 | 0x1full << 37),
	       "mask %#llx", (unsigned long long)s.masks[DRM_PANTHOR_PERF_BLOCK_MEMSYS][0]);
	expect_choice(&s, "*", counters.count, counters.count);
	select_free(&s);
	end("counters chosen by pattern");

	data_free(&counters);
}

static void test_default(const char *layout)
{
	struct counters counters;
	struct selection s = { .counters = &counters };
	char name[64];
	int found;

	begin();
	expect(!data_counters(layout, &counters), "out of memory");
	found = select_default(&s);
	expect(found >= 20 && (size_t)found == s.count, "%d counters, %zu chosen", found, s.count);
	expect(s.masks[DRM_PANTHOR_PERF_BLOCK_CSHW][0] && s.masks[DRM_PANTHOR_PERF_BLOCK_TILER][0] &&
	       s.masks[DRM_PANTHOR_PERF_BLOCK_MEMSYS][0] &&
	       s.masks[DRM_PANTHOR_PERF_BLOCK_SHADER][0], "a block is left out");
	select_free(&s);
	data_free(&counters);
	snprintf(name, sizeof(name), "default counters of %s", layout);
	end(name);
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
	expect(interface_is_known(&info, 64), "the interface is not known");
	expect(interface_is_known(&info, 48), "its shorter form is not known");
	expect(!interface_is_known(&info, 44), "an answer without the size of a sample is known");
	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		info = good_info;
		memcpy((char *)&info + changes[i].offset, &changes[i].value, 4);
		expect(!interface_is_known(&info, 64), "%s: is known", changes[i].name);
	}
	end("only the interface of the headers is used");
}

static void test_rates(void)
{
	static const struct {
		const char *name;
		bool rate;
	} cases[] = {
		{ "MaliGPUActiveCy", true }, { "MaliExtBusRdBy", true }, { "MaliGeomTotalPrim", true },
		{ "MaliExtBusRdBPS", false }, { "MaliCoreUtil", false }, { "MaliConfigCoreCount", false },
		{ "MaliGPUCyPerPix", false }, { "MaliTexCPI", false }, { "MaliFragOverdraw", false },
	};
	struct counters counters;
	size_t i;

	begin();
	expect(!data_counters("Mali-G710", &counters), "out of memory");
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct counter *c = select_find(&counters, cases[i].name);

		if (!c)
			expect(false, "%s is missing", cases[i].name);
		else
			expect(select_has_rate(c) == cases[i].rate, "%s: %d", cases[i].name,
			       select_has_rate(c));
	}
	data_free(&counters);
	end("which counters have a rate");
}

int main(void)
{
	static const struct {
		unsigned int hw, max_index;
	} expected[NUM_LAYOUTS] = { { 156, 64 }, { 174, 128 }, { 185, 128 }, { 209, 128 }, { 214, 128 } };
	size_t i;

	printf("1..%zu\n", 3 + 4 + 2 + 3 * NUM_LAYOUTS);
	test_csv();
	test_products();
	test_expressions();
	test_values();
	test_choice();
	test_interface();
	test_rates();
	for (i = 0; i < NUM_LAYOUTS; i++) {
		test_counters(layouts[i], expected[i].hw, expected[i].max_index);
		test_equations(layouts[i]);
		test_default(layouts[i]);
	}
	return failed;
}
