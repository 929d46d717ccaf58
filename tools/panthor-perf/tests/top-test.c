// SPDX-License-Identifier: MIT
/* Tests of what panthor-perf top makes of fdinfo, and of what it draws. Prints TAP. */
#define _GNU_SOURCE
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fdinfo.h"
#include "graph.h"

static unsigned int tests;
static int failed;
static bool good = true;

static void __attribute__((format(printf, 2, 3))) expect(bool condition, const char *format, ...)
{
	va_list args;

	if (condition)
		return;
	good = false;
	printf("# ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void expect_number(const char *what, uint64_t got, uint64_t want)
{
	expect(got == want, "%s: %llu instead of %llu", what, (unsigned long long)got, (unsigned long long)want);
}

static void expect_real(const char *what, double got, double want)
{
	expect(fabs(got - want) < 1e-9 || (isnan(got) && isnan(want)), "%s: %g instead of %g", what, got, want);
}

static void expect_text(const char *what, const char *got, const char *want)
{
	expect(!strcmp(got, want), "%s: \"%s\" instead of \"%s\"", what, got, want);
}

static void end(const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
	good = true;
}

/* ---- One text ---- */

/* As panthor of Linux 7.3 prints it, with the attribute "profiling" at 3. */
static const char whole[] =
	"pos:\t0\nflags:\t02100002\nmnt_id:\t27\nino:\t88\n"
	"drm-driver:\tpanthor\n"
	"drm-client-id:\t17\n"
	"drm-engine-panthor:\t111110952750595 ns\n"
	"drm-cycles-panthor:\t94439687187\n"
	"drm-maxfreq-panthor:\t1000000000 Hz\n"
	"drm-curfreq-panthor:\t800 MHz\n"
	"panthor-resident-memory:\t10396 KiB\n"
	"panthor-perf-sessions:\t2\n"
	"drm-total-memory:\t16480 KiB\n"
	"drm-shared-memory:\t0\n"
	"drm-active-memory:\t3 MiB\n"
	"drm-resident-memory:\t16480\n"
	"drm-purgeable-memory:\t0\n";

static void test_whole(void)
{
	const struct fdinfo_item *engine, *region;
	struct fdinfo info;

	expect(fdinfo_parse(whole, &info), "it is not read");
	expect_text("driver", info.driver, "panthor");
	expect(info.has_id, "no id");
	expect_number("id", info.id, 17);
	expect_number("sessions", info.has_sessions ? info.sessions : 99, 2);
	expect_number("engines", info.num_engines, 1);
	engine = &info.engines[0];
	expect_text("engine", engine->name, "panthor");
	expect_number("known", engine->known, 1 << FDINFO_TIME_NS | 1 << FDINFO_CYCLES | 1 << FDINFO_MAX_HZ |
					       1 << FDINFO_CURRENT_HZ);
	expect_number("time", engine->value[FDINFO_TIME_NS], 111110952750595);
	expect_number("cycles", engine->value[FDINFO_CYCLES], 94439687187);
	expect_number("maxfreq", engine->value[FDINFO_MAX_HZ], 1000000000);
	expect_number("curfreq", engine->value[FDINFO_CURRENT_HZ], 800000000);
	expect_number("regions", info.num_regions, 1);
	region = &info.regions[0];
	expect_text("region", region->name, "memory");
	expect_number("known", region->known, (1 << FDINFO_MEMORY_VALUES) - 1);
	expect_number("total", region->value[FDINFO_TOTAL], 16480 * 1024);
	expect_number("active", region->value[FDINFO_ACTIVE], 3 << 20);
	expect_number("resident", region->value[FDINFO_RESIDENT], 16480);
	end("all keys of panthor are read");
}

static void test_older(void)
{
	struct fdinfo info;
	uint64_t bytes;
	struct client client = {};

	/* Linux 6.12 */
	expect(fdinfo_parse("drm-driver:\tpanthor\ndrm-client-id:\t3\ndrm-total-memory:\t8 KiB\n"
			    "drm-shared-memory:\t0\npanthor-perf-sessions:\t0\n", &info), "it is not read");
	expect_number("engines", info.num_engines, 0);
	client.info = info;
	client.seconds = 1;
	expect_real("busy", client_busy(&client), NAN);
	expect_real("load", client_load(&client), NAN);
	expect_real("hz", client_hz(&client), NAN);
	expect(!client_memory(&client, FDINFO_RESIDENT, &bytes), "resident memory from nowhere");
	expect(client_memory(&client, FDINFO_TOTAL, &bytes), "no total");
	expect_number("total", bytes, 8192);
	expect(info.has_sessions && !info.sessions, "no sessions are not 0 sessions");
	end("a kernel without engine keys");

	expect(fdinfo_parse("drm-driver: amdgpu\ndrm-memory-vram: 7 KiB\ndrm-engine-capacity-gfx: 2\ndrm-engine-gfx: 9 ns\n"
			    "drm-total-cycles-gfx: 12\ndrm-total-vram: 1 MiB\n", &info), "it is not read");
	expect_number("engines", info.num_engines, 1);
	expect_text("engine", info.engines[0].name, "gfx");
	expect_number("capacity", info.engines[0].value[FDINFO_CAPACITY], 2);
	expect_number("total cycles", info.engines[0].value[FDINFO_TOTAL_CYCLES], 12);
	expect_number("regions", info.num_regions, 1);
	expect_text("region", info.regions[0].name, "vram");
	expect_number("resident", info.regions[0].value[FDINFO_RESIDENT], 7168);
	expect(!info.has_id, "an id from nowhere");
	end("keys that other drivers have, and old names");
}

static void test_malformed(void)
{
	static const char *const none[] = { "", "\n", ":", "::\n:\n", "pos:\t0\n", "drm-driver\n", "drm-driver:\n", "drm-driver: \t\n" };
	static const char odd[] =
		"drm-driver:\tpan\x1bthor\r\n"
		"drm-client-id:\tseven\n"
		"drm-client-id:\t99999999999999999999999\n"
		"drm-engine-:\t5 ns\n"
		"drm-engine-a:\t-5 ns\n"
		"drm-engine-b:\t5 parsecs\n"
		"drm-engine-c:\t5ns\n"
		"drm-engine-d:\t\n"
		"drm-engine-capacity-e:\t0\n"
		"drm-engine-name-that-is-longer-than-any-that-a-driver-would-ever-have:\t5 ns\n"
		"drm-total-memory:\t5 GiB\n"
		"drm-resident-memory:\t0x10\n"
		"panthor-perf-sessions:\tmany\n"
		"drm-cycles-f:\t5 MHz\n"
		"drm\ndrm-\ndrm-engine\ndrm-:1\n drm-engine-g:\t5 ns\n"
		"no colon";
	struct fdinfo info;
	char text[600];
	size_t i;

	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		expect(!fdinfo_parse(none[i], &info), "\"%s\" is taken for a driver's", none[i]);
	end("what is no driver's text");

	expect(fdinfo_parse(odd, &info), "it is not read");
	expect_text("driver", info.driver, "pan?thor");
	expect(!info.has_id && !info.has_sessions, "an id or sessions from nowhere");
	expect_number("engines", info.num_engines, 0);
	expect_number("regions", info.num_regions, 0);
	end("malformed lines are left out");

	/* Cut anywhere. */
	for (i = 0; i < sizeof(whole); i++) {
		char *copy = strndup(whole, i);

		fdinfo_parse(copy, &info);
		expect(info.num_engines <= 1 && info.num_regions <= 1, "%zu characters make more engines", i);
		free(copy);
	}
	/* More than there is room for. */
	memset(&info, 0, sizeof(info));
	strcpy(text, "drm-driver: x\n");
	for (i = 0; i < 12; i++)
		sprintf(text + strlen(text), "drm-engine-%c: 1\n", (int)('a' + i / 2));
	fdinfo_parse(text, &info);
	expect_number("engines of two lines each", info.num_engines, 6);
	strcpy(text, "drm-driver: x\n");
	for (i = 0; i < 9; i++)
		sprintf(text + strlen(text), "drm-cycles-%zu: 1\ndrm-total-%zu: 1\n", i, i);
	fdinfo_parse(text, &info);
	expect_number("engines", info.num_engines, FDINFO_ENGINES);
	expect_number("regions", info.num_regions, FDINFO_REGIONS);
	end("texts that are cut, or long");
}

static void test_huge(void)
{
	struct client client = {};
	struct fdinfo info;
	uint64_t bytes;

	fdinfo_parse("drm-driver: x\ndrm-client-id: 18446744073709551614\ndrm-engine-x: 18446744073709551615 ns\n"
		     "drm-cycles-x: 18446744073709551616\ndrm-maxfreq-x: 99999999999999999 MHz\n"
		     "drm-total-m: 18014398509481984 KiB\ndrm-total-n: 17592186044415 MiB\n", &info);
	expect_number("id", info.id, UINT64_MAX - 1);
	expect_number("time", info.engines[0].value[FDINFO_TIME_NS], UINT64_MAX);
	expect_number("cycles", info.engines[0].value[FDINFO_CYCLES], UINT64_MAX);
	expect_number("maxfreq", info.engines[0].value[FDINFO_MAX_HZ], UINT64_MAX);
	expect_number("total of m", info.regions[0].value[FDINFO_TOTAL], UINT64_MAX);
	expect_number("total of n", info.regions[1].value[FDINFO_TOTAL], 17592186044415ull << 20);
	client.info = info;
	expect(client_memory(&client, FDINFO_TOTAL, &bytes), "no total");
	expect_number("sum", bytes, UINT64_MAX);
	end("huge values are cut, and do not wrap around");
}

/* ---- Clients ---- */

static struct fdinfo reading(uint64_t id, uint64_t ns, uint64_t cycles)
{
	struct fdinfo info;
	char text[600];

	snprintf(text, sizeof(text), "drm-driver: x\ndrm-client-id: %llu\ndrm-engine-x: %llu ns\ndrm-cycles-x: %llu\n"
		 "drm-maxfreq-x: 1000 MHz\n", (unsigned long long)id, (unsigned long long)ns, (unsigned long long)cycles);
	fdinfo_parse(text, &info);
	return info;
}

static void add(struct clients *clients, pid_t pid, const struct fdinfo *info, uint64_t now_ns)
{
	clients_begin(clients);
	expect(clients_add(clients, pid, "a", info, now_ns), "no memory");
	clients_end(clients);
}

static void test_rates(void)
{
	const uint64_t s = 1000000000;
	struct clients clients = {};
	struct fdinfo info;
	struct client *c;

	info = reading(5, 10 * s, 100);
	add(&clients, 1, &info, s);
	c = clients.list;
	expect_real("busy at first", client_busy(c), NAN);

	info = reading(5, 10 * s + s / 4, 100 + 200000000);
	add(&clients, 1, &info, 2 * s);
	expect_number("clients", clients.count, 1);
	c = clients.list;
	expect_real("busy", client_busy(c), 0.25);
	expect_real("load", client_load(c), 0.2);
	expect_real("frequency", client_hz(c), 800e6);
	end("time, cycles and frequency between two reads");

	/* Back, and then on to more than before. */
	info = reading(5, 10 * s, 50);
	add(&clients, 1, &info, 3 * s);
	c = clients.list;
	expect_number("held time", c->info.engines[0].value[FDINFO_TIME_NS], 10 * s + s / 4);
	expect_number("held cycles", c->info.engines[0].value[FDINFO_CYCLES], 200000100);
	expect_real("busy while it is held", client_busy(c), 0);
	info = reading(5, 10 * s + s / 2, 200000300);
	add(&clients, 1, &info, 4 * s);
	c = clients.list;
	expect_real("busy after", client_busy(c), 0.25);
	expect_real("cycles after", c->cycles, 200);
	end("values that go back are held at the larger");

	/* The attribute is turned off, and on again. */
	fdinfo_parse("drm-driver: x\ndrm-client-id: 5\ndrm-maxfreq-x: 1000 MHz\n", &info);
	add(&clients, 1, &info, 5 * s);
	expect_real("busy without a key", client_busy(clients.list), NAN);
	expect_real("load without a key", client_load(clients.list), NAN);
	info = reading(5, 10 * s, 1);
	add(&clients, 1, &info, 6 * s);
	expect_real("busy at the key's return", client_busy(clients.list), NAN);
	info = reading(5, 11 * s, 1);
	add(&clients, 1, &info, 7 * s);
	expect_real("busy from there on", client_busy(clients.list), 0.5);
	end("keys that come and go");

	/* Another client, and its end. */
	info = reading(6, 0, 0);
	add(&clients, 1, &info, 8 * s);
	expect_number("clients", clients.count, 1);
	expect_number("which", clients.list[0].info.id, 6);
	clients_begin(&clients);
	clients_end(&clients);
	expect_number("clients of an empty scan", clients.count, 0);
	info.has_id = false;
	add(&clients, 1, &info, 9 * s);
	expect_number("clients without an id", clients.count, 0);
	clients_free(&clients);
	end("clients come and go");

	fdinfo_parse("drm-driver: x\ndrm-client-id: 1\ndrm-engine-r: 0\ndrm-engine-capacity-r: 4\ndrm-engine-v: 0\n"
		     "drm-cycles-r: 0\ndrm-total-cycles-r: 0\n", &info);
	add(&clients, 1, &info, 0);
	fdinfo_parse("drm-driver: x\ndrm-client-id: 1\ndrm-engine-r: 2000000000\ndrm-engine-capacity-r: 4\n"
		     "drm-engine-v: 250000000\ndrm-cycles-r: 30\ndrm-total-cycles-r: 120\n", &info);
	add(&clients, 1, &info, s);
	expect_real("busy", client_busy(clients.list), 0.75);
	expect_real("load", client_load(clients.list), 0.25);
	clients_free(&clients);
	end("several engines, their capacity, and cycles of a clock");
}

static void test_order(void)
{
	struct clients clients = {};
	struct fdinfo info;
	char text[100];
	int i;

	clients_begin(&clients);
	for (i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "drm-driver: x\ndrm-client-id: %d\ndrm-resident-m: %d\n", i, i == 1 ? 9 : 3);
		fdinfo_parse(text, &info);
		clients_add(&clients, 10 - i, i == 1 ? "b" : "a", &info, 0);
	}
	clients_end(&clients);
	clients_sort(&clients, CLIENTS_BY_TIME, false);
	expect_number("first by time, of which none is known", clients.list[0].info.id, 1);
	expect_number("equal ones by their ids", clients.list[1].info.id, 0);
	clients_sort(&clients, CLIENTS_BY_PID, false);
	expect_number("first by process", clients.list[0].info.id, 2);
	clients_sort(&clients, CLIENTS_BY_PID, true);
	expect_number("first the other way round", clients.list[0].info.id, 0);
	clients_sort(&clients, CLIENTS_BY_NAME, false);
	expect_number("last by name", clients.list[2].info.id, 1);
	clients_free(&clients);
	end("orders");
}

/* ---- /proc ---- */

static char root[] = "/tmp/top-test-XXXXXX";

static void __attribute__((format(printf, 2, 3))) put_file(const char *text, const char *format, ...)
{
	char name[300], *slash;
	va_list args;
	FILE *file;

	va_start(args, format);
	snprintf(name, sizeof(name), "%s/", root);
	vsnprintf(name + strlen(name), sizeof(name) - strlen(name), format, args);
	va_end(args);
	for (slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		mkdir(name, 0700);
		*slash = '/';
	}
	file = fopen(name, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/* A descriptor whose file says "gpu" is one of the GPU. */
static bool is_gpu(void *context, int directory, const char *name)
{
	char text[8] = "", path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", directory, name);
	++*(int *)context;
	file = fopen(path, "r");
	if (!file || !fgets(text, sizeof(text), file))
		text[0] = 0;
	if (file)
		fclose(file);
	return !strcmp(text, "gpu");
}

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static void test_proc(void)
{
	char command[100];
	struct clients clients = {};
	uint64_t before_ns;
	int asked = 0;

	if (!mkdtemp(root))
		abort();
	put_file("one\n", "100/comm");
	put_file("gpu", "100/fd/3");
	put_file(whole, "100/fdinfo/3");
	/* The same file again, by dup() and in a child; a second one; others'. */
	put_file("gpu", "100/fd/4");
	put_file(whole, "100/fdinfo/4");
	put_file("two\n", "99/comm");
	put_file("gpu", "99/fd/7");
	put_file(whole, "99/fdinfo/7");
	put_file("gpu", "99/fd/8");
	put_file("drm-driver: panthor\ndrm-client-id: 18\n", "99/fdinfo/8");
	put_file("other", "99/fd/9");
	put_file("drm-driver: panthor\ndrm-client-id: 19\n", "99/fdinfo/9");
	/* Gone meanwhile, or no driver's. */
	put_file("gpu", "98/fd/1");
	put_file("gpu", "98/fd/2");
	put_file("pos: 0\n", "98/fdinfo/2");
	put_file("", "97/comm");
	put_file("gpu", "self/fd/1");
	put_file("drm-driver: panthor\ndrm-client-id: 20\n", "self/fdinfo/1");

	before_ns = monotonic_ns();
	expect(clients_scan(&clients, root, is_gpu, &asked), "it is not read");
	expect(clients.count && clients.list[0].read_ns >= before_ns && clients.list[0].read_ns <= monotonic_ns(),
	       "it is not read when it was");
	expect_number("descriptors", asked, 7);
	expect_number("clients", clients.count, 2);
	clients_sort(&clients, CLIENTS_BY_MEMORY, false);
	expect_number("id", clients.list[0].info.id, 17);
	expect_number("process", clients.list[0].pid, 99);
	expect_text("command", clients.list[0].command, "two");
	expect_number("the other id", clients.list[1].info.id, 18);
	end("a client that is seen through several descriptors is counted once");

	expect(clients_scan(&clients, root, is_gpu, &asked), "it is not read");
	expect_number("clients", clients.count, 2);
	clients_sort(&clients, CLIENTS_BY_MEMORY, false);
	expect_real("busy", client_busy(&clients.list[0]), 0);
	clients_free(&clients);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		abort();
	expect(!clients_scan(&clients, root, is_gpu, &asked), "a directory that is not there is read");
	end("a second scan, and none");
}

/* ---- Drawing ---- */

/* The canvas as text, to be freed. */
static char *text_of(const struct canvas *canvas)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	canvas_write(canvas, out);
	fclose(out);
	return text;
}

static void expect_bar(double part, int width, enum graph_style style, const char *want)
{
	struct canvas canvas;
	char *text;

	canvas_init(&canvas, 20, 1);
	graph_bar(&canvas, 0, 0, width, part, style);
	text = text_of(&canvas);
	expect_text("bar", text, want);
	free(text);
	canvas_free(&canvas);
}

static void test_bars(void)
{
	expect_bar(0, 6, STYLE_ASCII, "[    ]\n");
	expect_bar(1, 6, STYLE_ASCII, "[||||]\n");
	expect_bar(0.5, 6, STYLE_ASCII, "[||  ]\n");
	expect_bar(0.001, 6, STYLE_ASCII, "[|   ]\n");
	expect_bar(0.999, 6, STYLE_ASCII, "[||||]\n");
	expect_bar(7, 6, STYLE_ASCII, "[||||]\n");
	expect_bar(-1, 6, STYLE_ASCII, "[    ]\n");
	expect_bar(NAN, 6, STYLE_ASCII, "[    ]\n");
	expect_bar(INFINITY, 6, STYLE_ASCII, "[||||]\n");
	expect_bar(1, 2, STYLE_ASCII, "\n");
	expect_bar(1, -5, STYLE_ASCII, "\n");
	expect_bar(1, 3, STYLE_BLOCKS, "[\u2588]\n");
	expect_bar(0.5, 4, STYLE_BLOCKS, "[\u2588 ]\n");
	expect_bar(0.25, 4, STYLE_BRAILLE, "[\u258c ]\n");
	expect_bar(0.001, 4, STYLE_BLOCKS, "[\u258f ]\n");
	expect_bar(0.75, 4, STYLE_BLOCKS, "[\u2588\u258c]\n");
	expect_bar(1, 30, STYLE_ASCII, "[|||||||||||||||||||\n");
	end("bars");
}

static void expect_graph(const struct history *history, int width, int height, enum graph_style style, const char *want)
{
	struct canvas canvas;
	char *text;

	canvas_init(&canvas, width, height);
	graph_history(&canvas, 0, 0, width, height, history, style);
	text = text_of(&canvas);
	expect_text("graph", text, want);
	free(text);
	canvas_free(&canvas);
}

static void test_graphs(void)
{
	struct history history;
	int i;

	history_init(&history, 8);
	expect_graph(&history, 4, 2, STYLE_BRAILLE, "\n\n");
	history_add(&history, 1);
	expect_real("newest", history_at(&history, 0), 1);
	expect_real("none", history_at(&history, 1), NAN);
	expect_graph(&history, 3, 2, STYLE_ASCII, "  #\n  #\n");
	expect_graph(&history, 3, 1, STYLE_BLOCKS, "  \u2588\n");
	expect_graph(&history, 3, 1, STYLE_BRAILLE, "  \u28b8\n");
	history_add(&history, 0.5);
	expect_graph(&history, 3, 2, STYLE_ASCII, " #\n ##\n");
	expect_graph(&history, 3, 1, STYLE_BLOCKS, " \u2588\u2584\n");
	expect_graph(&history, 3, 1, STYLE_BRAILLE, "  \u28e7\n");
	history_add(&history, NAN);
	expect_graph(&history, 3, 1, STYLE_BLOCKS, "\u2588\u2584\n");
	history_add(&history, 0);
	history_add(&history, 0.0001);
	expect_graph(&history, 3, 2, STYLE_BLOCKS, "\n  \u2581\n");
	/* The ring goes round. */
	for (i = 0; i < 20; i++)
		history_add(&history, i % 2);
	expect_real("newest", history_at(&history, 0), 1);
	expect_real("oldest", history_at(&history, 7), 0);
	expect_real("older", history_at(&history, 8), NAN);
	expect_graph(&history, 10, 1, STYLE_ASCII, "   # # # #\n");
	expect_graph(&history, 4, 1, STYLE_BRAILLE, "\u28b8\u28b8\u28b8\u28b8\n");
	expect_graph(&history, 6, 0, STYLE_BRAILLE, "\n");
	history_free(&history);
	end("graphs of the past");
}

static void test_canvas(void)
{
	struct canvas canvas;
	char *text;

	canvas_init(&canvas, 5, 3);
	expect_number("column behind", canvas_put(&canvas, 0, 3, 10, LOOK_PLAIN, "abcdef"), 9);
	canvas_put(&canvas, 1, -2, 10, LOOK_PLAIN, "abcdef");
	canvas_put(&canvas, 3, 0, 10, LOOK_PLAIN, "below");
	canvas_put(&canvas, -1, 0, 10, LOOK_PLAIN, "above");
	canvas_put(&canvas, 2, 0, 2, LOOK_PLAIN, "x\x1b\xc3\xa4");
	text = text_of(&canvas);
	expect_text("text", text, "   ab\ncdef\nx?\n");
	free(text);
	canvas_free(&canvas);
	canvas_init(&canvas, -3, 1000000);
	expect_number("columns", canvas.columns, 1);
	expect_number("rows", canvas.rows, MAX_ROWS);
	canvas_free(&canvas);

	/* Names of programs in any language, where the locale has them; also such as take two columns. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		expect_text("locale", "none", "C.UTF-8");
	canvas_init(&canvas, 6, 3);
	expect_number("column behind", canvas_put(&canvas, 0, 0, 10, LOOK_PLAIN, "\xc3\xa4\xff\xe5\xad\x97z"), 5);
	expect_number("no room", canvas_put(&canvas, 1, 0, 3, LOOK_PLAIN, "ab\xe5\xad\x97"), 3);
	canvas_put(&canvas, 2, 0, 10, LOOK_PLAIN, "\xc2\x9b\xcc\x80.");
	text = text_of(&canvas);
	expect_text("text", text, "\xc3\xa4?\xe5\xad\x97z\nab?\n??.\n");
	free(text);
	/* A bar over them is a bar alone. */
	graph_bar(&canvas, 0, 0, 4, 1, STYLE_ASCII);
	text = text_of(&canvas);
	expect_text("a bar over text", text, "[||]z\nab?\n??.\n");
	free(text);
	canvas_free(&canvas);
	setlocale(LC_CTYPE, "C");
	end("text stays on the canvas, and is printable");
}

int main(void)
{
	test_whole();
	test_older();
	test_malformed();
	test_huge();
	test_rates();
	test_order();
	test_proc();
	test_bars();
	test_graphs();
	test_canvas();
	printf("1..%u\n", tests);
	return failed;
}
