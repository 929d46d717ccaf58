// SPDX-License-Identifier: MIT
/*
 * perf-exact   many sessions of different masks, driven at random
 *
 *   perf-exact [-n SESSIONS] [-p PERIODIC] [-s SAMPLES] [-t SECONDS] [-r SEED]
 *              [-a] [-k KINDS] [-f SWITCH[=VALUE],...] [-u US] [-c] [-T] RECORD TRACE
 *
 * Each of SESSIONS sessions has a thread of its own, which sets it up, starts,
 * samples, stops and tears it down at random, until firmware has taken SAMPLES
 * samples or SECONDS have gone by. PERIODIC of them are periodic. What they were given is checked for
 * what a client can check, and written to RECORD; what the kernel's tracepoints
 * say of it goes to TRACE. With the model's ledger, which knows what the GPU has
 * counted, `exactness` compares the three on the host.
 *
 * -a keeps the GPU up, and has the bench page give it something to count; else
 * somebody has to give it work.
 * -k has the bench page disturb firmware at random meanwhile, about every US
 * microseconds; KINDS as its storm_kinds.
 * -f has it do the same with switches of the page, by their names; one that has
 * a VALUE is set to it as long as the storm lasts, and is no part of it.
 * -c has CALM firmware samples before the storm, and as many behind the lap of the
 * ring that follows it, to which it makes no difference.
 * -T says that START may time out then; with kinds that lose requests or hang it may
 * as well.
 * Needs the virtual Mali.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>

#include "bench-page.h"
#include "../host/exactness.h"

#define FILES		4
#define MAX_SESSIONS	64
#define MAX_COMPLAINTS	20
#define CALM		100
#define TRACING		"/sys/kernel/tracing/"

static const char *const events[] = {
	"panthor_perf_fw_sample", "panthor_perf_baseline", "panthor_perf_delivery", "panthor_perf_state",
	"panthor_perf_lost", "panthor_perf_request",
};

/**
 * struct client - one session, over its lives
 * @thread: who drives it; nobody else touches what follows
 * @id: which one
 * @fd: device file, shared with others
 * @random: state of its random numbers
 * @periodic: whether its sessions have a period
 * @s: the session
 * @exists: there is one
 * @started: START has succeeded, and the last sample has not come
 * @stopping: STOP has succeeded as well
 * @start_data: user_data of START
 * @enter_ns: when START was called
 * @leave_ns: when START returned
 * @setup: what it was set up with
 * @asked: user_data and time of each request that is to be answered, a ring
 * @head: number of requests answered
 * @tail: number of requests made
 * @begin_ns: where the run's first sample began
 * @end_ns: where the run's last sample ended, or where it began
 * @samples: the run's samples
 * @num_samples: how many
 * @max_samples: how many there is room for
 * @sums: sums over the run's samples
 */
struct client {
	pthread_t thread;
	unsigned int id;
	int fd;
	uint64_t random;
	bool periodic;
	struct perf_session s;
	bool exists, started, stopping;
	uint64_t start_data, enter_ns, leave_ns;
	struct drm_panthor_perf_cmd_setup setup;
	struct { uint64_t data, ns; } asked[64];
	unsigned int head, tail;
	uint64_t begin_ns, end_ns;
	struct exact_sample *samples;
	size_t num_samples, max_samples;
	uint64_t *sums;
};

static struct drm_panthor_perf_info info;
static uint32_t blocks, values;
static uint64_t *factors;
static bool done;
/* Firmware is made to lose requests or to hang, or does not do what it is asked to. */
static bool start_may_time_out;

