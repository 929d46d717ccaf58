// SPDX-License-Identifier: MIT
/*
 * A file of Perfetto's trace format: what packets.h has of samples, compressed.
 *
 * Regions are slices on a track of their own, each from a mark to the next. What was counted in one is told at its
 * end, for until then it is not known; under the names that report's JSON has for it.
 * The id of our sequence of packets is where nobody else's is likely to be. It begins anew in each trace.
 */
#define _GNU_SOURCE
#include "perfetto.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "events.h"
#include "figures.h"
#include "job-slices.h"
#include "packets.h"
#include "slices.h"

typedef Pftrace__DebugAnnotation Note;

#define SEQUENCE_ID 0x50505046u

/* Of the track of regions: a number that nobody else is likely to have, changed by the time of its first. */
#define REGIONS_UUID 0x5050524547494f4eull

/* The same of the tracks of frames, of which each process has one. */
#define FRAMES_UUID 0x50504652414d4553ull

/*
 * Packets are compressed in batches of so many bytes, or of so much time, which is all that the file lacks if this
 * program is killed. Larger batches compress better.
 */
#define BATCH_BYTES (4u << 20)
#define BATCH_NS 1000000000ull

/*
 * Parameters of zstd. Digits of values do not repeat, only the bytes between them do: levels 2 to 9 write more. Measured
 * with ZSTD_compress2() in batches of BATCH_BYTES on the packets of `recording-make FILE 60000 default`.
 */
#define LEVEL 1
#define WINDOW_LOG 21
#define HASH_LOG 17

/* Notes at the end of a slice beside those of counters. */
#define MAX_OTHER_NOTES 16

struct bytes {
	uint8_t *at;
	size_t size, room;
};

/* What is told of a slice: notes, some of which are made of others. */
struct notes {
	Note *list, **pointers;
	size_t count;
};

/* A batch that is compressed and written while the next one is made. Its thread alone uses this while it runs. */
struct writer {
	FILE *file;
	enum perfetto_compression compression;
	ZSTD_CCtx *compressor;

	/* Packets, the number of samples in them, the same compressed, and as it is written. */
	struct bytes packets, compressed, out;
	uint64_t samples;

	/* Of the first batch that failed; no batch is written after it. */
	enum pperf_error error;
	int error_number;

	pthread_t thread;
	bool running;
};

/* The frames of a process. */
struct frames_track {
	uint64_t uuid;
	uint32_t pid;
	char name[RECORDING_FRAME_NAME + 1];

	/* How many there were, and where the last one ended. */
	uint64_t frames, end_ns;
};

struct perfetto {
	const struct recording_head *head;
	struct packets *packets;
	struct events events;

	/* The track of regions, 0 as long as there is none; does one last. */
	uint64_t regions;
	bool in_region;

	struct frames_track *frames;
	size_t num_frames;

	struct job_slices *jobs;

	/* What is told of each region: the first figures, and so many counters and metrics. */
	struct slices *slices;
	struct figures_source figures;
	const struct pperf_counter **counters;
	size_t num_counters;
	struct notes notes;

	/* The batch that is being made, how many samples are in it, and where they begin. */
	struct bytes batch;
	uint64_t batch_samples, batch_ns;
	struct writer writer;

	/* Samples in what the file has taken. */
	uint64_t written;
};

/* Makes room for so many bytes more. */
static enum pperf_error reserve(struct bytes *bytes, size_t more)
{
	uint8_t *at;

	if (bytes->size + more <= bytes->room)
		return PPERF_OK;
	at = realloc(bytes->at, 2 * (bytes->size + more));
	if (!at)
		return PPERF_ERROR_NO_MEMORY;
	bytes->at = at;
	bytes->room = 2 * (bytes->size + more);
	return PPERF_OK;
}

/* A trace is a message with one field, the packet: traces in a row are one. */
static enum pperf_error append(struct bytes *bytes, Pftrace__TracePacket *packet)
{
	Pftrace__Trace trace = PFTRACE__TRACE__INIT;
	enum pperf_error error;

