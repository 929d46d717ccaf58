// SPDX-License-Identifier: MIT
/* Bars and graphs, of characters. */
#define _GNU_SOURCE
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "graph.h"

/* ---- The canvas ---- */

static int between(int value, int low, int high)
{
	return value < low ? low : value > high ? high : value;
}

bool canvas_init(struct canvas *canvas, int columns, int rows)
{
	size_t count, i;

	canvas->columns = between(columns, 1, MAX_COLUMNS);
	canvas->rows = between(rows, 1, MAX_ROWS);
	count = (size_t)canvas->columns * canvas->rows;
	canvas->cells = calloc(count, sizeof(*canvas->cells));
	if (!canvas->cells)
		return false;
	for (i = 0; i < count; i++)
		canvas->cells[i].text[0] = ' ';
	return true;
}

void canvas_free(struct canvas *canvas)
{
	free(canvas->cells);
	canvas->cells = NULL;
}

struct cell *canvas_at(const struct canvas *canvas, int row, int column)
{
	if (row < 0 || row >= canvas->rows || column < 0 || column >= canvas->columns)
		return NULL;
	return &canvas->cells[(size_t)row * canvas->columns + column];
}

static void put_char(struct canvas *canvas, int row, int column, enum graph_look look, char c)
{
	struct cell *cell = canvas_at(canvas, row, column);

	if (!cell)
		return;
	cell->text[0] = c < ' ' || c > '~' ? '?' : c;
	cell->text[1] = 0;
	cell->look = look;
}

/* A character of three bytes in UTF-8: those of blocks and braille are. */
static void put_wide(struct canvas *canvas, int row, int column, enum graph_look look, unsigned int c)
{
	struct cell *cell = canvas_at(canvas, row, column);

	if (!cell)
		return;
	cell->text[0] = 0xe0 | c >> 12;
	cell->text[1] = 0x80 | (c >> 6 & 0x3f);
	cell->text[2] = 0x80 | (c & 0x3f);
	cell->text[3] = 0;
	cell->look = look;
}

int canvas_put(struct canvas *canvas, int row, int column, int width, enum graph_look look, const char *text)
{
	struct cell *cell;
	mbstate_t state;
	wchar_t code;
	int columns;
	size_t size;

	for (; *text && width > 0; text += size) {
		memset(&state, 0, sizeof(state));
		size = mbrtowc(&code, text, strlen(text), &state);
		columns = size <= sizeof(cell->text) - 1 ? wcwidth(code) : -1;
		if (columns < 1 || columns > width) {
			/* What the locale does not have, or a terminal would obey. */
			size = size <= MB_LEN_MAX ? size : 1;
			put_char(canvas, row, column, look, '?');
			columns = 1;
		} else if ((cell = canvas_at(canvas, row, column))) {
			memcpy(cell->text, text, size);
			cell->text[size] = 0;
			cell->look = look;
			/* The other half of one that is two columns wide. */
			if (columns == 2 && (cell = canvas_at(canvas, row, column + 1)))
				cell->text[0] = 0;
		}
		column += columns;
		width -= columns;
	}
	return column;
}

int canvas_print(struct canvas *canvas, int row, int column, enum graph_look look, const char *format, ...)
{
	char text[MAX_COLUMNS + 1];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return canvas_put(canvas, row, column, MAX_COLUMNS, look, text);
}

void canvas_write(const struct canvas *canvas, FILE *out)
{
	int row, column, end;

	for (row = 0; row < canvas->rows; row++) {
		for (end = canvas->columns; end && !strcmp(canvas_at(canvas, row, end - 1)->text, " "); end--)
			;
		for (column = 0; column < end; column++)
			fputs(canvas_at(canvas, row, column)->text, out);
		fputc('\n', out);
	}
}

/* ---- Bars ---- */

