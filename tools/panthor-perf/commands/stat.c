// SPDX-License-Identifier: MIT
/* panthor-perf stat: what to count, and for how long. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "child.h"
#include "commands.h"
#include "stat.h"

/* Often enough that no counter reaches its top, whatever the driver does for it. */
#define SAMPLE_MS 200

/* Top-down mixes what is in one sample: short ones keep phases apart. */
#define TOPDOWN_PERIOD_NS 10000000

/* Of a row with the longest names and titles. */
#define ROW_COLUMNS 140

#define MAX_RUNS 1000
#define MAX_INTERVAL_MS 86400000

/* What samples are for. */
enum tag {
	TAG_SAMPLE = 1,

	/* The end of an interval. */
	TAG_INTERVAL,

	/* The last. */
	TAG_STOP,
};

enum option_key {
	KEY_PER_CORE = 256,
	KEY_TOPDOWN,
	KEY_SET,
};

static const struct argp_option options[] = {
	{ "event", 'e', "COUNTER,...", 0,
	  "Count these counters, by name, hardware name, title, pattern or BLOCK.INDEX (may be "
	  "repeated; see panthor-perf list)", 0 },
	{ "all", 'a', NULL, 0, "Count all named counters", 0 },
	{ "per-block", 'b', NULL, 0, "Print the count of each block as well as the sum", 0 },
	{ "per-core", KEY_PER_CORE, NULL, 0,
	  "Print the value of each shader core as well, also for metrics", 0 },
	{ "topdown", KEY_TOPDOWN, "LEVEL", OPTION_ARG_OPTIONAL,
	  "Print an estimate of what limited performance, at level 1 (default) to 3", 0 },
	{ "set", KEY_SET, "SET", 0, "Use this counter set (see panthor-perf info); sets other than the primary one need -e BLOCK.INDEX", 0 },
	{ "interval", 'I', "MS", 0, "Print at this interval, in milliseconds or with a unit, such as 1s", 0 },
	{ "period", 'p', "PERIOD", 0,
	  "Sample period, such as 200us or 10ms", 0 },
	{ "delay", 'D', "TIME", 0, "Start counting this long after the command, in each run", 0 },
	{ "repeat", 'r', "N", 0, "Run the command N times; print mean and standard deviation", 0 },
	{ "field-separator", 'x', "SEPARATOR", 0,
	  "Print fields for programs: value, unit, name, block, index, rate", 0 },
	{ "json", 'j', NULL, 0, "Print JSON", 0 },
	{ "output", 'o', "FILE", 0, "Write to FILE instead of standard error; - is standard output", 0 },
	{}
};

