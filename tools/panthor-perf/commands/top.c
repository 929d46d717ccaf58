// SPDX-License-Identifier: MIT
/*
 * panthor-perf top: what the GPU does now, and for whom.
 *
 * The kernel takes samples at a steady rate; they are added up until the next
 * update of the display, which shows their sums. So what is shown does not
 * depend on when this program gets to run, and what was counted while it could
 * not is in the update after.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "job-recorder.h"
#include "top.h"
#include "top-screen.h"

#define DEFAULT_DELAY_NS 1000000000ull
#define MIN_DELAY_NS 10000000ull

/* Top-down mixes what is in one sample: short ones keep phases apart. */
#define MAX_PERIOD_NS 100000000ull

/* All of /proc is not read more often, however short the time between two updates is. */
#define MIN_SCAN_NS 250000000ull

/* Two values a column of the widest screen. */
#define HISTORY (2 * MAX_COLUMNS)

/* Columns of text that is not for a terminal. */
#define TEXT_COLUMNS 80

/* Lines between two lines of titles. */
#define TITLES_EVERY 20

/* The last sample's tag. */
enum tag {
	TAG_SAMPLE = 1,
	TAG_STOP,
};

enum form {
	/* A full screen; it is a line for each period where there is no terminal, or a dumb one. */
	FORM_SCREEN,
	FORM_LINES,

	/* The text of one screen. */
	FORM_TEXT,

	FORM_JSON,
};

struct arguments {
	const char *device;
	uint64_t delay_ns;
	bool once;
	bool json;
	bool lines;
};

/*
 * What keys are for at the moment. From each, the end of the program is reached
 * by a signal as well.
 *
 *	LIVE	p, space: PAUSED; h, ?: HELP; s: DELAY; q: ENDED
 *	PAUSED	p, space: LIVE; h, ?: HELP; s: DELAY; q: ENDED
 *	HELP	any key: the mode that it was called from
 *	DELAY	Enter, Escape: the mode that it was called from
 *	ENDED	none
 */
enum mode {
	MODE_LIVE,

	/* The display stays; what is counted meanwhile is in the first update after. */
	MODE_PAUSED,

	MODE_HELP,

	/* The time between two updates is being typed. */
	MODE_DELAY,

	MODE_ENDED,
};

struct display {
	const struct arguments *arguments;
	enum form form;
	struct top top;

	struct pperf_gpu *gpu;

	/* NULL if nothing is counted. */
	struct pperf_session *session;

	/* What samples are added to, until they are shown. */
	struct top_period next;

	/* NULL if jobs are not known; what they are added to, until they are shown. */
	struct job_recorder *jobs;
	struct job_usage next_jobs;

	/* SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGWINCH; updates that are due. */
	int signals, timer;
	sigset_t before;

	struct rates_meter rates;

	/* The last sample was read. */
	bool stopped;

	/* When clients were looked at. */
	uint64_t scan_ns;

	enum mode mode, mode_before;
	enum graph_style style, best_style;

	/* What was typed in MODE_DELAY, and what was wrong with the last of it. */
	char typed[16];
	char complaint[80];

	uint64_t lines;
	bool clock_told;
};

/* ---- What is counted ---- */

static enum pperf_error select_found(struct pperf_selection *selection, const struct pperf_counter *counter)
{
	return counter ? pperf_selection_add_counter(selection, counter) : PPERF_OK;
}

static enum pperf_error select_named(const struct top *top, struct pperf_selection *selection, const char *name)
{
	const struct pperf_counter *counter = pperf_db_find(top->db, name);

	if (counter && !pperf_counter_exists(top->db, counter, top->info))
		counter = NULL;
	return select_found(selection, counter);
}

/* Beats as well as bytes: those are what is counted. */
static enum pperf_error choose(struct top *top, struct pperf_selection *selection)
{
	const struct figures_source *source = &top->source;
	enum pperf_error error;
	unsigned int i;

