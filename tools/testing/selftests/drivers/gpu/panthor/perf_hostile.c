// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: clients that do what no client should, with the file, its
 * descriptors, the memory that is shared with the kernel, and from many threads at once. What
 * belongs to others, and to a session that plays by the rules, is as it should be.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/swap.h>
#include <sys/wait.h>

#include "../../../kselftest_harness.h"
#include "perf.h"

#define SLOTS 8
/* Where a program finds what it is to do with an inherited file: "FD HANDLE". */
#define EXEC_ENV "PERF_HOSTILE_EXEC"

/* A test bed has the GPU hang now and then, and reset; false if it is not. */
#ifndef perf_disturb
#define perf_disturb(turn) ((void)(turn), true)
#endif

FIXTURE(hostile)
{
	int fd;
	struct drm_panthor_perf_info info;
	struct drm_panthor_perf_cmd_setup setup;
	struct perf_session s;
};

FIXTURE_SETUP(hostile)
{
	self->s.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	perf_masks_all(&self->setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
}

FIXTURE_TEARDOWN(hostile)
{
	perf_session_free(&self->s);
	close(self->fd);
	perf_set_paranoid(true);
	perf_pm_write("control", "auto");
}

/* Samples of @s are whole, and follow each other without a gap. -1, or the first that is not. */
static int64_t first_gap(const struct perf_session *s, uint64_t from, uint64_t to)
{
	for (uint64_t i = from; i + 1 < to; i++) {
		if (perf_slot(s, i)->timestamp_end_ns != perf_slot(s, i + 1)->timestamp_start_ns)
			return i;
	}
	return -1;
}

/* One SAMPLE, with its signal and its sample; 0, or which step failed. */
static int sample_once(struct perf_session *s, uint64_t user_data)
{
	uint64_t signals = perf_signals(s), insert = perf_insert(s);

	if (perf_sample(s->fd, s->handle, user_data))
		return 1;
	if (!perf_wait(s, signals + 1))
		return 2;
	if (perf_insert(s) != insert + 1)
		return 3;
	if (perf_slot(s, insert)->user_data != user_data)
		return 4;
	perf_consume(s, 1);
	return 0;
}

/* ---- processes ---- */

/* The program that another one has become, with nothing but the descriptor: it ends the session. */
__attribute__((constructor)) static void become_other(void)
{
	const char *text = getenv(EXEC_ENV);
	uint32_t handle;
	int fd;

	if (!text)
		return;
	if (sscanf(text, "%d %u", &fd, &handle) != 2)
		_exit(1);
	if (perf_sample(fd, handle, 7) || perf_stop(fd, handle, 8))
		_exit(2);
	_exit(0);
}

static int child_status(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* A session is its file's, whichever process has that: it ends with the last of them. */
TEST_F(hostile, fork)
{
	pid_t pid = fork();

	ASSERT_LE(0, pid);
	if (!pid) {
		if (perf_start(self->fd, self->s.handle, 1))
			_exit(1);
		_exit(sample_once(&self->s, 2) ? 2 : 0);
	}
	ASSERT_EQ(0, child_status(pid));
	/* Started in there, and gone on with out here. */
	self->s.read = 1;
	ASSERT_EQ(0, sample_once(&self->s, 3));
	EXPECT_EQ(-1, first_gap(&self->s, 0, 2));

	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid)
		_exit(perf_teardown(self->fd, self->s.handle) ? 1 : 0);
	ASSERT_EQ(0, child_status(pid));
	EXPECT_EQ(-ENOENT, perf_sample(self->fd, self->s.handle, 4));
	EXPECT_EQ(2, perf_insert(&self->s));
}

TEST_F(hostile, exec)
{
	char text[32];
	pid_t pid;

	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		snprintf(text, sizeof(text), "%d %u", self->fd, self->s.handle);
		if (fcntl(self->fd, F_SETFD, 0) || setenv(EXEC_ENV, text, 1))
			_exit(3);
		execl("/proc/self/exe", "perf_hostile", NULL);
		_exit(4);
	}
	ASSERT_EQ(0, child_status(pid));
	ASSERT_TRUE(perf_wait(&self->s, 2));
	EXPECT_EQ(7, perf_slot(&self->s, 0)->user_data);
	EXPECT_EQ(8, perf_slot(&self->s, 1)->user_data);
}

static int send_fd(int sock, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = {}, byte = 0;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	return sendmsg(sock, &msg, 0) == 1 ? 0 : -errno;
}

static int receive_fd(int sock)
{
	char control[CMSG_SPACE(sizeof(int))], byte;
	struct iovec iov = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(sock, &msg, 0) != 1)
		return -errno;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* A file on its way between processes keeps its sessions; who receives it may go on with them. */
