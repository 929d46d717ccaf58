/* SPDX-License-Identifier: MIT */
/*
 * What the guest programs share of being a client of panthor: finding the
 * device, memory, groups, submitting and waiting. Only what the uAPI of Linux
 * 6.12 has is used, so the same binary runs on every kernel since.
 *
 * A helper that fails ends the program with a message: a guest program that
 * cannot get its memory or its group has nothing left to do.
 */
#ifndef PANTHOR_GUEST_CLIENT_H
#define PANTHOR_GUEST_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <xf86drm.h>
#include <drm/panthor_drm.h>

#include "die.h"

#define NSEC_PER_SEC 1000000000ll
#define GPU_VA_START 0x10000000ull

/**
 * struct gpu - an open panthor device
 * @fd: the render node
 * @version: the driver's version
 * @info: DEV_QUERY_GPU_INFO
 * @csif: DEV_QUERY_CSIF_INFO
 * @flush_id: the page with LATEST_FLUSH_ID
 */
struct gpu {
	int fd;
	drmVersionPtr version;
	struct drm_panthor_gpu_info info;
	struct drm_panthor_csif_info csif;
	volatile uint32_t *flush_id;
};

/**
 * struct gpu_vm - a GPU address space
 * @gpu: its device
 * @id: its handle
 * @next_va: the first address that nothing was put at yet
 */
struct gpu_vm {
	struct gpu *gpu;
	uint32_t id;
	uint64_t next_va;
};

/**
 * struct gpu_bo - a buffer mapped on both sides
 * @handle: its GEM handle
 * @size: bytes, whole pages
 * @va: the GPU's address
 * @map: the CPU's mapping
 */
struct gpu_bo {
	uint32_t handle;
	uint64_t size;
	uint64_t va;
	void *map;
};

static inline int64_t now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline void gpu_query(struct gpu *gpu, uint32_t type, void *out, uint32_t size,
			     const char *name)
{
	struct drm_panthor_dev_query query = {
		.type = type,
		.size = size,
		.pointer = (uintptr_t)out,
	};

	memset(out, 0, size);
	if (drmIoctl(gpu->fd, DRM_IOCTL_PANTHOR_DEV_QUERY, &query))
		die("query of %s failed: %s", name, strerror(errno));
}

static inline int gpu_try_node(const char *path, drmVersionPtr *version)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	drmVersionPtr v;

	if (fd < 0)
		return -1;

	v = drmGetVersion(fd);
	if (v && !strcmp(v->name, "panthor")) {
		*version = v;
		return fd;
	}

	drmFreeVersion(v);
	close(fd);
	errno = ENODEV;
	return -1;
}

/* Opens @path, or the first render node that is panthor's if that is NULL. */
static inline void gpu_open(struct gpu *gpu, const char *path)
{
	long page = sysconf(_SC_PAGESIZE);
	void *map;

	memset(gpu, 0, sizeof(*gpu));
	gpu->fd = -1;

	if (path) {
		gpu->fd = gpu_try_node(path, &gpu->version);
		if (gpu->fd < 0)
			die("%s: %s", path,
			    errno == ENODEV ? "not a panthor device" : strerror(errno));
	} else {
		int denied = 0;

		for (int minor = 128; minor < 192 && gpu->fd < 0; minor++) {
			char node[32];

			snprintf(node, sizeof(node), "/dev/dri/renderD%d", minor);
			gpu->fd = gpu_try_node(node, &gpu->version);
			if (gpu->fd < 0 && errno == EACCES)
				denied = 1;
		}
		if (gpu->fd < 0)
			die(denied ? "no panthor device among the render nodes this user may open; try the group 'render'" :
				     "no panthor device: is the driver loaded (modprobe panthor)?");
	}

	gpu_query(gpu, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu->info, sizeof(gpu->info), "GPU_INFO");
	gpu_query(gpu, DRM_PANTHOR_DEV_QUERY_CSIF_INFO, &gpu->csif, sizeof(gpu->csif),
		  "CSIF_INFO");

	map = mmap(NULL, page, PROT_READ, MAP_SHARED, gpu->fd,
		   DRM_PANTHOR_USER_FLUSH_ID_MMIO_OFFSET);
	if (map == MAP_FAILED)
		die("cannot map the flush id page: %s", strerror(errno));
	gpu->flush_id = map;
}

