// SPDX-License-Identifier: MIT
/*
 * reader-test FILE...: what the library says of recordings is what is in them, sample by sample, one by one and in columns, of any
 * part of the time. FILE has to be whole.
 * reader-test -m FILE...: each allocation fails, one in each run, and so does each read.
 * Prints TAP.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include <recording-write.h>
#include <regions.h>

#include "tap.h"

#define ROOM 1000

static void end_of(const char *file, const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "%s: %s", file, what);
	end(name);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static uint64_t middle_of(const struct pperf_sample *sample)
{
	return sample->start_ns + (sample->end_ns - sample->start_ns) / 2;
}

/* The same to the last bit; NAN is what is not a number. */
static bool same_number(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool same_sample(const struct pperf_sample *a, const struct pperf_sample *b)
{
	bool same = a->start_ns == b->start_ns && a->end_ns == b->end_ns && a->flags == b->flags && a->set == b->set &&
		    !memcmp(a->cycles, b->cycles, sizeof(a->cycles)) && a->num_blocks == b->num_blocks &&
		    a->num_values == b->num_values;
	unsigned int i;

	for (i = 0; i < a->num_blocks && same; i++) {
		const struct pperf_block *x = pperf_sample_block_at(a, i), *y = pperf_sample_block_at(b, i);

		same = x->type == y->type && x->index == y->index && x->states == y->states && x->clock == y->clock &&
		       !memcmp(x->enabled, y->enabled, sizeof(x->enabled)) &&
		       !memcmp(x->values, y->values, a->num_values * sizeof(*x->values));
	}
	return same;
}

/* What is said of the whole. */
static void compare_info(const struct pperf_recording *r, const struct recording *plain, uint64_t samples, uint64_t start_ns)
{
	const struct pperf_recording_info *info = pperf_recording_info(r);
	const struct recording_head *head = &plain->head;
	const struct pperf_db *db = pperf_recording_db(r);
	const struct pperf_counter *const *counters;
	unsigned int type, hardware = 0;
	size_t count, i;

	expect(info->size == sizeof(*info), "size is %zu", info->size);
	expect(same_text(info->tool, head->tool) && same_text(info->host, head->host) && same_text(info->kernel, head->kernel) &&
	       same_text(info->machine, head->machine), "tool %s, host %s, kernel %s, machine %s", info->tool, info->host,
	       info->kernel, info->machine);
	for (i = 0; info->command && info->command[i]; i++)
		expect(same_text(info->command[i], head->command[i]), "word %zu is %s", i, info->command[i]);
	expect(!info->command == !head->command && (!info->command || !head->command[i]), "the command has %zu words", i);
	expect(same_text(info->gpu->name, head->gpu.name) && info->gpu->cores == head->gpu.cores, "the GPU is %s", info->gpu->name);
	expect(!memcmp(&info->masks, &head->masks, sizeof(info->masks)), "masks differ");
	expect(info->set == head->set && info->period_ns == head->period_ns, "set %u, period %" PRIu64, info->set, info->period_ns);
	expect(info->samples == samples && info->start_ns == start_ns && info->end_ns == plain->end_ns,
	       "%" PRIu64 " samples from %" PRIu64 " to %" PRIu64, info->samples, info->start_ns, info->end_ns);
	expect((int)info->end == (int)plain->end.reason + 1 && info->status == plain->end.status &&
	       info->stretched == plain->end.stretched && info->overflowed == plain->end.overflow &&
	       info->failed == plain->end.error && info->lost_samples == plain->end.lost && info->lost_marks == plain->end.dropped,
	       "end %d, status %d, %" PRIu64 " stretched", info->end, info->status, info->stretched);
	expect(info->measured_hz == plain->end.clock.measured_hz && info->nominal_hz == plain->end.clock.nominal_hz,
	       "%" PRIu64 " Hz of %" PRIu64, info->measured_hz, info->nominal_hz);

	counters = pperf_recording_counters(r, &count);
	for (i = 0; i < count; i++) {
		expect(pperf_counter_in(db, counters[i], &info->masks), "%s was not recorded", counters[i]->name);
		hardware += !counters[i]->equation;
	}
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		hardware -= head->gpu.blocks[type] ? pperf_masks_count(&info->masks, type) : 0;
	expect(!hardware, "of counters of hardware there are %d more", (int)hardware);
}

/* All samples, one by one, and regions. Returns how many. */
static uint64_t compare_samples(struct pperf_recording *r, const char *path)
{
	const struct pperf_recording_mark *const *marks;
	const struct pperf_region *const *regions;
	uint64_t samples = 0, num_marks = 0, start_ns = 0, last_ns = 0;
	const struct pperf_sample *sample;
	size_t count, mark_count;
	enum recording_item item;
	struct recording plain;
	uint32_t region = 0;

	marks = pperf_recording_marks(r, &mark_count);
	regions = pperf_recording_regions(r, &count);
	if (pperf_records_open_stream(&plain, fopen(path, "r")) != RECORDING_END)
		abort();
	while ((item = pperf_records_next(&plain)) <= RECORDING_CLOCKS) {
		if (item == RECORDING_CLOCKS && !samples)
			last_ns = plain.clocks.realtime - plain.clocks.monotonic_raw;
		if (item == RECORDING_MARK && num_marks < mark_count) {
			region = marks[num_marks]->region;
			expect(marks[num_marks]->time_ns == plain.mark.time_ns && region < count &&
			       !strcmp(regions[region]->name, plain.mark.name), "mark %" PRIu64 " is at %" PRIu64, num_marks,
			       marks[num_marks]->time_ns);
			expect(pperf_recording_region(r, plain.mark.time_ns) == region || num_marks + 1 == mark_count ||
			       marks[num_marks + 1]->time_ns == plain.mark.time_ns, "region %u begins at %" PRIu64,
			       pperf_recording_region(r, plain.mark.time_ns), plain.mark.time_ns);
		}
		num_marks += item == RECORDING_MARK;
		if (item != RECORDING_SAMPLE)
			continue;
		if (!samples++)
			start_ns = plain.sample.start_ns;
		expect(!pperf_recording_next(r, &sample) && sample && same_sample(sample, &plain.sample), "sample %" PRIu64, samples);
	}
	expect(!pperf_recording_next(r, &sample) && !sample, "there is a sample behind the last");
	expect(num_marks == mark_count, "%zu marks", mark_count);
	expect(pperf_recording_info(r)->start_realtime_ns == (last_ns && samples ? last_ns + start_ns : 0), "realtime is %" PRIu64,
	       pperf_recording_info(r)->start_realtime_ns);
	compare_info(r, &plain, samples, start_ns);
	expect(count && !*regions[0]->name && !regions[0]->times, "of %zu regions, the first has a name or begins", count);
	expect(mark_count || (count == 1 && regions[0]->lasts_ns == plain.end_ns - start_ns && !pperf_recording_region(r, start_ns)),
	       "without marks, %zu regions, the first of %" PRIu64 " ns", count, count ? regions[0]->lasts_ns : 0);
	pperf_records_close(&plain);
	return samples;
}

/* The next samples, in columns of all counters: what sums of each have. Returns how many. */
static size_t compare_columns(struct pperf_recording *columns, struct pperf_recording *single,
			      const struct pperf_selection *selection, uint64_t until_ns, size_t room)
{
	static uint64_t start_ns[ROOM], end_ns[ROOM], cycles[ROOM];
	static uint32_t flags[ROOM], regions[ROOM];
	struct pperf_column_arrays arrays = {
		.size = sizeof(arrays), .room = room, .start_ns = start_ns, .end_ns = end_ns, .flags = flags, .regions = regions,
		.cycles = { [PPERF_CLOCK_SHADER] = cycles },
	};
	const struct pperf_counter *const *counters;
	const struct pperf_sample *sample;
	size_t count, got = SIZE_MAX, i, n;
	struct pperf_sums *sums;
	double **values, value;

	counters = pperf_selection_counters(selection, &count);
	values = calloc(count + 1, sizeof(*values));
	/* One is not wanted. */
	for (i = 1; i < count; i++)
		values[i] = calloc(ROOM, sizeof(**values));
	arrays.values = values;
	expect(!pperf_recording_columns(columns, selection, until_ns, &arrays, &got) && got <= room, "%zu samples: %s", got,
	       pperf_message());
	if (pperf_sums_new(pperf_recording_db(columns), pperf_recording_info(columns)->gpu, &sums))
		abort();
	for (n = 0; n < got && got <= room; n++) {
		if (pperf_recording_next(single, &sample) || !sample)
			break;
		expect(start_ns[n] == sample->start_ns && end_ns[n] == sample->end_ns && flags[n] == sample->flags &&
		       cycles[n] == sample->cycles[PPERF_CLOCK_SHADER], "sample %zu is from %" PRIu64 " to %" PRIu64, n, start_ns[n],
		       end_ns[n]);
		expect(middle_of(sample) < until_ns, "sample %zu is behind the end", n);
		expect(regions[n] == pperf_recording_region(single, middle_of(sample)), "sample %zu is in region %u", n, regions[n]);
		pperf_sums_reset(sums);
		pperf_sums_add(sums, sample);
		for (i = 1; i < count; i++) {
			if (pperf_sums_value(sums, counters[i], &value))
				value = NAN;
			expect(same_number(values[i][n], value), "%s of sample %zu is %.17g, not %.17g", counters[i]->name, n,
			       values[i][n], value);
		}
	}
	expect(n == got, "%zu of %zu samples are there", n, got);
	for (i = 0; i < count; i++)
		free(values[i]);
	free(values);
	pperf_sums_free(sums);
	return got;
}

/* All samples in columns, from the one to the other time. Returns how many. */
static uint64_t compare_part(struct pperf_recording *pair[2], const struct pperf_selection *selection, uint64_t from_ns,
			     uint64_t until_ns, size_t room)
{
	const struct pperf_sample *sample;
	uint64_t samples = 0;
	size_t got, i;

	for (i = 0; i < 2; i++)
		expect(!pperf_recording_seek(pair[i], from_ns), "it does not go to %" PRIu64, from_ns);
	/* What comes one by one and in columns comes one after the other. */
	expect(!pperf_recording_next(pair[0], &sample) && (!sample || middle_of(sample) >= from_ns), "sample 0 is before the begin");
	expect(!pperf_recording_seek(pair[0], from_ns), "it does not go back");
	while ((got = compare_columns(pair[0], pair[1], selection, until_ns, room)) && good)
		samples += got;
	return samples;
}

static void test_parts(struct pperf_recording *pair[2], uint64_t samples, const char *file)
{
	const struct pperf_recording_info *info = pperf_recording_info(pair[0]);
	uint64_t length = info->end_ns - info->start_ns, times[] = { 0, 0, 0, UINT64_MAX }, found = 0;
	const struct pperf_counter *const *counters;
	struct pperf_selection *selection;
	size_t count, i;

	if (pperf_selection_new(pperf_recording_db(pair[0]), info->gpu, &selection))
		abort();
	counters = pperf_recording_counters(pair[0], &count);
	for (i = 0; i < count; i++)
		pperf_selection_add_counter(selection, counters[i]);
	begin();
	found = compare_part(pair, selection, 0, UINT64_MAX, ROOM);
	expect(found == samples, "%" PRIu64 " of %" PRIu64 " samples", found, samples);
	end_of(file, "columns are what sums of each sample say");

	begin();
	times[1] = info->start_ns + length / 3;
	times[2] = info->start_ns + length / 2;
	for (found = 0, i = 0; i < 3; i++)
		found += compare_part(pair, selection, times[i], times[i + 1], 1 + i * 100);
	expect(found == samples, "%" PRIu64 " of %" PRIu64 " samples", found, samples);
	end_of(file, "parts of the time make up the whole");
	pperf_selection_free(selection);
}

/* A program that was compiled with a newer library, whose struct has more members. */
static void test_larger(struct pperf_recording *r, const struct pperf_column_arrays *arrays)
{
	struct {
		struct pperf_column_arrays known;
		uint64_t more[2];
	} larger = { .known = *arrays };
	enum pperf_error error;
	size_t got = 77;

	larger.known.size = sizeof(larger);
	larger.more[1] = 1;
	error = pperf_recording_columns(r, NULL, UINT64_MAX, &larger.known, &got);
	expect(error == PPERF_ERROR_INVALID && got == 77 && strstr(pperf_message(), "newer version"), "of an unknown member: %d, %zu, %s",
	       error, got, pperf_message());
	larger.more[1] = 0;
	error = pperf_recording_seek(r, 0);
	if (!error)
		error = pperf_recording_columns(r, NULL, UINT64_MAX, &larger.known, &got);
	expect(!error && got == (pperf_recording_info(r)->samples > 0), "of unknown members that are 0: %d, %zu", error, got);
}

static void test_errors(struct pperf_recording *r, const char *file)
{
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = 1 };
	const struct pperf_recording_info *info = pperf_recording_info(r);
	const struct pperf_counter *absent = NULL;
	double value, *values[] = { &value };
	struct pperf_selection *selection;
	enum pperf_error error;
	struct pperf_db *other;
	size_t got = 77, count, i;
	const struct pperf_counter *const *counters = pperf_db_counters(pperf_recording_db(r), &count);

	begin();
	arrays.values = values;
	for (i = 0; i < count && !absent; i++)
		if (!pperf_counter_in(pperf_recording_db(r), counters[i], &info->masks))
			absent = counters[i];
	if (pperf_selection_new(pperf_recording_db(r), NULL, &selection))
		abort();
	if (absent) {
		pperf_selection_add_counter(selection, absent);
		error = pperf_recording_columns(r, selection, UINT64_MAX, &arrays, &got);
		expect(error == PPERF_ERROR_NOT_COUNTED && strstr(pperf_message(), absent->name) && got == 77,
		       "of a counter that is not there: %d, %zu, %s", error, got, pperf_message());
	}
	arrays.size = 8;
	error = pperf_recording_columns(r, selection, UINT64_MAX, &arrays, &got);
	expect(error == PPERF_ERROR_INVALID && got == 77, "of a size that is none: %d, %zu", error, got);
	/* The last member of the first version of the struct is the one that is needed. */
	arrays.size = offsetof(struct pperf_column_arrays, values);
	error = pperf_recording_columns(r, selection, UINT64_MAX, &arrays, &got);
	expect(error == PPERF_ERROR_INVALID && got == 77, "of a struct without values: %d, %zu", error, got);
	arrays.size = sizeof(arrays);
	test_larger(r, &arrays);
	pperf_selection_free(selection);
	if (pperf_db_open(info->gpu->layout, &other) || pperf_selection_new(other, NULL, &selection) ||
	    pperf_selection_add(selection, "MaliGPUActiveCy"))
		abort();
	error = pperf_recording_columns(r, selection, UINT64_MAX, &arrays, &got);
	expect(error == PPERF_ERROR_INVALID && got == 77, "of another database: %d, %zu", error, got);
	pperf_selection_free(selection);
	pperf_db_close(other);
	end_of(file, "what cannot be filled in is an error that changes nothing");
}

