// SPDX-License-Identifier: MIT
/* Clients of a GPU, by DRM's usage stats. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include <panthor-perf.h>

#include "fdinfo.h"

/* Nodes of GPUs. */
#define DRM_MAJOR 226

/* No file of fdinfo is longer; what is behind is not read. */
#define MAX_TEXT 16384

const char *const fdinfo_engine_names[FDINFO_ENGINE_VALUES] = {
	[FDINFO_TIME_NS] = "engine",
	[FDINFO_CYCLES] = "cycles",
	[FDINFO_TOTAL_CYCLES] = "total-cycles",
	[FDINFO_MAX_HZ] = "maxfreq",
	[FDINFO_CURRENT_HZ] = "curfreq",
	[FDINFO_CAPACITY] = "engine-capacity",
};

const char *const fdinfo_memory_names[FDINFO_MEMORY_VALUES] = {
	[FDINFO_TOTAL] = "total",
	[FDINFO_SHARED] = "shared",
	[FDINFO_RESIDENT] = "resident",
	[FDINFO_PURGEABLE] = "purgeable",
	[FDINFO_ACTIVE] = "active",
};

/* Values that only grow. */
static const unsigned int growing[] = { FDINFO_TIME_NS, FDINFO_CYCLES, FDINFO_TOTAL_CYCLES };

#define NUM_GROWING (sizeof(growing) / sizeof(growing[0]))

/* ---- One text ---- */

