// SPDX-License-Identifier: GPL-2.0 or MIT
/* Tests of the sampler, with a fake firmware that works correctly or fails in a given way. */

#include <kunit/test.h>

#ifdef CONFIG_ARM_ARCH_TIMER
#include <asm/arch_timer.h>
#endif

#include <linux/delay.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../panthor_device.h"
#include "../panthor_fw.h"
#include "../panthor_perf_sampler_internal.h"

#define FAKE_SLOTS	16
#define FAKE_SET	2
#define MAX_SAMPLES	64
#define QUEUE_SIZE	8

/* Indices and numbers start here, so that they wrap while a test is under way. */
#define BEFORE_WRAP	(U32_MAX - 1)

/* The counter that tests use: the first one of the CSHW block. */
#define COUNTER		4

#define OVERFLOW	DRM_PANTHOR_PERF_SAMPLE_OVERFLOW
#define ERROR		DRM_PANTHOR_PERF_SAMPLE_ERROR
#define STRETCHED	DRM_PANTHOR_PERF_SAMPLE_STRETCHED

#define ON		DRM_PANTHOR_PERF_BLOCK_STATE_ON
#define OFF		DRM_PANTHOR_PERF_BLOCK_STATE_OFF
#define AVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE
#define UNAVAILABLE	DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE
#define NORMAL		DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL
#define PROTECTED	DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED

struct fake_client;

/* A fake firmware, and flags that make it fail. */
struct fake {
	struct panthor_perf_fw fw;
	struct panthor_fw_global_iface glb;
	struct panthor_fw_global_input_iface input;
	struct panthor_fw_global_output_iface output;
	struct panthor_perf_layout layout;
	struct panthor_perf_clock clock;
	/* The fake's own, for the timestamps of its samples. */
	struct panthor_perf_clock fw_clock;
	struct panthor_perf_sampler sampler;

	/* Clients that new_client() has created. */
	struct fake_client *clients[64];
	u32 num_clients;

	/* Value of the counter: what was counted since the last firmware sample. */
	u32 count;

	/* Which enable of counters it was whose indices age_ring() has changed last. */
	u32 aged;

	/* Value of REQ when the fake last looked at it, at a doorbell or at boot. */
	u32 req;
	/*
	 * A sample has found the ring full, and the ring was full at every doorbell since
	 * then.
	 */
	bool no_room;

	/* Numbers of calls of the driver's functions: all of them, doorbells, resets, enables. */
	u32 calls;
	u32 requests;
	u32 resets;
	u32 enables;
	/* Waits for an acknowledgment that no interrupt would tell of: they take the whole time. */
	u32 masked_waits;

	/* What the log was told of the last reset. */
	const char *why;
	/* Somebody else's reset is pending: the sampler cannot ask for one of its own. */
	bool reset_pending;

	/* How long the driver was ready to wait for an acknowledgment of ENABLE, and of SAMPLE. */
	u32 enable_ms, sample_ms;

	/* The interrupt that follows a doorbell. */
	struct work_struct irq_work;

	/* Woken when a sample of a client is signalled. */
	wait_queue_head_t signalled;

	/* The fake does not look at REQ when a doorbell is rung. wake() makes it look. */
	bool asleep;
	/* The fake answers no request at all. */
	bool dead;
	/* The fake writes requested samples, but does not acknowledge the requests. */
	bool mute;
	/* The fake acknowledges requests without writing samples. */
	bool empty;
	/*
	 * Automatic samples that are taken before counters are disabled, and whether one
	 * finds no room before them, so that what was counted is lost.
	 */
	u32 autos_at_last;
	bool loses_at_last;
	/* The fake writes so many samples while a client is given the next one. */
	u32 writes_meanwhile;
	/* The fake behaves as if its ring were full. */
	bool full;
	/*
	 * The fake raises OVERFLOW only once while the ring is full; it has done so if told
	 * is set.
	 */
	bool told_once, told;
	/* The fake raises THRESHOLD and OVERFLOW at every doorbell. */
	bool nags;
	/* The GPU is in protected mode, so the fake does not answer requests about counters. */
	bool protected;
	/* The fake wakes and answers when the driver next reads GPU_STATUS, with no interrupt. */
	bool late;
	/* The fake takes a sample and enters protected mode while the driver waits for it. */
	bool protected_when_waited;
	/* The same, when the driver next reads GPU_STATUS. */
	bool protected_when_read;
	/* Protected mode ends while ENABLE is waited for, too late for an answer. */
	bool protected_until_waited;
	/*
	 * INSERT makes no sense from the moment at which counters are enabled. To the fake
	 * the ring is not full for that.
	 */
	bool nonsense;
	/* This client requests a sample when the driver has read GPU_STATUS so many times. */
	struct fake_client *requests_meanwhile;
	u32 reads_left;
	/* It calls STOP instead, is answered, and protected mode begins. */
	bool stops_meanwhile;
};

/* A client, and the samples that it has received. */
struct fake_client {
	struct fake *f;
	struct panthor_perf_client client;
	struct panthor_perf_request queue[QUEUE_SIZE];
	u64 *sample;
	u32 room;
	u32 num, signals;
	/* All that they have counted. */
	u64 sum;
	/* STOP is called while a sample is written, and returns something. */
	bool stops, stopped;
	/* A queue that is longer than the other one, or NULL. */
	struct panthor_perf_request *long_queue;
	struct {
		u64 data, count, start, end;
		u32 flags;
		u8 states, core;
	} got[MAX_SAMPLES];
};

static struct fake *to_fake(struct panthor_perf_fw *fw)
{
	return container_of(fw, struct fake, fw);
}

/* Raises an event, unless the kernel has not acknowledged the previous one yet. */
static void fake_raise(struct fake *f, u32 event)
{
	if (!((f->req ^ f->output.ack) & event))
		f->output.ack ^= event;
}

/* Acknowledges what is requested, without a sample. */
static void fake_ack_sample(struct fake *f)
{
	f->output.ack = (f->output.ack & ~GLB_PERFCNT_SAMPLE) |
			(f->input.req & GLB_PERFCNT_SAMPLE);
}

static u32 fake_pending(struct fake *f)
{
	return f->output.perfcnt_insert - f->input.perfcnt_extract;
}

static void fake_sample_reason(struct fake *f, u32 reason)
{
	u32 slot = f->output.perfcnt_insert % FAKE_SLOTS, b;
	void *sample = f->fw.ring + slot * f->layout.fw_sample_size;
	struct panthor_perf_time now = {};
	u32 *metadata = sample;

	/* A sample has a timestamp only if the test uses a clock. */
	if (f->fw_clock.freq)
		panthor_perf_clock_now(&f->fw_clock, &now);

	for (b = 0; b < f->layout.num_blocks; b++) {
		u32 *block = sample + f->layout.blocks[b].fw_offset;

		memset(block, 0, f->layout.fw_block_size);
		block[0] = lower_32_bits(now.gpu);
		block[1] = upper_32_bits(now.gpu);
		block[2] = U16_MAX;
		block[COUNTER] = f->count;
	}

	if (f->layout.has_metadata) {
		metadata[0] = lower_32_bits(now.gpu);
		metadata[1] = upper_32_bits(now.gpu);
		metadata[2] = 3;
		metadata[3] = reason;
	}

	f->count = 0;
	f->output.perfcnt_insert++;
	f->no_room = false;
	if (fake_pending(f) >= FAKE_SLOTS / 2)
		fake_raise(f, GLB_PERFCNT_THRESHOLD);
}

static bool fake_full(struct fake *f)
{
	return f->full || (fake_pending(f) >= FAKE_SLOTS && !f->nonsense);
}

static void fake_sample(struct fake *f)
{
	fake_sample_reason(f, PANTHOR_PERF_REASON_REQUEST);
}

static bool fake_room(struct fake *f)
{
	if (!fake_full(f))
		return true;

	f->no_room = true;
	if (f->told_once && f->told)
		return false;

	f->told = true;
	fake_raise(f, GLB_PERFCNT_OVERFLOW);
	return false;
}

/* Takes an automatic sample. */
static void fake_auto(struct fake *f)
{
	if (fake_room(f))
		fake_sample(f);
}

/* Leaves protected mode, of which firmware without metadata tells by a sample without counts. */
static void fake_leave_protected(struct fake *f)
{
	u32 slot = f->output.perfcnt_insert % FAKE_SLOTS, *cshw, i;

	cshw = f->fw.ring + slot * f->layout.fw_sample_size +
	       f->layout.blocks[f->layout.cshw_block].fw_offset;
	for (i = 0; i < f->layout.num_values; i++)
		cshw[i] = U32_MAX;
	cshw[2] = BIT(0);
	f->output.perfcnt_insert++;
	f->protected = false;
}

/* Takes what samples are due before counters are disabled. */
static void fake_last_samples(struct fake *f)
{
	u32 i;

	if (f->loses_at_last) {
		f->full = true;
		fake_auto(f);
		f->full = false;
		f->count = 0;
	}
	for (i = 0; i < f->autos_at_last; i++)
		fake_auto(f);
}

static void fake_requests(struct fake *f)
{
	u32 diff = f->req ^ f->output.ack;

	if (diff & GLB_PERFCNT_EN) {
		if (!(f->req & GLB_PERFCNT_EN))
			fake_last_samples(f);
		f->output.ack ^= GLB_PERFCNT_EN;
		f->count = 0;
		if (f->output.ack & GLB_PERFCNT_EN) {
			f->enables++;
			f->output.perfcnt_insert = 0;
			if (f->nonsense)
				f->output.perfcnt_insert = FAKE_SLOTS + 1;
			f->no_room = false;
		}
	}

	if (!(diff & GLB_PERFCNT_SAMPLE) || !(f->output.ack & GLB_PERFCNT_EN))
		return;

	if (f->empty) {
		f->output.ack ^= GLB_PERFCNT_SAMPLE;
	} else if (fake_room(f)) {
		fake_sample(f);
		if (!f->mute)
			f->output.ack ^= GLB_PERFCNT_SAMPLE;
	}
}

/* Does what firmware does at a doorbell: looks at REQ. */
static void fake_look(struct fake *f)
{
	if (f->dead || f->asleep)
		return;

	f->req = f->input.req;
	if (f->protected)
		return;

	fake_requests(f);
	if (!(f->output.ack & GLB_PERFCNT_EN) || f->told_once)
		return;

	/* An acknowledged event is raised again if its condition still holds. */
	f->no_room &= fake_full(f);
	if (f->nags || fake_pending(f) >= FAKE_SLOTS / 2)
		fake_raise(f, GLB_PERFCNT_THRESHOLD);
	if (f->nags || f->no_room)
		fake_raise(f, GLB_PERFCNT_OVERFLOW);
}

/* Boots the MCU. If fresh is set, the shared memory has been loaded anew. */
static void fake_boot(struct fake *f, bool fresh)
{
	f->output.ack &= ~GLB_PERFCNT_EN;
	f->count = 0;
	f->no_room = false;
	if (fresh) {
		memset(&f->input, 0, sizeof(f->input));
		memset(&f->output, 0, sizeof(f->output));
	}
	f->req = f->input.req;
}

static void fake_ring_doorbell(struct panthor_perf_fw *fw)
{
	struct fake *f = to_fake(fw);

	f->calls++;
	f->requests++;
	fake_look(f);
	queue_work(f->sampler.wq, &f->irq_work);
}

/* The interrupt thread. */
static void fake_irq_work(struct work_struct *work)
{
	struct fake *f = container_of(work, struct fake, irq_work);

	panthor_perf_sampler_irq(&f->sampler);
}

static int fake_wait_acks(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms)
{
	struct fake *f = to_fake(fw);

	f->calls++;
	if (mask & GLB_PERFCNT_EN)
		f->enable_ms = timeout_ms;
	if (mask & GLB_PERFCNT_SAMPLE)
		f->sample_ms = timeout_ms;
	if (mask & ~f->input.ack_irq_mask)
		f->masked_waits++;
	if (f->protected_when_waited && (mask & GLB_PERFCNT_SAMPLE)) {
		/* Its sample completes a request that is outstanding, if there is one. */
		if (fake_room(f)) {
			fake_sample(f);
			fake_ack_sample(f);
		}
		f->protected = true;
	}

	if (f->protected_until_waited && f->protected && (mask & GLB_PERFCNT_EN)) {
		f->protected = false;
		return -ETIMEDOUT;
	}

	return (f->input.req ^ f->output.ack) & mask ? -ETIMEDOUT : 0;
}

static bool fake_protected_mode(struct panthor_perf_fw *fw)
{
	struct fake *f = to_fake(fw);

	f->calls++;
	if (f->late) {
		f->asleep = false;
		fake_look(f);
	}
	if (f->protected_when_read) {
		f->protected_when_read = false;
		fake_auto(f);
		f->protected = true;
	}
	if (f->requests_meanwhile && !--f->reads_left) {
		struct fake_client *c = f->requests_meanwhile;

		f->requests_meanwhile = NULL;
		if (f->stops_meanwhile) {
			panthor_perf_sampler_stop(&f->sampler, &c->client, 2);
			f->protected = true;
		} else {
			panthor_perf_sampler_request(&f->sampler, &c->client, 2);
		}
	}
	return f->protected;
}

static const struct panthor_perf_fw_ops fake_ops = {
	.ring_doorbell = fake_ring_doorbell,
	.wait_acks = fake_wait_acks,
	.protected_mode = fake_protected_mode,
};

static bool fake_reset(struct panthor_perf_sampler *sampler, const char *why)
{
	struct fake *f = container_of(sampler, struct fake, sampler);

	if (f->reset_pending)
		return false;

	f->why = why;
	f->resets++;
	return true;
}

/* Its samples are consumed at once: there is always room for so many, and for that of STOP. */
static u32 fake_free_slots(struct panthor_perf_client *client)
{
	return container_of(client, struct fake_client, client)->room + 1;
}

static u32 fake_deliver(struct panthor_perf_client *client,
			const struct panthor_perf_fw_sample *fw_sample,
			const struct panthor_perf_sample_info *info)
{
	struct fake_client *c = container_of(client, struct fake_client, client);
	const struct panthor_perf_layout *layout = &c->f->layout;
	const struct drm_panthor_perf_block_header *header =
		(void *)c->sample + layout->blocks[layout->cshw_block].user_offset;
	const struct drm_panthor_perf_block_header *core =
		(void *)c->sample + layout->blocks[layout->shader_block].user_offset;
	u32 i = c->num % MAX_SAMPLES, flags;

	if (c->stops) {
		c->stops = false;
		c->stopped = panthor_perf_sampler_stop(&c->f->sampler, client, 100);
	}
	for (; c->f->writes_meanwhile; c->f->writes_meanwhile--)
		fake_sample(c->f);
	flags = panthor_perf_accum_deliver(layout, client->accum, fw_sample, info, c->sample);
	c->got[i].data = info->user_data;
	c->got[i].flags = ((struct drm_panthor_perf_sample_header *)c->sample)->flags;
	c->got[i].start = info->start.ns;
	c->got[i].end = info->end.ns;
	c->got[i].count = ((u64 *)(header + 1))[COUNTER];
	c->sum += c->got[i].count;
	c->got[i].states = header->block_states;
	c->got[i].core = core->block_states;
	if (client->ops->free_slots) {
		guard(spinlock)(&client->sampler->req_lock);
		client->reserved--;
	}
	c->num++;
	WRITE_ONCE(c->signals, c->signals + 1);
	wake_up_all(&c->f->signalled);
	return flags;
}

static const struct panthor_perf_client_ops fake_client_ops = {
	.free_slots = fake_free_slots,
	.deliver = fake_deliver,
};

/* A client without a ring, as that of the events of perf. */
static const struct panthor_perf_client_ops ringless_ops = {
	.deliver = fake_deliver,
};

static struct fake_client *new_client(struct kunit *test, struct fake *f)
{
	static const u64 mask[2] = { BIT_ULL(COUNTER) };
	struct fake_client *c;

	/*
	 * The sampler may use a client until the test's exit function unplugs it, so KUnit
	 * must not free it before.
	 */
	KUNIT_ASSERT_LT(test, f->num_clients, ARRAY_SIZE(f->clients));
	c = kzalloc_obj(*c, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);
	f->clients[f->num_clients++] = c;
	c->f = f;
	c->room = QUEUE_SIZE - 1;
	c->sample = kzalloc(f->layout.user_sample_size, GFP_KERNEL);
	c->client.ops = &fake_client_ops;
	c->client.block_set = FAKE_SET;
	c->client.accum = kzalloc(f->layout.accum_size, GFP_KERNEL);
	c->client.queue = c->queue;
	c->client.queue_mask = QUEUE_SIZE - 1;
	KUNIT_ASSERT_NOT_NULL(test, c->sample);
	KUNIT_ASSERT_NOT_NULL(test, c->client.accum);
	c->client.head = BEFORE_WRAP;
	c->client.tail = BEFORE_WRAP;
	panthor_perf_client_init(&c->client, &f->sampler);
	panthor_perf_accum_init(&f->layout, c->client.accum);
	panthor_perf_accum_enable(&f->layout, DRM_PANTHOR_PERF_BLOCK_CSHW, mask, c->client.accum);
	panthor_perf_accum_enable(&f->layout, DRM_PANTHOR_PERF_BLOCK_SHADER, mask, c->client.accum);
	return c;
}

/*
 * Sets the indices of the firmware ring as after about 2^32 samples. They are 0 when counters
 * are enabled, and no slot is any different then from another one.
 */
static void age_ring(struct fake *f)
{
	guard(mutex)(&f->sampler.lock);
	guard(spinlock)(&f->sampler.req_lock);

	if (!f->fw.enabled || f->aged == f->fw.epoch ||
	    f->output.perfcnt_insert != f->fw.extract)
		return;

	f->aged = f->fw.epoch;
	f->fw.extract = BEFORE_WRAP;
	f->output.perfcnt_insert = BEFORE_WRAP;
	f->input.perfcnt_extract = BEFORE_WRAP;
}

static int start(struct fake_client *c, u64 data)
{
	int ret = panthor_perf_sampler_start(&c->f->sampler, &c->client, data);

	age_ring(c->f);
	return ret;
}

static int request(struct fake_client *c, u64 data)
{
	return panthor_perf_sampler_request(&c->f->sampler, &c->client, data);
}

static bool stop(struct fake_client *c, u64 data)
{
	return panthor_perf_sampler_stop(&c->f->sampler, &c->client, data);
}

/* An hour: longer than any test. */
#define NOT_NOW		(3600ull * NSEC_PER_SEC)

/* Has the deadline of a client come, whose own one is not to come during the test. */
static void deadline(struct fake_client *c)
{
	struct panthor_perf_client *client = &c->client;

	spin_lock(&client->sampler->req_lock);
	client->deadline_ns = 0;
	spin_unlock(&client->sampler->req_lock);
	client->sampler->timer_work.func(&client->sampler->timer_work);
}

/* Each of them may queue the other one, also while that one runs. */
static void drained(struct fake *f)
{
	do {
		flush_work(&f->irq_work);
		flush_work(&f->sampler.drain_work);
	} while (work_busy(&f->irq_work) || work_busy(&f->sampler.drain_work));
}

/* Makes a sleeping fake look at REQ. */
static void wake(struct fake *f)
{
	f->asleep = false;
	fake_look(f);
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
}

/*
 * Has the check run, as if some time had gone by. It is disabled otherwise: on a
 * busy machine a test may be held up for longer than the check is away.
 */
static void check(struct fake *f, u64 ns)
{
	struct work_struct *work = &f->sampler.check_work.work;

	spin_lock(&f->sampler.req_lock);
	f->sampler.flight_ns -= ns;
	f->sampler.timeout_start_ns -= ns;
	spin_unlock(&f->sampler.req_lock);
	mutex_lock(&f->sampler.lock);
	f->sampler.time.ns -= ns;
	mutex_unlock(&f->sampler.lock);
	work->func(work);
	drained(f);
}

static void expect(struct kunit *test, struct fake_client *c, u32 i, u64 data, u64 count, u32 flags)
{
	KUNIT_EXPECT_GT(test, c->num, i);
	KUNIT_EXPECT_EQ(test, c->got[i].data, data);
	KUNIT_EXPECT_EQ(test, c->got[i].count, count);
	KUNIT_EXPECT_EQ(test, c->got[i].flags, flags);
	KUNIT_EXPECT_GE(test, c->got[i].end, c->got[i].start);
	if (i)
		KUNIT_EXPECT_GE(test, c->got[i].start, c->got[i - 1].end);
}

static void expect_states(struct kunit *test, struct fake_client *c, u32 i, u8 cshw, u8 core)
{
	KUNIT_EXPECT_GT(test, c->num, i);
	KUNIT_EXPECT_EQ_MSG(test, c->got[i].states, cshw, "sample %u", i);
	KUNIT_EXPECT_EQ_MSG(test, c->got[i].core, core, "sample %u", i);
}

static void expect_num(struct kunit *test, struct fake_client *c, u32 num)
{
	drained(c->f);
	KUNIT_EXPECT_EQ(test, c->num, num);
	KUNIT_EXPECT_EQ(test, c->signals, num);
}

static void unplug(void *data)
{
	struct fake *f = data;

	if (f->sampler.state != PANTHOR_PERF_SAMPLER_GONE)
		panthor_perf_sampler_unplug(&f->sampler);
	cancel_work_sync(&f->irq_work);
	panthor_perf_sampler_fini(&f->sampler);

	while (f->num_clients) {
		struct fake_client *c = f->clients[--f->num_clients];

		kfree(c->client.accum);
		kfree(c->sample);
		kvfree(c->long_queue);
		kfree(c);
	}
}

static int init_fake(struct kunit *test, bool metadata)
{
	struct panthor_perf_layout_params params = {
		.gpu_id = 0xa8670000,
		.mem_features = 0x301,
		.shader_present = 0x50005,
		.user_shader_present = 0x50005,
		.glb_version = metadata ? 0x02000000 : 0x01010000,
		.group_num = 8,
		.perfcnt_size = 1 + 1 + 4 + 19,
		.perfcnt_features = metadata,
		.supported_clocks = BIT(DRM_PANTHOR_PERF_CLOCK_TOPLEVEL),
	};
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	const char *why = "";

	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_ASSERT_EQ_MSG(test, panthor_perf_layout_init(&f->layout, &params, &why), 0, "%s",
			    why);
	spin_lock_init(&f->glb.lock);
	f->glb.input = &f->input;
	f->glb.output = &f->output;
	f->fw.ops = &fake_ops;
	f->fw.glb = &f->glb;
	f->fw.slots = FAKE_SLOTS;
	f->fw.layout = &f->layout;
	f->fw.epoch = BEFORE_WRAP;
	f->fw.ring_va = 0x1234500000;
	f->fw.ring = kunit_kzalloc(test, FAKE_SLOTS * f->layout.fw_sample_size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, f->fw.ring);
	panthor_perf_clock_init(&f->clock, NULL);
	panthor_perf_clock_init(&f->fw_clock, NULL);
	f->sampler.fw = &f->fw;
	f->sampler.layout = &f->layout;
	f->sampler.clock = &f->clock;
	f->sampler.reset = fake_reset;
	init_waitqueue_head(&f->signalled);
	INIT_WORK(&f->irq_work, fake_irq_work);
	KUNIT_ASSERT_EQ(test, panthor_perf_sampler_init(&f->sampler), 0);
	f->sampler.next_seq = BEFORE_WRAP;
	f->sampler.flight_seq = BEFORE_WRAP - 1;
	disable_delayed_work(&f->sampler.check_work);
	panthor_perf_sampler_up(&f->sampler);
	test->priv = f;
	return kunit_add_action_or_reset(test, unplug, f);
}

static int sampler_init(struct kunit *test)
{
	return init_fake(test, false);
}

static int metadata_init(struct kunit *test)
{
	return init_fake(test, true);
}

