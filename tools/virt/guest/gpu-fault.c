// SPDX-License-Identifier: MIT
/*
 * gpu-fault KIND - submits a stream that goes wrong, and says what came of it
 *
 * A bystander, a group in another VM, works before, during and after the fault;
 * what it computed is checked. Prints name=value lines for the tests:
 *
 *   fence         1, or the negative errno that the job's fence failed with
 *   state         GROUP_GET_STATE's state of the faulty group
 *   fatal_queues  and its fatal queues
 *   resubmit      0, or the negative errno of submitting to the faulty group again
 *   va            the address that must be in the kernel's message, if one
 *   bystander     jobs of the bystander that were right
 *   bystander_state
 *   after         jobs that were right in a new group of the faulty one's VM, or
 *                 -1 if that VM is unusable
 *
 * The exit status is 0 if the bystander's work was right and everything else
 * could be asked, whatever the answers: what they must be is for the test.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "client.h"
#include "cs.h"

#define HOLE_VA		0x123400000ull	/* never mapped */
#define WAIT_NS		(120 * NSEC_PER_SEC)
#define MAGIC		0x600df00d

enum fault {
	FAULT_NONE,
	FAULT_READ,
	FAULT_WRITE,
	FAULT_READONLY,
	FAULT_STREAM,
	FAULT_CALL,
	FAULT_OPCODE,
	FAULT_LOOP,
	FAULT_COUNT,
};

static const struct {
	const char *name;
	const char *what;
} faults[FAULT_COUNT] = {
	[FAULT_NONE] = { "none", "nothing goes wrong" },
	[FAULT_READ] = { "read", "loads from an unmapped address" },
	[FAULT_WRITE] = { "write", "stores to an unmapped address" },
	[FAULT_READONLY] = { "readonly", "stores to a read-only mapping" },
	[FAULT_STREAM] = { "stream", "the stream itself is unmapped" },
	[FAULT_CALL] = { "call", "calls an unmapped address" },
	[FAULT_OPCODE] = { "opcode", "an instruction that does not exist" },
	[FAULT_LOOP] = { "loop", "branches to itself for ever" },
};

/**
 * struct worker - a group and memory to work in
 * @vm: its VM
 * @group: its group, of two queues
 * @mem: the stream in the first page, results in the second
 * @syncobj: binary, of the last job
 * @number: makes each job's result differ
 */
struct worker {
	struct gpu_vm *vm;
	uint32_t group;
	struct gpu_bo mem;
	uint32_t syncobj;
	uint32_t number;
};

static struct gpu gpu;

static void worker_init(struct worker *w, struct gpu_vm *vm)
{
	w->vm = vm;
	w->group = gpu_group_create(vm, 2);
	gpu_bo_create(&w->mem, vm, 8192, 0);
	w->syncobj = gpu_syncobj_create(&gpu);
	w->number = 0;
}

static volatile uint32_t *worker_result(struct worker *w)
{
	return (volatile uint32_t *)w->mem.map + 1024;
}

static struct cs_buf worker_stream(struct worker *w)
{
	return (struct cs_buf){ .insn = w->mem.map, .va = w->mem.va, .room = 512 };
}

static int worker_submit(struct worker *w, unsigned int queue, uint64_t va, uint32_t size)
{
	struct drm_panthor_sync_op sync = {
		.flags = DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ,
		.handle = w->syncobj,
	};
	struct drm_panthor_queue_submit job = {
		.queue_index = queue,
		.stream_size = size,
		.stream_addr = va,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &sync),
	};

	if (drmSyncobjReset(gpu.fd, &w->syncobj, 1))
		die("cannot reset a syncobj: %s", strerror(errno));
	return gpu_submit(&gpu, w->group, &job, 1);
}

/* A job that stores a number nobody else stores. Returns whether it did. */
static bool worker_work(struct worker *w, unsigned int queue)
{
	struct cs_buf b = worker_stream(w);
	uint32_t want = MAGIC ^ ++w->number << 8;
	int ret;

	worker_result(w)[0] = 0;
	cs_emit(&b, cs_move(0, w->mem.va + 4096));
	cs_emit(&b, cs_move32(2, want - 1));
	cs_emit(&b, cs_add32(2, 2, 1));
	cs_emit(&b, cs_store(2, 0, 1, 0));
	cs_emit(&b, cs_wait(0xff));
	ret = worker_submit(w, queue, b.va, cs_size(&b));
	if (ret) {
		fprintf(stderr, "gpu-fault: a healthy job is refused: %s\n", strerror(-ret));
		return false;
	}
	ret = gpu_syncobj_wait(&gpu, w->syncobj, 0, WAIT_NS);
	if (ret) {
		fprintf(stderr, "gpu-fault: a healthy job does not end: %s\n", strerror(-ret));
		return false;
	}
	if (gpu_fence_error(&gpu, w->syncobj) != 1 || worker_result(w)[0] != want) {
		fprintf(stderr, "gpu-fault: a healthy job stored 0x%x, not 0x%x (fence %d)\n",
			worker_result(w)[0], want, gpu_fence_error(&gpu, w->syncobj));
		return false;
	}
	return true;
}

