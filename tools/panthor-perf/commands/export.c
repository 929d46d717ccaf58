// SPDX-License-Identifier: MIT
/*
 * panthor-perf export: counters and metrics for Prometheus, and for readers of its formats.
 *
 * One thread reads the samples and adds them up; the threads of the HTTP server only ever read
 * text that was rendered as a whole from one state of the sums. Scrapers do not influence each
 * other, and a slow one does not delay samples.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <microhttpd.h>

#include "child.h"
#include "commands.h"
#include "common.h"
#include "figures.h"

#define DEFAULT_PORT "9477"
#define DEFAULT_PERIOD_NS 1000000000ull

/* A connection without traffic for so long is closed. */
#define TIMEOUT_S 10
#define MAX_CONNECTIONS 64

/* Per client address, so that none can take all of them; a scraper needs one. */
#define MAX_CONNECTIONS_OF_ONE 16

/* A request that is not complete and answered after so long is closed, even if it has some traffic. */
#define REQUEST_S 20

/* Time between attempts to open a GPU that is gone. */
#define RETRY_S 2

/* Both forms of the text are rendered in each period. */
#define MIN_PERIOD_NS 10000000ull

/* Samples' tags. */
enum tag {
	TAG_SAMPLE = 1,

	/* The last. */
	TAG_STOP,
};

struct arguments {
	const char *device;
	const char *listen;
	const char *textfile;
	bool all;
	uint64_t period_ns;
	struct events {
		char **list;
		unsigned int count;
	} events;
};

/* The forms in which the text is rendered. */
enum format {
	FORMAT_TEXT,
	FORMAT_OPENMETRICS,
	FORMATS,
};

