// SPDX-License-Identifier: MIT
/*
 * Performance counters of panthor: what the file in debugfs says of sessions,
 * and of firmware.
 */
#define _GNU_SOURCE
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include "../../../kselftest_harness.h"
#include "perf.h"

#define PERIOD_NS 10000000
/* Sessions of a device, and of a file. */
#define DEVICE_SESSIONS 256
#define FILE_SESSIONS 64

FIXTURE(debugfs)
{
	int fd;
	char path[256];
	char text[262144];
	struct drm_panthor_perf_info info;
	struct perf_session manual, periodic;
	struct drm_panthor_perf_cmd_setup setup_manual, setup_periodic;
};

/* The device's own, not those of the links to it; there may be other drivers'. */
static bool find_file(char *path, size_t len)
{
	char dir[512];
	glob_t g;
	bool found = false;

	if (perf_sysfs(dir, sizeof(dir)))
		return false;
	if (glob("/sys/kernel/debug/dri/*/perf", 0, NULL, &g))
		return false;
	for (size_t i = 0; !found && i < g.gl_pathc; i++) {
		snprintf(path, len, "/sys/kernel/debug/dri/%s/perf", strrchr(dir, '/') + 1);
		found = !strcmp(path, g.gl_pathv[i]);
	}
	globfree(&g);
	return found;
}

/* Reads the whole file anew. */
static int look(FIXTURE_DATA(debugfs) *self)
{
	int fd = open(self->path, O_RDONLY | O_CLOEXEC);
	size_t got = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while ((n = read(fd, self->text + got, sizeof(self->text) - 1 - got)) > 0)
		got += n;
	close(fd);
	self->text[got] = 0;
	return n ? -EIO : 0;
}

/* A value of what was looked at, or -1. */
static long long value(FIXTURE_DATA(debugfs) *self, const char *key)
{
	const char *line = self->text;
	size_t len = strlen(key);

	for (; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (!strncmp(line, key, len) && line[len] == ':')
			return atoll(line + len + 1);
	}
	return -1;
}

static bool is_state(FIXTURE_DATA(debugfs) *self, const char *state)
{
	char line[32];

	snprintf(line, sizeof(line), "state: %s\n", state);
	return strstr(self->text, line);
}

/* The line of the session that was set up first, or next; its number is taken off. */
static const char *session(FIXTURE_DATA(debugfs) *self, int which, char *line, size_t size,
			   unsigned int *id)
{
	const char *at = self->text;
	int skip;

	line[0] = 0;
	for (at = strstr(at, "\nsession: "); at && which--; at = strstr(at + 1, "\nsession: "))
		;
	if (!at || sscanf(at, "\nsession: %u %n", id, &skip) != 1)
		return line;
	at += skip;
	snprintf(line, size, "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

FIXTURE_SETUP(debugfs)
{
	self->manual.efd = -1;
	self->periodic.efd = -1;
	self->fd = perf_open_counters(&self->info);
	if (self->fd < 0)
		SKIP(return, "no GPU with performance counters");
	if (!find_file(self->path, sizeof(self->path)))
		SKIP(return, "no file in debugfs");
	ASSERT_EQ(0, perf_pm_write("control", "on"));
	self->setup_manual.tiler_enable_mask[0] = 0x30;
	perf_masks_all(&self->setup_periodic);
	self->setup_periodic.shader_enable_mask[0] = 0x8000000000000010;
	self->setup_periodic.shader_enable_mask[1] = 1;
	self->setup_periodic.sample_freq_ns = PERIOD_NS;
	self->setup_periodic.setup_flags = DRM_PANTHOR_PERF_SETUP_EMIT_AUTO;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 8, &self->manual,
				      &self->setup_manual));
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 4, &self->periodic,
				      &self->setup_periodic));
}

FIXTURE_TEARDOWN(debugfs)
{
	perf_session_end(&self->manual);
	perf_session_end(&self->periodic);
	close(self->fd);
	perf_pm_write("control", "auto");
}

/* What does not change of the manual session, and of the periodic one. */
static void want_line(FIXTURE_DATA(debugfs) *self, int which, const char *state, uint64_t used,
		      uint64_t pending, uint64_t samples, char *line, size_t size)
{
	char name[16] = "";

	(void)self;
	prctl(PR_GET_NAME, name);
	snprintf(line, size, "state=%s set=0 period_ns=%u slots=%u used=%llu pending=%llu "
		 "samples=%llu owner=%s/%d", state, which ? PERIOD_NS : 0, which ? 4 : 8,
		 (unsigned long long)used, (unsigned long long)pending,
		 (unsigned long long)samples, name, getpid());
}

#define EXPECT_SESSION(which, state, used, pending, samples) do {			\
	char _got[1024], _want[1024];							\
	unsigned int _id;								\
	want_line(self, which, state, used, pending, samples, _want, sizeof(_want));	\
	EXPECT_STREQ(_want, session(self, which, _got, sizeof(_got), &_id));		\
} while (0)

