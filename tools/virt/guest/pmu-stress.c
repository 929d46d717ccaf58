// SPDX-License-Identifier: MIT
/*
 * pmu-stress   events of perf, opened, read and closed while all goes wrong
 *
 *   pmu-stress [-t SECONDS] [-n THREADS] [-s SEED] [-x WHAT]...
 *
 * THREADS threads open events, some of them of a CPU's clock, alone and in
 * groups, read them, enable, disable and reset them, and close them, at random,
 * for SECONDS, and until each thing was done a few times. Beside them sessions
 * of another counter set come and go, and
 *
 *   power     the GPU is suspended and resumed
 *   reset     firmware hangs, or dies, and the GPU is reset
 *   hotplug   a CPU goes offline, and comes back
 *   bind      the device is unbound from its driver, and bound again
 *   interval  the PMU's interval changes
 *
 * -x leaves one of them out. What is wrong the kernel has to tell; the program
 * looks for counts that go back, for errors that no such thing explains, and in
 * the end, when all is calm, for events that do not count. It prints how often
 * each thing was done; what cannot be done is an error.
 * Needs the virtual Mali.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>

#include "bench-page.h"
#include "../../testing/selftests/drivers/gpu/panthor/pmu.h"
#include "die.h"

#define MAX_THREADS	64
#define MAX_EVENTS	8	/* that a thread has open */
#define TIMES		2	/* that each thing is done at least */
#define CPU		1	/* the one that comes and goes; so does the PMU's */

enum what { POWER, RESET, HOTPLUG, BIND, INTERVAL, SESSION, OPEN, READ, CONTROL, CLOSE, WHATS };

static const char *const names[WHATS] = {
	"power", "reset", "hotplug", "bind", "interval", "session", "open", "read", "control", "close",
};

static struct pmu pmu;
static struct drm_panthor_perf_info info;
static uint64_t done[WHATS];
static bool without[WHATS];
static bool over;
/* The device is there, so that its firmware may be given a fault. */
static bool bound = true;
static char device[512];
static uint64_t seed = 1;
/* Held to read while a group is opened, and to write while a CPU goes or comes. */
static pthread_rwlock_t cpus = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static uint32_t random_below(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (*state >> 33) % n;
}

static bool goes_on(void)
{
	return !__atomic_load_n(&over, __ATOMIC_ACQUIRE);
}

static void count(enum what what)
{
	__atomic_add_fetch(&done[what], 1, __ATOMIC_RELAXED);
}

/* Mostly what exists, and sometimes not. */
static uint64_t random_config(uint64_t *state)
{
	uint32_t type = random_below(state, PERF_TYPES + 1);

	if (!type)
		return random_below(state, PMU_MADE_END + 1);
	return PMU_CONFIG(type, random_below(state, info.counters_per_block + 4),
			  random_below(state, 6));
}

/*
 * What an event that is opened may be answered, other than a file: there is no
 * such counter, another set counts, the device is not there, or goes, and its PMU
 * with it, its CPU is offline, firmware did not answer, or its group cannot be had.
 */
static bool is_explained(int error)
{
	static const int errors[] = {
		EINVAL, EBUSY, ENODEV, ENOENT, ENXIO, EIO, ETIMEDOUT, EAGAIN, EINTR, ECANCELED,
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (error == errors[i])
			return true;
	}
	return false;
}

/**
 * struct event - an event of a thread
 * @fd: its file, or -1
 * @last: count that was read last
 */
struct event {
	int fd;
	uint64_t last;
};

/* Whether there is an event now. Its leader is that of a group, or -1. */
static bool open_one(struct event *e, int leader, int cpu, uint64_t *state)
{
	struct perf_event_attr attr = pmu_attr(&pmu, random_config(state));

	if (!random_below(state, 6))
		attr = pmu_clock_attr(random_below(state, 2) ? 100 : 0);
	attr.disabled = random_below(state, 2);
	e->last = 0;
	e->fd = pmu_open_once(&attr, -1, cpu, leader, 0);
	if (e->fd < 0) {
		if (!is_explained(-e->fd))
			die("event %#llx: %s", attr.config, strerror(-e->fd));
		e->fd = -1;
		return false;
	}
	count(OPEN);
	return true;
}

/*
 * An event, or a group of those that are not open. A group is opened while no CPU
 * goes or comes, whatever the PMU. perf frees a leader that siblings still know if
 * its CPU was offline between (perf_group_detach() as of Linux 7.3), and Linux
 * 6.12 also if the leader was opened while its CPU was coming: that was not
 * installed then, without an error (perf_event_init_cpu() is called before the
 * CPU is online, and after).
 */
static void open_some(struct event *events, struct event *e, uint64_t *state)
{
	int cpu = random_below(state, 4) ? pmu.cpu : (int)random_below(state, 2);

	if (random_below(state, 2)) {
		open_one(e, -1, cpu, state);
		return;
	}
	pthread_rwlock_rdlock(&cpus);
	if (open_one(e, -1, cpu, state)) {
		for (int i = 0; i < MAX_EVENTS; i++) {
			if (events[i].fd < 0 && random_below(state, 2))
				open_one(&events[i], e->fd, cpu, state);
		}
	}
	pthread_rwlock_unlock(&cpus);
}

