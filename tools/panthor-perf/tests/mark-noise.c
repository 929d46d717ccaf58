// SPDX-License-Identifier: MIT
/*
 * mark-noise nonsense PATH: sends a recorder's socket seven messages that make no sense, and two marks of the
 * future and of the past.
 * mark-noise flood NUMBER: so many marks as fast as it goes, and one more that waits until it is taken.
 * mark-noise fill NAME: marks of this name, each of which waits until it is taken, without end.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mark.h"

#define HEAD offsetof(struct mark_message, name)

static int nonsense(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct mark_message good = { .magic = MARK_MAGIC, .time_ns = UINT64_MAX }, bad = good;
	struct {
		const char *name;
		size_t length;
	} names[] = { { "a\x1b[2J", 5 }, { "\xff", 1 }, { "a\0b", 3 } };
	char large[2000] = {};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	size_t i;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	memcpy(large, &good, sizeof(good));
	bad.magic++;
	if (send(fd, "", 0, 0) < 0 || send(fd, &good, HEAD - 1, 0) < 0 || send(fd, &bad, HEAD, 0) < 0 ||
	    send(fd, large, sizeof(large), 0) < 0)
		return 1;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		memcpy(good.name, names[i].name, names[i].length);
		if (send(fd, &good, HEAD + names[i].length, 0) < 0)
			return 1;
	}
	strcpy(good.name, "future");
	if (send(fd, &good, HEAD + 6, 0) < 0)
		return 1;
	good.time_ns = 0;
	strcpy(good.name, "past");
	return send(fd, &good, HEAD + 4, 0) < 0;
}

static int flood(unsigned long count)
{
	unsigned int missed = 1;

	while (count--)
		if (pperf_mark("flood"))
			return 1;
	return pperf_mark_send(NULL, "last", 60000, &missed) || missed;
}

static int fill(const char *name)
{
	unsigned int missed;

	while (!pperf_mark_send(NULL, name, 600000, &missed))
		;
	return 1;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (!strcmp(argv[1], "fill"))
		return fill(argv[2]);
	return strcmp(argv[1], "flood") ? nonsense(argv[2]) : flood(strtoul(argv[2], NULL, 10));
}
