// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: whatever allocation or access to the user's
 * memory fails, an ioctl fails cleanly or succeeds, and the next one works.
 *
 * Each call is made again and again; the first time its first point where a
 * failure can be injected fails, then its second, until it has no more. Its
 * allocations are one sweep, and its accesses to the user's memory are another,
 * so that each has an error of its own. Memory that lacks once may be had at the
 * second attempt, which the kernel makes here and there by itself: allocations
 * also fail all from the n-th on. Kernels that check allocate for themselves, so
 * that a call has not always the same points: the nodes of trees, of which handles
 * are made, have a sweep of their own. What leaks or is freed twice is for the
 * kernel to notice: this is best run with KASAN, lockdep and kmemleak.
 */
#define _GNU_SOURCE
#include <glob.h>
#include "../../../kselftest_harness.h"
#include "pmu.h"

#define SLOTS		4
/* More points than any of the calls has. */
#define MAX_NTH		2000
/* So many times in a row, a call had fewer points than asked for: it has no more. */
#define MISSES		3
/* So many sweeps of a call may fail too seldom. */
#define TURNS		3
#define MARK		0x5555555555555555ull
#define NO_HANDLE	0xdeadu

/* What fails. */
enum fault { MEMORY, NODES, ACCESS, FAULTS };

static const char *const fault_names[FAULTS] = { "memory", "nodes", "access" };

enum call { OPEN, QUERY, SETUP, START, SAMPLE, STOP, TEARDOWN, EVENT };

/*
 * The error of each call when memory lacks, or 0 if it needs none, and when the user's memory
 * cannot be accessed; how often it fails at least; and what the rest of panthor may say instead.
 */
static const struct {
	const char *name;
	struct {
		int error;
		unsigned int times;
		int other;
	} faults[FAULTS];
} calls[] = {
	/* An object of panthor's own, for which shmem has no inode. */
	[OPEN] = { "open", { { -ENOMEM, 1, -ENOSPC }, { -ENOMEM }, { -EFAULT, 1 } } },
	/* Arguments in, what is asked for out, and the arguments out. */
	[QUERY] = { "query", { {}, {}, { -EFAULT, 3 } } },
	/*
	 * Session, sums, queue and handle. The handle, and maybe the ring. Arguments in, their
	 * struct in, and arguments out.
	 */
	[SETUP] = { "SETUP", { { -ENOMEM, 4 }, { -ENOMEM, 1 }, { -EFAULT, 3 } } },
	[START] = { "START", { {}, {}, { -EFAULT, 3 } } },
	[SAMPLE] = { "SAMPLE", { {}, {}, { -EFAULT, 3 } } },
	[STOP] = { "STOP", { {}, {}, { -EFAULT, 3 } } },
	[TEARDOWN] = { "TEARDOWN", { {}, {}, { -EFAULT, 2 } } },
	/* Perf's own, and something of ours. */
	[EVENT] = { "perf_event_open", { { -ENOMEM, 2 }, { -ENOMEM }, { -EFAULT, 1 } } },
};

/**
 * struct sweep - one call, at one point after the other
 * @ctl: the thread's fail-nth
 * @lasting: the thread's make-it-fail, or -1 if only one point is to fail
 * @call: the call
 * @fault: what is to fail
 * @nth: the point that is to fail, from 1
 * @misses: how often in a row the call had no such point
 * @failed: how often the call failed
 * @others: how often with the other error
 * @turns: sweeps in which it failed too seldom
 */
struct sweep {
	int ctl;
	int lasting;
	enum call call;
	enum fault fault;
	unsigned int nth;
	unsigned int misses;
	unsigned int failed;
	unsigned int others;
	unsigned int turns;
};

FIXTURE(fail_nth)
{
	int fd;
	struct drm_panthor_perf_info info;
	int ctl;
	int lasting;
};

FIXTURE_VARIANT(fail_nth)
{
	bool up;
	bool lasting;
};

/* Memory is mapped for the GPU, and firmware told to count. */
FIXTURE_VARIANT_ADD(fail_nth, running) { .up = true };

/* The GPU is left alone. */
FIXTURE_VARIANT_ADD(fail_nth, suspended) { .up = false };

