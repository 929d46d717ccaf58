#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# mesa.sh with our patches on Mesa: programs that ask for no counters work as with Debian's Mesa.

CLIENTS=$(dirname "$0")/../../../../clients
MESA=$("$CLIENTS/mesa/build.sh") && LIBRARY=$("$CLIENTS/library.sh") || exit
export MESA LIBRARY
exec "$(dirname "$0")/mesa.sh"
