// SPDX-License-Identifier: MIT
/*
 * A recording as a page for a browser: what report says, as text that is there without a script, and lines
 * that the page's script draws. Nothing in it comes from elsewhere, and nothing can: its policy forbids it.
 *
 * What report says is taken from its JSON, value by value. A table's cell has the value as JSON has it in
 * data-v, beside the text for people.
 *
 * Lines are drawn, not read: each value is two characters, which stand for 0 to 4094 parts of the way from
 * the line's least to its largest value, or for no value.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "batches.h"
#include "common.h"
#include "figures.h"
#include "html-frames.h"
#include "html-jobs.h"
#include "html-text.h"
#include "html.h"
#include "job-report.h"
#include "report.h"

/* The assembler finds the file from the -I directory that has the library's header. */
#define EMBED(name, file)							\
	__asm__(".pushsection .rodata\n"					\
		#name ": .incbin \"../libpanthor-perf/../output/" file "\"\n"		\
		".byte 0\n"							\
		".popsection\n");						\
	extern const char name[] __attribute__((visibility("hidden")))

EMBED(html_page, "html/page.html");
EMBED(html_style, "html/page.css");
EMBED(html_script, "html/page.js");
EMBED(html_plot_style, "html/uPlot.min.css");
EMBED(html_plot_script, "html/uPlot.iife.js");
EMBED(html_plot_licence, "../../../LICENSES/uPlot");

/* As many regions are drawn, and as many have their sums side by side: a page's size does not depend on them. */
#define MAX_BANDS 4000
#define MAX_SUMS 12

/* What two characters can say, and what they say of no value. */
#define STEPS 4094
#define NO_VALUE 4095

/* What a bin's samples have: a bit of each beside PPERF_SAMPLE_*. */
#define MARK_PROTECTED (1u << 3)

/* What is drawn beside counters. */
enum curve_kind { OF_TIME, OF_CYCLES, FREQUENCY, READ, WRITTEN, UNIT, CORE, PART };

struct curve {
	enum curve_kind kind;
	const char *plot, *name;

	/* Of a unit or a core. */
	unsigned int index;

	/* Of top-down. */
	const struct pperf_topdown_node *node;

	struct bin *line;
};

/* Of a bin. */
struct moment {
	uint64_t start_ns, end_ns;
	uint32_t marks;
};

struct page {
	FILE *out;
	struct view *view;
	const struct summaries *summaries;
	struct json_object *report;

	/* NULL if there are none. */
	const struct frame_report *frames;

	struct figures_source source;
	struct curve *curves;
	size_t num_curves;
	struct moment *moments;

	/* How samples are read: the sums learn the rate of the clock, shares are top-down's parts of each. */
	const struct batches *batches;
	struct pperf_sums *sums;
	struct pperf_topdown *topdown;
	double **shares;
};

/* ---- Text ---- */

/* JSON within a script, which "</script" and "<!--" would end or change, wherever they are. */
static void print_in_script(FILE *out, const char *json)
{
	size_t length;

	for (; *json; json += length) {
		length = strcspn(json, "<");
		fwrite(json, 1, length, out);
		if (json[length]) {
			fputs("\\u003c", out);
			length++;
		}
	}
}

/* ---- What report says ---- */

static void print_title(const struct page *p)
{
	html_escape(p->out, p->view->path);
}

static void print_head(const struct page *p)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	report_print_head(out, p->view, p->summaries);
	if (!fclose(out))
		html_lines(p->out, text);
	free(text);
}

static void print_drawn(const struct page *p)
{
	uint64_t samples = p->summaries->log.samples;
	size_t bins = p->summaries->bins;
	char number[32], other[32];

	if (bins == samples)
		fputs("Plots show every sample.", p->out);
	else
		fprintf(p->out, "Plots show %s points of about %s samples each: mean as a line, minimum to maximum as a band. "
			"Top-down and cores show the mean only.", grouped(bins, number),
			grouped((samples + bins / 2) / bins, other));
	fprintf(p->out, " Totals use all %s samples.", grouped(samples, number));
	if (bins < samples)
		fputs(" report --time FROM,UNTIL --html makes a page of a part of the time, in more detail.", p->out);
	if (p->view->regions.num_marks > MAX_BANDS)
		fprintf(p->out, " The plots do not show the marks: there are too many (%s).", grouped(p->view->regions.num_marks, number));
}

