// SPDX-License-Identifier: MIT
/*
 * gpu-streams - what command streams must do that gpu-load does not ask for
 *
 * Calls as deep as they go and deeper, scoreboards and deferred operations,
 * progress counters, synchronisation between groups and its errors, the tiler
 * heap with and without memory left, more groups at work than there are slots;
 * of architecture 11 and later arithmetic, 16 scoreboard entries and the state
 * of a stream that names them, shared ones, and that each set of instructions
 * refuses the other's.
 * Prints a result a line, "ok - NAME" or "not ok - NAME" with what was seen.
 *
 * The virtual Mali runs the jobs in it for their size alone: a real GPU would
 * fault for want of descriptors.
 */
#define _GNU_SOURCE
#include <inttypes.h>

#include "client.h"
#include "cs.h"

#define WAIT_NS		(60 * NSEC_PER_SEC)
#define RESULTS		0x8000		/* in a worker's memory, behind the streams */
#define MEM_SIZE	0x10000
#define LIB		0x4000		/* functions */

#define CHUNK_SIZE	0x40000u
/* Memory of a chunk behind its header; a primitive takes as much as the header. */
#define CHUNK_PRIMS	(CHUNK_SIZE / 64 - 1)

enum { SB_LS = 0, SB_JOB = 2, SB_DEFERRED = 3 };

/**
 * struct worker - a group and memory
 * @vm: its VM
 * @group: its group, of two queues
 * @mem: streams, functions, results
 * @syncobj: binary, a queue each, of the last job
 */
struct worker {
	struct gpu_vm *vm;
	uint32_t group;
	struct gpu_bo mem;
	uint32_t syncobj[2];
};

static struct gpu gpu;
static unsigned int failures;

static void __attribute__((format(printf, 3, 4)))
check(bool good, const char *name, const char *fmt, ...)
{
	va_list args;

	printf("%s - %s\n", good ? "ok" : "not ok", name);
	if (!good) {
		printf("# ");
		va_start(args, fmt);
		vprintf(fmt, args);
		va_end(args);
		printf("\n");
		failures++;
	}
	fflush(stdout);
}

static void check_u64(const char *name, uint64_t got, uint64_t want)
{
	check(got == want, name, "got 0x%" PRIx64 ", want 0x%" PRIx64, got, want);
}

static void worker_init(struct worker *w, struct gpu_vm *vm)
{
	w->vm = vm;
	w->group = gpu_group_create(vm, 2);
	gpu_bo_create(&w->mem, vm, MEM_SIZE, 0);
	w->syncobj[0] = gpu_syncobj_create(&gpu);
	w->syncobj[1] = gpu_syncobj_create(&gpu);
}

static void worker_fini(struct worker *w)
{
	gpu_group_destroy(&gpu, w->group);
	gpu_bo_destroy(&w->mem, w->vm);
	drmSyncobjDestroy(gpu.fd, w->syncobj[0]);
	drmSyncobjDestroy(gpu.fd, w->syncobj[1]);
}

static uint64_t at(struct worker *w, uint32_t offset)
{
	return w->mem.va + offset;
}

static volatile uint32_t *word(struct worker *w, uint32_t offset)
{
	return (volatile uint32_t *)((uint8_t *)w->mem.map + offset);
}

static uint64_t dword(struct worker *w, uint32_t offset)
{
	return *word(w, offset) | (uint64_t)*word(w, offset + 4) << 32;
}

/* Each queue has a stream of its own. */
static struct cs_buf stream(struct worker *w, unsigned int queue)
{
	uint32_t offset = queue * LIB / 2;

	return (struct cs_buf){
		.arch = gpu.info.gpu_id >> 28,
		.insn = (uint64_t *)((uint8_t *)w->mem.map + offset),
		.va = at(w, offset),
		.room = LIB / 2 / 8,
	};
}

static void submit(struct worker *w, unsigned int queue, struct cs_buf *b)
{
	struct drm_panthor_sync_op sync = {
		.flags = DRM_PANTHOR_SYNC_OP_SIGNAL | DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_SYNCOBJ,
		.handle = w->syncobj[queue],
	};
	struct drm_panthor_queue_submit job = {
		.queue_index = queue,
		.stream_size = cs_size(b),
		.stream_addr = b->va,
		.syncs = DRM_PANTHOR_OBJ_ARRAY(1, &sync),
	};
	int ret;

	if (cs_overflowed(b))
		die("a stream is too long");
	if (drmSyncobjReset(gpu.fd, &w->syncobj[queue], 1))
		die("cannot reset a syncobj: %s", strerror(errno));
	ret = gpu_submit(&gpu, w->group, &job, 1);
	if (ret)
		die("cannot submit: %s", strerror(-ret));
}

/* 1, the negative errno the fence failed with, or -ETIME. */
static int finish(struct worker *w, unsigned int queue)
{
	int ret = gpu_syncobj_wait(&gpu, w->syncobj[queue], 0, WAIT_NS);

	return ret ? ret : gpu_fence_error(&gpu, w->syncobj[queue]);
}

static int run(struct worker *w, unsigned int queue, struct cs_buf *b)
{
	submit(w, queue, b);
	return finish(w, queue);
}

static void check_run(struct worker *w, unsigned int queue, struct cs_buf *b, int want,
		      const char *name)
{
	int got = run(w, queue, b);

	check(got == want, name, "fence %d, want %d", got, want);
}

/* r0:r1 = the results. */
static void emit_results(struct cs_buf *b, struct worker *w)
{
	cs_emit(b, cs_move(0, at(w, RESULTS)));
}

/* A word of the results is made @value, or what another one is; r4 is used for it. */
static void emit_put(struct cs_buf *b, uint32_t value, int16_t to)
{
	cs_emit(b, cs_move32(4, value));
	cs_emit(b, cs_store(4, 0, 1, to));
	cs_emit(b, cs_wait(1 << SB_LS));
}

static void emit_copy(struct cs_buf *b, int16_t from, int16_t to)
{
	cs_emit(b, cs_load(4, 0, 1, from));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_store(4, 0, 1, to));
	cs_emit(b, cs_wait(1 << SB_LS));
}

/* @n functions, each of which counts in r10 and calls the next. */
static void test_calls(struct gpu_vm *vm, unsigned int n, int want)
{
	const uint32_t step = 0x40;
	struct worker w;
	struct cs_buf b;
	char name[80];
	int got;

	worker_init(&w, vm);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t *f = (uint64_t *)word(&w, LIB + i * step);

		f[0] = cs_add32(10, 10, 1);
		f[1] = i + 1 < n ? cs_move(2, at(&w, LIB + (i + 1) * step)) : cs_nop();
		f[2] = i + 1 < n ? cs_call(2, 4) : cs_nop();
		f[3] = cs_add32(11, 11, 1);
	}
	b = stream(&w, 0);
	emit_results(&b, &w);
	cs_emit(&b, cs_move(10, 0));
	cs_emit(&b, cs_move32(4, 32));
	cs_emit(&b, cs_move(2, at(&w, LIB)));
	cs_emit(&b, cs_call(2, 4));
	cs_emit(&b, cs_store(10, 0, 3, 0));
	cs_emit(&b, cs_wait(0xff));
	got = run(&w, 0, &b);
	snprintf(name, sizeof(name), "%u nested calls %s", n,
		 want == 1 ? "return" : "are too many");
	check(got == want, name, "fence %d, want %d", got, want);
	if (want == 1) {
		check_u64("each was entered", *word(&w, RESULTS), n);
		check_u64("and left", *word(&w, RESULTS + 4), n);
	} else {
		check_u64("nothing behind them was executed", *word(&w, RESULTS), 0);
	}
	worker_fini(&w);
}