static const char *const content_types[FORMATS] = {
	"text/plain; version=0.0.4; charset=utf-8",
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

/* A rendered text; freed with the last response that refers to it. */
struct page {
	unsigned int users;
	size_t size;
	char *text;
};

/* A counter, as it is exported. */
struct metric {
	const struct pperf_counter *counter;

	/* Without "_total"; the unit is its end. */
	char name[192];
	char unit[64];

	/* Converts a derived value to Prometheus' base units, ratios and bytes. */
	double factor;

	/*
	 * The last exported value of a derived sum. An equation with a subtraction may return less than
	 * before, but Prometheus takes a decrease for a restart.
	 */
	double told;
};

struct exporter {
	/* NULL while the GPU is gone. */
	struct pperf_gpu *gpu;
	struct pperf_session *session;
	struct pperf_session_options options;

	/* When to look for it again, and the last error of that. */
	time_t retry;
	enum pperf_error retry_error;

	/* Outlives the GPU, as do the strings. */
	struct pperf_gpu_info info;
	struct pperf_db *db;
	const struct pperf_selection *selection;
	struct figures_source source;

	/* Value of the gpu label. */
	const char *label;

	/* Since the start, and over the last period. */
	struct pperf_sums *total, *period;
	struct pperf_topdown *topdown;
	struct pperf_log log;

	/* The user wants to end; the last sample was read. */
	bool ending, stopped;

	/* A metric for each counter of the selection. */
	struct metric *metrics;
	size_t num_metrics;

	/* Last exported value of each node of the tree. */
	double *topdown_told;

	/* Protects all below; taken by the server's threads and the reader. */
	pthread_mutex_t lock;
	struct page *pages[FORMATS];

	/* Open connections, by slot, with the deadline of the current request. */
	struct connection {
		struct MHD_Connection *of;
		int fd;
		time_t end;
	} connections[MAX_CONNECTIONS];
};

/* ---- The text ---- */

struct writer {
	FILE *out;
	enum format format;
	const char *gpu;
};

/* A name in Prometheus' alphabet: "GPU active cycles" becomes gpu_active_cycles. */
static void metric_name(char *name, size_t size, const char *title, const char *unit)
{
	size_t n = 0, unit_size = strlen(unit);

	n += snprintf(name, size, "mali_");
	for (; *title && n + 1 < size; title++) {
		if (isalnum((unsigned char)*title))
			name[n++] = tolower((unsigned char)*title);
		else if (name[n - 1] != '_')
			name[n++] = '_';
	}
	while (n && name[n - 1] == '_')
		n--;
	name[n] = 0;
	/* The unit stands at the end, once. */
	if (unit_size && !(n > unit_size && name[n - unit_size - 1] == '_' && !strcmp(name + n - unit_size, unit)))
		snprintf(name + n, size - n, "_%s", unit);
}

/* The unit of a counter as a suffix. Returns the factor from the counter's unit to it. */
static double unit_name(char *name, size_t size, const char *unit)
{
	size_t n = 0;

	if (!strcmp(unit, "percent")) {
		snprintf(name, size, "ratio");
		return 0.01;
	}
	if (!strcmp(unit, "bits")) {
		snprintf(name, size, "bytes");
		return 0.125;
	}
	for (; unit[n] && n + 1 < size; n++)
		name[n] = isalnum((unsigned char)unit[n]) ? unit[n] : '_';
	name[n] = 0;
	return 1;
}

static void print_escaped(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\n')
			fputs("\\n", out);
		else if (*text == '\\' || *text == '"')
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* The lines before the values of one metric. Total: a sum since the start. */
static void begin_metric(const struct writer *w, const char *name, const char *unit, bool total,
			 const char *help)
{
	const char *suffix = total && w->format == FORMAT_TEXT ? "_total" : "";

	fprintf(w->out, "# HELP %s%s ", name, suffix);
	print_escaped(w->out, help);
	fprintf(w->out, "\n# TYPE %s%s %s\n", name, suffix, total ? "counter" : "gauge");
	if (w->format == FORMAT_OPENMETRICS && unit && *unit)
		fprintf(w->out, "# UNIT %s %s\n", name, unit);
}

/* A value's name and labels; extra is NULL or more labels, as they stand. */
static void begin_value(const struct writer *w, const char *name, bool total, const char *extra)
{
	fprintf(w->out, "%s%s{gpu=\"", name, total ? "_total" : "");
	print_escaped(w->out, w->gpu);
	fprintf(w->out, "\"%s%s} ", extra ? "," : "", extra ? extra : "");
}

static void print_count(const struct writer *w, const char *name, const char *extra, uint64_t value)
{
	begin_value(w, name, true, extra);
	fprintf(w->out, "%" PRIu64 "\n", value);
}

static void print_real(const struct writer *w, const char *name, bool total, const char *extra, double value)
{
	begin_value(w, name, total, extra);
	fprintf(w->out, "%.17g\n", value);
}

static void print_general(const struct writer *w, const struct exporter *e)
{
	struct figures period = figures_of(&e->source, e->period);
	struct pperf_load load;
	char label[128];
	uint64_t hz;

	begin_metric(w, "panthor_gpu_up", NULL, false,
		     "1 while the GPU is counted, 0 while it is gone (removed, its driver unbound, or its firmware dead).");
	print_real(w, "panthor_gpu_up", false, NULL, e->session != NULL);

	begin_metric(w, "mali_gpu_info", NULL, false, "Name, counter layout and driver version of the GPU; always 1.");
	snprintf(label, sizeof(label), "name=\"%s\",layout=\"%s\",driver=\"%d.%d\"", e->info.name,
		 e->info.layout ? e->info.layout : "", e->info.driver_major, e->info.driver_minor);
	print_real(w, "mali_gpu_info", false, label, 1);

	if (!pperf_sums_load(e->total, &load, sizeof(load))) {
		begin_metric(w, "mali_gpu_observed_seconds", "seconds", true,
			     "Time covered by samples, including time in which the GPU was asleep.");
		print_real(w, "mali_gpu_observed_seconds", true, NULL, load.seconds);
		begin_metric(w, "mali_gpu_busy_seconds", "seconds", true, "Time in which the GPU was active.");
		print_real(w, "mali_gpu_busy_seconds", true, NULL, load.active_seconds);
	}
	if (e->session && period.has_load) {
		begin_metric(w, "mali_gpu_load_ratio", "ratio", false,
			     "Load of the GPU in the last period: share of time (a sleeping GPU counts as idle) or of clock cycles (while powered).");
		print_real(w, "mali_gpu_load_ratio", false, "of=\"time\"", period.load.of_time);
		print_real(w, "mali_gpu_load_ratio", false, "of=\"cycles\"", period.load.of_cycles);
	}
	if (!isnan(period.hz)) {
		begin_metric(w, "mali_gpu_active_frequency_hertz", "hertz", false,
			     "Mean frequency of the GPU in the last period, while it was active.");
		print_real(w, "mali_gpu_active_frequency_hertz", false, NULL, period.hz);
	}
	if (e->gpu && !pperf_gpu_frequency(e->gpu, &hz)) {
		begin_metric(w, "mali_gpu_nominal_frequency_hertz", "hertz", false,
			     "Current frequency as reported by the kernel's clock framework.");
		print_real(w, "mali_gpu_nominal_frequency_hertz", false, NULL, hz);
	}
	if (!isnan(period.read) && !isnan(period.written)) {
		begin_metric(w, "mali_external_memory_bytes_per_second", "bytes_per_second", false,
			     "Bytes per second read from and written to external memory in the last period.");
		print_real(w, "mali_external_memory_bytes_per_second", false, "direction=\"read\"", period.read);
		print_real(w, "mali_external_memory_bytes_per_second", false, "direction=\"write\"", period.written);
	}

	if (!isnan(figures_core_load(&e->source, e->period, 0))) {
		begin_metric(w, "mali_core_load_ratio", "ratio", false,
			     "Share of the last period in which the shader core was active.");
		for (unsigned int core = 0; core < e->info.blocks[PPERF_BLOCK_SHADER]; core++) {
			snprintf(label, sizeof(label), "core=\"%u\"", core);
			print_real(w, "mali_core_load_ratio", false, label, figures_core_load(&e->source, e->period, core));
		}
	}

	begin_metric(w, "mali_clock_cycles", "cycles", true, "Cycles of each clock while the GPU was powered.");
	for (unsigned int clock = 0; clock < PPERF_CLOCKS; clock++) {
		if (!(e->info.clocks & 1u << clock))
			continue;
		snprintf(label, sizeof(label), "clock=\"%s\"", pperf_clock_name(clock));
		print_count(w, "mali_clock_cycles", label, pperf_sums_cycles(e->total, clock));
	}

	begin_metric(w, "mali_samples", NULL, true, "Samples read.");
	print_count(w, "mali_samples", NULL, e->log.samples);
	begin_metric(w, "mali_samples_flagged", NULL, true,
		     "Samples that may lack counts (overflow, error) or cover more than one period (stretched).");
	print_count(w, "mali_samples_flagged", "flag=\"overflow\"", e->log.overflowed);
	print_count(w, "mali_samples_flagged", "flag=\"error\"", e->log.failed);
	print_count(w, "mali_samples_flagged", "flag=\"stretched\"", e->log.stretched);
}

/* A value with the labels that the conventions have for all hardware. */
static void print_hardware(const struct writer *w, const struct exporter *e, const char *name, bool total,
			   const char *extra, double value)
{
	fprintf(w->out, "%s%s{gpu=\"", name, total ? "_total" : "");
	print_escaped(w->out, w->gpu);
	fputs("\",hw_id=\"", w->out);
	print_escaped(w->out, w->gpu);
	fprintf(w->out, "\",hw_name=\"%s\",hw_vendor=\"Arm\",%s} %.17g\n", e->info.name, extra, value);
}

/* Load and traffic by the names of OpenTelemetry's conventions for hardware (hw.gpu.utilization, hw.gpu.io). */
static void print_conventional(const struct writer *w, const struct exporter *e)
{
	const struct {
		const struct pperf_counter *counter;
		const char *label;
	} io[] = {
		{ e->source.read, "network_io_direction=\"receive\"" },
		{ e->source.written, "network_io_direction=\"transmit\"" },
	};
	struct figures period = figures_of(&e->source, e->period);
	double bytes;
	size_t i;

	if (e->session && period.has_load) {
		begin_metric(w, "hw_gpu_utilization_ratio", "ratio", false,
			     "Share of the last period in which the GPU was active.");
		print_hardware(w, e, "hw_gpu_utilization_ratio", false, "hw_gpu_task=\"general\"", period.load.of_time);
	}
	if (!e->source.read || !e->source.written)
		return;
	begin_metric(w, "hw_gpu_io_bytes", "bytes", true, "Bytes read from external memory (receive) and written to it (transmit).");
	for (i = 0; i < sizeof(io) / sizeof(io[0]); i++) {
		if (!pperf_sums_value(e->total, io[i].counter, &bytes))
			print_hardware(w, e, "hw_gpu_io_bytes", true, io[i].label, bytes);
	}
}

/* The value, or the last exported one if that is larger. */
static double at_least(double value, double *told)
{
	if (value > *told)
		*told = value;
	return *told;
}

static void print_topdown(const struct writer *w, const struct exporter *e)
{
	const struct pperf_topdown_node *const *nodes;
	char label[256];
	size_t count, i;

	if (!e->topdown)
		return;
	nodes = pperf_db_topdown(e->db, &count);
	begin_metric(w, "mali_topdown_cycles", "cycles", true,
		     "Estimated cycles by bottleneck; the parts of each level add up to level 0.");
	for (i = 0; i < count; i++) {
		snprintf(label, sizeof(label), "level=\"%u\",part=\"%s\",parent=\"%s\"", nodes[i]->level,
			 nodes[i]->title, nodes[i]->parent ? nodes[i]->parent->title : "");
		print_real(w, "mali_topdown_cycles", true, label,
			   at_least(pperf_topdown_cycles(e->topdown, nodes[i]), &e->topdown_told[i]));
	}
}

static void print_counter(const struct writer *w, const struct exporter *e, struct metric *m)
{
	const struct pperf_counter *c = m->counter;
	bool total = c->kind == PPERF_KIND_COUNT;
	char label[64], help[512];
	unsigned int block;
	double value;
	char *p;

	snprintf(help, sizeof(help), "%s%s (%s%s)", c->title, total ? "" : " in the last period", c->name,
		 m->factor == 1 ? "" : !strcmp(m->unit, "ratio") ? ", from 0 to 1" : ", in bytes");

	if (!c->equation) {
		begin_metric(w, m->name, m->unit, true, help);
		for (block = 0; block < e->info.blocks[c->type]; block++) {
			snprintf(label, sizeof(label), "block=\"%s%u\"", pperf_block_name(c->type), block);
			for (p = label; *p; p++)
				*p = tolower((unsigned char)*p);
			print_count(w, m->name, label, pperf_sums_block(e->total, c, block));
		}
		return;
	}
	if (!total && !e->session)
		return;
	/* A counter without a value, such as the ratio 0 / 0, has no line. */
	if (pperf_sums_value(total ? e->total : e->period, c, &value))
		return;
	value *= m->factor;
	if (total)
		value = at_least(value, &m->told);
	begin_metric(w, m->name, m->unit, total, help);
	print_real(w, m->name, total, NULL, value);
}

/* Names after titles, or after the counter's name if another one has the same. */
static int make_metrics(struct exporter *e)
{
	const struct pperf_counter *const *list = pperf_selection_counters(e->selection, &e->num_metrics);
	struct metric *m;
	bool *ambiguous = calloc(e->num_metrics + 1, sizeof(*ambiguous));
	size_t nodes = 0, i, j;

	if (e->topdown)
		pperf_db_topdown(e->db, &nodes);
	e->metrics = calloc(e->num_metrics + 1, sizeof(*e->metrics));
	e->topdown_told = calloc(nodes + 1, sizeof(*e->topdown_told));
	if (!ambiguous || !e->metrics || !e->topdown_told) {
		free(ambiguous);
		complain("out of memory");
		return STATUS_FAILED;
	}
	for (i = 0; i < e->num_metrics; i++) {
		m = &e->metrics[i];
		m->counter = list[i];
		m->factor = unit_name(m->unit, sizeof(m->unit), list[i]->unit);
		metric_name(m->name, sizeof(m->name), list[i]->title, m->unit);
		for (j = 0; j < i; j++)
			if (!strcmp(m->name, e->metrics[j].name))
				ambiguous[i] = ambiguous[j] = true;
	}
	for (i = 0; i < e->num_metrics; i++)
		if (ambiguous[i])
			metric_name(e->metrics[i].name, sizeof(e->metrics[i].name), list[i]->name, e->metrics[i].unit);
	free(ambiguous);
	return STATUS_OK;
}

static struct page *render(const struct exporter *e, enum format format)
{
	struct writer w = { .format = format, .gpu = e->label };
	struct page *page = calloc(1, sizeof(*page));
	size_t i;

	if (!page)
		return NULL;
	w.out = open_memstream(&page->text, &page->size);
	if (!w.out) {
		free(page);
		return NULL;
	}
	page->users = 1;
	print_general(&w, e);
	print_conventional(&w, e);
	print_topdown(&w, e);
	for (i = 0; i < e->num_metrics; i++)
		print_counter(&w, e, &e->metrics[i]);
	if (format == FORMAT_OPENMETRICS)
		fputs("# EOF\n", w.out);
	if (fclose(w.out)) {
		free(page->text);
		free(page);
		return NULL;
	}
	return page;
}

/* ---- HTTP ---- */

static void put_page(struct exporter *e, struct page *page)
{
	bool last;

	if (!page)
		return;
	pthread_mutex_lock(&e->lock);
	last = !--page->users;
	pthread_mutex_unlock(&e->lock);
	if (last) {
		free(page->text);
		free(page);
	}
}

/* A response's share of a page. */
struct share {
	struct exporter *exporter;
	struct page *page;
};

static ssize_t read_share(void *context, uint64_t at, char *buffer, size_t max)
{
	struct share *share = context;

	if (at >= share->page->size)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (max > share->page->size - at)
		max = share->page->size - at;
	memcpy(buffer, share->page->text + at, max);
	return max;
}

static void free_share(void *context)
{
	struct share *share = context;

	put_page(share->exporter, share->page);
	free(share);
}

static enum MHD_Result respond(struct MHD_Connection *connection, unsigned int status,
			       struct MHD_Response *response, const char *type)
{
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result respond_text(struct MHD_Connection *connection, unsigned int status, const char *text)
{
	return respond(connection, status,
		       MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT),
		       "text/plain; charset=utf-8");
}

static enum MHD_Result respond_page(struct exporter *e, struct MHD_Connection *connection, enum format format)
{
	struct share *share = malloc(sizeof(*share));
	struct MHD_Response *response;

	if (!share)
		return MHD_NO;
	share->exporter = e;
	pthread_mutex_lock(&e->lock);
	share->page = e->pages[format];
	share->page->users++;
	pthread_mutex_unlock(&e->lock);
	response = MHD_create_response_from_callback(share->page->size, 4096, read_share, share, free_share);
	if (!response)
		free_share(share);
	return respond(connection, MHD_HTTP_OK, response, content_types[format]);
}

static time_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Restart the deadline of a connection. Called when a request begins and when it is answered. */
static void renew(struct exporter *e, struct MHD_Connection *connection)
{
	unsigned int i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < MAX_CONNECTIONS; i++)
		if (e->connections[i].of == connection)
			e->connections[i].end = now_s() + REQUEST_S;
	pthread_mutex_unlock(&e->lock);
}

/* Implements MHD_OPTION_NOTIFY_CONNECTION. */
static void notify_connection(void *context, struct MHD_Connection *connection, void **socket_context,
			      enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct MHD_Connection *before = code == MHD_CONNECTION_NOTIFY_STARTED ? NULL : connection;
	struct exporter *e = context;
	unsigned int i;

	(void)socket_context;
	pthread_mutex_lock(&e->lock);
	for (i = 0; i < MAX_CONNECTIONS && e->connections[i].of != before; i++)
		;
	if (i < MAX_CONNECTIONS) {
		e->connections[i].of = before ? NULL : connection;
		e->connections[i].fd = info ? info->connect_fd : -1;
		e->connections[i].end = now_s() + REQUEST_S;
	}
	pthread_mutex_unlock(&e->lock);
}

/* Implements MHD_OPTION_NOTIFY_COMPLETED. */
static void notify_completed(void *context, struct MHD_Connection *connection, void **request,
			     enum MHD_RequestTerminationCode code)
{
	(void)request;
	(void)code;
	renew(context, connection);
}

/* Shut down connections after their deadline; the server then finds them closed. */
static void cut_off(struct exporter *e)
{
	unsigned int i;

	pthread_mutex_lock(&e->lock);
	for (i = 0; i < MAX_CONNECTIONS; i++)
		if (e->connections[i].of && now_s() >= e->connections[i].end)
			shutdown(e->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&e->lock);
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *data, size_t *data_size,
			      void **request)
{
	struct exporter *e = context;
	enum format format = FORMAT_TEXT;
	const char *accept;

	(void)version;
	(void)data;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD)) {
		*data_size = 0;
		return respond_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD are supported.\n");
	}
	/* Called once with the headers, then with the body, which is empty. */
	if (!*request) {
		*request = connection;
		renew(e, connection);
		return MHD_YES;
	}
	if (!strcmp(url, "/"))
		return respond_text(connection, MHD_HTTP_OK, "panthor-perf export: the metrics are at /metrics\n");
	if (strcmp(url, "/metrics"))
		return respond_text(connection, MHD_HTTP_NOT_FOUND, "Not found; the metrics are at /metrics.\n");

	accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	if (accept && strstr(accept, "application/openmetrics-text"))
		format = FORMAT_OPENMETRICS;
	return respond_page(e, connection, format);
}

