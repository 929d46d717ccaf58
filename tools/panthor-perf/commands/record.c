// SPDX-License-Identifier: MIT
/*
 * panthor-perf record
 *
 * Two threads. The first takes samples out of the kernel's ring, encodes them
 * and puts them into a queue of fixed size; it waits for nothing but samples.
 * The second (sink.h) writes what is in the queue and may wait for the disk as long
 * as it takes. An end in the queue tells it of another file, or to write the last
 * samples. When the queue is full, the first leaves samples in the ring until there
 * is room; the kernel then puts several periods into one sample, and no count is
 * lost.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "commands.h"
#include "common.h"
#include "control.h"
#include "fifo.h"
#include "job-recorder.h"
#include "marks.h"
#include "uses.h"
#include "rates.h"
#include "sink.h"
#include "text.h"

#define DEFAULT_TRACE "panthor-perf.perfetto-trace"
#define DEFAULT_PERIOD_NS 1000000

/* A frame of 60 a second has dozens of samples. */
#define FRAMES_PERIOD_NS 250000

#define NSEC_PER_MSEC 1000000ull
#define NSEC_PER_SEC 1000000000ull

/* KiB for the queue and, up to so many, for the kernel's ring: seconds of samples at common periods. */
#define DEFAULT_MEMORY (32u << 10)
#define MIN_MEMORY 128
#define MAX_MEMORY (4u << 20)
#define MAX_RING_BYTES (8u << 20)

/* Numbers of files have six digits. */
#define MAX_KEEP 999999u

/* The writing thread is woken when so much has come, or after so long. */
#define SHOW_BYTES (64u << 10)
#define SHOW_NS (200 * NSEC_PER_MSEC)

/* How often the clocks are compared, which drift. */
#define CLOCKS_NS NSEC_PER_SEC

/* How often to look who uses the GPU. */
#define USES_NS NSEC_PER_SEC

/* No end is longer, without an index. */
#define END_SIZE 512

#define PROGRESS_NS (500 * NSEC_PER_MSEC)

/* What START and STOP have as user_data; each time that counting begins anew, both are two more. */
#define TAG_START 1
#define TAG_STOP 2

struct arguments {
	const char *device;
	const char *output;
	uint64_t period_ns;

	/* From the start of the command to that of counting; 0: none. Or until somebody who controls it says so. */
	uint64_t delay_ns;
	bool delay_forever;

	unsigned long memory;
	char **events;
	unsigned int num_events;
	bool all;
	uint8_t set;

	/* What is written, and the time of --last and --split. */
	enum sink_kind kind;
	enum perfetto_compression compression;
	uint64_t last_ns, split_ns;
	unsigned long keep;
	const char *on_mark;

	/* Frames of the command are marked for it; they are submissions of Vulkan; labels are regions. */
	bool frames, frames_of_submits, labels, has_period;

	/* Jobs are recorded, if that can be. */
	bool jobs;

	/* NULL if there is none. */
	const char *control, *socket;
	char **command;
};

/*
 * PAUSED -> COUNTING     the delay is over, or who controls it wants it to count
 * COUNTING -> PAUSING    who controls it wants it to stop
 * PAUSING -> PAUSED      the last sample for now was read
 * PAUSED -> DONE         the program has ended, or the user has asked to end
 * PAUSING -> STOPPING    the same, and the last sample is on its way
 * COUNTING -> STOPPING   the same
 * COUNTING -> GONE       the same, and the GPU has gone before
 * STOPPING -> DONE       the last sample was read
 * GONE -> DONE           all that is in the ring was read: no last sample comes
 * COUNTING, STOPPING, GONE -> DONE   there can be no more, or nobody takes them
 */
enum state { PAUSED, COUNTING, PAUSING, STOPPING, GONE, DONE };

struct recorder {
	const struct arguments *arguments;
	struct pperf_gpu *gpu;
	struct pperf_db *db;
	struct pperf_selection *selection;
	struct pperf_session *session;
	struct child child;

	enum state state;
	enum recording_reason reason;
	int status;

	struct marks marks;
	struct uses uses;

	/* NULL if jobs are not recorded. */
	struct job_recorder *jobs;
	struct control control;

	/* When the delay is over; 0: it was, or there is none. */
	uint64_t begin_ns;

	struct recording_head head;
	struct recording_writer writer;
	struct fifo queue;

	/* The user does not want to wait for the rest. */
	bool hurry;

	/* How often counting has begun anew. */
	uint64_t restarts;

	/* Samples that were read, and how often there was no room in the queue. */
	uint64_t samples, waits;
	bool waiting;

	struct rates_meter rates;

	/* When clocks were compared and the writing thread was woken, by the time of samples. */
	uint64_t clocks_ns, shown_ns, start_ns;

	struct sink sink;

	/* Marks and frames that ends so far say were dropped or lost. SINK_SPLIT: where the first sample of the file begins. */
	uint64_t dropped, lost_frames, split_ns;

	/* SINK_LAST: the last samples are to be written; how often they were; which time is to be acknowledged, or 0. */
	bool dump;
	uint64_t dumps, acked_dump;

	/* A terminal that never makes us wait, or -1. */
	int terminal;
	uint64_t progress_ns;
};

enum { KEY_SET = 256, KEY_CONTROL, KEY_SOCKET, KEY_LAST, KEY_ON_MARK, KEY_SPLIT, KEY_KEEP, KEY_FRAMES, KEY_JOBS };

