// SPDX-License-Identifier: MIT
/*
 * A fuzzer of the driver's counters: sequences of what programs may do with its files, sessions, memory and events
 * of perf, by two threads and two users, while firmware misbehaves, memory runs out and the device goes and comes.
 *
 *   fuzz-ioctl -r [FILE]          what is in fuzz-ioctl-corpus.h, and in FILE, once more, as results of a test in the machine
 *   fuzz-ioctl -t SECONDS [-s SEED] [FILE]   looks for inputs that reach new places of the driver, and prints each
 *   fuzz-ioctl -m [FILE]          prints those inputs without which a place would not be reached
 *
 * An input is a list of actions of eight bytes, of which every one means something. Each is executed by a process of
 * its own, so that all of it is gone behind it, and is printed before ("try HEX"): the kernel's report of what is
 * wrong may be the machine's last word. Which places were reached is told by KCOV, of the threads themselves; what
 * the driver does for them in interrupts and works is not seen.
 */
#define _GNU_SOURCE
#include <linux/kcov.h>
#include <pthread.h>
#include <sys/wait.h>

#include "bench-page.h"
#include "die.h"
#include "../../testing/selftests/drivers/gpu/panthor/pmu.h"

#define ACTIONS		64
#define INPUTS		8192
/* Words of KCOV's buffer of a thread. */
#define KCOV_WORDS	(64 << 10)
#define PLACES		(64 << 10)
/* Seconds after which the GPU leaves protected mode again and again: START waits for that without a limit. */
#define PROTECTED	5
/* An input that takes this long hangs. */
#define PATIENCE	60
#define FILES		3
#define SESSIONS	8
#define OBJECTS		4
#define EVENTS		8

/* Of @who, bit 7 is the thread, and bits 1:0 are the file. */
struct action {
	uint8_t what, who, a, b;
	uint32_t value;
};

struct input {
	struct action actions[ACTIONS];
	int num;
};

enum what {
	OPEN, CLOSE, QUERY, CREATE, FORGET, SETUP, CONTROL, START, STOP, SAMPLE, TEARDOWN, EXTRACT, WAIT, SIGNAL,
	EVENT_OPEN, EVENT_READ, EVENT_CONTROL, EVENT_CLOSE, USER, POWER, FIRMWARE, TIME,
	MEMORY, UNBIND, BIND, WHATS
};

static const char *const corpus[] = {
#include "fuzz-ioctl-corpus.h"
	NULL
};

/* What one input has of its own. */
static int files[FILES];
static struct perf_bo objects[OBJECTS];
static uint32_t handles[SESSIONS];
static int events[EVENTS];
static int eventfds[2];
static struct pmu pmu;
static struct drm_panthor_perf_info info;
/* The device's directory in sysfs, while it is bound. */
static char device[512];
/* Which allocation, or access to user memory, is the next to fail of what the thread asks for. */
static __thread int fail_nth;

/* What all have together: places that were reached, by all inputs and by the last one. */
static uint8_t *seen, *reached;
static struct input inputs[INPUTS];
static int num_inputs;
static uint64_t seed = 1;
/* SIGCHLD, which is blocked, since wait_for() waits for it. */
static sigset_t child_ended;

static uint32_t chance(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed >> 16) % below;
}

/* ---- what an action does ---- */

/* Sizes and numbers at which something ends. */
static uint64_t limit(uint32_t value)
{
	static const uint64_t limits[] = {
		0, 1, 7, 8, 15, 16, 24, 44, 48, 56, 64, 119, 120, 136, 137, 4088, 4095, 4096, 4097, 1 << 16, (1 << 16) + 1,
		0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 63, -1ull, -8ull, -4096ull,
	};

	return value & 0x80000000 ? value & 0xffff : limits[value % (sizeof(limits) / sizeof(limits[0]))];
}

static void set_up(const struct action *a, int fd)
{
	static const uint64_t periods[] = { 0, 0, 1, 100000, 1000000, 1000000, 20000000, -1ull };
	struct drm_panthor_perf_cmd_setup setup = {
		.block_set = a->b >> 6 ? 0 : a->b & 3,
		.setup_flags = a->a & 1,
		.fd = eventfds[a->a >> 1 & 1],
		.ringbuf_handle = objects[a->a >> 2 & 3].handle,
		.control_handle = objects[a->a >> 4 & 3].handle,
		.sample_slots = 1u << (a->value & 7),
		.control_offset = a->value >> 3 & 3 ? (a->value >> 3 & 3) * 16 - 16 : limit(a->value >> 8),
		.sample_freq_ns = periods[a->value >> 5 & 7],
	};
	uint32_t handle;

	if (a->b & 4)
		perf_masks_all(&setup);
	else
		setup.cshw_enable_mask[0] = setup.shader_enable_mask[0] = a->value >> 8;
	if ((a->b & 0x38) == 0x38)
		((uint8_t *)&setup)[a->value >> 16 & 0x7f] ^= a->value >> 24;
	if (!perf_setup(fd, &setup, &handle))
		handles[a->value >> 28 & (SESSIONS - 1)] = handle;
}

