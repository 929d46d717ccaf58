// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "job-events.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <event-parse.h>
#include <kbuffer.h>
#include <tracefs.h>

#include "common.h"

/* Names of instances, but for the PID. */
#define INSTANCE "panthor-perf-"

/* For each CPU: what some ten thousand jobs take. */
#define BUFFER_KIB 4096

/* An event may be written a little later than its time says. */
#define SETTLED_NS 1000000

enum {
	FIELD_RING, FIELD_DEVICE, FIELD_ENTITY, FIELD_ID, FIELD_CONTEXT, FIELD_NUMBER, FIELD_FENCE, FIELD_OTHER_CONTEXT,
	FIELD_OTHER_NUMBER, FIELD_DRIVER, FIELD_TIMELINE, FIELDS
};

/* Events since Linux 6.16, whose names are stable, then those before it. A field that is not named is not there. */
static const struct description {
	const char *system, *name;
	enum job_event_kind kind;
	const char *fields[FIELDS];
} new_events[] = {
	{ "gpu_scheduler", "drm_sched_job_queue", JOB_EVENT_QUEUED,
	  { [FIELD_RING] = "name", [FIELD_DEVICE] = "dev", [FIELD_CONTEXT] = "fence_context", [FIELD_NUMBER] = "fence_seqno" } },
	{ "gpu_scheduler", "drm_sched_job_unschedulable", JOB_EVENT_BLOCKED,
	  { [FIELD_CONTEXT] = "fence_context", [FIELD_NUMBER] = "fence_seqno", [FIELD_OTHER_CONTEXT] = "ctx",
	    [FIELD_OTHER_NUMBER] = "seqno" } },
	{ "gpu_scheduler", "drm_sched_job_run", JOB_EVENT_RUN,
	  { [FIELD_RING] = "name", [FIELD_DEVICE] = "dev", [FIELD_CONTEXT] = "fence_context", [FIELD_NUMBER] = "fence_seqno" } },
	{ "gpu_scheduler", "drm_sched_job_done", JOB_EVENT_DONE,
	  { [FIELD_CONTEXT] = "fence_context", [FIELD_NUMBER] = "fence_seqno" } },
	{ "dma_fence", "dma_fence_signaled", JOB_EVENT_SIGNALED,
	  { [FIELD_DRIVER] = "driver", [FIELD_TIMELINE] = "timeline", [FIELD_CONTEXT] = "context", [FIELD_NUMBER] = "seqno" } },
}, old_events[] = {
	{ "gpu_scheduler", "drm_sched_job", JOB_EVENT_QUEUED,
	  { [FIELD_RING] = "name", [FIELD_ENTITY] = "entity", [FIELD_ID] = "id", [FIELD_FENCE] = "fence" } },
	{ "gpu_scheduler", "drm_sched_job_wait_dep", JOB_EVENT_BLOCKED,
	  { [FIELD_RING] = "name", [FIELD_ID] = "id", [FIELD_FENCE] = "fence", [FIELD_OTHER_CONTEXT] = "ctx",
	    [FIELD_OTHER_NUMBER] = "seqno" } },
	{ "gpu_scheduler", "drm_run_job", JOB_EVENT_RUN,
	  { [FIELD_RING] = "name", [FIELD_ENTITY] = "entity", [FIELD_ID] = "id", [FIELD_FENCE] = "fence" } },
	{ "gpu_scheduler", "drm_sched_process_job", JOB_EVENT_DONE, { [FIELD_FENCE] = "fence" } },
	{ "dma_fence", "dma_fence_signaled", JOB_EVENT_SIGNALED,
	  { [FIELD_DRIVER] = "driver", [FIELD_TIMELINE] = "timeline", [FIELD_CONTEXT] = "context", [FIELD_NUMBER] = "seqno" } },
};

#define EVENTS (sizeof(new_events) / sizeof(new_events[0]))

/* The fences of jobs, of which the other events tell. */
#define OTHER_FENCES "driver != \"drm_sched\" && driver != \"panthor\""

