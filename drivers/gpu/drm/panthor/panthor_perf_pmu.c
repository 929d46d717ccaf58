// SPDX-License-Identifier: GPL-2.0 or MIT
/* Performance counters: a PMU, through which perf counts what the GPU does. */

#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/timekeeping.h>

#include <drm/drm_managed.h>
#include <drm/drm_print.h>

#include <kunit/visibility.h>

#include "panthor_device.h"
#include "panthor_gpu_regs.h"
#include "panthor_perf.h"
#include "panthor_perf_pmu.h"
#include "panthor_perf_pmu_events.h"

/**
 * DOC: PMU
 *
 * perf reads an event with interrupts off, and sometimes in a non-maskable interrupt, so
 * that neither firmware can be asked for a sample then nor a lock of the sampler be taken.
 * What is read are totals in memory. A run, which is a client of the sampler while there
 * are events, adds each of its samples to them. It asks for a sample each
 * sample_interval_ms, and automatic samples are delivered to it as well. A count is
 * therefore the sum of the samples that were added while the event was active: it lags
 * behind by one interval at most and what firmware needs to answer, but consecutive
 * readings lose nothing, and count nothing twice.
 *
 * Two ends of the time in which an event counts are made exact:
 *
 * - perf_event_open() waits for a sample if it begins a run, or if there is no other event of
 *   that type of block. What was counted before is not in the event.
 * - A file of the device that has submitted jobs waits for a sample when it is closed. The
 *   kernel closes the files of a process before its parent is told that it has ended, so
 *   that a count that is read afterwards has all of the jobs whose fences were signalled.
 *
 * A GPU that is suspended is not resumed, and nothing runs while it is: what it has counted
 * is in the totals, since the sample that the MCU takes when it is halted is one of the run.
 */

/**
 * DOC: Totals
 *
 * There are two copies of the totals. Events are read from the one that
 * panthor_perf_pmu_run::current_totals names. A sample is added to the totals by writing
 * the sums of the current copy and of the sample to the other copy, which is then made the
 * current one.
 *
 * Readers must not see a copy change, and the events of a group have to be read from the
 * same one. A reader therefore pins a copy, and the writer waits until the copy that it
 * is to write is not pinned. Pins are held with interrupts off, by group from the start of
 * perf's transaction to its end, so that this wait is as short as that for a spinlock. New
 * readers pin the current copy, so that it comes to an end.
 *
 * These are the accesses, with the functions that contain them::
 *
 *	reader: panthor_perf_pmu_pin()		writer: totals_begin(), totals_end()
 *
 *	read current_totals			write current_totals, release
 *	increment pins				  (P)
 *	  (P)					read pins of the other copy, acquire
 *	read current_totals again, acquire	write the other copy
 *	read the copy, if it is still current
 *
 * (P) is a full barrier on either side. If the reader has found the copy current, its pin
 * is seen by a writer who has made the other one current since. panthor_perf_pmu_unpin()
 * takes the pin back with release, so that the copy was read before it is written.
 */

/*
 * How long perf_event_open() waits for a sample, and for others who wait for one. perf may
 * hold its lock of a CPU's events meanwhile, and firmware answers nothing in protected mode.
 * An answer whose interrupt is lost is found within a tenth of a second.
 */
#define BASELINE_TIMEOUT	(HZ / 4)

/* How long the close of a file waits for a sample. */
#define FLUSH_TIMEOUT_MS	20

/* Time between two samples in milliseconds. The sampler takes one each 100 ms by itself. */
#define MIN_INTERVAL_MS		1
#define MAX_INTERVAL_MS		100
#define DEFAULT_INTERVAL_MS	10

/* Fields of an event's config, as in the directory format/ of the PMU. */
#define PMU_CONFIG_INDEX	GENMASK_ULL(7, 0)
#define PMU_CONFIG_TYPE		GENMASK_ULL(15, 8)
#define PMU_CONFIG_BLOCK	GENMASK_ULL(23, 16)

/**
 * struct panthor_perf_pmu_private - What the PMU keeps of an event
 */
struct panthor_perf_pmu_private {
	/** @rcu: Frees it: another CPU may be reading the event while it is closed. */
	struct rcu_head rcu;

	/** @pmu: The PMU. */
	struct panthor_perf_pmu *pmu;

	/** @run: The run that was under way when the event was opened. */
	struct panthor_perf_pmu_run *run;

	/** @source: Where its count comes from. */
	struct panthor_perf_pmu_source source;
};

static struct panthor_perf_pmu_run *to_run(struct panthor_perf_client *client)
{
	return container_of(client, struct panthor_perf_pmu_run, client);
}

static struct panthor_perf_pmu *to_pmu(struct pmu *base)
{
	return container_of(base, struct panthor_perf_pmu, base);
}