/* ---- Files that are not whole ---- */

static int put_file(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	return fd;
}

static uint8_t *get_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes;

	if (!file || fseek(file, 0, SEEK_END))
		abort();
	*size = ftell(file);
	rewind(file);
	bytes = malloc(*size);
	if (!bytes || fread(bytes, 1, *size, file) != *size)
		abort();
	fclose(file);
	return bytes;
}

/* Samples up to an error or the end. */
static uint64_t count_samples(struct pperf_recording *r, enum pperf_error *error)
{
	const struct pperf_sample *sample;
	uint64_t samples = 0;

	while (!(*error = pperf_recording_next(r, &sample)) && sample)
		samples++;
	return samples;
}

static void test_cut(const uint8_t *bytes, size_t size, uint64_t samples, const char *file)
{
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = 100000 };
	size_t where[] = { 5, 3 * size / 4, size - 1, size }, i, got;
	uint64_t found, before = 0;
	struct pperf_recording *r;
	enum pperf_error error;
	int fd;

	begin();
	for (i = 0; i < sizeof(where) / sizeof(*where); i++) {
		fd = put_file(bytes, where[i]);
		/* Where the program's descriptor stands, and whether it is open, makes no difference, and the former stays. */
		lseek(fd, 3, SEEK_SET);
		error = pperf_recording_open_fd(fd, &r);
		expect(lseek(fd, 0, SEEK_CUR) == 3, "the descriptor stands elsewhere");
		close(fd);
		if (where[i] == 5) {
			expect(error == PPERF_ERROR_BROKEN, "five bytes: %d, %s", error, pperf_message());
			continue;
		}
		expect(!error, "%zu bytes: %s", where[i], pperf_message());
		if (error)
			continue;
		found = count_samples(r, &error);
		expect(!error && found == pperf_recording_info(r)->samples && found >= before, "%zu bytes: %" PRIu64 " samples, %d",
		       where[i], found, error);
		/* The last byte may be one of the index. */
		expect(where[i] == size - 1 || (pperf_recording_info(r)->end == PPERF_RECORDING_CUT) == (where[i] < size),
		       "%zu bytes: end %d", where[i], pperf_recording_info(r)->end);
		expect(!pperf_recording_seek(r, 0) && !pperf_recording_columns(r, NULL, UINT64_MAX, &arrays, &got) && got == found,
		       "%zu bytes: %zu samples in columns", where[i], got);
		before = found;
		pperf_recording_close(r);
	}
	expect(before == samples, "of all bytes there are %" PRIu64 " samples", before);
	end_of(file, "of a file that was cut, samples that are whole");
}

