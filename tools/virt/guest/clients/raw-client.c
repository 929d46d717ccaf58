// SPDX-License-Identifier: MIT
/*
 * raw-client - a client of panthor that shares nothing with the other programs
 *
 * No libdrm, no uAPI header, no helper of this project: ioctl numbers and
 * structures as they go over the wire, instructions as numbers. It stands for
 * the userspace drivers that the virtual Mali was not made for, and goes into
 * the guest as a file. It creates a VM, a buffer, a group and a stream, and
 * prints "3735928559 + 1 = 3735928560" if the GPU can add.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* _IOWR('d', nr, size) */
#define DRM_IOWR(nr, size) (0xc0000000u | (uint32_t)(size) << 16 | 'd' << 8 | (nr))
#define PANTHOR(nr, size) DRM_IOWR(0x40 + (nr), size)

#define SYNCOBJ_CREATE DRM_IOWR(0xbf, 8)
#define SYNCOBJ_WAIT DRM_IOWR(0xc3, 40)

static void call(int fd, unsigned int request, void *arg, const char *name)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	if (ret) {
		fprintf(stderr, "raw-client: %s: %s\n", name, strerror(errno));
		exit(1);
	}
}

int main(void)
{
	const uint64_t va = 0x800000;
	uint64_t gpu_info[32] = { 0 }, shader_present, tiler_present;
	uint64_t dev_query[2], vm_create[2] = { 0 }, bo_create[3], bo_offset[2], group_create[7];
	uint64_t bind_op[6], vm_bind[3], submit[3], queue_submit[5], sync_op[2], wait[5];
	uint32_t syncobj_create[2] = { 0 }, vm, bo, group, handles[1];
	uint8_t queue[8] = { 1, 0, 0, 0, 0, 0x10, 0, 0 };
	uint64_t *stream;
	volatile uint32_t *result;
	struct timespec now;
	int fd;

	fd = open("/dev/dri/renderD128", O_RDWR);
	if (fd < 0) {
		perror("raw-client: /dev/dri/renderD128");
		return 1;
	}

	/* GPU_INFO: shader_present, l2_present, tiler_present follow 18 32-bit words. */
	dev_query[0] = (uint64_t)sizeof(gpu_info) << 32;
	dev_query[1] = (uintptr_t)gpu_info;
	call(fd, PANTHOR(0, 16), dev_query, "DEV_QUERY");
	shader_present = gpu_info[9];
	tiler_present = gpu_info[11];
	if (!shader_present || tiler_present != 1) {
		fprintf(stderr, "raw-client: shader_present 0x%llx, tiler_present 0x%llx\n",
			(unsigned long long)shader_present, (unsigned long long)tiler_present);
		return 1;
	}

	call(fd, PANTHOR(1, 16), vm_create, "VM_CREATE");
	vm = vm_create[0] >> 32;

	bo_create[0] = 8192;
	bo_create[1] = 0;
	bo_create[2] = 0;
	call(fd, PANTHOR(5, 24), bo_create, "BO_CREATE");
	bo = (uint32_t)bo_create[2];

	bo_offset[0] = bo;
	bo_offset[1] = 0;
	call(fd, PANTHOR(6, 16), bo_offset, "BO_MMAP_OFFSET");
	stream = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, bo_offset[1]);
	if (stream == MAP_FAILED) {
		perror("raw-client: mmap");
		return 1;
	}

	bind_op[0] = (uint64_t)bo << 32;
	bind_op[1] = 0;
	bind_op[2] = va;
	bind_op[3] = 8192;
	bind_op[4] = 16;
	bind_op[5] = 0;
	vm_bind[0] = vm;
	vm_bind[1] = 1ull << 32 | sizeof(bind_op);
	vm_bind[2] = (uintptr_t)bind_op;
	call(fd, PANTHOR(3, 24), vm_bind, "VM_BIND");

	group_create[0] = 1ull << 32 | sizeof(queue);
	group_create[1] = (uintptr_t)queue;
	group_create[2] = 1 << 24 | 1 << 16 | 1 << 8 | 1;
	group_create[3] = shader_present;
	group_create[4] = shader_present;
	group_create[5] = tiler_present;
	group_create[6] = vm;
	call(fd, PANTHOR(7, 56), group_create, "GROUP_CREATE");
	group = group_create[6] >> 32;

	result = (volatile uint32_t *)(stream + 512);
	stream[0] = 0x0114000000000000 | (va + 4096);	/* r20 = result */
	stream[1] = 0x02160000deadbeef;			/* r22 = 0xdeadbeef */
	stream[2] = 0x1017160000000001;			/* r23 = r22 + 1 */
	stream[3] = 0x1516140000030000;			/* *r20 = r22, r23 */
	stream[4] = 0x0300000000ff0000;			/* wait for all */
	stream[5] = 0;
	stream[6] = 0;
	stream[7] = 0;

	call(fd, SYNCOBJ_CREATE, syncobj_create, "SYNCOBJ_CREATE");
	sync_op[0] = (uint64_t)syncobj_create[0] << 32 | 1u << 31;
	sync_op[1] = 0;
	queue_submit[0] = 64ull << 32;
	queue_submit[1] = va;
	queue_submit[2] = 0;
	queue_submit[3] = 1ull << 32 | sizeof(sync_op);
	queue_submit[4] = (uintptr_t)sync_op;
	submit[0] = group;
	submit[1] = 1ull << 32 | sizeof(queue_submit);
	submit[2] = (uintptr_t)queue_submit;
	call(fd, PANTHOR(9, 24), submit, "GROUP_SUBMIT");

	handles[0] = syncobj_create[0];
	clock_gettime(CLOCK_MONOTONIC, &now);
	wait[0] = (uintptr_t)handles;
	wait[1] = (now.tv_sec + 60) * 1000000000ull;
	wait[2] = 2ull << 32 | 1;
	wait[3] = 0;
	wait[4] = 0;
	call(fd, SYNCOBJ_WAIT, wait, "SYNCOBJ_WAIT");

	printf("%u + 1 = %u\n", result[0], result[1]);
	return result[0] == 0xdeadbeef && result[1] == 0xdeadbef0 ? 0 : 1;
}
