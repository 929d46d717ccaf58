// SPDX-License-Identifier: MIT
/*
 * recording-make FILE SAMPLES default|all|load [COMMAND...]: a recording of a GPU that is not there, a sample a
 * millisecond, in which every counter changes all the time. Its work comes in frames, and sleeps now and then.
 * One sample in a thousand is flagged, one is longer than the period; before one in ten thousand is a gap.
 * MARKS in the environment has lines "NS NAME" of marks, so long behind the begin of the first sample. Each comes
 * before the first sample that ends behind it or, with LATE in the environment, so many nanoseconds later. FRAMES has lines
 * "NS PID NAME [LOST]" of ends of frames, and the same is true of them. USES has lines "FROM_NS UNTIL_NS [PID]..." of who used
 * the GPU, "-PID" if it is not known; they come at the end. JOBS has lines "QUEUE THREAD QUEUED READY RUN END [FENCE [OUTCOME]]"
 * of jobs, with numbers of QUEUES, of which that of a fence is -1 if there is none, times in nanoseconds, of which "-" is not
 * known, and the number of an outcome; lines "gap CPU FROM UNTIL LOST", and a line "until NS" behind what came up to then. QUEUES
 * has lines "PID PROCESS NAME". "@FILE" in JOBS is what a file has. With
 * POWERS in the environment, counter n of the first block of a type counts 10 to the power of n % 20, once. With STATES in it,
 * blocks are off for a part of a second in twenty, and one sample in 500 is of protected mode.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording-write.h"
#include "tests-common.h"

#define PERIOD_NS 1000000ull
#define CORES 10
#define SLICES 4
#define FRAME_MS 16

/* What comes for each sample. */
struct work {
	/* Cycles in a sample; parts of it: active, and of that by queue. */
	double cycles, active, vertex, fragment, compute;
};

static uint64_t random_state = 1;

/* From 0 to 1. */
static double random_part(void)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 40) / (double)(1 << 24);
}

/* A part that is always the same for one name. */
static double part_of_name(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 16777619u;
	return (hash >> 8) / (double)(1 << 24);
}

static struct work work_at(uint64_t n)
{
	static const double mhz[] = { 300, 500, 700, 850 };
	double second = n / 1e3, frame = n % FRAME_MS / (double)FRAME_MS;
	double load = 0.55 + 0.4 * sin(second / 3) * cos(second / 7);
	struct work w = {};

	w.cycles = mhz[(int)(3.999 * fmax(0, fmin(0.99, load)))] * 1e3 * (0.99 + 0.02 * random_part());
	/* Asleep for a second in twenty. */
	if (n % 20000 >= 19000)
		return w;
	if (frame < load)
		w.active = fmin(1, 0.9 + 0.1 * random_part());
	if (frame < load * 0.3)
		w.vertex = w.active * (0.8 + 0.2 * random_part());
	else
		w.fragment = w.active * (0.85 + 0.15 * random_part());
	w.compute = w.active * 0.2 * random_part();
	return w;
}

static bool begins(const char *text, const char *begin)
{
	return !strncmp(text, begin, strlen(begin));
}

/* What a counter has of the cycles. */
static double part_of(const char *name, const struct work *w)
{
	double own = part_of_name(name);

	if (!strcmp(name, "MaliGPUActiveCy"))
		return w->active;
	if (!strcmp(name, "MaliGPUAnyQueueActiveCy"))
		return w->active * 0.97;
	if (begins(name, "MaliVert") || begins(name, "MaliTiler") || begins(name, "MaliGeom"))
		return w->vertex * (strstr(name, "Stall") ? 0.1 * own : 0.9);
	if (begins(name, "MaliFrag") || begins(name, "MaliMain"))
		return w->fragment * (strstr(name, "Stall") ? 0.1 * own : 0.95);
	if (begins(name, "MaliComp"))
		return w->compute * (strstr(name, "Stall") ? 0.1 * own : 0.9);
	if (!strcmp(name, "MaliAnyActiveCy"))
		return 0.2 * w->vertex + 0.95 * w->fragment;
	if (!strcmp(name, "MaliCoreActiveCy"))
		return 0.15 * w->vertex + 0.85 * w->fragment;
	if (strstr(name, "Stall"))
		return 0.2 * own * w->fragment;
	return (0.1 * w->vertex + 0.6 * w->fragment) * own;
}