static const struct argp_option options[] = {
	{ "output", 'o', "FILE", 0, "Write to FILE; - is standard output (default: " RECORDING_DEFAULT
	  ", with --perfetto " DEFAULT_TRACE ")", 0 },
	{ "period", 'p', "TIME", 0, "Sample period, such as 200us, 1.5ms or 1s (default: 1ms)", 0 },
	{ "event", 'e', "COUNTER,...", 0, "Record these counters, by name, hardware name, title, pattern or BLOCK.INDEX (may "
	  "be repeated; default: those of stat, and all that load and top-down need)", 0 },
	{ "all", 'a', NULL, 0, "Record all named counters", 0 },
	{ "set", KEY_SET, "SET", 0, "Use this counter set (see panthor-perf info); sets other than the primary one need -e BLOCK.INDEX", 0 },
	{ "delay", 'D', "TIME", 0, "Start counting this long after the command; -1: when --control reads enable", 0 },
	{ "control", KEY_CONTROL, "fd:CTL[,ACK]|fifo:CTL[,ACK]", 0, "Read the commands enable, disable, ping, stop and dump, "
	  "one per line, from CTL, and write ack to ACK when each is done", 0 },
	{ "frames", KEY_FRAMES, "submit,labels", OPTION_ARG_OPTIONAL, "Mark the frames of COMMAND, if it uses EGL, GLX or Vulkan; the "
	  "period becomes 250us. submit: a frame is a submission of Vulkan; labels: debug labels become regions", 0 },
	{ "jobs", KEY_JOBS, NULL, 0, "Record the jobs of all processes too (root only)", 0 },
	{ "socket", KEY_SOCKET, "PATH", 0, "Receive marks at this socket (default: where mark looks for recorders)", 0 },
	{ "memory", 'm', "KIB", 0, "Buffer for samples not yet written, in KiB (default: 32768)", 0 },
	{ "perfetto", 'P', "zstd|deflate", OPTION_ARG_OPTIONAL, PERFETTO_HELP, 0 },
	{ "last", KEY_LAST, "TIME", 0, "Keep only the last TIME, such as 30s or 10m, in memory; write it at SIGUSR2 and at the "
	  "end, to FILE, FILE.1, ...", 0 },
	{ "on-mark", KEY_ON_MARK, "NAME", 0, "Write it at each mark with this name, too", 0 },
	{ "split", KEY_SPLIT, "TIME", 0, "Begin another file each TIME: FILE-000001, FILE-000002, ...", 0 },
	{ "keep", KEY_KEEP, "N", 0, "Keep the N newest files of --split; remove older ones", 0 },
	{}
};

/* At most one of these options may be used. */
static void choose_kind(struct argp_state *state, enum sink_kind kind)
{
	struct arguments *arguments = state->input;

	if (arguments->kind != SINK_FILE && arguments->kind != kind)
		argp_error(state, "use only one of --last, --split and --perfetto");
	arguments->kind = kind;
}

/* Check combinations of options. */
static void check_options(struct argp_state *state)
{
	const struct arguments *arguments = state->input;

	if (arguments->set && !arguments->num_events)
		argp_error(state, "--set needs -e BLOCK.INDEX: only the primary set has counter names");
	if (arguments->delay_forever && !arguments->control)
		argp_error(state, "-D -1 needs --control to end the delay");
	if (arguments->on_mark && arguments->kind != SINK_LAST)
		argp_error(state, "--on-mark needs --last");
	if (arguments->frames && !arguments->command)
		argp_error(state, "--frames needs a command, whose frames it marks");
	if (arguments->keep && arguments->kind != SINK_SPLIT)
		argp_error(state, "--keep needs --split");
	if ((arguments->kind == SINK_LAST || arguments->kind == SINK_SPLIT) && arguments->output &&
	    is_standard(arguments->output))
		argp_error(state, "--last and --split write several files: use -o with the name of a file");
}

/* What --frames has behind it, which may be nothing. */
static void parse_frames(struct argp_state *state, char *arg)
{
	static char *const words[] = { "submit", "labels", NULL };
	struct arguments *arguments = state->input;
	char *value;

	arguments->frames = true;
	while (arg && *arg) {
		const char *word = arg;

		switch (getsubopt(&arg, words, &value)) {
		case 0:
			arguments->frames_of_submits = true;
			break;
		case 1:
			arguments->labels = true;
			break;
		default:
			argp_error(state, "--frames: \"%s\" is unknown. Use --frames, --frames=submit, --frames=labels or "
				   "--frames=submit,labels", word);
		}
		if (value)
			argp_error(state, "--frames: \"%s\" takes no value", word);
	}
}

static void parse_time(struct argp_state *state, const char *option, const char *arg, uint64_t *ns)
{
	if (!parse_duration(arg, ns) || *ns < NSEC_PER_SEC)
		argp_error(state, "%s: \"%s\" is not a time from 1s to 24h. Use a number with a unit, such as 30s or 10m",
			   option, arg);
}

