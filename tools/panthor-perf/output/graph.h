/* SPDX-License-Identifier: MIT */
/*
 * A screen of characters with attributes, and what is drawn on it. Where it is shown is others'
 * business: on a terminal, or as lines of text.
 */
#ifndef PANTHOR_PERF_GRAPH_H
#define PANTHOR_PERF_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What a character is for; how that looks depends on the terminal. */
enum graph_look {
	LOOK_PLAIN,
	LOOK_TITLE,
	LOOK_HEADER,
	LOOK_WARNING,
	LOOK_DIM,

	/* Bars and graphs, by how high the load is. */
	LOOK_LOW,
	LOOK_MIDDLE,
	LOOK_HIGH,

	LOOKS,
};

/* Which characters a terminal has, and which of them people want. */
enum graph_style {
	/* 7-bit characters alone. */
	STYLE_ASCII,

	/* UTF-8: blocks of eighths. */
	STYLE_BLOCKS,

	/* UTF-8: braille, two values in a column, for graphs; blocks for bars. */
	STYLE_BRAILLE,

	STYLES,
};

#define MAX_COLUMNS 1000
#define MAX_ROWS 4000

struct cell {
	/* One character in UTF-8. */
	char text[5];
	uint8_t look;
};

struct canvas {
	int columns, rows;
	struct cell *cells;
};

/*
 * Makes one of blanks; sizes are brought to between 1 and the limits above.
 * Returns false if memory is out.
 */
bool canvas_init(struct canvas *canvas, int columns, int rows);
void canvas_free(struct canvas *canvas);

/* NULL outside of the canvas. */
struct cell *canvas_at(const struct canvas *canvas, int row, int column);

/*
 * Writes 7-bit text, up to width characters of it; what is outside of the canvas is left out, and
 * other bytes become "?". Returns the column behind it.
 */
int canvas_put(struct canvas *canvas, int row, int column, int width, enum graph_look look, const char *text);

/* The same of a formatted text, to the canvas's edge. */
int canvas_print(struct canvas *canvas, int row, int column, enum graph_look look, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* All rows as lines, without the blanks at their ends. */
void canvas_write(const struct canvas *canvas, FILE *out);

/* The look of a load, 0 to 1. */
enum graph_look graph_look(double part);

/*
 * A bar, "[|||   ]", width characters long with its brackets; part is from 0 to
 * 1, cut to that, NAN being no bar at all.
 */
void graph_bar(struct canvas *canvas, int row, int column, int width, double part, enum graph_style style);

/* Values over time, the newest last. */
struct history {
	/* A ring of the last values. */
	double *values;
	size_t size, count, next;
};

/* Returns false if memory is out. */
bool history_init(struct history *history, size_t size);
void history_free(struct history *history);
void history_add(struct history *history, double value);

/* The value that is so old, 0 being the newest. NAN if there is none. */
double history_at(const struct history *history, size_t age);

/*
 * A graph of values from 0 to 1, the newest at the right edge. NAN is a gap. A
 * value above 0 is never as low as one of 0.
 */
void graph_history(struct canvas *canvas, int row, int column, int width, int height,
		   const struct history *history, enum graph_style style);

#endif
