// SPDX-License-Identifier: MIT
/* GPUs that panthor drives, and what they can count. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <xf86drm.h>

#include "device.h"

#define RENDER_NODES "/dev/dri/renderD*"
/* Made by Arm's own driver, which board vendors ship. */
#define KBASE_NODE "/dev/mali0"

/* Read a query's answer, as much as fits. Returns the size that the kernel has, or -errno. */
static int query(int fd, unsigned int type, void *answer, size_t size)
{
	struct panthor_query q = { .type = type };
	size_t known;

	if (drmIoctl(fd, PANTHOR_IOCTL_QUERY, &q))
		return -errno;

	known = q.size;
	q.size = known < size ? known : size;
	q.pointer = (uintptr_t)answer;
	memset(answer, 0, size);
	if (drmIoctl(fd, PANTHOR_IOCTL_QUERY, &q))
		return -errno;
	return known;
}

/* Return true if panthor drives the node. */
static bool is_panthor(int fd, int *major, int *minor)
{
	drmVersion *version = drmGetVersion(fd);
	bool found;

	if (!version)
		return false;

	found = !strcmp(version->name, "panthor");
	*major = version->version_major;
	*minor = version->version_minor;
	drmFreeVersion(version);
	return found;
}

/*
 * Call use() with an open file, which it then owns, of each render node of panthor until it returns false. Reads
 * only /dev/dri: containers often have no /sys. Sets *denied if a node cannot be opened for lack of permission.
 */
static void each_panthor(bool (*use)(void *context, const char *node, int fd), void *context,
			 bool *denied)
{
	int fd, major, minor;
	bool more = true;
	glob_t nodes;
	size_t i;

	*denied = false;
	if (glob(RENDER_NODES, 0, NULL, &nodes))
		return;
	for (i = 0; i < nodes.gl_pathc && more; i++) {
		fd = open(nodes.gl_pathv[i], O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			*denied |= errno == EACCES || errno == EPERM;
			continue;
		}
		if (is_panthor(fd, &major, &minor))
			more = use(context, nodes.gl_pathv[i], fd);
		else
			close(fd);
	}
	globfree(&nodes);
}

struct node_list {
	char **nodes;
	size_t count;
	bool no_memory;
};

static bool list_node(void *context, const char *node, int fd)
{
	struct node_list *list = context;
	char **nodes = reallocarray(list->nodes, list->count + 1, sizeof(*nodes));

	close(fd);
	list->no_memory = !nodes;
	if (!nodes)
		return false;
	list->nodes = nodes;
	nodes[list->count] = strdup(node);
	list->no_memory = !nodes[list->count];
	list->count += !list->no_memory;
	return !list->no_memory;
}

enum pperf_error pperf_gpu_nodes(char ***nodes, size_t *count)
{
	struct node_list list = {};
	bool denied;

	each_panthor(list_node, &list, &denied);
	if (list.no_memory) {
		pperf_gpu_nodes_free(list.nodes, list.count);
		return pperf_no_memory();
	}
	*nodes = list.nodes;
	*count = list.count;
	return PPERF_OK;
}

void pperf_gpu_nodes_free(char **nodes, size_t count)
{
	while (count)
		free(nodes[--count]);
	free(nodes);
}

static bool take_node(void *context, const char *node, int fd)
{
	struct pperf_gpu *gpu = context;

	gpu->fd = fd;
	gpu->node = strdup(node);
	return false;
}

static enum pperf_error open_first(struct pperf_gpu *gpu)
{
	bool denied;

	each_panthor(take_node, gpu, &denied);
	if (gpu->fd >= 0)
		return gpu->node ? PPERF_OK : pperf_no_memory();
	if (denied)
		return pperf_fail(PPERF_ERROR_PERMISSION, "No permission to open a render node in /dev/dri. Join its group "
				  "(usually \"render\"), or run as root.");
	if (!access(KBASE_NODE, F_OK))
		return pperf_fail(PPERF_ERROR_NO_DEVICE, "No Mali GPU driven by panthor found: " KBASE_NODE " belongs to "
				  "Arm's own driver, which vendor kernels have. Boot a kernel with panthor.");
	return pperf_fail(PPERF_ERROR_NO_DEVICE, "No Mali GPU driven by panthor found. Check `lsmod | grep panthor`, "
			  "or run `panthor-perf doctor`.");
}

static enum pperf_error open_node(struct pperf_gpu *gpu, const char *node)
{
	int major, minor;

