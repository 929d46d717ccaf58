// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"

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

int view_open(struct view *view, const char *path)
{
	const char *layout;
	enum recording_item item;
	enum pperf_error error;

	memset(view, 0, sizeof(*view));
	view->path = path;
	item = recording_open(&view->recording, path);
	if (item != RECORDING_END)
		return complain_of_recording(view, item);

	layout = view->recording.head.gpu.layout;
	error = pperf_db_open(layout, &view->db);
	if (error == PPERF_ERROR_UNKNOWN) {
		complain("%s: this program knows no counter names of \"%s\" and shows their places", path, layout);
		error = pperf_db_open(NULL, &view->db);
	}
	return error ? complain_of(error) : STATUS_OK;
}

void view_close(struct view *view)
{
	pperf_db_close(view->db);
	recording_close(&view->recording);
}

int view_finish(const struct view *view, enum recording_item item)
{
	switch (item) {
	case RECORDING_END:
		return STATUS_OK;
	case RECORDING_CUT:
		complain("%s was cut short: what comes after its last whole sample is missing", view->path);
		return STATUS_OK;
	default:
		return complain_of_recording(view, item);
	}
}

int output_open(struct output *output, const char *path)
{
	struct stat found;
	const char *name = path;

	memset(output, 0, sizeof(*output));
	output->path = path;
	output->file = stdout;
	if (!path)
		return STATUS_OK;

	/* A device or a pipe is written to as it is. */
	if (stat(path, &found) || S_ISREG(found.st_mode)) {
		if (asprintf(&output->temporary, "%s.new", path) < 0) {
			output->temporary = NULL;
			complain("out of memory");
			return STATUS_FAILED;
		}
		name = output->temporary;
	}

	output->file = fopen(name, "we");
	if (output->file)
		return STATUS_OK;
	complain("%s: %s", name, strerror(errno));
	free(output->temporary);
	return STATUS_IO;
}

int output_close(struct output *output, int status)
{
	int finished = finish_output(output->file, output->path ? output->path : "the standard output");

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