/* One of the figures that come first. */
static void print_figure(const struct page *p, const char *title, const char *object, const char *key, double factor,
			 const char *unit)
{
	struct json_object *values = html_get(p->report, object), *value = values ? html_get(values, key) : NULL;
	double number;
	char text[32];

	if (!value)
		return;
	number = json_object_get_double(value) * factor;
	if (!strcmp(unit, "%"))
		snprintf(text, sizeof(text), "%.2f %%", number);
	else
		scaled(number, unit, text, sizeof(text));
	fprintf(p->out, "<div><dt>%s</dt><dd data-key=\"%s.%s\"", title, object, key);
	html_value(p->out, value);
	fprintf(p->out, ">%s</dd></div>\n", text);
}

static void print_figures(const struct page *p)
{
	char clock[RATES_TEXT];

	print_figure(p, "GPU load, share of time", "load", "of_time", 100, "%");
	print_figure(p, "GPU load, share of cycles", "load", "of_cycles", 100, "%");
	print_figure(p, "Mean frequency while active", "load", "active_hz", 1, "Hz");
	if (!p->view->region && rates_text(&p->view->recording.end.clock, clock))
		fprintf(p->out, "<div><dt>Clock</dt><dd>%s</dd></div>\n", clock);
	print_figure(p, "Memory read", "bandwidth", "read", 1, "B/s");
	print_figure(p, "Memory written", "bandwidth", "written", 1, "B/s");
}

static void print_topdown(const struct page *p)
{
	struct json_object *list = html_get(p->report, "topdown"), *node;
	const struct pperf_topdown_node *largest;
	double percent;
	size_t i;
	int level;

	if (!list)
		return;
	fputs("<section id=\"topdown\">\n<h2>Top-down</h2>\n<p>", p->out);
	largest = pperf_topdown_largest(p->summaries->topdown, 1);
	if (largest) {
		fputs("Largest: <b>", p->out);
		html_escape(p->out, largest->title);
		fputs("</b>. ", p->out);
		html_escape(p->out, largest->next ? largest->next : "");
		fputc(' ', p->out);
	}
	html_escape(p->out, pperf_topdown_note());
	fputs("</p>\n<ul class=\"tree\">\n", p->out);
	for (i = 0; i < json_object_array_length(list); i++) {
		node = json_object_array_get_idx(list, i);
		level = json_object_get_int(html_get(node, "level"));
		if (!level)
			continue;
		percent = 100 * json_object_get_double(html_get(node, "share"));
		fprintf(p->out, "<li class=\"level%d\" data-node=\"%s\"", level, html_get_text(node, "name"));
		html_value(p->out, html_get(node, "share"));
		fprintf(p->out, "><i style=\"width:%.2f%%\"></i><b>%.1f %%</b> ", percent, percent);
		html_escape(p->out, html_get_text(node, "title"));
		fputs("</li>\n", p->out);
	}
	fputs("</ul>\n</section>\n", p->out);
}

/* The columns of the table, by their keys in JSON. */
static const struct {
	const char *key, *title;
} columns[] = {
	{ "total", "Total" }, { "share", "Share" }, { "mean", "Mean" }, { "min", "Min" }, { "p50", "50 %" },
	{ "p95", "95 %" }, { "p99", "99 %" }, { "max", "Max" },
};

#define NUM_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void print_cell(const struct page *p, const char *key, struct json_object *value)
{
	char text[32];

	if (!value) {
		fputs("<td></td>", p->out);
		return;
	}
	fputs("<td", p->out);
	html_value(p->out, value);
	if (!strcmp(key, "share"))
		fprintf(p->out, ">%.1f %%</td>", 100 * json_object_get_double(value));
	else if (json_object_is_type(value, json_type_int))
		fprintf(p->out, ">%s</td>", grouped(json_object_get_uint64(value), text));
	else
		fprintf(p->out, ">%s</td>", scaled(json_object_get_double(value), "", text, sizeof(text)));
}

