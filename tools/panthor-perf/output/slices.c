// SPDX-License-Identifier: MIT
/*
 * A sample belongs where its middle is, as a whole. Which mark that is behind is not known before all marks up to
 * there have come, and a mark may come behind samples that are later: the latest samples are held back. A mark
 * that comes behind those, or too many at a time, leaves what it ends and what it begins without sums: those that
 * are told are exact.
 */
#include "slices.h"

#include <stdlib.h>

/* Samples that end so long before the latest have waited for marks long enough; and as many wait at the most. */
#define HOLD_NS 100000000ull
#define MAX_SAMPLES 256

/* Marks that wait for the samples before them. */
#define MAX_MARKS 4096

struct slices {
	slices_mark *mark;
	void *context;

	/* Of what lasts: whether it has a name, and whether its sums are all of it. */
	struct pperf_sums *sums;
	bool named, known;

	/* Where the latest sample ended that has come, and the middle of the latest that was counted. */
	uint64_t end_ns, counted_ns;
	bool counted;

	/* The time of the latest mark. */
	uint64_t mark_ns;

	/* Those that wait, from the oldest on. */
	struct pperf_sample *samples[MAX_SAMPLES];
	unsigned int first_sample, num_samples;
	struct recording_mark marks[MAX_MARKS];
	unsigned int first_mark, num_marks;
};

enum pperf_error slices_new(const struct pperf_db *db, const struct pperf_gpu_info *info, slices_mark *mark,
			    void *context, struct slices **slices)
{
	struct slices *s = calloc(1, sizeof(*s));
	enum pperf_error error;

	if (!s)
		return PPERF_ERROR_NO_MEMORY;
	error = pperf_sums_new(db, info, &s->sums);
	if (error) {
		free(s);
		return error;
	}
	s->mark = mark;
	s->context = context;
	*slices = s;
	return PPERF_OK;
}

void slices_free(struct slices *s)
{
	if (!s)
		return;
	for (; s->num_samples; s->num_samples--)
		pperf_sample_free(s->samples[(s->first_sample + s->num_samples - 1) % MAX_SAMPLES]);
	pperf_sums_free(s->sums);
	free(s);
}

/* Ends what lasts. In time: no sample was counted that is behind the mark, and none comes that is before it. */
static enum pperf_error pass_mark(struct slices *s, const struct recording_mark *mark, bool in_time)
{
	enum pperf_error error = s->mark(s->context, mark, s->known && in_time ? s->sums : NULL);

	if (s->named)
		pperf_sums_reset(s->sums);
	s->named = *mark->name;
	s->known = in_time;
	return error;
}

static enum pperf_error pass_oldest_mark(struct slices *s, bool in_time)
{
	const struct recording_mark *mark = &s->marks[s->first_mark];

	s->first_mark = (s->first_mark + 1) % MAX_MARKS;
	s->num_marks--;
	return pass_mark(s, mark, in_time);
}

static enum pperf_error count_oldest_sample(struct slices *s)
{
	struct pperf_sample *sample = s->samples[s->first_sample];
	enum pperf_error error = PPERF_OK;

	s->first_sample = (s->first_sample + 1) % MAX_SAMPLES;
	s->num_samples--;
	s->counted_ns = sample->start_ns + (sample->end_ns - sample->start_ns) / 2;
	s->counted = true;
	while (!error && s->num_marks && s->marks[s->first_mark].time_ns <= s->counted_ns)
		error = pass_oldest_mark(s, true);
	if (!error && s->named)
		error = pperf_sums_add(s->sums, sample);
	pperf_sample_free(sample);
	return error;
}

enum pperf_error slices_add_mark(struct slices *s, const struct recording_mark *mark)
{
	enum pperf_error error;

	s->mark_ns = mark->time_ns;
	/* Others do not wait then, for they are before it. */
	if (s->counted && mark->time_ns <= s->counted_ns)
		return pass_mark(s, mark, false);
	if (s->num_marks == MAX_MARKS) {
		error = pass_oldest_mark(s, false);
		if (error)
			return error;
	}
	s->marks[(s->first_mark + s->num_marks++) % MAX_MARKS] = *mark;
	return PPERF_OK;
}

enum pperf_error slices_add_sample(struct slices *s, const struct pperf_sample *sample)
{
	enum pperf_error error = PPERF_OK;

	if (s->num_samples == MAX_SAMPLES)
		error = count_oldest_sample(s);
	if (!error)
		error = pperf_sample_copy(sample, &s->samples[(s->first_sample + s->num_samples) % MAX_SAMPLES]);
	if (error)
		return error;
	s->num_samples++;
	s->end_ns = sample->end_ns;
	while (!error && s->end_ns - s->samples[s->first_sample]->end_ns >= HOLD_NS)
		error = count_oldest_sample(s);
	return error;
}

enum pperf_error slices_end(struct slices *s)
{
	const struct recording_mark end = { .time_ns = s->end_ns > s->mark_ns ? s->end_ns : s->mark_ns };
	enum pperf_error error = PPERF_OK;

	while (!error && s->num_samples)
		error = count_oldest_sample(s);
	while (!error && s->num_marks)
		error = pass_oldest_mark(s, true);
	return error || !s->named ? error : pass_mark(s, &end, true);
}
