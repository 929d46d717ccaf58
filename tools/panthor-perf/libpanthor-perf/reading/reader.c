// SPDX-License-Identifier: MIT
/* Recordings for programs: samples one by one, and columns of values. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../internal.h"
#include "chunks.h"
#include "frames.h"
#include "regions.h"

struct pperf_recording {
	struct recording records;
	struct chunks chunks;
	struct regions regions;
	struct frames frames;
	struct pperf_db *db;
	struct pperf_selection *selection;
	struct pperf_recording_info info;

	/* What programs see of regions, marks and frames. */
	struct pperf_region *region_list;
	const struct pperf_region **region_pointers;
	struct pperf_recording_mark *mark_list;
	const struct pperf_recording_mark **mark_pointers;
	struct pperf_recording_frame *frame_list;
	const struct pperf_recording_frame **frame_pointers;

	/* The chunk that is read, and what was found in it so far: at its end, that is what is known of it. */
	size_t chunk;
	struct recording_chunk found;

	/* What ended the reading, RECORDING_SAMPLE as long as it goes on; and whether a sample was read and not returned yet. */
	enum recording_item ended;
	bool pending;
};

static enum pperf_error fail_of(const struct pperf_recording *r, enum recording_item item)
{
	switch (item) {
	case RECORDING_NO_MEMORY:
		return pperf_no_memory();
	case RECORDING_UNREADABLE:
		if (!r->records.error_number)
			break;
		pperf_fail(PPERF_ERROR_SYSTEM, "%s", r->records.error);
		errno = r->records.error_number;
		return PPERF_ERROR_SYSTEM;
	default:
		break;
	}
	return pperf_fail(PPERF_ERROR_BROKEN, "%s", r->records.error);
}

enum pperf_error pperf_records_select(const struct recording_head *head, const struct pperf_db *db,
				      struct pperf_selection *selection)
{
	const struct pperf_counter *const *counters;
	enum pperf_error error = PPERF_OK;
	unsigned int type, value;
	size_t count, n;

	for (type = 1; type < PPERF_BLOCK_TYPES && !error; type++)
		for (value = PPERF_FIRST_COUNTER; value < head->gpu.values_per_block && !error; value++)
			if (head->gpu.blocks[type] && (head->masks.bits[type][value / 64] >> (value % 64) & 1))
				error = pperf_selection_add_counter(selection, pperf_db_at(db, type, value));

	counters = pperf_db_counters(db, &count);
	for (n = 0; n < count && !error; n++)
		if (counters[n]->equation && counters[n]->kind != PPERF_KIND_CONSTANT &&
		    pperf_counter_in(db, counters[n], &head->masks) && pperf_counter_exists(db, counters[n], &head->gpu))
			error = pperf_selection_add_counter(selection, counters[n]);
	return error;
}

/* ---- Opening ---- */

static enum pperf_error open_db(struct pperf_recording *r)
{
	const struct recording_head *head = &r->records.head;
	enum pperf_error error = pperf_db_open(head->set ? NULL : head->gpu.layout, &r->db);

	if (error == PPERF_ERROR_UNKNOWN)
		error = pperf_db_open(NULL, &r->db);
	if (!error)
		error = pperf_selection_new(r->db, &head->gpu, &r->selection);
	return error ? error : pperf_records_select(head, r->db, r->selection);
}

static enum pperf_error make_lists(struct pperf_recording *r)
{
	const struct regions *regions = &r->regions;
	size_t n;

	r->region_list = calloc(regions->count + 1, sizeof(*r->region_list));
	r->region_pointers = calloc(regions->count + 1, sizeof(*r->region_pointers));
	r->mark_list = calloc(regions->num_marks + 1, sizeof(*r->mark_list));
	r->mark_pointers = calloc(regions->num_marks + 1, sizeof(*r->mark_pointers));
	if (!r->region_list || !r->region_pointers || !r->mark_list || !r->mark_pointers)
		return pperf_no_memory();
	for (n = 0; n < regions->count; n++) {
		r->region_list[n] = (struct pperf_region){
			.name = regions->list[n].name, .times = regions->list[n].times, .lasts_ns = regions->list[n].lasts_ns,
		};
		r->region_pointers[n] = &r->region_list[n];
	}
	for (n = 0; n < regions->num_marks; n++) {
		r->mark_list[n].time_ns = regions->marks[n].time_ns;
		r->mark_list[n].region = regions->marks[n].region;
		r->mark_pointers[n] = &r->mark_list[n];
	}
	return PPERF_OK;
}

