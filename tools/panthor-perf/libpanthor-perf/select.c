// SPDX-License-Identifier: MIT
/* Which counters somebody wants, and what to enable for them. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"
#include "suggest.h"

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

struct pperf_selection {
	const struct pperf_db *db;
	const struct pperf_gpu_info *info;
	const struct pperf_counter **counters;
	size_t count;
	struct pperf_masks masks;
};

enum pperf_error pperf_selection_new(const struct pperf_db *db, const struct pperf_gpu_info *info,
				     struct pperf_selection **out)
{
	struct pperf_selection *s = calloc(1, sizeof(*s));

	if (!s)
		return pperf_no_memory();
	s->db = db;
	s->info = info;
	*out = s;
	return PPERF_OK;
}

void pperf_selection_free(struct pperf_selection *s)
{
	if (!s)
		return;
	free(s->counters);
	free(s);
}

static bool exists(const struct pperf_selection *s, const struct pperf_counter *counter)
{
	return !s->info || pperf_counter_exists(s->db, counter, s->info);
}

enum pperf_error pperf_selection_add_counter(struct pperf_selection *s,
					     const struct pperf_counter *counter)
{
	const struct pperf_counter **counters;
	size_t i;

	if (!exists(s, counter))
		return pperf_fail(PPERF_ERROR_UNKNOWN, "this GPU has no counter %s", counter->name);

	for (i = 0; i < s->count; i++)
		if (s->counters[i] == counter)
			return PPERF_OK;

	counters = reallocarray(s->counters, s->count + 1, sizeof(*counters));
	if (!counters)
		return pperf_no_memory();
	s->counters = counters;
	s->counters[s->count++] = counter;
	pperf_counter_needs(s->db, counter, &s->masks);
	return PPERF_OK;
}

/* Fails with the names that may have been meant. */
static enum pperf_error unknown_counter(const struct pperf_selection *s, const char *wrong)
{
	struct pperf_suggestions near = { .wrong = wrong };
	char places[PPERF_BLOCK_TYPES][64], text[256];
	const char *dot = strchr(wrong, '.');
	unsigned int type;
	size_t i;

	/* A block that exists has no such counter. */
	for (type = 1; dot && type < PPERF_BLOCK_TYPES; type++)
		if (strlen(pperf_block_name(type)) == (size_t)(dot - wrong) &&
		    !strncasecmp(pperf_block_name(type), wrong, dot - wrong))
			dot = NULL;
	for (type = 1; dot && type < PPERF_BLOCK_TYPES; type++) {
		snprintf(places[type], sizeof(places[type]), "%s%s", pperf_block_name(type), dot);
		if (pperf_db_find(s->db, places[type]) && exists(s, pperf_db_find(s->db, places[type])))
			pperf_suggest(&near, places[type]);
	}
	for (i = 0; i < s->db->described; i++) {
		if (!exists(s, &s->db->counters[i]))
			continue;
		pperf_suggest(&near, s->db->counters[i].name);
		pperf_suggest(&near, s->db->counters[i].title);
		if (s->db->counters[i].source)
			pperf_suggest(&near, s->db->counters[i].source);
	}
	return pperf_fail(PPERF_ERROR_UNKNOWN, "%s has no counter \"%s\". %s", s->info ? s->info->name : "the layout", wrong,
			  pperf_suggestion(&near, "Run panthor-perf list to see all counters.", text, sizeof(text)));
}

enum pperf_error pperf_selection_add(struct pperf_selection *s, const char *pattern)
{
	const struct pperf_counter *counter = pperf_db_find(s->db, pattern);
	enum pperf_error error;
	bool found = false;

	/* A name or place stands for one counter, whatever it would match as a pattern. */
	if (counter)
		return pperf_selection_add_counter(s, counter);

	while ((counter = pperf_db_match(s->db, pattern, counter))) {
		if (!exists(s, counter))
			continue;
		error = pperf_selection_add_counter(s, counter);
		if (error)
			return error;
		found = true;
	}
	if (found)
		return PPERF_OK;
	return unknown_counter(s, pattern);
}

enum pperf_error pperf_selection_add_list(struct pperf_selection *s, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name;
	struct pperf_masks masks = s->masks;
	enum pperf_error error = PPERF_OK;
	size_t count = s->count;

	if (!copy)
		return pperf_no_memory();

	while (!error && (name = strsep(&rest, ",")))
		error = *name ? pperf_selection_add(s, name) :
			pperf_fail(PPERF_ERROR_INVALID, "empty counter name in \"%s\"", list);
	if (error) {
		s->count = count;
		s->masks = masks;
	}
	free(copy);
	return error;
}

enum pperf_error pperf_selection_add_default(struct pperf_selection *s)
{
	const struct pperf_counter *counter;
	enum pperf_error error;
	size_t i;

	if (!s->db->described)
		return pperf_fail(PPERF_ERROR_UNKNOWN, "this GPU has no known counter names. "
				  "Use BLOCK.INDEX");

	for (i = 0; i < COUNT(defaults); i++) {
		counter = pperf_db_find(s->db, defaults[i]);
		if (!counter || !exists(s, counter))
			continue;
		error = pperf_selection_add_counter(s, counter);
		if (error)
			return error;
	}
	return PPERF_OK;
}

enum pperf_error pperf_selection_add_all(struct pperf_selection *s)
{
	enum pperf_error error;
	size_t i;

	if (!s->db->described)
		return pperf_selection_add_default(s);

	for (i = 0; i < s->db->described; i++) {
		if (!exists(s, &s->db->counters[i]))
			continue;
		error = pperf_selection_add_counter(s, &s->db->counters[i]);
		if (error)
			return error;
	}
	return PPERF_OK;
}

void pperf_selection_need_load(struct pperf_selection *s)
{
	if (s->db->active)
		pperf_counter_needs(s->db, s->db->active, &s->masks);
}

void pperf_selection_need_topdown(struct pperf_selection *s)
{
	pperf_masks_add(&s->masks, &s->db->topdown_needs);
}

const struct pperf_counter *const *pperf_selection_counters(const struct pperf_selection *s,
							    size_t *count)
{
	*count = s->count;
	return s->counters;
}

const struct pperf_masks *pperf_selection_masks(const struct pperf_selection *s)
{
	return &s->masks;
}
