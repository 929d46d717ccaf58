/* SPDX-License-Identifier: MIT */
/* panthor-perf top: what it measures, and the forms in which that is shown. */
#ifndef PANTHOR_PERF_TOP_H
#define PANTHOR_PERF_TOP_H

#include "common.h"
#include "fdinfo.h"
#include "figures.h"
#include "graph.h"
#include "job-usage.h"

/* What was counted in one period of the display. */
struct top_period {
	struct pperf_sums *sums;

	/* NULL if nothing is known of what holds this GPU up. */
	struct pperf_topdown *topdown;
};

/* A process that uses the GPU. */
struct top_process {
	pid_t pid;
	char command[FDINFO_NAME];

	/* Parts of the time: in which its jobs ran, and in which no others did. NAN if it is not known. */
	double busy, alone;

	/* Jobs that ended, in a second; mean seconds from queued to run, and from run to end. NAN if they are not known. */
	double rate, to_run, to_end;

	/* Of its jobs, NULL if they are not known, or there were none. */
	const struct job_usage_process *jobs;

	/* Sums of its clients, of which there may be none. */
	unsigned int clients;
	bool has_resident, has_total;
	uint64_t resident, total;
};

struct top_processes {
	struct top_process *list;
	size_t count;
};

enum top_view {
	VIEW_CLIENTS,
	VIEW_PROCESSES,
};

struct top {
	const struct pperf_gpu_info *info;
	const struct pperf_db *db;
	const struct pperf_selection *selection;

	/* Why nothing is counted; empty if something is. */
	char why_not[512];

	/* Its units have bars, as the GPU and its shader cores have. */
	struct figures_source source;

	/* The last whole period. It has samples if anything was counted. */
	struct top_period shown;

	/* Of all samples so far. */
	struct pperf_log log;

	/* Load of the GPU, by periods. */
	struct history history;

	/* Of this moment, nominal, in Hz; 0 if it is not known. */
	uint64_t frequency;

	/* Means over the latest periods that were long enough to tell. */
	struct rates clock;

	/* Why no jobs are known; empty if they are. */
	char why_no_jobs[128];

	/* Jobs of the last whole period. */
	struct job_usage jobs;

	struct clients clients;
	struct top_processes processes;
	enum top_view view;
	enum client_order order;
	bool reverse;

	/* False if the kernel can tell the time of clients, and was not asked to. */
	bool profiling;

	/* Of the display. */
	uint64_t delay_ns;
};

/* Whether it is known what jobs did in a period. */
bool top_has_jobs(const struct top *top);

/* Makes the list of processes out of clients and jobs, in the order that is wanted. Returns false without memory. */
bool top_find_processes(struct top *top);
void top_sort_processes(struct top *top);

/* Load of the whole GPU, a part of the time; NAN if it is not known. */
double top_load(const struct top *top);

/* Draws all of it; note is a line at the bottom. */
void top_draw(const struct top *top, struct canvas *canvas, enum graph_style style, const char *note);

/* Rows that top_draw() needs to show all clients. */
int top_rows(const struct top *top, int columns);

/* Draws the help. */
void top_draw_help(const struct top *top, struct canvas *canvas);

/* One line of text a period, with a line of titles before if it is wanted. */
void top_print_line(const struct top *top, FILE *out, bool titles);

/* One line of JSON a period. */
void top_print_json(const struct top *top, FILE *out);

#endif
