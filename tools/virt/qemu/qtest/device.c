// SPDX-License-Identifier: MIT
/*
 * The virtual Mali without a driver, or with a bad one: what a guest must not
 * be able to do to QEMU, and what firmware does where a good driver seldom
 * leads it
 *
 *   device QEMU SCRATCH
 *
 * Each test has a QEMU of its own, and a process of its own: when QEMU dies or
 * does not answer, that test has failed and the next one runs.
 */
#include <endian.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../guest/cs.h"
#include "../mali-csf-bench-regs.h"
#include "vgpu.h"

/* Seconds of the host's after which a QEMU that does not answer hangs. */
#define PATIENCE	60

#define GPU_IRQ_RAWSTAT	0x20
#define GPU_IRQ_CLEAR	0x24
#define GPU_IRQ_FAULT	(1u << 0)
#define GPU_IRQ_CLEAN	(1u << 17)
#define GPU_COMMAND	0x30
#define GPU_FAULT_ADDR	0x40
#define CYCLE_COUNT	0x90
#define MCU_STATUS	0x704
#define JOB_IRQ_RAWSTAT	0x1000
#define JOB_IRQ_CLEAR	0x1004
#define DOORBELL(n)	(0x80000 + 0x10000 * (n))
#define JOB_IRQ_MASK	0x1008
#define COHERENCY	0x304
#define LATEST_FLUSH	0x10000
#define L2_READY	0x160
#define L2_PWRON	0x1a0
#define L2_PWROFF	0x1e0
#define TRANSTAB(as)	(0x2400 + 0x40 * (as))
#define MEMATTR(as)	(0x2400 + 0x40 * (as) + 0x08)
#define COMMAND(as)	(0x2400 + 0x40 * (as) + 0x18)
#define STATUS(as)	(0x2400 + 0x40 * (as) + 0x28)
#define FAULTSTATUS(as)	(0x2400 + 0x40 * (as) + 0x1c)

enum { MCU_DISABLED, MCU_ENABLED, MCU_HALTED, MCU_FATAL };

/* Global input and output block */
#define IN_REQ			0x00
#define IN_ACK_IRQ_MASK		0x04
#define IN_DB_REQ		0x08
#define IN_PROGRESS_TIMER	0x10
#define IN_JASID		0x24
#define IN_BASE			0x28
#define IN_EXTRACT		0x30
#define IN_CONFIG		0x40
#define IN_CSHW_EN		0x50
#define OUT_ACK			0x00
#define OUT_DB_ACK		0x08
#define OUT_HALT_STATUS		0x10
#define OUT_INSERT		0x18

#define GLB_HALT		(1u << 0)
#define GLB_PROGRESS_TIMER	(1u << 1)
#define GLB_ENABLE		(1u << 5)
#define GLB_SAMPLE		(1u << 6)
#define GLB_COUNTER_EN		(1u << 7)
#define GLB_PING		(1u << 8)
#define GLB_OVERFLOW		(1u << 25)

/* The bench page's type of a block, and counters of it */
#define TYPE_CSHW		3
#define GPU_ITER_ACTIVE		6
#define GPU_IRQ_COUNT		11
#define ITER_FRAG_ACTIVE	32
#define ITER_FRAG_JOB_COMPLETED	33
#define TYPE_SHADER		6
#define FRAG_ACTIVE		4

/* Group control, input and output block */
#define GROUP_CTRL(g)		(SHARED_PA + 0x1000 + (g) * 0x400)
#define STREAM_CTRL(g, c)	(GROUP_CTRL(g) + 0x40 + (c) * 0x10)
#define CSG_REQ			0x00
#define CSG_DB_REQ		0x08
#define CSG_ALLOW_COMPUTE	0x20
#define CSG_ALLOW_FRAGMENT	0x28
#define CSG_ALLOW_OTHER		0x30
#define CSG_EP_REQ		0x34
#define CSG_CONFIG		0x50
#define CSG_PROGRESS		(1u << 31)
/* Stream input and output block */
#define CS_REQ			0x00
#define CS_CONFIG		0x04
#define CS_RING_BASE		0x10
#define CS_RING_SIZE		0x18
#define CS_RING_INPUT		0x30
#define CS_RING_OUTPUT		0x38
#define CS_TILER_OOM		(1u << 26)
#define CS_FATAL		(1u << 30)
#define CS_FAULT		(1u << 31)
#define CS_OUT_FATAL		0x84
#define CS_OUT_FATAL_INFO	0x90
#define BUS_FAULT		0x48

/* What the tests put where in the 16 MiB at RING_VA */
#define STREAM_RING		0x000000	/* 4 KiB of instructions */
#define STREAM_IN		0x010000	/* the ring's input block */
#define STREAM_OUT		0x011000
#define DATA			0x020000
#define HEAP			0x030000	/* heap context */
#define TILER			0x031000	/* tiler context */
#define TILER_HEAP		0x032000	/* tiler heap descriptor */
#define COUNTERS		0x100000	/* counter ring */
/* A sample of the G610: CSHW, tiler, 4 slices, 19 positions of cores */
#define COUNTERS_BYTES		(25 * 256)

static struct vgpu G;
static const char *qemu, *scratch;
static bool failed;
/* Instructions of stream 0 of group 0 so far. */
static uint64_t inserted;

__attribute__((format(printf, 1, 2)))
static void fail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("# ", stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	failed = true;
}

static void same(uint64_t got, uint64_t want, const char *what)
{
	if (got != want)
		fail("%s: got 0x%" PRIx64 ", want 0x%" PRIx64, what, got, want);
}

static void at_most(uint64_t got, uint64_t most, const char *what)
{
	if (got > most)
		fail("%s: got %" PRIu64 ", want at most %" PRIu64, what, got, most);
}

static void begin(const char *device)
{
	if (!vgpu_start(&G, qemu, device, scratch) || !vgpu_boot(&G)) {
		fail("no GPU to test");
		exit(1);
	}
}

static uint32_t data_get(uint32_t off)
{
	return ram_get(&G, RING_PA + off);
}

static void data_set(uint32_t off, uint32_t v)
{
	ram_set(&G, RING_PA + off, v);
}

static void data_set64(uint32_t off, uint64_t v)
{
	data_set(off, v);
	data_set(off + 4, v >> 32);
}

/* ---- requests ---- */

static void doorbell(void)
{
	reg_write(&G, DOORBELL(0), 1);
	vgpu_step(&G, 10000);
}

static bool open_request(uint32_t bit)
{
	return (in_get(&G, IN_REQ) ^ out_get(&G, OUT_ACK)) & bit;
}

static void request(uint32_t bit)
{
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ bit);
	doorbell();
}

static void alive(const char *when)
{
	request(GLB_PING);
	if (open_request(GLB_PING))
		fail("%s: firmware does not answer, MCU_STATUS %u", when, reg_read(&G, MCU_STATUS));
}

/* Counters with a ring of two slots, not asked for yet. */
static void program_counters(unsigned int as)
{
	in_set(&G, IN_JASID, as);
	in_set(&G, IN_BASE, RING_VA + COUNTERS);
	in_set(&G, IN_BASE + 4, 0);
	in_set(&G, IN_EXTRACT, 0);
	in_set(&G, IN_CONFIG, 2);
	for (unsigned int i = 0; i < 5; i++)
		in_set(&G, 0x4c + 4 * i, 0xffffffff);
}

/* ---- a group with a stream ---- */

static uint32_t group_in(unsigned int g)
{
	return ram_get(&G, GROUP_CTRL(g) + 4) - SHARED_VA + SHARED_PA;
}

static uint32_t group_out(unsigned int g)
{
	return ram_get(&G, GROUP_CTRL(g) + 8) - SHARED_VA + SHARED_PA;
}

static uint32_t stream_in(void)
{
	return ram_get(&G, STREAM_CTRL(0, 0) + 4) - SHARED_VA + SHARED_PA;
}

static uint32_t stream_out(void)
{
	return ram_get(&G, STREAM_CTRL(0, 0) + 8) - SHARED_VA + SHARED_PA;
}

static void group_doorbell(void)
{
	in_set(&G, IN_DB_REQ, in_get(&G, IN_DB_REQ) ^ 1);
	doorbell();
}

static void emit(uint64_t insn)
{
	data_set64(STREAM_RING + inserted % 4096, insn);
	inserted += 8;
}

static void publish(void)
{
	data_set64(STREAM_IN, inserted);
}

static void program_group(unsigned int g, unsigned int as)
{
	ram_set(&G, group_in(g) + CSG_CONFIG, as);
	ram_set(&G, group_in(g) + CSG_ALLOW_COMPUTE, 0xffffffff);
	ram_set(&G, group_in(g) + CSG_ALLOW_FRAGMENT, 0xffffffff);
	ram_set(&G, group_in(g) + CSG_ALLOW_OTHER, 1);
	ram_set(&G, group_in(g) + CSG_EP_REQ, 64 | 64 << 8 | 1 << 16);
	ram_set(&G, group_in(g) + CSG_REQ, 1);
}

/* A stream, by its input block, of what was emitted. */
static void program_stream(uint32_t in)
{
	ram_set(&G, in + CS_CONFIG, 1 << 8);
	ram_set(&G, in + CS_RING_BASE, RING_VA + STREAM_RING);
	ram_set(&G, in + CS_RING_SIZE, 4096);
	ram_set(&G, in + CS_RING_INPUT, RING_VA + STREAM_IN);
	ram_set(&G, in + CS_RING_OUTPUT, RING_VA + STREAM_OUT);
	ram_set(&G, in + CS_REQ, 1);
}

/* Group 0 starts, in address space @as, and in it stream 0, with what was emitted. */
static void start_group(unsigned int as)
{
	publish();
	program_stream(stream_in());
	program_group(0, as);
	group_doorbell();
	same(ram_get(&G, group_out(0)) & 7, 1, "the group starts");
}

#define CSG_SUSPEND_BUF		0x40
#define CSG_CTRL_SUSPEND_SIZE	0x0c
#define SUSPEND			0x200000	/* of RING_VA */

static void group_state(uint32_t state)
{
	uint32_t req = ram_get(&G, group_in(0) + CSG_REQ);

	ram_set(&G, group_in(0) + CSG_REQ, (req & ~7u) | state);
	group_doorbell();
	same(ram_get(&G, group_out(0)) & 7, state, "the group's state");
}

/* A counter of the CSHW block, or of the first block of another type. */
static void select_counter(unsigned int type, unsigned int counter)
{
	BENCH_SET(&G, TYPE, type);
	BENCH_SET(&G, INDEX, 0);
	BENCH_SET(&G, COUNTER, counter);
}

/* What it was in all samples, and what it has come to. */
static uint64_t emitted(unsigned int type, unsigned int counter)
{
	select_counter(type, counter);
	return BENCH_GET(&G, EMITTED);
}

static uint64_t generated(unsigned int type, unsigned int counter)
{
	select_counter(type, counter);
	return BENCH_GET(&G, GENERATED);
}

/* ---- tests ---- */

static void test_doorbell_bits(void)
{
	begin("mali-csf,model=g610");
	in_set(&G, IN_DB_REQ, 0xffffffff);
	doorbell();
	alive("after doorbells of groups that there are not");
	in_set(&G, IN_DB_REQ, 0x7f);
	doorbell();
	alive("after they are taken back");
}

