#!/bin/bash
# SPDX-License-Identifier: MIT
# screenshots.sh [DIR]   regenerate the pictures of Documentation/images (or write them to DIR): panthor-perf top, and
# the HTML report of a recording, in light and dark. Both are made in the virtual machine, which counts time in
# instructions, so the load of the host does not show.

. "$(dirname "$0")/common.sh"

need_tool chromium-headless-shell chromium-headless-shell
need_tool aha aha
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

# picture NAME WIDTH HEIGHT PAGE
picture()
{
	chromium-headless-shell --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$scratch/profile" \
		--virtual-time-budget=5000 --window-size="$2,$3" --screenshot="$dir/$1.png" "file://$scratch/$4" >/dev/null 2>&1
	echo "$dir/$1.png"
}

for theme in light dark; do
	picture report-$theme 1100 1080 "page.html#theme=$theme"
done

# The terminal that tmux draws, with its colours.
cat >"$scratch/top" <<'END'
#!/bin/sh
export LC_ALL=C.UTF-8 TERM=screen
echo 3 >"$(echo /sys/bus/platform/drivers/panthor/*/profiling)"
for phase in compute memory tiling compute memory; do
	gpu-load --phase $phase -t 1.5
	sleep 0.7
done &
tmux -u -f /dev/null new-session -d -x 100 -y 22 'panthor-perf top -p 200ms'
sleep 7
gpu-load --phase compute -t 9 &
sleep 3
tmux capture-pane -e -p >/root/top.ansi
tmux kill-server
END
chmod +x "$scratch/top"
"$TOP_DIR/tools/virt/run" -i -c stock -a tmux -a libc-bin -f "$scratch/top" -o "top.ansi:$scratch/top.ansi" -- /root/top >&2
aha --black --title top <"$scratch/top.ansi" | sed 's/<pre>/<pre style="font: 14px DejaVu Sans Mono; line-height: 17px">/' \
	>"$scratch/top.html"
picture top 885 400 top.html