/* Guards what follows, which all clients share. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *record;
static uint64_t last_data, runs, delivered, complaints;

static void __attribute__((noreturn, format(printf, 1, 2))) die(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("perf-exact: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

static void __attribute__((format(printf, 2, 3))) wrong(const struct client *c, const char *fmt, ...)
{
	va_list args;

	pthread_mutex_lock(&lock);
	if (complaints++ < MAX_COMPLAINTS) {
		printf("# client %u, run %#" PRIx64 ": ", c->id, c->start_data);
		va_start(args, fmt);
		vprintf(fmt, args);
		va_end(args);
		putchar('\n');
	}
	pthread_mutex_unlock(&lock);
}

static uint64_t next_data(void)
{
	return __atomic_add_fetch(&last_data, 1, __ATOMIC_RELAXED);
}

static uint64_t random64(struct client *c)
{
	uint64_t z = c->random += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static uint32_t below(struct client *c, uint32_t n)
{
	return random64(c) % n;
}

static void end_run(struct client *c)
{
	struct exact_run run = {
		.start_data = c->start_data, .samples = c->num_samples, .client = c->id,
		.period_ns = c->setup.sample_freq_ns,
	};

	for (unsigned int t = 0; t < EXACT_TYPES; t++) {
		__u64 *mask = perf_mask(&c->setup, t);

		if (mask)
			memcpy(run.mask[t], mask, sizeof(run.mask[t]));
	}
	pthread_mutex_lock(&lock);
	if (fwrite(&run, sizeof(run), 1, record) != 1 ||
	    (c->num_samples &&
	     fwrite(c->samples, sizeof(*c->samples), c->num_samples, record) != c->num_samples) ||
	    fwrite(c->sums, 8, blocks * values, record) != blocks * values)
		die("the record cannot be written: %s", strerror(errno));
	runs++;
	delivered += c->num_samples;
	pthread_mutex_unlock(&lock);
	c->started = c->stopping = false;
}

static void check_head(struct client *c, const struct drm_panthor_perf_sample_header *h, uint64_t now)
{
	bool last = c->stopping && c->tail - c->head == 1;
	uint64_t after = 0;
	__u32 stretched;

	if (!c->num_samples)
		c->begin_ns = h->timestamp_start_ns;
	if (c->periodic && !(last && h->user_data == c->asked[c->head % 64].data)) {
		if (h->user_data != c->start_data)
			wrong(c, "a sample has user_data %#" PRIx64 ", neither START's nor STOP's",
			      (uint64_t)h->user_data);
	} else if (c->head == c->tail) {
		wrong(c, "a sample that nobody asked for, user_data %#" PRIx64, (uint64_t)h->user_data);
	} else {
		after = c->asked[c->head % 64].ns;
		if (h->user_data != c->asked[c->head % 64].data)
			wrong(c, "a sample has user_data %#" PRIx64 ", expected %#" PRIx64,
			      (uint64_t)h->user_data, c->asked[c->head % 64].data);
		c->head++;
		if (c->stopping && c->head == c->tail)
			c->stopping = c->started = false;
	}

	if (c->num_samples) {
		if (h->timestamp_start_ns != c->end_ns)
			wrong(c, "a sample starts at %" PRIu64 ", the one before ended at %" PRIu64,
			      (uint64_t)h->timestamp_start_ns, c->end_ns);
	} else if (h->timestamp_start_ns < c->enter_ns || h->timestamp_start_ns > c->leave_ns) {
		wrong(c, "the first sample starts at %" PRIu64 ", START was from %" PRIu64 " to %" PRIu64,
		      (uint64_t)h->timestamp_start_ns, c->enter_ns, c->leave_ns);
	}
	if (h->timestamp_end_ns < h->timestamp_start_ns || h->timestamp_end_ns < after ||
	    h->timestamp_end_ns > now)
		wrong(c, "a sample from %" PRIu64 " to %" PRIu64 ", asked for at %" PRIu64 ", seen at %" PRIu64,
		      (uint64_t)h->timestamp_start_ns, (uint64_t)h->timestamp_end_ns, after, now);
	if (h->pad[0] || h->pad[1] || h->pad[2] || h->block_set || (h->flags & ~7u))
		wrong(c, "the head of a sample: set %u, flags %#x, padding %u %u %u", h->block_set, h->flags,
		      h->pad[0], h->pad[1], h->pad[2]);
	stretched = perf_stretched(c->begin_ns, c->setup.sample_freq_ns, h);
	/* An automatic sample may have found the ring full. */
	if (c->setup.setup_flags & DRM_PANTHOR_PERF_SETUP_EMIT_AUTO)
		stretched |= h->flags & DRM_PANTHOR_PERF_SAMPLE_STRETCHED;
	if ((h->flags & DRM_PANTHOR_PERF_SAMPLE_STRETCHED) != stretched)
		wrong(c, "a sample from %" PRIu64 " to %" PRIu64 ", flags %#x, of a run from %" PRIu64 " on whose "
		      "period is %" PRIu64, (uint64_t)h->timestamp_start_ns, (uint64_t)h->timestamp_end_ns, h->flags,
		      c->begin_ns, (uint64_t)c->setup.sample_freq_ns);
	c->end_ns = h->timestamp_end_ns;
}

