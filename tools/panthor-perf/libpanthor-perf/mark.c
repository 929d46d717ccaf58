// SPDX-License-Identifier: MIT
/*
 * Named moments for whoever records. Nothing is kept between two of them: a recorder may come and go, and a
 * signal's handler, or a child of a program with threads, may mark too. So there is no allocation, no lock,
 * and no function that is not safe there, but for what is said of a name that is none.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"
#include "mark.h"

/* As many recorders as hear of one mark. */
#define MAX_RECORDERS 64

/* Marks that no recorder had room for, and that none was told of. */
static uint32_t untold;

static bool make_socket(struct mark_sender *s)
{
	const struct timeval timeout = { s->timeout_ms / 1000, s->timeout_ms % 1000 * 1000 };

	if (s->fd < 0)
		s->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->fd >= 0 && s->timeout_ms)
		setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
	return s->fd >= 0;
}

/* Path has directory, slash and name; all but a directory and a name are empty for a whole path. */
static void send_to(struct mark_sender *s, const char *directory, const char *slash, const char *name)
{
	const char *parts[] = { directory, slash, name };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = 0, i, n;

	for (i = 0; i < COUNT(parts); i++) {
		n = strlen(parts[i]);
		if (length + n >= sizeof(address.sun_path))
			return;
		memcpy(address.sun_path + length, parts[i], n);
		length += n;
	}
	if (!length || !make_socket(s))
		return;
	if (sendto(s->fd, s->message, s->size, MSG_NOSIGNAL | (s->timeout_ms ? 0 : MSG_DONTWAIT),
		   (const struct sockaddr *)&address, sizeof(address)) >= 0)
		s->sent++;
	else if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR)
		s->missed++;
	/* Nobody listens any more, or not to this user. */
}

static bool is_pid(const char *name)
{
	return *name >= '1' && *name <= '9' && !name[strspn(name, "0123456789")];
}

/* No entry of a directory is larger. */
#define MAX_ENTRY sizeof(struct dirent64)

static int open_directory(const char *path)
{
	return syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* To all sockets of a directory. */
static void send_to_all(struct mark_sender *s, const char *directory)
{
	char buffer[2048] __attribute__((aligned(8)));
	int fd = open_directory(directory);
	unsigned int recorders = 0;
	long size, at;

	if (fd < 0)
		return;
	do {
		size = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
		for (at = 0; at < size && recorders < MAX_RECORDERS;) {
			const struct dirent64 *entry = (const void *)(buffer + at);

			at += entry->d_reclen;
			if (!is_pid(entry->d_name))
				continue;
			send_to(s, directory, "/", entry->d_name);
			recorders++;
		}
		/* Where there was room for another entry there is none. */
	} while (size > (long)(sizeof(buffer) - MAX_ENTRY) && recorders < MAX_RECORDERS);
	close(fd);
}

/* Whether a directory has more than itself and its parent: the size of both is that of two names of up to four bytes. */
static bool has_entries(const char *directory)
{
	char buffer[MAX_ENTRY] __attribute__((aligned(8)));
	int fd = open_directory(directory);
	long size;

	if (fd < 0)
		return false;
	size = syscall(SYS_getdents64, fd, buffer, sizeof(buffer));
	syscall(SYS_close, fd);
	return size > 2 * (long)(offsetof(struct dirent64, d_name) + 5);
}

static bool join(char *path, size_t size, const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);

	if (n + m >= size)
		return false;
	memcpy(path, a, n);
	memcpy(path + n, b, m + 1);
	return true;
}

/* secure_getenv() has nothing for a program with a capability either, as panthor-perf itself may have CAP_PERFMON. */
const char *pperf_mark_environment(const char *name)
{
	return getuid() == geteuid() && getgid() == getegid() ? getenv(name) : NULL;
}

void pperf_mark_find_places(struct mark_places *places)
{
	const char *own = pperf_mark_environment(MARK_SOCKET), *user = pperf_mark_environment("XDG_RUNTIME_DIR");

	if (!user || *user != '/' || !join(places->user, sizeof(places->user), user, MARK_USER_DIRECTORY))
		places->user[0] = 0;
	if (!own || !join(places->own, sizeof(places->own), own, ""))
		places->own[0] = 0;
}

bool pperf_mark_is_heard(const struct mark_places *places)
{
	return places->own[0] || has_entries(MARK_ROOT_DIRECTORY) || (places->user[0] && has_entries(places->user));
}

void pperf_mark_send_to_all(struct mark_sender *s, const struct mark_places *places)
{
	send_to_all(s, MARK_ROOT_DIRECTORY);
	if (places->user[0])
		send_to_all(s, places->user);
	if (places->own[0])
		send_to(s, "", "", places->own);
	if (s->fd >= 0)
		close(s->fd);
}

/* Of any encoding: what is no UTF-8 is not taken by recorders. */
static bool name_is_valid(const char *name, size_t length)
{
	size_t i;

	if (!length || length > PPERF_MARK_LENGTH)
		return false;
	for (i = 0; i < length; i++)
		if ((uint8_t)name[i] < ' ' || name[i] == 0x7f)
			return false;
	return true;
}

enum pperf_error pperf_mark_send(const char *path, const char *name, unsigned int timeout_ms, unsigned int *missed)
{
	struct mark_message message = { .magic = MARK_MAGIC };
	struct mark_sender s = { .fd = -1, .timeout_ms = timeout_ms, .message = &message };
	size_t length = name ? strnlen(name, PPERF_MARK_LENGTH + 1) : 0;
	struct mark_places places = {};
	int before = errno;
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	if (name && !name_is_valid(name, length))
		return pperf_fail(PPERF_ERROR_INVALID, "the name of a mark must have 1 to %d bytes without control characters",
				  PPERF_MARK_LENGTH);

	message.time_ns = t.tv_sec * 1000000000ull + t.tv_nsec;
	if (length)
		memcpy(message.name, name, length);
	s.size = offsetof(struct mark_message, name) + length;
	message.missed = __atomic_exchange_n(&untold, 0, __ATOMIC_RELAXED);
	if (path) {
		send_to(&s, "", "", path);
		if (s.fd >= 0)
			close(s.fd);
	} else {
		pperf_mark_find_places(&places);
		pperf_mark_send_to_all(&s, &places);
	}

	/* Who is there is told with the next one. */
	__atomic_fetch_add(&untold, !!s.missed + (s.sent ? 0 : message.missed), __ATOMIC_RELAXED);
	if (missed)
		*missed = s.missed;
	errno = before;
	return PPERF_OK;
}

enum pperf_error pperf_mark(const char *name)
{
	return pperf_mark_send(NULL, name, 0, NULL);
}