	trace.n_packet = 1;
	trace.packet = &packet;
	error = reserve(bytes, pftrace__trace__get_packed_size(&trace));
	if (!error)
		bytes->size += pftrace__trace__pack(&trace, bytes->at + bytes->size);
	return error;
}

static enum pperf_error zstd_packets(struct writer *w, Pftrace__TracePacket *packet)
{
	enum pperf_error error = reserve(&w->compressed, ZSTD_compressBound(w->packets.size));
	size_t size;

	if (error)
		return error;
	size = ZSTD_compress2(w->compressor, w->compressed.at, w->compressed.room, w->packets.at, w->packets.size);
	if (ZSTD_isError(size))
		return PPERF_ERROR_NO_MEMORY;
	packet->has_zstd_compressed_packets = true;
	packet->zstd_compressed_packets.data = w->compressed.at;
	packet->zstd_compressed_packets.len = size;
	return PPERF_OK;
}

static enum pperf_error deflate_packets(struct writer *w, Pftrace__TracePacket *packet)
{
	uLongf size = compressBound(w->packets.size);
	enum pperf_error error = reserve(&w->compressed, size);

	if (error)
		return error;
	if (compress(w->compressed.at, &size, w->packets.at, w->packets.size) != Z_OK)
		return PPERF_ERROR_NO_MEMORY;
	packet->has_compressed_packets = true;
	packet->compressed_packets.data = w->compressed.at;
	packet->compressed_packets.len = size;
	return PPERF_OK;
}

/* Writes all packets of a batch as one packet that contains them. */
static enum pperf_error write_packets(struct writer *w)
{
	Pftrace__TracePacket packet = PFTRACE__TRACE_PACKET__INIT;
	enum pperf_error error;

	w->out.size = 0;
	error = w->compression == PERFETTO_DEFLATE ? deflate_packets(w, &packet) : zstd_packets(w, &packet);
	if (!error)
		error = append(&w->out, &packet);
	if (error)
		return error;
	return fwrite(w->out.at, 1, w->out.size, w->file) == w->out.size && !fflush(w->file) ? PPERF_OK : PPERF_ERROR_SYSTEM;
}

static void *run_writer(void *context)
{
	struct writer *w = context;

	w->error = write_packets(w);
	w->error_number = errno;
	return NULL;
}

/* Waits until the batch before the one that is being made is written. Sets errno if it could not be. */
static enum pperf_error wait_for_writer(struct perfetto *p)
{
	struct writer *w = &p->writer;

	if (w->running)
		pthread_join(w->thread, NULL);
	w->running = false;
	if (w->error) {
		errno = w->error_number;
		return w->error;
	}
	p->written += w->samples;
	w->samples = 0;
	return PPERF_OK;
}

/* Starts to write the batch, and begins another one. An error is that of the batch before it. */
static enum pperf_error write_batch(struct perfetto *p)
{
	enum pperf_error error = wait_for_writer(p);
	struct writer *w = &p->writer;
	struct bytes empty = w->packets;

	if (error || !p->batch.size)
		return error;
	w->packets = p->batch;
	w->samples = p->batch_samples;
	p->batch = empty;
	p->batch.size = p->batch_samples = 0;
	w->running = !pthread_create(&w->thread, NULL, run_writer, w);
	if (!w->running)
		run_writer(w);
	return PPERF_OK;
}

static packets_write add_packet;
static enum pperf_error add_packet(void *context, Pftrace__TracePacket *packet)
{
	struct perfetto *p = context;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = SEQUENCE_ID;
	return append(&p->batch, packet);
}