static void read_one(struct event *e)
{
	uint64_t value;
	int ret = pmu_read(e->fd, &value);

	if (ret)
		die("an event cannot be read: %s", strerror(-ret));
	if (value < e->last)
		die("a count went back from %" PRIu64 " to %" PRIu64, e->last, value);
	e->last = value;
	count(READ);
}

static void control_one(struct event *e, uint64_t *state)
{
	static const unsigned long commands[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET,
	};
	uint32_t which = random_below(state, 3);

	/* Where the PMU goes with the device, events have ended. */
	if (ioctl(e->fd, commands[which], random_below(state, 2) ? PERF_IOC_FLAG_GROUP : 0) &&
	    errno != ENODEV)
		die("an event cannot be controlled: %s", strerror(errno));
	/* A reset of a group is also one of others: their counts may go back. */
	if (which == 2)
		e->last = 0;
	count(CONTROL);
}

static void forget(struct event *events)
{
	for (int i = 0; i < MAX_EVENTS; i++)
		events[i].last = 0;
}

static void *use_events(void *data)
{
	uint64_t state = seed * 1000 + (uintptr_t)data;
	struct event events[MAX_EVENTS];

	for (int i = 0; i < MAX_EVENTS; i++)
		events[i].fd = -1;
	while (goes_on()) {
		struct event *e = &events[random_below(&state, MAX_EVENTS)];
		uint32_t dice = random_below(&state, 16);

		/* What goes on beside it needs a processor as well, and there may be one only. */
		usleep(random_below(&state, 2000));
		if (e->fd < 0) {
			open_some(events, e, &state);
		} else if (dice < 10) {
			read_one(e);
		} else if (dice < 14) {
			control_one(e, &state);
			forget(events);
		} else {
			close(e->fd);
			e->fd = -1;
			count(CLOSE);
		}
	}
	for (int i = 0; i < MAX_EVENTS; i++) {
		if (events[i].fd >= 0)
			close(events[i].fd);
	}
	return NULL;
}

/* A session whose set may be another one. Whatever fails, fails because of what else goes on. */
static void *use_sessions(void *data)
{
	uint64_t state = seed * 2000;

	(void)data;
	while (goes_on()) {
		struct drm_panthor_perf_cmd_setup setup = {
			.block_set = random_below(&state, 2), .sample_freq_ns = 2000000,
		};
		struct drm_panthor_perf_info now;
		struct perf_session s;
		int fd = perf_open_counters(&now);

		if (fd < 0) {
			usleep(1000);
			continue;
		}
		perf_masks_all(&setup);
		if (!perf_session_new(fd, &now, 8, &s, &setup)) {
			if (!perf_start(fd, s.handle, 0)) {
				usleep(random_below(&state, 20000));
				count(SESSION);
			}
			perf_session_end(&s);
		}
		close(fd);
		usleep(random_below(&state, 20000));
	}
	return NULL;
}

static void *change_power(void *data)
{
	uint64_t state = seed * 3000;

	(void)data;
	while (goes_on()) {
		/* Without a device there is no such file. */
		if (!perf_pm_write("control", random_below(&state, 2) ? "on" : "auto"))
			count(POWER);
		usleep(random_below(&state, 30000));
	}
	perf_pm_write("control", "auto");
	return NULL;
}

/* Firmware runs, or there is no device whose firmware could. */
static bool is_mended(void)
{
	return !goes_on() || !__atomic_load_n(&bound, __ATOMIC_ACQUIRE) ||
	       (!bench_reg_get(HANG) && bench_reg_get(MCU_STATUS) == 1);
}

/* One fault after the other: a GPU that does not come up by a reset either is given up. */
static void *make_resets(void *data)
{
	uint64_t state = seed * 4000;

	(void)data;
	while (goes_on()) {
		if (__atomic_load_n(&bound, __ATOMIC_ACQUIRE) && perf_pm_is("active")) {
			if (random_below(&state, 2))
				bench_reg_set(HANG, 1);
			else
				bench_reg_set(CRASH, 1);
			count(RESET);
			if (!perf_until(is_mended()))
				die("the GPU is not reset");
		}
		usleep(100000 + random_below(&state, 400000));
	}
	bench_reg_set(HANG, 0);
	return NULL;
}

static void *plug_cpus(void *data)
{
	uint64_t state = seed * 5000;

	(void)data;
	while (goes_on()) {
		char path[64];

		/* One of them is the PMU's. */
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online",
			 random_below(&state, CPU + 1));
		pthread_rwlock_wrlock(&cpus);
		if (!perf_write_file(path, "0"))
			count(HOTPLUG);
		pthread_rwlock_unlock(&cpus);
		usleep(random_below(&state, 20000));
		pthread_rwlock_wrlock(&cpus);
		perf_write_file(path, "1");
		pthread_rwlock_unlock(&cpus);
		usleep(random_below(&state, 500000));
	}
	return NULL;
}

