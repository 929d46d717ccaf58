// SPDX-License-Identifier: MIT
/*
 * perf-icount   what performance counters cost, in instructions
 *
 *   perf-icount [-m LINE] [NAME...]    all that there is, or what is named
 *
 * For a machine that counts time by instructions (tools/virt/run -i): the same
 * program takes the same number of them on any host. Prints a line for each
 * thing measured: its name, instructions, nanoseconds, and what it is. Time is
 * 2 ns an instruction, and what was waited for the GPU's firmware when there
 * was nothing else to do.
 *
 * The instructions are those of the whole machine, interrupts and workers
 * included. Where a thing is over only some time after the program has asked
 * for it, the program sleeps for longer than that, and what the same sleep takes
 * when nothing happens is subtracted; there is no time to tell then.
 *
 * For tools/virt/profile, what is measured is marked as runs, with -m only what
 * the line of that name tells: perf-icount -m stop start-stop.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <sys/utsname.h>

#include "mark.h"
#include "perf-bench.h"
#include "../../testing/selftests/drivers/gpu/panthor/pmu.h"

#define MSEC		1000000ull
#define SEC		1000000000ull
#define ROUND_TRIPS	500
#define CYCLES		50	/* of START and STOP, of suspend and resume */
#define PERIOD		(10 * MSEC)
#define PERIODS		50
#define SLOTS		64	/* of a ring for that many samples */
#define MANY		64	/* sessions */
/* By then it is over: whatever a command, a suspend or a resume sets off. */
#define SETTLE_NS	(10 * MSEC)

/**
 * struct figures - what some repetitions of one thing took
 * @count: how many there were
 * @insns: instructions of each
 * @ns: time of each
 */
struct figures {
	unsigned int count;
	uint64_t insns[ROUND_TRIPS];
	uint64_t ns[ROUND_TRIPS];
};

/* Where a measurement began. */
static uint64_t begin_insns, begin_ns;
/* Instructions that a measurement of nothing finds. */
static uint64_t nothing;
/* The line whose runs are marked; NULL for all. */
static const char *marked;

/* Begins to measure what is told by a line of that name, or by none. */
static void begin(const char *name)
{
	bool mark = name && (!marked || !strcmp(name, marked));

	begin_insns = bench_reg_get64(INSTRUCTIONS);
	begin_ns = perf_now();
	if (mark)
		mark_run_begins();
}

static void end(struct figures *f)
{
	uint64_t ns, insns;

	mark_run_ends();
	ns = perf_now() - begin_ns;
	insns = bench_reg_get64(INSTRUCTIONS) - begin_insns;
	f->insns[f->count] = insns > nothing ? insns - nothing : 0;
	f->ns[f->count++] = ns;
}

