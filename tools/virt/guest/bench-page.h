/* SPDX-License-Identifier: MIT */
/* The bench page of the virtual Mali, for programs that make things happen there. */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "mali-csf-bench-regs.h"

#include "../../testing/selftests/drivers/gpu/panthor/perf.h"

static volatile uint32_t *perf_bench __attribute__((unused));

/* Platform devices are called by their address. */
static inline bool perf_bench_open(void)
{
	static const char devices[] = "/sys/bus/platform/devices";
	unsigned long long addr = 0;
	struct dirent *e;
	DIR *d = opendir(devices);

	if (!d)
		return false;
	while (!addr && (e = readdir(d))) {
		char path[512], compatible[64];

		snprintf(path, sizeof(path), "%s/%s/of_node/compatible", devices, e->d_name);
		if (!perf_read_file(path, compatible, sizeof(compatible)) &&
		    !strcmp(compatible, MALI_BENCH_COMPATIBLE))
			addr = strtoull(e->d_name, NULL, 16);
	}
	closedir(d);
	if (!addr)
		return false;

	int fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);

	if (fd < 0)
		return false;

	void *map = mmap(NULL, 0x10000, PROT_READ | PROT_WRITE, MAP_SHARED, fd, addr);

	close(fd);
	if (map == MAP_FAILED)
		return false;
	perf_bench = map;
	if (perf_bench[MALI_BENCH_ID / 4] == MALI_BENCH_ID_VALUE &&
	    perf_bench[MALI_BENCH_VERSION / 4] == MALI_BENCH_VERSION_VALUE)
		return true;
	munmap(map, 0x10000);
	perf_bench = NULL;
	return false;
}

static inline uint32_t bench_get(unsigned int reg)
{
	return perf_bench[reg / 4];
}

static inline uint64_t bench_get64(unsigned int reg)
{
	uint64_t low = perf_bench[reg / 4];

	return low | (uint64_t)perf_bench[reg / 4 + 1] << 32;
}

static inline void bench_set(unsigned int reg, uint32_t value)
{
	perf_bench[reg / 4] = value;
}

static inline void bench_set64(unsigned int reg, uint64_t value)
{
	perf_bench[reg / 4] = value;
	perf_bench[reg / 4 + 1] = value >> 32;
}

#define bench_reg_get(NAME)	bench_get(MALI_BENCH_ ## NAME)
#define bench_reg_get64(NAME)	bench_get64(MALI_BENCH_ ## NAME)
#define bench_reg_set(NAME, v)	bench_set(MALI_BENCH_ ## NAME, v)
#define bench_reg_set64(NAME, v) bench_set64(MALI_BENCH_ ## NAME, v)

/* Which counter EMITTED, GENERATED and ADD are about. The page numbers shader cores by their position. */
static inline void bench_choose(uint64_t shader_present, uint32_t type, uint32_t index, uint32_t counter)
{
	if (type == DRM_PANTHOR_PERF_BLOCK_SHADER) {
		while (index--)
			shader_present &= shader_present - 1;
		index = __builtin_ctzll(shader_present);
	}
	bench_reg_set(TYPE, type);
	bench_reg_set(INDEX, index);
	bench_reg_set(COUNTER, counter);
}

/* Everything that a test may have set, undone. */
static inline void perf_bench_calm(void)
{
	if (!perf_bench)
		return;
	bench_reg_set(STORM, 0);
	bench_reg_set(PROTM, 0);
	bench_reg_set(SLEEP, 0);
	bench_reg_set64(CORES_OFF, 0);
	bench_reg_set(CORES_HOLD, 0);
	bench_reg_set(ACK_DELAY, 0);
	bench_reg_set(DROP_SAMPLES, 0);
	bench_reg_set(DROP_ACKS, 0);
	bench_reg_set(DROP_SAMPLE_ACKS, 0);
	bench_reg_set(RING_FULL, 0);
	bench_reg_set(INSERT_SKEW_ON, 0);
	bench_reg_set(BOOT_FAIL, 0);
	bench_reg_set(CS_UNRECOVERABLE, 0);
	bench_reg_set(ACTIVITY, 0);
	for (unsigned int i = 0; i < MALI_FAULTS; i++)
		bench_set(MALI_BENCH_FAULTS_FIRST + 4 * i, 0);
}

#endif