static void print_counter(const struct page *p, const struct summary *one, struct json_object *values)
{
	const char *unit = html_get_text(values, "unit"), *per = one->counter->kind == PPERF_KIND_COUNT ? "/s" : "";
	size_t i;

	fputs("<tr data-name=\"", p->out);
	html_escape(p->out, one->counter->name);
	fputs("\"><th scope=\"row\">", p->out);
	html_escape(p->out, html_get_text(values, "title"));
	fputs("<small>", p->out);
	html_escape(p->out, one->counter->name);
	fputs("</small></th>", p->out);
	for (i = 0; i < NUM_COLUMNS; i++)
		print_cell(p, columns[i].key, html_get(values, columns[i].key));
	fputs("<td>", p->out);
	html_escape(p->out, unit);
	fprintf(p->out, "%s</td><td class=\"graph\">", per);
	if (one->valid)
		report_print_sparkline(p->out, one->timeline, true);
	fputs("</td></tr>\n", p->out);
}

/* By group, in the order in which groups first occur. JSON has the counters in the order of the summaries. */
static void print_counters(const struct page *p)
{
	const struct summary *list = p->summaries->list;
	struct json_object *counters = html_get(p->report, "counters");
	const char *group;
	size_t i, j;

	for (i = 0; i < NUM_COLUMNS; i++)
		fprintf(p->out, "<th scope=\"col\">%s</th>", columns[i].title);
	fputs("<th scope=\"col\">Unit</th><th scope=\"col\">Over time</th></tr></thead>\n", p->out);
	for (i = 0; i < p->summaries->count; i++) {
		group = list[i].counter->group;
		for (j = 0; j < i && strcmp(list[j].counter->group, group); j++)
			;
		if (j < i)
			continue;
		fprintf(p->out, "<tbody>\n<tr class=\"group\"><th colspan=\"%zu\" scope=\"rowgroup\">", NUM_COLUMNS + 3);
		html_escape(p->out, group);
		fputs("</th></tr>\n", p->out);
		for (j = i; j < p->summaries->count; j++)
			if (!strcmp(list[j].counter->group, group))
				print_counter(p, &list[j], json_object_array_get_idx(counters, j));
		fputs("</tbody>\n", p->out);
	}
}

/* ---- Regions ---- */

/* One of report's regions; the last is what is in none. */
static void print_region_name(const struct page *p, struct json_object *region)
{
	html_escape(p->out, html_get(region, "name") ? html_get_text(region, "name") : "(no region)");
}

static void print_region_value(const struct page *p, struct json_object *region, const char *object, const char *key,
			       const char *unit)
{
	struct json_object *values = object ? html_get(region, object) : region;

	html_cell(p->out, values ? html_get(values, key) : NULL, unit);
}

static void print_region(const struct page *p, struct json_object *region)
{
	fputs("<tr data-region=\"", p->out);
	print_region_name(p, region);
	fputs("\"><th scope=\"row\">", p->out);
	print_region_name(p, region);
	if (json_object_get_boolean(html_get(region, "missing")))
		fputs("<small>counts may be missing</small>", p->out);
	fputs("</th>", p->out);
	print_region_value(p, region, NULL, "times", "");
	print_region_value(p, region, NULL, "seconds", "s");
	print_region_value(p, region, "load", "of_time", "%");
	print_region_value(p, region, "load", "active_hz", "Hz");
	print_region_value(p, region, "bandwidth", "read", "B/s");
	print_region_value(p, region, "bandwidth", "written", "B/s");
	print_region_value(p, region, NULL, "across_seconds", "s");
	fputs("</tr>\n", p->out);
}

