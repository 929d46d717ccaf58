// SPDX-License-Identifier: MIT
/* Errors and their messages. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

static _Thread_local char message[512];

const char *pperf_version(void)
{
	return PPERF_VERSION;
}

const char *pperf_strerror(enum pperf_error error)
{
	switch (error) {
	case PPERF_OK:
		return "success";
	case PPERF_ERROR_INVALID:
		return "invalid argument";
	case PPERF_ERROR_UNKNOWN:
		return "unknown name";
	case PPERF_ERROR_NO_DEVICE:
		return "no such GPU driven by panthor";
	case PPERF_ERROR_NO_KERNEL_SUPPORT:
		return "the kernel does not support performance counters on this GPU";
	case PPERF_ERROR_NO_COUNTERS:
		return "the GPU has no performance counters supported by the kernel";
	case PPERF_ERROR_PERMISSION:
		return "permission denied";
	case PPERF_ERROR_SET_IN_USE:
		return "another program is using a different counter set";
	case PPERF_ERROR_TOO_MANY:
		return "too many counter sessions";
	case PPERF_ERROR_RING_FULL:
		return "the ring has no room for another sample";
	case PPERF_ERROR_FIRMWARE:
		return "the GPU firmware does not respond";
	case PPERF_ERROR_GONE:
		return "the GPU is gone";
	case PPERF_ERROR_BROKEN:
		return "corrupt data";
	case PPERF_ERROR_NOT_COUNTED:
		return "a counter was not enabled";
	case PPERF_ERROR_NO_VALUE:
		return "the equation has no value";
	case PPERF_ERROR_SYSTEM:
		return "system error";
	case PPERF_ERROR_NO_MEMORY:
		return "out of memory";
	case PPERF_ERROR_INTERRUPTED:
		return "interrupted by a signal";
	case PPERF_ERROR_OTHER_INTERFACE:
		return "the kernel has performance counters with another interface";
	}
	return "unknown error";
}

const char *pperf_message(void)
{
	return message;
}

enum pperf_error pperf_fail(enum pperf_error error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return error;
}

enum pperf_error pperf_no_memory(void)
{
	return pperf_fail(PPERF_ERROR_NO_MEMORY, "out of memory");
}