static uint64_t median(uint64_t *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

static void __attribute__((format(printf, 4, 5)))
line(const char *name, uint64_t insns, uint64_t ns, const char *fmt, ...)
{
	char time[32] = "-";
	va_list args;

	if (ns)
		snprintf(time, sizeof(time), "%" PRIu64, ns);
	printf("%-22s %9" PRIu64 " %9s   ", name, insns, time);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	putchar('\n');
}

static void whole_line(const char *name, struct figures *f, const char *what)
{
	line(name, median(f->insns, f->count), median(f->ns, f->count), "%s", what);
}

/* Samples that firmware wrote, of the latest measurement of periods. */
static uint64_t fw_samples;

/*
 * Return the mean of the lower half of @values without its lowest eighth. Ticks and
 * workers of the kernel fall into about a third of all sleeps: this leaves them out.
 */
static uint64_t undisturbed(uint64_t *values, unsigned int count)
{
	unsigned int low = count / 8, high = count / 2;
	uint64_t sum = 0;

	qsort(values, count, sizeof(*values), by_value);
	for (unsigned int i = low; i < high; i++)
		sum += values[i];
	return sum / (high - low);
}

/* Measures so many sleeps, each from a multiple of @ns after now to the next. */
static void measure_sleeps(const char *name, struct figures *f, unsigned int count, uint64_t ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	f->count = 0;
	while (f->count < count) {
		t.tv_nsec += ns;
		t.tv_sec += t.tv_nsec / SEC;
		t.tv_nsec %= SEC;
		begin(name);
		if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
			die("a sleep ends early");
		end(f);
	}
}

/* Instructions of a sleep in which nothing happens. */
static uint64_t quiet(uint64_t ns)
{
	static struct figures f;

	measure_sleeps(NULL, &f, CYCLES, ns);
	return undisturbed(f.insns, f.count);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static void empty_ioctl(void)
{
	static struct figures f;

	for (int i = 0; i < ROUND_TRIPS; i++) {
		begin("empty-ioctl");
		do_nothing();
		end(&f);
	}
	whole_line("empty-ioctl", &f, "an ioctl that does nothing");
}

/* From SAMPLE to when the program has been told of the sample, while so many sessions count. */
static void measure_round_trip(const char *name, struct figures *f, unsigned int count)
{
	struct perf_session *s = &sessions[0];
	struct pollfd p = { .events = POLLIN };

	for (unsigned int i = 0; i < count; i++)
		new_session(i, 0, 4);
	p.fd = s->efd;
	f->count = 0;
	while (f->count < ROUND_TRIPS) {
		uint64_t signals;

		begin(name);
		if (perf_sample(fd, s->handle, 0) || poll(&p, 1, PERF_HANG_MS) != 1 ||
		    read(p.fd, &signals, sizeof(signals)) != sizeof(signals))
			die("a sample does not come");
		end(f);
		perf_consume(s, 1);
	}
	for (unsigned int i = 0; i < count; i++)
		perf_session_end(&sessions[i]);
}

static void round_trip(void)
{
	static struct figures f;

	measure_round_trip("round-trip", &f, 1);
	whole_line("round-trip", &f, "SAMPLE, poll and read of the eventfd; the GPU is idle");
}

/* Firmware writes a block only if it has power. */
static void round_trip_busy(void)
{
	static struct figures f;

	set_busy(true);
	measure_round_trip("round-trip-busy", &f, 1);
	set_busy(false);
	whole_line("round-trip-busy", &f, "the same; every shader core has power and counts");
}

static void round_trip_many(void)
{
	static struct figures one, more, all;

	measure_round_trip(NULL, &one, 1);
	measure_round_trip("round-trip-8", &more, 8);
	measure_round_trip("round-trip-64", &all, MANY);
	whole_line("round-trip-8", &more, "a round trip while 7 other sessions count, too");
	whole_line("round-trip-64", &all, "a round trip while 63 other sessions count, too");
	line("round-trip-more", less(median(all.insns, all.count), median(one.insns, one.count)) /
	     (MANY - 1), 0, "of that, for each of them");
}

/* Instructions of a period in which each of some sessions is due a sample. */
static uint64_t measure_period(const char *name, unsigned int count, bool together)
{
	static struct figures f;
	uint64_t idle = quiet(PERIOD);

	for (unsigned int i = 0; i < count; i++)
		set_up_session(i, PERIOD, SLOTS);
	if (together) {
		start_together(count);
	} else {
		for (unsigned int i = 0; i < count; i++)
			start_session(&sessions[i]);
	}
	/* Each from the middle of a period to the middle of the next. */
	if (!perf_wait(&sessions[0], perf_signals(&sessions[0]) + 1))
		die("samples do not come");
	usleep(PERIOD / 2 / 1000);
	for (unsigned int i = 0; i < count; i++)
		perf_consume(&sessions[i], perf_insert(&sessions[i]) - sessions[i].read);
	fw_samples = bench_reg_get64(SAMPLES);
	measure_sleeps(name, &f, PERIODS, PERIOD);
	fw_samples = bench_reg_get64(SAMPLES) - fw_samples;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t samples = perf_insert(&sessions[i]) - sessions[i].read;

		if (samples < PERIODS - 1 || samples > PERIODS + 1)
			die("session %u of %u: %" PRIu64 " samples in %u periods", i, count,
			    samples, PERIODS);
	}
	for (unsigned int i = 0; i < count; i++)
		perf_session_end(&sessions[i]);
	return less(undisturbed(f.insns, f.count), idle);
}

static uint64_t period_line(unsigned int count, const char *suffix)
{
	uint64_t insns;
	char name[32];

	snprintf(name, sizeof(name), "period-%u%s", count, suffix);
	insns = measure_period(name, count, true);
	line(name, insns, 0, "a sample of each of %u session%s, due together (firmware: %.2f)", count,
	     count == 1 ? "" : "s", (double)fw_samples / PERIODS);
	return insns;
}

static void period_one(void)
{
	period_line(1, "");
	set_busy(true);
	period_line(1, "-busy");
	set_busy(false);
}

static void periods_of(const char *suffix)
{
	uint64_t one = measure_period(NULL, 1, true), all;
	char name[32];

	period_line(8, suffix);
	all = period_line(MANY, suffix);
	snprintf(name, sizeof(name), "period-more%s", suffix);
	line(name, less(all, one) / (MANY - 1), 0, "of that, for each session beyond the first");
	snprintf(name, sizeof(name), "period-8-apart%s", suffix);
	all = measure_period(name, 8, false);
	line(name, all, 0, "a sample of each of 8 that were started one by one (firmware: %.2f)",
	     (double)fw_samples / PERIODS);
}

static void period_many(void)
{
	periods_of("");
	set_busy(true);
	periods_of("-busy");
	set_busy(false);
}

static void measure_start_stop(const char *suffix, const char *who)
{
	static struct figures starts, stops;
	struct perf_session *s = set_up_session(0, 0, 4);
	uint64_t idle = quiet(SETTLE_NS);
	char start[32], stop[32];

	snprintf(start, sizeof(start), "start%s", suffix);
	snprintf(stop, sizeof(stop), "stop%s", suffix);
	starts.count = 0;
	stops.count = 0;
	for (int i = 0; i < CYCLES; i++) {
		begin(start);
		start_session(s);
		end(&starts);
		usleep(SETTLE_NS / 1000);
		begin(stop);
		if (perf_stop(fd, s->handle, 0))
			die("STOP fails");
		usleep(SETTLE_NS / 1000);
		end(&stops);
		if (perf_insert(s) != s->read + 1)
			die("the last sample does not come");
		perf_consume(s, 1);
	}
	perf_session_end(s);
	line(start, median(starts.insns, CYCLES), median(starts.ns, CYCLES), "START of %s", who);
	line(stop, less(undisturbed(stops.insns, CYCLES), idle), 0,
	     "STOP of it, with all that comes of it");
}

static void start_stop(void)
{
	struct perf_session *other;

	measure_start_stop("", "the only session");
	other = new_session(1, 0, 4);
	measure_start_stop("-more", "a session beside another");
	perf_session_end(other);
}

/* Opens so many events of perf, of all types of blocks; a single one is of GPU_ACTIVE. */
static void open_pmu_events(const struct pmu *pmu, int *events, unsigned int count)
{
	static const struct { uint32_t type, counters; } shares[] = {
		{ DRM_PANTHOR_PERF_BLOCK_CSHW, 12 }, { DRM_PANTHOR_PERF_BLOCK_TILER, 12 },
		{ DRM_PANTHOR_PERF_BLOCK_MEMSYS, 16 }, { DRM_PANTHOR_PERF_BLOCK_SHADER, 24 },
	};
	unsigned int n = 0;

	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		for (unsigned int c = 0; c < shares[i].counters && n < count; c++, n++) {
			events[n] = pmu_open(pmu, PMU_CONFIG(shares[i].type, PERF_RESERVED + c, 0));
			if (events[n] < 0)
				die("event %u cannot be opened: %s", n, strerror(-events[n]));
		}
	}
	if (n < count)
		die("there are %u events only", n);
}

