// SPDX-License-Identifier: GPL-2.0 or MIT
/* Tests of the PMU: what events count, and totals that are read while they are written. */

#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/slab.h>

#include "../panthor_perf_pmu.h"
#include "../panthor_perf_pmu_events.h"

/* Config of an event: counter @index of block @block, from 1, or of all blocks of @type if 0. */
#define CONFIG(type, index, block)	((u64)(block) << 16 | (type) << 8 | (index))

#define FW	DRM_PANTHOR_PERF_BLOCK_FW
#define CSG	DRM_PANTHOR_PERF_BLOCK_CSG
#define CSHW	DRM_PANTHOR_PERF_BLOCK_CSHW
#define TILER	DRM_PANTHOR_PERF_BLOCK_TILER
#define MEMSYS	DRM_PANTHOR_PERF_BLOCK_MEMSYS
#define SHADER	DRM_PANTHOR_PERF_BLOCK_SHADER

/* What a test needs: a sampler of which nothing but its state is used, and one run. */
struct pmu_test {
	struct panthor_perf_layout layout;
	struct panthor_perf_clock clock;
	struct panthor_perf_sampler sampler;
	struct panthor_perf_pmu_gpu gpu;
	struct panthor_perf_pmu_run *run;
	struct panthor_perf_fw_sample *sample;
	u64 ns;
};

/* A GPU of architecture 10 with 64 values a block, or of architecture 11 with 128. */
static void describe(struct kunit *test, struct pmu_test *t, u32 arch)
{
	struct panthor_perf_layout_params params = {
		.gpu_id = arch << 28,
		.mem_features = 1 << 8,
		/* Users do not know one of the cores. */
		.shader_present = 0x5000d,
		.user_shader_present = 0x50005,
		.glb_version = 2 << 24,
		.group_num = 8,
		.prfcnt_features = 2,
		.supported_clocks = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL),
	};
	u32 block = arch > 10 ? 512 : 256;
	const char *why = NULL;

	/* The firmware's part has a block for itself and one for each CSG. */
	params.perfcnt_size = (block * (1 + 8) / 256) << 16 | block * (1 + 1 + 2 + 19) / 256;
	KUNIT_ASSERT_EQ_MSG(test, panthor_perf_layout_init(&t->layout, &params, &why), 0,
			    "%s", why);
	memset(&t->gpu, 0, sizeof(t->gpu));
	t->gpu.arch = arch;
	t->gpu.bus_bytes = 16;
	t->gpu.clocks = params.supported_clocks;
	t->gpu.layout = t->layout;
}

/* Number of the first block of a type. */
static u32 first_block(const struct pmu_test *t, u32 type)
{
	u32 b = 0;

	while (t->layout.blocks[b].type != type)
		b++;
	return b;
}

static int pmu_test_init(struct kunit *test)
{
	struct pmu_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	test->priv = t;
	describe(test, t, 10);
	t->ns = 1000;
	t->sample = kunit_kzalloc(test, t->layout.fw_copy_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, t->sample);
	t->sampler.layout = &t->layout;
	t->sampler.clock = &t->clock;
	KUNIT_ASSERT_EQ(test, panthor_perf_sampler_init(&t->sampler), 0);
	t->sampler.state = PANTHOR_PERF_SAMPLER_COUNTING;
	t->run = panthor_perf_pmu_run_create(&t->sampler);
	if (!t->run)
		panthor_perf_sampler_fini(&t->sampler);
	KUNIT_ASSERT_NOT_NULL(test, t->run);
	return 0;
}

static void pmu_test_exit(struct kunit *test)
{
	struct pmu_test *t = test->priv;

	if (!t || !t->run)
		return;

	/* The fake sampler has no firmware that could be told anything. */
	t->sampler.state = PANTHOR_PERF_SAMPLER_DOWN;
	panthor_perf_pmu_run_free(t->run);
	panthor_perf_sampler_fini(&t->sampler);
}

static void use(struct pmu_test *t, u32 type, bool enable)
{
	panthor_perf_sampler_enable(&t->sampler, &t->run->client, type, enable);
}

/* Each counter of a block has this value in fill()'s firmware sample. */
static u32 value_of(u32 block, u32 index)
{
	return 1000 * block + index;
}

