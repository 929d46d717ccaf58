// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: the query and each command, with every
 * argument that is wrong. What fails must change nothing.
 */
#define _GNU_SOURCE
#include <linux/udmabuf.h>
#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8
/* The RFC's struct, to which later fields were added. */
#define INFO_MIN_SIZE 44
#define NOT_UNCHANGED (-1000000)
/* Longest control object that is not the ring. */
#define CONTROL_MAX 65536
/* Longest period: half of what the kernel can tell as a time, so that two of them can be added. */
#define LONGEST_PERIOD (INT64_MAX / 2)
/* How much memory the kernel promises. */
#define OVERCOMMIT(what) "/proc/sys/vm/overcommit_" what

FIXTURE(uapi)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session s;
	struct drm_panthor_perf_cmd_setup setup;
};

FIXTURE_SETUP(uapi)
{
	self->s.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_session_alloc(self->fd, &self->info, SLOTS, 0, &self->s, &self->setup));
}

FIXTURE_TEARDOWN(uapi)
{
	perf_session_end(&self->s);
	close(self->fd);
}

/* Query */

TEST_F(uapi, query_size_of_null)
{
	struct drm_panthor_dev_query q = { .type = DRM_PANTHOR_DEV_QUERY_PERF_INFO, .size = 1 };

	ASSERT_EQ(0, perf_ioctl(self->fd, DRM_IOCTL_PANTHOR_DEV_QUERY, &q));
	EXPECT_EQ(sizeof(struct drm_panthor_perf_info), q.size);
	EXPECT_EQ(64, q.size);
}

TEST_F(uapi, query_short)
{
	unsigned char buf[64];

	for (uint32_t size = 0; size < INFO_MIN_SIZE; size++) {
		uint32_t s = size;

		memset(buf, 0xa5, sizeof(buf));
		EXPECT_EQ(-EINVAL, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, buf, &s)) {
			TH_LOG("size %u", size);
		}
		for (uint32_t i = 0; i < sizeof(buf); i++)
			EXPECT_EQ(0xa5, buf[i]);
	}
}

TEST_F(uapi, query_first_version)
{
	for (uint32_t size = INFO_MIN_SIZE; size <= sizeof(self->info); size++) {
		unsigned char buf[80];
		uint32_t s = size;

		memset(buf, 0xa5, sizeof(buf));
		ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, buf, &s));
		EXPECT_EQ(0, memcmp(buf, &self->info, size)) {
			TH_LOG("the first %u bytes differ", size);
		}
		for (uint32_t i = size; i < sizeof(buf); i++)
			EXPECT_EQ(0xa5, buf[i]);
	}
}

TEST_F(uapi, query_longer)
{
	unsigned char buf[128];
	uint32_t s = 120;

	memset(buf, 0xa5, sizeof(buf));
	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, buf, &s));
	EXPECT_EQ(0, memcmp(buf, &self->info, sizeof(self->info)));
	for (uint32_t i = sizeof(self->info); i < 120; i++)
		EXPECT_EQ(0, buf[i]);
	for (uint32_t i = 120; i < sizeof(buf); i++)
		EXPECT_EQ(0xa5, buf[i]);
}

TEST_F(uapi, query_fault)
{
	uint32_t s = sizeof(self->info);

	EXPECT_EQ(-EFAULT, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, (void *)8, &s));
}

TEST_F(uapi, query_values)
{
	const struct drm_panthor_perf_info *i = &self->info;
	struct drm_panthor_gpu_info gpu;
	struct drm_panthor_csif_info csif;
	uint32_t gpu_size = sizeof(gpu), csif_size = sizeof(csif);

	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &gpu_size));
	ASSERT_EQ(0, perf_query(self->fd, DRM_PANTHOR_DEV_QUERY_CSIF_INFO, &csif, &csif_size));
	EXPECT_EQ(56, i->sample_header_size);
	EXPECT_EQ(24, i->block_header_size);
	EXPECT_EQ(sizeof(struct drm_panthor_perf_sample_header), i->sample_header_size);
	EXPECT_EQ(sizeof(struct drm_panthor_perf_block_header), i->block_header_size);
	EXPECT_EQ(0, i->counters_per_block % 64);
	if (DRM_PANTHOR_ARCH_MAJOR(gpu.gpu_id) == 10)
		EXPECT_EQ(64, i->counters_per_block);
	EXPECT_EQ(i->sample_header_size + perf_blocks(i) * perf_block_bytes(i), i->sample_size);
	EXPECT_EQ(1, i->cshw_blocks);
	EXPECT_EQ(1, i->tiler_blocks);
	EXPECT_EQ(((gpu.mem_features >> 8) & 0xf) + 1, i->memsys_blocks);
	EXPECT_EQ(__builtin_popcountll(gpu.shader_present), i->shader_blocks);
	EXPECT_GE(1, i->fw_blocks);
	if (i->csg_blocks) {
		EXPECT_EQ(csif.csg_slot_count, i->csg_blocks);
		EXPECT_EQ(1, i->fw_blocks);
	}
	EXPECT_EQ(0, i->flags & ~DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT);
	EXPECT_EQ(DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT, i->flags);
	EXPECT_EQ(1, i->supported_clocks & 1);
	EXPECT_EQ(0, i->supported_clocks & ~7u);
	EXPECT_EQ(7, i->supported_sets);
	EXPECT_GE(100000, i->min_sample_period_ns);
	EXPECT_LT(0, i->min_sample_period_ns);
	EXPECT_LE(16, i->max_sample_slots);
	EXPECT_EQ(0, i->max_sample_slots & (i->max_sample_slots - 1));
}