/* A port, 0 to 65535. */
static bool is_port(const char *text)
{
	char *end;

	return isdigit((unsigned char)*text) && strlen(text) <= 5 && strtoul(text, &end, 10) <= 65535 && !*end;
}

/* ADDRESS:PORT, [ADDRESS]:PORT, :PORT or PORT; without an address, the loopback. Returns a status. */
static int server_address(const char *text, struct addrinfo **found)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV | AI_PASSIVE };
	char *copy = strdup(text), *host = copy, *port;
	const char *wrong = NULL;
	int ret;

	if (!copy) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	port = strrchr(copy, ':');
	if (port) {
		*port++ = 0;
	} else {
		port = copy;
		host = "";
	}
	if (*host == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = 0;
		host++;
	}
	if (is_port(port)) {
		ret = getaddrinfo(*host ? host : "127.0.0.1", port, &hints, found);
		if (ret)
			wrong = gai_strerror(ret);
	} else {
		wrong = "the port must be a number from 0 to 65535";
	}
	free(copy);
	if (!wrong)
		return STATUS_OK;
	complain("--listen %s: %s; use ADDRESS:PORT, such as 127.0.0.1:%s", text, wrong, DEFAULT_PORT);
	return STATUS_USAGE;
}

/* Open a listening socket. Prints an error. Returns a status. */
static int open_listener(const char *listen_to, int *listener)
{
	struct addrinfo *found;
	int status = server_address(listen_to, &found), on = 1;

	if (status)
		return status;
	*listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*listener < 0 || setsockopt(*listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(*listener, found->ai_addr, found->ai_addrlen) || listen(*listener, MAX_CONNECTIONS)) {
		complain("cannot listen on %s: %s; choose another address or port with --listen", listen_to, strerror(errno));
		if (*listener >= 0)
			close(*listener);
		*listener = -1;
		status = STATUS_IO;
	}
	freeaddrinfo(found);
	return status;
}

