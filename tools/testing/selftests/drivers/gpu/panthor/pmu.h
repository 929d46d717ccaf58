/* SPDX-License-Identifier: MIT */
/*
 * What the tests share that count with perf: the PMU of the GPU and its events.
 * As in perf.h, functions answer 0 or a negative error number.
 */
#ifndef PANTHOR_SELFTEST_PMU_H
#define PANTHOR_SELFTEST_PMU_H

#include <linux/perf_event.h>

#include "perf.h"

#define PMU_DEVICES	"/sys/bus/event_source/devices"
/* The most events that a group is opened with here. */
#define PMU_GROUP	16

/* Events that the kernel makes, of block type 0. */
enum pmu_made {
	PMU_GPU_TIME = 1,
	PMU_GPU_ACTIVE_TIME,
	PMU_GPU_CYCLES,
	PMU_COREGROUP_CYCLES,
	PMU_SHADER_CYCLES,
	PMU_CYCLES_TIMES_CORES,
	PMU_CYCLES_TIMES_SLICES,
	PMU_EXTERNAL_READ_BYTES,
	PMU_EXTERNAL_WRITE_BYTES,
	PMU_FIRMWARE_SAMPLES,
	PMU_LOST,
	PMU_MADE_END
};

static const char *const pmu_made_names[PMU_MADE_END] __attribute__((unused)) = {
	[PMU_GPU_TIME] = "gpu_time",
	[PMU_GPU_ACTIVE_TIME] = "gpu_active_time",
	[PMU_GPU_CYCLES] = "gpu_cycles",
	[PMU_COREGROUP_CYCLES] = "coregroup_cycles",
	[PMU_SHADER_CYCLES] = "shader_cycles",
	[PMU_CYCLES_TIMES_CORES] = "gpu_cycles_times_cores",
	[PMU_CYCLES_TIMES_SLICES] = "gpu_cycles_times_slices",
	[PMU_EXTERNAL_READ_BYTES] = "external_read_bytes",
	[PMU_EXTERNAL_WRITE_BYTES] = "external_write_bytes",
	[PMU_FIRMWARE_SAMPLES] = "firmware_samples",
	[PMU_LOST] = "lost",
};

/* Event of one counter: of the nth block of a type, from 1, or with 0 of all of them together. */
#define PMU_CONFIG(type, counter, block)	((uint64_t)(type) << 8 | (counter) | (block) << 16)

/**
 * struct pmu - the PMU of a GPU
 * @name: its name
 * @dir: its directory in sysfs
 * @type: what perf_event_attr::type has to be
 * @cpu: the CPU that its events are opened on
 */
struct pmu {
	char name[64];
	char dir[128];
	uint32_t type;
	int cpu;
};

static inline int pmu_read_file(const struct pmu *pmu, const char *file, char *text, size_t len)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", pmu->dir, file);
	return perf_read_file(path, text, len);
}

static inline int pmu_write_file(const struct pmu *pmu, const char *file, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", pmu->dir, file);
	return perf_write_file(path, text);
}

/* The PMU's CPU can be another one after a CPU has gone. */
static inline int pmu_find_cpu(struct pmu *pmu)
{
	char text[64];
	int ret = pmu_read_file(pmu, "cpumask", text, sizeof(text));

	if (!ret)
		pmu->cpu = atoi(text);
	return ret;
}

/* The first PMU whose name is panthor_ and an address. */
static inline int pmu_find(struct pmu *pmu)
{
	static const char prefix[] = "panthor_";
	DIR *d = opendir(PMU_DEVICES);
	int ret = -ENOENT;
	struct dirent *e;
	char text[64];

	if (!d)
		return -errno;
	while (ret && (e = readdir(d))) {
		char *end;

		if (strncmp(e->d_name, prefix, strlen(prefix)))
			continue;
		strtoull(e->d_name + strlen(prefix), &end, 16);
		if (*end || strlen(e->d_name) >= sizeof(pmu->name))
			continue;
		strcpy(pmu->name, e->d_name);
		ret = 0;
	}
	closedir(d);
	if (ret)
		return ret;
	snprintf(pmu->dir, sizeof(pmu->dir), PMU_DEVICES "/%s", pmu->name);
	ret = pmu_read_file(pmu, "type", text, sizeof(text));
	if (ret)
		return ret;
	pmu->type = strtoul(text, NULL, 10);
	return pmu_find_cpu(pmu);
}

