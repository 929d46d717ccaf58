// SPDX-License-Identifier: MIT
/*
 * panthor-perf with a GPU that is not there: what it counts, and when, is told by the bytes of a FIFO,
 * whose name is in the environment as FAKE_TICKS:
 *
 *   s   a sample, in which counter n of block b counts 1000 * (b + 1) - n
 *   t   the same, but of five periods
 *   z   the same, but of no time
 *   p   no sample: a second passes in which nothing is counted
 *   r   one of the session's period, in which every counter counts something else than in the one before
 *   b   one in which MaliFragQueueAssignStallCy alone counts, so that a derived sum goes back
 *   n   the same as s, but of the microsecond before now, so that marks lie before or behind it
 *   w   the same as s, but counter n of the first block of a type counts 10 to the power of n % 20
 *   g   the GPU goes; there is none as long as there is a file of the name in FAKE_GONE
 *
 * They wait until counting is started; a file of the name in FAKE_STARTED is there from then on. When it is
 * started again, ten seconds have gone by; with FAKE_INTERRUPT, Ctrl-C comes then.
 *
 * With FAKE_STOP=gone in the environment, the GPU goes when it is to stop: two more samples are in the ring. With
 * the number of an error as FAKE_GPU or FAKE_SESSION, there is that error instead of a GPU or of a session. The
 * nominal frequency and the number of its changes are in files below FAKE_SYSFS, as in a GPU's directory in /sys.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "internal.h"
#include "tests-common.h"

#define PERIOD_NS 1000000000ull

struct pperf_gpu {
	struct fake fake;
};

struct pperf_session {
	struct pperf_gpu *gpu;
	bool started, stopped;
	int ticks;
	uint64_t tag, stop_tag, end_ns, period_ns;
	uint32_t slots;
	struct pperf_log log;
};

/* The error that a variable has, PPERF_OK if it is not there. */
static enum pperf_error fake_error(const char *name)
{
	const char *number = getenv(name);
	enum pperf_error error = number ? strtoul(number, NULL, 10) : PPERF_OK;

	return error ? pperf_fail(error, "a fake error: %s", pperf_strerror(error)) : PPERF_OK;
}

enum pperf_error pperf_gpu_open(const char *node, struct pperf_gpu **gpu)
{
	enum pperf_error error = fake_error("FAKE_GPU");
	const char *gone = getenv("FAKE_GONE");

	if (error)
		return error;
	if (gone && !access(gone, F_OK))
		return pperf_fail(PPERF_ERROR_NO_DEVICE, "%s is a file", gone);
	*gpu = calloc(1, sizeof(**gpu));
	if (!*gpu)
		return pperf_no_memory();
	fake_init(&(*gpu)->fake, "Mali-G710", 2, 3, 16);
	/* The caller's is gone when it is asked for. */
	(*gpu)->fake.info.node = strdup(node ? node : "/dev/dri/renderD128");
	(*gpu)->fake.info.toplevel_hz = 1000000;
	(*gpu)->fake.info.sysfs = getenv("FAKE_SYSFS");
	/* A G710's. */
	(*gpu)->fake.info.gpu_id = 0xa8620000;
	return PPERF_OK;
}

enum pperf_error pperf_gpu_open_fd(int fd, struct pperf_gpu **gpu)
{
	(void)fd;
	return pperf_gpu_open(NULL, gpu);
}

void pperf_gpu_close(struct pperf_gpu *gpu)
{
	if (gpu)
		free((char *)gpu->fake.info.node);
	free(gpu);
}

enum pperf_error pperf_gpu_nodes(char ***nodes, size_t *count)
{
	*count = 2;
	*nodes = calloc(*count, sizeof(**nodes));
	(*nodes)[0] = strdup("/dev/dri/renderD128");
	(*nodes)[1] = strdup("/dev/dri/renderD129");
	return PPERF_OK;
}

void pperf_gpu_nodes_free(char **nodes, size_t count)
{
	while (count)
		free(nodes[--count]);
	free(nodes);
}

int debug_info(const char *device)
{
	(void)device;
	return STATUS_FAILED;
}

const struct pperf_gpu_info *pperf_gpu_info(const struct pperf_gpu *gpu)
{
	return &gpu->fake.info;
}

enum pperf_error pperf_gpu_alive(const struct pperf_gpu *gpu)
{
	(void)gpu;
	return PPERF_OK;
}

enum pperf_error pperf_gpu_frequency(const struct pperf_gpu *gpu, uint64_t *hz)
{
	char name[4096];
	FILE *file;

	*hz = gpu->fake.info.toplevel_hz;
	if (!gpu->fake.info.sysfs)
		return PPERF_OK;
	snprintf(name, sizeof(name), "%s/devfreq/gpu/cur_freq", gpu->fake.info.sysfs);
	file = fopen(name, "re");
	if (!file || fscanf(file, "%" SCNu64, hz) != 1)
		return pperf_fail(PPERF_ERROR_SYSTEM, "%s has no frequency", name);
	fclose(file);
	return PPERF_OK;
}

enum pperf_error pperf_session_open(struct pperf_gpu *gpu, const struct pperf_session_options *options,
				    struct pperf_session **session)
{
	const char *name = getenv("FAKE_TICKS");
	struct pperf_session *s = calloc(1, sizeof(*s));
	enum pperf_error error = fake_error("FAKE_SESSION");
	unsigned int n;

