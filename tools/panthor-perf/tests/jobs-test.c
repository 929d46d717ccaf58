// SPDX-License-Identifier: MIT
/* Tests of jobs in recordings: what was written is read, and what the GPU did is told of every moment. Prints TAP. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jobs.h"
#include "recording-write.h"
#include "tap.h"

static const struct recording_queue queues[] = {
	{ .id = 3, .pid = 100, .process = "game", .name = "panthor-queue-1-1-0" },
	{ .id = 0, .pid = 100, .process = "game", .name = "panthor-queue-1-1-1" },
	{ .id = 65535, .pid = 200, .process = "compositor", .name = "panthor-queue-2-1-0" },
	{ .id = 7, .process = "vkms", .name = "\xc3\xa4" },
};

static void put(int fd, const struct recording_writer *writer)
{
	if (write(fd, writer->bytes, writer->size) != (ssize_t)writer->size)
		abort();
}

/* A file of these records, in chunks without samples. */
static int make_file(const struct recording_jobs *records, size_t count, bool has_jobs)
{
	struct recording_head head = { .gpu.values_per_block = 64, .jobs = has_jobs };
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recording_end end = {};
	struct recording_writer writer;
	size_t i;

	if (fd < 0 || recording_writer_open(&writer, &head))
		abort();
	put(fd, &writer);
	for (i = 0; i < count; i++) {
		struct recording_jobs record = records[i];

		if (!record.open_ns)
			record.open_ns = record.end_ns;
		recording_write_jobs(&writer, &record);
		put(fd, &writer);
	}
	if (recording_write_end(&writer, &end))
		abort();
	put(fd, &writer);
	recording_writer_close(&writer);
	return fd;
}

static enum recording_item read_file(int fd, struct jobs *jobs, struct recording *r)
{
	struct chunks chunks;
	enum recording_item item = pperf_records_open_fd(r, fd);

	memset(jobs, 0, sizeof(*jobs));
	if (item != RECORDING_END || pperf_chunks_find(r, &chunks) != RECORDING_END)
		abort();
	item = pperf_jobs_read(jobs, r, &chunks);
	pperf_chunks_free(&chunks);
	close(fd);
	return item;
}

static bool same_job(const struct recording_job *a, const struct recording_job *b)
{
	return a->queued_ns == b->queued_ns && a->ready_ns == b->ready_ns && a->run_ns == b->run_ns && a->end_ns == b->end_ns &&
	       a->queue == b->queue && a->waited_for == b->waited_for && a->thread == b->thread && a->outcome == b->outcome &&
	       a->no_queued == b->no_queued && a->no_run == b->no_run;
}

static void test_records(void)
{
	static struct recording_job list[RECORDING_JOBS_JOBS];
	static struct recording_queue many[RECORDING_JOBS_QUEUES];
	static struct recording_gap gaps[RECORDING_JOBS_GAPS];
	struct recording_jobs jobs = { .end_ns = INT64_MAX, .open_ns = INT64_MAX, .list = list, .queues = many, .gaps = gaps, .count = RECORDING_JOBS_JOBS,
				       .num_queues = RECORDING_JOBS_QUEUES, .num_gaps = RECORDING_JOBS_GAPS };
	struct recording_head head = { .gpu.values_per_block = 64, .jobs = true };
	struct recording_record record;
	struct recording_writer writer;
	struct recording_jobs read;
	enum recording_item item;
	size_t i;

	begin();
	/* The most that a record can take. */
	for (i = 0; i < jobs.num_gaps; i++)
		gaps[i] = (struct recording_gap){ 0, 0, UINT32_MAX, UINT64_MAX };
	for (i = 0; i < jobs.num_queues; i++) {
		many[i] = (struct recording_queue){ .id = 65535, .pid = INT32_MAX };
		memset(many[i].process, 'p', RECORDING_PROCESS_NAME);
		memset(many[i].name, 'n', RECORDING_QUEUE_NAME);
	}
	for (i = 0; i < jobs.count; i++)
		list[i] = (struct recording_job){ 0, 1ull << 62, 2ull << 61, INT64_MAX - i, 63, 64, INT32_MAX, i % 3, i & 1, i & 2 };
	if (recording_writer_open(&writer, &head))
		abort();
	recording_write_jobs(&writer, &jobs);
	expect(writer.size <= RECORDING_JOBS_SIZE, "the longest record takes %zu bytes", writer.size);
	item = pperf_records_get_record(writer.bytes, writer.size, &record);
	expect(item == RECORDING_SAMPLE, "it is no record: %d", item);
	item = pperf_records_get_jobs(&record, &read);
	expect(item == RECORDING_JOBS && read.start_ns == 0 && read.end_ns == INT64_MAX && read.count == jobs.count &&
	       read.num_queues == jobs.num_queues && read.num_gaps == jobs.num_gaps, "%d: %zu jobs, %zu queues, %zu gaps", item,
	       read.count, read.num_queues, read.num_gaps);
	for (i = 0; i < read.count; i++)
		expect(same_job(&read.list[i], &list[i]), "job %zu is another", i);
	for (i = 0; i < read.num_queues; i++)
		expect(read.queues[i].id == 65535 && read.queues[i].pid == INT32_MAX && !strcmp(read.queues[i].process, many[i].process) &&
		       !strcmp(read.queues[i].name, many[i].name), "queue %zu is another", i);
	for (i = 0; i < read.num_gaps; i++)
		expect(!read.gaps[i].start_ns && !read.gaps[i].end_ns && read.gaps[i].cpu == UINT32_MAX && read.gaps[i].lost == UINT64_MAX,
		       "gap %zu is another", i);
	pperf_records_free_jobs(&read);
	recording_writer_close(&writer);
	end("jobs that were written are read");
}

