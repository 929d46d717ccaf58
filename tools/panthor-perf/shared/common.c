// SPDX-License-Identifier: MIT
/* What the subcommands share. */
#define _GNU_SOURCE
#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <suggest.h>

#include "common.h"
#include "rates.h"
#include "text.h"

void complain(const char *format, ...)
{
	va_list args;
	char *text;
	int size;

	va_start(args, format);
	size = vasprintf(&text, format, args);
	va_end(args);
	/* It may have names of files and recordings in it. */
	if (size >= 0)
		pperf_text_clean(text);

	fflush(stdout);
	fprintf(stderr, "panthor-perf: %s\n", size >= 0 ? text : "out of memory");
	if (size >= 0)
		free(text);
}

void print_text(FILE *out, const char *text)
{
	char one[5];
	size_t size;

	for (; *text; text += size) {
		size = pperf_text_character(text);
		if (!size)
			size = 1;
		memcpy(one, text, size);
		one[size] = 0;
		pperf_text_clean(one);
		fputs(one, out);
	}
}

int status_of(enum pperf_error error)
{
	switch (error) {
	case PPERF_OK:
		return STATUS_OK;
	case PPERF_ERROR_INVALID:
	case PPERF_ERROR_UNKNOWN:
		return STATUS_USAGE;
	case PPERF_ERROR_NO_DEVICE:
		return STATUS_NO_DEVICE;
	case PPERF_ERROR_NO_KERNEL_SUPPORT:
	case PPERF_ERROR_NO_COUNTERS:
	case PPERF_ERROR_OTHER_INTERFACE:
		return STATUS_NO_COUNTERS;
	case PPERF_ERROR_PERMISSION:
		return STATUS_PERMISSION;
	case PPERF_ERROR_SET_IN_USE:
		return STATUS_SET_IN_USE;
	case PPERF_ERROR_FIRMWARE:
	case PPERF_ERROR_GONE:
		return STATUS_GONE;
	case PPERF_ERROR_BROKEN:
		return STATUS_BROKEN;
	case PPERF_ERROR_TOO_MANY:
	case PPERF_ERROR_RING_FULL:
	case PPERF_ERROR_NOT_COUNTED:
	case PPERF_ERROR_NO_VALUE:
	case PPERF_ERROR_SYSTEM:
	case PPERF_ERROR_NO_MEMORY:
	case PPERF_ERROR_INTERRUPTED:
		return STATUS_FAILED;
	}
	return STATUS_FAILED;
}

int complain_of(enum pperf_error error)
{
	/* The message is of the library's last error, and memory runs out elsewhere, too. */
	complain("%s", error == PPERF_ERROR_NO_MEMORY ? pperf_strerror(error) : pperf_message());
	return status_of(error);
}

int complain_of_memory(void)
{
	complain("out of memory");
	return STATUS_FAILED;
}

static const struct argp_option device_options[] = {
	{ "device", 'd', "NODE", 0, "Use this GPU: a render node, or renderD128, 128 or card0 (default: the first GPU driven by panthor)", 0 },
	{}
};

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

/* The render node of a card, the other one in its device's directory; or the name as it is. */
static const char *node_of_card(const char *card, char *node, size_t size)
{
	const char *name = card;
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "/sys/class/drm/%s/device/drm/renderD*", card);
	if (!glob(pattern, 0, NULL, &found)) {
		snprintf(node, size, "/dev/dri/%s", strrchr(found.gl_pathv[0], '/') + 1);
		name = node;
		globfree(&found);
	}
	return name;
}

/* What -d takes besides a path: renderD128, 128, card0 or 0. */
static const char *device_node(const char *name)
{
	static char node[128];
	char card[16];

	if (strchr(name, '/') || strlen(name) >= sizeof(card) - 4)
		return name;
	if (!strncmp(name, "card", 4) && is_number(name + 4))
		return node_of_card(name, node, sizeof(node));
	if (is_number(name) && strtoul(name, NULL, 10) < 64) {
		snprintf(card, sizeof(card), "card%s", name);
		name = node_of_card(card, node, sizeof(node));
		return name == card ? strcpy(node, card) : name;
	}
	if (is_number(name))
		snprintf(node, sizeof(node), "/dev/dri/renderD%s", name);
	else if (!strncmp(name, "renderD", 7) && is_number(name + 7))
		snprintf(node, sizeof(node), "/dev/dri/%s", name);
	else
		return name;
	return node;
}

