// SPDX-License-Identifier: MIT
/*
 * panthor-perf info --debug: what somebody who has no such board needs to know of it. Nothing of
 * programs or users is in it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/utsname.h>

#include <xf86drm.h>

#include "commands.h"
#include "common.h"
#include "panthor.h"

#define KLOG_READ_ALL		3
#define KLOG_SIZE_BUFFER	10

/* A queried structure has no more words; of a longer one, the first. */
#define MAX_WORDS 64

/* Long enough for a block to have counted something if the GPU works meanwhile. */
#define SAMPLE_NS 100000000

#define SAMPLE_TIMEOUT_MS 5000

/*
 * Of the driver's lines in the kernel's log: GPU, features, firmware, and what counters found wrong.
 * 6.12 says "mali-unknown id" and "CSF FW v2.2.0" where 7.3 says "Mali-G715 id" and "CSF FW using interface v2.2.0".
 */
static const char *const log_lines[] = {
	"ali-", "Features:", "shader_present", "CSF FW ", "git sha", "clock rate", "ounters",
};

static void print_kernel(void)
{
	struct utsname name;

	if (!uname(&name))
		printf("kernel: %s %s %s %s\n", name.sysname, name.release, name.version, name.machine);
}

static bool wanted(const char *line)
{
	size_t i;

	if (!strstr(line, "panthor"))
		return false;
	for (i = 0; i < sizeof(log_lines) / sizeof(log_lines[0]); i++)
		if (strstr(line, log_lines[i]))
			return true;
	return false;
}

static void print_log(void)
{
	int size = klogctl(KLOG_SIZE_BUFFER, NULL, 0), length;
	char *log = size > 0 ? malloc(size + 1) : NULL, *line, *rest;

	length = log ? klogctl(KLOG_READ_ALL, log, size) : -1;
	if (length < 0) {
		printf("log: %s; run as root to read it\n", strerror(errno));
		free(log);
		return;
	}
	log[length] = '\0';
	for (rest = log; (line = strsep(&rest, "\n"));)
		if (wanted(line))
			printf("log: %s\n", line);
	free(log);
}

/* A structure of PANTHOR_IOCTL_QUERY as words of 32 bits, as many as this kernel has. */
static void print_query(int fd, const char *name, uint32_t type)
{
	uint32_t words[MAX_WORDS] = {};
	struct panthor_query query = { .type = type };
	unsigned int i;
	int ret;

	/* Without a pointer it tells the size. */
	ret = drmIoctl(fd, PANTHOR_IOCTL_QUERY, &query);
	if (!ret) {
		if (query.size > sizeof(words))
			query.size = sizeof(words);
		query.pointer = (uintptr_t)words;
		ret = drmIoctl(fd, PANTHOR_IOCTL_QUERY, &query);
	}
	if (ret) {
		printf("%s: %s\n", name, strerror(errno));
		return;
	}
	printf("%s:", name);
	for (i = 0; i < query.size / sizeof(words[0]); i++)
		printf(" %08" PRIx32, words[i]);
	putchar('\n');
}

static void print_block(const struct pperf_block *block, unsigned int values)
{
	unsigned int i;

	printf("block: %s %u states %#x clock %u:", pperf_block_name(block->type), block->index, block->states,
	       block->clock);
	for (i = 0; i < values; i++)
		if (block->values[i])
			printf(" %u=%#" PRIx64, i, block->values[i]);
	putchar('\n');
}

static void print_sample(const struct pperf_sample *sample, unsigned int values)
{
	unsigned int i;

	printf("sample: %" PRIu64 " to %" PRIu64 " ns, flags %#" PRIx32 ", set %u, cycles %" PRIu64 " %" PRIu64
	       " %" PRIu64 "\n", sample->start_ns, sample->end_ns, sample->flags, sample->set, sample->cycles[0],
	       sample->cycles[1], sample->cycles[2]);
	for (i = 0; i < sample->num_blocks; i++)
		print_block(pperf_sample_block_at(sample, i), values);
}

/* What the driver says in debugfs of where cycles come from, and by which clock the core group counts. */
static void print_cycles(const struct pperf_gpu_info *info)
{
	char device[PATH_MAX], path[PATH_MAX + 64], line[256];
	FILE *file;

	if (!info->sysfs || !realpath(info->sysfs, device))
		return;
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%s/perf", strrchr(device, '/') + 1);
	file = fopen(path, "re");
	if (!file) {
		printf("cycles: %s: %s; run as root, with debugfs mounted, to read it\n", path, strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "cycles:", strlen("cycles:")) || !strncmp(line, "coregroup:", strlen("coregroup:")))
			fputs(line, stdout);
	fclose(file);
}

/* The first sample of a session that counts everything. */
static enum pperf_error first_sample(struct pperf_gpu *gpu)
{
	struct pperf_session_options options = { .size = sizeof(options), .period_ns = SAMPLE_NS };
	const struct pperf_gpu_info *info = pperf_gpu_info(gpu);
	const struct pperf_sample *sample = NULL;
	struct pperf_session *session;
	enum pperf_error error;
	bool ready = false;
	unsigned int type, i;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (i = 0; i < info->values_per_block; i++)
			options.masks.bits[type][i / 64] |= 1ull << (i % 64);
	error = pperf_session_open(gpu, &options, &session);
	if (error)
		return error;
	error = pperf_session_start(session, 0);
	if (!error)
		error = pperf_session_wait(session, SAMPLE_TIMEOUT_MS, &ready);
	if (!error && ready)
		error = pperf_session_next(session, &sample);
	if (sample)
		print_sample(sample, info->values_per_block);
	else if (!error)
		printf("sample: none within %d ms\n", SAMPLE_TIMEOUT_MS);
	print_cycles(info);
	pperf_session_close(session);
	return error;
}

int debug_info(const char *device)
{
	enum pperf_error error;
	struct pperf_gpu *gpu;
	int status = STATUS_OK;

	printf("panthor-perf: %s\n", PANTHOR_PERF_VERSION);
	print_kernel();
	print_log();
	error = pperf_gpu_open(device, &gpu);
	if (error)
		return complain_of(error);
	print_query(pperf_gpu_fd(gpu), "gpu", PANTHOR_QUERY_GPU);
	print_query(pperf_gpu_fd(gpu), "csif", PANTHOR_QUERY_CSIF);
	print_query(pperf_gpu_fd(gpu), "perf", DRM_PANTHOR_DEV_QUERY_PERF_INFO);
	error = first_sample(gpu);
	if (error)
		status = complain_of(error);
	pperf_gpu_close(gpu);
	return status;
}
