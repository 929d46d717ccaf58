// SPDX-License-Identifier: MIT
/*
 * Tests of GPUs and sessions with a kernel that is not there: libdrm's functions
 * are here, a file stands for the device, and the tests deliver samples. What a
 * real kernel hardly ever does can be had this way. It uses no more of the
 * library than programs do, so that it runs with other builds of the shared
 * library than the one that it was made for. Prints TAP.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "panthor.h"
#include "tap.h"
#include "tests-common.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BLOCKS 5
#define VALUES 64
#define SAMPLE_SIZE (56 + BLOCKS * (24 + 8 * VALUES))
#define MAX_BOS 16
#define BO_SPACE (1u << 20)

/* The kernel. */
static struct {
	char node[32];
	const char *driver;

	/* What the query answers. */
	struct drm_panthor_perf_info info;
	size_t info_size;

	/* An error number for each command, and for all of the device. */
	int fail[8];
	int fail_query;

	/* Size of the answer that a kernel with Arm's series has. */
	uint32_t arms_size;
	bool gone, nameless;

	/* Buffer objects lie one behind the other in the file. */
	unsigned int bos, open_bos;
	bool used[MAX_BOS];

	/* How often libdrm was asked for a command again that a signal has ended. */
	unsigned int repeated;

	/* Flags of buffers that it knows, and those of the last ring. */
	uint32_t bo_flags, ring_flags;

	/* The session. */
	bool session;
	struct drm_panthor_perf_cmd_setup setup;
	uint64_t last_data;
	unsigned int commands[8];
	uint64_t insert;
	int fd;
} kernel;

/* ---- libdrm ---- */

drmVersionPtr drmGetVersion(int fd)
{
	drmVersionPtr version = calloc(1, sizeof(*version));

	(void)fd;
	version->name = (char *)kernel.driver;
	version->version_major = 1;
	version->version_minor = 5;
	return version;
}

void drmFreeVersion(drmVersionPtr version)
{
	free(version);
}

/* The kernel's node is the only render node; it has no directory in sysfs. */
int glob(const char *pattern, int flags, int (*failed_on)(const char *path, int error), glob_t *found)
{
	(void)flags;
	(void)failed_on;
	if (strcmp(pattern, "/dev/dri/renderD*"))
		return GLOB_NOMATCH;
	found->gl_pathc = 1;
	found->gl_pathv = calloc(2, sizeof(*found->gl_pathv));
	found->gl_pathv[0] = kernel.node;
	return 0;
}

void globfree(glob_t *found)
{
	free(found->gl_pathv);
}

static int answer(uint64_t pointer, uint32_t *size, const void *from, size_t known)
{
	if (pointer)
		memcpy((void *)(uintptr_t)pointer, from, *size < known ? *size : known);
	*size = known;
	return 0;
}

static int query(struct panthor_query *q)
{
	/* A G610. */
	static const struct panthor_gpu gpu = {
		.gpu_id = 0xa8670005, .shader_present = 0x5, .l2_features = 7 << 24,
	};

	if (q->type == PANTHOR_QUERY_GPU)
		return answer(q->pointer, &q->size, &gpu, sizeof(gpu));
	if (q->type == PANTHOR_QUERY_ARM_PERF && kernel.arms_size)
		return answer(0, &q->size, NULL, kernel.arms_size);
	errno = q->type == PANTHOR_QUERY_ARM_PERF ? EINVAL : kernel.fail_query;
	return errno ? -1 : answer(q->pointer, &q->size, &kernel.info, kernel.info_size);
}

/* Memory of a buffer object, as the kernel sees it. */
static void *kernel_bo(uint32_t handle)
{
	FILE *file = fopen(kernel.node, "r+");
	void *map = mmap(NULL, BO_SPACE, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file),
			 (off_t)(handle % MAX_BOS) * BO_SPACE);

	fclose(file);
	return map;
}

static int control(struct drm_panthor_perf_control *c)
{
	const uint64_t *data = (const uint64_t *)(uintptr_t)c->pointer;
	struct drm_panthor_perf_ringbuf_control *indices;

	kernel.commands[c->cmd]++;
	errno = kernel.fail[c->cmd];
	if (errno)
		return -1;

	switch (c->cmd) {
	case DRM_PANTHOR_PERF_COMMAND_SETUP:
		memcpy(&kernel.setup, data, sizeof(kernel.setup));
		kernel.session = true;
		kernel.fd = dup(kernel.setup.fd);
		kernel.insert = 0;
		indices = kernel_bo(kernel.setup.control_handle);
		memset(indices, 0, sizeof(*indices));
		munmap(indices, BO_SPACE);
		c->handle = 9;
		return 0;
	case DRM_PANTHOR_PERF_COMMAND_TEARDOWN:
		kernel.session = false;
		close(kernel.fd);
		return 0;
	}
	kernel.last_data = *data;
	return 0;
}

/* A descriptor's name, which not every one has. */
char *drmGetDeviceNameFromFd2(int fd)
{
	(void)fd;
	return kernel.nameless ? NULL : strdup(kernel.node);
}

