// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "sink.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

/* ---- Bytes of files ---- */

/* Returns less than size at an error. */
static ssize_t write_bytes(void *context, const char *from, size_t size)
{
	struct sink *s = context;
	size_t done = 0;
	ssize_t written;

	while (done < size) {
		written = write(s->fd, from + done, size - done);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			if (!s->error)
				s->error = errno;
			break;
		}
		done += written;
		s->bytes += written;
	}
	return done;
}

static void walk_over(struct sink_walk *w, const uint8_t *bytes, size_t size, uint64_t *samples)
{
	size_t n;

	while (size) {
		if (w->left) {
			n = size < w->left ? size : w->left;
			w->left -= n;
			bytes += n;
			size -= n;
		} else {
			w->start[w->have++] = *bytes++;
			size--;
			if (w->have < sizeof(w->start))
				continue;
			w->left = (w->start[1] | w->start[2] << 8 | (uint64_t)w->start[3] << 16) + 4;
		}
		if (!w->left && w->have) {
			w->have = 0;
			*samples += w->start[0] == RECORDING_KIND_SAMPLE;
		}
	}
}

/* The same as write_bytes(), of a recording: counts the samples. */
static ssize_t write_records(void *context, const char *from, size_t size)
{
	struct sink *s = context;
	ssize_t written = write_bytes(s, from, size);

	walk_over(&s->walk, (const uint8_t *)from, written, &s->samples);
	return written;
}

static void begin_walk(struct sink *s)
{
	/* Bytes before the first record. */
	s->walk = (struct sink_walk){ .left = sizeof(pperf_records_magic) + 4 };
}

static void *write_recording(void *context)
{
	struct sink *s = context;
	const uint8_t *bytes;
	size_t size;

	begin_walk(s);
	while (!s->error && (size = fifo_get(s->queue, &bytes)))
		fifo_release(s->queue, write_records(s, (const char *)bytes, size));
	fifo_leave(s->queue, s->error ? FIFO_FAILED : FIFO_DONE);
	return NULL;
}

/* ---- Streams, which have no descriptors that the command could inherit ---- */

/* What is read of the queue at a time. */
#define STREAM_BYTES (64u << 10)

static ssize_t read_queue(void *context, char *to, size_t size)
{
	struct sink *s = context;
	const uint8_t *bytes;
	size_t have;

	/* Waiting for the queue may take long: what has been written should be in the file. */
	if (s->part.file)
		fflush(s->part.file);
	have = fifo_get(s->queue, &bytes);
	if (have > size)
		have = size;
	memcpy(to, bytes, have);
	fifo_release(s->queue, have);
	return have;
}

/* Returns what pperf_records_open_stream() does. */
static enum recording_item open_queue(struct sink *s, struct recording *in)
{
	FILE *file = fopencookie(s, "r", (cookie_io_functions_t){ .read = read_queue });

	memset(in, 0, sizeof(*in));
	if (!file)
		return RECORDING_NO_MEMORY;
	setvbuf(file, NULL, _IOFBF, STREAM_BYTES);
	return pperf_records_open_stream(in, file);
}

static void *write_trace(void *context)
{
	struct sink *s = context;
	enum recording_item item = RECORDING_NO_MEMORY;
	FILE *out = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_bytes });
	struct recording in;

	s->trace_error = PPERF_ERROR_NO_MEMORY;
	if (out) {
		item = open_queue(s, &in);
		if (item == RECORDING_END)
			item = perfetto_convert(&in, out, s->compression, &s->trace_error, &s->samples);
		pperf_records_close(&in);
	}
	if (out && fclose(out) && !s->error)
		s->error = errno;
	fifo_leave(s->queue, s->trace_error || s->error || item != RECORDING_END ? FIFO_FAILED : FIFO_DONE);
	return NULL;
}

/* ---- Parts: recordings made of records of another one ---- */

static int put_part(struct sink_part *part)
{
	return fwrite(part->writer.bytes, 1, part->writer.size, part->file) == part->writer.size ? 0 : -1;
}

