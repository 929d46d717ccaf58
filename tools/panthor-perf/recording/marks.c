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

	/* The kernel tells who has sent a frame. */
	setsockopt(m->fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int));
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
	m->time_ns = m->start_ns = now_ns(CLOCK_MONOTONIC_RAW);
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
static bool is_in_time(struct marks_rate *rate, uint64_t now)
{
	if (now - rate->second_ns >= 1000000000) {
		rate->second_ns = now;
		rate->in_second = 0;
	}
	return rate->in_second++ < MARKS_MAX_RATE;
}

/* ---- Frames ---- */

/* The program that a message is from: a new one takes the place of the one that was not heard of for the longest time. */
static struct marks_program *find_program(struct marks *m, uint32_t pid, const struct frame_head *head)
{
	struct marks_program *oldest = m->programs, *p;

	for (p = m->programs; p < m->programs + MARKS_PROGRAMS; p++) {
		if (p->pid == pid && p->program == head->program)
			break;
		if (p->used < oldest->used)
			oldest = p;
	}
	if (p == m->programs + MARKS_PROGRAMS) {
		p = oldest;
		*p = (struct marks_program){ .pid = pid, .program = head->program };
	}
	p->used = ++m->messages;
	return p;
}

/* Begins to take the frames of a message. Returns false if it makes no sense. */
static bool begin_frames(struct marks *m, ssize_t size, uint32_t pid)
{
	const struct frame_head *head = &m->message.head;
	size_t count = (size - sizeof(*head)) / sizeof(uint64_t), known = 0;
	struct marks_program *p;

	if (size < (ssize_t)sizeof(*head) || size > (ssize_t)sizeof(m->message) || (size - sizeof(*head)) % sizeof(uint64_t) ||
	    !head->program || (!count && !head->missed) || (!head->number && count != 1) || head->number > UINT64_MAX - FRAMES_PENDING)
		return false;
	p = find_program(m, pid, head);
	p->lost += head->missed;
	m->lost_frames += head->missed;
	if (head->number && p->number && head->number > p->number + 1) {
		p->lost += head->number - p->number - 1;
		m->lost_frames += head->number - p->number - 1;
	}
	if (head->number && head->number <= p->number)
		known = p->number - head->number + 1 < count ? p->number - head->number + 1 : count;
	if (head->number && head->number + count - 1 > p->number)
		p->number = head->number + count - 1;
	m->count = count;
	m->at = known;
	m->sender = p;
	return true;
}

/* The next frame of the message. Returns false if there is none. */
static bool next_frame(struct marks *m, struct recording_frame *frame)
{
	uint64_t now = now_ns(CLOCK_MONOTONIC_RAW), time_ns;

	while (m->at < m->count) {
		time_ns = m->message.times_ns[m->at++];
		if (time_ns < m->start_ns)
			continue;
		if (!is_in_time(&m->frame_rate, now)) {
			m->sender->lost++;
			m->lost_frames++;
			continue;
		}
		memset(frame, 0, sizeof(*frame));
		frame->time_ns = time_ns < now ? time_ns : now;
		frame->pid = m->sender->pid;
		frame->lost = m->sender->lost < UINT32_MAX ? m->sender->lost : UINT32_MAX;
		memcpy(frame->name, m->message.head.name, FRAME_NAME);
		if (!pperf_text_is_clean(frame->name))
			frame->name[0] = 0;
		if (m->sender->time_ns && frame->time_ns - m->sender->time_ns < m->period_ns)
			m->short_frames++;
		m->sender->time_ns = frame->time_ns;
		m->sender->lost = 0;
		m->frames++;
		return true;
	}
	return false;
}

/* ---- Marks ---- */

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

/* Takes the mark of a message. Returns false if it is dropped. */
static bool take_mark(struct marks *m, ssize_t size, struct recording_mark *mark)
{
	struct mark_message message;
	uint64_t now;

	memcpy(&message, &m->message, sizeof(message));
	if (!understand(&message, size, mark)) {
		m->dropped++;
		return false;
	}
	m->dropped += message.missed;
	now = now_ns(CLOCK_MONOTONIC_RAW);
	if (!is_in_time(&m->rate, now)) {
		m->dropped++;
		return false;
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

/* Reads a message, and the PID of who has sent it: 0 if it is not known here. */
static ssize_t receive(struct marks *m, uint32_t *pid)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = { .iov_base = &m->message, .iov_len = sizeof(m->message) };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *found;
	struct ucred sender;
	ssize_t size = recvmsg(m->fd, &message, MSG_TRUNC | MSG_CMSG_CLOEXEC);

	*pid = 0;
	for (found = size < 0 ? NULL : CMSG_FIRSTHDR(&message); found; found = CMSG_NXTHDR(&message, found)) {
		if (found->cmsg_level != SOL_SOCKET || found->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&sender, CMSG_DATA(found), sizeof(sender));
		*pid = sender.pid;
	}
	return size;
}

enum marks_item marks_next(struct marks *m, struct recording_mark *mark, struct recording_frame *frame)
{
	unsigned int tries;
	uint32_t pid;
	ssize_t size;

	for (tries = 0; m->fd >= 0 && tries < MAX_TRIES; tries++) {
		if (next_frame(m, frame))
			return MARKS_FRAME;
		memset(&m->message.head, 0, sizeof(m->message.head));
		size = receive(m, &pid);
		if (size < 0)
			return MARKS_NONE;
		if (size < (ssize_t)sizeof(struct frame_head) || m->message.head.magic != FRAME_MAGIC) {
			if (take_mark(m, size, mark))
				return MARKS_MARK;
		} else if (!begin_frames(m, size, pid)) {
			m->lost_frames++;
		}
	}
	return MARKS_NONE;
}

void marks_close(struct marks *m)
{
	if (m->fd < 0)
		return;
	unlink(m->path);
	close(m->fd);
	m->fd = -1;
}
