// SPDX-License-Identifier: MIT
/*
 * Each queue has a track of the jobs that firmware has, and one of those that are queued, in the track "GPU jobs". The
 * thread that queued a job has a moment, from which a flow leads to the job.
 * Slices of a track must not overlap, which those of jobs do: they are on several tracks of the same name, which Perfetto
 * shows as one. If more of a queue overlap than there may be tracks, the rest have moments.
 * Times of which not all is known are slices of a track of their own.
 */
#define _GNU_SOURCE
#include "job-slices.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "job-times.h"

/* The id of the first track, and that of the first flow: numbers that nobody else is likely to have, changed by a time. */
#define TRACKS_UUID 0x50504a4f42545253ull
#define FLOWS_ID 0x50504a4f42464c57ull

#define MAX_LANES 256

/* Tracks of one name, and where the last slice of each ends. */
struct lanes {
	struct lane {
		uint64_t uuid, end_ns;
	} *list;
	size_t count;
};

struct queue {
	/* What it is called: with a number, if its process has others of the same name. */
	struct recording_queue record;
	uint32_t same;
	bool known;

	struct lanes queued, running;
	uint64_t jobs;
};

/* A process, which has thread 0, or a thread. */
struct thread {
	uint32_t pid, tid;
	uint64_t uuid;
};

struct job_slices {
	const struct events *events;

	/* By the recorder's number. */
	struct queue *queues;
	size_t num_queues;

	struct lanes gaps;

	/* A tree. */
	void *threads;

	/* The track of all queues, and the ids that are free: 0 as long as there is none. */
	uint64_t all, next_uuid, next_flow;
};

enum pperf_error job_slices_new(const struct events *events, struct job_slices **slices)
{
	struct job_slices *t = calloc(1, sizeof(*t));

	if (!t)
		return PPERF_ERROR_NO_MEMORY;
	t->events = events;
	*slices = t;
	return PPERF_OK;
}

void job_slices_free(struct job_slices *t)
{
	size_t i;

	if (!t)
		return;
	for (i = 0; i < t->num_queues; i++) {
		free(t->queues[i].queued.list);
		free(t->queues[i].running.list);
	}
	free(t->queues);
	free(t->gaps.list);
	tdestroy(t->threads, free);
	free(t);
}

/* ---- Tracks ---- */

static enum pperf_error begin(struct job_slices *t, uint64_t time_ns)
{
	Pftrace__TrackDescriptor track = PFTRACE__TRACK_DESCRIPTOR__INIT;

	t->next_uuid = TRACKS_UUID ^ time_ns;
	t->next_flow = FLOWS_ID ^ time_ns;
	t->all = t->next_uuid++;
	track.name = (char *)"GPU jobs";
	return events_describe(t->events, t->all, &track);
}

static bool same_name(const struct queue *q, const struct recording_queue *queue)
{
	return q->known && q->record.pid == queue->pid && !strcmp(q->record.process, queue->process) && !strcmp(q->record.name, queue->name);
}

static struct queue *find_queue(struct job_slices *t, const struct recording_queue *queue)
{
	size_t count = 2 * (size_t)queue->id + 1, n;
	struct queue *more, *q;

	if (queue->id >= t->num_queues) {
		more = reallocarray(t->queues, count, sizeof(*more));
		if (!more)
			return NULL;
		memset(more + t->num_queues, 0, (count - t->num_queues) * sizeof(*more));
		t->queues = more;
		t->num_queues = count;
	}
	q = &t->queues[queue->id];
	if (q->known)
		return q;
	for (n = 0; n < t->num_queues; n++)
		q->same += same_name(&t->queues[n], queue);
	q->record = *queue;
	q->known = true;
	return q;
}

/* For people. */
static void print_queue(const struct queue *q, const char *suffix, char *name, size_t size)
{
	char pid[32] = "", number[32] = "";

	if (q->record.pid)
		snprintf(pid, sizeof(pid), " (PID %" PRIu32 ")", q->record.pid);
	if (q->same)
		snprintf(number, sizeof(number), " (%" PRIu32 ")", q->same + 1);
	snprintf(name, size, "%s%s: %s%s%s", *q->record.process ? q->record.process : "unknown process", pid, q->record.name, number, suffix);
}

/*
 * Finds or makes a track that is free from a time on, and takes it until another: of a queue or, without one, of gaps. 0 if there
 * may be no more.
 */
