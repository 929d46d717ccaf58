// SPDX-License-Identifier: MIT
/* What panthor-perf top shows: a screen, lines, JSON. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "fields.h"
#include "job-report.h"
#include "text.h"
#include "top.h"

/* Less than this, and nothing can be read. */
#define MIN_COLUMNS 40
#define MIN_ROWS 10

#define LABEL_COLUMNS 9
#define MIN_CLIENT_ROWS 5

/* Shader cores get so many rows before they get narrower bars. */
#define MIN_CORE_ROWS 4

/* ---- Figures ---- */

static bool has_period(const struct top *top)
{
	return top->shown.sums && pperf_sums_samples(top->shown.sums);
}

/* Those of the period that is shown; of none, nothing is known. */
static struct figures figures(const struct top *top)
{
	struct figures f = { .hz = NAN, .read = NAN, .written = NAN };

	if (has_period(top))
		f = figures_of(&top->source, top->shown.sums);
	f.clock = top->clock;
	return f;
}

double top_load(const struct top *top)
{
	struct figures f = figures(top);

	return f.has_load ? f.load.of_time : NAN;
}

static double unit_load(const struct top *top, unsigned int unit)
{
	return has_period(top) ? figures_unit_load(&top->source, top->shown.sums, unit) : NAN;
}

static double core_load(const struct top *top, unsigned int core)
{
	return has_period(top) ? figures_core_load(&top->source, top->shown.sums, core) : NAN;
}

/* The mean of the period, or that of this moment if the GPU was not active. */
static double frequency(const struct top *top, const struct figures *f)
{
	return isnan(f->hz) ? top->frequency : f->hz;
}

/* ---- Texts ---- */

struct text {
	char text[32];
};

/* "45.2%", or "-". */
static struct text percent(double part)
{
	struct text t;

	if (isnan(part))
		strcpy(t.text, "-");
	else
		snprintf(t.text, sizeof(t.text), "%.1f%%", part * 100);
	return t;
}

static struct text with_prefix(double value, const char *unit)
{
	struct text t;

	if (isnan(value))
		strcpy(t.text, "-");
	else
		scaled(value, unit, t.text, sizeof(t.text));
	return t;
}

/* Bytes as in other tops: "123M". */
static struct text bytes_text(bool known, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	double value = bytes;
	unsigned int u = 0;
	struct text t;

	for (; value >= 1024 && units[u + 1]; u++)
		value /= 1024;
	if (!known)
		strcpy(t.text, "-");
	else if (!u || value >= 100)
		snprintf(t.text, sizeof(t.text), "%.0f%c", value, units[u]);
	else
		snprintf(t.text, sizeof(t.text), "%.1f%c", value, units[u]);
	return t;
}

static struct text time_text(uint64_t ns)
{
	struct text t;

	if (ns >= 1000000000)
		snprintf(t.text, sizeof(t.text), "%g s", ns / 1e9);
	else
		snprintf(t.text, sizeof(t.text), "%g ms", ns / 1e6);
	return t;
}

static struct text frequency_text(double hz)
{
	struct text t;

	if (hz > 0)
		snprintf(t.text, sizeof(t.text), "%.*f MHz", hz < 1e7 ? 2 : 0, hz / 1e6);
	else
		strcpy(t.text, "-");
	return t;
}

/* With so many digits behind the point, or "-". */
static struct text fixed(double value, int digits)
{
	struct text t;

	if (isnan(value))
		strcpy(t.text, "-");
	else
		snprintf(t.text, sizeof(t.text), "%.*f", digits, value);
	return t;
}

static struct text milliseconds(double seconds)
{
	return fixed(seconds * 1e3, seconds < 1 ? 3 : seconds < 100 ? 1 : 0);
}

/* ---- The screen ---- */

/* Draws a text over several rows, broken at blanks. Returns the row behind it. */
static int draw_wrapped(struct canvas *canvas, int row, int column, int rows, enum graph_look look, const char *text)
{
	int width = canvas->columns - column, length, end;

	while (*text && rows-- > 0) {
		end = length = strcspn(text, "\n");
		if (length > width) {
			for (end = width; end && text[end] != ' '; end--)
				;
			if (!end)
				end = width;
		}
		canvas_put(canvas, row++, column, end, look, text);
		text += end;
		text += strspn(text, " \n");
	}
	return row;
}

