// SPDX-License-Identifier: MIT
/*
 * suspend-fence   suspends the system with jobs that are not done
 *
 *   suspend-fence running|turn|alone|refused|slots|opened STACKS_HZ [LIMIT_MS]
 *
 * There are two jobs, which run one after the other on one queue. STACKS_HZ is the
 * rate of the clock that tells how long they take. It needs modules/suspend-fence.c.
 *
 *   running the first job is on the GPU when the suspend begins, and the device
 *           that is suspended after the GPU waits for the second, LIMIT_MS at most
 *   turn    that device signals what the first job waits for, and the one that is
 *           resumed after the GPU waits for the second, LIMIT_MS at most
 *   alone   the first job is on the GPU, and no device waits
 *   refused the same, and the GPU's power domain refuses the suspend once, with -EAGAIN
 *   slots   there are 12 jobs, each in a group of its own, which is more than the GPU has
 *           slots, all of them at work when the suspend begins, and no device waits
 *   opened  nothing is suspended: the device signals what the first job waits for after
 *           LIMIT_MS
 *
 * Prints name=value lines:
 *
 *   suspend        0, or the negative errno of the suspend
 *   wait           not-called, was-signaled, signaled, gave-up: what became of the
 *                  device's wait
 *   gpu_suspended  1 if the GPU was suspended before the device behind it was
 *   done           jobs that were done in the end, and right
 *
 * The exit status is 0 if all this could be found out.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "client.h"
#include "cs.h"
#include "modules/suspend-fence.h"

#define MAX_JOBS	12
#define STREAM_SIZE	4096
#define WORKGROUP	64
#define SIGNAL_SYNCOBJ	(DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ)
#define WAIT_SYNCOBJ	(DRM_PANTHOR_SYNC_OP_WAIT | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ)
#define WAIT_NS		(120 * NSEC_PER_SEC)
/* More than any of the waits may take, were there none that hangs. */
#define LIMIT_MS	30000

enum kind {
	KIND_RUNNING,
	KIND_TURN,
	KIND_ALONE,
	KIND_REFUSED,
	KIND_SLOTS,
	KIND_OPENED,
	KIND_COUNT,
};

/*
 * Jobs may be several times as long on a machine that has other things to do. None may take as long
 * as panthor allows it, 5 s.
 */
static const struct {
	const char *name;
	unsigned int jobs;
	unsigned int job_ms;
} kinds[KIND_COUNT] = {
	[KIND_RUNNING] = { "running", 2, 600 },
	[KIND_TURN] = { "turn", 2, 1 },
	[KIND_ALONE] = { "alone", 2, 600 },
	[KIND_REFUSED] = { "refused", 2, 600 },
	[KIND_SLOTS] = { "slots", MAX_JOBS, 200 },
	[KIND_OPENED] = { "opened", 2, 1 },
};

static const char * const states[] = {
	[SUSPEND_FENCE_NOT_CALLED] = "not-called",
	[SUSPEND_FENCE_WAS_SIGNALED] = "was-signaled",
	[SUSPEND_FENCE_SIGNALED] = "signaled",
	[SUSPEND_FENCE_GAVE_UP] = "gave-up",
};

static struct gpu gpu;
static struct gpu_vm vm;
static struct gpu_bo streams, results;
static uint32_t groups[MAX_JOBS], done[MAX_JOBS];

static uint32_t job_result(unsigned int n)
{
	return 0x5eed0000 | (n + 1);
}

/* Says that it has begun, computes for a while, then stores a number that no other job does. */
static uint32_t build(unsigned int n, uint32_t workgroups)
{
	struct cs_buf b = {
		.arch = gpu.info.gpu_id >> 28,
		.insn = (uint64_t *)((uint8_t *)streams.map + n * STREAM_SIZE),
		.va = streams.va + n * STREAM_SIZE,
		.room = STREAM_SIZE / sizeof(uint64_t),
	};

	cs_emit(&b, cs_move(64, results.va + (MAX_JOBS + n) * sizeof(uint32_t)));
	cs_emit(&b, cs_move32(66, job_result(n)));
	cs_emit(&b, cs_store(66, 64, 1, 0));
	cs_emit(&b, cs_wait(0xff));
	cs_emit(&b, cs_req_resource(CS_RES_COMPUTE));
	cs_emit_sb_entries(&b, 2, 0);
	cs_emit(&b, cs_move32(33, WORKGROUP - 1));
	for (unsigned int r = 34; r < 37; r++)
		cs_emit(&b, cs_move32(r, 0));
	cs_emit(&b, cs_move32(37, workgroups));
	cs_emit(&b, cs_move32(38, 1));
	cs_emit(&b, cs_move32(39, 1));
	cs_emit(&b, cs_run_compute(1, 0));
	cs_emit(&b, cs_wait(0xff));
	cs_emit(&b, cs_move(64, results.va + n * sizeof(uint32_t)));
	cs_emit(&b, cs_store(66, 64, 1, 0));
	cs_emit(&b, cs_wait(0xff));
	if (cs_overflowed(&b))
		die("a stream is too long");
	return cs_size(&b);
}

