// SPDX-License-Identifier: MIT
#define _GNU_SOURCE

#include "select.h"
#include "expr.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Equations refer to each other; the data has no deeper chain than a few. */
#define MAX_NESTING 16

/*
 * In the order they are shown. Products that do not have one go without it; a
 * name's successors on newer products stand beside it.
 */
static const char *const defaults[] = {
	"MaliGPUActiveCy", "MaliGPUAnyQueueActiveCy", "MaliCSFMCUActiveCy",
	"MaliVertQueuedCy", "MaliBinningQueuedCy", "MaliCompQueuedCy", "MaliFragQueuedCy",
	"MaliMainQueuedCy",
	"MaliTilerActiveCy", "MaliTilerUtil", "MaliGeomTotalPrim", "MaliGeomVisiblePrim",
	"MaliAnyActiveCy", "MaliCoreActiveCy", "MaliCoreUtil", "MaliFragWarp", "MaliNonFragWarp",
	"MaliALUUtil", "MaliLSUtil", "MaliTexUtil", "MaliVarUtil",
	"MaliL2CacheLookup", "MaliL2CacheRdMissRate", "MaliExtBusRdBy", "MaliExtBusWrBy",
	"MaliExtBusRdStallRate", "MaliExtBusWrStallRate",
};

struct context {
	const struct counters *counters;
	const struct config *config;
	const struct sums *sums;

	/* What the equation needs, if that is all that is asked. */
	uint64_t (*masks)[2];
	int nesting;
};

const struct counter *select_find(const struct counters *counters, const char *name)
{
	size_t i;

	for (i = 0; i < counters->count; i++)
		if (!strcmp(counters->list[i].name, name))
			return &counters->list[i];
	return NULL;
}

static int evaluate(struct context *c, const struct counter *counter, double *value);

static int lookup(void *context, const char *name, double *value)
{
	const struct counter *counter;
	struct context *c = context;

	if (!strcmp(name, "MALI_CONFIG_SHADER_CORE_COUNT")) {
		*value = c->config ? c->config->cores : 1;
	} else if (!strcmp(name, "MALI_CONFIG_L2_CACHE_COUNT")) {
		*value = c->config ? c->config->slices : 1;
	} else if (!strcmp(name, "MALI_CONFIG_EXT_BUS_BYTE_SIZE")) {
		*value = c->config ? c->config->bus_bytes : 1;
	} else if (!strcmp(name, "MALI_CONFIG_TIME_SPAN")) {
		*value = c->sums ? c->sums->seconds : 1;
	} else {
		counter = select_find(c->counters, name);
		return counter ? evaluate(c, counter, value) : -1;
	}
	return 0;
}


static int evaluate(struct context *c, const struct counter *counter, double *value)
{
	int ret;

	if (!counter->equation) {
		if (c->masks)
			c->masks[counter->type][counter->index / 64] |= 1ull << (counter->index % 64);
		*value = c->sums ? c->sums->value[counter->type][counter->index] : 1;
		return 0;
	}

	if (c->nesting == MAX_NESTING)
		return -1;

	c->nesting++;
	ret = expr_eval(counter->equation, lookup, c, value);
	c->nesting--;
	return ret;
}

int select_value(const struct counters *counters, const struct counter *counter,
		 const struct config *config, const struct sums *sums, double *value)
{
	struct context c = { .counters = counters, .config = config, .sums = sums };

	if (evaluate(&c, counter, value) || !isfinite(*value))
		return -1;
	return 0;
}

static int choose(struct selection *s, const struct counter *counter)
{
	struct context c = { .counters = s->counters, .masks = s->masks };
	const struct counter **chosen;
	double ignored;
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->chosen[i] == counter)
			return 0;

	chosen = reallocarray(s->chosen, s->count + 1, sizeof(*chosen));
	if (!chosen)
		return -1;

	s->chosen = chosen;
	s->chosen[s->count++] = counter;
	evaluate(&c, counter, &ignored);
	return 0;
}

static bool matches(const struct counter *counter, const char *pattern)
{
	char place[32];

	if (!strcasecmp(counter->name, pattern) || !strcasecmp(counter->title, pattern) ||
	    !fnmatch(pattern, counter->name, FNM_CASEFOLD))
		return true;

	if (counter->equation)
		return false;

	snprintf(place, sizeof(place), "%s.%u", block_names[counter->type], counter->index);
	return !strcasecmp(counter->source, pattern) || !strcasecmp(place, pattern) ||
	       !fnmatch(pattern, counter->source, FNM_CASEFOLD);
}

/* A counter that nothing is known of. */
static int choose_raw(struct selection *s, unsigned int type, unsigned int index)
{
	struct counter **raw, *counter;
	char *name;

	raw = reallocarray(s->raw, s->raw_count + 1, sizeof(*raw));
	if (!raw)
		return -1;
	s->raw = raw;

	counter = calloc(1, sizeof(*counter));
	if (!counter || asprintf(&name, "%s.%u", block_names[type], index) < 0) {
		free(counter);
		return -1;
	}

	counter->type = type;
	counter->index = index;
	counter->source = name;
	counter->name = name;
	counter->title = name;
	counter->group = "No description";
	counter->unit = "events";
	s->raw[s->raw_count++] = counter;
	return choose(s, counter);
}

static int add_raw(struct selection *s, const char *pattern)
{
	unsigned int type, index;
	char *end;
	size_t i, n;

	for (type = 1; type < BLOCK_TYPES; type++) {
		n = strlen(block_names[type]);
		if (strncasecmp(pattern, block_names[type], n) || pattern[n] != '.' ||
		    pattern[n + 1] < '0' || pattern[n + 1] > '9')
			continue;
		index = strtoul(pattern + n + 1, &end, 10);
		if (*end || index < 4 || index >= MAX_VALUES)
			return 0;
		for (i = 0; i < s->raw_count; i++)
			if (s->raw[i]->type == type && s->raw[i]->index == index)
				return 1;
		return choose_raw(s, type, index) ? -1 : 1;
	}
	return 0;
}

int select_add(struct selection *s, const char *pattern)
{
	int found = 0;
	size_t i;

	for (i = 0; i < s->counters->count; i++) {
		if (!matches(&s->counters->list[i], pattern))
			continue;
		if (choose(s, &s->counters->list[i]))
			return -1;
		found++;
	}
	return found ? found : add_raw(s, pattern);
}

int select_default(struct selection *s)
{
	const struct counter *counter;
	int found = 0;
	size_t i;

	for (i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		counter = select_find(s->counters, defaults[i]);
		if (!counter)
			continue;
		if (choose(s, counter))
			return -1;
		found++;
	}
	return found;
}

void select_free(struct selection *s)
{
	size_t i;

	for (i = 0; i < s->raw_count; i++) {
		free((char *)s->raw[i]->name);
		free(s->raw[i]);
	}
	free(s->raw);
	free(s->chosen);
	s->raw = NULL;
	s->raw_count = 0;
	s->chosen = NULL;
	s->count = 0;
}

bool select_has_rate(const struct counter *counter)
{
	static const char *const plain[] = {
		"Configuration", "Average", "Efficiency", "CPI", "Overdraw", "Bytes/",
	};
	size_t i;

	if (!counter->equation)
		return true;
	if (!strcmp(counter->unit, "percent") || strchr(counter->unit, '/'))
		return false;
	for (i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (strstr(counter->group, plain[i]))
			return false;
	return true;
}