/* Numbers that programs in the field have compiled in. */
TEST_F(uapi, numbers)
{
	EXPECT_EQ(0xc018649c, DRM_IOCTL_PANTHOR_PERF_CONTROL);
	EXPECT_EQ(0x3ffffff0, DRM_PANTHOR_DEV_QUERY_PERF_INFO);
	EXPECT_EQ(24, sizeof(struct drm_panthor_perf_control));
	EXPECT_EQ(136, sizeof(struct drm_panthor_perf_cmd_setup));
	EXPECT_EQ(16, sizeof(struct drm_panthor_perf_ringbuf_control));
}

/* All commands */

TEST_F(uapi, null_pointer_returns_size)
{
	static const struct { uint32_t cmd, size; } cmds[] = {
		{ DRM_PANTHOR_PERF_COMMAND_SETUP, 136 },
		{ DRM_PANTHOR_PERF_COMMAND_START, 8 },
		{ DRM_PANTHOR_PERF_COMMAND_STOP, 8 },
		{ DRM_PANTHOR_PERF_COMMAND_SAMPLE, 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		static const uint64_t sizes[] = { 0, 1, 8, 136, 1ull << 40 };

		for (size_t j = 0; j < ARRAY_SIZE(sizes); j++) {
			/* No such session: it does not even look. */
			struct drm_panthor_perf_control c = {
				.cmd = cmds[i].cmd, .handle = 77, .size = sizes[j],
			};

			EXPECT_EQ(0, perf_control(self->fd, &c));
			EXPECT_EQ(cmds[i].size, c.size);
			EXPECT_EQ(77, c.handle);
			EXPECT_EQ(0, c.pointer);
		}
	}
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-sessions"));
}

TEST_F(uapi, unknown_commands)
{
	static const uint32_t cmds[] = { 5, 6, 7, 255, 0x7fffffff, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(cmds); i++) {
		struct drm_panthor_perf_control c = {
			.cmd = cmds[i], .handle = 1, .size = 8, .pointer = (uintptr_t)&self->setup,
		};

		EXPECT_EQ(-EINVAL, perf_control(self->fd, &c));
		c.pointer = 0;
		EXPECT_EQ(-EINVAL, perf_control(self->fd, &c));
		EXPECT_EQ(8, c.size);
	}
}

/* A program's struct that is shorter than today's, and the ioctl's own number. */
TEST_F(uapi, foreign_control_sizes)
{
	struct {
		struct drm_panthor_perf_control c;
		uint64_t tail[4];
	} arg = { .c = { .cmd = DRM_PANTHOR_PERF_COMMAND_START }, .tail = { 1, 2, 3, 4 } };

	ASSERT_EQ(0, perf_ioctl(self->fd,
				DRM_IOWR(DRM_COMMAND_BASE + DRM_PANTHOR_PERF_CONTROL, arg), &arg));
	EXPECT_EQ(8, arg.c.size);
	EXPECT_EQ(4, arg.tail[3]);

	/* Without pointer it is 0: the size is asked for. */
	arg.c.size = 0;
	arg.c.pointer = ~0ull;
	ASSERT_EQ(0, perf_ioctl(self->fd,
				_IOC(_IOC_READ | _IOC_WRITE, DRM_IOCTL_BASE,
				     DRM_COMMAND_BASE + DRM_PANTHOR_PERF_CONTROL, 16), &arg));
	EXPECT_EQ(8, arg.c.size);
	EXPECT_EQ(~0ull, arg.c.pointer);
}

/*
 * What the command answers for so many bytes of arg, which are followed by
 * zeroes, or, if junk is set, by one byte that is not at that place.
 */
static int sized(int fd, uint32_t cmd, uint32_t *handle, const void *arg, size_t known,
		 uint64_t size, uint64_t junk, uint64_t *out)
{
	static unsigned char buf[1 << 16];
	struct drm_panthor_perf_control c = {
		.cmd = cmd, .handle = *handle, .size = size, .pointer = (uintptr_t)buf,
	};
	int ret;

	memset(buf, 0, sizeof(buf));
	memcpy(buf, arg, known);
	if (junk)
		buf[junk] = 1;
	ret = perf_control(fd, &c);
	if (ret && (c.handle != *handle || c.size != size))
		return NOT_UNCHANGED;
	*handle = c.handle;
	*out = c.size;
	return ret;
}

static void check_sizes(struct __test_metadata *_metadata, int fd, uint32_t cmd, uint32_t handle,
			const void *arg, uint32_t known, int ok)
{
	uint64_t page = sysconf(_SC_PAGESIZE), out;
	const uint64_t good[] = { known, known + 1, known + 8, 1024, page - 1, page };
	const uint64_t above[] = { page + 1, page + 8, 2 * page, 1ull << 32, 1ull << 63, ~0ull };
	uint32_t h;

	for (uint32_t size = 0; size < known; size++) {
		h = handle;
		EXPECT_EQ(-EINVAL, sized(fd, cmd, &h, arg, known, size, 0, &out)) {
			TH_LOG("command %u, size %u", cmd, size);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (cmd == DRM_PANTHOR_PERF_COMMAND_SETUP)
			h = 0;
		else
			h = handle;
		EXPECT_EQ(ok, sized(fd, cmd, &h, arg, known, good[i], 0, &out)) {
			TH_LOG("command %u, size %llu", cmd, (unsigned long long)good[i]);
		}
		if (!ok)
			EXPECT_EQ(known, out);
		if (cmd == DRM_PANTHOR_PERF_COMMAND_SETUP)
			EXPECT_EQ(0, perf_teardown(fd, h));
		if (good[i] == known)
			continue;
		/* The first and the last of the bytes that must be zero. */
		h = handle;
		EXPECT_EQ(-E2BIG, sized(fd, cmd, &h, arg, known, good[i], known, &out));
		EXPECT_EQ(-E2BIG, sized(fd, cmd, &h, arg, known, good[i], good[i] - 1, &out));
	}
	for (size_t i = 0; i < ARRAY_SIZE(above); i++) {
		h = handle;
		EXPECT_EQ(-E2BIG, sized(fd, cmd, &h, arg, known, above[i], 0, &out)) {
			TH_LOG("command %u, size %llx", cmd, (unsigned long long)above[i]);
		}
	}
}

TEST_F_TIMEOUT(uapi, setup_sizes, 120)
{
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_SETUP, 99, &self->setup,
		    sizeof(self->setup), 0);
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-sessions"));
}

TEST_F_TIMEOUT(uapi, start_sizes, 120)
{
	struct drm_panthor_perf_cmd_start a = { .user_data = 1 };

	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_START, self->s.handle, &a,
		    sizeof(a), 0);
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_START, 50, &a, sizeof(a),
		    -ENOENT);
}