static void encode(struct sink_part *part, enum recording_item item, const struct recording *in)
{
	switch (item) {
	case RECORDING_SAMPLE:
		recording_write_sample(&part->writer, &in->sample);
		pperf_log_add(&part->log, &in->sample);
		break;
	case RECORDING_MARK:
		recording_write_mark(&part->writer, &in->mark);
		part->marks++;
		break;
	case RECORDING_FRAME_END:
		recording_write_frame(&part->writer, &in->frame);
		part->frames++;
		break;
	case RECORDING_USE:
		recording_write_use(&part->writer, &in->use);
		break;
	case RECORDING_JOBS:
		recording_write_record(&part->writer, &in->jobs);
		break;
	default:
		recording_write_clocks(&part->writer, &in->clocks);
		break;
	}
}

/* Returns -1, errno being set. */
static int add_to_part(struct sink_part *part, enum recording_item item, const struct recording *in)
{
	encode(part, item, in);
	return put_part(part);
}

/*
 * Begins where the other recording stands: with its clocks, and in its region. Returns -1, errno being set;
 * close_part() must be called in any case.
 */
static int begin_part(struct sink_part *part, FILE *file, const struct recording_head *head, const struct recording *in)
{
	memset(part, 0, sizeof(*part));
	part->file = file;
	part->log.size = sizeof(part->log);
	errno = ENOMEM;
	if (!file || recording_writer_open(&part->writer, head) || put_part(part))
		return -1;
	if (in->clocks.monotonic_raw) {
		part->repeated++;
		if (add_to_part(part, RECORDING_CLOCKS, in))
			return -1;
	}
	if (*in->mark.name) {
		part->repeated++;
		return add_to_part(part, RECORDING_MARK, in);
	}
	return 0;
}

/* Returns -1, errno being set. */
static int end_part(struct sink_part *part, const struct recording_end *of_all)
{
	struct recording_end end = *of_all;

	end.samples = part->log.samples;
	end.overflow = part->log.overflowed;
	end.error = part->log.failed;
	end.stretched = part->log.stretched;
	end.marks = part->marks;
	end.frames = part->frames;
	errno = ENOMEM;
	return recording_write_end(&part->writer, &end) || put_part(part) ? -1 : 0;
}

/* Returns -1, errno being set. */
static int close_part(struct sink_part *part)
{
	int ret = part->file ? fclose(part->file) : 0;

	recording_writer_close(&part->writer);
	part->file = NULL;
	return ret;
}

/* ---- Files one after the other ---- */

/* The name of the file of a number, to be freed. */
static char *file_name(const struct sink *s, unsigned int number)
{
	char *name;

	if (s->kind == SINK_LAST && !number)
		return strdup(s->path);
	return asprintf(&name, s->kind == SINK_LAST ? "%s.%u" : "%s-%06u", s->path, number) < 0 ? NULL : name;
}

/* Remove all but the newest files, those of earlier recordings too. */
static void remove_old(const struct sink *s)
{
	unsigned int number;
	char *name;
	int ret = 0;

	if (!s->keep || s->number <= s->keep)
		return;
	for (number = s->number - s->keep; !ret && number; number--) {
		name = file_name(s, number);
		ret = name ? unlink(name) : -1;
		free(name);
	}
}

/* Switch to the next file; the first one is open already. Return -1, errno being set. */
static int next_file(struct sink *s)
{
	char *name;
	int fd;

	if (s->files) {
		name = file_name(s, s->number + 1);
		if (!name)
			return -1;
		free(s->name);
		s->name = name;
		fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (fd < 0)
			return -1;
		close(s->fd);
		s->fd = fd;
		s->number++;
	}
	s->files++;
	remove_old(s);
	return 0;
}

/* ---- A recording in several files ---- */

