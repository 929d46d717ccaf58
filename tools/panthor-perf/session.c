// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

static int control(const struct session *session, uint32_t cmd, uint32_t *handle, void *arg,
		   uint64_t size)
{
	struct drm_panthor_perf_control c = {
		.cmd = cmd,
		.handle = *handle,
		.size = size,
		.pointer = (uintptr_t)arg,
	};

	if (drmIoctl(session->gpu->fd, DRM_IOCTL_PANTHOR_PERF_CONTROL, &c))
		return -errno;
	*handle = c.handle;
	return 0;
}

/* A buffer object and its mapping. */
static void *make_buffer(const struct session *session, size_t size, uint32_t *handle,
			 size_t *real_size)
{
	struct drm_panthor_bo_create create = { .size = size };
	struct drm_panthor_bo_mmap_offset offset = {};
	void *map;

	if (drmIoctl(session->gpu->fd, DRM_IOCTL_PANTHOR_BO_CREATE, &create))
		return NULL;

	*handle = create.handle;
	*real_size = create.size;
	offset.handle = create.handle;
	if (drmIoctl(session->gpu->fd, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &offset))
		return NULL;

	map = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, session->gpu->fd,
		   offset.offset);
	return map == MAP_FAILED ? NULL : map;
}

static void complain_of_setup(int error)
{
	switch (error) {
	case EACCES:
		complain("counters show the work of all processes on the GPU, and you may not see "
			 "it: run as root or with CAP_PERFMON, or allow everybody to with\n"
			 "  echo 0 > /sys/module/panthor/parameters/perf_paranoid");
		break;
	case ENOSPC:
		complain("there are too many counter sessions on this GPU: end some first");
		break;
	case EOPNOTSUPP:
		complain("this GPU has no performance counters: see the kernel log (dmesg)");
		break;
	default:
		complain("cannot set up a counter session: %s", strerror(error));
		break;
	}
}

int session_open(struct session *session, const struct gpu *gpu,
		 const uint64_t masks[BLOCK_TYPES][2], uint32_t slots)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	size_t size = (size_t)slots * gpu->perf.sample_size;
	size_t page = sysconf(_SC_PAGESIZE);
	int ret;

	memset(session, 0, sizeof(*session));
	session->gpu = gpu;
	session->slots = slots;
	session->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (session->eventfd < 0) {
		complain("cannot make an eventfd: %s", strerror(errno));
		return -1;
	}

	session->ring = make_buffer(session, (size + page - 1) & ~(page - 1), &session->bos[0],
				    &session->ring_size);
	session->control = make_buffer(session, page, &session->bos[1], &session->control_size);
	if (!session->ring || !session->control) {
		complain("cannot make a buffer for samples: %s", strerror(errno));
		session_close(session);
		return -1;
	}

	setup.fd = session->eventfd;
	setup.ringbuf_handle = session->bos[0];
	setup.control_handle = session->bos[1];
	setup.sample_slots = slots;
	memcpy(setup.fw_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_FW], 16);
	memcpy(setup.csg_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_CSG], 16);
	memcpy(setup.cshw_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_CSHW], 16);
	memcpy(setup.tiler_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_TILER], 16);
	memcpy(setup.memsys_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_MEMSYS], 16);
	memcpy(setup.shader_enable_mask, masks[DRM_PANTHOR_PERF_BLOCK_SHADER], 16);

	ret = control(session, DRM_PANTHOR_PERF_COMMAND_SETUP, &session->handle, &setup,
		      sizeof(setup));
	if (ret) {
		complain_of_setup(-ret);
		session_close(session);
		return -1;
	}
	return 0;
}

int session_start(struct session *session, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_start start = { .user_data = user_data };
	int ret = control(session, DRM_PANTHOR_PERF_COMMAND_START, &session->handle, &start,
			  sizeof(start));

	if (ret == -ETIMEDOUT)
		complain("the GPU's firmware does not answer; the driver resets it, try again");
	else if (ret == -EBUSY)
		complain("another program uses another counter set of this GPU: end it first");
	else if (ret)
		complain("cannot start counting: %s", strerror(-ret));
	return ret ? -1 : 0;
}

int session_sample(struct session *session, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_sample sample = { .user_data = user_data };
	int ret = control(session, DRM_PANTHOR_PERF_COMMAND_SAMPLE, &session->handle, &sample,
			  sizeof(sample));

	/* All slots are spoken for: the samples under way do as well. */
	if (ret == -EBUSY)
		return 0;
	if (ret)
		complain("cannot take a sample: %s", strerror(-ret));
	return ret ? -1 : 0;
}

int session_stop(struct session *session, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_stop stop = { .user_data = user_data };
	int ret = control(session, DRM_PANTHOR_PERF_COMMAND_STOP, &session->handle, &stop,
			  sizeof(stop));

	if (ret)
		complain("cannot stop counting: %s", strerror(-ret));
	return ret ? -1 : 0;
}

const struct drm_panthor_perf_sample_header *session_next(struct session *session)
{
	uint64_t insert = __atomic_load_n(&session->control->insert_idx, __ATOMIC_ACQUIRE);

	if (insert == session->extract)
		return NULL;
	return (void *)((char *)session->ring + (session->extract & (session->slots - 1)) *
			(size_t)session->gpu->perf.sample_size);
}

void session_release(struct session *session)
{
	session->extract++;
	__atomic_store_n(&session->control->extract_idx, session->extract, __ATOMIC_RELEASE);
}

void session_close(struct session *session)
{
	struct drm_gem_close gem = {};
	int i;

	if (session->handle)
		control(session, DRM_PANTHOR_PERF_COMMAND_TEARDOWN, &session->handle, NULL, 0);
	if (session->ring)
		munmap(session->ring, session->ring_size);
	if (session->control)
		munmap(session->control, session->control_size);
	for (i = 0; i < 2; i++) {
		gem.handle = session->bos[i];
		if (gem.handle)
			drmIoctl(session->gpu->fd, DRM_IOCTL_GEM_CLOSE, &gem);
	}
	close(session->eventfd);
	memset(session, 0, sizeof(*session));
}