enum graph_look graph_look(double part)
{
	return part >= 0.9 ? LOOK_HIGH : part >= 0.5 ? LOOK_MIDDLE : LOOK_LOW;
}

/* How many of so many steps a part is: 0 for 0 alone. */
static int steps_of(double part, int steps)
{
	int n;

	if (isnan(part) || part <= 0)
		return 0;
	if (part >= 1)
		return steps;
	n = part * steps + 0.5;
	return n ? n : 1;
}

/* The block that fills so many eighths, 1 to 8: from the left, or from below. */
#define LEFT_BLOCK(eighths) (0x2590u - (eighths))
#define LOWER_BLOCK(eighths) (0x2580u + (eighths))

void graph_bar(struct canvas *canvas, int row, int column, int width, double part, enum graph_style style)
{
	enum graph_look look = graph_look(part);
	int inner = width - 2, filled, i;

	if (inner < 1)
		return;
	put_char(canvas, row, column, LOOK_PLAIN, '[');
	put_char(canvas, row, column + width - 1, LOOK_PLAIN, ']');
	if (style == STYLE_ASCII) {
		filled = steps_of(part, inner);
		for (i = 0; i < filled; i++)
			put_char(canvas, row, column + 1 + i, look, '|');
		return;
	}
	filled = steps_of(part, inner * 8);
	for (i = 0; i < inner && filled > i * 8; i++)
		put_wide(canvas, row, column + 1 + i, look, LEFT_BLOCK(between(filled - i * 8, 1, 8)));
}

/* ---- History ---- */

bool history_init(struct history *history, size_t size)
{
	memset(history, 0, sizeof(*history));
	history->values = calloc(size, sizeof(*history->values));
	history->size = size;
	return history->values;
}

void history_free(struct history *history)
{
	free(history->values);
	memset(history, 0, sizeof(*history));
}

void history_add(struct history *history, double value)
{
	history->values[history->next] = value;
	history->next = (history->next + 1) % history->size;
	if (history->count < history->size)
		history->count++;
}

double history_at(const struct history *history, size_t age)
{
	if (age >= history->count)
		return NAN;
	return history->values[(history->next + history->size - 1 - age) % history->size];
}

/* Steps that are filled in a row of a column, row 0 being the lowest. */
static int steps_in_row(int filled, int row, int steps)
{
	return between(filled - row * steps, 0, steps);
}

/* Dots of a column of braille that is filled from below by 0 to 4 dots: left, right. */
static const unsigned char dots[2][5] = {
	{ 0x00, 0x40, 0x44, 0x46, 0x47 },
	{ 0x00, 0x80, 0xa0, 0xb0, 0xb8 },
};

void graph_history(struct canvas *canvas, int row, int column, int width, int height,
		   const struct history *history, enum graph_style style)
{
	int steps = style == STYLE_BRAILLE ? 4 : style == STYLE_BLOCKS ? 8 : 1;
	int c, r, at, left, right;
	double value, before;
	size_t age;

	for (c = 0; c < width; c++) {
		age = (size_t)(width - 1 - c) * (style == STYLE_BRAILLE ? 2 : 1);
		value = history_at(history, age);
		before = style == STYLE_BRAILLE ? history_at(history, age + 1) : NAN;
		for (r = 0; r < height; r++) {
			at = row + height - 1 - r;
			right = steps_in_row(steps_of(value, height * steps), r, steps);
			left = steps_in_row(steps_of(before, height * steps), r, steps);
			if (!right && !left)
				continue;
			/* The larger of the two tells the colour. */
			if (style == STYLE_ASCII)
				put_char(canvas, at, column + c, graph_look(value), '#');
			else if (style == STYLE_BLOCKS)
				put_wide(canvas, at, column + c, graph_look(value), LOWER_BLOCK(right));
			else
				put_wide(canvas, at, column + c, graph_look(fmax(value, before)),
					 0x2800u | dots[0][left] | dots[1][right]);
		}
	}
}