/* Write one file. Return the item that ended it; s->error is set at an error. */
static enum recording_item copy_part(struct sink *s, struct recording *in)
{
	FILE *out = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_records });
	enum recording_item item = RECORDING_NO_MEMORY;
	int error = 0;

	begin_walk(s);
	if (begin_part(&s->part, out, &in->head, in))
		error = errno;
	while (!error && (item = pperf_records_next(in)) < RECORDING_END)
		if (add_to_part(&s->part, item, in))
			error = errno;
	if (!error && item == RECORDING_END && end_part(&s->part, &in->end))
		error = errno;
	if (close_part(&s->part) && !error)
		error = errno;
	if (!s->error)
		s->error = error;
	return item;
}

static void *write_split(void *context)
{
	struct sink *s = context;
	struct recording in;
	enum recording_item item = open_queue(s, &in);

	in.end.reason = RECORDING_CONTINUED;
	while (item == RECORDING_END && !s->error && in.end.reason == RECORDING_CONTINUED) {
		if (next_file(s))
			s->error = errno;
		else
			item = copy_part(s, &in);
	}
	pperf_records_close(&in);
	if (item == RECORDING_NO_MEMORY && !s->error)
		s->error = ENOMEM;
	fifo_leave(s->queue, s->error || item != RECORDING_END ? FIFO_FAILED : FIFO_DONE);
	return NULL;
}

/* ---- The last samples ---- */

/* Memory is divided into this many chunks, or fewer if they would be too small. The oldest one is reused. */
#define CHUNKS 32

struct sink_chunk {
	/* A recording without an end. The first records, this many, repeat what the chunk before it ended with. */
	uint8_t *bytes;
	size_t size;
	unsigned int repeated;

	/* Where its last sample ends; 0 without one. */
	uint64_t end_ns;
};

struct sink_memory {
	/* The head without the command, which may be long. */
	struct recording_head head;
	size_t chunk_size;
	unsigned int count;

	/* Chunks ever begun. */
	uint64_t begun;
	uint8_t *bytes;
	struct sink_chunk chunks[CHUNKS];
};

static struct sink_memory *memory_open(size_t size, const struct recording_head *head)
{
	struct sink_memory *memory = calloc(1, sizeof(*memory));
	struct recording_writer writer;
	size_t least;

	if (!memory)
		return NULL;
	memory->head = *head;
	memory->head.command = NULL;
	if (recording_writer_open(&writer, &memory->head)) {
		free(memory);
		return NULL;
	}
	least = writer.size + RECORDING_CLOCKS_SIZE + RECORDING_MARK_SIZE + writer.longest;
	recording_writer_close(&writer);

	memory->chunk_size = size / CHUNKS > least ? size / CHUNKS : least;
	memory->count = size / memory->chunk_size > 2 ? size / memory->chunk_size : 2;
	memory->bytes = malloc(memory->count * memory->chunk_size);
	if (memory->bytes)
		return memory;
	free(memory);
	return NULL;
}

static void memory_close(struct sink_memory *memory)
{
	if (memory)
		free(memory->bytes);
	free(memory);
}

/* Returns -1, errno being set. */
static int next_chunk(struct sink *s, const struct recording *in)
{
	struct sink_memory *memory = s->memory;
	unsigned int slot = memory->begun % memory->count;
	uint8_t *bytes = memory->bytes + slot * memory->chunk_size;

	if (close_part(&s->part) || begin_part(&s->part, fmemopen(bytes, memory->chunk_size, "w"), &memory->head, in))
		return -1;
	memory->chunks[slot] = (struct sink_chunk){ .bytes = bytes, .repeated = s->part.repeated };
	memory->begun++;
	return 0;
}

/* Returns -1, errno being set. */
static int keep_item(struct sink *s, enum recording_item item, const struct recording *in)
{
	struct sink_memory *memory = s->memory;
	struct sink_chunk *chunk;

	if (!memory->begun && next_chunk(s, in))
		return -1;
	encode(&s->part, item, in);
	if (s->part.writer.offset >= memory->chunk_size) {
		if (next_chunk(s, in))
			return -1;
		encode(&s->part, item, in);
	}
	if (put_part(&s->part))
		return -1;
	chunk = &memory->chunks[(memory->begun - 1) % memory->count];
	chunk->size = s->part.writer.offset;
	chunk->end_ns = s->part.log.end_ns;
	s->samples += item == RECORDING_SAMPLE;
	return 0;
}