static enum pperf_error take_lane(struct job_slices *t, const struct queue *q, struct lanes *lanes, uint64_t start_ns, uint64_t end_ns,
				  uint64_t *uuid)
{
	char name[RECORDING_PROCESS_NAME + RECORDING_QUEUE_NAME + 100] = "Jobs may be missing";
	Pftrace__TrackDescriptor track = PFTRACE__TRACK_DESCRIPTOR__INIT;
	struct lane *more;
	size_t n;

	for (n = 0; n < lanes->count && lanes->list[n].end_ns > start_ns; n++)
		;
	if (n < lanes->count) {
		lanes->list[n].end_ns = end_ns;
		*uuid = lanes->list[n].uuid;
		return PPERF_OK;
	}
	*uuid = 0;
	if (n == MAX_LANES)
		return PPERF_OK;
	more = reallocarray(lanes->list, n + 1, sizeof(*more));
	if (!more)
		return PPERF_ERROR_NO_MEMORY;
	lanes->list = more;
	*uuid = t->next_uuid++;
	more[lanes->count++] = (struct lane){ *uuid, end_ns };
	if (q)
		print_queue(q, lanes == &q->queued ? ", queued" : "", name, sizeof(name));
	track.name = name;
	track.has_parent_uuid = true;
	track.parent_uuid = t->all;
	return events_describe(t->events, *uuid, &track);
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

/* The track of a process, whose thread is 0, or of a thread, which is made if there is none. */
static enum pperf_error find_thread(struct job_slices *t, const struct recording_queue *queue, uint32_t tid, uint64_t *uuid)
{
	Pftrace__TrackDescriptor track = PFTRACE__TRACK_DESCRIPTOR__INIT;
	Pftrace__ProcessDescriptor process = PFTRACE__PROCESS_DESCRIPTOR__INIT;
	Pftrace__ThreadDescriptor thread = PFTRACE__THREAD_DESCRIPTOR__INIT;
	struct thread wanted = { .pid = queue->pid, .tid = tid }, **found = tfind(&wanted, &t->threads, compare_threads), *new;
	enum pperf_error error = PPERF_OK;

	if (found) {
		*uuid = (*found)->uuid;
		return PPERF_OK;
	}
	/* So that it has its name. */
	if (tid)
		error = find_thread(t, queue, 0, uuid);
	if (error)
		return error;
	new = malloc(sizeof(*new));
	if (!new)
		return PPERF_ERROR_NO_MEMORY;
	*uuid = t->next_uuid++;
	*new = (struct thread){ queue->pid, tid, *uuid };
	if (!tsearch(new, &t->threads, compare_threads)) {
		free(new);
		return PPERF_ERROR_NO_MEMORY;
	}
	if (tid) {
		thread.has_pid = thread.has_tid = true;
		thread.pid = queue->pid;
		thread.tid = tid;
		track.thread = &thread;
	} else {
		process.has_pid = true;
		process.pid = queue->pid;
		process.process_name = (char *)queue->process;
		track.process = &process;
	}
	return events_describe(t->events, *uuid, &track);
}

/* ---- Slices ---- */

/* With a note of this name, unless its text is NULL. */
static enum pperf_error write_slice(const struct job_slices *t, uint64_t track, uint64_t start_ns, uint64_t end_ns,
				    Pftrace__TrackEvent *event, const char *name, const char *text)
{
	Pftrace__TrackEvent end = PFTRACE__TRACK_EVENT__INIT;
	Pftrace__DebugAnnotation note = PFTRACE__DEBUG_ANNOTATION__INIT, *notes = &note;
	enum pperf_error error;

	if (text) {
		note.name = (char *)name;
		note.string_value = (char *)text;
		event->n_debug_annotations = 1;
		event->debug_annotations = &notes;
	}
	error = events_write(t->events, track, start_ns, SLICE_BEGIN, event);
	return error ? error : events_write(t->events, track, end_ns, SLICE_END, &end);
}

/* The moment in which a thread queued a job, where a flow begins. */
static enum pperf_error add_submit(struct job_slices *t, const struct recording_queue *queue, const struct recording_job *job,
				   uint64_t number, uint64_t flow)
{
	Pftrace__TrackEvent event = PFTRACE__TRACK_EVENT__INIT;
	char name[RECORDING_QUEUE_NAME + 64];
	enum pperf_error error;
	uint64_t track;

	error = find_thread(t, queue, job->thread, &track);
	if (error)
		return error;
	snprintf(name, sizeof(name), "Submit job %" PRIu64 " to %s", number, queue->name);
	event.name = name;
	event.n_flow_ids = 1;
	event.flow_ids = &flow;
	return events_write(t->events, track, job->queued_ns, INSTANT, &event);
}

/* What it waited for before it was given to firmware. */
static enum pperf_error add_queued(struct job_slices *t, struct queue *q, const struct recording_jobs *jobs,
				   const struct recording_job *job)
{
	const struct recording_queue *fence = job->waited_for ? &jobs->queues[job->waited_for - 1] : NULL;
	Pftrace__TrackEvent waiting = PFTRACE__TRACK_EVENT__INIT, ready = waiting;
	char of[RECORDING_PROCESS_NAME + RECORDING_QUEUE_NAME + 8];
	enum pperf_error error;
	uint64_t track;

	if (job->queued_ns == job->run_ns)
		return PPERF_OK;
	error = take_lane(t, q, &q->queued, job->queued_ns, job->run_ns, &track);
	if (error || !track)
		return error;
	if (job->queued_ns < job->ready_ns) {
		if (fence)
			snprintf(of, sizeof(of), "%s: %s", fence->process, fence->name);
		waiting.name = (char *)job_states[JOBS_WAITING][1];
		error = write_slice(t, track, job->queued_ns, job->ready_ns, &waiting, "fence", fence ? of : NULL);
	}
	if (!error && job->ready_ns < job->run_ns) {
		ready.name = (char *)job_states[JOBS_READY][1];
		error = write_slice(t, track, job->ready_ns, job->run_ns, &ready, NULL, NULL);
	}
	return error;
}

/* From where it was given to firmware to its end; a moment, if it was not, or it is not known when. */
static enum pperf_error add_run(struct job_slices *t, struct queue *q, const struct recording_job *job, uint64_t flow)
{
	Pftrace__TrackEvent event = PFTRACE__TRACK_EVENT__INIT;
	const char *outcome = pperf_records_outcomes[job->outcome];
	enum pperf_error error;
	uint64_t track;
	char name[64];
	bool moment;

	error = take_lane(t, q, &q->running, job->run_ns, job->end_ns, &track);
	if (error)
		return error;
	moment = job->no_run || !track;
	if (!track)
		track = q->running.list[0].uuid;
	snprintf(name, sizeof(name), "Job %" PRIu64 "%s%s", q->jobs, job->no_run ? " " : "", job->no_run ? outcome : "");
	event.name = name;
	event.n_terminating_flow_ids = flow ? 1 : 0;
	event.terminating_flow_ids = &flow;
	if (moment)
		return events_write(t->events, track, job->end_ns, INSTANT, &event);
	return write_slice(t, track, job->run_ns, job->end_ns, &event, "outcome", job->outcome == JOB_DONE ? NULL : outcome);
}

static enum pperf_error add_job(struct job_slices *t, const struct recording_jobs *jobs, const struct recording_job *job)
{
	const struct recording_queue *queue = &jobs->queues[job->queue];
	bool submitted = !job->no_queued && job->thread && queue->pid;
	struct queue *q = find_queue(t, queue);
	enum pperf_error error = PPERF_OK;
	uint64_t flow = 0;

	if (!q)
		return PPERF_ERROR_NO_MEMORY;
	q->jobs++;
	if (submitted) {
		flow = t->next_flow++;
		error = add_submit(t, queue, job, q->jobs, flow);
	}
	if (!error)
		error = add_queued(t, q, jobs, job);
	return error ? error : add_run(t, q, job, flow);
}

static enum pperf_error add_gap(struct job_slices *t, const struct recording_gap *gap)
{
	Pftrace__TrackEvent event = PFTRACE__TRACK_EVENT__INIT;
	enum pperf_error error;
	uint64_t track;
	char name[80];

	error = take_lane(t, NULL, &t->gaps, gap->start_ns, gap->end_ns, &track);
	if (error || !track)
		return error;
	if (gap->cpu == RECORDING_NO_CPU)
		strcpy(name, "A job may have been there unseen");
	else if (gap->lost)
		snprintf(name, sizeof(name), "CPU %" PRIu32 " lost %" PRIu64 " events", gap->cpu, gap->lost);
	else
		snprintf(name, sizeof(name), "CPU %" PRIu32 " lost events", gap->cpu);
	event.name = name;
	return write_slice(t, track, gap->start_ns, gap->end_ns, &event, NULL, NULL);
}

enum pperf_error job_slices_add(struct job_slices *t, const struct recording_record *record)
{
	enum pperf_error error = PPERF_OK;
	struct recording_jobs jobs;
	size_t i;

	/* It was read before: memory is all that can be missing. */
	if (pperf_records_get_jobs(record, &jobs) != RECORDING_JOBS)
		error = PPERF_ERROR_NO_MEMORY;
	if (!error && (jobs.count || jobs.num_gaps) && !t->all)
		error = begin(t, jobs.start_ns);
	for (i = 0; i < jobs.num_gaps && !error; i++)
		error = add_gap(t, &jobs.gaps[i]);
	for (i = 0; i < jobs.count && !error; i++)
		error = add_job(t, &jobs, &jobs.list[i]);
	pperf_records_free_jobs(&jobs);
	return error;
}
