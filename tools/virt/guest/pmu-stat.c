// SPDX-License-Identifier: MIT
/*
 * pmu-stat   counts with perf while a command runs
 *
 *   pmu-stat [-e CONFIG]... [-n COUNT] [-s SEED] [-i MS] [-r RUNS] [-w] [-g] -- COMMAND [ARG...]
 *   pmu-stat -n COUNT [-s SEED]    prints so many CONFIGs
 *
 * Does what `perf stat -a` does, and prints every count as it is, where perf
 * may scale it. For each of RUNS it opens the events, disabled, enables them,
 * runs COMMAND, disables them again and prints
 *
 *   run EPOCH EPOCH      the first enable of the counters that belongs to it, and the last
 *   CONFIG COUNT         of each event
 *
 * CONFIG is what perf_event_attr::config is. -n has it choose so many counters
 * at random as well, other ones for each run.
 * -w begins and ends a run with the GPU suspended: then the events have all
 * that firmware has sampled between, as the model's ledger has it.
 * -i reads all events every so many milliseconds meanwhile, and -g a group of
 * nine of its own as often as it can. A count that goes back, or a group whose
 * counts are not of the same sample, is an error. -g also prints
 *
 *   group COUNT...       of each sample that the group was read of: how many there had been, and the
 *                        sums so far of GPU_ACTIVE, L2_EXT_READ_BEATS and L2_EXT_WRITE_BEATS
 *
 * and runs the command again until there were GROUP_SAMPLES: on a busy machine it can be over before a reader was
 * let run.
 *
 * Needs the virtual Mali.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>

#include "bench-page.h"
#include "../../testing/selftests/drivers/gpu/panthor/pmu.h"
#include "die.h"

#define MAX_EVENTS	256
#define GROUP_SAMPLES	5
#define GPU_ACTIVE	PMU_CONFIG(DRM_PANTHOR_PERF_BLOCK_CSHW, 4, 0)
#define READ_BEATS	PMU_CONFIG(DRM_PANTHOR_PERF_BLOCK_MEMSYS, 32, 0)
#define WRITE_BEATS	PMU_CONFIG(DRM_PANTHOR_PERF_BLOCK_MEMSYS, 47, 0)

static struct pmu pmu;
static struct drm_panthor_perf_info info;
static struct drm_panthor_gpu_info gpu;
static uint64_t configs[MAX_EVENTS];
static int fds[MAX_EVENTS];
static uint64_t last[MAX_EVENTS];
static unsigned int given, count, chosen;
static uint64_t random_state;
static volatile sig_atomic_t ended;

static void on_child(int number)
{
	(void)number;
	ended = 1;
}

static uint32_t random_below(uint32_t n)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % n;
}

/* Any counter of a block that the GPU has, of one block or of all of its type. */
static uint64_t random_config(void)
{
	uint32_t type, n;

	do {
		type = 1 + random_below(PERF_TYPES - 1);
		n = perf_count(&info, type);
	} while (!n);
	return PMU_CONFIG(type, PERF_RESERVED + random_below(info.counters_per_block - PERF_RESERVED),
			  random_below(2) ? 1 + random_below(n) : 0);
}

static void open_events(void)
{
	for (unsigned int i = 0; i < count; i++) {
		fds[i] = pmu_open_disabled(&pmu, configs[i]);
		if (fds[i] < 0)
			die("event %#" PRIx64 ": %s", configs[i], strerror(-fds[i]));
		last[i] = 0;
	}
}

static void for_events(int (*what)(int fd), const char *name)
{
	for (unsigned int i = 0; i < count; i++) {
		int ret = what(fds[i]);

		if (ret)
			die("event %#" PRIx64 " cannot be %s: %s", configs[i], name, strerror(-ret));
	}
}

static void read_events(void)
{
	for (unsigned int i = 0; i < count; i++) {
		uint64_t value;
		int ret = pmu_read(fds[i], &value);

		if (ret)
			die("event %#" PRIx64 " cannot be read: %s", configs[i], strerror(-ret));
		if (value < last[i])
			die("event %#" PRIx64 " went back from %" PRIu64 " to %" PRIu64, configs[i],
			    last[i], value);
		last[i] = value;
	}
}

/* A group whose counts have to be as they are in each sample. */
static const uint64_t group_configs[9] = {
	PMU_FIRMWARE_SAMPLES, PMU_CYCLES_TIMES_CORES, PMU_CYCLES_TIMES_SLICES, PMU_EXTERNAL_READ_BYTES,
	PMU_EXTERNAL_WRITE_BYTES, GPU_ACTIVE, READ_BEATS, WRITE_BEATS, PMU_GPU_CYCLES,
};