/* The faulty stream. Returns the address that the MMU must complain about, 0 for none. */
static uint64_t build_fault(enum fault fault, struct cs_buf *b, const struct gpu_bo *readonly)
{
	uint64_t va = 0;

	cs_emit(b, cs_move32(2, MAGIC));
	switch (fault) {
	case FAULT_READ:
		va = HOLE_VA + 0x1230;
		cs_emit(b, cs_move(0, va));
		cs_emit(b, cs_load(4, 0, 1, 0));
		break;
	case FAULT_WRITE:
		va = HOLE_VA + 0x4560;
		cs_emit(b, cs_move(0, va));
		cs_emit(b, cs_store(2, 0, 1, 0));
		break;
	case FAULT_READONLY:
		va = readonly->va + 0x40;
		cs_emit(b, cs_move(0, va));
		cs_emit(b, cs_store(2, 0, 1, 0));
		break;
	case FAULT_CALL:
		va = HOLE_VA + 0x8000;
		cs_emit(b, cs_move(0, va));
		cs_emit(b, cs_move32(2, 64));
		cs_emit(b, cs_call(0, 2));
		break;
	case FAULT_STREAM:
		va = HOLE_VA + 0xc000;
		break;
	case FAULT_OPCODE:
		cs_emit(b, 0xeeull << 56);
		break;
	case FAULT_LOOP:
		cs_emit(b, cs_branch(CS_COND_ALWAYS, 0, -1));
		break;
	default:
		break;
	}
	cs_emit(b, cs_wait(0xff));
	return va;
}

int main(int argc, char **argv)
{
	struct gpu_vm faulty_vm, other_vm;
	struct worker faulty, bystander;
	struct drm_panthor_group_get_state state;
	struct drm_panthor_vm_get_state vm_state = {};
	struct gpu_bo readonly;
	enum fault fault;
	unsigned int good = 0, tries = 0;
	struct cs_buf b;
	uint64_t va;
	int ret, after = -1;

	for (fault = 0; argc == 2 && fault < FAULT_COUNT; fault++)
		if (!strcmp(argv[1], faults[fault].name))
			break;
	if (argc != 2 || fault == FAULT_COUNT) {
		fprintf(stderr, "usage: gpu-fault KIND\n");
		for (fault = 0; fault < FAULT_COUNT; fault++)
			fprintf(stderr, "  %-10s %s\n", faults[fault].name, faults[fault].what);
		return 2;
	}

	gpu_open(&gpu, NULL);
	gpu_vm_create(&faulty_vm, &gpu);
	gpu_vm_create(&other_vm, &gpu);
	worker_init(&faulty, &faulty_vm);
	worker_init(&bystander, &other_vm);
	gpu_bo_create(&readonly, &faulty_vm, 4096, DRM_PANTHOR_VM_BIND_OP_MAP_READONLY);

	/* Both groups are resident and proven before anything goes wrong. */
	if (!worker_work(&faulty, 0))
		die("the group that is to fault does not work to begin with");
	good += worker_work(&bystander, 0);
	tries++;

	b = worker_stream(&faulty);
	va = build_fault(fault, &b, &readonly);
	ret = worker_submit(&faulty, 0, fault == FAULT_STREAM ? va : b.va, cs_size(&b));
	if (ret)
		die("cannot submit the faulty job: %s", strerror(-ret));

	/* Not after the fault, but while it goes on or is handled. */
	for (unsigned int i = 0; i < 8; i++, tries++)
		good += worker_work(&bystander, i & 1);

	ret = gpu_syncobj_wait(&gpu, faulty.syncobj, 0, WAIT_NS);
	if (ret)
		die("the faulty job does not end: %s", strerror(-ret));
	printf("fence=%d\n", gpu_fence_error(&gpu, faulty.syncobj));

	state = gpu_group_state(&gpu, faulty.group);
	printf("state=0x%x\nfatal_queues=0x%x\n", state.state, state.fatal_queues);

	b = worker_stream(&faulty);
	cs_emit(&b, cs_nop());
	printf("resubmit=%d\n", worker_submit(&faulty, 0, b.va, cs_size(&b)));
	if (va)
		printf("va=0x%016" PRIX64 "\n", va);

	good += worker_work(&bystander, 0);
	tries++;
	state = gpu_group_state(&gpu, bystander.group);
	printf("bystander=%u/%u\nbystander_state=0x%x\n", good, tries, state.state);

	gpu_group_destroy(&gpu, faulty.group);
	vm_state.vm_id = faulty_vm.id;
	if (drmIoctl(gpu.fd, DRM_IOCTL_PANTHOR_VM_GET_STATE, &vm_state))
		die("cannot get the state of a VM: %s", strerror(errno));
	if (vm_state.state == DRM_PANTHOR_VM_STATE_USABLE) {
		faulty.group = gpu_group_create(&faulty_vm, 2);
		after = worker_work(&faulty, 0) + worker_work(&faulty, 1);
	}
	printf("after=%d\n", after);
	return good == tries ? 0 : 1;
}
