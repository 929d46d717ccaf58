// SPDX-License-Identifier: MIT
/* One counter session: the kernel's commands, and an iterator over its ring. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xf86drm.h>

#include "device.h"

/* The indices of a ring are 64 bits of memory that is write-combined, where 32-bit Arm has no atomic access to them. */
#ifndef __LP64__
#error "libpanthor-perf is for machines of 64 bits"
#endif

/* A ring that is chosen here bridges so much time, within these bounds. */
#define RING_NS 250000000ull
#define MIN_SLOTS 8u
#define MAX_RING_BYTES (16u << 20)

/* Whether samples are still to come. */
enum session_state {
	/* Not started: START leads to counting. */
	SESSION_IDLE,

	/* Started: STOP leads to stopping. */
	SESSION_COUNTING,

	/* Stopped, the last sample is to come: reading it leads to idle. */
	SESSION_STOPPING,
};

struct pperf_session {
	struct pperf_gpu *gpu;
	enum session_state state;

	/* Handle, 0 if there is no session. */
	uint32_t handle;

	/* Becomes readable when there are samples. */
	int eventfd;

	uint64_t period_ns;
	uint32_t slots;
	uint32_t bos[2];
	char *ring;
	size_t ring_size;

	/* Where a sample is copied to be read more than once, if the ring's memory has no cache; NULL if it has. */
	char *copy;
	struct drm_panthor_perf_ringbuf_control *control;
	size_t control_size;

	/* Index of the next sample to read, and whether the one before is still the user's. */
	uint64_t extract;
	bool held;

	/* Tag of STOP that the kernel has, which no other sample has, and that of the user. */
	uint64_t stop_tag, user_stop_tag;

	/* Tag of START, and by number those of the SAMPLEs that were asked for and not read: at most as many as slots. */
	uint64_t start_tag;
	uint64_t *asked;
	uint64_t asked_in, asked_out;

	/* The last sample was flagged ERROR: the GPU may be gone. */
	bool suspicious;

	struct pperf_sample sample;
	struct pperf_block *blocks;
	struct pperf_log log;
};

_Static_assert(PPERF_BLOCK_SHADER == (int)DRM_PANTHOR_PERF_BLOCK_SHADER &&
	       PPERF_BLOCK_FW == (int)DRM_PANTHOR_PERF_BLOCK_FW, "block types are the kernel's");
_Static_assert(PPERF_SAMPLE_STRETCHED == DRM_PANTHOR_PERF_SAMPLE_STRETCHED &&
	       PPERF_SAMPLE_ERROR == DRM_PANTHOR_PERF_SAMPLE_ERROR &&
	       PPERF_SAMPLE_OVERFLOW == DRM_PANTHOR_PERF_SAMPLE_OVERFLOW, "flags are the kernel's");
_Static_assert(PPERF_STATE_ON == DRM_PANTHOR_PERF_BLOCK_STATE_ON &&
	       PPERF_STATE_OFF == DRM_PANTHOR_PERF_BLOCK_STATE_OFF &&
	       PPERF_STATE_AVAILABLE == DRM_PANTHOR_PERF_BLOCK_STATE_AVAILABLE &&
	       PPERF_STATE_UNAVAILABLE == DRM_PANTHOR_PERF_BLOCK_STATE_UNAVAILABLE &&
	       PPERF_STATE_NORMAL == DRM_PANTHOR_PERF_BLOCK_STATE_NORMAL &&
	       PPERF_STATE_PROTECTED == DRM_PANTHOR_PERF_BLOCK_STATE_PROTECTED, "states are the kernel's");
_Static_assert(PPERF_CLOCK_SHADER == (int)DRM_PANTHOR_PERF_CLOCK_SHADER, "clocks are the kernel's");
_Static_assert(PPERF_SESSION_EMIT_AUTO == DRM_PANTHOR_PERF_SETUP_EMIT_AUTO, "flags are the kernel's");

static int call_once(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg);
}