/* Copies a string for people to read: cut to the size, without what a terminal would obey. */
static void copy_text(char *to, size_t size, const char *from, size_t length)
{
	size_t i;

	for (i = 0; i < length && i + 1 < size; i++)
		to[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
	to[i] = 0;
}

static uint64_t times(uint64_t number, uint64_t factor)
{
	uint64_t product;

	return __builtin_mul_overflow(number, factor, &product) ? UINT64_MAX : product;
}

static const struct unit {
	const char *name;
	uint64_t factor;
} no_units[] = { { "", 1 }, {} },
  time_units[] = { { "", 1 }, { "ns", 1 }, {} },
  frequency_units[] = { { "", 1 }, { "Hz", 1 }, { "KHz", 1000 }, { "kHz", 1000 }, { "MHz", 1000000 }, {} },
  memory_units[] = { { "", 1 }, { "KiB", 1024 }, { "MiB", 1024 * 1024 }, {} };

/*
 * Reads a number and its unit. A number that is too large becomes the largest
 * there is, as the format sets no limit. Returns false if it is none.
 */
static bool read_number(const char *text, size_t length, const struct unit *units, uint64_t *number)
{
	const char *end = text + length;
	uint64_t n = 0;

	if (text == end || !isdigit((unsigned char)*text))
		return false;
	for (; text < end && isdigit((unsigned char)*text); text++) {
		n = times(n, 10);
		n = n > UINT64_MAX - (*text - '0') ? UINT64_MAX : n + (*text - '0');
	}
	if (text < end && !isspace((unsigned char)*text))
		return false;
	while (text < end && isspace((unsigned char)*text))
		text++;
	for (; units->name; units++) {
		if (strlen(units->name) != (size_t)(end - text) || memcmp(units->name, text, end - text))
			continue;
		*number = times(n, units->factor);
		return true;
	}
	return false;
}

/* The item of a name, made if it is new. NULL if there is no room, or the name is none. */
static struct fdinfo_item *item_of(struct fdinfo_item *items, unsigned int *count, unsigned int max,
				   const char *name, size_t length)
{
	unsigned int i;

	if (!length || length >= FDINFO_NAME)
		return NULL;
	for (i = 0; i < *count; i++)
		if (strlen(items[i].name) == length && !memcmp(items[i].name, name, length))
			return &items[i];
	if (*count == max)
		return NULL;
	copy_text(items[i].name, FDINFO_NAME, name, length);
	(*count)++;
	return &items[i];
}

static void set(struct fdinfo_item *item, unsigned int which, uint64_t value)
{
	item->value[which] = value;
	item->known |= 1u << which;
}

/* True if a key begins with a word and a hyphen; *rest is what follows. */
static bool after(const char *key, size_t length, const char *word, const char **rest, size_t *rest_length)
{
	size_t n = strlen(word);

	if (length <= n + 1 || memcmp(key, word, n) || key[n] != '-')
		return false;
	*rest = key + n + 1;
	*rest_length = length - n - 1;
	return true;
}

static const struct unit *engine_units(unsigned int which)
{
	switch (which) {
	case FDINFO_TIME_NS:
		return time_units;
	case FDINFO_MAX_HZ:
	case FDINFO_CURRENT_HZ:
		return frequency_units;
	default:
		return no_units;
	}
}

static bool take_engine(struct fdinfo *info, const char *key, size_t length, const char *value, size_t value_length)
{
	/* "total-cycles" is no region's total, "engine-capacity" no engine. */
	static const unsigned int order[] = {
		FDINFO_CAPACITY, FDINFO_TOTAL_CYCLES, FDINFO_TIME_NS, FDINFO_CYCLES, FDINFO_MAX_HZ, FDINFO_CURRENT_HZ,
	};
	struct fdinfo_item *item;
	const char *name;
	uint64_t number;
	size_t i, n;

	for (i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		if (!after(key, length, fdinfo_engine_names[order[i]], &name, &n))
			continue;
		if (!read_number(value, value_length, engine_units(order[i]), &number))
			return true;
		/* It is not allowed, and nothing can be divided by it. */
		if (order[i] == FDINFO_CAPACITY && !number)
			return true;
		item = item_of(info->engines, &info->num_engines, FDINFO_ENGINES, name, n);
		if (item)
			set(item, order[i], number);
		return true;
	}
	return false;
}

static void take_memory(struct fdinfo *info, const char *key, size_t length, const char *value, size_t value_length)
{
	struct fdinfo_item *item;
	const char *name;
	uint64_t number;
	unsigned int i;
	size_t n;

	for (i = 0; i < FDINFO_MEMORY_VALUES; i++) {
		if (!after(key, length, fdinfo_memory_names[i], &name, &n))
			continue;
		if (!read_number(value, value_length, memory_units, &number))
			return;
		item = item_of(info->regions, &info->num_regions, FDINFO_REGIONS, name, n);
		if (item)
			set(item, i, number);
		return;
	}
	/* An old name of "resident". */
	if (after(key, length, "memory", &name, &n) && read_number(value, value_length, memory_units, &number)) {
		item = item_of(info->regions, &info->num_regions, FDINFO_REGIONS, name, n);
		if (item && !fdinfo_knows(item, FDINFO_RESIDENT))
			set(item, FDINFO_RESIDENT, number);
	}
}

static bool is_key(const char *key, size_t length, const char *name)
{
	return length == strlen(name) && !memcmp(key, name, length);
}

static void take(struct fdinfo *info, const char *key, size_t length, const char *value, size_t value_length)
{
	uint64_t number;

	if (is_key(key, length, "panthor-perf-sessions")) {
		if (read_number(value, value_length, no_units, &number)) {
			info->has_sessions = true;
			info->sessions = number;
		}
		return;
	}
	if (!after(key, length, "drm", &key, &length))
		return;
	if (is_key(key, length, "driver")) {
		copy_text(info->driver, sizeof(info->driver), value, value_length);
	} else if (is_key(key, length, "client-name")) {
		copy_text(info->client_name, sizeof(info->client_name), value, value_length);
	} else if (is_key(key, length, "client-id")) {
		/* Two that are cut would look like one. */
		if (read_number(value, value_length, no_units, &number) && number != UINT64_MAX) {
			info->has_id = true;
			info->id = number;
		}
	} else if (!take_engine(info, key, length, value, value_length)) {
		take_memory(info, key, length, value, value_length);
	}
}

bool fdinfo_parse(const char *text, struct fdinfo *info)
{
	const char *end, *colon, *value, *stop;
	size_t length;

	memset(info, 0, sizeof(*info));
	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		colon = memchr(text, ':', end - text);
		if (!colon)
			continue;
		length = colon - text;
		value = colon + 1;
		stop = end;
		while (value < stop && isspace((unsigned char)*value))
			value++;
		while (stop > value && isspace((unsigned char)stop[-1]))
			stop--;
		take(info, text, length, value, stop - value);
	}
	return *info->driver;
}