static void control(const struct action *a, int fd)
{
	static uint8_t arg[8192];
	struct drm_panthor_perf_control c = {
		.cmd = a->a & 0x40 ? limit(a->value) : a->a & 7,
		.handle = handles[a->b & (SESSIONS - 1)],
		.size = limit(a->value >> 8),
		.pointer = a->b & 0x80 ? limit(a->value >> 16) : (uintptr_t)arg,
	};

	perf_control(fd, &c);
}

static void open_event(const struct action *a)
{
	struct perf_event_attr attr = pmu_attr(&pmu, PMU_CONFIG(a->a & 7, a->value & 0xff, a->value >> 8 & 0x1f));
	int leader = a->b & 8 ? events[a->b & 7] : -1;
	int *event = &events[a->value >> 16 & (EVENTS - 1)];

	if (a->a & 8)
		attr = pmu_clock_attr(a->a & 0x10 ? 1000 : 0);
	if (a->a & 0x20)
		attr.config |= (uint64_t)a->value << 24;
	if (a->a & 0x40)
		attr.read_format = PERF_FORMAT_GROUP;
	attr.disabled = a->a >> 7;
	if (*event >= 0)
		close(*event);
	*event = pmu_open_once(&attr, a->b & 0x10 ? 0 : -1, a->b & 0x20 ? 0 : pmu.cpu, leader, 0);
}

static void control_event(const struct action *a)
{
	static const unsigned long requests[] = {
		PERF_EVENT_IOC_ENABLE, PERF_EVENT_IOC_DISABLE, PERF_EVENT_IOC_RESET, PERF_EVENT_IOC_REFRESH,
	};

	if (events[a->a & (EVENTS - 1)] >= 0)
		ioctl(events[a->a & (EVENTS - 1)], requests[a->b & 3], a->b & 4 ? PERF_IOC_FLAG_GROUP : 0);
}

/* Firmware that is wrong, of the kinds that end by themselves, or when the input does. */
static void disturb(const struct action *a)
{
	switch (a->a % 12) {
	case 0: bench_reg_set(PROTM, a->b & 1); break;
	case 1: bench_reg_set(SLEEP, a->b & 1); break;
	case 2: bench_reg_set64(CORES_OFF, a->value); break;
	case 3: bench_reg_set(ACK_DELAY, a->value % 2000000); break;
	case 4: bench_reg_set(DROP_SAMPLES, a->b & 7); break;
	case 5: bench_reg_set(DROP_ACKS, a->b & 7); break;
	case 6: bench_reg_set(DROP_SAMPLE_ACKS, a->b & 7); break;
	case 7: bench_reg_set(RING_FULL, a->b & 1); break;
	case 8: bench_reg_set(HANG, a->b > 0xf0); break;
	case 9: bench_reg_set(INSERT_SKEW, a->value); bench_reg_set(INSERT_SKEW_ON, a->b & 1); break;
	case 10: bench_reg_set(ACTIVITY, a->b & 1); break;
	default: bench_set(MALI_BENCH_FAULTS_FIRST + 4 * (a->value % MALI_FAULTS), a->b & 3); break;
	}
}

/* @nth: 1 is the next, 0 is none. What says so to the kernel may be what fails. */
static void fail(unsigned int nth)
{
	for (int tries = 0; tries < 2 && dprintf(fail_nth, "%u", nth) < 0; tries++)
		;
}

/* A device that was bound has a PMU, which may be another one. */
static bool counts_again(void)
{
	return !pmu_find(&pmu);
}