/* Returns 0 or -errno. START alone is ended by a signal: all else is done at once, and goes on behind one. */
static int command(const struct pperf_session *s, uint32_t cmd, uint32_t *handle, void *arg,
		   uint64_t size)
{
	int (*call)(int fd, unsigned long request, void *arg) = cmd == DRM_PANTHOR_PERF_COMMAND_START ? call_once : drmIoctl;
	struct drm_panthor_perf_control c = {
		.cmd = cmd,
		.handle = *handle,
		.size = size,
		.pointer = (uintptr_t)arg,
	};

	if (call(s->gpu->fd, DRM_IOCTL_PANTHOR_PERF_CONTROL, &c))
		return -errno;
	*handle = c.handle;
	return 0;
}

static enum pperf_error gone(const struct pperf_session *s)
{
	return pperf_fail(PPERF_ERROR_GONE, "%s is gone: the GPU was removed, or its driver unbound",
			  pperf_gpu_label(s->gpu));
}

/* A buffer object and its mapping. Returns NULL with errno set. */
static void *make_buffer(const struct pperf_session *s, size_t size, uint32_t flags, uint32_t *handle,
			 size_t *real_size)
{
	struct panthor_bo_create create = { .size = size, .flags = flags };
	struct panthor_bo_mmap_offset offset = {};
	void *map;

	if (drmIoctl(s->gpu->fd, PANTHOR_IOCTL_BO_CREATE, &create))
		return NULL;

	*handle = create.handle;
	*real_size = create.size;
	offset.handle = create.handle;
	if (drmIoctl(s->gpu->fd, PANTHOR_IOCTL_BO_MMAP_OFFSET, &offset))
		return NULL;

	map = mmap(NULL, create.size, PROT_READ | PROT_WRITE, MAP_SHARED, s->gpu->fd, offset.offset);
	return map == MAP_FAILED ? NULL : map;
}

static enum pperf_error setup_error(const struct pperf_session *s, int error)
{
	switch (error) {
	case EACCES:
		if (s->period_ns && s->period_ns < 1000000)
			return pperf_fail(PPERF_ERROR_PERMISSION, "no permission to sample the GPU at this "
					  "rate, which would show the work of other users in detail. Run as root or "
					  "with CAP_PERFMON, or use a period of 1 ms or more");
		return pperf_fail(PPERF_ERROR_PERMISSION, "no permission to count: counters show the work of all users "
				  "of the GPU. Run as root or with CAP_PERFMON. Root can also allow everybody with sysctl "
				  "kernel.perf_event_paranoid=0 (from Linux 7.3 on), or everybody who may open the GPU with the "
				  "udev rule in 60-panthor-perf.rules or with "
				  "echo 0 > /sys/module/panthor/parameters/perf_paranoid");
	case ENOSPC:
		return pperf_fail(PPERF_ERROR_TOO_MANY, "too many counter sessions on this GPU. "
				  "End some of them first");
	case EOPNOTSUPP:
		return pperf_fail(PPERF_ERROR_NO_COUNTERS, "this GPU has no performance counters. See the "
				  "kernel log (dmesg)");
	case EINVAL:
		return pperf_fail(PPERF_ERROR_INVALID, "the kernel rejected this counter session. "
				  "Run panthor-perf info to check that the counter set exists");
	case ENODEV:
		return gone(s);
	case ENOMEM:
		return pperf_no_memory();
	default:
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot set up a counter session: %s",
				  strerror(error));
	}
}

/* Slots that bridge RING_NS. */
static uint32_t choose_slots(const struct pperf_gpu_info *info, uint64_t period_ns)
{
	uint32_t slots = MIN_SLOTS;

	while (period_ns && slots < RING_NS / period_ns &&
	       (uint64_t)slots * 2 * info->sample_size <= MAX_RING_BYTES)
		slots *= 2;
	while (info->max_slots && slots > info->max_slots)
		slots /= 2;
	return slots;
}

static enum pperf_error make_blocks(struct pperf_session *s)
{
	const struct pperf_gpu_info *info = &s->gpu->info;
	unsigned int type, index, n = 0;

