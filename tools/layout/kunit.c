// SPDX-License-Identifier: MIT
/* Runs a KUnit suite in userspace and prints TAP. */

#include <kunit/test.h>

void *kunit_kzalloc(struct kunit *test, size_t size, int gfp)
{
	struct kunit_allocation *allocation = calloc(1, sizeof(*allocation) + size);

	(void)gfp;
	if (!allocation)
		return NULL;

	allocation->next = test->allocations;
	test->allocations = allocation;
	return allocation->data;
}

static bool run_one(const struct kunit_case *c, const void *param)
{
	struct kunit test = { .param_value = param };
	struct kunit_allocation *next;

	if (!setjmp(test.abort))
		c->run_case(&test);

	for (; test.allocations; test.allocations = next) {
		next = test.allocations->next;
		free(test.allocations);
	}

	return !test.failed;
}

static unsigned int count(const struct kunit_suite *suite)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	const struct kunit_case *c;
	const void *param = NULL;
	unsigned int n = 0;

	for (c = suite->test_cases; c->run_case; c++) {
		if (!c->generate_params) {
			n++;
			continue;
		}
		while ((param = c->generate_params(param, desc)))
			n++;
	}

	return n;
}

int kunit_run_suite(const struct kunit_suite *suite)
{
	char desc[KUNIT_PARAM_DESC_SIZE];
	const struct kunit_case *c;
	const void *param = NULL;
	unsigned int n = 0;
	int status = 0;
	bool ok;

	printf("1..%u\n", count(suite));
	for (c = suite->test_cases; c->run_case; c++) {
		if (!c->generate_params) {
			ok = run_one(c, NULL);
			printf("%sok %u - %s\n", ok ? "" : "not ", ++n, c->name);
			status |= !ok;
			continue;
		}

		while ((param = c->generate_params(param, desc))) {
			ok = run_one(c, param);
			printf("%sok %u - %s: %s\n", ok ? "" : "not ", ++n, c->name, desc);
			status |= !ok;
		}
	}

	return status;
}