/* Print the address of the socket, also for programs: with port 0, only this shows the port. */
static void tell_address(int listener)
{
	struct sockaddr_storage address = {};
	socklen_t size = sizeof(address);
	char host[NI_MAXHOST], port[NI_MAXSERV];
	bool six;

	getsockname(listener, (struct sockaddr *)&address, &size);
	if (getnameinfo((struct sockaddr *)&address, size, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		return;
	six = address.ss_family == AF_INET6;
	printf("Counters are at http://%s%s%s:%s/metrics\n", six ? "[" : "", host, six ? "]" : "", port);
	fflush(stdout);
}

/* Start a server on the socket, which it then owns. Returns a status. */
static int start_server(struct exporter *e, int *listener, struct MHD_Daemon **daemon)
{
	*daemon = MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL, NULL, handle, e,
				   MHD_OPTION_LISTEN_SOCKET, *listener,
				   MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S,
				   MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
				   MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS_OF_ONE,
				   MHD_OPTION_NOTIFY_CONNECTION, notify_connection, e,
				   MHD_OPTION_NOTIFY_COMPLETED, notify_completed, e, MHD_OPTION_END);
	if (!*daemon) {
		complain("cannot start the HTTP server: %s", strerror(errno));
		return STATUS_FAILED;
	}
	tell_address(*listener);
	*listener = -1;
	return STATUS_OK;
}

/* ---- The file of a collector ---- */

/* Write a temporary file and rename it: readers always find a complete file. */
static int write_textfile(const struct exporter *e, const char *name)
{
	const struct page *page = e->pages[FORMAT_TEXT];
	char *beside;
	FILE *out;
	int fd, status;

	/* Collectors read only *.prom. A predictable name could be a symlink of another user. */
	if (asprintf(&beside, "%s.XXXXXX", name) < 0) {
		complain("out of memory");
		return STATUS_FAILED;
	}
	fd = mkostemp(beside, O_CLOEXEC);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		complain("cannot write %s: %s", name, strerror(errno));
		if (fd >= 0) {
			close(fd);
			unlink(beside);
		}
		free(beside);
		return STATUS_IO;
	}
	/* The collector runs as another user. */
	fchmod(fd, 0644);
	fwrite(page->text, 1, page->size, out);
	status = finish_output(out, name);
	if (!status && rename(beside, name)) {
		complain("cannot write %s: %s", name, strerror(errno));
		status = STATUS_IO;
	}
	if (status)
		unlink(beside);
	free(beside);
	return status;
}