/* Makes a firmware sample in which all blocks were written. */
static void fill(struct pmu_test *t)
{
	u32 b, i;

	for (b = 0; b < t->layout.num_blocks; b++) {
		t->sample->written[b / 64] |= BIT_ULL(b % 64);
		for (i = 0; i < t->layout.num_values; i++)
			t->sample->values[b * t->layout.num_values + i] = value_of(b, i);
	}
}

/* Adds a sample of 100 ns to the totals. Returns its flags. */
static u32 sample(struct pmu_test *t, const struct panthor_perf_fw_sample *fw_sample, u32 flags)
{
	struct panthor_perf_sample_info info = {
		.start.ns = t->ns,
		.end.ns = t->ns + 100,
		.end.cycles = { 50, 0, 0 },
		.flags = flags,
	};

	t->ns += 100;
	if (fw_sample)
		t->sampler.num_samples++;
	return t->run->client.ops->deliver(&t->run->client, fw_sample, &info);
}

/* Reads an event as perf does. */
static u64 count(struct kunit *test, u64 config, u64 now_ns)
{
	struct pmu_test *t = test->priv;
	struct panthor_perf_pmu_source source;
	struct panthor_perf_pmu_totals *totals;
	unsigned long irqs;
	u64 ret;

	KUNIT_ASSERT_EQ(test, panthor_perf_pmu_parse(&t->gpu, config, &source), 0);
	local_irq_save(irqs);
	totals = panthor_perf_pmu_pin(t->run);
	ret = panthor_perf_pmu_count(totals, &source, now_ns);
	panthor_perf_pmu_unpin(totals);
	local_irq_restore(irqs);
	return ret;
}

static void parse(struct kunit *test)
{
	static const struct {
		u64 config;
		bool valid[2];
	} cases[] = {
		/* Kinds of block type 0. */
		{ 0x00, { false, false } },
		{ 0x01, { true, true } },
		{ 0x02, { true, true } },
		{ 0x03, { true, true } },
		{ 0x04, { false, false } },
		{ 0x05, { false, false } },
		{ 0x06, { true, true } },
		{ 0x09, { true, true } },
		{ 0x0a, { true, true } },
		{ 0x0b, { true, true } },
		{ 0x0c, { false, false } },
		{ 0xff, { false, false } },
		{ CONFIG(0, 1, 1), { false, false } },
		/* Counters. */
		{ CONFIG(FW, 4, 0), { true, true } },
		{ CONFIG(FW, 3, 0), { false, false } },
		{ CONFIG(CSHW, 63, 0), { true, true } },
		{ CONFIG(CSHW, 64, 0), { false, true } },
		{ CONFIG(CSHW, 127, 0), { false, true } },
		{ CONFIG(CSHW, 128, 0), { false, false } },
		{ CONFIG(CSHW, 4, 1), { true, true } },
		{ CONFIG(CSHW, 4, 2), { false, false } },
		{ CONFIG(CSG, 4, 8), { true, true } },
		{ CONFIG(CSG, 4, 9), { false, false } },
		{ CONFIG(MEMSYS, 4, 2), { true, true } },
		{ CONFIG(MEMSYS, 4, 3), { false, false } },
		{ CONFIG(SHADER, 4, 4), { true, true } },
		{ CONFIG(SHADER, 4, 5), { false, false } },
		{ CONFIG(SHADER, 4, 255), { false, false } },
		{ CONFIG(7, 4, 0), { false, false } },
		{ CONFIG(255, 4, 0), { false, false } },
		/* Bits without a meaning. */
		{ BIT_ULL(24) | CONFIG(CSHW, 4, 0), { false, false } },
		{ BIT_ULL(63) | CONFIG(CSHW, 4, 0), { false, false } },
		{ BIT_ULL(32) | 1, { false, false } },
	};
	struct panthor_perf_pmu_source source;
	struct pmu_test *t = test->priv;
	u32 i, arch;

	for (arch = 10; arch <= 11; arch++) {
		describe(test, t, arch);
		for (i = 0; i < ARRAY_SIZE(cases); i++) {
			int got = panthor_perf_pmu_parse(&t->gpu, cases[i].config, &source);
			int want = 0;

			if (!cases[i].valid[arch - 10])
				want = -EINVAL;

			KUNIT_EXPECT_EQ_MSG(test, got, want, "config %llx, architecture %u",
					    cases[i].config, arch);
		}
	}

	/* The width of the bus is not known. */
	t->gpu.bus_bytes = 0;
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_parse(&t->gpu, 0x08, &source), -EINVAL);
	/* There are no shader cores. */
	t->gpu.layout.type_count[SHADER] = 0;
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_parse(&t->gpu, 0x06, &source), -EINVAL);
	/* What is a multiple of cycles needs the clock. */
	describe(test, t, 11);
	t->gpu.clocks = 0;
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_parse(&t->gpu, 0x03, &source), -EINVAL);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_parse(&t->gpu, 0x06, &source), -EINVAL);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_parse(&t->gpu, 0x07, &source), -EINVAL);
	describe(test, t, 10);
}