/* Instructions of a period while so many events of perf count. */
static uint64_t measure_events(const struct pmu *pmu, const char *name, unsigned int count, bool up)
{
	static struct figures f;
	uint64_t idle = quiet(PERIOD), before;
	int events[MANY], samples;

	if (!up && (perf_pm_write("control", "auto") || !perf_until(perf_pm_is("suspended"))))
		die("the GPU does not go to sleep");
	samples = pmu_open(pmu, PMU_FIRMWARE_SAMPLES);
	if (samples < 0)
		die("an event cannot be opened: %s", strerror(-samples));
	open_pmu_events(pmu, events, count);
	/* The first may have had to wake it. */
	if (!up && !perf_until(perf_pm_is("suspended")))
		die("the GPU does not stay asleep");
	before = pmu_count(samples);
	if (up && !perf_until(pmu_count(samples) > before))
		die("nothing is sampled");
	usleep(PERIOD / 2 / 1000);
	before = pmu_count(samples);
	measure_sleeps(name, &f, PERIODS, PERIOD);
	fw_samples = pmu_count(samples) - before;
	if (up ? fw_samples < PERIODS - 1 : fw_samples)
		die("%" PRIu64 " samples in %u periods", fw_samples, PERIODS);
	for (unsigned int i = 0; i < count; i++)
		close(events[i]);
	close(samples);
	if (!up && perf_pm_write("control", "on"))
		die("the GPU cannot be resumed");
	return less(undisturbed(f.insns, f.count), idle);
}

static void events_line(const struct pmu *pmu, unsigned int count, bool up, const char *suffix,
			const char *what)
{
	uint64_t insns;
	char name[32];

	snprintf(name, sizeof(name), "events-%u%s", count, suffix);
	insns = measure_events(pmu, name, count, up);
	line(name, insns, 0, "%u event%s of perf, %s (firmware: %.2f)", count, count == 1 ? "" : "s",
	     what, (double)fw_samples / PERIODS);
}

/* The interval of events is the default one, which is PERIOD. */
static void perf_events(void)
{
	struct pmu pmu;

	if (pmu_find(&pmu))
		die("there is no PMU of panthor's in " PMU_DEVICES);
	for (int busy = 0; busy < 2; busy++) {
		set_busy(busy);
		events_line(&pmu, 1, true, busy ? "-busy" : "", "a sample of which is due each 10 ms");
		events_line(&pmu, MANY, true, busy ? "-busy" : "", "a sample of which is due each 10 ms");
	}
	set_busy(false);
	events_line(&pmu, MANY, false, "-asleep", "10 ms of them while the GPU is suspended");
}