struct dump {
	struct sink_part part;
	const struct recording_head *head;
	bool begun;

	/* Where the last sample of all ends, and the first that is written begins. */
	uint64_t end_ns, start_ns;

	/* There is an older sample. */
	bool trimmed;
};

/* Returns -1, errno being set. */
static int dump_item(const struct sink *s, struct dump *d, enum recording_item item, const struct recording *in)
{
	if (!d->begun) {
		if (item != RECORDING_SAMPLE)
			return 0;
		if (d->end_ns - in->sample.end_ns >= s->last_ns) {
			d->trimmed = true;
			return 0;
		}
		d->begun = true;
		d->start_ns = in->sample.start_ns;
		if (begin_part(&d->part, d->part.file, d->head, in))
			return -1;
	}
	return add_to_part(&d->part, item, in);
}

/* Returns -1, errno being set. */
static int dump_chunk(const struct sink *s, struct dump *d, const struct sink_chunk *chunk)
{
	FILE *file = fmemopen(chunk->bytes, chunk->size, "r");
	unsigned int repeated = d->begun ? chunk->repeated : 0;
	enum recording_item item;
	struct recording in;
	int ret;

	if (!file)
		return -1;
	item = pperf_records_open_stream(&in, file);
	ret = item == RECORDING_END ? 0 : -1;
	while (!ret && (item = pperf_records_next(&in)) < RECORDING_END) {
		if (repeated)
			repeated--;
		else
			ret = dump_item(s, d, item, &in);
	}
	/* The bytes are our own: nothing else can be wrong with them. */
	if (item == RECORDING_NO_MEMORY) {
		errno = ENOMEM;
		ret = -1;
	}
	pperf_records_close(&in);
	return ret;
}

/* Write the samples before the end that was read. Return -1, errno being set. */
static int write_dump(struct sink *s, struct dump *d, const struct recording *in)
{
	const struct sink_memory *memory = s->memory;
	const struct sink_chunk *chunk;
	uint64_t i = memory->begun > memory->count ? memory->begun - memory->count : 0;

	if (s->part.file && fflush(s->part.file))
		return -1;
	for (; i < memory->begun; i++) {
		chunk = &memory->chunks[i % memory->count];
		if (chunk->end_ns && d->end_ns - chunk->end_ns >= s->last_ns)
			d->trimmed = true;
		else if (dump_chunk(s, d, chunk))
			return -1;
	}
	if (!d->begun && begin_part(&d->part, d->part.file, d->head, in))
		return -1;
	return end_part(&d->part, &in->end);
}

/* An error does not end the recording. */
static void dump(struct sink *s, const struct recording *in)
{
	struct dump d = { .head = &in->head, .end_ns = in->sample.end_ns };
	int error = 0;

	if (next_file(s)) {
		error = errno;
	} else {
		d.part.file = fopencookie(s, "w", (cookie_io_functions_t){ .write = write_bytes });
		if (write_dump(s, &d, in))
			error = errno;
		if (close_part(&d.part) && !error)
			error = errno;
	}
	if (s->error)
		error = s->error;
	s->error = 0;
	if (error) {
		complain("cannot write the last samples to %s: %s", s->name, strerror(error));
		s->failed = true;
	}
	if (d.begun && !d.trimmed && s->memory->begun > s->memory->count && d.end_ns - d.start_ns < s->last_ns)
		s->short_ns = d.end_ns - d.start_ns;
}

