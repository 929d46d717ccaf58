// SPDX-License-Identifier: MIT
/* The counter database of a layout: tables parsed, equations compiled. */
#define _GNU_SOURCE
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "internal.h"
#include "suggest.h"

/*
 * Equations refer to each other; the data has no deeper chain than a few. Each has EXPR_MAX_OPERANDS at the most, so that all take
 * no more than 128 KiB of stack: a row of top-down, and so many counters.
 */
#define MAX_NESTING 7

#define NUM_PLACES ((PPERF_BLOCK_TYPES - 1) * (PPERF_MAX_VALUES - PPERF_FIRST_COUNTER))
#define PLACE_NAME_SIZE 12

static const char *const layouts[] = {
	"Mali-G710", "Mali-G715", "Mali-G720", "Mali-G725", "Mali G1", NULL
};

static const char *const block_names[PPERF_BLOCK_TYPES] = {
	[PPERF_BLOCK_FW] = "FW",
	[PPERF_BLOCK_CSG] = "CSG",
	[PPERF_BLOCK_CSHW] = "CSHW",
	[PPERF_BLOCK_TILER] = "TILER",
	[PPERF_BLOCK_MEMSYS] = "MEMSYS",
	[PPERF_BLOCK_SHADER] = "SHADER",
};

static const char *const clock_names[PPERF_CLOCKS] = {
	[PPERF_CLOCK_TOPLEVEL] = "toplevel",
	[PPERF_CLOCK_COREGROUP] = "coregroup",
	[PPERF_CLOCK_SHADER] = "shader",
};