/* Returns whether the sample is another one than the last. */
static bool read_group(const struct pmu_group *g, uint64_t *sample)
{
	uint64_t bus = (1u << (gpu.l2_features >> 24 & 0x1f)) / 8;
	uint64_t v[9];
	int ret = pmu_group_read(g, v);

	if (ret)
		die("the group cannot be read: %s", strerror(-ret));
	if (v[1] != v[8] * __builtin_popcountll(gpu.shader_present) ||
	    v[2] != v[8] * info.memsys_blocks || v[3] != v[6] * bus || v[4] != v[7] * bus)
		die("a group is not of one sample: %" PRIu64 ": cores %" PRIu64 ", slices %" PRIu64
		    ", read %" PRIu64 ", written %" PRIu64 ", of %" PRIu64 " cycles, %" PRIu64 " %" PRIu64,
		    v[0], v[1], v[2], v[3], v[4], v[8], v[6], v[7]);
	if (v[0] == *sample)
		return false;
	printf("group %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", v[0], v[5], v[6], v[7]);
	*sample = v[0];
	return true;
}

static pid_t start(char **command)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0)
		execvp(command[0], command);
	fprintf(stderr, "pmu-stat: %s: %s\n", command[0], strerror(errno));
	_exit(127);
}

/* Reads the events, or the group, until the command ends. */
static void run(char **command, unsigned int interval_ms, const struct pmu_group *group)
{
	unsigned int samples = 0;
	uint64_t sample = 0;
	pid_t pid;
	int status;

	do {
		ended = 0;
		pid = start(command);
		while (!ended && (interval_ms || group)) {
			if (group) {
				samples += read_group(group, &sample);
			} else {
				usleep(1000 * interval_ms);
				read_events();
			}
		}
		if (waitpid(pid, &status, 0) != pid || status)
			die("%s fails", command[0]);
	} while (group && samples < GROUP_SAMPLES);
}

static void await_suspend(void)
{
	if (!perf_until(perf_pm_is("suspended")))
		die("the GPU does not go to sleep");
}

static unsigned long number(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end)
		die("'%s' is no number", text);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long interval_ms = 0, runs = 1;
	struct pmu_group group = {};
	bool grouped = false, waits = false;
	uint32_t size = sizeof(gpu);
	int opt, fd;

	while ((opt = getopt(argc, argv, "+e:n:s:i:r:wg")) != -1) {
		switch (opt) {
		case 'e':
			if (given == MAX_EVENTS)
				die("there are at most %u events", MAX_EVENTS);
			configs[given++] = number(optarg);
			break;
		case 'n': chosen = number(optarg); break;
		case 's': random_state = number(optarg); break;
		case 'i': interval_ms = number(optarg); break;
		case 'r': runs = number(optarg); break;
		case 'w': waits = true; break;
		case 'g': grouped = true; break;
		default: return 2;
		}
	}
	if (optind == argc && !chosen)
		die("there is no command");
	if (given + chosen > MAX_EVENTS)
		die("there are at most %u events", MAX_EVENTS);
	if (!given && !chosen && !grouped)
		die("there is no event: -e, -n or -g");
	fd = perf_open_counters(&info);
	if (fd < 0 || perf_query(fd, DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &size) || !perf_bench_open())
		die("this needs the virtual Mali with performance counters, and root");
	close(fd);
	if (optind == argc) {
		while (chosen--)
			printf("0x%" PRIx64 "\n", random_config());
		return 0;
	}
	if (pmu_find(&pmu))
		die("there is no PMU of panthor's in " PMU_DEVICES);
	signal(SIGCHLD, on_child);

	for (unsigned long r = 0; r < runs; r++) {
		uint32_t first;

		for (count = given; count < given + chosen; count++)
			configs[count] = random_config();
		if (waits)
			await_suspend();
		first = bench_reg_get(EPOCH) + 1;
		open_events();
		/* The first may have to wake the GPU for memory of the firmware's. */
		if (waits)
			await_suspend();
		for_events(pmu_enable, "enabled");
		if (grouped) {
			int ret = pmu_group_open(&pmu, group_configs, 9, &group);

			if (ret)
				die("the group cannot be opened: %s", strerror(-ret));
		}
		run(argv + optind, interval_ms, grouped ? &group : NULL);
		if (waits)
			await_suspend();
		for_events(pmu_disable, "disabled");
		read_events();
		printf("run %u %u\n", first, bench_reg_get(EPOCH));
		for (unsigned int i = 0; i < count; i++) {
			printf("0x%" PRIx64 " %" PRIu64 "\n", configs[i], last[i]);
			close(fds[i]);
		}
		pmu_group_close(&group);
	}
	return 0;
}