static int compare_ends(const void *a, const void *b)
{
	const struct pperf_recording_frame *x = *(const struct pperf_recording_frame *const *)a;
	const struct pperf_recording_frame *y = *(const struct pperf_recording_frame *const *)b;

	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return (x > y) - (x < y);
}

static enum pperf_error make_frames(struct pperf_recording *r)
{
	const struct frames *frames = &r->frames;
	size_t n;

	r->frame_list = calloc(frames->count + 1, sizeof(*r->frame_list));
	r->frame_pointers = calloc(frames->count + 1, sizeof(*r->frame_pointers));
	if (!r->frame_list || !r->frame_pointers)
		return pperf_no_memory();
	for (n = 0; n < frames->count; n++) {
		const struct frame *frame = &frames->list[n];
		const struct frame_process *process = &frames->processes[frame->process];

		r->frame_list[n] = (struct pperf_recording_frame){
			.start_ns = frame->start_ns, .end_ns = frame->end_ns, .program = process->name, .pid = process->pid,
			.lost = frame->lost,
		};
		r->frame_pointers[n] = &r->frame_list[n];
	}
	qsort(r->frame_pointers, frames->count, sizeof(*r->frame_pointers), compare_ends);
	return PPERF_OK;
}

/* Clocks come before the first sample. What is wrong with the file is told when samples are read. */
static void find_clocks(struct pperf_recording *r)
{
	const struct clocks *clocks = &r->records.clocks;
	enum recording_item item;

	pperf_records_seek(&r->records, r->records.first);
	do
		item = pperf_records_next(&r->records);
	while (item > RECORDING_SAMPLE && item <= RECORDING_CLOCKS);
	if (clocks->realtime && r->info.samples)
		r->info.start_realtime_ns = clocks->realtime + (r->info.start_ns - clocks->monotonic_raw);
}

/* The end is one of chunks_find(). */
static void make_info(struct pperf_recording *r, enum recording_item item)
{
	const struct recording_head *head = &r->records.head;
	const struct recording_end *end = &r->records.end;
	struct pperf_recording_info *info = &r->info;
	size_t i;

	*info = (struct pperf_recording_info){
		.size = sizeof(*info), .tool = head->tool, .host = head->host, .kernel = head->kernel, .machine = head->machine,
		.command = (const char *const *)head->command, .gpu = &head->gpu, .masks = head->masks, .set = head->set,
		.period_ns = head->period_ns, .samples = r->chunks.samples,
	};
	for (i = r->chunks.count; i > 0; i--) {
		const struct recording_chunk *range = &r->chunks.list[i - 1].range;

		if (!range->samples)
			continue;
		info->start_ns = range->start_ns;
		if (!info->end_ns)
			info->end_ns = range->end_ns;
	}
	if (item == RECORDING_END) {
		info->end = (enum pperf_recording_end)(end->reason + 1);
		info->status = end->status;
		info->overflowed = end->overflow;
		info->failed = end->error;
		info->stretched = end->stretched;
		info->lost_samples = end->lost;
		info->lost_marks = end->dropped;
		info->lost_frames = end->lost_frames;
		info->measured_hz = end->clock.measured_hz;
		info->nominal_hz = end->clock.nominal_hz;
	}
	find_clocks(r);
}

/* Reads all but samples. */
static enum pperf_error read_frame(struct pperf_recording *r, int fd)
{
	enum recording_item item = pperf_records_open_fd(&r->records, fd), marks;
	enum pperf_error error;

	if (item != RECORDING_END)
		return fail_of(r, item);
	error = open_db(r);
	if (error)
		return error;
	item = pperf_chunks_find(&r->records, &r->chunks);
	if (item != RECORDING_END && item != RECORDING_CUT)
		return fail_of(r, item);
	marks = pperf_regions_read(&r->regions, &r->records, &r->chunks);
	if (marks == RECORDING_END)
		marks = pperf_frames_read(&r->frames, &r->records, &r->chunks);
	if (marks != RECORDING_END)
		return fail_of(r, marks);
	make_info(r, item);
	pperf_regions_lengths(&r->regions, r->info.start_ns, r->info.end_ns);
	error = make_lists(r);
	if (!error)
		error = make_frames(r);
	return error ? error : pperf_recording_seek(r, 0);
}

/* The descriptor is the recording's. */
static enum pperf_error open_own(int fd, struct pperf_recording **out)
{
	struct pperf_recording *r = calloc(1, sizeof(*r));
	enum pperf_error error;
	int saved;

