// SPDX-License-Identifier: MIT
/*
 * panthor-perf-perfetto: the data source gpu.counters.panthor of Perfetto.
 *
 * traced says when a trace begins and ends, and what it wants to be counted. Each trace has a session of its own,
 * and a thread that takes its samples; the GPU is open as long as there is one. Perfetto's library calls from its
 * own threads and must not be kept: what it asks for is left in struct trace, for the thread to find.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "perfetto_c.h"

#include "common.h"
#include "packets.h"

#define NAME "gpu.counters.panthor"

#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC 1000000000ull

/* What a trace has if it says nothing else. */
#define DEFAULT_PERIOD_NS (10 * NSEC_PER_MSEC)

/* traced takes no messages longer than 128 KiB. */
#define MAX_ANNOUNCED (100u << 10)

/* Of the kernel's ring: seconds at common periods. */
#define RING_BYTES (4u << 20)

/* Shared with traced, in KiB: what comes while that is busy. */
#define SHARED_KB 1024

/* Samples are left to gather for so long at the most. */
#define GATHER_MS 200

/* How often the clocks are compared, which drift. */
#define CLOCKS_NS NSEC_PER_SEC

/*
 * How often all is told again, what has not changed included: the oldest of a ring buffer is overwritten, and what
 * traced does not take is lost.
 */
#define TELL_NS (5 * NSEC_PER_SEC)

/* A request of Perfetto to hand over all that there is, to be answered. */
struct flush {
	struct flush *next;
	struct PerfettoDsAsyncFlusher *flusher;
};

/*
 * COUNTING -> STOPPING   the trace ends: the last sample is on its way
 * COUNTING, STOPPING -> ENDED   the last sample was written, or there can be no more
 */
enum state { COUNTING, STOPPING, ENDED };

struct trace {
	PerfettoDsInstanceIndex index;

	struct pperf_gpu *gpu;
	struct recording_head head;
	struct packets *packets;

	/* NULL if nothing can be counted: why was printed. */
	struct pperf_session *session;

	/* Of the thread. */
	pthread_t thread;
	bool has_thread;
	enum state state;
	uint64_t clocks_ns, told_ns;
	struct PerfettoDsTracerImpl *tracer;
	uint8_t *bytes;
	size_t room;

	/* Wakes the thread. The lock guards what it is to find then. */
	int wake;
	pthread_mutex_t lock;
	struct flush *flushes;
	struct PerfettoDsAsyncStopper *stopper;
};

static struct PerfettoDs source = PERFETTO_DS_INIT();

/* Render node of the GPU, NULL for the first. */
static const char *device;

/* ---- What there is to count ---- */

/* All counters of the GPU that have names; all places, if none has. */
static enum pperf_error find_all(const struct pperf_gpu_info *info, struct pperf_masks *masks)
{
	struct pperf_selection *all = NULL;
	struct pperf_db *db = NULL;
	enum pperf_error error;
	unsigned int type, value;

	memset(masks, 0, sizeof(*masks));
	error = pperf_db_open(info->layout, &db);
	if (!error)
		error = pperf_selection_new(db, info, &all);
	if (!error)
		error = pperf_selection_add_all(all);
	if (!error)
		*masks = *pperf_selection_masks(all);
	pperf_selection_free(all);
	pperf_db_close(db);

	for (type = 0; type < PPERF_BLOCK_TYPES; type++) {
		if (!info->blocks[type])
			memset(masks->bits[type], 0, sizeof(masks->bits[type]));
		for (value = PPERF_FIRST_COUNTER; !info->layout && info->blocks[type] && value < info->values_per_block; value++)
			masks->bits[type][value / 64] |= 1ull << (value % 64);
	}
	return error;
}

/* Opens the GPU, and finds all that there is. close_gpu() must be called in any case. */
static enum pperf_error open_all(struct trace *trace, packets_write *write)
{
	enum pperf_error error = pperf_gpu_open(device, &trace->gpu);

	if (error)
		return error;
	trace->head.gpu = *pperf_gpu_info(trace->gpu);
	error = find_all(&trace->head.gpu, &trace->head.masks);
	if (!error)
		error = packets_open(&trace->head, write, trace, &trace->packets);
	if (!error)
		packets_go_live(trace->packets);
	return error;
}

static void close_gpu(struct trace *trace)
{
	pperf_session_close(trace->session);
	packets_close(trace->packets);
	pperf_gpu_close(trace->gpu);
	trace->session = NULL;
	trace->packets = NULL;
	trace->gpu = NULL;
}

/* ---- What is written ---- */

/* Of the thread of a trace, while it has its tracer. */
static packets_write write_packet;
static enum pperf_error write_packet(void *context, Pftrace__TracePacket *packet)
{
	size_t size = pftrace__trace_packet__get_packed_size(packet);
	struct PerfettoStreamWriter writer;
	struct trace *trace = context;
	uint8_t *bytes;

