/* SPDX-License-Identifier: MIT */
/*
 * Regions as they come: from each mark to the next, with the sums of the samples between, in memory that does not
 * grow. Regions of the same name have the sums that region-sums.h has, if theirs are added up.
 */
#ifndef PANTHOR_PERF_SLICES_H
#define PANTHOR_PERF_SLICES_H

#include "recording.h"

struct slices;

/*
 * Called for each mark, in their order, when all samples before it have come. The sums are those of what lasted
 * until then: those of nothing if that had no name, NULL if they are not known. An error ends all.
 */
typedef enum pperf_error slices_mark(void *context, const struct recording_mark *mark, const struct pperf_sums *sums);

/* The database and the info have to outlive it. */
enum pperf_error slices_new(const struct pperf_db *db, const struct pperf_gpu_info *info, slices_mark *mark,
			    void *context, struct slices **slices);
void slices_free(struct slices *slices);

/* What is found in a recording, in its order: a mark may come behind samples that are later. */
enum pperf_error slices_add_mark(struct slices *slices, const struct recording_mark *mark);
enum pperf_error slices_add_sample(struct slices *slices, const struct pperf_sample *sample);

/* Nothing comes any more. What still lasts ends with the samples, as if by a mark without a name. */
enum pperf_error slices_end(struct slices *slices);

#endif
