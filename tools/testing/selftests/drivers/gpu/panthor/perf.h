/* SPDX-License-Identifier: MIT */
/*
 * What the tests of panthor's performance counters share: the device, memory,
 * and sessions.
 *
 * Functions answer 0 or a negative error number, and decide nothing: it is for
 * the tests to say what is right.
 */
#ifndef PANTHOR_SELFTEST_PERF_H
#define PANTHOR_SELFTEST_PERF_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <drm/panthor_drm.h>
#if __has_include(<drm/panthor_perf_drm.h>)
#include <drm/panthor_perf_drm.h>
#endif

/* A machine that has much else to do is no failure. */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	300
#endif

#define PERF_TYPES	(DRM_PANTHOR_PERF_BLOCK_SHADER + 1)
#define PERF_RESERVED	4	/* values of a block that are no counters */
/* A user without any right of his own. */
#define PERF_NOBODY	65534
/* Nothing takes this long. A wait that does has failed. */
#define PERF_HANG_MS	60000

static const char *const perf_type_names[PERF_TYPES] __attribute__((unused)) = {
	"metadata", "fw", "csg", "cshw", "tiler", "memsys", "shader"
};

/* ---- device ---- */

/* An open render node of panthor, or -1. */
static inline int perf_open_device(void)
{
	for (int minor = 128; minor < 192; minor++) {
		char path[32], name[16] = "";
		struct drm_version v = { .name = name, .name_len = sizeof(name) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_IOCTL_VERSION, &v) && !strcmp(name, "panthor"))
			return fd;
		close(fd);
	}
	return -1;
}

static inline int perf_ioctl(int fd, unsigned long request, void *arg)
{
	int ret;

	do {
		ret = ioctl(fd, request, arg);
	} while (ret && errno == EAGAIN);
	return ret ? -errno : 0;
}

static inline int perf_query(int fd, uint32_t type, void *info, uint32_t *size)
{
	struct drm_panthor_dev_query q = {
		.type = type, .size = *size, .pointer = (uintptr_t)info,
	};
	int ret = perf_ioctl(fd, DRM_IOCTL_PANTHOR_DEV_QUERY, &q);

	*size = q.size;
	return ret;
}

static inline int perf_info(int fd, struct drm_panthor_perf_info *info)
{
	uint32_t size = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return perf_query(fd, DRM_PANTHOR_DEV_QUERY_PERF_INFO, info, &size);
}

/* An open render node of a GPU that has counters, or a negative error number. */
static inline int perf_open_counters(struct drm_panthor_perf_info *info)
{
	int fd = perf_open_device();

	if (fd < 0)
		return -ENODEV;
	if (perf_info(fd, info) || !info->counters_per_block) {
		close(fd);
		return -EOPNOTSUPP;
	}
	return fd;
}

/* A number of the file's fdinfo, of memory in bytes; or -1 if it is not there. */
static inline long long perf_fdinfo(int fd, const char *key)
{
	char path[64], line[256], *unit;
	long long value = -1;
	size_t len = strlen(key);
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, key, len) || line[len] != ':')
			continue;
		value = strtoll(line + len + 1, &unit, 10);
		value *= !strcmp(unit, " MiB\n") ? 1 << 20 : !strcmp(unit, " KiB\n") ? 1 << 10 : 1;
	}
	fclose(f);
	return value;
}

/* ---- the device in sysfs ---- */

/* Directory of the platform device, "/sys/devices/.../c000000.gpu". */
static inline int perf_sysfs(char *path, size_t len)
{
	static const char driver[] = "/sys/bus/platform/drivers/panthor";
	struct dirent *e;
	int ret = -ENOENT;
	DIR *d = opendir(driver);

	if (!d)
		return -errno;
	while (ret && (e = readdir(d))) {
		snprintf(path, len, "%s/%s/of_node", driver, e->d_name);
		if (e->d_name[0] == '.' || access(path, F_OK))
			continue;
		path[strlen(path) - strlen("/of_node")] = 0;
		ret = 0;
	}
	closedir(d);
	return ret;
}

static inline int perf_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		ret = -errno;
	close(fd);
	return ret;
}

static inline int perf_read_file(const char *path, char *text, size_t len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, text, len - 1);
	close(fd);
	if (n < 0)
		return -EIO;
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = 0;
	return 0;
}