TEST_F_TIMEOUT(uapi, stop_sizes, 120)
{
	struct drm_panthor_perf_cmd_stop a = { .user_data = 1 };

	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_STOP, self->s.handle, &a,
		    sizeof(a), 0);
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_STOP, 50, &a, sizeof(a),
		    -ENOENT);
}

TEST_F_TIMEOUT(uapi, sample_sizes, 120)
{
	struct drm_panthor_perf_cmd_sample a = { .user_data = 1 };

	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	/* Of a session that is not started. */
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_SAMPLE, self->s.handle, &a,
		    sizeof(a), -EINVAL);
	check_sizes(_metadata, self->fd, DRM_PANTHOR_PERF_COMMAND_SAMPLE, 50, &a, sizeof(a),
		    -ENOENT);
	EXPECT_EQ(0, perf_insert(&self->s));
}

TEST_F(uapi, faults)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			 0);
	void *half;

	ASSERT_NE(MAP_FAILED, map);
	ASSERT_EQ(0, munmap(map + page, page));
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	for (uint32_t cmd = 0; cmd < 5; cmd++) {
		uint32_t size = cmd == DRM_PANTHOR_PERF_COMMAND_SETUP ? sizeof(self->setup) : 8;

		if (cmd == DRM_PANTHOR_PERF_COMMAND_TEARDOWN)
			continue;
		half = map + page - size + 1;
		EXPECT_EQ(-EFAULT, perf_command(self->fd, cmd, self->s.handle, (void *)8, size));
		EXPECT_EQ(-EFAULT, perf_command(self->fd, cmd, self->s.handle, half, size));
		EXPECT_EQ(-EFAULT, perf_command(self->fd, cmd, self->s.handle,
						(void *)(~0ull - 7), size));
	}
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	munmap(map, page);
}