	gpu->fd = open(node, O_RDWR | O_CLOEXEC);
	if (gpu->fd < 0)
		return pperf_fail(errno == EACCES || errno == EPERM ? PPERF_ERROR_PERMISSION :
				  PPERF_ERROR_NO_DEVICE, "%s: %s", node, strerror(errno));
	if (!is_panthor(gpu->fd, &major, &minor))
		return pperf_fail(PPERF_ERROR_NO_DEVICE, "%s is not a GPU driven by panthor", node);
	gpu->node = strdup(node);
	return gpu->node ? PPERF_OK : pperf_no_memory();
}

/* Duplicate the program's descriptor. */
static enum pperf_error take_fd(struct pperf_gpu *gpu, int fd)
{
	int major, minor;

	gpu->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (gpu->fd < 0)
		return pperf_fail(errno == EBADF ? PPERF_ERROR_INVALID : PPERF_ERROR_SYSTEM, "file descriptor %d: %s", fd,
				  strerror(errno));
	if (!is_panthor(gpu->fd, &major, &minor))
		return pperf_fail(PPERF_ERROR_NO_DEVICE, "file descriptor %d is not a GPU driven by panthor", fd);
	/* NULL without /sys, as in a container. */
	gpu->node = drmGetDeviceNameFromFd2(gpu->fd);
	return PPERF_OK;
}

const char *pperf_gpu_label(const struct pperf_gpu *gpu)
{
	return gpu->node ? gpu->node : "the GPU";
}

/* Find the device's directory in sysfs, if /sys is mounted. */
static void find_sysfs(struct pperf_gpu *gpu)
{
	char path[64];
	struct stat st;

	if (fstat(gpu->fd, &st))
		return;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(st.st_rdev), minor(st.st_rdev));
	gpu->sysfs = realpath(path, NULL);
	gpu->info.sysfs = gpu->sysfs;
}

static void fill_info(struct pperf_gpu_info *info, const struct panthor_gpu *gpu,
		      const struct drm_panthor_perf_info *perf, size_t perf_size)
{
	unsigned int type;

	info->gpu_id = gpu->gpu_id;
	info->shader_present = gpu->shader_present;
	info->name = "unknown Mali";
	pperf_product_by_id(gpu->gpu_id, &info->name, &info->layout);

	info->cores = perf->shader_blocks;
	info->slices = perf->memsys_blocks;
	/* L2_FEATURES has the logarithm of the width in bits. */
	info->bus_bytes = (1ull << ((gpu->l2_features >> 24) & 0x1f)) / 8;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		info->blocks[type] = pperf_interface_blocks(perf, type);
	info->values_per_block = perf->counters_per_block;
	info->sample_header_size = perf->sample_header_size;
	info->block_header_size = perf->block_header_size;
	info->sample_size = perf->sample_size;
	info->has_states = perf->flags & DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT;
	info->clocks = perf->supported_clocks;
	info->sets = perf->supported_sets;
	info->min_period_ns = perf->min_sample_period_ns;
	info->max_slots = perf->max_sample_slots;
	info->interface_known = pperf_interface_is_known(perf, perf_size);
}

/* Other drivers and kernels may have another query of this number: its size tells. */
static bool has_arms_counters(int fd)
{
	struct panthor_query q = { .type = PANTHOR_QUERY_ARM_PERF };

	return !drmIoctl(fd, PANTHOR_IOCTL_QUERY, &q) && PANTHOR_ARM_PERF_SIZES(q.size);
}

static enum pperf_error read_info(struct pperf_gpu *gpu)
{
	struct drm_panthor_perf_info perf;
	struct panthor_gpu info;
	int ret;

	is_panthor(gpu->fd, &gpu->info.driver_major, &gpu->info.driver_minor);

	ret = query(gpu->fd, PANTHOR_QUERY_GPU, &info, sizeof(info));
	if (ret < 0)
		return pperf_fail(ret == -ENODEV ? PPERF_ERROR_GONE : PPERF_ERROR_SYSTEM,
				  "cannot query the properties of %s: %s", pperf_gpu_label(gpu), strerror(-ret));