	figures_find(&top->source, top->db, top->info);
	error = select_named(top, selection, "MaliGPUActiveCy");
	for (i = 0; !error && i < source->num_units; i++)
		error = select_found(selection, source->units[i].counter);
	if (!error)
		error = select_found(selection, source->core);
	if (!error)
		error = select_named(top, selection, "MaliExtBusRdBt");
	if (!error)
		error = select_named(top, selection, "MaliExtBusWrBt");
	if (!error)
		error = select_found(selection, source->read);
	if (!error)
		error = select_found(selection, source->written);
	pperf_selection_need_load(selection);
	if (pperf_db_topdown_levels(top->db))
		pperf_selection_need_topdown(selection);
	return error;
}

static bool needs_nothing(const struct pperf_masks *masks)
{
	unsigned int type, any = 0;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		any += pperf_masks_count(masks, type);
	return !any;
}

static enum pperf_error make_period(const struct top *top, struct top_period *period)
{
	enum pperf_error error = pperf_sums_new(top->db, top->info, &period->sums);

	if (!error && pperf_db_topdown_levels(top->db))
		error = pperf_topdown_new(top->db, top->info, &period->topdown);
	return error;
}

static void reset_period(struct top_period *period)
{
	pperf_sums_reset(period->sums);
	if (period->topdown)
		pperf_topdown_reset(period->topdown);
}

static void free_period(struct top_period *period)
{
	pperf_sums_free(period->sums);
	pperf_topdown_free(period->topdown);
}

/*
 * Begins to count. Without the right to, or on a GPU of which nothing is known,
 * the rest can be shown, and why it is not all.
 */
static enum pperf_error begin(struct display *d)
{
	uint64_t period = d->arguments->delay_ns / 10;
	struct pperf_session_options options = {
		.size = sizeof(options),
		.masks = *pperf_selection_masks(d->top.selection),
	};
	enum pperf_error error;

	if (period < MIN_DELAY_NS)
		period = MIN_DELAY_NS;
	options.period_ns = period < MAX_PERIOD_NS ? period : MAX_PERIOD_NS;

	if (needs_nothing(&options.masks)) {
		snprintf(d->top.why_not, sizeof(d->top.why_not), "This GPU has no known counters (GPU_ID %#x).",
			 d->top.info->gpu_id);
		return PPERF_OK;
	}
	error = pperf_session_open(d->gpu, &options, &d->session);
	if (error == PPERF_ERROR_PERMISSION) {
		snprintf(d->top.why_not, sizeof(d->top.why_not), "Load is not available: %s", pperf_message());
		return PPERF_OK;
	}
	if (error)
		return error;
	rates_read(&d->rates, d->gpu, true);
	return pperf_session_start(d->session, TAG_SAMPLE);
}

static enum pperf_error drain(struct display *d)
{
	const struct pperf_sample *sample;
	enum pperf_error error;

	while (!(error = pperf_session_next(d->session, &sample)) && sample) {
		error = pperf_sums_add(d->next.sums, sample);
		if (!error && d->next.topdown)
			error = pperf_topdown_add(d->next.topdown, sample);
		if (error)
			return error;
		pperf_log_add(&d->top.log, sample);
		rates_add(&d->rates, sample);
		d->stopped |= sample->user_data == TAG_STOP;
	}
	return error;
}

/* ---- Jobs ---- */

/* Those of all processes may be seen by root. Where they may not, clients are shown as the kernel tells of them. */
static void begin_jobs(struct display *d)
{
	struct job_track *track;

	d->jobs = job_recorder_open(d->top.info->node);
	if (!d->jobs) {
		snprintf(d->top.why_no_jobs, sizeof(d->top.why_no_jobs), "%s", job_recorder_why(errno));
		return;
	}
	d->top.view = VIEW_PROCESSES;
	track = job_recorder_look(d->jobs, true);
	job_usage_reset(&d->next_jobs, job_track_until(track));
	job_usage_reset(&d->top.jobs, job_track_until(track));
}

/* Reads events of jobs if that is due, or now: their buffers must not fill. */
static enum pperf_error look_at_jobs(struct display *d, bool now)
{
	struct job_track *track = d->jobs ? job_recorder_look(d->jobs, now) : NULL;