static uint64_t check_blocks(struct client *c, const struct drm_panthor_perf_sample_header *h)
{
	uint64_t hash = 0;

	for (uint32_t b = 0; b < blocks; b++) {
		const struct drm_panthor_perf_block_header *block = perf_block(&info, h, b);
		const __u64 *v = perf_values(&info, h, b);
		uint32_t type = 0, index = 0;
		__u64 *mask, cut[2];

		perf_block_name(&info, b, &type, &index);
		mask = perf_mask(&c->setup, type);
		cut[0] = mask[0];
		cut[1] = values > 64 ? mask[1] : 0;
		if (block->block_type != type || block->block_idx != index)
			wrong(c, "block %u is type %u, index %u", b, block->block_type, block->block_idx);
		if (block->enable_mask[0] != cut[0] || block->enable_mask[1] != cut[1] ||
		    v[2] != perf_narrow(cut, values) || v[3])
			wrong(c, "%s %u: mask %#llx %#llx, values 2 and 3 %#llx %#llx; asked for %#llx %#llx",
			      perf_type_names[type], index, block->enable_mask[0], block->enable_mask[1], v[2],
			      v[3], cut[0], cut[1]);
		for (uint32_t i = PERF_RESERVED; i < values; i++) {
			if (v[i] && !perf_enabled(cut, i))
				wrong(c, "%s %u counter %u is %llu, and was not asked for",
				      perf_type_names[type], index, i, v[i]);
			hash += v[i] * factors[b * values + i];
			c->sums[b * values + i] += v[i];
		}
	}
	return hash;
}

/* Takes everything that has been delivered. */
static void collect(struct client *c)
{
	uint64_t insert = perf_insert(&c->s), now = perf_now();

	/* The signal follows the index. */
	if (insert > c->s.signals && !perf_wait(&c->s, insert))
		wrong(c, "%" PRIu64 " samples, and %" PRIu64 " signals", insert, c->s.signals);

	while (c->s.read < insert) {
		const struct drm_panthor_perf_sample_header *h = perf_slot(&c->s, c->s.read);
		struct exact_sample *s;
		bool ends = false;

		if (!c->started)
			wrong(c, "a sample of a session that is stopped");
		if (c->num_samples == c->max_samples) {
			c->max_samples = c->max_samples ? 2 * c->max_samples : 64;
			c->samples = realloc(c->samples, c->max_samples * sizeof(*c->samples));
			if (!c->samples)
				die("no memory");
		}
		ends = c->stopping;
		check_head(c, h, now);
		ends &= !c->stopping;
		s = &c->samples[c->num_samples++];
		*s = (struct exact_sample){
			.user_data = h->user_data, .end_ns = h->timestamp_end_ns,
			.hash = check_blocks(c, h), .flags = h->flags,
		};
		perf_consume(&c->s, 1);
		if (ends)
			end_run(c);
	}
}

