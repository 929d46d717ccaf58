// SPDX-License-Identifier: MIT
/*
 * perf-reset   a session, while something happens to the GPU that a reset has to end
 *
 *   perf-reset [-g] SWITCH=VALUE... [-- COMMAND [ARG...]]
 *
 * A periodic session counts. Then switches of the bench page are set, and COMMAND is
 * run, if the fault needs something to do. From the moment at which the fault makes
 * a difference, or the switches are set if none of them is one of those faults, a
 * reset of the GPU has to end it within a second: a sample that is flagged ERROR,
 * and one after it that is not flagged and has counts again. With -g the GPU is
 * given up instead: the session gets a last sample that is flagged ERROR, and
 * nothing more.
 *
 * Prints how long it took, and 1 if it is not so. Meant for run -i, where time is
 * counted by instructions and a busy host changes nothing.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <sys/wait.h>

#include "bench-page.h"
#include "die.h"

#define SLOTS		256
#define PERIOD_NS	10000000
#define WITHIN_NS	1000000000ull

static const struct { const char *name; unsigned int reg; } regs[] = {
#define REG(sym, name, bits, r, w, help) { w ? name : "", MALI_BENCH_##sym },
	MALI_BENCH_REGS(REG)
#undef REG
};

static struct drm_panthor_perf_info info;

/* Sets "NAME=VALUE". True if it is one of the faults whose hits are counted. */
static bool set_switch(char *text)
{
	char *value = strchr(text, '=');

	if (!value)
		die("'%s': a switch is given as NAME=VALUE", text);
	*value++ = 0;
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		if (!strcmp(regs[i].name, text)) {
			bench_set(regs[i].reg, strtoul(value, NULL, 0));
			return regs[i].reg >= MALI_BENCH_FAULTS_FIRST;
		}
	}
	die("'%s' is no switch of the bench page; mali-bench lists them", text);
}

static uint64_t counted(const struct drm_panthor_perf_sample_header *h)
{
	uint64_t sum = 0;

	for (uint32_t b = 0; b < perf_blocks(&info); b++) {
		const __u64 *v = perf_values(&info, h, b);

		for (uint32_t i = PERF_RESERVED; i < info.counters_per_block; i++)
			sum += v[i];
	}
	return sum;
}

/* The next sample, good until the next call, or NULL if none comes. */
static const struct drm_panthor_perf_sample_header *next(struct perf_session *s)
{
	static bool taken;

	if (taken)
		perf_consume(s, 1);
	taken = perf_wait(s, s->read + 1);
	return taken ? perf_slot(s, s->read) : NULL;
}

static pid_t run(char **command)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	int fd = open("/dev/null", O_RDWR);

	dup2(fd, 1);
	dup2(fd, 2);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	const struct drm_panthor_perf_sample_header *h;
	struct drm_panthor_perf_cmd_setup setup = { .sample_freq_ns = PERIOD_NS };
	struct perf_session s;
	uint64_t begin, looked, hits;
	bool counts_hits = false, given_up = false;
	pid_t pid = 0;
	int opt, fd;

	while ((opt = getopt(argc, argv, "+g")) != -1) {
		if (opt != 'g')
			die("usage: perf-reset [-g] SWITCH=VALUE... [-- COMMAND [ARG...]]");
		given_up = true;
	}
	fd = perf_open_counters(&info);
	if (fd < 0 || !perf_bench_open())
		die("this needs the virtual Mali with performance counters, and root");
	if (perf_pm_write("control", "on"))
		die("the GPU's power cannot be kept on");
	bench_reg_set(RATE, 1000000);
	bench_reg_set(ACTIVITY, 1);
	perf_masks_all(&setup);
	if (perf_session_new(fd, &info, SLOTS, &s, &setup) || perf_start(fd, s.handle, 1))
		die("a session cannot be started");
	for (int i = 0; i < 3; i++) {
		h = next(&s);
		if (!h || h->flags & ~DRM_PANTHOR_PERF_SAMPLE_STRETCHED || !counted(h))
			die("sample %d before the fault does not come, is flagged or empty", i);
	}

	hits = bench_reg_get64(FAULT_HITS);
	begin = perf_now();
	for (; optind < argc && strcmp(argv[optind], "--"); optind++)
		counts_hits |= set_switch(argv[optind]);
	if (optind + 1 < argc)
		pid = run(&argv[optind + 1]);
	if (counts_hits) {
		/* From the last look that has found none: the driver may keep this program from looking. */
		looked = begin;
		if (!perf_until((begin = looked, looked = perf_now(),
				 bench_reg_get64(FAULT_HITS) != hits)))
			die("the fault makes no difference");
	}

	do {
		h = next(&s);
		if (!h)
			die("no sample is flagged ERROR");
	} while (!(h->flags & DRM_PANTHOR_PERF_SAMPLE_ERROR));
	if (given_up) {
		struct pollfd p = { .fd = s.efd, .events = POLLIN };

		if (!perf_until(perf_sample(fd, s.handle, 2) == -ENODEV))
			die("the GPU is not given up");
		/* A sample before the last may have been flagged as well. */
		while (poll(&p, 1, 0) == 1)
			h = next(&s);
		if (!(h->flags & DRM_PANTHOR_PERF_SAMPLE_ERROR))
			die("the last sample has flags %#x", h->flags);
		printf("given up\n");
	} else {
		do {
			h = next(&s);
			if (!h)
				die("there is no sample without a flag any more");
		} while (h->flags & (DRM_PANTHOR_PERF_SAMPLE_ERROR | DRM_PANTHOR_PERF_SAMPLE_OVERFLOW) ||
			 !counted(h));
		printf("over after %lld us\n", (long long)(h->timestamp_start_ns - begin) / 1000);
		if (h->timestamp_start_ns > begin + WITHIN_NS)
			die("that is more than a second");
		perf_session_end(&s);
	}
	perf_bench_calm();
	if (pid)
		waitpid(pid, NULL, 0);
	return 0;
}