TEST_F(hostile, passed_on)
{
	int pair[2], fd = perf_open_device(), received;
	struct drm_panthor_perf_cmd_setup setup = {};
	struct perf_session s;

	ASSERT_LE(0, fd);
	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(fd, &self->info, SLOTS, &s, &setup));
	ASSERT_EQ(0, perf_start(fd, s.handle, 1));
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ASSERT_EQ(0, send_fd(pair[0], fd));
	close(fd);
	/* Nobody has it now but the socket. */
	received = receive_fd(pair[1]);
	ASSERT_LE(0, received);
	s.fd = received;
	EXPECT_EQ(0, sample_once(&s, 2));
	/* Nor ever will have: the session ends with the socket. */
	ASSERT_EQ(0, send_fd(pair[0], received));
	close(received);
	close(pair[0]);
	close(pair[1]);
	EXPECT_EQ(1, perf_insert(&s));
	s.ring.handle = 0;
	s.ctl.handle = 0;
	perf_session_free(&s);
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	EXPECT_EQ(0, sample_once(&self->s, 2));
}

/* ---- descriptors ---- */

enum { THE_FILE, THE_EVENTFD, THE_RING, THE_CONTROL, THE_MAPS, THINGS };

/* Lets go of one thing that a session was made of. */
static void let_go(struct perf_session *s, int thing)
{
	struct drm_gem_close gem = {};

	switch (thing) {
	case THE_FILE:
		close(s->fd);
		break;
	case THE_EVENTFD:
		close(s->efd);
		break;
	case THE_RING:
	case THE_CONTROL:
		gem.handle = thing == THE_RING ? s->ring.handle : s->ctl.handle;
		ioctl(s->fd, DRM_IOCTL_GEM_CLOSE, &gem);
		break;
	default:
		perf_bo_unmap(&s->ring);
		perf_bo_unmap(&s->ctl);
	}
}

/**
 * struct closer - a thread that lets go of a thing
 * @s: session
 * @thing: which thing of it
 * @go: where all wait for each other, or NULL
 */
struct closer {
	struct perf_session *s;
	int thing;
	pthread_barrier_t *go;
};

static void *close_thing(void *arg)
{
	struct closer *c = arg;

	if (c->go)
		pthread_barrier_wait(c->go);
	let_go(c->s, c->thing);
	return NULL;
}

/* A session of a file of its own that counts each millisecond. */
static int new_victim(const struct drm_panthor_perf_info *info, struct perf_session *s)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = 1000000 };
	int fd = perf_open_device(), ret;

	if (fd < 0)
		return -ENODEV;
	perf_masks_all(&setup);
	ret = perf_session_new(fd, info, SLOTS, s, &setup);
	return ret ?: perf_start(fd, s->handle, 1);
}

/* Each of the orders in which five things can be let go of, each thing from a thread of its own. */
TEST_F_TIMEOUT(hostile, closed_in_every_order, 300)
{
	int order[THINGS] = { 0, 1, 2, 3, 4 }, orders = 0;

	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	for (;;) {
		struct perf_session s;
		int i, j, k;

		ASSERT_EQ(0, new_victim(&self->info, &s));
		for (i = 0; i < THINGS; i++) {
			struct closer c = { .s = &s, .thing = order[i] };
			pthread_t thread;

			ASSERT_EQ(0, pthread_create(&thread, NULL, close_thing, &c));
			pthread_join(thread, NULL);
		}
		orders++;
		/* The next permutation. */
		for (i = THINGS - 2; i >= 0 && order[i] > order[i + 1]; i--)
			;
		if (i < 0)
			break;
		for (j = THINGS - 1; order[j] < order[i]; j--)
			;
		k = order[i];
		order[i] = order[j];
		order[j] = k;
		for (i++, j = THINGS - 1; i < j; i++, j--) {
			k = order[i];
			order[i] = order[j];
			order[j] = k;
		}
	}
	EXPECT_EQ(120, orders);
	EXPECT_EQ(0, sample_once(&self->s, 2));
}

TEST_F_TIMEOUT(hostile, closed_at_once, 300)
{
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	for (int round = 0; round < 50; round++) {
		struct closer c[THINGS];
		pthread_t threads[THINGS];
		pthread_barrier_t go;
		struct perf_session s;

		ASSERT_EQ(0, new_victim(&self->info, &s));
		ASSERT_EQ(0, pthread_barrier_init(&go, NULL, THINGS));
		for (int i = 0; i < THINGS; i++) {
			c[i] = (struct closer){ .s = &s, .thing = i, .go = &go };
			ASSERT_EQ(0, pthread_create(&threads[i], NULL, close_thing, &c[i]));
		}
		for (int i = 0; i < THINGS; i++)
			pthread_join(threads[i], NULL);
		pthread_barrier_destroy(&go);
	}
	EXPECT_EQ(0, sample_once(&self->s, 2));
}