static inline int perf_pm_write(const char *file, const char *text)
{
	char dir[512], path[600];
	int ret = perf_sysfs(dir, sizeof(dir));

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/power/%s", dir, file);
	return perf_write_file(path, text);
}

static inline int perf_pm_read(const char *file, char *text, size_t len)
{
	char dir[512], path[600];
	int ret = perf_sysfs(dir, sizeof(dir));

	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/power/%s", dir, file);
	return perf_read_file(path, text, len);
}

/* A file of the GPU's devfreq device, which it need not have. */
static inline int perf_devfreq_path(const char *file, char *path, size_t len)
{
	char gpu[512], dir[540];
	struct dirent *e;
	int ret = perf_sysfs(gpu, sizeof(gpu));
	DIR *d;

	if (ret)
		return ret;
	snprintf(dir, sizeof(dir), "%s/devfreq", gpu);
	d = opendir(dir);
	if (!d)
		return -errno;
	ret = -ENOENT;
	while (ret && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, len, "%s/%s/%s", dir, e->d_name, file);
		ret = 0;
	}
	closedir(d);
	return ret;
}

static inline int perf_devfreq_write(const char *file, const char *text)
{
	char path[900];

	return perf_devfreq_path(file, path, sizeof(path)) ?: perf_write_file(path, text);
}

static inline int perf_devfreq_read(const char *file, char *text, size_t len)
{
	char path[900];

	return perf_devfreq_path(file, path, sizeof(path)) ?: perf_read_file(path, text, len);
}

/* Binds the platform device of a directory to its driver, or unbinds it. */
static inline int perf_bind(const char *dir, const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/platform/drivers/panthor/%s", what);
	return perf_write_file(path, strrchr(dir, '/') + 1);
}

/* Where perf says whom it lets count. */
#define PERF_EVENT_PARANOID	"/proc/sys/kernel/perf_event_paranoid"

static inline int perf_set_paranoid(bool paranoid)
{
	return perf_write_file("/sys/module/panthor/parameters/perf_paranoid",
			       paranoid ? "1" : "0");
}

/* By fault injection all of a thread's allocations can fail, and do not say so in the log. */
static inline bool perf_all_can_fail(void)
{
	static const char *const settings[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/verbose", "0" },
		{ "fail_usercopy/verbose", "0" },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", settings[i][0]);
		if (perf_write_file(path, settings[i][1]))
			return false;
	}
	return true;
}

/* ---- who may ---- */

/* Becomes nobody, but for one capability. */
static inline int perf_keep_one(int cap)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};

	data[cap / 32].permitted = 1u << cap % 32;
	data[cap / 32].effective = 1u << cap % 32;
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgid(PERF_NOBODY) || setuid(PERF_NOBODY))
		return -errno;
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* Kernels whose modules can ask perf who may watch CPUs go by that. */
static inline bool perf_goes_by_perf(void)
{
	char line[256];
	bool found = false;
	FILE *f = fopen("/proc/kallsyms", "re");

	while (f && fgets(line, sizeof(line), f))
		found |= !!strstr(line, " T perf_allow_cpu\n");
	if (f)
		fclose(f);
	return found;
}

/* ---- time ---- */

static inline uint64_t perf_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/*
 * The flag that a sample has of its times alone: that more than one multiple of the period
 * since @base, which is when the first sample began, lies in it.
 */
static inline __u32 perf_stretched(uint64_t base, uint64_t period,
				   const struct drm_panthor_perf_sample_header *h)
{
	if (!period || (h->timestamp_end_ns - base) / period -
		       (h->timestamp_start_ns - base) / period < 2)
		return 0;
	return DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
}

/*
 * Asks again until it is so; false if it is not after PERF_HANG_MS. The short
 * sleep leaves the processor to what is waited for.
 */
#define perf_until(cond) ({						\
	uint64_t _end = perf_now() + PERF_HANG_MS * 1000000ull;		\
	bool _ok;							\
	while (!(_ok = (cond)) && perf_now() < _end)			\
		usleep(500);						\
	_ok;								\
})

static inline bool perf_pm_is(const char *status)
{
	char text[32];

	return !perf_pm_read("runtime_status", text, sizeof(text)) && !strcmp(text, status);
}

/* ---- memory ---- */

struct perf_bo {
	uint32_t handle;
	uint64_t size;
	void *map;
};

