/* SPDX-License-Identifier: GPL-2.0 or MIT */
/* Found where panthor has one header for all of its registers, as in Linux 6.18. */

#ifndef __PANTHOR_PWR_REGS_H__
#define __PANTHOR_PWR_REGS_H__

#include "../panthor_regs.h"

#endif
