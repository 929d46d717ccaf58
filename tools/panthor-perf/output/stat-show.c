// SPDX-License-Identifier: MIT
/* panthor-perf stat: how what was counted is shown. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "stat.h"

/* Of a value, if none is wider; of a row that is folded, those beside it before its second line. */
#define VALUE_COLUMNS 20
#define FOLD_COLUMNS 4

#define VALUE_SIZE 512

/* All blocks together, where a block is asked for. */
#define ALL_BLOCKS (~0u)

/* A value over several runs. */
struct spread {
	double mean;

	/* Standard deviation of the runs; 0 of one. */
	double deviation;

	bool valid;
};

/* ---- Values ---- */

static bool value_of(const struct stat_run *run, const struct pperf_counter *counter,
		     unsigned int block, double *value)
{
	if (block == ALL_BLOCKS)
		return !pperf_sums_value(run->sums, counter, value);
	return !pperf_sums_block_value(run->sums, counter, block, value);
}

/* Mean and spread over the runs; values come one after the other, so that no number is too many. */
static void spread_add(struct spread *spread, size_t n, double value)
{
	double delta = value - spread->mean;

	spread->mean += delta / (n + 1);
	/* The sum of squares for now. */
	spread->deviation += delta * (value - spread->mean);
}

static void spread_end(struct spread *spread, size_t n)
{
	spread->deviation = n > 1 ? sqrt(spread->deviation / (n - 1)) : 0;
	spread->valid = n > 0;
}

static struct spread spread_of(const struct stat_report *r, const struct pperf_counter *counter,
			       unsigned int block)
{
	struct spread spread = {};
	double value;
	size_t i;

	for (i = 0; i < r->num_runs; i++) {
		if (!value_of(&r->runs[i], counter, block, &value))
			return (struct spread){};
		spread_add(&spread, i, value);
	}
	spread_end(&spread, r->num_runs);
	return spread;
}

static double mean_seconds(const struct stat_report *r)
{
	double seconds = 0;
	size_t i;

	for (i = 0; i < r->num_runs; i++)
		seconds += pperf_sums_seconds(r->runs[i].sums);
	return r->num_runs ? seconds / r->num_runs : 0;
}

static uint64_t all_samples(const struct stat_report *r)
{
	uint64_t samples = 0;
	size_t i;

	for (i = 0; i < r->num_runs; i++)
		samples += pperf_sums_samples(r->runs[i].sums);
	return samples;
}

static bool rate_of(const struct stat_report *r, const struct pperf_counter *counter, double value,
		    double *rate)
{
	double seconds = mean_seconds(r);

	if (counter->kind != PPERF_KIND_COUNT || !(seconds > 0))
		return false;
	*rate = value / seconds;
	return true;
}

/* A whole count of one run, as it is; of several, their mean. */
static bool is_whole(const struct stat_report *r, const struct pperf_counter *counter)
{
	return counter->type && r->num_runs == 1;
}

static uint64_t whole(const struct stat_report *r, const struct pperf_counter *counter,
		      unsigned int block)
{
	const struct pperf_sums *sums = r->runs[0].sums;

	return block == ALL_BLOCKS ? pperf_sums_total(sums, counter) :
				     pperf_sums_block(sums, counter, block);
}

/* The number of blocks whose values are shown beside that of all; *type is theirs. */
static unsigned int shown_blocks(const struct stat_report *r, const struct pperf_counter *counter,
				 unsigned int *type)
{
	*type = pperf_counter_block_type(r->db, counter);
	if (r->arguments->per_block && counter->type)
		return r->gpu->blocks[*type];
	if (r->arguments->per_core && *type == PPERF_BLOCK_SHADER)
		return r->gpu->blocks[*type];
	return 0;
}

/* Mean load over the runs. Returns false if it is not known. */
static bool load_of(const struct stat_report *r, struct pperf_load *mean)
{
	struct pperf_load load;
	size_t i;

	*mean = (struct pperf_load){};
	for (i = 0; i < r->num_runs; i++) {
		if (pperf_sums_load(r->runs[i].sums, &load, sizeof(load)))
			return false;
		mean->seconds += load.seconds;
		mean->active_seconds += load.active_seconds;
		mean->cycles += load.cycles;
		mean->active_cycles += load.active_cycles;
		mean->of_time += load.of_time / r->num_runs;
		mean->of_cycles += load.of_cycles / r->num_runs;
	}
	return r->num_runs;
}