static inline uint64_t perf_page_align(uint64_t size)
{
	uint64_t page = sysconf(_SC_PAGESIZE);

	return (size + page - 1) / page * page;
}

static inline int perf_bo_create(int fd, struct perf_bo *bo, uint64_t size, uint32_t flags)
{
	struct drm_panthor_bo_create c = { .size = size, .flags = flags };
	int ret = perf_ioctl(fd, DRM_IOCTL_PANTHOR_BO_CREATE, &c);

	memset(bo, 0, sizeof(*bo));
	bo->handle = c.handle;
	bo->size = c.size;
	return ret;
}

static inline int perf_bo_map(int fd, struct perf_bo *bo, int prot)
{
	struct drm_panthor_bo_mmap_offset o = { .handle = bo->handle };
	int ret = perf_ioctl(fd, DRM_IOCTL_PANTHOR_BO_MMAP_OFFSET, &o);

	if (ret)
		return ret;
	bo->map = mmap(NULL, bo->size, prot, MAP_SHARED, fd, o.offset);
	if (bo->map == MAP_FAILED) {
		bo->map = NULL;
		return -errno;
	}
	return 0;
}

static inline void perf_bo_unmap(struct perf_bo *bo)
{
	if (bo->map)
		munmap(bo->map, bo->size);
	bo->map = NULL;
}

static inline int perf_bo_close(int fd, struct perf_bo *bo)
{
	struct drm_gem_close c = { .handle = bo->handle };

	bo->handle = 0;
	return perf_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &c);
}

/* ---- commands ---- */

static inline int perf_control(int fd, struct drm_panthor_perf_control *c)
{
	return perf_ioctl(fd, DRM_IOCTL_PANTHOR_PERF_CONTROL, c);
}

static inline int perf_command(int fd, uint32_t cmd, uint32_t handle, const void *arg,
			       uint64_t size)
{
	struct drm_panthor_perf_control c = {
		.cmd = cmd, .handle = handle, .size = size, .pointer = (uintptr_t)arg,
	};

	return perf_control(fd, &c);
}

static inline int perf_start(int fd, uint32_t handle, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_start a = { .user_data = user_data };

	return perf_command(fd, DRM_PANTHOR_PERF_COMMAND_START, handle, &a, sizeof(a));
}

static inline int perf_stop(int fd, uint32_t handle, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_stop a = { .user_data = user_data };

	return perf_command(fd, DRM_PANTHOR_PERF_COMMAND_STOP, handle, &a, sizeof(a));
}

static inline int perf_sample(int fd, uint32_t handle, uint64_t user_data)
{
	struct drm_panthor_perf_cmd_sample a = { .user_data = user_data };

	return perf_command(fd, DRM_PANTHOR_PERF_COMMAND_SAMPLE, handle, &a, sizeof(a));
}

static inline int perf_teardown(int fd, uint32_t handle)
{
	return perf_command(fd, DRM_PANTHOR_PERF_COMMAND_TEARDOWN, handle, NULL, 0);
}

/* ---- sessions ---- */

/**
 * struct perf_session - a session and the memory of its own
 * @fd: device file
 * @handle: the session's handle
 * @efd: eventfd
 * @ring: sample ring
 * @ctl: object with the indices
 * @slots: samples in the ring
 * @sample_size: bytes of a sample
 * @indices: the indices, in @ctl
 * @read: what extract_idx is
 * @signals: what the eventfd has counted so far
 */
struct perf_session {
	int fd;
	uint32_t handle;
	int efd;
	struct perf_bo ring, ctl;
	uint32_t slots;
	uint32_t sample_size;
	struct drm_panthor_perf_ringbuf_control *indices;
	uint64_t read;
	uint64_t signals;
};

static inline void perf_masks_all(struct drm_panthor_perf_cmd_setup *setup)
{
	memset(setup->fw_enable_mask, 0xff, sizeof(*setup) -
	       offsetof(struct drm_panthor_perf_cmd_setup, fw_enable_mask));
}