/* What slices have sums of: all counters that are recorded, and the metrics, as report has them. */
static enum pperf_error find_counters(struct perfetto *p)
{
	struct tracks *tracks = packets_tracks(p->packets);
	const struct pperf_gpu_info *info = &p->head->gpu;
	unsigned int type, value;
	size_t most = tracks->count, i;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		most += info->blocks[type] ? info->values_per_block : 0;
	p->counters = calloc(most, sizeof(*p->counters));
	p->notes.list = calloc(most + MAX_OTHER_NOTES, sizeof(*p->notes.list));
	p->notes.pointers = calloc(most + MAX_OTHER_NOTES, sizeof(*p->notes.pointers));
	if (!p->counters || !p->notes.list || !p->notes.pointers)
		return PPERF_ERROR_NO_MEMORY;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		for (value = PPERF_FIRST_COUNTER; info->blocks[type] && value < info->values_per_block; value++)
			if (p->head->masks.bits[type][value / 64] >> (value % 64) & 1)
				p->counters[p->num_counters++] = pperf_db_at(tracks->db, type, value);
	for (i = 0; i < tracks->count; i++)
		if (tracks->list[i].source == SOURCE_METRIC)
			p->counters[p->num_counters++] = tracks->list[i].counter;
	return PPERF_OK;
}

/* ---- What is told of a slice ---- */

static Note *add_note(struct notes *notes, const char *name)
{
	Note *note = &notes->list[notes->count];

	pftrace__debug_annotation__init(note);
	note->name = (char *)name;
	notes->pointers[notes->count++] = note;
	return note;
}

static void note_count(struct notes *notes, const char *name, uint64_t count)
{
	Note *note = add_note(notes, name);

	note->has_uint_value = true;
	note->uint_value = count;
}

/* Nothing, if there is no such number. */
static void note_number(struct notes *notes, const char *name, double number)
{
	Note *note;

	if (!isfinite(number))
		return;
	note = add_note(notes, name);
	note->has_double_value = true;
	note->double_value = number;
}

/* Puts the notes from the first on, if there are any, into one of this name, which is added to a list. */
static size_t wrap_notes(struct notes *notes, size_t first, const char *name, Note **list, size_t count)
{
	size_t inside = notes->count - first;

	if (!inside)
		return count;
	list[count] = add_note(notes, name);
	list[count]->n_dict_entries = inside;
	list[count]->dict_entries = &notes->pointers[first];
	return count + 1;
}

static void note_counters(struct perfetto *p, const struct pperf_sums *sums)
{
	const struct pperf_counter *counter;
	double value;
	size_t i;

	for (i = 0; i < p->num_counters; i++) {
		counter = p->counters[i];
		if (!counter->equation)
			note_count(&p->notes, counter->name, pperf_sums_total(sums, counter));
		else if (!pperf_sums_value(sums, counter, &value))
			note_number(&p->notes, counter->name, value);
	}
}

/* Of a slice that is shorter than a sample nothing more is known than that. Returns how many are in the list. */
static size_t note_sums(struct perfetto *p, const struct pperf_sums *sums, Note *list[MAX_OTHER_NOTES])
{
	bool missing = pperf_sums_flags(sums) & (PPERF_SAMPLE_OVERFLOW | PPERF_SAMPLE_ERROR);
	struct figures f = figures_of(&p->figures, sums);
	struct notes *notes = &p->notes;
	size_t first, count = 0;

	notes->count = 0;
	note_count(notes, "samples", pperf_sums_samples(sums));
	list[count++] = notes->pointers[0];
	if (!pperf_sums_samples(sums))
		return count;

	note_number(notes, "sampled_seconds", pperf_sums_seconds(sums));
	list[count++] = notes->pointers[1];
	if (missing) {
		list[count] = add_note(notes, "missing");
		list[count]->has_bool_value = true;
		list[count++]->bool_value = true;
	}
	first = notes->count;
	if (f.has_load) {
		note_number(notes, "of_time", f.load.of_time);
		note_number(notes, "of_cycles", f.load.of_cycles);
		note_number(notes, "active_hz", f.hz);
	}
	count = wrap_notes(notes, first, "load", list, count);
	first = notes->count;
	note_number(notes, "read", f.read);
	note_number(notes, "written", f.written);
	count = wrap_notes(notes, first, "bandwidth", list, count);
	first = notes->count;
	note_counters(p, sums);
	return wrap_notes(notes, first, "counters", list, count);
}

