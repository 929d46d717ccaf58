// SPDX-License-Identifier: GPL-2.0 or MIT
/*
 * Performance counters: a PMU that stays registered when its device has gone, until the module is
 * unloaded, which perf does not allow while there are events of the PMU. A device that is probed
 * with the same name takes it over.
 *
 * It cannot be unregistered before: perf_pmu_unregister() of Linux 6.12 frees what events that are
 * open still use. That of later kernels ends the PMU's events, but not software events that have
 * been in a group with them, which still use the PMU, unless perf's core has been mended. Such an
 * event does not hold the module if those of the PMU have been closed; no PMU of a module can see
 * to that.
 *
 * This is panthor_perf_pmu.c with three other functions: those that add, flush and unplug a PMU.
 */

#include "panthor_perf.h"
#include "panthor_perf_pmu_keep.h"

/* A kernel of that kind never calls these. */
static inline struct panthor_perf_pmu *mainline_add(struct panthor_device *ptdev,
						    struct panthor_perf_sampler *sampler);
static inline void mainline_unplug(struct panthor_perf_pmu *pmu);
static void mainline_flush(struct panthor_perf_pmu *pmu);

#define panthor_perf_pmu_add	mainline_add
#define panthor_perf_pmu_unplug	mainline_unplug
#define panthor_perf_pmu_flush	mainline_flush
#include "panthor_perf_pmu.c"
#undef panthor_perf_pmu_add
#undef panthor_perf_pmu_unplug
#undef panthor_perf_pmu_flush

/**
 * struct kept_pmu - A PMU that outlives its device
 */
struct kept_pmu {
	/**
	 * @pmu: The PMU. Its run and its sampler are those of the device that it has, or NULL.
	 * They change with @plug held for writing.
	 */
	struct panthor_perf_pmu pmu;

	/** @node: Link in the list of those that have no device. Protected by kept_lock. */
	struct list_head node;

	/**
	 * @plug: Held by those who open an event or flush, so that the device stays meanwhile,
	 * and by unplug for writing. Taken before all locks of @pmu.
	 */
	struct rw_semaphore plug;
};

static LIST_HEAD(kept_pmus);
static DEFINE_MUTEX(kept_lock);

static struct kept_pmu *to_kept(struct panthor_perf_pmu *pmu)
{
	return container_of(pmu, struct kept_pmu, pmu);
}

/* A run that is not the PMU's is that of a device that has gone, which has stopped it. */
static void kept_event_destroy(struct perf_event *event)
{
	struct panthor_perf_pmu_private *ev = event->pmu_private;

	scoped_guard(mutex, &ev->pmu->lock) {
		if (ev->run == pmu_run(ev->pmu))
			leave_run(ev->pmu, ev->source.type);
		else if (!--ev->run->users)
			put_run(ev->run);
	}
	kfree_rcu(ev, rcu);
}

static int kept_event_init(struct perf_event *event)
{
	struct kept_pmu *kept = to_kept(to_pmu(event->pmu));
	int ret;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;

	if (down_read_interruptible(&kept->plug))
		return -ERESTARTSYS;

	ret = kept->pmu.sampler ? pmu_event_init(event) : -ENODEV;
	if (!ret)
		event->destroy = kept_event_destroy;
	up_read(&kept->plug);
	return ret;
}

static void free_kept(struct kept_pmu *kept)
{
	free_percpu(kept->pmu.holds);
	kfree(kept->pmu.base.name);
	kfree(kept);
}

static struct kept_pmu *create_kept(struct panthor_device *ptdev,
				    struct panthor_perf_sampler *sampler)
{
	struct kept_pmu *kept = kzalloc(sizeof(*kept), GFP_KERNEL);
	int ret;

	if (!kept)
		return ERR_PTR(-ENOMEM);

	ret = pmu_init(&kept->pmu, ptdev, sampler);
	if (ret) {
		kfree(kept);
		return ERR_PTR(ret);
	}

	init_rwsem(&kept->plug);
	kept->pmu.holds = alloc_percpu(struct panthor_perf_pmu_hold);
	kept->pmu.base.event_init = kept_event_init;
	kept->pmu.base.name = kasprintf(GFP_KERNEL, "panthor_%llx", kept->pmu.gpu.phys_addr);
	if (kept->pmu.holds && kept->pmu.base.name)
		return kept;