/* Fills in what follows from the layout. */
void panthor_perf_pmu_describe(struct panthor_perf_pmu_gpu *gpu,
			       const struct panthor_perf_layout *layout)
{
	u32 b;

	gpu->num_values = layout->num_values;
	gpu->num_blocks = layout->num_blocks;
	memcpy(gpu->type_count, layout->type_count, sizeof(gpu->type_count));
	for (b = layout->num_blocks; b--;)
		gpu->type_first[layout->blocks[b].type] = b;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_describe);

/* Whether an event of block type 0 counts something that is no counter. */
static bool is_no_counter(const struct panthor_perf_pmu_gpu *gpu, u32 kind)
{
	switch (kind) {
	case PANTHOR_PERF_PMU_TIME:
	case PANTHOR_PERF_PMU_ACTIVE_TIME:
	case PANTHOR_PERF_PMU_FIRMWARE_SAMPLES:
	case PANTHOR_PERF_PMU_LOST:
		return true;
	case PANTHOR_PERF_PMU_TOPLEVEL_CYCLES:
	case PANTHOR_PERF_PMU_COREGROUP_CYCLES:
	case PANTHOR_PERF_PMU_SHADER_CYCLES:
		return gpu->clocks & BIT(kind - PANTHOR_PERF_PMU_TOPLEVEL_CYCLES);
	default:
		return false;
	}
}

/* What an event of block type 0 is a multiple of, and by which factor. */
static u64 multiple_of(const struct panthor_perf_pmu_gpu *gpu, u64 config, u32 *factor)
{
	switch (config) {
	case PANTHOR_PERF_PMU_CYCLES_TIMES_CORES:
		*factor = gpu->type_count[DRM_PANTHOR_PERF_BLOCK_SHADER];
		return PANTHOR_PERF_PMU_TOPLEVEL_CYCLES;
	case PANTHOR_PERF_PMU_CYCLES_TIMES_SLICES:
		*factor = gpu->type_count[DRM_PANTHOR_PERF_BLOCK_MEMSYS];
		return PANTHOR_PERF_PMU_TOPLEVEL_CYCLES;
	case PANTHOR_PERF_PMU_EXTERNAL_READ_BYTES:
		*factor = gpu->bus_bytes;
		return PANTHOR_PERF_PMU_EXTERNAL_READ;
	case PANTHOR_PERF_PMU_EXTERNAL_WRITE_BYTES:
		*factor = gpu->bus_bytes;
		return PANTHOR_PERF_PMU_EXTERNAL_WRITE;
	default:
		*factor = 1;
		return config;
	}
}

/*
 * Finds out what an event counts, by perf_event_attr::config. Returns -EINVAL if the GPU has no
 * such counter, block or clock, or if a bit is set that has no meaning.
 */
int panthor_perf_pmu_parse(const struct panthor_perf_pmu_gpu *gpu, u64 config,
			   struct panthor_perf_pmu_source *source)
{
	u32 index, type, block, factor;

	if (config & ~(PMU_CONFIG_INDEX | PMU_CONFIG_TYPE | PMU_CONFIG_BLOCK))
		return -EINVAL;

	config = multiple_of(gpu, config, &factor);
	if (factor && is_no_counter(gpu, config)) {
		*source = (struct panthor_perf_pmu_source) { .kind = config, .factor = factor };
		return 0;
	}

	index = FIELD_GET(PMU_CONFIG_INDEX, config);
	type = FIELD_GET(PMU_CONFIG_TYPE, config);
	block = FIELD_GET(PMU_CONFIG_BLOCK, config);
	if (!factor || !type || type >= PANTHOR_PERF_BLOCK_TYPES ||
	    index < PANTHOR_PERF_VALUES_RESERVED || index >= gpu->num_values ||
	    !gpu->type_count[type] || block > gpu->type_count[type])
		return -EINVAL;

	source->kind = PANTHOR_PERF_PMU_COUNTER;
	source->type = type;
	source->first = (gpu->type_first[type] + (block ? block - 1 : 0)) * gpu->num_values + index;
	source->blocks = block ? 1 : gpu->type_count[type];
	source->factor = factor;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_parse);

/*
 * Returns the current totals, which do not change until panthor_perf_pmu_unpin(). Interrupts are
 * off until then.
 */
struct panthor_perf_pmu_totals *panthor_perf_pmu_pin(struct panthor_perf_pmu_run *run)
{
	u32 current_totals = READ_ONCE(run->current_totals), seen;

	for (;;) {
		struct panthor_perf_pmu_totals *totals = &run->totals[current_totals];

		atomic_inc(&totals->pins);
		/* (P) Pairs with the barrier in totals_begin(). */
		smp_mb__after_atomic();
		/* Pairs with the release in totals_end(). */
		seen = smp_load_acquire(&run->current_totals);
		if (seen == current_totals)
			return totals;

		/* It may be written already. */
		atomic_dec(&totals->pins);
		current_totals = seen;
	}
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_pin);