/* sysfs has the names of a GPU's layout, all of which are events that can be opened. */
static void names(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	struct attribute **attr;
	u32 arch;

	/* From architecture 11 on blocks have 128 values. */
	describe(test, t, 10);
	for (arch = 10; arch <= 14; arch++) {
		if (arch == 11)
			describe(test, t, arch);
		t->gpu.arch = arch;
		t->gpu.clocks = 0x7;
		for (attr = panthor_perf_pmu_events; *attr; attr++) {
			u64 id = container_of(*attr, struct perf_pmu_events_attr, attr.attr)->id;

			KUNIT_EXPECT_EQ_MSG(test, panthor_perf_pmu_has_event(&t->gpu, id),
					    !!(PANTHOR_PERF_PMU_ID_LAYOUTS(id) & BIT(arch - 10)),
					    "%s, architecture %u", (*attr)->name, arch);
		}
	}

	describe(test, t, 10);
}

/* Each part of a count is added once, in whatever order readers come. */
static void advance(struct kunit *test)
{
	local64_t prev;

	local64_set(&prev, 0);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, 100), 100);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, 100), 0);
	/* A reader that has pinned earlier totals. */
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, 40), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&prev), 100);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, 130), 30);
	/* Counts wrap around. */
	local64_set(&prev, -10);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, 5), 15);
	KUNIT_EXPECT_EQ(test, panthor_perf_pmu_advance(&prev, (u64)-3), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&prev), 5);
}

static void totals(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	u32 cshw = first_block(t, CSHW), shader = first_block(t, SHADER);
	u32 beats = value_of(first_block(t, MEMSYS), PANTHOR_PERF_PMU_EXTERNAL_READ & 0xff);
	u32 n;

	/* Who opens events need not be trusted to see the GPU more often than each millisecond. */
	KUNIT_EXPECT_TRUE(test, t->run->client.limited);
	/* Who reads sees what firmware has sampled by itself, too. */
	KUNIT_EXPECT_TRUE(test, t->run->client.emit_auto);
	use(t, CSHW, true);
	use(t, MEMSYS, true);
	use(t, SHADER, true);
	fill(t);
	for (n = 1; n <= 5; n++) {
		KUNIT_EXPECT_EQ(test, sample(t, t->sample, 0), 0);
		KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 4, 0), 0), n * value_of(cshw, 4));
		KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 63, 1), 0), n * value_of(cshw, 63));
		KUNIT_EXPECT_EQ(test, count(test, CONFIG(SHADER, 9, 3), 0),
				n * value_of(shader + 2, 9));
		KUNIT_EXPECT_EQ(test, count(test, CONFIG(SHADER, 9, 0), 0),
				n * (4 * value_of(shader, 9) + 6000));
		/* Beats of two slices, times 16 bytes. */
		KUNIT_EXPECT_EQ(test, count(test, 0x08, 0), n * 16 * (2 * beats + 1000));
		KUNIT_EXPECT_EQ(test, count(test, 0x0a, 0), n);
		KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 0);
		KUNIT_EXPECT_EQ(test, count(test, 0x01, 0), 1000 + n * 100);
		KUNIT_EXPECT_EQ(test, count(test, 0x03, 0), n * 50);
		/* The same, times cores, and times slices. */
		KUNIT_EXPECT_EQ(test, count(test, 0x06, 0), n * 50 * 4);
		KUNIT_EXPECT_EQ(test, count(test, 0x07, 0), n * 50 * 2);
		/* The first one ends a time of which it is not known if the GPU was up. */
		KUNIT_EXPECT_EQ(test, count(test, 0x02, 0), (n - 1) * 100);
	}

	/* What others have asked for comes with the next sample of the run. */
	panthor_perf_accum_add(&t->layout, t->sample, t->run->client.accum);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 4, 0), 0), 5 * value_of(cshw, 4));
	sample(t, NULL, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 4, 0), 0), 6 * value_of(cshw, 4));
	sample(t, NULL, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 4, 0), 0), 6 * value_of(cshw, 4));
}