/* Where fields are in an event: a size of 0 if they are not. The first two are the same of all events. */
struct field {
	unsigned int offset, size;
};

struct format {
	int id;
	struct field type, pid, fields[FIELDS];
};

struct cpu {
	struct tracefs_cpu *trace;

	/* Up to when all was read, and whether there was no memory for the latest event. */
	uint64_t time_ns;
	bool no_memory;
};

struct job_events {
	struct tracefs_instance *instance;
	struct tep_handle *tep;
	struct kbuffer *buffer;
	void *page;
	struct cpu *cpus;
	unsigned int num_cpus;

	const struct description *descriptions;
	struct format formats[EVENTS];

	/* Removes the instance when this program has ended in whatever way. */
	pid_t guard;

	/* Name of the GPU's device. */
	char device[64];
	uint64_t start_ns;

	/* What was read. The first are those that the last call has returned. */
	struct job_event *list;
	size_t count, room, returned;
	uint64_t order;
};

/* ---- Setting up ---- */

static struct field place(struct tep_event *event, const char *name)
{
	struct tep_format_field *field = name ? tep_find_any_field(event, name) : NULL;

	return field ? (struct field){ field->offset, field->size } : (struct field){};
}

/* Finds out what an event has. Returns -1, errno being set. */
static int find_format(struct job_events *e, size_t n)
{
	const struct description *d = &e->descriptions[n];
	struct format *format = &e->formats[n];
	struct tep_event *event;
	char path[128], *text;
	int i, size;

	snprintf(path, sizeof(path), "events/%s/%s/format", d->system, d->name);
	text = tracefs_instance_file_read(e->instance, path, &size);
	if (text && !tep_parse_event(e->tep, text, size, d->system) &&
	    (event = tep_find_event_by_name(e->tep, d->system, d->name))) {
		format->id = event->id;
		format->type = place(event, "common_type");
		format->pid = place(event, "common_pid");
		for (i = 0; i < FIELDS; i++)
			format->fields[i] = place(event, d->fields[i]);
	}
	free(text);
	errno = ENOENT;
	for (i = 0; i < FIELDS; i++)
		if (d->fields[i] && !format->fields[i].size)
			return -1;
	return format->type.size && format->pid.size ? 0 : -1;
}

static int find_formats(struct job_events *e)
{
	char path[64];
	size_t n;

	e->tep = tep_alloc();
	if (!e->tep) {
		errno = ENOMEM;
		return -1;
	}
	snprintf(path, sizeof(path), "events/gpu_scheduler/%s", new_events[0].name);
	e->descriptions = tracefs_dir_exists(e->instance, path) ? new_events : old_events;
	for (n = 0; n < EVENTS; n++)
		if (find_format(e, n))
			return -1;
	return 0;
}

/* A process that waits for the end of this one. It has no descriptors, for whose end others may wait. */
static pid_t start_guard(const char *name)
{
	char path[PATH_MAX];
	pid_t parent = getpid(), guard = fork();
	struct pollfd fd = { .events = POLLIN };
	sigset_t all;

	if (guard)
		return guard;
	/* Signals for this program, its terminal or its group are not for it. */
	setsid();
	prctl(PR_SET_NAME, "trace-cleanup");
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	close_range(0, UINT_MAX, 0);
	if (chdir("/"))
		_exit(1);
	fd.fd = pidfd_open(parent, 0);
	/* Where that is not allowed, look now and then. */
	while (getppid() == parent && poll(&fd, 1, fd.fd < 0 ? 1000 : -1) <= 0)
		;
	snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(), name);
	rmdir(path);
	_exit(0);
}

/* The command must not have its descriptor, which would keep the instance. */
static struct tracefs_cpu *open_cpu(struct tracefs_instance *instance, size_t n)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "per_cpu/cpu%zu/trace_pipe_raw", n);
	fd = tracefs_instance_file_open(instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? NULL : tracefs_cpu_alloc_fd(fd, sysconf(_SC_PAGESIZE), true);
}