static int kernel_ioctl(int fd, unsigned long request, void *arg)
{
	struct panthor_bo_create *create = arg;
	struct panthor_bo_mmap_offset *offset = arg;
	struct drm_gem_close *gem = arg;

	(void)fd;
	if (kernel.gone) {
		errno = ENODEV;
		return -1;
	}
	switch (request) {
	case PANTHOR_IOCTL_QUERY:
		return query(arg);
	case DRM_IOCTL_PANTHOR_PERF_CONTROL:
		return control(arg);
	case PANTHOR_IOCTL_BO_CREATE:
		if (create->flags & ~kernel.bo_flags) {
			errno = EINVAL;
			return -1;
		}
		if (create->flags)
			kernel.ring_flags = create->flags;
		create->handle = ++kernel.bos;
		kernel.used[create->handle % MAX_BOS] = true;
		kernel.open_bos++;
		return 0;
	case PANTHOR_IOCTL_BO_MMAP_OFFSET:
		offset->offset = (uint64_t)(offset->handle % MAX_BOS) * BO_SPACE;
		return 0;
	case DRM_IOCTL_GEM_CLOSE:
		kernel.open_bos -= kernel.used[gem->handle % MAX_BOS];
		kernel.used[gem->handle % MAX_BOS] = false;
		return 0;
	}
	errno = EINVAL;
	return -1;
}

/* As libdrm does: what a signal has ended is asked for again. */
int drmIoctl(int fd, unsigned long request, void *arg)
{
	int ret;

	while ((ret = kernel_ioctl(fd, request, arg)) && errno == EINTR && kernel.repeated < 10)
		kernel.repeated++;
	return ret;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	return kernel_ioctl(fd, request, arg);
}

/* ---- What the tests make the kernel do ---- */

static void kernel_reset(void)
{
	char node[sizeof(kernel.node)];

	strcpy(node, kernel.node);
	memset(&kernel, 0, sizeof(kernel));
	strcpy(kernel.node, node);
	kernel.driver = "panthor";
	kernel.info = (struct drm_panthor_perf_info){
		.counters_per_block = VALUES, .sample_header_size = 56, .block_header_size = 24,
		.flags = DRM_PANTHOR_PERF_BLOCK_STATES_SUPPORT, .supported_clocks = 1,
		.cshw_blocks = 1, .tiler_blocks = 1, .memsys_blocks = 1, .shader_blocks = 2,
		.sample_size = SAMPLE_SIZE, .min_sample_period_ns = 100000, .max_sample_slots = 64,
		.supported_sets = 1,
	};
	kernel.info_size = sizeof(kernel.info);
}

/* Delivers a sample whose every value is one more than the one before, from a first one. */
static void deliver(uint64_t user_data, uint32_t flags, uint64_t first)
{
	static const uint8_t types[BLOCKS] = { 3, 4, 5, 6, 6 }, indices[BLOCKS] = { 0, 0, 0, 0, 1 };
	const uint64_t enabled[BLOCKS] = {
		kernel.setup.cshw_enable_mask[0], kernel.setup.tiler_enable_mask[0], kernel.setup.memsys_enable_mask[0],
		kernel.setup.shader_enable_mask[0], kernel.setup.shader_enable_mask[0],
	};
	char *ring = kernel_bo(kernel.setup.ringbuf_handle);
	struct drm_panthor_perf_ringbuf_control *control = kernel_bo(kernel.setup.control_handle);
	char *at = ring + (kernel.insert & (kernel.setup.sample_slots - 1)) * SAMPLE_SIZE;
	struct drm_panthor_perf_sample_header *header = (void *)at;
	uint64_t one = 1;
	unsigned int b, i;

	*header = (struct drm_panthor_perf_sample_header){
		.timestamp_start_ns = kernel.insert * 1000, .timestamp_end_ns = kernel.insert * 1000 + 1000,
		.user_data = user_data, .flags = flags, .toplevel_clock_cycles = 77,
	};
	at += sizeof(*header);
	for (b = 0; b < BLOCKS; b++) {
		struct drm_panthor_perf_block_header *block = (void *)at;
		uint64_t *values = (uint64_t *)(block + 1);

		*block = (struct drm_panthor_perf_block_header){
			.block_type = types[b], .block_idx = indices[b],
			.block_states = DRM_PANTHOR_PERF_BLOCK_STATE_ON,
			.enable_mask = { enabled[b], 0 },
		};
		for (i = 0; i < VALUES; i++)
			values[i] = first++;
		at += sizeof(*block) + VALUES * 8;
	}
	__atomic_store_n(&control->insert_idx, ++kernel.insert, __ATOMIC_RELEASE);
	if (write(kernel.fd, &one, sizeof(one)) != sizeof(one))
		abort();
	munmap(ring, BO_SPACE);
	munmap(control, BO_SPACE);
}

static uint64_t extracted(void)
{
	struct drm_panthor_perf_ringbuf_control *control = kernel_bo(kernel.setup.control_handle);
	uint64_t extract = control->extract_idx;

	munmap(control, BO_SPACE);
	return extract;
}

/* Changes a byte of the ring. */
static void spoil(size_t offset, uint8_t value)
{
	uint8_t *ring = kernel_bo(kernel.setup.ringbuf_handle);

	ring[offset] = value;
	munmap(ring, BO_SPACE);
}

static struct pperf_gpu *open_gpu(void)
{
	struct pperf_gpu *gpu;

	if (!pperf_gpu_open(kernel.node, &gpu))
		return gpu;
	printf("Bail out! %s\n", pperf_message());
	exit(1);
}

static struct pperf_session_options some_options(void)
{
	struct pperf_session_options options = { .size = sizeof(options), .slots = 4 };