	return track && job_usage_add(&d->next_jobs, track) ? PPERF_ERROR_NO_MEMORY : PPERF_OK;
}

static enum pperf_error update_jobs(struct display *d)
{
	struct job_usage shown = d->top.jobs;
	enum pperf_error error = look_at_jobs(d, true);

	if (error || !d->jobs)
		return error;
	d->top.jobs = d->next_jobs;
	d->next_jobs = shown;
	job_usage_reset(&d->next_jobs, d->top.jobs.end_ns);
	return PPERF_OK;
}

/* ---- Clients ---- */

/* Panthor tells the time of clients if an attribute says so; older ones have none. */
static bool is_profiling(const struct pperf_gpu_info *info)
{
	char name[PATH_MAX];
	unsigned int mask = 0;
	FILE *file;

	snprintf(name, sizeof(name), "%s/profiling", info->sysfs ? info->sysfs : "");
	file = fopen(name, "re");
	if (!file)
		return true;
	if (fscanf(file, "%u", &mask) != 1)
		mask = 0;
	fclose(file);
	return mask;
}

static enum pperf_error look_at_clients(struct display *d)
{
	struct top *top = &d->top;

	/* At the end, what is told is of all the time. */
	if (d->scan_ns && !d->stopped && now_ns(CLOCK_MONOTONIC) - d->scan_ns < MIN_SCAN_NS)
		return PPERF_OK;
	d->scan_ns = now_ns(CLOCK_MONOTONIC);
	if (!clients_scan(&top->clients, "/proc", client_is_of, (void *)top->info))
		return PPERF_ERROR_NO_MEMORY;
	clients_sort(&top->clients, top->order, top->reverse);
	top->profiling = is_profiling(top->info);
	return PPERF_OK;
}

static enum pperf_error look_at_users(struct display *d)
{
	enum pperf_error error = look_at_clients(d);

	if (error)
		return error;
	return top_find_processes(&d->top) ? PPERF_OK : PPERF_ERROR_NO_MEMORY;
}

/* ---- Updates ---- */

/* Of an interval that is too short to tell, the next ones are needed as well. */
static void compare_rates(struct display *d)
{
	struct rates rates;

	rates_read(&d->rates, d->gpu, d->stopped);
	rates = rates_of(&d->rates);
	if (!pperf_sums_cycles(d->top.shown.sums, PPERF_CLOCK_TOPLEVEL))
		d->top.clock = (struct rates){};
	if (!rates.measured_hz)
		return;
	d->top.clock = rates;
	d->rates.seconds = d->rates.cycles = d->rates.nominal_cycles = 0;
}

/* What was added up becomes what is shown. Sets *updated to whether there is something new. */
static enum pperf_error update(struct display *d, bool *updated)
{
	struct top_period shown = d->top.shown;
	enum pperf_error error;

	*updated = false;
	if (d->session) {
		error = d->stopped ? PPERF_OK : drain(d);
		if (error)
			return error;
		/* Nothing has come: the machine is busy. */
		if (!pperf_sums_samples(d->next.sums))
			return PPERF_OK;
		d->top.shown = d->next;
		d->next = shown;
		reset_period(&d->next);
		compare_rates(d);
		if (d->form == FORM_SCREEN)
			history_add(&d->top.history, top_load(&d->top));
	} else {
		error = pperf_gpu_alive(d->gpu);
		if (error)
			return error;
	}
	if (pperf_gpu_frequency(d->gpu, &d->top.frequency))
		d->top.frequency = 0;
	*updated = true;
	error = update_jobs(d);
	return error ? error : look_at_users(d);
}

static void set_delay(struct display *d, uint64_t ns)
{
	struct itimerspec delay = {};

	d->top.delay_ns = ns;
	delay.it_interval.tv_sec = delay.it_value.tv_sec = ns / 1000000000;
	delay.it_interval.tv_nsec = delay.it_value.tv_nsec = ns % 1000000000;
	timerfd_settime(d->timer, 0, &delay, NULL);
}

/* ---- Keys ---- */