static const char *const config_names[NUM_CONFIG] = {
	[CONFIG_CORES] = "MALI_CONFIG_SHADER_CORE_COUNT",
	[CONFIG_SLICES] = "MALI_CONFIG_L2_CACHE_COUNT",
	[CONFIG_BUS_BYTES] = "MALI_CONFIG_EXT_BUS_BYTE_SIZE",
	[CONFIG_SECONDS] = "MALI_CONFIG_TIME_SPAN",
	[CONFIG_ELAPSED_CYCLES] = "MALI_CONFIG_ELAPSED_CYCLES",
	[CONFIG_SHADER_CLOCK_RATIO] = "MALI_CONFIG_SHADER_CLOCK_RATIO",
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

/*
 * Names are ASCII, and upper case is the same as lower case whatever the locale of the program: in Turkish,
 * the small letter of I is none of ASCII.
 */
static char folded(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

static int compare_folded(const char *a, const char *b)
{
	while (*a && folded(*a) == folded(*b)) {
		a++;
		b++;
	}
	return folded(*a) - folded(*b);
}

/* A copy to be freed; NULL without memory. */
static char *fold(const char *text)
{
	char *copy = strdup(text), *c;

	for (c = copy; c && *c; c++)
		*c = folded(*c);
	return copy;
}

const char *pperf_block_name(unsigned int type)
{
	return type < PPERF_BLOCK_TYPES ? block_names[type] : NULL;
}

const char *pperf_clock_name(unsigned int clock)
{
	return clock < PPERF_CLOCKS ? clock_names[clock] : NULL;
}

const char *pperf_set_name(unsigned int set)
{
	static const char *const names[] = { "primary", "secondary", "tertiary" };

	return set < COUNT(names) ? names[set] : NULL;
}

const char *const *pperf_layouts(void)
{
	return layouts;
}

static const char *name_of_source(const char *source)
{
	size_t i;

	for (i = 0; i < COUNT(missing_names); i++)
		if (!strcmp(missing_names[i].source, source))
			return missing_names[i].name;
	return source;
}

/* ---- Products ---- */

/* The table's own text, so that strings can be given away without memory of their own. */
struct product {
	char name[32];
	char layout[16];
	uint32_t id;
};

/* Reads product number n. Returns false behind the last. */
static bool read_product(unsigned int n, struct product *product)
{
	const char *text = pperf_products_csv;
	int header = 1, end;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n') {
		if (*text == '#' || *text == '\n' || header-- > 0)
			continue;
		if (n--)
			continue;
		end = 0;
		return sscanf(text, "%x,%31[^,],%*[^,],%15[^,]%n", &product->id, product->name,
			      product->layout, &end) == 3 && end;
	}
	return false;
}

/* A string that lives for ever, and is equal to this one. */
static const char *layout_string(const char *layout)
{
	size_t i;

	for (i = 0; layouts[i]; i++)
		if (!strcmp(layouts[i], layout))
			return layouts[i];
	return NULL;
}

#define MAX_PRODUCTS 64

/* Products are few and their table does not change: read once, by the loader of the library. */
static struct product products[MAX_PRODUCTS];
static unsigned int num_products;

static void __attribute__((constructor)) read_products(void)
{
	while (num_products < MAX_PRODUCTS && read_product(num_products, &products[num_products]))
		num_products++;
}

enum pperf_error pperf_product_by_name(const char *name, const char **product, const char **layout)
{
	struct pperf_suggestions near = { .wrong = name };
	char text[128];
	unsigned int i;

	for (i = 0; i < num_products; i++) {
		if (compare_folded(products[i].name, name) &&
		    compare_folded(products[i].name + strlen("Mali-"), name))
			continue;
		*product = products[i].name;
		*layout = layout_string(products[i].layout);
		return PPERF_OK;
	}
	for (i = 0; i < num_products; i++)
		pperf_suggest(&near, products[i].name + (strncasecmp(name, "Mali", 4) ? strlen("Mali-") : 0));
	return pperf_fail(PPERF_ERROR_UNKNOWN, "unknown GPU \"%s\". %s", name,
			  pperf_suggestion(&near, "Use the name of a product, such as G610.", text, sizeof(text)));
}

enum pperf_error pperf_product_by_id(uint32_t gpu_id, const char **product, const char **layout)
{
	uint32_t id = (gpu_id >> 28) << 12 | ((gpu_id >> 16) & 0xf);
	unsigned int i;

	for (i = 0; i < num_products; i++) {
		if (products[i].id != id)
			continue;
		*product = products[i].name;
		*layout = layout_string(products[i].layout);
		return PPERF_OK;
	}
	return pperf_fail(PPERF_ERROR_UNKNOWN, "this GPU has no known counter names (GPU_ID %#x). "
			  "Use BLOCK.INDEX", gpu_id);
}

/* ---- Masks ---- */

unsigned int pperf_masks_count(const struct pperf_masks *masks, unsigned int type)
{
	return type < PPERF_BLOCK_TYPES ? __builtin_popcountll(masks->bits[type][0]) +
					  __builtin_popcountll(masks->bits[type][1]) : 0;
}

bool pperf_masks_contain(const struct pperf_masks *masks, const struct pperf_masks *needs)
{
	unsigned int type;

	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		if ((needs->bits[type][0] & ~masks->bits[type][0]) ||
		    (needs->bits[type][1] & ~masks->bits[type][1]))
			return false;
	return true;
}

void pperf_masks_add(struct pperf_masks *masks, const struct pperf_masks *other)
{
	unsigned int type;

	for (type = 0; type < PPERF_BLOCK_TYPES; type++) {
		masks->bits[type][0] |= other->bits[type][0];
		masks->bits[type][1] |= other->bits[type][1];
	}
}

/* ---- Symbols of equations ---- */

static const struct pperf_counter *find_described(const struct pperf_db *db, const char *name)
{
	size_t i;

	for (i = 0; i < db->described; i++)
		if (!strcmp(db->counters[i].name, name))
			return &db->counters[i];
	return NULL;
}

static bool resolve(void *context, const char *name, unsigned int *symbol)
{
	const struct pperf_db *db = context;
	const struct pperf_counter *counter;
	size_t i;

	for (i = 0; i < NUM_CONFIG; i++) {
		if (!strcmp(config_names[i], name)) {
			*symbol = SYMBOL(SYMBOL_CONFIG, i);
			return true;
		}
	}

	counter = find_described(db, name);
	if (counter) {
		*symbol = SYMBOL(SYMBOL_COUNTER, counter - db->counters);
		return true;
	}

	/* Rows above the one that is compiled. */
	for (i = 0; i < db->num_rows; i++) {
		if (!strcmp(db->rows[i].name, name)) {
			*symbol = SYMBOL(SYMBOL_ROW, i);
			return true;
		}
	}
	return false;
}

static void load(void *context, unsigned int symbol, double *values)
{
	const struct evaluation *e = context;
	unsigned int n = SYMBOL_NUMBER(symbol);
	size_t i;

	switch (SYMBOL_KIND(symbol)) {
	case SYMBOL_CONFIG:
		for (i = 0; i < e->count; i++)
			values[i] = e->configs[n] ? e->configs[n][i] : e->config[n];
		break;
	case SYMBOL_COUNTER:
		pperf_evaluate(e, &e->db->counters[n], values);
		break;
	case SYMBOL_ROW:
		memcpy(values, e->rows[n], e->count * sizeof(*values));
		break;
	}
}

void pperf_evaluate(const struct evaluation *e, const struct pperf_counter *counter, double *values)
{
	if (counter->type)
		e->load(e->source, counter->type, counter->index, e->count, values);
	else
		pperf_expr_run(&e->db->exprs[counter - e->db->counters], load, (void *)e, e->count, values);
}

void pperf_evaluate_row(const struct evaluation *e, size_t row, double *values)
{
	pperf_expr_run(&e->db->rows[row].expr, load, (void *)e, e->count, values);
}

void pperf_evaluation_config(struct evaluation *e, const struct pperf_gpu_info *info)
{
	e->config[CONFIG_CORES] = info->cores;
	e->config[CONFIG_SLICES] = info->slices;
	e->config[CONFIG_BUS_BYTES] = info->bus_bytes;
	e->config[CONFIG_SHADER_CLOCK_RATIO] = 1;
}

void pperf_evaluation_of_block(struct evaluation *e, unsigned int type)
{
	if (type == PPERF_BLOCK_SHADER)
		e->config[CONFIG_CORES] = 1;
	if (type == PPERF_BLOCK_MEMSYS)
		e->config[CONFIG_SLICES] = 1;
}

/* Adds what a counter needs. Returns false if equations nest too deep, or in a circle. */
static bool add_needs(const struct pperf_db *db, const struct expr *expr, struct pperf_masks *masks,
		      unsigned int nesting)
{
	size_t i;

	if (nesting > MAX_NESTING)
		return false;

	for (i = 0; i < expr->count; i++) {
		const struct expr_op *op = &expr->ops[i];
		const struct pperf_counter *c;

		if (op->code != EXPR_SYMBOL || SYMBOL_KIND(op->symbol) != SYMBOL_COUNTER)
			continue;
		c = &db->counters[SYMBOL_NUMBER(op->symbol)];
		if (c->type)
			masks->bits[c->type][c->index / 64] |= 1ull << (c->index % 64);
		else if (!add_needs(db, &db->exprs[c - db->counters], masks, nesting + 1))
			return false;
	}
	return true;
}

/* ---- Reading the tables ---- */

static unsigned int block_type(const char *name)
{
	unsigned int type;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		if (!strcmp(block_names[type], name))
			return type;
	return 0;
}

/* Room for the described counters is made in one piece: others point to them. */
static size_t count_rows(const char *csv)
{
	size_t n = 0;

	for (; *csv; csv++)
		n += *csv == '\n';
	return n;
}

static enum pperf_error read_hardware(struct pperf_db *db, const char *layout)
{
	char *rest = db->text[0], *f[10];

	pperf_csv_row(&rest, f, 10);
	while (pperf_csv_row(&rest, f, 10) == 10) {
		struct pperf_counter *c = &db->counters[db->described];

		if (strcmp(f[0], layout))
			continue;
		c->type = block_type(f[1]);
		c->index = strtoul(f[3], NULL, 10);
		c->source = f[4];
		c->name = *f[5] ? f[5] : name_of_source(f[4]);
		c->title = *f[6] ? f[6] : f[4];
		c->group = *f[7] ? f[7] : "No description";
		c->unit = *f[8] ? f[8] : "events";
		c->kind = PPERF_KIND_COUNT;
		c->described = true;
		if (!c->type || c->index < PPERF_FIRST_COUNTER || c->index >= PPERF_MAX_VALUES)
			return pperf_fail(PPERF_ERROR_BROKEN, "invalid counter table: %s at %s.%s", f[4], f[1], f[3]);
		db->by_place[c->type][c->index] = c;
		db->described++;
	}
	db->hardware = db->described;
	return PPERF_OK;
}

static void read_derived(struct pperf_db *db, const char *layout)
{
	char *rest = db->text[1], *f[7];

	pperf_csv_row(&rest, f, 7);
	while (pperf_csv_row(&rest, f, 7) == 7) {
		struct pperf_counter *c = &db->counters[db->described];

		if (strcmp(f[0], layout))
			continue;
		c->name = f[1];
		c->title = f[2];
		c->group = f[3];
		c->unit = f[4];
		c->equation = f[6];
		c->described = true;
		db->described++;
	}
}

static enum pperf_kind kind_of(const struct pperf_counter *counter, const struct pperf_masks *needs)
{
	static const struct pperf_masks nothing;
	static const char *const ratios[] = {
		"Configuration", "Average", "Efficiency", "CPI", "Overdraw", "Bytes/",
	};
	size_t i;

	if (!memcmp(needs, &nothing, sizeof(nothing)))
		return PPERF_KIND_CONSTANT;
	if (!strcmp(counter->unit, "percent") || strchr(counter->unit, '/'))
		return PPERF_KIND_RATIO;
	for (i = 0; i < COUNT(ratios); i++)
		if (strstr(counter->group, ratios[i]))
			return PPERF_KIND_RATIO;
	return PPERF_KIND_COUNT;
}

static enum pperf_error compile_derived(struct pperf_db *db)
{
	enum pperf_error error;
	size_t i;

	for (i = db->hardware; i < db->described; i++) {
		error = pperf_expr_compile(db->counters[i].equation, resolve, db, &db->exprs[i]);
		if (error)
			return error;
	}

	for (i = 0; i < db->described; i++) {
		struct pperf_counter *c = &db->counters[i];

		if (c->type) {
			db->needs[i].bits[c->type][c->index / 64] = 1ull << (c->index % 64);
			continue;
		}
		if (!add_needs(db, &db->exprs[i], &db->needs[i], 1))
			return pperf_fail(PPERF_ERROR_BROKEN, "the equation of %s refers to itself, or is nested "
					  "too deeply", c->name);
		c->kind = kind_of(c, &db->needs[i]);
	}
	return PPERF_OK;
}

/* Counters at places that the tables do not have. */
static enum pperf_error make_places(struct pperf_db *db)
{
	unsigned int type, index;
	char *name;

	db->place_names = calloc(NUM_PLACES, PLACE_NAME_SIZE);
	if (!db->place_names)
		return pperf_no_memory();

	name = db->place_names;
	db->all = db->described;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		for (index = PPERF_FIRST_COUNTER; index < PPERF_MAX_VALUES; index++) {
			struct pperf_counter *c = &db->counters[db->all];

			if (db->by_place[type][index])
				continue;
			snprintf(name, PLACE_NAME_SIZE, "%s.%u", block_names[type], index);
			c->name = name;
			c->source = name;
			c->title = name;
			c->group = "No description";
			c->unit = "events";
			c->kind = PPERF_KIND_COUNT;
			c->type = type;
			c->index = index;
			db->by_place[type][index] = c;
			db->all++;
			name += PLACE_NAME_SIZE;
		}
	}
	return PPERF_OK;
}