/*
 * The other threads make firmware hang now and then. If they do while there is no device, the
 * probe fails, because it does not reset the GPU; so the hang is ended before the next try.
 */
static bool is_bound_again(void)
{
	if (!perf_bind(device, "bind"))
		return true;
	bench_reg_set(HANG, 0);
	return false;
}

static void *bind_and_unbind(void *data)
{
	uint64_t state = seed * 6000;

	(void)data;
	while (goes_on()) {
		usleep(200000 + random_below(&state, 800000));
		__atomic_store_n(&bound, false, __ATOMIC_RELEASE);
		if (!perf_bind(device, "unbind"))
			count(BIND);
		usleep(random_below(&state, 50000));
		if (!perf_until(is_bound_again()))
			die("the device cannot be bound again");
		/* The PMU may be another one, or another CPU have become its own. */
		if (pmu_find(&pmu))
			die("there is no PMU any more");
		__atomic_store_n(&bound, true, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void *change_interval(void *data)
{
	uint64_t state = seed * 7000;

	(void)data;
	while (goes_on()) {
		char text[16];

		snprintf(text, sizeof(text), "%u", 1 + random_below(&state, 20));
		if (!pmu_write_file(&pmu, "sample_interval_ms", text))
			count(INTERVAL);
		usleep(random_below(&state, 50000));
	}
	return NULL;
}

static bool all_done(void)
{
	for (unsigned int i = 0; i < WHATS; i++) {
		if (!without[i] && __atomic_load_n(&done[i], __ATOMIC_RELAXED) < TIMES)
			return false;
	}
	return true;
}

static void run(pthread_t *thread, void *(*what)(void *), void *data)
{
	if (pthread_create(thread, NULL, what, data))
		die("there is no thread");
}

/* All is as it was: an event counts the samples of a GPU that is up. */
static void count_in_the_end(void)
{
	uint64_t before;
	int fd;

	if (pmu_find(&pmu))
		die("in the end there is no PMU");
	fd = pmu_open(&pmu, PMU_FIRMWARE_SAMPLES);
	if (fd < 0)
		die("in the end an event cannot be opened: %s", strerror(-fd));
	if (perf_pm_write("control", "on"))
		die("in the end the GPU cannot be resumed");
	before = pmu_count(fd);
	if (!perf_until(pmu_count(fd) > before + 1))
		die("in the end an event does not count");
	close(fd);
	if (!perf_until(!bench_reg_get(ENABLED)))
		die("in the end something is left counting");
	if (perf_pm_write("control", "auto") || !perf_until(perf_pm_is("suspended")))
		die("in the end the GPU does not go to sleep");
}

int main(int argc, char **argv)
{
	static void *(*const beside[])(void *) = {
		[POWER] = change_power, [RESET] = make_resets, [HOTPLUG] = plug_cpus,
		[BIND] = bind_and_unbind, [INTERVAL] = change_interval, [SESSION] = use_sessions,
	};
	pthread_t threads[MAX_THREADS], others[SESSION + 1];
	unsigned int seconds = 10, count_of = 8;
	bool did;
	int opt, fd;

	while ((opt = getopt(argc, argv, "t:n:s:x:")) != -1) {
		switch (opt) {
		case 't': seconds = atoi(optarg); break;
		case 'n': count_of = atoi(optarg); break;
		case 's': seed = strtoull(optarg, NULL, 0); break;
		case 'x':
			for (unsigned int i = 0; i <= SESSION; i++)
				without[i] |= !strcmp(optarg, names[i]);
			break;
		default: return 2;
		}
	}
	if (!count_of || count_of > MAX_THREADS)
		die("there are 1 to %u threads", MAX_THREADS);
	fd = perf_open_counters(&info);
	if (fd < 0 || perf_sysfs(device, sizeof(device)) || !perf_bench_open())
		die("this needs the virtual Mali with performance counters, and root");
	close(fd);
	if (pmu_find(&pmu))
		die("there is no PMU of panthor's in " PMU_DEVICES);
	bench_reg_set(RATE, 100000);
	bench_reg_set(ACTIVITY, 1);
	for (unsigned int i = 0; i < count_of; i++)
		run(&threads[i], use_events, (void *)(uintptr_t)(i + 1));
	for (unsigned int i = 0; i <= SESSION; i++) {
		if (!without[i])
			run(&others[i], beside[i], NULL);
	}
	sleep(seconds);
	/* Of a kernel that checks, on a machine that has much else to do, one hang is not enough. */
	did = false;
	for (int i = 0; i < 5 && !did; i++)
		did = perf_until(all_done());
	__atomic_store_n(&over, true, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < count_of; i++)
		pthread_join(threads[i], NULL);
	for (unsigned int i = 0; i <= SESSION; i++) {
		if (!without[i])
			pthread_join(others[i], NULL);
	}
	perf_bench_calm();
	for (unsigned int i = 0; i < WHATS; i++)
		printf("%s %" PRIu64 "\n", names[i], done[i]);
	fflush(stdout);
	if (!did)
		die("something cannot be done");
	count_in_the_end();
	return 0;
}