/* ---- Clients over time ---- */

void clients_free(struct clients *clients)
{
	free(clients->list);
	memset(clients, 0, sizeof(*clients));
}

void clients_begin(struct clients *clients)
{
	clients->scan++;
	clients->hidden = 0;
}

static const struct fdinfo_item *find_engine(const struct fdinfo *info, const char *name)
{
	unsigned int i;

	for (i = 0; i < info->num_engines; i++)
		if (!strcmp(info->engines[i].name, name))
			return &info->engines[i];
	return NULL;
}

/* Keeps what only grows at the largest that was read, also while the kernel does not tell it. */
static void hold(struct fdinfo *now, const struct fdinfo *before)
{
	const struct fdinfo_item *old;
	struct fdinfo_item *item;
	unsigned int i, g;

	for (i = 0; i < now->num_engines; i++) {
		item = &now->engines[i];
		old = find_engine(before, item->name);
		for (g = 0; old && g < NUM_GROWING; g++)
			if (item->value[growing[g]] < old->value[growing[g]])
				item->value[growing[g]] = old->value[growing[g]];
	}
}

/* What was done between two reads. */
static void compare(struct client *c, const struct fdinfo *before, uint64_t before_ns)
{
	const struct fdinfo_item *now, *old;
	double time, cycles;
	unsigned int i;

	c->seconds = (c->read_ns - before_ns) * 1e-9;
	c->busy_seconds = c->cycles = c->possible_cycles = 0;
	c->has_time = c->has_cycles = false;
	for (i = 0; i < c->info.num_engines; i++) {
		now = &c->info.engines[i];
		old = find_engine(before, now->name);
		if (!old)
			continue;
		if (fdinfo_knows(now, FDINFO_TIME_NS) && fdinfo_knows(old, FDINFO_TIME_NS)) {
			time = (now->value[FDINFO_TIME_NS] - old->value[FDINFO_TIME_NS]) * 1e-9;
			if (fdinfo_knows(now, FDINFO_CAPACITY))
				time /= now->value[FDINFO_CAPACITY];
			c->busy_seconds += time;
			c->has_time = true;
		}
		if (!fdinfo_knows(now, FDINFO_CYCLES) || !fdinfo_knows(old, FDINFO_CYCLES))
			continue;
		cycles = now->value[FDINFO_CYCLES] - old->value[FDINFO_CYCLES];
		c->cycles += cycles;
		c->has_cycles = true;
		if (fdinfo_knows(now, FDINFO_TOTAL_CYCLES) && fdinfo_knows(old, FDINFO_TOTAL_CYCLES))
			c->possible_cycles += now->value[FDINFO_TOTAL_CYCLES] - old->value[FDINFO_TOTAL_CYCLES];
		else if (fdinfo_knows(now, FDINFO_MAX_HZ))
			c->possible_cycles += now->value[FDINFO_MAX_HZ] * c->seconds;
	}
}

static struct client *find_client(struct clients *clients, uint64_t id)
{
	size_t i;

	for (i = 0; i < clients->count; i++)
		if (clients->list[i].info.id == id)
			return &clients->list[i];
	return NULL;
}

