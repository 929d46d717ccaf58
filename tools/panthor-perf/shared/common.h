/* SPDX-License-Identifier: MIT */
/* Exit statuses, messages, options and numbers that all commands have in common. */
#ifndef PANTHOR_PERF_COMMON_H
#define PANTHOR_PERF_COMMON_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <clocks.h>
#include <panthor-perf.h>

/* Exit statuses; a command that runs a program has those of the program as well. */
enum status {
	STATUS_OK = 0,

	/* Anything that has no status of its own. */
	STATUS_FAILED = 1,

	/* The arguments are wrong, or name a counter that is not known. */
	STATUS_USAGE = 2,

	/* There is no GPU with panthor, or not the one that was named. */
	STATUS_NO_DEVICE = 3,

	/* The kernel or the firmware has no counters. */
	STATUS_NO_COUNTERS = 4,

	/* The user may not count, or may not open the device. */
	STATUS_PERMISSION = 5,

	/* Another program counts another counter set. */
	STATUS_SET_IN_USE = 6,

	/* The GPU went away, or its firmware failed, while it was used. */
	STATUS_GONE = 7,

	/* A file or stream cannot be read or written. */
	STATUS_IO = 8,

	/* A file is not what it should be. */
	STATUS_BROKEN = 9,

	/* The terminal cannot do what is needed. */
	STATUS_TERMINAL = 10,

	/* What shells return of a program that cannot be run, and that is not there. */
	STATUS_CANNOT_RUN = 126,
	STATUS_NOT_FOUND = 127,
};

/* Prints "panthor-perf: ..." on standard error, a line with nothing in it that a terminal obeys. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints a text that may come from anybody, without what a terminal obeys. */
void print_text(FILE *out, const char *text);

/* The status that stands for an error of the library. */
int status_of(enum pperf_error error);

/* Prints the library's message of the call that failed with this error, and returns the status. */
int complain_of(enum pperf_error error);

/* Prints that there is no memory, and returns the status. */
int complain_of_memory(void);

/*
 * -d NODE, as a child parser of a command's own: { &device_argp, 0, NULL, 0 } in
 * argp.children, and in ARGP_KEY_INIT state->child_inputs[0] = &device, a const
 * char * that is NULL for the first GPU.
 */
extern const struct argp device_argp;

/* Opens a GPU and the database of the counters of a set. Prints what is wrong. Returns a status. */
int open_gpu(const char *node, uint8_t set, struct pperf_gpu **gpu, struct pperf_db **db);

/*
 * Opens the database of a product's layout or, if none is named, of that of a GPU of this machine.
 * Prints what is wrong. Returns a status.
 */
int open_layout(const char *node, const char *product, const char **layout, struct pperf_db **db);

/* Reads a counter set: primary, secondary, tertiary, or 0 to 2. Returns false if it is none. */
bool parse_set(const char *text, uint8_t *set);

/* Ends the program for a counter set that parse_set() does not take, with those that there are. */
void wrong_set(const struct argp_state *state, const char *text);

/*
 * Reads a time with a unit (ns, us, ms, s), such as 200us or 1.5ms. Returns false
 * if it is none, 0 or longer than a day; a bare number is none.
 */
bool parse_period(const char *text, uint64_t *ns);

/* The same, of minutes (m) and hours (h) as well. */
bool parse_duration(const char *text, uint64_t *ns);

/* Ends the program for an option's time that parse_period() does not take, with what it may have meant. */
void wrong_period(const struct argp_state *state, const char *option, const char *text);

/* Reads a positive whole number. Returns false if it is none, or more than max. */
bool parse_number(const char *text, unsigned long max, unsigned long *number);

/* True if a list, separated by commas, has no empty element. */
bool is_list(const char *text);

/* 12345678 as 12,345,678, in the end of a buffer of 32 bytes. */
const char *grouped(uint64_t value, char buffer[32]);

/* Put separators into a number that printf() has formatted: "-1234567.8" becomes "-1,234,567.8". */
void group_digits(char *text, size_t size);

/* The wider of a column and a text in it. */
int widen(int width, const char *text);

/* 12345678 as 12.35 M, with the unit behind it. */
const char *scaled(double value, const char *unit, char *buffer, size_t size);

/* Mean frequency of the top level clock while the GPU was active. Returns false if it never was. */
bool active_hz(const struct pperf_load *load, double *hz);

/* Whether it is a terminal with fewer columns. */
bool is_narrow(FILE *out, unsigned int columns);

/* The time by a clock, in nanoseconds. */
uint64_t now_ns(clockid_t clock);

/* Return true if a file's name stands for standard input or output: "-". */
bool is_standard(const char *name);

/* Returns true, with a message, if binary data would go to a terminal. */
bool refuse_terminal(int fd, const char *name);

/* Closes a file that was written. Prints what is wrong. Returns a status. */
int finish_output(FILE *out, const char *name);

/* Reads the clocks as close to each other as it comes within a few tries. */
struct clocks read_clocks(void);

#endif
