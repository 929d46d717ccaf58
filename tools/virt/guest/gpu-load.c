// SPDX-License-Identifier: MIT
/*
 * gpu-load - gives a Mali CSF GPU work through panthor, and checks it
 *
 * Every job is a command stream of its own: it computes values that no other
 * job has, goes through loops, calls and jumps, synchronisation objects, cache
 * flushes and timestamps, does a piece of rendering or compute work, and leaves
 * all results in memory, where the CPU compares them with its own.
 *
 * RUN_* instructions need shaders and descriptors that this program does not
 * have. On the virtual Mali, which executes no shader, their registers are only
 * a size; on a real GPU they would fault. So they are issued only where the
 * virtual Mali's bench page is in the device tree, or on --work=full.
 *
 * The exception is --kind=clear: a fragment job that clears its only render
 * target needs a frame buffer descriptor, but neither shaders nor a tiler's
 * output. Shader cores have work in it on a real GPU, too.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <dirent.h>
#include <inttypes.h>

#include "client.h"
#include "cs.h"

/*
 * The counter that the CPU and the GPU's timestamps share. Read in order with
 * what goes before and after; 0 where this program has no way to it.
 */
static uint64_t system_counter(void)
{
#ifdef __aarch64__
	uint64_t value;

	asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(value) : : "memory");
	return value;
#else
	return 0;
#endif
}

static uint64_t system_counter_hz(void)
{
#ifdef __aarch64__
	uint64_t value;

	asm volatile("mrs %0, cntfrq_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

/* "compatible" of the bench page's node */
#define BENCH_COMPATIBLE "panthor-perf,mali-bench"

#define SLOT_SIZE	512
#define STREAM_SIZE	4096
#define LIB_PART_SIZE	2048
#define MAX_DEPTH	16
#define MAX_GROUPS	32
#define NO_SLOT		0xcc

/* Registers. RUN_* use up to 61; the kernel keeps the last four of 96. */
enum {
	R_RUN_LEN = 33,		/* compute: workgroup size; tiling, idvs: count */
	R_RUN_INSTANCES = 34,	/* idvs */
	R_RUN_X = 37,		/* compute: workgroups */
	R_RUN_TILER_CTX = 40,	/* idvs: tiler context; fragment: frame buffer descriptor */
	R_RUN_BBOX_MIN = 42,
	R_RUN_BBOX_MAX = 43,
	R_CHUNK_FIRST = 48,
	R_CHUNK_LAST = 50,
	R_SLOT = 64,
	R_TMP64 = 66,
	R_TMP = 68,
	R_TMP_HI = 69,
	R_SUM64 = 70,
	R_LOOP = 72,
	R_SUM32 = 73,
	R_CONDS = 74,
	R_COND_VAL = 75,
	R_MIN_A = 76,
	R_MIN_B = 77,
	R_ADDR = 78,
};

/* Scoreboard slots. 0 is where loads and stores go by default, and the kernel's own flush. */
enum {
	SB_LS = 0,
	SB_FLUSH = 1,
	SB_ENDPOINT = 2,
};

/* A slot of results. Offsets, because the GPU writes it. */
enum {
	SLOT_REGS = 0x000,	/* R_SUM64 .. R_MIN_B */
	SLOT_COPY = 0x040,	/* 16 words from SLOT_INPUT, two of them changed */
	SLOT_SYNC32 = 0x080,
	SLOT_SYNC64 = 0x090,
	SLOT_TIME0 = 0x0a0,
	SLOT_CYCLE0 = 0x0a8,
	SLOT_TIME1 = 0x0b0,
	SLOT_CYCLE1 = 0x0b8,
	SLOT_NEGATIVE = 0x0f0,	/* stored through a negative offset */
	SLOT_TAIL = 0x0f4,
	SLOT_POISON = 0x0f8,	/* only the code behind the jump writes here */
	SLOT_INPUT = 0x100,
	SLOT_CANARY = 0x140,
};

enum kind {
	KIND_MIX,
	KIND_NONE,
	KIND_COMPUTE,
	KIND_TILING,
	KIND_IDVS,
	KIND_FRAGMENT,
	KIND_CLEAR,
	KIND_COUNT,
};

static const char * const kind_names[KIND_COUNT] = {
	[KIND_MIX] = "mix",
	[KIND_NONE] = "none",
	[KIND_COMPUTE] = "compute",
	[KIND_TILING] = "tiling",
	[KIND_IDVS] = "idvs",
	[KIND_FRAGMENT] = "fragment",
	[KIND_CLEAR] = "clear",
};

/*
 * What a profiler has to tell apart, each by name. Jobs take tens of
 * milliseconds, so that what goes on between them is little beside.
 */
static const struct phase {
	const char *name;
	enum kind kind;
	uint32_t size;
	uint32_t targets;
	uint32_t cores;		/* 0: all */
	int64_t period_ns;	/* 0: no idleness */
	unsigned int duty;
} phases[] = {
	{ "compute", KIND_COMPUTE, 65536, 1, 0, 0, 100 },
	{ "fragment", KIND_FRAGMENT, 4096, 1, 0, 0, 100 },
	{ "tiling", KIND_TILING, 1048576, 1, 0, 0, 100 },
	{ "memory", KIND_FRAGMENT, 2048, 8, 0, 0, 100 },
	/* Work for one core: the others are not fed. */
	{ "frontend", KIND_COMPUTE, 16384, 1, 1, 0, 100 },
	{ "idle", KIND_MIX, 1024, 1, 0, 20000000, 1 },
};

#define N_PHASES (sizeof(phases) / sizeof(phases[0]))

enum work {
	WORK_AUTO,
	WORK_SAFE,
	WORK_FULL,
};

/**
 * struct options - the command line
 * @device: render node, or NULL for the first panthor
 * @info: print the GPU's identity only
 * @machine: print for programs
 * @work: whether RUN_* instructions may be used
 * @kind: what the jobs do
 * @jobs: how many, all queues together; 0 without end
 * @size: size of one job: workgroups, vertices, or pixels along an edge
 * @targets: render targets of a fragment job
 * @cores: shader cores that a group may use; 0: all
 * @groups: groups
 * @queues: queues in each
 * @depth: jobs in flight in each queue
 * @period_ns: length of a period of load and idleness; 0 for no idleness
 * @duty: percentage of a period that is load
 * @duration_ns: end after this; 0 when all jobs are done
 * @timeout_ns: how long to wait for one job
 * @started: file to create when each queue has done a job, or NULL
 */
static struct options {
	const char *device;
	const char *started;
	bool info;
	bool machine;
	enum work work;
	enum kind kind;
	uint64_t jobs;
	uint32_t size;
	uint32_t targets;
	uint32_t cores;
	uint32_t groups;
	uint32_t queues;
	uint32_t depth;
	int64_t period_ns;
	unsigned int duty;
	int64_t duration_ns;
	int64_t timeout_ns;
} opt = {
	.work = WORK_AUTO,
	.kind = KIND_MIX,
	.jobs = 64,
	.size = 256,
	.targets = 1,
	.groups = 2,
	.queues = 2,
	.depth = 4,
	.duty = 100,
	.timeout_ns = 60 * NSEC_PER_SEC,
};

/**
 * struct job - what the CPU must know to check one job
 * @seq: number of the job in its queue, from 0
 * @seed: what makes its values differ from all others'
 * @kind: the work in it
 * @slot: its slot of results
 */
struct job {
	uint64_t seq;
	uint64_t seed;
	enum kind kind;
	uint8_t *slot;
};

/**
 * struct queue - one queue of a group
 * @group: handle of its group
 * @index: its index in the group
 * @number: its index among all queues
 * @prev: the queue whose jobs this one's wait for, or NULL
 * @syncobj: timeline; point n is signalled when n jobs are done
 * @streams: command streams, a STREAM_SIZE for each job in flight
 * @results: slots, a SLOT_SIZE for each job in flight
 * @heap: tiler heap context, 0 without RUN_*
 * @heap_handle: its handle
 * @jobs: jobs in flight
 * @submitted: jobs submitted
 * @retired: jobs checked
 * @last_time: the last timestamp seen
 */
struct queue {
	uint32_t group;
	uint32_t index;
	uint32_t number;
	struct queue *prev;
	uint32_t syncobj;
	struct gpu_bo streams;
	struct gpu_bo results;
	uint64_t heap;
	uint32_t heap_handle;
	struct job jobs[MAX_DEPTH];
	uint64_t submitted;
	uint64_t retired;
	uint64_t last_time;
};

static struct gpu gpu;
static struct gpu_vm vm;
static struct gpu_bo lib;	/* subroutines that all jobs call */
static struct gpu_bo chain;	/* a 64-bit sync object a queue: jobs done, counted by the GPU */
static struct gpu_bo frame;	/* stands for descriptors, or has those of KIND_CLEAR */
static struct gpu_bo target;	/* what KIND_CLEAR clears */
static uint32_t lib_size;
static struct queue *queues;
static unsigned int queue_count;
static uint32_t groups[MAX_GROUPS];

static uint64_t n_checks, n_errors, n_kind[KIND_COUNT], gpu_cycles, gpu_ticks;
static uint64_t first_time = UINT64_MAX, last_time;

/* Arguments. */

enum {
	OPT_WORK = 256,
	OPT_TIMEOUT,
	OPT_DUTY,
	OPT_DEPTH,
	OPT_STARTED,
	OPT_PHASE,
	OPT_TARGETS,
	OPT_CORES,
};

static const struct argp_option arg_options[] = {
	{ "info", 'i', NULL, 0, "Print the GPU's identity and exit", 0 },
	{ "machine", 'm', NULL, 0, "Print name=value lines, for programs", 0 },
	{ "device", 'D', "NODE", 0, "Render node (default: the first of panthor's)", 0 },
	{ "jobs", 'j', "N", 0, "Jobs in all (default 64; 0: until --duration)", 1 },
	{ "kind", 'k', "KIND", 0,
	  "none, compute, tiling, idvs, fragment, clear or mix (default), which alternates", 1 },
	{ "size", 's', "N", 0,
	  "Size of a job: workgroups, vertices, or pixels along an edge (default 256)", 1 },
	{ "phase", OPT_PHASE, "PHASE", 0,
	  "16 jobs of one kind, long and in one queue, that show as one thing: compute, fragment, tiling, memory (external), frontend (cores are not fed), idle; options behind it change what it sets",
	  1 },
	{ "targets", OPT_TARGETS, "N", 0, "Render targets of a fragment job (default 1)", 1 },
	{ "cores", OPT_CORES, "N", 0, "Shader cores that a group may use (default: all)", 1 },
	{ "groups", 'g', "N", 0, "Groups (default 2)", 1 },
	{ "queues", 'q', "N", 0, "Queues in each group (default 2)", 1 },
	{ "depth", OPT_DEPTH, "N", 0, "Jobs in flight in each queue (default 4)", 1 },
	{ "period", 'p', "MS", 0, "Alternate load and idleness with this period", 2 },
	{ "duty", OPT_DUTY, "PERCENT", 0, "Share of a period that is load (default 50)", 2 },
	{ "duration", 't', "SECONDS", 0, "Go on for so long, whatever the number of jobs", 2 },
	{ "timeout", OPT_TIMEOUT, "SECONDS", 0, "Give a job up after this (default 60)", 2 },
	{ "started", OPT_STARTED, "FILE", 0, "Create FILE once every queue has done a job", 2 },
	{ "work", OPT_WORK, "auto|safe|full", 0,
	  "full: RUN_* instructions, which need the virtual Mali; safe: none, for real GPUs; auto: full if the device tree has the virtual Mali",
	  3 },
	{ 0 },
};

static double parse_number(struct argp_state *state, const char *name, const char *arg, double min,
			   double max)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(arg, &end);
	if (errno || end == arg || *end || !(value >= min && value <= max))
		argp_error(state, "--%s: '%s' is not a number from %g to %g", name, arg, min, max);
	return value;
}

static uint32_t parse_count(struct argp_state *state, const char *name, const char *arg,
			    uint32_t min, uint32_t max)
{
	char *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || strchr(arg, '-') || value < min || value > max)
		argp_error(state, "--%s: '%s' is not an integer from %" PRIu32 " to %" PRIu32, name,
			   arg, min, max);
	return value;
}