/* ---- Top-down ---- */

/* True if a list such as "Mali-G710|Mali-G715", or "all", has the layout. */
static bool applies(const char *list, const char *layout)
{
	size_t n = strlen(layout);

	if (!strcmp(list, "all"))
		return true;
	for (; list; list = strchr(list, '|'), list = list ? list + 1 : NULL)
		if (!strncmp(list, layout, n) && (list[n] == '|' || !list[n]))
			return true;
	return false;
}

/* A node as it is read, before it has its place in the tree. */
struct raw_node {
	const char *parent;
	size_t row;
	struct pperf_topdown_node node;
};

/* Appends a node and, behind it, its parts. */
static void place_node(struct pperf_db *db, const struct raw_node *raw, size_t count, size_t n,
		       const struct pperf_topdown_node *parent)
{
	struct pperf_topdown_node *node = &db->nodes[db->num_nodes];
	size_t i;

	*node = raw[n].node;
	node->parent = parent;
	db->rows[raw[n].row].node = db->num_nodes++;

	for (i = 0; i < count; i++) {
		if (i == n || strcmp(raw[i].parent, node->name) ||
		    raw[i].node.level != node->level + 1)
			continue;
		node->children++;
		place_node(db, raw, count, i, node);
	}
}

static enum pperf_error read_topdown(struct pperf_db *db, const char *layout)
{
	char *rest = db->text[2], *f[7];
	size_t max = count_rows(pperf_topdown_csv), count = 0, root = max, i;
	enum pperf_error error = PPERF_OK;
	struct raw_node *raw;

