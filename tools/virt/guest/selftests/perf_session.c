// SPDX-License-Identifier: MIT
/*
 * States of a session while requests are held back by protected mode, in which firmware answers none:
 * what is tested does not depend on time.
 */
#include "bed.h"
#include "../../../testing/selftests/drivers/gpu/panthor/perf_session.c"

static bool bed_prepare(const struct drm_panthor_gpu_info *gpu)
{
	(void)gpu;
	return true;
}

#define GPU_TIMESTAMP_OFFSET	0x88

#define OFFSET_TICKS		1000000u

/* The GPU's registers, or NULL. */
static volatile uint32_t *gpu_registers(void)
{
	char dir[512];
	void *map;
	int fd;

	if (perf_sysfs(dir, sizeof(dir)))
		return NULL;
	fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   strtoull(strrchr(dir, '/') + 1, NULL, 16));
	close(fd);
	return map == MAP_FAILED ? NULL : map;
}

/*
 * How the GPU timestamp differs from the system counter is found by the first
 * session of a GPU that is up, since nobody looked at it before. A timestamp that
 * was taken for another one's would be some milliseconds off.
 */
TEST_F(session, timestamp_of_first)
{
	volatile uint32_t *regs;
	unsigned int same;
	uint64_t before;

	regs = gpu_registers();
	if (!regs)
		SKIP(return, "needs the GPU's registers in /dev/mem (iomem=relaxed)");
	for (uint32_t sign = 0; sign < 2; sign++) {
		uint32_t offset = sign ? -OFFSET_TICKS : OFFSET_TICKS;
		struct drm_panthor_perf_cmd_setup setup = {};

		perf_session_end(&self->s);
		regs[GPU_TIMESTAMP_OFFSET / 4] = offset;
		regs[GPU_TIMESTAMP_OFFSET / 4 + 1] = sign ? ~0u : 0;
		ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->s, &setup));
		EXPECT_EQ(offset, regs[GPU_TIMESTAMP_OFFSET / 4]);
		ASSERT_EQ(0, START(0));
		same = 0;
		for (int i = 0; i < 3; i++) {
			before = perf_now();
			ASSERT_EQ(0, SAMPLE(i));
			ASSERT_TRUE(perf_wait(&self->s, i + 1));
			EXPECT_LE(before, perf_slot(&self->s, i)->timestamp_end_ns);
			EXPECT_GE(perf_now(), perf_slot(&self->s, i)->timestamp_end_ns);
			/* What firmware said, not what was made of it. */
			EXPECT_LE(perf_values(&self->info, perf_slot(&self->s, i), 0)[0] |
				  perf_values(&self->info, perf_slot(&self->s, i), 0)[1] << 32,
				  bench_reg_get64(TIMESTAMP));
			same += (perf_values(&self->info, perf_slot(&self->s, i), 0)[0] |
				 perf_values(&self->info, perf_slot(&self->s, i), 0)[1] << 32) ==
				bench_reg_get64(LAST_TIMESTAMP);
		}
		/* If the offset is wrong none is believed. The driver may take one more, now and then. */
		EXPECT_NE(0, same);
	}
	perf_session_end(&self->s);
	regs[GPU_TIMESTAMP_OFFSET / 4] = 0;
	regs[GPU_TIMESTAMP_OFFSET / 4 + 1] = 0;
	munmap((void *)regs, 4096);
}

TEST_F(session, start_while_stop_is_pending)
{
	ASSERT_EQ(0, START(1));
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, SAMPLE(2));
	ASSERT_EQ(0, STOP(3));
	EXPECT_EQ(-EBUSY, START(4));
	EXPECT_EQ(-EINVAL, SAMPLE(5));
	EXPECT_EQ(0, STOP(6));
	EXPECT_EQ(-EBUSY, START(4));
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, perf_signals(&self->s));
	perf_let_go();
	ASSERT_TRUE(perf_wait(&self->s, 2));
	EXPECT_EQ(2, perf_insert(&self->s));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);
	EXPECT_EQ(3, perf_slot(&self->s, 1)->user_data);
	EXPECT_EQ(0, START(7));
	EXPECT_EQ(2, perf_signals(&self->s));
}