static void test_nonsense(void)
{
#define TIMES "\0\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0"
	static const struct {
		const char *name, *bytes;
		size_t size;
	} records[] = {
		{ "no times", TIMES, 23 },
		{ "an end before the begin", "\x65\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\0\0", 26 },
		{ "times of 2^63", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0\0\0\0\0\0\0\0\0\0", 26 },
		{ "a job open behind the end", "\0\0\0\0\0\0\0\0\x64\0\0\0\0\0\0\0\x65\0\0\0\0\0\0\0\0\0", 26 },
		{ "nothing more", TIMES, 24 },
		{ "more gaps than there is room for", TIMES "\x02\0\0\0\0", 29 },
		{ "a gap before all times", TIMES "\x01\x65\0\0\0\0", 30 },
		{ "a gap that is cut", TIMES "\x01\0\0\0", 28 },
		{ "more queues than there is room for", TIMES "\0\x05\0\0\0\0", 30 },
		{ "a queue of too large a number", TIMES "\0\x01\x80\x80\x04\0\0\0", 32 },
		{ "a process of 2^31", TIMES "\0\x01\0\x80\x80\x80\x80\x08\0\0", 34 },
		{ "a name that is too long", TIMES "\0\x01\0\0\x10" "0123456789abcdef\0", 46 },
		{ "a name that is cut", TIMES "\0\x01\0\0\x08" "abc", 32 },
		{ "a name with a control character", TIMES "\0\x01\0\0\x01\x1b\0", 31 },
		{ "a job of no queue", TIMES "\0\x01\0\0\0\0\0\x01\0\0\0\0\0\0", 38 },
		{ "a job that waited for no queue", TIMES "\0\x01\0\0\0\0\0\0\x02\0\0\0\0\0", 38 },
		{ "an unknown outcome", TIMES "\0\x01\0\0\0\0\x03\0\0\0\0\0\0\0", 38 },
		{ "a job before all times", TIMES "\0\x01\0\0\0\0\0\0\0\0\x32\x33\0\0", 38 },
		{ "a job that is cut", TIMES "\0\x01\0\0\0\0\0\0\0\0\0\0\0", 37 },
	};
	static const char good[] = TIMES "\0\x01\0\0\0\0\0\0\0\0\x32\x32\0";
	struct recording_record record = { 'J', (const uint8_t *)good, sizeof(good) };
	struct recording_jobs jobs;
	enum recording_item item;
	size_t i;

	begin();
	item = pperf_records_get_jobs(&record, &jobs);
	expect(item == RECORDING_JOBS && jobs.count == 1 && jobs.list[0].run_ns == 0 && jobs.list[0].end_ns == 50, "a job: %d", item);
	pperf_records_free_jobs(&jobs);
	for (i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		record.at = (const uint8_t *)records[i].bytes;
		record.length = records[i].size;
		item = pperf_records_get_jobs(&record, &jobs);
		expect(item == RECORDING_BROKEN, "%s: %d", records[i].name, item);
		pperf_records_free_jobs(&jobs);
	}
	end("jobs that make no sense are refused");
}

static const char *const states[] = { "unknown", "running", "ready", "waiting", "none" };

/* What the GPU did, one line each: from, until, state, owner. */
static void print_spans(const struct jobs *jobs, char *to, size_t size)
{
	const char *owner;
	size_t i;

	*to = 0;
	for (i = 0; i < jobs->num_spans; i++) {
		const struct job_span *span = &jobs->spans[i];

		if (span->owner == JOBS_SEVERAL || span->owner == JOBS_NOBODY)
			owner = span->owner == JOBS_SEVERAL ? "several" : "nobody";
		else
			owner = span->state == JOBS_RUNNING ? jobs->processes[span->owner].name : jobs->queues[span->owner].name;
		snprintf(to + strlen(to), size - strlen(to), "%" PRIu64 " %" PRIu64 " %s %s\n", span->start_ns, span->end_ns,
			 states[span->state], owner);
	}
}

static void test_spans(void)
{
	static struct recording_job first[] = {
		/* Queued before anything was recorded, and run as soon as ready. */
		{ 50, 120, 120, 200, .queue = 0, .waited_for = 4, .thread = 101 },
		/* One process in two queues at once, then another one beside it. */
		{ 150, 150, 160, 250, .queue = 1 },
		{ 180, 190, 220, 260, .queue = 2, .waited_for = 1 },
		/* Nothing for a while; then one waits for its turn, and two others for fences. */
		{ 300, 340, 360, 400, .queue = 0, .waited_for = 4 },
		{ 310, 350, 400, 400, .queue = 1, .waited_for = 4, .outcome = JOB_DROPPED, .no_run = true },
	};
	static struct recording_job second[] = {
		{ 320, 500, 500, 510, .queue = 2 },
		/* In a gap, and after the end of all that is known. */
		{ 600, 600, 610, 700, .queue = 0, .outcome = JOB_UNFINISHED },
	};
	static struct recording_gap gaps[] = { { 620, 640, 1, 5 }, { 630, 650, 0, 0 } };
	struct recording_jobs records[] = {
		{ .start_ns = 100, .end_ns = 400, .queues = (struct recording_queue *)queues, .num_queues = 4, .list = first, .count = 5 },
		{ .start_ns = 400, .end_ns = 700, .queues = (struct recording_queue *)queues, .num_queues = 4, .list = second, .count = 2,
		  .gaps = gaps, .num_gaps = 2 },
		{ .start_ns = 800, .end_ns = 900 },
	};
	static const char want[] =
		"100 120 waiting \xc3\xa4\n"
		"120 220 running game\n"
		"220 250 running several\n"
		"250 260 running compositor\n"
		"260 300 none panthor-queue-2-1-0\n"
		"300 320 waiting \xc3\xa4\n"
		"320 340 waiting several\n"
		"340 350 ready panthor-queue-1-1-0\n"
		"350 360 ready several\n"
		"360 400 running game\n"
		"400 500 waiting nobody\n"
		"500 510 running compositor\n"
		"510 600 none panthor-queue-2-1-0\n"
		"600 610 ready panthor-queue-1-1-0\n"
		"610 620 running game\n"
		"620 650 unknown nobody\n"
		"650 700 running game\n"
		"700 800 unknown nobody\n"
		"800 900 none panthor-queue-1-1-0\n";
	char got[4096];
	struct recording r;
	struct jobs jobs;
	size_t i;

	begin();
	expect(read_file(make_file(records, 3, true), &jobs, &r) == RECORDING_END, "they cannot be read: %s", r.error);
	expect(jobs.count == 7 && jobs.num_processes == 3 && jobs.num_queues == 4, "%zu jobs, %zu processes, %zu queues", jobs.count,
	       jobs.num_processes, jobs.num_queues);
	expect(jobs.processes[0].jobs == 5 && jobs.processes[1].jobs == 2 && !jobs.processes[2].jobs, "not each has its jobs");
	for (i = 1; i < jobs.count; i++)
		expect(jobs.list[i].queued_ns >= jobs.list[i - 1].queued_ns, "job %zu comes too late", i);
	print_spans(&jobs, got, sizeof(got));
	expect(!strcmp(got, want), "what the GPU did is\n%s", got);
	for (i = 0; i < jobs.num_spans; i++)
		expect(pperf_jobs_span_at(&jobs, jobs.spans[i].start_ns) == i && pperf_jobs_span_at(&jobs, jobs.spans[i].end_ns - 1) == i,
		       "span %zu is not found", i);
	expect(pperf_jobs_span_at(&jobs, 0) == 0 && pperf_jobs_span_at(&jobs, 900) == jobs.num_spans, "there is something before or behind");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	end("what the GPU did is told of every moment");

	/* A file that does not have what comes behind it. */
	begin();
	records[1].open_ns = 450;
	expect(read_file(make_file(records, 2, true), &jobs, &r) == RECORDING_END && jobs.count == 7, "they cannot be read: %s", r.error);
	expect(jobs.num_spans && jobs.spans[jobs.num_spans - 1].end_ns == 450 && jobs.spans[jobs.num_spans - 1].state == JOBS_WAITING,
	       "something is known behind");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	records[1].open_ns = 50;
	expect(read_file(make_file(records, 2, true), &jobs, &r) == RECORDING_END && jobs.count == 7 && !jobs.num_spans, "something is known");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	records[1].open_ns = 0;
	end("nothing is known while a job may run that has not ended");

	begin();
	expect(read_file(make_file(records, 1, false), &jobs, &r) == RECORDING_END && !jobs.count && !jobs.num_spans, "there are some");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	end("a head without jobs has none");

	begin();
	records[1].start_ns = 399;
	expect(read_file(make_file(records, 2, true), &jobs, &r) == RECORDING_BROKEN, "times that overlap are taken");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	records[1].start_ns = 400;
	records[1].queues = (struct recording_queue[]){ queues[0], queues[1], queues[2], { .id = 7, .process = "vkms", .name = "b" } };
	expect(read_file(make_file(records, 2, true), &jobs, &r) == RECORDING_BROKEN, "a queue of two names is taken");
	pperf_jobs_free(&jobs);
	pperf_records_close(&r);
	end("records that contradict each other are refused");
}

int main(void)
{
	printf("1..6\n");
	test_records();
	test_nonsense();
	test_spans();
	return failed;
}