	options.masks.bits[PPERF_BLOCK_SHADER][0] = 0xff0;
	options.masks.bits[PPERF_BLOCK_TILER][0] = 0x30;
	return options;
}

static struct pperf_session *open_session(struct pperf_gpu *gpu, const struct pperf_session_options *options)
{
	struct pperf_session *session;

	if (!pperf_session_open(gpu, options, &session))
		return session;
	printf("Bail out! %s\n", pperf_message());
	exit(1);
}

/* ---- Tests ---- */

static void test_gpu(void)
{
	const struct pperf_gpu_info *info;
	struct pperf_gpu *gpu, *none = NULL;
	char **nodes;
	size_t count;
	int fd;

	begin();
	kernel_reset();
	gpu = open_gpu();
	info = pperf_gpu_info(gpu);
	expect(!strcmp(info->name, "Mali-G610") && !strcmp(info->layout, "Mali-G710") &&
	       !strcmp(info->node, kernel.node) && info->driver_minor == 5, "%s, %s, %s, %d", info->name,
	       info->layout, info->node, info->driver_minor);
	expect(info->cores == 2 && info->slices == 1 && info->bus_bytes == 16 && info->values_per_block == VALUES,
	       "%u cores, %u slices, %u bytes", info->cores, info->slices, info->bus_bytes);
	expect(pperf_info_blocks(info) == BLOCKS && pperf_info_first_block(info, PPERF_BLOCK_SHADER) == 3 &&
	       info->interface_known && info->has_states, "%u blocks", pperf_info_blocks(info));
	expect(!pperf_gpu_alive(gpu), "%s", pperf_message());
	kernel.gone = true;
	expect(pperf_gpu_alive(gpu) == PPERF_ERROR_GONE, "a GPU that is gone is alive");
	kernel.gone = false;
	pperf_gpu_close(gpu);

	expect(!pperf_gpu_open(NULL, &gpu) && !strcmp(pperf_gpu_info(gpu)->node, kernel.node), "the first GPU");
	pperf_gpu_close(gpu);
	expect(!pperf_gpu_nodes(&nodes, &count) && count == 1 && !strcmp(nodes[0], kernel.node), "%zu nodes", count);
	pperf_gpu_nodes_free(nodes, count);
	pperf_gpu_close(NULL);
	end("a GPU is opened by its node, as the first, and listed");

	begin();
	fd = open(kernel.node, O_RDWR);
	expect(!pperf_gpu_open_fd(fd, &gpu), "%s", pperf_message());
	close(fd);
	expect(fcntl(pperf_gpu_fd(gpu), F_GETFD) == FD_CLOEXEC && !strcmp(pperf_gpu_info(gpu)->node, kernel.node),
	       "descriptor %d of %s", pperf_gpu_fd(gpu), pperf_gpu_info(gpu)->node);
	fd = pperf_gpu_fd(gpu);
	pperf_gpu_close(gpu);
	expect(fcntl(fd, F_GETFD) < 0, "it stays open");
	fd = open(kernel.node, O_RDWR);
	kernel.nameless = true;
	expect(!pperf_gpu_open_fd(fd, &gpu) && !pperf_gpu_info(gpu)->node, "one without a name: %s", pperf_message());
	kernel.gone = true;
	expect(pperf_gpu_alive(gpu) == PPERF_ERROR_GONE && !strncmp(pperf_message(), "the GPU is gone", 15), "%s", pperf_message());
	pperf_gpu_close(gpu);
	kernel_reset();
	expect(fcntl(fd, F_GETFD) >= 0, "the program's descriptor is closed");
	expect(pperf_gpu_open_fd(-1, &none) == PPERF_ERROR_INVALID && pperf_gpu_open_fd(12345, &none) == PPERF_ERROR_INVALID,
	       "what is no descriptor is opened");
	kernel.driver = "i915";
	expect(pperf_gpu_open_fd(fd, &none) == PPERF_ERROR_NO_DEVICE && !none, "another driver's is opened");
	kernel.driver = "panthor";
	close(fd);
	end("a GPU is opened by a descriptor, which stays the program's");

	begin();
	kernel.driver = "panfrost";
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_NO_DEVICE, "panfrost's");
	expect(pperf_gpu_open(NULL, &none) == PPERF_ERROR_NO_DEVICE, "panfrost's, as the first");
	expect(!pperf_gpu_nodes(&nodes, &count) && !count, "%zu nodes", count);
	pperf_gpu_nodes_free(nodes, count);
	kernel.driver = "panthor";
	expect(pperf_gpu_open("/no/such/node", &none) == PPERF_ERROR_NO_DEVICE, "a node that is not there");
	kernel.fail_query = EINVAL;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_NO_KERNEL_SUPPORT, "a kernel without counters");
	kernel.arms_size = 44;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_OTHER_INTERFACE, "a kernel with Arm's counters");
	kernel.arms_size = 48;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_OTHER_INTERFACE, "with those of the RFC");
	kernel.arms_size = 8;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_NO_KERNEL_SUPPORT, "a kernel that has something else there");
	kernel.fail_query = EIO;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_SYSTEM, "an I/O error");
	kernel.fail_query = ENODEV;
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_GONE, "a GPU that goes away");
	kernel_reset();
	memset(&kernel.info, 0, sizeof(kernel.info));
	expect(pperf_gpu_open(kernel.node, &none) == PPERF_ERROR_NO_COUNTERS, "firmware without counters");
	expect(!none, "something was opened");
	end("what cannot be opened has an error of its own");
}

