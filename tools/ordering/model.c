// SPDX-License-Identifier: MIT
/* The memory model, and the enumeration of all executions that it allows. See README. */

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#define MAX_LOCATIONS	24
#define MAX_VALUES	12
#define MAX_EVENTS	64	/* of all threads: as many as bits in a row of a relation */
#define MAX_CHOICES	64
#define INITIAL		(-1)	/* in place of a write: the value at the beginning */

enum kind {
	EVENT_READ,
	EVENT_WRITE,
	EVENT_LOCK,	/* an acquire read of what no other thread writes */
	EVENT_UNLOCK,	/* a release write of what no other thread reads */
	EVENT_BARRIER,
};

struct event {
	enum kind kind;
	enum order order;
	enum barrier barrier;
	bool branch;		/* a read: later writes depend on it */
	int location;
	uint64_t value;
	const char *name;	/* of a barrier, and of the function that it is in */
	const char *function;
};

struct location {
	const char *name;
	void *p;
	size_t size;
	uint64_t values[MAX_VALUES];	/* that any thread may write to it, the initial one first */
	unsigned int num_values;
	unsigned int writers;		/* a bit for each thread that may write to it */
};

/* One run of one thread. */
struct trace {
	struct event events[MAX_EVENTS];
	unsigned int num_events;
	uint64_t results[MAX_RESULTS];
};

struct traces {
	struct trace *all;
	size_t count, room;
};

struct execution {
	const struct trace *traces[MAX_THREADS];
	unsigned int threads;

	/* The events of all traces, thread after thread. */
	const struct event *events[MAX_EVENTS];
	unsigned int thread_of[MAX_EVENTS];
	unsigned int num_events;

	/* Bit j of row i: event i is ordered before event j within its thread. */
	uint64_t local[MAX_EVENTS], same_location[MAX_EVENTS];

	int reads_from[MAX_EVENTS];	/* of a read: the write, or INITIAL */
	/* The writes to each location, in the order in which they come to be. */
	int coherence[MAX_LOCATIONS][MAX_EVENTS];
	unsigned int num_writes[MAX_LOCATIONS];
};

static struct location locations[MAX_LOCATIONS];
static unsigned int num_locations;

/* The run under way. */
static const struct mutation *mutated;
static enum branches branches_are;
static struct trace run;
static unsigned int run_thread;
static jmp_buf run_end;
static bool collecting, changed;

/* The choices of this run: what the reads return. Those from @made on are not made yet. */
static struct {
	unsigned int value, of;
} choices[MAX_CHOICES];
static unsigned int num_choices, made;

static void die(const char *why)
{
	fprintf(stderr, "ordering: %s\n", why);
	abort();
}

void model_track(void *p, size_t size, const char *name, uint64_t value)
{
	struct location *location;
	unsigned int i;

	memcpy(p, &value, size);
	for (i = 0; i < num_locations; i++) {
		if (locations[i].p != p)
			continue;
		if (locations[i].values[0] != value)
			die("a location has two initial values");
		return;
	}

	if (num_locations == MAX_LOCATIONS)
		die("too many locations");
	location = &locations[num_locations++];
	*location = (struct location) { .name = name, .p = p, .size = size };
	location->values[location->num_values++] = value;
}

static struct location *find(const volatile void *p)
{
	unsigned int i;

	for (i = 0; i < num_locations; i++)
		if (locations[i].p == p)
			return &locations[i];
	return NULL;
}

bool model_tracked(const volatile void *p)
{
	return find(p);
}

static struct event *add_event(enum kind kind)
{
	struct event *event;

	if (run.num_events == MAX_EVENTS)
		die("too many events in a thread");
	event = &run.events[run.num_events++];
	*event = (struct event) { .kind = kind };
	return event;
}

static unsigned int choose(unsigned int of)
{
	if (made == num_choices) {
		if (num_choices == MAX_CHOICES)
			die("too many reads in a thread");
		choices[num_choices].value = 0;
		choices[num_choices].of = of;
		num_choices++;
	}
	return choices[made++].value;
}

