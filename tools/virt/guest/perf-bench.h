/* SPDX-License-Identifier: MIT */
/* What the programs share that measure performance counters: sessions with all counters, commands. */
#ifndef PANTHOR_GUEST_PERF_BENCH_H
#define PANTHOR_GUEST_PERF_BENCH_H

#include <pthread.h>

#include "bench-page.h"
#include "die.h"

#define MAX_SESSIONS	64
/* Firmware answers so late that all sessions have asked by then. */
#define START_LATE_NS	50000000

static struct drm_panthor_perf_info info;
static struct perf_session sessions[MAX_SESSIONS];
static int fd;
/* For a session more than a file can have. */
static int other_fd __attribute__((unused));

static inline int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* A session that is not started. */
static inline struct perf_session *set_up_session(unsigned int i, uint64_t period, uint32_t slots)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = period };
	struct perf_session *s = &sessions[i];
	int ret;

	perf_masks_all(&setup);
	ret = perf_session_new(fd, &info, slots, s, &setup);
	if (ret)
		die("session %u: %s", i, strerror(-ret));
	return s;
}

static inline void start_session(struct perf_session *s)
{
	int ret = perf_start(s->fd, s->handle, 0);

	if (ret)
		die("START: %s", strerror(-ret));
}

static inline struct perf_session *new_session(unsigned int i, uint64_t period, uint32_t slots)
{
	struct perf_session *s = set_up_session(i, period, slots);

	start_session(s);
	return s;
}

/* The command that only answers how large its struct is. */
static inline void do_nothing(void)
{
	struct drm_panthor_perf_control c = { .cmd = DRM_PANTHOR_PERF_COMMAND_SAMPLE };

	if (perf_control(fd, &c))
		die("the empty ioctl fails");
}

static inline void one_sample(struct perf_session *s)
{
	if (perf_sample(fd, s->handle, 0) || !perf_wait(s, s->read + 1))
		die("a sample does not come");
	perf_consume(s, 1);
}

/* Opens the device, and keeps the GPU's power on. */
static inline struct drm_panthor_gpu_info open_gpu(void)
{
	struct drm_panthor_gpu_info gpu = {};
	uint32_t size = sizeof(gpu);

	fd = perf_open_counters(&info);
	if (fd < 0 || perf_query(fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &size))
		die("there are no performance counters");
	if (perf_pm_write("control", "on"))
		die("the GPU's power cannot be kept on");
	return gpu;
}

/*
 * All blocks count, and shader cores keep their power; or the GPU is idle. Needs the bench page, and
 * power that is kept on.
 */
static inline void set_busy(bool busy)
{
	bench_reg_set(CORES_HOLD, busy);
	bench_reg_set(ACTIVITY, busy);
	if (!perf_until(!!bench_reg_get64(SHADER_READY) == busy))
		die("shader cores do not %s power", busy ? "get" : "lose");
}

static inline void *start_it(void *session)
{
	start_session(session);
	return NULL;
}

static inline pthread_t start_in_thread(struct perf_session *s)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, start_it, s))
		die("there is no thread");
	/* Until it waits for firmware. */
	usleep(100);
	return thread;
}

/*
 * Starts sessions whose samples are due at the same times. START waits for a
 * request of firmware's; those that come while one is in flight wait for the
 * next one, all for the same. Here firmware is late with the one before it,
 * which is that of a session more, of another file: a file has no more than 64.
 */
static inline void start_together(unsigned int count)
{
	pthread_t threads[MAX_SESSIONS], first;
	struct perf_session before;
	struct drm_panthor_perf_cmd_setup setup = {};

	perf_masks_all(&setup);
	if (perf_session_new(other_fd, &info, 2, &before, &setup))
		die("a session more cannot be set up");
	bench_reg_set(ACK_DELAY, START_LATE_NS);
	first = start_in_thread(&before);
	for (unsigned int i = 0; i < count; i++)
		threads[i] = start_in_thread(&sessions[i]);
	for (unsigned int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	pthread_join(first, NULL);
	bench_reg_set(ACK_DELAY, 0);
	perf_session_end(&before);
}

#endif /* PANTHOR_GUEST_PERF_BENCH_H */
