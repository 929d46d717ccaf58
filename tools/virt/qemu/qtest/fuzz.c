// SPDX-License-Identifier: MIT
/*
 * A fuzzer of the virtual Mali: registers, doorbells, shared memory, page
 * tables, command streams, the bench page and the board, by the test protocol
 *
 *   fuzz -r QEMU SCRATCH CORPUS             what is in CORPUS once more, as TAP
 *   fuzz -t SECONDS [-s SEED] QEMU SCRATCH CORPUS
 *                                           looks for what QEMU does not survive;
 *                                           inputs that reach new places join CORPUS
 *   fuzz -m QEMU SCRATCH CORPUS             removes from CORPUS what others reach as well
 *
 * An input is a list of actions, a few bytes each, of which every one means
 * something: a byte that is cut off reads as 0. Each input has a QEMU of its
 * own. It has failed if QEMU ends, or does not answer, or complains at its end,
 * or if streams have cost more turns than time and actions have room for.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../guest/cs.h"
#include "../mali-csf-bench-regs.h"
#include "coverage.h"
#include "vgpu.h"

/* Seconds of the host's after which an input hangs. */
#define PATIENCE	60
#define INPUT_BYTES	3072
#define CORPUS_INPUTS	4096
/* Virtual time that one input may take in all. */
#define MAX_TIME_NS	100000000ull

/* Turns of the loop that runs streams: in 100 us of virtual time, and for an action. */
#define MAX_TURNS	32

#define DOORBELL(n)	(0x80000 + 0x10000 * (n))
#define GROUP_CTRL(g)	(SHARED_PA + 0x1000 + (g) * 0x400)
#define STREAM_CTRL(g, c) (GROUP_CTRL(g) + 0x40 + (c) * 0x10)

struct input {
	uint8_t bytes[INPUT_BYTES];
	size_t len, at;
};

static struct vgpu G;
static const char *qemu, *scratch, *corpus_dir;
static uint64_t inserted, spent;

static const char *const devices[] = {
	"mali-csf,model=g610",
	"mali-csf,model=g715,iface=4.1.0,ledger=/dev/null",
	"mali-csf,model=g725,shader_present=0x8000000000000001",
	"mali-csf,model=g610,csgs=3,streams=32,events_once=on,latency_seed=1",
	/* By values that stand for no other, so that inputs kept before mean what they did. */
	"mali-csf,model=g1,ledger=/dev/null",
	"mali-csf,model=g1,iface=3.3.0,shader_present=0x8000000000000001,shader_fuses=1",
};

#define OLD_DEVICES	4

static const char *device(uint8_t which)
{
	return which < 0xc0 ? devices[which % OLD_DEVICES] : devices[OLD_DEVICES + which % 2];
}

/* ---- reading an input ---- */

static uint8_t byte(struct input *in)
{
	return in->at < in->len ? in->bytes[in->at++] : 0;
}

static uint32_t word(struct input *in)
{
	uint32_t v = byte(in);

	v |= byte(in) << 8;
	v |= byte(in) << 16;
	return v | (uint32_t)byte(in) << 24;
}

/* Places in the GPU's memory that mean something, and their neighbours. */
static uint32_t address(struct input *in)
{
	uint8_t which = byte(in);

	return RING_VA + (which & 0x3f) * 0x1000 + (which >> 6) * 0x10;
}

static uint32_t value(struct input *in)
{
	switch (byte(in) % 8) {
	case 0:
		return byte(in);
	case 1:
		return 1u << byte(in) % 32;
	case 2:
		return 0xffffffff;
	case 3:
		return address(in);
	case 4:
		return 0;
	case 5:
		return byte(in) << 8;
	default:
		return word(in);
	}
}

/* ---- actions ---- */

static void step(struct input *in)
{
	uint64_t ns = 1000ull << byte(in) % 14;

	if (spent + ns <= MAX_TIME_NS) {
		spent += ns;
		vgpu_step(&G, ns);
	}
}

