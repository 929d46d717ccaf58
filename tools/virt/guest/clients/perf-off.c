// SPDX-License-Identifier: MIT
/*
 * perf-off - what panthor says of performance counters when it is built without them
 *
 * Shares nothing with the other programs: numbers and sizes as they are in the
 * interface. Prints every field of the query that is not 0, and how each command
 * of the ioctl ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* _IOWR('d', nr, size) */
#define DRM_IOWR(nr, size) (0xc0000000u | (uint32_t)(size) << 16 | 'd' << 8 | (nr))
#define DEV_QUERY	DRM_IOWR(0x40, sizeof(struct query))
#define PERF_CONTROL	0xc018649cu

#define PERF_INFO	0x3ffffff0
#define COMMANDS	6

struct query {
	uint32_t type, size;
	uint64_t pointer;
};

struct control {
	uint32_t cmd, handle;
	uint64_t size, pointer;
};

union info {
	uint32_t words[16];
	unsigned char bytes[64];
};

static void print_info(const union info *info, unsigned int size)
{
	printf("query of %u bytes:", size);
	for (unsigned int i = 0; i < sizeof(info->words) / sizeof(info->words[0]); i++)
		if (info->words[i])
			printf(" %u=%u", i, info->words[i]);
	printf("\n");
}

int main(void)
{
	struct query query = { .type = PERF_INFO };
	int fd = open("/dev/dri/renderD128", O_RDWR);

	if (fd < 0) {
		perror("perf-off");
		return 1;
	}

	if (ioctl(fd, DEV_QUERY, &query))
		printf("size of the query: %s\n", strerror(errno));
	else
		printf("size of the query: %u\n", query.size);

	for (unsigned int size = 44; size <= 64; size += 20) {
		/* What the kernel does not write stays. */
		union info info = { 0 };

		query = (struct query) { .type = PERF_INFO, .size = size, .pointer = (uintptr_t)&info };
		if (ioctl(fd, DEV_QUERY, &query))
			printf("query of %u bytes: %s\n", size, strerror(errno));
		else
			print_info(&info, size);
	}

	for (unsigned int cmd = 0; cmd < COMMANDS; cmd++) {
		static const unsigned char zeros[136];
		struct control sized = { .cmd = cmd }, full = {
			.cmd = cmd, .handle = 7, .size = sizeof(zeros), .pointer = (uintptr_t)zeros,
		};
		const struct control was = full;
		const char *first, *second;

		first = ioctl(fd, PERF_CONTROL, &sized) ? strerror(errno) : "good";
		second = ioctl(fd, PERF_CONTROL, &full) ? strerror(errno) : "good";
		printf("command %u: %s, %s%s\n", cmd, first, second,
		       memcmp(&was, &full, sizeof(was)) ? ", and its arguments are others" : "");
	}
	return 0;
}
