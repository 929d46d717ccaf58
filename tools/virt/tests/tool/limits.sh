#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# daily: stock
# The worked example, tools/panthor-perf/examples/limits: each of its commands runs in the virtual machine, and
# prints what stands there, every number within a twentieth, or 0.6, and those of warps as they are. The page is of
# 7.3: another kernel's driver takes other times, and the words and warps are the same.
set -u
. "$(dirname "$0")/../lib/tap.sh"

PAGE=$VIRT_DIR/../panthor-perf/examples/limits

# Commands into $SCRATCH/commands, one a line, and what the page has behind each into $SCRATCH/want.N
awk -v dir="$SCRATCH" '
	/^  \$ / { n++; command = substr($0, 5); on = 1; more = sub(/ \\$/, "", command) }
	/^    / && more { command = command substr($0, 4); more = sub(/ \\$/, "", command); next }
	/^  \$ / { next }
	on && command { print command >(dir "/commands"); command = ""; close(dir "/want." n) }
	!/^  / { on = 0 }
	on && !/^  \.\.\.$/ { print substr($0, 3) >(dir "/want." n) }
	' "$PAGE"
count=$(wc -l <"$SCRATCH/commands")
{
	n=0
	while read -r command; do
		n=$((n + 1))
		printf '{ %s; } >/root/got.%d 2>&1\necho $? >>/root/got.%d\n' "$command" "$n" "$n"
	done <"$SCRATCH/commands"
	# shellcheck disable=SC2016
	echo 'for f in /root/got.*; do echo "=$f"; cat $f; done'
} >"$SCRATCH/limits.sh"

plan $((2 + count))
if [ "$count" -ge 5 ]; then
	ok "the page has $count commands"
else
	not_ok "the page has five commands or more" "$(cat "$SCRATCH/commands")"
fi
"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -i -r vulkan -f "$SCRATCH/limits.sh:/root/limits.sh" -- sh /root/limits.sh \
	>"$SCRATCH/out" 2>"$SCRATCH/err"
# The first run of a machine builds its root: nothing but that is said.
is "they run" "$? $(grep -v ': done ([0-9]* s)$' "$SCRATCH/err")" "0 "
awk -v dir="$SCRATCH" '/^=\/root\/got\./ { sub(/^=\/root/, ""); out = dir $0; next } { print >out }' "$SCRATCH/out"

# The lines of the page, one after the other, are among those that were printed. Time is counted by instructions,
# of which another kernel takes a few more or less; the warps are those of the work.
n=0
while read -r command; do
	n=$((n + 1))
	touch "$SCRATCH/want.$n" "$SCRATCH/got.$n"
	missing=$(awk -v words="$([ "$KERNEL" = 7.3 ] || echo 1)" '
		function number(word) { gsub(/[,%+~()]/, "", word); return word ~ /^-?[0-9]+(\.[0-9]+)?$/ ? word : "none" }
		function near(a, b, x, y) {
			if (a == b) return 1
			x = number(a); y = number(b)
			if (x == "none" || y == "none" || exact && b !~ /%/) return 0
			if (words) return 1
			return x - y <= 0.6 + 0.05 * (y < 0 ? -y : y) && y - x <= 0.6 + 0.05 * (y < 0 ? -y : y)
		}
		function same(got, want, g, w, k, i) {
			k = split(got, g); if (split(want, w) != k) return 0
			exact = want ~ /Warp/
			for (i = 1; i <= k; i++) if (!near(g[i], w[i])) return 0
			return 1
		}
		NR == FNR { got[++m] = $0; next }
		{ for (at++; at <= m && !same(got[at], $0); at++); if (at > m) { print "not there: " $0; exit } }
		' "$SCRATCH/got.$n" "$SCRATCH/want.$n")
	status=$(tail -n 1 "$SCRATCH/got.$n")
	is "$(cut -c 1-90 <<<"$command")" "$missing${status:-none}" 0
	[ -z "$missing" ] || sed 's/^/#   /' "$SCRATCH/got.$n"
done <"$SCRATCH/commands"