TEST_F_TIMEOUT(debugfs, sessions, 120)
{
	long long stretched;
	unsigned int first = 0, second = 0;
	char line[1024], left[1024];
	struct stat st;

	ASSERT_EQ(0, stat(self->path, &st));
	EXPECT_EQ(0400, st.st_mode & 07777);

	ASSERT_EQ(0, look(self));
	EXPECT_EQ(2, value(self, "sessions"));
	EXPECT_SESSION(0, "stopped", 0, 0, 0);
	EXPECT_SESSION(1, "stopped", 0, 0, 0);
	session(self, 0, line, sizeof(line), &first);
	session(self, 1, line, sizeof(line), &second);
	EXPECT_EQ(first + 1, second);

	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 0));
	for (int i = 1; i <= 3; i++) {
		ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, i));
		ASSERT_TRUE(perf_wait(&self->manual, i));
	}
	perf_consume(&self->manual, 1);
	ASSERT_EQ(0, look(self));
	EXPECT_SESSION(0, "started", 2, 0, 3);
	EXPECT_SESSION(1, "stopped", 0, 0, 0);

	/* Nobody reads the other one: all but one slot, then nothing more until it stops. */
	ASSERT_EQ(0, perf_start(self->fd, self->periodic.handle, 0));
	ASSERT_TRUE(perf_wait(&self->periodic, 3));
	usleep(3 * PERIOD_NS / 1000);
	ASSERT_EQ(0, look(self));
	stretched = perf_fdinfo(self->fd, "panthor-perf-stretched");
	EXPECT_SESSION(0, "started", 2, 0, 3);
	/* A sample that is due may be asked for at this moment. That is not a request. */
	EXPECT_SESSION(1, "started", 3, 0, 3);

	ASSERT_EQ(0, perf_stop(self->fd, self->periodic.handle, 9));
	ASSERT_TRUE(perf_wait(&self->periodic, 4));
	ASSERT_EQ(0, look(self));
	/* The last one has all of the periods since. */
	EXPECT_EQ(stretched + 1, perf_fdinfo(self->fd, "panthor-perf-stretched"));
	EXPECT_SESSION(1, "stopped", 4, 0, 4);

	/* They go one by one. */
	session(self, 1, line, sizeof(line), &second);
	perf_session_end(&self->manual);
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(1, value(self, "sessions"));
	EXPECT_STREQ(line, session(self, 0, left, sizeof(left), &first));
	EXPECT_EQ(second, first);
	EXPECT_STREQ("", session(self, 1, left, sizeof(left), &first));
	perf_session_end(&self->periodic);
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(0, value(self, "sessions"));
	EXPECT_EQ(NULL, strstr(self->text, "session: "));
	EXPECT_FALSE(is_state(self, "counting"));
}

/* Slots in use are none to all of them, whatever the user says that has been read. */
TEST_F(debugfs, used)
{
	const struct { int64_t unread; unsigned int used; } cases[] = {
		{ 0, 0 }, { 1, 1 }, { 7, 7 }, { 8, 8 }, { 9, 8 }, { -1, 8 },
		{ INT64_MAX, 8 }, { INT64_MIN, 8 },
	};

	ASSERT_EQ(0, perf_start(self->fd, self->manual.handle, 0));
	for (int i = 1; i <= 3; i++)
		ASSERT_EQ(0, perf_sample(self->fd, self->manual.handle, i));
	ASSERT_TRUE(perf_wait(&self->manual, 3));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char line[1024], used[32];
		unsigned int id;

		__atomic_store_n(&self->manual.indices->extract_idx, 3 - (uint64_t)cases[i].unread,
				 __ATOMIC_RELEASE);
		ASSERT_EQ(0, look(self));
		snprintf(used, sizeof(used), " slots=8 used=%u ", cases[i].used);
		EXPECT_NE(NULL, strstr(session(self, 0, line, sizeof(line), &id), used)) {
			TH_LOG("%lld unread: %s", (long long)cases[i].unread, line);
		}
	}
}

/* However many sessions there are, each has its line, and the next one has none. */
TEST_F_TIMEOUT(debugfs, most_sessions, 300)
{
	int fds[DEVICE_SESSIONS / FILE_SESSIONS - 1];
	uint32_t handle, sessions = 2;
	const char *at;

	for (size_t f = 0; f < ARRAY_SIZE(fds); f++) {
		struct perf_session s;

		fds[f] = perf_open_device();
		ASSERT_LE(0, fds[f]);
		for (int i = 0; i < FILE_SESSIONS; i++, sessions++) {
			struct drm_panthor_perf_cmd_setup setup = {};

			ASSERT_EQ(0, perf_session_new(fds[f], &self->info, 2, &s, &setup));
			perf_session_free(&s);
		}
	}
	for (; sessions < DEVICE_SESSIONS; sessions++)
		ASSERT_EQ(0, perf_setup(self->fd, &self->setup_manual, &handle));
	EXPECT_EQ(-ENOSPC, perf_setup(self->fd, &self->setup_manual, &handle));
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(DEVICE_SESSIONS, value(self, "sessions"));
	for (at = self->text; (at = strstr(at, "\nsession: ")); at++)
		sessions--;
	EXPECT_EQ(0, sessions);
	for (size_t f = 0; f < ARRAY_SIZE(fds); f++)
		close(fds[f]);
}