/* ---- The samples ---- */

/* Render new pages from the sums. */
static int publish(struct exporter *e, const char *textfile)
{
	struct page *pages[FORMATS], *old;
	unsigned int i;

	for (i = 0; i < FORMATS; i++) {
		pages[i] = render(e, i);
		if (!pages[i]) {
			while (i--)
				put_page(e, pages[i]);
			complain("out of memory");
			return STATUS_FAILED;
		}
	}
	for (i = 0; i < FORMATS; i++) {
		pthread_mutex_lock(&e->lock);
		old = e->pages[i];
		e->pages[i] = pages[i];
		pthread_mutex_unlock(&e->lock);
		put_page(e, old);
	}
	return textfile ? write_textfile(e, textfile) : STATUS_OK;
}

/* Start counting. */
static enum pperf_error start(struct exporter *e)
{
	enum pperf_error error = pperf_session_open(e->gpu, &e->options, &e->session);

	return error ? error : pperf_session_start(e->session, TAG_SAMPLE);
}

/* Close the GPU, which also lets its node get the same number again when it returns. */
static void stop(struct exporter *e)
{
	pperf_session_close(e->session);
	pperf_gpu_close(e->gpu);
	e->session = NULL;
	e->gpu = NULL;
}

static bool is_lost(enum pperf_error error)
{
	return error == PPERF_ERROR_GONE || error == PPERF_ERROR_FIRMWARE;
}

