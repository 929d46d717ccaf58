// SPDX-License-Identifier: MIT
/* The terminal of panthor-perf top, by ncurses. */
#define _GNU_SOURCE
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common.h"
#include "top-screen.h"

#include <curses.h>
#include <term.h>

/* The latter has macros for all that a terminal can have. */
#undef columns

/* NULL while the terminal is not ours. */
static SCREEN *screen;

/* Whether looks have colours. */
static bool coloured;

bool screen_has_utf8(void)
{
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static const char *terminal_name(void)
{
	const char *name = getenv("TERM");

	return name ? name : "";
}

bool screen_is_dumb(void)
{
	const char *name = terminal_name();

	return !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !*name || !strcmp(name, "dumb");
}

/* A string that a terminal may have. */
static bool has_string(const char *name)
{
	const char *text = tigetstr(name);

	return text && text != (const char *)-1;
}

int screen_check(void)
{
	bool able;
	int found;

	if (setupterm(NULL, STDOUT_FILENO, &found) != OK) {
		complain("unknown terminal \"%s\". Set TERM to a known terminal, such as vt100, or use --lines, --once "
			 "or -j", terminal_name());
		return STATUS_TERMINAL;
	}
	able = has_string("cup") && has_string("clear");
	del_curterm(cur_term);
	if (able)
		return STATUS_OK;
	complain("the terminal \"%s\" (TERM) cannot move its cursor. Use --lines, --once or -j", terminal_name());
	return STATUS_TERMINAL;
}

static void begin_colours(void)
{
	const char *none = getenv("NO_COLOR");

	coloured = has_colors() && !(none && *none);
	if (!coloured)
		return;
	start_color();
	use_default_colors();
	init_pair(LOOK_WARNING, COLOR_RED, -1);
	init_pair(LOOK_LOW, COLOR_GREEN, -1);
	init_pair(LOOK_MIDDLE, COLOR_YELLOW, -1);
	init_pair(LOOK_HIGH, COLOR_RED, -1);
}

int screen_begin(void)
{
	screen = newterm(NULL, stdout, stdin);
	if (!screen) {
		complain("cannot use the terminal \"%s\" (TERM). Use --lines, --once or -j", terminal_name());
		return STATUS_TERMINAL;
	}
	begin_colours();
	cbreak();
	noecho();
	nonl();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	set_escdelay(25);
	curs_set(0);
	return STATUS_OK;
}

void screen_end(void)
{
	if (!screen)
		return;
	curs_set(1);
	endwin();
	delscreen(screen);
	screen = NULL;
}

void screen_size(int *columns, int *rows)
{
	getmaxyx(stdscr, *rows, *columns);
}

void screen_resize(void)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row && size.ws_col)
		resizeterm(size.ws_row, size.ws_col);
}

static attr_t attributes_of(enum graph_look look)
{
	switch (look) {
	case LOOK_TITLE:
		return A_BOLD;
	case LOOK_HEADER:
		return A_REVERSE;
	case LOOK_WARNING:
		return coloured ? COLOR_PAIR(look) | A_BOLD : A_BOLD;
	case LOOK_LOW:
	case LOOK_MIDDLE:
	case LOOK_HIGH:
		return coloured ? COLOR_PAIR(look) : A_NORMAL;
	case LOOK_DIM:
	case LOOK_PLAIN:
	case LOOKS:
		break;
	}
	return A_NORMAL;
}

void screen_show(const struct canvas *canvas)
{
	const struct cell *cell;
	int row, column;

	erase();
	for (row = 0; row < canvas->rows; row++) {
		for (column = 0; column < canvas->columns; column++) {
			cell = canvas_at(canvas, row, column);
			if (!cell->look && !strcmp(cell->text, " "))
				continue;
			attrset(attributes_of(cell->look));
			mvaddstr(row, column, cell->text);
		}
	}
	attrset(A_NORMAL);
	refresh();
}

int screen_key(void)
{
	int key = getch();

	switch (key) {
	case ERR:
		return SCREEN_NO_KEY;
	case '\r':
	case '\n':
	case KEY_ENTER:
		return SCREEN_ENTER;
	case 27:
		return SCREEN_ESCAPE;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		return SCREEN_BACKSPACE;
	}
	return key < 0x80 ? key : SCREEN_OTHER;
}
