// SPDX-License-Identifier: MIT
/*
 * mali-bench   read and write the virtual Mali's bench page, from the guest
 *
 *   mali-bench                    all registers, their values, what they are
 *   mali-bench NAME...            these values, one a line
 *   mali-bench NAME=VALUE...      set them, in this order; may be mixed with NAME
 *   mali-bench -t TYPE -i INDEX -c COUNTER [NAME...]
 *                                 choose a counter first
 *
 * With -d values are printed in decimal, else in hexadecimal where that reads
 * better. Documentation/virtual-mali.rst explains the registers.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mali-csf-bench-regs.h"

#define PAGE_BYTES 0x10000
#define DT_ROOT "/proc/device-tree"

struct reg {
	unsigned int off;
	const char *name;
	unsigned int bits;
	bool readable, writable;
	const char *help;
};

static const struct reg regs[] = {
#define REG(sym, name, bits, r, w, help) { MALI_BENCH_##sym, name, bits, r, w, help },
	MALI_BENCH_REGS(REG)
#undef REG
};

#define NREGS (sizeof(regs) / sizeof(regs[0]))

static const char *const types[] = {
	NULL, "fw", "csg", "cshw", "tiler", "memsys", "shader"
};

#define NTYPES (sizeof(types) / sizeof(types[0]))

static volatile uint32_t *page;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fputs("mali-bench: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

/* ---- where the page is ---- */

static ssize_t read_prop(const char *node, const char *prop, void *buf, size_t len)
{
	char path[1024];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", node, prop);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	n = read(fd, buf, len);
	close(fd);
	return n;
}

static uint32_t cells(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | p[1] << 16 | p[2] << 8 | p[3];
}

static uint64_t number(const uint8_t *p, unsigned int n)
{
	uint64_t v = 0;

	while (n--) {
		v = v << 32 | cells(p);
		p += 4;
	}
	return v;
}

static unsigned int cell_count(const char *node, const char *prop, unsigned int def)
{
	uint8_t buf[4];

	return read_prop(node, prop, buf, 4) == 4 ? cells(buf) : def;
}

/* Address of a bus's child, seen from the root. */
static bool translate(const char *node, uint64_t *addr)
{
	char bus[512], parent[512], *slash;
	uint8_t ranges[1024];
	ssize_t n;

	for (snprintf(bus, sizeof(bus), "%s", node);
	     strcmp(bus, DT_ROOT) != 0; strcpy(bus, parent)) {
		unsigned int ac, sc, pac, row;
		bool found = false;

		strcpy(parent, bus);
		slash = strrchr(parent, '/');
		*slash = 0;
		ac = cell_count(bus, "#address-cells", 2);
		sc = cell_count(bus, "#size-cells", 1);
		pac = cell_count(parent, "#address-cells", 2);
		n = read_prop(bus, "ranges", ranges, sizeof(ranges));
		if (n < 0)
			return false;
		if (n == 0)
			continue;	/* as they are */
		row = 4 * (ac + pac + sc);
		for (uint8_t *p = ranges; p + row <= ranges + n; p += row) {
			uint64_t child = number(p, ac);
			uint64_t size = number(p + 4 * (ac + pac), sc);

			if (*addr - child < size) {
				*addr += number(p + 4 * ac, pac) - child;
				found = true;
				break;
			}
		}
		if (!found)
			return false;
	}
	return true;
}

static bool find(const char *node, uint64_t *addr)
{
	char compatible[128], child[512];
	const size_t want = sizeof(MALI_BENCH_COMPATIBLE);
	struct dirent *e;
	bool found = false;
	DIR *d;

	if (read_prop(node, "compatible", compatible, sizeof(compatible)) == (ssize_t)want &&
	    !memcmp(compatible, MALI_BENCH_COMPATIBLE, want)) {
		char parent[512];
		uint8_t reg[32];
		unsigned int ac;

		strcpy(parent, node);
		*strrchr(parent, '/') = 0;
		ac = cell_count(parent, "#address-cells", 2);
		if (read_prop(node, "reg", reg, sizeof(reg)) < (ssize_t)(4 * ac) || ac > 2)
			return false;
		*addr = number(reg, ac);
		return translate(parent, addr);
	}
	d = opendir(node);
	if (!d)
		return false;
	while (!found && (e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' ||
		    snprintf(child, sizeof(child), "%s/%s", node, e->d_name) >= (int)sizeof(child))
			continue;
		if (!lstat(child, &st) && S_ISDIR(st.st_mode))
			found = find(child, addr);
	}
	closedir(d);
	return found;
}

static void map_page(void)
{
	uint64_t addr;
	void *p;
	int fd;

	if (access(DT_ROOT, R_OK))
		die("there is no device tree (%s): is /proc mounted?", strerror(errno));
	if (!find(DT_ROOT, &addr))
		die("this machine has no bench page: it is not the virtual Mali's");
	fd = open("/dev/mem", O_RDWR | O_SYNC | O_CLOEXEC);
	if (fd < 0)
		die("/dev/mem: %s (needs root, and a kernel with CONFIG_DEVMEM)", strerror(errno));
	p = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, addr);
	if (p == MAP_FAILED)
		die("cannot map the bench page at 0x%" PRIx64 ": %s", addr, strerror(errno));
	close(fd);
	page = p;
	if (page[MALI_BENCH_ID / 4] != MALI_BENCH_ID_VALUE ||
	    page[MALI_BENCH_VERSION / 4] != MALI_BENCH_VERSION_VALUE)
		die("the bench page at 0x%" PRIx64 " has id 0x%x, version %u, not 0x%x, %u: mali-bench and QEMU are of different builds",
		    addr, page[MALI_BENCH_ID / 4], page[MALI_BENCH_VERSION / 4],
		    MALI_BENCH_ID_VALUE, MALI_BENCH_VERSION_VALUE);
}

