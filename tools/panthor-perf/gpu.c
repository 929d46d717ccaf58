// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "gpu.h"
#include "interface.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#define MAX_DEVICES 64

/* Reads what fits of a query's answer. Returns the size the kernel knows, or -errno. */
static int query(int fd, unsigned int type, void *answer, size_t size)
{
	struct drm_panthor_dev_query q = { .type = type };
	size_t known;

	if (drmIoctl(fd, DRM_IOCTL_PANTHOR_DEV_QUERY, &q))
		return -errno;

	known = q.size;
	q.size = known < size ? known : size;
	q.pointer = (uintptr_t)answer;
	memset(answer, 0, size);
	if (drmIoctl(fd, DRM_IOCTL_PANTHOR_DEV_QUERY, &q))
		return -errno;
	return known;
}

/* True if the node is panthor's. */
static bool is_panthor(int fd, struct gpu *gpu)
{
	drmVersion *version = drmGetVersion(fd);
	bool found;

	if (!version)
		return false;

	found = !strcmp(version->name, "panthor");
	gpu->major = version->version_major;
	gpu->minor = version->version_minor;
	drmFreeVersion(version);
	return found;
}

static int open_first(struct gpu *gpu)
{
	drmDevice *devices[MAX_DEVICES];
	int n, i, denied = 0;
	const char *node;

	n = drmGetDevices2(0, devices, MAX_DEVICES);
	for (i = 0; i < n && gpu->fd < 0; i++) {
		if (!(devices[i]->available_nodes & (1 << DRM_NODE_RENDER)))
			continue;
		node = devices[i]->nodes[DRM_NODE_RENDER];
		gpu->fd = open(node, O_RDWR | O_CLOEXEC);
		if (gpu->fd < 0) {
			denied |= errno == EACCES;
			continue;
		}
		if (is_panthor(gpu->fd, gpu)) {
			gpu->path = strdup(node);
			continue;
		}
		close(gpu->fd);
		gpu->fd = -1;
	}
	if (n > 0)
		drmFreeDevices(devices, n);

	if (gpu->fd >= 0)
		return 0;

	if (denied)
		complain("a render node in /dev/dri cannot be opened: join its group "
			 "(usually \"render\"), or run as root");
	else
		complain("no GPU with the panthor driver: is it loaded (modprobe panthor), "
			 "is this a Mali-G310, G510, G610, G710 or later?");
	return -1;
}

static int open_path(struct gpu *gpu, const char *path)
{
	gpu->fd = open(path, O_RDWR | O_CLOEXEC);
	if (gpu->fd < 0) {
		complain("%s: %s", path, strerror(errno));
		return -1;
	}
	if (!is_panthor(gpu->fd, gpu)) {
		complain("%s is not a GPU with the panthor driver", path);
		return -1;
	}
	gpu->path = strdup(path);
	return 0;
}

int gpu_open(struct gpu *gpu, const char *path)
{
	int ret;

	memset(gpu, 0, sizeof(*gpu));
	gpu->fd = -1;

	if (path ? open_path(gpu, path) : open_first(gpu))
		goto err;

	if (!gpu->path) {
		complain("out of memory");
		goto err;
	}

	ret = query(gpu->fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu->info, sizeof(gpu->info));
	if (ret < 0) {
		complain("%s does not tell what it is: %s", gpu->path, strerror(-ret));
		goto err;
	}
	data_product(gpu->info.gpu_id, &gpu->product);

	ret = query(gpu->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, &gpu->perf, sizeof(gpu->perf));
	if (ret == -EINVAL) {
		complain("the kernel's panthor driver (version %d.%d) has no performance counters: "
			 "build it with CONFIG_DRM_PANTHOR_PERF", gpu->major, gpu->minor);
		goto err;
	}
	if (ret < 0) {
		complain("%s does not tell what it can count: %s", gpu->path, strerror(-ret));
		goto err;
	}
	gpu->perf_size = ret;

	if (!gpu->perf.cshw_blocks) {
		complain("this GPU's firmware offers no performance counters that the driver "
			 "understands: see the kernel log (dmesg)");
		goto err;
	}
	return 0;

err:
	gpu_close(gpu);
	return -1;
}

void gpu_close(struct gpu *gpu)
{
	if (gpu->fd >= 0)
		close(gpu->fd);
	gpu->fd = -1;
	free(gpu->path);
	gpu->path = NULL;
}

unsigned int gpu_blocks(const struct gpu *gpu, unsigned int type)
{
	return interface_blocks(&gpu->perf, type);
}

int gpu_check(const struct gpu *gpu)
{
	if (interface_is_known(&gpu->perf, gpu->perf_size))
		return 0;

	complain("this kernel's performance counters have another interface than the one "
		 "this program was built for: use the panthor-perf that came with the kernel");
	return -1;
}

struct config gpu_config(const struct gpu *gpu)
{
	struct config config = {
		.cores = gpu->perf.shader_blocks,
		.slices = gpu->perf.memsys_blocks,
		/* L2_FEATURES has the logarithm of the width in bits. */
		.bus_bytes = (1ull << ((gpu->info.l2_features >> 24) & 0x1f)) / 8,
	};

	return config;
}

const char *gpu_name(const struct gpu *gpu)
{
	return gpu->product.name ? gpu->product.name : "unknown Mali";
}