static void test_scoreboard(struct worker *w)
{
	struct cs_buf b = stream(w, 0);

	*word(w, RESULTS + 0x40) = 7;
	*word(w, RESULTS + 0x80) = 0;
	emit_results(&b, w);
	cs_emit(&b, cs_move32(4, 1));
	cs_emit(&b, cs_load(4, 0, 1, 0x40));
	cs_emit(&b, cs_add32(5, 4, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_add32(6, 4, 0));
	cs_emit(&b, cs_store(5, 0, 3, 0));

	/* A deferred operation waits for the job before it, the stream does not. */
	cs_emit(&b, cs_move(8, at(w, RESULTS + 0x80)));
	cs_emit(&b, cs_move(10, 5));
	cs_emit_sb_entries(&b, SB_JOB, SB_LS);
	cs_emit(&b, cs_move32(42, 0));
	cs_emit(&b, cs_move32(43, 2047 | 2047 << 16));
	cs_emit(&b, cs_run_fragment(false, 0));
	cs_emit(&b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_SYSTEM, 10, 8, 1 << SB_JOB, SB_DEFERRED));
	cs_emit(&b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, 10, 8, 1 << SB_DEFERRED, 4));
	cs_emit(&b, cs_load(12, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(12, 0, 1, 8));
	cs_emit(&b, cs_wait(1 << SB_DEFERRED));
	cs_emit(&b, cs_load(13, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS | 1 << 4));
	cs_emit(&b, cs_load(14, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(14, 0, 1, 12));
	cs_emit(&b, cs_wait(1 << SB_LS));
	check_run(w, 0, &b, 1, "loads, waits and deferred operations");
	check_u64("a load has not happened before the wait", *word(w, RESULTS), 1);
	check_u64("and has after it", *word(w, RESULTS + 4), 7);
	check_u64("a deferred SYNC_SET waits for its job", *word(w, RESULTS + 8), 0);
	check_u64("deferred operations are in order", *word(w, RESULTS + 12), 10);
}

static void test_progress(struct worker *w)
{
	struct cs_buf b = stream(w, 0);

	emit_results(&b, w);
	cs_emit(&b, cs_move(2, 0));
	cs_emit(&b, cs_progress_store(2));
	cs_emit_sb_entries(&b, SB_JOB, SB_LS);
	for (unsigned int i = 33; i < 40; i++)
		cs_emit(&b, cs_move32(i, i == 33 ? 0 : i >= 37));
	cs_emit(&b, cs_run_compute(1, 0) | CS_WITH_PROGRESS);
	cs_emit(&b, cs_run_compute(1, 0) | CS_WITH_PROGRESS);
	cs_emit(&b, cs_run_compute(1, 0));
	cs_emit(&b, cs_wait(1 << SB_JOB) | CS_WITH_PROGRESS);
	cs_emit(&b, cs_progress_load(4));
	cs_emit(&b, cs_store(4, 0, 3, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	check_run(w, 0, &b, 1, "progress");
	check_u64("jobs and waits count as progress where they say so",
		  *word(w, RESULTS) | (uint64_t)*word(w, RESULTS + 4) << 32, 3);

	/* Queue 0 waits for queue 1, which comes later. */
	b = stream(w, 0);
	emit_results(&b, w);
	cs_emit(&b, cs_move(2, 0x200000005ull));
	cs_emit(&b, cs_progress_wait(1, 2));
	emit_copy(&b, 0x10, 0x14);
	submit(w, 0, &b);
	b = stream(w, 1);
	emit_results(&b, w);
	emit_put(&b, 0xabc, 0x10);
	cs_emit(&b, cs_move(2, 0x200000005ull));
	cs_emit(&b, cs_progress_store(2));
	check_run(w, 1, &b, 1, "a queue that another waits for");
	check_u64("the one that waits goes on", finish(w, 0), 1);
	check_u64("and sees what was stored before", *word(w, RESULTS + 0x14), 0xabc);
}

static void test_sync(struct worker *w, struct worker *other)
{
	struct cs_buf b;
	int fence;

	/* Both groups are in one VM: the object is in the first one's memory. */
	*word(w, RESULTS + 0x80) = 0;
	*word(w, RESULTS + 0x84) = 1;
	*word(w, RESULTS + 0x88) = 0;
	b = stream(w, 0);
	emit_results(&b, w);
	cs_emit(&b, cs_move(2, at(w, RESULTS + 0x80)));
	cs_emit(&b, cs_move(4, 0x100000004ull));
	cs_emit(&b, cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, 4, 2));
	cs_emit(&b, cs_load(6, 2, 3, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(6, 0, 3, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	submit(w, 0, &b);

	*word(w, RESULTS + 0x90) = 10;
	*word(w, RESULTS + 0x94) = 0;
	b = stream(w, 1);
	emit_results(&b, w);
	cs_emit(&b, cs_move(2, at(w, RESULTS + 0x90)));
	cs_emit(&b, cs_move32(4, 3));
	cs_emit(&b, cs_sync_wait(CS_OP_SYNC_WAIT32, CS_COND_LEQUAL, 4, 2));
	cs_emit(&b, cs_load(6, 2, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(6, 0, 1, 8));
	cs_emit(&b, cs_wait(1 << SB_LS));
	submit(w, 1, &b);

	for (int i = 0; i < 5; i++) {
		b = stream(other, 0);
		cs_emit(&b, cs_move(2, at(w, RESULTS + 0x80)));
		cs_emit(&b, cs_move(4, 1));
		cs_emit(&b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, 4, 2, 0, 0));
		cs_emit(&b, cs_move(2, at(w, RESULTS + 0x90)));
		cs_emit(&b, cs_move32(4, 7 - i));
		cs_emit(&b, cs_sync(CS_OP_SYNC_SET32, CS_SCOPE_SYSTEM, 4, 2, 0, 0));
		fence = run(other, 0, &b);
		if (fence != 1)
			die("a group that signals fails: %d", fence);
	}
	check_u64("a wait for more than a 64-bit value ends", finish(w, 0), 1);
	check_u64("not before the value", *word(w, RESULTS), 5);
	check_u64("and all 64 bits count", *word(w, RESULTS + 4), 1);
	check_u64("a wait for a 32-bit value or less ends", finish(w, 1), 1);
	check_u64("not before the value", *word(w, RESULTS + 8), 3);

	/* An error that comes with the object is the job's, unless it is refused. */
	*word(w, RESULTS + 0x84) = 0;
	for (int reject = 0; reject <= 1; reject++) {
		*word(w, RESULTS + 0x80) = 1;
		*word(w, RESULTS + 0x84) = 0;
		*word(w, RESULTS + 0x88) = 0x44;
		*word(w, RESULTS + 0xa8) = 0;
		b = stream(w, 0);
		cs_emit(&b, cs_move(2, at(w, RESULTS + 0x80)));
		cs_emit(&b, cs_move(4, 0));
		cs_emit(&b, cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, 4, 2) | reject);
		cs_emit(&b, cs_move(2, at(w, RESULTS + 0xa0)));
		cs_emit(&b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_SYSTEM, 4, 2, 0, 0) | 1);
		check_run(w, 0, &b, reject ? 1 : -EINVAL,
			  reject ? "an error can be rejected" : "an error is inherited");
		check_u64(reject ? "and is not propagated" : "and propagated",
			  *word(w, RESULTS + 0xa8), reject ? 0 : 0x4b);
	}
	b = stream(w, 0);
	cs_emit(&b, cs_move(2, at(w, RESULTS + 0xa0)));
	cs_emit(&b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_SYSTEM, 4, 2, 0, 0) | 1);
	*word(w, RESULTS + 0xa8) = 0;
	check_run(w, 0, &b, 1, "the next job has no error");
	check_u64("nor propagates one", *word(w, RESULTS + 0xa8), 0);
}

/* All four states are 64 bits wide. */
static void test_states(struct worker *w)
{
	struct cs_buf b = stream(w, 0);
	uint64_t got[5];

	memset((uint8_t *)w->mem.map + RESULTS, 0xff, sizeof(got));
	emit_results(&b, w);
	for (unsigned int state = 0; state < 4; state++)
		cs_emit(&b, cs_store_state(state, 0, 8 * state, 0, 0));
	check_run(w, 0, &b, 1, "states");
	for (unsigned int i = 0; i < 5; i++)
		got[i] = dword(w, RESULTS + 8 * i);
	check(got[0] && got[0] != ~0ull, "the timestamp is stored", "0x%" PRIx64, got[0]);
	/* panthor keeps the counter running from version 1.6 on; before, it stands at 0. */
	check(got[1] != ~0ull && !got[1] == (gpu.version->version_minor < 6),
	      "the cycle count is stored", "0x%" PRIx64, got[1]);
	check_u64("the disjoint count is 0", got[2], 0);
	check_u64("the error status is 0, all of it", got[3], 0);
	check_u64("and nothing behind it is touched", got[4], ~0ull);
}

/* Descriptors of the tiler, in a worker's memory. */
enum {
	TILER_CTX = RESULTS + 0x1000,
	TILER_HEAP = RESULTS + 0x1100,
	COMPLETED = TILER_CTX + 40,
};

static int tile(struct worker *w, uint64_t heap_ctx, uint32_t prims, uint32_t handler,
		uint32_t handler_len)
{
	struct cs_buf b = stream(w, 0);

	cs_emit(&b, cs_move(2, heap_ctx));
	cs_emit(&b, cs_heap_set(2));
	cs_emit(&b, cs_move(4, at(w, handler)));
	cs_emit(&b, cs_move32(6, handler_len));
	cs_emit(&b, cs_set_exception_handler(4, 6));
	cs_emit(&b, cs_heap_operation(CS_HEAP_VT_START, 0, 0));
	cs_emit_sb_entries(&b, SB_JOB, SB_LS);
	cs_emit(&b, cs_move32(33, prims));
	cs_emit(&b, cs_move32(34, 1));
	cs_emit(&b, cs_move(40, at(w, TILER_CTX)));
	cs_emit(&b, cs_run_tiling(0));
	cs_emit(&b, cs_finish_tiling());
	cs_emit(&b, cs_wait(1 << SB_JOB));
	cs_emit(&b, cs_heap_operation(CS_HEAP_VT_END, 0, 0));
	cs_emit(&b, cs_heap_operation(CS_HEAP_FRAG_END, 0, 0));
	return run(w, 0, &b);
}

/* Give the chunks which are done with back: FINISH_FRAGMENT, and an empty list. */
static void emit_give_back(struct cs_buf *b, struct worker *w)
{
	cs_emit(b, cs_move(44, at(w, COMPLETED)));
	cs_emit(b, cs_load(48, 44, 0xf, 0));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_finish_fragment(false, 48, 50, 0, 0));
	cs_emit(b, cs_move(48, 0));
	cs_emit(b, cs_move(50, 0));
	cs_emit(b, cs_store(48, 44, 0xf, 0));
	cs_emit(b, cs_wait(1 << SB_LS));
}

/*
 * Tiling on queue 0, which has no handler; queue 1 registers one and waits for the tiling to end, as
 * drivers do that tile and render on queues of their own. @later: it does so once memory has run out.
 */
static void tile_with_other(struct worker *w, uint64_t heap_ctx, uint32_t prims, uint32_t handler,
			    uint32_t handler_len, bool later, const char *name)
{
	const uint32_t sync = RESULTS + 0x180;
	struct cs_buf b = stream(w, 1);
	bool full;
	int got;

	memset((uint8_t *)w->mem.map + sync, 0, 16);
	cs_emit(&b, cs_move(2, heap_ctx));
	cs_emit(&b, cs_heap_set(2));
	cs_emit(&b, cs_move(4, at(w, handler)));
	cs_emit(&b, cs_move32(6, handler_len));
	cs_emit(&b, cs_set_exception_handler(4, 6));
	cs_emit(&b, cs_move(2, at(w, sync)));
	cs_emit(&b, cs_move(8, 0));
	cs_emit(&b, cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, 8, 2));
	cs_emit(&b, cs_move(4, 0));
	cs_emit(&b, cs_move32(6, 0));
	cs_emit(&b, cs_set_exception_handler(4, 6));
	if (!later)
		submit(w, 1, &b);

	b = stream(w, 0);
	cs_emit(&b, cs_move(2, heap_ctx));
	cs_emit(&b, cs_heap_set(2));
	cs_emit(&b, cs_move(4, 0));
	cs_emit(&b, cs_move32(6, 0));
	cs_emit(&b, cs_set_exception_handler(4, 6));
	cs_emit(&b, cs_heap_operation(CS_HEAP_VT_START, 0, 0));
	cs_emit_sb_entries(&b, SB_JOB, SB_LS);
	cs_emit(&b, cs_move32(33, prims));
	cs_emit(&b, cs_move32(34, 1));
	cs_emit(&b, cs_move(40, at(w, TILER_CTX)));
	cs_emit(&b, cs_run_tiling(0));
	cs_emit(&b, cs_finish_tiling());
	cs_emit(&b, cs_wait(1 << SB_JOB));
	cs_emit(&b, cs_heap_operation(CS_HEAP_VT_END, 0, 0));
	cs_emit(&b, cs_heap_operation(CS_HEAP_FRAG_END, 0, 0));
	cs_emit(&b, cs_move(2, at(w, sync)));
	cs_emit(&b, cs_move(8, 1));
	cs_emit(&b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_SYSTEM, 8, 2, 0, 0));
	submit(w, 0, &b);

	if (later) {
		int64_t give_up = now_ns(CLOCK_MONOTONIC) + WAIT_NS;

		/* Two of three chunks are full and on the list, and so is the one in use. */
		do {
			uint64_t top = dword(w, COMPLETED) & ~0xfffull;
			uint64_t bottom = dword(w, COMPLETED + 8) & ~0xfffull;
			uint64_t base = dword(w, TILER_HEAP + 8);

			full = top && bottom && top != bottom && top != base && bottom != base &&
			       dword(w, TILER_HEAP + 16) == dword(w, TILER_HEAP + 24);
		} while (!full && now_ns(CLOCK_MONOTONIC) < give_up);
		check(full, "tiling fills all memory there is", "it has not in a minute");
		b = stream(w, 1);
		b.count = 11;
		submit(w, 1, &b);
	}
	got = finish(w, 0);
	check(got == 1, name, "fence %d, want 1", got);
	got = finish(w, 1);
	check(got == 1, "and the queue of the handler goes on", "fence %d, want 1", got);
}