/* GPU_ACTIVE may read 0 while the GPU works. Numbers of cores and slices do not depend on it. */
static void active_reads_0(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	u32 cshw = first_block(t, CSHW) * t->layout.num_values;

	use(t, CSHW, true);
	fill(t);
	t->sample->values[cshw + 4] = 0;
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(CSHW, 4, 0), 0), 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x03, 0), 50);
	KUNIT_EXPECT_EQ(test, count(test, 0x06, 0), 200);
	KUNIT_EXPECT_EQ(test, count(test, 0x07, 0), 100);
}

/* Blocks that no event needs are not counted, and do not leave anything behind. */
static void types(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	u32 tiler = first_block(t, TILER);
	u64 before;

	fill(t);
	use(t, CSHW, true);
	use(t, TILER, true);
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(TILER, 5, 0), 0), value_of(tiler, 5));

	/* This is in the accumulator when the type is disabled. */
	panthor_perf_accum_add(&t->layout, t->sample, t->run->client.accum);
	use(t, TILER, false);
	sample(t, t->sample, 0);
	sample(t, t->sample, 0);
	use(t, TILER, true);
	sample(t, NULL, 0);
	before = count(test, CONFIG(TILER, 5, 0), 0);
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(TILER, 5, 0), 0) - before, value_of(tiler, 5));
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, CONFIG(TILER, 5, 0), 0) - before,
			2 * value_of(tiler, 5));
}

static void lost(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	u32 cshw = first_block(t, CSHW) * t->layout.num_values;

	use(t, CSHW, true);
	fill(t);
	sample(t, t->sample, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 1);
	sample(t, t->sample, DRM_PANTHOR_PERF_SAMPLE_OVERFLOW | DRM_PANTHOR_PERF_SAMPLE_ERROR);
	KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 2);
	sample(t, t->sample, DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
	KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 2);

	/* A counter at its top may have counted more. */
	t->sample->values[cshw + 7] = U32_MAX;
	t->sample->saturated[0] = U64_MAX;
	KUNIT_EXPECT_EQ(test, sample(t, t->sample, 0), DRM_PANTHOR_PERF_SAMPLE_OVERFLOW);
	KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 3);
	t->sample->values[cshw + 7] = 0;
	t->sample->saturated[0] = 0;
	KUNIT_EXPECT_EQ(test, sample(t, t->sample, 0), 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x0b, 0), 3);
}

/* While the GPU is down time goes on, and nothing else. */
static void sleeps(struct kunit *test)
{
	struct pmu_test *t = test->priv;

	use(t, CSHW, true);
	fill(t);
	sample(t, t->sample, 0);
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x01, 5000), 1200);

	t->sampler.state = PANTHOR_PERF_SAMPLER_DOWN;
	sample(t, NULL, 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x01, 1250), 1300);
	KUNIT_EXPECT_EQ(test, count(test, 0x01, 5000), 5000);
	KUNIT_EXPECT_EQ(test, count(test, 0x02, 5000), 200);

	t->ns = 6000;
	t->sampler.state = PANTHOR_PERF_SAMPLER_COUNTING;
	sample(t, NULL, 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x01, 9000), 6100);
	KUNIT_EXPECT_EQ(test, count(test, 0x02, 9000), 200);
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x02, 9000), 300);

	/* When the device has gone, time stands still. */
	t->sampler.state = PANTHOR_PERF_SAMPLER_GONE;
	sample(t, NULL, DRM_PANTHOR_PERF_SAMPLE_ERROR);
	KUNIT_EXPECT_EQ(test, count(test, 0x01, 9000), 6300);
}

/* Totals that are pinned are not written, and other ones are read meanwhile. */
static void pinned(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	struct panthor_perf_pmu_totals *first, *second;
	unsigned long irqs;
	u64 got;

	use(t, CSHW, true);
	fill(t);
	sample(t, t->sample, 0);

	local_irq_save(irqs);
	first = panthor_perf_pmu_pin(t->run);
	sample(t, t->sample, 0);
	got = first->values[PANTHOR_PERF_PMU_FIRMWARE_SAMPLES];
	second = panthor_perf_pmu_pin(t->run);
	local_irq_restore(irqs);

	KUNIT_EXPECT_EQ(test, got, 1);
	KUNIT_EXPECT_PTR_NE(test, first, second);
	KUNIT_EXPECT_EQ(test, second->values[PANTHOR_PERF_PMU_FIRMWARE_SAMPLES], 2);
	panthor_perf_pmu_unpin(second);
	panthor_perf_pmu_unpin(first);
	KUNIT_EXPECT_EQ(test, atomic_read(&first->pins), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&second->pins), 0);
	sample(t, t->sample, 0);
	KUNIT_EXPECT_EQ(test, count(test, 0x0a, 0), 3);
}

