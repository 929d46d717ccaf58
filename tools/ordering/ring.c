// SPDX-License-Identifier: MIT
/*
 * Does every barrier of the driver's two rings do what it is for? The driver's own
 * functions run against firmware, and against a user, in the memory of model.c. With
 * all barriers nothing may go wrong; without any one of them something must. Prints
 * TAP, and of each failure that was provoked the execution that shows it.
 */

#include <stdio.h>

#include "panthor_perf_fw.c"
#include "panthor_perf_session.c"
#include "tries.h"

#define EN_ALL		0xffffu	/* PRFCNT_EN of a block that was written */

/* Two counters of a block: one is read together with PRFCNT_EN, the other after it. */
#define FIRST		4
#define LAST		20

static struct panthor_perf_layout layout;
static struct panthor_perf_fw fw;
static struct panthor_fw_global_iface glb;
static struct panthor_fw_global_input_iface input;
static struct panthor_fw_global_output_iface output;
static u32 doorbell;
static u8 *fw_ring;
static struct panthor_perf_fw_sample *sample;

/* A value of the block that is looked at, in a slot of the firmware ring. */
static u32 *slot_word(u32 slot, u32 value)
{
	return (u32 *)(fw_ring + slot * layout.fw_sample_size +
		       layout.blocks[layout.cshw_block].fw_offset) + value;
}

static u32 *word(u32 value)
{
	return slot_word(0, value);
}

/* What firmware counts in its nth sample. */
static u32 counted(u32 n, u32 value)
{
	return n << 8 | value;
}

static void ring_doorbell(struct panthor_perf_fw *fw)
{
	/* writel() */
	model_barrier(BARRIER_WRITE, "writel", __func__);
	model_write(&doorbell, fw->epoch + 1, RELAXED);
}

static int wait_acks(struct panthor_perf_fw *fw, u32 mask, u32 timeout_ms)
{
	u32 req = READ_ONCE(fw->glb->input->req), ack = READ_ONCE(fw->glb->output->ack);

	/* It is of no interest here that firmware does not answer. */
	model_assume(!((req ^ ack) & mask));
	model_branch();
	return 0;
}

static const struct panthor_perf_fw_ops ops = {
	.ring_doorbell = ring_doorbell,
	.wait_acks = wait_acks,
};

/* @written samples were in the ring, and are all consumed. */
static void setup_fw(u32 written, u32 req, u32 ack)
{
	memset(&input, 0, sizeof(input));
	memset(&output, 0, sizeof(output));
	glb = (struct panthor_fw_global_iface) { .input = &input, .output = &output };
	fw = (struct panthor_perf_fw) {
		.ops = &ops, .glb = &glb, .ring = fw_ring, .ring_va = 0x1000, .slots = 1,
		.layout = &layout, .enabled = true, .extract = written,
	};
	model_track(&input.req, 4, "REQ", req);
	model_track(&input.perfcnt_extract, 4, "EXTRACT", written);
	model_track(&output.ack, 4, "ACK", ack);
	model_track(&output.perfcnt_insert, 4, "INSERT", written);
}

static void track_slot(u32 en, u32 n)
{
	model_track(word(2), 4, "PRFCNT_EN", en);
	model_track(word(FIRST), 4, "first counter", n ? counted(n, FIRST) : 0);
	model_track(word(LAST), 4, "last counter", n ? counted(n, LAST) : 0);
}

static u32 fw_read(u32 *p)
{
	return model_read(p, RELAXED);
}

static void fw_write(u32 *p, u32 value)
{
	model_write(p, value, RELAXED);
}

/* Writes sample @n into the slot that is looked at. */
static void fw_write_sample(u32 n)
{
	fw_write(word(2), EN_ALL);
	fw_write(word(FIRST), counted(n, FIRST));
	fw_write(word(LAST), counted(n, LAST));
}

static const u64 asked[PANTHOR_PERF_BLOCK_WORDS] = { 1 };