	raw = calloc(max, sizeof(*raw));
	db->rows = calloc(max, sizeof(*db->rows));
	db->nodes = calloc(max, sizeof(*db->nodes));
	if (!raw || !db->rows || !db->nodes) {
		error = pperf_no_memory();
		goto out;
	}

	pperf_csv_row(&rest, f, 7);
	while (pperf_csv_row(&rest, f, 7) == 7) {
		struct row *row = &db->rows[db->num_rows];

		if (!applies(f[0], layout))
			continue;
		for (i = 0; i < db->num_rows; i++) {
			if (!strcmp(db->rows[i].name, f[2])) {
				error = pperf_fail(PPERF_ERROR_BROKEN, "%s defines %s twice", layout, f[2]);
				goto out;
			}
		}
		error = pperf_expr_compile(f[5], resolve, db, &row->expr);
		if (error)
			goto out;
		row->name = f[2];
		row->node = -1;
		if (*f[1]) {
			struct raw_node *node = &raw[count++];

			node->parent = f[3];
			node->row = db->num_rows;
			node->node.name = f[2];
			node->node.title = f[4];
			node->node.next = f[6];
			node->node.equation = f[5];
			node->node.level = strtoul(f[1], NULL, 10);
			if (!node->node.level)
				root = count - 1;
		}
		/* Counted only now: no equation may need itself. */
		db->num_rows++;
		add_needs(db, &row->expr, &db->topdown_needs, 1);
	}