/* Slots of samples that are still to come count as used. */
TEST_F(session, pending_takes_slots)
{
	ASSERT_EQ(0, START(0));
	ASSERT_TRUE(perf_hold_back());
	for (int i = 0; i < SLOTS - 1; i++)
		ASSERT_EQ(0, SAMPLE(i));
	EXPECT_EQ(-EBUSY, SAMPLE(99));
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, STOP(SLOTS - 1));
	perf_let_go();
	ASSERT_TRUE(perf_wait(&self->s, SLOTS));
	for (int i = 0; i < SLOTS; i++)
		EXPECT_EQ(i, perf_slot(&self->s, i)->user_data);
	EXPECT_EQ(-EBUSY, START(0));
}

static void on_alarm(int sig)
{
	(void)sig;
}

TEST_F(session, start_is_interruptible)
{
	struct sigaction sa = { .sa_handler = on_alarm };
	pid_t self_tid = syscall(SYS_gettid), parent = getpid();
	int status;
	pid_t child;

	/* Somebody counts, so that a baseline has to be asked for. */
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, 2, &self->other, &self->setup));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 0));
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, sigaction(SIGUSR1, &sa, NULL));
	child = fork();
	ASSERT_LE(0, child);
	if (!child) {
		char path[64], state[256], *p;

		/* Once the parent sleeps, in START, it is woken up. */
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", parent, self_tid);
		while (perf_read_file(path, state, sizeof(state)) || !(p = strrchr(state, ')')) ||
		       p[2] != 'S')
			usleep(1000);
		_exit(kill(parent, SIGUSR1) ? 1 : 0);
	}
	EXPECT_EQ(-EINTR, START(1));
	ASSERT_EQ(child, waitpid(child, &status, 0));
	EXPECT_EQ(0, status);
	/* As it was before. */
	EXPECT_EQ(-EINVAL, SAMPLE(2));
	EXPECT_EQ(0, STOP(3));
	perf_let_go();
	ASSERT_EQ(0, START(4));
	ASSERT_EQ(0, STOP(5));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(5, perf_slot(&self->s, 0)->user_data);
}

struct call {
	pthread_t thread;
	int fd, ret;
	uint32_t handle, command;
	uint64_t data;
	pid_t tid;
	bool done;
};

