// SPDX-License-Identifier: MIT
/* Samples, wherever they are from, and what is to be told of them. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void pperf_struct_copy(void *to, size_t to_size, const void *from, size_t from_size)
{
	size_t both = to_size < from_size ? to_size : from_size;

	memcpy(to, from, both);
	memset((char *)to + both, 0, to_size - both);
}

enum pperf_error pperf_info_take(struct pperf_gpu_info *copy, const struct pperf_gpu_info *info)
{
	if (info->size < SIZE_0_3(struct pperf_gpu_info, interface_known))
		return pperf_fail(PPERF_ERROR_INVALID, "pperf_gpu_info::size is %zu, but must be sizeof(struct pperf_gpu_info)",
				  info->size);
	pperf_struct_copy(copy, sizeof(*copy), info, info->size);
	return PPERF_OK;
}

unsigned int pperf_info_first_block(const struct pperf_gpu_info *info, unsigned int type)
{
	unsigned int t, n = 0;

	for (t = 1; t < type && t < PPERF_BLOCK_TYPES; t++)
		n += info->blocks[t];
	return n;
}

unsigned int pperf_info_blocks(const struct pperf_gpu_info *info)
{
	return pperf_info_first_block(info, PPERF_BLOCK_TYPES);
}

const struct pperf_block *pperf_sample_block_at(const struct pperf_sample *sample, unsigned int position)
{
	return (const void *)((const char *)sample->blocks + position * sample->block_size);
}

const struct pperf_block *pperf_sample_block(const struct pperf_sample *sample, unsigned int type,
					     unsigned int index)
{
	unsigned int i;

	for (i = 0; i < sample->num_blocks; i++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, i);

		if (block->type == type && block->index == index)
			return block;
	}
	return NULL;
}

uint64_t pperf_sample_total(const struct pperf_sample *sample, const struct pperf_counter *counter)
{
	unsigned int i, n = counter->index;
	uint64_t total = 0;

	for (i = 0; i < sample->num_blocks; i++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, i);

		if (block->type == counter->type && block->enabled[n / 64] >> (n % 64) & 1)
			total += block->values[n];
	}
	return total;
}

static enum pperf_error check_sizes(const struct pperf_sample *sample)
{
	if (sample->size >= SIZE_0_3(struct pperf_sample, last) &&
	    sample->block_size >= SIZE_0_3(struct pperf_block, values))
		return PPERF_OK;
	return pperf_fail(PPERF_ERROR_INVALID, "pperf_sample::size is %zu and block_size is %zu, but they must be the sizes of "
			  "struct pperf_sample and struct pperf_block", sample->size, sample->block_size);
}

/* A copy, and behind it the blocks and all their values. */
enum pperf_error pperf_sample_copy(const struct pperf_sample *sample, struct pperf_sample **out)
{
	size_t values = sizeof(uint64_t) * sample->num_values;
	enum pperf_error error = check_sizes(sample);
	struct pperf_sample *copy;
	struct pperf_block *blocks;
	unsigned int i;
	char *at;

	if (error)
		return error;
	copy = malloc(sizeof(*copy) + sample->num_blocks * (sizeof(*blocks) + values));
	if (!copy)
		return pperf_no_memory();

	pperf_struct_copy(copy, sizeof(*copy), sample, sample->size);
	copy->size = sizeof(*copy);
	copy->block_size = sizeof(*blocks);
	copy->blocks = blocks = (struct pperf_block *)(copy + 1);
	at = (char *)(blocks + sample->num_blocks);
	for (i = 0; i < sample->num_blocks; i++, at += values) {
		const struct pperf_block *block = pperf_sample_block_at(sample, i);

		pperf_struct_copy(&blocks[i], sizeof(*blocks), block, sample->block_size);
		/* None need be there of a block of which nothing is enabled. */
		blocks[i].values = block->values ? memcpy(at, block->values, values) : memset(at, 0, values);
	}
	*out = copy;
	return PPERF_OK;
}

