// SPDX-License-Identifier: MIT
/*
 * The guest's first and only daemon: sets the machine up, runs one command, and hands what came of
 * it to tools/virt/run on the host, byte for byte, over the ports of a virtio-serial device.
 *
 * /virt holds what run wants, every string ended by a NUL:
 *   argv   the command and its arguments; not there: a shell
 *   tty    there if the command's terminal is hvc0
 *   env    NAME=VALUE for the command
 *   out    files to send when it has ended
 *   load   modules to load before it
 *   first  modules without which there is no port; of the root image, not of run
 *   expect there if a kernel report is expected
 *   touch  files that get the time of the start; of a root that run adds
 *   disk   there if the command runs in the system of the disk
 *   gcov   there if /virt/gcov.tar is to be made of what gcov has counted, when the command has ended
 *
 * Port 1 is for control, 2 takes the command's standard output, 3 its standard error. What init
 * says on port 1 are frames: a type, the length of the payload (u32, little endian), the payload:
 *   R      ready: the command starts now
 *   N text the command could not be started: an errno, in decimal
 *   F      a file of /virt/out comes: u32 mode
 *   D      a piece of it
 *   X text it does not: why
 *   E text the machine could not be set up: why
 *   S      all is over: u32 exit status, u64 bytes of standard output, u64 of standard error
 * The host answers the last of these with one byte once it has all of it; the machine then goes off.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* kmemleak reports only what was allocated so long ago (MSECS_MIN_AGE in mm/kmemleak.c). */
#define KMEMLEAK_AGE_MS 5000
#define PORT_TIMEOUT_MS 30000

struct stream {
	int from;       /* what the command writes to, or -1 at its end */
	int to;         /* the port */
	uint64_t bytes; /* that came through */
};

static int ctl = -1;

static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

static void write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			/* The host is gone, and with it all there is to do. */
			dprintf(STDERR_FILENO, "init: writing to the host: %m\n");
			power_off();
		}
		p += n;
		len -= n;
	}
}

static void frame(char type, const void *payload, uint32_t len)
{
	uint8_t head[5] = { type, len, len >> 8, len >> 16, len >> 24 };

	write_all(ctl, head, sizeof(head));
	write_all(ctl, payload, len);
}

static void frame_text(char type, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	frame(type, text, strlen(text));
}

/* Waits for the host to have everything, then ends the machine. */
static void finish(uint32_t status, const struct stream *out, const struct stream *err)
{
	uint8_t payload[20];
	uint64_t n[2] = { out ? out->bytes : 0, err ? err->bytes : 0 };
	char answer;

	memcpy(payload, &status, 4);
	memcpy(payload + 4, n, 16);
	frame('S', payload, sizeof(payload));
	while (read(ctl, &answer, 1) < 0 && errno == EINTR)
		;
	power_off();
}

static void fail(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (ctl < 0) {
		dprintf(STDERR_FILENO, "init: %s\n", text);
		power_off();
	}
	frame_text('E', "%s", text);
	finish(125, NULL, NULL);
}

static void mount_at(const char *type, const char *where, const char *opts)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, opts) && errno != EBUSY)
		fail("mounting %s on %s: %m", type, where);
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		dprintf(STDERR_FILENO, "init: %s: %m\n", path);
	close(fd);
}

/* The strings of a file of /virt, and a NULL; NULL if there is no such file. */
static char **strings(const char *path)
{
	struct stat st;
	char **list, *data, *p;
	size_t n = 0, i;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st))
		fail("%s: %m", path);
	data = malloc(st.st_size + 1);
	if (!data)
		fail("%s: %m", path);
	if (read(fd, data, st.st_size) != st.st_size)
		fail("%s: short read", path);
	close(fd);
	for (p = data; p < data + st.st_size; p++)
		n += !*p;
	list = calloc(n + 1, sizeof(*list));
	if (!list)
		fail("%s: %m", path);
	for (i = 0, p = data; i < n; i++, p += strlen(p) + 1)
		list[i] = p;
	return list;
}

