// SPDX-License-Identifier: MIT
/*
 * Broken recordings, for libFuzzer: whatever is in a file, reading it is well defined. Check sums are
 * not looked at here, so that changed bytes come further than the first record.
 *
 * Every input is read to its end, twice, and by the library's functions. One in eight is given to report,
 * convert and diff as well, as a file, and one in 64 becomes a database of SQLite. Databases of counters are
 * kept, since making one takes longer than all the rest.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "commands.h"
#include "recording.h"

const char *argp_program_version = "panthor-perf fuzzed";

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What is linked in the place of the library's functions (ld --wrap), and these. */
enum pperf_error __real_pperf_db_open(const char *layout, struct pperf_db **db);
enum pperf_error __wrap_pperf_db_open(const char *layout, struct pperf_db **db);
void __wrap_pperf_db_close(struct pperf_db *db);

#define MAX_CACHED 8

/* Databases are written to files alone. */
#define DATABASE "/tmp/recording-fuzz.db"

static struct {
	char layout[32];
	struct pperf_db *db;
} cache[MAX_CACHED];

enum pperf_error __wrap_pperf_db_open(const char *layout, struct pperf_db **db)
{
	const char *const *known;
	size_t i;

	for (known = pperf_layouts(); layout && *known && strcmp(*known, layout); known++)
		;
	/* The library's own error of one that is not known. */
	if (layout && !*known)
		return __real_pperf_db_open(layout, db);

	for (i = 0; i < MAX_CACHED; i++) {
		if (!cache[i].db) {
			if (__real_pperf_db_open(layout, &cache[i].db))
				abort();
			snprintf(cache[i].layout, sizeof(cache[i].layout), "%s", layout ? layout : "");
		}
		if (!strcmp(cache[i].layout, layout ? layout : "")) {
			*db = cache[i].db;
			return PPERF_OK;
		}
	}
	abort();
}

void __wrap_pperf_db_close(struct pperf_db *db)
{
	(void)db;
}

/* No GPU is opened here. */
enum pperf_error pperf_gpu_open(const char *node, struct pperf_gpu **gpu)
{
	(void)node;
	(void)gpu;
	abort();
}

void pperf_gpu_close(struct pperf_gpu *gpu)
{
	(void)gpu;
}

const struct pperf_gpu_info *pperf_gpu_info(const struct pperf_gpu *gpu)
{
	(void)gpu;
	abort();
}

static void read_it(const uint8_t *bytes, size_t size)
{
	FILE *file = fmemopen((void *)bytes, size, "r");
	struct recording r;
	int pass;

	if (!file)
		return;
	if (pperf_records_open_stream(&r, file) == RECORDING_END) {
		for (pass = 0; pass < 2; pass++) {
			while (pperf_records_next(&r) <= RECORDING_CLOCKS)
				;
			if (pperf_records_rewind(&r))
				abort();
		}
	}
	pperf_records_close(&r);
}

static int make_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	return fd;
}

/* All counters, from a time on, as many samples at a time as the room has. */
static void read_columns(struct pperf_recording *r, uint64_t from_ns, size_t room)
{
	static uint64_t start_ns[300];
	static uint32_t regions[300];
	static double value[300];
	const struct pperf_recording_info *info = pperf_recording_info(r);
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = room, .start_ns = start_ns, .regions = regions };
	const struct pperf_counter *const *counters;
	struct pperf_selection *selection;
	double *values[2000];
	size_t count, n, i;

	counters = pperf_recording_counters(r, &count);
	if (pperf_selection_new(pperf_recording_db(r), info->gpu, &selection) || count > 2000)
		abort();
	for (i = 0; i < count; i++) {
		values[i] = value;
		if (pperf_selection_add_counter(selection, counters[i]))
			abort();
	}
	arrays.values = values;
	if (!pperf_recording_seek(r, from_ns))
		while (!pperf_recording_columns(r, selection, UINT64_MAX, &arrays, &n) && n)
			if (n > room || start_ns[n - 1] < start_ns[0])
				abort();
	pperf_selection_free(selection);
}

static void read_by_library(const uint8_t *bytes, size_t size)
{
	const struct pperf_sample *sample = NULL;
	const struct pperf_recording_info *info;
	const struct pperf_region *const *regions;
	struct pperf_recording *r;
	int fd = make_file(bytes, size);
	enum pperf_error error;
	uint64_t samples = 0;
	size_t count;

	error = pperf_recording_open_fd(fd, &r);
	close(fd);
	if (error)
		return;
	info = pperf_recording_info(r);
	regions = pperf_recording_regions(r, &count);
	while (!(error = pperf_recording_next(r, &sample)) && sample)
		if (++samples > info->samples || pperf_recording_region(r, sample->end_ns) >= count || !regions[pperf_recording_region(r, sample->end_ns)]->name)
			abort();
	if (!error && samples != info->samples)
		abort();
	read_columns(r, 0, 300);
	read_columns(r, info->start_ns + (info->end_ns - info->start_ns) / 2, 7);
	pperf_recording_close(r);
}

static void show_it(const uint8_t *bytes, size_t size, bool database)
{
	static char *const commands[][8] = {
		{ "report", "-b", "-o", "/dev/null" }, { "report", "-t", "-o", "/dev/null" },
		{ "report", "-j", "-o", "/dev/null" }, { "report", "--html", "/dev/null" },
		{ "convert", "--csv", "-o", "/dev/null" },
		{ "convert", "--json", "-o", "/dev/null" }, { "convert", "--perfetto", "-o", "/dev/null" },
		{ "convert", "--sqlite", "-o", DATABASE }, { "convert", "--schema", "-o", "/dev/null" },
		{ "report", "--region", "shadows", "-o", "/dev/null" }, { "report", "--frames", "-o", "/dev/null" },
		{ "report", "--jobs", "-o", "/dev/null" }, { "report", "--jobs", "--csv", "-o", "/dev/null" },
		{ "report", "--csv", "-o", "/dev/null" }, { "report", "--budget", "1ns,MaliGPUActiveCy=1", "-j", "-o", "/dev/null" },
		{ "diff", "--region", "shadows", "-o", "/dev/null" },
		{ "diff", "-o", "/dev/null" }, { "diff", "-T", "-j", "-o", "/dev/null" },
	};
	char path[32], *argv[10];
	int fd = make_file(bytes, size), argc;
	size_t i;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!database && !strcmp(commands[i][1], "--sqlite"))
			continue;
		memset(argv, 0, sizeof(argv));
		for (argc = 0; commands[i][argc]; argc++)
			argv[argc] = commands[i][argc];
		argv[argc++] = path;
		if (*commands[i][0] == 'r')
			command_report(argc, argv);
		if (*commands[i][0] == 'c')
			command_convert(argc, argv);
		if (*commands[i][0] != 'd')
			continue;
		argv[argc++] = path;
		command_diff(argc, argv);
	}
	unlink(DATABASE);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	uint32_t sum = 0;
	size_t i;

	if (!size)
		return 0;
	read_it(bytes, size);
	read_by_library(bytes, size);

	for (i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	if (sum % 8 == 0)
		show_it(bytes, size, sum % 64 == 0);
	return 0;
}