/* Report an error; if it says that the GPU is gone, wait for its return, unless it is ending. Returns a status. */
static int fail(struct exporter *e, enum pperf_error error, const char *textfile)
{
	if (!is_lost(error))
		return complain_of(error);
	complain("%s%s", pperf_message(), e->ending ? "" : "; waiting for the GPU to return");
	stop(e);
	pperf_sums_reset(e->period);
	e->retry = now_s() + RETRY_S;
	e->retry_error = error;
	return publish(e, textfile);
}

/* The node of the device, whose number changes if a program still has the old one open. */
static const char *find_node(const struct exporter *e, char *node, size_t size)
{
	char pattern[PATH_MAX];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/drm/renderD*", e->info.sysfs ? e->info.sysfs : "");
	if (!e->info.sysfs || glob(pattern, 0, NULL, &found))
		return e->info.node;
	snprintf(node, size, "/dev/dri/%s", strrchr(found.gl_pathv[0], '/') + 1);
	globfree(&found);
	return node;
}

/* Return true if samples can be added to those from before: it is the same device, with the same blocks. */
static bool is_same_gpu(const struct pperf_gpu_info *a, const struct pperf_gpu_info *b)
{
	return !strcmp(a->sysfs ? a->sysfs : "", b->sysfs ? b->sysfs : "") && a->gpu_id == b->gpu_id &&
	       a->values_per_block == b->values_per_block && !memcmp(a->blocks, b->blocks, sizeof(a->blocks));
}