/* Of the first regions and of what is in none: totals of counts, and what ratios are. */
static void print_sums(const struct page *p, struct json_object *list)
{
	size_t count = json_object_array_length(list), columns = count < MAX_SUMS ? count : MAX_SUMS, i, n;
	struct json_object *region, *counter, *value;

	fputs("<details><summary>Counter totals</summary>\n", p->out);
	if (columns < count)
		fprintf(p->out, "<p>Shows the first %zu regions; <code>report -j</code> lists all %zu.</p>\n", columns - 1, count - 1);
	fputs("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Name</th>", p->out);
	for (n = 0; n < columns; n++) {
		fputs("<th scope=\"col\">", p->out);
		print_region_name(p, json_object_array_get_idx(list, n + 1 < columns ? n : count - 1));
		fputs("</th>", p->out);
	}
	fputs("</tr></thead>\n<tbody>\n", p->out);
	for (i = 0; i < p->summaries->count; i++) {
		fputs("<tr data-sum=\"", p->out);
		html_escape(p->out, p->summaries->list[i].counter->name);
		fputs("\"><th scope=\"row\">", p->out);
		html_escape(p->out, p->summaries->list[i].counter->name);
		fputs("</th>", p->out);
		for (n = 0; n < columns; n++) {
			region = json_object_array_get_idx(list, n + 1 < columns ? n : count - 1);
			counter = json_object_array_get_idx(html_get(region, "counters"), i);
			value = html_get(counter, "total");
			print_cell(p, "total", value ? value : html_get(counter, "mean"));
		}
		fputs("</tr>\n", p->out);
	}
	fputs("</tbody>\n</table></div></details>\n", p->out);
}

static void print_regions(const struct page *p)
{
	struct json_object *list = html_get(p->report, "regions");
	size_t i;

	if (!list)
		return;
	fputs("<section id=\"regions\">\n<h2>Regions</h2>\n<p>A region lasts from one mark to the next. A sample that spans a "
	      "mark counts in the region of its midpoint; the last column has the total length of such samples.</p>\n"
	      "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Name</th><th scope=\"col\">Times</th>"
	      "<th scope=\"col\">Time</th><th scope=\"col\">Load</th><th scope=\"col\">Frequency</th>"
	      "<th scope=\"col\">Read</th><th scope=\"col\">Written</th><th scope=\"col\">Across</th></tr></thead>\n<tbody>\n",
	      p->out);
	for (i = 0; i < json_object_array_length(list); i++)
		print_region(p, json_object_array_get_idx(list, i));
	fputs("</tbody>\n</table></div>\n", p->out);
	print_sums(p, list);
	fputs("</section>\n", p->out);
}

static void print_frames(const struct page *p)
{
	if (p->frames)
		html_frames_print(p->out, p->view, p->frames, html_get(p->report, "frames"), p->summaries->log.start_ns);
}

static void print_jobs(const struct page *p)
{
	html_jobs_print(p->out, html_get(p->report, "jobs"));
}

/* ---- What is drawn ---- */

static int add_curve(struct page *p, struct curve curve)
{
	struct curve *more = reallocarray(p->curves, p->num_curves + 1, sizeof(*more));

	if (!more)
		return -1;
	p->curves = more;
	curve.line = line_new(p->summaries);
	if (!curve.line)
		return -1;
	more[p->num_curves++] = curve;
	return 0;
}

/* Returns -1 without memory. */
static int add_curves(struct page *p)
{
	const struct pperf_topdown_node *const *nodes;
	unsigned int i;
	size_t count, n;
	int failed = 0;

	failed |= add_curve(p, (struct curve){ .kind = OF_TIME, .plot = "load", .name = "of the time" });
	failed |= add_curve(p, (struct curve){ .kind = OF_CYCLES, .plot = "load", .name = "of the cycles" });
	failed |= add_curve(p, (struct curve){ .kind = FREQUENCY, .plot = "frequency", .name = "while active" });
	failed |= add_curve(p, (struct curve){ .kind = READ, .plot = "bandwidth", .name = "read" });
	failed |= add_curve(p, (struct curve){ .kind = WRITTEN, .plot = "bandwidth", .name = "written" });
	for (i = 0; i < p->source.num_units; i++)
		failed |= add_curve(p, (struct curve){ .kind = UNIT, .plot = "units", .name = p->source.units[i].title,
						       .index = i });
	for (i = 0; i < p->source.info->blocks[PPERF_BLOCK_SHADER]; i++)
		failed |= add_curve(p, (struct curve){ .kind = CORE, .plot = "cores", .index = i });
	nodes = p->summaries->topdown ? pperf_db_topdown(p->source.db, &count) : NULL;
	for (n = 1; nodes && n < count; n++)
		failed |= add_curve(p, (struct curve){ .kind = PART, .plot = "topdown", .name = nodes[n]->title,
						       .node = nodes[n] });
	p->moments = calloc(p->summaries->bins, sizeof(*p->moments));
	return failed || !p->moments ? -1 : 0;
}

