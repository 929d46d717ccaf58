// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "job-recorder.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "text.h"

/* Threads whose processes are known, by their numbers. */
#define THREADS 64

/* Processes of which is known whether they have gone. */
#define PROCESSES 64

struct thread {
	uint32_t thread, process;
	char name[RECORDING_PROCESS_NAME + 1];
};

struct process {
	uint32_t pid;
	bool gone;
};

struct job_recorder {
	struct job_events *events;
	struct job_track *track;
	uint64_t looked_ns, forgot_ns;
	bool ended;
	struct thread threads[THREADS];
	struct process processes[PROCESSES];
};

/* The value of a field of /proc/PID/status, where a newline ends it. Returns false without one. */
static bool read_status(uint32_t pid, const char *field, char *value, size_t size)
{
	char path[32], line[128];
	size_t length = strlen(field);
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = !strncmp(line, field, length) && line[length] == ':';
		if (found)
			snprintf(value, size, "%.*s", (int)strcspn(line + length + 1, "\n") - 1, line + length + 2);
	}
	if (file)
		fclose(file);
	return found;
}

static void find_thread(struct job_recorder *r, uint32_t thread, struct thread *t)
{
	char tgid[16];

	*t = (struct thread){ .thread = thread, .process = thread };
	if (read_status(thread, "Tgid", tgid, sizeof(tgid)))
		t->process = strtoul(tgid, NULL, 10);
	/* A thread that has ended was of a process of one, as far as can be known. */
	if (!read_status(t->process, "Name", t->name, sizeof(t->name)))
		snprintf(t->name, sizeof(t->name), "%s", job_events_thread_name(r->events, thread));
	pperf_text_clean(t->name);
}

static uint32_t find_process(void *context, uint32_t thread, char *name, size_t size)
{
	struct job_recorder *r = context;
	struct thread *t = &r->threads[thread % THREADS];

	if (t->thread != thread)
		find_thread(r, thread, t);
	snprintf(name, size, "%s", t->name);
	return t->process;
}

/* A process whose first thread has ended may have others. */
static bool is_gone(uint32_t pid)
{
	char state[16], threads[16];

	if (kill(pid, 0))
		return errno == ESRCH;
	return read_status(pid, "State", state, sizeof(state)) && read_status(pid, "Threads", threads, sizeof(threads)) &&
	       (*state == 'Z' || *state == 'X') && atoi(threads) <= 1;
}

/* One may have many queues. */
static bool has_gone(void *context, uint32_t pid)
{
	struct job_recorder *r = context;
	struct process *p = &r->processes[pid % PROCESSES];

	if (p->pid != pid)
		*p = (struct process){ pid, is_gone(pid) };
	return p->gone;
}

struct job_recorder *job_recorder_open(const char *node)
{
	struct job_recorder *r = calloc(1, sizeof(*r));
	const struct job_track_processes processes = { find_process, has_gone, r };
	int error;

	if (!r)
		return NULL;
	r->events = job_events_open(node);
	if (r->events)
		r->track = job_track_new(job_events_start(r->events), job_events_have_contexts(r->events), &processes);
	if (r->track)
		return r;
	error = errno;
	job_recorder_close(r);
	errno = error;
	return NULL;
}

const char *job_recorder_why(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return geteuid() ? "this user may not read trace events: try as root" : "the kernel does not allow trace events here";
	case ENOENT:
	case ENODEV:
		return "the kernel has no trace events of its GPU scheduler";
	default:
		return strerror(error);
	}
}

static bool is_due(const struct job_recorder *r, uint64_t now_ns)
{
	return now_ns - r->looked_ns >= JOB_RECORDER_MS * 1000000ull;
}

static void look(struct job_recorder *r, bool last, uint64_t now_ns)
{
	const struct job_event *list;
	uint64_t until_ns;
	size_t count;

	r->looked_ns = now_ns;
	until_ns = job_events_read(r->events, last, &list, &count);
	/* Numbers may be those of others by now. */
	memset(r->threads, 0, sizeof(r->threads));
	memset(r->processes, 0, sizeof(r->processes));
	job_track_take(r->track, list, count, until_ns);
}

struct job_track *job_recorder_look(struct job_recorder *r, bool now)
{
	uint64_t time_ns = now_ns(CLOCK_MONOTONIC_RAW);

	if (!now && !is_due(r, time_ns))
		return NULL;
	look(r, false, time_ns);
	return r->track;
}

bool job_recorder_next(struct job_recorder *r, bool last, struct recording_jobs *record)
{
	uint64_t time_ns = now_ns(CLOCK_MONOTONIC_RAW);

	if (job_track_record(r->track, record))
		return true;
	if (r->ended || (!last && !is_due(r, time_ns)))
		return false;
	if (time_ns - r->forgot_ns >= 1000000000) {
		job_track_forget(r->track);
		r->forgot_ns = time_ns;
	}
	look(r, last, time_ns);
	if (last) {
		job_track_end(r->track);
		r->ended = true;
	}
	return job_track_record(r->track, record);
}

const struct job_track_counts *job_recorder_counts(const struct job_recorder *r)
{
	return job_track_counts(r->track);
}

void job_recorder_close(struct job_recorder *r)
{
	if (!r)
		return;
	job_events_close(r->events);
	job_track_free(r->track);
	free(r);
}
