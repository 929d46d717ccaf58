// SPDX-License-Identifier: MIT
/*
 * The counters of the virtual Mali without a driver: every word of the ring
 * and of the ledger against what the hardware's description says
 *
 *   counters QEMU SCRATCH         the tests, as TAP
 *   counters -b QEMU SCRATCH      how many samples a second the model makes
 *
 * What is expected is computed here, from the description in virtual-mali.rst of
 * what the counters count; nothing of the device is called or included but the numbers
 * of the bench page's registers.
 *
 * Time stands still but for vgpu_step(), so timestamps and cycles are exact.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../host/ledger.h"
#include "../mali-csf-bench-regs.h"
#include "vgpu.h"

/* Global input and output block */
#define IN_REQ		0x00
#define IN_IRQ_MASK	0x04
#define IN_JASID	0x24
#define IN_BASE		0x28
#define IN_EXTRACT	0x30
#define IN_CONFIG	0x40
#define IN_CSG_SELECT	0x44
#define IN_MASKS	0x48
#define OUT_ACK		0x00
#define OUT_STATUS	0x14
#define OUT_INSERT	0x18

#define HALT		(1u << 0)
#define ENABLE		(1u << 5)
#define SAMPLE		(1u << 6)
#define PING		(1u << 8)
#define THRESHOLD	(1u << 24)
#define OVERFLOW	(1u << 25)
#define METADATA	(1u << 10)	/* PRFCNT_CONFIG */

#define JOB_RAWSTAT	0x1000
#define JOB_CLEAR	0x1004
#define MMU_RAWSTAT	0x2000
#define MCU_STATUS	0x704
#define DOORBELL	0x80000
#define GLOBAL_IRQ	(1u << 31)

#define LATENCY		2000	/* ns from doorbell to firmware */
#define POWER_NS	20000	/* a power transition */
#define IDLE_OFF_NS	10000000	/* idle cores power down after so long, unless told */
#define TICK_NS		16	/* of the system counter, 62.5 MHz */

#define MAX_BLOCKS	120
#define ALL		0xffffffffu

enum { REQUESTED, BEFORE_PROTM, BEFORE_HALT, BEFORE_SLEEP, BEFORE_SUSPEND, YIELD, WARM_BOOT };

/* What is tested, and what it is made of. */
struct config {
	const char *name;
	const char *device;
	unsigned int words, meta, fw, csg, slices, arch;
	uint64_t present;
};

static const struct config configs[] = {
	{ "g610", "mali-csf,model=g610", 64, 0, 0, 0, 4, 10, 0x50005 },
	{ "g710", "mali-csf,model=g710", 64, 0, 0, 0, 4, 10, 0x1110055 },
	{ "g715", "mali-csf,model=g715", 128, 1, 0, 0, 4, 11, 0x550055 },
	{ "g715 with FW and CSG blocks", "mali-csf,model=g715,fw_blocks=1,csg_blocks=8",
	  128, 1, 1, 8, 4, 11, 0x550055 },
	{ "g720", "mali-csf,model=g720", 128, 1, 1, 0, 2, 12, 0x10555 },
	{ "g725", "mali-csf,model=g725", 128, 1, 1, 16, 8, 13, 0x111111 },
	/* Of an interface that is halted as the others are. */
	{ "g1", "mali-csf,model=g1,iface=3.3.0", 128, 1, 1, 16, 4, 14, 0x5550055 },
	{ "64 cores, 16 slices", "mali-csf,model=g710,shader_present=0x8000000000000001,l2_slices=16",
	  64, 0, 0, 0, 16, 10, 0x8000000000000001 },
	{ "no holes", "mali-csf,model=g610,shader_present=0xf,l2_slices=1", 64, 0, 0, 0, 1, 10, 0xf },
	{ "fused cores", "mali-csf,model=g610,shader_fuses=0x10005", 64, 0, 0, 0, 4, 10, 0x50005 },
	{ "g1 with fused cores", "mali-csf,model=g1,iface=3.3.0,shader_fuses=0x5500014",
	  128, 1, 1, 16, 4, 14, 0x5550055 },
	{ "events once", "mali-csf,model=g610,events_once=on,features_junk=on", 64, 0, 0, 0, 4, 10,
	  0x50005 },
};

#define NCONFIGS (sizeof(configs) / sizeof(configs[0]))

/* ---- what the counters must show ---- */

struct block {
	enum ledger_type type;
	unsigned int inst, ordinal;
	bool present;
	uint64_t units;			/* of background activity, so far */
	uint64_t added[128];
	uint64_t prev[128];		/* totals at the last sample */
};

struct expected {
	uint32_t epoch, insert, reason;
	uint64_t timestamp;
	bool metadata;
	uint32_t *words;
};

/* A sample that finds no room. */
struct no_room {
	uint64_t sequence, timestamp;
	uint32_t epoch, insert, reason;
};

static struct {
	struct vgpu g;
	const struct config *c;
	const char *qemu, *scratch;
	char ledger[300];

	struct block blocks[MAX_BLOCKS];
	unsigned int n;			/* metadata not counted */

	/* configuration, as the host programmed it */
	unsigned int slots, set;
	bool metadata;
	uint32_t masks[LEDGER_TYPES], csgs;
	uint32_t epoch, insert, extract;
	bool enabled;

	/* activity */
	bool on, counting;
	uint64_t rate, on_ns, units;	/* on_ns: counted since it was switched on */
	uint64_t at;			/* time that all this stands for */
	uint64_t cores;			/* with power */
	uint64_t active, mcu, room, pending;	/* cycles */
	uint64_t hz, hz_since, hz_cycles;	/* of the core clock */

	uint8_t *shadow;		/* the ring, as it must be */
	struct expected *samples;	/* the ledger, as it must be */
	unsigned int n_samples;
	struct no_room *no_room;	/* likewise */
	unsigned int n_no_room;
	uint64_t lost;			/* of these, those of firmware's own accord */
	uint64_t saturated;
} T;

/* ---- results ---- */

static bool failed;
static unsigned int results;

