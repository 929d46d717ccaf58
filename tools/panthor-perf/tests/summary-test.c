// SPDX-License-Identifier: MIT
/*
 * summary-test FILE...: what summaries say of recordings is what the plain way says: sample by sample, with all values sorted. Of the
 * whole, of each region, and of a part of the time; percentiles may be QUANTILES_ERROR larger, all else is the same to the
 * last bit. Then the same of each file with its index cut off, damaged or telling of other chunks. Prints TAP.
 *
 * summary-test --plain FILE: the plain way alone, to see how long it takes.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <zlib.h>

#include "common.h"
#include "quantiles.h"
#include "tap.h"
#include "view.h"

const char *argp_program_version = "summary-test";

static void end_of(const char *file, const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "%s: %s", file, what);
	end(name);
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

enum pperf_error pperf_gpu_frequency(const struct pperf_gpu *gpu, uint64_t *hz)
{
	(void)gpu;
	(void)hz;
	abort();
}

/* ---- The plain way ---- */

struct point {
	double value, weight;
};

struct period {
	uint64_t start_ns, end_ns;
};

/* All samples that a view sees. */
struct plain {
	struct pperf_log log, gaps;
	struct pperf_sums *sums;
	struct pperf_topdown *topdown;
	struct period *periods;

	/* By counter: a value of each sample, or NAN. */
	double **values;
	size_t room;
};

static double sample_value(const struct pperf_sums *sums, const struct pperf_counter *counter)
{
	double value, seconds = pperf_sums_seconds(sums);

	if (pperf_sums_value(sums, counter, &value))
		return NAN;
	if (counter->kind != PPERF_KIND_COUNT)
		return value;
	return seconds > 0 ? value / seconds : NAN;
}

static void add_plain(struct plain *p, const struct pperf_sample *sample, struct pperf_sums *one, const struct summaries *s)
{
	uint64_t n = p->log.samples;
	size_t i;

	if (n == p->room) {
		p->room = 2 * n + 1024;
		p->periods = realloc(p->periods, p->room * sizeof(*p->periods));
		for (i = 0; i < s->count; i++)
			p->values[i] = realloc(p->values[i], p->room * sizeof(**p->values));
	}
	p->periods[n] = (struct period){ sample->start_ns, sample->end_ns };
	pperf_log_add(&p->log, sample);
	pperf_sums_reset(one);
	if (pperf_sums_add(p->sums, sample) || pperf_sums_add(one, sample))
		abort();
	for (i = 0; i < s->count; i++)
		p->values[i][n] = sample_value(one, s->list[i].counter);
	if (p->topdown && pperf_topdown_add(p->topdown, sample)) {
		pperf_topdown_free(p->topdown);
		p->topdown = NULL;
	}
}

static struct plain read_plain(struct view *v, const struct summaries *s)
{
	struct plain p = { .log.size = sizeof(p.log), .values = calloc(s->count + 1, sizeof(*p.values)) };
	struct recording *r = &v->recording;
	struct pperf_sums *one;
	enum recording_item item;
	bool seen, last_seen = false;
	uint64_t last_ns = 0;

	if (pperf_sums_new(v->db, &r->head.gpu, &p.sums) || pperf_sums_new(v->db, &r->head.gpu, &one) || pperf_records_rewind(r))
		abort();
	if (pperf_topdown_new(v->db, &r->head.gpu, &p.topdown))
		p.topdown = NULL;
	while ((item = pperf_records_next(r)) <= RECORDING_CLOCKS) {
		if (item != RECORDING_SAMPLE)
			continue;
		seen = view_sees(v, r->sample.start_ns, r->sample.end_ns);
		if (seen && last_seen && r->sample.start_ns != last_ns) {
			p.gaps.gaps++;
			p.gaps.gap_ns += r->sample.start_ns - last_ns;
		}
		if (seen)
			add_plain(&p, &r->sample, one, s);
		last_seen = seen;
		last_ns = r->sample.end_ns;
	}
	expect(item <= RECORDING_CUT, "it cannot be read in a row: %s", r->error);
	pperf_sums_free(one);
	return p;
}

static void free_plain(struct plain *p, const struct summaries *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free(p->values[i]);
	free(p->values);
	free(p->periods);
	pperf_sums_free(p->sums);
	pperf_topdown_free(p->topdown);
}