static inline __u64 *perf_mask(struct drm_panthor_perf_cmd_setup *setup, unsigned int type)
{
	switch (type) {
	case DRM_PANTHOR_PERF_BLOCK_FW: return setup->fw_enable_mask;
	case DRM_PANTHOR_PERF_BLOCK_CSG: return setup->csg_enable_mask;
	case DRM_PANTHOR_PERF_BLOCK_CSHW: return setup->cshw_enable_mask;
	case DRM_PANTHOR_PERF_BLOCK_TILER: return setup->tiler_enable_mask;
	case DRM_PANTHOR_PERF_BLOCK_MEMSYS: return setup->memsys_enable_mask;
	case DRM_PANTHOR_PERF_BLOCK_SHADER: return setup->shader_enable_mask;
	default: return NULL;
	}
}

static inline void perf_session_free(struct perf_session *s)
{
	perf_bo_unmap(&s->ring);
	perf_bo_unmap(&s->ctl);
	if (s->ring.handle)
		perf_bo_close(s->fd, &s->ring);
	if (s->ctl.handle)
		perf_bo_close(s->fd, &s->ctl);
	if (s->efd >= 0)
		close(s->efd);
	s->efd = -1;
	s->indices = NULL;
}

/* What a session needs, but not the session. setup gets handles and fd. */
static inline int perf_session_alloc(int fd, const struct drm_panthor_perf_info *info,
				     uint32_t slots,
				     int efd_flags, struct perf_session *s,
				     struct drm_panthor_perf_cmd_setup *setup)
{
	int ret;

	memset(s, 0, sizeof(*s));
	s->fd = fd;
	s->efd = -1;
	s->slots = slots;
	s->sample_size = info->sample_size;
	ret = perf_bo_create(fd, &s->ring, perf_page_align((uint64_t)slots * info->sample_size), 0);
	if (!ret)
		ret = perf_bo_map(fd, &s->ring, PROT_READ);
	if (!ret)
		ret = perf_bo_create(fd, &s->ctl, sysconf(_SC_PAGESIZE), 0);
	if (!ret)
		ret = perf_bo_map(fd, &s->ctl, PROT_READ | PROT_WRITE);
	if (!ret) {
		s->efd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | efd_flags);
		ret = s->efd < 0 ? -errno : 0;
	}
	if (ret) {
		perf_session_free(s);
		return ret;
	}
	s->indices = s->ctl.map;
	setup->fd = s->efd;
	setup->ringbuf_handle = s->ring.handle;
	setup->control_handle = s->ctl.handle;
	setup->sample_slots = slots;
	return 0;
}

static inline int perf_setup(int fd, struct drm_panthor_perf_cmd_setup *setup, uint32_t *handle)
{
	struct drm_panthor_perf_control c = {
		.cmd = DRM_PANTHOR_PERF_COMMAND_SETUP, .size = sizeof(*setup),
		.pointer = (uintptr_t)setup,
	};
	int ret = perf_control(fd, &c);

	*handle = c.handle;
	return ret;
}

/* A session with memory of its own; of setup, masks, set, flags and period count. */
static inline int perf_session_new(int fd, const struct drm_panthor_perf_info *info, uint32_t slots,
				   struct perf_session *s, struct drm_panthor_perf_cmd_setup *setup)
{
	int ret = perf_session_alloc(fd, info, slots, 0, s, setup);

	if (ret)
		return ret;
	ret = perf_setup(fd, setup, &s->handle);
	if (ret)
		perf_session_free(s);
	return ret;
}

static inline void perf_session_end(struct perf_session *s)
{
	if (s->handle)
		perf_teardown(s->fd, s->handle);
	s->handle = 0;
	perf_session_free(s);
}

static inline uint64_t perf_insert(const struct perf_session *s)
{
	return __atomic_load_n(&s->indices->insert_idx, __ATOMIC_ACQUIRE);
}

/* The sample of an index, whether or not it has been delivered. */
static inline const struct drm_panthor_perf_sample_header *
perf_slot(const struct perf_session *s, uint64_t index)
{
	const char *ring = s->ring.map;

	return (const void *)(ring + (index & (s->slots - 1)) * s->sample_size);
}

static inline void perf_consume(struct perf_session *s, uint64_t count)
{
	s->read += count;
	__atomic_store_n(&s->indices->extract_idx, s->read, __ATOMIC_RELEASE);
}

/* Signals so far, without waiting. */
static inline uint64_t perf_signals(struct perf_session *s)
{
	uint64_t n;

	if (read(s->efd, &n, sizeof(n)) == sizeof(n))
		s->signals += n;
	return s->signals;
}