/* Nothing is programmed without a client, and everything when the first one starts. */
static void programs_firmware(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_EXPECT_EQ(test, f->requests, 0);
	KUNIT_EXPECT_EQ(test, f->input.ack_irq_mask, 0);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_as, 0);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_base, 0x1234500000);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config, FAKE_SLOTS | FAKE_SET << 8);
	/* A bit for four of the 64 counters of a block. */
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_csf_enable, 0xffff);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_shader_enable, 0xffff);
	KUNIT_EXPECT_EQ(test, f->input.ack_irq_mask, GLB_PERFCNT_EN | GLB_PERFCNT_SAMPLE |
			GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->input.ack_irq_mask, 0);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
	KUNIT_EXPECT_FALSE(test, f->fw.enabled);
}

/* The sampler sets COUNTER_EN with ENABLE, also after a boot without it, and leaves it set. */
static void cycle_counter(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_EXPECT_EQ(test, f->input.req & GLB_COUNTER_EN, 0);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, f->input.req & GLB_COUNTER_EN, GLB_COUNTER_EN);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->input.req & (GLB_COUNTER_EN | GLB_PERFCNT_EN), GLB_COUNTER_EN);

	KUNIT_ASSERT_EQ(test, start(c, 3), 0);
	panthor_perf_sampler_close(&f->sampler, true);
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	fake_boot(f, true);
	KUNIT_EXPECT_EQ(test, f->input.req & GLB_COUNTER_EN, 0);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->input.req & GLB_COUNTER_EN, GLB_COUNTER_EN);
}

static void hooks_do_nothing(struct kunit *test, struct fake *f)
{
	u64 pair_ns = f->clock.pair.ns;
	u32 i;

	f->calls = 0;
	for (i = 0; i < 3; i++) {
		panthor_perf_sampler_close(&f->sampler, i != 2);
		KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_CLOSING);
		panthor_perf_sampler_down(&f->sampler, i == 2);
		KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_DOWN);
		panthor_perf_sampler_up(&f->sampler);
		KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_IDLE);
	}
	KUNIT_EXPECT_EQ(test, f->calls, 0);
	/* There would be another pair if a hook had read the clocks. */
	KUNIT_EXPECT_EQ(test, f->clock.pair.ns, pair_ns);
}

/*
 * Before the first session there is no firmware ring, and hooks change nothing. Later on there
 * is one, and they touch neither registers nor clocks as long as nobody counts.
 */
static void unused(struct kunit *test)
{
	static const struct panthor_fw_global_input_iface untouched;
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	void *ring = f->fw.ring;

	f->fw.ring = NULL;
	f->output.ack = GLB_PERFCNT_SAMPLE | GLB_PERFCNT_THRESHOLD;
	hooks_do_nothing(test, f);
	KUNIT_EXPECT_MEMEQ(test, &f->input, &untouched, sizeof(untouched));

	f->fw.ring = ring;
	KUNIT_EXPECT_FALSE(test, f->clock.up);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_TRUE(test, f->clock.up);
	f->count = 5;
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 5, 0);

	KUNIT_EXPECT_FALSE(test, f->clock.up);
	hooks_do_nothing(test, f);

	/* START on a GPU that is down: cycles are counted when it is up. */
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_ASSERT_EQ(test, start(c, 3), 0);
	KUNIT_EXPECT_FALSE(test, f->clock.up);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_TRUE(test, f->clock.up);
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_FALSE(test, f->clock.up);
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_FALSE(test, f->clock.up);
}

/* All clients that count use the same counter set, from the first START to the last sample. */
static void sets(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_client(test, f), *b = new_client(test, f);
	struct fake_client *other = new_client(test, f);

	other->client.block_set = 1;

	/* The set is in use while the client counts, and until its last sample is delivered. */
	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, FAKE_SET);
	KUNIT_EXPECT_EQ(test, start(other, 2), -EBUSY);
	KUNIT_ASSERT_EQ(test, start(b, 3), 0);
	f->asleep = true;
	KUNIT_EXPECT_TRUE(test, stop(a, 4));
	KUNIT_EXPECT_EQ(test, start(other, 5), -EBUSY);
	wake(f);
	expect_num(test, a, 1);
	KUNIT_EXPECT_EQ(test, start(other, 6), -EBUSY);
	panthor_perf_sampler_remove(&f->sampler, &b->client);
	KUNIT_EXPECT_EQ(test, f->enables, 1);

	KUNIT_ASSERT_EQ(test, start(other, 7), 0);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, 1);
	KUNIT_EXPECT_EQ(test, start(other, 8), 0);
	KUNIT_EXPECT_EQ(test, start(a, 9), -EBUSY);
	KUNIT_EXPECT_EQ(test, request(a, 10), -EINVAL);

	/* It is in use while the only client that counts it has not got its last sample. */
	f->asleep = true;
	KUNIT_EXPECT_TRUE(test, stop(other, 8));
	KUNIT_EXPECT_EQ(test, start(a, 9), -EBUSY);
	wake(f);
	expect_num(test, other, 1);
	KUNIT_ASSERT_EQ(test, start(other, 10), 0);
	KUNIT_EXPECT_EQ(test, f->enables, 3);

	/* The set is also in use while the GPU is suspended, and after that. */
	panthor_perf_sampler_close(&f->sampler, true);
	KUNIT_EXPECT_EQ(test, start(a, 11), -EBUSY);
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, start(a, 12), -EBUSY);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, 1);
	KUNIT_EXPECT_EQ(test, start(a, 13), -EBUSY);
	f->count = 5;
	KUNIT_EXPECT_TRUE(test, stop(other, 14));
	expect_num(test, other, 2);
	expect(test, other, 1, 14, 5, 0);

	/* A client that has failed to start does not occupy a set. */
	f->dead = true;
	KUNIT_EXPECT_EQ(test, start(other, 15), -ETIMEDOUT);
	f->dead = false;
	fake_look(f);
	KUNIT_ASSERT_EQ(test, start(a, 16), 0);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, FAKE_SET);
	KUNIT_EXPECT_EQ(test, start(other, 17), -EBUSY);
	KUNIT_EXPECT_TRUE(test, stop(a, 18));
	expect_num(test, a, 2);

	/* Nor does a client that was started and stopped while the GPU was suspended. */
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_ASSERT_EQ(test, start(other, 19), 0);
	KUNIT_EXPECT_EQ(test, start(a, 20), -EBUSY);
	KUNIT_EXPECT_TRUE(test, stop(other, 21));
	expect_num(test, other, 3);
	KUNIT_ASSERT_EQ(test, start(a, 22), 0);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, FAKE_SET);
	KUNIT_EXPECT_TRUE(test, stop(a, 23));
	expect_num(test, a, 3);
}

/* Enabling clears PRFCNT_EN of all blocks in the ring, and changes nothing else there. */
static void clears_marks(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 words = f->layout.fw_sample_size / sizeof(u32), marks = 0, cleared = 0, slot, b, i;
	u32 *ring = f->fw.ring;

	memset(ring, 0xff, FAKE_SLOTS * f->layout.fw_sample_size);
	f->asleep = true;
	mutex_lock(&f->sampler.lock);
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_enable(&f->fw, 0), -ETIMEDOUT);
	mutex_unlock(&f->sampler.lock);
	for (slot = 0; slot < FAKE_SLOTS; slot++) {
		for (b = 0; b < f->layout.num_blocks; b++, marks++)
			KUNIT_EXPECT_EQ(test, ring[slot * words +
						   f->layout.blocks[b].fw_offset / 4 + 2], 0);
		for (i = 0; i < words; i++)
			cleared += ring[slot * words + i] != U32_MAX;
	}
	KUNIT_EXPECT_EQ(test, cleared, marks);

	f->asleep = false;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	f->count = 5;
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 5, 0);
}

/* Firmware that has missed a request to disable counters gets another one before an enable. */
static void enable_again(struct kunit *test)
{
	struct fake *f = test->priv;

	mutex_lock(&f->sampler.lock);
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_enable(&f->fw, 0), 0);
	f->output.perfcnt_insert = 3;
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_disable(&f->fw), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_enable(&f->fw, 0), -ETIMEDOUT);
	f->asleep = false;
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_enable(&f->fw, 0), 0);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	KUNIT_EXPECT_EQ(test, f->output.perfcnt_insert, 0);
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_disable(&f->fw), 0);
	mutex_unlock(&f->sampler.lock);
}

/* Counts between START and STOP are in the sample of the period in which they were counted. */
static void counts(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->count = 1;
	KUNIT_EXPECT_EQ(test, request(c, 1), -EINVAL);
	KUNIT_ASSERT_EQ(test, start(c, 2), 0);
	KUNIT_EXPECT_EQ(test, start(c, 3), 0);
	f->count = 10;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	drained(f);
	f->count = 100;
	KUNIT_EXPECT_TRUE(test, stop(c, 5));
	KUNIT_EXPECT_FALSE(test, stop(c, 6));
	KUNIT_EXPECT_EQ(test, request(c, 7), -EINVAL);
	drained(f);
	f->count = 1000;
	KUNIT_EXPECT_FALSE(test, stop(c, 8));
	expect_num(test, c, 2);
	expect(test, c, 0, 4, 10, 0);
	expect(test, c, 1, 5, 100, 0);
	KUNIT_EXPECT_EQ(test, c->got[1].start, c->got[0].end);

	/* When the client is started again, nothing is left of its previous run. */
	KUNIT_ASSERT_EQ(test, start(c, 9), 0);
	f->count = 7;
	KUNIT_EXPECT_TRUE(test, stop(c, 10));
	expect_num(test, c, 3);
	expect(test, c, 2, 10, 7, 0);
}

/* Clients do not influence each other. */
static void independent(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_client(test, f), *b = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	f->count = 1;
	KUNIT_ASSERT_EQ(test, start(b, 2), 0);
	f->count = 10;
	KUNIT_EXPECT_EQ(test, request(a, 3), 0);
	drained(f);
	f->count = 100;
	KUNIT_EXPECT_EQ(test, request(b, 4), 0);
	drained(f);
	f->count = 1000;
	KUNIT_EXPECT_TRUE(test, stop(b, 5));
	drained(f);
	f->count = 10000;
	KUNIT_EXPECT_TRUE(test, stop(a, 6));
	expect_num(test, a, 2);
	expect_num(test, b, 2);
	expect(test, a, 0, 3, 11, 0);
	expect(test, a, 1, 6, 11100, 0);
	expect(test, b, 0, 4, 110, 0);
	expect(test, b, 1, 5, 1000, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* Only the blocks that some client needs are read: after one has stopped, no longer its own. */
static void reads_needed(struct kunit *test)
{
	static const u64 none[2];
	struct fake *f = test->priv;
	struct fake_client *cshw = new_client(test, f), *cores = new_client(test, f);
	const u32 b = f->layout.shader_block;
	const u64 core = BIT_ULL(b % 64);
	const u64 *written = &f->sampler.sample->written[b / 64];

	panthor_perf_accum_enable(&f->layout, DRM_PANTHOR_PERF_BLOCK_SHADER, none,
				  cshw->client.accum);
	KUNIT_ASSERT_EQ(test, start(cshw, 1), 0);
	KUNIT_EXPECT_EQ(test, request(cshw, 2), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, *written & core, 0);

	KUNIT_ASSERT_EQ(test, start(cores, 3), 0);
	KUNIT_EXPECT_EQ(test, request(cshw, 4), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, *written & core, core);

	KUNIT_EXPECT_TRUE(test, stop(cores, 5));
	KUNIT_EXPECT_EQ(test, request(cshw, 6), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, *written & core, 0);
	expect_num(test, cshw, 3);
}

/* Requests share a firmware sample, but not one that was requested before they were made. */
static void coalesce(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_client(test, f), *b = new_client(test, f);
	u32 before;

	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(b, 2), 0);
	drained(f);
	before = f->output.perfcnt_insert;

	f->asleep = true;
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(a, 3), 0);
	KUNIT_EXPECT_EQ(test, request(a, 4), 0);
	KUNIT_EXPECT_EQ(test, request(b, 5), 0);
	KUNIT_EXPECT_TRUE(test, stop(a, 6));
	drained(f);
	KUNIT_EXPECT_EQ(test, a->num, 0);
	wake(f);
	expect_num(test, a, 3);
	expect_num(test, b, 1);
	KUNIT_EXPECT_EQ(test, f->output.perfcnt_insert, before + 2);
	expect(test, a, 0, 3, 5, 0);
	expect(test, a, 1, 4, 0, 0);
	expect(test, a, 2, 6, 0, 0);
	expect(test, b, 0, 5, 5, 0);
}

/* A request needs a free slot in the client's ring. The last sample always has one. */
static void room(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->room = 2;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	KUNIT_EXPECT_EQ(test, request(c, 4), -EBUSY);
	KUNIT_EXPECT_TRUE(test, stop(c, 5));
	wake(f);
	expect_num(test, c, 3);
	expect(test, c, 2, 5, 0, 0);
}

/* Automatic samples become part of the next requested sample. */
static void folded(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	f->count = 3;
	fake_auto(f);
	f->count = 4;
	fake_auto(f);
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 12, 0);
}

/* With emit_auto they are delivered, as long as the client's ring has a free slot. */
static void emitted(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	fake_auto(f);
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 2);
	expect(test, c, 0, 1, 3, 0);
	expect(test, c, 1, 2, 4, 0);

	f->asleep = true;
	c->room = 1;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	f->count = 5;
	fake_auto(f);
	f->count = 6;
	wake(f);
	expect_num(test, c, 3);
	expect(test, c, 2, 3, 11, STRETCHED);
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 4);
	expect(test, c, 3, 4, 0, 0);
}

/* Enters protected mode. The sample before it answers the request that is in flight. */
static void enter_protected(struct fake *f)
{
	f->asleep = false;
	f->protected = true;
	fake_auto(f);
	fake_ack_sample(f);
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
}

/* A sample before protected mode that answers a request is delivered only once. */
static void emitted_answer(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	c->client.emit_auto = true;
	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 2), 0);
	drained(f);
	f->asleep = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	enter_protected(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 3, 3, 0);
	expect_num(test, d, 1);
	expect(test, d, 0, 2, 3, 0);

	/* The request in flight is that of the driver itself, against saturation. */
	f->protected = false;
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	drained(f);
	f->asleep = true;
	check(f, NSEC_PER_SEC / 4);
	f->count = 5;
	enter_protected(f);
	expect_num(test, c, 3);
	expect(test, c, 1, 4, 4, 0);
	expect_num(test, d, 2);
	KUNIT_EXPECT_EQ(test, c->got[2].data, 1);
	KUNIT_EXPECT_EQ(test, c->got[2].count, 5);
	KUNIT_EXPECT_EQ(test, d->got[1].data, 2);
	KUNIT_EXPECT_EQ(test, d->got[1].count, 9);
}

/* A periodic sample that is due is delivered once, and not after the last sample. */
static void due(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.period_ns = NOT_NOW;
	deadline(c);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	f->count = 6;
	deadline(c);
	deadline(c);
	wake(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 1, 6, 0);

	c->room = 0;
	f->count = 7;
	deadline(c);
	expect_num(test, c, 1);
	c->room = 1;
	f->count = 8;
	deadline(c);
	expect_num(test, c, 2);
	expect(test, c, 1, 1, 15, 0);

	f->asleep = true;
	deadline(c);
	f->count = 9;
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	wake(f);
	deadline(c);
	expect_num(test, c, 4);
	expect(test, c, 2, 1, 9, 0);
	expect(test, c, 3, 2, 0, 0);
}

/* Has a client receive a sample of the time between two points, in nanoseconds since START. */
static u32 flags_between(struct kunit *test, struct fake_client *c, u64 start_ns, u64 end_ns)
{
	struct panthor_perf_sampler *sampler = &c->f->sampler;
	/* An hour ahead: the sampler's time does not go back, and is this one to the sample. */
	u64 begun_ns = ktime_get_raw_ns() + NOT_NOW;
	u32 n = c->num;

	mutex_lock(&sampler->lock);
	c->client.begun_ns = begun_ns;
	c->client.start.ns = begun_ns + start_ns;
	sampler->time.ns = begun_ns + end_ns;
	mutex_unlock(&sampler->lock);
	deadline(c);
	expect_num(test, c, n + 1);
	KUNIT_EXPECT_EQ(test, c->got[n].start, begun_ns + start_ns);
	KUNIT_EXPECT_EQ(test, c->got[n].end, begun_ns + end_ns);
	return c->got[n].flags;
}

/* A sample with more than one multiple of the period in it is flagged. */
static void stretched(struct kunit *test)
{
	static const struct {
		u64 start_ns, end_ns;
		u32 flags;
	} cases[] = {
		/* The first sample. */
		{ 0, 0, 0 },
		{ 0, 999999, 0 },
		{ 0, 1000000, 0 },
		{ 0, 1999999, 0 },
		{ 0, 2000000, STRETCHED },
		{ 0, 1000000000, STRETCHED },
		/* It begins on a deadline, which is not in it. */
		{ 1000000, 2000000, 0 },
		{ 1000000, 2999999, 0 },
		{ 1000000, 3000000, STRETCHED },
		/* It begins before a deadline. */
		{ 1999999, 2000000, 0 },
		{ 1999999, 2999999, 0 },
		{ 1999999, 3000000, STRETCHED },
		/* It begins after a deadline. */
		{ 2000001, 2000001, 0 },
		{ 2000001, 3999999, 0 },
		{ 2000001, 4000000, STRETCHED },
		{ 2000001, 9000000, STRETCHED },
	};
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	c->client.period_ns = NOT_NOW;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	c->client.period_ns = 1000000;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, flags_between(test, c, cases[i].start_ns,
							cases[i].end_ns),
				    cases[i].flags, "from %llu to %llu", cases[i].start_ns,
				    cases[i].end_ns);

	/* The ring was full at the deadline before, and what was counted then is in it. */
	c->room = 0;
	deadline(c);
	expect_num(test, c, i);
	c->room = QUEUE_SIZE - 1;
	KUNIT_EXPECT_EQ(test, flags_between(test, c, 0, 1000000), 0);
	KUNIT_EXPECT_EQ(test, flags_between(test, c, 0, 2000000), STRETCHED);
}

/* A limited client whose period is that of all limited ones waits, and says so. */
static void limited_stretched(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u64 first;
	u32 i;

	c->client.limited = true;
	c->client.period_ns = PANTHOR_PERF_LIMITED_NS;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	for (i = 0; i < 50; i++) {
		KUNIT_ASSERT_TRUE(test, wait_event_timeout(f->signalled,
							   READ_ONCE(c->signals) > i, 60 * HZ));
		first = panthor_perf_clock_deadline(c->client.begun_ns, PANTHOR_PERF_LIMITED_NS,
						    c->got[i].start);
		KUNIT_EXPECT_EQ(test, c->got[i].flags,
				c->got[i].end < first + PANTHOR_PERF_LIMITED_NS ? 0 : STRETCHED);
	}
}

/*
 * A request that finds the firmware ring full is answered when the ring has been drained. Its
 * sample is flagged, because firmware may have lost automatic samples before, and so is the
 * next one, which is the first that was requested after OVERFLOW was acknowledged.
 */
static void ring_full(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	for (i = 0; i < FAKE_SLOTS; i++) {
		f->count = 1;
		fake_auto(f);
	}
	f->count = 100;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, FAKE_SLOTS + 100, OVERFLOW);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 0, OVERFLOW);
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 0, 0);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) &
			(GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW), 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* The driver acknowledges THRESHOLD, so that it is raised again, without any request. */
static void rearmed(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 before, i, j;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	for (i = 0; i < 3; i++) {
		before = f->requests;
		for (j = 0; j < FAKE_SLOTS / 2; j++)
			fake_auto(f);
		panthor_perf_sampler_irq(&f->sampler);
		drained(f);
		KUNIT_EXPECT_EQ(test, fake_pending(f), 0);
		KUNIT_EXPECT_EQ(test, f->requests, before + 1);
	}
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, 0);
}

/* If firmware raises events at every doorbell, the driver does not ring the doorbell for ever. */
static void rearmed_in_vain(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 before, i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->nags = true;
	before = f->requests;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	for (i = 0; i < 20; i++)
		drained(f);
	/* Doorbells: for the request, and for an event with its sample. */
	KUNIT_EXPECT_EQ(test, f->requests, before + 2);
	expect_num(test, c, 1);

	/* After that the driver acknowledges events once in each check_work. */
	check(f, -NSEC_PER_SEC);
	for (i = 0; i < 20; i++)
		drained(f);
	KUNIT_EXPECT_EQ(test, f->requests, before + 3);
}

/* An automatic sample finds the ring full while a request is in flight. */
static void ring_full_in_flight(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	f->count = 100;
	f->full = true;
	fake_auto(f);
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	check(f, 0);
	f->full = false;
	f->count = 3;
	wake(f);
	/* Until here, firmware may have lost another sample that it could not report. */
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	drained(f);
	/* Firmware has answered a request that was made after OVERFLOW was acknowledged. */
	f->count = 5;
	KUNIT_EXPECT_EQ(test, start(d, 4), 0);
	f->count = 6;
	KUNIT_EXPECT_TRUE(test, stop(c, 5));
	KUNIT_EXPECT_TRUE(test, stop(d, 6));
	expect_num(test, c, 3);
	expect_num(test, d, 1);
	expect(test, c, 0, 2, 3, OVERFLOW);
	expect(test, c, 1, 3, 4, OVERFLOW);
	expect(test, c, 2, 5, 11, 0);
	expect(test, d, 0, 6, 6, 0);
}

/*
 * An automatic sample is lost after an answer that is not drained yet. Both periods are
 * flagged.
 */
static void ring_full_answered(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	mutex_lock(&f->sampler.lock);
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	f->full = true;
	fake_auto(f);
	f->full = false;
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	mutex_unlock(&f->sampler.lock);
	drained(f);
	KUNIT_EXPECT_EQ(test, start(d, 4), 0);
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	KUNIT_EXPECT_EQ(test, request(d, 6), 0);
	expect_num(test, c, 3);
	expect_num(test, d, 1);
	expect(test, c, 0, 2, 3, OVERFLOW);
	expect(test, c, 1, 3, 4, OVERFLOW);
	expect(test, c, 2, 5, 0, 0);
	expect(test, d, 0, 6, 0, 0);
}

/* A client whose baseline is after the loss has lost nothing. */
static void ring_full_before_start(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->full = true;
	fake_auto(f);
	f->full = false;
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, start(d, 2), 0);
	drained(f);
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, request(d, 4), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	expect_num(test, c, 2);
	expect_num(test, d, 1);
	expect(test, c, 0, 3, 3, OVERFLOW);
	expect(test, c, 1, 5, 0, 0);
	expect(test, d, 0, 4, 3, 0);
}

/* An automatic sample that finds the ring full is lost, and the next sample is flagged. */
static void ring_full_lost(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->full = true;
	fake_auto(f);
	f->full = false;
	f->count = 0;
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	check(f, 0);
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 0, 2, 3, OVERFLOW);
	expect(test, c, 1, 3, 4, 0);
}

/* If the ring stays full, counters are restarted, without many doorbells until then. */
static void ring_stays_full(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 before;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	before = f->requests;
	f->full = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	KUNIT_EXPECT_LE(test, f->requests, before + 2);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	check(f, NSEC_PER_SEC);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, OVERFLOW);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	KUNIT_EXPECT_EQ(test, f->resets, 0);

	f->full = false;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 3, OVERFLOW);
	/* Counters were disabled at the start of the previous period, but not in this one. */
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 5, 0);
}

/*
 * If OVERFLOW was raised for another sample before, a request that finds the ring full is
 * retried.
 */
static void ring_full_told(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->full = true;
	f->told_once = true;
	fake_auto(f);
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	f->full = false;
	f->count = 3;
	check(f, 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, OVERFLOW);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
}

/*
 * A request that is not acknowledged in time is completed with its sample, and counting goes
 * on.
 */