static void set_phase(struct argp_state *state, const char *name)
{
	const struct phase *p = phases;

	while (p < phases + N_PHASES && strcmp(name, p->name))
		p++;
	if (p == phases + N_PHASES)
		argp_error(state,
			   "--phase: '%s' is none of compute, fragment, tiling, memory, frontend, idle",
			   name);
	opt.kind = p->kind;
	opt.size = p->size;
	opt.targets = p->targets;
	opt.cores = p->cores;
	opt.period_ns = p->period_ns;
	opt.duty = p->duty;
	opt.jobs = 16;
	opt.groups = 1;
	opt.queues = 1;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static bool jobs_given, duty_given;

	switch (key) {
	case 'i':
		opt.info = true;
		break;
	case 'm':
		opt.machine = true;
		break;
	case 'D':
		opt.device = arg;
		break;
	case 'j':
		opt.jobs = parse_count(state, "jobs", arg, 0, UINT32_MAX);
		jobs_given = true;
		break;
	case 'k':
		for (opt.kind = 0; opt.kind < KIND_COUNT; opt.kind++)
			if (!strcmp(arg, kind_names[opt.kind]))
				break;
		if (opt.kind == KIND_COUNT)
			argp_error(state,
				   "--kind: '%s' is none of none, compute, tiling, idvs, fragment, clear, mix",
				   arg);
		break;
	case 's':
		opt.size = parse_count(state, "size", arg, 1, 1 << 24);
		break;
	case OPT_PHASE:
		set_phase(state, arg);
		duty_given = opt.period_ns;
		break;
	case OPT_TARGETS:
		opt.targets = parse_count(state, "targets", arg, 1, 8);
		break;
	case OPT_CORES:
		opt.cores = parse_count(state, "cores", arg, 1, 64);
		break;
	case 'g':
		opt.groups = parse_count(state, "groups", arg, 1, MAX_GROUPS);
		break;
	case 'q':
		opt.queues = parse_count(state, "queues", arg, 1, 32);
		break;
	case OPT_DEPTH:
		opt.depth = parse_count(state, "depth", arg, 1, MAX_DEPTH);
		break;
	case 'p':
		opt.period_ns = parse_number(state, "period", arg, 0.001, 1e6) * 1e6;
		break;
	case OPT_DUTY:
		opt.duty = parse_count(state, "duty", arg, 1, 100);
		duty_given = true;
		break;
	case 't':
		opt.duration_ns = parse_number(state, "duration", arg, 0.001, 1e6) * 1e9;
		break;
	case OPT_TIMEOUT:
		opt.timeout_ns = parse_number(state, "timeout", arg, 0.001, 1e6) * 1e9;
		break;
	case OPT_STARTED:
		opt.started = arg;
		break;
	case OPT_WORK:
		if (!strcmp(arg, "auto"))
			opt.work = WORK_AUTO;
		else if (!strcmp(arg, "safe"))
			opt.work = WORK_SAFE;
		else if (!strcmp(arg, "full"))
			opt.work = WORK_FULL;
		else
			argp_error(state, "--work: '%s' is none of auto, safe, full", arg);
		break;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is not an option", arg);
		break;
	case ARGP_KEY_END:
		if (duty_given && !opt.period_ns)
			argp_error(state, "--duty needs --period");
		if (opt.period_ns && !duty_given)
			opt.duty = 50;
		if (opt.duration_ns && !jobs_given)
			opt.jobs = 0;
		if (!opt.jobs && !opt.duration_ns)
			argp_error(state, "--jobs=0 needs --duration");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp argp = {
	.options = arg_options,
	.parser = parse_option,
	.doc = "Gives a Mali CSF GPU work through panthor and checks the results. "
	       "The exit status is 0 only if every result was right.",
};

/* Identity. */

static const char *gpu_name(uint32_t gpu_id)
{
	static const struct {
		uint32_t arch_major, product;
		const char *name;
	} names[] = {
		{ 10, 2, "Mali-G710" }, { 10, 3, "Mali-G510" },	   { 10, 4, "Mali-G310" },
		{ 10, 7, "Mali-G610" }, { 11, 2, "Mali-G715" },	   { 11, 3, "Mali-G615" },
		{ 12, 0, "Mali-G720" }, { 12, 1, "Mali-G620" },	   { 13, 0, "Mali-G725" },
		{ 13, 1, "Mali-G625" }, { 14, 0, "Mali G1-Ultra" }, { 14, 1, "Mali G1-Premium" },
		{ 14, 3, "Mali G1-Pro" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (gpu_id >> 28 == names[i].arch_major &&
		    ((gpu_id >> 16) & 0xf) == names[i].product)
			return names[i].name;
	return "unknown Mali";
}

static void print_info(void)
{
	const struct drm_panthor_gpu_info *i = &gpu.info;
	const struct drm_panthor_csif_info *c = &gpu.csif;
	const struct {
		const char *name, *text;
		uint64_t value;
		bool hex;
	} rows[] = {
		{ "gpu_id", "GPU id", i->gpu_id, true },
		{ "gpu_rev", "revision id", i->gpu_rev, true },
		{ "csf_id", "CSF id", i->csf_id, true },
		{ "shader_present", "shader cores present", i->shader_present, true },
		{ "shader_count", "shader cores", __builtin_popcountll(i->shader_present), false },
		{ "l2_present", "L2 present", i->l2_present, true },
		{ "l2_slices", "L2 slices", ((i->mem_features >> 8) & 0xf) + 1, false },
		{ "tiler_present", "tilers present", i->tiler_present, true },
		{ "as_present", "address spaces present", i->as_present, true },
		{ "l2_features", "L2 features", i->l2_features, true },
		{ "tiler_features", "tiler features", i->tiler_features, true },
		{ "mem_features", "memory features", i->mem_features, true },
		{ "mmu_features", "MMU features", i->mmu_features, true },
		{ "thread_features", "thread features", i->thread_features, true },
		{ "max_threads", "threads at most", i->max_threads, false },
		{ "core_features", "core features", i->core_features, true },
		{ "coherency_features", "coherency features", i->coherency_features, true },
		{ "csg_slots", "group slots", c->csg_slot_count, false },
		{ "cs_slots", "queue slots a group", c->cs_slot_count, false },
		{ "cs_registers", "registers a queue", c->cs_reg_count, false },
		{ "cs_registers_kernel", "  of which the kernel's", c->unpreserved_cs_reg_count,
		  false },
		{ "scoreboards", "scoreboard slots", c->scoreboard_slot_count, false },
	};

	if (opt.machine)
		printf("name=%s\ndriver=%d.%d.%d\narch=%u.%u.%u\n", gpu_name(i->gpu_id),
		       gpu.version->version_major, gpu.version->version_minor,
		       gpu.version->version_patchlevel, i->gpu_id >> 28, (i->gpu_id >> 24) & 0xf,
		       (i->gpu_id >> 20) & 0xf);
	else
		printf("%s, arch %u.%u.%u, r%up%u, driver panthor %d.%d\n", gpu_name(i->gpu_id),
		       i->gpu_id >> 28, (i->gpu_id >> 24) & 0xf, (i->gpu_id >> 20) & 0xf,
		       (i->gpu_id >> 12) & 0xf, (i->gpu_id >> 4) & 0xff,
		       gpu.version->version_major, gpu.version->version_minor);

	/* Older drivers have padding here, which would read as a protocol. */
	if (gpu.version->version_minor >= 7)
		printf(opt.machine ? "selected_coherency=%u\n" : "  selected coherency       %u\n",
		       i->selected_coherency);

	for (size_t n = 0; n < sizeof(rows) / sizeof(rows[0]); n++) {
		if (opt.machine)
			printf(rows[n].hex ? "%s=0x%" PRIx64 "\n" : "%s=%" PRIu64 "\n",
			       rows[n].name, rows[n].value);
		else
			printf(rows[n].hex ? "  %-24s 0x%" PRIx64 "\n" : "  %-24s %" PRIu64 "\n",
			       rows[n].text, rows[n].value);
	}
}

static bool file_has_string(const char *path, const char *string)
{
	char buf[256] = "";
	FILE *f = fopen(path, "re");
	size_t len;
	bool found = false;

	if (!f)
		return false;
	len = fread(buf, 1, sizeof(buf) - 1, f);
	fclose(f);
	for (size_t i = 0; i < len; i += strlen(buf + i) + 1)
		found |= !strcmp(buf + i, string);
	return found;
}

/* The bench page is a node of its own, next to the GPU's, on the platform bus. */
static bool is_virtual(void)
{
	DIR *bus = opendir("/sys/bus/platform/devices");
	bool found = false;
	struct dirent *entry;

	if (!bus)
		return false;

	while (!found && (entry = readdir(bus))) {
		char path[512];

		snprintf(path, sizeof(path), "/sys/bus/platform/devices/%s/of_node/compatible",
			 entry->d_name);
		found = file_has_string(path, BENCH_COMPATIBLE);
	}
	closedir(bus);
	return found;
}

/* Streams. */

/* 64 well mixed bits of @x (splitmix64's finaliser), so that neighbours have nothing in common. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static const int32_t cond_values[] = { -1, 0, 1 };
static const int32_t call_add[] = { 0x1000, 0x100000, -0x37 };

#define N_COND_VALUES (sizeof(cond_values) / sizeof(cond_values[0]))
#define N_CALLS (sizeof(call_add) / sizeof(call_add[0]))

/*
 * Subroutines, each calling the next: the first sets a bit of R_CONDS for every
 * condition and value that does *not* branch; each adds its number to R_SUM64
 * after the call, so that a return to a wrong place shows.
 */
static void build_lib(void)
{
	gpu_bo_create(&lib, &vm, N_CALLS * LIB_PART_SIZE, DRM_PANTHOR_VM_BIND_OP_MAP_READONLY);

	for (unsigned int level = N_CALLS; level-- > 0;) {
		struct cs_buf b = {
			.arch = gpu.info.gpu_id >> 28,
			.insn = (uint64_t *)lib.map + level * LIB_PART_SIZE / 8,
			.va = lib.va + level * LIB_PART_SIZE,
			.room = LIB_PART_SIZE / 8,
		};

		if (level == 0) {
			unsigned int bit = 0;

			for (int cond = CS_COND_LEQUAL; cond <= CS_COND_ALWAYS; cond++) {
				for (unsigned int v = 0; v < N_COND_VALUES; v++, bit++) {
					cs_emit(&b, cs_move32(R_COND_VAL, cond_values[v]));
					cs_emit(&b, cs_branch(cond, R_COND_VAL, 1));
					cs_emit(&b, cs_add32(R_CONDS, R_CONDS, 1 << bit));
				}
			}
		}
		if (level + 1 < N_CALLS) {
			cs_emit(&b, cs_move(R_TMP64, b.va + LIB_PART_SIZE));
			cs_emit(&b, cs_move32(R_TMP, lib_size));
			cs_emit(&b, cs_call(R_TMP64, R_TMP));
		}
		cs_emit(&b, cs_add64(R_SUM64, R_SUM64, call_add[level]));
		if (cs_overflowed(&b))
			die("subroutine %u does not fit", level);
		lib_size = cs_size(&b);
	}
}

#define MAX_EDGE	8192
#define CLEAR_BYTES	4	/* R8G8B8A8 */
#define CLEAR_COLOR	0x5a17c3e9

/*
 * The descriptors of KIND_CLEAR, as architectures 10 to 13 have them: parameters
 * of the frame, its only render target 128 bytes behind, and positions of samples.
 * The names of fields are Mesa's, whose genxml describes them. Nothing is drawn:
 * there is no tiler context, and all tiles are written with the clear colour.
 */
static void make_clear(void)
{
	const uint32_t edge = opt.size, samples = 1024;
	uint32_t *fb = frame.map, *rt = fb + 32;
	uint16_t *position = (uint16_t *)((char *)frame.map + samples);
	uint64_t size = (uint64_t)edge * edge * CLEAR_BYTES;

	gpu_bo_create(&target, &vm, size, DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC);
	/* Samples are in the middle of their pixels. */
	for (unsigned int i = 0; i < 256; i++)
		position[i] = 128;
	fb[4] = frame.va + samples;			/* sample locations */
	fb[5] = (frame.va + samples) >> 32;
	fb[8] = (edge - 1) | (edge - 1) << 16;		/* width, height */
	fb[10] = fb[8];					/* bound max x, y */
	fb[11] = 2 << 6 | 8 << 9 | 1 << 24;		/* tie-break rule, 256 pixels a tile, a KiB for colours */
	rt[0] = 1 << 26;				/* internal format R8G8B8A8 */
	/* write enable, writeback format R8G8B8A8, linear, swizzle RGBA, clean pixel write enable */
	rt[1] = 1 | 19 << 3 | 2 << 8 | 0x688 << 16 | 1u << 31;
	rt[8] = target.va;
	rt[9] = target.va >> 32;
	rt[10] = edge * CLEAR_BYTES;			/* row stride */
	for (unsigned int i = 12; i < 16; i++)
		rt[i] = CLEAR_COLOR;
}

static uint32_t expected_conds(void)
{
	unsigned int bit = 0;
	uint32_t bits = 0;

	for (int cond = CS_COND_LEQUAL; cond <= CS_COND_ALWAYS; cond++) {
		for (unsigned int i = 0; i < N_COND_VALUES; i++, bit++) {
			int32_t v = cond_values[i];
			bool taken = (cond == CS_COND_LEQUAL && v <= 0) ||
				     (cond == CS_COND_GREATER && v > 0) ||
				     (cond == CS_COND_EQUAL && v == 0) ||
				     (cond == CS_COND_NEQUAL && v != 0) ||
				     (cond == CS_COND_LESS && v < 0) ||
				     (cond == CS_COND_GEQUAL && v >= 0) || cond == CS_COND_ALWAYS;

			if (!taken)
				bits |= 1u << bit;
		}
	}
	return bits;
}

/* What the values of a job are made of. */
static uint64_t seed_start(const struct job *j) { return j->seed & 0xffffffffffff; }
static int32_t seed_add(const struct job *j) { return mix(j->seed ^ 1); }
static uint32_t seed_loops(const struct job *j) { return 1 + (j->seed >> 48) % 32; }
static int32_t seed_step(const struct job *j) { return mix(j->seed ^ 2); }
static uint32_t seed_min_a(const struct job *j) { return mix(j->seed ^ 3); }
static uint32_t seed_min_b(const struct job *j) { return mix(j->seed ^ 4); }
static uint32_t seed_input(const struct job *j, unsigned int i) { return mix(j->seed ^ (16 + i)); }
static uint32_t seed_tail(const struct job *j) { return mix(j->seed ^ 5) | 1; }
static uint32_t seed_sync32(const struct job *j) { return mix(j->seed ^ 6); }
static uint64_t seed_sync64(const struct job *j) { return mix(j->seed ^ 7) & 0xffffffffffff; }

/* Adding this much must carry into the upper half of a 64-bit object now and then. */
static uint32_t seed_sync_add(const struct job *j) { return mix(j->seed ^ 8); }

static void emit_run(struct cs_buf *b, const struct queue *q, const struct job *j)
{
	uint32_t size = opt.size;
	bool heap = j->kind == KIND_TILING || j->kind == KIND_IDVS;

	if (heap) {
		cs_emit(b, cs_move(R_TMP64, q->heap));
		cs_emit(b, cs_heap_set(R_TMP64));
		cs_emit(b, cs_heap_operation(CS_HEAP_VT_START, 0, SB_LS));
		cs_emit(b, cs_wait(1 << SB_LS));
	}

	switch (j->kind) {
	case KIND_COMPUTE:
		/* 64 threads a workgroup, sizes less one in 10 bits each. */
		cs_emit(b, cs_req_resource(CS_RES_COMPUTE));
		cs_emit(b, cs_move32(R_RUN_LEN, 63));
		for (unsigned int i = 34; i < R_RUN_X; i++)
			cs_emit(b, cs_move32(i, 0));
		cs_emit(b, cs_move32(R_RUN_X, size));
		cs_emit(b, cs_move32(R_RUN_X + 1, 1));
		cs_emit(b, cs_move32(R_RUN_X + 2, 1));
		cs_emit(b, cs_run_compute(1, 0));
		break;
	case KIND_TILING:
		cs_emit(b, cs_req_resource(CS_RES_TILER));
		cs_emit(b, cs_move32(R_RUN_LEN, size));
		cs_emit(b, cs_move32(R_RUN_INSTANCES, 1));
		cs_emit(b, cs_run_tiling(0));
		break;
	case KIND_IDVS:
		cs_emit(b, cs_req_resource(CS_RES_TILER | CS_RES_IDVS));
		cs_emit(b, cs_move32(R_RUN_LEN, size));
		cs_emit(b, cs_move32(R_RUN_INSTANCES, 1));
		cs_emit(b, cs_move(R_RUN_TILER_CTX, frame.va));
		cs_emit_run_idvs(b, 0, true);
		break;
	case KIND_FRAGMENT:
	case KIND_CLEAR:
		if (size > 0x10000)
			size = 0x10000;
		cs_emit(b, cs_req_resource(CS_RES_FRAGMENT));
		/* The pointer's low bits: 1, and from bit 2 on how many render targets there are, less one. */
		cs_emit(b, cs_move(R_RUN_TILER_CTX, frame.va | (opt.targets - 1) << 2 | 1));
		cs_emit(b, cs_move32(R_RUN_BBOX_MIN, 0));
		cs_emit(b, cs_move32(R_RUN_BBOX_MAX, (size - 1) | (size - 1) << 16));
		cs_emit(b, cs_run_fragment(false, 0));
		break;
	default:
		return;
	}

	if (heap)
		cs_emit(b, cs_finish_tiling());
	cs_emit(b, cs_wait(1 << SB_ENDPOINT));

	if (heap) {
		cs_emit(b, cs_heap_operation(CS_HEAP_VT_END, 0, SB_LS));
		/* No pass is left open: firmware holds the tiler up when too many are. */
		cs_emit(b, cs_heap_operation(CS_HEAP_FRAG_END, 0, SB_LS));
	}
	if (j->kind == KIND_FRAGMENT || j->kind == KIND_CLEAR) {
		cs_emit(b, cs_move(R_CHUNK_FIRST, 0));
		cs_emit(b, cs_move(R_CHUNK_LAST, 0));
		cs_emit(b, cs_finish_fragment(false, R_CHUNK_FIRST, R_CHUNK_LAST, 0, SB_LS));
	}
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_req_resource(0));
}

static void emit_sync_ops(struct cs_buf *b, const struct job *j, uint64_t slot_va)
{
	cs_emit(b, cs_move(R_TMP64, slot_va + SLOT_SYNC32));
	cs_emit(b, cs_move32(R_TMP, seed_sync32(j)));
	cs_emit(b, cs_sync(CS_OP_SYNC_SET32, CS_SCOPE_SYSTEM, R_TMP, R_TMP64, 0, SB_LS));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_move32(R_TMP, seed_sync_add(j)));
	cs_emit(b, cs_sync(CS_OP_SYNC_ADD32, CS_SCOPE_CSG, R_TMP, R_TMP64, 1 << SB_LS, SB_LS));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_move32(R_TMP, seed_sync32(j) + seed_sync_add(j)));
	cs_emit(b, cs_sync_wait(CS_OP_SYNC_WAIT32, CS_COND_LEQUAL, R_TMP, R_TMP64));

	cs_emit(b, cs_move(R_TMP64, slot_va + SLOT_SYNC64));
	cs_emit(b, cs_move(R_ADDR, seed_sync64(j)));
	cs_emit(b, cs_sync(CS_OP_SYNC_SET64, CS_SCOPE_CSG, R_ADDR, R_TMP64, 0, SB_LS));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_move(R_ADDR, seed_sync_add(j)));
	cs_emit(b, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, R_ADDR, R_TMP64, 1 << SB_LS, SB_LS));
	cs_emit(b, cs_wait(1 << SB_LS));
	cs_emit(b, cs_move(R_ADDR, seed_sync64(j) + seed_sync_add(j)));
	cs_emit(b, cs_add64(R_ADDR, R_ADDR, -1));
	cs_emit(b, cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, R_ADDR, R_TMP64));
}

