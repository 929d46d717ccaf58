// SPDX-License-Identifier: MIT
/*
 * numbers - which numbers of panthor's interface are taken
 *
 * Shares nothing with the other programs, and has no name for what it asks: the
 * driver's version, how each type of DRM_IOCTL_PANTHOR_DEV_QUERY answers who asks
 * for its size and who asks for what it has, and each ioctl behind GROUP_SUBMIT,
 * a line each.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* _IOWR('d', nr, size) */
#define DRM_IOWR(nr, size) (0xc0000000u | (uint32_t)(size) << 16 | 'd' << 8 | (uint32_t)(nr))
#define VERSION		DRM_IOWR(0x00, sizeof(struct version))
#define DEV_QUERY	DRM_IOWR(0x40, sizeof(struct query))
#define FIRST_IOCTL	0x4d
#define LAST_IOCTL	0x9f
#define ARG_SIZE	24

struct version {
	int32_t major, minor, patchlevel;
	struct {
		uint64_t size, pointer;
	} strings[3];
};

struct query {
	uint32_t type, size;
	uint64_t pointer;
};

static void print_query(int fd, uint32_t type)
{
	static unsigned char answer[4096];
	struct query query = { .type = type };

	if (ioctl(fd, DEV_QUERY, &query))
		printf("query %#x: %s\n", type, strerror(errno));
	else
		printf("query %#x: %u bytes\n", type, query.size);

	query = (struct query) { type, sizeof(answer), (uintptr_t)answer };
	printf("answer %#x: %s\n", type, ioctl(fd, DEV_QUERY, &query) ? strerror(errno) : "good");
}

int main(void)
{
	struct version version = { 0 };
	int fd = open("/dev/dri/renderD128", O_RDWR);

	if (fd < 0 || ioctl(fd, VERSION, &version)) {
		perror("numbers");
		return 1;
	}
	printf("version %d.%d.%d\n", version.major, version.minor, version.patchlevel);

	for (uint32_t type = 0; type < 32; type++)
		print_query(fd, type);
	for (uint32_t type = 0x3fffffe0; type <= 0x40000000; type++)
		print_query(fd, type);

	for (unsigned int nr = FIRST_IOCTL; nr <= LAST_IOCTL; nr++) {
		unsigned char arg[ARG_SIZE] = { 0 };

		printf("ioctl %#x: %s\n", nr,
		       ioctl(fd, DRM_IOWR(nr, sizeof(arg)), arg) ? strerror(errno) : "good");
	}
	return 0;
}