static void set_power(int control, const char *what)
{
	if (pwrite(control, what, strlen(what), 0) != (ssize_t)strlen(what))
		die("power/control does not take %s", what);
}

static void measure_suspend(int control, unsigned int count)
{
	static struct figures suspends, resumes, waits;
	uint64_t idle = quiet(SETTLE_NS);
	char suspend[32], resume[32];

	snprintf(suspend, sizeof(suspend), "suspend-%u", count);
	snprintf(resume, sizeof(resume), "resume-%u", count);
	for (unsigned int i = 0; i < count; i++)
		new_session(i, 0, 4);
	suspends.count = 0;
	resumes.count = 0;
	waits.count = 0;
	for (int i = 0; i < CYCLES; i++) {
		uint64_t ns;

		begin(suspend);
		set_power(control, "auto");
		usleep(SETTLE_NS / 1000);
		end(&suspends);
		if (!perf_pm_is("suspended"))
			die("the GPU is not suspended");
		begin(resume);
		set_power(control, "on");
		ns = perf_now() - begin_ns;
		usleep(SETTLE_NS / 1000);
		end(&resumes);
		if (!perf_pm_is("active"))
			die("the GPU is not resumed");
		waits.ns[waits.count++] = ns;
	}
	for (unsigned int i = 0; i < count; i++)
		perf_session_end(&sessions[i]);
	line(suspend, less(undisturbed(suspends.insns, CYCLES), idle), 0,
	     "the GPU is suspended while %u session%s count%s", count, count == 1 ? "" : "s",
	     count == 1 ? "s" : "");
	line(resume, less(undisturbed(resumes.insns, CYCLES), idle), median(waits.ns, CYCLES),
	     "and resumed; the time is that of who waits for it");
}

static void suspend_resume(void)
{
	char dir[512], path[600];
	int control;

	if (perf_sysfs(dir, sizeof(dir)) || perf_pm_write("autosuspend_delay_ms", "1"))
		die("there is no runtime power management");
	snprintf(path, sizeof(path), "%s/power/control", dir);
	control = open(path, O_WRONLY | O_CLOEXEC);
	if (control < 0)
		die("%s: %s", path, strerror(errno));
	measure_suspend(control, 0);
	measure_suspend(control, 1);
	measure_suspend(control, 8);
	close(control);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "empty-ioctl", empty_ioctl },
	{ "round-trip", round_trip },
	{ "round-trip-busy", round_trip_busy },
	{ "round-trip-many", round_trip_many },
	{ "period-one", period_one },
	{ "period-many", period_many },
	{ "events", perf_events },
	{ "start-stop", start_stop },
	{ "suspend-resume", suspend_resume },
};
#define ALL	(sizeof(all) / sizeof(all[0]))

/* Every name, or just these. */
static bool is_wanted(char **names, const char *name)
{
	if (!*names)
		return true;
	while (*names && strcmp(*names, name))
		names++;
	return *names;
}

static void check_names(char **names)
{
	for (; *names; names++) {
		size_t n = 0;

		while (n < ALL && strcmp(*names, all[n].name))
			n++;
		if (n == ALL)
			die("there is no measurement '%s'", *names);
	}
}

int main(int argc, char **argv)
{
	static struct figures f;
	struct drm_panthor_gpu_info gpu;
	struct utsname name;
	int option;

	while ((option = getopt(argc, argv, "m:")) != -1) {
		if (option != 'm') {
			fputs("usage: perf-icount [-m LINE] [NAME...]\n", stderr);
			return 2;
		}
		marked = optarg;
	}
	check_names(argv + optind);
	gpu = open_gpu();
	other_fd = perf_open_device();
	if (other_fd < 0)
		die("the device cannot be opened twice");
	if (!perf_bench_open())
		die("there is no bench page");
	if (!bench_reg_get64(INSTRUCTIONS))
		die("time is not counted by instructions here: tools/virt/run -i");
	for (int i = 0; i < ROUND_TRIPS; i++) {
		begin(NULL);
		end(&f);
	}
	nothing = median(f.insns, f.count);
	uname(&name);
	printf("Linux %s, GPU %#x, %u byte sample, all counters on\n", name.release, gpu.gpu_id,
	       info.sample_size);
	printf("%-22s %9s %9s\n", "", "insns", "ns");
	for (size_t i = 0; i < ALL; i++) {
		if (is_wanted(argv + optind, all[i].name))
			all[i].run();
		fflush(stdout);
	}
	perf_bench_calm();
	return 0;
}