static double mean_rate(const struct stat_report *r, const struct pperf_counter *counter)
{
	struct spread value = {};
	double rate;

	if (counter)
		value = spread_of(r, counter, ALL_BLOCKS);
	return value.valid && rate_of(r, counter, value.mean, &rate) ? rate : NAN;
}

/* Means over the runs. */
static struct figures figures_of_runs(const struct stat_report *r)
{
	struct figures f = { .hz = NAN, .clock = r->clock };

	f.has_load = load_of(r, &f.load);
	if (f.has_load && !active_hz(&f.load, &f.hz))
		f.hz = NAN;
	f.read = mean_rate(r, r->source.read);
	f.written = mean_rate(r, r->source.written);
	return f;
}

static struct spread share_of(const struct stat_report *r, const struct pperf_topdown_node *node)
{
	struct spread spread = {};
	size_t i;

	for (i = 0; i < r->num_runs; i++)
		spread_add(&spread, i, 100 * pperf_topdown_share(r->runs[i].topdown, node));
	spread_end(&spread, r->num_runs);
	return spread;
}

static double mean_cycles(const struct stat_report *r, const struct pperf_topdown_node *node)
{
	double cycles = 0;
	size_t i;

	for (i = 0; i < r->num_runs; i++)
		cycles += pperf_topdown_cycles(r->runs[i].topdown, node) / r->num_runs;
	return cycles;
}

/* The same as a part of 1, for figures_print_topdown(). */
static double part_of(const void *context, const struct pperf_topdown_node *node)
{
	return share_of(context, node).mean / 100;
}

/* The largest part at the level that is shown, by the mean over the runs. NULL if there are no cycles. */
static const struct pperf_topdown_node *largest_part(const struct stat_report *r)
{
	const struct pperf_topdown_node *largest = NULL, *const *nodes;
	double share, most = 0;
	size_t i, count;

	nodes = pperf_db_topdown(r->db, &count);
	for (i = 0; i < count; i++) {
		if (nodes[i]->level > r->level || (nodes[i]->level < r->level && nodes[i]->children))
			continue;
		share = share_of(r, nodes[i]).mean;
		if (share > most) {
			most = share;
			largest = nodes[i];
		}
	}
	return largest;
}

/* ---- For people ---- */

/* Mean and spread of several runs; nothing of one. */
static void print_spread(const struct stat_report *r, const struct spread *spread)
{
	if (r->num_runs > 1)
		fprintf(r->out, "  +- %.2f %%", spread->mean ? 100 * spread->deviation / fabs(spread->mean) : 0);
}

static const char *value_text(const struct stat_report *r, const struct pperf_counter *c, unsigned int block,
			      const struct spread *value, char buffer[VALUE_SIZE])
{
	if (!value->valid)
		return "-";
	if (is_whole(r, c))
		return grouped(whole(r, c, block), buffer);
	/* Whole numbers as counts, others with what matters of the fraction; large means are no more exact than counts. */
	snprintf(buffer, VALUE_SIZE, "%.*f", value->mean >= 1e6 || value->mean == floor(value->mean) ? 0 : 2, value->mean);
	group_digits(buffer, VALUE_SIZE);
	return buffer;
}

static void print_value(const struct stat_report *r, const struct pperf_counter *c, unsigned int block,
			const struct spread *value)
{
	char buffer[VALUE_SIZE];

	fprintf(r->out, "%*s", r->width, value_text(r, c, block, value, buffer));
}

/* Make room for the widest value. */
static void widen_values(struct stat_report *r)
{
	unsigned int block, blocks, type;
	char buffer[VALUE_SIZE];
	struct spread value;
	size_t i;

	r->width = r->width ? r->width : VALUE_COLUMNS;
	for (i = 0; i < r->num_counters; i++) {
		value = spread_of(r, r->counters[i], ALL_BLOCKS);
		r->width = widen(r->width, value_text(r, r->counters[i], ALL_BLOCKS, &value, buffer));
		blocks = shown_blocks(r, r->counters[i], &type);
		for (block = 0; block < blocks; block++) {
			value = spread_of(r, r->counters[i], block);
			r->width = widen(r->width, value_text(r, r->counters[i], block, &value, buffer));
		}
	}
}