void pperf_sample_free(struct pperf_sample *copy)
{
	free(copy);
}

enum pperf_error pperf_sample_check(const struct pperf_sample *sample, const struct pperf_gpu_info *info)
{
	enum pperf_error error = check_sizes(sample);
	unsigned int type, index, n = 0;

	if (error)
		return error;
	if (info->values_per_block != 64 && info->values_per_block != PPERF_MAX_VALUES)
		return pperf_fail(PPERF_ERROR_INVALID, "pperf_gpu_info::values_per_block is %u, but must be 64 or %u",
				  info->values_per_block, PPERF_MAX_VALUES);
	if (sample->num_values != info->values_per_block)
		return pperf_fail(PPERF_ERROR_BROKEN, "the blocks of a sample have %u values instead of %u", sample->num_values,
				  info->values_per_block);
	if (sample->num_blocks != pperf_info_blocks(info))
		return pperf_fail(PPERF_ERROR_BROKEN, "a sample has %u blocks instead of %u",
				  sample->num_blocks, pperf_info_blocks(info));

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = 0; index < info->blocks[type]; index++, n++) {
			const struct pperf_block *block = pperf_sample_block_at(sample, n);

			if (block->type != type || block->index != index)
				return pperf_fail(PPERF_ERROR_BROKEN,
						  "block %u of a sample is %u.%u instead of %u.%u", n,
						  block->type, block->index, type, index);
			if (info->values_per_block <= 64 && block->enabled[1])
				return pperf_fail(PPERF_ERROR_BROKEN, "block %u of a sample has values "
						  "that do not exist", n);
		}
	}
	return PPERF_OK;
}

void pperf_sample_masks(const struct pperf_sample *sample, struct pperf_masks *masks)
{
	unsigned int i;

	*masks = (struct pperf_masks){};
	for (i = 0; i < sample->num_blocks; i++) {
		const struct pperf_block *block = pperf_sample_block_at(sample, i);

		if (block->type >= PPERF_BLOCK_TYPES)
			continue;
		if (!block->index) {
			masks->bits[block->type][0] = block->enabled[0];
			masks->bits[block->type][1] = block->enabled[1];
		} else {
			masks->bits[block->type][0] &= block->enabled[0];
			masks->bits[block->type][1] &= block->enabled[1];
		}
	}
}

bool pperf_sample_slept(const struct pperf_sample *sample)
{
	const struct pperf_block *front_end = pperf_sample_block(sample, PPERF_BLOCK_CSHW, 0);

	return front_end && front_end->states & PPERF_STATE_OFF;
}

double pperf_elapsed_cycles(struct clock_rate *rate, const struct pperf_gpu_info *info, double seconds, double cycles,
			    bool slept)
{
	double elapsed;

	if (!rate->hz)
		rate->hz = info->toplevel_hz;

	if (!slept) {
		if (seconds > 0 && cycles > 0) {
			rate->hz = cycles / seconds;
			rate->measured = true;
		}
		return cycles;
	}

	elapsed = rate->hz * seconds;
	if (!rate->hz)
		return 0;
	return elapsed > cycles ? elapsed : cycles;
}

enum pperf_error pperf_log_add(struct pperf_log *log, const struct pperf_sample *sample)
{
	uint64_t length = sample->end_ns - sample->start_ns;
	unsigned int i;

	if (log->size < SIZE_0_3(struct pperf_log, longest_ns))
		return pperf_fail(PPERF_ERROR_INVALID, "pperf_log::size is %zu, but must be sizeof(struct pperf_log)", log->size);

	if (!log->samples) {
		log->start_ns = sample->start_ns;
	} else if (sample->start_ns != log->end_ns) {
		log->gaps++;
		if (sample->start_ns > log->end_ns)
			log->gap_ns += sample->start_ns - log->end_ns;
	}
	log->end_ns = sample->end_ns;
	if (length > log->longest_ns)
		log->longest_ns = length;

