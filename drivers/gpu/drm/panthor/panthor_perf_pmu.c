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

#include "panthor_device.h"
#include "panthor_gpu_regs.h"
#include "panthor_perf.h"
#include "panthor_perf_pmu.h"
#include "panthor_perf_pmu_events.h"

/**
 * DOC: PMU
 *
 * perf reads an event with interrupts off, and sometimes in a non-maskable interrupt, so that it
 * can neither wait for firmware nor take a lock of the sampler. It reads totals in memory. A run,
 * which is a client of the sampler while there are events, adds each of its samples to them: one
 * every sample_interval_ms, and automatic samples. A count is the sum of the samples that were
 * added while the event was active: it lags by one interval at most, plus the time that firmware
 * needs to answer, but consecutive readings lose nothing and count nothing twice.
 *
 * Two ends of the time in which an event counts are exact:
 *
 * - perf_event_open() waits for a sample. What was counted before is not in the event.
 * - The close of a file that has submitted jobs waits for a sample. The kernel closes the files of
 *   a process before its parent is told that it has ended: a count that the parent reads then
 *   includes all jobs whose fences were signalled.
 *
 * The PMU does not resume a GPU that is suspended. The totals have all that it has counted, since
 * the sample that the MCU takes when it is halted is added to them.
 */

/**
 * DOC: Totals
 *
 * There are two copies of the totals: events read the current one. To add a sample, the sampler
 * writes the sums of the current copy and the sample to the other copy, and makes that current.
 *
 * Events of a group are read from the same copy, which must not change meanwhile, and a reader in a
 * non-maskable interrupt cannot wait for the writer. So readers pin a copy, and the writer waits
 * until nobody pins the copy that it is about to write. Pins are held with interrupts off, for as
 * long as a transaction of perf, and new readers pin the current copy, so that this wait is short::
 *
 *	reader: panthor_perf_pmu_pin()		writer: totals_begin(), totals_end()
 *
 *	read current_totals			write current_totals, release
 *	increment pins				  (P)
 *	  (P)					read pins of the other copy, acquire
 *	read current_totals again, acquire	write the other copy
 *	read the copy, if it is still current
 *
 * (P) is a full barrier on either side: if a reader finds its copy current, a writer that has made
 * the other one current since sees the pin. panthor_perf_pmu_unpin() has release semantics: the
 * copy is read before it is written.
 */

/*
 * How long perf_event_open() waits for a sample. perf may hold its lock of a CPU's events, and
 * firmware does not answer in protected mode. If the interrupt of an answer is lost, the sampler
 * finds the answer within 100 ms.
 */
#define BASELINE_TIMEOUT	(HZ / 4)

/* How long the close of a file waits for a sample. */
#define FLUSH_TIMEOUT		msecs_to_jiffies(20)

/* Time between two samples in milliseconds. The sampler takes one every 100 ms anyway. */
#define MIN_INTERVAL_MS		1
#define MAX_INTERVAL_MS		100
#define DEFAULT_INTERVAL_MS	10

/* Fields of an event's config, as in the directory format/ of the PMU. */
#define PMU_CONFIG_INDEX	GENMASK_ULL(7, 0)
#define PMU_CONFIG_TYPE		GENMASK_ULL(15, 8)
#define PMU_CONFIG_BLOCK	GENMASK_ULL(23, 16)

/* The first architecture with counters of this kind, and the names of layouts from it on. */
#define FIRST_ARCH		10

static const char * const layout_names[] = {
	"mali-g710", "mali-g715", "mali-g720", "mali-g725", "mali-g1",
};

/**
 * struct panthor_perf_pmu_private - An event
 * @rcu: Frees it: another CPU may be reading the event while it is closed.
 * @pmu: PMU.
 * @run: The run that the event has joined.
 * @source: Where its count comes from.
 */
struct panthor_perf_pmu_private {
	struct rcu_head rcu;
	struct panthor_perf_pmu *pmu;
	struct panthor_perf_pmu_run *run;
	struct panthor_perf_pmu_source source;
};

static struct panthor_perf_pmu *to_pmu(struct pmu *base)
{
	return container_of(base, struct panthor_perf_pmu, base);
}

