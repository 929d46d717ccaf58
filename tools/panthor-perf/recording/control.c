// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <suggest.h>

#include "common.h"

/* Two numbers. The second may be missing, and is -1 then. */
static bool parse_fds(const char *text, int fds[2])
{
	char *end;
	int i;

	fds[1] = -1;
	for (i = 0; i < 2; i++) {
		unsigned long number;

		if (*text < '0' || *text > '9')
			return false;
		number = strtoul(text, &end, 10);
		if (number > INT_MAX)
			return false;
		fds[i] = number;
		if (!*end)
			return true;
		if (*end != ',')
			return false;
		text = end + 1;
	}
	return false;
}

bool control_is_valid(const char *text)
{
	const char *comma;
	int fds[2];

	if (!strncmp(text, "fd:", 3))
		return parse_fds(text + 3, fds);
	if (strncmp(text, "fifo:", 5))
		return false;
	comma = strchr(text, ',');
	return text[5] && text + 5 != comma && (!comma || (comma[1] && !strchr(comma + 1, ',')));
}

/* Open for both, so that it neither waits for somebody nor ends when one goes. */
static int open_fifo(const char *path)
{
	int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		complain("%s: %s", path, strerror(errno));
	return fd;
}

static int open_fifos(struct control *c, char *paths)
{
	char *ack = strchr(paths, ',');

	c->own = true;
	if (ack)
		*ack++ = 0;
	c->fd = open_fifo(paths);
	if (c->fd < 0)
		return STATUS_IO;
	if (ack) {
		c->ack = open_fifo(ack);
		if (c->ack < 0) {
			control_close(c);
			return STATUS_IO;
		}
	}
	return STATUS_OK;
}

int control_open(struct control *c, const char *text)
{
	int fds[2], i, status;
	char *paths;

	memset(c, 0, sizeof(*c));
	c->fd = c->ack = -1;
	if (!text)
		return STATUS_OK;
	if (strncmp(text, "fd:", 3)) {
		paths = strdup(text + 5);
		status = paths ? open_fifos(c, paths) : STATUS_FAILED;
		free(paths);
		return status;
	}

	parse_fds(text + 3, fds);
	for (i = 0; i < 2; i++) {
		if (fds[i] >= 0 && fcntl(fds[i], F_GETFD) < 0) {
			complain("--control: file descriptor %d: %s", fds[i], strerror(errno));
			return STATUS_IO;
		}
	}
	c->fd = fds[0];
	c->ack = fds[1];
	return STATUS_OK;
}

static const struct {
	const char *name;
	enum control_command command;
} names[] = {
	{ "enable", CONTROL_ENABLE }, { "disable", CONTROL_DISABLE }, { "ping", CONTROL_PING }, { "stop", CONTROL_STOP },
	{ "dump", CONTROL_DUMP },
};

static void complain_of_word(const char *text, size_t length)
{
	char word[64], buffer[128];
	struct pperf_suggestions near = { .wrong = word };
	size_t i;

	snprintf(word, sizeof(word), "%.*s", (int)length, text);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		pperf_suggest(&near, names[i].name);
	complain("--control: unknown command \"%s\". %s", word,
		 pperf_suggestion(&near, "Use enable, disable, ping, stop or dump.", buffer, sizeof(buffer)));
}

/* Takes the first line out of the text. */
static enum control_command take_line(struct control *c, size_t length)
{
	enum control_command command = length ? CONTROL_UNKNOWN : CONTROL_NONE;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == length && !memcmp(names[i].name, c->text, length))
			command = names[i].command;
	if (command == CONTROL_UNKNOWN)
		complain_of_word(c->text, length);
	if (length < c->size)
		/* Its end. */
		length++;
	c->size -= length;
	memmove(c->text, c->text + length, c->size);
	return command;
}

/* The first line that there is. */
static enum control_command parse_text(struct control *c)
{
	enum control_command command;
	char *end;

	while ((end = memchr(c->text, '\n', c->size))) {
		command = take_line(c, end - c->text);
		if (command != CONTROL_NONE)
			return command;
	}
	/* No command is that long. */
	return c->size == sizeof(c->text) ? take_line(c, c->size) : CONTROL_NONE;
}

enum control_command control_next(struct control *c)
{
	enum control_command command = parse_text(c);
	struct pollfd fd = { .fd = c->fd, .events = POLLIN };
	ssize_t size;

	if (command != CONTROL_NONE || c->fd < 0 || poll(&fd, 1, 0) <= 0)
		return command;
	size = read(c->fd, c->text + c->size, sizeof(c->text) - c->size);
	if (size > 0)
		c->size += size;
	else if (!size || (errno != EAGAIN && errno != EINTR))
		/* Nobody is there any more. */
		control_close(c);
	return parse_text(c);
}

void control_ack(struct control *c)
{
	struct pollfd fd = { .fd = c->ack, .events = POLLOUT };

	/* Who does not read what was asked for does not hold samples up. */
	if (c->ack < 0 || poll(&fd, 1, 0) <= 0 || !(fd.revents & POLLOUT))
		return;
	if (write(c->ack, "ack\n", 4) < 0 && errno != EAGAIN)
		c->ack = -1;
}

void control_close(struct control *c)
{
	if (c->own && c->fd >= 0)
		close(c->fd);
	if (c->own && c->ack >= 0)
		close(c->ack);
	c->fd = c->ack = -1;
	c->size = 0;
}