static void test_csgs(void)
{
	char line[512] = "", path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/qemu.err", scratch);
	if (vgpu_start(&G, qemu, "mali-csf,model=g610,csgs=24", scratch))
		fail("a GPU with more groups than doorbells starts");
	f = fopen(path, "r");
	do {
		if (!f || !fgets(line, sizeof(line), f)) {
			fail("QEMU does not say why not");
			break;
		}
	} while (!strstr(line, "csgs must be 3 to 23"));
	begin("mali-csf,model=g610,csgs=23");
	reg_write(&G, DOORBELL(23), 1);
	alive("after the last group's doorbell");
}

static void test_power_domains(void)
{
	static const uint32_t offsets[] = { 0x1b0, 0x1b4, 0x1b8, 0x1bc, 0x1f0, 0x1f4, 0x1f8, 0x1fc };
	uint32_t before[0x100 / 4];

	begin("mali-csf,model=g610");
	for (unsigned int i = 0; i < 0x100 / 4; i++)
		before[i] = reg_read(&G, 0x140 + 4 * i);
	for (unsigned int i = 0; i < sizeof(offsets) / 4; i++) {
		reg_write(&G, offsets[i], 0xffffffff);
		vgpu_step(&G, 100000);
		for (unsigned int r = 0; r < 0x100 / 4; r++) {
			uint32_t now = reg_read(&G, 0x140 + 4 * r);

			if (now != before[r])
				fail("0x%x, a domain that there is not: register 0x%x goes from 0x%x to 0x%x",
				     offsets[i], 0x140 + 4 * r, before[r], now);
		}
	}
}

/* ---- PWR_CONTROL ---- */

#define PWR_IRQ_CHANGED		(1u << 0 | 1u << 1)
#define PWR_IRQ_DELEGATION	(1u << 2)
#define PWR_IRQ_RESET		(1u << 3)
#define PWR_IRQ_RETRACT		(1u << 4)
#define PWR_IRQ_INSPECT		(1u << 5)
#define PWR_IRQ_NOT_ALLOWED	(1u << 30)
#define PWR_IRQ_INVALID		(1u << 31)

#define PWR_ALLOWED(domain)	(1ull << (domain))
#define PWR_DELEGATED(domain)	(1ull << ((domain) + 16))
#define PWR_RESETS_ALLOWED	(3ull << 33)
#define PWR_POWER_PENDING	(1ull << 41)
#define PWR_RESET_PENDING	(1ull << 42)
#define PWR_RETRACT_PENDING	(1ull << 43)

#define G1_CORES		0x5550055u
#define G1_HOSTS		(PWR_ALLOWED(DOMAIN_L2) | PWR_ALLOWED(DOMAIN_TILER) | \
				 PWR_ALLOWED(DOMAIN_SHADER) | PWR_RESETS_ALLOWED)
/* More than a transition takes */
#define PWR_DONE		100000

/* What a command raises at once, and after a transition. */
static void pwr_command(uint32_t command, unsigned int domain, uint64_t argument, uint32_t now,
			uint32_t later, const char *what)
{
	reg_write(&G, PWR_CLEAR, 0xffffffff);
	vgpu_pwr_command(&G, command, domain, argument);
	same(reg_read(&G, PWR_RAWSTAT), now, what);
	vgpu_step(&G, PWR_DONE);
	same(reg_read(&G, PWR_RAWSTAT), now | later, what);
}

static void begin_without_boot(const char *device)
{
	if (!vgpu_start(&G, qemu, device, scratch)) {
		fail("no GPU to test");
		exit(1);
	}
}

static void test_pwr_control(void)
{
	begin_without_boot("mali-csf,model=g1");
	same(reg_read64(&G, PWR_L2), 1, "L2 present");
	same(reg_read64(&G, PWR_TILER), 1, "tiler present");
	same(reg_read64(&G, PWR_SHADER), G1_CORES, "cores present");
	same(reg_read64(&G, 0x100), 0, "SHADER_PRESENT of earlier GPUs");
	same(reg_read64(&G, PWR_STATUS), G1_HOSTS, "everything is the host's");

	pwr_command(PWR_UP, DOMAIN_SHADER, ~0ull, PWR_IRQ_NOT_ALLOWED, 0, "cores before the L2");
	reg_write(&G, PWR_CLEAR, 0xffffffff);
	vgpu_pwr_command(&G, PWR_UP, DOMAIN_L2, ~0ull);
	same(reg_read64(&G, PWR_STATUS), G1_HOSTS | PWR_POWER_PENDING, "while the L2 powers up");
	same(reg_read64(&G, PWR_L2 + PWR_TRANS), 1, "likewise");
	vgpu_step(&G, PWR_DONE);
	same(reg_read(&G, PWR_RAWSTAT), PWR_IRQ_CHANGED, "the L2 has power");
	same(reg_read64(&G, PWR_L2 + PWR_READY), 1, "likewise");

	/* By the host's hand, as many as it says; RTUs are a part of cores. */
	pwr_command(PWR_UP | 1 << 16, DOMAIN_SHADER, 0x50005, 0, PWR_IRQ_CHANGED, "cores up");
	same(reg_read64(&G, PWR_SHADER + PWR_READY), 0x50005, "those cores");
	pwr_command(PWR_DOWN, DOMAIN_L2, 1, PWR_IRQ_NOT_ALLOWED, 0, "the L2 under cores");
	same(reg_read64(&G, PWR_L2 + PWR_READY), 1, "the L2 stays");
	pwr_command(PWR_DOWN, DOMAIN_SHADER, 0x5, 0, PWR_IRQ_CHANGED, "cores down");
	same(reg_read64(&G, PWR_SHADER + PWR_READY), 0x50000, "the other cores");

	pwr_command(PWR_DELEGATE, DOMAIN_SHADER, 0, PWR_IRQ_DELEGATION, 0, "delegation");
	same(reg_read64(&G, PWR_STATUS), (G1_HOSTS & ~PWR_ALLOWED(DOMAIN_SHADER)) |
	     PWR_DELEGATED(DOMAIN_SHADER), "cores are firmware's");
	pwr_command(PWR_DELEGATE, DOMAIN_SHADER, 0, PWR_IRQ_NOT_ALLOWED, 0, "twice");
	pwr_command(PWR_UP, DOMAIN_SHADER, 1, PWR_IRQ_NOT_ALLOWED, 0, "what is firmware's");
	pwr_command(PWR_DELEGATE, DOMAIN_L2, 0, PWR_IRQ_NOT_ALLOWED, 0, "delegation of the L2");
	pwr_command(PWR_RETRACT, DOMAIN_TILER, 0, PWR_IRQ_NOT_ALLOWED, 0,
		    "retraction of what is not delegated");

	reg_write(&G, PWR_CLEAR, 0xffffffff);
	vgpu_pwr_command(&G, PWR_RETRACT, DOMAIN_SHADER, 0);
	same(reg_read64(&G, PWR_STATUS), (G1_HOSTS & ~PWR_ALLOWED(DOMAIN_SHADER)) |
	     PWR_DELEGATED(DOMAIN_SHADER) | PWR_RETRACT_PENDING, "while cores are retracted");
	vgpu_pwr_command(&G, PWR_RETRACT, DOMAIN_SHADER, 0);
	same(reg_read(&G, PWR_RAWSTAT), PWR_IRQ_NOT_ALLOWED, "a second retraction");
	vgpu_step(&G, PWR_DONE);
	same(reg_read(&G, PWR_RAWSTAT), PWR_IRQ_NOT_ALLOWED | PWR_IRQ_RETRACT | PWR_IRQ_DELEGATION,
	     "retracted");
	same(reg_read64(&G, PWR_STATUS), G1_HOSTS, "cores are the host's again");
	same(reg_read64(&G, PWR_SHADER + PWR_READY), 0x50000, "they keep their power");

	pwr_command(PWR_INSPECT, 0, 0, PWR_IRQ_INSPECT, 0, "inspection");
	pwr_command(0x12, DOMAIN_L2, 1, PWR_IRQ_INVALID, 0, "an unknown command");
	pwr_command(PWR_UP, 14, 1, PWR_IRQ_INVALID, 0, "a domain that there is not");
	pwr_command(PWR_UP | 1 << 16, DOMAIN_TILER, 1, PWR_IRQ_INVALID, 0, "the tiler's RTU");
	pwr_command(PWR_UP | 2 << 16, DOMAIN_SHADER, 1, PWR_IRQ_INVALID, 0, "another subdomain");

	/* Delegation ends with a reset, the mask does not. */
	pwr_command(PWR_DELEGATE, DOMAIN_TILER, 0, PWR_IRQ_DELEGATION, 0, "delegation");
	reg_write(&G, PWR_MASK, PWR_IRQ_RESET);
	reg_write(&G, PWR_CLEAR, 0xffffffff);
	vgpu_pwr_command(&G, PWR_RESET_SOFT, 0, 0);
	same(reg_read64(&G, PWR_STATUS), PWR_RESET_PENDING, "while the GPU is reset");
	vgpu_pwr_command(&G, PWR_UP, DOMAIN_L2, 1);
	vgpu_pwr_command(&G, PWR_RESET_FAST, 0, 0);
	same(reg_read(&G, PWR_RAWSTAT), PWR_IRQ_NOT_ALLOWED, "commands while the GPU is reset");
	vgpu_step(&G, PWR_DONE);
	same(reg_read(&G, PWR_RAWSTAT), PWR_IRQ_NOT_ALLOWED | PWR_IRQ_RESET, "the reset is over");
	same(reg_read64(&G, PWR_STATUS), G1_HOSTS, "everything is the host's");
	same(reg_read64(&G, PWR_L2 + PWR_READY), 0, "and has no power");
	same(reg_read(&G, PWR_MASK), PWR_IRQ_RESET, "the interrupt's mask stays");
	same(reg_read(&G, GPU_IRQ_RAWSTAT), 0, "the GPU's own interrupts know nothing of it");
	reg_write(&G, GPU_COMMAND, 1 | 1 << 8);
	vgpu_step(&G, PWR_DONE);
	same(reg_read(&G, GPU_IRQ_RAWSTAT), 0, "GPU_COMMAND has no reset");
}

/* Firmware has what it was given: work waits for cores until it has them. */
static void test_pwr_delegation(void)
{
	/* Groups of the interface that start_group() knows. */
	begin("mali-csf,model=g1,iface=3.3.0");
	vgpu_pwr_command(&G, PWR_RETRACT, DOMAIN_SHADER, 0);
	vgpu_step(&G, PWR_DONE);
	emit(cs_move32(42, 0));
	emit(cs_move32(43, 63 | 63 << 16));
	emit(cs_run_fragment(false, 0));
	emit(cs11_wait(0xffff));
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(2, 0x1234));
	emit(cs_store(2, 0, 1, 0));
	emit(cs11_wait(0xffff));
	start_group(0);
	vgpu_step(&G, 1000000);
	same(reg_read64(&G, PWR_SHADER + PWR_READY), 0, "firmware powers no core of the host's");
	same(data_get(DATA), 0, "the job has not run");
	vgpu_pwr_command(&G, PWR_DELEGATE, DOMAIN_SHADER, 0);
	vgpu_step(&G, 1000000);
	same(reg_read64(&G, PWR_SHADER + PWR_READY), G1_CORES, "firmware powers its cores");
	same(data_get(DATA), 0x1234, "the job has run");

	/* As panthor does when firmware hangs: retract, power down, the L2 last. */
	BENCH_SET(&G, HANG, 1);
	vgpu_pwr_command(&G, PWR_RETRACT, DOMAIN_TILER, 0);
	vgpu_step(&G, PWR_DONE);
	vgpu_pwr_command(&G, PWR_DOWN, DOMAIN_TILER, 1);
	vgpu_step(&G, PWR_DONE);
	vgpu_pwr_command(&G, PWR_RETRACT, DOMAIN_SHADER, 0);
	vgpu_step(&G, PWR_DONE);
	vgpu_pwr_command(&G, PWR_DOWN, DOMAIN_SHADER, ~0ull);
	vgpu_step(&G, PWR_DONE);
	vgpu_pwr_command(&G, PWR_DOWN, DOMAIN_L2, 1);
	vgpu_step(&G, PWR_DONE);
	same(reg_read64(&G, PWR_L2 + PWR_READY), 0, "the L2 of a GPU whose firmware hangs");
}

