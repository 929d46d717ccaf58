/* SPDX-License-Identifier: MIT */
#include_next <linux/types.h>
#include "../layout_shim.h"