static int by_value(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static void mean_by_part(const struct plain *p, const double *values, double *means, unsigned int parts)
{
	double length = (double)(p->log.end_ns - p->log.start_ns) / parts, time[SUMMARY_BINS] = {}, from, to, overlap;
	unsigned int part, last;
	size_t n;

	memset(means, 0, parts * sizeof(*means));
	for (n = 0; n < p->log.samples && length > 0; n++) {
		if (isnan(values[n]))
			continue;
		from = p->periods[n].start_ns - p->log.start_ns;
		to = p->periods[n].end_ns - p->log.start_ns;
		part = from / length;
		last = to / length;
		for (; part <= last && part < parts; part++) {
			overlap = fmin(to, (part + 1) * length) - fmax(from, part * length);
			if (overlap <= 0)
				continue;
			means[part] += values[n] * overlap;
			time[part] += overlap;
		}
	}
	for (part = 0; part < parts; part++)
		means[part] = time[part] > 0 ? means[part] / time[part] : NAN;
}

static double noise_of(const double *means, double mean)
{
	double sum = 0, squares = 0;
	unsigned int i, n = 0;

	for (i = 0; i < SUMMARY_PARTS; i++) {
		sum += isnan(means[i]) ? 0 : means[i];
		n += !isnan(means[i]);
	}
	for (i = 0; i < SUMMARY_PARTS; i++)
		if (!isnan(means[i]))
			squares += (means[i] - sum / n) * (means[i] - sum / n);
	return n > 1 && mean != 0 ? sqrt(squares / (n - 1) / n) / fabs(mean) : 0;
}

/* ---- Both ---- */

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static void compare_percentiles(const struct summary *s, const struct point *points, size_t count, double weight)
{
	double seen = 0;
	unsigned int i = 0;
	size_t n;

	for (n = 0; n < count; n++) {
		seen += points[n].weight;
		for (; i < SUMMARY_PERCENTILES && (seen >= weight * summary_percentiles[i] / 100 || n + 1 == count); i++)
			expect(s->percentile[i] >= points[n].value &&
			       s->percentile[i] - points[n].value <= fabs(points[n].value) * QUANTILES_ERROR,
			       "%s: %d %%: %.17g, not %.17g", s->counter->name, summary_percentiles[i], s->percentile[i],
			       points[n].value);
	}
}

static void compare_values(const struct summary *s, const struct plain *p, const double *values)
{
	struct point *points = calloc(p->log.samples + 1, sizeof(*points));
	double timeline[SUMMARY_BINS], parts[SUMMARY_PARTS], weight = 0;
	size_t n, count = 0;

	for (n = 0; n < p->log.samples; n++) {
		if (isnan(values[n]))
			continue;
		points[count].value = values[n];
		points[count].weight = p->periods[n].end_ns - p->periods[n].start_ns;
		weight += points[count++].weight;
	}
	qsort(points, count, sizeof(*points), by_value);
	expect(s->valid == !!count, "%s: valid: %d, of %zu values", s->counter->name, s->valid, count);
	if (s->valid && count) {
		expect(s->min == points[0].value && s->max == points[count - 1].value, "%s: from %.17g to %.17g, not %.17g to %.17g",
		       s->counter->name, s->min, s->max, points[0].value, points[count - 1].value);
		compare_percentiles(s, points, count, weight);
		mean_by_part(p, values, timeline, SUMMARY_BINS);
		for (n = 0; n < SUMMARY_BINS; n++)
			expect(same(s->timeline[n], timeline[n]), "%s: part %zu of the time: %.17g, not %.17g", s->counter->name, n,
			       s->timeline[n], timeline[n]);
		mean_by_part(p, values, parts, SUMMARY_PARTS);
		expect(same(s->noise, noise_of(parts, s->mean)), "%s: noise %.17g, not %.17g", s->counter->name, s->noise,
		       noise_of(parts, s->mean));
	}
	free(points);
}

static void compare_sums(const struct view *v, const struct pperf_sums *a, const struct pperf_sums *b, const char *what)
{
	const struct pperf_gpu_info *info = &v->recording.head.gpu;
	struct pperf_load x = {}, y = {};
	unsigned int type, block, n;

	expect(pperf_sums_samples(a) == pperf_sums_samples(b) && pperf_sums_start_ns(a) == pperf_sums_start_ns(b) &&
	       pperf_sums_end_ns(a) == pperf_sums_end_ns(b) && pperf_sums_seconds(a) == pperf_sums_seconds(b) &&
	       pperf_sums_flags(a) == pperf_sums_flags(b), "%s: %" PRIu64 " samples, not %" PRIu64 ", or other times or flags",
	       what, pperf_sums_samples(a), pperf_sums_samples(b));
	for (n = 0; n < PPERF_CLOCKS; n++)
		expect(pperf_sums_cycles(a, n) == pperf_sums_cycles(b, n), "%s: cycles of clock %u", what, n);
	expect(pperf_sums_load(a, &x, sizeof(x)) == pperf_sums_load(b, &y, sizeof(y)) && !memcmp(&x, &y, sizeof(x)),
	       "%s: load %.17g of %.17g s, not %.17g of %.17g s", what, x.active_seconds, x.seconds, y.active_seconds, y.seconds);
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (block = 0; block < info->blocks[type]; block++) {
			expect(pperf_sums_states(a, type, block) == pperf_sums_states(b, type, block), "%s: states of %u.%u", what,
			       type, block);
			for (n = PPERF_FIRST_COUNTER; n < info->values_per_block; n++) {
				const struct pperf_counter counter = { .type = type, .index = n };

				expect(pperf_sums_block(a, &counter, block) == pperf_sums_block(b, &counter, block),
				       "%s: %u.%u.%u", what, type, block, n);
			}
		}
	}
}