static void test_setup(void)
{
	static const struct {
		int error;
		uint64_t period;
		enum pperf_error want;
	} errors[] = {
		{ EACCES, 0, PPERF_ERROR_PERMISSION }, { EACCES, 500000, PPERF_ERROR_PERMISSION },
		{ ENOSPC, 0, PPERF_ERROR_TOO_MANY }, { EOPNOTSUPP, 0, PPERF_ERROR_NO_COUNTERS },
		{ EINVAL, 0, PPERF_ERROR_INVALID }, { ENODEV, 0, PPERF_ERROR_GONE },
		{ ENOMEM, 0, PPERF_ERROR_NO_MEMORY }, { EIO, 0, PPERF_ERROR_SYSTEM },
	};
	struct pperf_session_options options = some_options(), wrong;
	struct {
		struct pperf_session_options options;
		uint64_t more[16];
	} longer;
	struct pperf_session *session;
	struct pperf_gpu *gpu;
	size_t i;

	begin();
	kernel_reset();
	gpu = open_gpu();
	options.period_ns = 5;
	options.flags = PPERF_SESSION_EMIT_AUTO;
	session = open_session(gpu, &options);
	expect(kernel.setup.shader_enable_mask[0] == 0xff0 && kernel.setup.tiler_enable_mask[0] == 0x30 &&
	       !kernel.setup.cshw_enable_mask[0], "masks");
	expect(kernel.setup.sample_slots == 4 && pperf_session_slots(session) == 4, "slots");
	expect(kernel.setup.sample_freq_ns == 100000 && pperf_session_period(session) == 100000,
	       "a period under the shortest is %llu", (unsigned long long)kernel.setup.sample_freq_ns);
	expect(kernel.setup.setup_flags == DRM_PANTHOR_PERF_SETUP_EMIT_AUTO, "flags");
	pperf_session_close(session);
	expect(!kernel.session && !kernel.open_bos, "%u buffers are left", kernel.open_bos);

	/* Rings of one's own size: bounded by the kernel, and long enough for the period. */
	options = some_options();
	options.slots = 0;
	session = open_session(gpu, &options);
	expect(pperf_session_slots(session) == 8, "%u slots", pperf_session_slots(session));
	pperf_session_close(session);
	options.period_ns = 10000000;
	session = open_session(gpu, &options);
	expect(pperf_session_slots(session) == 32, "%u slots for 10 ms", pperf_session_slots(session));
	pperf_session_close(session);
	options.period_ns = 100000;
	session = open_session(gpu, &options);
	expect(pperf_session_slots(session) == 64, "%u slots for 100 us", pperf_session_slots(session));
	pperf_session_close(session);
	end("a session is set up as it is asked for");

	begin();
	session = NULL;
	for (i = 0; i < COUNT(errors); i++) {
		enum pperf_error error;

		kernel.fail[DRM_PANTHOR_PERF_COMMAND_SETUP] = errors[i].error;
		options = some_options();
		options.period_ns = errors[i].period;
		error = pperf_session_open(gpu, &options, &session);
		expect(error == errors[i].want && *pperf_message(), "%s: error %d", strerror(errors[i].error), error);
		expect(!strchr(pperf_message(), '\n'), "%s: more than a line: %s", strerror(errors[i].error), pperf_message());
		if (errors[i].error == EACCES && !errors[i].period)
			expect(strstr(pperf_message(), "perf_event_paranoid") && strstr(pperf_message(), "udev rule") &&
			       strstr(pperf_message(), "perf_paranoid"), "who may is not told: %s", pperf_message());
	}
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_SETUP] = 0;

	/* A program that was built with a later header, of which it uses nothing, or something. */
	memset(&longer, 0, sizeof(longer));
	longer.options = some_options();
	longer.options.size = sizeof(longer);
	session = open_session(gpu, &longer.options);
	expect(kernel.setup.sample_slots == 4, "longer options: %u slots", kernel.setup.sample_slots);
	pperf_session_close(session);
	session = NULL;
	longer.more[COUNT(longer.more) - 1] = 1;
	expect(pperf_session_open(gpu, &longer.options, &session) == PPERF_ERROR_INVALID && strstr(pperf_message(), "newer version"),
	       "an option that is not known: %s", pperf_message());
	for (i = 0; i < 6; i++) {
		wrong = some_options();
		if (i == 0)
			wrong.size = offsetof(struct pperf_session_options, flags);
		else if (i == 1)
			wrong.slots = 3;
		else if (i == 2)
			wrong.slots = 128;
		else if (i == 3)
			wrong.set = 1;
		else if (i == 4)
			wrong.flags = 2;
		else
			wrong.period_ns = INT64_MAX / 2 + 1;
		expect(pperf_session_open(gpu, &wrong, &session) == PPERF_ERROR_INVALID, "option %zu is taken", i);
	}
	expect(!session && !kernel.session && !kernel.open_bos, "%u buffers are left", kernel.open_bos);
	pperf_gpu_close(gpu);

	gpu = open_gpu();
	options = some_options();
	options.period_ns = INT64_MAX / 2;
	session = open_session(gpu, &options);
	expect(kernel.setup.sample_freq_ns == INT64_MAX / 2, "the longest period: %llu",
	       (unsigned long long)kernel.setup.sample_freq_ns);
	pperf_session_close(session);
	pperf_gpu_close(gpu);

	kernel.info.sample_size += 8;
	gpu = open_gpu();
	options = some_options();
	expect(pperf_session_open(gpu, &options, &session) == PPERF_ERROR_NO_KERNEL_SUPPORT &&
	       !kernel.open_bos, "an unknown interface is used");
	pperf_gpu_close(gpu);
	end("a session that cannot be set up leaves nothing behind");
}

