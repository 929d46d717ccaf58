// SPDX-License-Identifier: MIT
/* What people ask for first. */
#define _GNU_SOURCE
#include "figures.h"

#include <math.h>
#include <string.h>

#include <json-c/json.h>

#include "common.h"

/* Nodes of a level of top-down; those that there are beyond are not in the line. */
#define MAX_PARTS 16

/* Those of these names that the layout has are the units. */
static const struct figures_name {
	const char *title, *counter;
	enum pperf_clock clock;
} unit_names[] = {
	{ "Queues", "MaliGPUAnyQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Fragment", "MaliFragQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Main", "MaliMainQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Vertex", "MaliVertQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Binning", "MaliBinningQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Compute", "MaliCompQueueActiveCy", PPERF_CLOCK_TOPLEVEL },
	{ "Tiler", "MaliTilerActiveCy", PPERF_CLOCK_COREGROUP },
};

static const struct pperf_counter *find(const struct figures_source *s, const char *name)
{
	const struct pperf_counter *counter = pperf_db_find(s->db, name);

	return counter && pperf_counter_exists(s->db, counter, s->info) ? counter : NULL;
}

void figures_find(struct figures_source *s, const struct pperf_db *db, const struct pperf_gpu_info *info)
{
	const struct pperf_counter *counter;
	size_t i;

	memset(s, 0, sizeof(*s));
	s->db = db;
	s->info = info;
	s->read = find(s, "MaliExtBusRdBy");
	s->written = find(s, "MaliExtBusWrBy");
	s->core = find(s, "MaliAnyActiveCy");
	for (i = 0; i < sizeof(unit_names) / sizeof(unit_names[0]) && s->num_units < FIGURES_UNITS; i++) {
		counter = find(s, unit_names[i].counter);
		if (counter)
			s->units[s->num_units++] = (struct figures_unit){ unit_names[i].title, counter,
									  unit_names[i].clock };
	}
}

void figures_need_bandwidth(const struct figures_source *s, struct pperf_masks *masks)
{
	if (s->read)
		pperf_counter_needs(s->db, s->read, masks);
	if (s->written)
		pperf_counter_needs(s->db, s->written, masks);
}

/* Units of a counter in a second. */
static double rate(const struct pperf_sums *sums, const struct pperf_counter *counter)
{
	double value, seconds = pperf_sums_seconds(sums);

	if (!counter || !(seconds > 0) || pperf_sums_value(sums, counter, &value))
		return NAN;
	return value / seconds;
}

struct figures figures_of(const struct figures_source *s, const struct pperf_sums *sums)
{
	struct figures f = { .read = rate(sums, s->read), .written = rate(sums, s->written), .hz = NAN };

	f.has_load = !pperf_sums_load(sums, &f.load, sizeof(f.load));
	if (f.has_load && !active_hz(&f.load, &f.hz))
		f.hz = NAN;
	return f;
}

double figures_part_of_time(const struct pperf_load *load, uint64_t possible, double cycles)
{
	double part;

	if (!possible || !load->of_cycles)
		return 0;
	part = cycles / possible * load->of_time / load->of_cycles;
	return part < 0 ? 0 : part > 1 ? 1 : part;
}

enum pperf_clock figures_clock(const struct figures_source *s, enum pperf_clock clock)
{
	return s->info->clocks & 1u << clock ? clock : PPERF_CLOCK_TOPLEVEL;
}

static double part_of_time(const struct figures_source *s, const struct pperf_sums *sums, double cycles,
			   enum pperf_clock clock)
{
	struct pperf_load load;

	if (!pperf_sums_samples(sums) || pperf_sums_load(sums, &load, sizeof(load)))
		return NAN;
	return figures_part_of_time(&load, pperf_sums_cycles(sums, figures_clock(s, clock)), cycles);
}

double figures_unit_load(const struct figures_source *s, const struct pperf_sums *sums, unsigned int unit)
{
	double cycles;

	if (pperf_sums_value(sums, s->units[unit].counter, &cycles))
		return NAN;
	return part_of_time(s, sums, cycles, s->units[unit].clock);
}

