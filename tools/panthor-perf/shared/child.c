// SPDX-License-Identifier: MIT
/* A program that runs while something is counted. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "common.h"

extern char **environ;

int child_prepare(struct child *child)
{
	const struct sigaction standard = { .sa_handler = SIG_DFL };
	sigset_t caught;

	/* Who has started this program may ignore it, and then the kernel would tell of no end. */
	sigaction(SIGCHLD, &standard, &child->before_child);
	sigemptyset(&caught);
	sigaddset(&caught, SIGCHLD);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	if (child->request)
		sigaddset(&caught, child->request);
	sigprocmask(SIG_BLOCK, &caught, &child->before);
	child->signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child->signals >= 0)
		return STATUS_OK;
	complain("cannot wait for signals: %s", strerror(errno));
	sigprocmask(SIG_SETMASK, &child->before, NULL);
	sigaction(SIGCHLD, &child->before_child, NULL);
	return STATUS_FAILED;
}

int child_start(struct child *child, char **command)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int ret;

	child->ended = false;
	child->left = false;
	child->interrupts = 0;
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigmask(&attributes, &child->before);
	posix_spawn_file_actions_init(&actions);
	if (child->no_output)
		posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	ret = posix_spawnp(&child->pid, command[0], &actions, &attributes, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);

	if (!ret)
		return STATUS_OK;
	complain("cannot run %s: %s", command[0], strerror(ret));
	child->pid = 0;
	return ret == ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

enum child_event child_event(struct child *child)
{
	struct signalfd_siginfo info;
	bool again;
	pid_t ret;

	if (read(child->signals, &info, sizeof(info)) != sizeof(info))
		return CHILD_NOTHING;
	again = info.ssi_signo == SIGHUP && child->hung_up;
	child->hung_up |= info.ssi_signo == SIGHUP;
	if (child->request && info.ssi_signo == child->request)
		return CHILD_REQUESTED;

	if (!child->pid) {
		if (info.ssi_signo == SIGCHLD)
			return CHILD_NOTHING;
		/* A terminal that closes sends SIGHUP twice: the shell does, and the kernel when the shell has ended. */
		if (child->ended)
			return again ? CHILD_NOTHING : CHILD_INTERRUPTED;
		child->ended = true;
		return CHILD_ENDED;
	}

	/* The terminal has sent SIGINT to the program as well; it decides, once. */
	if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP)
		kill(child->pid, info.ssi_signo);
	child->interrupts += info.ssi_signo == SIGINT;
	ret = waitpid(child->pid, &child->wait_status, WNOHANG);
	if (!ret && child->interrupts > 1) {
		complain("process %d ignored the interrupt and is still running", (int)child->pid);
		child->left = true;
	} else if (ret != child->pid && !(ret < 0 && errno == ECHILD)) {
		return CHILD_NOTHING;
	}
	child->pid = 0;
	child->ended = true;
	return CHILD_ENDED;
}

bool child_delay(struct child *child, uint64_t ns)
{
	struct pollfd fd = { .fd = child->signals, .events = POLLIN };
	uint64_t now, end = now_ns(CLOCK_MONOTONIC) + ns;
	struct timespec left;

	while ((now = now_ns(CLOCK_MONOTONIC)) < end) {
		left.tv_sec = (end - now) / 1000000000;
		left.tv_nsec = (end - now) % 1000000000;
		if (ppoll(&fd, 1, &left, NULL) > 0 && child_event(child) != CHILD_NOTHING)
			return false;
	}
	return true;
}

int child_status(const struct child *child)
{
	if (child->left)
		return 128 + SIGINT;
	if (WIFSIGNALED(child->wait_status))
		return 128 + WTERMSIG(child->wait_status);
	return WEXITSTATUS(child->wait_status);
}

void child_finish(struct child *child)
{
	close(child->signals);
	sigprocmask(SIG_SETMASK, &child->before, NULL);
	sigaction(SIGCHLD, &child->before_child, NULL);
}