/* The DRM core writes the arguments back when the command is done. */
TEST_F(uapi, faults_afterwards)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	struct drm_panthor_perf_control *c;

	c = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, c);
	*c = (struct drm_panthor_perf_control) {
		.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .size = sizeof(self->setup),
		.pointer = (uintptr_t)&self->setup,
	};
	ASSERT_EQ(0, mprotect(c, page, PROT_READ));
	EXPECT_EQ(-EFAULT, perf_control(self->fd, c));
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	munmap(c, page);
}

TEST_F(uapi, unknown_sessions)
{
	static const uint32_t handles[] = { 0, 1, 2, 64, 65, 0x80000000, 0xffffffff };

	for (size_t i = 0; i < ARRAY_SIZE(handles); i++) {
		EXPECT_EQ(-ENOENT, perf_start(self->fd, handles[i], 0));
		EXPECT_EQ(-ENOENT, perf_sample(self->fd, handles[i], 0));
		EXPECT_EQ(-ENOENT, perf_stop(self->fd, handles[i], 0));
		EXPECT_EQ(-ENOENT, perf_teardown(self->fd, handles[i]));
	}
}

TEST_F(uapi, handles_are_per_file)
{
	struct drm_panthor_perf_cmd_setup setup = {};
	int fd = perf_open_device();
	struct perf_session other;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	EXPECT_EQ(1, self->s.handle);
	EXPECT_EQ(-ENOENT, perf_start(fd, 1, 0));
	EXPECT_EQ(-ENOENT, perf_sample(fd, 1, 0));
	EXPECT_EQ(-ENOENT, perf_stop(fd, 1, 0));
	EXPECT_EQ(-ENOENT, perf_teardown(fd, 1));

	ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &other, &setup));
	EXPECT_EQ(1, other.handle);
	EXPECT_EQ(1, perf_fdinfo(fd, "panthor-perf-sessions"));
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	perf_session_end(&other);
	EXPECT_EQ(0, perf_fdinfo(fd, "panthor-perf-sessions"));
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	close(fd);
}

/* One that has gone does not come back as another one, which who has kept it would take for it. */
TEST_F(uapi, handles_run_on)
{
	uint32_t handle;

	for (uint32_t i = 1; i <= 3; i++) {
		ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &handle));
		EXPECT_EQ(i, handle);
	}
	EXPECT_EQ(0, perf_teardown(self->fd, 2));
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &handle));
	EXPECT_EQ(4, handle);
	EXPECT_EQ(-ENOENT, perf_start(self->fd, 2, 0));
	EXPECT_EQ(0, perf_teardown(self->fd, 1));
	EXPECT_EQ(0, perf_teardown(self->fd, 3));
	EXPECT_EQ(0, perf_teardown(self->fd, 4));
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &handle));
	ASSERT_EQ(5, handle);

	/* More of them than a file can have at a time. */
	for (uint32_t i = 6; i < 200; i++) {
		EXPECT_EQ(0, perf_teardown(self->fd, handle));
		ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &handle));
		ASSERT_EQ(i, handle);
	}
	/* One that fails takes none. */
	self->setup.ringbuf_handle = 0x1000;
	EXPECT_EQ(-ENOENT, perf_setup(self->fd, &self->setup, &handle));
	self->setup.ringbuf_handle = self->s.ring.handle;
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &handle));
	EXPECT_EQ(200, handle);
}

TEST_F(uapi, teardown_takes_junk)
{
	static const struct { uint64_t size, pointer; } junk[] = {
		{ 0, 0 }, { 8, 0 }, { 0, 8 }, { 136, 8 }, { 4097, 8 }, { ~0ull, ~0ull }, { 1, 1 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(junk); i++) {
		struct drm_panthor_perf_control c = {
			.cmd = DRM_PANTHOR_PERF_COMMAND_TEARDOWN,
			.size = junk[i].size, .pointer = junk[i].pointer,
		};

		ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &c.handle));
		EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
		EXPECT_EQ(0, perf_control(self->fd, &c));
		EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-sessions"));
		EXPECT_EQ(-ENOENT, perf_control(self->fd, &c));
	}
}

/* SETUP */

