// SPDX-License-Identifier: MIT
/* What writing and reading a recording have in common. */
#include "recording.h"

#include <string.h>

/* The first byte is not text, and the line ends show a transfer as text. */
const char recording_magic[8] = { '\x89', 'P', 'P', 'D', '\r', '\n', '\x1a', '\n' };

const char *const recording_reasons[4] = { "command", "interrupt", "gpu", "failure" };

int recording_layout_make(struct recording_layout *layout, const struct recording_head *head)
{
	unsigned int type, index, value;

	memset(layout, 0, sizeof(*layout));
	layout->fields = RECORDING_FIELDS;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		if (head->gpu.blocks[type] > RECORDING_MAX_BLOCKS)
			return -1;

		for (value = PPERF_FIRST_COUNTER; value < head->gpu.values_per_block; value++)
			if (head->masks.bits[type][value / 64] >> (value % 64) & 1)
				layout->indices[type][layout->counters[type]++] = value;

		for (index = 0; index < head->gpu.blocks[type]; index++) {
			layout->types[layout->blocks++] = type;
			layout->fields += 1 + layout->counters[type];
		}
	}
	return 0;
}