/* Without the records behind its last sample, the last chunk may be empty: the samples before it are found all the same. */
static void test_end_cut(const uint8_t *bytes, size_t size, uint64_t samples, const char *file)
{
	const struct pperf_sample *sample = NULL;
	struct pperf_recording *r;
	uint64_t last_ns = 0;
	bool whole = true;
	size_t cut;
	int fd;

	begin();
	for (cut = size; whole && cut > 0; cut--) {
		fd = put_file(bytes, cut);
		if (pperf_recording_open_fd(fd, &r))
			abort();
		close(fd);
		whole = pperf_recording_info(r)->samples == samples;
		if (whole && pperf_recording_info(r)->end == PPERF_RECORDING_CUT) {
			last_ns = pperf_recording_info(r)->end_ns - 1;
			expect(!pperf_recording_seek(r, last_ns - pperf_recording_info(r)->period_ns) &&
			       !pperf_recording_next(r, &sample) && sample, "%zu of %zu bytes: the last sample is not found", cut, size);
		}
		pperf_recording_close(r);
	}
	expect(last_ns, "no cut keeps all samples");
	end_of(file, "of a file without its end, the last sample is found");
}

/* One byte in the middle of what the index tells of is wrong. */
static void test_damaged(uint8_t *bytes, size_t size, uint64_t samples, const char *file)
{
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = 100000 };
	enum pperf_error error, again;
	struct pperf_recording *r;
	size_t got = 0, more = 77;
	uint64_t found;
	int fd;

	begin();
	bytes[size / 2] ^= 0x40;
	fd = put_file(bytes, size);
	bytes[size / 2] ^= 0x40;
	error = pperf_recording_open_fd(fd, &r);
	close(fd);
	expect(!error || error == PPERF_ERROR_BROKEN, "opening it: %d", error);
	if (!error) {
		found = count_samples(r, &error);
		again = pperf_recording_next(r, &(const struct pperf_sample *){ NULL });
		expect(error == PPERF_ERROR_BROKEN && again == error && found < samples, "%" PRIu64 " samples, then %d, %d", found,
		       error, again);
		expect(strstr(pperf_message(), "the record at byte"), "%s", pperf_message());
		expect(!pperf_recording_seek(r, 0) && !pperf_recording_columns(r, NULL, UINT64_MAX, &arrays, &got) && got == found,
		       "%zu samples in columns", got);
		error = pperf_recording_columns(r, NULL, UINT64_MAX, &arrays, &more);
		expect(error == PPERF_ERROR_BROKEN && more == 77, "then %d, %zu", error, more);
		pperf_recording_close(r);
	}
	end_of(file, "of a damaged file, samples before the damage, then an error");
}