static void *make_call(void *arg)
{
	struct call *c = arg;

	__atomic_store_n(&c->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	c->ret = c->command == DRM_PANTHOR_PERF_COMMAND_START ?
		 perf_start(c->fd, c->handle, c->data) : perf_stop(c->fd, c->handle, c->data);
	__atomic_store_n(&c->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(struct call *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_ACQUIRE);
}

/* The thread sleeps in the kernel, or has come back from there. */
static bool has_settled(struct call *c)
{
	pid_t tid = __atomic_load_n(&c->tid, __ATOMIC_ACQUIRE);
	char path[64], state[256], *p;

	if (is_done(c))
		return true;
	if (!tid)
		return false;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	if (perf_read_file(path, state, sizeof(state)))
		return false;
	p = strrchr(state, ')');
	return p && p[2] == 'S';
}

/* A command in a thread of its own. False if it neither ends nor sleeps. */
static bool call_begin(struct call *c, const struct perf_session *s, uint32_t command,
		       uint64_t data)
{
	memset(c, 0, sizeof(*c));
	c->fd = s->fd;
	c->handle = s->handle;
	c->command = command;
	c->data = data;
	if (pthread_create(&c->thread, NULL, make_call, c))
		return false;
	return perf_until(has_settled(c));
}

static int call_end(struct call *c)
{
	pthread_join(c->thread, NULL);
	return c->ret;
}

static int call_interrupt(struct call *c)
{
	pthread_kill(c->thread, SIGUSR1);
	return call_end(c);
}

#define CALL(c, name, data) \
	call_begin(c, &self->s, DRM_PANTHOR_PERF_COMMAND_ ## name, data)

/* A START that firmware does not answer, since the GPU is in protected mode. */
static bool start_held_back(FIXTURE_DATA(session) *self, struct call *c)
{
	struct sigaction sa = { .sa_handler = on_alarm };

	/* Somebody counts, so that a baseline has to be asked for. */
	return !sigaction(SIGUSR1, &sa, NULL) &&
	       !perf_session_new(self->fd, &self->info, 2, &self->other, &self->setup) &&
	       !perf_start(self->fd, self->other.handle, 0) &&
	       perf_hold_back() && CALL(c, START, 1) && !is_done(c);
}

TEST_F(session, stop_waits_for_start)
{
	struct call start, stop;

	ASSERT_TRUE(start_held_back(self, &start));
	ASSERT_TRUE(CALL(&stop, STOP, 2));
	EXPECT_FALSE(is_done(&stop));
	perf_let_go();
	EXPECT_EQ(0, call_end(&start));
	EXPECT_EQ(0, call_end(&stop));
	/* Stopped, by the STOP that came after the START. */
	EXPECT_EQ(-EINVAL, SAMPLE(3));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(1, perf_insert(&self->s));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);
}

TEST_F(session, stop_is_interruptible)
{
	struct call start, stop;

	ASSERT_TRUE(start_held_back(self, &start));
	ASSERT_TRUE(CALL(&stop, STOP, 2));
	EXPECT_EQ(-EINTR, call_interrupt(&stop));
	EXPECT_FALSE(is_done(&start));
	perf_let_go();
	EXPECT_EQ(0, call_end(&start));
	/* Nothing has become of that STOP. */
	EXPECT_EQ(0, SAMPLE(3));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(3, perf_slot(&self->s, 0)->user_data);
}

static volatile sig_atomic_t caught;

static void on_caught(int sig)
{
	(void)sig;
	caught = 1;
}

/* Its thread has run a handler that was installed with SA_RESTART, and waits again. */
static bool call_restarts(struct call *c)
{
	struct sigaction sa = { .sa_handler = on_caught, .sa_flags = SA_RESTART };

	caught = 0;
	return !sigaction(SIGUSR1, &sa, NULL) && !pthread_kill(c->thread, SIGUSR1) &&
	       perf_until(caught) && perf_until(has_settled(c)) && !is_done(c);
}

TEST_F(session, start_is_restarted)
{
	struct call start;

	ASSERT_TRUE(start_held_back(self, &start));
	EXPECT_TRUE(call_restarts(&start));
	perf_let_go();
	EXPECT_EQ(0, call_end(&start));
	EXPECT_EQ(0, SAMPLE(2));
	EXPECT_EQ(0, STOP(3));
	ASSERT_TRUE(perf_wait(&self->s, 2));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);
}

TEST_F(session, stop_is_restarted)
{
	struct call start, stop;

	ASSERT_TRUE(start_held_back(self, &start));
	ASSERT_TRUE(CALL(&stop, STOP, 2));
	EXPECT_TRUE(call_restarts(&stop));
	perf_let_go();
	EXPECT_EQ(0, call_end(&start));
	EXPECT_EQ(0, call_end(&stop));
	EXPECT_EQ(-EINVAL, SAMPLE(3));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(2, perf_slot(&self->s, 0)->user_data);
}

TEST_F(session, start_waits_for_start)
{
	struct call first, second;

	ASSERT_TRUE(start_held_back(self, &first));
	ASSERT_TRUE(CALL(&second, START, 2));
	EXPECT_FALSE(is_done(&second));
	perf_let_go();
	EXPECT_EQ(0, call_end(&first));
	EXPECT_EQ(0, call_end(&second));
	EXPECT_EQ(0, perf_insert(&self->s));
	EXPECT_EQ(0, STOP(3));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(3, perf_slot(&self->s, 0)->user_data);
}

/* A signal ends the START of the thread that it is for. */
TEST_F(session, signal_of_another_thread)
{
	struct call first, second;

	ASSERT_TRUE(start_held_back(self, &first));
	ASSERT_TRUE(CALL(&second, START, 2));
	EXPECT_EQ(-EINTR, call_interrupt(&first));
	perf_let_go();
	EXPECT_EQ(0, call_end(&second));
	EXPECT_EQ(0, SAMPLE(3));
	EXPECT_EQ(0, STOP(4));
	ASSERT_TRUE(perf_wait(&self->s, 2));
}

TEST_F(session, teardown_does_not_wait)
{
	struct call start, stop;

	ASSERT_TRUE(start_held_back(self, &start));
	ASSERT_TRUE(CALL(&stop, STOP, 2));
	EXPECT_EQ(0, perf_teardown(self->fd, self->s.handle));
	EXPECT_NE(0, bench_reg_get(GPU_STATUS) & 1u << 7);
	self->s.handle = 0;
	EXPECT_EQ(-ENOENT, call_end(&start));
	EXPECT_EQ(0, call_end(&stop));
	EXPECT_EQ(0, perf_signals(&self->s));
	perf_let_go();
}

/* Protected mode may last, and is not ended by who turns counters off. */
TEST_F_TIMEOUT(session, end_in_protected_mode, 120)
{
	ASSERT_EQ(0, START(0));
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, SAMPLE(1));
	ASSERT_EQ(0, perf_teardown(self->fd, self->s.handle));
	self->s.handle = 0;
	for (int i = 0; i < 100; i++) {
		usleep(10000);
		ASSERT_EQ(1u << 7, bench_reg_get(GPU_STATUS) & 1u << 7);
	}
	EXPECT_EQ(0, perf_signals(&self->s));
	perf_let_go();
	/* And all is well afterwards. */
	for (int i = 0; i < 3; i++)
		ASSERT_EQ(0, other_run(self));
}