static void random_mask(struct client *c, __u64 mask[2])
{
	switch (below(c, 6)) {
	case 0:
		mask[0] = mask[1] = ~0ull;
		break;
	case 1:
		mask[0] = mask[1] = 0;
		break;
	case 2:
		mask[0] = random64(c);
		mask[1] = random64(c);
		break;
	case 3:
		/* Groups of four, as hardware has them. */
		mask[0] = 0xfull << 4 * below(c, 16);
		mask[1] = 0xfull << 4 * below(c, 16);
		break;
	case 4:
		mask[0] = random64(c) & random64(c) & random64(c);
		mask[1] = random64(c) & random64(c) & random64(c);
		break;
	default:
		mask[0] = 1ull << below(c, 64);
		mask[1] = below(c, 2) ? 0 : 1ull << below(c, 64);
	}
}

static void set_up(struct client *c)
{
	int ret;

	memset(&c->setup, 0, sizeof(c->setup));
	for (unsigned int t = 0; t < PERF_TYPES; t++) {
		__u64 *mask = perf_mask(&c->setup, t);

		if (mask)
			random_mask(c, mask);
	}
	if (c->periodic)
		c->setup.sample_freq_ns = 1000000 + random64(c) % 49000000;
	if (below(c, 3) == 0)
		c->setup.setup_flags = DRM_PANTHOR_PERF_SETUP_EMIT_AUTO * c->periodic;
	ret = perf_session_new(c->fd, &info, 2u << below(c, 5), &c->s, &c->setup);
	if (ret)
		die("SETUP: %s", strerror(-ret));
	c->exists = true;
	c->head = c->tail = 0;
}

static void tear_down(struct client *c)
{
	uint64_t insert;
	int ret = perf_teardown(c->s.fd, c->s.handle);

	if (ret)
		wrong(c, "TEARDOWN: %s", strerror(-ret));
	collect(c);
	insert = perf_insert(&c->s);
	if (perf_signals(&c->s) != insert)
		wrong(c, "TEARDOWN leaves %" PRIu64 " signals of %" PRIu64 " samples", c->s.signals, insert);
	if (c->started)
		end_run(c);
	c->s.handle = 0;
	perf_session_free(&c->s);
	c->exists = false;
}

static void start(struct client *c)
{
	int ret;

	c->start_data = next_data();
	c->num_samples = 0;
	memset(c->sums, 0, 8ull * blocks * values);
	c->enter_ns = perf_now();
	ret = perf_start(c->s.fd, c->s.handle, c->start_data);
	c->leave_ns = perf_now();
	if (ret) {
		if (!start_may_time_out || ret != -ETIMEDOUT)
			wrong(c, "START: %s", strerror(-ret));
		return;
	}
	c->started = true;
}

static void ask(struct client *c, bool stop)
{
	uint64_t data = next_data(), now = perf_now();
	uint32_t pending = c->tail - c->head;
	int ret;

	ret = stop ? perf_stop(c->s.fd, c->s.handle, data) : perf_sample(c->s.fd, c->s.handle, data);
	if (!ret) {
		c->asked[c->tail % 64].data = data;
		c->asked[c->tail++ % 64].ns = now;
		c->stopping = stop;
	} else if (stop || ret != -EBUSY || pending + 1 < c->s.slots) {
		/* All that was delivered had been consumed before. */
		wrong(c, "%s with %u requests in %u slots: %s", stop ? "STOP" : "SAMPLE", pending,
		      c->s.slots, strerror(-ret));
	}
}

static void wait_a_little(struct client *c)
{
	struct pollfd p = { .fd = c->s.efd, .events = POLLIN };

	/* Mostly as a program would, sometimes late. */
	if (below(c, 8))
		poll(&p, 1, 1 + below(c, 20));
	else
		usleep(below(c, 30000));
}

static void act(struct client *c)
{
	collect(c);
	if (!c->started) {
		if (below(c, 6) == 0)
			tear_down(c);
		else
			start(c);
	} else if (below(c, 150) == 0) {
		tear_down(c);
	} else if (c->stopping) {
		wait_a_little(c);
	} else if (below(c, 24) == 0) {
		ask(c, true);
	} else if (c->periodic) {
		wait_a_little(c);
	} else {
		/* Mostly one at a time, as programs do; sometimes more than there is room for. */
		for (uint32_t n = below(c, 6) ? 1 : below(c, 6); n--;)
			ask(c, false);
		if (below(c, 4))
			wait_a_little(c);
	}
}