static uint32_t block(uint32_t ctrl, bool out)
{
	uint32_t va = ram_get(&G, ctrl + (out ? 8 : 4));

	/* The guest may have put anything there: then somewhere in the section. */
	return SHARED_PA + (va - SHARED_VA) % (SHARED_BYTES - 0x1000);
}

static void ring_all(void)
{
	ram_set(&G, SHARED_PA + G.glb_in + 8, ~ram_get(&G, SHARED_PA + G.glb_out + 8));
	reg_write(&G, DOORBELL(0), 1);
	vgpu_step(&G, 5000);
}

static void start_group(struct input *in)
{
	unsigned int g = byte(in) % 3, c = byte(in) % 8;
	uint32_t gin = block(GROUP_CTRL(g), false), sin = block(STREAM_CTRL(g, c), false);

	ram_set(&G, gin + 0x50, byte(in) % 3);
	ram_set(&G, gin + 0x20, 0xffffffff);
	ram_set(&G, gin + 0x28, 0xffffffff);
	ram_set(&G, gin + 0x30, 1);
	ram_set(&G, gin + 0x34, 64 | 64 << 8 | 1 << 16);
	ram_set(&G, gin + 0x38, 64 | 64 << 8 | 1 << 16);
	ram_set(&G, sin + 0x04, 1 << 8);
	ram_set(&G, sin + 0x0c, 0xffffffff);
	ram_set(&G, sin + 0x10, RING_VA);
	ram_set(&G, sin + 0x18, 4096);
	ram_set(&G, sin + 0x30, RING_VA + 0x10000);
	ram_set(&G, sin + 0x38, RING_VA + 0x11000);
	ram_set(&G, sin, 1);
	ram_set(&G, gin + 0x40, RING_VA + 0x20000);
	ram_set(&G, gin, byte(in) & 1 ? 1 : 3);
	ram_set(&G, RING_PA + 0x10000, inserted);
	ring_all();
}

static void instruction(struct input *in)
{
	static const uint8_t ops[] = {
		1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 11, 16, 17, 18, 20, 21, 22, 23, 24, 25, 32, 33, 34, 36, 37,
		38, 39, 40, 41, 42, 43, 44, 47, 48, 49, 50, 51, 52, 53, 0,
	};
	/* From arch 11 on; likewise by values of their own. */
	static const uint8_t later[] = { 12, 18, 19, 26, 27, 28, 28, 30, 31, 57 };
	uint8_t which = byte(in);
	uint64_t insn = which + sizeof(later) > 0xff ? later[0xff - which] : ops[which % sizeof(ops)];
	uint64_t at = RING_PA + inserted % 4096;

	insn <<= 56;

	insn |= (uint64_t)byte(in) << 48 | (uint64_t)byte(in) << 40 | (uint64_t)byte(in) << 32 | value(in);
	ram_set(&G, at, insn);
	ram_set(&G, at + 4, insn >> 32);
	inserted += 8;
}

/* A page of the GPU's, somewhere good or bad. */
static void page(struct input *in)
{
	uint64_t va = RING_VA + (byte(in) & 0x3f) * 0x1000ull, pa = RING_PA + (byte(in) & 0x3f) * 0x1000ull;

	switch (byte(in) % 8) {
	case 0:
		vgpu_unmap(&G, va);
		return;
	case 1:
		pa = G.regs;
		break;
	case 2:
		pa = G.bench;
		break;
	case 3:
		pa = TABLES_PA + 0x1000 * (byte(in) % 8);
		break;
	case 4:
		pa = (uint64_t)word(in) << 12;
		break;
	case 5:
		pa = SHARED_PA + 0x1000 * (byte(in) % 0x40);
		break;
	}
	vgpu_map(&G, va, pa, byte(in) & 1, byte(in) & 1);
}