static void test_heap(struct worker *w)
{
	struct drm_panthor_tiler_heap_create heap = {
		.vm_id = w->vm->id,
		.initial_chunk_count = 1,
		.chunk_size = CHUNK_SIZE,
		.max_chunks = 3,
		.target_in_flight = 65535,
	};
	struct drm_panthor_tiler_heap_destroy destroy;
	struct cs_buf b, h;
	uint64_t base;

	if (drmIoctl(gpu.fd, DRM_IOCTL_PANTHOR_TILER_HEAP_CREATE, &heap))
		die("cannot create a tiler heap: %s", strerror(errno));
	base = heap.first_heap_chunk_gpu_va;
	memset((uint8_t *)w->mem.map + TILER_CTX, 0, 0x140);
	*(uint64_t *)word(w, TILER_CTX + 24) = at(w, TILER_HEAP);
	*word(w, TILER_HEAP + 4) = CHUNK_SIZE;
	*(uint64_t *)word(w, TILER_HEAP + 8) = base;
	*(uint64_t *)word(w, TILER_HEAP + 16) = base + 64;
	*(uint64_t *)word(w, TILER_HEAP + 24) = base + CHUNK_SIZE;

	check_u64("tiling that fits into its chunk", tile(w, heap.tiler_heap_ctx_gpu_va, 95, 0, 0),
		  1);
	check_u64("takes 64 bytes a primitive", dword(w, TILER_HEAP + 16), base + 96 * 64);
	check_u64("tiling for which the host has to give chunks",
		  tile(w, heap.tiler_heap_ctx_gpu_va, 3 * CHUNK_PRIMS - 95, 0, 0), 1);
	check(dword(w, TILER_HEAP + 8) != base, "goes on in another chunk",
	      "still in 0x%" PRIx64, base);
	check_u64("and uses it to its end", dword(w, TILER_HEAP + 16),
		  dword(w, TILER_HEAP + 8) + CHUNK_SIZE);
	check_u64("the first chunk is the last on the list", dword(w, COMPLETED + 8),
		  base | CHUNK_SIZE >> 12);

	/* At the limit, with a handler that frees nothing: an error of the job (what of it panthor tells depends). */
	*(uint64_t *)word(w, LIB) = cs_nop();
	tile(w, heap.tiler_heap_ctx_gpu_va, 1, LIB, 8);
	b = stream(w, 0);
	emit_give_back(&b, w);
	check_run(w, 0, &b, 1, "the group survives a heap without memory");
	check_u64("chunks given back are used again",
		  tile(w, heap.tiler_heap_ctx_gpu_va, 2 * CHUNK_PRIMS, 0, 0), 1);

	/* With a handler which gives back, and counts: 3 chunks full, 2 more, 2 more. */
	h = (struct cs_buf){
		.arch = gpu.info.gpu_id >> 28,
		.insn = (uint64_t *)word(w, LIB),
		.va = at(w, LIB),
		.room = 64,
	};
	emit_give_back(&h, w);
	cs_emit(&h, cs_move(44, at(w, RESULTS + 0x100)));
	cs_emit(&h, cs_load(48, 44, 1, 0));
	cs_emit(&h, cs_wait(1 << SB_LS));
	cs_emit(&h, cs_add32(48, 48, 1));
	cs_emit(&h, cs_store(48, 44, 1, 0));
	cs_emit(&h, cs_wait(1 << SB_LS));
	*word(w, RESULTS + 0x100) = 0;
	check_u64("tiling with an exception handler",
		  tile(w, heap.tiler_heap_ctx_gpu_va, 4 * CHUNK_PRIMS, LIB, cs_size(&h)), 1);
	check_u64("which is called each time memory runs out", *word(w, RESULTS + 0x100), 2);

	/* The handler is the heap's, whichever queue has registered it, and whenever. */
	for (int later = 0; later <= 1; later++) {
		b = stream(w, 0);
		emit_give_back(&b, w);
		check_run(w, 0, &b, 1, "giving back");
		*word(w, RESULTS + 0x100) = 0;
		tile_with_other(w, heap.tiler_heap_ctx_gpu_va, 4 * CHUNK_PRIMS, LIB, cs_size(&h),
				later, later ? "tiling without memory waits for a handler" :
					       "tiling with a handler of another queue");
		check_u64("which is called", *word(w, RESULTS + 0x100), 1);
	}

	destroy = (struct drm_panthor_tiler_heap_destroy){ .handle = heap.handle };
	if (drmIoctl(gpu.fd, DRM_IOCTL_PANTHOR_TILER_HEAP_DESTROY, &destroy))
		die("cannot destroy a tiler heap: %s", strerror(errno));
}