static void set_process(struct client *c, pid_t pid, const char *command)
{
	c->pid = pid;
	copy_text(c->command, sizeof(c->command), command, strlen(command));
}

bool clients_add(struct clients *clients, pid_t pid, const char *command, const struct fdinfo *info,
		 uint64_t now_ns)
{
	uint64_t before_ns;
	struct fdinfo before;
	struct client *c, *list;

	if (!info->has_id)
		return true;

	c = find_client(clients, info->id);
	if (c && c->scan == clients->scan) {
		if (pid < c->pid)
			set_process(c, pid, command);
		return true;
	}
	if (!c) {
		list = reallocarray(clients->list, clients->count + 1, sizeof(*list));
		if (!list)
			return false;
		clients->list = list;
		c = &list[clients->count++];
		memset(c, 0, sizeof(*c));
		c->info = *info;
		c->read_ns = now_ns;
	} else {
		before = c->info;
		before_ns = c->read_ns;
		c->info = *info;
		c->read_ns = now_ns;
		hold(&c->info, &before);
		compare(c, &before, before_ns);
	}
	c->scan = clients->scan;
	set_process(c, pid, command);
	return true;
}

void clients_end(struct clients *clients)
{
	size_t i, kept = 0;

	for (i = 0; i < clients->count; i++)
		if (clients->list[i].scan == clients->scan)
			clients->list[kept++] = clients->list[i];
	clients->count = kept;
}

/* ---- /proc ---- */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* Reads a small file. Returns false if it cannot be read: processes end at any time. */
static bool read_file(int directory, const char *name, char *text, size_t size)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC);
	size_t length = 0;
	ssize_t n = -1;

	if (fd < 0)
		return false;
	while (length + 1 < size && (n = read(fd, text + length, size - 1 - length)) > 0)
		length += n;
	close(fd);
	text[length] = 0;
	return n >= 0;
}