/* An eventfd that has no room to count: a sample does not wait for it. */
TEST_F(hostile, eventfd_full)
{
	uint64_t full = UINT64_MAX - 1, n;

	ASSERT_EQ(sizeof(full), write(self->s.efd, &full, sizeof(full)));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	for (int i = 0; i < 4; i++) {
		ASSERT_EQ(0, perf_sample(self->fd, self->s.handle, 2 + i));
		ASSERT_TRUE(perf_until(perf_insert(&self->s) == 1u + i));
	}
	ASSERT_EQ(sizeof(n), read(self->s.efd, &n, sizeof(n)));
	EXPECT_LE(full, n);
	/* It counts again. */
	self->s.signals = 0;
	perf_consume(&self->s, 4);
	EXPECT_EQ(0, sample_once(&self->s, 6));
}

/* ---- memory ---- */

/* What nobody has a reason to write, of the object with the indices, and whether nobody has. */
static void mark_unused(struct perf_session *s, size_t from)
{
	memset((char *)s->ctl.map + from, 0x5a, s->ctl.size - from);
}

static bool is_unused(const struct perf_session *s, size_t from)
{
	const char *at = s->ctl.map;

	while (from < s->ctl.size && at[from] == 0x5a)
		from++;
	return from == s->ctl.size;
}

/* Sessions whose indices lie in each other's: each writes its own, and asks for nothing else. */
TEST_F(hostile, overlapping_indices)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	uint64_t signals;
	uint32_t other;

	setup.control_offset = 8;
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &other));
	mark_unused(&self->s, 8 + sizeof(*self->s.indices));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	ASSERT_EQ(0, perf_start(self->fd, other, 1));
	for (int i = 0; i < 100; i++) {
		int ret = perf_sample(self->fd, i & 1 ? other : self->s.handle, i);

		/* The other's insert_idx is the extract_idx of this one. */
		ASSERT_TRUE(!ret || ret == -EBUSY) {
			TH_LOG("turn %d: %d", i, ret);
		}
		signals = self->s.signals + !ret;
		ASSERT_TRUE(perf_wait(&self->s, signals));
	}
	/* The slot that is kept for them. */
	signals = self->s.signals;
	ASSERT_EQ(0, perf_stop(self->fd, self->s.handle, 200));
	ASSERT_EQ(0, perf_stop(self->fd, other, 201));
	ASSERT_TRUE(perf_wait(&self->s, signals + 2));
	EXPECT_TRUE(is_unused(&self->s, 8 + sizeof(*self->s.indices)));
}

/* Indices inside of samples of the ring that they are of: whatever they become, nothing else does. */
TEST_F(hostile, indices_in_samples)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;
	uint32_t handle;
	int delivered = 0;

	/* It may be that of the control object only if it is the same. */
	setup.control_handle = self->s.ring.handle;
	setup.control_offset = self->info.sample_header_size;
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &handle));
	/* Those of the other session, which does not count, among it. */
	mark_unused(&self->s, 0);
	ASSERT_EQ(0, perf_start(self->fd, handle, 1));
	for (int i = 0; i < 5 * SLOTS; i++) {
		int ret = perf_sample(self->fd, handle, i);

		ASSERT_TRUE(!ret || ret == -EBUSY);
		delivered += !ret;
		ASSERT_TRUE(perf_wait(&self->s, delivered));
	}
	ASSERT_EQ(0, perf_stop(self->fd, handle, 100));
	ASSERT_TRUE(perf_wait(&self->s, delivered + 1));
	EXPECT_LT(0, delivered);
	EXPECT_TRUE(is_unused(&self->s, 0));
	EXPECT_EQ(0, perf_teardown(self->fd, handle));
}

/* Nothing that a session needs goes when memory is short. */
TEST_F_TIMEOUT(hostile, reclaimed, 300)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = 1000000 };
	struct perf_session s;
	uint64_t begin;

	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 1024, &s, &setup));
	ASSERT_EQ(0, perf_start(self->fd, s.handle, 1));
	for (int i = 0; i < 20; i++) {
		begin = perf_insert(&s);
		ASSERT_EQ(0, perf_write_file("/proc/sys/vm/drop_caches", "3"));
		madvise(s.ring.map, s.ring.size, MADV_PAGEOUT);
		madvise(s.ctl.map, s.ctl.size, MADV_PAGEOUT);
		ASSERT_TRUE(perf_until(perf_insert(&s) > begin + 2));
		ASSERT_EQ(-1, first_gap(&s, begin, begin + 2));
		perf_consume(&s, perf_insert(&s) - s.read);
	}
	ASSERT_EQ(0, perf_stop(self->fd, s.handle, 2));
	perf_session_end(&s);
}