/* ---- registers ---- */

static const struct reg *lookup(const char *name, size_t len)
{
	for (size_t i = 0; i < NREGS; i++) {
		if (strlen(regs[i].name) == len && !memcmp(regs[i].name, name, len))
			return &regs[i];
	}
	die("no register '%.*s': mali-bench without arguments lists them", (int)len, name);
}

static uint64_t get(const struct reg *r)
{
	uint64_t v = page[r->off / 4];

	if (r->bits == 64)
		v |= (uint64_t)page[r->off / 4 + 1] << 32;
	return v;
}

static void set(const struct reg *r, uint64_t v)
{
	page[r->off / 4] = v;
	if (r->bits == 64)
		page[r->off / 4 + 1] = v >> 32;
}

static uint64_t parse(const struct reg *r, const char *s)
{
	unsigned int major, minor, patch;
	char *end, tail;
	uint64_t v;

	if ((r->off == MALI_BENCH_IFACE) &&
	    sscanf(s, "%u.%u.%u%c", &major, &minor, &patch, &tail) == 3 &&
	    major < 256 && minor < 256 && patch < 65536)
		return major << 24 | minor << 16 | patch;
	if (r->off == MALI_BENCH_TYPE) {
		for (size_t i = 1; i < NTYPES; i++) {
			if (!strcmp(types[i], s))
				return i;
		}
	}
	errno = 0;
	v = strtoull(s, &end, 0);
	if (errno || end == s || *end || *s == '-' ||
	    (r->bits == 32 && v > UINT32_MAX))
		die("%s=%s: not a number of %u bits", r->name, s, r->bits);
	return v;
}

static bool reads_in_hex(const struct reg *r)
{
	return r->off == MALI_BENCH_ID || r->off == MALI_BENCH_CORES_OFF ||
	       r->off == MALI_BENCH_SHADER_READY || r->off == MALI_BENCH_MCU_FLAGS ||
	       r->off == MALI_BENCH_GPU_STATUS || r->off == MALI_BENCH_IFACE ||
	       r->off == MALI_BENCH_IFACE_NOW || r->off == MALI_BENCH_STORM_KINDS ||
	       r->off == MALI_BENCH_STORM_NOW || r->off == MALI_BENCH_INSERT_SKEW;
}

static void print(const struct reg *r, bool decimal)
{
	printf(reads_in_hex(r) && !decimal ? "0x%" PRIx64 : "%" PRIu64, get(r));
}

static void list(bool decimal)
{
	for (size_t i = 0; i < NREGS; i++) {
		const struct reg *r = &regs[i];
		int n = printf("%s=", r->name);

		if (r->readable) {
			uint64_t v = get(r);

			n += printf(reads_in_hex(r) && !decimal ? "0x%" PRIx64 : "%" PRIu64, v);
		}
		printf("%*s %s\n", n < 34 ? 34 - n : 0, "", r->help);
	}
}

static void usage(FILE *f)
{
	fputs("usage: mali-bench [-d] [-t TYPE] [-i INDEX] [-c COUNTER] [NAME | NAME=VALUE]...\n"
	      "  reads and sets registers of the virtual Mali's bench page; without NAME: all\n"
	      "  -d  all numbers in decimal\n"
	      "  -t, -i, -c  choose a counter: type=TYPE index=INDEX counter=COUNTER\n", f);
}

int main(int argc, char **argv)
{
	static const char opts[] = "dt:i:c:h";
	bool decimal = false;
	int c, i;

	while ((c = getopt(argc, argv, opts)) != -1) {
		if (c == 'h') {
			usage(stdout);
			return 0;
		}
		if (c == '?') {
			usage(stderr);
			return 2;
		}
		if (c == 'd')
			decimal = true;
	}
	/* Everything is looked at before anything is done. */
	for (i = optind; i < argc; i++) {
		const char *eq = strchr(argv[i], '=');
		const struct reg *r = lookup(argv[i], eq ? (size_t)(eq - argv[i]) : strlen(argv[i]));

		if (eq) {
			if (!r->writable)
				die("%s cannot be set", r->name);
			parse(r, eq + 1);
		} else if (!r->readable) {
			die("%s has no value: use %s=1", r->name, r->name);
		}
	}

	map_page();
	optind = 1;
	while ((c = getopt(argc, argv, opts)) != -1) {
		const char *name = c == 't' ? "type" : c == 'i' ? "index" : c == 'c' ? "counter" : NULL;

		if (name) {
			const struct reg *r = lookup(name, strlen(name));

			set(r, parse(r, optarg));
		}
	}
	if (optind == argc)
		list(decimal);
	for (i = optind; i < argc; i++) {
		const char *eq = strchr(argv[i], '=');
		const struct reg *r = lookup(argv[i], eq ? (size_t)(eq - argv[i]) : strlen(argv[i]));

		if (eq) {
			set(r, parse(r, eq + 1));
		} else {
			print(r, decimal);
			putchar('\n');
		}
	}
	return fflush(stdout) ? 1 : 0;
}