	s->log.size = sizeof(s->log);
	s->sample.size = sizeof(s->sample);
	s->sample.block_size = sizeof(*s->blocks);
	s->sample.num_values = info->values_per_block;
	s->sample.num_blocks = pperf_info_blocks(info);
	s->blocks = calloc(s->sample.num_blocks, sizeof(*s->blocks));
	if (!s->blocks)
		return pperf_no_memory();
	s->sample.blocks = s->blocks;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = 0; index < info->blocks[type]; index++, n++) {
			s->blocks[n].type = type;
			s->blocks[n].index = index;
		}
	}
	return PPERF_OK;
}

static enum pperf_error setup(struct pperf_session *s, const struct pperf_session_options *options)
{
	const struct pperf_masks *masks = &options->masks;
	struct drm_panthor_perf_cmd_setup setup = {
		.block_set = options->set,
		.setup_flags = options->flags,
		.fd = s->eventfd,
		.ringbuf_handle = s->bos[0],
		.control_handle = s->bos[1],
		.sample_slots = s->slots,
		.sample_freq_ns = s->period_ns,
	};
	int ret;

	memcpy(setup.fw_enable_mask, masks->bits[PPERF_BLOCK_FW], 16);
	memcpy(setup.csg_enable_mask, masks->bits[PPERF_BLOCK_CSG], 16);
	memcpy(setup.cshw_enable_mask, masks->bits[PPERF_BLOCK_CSHW], 16);
	memcpy(setup.tiler_enable_mask, masks->bits[PPERF_BLOCK_TILER], 16);
	memcpy(setup.memsys_enable_mask, masks->bits[PPERF_BLOCK_MEMSYS], 16);
	memcpy(setup.shader_enable_mask, masks->bits[PPERF_BLOCK_SHADER], 16);

	ret = command(s, DRM_PANTHOR_PERF_COMMAND_SETUP, &s->handle, &setup, sizeof(setup));
	return ret ? setup_error(s, -ret) : PPERF_OK;
}

static enum pperf_error check_options(const struct pperf_gpu_info *info,
				      const struct pperf_session_options *options)
{
	if (!info->interface_known)
		return pperf_fail(PPERF_ERROR_NO_KERNEL_SUPPORT, "the performance counter interface of this "
				  "kernel does not match this program. Use the "
				  "panthor-perf that came with the kernel");
	if (options->flags & ~PPERF_SESSION_EMIT_AUTO)
		return pperf_fail(PPERF_ERROR_INVALID, "unknown session flags: %#x", options->flags);
	if (options->slots && (options->slots < 2 || options->slots & (options->slots - 1)))
		return pperf_fail(PPERF_ERROR_INVALID, "%u slots: use a power of two, at least 2",
				  options->slots);
	if (info->max_slots && options->slots > info->max_slots)
		return pperf_fail(PPERF_ERROR_INVALID, "%u slots: the kernel allows at most %u", options->slots,
				  info->max_slots);
	if (options->period_ns > INT64_MAX / 2)
		return pperf_fail(PPERF_ERROR_INVALID, "a period of %" PRIu64 " ns is too long: the maximum is %" PRId64 " ns",
				  options->period_ns, INT64_MAX / 2);
	if (info->sets && (options->set > 31 || !(info->sets >> options->set & 1)))
		return pperf_fail(PPERF_ERROR_INVALID, "the GPU has no counter set %u", options->set);
	return PPERF_OK;
}

/* The options of a program that was built with this header, an older or a newer one. */
static enum pperf_error copy_options(struct pperf_session_options *copy, const struct pperf_session_options *options)
{
	const size_t least = SIZE_0_3(struct pperf_session_options, flags);
	const char *bytes = (const char *)options;
	size_t i;