/* What the tiler has counted as primitives since power-on: the bench page knows it. */
static uint64_t primitives_counted(void)
{
	FILE *f = popen("mali-bench type=tiler index=0 counter=6 generated", "r");
	uint64_t value;

	if (!f || fscanf(f, "%" SCNu64, &value) != 1 || pclose(f))
		die("mali-bench does not tell the tiler's primitives");
	return value;
}

/* What a draw's indices make depends on its mode, in r56 or in the instruction. */
static void test_draw_modes(struct worker *w)
{
	static const struct {
		const char *name;
		uint32_t mode, indices, instances, want;
	} draws[] = {
		{ "points", 1, 1000, 1, 1000 },
		{ "lines", 2, 1001, 2, 1000 },
		{ "a strip of lines", 4, 1000, 1, 999 },
		{ "a loop of lines", 6, 1000, 1, 1000 },
		{ "triangles", 8, 3000, 3, 3000 },
		{ "a strip of triangles", 10, 1000, 1, 998 },
		{ "a fan of triangles", 12, 1000, 1, 998 },
		{ "a polygon", 13, 1000, 5, 5 },
		{ "quads", 14, 1003, 1, 250 },
		{ "a strip of two", 10, 2, 7, 0 },
		{ "no indices", 4, 0, 7, 0 },
	};

	for (unsigned int i = 0; i < 2 * sizeof(draws) / sizeof(draws[0]); i++) {
		bool immediate = i & 1;
		struct cs_buf b = stream(w, 0);
		uint64_t before = primitives_counted();
		char name[80];

		cs_emit(&b, cs_move(2, 0));
		cs_emit(&b, cs_heap_set(2));
		cs_emit_sb_entries(&b, SB_JOB, SB_LS);
		cs_emit(&b, cs_move32(33, draws[i / 2].indices));
		cs_emit(&b, cs_move32(34, draws[i / 2].instances));
		cs_emit(&b, cs_move(40, 0));
		cs_emit(&b, cs_move32(56, 1 << 19 | (immediate ? 0 : draws[i / 2].mode)));
		cs_emit_run_idvs(&b, immediate ? draws[i / 2].mode : 0, true);
		cs_emit(&b, cs_finish_tiling());
		cs_emit(&b, cs_wait(1 << SB_JOB));
		snprintf(name, sizeof(name), "%s, mode in %s", draws[i / 2].name,
			 immediate ? "the instruction" : "a register");
		if (run(w, 0, &b) != 1)
			die("%s: the draw fails", name);
		check_u64(name, primitives_counted() - before, draws[i / 2].want);
	}
}