static void emit_flush(struct cs_buf *b)
{
	cs_emit(b, cs_move32(R_TMP, 0));
	cs_emit(b, cs_flush_cache2(CS_FLUSH_CLEAN, CS_FLUSH_CLEAN_INVALIDATE, true, R_TMP,
				   1 << SB_LS, SB_FLUSH));
	cs_emit(b, cs_wait(1 << SB_FLUSH));
}

/* The stream of @j at @index of its queue's memory. Returns the size of the part to submit. */
static uint32_t build_stream(struct queue *q, const struct job *j, unsigned int index)
{
	uint64_t slot_va = q->results.va + index * SLOT_SIZE;
	struct cs_buf b = {
		.arch = gpu.info.gpu_id >> 28,
		.insn = (uint64_t *)q->streams.map + index * STREAM_SIZE / 8,
		.va = q->streams.va + index * STREAM_SIZE,
		.room = STREAM_SIZE / 2 / 8,
	};
	struct cs_buf tail = {
		.arch = b.arch,
		.insn = b.insn + b.room,
		.va = b.va + STREAM_SIZE / 2,
		.room = b.room,
	};

	/* The tail first: the jump wants its length. */
	cs_emit(&tail, cs_nop());
	cs_emit(&tail, cs_move32(R_TMP, seed_tail(j)));
	cs_emit(&tail, cs_store(R_TMP, R_SLOT, 1, SLOT_TAIL));
	cs_emit(&tail, cs_store_state(CS_STATE_TIMESTAMP, R_SLOT, SLOT_TIME1, 0, SB_LS));
	cs_emit(&tail, cs_store_state(CS_STATE_CYCLE_COUNT, R_SLOT, SLOT_CYCLE1, 0, SB_LS));
	cs_emit(&tail, cs_wait(1 << SB_LS));
	emit_flush(&tail);
	cs_emit(&tail, cs_move(R_TMP64, chain.va + q->number * 16));
	cs_emit(&tail, cs_move(R_TMP, 1));
	cs_emit(&tail, cs_sync(CS_OP_SYNC_ADD64, CS_SCOPE_SYSTEM, R_TMP, R_TMP64, 0, SB_LS));
	cs_emit(&tail, cs_wait(1 << SB_LS));

	cs_emit_sb_entries(&b, SB_ENDPOINT, SB_LS);
	if (q->prev && !(j->seq & 1)) {
		/* Every other job waits in the stream, the rest in the kernel (submit()). */
		cs_emit(&b, cs_move(R_TMP64, chain.va + q->prev->number * 16));
		cs_emit(&b, cs_move(R_TMP, j->seq));
		cs_emit(&b, cs_sync_wait(CS_OP_SYNC_WAIT64, CS_COND_GREATER, R_TMP, R_TMP64));
	}
	cs_emit(&b, cs_move(R_SLOT, slot_va));
	cs_emit(&b, cs_store_state(CS_STATE_TIMESTAMP, R_SLOT, SLOT_TIME0, 0, SB_LS));
	cs_emit(&b, cs_store_state(CS_STATE_CYCLE_COUNT, R_SLOT, SLOT_CYCLE0, 0, SB_LS));
	cs_emit(&b, cs_wait(1 << SB_LS));

	cs_emit(&b, cs_move(R_SUM64, seed_start(j)));
	cs_emit(&b, cs_add64(R_SUM64, R_SUM64, seed_add(j)));
	cs_emit(&b, cs_add64(R_SUM64, R_SUM64, -1));

	cs_emit(&b, cs_move32(R_LOOP, seed_loops(j)));
	cs_emit(&b, cs_move32(R_SUM32, 0));
	cs_emit(&b, cs_add32(R_SUM32, R_SUM32, seed_step(j)));
	cs_emit(&b, cs_add32(R_LOOP, R_LOOP, -1));
	cs_emit(&b, cs_branch(CS_COND_GREATER, R_LOOP, -3));

	cs_emit(&b, cs_move32(R_MIN_A, seed_min_a(j)));
	cs_emit(&b, cs_move32(R_MIN_B, seed_min_b(j)));
	cs_emit(&b, cs_umin32(R_MIN_A, R_MIN_A, R_MIN_B));

	cs_emit(&b, cs_move32(R_CONDS, 0));
	cs_emit(&b, cs_move(R_TMP64, lib.va));
	cs_emit(&b, cs_move32(R_TMP, lib_size));
	cs_emit(&b, cs_call(R_TMP64, R_TMP));
	cs_emit(&b, cs_store(R_SUM64, R_SLOT, 0xff, SLOT_REGS));

	cs_emit(&b, cs_move(R_ADDR, slot_va + SLOT_INPUT));
	cs_emit(&b, cs_load(0, R_ADDR, 0xffff, 0));
	cs_emit(&b, cs_wait(1 << SB_LS));
	cs_emit(&b, cs_add32(0, 0, seed_step(j)));
	cs_emit(&b, cs_add32(15, 15, -1));
	cs_emit(&b, cs_store(0, R_SLOT, 0xffff, SLOT_COPY));
	cs_emit(&b, cs_store(R_SUM32, R_ADDR, 1, SLOT_NEGATIVE - SLOT_INPUT));
	cs_emit(&b, cs_wait(1 << SB_LS));

	emit_sync_ops(&b, j, slot_va);
	emit_run(&b, q, j);

	cs_emit(&b, cs_move(R_TMP64, tail.va));
	cs_emit(&b, cs_move32(R_TMP, cs_size(&tail)));
	cs_emit(&b, cs_jump(R_TMP64, R_TMP));
	cs_emit(&b, cs_store(R_TMP, R_SLOT, 1, SLOT_POISON));
	cs_emit(&b, cs_wait(1 << SB_LS));

	if (cs_overflowed(&b) || cs_overflowed(&tail))
		die("a stream does not fit its buffer");
	return cs_size(&b);
}