static error_t parse_sink(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case 'P':
		if (!perfetto_parse_compression(arg, &arguments->compression))
			argp_error(state, "--perfetto: use zstd or deflate, not \"%s\"", arg);
		choose_kind(state, SINK_TRACE);
		return 0;
	case KEY_LAST:
		parse_time(state, "--last", arg, &arguments->last_ns);
		choose_kind(state, SINK_LAST);
		return 0;
	case KEY_ON_MARK:
		if (!pperf_text_is_clean(arg) || !*arg || strlen(arg) > PPERF_MARK_LENGTH)
			argp_error(state, "--on-mark: a name has 1 to %u bytes of UTF-8, without control characters",
				   PPERF_MARK_LENGTH);
		arguments->on_mark = arg;
		return 0;
	case KEY_SPLIT:
		parse_time(state, "--split", arg, &arguments->split_ns);
		choose_kind(state, SINK_SPLIT);
		return 0;
	case KEY_KEEP:
		if (!parse_number(arg, MAX_KEEP, &arguments->keep))
			argp_error(state, "--keep: use a number from 1 to %u, not \"%s\"", MAX_KEEP, arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char **events;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case 'p':
		if (!parse_period(arg, &arguments->period_ns))
			wrong_period(state, "-p", arg);
		arguments->has_period = true;
		return 0;
	case KEY_JOBS:
		arguments->jobs = true;
		return 0;
	case KEY_FRAMES:
		parse_frames(state, arg);
		return 0;
	case 'e':
		events = reallocarray(arguments->events, arguments->num_events + 1, sizeof(*events));
		if (!events)
			return ENOMEM;
		arguments->events = events;
		events[arguments->num_events++] = arg;
		return 0;
	case 'a':
		arguments->all = true;
		return 0;
	case 'm':
		if (!parse_number(arg, MAX_MEMORY, &arguments->memory) || arguments->memory < MIN_MEMORY)
			argp_error(state, "-m: use a size from %u to %u KiB, not \"%s\"", MIN_MEMORY, MAX_MEMORY, arg);
		return 0;
	case 'D':
		arguments->delay_forever = !strcmp(arg, "-1");
		arguments->delay_ns = 0;
		if (!arguments->delay_forever && !parse_period(arg, &arguments->delay_ns))
			wrong_period(state, "-D", arg);
		return 0;
	case KEY_CONTROL:
		if (!control_is_valid(arg))
			argp_error(state, "--control: use fd:NUMBER[,NUMBER] or fifo:PATH[,PATH], not \"%s\"", arg);
		arguments->control = arg;
		return 0;
	case KEY_SOCKET:
		arguments->socket = arg;
		return 0;
	case KEY_SET:
		if (!parse_set(arg, &arguments->set))
			wrong_set(state, arg);
		return 0;
	case ARGP_KEY_END:
		check_options(state);
		return 0;
	case ARGP_KEY_ARG:
		/* The command's options are its own. */
		arguments->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	}
	return parse_sink(key, arg, state);
}

static int choose(struct recorder *r)
{
	const struct pperf_gpu_info *info = pperf_gpu_info(r->gpu);
	const struct arguments *a = r->arguments;
	enum pperf_error error;
	unsigned int i, type;
	bool any = false;
	size_t named;

	error = pperf_selection_new(r->db, info, &r->selection);
	for (i = 0; !error && i < a->num_events; i++)
		error = pperf_selection_add_list(r->selection, a->events[i]);
	if (!error && a->all)
		error = pperf_selection_add_all(r->selection);
	pperf_db_counters(r->db, &named);
	if (!error && !a->num_events && !a->all && named)
		error = pperf_selection_add_default(r->selection);
	if (error)
		return complain_of(error);

	if (!a->num_events && !a->all) {
		pperf_selection_need_load(r->selection);
		pperf_selection_need_topdown(r->selection);
	}

	/* What the GPU has no blocks for is in no sample. */
	r->head.masks = *pperf_selection_masks(r->selection);
	for (type = 0; type < PPERF_BLOCK_TYPES; type++) {
		if (!info->blocks[type])
			memset(r->head.masks.bits[type], 0, sizeof(r->head.masks.bits[type]));
		any |= r->head.masks.bits[type][0] || r->head.masks.bits[type][1];
	}
	if (any)
		return STATUS_OK;
	complain("this GPU has no known counter names (GPU_ID %#x). Use -e BLOCK.INDEX",
		 info->gpu_id);
	return STATUS_FAILED;
}

/* The kernel's ring has half of the memory, if that is not more than it needs. */
static uint32_t ring_slots(const struct pperf_gpu_info *info, unsigned long memory)
{
	uint64_t bytes = (uint64_t)memory << 9;
	uint32_t slots = 2;

	if (bytes > MAX_RING_BYTES)
		bytes = MAX_RING_BYTES;
	while (slots * 2 <= info->max_slots && (uint64_t)slots * 2 * info->sample_size <= bytes)
		slots *= 2;
	return slots;
}

/*
 * The queue has the other half, but room for some samples at the least, and for
 * what is put into it before anything is taken out: the head, as long as the
 * command is, and clocks.
 */
static size_t queue_size(unsigned long memory, size_t longest, size_t first)
{
	size_t bytes = (size_t)memory << 9, size = 1 << 10;

	while (size * 2 <= bytes || size < 4 * longest || size < first)
		size *= 2;
	return size;
}

static void put_record(struct recorder *r)
{
	fifo_put(&r->queue, r->writer.bytes, r->writer.size);
}

/* If there is room for them, which marks may have taken. */
static void put_clocks(struct recorder *r)
{
	struct clocks clocks = read_clocks();

	if (!fifo_room(&r->queue, RECORDING_CLOCKS_SIZE))
		return;
	recording_write_clocks(&r->writer, &clocks);
	put_record(r);
}

/* The numbers so far. Each dropped mark is counted in one end only. */
static struct recording_end make_end(struct recorder *r, enum recording_reason reason)
{
	const struct pperf_log *log = pperf_session_log(r->session);
	struct recording_end end = {
		.reason = reason,
		.status = r->child.ended ? child_status(&r->child) : 0,
		.samples = r->samples,
		.overflow = log->overflowed,
		.error = log->failed,
		.stretched = log->stretched,
		.marks = r->marks.taken,
		.dropped = r->marks.dropped - r->dropped,
		.frames = r->marks.frames,
		.lost_frames = r->marks.lost_frames - r->lost_frames,
		.clock = rates_of(&r->rates),
	};