	ret = query(gpu->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, &perf, sizeof(perf));
	if (ret == -EINVAL && has_arms_counters(gpu->fd))
		return pperf_fail(PPERF_ERROR_OTHER_INTERFACE, "The kernel's panthor driver has the performance counters "
				  "of Arm's own patches, which panthor-perf cannot use. Use the tools that belong to this "
				  "kernel, or boot another one.");
	if (ret == -EINVAL)
		return pperf_fail(PPERF_ERROR_NO_KERNEL_SUPPORT, "The kernel's panthor driver (version "
				  "%d.%d) has no performance counters. Install panthor-perf-dkms and reboot, or "
				  "build the kernel with CONFIG_DRM_PANTHOR_PERF.",
				  gpu->info.driver_major, gpu->info.driver_minor);
	if (ret < 0)
		return pperf_fail(ret == -ENODEV ? PPERF_ERROR_GONE : PPERF_ERROR_SYSTEM,
				  "cannot query the counters of %s: %s", pperf_gpu_label(gpu), strerror(-ret));
	if (!perf.cshw_blocks)
		return pperf_fail(PPERF_ERROR_NO_COUNTERS, "The GPU's firmware has no performance "
				  "counters that the driver supports. Check the kernel log: `sudo dmesg | grep panthor`.");

	fill_info(&gpu->info, &info, &perf, ret);
	return PPERF_OK;
}

/* Open a GPU by fd if that is not negative, else by its node. */
static enum pperf_error open_gpu(const char *node, int fd, struct pperf_gpu **out)
{
	struct pperf_gpu *gpu = calloc(1, sizeof(*gpu));
	enum pperf_error error;

	if (!gpu)
		return pperf_no_memory();

	gpu->fd = -1;
	gpu->info.size = sizeof(gpu->info);
	error = fd >= 0 ? take_fd(gpu, fd) : node ? open_node(gpu, node) : open_first(gpu);
	if (!error) {
		gpu->info.node = gpu->node;
		find_sysfs(gpu);
		error = read_info(gpu);
	}
	if (error) {
		pperf_gpu_close(gpu);
		return error;
	}

	/* Otherwise it is known from the first sample that has one. */
	pperf_gpu_frequency(gpu, &gpu->info.toplevel_hz);
	*out = gpu;
	return PPERF_OK;
}

enum pperf_error pperf_gpu_open(const char *node, struct pperf_gpu **gpu)
{
	return open_gpu(node, -1, gpu);
}

enum pperf_error pperf_gpu_open_fd(int fd, struct pperf_gpu **gpu)
{
	if (fd < 0)
		return pperf_fail(PPERF_ERROR_INVALID, "%d is not a file descriptor", fd);
	return open_gpu(NULL, fd, gpu);
}

void pperf_gpu_close(struct pperf_gpu *gpu)
{
	if (!gpu)
		return;
	if (gpu->fd >= 0)
		close(gpu->fd);
	free(gpu->node);
	free(gpu->sysfs);
	free(gpu);
}

const struct pperf_gpu_info *pperf_gpu_info(const struct pperf_gpu *gpu)
{
	return &gpu->info;
}

int pperf_gpu_fd(const struct pperf_gpu *gpu)
{
	return gpu->fd;
}

enum pperf_error pperf_gpu_alive(const struct pperf_gpu *gpu)
{
	struct panthor_gpu info;
	int ret = query(gpu->fd, PANTHOR_QUERY_GPU, &info, sizeof(info));

	if (ret >= 0)
		return PPERF_OK;
	return pperf_fail(PPERF_ERROR_GONE, "%s is gone: the GPU was removed, or its driver unbound",
			  pperf_gpu_label(gpu));
}

enum pperf_error pperf_gpu_frequency(const struct pperf_gpu *gpu, uint64_t *hz)
{
	char pattern[PATH_MAX];
	glob_t found;
	FILE *file;
	bool read = false;

	snprintf(pattern, sizeof(pattern), "%s/devfreq/*/cur_freq", gpu->sysfs ? gpu->sysfs : "");
	if (gpu->sysfs && !glob(pattern, 0, NULL, &found)) {
		file = fopen(found.gl_pathv[0], "re");
		if (file) {
			read = fscanf(file, "%" SCNu64, hz) == 1;
			fclose(file);
		}
		globfree(&found);
	}
	if (read)
		return PPERF_OK;
	if (!gpu->sysfs)
		return pperf_fail(PPERF_ERROR_SYSTEM, "the GPU's frequency is unknown: /sys is not mounted");
	return pperf_fail(PPERF_ERROR_SYSTEM, "the GPU's frequency is unknown: the kernel needs "
			  "CONFIG_PM_DEVFREQ, and an OPP table for the GPU");
}
