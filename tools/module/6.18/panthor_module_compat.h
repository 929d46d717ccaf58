/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* What a module for Linux 6.18 wants. Its Kbuild includes this at the head of each source file. */

#ifndef __PANTHOR_MODULE_COMPAT_H__
#define __PANTHOR_MODULE_COMPAT_H__

#include "panthor_module_sched.h"

#endif