static inline void gpu_vm_create(struct gpu_vm *vm, struct gpu *gpu)
{
	struct drm_panthor_vm_create args = {};

	if (drmIoctl(gpu->fd, DRM_IOCTL_PANTHOR_VM_CREATE, &args))
		die("cannot create a VM: %s", strerror(errno));
	vm->gpu = gpu;
	vm->id = args.id;
	vm->next_va = GPU_VA_START;
}

static inline void gpu_vm_destroy(struct gpu_vm *vm)
{
	struct drm_panthor_vm_destroy args = { .id = vm->id };

	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_VM_DESTROY, &args))
		die("cannot destroy VM %u: %s", vm->id, strerror(errno));
}

static inline void gpu_vm_map(struct gpu_vm *vm, uint32_t handle, uint64_t size, uint64_t va,
			      uint32_t flags)
{
	struct drm_panthor_vm_bind_op op = {
		.flags = DRM_PANTHOR_VM_BIND_OP_TYPE_MAP | flags,
		.bo_handle = handle,
		.va = va,
		.size = size,
	};
	struct drm_panthor_vm_bind args = {
		.vm_id = vm->id,
		.ops = DRM_PANTHOR_OBJ_ARRAY(1, &op),
	};

	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_VM_BIND, &args))
		die("cannot map %llu bytes at 0x%llx: %s", (unsigned long long)size,
		    (unsigned long long)va, strerror(errno));
}

static inline void gpu_vm_unmap(struct gpu_vm *vm, uint64_t va, uint64_t size)
{
	struct drm_panthor_vm_bind_op op = {
		.flags = DRM_PANTHOR_VM_BIND_OP_TYPE_UNMAP,
		.va = va,
		.size = size,
	};
	struct drm_panthor_vm_bind args = {
		.vm_id = vm->id,
		.ops = DRM_PANTHOR_OBJ_ARRAY(1, &op),
	};

	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_VM_BIND, &args))
		die("cannot unmap 0x%llx: %s", (unsigned long long)va, strerror(errno));
}

/*
 * A new BO of at least @size bytes, zeroed, at a fresh address with a hole
 * behind it, so that running off its end faults.
 */
static inline void gpu_bo_create(struct gpu_bo *bo, struct gpu_vm *vm, uint64_t size,
				 uint32_t map_flags)
{
	long page = sysconf(_SC_PAGESIZE);
	struct drm_panthor_bo_create create = { .size = (size + page - 1) & ~(page - 1) };
	struct drm_panthor_bo_mmap_offset offset = {};

	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_BO_CREATE, &create))
		die("cannot create a BO of %llu bytes: %s", (unsigned long long)create.size,
		    strerror(errno));

	offset.handle = create.handle;
	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &offset))
		die("cannot get a BO's mmap offset: %s", strerror(errno));

	bo->handle = create.handle;
	bo->size = create.size;
	bo->map = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, vm->gpu->fd,
		       offset.offset);
	if (bo->map == MAP_FAILED)
		die("cannot map a BO: %s", strerror(errno));

	bo->va = vm->next_va;
	vm->next_va += bo->size + 0x10000;
	gpu_vm_map(vm, bo->handle, bo->size, bo->va, map_flags);
}

static inline void gpu_bo_destroy(struct gpu_bo *bo, struct gpu_vm *vm)
{
	gpu_vm_unmap(vm, bo->va, bo->size);
	munmap(bo->map, bo->size);
	drmCloseBufferHandle(vm->gpu->fd, bo->handle);
}