static void space(struct input *in)
{
	static const uint64_t tables[] = { TABLES_PA, TABLES_PA, TABLES_PA, RING_PA, 0, ~0ull << 12 };
	unsigned int as = byte(in) % 3;
	uint32_t reg = 0x2400 + 0x40 * as;

	switch (byte(in) % 4) {
	case 0:
		vgpu_as_setup(&G, as, tables[byte(in) % 6], 55 - byte(in) % 32);
		break;
	case 1:
		vgpu_as_setup(&G, as, TABLES_PA, 48);
		break;
	case 2:
		reg_write(&G, reg + 0x10, value(in));
		reg_write(&G, reg + 0x14, byte(in));
		reg_write(&G, reg + 0x18, byte(in) % 8);
		break;
	case 3:
		reg_write(&G, reg + 4 * (byte(in) % 16), value(in));
		break;
	}
}

static void bench(struct input *in)
{
	static const uint32_t offsets[] = {
#define OFFSET(sym, name, bits, r, w, help) MALI_BENCH_##sym,
		MALI_BENCH_REGS(OFFSET)
#undef OFFSET
	};
	uint8_t which = byte(in);
	uint32_t off = offsets[which % (sizeof(offsets) / sizeof(offsets[0]))] + (which & 0x80 ? 4 : 0);

	vgpu_write(&G, G.bench + off, value(in));
	vgpu_read(&G, G.bench + off);
}

static void counters(struct input *in)
{
	uint32_t gin = SHARED_PA + G.glb_in;

	ram_set(&G, gin + 0x24, byte(in) % 3);
	ram_set(&G, gin + 0x28, RING_VA + 0x100000);
	ram_set(&G, gin + 0x2c, 0);
	ram_set(&G, gin + 0x40, 1 << byte(in) % 8 | (byte(in) & 7) << 8);
	for (uint32_t off = 0x44; off <= 0x5c; off += 4)
		ram_set(&G, gin + off, 0xffffffff);
	ram_set(&G, gin, ram_get(&G, gin) | 1u << 5);
	reg_write(&G, DOORBELL(0), 1);
	vgpu_step(&G, 5000);
}

static void pwr_control(struct input *in)
{
	static const uint16_t commands[] = {
		PWR_UP, PWR_DOWN, PWR_DELEGATE, PWR_RETRACT, PWR_RESET_SOFT, PWR_RESET_FAST, PWR_INSPECT, 0x12,
	};
	static const uint8_t domains[] = { DOMAIN_L2, DOMAIN_TILER, DOMAIN_SHADER, DOMAIN_SHADER, 14 };
	uint32_t command = commands[byte(in) % 8];
	unsigned int domain = domains[byte(in) % sizeof(domains)];
	uint32_t low = value(in);

	if (!(byte(in) % 8))
		command |= byte(in) << 16;
	vgpu_pwr_command(&G, command, domain, low | (uint64_t)value(in) << 32);
	for (uint32_t off = 0x800; off < 0x840; off += 4)
		reg_read(&G, off);
}