void panthor_perf_pmu_unpin(struct panthor_perf_pmu_totals *totals)
{
	/* Pairs with the acquire in totals_begin(): the copy was read before. */
	atomic_fetch_dec_release(&totals->pins);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_unpin);

/* Returns the copy of the totals that is to be written, when nobody reads it any more. */
static struct panthor_perf_pmu_totals *totals_begin(struct panthor_perf_pmu_run *run)
{
	struct panthor_perf_pmu_totals *totals = &run->totals[!run->current_totals];

	/*
	 * (P) The other copy was made current before its pins are read. Pairs with the barrier
	 * in panthor_perf_pmu_pin().
	 */
	smp_mb();
	/* Pairs with the release in panthor_perf_pmu_unpin(). */
	atomic_cond_read_acquire(&totals->pins, !VAL);
	return totals;
}

/* Makes the copy that was written the current one. */
static void totals_end(struct panthor_perf_pmu_run *run)
{
	/* Pairs with the acquire in panthor_perf_pmu_pin(). */
	smp_store_release(&run->current_totals, !run->current_totals);
}

/*
 * Returns what was counted since the run began, of which only differences have a meaning.
 * @totals are pinned, @now_ns is the present time by CLOCK_MONOTONIC_RAW.
 */
u64 panthor_perf_pmu_count(const struct panthor_perf_pmu_totals *totals, u32 num_values,
			   const struct panthor_perf_pmu_source *source, u64 now_ns)
{
	u64 sum = 0;
	u32 i;

	switch (source->kind) {
	case PANTHOR_PERF_PMU_COUNTER:
		for (i = 0; i < source->blocks; i++)
			sum += totals->values[source->first + i * num_values];
		return sum * source->factor;
	case PANTHOR_PERF_PMU_TIME:
		return totals->asleep ? max(totals->time_ns, now_ns) : totals->time_ns;
	case PANTHOR_PERF_PMU_ACTIVE_TIME:
		return totals->active_ns;
	case PANTHOR_PERF_PMU_TOPLEVEL_CYCLES:
	case PANTHOR_PERF_PMU_COREGROUP_CYCLES:
	case PANTHOR_PERF_PMU_SHADER_CYCLES:
		return totals->cycles[source->kind - PANTHOR_PERF_PMU_TOPLEVEL_CYCLES] *
		       source->factor;
	case PANTHOR_PERF_PMU_FIRMWARE_SAMPLES:
		return totals->fw_samples;
	case PANTHOR_PERF_PMU_LOST:
		return totals->lost;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_count);

static bool run_counts(const struct panthor_perf_pmu_run *run)
{
	return READ_ONCE(run->client.state) == PANTHOR_PERF_CLIENT_STARTED;
}

static bool gpu_is_down(const struct panthor_perf_pmu_run *run)
{
	return READ_ONCE(run->sampler->state) == PANTHOR_PERF_SAMPLER_DOWN;
}

/* There is always room for a sample: it is added to the totals. */
static u32 run_deliver(struct panthor_perf_client *client,
		       const struct panthor_perf_fw_sample *fw_sample,
		       const struct panthor_perf_sample_info *info)
{
	struct panthor_perf_pmu_run *run = to_run(client);
	const struct panthor_perf_pmu_totals *old = &run->totals[run->current_totals];
	struct panthor_perf_pmu_totals *new = totals_begin(run);
	struct panthor_perf_sampler *sampler = run->sampler;
	u32 flags = info->flags, i;

	if (panthor_perf_accum_total(sampler->layout, client->accum, fw_sample, old->values,
				     new->values))
		flags |= DRM_PANTHOR_PERF_SAMPLE_OVERFLOW;

	new->asleep = gpu_is_down(run);
	new->time_ns = info->end_ns;
	new->active_ns = old->active_ns + (old->asleep ? 0 : info->end_ns - info->start_ns);
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		new->cycles[i] = old->cycles[i] + info->cycles[i];
	new->fw_samples = sampler->stats.samples;
	new->lost = old->lost;
	if (flags & (DRM_PANTHOR_PERF_SAMPLE_OVERFLOW | DRM_PANTHOR_PERF_SAMPLE_ERROR))
		new->lost++;
	totals_end(run);

	if (info->user_data) {
		spin_lock(&sampler->req_lock);
		run->answered = info->user_data;
		spin_unlock(&sampler->req_lock);
	}
	/* Who waits does so for an answer, or for the end. */
	if (info->user_data || !run_counts(run))
		wake_up_all(&run->sampled);
	return flags;
}

static const struct panthor_perf_client_ops run_ops = {
	.deliver = run_deliver,
};

/*
 * Creates a run without enabled counters, whose client is not started. Returns NULL if there is no
 * memory.
 */
struct panthor_perf_pmu_run *panthor_perf_pmu_run_create(struct panthor_perf_sampler *sampler)
{
	const struct panthor_perf_layout *layout = sampler->layout;
	size_t num = layout->num_blocks * layout->num_values;
	struct panthor_perf_pmu_run *run;
	u64 *values;

	/* One piece of memory, since readers may still use all of it when the run has ended. */
	run = kvzalloc(size_add(sizeof(*run), 2 * num * sizeof(*values)), GFP_KERNEL_ACCOUNT);
	if (!run)
		return NULL;

	run->client.accum = kvzalloc(panthor_perf_accum_size(layout), GFP_KERNEL_ACCOUNT);
	if (!run->client.accum) {
		kvfree(run);
		return NULL;
	}

	panthor_perf_accum_init(layout, run->client.accum);
	values = (u64 *)(run + 1);
	run->totals[0].values = values;
	run->totals[1].values = values + num;
	run->totals[0].asleep = true;
	run->sampler = sampler;
	refcount_set(&run->refs, 1);
	run->client.ops = &run_ops;
	run->client.block_set = DRM_PANTHOR_PERF_SET_PRIMARY;
	run->client.emit_auto = true;
	/*
	 * perf may let users count who lack CAP_PERFMON. They can have samples taken by opening
	 * events and closing files, as often as they like: those are limited to one a
	 * millisecond, as for sessions. An interval of 1 ms becomes somewhat longer by that.
	 */
	run->client.limited = true;
	run->client.start_timeout = BASELINE_TIMEOUT;
	run->client.power_samples = true;
	run->client.queue = run->queue;
	run->client.queue_mask = PANTHOR_PERF_PMU_QUEUE - 1;
	panthor_perf_client_init(&run->client, sampler);
	init_waitqueue_head(&run->sampled);
	return run;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_run_create);

/* Has a run sample no longer. Its totals stay. */
static void run_stop(struct panthor_perf_pmu_run *run)
{
	panthor_perf_sampler_remove(run->sampler, &run->client);
	wake_up_all(&run->sampled);
	kvfree(run->client.accum);
}

static void put_run(struct panthor_perf_pmu_run *run)
{
	if (refcount_dec_and_test(&run->refs))
		kvfree_rcu(run, rcu);
}

/*
 * Ends a run that no event uses any more. Readers and files that are being closed may still hold
 * its memory, which is freed after them.
 */
void panthor_perf_pmu_run_free(struct panthor_perf_pmu_run *run)
{
	run_stop(run);
	put_run(run);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_run_free);

/*
 * Checks if a request by panthor_perf_sampler_share() is answered, or the run counts no
 * longer. What is in the totals then is seen by the caller, because of the lock.
 */
static bool run_answered(struct panthor_perf_pmu_run *run, u64 number)
{
	guard(spinlock)(&run->sampler->req_lock);

	return !run_counts(run) || run->answered >= number;
}

/*
 * Waits until all that is counted up to now is in the totals. Returns 0, -ERESTARTSYS if the
 * caller has a signal pending, -ETIMEDOUT, or -ENODEV if the device has gone.
 */
static int wait_for_sample(struct panthor_perf_pmu_run *run)
{
	u64 number;
	long left;

	if (panthor_perf_sampler_share(run->sampler, &run->client, &number))
		return -ENODEV;

	left = wait_event_interruptible_timeout(run->sampled, run_answered(run, number),
						BASELINE_TIMEOUT);
	if (left <= 0)
		return left ? left : -ETIMEDOUT;

	return run_counts(run) ? 0 : -ENODEV;
}

/*
 * There is one more event of a type. Returns true if there was none before, so that what was
 * counted up to now has to be got out of the way. The CSHW block is read in any case, because
 * it tells the times of samples.
 */
static bool use_type(struct panthor_perf_pmu_run *run, u32 type)
{
	if (run->type_users[type]++)
		return false;

	if (type && type != DRM_PANTHOR_PERF_BLOCK_CSHW)
		panthor_perf_sampler_enable(run->sampler, &run->client, type, true);
	return true;
}

static void unuse_type(struct panthor_perf_pmu_run *run, u32 type)
{
	if (!--run->type_users[type] && type && type != DRM_PANTHOR_PERF_BLOCK_CSHW)
		panthor_perf_sampler_enable(run->sampler, &run->client, type, false);
}

static struct panthor_perf_pmu_run *pmu_run(struct panthor_perf_pmu *pmu)
{
	return rcu_dereference_protected(pmu->run, lockdep_is_held(&pmu->lock));
}

/* Drops an event of the run, and ends the run with the last one. */
static void leave_run(struct panthor_perf_pmu *pmu, u32 type)
{
	struct panthor_perf_pmu_run *run = pmu_run(pmu);

	unuse_type(run, type);
	if (--run->users)
		return;

	RCU_INIT_POINTER(pmu->run, NULL);
	panthor_perf_pmu_run_free(run);
}

/* Creates a run, with one event. */
static struct panthor_perf_pmu_run *create_run(struct panthor_perf_pmu *pmu, u32 type)
{
	struct panthor_perf_pmu_run *run = panthor_perf_pmu_run_create(pmu->sampler);
	int ret;

	lockdep_assert_held(&pmu->start_lock);

	if (!run)
		return ERR_PTR(-ENOMEM);

	ret = panthor_perf_add_client(pmu->sampler, &run->client.id);
	if (ret) {
		panthor_perf_pmu_run_free(run);
		return ERR_PTR(ret);
	}

	run->users = 1;
	panthor_perf_sampler_enable(run->sampler, &run->client, DRM_PANTHOR_PERF_BLOCK_CSHW, true);
	use_type(run, type);

	guard(mutex)(&pmu->lock);
	run->client.period_ns = pmu->interval_ms * NSEC_PER_MSEC;
	rcu_assign_pointer(pmu->run, run);
	return run;
}

/*
 * Adds an event to the run of the PMU, and begins one if there is none. When this returns, all
 * that was counted before in the blocks of @type is in the totals. After @end, in jiffies, it
 * does not wait for that any more, and fails with -ETIMEDOUT if it would have to. Returns an
 * error pointer on failure.
 */
static struct panthor_perf_pmu_run *join_run(struct panthor_perf_pmu *pmu, u32 type,
					     unsigned long end)
{
	bool late = time_after(jiffies, end), widens = false;
	struct panthor_perf_pmu_run *run;
	int ret = 0;

	lockdep_assert_held(&pmu->start_lock);

	scoped_guard(mutex, &pmu->lock) {
		run = pmu_run(pmu);
		if (run) {
			run->users++;
			widens = use_type(run, type);
		}
	}

	if (!run) {
		run = late ? ERR_PTR(-ETIMEDOUT) : create_run(pmu, type);
		if (IS_ERR(run))
			return run;

		ret = panthor_perf_sampler_start(run->sampler, &run->client, 0);
	} else if (widens) {
		ret = late ? -ETIMEDOUT : wait_for_sample(run);
	}

	if (!ret)
		return run;

	scoped_guard(mutex, &pmu->lock)
		leave_run(pmu, type);
	return ERR_PTR(ret);
}

/* Returns what the events of this CPU are read from. Interrupts are off. */
static struct panthor_perf_pmu_hold *this_hold(struct panthor_perf_pmu *pmu)
{
	return this_cpu_ptr(pmu->holds);
}

/*
 * Has all events be read from the same totals, until release_totals(). perf calls this before it
 * schedules, stops or reads a group, with interrupts off; calls nest.
 */
static void hold_totals(struct pmu *base)
{
	struct panthor_perf_pmu_hold *h = this_hold(to_pmu(base));
	struct panthor_perf_pmu_run *run;

	if (h->depth++)
		return;

	/* Runs are freed by RCU, which waits until interrupts are on. */
	run = rcu_dereference_sched(to_pmu(base)->run);
	if (!run)
		return;

	h->totals = panthor_perf_pmu_pin(run);
	h->now_ns = ktime_get_raw_fast_ns();
	/* A non-maskable interrupt on this CPU that sees the run sees the rest as well. */
	barrier();
	WRITE_ONCE(h->run, run);
}

static void release_totals(struct pmu *base)
{
	struct panthor_perf_pmu_hold *h = this_hold(to_pmu(base));

	if (--h->depth || !h->run)
		return;

	WRITE_ONCE(h->run, NULL);
	/* A non-maskable interrupt on this CPU does not use the totals any more. */
	barrier();
	panthor_perf_pmu_unpin(h->totals);
}

static void start_txn(struct pmu *base, unsigned int flags)
{
	hold_totals(base);
}

static int commit_txn(struct pmu *base)
{
	release_totals(base);
	return 0;
}

/* Returns the present count of an event. Called with interrupts off, or in an NMI. */
static u64 read_count(const struct panthor_perf_pmu_private *ev)
{
	const struct panthor_perf_pmu_hold *h = this_hold(ev->pmu);
	u32 num_values = ev->pmu->gpu.num_values;
	struct panthor_perf_pmu_totals *totals;
	u64 count;

	if (READ_ONCE(h->run) == ev->run)
		return panthor_perf_pmu_count(h->totals, num_values, &ev->source, h->now_ns);

	totals = panthor_perf_pmu_pin(ev->run);
	count = panthor_perf_pmu_count(totals, num_values, &ev->source, ktime_get_raw_fast_ns());
	panthor_perf_pmu_unpin(totals);
	return count;
}

/*
 * Moves forward @prev, up to which a count has been added to an event, and returns what the caller
 * has to add: each part of the count is added by one caller. @now may be earlier than a count that
 * a concurrent caller has read.
 */
u64 panthor_perf_pmu_advance(local64_t *prev, u64 now)
{
	s64 old = local64_read(prev);

	do {
		if ((s64)(now - old) <= 0)
			return 0;
	} while (!local64_try_cmpxchg(prev, &old, now));

	return now - old;
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_advance);

/*
 * perf_event_read_local() calls this on any CPU, without the lock that perf holds when it
 * schedules the event. The event may not count so far, or no longer.
 */
static void pmu_event_read(struct perf_event *event)
{
	/* Pairs with the release in pmu_event_add(): prev_count is where counting begins. */
	if (smp_load_acquire(&event->hw.state) & PERF_HES_STOPPED)
		return;

	local64_add(panthor_perf_pmu_advance(&event->hw.prev_count,
					     read_count(event->pmu_private)),
		    &event->count);
}

/*
 * perf stops and starts events that it has scheduled when it throttles the group that they
 * are in. The totals go on, and nothing is to be lost: the event goes on with them.
 */
static void pmu_event_start(struct perf_event *event, int flags)
{
}

static void pmu_event_stop(struct perf_event *event, int flags)
{
	pmu_event_read(event);
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	/* Never back: a concurrent reader may have added a later sample before pmu_event_del(). */
	panthor_perf_pmu_advance(&event->hw.prev_count, read_count(event->pmu_private));
	/* Pairs with the acquire in pmu_event_read(). */
	smp_store_release(&event->hw.state, 0);
	return 0;
}

static void pmu_event_del(struct perf_event *event, int flags)
{
	pmu_event_read(event);
	/* A reader on another CPU that does not see this yet adds once more, which is right. */
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
}

static void pmu_event_destroy(struct perf_event *event)
{
	struct panthor_perf_pmu_private *ev = event->pmu_private;

	scoped_guard(mutex, &ev->pmu->lock)
		leave_run(ev->pmu, ev->source.type);
	kfree_rcu(ev, rcu);
}

/* Checks what has nothing to do with the GPU. */
static int check_attr(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (is_sampling_event(event) || has_branch_stack(event))
		return -EOPNOTSUPP;

	/* perf refuses these as well, but only after event_init() has started the counters. */
	if (event->attach_state & PERF_ATTACH_TASK || event_has_any_exclude_flag(event))
		return -EINVAL;

	return attr->config1 || attr->config2 || attr->config3 || attr->config4 ? -EINVAL : 0;
}

static int pmu_event_init(struct perf_event *event)
{
	struct panthor_perf_pmu *pmu = to_pmu(event->pmu);
	unsigned long end = jiffies + BASELINE_TIMEOUT;
	struct panthor_perf_pmu_private *ev;
	int ret;

	if (event->attr.type != pmu->base.type)
		return -ENOENT;

	ret = check_attr(event);
	if (ret)
		return ret;

	/* perf asks this only after event_init(). */
	ret = perf_allow_cpu();
	if (ret)
		return ret;

	ev = kzalloc_obj(*ev, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;

	ret = panthor_perf_pmu_parse(&pmu->gpu, event->attr.config, &ev->source);
	if (ret)
		goto err_free;

	if (mutex_lock_interruptible(&pmu->start_lock)) {
		ret = -ERESTARTSYS;
		goto err_free;
	}

	/* Those who have waited behind one another do not each wait for a sample after that. */
	ev->pmu = pmu;
	ev->run = join_run(pmu, ev->source.type, end);
	mutex_unlock(&pmu->start_lock);
	if (IS_ERR(ev->run)) {
		ret = PTR_ERR(ev->run);
		goto err_free;
	}

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->pmu_private = ev;
	event->destroy = pmu_event_destroy;
	return 0;

err_free:
	kfree(ev);
	return ret;
}

/*
 * Waits until all that was counted up to now is in the totals, or the run has ended, for
 * FLUSH_TIMEOUT_MS at most.
 */
static void flush_run(struct panthor_perf_pmu_run *run)
{
	long timeout = msecs_to_jiffies(FLUSH_TIMEOUT_MS);
	u64 number;

	if (panthor_perf_sampler_share(run->sampler, &run->client, &number))
		return;

	/*
	 * A process that ends may have a fatal signal pending, because another of its threads
	 * has ended it. That is the usual way for a program to end, and its work counts.
	 */
	if (current->flags & PF_EXITING)
		wait_event_timeout(run->sampled, run_answered(run, number), timeout);
	else
		wait_event_killable_timeout(run->sampled, run_answered(run, number), timeout);
}

/*
 * Checks if the totals have all counts of a GPU that is down. They may not have them yet,
 * since the sampler changes its state first, and writes the last counts after that.
 */
static bool told_asleep(struct panthor_perf_pmu_run *run)
{
	struct panthor_perf_pmu_totals *totals;
	unsigned long flags;
	bool told;

	local_irq_save(flags);
	totals = panthor_perf_pmu_pin(run);
	told = totals->asleep;
	panthor_perf_pmu_unpin(totals);
	local_irq_restore(flags);
	return told;
}

/* Gets the run, whose memory stays until put_run(), or NULL. It may end meanwhile. */
static struct panthor_perf_pmu_run *get_run(struct panthor_perf_pmu *pmu)
{
	struct panthor_perf_pmu_run *run;

	guard(rcu)();

	/* A run that does not count is about to end. */
	run = rcu_dereference(pmu->run);
	return run && run_counts(run) && refcount_inc_not_zero(&run->refs) ? run : NULL;
}

/*
 * Waits until all that was counted up to now is in the totals, for 20 ms at most. Does nothing
 * without events, and while the GPU is down. @pmu may be NULL.
 */
void panthor_perf_pmu_flush(struct panthor_perf_pmu *pmu)
{
	struct panthor_perf_pmu_run *run = pmu ? get_run(pmu) : NULL;

	if (!run)
		return;

	if (!gpu_is_down(run) || !told_asleep(run))
		flush_run(run);

	put_run(run);
}

static const char * const layout_names[] = {
	[PANTHOR_PERF_PMU_LAYOUT_G710] = "mali-g710",
	[PANTHOR_PERF_PMU_LAYOUT_G715] = "mali-g715",
	[PANTHOR_PERF_PMU_LAYOUT_G720] = "mali-g720",
	[PANTHOR_PERF_PMU_LAYOUT_G725] = "mali-g725",
	[PANTHOR_PERF_PMU_LAYOUT_G1] = "mali-g1",
};

/* The first architecture with counters of this kind. */
#define FIRST_ARCH		10

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "%s\n", layout_names[pmu->gpu.arch - FIRST_ARCH]);
}
static DEVICE_ATTR_RO(identifier);

