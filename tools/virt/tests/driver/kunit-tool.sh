#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# The driver's KUnit suites by the kernel's own kunit.py, as its developers run them (make kunit): on a small kernel
# that is built for this alone.
exec "$(dirname "$0")/../../build/kunit.sh" 7.3