/* Removes what recorders have left that were killed together with their guards. */
static void remove_left(void)
{
	char **names = tracefs_instances("^" INSTANCE "[0-9]*$"), path[PATH_MAX];
	pid_t pid;
	int i;

	for (i = 0; names && names[i]; i++) {
		pid = atoi(names[i] + strlen(INSTANCE));
		if (pid != getpid() && (!kill(pid, 0) || errno != ESRCH))
			continue;
		snprintf(path, sizeof(path), "%s/instances/%s", tracefs_tracing_dir(), names[i]);
		rmdir(path);
	}
	tracefs_list_free(names);
}

static int start_tracing(struct job_events *e)
{
	char path[128];
	size_t n;

	if (tracefs_instance_file_write(e->instance, "trace_clock", "mono_raw") < 0 ||
	    tracefs_instance_set_buffer_size(e->instance, BUFFER_KIB, -1) < 0)
		return -1;
	for (n = 0; n < e->num_cpus; n++) {
		e->cpus[n].trace = open_cpu(e->instance, n);
		if (!e->cpus[n].trace)
			return -1;
	}
	e->page = malloc(tracefs_cpu_read_size(e->cpus[0].trace));
	e->buffer = kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
	if (!e->page || !e->buffer) {
		errno = ENOMEM;
		return -1;
	}
	/* All events from one time on: of a job whose end is not seen nothing tells that it has one. */
	if (tracefs_trace_off(e->instance))
		return -1;
	for (n = 0; n < EVENTS; n++) {
		const struct description *d = &e->descriptions[n];

		if (d->kind == JOB_EVENT_SIGNALED) {
			snprintf(path, sizeof(path), "events/%s/%s/filter", d->system, d->name);
			if (tracefs_instance_file_write(e->instance, path, OTHER_FENCES) < 0)
				return -1;
		}
		if (tracefs_event_enable(e->instance, d->system, d->name))
			return -1;
	}
	if (tracefs_trace_on(e->instance))
		return -1;
	e->start_ns = now_ns(CLOCK_MONOTONIC_RAW);
	for (n = 0; n < e->num_cpus; n++)
		e->cpus[n].time_ns = e->start_ns;
	return 0;
}

static void find_device(struct job_events *e, const char *node)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct stat file;
	ssize_t length;

	if (stat(node, &file))
		return;
	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/device", major(file.st_rdev), minor(file.st_rdev));
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = 0;
	snprintf(e->device, sizeof(e->device), "%s", basename(target));
}

struct job_events *job_events_open(const char *node)
{
	struct job_events *e = calloc(1, sizeof(*e));
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char name[32];
	int saved;

	if (!e)
		return NULL;
	e->num_cpus = cpus > 0 ? cpus : 1;
	e->cpus = calloc(e->num_cpus, sizeof(*e->cpus));
	if (!e->cpus)
		goto err;
	find_device(e, node);
	if (!*e->device) {
		errno = ENODEV;
		goto err;
	}
	/* Mounts it if it is not, and who asks may. */
	errno = 0;
	if (!tracefs_tracing_dir()) {
		errno = errno ? errno : EACCES;
		goto err;
	}
	remove_left();
	snprintf(name, sizeof(name), INSTANCE "%d", (int)getpid());
	e->guard = start_guard(name);
	if (e->guard < 0)
		goto err;
	e->instance = tracefs_instance_create(name);
	if (e->instance && !tracefs_instance_is_new(e->instance))
		errno = EBUSY;
	else if (e->instance && !find_formats(e) && !start_tracing(e))
		return e;
err:
	saved = errno;
	job_events_close(e);
	errno = saved ? saved : EIO;
	return NULL;
}