/* Turns the choices of this run into those of the next one. False after the last one. */
static bool next_choices(void)
{
	while (num_choices) {
		if (++choices[num_choices - 1].value < choices[num_choices - 1].of)
			return true;
		num_choices--;
	}
	return false;
}

uint64_t model_read(const volatile void *p, enum order order)
{
	struct location *location = find(p);
	struct event *event = add_event(EVENT_READ);
	int i;

	event->location = location - locations;
	event->order = order;
	event->branch = branches_are == BRANCHES_ALL;
	event->value = location->values[0];
	if (location->writers & ~(1u << run_thread)) {
		event->value = location->values[choose(location->num_values)];
		return event->value;
	}

	/* Nobody else writes to it: there is no choice. */
	for (i = (int)run.num_events - 2; i >= 0; i--)
		if (run.events[i].kind == EVENT_WRITE && run.events[i].location == event->location)
			break;
	if (i >= 0)
		event->value = run.events[i].value;
	return event->value;
}

void model_write(volatile void *p, uint64_t value, enum order order)
{
	struct location *location = find(p);
	struct event *event = add_event(EVENT_WRITE);
	unsigned int i;

	event->location = location - locations;
	event->order = order;
	event->value = value;
	if (!collecting)
		return;

	if (!(location->writers & 1u << run_thread)) {
		location->writers |= 1u << run_thread;
		changed = true;
	}
	for (i = 0; i < location->num_values; i++)
		if (location->values[i] == value)
			return;
	if (location->num_values == MAX_VALUES)
		die("too many values of a location");
	location->values[location->num_values++] = value;
	changed = true;
}

void model_copy(void *dst, const void *src, size_t size)
{
	unsigned int i;

	memcpy(dst, src, size);
	for (i = 0; i < num_locations; i++) {
		const struct location *location = &locations[i];
		size_t in_src = (char *)location->p - (char *)src;
		size_t in_dst = (char *)location->p - (char *)dst;
		uint64_t value = 0;

		if (in_src < size) {
			value = model_read(location->p, RELAXED);
			memcpy((char *)dst + in_src, &value, location->size);
		} else if (in_dst < size) {
			memcpy(&value, (const char *)src + in_dst, location->size);
			model_write(location->p, value, RELAXED);
		}
	}
}

static bool is_mutated(const char *name, const char *function)
{
	return mutated->function && !strcmp(mutated->function, function) &&
	       !strcmp(mutated->name, name);
}

void model_barrier(enum barrier barrier, const char *name, const char *function)
{
	struct event *event;

	if (is_mutated(name, function))
		barrier = mutated->instead;
	if (barrier == BARRIER_NONE)
		return;

	event = add_event(EVENT_BARRIER);
	event->barrier = barrier;
	event->name = name;
	event->function = function;
}

enum order model_order(enum order order, const char *name, const char *function)
{
	return is_mutated(name, function) ? RELAXED : order;
}

void model_lock(void)
{
	add_event(EVENT_LOCK)->order = ACQUIRE;
}

void model_unlock(const char *name, const char *function)
{
	if (is_mutated(name, function))
		return;
	add_event(EVENT_UNLOCK)->order = RELEASE;
}

void model_branch(void)
{
	unsigned int i = run.num_events;

	if (branches_are == BRANCHES_NONE)
		return;
	while (i--) {
		if (run.events[i].kind == EVENT_READ) {
			run.events[i].branch = true;
			return;
		}
	}
}

void model_assume(bool condition)
{
	if (!condition)
		longjmp(run_end, 1);
}

void model_result(unsigned int n, uint64_t value)
{
	if (n >= MAX_RESULTS)
		die("too many results of a thread");
	run.results[n] = value;
}

