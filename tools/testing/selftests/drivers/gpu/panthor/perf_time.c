// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: when samples were taken, how many cycles
 * there were between them, and that taking them keeps no idle GPU awake.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS		64
/* PERF_TIME_SAMPLES in the environment says otherwise, for kernels that are slow. */
#define SAMPLES		10000
#define BURST		16
#define IDLE_SESSIONS	8
#define IDLE_PERIOD_NS	10000000ull

/* Of the system counter, which is what the GPU's timestamps count; 0 if it cannot be told. */
static uint64_t counter_hz(void)
{
#ifdef __aarch64__
	uint64_t hz;

	asm("mrs %0, cntfrq_el0" : "=r" (hz));
	return hz;
#else
	return 0;
#endif
}

/**
 * struct watched - a session, and what is to be expected of its samples
 * @s: the session
 * @period: its period, 0 if it is manual
 * @enter: when START was called
 * @leave: when START returned
 * @base: where its first sample starts
 * @end: where its latest sample ended
 * @gpu: GPU timestamp of that
 * @taken: number of samples since START
 * @missed: number of deadlines that passed without a sample; tests set it back
 * @states: states of all blocks of the latest sample, or-ed
 */
struct watched {
	struct perf_session s;
	uint64_t period;
	uint64_t enter, leave;
	uint64_t base, end, gpu;
	uint64_t taken;
	uint64_t missed;
	uint8_t states;
};

/* What all tests have in common. */
struct common {
	int fd;
	struct drm_panthor_perf_info info;
	uint64_t hz;
};

static int common_open(struct common *c)
{
	c->fd = perf_open_counters(&c->info);
	if (c->fd < 0)
		return c->fd;
	c->hz = counter_hz();
	return 0;
}

static int watched_new(struct common *c, struct watched *w, uint64_t period, uint32_t slots)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = period };

	perf_masks_all(&setup);
	w->period = period;
	return perf_session_new(c->fd, &c->info, slots, &w->s, &setup);
}

static int watched_start(struct watched *w, uint64_t user_data)
{
	int ret;

	w->taken = 0;
	w->enter = perf_now();
	ret = perf_start(w->s.fd, w->s.handle, user_data);
	w->leave = perf_now();
	return ret;
}

/*
 * Takes the next sample, which has been delivered: one that could not end
 * before @after, and was there at @before. Starts where the one before it
 * ended. A periodic session's nth sample is not taken before its nth deadline,
 * however late it may be.
 */
static void take(struct __test_metadata *_metadata, struct common *c, struct watched *w,
		 uint64_t after, uint64_t before)
{
	const struct drm_panthor_perf_sample_header *h = perf_slot(&w->s, w->s.read);
	const __u64 *v = perf_values(&c->info, h, 0);
	uint64_t gpu = v[0] | v[1] << 32;

	if (w->taken) {
		ASSERT_EQ(w->end, h->timestamp_start_ns);
	} else {
		ASSERT_LE(w->enter, h->timestamp_start_ns);
		ASSERT_LE(h->timestamp_start_ns, w->leave);
		w->base = h->timestamp_start_ns;
	}
	ASSERT_LE(h->timestamp_start_ns, h->timestamp_end_ns);
	ASSERT_LE(after, h->timestamp_end_ns);
	ASSERT_LE(h->timestamp_end_ns, before);
	if (w->period && h->user_data == w->period) {
		uint64_t first = (h->timestamp_start_ns - w->base) / w->period;
		uint64_t last = (h->timestamp_end_ns - w->base) / w->period;

		ASSERT_LE(w->base + (w->taken + 1) * w->period, h->timestamp_end_ns);
		w->missed += last > first ? last - first - 1 : 0;
	}
	/* A deadline that was missed is all that may have happened. */
	ASSERT_EQ(perf_stretched(w->base, w->period, h), h->flags);

	/*
	 * The time is the firmware's: what the GPU has counted between two
	 * samples is what is between them in nanoseconds. Each of the two ends
	 * has been rounded twice, and so has this; CLOCK_MONOTONIC_RAW has a
	 * rounded rate.
	 */
	if (w->taken && c->hz) {
		uint64_t ns = h->timestamp_end_ns - w->end;
		uint64_t ticks = gpu - w->gpu;
		uint64_t want = ticks / c->hz * 1000000000 + ticks % c->hz * 1000000000 / c->hz;

		ASSERT_LE(want, ns + 3 + (ns >> 29)) {
			TH_LOG("%llu ticks, and %llu ns",
			       (unsigned long long)ticks, (unsigned long long)ns);
		}
		ASSERT_LE(ns, want + 3 + (ns >> 29)) {
			TH_LOG("%llu ticks, and %llu ns",
			       (unsigned long long)ticks, (unsigned long long)ns);
		}
	}
	w->states = 0;
	for (uint32_t b = 0; b < perf_blocks(&c->info); b++)
		w->states |= perf_block(&c->info, h, b)->block_states;
	w->end = h->timestamp_end_ns;
	w->gpu = gpu;
	w->taken++;
	perf_consume(&w->s, 1);
}