/* ---- suspension ---- */

/*
 * A group with state of every kind, suspended: each word of its buffer in turn
 * is made all ones, or one more, and the group resumed. What comes of it is an
 * error or not; firmware goes on.
 */
enum { PINGS = 48 };

/* How long firmware takes to answer, in steps of 2 us. */
static void ping_times(const char *device, unsigned int *steps)
{
	begin(device);
	for (unsigned int i = 0; i < PINGS; i++) {
		in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_PING);
		reg_write(&G, DOORBELL(0), 1);
		for (steps[i] = 0; open_request(GLB_PING) && steps[i] < 1000; steps[i]++)
			vgpu_step(&G, 2000);
	}
	vgpu_stop(&G);
}

static void test_latencies(void)
{
	unsigned int fixed[PINGS], one[PINGS], again[PINGS], other[PINGS], kinds = 0;

	ping_times("mali-csf,model=g610", fixed);
	ping_times("mali-csf,model=g610,latency_seed=1", one);
	ping_times("mali-csf,model=g610,latency_seed=1", again);
	ping_times("mali-csf,model=g610,latency_seed=2", other);
	for (unsigned int i = 0; i < PINGS; i++) {
		same(fixed[i], 1, "without a seed");
		same(one[i] && one[i] <= 64 && !(one[i] & (one[i] - 1)), true, "with one, 1 to 64 times that");
		kinds |= one[i];
	}
	same(kinds, 127, "latencies that were drawn");
	same(memcmp(one, again, sizeof(one)), 0, "the same seed, the same series");
	same(memcmp(one, other, sizeof(one)) != 0, true, "another seed, another series");
}

static void ask_group(uint32_t state)
{
	ram_set(&G, group_in(0) + CSG_REQ, state);
	in_set(&G, IN_DB_REQ, out_get(&G, OUT_DB_ACK) ^ 1);
	reg_write(&G, DOORBELL(0), 1);
}

/* A request of group 0's state, and how long it takes, in steps of 8 us. */
static unsigned int group_state_time(uint32_t state)
{
	unsigned int n = 0;

	ask_group(state);
	for (; (ram_get(&G, group_out(0)) & 7) != state && n < 1000; n++)
		vgpu_step(&G, 8000);
	return n;
}

/* Firmware has seen that the group is to be suspended, and it has not been yet. */
static void begin_to_suspend(void)
{
	for (unsigned int i = 0; i < 32; i++) {
		ask_group(2);
		vgpu_step(&G, 200000);
		if ((ram_get(&G, group_out(0)) & 7) != 2)
			return;
		group_state_time(3);
	}
	fail("no suspension takes long");
}

/* It takes from 16 us to 4 ms, and firmware's latency; the group goes on till then. */
static void test_slow_suspend(void)
{
	unsigned int longest = 0, n;
	uint32_t before;

	begin("mali-csf,model=g610,latency_seed=3");
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(4, 0));
	emit(cs_add32(4, 4, 1));
	emit(cs_store(4, 0, 1, 0));
	emit(cs_wait(1));
	emit(cs_branch(CS_COND_ALWAYS, 4, -4));
	ram_set(&G, group_in(0) + CSG_SUSPEND_BUF, RING_VA + SUSPEND);
	publish();
	program_stream(stream_in());
	program_group(0, 0);
	group_state_time(1);
	for (unsigned int i = 0; i < 32; i++) {
		before = data_get(DATA);
		n = group_state_time(2);
		same(n >= 2 && n <= 4096 / 8 + 17 + 13, true, "time to suspend");
		longest = n > longest ? n : longest;
		before = data_get(DATA) - before;
		same(before || n < 100, true, "the group has gone on");
		before = data_get(DATA);
		vgpu_step(&G, 1000000);
		same(data_get(DATA), before, "a group that is suspended does nothing");
		same(group_state_time(3) <= 17, true, "time to resume");
	}
	same(longest > 2000 / 8, true, "some are slow");
	/* Before it has come to that, it can be asked to go on, or be terminated. */
	begin_to_suspend();
	ask_group(3);
	vgpu_step(&G, 10000000);
	same(ram_get(&G, group_out(0)) & 7, 3, "the state of a group that was to be suspended, and then not");
	before = data_get(DATA);
	vgpu_step(&G, 1000000);
	same(data_get(DATA) > before, true, "it goes on");
	begin_to_suspend();
	same(group_state_time(0) <= 17, true, "time to terminate it");
	vgpu_step(&G, 10000000);
	same(ram_get(&G, group_out(0)) & 7, 0, "its state then");
}

static void test_suspend_buffer(void)
{
	static const uint32_t spoilt[] = { 0xffffffff, 16, 17, 0x10000 };
	uint32_t size, *saved;
	unsigned int stream_words;

	begin("mali-csf,model=g715");
	emit(cs11_set_state_imm(CS11_SB_MASK, 0x8400));
	emit(cs11_set_state_imm(CS11_SB_DEFERRED, 15));
	emit(cs11_set_state_imm(CS11_WAIT_MASK, 1 << 10));
	emit(cs11_shared_sb_inc(15, 0));
	emit(cs11_next_sb_entry(CS11_TYPE_ENDPOINT, false, 8));
	/* A job, what is deferred behind it, and a wait that nobody ends. */
	emit(cs_move32(42, 0));
	emit(cs_move32(43, 0xffffffff));
	emit(cs_run_fragment(false, 0));
	emit(cs11_shared_sb_inc(14, 0) | CS11_DEFER_INDIRECT);
	emit(cs_move(4, RING_VA + DATA));
	emit(cs_move(6, 0x1234));
	emit(cs11_shared_sb_dec(13));
	emit(cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_CSG, 6, 4, 0, 0));
	ram_set(&G, group_in(0) + CSG_SUSPEND_BUF, RING_VA + SUSPEND);
	start_group(0);
	vgpu_step(&G, 100000);
	group_state(2);
	size = ram_get(&G, GROUP_CTRL(0) + CSG_CTRL_SUSPEND_SIZE);
	saved = malloc(size);
	for (uint32_t i = 0; i < size / 4; i++)
		saved[i] = data_get(SUSPEND + 4 * i);
	same(saved[1], size, "the buffer says its size");
	/* A header, as much for each stream, and the group's 16 shared entries. */
	stream_words = (size / 4 - 4 - 16) / saved[2];
	same(saved[size / 4 - 1], 1, "shared entry 15");
	for (uint32_t i = 0; i < size / 4; i++) {
		/* All of the header, of stream 0, and of what is shared. */
		if (i >= 4 + stream_words && i < size / 4 - 16)
			continue;
		for (unsigned int k = 0; k < sizeof(spoilt) / 4; k++) {
			data_set(SUSPEND + 4 * i, spoilt[k]);
			group_state(3);
			group_state(0);
		}
		data_set(SUSPEND + 4 * i, saved[i]);
	}
	alive("after suspend buffers that were spoilt");

	/* As it was, the wait lasts; it ends when the shared entry is counted up. */
	data_set(DATA, 0);
	group_state(3);
	vgpu_step(&G, 100000);
	same(data_get(DATA), 0, "the wait lasts");
	group_state(2);
	same(data_get(SUSPEND + size - 8), 0, "shared entry 14, before the job has ended");
	data_set(SUSPEND + size - 12, 1);
	group_state(3);
	vgpu_step(&G, 100000);
	same(data_get(DATA), 0x1234, "the wait ends");
	group_state(2);
	/* r8, behind the stream's state word: 10, of mask 0x8400 the one after 0. */
	same(data_get(SUSPEND + 16 + 4 + 4 * 8), 10, "NEXT_SB_ENTRY");
	free(saved);
}

/* The page of registers at DATA: a stream that stores there asks for a reset. */
static void test_dma_to_registers(void)
{
	begin("mali-csf,model=g610");
	vgpu_map(&G, RING_VA + DATA, G.regs, true, false);
	vgpu_as_update(&G);
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(2, 0x101));
	emit(cs_store(2, 0, 1, GPU_COMMAND));
	emit(cs_wait(1));
	start_group(0);
	vgpu_step(&G, 1000000);
	same(reg_read(&G, MCU_STATUS), MCU_ENABLED, "MCU_STATUS: no reset");
	same(reg_read(&G, GPU_IRQ_RAWSTAT) & GPU_IRQ_FAULT, GPU_IRQ_FAULT, "a bus fault");
	same(reg_read(&G, GPU_FAULT_ADDR), (uint32_t)G.regs + GPU_COMMAND, "its address");
	same(ram_get(&G, stream_out()) & CS_FATAL, CS_FATAL, "the stream is told");
	same(ram_get(&G, stream_out() + CS_OUT_FATAL), BUS_FAULT, "of a bus fault");
	same(ram_get(&G, stream_out() + CS_OUT_FATAL_INFO), RING_VA + DATA + GPU_COMMAND, "at");
	alive("after it");
}

static void test_tables_in_registers(void)
{
	begin("mali-csf,model=g610");
	vgpu_as_setup(&G, 1, G.regs, 48);
	start_group(1);
	emit(cs_nop());
	publish();
	reg_write(&G, DOORBELL(1), 1);
	vgpu_step(&G, 100000);
	/* The address of an entry is out of range, in the first level. */
	same(reg_read(&G, FAULTSTATUS(1)) & 0xff, 0xe4, "FAULTSTATUS");
	alive("after it");
}

/* What a stream that stores the time again and again does in 10 ms. */
static void test_time_stop(void)
{
	begin("mali-csf,model=g610");
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(4, 0));
	emit(cs_add32(4, 4, 1));
	emit(cs_store_state(CS_STATE_TIMESTAMP, 0, 0, 0, 0));
	emit(cs_store(4, 0, 1, 8));
	emit(cs_branch(CS_COND_ALWAYS, 4, -4));
	start_group(0);
	vgpu_step(&G, 10000000);
	same(data_get(DATA + 8) > 100, true, "it goes on");
	/* A turn has one stop, and is one of at most 16 in 100 us. */
	at_most(data_get(DATA + 8), 101 * 16, "times that it was stored");
	alive("after it");
}

