// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <suggest.h>

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

/* Makes a file that can be read more than once of what a pipe has. Prints what is wrong. Returns NULL then. */
static FILE *spool(FILE *from, const char *path)
{
	const char *directory = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
	char *name, bytes[1 << 16];
	FILE *to = NULL;
	size_t size;
	int fd;

	if (asprintf(&name, "%s/panthor-perf.XXXXXX", directory) < 0) {
		complain("out of memory");
		return NULL;
	}
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0) {
		unlink(name);
		to = fdopen(fd, "w+");
	}
	free(name);
	if (!to) {
		complain("%s: cannot create a temporary file in %s: %s", path, directory, strerror(errno));
		return NULL;
	}
	while ((size = fread(bytes, 1, sizeof(bytes), from)) && fwrite(bytes, 1, size, to) == size)
		;
	if (!ferror(from) && !ferror(to) && !fflush(to)) {
		rewind(to);
		return to;
	}
	complain("%s: cannot copy it to %s: %s", path, directory, strerror(errno));
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
	copy = spool(file, view->path);
	fclose(file);
	return copy;
}

int view_open(struct view *view, const char *path, bool again)
{
	const char *layout;
	enum recording_item item;
	enum pperf_error error;
	FILE *file;

	memset(view, 0, sizeof(*view));
	file = open_input(view, path, again);
	if (!file)
		return STATUS_IO;
	item = recording_open_stream(&view->recording, file);
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

void view_close(struct view *view)
{
	regions_free(&view->regions);
	pperf_db_close(view->db);
	recording_close(&view->recording);
}

int view_rewind(struct view *view)
{
	view->last_seen = false;
	memset(&view->gaps, 0, sizeof(view->gaps));
	view->gaps.size = sizeof(view->gaps);
	return recording_rewind(&view->recording);
}

/* Notes a gap behind a sample that was looked at, too. Returns whether this one is to be. */
static bool is_seen(struct view *view)
{
	const struct pperf_sample *sample = &view->recording.sample;
	bool seen = !view->region || regions_of(&view->regions, sample) == view->region;

	if (seen && view->last_seen && sample->start_ns != view->end_ns) {
		view->gaps.gaps++;
		view->gaps.gap_ns += sample->start_ns - view->end_ns;
	}
	view->end_ns = sample->end_ns;
	view->last_seen = seen;
	return seen;
}

enum recording_item view_next(struct view *view)
{
	enum recording_item item;

	for (;;) {
		item = recording_next(&view->recording);
		if (item == RECORDING_SAMPLE && !is_seen(view))
			continue;
		if (item == RECORDING_MARK && !view->has_marks &&
		    regions_add_mark(&view->regions, &view->recording.mark)) {
			snprintf(view->recording.error, sizeof(view->recording.error), "out of memory");
			return RECORDING_NO_MEMORY;
		}
		if (item != RECORDING_MARK && item != RECORDING_CLOCKS)
			break;
	}
	/* Once it was read to its end, all are known. */
	if (item != RECORDING_SAMPLE)
		view->has_marks = true;
	return item;
}

int view_look_at_region(struct view *view, uint32_t region)
{
	view->region = region;
	return view_rewind(view) ? view_finish(view, RECORDING_UNREADABLE) : STATUS_OK;
}

int view_choose_region(struct view *view, const char *name)
{
	struct pperf_suggestions near = { .wrong = name };
	char text[4 * PPERF_MARK_LENGTH];
	enum recording_item item;
	uint32_t region;
	size_t n;

	while ((item = view_next(view)) == RECORDING_SAMPLE)
		;
	if (item > RECORDING_CUT)
		return view_finish(view, item);
	region = regions_find(&view->regions, name);
	if (!region) {
		for (n = 1; n < view->regions.count; n++)
			pperf_suggest(&near, view->regions.list[n].name);
		complain("%s has no region \"%s\". %s", view->path, name,
			 pperf_suggestion(&near, view->regions.count > 1 ? "Its regions are:" : "It has no regions.", text,
					  sizeof(text)));
		for (n = 1; n < view->regions.count && !near.count; n++) {
			fputc('\t', stderr);
			print_text(stderr, view->regions.list[n].name);
			fputc('\n', stderr);
		}
		return STATUS_USAGE;
	}
	return view_look_at_region(view, region);
}

int view_sum_regions(struct view *view)
{
	const struct pperf_gpu_info *info = &view->recording.head.gpu;
	enum pperf_error error = PPERF_OK;
	uint32_t region = view->region;
	struct pperf_log gaps = view->gaps;
	enum recording_item item;

	view->region = 0;
	if (view_rewind(view))
		return view_finish(view, RECORDING_UNREADABLE);
	while (!error && (item = view_next(view)) == RECORDING_SAMPLE)
		error = regions_add_sample(&view->regions, view->db, info, &view->recording.sample);
	view->region = region;
	view->gaps = gaps;
	regions_end(&view->regions);
	if (error)
		return complain_of(error);
	return item > RECORDING_CUT ? view_finish(view, item) : STATUS_OK;
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

/*
 * Opens a file beside the output's, under a name that nobody can guess: what lies under one that can be may be
 * somebody's file, or a link of somebody else's. Returns -1, errno being set.
 */
static int open_temporary(struct output *output)
{
	mode_t mask = umask(0);
	int fd;

	umask(mask);
	if (asprintf(&output->temporary, "%s.XXXXXX", output->path) < 0) {
		output->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	fd = mkostemp(output->temporary, O_CLOEXEC);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
		return -1;
	}
	/* As if it had been opened by its name. */
	fchmod(fd, 0666 & ~mask);
	return fd;
}

int output_open(struct output *output, const char *path, bool binary)
{
	struct stat found;
	int fd;

	memset(output, 0, sizeof(*output));
	output->file = stdout;
	output->path = "standard output";
	if (!path || is_standard(path))
		return binary && refuse_terminal(STDOUT_FILENO, output->path) ? STATUS_USAGE : STATUS_OK;
	output->path = path;

	/* A device or a pipe is written to as it is, and so is what a link leads to, which stays a link. */
	if (lstat(path, &found) || S_ISREG(found.st_mode))
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
		free(output->temporary);
	}
	return status;
}