static void print_counter(const struct stat_report *r, const struct pperf_counter *c)
{
	struct spread value = spread_of(r, c, ALL_BLOCKS);
	unsigned int block, blocks, type;
	char unit[64], buffer[96];
	double rate;

	print_value(r, c, ALL_BLOCKS, &value);
	if (!value.valid) {
		fprintf(r->out, "  %-24s %s\n", c->name, c->title);
		return;
	}
	if (r->narrow)
		fprintf(r->out, "  %-24s # ", c->name);
	else
		fprintf(r->out, "  %-24s %-40s # ", c->name, c->title);
	snprintf(unit, sizeof(unit), "%s/s", c->unit);
	fputs(rate_of(r, c, value.mean, &rate) ? scaled(rate, unit, buffer, sizeof(buffer)) : c->unit, r->out);
	print_spread(r, &value);
	if (r->narrow)
		fprintf(r->out, "\n%*s%s", r->width + FOLD_COLUMNS, "", c->title);
	fputc('\n', r->out);

	blocks = shown_blocks(r, c, &type);
	for (block = 0; block < blocks; block++) {
		value = spread_of(r, c, block);
		print_value(r, c, block, &value);
		fprintf(r->out, "    %s %u", pperf_block_name(type), block);
		if (value.valid)
			print_spread(r, &value);
		fputc('\n', r->out);
	}
}

static void print_figures(const struct stat_report *r)
{
	struct figures figures = figures_of_runs(r);

	figures_print(r->out, &figures);
	if (r->level)
		figures_print_topdown(r->out, r->db, part_of, r);
}

static void print_topdown(const struct stat_report *r)
{
	const struct pperf_topdown_node *const *nodes, *largest = largest_part(r);
	struct spread share;
	size_t i, count;

	fprintf(r->out, "\n Top-down, percent of all cycles (an estimate)\n");
	nodes = pperf_db_topdown(r->db, &count);
	for (i = 1; i < count; i++) {
		if (nodes[i]->level > r->arguments->topdown)
			continue;
		share = share_of(r, nodes[i]);
		fprintf(r->out, "%*.2f  %*s%s", r->width, share.mean, 2 * (int)(nodes[i]->level - 1), "", nodes[i]->title);
		print_spread(r, &share);
		fputc('\n', r->out);
	}
	if (largest)
		fprintf(r->out, "\nLargest: %s. %s\n", largest->title, largest->next);
	fprintf(r->out, "%s\n", pperf_topdown_note());
}

/* Counters by group, in the order in which groups first occur. */
static void print_groups(const struct stat_report *r)
{
	const struct pperf_counter *const *c = r->counters;
	size_t i, j;

	for (i = 0; i < r->num_counters; i++) {
		for (j = 0; j < i && strcmp(c[j]->group, c[i]->group); j++)
			;
		if (j < i)
			continue;

		fprintf(r->out, "\n %s\n", c[i]->group);
		for (j = i; j < r->num_counters; j++)
			if (!strcmp(c[j]->group, c[i]->group))
				print_counter(r, c[j]);
	}
}

static void show_log(FILE *out, const struct pperf_log *log)
{
	unsigned int i;
	char text[PPERF_LOG_TEXT];

	for (i = 0; pperf_log_text(log, i, text, sizeof(text)); i++)
		fprintf(out, "%s\n", text);
}

void stat_show_end(const struct stat_report *r, FILE *out)
{
	char clock[RATES_TEXT];

	if (rates_text(&r->clock, clock))
		fprintf(out, "Clock: %s\n", clock);
	show_log(out, r->log);
}

static void show_plain(const struct stat_report *r)
{
	uint64_t samples = all_samples(r);

	fputc('\n', r->out);
	print_figures(r);
	if (r->num_runs > 1)
		fprintf(r->out, "Counters of %s (%s), mean of %zu runs of %.6f s, %" PRIu64 " samples:\n",
			r->gpu->name, r->gpu->node, r->num_runs, mean_seconds(r), samples);
	else
		fprintf(r->out, "Counters of %s (%s) over %.6f s, %" PRIu64 " sample%s:\n", r->gpu->name,
			r->gpu->node, mean_seconds(r), samples, samples == 1 ? "" : "s");

	print_groups(r);
	if (r->arguments->topdown)
		print_topdown(r);
	fputc('\n', r->out);
	show_log(r->out, r->log);
}

/* Seconds from the begin to the end of an interval. */
static double interval_time(const struct stat_report *r)
{
	return (pperf_sums_end_ns(r->runs[0].sums) - r->begin_ns) / 1e9;
}