static void keep(struct traces *traces)
{
	if (traces->count == traces->room) {
		traces->room = traces->room ? 2 * traces->room : 64;
		traces->all = realloc(traces->all, traces->room * sizeof(*traces->all));
		if (!traces->all)
			die("no memory");
	}
	traces->all[traces->count++] = run;
}

/* Runs a thread with everything that its reads could return. */
static void run_all(const struct scenario *scenario, unsigned int thread, struct traces *traces)
{
	run_thread = thread;
	num_choices = 0;
	do {
		memset(&run, 0, sizeof(run));
		made = 0;
		scenario->setup();
		if (!setjmp(run_end)) {
			scenario->threads[thread].run();
			if (traces)
				keep(traces);
		}
	} while (next_choices());
}

static bool is_read(const struct event *event)
{
	return event->kind == EVENT_READ || event->kind == EVENT_LOCK;
}

static bool is_write(const struct event *event)
{
	return event->kind == EVENT_WRITE || event->kind == EVENT_UNLOCK;
}

/* Is event @i of a thread ordered before its event @j, by what the thread does itself? */
static bool ordered(const struct trace *trace, unsigned int i, unsigned int j, bool strong)
{
	const struct event *first = &trace->events[i], *second = &trace->events[j];
	unsigned int k;

	if (strong || first->order == ACQUIRE || first->order == ACQUIRE_PC || second->order == RELEASE ||
	    (first->order == RELEASE && second->order == ACQUIRE) ||
	    (first->branch && is_write(second)))
		return true;

	for (k = i + 1; k < j; k++) {
		switch (trace->events[k].barrier) {
		case BARRIER_FULL:
			return true;
		case BARRIER_READ:
			if (is_read(first))
				return true;
			break;
		case BARRIER_WRITE:
			if (is_write(first) && is_write(second))
				return true;
			break;
		case BARRIER_NONE:
			break;
		}
	}
	return false;
}

/* Puts the threads' runs next to each other. */
static void assemble(const struct scenario *scenario, struct execution *x)
{
	unsigned int t, i, j, base;

	x->num_events = 0;
	memset(x->num_writes, 0, sizeof(x->num_writes));
	for (t = 0; t < x->threads; t++) {
		const struct trace *trace = x->traces[t];

		base = x->num_events;
		if (base + trace->num_events > MAX_EVENTS)
			die("too many events");

		for (i = 0; i < trace->num_events; i++) {
			const struct event *event = &trace->events[i];

			x->events[base + i] = event;
			x->thread_of[base + i] = t;
			x->local[base + i] = 0;
			x->same_location[base + i] = 0;
			if (event->kind == EVENT_WRITE)
				x->num_writes[event->location]++;
			if (event->kind == EVENT_BARRIER)
				continue;

			for (j = i + 1; j < trace->num_events; j++) {
				const struct event *later = &trace->events[j];

				if (later->kind == EVENT_BARRIER)
					continue;
				if (ordered(trace, i, j, scenario->threads[t].strong))
					x->local[base + i] |= 1ull << (base + j);
				if (event->kind <= EVENT_WRITE && later->kind <= EVENT_WRITE &&
				    event->location == later->location)
					x->same_location[base + i] |= 1ull << (base + j);
			}
		}
		x->num_events += trace->num_events;
	}
}

/* @rows are changed. */
static bool acyclic(uint64_t *rows, unsigned int n)
{
	uint64_t left = n == 64 ? ~0ull : (1ull << n) - 1;

	while (left) {
		uint64_t targets = 0, sources;
		unsigned int i;

		for (i = 0; i < n; i++)
			if (left & 1ull << i)
				targets |= rows[i] & left;
		sources = left & ~targets;
		if (!sources)
			return false;
		left &= ~sources;
	}
	return true;
}

static void add_edge(const struct execution *x, uint64_t *all, uint64_t *external, int from, int to)
{
	all[from] |= 1ull << to;
	if (x->thread_of[from] != x->thread_of[to])
		external[from] |= 1ull << to;
}