/* A title, a bar and its value, in a field of the screen. */
static void draw_bar(struct canvas *canvas, int row, int column, int width, const char *title, double part,
		     enum graph_style style)
{
	canvas_put(canvas, row, column, LABEL_COLUMNS - 1, LOOK_PLAIN, title);
	graph_bar(canvas, row, column + LABEL_COLUMNS, width - LABEL_COLUMNS - 8, part, style);
	canvas_print(canvas, row, column + width - 7, LOOK_PLAIN, "%6s", percent(part).text);
}

/* In how many fields a row is cut, for so many bars. */
static int fields(int columns, int width, int count)
{
	int n = columns / width;

	return n < 1 ? 1 : n > count ? count : n;
}

/* Rows of the bars, in fields of at least so many columns. */
static int rows_of(int columns, int width, int count)
{
	int n = fields(columns, width, count ? count : 1);

	return (count + n - 1) / n;
}

#define BAR_FIELD 38

/* Fields of cores become narrower if there are many of them. */
static int core_field(int columns, int rows, int cores)
{
	int width = BAR_FIELD;

	while (width > 22 && rows_of(columns, width, cores) > rows)
		width--;
	return width;
}

static int draw_gpu(const struct top *top, struct canvas *canvas, int row, enum graph_style style)
{
	struct figures f = figures(top);
	double of_time = f.has_load ? f.load.of_time : NAN;
	int width = canvas->columns - LABEL_COLUMNS - 42;
	char clock[RATES_TEXT];

	canvas_put(canvas, row, 0, LABEL_COLUMNS, LOOK_TITLE, "GPU");
	if (width >= 8)
		graph_bar(canvas, row, LABEL_COLUMNS, width, of_time, style);
	else
		width = 0;
	canvas_print(canvas, row, LABEL_COLUMNS + width + 1, LOOK_TITLE, "%6s of time %6s of cycles %8s",
		     percent(of_time).text, percent(f.has_load ? f.load.of_cycles : NAN).text,
		     frequency_text(frequency(top, &f)).text);
	if (rates_text(&top->clock, clock))
		canvas_print(canvas, ++row, 0, LOOK_PLAIN, "%-*s%s", LABEL_COLUMNS, "Clock", clock);
	return row + 1;
}

static int draw_bars(const struct top *top, struct canvas *canvas, int row, enum graph_style style)
{
	const struct figures_source *s = &top->source;
	int n = fields(canvas->columns, BAR_FIELD, s->num_units ? s->num_units : 1), width = canvas->columns / n;
	unsigned int i;

	for (i = 0; i < s->num_units; i++)
		draw_bar(canvas, row + i / n, i % n * width, width, s->units[i].title, unit_load(top, i), style);
	return row + (s->num_units + n - 1) / n;
}

static int draw_cores(const struct top *top, struct canvas *canvas, int row, int field, enum graph_style style)
{
	int n = fields(canvas->columns, field, top->info->cores ? top->info->cores : 1), width = canvas->columns / n;
	char title[16];
	unsigned int i;

	for (i = 0; i < top->info->cores; i++) {
		snprintf(title, sizeof(title), "Core %u", i);
		draw_bar(canvas, row + i / n, i % n * width, width, title, core_load(top, i), style);
	}
	return row + (top->info->cores + n - 1) / n;
}

static int draw_topdown(const struct top *top, struct canvas *canvas, int row)
{
	const struct pperf_topdown_node *nodes[16], *largest;
	size_t count, i;
	int column;

	if (!top->shown.topdown)
		return row;
	column = canvas_put(canvas, row, 0, MAX_COLUMNS, LOOK_PLAIN, "Top-down ");
	count = pperf_db_topdown_level(top->db, 1, nodes, 16);
	for (i = 0; i < count; i++)
		column = canvas_print(canvas, row, column, LOOK_PLAIN, "%s%s %.0f%%", i ? " " : "", nodes[i]->title,
				      100 * pperf_topdown_share(top->shown.topdown, nodes[i]));
	largest = pperf_topdown_largest(top->shown.topdown, pperf_db_topdown_levels(top->db));
	if (largest)
		canvas_print(canvas, row + 1, 0, LOOK_DIM, "Estimate: %s. %s", largest->title, largest->next);
	return row + 2;
}