__attribute__((format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list ap;

	failed = true;
	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

static void same(uint64_t got, uint64_t want, const char *what)
{
	if (got != want)
		fail("%s: got 0x%" PRIx64 ", want 0x%" PRIx64, what, got, want);
}

static void result(const char *config, const char *name)
{
	printf("%s %u - %s: %s\n", failed ? "not ok" : "ok", ++results, config, name);
	fflush(stdout);
	failed = false;
}

/* ---- expectation ---- */

static bool has(const char *property)
{
	return strstr(T.c->device, property);
}

/* Events are not raised again at a doorbell. */
static bool once(void)
{
	return has("events_once=on");
}

static uint64_t cycles_at(uint64_t ns)
{
	return T.hz_cycles + (unsigned __int128)(ns - T.hz_since) * T.hz / 1000000000;
}

/* Bring the expectation to the present: call before anything changes. */
static void present(void)
{
	uint64_t dt = cycles_at(T.g.now) - cycles_at(T.at), units, take;

	if (T.counting && T.on) {
		T.on_ns += T.g.now - T.at;
		units = (unsigned __int128)T.on_ns * T.rate / 1000000000 - T.units;
		T.units += units;
		for (unsigned int i = 0; i < T.n; i++) {
			struct block *b = &T.blocks[i];

			if (b->type != LEDGER_SHADER || (T.cores >> b->inst & 1))
				b->units += units;
		}
		T.active += dt;
		T.room += dt;
		take = T.pending < T.room ? T.pending : T.room;
		T.mcu += take;
		T.pending -= take;
		T.room -= take;
	}
	T.at = T.g.now;
}

/* Firmware served its global doorbell. */
static void served(void)
{
	uint64_t take;

	present();
	if (!T.counting)
		return;
	T.pending += 500;
	take = T.pending < T.room ? T.pending : T.room;
	T.mcu += take;
	T.pending -= take;
	T.room -= take;
}

static void counting(bool yes)
{
	present();
	T.counting = yes;
	if (!yes)
		T.room = T.pending = 0;
}

/* Counters of CSHW whose source is neither cycles nor firmware: idle here. */
static bool named_cshw(unsigned int i)
{
	static const uint8_t old[] = {
		6, 10, 11, 12, 13, 16, 17, 18, 20, 22, 23, 24, 25, 26, 28, 30, 31, 32, 33, 34,
		36, 38, 40, 45, 48, 51, 52, 55, 56, 59, 60, 63,
	};
	static const uint8_t v13[] = {
		6, 10, 11, 12, 13, 16, 21, 32, 33, 34, 36, 38, 39, 48, 49, 50, 52, 54, 64, 65, 66,
		68, 70, 71, 80, 84, 86, 90, 92, 96, 98, 102, 104, 108, 110, 114,
	};
	const uint8_t *t = T.c->arch >= 13 ? v13 : old;
	size_t n = T.c->arch >= 13 ? sizeof(v13) : sizeof(old);

	for (size_t k = 0; k < n; k++) {
		if (t[k] == i)
			return true;
	}
	return false;
}

static uint64_t total(const struct block *b, unsigned int i)
{
	uint64_t v = b->added[i];
	uint64_t general = 1 + 64 * i + b->inst;

	if (b->type == LEDGER_CSHW && T.set == 0 && i == 4)
		return v + T.active;
	v += b->units * (1 + i + 128 * b->ordinal + 16384 * T.set);
	switch (b->type) {
	case LEDGER_CSHW:
		if (T.set == 0 && i == 5)
			v += T.mcu;
		else if (T.set == 0 && i == 14 && T.c->arch >= 13)
			v += T.mcu >> 3;
		else if (T.set || !named_cshw(i))
			v += T.active * general >> (14 + T.set);
		break;
	case LEDGER_FW:
		v += T.mcu * general >> (14 + T.set);
		break;
	default:
		break;
	}
	return v;
}

static void rebase(struct block *b)
{
	for (unsigned int i = 4; i < T.c->words; i++)
		b->prev[i] = total(b, i);
}

/* Cores that can have power. */
static uint64_t working(void)
{
	const char *fuses = strstr(T.c->device, "shader_fuses=");

	return fuses ? T.c->present & strtoull(strchr(fuses, '=') + 1, NULL, 0) : T.c->present;
}

/* From arch 14 on blocks of cores stand without gaps. */
static bool compact(void)
{
	return T.c->arch >= 14;
}

/* Physical positions of cores, up to the last one. */
static unsigned int positions(void)
{
	unsigned int n = 0;

	while (n < 64 && T.c->present >> n)
		n++;
	return n;
}

static unsigned int core_blocks(void)
{
	return compact() ? (unsigned int)__builtin_popcountll(T.c->present) : positions();
}

static void add_blocks(enum ledger_type type, unsigned int n, unsigned int ordinal)
{
	for (unsigned int i = 0; i < n; i++) {
		if (type == LEDGER_SHADER && compact() && !(T.c->present >> i & 1))
			continue;
		T.blocks[T.n++] = (struct block) {
			.type = type, .inst = i, .ordinal = ordinal + i,
			.present = type != LEDGER_SHADER || (working() >> i & 1),
		};
	}
}

static struct block *block(enum ledger_type type, unsigned int inst)
{
	for (unsigned int i = 0; i < T.n; i++) {
		if (T.blocks[i].type == type && T.blocks[i].inst == inst)
			return &T.blocks[i];
	}
	return NULL;
}

static unsigned int sample_words(void)
{
	return (T.n + T.metadata) * T.c->words;
}

static uint32_t shadow_get(unsigned int word)
{
	return ((uint32_t *)T.shadow)[word];
}

static void shadow_set(unsigned int word, uint32_t v)
{
	((uint32_t *)T.shadow)[word] = v;
}

static uint32_t mask_of(const struct block *b)
{
	uint32_t m = T.masks[b->type];

	if (b->type == LEDGER_CSG && !(T.csgs >> b->inst & 1))
		return 0;
	if (b->type == LEDGER_SHADER && !(T.cores >> b->inst & 1))
		return 0;
	if (T.set && (b->type == LEDGER_FW || b->type == LEDGER_CSG))
		return 0;
	if (!b->present || (m & 3) != 3)
		return 0;
	return T.c->words == 64 ? m & 0xffff : m;
}

/* Firmware takes a sample now. */
static void expect_sample(uint32_t reason)
{
	uint32_t bits = reason & (LEDGER_OWN_ACCORD | LEDGER_UNANSWERED);
	unsigned int words = T.c->words, slot = (T.insert & (T.slots - 1)) * sample_words();
	uint64_t timestamp = T.g.now / TICK_NS;
	struct expected *e;
	uint32_t *w;

	reason -= bits;
	/* Firmware has a reason of its own for a sample that nobody has requested. */
	if (reason != REQUESTED)
		bits |= LEDGER_OWN_ACCORD;
	present();
	T.samples = realloc(T.samples, (T.n_samples + 1) * sizeof(*T.samples));
	e = &T.samples[T.n_samples++];
	w = calloc(sample_words(), 4);
	*e = (struct expected) {
		.epoch = T.epoch, .insert = T.insert, .reason = reason | bits,
		.timestamp = timestamp, .metadata = T.metadata, .words = w,
	};
	if (T.metadata) {
		w[0] = timestamp;
		w[1] = timestamp >> 32;
		w[2] = 3;
		w[3] = reason;
		for (unsigned int i = 0; i < words; i++)
			shadow_set(slot + i, w[i]);
		w += words;
		slot += words;
	}
	for (unsigned int n = 0; n < T.n; n++, w += words, slot += words) {
		struct block *b = &T.blocks[n];
		uint32_t mask = mask_of(b);

		if (!mask)
			continue;
		w[0] = timestamp;
		w[1] = timestamp >> 32;
		w[2] = mask;
		for (unsigned int i = 4; i < words; i++) {
			uint64_t d = total(b, i) - b->prev[i];

			b->prev[i] += d;
			if (!(mask >> i / 4 & 1))
				continue;
			T.saturated += d > 0xffffffff;
			w[i] = d > 0xffffffff ? 0xffffffff : d;
		}
		for (unsigned int i = 0; i < words; i++)
			shadow_set(slot + i, w[i]);
	}
	T.room = 0;
	T.insert++;
}

/* Firmware wants to take a sample now, and there is no room. */
static void expect_no_room(uint32_t reason)
{
	T.no_room = realloc(T.no_room, (T.n_no_room + 1) * sizeof(*T.no_room));
	T.no_room[T.n_no_room++] = (struct no_room) {
		.sequence = T.n_samples, .timestamp = T.g.now / TICK_NS, .epoch = T.epoch,
		.insert = T.insert, .reason = reason | LEDGER_NO_ROOM,
	};
	T.lost += !!(reason & LEDGER_OWN_ACCORD);
	same(BENCH_GET(&T.g, LOST_AUTOS), T.lost, "samples of its own accord that found no room");
}

static const char *const type_names[] = { "metadata", "FW", "CSG", "CSHW", "TILER", "MEMSYS", "SHADER" };

static void describe(char *s, size_t n, unsigned int word)
{
	unsigned int in = word % sample_words(), blk = in / T.c->words;
	const struct block *b;

	if (T.metadata && !blk) {
		snprintf(s, n, "slot %u metadata value %u", word / sample_words(), in % T.c->words);
		return;
	}
	b = &T.blocks[blk - T.metadata];
	snprintf(s, n, "slot %u %s %u%s value %u", word / sample_words(), type_names[b->type], b->inst,
		 b->present ? "" : " (absent)", in % T.c->words);
}

/* Every word of the ring, and of the memory after it. */
static void check_ring(const char *when)
{
	unsigned int bad = 0;
	char at[128];

	for (unsigned int i = 0; i < RING_BYTES / 4; i++) {
		uint32_t got;

		/* Whole pages that agree need no closer look. */
		if (i % 1024 == 0 && !memcmp(T.g.ram + (RING_PA - RAM_BASE) + i * 4, T.shadow + i * 4, 4096)) {
			i += 1023;
			continue;
		}
		got = ram_get(&T.g, RING_PA + i * 4);
		if (got == shadow_get(i))
			continue;
		if (bad++ < 8) {
			describe(at, sizeof(at), i);
			fail("%s: %s: got 0x%08x, want 0x%08x", when, at, got, shadow_get(i));
		}
	}
	if (bad)
		fail("%s: %u words of the ring are wrong", when, bad);
	same(out_get(&T.g, OUT_INSERT), T.insert, "INSERT");
}

/* ---- the host's side ---- */

static uint32_t differ(void)
{
	return in_get(&T.g, IN_REQ) ^ out_get(&T.g, OUT_ACK);
}

static void toggle(uint32_t bits)
{
	in_set(&T.g, IN_REQ, in_get(&T.g, IN_REQ) ^ bits);
}

static void ring(void)
{
	reg_write(&T.g, DOORBELL, 1);
	vgpu_step(&T.g, LATENCY);
	served();
}

/* Clear the headers of every block that exists, then publish EXTRACT. */
static void consume_quietly(void)
{
	unsigned int words = T.c->words, at = (T.extract & (T.slots - 1)) * sample_words();

	for (unsigned int n = 0; n < T.n + T.metadata; n++, at += words) {
		if (n >= T.metadata && !T.blocks[n - T.metadata].present)
			continue;
		ram_set(&T.g, RING_PA + 4 * (at + 2), 0);
		shadow_set(at + 2, 0);
		if (n < T.metadata) {
			ram_set(&T.g, RING_PA + 4 * (at + 3), 0);
			shadow_set(at + 3, 0);
		}
	}
	T.extract++;
}

static void consume(void)
{
	while (T.extract != T.insert)
		consume_quietly();
	in_set(&T.g, IN_EXTRACT, T.extract);
	/* Acknowledged. Firmware sees it at the next doorbell. */
	toggle(differ() & (THRESHOLD | OVERFLOW));
}

static void disable(void)
{
	in_set(&T.g, IN_REQ, (in_get(&T.g, IN_REQ) & ~(ENABLE | SAMPLE | THRESHOLD | OVERFLOW)) |
	       (out_get(&T.g, OUT_ACK) & (SAMPLE | THRESHOLD | OVERFLOW)));
	ring();
	T.enabled = false;
	same(out_get(&T.g, OUT_ACK) & ENABLE, 0, "ACK.ENABLE after a disable");
}

static void program(uint32_t slots, uint32_t set, bool metadata)
{
	static const uint8_t reg[LEDGER_TYPES] = {
		[LEDGER_FW] = 0x48, [LEDGER_CSG] = 0x4c, [LEDGER_CSHW] = 0x50, [LEDGER_SHADER] = 0x54,
		[LEDGER_TILER] = 0x58, [LEDGER_MEMSYS] = 0x5c,
	};

	in_set(&T.g, IN_JASID, 0);
	in_set(&T.g, IN_BASE, RING_VA);
	in_set(&T.g, IN_BASE + 4, 0);
	in_set(&T.g, IN_EXTRACT, 0);
	in_set(&T.g, IN_CONFIG, slots | set << 8 | (metadata ? METADATA : 0));
	in_set(&T.g, IN_CSG_SELECT, T.csgs);
	for (int i = LEDGER_FW; i < LEDGER_TYPES; i++)
		in_set(&T.g, reg[i], T.masks[i]);
}

static uint32_t junk(unsigned int slot, unsigned int word)
{
	uint32_t v = 0x5a000000 | slot << 16 | word;

	return word % T.c->words == 2 ? v | 3 : v;
}

/* Disable if need be, fill the ring with a pattern, enable with these settings. */
static void enable(uint32_t slots, uint32_t set, bool metadata)
{
	if (T.enabled)
		disable();
	program(slots, set, metadata);
	T.slots = slots;
	T.set = set;
	T.metadata = metadata && T.c->meta;
	T.extract = 0;
	for (unsigned int i = 0; i < RING_BYTES / 4; i++)
		shadow_set(i, 0xc3000000 | i);
	/* A host's ring is clean where it will look. */
	for (unsigned int s = 0; s < slots; s++) {
		for (unsigned int n = 0; n < T.n + T.metadata; n++)
			shadow_set(s * sample_words() + n * T.c->words + 2, 0);
	}
	memcpy(T.g.ram + (RING_PA - RAM_BASE), T.shadow, RING_BYTES);
	out_set(&T.g, OUT_INSERT, 0x12345);

	toggle(ENABLE);
	ring();
	same(out_get(&T.g, OUT_ACK) & ENABLE, ENABLE, "ACK.ENABLE after an enable");
	T.enabled = true;
	T.epoch++;
	T.insert = 0;
	for (unsigned int n = 0; n < T.n; n++)
		rebase(&T.blocks[n]);
	T.room = 0;
	for (unsigned int s = 0; s < slots; s++) {
		for (unsigned int n = 0; n < T.n; n++) {
			for (unsigned int i = 0; !T.blocks[n].present && i < T.c->words; i++) {
				unsigned int at = (n + T.metadata) * T.c->words + i;

				shadow_set(s * sample_words() + at, junk(s, at));
			}
		}
	}
	check_ring("after the enable");
}

static void masks(uint32_t m)
{
	for (int i = LEDGER_FW; i < LEDGER_TYPES; i++)
		T.masks[i] = m;
	T.csgs = ALL;
}

/* A requested sample that must come. */
static void request(const char *what)
{
	toggle(SAMPLE);
	ring();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "SAMPLE acknowledged");
	check_ring(what);
}

static void activity(bool on, uint64_t rate)
{
	present();
	BENCH_SET(&T.g, ACTIVITY, 0);
	BENCH_SET(&T.g, RATE, rate);
	BENCH_SET(&T.g, ACTIVITY, on);
	T.on = on;
	T.rate = rate;
	T.on_ns = T.units = 0;
}

static void step(uint64_t ns)
{
	vgpu_step(&T.g, ns);
	present();
}

/* All cores up (or, held no longer, whatever becomes of them). */
static void hold_cores(void)
{
	BENCH_SET(&T.g, CORES_HOLD, 1);
	step(POWER_NS);
	T.cores = working();
	same(BENCH_GET(&T.g, SHADER_READY), T.cores, "cores with power");
}

static void add(enum ledger_type type, unsigned int inst, unsigned int counter, uint64_t amount)
{
	present();
	BENCH_SET(&T.g, TYPE, type);
	BENCH_SET(&T.g, INDEX, inst);
	BENCH_SET(&T.g, COUNTER, counter);
	same(BENCH_GET(&T.g, EXISTS), 1, "the counter exists");
	BENCH_SET(&T.g, AMOUNT, amount);
	BENCH_SET(&T.g, ADD, 1);
	block(type, inst)->added[counter] += amount;
}

/* ---- tests, in this order, on one machine ---- */

static void test_control_block(void)
{
	unsigned int unit = T.c->words * 4 / 256;
	unsigned int hw = (2 + T.c->slices + core_blocks()) * unit;
	uint32_t present = compact() ? PWR_SHADER + PWR_PRESENT : 0x100;
	unsigned int fw = (T.c->fw + T.c->csg) * unit;

	same(ram_get(&T.g, SHARED_PA + 0x18), hw | fw << 16, "perfcnt_size");
	same(ram_get(&T.g, SHARED_PA + 0x20), has("features_junk=on") ? 0xdeadbeef : T.c->meta * unit, "perfcnt_features");
	same(reg_read(&T.g, 0x68) & 0xff, T.c->arch >= 11 ? unit : 0, "PRFCNT_FEATURES");
	same((reg_read(&T.g, 0x10) >> 8 & 0xf) + 1, T.c->slices, "L2 slices");
	same(reg_read64(&T.g, present), T.c->present, "SHADER_PRESENT");
	same(out_get(&T.g, OUT_ACK) & ENABLE, 0, "ACK.ENABLE after boot");
	same(BENCH_GET(&T.g, EPOCH), 0, "enables");
}

static void test_disabled(void)
{
	masks(ALL);
	program(4, 0, true);
	toggle(SAMPLE);
	ring();
	same(differ() & SAMPLE, SAMPLE, "SAMPLE while disabled is not acknowledged");
	same(BENCH_GET(&T.g, SAMPLES), 0, "samples");
	toggle(SAMPLE);
}

static void refused(uint32_t reg, uint32_t value, const char *what)
{
	uint64_t before = BENCH_GET(&T.g, REJECTED);

	program(4, 0, true);
	in_set(&T.g, reg, value);
	toggle(ENABLE);
	ring();
	same(out_get(&T.g, OUT_ACK) & ENABLE, 0, what);
	same(BENCH_GET(&T.g, REJECTED), before + 1, what);
	same(BENCH_GET(&T.g, ENABLED), 0, what);
	toggle(ENABLE);
	ring();
}

static void test_refusals(void)
{
	refused(IN_CONFIG, 0, "an enable with 0 slots is ignored");
	refused(IN_CONFIG, 0x100 & 0xff, "256 slots are 0");
	refused(IN_CONFIG, 3, "an enable with 3 slots is ignored");
	refused(IN_CONFIG, 0xff, "an enable with 255 slots is ignored");
	refused(IN_CONFIG, 4 | 3 << 8, "an enable of set 3 is ignored");
	refused(IN_BASE, RING_VA + 1024, "an enable with a misaligned base is ignored");
	refused(IN_JASID, 8, "an enable with JASID 8 is ignored");
	same(BENCH_GET(&T.g, EPOCH), 0, "enables");
}

static void test_idle_sample(void)
{
	same(BENCH_GET(&T.g, SHADER_READY), 0, "an idle GPU's cores have no power");
	enable(4, 0, true);
	same(BENCH_GET(&T.g, EPOCH), 1, "enables");
	same(BENCH_GET(&T.g, SAMPLE_SIZE), sample_words() * 4, "sample size");
	request("the sample of an idle GPU");
	step(5000);
	request("the second sample");
	same(out_get(&T.g, OUT_STATUS), 0, "PRFCNT_STATUS");
	consume();
	check_ring("after consuming");
}

static void test_every_counter(void)
{
	hold_cores();
	activity(true, 1000000);
	step(100000);
	request("after 100 us of activity");
	step(337000);
	consume();
	request("after 337 us more");
	consume();
	activity(false, 1000000);
	step(50000);
	request("after activity ended");
	step(1000);
	request("with nothing counted");
	for (unsigned int i = 4; i < T.c->words; i++) {
		uint32_t v = T.samples[T.n_samples - 1].words[(T.metadata + T.c->fw + T.c->csg) * T.c->words + i];

		if (v)
			fail("a counter that did not count is 0x%x", v);
	}
	consume();
}

static void test_uneven_rate(void)
{
	/* Cores left out: where a unit falls between two looks is not defined for power changes. */
	activity(true, 333333);
	for (int i = 0; i < 20; i++) {
		step(12345 + 777 * i);
		request("at an uneven rate");
		consume();
	}
	activity(false, 1000000);
}

/* No two counters alike: in a sample with all of them on no value comes twice. */
static int compare(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static void test_distinct(void)
{
	uint32_t *v = malloc(sample_words() * 4);
	unsigned int n = 0;
	const uint32_t *w;

	activity(true, 1000000);
	step(10000);
	request("for distinct values");
	w = T.samples[T.n_samples - 1].words + T.metadata * T.c->words;
	for (unsigned int k = 0; k < T.n; k++, w += T.c->words) {
		for (unsigned int i = 4; T.blocks[k].present && i < T.c->words; i++) {
			/* Of these, work moves the value as well. */
			if (T.blocks[k].type == LEDGER_CSHW || T.blocks[k].type == LEDGER_FW)
				continue;
			v[n++] = w[i];
		}
	}
	qsort(v, n, 4, compare);
	for (unsigned int i = 1; i < n; i++) {
		if (v[i] == v[i - 1])
			fail("the value %u comes twice", v[i]);
	}
	if (!n || !v[0])
		fail("a counter did not count");
	free(v);
	activity(false, 1000000);
	consume();
}

static void test_threshold(void)
{
	uint64_t events;

	enable(8, 0, true);
	events = BENCH_GET(&T.g, THRESHOLDS);
	for (int i = 1; i <= 3; i++) {
		request("below the threshold");
		same(differ() & THRESHOLD, 0, "no THRESHOLD below half");
	}
	in_set(&T.g, IN_IRQ_MASK, 0);
	reg_write(&T.g, JOB_CLEAR, ALL);
	request("at the threshold");
	same(differ() & THRESHOLD, THRESHOLD, "THRESHOLD at half");
	same(reg_read(&T.g, JOB_RAWSTAT) & GLOBAL_IRQ, 0, "no interrupt while masked");
	request("above the threshold");
	same(differ() & THRESHOLD, THRESHOLD, "THRESHOLD is not raised again");
	same(BENCH_GET(&T.g, THRESHOLDS), events + 1, "THRESHOLD events");
	consume();
	same(differ() & THRESHOLD, 0, "re-armed");
	in_set(&T.g, IN_IRQ_MASK, THRESHOLD);
	for (int i = 0; i < 3; i++)
		request("after re-arming");
	same(reg_read(&T.g, JOB_RAWSTAT) & GLOBAL_IRQ, 0, "no interrupt for SAMPLE while masked");
	request("at the threshold again");
	same(reg_read(&T.g, JOB_RAWSTAT) & GLOBAL_IRQ, GLOBAL_IRQ, "THRESHOLD interrupts");
	same(BENCH_GET(&T.g, THRESHOLDS), events + 2, "THRESHOLD events");
	/* Acknowledged, and nothing consumed: again at each doorbell, but for events_once. */
	for (int i = 1; i <= 2; i++) {
		toggle(differ() & THRESHOLD);
		step(LATENCY);
		same(BENCH_GET(&T.g, THRESHOLDS), events + 1 + (once() ? 1 : i),
		     "THRESHOLD events before the doorbell");
		reg_write(&T.g, JOB_CLEAR, ALL);
		ring();
		same(differ() & THRESHOLD, once() ? 0 : THRESHOLD, "THRESHOLD at a doorbell while it lasts");
		same(reg_read(&T.g, JOB_RAWSTAT) & GLOBAL_IRQ, once() ? 0 : GLOBAL_IRQ, "and interrupts");
		same(BENCH_GET(&T.g, THRESHOLDS), events + 2 + (once() ? 0 : i), "THRESHOLD events");
	}
	events = BENCH_GET(&T.g, THRESHOLDS);
	consume();
	ring();
	same(differ() & THRESHOLD, 0, "not when the samples have been consumed");
	/* One more time, acknowledged without a doorbell, which firmware does not see. */
	for (int i = 0; i < 4; i++)
		request("for the threshold");
	same(BENCH_GET(&T.g, THRESHOLDS), ++events, "THRESHOLD events");
	consume();
	for (int i = 0; i < 5; i++) {
		BENCH_SET(&T.g, PROTM, 1);
		expect_sample(BEFORE_PROTM);
		counting(false);
		BENCH_SET(&T.g, PROTM, 0);
		counting(true);
		step(LATENCY);
		served();
	}
	same(BENCH_GET(&T.g, THRESHOLDS), events, "THRESHOLD events, acknowledged without a doorbell");
	same(differ() & THRESHOLD, 0, "which firmware has not seen");
	ring();
	same(BENCH_GET(&T.g, THRESHOLDS), events + !once(), "and sees at the next one");
	same(differ() & THRESHOLD, once() ? 0 : THRESHOLD, "where THRESHOLD is raised");
	consume();
	reg_write(&T.g, JOB_CLEAR, ALL);
	in_set(&T.g, IN_IRQ_MASK, SAMPLE);
	request("for its interrupt");
	same(reg_read(&T.g, JOB_RAWSTAT) & GLOBAL_IRQ, GLOBAL_IRQ, "SAMPLE interrupts");
	consume();
	in_set(&T.g, IN_IRQ_MASK, 0);
}

/* A sample of firmware's own accord that finds no room, and a look at the ring after it. */
static void lose_one(void)
{
	BENCH_SET(&T.g, PROTM, 1);
	expect_no_room(BEFORE_PROTM | LEDGER_OWN_ACCORD);
	counting(false);
	BENCH_SET(&T.g, PROTM, 0);
	counting(true);
	step(LATENCY);
	served();
	if (!once())
		expect_no_room(REQUESTED);
}

static void test_overflow(void)
{
	uint64_t events;

	enable(4, 0, true);
	activity(true, 1000000);
	for (int i = 0; i < 4; i++) {
		step(20000);
		request("filling the ring");
	}
	events = BENCH_GET(&T.g, OVERFLOWS);
	same(differ() & OVERFLOW, 0, "no OVERFLOW while it fitted");
	step(20000);
	toggle(SAMPLE);
	ring();
	expect_no_room(REQUESTED);
	same(differ() & SAMPLE, SAMPLE, "no acknowledgement when full");
	same(differ() & OVERFLOW, OVERFLOW, "OVERFLOW when full");
	check_ring("when full");
	ring();
	expect_no_room(REQUESTED);
	same(BENCH_GET(&T.g, OVERFLOWS), events + 1, "OVERFLOW events, unacknowledged");
	/* Acknowledged, nothing freed: told again at each doorbell, but for events_once. */
	for (int i = 1; i <= 2; i++) {
		toggle(differ() & OVERFLOW);
		step(LATENCY);
		same(BENCH_GET(&T.g, OVERFLOWS), events + (once() ? 1 : i), "OVERFLOW events, no doorbell");
		ring();
		expect_no_room(REQUESTED);
		same(BENCH_GET(&T.g, OVERFLOWS), events + 1 + (once() ? 0 : i), "OVERFLOW events, nothing freed");
		same(differ() & OVERFLOW, once() ? 0 : OVERFLOW, "OVERFLOW at a doorbell while it lasts");
		same(differ() & SAMPLE, SAMPLE, "SAMPLE stays pending");
	}
	step(30000);
	consume();
	same(differ() & SAMPLE, SAMPLE, "not looked at before a doorbell");
	step(10000);
	check_ring("before the doorbell");
	ring();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "taken when there is room");
	check_ring("the pending sample, with all that was counted meanwhile");
	consume();
	/* Hostile EXTRACT: ahead of INSERT. */
	in_set(&T.g, IN_EXTRACT, T.insert + 1);
	toggle(SAMPLE);
	ring();
	expect_no_room(REQUESTED);
	same(differ() & SAMPLE, SAMPLE, "an EXTRACT ahead of INSERT is a full ring");
	in_set(&T.g, IN_EXTRACT, T.extract);
	ring();
	expect_sample(REQUESTED);
	check_ring("EXTRACT put right");
	consume();
	/* The bench page's full ring. */
	BENCH_SET(&T.g, RING_FULL, 1);
	toggle(SAMPLE);
	ring();
	expect_no_room(REQUESTED);
	same(differ() & (SAMPLE | OVERFLOW), SAMPLE | OVERFLOW, "the bench page's full ring");
	BENCH_SET(&T.g, RING_FULL, 0);
	toggle(OVERFLOW);
	ring();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "and its end");
	check_ring("after the bench page's full ring");
	consume();
	/* A sample of its own accord is lost, and that is told again while the ring stays full. */
	events = BENCH_GET(&T.g, OVERFLOWS);
	BENCH_SET(&T.g, RING_FULL, 1);
	ring();
	same(differ() & OVERFLOW, 0, "no OVERFLOW before a sample has found no room");
	lose_one();
	same(differ() & OVERFLOW, OVERFLOW, "OVERFLOW for a sample of its own accord");
	toggle(OVERFLOW);
	lose_one();
	same(differ() & OVERFLOW, 0, "no OVERFLOW again before a doorbell");
	same(BENCH_GET(&T.g, OVERFLOWS), events + 1, "OVERFLOW events");
	ring();
	if (!once())
		expect_no_room(REQUESTED);
	same(differ() & OVERFLOW, once() ? 0 : OVERFLOW, "OVERFLOW at the doorbell");
	same(BENCH_GET(&T.g, OVERFLOWS), events + 1 + !once(), "OVERFLOW events");
	BENCH_SET(&T.g, RING_FULL, 0);
	toggle(differ() & OVERFLOW);
	ring();
	same(differ() & OVERFLOW, 0, "no OVERFLOW when there is room");
	BENCH_SET(&T.g, RING_FULL, 1);
	ring();
	same(differ() & OVERFLOW, 0, "nor when there is none, and no sample has found so");
	BENCH_SET(&T.g, RING_FULL, 0);
	request("after what was lost");
	consume();
	activity(false, 1000000);
}

