/* SPDX-License-Identifier: MIT */
/*
 * The kernel's selftests on the virtual Mali: a file of theirs comes behind this one, and behind that what
 * needs the bench page, as more tests of the same fixtures. Everything is calm when one begins.
 */
#define _GNU_SOURCE
#include "../../../kselftest_harness.h"

#define PERF_BED		true
#define perf_has_work()		true
#define perf_work(on)		bench_reg_set(ACTIVITY, on)
/* In protected mode firmware answers nothing. It is not taken while the GPU is reset, and does not run. */
#define perf_hold_back()	perf_until((bench_reg_set(PROTM, 1), bench_reg_get(GPU_STATUS) & 1u << 7))
#define perf_let_go()		bench_reg_set(PROTM, 0)
#define perf_at_rest()		perf_until(bench_reg_get(ENABLED) == 0)

#include "../bench-page.h"

/* What a file's tests have besides, before each of them. */
static bool bed_prepare(const struct drm_panthor_gpu_info *gpu);

/* Takes the place of perf_open_counters(), which each fixture calls first. */
static inline int bed_open_counters(struct drm_panthor_perf_info *info)
{
	struct drm_panthor_gpu_info gpu;
	uint32_t size = sizeof(gpu);
	int fd = perf_open_counters(info);

	if (fd < 0)
		return fd;
	if (!perf_bench_open())
		return -1;
	perf_bench_calm();
	if (perf_query(fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &size) || !bed_prepare(&gpu))
		return -1;
	return fd;
}

#define perf_open_counters	bed_open_counters

/* Lines that have this, of those of the kernel's log (O_NONBLOCK) that have not been read. */
static inline int bed_logged(int log, const char *text)
{
	char line[8192];
	int count = 0;
	ssize_t n;

	while ((n = read(log, line, sizeof(line) - 1)) > 0) {
		line[n] = 0;
		count += !!strstr(line, text);
	}
	return count;
}

/* Nor is anything of it left for who comes after them. */
__attribute__((destructor)) static void bed_end(void)
{
	if (perf_bench_open())
		perf_bench_calm();
}