static void swap_off(int number)
{
	char path[64], text[16];

	if (number < 0)
		return;
	snprintf(path, sizeof(path), "/dev/zram%d", number);
	swapoff(path);
	snprintf(path, sizeof(path), "/sys/block/zram%d/reset", number);
	perf_write_file(path, "1");
	snprintf(text, sizeof(text), "%d", number);
	perf_write_file("/sys/class/zram-control/hot_remove", text);
}

/* Swap in compressed memory, if there is none: its number, -1 if it is not needed, or -2 if it cannot be had. */
static int swap_on(void)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	const uint64_t size = 16 << 20;
	char path[64], text[128];
	uint32_t *head;
	int number, fd;
	bool ok;

	if (!perf_read_file("/proc/swaps", text, sizeof(text)) && strchr(text, '\n'))
		return -1;
	if (system("modprobe -q zram") ||
	    perf_read_file("/sys/class/zram-control/hot_add", text, sizeof(text)))
		return -2;
	number = atoi(text);
	snprintf(path, sizeof(path), "/sys/block/zram%d/disksize", number);
	snprintf(text, sizeof(text), "%ju", (uintmax_t)size);
	ok = !perf_write_file(path, text);

	/* Version, last page. */
	head = calloc(1, page);
	head[1024 / 4] = 1;
	head[1024 / 4 + 1] = size / page - 1;
	memcpy((char *)head + page - 10, "SWAPSPACE2", 10);
	snprintf(path, sizeof(path), "/dev/zram%d", number);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ok = ok && write(fd, head, page) == (ssize_t)page;
	close(fd);
	free(head);
	if (ok && !swapon(path, 0))
		return number;
	swap_off(number);
	return -2;
}

/* When the kernel takes memory of objects back, it does not take that of sessions. */
TEST_F_TIMEOUT(hostile, evicted, 300)
{
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = 1000000 };
	long long needed, page = sysconf(_SC_PAGESIZE);
	char device[512], shrink[600], text[32];
	struct perf_session s;
	struct perf_bo idle;
	int swap;

	ASSERT_EQ(0, perf_sysfs(device, sizeof(device)));
	snprintf(shrink, sizeof(shrink), "/sys/kernel/debug/dri%s/shrink", strrchr(device, '/'));
	if (access(shrink, W_OK))
		SKIP(return, "panthor of this kernel takes no memory back");
	swap = swap_on();
	if (swap == -2)
		SKIP(return, "no swap");

	perf_masks_all(&setup);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 1024, &s, &setup));
	ASSERT_EQ(0, perf_start(self->fd, s.handle, 1));
	needed = perf_fdinfo(self->fd, "drm-resident-memory");
	EXPECT_LE((long long)(s.ring.size + s.ctl.size), needed);
	ASSERT_EQ(0, perf_bo_create(self->fd, &idle, 64 * page, 0));
	ASSERT_EQ(0, perf_bo_map(self->fd, &idle, PROT_READ | PROT_WRITE));
	for (int i = 1; i <= 20; i++) {
		uint64_t begin = perf_insert(&s);

		memset(idle.map, i, idle.size);
		EXPECT_EQ(needed + 64 * page, perf_fdinfo(self->fd, "drm-resident-memory"));
		ASSERT_EQ(0, perf_write_file(shrink, "1000000"));
		ASSERT_EQ(0, perf_read_file(shrink, text, sizeof(text)));
		EXPECT_LE(64, strtoll(text, NULL, 0));
		EXPECT_EQ(needed, perf_fdinfo(self->fd, "drm-resident-memory"));

		ASSERT_TRUE(perf_until(perf_insert(&s) > begin + 2));
		ASSERT_EQ(-1, first_gap(&s, begin, begin + 2));
		perf_consume(&s, perf_insert(&s) - s.read);
		EXPECT_EQ(i, *(char *)idle.map);
	}
	ASSERT_EQ(0, perf_stop(self->fd, s.handle, 2));
	perf_bo_unmap(&idle);
	perf_bo_close(self->fd, &idle);
	perf_session_end(&s);
	swap_off(swap);
}

/* ---- many at once ---- */