	free_kept(kept);
	return ERR_PTR(-ENOMEM);
}

/*
 * Has the PMU of a device that has gone count for @new's device, if it has the same name. Returns
 * NULL if there is none, or -EEXIST if that GPU had other counters, because it was another one or
 * had other firmware: names of events that are in sysfs cannot be changed.
 */
static struct kept_pmu *take_over(struct kept_pmu *new)
{
	struct kept_pmu *kept;

	guard(mutex)(&kept_lock);

	list_for_each_entry(kept, &kept_pmus, node) {
		if (kept->pmu.gpu.phys_addr != new->pmu.gpu.phys_addr)
			continue;

		if (memcmp(&kept->pmu.gpu, &new->pmu.gpu, sizeof(new->pmu.gpu)))
			return ERR_PTR(-EEXIST);

		list_del(&kept->node);
		down_write(&kept->plug);
		kept->pmu.sampler = new->pmu.sampler;
		up_write(&kept->plug);
		return kept;
	}

	return NULL;
}

struct panthor_perf_pmu *panthor_perf_pmu_add(struct panthor_device *ptdev,
					      struct panthor_perf_sampler *sampler)
{
	struct kept_pmu *new = create_kept(ptdev, sampler), *kept;
	int ret;

	if (IS_ERR(new))
		return ERR_CAST(new);

	kept = take_over(new);
	if (kept) {
		free_kept(new);
		return IS_ERR(kept) ? ERR_CAST(kept) : &kept->pmu;
	}

	ret = perf_pmu_register(&new->pmu.base, new->pmu.base.name, -1);
	if (!ret)
		return &new->pmu;

	free_kept(new);
	return ERR_PTR(ret);
}

/* Events that are open keep the count that they have. */
void panthor_perf_pmu_unplug(struct panthor_perf_pmu *pmu)
{
	struct panthor_perf_pmu_run *run;
	struct kept_pmu *kept;

	if (!pmu)
		return;

	kept = to_kept(pmu);
	down_write(&kept->plug);
	scoped_guard(mutex, &pmu->lock) {
		run = pmu_run(pmu);
		if (run)
			panthor_perf_sampler_remove(pmu->sampler, &run->client);
		RCU_INIT_POINTER(pmu->run, NULL);
		pmu->sampler = NULL;
	}
	up_write(&kept->plug);

	guard(mutex)(&kept_lock);
	list_add(&kept->node, &kept_pmus);
}

/* The run may be of a device that has taken the place of the caller's. It stays meanwhile. */
void panthor_perf_pmu_flush(struct panthor_perf_pmu *pmu)
{
	if (!pmu)
		return;

	down_read(&to_kept(pmu)->plug);
	mainline_flush(pmu);
	up_read(&to_kept(pmu)->plug);
}

/* Linux 6.12 has an array of these, later kernels an array of pointers. */
static struct perf_cpu_pmu_context *cpu_context(struct pmu *base, int cpu)
{
	void *entry = per_cpu_ptr(base->cpu_pmu_context, cpu);

	return sizeof(*base->cpu_pmu_context) == sizeof(void *) ? *(void **)entry : entry;
}

/*
 * Cancels perf's timers of a PMU without events, which perf_pmu_unregister() frees even if they are
 * armed. Writing this file arms them: it goes first.
 */
static void cancel_timers(struct pmu *base)
{
	const struct device_attribute file = { .attr.name = "perf_event_mux_interval_ms" };
	int cpu;

	device_remove_file(base->dev, &file);
	for_each_possible_cpu(cpu)
		hrtimer_cancel(&cpu_context(base, cpu)->hrtimer);
}

/* Unregisters the PMUs of devices that have gone, when the module is unloaded, or fails to load. */
void panthor_perf_pmu_exit(void)
{
	struct kept_pmu *kept, *tmp;

	list_for_each_entry_safe(kept, tmp, &kept_pmus, node) {
		cancel_timers(&kept->pmu.base);
		perf_pmu_unregister(&kept->pmu.base);
		free_kept(kept);
	}
}
