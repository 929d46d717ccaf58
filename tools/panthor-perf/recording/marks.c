// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "marks.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <mark.h>

#include "common.h"
#include "text.h"

/* As many are looked at before samples are. */
#define MAX_TRIES 256

static bool make_address(struct sockaddr_un *address, const char *path)
{
	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(address->sun_path))
		return false;
	strcpy(address->sun_path, path);
	return true;
}

/* Removes a socket that nobody listens to. What is no socket stays. */
static void remove_dead(const char *path)
{
	struct sockaddr_un address;
	int fd;

	if (!make_address(&address, path))
		return;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) && errno == ECONNREFUSED) {
		struct stat found;

		if (!lstat(path, &found) && S_ISSOCK(found.st_mode))
			unlink(path);
	}
	close(fd);
}

/* Returns -1, errno being set. */
static int listen_at(struct marks *m, const char *path, const char *node)
{
	struct sockaddr_un address;
	struct stat gpu;
	bool shared;
	mode_t mask;
	int ret;

	if (!make_address(&address, path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	m->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->fd < 0)
		return -1;

	remove_dead(path);
	/* Root's is for those who may use the GPU; other users' may stay theirs alone. */
	shared = !geteuid() && node && !stat(node, &gpu) && S_ISCHR(gpu.st_mode);
	mask = umask(shared ? ~gpu.st_mode & 0777 : 0177);
	ret = bind(m->fd, (struct sockaddr *)&address, sizeof(address));
	umask(mask);
	if (ret) {
		ret = errno;
		close(m->fd);
		m->fd = -1;
		errno = ret;
		return -1;
	}
	/* Whose directory it is may have put a link in its place. */
	if (shared)
		ret = lchown(path, -1, gpu.st_gid);
	strcpy(m->path, path);
	m->time_ns = now_ns(CLOCK_MONOTONIC_RAW);
	return 0;
}

/* Where recorders are looked for; they clean up behind those that were killed. */
static void listen_in(struct marks *m, const char *directory, const char *node)
{
	char *path;
	struct dirent *entry;
	DIR *entries;

	if (mkdir(directory, 0755) && errno != EEXIST)
		return;
	entries = opendir(directory);
	while (entries && (entry = readdir(entries))) {
		if (*entry->d_name == '.' || asprintf(&path, "%s/%s", directory, entry->d_name) < 0)
			continue;
		remove_dead(path);
		free(path);
	}
	if (entries)
		closedir(entries);

	if (asprintf(&path, "%s/%d", directory, (int)getpid()) < 0)
		return;
	/* A recording without marks is one, too. */
	if (listen_at(m, path, node))
		m->fd = -1;
	free(path);
}

/* The command may have another directory. */
static void tell_children(const char *path)
{
	char *directory, *whole;

	if (*path == '/') {
		setenv(MARK_SOCKET, path, 1);
		return;
	}
	directory = getcwd(NULL, 0);
	if (directory && asprintf(&whole, "%s/%s", directory, path) >= 0) {
		setenv(MARK_SOCKET, whole, 1);
		free(whole);
	}
	free(directory);
}

int marks_open(struct marks *m, const char *path, const char *node)
{
	const char *user = pperf_mark_environment("XDG_RUNTIME_DIR");
	char *directory;

	memset(m, 0, sizeof(*m));
	m->fd = -1;
	if (path) {
		if (listen_at(m, path, node)) {
			complain("cannot listen on %s: %s", path, strerror(errno));
			return STATUS_IO;
		}
		tell_children(path);
		return STATUS_OK;
	}

	listen_in(m, MARK_ROOT_DIRECTORY, node);
	if (m->fd < 0 && user && *user == '/' && asprintf(&directory, "%s" MARK_USER_DIRECTORY, user) >= 0) {
		listen_in(m, directory, node);
		free(directory);
	}
	return STATUS_OK;
}

int marks_fd(const struct marks *m)
{
	return m->fd;
}

/* Whether there may be one more in this second. */
static bool is_in_time(struct marks *m, uint64_t now)
{
	if (now - m->second_ns >= 1000000000) {
		m->second_ns = now;
		m->in_second = 0;
	}
	return m->in_second++ < MARKS_MAX_RATE;
}

/* What a message says, or false if it makes no sense. */
static bool understand(const struct mark_message *message, ssize_t size, struct recording_mark *mark)
{
	size_t length = size - offsetof(struct mark_message, name);

	memset(mark, 0, sizeof(*mark));
	if (size < (ssize_t)offsetof(struct mark_message, name) || size > (ssize_t)sizeof(*message) ||
	    message->magic != MARK_MAGIC)
		return false;
	mark->time_ns = message->time_ns;
	memcpy(mark->name, message->name, length < sizeof(message->name) ? length : sizeof(message->name));
	return strlen(mark->name) == length && pperf_text_is_clean(mark->name);
}

bool marks_next(struct marks *m, struct recording_mark *mark)
{
	struct mark_message message;
	unsigned int tries;
	ssize_t size;
	uint64_t now;

	for (tries = 0; m->fd >= 0 && tries < MAX_TRIES; tries++) {
		size = recv(m->fd, &message, sizeof(message), MSG_TRUNC);
		if (size < 0)
			return false;
		if (!understand(&message, size, mark)) {
			m->dropped++;
			continue;
		}
		m->dropped += message.missed;
		now = now_ns(CLOCK_MONOTONIC_RAW);
		if (!is_in_time(m, now)) {
			m->dropped++;
			continue;
		}
		/* It was before now, and not before another of which it can be known. */
		if (mark->time_ns > now)
			mark->time_ns = now;
		if (mark->time_ns < m->time_ns)
			mark->time_ns = m->time_ns;
		m->time_ns = mark->time_ns;
		m->taken++;
		return true;
	}
	return false;
}

void marks_close(struct marks *m)
{
	if (m->fd < 0)
		return;
	unlink(m->path);
	close(m->fd);
	m->fd = -1;
}
