/* SPDX-License-Identifier: MIT */
/* Names, places and equations of the counters of all GPUs. */
#ifndef PANTHOR_PERF_DATA_H
#define PANTHOR_PERF_DATA_H

#include <stddef.h>
#include <stdint.h>

/* A GPU product. */
struct product {
	/* Marketing name. */
	const char *name;

	/* Name of its counter layout. */
	const char *layout;
};

/* A counter, of hardware or derived from others. */
struct counter {
	/* Block type (enum drm_panthor_perf_block_type); 0 if derived. */
	unsigned int type;

	/* Index of the value in the block; 0 if derived. */
	unsigned int index;

	/* Name in hardware documents; NULL if derived. */
	const char *source;

	/* Name in equations; the source name if there is no public description. */
	const char *name;

	/* Name for people. */
	const char *title;

	/* What it belongs to, for people. */
	const char *group;

	/* What is counted. */
	const char *unit;

	/* Equation over names; NULL if counted by hardware. */
	const char *equation;
};

/* The counters of a layout, those of hardware first. */
struct counters {
	struct counter *list;
	size_t count;

	/* What the strings point into. */
	char *text[2];
};

/* Names of the block types, by enum drm_panthor_perf_block_type. */
extern const char *const block_names[7];

/* Finds the product of a GPU_ID. Returns -1 if it is unknown. */
int data_product(uint32_t gpu_id, struct product *product);

/* Finds a product by its name, with or without "Mali-", in any case. */
int data_product_by_name(const char *name, struct product *product);

/* Reads the counters of a layout. Returns -1 without memory. */
int data_counters(const char *layout, struct counters *counters);

void data_free(struct counters *counters);

/* Splits off the next row of comma-separated values. Returns its fields, 0 at the end. */
unsigned int csv_row(char **text, char **fields, unsigned int max);

#endif