	if (options->size < least)
		return pperf_fail(PPERF_ERROR_INVALID, "pperf_session_options::size is %zu, but must be at least %zu",
				  options->size, least);
	for (i = sizeof(*copy); i < options->size; i++)
		if (bytes[i])
			return pperf_fail(PPERF_ERROR_INVALID, "a session option needs a newer version of the library "
					  "than " PPERF_VERSION);
	pperf_struct_copy(copy, sizeof(*copy), options, options->size);
	return PPERF_OK;
}

enum pperf_error pperf_session_open(struct pperf_gpu *gpu, const struct pperf_session_options *given,
				    struct pperf_session **out)
{
	const struct pperf_gpu_info *info = &gpu->info;
	size_t page = sysconf(_SC_PAGESIZE), size;
	struct pperf_session_options options;
	enum pperf_error error = copy_options(&options, given);
	struct pperf_session *s;

	if (!error)
		error = check_options(info, &options);
	if (error)
		return error;

	s = calloc(1, sizeof(*s));
	if (!s)
		return pperf_no_memory();
	s->gpu = gpu;
	s->period_ns = options.period_ns;
	if (s->period_ns && s->period_ns < info->min_period_ns)
		s->period_ns = info->min_period_ns;
	s->slots = options.slots ? options.slots : choose_slots(info, s->period_ns);

	s->eventfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->eventfd < 0) {
		error = pperf_fail(PPERF_ERROR_SYSTEM, "cannot create an eventfd: %s", strerror(errno));
		goto out;
	}

	error = make_blocks(s);
	if (error)
		goto out;
	s->asked = calloc(s->slots, sizeof(*s->asked));
	if (!s->asked) {
		error = pperf_no_memory();
		goto out;
	}

	size = ((size_t)s->slots * info->sample_size + page - 1) & ~(page - 1);
	s->ring = make_buffer(s, size, PANTHOR_BO_CACHED, &s->bos[0], &s->ring_size);
	if (!s->ring && !s->bos[0] && errno == EINVAL) {
		s->ring = make_buffer(s, size, 0, &s->bos[0], &s->ring_size);
		s->copy = malloc(info->sample_size);
		if (s->ring && !s->copy) {
			error = pperf_no_memory();
			goto out;
		}
	}
	if (s->ring)
		s->control = make_buffer(s, page, 0, &s->bos[1], &s->control_size);
	if (!s->ring || !s->control)
		error = errno == ENODEV ? gone(s) :
			pperf_fail(PPERF_ERROR_SYSTEM, "cannot map the sample buffer: %s", strerror(errno));
	else
		error = setup(s, &options);
out:
	if (error)
		pperf_session_close(s);
	else
		*out = s;
	return error;
}

void pperf_session_close(struct pperf_session *s)
{
	struct drm_gem_close gem = {};
	int i;

	if (!s)
		return;
	if (s->handle)
		command(s, DRM_PANTHOR_PERF_COMMAND_TEARDOWN, &s->handle, NULL, 0);
	if (s->ring)
		munmap(s->ring, s->ring_size);
	if (s->control)
		munmap(s->control, s->control_size);
	for (i = 0; i < 2; i++) {
		gem.handle = s->bos[i];
		if (gem.handle)
			drmIoctl(s->gpu->fd, DRM_IOCTL_GEM_CLOSE, &gem);
	}
	if (s->eventfd >= 0)
		close(s->eventfd);
	free(s->copy);
	free(s->asked);
	free(s->blocks);
	free(s);
}

enum pperf_error pperf_session_start(struct pperf_session *s, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_start start = { .user_data = user_data };
	int ret = command(s, DRM_PANTHOR_PERF_COMMAND_START, &s->handle, &start, sizeof(start));

	switch (ret) {
	case 0:
		/* Of one that counts already, nothing has changed. */
		if (s->state != SESSION_COUNTING)
			s->start_tag = user_data;
		s->state = SESSION_COUNTING;
		return PPERF_OK;
	case -EBUSY:
		if (s->state == SESSION_STOPPING || pperf_session_pending(s) == s->slots)
			return pperf_fail(PPERF_ERROR_RING_FULL, "read the samples of the previous run "
					  "first");
		return pperf_fail(PPERF_ERROR_SET_IN_USE, "another program is using a different counter set of this "
				  "GPU. End it first");
	case -ETIMEDOUT:
		return pperf_fail(PPERF_ERROR_FIRMWARE, "the GPU firmware does not respond. The driver "
				  "resets the GPU; try again");
	case -ENODEV:
		return gone(s);
	case -EINTR:
		return pperf_fail(PPERF_ERROR_INTERRUPTED, "interrupted by a signal before counting started");
	default:
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot start counting: %s", strerror(-ret));
	}
}