/* The first mark is damaged: the message says where it is. */
static void test_damaged_mark(uint8_t *bytes, size_t size, const char *file)
{
	enum recording_item item = RECORDING_END;
	struct recording plain = {};
	struct pperf_recording *r;
	enum pperf_error error;
	char want[64];
	int fd;

	begin();
	fd = put_file(bytes, size);
	if (pperf_records_open_fd(&plain, fd) == RECORDING_END)
		do
			item = pperf_records_next(&plain);
		while (item < RECORDING_MARK);
	if (item == RECORDING_MARK) {
		snprintf(want, sizeof(want), "the record at byte %" PRIu64 " ", plain.found);
		bytes[plain.found + 4] ^= 0x40;
		close(fd);
		fd = put_file(bytes, size);
		bytes[plain.found + 4] ^= 0x40;
		error = pperf_recording_open_fd(fd, &r);
		expect(error == PPERF_ERROR_BROKEN && strstr(pperf_message(), want), "%d, %s, not %s", error, pperf_message(), want);
		if (!error)
			pperf_recording_close(r);
	}
	pperf_records_close(&plain);
	close(fd);
	end_of(file, "of a damaged mark, where it is");
}

/* ---- Files whose index is wrong ---- */

enum { BYTES, SAMPLES, START, LENGTH, MARKS, NUMBERS };