/* Checks. */

static uint64_t slot64(const struct job *j, unsigned int offset)
{
	return *(volatile uint64_t *)(j->slot + offset);
}

static uint32_t slot32(const struct job *j, unsigned int offset)
{
	return *(volatile uint32_t *)(j->slot + offset);
}

/* @a, the value found, must equal @b. */
static void check(const struct queue *q, const struct job *j, const char *what, uint64_t a,
		  uint64_t b)
{
	n_checks++;
	if (a == b)
		return;
	if (n_errors++ < 20)
		fprintf(stderr,
			"gpu-load: job %" PRIu64 " of queue %u (%s): %s is 0x%" PRIx64
			", not 0x%" PRIx64 "\n",
			j->seq, q->number, kind_names[j->kind], what, a, b);
}

static void check_order(const struct queue *q, const struct job *j, const char *what, uint64_t a,
			uint64_t b)
{
	n_checks++;
	if (a <= b)
		return;
	if (n_errors++ < 20)
		fprintf(stderr,
			"gpu-load: job %" PRIu64 " of queue %u (%s): %s went back from %" PRIu64
			" to %" PRIu64 "\n",
			j->seq, q->number, kind_names[j->kind], what, a, b);
}

static void check_job(struct queue *q, const struct job *j)
{
	uint64_t sum64 = seed_start(j) + (int64_t)seed_add(j) - 1;
	uint64_t time0 = slot64(j, SLOT_TIME0), time1 = slot64(j, SLOT_TIME1);
	uint64_t cycle0 = slot64(j, SLOT_CYCLE0), cycle1 = slot64(j, SLOT_CYCLE1);
	uint32_t a = seed_min_a(j), b = seed_min_b(j), bad = 0;

	for (unsigned int i = 0; i < N_CALLS; i++)
		sum64 += (int64_t)call_add[i];

	check(q, j, "the 64-bit sum", slot64(j, SLOT_REGS), sum64);
	check(q, j, "the loop counter", slot32(j, SLOT_REGS + 0x8), 0);
	check(q, j, "the loop's sum", slot32(j, SLOT_REGS + 0xc),
	      seed_loops(j) * (uint32_t)seed_step(j));
	check(q, j, "the table of conditions", slot32(j, SLOT_REGS + 0x10), expected_conds());
	check(q, j, "the last value compared", slot32(j, SLOT_REGS + 0x14),
	      (uint32_t)cond_values[N_COND_VALUES - 1]);
	check(q, j, "the minimum", slot32(j, SLOT_REGS + 0x18), a < b ? a : b);
	check(q, j, "the minimum's source", slot32(j, SLOT_REGS + 0x1c), b);

	for (unsigned int i = 0; i < 16; i++) {
		uint32_t want = seed_input(j, i);

		if (i == 0)
			want += seed_step(j);
		if (i == 15)
			want--;
		check(q, j, "a word loaded and stored", slot32(j, SLOT_COPY + 4 * i), want);
	}

	check(q, j, "the word at a negative offset", slot32(j, SLOT_NEGATIVE),
	      seed_loops(j) * (uint32_t)seed_step(j));
	check(q, j, "the tail's mark", slot32(j, SLOT_TAIL), seed_tail(j));
	check(q, j, "the mark behind the jump", slot32(j, SLOT_POISON), NO_SLOT * 0x01010101u);
	check(q, j, "the 32-bit object", slot32(j, SLOT_SYNC32),
	      (uint32_t)(seed_sync32(j) + seed_sync_add(j)));
	check(q, j, "the 32-bit object's status", slot32(j, SLOT_SYNC32 + 4), 0);
	check(q, j, "the 64-bit object", slot64(j, SLOT_SYNC64),
	      seed_sync64(j) + seed_sync_add(j));
	check(q, j, "the 64-bit object's status", slot32(j, SLOT_SYNC64 + 8), 0);

	/* Nothing may be written past a slot's last result. */
	for (unsigned int i = SLOT_CANARY; i < SLOT_SIZE; i += 4)
		bad += slot32(j, i) != NO_SLOT * 0x01010101u;
	check(q, j, "the number of words overwritten", bad, 0);

	check_order(q, j, "the queue's timestamp", q->last_time, time0);
	check_order(q, j, "the timestamp", time0, time1);
	check_order(q, j, "the cycle count", cycle0, cycle1);
	q->last_time = time1;
	if (time0 < first_time)
		first_time = time0;
	if (time1 > last_time)
		last_time = time1;
	gpu_ticks += time1 - time0;
	gpu_cycles += cycle1 - cycle0;
	n_kind[j->kind]++;
}