static void act(struct input *in)
{
	static const uint32_t regs[] = {
		0x20, 0x24, 0x28, 0x30, 0x48, 0x50, 0x54, 0x88, 0x180, 0x190, 0x1a0, 0x1b0, 0x1c0, 0x1d0, 0x1e0,
		0x1f0, 0x304, 0x700, 0x1000, 0x1004, 0x1008, 0x2000, 0x2004, 0x2008,
	};
	uint32_t off;
	uint8_t which;

	switch (byte(in) % 20) {
	case 0:
		which = byte(in);
		if (which >= 0xe0)
			pwr_control(in);
		else
			reg_write(&G, regs[which % (sizeof(regs) / 4)], value(in));
		break;
	case 1:
		off = word(in) % 0x200000 & ~3u;
		reg_write(&G, off, value(in));
		break;
	case 2:
		reg_read(&G, (word(in) % (byte(in) & 1 ? 0x3000 : 0x200000)) & ~3u);
		break;
	case 3:
	case 4:
		step(in);
		break;
	case 5:
		reg_write(&G, DOORBELL(byte(in) % 24), 1);
		break;
	case 6:
		off = byte(in) % 0x28 * 4;
		ram_set(&G, SHARED_PA + G.glb_in + off, value(in));
		break;
	case 7:
		off = byte(in) % 0x18 * 4;
		ram_set(&G, block(GROUP_CTRL(byte(in) % 3), byte(in) & 1) + off, value(in));
		break;
	case 8:
		off = byte(in) % 0x38 * 4;
		ram_set(&G, block(STREAM_CTRL(byte(in) % 3, byte(in) % 8), byte(in) & 1) + off, value(in));
		break;
	case 9:
		off = address(in) - RING_VA;
		ram_set(&G, RING_PA + off + byte(in) % 16 * 4, value(in));
		break;
	case 10:
	case 11:
	case 12:
		instruction(in);
		break;
	case 13:
		ram_set(&G, RING_PA + 0x10000, inserted);
		reg_write(&G, DOORBELL(1), 1);
		break;
	case 14:
		page(in);
		break;
	case 15:
		space(in);
		break;
	case 16:
		bench(in);
		break;
	case 17:
		if (byte(in) & 1)
			counters(in);
		else
			ring_all();
		break;
	case 18:
		start_group(in);
		break;
	case 19:
		off = word(in);
		vgpu_write(&G, G.sysreg + 0xa0 + byte(in) % 3 * 4, off);
		break;
	}
}

/* ---- one input ---- */

static void run(struct input *in)
{
	char path[300], line[256];
	uint64_t turns, most, actions = 0;
	int status;
	FILE *f;

	alarm(PATIENCE);
	in->at = 0;
	if (!vgpu_start(&G, qemu, device(byte(in)), scratch) || !vgpu_boot(&G)) {
		printf("# the GPU does not come up\n");
		exit(1);
	}
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	for (; in->at < in->len; actions++)
		act(in);
	vgpu_step(&G, 1000000);
	/* Whatever has become of the GPU, it can be reset, and answers. */
	if (vgpu_has_pwr_control(&G))
		vgpu_pwr_command(&G, PWR_RESET_SOFT, 0, 0);
	else
		reg_write(&G, 0x30, 0x101);
	vgpu_step(&G, 1000000);
	reg_read(&G, 0);
	turns = BENCH_GET(&G, TURNS);
	most = (G.now / 100000 + actions) * MAX_TURNS;
	if (turns > most) {
		printf("# streams cost %" PRIu64 " turns in %" PRIu64 " us, want at most %" PRIu64 "\n", turns,
		       G.now / 1000, most);
		exit(1);
	}
	status = vgpu_stop(&G);
	if (status) {
		printf("# QEMU ends with status 0x%x\n", status);
		snprintf(path, sizeof(path), "%s/qemu.err", scratch);
		f = fopen(path, "r");
		while (f && fgets(line, sizeof(line), f))
			printf("# %s", line);
		exit(1);
	}
	fflush(stdout);
	_exit(0);
}

static bool survives(struct input *in)
{
	char path[300], line[256];
	int status;
	pid_t pid;
	FILE *f;

	fflush(stdout);
	pid = fork();
	if (!pid)
		run(in);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return true;
	if (WIFSIGNALED(status))
		printf("# QEMU does not answer (signal %d)\n", WTERMSIG(status));
	snprintf(path, sizeof(path), "%s/qemu.err", scratch);
	f = fopen(path, "r");
	for (unsigned int n = 0; f && n < 40 && fgets(line, sizeof(line), f); n++)
		printf("# %s", line);
	if (f)
		fclose(f);
	return false;
}

/* ---- the corpus ---- */

static struct input *inputs[CORPUS_INPUTS];
static char *names[CORPUS_INPUTS];
static unsigned int n_inputs;