static ssize_t sample_interval_ms_show(struct device *dev, struct device_attribute *attr,
				       char *buf)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "%u\n", READ_ONCE(pmu->interval_ms));
}

/* The interval that is under way ends as it was. */
static ssize_t sample_interval_ms_store(struct device *dev, struct device_attribute *attr,
					const char *buf, size_t count)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(dev));
	struct panthor_perf_pmu_run *run;
	u32 ms;
	int ret = kstrtou32(buf, 0, &ms);

	if (ret)
		return ret;

	if (ms < MIN_INTERVAL_MS || ms > MAX_INTERVAL_MS)
		return -EINVAL;

	guard(mutex)(&pmu->lock);

	WRITE_ONCE(pmu->interval_ms, ms);
	run = pmu_run(pmu);
	if (run)
		WRITE_ONCE(run->client.period_ns, ms * NSEC_PER_MSEC);
	return count;
}
static DEVICE_ATTR_RW(sample_interval_ms);

static struct attribute *pmu_attrs[] = {
	&dev_attr_identifier.attr,
	&dev_attr_sample_interval_ms.attr,
	NULL,
};

static const struct attribute_group pmu_group = {
	.attrs = pmu_attrs,
};

PMU_FORMAT_ATTR(event, "config:0-15");
PMU_FORMAT_ATTR(block, "config:16-23");