	if (root == max) {
		error = pperf_fail(PPERF_ERROR_BROKEN, "the top-down tree of %s has no root", layout);
		goto out;
	}
	place_node(db, raw, count, root, NULL);
	if (db->num_nodes != count)
		error = pperf_fail(PPERF_ERROR_BROKEN, "a node in the top-down tree of %s has no parent",
				   layout);
out:
	free(raw);
	return error;
}

const struct pperf_topdown_node *const *pperf_db_topdown(const struct pperf_db *db, size_t *count)
{
	*count = db->num_nodes;
	return db->num_nodes ? db->node_list : NULL;
}

unsigned int pperf_db_topdown_levels(const struct pperf_db *db)
{
	unsigned int levels = 0;
	size_t i;

	for (i = 0; i < db->num_nodes; i++)
		if (db->nodes[i].level > levels)
			levels = db->nodes[i].level;
	return levels;
}

size_t pperf_db_topdown_level(const struct pperf_db *db, unsigned int level,
			      const struct pperf_topdown_node **nodes, size_t max)
{
	size_t i, n = 0;

	for (i = 0; i < db->num_nodes; i++) {
		const struct pperf_topdown_node *node = &db->nodes[i];

		if (node->level != level && (node->level > level || node->children))
			continue;
		if (n < max)
			nodes[n] = node;
		n++;
	}
	return n;
}

