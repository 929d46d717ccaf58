// SPDX-License-Identifier: MIT
/*
 * mkfw - make a firmware file for the virtual Mali
 *
 * A valid container of the format that Mali CSF firmware comes in: a header,
 * interface entries which say what to map where in the MCU's address space,
 * build information. See mali-csf-fw.h for what is in the code section.
 */
#include <endian.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mali-csf-fw.h"

#define FW_MAGIC		0xc3f13a6e
#define ENTRY_IFACE		0
#define ENTRY_BUILD_INFO	6
#define ENTRY_OPTIONAL		(1u << 31)	/* for loaders which do not know the type */

#define SEC_RD			(1u << 0)
#define SEC_WR			(1u << 1)
#define SEC_EX			(1u << 2)
#define SEC_CACHED		(1u << 3)
#define SEC_UNCACHED_COHERENT	(2u << 3)
#define SEC_SHARED		(1u << 30)
#define SEC_ZERO		(1u << 31)

#define SHARED_VA		0x04000000u
#define SHARED_SIZE		0x00090000u

#define PAGE			4096u

static uint8_t file[64 * 1024];
static size_t len;

static void put32(uint32_t v)
{
	v = htole32(v);
	memcpy(file + len, &v, 4);
	len += 4;
}

static void section(const char *name, uint32_t flags, uint32_t va,
		    uint32_t size, uint32_t data, uint32_t data_size)
{
	uint32_t name_len = (strlen(name) + 1 + 3) & ~3u;

	put32(ENTRY_IFACE | (4 + 20 + name_len) << 8);
	put32(flags);
	put32(va);
	put32(va + size);
	put32(data);
	put32(data + data_size);
	memcpy(file + len, name, strlen(name));
	len += name_len;
}

int main(int argc, char **argv)
{
	static const char git_sha[] = "git_sha: virtual-mali";
	static const struct option opts[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "interface", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	const char *out = NULL;
	unsigned int major, minor, patch;
	uint32_t iface = 0, code = PAGE, meta;
	struct mali_fw_image *img;
	FILE *f;
	char end;
	int c;

	while ((c = getopt_long(argc, argv, "o:i:h", opts, NULL)) != -1) {
		switch (c) {
		case 'o':
			out = optarg;
			break;
		case 'i':
			if (sscanf(optarg, "%u.%u.%u%c", &major, &minor, &patch, &end) != 3 ||
			    !major || major > 255 || minor > 255 || patch > 65535) {
				fprintf(stderr, "mkfw: '%s': an interface version is X.Y.Z, e.g. 1.5.0\n",
					optarg);
				return 2;
			}
			iface = major << 24 | minor << 16 | patch;
			break;
		case 'h':
			printf("usage: mkfw -o FILE [-i X.Y.Z]\n\n"
			       "Make a firmware file for the virtual Mali. -i: the interface version it\n"
			       "publishes, in place of the GPU model's own.\n");
			return 0;
		default:
			return 2;
		}
	}
	if (!out || optind != argc) {
		fprintf(stderr, "usage: mkfw -o FILE [-i X.Y.Z]\n");
		return 2;
	}

	/* Header: the size is that of header and entries, set last. */
	put32(FW_MAGIC);
	put32(0);		/* version 0.0 */
	put32(0x6d616c69);	/* version hash */
	put32(0);
	put32(0);

	meta = code + MALI_FW_CODE_SIZE;
	section("code", SEC_RD | SEC_EX | SEC_CACHED, MALI_FW_CODE_VA,
		MALI_FW_CODE_SIZE, code, MALI_FW_CODE_SIZE);
	section("data", SEC_RD | SEC_WR | SEC_CACHED | SEC_ZERO, MALI_FW_DATA_VA,
		MALI_FW_DATA_SIZE, 0, 0);
	section("shared", SEC_RD | SEC_WR | SEC_UNCACHED_COHERENT | SEC_SHARED | SEC_ZERO,
		SHARED_VA, SHARED_SIZE, 0, 0);
	put32(ENTRY_BUILD_INFO | (4 + 8) << 8 | ENTRY_OPTIONAL);
	put32(meta);
	put32(sizeof(git_sha));
	c = len;
	len = 16;
	put32(c);

	/* Code: whatever, so long as it is the same when it is read back. */
	img = (void *)(file + code);
	img->magic = htole32(MALI_FW_MAGIC);
	img->version = htole32(MALI_FW_VERSION);
	img->size = htole32(MALI_FW_CODE_SIZE);
	img->iface_version = htole32(iface);
	for (size_t i = sizeof(*img); i < MALI_FW_CODE_SIZE; i++)
		file[code + i] = i * 167 + (i >> 8);
	img->crc = htole32(mali_fw_crc32(file + code + sizeof(*img),
					 MALI_FW_CODE_SIZE - sizeof(*img)));
	memcpy(file + meta, git_sha, sizeof(git_sha));
	len = meta + sizeof(git_sha);

	f = fopen(out, "wb");
	if (!f || fwrite(file, 1, len, f) != len || fclose(f)) {
		fprintf(stderr, "mkfw: %s: %s\n", out, strerror(errno));
		return 1;
	}
	return 0;
}
