// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: firmware does not come up when the GPU is
 * to be resumed, at the first attempt or at any. What the driver makes of that
 * differs between kernels; what sessions are owed does not.
 *
 * A kernel may warn of a resume that failed. The device is unbound from its
 * driver, and bound again at the end.
 */
#include "bed.h"
#include "../client.h"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	bench_reg_set(RATE, 100000);
	bench_reg_set(ACTIVITY, 1);
	return true;
}

#define SLOTS		64
#define PERIOD_NS	5000000

#define ON		DRM_PANTHOR_PERF_BLOCK_STATE_ON

FIXTURE(resume)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session manual, periodic;
	char device[512];
};

FIXTURE_VARIANT(resume)
{
	uint32_t failures;
};

/* As if nothing had been, for comparison. */
FIXTURE_VARIANT_ADD(resume, succeeds) { .failures = 0 };

/* A driver that begins with a fast boot has another attempt, which may do. */
FIXTURE_VARIANT_ADD(resume, fails_once) { .failures = 1 };

/* No driver has a third. The last, since the GPU may not come back. */
FIXTURE_VARIANT_ADD(resume, fails) { .failures = 2 };

FIXTURE_SETUP(resume)
{
	struct drm_panthor_perf_cmd_setup setup = {};

	self->manual.efd = -1;
	self->periodic.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_sysfs(self->device, sizeof(self->device)));
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->manual, &setup));
	setup.sample_freq_ns = PERIOD_NS;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->periodic, &setup));
}

FIXTURE_TEARDOWN(resume)
{
	if (self->fd < 0)
		return;
	perf_bench_calm();
	perf_session_end(&self->periodic);
	perf_session_end(&self->manual);
	close(self->fd);
	perf_pm_write("control", "auto");
}

/* A sample that was not lost, of a GPU that was on in its period, or of one that never was. */
static void check(struct __test_metadata *_metadata, FIXTURE_DATA(resume) *self,
		  struct perf_session *s, bool on)
{
	const struct drm_panthor_perf_sample_header *h = perf_slot(s, s->read);
	uint64_t sum = 0;

	EXPECT_EQ(0, h->flags & ~DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		const struct drm_panthor_perf_block_header *block = perf_block(&self->info, h, b);

		/* Cores get power when there is work for them. */
		if (!on || block->block_type != DRM_PANTHOR_PERF_BLOCK_SHADER) {
			EXPECT_EQ(on ? ON : 0, block->block_states & ON) {
				TH_LOG("block %u", b);
			}
		}
		for (uint32_t v = PERF_RESERVED; v < self->info.counters_per_block; v++)
			sum += perf_values(&self->info, h, b)[v];
	}
	EXPECT_EQ(on, sum != 0);
	perf_consume(s, 1);
}

static void sample(struct __test_metadata *_metadata, FIXTURE_DATA(resume) *self, bool on)
{
	uint64_t n = perf_insert(&self->manual);

	ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, 2));
	ASSERT_TRUE(perf_wait(&self->manual, n + 1));
	EXPECT_EQ(n + 1, perf_insert(&self->manual));
	check(_metadata, self, &self->manual, on);
}

/* Periodic samples go on, the last of them as the GPU is now. */
static void await_periods(struct __test_metadata *_metadata, FIXTURE_DATA(resume) *self, bool on)
{
	perf_consume(&self->periodic, perf_insert(&self->periodic) - self->periodic.read);
	ASSERT_TRUE(perf_until(perf_insert(&self->periodic) >= self->periodic.read + 4));
	perf_consume(&self->periodic, 3);
	check(_metadata, self, &self->periodic, on);
}

/* Asks for something that takes a GPU with power. */
static int wake(FIXTURE_DATA(resume) *self)
{
	struct drm_panthor_timestamp_info info = {};
	uint32_t size = sizeof(info);

	return perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_TIMESTAMP_INFO, &info, &size);
}