	if (!r) {
		close(fd);
		return pperf_no_memory();
	}
	error = read_frame(r, fd);
	if (error) {
		saved = errno;
		pperf_recording_close(r);
		errno = saved;
		return error;
	}
	*out = r;
	return PPERF_OK;
}

enum pperf_error pperf_recording_open_fd(int fd, struct pperf_recording **out)
{
	int own, saved;

	if (fd < 0)
		return pperf_fail(PPERF_ERROR_INVALID, "%d is not a file descriptor", fd);
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0)
		return pperf_fail(errno == EBADF ? PPERF_ERROR_INVALID : PPERF_ERROR_SYSTEM, "file descriptor %d: %s", fd,
				  strerror(errno));
	if (lseek(own, 0, SEEK_CUR) >= 0)
		return open_own(own, out);
	saved = errno;
	close(own);
	errno = saved;
	return pperf_fail(PPERF_ERROR_SYSTEM, "the recording cannot be read at any place: %s", strerror(errno));
}

enum pperf_error pperf_recording_open(const char *path, struct pperf_recording **out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), saved;
	enum pperf_error error;

	if (fd < 0)
		return pperf_fail(PPERF_ERROR_SYSTEM, "%s: %s", path, strerror(errno));
	error = pperf_recording_open_fd(fd, out);
	saved = errno;
	close(fd);
	errno = saved;
	return error;
}

void pperf_recording_close(struct pperf_recording *r)
{
	if (!r)
		return;
	pperf_selection_free(r->selection);
	pperf_db_close(r->db);
	pperf_regions_free(&r->regions);
	pperf_frames_free(&r->frames);
	pperf_chunks_free(&r->chunks);
	close(r->records.fd);
	pperf_records_close(&r->records);
	free(r->region_list);
	free(r->region_pointers);
	free(r->mark_list);
	free(r->mark_pointers);
	free(r->frame_list);
	free(r->frame_pointers);
	free(r);
}

/* ---- What it is ---- */

const struct pperf_recording_info *pperf_recording_info(const struct pperf_recording *r)
{
	return &r->info;
}

const struct pperf_db *pperf_recording_db(const struct pperf_recording *r)
{
	return r->db;
}

const struct pperf_counter *const *pperf_recording_counters(const struct pperf_recording *r, size_t *count)
{
	return pperf_selection_counters(r->selection, count);
}

const struct pperf_region *const *pperf_recording_regions(const struct pperf_recording *r, size_t *count)
{
	*count = r->regions.count;
	return r->region_pointers;
}

const struct pperf_recording_mark *const *pperf_recording_marks(const struct pperf_recording *r, size_t *count)
{
	*count = r->regions.num_marks;
	return r->mark_pointers;
}

const struct pperf_recording_frame *const *pperf_recording_frames(const struct pperf_recording *r, size_t *count)
{
	*count = r->frames.count;
	return r->frame_pointers;
}

uint32_t pperf_recording_region(const struct pperf_recording *r, uint64_t time_ns)
{
	return region_behind(&r->regions, pperf_regions_marks_until(&r->regions, time_ns));
}

/* ---- Samples ---- */

static uint64_t middle_of(const struct pperf_sample *sample)
{
	return sample->start_ns + (sample->end_ns - sample->start_ns) / 2;
}

static bool is_failure(enum recording_item item)
{
	return item > RECORDING_CUT;
}

static uint64_t end_of(const struct chunk *chunk)
{
	return chunk->range.offset + chunk->range.bytes;
}

/* All of a chunk was read. Returns RECORDING_SAMPLE if it is as it was known to be. */
static enum recording_item check_chunk(struct pperf_recording *r)
{
	const struct chunk *chunk = &r->chunks.list[r->chunk++];
	const struct recording_chunk *range = &chunk->range, *found = &r->found;
	bool same = found->samples == range->samples && found->marks == range->marks &&
		    (!range->samples || found->end_ns == range->end_ns);

	r->found = (struct recording_chunk){};
	return same ? RECORDING_SAMPLE : pperf_chunk_differs(&r->records, chunk);
}

/* Counts a sample or mark as part of its chunk. Returns RECORDING_SAMPLE if it can be there. */
static enum recording_item count_item(struct pperf_recording *r, enum recording_item item)
{
	const struct chunk *chunk = &r->chunks.list[r->chunk];
	const struct pperf_sample *sample = &r->records.sample;