static void interval_plain(const struct stat_report *r)
{
	struct figures f = figures_of_runs(r);
	double time = interval_time(r);
	struct spread value;
	size_t i;

	if (f.has_load)
		fprintf(r->out, "%16.6f %*.2f  %% of the time, %.2f %% of the cycles  GPU load\n", time,
			r->width, 100 * f.load.of_time, 100 * f.load.of_cycles);
	if (!isnan(f.hz))
		fprintf(r->out, "%16.6f %*.2f  MHz  mean frequency while active\n", time, r->width, f.hz / 1e6);
	if (!isnan(f.read) && !isnan(f.written))
		fprintf(r->out, "%16.6f %*.2f  MB/s read, %.2f MB/s written  external memory\n", time, r->width,
			f.read / 1e6, f.written / 1e6);
	for (i = 0; i < r->num_counters; i++) {
		const struct pperf_counter *c = r->counters[i];
		unsigned int block, blocks, type;

		value = spread_of(r, c, ALL_BLOCKS);
		fprintf(r->out, "%16.6f ", interval_time(r));
		print_value(r, c, ALL_BLOCKS, &value);
		fprintf(r->out, "  %-24s %s\n", c->name, c->unit);
		blocks = shown_blocks(r, c, &type);
		for (block = 0; block < blocks; block++) {
			value = spread_of(r, c, block);
			fprintf(r->out, "%16.6f ", interval_time(r));
			print_value(r, c, block, &value);
			fprintf(r->out, "    %s %u\n", pperf_block_name(type), block);
		}
	}
}

/* One line an interval: load, then the parts of the level, in columns as wide as their titles. */
static void interval_topdown(const struct stat_report *r, bool first)
{
	const struct pperf_topdown_node *nodes[64];
	size_t n = pperf_db_topdown_level(r->db, r->arguments->topdown, nodes, 64), i;
	struct pperf_load load;

	if (first) {
		fprintf(r->out, "# %s Percent of all cycles; load in percent of the time.\n", pperf_topdown_note());
		fprintf(r->out, "%16s %6s", "# seconds", "load");
		for (i = 0; i < n && i < 64; i++)
			fprintf(r->out, "  %6s", nodes[i]->title);
		fputc('\n', r->out);
	}
	fprintf(r->out, "%16.6f %6.2f", interval_time(r), load_of(r, &load) ? 100 * load.of_time : 0);
	for (i = 0; i < n && i < 64; i++) {
		size_t width = strlen(nodes[i]->title);

		fprintf(r->out, "  %*.2f", width < 6 ? 6 : (int)width, share_of(r, nodes[i]).mean);
	}
	fputc('\n', r->out);
}

/* ---- For programs ---- */

/* The time of an interval, as a field of its own. */
static void separated_begin(const struct stat_report *r, bool interval)
{
	if (interval)
		fprintf(r->out, "%.9f%s", interval_time(r), r->arguments->separator);
}

/*
 * The spread, as a field of its own if there are several runs: empty if a run has no value, as the frequency of one
 * that was idle throughout.
 */
static void separated_end(const struct stat_report *r, const struct spread *value)
{
	if (r->arguments->repeat)
		fputs(r->arguments->separator, r->out);
	if (r->arguments->repeat && isfinite(value->deviation))
		fprintf(r->out, "%.17g", value->deviation);
	fputc('\n', r->out);
}

static void separated_value(const struct stat_report *r, const struct pperf_counter *c,
			    unsigned int block, const struct spread *value)
{
	if (is_whole(r, c))
		fprintf(r->out, "%" PRIu64, whole(r, c, block));
	else if (value->valid)
		fprintf(r->out, "%.17g", value->mean);
}

/* The first figures: means over the runs, and how far each run is from them. */
static void separated_figures(const struct stat_report *r, bool interval)
{
	struct figures_row rows[FIGURES_ROWS], of_run[FIGURES_ROWS];
	struct spread spread[FIGURES_ROWS] = {};
	struct figures figures = figures_of_runs(r);
	const char *sep = r->arguments->separator;
	unsigned int row;
	size_t i;

	figures_rows(&figures, rows);
	for (i = 0; i < r->num_runs; i++) {
		figures = figures_of(&r->source, r->runs[i].sums);
		figures_rows(&figures, of_run);
		for (row = 0; row < FIGURES_ROWS; row++)
			spread_add(&spread[row], i, of_run[row].value);
	}
	for (row = 0; row < FIGURES_ROWS; row++) {
		spread_end(&spread[row], r->num_runs);
		if (!isfinite(rows[row].value))
			continue;
		separated_begin(r, interval);
		fprintf(r->out, "%.17g%s%s%s%s%sfigure%s%s", rows[row].value, sep, rows[row].unit, sep, rows[row].name,
			sep, sep, sep);
		separated_end(r, &spread[row]);
	}
}

