/* SPDX-License-Identifier: MIT */
/*
 * The virtual Mali without a guest: QEMU under its test protocol, guest memory
 * shared with this program, time that moves only when told
 */
#ifndef VGPU_H
#define VGPU_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define RAM_BASE	0x40000000u
#define RAM_SIZE	(64u << 20)

/* Where this program puts things in guest memory, and in the MCU's address space. */
#define TABLES_PA	(RAM_BASE + (1u << 20))
#define TABLES_SIZE	(1u << 20)
#define CODE_PA		(RAM_BASE + (2u << 20))
#define SHARED_PA	(RAM_BASE + (4u << 20))
#define SHARED_VA	0x04000000u
#define SHARED_BYTES	0x90000u
#define RING_PA		(RAM_BASE + (16u << 20))
#define RING_VA		0x10000000u
#define RING_BYTES	(16u << 20)

struct vgpu {
	pid_t pid;
	int fd;			/* of the test protocol */
	int qmp;		/* of the monitor */
	int in_len, in_pos;
	char in[65536];
	uint8_t *ram;
	char ram_path[256];
	uint64_t regs, bench, sysreg;	/* physical addresses */
	uint64_t now;		/* virtual time, ns */
	uint32_t tables;	/* next free page of TABLES_PA */
	uint32_t glb_in, glb_out;	/* of the shared section, as published */
};

/* What the program says in front of the reason why it cannot go on. */
extern const char *vgpu_last_words;

/* False, with a message in TAP's form, if QEMU does not come up. */
bool vgpu_start(struct vgpu *g, const char *qemu, const char *device, const char *scratch);
/* The exit status of QEMU after SIGTERM. */
int vgpu_stop(struct vgpu *g);

uint32_t vgpu_read(struct vgpu *g, uint64_t addr);
void vgpu_write(struct vgpu *g, uint64_t addr, uint32_t val);
/* The machine is reset. */
void vgpu_machine_reset(struct vgpu *g);
/* Let time pass: timers run on the way. */
void vgpu_step(struct vgpu *g, uint64_t ns);
/* Many lines of the protocol at once, one answer each. */
void vgpu_batch(struct vgpu *g, const char *lines, unsigned int n);

static inline uint32_t reg_read(struct vgpu *g, uint32_t off)
{
	return vgpu_read(g, g->regs + off);
}

static inline void reg_write(struct vgpu *g, uint32_t off, uint32_t val)
{
	vgpu_write(g, g->regs + off, val);
}

/* Clocks of the board: 0 core, 1 coregroup, 2 stacks. */
#define VGPU_CLOCKS	7
/* Open their gates, a bit each, and close the others. */
void vgpu_gate(struct vgpu *g, unsigned int clocks);
void vgpu_clock_set(struct vgpu *g, unsigned int clock, uint32_t hz);

uint64_t bench_get(struct vgpu *g, uint32_t off, unsigned int bits);
void bench_set(struct vgpu *g, uint32_t off, unsigned int bits, uint64_t val);

#define BENCH_GET(g, sym) bench_get(g, MALI_BENCH_##sym, vgpu_bench_bits(MALI_BENCH_##sym))
#define BENCH_SET(g, sym, v) bench_set(g, MALI_BENCH_##sym, vgpu_bench_bits(MALI_BENCH_##sym), v)
unsigned int vgpu_bench_bits(uint32_t off);

/* A word of guest memory. */
uint32_t ram_get(struct vgpu *g, uint64_t pa);
void ram_set(struct vgpu *g, uint64_t pa, uint32_t val);

/* One page in the tables of address space 0; takes effect with vgpu_as_update(). */
void vgpu_map(struct vgpu *g, uint64_t va, uint64_t pa, bool writable, bool executable);
void vgpu_unmap(struct vgpu *g, uint64_t va);
void vgpu_as_update(struct vgpu *g);

/* AS_COMMAND */
enum { AS_UPDATE = 1, AS_LOCK, AS_UNLOCK, AS_FLUSH_PT, AS_FLUSH_MEM };

/* A command of an address space, and the wait for its end. */
void vgpu_as_command(struct vgpu *g, unsigned int as, uint32_t command);
/* Lock 1 << order bytes. */
void vgpu_as_lock(struct vgpu *g, unsigned int as, uint64_t va, unsigned int order);
/* Give an address space tables, and so many bits of input address. */
void vgpu_as_setup(struct vgpu *g, unsigned int as, uint64_t tables, unsigned int bits);

/* Power on the L2, map the firmware, the shared section and the ring, boot. */
bool vgpu_boot(struct vgpu *g);
/* From a stopped MCU, everything mapped. */
bool vgpu_mcu_start(struct vgpu *g);
void vgpu_mcu_stop(struct vgpu *g);

/* PWR_CONTROL, which GPUs have from arch 14 on: registers, domains, commands */
#define PWR_RAWSTAT	0x800
#define PWR_CLEAR	0x804
#define PWR_MASK	0x808
#define PWR_STATUS	0x820
#define PWR_L2		0x900
#define PWR_TILER	0x940
#define PWR_SHADER	0xa00
#define PWR_PRESENT	0x0
#define PWR_READY	0x8
#define PWR_TRANS	0x10

enum { DOMAIN_L2 = 0, DOMAIN_TILER = 1, DOMAIN_SHADER = 8 };

enum {
	PWR_UP = 0x10, PWR_DOWN = 0x11, PWR_DELEGATE = 0x20, PWR_RETRACT = 0x21,
	PWR_RESET_SOFT = 0x31, PWR_RESET_FAST = 0x32, PWR_INSPECT = 0xf0,
};

bool vgpu_has_pwr_control(struct vgpu *g);
void vgpu_pwr_command(struct vgpu *g, uint32_t command, unsigned int domain, uint64_t argument);
uint64_t reg_read64(struct vgpu *g, uint32_t off);
void vgpu_soft_reset(struct vgpu *g);

static inline uint32_t in_get(struct vgpu *g, uint32_t off)
{
	return ram_get(g, SHARED_PA + g->glb_in + off);
}

static inline void in_set(struct vgpu *g, uint32_t off, uint32_t v)
{
	ram_set(g, SHARED_PA + g->glb_in + off, v);
}

static inline uint32_t out_get(struct vgpu *g, uint32_t off)
{
	return ram_get(g, SHARED_PA + g->glb_out + off);
}

static inline void out_set(struct vgpu *g, uint32_t off, uint32_t v)
{
	ram_set(g, SHARED_PA + g->glb_out + off, v);
}

#endif
