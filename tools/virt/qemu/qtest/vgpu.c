// SPDX-License-Identifier: MIT
/*
 * The virtual Mali without a guest
 *
 * Register offsets are those which panthor uses; the page tables are AArch64
 * stage 1 with 4 KiB pages, as its io-pgtable makes them.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libfdt.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../mali-csf-bench-regs.h"
#include "../mali-csf-fw.h"
#include "vgpu.h"

#define GPU_ID		0x00
#define GPU_CMD		0x30
#define L2_PRESENT	0x120
#define L2_READY	0x160
#define L2_PWRON	0x1a0
#define PWR_COMMAND	0x828
#define PWR_CMDARG	0x830
#define MCU_CONTROL	0x700
#define MCU_STATUS	0x704
#define JOB_RAWSTAT	0x1000
#define JOB_CLEAR	0x1004
#define AS(n)		(0x2400 + 0x40 * (n))

#define PTE_VALID_PAGE	3ull
#define PTE_RDONLY	(1ull << 7)
#define PTE_SH_INNER	(3ull << 8)
#define PTE_AF		(1ull << 10)
#define PTE_XN		(3ull << 53)

const char *vgpu_last_words = "Bail out! ";

__attribute__((noreturn, format(printf, 1, 2)))
static void bail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs(vgpu_last_words, stdout);
	vprintf(fmt, ap);
	putchar('\n');
	va_end(ap);
	fflush(stdout);
	exit(1);
}

/* ---- the protocol ---- */

