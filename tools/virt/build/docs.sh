#!/bin/bash
# SPDX-License-Identifier: MIT
# docs.sh [DIR]   makes HTML of the users' pages in Documentation (default: in the cache), and prints the path of
#                 its first page. A warning is an error. Pages that only the kernel's build of documents can read are
#                 left out.

. "$(dirname "$0")/common.sh"

need_tool sphinx-build python3-sphinx
dir=${1:-$CACHE/docs}
mkdir -p "$dir"
# -C: there is no conf.py, which would be in the way of the kernel's.
sphinx-build -q -W --keep-going -C -b html -d "$dir/.doctrees" -D project=panthor-perf -D master_doc=index \
	-D exclude_patterns=gpu,ABI -D html_copy_source=0 -D html_show_sphinx=0 "$TOP_DIR/Documentation" "$dir" >&2
echo "$dir/index.html"