static inline struct perf_event_attr pmu_attr(const struct pmu *pmu, uint64_t config)
{
	return (struct perf_event_attr) {
		.size = sizeof(struct perf_event_attr),
		.type = pmu->type,
		.config = config,
	};
}

/* An event that is none of the GPU, and may be in a group with those that are; @freq in Hz or 0. */
static inline struct perf_event_attr pmu_clock_attr(uint32_t freq)
{
	return (struct perf_event_attr) {
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = !!freq,
		.sample_freq = freq,
	};
}

static inline int pmu_open_once(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
				unsigned long flags)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Again if firmware does not answer in time: the machine may have much else to do. */
static inline int pmu_open_attr(struct perf_event_attr *attr, pid_t pid, int cpu, int group,
				unsigned long flags)
{
	int fd;

	(void)perf_until((fd = pmu_open_once(attr, pid, cpu, group, flags)) != -ETIMEDOUT);
	return fd;
}

/* An event that counts, or a negative error number. */
static inline int pmu_open(const struct pmu *pmu, uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(pmu, config);

	return pmu_open_attr(&attr, -1, pmu->cpu, -1, 0);
}

/* The same, that does not count until it is enabled. */
static inline int pmu_open_disabled(const struct pmu *pmu, uint64_t config)
{
	struct perf_event_attr attr = pmu_attr(pmu, config);

	attr.disabled = 1;
	return pmu_open_attr(&attr, -1, pmu->cpu, -1, 0);
}

/* 0, -EIO if there is less than a count to read, or the error of read(). */
static inline int pmu_read(int fd, uint64_t *count)
{
	ssize_t n = read(fd, count, sizeof(*count));

	return n < 0 ? -errno : n == sizeof(*count) ? 0 : -EIO;
}

/* Count of an event that can be read. */
static inline uint64_t pmu_count(int fd)
{
	uint64_t count;

	if (!pmu_read(fd, &count))
		return count;
	fprintf(stderr, "event %d cannot be read\n", fd);
	return 0;
}

static inline int pmu_enable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
}

static inline int pmu_disable(int fd)
{
	return ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

/**
 * struct pmu_group - events that are read together
 * @fds: each event, the leader first
 * @count: how many there are
 */
struct pmu_group {
	int fds[PMU_GROUP];
	unsigned int count;
};

static inline void pmu_group_close(struct pmu_group *g)
{
	while (g->count)
		close(g->fds[--g->count]);
}

static inline int pmu_group_open(const struct pmu *pmu, const uint64_t *configs, unsigned int count,
				 struct pmu_group *g)
{
	for (g->count = 0; g->count < count; g->count++) {
		struct perf_event_attr attr = pmu_attr(pmu, configs[g->count]);
		int fd;

		attr.read_format = PERF_FORMAT_GROUP;
		fd = pmu_open_attr(&attr, -1, pmu->cpu, g->count ? g->fds[0] : -1, 0);
		if (fd < 0) {
			pmu_group_close(g);
			return fd;
		}
		g->fds[g->count] = fd;
	}
	return 0;
}

/* All counts, by one read. */
static inline int pmu_group_read(const struct pmu_group *g, uint64_t *counts)
{
	uint64_t values[1 + PMU_GROUP];
	ssize_t n = read(g->fds[0], values, sizeof(values));

	if (n < 0)
		return -errno;
	if (n != (ssize_t)((1 + g->count) * sizeof(*values)) || values[0] != g->count)
		return -EIO;
	memcpy(counts, values + 1, g->count * sizeof(*counts));
	return 0;
}

#endif