	r->dropped = r->marks.dropped;
	r->lost_frames = r->marks.lost_frames;
	return end;
}

/* The queue has room for it. Return false without memory; the caller tries again later. */
static bool put_continued(struct recorder *r)
{
	const struct recording_end end = make_end(r, RECORDING_CONTINUED);

	if (recording_write_end(&r->writer, &end))
		return false;
	put_record(r);
	return true;
}

static void fail(struct recorder *r, enum recording_reason reason, int status)
{
	r->state = DONE;
	r->reason = reason;
	r->status = status;
}

/* The writing thread need not be woken by each record. */
static void show_now_and_then(struct recorder *r, uint64_t time_ns)
{
	if (fifo_hidden(&r->queue) < SHOW_BYTES && time_ns < r->shown_ns + SHOW_NS)
		return;
	r->shown_ns = time_ns;
	fifo_show(&r->queue);
}

static void add_sample(struct recorder *r, const struct pperf_sample *sample)
{
	if (!r->samples)
		r->start_ns = r->shown_ns = r->clocks_ns = r->split_ns = sample->start_ns;
	if (r->sink.kind == SINK_SPLIT && sample->start_ns - r->split_ns >= r->arguments->split_ns && put_continued(r))
		r->split_ns = sample->start_ns;
	r->samples++;
	rates_add(&r->rates, sample);

	recording_write_sample(&r->writer, sample);
	put_record(r);
	if (sample->end_ns - r->clocks_ns >= CLOCKS_NS) {
		r->clocks_ns = sample->end_ns;
		put_clocks(r);
	}

	show_now_and_then(r, sample->end_ns);
	if (!sample->last)
		return;
	r->restarts++;
	rates_read(&r->rates, r->gpu, true);
	r->state = r->state == PAUSING ? PAUSED : DONE;
	if (r->state == PAUSED)
		control_ack(&r->control);
}

/* Marks and frames wait in their socket while there is no room for them. */
static void add_marks(struct recorder *r)
{
	struct recording_frame frame;
	struct recording_mark mark;

	while (fifo_reader(&r->queue) == FIFO_READING && fifo_room(&r->queue, RECORDING_MARK_SIZE)) {
		switch (marks_next(&r->marks, &mark, &frame)) {
		case MARKS_NONE:
			return;
		case MARKS_MARK:
			recording_write_mark(&r->writer, &mark);
			if (r->arguments->on_mark && !strcmp(mark.name, r->arguments->on_mark))
				r->dump = true;
			break;
		case MARKS_FRAME:
			recording_write_frame(&r->writer, &frame);
			break;
		}
		put_record(r);
	}
}

/* If there are frames: who used the GPU, now and then or at the end. */
static void add_uses(struct recorder *r, bool last)
{
	struct recording_use use;

	if ((!r->arguments->frames && !r->marks.frames) || (!last && now_ns(CLOCK_MONOTONIC_RAW) - r->uses.looked_ns < USES_NS) ||
	    fifo_reader(&r->queue) != FIFO_READING || !fifo_room(&r->queue, RECORDING_MARK_SIZE))
		return;
	if (!uses_look(&r->uses, &use))
		return;
	recording_write_use(&r->writer, &use);
	put_record(r);
}

/* Waits until the writing thread has done something, or the user does not want to wait. */
static void wait_for_thread(struct recorder *r)
{
	struct pollfd fds[2] = {
		{ .fd = r->child.signals, .events = POLLIN },
		{ .fd = r->queue.eventfd, .events = POLLIN },
	};

	fifo_show(&r->queue);
	if (poll(fds, 2, -1) < 0 && errno != EINTR)
		r->hurry = true;
	if (fds[0].revents && child_event(&r->child) == CHILD_INTERRUPTED)
		r->hurry = true;
}

/* Jobs wait in the kernel's buffers while there is no room for them, but for the last ones. */
static void add_jobs(struct recorder *r, bool last)
{
	struct recording_jobs jobs;

	while (r->jobs && fifo_reader(&r->queue) == FIFO_READING && !r->hurry) {
		if (!fifo_room(&r->queue, RECORDING_JOBS_SIZE)) {
			if (!last)
				return;
			wait_for_thread(r);
			continue;
		}
		if (!job_recorder_next(r->jobs, last, &jobs))
			break;
		recording_write_jobs(&r->writer, &jobs);
		put_record(r);
	}
	/* Also while nothing is counted. */
	if (r->jobs)
		show_now_and_then(r, now_ns(CLOCK_MONOTONIC_RAW));
}

/* Reads what is in the ring, as long as there is room for it. */
static void drain(struct recorder *r)
{
	const struct pperf_sample *sample;
	enum pperf_error error;

	while (r->state != DONE) {
		if (fifo_reader(&r->queue) == FIFO_FAILED) {
			fail(r, RECORDING_FAILED, STATUS_IO);
			return;
		}

		/* For a sample, an end before it and clocks behind it. */
		if (!fifo_room(&r->queue, r->writer.longest + END_SIZE + RECORDING_CLOCKS_SIZE)) {
			r->waits += !r->waiting;
			r->waiting = true;
			fifo_show(&r->queue);
			return;
		}
		r->waiting = false;

		error = pperf_session_next(r->session, &sample);
		/* Of a GPU that has gone all was said. */
		if (r->state == GONE && (error == PPERF_ERROR_GONE || (!error && !sample))) {
			r->state = DONE;
			return;
		}
		if (error) {
			fail(r, error == PPERF_ERROR_GONE ? RECORDING_GPU_GONE : RECORDING_FAILED, complain_of(error));
			return;
		}
		if (!sample)
			break;
		add_sample(r, sample);
	}
	rates_read(&r->rates, r->gpu, false);
}