/* A queue has done its first job. */
static void note_start(void)
{
	static unsigned int started;
	int fd;

	if (++started != queue_count || !opt.started)
		return;
	fd = open(opt.started, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		die("%s: %s", opt.started, strerror(errno));
	close(fd);
}

/* Waits for the oldest job of @q and checks it. */
static void retire(struct queue *q)
{
	struct job *j = &q->jobs[q->retired % opt.depth];
	int ret = gpu_syncobj_wait(&gpu, q->syncobj, q->retired + 1, opt.timeout_ns);

	if (ret) {
		struct drm_panthor_group_get_state state = gpu_group_state(&gpu, q->group);

		die("job %" PRIu64 " of queue %u is not done: %s (group state 0x%x, fatal queues 0x%x)",
		    j->seq, q->number, strerror(-ret), state.state, state.fatal_queues);
	}
	check_job(q, j);
	if (!q->retired++)
		note_start();
}

/* Submission. */

static enum kind kind_of(uint64_t number)
{
	static const enum kind order[] = { KIND_COMPUTE, KIND_IDVS, KIND_FRAGMENT, KIND_TILING };

	if (opt.kind == KIND_CLEAR)
		return KIND_CLEAR;
	if (opt.work == WORK_SAFE)
		return KIND_NONE;
	return opt.kind == KIND_MIX ? order[number % 4] : opt.kind;
}

/* One job to each of the first @count queues from @q on, all of one group. */
static void submit(struct queue *q, unsigned int count, uint64_t number)
{
	struct drm_panthor_queue_submit submits[32] = {};
	struct drm_panthor_sync_op syncs[32][2] = {};
	int ret;

	for (unsigned int i = 0; i < count; i++, q++) {
		unsigned int index = q->submitted % opt.depth;
		struct job *j = &q->jobs[index];
		unsigned int n_syncs = 1;

		if (q->submitted - q->retired == opt.depth)
			retire(q);

		*j = (struct job){
			.seq = q->submitted,
			.seed = mix((uint64_t)getpid() << 48 ^ (uint64_t)q->number << 40 ^
				    q->submitted),
			.kind = kind_of(number + i),
			.slot = (uint8_t *)q->results.map + index * SLOT_SIZE,
		};
		memset(j->slot, NO_SLOT, SLOT_SIZE);
		memset(j->slot + SLOT_SYNC32, 0, 8);
		memset(j->slot + SLOT_SYNC64, 0, 16);
		for (unsigned int w = 0; w < 16; w++)
			((uint32_t *)(j->slot + SLOT_INPUT))[w] = seed_input(j, w);

		syncs[i][0] = (struct drm_panthor_sync_op){
			.flags = DRM_PANTHOR_SYNC_OP_SIGNAL |
				 DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_TIMELINE_SYNCOBJ,
			.handle = q->syncobj,
			.timeline_value = j->seq + 1,
		};
		if (q->prev && (j->seq & 1)) {
			syncs[i][n_syncs++] = (struct drm_panthor_sync_op){
				.flags = DRM_PANTHOR_SYNC_OP_WAIT |
					 DRM_PANTHOR_SYNC_OP_HANDLE_TYPE_TIMELINE_SYNCOBJ,
				.handle = q->prev->syncobj,
				.timeline_value = j->seq + 1,
			};
		}
		submits[i] = (struct drm_panthor_queue_submit){
			.queue_index = q->index,
			.stream_size = build_stream(q, j, index),
			.stream_addr = q->streams.va + index * STREAM_SIZE,
			/* Read after the stream is written, as the uAPI asks. */
			.latest_flush = *gpu.flush_id,
			.syncs = DRM_PANTHOR_OBJ_ARRAY(n_syncs, syncs[i]),
		};
		q->submitted++;
	}

	q -= count;
	ret = gpu_submit(&gpu, q->group, submits, count);
	if (ret)
		die("cannot submit to group %u: %s", q->group, strerror(-ret));
}

static void set_up(void)
{
	queue_count = opt.groups * opt.queues;
	queues = calloc(queue_count, sizeof(*queues));
	if (!queues)
		die("no memory for %u queues", queue_count);

	if (opt.queues > gpu.csif.cs_slot_count)
		die("--queues=%u: this GPU's groups have %u", opt.queues, gpu.csif.cs_slot_count);

	gpu_vm_create(&vm, &gpu);
	build_lib();
	gpu_bo_create(&chain, &vm, queue_count * 16, DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC);
	gpu_bo_create(&frame, &vm, 4096, DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC);
	if (opt.kind == KIND_CLEAR)
		make_clear();

	for (unsigned int g = 0; g < opt.groups; g++)
		groups[g] = gpu_group_create_on(&vm, opt.queues, opt.cores);

	for (unsigned int i = 0; i < queue_count; i++) {
		struct queue *q = &queues[i];

		q->group = groups[i / opt.queues];
		q->index = i % opt.queues;
		q->number = i;
		q->prev = i ? &queues[i - 1] : NULL;
		q->syncobj = gpu_syncobj_create(&gpu);
		gpu_bo_create(&q->streams, &vm, opt.depth * STREAM_SIZE,
			      DRM_PANTHOR_VM_BIND_OP_MAP_READONLY);
		gpu_bo_create(&q->results, &vm, opt.depth * SLOT_SIZE,
			      DRM_PANTHOR_VM_BIND_OP_MAP_NOEXEC);

		if (opt.work == WORK_FULL) {
			struct drm_panthor_tiler_heap_create heap = {
				.vm_id = vm.id,
				.initial_chunk_count = 2,
				.chunk_size = 256 * 1024,
				.max_chunks = 16,
				.target_in_flight = 4,
			};

			if (drmIoctl(gpu.fd, DRM_IOCTL_PANTHOR_TILER_HEAP_CREATE, &heap))
				die("cannot create a tiler heap: %s", strerror(errno));
			q->heap = heap.tiler_heap_ctx_gpu_va;
			q->heap_handle = heap.handle;
		}
	}
}

static void check_clear(void)
{
	const struct job none = { .kind = KIND_CLEAR };
	const volatile uint32_t *pixels = target.map;
	uint64_t bad = 0;

	for (uint64_t i = 0; i < (uint64_t)opt.size * opt.size; i++)
		bad += pixels[i] != CLEAR_COLOR;
	check(&queues[0], &none, "the number of pixels that are not of the clear colour", bad, 0);
}

static void tear_down(void)
{
	for (unsigned int g = 0; g < opt.groups; g++) {
		struct drm_panthor_group_get_state state = gpu_group_state(&gpu, groups[g]);
		struct job none = { .kind = opt.kind };

		check(&queues[g * opt.queues], &none, "the group's state", state.state, 0);
		gpu_group_destroy(&gpu, groups[g]);
	}

	for (unsigned int i = 0; i < queue_count; i++) {
		struct queue *q = &queues[i];
		struct job none = { .seq = q->submitted, .kind = opt.kind };

		/* Written by the GPU alone: a job run twice, or not at all, shows here. */
		check(q, &none, "the number of jobs the GPU counted",
		      ((volatile uint64_t *)chain.map)[i * 2], q->submitted);

		if (q->heap_handle) {
			struct drm_panthor_tiler_heap_destroy heap = { .handle = q->heap_handle };

			if (drmIoctl(gpu.fd, DRM_IOCTL_PANTHOR_TILER_HEAP_DESTROY, &heap))
				die("cannot destroy a tiler heap: %s", strerror(errno));
		}
		drmSyncobjDestroy(gpu.fd, q->syncobj);
		gpu_bo_destroy(&q->streams, &vm);
		gpu_bo_destroy(&q->results, &vm);
	}
	if (opt.kind == KIND_CLEAR) {
		/* The virtual Mali writes no pixels. */
		if (!is_virtual())
			check_clear();
		gpu_bo_destroy(&target, &vm);
	}
	gpu_bo_destroy(&lib, &vm);
	gpu_bo_destroy(&chain, &vm);
	gpu_bo_destroy(&frame, &vm);
	gpu_vm_destroy(&vm);
	free(queues);
}

static void retire_all(void)
{
	for (unsigned int i = 0; i < queue_count; i++)
		while (queues[i].retired < queues[i].submitted)
			retire(&queues[i]);
}

/* The idle part of a period: the one place that sleeps, because idleness is what it makes. */
static void idle_until(int64_t deadline)
{
	struct timespec ts = {
		.tv_sec = deadline / NSEC_PER_SEC,
		.tv_nsec = deadline % NSEC_PER_SEC,
	};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

static uint64_t run(int64_t start)
{
	int64_t period_start = start, now = start;
	uint64_t jobs = 0;

	while ((!opt.jobs || jobs < opt.jobs) &&
	       (!opt.duration_ns || now - start < opt.duration_ns)) {
		for (unsigned int g = 0; g < opt.groups; g++) {
			unsigned int count = opt.queues;

			if (opt.jobs && opt.jobs - jobs < count)
				count = opt.jobs - jobs;
			if (!count)
				break;
			submit(&queues[g * opt.queues], count, jobs);
			jobs += count;
		}

		now = now_ns(CLOCK_MONOTONIC);
		if (opt.period_ns && now - period_start >= opt.period_ns / 100 * opt.duty) {
			retire_all();
			now = now_ns(CLOCK_MONOTONIC);
			/* Late by whole periods: drop them rather than load without a pause. */
			period_start += ((now - period_start) / opt.period_ns + 1) * opt.period_ns;
			if (!opt.duration_ns || period_start - start < opt.duration_ns)
				idle_until(period_start);
			now = now_ns(CLOCK_MONOTONIC);
		}
	}
	retire_all();
	return jobs;
}

int main(int argc, char **argv)
{
	uint64_t jobs, shown = 0, counter_start, counter_end;
	int64_t start, elapsed;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	gpu_open(&gpu, opt.device);
	if (opt.info) {
		print_info();
		return 0;
	}

	if (opt.work == WORK_AUTO)
		opt.work = is_virtual() ? WORK_FULL : WORK_SAFE;
	if (opt.kind == KIND_CLEAR && (opt.targets != 1 || opt.size > MAX_EDGE))
		die("--kind=clear clears one target of at most %u pixels along an edge", MAX_EDGE);
	if (opt.work == WORK_SAFE && opt.kind != KIND_MIX && opt.kind != KIND_NONE && opt.kind != KIND_CLEAR)
		die("--kind=%s needs RUN_* instructions, which without shaders only the virtual Mali takes; --work=full issues them all the same",
		    kind_names[opt.kind]);

	set_up();
	counter_start = system_counter();
	start = now_ns(CLOCK_MONOTONIC);
	jobs = run(start);
	elapsed = now_ns(CLOCK_MONOTONIC) - start;
	counter_end = system_counter();
	tear_down();

	if (opt.machine) {
		printf("jobs=%" PRIu64 "\nchecks=%" PRIu64 "\nerrors=%" PRIu64 "\nelapsed_ns=%" PRId64
		       "\ngpu_cycles=%" PRIu64 "\ngpu_ticks=%" PRIu64 "\nfirst_timestamp=%" PRIu64
		       "\nlast_timestamp=%" PRIu64 "\ncounter_start=%" PRIu64
		       "\ncounter_end=%" PRIu64 "\ncounter_hz=%" PRIu64 "\n",
		       jobs, n_checks, n_errors, elapsed, gpu_cycles, gpu_ticks, first_time,
		       last_time, counter_start, counter_end, system_counter_hz());
		for (unsigned int k = KIND_NONE; k < KIND_COUNT; k++)
			printf("jobs_%s=%" PRIu64 "\n", kind_names[k], n_kind[k]);
	} else {
		printf("%s: %u groups of %u queues, %.3f s, %" PRIu64 " GPU cycles\n",
		       gpu_name(gpu.info.gpu_id), opt.groups, opt.queues, elapsed / 1e9,
		       gpu_cycles);
		for (unsigned int k = KIND_NONE; k < KIND_COUNT; k++)
			if (n_kind[k])
				printf("%s%" PRIu64 " %s", shown++ ? ", " : "", n_kind[k],
				       k == KIND_NONE ? "without shader work" : kind_names[k]);
		printf("%s", shown ? "\n" : "");
		printf("%" PRIu64 " jobs, %" PRIu64 " checks, %" PRIu64 " errors\n", jobs, n_checks,
		       n_errors);
	}
	return n_errors ? 1 : 0;
}