/* The error of a SETUP that must fail, if it has changed nothing. */
static int setup_fails(FIXTURE_DATA(uapi) *self, struct drm_panthor_perf_cmd_setup *setup)
{
	struct drm_panthor_perf_cmd_setup before = *setup;
	struct drm_panthor_perf_control c = {
		.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .handle = 1234, .size = sizeof(*setup),
		.pointer = (uintptr_t)setup,
	};
	const struct drm_panthor_perf_control was = c;
	int ret;

	self->s.indices->extract_idx = 0x1111;
	self->s.indices->insert_idx = 0x2222;
	ret = perf_control(self->fd, &c);
	if (!ret) {
		perf_teardown(self->fd, c.handle);
		return 0;
	}
	if (memcmp(&c, &was, sizeof(c)) || memcmp(&before, setup, sizeof(before)) ||
	    perf_fdinfo(self->fd, "panthor-perf-sessions") != 0 ||
	    self->s.indices->extract_idx != 0x1111 || self->s.indices->insert_idx != 0x2222 ||
	    perf_signals(&self->s))
		return NOT_UNCHANGED;
	return ret;
}

TEST_F(uapi, setup_works)
{
	self->s.indices->extract_idx = 0x1111;
	self->s.indices->insert_idx = 0x2222;
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	EXPECT_EQ(1, self->s.handle);
	EXPECT_EQ(0, self->s.indices->extract_idx);
	EXPECT_EQ(0, self->s.indices->insert_idx);
	EXPECT_EQ(1, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-samples"));
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-stretched"));
	EXPECT_EQ(0, perf_signals(&self->s));
}

TEST_F(uapi, setup_padding)
{
	for (size_t i = 0; i < sizeof(self->setup.pad); i++) {
		static const uint8_t values[] = { 1, 0x80, 0xff };

		for (size_t j = 0; j < sizeof(values); j++) {
			struct drm_panthor_perf_cmd_setup setup = self->setup;

			setup.pad[i] = values[j];
			EXPECT_EQ(-EINVAL, setup_fails(self, &setup)) {
				TH_LOG("pad[%zu] = %#x", i, values[j]);
			}
		}
	}
}

TEST_F(uapi, setup_flags)
{
	for (int bit = 0; bit < 8; bit++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;

		setup.setup_flags = 1 << bit;
		EXPECT_EQ(setup.setup_flags == DRM_PANTHOR_PERF_SETUP_EMIT_AUTO ? 0 : -EINVAL,
			  setup_fails(self, &setup));
	}
}

TEST_F(uapi, setup_sets)
{
	for (int set = 0; set < 256; set++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;

		setup.block_set = set;
		EXPECT_EQ(set < 3 ? 0 : -EINVAL, setup_fails(self, &setup)) {
			TH_LOG("set %d", set);
		}
	}
}

/* A ring that has the size of its slots: nothing is wrong but their number. */
static int setup_with_slots(FIXTURE_DATA(uapi) *self, uint64_t slots)
{
	uint64_t size = perf_page_align((slots ? slots : 1) * self->info.sample_size);
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	struct perf_bo bo;
	int ret = perf_bo_create(self->fd, &bo, size, 0);

	if (ret)
		return ret;
	setup.ringbuf_handle = bo.handle;
	setup.sample_slots = slots;
	ret = setup_fails(self, &setup);
	perf_bo_close(self->fd, &bo);
	return ret;
}

TEST_F_TIMEOUT(uapi, setup_slots, 120)
{
	const uint64_t max = self->info.max_sample_slots;
	const struct { uint64_t slots; int ret; } cases[] = {
		{ 0, -EINVAL }, { 1, -EINVAL }, { 2, 0 }, { 3, -EINVAL }, { 4, 0 }, { 5, -EINVAL },
		{ 6, -EINVAL }, { 7, -EINVAL }, { 12, -EINVAL }, { max / 2, 0 },
		{ max - 1, -EINVAL }, { max, 0 }, { max + 1, -EINVAL }, { 2 * max, -EINVAL },
	};
	struct drm_panthor_perf_cmd_setup setup = self->setup;

	EXPECT_EQ(4096, max);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		EXPECT_EQ(cases[i].ret, setup_with_slots(self, cases[i].slots)) {
			TH_LOG("%llu slots", (unsigned long long)cases[i].slots);
		}
	}
	/* So many that their size wraps around is that of the ring. */
	setup.sample_slots = 0x80000000;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup.sample_slots = 0xffffffff;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	/* Right as such, and not the ring's size. */
	setup.sample_slots = SLOTS / 2;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup.sample_slots = SLOTS * 2;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
}