static struct attribute *format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_block.attr,
	NULL,
};

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = format_attrs,
};

ssize_t panthor_perf_pmu_name_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct panthor_perf_pmu_name *name =
		container_of(attr, struct panthor_perf_pmu_name, attr);

	return sysfs_emit(buf, "%s\n", name->text);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_name_show);

/* Checks if a GPU, whose architecture has counters, has the event of a name. */
bool panthor_perf_pmu_has_name(const struct panthor_perf_pmu_gpu *gpu,
			       const struct panthor_perf_pmu_name *name)
{
	struct panthor_perf_pmu_source source;

	return (name->layouts & BIT(gpu->arch - FIRST_ARCH)) &&
	       !panthor_perf_pmu_parse(gpu, name->event, &source);
}
EXPORT_SYMBOL_IF_KUNIT(panthor_perf_pmu_has_name);

static umode_t name_is_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(kobj_to_dev(kobj)));
	struct panthor_perf_pmu_name *name =
		container_of(attr, struct panthor_perf_pmu_name, attr.attr);

	return panthor_perf_pmu_has_name(&pmu->gpu, name) ? attr->mode : 0;
}

static const struct attribute_group events_group = {
	.name = "events",
	.attrs = panthor_perf_pmu_names,
	.is_visible = name_is_visible,
};

