// SPDX-License-Identifier: MIT
/* Load, frequency and bandwidth, for programs that show these of any GPU. */
#include <math.h>
#include <stdlib.h>

#include "internal.h"

/* Short for who looks twice a second, and long for who pays: samples add up. */
#define METER_PERIOD_NS 50000000ull
/* Six seconds: what does not fit comes with the next reading, and this one would be of the time before. */
#define METER_SLOTS 128

struct pperf_meter {
	struct pperf_gpu *gpu;
	struct pperf_db *db;
	struct pperf_session *session;
	struct pperf_sums *sums;

	/* Bytes read and written; NULL if the GPU has no such counter. */
	const struct pperf_counter *read, *written;

	struct pperf_reading last;
};

static const struct pperf_counter *find(const struct pperf_meter *m, const char *name, struct pperf_masks *masks)
{
	const struct pperf_counter *counter = pperf_db_find(m->db, name);

	if (!counter || !pperf_counter_exists(m->db, counter, pperf_gpu_info(m->gpu)))
		return NULL;
	pperf_counter_needs(m->db, counter, masks);
	return counter;
}

/* pperf_meter_close() must be called in any case. */
static enum pperf_error open_meter(struct pperf_meter *m, int fd)
{
	struct pperf_session_options options = {
		.size = sizeof(options), .period_ns = METER_PERIOD_NS, .slots = METER_SLOTS
	};
	struct pperf_selection *load = NULL;
	const struct pperf_gpu_info *info;
	enum pperf_error error;

	error = pperf_gpu_open_fd(fd, &m->gpu);
	if (error)
		return error;
	info = pperf_gpu_info(m->gpu);
	error = pperf_db_open(info->layout, &m->db);
	if (!error)
		error = pperf_sums_new(m->db, info, &m->sums);
	if (!error)
		error = pperf_selection_new(m->db, info, &load);
	if (error)
		return error;
	pperf_selection_need_load(load);
	options.masks = *pperf_selection_masks(load);
	pperf_selection_free(load);
	m->read = find(m, "MaliExtBusRdBy", &options.masks);
	m->written = find(m, "MaliExtBusWrBy", &options.masks);

	while (info->max_slots && options.slots > info->max_slots)
		options.slots /= 2;

	error = pperf_session_open(m->gpu, &options, &m->session);
	return error ? error : pperf_session_start(m->session, 0);
}

enum pperf_error pperf_meter_open(int fd, struct pperf_meter **meter)
{
	struct pperf_meter *m = calloc(1, sizeof(*m));
	enum pperf_error error;

	if (!m)
		return pperf_no_memory();
	m->last = (struct pperf_reading){ .load = NAN, .active_hz = NAN, .read = NAN, .written = NAN };
	error = open_meter(m, fd);
	if (error)
		pperf_meter_close(m);
	else
		*meter = m;
	return error;
}

void pperf_meter_close(struct pperf_meter *m)
{
	if (!m)
		return;
	pperf_session_close(m->session);
	pperf_sums_free(m->sums);
	pperf_db_close(m->db);
	pperf_gpu_close(m->gpu);
	free(m);
}

/* Of a second; NAN if it is not counted. */
static double rate(const struct pperf_sums *sums, const struct pperf_counter *counter)
{
	double value;

	if (!counter || pperf_sums_value(sums, counter, &value))
		return NAN;
	return value / pperf_sums_seconds(sums);
}

static void take_reading(struct pperf_meter *m)
{
	struct pperf_reading *r = &m->last;
	struct pperf_load load = {};

	r->seconds = pperf_sums_seconds(m->sums);
	r->flags = pperf_sums_flags(m->sums);
	r->read = rate(m->sums, m->read);
	r->written = rate(m->sums, m->written);
	r->load = r->active_hz = NAN;
	if (pperf_sums_load(m->sums, &load, sizeof(load)))
		return;
	r->load = load.of_time;
	if (load.active_seconds > 0)
		r->active_hz = load.active_cycles / load.active_seconds;
}

enum pperf_error pperf_meter_read(struct pperf_meter *m, struct pperf_reading *reading, size_t size)
{
	const struct pperf_sample *sample;
	enum pperf_error error;

	if (size < SIZE_0_3(struct pperf_reading, flags))
		return pperf_fail(PPERF_ERROR_INVALID, "the size of a reading is %zu, but must be sizeof(struct pperf_reading)",
				  size);
	do {
		error = pperf_session_next(m->session, &sample);
		if (!error && sample)
			error = pperf_sums_add(m->sums, sample);
	} while (!error && sample);
	if (error)
		return error;
	if (pperf_sums_seconds(m->sums) > 0) {
		take_reading(m);
		pperf_sums_reset(m->sums);
	}
	pperf_struct_copy(reading, size, &m->last, sizeof(m->last));
	return PPERF_OK;
}