/* Request a dump after all samples so far: once there is room for them and the previous dump is written. */
static void put_dump(struct recorder *r)
{
	if (!r->dump || fifo_answers(&r->queue) < r->dumps)
		return;
	add_marks(r);
	drain(r);
	if (r->waiting || !fifo_room(&r->queue, END_SIZE) || !put_continued(r))
		return;
	r->dump = false;
	r->dumps++;
	fifo_show(&r->queue);
}

static void show_progress(struct recorder *r)
{
	const struct pperf_log *log = pperf_session_log(r->session);
	uint64_t now;
	char line[160];
	int n;

	if (r->terminal < 0)
		return;

	now = now_ns(CLOCK_MONOTONIC_RAW);
	if (now - r->progress_ns < PROGRESS_NS)
		return;
	r->progress_ns = now;
	n = snprintf(line, sizeof(line), "\r%.1f s, %" PRIu64 " samples, %" PRIu64 " flagged, %" PRIu64
		     " stretched ", r->samples ? (log->end_ns - r->start_ns) / 1e9 : 0.0, r->samples,
		     log->overflowed + log->failed, log->stretched);
	/* A terminal that takes nothing now misses this line. */
	if (write(r->terminal, line, n) < 0)
		return;
}

/* Asks for the last sample, behind which there is another state. */
static void stop_counting(struct recorder *r, enum state state)
{
	enum pperf_error error = pperf_session_stop(r->session, TAG_STOP + 2 * r->restarts);

	r->state = state;
	if (error)
		fail(r, error == PPERF_ERROR_GONE ? RECORDING_GPU_GONE : RECORDING_FAILED, complain_of(error));
	/* What came since the ring was read last is still in it. */
	if (error == PPERF_ERROR_GONE)
		r->state = GONE;
}

static void begin_to_stop(struct recorder *r, enum recording_reason reason)
{
	switch (r->state) {
	case COUNTING:
		r->reason = reason;
		stop_counting(r, STOPPING);
		break;
	case PAUSING:
		r->reason = reason;
		r->state = STOPPING;
		break;
	case PAUSED:
		r->reason = reason;
		r->state = DONE;
		if (!r->samples && r->begin_ns)
			complain("nothing was counted: the recording ended during the delay");
		else if (!r->samples && reason != RECORDING_FAILED)
			complain("nothing was counted: --control never enabled counting");
		break;
	default:
		break;
	}
}

static void start_counting(struct recorder *r)
{
	enum pperf_error error;

	rates_read(&r->rates, r->gpu, true);
	error = pperf_session_start(r->session, TAG_START + 2 * r->restarts);
	r->begin_ns = 0;
	r->state = COUNTING;
	/* As close to its first sample as it comes: they drift. */
	put_clocks(r);
	if (error)
		fail(r, error == PPERF_ERROR_GONE ? RECORDING_GPU_GONE : RECORDING_FAILED, complain_of(error));
}

static void ack_dump(struct recorder *r)
{
	if (!r->acked_dump || fifo_answers(&r->queue) < r->acked_dump)
		return;
	r->acked_dump = 0;
	control_ack(&r->control);
}

/* Does what who controls it wants, until that takes a while. */
static void obey(struct recorder *r)
{
	while ((r->state == PAUSED || r->state == COUNTING) && !r->acked_dump) {
		switch (control_next(&r->control)) {
		case CONTROL_NONE:
			return;
		case CONTROL_UNKNOWN:
			break;
		case CONTROL_ENABLE:
			if (r->state == PAUSED)
				start_counting(r);
			if (r->state == COUNTING)
				control_ack(&r->control);
			break;
		case CONTROL_DISABLE:
			r->begin_ns = 0;
			/* Acknowledged when its last sample was read. */
			if (r->state == COUNTING)
				stop_counting(r, PAUSING);
			else
				control_ack(&r->control);
			break;
		case CONTROL_PING:
			/* What came before it is in the recording. */
			add_marks(r);
			drain(r);
			control_ack(&r->control);
			break;
		case CONTROL_STOP:
			begin_to_stop(r, RECORDING_INTERRUPTED);
			control_ack(&r->control);
			break;
		case CONTROL_DUMP:
			if (r->sink.kind != SINK_LAST) {
				complain("--control: dump needs --last");
				break;
			}
			r->dump = true;
			r->acked_dump = r->dumps + 1;
			break;
		}
	}
}