/**
 * struct alu_case - an operation of arch 11 and its result
 * @name: for a message
 * @insn: the instruction, on the operands below
 * @want: what its destination holds then; of a 32-bit operation, the lower half
 */
struct alu_case {
	const char *name;
	uint64_t insn;
	uint64_t want;
};

/*
 * Operands, in registers: a and b, of which 32-bit operations see the lower half;
 * numbers to shift by; and the destination, which inserts leave something of.
 */
enum { R_A = 10, R_B = 12, R_4 = 14, R_40 = 16, R_SMALL = 18, R_DST = 20 };

#define OPERAND_A	0xfedcba9889abcdefull
#define OPERAND_B	0x0123456712345678ull
#define OPERAND_DST	0x5555555555555555ull

static const struct {
	unsigned int reg;
	uint64_t value;
} alu_operands[] = {
	{ R_A, OPERAND_A }, { R_B, OPERAND_B }, { R_4, 4 }, { R_40, 40 }, { R_SMALL, 0x7fffff05 },
	{ R_DST, OPERAND_DST },
};

static const struct alu_case *alu_cases(unsigned int *n)
{
	static struct alu_case cases[40];
	unsigned int i = 0;

#define CASE(insn, want) (cases[i++] = (struct alu_case){ #insn, insn, want })
	CASE(cs11_imm32(CS11_IMM_ADD, R_DST, R_A, -2), 0x89abcded);
	CASE(cs11_imm32(CS11_IMM_SHIFT_LEFT, R_DST, R_A, 4), 0x9abcdef0);
	CASE(cs11_imm32(CS11_IMM_SHIFT_LEFT, R_DST, R_A, 32), 0);
	CASE(cs11_imm32(CS11_IMM_SHIFT_RIGHT, R_DST, R_A, 4), 0x089abcde);
	CASE(cs11_imm32(CS11_IMM_SHIFT_RIGHT_SIGNED, R_DST, R_A, 4), 0xf89abcde);
	CASE(cs11_imm32(CS11_IMM_SHIFT_RIGHT_SIGNED, R_DST, R_A, 99), 0xffffffff);
	CASE(cs11_imm32(CS11_IMM_EXTRACT, R_DST, R_A, cs11_bits(8, 12)), 0xbcd);
	CASE(cs11_imm32(CS11_IMM_EXTRACT, R_DST, R_A, cs11_bits(24, 255)), 0x89);
	CASE(cs11_imm32(CS11_IMM_EXTRACT, R_DST, R_A, cs11_bits(200, 8)), 0);
	CASE(cs11_imm32(CS11_IMM_EXTRACT_SIGNED, R_DST, R_A, cs11_bits(8, 12)), 0xfffffbcd);
	CASE(cs11_imm32(CS11_IMM_EXTRACT_SIGNED, R_DST, R_B, cs11_bits(4, 4)), 7);
	CASE(cs11_imm32(CS11_IMM_INSERT, R_DST, R_A, cs11_bits(8, 12)), 0x555def55);
	CASE(cs11_imm32(CS11_IMM_INSERT, R_DST, R_A, cs11_bits(24, 16)), 0xef555555);
	CASE(cs11_imm32(CS11_IMM_MIN, R_DST, R_A, 0x80000000), 0x80000000);
	CASE(cs11_imm64(CS11_IMM_ADD, R_DST, R_A, -2), OPERAND_A - 2);
	CASE(cs11_imm64(CS11_IMM_SHIFT_LEFT, R_DST, R_A, 36), OPERAND_A << 36);
	CASE(cs11_imm64(CS11_IMM_SHIFT_RIGHT, R_DST, R_A, 36), OPERAND_A >> 36);
	CASE(cs11_imm64(CS11_IMM_SHIFT_RIGHT_SIGNED, R_DST, R_A, 36), 0xffffffffffedcba9);
	CASE(cs11_imm64(CS11_IMM_SHIFT_RIGHT, R_DST, R_A, 64), 0);
	CASE(cs11_imm64(CS11_IMM_EXTRACT, R_DST, R_A, cs11_bits(20, 40)), 0xedcba9889a);
	CASE(cs11_imm64(CS11_IMM_EXTRACT_SIGNED, R_DST, R_A, cs11_bits(20, 40)),
	     0xffffffedcba9889a);
	CASE(cs11_imm64(CS11_IMM_INSERT, R_DST, R_A, cs11_bits(28, 8)), 0x5555555ef5555555);
	CASE(cs11_imm64(CS11_IMM_MIN, R_DST, R_A, 0xffffffff), 0xffffffff);
	CASE(cs11_arith32(CS11_ARITH_MIN, R_DST, R_A, R_B, 0), 0x12345678);
	CASE(cs11_arith32(CS11_ARITH_ADD, R_DST, R_A, R_B, 0), 0x9be02467);
	CASE(cs11_arith32(CS11_ARITH_SUBTRACT, R_DST, R_B, R_A, 0), 0x88888889);
	CASE(cs11_arith32(CS11_ARITH_SHIFT_LEFT, R_DST, R_A, R_4, 0), 0x9abcdef0);
	CASE(cs11_arith32(CS11_ARITH_SHIFT_RIGHT, R_DST, R_A, R_40, 0), 0);
	CASE(cs11_arith32(CS11_ARITH_SHIFT_RIGHT_SIGNED, R_DST, R_A, R_40, 0), 0xffffffff);
	CASE(cs11_arith32(CS11_ARITH_INSERT, R_DST, R_A, R_B, cs11_bits(4, 8)), 0x12345ef8);
	CASE(cs11_arith64(CS11_ARITH_MIN, R_DST, R_A, R_B, 0), OPERAND_B);
	CASE(cs11_arith64(CS11_ARITH_ADD, R_DST, R_A, R_B, 0), OPERAND_A + OPERAND_B);
	CASE(cs11_arith64(CS11_ARITH_SUBTRACT, R_DST, R_B, R_A, 0), OPERAND_B - OPERAND_A);
	CASE(cs11_arith64(CS11_ARITH_SHIFT_LEFT, R_DST, R_A, R_40, 0), OPERAND_A << 40);
	CASE(cs11_arith64(CS11_ARITH_SHIFT_RIGHT, R_DST, R_A, R_40, 0), OPERAND_A >> 40);
	CASE(cs11_arith64(CS11_ARITH_SHIFT_RIGHT_SIGNED, R_DST, R_A, R_40, 0),
	     0xfffffffffffedcba);
	CASE(cs11_arith64(CS11_ARITH_INSERT, R_DST, R_A, R_B, cs11_bits(28, 40)),
	     OPERAND_A << 28 | 0x2345678);
	CASE(cs11_logic32(CS11_A_NOT_B | CS11_B_NOT_A, false, R_DST, R_A, R_B), 0x9b9f9b97);
	CASE(cs11_logic32(CS11_BOTH, true, R_DST, R_A, R_SMALL), 0x20);
#undef CASE
	*n = i;
	return cases;
}