enum { THREADS = 8, OWN_SESSIONS = 4, MOB_COMMANDS = 1000, MOB_TURNS = 30 };

/**
 * struct mob - threads that do anything to the sessions of one file
 * @fd: device file
 * @info: the device's
 * @shared: a session of all of them
 * @end: they are to end
 * @wrong: an answer that no command may give, with its sign
 * @done: commands that did something
 * @gone: commands that found no device
 */
struct mob {
	int fd;
	struct drm_panthor_perf_info info;
	struct perf_session shared;
	bool end;
	int wrong, done, gone;
};

/* What any command may answer while others do what they like, the device goes or is reset. */
static bool may_answer(int ret)
{
	switch (ret) {
	case 0: case -EBUSY: case -EINVAL: case -ENOENT: case -ENODEV: case -EINTR: case -ETIMEDOUT:
	case -ENOSPC: case -EACCES:
		return true;
	default:
		return false;
	}
}

static void *riot(void *arg)
{
	static int number;
	struct mob *mob = arg;
	struct drm_panthor_perf_cmd_setup setup = {
		.fd = mob->shared.efd, .ringbuf_handle = mob->shared.ring.handle,
		.control_handle = mob->shared.ctl.handle, .sample_slots = SLOTS,
	};
	unsigned int seed = __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED);
	uint32_t own[OWN_SESSIONS] = {};

	/* Credentials are a thread's to the kernel, if not to the C library: half of them are nobody. */
	if (seed & 1)
		syscall(SYS_setresuid, -1, PERF_NOBODY, -1);
	perf_masks_all(&setup);
	for (uint64_t turn = 0; !__atomic_load_n(&mob->end, __ATOMIC_RELAXED); turn++) {
		uint32_t *one = &own[turn % OWN_SESSIONS];
		uint32_t handle = rand_r(&seed) & 1 ? mob->shared.handle : *one;
		int ret;

		switch (rand_r(&seed) % 8) {
		case 0:
			if (*one)
				continue;
			setup.sample_freq_ns = rand_r(&seed) & 1 ? 1000000 : 0;
			setup.setup_flags = rand_r(&seed) & 1;
			setup.block_set = !(rand_r(&seed) % 8);
			ret = perf_setup(mob->fd, &setup, one);
			break;
		case 1:
			ret = perf_teardown(mob->fd, *one);
			*one = 0;
			break;
		case 2:
		case 3:
			ret = perf_start(mob->fd, handle, turn);
			break;
		case 4:
			ret = perf_stop(mob->fd, handle, turn);
			break;
		case 5:
			mob->shared.indices->extract_idx = rand_r(&seed) & 1 ? perf_insert(&mob->shared) : turn << 40;
			ret = 0;
			break;
		default:
			ret = perf_sample(mob->fd, handle, turn);
		}
		if (!may_answer(ret))
			__atomic_store_n(&mob->wrong, ret, __ATOMIC_RELAXED);
		__atomic_add_fetch(ret ? &mob->gone : &mob->done, !ret || ret == -ENODEV,
				   __ATOMIC_RELAXED);
	}
	return NULL;
}

/* Eight threads of two users in one file, and a GPU that is suspended and resumed; in a bed, reset as well. */
TEST_F_TIMEOUT(hostile, mob, 300)
{
	struct mob mob = { .fd = self->fd, .info = self->info, .shared = self->s };
	pthread_t threads[THREADS];

	ASSERT_EQ(0, perf_set_paranoid(false));
	for (int i = 0; i < THREADS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, riot, &mob));
	for (int turn = 0; turn < MOB_TURNS; turn++) {
		ASSERT_EQ(0, perf_pm_write("control", turn & 1 ? "on" : "auto"));
		EXPECT_TRUE(perf_disturb(turn));
		if (turn % 10 == 8)
			EXPECT_TRUE(perf_until(perf_pm_is("suspended")));
		usleep(20000);
	}
	EXPECT_TRUE(perf_until(__atomic_load_n(&mob.done, __ATOMIC_RELAXED) >= MOB_COMMANDS));
	__atomic_store_n(&mob.end, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, mob.wrong);
	/* Whoever comes next has what he asks for. */
	close(self->fd);
	self->s.ring.handle = 0;
	self->s.ctl.handle = 0;
	perf_session_free(&self->s);
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	self->fd = perf_open_device();
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &self->setup));
	ASSERT_EQ(0, perf_start(self->fd, self->s.handle, 1));
	for (int i = 0; i < 3; i++)
		EXPECT_EQ(0, sample_once(&self->s, 2 + i));
	EXPECT_EQ(-1, first_gap(&self->s, 0, 3));
}

TEST_HARNESS_MAIN