static error_t parse_device(int key, char *arg, struct argp_state *state)
{
	const char **device = state->input;

	if (key != 'd')
		return ARGP_ERR_UNKNOWN;
	*device = device_node(arg);
	if (!strchr(*device, '/') && access("/sys/class", F_OK))
		argp_error(state, "-d %s: cannot find its render node because /sys is not mounted. Use a render node, such as "
			   "-d renderD128", arg);
	return 0;
}

const struct argp device_argp = { device_options, parse_device, NULL, NULL, NULL, NULL, NULL };

bool parse_set(const char *text, uint8_t *set)
{
	uint8_t i;

	for (i = 0; pperf_set_name(i); i++) {
		if (strcmp(text, pperf_set_name(i)) && (text[0] != '0' + i || text[1]))
			continue;
		*set = i;
		return true;
	}
	return false;
}

void wrong_set(const struct argp_state *state, const char *text)
{
	struct pperf_suggestions near = { .wrong = text };
	char buffer[128];
	uint8_t i;

	for (i = 0; pperf_set_name(i); i++)
		pperf_suggest(&near, pperf_set_name(i));
	argp_error(state, "--set: unknown counter set \"%s\". %s", text,
		   pperf_suggestion(&near, "Use primary, secondary or tertiary.", buffer, sizeof(buffer)));
}

int open_gpu(const char *node, uint8_t set, struct pperf_gpu **gpu, struct pperf_db **db)
{
	enum pperf_error error = pperf_gpu_open(node, gpu);

	if (error)
		return complain_of(error);
	/* The tables have the names of the primary set alone: of the others, counters have places. */
	error = pperf_db_open(set ? NULL : pperf_gpu_info(*gpu)->layout, db);
	if (error) {
		pperf_gpu_close(*gpu);
		*gpu = NULL;
		return complain_of(error);
	}
	return STATUS_OK;
}

int open_layout(const char *node, const char *product, const char **layout, struct pperf_db **db)
{
	struct pperf_gpu *gpu = NULL;
	enum pperf_error error;
	const char *name;
	int status;

	if (product) {
		error = pperf_product_by_name(product, &name, layout);
	} else {
		error = pperf_gpu_open(node, &gpu);
		if (!error)
			error = pperf_product_by_id(pperf_gpu_info(gpu)->gpu_id, &name, layout);
	}
	pperf_gpu_close(gpu);
	if (!error)
		error = pperf_db_open(*layout, db);
	if (!error)
		return STATUS_OK;
	status = complain_of(error);
	/* What is not known of the GPU itself is nobody's wrong argument. */
	return error == PPERF_ERROR_UNKNOWN && !product ? STATUS_FAILED : status;
}

/* With one of the first units. */
static bool parse_time(const char *text, size_t count, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { "m", 60e9 }, { "h", 3600e9 } };
	double number;
	char *end;
	size_t i;

	if (*text < '0' || *text > '9')
		return false;
	number = strtod(text, &end);
	for (i = 0; i < count; i++) {
		if (strcmp(end, units[i].name))
			continue;
		number *= units[i].ns;
		if (!(number >= 1 && number <= 86400e9))
			return false;
		*ns = number + 0.5;
		return true;
	}
	return false;
}

bool parse_period(const char *text, uint64_t *ns)
{
	return parse_time(text, 4, ns);
}

bool parse_duration(const char *text, uint64_t *ns)
{
	return parse_time(text, 6, ns);
}

void wrong_period(const struct argp_state *state, const char *option, const char *text)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	char times[4][32], buffer[160], *unit;
	struct pperf_suggestions near = { .wrong = text };
	uint64_t ns;
	int i;

	if (is_number(text))
		argp_error(state, "%s: \"%s\" has no unit. Did you mean %sms?", option, text, text);
	strtod(text, &unit);
	for (i = 0; i < 4; i++) {
		snprintf(times[i], sizeof(times[i]), "%.*s%s", unit - text > 16 ? 16 : (int)(unit - text), text, units[i]);
		if (parse_period(times[i], &ns))
			pperf_suggest(&near, times[i]);
	}
	argp_error(state, "%s: \"%s\" is not a time. %s", option, text,
		   pperf_suggestion(&near, "Use a number with a unit of ns, us, ms or s, such as 200us.", buffer, sizeof(buffer)));
}