/* The counter of a curve that is of one, if it was recorded. */
static const struct pperf_counter *curve_counter(const struct page *p, const struct curve *c)
{
	const struct pperf_counter *counter = NULL;

	if (c->kind == READ)
		counter = p->source.read;
	else if (c->kind == WRITTEN)
		counter = p->source.written;
	else if (c->kind == UNIT)
		counter = p->source.units[c->index].counter;
	else if (c->kind == CORE)
		counter = p->source.core;
	return counter && pperf_counter_in(p->source.db, counter, &p->view->recording.head.masks) ? counter : NULL;
}

static double load_value(enum curve_kind kind, const struct pperf_load *load)
{
	double hz;

	if (kind == FREQUENCY)
		return active_hz(load, &hz) ? hz : NAN;
	return kind == OF_TIME ? load->of_time : load->of_cycles;
}

/* What one sample says, of which the counter has a value. */
static double counter_value(const struct page *p, const struct curve *c, const struct pperf_columns *columns,
			    const struct pperf_load *load, size_t n, double value)
{
	enum pperf_clock clock = c->kind == CORE ? PPERF_CLOCK_SHADER : p->source.units[c->index].clock;

	if (!isfinite(value))
		return NAN;
	if (c->kind == READ || c->kind == WRITTEN)
		return value / columns->seconds[n];
	return figures_part_of_time(load, columns->cycles[figures_clock(&p->source, clock)][n], value);
}

static void find_counter_values(const struct page *p, const struct curve *c, const struct batch *batch,
				const struct pperf_load *loads, double *values)
{
	const struct pperf_counter *counter = curve_counter(p, c);
	struct pperf_columns columns = batch->columns;
	unsigned int type = c->kind == CORE ? p->batches->block_type : 0;
	size_t first, count, i;

	if (type)
		columns = batch_of_block(p->batches, batch, c->index);
	for (first = 0; first < columns.count; first += count) {
		count = columns.count - first;
		if (counter)
			count = pperf_columns_block_values(&columns, p->source.db, p->source.info, counter, type, first,
							   values + first);
		for (i = first; i < first + count; i++)
			values[i] = counter ? counter_value(p, c, &columns, &loads[i], i, values[i]) : NAN;
	}
}

/* Of no time there is no part. */
static void add_to_curve(const struct page *p, const struct curve *c, const struct batch *batch, double *values)
{
	size_t n;

	for (n = 0; n < batch->columns.count; n++)
		if (!batch->length_ns[n])
			values[n] = NAN;
	line_add(c->line, p->summaries, batch->number, values, batch->length_ns, batch->columns.count);
}

/* A curve that is not of top-down. Has load: the loads are those of the samples. */
static void add_values(const struct page *p, const struct curve *c, const struct batch *batch, const struct pperf_load *loads,
		       bool has_load)
{
	double values[RECORDING_CHUNK_SAMPLES];
	size_t n;

	if (!has_load && c->kind != READ && c->kind != WRITTEN)
		return;
	if (c->kind > FREQUENCY)
		find_counter_values(p, c, batch, loads, values);
	for (n = 0; n < batch->columns.count && c->kind <= FREQUENCY; n++)
		values[n] = load_value(c->kind, &loads[n]);
	add_to_curve(p, c, batch, values);
}

/* All curves but those of top-down. */
static void add_all_values(const struct page *p, const struct batch *batch)
{
	struct pperf_load loads[RECORDING_CHUNK_SAMPLES];
	bool has_load = pperf_sums_loads(p->sums, &batch->columns, loads);
	size_t i;

	for (i = 0; i < p->num_curves; i++)
		if (p->curves[i].kind != PART)
			add_values(p, &p->curves[i], batch, loads, has_load);
}