static const struct attribute_group *pmu_groups[] = {
	&pmu_group,
	&format_group,
	&events_group,
	NULL,
};

static const struct pmu pmu_template = {
	.module = THIS_MODULE,
	.attr_groups = pmu_groups,
	/*
	 * Not PERF_PMU_CAP_NO_INTERRUPT, though check_attr() refuses events that would
	 * interrupt: perf does not unthrottle groups of such a PMU, which an event of another
	 * one may lead.
	 */
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
	.scope = PERF_PMU_SCOPE_SYS_WIDE,
	.task_ctx_nr = perf_invalid_context,
	.pmu_disable = hold_totals,
	.pmu_enable = release_totals,
	.start_txn = start_txn,
	.commit_txn = commit_txn,
	.cancel_txn = release_totals,
	.event_init = pmu_event_init,
	.add = pmu_event_add,
	.del = pmu_event_del,
	.start = pmu_event_start,
	.stop = pmu_event_stop,
	.read = pmu_event_read,
};

/* Width of the external bus in bytes, 0 if L2_FEATURES does not make sense. */
static u32 bus_bytes(u32 l2_features)
{
	/* The logarithm of the number of bits. No bus is wider than 4096 bits. */
	u32 log2_bits = l2_features >> 24;

	return log2_bits >= 3 && log2_bits <= 12 ? BIT(log2_bits - 3) : 0;
}

