// SPDX-License-Identifier: GPL-2.0 or MIT
/*
 * A panthor that got performance counters without the fixes that come before them in the series
 * says so to modinfo. panthor-perf doctor looks for it in the module that is loaded.
 */

#include <linux/module.h>

MODULE_INFO(panthor_perf_fixes, "none");