/* Name: of a slice that begins; NULL for the end of one, whose sums are not known if they are NULL. */
static enum pperf_error write_slice(struct perfetto *p, uint64_t track, uint64_t time, const char *name,
				    const struct pperf_sums *sums)
{
	Pftrace__TrackEvent event = PFTRACE__TRACK_EVENT__INIT;
	Note *list[MAX_OTHER_NOTES];

	event.name = (char *)name;
	if (sums) {
		event.n_debug_annotations = note_sums(p, sums, list);
		event.debug_annotations = list;
	}
	return events_write(&p->events, track, time, name ? SLICE_BEGIN : SLICE_END, &event);
}

static enum pperf_error describe_track(struct perfetto *p, uint64_t uuid, const char *name)
{
	Pftrace__TrackDescriptor track = PFTRACE__TRACK_DESCRIPTOR__INIT;

	track.name = (char *)name;
	return events_describe(&p->events, uuid, &track);
}

/* For slices, which know what lies before a mark. */
static slices_mark write_mark;
static enum pperf_error write_mark(void *context, const struct recording_mark *mark, const struct pperf_sums *sums)
{
	enum pperf_error error = PPERF_OK;
	struct perfetto *p = context;

	if (!p->regions) {
		p->regions = REGIONS_UUID ^ mark->time_ns;
		error = describe_track(p, p->regions, "GPU regions");
	}
	if (!error && p->in_region)
		error = write_slice(p, p->regions, mark->time_ns, NULL, sums);
	if (!error && *mark->name)
		error = write_slice(p, p->regions, mark->time_ns, mark->name, NULL);
	p->in_region = *mark->name;
	if (error || p->batch.size < BATCH_BYTES)
		return error;
	return write_batch(p);
}

/* The track of a process, which is made if there is none. */
static enum pperf_error find_frames(struct perfetto *p, const struct recording_frame *frame, struct frames_track **track)
{
	char name[RECORDING_FRAME_NAME + 40];
	struct frames_track *more;
	size_t n;

	for (n = p->num_frames; n > 0; n--) {
		*track = &p->frames[n - 1];
		if ((*track)->pid == frame->pid && !strcmp((*track)->name, frame->name))
			return PPERF_OK;
	}
	more = reallocarray(p->frames, p->num_frames + 1, sizeof(*more));
	if (!more)
		return PPERF_ERROR_NO_MEMORY;
	p->frames = more;
	*track = &more[p->num_frames];
	**track = (struct frames_track){ .uuid = (FRAMES_UUID ^ frame->time_ns) + p->num_frames, .pid = frame->pid };
	strcpy((*track)->name, frame->name);
	p->num_frames++;
	snprintf(name, sizeof(name), "Frames of %s (PID %" PRIu32 ")", *frame->name ? frame->name : "unknown program", frame->pid);
	return describe_track(p, (*track)->uuid, name);
}

/* The first end of a process begins its first frame. */
static enum pperf_error add_frame(struct perfetto *p, const struct recording_frame *frame)
{
	struct frames_track *track;
	enum pperf_error error = find_frames(p, frame, &track);
	uint64_t end_ns;
	char name[64];

	if (error)
		return error;
	/* Those of threads may come in another order. */
	end_ns = frame->time_ns > track->end_ns ? frame->time_ns : track->end_ns;
	if (track->end_ns) {
		track->frames++;
		if (frame->lost)
			snprintf(name, sizeof(name), "Frame %" PRIu64 " and %" PRIu32 " lost", track->frames, frame->lost);
		else
			snprintf(name, sizeof(name), "Frame %" PRIu64, track->frames);
		error = write_slice(p, track->uuid, track->end_ns, name, NULL);
		if (!error)
			error = write_slice(p, track->uuid, end_ns, NULL, NULL);
	}
	track->end_ns = end_ns;
	if (error || p->batch.size < BATCH_BYTES)
		return error;
	return write_batch(p);
}

static enum pperf_error add_jobs(struct perfetto *p, const struct recording_record *record)
{
	enum pperf_error error = job_slices_add(p->jobs, record);