/* All cores, medium priority, @queue_count queues with 64 KiB rings. Returns the handle. */
/* A group which may use @cores shader cores, 0: all there are. */
static inline uint32_t gpu_group_create_on(struct gpu_vm *vm, unsigned int queue_count,
					   unsigned int cores)
{
	struct drm_panthor_queue_create queues[32] = {};
	struct drm_panthor_gpu_info *info = &vm->gpu->info;
	unsigned int present = __builtin_popcountll(info->shader_present);
	unsigned int used = cores && cores < present ? cores : present;
	struct drm_panthor_group_create args = {
		.queues = DRM_PANTHOR_OBJ_ARRAY(queue_count, queues),
		.max_compute_cores = used,
		.max_fragment_cores = used,
		.max_tiler_cores = __builtin_popcountll(info->tiler_present),
		.priority = PANTHOR_GROUP_PRIORITY_MEDIUM,
		.compute_core_mask = info->shader_present,
		.fragment_core_mask = info->shader_present,
		.tiler_core_mask = info->tiler_present,
		.vm_id = vm->id,
	};

	for (unsigned int i = 0; i < queue_count; i++) {
		queues[i].priority = 1;
		queues[i].ringbuf_size = 64 * 1024;
	}

	if (drmIoctl(vm->gpu->fd, DRM_IOCTL_PANTHOR_GROUP_CREATE, &args))
		die("cannot create a group of %u queues: %s", queue_count, strerror(errno));
	return args.group_handle;
}

static inline uint32_t gpu_group_create(struct gpu_vm *vm, unsigned int queue_count)
{
	return gpu_group_create_on(vm, queue_count, 0);
}

static inline void gpu_group_destroy(struct gpu *gpu, uint32_t group)
{
	struct drm_panthor_group_destroy args = { .group_handle = group };

	if (drmIoctl(gpu->fd, DRM_IOCTL_PANTHOR_GROUP_DESTROY, &args))
		die("cannot destroy group %u: %s", group, strerror(errno));
}

static inline struct drm_panthor_group_get_state gpu_group_state(struct gpu *gpu, uint32_t group)
{
	struct drm_panthor_group_get_state args = { .group_handle = group };

	if (drmIoctl(gpu->fd, DRM_IOCTL_PANTHOR_GROUP_GET_STATE, &args))
		die("cannot get the state of group %u: %s", group, strerror(errno));
	return args;
}

/* 0 or -errno: tests submit to groups that refuse. */
static inline int gpu_submit(struct gpu *gpu, uint32_t group,
			     struct drm_panthor_queue_submit *jobs, unsigned int count)
{
	struct drm_panthor_group_submit args = {
		.group_handle = group,
		.queue_submits = DRM_PANTHOR_OBJ_ARRAY(count, jobs),
	};

	return drmIoctl(gpu->fd, DRM_IOCTL_PANTHOR_GROUP_SUBMIT, &args) ? -errno : 0;
}

static inline uint32_t gpu_syncobj_create(struct gpu *gpu)
{
	uint32_t handle;

	if (drmSyncobjCreate(gpu->fd, 0, &handle))
		die("cannot create a syncobj: %s", strerror(errno));
	return handle;
}

/*
 * Waits for @point of a timeline syncobj (0: of a binary one). 0, or -ETIME
 * after @timeout_ns. A fence that failed is signalled too: see gpu_fence_error().
 */
static inline int gpu_syncobj_wait(struct gpu *gpu, uint32_t handle, uint64_t point,
				   int64_t timeout_ns)
{
	int64_t deadline = now_ns(CLOCK_MONOTONIC) + timeout_ns;
	int ret;

	if (point)
		ret = drmSyncobjTimelineWait(gpu->fd, &handle, &point, 1, deadline,
					     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	else
		ret = drmSyncobjWait(gpu->fd, &handle, 1, deadline,
				     DRM_SYNCOBJ_WAIT_FLAGS_WAIT_FOR_SUBMIT, NULL);
	return ret ? -errno : 0;
}

/* The status of a signalled binary syncobj's fence: 1 well, or the negative errno it failed with. */
static inline int gpu_fence_error(struct gpu *gpu, uint32_t handle)
{
	struct sync_file_info info = {};
	int fd, ret;

	if (drmSyncobjExportSyncFile(gpu->fd, handle, &fd))
		die("cannot export a syncobj: %s", strerror(errno));
	ret = ioctl(fd, SYNC_IOC_FILE_INFO, &info);
	if (ret)
		die("cannot query a sync file: %s", strerror(errno));
	close(fd);
	return info.status;
}

#endif /* PANTHOR_GUEST_CLIENT_H */
