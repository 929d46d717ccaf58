// SPDX-License-Identifier: MIT
/*
 * What of the device a fuzzer's input reached: linked to a QEMU whose device
 * is compiled with -fsanitize-coverage=trace-pc
 *
 * The file that VGPU_COVERAGE names is a map of bytes, one for each place of
 * the program that can be told from others.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"

static uint8_t nowhere[COVERAGE_BYTES];
static uint8_t *map = nowhere;

__attribute__((constructor))
static void coverage_open(void)
{
	const char *path = getenv("VGPU_COVERAGE");
	int fd = path ? open(path, O_RDWR) : -1;
	void *p;

	if (fd < 0)
		return;
	p = mmap(NULL, COVERAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p != MAP_FAILED)
		map = p;
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	uintptr_t place = (uintptr_t)__builtin_return_address(0) - (uintptr_t)coverage_open;

	map[place % COVERAGE_BYTES] = 1;
}