static void show_separated(const struct stat_report *r, bool interval)
{
	const char *sep = r->arguments->separator;
	const struct pperf_topdown_node *const *nodes;
	unsigned int level;
	size_t i, count;

	for (i = 0; i < r->num_counters; i++) {
		const struct pperf_counter *c = r->counters[i];
		struct spread value = spread_of(r, c, ALL_BLOCKS);
		unsigned int block, blocks, type;
		double rate;

		separated_begin(r, interval);
		separated_value(r, c, ALL_BLOCKS, &value);
		fprintf(r->out, "%s%s%s%s%s%s%s%s", sep, c->unit, sep, c->name, sep,
			c->type ? pperf_block_name(c->type) : "derived", sep, sep);
		if (value.valid && rate_of(r, c, value.mean, &rate))
			fprintf(r->out, "%.17g", rate);
		separated_end(r, &value);

		blocks = shown_blocks(r, c, &type);
		for (block = 0; block < blocks; block++) {
			value = spread_of(r, c, block);
			separated_begin(r, interval);
			separated_value(r, c, block, &value);
			fprintf(r->out, "%s%s%s%s%s%s%s%u%s", sep, c->unit, sep, c->name, sep,
				pperf_block_name(type), sep, block, sep);
			separated_end(r, &value);
		}
	}

	if (!r->arguments->num_events)
		separated_figures(r, interval);
	level = r->arguments->topdown ? r->arguments->topdown : r->level;
	if (!level)
		return;
	nodes = pperf_db_topdown(r->db, &count);
	for (i = 0; i < count && r->num_runs; i++) {
		struct spread share = share_of(r, nodes[i]);

		if (nodes[i]->level > level)
			continue;
		separated_begin(r, interval);
		fprintf(r->out, "%.17g%spercent%s%s%stopdown%s%u%s", share.mean, sep, sep, nodes[i]->name, sep,
			sep, nodes[i]->level, sep);
		separated_end(r, &share);
	}
}

static struct json_object *json_text(const char *text)
{
	return json_object_new_string(text);
}

static struct json_object *json_value(const struct stat_report *r, const struct pperf_counter *c,
				      unsigned int block, const struct spread *value)
{
	if (is_whole(r, c))
		return json_object_new_uint64(whole(r, c, block));
	return value->valid ? json_object_new_double(value->mean) : NULL;
}

static struct json_object *json_counter(const struct stat_report *r, const struct pperf_counter *c)
{
	struct json_object *item = json_object_new_object(), *list;
	struct spread value = spread_of(r, c, ALL_BLOCKS), part;
	unsigned int block, type = pperf_counter_block_type(r->db, c);
	double rate;

	json_object_object_add(item, "name", json_text(c->name));
	json_object_object_add(item, "title", json_text(c->title));
	json_object_object_add(item, "group", json_text(c->group));
	json_object_object_add(item, "unit", json_text(c->unit));
	json_object_object_add(item, "value", json_value(r, c, ALL_BLOCKS, &value));
	if (r->arguments->repeat && value.valid)
		json_object_object_add(item, "deviation", json_object_new_double(value.deviation));
	if (value.valid && rate_of(r, c, value.mean, &rate))
		json_object_object_add(item, "rate", json_object_new_double(rate));
	if (c->type) {
		json_object_object_add(item, "block", json_text(pperf_block_name(c->type)));
		json_object_object_add(item, "index", json_object_new_int(c->index));
	}
	if (!c->type && !(r->arguments->per_core && type == PPERF_BLOCK_SHADER))
		return item;

	list = json_object_new_array();
	for (block = 0; block < r->gpu->blocks[type]; block++) {
		part = spread_of(r, c, block);
		json_object_array_add(list, json_value(r, c, block, &part));
	}
	json_object_object_add(item, "blocks", list);
	return item;
}