/* So many groups of so many streams, which run empty jobs of any kind for ever: they share one program. */
static void empty_jobs(unsigned int groups, unsigned int streams, uint32_t hz, uint64_t most)
{
	uint64_t turns, jobs;

	begin("mali-csf,model=g610");
	for (unsigned int i = 0; i < 3; i++)
		vgpu_clock_set(&G, i, hz);
	inserted = 0;
	emit(cs_move32(33, 0));
	emit(cs_run_compute(1, 0));
	emit(cs_run_fullscreen(0, 0));
	emit(cs_branch(CS_COND_ALWAYS, 0, -3));
	for (unsigned int g = 0; g < groups; g++) {
		for (unsigned int c = 0; c < streams; c++) {
			uint32_t in = ram_get(&G, STREAM_CTRL(g, c) + 4) - SHARED_VA + SHARED_PA;

			program_stream(in);
			ram_set(&G, in + CS_CONFIG, (1 + g) << 8);
		}
		if (g)
			program_group(g, 0);
	}
	in_set(&G, IN_DB_REQ, in_get(&G, IN_DB_REQ) ^ ((1u << groups) - 2));
	start_group(0);
	turns = BENCH_GET(&G, TURNS);
	jobs = generated(TYPE_CSHW, GPU_IRQ_COUNT);
	vgpu_step(&G, 10000000);
	at_most(BENCH_GET(&G, TURNS) - turns, 101 * most, "turns in 10 ms");
	same(generated(TYPE_CSHW, GPU_IRQ_COUNT) - jobs > 100, true, "jobs go on");
	alive("after it");
	vgpu_stop(&G);
}

/* What it costs to run streams depends on the time that has passed, not on what they do in it. */
static void test_empty_jobs(void)
{
	empty_jobs(1, 1, 150000000, 16);
	empty_jobs(1, 1, 4000000000, 16);
	/* A turn looks at each of them. */
	empty_jobs(8, 8, 150000000, 4);
}

/* The highest rate that can be set: no arithmetic of 32 bits is enough. */
static void test_high_rate(void)
{
	uint32_t hz = 0xffffffff;
	uint64_t before, stacks, total;

	begin("mali-csf,model=g610");
	vgpu_clock_set(&G, 1, hz);
	vgpu_clock_set(&G, 2, hz);
	before = BENCH_GET(&G, COREGROUP_CYCLES);
	stacks = BENCH_GET(&G, STACKS_CYCLES);
	vgpu_step(&G, 10000000000);
	same(BENCH_GET(&G, COREGROUP_CYCLES) - before, 10ull * hz, "cycles of the core group in ten seconds");
	same(BENCH_GET(&G, STACKS_CYCLES) - stacks, 10ull * hz, "cycles of the stacks in ten seconds");

	/* Nor is it for the register. */
	vgpu_clock_set(&G, 0, hz);
	BENCH_SET(&G, REAL_RATE, 4000);
	same(BENCH_GET(&G, CORE_REAL_HZ), 4ull * hz, "real rate of the core clock");
	request(GLB_COUNTER_EN);
	before = reg_read64(&G, CYCLE_COUNT);
	total = BENCH_GET(&G, CYCLE_TOTAL);
	vgpu_step(&G, 10000000000);
	same(reg_read64(&G, CYCLE_COUNT) - before, 40ull * hz, "GPU_CYCLE_COUNT in ten seconds");
	same(BENCH_GET(&G, CYCLE_TOTAL) - total, 40ull * hz, "its total");
}

/* What GPU_CYCLE_COUNT and its total have advanced in 10 ms. */
static void counts(uint64_t want, const char *when)
{
	uint64_t count = reg_read64(&G, CYCLE_COUNT), total = BENCH_GET(&G, CYCLE_TOTAL);

	vgpu_step(&G, 10000000);
	same(reg_read64(&G, CYCLE_COUNT) - count, want, when);
	same(BENCH_GET(&G, CYCLE_TOTAL) - total, want, when);
}

/* GPU_CYCLE_COUNT: at the real rate, while COUNTER_EN is set, and lost with the power. */
static void test_cycle_count(void)
{
	uint64_t count, total;

	begin("mali-csf,model=g610");
	counts(0, "before COUNTER_EN is set");
	same(reg_read64(&G, CYCLE_COUNT), 0, "GPU_CYCLE_COUNT before COUNTER_EN is set");
	request(GLB_COUNTER_EN);
	/* Firmware looks at the doorbell 2 of 10 us later. */
	same(reg_read64(&G, CYCLE_COUNT), 1200, "GPU_CYCLE_COUNT, 8 us after it began");
	counts(1500000, "at 150 MHz");
	BENCH_SET(&G, REAL_RATE, 850);
	counts(1275000, "at 850 thousandths of that");
	BENCH_SET(&G, REAL_RATE, 0);
	BENCH_SET(&G, REAL_RATE, 4001);
	same(BENCH_GET(&G, REAL_RATE), 850, "real_rate after values out of range");
	counts(1275000, "after values out of range");
	BENCH_SET(&G, REAL_RATE, 1);
	counts(1500, "at the lowest");
	BENCH_SET(&G, REAL_RATE, 1120);
	vgpu_clock_set(&G, 0, 100000000);
	counts(1120000, "at 1120 thousandths of another rate");
	/* It stands still without COUNTER_EN, and goes on. */
	request(GLB_COUNTER_EN);
	count = reg_read64(&G, CYCLE_COUNT);
	counts(0, "without COUNTER_EN");
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_COUNTER_EN);
	doorbell();
	same(reg_read64(&G, CYCLE_COUNT), count + 896, "GPU_CYCLE_COUNT, when it has gone on for 8 us");
	counts(1120000, "with COUNTER_EN again");

	/* Without its clock it stands still. */
	count = reg_read64(&G, CYCLE_COUNT);
	vgpu_gate(&G, VGPU_CLOCKS & ~1);
	vgpu_step(&G, 10000000);
	same(BENCH_GET(&G, CYCLE_TOTAL), count, "the total without the core clock");
	vgpu_gate(&G, VGPU_CLOCKS);
	same(reg_read64(&G, CYCLE_COUNT), count, "GPU_CYCLE_COUNT when the core clock is back");
	counts(1120000, "when the core clock is back");

	/* Without power it is lost; the total is not. */
	total = BENCH_GET(&G, CYCLE_TOTAL);
	same(reg_read64(&G, CYCLE_COUNT), total, "GPU_CYCLE_COUNT before it was ever lost");
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) & ~GLB_COUNTER_EN);
	vgpu_gate(&G, 0);
	vgpu_step(&G, 10000000);
	vgpu_gate(&G, VGPU_CLOCKS);
	same(reg_read64(&G, CYCLE_COUNT), 0, "GPU_CYCLE_COUNT when the power is back");
	same(vgpu_boot(&G), true, "it boots");
	counts(0, "before COUNTER_EN is set again");
	request(GLB_COUNTER_EN);
	same(reg_read64(&G, CYCLE_COUNT), 896, "GPU_CYCLE_COUNT, 8 us after it began again");
	same(BENCH_GET(&G, CYCLE_TOTAL), total + 896, "the total then");
	counts(1120000, "after a loss of power");

	/* As by a reset. */
	total = BENCH_GET(&G, CYCLE_TOTAL);
	vgpu_soft_reset(&G);
	same(reg_read64(&G, CYCLE_COUNT), 0, "GPU_CYCLE_COUNT after a reset");
	same(BENCH_GET(&G, CYCLE_TOTAL), total, "the total after a reset");
}

/* Streams store the register, whose count older firmware does not have. */
static void test_cycle_count_stored(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t least, stored;

		inserted = 0;
		begin(i ? "mali-csf,model=g610,cycle_count=off" : "mali-csf,model=g610");
		request(GLB_COUNTER_EN);
		vgpu_step(&G, 10000000);
		least = reg_read64(&G, CYCLE_COUNT);
		same(least, i ? 0 : 1501200, "GPU_CYCLE_COUNT after 10 ms");
		data_set64(DATA, UINT64_MAX);
		emit(cs_move(0, RING_VA + DATA));
		emit(cs_store_state(CS_STATE_CYCLE_COUNT, 0, 0, 0, 0));
		start_group(0);
		vgpu_step(&G, 1000000);
		stored = data_get(DATA) | (uint64_t)data_get(DATA + 4) << 32;
		if (stored < least || stored > reg_read64(&G, CYCLE_COUNT))
			fail("a stream stores %" PRIu64 ", GPU_CYCLE_COUNT was %" PRIu64 " before and is %" PRIu64,
			     stored, least, reg_read64(&G, CYCLE_COUNT));
		same(BENCH_GET(&G, CYCLE_TOTAL), reg_read64(&G, CYCLE_COUNT), "the total");
		vgpu_stop(&G);
	}
}

/*
 * How long a job takes, in steps of 2 us: 300 cycles of the stacks, and as many as it has pixels, 608 * 608 in whole
 * tiles, shared by four cores. After 300 us the rate changes, if @then is not 0.
 */
static unsigned int fragment_time(uint32_t then)
{
	uint64_t jobs = generated(TYPE_CSHW, ITER_FRAG_JOB_COMPLETED);
	unsigned int n = 0;

	emit(cs_run_fragment(false, 0));
	emit(cs_wait(1));
	publish();
	reg_write(&G, DOORBELL(1), 1);
	for (; generated(TYPE_CSHW, ITER_FRAG_JOB_COMPLETED) == jobs && n < 2000; n++) {
		if (n == 150 && then)
			BENCH_SET(&G, REAL_RATE, then);
		vgpu_step(&G, 2000);
	}
	return n;
}

/* Work takes the cycles that it takes, and the time that these last. */
static void test_real_rate(void)
{
	uint64_t shaded;
	unsigned int n;

	begin("mali-csf,model=g610,real_rate=850");
	same(BENCH_GET(&G, REAL_RATE), 850, "real_rate, as the property has it");
	same(BENCH_GET(&G, CORE_HZ), 150000000, "rate set for the core clock");
	same(BENCH_GET(&G, CORE_REAL_HZ), 127500000, "real rate of the core clock");
	vgpu_clock_set(&G, 1, 100000000);
	vgpu_clock_set(&G, 2, 50000000);
	same(BENCH_GET(&G, COREGROUP_REAL_HZ), 85000000, "real rate of the core group's clock");
	same(BENCH_GET(&G, STACKS_REAL_HZ), 42500000, "real rate of the stacks' clock");
	vgpu_write(&G, G.sysreg + 0xa4, 1u << 31 | 1 << 20 | 2);
	same(vgpu_read(&G, G.sysreg + 0xa0), 50000000, "rate of the stacks' clock, as the board says");

	vgpu_clock_set(&G, 1, 150000000);
	vgpu_clock_set(&G, 2, 150000000);
	BENCH_SET(&G, REAL_RATE, 1000);
	emit(cs_move32(42, 0));
	emit(cs_move32(43, 599 | 599 << 16));
	start_group(0);
	shaded = generated(TYPE_SHADER, FRAG_ACTIVE);
	/* 618 us; the doorbell, power of the cores for the first one, and a whole step come to 40 us at most. */
	n = fragment_time(0);
	if (n < 310 || n > 330)
		fail("a job of 618 us took %u us", 2 * n);
	/* 300 us at 150 MHz, the rest at 75. */
	n = fragment_time(500);
	if (n < 469 || n > 489)
		fail("a job that goes on at half the rate took %u us, not 936", 2 * n);
	n = fragment_time(0);
	if (n < 619 || n > 639)
		fail("a job of 1236 us took %u us", 2 * n);
	same(generated(TYPE_SHADER, FRAG_ACTIVE) - shaded, 3 * 92716, "cycles of the stacks in three jobs");

	vgpu_machine_reset(&G);
	same(BENCH_GET(&G, REAL_RATE), 850, "real_rate after a reset of the machine");
	same(BENCH_GET(&G, CORE_REAL_HZ), 127500000, "real rate after a reset of the machine");
}