static void add_moments(const struct page *p, const struct batch *batch)
{
	struct moment *moment;
	size_t n;

	for (n = 0; n < batch->columns.count; n++) {
		moment = &p->moments[line_bin(p->summaries, batch->number + n)];
		if (!moment->end_ns)
			moment->start_ns = batch->columns.start_ns[n];
		moment->end_ns = batch->columns.end_ns[n];
		moment->marks |= batch->flags[n] & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR | PPERF_SAMPLE_STRETCHED);
		if (batch->in_protected[n])
			moment->marks |= MARK_PROTECTED;
	}
}

static void add_topdown(const struct page *p, const struct batch *batch)
{
	const struct pperf_topdown_node *const *nodes;
	const struct curve *c;
	size_t count, i;

	nodes = pperf_db_topdown(p->source.db, &count);
	/* It had values for all of them before. */
	if (!p->topdown || pperf_topdown_add_columns(p->topdown, &batch->columns, p->shares))
		return;
	for (c = p->curves; c < p->curves + p->num_curves; c++) {
		if (c->kind != PART)
			continue;
		for (i = 0; i < count && nodes[i] != c->node; i++)
			;
		add_to_curve(p, c, batch, p->shares[i]);
	}
}

enum { TASK_MOMENTS, TASK_TOPDOWN, TASK_VALUES, TASKS };

void html_task(void *context, size_t number, const struct batch *batch)
{
	const struct page *p = context;

	if (number == TASK_MOMENTS)
		add_moments(p, batch);
	else if (number == TASK_TOPDOWN)
		add_topdown(p, batch);
	else
		add_all_values(p, batch);
}

/* Makes what is needed to read samples. */
static enum pperf_error begin_curves(struct page *p)
{
	enum pperf_error error = pperf_sums_new(p->source.db, p->source.info, &p->sums);
	size_t count, i;

	if (error || !p->summaries->topdown)
		return error;
	pperf_db_topdown(p->source.db, &count);
	p->shares = calloc(count + 1, sizeof(*p->shares));
	for (i = 0; p->shares && i < count && !error; i++) {
		p->shares[i] = malloc(RECORDING_CHUNK_SAMPLES * sizeof(**p->shares));
		if (!p->shares[i])
			error = PPERF_ERROR_NO_MEMORY;
	}
	if (!p->shares)
		error = PPERF_ERROR_NO_MEMORY;
	return error ? error : pperf_topdown_new(p->source.db, p->source.info, &p->topdown);
}

int html_begin(void *context, const struct summaries *summaries, struct batches *batches)
{
	struct page *p = context;
	enum pperf_error error;

	p->summaries = summaries;
	if (add_curves(p)) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	error = begin_curves(p);
	if (error)
		return complain_of(error);
	batches->tasks += TASKS;
	if (p->source.core) {
		batches->block_type = pperf_counter_block_type(p->source.db, p->source.core);
		pperf_counter_needs(p->source.db, p->source.core, &batches->block_needs);
	}
	p->batches = batches;
	return STATUS_OK;
}

/* Two characters of a value. */
static void put_value(char *to, double value, double low, double high)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned int step = NO_VALUE;

	if (!isnan(value))
		step = high > low ? lround((value - low) / (high - low) * STEPS) : 0;
	to[0] = digits[step >> 6];
	to[1] = digits[step & 63];
}

/*
 * A line as JSON: "low", "high" and "mean", "least", "most" between them, of which the last two are missing
 * if bins have one value each, or they are not wanted. NULL if there is nothing to draw.
 */
static struct json_object *line_json(const struct bin *line, size_t bins, bool spread)
{
	struct json_object *object;
	double low = INFINITY, high = -INFINITY;
	char *mean, *least, *most;
	bool alike = true;
	size_t i;

	for (i = 0; i < bins; i++) {
		if (isnan(line[i].mean))
			continue;
		low = fmin(low, spread ? line[i].min : line[i].mean);
		high = fmax(high, spread ? line[i].max : line[i].mean);
		alike &= line[i].min == line[i].max;
	}
	if (low > high)
		return NULL;