static void compare_logs(const struct summaries *s, const struct plain *p)
{
	expect(!memcmp(&s->log, &p->log, sizeof(s->log)), "the log: %" PRIu64 " samples, %" PRIu64 " gaps, not %" PRIu64 ", %" PRIu64
	       ", or other flags", s->log.samples, s->log.gaps, p->log.samples, p->log.gaps);
	expect(s->gaps.gaps == p->gaps.gaps && s->gaps.gap_ns == p->gaps.gap_ns, "%" PRIu64 " gaps within, not %" PRIu64,
	       s->gaps.gaps, p->gaps.gaps);
}

/* Of what the view sees. Returns how many samples that are. */
static uint64_t compare(struct view *v)
{
	const struct pperf_topdown_node *const *nodes;
	uint64_t samples;
	struct summaries s;
	struct plain p;
	size_t count, i;

	if (summarize(v, NULL, 0, SUMMARY_SAMPLES, NULL, &s)) {
		expect(false, "there is no summary: %s", v->recording.error);
		return 0;
	}
	p = read_plain(v, &s);
	compare_logs(&s, &p);
	samples = p.log.samples;
	if (samples) {
		compare_sums(v, s.sums, p.sums, "sums");
		for (i = 0; i < s.count; i++)
			compare_values(&s.list[i], &p, p.values[i]);
		expect(!s.topdown == !p.topdown, "top-down: %d, not %d", !!s.topdown, !!p.topdown);
		nodes = pperf_db_topdown(v->db, &count);
		for (i = 0; i < count && s.topdown && p.topdown; i++)
			expect(pperf_topdown_cycles(s.topdown, nodes[i]) == pperf_topdown_cycles(p.topdown, nodes[i]),
			       "top-down: %s: %.17g, not %.17g", nodes[i]->name, pperf_topdown_cycles(s.topdown, nodes[i]),
			       pperf_topdown_cycles(p.topdown, nodes[i]));
	}
	free_plain(&p, &s);
	summaries_free(&s);
	return samples;
}

/* ---- Regions ---- */

/* Where a mark is in force: that of the last one up to a time. */
static uint32_t region_at(const struct regions *r, uint64_t time)
{
	uint32_t region = 0;
	size_t n;

	for (n = 0; n < r->num_marks && r->marks[n].time_ns <= time; n++)
		region = r->marks[n].region;
	return region;
}

/* Whether any of a region is in a sample, from its begin on and up to what is before its end. */
static bool is_touched(const struct regions *r, uint32_t region, const struct pperf_sample *sample)
{
	size_t n;

	if (region_at(r, sample->start_ns) == region)
		return true;
	for (n = 0; n < r->num_marks; n++)
		if (r->marks[n].region == region && r->marks[n].time_ns > sample->start_ns && r->marks[n].time_ns < sample->end_ns)
			return true;
	return false;
}