/* ---- The database ---- */

static enum pperf_error make_lists(struct pperf_db *db)
{
	size_t i;

	db->counter_list = calloc(db->described + 1, sizeof(*db->counter_list));
	db->node_list = calloc(db->num_nodes + 1, sizeof(*db->node_list));
	if (!db->counter_list || !db->node_list)
		return pperf_no_memory();
	for (i = 0; i < db->described; i++)
		db->counter_list[i] = &db->counters[i];
	for (i = 0; i < db->num_nodes; i++)
		db->node_list[i] = &db->nodes[i];
	return PPERF_OK;
}

enum pperf_error pperf_db_open(const char *layout, struct pperf_db **out)
{
	enum pperf_error error = PPERF_OK;
	struct pperf_db *db;
	size_t max;

	if (layout && !layout_string(layout))
		return pperf_fail(PPERF_ERROR_UNKNOWN, "unknown counter layout \"%s\"", layout);

	db = calloc(1, sizeof(*db));
	if (!db)
		return pperf_no_memory();

	max = NUM_PLACES;
	if (layout)
		max += count_rows(pperf_hw_counters_csv) + count_rows(pperf_derived_counters_csv);
	db->counters = calloc(max, sizeof(*db->counters));
	if (!db->counters) {
		error = pperf_no_memory();
		goto out;
	}

	if (layout) {
		db->text[0] = strdup(pperf_hw_counters_csv);
		db->text[1] = strdup(pperf_derived_counters_csv);
		db->text[2] = strdup(pperf_topdown_csv);
		db->exprs = calloc(max, sizeof(*db->exprs));
		db->needs = calloc(max, sizeof(*db->needs));
		if (!db->text[0] || !db->text[1] || !db->text[2] || !db->exprs || !db->needs) {
			error = pperf_no_memory();
			goto out;
		}

		error = read_hardware(db, layout);
		if (error)
			goto out;
		read_derived(db, layout);
		error = compile_derived(db);
		if (error)
			goto out;
		db->active = find_described(db, "MaliGPUActiveCy");
		error = read_topdown(db, layout);
		if (error)
			goto out;
	}

	error = make_places(db);
	if (!error)
		error = make_lists(db);
out:
	if (error)
		pperf_db_close(db);
	else
		*out = db;
	return error;
}

void pperf_db_close(struct pperf_db *db)
{
	size_t i;

	if (!db)
		return;
	for (i = 0; db->exprs && i < db->described; i++)
		pperf_expr_free(&db->exprs[i]);
	for (i = 0; i < db->num_rows; i++)
		pperf_expr_free(&db->rows[i].expr);
	for (i = 0; i < COUNT(db->text); i++)
		free(db->text[i]);
	free(db->exprs);
	free(db->needs);
	free(db->rows);
	free(db->nodes);
	free(db->place_names);
	free(db->counter_list);
	free(db->node_list);
	free(db->counters);
	free(db);
}

const struct pperf_counter *const *pperf_db_counters(const struct pperf_db *db, size_t *count)
{
	*count = db->described;
	return db->counter_list;
}