/* How long to wait for anything: not beyond the end of the delay. */
static int wait_ms(const struct recorder *r, int timeout)
{
	uint64_t now;

	if (!r->begin_ns)
		return timeout;
	now = now_ns(CLOCK_MONOTONIC);
	if (now >= r->begin_ns)
		return 0;
	now = (r->begin_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return now < (uint64_t)timeout ? (int)now : timeout;
}

/* How long until a quarter of the ring is full, in milliseconds. */
static int ring_timeout(const struct recorder *r)
{
	uint64_t interval = pperf_session_period(r->session) * pperf_session_slots(r->session) / 4;

	return interval < NSEC_PER_MSEC ? 1 : interval > SHOW_NS ? SHOW_NS / NSEC_PER_MSEC : interval / NSEC_PER_MSEC;
}

static void handle_signal(struct recorder *r)
{
	switch (child_event(&r->child)) {
	case CHILD_NOTHING:
		break;
	case CHILD_REQUESTED:
		r->dump = true;
		break;
	case CHILD_ENDED:
		begin_to_stop(r, r->arguments->command ? RECORDING_COMMAND_ENDED : RECORDING_INTERRUPTED);
		break;
	case CHILD_INTERRUPTED:
		complain("interrupted while waiting for the last sample");
		fail(r, RECORDING_INTERRUPTED, STATUS_FAILED);
		r->hurry = true;
		break;
	}
}

/* Counts until the program or the user ends it. */
static void count(struct recorder *r)
{
	struct pollfd fds[5] = {
		{ .fd = r->child.signals, .events = POLLIN },
		{ .fd = r->queue.eventfd, .events = POLLIN },
		{ .events = POLLIN }, { .events = POLLIN }, { .events = POLLIN },
	};
	int timeout = ring_timeout(r);
	bool last_comes;

	if (r->jobs && timeout > JOB_RECORDER_MS)
		timeout = JOB_RECORDER_MS;
	while (r->state != DONE) {
		/*
		 * Samples are left to gather in the ring for a while; the last one is
		 * waited for, if there is room for it.
		 */
		last_comes = r->state == STOPPING || r->state == PAUSING;
		fds[2].fd = last_comes && !r->waiting ? pperf_session_fd(r->session) : -1;
		fds[3].fd = r->waiting ? -1 : marks_fd(&r->marks);
		fds[4].fd = last_comes || r->acked_dump ? -1 : r->control.fd;
		if (poll(fds, 5, wait_ms(r, timeout)) < 0 && errno != EINTR) {
			complain("cannot wait for events: %s", strerror(errno));
			fail(r, RECORDING_FAILED, STATUS_FAILED);
			return;
		}

		if (r->begin_ns && now_ns(CLOCK_MONOTONIC) >= r->begin_ns)
			start_counting(r);
		add_marks(r);
		add_uses(r, false);
		add_jobs(r, false);
		drain(r);
		ack_dump(r);
		obey(r);
		if (fds[0].revents)
			handle_signal(r);
		put_dump(r);
		show_progress(r);
	}
}

/* The end and the index may be larger than the queue: put them in pieces. */
static void put_end(struct recorder *r)
{
	const struct recording_end end = make_end(r, r->reason);
	size_t done, size;

	if (recording_write_end(&r->writer, &end))
		return;
	for (done = 0; done < r->writer.size; done += size) {
		size = r->writer.size - done;
		if (size > r->queue.size / 2)
			size = r->queue.size / 2;
		while (fifo_reader(&r->queue) == FIFO_READING && !fifo_room(&r->queue, size) && !r->hurry)
			wait_for_thread(r);
		if (r->hurry || fifo_reader(&r->queue) != FIFO_READING)
			return;
		fifo_put(&r->queue, r->writer.bytes + done, size);
	}
}

static void check_output(struct recorder *r)
{
	const struct sink *sink = &r->sink;

	if (sink->error)
		complain("%s: %s", sink->name, strerror(sink->error));
	else if (sink->trace_error)
		complain("%s: %s", sink->name, pperf_strerror(sink->trace_error));
	if (sink->error || sink->trace_error || sink->failed)
		r->status = STATUS_IO;
}

static void report_jobs(const struct recorder *r)
{
	const struct job_track_counts *counts;
	char jobs[32], lost[32];

	if (!r->jobs)
		return;
	counts = job_recorder_counts(r->jobs);
	fprintf(stderr, "%s job%s.\n", grouped(counts->jobs, jobs), counts->jobs == 1 ? "" : "s");
	if (counts->gaps)
		fprintf(stderr, "The kernel lost trace events %s time%s (%s that it counted): some jobs are missing, or parts of them. The "
			"report tells of which CPUs.\n", grouped(counts->gaps, jobs), counts->gaps == 1 ? "" : "s", grouped(counts->lost, lost));
	if (counts->no_memory)
		fputs("There was not enough memory for all jobs: some are missing.\n", stderr);
}

static void report_end(struct recorder *r)
{
	const struct pperf_log *log = pperf_session_log(r->session);
	const struct sink *sink = &r->sink;
	char text[PPERF_LOG_TEXT], files[64] = "";
	unsigned int i;

	if (r->terminal >= 0 && write(r->terminal, "\r\n", 2) < 0)
		r->terminal = -1;
	check_output(r);
	if (sink->files > 1)
		snprintf(files, sizeof(files), "%u files, the last of which is ", sink->files);

	fprintf(stderr, "panthor-perf: %" PRIu64 " samples, %" PRIu64 " flagged, %" PRIu64 " stretched, %" PRIu64
		" lost; %.6f s and %" PRIu64 " bytes in %s%s\n", r->samples, log->overflowed + log->failed,
		log->stretched, r->samples - sink->samples, r->samples ? (log->end_ns - r->start_ns) / 1e9 : 0.0,
		sink->bytes, files, sink->name);
	for (i = 0; pperf_log_text(log, i, text, sizeof(text)); i++)
		fprintf(stderr, "%s\n", text);
	if (r->marks.dropped)
		fprintf(stderr, "%s mark%s dropped: too many at a time, or invalid.\n", grouped(r->marks.dropped, text),
			r->marks.dropped == 1 ? " was" : "s were");
	if (r->arguments->frames && !r->marks.frames)
		fputs("The command had no frames: does it use EGL, GLX or Vulkan, and windows? For Vulkan without windows use "
		      "--frames=submit.\n", stderr);
	if (r->marks.short_frames)
		fprintf(stderr, "%s frame%s shorter than the period: use a shorter one (-p).\n", grouped(r->marks.short_frames, text),
			r->marks.short_frames == 1 ? " is" : "s are");
	if (r->marks.lost_frames)
		fprintf(stderr, "%s frame%s lost: the programs sent more than this one had time for.\n",
			grouped(r->marks.lost_frames, text), r->marks.lost_frames == 1 ? " was" : "s were");
	report_jobs(r);
	if (sink->short_ns)
		fprintf(stderr, "There was memory for only the last %.3f s. Use -m %.0f or more.\n", sink->short_ns / 1e9,
			1.1 * r->arguments->memory * r->arguments->last_ns / sink->short_ns);
	if (r->waits)
		fprintf(stderr, "Writing the file was too slow %s time%s: the kernel merged several periods into one sample. "
			"No counts are missing.\n", grouped(r->waits, text), r->waits == 1 ? "" : "s");
}

/* Lets the program end by itself, when recording has ended before it. */
static void wait_for_child(struct recorder *r)
{
	struct pollfd fd = { .fd = r->child.signals, .events = POLLIN };

	while (r->child.pid && !r->child.ended) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return;
		if (fd.revents)
			child_event(&r->child);
	}
}