/* Count again if the GPU is back. Returns a status. */
static int retry(struct exporter *e, const char *textfile)
{
	enum pperf_error error;
	char node[64];

	if (now_s() < e->retry)
		return STATUS_OK;
	e->retry = now_s() + RETRY_S;
	if (pperf_gpu_open(find_node(e, node, sizeof(node)), &e->gpu))
		return STATUS_OK;
	if (is_same_gpu(pperf_gpu_info(e->gpu), &e->info)) {
		error = start(e);
		if (!error) {
			complain("the GPU is back");
			return publish(e, textfile);
		}
		if (error != e->retry_error)
			complain("%s", pperf_message());
		e->retry_error = error;
	}
	stop(e);
	return STATUS_OK;
}

static enum pperf_error add_samples(struct exporter *e, bool *any)
{
	const struct pperf_sample *sample;
	enum pperf_error error;

	*any = false;
	while (!(error = pperf_session_next(e->session, &sample)) && sample) {
		pperf_sums_reset(e->period);
		error = pperf_sums_add(e->total, sample);
		if (!error)
			error = pperf_sums_add(e->period, sample);
		if (!error && e->topdown)
			error = pperf_topdown_add(e->topdown, sample);
		if (error)
			break;
		pperf_log_add(&e->log, sample);
		e->stopped |= sample->user_data == TAG_STOP;
		*any = true;
	}
	return error;
}

/* Add the samples that there are, and publish them. Returns a status. */
static int read_samples(struct exporter *e, const char *textfile)
{
	bool any;
	enum pperf_error error = add_samples(e, &any);

	if (error)
		return fail(e, error, textfile);
	return any ? publish(e, textfile) : STATUS_OK;
}

static int serve(struct exporter *e, struct child *child, const char *textfile)
{
	struct pollfd fds[2] = {
		{ .fd = child->signals, .events = POLLIN },
		{ .events = POLLIN },
	};
	int status = STATUS_OK;
	enum pperf_error error;
	bool any;

	while (!status && !e->stopped && (e->session || !e->ending)) {
		/* Ignored by poll() while there is no session. */
		fds[1].fd = e->session ? pperf_session_fd(e->session) : -1;
		if (poll(fds, 2, textfile && e->session ? -1 : 1000) < 0) {
			if (errno == EINTR)
				continue;
			complain("cannot wait for samples: %s", strerror(errno));
			return STATUS_FAILED;
		}
		cut_off(e);
		if (!e->session)
			status = retry(e, textfile);
		else if (fds[1].revents)
			status = read_samples(e, textfile);
		if (status || !fds[0].revents)
			continue;
		switch (child_event(child)) {
		case CHILD_NOTHING:
		case CHILD_REQUESTED:
			break;
		case CHILD_ENDED:
			/* Only a file can show a last sample: the server ends now. */
			if (!textfile || !e->session)
				return STATUS_OK;
			e->ending = true;
			error = pperf_session_stop(e->session, TAG_STOP);
			if (error) {
				/* What came before is still in the ring. */
				add_samples(e, &any);
				status = fail(e, error, textfile);
			}
			break;
		case CHILD_INTERRUPTED:
			complain("interrupted while waiting for the last sample");
			return STATUS_FAILED;
		}
	}
	return status;
}

/* ---- The command ---- */