static void *drive(void *arg)
{
	struct client *c = arg;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		if (c->exists)
			act(c);
		else
			set_up(c);
	}
	/* Every other one says good-bye. */
	if (c->exists) {
		collect(c);
		if (c->started && !c->stopping && c->id % 2)
			ask(c, true);
		for (uint64_t end = perf_now() + PERF_HANG_MS * 1000000ull; c->stopping;) {
			if (perf_now() > end) {
				wrong(c, "the last sample did not come");
				break;
			}
			wait_a_little(c);
			collect(c);
		}
		tear_down(c);
	}
	return NULL;
}

static void trace_write(const char *file, const char *text)
{
	char path[128];
	int ret;

	snprintf(path, sizeof(path), TRACING "%s", file);
	ret = perf_write_file(path, text);
	if (ret)
		die("%s: %s", path, strerror(-ret));
}

/* So that times of the kernel's log can be compared with others. */
static void log_clock(void)
{
	uint64_t before = perf_now() / 1000, after;
	char line[128];
	int ret;

	ret = perf_write_file("/dev/kmsg", EXACT_CLOCK "\n");
	after = perf_now() / 1000;
	snprintf(line, sizeof(line), EXACT_CLOCK "%" PRIu64 " %" PRIu64 "\n", before, after);
	ret = ret ?: perf_write_file("/dev/kmsg", line);
	if (ret)
		die("/dev/kmsg: %s", strerror(-ret));
}

static void trace_begin(void)
{
	trace_write("tracing_on", "0");
	trace_write("buffer_size_kb", "32768");
	trace_write("trace_clock", "mono_raw");
	trace_write("trace", "\n");
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		char file[96];

		snprintf(file, sizeof(file), "events/panthor/%s/enable", events[i]);
		trace_write(file, "1");
	}
	trace_write("tracing_on", "1");
}

/* The time of an event, "12.345678: ", before its name. */
static uint64_t trace_us(const char *line, const char *name)
{
	uint64_t s, us;

	while (name > line && (name[-1] == ' ' || name[-1] == ':'))
		name--;
	while (name > line && name[-1] != ' ')
		name--;
	if (sscanf(name, "%" SCNu64 ".%6" SCNu64, &s, &us) != 2)
		die("a line of the trace without a time: %s", line);
	return 1000000 * s + us;
}

static void trace_end(const char *path)
{
	FILE *in, *out;
	char line[512];

	trace_write("tracing_on", "0");
	in = fopen(TRACING "trace", "re");
	out = fopen(path, "we");
	if (!in || !out)
		die("%s: %s", in ? path : TRACING "trace", strerror(errno));
	while (fgets(line, sizeof(line), in)) {
		char *p = strstr(line, "panthor_perf_");

		if (p)
			fprintf(out, "%" PRIu64 " %s", trace_us(line, p), p);
		else if (strstr(line, "LOST"))
			die("the trace has holes: %s", line);
	}
	fclose(in);
	if (fclose(out))
		die("%s: %s", path, strerror(errno));

	for (int cpu = 0; cpu < 64; cpu++) {
		unsigned long long n;

		snprintf(line, sizeof(line), TRACING "per_cpu/cpu%d/stats", cpu);
		in = fopen(line, "re");
		if (!in)
			continue;
		while (fgets(line, sizeof(line), in)) {
			if ((sscanf(line, "overrun: %llu", &n) == 1 ||
			     sscanf(line, "dropped events: %llu", &n) == 1) && n)
				die("the trace of processor %d has holes: %s", cpu, line);
		}
		fclose(in);
	}
}

#define MAX_SWITCHES	64

/* What the bench page does meanwhile. */
struct storm {
	uint32_t kinds, faults;
	unsigned int num_set;
	struct { unsigned int reg; uint32_t value; } set[MAX_SWITCHES];
};

