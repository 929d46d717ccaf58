/* SPDX-License-Identifier: MIT */
/* A monitor of GL_AMD_performance_monitor with all counters of all groups, for gl-work */
#ifndef MONITOR_H
#define MONITOR_H

#include <stdio.h>
#include <stdlib.h>

#include "../die.h"

#define MAX_GROUPS	128
#define MAX_COUNTERS	1024

#define MONITOR_FUNCTIONS(F)						\
	F(GETPERFMONITORGROUPS, GetPerfMonitorGroups)			\
	F(GETPERFMONITORCOUNTERS, GetPerfMonitorCounters)		\
	F(GETPERFMONITORCOUNTERSTRING, GetPerfMonitorCounterString)	\
	F(GETPERFMONITORCOUNTERINFO, GetPerfMonitorCounterInfo)		\
	F(GENPERFMONITORS, GenPerfMonitors)				\
	F(DELETEPERFMONITORS, DeletePerfMonitors)			\
	F(SELECTPERFMONITORCOUNTERS, SelectPerfMonitorCounters)		\
	F(BEGINPERFMONITOR, BeginPerfMonitor)				\
	F(ENDPERFMONITOR, EndPerfMonitor)				\
	F(GETPERFMONITORCOUNTERDATA, GetPerfMonitorCounterData)

#define MEMBER(type, name) PFNGL##type##AMDPROC name;

/**
 * struct monitor - the monitor, and where its results go
 * @out: NULL if there is no monitor
 * @name: GL's name for it
 */
static struct monitor {
	MONITOR_FUNCTIONS(MEMBER)
	FILE *out;
	GLuint name;
} monitor;

#undef MEMBER

static void open_monitor(const char *path)
{
	GLuint groups[MAX_GROUPS], counters[MAX_COUNTERS];
	GLint n_groups, n_counters, max_active;

#define LOAD(type, name) monitor.name = (PFNGL##type##AMDPROC)eglGetProcAddress("gl" #name "AMD");
	MONITOR_FUNCTIONS(LOAD)
#undef LOAD
	monitor.out = fopen(path, "w");
	if (!monitor.out)
		die("%s cannot be written", path);
	monitor.GenPerfMonitors(1, &monitor.name);
	monitor.GetPerfMonitorGroups(&n_groups, MAX_GROUPS, groups);
	for (GLint g = 0; g < n_groups; g++) {
		monitor.GetPerfMonitorCounters(groups[g], &n_counters, &max_active, MAX_COUNTERS, counters);
		monitor.SelectPerfMonitorCounters(monitor.name, GL_TRUE, groups[g], n_counters, counters);
	}
}

static void begin_monitor(void)
{
	GLenum error;

	monitor.BeginPerfMonitor(monitor.name);
	error = glGetError();
	if (error)
		die("the monitor does not begin: GL error 0x%x", error);
}

/* Prints NAME VALUE of one result, and returns the words that it has. */
static int print_result(const GLuint *result)
{
	char name[128];
	GLenum type;
	union {
		GLuint words[2];
		uint64_t u64;
		float f;
	} value = { .words = { result[2] } };

	monitor.GetPerfMonitorCounterString(result[0], result[1], sizeof(name), NULL, name);
	monitor.GetPerfMonitorCounterInfo(result[0], result[1], GL_COUNTER_TYPE_AMD, &type);
	if (type != GL_UNSIGNED_INT64_AMD) {
		fprintf(monitor.out, " %s=%.9g", name, value.f);
		return 3;
	}
	value.words[1] = result[3];
	fprintf(monitor.out, " %s=%llu", name, (unsigned long long)value.u64);
	return 4;
}

/* A line of what was counted since begin_monitor(): NAME=VALUE for each counter. */
static void end_monitor(const char *scene)
{
	GLuint size = 0, available = 0;
	GLint written = 0;
	GLuint *data;

	monitor.EndPerfMonitor(monitor.name);
	for (unsigned long tries = 0; !available; tries++) {
		if (tries > 1000000)
			die("the monitor's results do not come");
		monitor.GetPerfMonitorCounterData(monitor.name, GL_PERFMON_RESULT_AVAILABLE_AMD, sizeof(available), &available,
						  NULL);
	}
	monitor.GetPerfMonitorCounterData(monitor.name, GL_PERFMON_RESULT_SIZE_AMD, sizeof(size), &size, NULL);
	data = malloc(size);
	if (!data)
		die("no memory for %u bytes of results", size);
	monitor.GetPerfMonitorCounterData(monitor.name, GL_PERFMON_RESULT_AMD, size, data, &written);
	fprintf(monitor.out, "%s", scene);
	for (GLint i = 0; i < written / 4;)
		i += print_result(data + i);
	fprintf(monitor.out, "\n");
	fflush(monitor.out);
	free(data);
}

#endif