static void test_arithmetic(struct worker *w)
{
	unsigned int n, bad = 0;
	const struct alu_case *cases = alu_cases(&n);
	struct cs_buf b = stream(w, 0);

	emit_results(&b, w);
	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int o = 0; o < sizeof(alu_operands) / sizeof(alu_operands[0]); o++) {
			cs_emit(&b, cs_move32(alu_operands[o].reg, alu_operands[o].value));
			cs_emit(&b, cs_move32(alu_operands[o].reg + 1,
					      alu_operands[o].value >> 32));
		}
		cs_emit(&b, cases[i].insn);
		cs_emit(&b, cs_store(R_DST, 0, 3, 8 * i));
		cs_emit(&b, cs_wait(1 << SB_LS));
	}
	check_run(w, 0, &b, 1, "arithmetic");
	for (unsigned int i = 0; i < n; i++) {
		/* The half that a 32-bit operation does not write stays. */
		bool wide = cases[i].insn >> 56 == CS_OP_ADD64 ||
			    cases[i].insn >> 56 == CS_OP_ARITH64;
		uint64_t want = wide ? cases[i].want :
				       cases[i].want | (OPERAND_DST & ~0xffffffffull);

		if (dword(w, RESULTS + 8 * i) == want)
			continue;
		bad++;
		printf("# %s: got 0x%" PRIx64 ", want 0x%" PRIx64 "\n", cases[i].name,
		       dword(w, RESULTS + 8 * i), want);
	}
	check(!bad && n > 30, "every operation has its result", "%u of %u have not", bad, n);

	/* All 16 tables, bit by bit: the operands have every pair of bits. */
	b = stream(w, 0);
	emit_results(&b, w);
	cs_emit(&b, cs_move32(R_A, 0xc));
	cs_emit(&b, cs_move32(R_B, 0xa));
	for (unsigned int table = 0; table < 16; table++) {
		cs_emit(&b, cs11_logic32(table, false, R_DST, R_A, R_B));
		cs_emit(&b, cs_store(R_DST, 0, 1, 4 * table));
		cs_emit(&b, cs_wait(1 << SB_LS));
	}
	check_run(w, 0, &b, 1, "logic");
	bad = 0;
	for (unsigned int table = 0; table < 16; table++) {
		/* Bits 3 to 0 of the result: both, a alone, b alone, neither. */
		uint32_t want = (table & CS11_BOTH ? 8 : 0) | (table & CS11_A_NOT_B ? 4 : 0) |
				(table & CS11_B_NOT_A ? 2 : 0) | (table & CS11_NEITHER ? ~0xeu : 0);

		if (*word(w, RESULTS + 4 * table) != want) {
			bad++;
			printf("# table %u: got 0x%x, want 0x%x\n", table,
			       *word(w, RESULTS + 4 * table), want);
		}
	}
	check(!bad, "by each truth table", "%u of 16 are wrong", bad);
}

/* A job long enough that what does not wait for it is seen not to. */
static void emit_job(struct cs_buf *b)
{
	cs_emit(b, cs_move32(42, 0));
	cs_emit(b, cs_move32(43, 2047 | 2047 << 16));
	cs_emit(b, cs_run_fragment(false, 0));
}

