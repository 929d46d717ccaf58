/* SPDX-License-Identifier: MIT */
/* What the files of the library share. */
#ifndef PPERF_INTERNAL_H
#define PPERF_INTERNAL_H

#include "columns.h"
#include "panthor-perf.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/*
 * What a struct had in version 0.3, up to its last member: no program has a smaller one. A member that is added
 * begins behind the whole size that it had, padding included, or a program's garbage would be taken for it.
 */
#define SIZE_0_3(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

/* sample.c: copies what both have of a struct, and sets to 0 what only the copy has. */
void pperf_struct_copy(void *to, size_t to_size, const void *from, size_t from_size);

/* Takes a copy of what a program says of a GPU. PPERF_ERROR_INVALID if its size is not set. */
enum pperf_error pperf_info_take(struct pperf_gpu_info *copy, const struct pperf_gpu_info *info);

/* error.c: stores the message of a failure and returns its code. */
enum pperf_error pperf_fail(enum pperf_error error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
enum pperf_error pperf_no_memory(void);

/* tables.c: the tables of data/, which are part of the library. */
extern const char pperf_products_csv[];
extern const char pperf_hw_counters_csv[];
extern const char pperf_derived_counters_csv[];
extern const char pperf_topdown_csv[];

/* Splits off the next row of comma-separated values, in place. Returns its fields, 0 at the end. */
unsigned int pperf_csv_row(char **text, char **fields, unsigned int max);

/* expr.c: equations, compiled to operations on a stack. */
enum expr_code {
	EXPR_NUMBER,
	EXPR_SYMBOL,
	EXPR_ADD,
	EXPR_SUBTRACT,
	EXPR_MULTIPLY,
	EXPR_DIVIDE,
	EXPR_NEGATE,
	EXPR_MIN,
	EXPR_MAX,
};

struct expr_op {
	enum expr_code code;

	/* Of EXPR_SYMBOL: what the resolver made of the name. */
	unsigned int symbol;

	/* Of EXPR_NUMBER. */
	double number;
};

/* The most operands that an equation may have on its stack, which is on the thread's: 16 KiB for EXPR_MAX_VALUES. */
#define EXPR_MAX_OPERANDS 16

struct expr {
	struct expr_op *ops;
	size_t count;

	/* At a time. */
	size_t operands;
};

/* Gives a name its symbol. Returns false if it is not known. */
typedef bool (*expr_resolver)(void *context, const char *name, unsigned int *symbol);

/* As many values at a time as an equation is evaluated for. */
#define EXPR_MAX_VALUES 128

/* The values of a symbol. */
typedef void (*expr_loader)(void *context, unsigned int symbol, double *values);

/*
 * Compiles an equation: + - * / with the usual precedence, parentheses, numbers,
 * names, min() and max(). PPERF_ERROR_BROKEN, with a message, if it is not
 * understood or a name is not known.
 */
enum pperf_error pperf_expr_compile(const char *equation, expr_resolver resolve, void *context,
				    struct expr *expr);

/* Its values, up to EXPR_MAX_VALUES; 0 / 0 is 0, and anything else divided by 0 is infinite. */
void pperf_expr_run(const struct expr *expr, expr_loader load, void *context, size_t count, double *values);
void pperf_expr_free(struct expr *expr);

/* db.c */

/* What equations can ask for besides counters. */
enum config_value {
	CONFIG_CORES,
	CONFIG_SLICES,
	CONFIG_BUS_BYTES,
	CONFIG_SECONDS,
	CONFIG_ELAPSED_CYCLES,
	CONFIG_SHADER_CLOCK_RATIO,
	NUM_CONFIG,
};

/* What a symbol of an equation is; the rest of its bits tell which. */
enum symbol_kind {
	SYMBOL_CONFIG,
	SYMBOL_COUNTER,
	SYMBOL_ROW,
};

#define SYMBOL(kind, n) ((unsigned int)(n) << 2 | (kind))
#define SYMBOL_KIND(symbol) ((enum symbol_kind)((symbol) & 3))
#define SYMBOL_NUMBER(symbol) ((symbol) >> 2)

/* A row of the top-down table that applies to the layout. */
struct row {
	const char *name;
	struct expr expr;

	/* Index among the nodes, -1 of a helper. */
	int node;
};

struct pperf_db {
	/* What the strings point into. */
	char *text[3];

	/* Described counters, those of hardware first; then places without a description. */
	struct pperf_counter *counters;
	size_t hardware, described, all;
	char *place_names;

	/* What programs see: pointers to the described counters, and to the nodes. */
	const struct pperf_counter **counter_list;
	const struct pperf_topdown_node **node_list;

	/* By index of a described counter: the equation, and what it needs in the end. */
	struct expr *exprs;
	struct pperf_masks *needs;

	const struct pperf_counter *by_place[PPERF_BLOCK_TYPES][PPERF_MAX_VALUES];

	/* The counter of active cycles, NULL in an unknown layout. */
	const struct pperf_counter *active;

	/* Top-down: rows in the order of evaluation, nodes in the order of the tree. */
	struct row *rows;
	size_t num_rows;
	struct pperf_topdown_node *nodes;
	size_t num_nodes;
	struct pperf_masks topdown_needs;
};

/* What an equation is evaluated over: up to EXPR_MAX_VALUES samples or sums. */
struct evaluation {
	const struct pperf_db *db;
	size_t count;
	double config[NUM_CONFIG];

	/* For each, where it is not the same for all; else NULL. */
	const double *configs[NUM_CONFIG];

	/* Values of a counter of hardware. */
	void (*load)(const void *source, unsigned int type, unsigned int index, size_t count, double *values);
	const void *source;

	/* Values of the rows above, in top-down: EXPR_MAX_VALUES of each. */
	double (*rows)[EXPR_MAX_VALUES];
};

void pperf_evaluate(const struct evaluation *evaluation, const struct pperf_counter *counter, double *values);
void pperf_evaluate_row(const struct evaluation *evaluation, size_t row, double *values);

/* Fills in what equations ask of the GPU. */
void pperf_evaluation_config(struct evaluation *evaluation, const struct pperf_gpu_info *info);

/* Changes that to what they ask of one block of a type: averages over cores or slices are over this one. */
void pperf_evaluation_of_block(struct evaluation *evaluation, unsigned int type);

/* columns.c: samples from one on. */
struct columns_part {
	const struct pperf_columns *columns;
	size_t first;
};

/* Fills in all but rows, of as many samples as can be evaluated at a time. Both others have to outlive it. */
void pperf_columns_evaluation(struct evaluation *evaluation, const struct columns_part *part,
			      const struct pperf_gpu_info *info);

/* sample.c */

/* What is known of the top level clock. Zero it to begin. */
struct clock_rate {
	double hz;

	/* False while it is the nominal rate. */
	bool measured;
};

/* Whether the GPU was off for a part of a sample. */
bool pperf_sample_slept(const struct pperf_sample *sample);

/*
 * The cycles that the top level clock would have counted in a sample, which has these,
 * had the GPU not slept; 0 if that is not known. Learns the rate from samples in
 * which the GPU did not sleep.
 */
double pperf_elapsed_cycles(struct clock_rate *rate, const struct pperf_gpu_info *info, double seconds, double cycles,
			    bool slept);

/* PPERF_ERROR_INVALID if sizes are not set, PPERF_ERROR_BROKEN if the blocks are not the GPU's. */
enum pperf_error pperf_sample_check(const struct pperf_sample *sample, const struct pperf_gpu_info *info);

/* What is enabled in all blocks of each type. */
void pperf_sample_masks(const struct pperf_sample *sample, struct pperf_masks *masks);

/* True if all of the needs are in the masks. */
bool pperf_masks_contain(const struct pperf_masks *masks, const struct pperf_masks *needs);
void pperf_masks_add(struct pperf_masks *masks, const struct pperf_masks *other);

#endif