/* From the point that fails on, there is no memory. */
FIXTURE_VARIANT_ADD(fail_nth, lasting) { .up = true, .lasting = true };

static int set_fault(const char *fault, const char *setting, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s/%s", fault, setting);
	return perf_write_file(path, value);
}

/* Points are those of one kind alone. Without a stack trace, a filter lets all pass, or nothing. */
static int choose_fault(enum fault fault)
{
	static const struct {
		const char *name;
		unsigned int faults;
	} kinds[] = {
		{ "failslab", 1 << MEMORY | 1 << NODES },
		{ "fail_page_alloc", 1 << MEMORY },
		{ "fail_usercopy", 1 << ACCESS },
	};
	int ret = set_fault("failslab", "cache-filter", fault == NODES ? "1" : "0");

	for (size_t i = 0; !ret && i < ARRAY_SIZE(kinds); i++) {
		ret = set_fault(kinds[i].name, "stacktrace-depth", "0");
		if (!ret)
			ret = set_fault(kinds[i].name, "require-start",
					kinds[i].faults >> fault & 1 ? "0" : "1");
	}
	return ret;
}

/* Where a thread has asked for it, each of its allocations fails; or, with a filter, each node. */
static int let_all_fail(void)
{
	int ret = perf_write_file("/sys/kernel/slab/radix_tree_node/failslab", "1");

	if (!ret)
		ret = set_fault("failslab", "task-filter", "1");
	if (!ret)
		ret = set_fault("failslab", "times", "-1");
	if (!ret)
		ret = set_fault("failslab", "probability", "100");
	return ret;
}

static bool failed_enough(const struct sweep *sweep)
{
	return sweep->failed >= calls[sweep->call].faults[sweep->fault].times;
}

/*
 * Whether there is a point to try. Where one of the kernel's own comes and goes, the
 * one behind it may never be the n-th. So a sweep that failed too seldom is made again.
 */
static bool more(struct sweep *sweep)
{
	if (sweep->misses < MISSES)
		return true;
	if (failed_enough(sweep) || ++sweep->turns == TURNS)
		return false;
	sweep->nth = 0;
	sweep->misses = 0;
	sweep->failed = 0;
	sweep->others = 0;
	return true;
}

static void write_ctl(int fd, const char *text)
{
	while (pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		;
}

/* Between this and disarm(), nothing but the call. */
static bool arm(struct sweep *sweep)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", ++sweep->nth);
	if (sweep->nth > MAX_NTH)
		return false;
	/* Nothing fails by this as long as the point has not come. */
	if (sweep->lasting >= 0)
		write_ctl(sweep->lasting, "1");
	write_ctl(sweep->ctl, text);
	return true;
}

/*
 * A call that failed must have had that point, and its error must be that of what has failed.
 * Reading and writing have points as well.
 */
static bool disarm(struct __test_metadata *_metadata, struct sweep *sweep, int ret)
{
	char text[16] = "";
	ssize_t n = pread(sweep->ctl, text, sizeof(text) - 1, 0);
	bool hit = n > 0 && !strtoul(text, NULL, 10);
	int error = calls[sweep->call].faults[sweep->fault].error;
	int other = calls[sweep->call].faults[sweep->fault].other;

	if (sweep->lasting >= 0)
		write_ctl(sweep->lasting, "0");
	write_ctl(sweep->ctl, "0");
	sweep->misses = hit ? 0 : sweep->misses + 1;
	if (ret >= 0)
		return true;
	sweep->failed++;
	sweep->others += ret == other;
	if (hit && (ret == error || ret == other))
		return true;
	TH_LOG("%s, %s, point %u%s: %s, and not %s", calls[sweep->call].name,
	       fault_names[sweep->fault], sweep->nth, hit ? "" : ", which it has not",
	       strerror(-ret), error ? strerror(-error) : "success");
	return false;
}

/* Begins the sweep of a call. */
static bool begin(FIXTURE_DATA(fail_nth) *self, bool lasting, struct sweep *sweep, enum call call,
		  enum fault fault)
{
	*sweep = (struct sweep) {
		.ctl = self->ctl, .lasting = -1, .call = call, .fault = fault,
	};
	if (fault == NODES || (fault == MEMORY && lasting))
		sweep->lasting = self->lasting;
	return !choose_fault(fault);
}

