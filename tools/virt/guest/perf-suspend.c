// SPDX-License-Identifier: MIT
/*
 * perf-suspend   periodic sessions over a command that suspends the system
 *
 *   perf-suspend COMMAND [ARG...]
 *
 * Starts sessions of several periods, runs COMMAND when each has had some
 * samples, and waits for more of them. What is wrong is printed; 1 if there is
 * anything, 0 if not.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdarg.h>
#include <sys/wait.h>

#include "../../testing/selftests/drivers/gpu/panthor/perf.h"

#define SLOTS	64
#define ENOUGH	20
/*
 * A deadline that is missed is made up for, once. With the one that a timer has
 * just seen, the one a worker is at and the one that firmware is asked for,
 * this many samples can still come in no time; the next is a period later.
 */
#define CLOSE	5

/**
 * struct watched - a session
 * @s: the session
 * @period: its period
 * @ends: where its latest samples ended
 * @base: where its first sample starts
 * @taken: number of samples
 * @phase: the least time that a sample ended after a deadline, since it was last set to the period
 */
struct watched {
	struct perf_session s;
	uint64_t period;
	uint64_t ends[CLOSE];
	uint64_t base, taken, phase;
};

static struct drm_panthor_perf_info info;
static unsigned int complaints;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	fputs("perf-suspend: ", stdout);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
	exit(2);
}

static void __attribute__((format(printf, 2, 3))) wrong(const struct watched *w, const char *fmt, ...)
{
	va_list args;

	complaints++;
	printf("period %" PRIu64 " us, sample %" PRIu64 ": ", w->period / 1000, w->taken);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

static void take(struct watched *w)
{
	const struct drm_panthor_perf_sample_header *h = perf_slot(&w->s, w->s.read);
	uint64_t end = h->timestamp_end_ns, *oldest = &w->ends[w->taken % CLOSE];

	if (!w->taken)
		w->base = h->timestamp_start_ns;
	else if (h->timestamp_start_ns != w->ends[(w->taken - 1) % CLOSE])
		wrong(w, "starts at %" PRIu64 ", and the one before it ended at %" PRIu64,
		      (uint64_t)h->timestamp_start_ns, w->ends[(w->taken - 1) % CLOSE]);
	if (end < w->base + (w->taken + 1) * w->period)
		wrong(w, "ends %" PRIu64 " ns after START, before its deadline", end - w->base);
	if (w->taken >= CLOSE && end - *oldest < w->period)
		wrong(w, "%d samples in %" PRIu64 " ns", CLOSE, end - *oldest);
	if (h->flags != perf_stretched(w->base, w->period, h))
		wrong(w, "flags %#x", h->flags);
	if (end > perf_now())
		wrong(w, "ends in the future, at %" PRIu64, end);
	if ((end - w->base) % w->period < w->phase)
		w->phase = (end - w->base) % w->period;
	*oldest = end;
	w->taken++;
	perf_consume(&w->s, 1);
}

/* Takes samples of all sessions until each has had so many more. */
static void go_on(struct watched *all, unsigned int count, unsigned int samples)
{
	for (unsigned int i = 0; i < count; i++)
		all[i].phase = all[i].period;
	for (unsigned int n = 0; n < samples; n++) {
		for (unsigned int i = 0; i < count; i++) {
			do {
				if (!perf_wait(&all[i].s, all[i].s.read + 1))
					die("the session of %" PRIu64 " us has no more samples",
					    all[i].period / 1000);
				take(&all[i]);
			} while (all[i].s.read < perf_insert(&all[i].s));
		}
	}
}

int main(int argc, char **argv)
{
	static struct watched all[] = {
		{ .period = 1000000 }, { .period = 10000000 }, { .period = 100000000 },
	};
	const unsigned int count = sizeof(all) / sizeof(all[0]);
	int fd = perf_open_counters(&info), status;
	pid_t child;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 2)
		die("usage: perf-suspend COMMAND [ARG...]");
	if (fd < 0)
		die("there are no performance counters");
	for (unsigned int i = 0; i < count; i++) {
		struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = all[i].period };
		int ret;

		perf_masks_all(&setup);
		ret = perf_session_new(fd, &info, SLOTS, &all[i].s, &setup);
		if (!ret)
			ret = perf_start(fd, all[i].s.handle, 0);
		if (ret)
			die("a session cannot be started: %s", strerror(-ret));
	}
	go_on(all, count, ENOUGH);

	child = fork();
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		die("%s does not succeed", argv[1]);

	/* What was there before it was over says nothing. */
	go_on(all, count, 1);
	go_on(all, count, ENOUGH);
	for (unsigned int i = 0; i < count; i++) {
		struct watched *w = &all[i];
		int ret = perf_stop(fd, w->s.handle, 1);

		/* On multiples of the period from START still: of so many, one is in time. */
		if (w->period >= 100000000 && w->phase > w->period / 4)
			wrong(w, "all have ended %" PRIu64 " ns after deadlines, or more", w->phase);
		if (ret)
			die("STOP: %s", strerror(-ret));
		if (!perf_until(perf_slot(&w->s, perf_insert(&w->s) - 1)->user_data == 1))
			die("the last sample of %" PRIu64 " us does not come", w->period / 1000);
	}
	return complaints != 0;
}