static bool storm_kind(struct storm *storm, const char *name)
{
	static const char *const kinds[] = { MALI_STORM_NAMES };

	for (unsigned int i = 0; i < MALI_STORM_KINDS; i++) {
		if (!strcmp(name, kinds[i])) {
			storm->kinds |= 1u << i;
			return true;
		}
	}
	return false;
}

static void storm_switch(struct storm *storm, char *name)
{
	static const struct { const char *name; unsigned int reg; } regs[] = {
#define REG(sym, name, bits, r, w, help) { w ? name : "", MALI_BENCH_##sym },
		MALI_BENCH_REGS(REG)
#undef REG
	};
	char *value = strchr(name, '=');

	if (value)
		*value++ = 0;
	if (!value && storm_kind(storm, name))
		return;
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		if (strcmp(name, regs[i].name))
			continue;
		if (value && storm->num_set < MAX_SWITCHES) {
			storm->set[storm->num_set].reg = regs[i].reg;
			storm->set[storm->num_set++].value = strtoul(value, NULL, 0);
			return;
		}
		if (!value && regs[i].reg >= MALI_BENCH_FAULTS_FIRST) {
			storm->faults |= 1u << MALI_FAULT_NUMBER(regs[i].reg);
			return;
		}
	}
	die("'%s' is no switch of the bench page that a storm has; mali-bench lists them", name);
}

static void storm_begin(const struct storm *storm, uint32_t seed, uint32_t us)
{
	for (unsigned int i = 0; i < storm->num_set; i++)
		bench_set(storm->set[i].reg, storm->set[i].value);
	if (!storm->kinds && !storm->faults)
		return;
	bench_reg_set(STORM_SEED, seed);
	bench_reg_set(STORM_PERIOD, us);
	bench_reg_set(STORM_KINDS, storm->kinds);
	bench_reg_set(STORM_FAULTS, storm->faults);
	bench_reg_set(STORM, 1);
}

/* Until firmware has taken so many samples, or it is @end, or something is wrong. */
static void wait_for_samples(uint64_t first, uint64_t wanted, uint64_t end)
{
	while (bench_reg_get64(SAMPLES) - first < wanted && perf_now() < end &&
	       !__atomic_load_n(&complaints, __ATOMIC_RELAXED))
		usleep(10000);
}

static void keep_active(void)
{
	bench_reg_set(CORES_HOLD, 1);
	bench_reg_set(RATE, 100000);
	bench_reg_set(ACTIVITY, 1);
}

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (!*text || *end || n > most)
		die("'%s' is not a number up to %lu", text, most);
	return n;
}