	mean = malloc(6 * bins);
	if (!mean)
		return NULL;
	least = mean + 2 * bins;
	most = least + 2 * bins;
	for (i = 0; i < bins; i++) {
		bool none = isnan(line[i].mean);

		/* A mean may be rounded to beyond what it is of. */
		put_value(mean + 2 * i, none ? NAN : fmin(fmax(line[i].mean, low), high), low, high);
		if (!spread)
			continue;
		put_value(least + 2 * i, none ? NAN : line[i].min, low, high);
		put_value(most + 2 * i, none ? NAN : line[i].max, low, high);
	}
	object = json_object_new_object();
	json_object_object_add(object, "low", json_object_new_double(low));
	json_object_object_add(object, "high", json_object_new_double(high));
	json_object_object_add(object, "mean", json_object_new_string_len(mean, 2 * bins));
	if (spread && !alike) {
		json_object_object_add(object, "least", json_object_new_string_len(least, 2 * bins));
		json_object_object_add(object, "most", json_object_new_string_len(most, 2 * bins));
	}
	free(mean);
	return object;
}

/* A time since the begin. */
static struct json_object *json_time(const struct page *p, uint64_t ns)
{
	struct json_object *time = json_object_new_double((ns - p->summaries->log.start_ns) / 1e9);

	json_object_set_serializer(time, json_object_double_to_json_string, "%.6f", NULL);
	return time;
}

static struct json_object *moments_json(const struct page *p)
{
	struct json_object *object = json_object_new_object(), *starts = json_object_new_array();
	struct json_object *ends = json_object_new_array(), *marks = json_object_new_array();
	size_t i;

	for (i = 0; i < p->summaries->bins; i++) {
		json_object_array_add(starts, json_time(p, p->moments[i].start_ns));
		json_object_array_add(ends, json_time(p, p->moments[i].end_ns));
		json_object_array_add(marks, json_object_new_int(p->moments[i].marks));
	}
	json_object_object_add(object, "start", starts);
	json_object_object_add(object, "end", ends);
	json_object_object_add(object, "marks", marks);
	return object;
}

/* What is drawn first, each with the plot that it is in. */
static struct json_object *curves_json(const struct page *p)
{
	struct json_object *list = json_object_new_array(), *line;
	const struct curve *c;
	char core[16];
	size_t i;

	for (i = 0; i < p->num_curves; i++) {
		c = &p->curves[i];
		line = line_json(c->line, p->summaries->bins, c->kind != PART && c->kind != CORE);
		if (!line)
			continue;
		snprintf(core, sizeof(core), "Core %u", c->index);
		json_object_object_add(line, "plot", json_object_new_string(c->plot));
		json_object_object_add(line, "name", json_object_new_string(c->name ? c->name : core));
		if (c->node) {
			json_object_object_add(line, "node", json_object_new_string(c->node->name));
			json_object_object_add(line, "parent", json_object_new_string(c->node->parent->name));
			json_object_object_add(line, "level", json_object_new_int(c->node->level));
			json_object_object_add(line, "children", json_object_new_int(c->node->children));
		}
		json_object_array_add(list, line);
	}
	return list;
}

/* By name. */
static struct json_object *counters_json(const struct page *p)
{
	struct json_object *object = json_object_new_object(), *line;
	size_t i;

	for (i = 0; i < p->summaries->count; i++) {
		if (!p->summaries->list[i].line)
			continue;
		line = line_json(p->summaries->list[i].line, p->summaries->bins, true);
		if (line)
			json_object_object_add(object, p->summaries->list[i].counter->name, line);
	}
	return object;
}

/* Names, and for each part that has one: from, to, and the number of the name. Null if there are too many. */
static struct json_object *bands_json(const struct page *p)
{
	const struct regions *r = &p->view->regions;
	uint64_t start = p->summaries->log.start_ns, end = p->summaries->log.end_ns, from, to;
	struct json_object *object, *names, *bands, *band;
	size_t n;