	if (size > trace->room) {
		bytes = realloc(trace->bytes, size);
		if (!bytes)
			return PPERF_ERROR_NO_MEMORY;
		trace->bytes = bytes;
		trace->room = size;
	}
	pftrace__trace_packet__pack(packet, trace->bytes);

	writer = PerfettoDsTracerImplPacketBegin(trace->tracer);
	PerfettoStreamWriterAppendBytes(&writer, trace->bytes, size);
	PerfettoDsTracerImplPacketEnd(trace->tracer, &writer);
	return PPERF_OK;
}

/* What is told once is told again where this is new: traced has cleared what it knew, or it is the first time. */
static void *new_state(struct PerfettoDsImpl *impl, PerfettoDsInstanceIndex index, struct PerfettoDsTracerImpl *tracer,
		       void *user)
{
	bool *is_new = malloc(sizeof(*is_new));

	(void)impl, (void)index, (void)tracer, (void)user;
	if (is_new)
		*is_new = true;
	return is_new;
}

static void look_if_cleared(struct trace *trace, struct PerfettoDsTracerIterator *iterator)
{
	bool *is_new = PerfettoDsGetIncrementalState(&source, iterator);

	if (!is_new || *is_new)
		packets_tell_again(trace->packets);
	if (is_new)
		*is_new = false;
}

/* ---- What a trace wants ---- */

static void tell_unknown(const char *what)
{
	complain("a trace asks for counter %s, which there is not: perfetto --query-raw has them all", what);
}

/* What there is not is left out, and told. Returns false if nothing is left. */
static bool choose(struct trace *trace, const Pftrace__GpuCounterConfig *config)
{
	char number[16];
	bool any = false;
	size_t i;

	if (!config || (!config->n_counter_ids && !config->n_counter_names)) {
		packets_want_default(trace->packets);
		return true;
	}
	tracks_want(packets_tracks(trace->packets), false);
	for (i = 0; i < config->n_counter_ids; i++) {
		snprintf(number, sizeof(number), "%" PRIu32, config->counter_ids[i]);
		if (packets_want_id(trace->packets, config->counter_ids[i]))
			any = true;
		else
			tell_unknown(number);
	}
	for (i = 0; i < config->n_counter_names; i++) {
		if (packets_want_name(trace->packets, config->counter_names[i]))
			any = true;
		else
			tell_unknown(config->counter_names[i]);
	}
	return any;
}

static uint32_t ring_slots(const struct pperf_gpu_info *info)
{
	uint32_t slots = 2;

	while ((!info->max_slots || slots * 2 <= info->max_slots) && (uint64_t)slots * 2 * info->sample_size <= RING_BYTES)
		slots *= 2;
	return slots;
}

/* Sets up a session for what a trace wants. Prints what is wrong. */
static void set_up(struct trace *trace, const Pftrace__GpuCounterConfig *config)
{
	struct pperf_session_options options = { .size = sizeof(options) };
	enum pperf_error error;

	if (config && (config->instrumented_sampling || config->has_instrumented_sampling_config)) {
		complain("a trace asks for instrumented_sampling, which there is not: leave it out, and counter_period_ns is the time "
			 "between samples");
		return;
	}
	error = open_all(trace, write_packet);
	if (error) {
		complain_of(error);
		return;
	}
	if (!choose(trace, config))
		return;
	error = tracks_needs(packets_tracks(trace->packets), &options.masks);
	options.period_ns = config && config->counter_period_ns ? config->counter_period_ns : DEFAULT_PERIOD_NS;
	options.slots = ring_slots(&trace->head.gpu);
	if (!error)
		error = pperf_session_open(trace->gpu, &options, &trace->session);
	if (error)
		complain_of(error);
}

/* ---- The thread of a trace ---- */

static void end_trace(struct trace *trace, enum pperf_error error)
{
	enum pperf_error end = packets_end(trace->packets);

	if (!error)
		error = end;
	if (error == PPERF_ERROR_GONE)
		complain("the GPU has gone: what was counted until then is in the trace");
	else if (error == PPERF_ERROR_NO_MEMORY)
		complain("out of memory: the rest of the trace has no counters");
	else if (error)
		complain_of(error);
	trace->state = ENDED;
	/* Nobody else can count before the trace ends if this one has another counter set, or the last place. */
	close_gpu(trace);
}

