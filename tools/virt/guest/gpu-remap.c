// SPDX-License-Identifier: MIT
/*
 * gpu-remap - memory of a GPU that is replaced by other memory at the same address
 *
 * A stream stores to the last page of a buffer, which is unmapped then; another one is mapped in its place,
 * and a stream stores there. What lands in the first buffer went by a translation that should have been
 * dropped with the whole region. Again for buffers of several sizes.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "client.h"
#include "cs.h"

#define WAIT_NS		(120 * NSEC_PER_SEC)
#define PAGE		4096

static struct gpu gpu;

/* A job that stores a number at an address. */
static void store(const struct gpu_bo *stream, uint32_t group, uint32_t syncobj, uint64_t va, uint32_t value)
{
	struct cs_buf b = { .insn = stream->map, .va = stream->va, .room = PAGE / 8 };
	struct drm_panthor_sync_op sync = {
		.flags = DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ,
		.handle = syncobj,
	};
	struct drm_panthor_queue_submit job = {
		.stream_addr = b.va,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &sync),
	};
	int ret;

	cs_emit(&b, cs_move(0, va));
	cs_emit(&b, cs_move32(2, value));
	cs_emit(&b, cs_store(2, 0, 1, 0));
	cs_emit(&b, cs_wait(0xff));
	job.stream_size = cs_size(&b);
	if (drmSyncobjReset(gpu.fd, &syncobj, 1))
		die("cannot reset a syncobj: %s", strerror(errno));
	ret = gpu_submit(&gpu, group, &job, 1);
	if (!ret)
		ret = gpu_syncobj_wait(&gpu, syncobj, 0, WAIT_NS);
	if (ret || gpu_fence_error(&gpu, syncobj) != 1)
		die("a job fails: %s", strerror(-ret));
}

int main(void)
{
	struct gpu_bo stream, first, second;
	uint32_t group, syncobj, wrong = 0;
	struct gpu_vm vm;

	gpu_open(&gpu, NULL);
	gpu_vm_create(&vm, &gpu);
	group = gpu_group_create(&vm, 1);
	syncobj = gpu_syncobj_create(&gpu);
	gpu_bo_create(&stream, &vm, PAGE, 0);
	for (uint64_t size = PAGE; size <= 1 << 20; size *= 4) {
		uint64_t last = size - PAGE;
		volatile uint32_t *old, *new;

		gpu_bo_create(&first, &vm, size, 0);
		gpu_bo_create(&second, &vm, size, 0);
		old = (void *)((char *)first.map + last);
		new = (void *)((char *)second.map + last);
		store(&stream, group, syncobj, first.va + last, 1);
		gpu_vm_unmap(&vm, first.va, size);
		gpu_vm_map(&vm, second.handle, size, first.va, 0);
		store(&stream, group, syncobj, first.va + last, 2);
		printf("%" PRIu64 " pages: %u, then %u\n", size / PAGE, *old, *new);
		wrong += *old != 1 || *new != 2;
		gpu_vm_unmap(&vm, first.va, size);
	}
	gpu_group_destroy(&gpu, group);
	return wrong ? 1 : 0;
}