static void step_delay(struct display *d, int direction)
{
	static const uint64_t steps_ms[] = { 100, 200, 500, 1000, 2000, 5000, 10000, 30000, 60000 };
	const int count = sizeof(steps_ms) / sizeof(steps_ms[0]);
	int i;

	/* The next one in that direction, also from between two of them. */
	for (i = direction > 0 ? 0 : count - 1; i >= 0 && i < count; i += direction) {
		if ((direction > 0) == (steps_ms[i] * 1000000 > d->top.delay_ns) &&
		    steps_ms[i] * 1000000 != d->top.delay_ns) {
			set_delay(d, steps_ms[i] * 1000000);
			return;
		}
	}
}

static void set_order(struct display *d, enum client_order order, bool reverse)
{
	d->top.order = order;
	d->top.reverse = reverse;
	clients_sort(&d->top.clients, order, reverse);
	top_sort_processes(&d->top);
}

/* What a key does to the display, beside the mode. */
static void act(struct display *d, int key)
{
	switch (key) {
	case '+':
	case '=':
		step_delay(d, 1);
		break;
	case '-':
		step_delay(d, -1);
		break;
	case 'g':
		if (d->best_style == STYLE_BRAILLE)
			d->style = d->style == STYLE_BRAILLE ? STYLE_BLOCKS : STYLE_BRAILLE;
		break;
	case 'v':
		d->top.view = d->top.view == VIEW_PROCESSES ? VIEW_CLIENTS : VIEW_PROCESSES;
		break;
	case 'P':
		set_order(d, CLIENTS_BY_TIME, false);
		break;
	case 'M':
		set_order(d, CLIENTS_BY_MEMORY, false);
		break;
	case 'N':
		set_order(d, CLIENTS_BY_PID, false);
		break;
	case 'C':
		set_order(d, CLIENTS_BY_NAME, false);
		break;
	case '<':
		set_order(d, (d->top.order + CLIENT_ORDERS - 1) % CLIENT_ORDERS, d->top.reverse);
		break;
	case '>':
		set_order(d, (d->top.order + 1) % CLIENT_ORDERS, d->top.reverse);
		break;
	case 'R':
		set_order(d, d->top.order, !d->top.reverse);
		break;
	}
}

/* A key while the delay is typed. */
static void type(struct display *d, int key)
{
	size_t length = strlen(d->typed);
	uint64_t ns;

	if (key == SCREEN_ESCAPE) {
		d->mode = d->mode_before;
	} else if (key == SCREEN_BACKSPACE) {
		if (length)
			d->typed[length - 1] = 0;
	} else if (key == SCREEN_ENTER) {
		if (parse_period(d->typed, &ns) && ns >= MIN_DELAY_NS)
			set_delay(d, ns);
		else
			snprintf(d->complaint, sizeof(d->complaint),
				 "\"%s\": use a time of 10ms or more, such as 500ms. ", d->typed);
		d->mode = d->mode_before;
	} else if (key > ' ' && key <= '~' && length + 1 < sizeof(d->typed)) {
		d->typed[length] = key;
		d->typed[length + 1] = 0;
	}
}

static void call_mode(struct display *d, enum mode mode)
{
	d->mode_before = d->mode;
	d->mode = mode;
	d->typed[0] = 0;
}

static void press(struct display *d, int key)
{
	d->complaint[0] = 0;
	switch (d->mode) {
	case MODE_HELP:
		d->mode = d->mode_before;
		return;
	case MODE_DELAY:
		type(d, key);
		return;
	case MODE_ENDED:
		return;
	case MODE_LIVE:
	case MODE_PAUSED:
		break;
	}
	switch (key) {
	case 'q':
		d->mode = MODE_ENDED;
		break;
	case 'h':
	case '?':
		call_mode(d, MODE_HELP);
		break;
	case 's':
		call_mode(d, MODE_DELAY);
		break;
	case 'p':
	case ' ':
		d->mode = d->mode == MODE_LIVE ? MODE_PAUSED : MODE_LIVE;
		break;
	default:
		act(d, key);
	}
}