static void test_wrap(void)
{
	static const uint32_t slots[] = { 1, 2, 128 };

	activity(true, 1000000);
	for (unsigned int k = 0; k < 3; k++) {
		enable(slots[k], 0, true);
		for (uint32_t i = 0; i < slots[k] + 3; i++) {
			step(3000);
			toggle(SAMPLE);
			ring();
			expect_sample(REQUESTED);
			consume();
		}
		check_ring("after the ring went round");
		same(T.insert, slots[k] + 3, "INSERT is not masked");
	}
	activity(false, 1000000);
}

static void test_saturation(void)
{
	unsigned int last = T.c->words - 1;

	enable(4, 0, true);
	add(LEDGER_TILER, 0, last, 0xffffffff);
	add(LEDGER_MEMSYS, T.c->slices - 1, 4, 0x100000000);
	add(LEDGER_SHADER, 63 - __builtin_clzll(working()), last, 0xfffffffffffff);
	add(LEDGER_CSHW, 0, 7, 0xfffffffe);
	request("at and over 32 bits");
	consume();
	add(LEDGER_TILER, 0, last, 3);
	add(LEDGER_MEMSYS, T.c->slices - 1, 4, 5);
	add(LEDGER_SHADER, 63 - __builtin_clzll(working()), last, 7);
	request("after saturating");
	consume();
	same(BENCH_GET(&T.g, SATURATED), T.saturated, "saturated values");
	same(T.saturated, 2, "saturated values expected");
	BENCH_SET(&T.g, TYPE, LEDGER_TILER);
	BENCH_SET(&T.g, COUNTER, 3);
	same(BENCH_GET(&T.g, EXISTS), 0, "a header is no counter");
	BENCH_SET(&T.g, COUNTER, T.c->words);
	same(BENCH_GET(&T.g, EXISTS), 0, "past the block is no counter");
}