void job_events_close(struct job_events *e)
{
	unsigned int n;

	if (!e)
		return;
	for (n = 0; e->cpus && n < e->num_cpus; n++)
		if (e->cpus[n].trace)
			tracefs_cpu_close(e->cpus[n].trace);
	/* It stays where another program reads it, until a recorder finds it. */
	if (e->instance)
		tracefs_trace_off(e->instance);
	if (e->instance && tracefs_instance_destroy(e->instance))
		complain("cannot remove the trace instance %s: %s", tracefs_instance_get_name(e->instance), strerror(errno));
	tracefs_instance_free(e->instance);
	if (e->guard > 0) {
		kill(e->guard, SIGKILL);
		waitpid(e->guard, NULL, 0);
	}
	if (e->buffer)
		kbuffer_free(e->buffer);
	tep_free(e->tep);
	free(e->page);
	free(e->cpus);
	free(e->list);
	free(e);
}

/* ---- Reading ---- */

static uint64_t get_number(const struct field *field, const void *data)
{
	uint64_t number;
	uint32_t half;
	uint16_t quarter;

	switch (field->size) {
	case 8:
		memcpy(&number, (const char *)data + field->offset, 8);
		return number;
	case 4:
		memcpy(&half, (const char *)data + field->offset, 4);
		return half;
	case 2:
		memcpy(&quarter, (const char *)data + field->offset, 2);
		return quarter;
	default:
		return 0;
	}
}

/* A text, whose place and length are in its field. It may be cut. */
static void get_text(const struct field *field, const void *data, size_t data_size, char *to, size_t size)
{
	uint32_t place = get_number(field, data);
	size_t offset = place & 0xffff, length = place >> 16;

	*to = 0;
	if (offset + length > data_size || !length)
		return;
	if (length > size)
		length = size;
	memcpy(to, (const char *)data + offset, length);
	to[length - 1] = 0;
}

static struct job_event *add_event(struct job_events *e, unsigned int cpu, uint64_t time_ns)
{
	struct job_event *more;

	if (e->count == e->room) {
		more = reallocarray(e->list, 2 * e->room + 256, sizeof(*more));
		if (!more)
			return NULL;
		e->list = more;
		e->room = 2 * e->room + 256;
	}
	more = &e->list[e->count++];
	memset(more, 0, sizeof(*more));
	more->time_ns = time_ns;
	more->order = e->order++;
	more->cpu = cpu;
	return more;
}

static void get_event(const struct job_events *e, size_t n, const void *data, size_t size, struct job_event *to)
{
	const struct field *fields = e->formats[n].fields;
	char device[sizeof(e->device)];

	to->kind = e->descriptions[n].kind;
	to->thread = get_number(&e->formats[n].pid, data);
	to->job.context = get_number(&fields[FIELD_CONTEXT], data);
	to->job.number = get_number(&fields[FIELD_NUMBER], data);
	if (fields[FIELD_FENCE].size)
		to->job.context = get_number(&fields[FIELD_FENCE], data);
	to->id = get_number(&fields[FIELD_ID], data);
	to->queue = fields[FIELD_ENTITY].size ? get_number(&fields[FIELD_ENTITY], data) : to->job.context;
	get_text(&fields[FIELD_RING], data, size, to->name, sizeof(to->name));
	get_text(&fields[FIELD_DEVICE], data, size, device, sizeof(device));
	/* Before Linux 6.16 there is no more than the names that panthor gives. Its other queues change page tables. */
	to->ours = (fields[FIELD_DEVICE].size ? !strcmp(device, e->device) : !strncmp(to->name, "panthor", strlen("panthor"))) &&
		   strcmp(to->name, "panthor-vm-bind");

	switch (to->kind) {
	case JOB_EVENT_BLOCKED:
		to->fence = (struct job_fence){ get_number(&fields[FIELD_OTHER_CONTEXT], data),
						get_number(&fields[FIELD_OTHER_NUMBER], data) };
		to->context = to->fence.context;
		to->number = to->fence.number;
		if (fields[FIELD_FENCE].size) {
			to->fence = (struct job_fence){ to->job.context, 0 };
			to->job = (struct job_fence){};
		}
		break;
	case JOB_EVENT_SIGNALED:
		to->context = to->job.context;
		to->number = to->job.number;
		get_text(&fields[FIELD_DRIVER], data, size, to->driver, sizeof(to->driver));
		get_text(&fields[FIELD_TIMELINE], data, size, to->name, sizeof(to->name));
		break;
	default:
		break;
	}
}