/* Whether it is in a pause, of which another mode may have been called. */
static bool is_paused(const struct display *d)
{
	if (d->mode == MODE_HELP || d->mode == MODE_DELAY)
		return d->mode_before == MODE_PAUSED;
	return d->mode == MODE_PAUSED;
}

/* ---- Showing ---- */

static void make_note(const struct display *d, char *note, size_t size)
{
	if (d->mode == MODE_DELAY)
		snprintf(note, size, "New update interval, such as 500ms (now %g s): %s_", d->top.delay_ns / 1e9, d->typed);
	else if (*d->complaint)
		snprintf(note, size, "%s", d->complaint);
	else if (d->mode == MODE_PAUSED)
		snprintf(note, size, "PAUSED: press p to resume");
	else if ((d->top.log.overflowed || d->top.log.failed) && pperf_log_text(&d->top.log, 0, note, size))
		return;
	else
		snprintf(note, size, "q quit  h help  p pause");
}

static int show_screen(const struct display *d)
{
	struct canvas canvas;
	char note[PPERF_LOG_TEXT];
	int columns, rows;

	screen_size(&columns, &rows);
	if (!canvas_init(&canvas, columns, rows)) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	if (d->mode == MODE_HELP) {
		top_draw_help(&d->top, &canvas);
	} else {
		make_note(d, note, sizeof(note));
		top_draw(&d->top, &canvas, d->style, note);
	}
	screen_show(&canvas);
	canvas_free(&canvas);
	return STATUS_OK;
}

static int show_text(const struct display *d)
{
	struct canvas canvas;
	char text[PPERF_LOG_TEXT];
	unsigned int i;

	if (!canvas_init(&canvas, TEXT_COLUMNS, top_rows(&d->top, TEXT_COLUMNS))) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	top_draw(&d->top, &canvas, d->style, "");
	canvas_write(&canvas, stdout);
	canvas_free(&canvas);
	for (i = 0; pperf_log_text(&d->top.log, i, text, sizeof(text)); i++)
		printf("%s\n", text);
	return STATUS_OK;
}

/* Shows an update. Returns a status. */
static int show(struct display *d)
{
	int status = STATUS_OK;
	char clock[RATES_TEXT];

	switch (d->form) {
	case FORM_SCREEN:
		return show_screen(d);
	case FORM_TEXT:
		status = show_text(d);
		break;
	case FORM_LINES:
		if (*d->top.why_not && !d->lines)
			complain("%s", d->top.why_not);
		if (!d->clock_told && rates_text(&d->top.clock, clock)) {
			complain("%s", clock);
			d->clock_told = true;
		}
		top_print_line(&d->top, stdout, d->lines++ % TITLES_EVERY == 0);
		break;
	case FORM_JSON:
		top_print_json(&d->top, stdout);
		break;
	}
	if (!status && fflush(stdout)) {
		complain("cannot write: %s", strerror(errno));
		status = STATUS_IO;
	}
	return status;
}

/* ---- The loop ---- */

enum event {
	EVENT_NONE = 0,
	EVENT_UPDATE = 1 << 0,
	EVENT_END = 1 << 1,
	EVENT_REDRAW = 1 << 2,
};

static unsigned int read_signals(struct display *d)
{
	struct signalfd_siginfo info;
	unsigned int events = EVENT_NONE;

	while (read(d->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGWINCH) {
			events |= EVENT_END;
		} else if (d->form == FORM_SCREEN) {
			screen_resize();
			events |= EVENT_REDRAW;
		}
	}
	return events;
}

static unsigned int read_keys(struct display *d)
{
	unsigned int events = EVENT_NONE;
	int key;

	while ((key = screen_key()) != SCREEN_NO_KEY) {
		press(d, key);
		events |= EVENT_REDRAW;
	}
	return d->mode == MODE_ENDED ? EVENT_END : events;
}

enum {
	FD_SIGNALS,
	FD_TIMER,
	FD_SESSION,
	FD_KEYS,
	FDS,
};