/* Initializes a PMU, zeroed, but for its name and what is allocated. */
static int pmu_init(struct panthor_perf_pmu *pmu, struct panthor_device *ptdev,
		    struct panthor_perf_sampler *sampler)
{
	struct panthor_perf_pmu_gpu *gpu = &pmu->gpu;

	gpu->phys_addr = ptdev->phys_addr;
	gpu->arch = GPU_ARCH_MAJOR(ptdev->gpu_info.gpu_id);
	gpu->bus_bytes = bus_bytes(ptdev->gpu_info.l2_features);
	gpu->clocks = sampler->clock->supported;
	panthor_perf_pmu_describe(gpu, sampler->layout);
	if (gpu->arch < FIRST_ARCH || gpu->arch >= FIRST_ARCH + ARRAY_SIZE(layout_names))
		return -EOPNOTSUPP;

	mutex_init(&pmu->start_lock);
	mutex_init(&pmu->lock);
	pmu->sampler = sampler;
	pmu->interval_ms = DEFAULT_INTERVAL_MS;
	pmu->base = pmu_template;
	return 0;
}

/*
 * Registers the PMU of a device that is probed. Events may be opened before this returns. Returns
 * an error pointer: -EOPNOTSUPP if it is not known what the GPU's counters are, -ENOMEM, or what
 * perf_pmu_register() returns.
 */