static void test_masks(void)
{
	static const uint32_t some[] = { 3, 0x7, 0x8003, 0x80000003, 0x5557, 0xaaaaaaab };

	activity(true, 1000000);
	for (unsigned int k = 0; k < 6; k++) {
		for (int t = LEDGER_FW; t < LEDGER_TYPES; t++)
			T.masks[t] = some[(k + t) % 6];
		T.csgs = 0xa5 >> k;
		enable(4, 0, true);
		step(20000);
		request("with some masks");
		consume();
		step(20000);
		request("with the same again");
		consume();
	}
	/* No sample of a block without the two lowest bits. */
	for (unsigned int k = 0; k < 4; k++) {
		static const uint32_t low[] = { 0, 0xfffffffc, 0xfffffffd, 0xfffffffe };

		for (int t = LEDGER_FW; t < LEDGER_TYPES; t++)
			T.masks[t] = (k + t) % 3 ? ALL : low[k];
		enable(2, 0, true);
		step(20000);
		request("with blocks not written");
		consume();
	}
	masks(ALL);
	activity(false, 1000000);
}

static void test_sets(void)
{
	activity(true, 1000000);
	for (unsigned int set = 1; set <= 2; set++) {
		enable(4, set, true);
		same(BENCH_GET(&T.g, SET), set, "set");
		step(40000);
		request("of another set");
		step(13000);
		request("of the same set");
		consume();
	}
	enable(4, 0, true);
	step(20000);
	request("of the primary set again");
	consume();
	activity(false, 1000000);
}

