/* SPDX-License-Identifier: MIT */
/* The terminal, by ncurses: what is drawn on a canvas is shown there, and keys are read. */
#ifndef PANTHOR_PERF_TOP_SCREEN_H
#define PANTHOR_PERF_TOP_SCREEN_H

#include <stdbool.h>

#include "graph.h"

/* Keys that are no characters. */
enum screen_key {
	SCREEN_NO_KEY = -1,
	SCREEN_ENTER = 0x100,
	SCREEN_ESCAPE,
	SCREEN_BACKSPACE,
	SCREEN_OTHER,
};

/* Whether the locale's characters are UTF-8. setlocale() has to be called before. */
bool screen_has_utf8(void);

/* Whether there is no terminal to read keys from and to draw on, or it can print lines alone. */
bool screen_is_dumb(void);

/* Prints what is wrong with the terminal, if anything is. Returns a status. */
int screen_check(void);

/* Takes the terminal. Prints what is wrong. Returns a status. */
int screen_begin(void);

/* Gives it back as it was; nothing happens if it was not taken. */
void screen_end(void);

void screen_size(int *columns, int *rows);

/* To be called at SIGWINCH, which has to be blocked before screen_begin(). */
void screen_resize(void);

void screen_show(const struct canvas *canvas);

/* A character, an enum screen_key, or SCREEN_NO_KEY if none was pressed. */
int screen_key(void);

#endif
