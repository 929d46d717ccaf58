/* SPDX-License-Identifier: MIT */
/*
 * Put in front of panthor_perf_layout.c to count its accesses to the ring. The
 * ring is not where the layout believes it to be: any access that is not
 * counted here faults.
 */
#ifndef LAYOUT_COUNTED_H
#define LAYOUT_COUNTED_H

#include <stddef.h>
#include <string.h>

/* Counts, and finds the true address of an address in the ring; NULL for any other. */
void *ring_access(const volatile void *p, size_t size, int write);

static inline void *counted_memcpy(void *dst, const void *src, size_t size)
{
	void *ring = ring_access(src, size, 0);

	return (memcpy)(dst, ring ? ring : src, size);
}

#define memcpy(dst, src, size) counted_memcpy(dst, src, size)

#define WRITE_ONCE(x, v)								\
	do {										\
		volatile __typeof__(x) *true_ = ring_access(&(x), sizeof(x), 1);	\
											\
		*(true_ ? true_ : &(x)) = (v);						\
	} while (0)

#endif