static void test_no_metadata(void)
{
	enable(4, 0, false);
	same(BENCH_GET(&T.g, SAMPLE_SIZE), sample_words() * 4, "sample size without metadata");
	activity(true, 1000000);
	step(20000);
	request("without metadata");
	activity(false, 1000000);
	consume();
}

static void test_disable_discards(void)
{
	unsigned int before = T.n_samples;

	enable(4, 0, true);
	activity(true, 1000000);
	step(20000);
	request("before the disable");
	consume();
	step(50000);
	disable();
	same(BENCH_GET(&T.g, SAMPLES), before + 1, "a disable writes no sample");
	check_ring("after the disable");
	step(50000);
	enable(4, 0, true);
	step(20000);
	request("after the enable: nothing from before it");
	consume();
	/* Settings that change while enabled change nothing. */
	in_set(&T.g, IN_CONFIG, 2 | 1 << 8);
	in_set(&T.g, IN_BASE, RING_VA + 0x800000);
	in_set(&T.g, 0x50, 3);
	in_set(&T.g, 0x54, 0);
	step(20000);
	request("with registers changed and no enable");
	consume();
	activity(false, 1000000);
}

static void test_protm(void)
{
	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	/* A request is outstanding at entry. */
	toggle(SAMPLE);
	reg_write(&T.g, DOORBELL, 1);
	step(LATENCY / 2);
	BENCH_SET(&T.g, PROTM, 1);
	expect_sample(BEFORE_PROTM);
	counting(false);
	same(reg_read(&T.g, 0x34) >> 7 & 1, 1, "GPU_STATUS bit 7");
	same(differ() & SAMPLE, 0, "the entry sample completes the request");
	check_ring("at entry");
	step(LATENCY);
	toggle(SAMPLE | PING);
	ring();
	same(differ() & PING, 0, "PING is answered in protected mode");
	same(differ() & SAMPLE, SAMPLE, "SAMPLE is not");
	step(300000);
	check_ring("in protected mode");
	BENCH_SET(&T.g, PROTM, 0);
	counting(true);
	same(reg_read(&T.g, 0x34) >> 7 & 1, 0, "GPU_STATUS bit 7 after it");
	step(LATENCY);
	served();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "answered after it");
	check_ring("after protected mode: nothing of it counted");
	consume();
	step(20000);
	request("after it");
	consume();
	/* Requested without a doorbell: not seen at entry, and not when it ends. */
	step(20000);
	toggle(SAMPLE);
	BENCH_SET(&T.g, PROTM, 1);
	expect_sample(BEFORE_PROTM);
	counting(false);
	same(differ() & SAMPLE, SAMPLE, "a request without a doorbell at entry");
	same((BENCH_GET(&T.g, REQ) ^ in_get(&T.g, IN_REQ)), SAMPLE, "REQ as firmware knows it");
	step(LATENCY);
	BENCH_SET(&T.g, PROTM, 0);
	counting(true);
	step(LATENCY);
	served();
	same(differ() & SAMPLE, SAMPLE, "and when protected mode has ended");
	check_ring("without a doorbell");
	ring();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "but at the doorbell");
	same(BENCH_GET(&T.g, REQ), in_get(&T.g, IN_REQ), "REQ as firmware knows it then");
	check_ring("with one");
	consume();
	/* Disabled: no sample. */
	disable();
	BENCH_SET(&T.g, PROTM, 1);
	counting(false);
	step(1000);
	BENCH_SET(&T.g, PROTM, 0);
	counting(true);
	step(LATENCY);
	served();
	same(BENCH_GET(&T.g, SAMPLES), T.n_samples, "no entry sample while disabled");
	activity(false, 1000000);
}