static void lost_ack(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	check(f, NSEC_PER_SEC);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, ERROR);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	KUNIT_EXPECT_EQ(test, f->resets, 0);

	f->mute = false;
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 4, ERROR);
	/* Counters were disabled at the start of the previous period, but not in this one. */
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 5, 0);
}

/* Calls START in a work, because START waits. */
struct starter {
	struct work_struct work;
	struct fake_client *c;
	int ret;
};

static void starter_work(struct work_struct *work)
{
	struct starter *s = container_of(work, struct starter, work);

	s->ret = start(s->c, 1);
}

/* With the lock, with which a client that is STARTING has requested its baseline. */
static enum panthor_perf_client_state client_state(struct fake_client *c)
{
	guard(spinlock)(&c->f->sampler.req_lock);

	return c->client.state;
}

/* Waits until START waits, for which the work has to be scheduled. */
static bool wait_starting(struct fake_client *c)
{
	unsigned long end = jiffies + 60 * HZ;

	while (client_state(c) != PANTHOR_PERF_CLIENT_STARTING && time_before(jiffies, end))
		usleep_range(100, 200);

	return client_state(c) == PANTHOR_PERF_CLIENT_STARTING;
}

/*
 * What firmware has no room for while it is asked to disable counters is flagged where it
 * is missing. Who starts then has lost nothing but the time until they are enabled.
 */
static void lost_ack_overflow(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);
	struct starter s = { .c = d };

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	INIT_WORK_ONSTACK(&s.work, starter_work);
	queue_work(f->sampler.wq, &s.work);
	KUNIT_ASSERT_TRUE(test, wait_starting(d));
	f->autos_at_last = 1;
	f->loses_at_last = true;
	f->count = 4;
	check(f, NSEC_PER_SEC);
	flush_work(&s.work);
	destroy_work_on_stack(&s.work);
	KUNIT_EXPECT_EQ(test, s.ret, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	drained(f);
	/* The first is the answer that is not acknowledged. */
	KUNIT_EXPECT_GE(test, c->num, 3);
	expect(test, c, 0, 1, 7, OVERFLOW);
	expect(test, c, 1, 1, 0, OVERFLOW);
	expect(test, c, 2, 2, 0, OVERFLOW | ERROR);

	f->mute = false;
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_OVERFLOW, 0);
	KUNIT_EXPECT_EQ(test, request(d, 5), 0);
	expect_num(test, d, 1);
	expect(test, d, 0, 5, 0, ERROR);
	KUNIT_EXPECT_EQ(test, request(d, 6), 0);
	expect_num(test, d, 2);
	expect(test, d, 1, 6, 0, 0);
}

/* So is what it may have lost before, if nothing told since that it has not. */
static void lost_ack_told(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	f->full = true;
	fake_auto(f);
	f->full = false;
	check(f, 0);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_OVERFLOW, 0);
	f->autos_at_last = 2;
	check(f, NSEC_PER_SEC);
	/* The first is an answer that is not acknowledged. */
	expect_num(test, c, 4);
	expect(test, c, 0, 1, 0, OVERFLOW);
	expect(test, c, 1, 1, 0, OVERFLOW);
	expect(test, c, 2, 1, 0, OVERFLOW);
	expect(test, c, 3, 2, 0, OVERFLOW);
}

/* An answer that arrives without an interrupt is found at the timeout, and counts. */
static void late_ack(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	f->late = true;
	check(f, NSEC_PER_SEC);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* If firmware answers nothing at all, the GPU is reset and all requests are completed. */
static void dead(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->dead = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	KUNIT_EXPECT_TRUE(test, stop(c, 3));
	check(f, NSEC_PER_SEC);
	expect_num(test, c, 2);
	expect(test, c, 0, 2, 0, ERROR);
	KUNIT_EXPECT_EQ(test, c->got[1].data, 3);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	KUNIT_EXPECT_STREQ(test, f->why, "firmware does not answer");
}

/* START fails if firmware does not enable counters, and can be called again. */
static void start_dead(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->dead = true;
	KUNIT_EXPECT_EQ(test, start(c, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	KUNIT_EXPECT_STREQ(test, f->why, "firmware does not answer");
	KUNIT_EXPECT_FALSE(test, stop(c, 2));
	f->dead = false;
	KUNIT_EXPECT_EQ(test, start(c, 3), 0);
	KUNIT_EXPECT_TRUE(test, stop(c, 4));
	expect_num(test, c, 1);
	expect(test, c, 0, 4, 0, 0);
}

/* In protected mode firmware does not answer, which is not an error. */
static void protected_mode(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->protected = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, NSEC_PER_SEC);
	check(f, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	f->protected = false;
	f->count = 8;
	wake(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 8, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* Without a metadata block, GPU_STATUS shows protected mode while it lasts. */
static void protected_states(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 1), 0);
	drained(f);

	/* The sample before protected mode and the one after it are PROTECTED. */
	f->count = 2;
	fake_auto(f);
	f->protected = true;
	check(f, 0);
	KUNIT_EXPECT_EQ(test, request(d, 2), 0);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 0);
	f->protected = false;
	f->count = 3;
	wake(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 5, 0);
	expect_states(test, c, 0, ON | AVAILABLE | NORMAL | PROTECTED,
		      ON | AVAILABLE | NORMAL | PROTECTED);
	expect_num(test, d, 2);
	expect(test, d, 0, 1, 2, 0);
	expect(test, d, 1, 2, 3, 0);
	expect_states(test, d, 0, ON | AVAILABLE | NORMAL | PROTECTED,
		      ON | AVAILABLE | NORMAL | PROTECTED);
	expect_states(test, d, 1, ON | AVAILABLE | NORMAL | PROTECTED,
		      AVAILABLE | NORMAL | PROTECTED);

	/* The next sample after that is not. */
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	KUNIT_EXPECT_EQ(test, request(d, 3), 0);
	expect_num(test, c, 2);
	expect_num(test, d, 3);
	expect_states(test, c, 1, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);
	expect_states(test, d, 2, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);

	/* The sample before protected mode is drained before GPU_STATUS shows protected mode. */
	fake_auto(f);
	check(f, 0);
	expect_num(test, d, 4);
	expect_states(test, d, 3, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);
	f->protected = true;
	check(f, 0);
	KUNIT_EXPECT_EQ(test, request(d, 4), 0);
	f->protected = false;
	wake(f);
	expect_num(test, d, 5);
	expect_states(test, d, 4, ON | AVAILABLE | NORMAL | PROTECTED,
		      AVAILABLE | NORMAL | PROTECTED);
}

/*
 * Counters cannot be enabled in protected mode. A sample taken then is PROTECTED, and not
 * NORMAL.
 */
static void protected_start(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->protected = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->enables, 0);
	expect_states(test, c, 0, OFF | AVAILABLE | PROTECTED, OFF | AVAILABLE | PROTECTED);
	f->protected = false;
	check(f, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect_states(test, c, 1, ON | OFF | AVAILABLE | NORMAL | PROTECTED,
		      ON | OFF | AVAILABLE | NORMAL | PROTECTED);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
}

/* If INSERT is out of range, counters are restarted. */
static void nonsense(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->output.perfcnt_insert += FAKE_SLOTS + 1;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, ERROR);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	f->count = 2;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 2, ERROR);
	/* Counters were disabled at the start of the previous period, but not in this one. */
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 5, 0);
}

/* check_work requests a sample before counters can saturate. */
static void saturation(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 before;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	before = f->output.perfcnt_insert;
	f->count = U32_MAX - 1;
	check(f, NSEC_PER_SEC / 4);
	KUNIT_EXPECT_EQ(test, f->output.perfcnt_insert, before + 1);
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, U32_MAX + 2ull, 0);

	f->count = U32_MAX;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, U32_MAX, OVERFLOW);
}

/* Nothing is lost when the GPU is suspended and resumed, and requests are answered meanwhile. */
static void suspend(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	f->count = 5;
	panthor_perf_sampler_close(&f->sampler, true);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	f->count += 6;
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 11, 0);
	KUNIT_EXPECT_EQ(test, f->input.req & GLB_PERFCNT_EN, 0);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_SAMPLE, 0);

	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 0, 0);
	expect_states(test, c, 0, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
	expect_states(test, c, 1, OFF | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL);
	KUNIT_EXPECT_EQ(test, start(d, 4), 0);

	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	f->count = 7;
	KUNIT_EXPECT_TRUE(test, stop(c, 5));
	drained(f);
	f->count = 8;
	KUNIT_EXPECT_TRUE(test, stop(d, 6));
	expect_num(test, c, 3);
	expect_num(test, d, 1);
	expect(test, c, 2, 5, 7, 0);
	expect(test, d, 0, 6, 15, 0);
	expect_states(test, c, 2, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
	expect_states(test, d, 0, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
}

/*
 * A sample requested while the MCU was down is completed before counters are enabled. The
 * period after it begins with counters disabled.
 */
static void suspend_resume_states(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect_states(test, c, 0, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);
	panthor_perf_sampler_close(&f->sampler, true);
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect_states(test, c, 1, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
	panthor_perf_sampler_close(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	panthor_perf_sampler_down(&f->sampler, true);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	expect_num(test, c, 4);
	expect_states(test, c, 2, OFF | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL);
	expect_states(test, c, 3, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
}

/* If the MCU takes no sample when it is halted, counts are lost. */
static void suspend_no_sample(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, ERROR);
}

/*
 * If protected mode has just begun, the MCU takes no sample when it is halted, and nothing is
 * lost.
 */
static void suspend_protected(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	f->count = 5;
	f->protected_when_waited = true;
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, stop(c, 3));
	expect_num(test, c, 2);
	expect(test, c, 0, 2, 5, 0);
	expect(test, c, 1, 3, 0, 0);
	expect_states(test, c, 0, ON | AVAILABLE | NORMAL | PROTECTED,
		      ON | AVAILABLE | NORMAL | PROTECTED);
	/* After protected mode has begun, cores may have had power. */
	expect_states(test, c, 1, ON | OFF | AVAILABLE | NORMAL | PROTECTED,
		      OFF | AVAILABLE | NORMAL | PROTECTED);
}

/* If the MCU finds the ring full when it is halted, counts are lost. */
static void suspend_no_room(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	panthor_perf_sampler_close(&f->sampler, true);
	f->full = true;
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, OVERFLOW);
}

/* The sample before protected mode finds the ring full, and then the MCU is halted. */
static void suspend_protected_no_room(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->full = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	f->protected = true;
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, OVERFLOW);
	KUNIT_EXPECT_TRUE(test, stop(c, 3));
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 0, 0);
}

/*
 * The same, but firmware cannot report it, as it has not seen the acknowledgment of OVERFLOW
 * yet.
 */
static void suspend_protected_not_rearmed(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	/* An automatic sample found the ring full, and the request after that was answered. */
	f->full = true;
	fake_auto(f);
	f->full = false;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	f->protected = true;
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 0, OVERFLOW);
}

/* A START between the two hooks of suspend has its baseline after the halt. */
static void suspend_starting(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(d, 2), 0);
	panthor_perf_sampler_close(&f->sampler, true);

	/* Do what START does until it waits. */
	mutex_lock(&f->sampler.lock);
	list_add_tail(&c->client.node, &f->sampler.clients);
	c->client.state = PANTHOR_PERF_CLIENT_STARTING;
	c->client.due = true;
	c->client.due_seq = f->sampler.next_seq;
	mutex_unlock(&f->sampler.lock);
	f->count = 5;
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, c->client.state, PANTHOR_PERF_CLIENT_STARTED);
	KUNIT_EXPECT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_TRUE(test, stop(c, 3));
	KUNIT_EXPECT_TRUE(test, stop(d, 4));
	expect_num(test, c, 1);
	expect_num(test, d, 1);
	expect(test, c, 0, 3, 0, 0);
	expect(test, d, 0, 4, 5, 0);
}

/* The last client stops while the GPU is down, and its last sample is left to the resume. */
static void suspend_stopped(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	panthor_perf_sampler_close(&f->sampler, true);
	f->count = 5;
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	disable_work_sync(&f->sampler.drain_work);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	KUNIT_EXPECT_EQ(test, c->num, 0);
	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_IDLE);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	KUNIT_EXPECT_FALSE(test, f->clock.up);
	enable_work(&f->sampler.drain_work);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 5, 0);
}

/* A reset loses counts. The next sample of each client is flagged, and counting goes on. */
static void reset(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 2), 0);
	drained(f);
	f->count = 3;
	fake_auto(f);
	f->dead = true;
	f->count = 100;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	panthor_perf_sampler_close(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	panthor_perf_sampler_down(&f->sampler, true);
	expect_num(test, c, 2);
	expect(test, c, 0, 3, 3, ERROR);
	expect(test, c, 1, 4, 0, 0);
	expect_states(test, c, 0, ON | OFF | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
	expect_states(test, c, 1, OFF | AVAILABLE | NORMAL, OFF | UNAVAILABLE | NORMAL);
	expect_num(test, d, 0);

	f->dead = false;
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
	f->count = 7;
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	KUNIT_EXPECT_EQ(test, request(d, 6), 0);
	expect_num(test, c, 3);
	expect_num(test, d, 1);
	expect(test, c, 2, 5, 7, 0);
	expect(test, d, 0, 6, 10, ERROR);

	/* Two resets follow each other, without a boot in between. */
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, true);
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, true);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_TRUE(test, stop(d, 7));
	expect_num(test, d, 2);
	KUNIT_EXPECT_EQ(test, d->got[1].flags, ERROR);
}

/* If counters cannot be enabled after a boot, the driver gives up after three attempts. */
static void enable_fails(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, true);
	fake_boot(f, true);
	f->dead = true;
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	for (i = 0; i < 10; i++)
		check(f, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 2);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, ERROR);

	/* After another boot the driver tries again. */
	f->dead = false;
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, true);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);

	/* From then on check_work runs again, although firmware has answered no request yet. */
	f->mute = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	enable_delayed_work(&f->sampler.check_work);
	check(f, NSEC_PER_SEC);
	KUNIT_EXPECT_TRUE(test, disable_delayed_work_sync(&f->sampler.check_work));
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 3, ERROR);
	f->mute = false;
	f->count = 5;
	KUNIT_EXPECT_TRUE(test, stop(c, 4));
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 5, ERROR);
}

/* Resets the GPU, whether the sampler has asked for it or not, and boots firmware. */
static void fake_gpu_reset(struct fake *f)
{
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, true);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
}

/* Firmware that did not answer in time may still enable counters. It is told not to. */
static void start_unanswered(struct kunit *test)
{
	const u32 events = GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW | GLB_PERFCNT_SAMPLE;
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->protected = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_EQ(test, f->req & GLB_PERFCNT_EN, 0);
	KUNIT_EXPECT_EQ(test, f->input.ack_irq_mask & events, 0);

	/* Protected mode ends. Firmware acts on what it saw in REQ at the last doorbell. */
	f->protected = false;
	fake_requests(f);
	KUNIT_EXPECT_EQ(test, f->output.ack & GLB_PERFCNT_EN, 0);

	/* Another client is not told anything of it. */
	c = new_client(test, f);
	KUNIT_ASSERT_EQ(test, start(c, 2), 0);
	KUNIT_EXPECT_TRUE(test, stop(c, 3));
	expect_num(test, c, 1);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
}

/* START fails if firmware enables counters but does not answer the request for the baseline. */
static void start_mute(struct kunit *test)
{
	struct fake *f = test->priv;
	struct starter s = { .c = new_client(test, f) };
	u32 i;

	f->mute = true;
	INIT_WORK_ONSTACK(&s.work, starter_work);
	for (i = 0; i < 5; i++) {
		queue_work(f->sampler.wq, &s.work);
		KUNIT_ASSERT_TRUE(test, wait_starting(s.c));
		drained(f);
		check(f, NSEC_PER_SEC);
		flush_work(&s.work);
		KUNIT_EXPECT_EQ(test, s.ret, -ETIMEDOUT);
		KUNIT_EXPECT_EQ_MSG(test, f->resets, min(i + 1, 3u), "START %u", i);
		if (i < 3)
			fake_gpu_reset(f);
	}
	destroy_work_on_stack(&s.work);
	f->mute = false;
}

/* After three failures to enable counters, the check gives up until somebody asks for them. */
static void check_gives_up(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i, requests;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->dead = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	for (i = 0; i < 8 && f->sampler.failures < 3; i++) {
		requests = f->requests;
		check(f, NSEC_PER_SEC);
		KUNIT_EXPECT_GT_MSG(test, f->requests, requests, "check %u", i);
	}
	KUNIT_EXPECT_EQ(test, f->sampler.failures, 3);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_FAILED);

	requests = f->requests;
	for (i = 0; i < 3; i++)
		check(f, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, f->requests, requests);
	KUNIT_EXPECT_EQ(test, f->sampler.failures, 3);
	f->dead = false;
}

/* START that fails again and again resets the GPU three times, and tries each time. */
static void start_fails(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i, rings, resets = 0;
	void *ring;

	f->dead = true;
	for (i = 0; i < 6; i++) {
		rings = f->requests;
		KUNIT_EXPECT_EQ(test, start(c, i), -ETIMEDOUT);
		KUNIT_EXPECT_GT_MSG(test, f->requests, rings, "START %u", i);
		resets = min(i + 1, 3u);
		KUNIT_EXPECT_EQ_MSG(test, f->resets, resets, "START %u", i);
		if (i < 3)
			fake_gpu_reset(f);
	}
	KUNIT_EXPECT_EQ(test, c->num, 0);

	/* After a reset that others have asked for, START resets the GPU again if it fails. */
	fake_gpu_reset(f);
	KUNIT_EXPECT_EQ(test, start(c, 6), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, ++resets);
	fake_gpu_reset(f);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, start(c, 7), -ETIMEDOUT);
	resets += 2;
	KUNIT_EXPECT_EQ(test, f->resets, resets);

	/* This is so even if a suspend has forgotten the one that START has asked for. */
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_EXPECT_EQ(test, start(c, 7), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, resets);
	fake_gpu_reset(f);
	KUNIT_EXPECT_EQ(test, start(c, 7), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, ++resets);

	/* This is so even if there is no client and no ring at the time of the reset. */
	ring = f->fw.ring;
	f->fw.ring = NULL;
	fake_gpu_reset(f);
	fake_gpu_reset(f);
	f->fw.ring = ring;
	KUNIT_EXPECT_EQ(test, start(c, 7), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, ++resets);

	/* This is also so after firmware has answered again. */
	f->dead = false;
	KUNIT_ASSERT_EQ(test, start(c, 8), 0);
	f->count = 3;
	KUNIT_EXPECT_TRUE(test, stop(c, 9));
	expect_num(test, c, 1);
	expect(test, c, 0, 9, 3, 0);
	f->dead = true;
	KUNIT_EXPECT_EQ(test, start(c, 10), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->resets, resets + 1);
	f->dead = false;
}

/* What comes between two failures of firmware. */
struct between_case {
	const char *name;
	/* At the first failure, somebody else's reset is pending. */
	bool pending;
	/* So many suspends follow, and then so many resets. */
	u32 suspends, resets;
	/* The second failure is the first, or the second, that counts. */
	u32 failures;
};

static const struct between_case between_cases[] = {
	{ "nothing", false, 0, 0, 2 },
	{ "a suspend", false, 1, 0, 2 },
	{ "the reset that was asked for", false, 0, 1, 2 },
	{ "another reset after that", false, 0, 2, 1 },
	{ "a reset after a suspend", false, 1, 1, 1 },
	{ "a reset that was pending", true, 0, 1, 1 },
};

static void between_desc(const struct between_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(between, between_cases, between_desc);

static void fake_gpu_suspend(struct fake *f)
{
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
}

static void come_between(struct fake *f, const struct between_case *c)
{
	u32 i;

	for (i = 0; i < c->suspends; i++)
		fake_gpu_suspend(f);
	for (i = 0; i < c->resets; i++)
		fake_gpu_reset(f);
	f->reset_pending = false;
}

/* Failures are counted anew after a reset, but for one that the sampler has asked for itself. */
static void failures_anew(struct kunit *test)
{
	const struct between_case *between = test->param_value;
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->dead = true;
	f->reset_pending = between->pending;
	KUNIT_EXPECT_EQ(test, start(c, 1), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->sampler.failures, 1);
	KUNIT_EXPECT_EQ(test, f->resets, !between->pending);
	come_between(f, between);
	KUNIT_EXPECT_EQ(test, start(c, 2), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, f->sampler.failures, between->failures);
	KUNIT_EXPECT_EQ(test, f->resets, 1 + !between->pending);
	f->dead = false;
}

/*
 * INSERT that makes no sense once is no reason for a reset, and is one if it makes none again
 * before firmware has answered. It is not asked for the first time: any reset is another one.
 */
static void nonsense_anew(struct kunit *test)
{
	const struct between_case *between = test->param_value;
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	for (i = 0; i < 2; i++) {
		if (i)
			come_between(f, between);
		f->output.perfcnt_insert = f->fw.extract + FAKE_SLOTS + 1;
		KUNIT_EXPECT_EQ(test, request(c, 2), 0);
		expect_num(test, c, i + 1);
		KUNIT_EXPECT_EQ(test, f->resets, i && !between->resets);
	}
}

/*
 * When the device is unplugged, requests are completed, and each started client gets a last
 * sample.
 */
static void unplugged(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *idle = new_client(test, f), *busy = new_client(test, f);
	struct fake_client *stopping = new_client(test, f), *off = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(idle, 1), 0);
	KUNIT_ASSERT_EQ(test, start(busy, 2), 0);
	KUNIT_ASSERT_EQ(test, start(stopping, 3), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(busy, 4), 0);
	KUNIT_EXPECT_EQ(test, request(busy, 5), 0);
	KUNIT_EXPECT_TRUE(test, stop(stopping, 6));
	panthor_perf_sampler_unplug(&f->sampler);
	expect_num(test, idle, 1);
	expect_num(test, busy, 2);
	expect_num(test, stopping, 1);
	expect_num(test, off, 0);
	expect(test, idle, 0, 1, 0, ERROR);
	expect(test, busy, 0, 4, 0, ERROR);
	expect(test, busy, 1, 5, 0, ERROR);
	expect(test, stopping, 0, 6, 0, ERROR);
	KUNIT_EXPECT_EQ(test, start(off, 7), -ENODEV);
	KUNIT_EXPECT_EQ(test, request(busy, 8), -ENODEV);
	KUNIT_EXPECT_FALSE(test, stop(idle, 9));
	panthor_perf_sampler_remove(&f->sampler, &busy->client);
	panthor_perf_sampler_up(&f->sampler);
	expect_num(test, busy, 2);
}

/* A client that is removed gets no sample and no signal any more, in whatever state it was. */
static void removed(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *stopped = new_client(test, f), *started = new_client(test, f);
	struct fake_client *stopping = new_client(test, f), *other = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(other, 1), 0);
	KUNIT_ASSERT_EQ(test, start(started, 2), 0);
	KUNIT_ASSERT_EQ(test, start(stopping, 3), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(started, 4), 0);
	KUNIT_EXPECT_TRUE(test, stop(stopping, 5));
	panthor_perf_sampler_remove(&f->sampler, &stopped->client);
	panthor_perf_sampler_remove(&f->sampler, &started->client);
	panthor_perf_sampler_remove(&f->sampler, &stopping->client);
	f->count = 4;
	wake(f);
	expect_num(test, started, 0);
	expect_num(test, stopping, 0);
	KUNIT_EXPECT_EQ(test, start(started, 6), -ENOENT);
	KUNIT_EXPECT_EQ(test, request(started, 7), -EINVAL);
	KUNIT_EXPECT_TRUE(test, f->fw.enabled);
	KUNIT_EXPECT_TRUE(test, stop(other, 8));
	expect_num(test, other, 1);
	expect(test, other, 0, 8, 4, 0);
	KUNIT_EXPECT_FALSE(test, f->fw.enabled);
}