/* Takes all samples that there are. */
static void take_all(struct __test_metadata *_metadata, struct common *c, struct watched *w)
{
	uint64_t insert = perf_insert(&w->s), now = perf_now();

	while (w->s.read < insert)
		take(_metadata, c, w, 0, now);
}

/* Asks a session for one sample that has no others on the way. */
static void sample(struct __test_metadata *_metadata, struct common *c, struct watched *w)
{
	uint64_t before = perf_now(), n = perf_insert(&w->s);

	ASSERT_EQ(0, perf_sample(w->s.fd, w->s.handle, 0));
	ASSERT_TRUE(perf_wait(&w->s, n + 1));
	take(_metadata, c, w, before, perf_now());
}

static void stop(struct __test_metadata *_metadata, struct common *c, struct watched *w)
{
	static uint64_t tag;
	uint64_t before = perf_now();
	bool last = false;

	/* Unlike any other. */
	tag--;
	ASSERT_EQ(0, perf_stop(w->s.fd, w->s.handle, tag));
	while (!last) {
		ASSERT_TRUE(perf_wait(&w->s, w->s.read + 1));
		last = perf_slot(&w->s, w->s.read)->user_data == tag;
		take(_metadata, c, w, last ? before : 0, perf_now());
	}
	ASSERT_EQ(w->s.read, perf_insert(&w->s));
}

/* Time */

FIXTURE(time)
{
	struct common c;
	struct watched a, b, p;
};

FIXTURE_SETUP(time)
{
	self->a.s.efd = -1;
	self->b.s.efd = -1;
	self->p.s.efd = -1;
	if (common_open(&self->c))
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_pm_write("control", "on"));
}

FIXTURE_TEARDOWN(time)
{
	perf_session_end(&self->p.s);
	perf_session_end(&self->b.s);
	perf_session_end(&self->a.s);
	close(self->c.fd);
	perf_pm_write("control", "auto");
}

/* One that waits for each sample, one that asks for many at once, and a periodic one. */
TEST_F_TIMEOUT(time, bounds, 900)
{
	const char *wanted = getenv("PERF_TIME_SAMPLES");
	uint64_t samples = wanted ? strtoul(wanted, NULL, 0) : SAMPLES;
	uint64_t asked[BURST];

	ASSERT_LT(0, samples);
	ASSERT_EQ(0, watched_new(&self->c, &self->a, 0, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->b, 0, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->p, 1000000, SLOTS));
	ASSERT_EQ(0, watched_start(&self->a, 0));
	ASSERT_EQ(0, watched_start(&self->b, 0));
	ASSERT_EQ(0, watched_start(&self->p, self->p.period));
	for (int turn = 0; self->a.taken + self->b.taken + self->p.taken < samples; turn++) {
		bool burst = turn % 8 == 0;
		uint64_t now;

		for (int i = 0; burst && i < BURST; i++) {
			asked[i] = perf_now();
			ASSERT_EQ(0, perf_sample(self->b.s.fd, self->b.s.handle, i));
		}
		sample(_metadata, &self->c, &self->a);
		if (burst) {
			ASSERT_TRUE(perf_wait(&self->b.s, self->b.taken + BURST));
			now = perf_now();
			for (int i = 0; i < BURST; i++) {
				EXPECT_EQ(i, perf_slot(&self->b.s, self->b.s.read)->user_data);
				take(_metadata, &self->c, &self->b, asked[i], now);
			}
		}
		take_all(_metadata, &self->c, &self->p);
	}
	while (self->p.taken < 10) {
		ASSERT_TRUE(perf_wait(&self->p.s, self->p.taken + 1));
		take_all(_metadata, &self->c, &self->p);
	}
	stop(_metadata, &self->c, &self->p);
	stop(_metadata, &self->c, &self->b);
	stop(_metadata, &self->c, &self->a);
}