/* The numbers of the index. Returns how many chunks there are, 0 without an index, and where it is. */
static size_t get_index(const uint8_t *bytes, size_t size, uint64_t (*numbers)[NUMBERS], size_t room, size_t *where)
{
	const uint8_t *at, *end = bytes + size - 12;
	uint64_t offset;
	size_t count, i;

	memcpy(&offset, end, sizeof(offset));
	*where = le64toh(offset);
	if (*where >= size || bytes[*where] != RECORDING_KIND_INDEX)
		return 0;
	for (at = bytes + *where + 4, count = 0; at < end && count < room; count++)
		for (i = 0; i < NUMBERS; i++)
			if (!(at = pperf_records_get_varint(at, end, &numbers[count][i])))
				abort();
	return count;
}

/* The file with another index. Returns its size; the bytes have room for it. */
static size_t put_index(uint8_t *bytes, size_t where, uint64_t (*numbers)[NUMBERS], size_t count)
{
	uint8_t *at = bytes + where + 4;
	uint64_t offset = htole64(where);
	uint32_t word;
	size_t i, n;

	for (n = 0; n < count; n++)
		for (i = 0; i < NUMBERS; i++)
			at = pperf_records_put_varint(at, numbers[n][i]);
	memcpy(at, &offset, sizeof(offset));
	at += sizeof(offset);
	word = htole32((uint32_t)(at - bytes - where - 4) << 8 | RECORDING_KIND_INDEX);
	memcpy(bytes + where, &word, sizeof(word));
	word = htole32(crc32(0, bytes + where, at - bytes - where));
	memcpy(at, &word, sizeof(word));
	return at + sizeof(word) - bytes;
}

/*
 * Of a file whose index is not its own, no more samples come than are told, and an error if not all come; or the index does not
 * fit, and all is read without it. Behind a time, no more can be asked than that.
 */