static const struct argp_option options[] = {
	{ "prometheus", 'P', NULL, 0, "Use Prometheus' text format, or OpenMetrics if the client asks for it (default)", 0 },
	{ "listen", 'l', "ADDR:PORT", 0,
	  "Serve HTTP here (default: 127.0.0.1:" DEFAULT_PORT ", reachable from this machine only); port 0 picks a free port", 0 },
	{ "textfile", 't', "FILE", 0, "Write FILE after each period instead, for a textfile collector", 0 },
	{ "event", 'e', "COUNTER,...", 0,
	  "Export these counters, by name, hardware name, title, pattern or BLOCK.INDEX (may be repeated; see panthor-perf list)", 0 },
	{ "all", 'a', NULL, 0, "Export all named counters", 0 },
	{ "period", 'p', "TIME", 0, "Time between samples, with a unit: ns, us, ms, s (default: 1s)", 0 },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct arguments *arguments = state->input;
	char **list;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &arguments->device;
		return 0;
	case 'P':
		/* The only format. */
		return 0;
	case 'l':
		arguments->listen = arg;
		return 0;
	case 't':
		arguments->textfile = arg;
		return 0;
	case 'a':
		arguments->all = true;
		return 0;
	case 'e':
		if (!is_list(arg))
			argp_error(state, "-e %s: empty counter name", arg);
		list = reallocarray(arguments->events.list, arguments->events.count + 1, sizeof(*list));
		if (!list)
			return ENOMEM;
		arguments->events.list = list;
		list[arguments->events.count++] = arg;
		return 0;
	case 'p':
		if (!parse_period(arg, &arguments->period_ns))
			wrong_period(state, "-p", arg);
		if (arguments->period_ns < MIN_PERIOD_NS)
			argp_error(state, "-p %s: the shortest period is 10ms", arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "unexpected argument: %s", arg);
		return 0;
	case ARGP_KEY_END:
		if (arguments->listen && arguments->textfile)
			argp_error(state, "--listen and --textfile cannot be combined");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static enum pperf_error choose(const struct arguments *arguments, struct pperf_selection *selection,
			       bool topdown)
{
	enum pperf_error error = PPERF_OK;
	unsigned int i;

	for (i = 0; !error && i < arguments->events.count; i++)
		error = pperf_selection_add_list(selection, arguments->events.list[i]);
	if (!error && arguments->all)
		error = pperf_selection_add_all(selection);
	if (!error && !arguments->all && !arguments->events.count)
		error = pperf_selection_add_default(selection);
	if (!error) {
		pperf_selection_need_load(selection);
		if (topdown)
			pperf_selection_need_topdown(selection);
	}
	return error;
}

static char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

static int export_gpu(const struct arguments *arguments)
{
	struct exporter e = {
		.lock = PTHREAD_MUTEX_INITIALIZER, .log = { .size = sizeof(e.log) }, .options = { .size = sizeof(e.options) },
	};
	struct pperf_selection *selection = NULL;
	struct MHD_Daemon *daemon = NULL;
	struct child child = {};
	enum pperf_error error;
	int status, listener = -1;
	unsigned int i;

	status = child_prepare(&child);
	if (status)
		return status;
	status = open_gpu(arguments->device, 0, &e.gpu, &e.db);
	if (status)
		goto out;
	e.info = *pperf_gpu_info(e.gpu);
	e.info.node = copy_of(e.info.node);
	e.info.sysfs = copy_of(e.info.sysfs);
	e.label = e.info.node ? e.info.node : "";
	if (strrchr(e.label, '/'))
		e.label = strrchr(e.label, '/') + 1;

	if (!arguments->textfile)
		status = open_listener(arguments->listen ? arguments->listen : "127.0.0.1:" DEFAULT_PORT, &listener);
	if (status)
		goto out;

	error = pperf_selection_new(e.db, &e.info, &selection);
	if (!error) {
		error = pperf_topdown_new(e.db, &e.info, &e.topdown);
		/* An unknown layout has no tree. */
		if (error == PPERF_ERROR_UNKNOWN)
			error = PPERF_OK;
	}
	if (!error)
		error = choose(arguments, selection, e.topdown);
	if (!error)
		error = pperf_sums_new(e.db, &e.info, &e.total);
	if (!error)
		error = pperf_sums_new(e.db, &e.info, &e.period);
	if (error) {
		status = complain_of(error);
		goto out;
	}
	e.selection = selection;
	figures_find(&e.source, e.db, &e.info);
	status = make_metrics(&e);
	if (status)
		goto out;

	e.options.masks = *pperf_selection_masks(selection);
	figures_need_bandwidth(&e.source, &e.options.masks);
	if (e.source.core)
		pperf_counter_needs(e.db, e.source.core, &e.options.masks);
	e.options.period_ns = arguments->period_ns;
	error = start(&e);
	if (error) {
		status = complain_of(error);
		goto out;
	}

	/* Before the first sample, all counters are 0. */
	status = publish(&e, arguments->textfile);
	if (!status && !arguments->textfile)
		status = start_server(&e, &listener, &daemon);
	if (!status)
		status = serve(&e, &child, arguments->textfile);
out:
	if (daemon)
		MHD_stop_daemon(daemon);
	if (listener >= 0)
		close(listener);
	for (i = 0; i < FORMATS; i++)
		put_page(&e, e.pages[i]);
	stop(&e);
	pperf_topdown_free(e.topdown);
	pperf_sums_free(e.period);
	pperf_sums_free(e.total);
	pperf_selection_free(selection);
	free(e.metrics);
	free(e.topdown_told);
	free((char *)e.info.node);
	free((char *)e.info.sysfs);
	pperf_db_close(e.db);
	child_finish(&child);
	return status;
}

int command_export(int argc, char **argv)
{
	static const struct argp_child children[] = { { &device_argp, 0, NULL, 0 }, {} };
	static const struct argp argp = {
		options, parse, NULL,
		"Export counters and metrics to Prometheus, until interrupted.\v"
		"Counters are totals since the start, per block; metrics cover the last period.",
		children, NULL, NULL
	};
	struct arguments arguments = { .period_ns = DEFAULT_PERIOD_NS };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &arguments);
	status = export_gpu(&arguments);
	free(arguments.events.list);
	return status;
}