/* Why the GPU had no job. */
static int draw_idle(const struct top *top, struct canvas *canvas, int row)
{
	const struct job_times *times = &top->jobs.times;
	int column, state;

	if (*top->why_no_jobs)
		return row;
	column = canvas_put(canvas, row, 0, MAX_COLUMNS, LOOK_PLAIN, "No job   ");
	if (!top_has_jobs(top))
		canvas_put(canvas, row, column, MAX_COLUMNS, LOOK_PLAIN, "-");
	for (state = JOB_STATES - 1; top_has_jobs(top) && state >= 0; state--)
		if (state != JOBS_RUNNING && (state != JOBS_UNKNOWN || times->ns[state]))
			column = canvas_print(canvas, row, column, LOOK_PLAIN, "%s%s %.1f%%", state < JOBS_NONE ? ", " : "",
					      job_states[state][1], job_times_percent(times, times->ns[state]));
	return row + 1;
}

static int draw_history(const struct top *top, struct canvas *canvas, int row, int rows, enum graph_style style)
{
	if (rows < 1 || !top->history.size)
		return row;
	canvas_put(canvas, row, 0, LABEL_COLUMNS, LOOK_DIM, "100%");
	if (rows > 1)
		canvas_put(canvas, row + rows - 1, 0, LABEL_COLUMNS, LOOK_DIM, "  0%");
	graph_history(canvas, row, LABEL_COLUMNS, canvas->columns - LABEL_COLUMNS, rows, &top->history, style);
	return row + rows;
}

static const char *const order_names[CLIENT_ORDERS] = {
	[CLIENTS_BY_TIME] = "time",
	[CLIENTS_BY_MEMORY] = "memory",
	[CLIENTS_BY_PID] = "PID",
	[CLIENTS_BY_NAME] = "name",
};

static struct text sessions_text(const struct client *client)
{
	struct text t;

	snprintf(t.text, sizeof(t.text), "%" PRIu64, client->info.sessions);
	if (!client->info.has_sessions)
		strcpy(t.text, "-");
	return t;
}

static struct text id_text(const struct client *client)
{
	struct text t;

	snprintf(t.text, sizeof(t.text), "%" PRIu64, client->info.id);
	return t;
}

static void draw_client(const struct client *client, struct canvas *canvas, int row, int id_width, int sessions_width)
{
	uint64_t resident, total, shared;
	bool has_resident = client_memory(client, FDINFO_RESIDENT, &resident);
	bool has_total = client_memory(client, FDINFO_TOTAL, &total);
	bool has_shared = client_memory(client, FDINFO_SHARED, &shared);

	canvas_print(canvas, row, 0, LOOK_PLAIN, "%7d %*s %6s %6s %5s %7s %7s %7s %*s %s%s%s", (int)client->pid,
		     id_width, id_text(client).text, percent(client_busy(client)).text, percent(client_load(client)).text,
		     fixed(client_hz(client) / 1e6, 0).text, bytes_text(has_resident, resident).text,
		     bytes_text(has_total, total).text, bytes_text(has_shared, shared).text, sessions_width,
		     sessions_text(client).text, client->command,
		     *client->info.client_name ? " " : "", client->info.client_name);
}

static void draw_process(const struct top_process *p, struct canvas *canvas, int row)
{
	canvas_print(canvas, row, 0, LOOK_PLAIN, "%7d %6s %6s %7s %7s %7s %7s %7s %s", (int)p->pid, percent(p->busy).text,
		     percent(p->alone).text, fixed(p->rate, p->rate < 100 ? 1 : 0).text, milliseconds(p->to_run).text, milliseconds(p->to_end).text,
		     bytes_text(p->has_resident, p->resident).text, bytes_text(p->has_total, p->total).text,
		     *p->command ? p->command : "?");
}

/* The last row that there is tells of those that have none. */
static void draw_more(struct canvas *canvas, int end, size_t shown, size_t count)
{
	if (shown < count)
		canvas_print(canvas, end - 1, 0, LOOK_DIM, "%7s %zu more%*s", "...", count - shown + !!shown, canvas->columns, "");
}