/* Return the config of which an event is a multiple, which may be the event's own. */
static u64 find_multiple(const struct panthor_perf_pmu_gpu *gpu, u64 config, u32 *factor)
{
	switch (config) {
	case PANTHOR_PERF_PMU_CYCLES_TIMES_CORES:
		*factor = gpu->layout.type_count[DRM_PANTHOR_PERF_BLOCK_SHADER];
		return PANTHOR_PERF_PMU_TOPLEVEL_CYCLES;
	case PANTHOR_PERF_PMU_CYCLES_TIMES_SLICES:
		*factor = gpu->layout.type_count[DRM_PANTHOR_PERF_BLOCK_MEMSYS];
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
 * Find out what an event counts. @config is perf_event_attr::config. Returns -EINVAL if the GPU has
 * no such counter, block or clock, or if a bit is set that has no meaning.
 */
int panthor_perf_pmu_parse(const struct panthor_perf_pmu_gpu *gpu, u64 config,
			   struct panthor_perf_pmu_source *source)
{
	u32 made = BIT(PANTHOR_PERF_PMU_TIME) | BIT(PANTHOR_PERF_PMU_ACTIVE_TIME) |
		   gpu->clocks << PANTHOR_PERF_PMU_TOPLEVEL_CYCLES |
		   BIT(PANTHOR_PERF_PMU_FIRMWARE_SAMPLES) | BIT(PANTHOR_PERF_PMU_LOST);
	const struct panthor_perf_layout *layout = &gpu->layout;
	u32 index, type, block, first = 0, t;

	config = find_multiple(gpu, config, &source->factor);
	if (!source->factor ||
	    (config & ~(PMU_CONFIG_INDEX | PMU_CONFIG_TYPE | PMU_CONFIG_BLOCK)))
		return -EINVAL;

	index = FIELD_GET(PMU_CONFIG_INDEX, config);
	type = FIELD_GET(PMU_CONFIG_TYPE, config);
	block = FIELD_GET(PMU_CONFIG_BLOCK, config);
	source->type = type;
	source->stride = layout->num_values;
	if (config < PANTHOR_PERF_PMU_MADE) {
		source->first = config;
		source->blocks = 1;
		return made & BIT(config) ? 0 : -EINVAL;
	}

	if (!type || type >= PANTHOR_PERF_BLOCK_TYPES || index < PANTHOR_PERF_VALUES_RESERVED ||
	    index >= layout->num_values || !layout->type_count[type] ||
	    block > layout->type_count[type])
		return -EINVAL;

	for (t = DRM_PANTHOR_PERF_BLOCK_FW; t < type; t++)
		first += layout->type_count[t];
	if (block)
		first += block - 1;
	source->first = PANTHOR_PERF_PMU_MADE + first * layout->num_values + index;
	source->blocks = block ? 1 : layout->type_count[type];
	return 0;
}

/*
 * Return the current totals, which do not change until panthor_perf_pmu_unpin(). Called with
 * interrupts off, which stay off until then.
 */
struct panthor_perf_pmu_totals *panthor_perf_pmu_pin(struct panthor_perf_pmu_run *run)
{
	for (;;) {
		u32 current_totals = READ_ONCE(run->current_totals);
		struct panthor_perf_pmu_totals *totals = &run->totals[current_totals];

		atomic_inc(&totals->pins);
		/* (P) Pairs with the barrier in totals_begin(). */
		smp_mb__after_atomic();
		/* Pairs with the release in totals_end(). */
		if (smp_load_acquire(&run->current_totals) == current_totals)
			return totals;

		atomic_dec(&totals->pins);
	}
}

void panthor_perf_pmu_unpin(struct panthor_perf_pmu_totals *totals)
{
	/* Pairs with the acquire in totals_begin(). */
	atomic_fetch_dec_release(&totals->pins);
}

/* Return the copy of the totals that is not current, when nobody reads it any more. */
static struct panthor_perf_pmu_totals *totals_begin(struct panthor_perf_pmu_run *run)
{
	struct panthor_perf_pmu_totals *totals = &run->totals[!run->current_totals];

	/* (P) Pairs with the barrier in panthor_perf_pmu_pin(). */
	smp_mb();
	/* Pairs with the release in panthor_perf_pmu_unpin(). */
	atomic_cond_read_acquire(&totals->pins, !VAL);
	return totals;
}

/* Make the copy that was written current. */
static void totals_end(struct panthor_perf_pmu_run *run)
{
	/* Pairs with the acquire in panthor_perf_pmu_pin(). */
	smp_store_release(&run->current_totals, !run->current_totals);
}

/*
 * Return the count of a source since the run began, of which only differences have a meaning.
 * @totals are pinned; @now_ns is the time, CLOCK_MONOTONIC_RAW.
 */
u64 panthor_perf_pmu_count(const struct panthor_perf_pmu_totals *totals,
			   const struct panthor_perf_pmu_source *source, u64 now_ns)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < source->blocks; i++)
		sum += totals->values[source->first + i * source->stride];

	if (source->first == PANTHOR_PERF_PMU_TIME && totals->asleep)
		sum = max(sum, now_ns);
	return sum * source->factor;
}