/* What there is not on the board is an error, and changes nothing. */
static void test_board(void)
{
	static const uint32_t wrong[] = { 1 << 20 | 3, 2 << 20, 1 << 20 | 0xfff, 0 };

	begin("mali-csf,model=g610");
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		vgpu_write(&G, G.sysreg + 0xa0, 1234567);
		vgpu_write(&G, G.sysreg + 0xa4, 3u << 30 | wrong[i]);
		same(vgpu_read(&G, G.sysreg + 0xa8), 3, "SYS_CFGSTAT");
		same(vgpu_read(&G, G.sysreg + 0xa4) >> 31, 0, "START");
	}
	same(BENCH_GET(&G, CORE_HZ), 150000000, "rate of the core clock");
	vgpu_clock_set(&G, 0, 50000000);
	vgpu_write(&G, G.sysreg + 0xa0, 0);
	vgpu_write(&G, G.sysreg + 0xa4, 1u << 31 | 1 << 20);
	same(vgpu_read(&G, G.sysreg + 0xa0), 50000000, "its rate, as the board says");
	same(BENCH_GET(&G, COREGROUP_HZ), 150000000, "rate of another clock");
}

/* What a board forgets when its GPU is reset, or loses its clocks. */
static void forgotten(const char *after)
{
	same(reg_read(&G, MCU_STATUS), MCU_DISABLED, after);
	same(reg_read(&G, TRANSTAB(0)), 0, after);
	same(reg_read(&G, COHERENCY), 31, after);
	same(reg_read(&G, LATEST_FLUSH), 1, after);
	same(reg_read(&G, JOB_IRQ_MASK), 0, after);
	same(reg_read(&G, L2_READY), 0, after);
}

static void set_what_is_forgotten(void)
{
	reg_write(&G, JOB_IRQ_MASK, 0xffffffff);
	reg_write(&G, COHERENCY, 0);
	reg_write(&G, GPU_COMMAND, 4 | 3 << 8);
	vgpu_step(&G, 100000);
	same(reg_read(&G, LATEST_FLUSH), 2, "LATEST_FLUSH after a flush");
}

static void test_gates(void)
{
	begin("mali-csf,model=g610");
	set_what_is_forgotten();
	/* Without one of its clocks it does not answer, and forgets nothing. */
	vgpu_gate(&G, VGPU_CLOCKS & ~2);
	same(reg_read(&G, 0), 0, "GPU_ID without a clock");
	reg_write(&G, JOB_IRQ_MASK, 1);
	vgpu_gate(&G, VGPU_CLOCKS);
	same(reg_read(&G, JOB_IRQ_MASK), 0xffffffff, "a mask that was written to without a clock");
	alive("a clock was off");
	vgpu_gate(&G, 0);
	same(reg_read(&G, 0), 0, "GPU_ID without clocks");
	vgpu_gate(&G, VGPU_CLOCKS);
	forgotten("without clocks");
	same(vgpu_boot(&G), true, "it boots");
	alive("all clocks were off");
}

/* What is under way when one of the clocks stops goes on when it runs again, and not before. */
static void test_one_clock(void)
{
	uint64_t counted, cycles;
	uint32_t stored;

	begin("mali-csf,model=g610");
	BENCH_SET(&G, ACTIVITY, 1);
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(4, 0));
	emit(cs_add32(4, 4, 1));
	emit(cs_store(4, 0, 1, 0));
	emit(cs_wait(1));
	emit(cs_branch(CS_COND_ALWAYS, 4, -4));
	start_group(0);
	vgpu_step(&G, 1000000);
	for (unsigned int i = 0; i < 3; i++) {
		reg_write(&G, GPU_IRQ_CLEAR, 0xffffffff);
		in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_PING);
		reg_write(&G, DOORBELL(0), 1);
		reg_write(&G, COMMAND(1), AS_UPDATE);
		reg_write(&G, GPU_COMMAND, 4 | 3 << 8);
		vgpu_gate(&G, VGPU_CLOCKS & ~(1u << i));
		stored = data_get(DATA);
		counted = generated(TYPE_CSHW, GPU_ITER_ACTIVE);
		cycles = BENCH_GET(&G, STACKS_CYCLES);
		vgpu_step(&G, 10000000);
		same(data_get(DATA), stored, "what a stream stores without a clock");
		same(generated(TYPE_CSHW, GPU_ITER_ACTIVE), counted, "what is counted without a clock");
		same(BENCH_GET(&G, STACKS_CYCLES) - cycles, i == 2 ? 0 : 1500000, "cycles of the stacks");
		same(open_request(GLB_PING), true, "a PING is open without a clock");
		vgpu_gate(&G, VGPU_CLOCKS);
		same(reg_read(&G, STATUS(1)) & 1, 1, "a command of an address space is active");
		same(reg_read(&G, GPU_IRQ_RAWSTAT) & GPU_IRQ_CLEAN, 0, "a flush has ended");
		vgpu_step(&G, 1000000);
		same(reg_read(&G, STATUS(1)) & 1, 0, "the command is active");
		same(reg_read(&G, GPU_IRQ_RAWSTAT) & GPU_IRQ_CLEAN, GPU_IRQ_CLEAN, "the flush has ended");
		same(open_request(GLB_PING), false, "the PING is open");
		same(data_get(DATA) > stored, true, "the stream goes on");
		same(generated(TYPE_CSHW, GPU_ITER_ACTIVE) > counted, true, "counters go on");
	}
}

static void test_soft_reset(void)
{
	begin("mali-csf,model=g610");
	set_what_is_forgotten();
	reg_write(&G, GPU_COMMAND, 1 | 1 << 8);
	vgpu_step(&G, 1000000);
	forgotten("a reset");
}

/* Of the bench page; what can be written is as well what can be forgotten. */
static const struct {
	const char *name;
	uint32_t off;
	bool writable;
} bench_regs[] = {
#define BENCH_REG(sym, name, bits, r, w, help) { name, MALI_BENCH_##sym, r && w },
	MALI_BENCH_REGS(BENCH_REG)
#undef BENCH_REG
};

#define NBENCH_REGS (sizeof(bench_regs) / sizeof(bench_regs[0]))

/* After a reset of the machine it is as after power-on. */
static void test_machine_reset(void)
{
	uint64_t before[NBENCH_REGS];
	unsigned int changed = 0;

	begin("mali-csf,model=g610");
	set_what_is_forgotten();
	for (unsigned int i = 0; i < 3; i++)
		vgpu_clock_set(&G, i, 77000000 + i);
	for (unsigned int i = 0; i < NBENCH_REGS; i++)
		before[i] = bench_get(&G, bench_regs[i].off, vgpu_bench_bits(bench_regs[i].off));
	for (unsigned int i = 0; i < NBENCH_REGS; i++) {
		unsigned int bits = vgpu_bench_bits(bench_regs[i].off);

		if (!bench_regs[i].writable)
			continue;
		bench_set(&G, bench_regs[i].off, bits, before[i] + 1);
		changed += bench_get(&G, bench_regs[i].off, bits) == before[i] + 1;
	}
	same(changed > 50, true, "registers of the bench page that take a value");
	vgpu_machine_reset(&G);
	same(reg_read(&G, 0), 0, "GPU_ID, while the gates of the clocks are closed");
	vgpu_gate(&G, VGPU_CLOCKS);
	forgotten("a reset of the machine");
	same(BENCH_GET(&G, CORE_HZ), 150000000, "rate of the core clock");
	same(BENCH_GET(&G, COREGROUP_HZ), 150000000, "rate of the core group's clock");
	same(BENCH_GET(&G, STACKS_HZ), 150000000, "rate of the stacks' clock");
	for (unsigned int i = 0; i < NBENCH_REGS; i++) {
		if (bench_regs[i].writable)
			same(bench_get(&G, bench_regs[i].off, vgpu_bench_bits(bench_regs[i].off)), before[i],
			     bench_regs[i].name);
	}
	if (vgpu_boot(&G))
		alive("the machine was reset");
	else
		fail("it does not boot");
}

/* A HALT that stands when firmware boots halts it, and an L2 that is off stops it. */
static void test_halt_at_boot(void)
{
	begin("mali-csf,model=g610");
	vgpu_mcu_stop(&G);
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) | GLB_HALT);
	vgpu_mcu_start(&G);
	same(reg_read(&G, MCU_STATUS), MCU_HALTED, "MCU_STATUS after a boot with HALT");
	vgpu_mcu_stop(&G);
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) & ~GLB_HALT);
	same(vgpu_mcu_start(&G), true, "it boots without HALT");
	reg_write(&G, L2_PWROFF, 1);
	vgpu_step(&G, 1000000);
	request(GLB_PING);
	same(open_request(GLB_PING), true, "a PING is open without the L2");
	reg_write(&G, L2_PWRON, 1);
	vgpu_step(&G, 1000000);
	doorbell();
	same(open_request(GLB_PING), false, "a PING is open with it");
}

/* Nothing counts without the L2. */
static void test_counts_without_l2(void)
{
	uint64_t counted;

	begin("mali-csf,model=g610");
	BENCH_SET(&G, ACTIVITY, 1);
	vgpu_step(&G, 1000000);
	same(generated(TYPE_CSHW, GPU_ITER_ACTIVE) > 0, true, "it counts");
	reg_write(&G, L2_PWROFF, 1);
	vgpu_step(&G, 100000);
	same(reg_read(&G, L2_READY), 0, "L2_READY");
	counted = generated(TYPE_CSHW, GPU_ITER_ACTIVE);
	vgpu_step(&G, 10000000);
	same(generated(TYPE_CSHW, GPU_ITER_ACTIVE), counted, "what is counted without the L2");
	reg_write(&G, L2_PWRON, 1);
	vgpu_step(&G, 1000000);
	same(generated(TYPE_CSHW, GPU_ITER_ACTIVE) > counted, true, "it counts again");
}

/* Where counters go when their pages have moved, and PRFCNT_EN of their CSHW block. */
#define MOVED		0x1a0000
#define MOVED_TO	0x800000

static void map_counters(uint64_t to)
{
	for (unsigned int i = 0; i < 4; i++)
		vgpu_map(&G, RING_VA + MOVED + 4096 * i, RING_PA + to + 4096 * i, true, false);
}

/* A translation is kept until the region that it lies in is unlocked. */
static void test_tlb(void)
{
	begin("mali-csf,model=g610");
	program_counters(0);
	in_set(&G, IN_BASE, RING_VA + MOVED);
	request(GLB_ENABLE);
	request(GLB_SAMPLE);
	same(data_get(MOVED + 8), 0xffff, "PRFCNT_EN of the first sample");

	map_counters(MOVED_TO);
	vgpu_as_lock(&G, 0, RING_VA + 0x400000, 12);
	vgpu_as_command(&G, 0, AS_UNLOCK);
	in_set(&G, IN_EXTRACT, 1);
	data_set(MOVED + COUNTERS_BYTES + 8, 0);
	request(GLB_SAMPLE);
	same(data_get(MOVED + COUNTERS_BYTES + 8), 0xffff, "PRFCNT_EN after another region was unlocked");

	vgpu_as_lock(&G, 0, RING_VA + MOVED, 15);
	vgpu_as_command(&G, 0, AS_UNLOCK);
	in_set(&G, IN_EXTRACT, 2);
	data_set(MOVED + 8, 0);
	request(GLB_SAMPLE);
	same(data_get(MOVED + 8), 0, "PRFCNT_EN where the ring was");
	same(data_get(MOVED_TO + 8), 0xffff, "PRFCNT_EN where it is");
}

/* Attributes, all eight of an address space: not cached; write-back, inner to the GPU, or to the CPUs. */
#define NOT_CACHED	0x4d
#define BACK_GPU	0x8d
#define BACK_CPU	0x9d
#define BACK_SHADERS	0xad
#define FAULTING	0xcd