static void test_sleep(void)
{
	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	BENCH_SET(&T.g, SLEEP, 1);
	expect_sample(BEFORE_SLEEP);
	counting(false);
	T.cores = 0;
	check_ring("before sleep");
	step(500000);
	same(BENCH_GET(&T.g, SLEEP), 1, "asleep");
	BENCH_SET(&T.g, SLEEP, 0);
	counting(true);
	expect_sample(WARM_BOOT);
	same(out_get(&T.g, OUT_ACK) & ENABLE, ENABLE, "ACK.ENABLE after a warm boot");
	same(BENCH_GET(&T.g, EPOCH), T.epoch, "no new enable");
	served();
	check_ring("after the warm boot");
	step(POWER_NS);
	/* Cores are held: firmware powers them up again. */
	T.cores = working();
	same(BENCH_GET(&T.g, SHADER_READY), T.cores, "cores with power");
	step(20000);
	request("after the warm boot");
	consume();
	/* A doorbell wakes too, and is answered. */
	BENCH_SET(&T.g, SLEEP, 1);
	expect_sample(BEFORE_SLEEP);
	counting(false);
	T.cores = 0;
	step(100000);
	toggle(SAMPLE);
	reg_write(&T.g, DOORBELL, 1);
	vgpu_step(&T.g, LATENCY);
	counting(true);
	expect_sample(WARM_BOOT);
	served();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "the doorbell that wakes is answered");
	check_ring("woken by a doorbell");
	consume();
	step(POWER_NS);
	T.cores = working();
	activity(false, 1000000);
}

/* Totals of a core that loses power: sampled or lost, not kept. */
static void cores_down(uint64_t which)
{
	present();
	T.cores &= ~which;
	for (unsigned int n = 0; n < T.n; n++) {
		if (T.blocks[n].type == LEDGER_SHADER && (which >> T.blocks[n].inst & 1))
			rebase(&T.blocks[n]);
	}
}

static void test_power(void)
{
	uint64_t low = working() & -working();

	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	BENCH_SET(&T.g, CORES_OFF, low);
	expect_sample(REQUESTED | LEDGER_OWN_ACCORD);
	cores_down(low);
	check_ring("before a core's power goes");
	step(8000);
	request("while a core's power goes");
	consume();
	step(40000);
	same(BENCH_GET(&T.g, SHADER_READY), working() & ~low, "cores with power");
	request("with a core off");
	consume();
	request("with a core off, consumed: its header stays clear");
	consume();
	BENCH_SET(&T.g, CORES_OFF, 0);
	step(POWER_NS);
	T.cores |= low;
	same(BENCH_GET(&T.g, SHADER_READY), working(), "cores with power");
	step(20000);
	request("with the core on again");
	consume();
	/* No room for the power-down sample: the core's counts are lost, the others' are not. */
	BENCH_SET(&T.g, RING_FULL, 1);
	step(20000);
	BENCH_SET(&T.g, CORES_OFF, low);
	expect_no_room(REQUESTED | LEDGER_OWN_ACCORD);
	same(differ() & OVERFLOW, OVERFLOW, "OVERFLOW for a sample of its own accord");
	cores_down(low);
	step(POWER_NS);
	BENCH_SET(&T.g, RING_FULL, 0);
	BENCH_SET(&T.g, CORES_OFF, 0);
	step(POWER_NS);
	T.cores |= low;
	toggle(OVERFLOW);
	step(20000);
	request("after a lost power-down sample");
	consume();
	/* Idle cores go down by themselves, with a sample. */
	BENCH_SET(&T.g, CORES_HOLD, 0);
	vgpu_step(&T.g, IDLE_OFF_NS);
	expect_sample(REQUESTED | LEDGER_OWN_ACCORD);
	cores_down(ALL | (uint64_t)ALL << 32);
	check_ring("before idle cores power down");
	step(POWER_NS);
	same(BENCH_GET(&T.g, SHADER_READY), 0, "idle cores have no power");
	step(20000);
	request("without cores");
	consume();
	hold_cores();
	step(20000);
	request("with cores");
	consume();
	activity(false, 1000000);
}