static void draw_processes(const struct top *top, struct canvas *canvas, int row, int end)
{
	char title[2 * MAX_COLUMNS + 1];
	size_t i;

	snprintf(title, sizeof(title), "%7s %6s %6s %7s %7s %7s %7s %7s COMMAND%*s", "PID", "TIME", "ALONE", "JOBS/s", "WAIT ms",
		 "RUN ms", "RESIDNT", "TOTAL", canvas->columns, "");
	canvas_put(canvas, row++, 0, MAX_COLUMNS, LOOK_HEADER, title);
	for (i = 0; i < top->processes.count && row < end; i++)
		draw_process(&top->processes.list[i], canvas, row++);
	draw_more(canvas, end, i, top->processes.count);
}

static void draw_clients(const struct top *top, struct canvas *canvas, int row, int end)
{
	int id_width = strlen("CLIENT"), sessions_width = strlen("SESS");
	char title[2 * MAX_COLUMNS + 1];
	size_t i;

	for (i = 0; i < top->clients.count; i++) {
		id_width = widen(id_width, id_text(&top->clients.list[i]).text);
		sessions_width = widen(sessions_width, sessions_text(&top->clients.list[i]).text);
	}
	snprintf(title, sizeof(title), "%7s %*s %6s %6s %5s %7s %7s %7s %*s COMMAND%*s", "PID", id_width, "CLIENT", "TIME",
		 "CYCLES", "MHz", "RESIDNT", "TOTAL", "SHARED", sessions_width, "SESS", canvas->columns, "");
	canvas_put(canvas, row++, 0, MAX_COLUMNS, LOOK_HEADER, title);
	for (i = 0; i < top->clients.count && row < end; i++)
		draw_client(&top->clients.list[i], canvas, row++, id_width, sessions_width);
	draw_more(canvas, end, i, top->clients.count);
}

/* Rows above the clients, with no history. */
static int rows_above(const struct top *top, int columns, int field)
{
	char clock[RATES_TEXT];
	/* Title, GPU, memory. */
	int rows = 3 + rows_of(columns, BAR_FIELD, top->source.num_units) + rows_of(columns, field, top->info->cores);

	return rows + (top->shown.topdown ? 2 : 0) + !*top->why_no_jobs + rates_text(&top->clock, clock);
}

int top_rows(const struct top *top, int columns)
{
	int rows = rows_above(top, columns, core_field(columns, MIN_CORE_ROWS, top->info->cores));
	size_t users = top->view == VIEW_PROCESSES ? top->processes.count : top->clients.count;

	/* What cannot be seen takes the room of what can. The titles of clients or processes, one or all of them, the note. */
	return rows + 1 + (users ? users : 1) + 1;
}

/* What has to be told of the clients, if anything. */
static void tell_of_clients(const struct top *top, char *text, size_t size)
{
	if (top->view == VIEW_PROCESSES && *top->why_no_jobs)
		snprintf(text, size, "No jobs: %s. ", top->why_no_jobs);
	else if (top->clients.hidden)
		snprintf(text, size, "%u processes of other users are hidden; run as root to see them. ", top->clients.hidden);
	else if (top->view == VIEW_CLIENTS && !top->profiling)
		snprintf(text, size, "Per-client GPU time is off in the kernel; press h for how to enable it. ");
	else
		*text = 0;
}