enum pperf_error pperf_session_sample(struct pperf_session *s, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_sample sample = { .user_data = user_data };
	int ret;

	if (s->period_ns)
		return pperf_fail(PPERF_ERROR_INVALID, "a session with a period takes its own samples");
	if (s->state != SESSION_COUNTING)
		return pperf_fail(PPERF_ERROR_INVALID, "the session has not been started");

	ret = command(s, DRM_PANTHOR_PERF_COMMAND_SAMPLE, &s->handle, &sample, sizeof(sample));
	switch (ret) {
	case 0:
		s->asked[s->asked_in++ & (s->slots - 1)] = user_data;
		return PPERF_OK;
	case -EBUSY:
		return pperf_fail(PPERF_ERROR_RING_FULL, "all slots of the ring are in use. Read some "
				  "samples first");
	case -ENODEV:
		return gone(s);
	default:
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot take a sample: %s", strerror(-ret));
	}
}

/* Whether a sample that comes before that of STOP may have a tag. */
static bool tag_is_taken(const struct pperf_session *s, uint64_t tag)
{
	uint64_t i;

	if (tag == s->start_tag)
		return true;
	for (i = s->asked_out; i != s->asked_in; i++)
		if (tag == s->asked[i & (s->slots - 1)])
			return true;
	return false;
}

enum pperf_error pperf_session_stop(struct pperf_session *s, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_stop stop = { .user_data = user_data };
	int ret;

	if (s->state != SESSION_COUNTING)
		return PPERF_OK;
	while (tag_is_taken(s, stop.user_data))
		stop.user_data++;

	ret = command(s, DRM_PANTHOR_PERF_COMMAND_STOP, &s->handle, &stop, sizeof(stop));
	switch (ret) {
	case 0:
		s->state = SESSION_STOPPING;
		s->stop_tag = stop.user_data;
		s->user_stop_tag = user_data;
		return PPERF_OK;
	case -ENODEV:
		return gone(s);
	default:
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot stop counting: %s", strerror(-ret));
	}
}

static uint64_t insert_idx(const struct pperf_session *s)
{
	return __atomic_load_n(&s->control->insert_idx, __ATOMIC_ACQUIRE);
}

uint64_t pperf_session_pending(const struct pperf_session *s)
{
	return insert_idx(s) - s->extract;
}

void pperf_session_release(struct pperf_session *s)
{
	if (!s->held)
		return;
	s->held = false;
	__atomic_store_n(&s->control->extract_idx, s->extract, __ATOMIC_RELEASE);
}

/* Fills in the sample at the head of the ring. */
static enum pperf_error decode(struct pperf_session *s)
{
	const struct pperf_gpu_info *info = &s->gpu->info;
	const char *at = s->ring + (s->extract & (s->slots - 1)) * (size_t)info->sample_size;
	const struct drm_panthor_perf_sample_header *header;
	unsigned int n;

	if (s->copy)
		at = memcpy(s->copy, at, info->sample_size);
	header = (const void *)at;
	s->sample.start_ns = header->timestamp_start_ns;
	s->sample.end_ns = header->timestamp_end_ns;
	s->sample.set = header->block_set;
	s->sample.flags = header->flags;
	s->sample.user_data = header->user_data;
	s->sample.cycles[PPERF_CLOCK_TOPLEVEL] = header->toplevel_clock_cycles;
	s->sample.cycles[PPERF_CLOCK_COREGROUP] = header->coregroup_clock_cycles;
	s->sample.cycles[PPERF_CLOCK_SHADER] = header->shader_clock_cycles;