	if (r->num_marks > MAX_BANDS)
		return NULL;
	object = json_object_new_object();
	names = json_object_new_array();
	bands = json_object_new_array();
	for (n = 0; n < r->count; n++)
		json_object_array_add(names, json_object_new_string(r->list[n].name));
	for (n = 0; n < r->num_marks; n++) {
		from = r->marks[n].time_ns > start ? r->marks[n].time_ns : start;
		to = n + 1 < r->num_marks && r->marks[n + 1].time_ns < end ? r->marks[n + 1].time_ns : end;
		if (!r->marks[n].region || to <= from)
			continue;
		band = json_object_new_array();
		json_object_array_add(band, json_time(p, from));
		json_object_array_add(band, json_time(p, to));
		json_object_array_add(band, json_object_new_int(r->marks[n].region));
		json_object_array_add(bands, band);
	}
	json_object_object_add(object, "names", names);
	json_object_object_add(object, "bands", bands);
	return object;
}

static void print_data(const struct page *p)
{
	struct json_object *top = json_object_new_object();

	json_object_object_add(top, "time", moments_json(p));
	json_object_object_add(top, "regions", bands_json(p));
	if (p->frames)
		json_object_object_add(top, "frames", html_frames_json(p->view, p->frames, p->summaries->log.start_ns));
	if (p->view->has_jobs)
		json_object_object_add(top, "jobs", html_jobs_json(&p->view->jobs, p->summaries->log.start_ns,
								   p->summaries->log.end_ns));
	json_object_object_add(top, "curves", curves_json(p));
	json_object_object_add(top, "counters", counters_json(p));
	print_in_script(p->out, json_object_to_json_string_ext(top, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

/* ---- The page ---- */

static void print_style(const struct page *p)
{
	fputs(html_plot_style, p->out);
	fputs(html_style, p->out);
}

static void print_plot_script(const struct page *p)
{
	fprintf(p->out, "/*\n%s\n*/\n%s", html_plot_licence, html_plot_script);
}

static void print_script(const struct page *p)
{
	fputs(html_script, p->out);
}

/* What @name@ in the page stands for. */
static const struct {
	const char *name;
	void (*print)(const struct page *page);
} parts[] = {
	{ "title", print_title },
	{ "style", print_style },
	{ "head", print_head },
	{ "drawn", print_drawn },
	{ "figures", print_figures },
	{ "topdown", print_topdown },
	{ "frames", print_frames },
	{ "jobs", print_jobs },
	{ "regions", print_regions },
	{ "counters", print_counters },
	{ "data", print_data },
	{ "plot-script", print_plot_script },
	{ "script", print_script },
};

static void print_part(const struct page *p, const char *name, size_t length)
{
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strlen(parts[i].name) == length && !strncmp(parts[i].name, name, length))
			parts[i].print(p);
}

static void print_page(const struct page *p)
{
	const char *at = html_page, *name;

	while ((name = strchr(at, '@'))) {
		fwrite(at, 1, name - at, p->out);
		name++;
		at = strchrnul(name, '@');
		print_part(p, name, at - name);
		at += *at == '@';
	}
	fputs(at, p->out);
}

struct page *html_new(struct view *view)
{
	struct page *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->view = view;
	figures_find(&p->source, view->db, &view->recording.head.gpu);
	return p;
}

int html_print(FILE *out, struct page *p, const struct frame_report *frames, const struct job_report *jobs)
{
	size_t i;

	/* Which was told. */
	if (!p->summaries)
		return STATUS_FAILED;
	for (i = 0; i < p->num_curves; i++)
		line_end(p->curves[i].line, p->summaries);
	p->out = out;
	p->frames = frames;
	p->report = report_json(p->view, p->summaries, frames ? frame_report_json(frames, false) : NULL,
				jobs ? job_report_json(jobs) : NULL);
	print_page(p);
	json_object_put(p->report);
	return STATUS_OK;
}

void html_free(struct page *p)
{
	size_t i;

	if (!p)
		return;
	for (i = 0; i < p->num_curves; i++)
		free(p->curves[i].line);
	pperf_sums_free(p->sums);
	for (i = 0; p->shares && p->shares[i]; i++)
		free(p->shares[i]);
	free(p->shares);
	pperf_topdown_free(p->topdown);
	free(p->curves);
	free(p->moments);
	free(p);
}
