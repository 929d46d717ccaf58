// SPDX-License-Identifier: MIT
/*
 * Labels that programs put around parts of their work become regions. The region's name is that of the label, behind the
 * names of the labels around it. Labels belong to a thread of GL or a queue of Vulkan, which nobody else uses at the same
 * time: there is no lock. Labels that a program leaves open end with its frame.
 */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "frames.h"

/* Levels of labels that are regions, and owners that have labels. More of them are no regions. */
#define MAX_DEPTH 16
#define MAX_OWNERS 64

struct labels {
	/* NULL: nobody's yet. It stays whose it is. */
	const void *owner;

	/* Labels are of this frame: in a later one there are none left. */
	unsigned long frame;

	/* How many are open, which may be more than there is room for; path ends there with that many of them. */
	unsigned int depth;
	unsigned char ends[MAX_DEPTH];
	char path[PPERF_MARK_LENGTH];
};

static struct labels owners[MAX_OWNERS];
static unsigned long frame;

/* The process whose label is the region that there is, or 0. */
static pid_t marked;

static struct labels *labels_of(const void *owner)
{
	struct labels *l;

	for (l = owners; l < owners + MAX_OWNERS; l++) {
		const void *now = NULL;

		if (__atomic_compare_exchange_n(&l->owner, &now, owner, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) || now == owner)
			break;
	}
	if (l == owners + MAX_OWNERS)
		return NULL;
	if (l->frame != __atomic_load_n(&frame, __ATOMIC_RELAXED)) {
		l->frame = __atomic_load_n(&frame, __ATOMIC_RELAXED);
		l->depth = 0;
	}
	return l;
}

/* So much of the path is the region now; none if it is empty. */
static void mark(const struct labels *l, size_t length)
{
	char name[PPERF_MARK_LENGTH + 1];

	memcpy(name, l->path, length);
	name[length] = 0;
	__atomic_store_n(&marked, length ? getpid() : 0, __ATOMIC_RELAXED);
	pperf_mark(length ? name : NULL);
}

/* Adds a name to the path, which has a length, as far as there is room. Returns its new length. */
static size_t add_name(struct labels *l, size_t length, const char *name, size_t size)
{
	size_t begin = length ? length + 1 : 0, end = begin, i;

	for (i = 0; i < size && name[i] && end < sizeof(l->path); i++)
		l->path[end++] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? ' ' : name[i];
	/* Characters of UTF-8 are not cut. */
	if (end == sizeof(l->path) && i < size && ((unsigned char)name[i] & 0xc0) == 0x80)
		while (end > begin && ((unsigned char)l->path[--end] & 0xc0) == 0x80)
			;
	if (end <= begin)
		return length;
	if (length)
		l->path[length] = '/';
	return end;
}

void labels_begin(const void *owner, const char *name, size_t size)
{
	struct labels *l = labels_wanted && name ? labels_of(owner) : NULL;
	size_t before;

	if (!l || l->depth++ >= MAX_DEPTH)
		return;
	before = l->depth > 1 ? l->ends[l->depth - 2] : 0;
	l->ends[l->depth - 1] = add_name(l, before, name, size);
	if (l->ends[l->depth - 1] > before)
		mark(l, l->ends[l->depth - 1]);
}

void labels_end(const void *owner)
{
	struct labels *l = labels_wanted ? labels_of(owner) : NULL;
	size_t left;

	if (!l || !l->depth || --l->depth >= MAX_DEPTH)
		return;
	left = l->depth ? l->ends[l->depth - 1] : 0;
	if (left < l->ends[l->depth])
		mark(l, left);
}

static void end_region(void)
{
	pid_t self = getpid();

	if (__atomic_compare_exchange_n(&marked, &self, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		pperf_mark(NULL);
}

void labels_end_frame(void)
{
	if (!labels_wanted)
		return;
	__atomic_fetch_add(&frame, 1, __ATOMIC_RELAXED);
	end_region();
}

/* A program that ends within a label. */
static void __attribute__((destructor)) end_last(void)
{
	end_region();
}
