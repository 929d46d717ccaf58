/* SPDX-License-Identifier: MIT */
#include "../layout_shim.h"