/* Waits for something to do. Samples are read as they come. */
static enum pperf_error wait_for_events(struct display *d, unsigned int *events)
{
	struct pollfd fds[FDS] = {
		[FD_SIGNALS] = { .fd = d->signals, .events = POLLIN },
		[FD_TIMER] = { .fd = d->timer, .events = POLLIN },
		[FD_SESSION] = { .fd = d->session ? pperf_session_fd(d->session) : -1, .events = POLLIN },
		[FD_KEYS] = { .fd = d->form == FORM_SCREEN ? STDIN_FILENO : -1, .events = POLLIN },
	};
	enum pperf_error error = PPERF_OK;
	uint64_t times;

	*events = EVENT_NONE;
	if (poll(fds, FDS, d->jobs ? JOB_RECORDER_MS : -1) < 0)
		return PPERF_OK;
	if (fds[FD_SIGNALS].revents)
		*events |= read_signals(d);
	/* A terminal that is gone can be read for ever, and has nothing. */
	if (fds[FD_KEYS].revents & (POLLHUP | POLLERR | POLLNVAL))
		*events |= EVENT_END;
	else if (fds[FD_KEYS].revents)
		*events |= read_keys(d);
	if (fds[FD_TIMER].revents && read(d->timer, &times, sizeof(times)) == sizeof(times))
		*events |= EVENT_UPDATE;
	if (fds[FD_SESSION].revents)
		error = drain(d);
	return error ? error : look_at_jobs(d, false);
}

/* Ends the counting, and waits for the last sample, unless the user does not want to. */
static enum pperf_error finish(struct display *d, bool *interrupted)
{
	enum pperf_error error;
	unsigned int events;

	*interrupted = false;
	if (!d->session)
		return PPERF_OK;
	error = pperf_session_stop(d->session, TAG_STOP);
	while (!error && !d->stopped) {
		error = wait_for_events(d, &events);
		if (events & EVENT_END) {
			complain("interrupted while waiting for the last sample");
			*interrupted = true;
			return PPERF_OK;
		}
	}
	return error;
}

/* The message of an error, after the terminal is as it was. */
static int fail(enum pperf_error error)
{
	screen_end();
	return complain_of(error);
}

/* Shows updates until it is to end. Returns a status. */
static int run(struct display *d)
{
	enum pperf_error error = look_at_users(d);
	unsigned int events = EVENT_REDRAW;
	int status = STATUS_OK;
	bool updated, interrupted;

	set_delay(d, d->arguments->delay_ns);
	while (!error && !status && !(events & EVENT_END)) {
		if (d->form == FORM_SCREEN && events & EVENT_REDRAW)
			status = show(d);
		if (!status)
			error = wait_for_events(d, &events);
		if (error || events & EVENT_END || !(events & EVENT_UPDATE) || is_paused(d))
			continue;
		if (d->arguments->once)
			break;
		error = update(d, &updated);
		if (!error && updated)
			status = show(d);
	}
	if (error)
		return fail(error);
	if (status || d->form == FORM_SCREEN)
		return status;

	/* What was counted since the last update. */
	error = finish(d, &interrupted);
	if (interrupted)
		return STATUS_FAILED;
	if (!error)
		error = update(d, &updated);
	return error ? fail(error) : updated ? show(d) : status;
}

static int open_events(struct display *d)
{
	sigset_t caught;

	sigemptyset(&caught);
	sigaddset(&caught, SIGINT);
	sigaddset(&caught, SIGQUIT);
	sigaddset(&caught, SIGTERM);
	sigaddset(&caught, SIGHUP);
	sigaddset(&caught, SIGWINCH);
	sigprocmask(SIG_BLOCK, &caught, &d->before);
	d->signals = signalfd(-1, &caught, SFD_CLOEXEC | SFD_NONBLOCK);
	d->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (d->signals >= 0 && d->timer >= 0)
		return STATUS_OK;
	complain("cannot wait for events: %s", strerror(errno));
	return STATUS_FAILED;
}

static void close_events(struct display *d)
{
	if (d->signals >= 0)
		close(d->signals);
	if (d->timer >= 0)
		close(d->timer);
	sigprocmask(SIG_SETMASK, &d->before, NULL);
}