static void set_attributes(uint32_t attribute)
{
	reg_write(&G, MEMATTR(1), attribute * 0x01010101);
	reg_write(&G, MEMATTR(1) + 4, attribute * 0x01010101);
	vgpu_as_command(&G, 1, AS_UPDATE);
}

/* Counters in address space 1. */
static void begin_in_space(const char *device, uint32_t attribute)
{
	begin(device);
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	set_attributes(attribute);
	program_counters(1);
	request(GLB_ENABLE);
}

static void flush_caches(void)
{
	reg_write(&G, GPU_COMMAND, 4 | 3 << 8);
	vgpu_step(&G, 100000);
}

/* Counters in memory that the GPU caches, with some of it coherent; and an attribute that faults. */
static void test_attributes(void)
{
	static const struct {
		const char *device;
		uint32_t protocol, attribute, before_flush;
	} gpus[] = {
		{ "mali-csf,model=g610", 31, BACK_GPU, 0 },
		{ "mali-csf,model=g610", 31, BACK_CPU, 0 },
		{ "mali-csf,model=g610,coherent=on", 31, BACK_CPU, 0 },
		{ "mali-csf,model=g610,coherent=on", 0, BACK_GPU, 0 },
		{ "mali-csf,model=g610,coherent=on", 0, BACK_CPU, 0xffff },
		{ "mali-csf,model=g610,coherent=on", 0, BACK_SHADERS, 0xffff },
		{ "mali-csf,model=g610,coherent=on", 0, 0xbd, 0 },
	};

	for (unsigned int i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
		begin_in_space(gpus[i].device, gpus[i].attribute);
		reg_write(&G, COHERENCY, gpus[i].protocol);
		request(GLB_SAMPLE);
		same(out_get(&G, OUT_INSERT), 1, "samples");
		same(data_get(COUNTERS + 8), gpus[i].before_flush, "PRFCNT_EN before a flush");
		flush_caches();
		same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN after it");

		set_attributes(FAULTING);
		request(GLB_SAMPLE);
		same(reg_read(&G, FAULTSTATUS(1)) & 0xff, 0xeb, "FAULTSTATUS");
		vgpu_stop(&G);
	}
}

/* A sample in caches is one that could be written, and goes where its page was then. */
static void test_cached_access(void)
{
	begin_in_space("mali-csf,model=g610", BACK_GPU);
	for (unsigned int i = 0; i < 2; i++)
		vgpu_map(&G, RING_VA + COUNTERS + 4096 * i, RING_PA + COUNTERS + 4096 * i, false, false);
	vgpu_as_command(&G, 1, AS_UPDATE);
	request(GLB_SAMPLE);
	same(reg_read(&G, FAULTSTATUS(1)) & 0xff, 0xcb, "FAULTSTATUS of a page that can only be read");
	same(open_request(GLB_SAMPLE), true, "the SAMPLE is open");
	same(out_get(&G, OUT_INSERT), 0, "samples");
	same(BENCH_GET(&G, FAULTS), 1, "samples lost");
	for (unsigned int i = 0; i < 2; i++)
		vgpu_map(&G, RING_VA + COUNTERS + 4096 * i, RING_PA + COUNTERS + 4096 * i, true, false);
	doorbell();
	same(out_get(&G, OUT_INSERT), 0, "samples, while the fault is outstanding");
	same(BENCH_GET(&G, FAULTS), 2, "samples lost");
	vgpu_as_command(&G, 1, AS_UPDATE);
	doorbell();
	same(out_get(&G, OUT_INSERT), 1, "samples");

	for (unsigned int i = 0; i < 2; i++)
		vgpu_map(&G, RING_VA + COUNTERS + 4096 * i, RING_PA + MOVED_TO + 4096 * i, true, false);
	vgpu_as_lock(&G, 1, RING_VA + COUNTERS, 13);
	vgpu_as_command(&G, 1, AS_UNLOCK);
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN before a flush");
	flush_caches();
	same(data_get(MOVED_TO + 8), 0, "PRFCNT_EN where the ring is now");
	same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN where it was");
}

/* A sample in slot 0, and counters turned off. */
static void one_sample(void)
{
	program_counters(1);
	request(GLB_ENABLE);
	data_set(COUNTERS + 8, 0);
	request(GLB_SAMPLE);
	same(out_get(&G, OUT_INSERT), 1, "samples");
	request(GLB_ENABLE);
	same(open_request(GLB_ENABLE), false, "ENABLE is open");
}

/* What is in caches is in memory after a flush, and after nothing else. */
static void test_cached_until_flushed(void)
{
	begin_in_space("mali-csf,model=g610", BACK_GPU);
	request(GLB_ENABLE);
	one_sample();
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN when counters are off");
	BENCH_SET(&G, MEMORY_LATE, 1);
	BENCH_SET(&G, MEMORY_LATE, 0);
	BENCH_SET(&G, ACK_LATE, 0);
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN when a fault has begun or ended");
	vgpu_as_command(&G, 1, AS_FLUSH_PT);
	same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN after a flush of page tables, which is one of the L2");

	one_sample();
	BENCH_SET(&G, SLEEP, 1);
	BENCH_SET(&G, SLEEP, 0);
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN when firmware has slept");
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_HALT);
	doorbell();
	same(reg_read(&G, MCU_STATUS), MCU_HALTED, "MCU_STATUS");
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_HALT);
	vgpu_mcu_stop(&G);
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN when firmware has stopped");
	flush_caches();
	same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN after a flush");

	/* Without its power the L2 has nothing to write back. */
	same(vgpu_mcu_start(&G), true, "it boots");
	one_sample();
	reg_write(&G, L2_PWROFF, 1);
	vgpu_step(&G, 100000);
	reg_write(&G, L2_PWRON, 1);
	vgpu_step(&G, 100000);
	flush_caches();
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN when the L2 was off");
	one_sample();
	vgpu_soft_reset(&G);
	flush_caches();
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN after a reset");

	/* What a fault has put there goes with the fault. */
	same(vgpu_mcu_start(&G), true, "it boots");
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	BENCH_SET(&G, MEMORY_LATE, 1);
	one_sample();
	BENCH_SET(&G, ACK_LATE, 0);
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN with memory_late");
	BENCH_SET(&G, MEMORY_LATE, 0);
	same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN without");
}

/* A translation is found once, whatever it is asked for: without cores a sample lies in one page. */
static void test_walks(void)
{
	static const uint32_t attributes[] = { NOT_CACHED, BACK_GPU };

	for (unsigned int i = 0; i < 2; i++) {
		uint64_t walks;

		begin_in_space("mali-csf,model=g610", attributes[i]);
		request(GLB_SAMPLE);
		vgpu_as_command(&G, 1, AS_UPDATE);
		walks = BENCH_GET(&G, WALKS);
		in_set(&G, IN_EXTRACT, 1);
		request(GLB_SAMPLE);
		same(out_get(&G, OUT_INSERT), 2, "samples");
		same(BENCH_GET(&G, WALKS) - walks, 1, "walks of page tables");
		vgpu_stop(&G);
	}
}

/* Two samples, of which QEMU says once that they do not all go into the ledger. */
static void ledger_ends(const char *device, const char *why)
{
	char line[512], path[300];
	unsigned int lines = 0;
	int status;
	FILE *f;

	begin(device);
	program_counters(0);
	request(GLB_ENABLE);
	request(GLB_SAMPLE);
	same(open_request(GLB_SAMPLE), false, "a SAMPLE is open");
	BENCH_SET(&G, LEDGER_FLUSH, 1);
	alive("after the ledger cannot be written");
	in_set(&G, IN_EXTRACT, 1);
	request(GLB_SAMPLE);
	same(out_get(&G, OUT_INSERT), 2, "samples");
	BENCH_SET(&G, LEDGER_FLUSH, 1);
	alive("after that is asked for again");
	status = vgpu_stop(&G);
	same(status, 0, "status of QEMU");
	snprintf(path, sizeof(path), "%s/qemu.err", scratch);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		lines += strstr(line, "cannot write to ledger") && strstr(line, why);
	same(lines, 1, "messages about it");
}

static void test_full_disk(void)
{
	char device[400];

	ledger_ends("mali-csf,model=g610,ledger=/dev/full", "No space left on device");
	/* Room for one sample. */
	snprintf(device, sizeof(device), "mali-csf,model=g610,ledger=%s/ledger,ledger_max=10000",
		 scratch);
	ledger_ends(device, "ledger_max");
}

/* A stream that cannot go on, and a fault of which the GPU tells in protected mode alone. */
static void test_rare_faults(void)
{
	begin("mali-csf,model=g610");
	BENCH_SET(&G, CS_UNRECOVERABLE, 1);
	emit(cs_move32(0, 0));
	start_group(0);
	same(ram_get(&G, stream_out() + CS_OUT_FATAL), 0x41, "the stream's fatal fault");
	/* Until a reset no group starts, and no stream of one that has. */
	alive("after it");
	program_group(1, 0);
	in_set(&G, IN_DB_REQ, in_get(&G, IN_DB_REQ) ^ 2);
	doorbell();
	same(ram_get(&G, group_out(1)) & 7, 0, "another group starts");
	ram_set(&G, stream_in() + 0x80 + CS_REQ, 1);
	ram_set(&G, group_in(0) + CSG_DB_REQ, 2);
	group_doorbell();
	same(ram_get(&G, STREAM_CTRL(0, 1) + 8) != 0, true, "there is another stream");
	same(ram_get(&G, ram_get(&G, STREAM_CTRL(0, 1) + 8) - SHARED_VA + SHARED_PA) & 7, 0,
	     "another stream starts");
	vgpu_soft_reset(&G);
	same(vgpu_mcu_start(&G), true, "it boots");
	inserted = 0;
	data_set64(STREAM_IN + 8, 0);
	emit(cs_move32(0, 0));
	in_set(&G, IN_DB_REQ, in_get(&G, IN_DB_REQ) & ~3u);
	ram_set(&G, group_in(0) + CSG_REQ, 0);
	ram_set(&G, group_in(1) + CSG_REQ, 0);
	group_doorbell();
	start_group(0);
	BENCH_SET(&G, PROTM_FAULT, 1);
	same(reg_read(&G, GPU_IRQ_RAWSTAT) & 2, 0, "PROTM_FAULT outside of protected mode");
	BENCH_SET(&G, PROTM, 1);
	vgpu_step(&G, 1000000);
	BENCH_SET(&G, PROTM_FAULT, 1);
	same(reg_read(&G, GPU_IRQ_RAWSTAT) & 2, 2, "PROTM_FAULT in it");
}

static void test_user_doorbell_locked(void)
{
	begin("mali-csf,model=g610");
	BENCH_SET(&G, SLEEP, 1);
	same(BENCH_GET(&G, SLEEP), 1, "asleep");
	vgpu_as_lock(&G, 0, SHARED_VA, 20);
	reg_write(&G, DOORBELL(1), 1);
	vgpu_step(&G, 100000);
	same(reg_read(&G, MCU_STATUS), MCU_ENABLED, "MCU_STATUS, its memory locked");
	same(BENCH_GET(&G, SLEEP), 1, "still asleep");
	vgpu_as_command(&G, 0, AS_UNLOCK);
	vgpu_step(&G, 100000);
	same(BENCH_GET(&G, SLEEP), 0, "asleep, its memory unlocked");
	alive("after it");
}