static bool run_counts(const struct panthor_perf_pmu_run *run)
{
	return READ_ONCE(run->client.state) == PANTHOR_PERF_CLIENT_STARTED;
}

/* Add a sample to the totals. */
static u32 run_deliver(struct panthor_perf_client *client,
		       const struct panthor_perf_fw_sample *fw_sample,
		       const struct panthor_perf_sample_info *info)
{
	struct panthor_perf_pmu_run *run = container_of(client, typeof(*run), client);
	const struct panthor_perf_pmu_totals *old = &run->totals[run->current_totals];
	struct panthor_perf_pmu_totals *new = totals_begin(run);
	struct panthor_perf_sampler *sampler = client->sampler;
	const u64 *before = old->values;
	u32 flags = info->flags, i;
	u64 *after = new->values;

	if (panthor_perf_accum_total(sampler->layout, client->accum, fw_sample,
				     before + PANTHOR_PERF_PMU_MADE, after + PANTHOR_PERF_PMU_MADE))
		flags |= DRM_PANTHOR_PERF_SAMPLE_OVERFLOW;

	new->asleep = sampler->state == PANTHOR_PERF_SAMPLER_DOWN;
	after[PANTHOR_PERF_PMU_TIME] = info->end.ns;
	after[PANTHOR_PERF_PMU_ACTIVE_TIME] = before[PANTHOR_PERF_PMU_ACTIVE_TIME] +
					      (old->asleep ? 0 : info->end.ns - info->start.ns);
	for (i = 0; i < PANTHOR_PERF_CLOCKS; i++)
		after[PANTHOR_PERF_PMU_TOPLEVEL_CYCLES + i] =
			before[PANTHOR_PERF_PMU_TOPLEVEL_CYCLES + i] +
			info->end.cycles[i] - info->start.cycles[i];
	after[PANTHOR_PERF_PMU_FIRMWARE_SAMPLES] = sampler->num_samples;
	after[PANTHOR_PERF_PMU_LOST] = before[PANTHOR_PERF_PMU_LOST];
	if (flags & (DRM_PANTHOR_PERF_SAMPLE_OVERFLOW | DRM_PANTHOR_PERF_SAMPLE_ERROR))
		after[PANTHOR_PERF_PMU_LOST]++;
	totals_end(run);

	if (info->user_data) {
		scoped_guard(spinlock, &sampler->req_lock)
			run->answered = info->user_data;
		wake_up_all(&client->start_wait);
	}
	return flags;
}

static const struct panthor_perf_client_ops run_ops = {
	.deliver = run_deliver,
};

/* Create a run without enabled counters, whose client is stopped. Returns NULL without memory. */
struct panthor_perf_pmu_run *panthor_perf_pmu_run_create(struct panthor_perf_sampler *sampler)
{
	const struct panthor_perf_layout *layout = sampler->layout;
	size_t num = PANTHOR_PERF_PMU_MADE + layout->num_blocks * layout->num_values;
	struct panthor_perf_pmu_run *run;
	u64 *values;

	/* Readers may still use the totals when the run has ended. */
	run = kvzalloc(sizeof(*run) + 2 * num * sizeof(*values) + layout->accum_size,
		       GFP_KERNEL_ACCOUNT);
	if (!run)
		return NULL;

	values = (u64 *)(run + 1);
	run->totals[0].values = values;
	run->totals[0].asleep = true;
	run->totals[1].values = values + num;
	run->client.accum = (struct panthor_perf_accum *)(values + 2 * num);
	panthor_perf_accum_init(layout, run->client.accum);
	refcount_set(&run->refs, 1);
	run->client.ops = &run_ops;
	run->client.block_set = DRM_PANTHOR_PERF_SET_PRIMARY;
	run->client.emit_auto = true;
	/*
	 * Users without CAP_PERFMON may be allowed to count, and get samples taken by opening
	 * events and closing files. An interval of 1 ms becomes somewhat longer by the limit.
	 */
	run->client.limited = true;
	run->client.queue = &run->last;
	run->answered = READ_ONCE(sampler->next_seq) - 1;
	panthor_perf_client_init(&run->client, sampler);
	return run;
}