TEST_F(uapi, setup_ring_sizes)
{
	static const uint32_t slots[] = { 2, 4, 32, 256 };
	uint64_t page = sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		uint64_t size = perf_page_align((uint64_t)slots[i] * self->info.sample_size);

		for (int pages = -1; pages <= 1; pages++) {
			struct drm_panthor_perf_cmd_setup setup = self->setup;
			struct perf_bo bo;

			/* There are no objects of no page. */
			if (!(size + pages * page))
				continue;
			ASSERT_EQ(0, perf_bo_create(self->fd, &bo, size + pages * page, 0));
			setup.ringbuf_handle = bo.handle;
			setup.sample_slots = slots[i];
			EXPECT_EQ(pages ? -EINVAL : 0, setup_fails(self, &setup)) {
				TH_LOG("%u slots, %+d pages", slots[i], pages);
			}
			EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
		}
	}
}

TEST_F(uapi, setup_objects)
{
	static const uint32_t bad[] = { 0, 0x1000, 0x80000000, 0xffffffff };
	struct drm_panthor_perf_cmd_setup setup;
	struct perf_bo hidden;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setup = self->setup;
		setup.ringbuf_handle = bad[i];
		EXPECT_EQ(-ENOENT, setup_fails(self, &setup));
		setup = self->setup;
		setup.control_handle = bad[i];
		EXPECT_EQ(-ENOENT, setup_fails(self, &setup));
	}

	/* Memory that the user has asked not to be able to map. */
	ASSERT_EQ(0, perf_bo_create(self->fd, &hidden, self->s.ring.size, DRM_PANTHOR_BO_NO_MMAP));
	setup = self->setup;
	setup.ringbuf_handle = hidden.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup = self->setup;
	setup.control_handle = hidden.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	EXPECT_EQ(0, perf_bo_close(self->fd, &hidden));

	/* A handle that was good once. */
	ASSERT_EQ(0, perf_bo_create(self->fd, &hidden, self->s.ring.size, 0));
	setup = self->setup;
	setup.ringbuf_handle = hidden.handle;
	EXPECT_EQ(0, perf_bo_close(self->fd, &hidden));
	EXPECT_EQ(-ENOENT, setup_fails(self, &setup));
}

/* A buffer of another driver's, or -1. */
static int import(int fd, uint64_t size, uint32_t *handle)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = size };
	struct drm_prime_handle prime = {};
	int udmabuf = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), ret = -1;

	if (udmabuf < 0)
		return -1;
	create.memfd = memfd_create("panthor-perf", MFD_ALLOW_SEALING | MFD_CLOEXEC);
	if (!ftruncate(create.memfd, size) && !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK)) {
		prime.fd = ioctl(udmabuf, UDMABUF_CREATE, &create);
		if (prime.fd >= 0) {
			ret = perf_ioctl(fd, DRM_IOCTL_PRIME_FD_TO_HANDLE, &prime);
			close(prime.fd);
		}
	}
	*handle = prime.handle;
	close(create.memfd);
	close(udmabuf);
	return ret;
}

/* The kernel writes to no memory of another driver's. */
TEST_F(uapi, setup_imported)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	struct perf_bo bo = {};

	if (import(self->fd, self->s.ring.size, &bo.handle))
		SKIP(return, "no udmabuf");
	setup.ringbuf_handle = bo.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
	ASSERT_EQ(0, import(self->fd, self->s.ctl.size, &bo.handle));
	setup = self->setup;
	setup.control_handle = bo.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
}

