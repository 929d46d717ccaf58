/* SPDX-License-Identifier: MIT */
#ifndef COVERAGE_H
#define COVERAGE_H

#define COVERAGE_BYTES	(1u << 18)

#endif