/* A run begins when it is started, whatever there was before. */
TEST_F_TIMEOUT(time, starts, 300)
{
	ASSERT_EQ(0, watched_new(&self->c, &self->a, 0, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->p, 1000000, SLOTS));
	ASSERT_EQ(0, watched_start(&self->p, self->p.period));
	for (int turn = 0; turn < 100; turn++) {
		ASSERT_EQ(0, watched_start(&self->a, 0));
		if (turn % 2)
			sample(_metadata, &self->c, &self->a);
		stop(_metadata, &self->c, &self->a);
		take_all(_metadata, &self->c, &self->p);
	}
	stop(_metadata, &self->c, &self->p);
}

/* So do its periods: what was due before a STOP is not due after it. */
TEST_F_TIMEOUT(time, periods_start, 300)
{
	ASSERT_EQ(0, watched_new(&self->c, &self->p, self->c.info.min_sample_period_ns, SLOTS));
	for (int turn = 0; turn < 300; turn++) {
		ASSERT_EQ(0, watched_start(&self->p, self->p.period));
		ASSERT_TRUE(perf_wait(&self->p.s, self->p.s.read + 1));
		take_all(_metadata, &self->c, &self->p);
		stop(_metadata, &self->c, &self->p);
	}
}

/* Has this process run on one CPU of those that it may run on. */
static int stay_on_a_cpu(void)
{
	cpu_set_t cpus, here;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -errno;
	CPU_ZERO(&here);
	for (int cpu = 0; !CPU_COUNT(&here); cpu++)
		if (CPU_ISSET(cpu, &cpus))
			CPU_SET(cpu, &here);
	return sched_setaffinity(0, sizeof(here), &here) ? -errno : 0;
}

/*
 * START sleeps until its baseline is there, and then waits for somebody who has
 * become busy meanwhile: of two real-time processes of one priority none has to
 * make room. If the other one was busy until @busy_end, and START ended later,
 * START has not gone on before. @busy_end is memory that both have.
 */
static int start_late(struct watched *w, uint64_t busy_ns, uint64_t *busy_end)
{
	const struct sched_param fifo = { .sched_priority = 1 }, other = {};
	int ret = 0;
	pid_t pid;

	if (sched_setscheduler(0, SCHED_FIFO, &fifo))
		return -errno;
	pid = fork();
	if (!pid) {
		uint64_t begin = perf_now();

		do
			*busy_end = perf_now();
		while (*busy_end < begin + busy_ns);
		_exit(0);
	}
	ret = pid < 0 ? -errno : watched_start(w, w->period);
	sched_setscheduler(0, SCHED_OTHER, &other);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return ret;
}

/*
 * Deadlines are counted from the baseline, not from when START goes on after it.
 * If they were, the first sample could not end before that is told. One that is
 * right may end as late on a machine that has much else to do. But then so do
 * those of another session, whose timer is on the same CPU.
 */