	r->found.marks += item == RECORDING_MARK;
	if (item != RECORDING_SAMPLE)
		return RECORDING_SAMPLE;
	r->found.end_ns = sample->end_ns;
	if (r->found.samples++ == chunk->range.samples ||
	    (r->found.samples == 1 && sample->start_ns != chunk->range.start_ns))
		return pperf_chunk_differs(&r->records, chunk);
	return RECORDING_SAMPLE;
}

/*
 * Reads an item of the chunks. Behind the last one is the end, whatever a file has there that grew since it was opened. Returns
 * RECORDING_BROKEN, too, if a chunk is not what was known of it.
 */
static enum recording_item next_item(struct pperf_recording *r)
{
	const struct chunks *chunks = &r->chunks;
	enum recording_item item = RECORDING_END, checked;
	uint64_t found = UINT64_MAX;

	if (r->chunk < chunks->count && r->records.offset < end_of(&chunks->list[chunks->count - 1])) {
		item = pperf_records_next(&r->records);
		if (is_failure(item))
			return item;
		if (item <= RECORDING_CLOCKS)
			found = r->records.found;
	}
	while (r->chunk < chunks->count && found >= end_of(&chunks->list[r->chunk])) {
		checked = check_chunk(r);
		if (checked != RECORDING_SAMPLE)
			return checked;
	}
	if (r->chunk == chunks->count)
		return RECORDING_END;
	checked = count_item(r, item);
	return checked == RECORDING_SAMPLE ? item : checked;
}

/* Has the next sample ready. Returns RECORDING_SAMPLE, or what ended the reading, which stays so. */
static enum recording_item have_sample(struct pperf_recording *r)
{
	if (r->pending)
		return RECORDING_SAMPLE;
	while (r->ended == RECORDING_SAMPLE) {
		enum recording_item item = next_item(r);

		if (item == RECORDING_SAMPLE) {
			r->pending = true;
			return item;
		}
		if (item > RECORDING_CLOCKS)
			r->ended = item;
	}
	return r->ended;
}

enum pperf_error pperf_recording_seek(struct pperf_recording *r, uint64_t time_ns)
{
	enum recording_item item = RECORDING_END;
	const struct recording_chunk *range;
	size_t next;

	/* The last chunk whose samples begin before it, or the first chunk. */
	r->chunk = 0;
	for (next = 0; next < r->chunks.count; next++) {
		range = &r->chunks.list[next].range;
		if (range->samples && range->start_ns >= time_ns)
			break;
		if (range->samples)
			r->chunk = next;
	}
	if (r->chunks.count)
		item = pperf_chunk_begin(&r->records, &r->chunks.list[r->chunk]);
	r->found = (struct recording_chunk){};
	r->ended = RECORDING_SAMPLE;
	r->pending = false;
	if (item != RECORDING_END) {
		r->ended = item;
		return fail_of(r, item);
	}
	r->records.fields_only = true;
	while ((item = have_sample(r)) == RECORDING_SAMPLE && middle_of(&r->records.sample) < time_ns)
		r->pending = false;
	return is_failure(item) ? fail_of(r, item) : PPERF_OK;
}

enum pperf_error pperf_recording_next(struct pperf_recording *r, const struct pperf_sample **sample)
{
	struct recording *records = &r->records;
	enum recording_item item = have_sample(r);

	if (is_failure(item))
		return fail_of(r, item);
	if (item == RECORDING_SAMPLE)
		pperf_records_spread(&records->layout, records->previous + RECORDING_FIELDS, records->blocks, records->values,
				     records->head.gpu.values_per_block);
	*sample = item == RECORDING_SAMPLE ? &records->sample : NULL;
	r->pending = false;
	return PPERF_OK;
}

/* ---- Columns ---- */

/* A counter of hardware that values are made of: where it is in samples, and its totals. */
struct part {
	struct recording_column column;
	double totals[COLUMNS_MAX_VALUES];
};

struct filler {
	const struct pperf_column_arrays *arrays;
	const struct pperf_counter *const *counters;
	size_t num_counters;

	struct part *parts;
	size_t num_parts;

	struct pperf_columns columns;
	double seconds[COLUMNS_MAX_VALUES];
};

/* Finds what values are made of. PPERF_ERROR_NOT_COUNTED if it is not there. */
static enum pperf_error find_parts(const struct pperf_recording *r, const struct pperf_selection *selection, struct filler *f)
{
	const struct recording_layout *layout = &r->records.layout;
	const struct pperf_masks *needs, *masks = &r->info.masks;
	unsigned int type, place, value;
	struct part *part;
	size_t n;