TEST_F_TIMEOUT(resume, sessions_go_on, 300)
{
	struct perf_session *both[] = { &self->manual, &self->periodic };
	uint64_t count[2];
	bool up;

	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 1));
	ASSERT_EQ(0, perf_start(self->fd, self->periodic.handle, 1));
	sample(_metadata, self, false);
	await_periods(_metadata, self, false);

	bench_reg_set(BOOT_FAIL, variant->failures);
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	/* That has waited for it. */
	up = perf_pm_is("active");
	EXPECT_EQ(!!variant->failures, bench_reg_get(BOOT_FAIL) < variant->failures);
	ASSERT_TRUE(up || variant->failures);
	ASSERT_FALSE(up && variant->failures == 2);
	TH_LOG("the GPU is %s", up ? "up" : "down");
	if (!up) {
		/* Of a GPU that is down nothing is lost. */
		sample(_metadata, self, false);
		await_periods(_metadata, self, false);
		ASSERT_EQ(0, perf_stop(self->fd, self->manual.handle, 3));
		ASSERT_TRUE(perf_wait(&self->manual, self->manual.read + 1));
		check(_metadata, self, &self->manual, false);
		ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 1));

		/* A driver that can try again may have to be asked twice. */
		bench_reg_set(BOOT_FAIL, 0);
		up = !wake(self) || !wake(self);
		TH_LOG("then it is %s", up ? "up" : "down");
	}
	if (up) {
		await_periods(_metadata, self, true);
		sample(_metadata, self, true);
	}

	/* Whether it is up or down, each is told once that the device goes. */
	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	for (int i = 0; i < 2; i++) {
		uint64_t last = perf_insert(both[i]) - 1;

		EXPECT_EQ(DRM_PANTHOR_PERF_SAMPLE_ERROR, perf_slot(both[i], last)->flags &
			  ~DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
		EXPECT_EQ(1, perf_slot(both[i], last)->user_data);
		EXPECT_EQ(last + 1, perf_signals(both[i]));
		count[i] = last + 1;
	}
	EXPECT_EQ(self->manual.read + 1, count[0]);
	/* A device that did not come up can be bound again, too. */
	ASSERT_EQ(0, perf_bind(self->device, "bind"));
	for (int i = 0; i < 2; i++)
		EXPECT_EQ(count[i], perf_insert(both[i]));
}

FIXTURE(suspend)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s;
	char delay[32];
};

FIXTURE_SETUP(suspend)
{
	struct drm_panthor_perf_cmd_setup setup = {};

	self->s.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &setup));
	ASSERT_EQ(0, perf_pm_read("autosuspend_delay_ms", self->delay, sizeof(self->delay)));
	ASSERT_EQ(0, perf_pm_write("autosuspend_delay_ms", "0"));
}

FIXTURE_TEARDOWN(suspend)
{
	if (self->fd < 0)
		return;
	perf_bench_calm();
	perf_session_end(&self->s);
	close(self->fd);
	perf_pm_write("autosuspend_delay_ms", self->delay);
	perf_pm_write("control", "auto");
}

enum { RESETS = 16 };

/*
 * Who suspends the GPU while it is being reset is refused, and then meets the last of the reset's work,
 * more often than not. A reset that fails comes behind, in this file: if lockdep knows by then that a suspend
 * waits for what must not wait for it, it says so.
 */
TEST_F_TIMEOUT(suspend, meets_a_reset, 300)
{
	for (uint64_t turn = 1; turn <= RESETS; turn++) {
		ASSERT_EQ(0, perf_pm_write("control", "on"));
		bench_reg_set(HANG, 1);
		ASSERT_EQ(-ETIMEDOUT, perf_start(self->fd, self->s.handle, turn));
		ASSERT_EQ(0, perf_pm_write("control", "auto"));
		/* Each of these tries to suspend it, at once. */
		do {
			ASSERT_EQ(0, perf_pm_write("autosuspend_delay_ms", "0"));
		} while (!perf_pm_is("suspended"));
		EXPECT_EQ(0, bench_reg_get(HANG));

		ASSERT_EQ(0, perf_pm_write("control", "on"));
		ASSERT_EQ(0, perf_start(self->fd, self->s.handle, turn));
		ASSERT_EQ(0, perf_stop(self->fd, self->s.handle, turn));
		ASSERT_TRUE(perf_wait(&self->s, turn));
		EXPECT_EQ(turn, perf_slot(&self->s, turn - 1)->user_data);
		/* Counters are disabled by then, so that the next START has to ask firmware. */
		ASSERT_EQ(0, perf_pm_write("control", "auto"));
		ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	}
}