/* True if an argument is the level of the --topdown before it: "--topdown 2". */
static bool is_level(const struct argp_state *state, const char *arg)
{
	return state->next >= 2 && !strcmp(state->argv[state->next - 2], "--topdown") &&
	       arg[0] >= '1' && arg[0] <= '9' && !arg[1];
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct stat_arguments *arguments = state->input;
	unsigned long number;
	const char **events;
	uint64_t ns;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'e':
		if (!is_list(arg))
			argp_error(state, "-e %s: empty counter name", arg);
		events = reallocarray(arguments->events, arguments->num_events + 1, sizeof(*events));
		if (!events)
			return ENOMEM;
		arguments->events = events;
		events[arguments->num_events++] = arg;
		return 0;
	case 'a':
		arguments->all = true;
		return 0;
	case 'b':
		arguments->per_block = true;
		return 0;
	case KEY_PER_CORE:
		arguments->per_core = true;
		return 0;
	case KEY_TOPDOWN:
		if (arg && !parse_number(arg, 9, &number))
			argp_error(state, "--topdown=%s: use level 1, 2 or 3", arg);
		arguments->topdown = arg ? number : 1;
		return 0;
	case KEY_SET:
		if (!parse_set(arg, &arguments->set))
			wrong_set(state, arg);
		return 0;
	case 'I':
		/* As perf has it, a bare number is of milliseconds. */
		if (parse_number(arg, MAX_INTERVAL_MS, &arguments->interval_ms))
			return 0;
		if (!parse_period(arg, &ns) || ns % 1000000)
			argp_error(state, "-I %s: use a whole number of milliseconds, or a unit, such as 1s",
				   arg);
		arguments->interval_ms = ns / 1000000;
		return 0;
	case 'p':
		if (!parse_period(arg, &arguments->period_ns))
			wrong_period(state, "-p", arg);
		return 0;
	case 'D':
		if (!parse_period(arg, &arguments->delay_ns))
			wrong_period(state, "-D", arg);
		return 0;
	case 'r':
		if (!parse_number(arg, MAX_RUNS, &arguments->repeat))
			argp_error(state, "-r %s: use a number of runs from 1 to %u", arg, MAX_RUNS);
		return 0;
	case 'x':
		arguments->separator = arg;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case 'o':
		arguments->output = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (is_level(state, arg)) {
			arguments->topdown = arg[0] - '0';
			return 0;
		}
		/* The command's options are its own. */
		arguments->command = &state->argv[state->next - 1];
		state->next = state->argc;
		return 0;
	case ARGP_KEY_END:
		if (arguments->json && arguments->separator)
			argp_error(state, "-j cannot be combined with -x");
		if (arguments->set && !arguments->num_events)
			argp_error(state, "--set needs -e BLOCK.INDEX: only the primary set has counter names");
		if (arguments->repeat && arguments->interval_ms)
			argp_error(state, "-r cannot be combined with -I");
		if (arguments->repeat && !arguments->command)
			argp_error(state, "-r needs a command to run");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* Beside what is asked for, what held the work up is shown in a line, unless few counters are all that is wanted. */
static unsigned int topdown_level(const struct stat_arguments *arguments, const struct pperf_db *db)
{
	if (arguments->topdown)
		return arguments->topdown;
	return !arguments->num_events && pperf_db_topdown_levels(db) ? 1 : 0;
}

static enum pperf_error choose(const struct stat_arguments *arguments,
			       struct pperf_selection *selection)
{
	enum pperf_error error = PPERF_OK;
	size_t i;

	for (i = 0; !error && i < arguments->num_events; i++)
		error = pperf_selection_add_list(selection, arguments->events[i]);
	if (!error && arguments->all)
		error = pperf_selection_add_all(selection);
	if (!error && !arguments->num_events && !arguments->all && !arguments->topdown)
		error = pperf_selection_add_default(selection);
	return error;
}

/* A measurement under way. */
struct measurement {
	const struct stat_arguments *arguments;
	struct pperf_gpu *gpu;
	struct pperf_session *session;
	struct child child;
	struct stat_report *report;
	struct pperf_log log;
	struct rates_meter rates;

	/* What is being added to. */
	struct stat_run run;

	/*
	 * Intervals: end of the one that is counted, how many were shown, and
	 * whether the sample that ends this one was asked for and has not come.
	 */
	uint64_t interval_end_ns;
	uint64_t intervals;
	bool asked;

	/* Of the first interval that could not be written. */
	int write_error;

	/* Nothing of this run was seen yet; its last sample was; the user did not wait for that. */
	bool fresh;
	bool stopped;
	bool interrupted;
};

static void show_interval(struct measurement *m)
{
	m->report->runs = &m->run;
	m->report->num_runs = 1;
	stat_show_interval(m->report, !m->intervals++);
	if ((fflush(m->report->out) || ferror(m->report->out)) && !m->write_error)
		m->write_error = errno;
	pperf_sums_reset(m->run.sums);
	if (m->run.topdown)
		pperf_topdown_reset(m->run.topdown);
}

/* True if an interval ends with this sample. */
static bool ends_interval(struct measurement *m, const struct pperf_sample *sample)
{
	uint64_t length = m->arguments->interval_ms * 1000000ull;

	if (!length)
		return false;
	if (sample->user_data == TAG_STOP)
		return true;
	if (!pperf_session_period(m->session))
		return sample->user_data == TAG_INTERVAL;
	if (sample->end_ns < m->interval_end_ns)
		return false;
	while (m->interval_end_ns <= sample->end_ns)
		m->interval_end_ns += length;
	return true;
}

static enum pperf_error take(struct measurement *m, const struct pperf_sample *sample)
{
	enum pperf_error error;

	if (m->fresh) {
		m->fresh = false;
		/* The time between two runs is no gap, and none of samples. */
		if (m->log.samples) {
			m->log.start_ns += sample->start_ns - m->log.end_ns;
			m->log.end_ns = sample->start_ns;
		}
		m->report->begin_ns = sample->start_ns;
		m->interval_end_ns = sample->start_ns + m->arguments->interval_ms * 1000000ull;
	}
	pperf_log_add(&m->log, sample);
	rates_add(&m->rates, sample);

	error = pperf_sums_add(m->run.sums, sample);
	if (!error && m->run.topdown)
		error = pperf_topdown_add(m->run.topdown, sample);
	/* No GPU could have counted this: a line that was not asked for is missing then, and no more. */
	if (error == PPERF_ERROR_NO_VALUE && !m->arguments->topdown) {
		m->report->level = 0;
		error = PPERF_OK;
	}
	if (error)
		return error;

	if (sample->user_data == TAG_INTERVAL)
		m->asked = false;
	if (ends_interval(m, sample))
		show_interval(m);
	m->stopped |= sample->user_data == TAG_STOP;
	return PPERF_OK;
}

static enum pperf_error drain(struct measurement *m)
{
	const struct pperf_sample *sample;
	enum pperf_error error;

	while (!(error = pperf_session_next(m->session, &sample)) && sample) {
		error = take(m, sample);
		if (error)
			break;
	}
	/* A rate that cannot be read would replace the error's message. */
	if (!error)
		rates_read(&m->rates, m->gpu, m->stopped);
	return error;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* When samples are to be asked for, in a session that has no period. */
struct schedule {
	uint64_t sample_ms, interval_ms;
};

/* Milliseconds until something is due, -1 if nothing ever is. */
static int until_due(const struct measurement *m, const struct schedule *due)
{
	uint64_t now = now_ms(), next = due->sample_ms;

	if (pperf_session_period(m->session))
		return -1;
	if (m->arguments->interval_ms && due->interval_ms < next)
		next = due->interval_ms;
	return next > now ? next - now : 0;
}

/* Asks for what is due. */
static enum pperf_error ask(struct measurement *m, struct schedule *due)
{
	enum pperf_error error = PPERF_OK;
	uint64_t now = now_ms();

	if (m->arguments->interval_ms && due->interval_ms <= now) {
		/* On a machine that is too slow for it, an interval is longer. */
		if (!m->asked)
			error = pperf_session_sample(m->session, TAG_INTERVAL);
		m->asked = m->asked || !error;
		while (!error && due->interval_ms <= now)
			due->interval_ms += m->arguments->interval_ms;
		due->sample_ms = now + SAMPLE_MS;
	} else if (due->sample_ms <= now) {
		error = pperf_session_sample(m->session, TAG_SAMPLE);
		due->sample_ms = now + SAMPLE_MS;
	}
	if (error != PPERF_ERROR_RING_FULL)
		return error;

	/* All slots are spoken for: the samples under way do as well, and end the interval later. */
	due->interval_ms = now + SAMPLE_MS;
	return PPERF_OK;
}

/* Waits for the command's end or, without one, for Ctrl-C. */
static enum pperf_error count_until_end(struct measurement *m)
{
	struct pollfd fds[2] = {
		{ .fd = m->child.signals, .events = POLLIN },
		{ .fd = pperf_session_fd(m->session), .events = POLLIN },
	};
	uint64_t now = now_ms();
	struct schedule due = { now + SAMPLE_MS, now + m->arguments->interval_ms };
	enum pperf_error error;

	for (;;) {
		if (poll(fds, 2, until_due(m, &due)) < 0)
			fds[0].revents = fds[1].revents = 0;
		error = fds[1].revents ? drain(m) : PPERF_OK;
		if (!error && !until_due(m, &due))
			error = ask(m, &due);
		if (error)
			return error;
		if (fds[0].revents && child_event(&m->child) == CHILD_ENDED)
			return PPERF_OK;
	}
}

/* Stops, and waits for the last sample. */
static enum pperf_error finish(struct measurement *m)
{
	struct pollfd fds[2] = {
		{ .fd = m->child.signals, .events = POLLIN },
		{ .fd = pperf_session_fd(m->session), .events = POLLIN },
	};
	enum pperf_error error = pperf_session_stop(m->session, TAG_STOP);

	while (!error && !m->stopped) {
		if (poll(fds, 2, -1) < 0)
			continue;
		if (fds[1].revents)
			error = drain(m);
		if (fds[0].revents && child_event(&m->child) == CHILD_INTERRUPTED) {
			m->interrupted = true;
			return PPERF_OK;
		}
	}
	return error;
}

/* The GPU is gone, and what it counted was read: the command may go on without it. */
static void wait_for_child(struct child *child)
{
	struct pollfd fd = { .fd = child->signals, .events = POLLIN };

	while (child->pid)
		if (poll(&fd, 1, -1) > 0)
			child_event(child);
}

/* Counts over one run of the command. Returns an exit status, which is the command's if all went well. */
static int measure(struct measurement *m)
{
	struct pollfd signals = { .fd = m->child.signals, .events = POLLIN };
	enum pperf_error error;
	int status;

	m->fresh = true;
	m->stopped = false;
	m->asked = false;
	m->child.ended = false;
	rates_read(&m->rates, m->gpu, true);
	error = m->arguments->delay_ns ? PPERF_OK : pperf_session_start(m->session, TAG_SAMPLE);
	if (error)
		return complain_of(error);
	if (m->arguments->command) {
		/* Ctrl-C between two runs is for none of them. */
		while (poll(&signals, 1, 0) > 0) {
			if (child_event(&m->child) != CHILD_ENDED)
				continue;
			complain("interrupted before a run");
			return 128 + SIGINT;
		}
		status = child_start(&m->child, m->arguments->command);
		if (status)
			return status;
	}
	if (m->arguments->delay_ns && !child_delay(&m->child, m->arguments->delay_ns)) {
		complain("nothing was counted: the delay was not over");
		return child_status(&m->child);
	}
	if (m->arguments->delay_ns)
		error = pperf_session_start(m->session, TAG_SAMPLE);

	if (!error)
		error = count_until_end(m);
	if (!error)
		error = finish(m);
	if (m->interrupted) {
		complain("interrupted while waiting for the last sample");
		return STATUS_FAILED;
	}
	if (!error)
		return child_status(&m->child);

	status = complain_of(error);
	drain(m);
	if (m->arguments->interval_ms && pperf_sums_samples(m->run.sums))
		show_interval(m);
	wait_for_child(&m->child);
	return status;
}

static enum pperf_error make_run(const struct stat_report *report, struct stat_run *run)
{
	enum pperf_error error = pperf_sums_new(report->db, report->gpu, &run->sums);

	if (!error && report->level)
		error = pperf_topdown_new(report->db, report->gpu, &run->topdown);
	return error;
}

static void free_run(struct stat_run *run)
{
	pperf_sums_free(run->sums);
	pperf_topdown_free(run->topdown);
}

/* Counts over all runs and shows the result. Returns an exit status. */
static int measure_all(struct measurement *m, const struct pperf_selection *selection)
{
	const struct stat_arguments *arguments = m->arguments;
	struct pperf_session_options session = {
		.size = sizeof(session),
		.masks = *pperf_selection_masks(selection),
		.period_ns = arguments->period_ns,
		.set = arguments->set,
	};
	size_t runs = arguments->repeat ? arguments->repeat : 1, done = 0, i;
	struct stat_run *all = calloc(runs, sizeof(*all));
	enum pperf_error error = PPERF_OK;
	int status = 0;

	if (!all) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	if (arguments->topdown && !session.period_ns)
		session.period_ns = TOPDOWN_PERIOD_NS;
	figures_need_bandwidth(&m->report->source, &session.masks);

	for (i = 0; !error && i < runs; i++)
		error = make_run(m->report, &all[i]);
	if (!error)
		error = pperf_session_open(m->gpu, &session, &m->session);
	if (error) {
		status = complain_of(error);
		goto out;
	}

	while (!status && done < runs) {
		m->run = all[done];
		status = measure(m);
		/* What was counted before something went wrong is shown. */
		if (!m->log.samples || m->fresh)
			break;
		done++;
	}
	pperf_session_close(m->session);

	m->report->log = &m->log;
	m->report->clock = rates_of(&m->rates);
	m->report->runs = all;
	m->report->num_runs = done;
	if (done && !arguments->interval_ms)
		stat_show(m->report);
	else if (done)
		stat_show_end(m->report, stderr);
out:
	for (i = 0; i < runs; i++)
		free_run(&all[i]);
	free(all);
	return status;
}

static int open_output(const char *name, FILE **out)
{
	*out = !name ? stderr : is_standard(name) ? stdout : fopen(name, "we");
	if (*out)
		return STATUS_OK;
	complain("%s: %s", name, strerror(errno));
	return STATUS_IO;
}

static int check_topdown(const struct stat_arguments *arguments, const struct pperf_gpu_info *gpu,
			 const struct pperf_db *db)
{
	unsigned int levels = pperf_db_topdown_levels(db);

	if (!arguments->topdown || arguments->topdown <= levels)
		return STATUS_OK;
	if (levels)
		complain("--topdown=%u: %s has levels 1 to %u", arguments->topdown, gpu->name, levels);
	else
		complain("--topdown: not available for this GPU (GPU_ID %#x)",
			 gpu->gpu_id);
	return STATUS_USAGE;
}

int command_stat(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, "[--] [COMMAND [ARGUMENT...]]",
		"Counts GPU events while a command runs, or until Ctrl-C.\v"
		"The counts include the work of all programs on the GPU. The exit status is the command's.", children, NULL, NULL
	};
	struct stat_arguments arguments = {};
	struct pperf_selection *selection = NULL;
	const struct pperf_gpu_info *info;
	struct stat_report report = {};
	struct measurement m = { .arguments = &arguments, .report = &report, .log = { .size = sizeof(m.log) } };
	enum pperf_error error;
	struct pperf_gpu *gpu;
	struct pperf_db *db;
	int status, written;
	FILE *out;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);

	status = open_gpu(arguments.device, arguments.set, &gpu, &db);
	if (status)
		goto out_arguments;

	info = pperf_gpu_info(gpu);
	status = check_topdown(&arguments, info, db);
	if (status)
		goto out;

	error = pperf_selection_new(db, info, &selection);
	if (!error)
		error = choose(&arguments, selection);
	if (error) {
		status = complain_of(error);
		goto out;
	}
	report.counters = pperf_selection_counters(selection, &report.num_counters);
	figures_find(&report.source, db, info);
	report.level = topdown_level(&arguments, db);
	pperf_selection_need_load(selection);
	if (report.level)
		pperf_selection_need_topdown(selection);

	status = open_output(arguments.output, &out);
	if (status)
		goto out;

	report.out = out;
	report.narrow = is_narrow(out, ROW_COLUMNS);
	report.arguments = &arguments;
	report.gpu = info;
	report.db = db;
	m.gpu = gpu;
	m.child.no_output = out == stdout;
	status = child_prepare(&m.child);
	if (!status) {
		status = measure_all(&m, selection);
		child_finish(&m.child);
	}
	if (m.write_error)
		errno = m.write_error;
	written = finish_output(out, out == stderr ? "standard error" : out == stdout ? "standard output" : arguments.output);
	if (written)
		status = written;
out:
	pperf_selection_free(selection);
	pperf_db_close(db);
	pperf_gpu_close(gpu);
out_arguments:
	free(arguments.events);
	return status;
}