/* The file is read, by root alone, and not written to. */
TEST_F(debugfs, access)
{
	char text[16];
	int fd = open(self->path, O_RDWR | O_CLOEXEC);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, write(fd, "1", 1));
	EXPECT_EQ(EINVAL, errno);
	ASSERT_EQ(0, look(self));
	EXPECT_EQ(0, pread(fd, text, sizeof(text), strlen(self->text) + sizeof(text)));
	close(fd);
	ASSERT_EQ(0, seteuid(PERF_NOBODY));
	fd = open(self->path, O_RDONLY | O_CLOEXEC);
	EXPECT_EQ(EACCES, fd < 0 ? errno : 0);
	ASSERT_EQ(0, seteuid(0));
}

/* A period shorter than the GPU's shortest is that one. */
TEST_F(debugfs, raised_period)
{
	uint64_t least = self->info.min_sample_period_ns;
	const uint64_t asked[] = { 1, least - 1, least, least + 1 };

	perf_session_end(&self->manual);
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		unsigned long long want = asked[i] < least ? least : asked[i];
		char line[1024], period[64];
		unsigned int id;

		perf_session_end(&self->periodic);
		self->setup_periodic.sample_freq_ns = asked[i];
		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 4, &self->periodic,
					      &self->setup_periodic));
		ASSERT_EQ(0, look(self));
		snprintf(period, sizeof(period), " period_ns=%llu ", want);
		EXPECT_NE(NULL, strstr(session(self, 0, line, sizeof(line), &id), period)) {
			TH_LOG("of %llu: %s", (unsigned long long)asked[i], line);
		}
	}
}

#define READERS 4
#define READ_SESSIONS 32

/**
 * struct reading - threads that read the file, each for itself
 * @path: the file
 * @end: set to end them
 */
struct reading {
	const char *path;
	bool end;
};

static void *read_on(void *arg)
{
	struct reading *r = arg;
	char text[4096];

	while (!__atomic_load_n(&r->end, __ATOMIC_ACQUIRE)) {
		int fd = open(r->path, O_RDONLY | O_CLOEXEC);

		while (read(fd, text, sizeof(text)) > 0)
			;
		close(fd);
	}
	return NULL;
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* SETUP waits for the lock that readers of the file hold: a signal ends it, and nothing is left. */
TEST_F_TIMEOUT(debugfs, interrupted_setup, 300)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup_manual;
	struct itimerval often = { { 0, 500 }, { 0, 500 } }, never = {};
	struct sigaction sa = { .sa_handler = on_alarm };
	struct reading reading = { .path = self->path };
	pthread_t threads[READERS];
	uint32_t handle, last = 0;
	long long sessions;
	sigset_t alarms;
	int ret;

	/* Who holds the lock would have to be preempted. */
	if (sysconf(_SC_NPROCESSORS_ONLN) < 2)
		SKIP(return, "there is one CPU only");
	for (int i = 0; i < READ_SESSIONS; i++)
		ASSERT_EQ(0, perf_setup(self->fd, &setup, &last));
	sessions = perf_fdinfo(self->fd, "panthor-perf-sessions");
	ASSERT_EQ(0, sigaction(SIGALRM, &sa, NULL));
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	ASSERT_EQ(0, pthread_sigmask(SIG_BLOCK, &alarms, NULL));
	for (int i = 0; i < READERS; i++)
		ASSERT_EQ(0, pthread_create(&threads[i], NULL, read_on, &reading));
	ASSERT_EQ(0, setitimer(ITIMER_REAL, &often, NULL));
	ASSERT_EQ(0, pthread_sigmask(SIG_UNBLOCK, &alarms, NULL));
	EXPECT_TRUE(perf_until(({
		ret = perf_setup(self->fd, &setup, &handle);
		if (!ret) {
			last = handle;
			perf_teardown(self->fd, handle);
		}
		ret;
	})));
	setitimer(ITIMER_REAL, &never, NULL);
	__atomic_store_n(&reading.end, true, __ATOMIC_RELEASE);
	for (int i = 0; i < READERS; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(-EINTR, ret);
	EXPECT_EQ(sessions, perf_fdinfo(self->fd, "panthor-perf-sessions"));
	ASSERT_EQ(0, perf_setup(self->fd, &setup, &handle));
	EXPECT_EQ(last + 1, handle);
}

TEST_HARNESS_MAIN