static void compare_region(struct view *v, uint32_t region)
{
	struct regions *r = &v->regions;
	struct recording *recording = &v->recording;
	struct pperf_sums *sums[3];
	enum recording_item item;
	unsigned int i, touched;
	uint32_t n;

	for (i = 0; i < 3; i++)
		if (pperf_sums_new(v->db, &recording->head.gpu, &sums[i]))
			abort();
	if (pperf_records_rewind(recording))
		abort();
	while ((item = pperf_records_next(recording)) <= RECORDING_CLOCKS) {
		const struct pperf_sample *sample = &recording->sample;

		if (item != RECORDING_SAMPLE)
			continue;
		for (touched = 0, n = 0; n < r->count; n++)
			touched += is_touched(r, n, sample);
		if (region_at(r, sample->start_ns + (sample->end_ns - sample->start_ns) / 2) == region) {
			pperf_sums_add(sums[0], sample);
			if (touched == 1)
				pperf_sums_add(sums[1], sample);
		}
		if (touched > 1 && is_touched(r, region, sample))
			pperf_sums_add(sums[2], sample);
	}
	compare_sums(v, r->list[region].sums, sums[0], r->list[region].name);
	compare_sums(v, r->list[region].sure, sums[1], "sure");
	compare_sums(v, r->list[region].across, sums[2], "across");
	for (i = 0; i < 3; i++)
		pperf_sums_free(sums[i]);
}

/* ---- Files ---- */

static void compare_file(const char *path, const char *name)
{
	struct view v;
	uint64_t samples, parts = 0, from, until;
	uint32_t region;

	begin();
	if (view_open(&v, path)) {
		expect(false, "it cannot be opened");
		goto out;
	}
	samples = compare(&v);
	for (region = 1; region < v.regions.count; region++) {
		v.region = region;
		parts += compare(&v);
	}
	v.region = 0;
	expect(parts <= samples, "regions have %" PRIu64 " of %" PRIu64 " samples", parts, samples);
	if (v.regions.num_marks) {
		expect(!view_sum_regions(&v), "there are no sums of regions");
		for (region = 0; region < v.regions.count; region++)
			compare_region(&v, region);
	}
	/* The second quarter of the time, to the nanosecond, and what is before and behind it. */
	if (v.chunks.samples > 4) {
		until = v.chunks.list[v.chunks.count - 1].range.end_ns - v.chunks.list[0].range.start_ns;
		from = until / 4;
		until /= 2;
		view_choose_time(&v, 0, from);
		parts = compare(&v);
		view_choose_time(&v, from, until);
		parts += compare(&v);
		view_choose_time(&v, until, UINT64_MAX);
		parts += compare(&v);
		expect(parts == samples, "parts of the time have %" PRIu64 " of %" PRIu64 " samples", parts, samples);
	}
out:
	view_close(&v);
	end_of(name, "what is said is what the plain way says");
}