/* A device's node comes when its driver has found it, which may be after us. */
static int open_device(const char *name)
{
	struct pollfd pfd = { .events = POLLIN };
	char path[64], events[4096];
	struct timespec now, end;
	int fd, wait_ms;

	snprintf(path, sizeof(path), "/dev/%s", name);
	pfd.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (pfd.fd < 0 || inotify_add_watch(pfd.fd, "/dev", IN_CREATE | IN_ATTRIB) < 0)
		fail("inotify: %m");
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += PORT_TIMEOUT_MS / 1000;
	for (;;) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0)
			break;
		clock_gettime(CLOCK_MONOTONIC, &now);
		wait_ms = (end.tv_sec - now.tv_sec) * 1000 + (end.tv_nsec - now.tv_nsec) / 1000000;
		if (wait_ms <= 0 || poll(&pfd, 1, wait_ms) < 0)
			fail("%s: %m", path);
		while (read(pfd.fd, events, sizeof(events)) > 0)
			;
	}
	close(pfd.fd);
	return fd;
}

static int run_quietly(const char *const *argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}

static int load(const char *module)
{
	const char *argv[] = { "/bin/busybox", "modprobe", module, NULL };

	return run_quietly(argv);
}

/*
 * The disk's root becomes the root of all that follows. The machine's own, in which we began, is /run/virt
 * from then on.
 */
static void enter_disk(void)
{
	static const char *const moved[] = { "/dev", "/proc", "/sys" };
	static const char *const modules[] = { "virtio_blk", "ext4" };
	char path[64];
	size_t i;

	/*
	 * ext4 of 6.12 asks for it by a soft dependency, which busybox does not follow. Where it is not
	 * there, ext4 does without.
	 */
	load("crypto-crc32c");
	for (i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (load(modules[i]))
			fail("module %s does not load", modules[i]);
	}
	close(open_device("vda"));
	if (mount("/dev/vda", "/mnt", "ext4", 0, NULL))
		fail("mounting the disk: %m");
	for (i = 0; i < sizeof(moved) / sizeof(moved[0]); i++) {
		snprintf(path, sizeof(path), "/mnt%s", moved[i]);
		mkdir(path, 0755);
		if (mount(moved[i], path, NULL, MS_MOVE, NULL))
			fail("moving %s to the disk: %m", moved[i]);
	}
	mount_at("tmpfs", "/mnt/run", "mode=0755");
	mkdir("/mnt/run/virt", 0755);
	if (mount("/", "/mnt/run/virt", NULL, MS_BIND, NULL))
		fail("mounting the first root on the disk: %m");
	if (chdir("/mnt") || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
		fail("making the disk the root: %m");
	/* What the host has sent is where it is without a disk, too. */
	mkdir("/root", 0700);
	if (mount("/run/virt/root", "/root", NULL, MS_BIND, NULL) || chdir("/root"))
		fail("/root of the disk: %m");
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/virt/usr/bin", 1);
}

/* What was written is on the disk when the machine goes off. */
static void leave_disk(void)
{
	if (mount(NULL, "/", NULL, MS_REMOUNT | MS_RDONLY, NULL))
		fail("the disk cannot be closed: %m");
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

/* Starts argv; its errno if it could not be. */
static int start(char **argv, const int fds[3], bool tty, pid_t *pid)
{
	int report[2], error = 0, i;

	if (pipe2(report, O_CLOEXEC))
		return errno;
	*pid = fork();
	if (*pid < 0)
		return errno;
	if (!*pid) {
		setsid();
		reset_signals();
		for (i = 0; i < 3; i++)
			dup2(fds[i], i);
		if (tty)
			ioctl(0, TIOCSCTTY, 0);
		execvp(argv[0], argv);
		error = errno;
		if (write(report[1], &error, sizeof(error)) < 0)
			_exit(126);
		_exit(127);
	}
	close(report[1]);
	if (read(report[0], &error, sizeof(error)) != sizeof(error))
		error = 0;
	close(report[0]);
	return error;
}

/* Moves what is there; false at the end or when there is nothing yet. */
static bool move(struct stream *s)
{
	static char buf[65536];
	ssize_t n;

	if (s->from < 0)
		return false;
	n = read(s->from, buf, sizeof(buf));
	if (n > 0) {
		write_all(s->to, buf, n);
		s->bytes += n;
		return true;
	}
	if (!n || (errno != EAGAIN && errno != EINTR)) {
		close(s->from);
		s->from = -1;
	}
	return false;
}

static void open_stream(struct stream *s, const char *port, int *theirs)
{
	int p[2];

	s->to = open_device(port);
	if (pipe2(p, O_CLOEXEC))
		fail("pipe: %m");
	fcntl(p[0], F_SETFL, O_NONBLOCK);
	fcntl(p[0], F_SETPIPE_SZ, 1 << 20);
	s->from = p[0];
	*theirs = p[1];
}

/* Carries the output until the command has ended; its wait status. */
static int carry(pid_t pid, int sigfd, struct stream *out, struct stream *err)
{
	int status, last = -1;
	bool ended = false;
	pid_t dead;

	while (!ended) {
		struct pollfd pfd[3] = {
			{ .fd = sigfd, .events = POLLIN },
			{ .fd = out ? out->from : -1, .events = POLLIN },
			{ .fd = err ? err->from : -1, .events = POLLIN },
		};
		struct signalfd_siginfo info;

		if (poll(pfd, 3, -1) < 0 && errno != EINTR)
			fail("poll: %m");
		if (pfd[1].revents)
			move(out);
		if (pfd[2].revents)
			move(err);
		if (!pfd[0].revents)
			continue;
		if (read(sigfd, &info, sizeof(info)) < 0 && errno != EAGAIN)
			fail("signalfd: %m");
		/* Orphans are ours to bury too. */
		while ((dead = waitpid(-1, &status, WNOHANG)) > 0) {
			if (dead == pid) {
				last = status;
				ended = true;
			}
		}
	}
	/* Whoever it left behind does not keep the machine up. */
	while (out && move(out))
		;
	while (err && move(err))
		;
	return last;
}

static void send_file(const char *path)
{
	static char buf[65536];
	struct stat st;
	uint32_t mode;
	ssize_t n;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		frame_text('X', "%s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return;
	}
	if (S_ISDIR(st.st_mode)) {
		frame_text('X', "%s", strerror(EISDIR));
		close(fd);
		return;
	}
	mode = st.st_mode & 0777;
	frame('F', &mode, sizeof(mode));
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		frame('D', buf, n);
	if (n < 0)
		frame_text('X', "%s", strerror(errno));
	close(fd);
}

/* Copies to the log what kmemleak says, but for what the kernel itself lost while it booted. */
static void tell_leaks(const char *file, FILE *log)
{
	bool found = false, skip = false;
	char line[512], comm[512];
	FILE *f = fopen(file, "re");

	if (!f)
		fail("%s: %m", file);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "unreferenced object", 19)) {
			/* The object's second line names who allocated it. */
			if (!fgets(comm, sizeof(comm), f))
				comm[0] = '\0';
			skip = strstr(comm, "comm \"swapper/") != NULL;
			if (skip)
				continue;
			if (!found)
				fprintf(log, "virt: kmemleak report\n");
			found = true;
			fprintf(log, "%s", line);
			fprintf(log, "%s", comm);
		} else if (!skip) {
			fprintf(log, "%s", line);
		}
	}
	fclose(f);
}

