// SPDX-License-Identifier: MIT
/* rates-test DIRECTORY: the clock's rates, of samples and of a nominal rate that DIRECTORY has. Prints TAP. */
#define _GNU_SOURCE
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "common.h"
#include "rates.h"
#include "tests-common.h"

#define MS 1000000ull

static const char *directory;
static struct pperf_gpu *gpu;
static struct rates_meter meter;
static struct fake fake;
static unsigned int tests;
static int failed;

static void put(const char *name, const char *text)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/devfreq/gpu/%s", directory, name);
	file = fopen(path, "we");
	if (!file || fputs(text, file) < 0 || fclose(file))
		abort();
}

/* What the kernel says of the nominal rate is read. */
static void nominal(uint64_t hz, unsigned int changes)
{
	char text[64];

	snprintf(text, sizeof(text), "%" PRIu64 "\n", hz);
	put("cur_freq", text);
	snprintf(text, sizeof(text), "     From  :   To\nTotal transition : %u\n", changes);
	put("trans_stat", text);
	rates_read(&meter, gpu, true);
}

/* The rate changes while it is read, and a sample begins before that. */
static void *change(void *data)
{
	char path[4096];
	FILE *file;

	(void)data;
	snprintf(path, sizeof(path), "%s/devfreq/gpu/trans_stat", directory);
	file = fopen(path, "we");
	if (!file)
		abort();
	fake.sample.start_ns = now_ns(CLOCK_MONOTONIC_RAW);
	put("cur_freq", "500000000\n");
	if (fputs("Total transition : 6\n", file) < 0 || fclose(file))
		abort();
	return NULL;
}

/* A sample that ends later than all before. */
static void sample(uint64_t ms, uint64_t hz)
{
	fake.sample.start_ns = now_ns(CLOCK_MONOTONIC_RAW);
	fake.sample.end_ns = fake.sample.start_ns + ms * MS;
	fake.sample.cycles[PPERF_CLOCK_TOPLEVEL] = hz / 1000 * ms;
	rates_add(&meter, &fake.sample);
}

static bool result(bool good, const char *name)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++tests, name);
	failed |= !good;
	return good;
}

static void are(const char *what, uint64_t measured_hz, uint64_t nominal_hz)
{
	struct rates rates = rates_of(&meter);

	if (!result(rates.measured_hz == measured_hz && rates.nominal_hz == nominal_hz, what))
		printf("# %" PRIu64 " and %" PRIu64 " Hz instead of %" PRIu64 " and %" PRIu64 "\n", rates.measured_hz,
		       rates.nominal_hz, measured_hz, nominal_hz);
	memset(&meter, 0, sizeof(meter));
}

static void text_is(uint64_t measured_hz, uint64_t nominal_hz, const char *want)
{
	struct rates rates = { measured_hz, nominal_hz };
	char text[RATES_TEXT];

	if (!result(rates_text(&rates, text) == !!*want && !strcmp(text, want), *want ? want : "no text"))
		printf("# got: %s\n", text);
}

int main(int argc, char **argv)
{
	char path[4096];
	pthread_t thread;

	if (argc != 2 || setenv("FAKE_SYSFS", argv[1], 1) || pperf_gpu_open(NULL, &gpu))
		return 2;
	directory = argv[1];
	snprintf(path, sizeof(path), "%s/devfreq", directory);
	mkdir(path, 0777);
	snprintf(path, sizeof(path), "%s/devfreq/gpu", directory);
	mkdir(path, 0777);
	fake_init(&fake, "Mali-G710", 2, 3, 16);

	printf("1..17\n");
	nominal(1000000000, 5);
	sample(49, 850000000);
	nominal(1000000000, 5);
	are("49 ms are too few", 0, 0);

	nominal(1000000000, 5);
	sample(50, 850000000);
	are("what was read before alone does not do", 0, 0);

	nominal(1000000000, 5);
	sample(50, 850000000);
	nominal(1000000000, 5);
	are("50 ms", 850000000, 1000000000);

	nominal(1000000000, 5);
	sample(100, 850000000);
	fake.blocks[0].states |= PPERF_STATE_OFF;
	sample(100, 500000000);
	fake.blocks[0].states = 0;
	sample(100, 500000000);
	fake.blocks[0].states = PPERF_STATE_ON;
	fake.sample.flags = PPERF_SAMPLE_OVERFLOW;
	sample(100, 500000000);
	fake.sample.flags = PPERF_SAMPLE_ERROR;
	sample(100, 500000000);
	fake.sample.flags = PPERF_SAMPLE_STRETCHED;
	sample(100, 800000000);
	fake.sample.flags = 0;
	nominal(1000000000, 5);
	are("only samples that are powered throughout, with all cycles", 825000000, 1000000000);

	nominal(1000000000, 5);
	sample(100, 850000000);
	nominal(1000000000, 5);
	sample(100, 600000000);
	nominal(500000000, 6);
	sample(300, 425000000);
	nominal(500000000, 6);
	are("a mean of two nominal rates, without the time of the change", 531250000, 625000000);

	nominal(1000000000, 5);
	sample(100, 850000000);
	nominal(1000000000, 7);
	are("nothing of a rate that has changed and is back", 0, 0);

	nominal(1000000000, 5);
	sample(100, 850000000);
	fake.sample.start_ns = now_ns(CLOCK_MONOTONIC_RAW);
	nominal(500000000, 6);
	rates_add(&meter, &fake.sample);
	nominal(500000000, 6);
	are("nothing of a sample across a change", 0, 0);

	nominal(1000000000, 5);
	snprintf(path, sizeof(path), "%s/devfreq/gpu/trans_stat", directory);
	if (unlink(path) || mkfifo(path, 0666) || pthread_create(&thread, NULL, change, NULL))
		abort();
	rates_read(&meter, gpu, true);
	pthread_join(thread, NULL);
	unlink(path);
	rates_add(&meter, &fake.sample);
	nominal(500000000, 6);
	are("nothing of a sample that began before the change, while the rate was read", 0, 0);

	nominal(1000000000, 5);
	put("cur_freq", "unknown\n");
	rates_read(&meter, gpu, true);
	sample(100, 850000000);
	rates_read(&meter, gpu, true);
	are("no nominal rate", 0, 0);

	nominal(1000000000, 5);
	put("trans_stat", "Not Supported.\n");
	rates_read(&meter, gpu, true);
	sample(100, 850000000);
	rates_read(&meter, gpu, true);
	are("no number of changes", 0, 0);

	text_is(851000000, 1000000000, "the GPU runs at 851 MHz, the clock framework says 1000 MHz");
	text_is(42500000, 50000000, "the GPU runs at 42 MHz, the clock framework says 50 MHz");
	text_is(9990000, 9000000, "the GPU runs at 9.99 MHz, the clock framework says 9.00 MHz");
	text_is(1021000000, 1000000000, "the GPU runs at 1021 MHz, the clock framework says 1000 MHz");
	text_is(980000000, 1000000000, "");
	text_is(1020000000, 1000000000, "");
	text_is(0, 0, "");
	pperf_gpu_close(gpu);
	return failed;
}
