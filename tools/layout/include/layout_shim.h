/* SPDX-License-Identifier: MIT */
/* What panthor_perf_layout.c takes from the kernel's headers, for building it in userspace. */
#ifndef LAYOUT_SHIM_H
#define LAYOUT_SHIM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <asm/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;

#define U32_MAX			((u32)~0u)
#define U64_MAX			((u64)~0ull)

#define BIT(n)			(1ul << (n))
#define BIT_ULL(n)		(1ull << (n))
#define GENMASK(h, l)		((~0ul >> (8 * sizeof(long) - 1 - (h))) & (~0ul << (l)))
#define GENMASK_ULL(h, l)	((~0ull >> (63 - (h))) & (~0ull << (l)))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define lower_32_bits(n)	((u32)(n))
#define upper_32_bits(n)	((u32)((u64)(n) >> 32))

#define __aligned(n)		__attribute__((aligned(n)))
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))
#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#define BUILD_BUG_ON(x)		_Static_assert(!(x), #x)

#ifndef WRITE_ONCE
#define WRITE_ONCE(x, v)	(*(volatile __typeof__(x) *)&(x) = (v))
#endif
#ifndef READ_ONCE
#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#endif

static inline u32 __ffs64(u64 x)
{
	return __builtin_ctzll(x);
}

static inline u32 fls64(u64 x)
{
	return x ? 64 - __builtin_clzll(x) : 0;
}

static inline u32 hweight64(u64 x)
{
	return __builtin_popcountll(x);
}

#endif