static void put_run(struct panthor_perf_pmu_run *run)
{
	if (refcount_dec_and_test(&run->refs))
		kvfree_rcu(run, rcu);
}

/* End a run. Its memory is freed when no reader and no file that is being closed uses it. */
void panthor_perf_pmu_run_free(struct panthor_perf_pmu_run *run)
{
	panthor_perf_sampler_remove(run->client.sampler, &run->client);
	put_run(run);
}

static struct panthor_perf_pmu_run *pmu_run(struct panthor_perf_pmu *pmu)
{
	return rcu_dereference_protected(pmu->run, lockdep_is_held(&pmu->lock));
}

/* Add an event to the run, which begins with the first event. */
static int join_run(struct panthor_perf_pmu *pmu, struct panthor_perf_pmu_private *ev)
{
	u32 type = ev->source.type;
	struct panthor_perf_pmu_run *run;
	int ret;

	guard(mutex)(&pmu->lock);

	run = pmu_run(pmu);
	if (!run) {
		ret = panthor_perf_make_ring(pmu->sampler);
		if (ret)
			return ret;

		run = panthor_perf_pmu_run_create(pmu->sampler);
		if (!run)
			return -ENOMEM;

		run->client.period_ns = pmu->interval_ms * NSEC_PER_MSEC;
		rcu_assign_pointer(pmu->run, run);
	}

	run->users++;
	if (type && !run->type_users[type]++)
		panthor_perf_sampler_enable(pmu->sampler, &run->client, type, true);
	ev->run = run;
	return 0;
}

/* Remove an event from the run, which ends with the last event. */
static void leave_run(struct panthor_perf_pmu *pmu, u32 type)
{
	struct panthor_perf_pmu_run *run = pmu_run(pmu);

	if (type && !--run->type_users[type])
		panthor_perf_sampler_enable(pmu->sampler, &run->client, type, false);
	if (--run->users)
		return;

	RCU_INIT_POINTER(pmu->run, NULL);
	panthor_perf_pmu_run_free(run);
}

/* Return true if a request by panthor_perf_sampler_sync() is answered, or the run has ended. */
static bool run_answered(struct panthor_perf_pmu_run *run, u32 seq)
{
	/* The lock orders this before reading the totals. */
	guard(spinlock)(&run->client.sampler->req_lock);

	return !run_counts(run) || (s32)(run->answered - seq) >= 0;
}

/*
 * Wait until the totals have all that was counted before this call; a run that does not count
 * begins to. Several callers may do so at once. Returns 0, -ERESTARTSYS if a signal is pending,
 * -ETIMEDOUT if firmware does not answer, or what panthor_perf_sampler_start_async() returns.
 */
static int wait_for_sample(struct panthor_perf_pmu_run *run)
{
	struct panthor_perf_client *client = &run->client;
	u32 seq;
	long left;
	int ret;

	ret = panthor_perf_sampler_start_async(client->sampler, client, 0);
	if (ret)
		return ret;

	left = wait_event_interruptible_timeout(client->start_wait, READ_ONCE(client->state) !=
						PANTHOR_PERF_CLIENT_STARTING, BASELINE_TIMEOUT);
	if (left > 0) {
		ret = panthor_perf_sampler_sync(client->sampler, client, &seq);
		if (ret)
			return ret == -EINVAL ? -ETIMEDOUT : ret;

		left = wait_event_interruptible_timeout(client->start_wait,
							run_answered(run, seq), left);
	}
	if (left <= 0)
		return left ? left : -ETIMEDOUT;

	return run_counts(run) ? 0 : -ENODEV;
}

/*
 * Pin the totals from which this CPU reads all events until release_totals(). perf calls this with
 * interrupts off before it schedules, stops or reads a group; calls nest.
 */
static void hold_totals(struct pmu *base)
{
	struct panthor_perf_pmu_hold *h = this_cpu_ptr(to_pmu(base)->holds);
	struct panthor_perf_pmu_run *run;

	if (h->depth++)
		return;

	/* Runs are freed by RCU, which waits until interrupts are on. */
	run = rcu_dereference_sched(to_pmu(base)->run);
	if (!run)
		return;

	h->totals = panthor_perf_pmu_pin(run);
	/* Pairs with an NMI on this CPU, which uses the totals if it sees the run. */
	barrier();
	WRITE_ONCE(h->run, run);
}