void top_draw(const struct top *top, struct canvas *canvas, enum graph_style style, const char *note)
{
	int end = canvas->rows - 1, row = 0, rows, field;
	struct figures f = figures(top);
	char text[512];

	if (canvas->columns < MIN_COLUMNS || canvas->rows < MIN_ROWS) {
		canvas_print(canvas, 0, 0, LOOK_WARNING, "Terminal too small: %dx%d", canvas->columns, canvas->rows);
		canvas_print(canvas, 1, 0, LOOK_WARNING, "%dx%d needed", MIN_COLUMNS, MIN_ROWS);
		return;
	}

	canvas_print(canvas, row++, 0, LOOK_TITLE, "panthor-perf top - %s (%s), every %s", top->info->name,
		     top->info->node ? top->info->node : "?", time_text(top->delay_ns).text);
	row = draw_gpu(top, canvas, row, style);
	if (*top->why_not) {
		row = draw_wrapped(canvas, row, 0, canvas->rows - row - MIN_CLIENT_ROWS, LOOK_WARNING, top->why_not);
		row = draw_idle(top, canvas, row);
	} else {
		rows = (canvas->rows - 16) / 2;
		field = core_field(canvas->columns, rows < MIN_CORE_ROWS ? MIN_CORE_ROWS : rows, top->info->cores);
		row = draw_bars(top, canvas, row, style);
		row = draw_cores(top, canvas, row, field, style);
		canvas_print(canvas, row++, 0, LOOK_PLAIN, "Memory   read %s, write %s",
			     with_prefix(f.read, "B/s").text, with_prefix(f.written, "B/s").text);
		row = draw_topdown(top, canvas, row);
		row = draw_idle(top, canvas, row);
		/* A fifth of the screen, and no more than leaves clients some rows. */
		rows = canvas->rows / 5 < 4 ? 4 : canvas->rows / 5;
		if (rows > end - row - MIN_CLIENT_ROWS)
			rows = end - row - MIN_CLIENT_ROWS;
		row = draw_history(top, canvas, row, rows, style);
	}
	if (row < end && top->view == VIEW_PROCESSES)
		draw_processes(top, canvas, row, end);
	else if (row < end)
		draw_clients(top, canvas, row, end);

	for (row = 0; row < canvas->columns; row++)
		*canvas_at(canvas, end, row) = (struct cell){ .text = " " };
	tell_of_clients(top, text, sizeof(text));
	row = canvas_put(canvas, end, 0, MAX_COLUMNS, LOOK_DIM, note);
	if (*note && *text)
		row = canvas_put(canvas, end, row, 2, LOOK_DIM, "  ");
	canvas_put(canvas, end, row, MAX_COLUMNS, LOOK_DIM, text);
}

void top_draw_help(const struct top *top, struct canvas *canvas)
{
	static const char *const lines[] = {
		"q          quit                      p, space   pause, resume",
		"h, ?       this help                 s          set the update interval",
		"+, -       longer, shorter interval  g          change the graph style",
		"v          processes, or clients: the files of the GPU that are open",
		"P  sort by GPU time                  M  by memory",
		"N  by process                        C  by command",
		"R  reverse the order                 < >  by the previous, next column",
		"",
		"GPU, queues, tiler and cores show the share of time in which they were active",
		"(a sleeping GPU counts as idle); \"of cycles\" is the share while powered.",
		"Top-down is an estimate of what limited performance.",
		"TIME and ALONE of a process: share of time in which its jobs ran, and no others;",
		"WAIT, RUN: mean time of a job from queued to run, and from run to its end.",
		"TIME and CYCLES of a client: share of time, and of cycles at the highest",
		"frequency; MHz: mean while its work ran. To enable them (Linux 6.13 on):",
	};
	size_t i;
	int row;

	canvas_put(canvas, 0, 0, MAX_COLUMNS, LOOK_TITLE, "panthor-perf top - help");
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		canvas_put(canvas, 2 + i, 1, MAX_COLUMNS, LOOK_PLAIN, lines[i]);
	row = 2 + i;
	canvas_print(canvas, row++, 3, LOOK_PLAIN, "echo 3 > %s/profiling", top->info->sysfs ? top->info->sysfs : "...");
	canvas_put(canvas, row++, 1, MAX_COLUMNS, LOOK_PLAIN, "as root. It costs a little GPU time.");
	canvas_print(canvas, row + 1, 1, LOOK_PLAIN, "Sorted by %s%s; updated every %s. Press any key to return.",
		     order_names[top->order], top->reverse ? ", reversed" : "", time_text(top->delay_ns).text);
}

/* ---- Lines ---- */

void top_print_line(const struct top *top, FILE *out, bool titles)
{
	const struct pperf_topdown_node *largest = NULL;
	struct figures f = figures(top);
	double cores = 0;
	unsigned int i;

	if (titles) {
		fprintf(out, "%7s %7s %9s", "TIME", "CYCLES", "FREQUENCY");
		for (i = 0; i < top->source.num_units; i++)
			fprintf(out, " %8s", top->source.units[i].title);
		fprintf(out, " %7s %11s %11s %7s  %s\n", "Cores", "READ", "WRITTEN", "CLIENTS", "MOSTLY");
	}
	fprintf(out, "%7s %7s %9s", percent(f.has_load ? f.load.of_time : NAN).text,
		percent(f.has_load ? f.load.of_cycles : NAN).text, frequency_text(frequency(top, &f)).text);
	for (i = 0; i < top->source.num_units; i++)
		fprintf(out, " %8s", percent(unit_load(top, i)).text);
	for (i = 0; i < top->info->cores; i++)
		cores += core_load(top, i) / top->info->cores;
	if (top->shown.topdown && has_period(top))
		largest = pperf_topdown_largest(top->shown.topdown, 1);
	fprintf(out, " %7s %11s %11s %7zu  %s\n", percent(f.has_load ? cores : NAN).text,
		with_prefix(f.read, "B/s").text, with_prefix(f.written, "B/s").text,
		top->clients.count, largest ? largest->title : "-");
}