static struct json_object *json_topdown(const struct stat_report *r)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array(), *item;
	const struct pperf_topdown_node *const *nodes, *largest = largest_part(r);
	struct spread share;
	size_t i, count;

	nodes = pperf_db_topdown(r->db, &count);
	for (i = 0; i < count; i++) {
		if (nodes[i]->level > r->level)
			continue;
		share = share_of(r, nodes[i]);
		item = json_object_new_object();
		json_object_object_add(item, "name", json_text(nodes[i]->name));
		json_object_object_add(item, "title", json_text(nodes[i]->title));
		json_object_object_add(item, "level", json_object_new_int(nodes[i]->level));
		json_object_object_add(item, "parent", nodes[i]->parent ?
				       json_text(nodes[i]->parent->name) : NULL);
		json_object_object_add(item, "cycles", json_object_new_double(mean_cycles(r, nodes[i])));
		json_object_object_add(item, "percent", json_object_new_double(share.mean));
		if (r->arguments->repeat)
			json_object_object_add(item, "deviation", json_object_new_double(share.deviation));
		json_object_array_add(list, item);
	}
	json_object_object_add(top, "note", json_text(pperf_topdown_note()));
	json_object_object_add(top, "parts", list);
	json_object_object_add(top, "largest", largest ? json_text(largest->name) : NULL);
	json_object_object_add(top, "next", largest ? json_text(largest->next) : NULL);
	return top;
}

static void show_json(const struct stat_report *r, int flags)
{
	struct json_object *top = json_object_new_object(), *list = json_object_new_array();
	struct json_object *cycles = json_object_new_object();
	const struct pperf_sums *last = r->runs[r->num_runs - 1].sums;
	struct figures figures = figures_of_runs(r);
	uint32_t sample_flags = 0;
	uint64_t sum;
	size_t i, j;

	for (i = 0; i < PPERF_CLOCKS; i++) {
		if (!(r->gpu->clocks & (1u << i)))
			continue;
		for (sum = 0, j = 0; j < r->num_runs; j++)
			sum += pperf_sums_cycles(r->runs[j].sums, i);
		json_object_object_add(cycles, pperf_clock_name(i), json_object_new_uint64(sum));
	}
	for (i = 0; i < r->num_runs; i++)
		sample_flags |= pperf_sums_flags(r->runs[i].sums);
	for (i = 0; i < r->num_counters; i++)
		json_object_array_add(list, json_counter(r, r->counters[i]));

	json_object_object_add(top, "gpu", json_text(r->gpu->name));
	json_object_object_add(top, "device", json_text(r->gpu->node));
	figures_add_json(top, &figures);
	json_object_object_add(top, "start_ns",
			       json_object_new_uint64(pperf_sums_start_ns(r->runs[0].sums)));
	json_object_object_add(top, "end_ns", json_object_new_uint64(pperf_sums_end_ns(last)));
	json_object_object_add(top, "seconds", json_seconds(mean_seconds(r)));
	if (r->arguments->repeat)
		json_object_object_add(top, "runs", json_object_new_int64(r->num_runs));
	json_object_object_add(top, "samples", json_object_new_uint64(all_samples(r)));
	json_object_object_add(top, "overflow", json_object_new_boolean(
			       sample_flags & PPERF_SAMPLE_OVERFLOW));
	json_object_object_add(top, "error", json_object_new_boolean(sample_flags & PPERF_SAMPLE_ERROR));
	json_object_object_add(top, "stretched", json_object_new_boolean(
			       sample_flags & PPERF_SAMPLE_STRETCHED));
	json_object_object_add(top, "cycles", cycles);
	json_object_object_add(top, "counters", list);
	if (r->level)
		json_object_object_add(top, "topdown", json_topdown(r));
	fprintf(r->out, "%s\n", json_object_to_json_string_ext(top, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(top);
}

void stat_show(struct stat_report *r)
{
	widen_values(r);
	if (r->arguments->json) {
		show_json(r, JSON_C_TO_STRING_PRETTY);
		stat_show_end(r, stderr);
	} else if (r->arguments->separator) {
		show_separated(r, false);
		stat_show_end(r, stderr);
	} else {
		show_plain(r);
	}
}

void stat_show_interval(struct stat_report *r, bool first)
{
	widen_values(r);
	if (r->arguments->json) {
		/* An object a line. */
		show_json(r, JSON_C_TO_STRING_PLAIN);
	} else if (r->arguments->separator) {
		show_separated(r, true);
	} else {
		if (r->num_counters || !r->arguments->topdown)
			interval_plain(r);
		if (r->arguments->topdown)
			interval_topdown(r, first);
	}
}