static void release_totals(struct pmu *base)
{
	struct panthor_perf_pmu_hold *h = this_cpu_ptr(to_pmu(base)->holds);

	if (--h->depth || !h->run)
		return;

	WRITE_ONCE(h->run, NULL);
	/* Pairs with an NMI on this CPU, which uses the totals if it sees the run. */
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

/* Return the count of an event. Called with interrupts off, or in an NMI. */
static u64 read_count(const struct panthor_perf_pmu_private *ev)
{
	const struct panthor_perf_pmu_hold *h = this_cpu_ptr(ev->pmu->holds);
	u64 count, now_ns = ktime_get_raw_fast_ns();
	struct panthor_perf_pmu_totals *totals;

	if (READ_ONCE(h->run) == ev->run)
		return panthor_perf_pmu_count(h->totals, &ev->source, now_ns);

	totals = panthor_perf_pmu_pin(ev->run);
	count = panthor_perf_pmu_count(totals, &ev->source, now_ns);
	panthor_perf_pmu_unpin(totals);
	return count;
}

/*
 * Advance @prev, up to which a count has been added to an event, and return what the caller has to
 * add: callers may be concurrent, and one of them adds each part of the count. @now may be less
 * than what another caller has read.
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

/*
 * perf_event_read_local() calls this on any CPU, without the lock that perf holds when it
 * schedules the event: the event may be stopped.
 */
static void pmu_event_read(struct perf_event *event)
{
	/* Pairs with the release in pmu_event_add(). */
	if (smp_load_acquire(&event->hw.state) & PERF_HES_STOPPED)
		return;

	local64_add(panthor_perf_pmu_advance(&event->hw.prev_count, read_count(event->pmu_private)),
		    &event->count);
}

/* perf stops and starts events when it throttles their group: they lose nothing meanwhile. */
static void pmu_event_start(struct perf_event *event, int flags)
{
}

static void pmu_event_stop(struct perf_event *event, int flags)
{
	pmu_event_read(event);
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	/* A concurrent reader may have added a later sample before pmu_event_del(). */
	panthor_perf_pmu_advance(&event->hw.prev_count, read_count(event->pmu_private));
	/* Pairs with the acquire in pmu_event_read(), which uses prev_count. */
	smp_store_release(&event->hw.state, 0);
	return 0;
}

static void pmu_event_del(struct perf_event *event, int flags)
{
	pmu_event_read(event);
	/* A reader on another CPU that does not see this yet may add what came since. */
	WRITE_ONCE(event->hw.state, PERF_HES_STOPPED | PERF_HES_UPTODATE);
}

static void pmu_event_destroy(struct perf_event *event)
{
	struct panthor_perf_pmu_private *ev = event->pmu_private;

	scoped_guard(mutex, &ev->pmu->lock)
		leave_run(ev->pmu, ev->source.type);
	kfree_rcu(ev, rcu);
}

/* Check what does not depend on the GPU. */
static int check_attr(struct perf_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	if (is_sampling_event(event) || has_branch_stack(event))
		return -EOPNOTSUPP;

	/* perf refuses these, too, but only after event_init(), which starts counters. */
	if (event->attach_state & PERF_ATTACH_TASK || event_has_any_exclude_flag(event))
		return -EINVAL;

	return attr->config1 || attr->config2 || attr->config3 || attr->config4 ? -EINVAL : 0;
}

static int pmu_event_init(struct perf_event *event)
{
	struct panthor_perf_pmu *pmu = to_pmu(event->pmu);
	struct panthor_perf_pmu_private *ev;
	int ret;

	if (event->attr.type != pmu->base.type)
		return -ENOENT;

	/* perf asks perf_allow_cpu() only after event_init(). */
	ret = check_attr(event) ?: perf_allow_cpu();
	if (ret)
		return ret;

	ev = kzalloc_obj(*ev, GFP_KERNEL_ACCOUNT);
	if (!ev)
		return -ENOMEM;

	ev->pmu = pmu;
	ret = panthor_perf_pmu_parse(&pmu->gpu, event->attr.config, &ev->source);
	if (!ret)
		ret = join_run(pmu, ev);
	if (ret)
		goto err_free;

	ret = wait_for_sample(ev->run);
	if (ret)
		goto err_leave;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->pmu_private = ev;
	event->destroy = pmu_event_destroy;
	return 0;

err_leave:
	scoped_guard(mutex, &pmu->lock)
		leave_run(pmu, ev->source.type);
err_free:
	kfree(ev);
	return ret;
}

/*
 * Wait until the totals have all that was counted before this call, for 20 ms at most. Does nothing
 * without events. @pmu may be NULL.
 */
void panthor_perf_pmu_flush(struct panthor_perf_pmu *pmu)
{
	struct panthor_perf_pmu_run *run;
	u32 seq;

	if (!pmu)
		return;

	scoped_guard(rcu) {
		run = rcu_dereference(pmu->run);
		if (!run || !refcount_inc_not_zero(&run->refs))
			return;
	}

	/* Not killable: the work of a program that ends by a fatal signal counts. */
	if (!panthor_perf_sampler_sync(run->client.sampler, &run->client, &seq))
		wait_event_timeout(run->client.start_wait, run_answered(run, seq), FLUSH_TIMEOUT);
	put_run(run);
}

static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "%s\n", layout_names[pmu->gpu.arch - FIRST_ARCH]);
}
static DEVICE_ATTR_RO(identifier);