	if (!s || !name)
		abort();
	if (error) {
		free(s);
		return error;
	}
	s->gpu = gpu;
	s->log.size = sizeof(s->log);
	s->period_ns = options->period_ns;
	s->slots = options->slots;
	/* Open for writing too, so that it has no end. */
	s->ticks = open(name, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (s->ticks < 0)
		abort();
	for (n = 0; n < gpu->fake.sample.num_blocks; n++)
		memcpy(gpu->fake.blocks[n].enabled, options->masks.bits[gpu->fake.blocks[n].type],
		       sizeof(gpu->fake.blocks[n].enabled));
	*session = s;
	return PPERF_OK;
}

void pperf_session_close(struct pperf_session *s)
{
	if (s)
		close(s->ticks);
	free(s);
}

enum pperf_error pperf_session_start(struct pperf_session *s, uint64_t user_data)
{
	const char *name = getenv("FAKE_STARTED");
	int fd = name ? open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) : -1;

	if (fd >= 0)
		close(fd);
	s->tag = user_data;
	s->started = true;
	s->end_ns += s->stopped ? 10 * PERIOD_NS : 0;
	if (s->stopped && getenv("FAKE_INTERRUPT"))
		kill(getpid(), SIGINT);
	return PPERF_OK;
}

enum pperf_error pperf_session_stop(struct pperf_session *s, uint64_t user_data)
{
	const char *how = getenv("FAKE_STOP");

	if (how && !strcmp(how, "gone")) {
		if (write(s->ticks, "ss", 2) != 2)
			abort();
		return pperf_fail(PPERF_ERROR_GONE, "%s is gone", s->gpu->fake.info.node);
	}
	s->stop_tag = user_data;
	if (write(s->ticks, "e", 1) != 1)
		abort();
	return PPERF_OK;
}

enum pperf_error pperf_session_sample(struct pperf_session *s, uint64_t user_data)
{
	s->tag = user_data;
	if (write(s->ticks, "s", 1) != 1)
		abort();
	return PPERF_OK;
}

int pperf_session_fd(const struct pperf_session *s)
{
	return s->ticks;
}

enum pperf_error pperf_session_wait(struct pperf_session *s, int timeout_ms, bool *ready)
{
	struct pollfd fd = { .fd = s->ticks, .events = POLLIN };

	*ready = poll(&fd, 1, timeout_ms) > 0;
	return PPERF_OK;
}

uint64_t pperf_session_period(const struct pperf_session *s)
{
	return s->period_ns;
}

uint32_t pperf_session_slots(const struct pperf_session *s)
{
	return s->slots;
}

const struct pperf_log *pperf_session_log(const struct pperf_session *s)
{
	return &s->log;
}

/* Of 4 to 20 bits, as jobs and cycles of a millisecond are, and never what it was before. */
static void count_anything(struct fake *fake)
{
	static uint64_t state = 1;
	unsigned int n, i, mask;

	for (n = 0; n < fake->sample.num_blocks; n++) {
		for (i = PPERF_FIRST_COUNTER; i < fake->info.values_per_block; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			mask = (16u << i % 17) - 1;
			fake->values[n][i] = (fake->values[n][i] + 1 + (state >> 33) % mask) & mask;
		}
	}
}

static void count_powers(struct fake *fake)
{
	unsigned int n, i;
	uint64_t power = 1;

	for (i = 0; i < fake->info.values_per_block; i++) {
		power = i % 20 ? 10 * power : 1;
		for (n = 0; n < fake->sample.num_blocks; n++)
			fake->values[n][i] = fake->blocks[n].index ? 0 : power;
	}
}

static void count(struct fake *fake, char tick)
{
	const struct pperf_counter *stall;
	struct pperf_db *db;
	unsigned int n, i;

	if (tick == 'r') {
		count_anything(fake);
		return;
	}
	if (tick == 'w') {
		count_powers(fake);
		return;
	}

	for (n = 0; n < fake->sample.num_blocks; n++)
		for (i = PPERF_FIRST_COUNTER; i < fake->info.values_per_block; i++)
			fake->values[n][i] = tick && strchr("stzn", tick) ? 1000 * (n + 1) - i : 0;
	if (tick != 'b')
		return;
	if (pperf_db_open("Mali-G710", &db))
		abort();
	stall = pperf_db_find(db, "MaliFragQueueAssignStallCy");
	*fake_value(fake, stall->type, 0, stall->index) = 500000;
	pperf_db_close(db);
}

/* The library has no common.c. */
static uint64_t fake_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

enum pperf_error pperf_session_next(struct pperf_session *s, const struct pperf_sample **sample)
{
	struct fake *fake = &s->gpu->fake;
	char tick;

	*sample = NULL;
	if (!s->started || read(s->ticks, &tick, 1) != 1)
		return PPERF_OK;
	if (tick == 'g')
		return pperf_fail(PPERF_ERROR_GONE, "%s is gone", fake->info.node);
	if (tick == 'p') {
		s->end_ns += PERIOD_NS;
		return pperf_session_next(s, sample);
	}
	count(fake, tick);
	if (tick == 'n')
		s->end_ns = fake_now() - 1000;
	fake->sample.start_ns = s->end_ns;
	s->end_ns += tick == 'n' ? 1000 : tick == 't' ? 5 * PERIOD_NS : tick == 'r' ? s->period_ns : tick == 'z' ? 0 : PERIOD_NS;
	fake->sample.end_ns = s->end_ns;
	fake->sample.flags = tick == 't' ? PPERF_SAMPLE_STRETCHED : 0;
	fake->sample.cycles[PPERF_CLOCK_TOPLEVEL] = 10000;
	fake->sample.cycles[PPERF_CLOCK_SHADER] = 9000;
	fake->sample.last = tick == 'e';
	if (tick == 'e') {
		s->started = false;
		s->stopped = true;
	}
	fake->sample.user_data = tick == 'e' ? s->stop_tag : s->tag;
	pperf_log_add(&s->log, &fake->sample);
	*sample = &fake->sample;
	return PPERF_OK;
}
