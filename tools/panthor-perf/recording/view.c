// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <suggest.h>

#include "batches.h"
#include "common.h"

static int complain_of_recording(const struct view *view, enum recording_item item)
{
	complain("%s: %s", view->path, view->recording.error);
	switch (item) {
	case RECORDING_BROKEN:
		return STATUS_BROKEN;
	case RECORDING_UNREADABLE:
		return STATUS_IO;
	default:
		return STATUS_FAILED;
	}
}

static const char *temporary_directory(void)
{
	return getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
}

FILE *view_temporary(const struct view *view)
{
	FILE *file = NULL;
	char *name;
	int fd;

	if (asprintf(&name, "%s/panthor-perf.XXXXXX", temporary_directory()) < 0) {
		complain("out of memory");
		return NULL;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0) {
		unlink(name);
		file = fdopen(fd, "w+");
	}
	free(name);
	if (!file)
		complain("%s: cannot create a temporary file in %s: %s", view->path, temporary_directory(), strerror(errno));
	return file;
}

/* Makes a file that can be read more than once of what a pipe has. Prints what is wrong. Returns NULL then. */
static FILE *spool(FILE *from, const struct view *view)
{
	FILE *to = view_temporary(view);
	char bytes[1 << 16];
	size_t size;

	if (!to)
		return NULL;
	while ((size = fread(bytes, 1, sizeof(bytes), from)) && fwrite(bytes, 1, size, to) == size)
		;
	if (!ferror(from) && !ferror(to) && !fflush(to)) {
		rewind(to);
		return to;
	}
	complain("%s: cannot copy it to %s: %s", view->path, temporary_directory(), strerror(errno));
	fclose(to);
	return NULL;
}

/* Prints what is wrong. Returns NULL then. */
static FILE *open_input(struct view *view, const char *path, bool again)
{
	FILE *file = is_standard(path) ? fdopen(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), "r") : fopen(path, "re"), *copy;

	view->path = is_standard(path) ? "standard input" : path;
	if (!file)
		complain("%s: %s", view->path, strerror(errno));
	if (!file || !again || !lseek(fileno(file), 0, SEEK_CUR))
		return file;
	copy = spool(file, view);
	fclose(file);
	return copy;
}

static int open_view(struct view *view, const char *path, bool again)
{
	const char *layout;
	enum recording_item item;
	enum pperf_error error;
	FILE *file;

	memset(view, 0, sizeof(*view));
	view->until_ns = UINT64_MAX;
	file = open_input(view, path, again);
	if (!file)
		return STATUS_IO;
	item = pperf_records_open_stream(&view->recording, file);
	if (item != RECORDING_END)
		return complain_of_recording(view, item);

	layout = view->recording.head.set ? NULL : view->recording.head.gpu.layout;
	error = pperf_db_open(layout, &view->db);
	if (error == PPERF_ERROR_UNKNOWN) {
		complain("%s: no counter names are known for \"%s\"; showing BLOCK.INDEX instead", view->path, layout);
		error = pperf_db_open(NULL, &view->db);
	}
	return error ? complain_of(error) : STATUS_OK;
}

int view_open_stream(struct view *view, const char *path)
{
	return open_view(view, path, false);
}

int view_open(struct view *view, const char *path)
{
	int status = open_view(view, path, true);

	if (!status)
		status = view_finish(view, pperf_chunks_find(&view->recording, &view->chunks));
	if (!status)
		status = view_finish(view, pperf_regions_read(&view->regions, &view->recording, &view->chunks));
	if (!status)
		status = view_finish(view, pperf_frames_read(&view->frames, &view->recording, &view->chunks));
	return status;
}

int view_read_jobs(struct view *view)
{
	view->has_jobs = view->recording.head.jobs;
	if (!view->has_jobs)
		return STATUS_OK;
	return view_finish(view, pperf_jobs_read(&view->jobs, &view->recording, &view->chunks));
}

void view_close(struct view *view)
{
	pperf_jobs_free(&view->jobs);
	free(view->region_jobs);
	pperf_regions_free(&view->regions);
	pperf_frames_free(&view->frames);
	pperf_chunks_free(&view->chunks);
	pperf_db_close(view->db);
	pperf_records_close(&view->recording);
}

bool view_sees(const struct view *view, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t middle = start_ns + (end_ns - start_ns) / 2;
	uint32_t region;

	if (middle < view->from_ns || middle >= view->until_ns)
		return false;
	if (!view->region)
		return true;
	pperf_regions_place(&view->regions, start_ns, end_ns, &region);
	return region == view->region;
}