/* Returns -1 without memory. */
static int take_event(struct job_events *e, unsigned int cpu, const void *data, uint64_t time_ns)
{
	int id = get_number(&e->formats[0].type, data);
	struct job_event *event;
	size_t n;

	for (n = 0; n < EVENTS && e->formats[n].id != id; n++)
		;
	/* Others came before the start, too, which may be lost. */
	if (n == EVENTS || time_ns < e->start_ns)
		return 0;
	event = add_event(e, cpu, time_ns);
	if (event)
		get_event(e, n, data, kbuffer_event_size(e->buffer), event);
	return event ? 0 : -1;
}

/* Tells that events of a CPU were lost since all was read. Returns -1 without memory. */
static int take_loss(struct job_events *e, unsigned int cpu, uint64_t until_ns, int missed)
{
	struct job_event *event = add_event(e, cpu, e->cpus[cpu].time_ns);

	if (!event)
		return -1;
	event->kind = JOB_EVENT_LOST;
	event->until_ns = until_ns;
	event->lost = missed > 0 ? missed : 0;
	return 0;
}

static void take_page(struct job_events *e, unsigned int cpu)
{
	struct cpu *c = &e->cpus[cpu];
	unsigned long long time_ns;
	int missed;
	void *data;

	if (kbuffer_load_subbuffer(e->buffer, e->page))
		return;
	missed = kbuffer_missed_events(e->buffer);
	for (data = kbuffer_read_event(e->buffer, &time_ns); data; data = kbuffer_next_event(e->buffer, &time_ns)) {
		if (missed || c->no_memory)
			c->no_memory = take_loss(e, cpu, time_ns, missed);
		if (c->no_memory)
			continue;
		missed = 0;
		c->no_memory = take_event(e, cpu, data, time_ns);
		if (time_ns > c->time_ns)
			c->time_ns = time_ns;
	}
}

static int compare(const void *a, const void *b)
{
	const struct job_event *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Most often they are in order, as one CPU had them all. */
static void sort(struct job_events *e)
{
	size_t n;

	for (n = 1; n < e->count; n++) {
		if (compare(&e->list[n - 1], &e->list[n]) > 0) {
			qsort(e->list, e->count, sizeof(*e->list), compare);
			return;
		}
	}
}

uint64_t job_events_read(struct job_events *e, bool last, const struct job_event **list, size_t *count)
{
	uint64_t until_ns = now_ns(CLOCK_MONOTONIC_RAW) - (last ? 0 : SETTLED_NS);
	unsigned int n;

	if (e->returned)
		memmove(e->list, e->list + e->returned, (e->count - e->returned) * sizeof(*e->list));
	e->count -= e->returned;
	e->returned = 0;
	for (n = 0; n < e->num_cpus; n++) {
		while (tracefs_cpu_read(e->cpus[n].trace, e->page, true) > 0)
			take_page(e, n);
		if (e->cpus[n].no_memory)
			e->cpus[n].no_memory = take_loss(e, n, until_ns, 0);
		if (e->cpus[n].time_ns < until_ns && !e->cpus[n].no_memory)
			e->cpus[n].time_ns = until_ns;
	}
	sort(e);
	while (e->returned < e->count && e->list[e->returned].time_ns < until_ns)
		e->returned++;
	*list = e->list;
	*count = e->returned;
	return until_ns;
}

uint64_t job_events_start(const struct job_events *e)
{
	return e->start_ns;
}

bool job_events_have_contexts(const struct job_events *e)
{
	return e->descriptions == new_events;
}

const char *job_events_thread_name(struct job_events *e, pid_t thread)
{
	tracefs_load_cmdlines(NULL, e->tep);
	return tep_data_comm_from_pid(e->tep, thread);
}