/* Counts and writes, all being set up. */
static int run(struct recorder *r)
{
	int status, started;

	put_record(r);
	status = sink_start(&r->sink);
	if (status)
		return status;

	r->uses.gpu = pperf_gpu_info(r->gpu);
	add_uses(r, true);
	started = r->arguments->command ? child_start(&r->child, r->arguments->command) : STATUS_OK;
	if (started)
		begin_to_stop(r, RECORDING_FAILED);
	else if (r->arguments->delay_ns)
		r->begin_ns = now_ns(CLOCK_MONOTONIC) + r->arguments->delay_ns;
	/* For marks, too, that come before anything is counted. */
	put_clocks(r);
	count(r);
	add_marks(r);
	add_uses(r, true);
	add_jobs(r, true);
	put_end(r);
	fifo_end(&r->queue);
	while (fifo_reader(&r->queue) == FIFO_READING) {
		if (r->hurry) {
			complain("interrupted while writing %s: the end is missing", r->sink.name);
			/* The thread may wait for a disk or a reader for ever, and nothing of it is needed. */
			_exit(STATUS_IO);
		}
		wait_for_thread(r);
	}
	pthread_join(r->sink.thread, NULL);
	ack_dump(r);
	report_end(r);
	/* The command may go on. */
	job_recorder_close(r->jobs);
	r->jobs = NULL;
	if (!r->status)
		r->status = started;
	wait_for_child(r);
	return r->status ? r->status : child_status(&r->child);
}