static void act(const struct action *a)
{
	int *file = &files[(a->who & 3) % FILES], fd = *file;
	struct perf_bo *object = &objects[a->a & (OBJECTS - 1)];
	uint32_t handle = handles[a->b & (SESSIONS - 1)], size;
	struct pollfd p = { .fd = eventfds[a->a & 1], .events = POLLIN };
	uint64_t text[64];

	switch (a->what % WHATS) {
	case OPEN:
		if (fd < 0)
			*file = perf_open_device();
		break;
	case CLOSE:
		*file = -1;
		if (fd >= 0)
			close(fd);
		break;
	case QUERY:
		size = limit(a->value) % (sizeof(text) + 1);
		perf_query(fd, a->a & 1 ? DRM_PANTHOR_DEV_QUERY_PERF_INFO : a->b, a->a & 2 ? NULL : text, &size);
		break;
	case CREATE:
		size = a->b & 1 ? (a->b & 0xfeu) * 4096 + 4096 : 8 * info.sample_size;
		if (!object->handle && !perf_bo_create(fd, object, size, (a->b & 6) == 6 ? DRM_PANTHOR_BO_NO_MMAP : 0))
			perf_bo_map(fd, object, PROT_READ | PROT_WRITE);
		break;
	case FORGET:
		if (a->b & 1)
			perf_bo_unmap(object);
		perf_bo_close(fd, object);
		break;
	case SETUP:
		set_up(a, fd);
		break;
	case CONTROL:
		control(a, fd);
		break;
	case START:
		perf_start(fd, handle, a->value);
		break;
	case STOP:
		perf_stop(fd, handle, a->value);
		break;
	case SAMPLE:
		for (int i = 0; i <= (a->a & 15); i++)
			perf_sample(fd, handle, a->value + i);
		break;
	case TEARDOWN:
		perf_teardown(fd, handle);
		break;
	case EXTRACT:
		if (object->map)
			((volatile uint64_t *)object->map)[a->b & 7] = limit(a->value);
		break;
	case WAIT:
		poll(&p, 1, 20);
		break;
	case SIGNAL:
		text[0] = a->b & 1 ? UINT64_MAX - 1 : 1;
		if (a->b & 2 ? read(p.fd, text, 8) : write(p.fd, text, 8))
			break;
		break;
	case EVENT_OPEN:
		open_event(a);
		break;
	case EVENT_READ:
		if (events[a->a & (EVENTS - 1)] >= 0 && read(events[a->a & (EVENTS - 1)], text, sizeof(text)))
			break;
		break;
	case EVENT_CONTROL:
		control_event(a);
		break;
	case EVENT_CLOSE:
		if (events[a->a & (EVENTS - 1)] >= 0)
			close(events[a->a & (EVENTS - 1)]);
		events[a->a & (EVENTS - 1)] = -1;
		break;
	case USER:
		/* To the kernel a user is a thread's. */
		syscall(SYS_setresuid, -1, a->b & 1 ? PERF_NOBODY : 0, -1);
		break;
	case POWER:
		perf_pm_write("control", a->b & 1 ? "on" : "auto");
		break;
	case FIRMWARE:
		disturb(a);
		break;
	case TIME:
		usleep(a->value % 5000);
		break;
	case MEMORY:
		fail(a->value % 128);
		break;
	case UNBIND:
		/* Neither the driver core nor panthor can do without memory there. */
		fail(0);
		perf_bind(device, "unbind");
		break;
	case BIND:
		if (!perf_bind(device, "bind")) {
			fail(0);
			counts_again();
		}
		break;
	}
}

/* ---- executing inputs ---- */

/**
 * struct actor - one of the two threads of an input
 * @input: the input
 * @number: which thread it is
 * @kcov: KCOV's buffer of it
 */
struct actor {
	const struct input *input;
	int number;
	uint64_t *kcov;
};

/* A bit for each pair of places that came behind each other. */
static void note_places(const uint64_t *kcov)
{
	uint64_t num = kcov[0] < KCOV_WORDS - 1 ? kcov[0] : KCOV_WORDS - 1, last = 0;

	for (uint64_t i = 1; i <= num; i++) {
		uint64_t pc = kcov[i] * 0x9e3779b97f4a7c15ull >> 48;

		reached[(pc ^ last) % PLACES] = 1;
		last = pc >> 1;
	}
}

static void *perform(void *arg)
{
	struct actor *actor = arg;
	int fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);

	if (fd < 0 || ioctl(fd, KCOV_INIT_TRACE, KCOV_WORDS))
		die("KCOV: %m");
	actor->kcov = mmap(NULL, KCOV_WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (actor->kcov == MAP_FAILED || ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC))
		die("KCOV: %m");
	fail_nth = open("/proc/thread-self/fail-nth", O_WRONLY | O_CLOEXEC);
	if (fail_nth < 0)
		die("fail-nth: %m");
	__atomic_store_n(&actor->kcov[0], 0, __ATOMIC_RELAXED);
	for (int i = 0; i < actor->input->num; i++) {
		if (actor->input->actions[i].who >> 7 == actor->number)
			act(&actor->input->actions[i]);
	}
	fail(0);
	syscall(SYS_setresuid, -1, 0, -1);
	ioctl(fd, KCOV_DISABLE, 0);
	return NULL;
}