struct panthor_perf_pmu *panthor_perf_pmu_add(struct panthor_device *ptdev,
					      struct panthor_perf_sampler *sampler)
{
	struct device *dev = ptdev->base.dev;
	struct panthor_perf_pmu *pmu;
	int ret;

	/* Files look at it when they are closed, which may be after the device has gone. */
	pmu = drmm_kzalloc(&ptdev->base, sizeof(*pmu), GFP_KERNEL);
	if (!pmu)
		return ERR_PTR(-ENOMEM);

	ret = pmu_init(pmu, ptdev, sampler);
	if (ret)
		return ERR_PTR(ret);

	pmu->holds = devm_alloc_percpu(dev, struct panthor_perf_pmu_hold);
	/* perf tools take digits after an underscore for the number of a PMU of several. */
	pmu->base.name = devm_kasprintf(dev, GFP_KERNEL, "panthor_%llx", pmu->gpu.phys_addr);
	pmu->base.parent = dev;
	if (!pmu->holds || !pmu->base.name)
		return ERR_PTR(-ENOMEM);

	ret = perf_pmu_register(&pmu->base, pmu->base.name, -1);
	return ret ? ERR_PTR(ret) : pmu;
}

/*
 * Unregisters the PMU of a device that is being removed, whose sampler has been unplugged. Events
 * that are open end: perf has removed them all, and their run with them, when this returns.
 */
void panthor_perf_pmu_unplug(struct panthor_perf_pmu *pmu)
{
	if (pmu)
		perf_pmu_unregister(&pmu->base);
}

/* Prints the state of the PMU, which may be NULL, for debugfs. */
void panthor_perf_pmu_show(struct panthor_perf_pmu *pmu, struct drm_printer *p)
{
	struct panthor_perf_pmu_run *run;

	if (!pmu)
		return;

	guard(mutex)(&pmu->lock);

	run = pmu_run(pmu);
	drm_printf(p, "pmu: %s users=%u interval_ms=%u\n", pmu->base.name, run ? run->users : 0,
		   pmu->interval_ms);
}