/* In which form it is to be shown. Returns a status. */
static int choose_form(struct display *d)
{
	const struct arguments *arguments = d->arguments;

	d->best_style = d->style = screen_has_utf8() ? STYLE_BRAILLE : STYLE_ASCII;
	if (arguments->json)
		d->form = FORM_JSON;
	else if (arguments->once)
		d->form = FORM_TEXT;
	else if (arguments->lines || screen_is_dumb())
		d->form = FORM_LINES;
	else
		d->form = FORM_SCREEN;
	return d->form == FORM_SCREEN ? screen_check() : STATUS_OK;
}

static int top_gpu(struct display *d)
{
	struct pperf_selection *selection = NULL;
	enum pperf_error error;
	int status = open_events(d);

	if (status)
		goto out;
	error = pperf_selection_new(d->top.db, d->top.info, &selection);
	if (!error)
		error = choose(&d->top, selection);
	d->top.selection = selection;
	if (!error)
		error = make_period(&d->top, &d->top.shown);
	if (!error)
		error = make_period(&d->top, &d->next);
	if (!error && d->form == FORM_SCREEN && !history_init(&d->top.history, HISTORY))
		error = PPERF_ERROR_NO_MEMORY;
	/* What removes traces must not have what is mapped for counting. */
	if (!error)
		begin_jobs(d);
	if (!error)
		error = begin(d);
	if (error) {
		status = fail(error);
		goto out;
	}
	if (d->form == FORM_SCREEN)
		status = screen_begin();
	if (!status)
		status = run(d);
	screen_end();
out:
	pperf_session_close(d->session);
	job_recorder_close(d->jobs);
	job_usage_free(&d->top.jobs);
	job_usage_free(&d->next_jobs);
	free(d->top.processes.list);
	free_period(&d->top.shown);
	free_period(&d->next);
	history_free(&d->top.history);
	clients_free(&d->top.clients);
	pperf_selection_free(selection);
	close_events(d);
	return status;
}

/* ---- The command ---- */

enum option_key {
	KEY_ONCE = 256,
	KEY_LINES,
};

static const struct argp_option options[] = {
	{ "period", 'p', "TIME", 0, "Update interval, such as 500ms or 2s (default: 1s)", 0 },
	{ "once", KEY_ONCE, NULL, 0, "Print one update as text and exit", 0 },
	{ "json", 'j', NULL, 0, "Print each update as a line of JSON", 0 },
	{ "lines", KEY_LINES, NULL, 0, "Print each update as a line of text, as on a dumb terminal", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'p':
		if (!parse_period(arg, &arguments->delay_ns))
			wrong_period(state, "-p", arg);
		if (arguments->delay_ns < MIN_DELAY_NS)
			argp_error(state, "-p %s: the shortest interval is 10ms", arg);
		return 0;
	case KEY_ONCE:
		arguments->once = true;
		return 0;
	case 'j':
		arguments->json = true;
		return 0;
	case KEY_LINES:
		arguments->lines = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (arguments->lines && arguments->json)
			argp_error(state, "--lines cannot be combined with -j");
		if (arguments->lines && arguments->once)
			argp_error(state, "--lines cannot be combined with --once");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

int command_top(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL,
		"Shows live GPU usage and its clients.\v"
		"Keys: q quits, h shows all keys. Without a terminal, or on a dumb one, each update is a line of text.", children, NULL, NULL
	};
	struct arguments arguments = { .delay_ns = DEFAULT_DELAY_NS };
	struct display d = { .arguments = &arguments, .signals = -1, .timer = -1, .top = { .log = { .size = sizeof(d.top.log) } } };
	struct pperf_db *db;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	setlocale(LC_CTYPE, "");
	status = choose_form(&d);
	if (status)
		return status;
	status = open_gpu(arguments.device, 0, &d.gpu, &db);
	if (status)
		return status;
	d.top.info = pperf_gpu_info(d.gpu);
	d.top.db = db;
	status = top_gpu(&d);
	pperf_db_close(db);
	pperf_gpu_close(d.gpu);
	return status;
}