/* Firmware has been told to count, and not to, before it could do either. */
TEST_F_TIMEOUT(session, end_of_unanswered_start, 120)
{
	uint64_t rejected, faults;

	rejected = bench_reg_get64(REJECTED);
	faults = bench_reg_get64(FAULTS);
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, START(0));
	ASSERT_EQ(0, perf_teardown(self->fd, self->s.handle));
	self->s.handle = 0;
	ASSERT_EQ(1u << 7, bench_reg_get(GPU_STATUS) & 1u << 7);
	perf_let_go();
	ASSERT_TRUE(perf_until(!(bench_reg_get(GPU_STATUS) & 1u << 7)));
	/* It does neither, and touches no memory that it was given for it. */
	EXPECT_EQ(0, bench_reg_get(ENABLED));
	EXPECT_EQ(rejected, bench_reg_get64(REJECTED));
	EXPECT_EQ(faults, bench_reg_get64(FAULTS));
	ASSERT_EQ(0, other_run(self));
	EXPECT_EQ(rejected, bench_reg_get64(REJECTED));
	EXPECT_EQ(faults, bench_reg_get64(FAULTS));
}

/* Nothing counts there, so it can begin at once; what follows may lack its first moments. */
TEST_F_TIMEOUT(session, start_in_protected_mode, 120)
{
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, START(0));
	EXPECT_EQ(1u << 7, bench_reg_get(GPU_STATUS) & 1u << 7);
	perf_let_go();
	ASSERT_TRUE(perf_until(bench_reg_get(ENABLED)));
	ASSERT_EQ(0, SAMPLE(1));
	ASSERT_TRUE(perf_wait(&self->s, 1));
	EXPECT_EQ(0, perf_slot(&self->s, 0)->flags & ~DRM_PANTHOR_PERF_SAMPLE_ERROR);
	ASSERT_EQ(0, SAMPLE(2));
	ASSERT_TRUE(perf_wait(&self->s, 2));
	EXPECT_EQ(0, perf_slot(&self->s, 1)->flags);
}

/* Also while the last sample is on its way, and while nothing can be counted. */
TEST_F(session, sets_while_stopping)
{
	struct drm_panthor_perf_cmd_setup setup = self->setup;

	setup.block_set = 1;
	ASSERT_EQ(0, perf_session_new(self->fd, &self->info, SLOTS, &self->other, &setup));
	ASSERT_EQ(0, START(1));
	ASSERT_TRUE(perf_hold_back());
	ASSERT_EQ(0, STOP(2));
	EXPECT_EQ(-EBUSY, perf_start(self->fd, self->other.handle, 3));
	perf_let_go();
	ASSERT_TRUE(perf_wait(&self->s, 1));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 4));
	ASSERT_EQ(0, perf_stop(self->fd, self->other.handle, 5));
	ASSERT_TRUE(perf_wait(&self->other, 1));
	EXPECT_EQ(1, perf_slot(&self->other, 0)->block_set);
	EXPECT_EQ(0, perf_slot(&self->other, 0)->flags);

	ASSERT_EQ(0, perf_pm_write("control", "auto"));
	ASSERT_TRUE(perf_until(perf_pm_is("suspended")));
	ASSERT_EQ(0, perf_start(self->fd, self->other.handle, 6));
	EXPECT_EQ(-EBUSY, START(7));
	ASSERT_EQ(0, perf_stop(self->fd, self->other.handle, 8));
	ASSERT_TRUE(perf_wait(&self->other, 2));
	ASSERT_EQ(0, START(9));
	EXPECT_EQ(-EBUSY, perf_start(self->fd, self->other.handle, 10));
}