/* Drains one sample as the sampler does. Its results are those from @first on. */
static void drain_sample(unsigned int first)
{
	memset(sample, 0, layout.fw_copy_size);
	panthor_perf_fw_sample_read(&layout, panthor_perf_fw_slot(&fw, fw.extract), asked, sample);
	panthor_perf_fw_consume(&fw);
	model_result(first, sample->written[0]);
	model_result(first + 1, sample->values[FIRST]);
	model_result(first + 2, sample->values[LAST]);
}

/* Is what was drained the whole of sample @n? */
static const char *bad_sample(const struct execution *x, unsigned int first, u32 n)
{
	if (!result(x, 0, first))
		return "a block that firmware wrote is taken for one that it did not write";
	if (result(x, 0, first + 1) != counted(n, FIRST) ||
	    result(x, 0, first + 2) != counted(n, LAST))
		return "a counter is not the one of the sample that was drained";
	return NULL;
}

/*
 * Firmware answers the request for a sample. The driver looks at the request and at
 * the ring as the sampler does, under its lock.
 */
static void answer_setup(void)
{
	setup_fw(0, GLB_PERFCNT_SAMPLE, 0);
}

static void answer_driver(void)
{
	spinlock_t lock;

	spin_lock(&lock);
	model_result(0, panthor_perf_fw_acked(&fw));
	model_result(1, panthor_perf_fw_pending(&fw));
	spin_unlock(&lock);
}

static void answer_firmware(void)
{
	fw_write(&output.perfcnt_insert, 1);
	fw_write(&output.ack, GLB_PERFCNT_SAMPLE);
}

static const char *answer_wrong(const struct execution *x)
{
	return result(x, 0, 0) && result(x, 0, 1) != 1 ?
	       "the request is answered, and its sample is not in the ring" : NULL;
}

/* Firmware writes a sample, and the driver drains it. */
static void sample_setup(void)
{
	setup_fw(0, 0, 0);
	track_slot(0, 0);
}

static void sample_driver(void)
{
	model_assume(panthor_perf_fw_pending(&fw) == 1);
	drain_sample(0);
}

static void sample_firmware(void)
{
	fw_write_sample(1);
	fw_write(&output.perfcnt_insert, 1);
}

static const char *sample_wrong(const struct execution *x)
{
	return bad_sample(x, 0, 1);
}

/*
 * Firmware has raised OVERFLOW, as a sample found the ring full. The next sample finds
 * room, and the driver drains it: by then it must know of the one before.
 */
static void overflow_setup(void)
{
	setup_fw(1, 0, 0);
}

static void overflow_driver(void)
{
	model_assume(panthor_perf_fw_pending(&fw) == 1);
	model_result(0, panthor_perf_fw_overflowed(&fw));
}

static void overflow_firmware(void)
{
	fw_write(&output.ack, GLB_PERFCNT_OVERFLOW);
	fw_write(&output.perfcnt_insert, 2);
}

static const char *overflow_wrong(const struct execution *x)
{
	return result(x, 0, 0) ? NULL : "counts were lost before this sample, and nobody knows";
}

/* The ring has one slot. Firmware uses it again once the driver has given it back. */
static void slot_driver(void)
{
	unsigned int n;
	int pending;

	for (n = 0; n < 2; n++) {
		pending = panthor_perf_fw_pending(&fw);
		model_result(7, pending < 0);
		if (pending <= 0)
			break;
		drain_sample(1 + 3 * n);
	}
	model_result(0, n);
}

static void slot_firmware(void)
{
	fw_write_sample(1);
	fw_write(&output.perfcnt_insert, 1);
	if (fw_read(&input.perfcnt_extract) != 1)
		return;
	fw_write_sample(2);
	fw_write(&output.perfcnt_insert, 2);
}

static const char *slot_wrong(const struct execution *x)
{
	const char *why = NULL;
	u64 drained = result(x, 0, 0), n;

	if (result(x, 0, 7))
		return "the index of firmware makes no sense";
	for (n = 0; n < drained && !why; n++)
		why = bad_sample(x, 1 + 3 * n, n + 1);
	if (!why && drained < final_value(x, "INSERT") && !final_value(x, "PRFCNT_EN"))
		why = "PRFCNT_EN of a sample is cleared that was not drained";
	return why;
}