TEST_F_TIMEOUT(time, periods_start_late, 300)
{
	const uint64_t period = 1000000000, busy_ns = 200000000;
	bool told = false;
	uint64_t *busy_end;

	busy_end = mmap(NULL, sizeof(*busy_end), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, busy_end);
	ASSERT_EQ(0, stay_on_a_cpu());
	ASSERT_EQ(0, watched_new(&self->c, &self->p, period, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->b, 5000000, SLOTS));
	ASSERT_EQ(0, watched_start(&self->b, self->b.period));
	for (int turn = 0; turn < 50 && !told; turn++) {
		uint64_t late = 0, after, missed;

		ASSERT_EQ(0, start_late(&self->p, busy_ns, busy_end));
		/* Its ring was full: one more sample is of what passed until now. */
		take_all(_metadata, &self->c, &self->b);
		ASSERT_TRUE(perf_wait(&self->b.s, self->b.s.read + 1));
		take_all(_metadata, &self->c, &self->b);
		self->b.missed = 0;
		while (perf_insert(&self->p.s) == self->p.s.read) {
			ASSERT_TRUE(perf_wait(&self->b.s, self->b.s.read + 1));
			take(_metadata, &self->c, &self->b, 0, perf_now());
		}
		/* The one that tells of the same delay may come after it. */
		ASSERT_TRUE(perf_wait(&self->b.s, self->b.s.read + 1));
		take_all(_metadata, &self->c, &self->b);
		take(_metadata, &self->c, &self->p, 0, perf_now());
		if (self->p.leave >= *busy_end && self->p.base < *busy_end)
			late = *busy_end - self->p.base;
		after = self->p.end - (self->p.base + period);
		missed = self->b.missed * self->b.period;
		TH_LOG("START went on after %llu us; late: its sample %llu us, others %llu us",
		       (unsigned long long)late / 1000, (unsigned long long)after / 1000,
		       (unsigned long long)missed / 1000);
		if (late >= busy_ns / 2) {
			ASSERT_LT(after, late / 2 + missed);
			told = after < late / 2;
		}
		stop(_metadata, &self->c, &self->p);
	}
	EXPECT_TRUE(told);
	stop(_metadata, &self->c, &self->b);
}

/* Time goes on while the GPU has no power, when the CPU has to tell it. */
TEST_F_TIMEOUT(time, suspends, 300)
{
	ASSERT_EQ(0, watched_new(&self->c, &self->a, 0, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->b, 0, SLOTS));
	ASSERT_EQ(0, watched_new(&self->c, &self->p, 1000000, SLOTS));
	ASSERT_EQ(0, watched_start(&self->a, 0));
	ASSERT_EQ(0, watched_start(&self->p, self->p.period));
	for (int turn = 0; turn < 10; turn++) {
		/* One that goes on through all of it, and one that is started anew. */
		ASSERT_EQ(0, perf_pm_write("control", turn % 2 ? "on" : "auto"));
		for (bool there = false; !there;) {
			there = perf_pm_is(turn % 2 ? "active" : "suspended");
			sample(_metadata, &self->c, &self->a);
			take_all(_metadata, &self->c, &self->p);
		}
		ASSERT_EQ(0, watched_start(&self->b, 0));
		sample(_metadata, &self->c, &self->b);
		sample(_metadata, &self->c, &self->a);
		stop(_metadata, &self->c, &self->b);
	}
	stop(_metadata, &self->c, &self->p);
	stop(_metadata, &self->c, &self->a);
}

/* Idle */

FIXTURE(idle)
{
	struct common c;
	struct watched w[IDLE_SESSIONS];
	char delay[32];
	uint32_t vm, group, syncobj;
	struct perf_bo stream;
};

FIXTURE_SETUP(idle)
{
	for (int i = 0; i < IDLE_SESSIONS; i++)
		self->w[i].s.efd = -1;
	if (common_open(&self->c))
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_EQ(0, perf_pm_read("autosuspend_delay_ms", self->delay, sizeof(self->delay)));
}

FIXTURE_TEARDOWN(idle)
{
	for (int i = 0; i < IDLE_SESSIONS; i++)
		perf_session_end(&self->w[i].s);
	if (self->delay[0])
		perf_pm_write("autosuspend_delay_ms", self->delay);
	close(self->c.fd);
}