/* Removing the last client disables counters, with a request in flight. */
static void removed_last(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_SAMPLE, 0);
	f->mute = false;
	f->count = 9;
	KUNIT_EXPECT_EQ(test, start(d, 3), 0);
	f->count = 5;
	KUNIT_EXPECT_TRUE(test, stop(d, 4));
	expect_num(test, d, 1);
	expect(test, d, 0, 4, 5, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
}

/* All slots of the firmware ring are used in turn, before and after its indices have wrapped. */
static void wraps(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, f->fw.extract, BEFORE_WRAP);
	for (i = 0; i < 3 * FAKE_SLOTS; i++) {
		f->count = i + 1;
		KUNIT_EXPECT_EQ(test, request(c, i), 0);
		expect_num(test, c, i + 1);
		expect(test, c, i, i, i + 1, 0);
	}
	KUNIT_EXPECT_EQ(test, f->fw.extract, BEFORE_WRAP + 3 * FAKE_SLOTS);
	KUNIT_EXPECT_EQ(test, f->sampler.next_seq, BEFORE_WRAP + 3 * FAKE_SLOTS + 1);
	KUNIT_EXPECT_EQ(test, c->client.tail, BEFORE_WRAP + 3 * FAKE_SLOTS);
}

/* Gives samples timestamps. The fake uses the CPU's clock. */
static void use_clock(struct kunit *test, struct fake *f)
{
#ifdef CONFIG_ARM_ARCH_TIMER
	f->clock.freq = arch_timer_get_cntfrq();
	f->fw_clock.freq = f->clock.freq;
#endif
	panthor_perf_clock_pair(&f->clock);
	if (!f->clock.pair.gpu)
		kunit_skip(test, "the time of a sample cannot be told on this machine");
}

static void limit(struct fake *f, u64 ns)
{
	spin_lock(&f->sampler.req_lock);
	f->sampler.limited_not_before_ns = ktime_get_raw_ns() + ns;
	spin_unlock(&f->sampler.req_lock);
}

/* Ends the wait of limited clients. */
static void limit_over(struct fake *f)
{
	limit(f, 0);
	queue_work(f->sampler.wq, &f->sampler.timer_work);
	flush_work(&f->sampler.timer_work);
	drained(f);
}

static bool wait_num(struct fake_client *c, u32 num)
{
	return wait_event_timeout(c->f->signalled, READ_ONCE(c->signals) >= num, 60 * HZ);
}

static struct fake_client *new_limited(struct kunit *test, struct fake *f)
{
	struct fake_client *c = new_client(test, f);

	c->client.limited = true;
	return c;
}

/* Limited clients are served together when a millisecond is over, and others at once. */
static void limited_together(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_limited(test, f), *b = new_limited(test, f);
	struct fake_client *other = new_client(test, f);
	u32 requests;

	b->client.period_ns = NOT_NOW;
	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(b, 2), 0);
	KUNIT_ASSERT_EQ(test, start(other, 3), 0);
	drained(f);
	KUNIT_EXPECT_GE(test, b->client.start.ns - a->client.start.ns, NSEC_PER_MSEC);

	limit(f, NOT_NOW);
	requests = f->requests;
	f->count = 1;
	KUNIT_EXPECT_EQ(test, request(a, 4), 0);
	KUNIT_EXPECT_EQ(test, request(b, 5), 0);
	deadline(b);
	KUNIT_EXPECT_EQ(test, request(a, 6), 0);
	expect_num(test, a, 0);
	expect_num(test, b, 0);
	KUNIT_EXPECT_EQ(test, f->requests, requests);

	/*
	 * A firmware sample for another client completes no request of limited clients, but
	 * is added.
	 */
	KUNIT_EXPECT_EQ(test, request(other, 7), 0);
	expect_num(test, other, 1);
	expect(test, other, 0, 7, 1, 0);
	expect_num(test, a, 0);
	expect_num(test, b, 0);
	KUNIT_EXPECT_EQ(test, f->requests, requests + 1);

	f->count = 10;
	limit_over(f);
	KUNIT_EXPECT_EQ(test, f->requests, requests + 2);
	expect_num(test, a, 2);
	expect(test, a, 0, 4, 11, 0);
	expect(test, a, 1, 6, 0, 0);
	KUNIT_EXPECT_EQ(test, a->got[0].end, a->got[1].end);
	expect_num(test, b, 2);
	KUNIT_EXPECT_EQ(test, b->got[0].end, a->got[0].end);
	KUNIT_EXPECT_EQ(test, b->got[0].count + b->got[1].count, 11);

	/* The last sample waits, too. */
	limit(f, NOT_NOW);
	f->count = 100;
	KUNIT_EXPECT_TRUE(test, stop(a, 8));
	KUNIT_EXPECT_EQ(test, start(a, 9), -EBUSY);
	expect_num(test, a, 2);
	limit_over(f);
	expect_num(test, a, 3);
	expect(test, a, 2, 8, 100, 0);
}

/* All samples of limited clients are at least a millisecond apart, whatever commands are used. */
static void limited_rate(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c[2] = { new_limited(test, f), new_limited(test, f) };
	u32 i, j, num;
	u64 last = 0;

	for (i = 0; i < 20; i++) {
		struct fake_client *x = c[i % 2];

		/* Start and stop the two clients in turn. */
		KUNIT_ASSERT_EQ(test, start(x, 1), 0);
		KUNIT_EXPECT_GE_MSG(test, x->client.start.ns, last + NSEC_PER_MSEC, "START %u", i);
		last = x->client.start.ns;
		num = x->num;
		for (j = 0; j < 3; j++) {
			KUNIT_EXPECT_EQ(test, request(x, 2), 0);
			KUNIT_ASSERT_TRUE(test, wait_num(x, ++num));
			KUNIT_EXPECT_GE_MSG(test, x->got[(x->num - 1) % MAX_SAMPLES].end,
					    last + NSEC_PER_MSEC, "SAMPLE %u.%u", i, j);
			last = x->got[(x->num - 1) % MAX_SAMPLES].end;
		}
		KUNIT_EXPECT_TRUE(test, stop(x, 3));
		KUNIT_ASSERT_TRUE(test, wait_num(x, ++num));
		KUNIT_EXPECT_GE_MSG(test, x->got[(x->num - 1) % MAX_SAMPLES].end,
				    last + NSEC_PER_MSEC, "STOP %u", i);
		last = x->got[(x->num - 1) % MAX_SAMPLES].end;
	}
}

/* Limited clients have to wait while the GPU is suspended, too. */
static void limited_down(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_limited(test, f);

	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	KUNIT_ASSERT_TRUE(test, wait_num(c, 1));
	drained(f);
	KUNIT_EXPECT_GE(test, c->got[0].end, c->got[0].start + NSEC_PER_MSEC);

	/* Requests go on waiting when the GPU is suspended and resumed. */
	limit(f, NOT_NOW);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
	f->count = 7;
	expect_num(test, c, 1);
	panthor_perf_sampler_close(&f->sampler, true);
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	expect_num(test, c, 1);
	limit_over(f);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 7, 0);
}

/*
 * An automatic sample that comes too early is folded, and the next sample is not flagged
 * STRETCHED.
 */
static void limited_emitted(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_limited(test, f), *b = new_limited(test, f);
	struct fake_client *other = new_client(test, f);

	a->client.emit_auto = true;
	b->client.emit_auto = true;
	other->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(b, 2), 0);
	KUNIT_ASSERT_EQ(test, start(other, 3), 0);
	drained(f);

	limit(f, NOT_NOW);
	f->count = 1;
	fake_auto(f);
	f->count = 2;
	KUNIT_EXPECT_EQ(test, request(other, 4), 0);
	expect_num(test, other, 2);
	expect(test, other, 0, 3, 1, 0);
	expect(test, other, 1, 4, 2, 0);
	expect_num(test, a, 0);
	expect_num(test, b, 0);

	/*
	 * If a millisecond is over, all limited clients get the first automatic sample, and
	 * none the second.
	 */
	limit(f, 0);
	f->count = 10;
	fake_auto(f);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	drained(f);
	limit(f, NOT_NOW);
	f->count = 20;
	fake_auto(f);
	f->count = 30;
	KUNIT_EXPECT_EQ(test, request(other, 5), 0);
	expect_num(test, other, 5);
	expect_num(test, a, 1);
	expect_num(test, b, 1);
	expect(test, a, 0, 1, 13, 0);
	expect(test, b, 0, 2, 13, 0);

	/*
	 * It is also folded if a request is waiting, and goes into the sample of that request,
	 * which the firmware sample of another client completes.
	 */
	limit(f, NOT_NOW);
	KUNIT_EXPECT_EQ(test, request(a, 6), 0);
	limit(f, 0);
	f->count = 40;
	fake_auto(f);
	KUNIT_EXPECT_EQ(test, request(other, 7), 0);
	expect_num(test, other, 7);
	expect_num(test, b, 1);
	expect_num(test, a, 2);
	expect(test, a, 1, 6, 90, 0);
}

/*
 * The time of an automatic sample counts, not that at which it is drained; and only one that a
 * limited client wants begins a millisecond.
 */
static void limited_late(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_limited(test, f), *other = new_client(test, f);
	u64 before;

	use_clock(test, f);
	c->client.emit_auto = true;
	other->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(other, 2), 0);
	drained(f);
	f->count = 1;
	fake_auto(f);
	limit(f, 0);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	expect_num(test, other, 1);
	expect_num(test, c, 0);
	f->count = 2;
	fake_auto(f);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	expect_num(test, other, 2);
	expect_num(test, c, 1);
	expect(test, c, 0, 1, 3, 0);

	c->client.emit_auto = false;
	limit(f, 0);
	before = f->sampler.limited_not_before_ns;
	fake_auto(f);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	expect_num(test, other, 3);
	KUNIT_EXPECT_EQ(test, f->sampler.limited_not_before_ns, before);
}

/* The millisecond of limited clients begins after what they have seen, and is one. */
static void limited_millisecond(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_limited(test, f);
	u64 before = ktime_get_raw_ns();

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	KUNIT_EXPECT_GE(test, f->sampler.limited_not_before_ns, before + NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, f->sampler.limited_not_before_ns, ktime_get_raw_ns() + NSEC_PER_MSEC);

	limit(f, 0);
	before = ktime_get_raw_ns();
	fake_auto(f);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	expect_num(test, c, 1);
	KUNIT_EXPECT_GE(test, f->sampler.limited_not_before_ns, before + NSEC_PER_MSEC);
	KUNIT_EXPECT_LE(test, f->sampler.limited_not_before_ns, ktime_get_raw_ns() + NSEC_PER_MSEC);
}

/* The millisecond begins with the answer to a limited request even if nobody gets the sample. */
static void limited_undelivered(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *full = new_limited(test, f), *gone = new_limited(test, f);
	struct fake_client *other = new_client(test, f);
	u64 before;

	full->client.period_ns = NOT_NOW;
	KUNIT_ASSERT_EQ(test, start(full, 1), 0);
	KUNIT_ASSERT_EQ(test, start(other, 2), 0);
	drained(f);

	/* There is no slot but that of STOP. */
	full->room = 0;
	limit(f, 0);
	before = ktime_get_raw_ns();
	deadline(full);
	drained(f);
	KUNIT_EXPECT_EQ(test, full->num, 0);
	KUNIT_EXPECT_FALSE(test, f->sampler.limited_waiting);
	KUNIT_EXPECT_GE(test, f->sampler.limited_not_before_ns, before + NSEC_PER_MSEC);

	/* A START that is given up. */
	f->asleep = true;
	limit(f, 0);
	before = ktime_get_raw_ns();
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_start_async(&f->sampler, &gone->client, 3), 0);
	panthor_perf_sampler_remove(&f->sampler, &gone->client);
	wake(f);
	drained(f);
	KUNIT_EXPECT_FALSE(test, f->sampler.limited_waiting);
	KUNIT_EXPECT_GE(test, f->sampler.limited_not_before_ns, before + NSEC_PER_MSEC);
}

/* TEARDOWN and unplug end the wait of a limited client, and do not disturb the next one. */
static void limited_ends(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_limited(test, f), *b = new_limited(test, f);

	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	limit(f, NOT_NOW);
	KUNIT_EXPECT_EQ(test, request(a, 2), 0);
	panthor_perf_sampler_remove(&f->sampler, &a->client);
	expect_num(test, a, 0);
	KUNIT_EXPECT_FALSE(test, f->sampler.limited_waiting);
	KUNIT_EXPECT_FALSE(test, f->sampler.wanted);

	limit(f, 0);
	KUNIT_ASSERT_EQ(test, start(b, 3), 0);
	limit(f, NOT_NOW);
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(b, 4), 0);
	KUNIT_EXPECT_TRUE(test, stop(b, 5));
	expect_num(test, b, 0);
	panthor_perf_sampler_unplug(&f->sampler);
	expect_num(test, b, 2);
	/* What was counted since the last firmware sample is lost with the device. */
	expect(test, b, 0, 4, 0, ERROR);
	expect(test, b, 1, 5, 0, ERROR);
}

/* Gives a client that many slots. */
static void give_room(struct kunit *test, struct fake_client *c, u32 slots)
{
	c->long_queue = kvcalloc(slots, sizeof(*c->long_queue), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c->long_queue);
	c->client.queue = c->long_queue;
	c->client.queue_mask = slots - 1;
	c->room = slots - 1;
}

/* From now on the test calls the work itself, and the fake answers only in answer_one(). */
static void hold_back(struct fake *f)
{
	drained(f);
	disable_work_sync(&f->sampler.drain_work);
	f->asleep = true;
}

/* Has the fake answer the request in flight, and no other. Returns how many samples come. */
static u32 answer_one(struct fake *f, struct fake_client *c)
{
	u32 num;

	flush_work(&f->irq_work);
	num = c->num;
	f->asleep = false;
	fake_look(f);
	f->asleep = true;
	panthor_perf_sampler_irq(&f->sampler);
	return c->num - num;
}

/*
 * Requests that one firmware sample answers are completed in portions, and in the interrupt
 * thread only if few are waiting. The test calls the work itself, a portion at a time.
 */
static void portions(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	struct work_struct *work = &f->sampler.drain_work;
	u32 i, num, calls = 0;

	give_room(test, c, 4096);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	hold_back(f);

	/* The first request is in flight when the others are made. */
	for (i = 0; i < 4094; i++)
		KUNIT_ASSERT_EQ(test, request(c, i), 0);
	f->count = 1;
	KUNIT_EXPECT_EQ(test, answer_one(f, c), 0);
	work->func(work);
	KUNIT_EXPECT_EQ(test, c->num, 1);
	expect(test, c, 0, 0, 1, 0);

	/* Each portion needs an answer. One more request comes last. */
	KUNIT_ASSERT_EQ(test, request(c, 4094), 0);
	f->count = 10;
	while (c->num < 4095 && calls < 4095) {
		num = c->num;
		if (!answer_one(f, c))
			work->func(work);
		KUNIT_ASSERT_GT(test, c->num, num);
		KUNIT_ASSERT_LE(test, c->num - num, 65);
		for (i = max_t(u32, num, c->num - MAX_SAMPLES); i < c->num; i++)
			KUNIT_ASSERT_EQ(test, c->got[i % MAX_SAMPLES].data, i);
		if (!calls++)
			f->count = 100;
	}
	KUNIT_EXPECT_EQ(test, c->num, 4095);
	KUNIT_EXPECT_EQ(test, c->sum, 111);

	/* The work goes on by itself, to the last one. */
	enable_work(work);
	for (i = 0; i < 300; i++)
		KUNIT_ASSERT_EQ(test, request(c, 4095 + i), 0);
	KUNIT_EXPECT_TRUE(test, stop(c, 5000));
	wake(f);
	KUNIT_EXPECT_TRUE(test, wait_num(c, 4095 + 301));
	drained(f);
	KUNIT_EXPECT_EQ(test, c->num, 4095 + 301);
	KUNIT_EXPECT_EQ(test, c->got[(c->num - 1) % MAX_SAMPLES].data, 5000);
	KUNIT_EXPECT_EQ(test, c->client.state, PANTHOR_PERF_CLIENT_STOPPED);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
}

/* Makes that many requests, of a client that firmware does not answer yet. */
static void request_times(struct kunit *test, struct fake_client *c, u32 num)
{
	while (num--)
		KUNIT_ASSERT_EQ(test, request(c, 0), 0);
}

/* The interrupt thread serves up to two clients with up to four requests. */
static void served_in_irq(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *a = new_client(test, f), *b = new_client(test, f);
	struct fake_client *third = new_client(test, f);
	struct work_struct *work = &f->sampler.drain_work;

	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(b, 1), 0);
	hold_back(f);

	/* Four of one client: the first is in flight before the others are made. */
	request_times(test, a, 4);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 1);

	/* Five of one client, of which three are in flight. */
	request_times(test, a, 2);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 0);
	work->func(work);
	KUNIT_EXPECT_EQ(test, a->num, 4);

	/* Two of each. */
	request_times(test, b, 2);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 2);

	/* Three and two. */
	request_times(test, a, 3);
	KUNIT_EXPECT_EQ(test, answer_one(f, b), 0);
	work->func(work);
	KUNIT_EXPECT_EQ(test, b->num, 2);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 3);

	request_times(test, a, 1);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 1);

	/* Three clients, of which one has a request. */
	enable_work(work);
	f->asleep = false;
	KUNIT_ASSERT_EQ(test, start(third, 1), 0);
	hold_back(f);
	request_times(test, a, 1);
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 0);
	work->func(work);
	KUNIT_EXPECT_EQ(test, a->num, 11);
	KUNIT_EXPECT_EQ(test, b->num, 2);

	KUNIT_EXPECT_TRUE(test, stop(third, 2));
	KUNIT_EXPECT_EQ(test, answer_one(f, third), 0);
	work->func(work);
	KUNIT_EXPECT_EQ(test, third->num, 1);

	/* Two clients, of which one stops, and the last one, after which counters are disabled. */
	KUNIT_EXPECT_TRUE(test, stop(b, 2));
	KUNIT_EXPECT_EQ(test, answer_one(f, b), 1);
	KUNIT_EXPECT_TRUE(test, f->output.ack & GLB_PERFCNT_EN);
	KUNIT_EXPECT_TRUE(test, stop(a, 2));
	KUNIT_EXPECT_EQ(test, answer_one(f, a), 1);
	KUNIT_EXPECT_TRUE(test, f->output.ack & GLB_PERFCNT_EN);
	f->asleep = false;
	work->func(work);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
	enable_work(work);
}

/* Portions go on when the GPU is suspended or unplugged meanwhile. */
static void portions_down(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	give_room(test, c, 4096);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, request(c, i), 0);
	f->asleep = false;
	panthor_perf_sampler_close(&f->sampler, false);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, wait_num(c, 1000));
	expect_num(test, c, 1000);

	disable_work_sync(&f->sampler.drain_work);
	for (i = 0; i < 1000; i++)
		KUNIT_ASSERT_EQ(test, request(c, 1000 + i), 0);
	panthor_perf_sampler_unplug(&f->sampler);
	KUNIT_EXPECT_EQ(test, c->num, 2000);
	KUNIT_EXPECT_EQ(test, c->got[1999 % MAX_SAMPLES].data, 1999);
}

/* A limited client has 64 requests waiting at most, and all of them end at the same time. */
static void limited_portion(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_limited(test, f);
	u32 i;

	give_room(test, c, 128);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	disable_work_sync(&f->sampler.drain_work);
	limit(f, NOT_NOW);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, request(c, i), 0);
	KUNIT_EXPECT_EQ(test, request(c, 64), -EBUSY);
	KUNIT_EXPECT_TRUE(test, stop(c, 65));

	f->asleep = true;
	limit(f, 0);
	f->sampler.timer_work.func(&f->sampler.timer_work);
	f->count = 7;
	KUNIT_EXPECT_EQ(test, answer_one(f, c), 0);
	f->sampler.drain_work.func(&f->sampler.drain_work);
	KUNIT_EXPECT_EQ(test, c->num, 65);
	for (i = 0; i < 64; i++)
		KUNIT_EXPECT_EQ(test, c->got[i].end, c->got[1].end);
	KUNIT_EXPECT_EQ(test, c->got[1].data, 1);
	KUNIT_EXPECT_EQ(test, c->got[1].count, 0);
	KUNIT_EXPECT_EQ(test, c->got[64 % MAX_SAMPLES].data, 65);
	f->asleep = false;
	enable_work(&f->sampler.drain_work);
}

/* If a request for a limited client is not acknowledged, the next one is served in time. */
static void limited_lost_ack(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_limited(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	limit(f, 0);
	f->mute = true;
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	KUNIT_EXPECT_TRUE(test, f->sampler.limited_waiting);
	f->mute = false;
	check(f, NSEC_PER_SEC);
	KUNIT_ASSERT_TRUE(test, wait_num(c, 2));
	expect(test, c, 0, 2, 5, ERROR);
	KUNIT_EXPECT_EQ(test, c->got[1].data, 3);
}

/* Automatic samples before and after an answer are drained together with it. */
static void emitted_after_answer(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	use_clock(test, f);
	c->client.emit_auto = true;
	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 2), 0);
	drained(f);

	/* Firmware answers, and takes an automatic sample before the answer is drained. */
	mutex_lock(&f->sampler.lock);
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	f->count = 4;
	fake_sample_reason(f, PANTHOR_PERF_REASON_SLEEP);
	mutex_unlock(&f->sampler.lock);
	expect_num(test, c, 2);
	expect(test, c, 0, 3, 3, 0);
	expect(test, c, 1, 1, 4, 0);
	expect_num(test, d, 1);
	expect(test, d, 0, 2, 7, 0);
	KUNIT_EXPECT_EQ(test, d->got[0].end, c->got[1].end);

	/* An automatic sample looks like an answer, but was taken before the request. */
	f->count = 5;
	fake_sample(f);
	f->count = 6;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 4);
	expect(test, c, 2, 1, 5, 0);
	expect(test, c, 3, 4, 6, 0);
	expect_num(test, d, 2);
	expect(test, d, 1, 2, 5, 0);

	/* An automatic sample was taken after the answer, or when nothing was requested. */
	mutex_lock(&f->sampler.lock);
	f->count = 7;
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	f->count = 8;
	fake_sample(f);
	mutex_unlock(&f->sampler.lock);
	expect_num(test, c, 6);
	expect(test, c, 4, 5, 7, 0);
	expect(test, c, 5, 1, 8, 0);
	expect_num(test, d, 3);
	expect(test, d, 2, 2, 21, 0);
	f->count = 9;
	fake_sample(f);
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	expect_num(test, c, 7);
	expect(test, c, 6, 1, 9, 0);
	expect_num(test, d, 4);
	expect(test, d, 3, 2, 9, 0);

	/* Nothing that was counted before START is in a sample. */
	f->count = 0;
	KUNIT_EXPECT_TRUE(test, stop(d, 5));
	drained(f);
	f->count = 100;
	fake_sample(f);
	f->count = 200;
	KUNIT_ASSERT_EQ(test, start(d, 6), 0);
	f->count = 7;
	KUNIT_EXPECT_TRUE(test, stop(d, 7));
	drained(f);
	expect(test, d, 5, 7, 7, 0);
}

/* The sample before protected mode answers the request, and there is no other sample. */
static void emitted_protected_answer(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	use_clock(test, f);
	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	f->asleep = false;
	f->protected = true;
	f->count = 2;
	fake_sample_reason(f, PANTHOR_PERF_REASON_PROTECTED);
	fake_ack_sample(f);
	f->protected = false;
	f->count = 3;
	fake_sample(f);
	panthor_perf_sampler_irq(&f->sampler);
	expect_num(test, c, 2);
	expect(test, c, 0, 2, 2, 0);
	expect(test, c, 1, 1, 3, 0);
}