/*
 * The ring has two slots, and firmware writes three samples, the last one in the slot of
 * the first. The driver looks at the ring four times. One counter is looked at.
 */
static void two_slots_setup(void)
{
	setup_fw(0, 0, 0);
	fw.slots = 2;
	model_track(slot_word(0, 2), 4, "PRFCNT_EN of slot 0", 0);
	model_track(slot_word(0, LAST), 4, "counter in slot 0", 0);
	model_track(slot_word(1, 2), 4, "PRFCNT_EN of slot 1", 0);
	model_track(slot_word(1, LAST), 4, "counter in slot 1", 0);
}

static void two_slots_driver(void)
{
	unsigned int n = 0, looks;
	int pending;

	for (looks = 0; looks < 4; looks++) {
		for (pending = panthor_perf_fw_pending(&fw); pending > 0; pending--) {
			memset(sample, 0, layout.fw_copy_size);
			panthor_perf_fw_sample_read(&layout, panthor_perf_fw_slot(&fw, fw.extract), asked,
						    sample);
			panthor_perf_fw_consume(&fw);
			model_result(1 + n++, sample->values[LAST]);
		}
		model_result(7, pending < 0);
		if (pending < 0)
			break;
	}
	model_result(0, n);
}

static void two_slots_firmware(void)
{
	u32 n;

	for (n = 1; n <= 3; n++) {
		if (n == 3 && !fw_read(&input.perfcnt_extract))
			return;
		fw_write(slot_word((n - 1) & 1, 2), EN_ALL);
		fw_write(slot_word((n - 1) & 1, LAST), counted(n, LAST));
		fw_write(&output.perfcnt_insert, n);
	}
}

static const char *two_slots_wrong(const struct execution *x)
{
	u64 drained = result(x, 0, 0), n;

	if (result(x, 0, 7))
		return "the index of firmware makes no sense";
	for (n = 0; n < drained; n++)
		if (result(x, 0, 1 + n) != counted(n + 1, LAST))
			return "a counter is not the one of the sample that was drained";
	if (drained < 3 && final_value(x, "INSERT") == 3 && !final_value(x, "PRFCNT_EN of slot 0"))
		return "PRFCNT_EN of a sample is cleared that was not drained";
	return NULL;
}

/*
 * The ring has one slot. Firmware does not wait for it to be given back. What it writes
 * after a sample that INSERT must not count yet is not taken for the first sample.
 */
static void overwrite_driver(void)
{
	model_assume(panthor_perf_fw_pending(&fw) == 1);
	memset(sample, 0, layout.fw_copy_size);
	panthor_perf_fw_sample_read(&layout, panthor_perf_fw_slot(&fw, fw.extract), asked, sample);
	model_result(0, sample->values[LAST]);
	model_result(1, panthor_perf_fw_overwritten(&fw));
}

static void overwrite_firmware(void)
{
	u32 n;

	for (n = 1; n <= 3; n++) {
		fw_write(word(2), EN_ALL);
		fw_write(word(LAST), counted(n, LAST));
		fw_write(&output.perfcnt_insert, n);
	}
}

static const char *overwrite_wrong(const struct execution *x)
{
	return result(x, 0, 0) == counted(3, LAST) && !result(x, 0, 1) ?
	       "a sample of two laps later is taken for this one" : NULL;
}

/*
 * Counters are enabled again, after an epoch of two samples. Firmware takes a sample at
 * once, into a slot that held one which was never drained.
 */
static void epoch_setup(void)
{
	setup_fw(2, 0, 0);
	track_slot(EN_ALL, 1);
	model_track(&input.perfcnt_config, 4, "CONFIG", 0);
	model_track(&doorbell, 4, "doorbell", 0);
}

static void epoch_driver(void)
{
	model_assume(!panthor_perf_fw_enable(&fw, 1));
	model_result(0, panthor_perf_fw_pending(&fw));
}

