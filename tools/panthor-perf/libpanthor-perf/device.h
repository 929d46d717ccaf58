/* SPDX-License-Identifier: MIT */
/* The files of the library that talk to the kernel. */
#ifndef PPERF_DEVICE_H
#define PPERF_DEVICE_H

#include "interface.h"
#include "internal.h"
#include "panthor.h"

struct pperf_gpu {
	int fd;
	struct pperf_gpu_info info;

	/* What info's strings point to. */
	char *node, *sysfs;
};

/* What messages call it. */
const char *pperf_gpu_label(const struct pperf_gpu *gpu);

#endif
