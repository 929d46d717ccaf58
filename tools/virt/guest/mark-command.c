// SPDX-License-Identifier: MIT
/*
 * mark-command COMMAND [ARG...]   runs COMMAND between the marks of a command
 *
 * tools/virt/profile starts every command by this, so that one without marks of
 * its own can be counted as a whole. Ends with the command's status.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "mark.h"

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: mark-command COMMAND [ARG...]\n", stderr);
		return 2;
	}
	MARK(MARK_COMMAND_BEGINS);
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		fprintf(stderr, "mark-command: %s: %s\n", argv[1], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid) {
		fprintf(stderr, "mark-command: %s\n", strerror(errno));
		return 126;
	}
	MARK(MARK_COMMAND_ENDS);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