/* Entries 8 to 15, and which of them a stream uses. */
static void test_state(struct worker *w)
{
	struct cs_buf b = stream(w, 0);
	static const uint32_t next[] = { 9, 12, 15, 1 << 9, 12 };
	unsigned int bad = 0;

	emit_results(&b, w);
	cs_emit(&b, cs11_set_state_imm(CS11_SB_OTHER, SB_LS));
	cs_emit(&b, cs_move32(10, 0));
	*word(w, RESULTS + 0x80) = 0;
	cs_emit(&b, cs_move(8, at(w, RESULTS + 0x80)));
	cs_emit(&b, cs_move(6, 5));

	/* Round and round in the mask 9, 12, 15. */
	cs_emit(&b, cs11_set_state_imm(CS11_SB_ENDPOINT, 15));
	cs_emit(&b, cs_move32(4, 1 << 9 | 1 << 12 | 1 << 15));
	cs_emit(&b, cs11_set_state(CS11_SB_MASK, 4));
	for (unsigned int i = 0; i < 5; i++) {
		cs_emit(&b, cs11_next_sb_entry(CS11_TYPE_ENDPOINT, i == 3, 10 + i));
		if (i == 1)
			emit_job(&b);
	}
	/* 12 comes round again: it has to wait for the job that holds it. */
	cs_emit(&b, cs_store(10, 0, 0x1f, 0));

	/* With "defer indirect": the wait mask, and the deferred entry, of the state. */
	emit_job(&b);
	cs_emit(&b, cs11_set_state_imm(CS11_SB_DEFERRED, 14));
	cs_emit(&b, cs11_set_state_imm(CS11_WAIT_MASK, 1 << 12));
	cs_emit(&b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, 6, 8, 0, 0) |
			    CS11_DEFER_INDIRECT);
	cs_emit(&b, cs_load(16, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs11_set_state_imm(CS11_WAIT_MASK, 1 << 14));
	cs_emit(&b, cs11_wait_state());
	cs_emit(&b, cs_load(17, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	/* A mask of its own in the instruction, and in the state one of nothing. */
	emit_job(&b);
	cs_emit(&b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, 6, 8, 1 << 12, 13));
	cs_emit(&b, cs11_set_state_imm(CS11_WAIT_MASK, 0));
	cs_emit(&b, cs11_wait_state());
	cs_emit(&b, cs_load(18, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs11_wait(1 << 13));
	cs_emit(&b, cs_load(19, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(16, 0, 0xf, 0x20));
	cs_emit(&b, cs_wait(1 << SB_LS));
	check_run(w, 0, &b, 1, "scoreboard entries of the state");
	for (unsigned int i = 0; i < 5; i++) {
		if (*word(w, RESULTS + 4 * i) != next[i]) {
			bad++;
			printf("# NEXT_SB_ENTRY %u: got %u, want %u\n", i,
			       *word(w, RESULTS + 4 * i), next[i]);
		}
	}
	check(!bad, "NEXT_SB_ENTRY goes round in the stream's mask", "%u of 5 are wrong", bad);
	check_u64("what is deferred by the state waits for the job", *word(w, RESULTS + 0x20), 0);
	check_u64("and a wait by the state waits for it", *word(w, RESULTS + 0x24), 5);
	check_u64("a wait for nothing ends at once", *word(w, RESULTS + 0x28), 5);
	check_u64("and entries above 7 can be waited for", *word(w, RESULTS + 0x2c), 10);
}

/* Queue 1 waits, by a shared entry, for two things that queue 0 does: now, and behind a job. */
static void test_shared(struct worker *w)
{
	const unsigned int entry = 5;
	struct cs_buf b = stream(w, 0);

	*word(w, RESULTS + 0x80) = 0;
	*word(w, RESULTS + 0x10) = 1;
	emit_results(&b, w);
	cs_emit_sb_entries(&b, 11, SB_LS);
	cs_emit(&b, cs_move(8, at(w, RESULTS + 0x80)));
	cs_emit(&b, cs_move(10, 7));
	emit_job(&b);
	cs_emit(&b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_CSG, 10, 8, 1 << 11, 12));
	cs_emit(&b, cs11_set_state_imm(CS11_WAIT_MASK, 1 << 12));
	cs_emit(&b, cs11_set_state_imm(CS11_SB_DEFERRED, 14));
	cs_emit(&b, cs11_shared_sb_inc(entry, 0));
	cs_emit(&b, cs11_shared_sb_inc(entry, 0) | CS11_DEFER_INDIRECT);
	/* The queue itself has not waited, and can. */
	cs_emit(&b, cs_load(4, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(4, 0, 1, 0x10));
	cs_emit(&b, cs11_wait(1 << 14 | 1 << SB_LS));
	cs_emit(&b, cs_load(4, 8, 1, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_store(4, 0, 1, 0x14));
	cs_emit(&b, cs_wait(1 << SB_LS));
	submit(w, 0, &b);
	b = stream(w, 1);
	emit_results(&b, w);
	cs_emit(&b, cs11_shared_sb_dec(entry));
	cs_emit(&b, cs11_shared_sb_dec(entry));
	emit_copy(&b, 0x80, 0x18);
	check_run(w, 1, &b, 1, "a queue that waits for a shared entry");
	check_u64("waits until it has been counted up as often", *word(w, RESULTS + 0x18), 7);
	check_u64("the queue that counts it up ends", finish(w, 0), 1);
	check_u64("and goes on meanwhile", *word(w, RESULTS + 0x10), 0);
	check_u64("until it waits for the deferred entry", *word(w, RESULTS + 0x14), 7);
}

/* Each is fatal to its group, and says so. */
static void test_refused(struct gpu_vm *vm)
{
	const struct {
		const char *name;
		bool later;
		uint64_t insn;
	} cases[] = {
		{ "SET_SB_ENTRY", true, cs_set_sb_entry(2, 0) },
		{ "RUN_IDVS", true, cs_run_idvs(0, false) },
		{ "SET_STATE of what there is not", true, cs11_set_state_imm(7, 0) },
		{ "SET_STATE of entry 16", true, cs11_set_state_imm(CS11_SB_OTHER, 16) },
		{ "NEXT_SB_ENTRY of an empty mask", true,
		  cs11_next_sb_entry(CS11_TYPE_ENDPOINT, false, 4) },
		{ "NEXT_SB_ENTRY of type 0", true, cs11_next_sb_entry(0, false, 4) },
		{ "an immediate operation 8", true, cs11_imm32(8, 4, 4, 0) },
		{ "a register operation 7", true, cs11_arith64(7, 4, 4, 4, 0) },
		{ "a register that there is not", true, cs11_arith64(0, 4, 255, 4, 0) },
		{ "SET_STATE", false, cs11_set_state_imm(CS11_SB_OTHER, 0) },
		{ "NEXT_SB_ENTRY", false, cs11_next_sb_entry(CS11_TYPE_OTHER, false, 4) },
		{ "RUN_IDVS2", false, cs11_run_idvs2(0, false) },
		{ "LOGIC_OP32", false, cs11_logic32(1, false, 4, 4, 4) },
		{ "64-bit arithmetic", false, cs11_arith64(0, 4, 4, 4, 0) },
		{ "SHARED_SB_INC", false, cs11_shared_sb_inc(0, 1) },
		{ "SHARED_SB_DEC", false, cs11_shared_sb_dec(0) },
	};
	unsigned int n = 0, bad = 0;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct worker w;
		struct cs_buf b;
		int got;

		if (cases[i].later != (gpu.info.gpu_id >> 28 >= 11))
			continue;
		worker_init(&w, vm);
		b = stream(&w, 0);
		cs_emit(&b, cases[i].insn);
		got = run(&w, 0, &b);
		n++;
		if (got != -EINVAL) {
			bad++;
			printf("# %s: fence %d\n", cases[i].name, got);
		}
		worker_fini(&w);
	}
	check(!bad && n, "what this architecture does not have is refused",
	      "%u of %u are not", bad, n);
}

/* Of test_rotation(): entries, of which jobs on arch 11 take two in turn. */
enum { RING_A = 10, RING_B = 13, RING_LS = 12, RING_DEFERRED = 11 };
#define SHARED_ENTRY	3

/* All of a stream's state, set before the rounds, when the group has not been suspended yet. */
static void emit_state(struct cs_buf *b)
{
	if (b->arch < 11) {
		cs_emit(b, cs_set_sb_entry(SB_JOB, SB_LS));
		return;
	}
	cs_emit(b, cs11_set_state_imm(CS11_SB_OTHER, RING_LS));
	cs_emit(b, cs11_set_state_imm(CS11_SB_MASK, 1 << RING_A | 1 << RING_B));
	cs_emit(b, cs11_set_state_imm(CS11_SB_ENDPOINT, RING_B));
	cs_emit(b, cs11_set_state_imm(CS11_SB_DEFERRED, RING_DEFERRED));
	cs_emit(b, cs11_set_state_imm(CS11_WAIT_MASK, 1 << RING_A | 1 << RING_B));
	cs_emit(b, cs11_shared_sb_inc(SHARED_ENTRY, 0));
	cs_emit(b, cs11_shared_sb_inc(SHARED_ENTRY, 0));
}

/*
 * A round of arch 11: r12 adds up the entries of two jobs. Behind the first, r20
 * adds up what operations that are deferred by the state have counted at r8,
 * which they have done for all jobs before; behind the second, r22 the progress
 * that jobs have made, which all have by then, if the wait mask is what it was.
 */
static void emit_round(struct cs_buf *b)
{
	cs_emit(b, cs11_next_sb_entry(CS11_TYPE_ENDPOINT, false, 14));
	cs_emit(b, cs11_arith32(CS11_ARITH_ADD, 12, 12, 14, 0));
	cs_emit(b, cs_run_compute(1, 0));
	cs_emit(b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_CSG, 10, 8, 0, 0) | CS11_DEFER_INDIRECT);
	cs_emit(b, cs11_wait(1 << RING_DEFERRED));
	cs_emit(b, cs_load(16, 8, 1, 0));
	cs_emit(b, cs11_wait(1 << RING_LS));
	cs_emit(b, cs11_arith32(CS11_ARITH_ADD, 20, 20, 16, 0));

	cs_emit(b, cs11_next_sb_entry(CS11_TYPE_ENDPOINT, false, 14));
	cs_emit(b, cs11_arith32(CS11_ARITH_ADD, 12, 12, 14, 0));
	cs_emit(b, cs_run_compute(1, 0) | CS_WITH_PROGRESS);
	cs_emit(b, cs11_wait_state());
	cs_emit(b, cs_progress_load(16));
	cs_emit(b, cs11_arith32(CS11_ARITH_ADD, 22, 22, 16, 0));
}

/* More groups at work than slots: they are suspended and resumed in the midst of it. */
static void test_rotation(struct gpu_vm *vm)
{
	const unsigned int n = gpu.csif.csg_slot_count + 4, rounds = 300;
	struct worker *w = calloc(n, sizeof(*w));
	/*
	 * Work for many of panthor's ticks, by which groups take turns, but no more
	 * than all of them can do before panthor gives a job up.
	 */
	const unsigned int cores = __builtin_popcountll(gpu.info.shader_present);
	const unsigned int workgroups = cores * (gpu.info.gpu_id >> 28 < 11 ? 96 : 48);
	unsigned int bad = 0, lost = 0;
	int fence = 1;

	for (unsigned int i = 0; i < n; i++) {
		uint32_t loop;
		struct cs_buf b;

		worker_init(&w[i], vm);
		*(uint64_t *)word(&w[i], RESULTS + 0x80) = 0;
		b = stream(&w[i], 0);
		emit_results(&b, &w[i]);
		cs_emit(&b, cs_move(2, 0));
		cs_emit(&b, cs_move32(4, rounds));
		cs_emit(&b, cs_move32(6, 1000 * i));
		cs_emit(&b, cs_move(8, at(&w[i], RESULTS + 0x80)));
		cs_emit(&b, cs_move(10, 1));
		cs_emit(&b, cs_move32(12, 0));
		cs_emit(&b, cs_move(20, 0));
		cs_emit(&b, cs_move(22, 0));
		emit_state(&b);
		cs_emit(&b, cs_move32(33, 63));
		for (unsigned int r = 34; r < 40; r++)
			cs_emit(&b, cs_move32(r, r == 37 ? workgroups : r > 37));
		loop = b.count;
		if (b.arch < 11)
			cs_emit(&b, cs_run_compute(1, 0));
		else
			emit_round(&b);
		cs_emit(&b, cs_add64(2, 2, 3 + i));
		cs_emit(&b, cs_store(6, 0, 1, 16));
		cs_emit(&b, b.arch < 11 ? cs_wait(1 << SB_JOB | 1 << SB_LS) :
					  cs11_wait(1 << RING_LS));
		cs_emit(&b, cs_load(7, 0, 1, 16));
		cs_emit(&b, b.arch < 11 ? cs_wait(1 << SB_LS) : cs11_wait(1 << RING_LS));
		cs_emit(&b, cs_add32(6, 7, 1));
		cs_emit(&b, cs_add32(4, 4, -1));
		cs_emit(&b, cs_branch(CS_COND_GREATER, 4, (int)loop - (int)b.count - 1));
		if (b.arch >= 11) {
			cs_emit(&b, cs11_shared_sb_dec(SHARED_ENTRY));
			cs_emit(&b, cs11_shared_sb_dec(SHARED_ENTRY));
			cs_emit(&b, cs_store(20, 0, 1 << 0 | 1 << 2, 0x20));
		}
		cs_emit(&b, cs_store(2, 0, 3, 0));
		cs_emit(&b, cs_store(6, 0, 1, 8));
		cs_emit(&b, cs_store(12, 0, 1, 12));
		cs_emit(&b, b.arch < 11 ? cs_wait(1 << SB_LS) : cs11_wait(1 << RING_LS));
		submit(&w[i], 0, &b);
	}
	for (unsigned int i = 0; i < n; i++) {
		int got = finish(&w[i], 0);

		if (got != 1)
			fence = got;
		if (dword(&w[i], RESULTS) != (uint64_t)rounds * (3 + i) ||
		    *word(&w[i], RESULTS + 8) != 1000 * i + rounds)
			bad++;
		/* Sums of what emit_round() says, of 1, 2, 3... */
		if (gpu.info.gpu_id >> 28 >= 11 &&
		    (*word(&w[i], RESULTS + 12) != rounds * (RING_A + RING_B) ||
		     *word(&w[i], RESULTS + 0x20) != rounds * (rounds + 1) / 2 ||
		     *word(&w[i], RESULTS + 0x28) != rounds * (rounds + 1) / 2)) {
			printf("# group %u: entries %u, deferred %u, progress %u\n", i,
			       *word(&w[i], RESULTS + 12), *word(&w[i], RESULTS + 0x20),
			       *word(&w[i], RESULTS + 0x28));
			lost++;
		}
	}
	if (gpu.info.gpu_id >> 28 >= 11)
		check(!lost, "the state of streams survives suspension", "in %u of %u it does not",
		      lost, n);
	check(fence == 1, "more groups at work than there are slots", "a fence %d", fence);
	check(!bad, "and every one of them comes to its result", "%u of %u do not", bad, n);
	for (unsigned int i = 0; i < n; i++)
		worker_fini(&w[i]);
	free(w);
}

int main(void)
{
	struct gpu_vm vm;
	struct worker w, other;

	gpu_open(&gpu, NULL);
	gpu_vm_create(&vm, &gpu);
	/* Ring and stream are the first two of eight frames. */
	test_calls(&vm, 6, 1);
	test_calls(&vm, 7, -EINVAL);
	worker_init(&w, &vm);
	worker_init(&other, &vm);
	test_scoreboard(&w);
	test_progress(&w);
	test_sync(&w, &other);
	test_states(&w);
	test_heap(&w);
	test_draw_modes(&w);
	if (gpu.info.gpu_id >> 28 >= 11) {
		test_arithmetic(&w);
		test_state(&w);
		test_shared(&w);
	}
	worker_fini(&w);
	worker_fini(&other);
	test_refused(&vm);
	test_rotation(&vm);
	gpu_vm_destroy(&vm);
	return failures ? 1 : 0;
}