/* Protected mode ends so late that firmware has no time left to enable or disable counters. */
static void protected_ends_waiting(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	f->protected_until_waited = true;
	f->protected = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_FAILED);
	KUNIT_EXPECT_EQ(test, f->sampler.failures, 0);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_COUNTING);

	f->protected = true;
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_EQ(test, f->sampler.failures, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
}

/* The time to answer does not run in protected mode, and does so from its end. */
static void protected_excused(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->protected = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 400 * NSEC_PER_MSEC);
	f->protected = false;
	f->asleep = true;
	check(f, 150 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	f->count = 3;
	wake(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);

	/* It runs. */
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	check(f, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, c->num, 2);
	KUNIT_EXPECT_EQ(test, c->got[1].flags, ERROR);
}

/* One that answers a deadline, and for which there is no slot, is missed as any other is. */
static void emitted_due(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.emit_auto = true;
	c->client.period_ns = NOT_NOW;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	c->room = 0;
	f->asleep = true;
	deadline(c);
	f->count = 3;
	enter_protected(f);
	expect_num(test, c, 0);
	f->protected = false;
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, STRETCHED);
}

/* A request made while a drain is under way: its sample is not taken for an automatic one. */
static void emitted_meanwhile(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	/* The check reads it, and then the drain does, which has looked at the request before. */
	f->requests_meanwhile = c;
	f->reads_left = 2;
	check(f, 0);
	KUNIT_EXPECT_PTR_EQ(test, f->requests_meanwhile, NULL);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
}

/* The last client stops while the interrupt thread drains: counters are disabled after it. */
static void stop_in_irq(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *other = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->output.ack ^= GLB_PERFCNT_THRESHOLD;
	f->requests_meanwhile = c;
	f->stops_meanwhile = true;
	f->reads_left = 1;
	panthor_perf_sampler_irq(&f->sampler);
	KUNIT_EXPECT_PTR_EQ(test, f->requests_meanwhile, NULL);
	f->protected = false;
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_IDLE);
	other->client.block_set = 1;
	KUNIT_ASSERT_EQ(test, start(other, 3), 0);
	KUNIT_EXPECT_EQ(test, f->input.perfcnt_config >> 8, 1);
	KUNIT_EXPECT_TRUE(test, stop(other, 4));
	expect_num(test, other, 1);
}

/* START in protected mode counts when that ends, though firmware had failed before. */
static void protected_start_after_failures(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	f->dead = true;
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, start(c, 1), -ETIMEDOUT);
	f->dead = false;
	f->protected = true;
	KUNIT_ASSERT_EQ(test, start(c, 2), 0);
	f->protected = false;
	check(f, 0);
	KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_COUNTING);
}

/* Has the check run as if the latest request were older by the given time, and no sample were. */
static void check_since_request(struct fake *f, u64 ns)
{
	spin_lock(&f->sampler.req_lock);
	f->sampler.flight_ns -= ns;
	spin_unlock(&f->sampler.req_lock);
	check(f, 0);
}

/*
 * The ring has no room for an automatic sample, and OVERFLOW is acknowledged. The check would also
 * request a sample if the machine stood still for a tenth of a second, and so end the loss.
 */
static void lose_sample(struct fake *f)
{
	f->full = true;
	fake_auto(f);
	f->full = false;
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	scoped_guard(mutex, &f->sampler.lock)
		panthor_perf_drain(&f->sampler, true, FAKE_SLOTS);
}

/* What the check does when something has lasted for a time. */
enum overdue {
	/* It gives up a request that was not answered. */
	OVERDUE_ANSWER,
	/* The same, if samples were drained meanwhile. */
	OVERDUE_ANSWER_DRAINED,
	/* It asks for a sample, since none was taken. */
	OVERDUE_SAMPLE,
	/* It asks for a sample, since none tells so far that no more is lost. */
	OVERDUE_LOSS_END,
};

struct overdue_case {
	const char *name;
	enum overdue kind;
	u32 ms;
};

static const struct overdue_case overdue_cases[] = {
	{ "no answer", OVERDUE_ANSWER, 500 },
	{ "no answer, but samples", OVERDUE_ANSWER_DRAINED, 1000 },
	{ "no sample", OVERDUE_SAMPLE, 100 },
	{ "no sample after a loss", OVERDUE_LOSS_END, 100 },
};

static void overdue_desc(const struct overdue_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(overdue, overdue_cases, overdue_desc);

/*
 * Runs the check as if this had lasted for @ns. Returns true if it has done something about it.
 * @took is how much longer it may have lasted to the check, which reads the clock.
 */
static bool check_overdue(struct fake *f, enum overdue kind, u64 ns, u64 *took)
{
	struct panthor_perf_sampler *sampler = &f->sampler;
	u64 begin;
	u32 done = sampler->next_seq;

	if (kind == OVERDUE_ANSWER_DRAINED)
		fake_auto(f);

	mutex_lock(&sampler->lock);
	spin_lock(&sampler->req_lock);
	begin = ktime_get_raw_ns();
	sampler->time.ns = begin - (kind == OVERDUE_SAMPLE ? ns : 0);
	sampler->flight_ns = begin - (kind == OVERDUE_SAMPLE ? 0 : ns);
	sampler->timeout_start_ns = sampler->flight_ns;
	spin_unlock(&sampler->req_lock);
	mutex_unlock(&sampler->lock);
	sampler->check_work.work.func(&sampler->check_work.work);
	*took = ktime_get_raw_ns() - begin;
	drained(f);
	return sampler->next_seq != done;
}

static int pending(struct fake *f, u32 slots, u32 insert, u32 extract)
{
	f->fw.slots = slots;
	f->fw.extract = extract;
	f->output.perfcnt_insert = insert;
	return panthor_perf_fw_pending(&f->fw);
}

/* The indices of the firmware ring are 32-bit numbers that wrap. */
static void fw_indices(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 used;

	for (used = 0; used <= 128; used++) {
		KUNIT_EXPECT_EQ(test, pending(f, 128, used, 0), used);
		KUNIT_EXPECT_EQ(test, pending(f, 128, used - 64, -64), used);
	}
	KUNIT_EXPECT_EQ(test, pending(f, 128, 129, 0), -EIO);
	KUNIT_EXPECT_EQ(test, pending(f, 128, 0, 1), -EIO);
	KUNIT_EXPECT_EQ(test, pending(f, 16, 0x10, 0xffffffff), -EIO);
	KUNIT_EXPECT_EQ(test, pending(f, 32, 0xdeadbeef, 0), -EIO);
	/* As it was made, for the end of the test. */
	pending(f, FAKE_SLOTS, 0, 0);
}

/* Each time of the check is neither shorter nor longer. */
static void overdue(struct kunit *test)
{
	const struct overdue_case *due = test->param_value;
	u64 ns = due->ms * (u64)NSEC_PER_MSEC, early = 10 * NSEC_PER_MSEC, took;
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	if (due->kind == OVERDUE_LOSS_END) {
		lose_sample(f);
		KUNIT_ASSERT_TRUE(test, f->sampler.loss_possible);
	} else if (due->kind != OVERDUE_SAMPLE) {
		f->asleep = true;
		KUNIT_EXPECT_EQ(test, request(c, 2), 0);
		check(f, 0);
	}

	/* On a machine that is held up for so long, it is not early. */
	if (!check_overdue(f, due->kind, ns - early, &took))
		KUNIT_EXPECT_TRUE(test, check_overdue(f, due->kind, ns, &took));
	else
		KUNIT_EXPECT_GE(test, took, early);
	f->asleep = false;
}

/* The check runs after a tenth of a second. */
static void check_interval(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	unsigned long before = jiffies, at;

	enable_delayed_work(&f->sampler.check_work);
	KUNIT_EXPECT_EQ(test, start(c, 1), 0);
	at = f->sampler.check_work.timer.expires;
	disable_delayed_work_sync(&f->sampler.check_work);
	KUNIT_EXPECT_TRUE(test, time_after_eq(at, before + msecs_to_jiffies(100)));
	KUNIT_EXPECT_TRUE(test, time_before_eq(at, jiffies + msecs_to_jiffies(100)));
}

/* Firmware has 100 ms to enable or disable counters, and a suspend waits 20 ms for a sample. */
static void waits(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	KUNIT_EXPECT_EQ(test, f->enable_ms, 100);
	KUNIT_EXPECT_EQ(test, f->sample_ms, 0);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	panthor_perf_sampler_close(&f->sampler, true);
	KUNIT_EXPECT_EQ(test, f->sample_ms, 20);
	panthor_perf_sampler_down(&f->sampler, false);
	f->asleep = false;
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
	f->enable_ms = 0;
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_EQ(test, f->enable_ms, 100);
}

/* What may have been lost once is not flagged for ever, though nobody requests a sample. */
static void loss_ends(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	lose_sample(f);
	KUNIT_EXPECT_TRUE(test, f->sampler.loss_possible);
	check_since_request(f, NSEC_PER_SEC / 4);
	KUNIT_EXPECT_FALSE(test, f->sampler.loss_possible);

	/* Nor is an event that firmware takes back. */
	f->asleep = true;
	f->output.ack ^= GLB_PERFCNT_OVERFLOW;
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
	KUNIT_EXPECT_TRUE(test, f->sampler.loss_possible);
	f->output.ack ^= GLB_PERFCNT_OVERFLOW;
	f->asleep = false;
	check_since_request(f, NSEC_PER_SEC / 4);
	KUNIT_EXPECT_FALSE(test, f->sampler.loss_possible);
}

/* Nor is one that is drained before firmware has acknowledged the request. */
static void emitted_before_ack(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	use_clock(test, f);
	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 0);
	KUNIT_EXPECT_EQ(test, c->num, 0);
	f->output.ack ^= GLB_PERFCNT_SAMPLE;
	panthor_perf_sampler_irq(&f->sampler);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
}

/* STOP that comes while unplug gives a client its last sample has nothing to stop. */
static void unplug_stop(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	c->stops = true;
	c->stopped = true;
	panthor_perf_sampler_unplug(&f->sampler);
	KUNIT_EXPECT_FALSE(test, c->stops);
	KUNIT_EXPECT_FALSE(test, c->stopped);
	KUNIT_EXPECT_EQ(test, c->num, 1);
	expect(test, c, 0, 1, 0, ERROR);
}

/* A ring that stays full is no reason for START to fail: it is flagged. */
static void start_ring_full(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	struct starter s = { .c = new_client(test, f) };

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->full = true;
	INIT_WORK_ONSTACK(&s.work, starter_work);
	queue_work(f->sampler.wq, &s.work);
	KUNIT_ASSERT_TRUE(test, wait_starting(s.c));
	drained(f);
	check(f, NSEC_PER_SEC);
	flush_work(&s.work);
	destroy_work_on_stack(&s.work);
	KUNIT_EXPECT_EQ(test, s.ret, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	f->full = false;
}

/* A check that makes room gives firmware time to answer. */
static void ring_full_then_late(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	for (i = 0; i < FAKE_SLOTS; i++) {
		f->count = 1;
		fake_auto(f);
	}
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, 600 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
	f->count = 3;
	wake(f);
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, c->got[0].count, FAKE_SLOTS + 3);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* An index that never makes sense is a failure of firmware, and has an end. */
static void nonsense_lasts(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->nonsense = true;
	f->output.perfcnt_insert += FAKE_SLOTS + 1;
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, request(c, i), 0);
		drained(f);
		check(f, NSEC_PER_SEC);
		expect_num(test, c, i + 1);
		KUNIT_EXPECT_EQ_MSG(test, c->got[i].flags, ERROR, "sample %u", i);
	}
	KUNIT_EXPECT_LE(test, f->enables, 5);
	KUNIT_EXPECT_GE(test, f->resets, 1);
	KUNIT_EXPECT_LE(test, f->resets, 3);
	f->nonsense = false;
}

/* A client without a ring is told when the GPU comes and goes, by samples that add up. */
static void power_samples(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	c->client.ops = &ringless_ops;
	c->client.limited = true;
	KUNIT_ASSERT_EQ(test, start(c, 7), 0);
	drained(f);
	limit(f, NOT_NOW);
	KUNIT_ASSERT_EQ(test, start(d, 8), 0);
	drained(f);
	expect(test, c, 0, 7, 0, 0);

	f->count = 5;
	panthor_perf_sampler_close(&f->sampler, true);
	fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, false);
	expect(test, c, 1, 7, 5, 0);
	expect_num(test, c, 2);

	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	drained(f);
	expect(test, c, 2, 7, 0, 0);
	expect_num(test, c, 3);

	expect_num(test, d, 0);
}

/* A client without a ring gets a sample with each answer, of which the number tells how new it is. */
static void sync_samples(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *other = new_client(test, f);
	struct panthor_perf_client *client = &c->client;
	u32 first, second, third;

	client->ops = &ringless_ops;
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, client, &first), -EINVAL);
	KUNIT_ASSERT_EQ(test, start(c, 0), 0);
	KUNIT_ASSERT_EQ(test, start(other, 0), 0);
	drained(f);
	c->num = 0;
	c->signals = 0;

	/* The first one is made at once. The two after it share the next one. */
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, client, &first), 0);
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, client, &second), 0);
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, client, &third), 0);
	KUNIT_EXPECT_EQ(test, second, first + 1);
	KUNIT_EXPECT_EQ(test, second, third);
	f->count = 1;
	wake(f);
	expect_num(test, c, 2);
	KUNIT_EXPECT_EQ(test, c->got[0].data, first);
	KUNIT_EXPECT_EQ(test, c->got[1].data, second);
	KUNIT_EXPECT_EQ(test, c->got[0].count + c->got[1].count, 1);

	/* Others' answers are as good. */
	f->count = 2;
	KUNIT_EXPECT_EQ(test, request(other, 1), 0);
	expect_num(test, c, 3);
	KUNIT_EXPECT_EQ(test, c->got[2].data, second + 1);
	KUNIT_EXPECT_EQ(test, c->got[2].count, 2);
	panthor_perf_sampler_unplug(&f->sampler);
	KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, client, &first), -ENODEV);
	KUNIT_EXPECT_EQ(test, c->num, 4);
}

/*
 * A limited one is served with the others. However many requests are made while it waits, and
 * however many firmware requests, all are answered by the sample that comes.
 */
static void sync_limited(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *other = new_client(test, f);
	u32 number = 0, i;

	c->client.ops = &ringless_ops;
	c->client.limited = true;
	KUNIT_ASSERT_EQ(test, start(c, 0), 0);
	KUNIT_ASSERT_EQ(test, start(other, 0), 0);
	drained(f);
	limit(f, NOT_NOW);
	c->num = 0;
	c->signals = 0;
	f->count = 1;
	for (i = 0; i < 10; i++) {
		KUNIT_EXPECT_EQ(test, panthor_perf_sampler_sync(&f->sampler, &c->client, &number),
				0);
		KUNIT_EXPECT_EQ(test, request(other, i), 0);
		expect_num(test, other, i + 1);
		expect_num(test, c, 0);
	}

	limit_over(f);
	expect_num(test, c, 1);
	KUNIT_EXPECT_GE(test, (s32)((u32)c->got[0].data - number), 0);
	KUNIT_EXPECT_EQ(test, c->got[0].count, 1);
	KUNIT_EXPECT_FALSE(test, f->sampler.limited_waiting);
}

/* What firmware does after it was given up on does not last until the next boot. */
static void answered_too_late(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->protected = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	f->protected = false;
	f->output.ack &= ~GLB_PERFCNT_EN;
	f->output.ack ^= GLB_PERFCNT_SAMPLE | GLB_PERFCNT_THRESHOLD;
	panthor_perf_sampler_close(&f->sampler, true);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) &
			(GLB_PERFCNT_SAMPLE | GLB_PERFCNT_THRESHOLD | GLB_PERFCNT_OVERFLOW), 0);
}

/* Counters are disabled before the device goes, in whatever state they are. */
static void unplug_unanswered(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 rings;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->protected = true;
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_TRUE(test, f->output.ack & GLB_PERFCNT_EN);
	f->protected = false;
	rings = f->requests;
	panthor_perf_sampler_unplug(&f->sampler);
	KUNIT_EXPECT_GT(test, f->requests, rings);
	KUNIT_EXPECT_FALSE(test, f->output.ack & GLB_PERFCNT_EN);
}

/* The sample of a halt says so: any other one does not mean that the MCU has taken it. */
static void suspend_other_sample(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	panthor_perf_sampler_close(&f->sampler, true);
	f->count = 3;
	fake_sample(f);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, ERROR);

	fake_boot(f, false);
	panthor_perf_sampler_up(&f->sampler);
	KUNIT_ASSERT_EQ(test, start(c, 3), 0);
	drained(f);
	panthor_perf_sampler_close(&f->sampler, true);
	f->count = 4;
	fake_sample_reason(f, PANTHOR_PERF_REASON_HALT);
	panthor_perf_sampler_down(&f->sampler, false);
	KUNIT_EXPECT_TRUE(test, stop(c, 4));
	expect_num(test, c, 2);
	expect(test, c, 1, 4, 4, 0);
}

/* A sample ends no earlier than it was requested, whatever firmware answers with. */
static void answer_from_before(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u64 before;

	use_clock(test, f);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	fake_sample_reason(f, PANTHOR_PERF_REASON_PROTECTED);
	f->asleep = true;
	usleep_range(100, 200);
	before = ktime_get_raw_ns();
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	fake_ack_sample(f);
	panthor_perf_sampler_irq(&f->sampler);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
	KUNIT_EXPECT_GE(test, c->got[0].end, before);
}

/* Firmware halts without having answered a request: the sample of the halt completes it. */
static void halt_first(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->asleep = true;
	f->count = 3;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	panthor_perf_sampler_close(&f->sampler, true);
	expect_num(test, c, 0);
	fake_auto(f);
	KUNIT_EXPECT_NE(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_SAMPLE, 0);
	panthor_perf_sampler_down(&f->sampler, false);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
	KUNIT_EXPECT_EQ(test, (f->input.req ^ f->output.ack) & GLB_PERFCNT_SAMPLE, 0);
}

/* What firmware acknowledges is answered, and ends then, if there is no sample since. */
static void empty_ack(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u64 before;

	use_clock(test, f);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->empty = true;
	f->count = 3;
	before = ktime_get_raw_ns();
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, 0);
	KUNIT_EXPECT_GE(test, c->got[0].end, before);
	f->empty = false;
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 4, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* A sample that is drained before its request is acknowledged is the answer. */
static void acked_late(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->mute = true;
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	check(f, 0);
	expect_num(test, c, 0);
	f->output.ack ^= GLB_PERFCNT_SAMPLE;
	panthor_perf_sampler_irq(&f->sampler);
	expect_num(test, c, 1);
	expect(test, c, 0, 4, 4, 0);

	/* INSERT begins anew when counters are enabled again. */
	f->mute = false;
	KUNIT_EXPECT_TRUE(test, stop(c, 5));
	expect_num(test, c, 2);
	KUNIT_ASSERT_EQ(test, start(d, 1), 0);
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(d, 2), 0);
	expect_num(test, d, 1);
	expect(test, d, 0, 2, 5, 0);
}

/* Firmware acknowledges what was requested, by a sample that it has taken before. */
static void ack_by_earlier(struct fake *f)
{
	fake_ack_sample(f);
	f->asleep = false;
	panthor_perf_sampler_irq(&f->sampler);
	drained(f);
}

/*
 * The sample that firmware takes before protected mode completes what is requested by then,
 * also what is requested when that sample was drained already.
 */
static void acked_by_drained(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	struct starter s = { .c = new_client(test, f) };
	u64 before;

	use_clock(test, f);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	fake_sample(f);
	check(f, 0);
	f->asleep = true;
	f->protected = true;
	before = ktime_get_raw_ns();
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 0);
	ack_by_earlier(f);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 3, 0);
	KUNIT_EXPECT_GE(test, c->got[0].end, before);

	/* START, too: there is nothing in its first sample that was counted before. */
	f->protected = false;
	f->count = 4;
	fake_sample(f);
	check(f, 0);
	f->asleep = true;
	f->protected = true;
	INIT_WORK_ONSTACK(&s.work, starter_work);
	queue_work(f->sampler.wq, &s.work);
	KUNIT_EXPECT_TRUE(test, wait_starting(s.c));
	ack_by_earlier(f);
	flush_work(&s.work);
	destroy_work_on_stack(&s.work);
	KUNIT_EXPECT_EQ(test, s.ret, 0);
	f->protected = false;
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(s.c, 6), 0);
	expect_num(test, s.c, 1);
	expect(test, s.c, 0, 6, 5, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/* Where the fake has written the latest sample. */
static void *last_slot(struct fake *f)
{
	return f->fw.ring + (f->output.perfcnt_insert - 1) % FAKE_SLOTS * f->layout.fw_sample_size;
}

/* Has the latest sample look as if no block of it had been written. */
static void erase_blocks(struct fake *f)
{
	u32 b;

	for (b = 0; b < f->layout.num_blocks; b++)
		((u32 *)(last_slot(f) + f->layout.blocks[b].fw_offset))[2] = 0;
}

/*
 * Metadata that firmware has left as it was says nothing of when the sample was taken. It
 * is asked if no block of the sample was written, which may be so in this set.
 */
static void metadata_stale(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	u32 i, *metadata;

	use_clock(test, f);
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	fake_sample(f);
	for (i = 0; i < 2; i++) {
		f->count = 4;
		fake_sample(f);
		metadata = last_slot(f);
		metadata[0] = 1;
		metadata[1] = 0;
	}
	erase_blocks(f);
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 12, 0);
}

/* In the primary set the front end is a part of each sample: it is missing if it is not. */
static void sample_missing(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	struct fake_client *cores = new_client(test, f);
	u32 cshw = f->layout.blocks[f->layout.cshw_block].fw_offset, *en;

	c->client.block_set = DRM_PANTHOR_PERF_SET_PRIMARY;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->output.perfcnt_insert++;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 0, ERROR);
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 0, 0);

	/* PRFCNT_EN without the bit without which there are no counters. */
	f->count = 3;
	fake_sample(f);
	en = last_slot(f) + cshw + 2 * sizeof(u32);
	*en = 5;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	expect_num(test, c, 3);
	expect(test, c, 2, 4, 0, ERROR);

	/* A core may have no power, and PRFCNT_EN that says no more than that. */
	f->count = 5;
	fake_sample(f);
	en = last_slot(f) + f->layout.blocks[f->layout.shader_block].fw_offset + 2 * sizeof(u32);
	*en = 1;
	KUNIT_EXPECT_EQ(test, request(c, 5), 0);
	expect_num(test, c, 4);
	expect(test, c, 3, 5, 5, 0);
	expect_states(test, c, 3, ON | AVAILABLE | NORMAL, ON | OFF | AVAILABLE | NORMAL);
	KUNIT_EXPECT_TRUE(test, stop(c, 6));
	expect_num(test, c, 5);
	expect(test, c, 4, 6, 0, 0);

	/* Other sets may have no counters for it. */
	KUNIT_ASSERT_EQ(test, start(cores, 1), 0);
	drained(f);
	f->output.perfcnt_insert++;
	KUNIT_EXPECT_EQ(test, request(cores, 2), 0);
	expect_num(test, cores, 1);
	expect(test, cores, 0, 2, 0, 0);
}

/* Slots that were given back are firmware's, also while others are being drained. */
static void refilled_meanwhile(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 1), 0);
	drained(f);

	/* There are two samples when the drain begins, and the ring is full after the first. */
	f->count = 3;
	fake_auto(f);
	f->count = 4;
	f->writes_meanwhile = FAKE_SLOTS - 1;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->writes_meanwhile, 0);
	expect(test, d, 0, 1, 3, 0);
	expect(test, c, 0, 2, 7, 0);
	check(f, 0);
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(c, 3), 0);
	expect_num(test, c, 2);
	expect(test, c, 1, 3, 5, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 1);
}

