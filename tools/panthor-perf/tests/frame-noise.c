// SPDX-License-Identifier: MIT
/*
 * Frames of programs, for recorders to hear:
 *
 * frame-noise pace NUMBER NS: so many frames, one every so many nanoseconds
 * frame-noise threads NUMBER: four threads with so many frames each, as fast as it goes
 * frame-noise flood NUMBER PID: so many frames while the recorder of this PID is stopped, which goes on before the last one
 * frame-noise fork: three frames, of which a child adds two of its own behind the second
 * frame-noise bad PATH: messages to a recorder's socket, five of which make no sense; the others are of five frames, some more than once
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

static int pace(unsigned long count, unsigned long ns)
{
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (; count; count--) {
		pperf_frame();
		next.tv_nsec += ns;
		next.tv_sec += next.tv_nsec / 1000000000;
		next.tv_nsec %= 1000000000;
		while (ns && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL) == EINTR)
			;
	}
	return 0;
}

static void *add_frames(void *count)
{
	pace(*(unsigned long *)count, 0);
	return NULL;
}

static int threads(unsigned long count)
{
	pthread_t thread[4];
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, add_frames, &count))
			return 1;
	for (i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

static int flood(unsigned long count, pid_t recorder)
{
	pace(count - 1, 0);
	if (kill(recorder, SIGCONT))
		return 1;
	/* This one, or the end of the program, takes what is pending to it. */
	return pace(1, 0);
}

static int fork_between(void)
{
	int status;
	pid_t child;

	pace(2, 0);
	child = fork();
	if (child < 0)
		return 1;
	if (!child)
		exit(pace(2, 0));
	if (waitpid(child, &status, 0) != child || status)
		return 1;
	return pace(1, 0);
}

static int send_bad(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct frame_message m = { .head = { .magic = FRAME_MAGIC, .program = 1, .number = 1, .name = "bad" } };
	const size_t head = sizeof(m.head), one = sizeof(m.times_ns[0]);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	struct timespec t;
	size_t i;

	strncpy(address.sun_path, path, sizeof(address.sun_path) - 1);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return 1;
	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	for (i = 0; i < FRAMES_PENDING; i++)
		m.times_ns[i] = t.tv_sec * 1000000000ull + t.tv_nsec + i;

	/* No frame, half of one, none of a program, two without a number, numbers beyond all. */
	if (send(fd, &m, head, 0) < 0 || send(fd, &m, head + one / 2, 0) < 0)
		return 1;
	m.head.program = 0;
	if (send(fd, &m, head + one, 0) < 0)
		return 1;
	m.head.program = 1;
	m.head.number = 0;
	if (send(fd, &m, head + 2 * one, 0) < 0)
		return 1;
	m.head.number = UINT64_MAX - 1;
	if (send(fd, &m, head + one, 0) < 0)
		return 1;

	/* 1 and 2; these again and 3; 2 again; 7, behind three that are missing; one without a number. */
	m.head.number = 1;
	if (send(fd, &m, head + 2 * one, 0) < 0 || send(fd, &m, head + 3 * one, 0) < 0)
		return 1;
	m.head.number = 2;
	if (send(fd, &m, head + one, 0) < 0)
		return 1;
	m.head.number = 7;
	memcpy(m.head.name, "\x1b[2J", 4);
	m.times_ns[0] = UINT64_MAX;
	if (send(fd, &m, head + one, 0) < 0)
		return 1;
	m.head.number = 0;
	return send(fd, &m, head + one, 0) < 0;
}

int main(int argc, char **argv)
{
	unsigned long number = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	if (argc > 3 && !strcmp(argv[1], "pace"))
		return pace(number, strtoul(argv[3], NULL, 10));
	if (argc > 2 && !strcmp(argv[1], "threads"))
		return threads(number);
	if (argc > 3 && !strcmp(argv[1], "flood"))
		return flood(number, atoi(argv[3]));
	if (argc > 1 && !strcmp(argv[1], "fork"))
		return fork_between();
	if (argc > 2 && !strcmp(argv[1], "bad"))
		return send_bad(argv[2]);
	return 2;
}