	f->counters = pperf_selection_counters(selection, &f->num_counters);
	for (n = 0; n < f->num_counters; n++) {
		if (pperf_db_find(r->db, f->counters[n]->name) != f->counters[n])
			return pperf_fail(PPERF_ERROR_INVALID, "the selection is not one of the recording's database");
		if (!pperf_counter_in(r->db, f->counters[n], masks))
			return pperf_fail(PPERF_ERROR_NOT_COUNTED, "%s was not recorded", f->counters[n]->name);
	}
	needs = pperf_selection_masks(selection);
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		f->num_parts += pperf_masks_count(needs, type);
	f->parts = part = calloc(f->num_parts + 1, sizeof(*part));
	if (!part)
		return pperf_no_memory();
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (place = 0; place < layout->counters[type]; place++) {
			value = layout->indices[type][place];
			if (!(needs->bits[type][value / 64] >> (value % 64) & 1))
				continue;
			part->column = pperf_records_column(&r->records, type, place);
			f->columns.totals[type][value] = part++->totals;
		}
	}
	f->num_parts = part - f->parts;
	return PPERF_OK;
}

/* Fills in the sample that is ready: by its number in the arrays, and among those that are evaluated together. */
static void fill_sample(const struct pperf_recording *r, struct filler *f, size_t number, size_t n)
{
	const struct pperf_sample *sample = &r->records.sample;
	const struct pperf_column_arrays *arrays = f->arrays;
	size_t i;

	if (arrays->start_ns)
		arrays->start_ns[number] = sample->start_ns;
	if (arrays->end_ns)
		arrays->end_ns[number] = sample->end_ns;
	if (arrays->flags)
		arrays->flags[number] = sample->flags;
	if (arrays->regions)
		arrays->regions[number] = pperf_recording_region(r, middle_of(sample));
	for (i = 0; i < PPERF_CLOCKS; i++)
		if (arrays->cycles[i])
			arrays->cycles[i][number] = sample->cycles[i];
	f->seconds[n] = (sample->end_ns - sample->start_ns) / 1e9;
	for (i = 0; i < f->num_parts; i++)
		f->parts[i].totals[n] = recording_total(r->records.previous, &f->parts[i].column);
}

/* Fills in values of so many samples that are ready, from a number on. */
static void fill_values(const struct pperf_recording *r, struct filler *f, size_t number, size_t count)
{
	size_t i, n;

	if (!count)
		return;
	f->columns.count = count;
	f->columns.seconds = f->seconds;
	for (i = 0; i < f->num_counters; i++) {
		double *values = f->arrays->values[i];

		if (!values)
			continue;
		values += number;
		pperf_columns_values(&f->columns, r->db, &r->records.head.gpu, f->counters[i], 0, values);
		for (n = 0; n < count; n++)
			if (!isfinite(values[n]))
				values[n] = NAN;
	}
}

enum pperf_error pperf_recording_columns(struct pperf_recording *r, const struct pperf_selection *selection, uint64_t until_ns,
					 const struct pperf_column_arrays *arrays, size_t *count)
{
	enum recording_item item = RECORDING_SAMPLE;
	struct filler f = { .arrays = arrays };
	enum pperf_error error = PPERF_OK;
	const char *bytes = (const char *)arrays;
	size_t done = 0, n = 0, i;

	if (arrays->size < SIZE_0_3(struct pperf_column_arrays, values))
		return pperf_fail(PPERF_ERROR_INVALID, "pperf_column_arrays::size is %zu, but must be sizeof(struct pperf_column_arrays)",
				  arrays->size);
	for (i = sizeof(*arrays); i < arrays->size; i++)
		if (bytes[i])
			return pperf_fail(PPERF_ERROR_INVALID, "an array needs a newer version of the library than " PPERF_VERSION);
	if (selection && arrays->values)
		error = find_parts(r, selection, &f);
	while (!error && done + n < arrays->room && (item = have_sample(r)) == RECORDING_SAMPLE &&
	       middle_of(&r->records.sample) < until_ns) {
		fill_sample(r, &f, done + n, n);
		r->pending = false;
		if (++n < COLUMNS_MAX_VALUES)
			continue;
		fill_values(r, &f, done, n);
		done += n;
		n = 0;
	}
	fill_values(r, &f, done, n);
	done += n;
	free(f.parts);
	/* What is wrong with the file is told when all samples before it were. */
	if (!error && !done && is_failure(item))
		error = fail_of(r, item);
	if (!error)
		*count = done;
	return error;
}