	at += info->sample_header_size;
	for (n = 0; n < s->sample.num_blocks; n++) {
		const struct drm_panthor_perf_block_header *block = (const void *)at;

		if (block->block_type != s->blocks[n].type || block->block_idx != s->blocks[n].index)
			return pperf_fail(PPERF_ERROR_BROKEN, "block %u of a sample is %u.%u instead of %u.%u: "
					  "the kernel interface does not match this program",
					  n, block->block_type, block->block_idx, s->blocks[n].type,
					  s->blocks[n].index);
		s->blocks[n].states = block->block_states;
		s->blocks[n].clock = block->clock;
		s->blocks[n].enabled[0] = block->enable_mask[0];
		s->blocks[n].enabled[1] = block->enable_mask[1];
		s->blocks[n].values = (const uint64_t *)(block + 1);
		at += info->block_header_size + 8 * (size_t)info->values_per_block;
	}
	return PPERF_OK;
}

/* The ring has to be looked at after this: what came before is not signalled again. */
static enum pperf_error clear_signals(struct pperf_session *s)
{
	uint64_t signals;

	if (read(s->eventfd, &signals, sizeof(signals)) < 0 && errno != EAGAIN)
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot read the eventfd: %s", strerror(errno));
	return PPERF_OK;
}

enum pperf_error pperf_session_next(struct pperf_session *s, const struct pperf_sample **sample)
{
	enum pperf_error error;
	uint64_t pending;

	pperf_session_release(s);

	pending = pperf_session_pending(s);
	if (!pending) {
		error = clear_signals(s);
		if (error)
			return error;
		pending = pperf_session_pending(s);
	}

	if (!pending) {
		if (s->suspicious && pperf_gpu_alive(s->gpu))
			return gone(s);
		s->suspicious = false;
		*sample = NULL;
		return PPERF_OK;
	}
	if (pending > s->slots)
		return pperf_fail(PPERF_ERROR_BROKEN, "the kernel wrote %llu samples to a ring of %u",
				  (unsigned long long)pending, s->slots);

	error = decode(s);
	if (error)
		return error;

	s->extract++;
	s->held = true;
	s->suspicious = s->sample.flags & PPERF_SAMPLE_ERROR;
	if (s->asked_out != s->asked_in && s->sample.user_data == s->asked[s->asked_out & (s->slots - 1)])
		s->asked_out++;
	s->sample.last = s->state == SESSION_STOPPING && s->sample.user_data == s->stop_tag;
	if (s->sample.last) {
		s->sample.user_data = s->user_stop_tag;
		s->state = SESSION_IDLE;
	}
	pperf_log_add(&s->log, &s->sample);
	*sample = &s->sample;
	return PPERF_OK;
}

int pperf_session_fd(const struct pperf_session *s)
{
	return s->eventfd;
}

enum pperf_error pperf_session_wait(struct pperf_session *s, int timeout_ms, bool *ready)
{
	struct pollfd fd = { .fd = s->eventfd, .events = POLLIN };
	enum pperf_error error;

	if (!pperf_session_pending(s)) {
		/* A signal may be left of a sample that was read long ago. */
		error = clear_signals(s);
		if (error)
			return error;
	}
	if (pperf_session_pending(s)) {
		*ready = true;
		return PPERF_OK;
	}
	if (s->suspicious && pperf_gpu_alive(s->gpu))
		return gone(s);
	if (poll(&fd, 1, timeout_ms) < 0 && errno != EINTR)
		return pperf_fail(PPERF_ERROR_SYSTEM, "cannot wait for samples: %s", strerror(errno));
	*ready = pperf_session_pending(s);
	return PPERF_OK;
}

uint64_t pperf_session_period(const struct pperf_session *s)
{
	return s->period_ns;
}

uint32_t pperf_session_slots(const struct pperf_session *s)
{
	return s->slots;
}

const struct pperf_log *pperf_session_log(const struct pperf_session *s)
{
	return &s->log;
}