static void expect_bounded(const uint8_t *bytes, size_t size, uint64_t samples, uint64_t from_ns, const char *lie)
{
	static uint64_t start_ns[ROOM];
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = ROOM, .start_ns = start_ns };
	uint64_t found, in_columns = 0, told;
	enum pperf_error error, again;
	struct pperf_recording *r;
	size_t got;
	int fd = put_file(bytes, size);

	error = pperf_recording_open_fd(fd, &r);
	close(fd);
	if (error) {
		expect(error == PPERF_ERROR_BROKEN && *pperf_message(), "%s: opening it: %d, %s", lie, error, pperf_message());
		return;
	}
	told = pperf_recording_info(r)->samples;
	error = pperf_recording_seek(r, from_ns);
	found = error ? 0 : count_samples(r, &error);
	again = pperf_recording_next(r, &(const struct pperf_sample *){ NULL });
	expect(found <= told && again == error && (error == PPERF_ERROR_BROKEN || (!error && (from_ns || (found == samples &&
	       told == samples)))), "%s: from %" PRIu64 ", %" PRIu64 " samples of %" PRIu64 ", then %d, %d: %s", lie, from_ns, found,
	       told, error, again, pperf_message());
	error = pperf_recording_seek(r, from_ns);
	while (!error && !(error = pperf_recording_columns(r, NULL, UINT64_MAX, &arrays, &got)) && got)
		in_columns += got;
	expect(error == again && in_columns == found, "%s: %" PRIu64 " samples in columns, then %d", lie, in_columns, error);
	pperf_recording_close(r);
}

static void test_lies(const uint8_t *bytes, size_t size, uint64_t samples, const char *file)
{
	/* Twice at the most: chunk, 0 the first and -1 the last; number; what is added to it. */
	static const int lies[][6] = {
		{ 0, SAMPLES, -1 }, { 0, SAMPLES, 1 }, { -1, SAMPLES, -1 }, { -1, SAMPLES, 1 }, { 0, SAMPLES, -1, -1, SAMPLES, 1 },
		{ 0, SAMPLES, -1000000 }, { -1, SAMPLES, -1000000 }, { 0, START, 1 }, { 0, START, -1 }, { -1, START, 1 },
		{ -1, START, 1, -1, LENGTH, -1 }, { -1, LENGTH, 1 }, { -1, LENGTH, -1 }, { 0, LENGTH, -1 }, { 0, MARKS, 1 },
		{ 0, MARKS, -1 }, { -1, MARKS, 1 }, { -1, MARKS, -1000000 }, { 0, BYTES, 1, -1, BYTES, -1 }, { 0, BYTES, -9, -1, BYTES, 9 },
		{ -1, BYTES, 1 }, { -1, BYTES, -1 },
	};
	uint64_t numbers[64][NUMBERS], other[64][NUMBERS], at_most;
	uint8_t *changed = malloc(size + 1000);
	size_t count, where, i, n;
	char name[100];

	count = get_index(bytes, size, numbers, 64, &where);
	begin();
	if (!count)
		goto out;
	memcpy(changed, bytes, size);
	expect(put_index(changed, where, numbers, count) == size && !memcmp(changed, bytes, size), "the index is not made again");
	for (i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
		const int *l = lies[i];
		uint64_t *first = &other[l[0] ? count - 1 : 0][l[1]];

		memcpy(other, numbers, sizeof(other));
		at_most = -l[2];
		*first = l[2] < 0 && *first < at_most ? 0 : *first + l[2];
		other[l[3] ? count - 1 : 0][l[4]] += l[5];
		if (!memcmp(other, numbers, count * sizeof(*numbers)))
			continue;
		snprintf(name, sizeof(name), "chunk %d, number %d: %+d", l[0], l[1], l[2]);
		for (n = 0; n < count; n++)
			expect_bounded(changed, put_index(changed, where, other, count), samples, n ? numbers[n][START] + 1 : 0, name);
	}
out:
	free(changed);
	end_of(file, "of a file whose index is wrong, no more samples than it tells, and an error");
}