static void test_misbehaviour(void)
{
	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	BENCH_SET(&T.g, DROP_SAMPLES, 1);
	toggle(SAMPLE);
	ring();
	ring();
	same(differ() & SAMPLE, SAMPLE, "a dropped SAMPLE is never answered");
	check_ring("after a dropped SAMPLE");
	same(BENCH_GET(&T.g, DROPPED), 1, "dropped");
	toggle(SAMPLE);
	ring();
	step(20000);
	request("after a dropped SAMPLE: nothing is lost");
	consume();
	BENCH_SET(&T.g, DROP_SAMPLE_ACKS, 1);
	step(20000);
	toggle(SAMPLE);
	ring();
	expect_sample(REQUESTED | LEDGER_UNANSWERED);
	same(differ() & SAMPLE, SAMPLE, "a dropped acknowledgement");
	check_ring("the sample is there all the same");
	ring();
	check_ring("and is not taken twice");
	toggle(SAMPLE);
	ring();
	consume();
	BENCH_SET(&T.g, ACK_DELAY, 100000);
	toggle(SAMPLE);
	reg_write(&T.g, DOORBELL, 1);
	step(LATENCY + 99999);
	same(differ() & SAMPLE, SAMPLE, "a slow acknowledgement");
	step(1);
	served();
	expect_sample(REQUESTED);
	same(differ() & SAMPLE, 0, "which comes");
	check_ring("when slow");
	consume();
	BENCH_SET(&T.g, ACK_DELAY, 0);
	BENCH_SET(&T.g, INSERT_SKEW, 0x80000000);
	BENCH_SET(&T.g, INSERT_SKEW_ON, 1);
	step(20000);
	toggle(SAMPLE);
	ring();
	expect_sample(REQUESTED);
	same(out_get(&T.g, OUT_INSERT), T.insert + 0x80000000, "nonsense INSERT");
	BENCH_SET(&T.g, INSERT_SKEW_ON, 0);
	request("with the right INSERT again");
	consume();
	activity(false, 1000000);
}

/* From now on the core clock does. */
static void runs_at(uint64_t hz)
{
	T.hz_cycles = cycles_at(T.g.now);
	T.hz_since = T.g.now;
	T.hz = hz;
	same(BENCH_GET(&T.g, CORE_REAL_HZ), hz, "real rate");
}

static void test_clock_change(void)
{
	enable(4, 0, true);
	activity(true, 1000000);
	step(20000);
	request("at the first rate");
	present();
	vgpu_clock_set(&T.g, 0, 100000000);
	runs_at(100000000);
	step(20000);
	request("at the second rate");
	/* Not at the rate that the board has set. */
	BENCH_SET(&T.g, REAL_RATE, 851);
	runs_at(85100000);
	same(BENCH_GET(&T.g, CORE_HZ), 100000000, "rate set");
	step(20000);
	request("at a real rate of 0.851");
	same(BENCH_GET(&T.g, CORE_CYCLES), cycles_at(T.g.now), "core clock cycles");
	consume();
	activity(false, 1000000);
}

static void test_halt(void)
{
	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	toggle(HALT);
	ring();
	expect_sample(BEFORE_HALT);
	counting(false);
	T.cores = 0;
	same(reg_read(&T.g, MCU_STATUS), 2, "MCU_STATUS after HALT");
	check_ring("before halt");
	step(100000);
	vgpu_mcu_stop(&T.g);
	/* What firmware wrote is still there for the host. */
	check_ring("after the MCU stopped");
	toggle(HALT);
	in_set(&T.g, IN_REQ, in_get(&T.g, IN_REQ) & ~ENABLE);
	toggle(differ() & (SAMPLE | THRESHOLD | OVERFLOW));
	same(vgpu_mcu_start(&T.g), true, "a cold boot");
	T.enabled = false;
	counting(true);
	served();
	same(out_get(&T.g, OUT_ACK) & ENABLE, 0, "ACK.ENABLE after a cold boot");
	same(BENCH_GET(&T.g, ENABLED), 0, "counters after a cold boot");
	step(POWER_NS);
	T.cores = working();
	step(20000);
	enable(8, 0, true);
	step(20000);
	request("after a cold boot");
	consume();
	activity(false, 1000000);
}

static void test_reset(void)
{
	enable(8, 0, true);
	activity(true, 1000000);
	step(20000);
	/* A hang first: nothing is answered, nothing is taken. */
	BENCH_SET(&T.g, HANG, 1);
	toggle(SAMPLE | PING);
	reg_write(&T.g, DOORBELL, 1);
	step(100000);
	same(differ() & (SAMPLE | PING), SAMPLE | PING, "hung firmware answers nothing");
	check_ring("hung");
	counting(false);
	T.cores = 0;
	vgpu_soft_reset(&T.g);
	same(BENCH_GET(&T.g, ENABLED), 0, "counters after a reset");
	in_set(&T.g, IN_REQ, 0);
	out_set(&T.g, OUT_ACK, 0);
	T.at = T.g.now;
	/* Not counting until firmware is up. */
	same(vgpu_mcu_start(&T.g), true, "boot after a reset");
	T.enabled = false;
	counting(true);
	served();
	step(POWER_NS);
	T.cores = working();
	step(20000);
	check_ring("after the reset");
	enable(8, 0, true);
	step(20000);
	request("after the reset");
	consume();
	activity(false, 1000000);
}

/* The bench page's totals are the ledger's sums. */
static void test_totals(void)
{
	for (unsigned int n = 0; n < T.n; n++) {
		struct block *b = &T.blocks[n];

		if (!b->present)
			continue;
		/* Every eighth: each is three accesses. */
		for (unsigned int i = 4 + n % 8; i < T.c->words; i += 8) {
			uint64_t sum = 0, got;

			for (unsigned int k = 0; k < T.n_samples; k++) {
				struct expected *e = &T.samples[k];

				sum += e->words[(n + e->metadata) * T.c->words + i];
			}
			BENCH_SET(&T.g, TYPE, b->type);
			BENCH_SET(&T.g, INDEX, b->inst);
			BENCH_SET(&T.g, COUNTER, i);
			got = BENCH_GET(&T.g, EMITTED);
			if (got != sum)
				fail("%s %u counter %u: emitted %" PRIu64 ", the samples have %" PRIu64,
				     type_names[b->type], b->inst, i, got, sum);
		}
	}
	same(BENCH_GET(&T.g, SAMPLES), T.n_samples, "samples");
}

static void test_fault(void)
{
	uint64_t faults = BENCH_GET(&T.g, FAULTS), emitted;
	uint32_t size = sample_words() * 4;

	enable(4, 0, true);
	activity(true, 1000000);
	step(20000);
	request("in a slot that is mapped");
	/* CSHW of the next slot's sample is the first thing to fault, or its metadata. */
	for (uint32_t at = size & ~0xfffu; at < 4 * size; at += 4096)
		vgpu_unmap(&T.g, RING_VA + at);
	vgpu_as_update(&T.g);
	present();
	step(20000);
	BENCH_SET(&T.g, TYPE, LEDGER_CSHW);
	BENCH_SET(&T.g, INDEX, 0);
	BENCH_SET(&T.g, COUNTER, 7);
	emitted = BENCH_GET(&T.g, EMITTED);
	toggle(SAMPLE);
	ring();
	present();
	same(BENCH_GET(&T.g, EMITTED), emitted, "total in samples after one that was lost");
	same(reg_read(&T.g, MMU_RAWSTAT) & 1, 1, "an MMU fault of address space 0");
	same(BENCH_GET(&T.g, FAULTS), faults + 1, "samples lost to a fault");
	same(BENCH_GET(&T.g, SAMPLES), T.n_samples, "no sample");
	same(differ() & SAMPLE, SAMPLE, "no acknowledgement");
	check_ring("after the fault");
}