static bool scan_process(struct clients *clients, int process, pid_t pid,
			 bool (*is_gpu)(void *context, int directory, const char *name), void *context)
{
	char command[FDINFO_NAME] = "?", name[300], text[MAX_TEXT];
	int fd = openat(process, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool known = false, enough = true;
	struct dirent *entry;
	struct fdinfo info;
	DIR *files;

	if (fd < 0) {
		clients->hidden += errno == EACCES || errno == EPERM;
		return true;
	}
	files = fdopendir(fd);
	if (!files) {
		/* The process may have ended since: then the kernel does not tell of its directory. */
		enough = errno != ENOMEM;
		close(fd);
		return enough;
	}
	while (enough && (entry = readdir(files))) {
		if (!isdigit((unsigned char)entry->d_name[0]) || !is_gpu(context, fd, entry->d_name))
			continue;
		snprintf(name, sizeof(name), "fdinfo/%s", entry->d_name);
		if (!read_file(process, name, text, sizeof(text)) || !fdinfo_parse(text, &info))
			continue;
		if (!known && read_file(process, "comm", command, sizeof(command)))
			command[strcspn(command, "\n")] = 0;
		known = true;
		enough = clients_add(clients, pid, command, &info, now_ns());
	}
	closedir(files);
	return enough;
}

bool clients_scan(struct clients *clients, const char *proc,
		  bool (*is_gpu)(void *context, int directory, const char *name), void *context)
{
	DIR *processes = opendir(proc);
	struct dirent *entry;
	bool enough = true;
	int process;

	if (!processes)
		return false;
	clients_begin(clients);
	while (enough && (entry = readdir(processes))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		process = openat(dirfd(processes), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (process < 0)
			continue;
		enough = scan_process(clients, process, strtol(entry->d_name, NULL, 10), is_gpu, context);
		close(process);
	}
	closedir(processes);
	clients_end(clients);
	return enough;
}

/* The name of a directory in sysfs, as it is without links. */
static bool same_directory(const char *a, const char *b)
{
	char real_a[PATH_MAX], real_b[PATH_MAX];

	return realpath(a, real_a) && realpath(b, real_b) && !strcmp(real_a, real_b);
}

bool client_is_of(void *gpu, int directory, const char *name)
{
	const struct pperf_gpu_info *info = gpu;
	struct stat st, node;
	char sysfs[64];

	/* The link leads to the open file itself. */
	if (fstatat(directory, name, &st, 0) || !S_ISCHR(st.st_mode) || major(st.st_rdev) != DRM_MAJOR)
		return false;
	if (!info->sysfs)
		return !stat(info->node, &node) && node.st_rdev == st.st_rdev;
	snprintf(sysfs, sizeof(sysfs), "/sys/dev/char/%u:%u/device", major(st.st_rdev), minor(st.st_rdev));
	return same_directory(sysfs, info->sysfs);
}

/* ---- What is shown ---- */

double client_busy(const struct client *client)
{
	if (!client->has_time || !(client->seconds > 0))
		return NAN;
	return client->busy_seconds / client->seconds;
}

double client_load(const struct client *client)
{
	if (!client->has_cycles || !(client->possible_cycles > 0))
		return NAN;
	return client->cycles / client->possible_cycles;
}

double client_hz(const struct client *client)
{
	if (!client->has_time || !client->has_cycles || !(client->busy_seconds > 0))
		return NAN;
	return client->cycles / client->busy_seconds;
}

bool client_memory(const struct client *client, enum fdinfo_memory_value value, uint64_t *bytes)
{
	const struct fdinfo_item *region;
	bool known = false;
	unsigned int i;

	*bytes = 0;
	for (i = 0; i < client->info.num_regions; i++) {
		region = &client->info.regions[i];
		if (!fdinfo_knows(region, value))
			continue;
		known = true;
		if (__builtin_add_overflow(*bytes, region->value[value], bytes))
			*bytes = UINT64_MAX;
	}
	return known;
}

struct sorting {
	enum client_order order;
	bool reverse;
};

static int three_way(double a, double b)
{
	return (a > b) - (a < b);
}

static uint64_t resident(const struct client *c)
{
	uint64_t bytes;

	if (!client_memory(c, FDINFO_RESIDENT, &bytes))
		client_memory(c, FDINFO_TOTAL, &bytes);
	return bytes;
}

static double known_or_less(double value)
{
	return isnan(value) ? -1 : value;
}

int client_keys_compare(enum client_order order, const struct client_key *a, const struct client_key *b)
{
	int result = 0;

	switch (order) {
	case CLIENTS_BY_TIME:
		result = three_way(known_or_less(b->busy), known_or_less(a->busy));
		if (result)
			break;
		/* fall through */
	case CLIENTS_BY_MEMORY:
		result = (a->bytes < b->bytes) - (a->bytes > b->bytes);
		break;
	case CLIENTS_BY_NAME:
		result = strcmp(a->command, b->command);
		break;
	case CLIENTS_BY_PID:
		result = three_way(a->pid, b->pid);
		break;
	case CLIENT_ORDERS:
		break;
	}
	return result;
}

static struct client_key key_of(const struct client *c)
{
	return (struct client_key){ client_busy(c), resident(c), c->command, c->pid };
}

static int compare_clients(const void *left, const void *right, void *context)
{
	const struct client *a = left, *b = right;
	const struct client_key of_a = key_of(a), of_b = key_of(b);
	const struct sorting *sorting = context;
	int result = client_keys_compare(sorting->order, &of_a, &of_b);

	if (!result)
		result = (a->info.id > b->info.id) - (a->info.id < b->info.id);
	return sorting->reverse ? -result : result;
}

void clients_sort(struct clients *clients, enum client_order order, bool reverse)
{
	struct sorting sorting = { order, reverse };

	if (clients->count)
		qsort_r(clients->list, clients->count, sizeof(*clients->list), compare_clients, &sorting);
}
