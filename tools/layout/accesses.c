// SPDX-License-Identifier: MIT
/*
 * Counts what panthor_perf_fw_sample_read() reads and writes of the firmware
 * ring, against the bytes of the blocks that exist. Prints TAP.
 */

#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "counted.h"
#undef memcpy
#undef WRITE_ONCE

#include "panthor_perf_layout.h"

/* Where the layout believes the ring to be, inaccessible, and where it is. */
static u8 *fake, *ring;
static size_t ring_size;
static unsigned int reads, writes;
static size_t bytes_read, bytes_written;

void *ring_access(const volatile void *p, size_t size, int write)
{
	size_t offset = (const volatile u8 *)p - fake;

	if (offset >= ring_size)
		return NULL;

	if (write) {
		writes++;
		bytes_written += size;
	} else {
		reads++;
		bytes_read += size;
	}
	return ring + offset;
}

struct access_case {
	const char *name;
	struct panthor_perf_layout_params params;
	bool front_only, cores_off;
	unsigned int reads, writes;
	size_t bytes_read, bytes_written;
};

#define G610 { .gpu_id = 0xa8670000, .mem_features = 3 << 8, .shader_present = 0x50005,	\
	       .user_shader_present = 0x50005, .glb_version = 0x01010000, .group_num = 8,	\
	       .perfcnt_size = 25 }
#define G715 { .gpu_id = 0xb8020000, .mem_features = 3 << 8, .shader_present = 0x170077,	\
	       .user_shader_present = 0x170077, .glb_version = 0x03000000, .group_num = 8,	\
	       .perfcnt_size = 18 << 16 | 54, .perfcnt_features = 2, .prfcnt_features = 2 }

static const struct access_case cases[] = {
	/* Each byte of a block is read once: 64 of them to see that it was written, then 32 at a time. */
	{ "G610, all blocks", G610, false, false, 70, 10, 2560, 40 },
	{ "G610, cores without power", G610, false, true, 46, 6, 1792, 24 },
	{ "G610, front end alone", G610, true, false, 7, 10, 256, 40 },
	/* 25 blocks, 16 bytes of metadata and two words of it cleared. */
	{ "G715, all blocks", G715, false, false, 376, 27, 12816, 108 },
	{ "G715, front end alone", G715, true, false, 16, 27, 528, 108 },
};

static bool run(const struct access_case *c)
{
	struct panthor_perf_layout layout;
	struct panthor_perf_fw_sample *sample;
	u64 asked[PANTHOR_PERF_BLOCK_WORDS] = { ~0ull, ~0ull };
	const char *why;
	size_t blocks;
	bool ok;
	u32 b;

	if (panthor_perf_layout_init(&layout, &c->params, &why)) {
		printf("# %s\n", why);
		return false;
	}

	sample = calloc(1, layout.fw_copy_size);
	ring_size = layout.fw_sample_size;
	fake = mmap(NULL, ring_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ring = calloc(1, ring_size);
	if (!sample || fake == MAP_FAILED || !ring) {
		perror("layout-accesses: cannot allocate");
		exit(1);
	}

	for (b = 0; b < layout.num_blocks; b++)
		if (!c->cores_off || b < layout.shader_block)
			((u32 *)(ring + layout.blocks[b].fw_offset))[2] = 0xffffffff;

	if (c->front_only) {
		memset(asked, 0, sizeof(asked));
		asked[0] = BIT_ULL(layout.cshw_block);
	}

	reads = writes = bytes_read = bytes_written = 0;
	panthor_perf_fw_sample_read(&layout, fake, asked, sample);

	blocks = (size_t)layout.num_blocks * layout.fw_block_size;
	ok = reads == c->reads && writes == c->writes && bytes_read == c->bytes_read &&
	     bytes_written == c->bytes_written;
	printf("# %s: %zu bytes in %u reads (%.2f of the %zu bytes of all blocks), "
	       "%zu bytes in %u writes\n", c->name, bytes_read, reads,
	       (double)bytes_read / blocks, blocks, bytes_written, writes);
	if (!ok)
		printf("# expected %zu bytes in %u reads, %zu bytes in %u writes\n",
		       c->bytes_read, c->reads, c->bytes_written, c->writes);

	munmap(fake, ring_size);
	free(ring);
	free(sample);
	return ok;
}

int main(void)
{
	int status = 0;
	size_t i;
	bool ok;

	printf("1..%zu\n", ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		ok = run(&cases[i]);
		printf("%sok %zu - ring accesses: %s\n", ok ? "" : "not ", i + 1, cases[i].name);
		status |= !ok;
	}
	return status;
}