static ssize_t sample_interval_ms_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(dev));

	return sysfs_emit(buf, "%u\n", READ_ONCE(pmu->interval_ms));
}

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

/* Return true if a GPU has the event of a file in events/, by perf_pmu_events_attr::id. */
bool panthor_perf_pmu_has_event(const struct panthor_perf_pmu_gpu *gpu, u64 id)
{
	struct panthor_perf_pmu_source source;

	return (PANTHOR_PERF_PMU_ID_LAYOUTS(id) & BIT(gpu->arch - FIRST_ARCH)) &&
	       !panthor_perf_pmu_parse(gpu, PANTHOR_PERF_PMU_ID_EVENT(id), &source);
}

static umode_t event_is_visible(struct kobject *kobj, struct attribute *attr, int index)
{
	struct panthor_perf_pmu *pmu = to_pmu(dev_get_drvdata(kobj_to_dev(kobj)));
	u64 id = container_of(attr, struct perf_pmu_events_attr, attr.attr)->id;

	return panthor_perf_pmu_has_event(&pmu->gpu, id) ? attr->mode : 0;
}

static const struct attribute_group events_group = {
	.name = "events",
	.attrs = panthor_perf_pmu_events,
	.is_visible = event_is_visible,
};

static const struct attribute_group *pmu_groups[] = {
	&pmu_group,
	&format_group,
	&events_group,
	NULL,
};

/* Initialize a PMU, zeroed, but for its name and what is allocated. */
static int pmu_init(struct panthor_perf_pmu *pmu, struct panthor_device *ptdev,
		    struct panthor_perf_sampler *sampler)
{
	/* Logarithm of the external bus's width in bits, which is not above 4096. */
	u32 log2_bits = ptdev->gpu_info.l2_features >> 24;
	struct panthor_perf_pmu_gpu *gpu = &pmu->gpu;

	gpu->phys_addr = ptdev->phys_addr;
	gpu->arch = GPU_ARCH_MAJOR(ptdev->gpu_info.gpu_id);
	if (gpu->arch < FIRST_ARCH || gpu->arch >= FIRST_ARCH + ARRAY_SIZE(layout_names))
		return -EOPNOTSUPP;

	if (log2_bits >= 3 && log2_bits <= 12)
		gpu->bus_bytes = BIT(log2_bits - 3);
	gpu->clocks = sampler->clock->supported;
	gpu->layout = *sampler->layout;
	mutex_init(&pmu->lock);
	pmu->sampler = sampler;
	pmu->interval_ms = DEFAULT_INTERVAL_MS;
	pmu->base = (struct pmu) {
		.module = THIS_MODULE,
		.attr_groups = pmu_groups,
		/*
		 * Not PERF_PMU_CAP_NO_INTERRUPT: perf does not unthrottle groups of such a PMU,
		 * whose leader may be a software event.
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
	return 0;
}

/*
 * Register the PMU of a device that is probed. Events may be opened before this returns. Returns an
 * error pointer: -EOPNOTSUPP if the layout of the GPU's counters is unknown, -ENOMEM, or what
 * perf_pmu_register() returns.
 */
struct panthor_perf_pmu *panthor_perf_pmu_add(struct panthor_device *ptdev,
					      struct panthor_perf_sampler *sampler)
{
	struct device *dev = ptdev->base.dev;
	struct panthor_perf_pmu *pmu;
	int ret;

	/* Files use it when they are closed, which may be after the device has gone. */
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
 * Unregister the PMU of a device that is being removed, whose sampler has been unplugged. perf ends
 * all events, and the run ends with them, before this returns. @pmu may be NULL.
 */
void panthor_perf_pmu_unplug(struct panthor_perf_pmu *pmu)
{
	if (pmu)
		perf_pmu_unregister(&pmu->base);
}