/* Ends it. Returns true if the call has failed often enough. */
static bool end(struct __test_metadata *_metadata, const struct sweep *sweep)
{
	TH_LOG("%s, %s: %u of %u points fail, %u with another error", calls[sweep->call].name,
	       fault_names[sweep->fault], sweep->failed, sweep->nth - MISSES, sweep->others);
	return failed_enough(sweep);
}

/* How many sessions a file has. */
static long long num_sessions(int fd)
{
	return perf_fdinfo(fd, "panthor-perf-sessions");
}

/* A session counts, delivers and stops: nothing of what failed before is left. */
static int works(FIXTURE_DATA(fail_nth) *self, uint8_t block_set)
{
	struct drm_panthor_perf_cmd_setup setup = { .block_set = block_set };
	struct perf_session s;
	int ret;

	perf_masks_all(&setup);
	ret = perf_session_new(self->fd, &self->info, SLOTS, &s, &setup);
	if (ret)
		return ret;
	ret = perf_start(s.fd, s.handle, 1);
	if (!ret)
		ret = perf_sample(s.fd, s.handle, 2);
	if (!ret)
		ret = perf_stop(s.fd, s.handle, 3);
	if (!ret && (!perf_wait(&s, 2) || perf_insert(&s) != 2))
		ret = -ETIME;
	if (!ret && (perf_slot(&s, 0)->user_data != 2 || perf_slot(&s, 1)->user_data != 3 ||
		     perf_slot(&s, 0)->flags || perf_slot(&s, 1)->flags))
		ret = -EBADMSG;
	perf_session_end(&s);
	return ret;
}

FIXTURE_SETUP(fail_nth)
{
	self->ctl = -1;
	self->lasting = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	self->ctl = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (self->ctl < 0 || !perf_all_can_fail() || choose_fault(MEMORY))
		SKIP(return, "needs the kernel's fault injection, with stack traces");
	self->lasting = open("/proc/thread-self/make-it-fail", O_RDWR | O_CLOEXEC);
	ASSERT_LE(0, self->lasting);
	ASSERT_EQ(0, let_all_fail());
	ASSERT_EQ(0, perf_pm_write("control", variant->up ? "on" : "auto"));
	if (!variant->up)
		ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
}

FIXTURE_TEARDOWN(fail_nth)
{
	if (self->ctl >= 0)
		close(self->ctl);
	if (self->lasting >= 0)
		close(self->lasting);
	if (self->fd >= 0)
		close(self->fd);
	perf_pm_write("control", "auto");
}

TEST_F_TIMEOUT(fail_nth, open_file, 600)
{
	char link[32], path[64] = "";
	struct sweep sweep;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", self->fd);
	ASSERT_LT(0, readlink(link, path, sizeof(path) - 1));
	for (enum fault fault = MEMORY; fault < FAULTS; fault++) {
		ASSERT_TRUE(begin(self, variant->lasting, &sweep, OPEN, fault));
		while (more(&sweep)) {
			int fd;

			ASSERT_TRUE(arm(&sweep));
			fd = open(path, O_RDWR | O_CLOEXEC);
			EXPECT_TRUE(disarm(_metadata, &sweep, fd < 0 ? -errno : fd));
			if (fd >= 0) {
				EXPECT_EQ(0, num_sessions(fd));
				close(fd);
			}
		}
		EXPECT_TRUE(end(_metadata, &sweep));
	}
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_PRIMARY));
}

TEST_F_TIMEOUT(fail_nth, query, 600)
{
	struct sweep sweep;

	for (enum fault fault = MEMORY; fault < FAULTS; fault++) {
		ASSERT_TRUE(begin(self, variant->lasting, &sweep, QUERY, fault));
		while (more(&sweep)) {
			struct drm_panthor_perf_info info;
			uint32_t size = sizeof(info);
			int ret;

			memset(&info, 0xff, sizeof(info));
			ASSERT_TRUE(arm(&sweep));
			ret = perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, &info, &size);
			EXPECT_TRUE(disarm(_metadata, &sweep, ret));
			EXPECT_TRUE(ret || !memcmp(&info, &self->info, sizeof(info)));
		}
		EXPECT_TRUE(end(_metadata, &sweep));
	}
}