static void *write_last(void *context)
{
	struct sink *s = context;
	struct recording in;
	enum recording_item item = open_queue(s, &in);

	in.end.reason = RECORDING_CONTINUED;
	while (item <= RECORDING_END && in.end.reason == RECORDING_CONTINUED && !s->error) {
		item = pperf_records_next(&in);
		if (item == RECORDING_END) {
			dump(s, &in);
			fifo_answer(s->queue);
		} else if (item < RECORDING_END && keep_item(s, item, &in)) {
			s->error = errno;
		}
	}
	close_part(&s->part);
	pperf_records_close(&in);
	if (item == RECORDING_NO_MEMORY && !s->error)
		s->error = ENOMEM;
	fifo_leave(s->queue, s->error || item != RECORDING_END ? FIFO_FAILED : FIFO_DONE);
	return NULL;
}

/* ---- For the recorder ---- */

/* The highest number of an existing file, or 0. */
static unsigned int last_number(const char *path)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	char *directory = slash ? strndup(path, slash - path + 1) : strdup(".");
	DIR *entries = directory ? opendir(directory) : NULL;
	unsigned int number, last = 0;
	struct dirent *entry;
	size_t length = strlen(base);
	int end;

	while (entries && (entry = readdir(entries)))
		if (!strncmp(entry->d_name, base, length) && sscanf(entry->d_name + length, "-%6u%n", &number, &end) == 1 &&
		    !entry->d_name[length + end] && number > last)
			last = number;
	if (entries)
		closedir(entries);
	free(directory);
	return last;
}

/* Open the output without changing its content; s->made says whether it is new. Return -1, errno being set. */
static int open_output(struct sink *s)
{
	int fd;

	if (!s->path)
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
	fd = open(s->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	s->made = fd >= 0;
	return fd >= 0 || errno != EEXIST ? fd : open(s->name, O_WRONLY | O_CLOEXEC);
}

int sink_open(struct sink *s, const struct recording_head *head)
{
	int status = STATUS_IO;
	struct stat found;

	if (s->kind == SINK_LAST)
		s->memory = memory_open(s->memory_size, head);
	if (s->kind == SINK_SPLIT)
		s->number = last_number(s->path) + 1;
	s->name = s->kind == SINK_LAST || s->kind == SINK_SPLIT ? file_name(s, s->number) :
								   strdup(s->path ? s->path : "standard output");
	if (!s->name || (s->kind == SINK_LAST && !s->memory)) {
		complain("out of memory");
		status = STATUS_FAILED;
		goto err;
	}
	if (s->kind == SINK_LAST && !stat(s->name, &found) && !S_ISREG(found.st_mode)) {
		complain("%s is not a regular file: --last cannot write it more than once. Use -o with another name", s->name);
		goto err;
	}
	s->fd = open_output(s);
	if (s->fd < 0) {
		complain("%s: %s", s->name, strerror(errno));
		goto err;
	}
	if (!refuse_terminal(s->fd, s->name))
		return STATUS_OK;
	sink_close(s);
	return STATUS_USAGE;

err:
	free(s->name);
	memory_close(s->memory);
	return status;
}

int sink_start(struct sink *s)
{
	static void *(*const writers[])(void *context) = {
		[SINK_FILE] = write_recording, [SINK_TRACE] = write_trace, [SINK_SPLIT] = write_split, [SINK_LAST] = write_last,
	};
	int ret;

	/* A pipe and what is appended to are not truncated. */
	if (s->path && ftruncate(s->fd, 0) && errno != EINVAL) {
		complain("%s: %s", s->name, strerror(errno));
		return STATUS_IO;
	}
	s->made = false;

	ret = pthread_create(&s->thread, NULL, writers[s->kind], s);
	if (!ret)
		return STATUS_OK;
	complain("cannot start a thread: %s", strerror(ret));
	return STATUS_FAILED;
}

int sink_close(struct sink *s)
{
	int status = STATUS_OK;

	if (close(s->fd)) {
		complain("%s: %s", s->name, strerror(errno));
		status = STATUS_IO;
	}
	/* A failure leaves all as it was. */
	if (s->made)
		unlink(s->name);
	free(s->name);
	memory_close(s->memory);
	return status;
}