/* Readers that check what they read, while samples are added. */
struct reader {
	struct pmu_test *t;
	struct task_struct *task;
	struct completion begun;
	u64 reads, torn, back;
};

static int read_totals(void *data)
{
	struct reader *r = data;
	struct pmu_test *t = r->t;
	u32 first = first_block(t, CSHW) * t->layout.num_values + PANTHOR_PERF_VALUES_RESERVED;
	u32 last = t->layout.num_blocks * t->layout.num_values - 1;
	const u32 made = PANTHOR_PERF_PMU_MADE, samples = PANTHOR_PERF_PMU_FIRMWARE_SAMPLES;
	u64 seen = 0;

	while (!kthread_should_stop()) {
		struct panthor_perf_pmu_totals *totals;
		unsigned long irqs;
		u64 a, b, c;

		local_irq_save(irqs);
		totals = panthor_perf_pmu_pin(t->run);
		a = READ_ONCE(totals->values[samples]);
		b = READ_ONCE(totals->values[made + first]);
		c = READ_ONCE(totals->values[made + last]);
		/* The same totals once more, as the last event of a group. */
		if (a != READ_ONCE(totals->values[samples]) || b != a || c != a)
			r->torn++;
		panthor_perf_pmu_unpin(totals);
		local_irq_restore(irqs);
		if (a < seen)
			r->back++;
		seen = a;
		if (!r->reads++)
			complete(&r->begun);
		cond_resched();
	}

	return 0;
}

static void concurrent(struct kunit *test)
{
	struct pmu_test *t = test->priv;
	struct reader readers[3] = {};
	u32 i, started = 0, first, last;

	if (num_online_cpus() == 1)
		kunit_skip(test, "there is one CPU: nobody reads beside the writer");

	use(t, CSHW, true);
	use(t, SHADER, true);
	first = first_block(t, CSHW) * t->layout.num_values + PANTHOR_PERF_VALUES_RESERVED;
	last = t->layout.num_blocks * t->layout.num_values - 1;
	fill(t);
	t->sample->values[first] = 1;
	t->sample->values[last] = 1;

	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		readers[i].t = t;
		init_completion(&readers[i].begun);
		readers[i].task = kthread_run(read_totals, &readers[i], "perf-pmu-%u", i);
		if (IS_ERR(readers[i].task))
			continue;

		wait_for_completion(&readers[i].begun);
		started++;
	}

	for (i = 0; i < 20000; i++) {
		sample(t, t->sample, 0);
		cond_resched();
	}

	for (i = 0; i < ARRAY_SIZE(readers); i++)
		if (!IS_ERR(readers[i].task))
			kthread_stop(readers[i].task);

	KUNIT_EXPECT_EQ(test, started, ARRAY_SIZE(readers));
	KUNIT_EXPECT_EQ(test, count(test, 0x0a, 0), 20000);
	for (i = 0; i < ARRAY_SIZE(readers); i++) {
		KUNIT_EXPECT_EQ(test, readers[i].torn, 0);
		KUNIT_EXPECT_EQ(test, readers[i].back, 0);
	}
}

static struct kunit_case panthor_perf_pmu_cases[] = {
	KUNIT_CASE(parse),
	KUNIT_CASE(names),
	KUNIT_CASE(advance),
	KUNIT_CASE(totals),
	KUNIT_CASE(active_reads_0),
	KUNIT_CASE(types),
	KUNIT_CASE(lost),
	KUNIT_CASE(sleeps),
	KUNIT_CASE(pinned),
	KUNIT_CASE(concurrent),
	{}
};

static struct kunit_suite panthor_perf_pmu_suite = {
	.name = "panthor_perf_pmu",
	.init = pmu_test_init,
	.exit = pmu_test_exit,
	.test_cases = panthor_perf_pmu_cases,
};

kunit_test_suite(panthor_perf_pmu_suite);