/*
 * A sample that firmware has written over before it was taken out of the ring is not
 * counted. That is flagged in the very sample which it would have been a part of, even if
 * it is the last one of a client.
 */
static void sample_overwritten(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);

	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 1), 0);
	drained(f);

	/* One slot is free, but firmware uses two: the one of the second sample as well. */
	f->count = 3;
	fake_auto(f);
	f->count = 4;
	f->writes_meanwhile = FAKE_SLOTS;
	KUNIT_EXPECT_TRUE(test, stop(c, 2));
	expect_num(test, c, 1);
	KUNIT_EXPECT_EQ(test, f->writes_meanwhile, 0);
	expect(test, d, 0, 1, 3, 0);
	expect(test, c, 0, 2, 3, ERROR);

	/* Counters are enabled anew, once. */
	f->count = 5;
	KUNIT_EXPECT_EQ(test, request(d, 3), 0);
	drained(f);
	expect(test, d, 1, 3, 5, ERROR);
	f->count = 6;
	KUNIT_EXPECT_EQ(test, request(d, 4), 0);
	expect_num(test, d, 3);
	expect(test, d, 2, 4, 6, 0);
	KUNIT_EXPECT_EQ(test, f->enables, 2);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
}

/*
 * The tables of states: of &enum panthor_perf_sampler_state, of the firmware request and
 * of Limited clients, see &struct panthor_perf_sampler. Each cell has a fake of its own, which is brought into
 * the state by calls of the sampler, and then meets with the event.
 */

/* Says what must not be left out: a cell that nobody has written has no next state. */
#define TO(state)	((state) + 1)
#define NEVER(why)	{ .never = why }

/* START has not returned. */
#define WAITS		1

/* Firmware as after a boot, and no client. */
static struct fake *fresh_fake(struct kunit *test)
{
	kunit_release_action(test, unplug, test->priv);
	KUNIT_ASSERT_EQ(test, sampler_init(test), 0);
	return test->priv;
}

static void drain(struct fake *f)
{
	queue_work(f->sampler.wq, &f->sampler.drain_work);
	drained(f);
}

/* START in a work, which the end of the fake waits for. */
static struct starter *begin_start(struct kunit *test, struct fake_client *c)
{
	struct starter *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->c = c;
	s->ret = WAITS;
	INIT_WORK(&s->work, starter_work);
	queue_work(c->f->sampler.wq, &s->work);
	return s;
}

enum sampler_event {
	SAMPLER_CLOSE,
	SAMPLER_STOPPED,
	SAMPLER_STOPPED_RESET,
	SAMPLER_BOOT_UNUSED,
	SAMPLER_BOOT,
	SAMPLER_BOOT_DEAD,
	SAMPLER_BOOT_PROTECTED,
	SAMPLER_START,
	SAMPLER_START_ASKED,
	SAMPLER_START_DEAD,
	SAMPLER_START_PROTECTED,
	SAMPLER_REQUEST,
	SAMPLER_LAST_STOP,
	SAMPLER_LAST_REMOVED,
	SAMPLER_LAST_REMOVED_DEAD,
	SAMPLER_CHECK,
	SAMPLER_CHECK_DEAD,
	SAMPLER_CHECK_PROTECTED,
	SAMPLER_NO_ANSWER,
	SAMPLER_NO_ANSWER_DEAD,
	SAMPLER_NO_ANSWER_PROTECTED,
	SAMPLER_NO_ANSWER_LAST,
	SAMPLER_NONSENSE,
	SAMPLER_NONSENSE_DEAD,
	SAMPLER_UNPLUG,
	SAMPLER_EVENTS
};

static const char * const sampler_events[] = {
	[SAMPLER_CLOSE] = "the GPU is suspended or reset",
	[SAMPLER_STOPPED] = "MCU has stopped",
	[SAMPLER_STOPPED_RESET] = "MCU has stopped by a reset",
	[SAMPLER_BOOT_UNUSED] = "MCU boots, no client",
	[SAMPLER_BOOT] = "MCU boots, firmware counts",
	[SAMPLER_BOOT_DEAD] = "MCU boots, firmware does not answer",
	[SAMPLER_BOOT_PROTECTED] = "MCU boots, in protected mode",
	[SAMPLER_START] = "START, firmware counts",
	[SAMPLER_START_ASKED] = "START before a request is seen, firmware counts",
	[SAMPLER_START_DEAD] = "START, firmware does not answer",
	[SAMPLER_START_PROTECTED] = "START, in protected mode",
	[SAMPLER_REQUEST] = "a client requests a sample",
	[SAMPLER_LAST_STOP] = "the last client stops",
	[SAMPLER_LAST_REMOVED] = "the last client is removed",
	[SAMPLER_LAST_REMOVED_DEAD] = "the last client is removed, firmware does not answer",
	[SAMPLER_CHECK] = "check, firmware counts",
	[SAMPLER_CHECK_DEAD] = "check, firmware does not answer",
	[SAMPLER_CHECK_PROTECTED] = "check, in protected mode",
	[SAMPLER_NO_ANSWER] = "a request is not answered, counters can be enabled",
	[SAMPLER_NO_ANSWER_DEAD] = "a request is not answered, nor is anything else",
	[SAMPLER_NO_ANSWER_PROTECTED] = "a request is not answered in protected mode",
	[SAMPLER_NO_ANSWER_LAST] = "the last STOP is not answered",
	[SAMPLER_NONSENSE] = "index is wrong, counters can be enabled",
	[SAMPLER_NONSENSE_DEAD] = "index is wrong, firmware does not answer",
	[SAMPLER_UNPLUG] = "unplug",
};

static_assert(ARRAY_SIZE(sampler_events) == SAMPLER_EVENTS);

static const char * const sampler_states[] = {
	[PANTHOR_PERF_SAMPLER_DOWN] = "DOWN",
	[PANTHOR_PERF_SAMPLER_CLOSING] = "CLOSING",
	[PANTHOR_PERF_SAMPLER_IDLE] = "IDLE",
	[PANTHOR_PERF_SAMPLER_COUNTING] = "COUNTING",
	[PANTHOR_PERF_SAMPLER_FAILED] = "FAILED",
	[PANTHOR_PERF_SAMPLER_GONE] = "GONE",
};

struct sampler_cell {
	/* State after the event, as TO() says. */
	u8 next;
	/* What START, SAMPLE or STOP returns, 0 for other events. */
	int ret;
	/* How many samples the client that was there before gets. */
	u32 num;
	/* Flags of the last of them, and those that its next sample will have. */
	u32 flags, next_flags;
	/* How often a reset is asked for. */
	u32 resets;
	/* Why there is no such event in this state. */
	const char *never;
};

#define DOWN		TO(PANTHOR_PERF_SAMPLER_DOWN)
#define CLOSING		TO(PANTHOR_PERF_SAMPLER_CLOSING)
#define IDLE		TO(PANTHOR_PERF_SAMPLER_IDLE)
#define COUNTING	TO(PANTHOR_PERF_SAMPLER_COUNTING)
#define FAILED		TO(PANTHOR_PERF_SAMPLER_FAILED)
#define GONE		TO(PANTHOR_PERF_SAMPLER_GONE)

/* The hooks close the sampler before the MCU stops, which it does before it boots. */
#define NOT_CLOSED	NEVER("the MCU has not been stopped")
#define NOT_STOPPED	NEVER("the MCU has not stopped so far")

static const struct sampler_cell sampler_cells[][SAMPLER_EVENTS] = {
	[PANTHOR_PERF_SAMPLER_DOWN] = {
		[SAMPLER_CLOSE] = { CLOSING },
		[SAMPLER_STOPPED] = NEVER("it has stopped before"),
		[SAMPLER_STOPPED_RESET] = NEVER("it has stopped before"),
		[SAMPLER_BOOT_UNUSED] = { IDLE },
		[SAMPLER_BOOT] = { COUNTING },
		[SAMPLER_BOOT_DEAD] = { FAILED, .next_flags = ERROR },
		[SAMPLER_BOOT_PROTECTED] = { FAILED, .next_flags = ERROR },
		[SAMPLER_START] = { DOWN },
		[SAMPLER_START_ASKED] = { DOWN, .num = 1 },
		[SAMPLER_START_DEAD] = { DOWN },
		[SAMPLER_START_PROTECTED] = { DOWN },
		[SAMPLER_REQUEST] = { DOWN, .num = 1 },
		[SAMPLER_LAST_STOP] = { DOWN, .ret = true, .num = 1 },
		[SAMPLER_LAST_REMOVED] = { DOWN },
		[SAMPLER_LAST_REMOVED_DEAD] = { DOWN },
		[SAMPLER_CHECK] = { DOWN },
		[SAMPLER_CHECK_DEAD] = { DOWN },
		[SAMPLER_CHECK_PROTECTED] = { DOWN },
		[SAMPLER_NO_ANSWER] = { DOWN, .num = 1 },
		[SAMPLER_NO_ANSWER_DEAD] = { DOWN, .num = 1 },
		[SAMPLER_NO_ANSWER_PROTECTED] = { DOWN, .num = 1 },
		[SAMPLER_NO_ANSWER_LAST] = { DOWN, .ret = true, .num = 1 },
		[SAMPLER_NONSENSE] = { DOWN, .num = 1 },
		[SAMPLER_NONSENSE_DEAD] = { DOWN, .num = 1 },
		[SAMPLER_UNPLUG] = { GONE, .num = 1, .flags = ERROR },
	},
	[PANTHOR_PERF_SAMPLER_CLOSING] = {
		[SAMPLER_CLOSE] = { CLOSING },
		[SAMPLER_STOPPED] = { DOWN },
		[SAMPLER_STOPPED_RESET] = { DOWN, .next_flags = ERROR },
		[SAMPLER_BOOT_UNUSED] = NOT_STOPPED,
		[SAMPLER_BOOT] = NOT_STOPPED,
		[SAMPLER_BOOT_DEAD] = NOT_STOPPED,
		[SAMPLER_BOOT_PROTECTED] = NOT_STOPPED,
		[SAMPLER_START] = { CLOSING, .ret = WAITS },
		[SAMPLER_START_ASKED] = { CLOSING, .ret = WAITS },
		[SAMPLER_START_DEAD] = { CLOSING, .ret = WAITS },
		[SAMPLER_START_PROTECTED] = { CLOSING, .ret = WAITS },
		[SAMPLER_REQUEST] = { CLOSING },
		[SAMPLER_LAST_STOP] = { CLOSING, .ret = true },
		[SAMPLER_LAST_REMOVED] = { CLOSING },
		[SAMPLER_LAST_REMOVED_DEAD] = { CLOSING },
		[SAMPLER_CHECK] = { CLOSING },
		[SAMPLER_CHECK_DEAD] = { CLOSING },
		[SAMPLER_CHECK_PROTECTED] = { CLOSING },
		[SAMPLER_NO_ANSWER] = { CLOSING },
		[SAMPLER_NO_ANSWER_DEAD] = { CLOSING },
		[SAMPLER_NO_ANSWER_PROTECTED] = { CLOSING },
		[SAMPLER_NO_ANSWER_LAST] = { CLOSING, .ret = true },
		[SAMPLER_NONSENSE] = { CLOSING },
		[SAMPLER_NONSENSE_DEAD] = { CLOSING },
		[SAMPLER_UNPLUG] = { GONE, .num = 1, .flags = ERROR },
	},
	/* There is no client: one that requests a sample has not been started. */
	[PANTHOR_PERF_SAMPLER_IDLE] = {
		[SAMPLER_CLOSE] = { CLOSING },
		[SAMPLER_STOPPED] = NOT_CLOSED,
		[SAMPLER_STOPPED_RESET] = NOT_CLOSED,
		[SAMPLER_BOOT_UNUSED] = NOT_CLOSED,
		[SAMPLER_BOOT] = NOT_CLOSED,
		[SAMPLER_BOOT_DEAD] = NOT_CLOSED,
		[SAMPLER_BOOT_PROTECTED] = NOT_CLOSED,
		[SAMPLER_START] = { COUNTING },
		[SAMPLER_START_ASKED] = { COUNTING },
		[SAMPLER_START_DEAD] = { IDLE, .ret = -ETIMEDOUT, .resets = 1 },
		[SAMPLER_START_PROTECTED] = { FAILED },
		[SAMPLER_REQUEST] = { IDLE, .ret = -EINVAL },
		[SAMPLER_LAST_STOP] = { IDLE, .ret = false },
		[SAMPLER_LAST_REMOVED] = { IDLE },
		[SAMPLER_LAST_REMOVED_DEAD] = { IDLE },
		[SAMPLER_CHECK] = { IDLE },
		[SAMPLER_CHECK_DEAD] = { IDLE },
		[SAMPLER_CHECK_PROTECTED] = { IDLE },
		[SAMPLER_NO_ANSWER] = { IDLE, .ret = -EINVAL },
		[SAMPLER_NO_ANSWER_DEAD] = { IDLE, .ret = -EINVAL },
		[SAMPLER_NO_ANSWER_PROTECTED] = { IDLE, .ret = -EINVAL },
		[SAMPLER_NO_ANSWER_LAST] = { IDLE, .ret = false },
		[SAMPLER_NONSENSE] = { IDLE, .ret = -EINVAL },
		[SAMPLER_NONSENSE_DEAD] = { IDLE, .ret = -EINVAL },
		[SAMPLER_UNPLUG] = { GONE },
	},
	[PANTHOR_PERF_SAMPLER_COUNTING] = {
		[SAMPLER_CLOSE] = { CLOSING },
		[SAMPLER_STOPPED] = NOT_CLOSED,
		[SAMPLER_STOPPED_RESET] = NOT_CLOSED,
		[SAMPLER_BOOT_UNUSED] = NOT_CLOSED,
		[SAMPLER_BOOT] = NOT_CLOSED,
		[SAMPLER_BOOT_DEAD] = NOT_CLOSED,
		[SAMPLER_BOOT_PROTECTED] = NOT_CLOSED,
		[SAMPLER_START] = { COUNTING },
		[SAMPLER_START_ASKED] = { COUNTING, .num = 1 },
		[SAMPLER_START_DEAD] = { COUNTING, .ret = WAITS },
		[SAMPLER_START_PROTECTED] = { COUNTING, .ret = WAITS },
		[SAMPLER_REQUEST] = { COUNTING, .num = 1 },
		[SAMPLER_LAST_STOP] = { IDLE, .ret = true, .num = 1 },
		[SAMPLER_LAST_REMOVED] = { IDLE },
		[SAMPLER_LAST_REMOVED_DEAD] = { IDLE, .resets = 1 },
		[SAMPLER_CHECK] = { COUNTING },
		[SAMPLER_CHECK_DEAD] = { COUNTING },
		[SAMPLER_CHECK_PROTECTED] = { COUNTING },
		[SAMPLER_NO_ANSWER] = { COUNTING, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_NO_ANSWER_DEAD] = { FAILED, .num = 1, .flags = ERROR, .resets = 1 },
		[SAMPLER_NO_ANSWER_PROTECTED] = { COUNTING },
		[SAMPLER_NO_ANSWER_LAST] = { IDLE, .ret = true, .num = 1, .flags = ERROR },
		[SAMPLER_NONSENSE] = { COUNTING, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_NONSENSE_DEAD] = { FAILED, .num = 1, .flags = ERROR, .resets = 1 },
		[SAMPLER_UNPLUG] = { GONE, .num = 1, .flags = ERROR },
	},
	[PANTHOR_PERF_SAMPLER_FAILED] = {
		[SAMPLER_CLOSE] = { CLOSING, .next_flags = ERROR },
		[SAMPLER_STOPPED] = NOT_CLOSED,
		[SAMPLER_STOPPED_RESET] = NOT_CLOSED,
		[SAMPLER_BOOT_UNUSED] = NOT_CLOSED,
		[SAMPLER_BOOT] = NOT_CLOSED,
		[SAMPLER_BOOT_DEAD] = NOT_CLOSED,
		[SAMPLER_BOOT_PROTECTED] = NOT_CLOSED,
		[SAMPLER_START] = { COUNTING, .next_flags = ERROR },
		[SAMPLER_START_ASKED] = { COUNTING, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_START_DEAD] = {
			FAILED, .ret = -ETIMEDOUT, .next_flags = ERROR, .resets = 1
		},
		[SAMPLER_START_PROTECTED] = { FAILED, .next_flags = ERROR },
		[SAMPLER_REQUEST] = { FAILED, .num = 1, .flags = ERROR },
		[SAMPLER_LAST_STOP] = { IDLE, .ret = true, .num = 1, .flags = ERROR },
		[SAMPLER_LAST_REMOVED] = { IDLE },
		[SAMPLER_LAST_REMOVED_DEAD] = { IDLE },
		[SAMPLER_CHECK] = { COUNTING, .next_flags = ERROR },
		[SAMPLER_CHECK_DEAD] = { FAILED, .next_flags = ERROR, .resets = 1 },
		[SAMPLER_CHECK_PROTECTED] = { FAILED },
		/* The request is complete at once, and then the check enables counters. */
		[SAMPLER_NO_ANSWER] = { COUNTING, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_NO_ANSWER_DEAD] = {
			FAILED, .num = 1, .flags = ERROR, .next_flags = ERROR, .resets = 1
		},
		[SAMPLER_NO_ANSWER_PROTECTED] = { FAILED, .num = 1, .flags = ERROR },
		[SAMPLER_NO_ANSWER_LAST] = { IDLE, .ret = true, .num = 1, .flags = ERROR },
		/* A drain that has nothing to complete flags the next sample. */
		[SAMPLER_NONSENSE] = { FAILED, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_NONSENSE_DEAD] = { FAILED, .num = 1, .flags = ERROR, .next_flags = ERROR },
		[SAMPLER_UNPLUG] = { GONE, .num = 1, .flags = ERROR },
	},
	[PANTHOR_PERF_SAMPLER_GONE] = {
		[SAMPLER_CLOSE] = { GONE },
		[SAMPLER_STOPPED] = { GONE },
		[SAMPLER_STOPPED_RESET] = { GONE },
		[SAMPLER_BOOT_UNUSED] = { GONE },
		[SAMPLER_BOOT] = { GONE },
		[SAMPLER_BOOT_DEAD] = { GONE },
		[SAMPLER_BOOT_PROTECTED] = { GONE },
		[SAMPLER_START] = { GONE, .ret = -ENODEV },
		[SAMPLER_START_ASKED] = { GONE, .ret = -ENODEV },
		[SAMPLER_START_DEAD] = { GONE, .ret = -ENODEV },
		[SAMPLER_START_PROTECTED] = { GONE, .ret = -ENODEV },
		[SAMPLER_REQUEST] = { GONE, .ret = -ENODEV },
		[SAMPLER_LAST_STOP] = { GONE, .ret = false },
		[SAMPLER_LAST_REMOVED] = { GONE },
		[SAMPLER_LAST_REMOVED_DEAD] = { GONE },
		[SAMPLER_CHECK] = { GONE },
		[SAMPLER_CHECK_DEAD] = { GONE },
		[SAMPLER_CHECK_PROTECTED] = { GONE },
		[SAMPLER_NO_ANSWER] = { GONE, .ret = -ENODEV },
		[SAMPLER_NO_ANSWER_DEAD] = { GONE, .ret = -ENODEV },
		[SAMPLER_NO_ANSWER_PROTECTED] = { GONE, .ret = -ENODEV },
		[SAMPLER_NO_ANSWER_LAST] = { GONE, .ret = false },
		[SAMPLER_NONSENSE] = { GONE, .ret = -ENODEV },
		[SAMPLER_NONSENSE_DEAD] = { GONE, .ret = -ENODEV },
		[SAMPLER_UNPLUG] = NEVER("it is unplugged once"),
	},
};

#undef DOWN
#undef CLOSING
#undef IDLE
#undef COUNTING
#undef FAILED
#undef GONE

static_assert(ARRAY_SIZE(sampler_cells) == ARRAY_SIZE(sampler_states));

/* From IDLE into @state, in which @c counts if it is @used, but for IDLE. */
static void reach_sampler_state(struct kunit *test, struct fake *f, struct fake_client *c,
				enum panthor_perf_sampler_state state, bool used)
{
	f->protected = state == PANTHOR_PERF_SAMPLER_FAILED;
	if (used && state != PANTHOR_PERF_SAMPLER_IDLE)
		KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->protected = false;

	switch (state) {
	case PANTHOR_PERF_SAMPLER_DOWN:
		panthor_perf_sampler_close(&f->sampler, true);
		fake_auto(f);
		panthor_perf_sampler_down(&f->sampler, false);
		break;
	case PANTHOR_PERF_SAMPLER_CLOSING:
		panthor_perf_sampler_close(&f->sampler, true);
		break;
	case PANTHOR_PERF_SAMPLER_IDLE:
	case PANTHOR_PERF_SAMPLER_COUNTING:
	case PANTHOR_PERF_SAMPLER_FAILED:
		break;
	case PANTHOR_PERF_SAMPLER_GONE:
		panthor_perf_sampler_unplug(&f->sampler);
		break;
	}
	KUNIT_ASSERT_STREQ(test, sampler_states[f->sampler.state], sampler_states[state]);
}

/* Waits until START has returned, or waits for its baseline. */
static bool wait_start(const struct starter *s)
{
	unsigned long end = jiffies + 60 * HZ;

	while (client_state(s->c) == PANTHOR_PERF_CLIENT_STOPPED &&
	       READ_ONCE(s->ret) == WAITS && time_before(jiffies, end))
		usleep_range(100, 200);

	return time_before(jiffies, end);
}

/* Has the event happen. @waits says that START has to wait. */
static int do_sampler_event(struct kunit *test, struct fake *f, struct fake_client *c,
			    enum sampler_event event, bool waits)
{
	struct starter *s;
	int ret = 0;

	f->dead = event == SAMPLER_BOOT_DEAD || event == SAMPLER_START_DEAD ||
		  event == SAMPLER_LAST_REMOVED_DEAD || event == SAMPLER_CHECK_DEAD ||
		  event == SAMPLER_NO_ANSWER_DEAD || event == SAMPLER_NONSENSE_DEAD;
	f->protected = event == SAMPLER_BOOT_PROTECTED || event == SAMPLER_START_PROTECTED ||
		       event == SAMPLER_CHECK_PROTECTED || event == SAMPLER_NO_ANSWER_PROTECTED;
	f->mute = event == SAMPLER_NO_ANSWER || event == SAMPLER_NO_ANSWER_LAST;

	switch (event) {
	case SAMPLER_CLOSE:
		panthor_perf_sampler_close(&f->sampler, true);
		break;
	case SAMPLER_STOPPED:
		fake_auto(f);
		panthor_perf_sampler_down(&f->sampler, false);
		break;
	case SAMPLER_STOPPED_RESET:
		panthor_perf_sampler_down(&f->sampler, true);
		break;
	case SAMPLER_BOOT_UNUSED:
	case SAMPLER_BOOT:
	case SAMPLER_BOOT_DEAD:
	case SAMPLER_BOOT_PROTECTED:
		fake_boot(f, true);
		panthor_perf_sampler_up(&f->sampler);
		break;
	case SAMPLER_START_ASKED:
		/* The work that would see it comes late. */
		disable_work(&f->sampler.drain_work);
		request(c, 2);
		fallthrough;
	case SAMPLER_START:
	case SAMPLER_START_DEAD:
	case SAMPLER_START_PROTECTED:
		s = begin_start(test, new_client(test, f));
		if (event == SAMPLER_START_ASKED) {
			KUNIT_ASSERT_TRUE(test, wait_start(s));
			enable_and_queue_work(f->sampler.wq, &f->sampler.drain_work);
		}
		if (waits)
			KUNIT_ASSERT_TRUE(test, wait_starting(s->c));
		else
			flush_work(&s->work);
		ret = READ_ONCE(s->ret);
		break;
	case SAMPLER_REQUEST:
		ret = request(c, 2);
		break;
	case SAMPLER_LAST_STOP:
		ret = stop(c, 2);
		break;
	case SAMPLER_LAST_REMOVED:
	case SAMPLER_LAST_REMOVED_DEAD:
		panthor_perf_sampler_remove(&f->sampler, &c->client);
		break;
	case SAMPLER_CHECK:
	case SAMPLER_CHECK_DEAD:
	case SAMPLER_CHECK_PROTECTED:
		check(f, -NSEC_PER_SEC);
		break;
	case SAMPLER_NO_ANSWER:
	case SAMPLER_NO_ANSWER_DEAD:
	case SAMPLER_NO_ANSWER_PROTECTED:
		ret = request(c, 2);
		drained(f);
		check(f, NSEC_PER_SEC);
		break;
	case SAMPLER_NO_ANSWER_LAST:
		ret = stop(c, 2);
		drained(f);
		check(f, NSEC_PER_SEC);
		break;
	case SAMPLER_NONSENSE:
	case SAMPLER_NONSENSE_DEAD:
		f->output.perfcnt_insert += FAKE_SLOTS + 1;
		ret = request(c, 2);
		drained(f);
		drain(f);
		break;
	case SAMPLER_UNPLUG:
		panthor_perf_sampler_unplug(&f->sampler);
		break;
	case SAMPLER_EVENTS:
		break;
	}