/* Firmware looks at the input block, and finds there what it must find. */
static void look_at_request(void)
{
	model_assume(fw_read(&input.req) & GLB_PERFCNT_EN);
	model_result(0, fw_read(&input.perfcnt_extract));
	model_result(1, fw_read(&input.perfcnt_config));
	fw_write(&output.perfcnt_insert, 0);
	fw_write(&output.ack, GLB_PERFCNT_EN);
	fw_write(word(2), EN_ALL);
	fw_write(&output.perfcnt_insert, 1);
}

static void epoch_firmware(void)
{
	model_assume(fw_read(&doorbell));
	look_at_request();
}

/* The doorbell may as well be one that another part of panthor has rung, on another CPU. */
static void epoch_firmware_early(void)
{
	look_at_request();
}

static const char *epoch_wrong(const struct execution *x)
{
	u64 pending = result(x, 0, 0);

	if (pending > 1)
		return "INSERT is that of the epoch before";
	if (result(x, 1, 0))
		return "firmware enables counters with the EXTRACT of the epoch before";
	if (!(result(x, 1, 1) & PERFCNT_CONFIG_SLOTS))
		return "firmware enables counters with the configuration of the epoch before";
	if (!final_value(x, "PRFCNT_EN"))
		return "PRFCNT_EN of a sample of the new epoch is cleared";
	return NULL;
}

/*
 * Counters are disabled. Firmware has taken a sample of its own accord before it saw
 * that; what is in the ring is drained under the lock of the sampler, or counters are
 * enabled again.
 */
static void disable_setup(void)
{
	setup_fw(0, GLB_PERFCNT_EN, GLB_PERFCNT_EN);
	track_slot(0, 0);
	model_track(&doorbell, 4, "doorbell", 0);
}

static void disable_driver(void)
{
	spinlock_t lock;

	model_assume(!panthor_perf_fw_disable(&fw));
	spin_lock(&lock);
	model_result(0, panthor_perf_fw_pending(&fw));
	spin_unlock(&lock);
}

static void disable_firmware(void)
{
	fw_write(word(2), EN_ALL);
	fw_write(&output.perfcnt_insert, 1);
	model_assume(fw_read(&doorbell));
	model_assume(!(fw_read(&input.req) & GLB_PERFCNT_EN));
	fw_write(&output.ack, 0);
}

static const char *disable_wrong(const struct execution *x)
{
	return result(x, 0, 0) == 1 ? NULL : "the last sample is not found in the ring";
}

static void again_driver(void)
{
	model_assume(!panthor_perf_fw_disable(&fw));
	fw.epoch++;
	model_assume(!panthor_perf_fw_enable(&fw, 0));
}

static void again_firmware(void)
{
	disable_firmware();
	model_assume(fw_read(&doorbell) == 2);
	model_assume(fw_read(&input.req) & GLB_PERFCNT_EN);
	fw_write(&output.ack, GLB_PERFCNT_EN);
}

static const char *again_wrong(const struct execution *x)
{
	return final_value(x, "PRFCNT_EN") ?
	       "a block of the epoch before is marked as written" : NULL;
}

/* A user's ring, of which one slot is looked at, by its sample's first and last words. */
static struct panthor_perf_sampler sampler;
static struct panthor_perf_session session;
static struct panthor_perf_stats stats;
static struct drm_panthor_perf_ringbuf_control indices;
static u8 *user_ring;
static u64 request_lock;

static u64 *user_first(void)
{
	return &((struct drm_panthor_perf_sample_header *)user_ring)->user_data;
}

static u64 *user_last(void)
{
	return (u64 *)(user_ring + layout.blocks[layout.num_blocks - 1].user_offset +
		       sizeof(struct drm_panthor_perf_block_header));
}