static void test_ledger(void)
{
	struct ledger *l;
	struct ledger_record r;
	unsigned int n = 0, k = 0;
	int status = vgpu_stop(&T.g), got;

	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fail("QEMU ends with status 0x%x", status);
	l = ledger_open(T.ledger);
	if (!l) {
		fail("no ledger");
		return;
	}
	while ((got = ledger_next(l, &r)) > 0 && (ledger_no_room(&r) ? k < T.n_no_room : n < T.n_samples)) {
		struct expected *e = &T.samples[n];
		uint32_t words = (T.n + e->metadata) * T.c->words;

		if (ledger_no_room(&r)) {
			struct no_room *f = &T.no_room[k++];

			same(r.sequence, f->sequence, "ledger, no room: sequence");
			same(n, f->sequence, "ledger, no room: samples before it");
			same(r.epoch, f->epoch, "ledger, no room: epoch");
			same(r.insert, f->insert, "ledger, no room: INSERT");
			same(r.reason, f->reason, "ledger, no room: reason");
			same(r.timestamp, f->timestamp, "ledger, no room: timestamp");
			same(r.size, 0, "ledger, no room: size");
			if (failed)
				break;
			continue;
		}
		same(r.epoch, e->epoch, "ledger: epoch");
		same(r.insert, e->insert, "ledger: INSERT");
		same(r.reason, e->reason, "ledger: reason");
		same(r.timestamp, e->timestamp, "ledger: timestamp");
		same(r.size, words * 4, "ledger: size");
		for (unsigned int i = 0; i < words && r.size == words * 4 && !failed; i++) {
			uint32_t v;

			memcpy(&v, r.blocks + 4 * i, 4);
			if (v != e->words[i])
				fail("ledger: record %u word %u: got 0x%08x, want 0x%08x", n, i, v, e->words[i]);
		}
		if (failed)
			break;
		n++;
	}
	if (got)
		fail("ledger: %s after %u records", got < 0 ? "broken" : "more records", n + k);
	same(n, T.n_samples, "ledger: samples");
	same(k, T.n_no_room, "ledger: samples that found no room");
	ledger_close(l);
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "the control block and registers give the sizes", test_control_block },
	{ "nothing happens while disabled", test_disabled },
	{ "enables that firmware cannot use are ignored", test_refusals },
	{ "an idle GPU's samples", test_idle_sample },
	{ "every counter of every block under activity", test_every_counter },
	{ "fractions of a unit are carried", test_uneven_rate },
	{ "no two counters count alike", test_distinct },
	{ "THRESHOLD", test_threshold },
	{ "a full ring, OVERFLOW, and a pending SAMPLE", test_overflow },
	{ "rings of 1, 2 and 128 slots go round", test_wrap },
	{ "counters saturate at 32 bits and clear", test_saturation },
	{ "enable masks, a bit a four counters; CSG_SELECT", test_masks },
	{ "secondary and tertiary set", test_sets },
	{ "without PRFCNT_CONFIG bit 10 no metadata", test_no_metadata },
	{ "disable discards; settings are latched by an enable", test_disable_discards },
	{ "protected mode", test_protm },
	{ "sleep and warm boot", test_sleep },
	{ "core power", test_power },
	{ "dropped and slow answers, nonsense indices", test_misbehaviour },
	{ "GPU_ACTIVE over a change of the clock", test_clock_change },
	{ "halt and cold boot", test_halt },
	{ "hang and reset", test_reset },
	{ "totals of the bench page", test_totals },
	{ "a fault in the ring", test_fault },
	{ "every word of the ledger", test_ledger },
};

#define NTESTS (sizeof(tests) / sizeof(tests[0]))

static bool start(const struct config *c)
{
	char device[600];
	const char *qemu = T.qemu, *scratch = T.scratch;

	for (unsigned int i = 0; i < T.n_samples; i++)
		free(T.samples[i].words);
	free(T.samples);
	free(T.no_room);
	free(T.shadow);
	memset(&T, 0, sizeof(T));
	T.qemu = qemu;
	T.scratch = scratch;
	T.c = c;
	T.shadow = malloc(RING_BYTES);
	T.hz = 150000000;
	snprintf(T.ledger, sizeof(T.ledger), "%s/ledger", scratch);
	/* Tests hold firmware's answers back by protected mode: none but theirs are counted. */
	snprintf(device, sizeof(device), "%s,protm_end=off,ledger=%s", c->device, T.ledger);
	add_blocks(LEDGER_FW, c->fw, 0);
	add_blocks(LEDGER_CSG, c->csg, 1);
	add_blocks(LEDGER_CSHW, 1, 32);
	add_blocks(LEDGER_TILER, 1, 33);
	add_blocks(LEDGER_MEMSYS, c->slices, 34);
	add_blocks(LEDGER_SHADER, positions(), 50);
	if (!vgpu_start(&T.g, qemu, device, scratch))
		return false;
	T.at = T.g.now;
	if (!vgpu_boot(&T.g)) {
		printf("# firmware does not boot: MCU_STATUS %u\n", reg_read(&T.g, MCU_STATUS));
		vgpu_stop(&T.g);
		return false;
	}
	counting(true);
	served();
	return true;
}

/* ---- speed ---- */

static double cpu_seconds(pid_t pid)
{
	char path[64], line[1024], *p;
	unsigned long user, sys;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	f = fopen(path, "r");
	if (!f || !fgets(line, sizeof(line), f))
		return 0;
	fclose(f);
	p = strrchr(line, ')');
	sscanf(p + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &sys);
	return (double)(user + sys) / sysconf(_SC_CLK_TCK);
}

/*
 * Requests by the thousand, everything on and every core counting. The time is
 * the whole process's, with the test protocol in it: the model is faster.
 */
static int speed(void)
{
	enum { BATCH = 500, ROUNDS = 40 };
	char *lines = malloc(BATCH * 256);

	printf("# firmware samples a second of CPU time, all counters on, ledger written\n");
	for (unsigned int k = 0; k < NCONFIGS; k++) {
		uint32_t req, sampled;
		double before;

		if (!start(&configs[k]))
			return 1;
		masks(ALL);
		enable(128, 0, true);
		hold_cores();
		activity(true, 1000000);
		req = in_get(&T.g, IN_REQ);
		before = cpu_seconds(T.g.pid);
		for (unsigned int r = 0; r < ROUNDS; r++) {
			char *p = lines;

			for (unsigned int i = 0; i < BATCH; i++) {
				req ^= SAMPLE;
				p += sprintf(p, "writel 0x%x 0x%x\nwritel 0x%x 0x%x\nwritel 0x%" PRIx64 " 1\nclock_step 10000\n",
					     SHARED_PA + T.g.glb_in + IN_REQ, req,
					     SHARED_PA + T.g.glb_in + IN_EXTRACT, r * BATCH + i,
					     T.g.regs + DOORBELL);
			}
			vgpu_batch(&T.g, lines, 4 * BATCH);
		}
		sampled = out_get(&T.g, OUT_INSERT);
		if (sampled != BATCH * ROUNDS) {
			printf("# %s: %u samples of %u\n", configs[k].name, sampled, BATCH * ROUNDS);
			return 1;
		}
		printf("%-30s %6u bytes a sample %10.0f samples/s\n", configs[k].name, sample_words() * 4,
		       sampled / (cpu_seconds(T.g.pid) - before));
		fflush(stdout);
		vgpu_stop(&T.g);
	}
	free(lines);
	return 0;
}

int main(int argc, char **argv)
{
	bool bench = argc > 1 && !strcmp(argv[1], "-b");

	if (argc != 3 + bench) {
		fprintf(stderr, "usage: counters [-b] QEMU SCRATCH-DIRECTORY\n");
		return 2;
	}
	T.qemu = argv[1 + bench];
	T.scratch = argv[2 + bench];
	if (bench)
		return speed();

	printf("1..%zu\n", NCONFIGS * NTESTS);
	for (unsigned int k = 0; k < NCONFIGS; k++) {
		bool up = start(&configs[k]);

		for (unsigned int i = 0; i < NTESTS; i++) {
			if (up)
				tests[i].run();
			else
				fail("there is no GPU to test");
			result(configs[k].name, tests[i].name);
		}
	}
	return 0;
}