/* Waits until the eventfd has counted so many in all. False if it does not. */
static inline bool perf_wait(struct perf_session *s, uint64_t signals)
{
	struct pollfd p = { .fd = s->efd, .events = POLLIN };

	while (perf_signals(s) < signals) {
		if (poll(&p, 1, PERF_HANG_MS) != 1)
			return false;
	}
	return true;
}

/* ---- samples ---- */

static inline uint32_t perf_count(const struct drm_panthor_perf_info *info, unsigned int type)
{
	switch (type) {
	case DRM_PANTHOR_PERF_BLOCK_FW: return info->fw_blocks;
	case DRM_PANTHOR_PERF_BLOCK_CSG: return info->csg_blocks;
	case DRM_PANTHOR_PERF_BLOCK_CSHW: return info->cshw_blocks;
	case DRM_PANTHOR_PERF_BLOCK_TILER: return info->tiler_blocks;
	case DRM_PANTHOR_PERF_BLOCK_MEMSYS: return info->memsys_blocks;
	case DRM_PANTHOR_PERF_BLOCK_SHADER: return info->shader_blocks;
	default: return 0;
	}
}

static inline uint32_t perf_blocks(const struct drm_panthor_perf_info *info)
{
	uint32_t n = 0;

	for (unsigned int t = 0; t < PERF_TYPES; t++)
		n += perf_count(info, t);
	return n;
}

static inline uint64_t perf_block_bytes(const struct drm_panthor_perf_info *info)
{
	return info->block_header_size + 8ull * info->counters_per_block;
}

/* The nth block of a sample. */
static inline const struct drm_panthor_perf_block_header *
perf_block(const struct drm_panthor_perf_info *info, const void *sample, uint32_t n)
{
	return (const void *)((const char *)sample + info->sample_header_size +
			      n * perf_block_bytes(info));
}

static inline const __u64 *perf_values(const struct drm_panthor_perf_info *info,
				       const void *sample, uint32_t n)
{
	return (const void *)((const char *)perf_block(info, sample, n) + info->block_header_size);
}

/* Type and index of the nth block. */
static inline void perf_block_name(const struct drm_panthor_perf_info *info, uint32_t n,
				   uint32_t *type, uint32_t *index)
{
	for (unsigned int t = 0; t < PERF_TYPES; t++) {
		if (n < perf_count(info, t)) {
			*type = t;
			*index = n;
			return;
		}
		n -= perf_count(info, t);
	}
}

static inline bool perf_enabled(const __u64 mask[2], uint32_t value)
{
	return mask[value / 64] >> (value % 64) & 1;
}

/* A bit for each four counters, as hardware has it. */
static inline uint32_t perf_narrow(const __u64 mask[2], uint32_t values)
{
	uint32_t bits = 0;

	for (uint32_t v = 0; v < values; v++) {
		if (perf_enabled(mask, v))
			bits |= 1u << (v / 4);
	}
	return bits;
}

/* ---- test beds ---- */

/*
 * What a test bed can do: give the GPU work, keep firmware from answering, and tell that nothing
 * is counted.
 */
#ifndef PERF_BED
#define PERF_BED		false

/*
 * On a board the environment variable PERF_BUSY is a command that keeps the GPU busy until it is
 * killed, and creates the file $PERF_STARTED once it does.
 */
static inline bool perf_has_work(void)
{
	return getenv("PERF_BUSY");
}

/* Begins to keep the GPU busy, or ends it. It ends with the test, too. False if there is no work. */
static inline bool perf_work(bool on)
{
	static pid_t pid;
	char dir[] = "/tmp/perf.XXXXXX", started[64], command[1024];
	bool is_started;

	if (!perf_has_work())
		return false;
	if (!on || pid) {
		if (!on && pid) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			pid = 0;
		}
		return true;
	}
	if (!mkdtemp(dir))
		return false;
	snprintf(started, sizeof(started), "%s/started", dir);
	snprintf(command, sizeof(command), "exec %s", getenv("PERF_BUSY"));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("PERF_STARTED", started, 1);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	is_started = pid > 0 && perf_until(!access(started, F_OK));
	unlink(started);
	rmdir(dir);
	return is_started;
}

#define perf_hold_back()	true
#define perf_let_go()		((void)0)
#define perf_at_rest()		true
#endif

#endif