/* One SETUP of the sweep. Another set than the last session's: a SETUP that failed must not hold it. */
static void try_set_up(struct __test_metadata *_metadata, FIXTURE_DATA(fail_nth) *self, struct sweep *sweep)
{
	struct drm_panthor_perf_cmd_setup setup = { .block_set = sweep->nth % 3 };
	int fd = perf_open_device();
	uint64_t index = 0;
	struct perf_session s;
	int ret;

	ASSERT_LE(0, fd);
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_alloc(fd, &self->info, SLOTS, 0, &s, &setup));
	s.indices->insert_idx = MARK;
	s.indices->extract_idx = MARK;

	struct drm_panthor_perf_control c = {
		.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .handle = NO_HANDLE,
		.size = sizeof(setup), .pointer = (uintptr_t)&setup,
	};

	ASSERT_TRUE(arm(sweep));
	ret = perf_control(fd, &c);
	EXPECT_TRUE(disarm(_metadata, sweep, ret));
	if (!ret) {
		EXPECT_EQ(1, c.handle);
		EXPECT_EQ(1, num_sessions(fd));
	} else {
		EXPECT_EQ(NO_HANDLE, c.handle);
		/* The DRM core may be unable to copy back what has been done. */
		if (sweep->fault != ACCESS || !num_sessions(fd)) {
			EXPECT_EQ(0, num_sessions(fd));
			index = MARK;
		}
	}
	EXPECT_EQ(index, s.indices->insert_idx);
	EXPECT_EQ(index, s.indices->extract_idx);
	/* A session that was made has all that it needs. */
	if (!ret) {
		EXPECT_EQ(0, perf_start(fd, c.handle, 0));
		EXPECT_EQ(0, perf_sample(fd, c.handle, 0));
		EXPECT_EQ(0, perf_stop(fd, c.handle, 0));
	}
	perf_session_free(&s);
	close(fd);
}

/*
 * A session of another file comes first, which makes what the device has from its
 * first session on, so that all tries are alike.
 */
TEST_F_TIMEOUT(fail_nth, set_up, 600)
{
	struct drm_panthor_perf_cmd_setup held_setup = {};
	struct perf_session held;
	struct sweep sweep;

	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &held, &held_setup));
	for (enum fault fault = MEMORY; fault < FAULTS; fault++) {
		ASSERT_TRUE(begin(self, variant->lasting, &sweep, SETUP, fault));
		while (more(&sweep))
			try_set_up(_metadata, self, &sweep);
		EXPECT_TRUE(end(_metadata, &sweep));
	}
	perf_session_end(&held);
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_SECONDARY));
}

/* Firmware rings of the device, or -1 if this kernel's panthor does not list its objects. */
static int num_rings(void)
{
	char line[512];
	int count = 0;
	glob_t found;
	FILE *file;

	if (glob("/sys/kernel/debug/dri/*/gems", 0, NULL, &found))
		return -1;
	file = fopen(found.gl_pathv[0], "re");
	globfree(&found);
	while (file && fgets(line, sizeof(line), file))
		count += !!strstr(line, "Performance counter ring");
	if (file)
		fclose(file);
	return count;
}

/*
 * The ring that firmware writes to is allocated by the first SETUP of a device that gets so far.
 * A device that was bound anew has none.
 */
TEST_F_TIMEOUT(fail_nth, first_set_up, 600)
{
	struct sweep sweep;
	char device[512];

	ASSERT_EQ(0, perf_sysfs(device, sizeof(device)));
	close(self->fd);
	ASSERT_EQ(0, perf_bind(device, "unbind"));
	ASSERT_EQ(0, perf_bind(device, "bind"));
	self->fd = perf_open_counters(&self->info);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, perf_pm_write("control", variant->up ? "on" : "auto"));
	ASSERT_TRUE(begin(self, variant->lasting, &sweep, SETUP, MEMORY));
	while (more(&sweep))
		try_set_up(_metadata, self, &sweep);
	EXPECT_TRUE(end(_metadata, &sweep));
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_PRIMARY));
	/* What was allocated before a failure has been freed. */
	if (num_rings() >= 0)
		EXPECT_EQ(1, num_rings());
}