bool view_sees_part(const struct view *view, const struct recording_chunk *chunk)
{
	if (chunk->end_ns < view->from_ns || chunk->start_ns >= view->until_ns)
		return false;
	return !view->region || pperf_regions_touch(&view->regions, view->region, chunk->start_ns, chunk->end_ns);
}

void view_choose_time(struct view *view, uint64_t from_ns, uint64_t until_ns)
{
	uint64_t start_ns = view_whole(view).start_ns;

	view->from_ns = start_ns + from_ns;
	view->until_ns = until_ns == UINT64_MAX ? UINT64_MAX : start_ns + until_ns;
}

int view_choose_region(struct view *view, const char *name)
{
	struct pperf_suggestions near = { .wrong = name };
	char text[4 * PPERF_MARK_LENGTH];
	size_t n;

	view->region = pperf_regions_find(&view->regions, name);
	if (view->region)
		return STATUS_OK;
	for (n = 1; n < view->regions.count; n++)
		pperf_suggest(&near, view->regions.list[n].name);
	complain("%s has no region \"%s\". %s", view->path, name,
		 pperf_suggestion(&near, view->regions.count > 1 ? "Its regions are:" : "It has no regions.", text, sizeof(text)));
	for (n = 1; n < view->regions.count && !near.count; n++) {
		fputc('\t', stderr);
		print_text(stderr, view->regions.list[n].name);
		fputc('\n', stderr);
	}
	return STATUS_USAGE;
}

static void measure(void *context, size_t number, const struct batch *batch)
{
	struct extent *extent = context;

	(void)number;
	if (!extent->samples)
		extent->start_ns = batch->columns.start_ns[0];
	extent->samples += batch->columns.count;
	extent->end_ns = batch->columns.end_ns[batch->columns.count - 1];
}

int view_extent(struct view *view, struct extent *extent)
{
	const struct batches batches = { .view = view, .task = measure, .context = extent, .tasks = 1 };

	memset(extent, 0, sizeof(*extent));
	if (view->region || view->from_ns || view->until_ns != UINT64_MAX)
		return view_finish(view, batches_run(&batches));
	*extent = view_whole(view);
	return STATUS_OK;
}

struct extent view_whole(const struct view *view)
{
	const struct recording_chunk *range;
	struct extent extent = {};
	size_t i;

	for (i = 0; i < view->chunks.count; i++) {
		range = &view->chunks.list[i].range;
		if (!range->samples)
			continue;
		if (!extent.samples)
			extent.start_ns = range->start_ns;
		extent.samples += range->samples;
		extent.end_ns = range->end_ns;
	}
	return extent;
}

/* The parts of one region. */
struct taking {
	uint32_t region;
	void (*take)(void *context, uint64_t from_ns, uint64_t until_ns);
	void *context;
};

static void take_region(void *context, uint32_t region, uint64_t from_ns, uint64_t until_ns)
{
	const struct taking *t = context;

	if (region == t->region)
		t->take(t->context, from_ns, until_ns);
}

void view_each_time(const struct view *view, void (*take)(void *context, uint64_t from_ns, uint64_t until_ns), void *context)
{
	struct taking t = { view->region, take, context };
	struct extent whole = view_whole(view);
	uint64_t from_ns = view->from_ns > whole.start_ns ? view->from_ns : whole.start_ns;
	uint64_t until_ns = view->until_ns < whole.end_ns ? view->until_ns : whole.end_ns;

	if (view->region)
		pperf_regions_each(&view->regions, from_ns, until_ns, take_region, &t);
	else if (from_ns < until_ns)
		take(context, from_ns, until_ns);
}

struct region_sums {
	struct regions *regions;
	struct adder adder;
};

static void add_regions(void *context, size_t number, const struct batch *batch)
{
	struct region_sums *sums = context;
	size_t i;

	(void)number;
	for (i = 0; i < batch->num_runs; i++) {
		const struct batch_run *run = &batch->runs[i];
		struct pperf_columns columns = batch_columns(batch, run);

		regions_add(sums->regions, &columns, adder_sum(&sums->adder, run), run->region, run->sure);
	}
}

static void add_region_jobs(void *context, uint32_t region, uint64_t from_ns, uint64_t until_ns)
{
	struct view *view = context;

	job_times_add(&view->region_jobs[region], &view->jobs, from_ns, until_ns, 0);
}