	drained(f);
	return ret;
}

/* "State of the sampler". */
static void states(struct kunit *test)
{
	u32 state, event;

	for (state = 0; state < ARRAY_SIZE(sampler_cells); state++) {
		for (event = 0; event < SAMPLER_EVENTS; event++) {
			const struct sampler_cell *cell = &sampler_cells[state][event];
			const char *in = sampler_states[state], *when = sampler_events[event];
			struct fake *f;
			struct fake_client *c;
			u32 num, resets;
			int ret;

			if (cell->never)
				continue;

			KUNIT_ASSERT_NE_MSG(test, cell->next, 0, "%s: %s: not told", in, when);
			f = fresh_fake(test);
			c = new_client(test, f);
			reach_sampler_state(test, f, c, state, event != SAMPLER_BOOT_UNUSED);
			num = c->num;
			resets = f->resets;
			ret = do_sampler_event(test, f, c, event, cell->ret == WAITS);
			KUNIT_EXPECT_EQ_MSG(test, TO(f->sampler.state), cell->next,
					    "%s: %s: is %s", in, when,
					    sampler_states[f->sampler.state]);
			KUNIT_EXPECT_EQ_MSG(test, ret, cell->ret, "%s: %s", in, when);
			KUNIT_EXPECT_EQ_MSG(test, c->num - num, cell->num, "%s: %s", in, when);
			if (cell->num)
				KUNIT_EXPECT_EQ_MSG(test, c->got[c->num - 1].flags, cell->flags,
						    "%s: %s", in, when);
			KUNIT_EXPECT_EQ_MSG(test, c->client.flags, cell->next_flags,
					    "%s: %s: of the next sample", in, when);
			KUNIT_EXPECT_EQ_MSG(test, f->resets - resets, cell->resets, "%s: %s",
					    in, when);
		}
	}
}

/* Without metadata, a sample without counts tells that protected mode has ended. */
static void protected_ends(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f), *d = new_client(test, f);
	u32 num;

	c->client.block_set = DRM_PANTHOR_PERF_SET_PRIMARY;
	d->client.block_set = DRM_PANTHOR_PERF_SET_PRIMARY;
	d->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	KUNIT_ASSERT_EQ(test, start(d, 1), 0);
	drained(f);

	/* Nothing is lost in it, and none of its values is a count. */
	f->count = 3;
	enter_protected(f);
	drain(f);
	expect_num(test, d, 1);
	expect(test, d, 0, 1, 3, 0);
	fake_leave_protected(f);
	drain(f);
	expect_num(test, d, 2);
	expect(test, d, 1, 1, 0, 0);
	expect_states(test, d, 1, NORMAL | PROTECTED, NORMAL | PROTECTED);
	f->count = 4;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	expect_num(test, c, 1);
	expect(test, c, 0, 2, 7, 0);
	expect_states(test, c, 0, ON | AVAILABLE | NORMAL | PROTECTED,
		      ON | AVAILABLE | NORMAL | PROTECTED);

	/* The sample behind it is like any other: cores that are in it have power. */
	KUNIT_EXPECT_EQ(test, request(d, 3), 0);
	expect_num(test, d, 3);
	expect(test, d, 2, 3, 4, 0);
	expect_states(test, d, 2, ON | AVAILABLE | NORMAL, ON | AVAILABLE | NORMAL);

	/* A request that protected mode has held back is answered behind it. */
	enter_protected(f);
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, request(c, 4), 0);
	fake_leave_protected(f);
	f->count = 5;
	wake(f);
	expect_num(test, c, 2);
	expect(test, c, 1, 4, 5, 0);

	/* GPU_STATUS may show protected mode for a little longer. */
	enter_protected(f);
	drain(f);
	num = d->num;
	fake_leave_protected(f);
	f->protected = true;
	drain(f);
	expect_num(test, d, num + 1);
	expect_states(test, d, num, NORMAL | PROTECTED, NORMAL | PROTECTED);
	f->protected = false;
}

/* A sample that is taken while the drain finds out that there is protected mode is in it. */
static void protected_when_read(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	c->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	f->count = 3;
	f->protected_when_read = true;
	f->sampler.drain_work.func(&f->sampler.drain_work);
	KUNIT_EXPECT_EQ(test, c->num, 1);
	expect(test, c, 0, 1, 3, 0);
	expect_states(test, c, 0, ON | AVAILABLE | NORMAL | PROTECTED,
		      ON | AVAILABLE | NORMAL | PROTECTED);
	f->protected = false;
}

/* Each wait for firmware is ended by an interrupt, also when the one before it was in vain. */
static void masked_waits(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	/* Counters cannot be enabled, then disabled: neither request is seen. */
	f->asleep = true;
	KUNIT_EXPECT_EQ(test, start(c, 1), -ETIMEDOUT);
	f->asleep = false;
	fake_look(f);
	KUNIT_ASSERT_EQ(test, start(c, 2), 0);
	drained(f);
	f->asleep = true;
	panthor_perf_sampler_remove(&f->sampler, &c->client);
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_disable(&f->fw), -ETIMEDOUT);
	f->asleep = false;
	KUNIT_EXPECT_EQ(test, panthor_perf_fw_disable(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, f->masked_waits, 0);
	KUNIT_EXPECT_EQ(test, f->input.ack_irq_mask, 0);
}

/* No work is queued after unplug, whoever has looked at the state before. */
static void unplugged_works(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	panthor_perf_sampler_unplug(&f->sampler);
	KUNIT_EXPECT_FALSE(test, queue_work(f->sampler.wq, &f->sampler.drain_work));
	KUNIT_EXPECT_FALSE(test, queue_delayed_work(f->sampler.wq, &f->sampler.check_work, 0));
}

/* All clients that @num tells, started, and with requests that one firmware request answers. */
static void request_many(struct kunit *test, struct fake *f, u32 num, u32 requests, bool limited)
{
	u32 i, n;

	for (i = 0; i < num; i++) {
		struct fake_client *c = limited ? new_limited(test, f) : new_client(test, f);

		give_room(test, c, 128);
		limit(f, 0);
		KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	}
	drained(f);
	disable_work_sync(&f->sampler.drain_work);
	limit(f, NOT_NOW);
	f->asleep = true;
	if (!limited)
		KUNIT_ASSERT_EQ(test, request(f->clients[0], 0), 0);
	for (i = 0; i < num; i++)
		for (n = !limited && !i; n < requests; n++)
			KUNIT_ASSERT_EQ(test, request(f->clients[i], n), 0);
	if (limited) {
		limit(f, 0);
		f->sampler.timer_work.func(&f->sampler.timer_work);
	}
}

static u32 delivered(const struct fake *f)
{
	u32 num = 0, i;

	for (i = 0; i < f->num_clients; i++)
		num += f->clients[i]->num;
	return num;
}

/* However many requests there are, a hold of the lock delivers one a client and 64 more. */
static void portion_of_all(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 num, holds, most = 0;

	request_many(test, f, 64, 64, false);
	f->count = 1;
	answer_one(f, f->clients[0]);
	f->count = 10;
	num = delivered(f);
	for (holds = 0; holds < 64 * 64 && delivered(f) < 64 * 64; holds++) {
		f->asleep = false;
		fake_look(f);
		f->asleep = true;
		f->sampler.drain_work.func(&f->sampler.drain_work);
		most = max(most, delivered(f) - num);
		num = delivered(f);
	}
	KUNIT_EXPECT_EQ(test, num, 64 * 64);
	KUNIT_EXPECT_LE(test, most, 64 + 64);
	KUNIT_EXPECT_LE(test, holds, 64);
	for (num = 0; num < 64; num++)
		KUNIT_EXPECT_EQ_MSG(test, f->clients[num]->sum, 11, "client %u", num);
	f->asleep = false;
	enable_work(&f->sampler.drain_work);
}

/*
 * So it is for limited clients, whose rest waits for later batches. No sample that is taken
 * in between is seen by any of them, whoever drains it.
 */
static void limited_portion_of_all(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 pass, num, i, had[16] = {};

	request_many(test, f, 16, 64, true);
	for (pass = 0; delivered(f) < 16 * 64 && pass < 16 * 64; pass++) {
		num = delivered(f);
		f->count = 1;
		KUNIT_EXPECT_EQ(test, answer_one(f, f->clients[0]), 0);
		f->sampler.drain_work.func(&f->sampler.drain_work);
		KUNIT_ASSERT_GT(test, delivered(f), num);
		KUNIT_ASSERT_LE(test, delivered(f) - num, 16 + 64);
		limit(f, NOT_NOW);
		num = delivered(f);
		for (i = 0; i < 16; i++) {
			if (f->clients[i]->num == had[i])
				continue;
			had[i] = f->clients[i]->num;
			KUNIT_EXPECT_EQ_MSG(test, f->clients[i]->sum, 1 + 11 * pass,
					    "client %u in pass %u", i, pass);
		}

		f->count = 10;
		fake_auto(f);
		panthor_perf_sampler_irq(&f->sampler);
		f->sampler.drain_work.func(&f->sampler.drain_work);
		check(f, 0);
		KUNIT_ASSERT_EQ(test, fake_pending(f), 0);
		KUNIT_ASSERT_EQ(test, delivered(f), num);
		limit(f, 0);
		f->sampler.timer_work.func(&f->sampler.timer_work);
	}
	KUNIT_EXPECT_EQ(test, delivered(f), 16 * 64);
	for (i = 0; i < 16 * 64; i++)
		KUNIT_ASSERT_EQ(test, f->clients[i / 64]->got[i % 64].data, i % 64);
	KUNIT_EXPECT_FALSE(test, f->sampler.limited_waiting);
	f->asleep = false;
	enable_work(&f->sampler.drain_work);
}

/* Firmware dies while a limited client's START waits for the next batch. */
static void limited_dead(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_client *c = new_client(test, f);
	struct starter *s;

	KUNIT_ASSERT_EQ(test, start(c, 1), 0);
	drained(f);
	limit(f, NOT_NOW);
	s = begin_start(test, new_limited(test, f));
	KUNIT_ASSERT_TRUE(test, wait_starting(s->c));
	f->dead = true;
	KUNIT_EXPECT_EQ(test, request(c, 2), 0);
	check(f, NSEC_PER_SEC);
	KUNIT_EXPECT_EQ(test, s->c->client.state, PANTHOR_PERF_CLIENT_STOPPED);
	limit_over(f);
	flush_work(&s->work);
	KUNIT_EXPECT_EQ(test, s->ret, -ETIMEDOUT);
}

/* What goes wrong, while a client waits for SAMPLE and STOP, and another one for START. */
enum trouble {
	TROUBLE_FULL,
	TROUBLE_LOST,
	TROUBLE_DEAD,
	TROUBLE_PROTECTED,
	TROUBLE_RESETTING,
	TROUBLE_SUSPENDING,
	/* These come second only. */
	TROUBLE_NONSENSE,
	TROUBLE_RESET,
	TROUBLE_SUSPEND,
	TROUBLE_UNPLUG,
	TROUBLES
};

static const char * const trouble_names[] = {
	[TROUBLE_FULL] = "the ring is full",
	[TROUBLE_LOST] = "an answer is lost",
	[TROUBLE_DEAD] = "firmware is dead",
	[TROUBLE_PROTECTED] = "protected mode",
	[TROUBLE_RESETTING] = "before a reset",
	[TROUBLE_SUSPENDING] = "before a suspend",
	[TROUBLE_NONSENSE] = "INSERT is wrong",
	[TROUBLE_RESET] = "reset",
	[TROUBLE_SUSPEND] = "suspend",
	[TROUBLE_UNPLUG] = "unplug",
};

static_assert(ARRAY_SIZE(trouble_names) == TROUBLES);

/*
 * What comes of two of them. The last sample ends with the one before it: it has a flag if the
 * cause lasts longer than that. START fails where firmware has, and where the device has gone.
 */
static const struct trouble_pair {
	enum trouble first, second;
	/* Flags of the samples of SAMPLE and STOP. */
	u32 flags, last_flags;
	int start_ret;
	u32 resets;
} trouble_pairs[] = {
	{ TROUBLE_FULL, TROUBLE_LOST, OVERFLOW, 0, 0, 0 },
	{ TROUBLE_FULL, TROUBLE_DEAD, OVERFLOW | ERROR, 0, -ETIMEDOUT, 1 },
	{ TROUBLE_FULL, TROUBLE_PROTECTED, OVERFLOW, OVERFLOW, 0, 0 },
	{ TROUBLE_FULL, TROUBLE_NONSENSE, OVERFLOW | ERROR, 0, 0, 0 },
	{ TROUBLE_FULL, TROUBLE_RESET, OVERFLOW | ERROR, 0, 0, 0 },
	{ TROUBLE_FULL, TROUBLE_SUSPEND, OVERFLOW, 0, 0, 0 },
	{ TROUBLE_FULL, TROUBLE_UNPLUG, OVERFLOW | ERROR, ERROR, -ENODEV, 0 },
	{ TROUBLE_LOST, TROUBLE_FULL, OVERFLOW, 0, 0, 0 },
	{ TROUBLE_LOST, TROUBLE_DEAD, ERROR, 0, -ETIMEDOUT, 1 },
	{ TROUBLE_LOST, TROUBLE_PROTECTED, 0, 0, 0, 0 },
	{ TROUBLE_LOST, TROUBLE_NONSENSE, ERROR, 0, 0, 0 },
	{ TROUBLE_LOST, TROUBLE_RESET, ERROR, 0, 0, 0 },
	{ TROUBLE_LOST, TROUBLE_SUSPEND, 0, 0, 0, 0 },
	{ TROUBLE_LOST, TROUBLE_UNPLUG, ERROR, ERROR, -ENODEV, 0 },
	{ TROUBLE_DEAD, TROUBLE_PROTECTED, ERROR, 0, -ETIMEDOUT, 1 },
	{ TROUBLE_DEAD, TROUBLE_NONSENSE, ERROR, 0, -ETIMEDOUT, 1 },
	{ TROUBLE_DEAD, TROUBLE_RESET, ERROR, 0, 0, 0 },
	{ TROUBLE_DEAD, TROUBLE_SUSPEND, ERROR, 0, 0, 0 },
	{ TROUBLE_DEAD, TROUBLE_UNPLUG, ERROR, ERROR, -ENODEV, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_FULL, OVERFLOW, 0, 0, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_LOST, ERROR, 0, 0, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_DEAD, ERROR, 0, -ETIMEDOUT, 1 },
	{ TROUBLE_PROTECTED, TROUBLE_NONSENSE, ERROR, 0, 0, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_RESET, ERROR, 0, 0, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_SUSPEND, 0, 0, 0, 0 },
	{ TROUBLE_PROTECTED, TROUBLE_UNPLUG, ERROR, ERROR, -ENODEV, 0 },
	/* Requests are complete when the MCU has stopped, whatever comes when it boots. */
	{ TROUBLE_RESETTING, TROUBLE_DEAD, ERROR, 0, 0, 0 },
	{ TROUBLE_RESETTING, TROUBLE_PROTECTED, ERROR, 0, 0, 0 },
	{ TROUBLE_RESETTING, TROUBLE_SUSPEND, ERROR, 0, 0, 0 },
	{ TROUBLE_RESETTING, TROUBLE_UNPLUG, ERROR, ERROR, -ENODEV, 0 },
	{ TROUBLE_SUSPENDING, TROUBLE_DEAD, 0, 0, 0, 0 },
	{ TROUBLE_SUSPENDING, TROUBLE_PROTECTED, 0, 0, 0, 0 },
	{ TROUBLE_SUSPENDING, TROUBLE_RESET, ERROR, 0, 0, 0 },
	{ TROUBLE_SUSPENDING, TROUBLE_UNPLUG, ERROR, ERROR, -ENODEV, 0 },
};

/* The MCU stops and boots. Firmware is what it was only if it is to be @dead. */
static void stop_and_boot(struct fake *f, bool forced, bool dead)
{
	if (f->sampler.state != PANTHOR_PERF_SAMPLER_CLOSING)
		panthor_perf_sampler_close(&f->sampler, !forced);
	if (!forced && !f->dead && !f->protected)
		fake_auto(f);
	panthor_perf_sampler_down(&f->sampler, forced);
	f->mute = false;
	f->full = false;
	f->protected = false;
	f->dead = dead;
	fake_boot(f, true);
	panthor_perf_sampler_up(&f->sampler);
}

/* The first one of two. */
static void begin_trouble(struct fake *f, enum trouble trouble)
{
	switch (trouble) {
	case TROUBLE_FULL:
		f->full = true;
		fake_auto(f);
		panthor_perf_sampler_irq(&f->sampler);
		break;
	case TROUBLE_LOST:
		f->mute = true;
		break;
	case TROUBLE_DEAD:
		f->dead = true;
		break;
	case TROUBLE_PROTECTED:
		enter_protected(f);
		break;
	case TROUBLE_RESETTING:
	case TROUBLE_SUSPENDING:
		panthor_perf_sampler_close(&f->sampler, trouble == TROUBLE_SUSPENDING);
		break;
	default:
		break;
	}
	drained(f);
}

/* The second one, and as much time as it takes to find both. */
static void end_trouble(struct fake *f, enum trouble first, enum trouble second)
{
	bool closing = first == TROUBLE_RESETTING || first == TROUBLE_SUSPENDING;

	switch (second) {
	case TROUBLE_RESET:
	case TROUBLE_SUSPEND:
		stop_and_boot(f, second == TROUBLE_RESET || first == TROUBLE_RESETTING, false);
		return;
	case TROUBLE_UNPLUG:
		panthor_perf_sampler_unplug(&f->sampler);
		return;
	case TROUBLE_DEAD:
		if (closing) {
			stop_and_boot(f, first == TROUBLE_RESETTING, true);
			return;
		}
		f->dead = true;
		break;
	case TROUBLE_PROTECTED:
		if (closing) {
			stop_and_boot(f, first == TROUBLE_RESETTING, false);
			enter_protected(f);
			return;
		}
		if (first == TROUBLE_LOST)
			enter_protected(f);
		f->protected = true;
		f->mute = false;
		check(f, NSEC_PER_SEC);
		check(f, NSEC_PER_SEC);
		f->full = false;
		break;
	case TROUBLE_FULL:
		f->full = true;
		fake_auto(f);
		break;
	case TROUBLE_LOST:
		f->full = false;
		f->mute = true;
		break;
	case TROUBLE_NONSENSE:
		f->output.perfcnt_insert += FAKE_SLOTS + 1;
		break;
	default:
		break;
	}

	/* Protected mode that has begun ends, unless INSERT is found wrong in it. */
	if (second != TROUBLE_NONSENSE && f->protected) {
		f->protected = false;
		wake(f);
	}
	check(f, 2 * NSEC_PER_SEC);
	if (second == TROUBLE_FULL || second == TROUBLE_LOST) {
		check(f, 2 * NSEC_PER_SEC);
		f->full = false;
		f->mute = false;
	}
	f->protected = false;
	check(f, 0);
}

/* Troubles come in pairs, and what is promised of one of them must hold with the other, too. */
static void pairs(struct kunit *test)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(trouble_pairs); i++) {
		const struct trouble_pair *p = &trouble_pairs[i];
		const char *first = trouble_names[p->first], *second = trouble_names[p->second];
		struct fake *f = fresh_fake(test);
		struct fake_client *c = new_client(test, f);
		struct starter *s;

		KUNIT_ASSERT_EQ(test, start(c, 1), 0);
		drained(f);
		begin_trouble(f, p->first);
		KUNIT_EXPECT_EQ(test, request(c, 2), 0);
		s = begin_start(test, new_client(test, f));
		KUNIT_ASSERT_TRUE(test, wait_starting(s->c));
		KUNIT_EXPECT_TRUE(test, stop(c, 3));
		end_trouble(f, p->first, p->second);
		flush_work(&s->work);
		drained(f);
		KUNIT_EXPECT_EQ_MSG(test, s->ret, p->start_ret, "%s, %s", first, second);
		KUNIT_EXPECT_EQ_MSG(test, f->resets, p->resets, "%s, %s", first, second);
		KUNIT_EXPECT_EQ_MSG(test, c->num, 2, "%s, %s", first, second);
		KUNIT_EXPECT_EQ_MSG(test, c->got[0].flags, p->flags, "%s, %s", first, second);
		KUNIT_EXPECT_EQ_MSG(test, c->got[1].flags, p->last_flags, "%s, %s: the last",
				    first, second);
	}
}

enum flight_event {
	FLIGHT_REQUEST,
	FLIGHT_COUNTING,
	FLIGHT_AT_ONCE,
	FLIGHT_ANSWERED,
	FLIGHT_DISABLED,
	FLIGHT_UNPLUG,
	FLIGHT_EVENTS
};

static const char * const flight_events[] = {
	[FLIGHT_REQUEST] = "a client requests a sample",
	[FLIGHT_COUNTING] = "the sampler is COUNTING",
	[FLIGHT_AT_ONCE] = "requests are complete at once",
	[FLIGHT_ANSWERED] = "firmware has answered",
	[FLIGHT_DISABLED] = "counters are disabled",
	[FLIGHT_UNPLUG] = "unplug",
};

static_assert(ARRAY_SIZE(flight_events) == FLIGHT_EVENTS);

/* By whether it is in flight, and whether one is wanted. */
enum flight_state {
	FLIGHT_NONE,
	FLIGHT_WANTED,
	FLIGHT_MADE,
	FLIGHT_MADE_WANTED
};

static enum flight_state flight_state(const struct fake *f)
{
	return f->sampler.in_flight << 1 | f->sampler.wanted;
}

static const char * const flight_names[] = {
	[FLIGHT_NONE] = "NONE",
	[FLIGHT_WANTED] = "WANTED",
	[FLIGHT_MADE] = "MADE",
	[FLIGHT_MADE_WANTED] = "MADE_WANTED",
};

struct flight_cell {
	/* State after the event, as TO() says. */
	u8 next;
	/* How many samples clients have got. */
	u32 num;
	/* Why there is no such event in this state. */
	const char *never;
};

#define NONE		TO(FLIGHT_NONE)
#define WANTED		TO(FLIGHT_WANTED)
#define MADE		TO(FLIGHT_MADE)
#define MADE_WANTED	TO(FLIGHT_MADE_WANTED)