static int command(int fd, uint32_t handle, enum call call)
{
	switch (call) {
	case START: return perf_start(fd, handle, START);
	case SAMPLE: return perf_sample(fd, handle, SAMPLE);
	case STOP: return perf_stop(fd, handle, STOP);
	default: return perf_teardown(fd, handle);
	}
}

/* The sample of STOP is there, and so nothing comes any more. */
static bool stopped(struct perf_session *s)
{
	uint64_t insert = perf_insert(s);

	return insert && perf_slot(s, insert - 1)->user_data == STOP;
}

/* A command is done or is not done, which what comes afterwards tells, and nothing in between. */
static void check_command(struct __test_metadata *_metadata, FIXTURE_DATA(fail_nth) *self,
			  struct sweep *sweep)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	enum call call = sweep->call;
	int fd = perf_open_device();
	uint64_t samples = 0;
	struct perf_session s;
	bool done = false;
	int ret;

	ASSERT_LE(0, fd);
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &s, &setup));
	if (call != START)
		ASSERT_EQ(0, perf_start(fd, s.handle, 0));

	ASSERT_TRUE(arm(sweep));
	ret = command(fd, s.handle, call);
	EXPECT_TRUE(disarm(_metadata, sweep, ret));

	switch (call) {
	case START:
		done = !perf_sample(fd, s.handle, SAMPLE);
		samples = done ? 2 : 0;
		break;
	case STOP:
		done = perf_sample(fd, s.handle, SAMPLE) == -EINVAL;
		samples = done ? 1 : 2;
		break;
	case TEARDOWN:
		done = !num_sessions(fd);
		samples = !done;
		break;
	default:
		break;
	}
	EXPECT_EQ(call == TEARDOWN && done ? -ENOENT : 0, perf_stop(fd, s.handle, STOP));
	if (call == SAMPLE) {
		EXPECT_TRUE(perf_until(stopped(&s)));
		done = perf_insert(&s) == 2;
		samples = 1 + done;
	}
	EXPECT_TRUE(!samples || perf_until(stopped(&s)));
	EXPECT_EQ(samples, perf_insert(&s));
	EXPECT_TRUE(ret || done);
	perf_session_free(&s);
	close(fd);
}

TEST_F_TIMEOUT(fail_nth, commands, 600)
{
	struct sweep sweep;

	for (enum call call = START; call <= TEARDOWN; call++) {
		for (enum fault fault = MEMORY; fault < FAULTS; fault++) {
			ASSERT_TRUE(begin(self, variant->lasting, &sweep, call, fault));
			while (more(&sweep))
				check_command(_metadata, self, &sweep);
			EXPECT_TRUE(end(_metadata, &sweep));
		}
	}
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_TERTIARY));
}

/* An event is there, or nothing of it is. As with set_up, a session keeps what the device has. */
TEST_F_TIMEOUT(fail_nth, open_event, 600)
{
	uint64_t config = PMU_CONFIG(DRM_PANTHOR_PERF_BLOCK_TILER, 4, 0), count;
	struct drm_panthor_perf_cmd_setup setup = {};
	struct perf_session held;
	struct sweep sweep;
	struct pmu pmu;
	int other;

	if (pmu_find(&pmu))
		SKIP(return, "the kernel has no PMU for it");
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &held, &setup));
	/* Beside one that counts it starts no counters, but waits for a sample. */
	for (int beside = 0; beside < 2; beside++) {
		other = beside ? pmu_open(&pmu, PMU_GPU_TIME) : -1;
		for (enum fault fault = MEMORY; fault < FAULTS; fault++) {
			ASSERT_TRUE(begin(self, variant->lasting, &sweep, EVENT, fault));
			while (more(&sweep)) {
				int fd;

				ASSERT_TRUE(arm(&sweep));
				fd = pmu_open(&pmu, config);
				EXPECT_TRUE(disarm(_metadata, &sweep, fd));
				if (fd < 0)
					continue;
				EXPECT_EQ(0, pmu_read(fd, &count));
				EXPECT_EQ(0, count);
				close(fd);
			}
			EXPECT_TRUE(end(_metadata, &sweep));
		}
		if (other >= 0)
			close(other);
	}
	perf_session_end(&held);
	EXPECT_EQ(0, works(self, DRM_PANTHOR_PERF_SET_SECONDARY));
}

TEST_HARNESS_MAIN