static void test_commands(void)
{
	struct pperf_session_options options = some_options();
	const struct pperf_sample *sample;
	struct pperf_session *session;
	struct pperf_gpu *gpu;

	begin();
	kernel_reset();
	gpu = open_gpu();
	session = open_session(gpu, &options);
	expect(pperf_session_sample(session, 1) == PPERF_ERROR_INVALID && !kernel.commands[4],
	       "a sample of a session that is not started");
	expect(!pperf_session_stop(session, 1) && !kernel.commands[3], "it is stopped");

	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = EBUSY;
	expect(pperf_session_start(session, 1) == PPERF_ERROR_SET_IN_USE, "another set");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = ETIMEDOUT;
	expect(pperf_session_start(session, 1) == PPERF_ERROR_FIRMWARE, "dead firmware");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = ENODEV;
	expect(pperf_session_start(session, 1) == PPERF_ERROR_GONE, "a GPU that is gone");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = EINTR;
	expect(pperf_session_start(session, 1) == PPERF_ERROR_INTERRUPTED && !kernel.repeated, "a signal: %s, %u times",
	       pperf_message(), kernel.repeated);
	expect(pperf_session_sample(session, 1) == PPERF_ERROR_INVALID, "what a signal has ended is started");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = 0;
	expect(!pperf_session_start(session, 41) && kernel.last_data == 41, "START: %s", pperf_message());
	expect(!pperf_session_sample(session, 42) && kernel.last_data == 42, "SAMPLE: %s", pperf_message());
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_SAMPLE] = EBUSY;
	expect(pperf_session_sample(session, 43) == PPERF_ERROR_RING_FULL, "a full ring");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_SAMPLE] = ENODEV;
	expect(pperf_session_sample(session, 43) == PPERF_ERROR_GONE, "a GPU that is gone");
	expect(!pperf_session_stop(session, 44) && kernel.last_data == 44, "STOP: %s", pperf_message());

	/* Busy for the reason that the last sample is to come. */
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = EBUSY;
	expect(pperf_session_start(session, 45) == PPERF_ERROR_RING_FULL, "a session that is stopping");
	deliver(44, 0, 0);
	expect(!pperf_session_next(session, &sample) && sample, "the last sample");
	expect(pperf_session_start(session, 45) == PPERF_ERROR_SET_IN_USE, "a session that has stopped");
	pperf_session_close(session);

	options.period_ns = 1000000;
	session = open_session(gpu, &options);
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = 0;
	expect(!pperf_session_start(session, 1), "%s", pperf_message());
	expect(pperf_session_sample(session, 2) == PPERF_ERROR_INVALID, "a sample of a periodic session");
	pperf_session_close(session);
	pperf_session_close(NULL);
	pperf_gpu_close(gpu);
	end("commands, and what they answer");
}

/* Which of the samples is the last is told, whatever tags the user gives. */
static void test_last(void)
{
	struct pperf_session_options options = some_options();
	const struct pperf_sample *sample;
	struct pperf_session *session;
	uint64_t start, last;
	struct pperf_gpu *gpu;
	int i;

	begin();
	kernel_reset();
	gpu = open_gpu();
	options.period_ns = 1000000;
	session = open_session(gpu, &options);
	/* Of a periodic session: twice, so that nothing is left of the first time. */
	for (i = 0; i < 2; i++) {
		expect(!pperf_session_start(session, 7), "%s", pperf_message());
		start = kernel.last_data;
		expect(!pperf_session_stop(session, 7), "%s", pperf_message());
		last = kernel.last_data;
		deliver(start, 0, 0);
		deliver(last, 0, 0);
		expect(!pperf_session_next(session, &sample) && sample && sample->user_data == 7 && !sample->last,
		       "the first is taken for the last");
		kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = EBUSY;
		expect(pperf_session_start(session, 1) == PPERF_ERROR_RING_FULL, "the last was not read: %s", pperf_message());
		kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = 0;
		expect(!pperf_session_next(session, &sample) && sample && sample->user_data == 7 && sample->last,
		       "the last is not told");
	}
	pperf_session_close(session);

	/* Tags of samples that were asked for, and the one beside. */
	options.period_ns = 0;
	session = open_session(gpu, &options);
	expect(!pperf_session_start(session, 1) && !pperf_session_sample(session, 2) &&
	       !pperf_session_sample(session, 3) && !pperf_session_stop(session, 2), "%s", pperf_message());
	last = kernel.last_data;
	expect(last > 3, "the tag of STOP is %llu", (unsigned long long)last);
	deliver(2, 0, 0);
	deliver(3, 0, 0);
	deliver(last, 0, 0);
	for (i = 0; i < 3; i++)
		expect(!pperf_session_next(session, &sample) && sample && sample->last == (i == 2) &&
		       sample->user_data == (uint64_t)(i == 1 ? 3 : 2), "sample %d", i);
	pperf_session_close(session);
	pperf_gpu_close(gpu);
	end("the last sample is told");
}