/* When the device is unplugged, the second client, which was promised nothing, gets a sample. */
static const struct flight_cell flight_cells[][FLIGHT_EVENTS] = {
	[FLIGHT_NONE] = {
		[FLIGHT_REQUEST] = { WANTED },
		[FLIGHT_COUNTING] = { NONE },
		[FLIGHT_AT_ONCE] = { NONE },
		[FLIGHT_ANSWERED] = NEVER("there is nothing to answer"),
		[FLIGHT_DISABLED] = { NONE },
		[FLIGHT_UNPLUG] = { WANTED, .num = 2 },
	},
	[FLIGHT_WANTED] = {
		[FLIGHT_REQUEST] = { WANTED },
		[FLIGHT_COUNTING] = NEVER("who wants it is complete before that, or has gone"),
		[FLIGHT_AT_ONCE] = { NONE, .num = 1 },
		[FLIGHT_ANSWERED] = NEVER("there is nothing to answer"),
		/* Counters are enabled in CLOSING as well, which ends with AT_ONCE. */
		[FLIGHT_DISABLED] = NEVER("while the sampler is COUNTING, it would be made"),
		[FLIGHT_UNPLUG] = { WANTED, .num = 2 },
	},
	[FLIGHT_MADE] = {
		[FLIGHT_REQUEST] = { MADE_WANTED },
		[FLIGHT_COUNTING] = { MADE },
		[FLIGHT_AT_ONCE] = NEVER("counters are disabled before that"),
		[FLIGHT_ANSWERED] = { NONE, .num = 1 },
		[FLIGHT_DISABLED] = { NONE },
		[FLIGHT_UNPLUG] = { WANTED, .num = 2 },
	},
	[FLIGHT_MADE_WANTED] = {
		[FLIGHT_REQUEST] = { MADE_WANTED },
		[FLIGHT_COUNTING] = { MADE_WANTED },
		[FLIGHT_AT_ONCE] = NEVER("counters are disabled before that"),
		[FLIGHT_ANSWERED] = { WANTED, .num = 1 },
		[FLIGHT_DISABLED] = { NONE },
		[FLIGHT_UNPLUG] = { WANTED, .num = 2 },
	},
};

#undef NONE
#undef WANTED
#undef MADE
#undef MADE_WANTED

static_assert(ARRAY_SIZE(flight_cells) == ARRAY_SIZE(flight_names));

/* Both clients are removed, which disables counters, and firmware sees that. */
static void remove_both(struct fake *f, struct fake_client *a, struct fake_client *b)
{
	f->asleep = false;
	f->full = false;
	panthor_perf_sampler_remove(&f->sampler, &a->client);
	panthor_perf_sampler_remove(&f->sampler, &b->client);
	drained(f);
}

static void reach_flight_state(struct kunit *test, struct fake *f, struct fake_client *a,
			       struct fake_client *b, enum flight_state state,
			       enum flight_event event)
{
	KUNIT_ASSERT_EQ(test, start(a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(b, 2), 0);
	drained(f);

	switch (state) {
	case FLIGHT_NONE:
		/* A request would be made at once if the sampler were COUNTING. */
		if (event == FLIGHT_REQUEST || event == FLIGHT_AT_ONCE)
			panthor_perf_sampler_close(&f->sampler, true);
		break;
	case FLIGHT_WANTED:
		panthor_perf_sampler_close(&f->sampler, true);
		KUNIT_ASSERT_EQ(test, request(a, 3), 0);
		break;
	case FLIGHT_MADE:
		f->asleep = true;
		KUNIT_ASSERT_EQ(test, request(a, 3), 0);
		break;
	case FLIGHT_MADE_WANTED:
		f->asleep = true;
		KUNIT_ASSERT_EQ(test, request(a, 3), 0);
		KUNIT_ASSERT_EQ(test, request(b, 4), 0);
		break;
	}
	drained(f);
	KUNIT_ASSERT_STREQ(test, flight_names[flight_state(f)], flight_names[state]);
	KUNIT_ASSERT_EQ(test, a->num + b->num, 0);
}

static void do_flight_event(struct kunit *test, struct fake *f, struct fake_client *a,
			    struct fake_client *b, enum flight_state state,
			    enum flight_event event)
{
	switch (event) {
	case FLIGHT_REQUEST:
		KUNIT_EXPECT_EQ(test, request(b, 5), 0);
		break;
	case FLIGHT_COUNTING:
		if (state == FLIGHT_WANTED) {
			struct fake_client *c = new_limited(test, f);

			/* It wants no request yet, and the one that is made is not answered. */
			limit(f, NOT_NOW);
			f->mute = true;
			begin_start(test, c);
			KUNIT_ASSERT_TRUE(test, wait_starting(c));
		} else {
			drain(f);
		}
		KUNIT_EXPECT_EQ(test, f->sampler.state, PANTHOR_PERF_SAMPLER_COUNTING);
		break;
	case FLIGHT_AT_ONCE:
		fake_auto(f);
		panthor_perf_sampler_down(&f->sampler, false);
		break;
	case FLIGHT_ANSWERED:
		/* The next one would be made at once if the sampler were COUNTING. */
		if (state == FLIGHT_MADE_WANTED) {
			f->protected_when_waited = true;
			panthor_perf_sampler_close(&f->sampler, true);
		} else {
			wake(f);
		}
		break;
	case FLIGHT_DISABLED:
		remove_both(f, a, b);
		break;
	case FLIGHT_UNPLUG:
		panthor_perf_sampler_unplug(&f->sampler);
		break;
	case FLIGHT_EVENTS:
		break;
	}
	drained(f);
}

/* "State of the firmware request". */
static void flight_states(struct kunit *test)
{
	u32 state, event;

	for (state = 0; state < ARRAY_SIZE(flight_cells); state++) {
		for (event = 0; event < FLIGHT_EVENTS; event++) {
			const struct flight_cell *cell = &flight_cells[state][event];
			const char *in = flight_names[state], *when = flight_events[event];
			struct fake_client *a, *b;
			struct fake *f;

			if (cell->never)
				continue;

			KUNIT_ASSERT_NE_MSG(test, cell->next, 0, "%s: %s: not told", in, when);
			f = fresh_fake(test);
			a = new_client(test, f);
			b = new_client(test, f);
			reach_flight_state(test, f, a, b, state, event);
			do_flight_event(test, f, a, b, state, event);
			KUNIT_EXPECT_EQ_MSG(test, TO(flight_state(f)), cell->next,
					    "%s: %s: is %s", in, when,
					    flight_names[flight_state(f)]);
			KUNIT_EXPECT_EQ_MSG(test, a->num + b->num, cell->num, "%s: %s", in, when);
		}
	}
}

enum limited_row {
	/* Nothing was requested. */
	ROW_IDLE,
	/* The first client has requested a sample too early. */
	ROW_WAITING,
	/* It has requested one while the firmware request of another client is in flight. */
	ROW_OTHERS,
	/* It has requested one, and the firmware request is in flight. */
	ROW_MADE,
	/* The same, and then the second client has requested one. */
	ROW_MADE_WAITING,
	LIMITED_ROWS
};

static const char * const limited_rows[] = {
	[ROW_IDLE] = "idle",
	[ROW_WAITING] = "too early",
	[ROW_OTHERS] = "others' request in flight",
	[ROW_MADE] = "request in flight",
	[ROW_MADE_WAITING] = "request in flight, and another one",
};

static_assert(ARRAY_SIZE(limited_rows) == LIMITED_ROWS);

enum limited_event {
	LIMITED_REQUEST,
	LIMITED_REQUEST_EARLY,
	LIMITED_AUTO,
	LIMITED_AUTO_EARLY,
	LIMITED_TIME,
	LIMITED_TIME_EARLY,
	LIMITED_OTHER_COMPLETE,
	LIMITED_COMPLETE,
	LIMITED_NO_CLIENT,
	LIMITED_UNPLUG,
	LIMITED_EVENTS
};

static const char * const limited_events[] = {
	[LIMITED_REQUEST] = "request, in time",
	[LIMITED_REQUEST_EARLY] = "request, too early",
	[LIMITED_AUTO] = "automatic sample, in time",
	[LIMITED_AUTO_EARLY] = "automatic sample, too early",
	[LIMITED_TIME] = "the time has come",
	[LIMITED_TIME_EARLY] = "the timer expires too early",
	[LIMITED_OTHER_COMPLETE] = "firmware request of others complete",
	[LIMITED_COMPLETE] = "firmware request complete",
	[LIMITED_NO_CLIENT] = "there is no client left",
	[LIMITED_UNPLUG] = "unplug",
};

static_assert(ARRAY_SIZE(limited_events) == LIMITED_EVENTS);

struct limited_cell {
	/* If a limited client waits after the event. */
	enum { NOT_TOLD, IDLE, WAITING } next;
	/* How many samples each of the two limited clients has got. */
	u32 num[2];
	/* The millisecond starts, and does not otherwise. */
	bool starts;
	/* Why there is no such event in this state. */
	const char *never;
};

static const struct limited_cell limited_cells[LIMITED_ROWS][LIMITED_EVENTS] = {
	[ROW_IDLE] = {
		[LIMITED_REQUEST] = { WAITING },
		[LIMITED_REQUEST_EARLY] = { WAITING },
		[LIMITED_AUTO] = { IDLE, .num = { 1, 1 }, .starts = true },
		[LIMITED_AUTO_EARLY] = { IDLE },
		[LIMITED_TIME] = { IDLE },
		[LIMITED_TIME_EARLY] = { IDLE },
		[LIMITED_OTHER_COMPLETE] = { IDLE },
		[LIMITED_COMPLETE] = NEVER("there is none"),
		[LIMITED_NO_CLIENT] = { IDLE },
		[LIMITED_UNPLUG] = { WAITING, .num = { 1, 1 } },
	},
	[ROW_WAITING] = {
		[LIMITED_REQUEST] = { WAITING },
		[LIMITED_REQUEST_EARLY] = { WAITING },
		[LIMITED_AUTO] = { WAITING },
		[LIMITED_AUTO_EARLY] = { WAITING },
		[LIMITED_TIME] = { WAITING },
		[LIMITED_TIME_EARLY] = { WAITING },
		[LIMITED_OTHER_COMPLETE] = { IDLE, .num = { 1, 0 }, .starts = true },
		[LIMITED_COMPLETE] = NEVER("there is none"),
		[LIMITED_NO_CLIENT] = { IDLE },
		[LIMITED_UNPLUG] = { WAITING, .num = { 1, 1 } },
	},
	[ROW_OTHERS] = {
		[LIMITED_REQUEST] = { WAITING },
		[LIMITED_REQUEST_EARLY] = { WAITING },
		[LIMITED_AUTO] = { WAITING },
		[LIMITED_AUTO_EARLY] = { WAITING },
		[LIMITED_TIME] = { WAITING },
		[LIMITED_TIME_EARLY] = { WAITING },
		[LIMITED_OTHER_COMPLETE] = { WAITING },
		[LIMITED_COMPLETE] = { IDLE, .num = { 1, 0 }, .starts = true },
		[LIMITED_NO_CLIENT] = { IDLE },
		[LIMITED_UNPLUG] = { WAITING, .num = { 1, 1 } },
	},
	[ROW_MADE] = {
		[LIMITED_REQUEST] = { WAITING },
		[LIMITED_REQUEST_EARLY] = { WAITING },
		[LIMITED_AUTO] = { WAITING },
		[LIMITED_AUTO_EARLY] = { WAITING },
		[LIMITED_TIME] = { WAITING },
		[LIMITED_TIME_EARLY] = { WAITING },
		[LIMITED_OTHER_COMPLETE] = NEVER("theirs is in flight, and there is one at a time"),
		[LIMITED_COMPLETE] = { IDLE, .num = { 1, 0 }, .starts = true },
		[LIMITED_NO_CLIENT] = { IDLE },
		[LIMITED_UNPLUG] = { WAITING, .num = { 1, 1 } },
	},
	[ROW_MADE_WAITING] = {
		[LIMITED_REQUEST] = { WAITING },
		[LIMITED_REQUEST_EARLY] = { WAITING },
		[LIMITED_AUTO] = { WAITING },
		[LIMITED_AUTO_EARLY] = { WAITING },
		[LIMITED_TIME] = { WAITING },
		[LIMITED_TIME_EARLY] = { WAITING },
		[LIMITED_OTHER_COMPLETE] = NEVER("theirs is in flight, and there is one at a time"),
		[LIMITED_COMPLETE] = { WAITING, .num = { 1, 0 }, .starts = true },
		[LIMITED_NO_CLIENT] = { IDLE },
		[LIMITED_UNPLUG] = { WAITING, .num = { 1, 1 } },
	},
};

/* The clients of a cell: two limited ones that want automatic samples, and another one. */
struct limited_clients {
	struct fake_client *a, *b, *other;
};

static void reach_limited_row(struct kunit *test, struct fake *f, struct limited_clients *c,
			      enum limited_row row)
{
	c->a->client.emit_auto = true;
	c->b->client.emit_auto = true;
	KUNIT_ASSERT_EQ(test, start(c->a, 1), 0);
	KUNIT_ASSERT_EQ(test, start(c->b, 2), 0);
	KUNIT_ASSERT_EQ(test, start(c->other, 3), 0);
	drained(f);
	/* A timer that expires does nothing from here on. */
	disable_work_sync(&f->sampler.timer_work);

	switch (row) {
	case ROW_IDLE:
		break;
	case ROW_WAITING:
		limit(f, NOT_NOW);
		KUNIT_ASSERT_EQ(test, request(c->a, 4), 0);
		break;
	case ROW_OTHERS:
		f->asleep = true;
		limit(f, 0);
		KUNIT_ASSERT_EQ(test, request(c->other, 5), 0);
		KUNIT_ASSERT_EQ(test, request(c->a, 4), 0);
		break;
	case ROW_MADE:
		f->asleep = true;
		limit(f, 0);
		KUNIT_ASSERT_EQ(test, request(c->a, 4), 0);
		break;
	case ROW_MADE_WAITING:
		f->asleep = true;
		limit(f, 0);
		KUNIT_ASSERT_EQ(test, request(c->a, 4), 0);
		KUNIT_ASSERT_EQ(test, request(c->b, 5), 0);
		break;
	case LIMITED_ROWS:
		break;
	}
	drained(f);
	KUNIT_ASSERT_EQ_MSG(test, f->sampler.limited_waiting, row != ROW_IDLE, "%s",
			    limited_rows[row]);
	KUNIT_ASSERT_EQ(test, c->a->num + c->b->num, 0);
}

static void do_limited_event(struct kunit *test, struct fake *f, struct limited_clients *c,
			     enum limited_row row, enum limited_event event)
{
	struct work_struct *work = &f->sampler.timer_work;

	switch (event) {
	case LIMITED_REQUEST:
	case LIMITED_REQUEST_EARLY:
		f->asleep = true;
		KUNIT_EXPECT_EQ(test, request(c->b, 6), 0);
		break;
	case LIMITED_AUTO:
	case LIMITED_AUTO_EARLY:
		fake_auto(f);
		drain(f);
		break;
	case LIMITED_TIME:
	case LIMITED_TIME_EARLY:
		f->asleep = true;
		work->func(work);
		break;
	case LIMITED_OTHER_COMPLETE:
		if (row != ROW_OTHERS)
			KUNIT_EXPECT_EQ(test, request(c->other, 6), 0);
		/* Firmware looks once, and does not see the request that is made then. */
		f->asleep = false;
		fake_look(f);
		f->asleep = true;
		panthor_perf_sampler_irq(&f->sampler);
		drained(f);
		KUNIT_EXPECT_EQ(test, c->other->num, 1);
		break;
	case LIMITED_COMPLETE:
		wake(f);
		break;
	case LIMITED_NO_CLIENT:
		panthor_perf_sampler_remove(&f->sampler, &c->other->client);
		remove_both(f, c->a, c->b);
		break;
	case LIMITED_UNPLUG:
		panthor_perf_sampler_unplug(&f->sampler);
		break;
	case LIMITED_EVENTS:
		break;
	}
	drained(f);
}

/* Limited clients, see &struct panthor_perf_sampler. */
static void limited_states(struct kunit *test)
{
	u32 row, event;

	for (row = 0; row < LIMITED_ROWS; row++) {
		for (event = 0; event < LIMITED_EVENTS; event++) {
			const struct limited_cell *cell = &limited_cells[row][event];
			const char *in = limited_rows[row], *when = limited_events[event];
			struct limited_clients c;
			u64 before, now;
			struct fake *f;
			bool early;

			if (cell->never)
				continue;

			KUNIT_ASSERT_NE_MSG(test, cell->next, NOT_TOLD, "%s: %s", in, when);
			f = fresh_fake(test);
			c.a = new_limited(test, f);
			c.b = new_limited(test, f);
			c.other = new_client(test, f);
			reach_limited_row(test, f, &c, row);

			early = event == LIMITED_REQUEST_EARLY || event == LIMITED_AUTO_EARLY ||
				event == LIMITED_TIME_EARLY;
			limit(f, early ? NOT_NOW : 0);
			before = f->sampler.limited_not_before_ns;
			now = ktime_get_raw_ns();
			do_limited_event(test, f, &c, row, event);

			/*
			 * If this processor stood still for the millisecond that starts here,
			 * nothing waits for it any more.
			 */
			if (cell->starts && cell->next == WAITING &&
			    !f->sampler.limited_waiting && c.a->num == 1 && c.b->num == 1 &&
			    c.b->got[0].end >= c.a->got[0].end + PANTHOR_PERF_LIMITED_NS)
				continue;

			KUNIT_EXPECT_EQ_MSG(test, f->sampler.limited_waiting,
					    cell->next == WAITING, "%s: %s", in, when);
			KUNIT_EXPECT_EQ_MSG(test, c.a->num, cell->num[0], "%s: %s", in, when);
			KUNIT_EXPECT_EQ_MSG(test, c.b->num, cell->num[1], "%s: %s", in, when);
			if (cell->starts)
				KUNIT_EXPECT_GE_MSG(test, f->sampler.limited_not_before_ns,
						    now + PANTHOR_PERF_LIMITED_NS, "%s: %s", in,
						    when);
			else if (event != LIMITED_UNPLUG)
				KUNIT_EXPECT_EQ_MSG(test, f->sampler.limited_not_before_ns, before,
						    "%s: %s", in, when);
		}
	}
}

static struct kunit_case panthor_perf_sampler_cases[] = {
	KUNIT_CASE(programs_firmware),
	KUNIT_CASE(cycle_counter),
	KUNIT_CASE(unused),
	KUNIT_CASE(sets),
	KUNIT_CASE(clears_marks),
	KUNIT_CASE(enable_again),
	KUNIT_CASE(counts),
	KUNIT_CASE(independent),
	KUNIT_CASE(reads_needed),
	KUNIT_CASE(coalesce),
	KUNIT_CASE(room),
	KUNIT_CASE(folded),
	KUNIT_CASE(emitted),
	KUNIT_CASE(emitted_answer),
	KUNIT_CASE(emitted_due),
	KUNIT_CASE(due),
	KUNIT_CASE(stretched),
	KUNIT_CASE(limited_stretched),
	KUNIT_CASE(rearmed),
	KUNIT_CASE(rearmed_in_vain),
	KUNIT_CASE(ring_full),
	KUNIT_CASE(ring_full_in_flight),
	KUNIT_CASE(ring_full_answered),
	KUNIT_CASE(ring_full_before_start),
	KUNIT_CASE(ring_full_lost),
	KUNIT_CASE(ring_stays_full),
	KUNIT_CASE(ring_full_told),
	KUNIT_CASE(lost_ack),
	KUNIT_CASE(lost_ack_overflow),
	KUNIT_CASE(lost_ack_told),
	KUNIT_CASE(late_ack),
	KUNIT_CASE(dead),
	KUNIT_CASE(start_dead),
	KUNIT_CASE(protected_mode),
	KUNIT_CASE(protected_states),
	KUNIT_CASE(protected_start),
	KUNIT_CASE(nonsense),
	KUNIT_CASE(saturation),
	KUNIT_CASE(suspend),
	KUNIT_CASE(suspend_resume_states),
	KUNIT_CASE(suspend_no_sample),
	KUNIT_CASE(suspend_protected),
	KUNIT_CASE(suspend_no_room),
	KUNIT_CASE(suspend_protected_no_room),
	KUNIT_CASE(suspend_protected_not_rearmed),
	KUNIT_CASE(suspend_starting),
	KUNIT_CASE(suspend_stopped),
	KUNIT_CASE(reset),
	KUNIT_CASE(enable_fails),
	KUNIT_CASE(check_gives_up),
	KUNIT_CASE(start_fails),
	KUNIT_CASE_PARAM(failures_anew, between_gen_params),
	KUNIT_CASE_PARAM(nonsense_anew, between_gen_params),
	KUNIT_CASE(start_mute),
	KUNIT_CASE(start_unanswered),
	KUNIT_CASE(unplugged),
	KUNIT_CASE(removed),
	KUNIT_CASE(removed_last),
	KUNIT_CASE(wraps),
	KUNIT_CASE(limited_together),
	KUNIT_CASE(limited_rate),
	KUNIT_CASE(limited_down),
	KUNIT_CASE(limited_emitted),
	KUNIT_CASE(limited_late),
	KUNIT_CASE(limited_millisecond),
	KUNIT_CASE(limited_undelivered),
	KUNIT_CASE(limited_ends),
	KUNIT_CASE(limited_lost_ack),
	KUNIT_CASE(portions),
	KUNIT_CASE(served_in_irq),
	KUNIT_CASE(portions_down),
	KUNIT_CASE(limited_portion),
	KUNIT_CASE(protected_ends_waiting),
	KUNIT_CASE(protected_excused),
	KUNIT_CASE(emitted_meanwhile),
	KUNIT_CASE(stop_in_irq),
	KUNIT_CASE(protected_start_after_failures),
	KUNIT_CASE_PARAM(overdue, overdue_gen_params),
	KUNIT_CASE(fw_indices),
	KUNIT_CASE(check_interval),
	KUNIT_CASE(waits),
	KUNIT_CASE(loss_ends),
	KUNIT_CASE(emitted_before_ack),
	KUNIT_CASE(unplug_stop),
	KUNIT_CASE(start_ring_full),
	KUNIT_CASE(ring_full_then_late),
	KUNIT_CASE(nonsense_lasts),
	KUNIT_CASE(power_samples),
	KUNIT_CASE(sync_samples),
	KUNIT_CASE(sync_limited),
	KUNIT_CASE(answered_too_late),
	KUNIT_CASE(unplug_unanswered),
	KUNIT_CASE(halt_first),
	KUNIT_CASE(empty_ack),
	KUNIT_CASE(acked_late),
	KUNIT_CASE(acked_by_drained),
	KUNIT_CASE(sample_missing),
	KUNIT_CASE(refilled_meanwhile),
	KUNIT_CASE(sample_overwritten),
	KUNIT_CASE(protected_ends),
	KUNIT_CASE(protected_when_read),
	KUNIT_CASE(masked_waits),
	KUNIT_CASE(unplugged_works),
	KUNIT_CASE(portion_of_all),
	KUNIT_CASE(limited_portion_of_all),
	KUNIT_CASE(limited_dead),
	KUNIT_CASE(states),
	KUNIT_CASE(pairs),
	KUNIT_CASE(flight_states),
	KUNIT_CASE(limited_states),
	{}
};

static struct kunit_case panthor_perf_metadata_cases[] = {
	KUNIT_CASE(counts),
	KUNIT_CASE(independent),
	KUNIT_CASE(emitted_after_answer),
	KUNIT_CASE(emitted_protected_answer),
	KUNIT_CASE(metadata_stale),
	KUNIT_CASE(suspend_other_sample),
	KUNIT_CASE(answer_from_before),
	{}
};

static struct kunit_suite panthor_perf_sampler_suite = {
	.name = "panthor_perf_sampler",
	.init = sampler_init,
	.test_cases = panthor_perf_sampler_cases,
};

static struct kunit_suite panthor_perf_metadata_suite = {
	.name = "panthor_perf_sampler_metadata",
	.init = metadata_init,
	.test_cases = panthor_perf_metadata_cases,
};

kunit_test_suites(&panthor_perf_sampler_suite, &panthor_perf_metadata_suite);