static void execute_here(const struct input *input)
{
	struct actor actors[2] = { { .input = input }, { .input = input, .number = 1 } };
	pthread_t thread;

	alarm(PATIENCE);
	for (int i = 0; i < FILES; i++)
		files[i] = perf_open_device();
	for (int i = 0; i < EVENTS; i++)
		events[i] = -1;
	eventfds[0] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	eventfds[1] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC | EFD_SEMAPHORE);
	/* What most inputs begin with. */
	for (int i = 0; i < 2; i++) {
		if (files[0] >= 0 && !perf_bo_create(files[0], &objects[i], i ? 4096 : 8 * info.sample_size, 0))
			perf_bo_map(files[0], &objects[i], PROT_READ | PROT_WRITE);
	}
	if (pthread_create(&thread, NULL, perform, &actors[1]))
		die("a thread: %m");
	perform(&actors[0]);
	pthread_join(thread, NULL);
	note_places(actors[0].kcov);
	note_places(actors[1].kcov);
	_exit(0);
}

static void print_input(const char *what, const struct input *input)
{
	const uint8_t *bytes = (const void *)input->actions;

	printf("%s ", what);
	for (size_t i = 0; i < input->num * sizeof(struct action); i++)
		printf("%02x", bytes[i]);
	printf("\n");
	fflush(stdout);
}

/* The status of a process that has ended. */
static int wait_for(pid_t pid)
{
	struct timespec second = { .tv_sec = 1 };
	int status, seconds = 0;
	pid_t ended;

	while (!(ended = waitpid(pid, &status, WNOHANG))) {
		if (sigtimedwait(&child_ended, NULL, &second) < 0 && ++seconds >= PROTECTED)
			bench_reg_set(PROTM, 0);
	}
	if (ended != pid)
		die("waitpid: %m");
	return status;
}