double figures_core_load(const struct figures_source *s, const struct pperf_sums *sums, unsigned int core)
{
	double cycles;

	if (!s->core || pperf_sums_block_value(sums, s->core, core, &cycles))
		return NAN;
	return part_of_time(s, sums, cycles, PPERF_CLOCK_SHADER);
}

void figures_print(FILE *out, const struct figures *f)
{
	char read[32], written[32], clock[RATES_TEXT];

	if (f->has_load)
		fprintf(out, "GPU load: %.2f %% of the time, %.2f %% of the cycles\n", 100 * f->load.of_time,
			100 * f->load.of_cycles);
	if (!isnan(f->hz))
		fprintf(out, "Mean frequency while active: %g MHz\n", round(f->hz / 1e3) / 1e3);
	if (rates_text(&f->clock, clock))
		fprintf(out, "Clock: %s\n", clock);
	if (!isnan(f->read) && !isnan(f->written))
		fprintf(out, "External memory: %s read, %s written\n", scaled(f->read, "B/s", read, sizeof(read)),
			scaled(f->written, "B/s", written, sizeof(written)));
}

void figures_rows(const struct figures *f, struct figures_row rows[FIGURES_ROWS])
{
	const struct figures_row all[FIGURES_ROWS] = {
		{ "load.of_time", "percent", f->has_load ? 100 * f->load.of_time : NAN },
		{ "load.of_cycles", "percent", f->has_load ? 100 * f->load.of_cycles : NAN },
		{ "load.active_hz", "hertz", f->hz },
		{ "bandwidth.read", "bytes/second", f->read },
		{ "bandwidth.written", "bytes/second", f->written },
	};

	memcpy(rows, all, sizeof(all));
}

static void add(struct json_object *object, const char *name, double value)
{
	json_object_object_add(object, name, isfinite(value) ? json_object_new_double(value) : NULL);
}

struct json_object *json_seconds(double seconds)
{
	struct json_object *object = json_object_new_double(seconds);

	json_object_set_serializer(object, json_object_double_to_json_string, "%.9f", NULL);
	return object;
}

void figures_add_json(struct json_object *object, const struct figures *f)
{
	struct json_object *item;

	if (f->has_load) {
		item = json_object_new_object();
		add(item, "of_time", f->load.of_time);
		add(item, "of_cycles", f->load.of_cycles);
		json_object_object_add(item, "active_seconds", json_seconds(f->load.active_seconds));
		json_object_object_add(item, "active_cycles", json_object_new_uint64(f->load.active_cycles));
		json_object_object_add(item, "cycles", json_object_new_uint64(f->load.cycles));
		if (!isnan(f->hz))
			add(item, "active_hz", f->hz);
		json_object_object_add(object, "load", item);
	}
	if (f->clock.measured_hz) {
		item = json_object_new_object();
		json_object_object_add(item, "measured_hz", json_object_new_uint64(f->clock.measured_hz));
		json_object_object_add(item, "nominal_hz", json_object_new_uint64(f->clock.nominal_hz));
		json_object_object_add(object, "clock", item);
	}
	if (!isnan(f->read) && !isnan(f->written)) {
		item = json_object_new_object();
		add(item, "read", f->read);
		add(item, "written", f->written);
		json_object_object_add(object, "bandwidth", item);
	}
}

void figures_print_topdown(FILE *out, const struct pperf_db *db,
			   double (*share)(const void *context, const struct pperf_topdown_node *node),
			   const void *context)
{
	const struct pperf_topdown_node *nodes[MAX_PARTS];
	size_t n = pperf_db_topdown_level(db, 1, nodes, MAX_PARTS), i;

	for (i = 0; i < n && i < MAX_PARTS; i++)
		fprintf(out, "%s %s %.0f%%", i ? "," : "Top-down (an estimate):", nodes[i]->title,
			100 * share(context, nodes[i]));
	if (n)
		fputc('\n', out);
}

double figures_topdown_share(const void *topdown, const struct pperf_topdown_node *node)
{
	return pperf_topdown_share(topdown, node);
}