/* The two axioms. */
static bool allowed(const struct execution *x)
{
	uint64_t coherent[MAX_EVENTS], observed[MAX_EVENTS];
	unsigned int e, l, i, j;

	memcpy(coherent, x->same_location, sizeof(coherent));
	memcpy(observed, x->local, sizeof(observed));

	for (l = 0; l < num_locations; l++)
		for (i = 0; i + 1 < x->num_writes[l]; i++)
			for (j = i + 1; j < x->num_writes[l]; j++)
				add_edge(x, coherent, observed, x->coherence[l][i],
					 x->coherence[l][j]);

	for (e = 0; e < x->num_events; e++) {
		int from = x->reads_from[e];

		if (x->events[e]->kind != EVENT_READ)
			continue;

		l = x->events[e]->location;
		if (from != INITIAL)
			add_edge(x, coherent, observed, from, e);

		/* The writes that came to be after the one that was read. */
		for (i = x->num_writes[l]; i-- && x->coherence[l][i] != from;)
			add_edge(x, coherent, observed, e, x->coherence[l][i]);
	}

	return acyclic(coherent, x->num_events) && acyclic(observed, x->num_events);
}

uint64_t result(const struct execution *x, unsigned int thread, unsigned int n)
{
	return x->traces[thread]->results[n];
}

uint64_t final_value(const struct execution *x, const char *name)
{
	unsigned int l;

	for (l = 0; l < num_locations; l++)
		if (!strcmp(locations[l].name, name))
			break;
	if (l == num_locations)
		die("no location of that name");
	if (!x->num_writes[l])
		return locations[l].values[0];
	return x->events[x->coherence[l][x->num_writes[l] - 1]]->value;
}

static void print_event(FILE *out, const struct scenario *scenario, const struct execution *x,
			unsigned int e)
{
	const struct event *event = x->events[e];
	int from;

	switch (event->kind) {
	case EVENT_READ:
		from = x->reads_from[e];
		fprintf(out, "# %5u    reads  %-22s %#llx", e, locations[event->location].name,
			(unsigned long long)event->value);
		if (from == INITIAL)
			fprintf(out, ", as it was at the beginning\n");
		else
			fprintf(out, ", from %d of %s\n", from,
				scenario->threads[x->thread_of[from]].name);
		break;
	case EVENT_WRITE:
		fprintf(out, "# %5u    writes %-22s %#llx\n", e, locations[event->location].name,
			(unsigned long long)event->value);
		break;
	case EVENT_LOCK:
		fprintf(out, "# %5u    locks\n", e);
		break;
	case EVENT_UNLOCK:
		fprintf(out, "# %5u    unlocks\n", e);
		break;
	case EVENT_BARRIER:
		fprintf(out, "# %5u    %s() of %s()\n", e, event->name, event->function);
		break;
	}
}

static void describe(const struct scenario *scenario, const struct execution *x, const char *why,
		     struct findings *findings)
{
	FILE *out = fmemopen(findings->text, sizeof(findings->text), "w");
	unsigned int e, l, i;

	if (!out)
		die("no memory");
	fprintf(out, "# %s:\n", why);
	for (e = 0; e < x->num_events; e++) {
		if (!e || x->thread_of[e] != x->thread_of[e - 1])
			fprintf(out, "#   %s:\n", scenario->threads[x->thread_of[e]].name);
		print_event(out, scenario, x, e);
	}
	for (l = 0; l < num_locations; l++) {
		if (x->num_writes[l] < 2)
			continue;
		fprintf(out, "#   writes to %s, in this order:", locations[l].name);
		for (i = 0; i < x->num_writes[l]; i++)
			fprintf(out, " %d", x->coherence[l][i]);
		fprintf(out, "\n");
	}
	fclose(out);
}