static void test_sync_wait(void)
{
	begin("mali-csf,model=g610");
	data_set(DATA, 0);
	emit(cs_move(0, RING_VA + DATA));
	emit(cs_move32(2, 5));
	emit(cs_sync_wait(CS_OP_SYNC_WAIT32, CS_COND_EQUAL, 2, 0));
	emit(cs_store(2, 0, 1, 16));
	emit(cs_wait(1));
	start_group(0);
	vgpu_step(&G, 1000000);
	same(data_get(DATA + 16), 0, "it waits");
	data_set(DATA, 5);
	vgpu_step(&G, 1000000);
	same(data_get(DATA + 16), 0, "nobody has told it");
	doorbell();
	vgpu_step(&G, 1000000);
	same(data_get(DATA + 16), 5, "after a global doorbell it goes on");
}

static void test_jasid_locked(void)
{
	begin("mali-csf,model=g610");
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	program_counters(1);
	vgpu_as_lock(&G, 1, RING_VA, 24);
	request(GLB_ENABLE);
	same(open_request(GLB_ENABLE), true, "ENABLE is open while the ring is locked");
	vgpu_as_command(&G, 1, AS_UNLOCK);
	vgpu_step(&G, 10000);
	same(open_request(GLB_ENABLE), false, "ENABLE is open when it is unlocked");
	vgpu_as_lock(&G, 1, RING_VA, 24);
	request(GLB_SAMPLE);
	same(open_request(GLB_SAMPLE), true, "SAMPLE is open while the ring is locked");
	vgpu_as_command(&G, 1, AS_UNLOCK);
	vgpu_step(&G, 10000);
	same(open_request(GLB_SAMPLE), false, "SAMPLE is open when it is unlocked");
	same(out_get(&G, OUT_INSERT), 1, "samples");
}

/* A tiler job that finds no memory, after the @n instructions at @first. */
static void start_without_memory(const uint64_t *first, unsigned int n)
{
	data_set64(TILER + 24, RING_VA + TILER_HEAP);
	for (unsigned int i = 0; i < n; i++)
		emit(first[i]);
	emit(cs_move(0, RING_VA + HEAP));
	emit(cs_heap_set(0));
	emit(cs_move(40, RING_VA + TILER));
	emit(cs_move32(33, 1000));
	emit(cs_move32(34, 1));
	emit(cs_req_resource(CS_RES_TILER));
	emit(cs_run_tiling(0));
	emit(cs_wait(1));
	ram_set(&G, group_in(0) + CSG_SUSPEND_BUF, RING_VA + SUSPEND);
	start_group(0);
}

/* A tiler job without memory, and a host that does not answer. */
static void test_progress_out_of_memory(void)
{
	begin("mali-csf,model=g610");
	in_set(&G, IN_PROGRESS_TIMER, 1000);
	request(GLB_PROGRESS_TIMER);
	start_without_memory(NULL, 0);
	/* 1000 * 1024 cycles of 150 MHz are 6.83 ms. */
	vgpu_step(&G, 6000000);
	same(ram_get(&G, stream_out()) & CS_TILER_OOM, CS_TILER_OOM, "the host is asked for memory");
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, 0, "an event before the time");
	vgpu_step(&G, 1500000);
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, CSG_PROGRESS, "an event after it");
	/* Answered, it is raised again a period later. */
	ram_set(&G, group_in(0), ram_get(&G, group_in(0)) ^ CSG_PROGRESS);
	vgpu_step(&G, 5000000);
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, CSG_PROGRESS, "no other event before the time");
	vgpu_step(&G, 2500000);
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, 0, "another one after it");
}

/* Answer what the stream has asked for with no chunk. */
static void no_chunk(void)
{
	ram_set(&G, stream_in(), ram_get(&G, stream_in()) ^ CS_TILER_OOM);
	group_doorbell();
}

/* The time that a group is suspended for is none in which its job makes no progress. */
static void test_suspend_without_memory(void)
{
	begin("mali-csf,model=g610");
	in_set(&G, IN_PROGRESS_TIMER, 1000);
	request(GLB_PROGRESS_TIMER);
	start_without_memory(NULL, 0);
	vgpu_step(&G, 4000000);
	same(ram_get(&G, stream_out()) & CS_TILER_OOM, CS_TILER_OOM, "the host is asked for memory");
	group_state(2);
	vgpu_step(&G, 20000000);
	group_state(3);
	vgpu_step(&G, 1000000);
	same((ram_get(&G, stream_in()) ^ ram_get(&G, stream_out())) & CS_TILER_OOM, CS_TILER_OOM,
	     "the host is asked again");
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, 0, "an event before the time");
	/* 6.83 ms in all */
	vgpu_step(&G, 2500000);
	same(ram_get(&G, group_out(0)) & CSG_PROGRESS, CSG_PROGRESS, "an event after it");
}

/* A handler that is interrupted, and frees nothing, is the last that is tried. */
static void test_suspend_in_handler(void)
{
	const uint64_t first[] = {
		cs_move(10, RING_VA + DATA + 0x800), cs_move32(12, 16), cs_move(14, RING_VA + DATA),
		cs_move32(16, 5), cs_set_exception_handler(10, 12),
	};

	begin("mali-csf,model=g610");
	data_set(DATA, 0);
	data_set64(DATA + 0x800, cs_store(16, 14, 1, 16));
	data_set64(DATA + 0x808, cs_sync_wait(CS_OP_SYNC_WAIT32, CS_COND_EQUAL, 16, 14));
	start_without_memory(first, sizeof(first) / sizeof(first[0]));
	vgpu_step(&G, 1000000);
	no_chunk();
	vgpu_step(&G, 1000000);
	same(data_get(DATA + 16), 5, "the handler runs");
	group_state(2);
	group_state(3);
	data_set(DATA, 5);
	doorbell();
	vgpu_step(&G, 1000000);
	same((ram_get(&G, stream_in()) ^ ram_get(&G, stream_out())) & (CS_FAULT | CS_TILER_OOM), CS_FAULT,
	     "an error, and no other question to the host");
}

static void test_halt_status(void)
{
	static const struct {
		uint32_t crash, status;
	} crashes[] = { { 1, 0x4e }, { 2, 0x4f } };

	begin("mali-csf,model=g610");
	for (unsigned int i = 0; i < 2; i++) {
		same(out_get(&G, OUT_HALT_STATUS), 0, "HALT_STATUS after boot");
		BENCH_SET(&G, CRASH, crashes[i].crash);
		same(out_get(&G, OUT_HALT_STATUS), crashes[i].status, "HALT_STATUS");
		same(reg_read(&G, MCU_STATUS), MCU_HALTED, "MCU_STATUS");
		request(GLB_PING);
		same(open_request(GLB_PING), true, "a PING is open");
		vgpu_mcu_stop(&G);
		same(vgpu_mcu_start(&G), true, "it boots again");
	}
	/* The host asks for a halt: nothing is wrong. */
	request(GLB_HALT);
	same(out_get(&G, OUT_HALT_STATUS), 0, "HALT_STATUS after a halt");
	same(reg_read(&G, MCU_STATUS), MCU_HALTED, "MCU_STATUS after a halt");
	in_set(&G, IN_REQ, in_get(&G, IN_REQ) & ~GLB_HALT);
	vgpu_mcu_stop(&G);
	same(vgpu_mcu_start(&G), true, "it boots again");
	/* Firmware's own access to what is no memory: a stream's ring in the registers. */
	vgpu_map(&G, RING_VA + STREAM_IN, G.regs, true, false);
	vgpu_as_update(&G);
	start_group(0);
	same(reg_read(&G, MCU_STATUS), MCU_FATAL, "MCU_STATUS after a bus fault of firmware's");
	same(out_get(&G, OUT_HALT_STATUS), 0x4e, "HALT_STATUS after it");
}

/* Where the ring is decides what its fault does. */
static void test_ring_fault(void)
{
	begin("mali-csf,model=g610");
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	for (unsigned int as = 1; as < 2; as--) {
		program_counters(as);
		request(GLB_ENABLE);
		same(open_request(GLB_ENABLE), false, "ENABLE is open");
		vgpu_unmap(&G, RING_VA + COUNTERS);
		vgpu_as_command(&G, as, AS_UPDATE);
		in_set(&G, IN_REQ, in_get(&G, IN_REQ) ^ GLB_SAMPLE);
		doorbell();
		same(open_request(GLB_SAMPLE), true, "the SAMPLE is open");
		same(reg_read(&G, FAULTSTATUS(as)) & 0xff, 0xc3, "FAULTSTATUS");
		/* One for each doorbell at which the SAMPLE was open. */
		same(BENCH_GET(&G, FAULTS), as ? 1 : 3, "samples lost");
		if (as) {
			alive("a fault in an address space of its own");
			vgpu_map(&G, RING_VA + COUNTERS, RING_PA + COUNTERS, true, false);
			vgpu_as_command(&G, 1, AS_UPDATE);
			doorbell();
			same(open_request(GLB_SAMPLE), false, "the SAMPLE, when the ring is mapped, is open");
			request(GLB_ENABLE);
		}
	}
	same(reg_read(&G, MCU_STATUS), MCU_FATAL, "MCU_STATUS after a fault in firmware's address space");
}

/*
 * Cycles of one clock as those of another: whatever pieces samples cut a job into, there is no less of
 * it in the end than the whole, rounded once.
 */
static void test_converted_cycles(void)
{
	static const uint32_t hz[] = { 150000000, 131000000, 97003001 };
	uint64_t shaded;

	begin("mali-csf,model=g610");
	for (unsigned int i = 0; i < 3; i++)
		vgpu_clock_set(&G, i, hz[i]);
	program_counters(0);
	request(GLB_ENABLE);
	emit(cs_move32(42, 0));
	emit(cs_move32(43, 599 | 599 << 16));
	emit(cs_run_fragment(false, 0));
	emit(cs_wait(1));
	/* The GPU goes on being active, so that what is left over finds room. */
	emit(cs_branch(CS_COND_ALWAYS, 0, -1));
	start_group(0);
	for (unsigned int i = 0; i < 300; i++) {
		in_set(&G, IN_EXTRACT, out_get(&G, OUT_INSERT));
		request(GLB_SAMPLE);
	}
	vgpu_step(&G, 3000000);
	in_set(&G, IN_EXTRACT, out_get(&G, OUT_INSERT));
	request(GLB_SAMPLE);
	same(emitted(TYPE_CSHW, ITER_FRAG_JOB_COMPLETED), 1, "jobs");
	shaded = emitted(TYPE_SHADER, FRAG_ACTIVE);
	same(shaded > 80000, true, "cycles of the stacks");
	same(emitted(TYPE_CSHW, ITER_FRAG_ACTIVE), shaded * hz[0] / hz[2], "the same in the core's");
}

/* What is seen when caches are flushed is so whoever flushes them. */
static void test_memory_late(void)
{
	begin("mali-csf,model=g610");
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	program_counters(0);
	request(GLB_ENABLE);
	BENCH_SET(&G, MEMORY_LATE, 1);
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t head = COUNTERS + (i & 1) * COUNTERS_BYTES + 8;

		data_set(head, 0);
		in_set(&G, IN_EXTRACT, i);
		request(GLB_SAMPLE);
		same(out_get(&G, OUT_INSERT), i + 1, "samples");
		same(data_get(head), 0, "PRFCNT_EN before a flush");
		switch (i) {
		case 0:
			reg_write(&G, GPU_COMMAND, 4 | 3 << 8);
			break;
		case 1:
			vgpu_as_command(&G, 1, AS_FLUSH_MEM);
			break;
		case 2:
			emit(cs_move32(0, 0));
			emit(cs_flush_cache2(CS_FLUSH_CLEAN_INVALIDATE, CS_FLUSH_NONE, false, 0, 0, 0));
			emit(cs_wait(1));
			start_group(0);
			break;
		}
		vgpu_step(&G, 100000);
		same(data_get(head), 0xffff, "PRFCNT_EN after it");
	}
}