static uint64_t power_of_ten(unsigned int n)
{
	return n ? 10 * power_of_ten(n - 1) : 1;
}

static void count(struct fake *fake, const struct pperf_db *db, const struct pperf_masks *masks, const struct work *w)
{
	const struct pperf_counter *counter;
	unsigned int b, n, i;
	double own;

	for (b = 0; b < fake->sample.num_blocks; b++) {
		const struct pperf_block *block = &fake->blocks[b];

		for (n = PPERF_FIRST_COUNTER; n < fake->info.values_per_block; n++) {
			if (!(masks->bits[block->type][n / 64] >> (n % 64) & 1))
				continue;
			counter = pperf_db_at(db, block->type, n);
			/* Cores have less to do the later they come. */
			own = block->type == PPERF_BLOCK_SHADER ? 1 - 0.5 * block->index / CORES : 1;
			if (getenv("POWERS")) {
				fake->values[b][n] = block->index || fake->sample.end_ns ? 0 : power_of_ten(n % 20);
				continue;
			}
			fake->values[b][n] = w->cycles * part_of(counter->name, w) * own * (0.95 + 0.05 * random_part());
		}
	}
	for (i = 0; i < PPERF_CLOCKS; i++)
		fake->sample.cycles[i] = fake->info.clocks & 1u << i && (w->active > 0 || random_part() < 0.5) ? w->cycles : 0;
}

static void set_states(struct fake *fake, uint64_t n)
{
	unsigned int b, states = PPERF_STATE_ON | PPERF_STATE_AVAILABLE;

	states |= n % 500 == 77 ? PPERF_STATE_PROTECTED : PPERF_STATE_NORMAL;
	if (n % 1000 >= 950)
		states |= PPERF_STATE_OFF;
	for (b = 0; b < fake->sample.num_blocks; b++)
		fake->blocks[b].states = states;
}

static void put(FILE *out, const struct recording_writer *writer)
{
	if (fwrite(writer->bytes, 1, writer->size, out) != writer->size)
		abort();
}

static void choose(const struct pperf_db *db, const struct pperf_gpu_info *info, const char *which, struct pperf_masks *masks)
{
	bool load = !strcmp(which, "load"), all = !strcmp(which, "all");
	struct pperf_selection *selection;
	unsigned int type;

	if (pperf_selection_new(db, info, &selection) || (all && pperf_selection_add_all(selection)) ||
	    (!all && !load && pperf_selection_add_default(selection)))
		abort();
	pperf_selection_need_load(selection);
	if (!load)
		pperf_selection_need_topdown(selection);
	*masks = *pperf_selection_masks(selection);
	for (type = 0; type < PPERF_BLOCK_TYPES; type++)
		if (!info->blocks[type])
			memset(masks->bits[type], 0, sizeof(masks->bits[type]));
	pperf_selection_free(selection);
}

/* As a recorder has them. Returns how many. */
static unsigned int put_marks(FILE *out, struct recording_writer *writer, uint64_t begin, uint64_t until)
{
	static const char *next;
	unsigned int count = 0;
	char *name;

	if (!next)
		next = getenv("MARKS") ? getenv("MARKS") : "";
	while (*next) {
		struct recording_mark mark = { .time_ns = begin + strtoull(next, &name, 10) };
		size_t length;

		if (mark.time_ns >= until)
			break;
		name += *name == ' ';
		length = strcspn(name, "\n");
		snprintf(mark.name, sizeof(mark.name), "%.*s", (int)length, name);
		recording_write_mark(writer, &mark);
		put(out, writer);
		next = name + length + (name[length] == '\n');
		count++;
	}
	return count;
}