FIXTURE(reset)
{
	struct drm_panthor_perf_info info;
	struct perf_session s;
	char device[512];
	struct gpu gpu;
	uint32_t group, done;
	struct gpu_bo stream;
};

FIXTURE_VARIANT(reset)
{
	bool job;
};

FIXTURE_VARIANT_ADD(reset, alone) { .job = false };
FIXTURE_VARIANT_ADD(reset, with_a_job) { .job = true };

FIXTURE_SETUP(reset)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	struct gpu_vm vm;
	int fd;

	self->s.efd = -1;
	self->gpu.fd = -1;
	fd = perf_open_counters(&self->info);
	if (fd < 0)
		SKIP(return, "no GPU with performance counters");
	close(fd);
	ASSERT_EQ(0, perf_sysfs(self->device, sizeof(self->device)));
	gpu_open(&self->gpu, NULL);
	gpu_vm_create(&vm, &self->gpu);
	self->group = gpu_group_create(&vm, 1);
	self->done = gpu_syncobj_create(&self->gpu);
	/* Of zeroes, which are NOPs. */
	gpu_bo_create(&self->stream, &vm, 64, 0);
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(self->gpu.fd, &self->info, SLOTS, &self->s, &setup));
}

FIXTURE_TEARDOWN(reset)
{
	if (self->gpu.fd < 0)
		return;
	perf_bench_calm();
	perf_session_end(&self->s);
	close(self->gpu.fd);
	perf_pm_write("control", "auto");
}

static int submit(FIXTURE_DATA(reset) *self)
{
	struct drm_panthor_sync_op op = {
		.flags = DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ,
		.handle = self->done,
	};
	struct drm_panthor_queue_submit job = {
		.stream_addr = self->stream.va,
		.stream_size = 64,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &op),
	};

	return gpu_submit(&self->gpu, self->group, &job, 1);
}

/*
 * A reset has begun, nobody uses the GPU any more, which has been idle for long, and firmware does not
 * boot. The group of the first job has a slot, which takes long to take from it: the second job
 * comes meanwhile. Nobody waits for ever, and the device can be bound again.
 */
TEST_F_TIMEOUT(reset, fails_while_idle, 120)
{
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct drm_panthor_gpu_info info;
	uint32_t size = sizeof(info);

	ASSERT_GE(log, 0);
	ASSERT_GE(lseek(log, 0, SEEK_END), 0);

	ASSERT_EQ(0, perf_pm_write("control", "on"));
	ASSERT_EQ(0, submit(self));
	ASSERT_EQ(0, gpu_syncobj_wait(&self->gpu, self->done, 0, 60 * NSEC_PER_SEC));
	EXPECT_EQ(1, gpu_fence_error(&self->gpu, self->done));

	bench_reg_set(BOOT_FAIL, UINT32_MAX);
	bench_reg_set(HANG, 1);
	ASSERT_EQ(-ETIMEDOUT, perf_start(self->gpu.fd, self->s.handle, 1));
	/* The reset holds its reference, and ends the group for another 100 ms. Before, a suspend would take its place. */
	ASSERT_TRUE(perf_until(bed_logged(log, "CSG suspend failed")));
	close(log);
	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	/* The GPU is suspended now, unless that is refused: then the job comes at any time of the reset. */
	for (int ms = 0; ms < 50 && !perf_pm_is("suspending"); ms++)
		usleep(1000);
	if (variant->job) {
		int ret = submit(self);

		EXPECT_TRUE(!ret || ret == -EINVAL || ret == -ENODEV) {
			TH_LOG("%s", strerror(-ret));
		}
	}
	ASSERT_TRUE(perf_until(perf_query(self->gpu.fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &info,
					  &size) == -ENODEV));
	EXPECT_LT(bench_reg_get(BOOT_FAIL), UINT32_MAX);
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	EXPECT_EQ(0, perf_insert(&self->s));

	perf_bench_calm();
	ASSERT_EQ(0, perf_bind(self->device, "unbind"));
	ASSERT_EQ(0, perf_bind(self->device, "bind"));
}

TEST_HARNESS_MAIN
