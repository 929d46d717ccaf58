#!/bin/bash
# SPDX-License-Identifier: MIT
# screenshots.sh [DIR]   draws the pictures of Documentation/images (or into DIR) anew: the HTML report of a
# recording that is made in the virtual machine, light and dark. Time is instructions there, so that a busy host does
# not show.

. "$(dirname "$0")/common.sh"

need_tool chromium-headless-shell chromium-headless-shell
dir=${1:-$TOP_DIR/Documentation/images}
mkdir -p "$dir"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/phases" <<'END'
#!/bin/sh
for phase in compute memory tiling; do
	panthor-perf mark $phase
	gpu-load --phase $phase -t 0.2
done
panthor-perf mark idle
sleep 0.1
END
chmod +x "$scratch/phases"
"$TOP_DIR/tools/virt/run" -i -c stock -f "$scratch/phases" -o "page.html:$scratch/page.html" -- sh -c 'cd /root &&
	panthor-perf record ./phases && panthor-perf report --html page.html' >&2
for theme in light dark; do
	chromium-headless-shell --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
		--virtual-time-budget=5000 --window-size=1100,1080 --screenshot="$dir/report-$theme.png" \
		"file://$scratch/page.html#theme=$theme" >/dev/null 2>&1
	echo "$dir/report-$theme.png"
done