/* The same of frames. */
static unsigned int put_frames(FILE *out, struct recording_writer *writer, uint64_t begin, uint64_t until)
{
	static const char *next;
	unsigned int count = 0;
	uint64_t time_ns;
	int read;

	if (!next)
		next = getenv("FRAMES") ? getenv("FRAMES") : "";
	for (; *next; next += strcspn(next, "\n"), next += *next == '\n') {
		struct recording_frame frame = {};

		read = sscanf(next, "%" SCNu64 " %" SCNu32 " %32[^ \n]%*[ ]%" SCNu32, &time_ns, &frame.pid, frame.name, &frame.lost);
		if (read < 3)
			abort();
		frame.time_ns = begin + time_ns;
		if (frame.time_ns >= until)
			break;
		recording_write_frame(writer, &frame);
		put(out, writer);
		count++;
	}
	return count;
}

static void put_uses(FILE *out, struct recording_writer *writer, uint64_t begin)
{
	const char *text = getenv("USES") ? getenv("USES") : "";
	char *next;

	for (; *text; text += *text == '\n') {
		struct recording_use use = {};

		use.start_ns = begin + strtoull(text, &next, 10);
		use.end_ns = begin + strtoull(next, &next, 10);
		for (text = next; *text == ' '; text = next) {
			long pid = strtol(text, &next, 10);

			use.users[use.count++] = pid < 0 ? -pid | RECORDING_USER_UNKNOWN : pid;
		}
		recording_write_use(writer, &use);
		put(out, writer);
	}
}

#define MAX_QUEUES RECORDING_JOBS_QUEUES

static size_t read_queues(struct recording_queue *queues)
{
	const char *text = getenv("QUEUES") ? getenv("QUEUES") : "";
	size_t count = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n', count++) {
		queues[count].id = count;
		if (count == MAX_QUEUES || sscanf(text, "%" SCNu32 " %15s %63[^\n]", &queues[count].pid, queues[count].process,
						  queues[count].name) != 3)
			abort();
	}
	return count;
}

/* A time of a job, or that of the next. */
static uint64_t job_time(const char *text, uint64_t begin, uint64_t next)
{
	return *text == '-' ? next : begin + strtoull(text, NULL, 10);
}

static struct recording_job read_job(const char *text, uint64_t begin)
{
	char queued[32], ready[32], run[32], done[32];
	struct recording_job job = {};
	int read, fence = -1, outcome = JOB_DONE;

	read = sscanf(text, "%" SCNu32 " %" SCNu32 " %31s %31s %31s %31[^ \n]%*[ ]%d%*[ ]%d", &job.queue, &job.thread, queued, ready, run,
		      done, &fence, &outcome);
	if (read < 6)
		abort();
	job.waited_for = fence + 1;
	job.outcome = outcome;
	job.no_queued = *queued == '-';
	job.no_run = *run == '-';
	job.end_ns = job_time(done, begin, 0);
	job.run_ns = job_time(run, begin, job.end_ns);
	job.ready_ns = job_time(ready, begin, job.run_ns);
	job.queued_ns = job_time(queued, begin, job.ready_ns);
	return job;
}

/* Lines that the environment has, or a file that it names. */
static FILE *open_jobs(void)
{
	const char *text = getenv("JOBS") ? getenv("JOBS") : "";
	FILE *lines = *text == '@' ? fopen(text + 1, "re") : *text ? fmemopen((char *)text, strlen(text), "r") : NULL;

	if (!lines && *text)
		abort();
	return lines;
}

