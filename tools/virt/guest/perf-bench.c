// SPDX-License-Identifier: MIT
/*
 * perf-bench   what performance counters cost, in the machine that runs this
 *
 * Everything is a ratio to something that was measured in the same run: an
 * emulated processor says nothing of how many microseconds a real one takes.
 *
 * CPU time is that of all tasks, less what they use while nothing is counted:
 * of workers, interrupt threads, and of the reader, who only frees slots, a few
 * times a second, or where samples are requested also does that. Handlers that
 * interrupt an idle processor are not in it. The kernel's idle time would have
 * them, but is told by the tick, which periods of milliseconds run in step with.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <sys/utsname.h>

#include "perf-bench.h"

#define SEC		1000000000ull
#define MAX_PID		32768
#define ROUND_TRIPS	2000
#define MEASURE_NS	(4 * SEC)

/* Of an ioctl that does nothing, and of memcpy() of a sample. */
static double ioctl_ns, memcpy_ns;
/* Part of the time that tasks run while nothing is counted. */
static double rest;

static void line(const char *what, double ns, double to, const char *unit)
{
	printf("  %-44s %9.1f us  %8.2f %s\n", what, ns / 1000, ns / to, unit);
	fflush(stdout);
}

/* CPU time of all tasks that there are. */
static double busy_ns(void)
{
	static uint64_t before[MAX_PID];
	static double sum;
	struct dirent *e;
	DIR *d = opendir("/proc");

	if (!d)
		die("/proc cannot be read");
	while ((e = readdir(d))) {
		int pid = atoi(e->d_name);
		struct timespec t;
		clockid_t clock;
		uint64_t ns;

		/* One that has ended meanwhile has not done much. */
		if (pid <= 0 || pid >= MAX_PID || clock_getcpuclockid(pid, &clock) ||
		    clock_gettime(clock, &t))
			continue;
		ns = t.tv_sec * SEC + t.tv_nsec;
		sum += ns - (ns >= before[pid] ? before[pid] : 0);
		before[pid] = ns;
	}
	closedir(d);
	return sum;
}

static void measure_units(void)
{
	char *from = malloc(info.sample_size), *to = malloc(info.sample_size);
	uint64_t best = ~0ull, begin, n;
	double busy;

	for (int batch = 0; batch < 50; batch++) {
		begin = perf_now();
		for (int i = 0; i < 200; i++)
			do_nothing();
		n = perf_now() - begin;
		best = n < best ? n : best;
	}
	ioctl_ns = best / 200.0;

	if (!from || !to)
		die("no memory");
	memset(from, 1, info.sample_size);
	best = ~0ull;
	for (int batch = 0; batch < 50; batch++) {
		begin = perf_now();
		for (int i = 0; i < 200; i++) {
			memcpy(to, from, info.sample_size);
			asm volatile("" : : "r" (to) : "memory");
		}
		n = perf_now() - begin;
		best = n < best ? n : best;
	}
	memcpy_ns = best / 200.0;
	free(from);
	free(to);

	begin = perf_now();
	busy = busy_ns();
	sleep(MEASURE_NS / SEC);
	rest = (busy_ns() - busy) / (perf_now() - begin);
}

static void round_trip(void)
{
	static uint64_t took[ROUND_TRIPS];
	struct perf_session *s = new_session(0, 0, 4);

	for (int i = 0; i < ROUND_TRIPS; i++) {
		uint64_t begin = perf_now();

		one_sample(s);
		took[i] = perf_now() - begin;
	}
	perf_session_end(s);
	qsort(took, ROUND_TRIPS, sizeof(took[0]), by_value);
	line("SAMPLE to eventfd, half of them", took[ROUND_TRIPS / 2], ioctl_ns, "empty ioctls");
	line("SAMPLE to eventfd, 99 of 100", took[ROUND_TRIPS * 99 / 100], ioctl_ns, "empty ioctls");
}

