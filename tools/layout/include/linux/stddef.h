/* SPDX-License-Identifier: MIT */
#include_next <linux/stddef.h>
#include "../layout_shim.h"