static void put_jobs(FILE *out, struct recording_writer *writer, uint64_t begin)
{
	static struct recording_job list[RECORDING_JOBS_JOBS];
	struct recording_gap gaps[RECORDING_JOBS_GAPS];
	struct recording_queue queues[MAX_QUEUES] = {};
	struct recording_jobs jobs = { .start_ns = begin, .list = list, .gaps = gaps, .queues = queues };
	FILE *lines = open_jobs();
	struct recording_gap gap;
	char text[256];

	jobs.num_queues = read_queues(queues);
	while (lines && fgets(text, sizeof(text), lines)) {
		if (begins(text, "until ")) {
			jobs.end_ns = jobs.open_ns = job_time(text + strlen("until "), begin, 0);
			recording_write_jobs(writer, &jobs);
			put(out, writer);
			jobs.start_ns = jobs.end_ns;
			jobs.count = jobs.num_gaps = 0;
		} else if (sscanf(text, "gap %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64, &gap.cpu, &gap.start_ns, &gap.end_ns,
				  &gap.lost) == 4) {
			gap.start_ns += begin;
			gap.end_ns += begin;
			gaps[jobs.num_gaps++] = gap;
		} else {
			list[jobs.count++] = read_job(text, begin);
		}
	}
	if (lines)
		fclose(lines);
}

int main(int argc, char **argv)
{
	static struct fake fake;
	struct recording_head head = {
		.tool = (char *)"recording-make", .host = (char *)"board", .kernel = (char *)"7.3.0",
		.machine = (char *)"aarch64", .period_ns = PERIOD_NS,
	};
	struct recording_end end = { .reason = RECORDING_COMMAND_ENDED };
	struct recording_writer writer;
	uint64_t samples, n, now = 5000 * PERIOD_NS, late = getenv("LATE") ? strtoull(getenv("LATE"), NULL, 10) : 0;
	struct pperf_db *db;
	struct work work;
	unsigned int b;
	FILE *out;

	if (argc < 4 || pperf_db_open("Mali-G710", &db))
		return 2;
	samples = strtoull(argv[2], NULL, 10);
	fake_init(&fake, "Mali-G710", SLICES, CORES, 16);
	fake.info.name = getenv("GPU") ? getenv("GPU") : "Mali-G710";
	fake.info.node = "/dev/dri/renderD128";
	fake.info.gpu_id = 0xa8620000;
	head.command = argv[4] ? &argv[4] : NULL;
	head.gpu = fake.info;
	head.jobs = getenv("JOBS");
	choose(db, &fake.info, argv[3], &head.masks);
	for (b = 0; b < fake.sample.num_blocks; b++)
		memcpy(fake.blocks[b].enabled, head.masks.bits[fake.blocks[b].type], sizeof(fake.blocks[b].enabled));

	out = fopen(argv[1], "we");
	if (!out || recording_writer_open(&writer, &head))
		return 1;
	put(out, &writer);
	for (n = 0; n < samples; n++) {
		work = work_at(n);
		if (getenv("STATES"))
			set_states(&fake, n);
		count(&fake, db, &head.masks, &work);
		if (n % 10000 == 5000)
			now += 40 * PERIOD_NS;
		fake.sample.start_ns = now;
		now += n % 1000 == 700 ? 3 * PERIOD_NS : PERIOD_NS;
		fake.sample.end_ns = now;
		fake.sample.flags = n % 1000 == 700 ? PPERF_SAMPLE_STRETCHED : n % 1000 == 300 ? PPERF_SAMPLE_OVERFLOW : 0;
		end.stretched += n % 1000 == 700;
		end.overflow += n % 1000 == 300;
		end.marks += put_marks(out, &writer, 5000 * PERIOD_NS, now - late);
		end.frames += put_frames(out, &writer, 5000 * PERIOD_NS, now - late);
		recording_write_sample(&writer, &fake.sample);
		put(out, &writer);
	}
	end.marks += put_marks(out, &writer, 5000 * PERIOD_NS, UINT64_MAX);
	end.frames += put_frames(out, &writer, 5000 * PERIOD_NS, UINT64_MAX);
	put_uses(out, &writer, 5000 * PERIOD_NS);
	put_jobs(out, &writer, 5000 * PERIOD_NS);
	end.samples = samples;
	if (recording_write_end(&writer, &end))
		return 1;
	put(out, &writer);
	recording_writer_close(&writer);
	pperf_db_close(db);
	return fclose(out) ? 1 : 0;
}