/* Writes all samples that there are. */
static void write_samples(struct trace *trace)
{
	const struct pperf_sample *sample;
	struct clocks clocks;
	enum pperf_error error = PPERF_OK;

	while (!error && trace->state != ENDED) {
		error = pperf_session_next(trace->session, &sample);
		if (!error && !sample)
			break;
		if (!error && sample->end_ns - trace->clocks_ns >= CLOCKS_NS) {
			clocks = read_clocks();
			trace->clocks_ns = sample->end_ns;
			error = packets_add_clocks(trace->packets, &clocks);
		}
		if (!error && sample->end_ns - trace->told_ns >= TELL_NS) {
			trace->told_ns = sample->end_ns;
			packets_tell_again(trace->packets);
		}
		if (!error)
			error = packets_add_sample(trace->packets, sample);
		if (error || sample->last)
			end_trace(trace, error);
	}
}

/* Asks for the last sample. If there will be none, what came before is still in the ring. */
static void stop_counting(struct trace *trace)
{
	enum pperf_error error = pperf_session_stop(trace->session, 0);

	trace->state = STOPPING;
	write_samples(trace);
	if (error && trace->state != ENDED)
		end_trace(trace, error);
}

/* Writes what there is. What comes behind a flush, to traced, is read there after it. */
static void work(struct trace *trace, struct PerfettoDsTracerIterator *iterator, bool flush, bool stop)
{
	trace->tracer = iterator->impl.tracer;
	if (trace->state != ENDED) {
		look_if_cleared(trace, iterator);
		if (stop && trace->state == COUNTING)
			stop_counting(trace);
		else
			write_samples(trace);
	}
	if (flush || (stop && trace->state == ENDED))
		PerfettoDsTracerFlush(iterator, NULL, NULL);
}

static void answer(struct flush *flush)
{
	struct flush *next;

	for (; flush; flush = next) {
		next = flush->next;
		PerfettoDsFlushDone(flush->flusher);
		free(flush);
	}
}

/* Waits for Perfetto, and for samples: until they have gathered or, at the end, for the last one. */
static void wait_for_work(struct trace *trace, int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = trace->wake, .events = POLLIN },
		{ .fd = trace->state == STOPPING ? pperf_session_fd(trace->session) : -1, .events = POLLIN },
	};
	eventfd_t value;

	poll(fds, 2, trace->state == ENDED ? -1 : timeout);
	if (fds[0].revents)
		eventfd_read(trace->wake, &value);
}

static void *run(void *context)
{
	struct PerfettoDsAsyncStopper *stopper = NULL;
	struct trace *trace = context;
	uint64_t period_ns = pperf_session_period(trace->session), gather_ms = GATHER_MS;
	enum pperf_error error = pperf_session_start(trace->session, 0);
	struct flush *flushes;
	int timeout;
	bool found;

	/* A quarter of the ring at the most; a long period times many slots may be more than a number has room for. */
	if (period_ns < NSEC_PER_SEC)
		gather_ms = period_ns * pperf_session_slots(trace->session) / 4 / NSEC_PER_MSEC;
	timeout = gather_ms < 1 ? 1 : gather_ms > GATHER_MS ? GATHER_MS : (int)gather_ms;
	if (error)
		end_trace(trace, error);

	while (!stopper || trace->state != ENDED) {
		wait_for_work(trace, timeout);
		pthread_mutex_lock(&trace->lock);
		flushes = trace->flushes;
		trace->flushes = NULL;
		stopper = trace->stopper;
		pthread_mutex_unlock(&trace->lock);

		found = false;
		PERFETTO_DS_TRACE(source, iterator) {
			if (iterator.impl.inst_id != trace->index)
				continue;
			found = true;
			work(trace, &iterator, flushes, stopper);
		}
		/* Nobody reads it any more. */
		if (!found && stopper)
			trace->state = ENDED;
		answer(flushes);
	}
	PerfettoDsStopDone(stopper);
	return NULL;
}

/* ---- What Perfetto calls ---- */

static void *on_setup(struct PerfettoDsImpl *impl, PerfettoDsInstanceIndex index, void *bytes, size_t size, void *user,
		      struct PerfettoDsOnSetupArgs *args)
{
	Pftrace__DataSourceConfig *config = pftrace__data_source_config__unpack(NULL, size, bytes);
	struct trace *trace = calloc(1, sizeof(*trace));

	(void)impl, (void)user, (void)args;
	if (trace) {
		trace->index = index;
		trace->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		pthread_mutex_init(&trace->lock, NULL);
	}
	if (!trace || trace->wake < 0 || !config)
		complain("cannot count for a trace: %s", config ? strerror(errno) : "its configuration cannot be read");
	else
		set_up(trace, config->gpu_counter_config);
	if (config)
		pftrace__data_source_config__free_unpacked(config, NULL);
	return trace;
}

static void on_start(struct PerfettoDsImpl *impl, PerfettoDsInstanceIndex index, void *user, void *context,
		     struct PerfettoDsOnStartArgs *args)
{
	struct trace *trace = context;
	int ret;