/* @insert samples were delivered, of which @in_slot is in the slot, and none is consumed. */
static void setup_user(u32 slots, u64 insert, u64 in_slot)
{
	struct panthor_perf_accum *accum = session.client.accum;

	sampler.layout = &layout;
	session = (struct panthor_perf_session) {
		.client.sampler = &sampler, .stats = &stats, .indices = &indices, .slots = slots,
		.insert = insert, .ring.map.vaddr = user_ring, .client.accum = accum,
	};
	panthor_perf_accum_init(&layout, accum);
	model_track(&indices.insert_idx, 8, "insert_idx", insert);
	model_track(&indices.extract_idx, 8, "extract_idx", 0);
	model_track(user_first(), 8, "first word of sample", in_slot);
	model_track(user_last(), 8, "last word of sample", in_slot);
	model_track(&request_lock, 8, "lock", 0);
}

void eventfd_signal(struct eventfd_ctx *ctx)
{
}

static void deliver_next(u64 n)
{
	struct panthor_perf_sample_info info = { .user_data = n, .end.gpu = n };

	session_deliver(&session.client, NULL, &info);
}

static void user_reads(void)
{
	model_result(0, model_read(user_first(), RELAXED));
	model_result(1, model_read(user_last(), RELAXED));
}

/* The kernel delivers a sample, and the user reads it. */
static void deliver_setup(void)
{
	setup_user(2, 0, 0);
}

/* As deliver_unrequested() of the sampler, which delivers if a slot is free. */
static void deliver_kernel(void)
{
	spinlock_t lock;
	u32 free;

	spin_lock(&lock);
	free = session_free_slots(&session.client);
	spin_unlock(&lock);
	model_branch();
	model_assume(free > 1);
	deliver_next(session.insert + 1);
}

static void deliver_user(void)
{
	model_assume(model_read(&indices.insert_idx, ACQUIRE) == 1);
	user_reads();
}

static const char *deliver_wrong(const struct execution *x)
{
	return result(x, 1, 0) == 1 && result(x, 1, 1) == 1 ? NULL :
	       "the user reads a sample that is not complete";
}

/* The user reads the sample in the slot, and gives it back, and the next slot too. */
static void reuse_setup(void)
{
	setup_user(2, 2, 1);
}

static void reuse_user(void)
{
	user_reads();
	model_write(&indices.extract_idx, 1, RELEASE);
	model_write(&indices.extract_idx, 2, RELEASE);
}

static const char *reuse_wrong(const struct execution *x)
{
	return result(x, 1, 0) == 1 && result(x, 1, 1) == 1 ? NULL :
	       "the user reads a sample that is overwritten";
}

/*
 * A command asks for the sample if a slot is free, and another thread delivers it. What
 * that thread reads first is the lock, as the command has left it.
 */
static void request(enum order unlock)
{
	u32 free = session_free_slots(&session.client);

	model_branch();
	model_assume(free > 1);
	model_write(&request_lock, 1, unlock);
}

static void request_kernel(void)
{
	request(RELEASE);
}

static void request_kernel_no_release(void)
{
	request(RELAXED);
}

static void request_worker(void)
{
	model_assume(model_read(&request_lock, ACQUIRE));
	deliver_next(session.insert + 1);
}

/* As START, which is refused if no slot is free, and the sample of STOP. */
static void last_setup(void)
{
	setup_user(1, 1, 1);
}

static void last_kernel(void)
{
	spinlock_t lock;
	u32 free;

	spin_lock(&lock);
	free = session_free_slots(&session.client);
	spin_unlock(&lock);
	model_branch();
	model_assume(free);
	deliver_next(session.insert + 1);
}

static void last_user(void)
{
	user_reads();
	model_write(&indices.extract_idx, 1, RELEASE);
}