static void submit(unsigned int n, uint32_t size, uint32_t wait)
{
	struct drm_panthor_sync_op syncs[2] = {
		{
			.flags = SIGNAL_SYNCOBJ,
			.handle = done[n],
		},
		{
			.flags = WAIT_SYNCOBJ,
			.handle = wait,
		},
	};
	struct drm_panthor_queue_submit job = {
		.stream_size = size,
		.stream_addr = streams.va + n * STREAM_SIZE,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(wait ? 2 : 1, syncs),
	};
	int ret = gpu_submit(&gpu, groups[n], &job, 1);

	if (ret)
		die("cannot submit job %u: %s", n, strerror(-ret));
}

/* As the shell's echo to /sys/power/state: 0 or a negative errno. */
static int suspend(void)
{
	static const char state[] = "freeze";
	int fd = open("/sys/power/state", O_WRONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		die("/sys/power/state: %s", strerror(errno));
	if (write(fd, state, strlen(state)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

static void wait_until_begun(unsigned int n)
{
	int64_t end = now_ns(CLOCK_MONOTONIC) + WAIT_NS;

	while (((volatile uint32_t *)results.map)[MAX_JOBS + n] != job_result(n)) {
		if (now_ns(CLOCK_MONOTONIC) > end)
			die("job %u does not begin", n);
		usleep(1000);
	}
}

static unsigned long parse(const char *text, const char *what)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || !value || value > UINT32_MAX)
		die("%s is not a number: %s", what, text);
	return value;
}

int main(int argc, char **argv)
{
	uint32_t gate = 0, workgroups, cores, stored, jobs;
	struct suspend_fence_wait wait = { .limit_ms = LIMIT_MS };
	struct suspend_fence_result result = {};
	unsigned int right = 0;
	uint64_t hz;
	enum kind kind = KIND_COUNT;
	int ctl, fd, ret;

	if (argc == 3 || argc == 4) {
		for (kind = 0; kind < KIND_COUNT; kind++)
			if (!strcmp(argv[1], kinds[kind].name))
				break;
	}
	if (kind == KIND_COUNT)
		die("usage: suspend-fence running|turn|alone|refused|slots|opened STACKS_HZ [LIMIT_MS]");
	hz = parse(argv[2], "STACKS_HZ");
	if (argc == 4)
		wait.limit_ms = parse(argv[3], "LIMIT_MS");
	wait.resume = kind == KIND_TURN;
	jobs = kinds[kind].jobs;

	ctl = open("/dev/suspend-fence", O_RDWR | O_CLOEXEC);
	if (ctl < 0)
		die("/dev/suspend-fence: %s (modprobe suspend-fence)", strerror(errno));
	gpu_open(&gpu, NULL);
	gpu_vm_create(&vm, &gpu);
	gpu_bo_create(&streams, &vm, MAX_JOBS * STREAM_SIZE, 0);
	gpu_bo_create(&results, &vm, 4096, DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC);

	/* A thread takes 4 cycles of one core. */
	cores = __builtin_popcountll(gpu.info.shader_present);
	workgroups = hz / 1000 * kinds[kind].job_ms * cores / 4 / WORKGROUP;

	if (kind == KIND_TURN || kind == KIND_OPENED) {
		if (ioctl(ctl, SUSPEND_FENCE_IOC_GATE, &fd))
			die("cannot make a fence: %s", strerror(errno));
		gate = gpu_syncobj_create(&gpu);
		if (drmSyncobjImportSyncFile(gpu.fd, gate, fd))
			die("cannot import a sync file: %s", strerror(errno));
	}

	for (unsigned int n = 0; n < jobs; n++)
		groups[n] = n && kind != KIND_SLOTS ? groups[0] : gpu_group_create(&vm, 1);

	for (unsigned int n = 0; n < jobs; n++) {
		done[n] = gpu_syncobj_create(&gpu);
		submit(n, build(n, workgroups), n ? 0 : gate);
	}

	if (kind == KIND_RUNNING || kind == KIND_TURN) {
		if (drmSyncobjExportSyncFile(gpu.fd, done[jobs - 1], &wait.fd))
			die("cannot export a syncobj: %s", strerror(errno));
		if (ioctl(ctl, SUSPEND_FENCE_IOC_WAIT, &wait))
			die("cannot make a device wait: %s", strerror(errno));
	}
	if (kind == KIND_REFUSED && ioctl(ctl, SUSPEND_FENCE_IOC_REFUSE))
		die("cannot refuse a suspend: %s", strerror(errno));
	if (kind == KIND_OPENED) {
		usleep(wait.limit_ms * 1000);
		ret = ioctl(ctl, SUSPEND_FENCE_IOC_OPEN);
	} else {
		if (kind != KIND_TURN)
			wait_until_begun(0);
		ret = suspend();
	}
	printf("suspend=%d\n", ret);
	if (ioctl(ctl, SUSPEND_FENCE_IOC_RESULT, &result))
		die("cannot ask what became of the wait: %s", strerror(errno));
	printf("wait=%s\ngpu_suspended=%u\n", states[result.state], result.gpu_suspended);

	for (unsigned int n = 0; n < jobs; n++) {
		ret = gpu_syncobj_wait(&gpu, done[n], 0, WAIT_NS);
		if (ret)
			die("job %u does not end: %s", n, strerror(-ret));
		stored = ((volatile uint32_t *)results.map)[n];
		ret = gpu_fence_error(&gpu, done[n]);
		if (ret == 1 && stored == job_result(n))
			right++;
		else
			fprintf(stderr, "job %u: fence %d, stored %#x\n", n, ret, stored);
	}
	printf("done=%u\n", right);
	return 0;
}