bool parse_number(const char *text, unsigned long max, unsigned long *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return !*end && !errno && *number && *number <= max;
}

bool is_list(const char *text)
{
	size_t length = strlen(text);

	return length && text[0] != ',' && text[length - 1] != ',' && !strstr(text, ",,");
}

const char *grouped(uint64_t value, char buffer[32])
{
	char *at = buffer + 32;
	int digits = 0;

	*--at = 0;
	do {
		if (digits && digits % 3 == 0)
			*--at = ',';
		*--at = '0' + value % 10;
		value /= 10;
		digits++;
	} while (value);
	return at;
}

void group_digits(char *text, size_t size)
{
	char *first = text + strcspn(text, "0123456789");
	size_t digits = strspn(first, "0123456789"), length = strlen(text) + 1, n;

	for (n = 3; n < digits && length < size; n += 3, length++) {
		char *at = first + digits - n;

		memmove(at + 1, at, strlen(at) + 1);
		*at = ',';
	}
}

int widen(int width, const char *text)
{
	int length = strlen(text);

	return length > width ? length : width;
}

const char *scaled(double value, const char *unit, char *buffer, size_t size)
{
	static const char *const prefixes[] = { "", "k", "M", "G", "T", "P", "E" };
	size_t p = 0;

	/* What would be printed as 1000.00 is 1.00 of the next. */
	for (; fabs(value) >= 999.995 && p + 1 < sizeof(prefixes) / sizeof(prefixes[0]); p++)
		value /= 1000;
	snprintf(buffer, size, "%.2f %s%s", value, prefixes[p], unit);
	return buffer;
}

bool active_hz(const struct pperf_load *load, double *hz)
{
	if (!load->active_cycles || !(load->active_seconds > 0))
		return false;
	*hz = load->active_cycles / load->active_seconds;
	return true;
}

static int frequency_digits(uint64_t hz)
{
	return hz < 10000000 ? 2 : 0;
}

bool rates_text(const struct rates *r, char text[RATES_TEXT])
{
	/* Less may be drift, and the ends of samples. */
	const double max_difference = 0.02;
	double measured = r->measured_hz, nominal = r->nominal_hz;

	*text = 0;
	if (!r->measured_hz || fabs(measured - nominal) <= max_difference * nominal)
		return false;
	snprintf(text, RATES_TEXT, "the GPU runs at %.*f MHz, the clock framework says %.*f MHz", frequency_digits(r->measured_hz),
		 measured / 1e6, frequency_digits(r->nominal_hz), nominal / 1e6);
	return true;
}

bool is_narrow(FILE *out, unsigned int columns)
{
	struct winsize size;

	return isatty(fileno(out)) && !ioctl(fileno(out), TIOCGWINSZ, &size) && size.ws_col && size.ws_col < columns;
}

bool is_standard(const char *name)
{
	return !strcmp(name, "-");
}

bool refuse_terminal(int fd, const char *name)
{
	if (!isatty(fd))
		return false;
	complain("%s: a terminal cannot show binary data; redirect it, or use -o FILE to write it to a file", name);
	return true;
}

int finish_output(FILE *out, const char *name)
{
	int failed = ferror(out), error = errno;

	if (out == stdout || out == stderr ? fflush(out) : fclose(out)) {
		failed = 1;
		error = errno;
	}
	if (!failed)
		return STATUS_OK;
	complain("cannot write %s: %s", name, strerror(error));
	return STATUS_IO;
}

uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

struct clocks read_clocks(void)
{
	struct clocks clocks, best = {};
	uint64_t last, shortest = UINT64_MAX;
	int i;

	for (i = 0; i < 4; i++) {
		clocks.monotonic_raw = now_ns(CLOCK_MONOTONIC_RAW);
		clocks.boottime = now_ns(CLOCK_BOOTTIME);
		clocks.realtime = now_ns(CLOCK_REALTIME);
		clocks.monotonic = now_ns(CLOCK_MONOTONIC);
		last = now_ns(CLOCK_MONOTONIC_RAW);
		if (last - clocks.monotonic_raw < shortest) {
			shortest = last - clocks.monotonic_raw;
			best = clocks;
			/* All others were read about the middle. */
			best.monotonic_raw += shortest / 2;
		}
	}
	return best;
}
