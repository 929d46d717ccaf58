// SPDX-License-Identifier: MIT
/* The tables in data/, which are part of the program, and their reader. */

#define _GNU_SOURCE
#include "data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <drm/panthor_perf_drm.h>

/* The assembler finds the file from any -I directory beside this one. */
#define EMBED(name, file)							\
	__asm__(".pushsection .rodata\n"					\
		".global " #name "\n"						\
		#name ": .incbin \"../panthor-perf/data/" file "\"\n"		\
		".byte 0\n"							\
		".popsection\n");						\
	extern const char name[]

EMBED(products_csv, "products.csv");
EMBED(hw_counters_csv, "hw_counters.csv");
EMBED(derived_counters_csv, "derived_counters.csv");

const char *const block_names[7] = {
	[DRM_PANTHOR_PERF_BLOCK_METADATA] = "-",
	[DRM_PANTHOR_PERF_BLOCK_FW] = "FW",
	[DRM_PANTHOR_PERF_BLOCK_CSG] = "CSG",
	[DRM_PANTHOR_PERF_BLOCK_CSHW] = "CSHW",
	[DRM_PANTHOR_PERF_BLOCK_TILER] = "TILER",
	[DRM_PANTHOR_PERF_BLOCK_MEMSYS] = "MEMSYS",
	[DRM_PANTHOR_PERF_BLOCK_SHADER] = "SHADER",
};

/*
 * The tables leave out what some counters are called in equations. Each of these
 * names is in an equation and in no row, of exactly the layouts that have the
 * source in a row without a name; most stand at the same place on other layouts.
 */
static const struct {
	const char *source, *name;
} missing_names[] = {
	{ "GPU_IRQ_ACTIVE", "MaliGPUIRQActiveCy" },
	{ "PRIM_SAMPLE_CULLED", "MaliGeomSampleCullPrim" },
	{ "POS_SHADER_WARPS", "MaliGeomPosShadTask" },
	{ "VAR_SHADER_WARPS", "MaliGeomVarShadTask" },
	{ "FULL_WARPS", "MaliCoreFullWarp" },
	{ "TEX_RSPS_NUM_OPERATIONS", "MaliTexOutBt" },
	{ "RT_BOX_ISSUE_CYCLES", "MaliRTUBoxIssueCy" },
	{ "RT_TRI_ISSUE_CYCLES", "MaliRTUTriIssueCy" },
	{ "BLEND_ISSUE", "MaliBlendIssueCy" },
	{ "ATTR_ISSUE", "MaliAttrIssueCy" },
};

static const char *name_of_source(const char *source)
{
	size_t i;

	for (i = 0; i < sizeof(missing_names) / sizeof(missing_names[0]); i++)
		if (!strcmp(missing_names[i].source, source))
			return missing_names[i].name;
	return source;
}

/* Reads one field in place, and returns the character that ended it. */
static char csv_field(char **text, char **field)
{
	char *in = *text, *out, end;

	if (*in == '"') {
		out = ++in;
		*field = out;
		for (; *in && (*in != '"' || in[1] == '"'); in++) {
			if (*in == '"')
				in++;
			*out++ = *in;
		}
		if (*in)
			in++;
		end = *in;
		*out = 0;
	} else {
		*field = in;
		in += strcspn(in, ",\n");
		end = *in;
		*in = 0;
	}

	*text = end ? in + 1 : in;
	return end;
}

unsigned int csv_row(char **text, char **fields, unsigned int max)
{
	unsigned int n = 0;
	char *ignored, end;

	while (**text == '#' || **text == '\n') {
		*text += strcspn(*text, "\n");
		*text += **text == '\n';
	}

	if (!**text)
		return 0;

	do {
		end = csv_field(text, n < max ? &fields[n] : &ignored);
		n++;
	} while (end == ',');

	return n;
}

/* Looks for a product; the text stays allocated, since the answer points into it. */
static int find_product(int (*matches)(char **fields, const void *what), const void *what,
			struct product *product)
{
	char *text = strdup(products_csv), *fields[5], *rest = text;

	if (!text)
		return -1;

	csv_row(&rest, fields, 5);
	while (csv_row(&rest, fields, 5) == 5) {
		if (!matches(fields, what))
			continue;
		product->name = fields[1];
		product->layout = fields[3];
		return 0;
	}

	free(text);
	return -1;
}

static int matches_id(char **fields, const void *what)
{
	return strtoul(fields[0], NULL, 0) == *(const uint32_t *)what;
}

static int matches_name(char **fields, const void *what)
{
	return !strcasecmp(fields[1], what) || !strcasecmp(fields[1] + strlen("Mali-"), what);
}

int data_product(uint32_t gpu_id, struct product *product)
{
	uint32_t id = (gpu_id >> 28) << 12 | ((gpu_id >> 16) & 0xf);

	return find_product(matches_id, &id, product);
}

int data_product_by_name(const char *name, struct product *product)
{
	return find_product(matches_name, name, product);
}

static unsigned int block_type(const char *name)
{
	unsigned int type;

	for (type = 1; type < 7; type++)
		if (!strcmp(block_names[type], name))
			return type;
	return 0;
}

static struct counter *append(struct counters *counters)
{
	struct counter *list;

	list = reallocarray(counters->list, counters->count + 1, sizeof(*list));
	if (!list)
		return NULL;

	counters->list = list;
	memset(&list[counters->count], 0, sizeof(*list));
	return &list[counters->count++];
}

int data_counters(const char *layout, struct counters *counters)
{
	char *fields[10], *rest;
	struct counter *c;

	memset(counters, 0, sizeof(*counters));
	counters->text[0] = strdup(hw_counters_csv);
	counters->text[1] = strdup(derived_counters_csv);
	if (!counters->text[0] || !counters->text[1])
		goto err;

	rest = counters->text[0];
	csv_row(&rest, fields, 10);
	while (csv_row(&rest, fields, 10) == 10) {
		if (strcmp(fields[0], layout))
			continue;
		c = append(counters);
		if (!c)
			goto err;
		c->type = block_type(fields[1]);
		c->index = strtoul(fields[3], NULL, 10);
		c->source = fields[4];
		c->name = *fields[5] ? fields[5] : name_of_source(fields[4]);
		c->title = *fields[6] ? fields[6] : fields[4];
		c->group = *fields[7] ? fields[7] : "No description";
		c->unit = *fields[8] ? fields[8] : "events";
	}

	rest = counters->text[1];
	csv_row(&rest, fields, 7);
	while (csv_row(&rest, fields, 7) == 7) {
		if (strcmp(fields[0], layout))
			continue;
		c = append(counters);
		if (!c)
			goto err;
		c->name = fields[1];
		c->title = fields[2];
		c->group = fields[3];
		c->unit = fields[4];
		c->equation = fields[6];
	}

	return 0;

err:
	data_free(counters);
	return -1;
}

void data_free(struct counters *counters)
{
	free(counters->list);
	free(counters->text[0]);
	free(counters->text[1]);
	memset(counters, 0, sizeof(*counters));
}