TEST_F(uapi, setup_control_offsets)
{
	uint64_t size = self->s.ctl.size;
	const uint64_t bad[] = {
		1, 2, 4, 7, 9, 12, size - 8, size - 15, size - 12, size, size + 8, 2 * size,
		1ull << 32, (1ull << 32) + 8, 1ull << 63, ~0ull, ~0ull - 7, ~0ull - 15,
	};
	const uint64_t good[] = { 8, 16, 24, size / 2, size - 24, size - 16 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;

		setup.control_offset = bad[i];
		EXPECT_EQ(-EINVAL, setup_fails(self, &setup)) {
			TH_LOG("offset %llx", (unsigned long long)bad[i]);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;
		uint64_t *words = self->s.ctl.map;
		uint32_t handle;

		memset(words, 0xee, size);
		setup.control_offset = good[i];
		ASSERT_EQ(0, perf_setup(self->fd, &setup, &handle));
		/* These 16 bytes and no others. */
		for (uint64_t w = 0; w < size / 8; w++) {
			bool ours = w == good[i] / 8 || w == good[i] / 8 + 1;

			EXPECT_EQ(ours ? 0 : 0xeeeeeeeeeeeeeeeeull, words[w]) {
				TH_LOG("offset %llu, word %llu", (unsigned long long)good[i],
				       (unsigned long long)w);
			}
		}
		EXPECT_EQ(0, perf_teardown(self->fd, handle));
	}
}

TEST_F(uapi, setup_control_sizes)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	const struct { uint64_t size; int ret; } cases[] = {
		{ page, 0 },
		{ CONTROL_MAX, 0 },
		{ CONTROL_MAX + page, -EINVAL },
		{ 2 * CONTROL_MAX, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint64_t offsets[] = { 0, cases[i].size - 16 };
		struct perf_bo bo;

		ASSERT_EQ(0, perf_bo_create(self->fd, &bo, cases[i].size, 0));
		for (size_t j = 0; j < ARRAY_SIZE(offsets); j++) {
			struct drm_panthor_perf_cmd_setup setup = self->setup;

			setup.control_handle = bo.handle;
			setup.control_offset = offsets[j];
			EXPECT_EQ(cases[i].ret, setup_fails(self, &setup)) {
				TH_LOG("%llu bytes, offset %llu",
				       (unsigned long long)cases[i].size,
				       (unsigned long long)offsets[j]);
			}
		}
		EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
	}
}

/* The ring itself holds the indices, whatever its size, and wherever they are in it. */
TEST_F(uapi, setup_control_in_ring)
{
	uint32_t slots = 2;
	uint64_t size;
	struct perf_bo bo;

	do {
		slots *= 2;
		size = perf_page_align((uint64_t)slots * self->info.sample_size);
	} while (size <= CONTROL_MAX);

	ASSERT_EQ(0, perf_bo_create(self->fd, &bo, size, 0));
	const uint64_t offsets[] = { 0, self->info.sample_size / 8 * 8, size - 16 };

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;

		setup.ringbuf_handle = bo.handle;
		setup.control_handle = bo.handle;
		setup.sample_slots = slots;
		setup.control_offset = offsets[i];
		EXPECT_EQ(0, setup_fails(self, &setup)) {
			TH_LOG("offset %llu", (unsigned long long)offsets[i]);
		}
		setup.control_offset = size - 8;
		EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
		/* Only this ring, and not another one of its size. */
		setup.ringbuf_handle = self->s.ring.handle;
		setup.sample_slots = SLOTS;
		setup.control_offset = offsets[i];
		EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	}
	EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
}

/*
 * What has a wrong size is not given memory: there is not as much in the whole
 * machine, so that whoever tries has -ENOMEM to answer with, at the best.
 */
TEST_F_TIMEOUT(uapi, setup_objects_without_memory, 120)
{
	uint64_t size = 4ull * sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	struct perf_bo bo;
	int ret = perf_bo_create(self->fd, &bo, size, 0);

	/* Some kernels give an object its memory when it is made. */
	if (ret == -ENOMEM)
		return;
	ASSERT_EQ(0, ret);
	setup.ringbuf_handle = bo.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup = self->setup;
	setup.control_handle = bo.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup.ringbuf_handle = bo.handle;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	EXPECT_EQ(0, perf_bo_close(self->fd, &bo));
}

/*
 * Whoever has no memory is not told that there are too many sessions. The kernel does not promise
 * any memory more, for the length of one SETUP, which is the first to want that of the ring.
 */
TEST_F(uapi, setup_without_memory)
{
	struct drm_panthor_perf_control c = {
		.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .size = sizeof(self->setup),
		.pointer = (uintptr_t)&self->setup,
	};
	char policy[16], ratio[16];
	int ret;

	if (perf_read_file(OVERCOMMIT("memory"), policy, sizeof(policy)) ||
	    perf_read_file(OVERCOMMIT("ratio"), ratio, sizeof(ratio)) ||
	    perf_write_file(OVERCOMMIT("ratio"), "0"))
		SKIP(return, "needs root");
	self->s.indices->insert_idx = 0;
	ret = perf_write_file(OVERCOMMIT("memory"), "2");
	if (!ret)
		ret = perf_control(self->fd, &c);
	EXPECT_EQ(0, perf_write_file(OVERCOMMIT("memory"), policy));
	EXPECT_EQ(0, perf_write_file(OVERCOMMIT("ratio"), ratio));
	if (ret) {
		EXPECT_EQ(-ENOMEM, ret);
	} else {
		/* Some kernels give an object its memory when it is made. */
		EXPECT_EQ(0, perf_teardown(self->fd, c.handle));
	}
	EXPECT_EQ(0, perf_fdinfo(self->fd, "panthor-perf-sessions"));
}