/* A reader who takes each sample as it comes, for two seconds. */
static void sustain(uint64_t period, unsigned int *due, unsigned int *delivered,
		    unsigned int *stretched)
{
	struct perf_session *s = new_session(0, period, 64);
	uint64_t base = perf_now(), end = base;

	*delivered = 0;
	*stretched = 0;
	while (end - base < 2 * SEC) {
		if (!perf_wait(s, s->read + 1))
			die("samples of %" PRIu64 " us do not come", period / 1000);
		while (s->read < perf_insert(s)) {
			const struct drm_panthor_perf_sample_header *h = perf_slot(s, s->read);

			if (!*delivered)
				base = h->timestamp_start_ns;
			end = h->timestamp_end_ns;
			*stretched += !!(h->flags & DRM_PANTHOR_PERF_SAMPLE_STRETCHED);
			++*delivered;
			perf_consume(s, 1);
		}
	}
	*due = (end - base) / period;
	perf_session_end(s);
}

static void shortest_period(void)
{
	static const unsigned int us[] = { 10000, 5000, 2000, 1000, 700, 500, 300, 200, 150, 100 };
	unsigned int whole = 0, kept = 0;
	bool is_whole = true, is_kept = true;

	for (size_t i = 0; i < sizeof(us) / sizeof(us[0]) && (is_whole || is_kept); i++) {
		unsigned int due, delivered, stretched;

		if (us[i] * 1000ull < info.min_sample_period_ns)
			break;
		sustain(us[i] * 1000ull, &due, &delivered, &stretched);
		is_whole &= !stretched;
		is_kept &= !stretched && delivered * 100ull >= due * 99ull;
		if (is_whole)
			whole = us[i];
		if (is_kept)
			kept = us[i];
	}
	printf("  shortest period with nothing stretched: %u us; with 99 of 100 deadlines kept as well: %u us\n",
	       whole, kept);
}

/* A reader who frees slots now and then. */
static void periodic(unsigned int hz)
{
	struct perf_session *s = new_session(0, SEC / hz, 4096);
	uint64_t first, begin, taken;
	char what[64];
	double busy;

	usleep(100000);
	first = perf_insert(s);
	busy = busy_ns();
	begin = perf_now();
	do {
		usleep(100000);
		perf_consume(s, perf_insert(s) - s->read);
		taken = perf_now() - begin;
	} while (taken < MEASURE_NS);
	busy = busy_ns() - busy - rest * taken;
	first = perf_insert(s) - first;
	perf_session_end(s);
	snprintf(what, sizeof(what), "CPU time a sample at %u Hz (%.0f came)", hz,
		 first * (double)SEC / taken);
	line(what, busy / first, ioctl_ns, "empty ioctls");
	line("", busy / first, memcpy_ns, "memcpy of a sample");
}

/* All ask, and wait for all; this goes as fast as it can. */
static double many(unsigned int count)
{
	uint64_t begin, taken, samples = 0;
	double busy;

	for (unsigned int i = 0; i < count; i++)
		new_session(i, 0, 4);
	busy = busy_ns();
	begin = perf_now();
	do {
		for (unsigned int i = 0; i < count; i++) {
			if (perf_sample(fd, sessions[i].handle, 0))
				die("SAMPLE fails");
		}
		for (unsigned int i = 0; i < count; i++) {
			if (!perf_wait(&sessions[i], sessions[i].read + 1))
				die("a sample does not come");
			perf_consume(&sessions[i], 1);
		}
		samples += count;
		taken = perf_now() - begin;
	} while (taken < MEASURE_NS);
	busy = busy_ns() - busy - rest * taken;
	for (unsigned int i = 0; i < count; i++)
		perf_session_end(&sessions[i]);
	return busy / samples;
}

int main(void)
{
	struct drm_panthor_gpu_info gpu = open_gpu();
	struct utsname name;
	double one = 0;

	if (perf_bench_open())
		set_busy(true);
	uname(&name);
	measure_units();
	printf("Linux %s, GPU %#x, %u blocks, %u byte sample, all counters on\n", name.release,
	       gpu.gpu_id, perf_blocks(&info), info.sample_size);
	line("ioctl that does nothing", ioctl_ns, ioctl_ns, "");
	line("memcpy of a sample", memcpy_ns, ioctl_ns, "empty ioctls");
	round_trip();
	periodic(1000);
	periodic(10000);
	for (unsigned int count = 1; count <= MAX_SESSIONS; count *= 8) {
		double ns = many(count);
		char what[64];

		if (count == 1)
			one = ns;
		snprintf(what, sizeof(what), "CPU time a sample, %2u sessions at once", count);
		line(what, ns, one, "of one session's");
	}
	shortest_period();
	perf_bench_calm();
	perf_pm_write("control", "auto");
	return 0;
}