static bool gpu_is_there(void)
{
	int fd = perf_open_counters(&info);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The device is there as it was before. */
static bool bound_again(void)
{
	/* A GPU that could not be resumed is unplugged, and bound until somebody unbinds it. */
	if (!gpu_is_there()) {
		perf_bind(device, "unbind");
		perf_bind(device, "bind");
	}
	return gpu_is_there() && counts_again();
}

/* How many places nobody had reached before, or -1 if it did not come to an end, or the device to its driver. */
static int execute(const struct input *input)
{
	uint64_t begin = perf_now();
	int status, news = 0;
	bool bound;
	pid_t pid;

	memset(reached, 0, PLACES);
	pid = fork();
	if (pid < 0)
		die("fork: %m");
	if (!pid)
		execute_here(input);
	status = wait_for(pid);
	perf_bench_calm();
	bound = bound_again();
	perf_pm_write("control", "auto");
	if (!WIFEXITED(status) || WEXITSTATUS(status) || !bound) {
		printf("# status %#x of the next one, after %lu ms%s\n", status, (perf_now() - begin) / 1000000,
		       bound ? "" : ", and the device cannot be bound again");
		print_input("failed", input);
		return -1;
	}
	for (int i = 0; i < PLACES; i++) {
		news += reached[i] && !seen[i];
		seen[i] |= reached[i];
	}
	return news;
}

/* ---- inputs ---- */

static bool parse(const char *text, struct input *input)
{
	uint8_t *bytes = (void *)input->actions;
	unsigned int byte;
	size_t len = 0;

	for (; len < sizeof(input->actions) && sscanf(text, "%2x", &byte) == 1; text += 2)
		bytes[len++] = byte;
	input->num = len / sizeof(struct action);
	return input->num;
}

static void read_inputs(const char *path)
{
	static char line[ACTIONS * sizeof(struct action) * 2 + 2];
	FILE *f;

	for (int i = 0; corpus[i] && num_inputs < INPUTS; i++)
		num_inputs += parse(corpus[i], &inputs[num_inputs]);
	if (!path)
		return;
	f = fopen(path, "re");
	if (!f)
		die("%s: %m", path);
	while (num_inputs < INPUTS && fgets(line, sizeof(line), f)) {
		struct input *input = &inputs[num_inputs];

		num_inputs += parse(line, input);
	}
	fclose(f);
}

static struct action any_action(void)
{
	struct action a = {
		.what = chance(WHATS), .who = chance(4) ? 0 : chance(4) | chance(2) << 7, .a = chance(256), .b = chance(256),
		.value = chance(2) ? chance(64) : chance(0x7fffffff) << 1,
	};

	/* These two take as long as fifty others. */
	if (a.what >= UNBIND && chance(16))
		a.what = chance(UNBIND);
	return a;
}

/* One of those that are kept, with something changed; now and then the end of another behind it. */
static void change(struct input *input)
{
	const struct input *other;
	int at, n;

	if (num_inputs)
		*input = inputs[chance(num_inputs)];
	else
		input->num = 0;
	for (int turns = 1 + chance(6); turns; turns--) {
		at = input->num ? chance(input->num) : 0;
		switch (input->num ? chance(6) : 0) {
		case 0:
		case 1:
			if (input->num == ACTIONS)
				break;
			memmove(&input->actions[at + 1], &input->actions[at], (input->num - at) * sizeof(struct action));
			input->actions[at] = any_action();
			input->num++;
			break;
		case 2:
			input->num--;
			memmove(&input->actions[at], &input->actions[at + 1], (input->num - at) * sizeof(struct action));
			break;
		case 3:
			((uint8_t *)&input->actions[at])[chance(sizeof(struct action))] = chance(256);
			break;
		case 4:
			((uint8_t *)&input->actions[at])[chance(sizeof(struct action))] ^= 1 << chance(8);
			break;
		default:
			other = &inputs[num_inputs ? chance(num_inputs) : 0];
			n = other->num < ACTIONS - at ? other->num : ACTIONS - at;
			memcpy(&input->actions[at], other->actions, n * sizeof(struct action));
			input->num = at + n;
			break;
		}
	}
}

static int count_places(void)
{
	int n = 0;

	for (int i = 0; i < PLACES; i++)
		n += seen[i];
	return n;
}

static void look(uint64_t seconds)
{
	unsigned long tried = 0;
	uint64_t end, tell = 0;
	struct input input;

	for (int i = 0; i < num_inputs; i++)
		execute(&inputs[i]);
	end = perf_now() + seconds * 1000000000ull;
	while (perf_now() < end) {
		change(&input);
		if (!input.num)
			continue;
		print_input("try", &input);
		tried++;
		if (execute(&input) > 0 && num_inputs < INPUTS) {
			inputs[num_inputs++] = input;
			print_input("new", &input);
		}
		if (perf_now() >= tell) {
			printf("# %lu tried, %d kept, %d places\n", tried, num_inputs, count_places());
			tell = perf_now() + 10000000000ull;
		}
	}
	printf("# in all: %lu tried, %d kept, %d places\n", tried, num_inputs, count_places());
}

static void replay(void)
{
	int failed = 0;

	for (int i = 0; i < num_inputs; i++) {
		print_input("# try", &inputs[i]);
		failed += execute(&inputs[i]) < 0;
	}
	printf("%sok - each of %d inputs comes to an end\n", failed ? "not " : "", num_inputs);
	/* Without its counting, nothing that is looked for would ever be found. */
	printf("%sok - they reach %d places of the driver\n", count_places() < 200 ? "not " : "", count_places());
}

int main(int argc, char **argv)
{
	uint64_t seconds = 0;
	char mode = 0;
	int option;

	while ((option = getopt(argc, argv, "rmt:s:")) != -1) {
		if (option == 's')
			seed = strtoull(optarg, NULL, 0) * 2 + 1;
		else if (option == '?')
			return 2;
		else
			mode = option;
		if (option == 't')
			seconds = strtoull(optarg, NULL, 0);
	}
	if (!mode || argc - optind > 1)
		die("usage: fuzz-ioctl -r|-m|-t SECONDS [-s SEED] [FILE]");
	sigemptyset(&child_ended);
	sigaddset(&child_ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child_ended, NULL);
	seen = mmap(NULL, 2 * PLACES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	reached = seen + PLACES;
	files[0] = perf_open_counters(&info);
	if (seen == MAP_FAILED || files[0] < 0 || pmu_find(&pmu) || !perf_bench_open())
		die("no GPU with counters, or no bench page");
	close(files[0]);
	/* Everybody may count, within his limits. */
	if (perf_set_paranoid(false) || perf_sysfs(device, sizeof(device)) || !perf_all_can_fail())
		die("perf_paranoid, the device, or what makes memory run out: %m");
	read_inputs(argv[optind]);
	if (mode == 'r') {
		replay();
	} else if (mode == 't') {
		look(seconds);
	} else {
		/* The last first: it has grown out of those before. */
		for (int i = num_inputs - 1; i >= 0; i--) {
			if (execute(&inputs[i]) > 0)
				print_input("new", &inputs[i]);
		}
	}
	return 0;
}