/* Of the largest samples, of which none but the first says anything, and without an index. Returns how many bytes there are. */
static size_t make_small_samples(uint8_t **bytes, unsigned int samples)
{
	struct recording_head head = { .gpu = { .size = sizeof(head.gpu), .values_per_block = PPERF_MAX_VALUES } };
	uint8_t none[RECORDING_FRAME] = { RECORDING_KIND_SAMPLE };
	uint32_t sum = htole32(crc32(0, none, 4));
	struct recording_writer writer;
	struct recording plain = {};
	size_t size, i;

	for (i = 1; i < PPERF_BLOCK_TYPES; i++) {
		head.gpu.blocks[i] = RECORDING_MAX_BLOCKS;
		head.masks.bits[i][0] = ~0ull << PPERF_FIRST_COUNTER;
		head.masks.bits[i][1] = ~0ull;
	}
	if (recording_writer_open(&writer, &head) || !(*bytes = malloc(2000000 + samples * sizeof(none))))
		abort();
	memcpy(none + 4, &sum, sizeof(sum));
	memcpy(*bytes, writer.bytes, size = writer.size);
	if (pperf_records_open_fd(&plain, put_file(*bytes, size)) != RECORDING_END)
		abort();
	for (i = 0; i < plain.layout.blocks * (size_t)PPERF_MAX_VALUES; i++)
		plain.values[i] = 1ull << 62;
	plain.sample.end_ns = 1;
	recording_write_sample(&writer, &plain.sample);
	memcpy(*bytes + size, writer.bytes, writer.size);
	size += writer.size;
	for (i = 0; i < samples; i++, size += sizeof(none))
		memcpy(*bytes + size, none, sizeof(none));
	close(plain.fd);
	pperf_records_close(&plain);
	recording_writer_close(&writer);
	return size;
}

static void test_states(void)
{
	const unsigned int samples[] = { 100000, 200000 };
	struct pperf_recording *r;
	enum pperf_error error;
	uint8_t *bytes;
	size_t size, i;
	int fd;

	begin();
	for (i = 0; i < 2; i++) {
		size = make_small_samples(&bytes, samples[i]);
		fd = put_file(bytes, size);
		error = pperf_recording_open_fd(fd, &r);
		close(fd);
		free(bytes);
		expect(i ? error == PPERF_ERROR_BROKEN && strstr(pperf_message(), "memory") :
		       !error && pperf_recording_info(r)->samples == samples[i] + 1, "%u samples of %zu bytes: %d, %s", samples[i],
		       size, error, pperf_message());
		if (!error)
			pperf_recording_close(r);
	}
	end("what takes much more memory than the file is not read");
}

static void test_nothing(void)
{
	struct pperf_recording *r = NULL;
	enum pperf_error error;
	int ends[2];

	begin();
	error = pperf_recording_open("/no/such/file", &r);
	expect(error == PPERF_ERROR_SYSTEM && !strcmp(pperf_message(), "/no/such/file: No such file or directory"), "%d, %s", error,
	       pperf_message());
	error = pperf_recording_open_fd(-1, &r);
	expect(error == PPERF_ERROR_INVALID && !strcmp(pperf_message(), "-1 is not a file descriptor"), "-1: %d, %s", error,
	       pperf_message());
	if (pipe(ends))
		abort();
	error = pperf_recording_open_fd(ends[0], &r);
	expect(error == PPERF_ERROR_SYSTEM && errno == ESPIPE && strstr(pperf_message(), "Illegal seek"), "a pipe: %d, %d, %s",
	       error, errno, pperf_message());
	close(ends[0]);
	close(ends[1]);
	error = pperf_recording_open_fd(ends[0], &r);
	expect(error == PPERF_ERROR_INVALID && strstr(pperf_message(), "Bad file descriptor"), "one that is closed: %d, %s", error,
	       pperf_message());
	error = pperf_recording_open("/", &r);
	expect(error == PPERF_ERROR_SYSTEM && errno == EISDIR && !strcmp(pperf_message(), "Is a directory"), "a directory: %d, %d, %s",
	       error, errno, pperf_message());
	error = pperf_recording_open("/dev/null", &r);
	expect(error == PPERF_ERROR_BROKEN && !strcmp(pperf_message(), "not a panthor-perf recording"), "%d, %s", error,
	       pperf_message());
	expect(!r, "there is a recording");
	pperf_recording_close(NULL);
	end("what is no recording is not opened");
}

/* ---- Without memory, and with files that cannot be read ---- */

/* The number of the call that fails, of those that the library makes from then on, and how many there were. */
static unsigned long fail_at, calls;
static bool fail_reads;

static bool fails(bool read)
{
	if (read != fail_reads || ++calls != fail_at)
		return false;
	errno = read ? EIO : ENOMEM;
	return true;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *at, size_t size);
void *__real_reallocarray(void *at, size_t count, size_t size);
char *__real_strdup(const char *text);
ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *at, size_t size);
void *__wrap_reallocarray(void *at, size_t count, size_t size);
char *__wrap_strdup(const char *text);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset);

void *__wrap_malloc(size_t size)
{
	return fails(false) ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails(false) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *at, size_t size)
{
	return fails(false) ? NULL : __real_realloc(at, size);
}

void *__wrap_reallocarray(void *at, size_t count, size_t size)
{
	return fails(false) ? NULL : __real_reallocarray(at, count, size);
}