int view_sum_regions(struct view *view)
{
	struct view whole = *view;
	struct region_sums sums = { .regions = &view->regions };
	const struct batches batches = {
		.view = &whole, .by_region = true, .task = add_regions, .context = &sums, .tasks = 1,
	};
	enum pperf_error error = regions_begin(&view->regions, view->db, &view->recording.head.gpu);
	int status;

	if (!error && adder_new(&sums.adder, &view->recording))
		error = PPERF_ERROR_NO_MEMORY;
	whole.region = 0;
	whole.from_ns = 0;
	whole.until_ns = UINT64_MAX;
	status = error ? complain_of(error) : view_finish(&whole, batches_run(&batches));
	adder_free(&sums.adder);
	pperf_regions_lengths(&view->regions, view->regions.start_ns, view->regions.end_ns);
	if (status || !view->has_jobs)
		return status;
	view->region_jobs = calloc(view->regions.count + 1, sizeof(*view->region_jobs));
	if (!view->region_jobs)
		return complain_of_memory();
	pperf_regions_each(&view->regions, view->regions.start_ns, view->regions.end_ns, add_region_jobs, view);
	return STATUS_OK;
}

int view_finish(const struct view *view, enum recording_item item)
{
	switch (item) {
	case RECORDING_END:
		return STATUS_OK;
	case RECORDING_CUT:
		complain("%s is incomplete: the data after its last whole sample is missing", view->path);
		return STATUS_OK;
	default:
		return complain_of_recording(view, item);
	}
}

/* ---- Signals ---- */

/* Of the output that is open, and the signals that end the program: it is removed by them. */
static char *volatile unfinished;
static const int deadly[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ };

/* The default action is back, and ends the program when this returns. */
static void remove_unfinished(int number)
{
	const char *path = unfinished;

	if (path)
		unlink(path);
	raise(number);
}

/* Signals that are ignored, as by nohup, stay so. Blocks them all; before is the mask that there was. */
static void block_deadly(sigset_t *before)
{
	const struct sigaction action = { .sa_handler = remove_unfinished, .sa_flags = SA_RESETHAND };
	struct sigaction found;
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		sigaddset(&set, deadly[i]);
		if (!sigaction(deadly[i], NULL, &found) && found.sa_handler == SIG_DFL)
			sigaction(deadly[i], &action, NULL);
	}
	pthread_sigmask(SIG_BLOCK, &set, before);
}

/*
 * Opens a file beside the output's, under a name that nobody can guess: what lies under one that can be may be
 * somebody's file, or a link of somebody else's. Returns -1, errno being set.
 */
static int open_temporary(struct output *output)
{
	mode_t mask = umask(0);
	sigset_t before;
	int fd, error;

	umask(mask);
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	block_deadly(&before);
	fd = mkostemp(output->temporary, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		unfinished = output->temporary;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = error;
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return -1;
	}
	/* As if it had been opened by its name. */
	fchmod(fd, 0666 & ~mask);
	return fd;
}

bool output_replaces(const char *path)
{
	struct stat found;

	return path && !is_standard(path) && (lstat(path, &found) || S_ISREG(found.st_mode));
}

int output_open(struct output *output, const char *path, bool binary)
{
	int fd;

	memset(output, 0, sizeof(*output));
	output->file = stdout;
	output->path = "standard output";
	if (!path || is_standard(path))
		return binary && refuse_terminal(STDOUT_FILENO, output->path) ? STATUS_USAGE : STATUS_OK;
	output->path = path;

	/* A device or a pipe is written to as it is, and so is what a link leads to, which stays a link. */
	if (output_replaces(path))
		fd = open_temporary(output);
	else
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	if (binary && fd >= 0 && refuse_terminal(fd, path)) {
		close(fd);
		return STATUS_USAGE;
	}
	output->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (output->file)
		return STATUS_OK;
	complain("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	if (output->temporary)
		unlink(output->temporary);
	unfinished = NULL;
	free(output->temporary);
	return STATUS_IO;
}

int output_close(struct output *output, int status)
{
	int finished = finish_output(output->file, output->path);

	if (!status)
		status = finished;
	if (output->temporary) {
		if (!status && rename(output->temporary, output->path)) {
			complain("%s: %s", output->path, strerror(errno));
			status = STATUS_IO;
		}
		if (status)
			unlink(output->temporary);
		unfinished = NULL;
		free(output->temporary);
	}
	return status;
}