static void keep(const struct input *in, const char *name)
{
	if (n_inputs == CORPUS_INPUTS)
		return;
	inputs[n_inputs] = malloc(sizeof(*in));
	*inputs[n_inputs] = *in;
	names[n_inputs++] = strdup(name);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static void read_corpus(void)
{
	struct dirent **entries;
	int n = scandir(corpus_dir, &entries, NULL, by_name);

	for (int i = 0; i < n; i++) {
		char path[4096];
		struct input in = { 0 };
		FILE *f;

		if (entries[i]->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", corpus_dir, entries[i]->d_name);
		f = fopen(path, "rb");
		if (!f) {
			fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
			exit(2);
		}
		in.len = fread(in.bytes, 1, INPUT_BYTES, f);
		fclose(f);
		keep(&in, entries[i]->d_name);
	}
}

static void write_input(const struct input *in, const char *path)
{
	FILE *f = fopen(path, "wb");

	if (!f || fwrite(in->bytes, 1, in->len, f) != in->len || fclose(f)) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(2);
	}
}

static int replay(void)
{
	bool good = true;

	read_corpus();
	printf("1..%u\n", n_inputs);
	for (unsigned int i = 0; i < n_inputs; i++) {
		bool ok = survives(inputs[i]);

		printf("%sok %u - input %s\n", ok ? "" : "not ", i + 1, names[i]);
		good &= ok;
	}
	return !good;
}

/* ---- looking ---- */

static uint64_t random_state;

/* xorshift64*: a seed is a series. */
static uint32_t random_word(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (random_state * 0x2545f4914f6cdd1dull) >> 32;
}

static void mutate(struct input *in)
{
	unsigned int n = 1 + random_word() % 8;
	const struct input *other;
	size_t at, len, from;

	if (!n_inputs || random_word() % 8 == 0) {
		in->len = 16 + random_word() % (INPUT_BYTES - 16);
		for (size_t i = 0; i < in->len; i++)
			in->bytes[i] = random_word();
		return;
	}
	*in = *inputs[random_word() % n_inputs];
	while (n--) {
		at = in->len ? random_word() % in->len : 0;
		switch (random_word() % 4) {
		case 0:
			in->bytes[at] = random_word();
			break;
		case 1:
			in->bytes[at] ^= 1 << random_word() % 8;
			break;
		case 2:
			/* A piece of another, or of itself, in place of what is there. */
			other = inputs[random_word() % n_inputs];
			if (!other->len)
				break;
			from = random_word() % other->len;
			len = 1 + random_word() % 64;
			if (len > other->len - from)
				len = other->len - from;
			if (len > INPUT_BYTES - at)
				len = INPUT_BYTES - at;
			memcpy(in->bytes + at, other->bytes + from, len);
			if (at + len > in->len)
				in->len = at + len;
			break;
		case 3:
			/* More at the end. */
			while (in->len < INPUT_BYTES && random_word() % 16)
				in->bytes[in->len++] = random_word();
			break;
		}
	}
}

static unsigned int new_places(const uint8_t *now, uint8_t *seen)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < COVERAGE_BYTES; i++) {
		n += now[i] && !seen[i];
		seen[i] |= now[i];
	}
	return n;
}

/* Where QEMU says which places it has reached. */
static uint8_t *coverage_map(void)
{
	char path[4096];
	uint8_t *map;
	int fd;

	snprintf(path, sizeof(path), "%s/coverage", scratch);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	map = fd < 0 || ftruncate(fd, COVERAGE_BYTES) ? MAP_FAILED :
	      mmap(NULL, COVERAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		fprintf(stderr, "fuzz: %s: %s\n", path, strerror(errno));
		exit(2);
	}
	close(fd);
	setenv("VGPU_COVERAGE", path, 1);
	return map;
}