static void put(struct vgpu *g, const char *s, size_t n)
{
	while (n) {
		ssize_t w = write(g->fd, s, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			bail("QEMU does not listen any more: %s", strerror(errno));
		s += w;
		n -= w;
	}
}

/* A line that is an answer; returns what follows "OK". */
static const char *answer(struct vgpu *g, char *line, size_t size)
{
	for (;;) {
		size_t n = 0;

		for (;;) {
			char c;

			if (g->in_pos == g->in_len) {
				ssize_t r = read(g->fd, g->in, sizeof(g->in));

				if (r < 0 && errno == EINTR)
					continue;
				if (r <= 0)
					bail("QEMU has gone");
				g->in_len = r;
				g->in_pos = 0;
			}
			c = g->in[g->in_pos++];
			if (c == '\n')
				break;
			if (n + 1 < size)
				line[n++] = c;
		}
		line[n] = 0;
		if (!strncmp(line, "OK", 2))
			return line + 2;
		if (strncmp(line, "IRQ", 3))
			bail("QEMU answers '%s'", line);
	}
}

static uint64_t command(struct vgpu *g, const char *fmt, ...)
{
	char line[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	put(g, line, n);
	return strtoull(answer(g, line, sizeof(line)), NULL, 0);
}

uint32_t vgpu_read(struct vgpu *g, uint64_t addr)
{
	return command(g, "readl 0x%" PRIx64 "\n", addr);
}

void vgpu_write(struct vgpu *g, uint64_t addr, uint32_t val)
{
	command(g, "writel 0x%" PRIx64 " 0x%x\n", addr, val);
}

void vgpu_step(struct vgpu *g, uint64_t ns)
{
	g->now = command(g, "clock_step %" PRIu64 "\n", ns);
}

void vgpu_batch(struct vgpu *g, const char *lines, unsigned int n)
{
	char line[256];

	put(g, lines, strlen(lines));
	while (n--)
		answer(g, line, sizeof(line));
}

/* The monitor talks in lines of JSON: one that has @what in it. */
static void monitor_says(struct vgpu *g, const char *what)
{
	char line[4096];
	size_t n = 0;

	for (;;) {
		if (read(g->qmp, &line[n], 1) != 1)
			bail("QEMU's monitor does not say %s", what);
		if (line[n] == '\n') {
			line[n] = 0;
			if (strstr(line, what))
				return;
			n = 0;
		} else if (n + 2 < sizeof(line)) {
			n++;
		}
	}
}

void vgpu_machine_reset(struct vgpu *g)
{
	static const char commands[] = "{ \"execute\": \"qmp_capabilities\" }\n{ \"execute\": \"system_reset\" }\n";

	if (write(g->qmp, commands, strlen(commands)) < 0)
		bail("QEMU's monitor does not listen: %s", strerror(errno));
	/* Its answer is that there will be one, the event that there was one. */
	monitor_says(g, "\"RESET\"");
}

#define SYS_LED		0x08
#define SYS_CFGDATA	0xa0
#define SYS_CFGCTRL	0xa4
#define SYS_CFGSTAT	0xa8
/* START, WRITE, the function of oscillators */
#define OSC_WRITE	(3u << 30 | 1u << 20)

void vgpu_gate(struct vgpu *g, unsigned int clocks)
{
	vgpu_write(g, g->sysreg + SYS_LED, clocks);
}

void vgpu_clock_set(struct vgpu *g, unsigned int clock, uint32_t hz)
{
	vgpu_write(g, g->sysreg + SYS_CFGDATA, hz);
	vgpu_write(g, g->sysreg + SYS_CFGSTAT, 0);
	vgpu_write(g, g->sysreg + SYS_CFGCTRL, OSC_WRITE | clock);
	if (vgpu_read(g, g->sysreg + SYS_CFGSTAT) != 1)
		bail("the board does not set clock %u", clock);
}

/* ---- guest memory ---- */

uint32_t ram_get(struct vgpu *g, uint64_t pa)
{
	return le32toh(*(volatile uint32_t *)(g->ram + (pa - RAM_BASE)));
}

void ram_set(struct vgpu *g, uint64_t pa, uint32_t val)
{
	*(volatile uint32_t *)(g->ram + (pa - RAM_BASE)) = htole32(val);
}

static uint64_t *pte(struct vgpu *g, uint64_t table, unsigned int i)
{
	return (uint64_t *)(g->ram + (table - RAM_BASE)) + i;
}

static uint64_t *leaf(struct vgpu *g, uint64_t va)
{
	uint64_t table = TABLES_PA;

	for (int level = 0; level < 3; level++) {
		uint64_t *e = pte(g, table, va >> (39 - 9 * level) & 0x1ff);

		if (!*e) {
			if (g->tables == TABLES_SIZE / 4096)
				bail("no room for page tables");
			*e = htole64((TABLES_PA + 4096ull * g->tables++) | 3);
		}
		table = le64toh(*e) & ~0xfffull;
	}
	return pte(g, table, va >> 12 & 0x1ff);
}

void vgpu_map(struct vgpu *g, uint64_t va, uint64_t pa, bool writable, bool executable)
{
	*leaf(g, va) = htole64(pa | PTE_VALID_PAGE | PTE_SH_INNER | PTE_AF |
			       (writable ? 0 : PTE_RDONLY) | (executable ? 0 : PTE_XN));
}

void vgpu_unmap(struct vgpu *g, uint64_t va)
{
	*leaf(g, va) = 0;
}

static void map_range(struct vgpu *g, uint64_t va, uint64_t pa, uint64_t len,
		      bool writable, bool executable)
{
	for (uint64_t i = 0; i < len; i += 4096)
		vgpu_map(g, va + i, pa + i, writable, executable);
}

void vgpu_as_command(struct vgpu *g, unsigned int as, uint32_t command)
{
	reg_write(g, AS(as) + 0x18, command);
	/* With the bench page's as_stuck it never ends. */
	for (int i = 0; i < 1000 && reg_read(g, AS(as) + 0x28) & 1; i++)
		vgpu_step(g, 1000);
}

void vgpu_as_lock(struct vgpu *g, unsigned int as, uint64_t va, unsigned int order)
{
	reg_write(g, AS(as) + 0x10, (uint32_t)va | (order - 1));
	reg_write(g, AS(as) + 0x14, va >> 32);
	vgpu_as_command(g, as, AS_LOCK);
}

void vgpu_as_setup(struct vgpu *g, unsigned int as, uint64_t tables, unsigned int bits)
{
	reg_write(g, AS(as) + 0x00, tables);
	reg_write(g, AS(as) + 0x04, tables >> 32);
	reg_write(g, AS(as) + 0x08, 0x4d4d4d4d);
	reg_write(g, AS(as) + 0x0c, 0x4d4d4d4d);
	/* 4 KiB granule, and so many bits of input address */
	reg_write(g, AS(as) + 0x30, 6 | (55 - bits) << 6);
	reg_write(g, AS(as) + 0x34, 0);
	vgpu_as_command(g, as, AS_UPDATE);
}

void vgpu_as_update(struct vgpu *g)
{
	vgpu_as_setup(g, 0, TABLES_PA, 48);
}

/* ---- QEMU ---- */

static uint64_t node_address(const void *fdt, int node, unsigned int ac)
{
	const fdt32_t *reg = fdt_getprop(fdt, node, "reg", NULL);
	uint64_t v = 0;

	while (reg && ac--)
		v = v << 32 | fdt32_to_cpu(*reg++);
	return v;
}

static bool find_node(const void *fdt, const char *compatible, const char *prefix, uint64_t *addr)
{
	int node = -1, bus, len;
	const fdt32_t *ranges;

	while ((node = fdt_node_offset_by_compatible(fdt, node, compatible)) >= 0) {
		const char *name = fdt_get_name(fdt, node, NULL);

		if (prefix && strncmp(name, prefix, strlen(prefix)))
			continue;
		bus = fdt_parent_offset(fdt, node);
		*addr = node_address(fdt, node, fdt_address_cells(fdt, bus));
		/* The platform bus: child (1 cell), parent (2 cells), size. */
		ranges = fdt_getprop(fdt, bus, "ranges", &len);
		if (ranges && len >= 16)
			*addr += (uint64_t)fdt32_to_cpu(ranges[1]) << 32 | fdt32_to_cpu(ranges[2]);
		return true;
	}
	return false;
}

bool vgpu_start(struct vgpu *g, const char *qemu, const char *device, const char *scratch)
{
	char memory[512], chardev[64], monitor[64], errors[512];
	int pair[2], qmp[2], fd;

	memset(g, 0, sizeof(*g));
	snprintf(g->ram_path, sizeof(g->ram_path), "%s/ram-XXXXXX", scratch);
	fd = mkstemp(g->ram_path);
	if (fd < 0 || ftruncate(fd, RAM_SIZE))
		bail("%s: %s", g->ram_path, strerror(errno));
	g->ram = mmap(NULL, RAM_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (g->ram == MAP_FAILED || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, qmp))
		bail("%s", strerror(errno));
	close(fd);
	fcntl(pair[0], F_SETFD, FD_CLOEXEC);
	fcntl(qmp[0], F_SETFD, FD_CLOEXEC);
	snprintf(memory, sizeof(memory), "memory-backend-file,id=ram,size=%u,mem-path=%s,share=on",
		 RAM_SIZE, g->ram_path);
	snprintf(chardev, sizeof(chardev), "socket,id=qtest,fd=%d", pair[1]);
	snprintf(monitor, sizeof(monitor), "socket,id=monitor,fd=%d", qmp[1]);
	snprintf(errors, sizeof(errors), "%s/qemu.err", scratch);

	fflush(stdout);
	g->pid = fork();
	if (g->pid < 0)
		bail("fork: %s", strerror(errno));
	if (!g->pid) {
		int err = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		/* It has no other end than that of the test. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(err, 2);
		dup2(err, 1);
		execl(qemu, qemu, "-machine", "virt,memory-backend=ram", "-accel", "qtest",
		      "-object", memory, "-m", "64", "-nodefaults", "-display", "none",
		      "-chardev", chardev, "-qtest", "chardev:qtest", "-qtest-log", "none",
		      "-chardev", monitor, "-mon", "monitor,mode=control",
		      "-device", device, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	close(qmp[1]);
	g->fd = pair[0];
	g->qmp = qmp[0];

	/* QEMU has come up when it answers; it says why not in its errors. */
	put(g, "clock_step 0\n", 13);
	{
		char c;

		if (recv(g->fd, &c, 1, MSG_PEEK) != 1) {
			FILE *f = fopen(errors, "r");
			char line[512];

			printf("# QEMU does not start with -device %s\n", device);
			while (f && fgets(line, sizeof(line), f))
				printf("# %s", line);
			return false;
		}
	}
	{
		char line[256];

		g->now = strtoull(answer(g, line, sizeof(line)), NULL, 0);
	}
	/* Without a kernel the machine leaves its device tree where memory starts. */
	if (fdt_check_header(g->ram))
		bail("no device tree at the start of memory");
	if (!find_node(g->ram, "arm,mali-valhall-csf", NULL, &g->regs) ||
	    !find_node(g->ram, MALI_BENCH_COMPATIBLE, NULL, &g->bench) ||
	    !find_node(g->ram, "arm,vexpress-sysreg", NULL, &g->sysreg))
		bail("the device tree has no virtual Mali");
	vgpu_gate(g, VGPU_CLOCKS);
	return true;
}

int vgpu_stop(struct vgpu *g)
{
	int status;

	kill(g->pid, SIGTERM);
	while (waitpid(g->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(g->fd);
	close(g->qmp);
	munmap(g->ram, RAM_SIZE);
	unlink(g->ram_path);
	return status;
}

/* ---- the bench page ---- */

unsigned int vgpu_bench_bits(uint32_t off)
{
	switch (off) {
#define BITS(sym, name, bits, r, w, help) case MALI_BENCH_##sym: return bits;
	MALI_BENCH_REGS(BITS)
#undef BITS
	}
	bail("no bench register 0x%x", off);
}

uint64_t bench_get(struct vgpu *g, uint32_t off, unsigned int bits)
{
	uint64_t v = vgpu_read(g, g->bench + off);

	if (bits == 64)
		v |= (uint64_t)vgpu_read(g, g->bench + off + 4) << 32;
	return v;
}

void bench_set(struct vgpu *g, uint32_t off, unsigned int bits, uint64_t val)
{
	vgpu_write(g, g->bench + off, val);
	if (bits == 64)
		vgpu_write(g, g->bench + off + 4, val >> 32);
}

/* ---- firmware ---- */

/* What mkfw puts into the code section. */
static void load_image(struct vgpu *g)
{
	uint8_t *code = g->ram + (CODE_PA - RAM_BASE);
	struct mali_fw_image img = {
		.magic = htole32(MALI_FW_MAGIC),
		.version = htole32(MALI_FW_VERSION),
		.size = htole32(MALI_FW_CODE_SIZE),
	};

	for (size_t i = sizeof(img); i < MALI_FW_CODE_SIZE; i++)
		code[i] = i * 13 + 5;
	img.crc = htole32(mali_fw_crc32(code + sizeof(img), MALI_FW_CODE_SIZE - sizeof(img)));
	memcpy(code, &img, sizeof(img));
}

bool vgpu_mcu_start(struct vgpu *g)
{
	reg_write(g, JOB_CLEAR, 0xffffffff);
	reg_write(g, MCU_CONTROL, 2);
	/* Booting takes as long as it takes, but not for ever. */
	for (int i = 0; i < 1000; i++) {
		if (reg_read(g, JOB_RAWSTAT) & 1u << 31)
			break;
		vgpu_step(g, 1000);
	}
	g->glb_in = ram_get(g, SHARED_PA + 8) - SHARED_VA;
	g->glb_out = ram_get(g, SHARED_PA + 12) - SHARED_VA;
	return reg_read(g, JOB_RAWSTAT) >> 31 && reg_read(g, MCU_STATUS) == 1 &&
	       g->glb_in < SHARED_BYTES && g->glb_out < SHARED_BYTES;
}

uint64_t reg_read64(struct vgpu *g, uint32_t off)
{
	uint32_t low = reg_read(g, off);

	return low | (uint64_t)reg_read(g, off + 4) << 32;
}

bool vgpu_has_pwr_control(struct vgpu *g)
{
	return reg_read(g, GPU_ID) >> 28 >= 14;
}

void vgpu_pwr_command(struct vgpu *g, uint32_t command, unsigned int domain, uint64_t argument)
{
	reg_write(g, PWR_CMDARG, argument);
	reg_write(g, PWR_CMDARG + 4, argument >> 32);
	reg_write(g, PWR_COMMAND, command | domain << 8);
}

/* The L2, with cores and tiler left to firmware. */
static void power_l2(struct vgpu *g)
{
	if (vgpu_has_pwr_control(g)) {
		vgpu_pwr_command(g, PWR_UP, DOMAIN_L2, 1);
		for (int i = 0; i < 1000 && !reg_read(g, PWR_L2 + PWR_READY); i++)
			vgpu_step(g, 1000);
		vgpu_pwr_command(g, PWR_DELEGATE, DOMAIN_SHADER, 0);
		vgpu_pwr_command(g, PWR_DELEGATE, DOMAIN_TILER, 0);
		return;
	}
	reg_write(g, L2_PWRON, reg_read(g, L2_PRESENT));
	for (int i = 0; i < 1000 && !reg_read(g, L2_READY); i++)
		vgpu_step(g, 1000);
}

bool vgpu_boot(struct vgpu *g)
{
	memset(g->ram + (TABLES_PA - RAM_BASE), 0, TABLES_SIZE);
	g->tables = 1;
	memset(g->ram + (SHARED_PA - RAM_BASE), 0, SHARED_BYTES);
	load_image(g);
	map_range(g, MALI_FW_CODE_VA, CODE_PA, MALI_FW_CODE_SIZE, false, true);
	map_range(g, SHARED_VA, SHARED_PA, SHARED_BYTES, true, false);
	map_range(g, RING_VA, RING_PA, RING_BYTES, true, false);
	power_l2(g);
	vgpu_as_update(g);
	return vgpu_mcu_start(g);
}

void vgpu_mcu_stop(struct vgpu *g)
{
	reg_write(g, MCU_CONTROL, 0);
}

void vgpu_soft_reset(struct vgpu *g)
{
	if (vgpu_has_pwr_control(g))
		vgpu_pwr_command(g, PWR_RESET_SOFT, 0, 0);
	else
		reg_write(g, GPU_CMD, 1 | 1 << 8);
	vgpu_step(g, 1000000);
	power_l2(g);
	vgpu_as_update(g);
}
