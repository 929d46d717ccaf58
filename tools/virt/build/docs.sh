#!/bin/bash
# SPDX-License-Identifier: MIT
# docs.sh [DIR]   build the user pages of Documentation as HTML in DIR (default: in the cache), and print the path of
#                 the first page. Warnings are errors. Pages that need the kernel's documentation build are left out

. "$(dirname "$0")/common.sh"

need_tool sphinx-build python3-sphinx
dir=${1:-$CACHE/docs}
mkdir -p "$dir"
# -C: there is no conf.py, which would be in the way of the kernel's.
sphinx-build -q -W --keep-going -C -b html -d "$dir/.doctrees" -D project=panthor-perf -D master_doc=index \
	-D exclude_patterns=gpu,ABI -D html_copy_source=0 -D html_show_sphinx=0 "$TOP_DIR/Documentation" "$dir" >&2
echo "$dir/index.html"