static void test_samples(void)
{
	struct pperf_session_options options = some_options();
	const struct pperf_sample *sample;
	const struct pperf_block *block;
	struct pperf_session *session;
	struct pperf_sample *copy;
	struct pperf_gpu *gpu;
	bool ready = true;
	uint64_t i;

	begin();
	kernel_reset();
	gpu = open_gpu();
	session = open_session(gpu, &options);
	expect(!pperf_session_start(session, 7), "%s", pperf_message());
	expect(!pperf_session_wait(session, 0, &ready) && !ready, "a sample before there is one");
	expect(!pperf_session_next(session, &sample) && !sample, "a sample before there is one");

	/* Thrice around a ring of four. */
	for (i = 0; i < 12; i++) {
		deliver(i, i % 3 ? 0 : PPERF_SAMPLE_STRETCHED, i * 1000);
		expect(!pperf_session_wait(session, -1, &ready) && ready && pperf_session_pending(session) == 1,
		       "sample %llu does not come", (unsigned long long)i);
		expect(extracted() == i, "the sample before is still held");
		if (pperf_session_next(session, &sample) || !sample) {
			expect(false, "no sample %llu: %s", (unsigned long long)i, pperf_message());
			break;
		}
		expect(sample->user_data == i && sample->start_ns == i * 1000 && sample->end_ns == i * 1000 + 1000 &&
		       sample->cycles[PPERF_CLOCK_TOPLEVEL] == 77, "head of sample %llu", (unsigned long long)i);
		block = pperf_sample_block(sample, PPERF_BLOCK_SHADER, 1);
		expect(block && block->values[5] == i * 1000 + 4 * VALUES + 5 && block->enabled[0] == 0xff0 &&
		       block->states == PPERF_STATE_ON, "shader core 1 of sample %llu", (unsigned long long)i);
		expect(!pperf_sample_block(sample, PPERF_BLOCK_SHADER, 2), "there is a third core");
		if (i % 2)
			pperf_session_release(session);
		else
			expect(!pperf_session_next(session, &sample) && !sample, "one more sample");
	}
	expect(!pperf_session_wait(session, 0, &ready) && !ready, "a signal is left");

	/* Several at once. */
	for (i = 0; i < 4; i++)
		deliver(i, 0, 0);
	for (i = 0; i < 4; i++)
		expect(!pperf_session_next(session, &sample) && sample && sample->user_data == i, "sample %llu of four",
		       (unsigned long long)i);
	expect(!pperf_session_next(session, &sample) && !sample && extracted() == 16, "%llu are given back",
	       (unsigned long long)extracted());
	expect(pperf_session_log(session)->samples == 16 && pperf_session_log(session)->stretched == 4,
	       "the log has %llu", (unsigned long long)pperf_session_log(session)->samples);
	end("samples come as they were delivered");

	begin();
	deliver(5, PPERF_SAMPLE_ERROR, 500);
	expect(!pperf_session_next(session, &sample) && sample, "%s", pperf_message());
	expect(!pperf_sample_copy(sample, &copy), "%s", pperf_message());
	/* The slot is the kernel's again, and all slots are written anew. */
	for (i = 0; i < 4; i++) {
		pperf_session_release(session);
		deliver(6, 0, 900);
		expect(!pperf_session_next(session, &sample) && sample, "%s", pperf_message());
	}
	block = pperf_sample_block(copy, PPERF_BLOCK_SHADER, 1);
	expect(copy->user_data == 5 && copy->flags == PPERF_SAMPLE_ERROR && copy->num_blocks == BLOCKS && block &&
	       block->values[5] == 500 + 4 * VALUES + 5 && block->values[VALUES - 1] == 500 + 5 * VALUES - 1 &&
	       block->enabled[0] == 0xff0, "the copy has changed");
	block = pperf_sample_block(sample, PPERF_BLOCK_SHADER, 1);
	expect(sample->user_data == 6 && block->values[5] == 900 + 4 * VALUES + 5, "the sample has not");
	pperf_session_close(session);
	block = pperf_sample_block_at(copy, 0);
	expect(block->type == PPERF_BLOCK_CSHW && block->values[0] == 500, "the copy went with its session");
	pperf_sample_free(copy);
	pperf_sample_free(NULL);
	session = open_session(gpu, &options);
	expect(!pperf_session_start(session, 7), "%s", pperf_message());
	end("a copy of a sample stays");

	begin();
	deliver(1, 0, 0);
	/* The second slot: the index of the third block. */
	spoil((kernel.insert - 1) % 4 * SAMPLE_SIZE + 56 + 2 * (24 + 8 * VALUES) + 1, 3);
	expect(pperf_session_next(session, &sample) == PPERF_ERROR_BROKEN &&
	       strstr(pperf_message(), "5.3 instead of 5.0"), "a broken block: %s", pperf_message());
	pperf_session_close(session);

	/* What is read is a copy, unless the kernel has memory that is read through the cache. */
	for (i = 0; i < 2; i++) {
		kernel.bo_flags = i ? 2 : 0;
		session = open_session(gpu, &options);
		deliver(1, 0, 100);
		expect(!pperf_session_next(session, &sample) && sample, "%s", pperf_message());
		spoil(56 + 24, 99);
		block = pperf_sample_block_at(sample, 0);
		expect((block->values[0] == 99) == !!i && kernel.ring_flags == kernel.bo_flags,
		       "value 0 is %llu, flags %u", (unsigned long long)block->values[0], kernel.ring_flags);
		pperf_session_close(session);
		expect(!kernel.open_bos, "%u buffers are left", kernel.open_bos);
	}
	session = open_session(gpu, &options);
	kernel.insert = 5;
	deliver(1, 0, 0);
	expect(pperf_session_next(session, &sample) == PPERF_ERROR_BROKEN, "six samples in a ring of four");
	pperf_session_close(session);
	pperf_gpu_close(gpu);
	end("what is not what the kernel promised is refused");
}