/* ---- JSON ---- */

static void add(struct json_object *to, const char *name, struct json_object *value)
{
	json_object_object_add(to, name, value);
}

/* null if it is no number. */
static struct json_object *json_real(double value)
{
	return isfinite(value) ? json_object_new_double(value) : NULL;
}

/* Text of others: what is no UTF-8 would be no JSON. */
static struct json_object *json_text(const char *text)
{
	char *copy = pperf_text_utf8(text);
	struct json_object *object = copy ? json_object_new_string(copy) : NULL;

	free(copy);
	return object;
}

/* Counters of hardware by block, others as one value. */
static struct json_object *json_counters(const struct top *top)
{
	struct json_object *object = json_object_new_object(), *list;
	const struct pperf_counter *const *counters;
	unsigned int block;
	size_t count, i;
	double value;

	counters = pperf_selection_counters(top->selection, &count);
	for (i = 0; i < count; i++) {
		if (!counters[i]->type) {
			if (pperf_sums_value(top->shown.sums, counters[i], &value))
				value = NAN;
			add(object, counters[i]->name, json_real(value));
			continue;
		}
		list = json_object_new_array();
		for (block = 0; block < top->info->blocks[counters[i]->type]; block++)
			json_object_array_add(list, json_object_new_uint64(
				pperf_sums_block(top->shown.sums, counters[i], block)));
		add(object, counters[i]->name, list);
	}
	return object;
}

static struct json_object *json_bars(const struct top *top)
{
	struct json_object *object = json_object_new_object(), *cores = json_object_new_array();
	unsigned int i;

	for (i = 0; i < top->source.num_units; i++)
		add(object, top->source.units[i].title, json_real(unit_load(top, i)));
	for (i = 0; i < top->info->cores; i++)
		json_object_array_add(cores, json_real(core_load(top, i)));
	add(object, "Cores", cores);
	return object;
}

static struct json_object *json_topdown(const struct top *top)
{
	struct json_object *object = json_object_new_object();
	const struct pperf_topdown_node *const *nodes;
	size_t count, i;

	nodes = pperf_db_topdown(top->db, &count);
	for (i = 0; i < count; i++)
		add(object, nodes[i]->name, json_real(pperf_topdown_cycles(top->shown.topdown, nodes[i])));
	return object;
}

static struct json_object *json_items(const struct fdinfo_item *items, unsigned int count, const char *const *names,
				      unsigned int values)
{
	struct json_object *object = json_object_new_object(), *item;
	unsigned int i, v;

	for (i = 0; i < count; i++) {
		item = json_object_new_object();
		for (v = 0; v < values; v++)
			if (fdinfo_knows(&items[i], v))
				add(item, names[v], json_object_new_uint64(items[i].value[v]));
		add(object, items[i].name, item);
	}
	return object;
}

static struct json_object *json_client(const struct client *client)
{
	struct json_object *object = json_object_new_object();

	add(object, "id", json_object_new_uint64(client->info.id));
	add(object, "pid", json_object_new_int(client->pid));
	add(object, "command", json_text(client->command));
	if (*client->info.client_name)
		add(object, "name", json_text(client->info.client_name));
	add(object, "of_time", json_real(client_busy(client)));
	add(object, "of_cycles", json_real(client_load(client)));
	add(object, "frequency_hz", json_real(client_hz(client)));
	add(object, "engines", json_items(client->info.engines, client->info.num_engines, fdinfo_engine_names,
					  FDINFO_ENGINE_VALUES));
	add(object, "memory", json_items(client->info.regions, client->info.num_regions, fdinfo_memory_names,
					 FDINFO_MEMORY_VALUES));
	add(object, "sessions", client->info.has_sessions ? json_object_new_uint64(client->info.sessions) : NULL);
	return object;
}