TEST_F(uapi, setup_eventfds)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	int closed = eventfd(0, 0), pipes[2], null;

	ASSERT_LE(0, closed);
	close(closed);
	ASSERT_EQ(0, pipe(pipes));
	null = open("/dev/null", O_RDWR);
	ASSERT_LE(0, null);

	setup.fd = -1;
	EXPECT_EQ(-EBADF, setup_fails(self, &setup));
	setup.fd = 0x7fffffff;
	EXPECT_EQ(-EBADF, setup_fails(self, &setup));
	setup.fd = 1000;
	EXPECT_EQ(-EBADF, setup_fails(self, &setup));
	/* Open, and no eventfd. */
	setup.fd = pipes[1];
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup.fd = null;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	setup.fd = self->fd;
	EXPECT_EQ(-EINVAL, setup_fails(self, &setup));
	close(pipes[0]);
	close(pipes[1]);
	close(null);
}

TEST_F(uapi, setup_periods)
{
	static const struct { uint64_t ns; int ret; } cases[] = {
		{ 0, 0 }, { 1, 0 }, { 99999, 0 }, { 100000, 0 }, { 1000000000000, 0 },
		{ LONGEST_PERIOD - 1, 0 }, { LONGEST_PERIOD, 0 },
		{ LONGEST_PERIOD + 1, -EINVAL }, { INT64_MAX - 1, -EINVAL },
		{ INT64_MAX, -EINVAL }, { INT64_MAX + 1ull, -EINVAL }, { ~0ull, -EINVAL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct drm_panthor_perf_cmd_setup setup = self->setup;

		setup.sample_freq_ns = cases[i].ns;
		EXPECT_EQ(cases[i].ret, setup_fails(self, &setup)) {
			TH_LOG("%llu ns", (unsigned long long)cases[i].ns);
		}
	}

	/* A period that nobody lives to see the end of: nothing is due but the sample of STOP. */
	self->setup.sample_freq_ns = LONGEST_PERIOD;
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	ASSERT_EQ(0, perf_stop(self->fd, self->s.handle, 2));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);
	EXPECT_EQ(0, perf_slot(&self->s, 0)->flags);
}

TEST_F(uapi, setup_masks_past_the_end)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;

	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &self->s.handle));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	ASSERT_EQ(0, perf_stop(self->fd, self->s.handle, 0));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	for (uint32_t b = 0; b < perf_blocks(&self->info); b++) {
		const struct drm_panthor_perf_block_header *h =
			perf_block(&self->info, perf_slot(&self->s, 0), b);

		EXPECT_EQ(~0ull, h->enable_mask[0]);
		EXPECT_EQ(self->info.counters_per_block > 64 ? ~0ull : 0, h->enable_mask[1]);
	}
}

/* Everything that was passed in is the kernel's own by the end of SETUP. */
TEST_F(uapi, setup_keeps_references)
{
	int efd;

	perf_masks_all(&self->setup);
	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	EXPECT_EQ(0, perf_bo_close(self->fd, &self->s.ring));
	EXPECT_EQ(0, perf_bo_close(self->fd, &self->s.ctl));
	efd = dup(self->s.efd);
	ASSERT_LE(0, efd);
	close(self->s.efd);
	self->s.efd = efd;

	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, 2));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);

	/* Nothing of it is left in this process but the session. */
	perf_bo_unmap(&self->s.ring);
	perf_bo_unmap(&self->s.ctl);
	self->s.indices = NULL;
	ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, 3));
	ASSERT_TRUE(perf_wait(&self->s, 2));
	close(self->s.efd);
	self->s.efd = -1;
	ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, 4));
	EXPECT_EQ(0, perf_stop(self->fd, self->s.handle, 5));
	EXPECT_TRUE(perf_until(perf_fdinfo(self->fd, "panthor-perf-samples") == 4));
}

/* Sessions can share both objects. */
TEST_F(uapi, setup_shared_control)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	struct drm_panthor_perf_ringbuf_control *second = self->s.indices + 1;
	uint32_t handle;

	ASSERT_EQ(0, perf_setup(self->fd, &self->setup, &self->s.handle));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 0));
	ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, 0));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	setup.control_offset = sizeof(*second);
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &handle));
	EXPECT_EQ(2, handle);
	EXPECT_EQ(1, self->s.indices->insert_idx);
	ASSERT_EQ(0, perf_start(self->fd, handle, 0));
	ASSERT_EQ(0, perf_sample(self->fd, handle, 0));
	ASSERT_EQ(0, perf_sample(self->fd, handle, 0));
	ASSERT_TRUE(perf_wait(&self->s, 3));
	EXPECT_EQ(1, self->s.indices->insert_idx);
	EXPECT_EQ(2, second->insert_idx);
	EXPECT_EQ(0, perf_teardown(self->fd, handle));
}

TEST_HARNESS_MAIN
