/* SPDX-License-Identifier: MIT */
#include_next <linux/errno.h>
#include "../layout_shim.h"