static void judge(const struct scenario *scenario, struct execution *x, struct findings *findings)
{
	const char *why;

	if (!allowed(x))
		return;
	findings->executions++;
	why = scenario->wrong(x);
	if (why && !findings->wrong++)
		describe(scenario, x, why, findings);
}

/* Orders the writes to locations from @l on in all ways that keep each thread's order. */
static void order_writes(const struct scenario *scenario, struct execution *x, unsigned int l,
			 unsigned int placed, struct findings *findings)
{
	bool tried[MAX_THREADS] = {};
	unsigned int e, i;

	if (l == num_locations) {
		judge(scenario, x, findings);
		return;
	}
	if (placed == x->num_writes[l]) {
		order_writes(scenario, x, l + 1, 0, findings);
		return;
	}

	/* The next one is the first of some thread that has not been placed. */
	for (e = 0; e < x->num_events; e++) {
		const struct event *event = x->events[e];

		if (event->kind != EVENT_WRITE || event->location != (int)l ||
		    tried[x->thread_of[e]])
			continue;
		for (i = 0; i < placed && x->coherence[l][i] != (int)e; i++)
			;
		if (i < placed)
			continue;
		tried[x->thread_of[e]] = true;
		x->coherence[l][placed] = e;
		order_writes(scenario, x, l, placed + 1, findings);
	}
}

/* Finds the writes that the reads from event @e on may have read from. */
static void find_sources(const struct scenario *scenario, struct execution *x, unsigned int e,
			 struct findings *findings)
{
	const struct event *read;
	unsigned int w;
	int own = INITIAL;

	while (e < x->num_events && x->events[e]->kind != EVENT_READ)
		e++;
	if (e == x->num_events) {
		order_writes(scenario, x, 0, 0, findings);
		return;
	}

	/* Of the writes of the same thread, only the latest one can be read. */
	read = x->events[e];
	for (w = 0; w < e; w++)
		if (x->events[w]->kind == EVENT_WRITE && (x->same_location[w] & 1ull << e))
			own = w;
	if (own == INITIAL && read->value == locations[read->location].values[0]) {
		x->reads_from[e] = INITIAL;
		find_sources(scenario, x, e + 1, findings);
	}
	for (w = 0; w < x->num_events; w++) {
		const struct event *write = x->events[w];

		if (write->kind != EVENT_WRITE || write->location != read->location ||
		    write->value != read->value ||
		    (x->thread_of[w] == x->thread_of[e] && (int)w != own))
			continue;
		x->reads_from[e] = w;
		find_sources(scenario, x, e + 1, findings);
	}
}

static void combine(const struct scenario *scenario, struct traces *traces, struct execution *x,
		    unsigned int thread, struct findings *findings)
{
	size_t i;

	if (thread == x->threads) {
		assemble(scenario, x);
		find_sources(scenario, x, 0, findings);
		return;
	}
	for (i = 0; i < traces[thread].count; i++) {
		x->traces[thread] = &traces[thread].all[i];
		combine(scenario, traces, x, thread + 1, findings);
	}
}

void explore(const struct scenario *scenario, const struct mutation *mutation,
	     enum branches branches, struct findings *findings)
{
	static const struct mutation none;
	struct traces traces[MAX_THREADS] = {};
	struct execution x = {};
	unsigned int t;

	memset(findings, 0, sizeof(*findings));
	mutated = mutation ? mutation : &none;
	branches_are = branches;
	num_locations = 0;
	while (x.threads < MAX_THREADS && scenario->threads[x.threads].run)
		x.threads++;

	/* What may be written depends on what is read, and the other way round. */
	collecting = true;
	do {
		changed = false;
		for (t = 0; t < x.threads; t++)
			run_all(scenario, t, NULL);
	} while (changed);

	collecting = false;
	for (t = 0; t < x.threads; t++)
		run_all(scenario, t, &traces[t]);

	combine(scenario, traces, &x, 0, findings);
	for (t = 0; t < x.threads; t++)
		free(traces[t].all);
}