static void test_gone(void)
{
	struct pperf_session_options options = some_options();
	const struct pperf_sample *sample;
	struct pperf_session *session;
	struct pperf_gpu *gpu;
	bool ready;

	begin();
	kernel_reset();
	gpu = open_gpu();
	session = open_session(gpu, &options);
	expect(!pperf_session_start(session, 7), "%s", pperf_message());

	/* A reset: the GPU is there, and counting goes on. */
	deliver(7, PPERF_SAMPLE_ERROR, 0);
	expect(!pperf_session_next(session, &sample) && sample, "%s", pperf_message());
	expect(!pperf_session_next(session, &sample) && !sample, "%s", pperf_message());

	/* Its removal: what was counted can be read, and then it is told, again and again. */
	deliver(7, PPERF_SAMPLE_ERROR, 0);
	kernel.gone = true;
	expect(!pperf_session_wait(session, -1, &ready) && ready, "%s", pperf_message());
	expect(!pperf_session_next(session, &sample) && sample, "%s", pperf_message());
	expect(pperf_session_wait(session, -1, &ready) == PPERF_ERROR_GONE, "a wait without end");
	expect(pperf_session_next(session, &sample) == PPERF_ERROR_GONE &&
	       pperf_session_next(session, &sample) == PPERF_ERROR_GONE, "there may be more");
	expect(pperf_session_stop(session, 8) == PPERF_ERROR_GONE, "it can be stopped");
	pperf_session_close(session);
	pperf_gpu_close(gpu);
	end("a GPU that goes away is told, behind its last sample");
}

/* Front end, then tiler, then the slice: in a sample that begins with 0, GPU cycles are 4, and beats 128 + their number. */
static void test_meter(void)
{
	struct {
		struct pperf_reading r;
		uint64_t behind;
	} reading = { .behind = 3 };
	struct pperf_reading *r = &reading.r;
	struct pperf_meter *meter = NULL;
	int fd;

	begin();
	kernel_reset();
	fd = open(kernel.node, O_RDWR);
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_SETUP] = EACCES;
	expect(pperf_meter_open(fd, &meter) == PPERF_ERROR_PERMISSION && !meter && !kernel.session && !kernel.open_bos,
	       "a meter without permission: %s", pperf_message());
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_SETUP] = 0;
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = EBUSY;
	expect(pperf_meter_open(fd, &meter) == PPERF_ERROR_SET_IN_USE && !kernel.session && !kernel.open_bos, "beside another set");
	kernel.fail[DRM_PANTHOR_PERF_COMMAND_START] = 0;
	expect(!pperf_meter_open(fd, &meter), "%s", pperf_message());
	close(fd);

	expect(pperf_meter_read(meter, r, 8) == PPERF_ERROR_INVALID, "a reading of 8 bytes");
	expect(!pperf_meter_read(meter, r, sizeof(*r)) && r->seconds == 0 && isnan(r->load) && isnan(r->read) && reading.behind == 3,
	       "a reading before there was a sample: %g s, %g", r->seconds, r->load);
	deliver(0, 0, 0);
	deliver(0, PPERF_SAMPLE_STRETCHED, 7);
	expect(!pperf_meter_read(meter, r, sizeof(*r)) && fabs(r->seconds - 2e-6) < 1e-15 && fabs(r->load - 15. / 154) < 1e-9 &&
	       fabs(r->active_hz / 77e6 - 1) < 1e-9 && r->flags == PPERF_SAMPLE_STRETCHED && reading.behind == 3,
	       "two samples: %g s, load %g, %g Hz, flags %u", r->seconds, r->load, r->active_hz, r->flags);
	expect(fabs(r->read - (2 * (128 + 32) + 7) * 16 / 2e-6) < 1 && fabs(r->written - (2 * (128 + 47) + 7) * 16 / 2e-6) < 1,
	       "%g bytes a second read, %g written", r->read, r->written);
	expect(!pperf_meter_read(meter, r, sizeof(*r)) && fabs(r->load - 15. / 154) < 1e-9, "no sample since");
	deliver(0, 0, 0);
	expect(!pperf_meter_read(meter, r, sizeof(*r)) && fabs(r->load - 4. / 77) < 1e-9 && !r->flags, "one since: %g", r->load);
	deliver(0, PPERF_SAMPLE_ERROR, 0);
	kernel.gone = true;
	expect(pperf_meter_read(meter, r, sizeof(*r)) == PPERF_ERROR_GONE, "a GPU that is gone");
	pperf_meter_close(meter);
	pperf_meter_close(NULL);
	end("a meter reads what was counted since");
}