/* Opens a terminal anew: it can then be written to without a wait, and programs that share it are not disturbed. */
static int open_terminal(const struct recorder *r)
{
	const char *name;

	/* What a program prints on the same terminal is not to be mixed with this. */
	if (!isatty(STDERR_FILENO) || (r->arguments->command && (r->child.no_output || isatty(STDOUT_FILENO))))
		return -1;
	name = ttyname(STDERR_FILENO);
	return name ? open(name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
}

static int record(struct recorder *r)
{
	const struct pperf_gpu_info *info = pperf_gpu_info(r->gpu);
	struct pperf_session_options session = { .size = sizeof(session) };
	struct utsname name = {};
	enum pperf_error error;
	int status, closed;
	sigset_t errors;

	uname(&name);
	r->head.tool = (char *)"panthor-perf " PANTHOR_PERF_VERSION;
	r->head.host = name.nodename;
	r->head.kernel = name.release;
	r->head.machine = name.machine;
	r->head.command = r->arguments->command;
	r->head.gpu = *info;
	if (r->arguments->jobs) {
		r->jobs = job_recorder_open(info->node);
		if (!r->jobs)
			complain("--jobs: %s. Recording without jobs", job_recorder_why(errno));
	}
	r->head.jobs = r->jobs;

	r->head.set = r->arguments->set;
	session.set = r->arguments->set;
	session.masks = r->head.masks;
	session.period_ns = r->arguments->period_ns;
	session.slots = ring_slots(info, r->arguments->memory);
	error = pperf_session_open(r->gpu, &session, &r->session);
	if (error) {
		status = complain_of(error);
		goto out_jobs;
	}
	r->head.period_ns = pperf_session_period(r->session);
	if (r->head.period_ns != r->arguments->period_ns)
		complain("using a period of %" PRIu64 " ns, the shortest possible", r->head.period_ns);

	status = STATUS_FAILED;
	if (recording_writer_open(&r->writer, &r->head)) {
		complain("out of memory");
		goto out_session;
	}
	/* Other sinks write an index of their own, or none. */
	if (r->sink.kind != SINK_FILE)
		r->writer.index_size = SIZE_MAX;
	if (fifo_open(&r->queue, queue_size(r->arguments->memory, r->writer.longest,
					    r->writer.size + RECORDING_CLOCKS_SIZE))) {
		complain("cannot create the sample queue: %s", strerror(errno));
		goto out_writer;
	}

	status = control_open(&r->control, r->arguments->control);
	if (status)
		goto out_queue;
	status = marks_open(&r->marks, r->arguments->socket, info->node);
	if (status)
		goto out_control;
	r->marks.period_ns = r->head.period_ns;

	/* Before signals are blocked: a FIFO is opened when somebody reads it, for which the user may not want to wait. */
	status = sink_open(&r->sink, &r->head);
	if (status)
		goto out_marks;

	status = child_prepare(&r->child);
	if (status)
		goto out_sink;

	/* A pipe that nobody reads any more, be it --control's, and a file as large as it may be, are errors of write(). */
	sigemptyset(&errors);
	sigaddset(&errors, SIGPIPE);
	sigaddset(&errors, SIGXFSZ);
	sigprocmask(SIG_BLOCK, &errors, NULL);

	if (!r->arguments->delay_ns && !r->arguments->delay_forever) {
		r->state = COUNTING;
		rates_read(&r->rates, r->gpu, true);
		error = pperf_session_start(r->session, TAG_START);
		if (error) {
			status = complain_of(error);
			goto out_child;
		}
	}

	r->terminal = open_terminal(r);
	status = run(r);
	if (r->terminal >= 0)
		close(r->terminal);

out_child:
	/* Drops those that came. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	child_finish(&r->child);
out_sink:
	closed = sink_close(&r->sink);
	if (!status)
		status = closed;
out_marks:
	uses_free(&r->uses);
	marks_close(&r->marks);
out_control:
	control_close(&r->control);
out_queue:
	fifo_close(&r->queue);
out_writer:
	recording_writer_close(&r->writer);
out_session:
	pperf_session_close(r->session);
out_jobs:
	job_recorder_close(r->jobs);
	return status;
}

#define FRAMES_LIBRARY "libpanthor-perf-frames.so"

/* Adds to a list in the environment, before what is there. */
static int add_to_list(const char *name, const char *first)
{
	const char *before = getenv(name);
	char *list;
	int ret;

	if (!before || !*before)
		return setenv(name, first, 1);
	if (asprintf(&list, "%s:%s", first, before) < 0)
		return -1;
	ret = setenv(name, list, 1);
	free(list);
	return ret;
}

/* The library that marks frames, to be freed: that beside the program, or the installed one. NULL if there is none. */
static char *find_frames_library(void)
{
	char own[PATH_MAX], *path = NULL, *slash;
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
	struct link_map *map;
	void *library;

	own[length > 0 ? length : 0] = 0;
	slash = strrchr(own, '/');
	if (slash && asprintf(&path, "%.*s/" FRAMES_LIBRARY, (int)(slash - own), own) < 0)
		return NULL;
	if (path && !access(path, R_OK))
		return path;
	free(path);
	path = NULL;
	library = dlopen(FRAMES_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
	if (library && !dlinfo(library, RTLD_DI_LINKMAP, &map))
		path = realpath(map->l_name, NULL);
	if (library)
		dlclose(library);
	return path;
}

/* Has the command mark its frames. Prints what is wrong. */
static bool mark_frames(const struct arguments *arguments)
{
	char *library = find_frames_library(), *slash = library ? strrchr(library, '/') : NULL;
	bool done;

	if (!slash) {
		complain("--frames: " FRAMES_LIBRARY " is not installed. Install the package panthor-perf-frames, or build it: see clients/frames/README");
		free(library);
		return false;
	}
	done = !setenv("PANTHOR_PERF_FRAMES", "1", 1) && !add_to_list("LD_PRELOAD", library);
	if (arguments->frames_of_submits)
		done = done && !setenv("PANTHOR_PERF_FRAMES_OF", "submit", 1);
	if (arguments->labels)
		done = done && !setenv("PANTHOR_PERF_FRAMES_LABELS", "1", 1);
	/* The loader of Vulkan looks there too, whether or not the layer's manifest is where it looks else. */
	*slash = 0;
	done = done && !add_to_list("VK_ADD_IMPLICIT_LAYER_PATH", library);
	free(library);
	if (!done)
		complain("out of memory");
	return done;
}

int command_record(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, "[--] [COMMAND [ARGUMENT...]]",
		"Records GPU counters while a command runs, or until Ctrl-C, to a file for report, convert and diff.\v"
		"The recording includes the work of all programs on the GPU. The exit status is the command's.",
		children, NULL, NULL
	};
	struct arguments arguments = { .period_ns = DEFAULT_PERIOD_NS, .memory = DEFAULT_MEMORY };
	struct recorder r = { .arguments = &arguments, .terminal = -1 };
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
	if (arguments.frames && !arguments.has_period)
		arguments.period_ns = FRAMES_PERIOD_NS;
	if (arguments.frames && !mark_frames(&arguments))
		return STATUS_NOT_FOUND;
	r.sink = (struct sink){
		.kind = arguments.kind,
		.path = arguments.output ? arguments.output : arguments.kind == SINK_TRACE ? DEFAULT_TRACE : RECORDING_DEFAULT,
		.queue = &r.queue, .compression = arguments.compression, .keep = arguments.keep, .last_ns = arguments.last_ns,
		.memory_size = (size_t)arguments.memory << 10,
	};
	if (is_standard(r.sink.path)) {
		r.sink.path = NULL;
		r.child.no_output = true;
	}
	if (arguments.kind == SINK_LAST)
		r.child.request = SIGUSR2;

	status = open_gpu(arguments.device, arguments.set, &r.gpu, &r.db);
	if (status)
		return status;

	status = choose(&r);
	if (!status)
		status = record(&r);

	pperf_selection_free(r.selection);
	pperf_db_close(r.db);
	pperf_gpu_close(r.gpu);
	free(arguments.events);
	return status;
}