/* Two interrupts that lie too close become one, for what both are about. */
static void test_irq_apart(void)
{
	begin("mali-csf,model=g610");
	program_counters(0);
	in_set(&G, IN_ACK_IRQ_MASK, GLB_OVERFLOW);
	request(GLB_ENABLE);
	BENCH_SET(&G, IRQ_APART, 1000000);
	reg_write(&G, JOB_IRQ_CLEAR, 0xffffffff);
	/* The first waits, is not wanted, and becomes one with the second, which is. */
	request(GLB_SAMPLE);
	same(BENCH_GET(&G, FAULT_HITS) > 0, true, "an interrupt that waits");
	BENCH_SET(&G, RING_FULL, 1);
	request(GLB_SAMPLE);
	same(open_request(GLB_OVERFLOW), true, "OVERFLOW");
	same(reg_read(&G, JOB_IRQ_RAWSTAT) >> 31, 0, "an interrupt before the time");
	vgpu_step(&G, 1000000);
	same(reg_read(&G, JOB_IRQ_RAWSTAT) >> 31, 1, "an interrupt after it");

	/* One that came early, since counters were turned off, is none that is on its way. */
	BENCH_SET(&G, RING_FULL, 0);
	in_set(&G, IN_ACK_IRQ_MASK, GLB_ENABLE | GLB_OVERFLOW);
	request(GLB_ENABLE);
	reg_write(&G, JOB_IRQ_CLEAR, 0xffffffff);
	request(GLB_ENABLE);
	vgpu_step(&G, 1000000);
	same(reg_read(&G, JOB_IRQ_RAWSTAT) >> 31, 1, "an interrupt about ENABLE");
}

/*
 * What is late is written before counters are off, also where nobody may write any more: it was on its
 * way before.
 */
static void test_late_and_locked(void)
{
	begin("mali-csf,model=g610");
	vgpu_as_setup(&G, 1, TABLES_PA, 48);
	program_counters(1);
	request(GLB_ENABLE);
	BENCH_SET(&G, DATA_LATE, 1000000);
	data_set(COUNTERS + 8, 0);
	request(GLB_SAMPLE);
	same(out_get(&G, OUT_INSERT), 1, "samples");
	same(data_get(COUNTERS + 8), 0, "PRFCNT_EN before counters are off");
	vgpu_as_lock(&G, 1, RING_VA, 24);
	request(GLB_ENABLE);
	same(open_request(GLB_ENABLE), false, "ENABLE is open");
	same(data_get(COUNTERS + 8), 0xffff, "PRFCNT_EN");
}

/* Switches that are on, and what is no different for that. */
static void test_fault_hits(void)
{
	begin("mali-csf,model=g610");
	program_counters(0);
	request(GLB_ENABLE);
	BENCH_SET(&G, EXTRACT_LATCHED, 1);
	BENCH_SET(&G, EVENTS_FEW, 1);
	BENCH_SET(&G, HALT_FIRST, 1);
	BENCH_SET(&G, IRQ_APART, 1);
	BENCH_SET(&G, OVERWRITE, 1);
	alive("with switches that are on");
	in_set(&G, IN_CONFIG, 4);
	request(GLB_ENABLE);
	in_set(&G, IN_EXTRACT, 0);
	request(GLB_ENABLE);
	request(GLB_SAMPLE);
	same(out_get(&G, OUT_INSERT), 1, "samples");
	same(BENCH_GET(&G, FAULT_HITS), 0, "differences, and nothing was different");
	/* EXTRACT has moved, and no doorbell has rung since. */
	in_set(&G, IN_EXTRACT, 1);
	BENCH_SET(&G, SLEEP, 1);
	same(BENCH_GET(&G, FAULT_HITS) > 0, true, "differences, with another EXTRACT");
}

/* Two samples at one time: in the second no cycle has gone by that another could be ahead of. */
static void test_busy_skew(void)
{
	uint64_t before;

	begin("mali-csf,model=g610");
	BENCH_SET(&G, ACTIVITY, 1);
	program_counters(0);
	request(GLB_ENABLE);
	BENCH_SET(&G, BUSY_SKEW, 1000);
	vgpu_step(&G, 1000000);
	before = emitted(TYPE_CSHW, GPU_ITER_ACTIVE);
	BENCH_SET(&G, SLEEP, 1);
	same(out_get(&G, OUT_INSERT), 1, "samples");
	same(emitted(TYPE_CSHW, GPU_ITER_ACTIVE) - before >= 1000, true, "cycles that are ahead, in the first");
	before = emitted(TYPE_CSHW, GPU_ITER_ACTIVE);
	BENCH_SET(&G, SLEEP, 0);
	same(out_get(&G, OUT_INSERT), 2, "samples");
	same(emitted(TYPE_CSHW, GPU_ITER_ACTIVE) - before, 0, "in the second");
}

static void store_in_space(uint64_t va)
{
	inserted = 0;
	emit(cs_move(0, va));
	emit(cs_move32(2, 0x1234));
	emit(cs_store(2, 0, 1, 0));
	emit(cs_wait(1));
}

/* Another table, for a stream in address space 1: entries of the ring and of DATA at small addresses. */
static void test_small_space(void)
{
	const uint64_t root = RING_PA + 0x40000, leaf = root + 4096;
	const uint64_t attrs = 3ull | 3ull << 8 | 1ull << 10;

	begin("mali-csf,model=g610");
	/* 24 bits of input address: the root is a table of 2 MiB entries, of which 8 can be reached. */
	ram_set(&G, root, leaf | 3);
	ram_set(&G, root + 8 * 7, leaf | 3);
	for (unsigned int i = 0; i < 2; i++)
		ram_set(&G, leaf + 8 * i, (RING_PA + (i ? DATA : STREAM_RING)) | attrs);
	vgpu_as_setup(&G, 1, root, 24);
	store_in_space(0xe01000);
	publish();
	start_group(1);
	/* The ring lies at 0 there. */
	same(reg_read(&G, FAULTSTATUS(1)) & 0xff, 0xe0, "FAULTSTATUS of an address that does not fit");
	vgpu_as_setup(&G, 1, root, 24);
	ram_set(&G, group_in(0) + CSG_REQ, 0);
	group_doorbell();
	ram_set(&G, stream_in() + CS_RING_BASE, 0);
	data_set64(STREAM_IN, inserted);
	data_set64(STREAM_IN + 8, 0);
	ram_set(&G, group_in(0) + CSG_REQ, 1);
	ram_set(&G, stream_in() + CS_RING_BASE, 0);
	group_doorbell();
	vgpu_step(&G, 100000);
	same(data_get(DATA), 0x1234, "what the stream stores");
}

/* More bits of input address than the MMU has: those it has. */
static void test_large_space(void)
{
	begin("mali-csf,model=g610");
	for (unsigned int bits = 49; bits <= 55; bits++) {
		data_set(DATA, 0);
		vgpu_as_setup(&G, 1, TABLES_PA, bits);
		store_in_space(RING_VA + DATA);
		start_group(1);
		vgpu_step(&G, 100000);
		same(data_get(DATA), 0x1234, "what a stream stores");
		ram_set(&G, group_in(0) + CSG_REQ, 0);
		group_doorbell();
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
	{ "doorbells of groups that there are not", test_doorbell_bits },
	{ "no more groups than doorbells", test_csgs },
	{ "power domains that there are not", test_power_domains },
	{ "the GPU does not reach its own registers", test_dma_to_registers },
	{ "page tables are in memory", test_tables_in_registers },
	{ "a stream that asks for the time again and again", test_time_stop },
	{ "streams of empty jobs", test_empty_jobs },
	{ "the highest rate of a clock", test_high_rate },
	{ "GPU_CYCLE_COUNT", test_cycle_count },
	{ "GPU_CYCLE_COUNT as streams store it, and without it", test_cycle_count_stored },
	{ "clocks that do not run as set", test_real_rate },
	{ "clocks of the board", test_board },
	{ "a full disk ends the ledger, not QEMU", test_full_disk },
	{ "faults that are rare", test_rare_faults },
	{ "a GPU without clocks", test_gates },
	{ "a GPU without one of its clocks", test_one_clock },
	{ "what a reset does not leave", test_soft_reset },
	{ "a reset of the machine", test_machine_reset },
	{ "HALT at boot, and the L2", test_halt_at_boot },
	{ "no counting without the L2", test_counts_without_l2 },
	{ "a translation is dropped with its region", test_tlb },
	{ "attributes of memory", test_attributes },
	{ "what is in caches could be written", test_cached_access },
	{ "what is in caches is seen after a flush", test_cached_until_flushed },
	{ "page tables are walked once", test_walks },
	{ "a user doorbell wakes firmware that may run", test_user_doorbell_locked },
	{ "a global doorbell makes SYNC_WAIT look again", test_sync_wait },
	{ "a locked counter ring is tried again, in any address space", test_jasid_locked },
	{ "the progress timer counts a stream that is out of memory", test_progress_out_of_memory },
	{ "a group without memory is suspended", test_suspend_without_memory },
	{ "a handler for want of memory is suspended", test_suspend_in_handler },
	{ "HALT_STATUS", test_halt_status },
	{ "a fault in the counter ring", test_ring_fault },
	{ "busy cycles ahead of active ones", test_busy_skew },
	{ "cycles of one clock in those of another, in pieces", test_converted_cycles },
	{ "memory that is written late, and all flushes", test_memory_late },
	{ "interrupts that lie apart", test_irq_apart },
	{ "what is late, and its ring is locked", test_late_and_locked },
	{ "how often a fault has made a difference", test_fault_hits },
	{ "a small address space", test_small_space },
	{ "an address space that is too large", test_large_space },
	{ "PWR_CONTROL: commands, states, interrupts", test_pwr_control },
	{ "PWR_CONTROL: what is delegated to firmware", test_pwr_delegation },
	{ "latencies that are drawn", test_latencies },
	{ "a group takes its time to be suspended", test_slow_suspend },
	{ "a suspend buffer with anything in it", test_suspend_buffer },
};

#define NTESTS (sizeof(tests) / sizeof(tests[0]))

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: device QEMU SCRATCH-DIRECTORY [TEST-NUMBER]\n");
		return 2;
	}
	qemu = argv[1];
	scratch = argv[2];
	vgpu_last_words = "# ";
	printf("1..%zu\n", argc > 3 ? 1 : NTESTS);
	for (unsigned int i = 0; i < NTESTS; i++) {
		int status;
		pid_t pid;

		if (argc > 3 && (unsigned int)atoi(argv[3]) != i + 1)
			continue;
		fflush(stdout);
		pid = fork();
		if (!pid) {
			/* Of a QEMU that does not answer this is the end. */
			alarm(PATIENCE);
			tests[i].run();
			fflush(stdout);
			_exit(failed);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status))
			printf("# QEMU does not answer (signal %d)\n", WTERMSIG(status));
		printf("%sok %d - %s\n", status ? "not " : "", argc > 3 ? 1 : i + 1, tests[i].name);
	}
	return 0;
}