/* Without the right to see jobs, they are not known, and the time is that of the clients. */
static struct json_object *json_process(const struct top *top, const struct top_process *p)
{
	struct json_object *object = json_object_new_object();
	const struct job_usage_process none = {}, *jobs = p->jobs ? p->jobs : &none;

	add(object, "pid", p->pid ? json_object_new_int(p->pid) : NULL);
	add(object, "command", p->pid ? json_text(p->command) : NULL);
	add(object, "of_time", json_real(p->busy));
	add(object, "alone_of_time", json_real(p->alone));
	if (top_has_jobs(top)) {
		json_add_count(object, "busy_ns", jobs->busy_ns);
		json_add_count(object, "alone_ns", jobs->alone_ns);
		json_add_count(object, "jobs", jobs->jobs);
		json_add_count(object, "timed_jobs", jobs->timed);
		json_add_count(object, "queued_to_run_ns", jobs->to_run_ns);
		json_add_count(object, "run_to_end_ns", jobs->to_end_ns);
	}
	json_add_count(object, "clients", p->clients);
	add(object, "resident", p->has_resident ? json_object_new_uint64(p->resident) : NULL);
	add(object, "total", p->has_total ? json_object_new_uint64(p->total) : NULL);
	return object;
}

static struct json_object *json_jobs(const struct top *top)
{
	const struct job_usage *jobs = &top->jobs;
	struct json_object *object = job_times_json(&jobs->times, false);

	json_add_count(object, "start_ns", jobs->start_ns);
	json_add_count(object, "end_ns", jobs->end_ns);
	json_add_count(object, "several_ns", jobs->times.several_ns);
	json_add_count(object, "gaps", jobs->gaps);
	return object;
}

static void json_period(const struct top *top, struct json_object *object)
{
	const struct pperf_sums *sums = top->shown.sums;
	uint32_t flags = pperf_sums_flags(sums);
	struct json_object *cycles = json_object_new_object();
	struct figures f = figures(top);
	unsigned int clock;

	add(object, "start_ns", json_object_new_uint64(pperf_sums_start_ns(sums)));
	add(object, "end_ns", json_object_new_uint64(pperf_sums_end_ns(sums)));
	add(object, "seconds", json_real(pperf_sums_seconds(sums)));
	add(object, "samples", json_object_new_uint64(pperf_sums_samples(sums)));
	add(object, "overflow", json_object_new_boolean(flags & PPERF_SAMPLE_OVERFLOW));
	add(object, "error", json_object_new_boolean(flags & PPERF_SAMPLE_ERROR));
	add(object, "stretched", json_object_new_boolean(flags & PPERF_SAMPLE_STRETCHED));
	for (clock = 0; clock < PPERF_CLOCKS; clock++)
		if (top->info->clocks & 1u << clock)
			add(cycles, pperf_clock_name(clock), json_object_new_uint64(pperf_sums_cycles(sums, clock)));
	add(object, "cycles", cycles);
	figures_add_json(object, &f);
	add(object, "bars", json_bars(top));
	add(object, "counters", json_counters(top));
	if (top->shown.topdown)
		add(object, "topdown_cycles", json_topdown(top));
}

void top_print_json(const struct top *top, FILE *out)
{
	struct json_object *object = json_object_new_object(), *list = json_object_new_array();
	struct json_object *processes = json_object_new_array();
	size_t i;

	add(object, "gpu", json_text(top->info->name));
	add(object, "device", json_text(top->info->node ? top->info->node : ""));
	add(object, "frequency_hz", top->frequency ? json_object_new_uint64(top->frequency) : NULL);
	if (has_period(top))
		json_period(top, object);
	if (*top->why_not)
		add(object, "not_counted", json_text(top->why_not));
	for (i = 0; i < top->clients.count; i++)
		json_object_array_add(list, json_client(&top->clients.list[i]));
	add(object, "clients", list);
	for (i = 0; i < top->processes.count; i++)
		json_object_array_add(processes, json_process(top, &top->processes.list[i]));
	add(object, "processes", processes);
	if (top_has_jobs(top))
		add(object, "jobs", json_jobs(top));
	if (*top->why_no_jobs)
		add(object, "jobs_not_known", json_text(top->why_no_jobs));
	add(object, "hidden_processes", json_object_new_uint64(top->clients.hidden));
	fprintf(out, "%s\n", json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}