/*
 * Everything unreferenced goes to the kernel's log, where the host looks for it. kmemleak reports
 * what one scan finds without a reference and another finds unchanged, once it is old enough.
 */
static void look_for_leaks(void)
{
	static const char file[] = "/sys/kernel/debug/kmemleak";
	struct timespec age;
	FILE *log;

	if (access(file, W_OK))
		return;
	clock_gettime(CLOCK_MONOTONIC, &age);
	age.tv_sec += KMEMLEAK_AGE_MS / 1000;
	write_file(file, "scan");
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &age, NULL) == EINTR)
		;
	write_file(file, "scan");
	log = fopen("/dev/kmsg", "we");
	if (!log)
		fail("/dev/kmsg: %m");
	setlinebuf(log);
	tell_leaks(file, log);
	fclose(log);
}

/* The kernel sets its clock itself only if it was configured so. */
static void set_clock(void)
{
	struct timespec now = { 0 };
	char text[32] = "";
	int fd = open("/sys/class/rtc/rtc0/since_epoch", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		now.tv_sec = strtoll(text, NULL, 10);
	close(fd);
	if (now.tv_sec > time(NULL) && clock_settime(CLOCK_REALTIME, &now))
		fail("clock_settime: %m");
}

/* A kernel that does not keep the times of an archive has unpacked it in 1970. */
static void touch_files(void)
{
	char **list;

	for (list = strings("/virt/touch"); list && *list; list++) {
		if (utimensat(AT_FDCWD, *list, NULL, 0))
			fail("%s: %m", *list);
	}
}

static void set_up(void)
{
	mount_at("devtmpfs", "/dev", "mode=0755");
	mount_at("proc", "/proc", NULL);
	mount_at("sysfs", "/sys", NULL);
	mount_at("debugfs", "/sys/kernel/debug", NULL);
	mount_at("tracefs", "/sys/kernel/tracing", NULL);
	mkdir("/dev/pts", 0755);
	mount_at("devpts", "/dev/pts", NULL);
	mount_at("tmpfs", "/dev/shm", "mode=1777");
	/* The root is a tmpfs itself, and what the host sent may be anywhere in it. */
	if (chmod("/tmp", 01777))
		fail("/tmp: %m");
	if (symlink("/proc/self/fd", "/dev/fd") || symlink("/proc/self/fd/0", "/dev/stdin") ||
	    symlink("/proc/self/fd/1", "/dev/stdout") || symlink("/proc/self/fd/2", "/dev/stderr"))
		fail("symlink: %m");
	if (sethostname("mali", 4))
		fail("sethostname: %m");
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:/root", 1);
	setenv("HOME", "/root", 1);
	setenv("USER", "root", 1);
	mkdir("/root", 0755);
	if (chdir("/root"))
		fail("/root: %m");
}

static unsigned short number_from_env(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

int main(void)
{
	static char *shell[] = { "/bin/busybox", "sh", "-i", NULL };
	static char *disk_shell[] = { "/bin/sh", "-i", NULL };
	struct stream out = { .from = -1 }, err = { .from = -1 };
	static const char *const save_gcov[] = { "/bin/busybox", "sh", "/usr/bin/gcov-save", "/virt/gcov.tar", NULL };
	int fds[3], sigfd, status, error;
	char **argv, **list, **outs;
	sigset_t chld;
	bool tty, disk;
	pid_t pid = -1;

	signal(SIGPIPE, SIG_IGN);
	set_up();
	set_clock();
	for (list = strings("/virt/first"); list && *list; list++) {
		if (load(*list))
			fail("module %s does not load", *list);
	}
	ctl = open_device("vport0p1");
	touch_files();

	/* One scan, when all is over. */
	write_file("/sys/kernel/debug/kmemleak", "scan=off");
	/* A task that hangs is a report like any other, unless one is wanted. */
	if (access("/virt/expect", F_OK)) {
		write_file("/proc/sys/kernel/hung_task_panic", "1");
	} else {
		write_file("/proc/sys/kernel/panic_on_warn", "0");
		write_file("/proc/sys/kernel/panic_on_oops", "0");
	}

	for (list = strings("/virt/load"); list && *list; list++) {
		if (load(*list))
			fail("module %s does not load", *list);
	}
	for (list = strings("/virt/env"); list && *list; list++)
		putenv(*list);

	argv = strings("/virt/argv");
	outs = strings("/virt/out");
	tty = !access("/virt/tty", F_OK);
	disk = !access("/virt/disk", F_OK);
	if (disk)
		enter_disk();
	if (!argv)
		argv = disk ? disk_shell : shell;
	if (tty) {
		struct winsize size = {
			.ws_row = number_from_env("LINES"),
			.ws_col = number_from_env("COLUMNS"),
		};

		fds[0] = fds[1] = fds[2] = open_device("hvc0");
		if (size.ws_row && size.ws_col)
			ioctl(fds[0], TIOCSWINSZ, &size);
	} else {
		fds[0] = open("/dev/null", O_RDWR | O_CLOEXEC);
		open_stream(&out, "vport0p2", &fds[1]);
		open_stream(&err, "vport0p3", &fds[2]);
	}

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	sigprocmask(SIG_BLOCK, &chld, NULL);
	sigfd = signalfd(-1, &chld, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sigfd < 0)
		fail("signalfd: %m");

	frame('R', NULL, 0);
	error = start(argv, fds, tty, &pid);
	if (error) {
		frame_text('N', "%d", error);
		if (disk)
			leave_disk();
		finish(error == ENOENT ? 127 : 126, NULL, NULL);
	}
	if (!tty) {
		close(fds[1]);
		close(fds[2]);
	}
	status = carry(pid, sigfd, tty ? NULL : &out, tty ? NULL : &err);

	/* What it left running would go on allocating while we look for leaks. */
	kill(-1, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	if (!access("/virt/gcov", F_OK))
		run_quietly(save_gcov);
	for (list = outs; list && *list; list++)
		send_file(*list);
	if (disk)
		leave_disk();
	look_for_leaks();
	finish(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), &out, &err);
}
