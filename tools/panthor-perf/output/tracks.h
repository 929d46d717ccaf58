/* SPDX-License-Identifier: MIT */
/*
 * What of samples is drawn over time. Every value that a sample has, and every one that follows from it, is a
 * track with a name of its own. Counts are rates, so that a long sample is not higher than others.
 */
#ifndef PANTHOR_PERF_TRACKS_H
#define PANTHOR_PERF_TRACKS_H

#include "recording.h"

/* Groups and units, by their numbers in Perfetto's GpuCounterDescriptor. */
enum { UNCLASSIFIED, SYSTEM, VERTICES, FRAGMENTS, PRIMITIVES, MEMORY, COMPUTE, RAY_TRACING };
enum { NONE = 0, BYTE = 7, HERTZ = 13, SECOND = 22, VERTEX = 25, PIXEL = 26, PERCENT = 37, PRIMITIVE = 38, INSTRUCTION = 40 };

/* Where tracks come from; each is shown together, and those of block types one block together. */
enum source { SOURCE_LOAD, SOURCE_CLOCK, SOURCE_TOPDOWN, SOURCE_METRIC, SOURCE_COUNTER, SOURCE_BLOCK_METRIC };

enum load { LOAD_OF_TIME, LOAD_OF_CYCLES, LOAD_FLAGS };

struct track {
	enum source source;
	char *name, *description;
	int group, unit, per;

	/* True, unless somebody chooses among them. */
	bool wanted;

	/* By source: an enum load, a clock, a node, a counter, and its block: position in a sample, type, number. */
	enum load load;
	enum pperf_clock clock;
	const struct pperf_topdown_node *node;
	const struct pperf_counter *counter;
	unsigned int block, type, index;
};

struct tracks {
	const struct pperf_gpu_info *gpu;
	const struct pperf_masks *masks;
	struct pperf_db *db;

	/* What the samples that were added have. */
	struct pperf_sums *sums;

	/* NULL if the counters recorded are not enough for it. */
	struct pperf_topdown *topdown;

	struct track *list;
	size_t count, room;
};

/* Finds all that a recording with this head has, which has to outlive them. tracks_close() must be called in any case. */
enum pperf_error tracks_open(struct tracks *tracks, const struct recording_head *head);
void tracks_close(struct tracks *tracks);

/* True if tracks that follow each other are shown together, and what that is called: NULL without memory. */
bool tracks_same_block(const struct track *a, const struct track *b);
char *tracks_block_name(const struct tracks *tracks, const struct track *track);

/* All tracks, or none, are wanted from here on. */
void tracks_want(struct tracks *tracks, bool wanted);

/* Finds what has to be enabled for the tracks that are wanted; what only others need is not looked at any more. */
enum pperf_error tracks_needs(struct tracks *tracks, struct pperf_masks *masks);

/* Back to nothing, and a sample more. */
void tracks_reset(struct tracks *tracks);
enum pperf_error tracks_add(struct tracks *tracks, const struct pperf_sample *sample);

/* What a track has of the samples that were added, as of so much time, which is not 0. The load is theirs. */
double tracks_value(const struct tracks *tracks, const struct track *track, uint64_t length_ns,
		    const struct pperf_load *load);

#endif
