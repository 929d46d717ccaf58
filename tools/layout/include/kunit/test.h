/* SPDX-License-Identifier: MIT */
/*
 * As much of KUnit as the layout's tests use, for running them in userspace. A
 * parameter counts as a test of its own.
 */
#ifndef LAYOUT_KUNIT_TEST_H
#define LAYOUT_KUNIT_TEST_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/types.h>

#define KUNIT_PARAM_DESC_SIZE 128
#define GFP_KERNEL 0
#define static_assert _Static_assert

struct kunit_allocation {
	struct kunit_allocation *next;
	max_align_t data[];
};

struct kunit {
	const void *param_value;
	bool failed;
	jmp_buf abort;
	struct kunit_allocation *allocations;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char *name;
	struct kunit_case *test_cases;
};

int kunit_run_suite(const struct kunit_suite *suite);
void *kunit_kzalloc(struct kunit *test, size_t size, int gfp);

#define KUNIT_CASE(func) { .run_case = (func), .name = #func }
#define KUNIT_CASE_PARAM(func, gen) { .run_case = (func), .name = #func, .generate_params = (gen) }

#define kunit_test_suite(suite) int main(void) { return kunit_run_suite(&(suite)); }

#define KUNIT_ARRAY_PARAM(name, array, get_desc)					\
	static const void *name##_gen_params(const void *prev, char *desc)		\
	{										\
		__typeof__((array)[0]) *next = prev ? (__typeof__(next))prev + 1 : (array); \
											\
		if (next == (array) + ARRAY_SIZE(array))				\
			return NULL;							\
		get_desc(next, desc);							\
		return next;								\
	}

#define strscpy(dst, src, size) snprintf(dst, size, "%s", src)

#define KUNIT_FORMAT_(format, ...) format
#define KUNIT_FORMAT(...) __VA_OPT__(KUNIT_FORMAT_(__VA_ARGS__))
#define KUNIT_ARGS_(format, ...) __VA_OPT__(,) __VA_ARGS__
#define KUNIT_ARGS(...) __VA_OPT__(KUNIT_ARGS_(__VA_ARGS__))

#define KUNIT_COMPARE(test, fatal, left, op, right, ...)				\
	do {										\
		__auto_type l_ = (left);						\
		__typeof__(l_) r_ = (right);						\
											\
		if (!(l_ op r_)) {							\
			printf("# %s:%d: %s %s %s: %#llx, not %#llx" __VA_OPT__(". ")	\
			       KUNIT_FORMAT(__VA_ARGS__) "\n",				\
			       __FILE__, __LINE__, #left, #op, #right,			\
			       (unsigned long long)l_, (unsigned long long)r_		\
			       KUNIT_ARGS(__VA_ARGS__));				\
			(test)->failed = true;						\
			if (fatal)							\
				longjmp((test)->abort, 1);				\
		}									\
	} while (0)

#define KUNIT_EXPECT_EQ(test, l, r) KUNIT_COMPARE(test, false, l, ==, r)
#define KUNIT_EXPECT_LE(test, l, r) KUNIT_COMPARE(test, false, l, <=, r)
#define KUNIT_EXPECT_EQ_MSG(test, l, r, ...) KUNIT_COMPARE(test, false, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_EQ(test, l, r) KUNIT_COMPARE(test, true, l, ==, r)
#define KUNIT_ASSERT_EQ_MSG(test, l, r, ...) KUNIT_COMPARE(test, true, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_TRUE(test, x) KUNIT_COMPARE(test, false, (bool)(x), ==, true)
#define KUNIT_EXPECT_FALSE(test, x) KUNIT_COMPARE(test, false, (bool)(x), ==, false)
#define KUNIT_ASSERT_NOT_NULL(test, x) KUNIT_COMPARE(test, true, (uintptr_t)(x), !=, 0)
#define KUNIT_ASSERT_NULL(test, x) KUNIT_COMPARE(test, true, (uintptr_t)(x), ==, 0)

#define KUNIT_EXPECT_STREQ(test, l, r)							\
	do {										\
		const char *l_ = (l), *r_ = (r);					\
											\
		if (strcmp(l_, r_)) {							\
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n",			\
			       __FILE__, __LINE__, #l, l_, r_);				\
			(test)->failed = true;						\
		}									\
	} while (0)

#define KUNIT_FAIL(test, ...)								\
	do {										\
		printf("# " __VA_ARGS__);						\
		printf("\n");								\
		(test)->failed = true;							\
	} while (0)

#endif