/* A file that is there as long as nobody needs another. Returns its path. */
static const char *put_file(const uint8_t *bytes, size_t size)
{
	static char path[32];
	static int fd = -1;

	if (fd >= 0)
		close(fd);
	fd = memfd_create("recording", MFD_CLOEXEC);
	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static uint8_t *get_file(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
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

static bool has_index(const uint8_t *bytes, size_t size, uint64_t *index)
{
	memcpy(index, bytes + size - 12, sizeof(*index));
	return *index < size && bytes[*index] == RECORDING_KIND_INDEX;
}

/* The same file without its index, or one that is damaged in any place, says the same. */
static void test_index(const char *path, const char *name)
{
	uint64_t index, at;
	uint8_t *bytes;
	struct view v;
	size_t size;

	bytes = get_file(path, &size);
	if (!has_index(bytes, size, &index)) {
		free(bytes);
		return;
	}
	compare_file(put_file(bytes, index), "without its index");
	begin();
	for (at = index; at < size; at++) {
		bytes[at] ^= 1 << at % 8;
		if (view_open(&v, put_file(bytes, size)))
			expect(false, "byte %" PRIu64 ": %s", at, v.recording.error);
		/* It is not used: chunks are those that were made, each with its state. */
		expect(v.chunks.count && (v.chunks.count == 1 || v.chunks.list[1].state), "byte %" PRIu64 " is not missed", at);
		view_close(&v);
		bytes[at] ^= 1 << at % 8;
	}
	end_of(name, "an index with a changed byte is not used");
	free(bytes);
}

/* Writes a record's check sum anew. */
static void sign(uint8_t *record)
{
	size_t length = record[1] | record[2] << 8 | record[3] << 16;
	uint32_t sum = crc32(0, record, length + 4);

	memcpy(record + 4 + length, &sum, sizeof(sum));
}

/* An index, or a state, that is not what the file has, with a right check sum: nothing wrong is said. */
static void test_lies(const char *path, const char *name)
{
	unsigned int refused = 0, unused = 0, wrong = 0;
	uint64_t index, at, length;
	struct summaries s;
	struct view v;
	uint8_t *bytes;
	size_t size;
	bool lies;

	bytes = get_file(path, &size);
	if (!has_index(bytes, size, &index)) {
		free(bytes);
		return;
	}
	begin();
	for (at = index + 4; at < size - 12; at++) {
		bytes[at] ^= 1;
		sign(bytes + index);
		if (!view_open(&v, put_file(bytes, size))) {
			lies = v.chunks.count > 1 && !v.chunks.list[1].state;
			unused += !lies;
			if (summarize(&v, NULL, 0, SUMMARY_SUMS, NULL, &s)) {
				refused++;
			} else {
				/* A number of marks is not of samples. */
				wrong += lies && s.log.samples != s.samples;
				summaries_free(&s);
			}
		}
		view_close(&v);
		bytes[at] ^= 1;
	}
	sign(bytes + index);
	expect(!wrong && refused + unused > 0, "%u were refused, %u not used, %u believed", refused, unused, wrong);

	for (at = 12; at < index; at += length + RECORDING_FRAME) {
		length = bytes[at + 1] | bytes[at + 2] << 8 | bytes[at + 3] << 16;
		if (bytes[at] != RECORDING_KIND_STATE)
			continue;
		bytes[at + 4 + length - 1] ^= 1;
		sign(bytes + at);
		if (!view_open(&v, put_file(bytes, size)))
			expect(summarize(&v, NULL, 0, SUMMARY_SUMS, NULL, &s), "another state at byte %" PRIu64 " is believed", at);
		view_close(&v);
		expect(view_open(&v, put_file(bytes, index)), "another state at byte %" PRIu64 " is believed in a row", at);
		view_close(&v);
		bytes[at + 4 + length - 1] ^= 1;
		sign(bytes + at);
	}
	end_of(name, "an index or a state that is not the file's is found");
	free(bytes);
}

/* ---- Percentiles of any values ---- */

static void test_quantiles(void)
{
	static const double values[] = { 0, -0.0, 5e-324, 1e-300, -1e-300, 1, 1.003, -1, -1.003, 3, 1e9, 1.7e308, -1.7e308 };
	const size_t count = sizeof(values) / sizeof(values[0]);
	double one = 1, nothing = 0, found, not_a_number = NAN;
	struct quantiles q = {};
	unsigned int percent;
	size_t i;

	begin();
	expect(quantiles_percentile(&q, 50) == 0, "of no values it is %g", quantiles_percentile(&q, 50));
	expect(!quantiles_add(&q, &not_a_number, &one, 1) && !q.count, "NAN is a value");
	for (i = 0; i < count; i++) {
		expect(!quantiles_add(&q, &values[i], &one, 1), "%g cannot be added", values[i]);
		expect(quantiles_percentile(&q, 100) >= values[i], "100 %% are not %g", values[i]);
	}
	expect(quantiles_percentile(&q, 0) == -1.7e308, "0 %%: %g", quantiles_percentile(&q, 0));
	expect(quantiles_percentile(&q, 100) == 1.7e308, "100 %%: %g", quantiles_percentile(&q, 100));
	quantiles_free(&q);

	/* 1 to 1000, of which each is its own per mille. */
	for (i = 0; i < 1000; i++) {
		found = 1 + i * 7 % 1000;
		quantiles_add(&q, &found, &one, 1);
	}
	for (percent = 1; percent <= 100; percent++) {
		found = quantiles_percentile(&q, percent);
		expect(found >= 10 * percent && found <= 10 * percent * (1 + QUANTILES_ERROR), "%u %%: %g", percent, found);
	}
	quantiles_free(&q);

	/* Weights of nothing are values, too. */
	for (i = 0; i < 3; i++) {
		found = 3 - (double)i;
		quantiles_add(&q, &found, &nothing, 1);
	}
	expect(quantiles_percentile(&q, 50) == 1, "of no weight it is %g", quantiles_percentile(&q, 50));
	quantiles_free(&q);
	end("percentiles of any values");
}

/* What the plain way takes: all values, sorted. */
static int run_plain(const char *path)
{
	struct summaries s;
	struct plain p;
	struct view v;
	size_t i;

	if (view_open(&v, path) || summarize(&v, NULL, 0, SUMMARY_SUMS, NULL, &s))
		return 1;
	p = read_plain(&v, &s);
	for (i = 0; i < s.count; i++)
		compare_values(&s.list[i], &p, p.values[i]);
	return 0;
}

int main(int argc, char **argv)
{
	int i;

	if (argc == 3 && !strcmp(argv[1], "--plain"))
		return run_plain(argv[2]);
	test_quantiles();
	for (i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];

		compare_file(argv[i], name);
		test_index(argv[i], name);
		test_lies(argv[i], name);
	}
	printf("1..%u\n", tests);
	return failed;
}