	(void)impl, (void)index, (void)user, (void)args;
	if (!trace || !trace->session)
		return;
	ret = pthread_create(&trace->thread, NULL, run, trace);
	if (ret)
		complain("cannot start a thread: %s", strerror(ret));
	trace->has_thread = !ret;
}

static void on_stop(struct PerfettoDsImpl *impl, PerfettoDsInstanceIndex index, void *user, void *context,
		    struct PerfettoDsOnStopArgs *args)
{
	struct trace *trace = context;

	(void)impl, (void)index, (void)user;
	if (!trace || !trace->has_thread)
		return;
	pthread_mutex_lock(&trace->lock);
	trace->stopper = PerfettoDsOnStopArgsPostpone(args);
	pthread_mutex_unlock(&trace->lock);
	eventfd_write(trace->wake, 1);
}

static void on_flush(struct PerfettoDsImpl *impl, PerfettoDsInstanceIndex index, void *user, void *context,
		     struct PerfettoDsOnFlushArgs *args)
{
	struct trace *trace = context;
	struct flush *flush;

	(void)impl, (void)index, (void)user;
	if (!trace || !trace->has_thread)
		return;
	flush = malloc(sizeof(*flush));
	if (!flush)
		return;
	flush->flusher = PerfettoDsOnFlushArgsPostpone(args);
	pthread_mutex_lock(&trace->lock);
	flush->next = trace->flushes;
	trace->flushes = flush;
	pthread_mutex_unlock(&trace->lock);
	eventfd_write(trace->wake, 1);
}

static void on_destroy(struct PerfettoDsImpl *impl, void *user, void *context)
{
	struct trace *trace = context;

	(void)impl, (void)user;
	if (!trace)
		return;
	if (trace->has_thread)
		pthread_join(trace->thread, NULL);
	close_gpu(trace);
	answer(trace->flushes);
	if (trace->wake >= 0)
		close(trace->wake);
	pthread_mutex_destroy(&trace->lock);
	free(trace->bytes);
	free(trace);
}

/* ---- The program ---- */

/* Makes what traced is told of this source: of all counters or, of a GPU that has too many, of those that most want. */
static enum pperf_error announce(uint8_t **bytes, size_t *size)
{
	struct trace trace = {};
	enum pperf_error error = open_all(&trace, write_packet);

	if (!error)
		error = packets_announce(trace.packets, NAME, MAX_ANNOUNCED, bytes, size);
	if (error == PPERF_ERROR_TOO_MANY) {
		packets_want_default(trace.packets);
		error = packets_announce(trace.packets, NAME, MAX_ANNOUNCED, bytes, size);
	}
	close_gpu(&trace);
	return error;
}

static bool register_source(const uint8_t *bytes, size_t size)
{
	struct PerfettoProducerInitArgs args = PERFETTO_PRODUCER_INIT_ARGS_INIT();
	struct PerfettoDsImpl *impl;

	args.backends = PERFETTO_BACKEND_SYSTEM;
	args.shmem_size_hint_kb = SHARED_KB;
	PerfettoProducerInit(args);

	impl = PerfettoDsImplCreate();
	PerfettoDsSetOnSetupCallback(impl, on_setup);
	PerfettoDsSetOnStartCallback(impl, on_start);
	PerfettoDsSetOnStopCallback(impl, on_stop);
	PerfettoDsSetOnFlushCallback(impl, on_flush);
	PerfettoDsSetOnDestroyCallback(impl, on_destroy);
	PerfettoDsSetOnCreateIncr(impl, new_state);
	PerfettoDsSetOnDeleteIncr(impl, free);
	/* When traced is slow, samples stay in the kernel's ring for a while. */
	PerfettoDsSetBufferExhaustedPolicy(impl, PERFETTO_DS_BUFFER_EXHAUSTED_POLICY_STALL_AND_DROP);
	source.impl = impl;
	return PerfettoDsImplRegister(impl, &source.enabled, bytes, size);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &device;
		return 0;
	case ARGP_KEY_ARG:
		argp_usage(state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		NULL, parse, NULL,
		"Gives Perfetto's traces what the GPU counts: the data source " NAME ".\v"
		"It goes on until it is killed, and counts while a trace asks for it.",
		children, NULL, NULL
	};
	enum pperf_error error;
	uint8_t *bytes;
	size_t size;

	argp_parse(&argp, argc, argv, 0, NULL, NULL);
	error = announce(&bytes, &size);
	if (error == PPERF_ERROR_TOO_MANY)
		complain("traced cannot be told of so many counters");
	if (error)
		return error == PPERF_ERROR_TOO_MANY ? STATUS_FAILED : complain_of(error);
	if (!register_source(bytes, size)) {
		complain("Perfetto's library does not take the data source");
		return STATUS_FAILED;
	}
	free(bytes);
	for (;;)
		pause();
}
