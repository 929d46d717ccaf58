// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "board.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEVICE_TREE "/sys/firmware/devicetree/base"
#define DMI "/sys/class/dmi/id"

/* Read a file of strings, with a comma between them. */
static void read_strings(const char *directory, const char *name, char *text, size_t size)
{
	char path[PATH_MAX];
	size_t length = 0, i;
	FILE *file;
	int c;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	file = fopen(path, "re");
	/* In a device tree each has a zero at its end, elsewhere a newline. */
	while (file && length + 3 < size && (c = fgetc(file)) != EOF) {
		if (c && c != '\n') {
			text[length++] = c;
		} else {
			text[length++] = ',';
			text[length++] = ' ';
		}
	}
	if (file)
		fclose(file);
	for (i = length; i > 0 && strchr(", ", text[i - 1]); i--)
		;
	text[i] = '\0';
}

void board_read(struct board *board, const char *sysfs)
{
	char node[PATH_MAX], path[PATH_MAX + 16];

	memset(board, 0, sizeof(*board));
	board->memory = "";
	read_strings(DEVICE_TREE, "model", board->name, sizeof(board->name));
	read_strings(DEVICE_TREE, "compatible", board->compatible, sizeof(board->compatible));
	if (!board->name[0])
		read_strings(DMI, "product_name", board->name, sizeof(board->name));
	if (!sysfs)
		return;
	snprintf(node, sizeof(node), "%s/of_node", sysfs);
	if (access(node, F_OK))
		return;
	read_strings(node, "clock-names", board->clocks, sizeof(board->clocks));
	snprintf(path, sizeof(path), "%s/dma-coherent", node);
	board->memory = access(path, F_OK) ? "not coherent" : "coherent";
}

bool board_has_bus_clock(const struct board *board, const struct pperf_gpu_info *gpu)
{
	return strstr(board->clocks, "coregroup") && !(gpu->clocks & 1u << PPERF_CLOCK_COREGROUP);
}

void board_positions(const struct pperf_gpu_info *gpu, char *text, size_t size)
{
	size_t length = 0;
	unsigned int i;

	text[0] = '\0';
	if ((unsigned int)__builtin_popcountll(gpu->shader_present) != gpu->cores)
		return;
	for (i = 0; i < 64 && length < size; i++)
		if (gpu->shader_present >> i & 1)
			length += snprintf(text + length, size - length, "%s%u", length ? ", " : "", i);
}