const struct pperf_counter *pperf_db_at(const struct pperf_db *db, unsigned int type, unsigned int index)
{
	if (type >= PPERF_BLOCK_TYPES || index >= PPERF_MAX_VALUES)
		return NULL;
	return db->by_place[type][index];
}

/* The counter that BLOCK.INDEX stands for, in any case. */
static const struct pperf_counter *find_place(const struct pperf_db *db, const char *name)
{
	const char *dot = strchr(name, '.');
	unsigned int type;
	unsigned long index;
	char *end, block[8];

	if (!dot || (size_t)(dot - name) >= sizeof(block) || dot[1] < '0' || dot[1] > '9')
		return NULL;
	index = strtoul(dot + 1, &end, 10);
	if (*end || index >= PPERF_MAX_VALUES)
		return NULL;

	memcpy(block, name, dot - name);
	block[dot - name] = 0;
	for (type = 1; type < PPERF_BLOCK_TYPES; type++)
		if (!compare_folded(block, block_names[type]))
			return pperf_db_at(db, type, index);
	return NULL;
}

const struct pperf_counter *pperf_db_find(const struct pperf_db *db, const char *name)
{
	const struct pperf_counter *counter = find_described(db, name);

	return counter ? counter : find_place(db, name);
}

/* Pattern is folded. */
static bool matches_name(const char *name, const char *pattern)
{
	char *copy = fold(name);
	bool found = copy && !fnmatch(pattern, copy, 0);

	free(copy);
	return found;
}

static bool matches(const struct pperf_counter *counter, const char *pattern)
{
	if (!compare_folded(counter->name, pattern) || !compare_folded(counter->title, pattern) ||
	    matches_name(counter->name, pattern))
		return true;

	return counter->source && (!compare_folded(counter->source, pattern) ||
				   matches_name(counter->source, pattern));
}

const struct pperf_counter *pperf_db_match(const struct pperf_db *db, const char *pattern,
					   const struct pperf_counter *after)
{
	const struct pperf_counter *found = NULL;
	char *copy = fold(pattern);
	size_t i;

	for (i = after ? after - db->counters + 1 : 0; copy && !found && i < db->described; i++)
		if (matches(&db->counters[i], copy))
			found = &db->counters[i];
	free(copy);
	return found;
}

void pperf_counter_needs(const struct pperf_db *db, const struct pperf_counter *counter,
			 struct pperf_masks *masks)
{
	if (counter->type)
		masks->bits[counter->type][counter->index / 64] |= 1ull << (counter->index % 64);
	else
		pperf_masks_add(masks, &db->needs[counter - db->counters]);
}

bool pperf_counter_in(const struct pperf_db *db, const struct pperf_counter *counter,
		      const struct pperf_masks *masks)
{
	if (counter->type)
		return masks->bits[counter->type][counter->index / 64] >> (counter->index % 64) & 1;
	return pperf_masks_contain(masks, &db->needs[counter - db->counters]);
}

bool pperf_counter_exists(const struct pperf_db *db, const struct pperf_counter *counter,
			  const struct pperf_gpu_info *info)
{
	struct pperf_masks has = {};
	unsigned int type;

	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		if (!info->blocks[type])
			continue;
		has.bits[type][0] = ~0ull;
		if (info->values_per_block > 64)
			has.bits[type][1] = ~0ull;
	}
	return pperf_counter_in(db, counter, &has);
}

unsigned int pperf_counter_block_type(const struct pperf_db *db, const struct pperf_counter *counter)
{
	const struct pperf_masks *needs;
	unsigned int type, found = 0;

	if (counter->type)
		return counter->type;

	needs = &db->needs[counter - db->counters];
	for (type = 1; type < PPERF_BLOCK_TYPES; type++) {
		if (type == PPERF_BLOCK_CSHW || !(needs->bits[type][0] | needs->bits[type][1]))
			continue;
		if (found)
			return 0;
		found = type;
	}
	return found;
}