#define FIRMWARE(what, set_up)								\
	{ #what, set_up, { { "driver", what##_driver },					\
			   { "firmware", what##_firmware, true } }, what##_wrong }

static const struct scenario
	answer = FIRMWARE(answer, answer_setup),
	drained = FIRMWARE(sample, sample_setup),
	overflow = FIRMWARE(overflow, overflow_setup),
	slot = FIRMWARE(slot, sample_setup),
	two_slots = FIRMWARE(two_slots, two_slots_setup),
	overwrite = FIRMWARE(overwrite, sample_setup),
	epoch = FIRMWARE(epoch, epoch_setup),
	epoch_early = { "epoch, at another doorbell", epoch_setup,
			{ { "driver", epoch_driver }, { "firmware", epoch_firmware_early, true } },
			epoch_wrong },
	disabled = FIRMWARE(disable, disable_setup),
	again = FIRMWARE(again, disable_setup),
	deliver = { "deliver", deliver_setup,
		    { { "kernel", deliver_kernel }, { "user", deliver_user } }, deliver_wrong },
	reuse = { "reuse", reuse_setup,
		  { { "kernel", deliver_kernel }, { "user", reuse_user } }, reuse_wrong },
	reuse_request = { "reuse, on request", reuse_setup,
			  { { "kernel", request_kernel }, { "user", reuse_user },
			    { "worker", request_worker } }, reuse_wrong },
	reuse_request_no_release = { "reuse, on request without release", reuse_setup,
				     { { "kernel", request_kernel_no_release },
				       { "user", reuse_user }, { "worker", request_worker } },
				     reuse_wrong },
	reuse_last = { "reuse, by STOP", last_setup,
		       { { "kernel", last_kernel }, { "user", last_user } }, reuse_wrong };

int main(void)
{
	static const struct panthor_perf_layout_params params = {
		.gpu_id = 0xa8670000, .mem_features = 0, .shader_present = 1,
		.user_shader_present = 1, .glb_version = 0x01010000, .group_num = 8,
		.perfcnt_size = 4,
	};
	const char *why;

	if (panthor_perf_layout_init(&layout, &params, &why)) {
		printf("1..0\nBail out! %s\n", why);
		return 1;
	}
	fw_ring = calloc(2, layout.fw_sample_size);
	user_ring = calloc(2, layout.user_sample_size);
	sample = calloc(1, layout.fw_copy_size);
	session.client.accum = calloc(1, layout.accum_size);
	if (!fw_ring || !user_ring || !sample || !session.client.accum) {
		perror("ordering-ring: cannot allocate");
		return 1;
	}

	holds(&answer, BRANCHES_NONE);
	fails(&answer, "panthor_perf_fw_acked", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&drained, BRANCHES_NONE);
	fails(&drained, "panthor_perf_fw_pending", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&overflow, BRANCHES_NONE);
	fails(&overflow, "panthor_perf_fw_pending", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&slot, BRANCHES_NONE);
	fails(&slot, "panthor_perf_fw_consume", "dma_mb", BARRIER_NONE, BRANCHES_ALL);
	fails(&slot, "panthor_perf_fw_consume", "dma_mb", BARRIER_READ, BRANCHES_ALL);
	fails(&slot, "panthor_perf_fw_consume", "dma_mb", BARRIER_WRITE, BRANCHES_TOLD);
	holds(&two_slots, BRANCHES_NONE);
	fails(&two_slots, "panthor_perf_fw_pending", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	fails(&two_slots, "panthor_perf_fw_consume", "dma_mb", BARRIER_NONE, BRANCHES_ALL);
	holds(&overwrite, BRANCHES_NONE);
	fails(&overwrite, "panthor_perf_fw_overwritten", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&epoch, BRANCHES_NONE);
	fails(&epoch, "panthor_perf_fw_enable", "dma_rmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&epoch_early, BRANCHES_NONE);
	fails(&epoch_early, "panthor_perf_fw_enable", "dma_wmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&disabled, BRANCHES_NONE);
	fails(&disabled, "settle_reqs", "spin_unlock", BARRIER_NONE, BRANCHES_ALL);
	holds(&again, BRANCHES_TOLD);
	needs_branch(&again);
	holds(&deliver, BRANCHES_NONE);
	fails(&deliver, "session_deliver", "smp_wmb", BARRIER_NONE, BRANCHES_ALL);
	holds(&reuse, BRANCHES_TOLD);
	needs_branch(&reuse);
	holds(&reuse_last, BRANCHES_TOLD);
	needs_branch(&reuse_last);
	holds(&reuse_request, BRANCHES_NONE);
	needs_branch(&reuse_request_no_release);
	printf("1..%u\n", tests);
	return status;
}
