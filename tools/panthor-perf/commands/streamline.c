// SPDX-License-Identifier: MIT
/*
 * panthor-perf streamline: tells gatord, the daemon of Arm Streamline, of the events that perf has of this GPU.
 *
 * gatord is given two files: which PMU there is, and which events it has. It knows nothing of the layout
 * of counters, and ends a capture at the first event that is not there: the files are of one layout.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "common.h"

struct arguments {
	const char *device, *product, *directory;
};

static const struct argp_option options[] = {
	{ "gpu", 'g', "NAME", 0, "Use this product, such as G610, instead of a GPU in this machine", 0 },
	{ "output", 'o', "DIR", 0, "Write the files to this directory (default: the current one)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'g':
		arguments->product = arg;
		return 0;
	case 'o':
		arguments->directory = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/*
 * Events that the kernel makes of what is no counter; their block type is 0. Those that some boards lack,
 * of other clocks, are not here.
 */
static const struct {
	unsigned int event;
	const char *group, *title, *unit, *source;
} made[] = {
	{ 0x01, "GPU Time", "Time counted, sleep included", "ns", "gpu_time" },
	{ 0x02, "GPU Time", "Time that the GPU was up", "ns", "gpu_active_time" },
	{ 0x03, "GPU Cycles", "Cycles of the GPU's clock while it was up", "cycles", "gpu_cycles" },
	{ 0x06, "GPU Cycles", "Cycles of the GPU's clock times shader cores", "cycles", "gpu_cycles_times_cores" },
	{ 0x07, "GPU Cycles", "Cycles of the GPU's clock times L2 cache slices", "cycles", "gpu_cycles_times_slices" },
	{ 0x08, "External Bus Bytes", "Bytes read", "bytes", "external_read_bytes" },
	{ 0x09, "External Bus Bytes", "Bytes written", "bytes", "external_write_bytes" },
	{ 0x0a, "Samples", "Samples of firmware", "samples", "firmware_samples" },
	{ 0x0b, "Samples", "Samples with counts that may be too low", "samples", "lost" },
};

#define NUM_MADE (sizeof(made) / sizeof(made[0]))

static void put_attribute(FILE *out, const char *name, const char *text)
{
	fprintf(out, " %s=\"", name);
	for (; *text; text++) {
		if (strchr("&<\"", *text))
			fprintf(out, "&#%d;", *text);
		else
			fputc(*text, out);
	}
	fputc('"', out);
}

static void put_event(FILE *out, unsigned int event, const char *group, const char *title, const char *unit,
		      const char *source)
{
	char chart[128];

	snprintf(chart, sizeof(chart), "Mali %s", group);
	fprintf(out, "    <event event=\"0x%x\"", event);
	put_attribute(out, "title", chart);
	put_attribute(out, "name", title);
	put_attribute(out, "units", unit);
	put_attribute(out, "description", source);
	fputs("/>\n", out);
}

/* The identifiers of layouts that the kernel has, such as g710 of Mali-G710. */
static void short_name(const char *layout, char *name, size_t size)
{
	size_t length = 0;

	for (layout += strlen("Mali-"); *layout && length < size - 1; layout++)
		name[length++] = *layout >= 'A' && *layout <= 'Z' ? *layout - 'A' + 'a' : *layout;
	name[length] = 0;
}

static size_t put_events(FILE *out, const char *name, const struct pperf_db *db)
{
	const struct pperf_counter *const *list;
	size_t i, count, events = NUM_MADE;

	list = pperf_db_counters(db, &count);
	for (i = 0; i < count; i++)
		events += !list[i]->equation;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<events>\n"
		"  <counter_set name=\"panthor_mali_%s_cnt\" count=\"%zu\"/>\n"
		"  <category name=\"Mali GPU\" counter_set=\"panthor_mali_%s_cnt\" per_cpu=\"no\">\n",
		name, events, name);
	for (i = 0; i < NUM_MADE; i++)
		put_event(out, made[i].event, made[i].group, made[i].title, made[i].unit, made[i].source);
	for (i = 0; i < count; i++)
		if (!list[i]->equation)
			put_event(out, list[i]->type << 8 | list[i]->index, list[i]->group, list[i]->title,
				  list[i]->unit, list[i]->source);
	fputs("  </category>\n</events>\n", out);
	return events;
}

static void put_pmu(FILE *out, const char *name, size_t events)
{
	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<pmus version=\"2\">\n"
		"  <uncore_pmu id=\"panthor_%%s\" counter_set=\"panthor_mali_%s\" core_name=\"Mali GPU\" "
		"pmnc_counters=\"%zu\" has_cycles_counter=\"no\"/>\n</pmus>\n", name, events);
}

static FILE *create(const char *directory, const char *what, const char *name, char **path)
{
	FILE *out;

	if (asprintf(path, "%s/%s-mali-%s.xml", directory, what, name) < 0) {
		*path = NULL;
		complain("out of memory");
		return NULL;
	}
	out = fopen(*path, "we");
	if (!out)
		complain("%s: %s", *path, strerror(errno));
	return out;
}

/* One word for a shell, of which root's reads it. */
static void put_word(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", stdout);
		putchar(*text);
	}
	putchar('\'');
}

static int write_files(const char *directory, const char *name, const struct pperf_db *db)
{
	char *pmus = NULL, *events = NULL;
	int status = STATUS_IO;
	size_t count;
	FILE *out;

	out = create(directory, "events", name, &events);
	if (!out)
		goto out;
	count = put_events(out, name, db);
	status = finish_output(out, events);
	if (status)
		goto out;

	status = STATUS_IO;
	out = create(directory, "pmus", name, &pmus);
	if (!out)
		goto out;
	put_pmu(out, name, count);
	status = finish_output(out, pmus);
	if (!status) {
		/* Charts are as fine as the kernel's samples. */
		printf("echo 1 | tee /sys/bus/event_source/devices/panthor_*/sample_interval_ms >/dev/null\n"
		       "gatord -S yes -P ");
		put_word(pmus);
		fputs(" -E ", stdout);
		put_word(events);
		putchar('\n');
	}
out:
	free(pmus);
	free(events);
	return status ? status : finish_output(stdout, "standard output");
}

int command_streamline(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL,
		"Writes files that describe the GPU's perf events to gatord, the daemon of Arm Streamline, and prints "
		"the commands to run it.", children, NULL, NULL
	};
	struct arguments arguments = { .directory = "." };
	const char *layout;
	struct pperf_db *db;
	char name[32];
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	status = open_layout(arguments.device, arguments.product, &layout, &db);
	if (status)
		return status;

	short_name(layout, name, sizeof(name));
	status = write_files(arguments.directory, name, db);
	pperf_db_close(db);
	return status;
}