static uint64_t active_time(void)
{
	char text[32] = "";

	perf_pm_read("runtime_active_time", text, sizeof(text));
	return strtoull(text, NULL, 10);
}

static void start_idle(struct __test_metadata *_metadata, FIXTURE_DATA(idle) *self)
{
	for (int i = 0; i < IDLE_SESSIONS; i++)
		ASSERT_EQ(0, watched_new(&self->c, &self->w[i], IDLE_PERIOD_NS, SLOTS));
	/* Memory of the firmware's is mapped on SETUP. */
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
}

/* Nobody wakes it, nobody keeps it awake, and it is not woken at the end either. */
TEST_F_TIMEOUT(idle, stays_suspended, 300)
{
	const uint8_t never = DRM_PANTHOR_PERF_BLOCK_STATE_ON |
			      DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED;
	uint64_t active;

	start_idle(_metadata, self);
	active = active_time();
	for (int i = 0; i < IDLE_SESSIONS; i++)
		ASSERT_EQ(0, watched_start(&self->w[i], IDLE_PERIOD_NS));
	for (int turn = 1; turn <= 30; turn++) {
		for (int i = 0; i < IDLE_SESSIONS; i++) {
			struct watched *w = &self->w[i];
			const struct drm_panthor_perf_sample_header *h;

			ASSERT_TRUE(perf_wait(&w->s, w->s.read + 1));
			h = perf_slot(&w->s, w->s.read);
			EXPECT_EQ(0, h->toplevel_clock_cycles | h->coregroup_clock_cycles |
				     h->shader_clock_cycles);
			for (uint32_t b = 0; b < perf_blocks(&self->c.info); b++) {
				uint8_t states = perf_block(&self->c.info, h, b)->block_states;

				EXPECT_EQ(DRM_PANTHOR_PERF_BLOCK_STATE_OFF,
					  states & (DRM_PANTHOR_PERF_BLOCK_STATE_OFF | never)) {
					TH_LOG("block %u has states %#x", b, states);
				}
			}
			take(_metadata, &self->c, w, 0, perf_now());
		}
		ASSERT_TRUE(perf_pm_is("suspended"));
	}
	for (int i = 0; i < IDLE_SESSIONS; i++) {
		stop(_metadata, &self->c, &self->w[i]);
		perf_session_end(&self->w[i].s);
	}
	EXPECT_TRUE(perf_pm_is("suspended"));
	EXPECT_EQ(active, active_time());
}

/* A group and a stream of NOPs, which are all zeroes. */
static int make_work(FIXTURE_DATA(idle) *self)
{
	struct drm_panthor_gpu_info gpu = {};
	struct drm_panthor_vm_create vm = {};
	struct drm_panthor_queue_create queue = { .priority = 1, .ringbuf_size = 65536 };
	struct drm_panthor_group_create group = { .queues = DRM_PANTHOR_OBJ_ARRAY(1, &queue) };
	struct drm_panthor_vm_bind_op op = { .flags = DRM_PANTHOR_VM_BIND_OP_TYPE_MAP };
	struct drm_panthor_vm_bind bind = { .ops = DRM_PANTHOR_OBJ_ARRAY(1, &op) };
	struct drm_syncobj_create sync = {};
	uint32_t size = sizeof(gpu);
	int ret = perf_query(self->c.fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &size);

	if (!ret)
		ret = perf_ioctl(self->c.fd, DRM_IOCTL_PANTHOR_VM_CREATE, &vm);
	if (!ret)
		ret = perf_bo_create(self->c.fd, &self->stream, sysconf(_SC_PAGESIZE), 0);
	if (ret)
		return ret;
	op.bo_handle = self->stream.handle;
	op.va = 0x1000000;
	op.size = self->stream.size;
	bind.vm_id = vm.id;
	ret = perf_ioctl(self->c.fd, DRM_IOCTL_PANTHOR_VM_BIND, &bind);
	if (ret)
		return ret;
	group.vm_id = vm.id;
	group.priority = PANTHOR_GROUP_PRIORITY_MEDIUM;
	group.compute_core_mask = gpu.shader_present;
	group.fragment_core_mask = gpu.shader_present;
	group.tiler_core_mask = gpu.tiler_present;
	group.max_compute_cores = __builtin_popcountll(gpu.shader_present);
	group.max_fragment_cores = __builtin_popcountll(gpu.shader_present);
	group.max_tiler_cores = __builtin_popcountll(gpu.tiler_present);
	ret = perf_ioctl(self->c.fd, DRM_IOCTL_PANTHOR_GROUP_CREATE, &group);
	self->group = group.group_handle;
	if (!ret)
		ret = perf_ioctl(self->c.fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync);
	self->syncobj = sync.handle;
	return ret;
}