char *__wrap_strdup(const char *text)
{
	return fails(false) ? NULL : __real_strdup(text);
}

ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset)
{
	return fails(true) ? -1 : __real_pread(fd, to, size, offset);
}

/* Samples of the whole one by one, and of its second half in columns. The selection is one of the database. */
static enum pperf_error read_all(struct pperf_recording *r, struct pperf_selection **selection, uint64_t *samples)
{
	const struct pperf_recording_info *info = pperf_recording_info(r);
	static uint64_t start_ns[ROOM];
	static double value[ROOM];
	double *values[] = { value };
	struct pperf_column_arrays arrays = { .size = sizeof(arrays), .room = ROOM, .start_ns = start_ns, .values = values };
	enum pperf_error error;
	size_t got;

	*samples = count_samples(r, &error);
	if (!error)
		error = pperf_recording_seek(r, info->start_ns + (info->end_ns - info->start_ns) / 2);
	if (!error)
		error = pperf_selection_new(pperf_recording_db(r), info->gpu, selection);
	if (!error)
		error = pperf_selection_add(*selection, "MaliCoreUtil");
	do
		if (!error)
			error = pperf_recording_columns(r, *selection, UINT64_MAX, &arrays, &got);
	while (!error && got);
	return error;
}

/* One call fails. Returns false if there were fewer. */
static bool test_call(const char *path, bool read, unsigned long number, uint64_t samples)
{
	struct pperf_selection *selection = NULL;
	struct pperf_recording *r = NULL;
	enum pperf_error error;
	uint64_t found = 0;
	int system;

	fail_reads = read;
	calls = 0;
	fail_at = number;
	error = pperf_recording_open(path, &r);
	if (!error)
		error = read_all(r, &selection, &found);
	system = errno;
	fail_at = 0;
	if (calls < number)
		goto out;
	/* What can be done without is not missed. */
	if (!error)
		expect(found == samples, "call %lu: %" PRIu64 " samples", number, found);
	else if (read)
		expect(error == PPERF_ERROR_SYSTEM && system == EIO && strstr(pperf_message(), strerror(EIO)),
		       "read %lu: %d, %d, %s", number, error, system, pperf_message());
	else
		expect(error == PPERF_ERROR_NO_MEMORY && !strcmp(pperf_message(), "out of memory"), "allocation %lu: %d, %s", number,
		       error, pperf_message());
	/* It comes again. */
	if (r && error == PPERF_ERROR_SYSTEM && found < samples) {
		errno = 0;
		error = pperf_recording_next(r, &(const struct pperf_sample *){ NULL });
		expect(error == PPERF_ERROR_SYSTEM && errno == EIO, "read %lu: then %d, %d", number, error, errno);
	}
out:
	pperf_selection_free(selection);
	pperf_recording_close(r);
	return calls >= number;
}

static void test_calls(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct pperf_recording *r;
	unsigned long number;
	uint64_t samples;

	if (pperf_recording_open(path, &r)) {
		printf("Bail out! %s\n", pperf_message());
		exit(1);
	}
	samples = pperf_recording_info(r)->samples;
	pperf_recording_close(r);

	begin();
	for (number = 1; test_call(path, false, number, samples); number++)
		;
	printf("# %lu allocations\n", number - 1);
	expect(number > 100, "%lu allocations", number - 1);
	end_of(name, "each allocation fails");
	begin();
	for (number = 1; test_call(path, true, number, samples); number++)
		;
	expect(number > 3, "%lu reads", number - 1);
	end_of(name, "each read fails");
}

static void test_file(const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	struct pperf_recording *pair[2];
	uint8_t *bytes;
	uint64_t samples;
	size_t size, i;

	begin();
	for (i = 0; i < 2; i++) {
		if (!pperf_recording_open(path, &pair[i]))
			continue;
		printf("Bail out! %s\n", pperf_message());
		exit(1);
	}
	samples = compare_samples(pair[0], path);
	end_of(name, "what the library says is what is in it");
	test_parts(pair, samples, name);
	test_errors(pair[0], name);
	for (i = 0; i < 2; i++)
		pperf_recording_close(pair[i]);

	bytes = get_file(path, &size);
	if (samples > 1) {
		test_cut(bytes, size, samples, name);
		test_end_cut(bytes, size, samples, name);
		test_damaged(bytes, size, samples, name);
		test_damaged_mark(bytes, size, name);
		test_lies(bytes, size, samples, name);
	}
	free(bytes);
}

int main(int argc, char **argv)
{
	bool calls_fail = argc > 1 && !strcmp(argv[1], "-m");
	int i;

	if (!calls_fail) {
		test_nothing();
		test_states();
	}
	for (i = calls_fail ? 2 : 1; i < argc; i++)
		(calls_fail ? test_calls : test_file)(argv[i]);
	printf("1..%u\n", tests);
	return failed;
}
