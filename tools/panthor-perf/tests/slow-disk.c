// SPDX-License-Identifier: MIT
/* A library to preload: what is written to a regular file waits until there is a file of the name in SLOW_UNTIL. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t size)
{
	const char *name = getenv("SLOW_UNTIL");
	struct stat file;

	if (name && !fstat(fd, &file) && S_ISREG(file.st_mode))
		while (access(name, F_OK))
			usleep(10000);
	return syscall(SYS_write, fd, bytes, size);
}