/* Has the GPU do it, and waits for that. */
static int work(FIXTURE_DATA(idle) *self)
{
	struct drm_panthor_sync_op op = {
		.flags = DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ,
		.handle = self->syncobj,
	};
	struct drm_panthor_queue_submit job = {
		.stream_addr = 0x1000000, .stream_size = 64,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &op),
	};
	struct drm_panthor_group_submit submit = {
		.group_handle = self->group, .queue_submits = DRM_PANTHOR_OBJ_ARRAY(1, &job),
	};
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&self->syncobj, .count_handles = 1, .timeout_nsec = INT64_MAX,
		.flags = DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT,
	};
	int ret = perf_ioctl(self->c.fd, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &submit);

	return ret ?: perf_ioctl(self->c.fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait);
}

/* Takes all samples of all sessions. */
static void take_idle(struct __test_metadata *_metadata, FIXTURE_DATA(idle) *self, uint8_t *seen)
{
	for (int i = 0; i < IDLE_SESSIONS; i++) {
		struct watched *w = &self->w[i];

		while (w->s.read < perf_insert(&w->s)) {
			take(_metadata, &self->c, w, 0, perf_now());
			seen[i] |= w->states;
		}
	}
}

/*
 * Samples keep no GPU awake that has had work. If one of them began the delay anew, so
 * would each, and it would never be over: periods are much shorter.
 */
TEST_F_TIMEOUT(idle, goes_idle, 600)
{
	const uint8_t on_and_off = DRM_PANTHOR_PERF_BLOCK_STATE_ON |
				   DRM_PANTHOR_PERF_BLOCK_STATE_OFF;

	ASSERT_EQ(0, perf_pm_write("autosuspend_delay_ms", "2000"));
	ASSERT_EQ(0, make_work(self));
	start_idle(_metadata, self);
	for (int i = 0; i < IDLE_SESSIONS; i++)
		ASSERT_EQ(0, watched_start(&self->w[i], IDLE_PERIOD_NS));
	for (int round = 0; round < 2; round++) {
		uint64_t active = active_time();
		uint8_t seen[IDLE_SESSIONS] = {};

		take_idle(_metadata, self, seen);
		memset(seen, 0, sizeof(seen));
		ASSERT_EQ(0, work(self));
		ASSERT_TRUE(perf_until((take_idle(_metadata, self, seen),
					perf_pm_is("suspended"))));
		EXPECT_LT(active, active_time());
		/* Samples go on. The first of these have seen it up, the last see it off. */
		for (int i = 0; i < IDLE_SESSIONS; i++) {
			struct watched *w = &self->w[i];

			do {
				ASSERT_TRUE(perf_wait(&w->s, w->s.read + 1));
				take(_metadata, &self->c, w, 0, perf_now());
				seen[i] |= w->states;
			} while (w->s.read < perf_insert(&w->s) ||
				 (w->states & DRM_PANTHOR_PERF_BLOCK_STATE_ON));
			EXPECT_EQ(on_and_off, seen[i] & on_and_off);
		}
		/* The scheduler may have got up once more for what it heard while it went down. */
		ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	}
}

TEST_HARNESS_MAIN