/* The input that reaches most of what is missing, again and again. */
static int minimize(void)
{
	static uint8_t seen[COVERAGE_BYTES];
	static uint8_t *maps[CORPUS_INPUTS];
	uint8_t *map = coverage_map();
	unsigned int left = 0;
	char path[4096];

	read_corpus();
	for (unsigned int i = 0; i < n_inputs; i++) {
		memset(map, 0, COVERAGE_BYTES);
		if (!survives(inputs[i])) {
			printf("QEMU does not survive %s\n", names[i]);
			return 1;
		}
		maps[i] = malloc(COVERAGE_BYTES);
		memcpy(maps[i], map, COVERAGE_BYTES);
	}
	for (;;) {
		unsigned int best = 0, most = 0;

		for (unsigned int i = 0; i < n_inputs; i++) {
			unsigned int n = 0;

			for (unsigned int j = 0; maps[i] && j < COVERAGE_BYTES; j++)
				n += maps[i][j] && !seen[j];
			if (n > most) {
				best = i;
				most = n;
			}
		}
		if (!most)
			break;
		new_places(maps[best], seen);
		free(maps[best]);
		maps[best] = NULL;
		left++;
	}
	for (unsigned int i = 0; i < n_inputs; i++) {
		snprintf(path, sizeof(path), "%s/%s", corpus_dir, names[i]);
		if (maps[i])
			unlink(path);
	}
	printf("%u inputs of %u are left\n", left, n_inputs);
	return 0;
}

static int look(unsigned int seconds, uint64_t seed)
{
	static uint8_t seen[COVERAGE_BYTES];
	unsigned int runs = 0, places = 0, found = 0, kept;
	struct timespec begin, now;
	uint8_t *map = coverage_map();
	char path[4096];

	random_state = seed * 0x9e3779b97f4a7c15ull | 1;
	read_corpus();
	kept = n_inputs;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		struct input in = { 0 };
		bool again = runs < kept, good;
		unsigned int n;

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec - begin.tv_sec >= (time_t)seconds && !again)
			break;
		if (again)
			in = *inputs[runs];
		else
			mutate(&in);
		memset(map, 0, COVERAGE_BYTES);
		good = survives(&in);
		runs++;
		n = new_places(map, seen);
		places += n;
		if (!good) {
			snprintf(path, sizeof(path), "%s/failed-%016" PRIx64 "-%u", scratch, seed, runs);
			write_input(&in, path);
			printf("QEMU does not survive %s\n", path);
			found++;
		} else if (n && !again) {
			snprintf(path, sizeof(path), "%s/%08x-%05u", corpus_dir, (uint32_t)seed, runs);
			write_input(&in, path);
			keep(&in, strrchr(path, '/') + 1);
		}
	}
	printf("%u inputs in %u s, %u of them new in %s, %u places reached, %u failures\n", runs,
	       (unsigned int)(now.tv_sec - begin.tv_sec), n_inputs - kept, corpus_dir, places, found);
	return found ? 1 : 0;
}

static void usage(void)
{
	fprintf(stderr, "usage: fuzz -r|-m|-t SECONDS [-s SEED] QEMU SCRATCH CORPUS\n");
	exit(2);
}

int main(int argc, char **argv)
{
	unsigned int seconds = 0;
	bool again = false, less = false;
	uint64_t seed = 1;
	int c;

	while ((c = getopt(argc, argv, "rmt:s:")) != -1) {
		if (c == 'r')
			again = true;
		else if (c == 'm')
			less = true;
		else if (c == 't')
			seconds = strtoul(optarg, NULL, 10);
		else if (c == 's')
			seed = strtoull(optarg, NULL, 0);
		else
			usage();
	}
	if (argc - optind != 3 || again + less + (seconds > 0) != 1)
		usage();
	qemu = argv[optind];
	scratch = argv[optind + 1];
	corpus_dir = argv[optind + 2];
	vgpu_last_words = "# ";
	/* What QEMU holds at its end is not a leak of the device's. */
	setenv("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=1:allocator_may_return_null=0", 1);
	setenv("UBSAN_OPTIONS", "print_stacktrace=1:abort_on_error=1", 1);
	if (less)
		return minimize();
	return again ? replay() : look(seconds, seed);
}