/* What a program fills in, and what is filled in for it, has the size that the program says. */
static void test_structs(void)
{
	struct {
		struct pperf_log log;
		uint64_t behind;
	} log = { .log = { .size = sizeof(log.log) }, .behind = 1 };
	struct {
		struct pperf_load load;
		uint64_t behind;
	} load = { .behind = 2 };
	const struct pperf_topdown_node *const *nodes;
	const struct pperf_counter *const *counters;
	struct pperf_topdown *topdown = NULL;
	struct pperf_sums *sums = NULL;
	struct pperf_sample *copy;
	static struct fake fake;
	struct pperf_db *db;
	size_t count, i;

	begin();
	expect(!pperf_db_open("Mali-G710", &db), "%s", pperf_message());
	fake_init(&fake, "Mali-G710", 2, 3, 16);
	fake.sample.end_ns = 1000000;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = 1000;
	*fake_value(&fake, PPERF_BLOCK_SHADER, 2, 40) = 77;
	expect(!pperf_sums_new(db, &fake.info, &sums) && !pperf_topdown_new(db, &fake.info, &topdown), "%s", pperf_message());
	expect(!pperf_sums_add(sums, &fake.sample) && !pperf_topdown_add(topdown, &fake.sample), "%s", pperf_message());
	expect(pperf_sums_block(sums, pperf_db_at(db, PPERF_BLOCK_SHADER, 40), 2) == 77 &&
	       pperf_sample_total(&fake.sample, pperf_db_at(db, PPERF_BLOCK_SHADER, 40)) == 77, "core 2 has not counted 77");
	expect(!pperf_sums_load(sums, &load.load, sizeof(load.load)) && load.load.cycles == 1000 && load.behind == 2,
	       "the load of %llu cycles, %llu behind", (unsigned long long)load.load.cycles, (unsigned long long)load.behind);
	expect(!pperf_sums_load(sums, &load.load, sizeof(load)) && load.load.cycles == 1000 && !load.behind,
	       "what the library does not know is %llu", (unsigned long long)load.behind);
	expect(!pperf_sample_copy(&fake.sample, &copy) &&
	       pperf_sample_block(copy, PPERF_BLOCK_SHADER, 2)->values[40] == 77 && copy->end_ns == 1000000, "the copy");
	expect(!pperf_sums_add(sums, copy), "a copy is added: %s", pperf_message());
	pperf_sample_free(copy);
	expect(!pperf_log_add(&log.log, &fake.sample) && log.log.samples == 1 && log.log.longest_ns == 1000000 && log.behind == 1,
	       "the log");

	counters = pperf_db_counters(db, &count);
	for (i = 0; i < count; i++)
		expect(*counters[i]->name && pperf_db_find(db, counters[i]->name) == counters[i], "counter %zu", i);
	nodes = pperf_db_topdown(db, &count);
	for (i = 1; i < count; i++)
		expect(nodes[i]->level && nodes[i]->parent->children && *nodes[i]->name, "node %zu", i);
	expect(count > 20, "%zu nodes", count);

	/* Sizes that nobody has set. */
	log.log.size = 0;
	expect(pperf_log_add(&log.log, &fake.sample) == PPERF_ERROR_INVALID && log.log.samples == 1, "a log without a size");
	expect(pperf_sums_load(sums, &load.load, 8) == PPERF_ERROR_INVALID, "a load of 8 bytes");
	fake.sample.block_size = 0;
	expect(pperf_sums_add(sums, &fake.sample) == PPERF_ERROR_INVALID && pperf_sample_copy(&fake.sample, &copy) == PPERF_ERROR_INVALID,
	       "blocks without a size");
	fake.sample.block_size = sizeof(fake.blocks[0]);
	fake.sample.num_values = 32;
	expect(pperf_sums_add(sums, &fake.sample) == PPERF_ERROR_BROKEN, "blocks of 32 values");
	pperf_sums_free(sums);
	pperf_topdown_free(topdown);

	/* A GPU whose blocks have no place for what is enabled; and blocks of which nothing is enabled, and no values. */
	fake.info.values_per_block = 32;
	expect(!pperf_sums_new(db, &fake.info, &sums) && pperf_sums_add(sums, &fake.sample) == PPERF_ERROR_INVALID &&
	       strstr(pperf_message(), "32"), "a GPU of 32 values: %s", pperf_message());
	pperf_sums_free(sums);
	fake.sample.num_values = fake.info.values_per_block = 64;
	fake.blocks[1].values = NULL;
	fake.blocks[1].enabled[0] = 0;
	expect(!pperf_sample_copy(&fake.sample, &copy) && pperf_sample_block_at(copy, 1)->values[63] == 0 &&
	       pperf_sample_block(copy, PPERF_BLOCK_SHADER, 2)->values[40] == 77, "a copy of a block without values");
	pperf_sample_free(copy);
	fake.info.size = 8;
	expect(pperf_sums_new(db, &fake.info, &sums) == PPERF_ERROR_INVALID &&
	       pperf_topdown_new(db, &fake.info, &topdown) == PPERF_ERROR_INVALID, "a GPU of 8 bytes");
	pperf_db_close(db);
	end("structs have the size that the program says");
}

int main(void)
{
	int fd;

	if (!setlocale(LC_ALL, "")) {
		printf("Bail out! this locale is not there\n");
		return 1;
	}
	strcpy(kernel.node, "/tmp/session-test-XXXXXX");
	fd = mkstemp(kernel.node);
	if (fd < 0 || ftruncate(fd, (off_t)MAX_BOS * BO_SPACE)) {
		printf("Bail out! %s\n", strerror(errno));
		return 1;
	}
	close(fd);

	/* What was said before a hang is to be seen. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("1..13\n");
	test_gpu();
	test_setup();
	test_commands();
	test_last();
	test_samples();
	test_gone();
	test_meter();
	test_structs();
	unlink(kernel.node);
	return failed;
}