	log->samples++;
	log->overflowed += !!(sample->flags & PPERF_SAMPLE_OVERFLOW);
	log->failed += !!(sample->flags & PPERF_SAMPLE_ERROR);
	log->stretched += !!(sample->flags & PPERF_SAMPLE_STRETCHED);

	for (i = 0; i < sample->num_blocks; i++) {
		if (pperf_sample_block_at(sample, i)->states & PPERF_STATE_PROTECTED) {
			log->in_protected++;
			break;
		}
	}
	return PPERF_OK;
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static uint64_t power_of_10(unsigned int n)
{
	return n ? 10 * power_of_10(n - 1) : 1;
}

#define NUMBER_SIZE 32

/* 12345678 as 12,345,678. */
static const char *grouped(uint64_t number, char text[NUMBER_SIZE])
{
	char digits[NUMBER_SIZE], *to = text;
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, number), i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return text;
}

/* A number divided by 10^exponent, with so many digits behind a point that is one in every locale. */
static const char *decimal(uint64_t number, unsigned int exponent, unsigned int digits, char text[NUMBER_SIZE])
{
	uint64_t unit = power_of_10(exponent - digits), rounded = number / unit + (number % unit >= unit / 2);
	size_t length;

	grouped(rounded / power_of_10(digits), text);
	length = strlen(text);
	snprintf(text + length, NUMBER_SIZE - length, ".%0*" PRIu64, (int)digits, rounded % power_of_10(digits));
	return text;
}

/* Nanoseconds as seconds, without zeros at the end: "0.24", "10". */
static const char *seconds(uint64_t ns, char text[NUMBER_SIZE])
{
	char *end;

	decimal(ns, 9, 6, text);
	for (end = text + strlen(text); end[-1] == '0'; end--)
		;
	*(end[-1] == '.' ? end - 1 : end) = 0;
	return text;
}

bool pperf_log_text(const struct pperf_log *log, unsigned int number, char *text, size_t size)
{
	const uint64_t all = log->samples;
	char first[NUMBER_SIZE], second[NUMBER_SIZE], longest[NUMBER_SIZE], mean[NUMBER_SIZE];

	if (log->overflowed && !number--) {
		snprintf(text, size, "Counts may be missing in %s of %s sample%s: a counter reached its maximum, or firmware had "
			 "no room for a sample.", grouped(log->overflowed, first), grouped(all, second), plural(all));
		return true;
	}
	if (log->failed && !number--) {
		snprintf(text, size, "Counts may be missing in %s of %s sample%s: the GPU was reset or failed.",
			 grouped(log->failed, first), grouped(all, second), plural(all));
		return true;
	}
	if (log->stretched && !number--) {
		snprintf(text, size, "%s of %s sample%s cover%s more than one period (longest %s ms, mean %s ms): the kernel or "
			 "panthor-perf was late. No counts are missing.", grouped(log->stretched, first), grouped(all, second),
			 plural(all), log->stretched == 1 ? "s" : "", decimal(log->longest_ns, 6, 3, longest),
			 decimal((log->end_ns - log->start_ns - log->gap_ns) / all, 6, 3, mean));
		return true;
	}
	if (log->gaps && !number--) {
		snprintf(text, size, "%s gap%s between samples, %s s in total, %s not counted.", grouped(log->gaps, first),
			 plural(log->gaps), seconds(log->gap_ns, second), log->gaps == 1 ? "was" : "were");
		return true;
	}
	if (log->in_protected && !number--) {
		snprintf(text, size, "The GPU was in protected mode, where it cannot count and looks idle, in %s of %s sample%s.",
			 grouped(log->in_protected, first), grouped(all, second), plural(all));
		return true;
	}
	if (size)
		*text = 0;
	return false;
}