	return error || p->batch.size < BATCH_BYTES ? error : write_batch(p);
}

static enum pperf_error add_sample(struct perfetto *p, const struct pperf_sample *sample)
{
	enum pperf_error error = packets_add_sample(p->packets, sample);

	if (!error)
		error = slices_add_sample(p->slices, sample);
	if (error)
		return error;

	if (!p->batch_samples++)
		p->batch_ns = sample->start_ns;
	if (p->batch.size < BATCH_BYTES && sample->end_ns - p->batch_ns < BATCH_NS)
		return PPERF_OK;
	return write_batch(p);
}

/* Ends all tracks, and writes what is left. */
static enum pperf_error end_trace(struct perfetto *p)
{
	enum pperf_error error = packets_end(p->packets);

	if (!error)
		error = slices_end(p->slices);
	return error ? error : write_batch(p);
}

/* close_trace() must be called in any case. */
static enum pperf_error open_trace(struct perfetto *p)
{
	ZSTD_CCtx *compressor = p->writer.compressor = ZSTD_createCCtx();
	const struct tracks *tracks;
	enum pperf_error error;

	if (!compressor || ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_windowLog, WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(compressor, ZSTD_c_hashLog, HASH_LOG)))
		return PPERF_ERROR_NO_MEMORY;

	error = packets_open(p->head, add_packet, p, &p->packets);
	if (error)
		return error;
	tracks = packets_tracks(p->packets);
	figures_find(&p->figures, tracks->db, &p->head->gpu);
	error = find_counters(p);
	if (!error)
		error = job_slices_new(&p->events, &p->jobs);
	return error ? error : slices_new(tracks->db, &p->head->gpu, write_mark, p, &p->slices);
}

static void close_trace(struct perfetto *p)
{
	slices_free(p->slices);
	job_slices_free(p->jobs);
	free(p->frames);
	free(p->counters);
	free(p->notes.list);
	free(p->notes.pointers);
	free(p->batch.at);
	ZSTD_freeCCtx(p->writer.compressor);
	free(p->writer.packets.at);
	free(p->writer.compressed.at);
	free(p->writer.out.at);
	packets_close(p->packets);
}

/* Adds all that the recording holds from where it stands. Returns what ended it. */
static enum recording_item add_all(struct perfetto *p, struct recording *recording, enum pperf_error *error)
{
	enum recording_item item;

	do {
		item = pperf_records_next(recording);
		if (item == RECORDING_SAMPLE)
			*error = add_sample(p, &recording->sample);
		else if (item == RECORDING_MARK)
			*error = slices_add_mark(p->slices, &recording->mark);
		else if (item == RECORDING_FRAME_END)
			*error = add_frame(p, &recording->frame);
		else if (item == RECORDING_JOBS)
			*error = add_jobs(p, &recording->jobs);
		else if (item == RECORDING_CLOCKS)
			*error = packets_add_clocks(p->packets, &recording->clocks);
	} while (!*error && item <= RECORDING_CLOCKS);
	return item;
}

bool perfetto_parse_compression(const char *name, enum perfetto_compression *compression)
{
	*compression = name && !strcmp(name, "deflate") ? PERFETTO_DEFLATE : PERFETTO_ZSTD;
	return !name || *compression == PERFETTO_DEFLATE || !strcmp(name, "zstd");
}

enum recording_item perfetto_convert(struct recording *recording, FILE *file, enum perfetto_compression compression,
				     enum pperf_error *error, uint64_t *written)
{
	struct perfetto p = { .head = &recording->head, .writer = { .file = file, .compression = compression } };
	enum recording_item item = RECORDING_BROKEN;
	enum pperf_error last;

	p.events = (struct events){ add_packet, &p };
	*error = open_trace(&p);
	if (!*error)
		item = add_all(&p, recording, error);
	if (!*error)
		*error = end_trace(&p);
	/* What was begun is written, whatever failed. */
	last = wait_for_writer(&p);
	if (!*error)
		*error = last;
	if (written)
		*written = p.written;
	close_trace(&p);
	return item;
}