int main(int argc, char **argv)
{
	unsigned long sessions = 16, periodic = 0, wanted = 10000, seed = 1, us = 20000;
	unsigned long seconds = 100000;
	struct drm_panthor_gpu_info gpu = {};
	struct exact_head head = { .magic = EXACT_MAGIC };
	uint32_t size = sizeof(gpu);
	struct storm storm = {};
	struct client *clients;
	uint64_t first, end, hits;
	bool active = false, calm = false;
	int fds[FILES], opt;

	while ((opt = getopt(argc, argv, "an:p:s:t:r:k:f:u:cT")) != -1) {
		switch (opt) {
		case 'a': active = true; break;
		case 'n': sessions = number(optarg, MAX_SESSIONS); break;
		case 'p': periodic = number(optarg, MAX_SESSIONS); break;
		case 's': wanted = number(optarg, 100000000); break;
		case 't': seconds = number(optarg, 100000); break;
		case 'r': seed = number(optarg, ~0ul); break;
		case 'k': storm.kinds |= number(optarg, 255); break;
		case 'f':
			for (char *name = strtok(optarg, ","); name; name = strtok(NULL, ","))
				storm_switch(&storm, name);
			break;
		case 'u': us = number(optarg, 1000000); break;
		case 'c': calm = true; break;
		case 'T': start_may_time_out = true; break;
		default: optind = argc; break;
		}
	}
	if (argc - optind != 2)
		die("usage: perf-exact [-n SESSIONS] [-p PERIODIC] [-s SAMPLES] [-t SECONDS] [-r SEED] [-a] [-k KINDS] [-f SWITCH[=VALUE],...] [-u US] [-c] [-T] RECORD TRACE");
	if (!perf_bench_open())
		die("there is no bench page: this needs the virtual Mali, and root");
	for (int i = 0; i < FILES; i++) {
		fds[i] = perf_open_device();
		if (fds[i] < 0)
			die("there is no device of panthor's");
	}
	if (perf_info(fds[0], &info) || !info.counters_per_block ||
	    perf_query(fds[0], DRM_PANTHOR_DEV_QUERY_GPU_INFO, &gpu, &size))
		die("there are no performance counters");
	blocks = perf_blocks(&info);
	values = info.counters_per_block;
	factors = calloc(blocks * values, sizeof(*factors));
	clients = calloc(sessions, sizeof(*clients));
	record = fopen(argv[optind], "we");
	if (!factors || !clients || !record)
		die("%s: %s", argv[optind], strerror(errno));
	for (uint32_t i = 0; i < blocks * values; i++)
		factors[i] = exact_factor(i);

	head.gpu_id = gpu.gpu_id;
	head.shader_present = gpu.shader_present;
	head.values = values;
	head.sessions = sessions;
	for (unsigned int t = 0; t < EXACT_TYPES; t++)
		head.count[t] = perf_count(&info, t);
	if (fwrite(&head, sizeof(head), 1, record) != 1)
		die("%s: %s", argv[optind], strerror(errno));

	start_may_time_out |= storm.kinds & (1 << MALI_STORM_DROP_SAMPLE | 1 << MALI_STORM_DROP_ACK | 1 << MALI_STORM_HANG);
	if (active) {
		if (perf_pm_write("control", "on"))
			die("the GPU's power cannot be kept on");
		keep_active();
	}
	log_clock();
	trace_begin();
	first = bench_reg_get64(SAMPLES);
	for (unsigned long i = 0; i < sessions; i++) {
		struct client *c = &clients[i];

		c->id = i;
		c->fd = fds[i % FILES];
		c->random = seed * 1000003 + i;
		c->periodic = i < periodic;
		c->s.efd = -1;
		c->sums = calloc(blocks * values, sizeof(*c->sums));
		if (!c->sums || pthread_create(&c->thread, NULL, drive, c))
			die("no memory for %lu sessions", sessions);
	}
	if (calm) {
		wait_for_samples(first, CALM, perf_now() + seconds * 1000000000ull);
		head.storm_from_ns = perf_now();
	}
	hits = bench_reg_get64(FAULT_HITS);
	storm_begin(&storm, seed, us);
	/* What came before it, while sessions were started, was no storm. */
	first = bench_reg_get64(SAMPLES);
	end = perf_now() + seconds * 1000000000ull;
	wait_for_samples(first, wanted, end);
	printf("# %u disturbances, %" PRIu64 " hits of faults\n", bench_reg_get(STORM_EVENTS),
	       bench_reg_get64(FAULT_HITS) - hits);
	perf_bench_calm();
	if (calm) {
		head.storm_to_ns = perf_now();
		if (active)
			keep_active();
		wait_for_samples(bench_reg_get64(SAMPLES), EXACT_LAP + CALM, perf_now() + seconds * 1000000000ull);
		perf_bench_calm();
	}
	__atomic_store_n(&done, true, __ATOMIC_RELEASE);
	for (unsigned long i = 0; i < sessions; i++)
		pthread_join(clients[i].thread, NULL);
	printf("# %" PRIu64 " firmware samples, %lu sessions, %" PRIu64 " runs, %" PRIu64 " samples delivered\n",
	       bench_reg_get64(SAMPLES) - first, sessions, runs, delivered);
	trace_end(argv[optind + 1]);
	if (fseek(record, 0, SEEK_SET) || fwrite(&head, sizeof(head), 1, record) != 1 || fclose(record))
		die("%s: %s", argv[optind], strerror(errno));
	if (complaints)
		printf("# %" PRIu64 " things were wrong with what clients were given\n", complaints);
	return complaints ? 1 : 0;
}
