#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# The page that panthor-perf report --html writes, in a browser without a network: its figures are those of
# report -j, what is drawn is what was counted, and it stays small. PICTURES=DIR keeps pictures of it.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

LIMIT=3000000

tool_builds live-fast recording-make
tool=$SCRATCH/live-fast

# page NAME ARGUMENT...: NAME.html and NAME.json of NAME.data
page()
{
	local name=$1

	shift
	"$tool" report --html "$SCRATCH/$name.html" "$@" "$SCRATCH/$name.data" >"$SCRATCH/err" 2>&1
	is "$name: a page" "$? $(cat "$SCRATCH/err")" "0 "
	"$tool" report -j "$@" "$SCRATCH/$name.data" >"$SCRATCH/$name.json"
}

# json_values NAME: "KEY VALUE" lines of figures, parts of top-down and counters
json_values()
{
	awk '
		/^  "/ { section = $0; gsub(/[^a-z_]/, "", section) }
		!/^ *"[a-z0-9_]*":[^[{]/ { next }
		{ key = $0; sub(/^ *"/, "", key); value = key; sub(/".*/, "", key); sub(/^[^:]*:/, "", value); gsub(/^"|"?,?$/, "", value) }
		section ~ /^(load|bandwidth)/ && $0 ~ /^    "/ && key ~ /^(of_time|of_cycles|active_hz|read|written)$/ { print section "." key, value }
		section ~ /^(topdown|counters)/ && key == "name" { name = value }
		section ~ /^topdown/ && key == "level" { level = value }
		section ~ /^topdown/ && key == "share" && level > 0 { print name, value }
		section ~ /^counters/ && key ~ /^(total|share|mean|min|p50|p95|p99|max)$/ { print name, key, value }
	' "$SCRATCH/$1.json" | sort
}

# page_values FILE: the same of a page, as it is or as a browser has it
page_values()
{
	awk '
		function value(text) { return match(text, /data-v="[^"]*"/) ? substr(text, RSTART + 8, RLENGTH - 9) : "" }
		BEGIN { split("total share mean min p50 p95 p99 max", keys, " ") }
		/data-key=/ { key = $0; sub(/.*data-key="/, "", key); sub(/".*/, "", key); print key, value($0) }
		/data-node=/ { key = $0; sub(/.*data-node="/, "", key); sub(/".*/, "", key); print key, value($0) }
		/^<tr data-name=/ {
			key = $0; sub(/^<tr data-name="/, "", key); sub(/".*/, "", key)
			n = split($0, cell, /<td/)
			for (i = 2; i <= 9; i++) if (value(cell[i]) != "") print key, keys[i - 1], value(cell[i])
		}
	' "$1" | sort
}

# same_values NAME FILE
same_values()
{
	json_values "$1" >"$SCRATCH/want"
	page_values "$2" >"$SCRATCH/got"
	if [ "$(wc -l <"$SCRATCH/want")" -gt 300 ] && cmp -s "$SCRATCH/want" "$SCRATCH/got"; then
		ok "$1: each of $(wc -l <"$SCRATCH/want") figures is that of report -j"
	else
		not_ok "$1: each figure is that of report -j" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20)" \
			"$(wc -l "$SCRATCH/want" "$SCRATCH/got")"
	fi
}

# ---- What needs no browser ----

"$SCRATCH/recording-make" "$SCRATCH/small.data" 800 all glmark2
page small
"$SCRATCH/recording-make" "$SCRATCH/minute.data" 60000 default glmark2
begin=$(date +%s%N)
page minute
minute_ms=$((($(date +%s%N) - begin) / 1000000))
"$SCRATCH/recording-make" "$SCRATCH/minute-all.data" 60000 all glmark2
begin=$(date +%s%N)
page minute-all
all_ms=$((($(date +%s%N) - begin) / 1000000))
for name in minute minute-all; do
	size=$(stat -c %s "$SCRATCH/$name.html")
	[ "$size" -gt 200000 ] && [ "$size" -le $LIMIT ] && ok "$name: $size bytes, of $LIMIT at most" ||
		not_ok "$name: at most $LIMIT bytes" "$size bytes"
	is "$name: what is drawn is decimated, and says so" \
		"$(sed -n 's/.*Plots show \([0-9,]*\) points of about .* Totals use all 60,000 samples\..*/\1/p' "$SCRATCH/$name.html" |
			tr -d , | awk '{ print ($1 >= 500 && $1 <= 2000) }')" 1
done
echo "#: a minute at 1 ms: $(stat -c %s "$SCRATCH/minute.html") bytes, -a $(stat -c %s "$SCRATCH/minute-all.html") bytes;" \
	"report --html and report -j take $minute_ms ms, of -a $all_ms ms"
for name in small minute minute-all; do
	same_values $name "$SCRATCH/$name.html"
done
is "of what there are means alone" "$(grep -o 'Top-down and cores show the mean only' "$SCRATCH"/{small,minute}.html | cut -d: -f2)" \
	"Top-down and cores show the mean only"
is "what there are curves of" "$(grep -o '"plot":"\(load\|frequency\|bandwidth\)","name":"[^"]*"' "$SCRATCH/small.html" | cut -d'"' -f4,8 | tr '\n' ',')" \
	'load"of the time,load"of the cycles,frequency"while active,bandwidth"read,bandwidth"written,'
is "what is not decimated says so" "$(grep -c 'Plots show every sample' "$SCRATCH/small.html")" 1

# The least and the largest value of each counter are drawn, whatever is left out.
edges()
{
	grep -o '"counters":{.*' "$SCRATCH/$1.html" | grep -o '"[A-Za-z0-9._]*":{"low":[^,]*,"high":[^,]*' |
		sed 's/^"//; s/":{"low":/ /; s/,"high":/ /' | sort
}
for name in small minute minute-all; do
	awk '$2 == "min" { min[$1] = $3 } $2 == "max" { print $1, min[$1], $3 }' <(json_values $name | sort -k1,1 -k2,2r) |
		sort >"$SCRATCH/want"
	edges $name >"$SCRATCH/got"
	if [ "$(wc -l <"$SCRATCH/want")" -gt 30 ] && cmp -s "$SCRATCH/want" "$SCRATCH/got"; then
		ok "$name: what is drawn of each counter goes from its least to its largest value"
	else
		not_ok "$name: what is drawn of each counter goes from its least to its largest value" \
			"$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20)"
	fi
done

is "nothing is taken from elsewhere" "$(grep -oiE '<link|<img|<iframe|@import|url\(|src=|fetch\(|XMLHttpRequest|WebSocket' \
	"$SCRATCH/small.html")" ""
is "and nothing could be" "$(grep -c "Content-Security-Policy\" content=\"default-src 'none';" "$SCRATCH/small.html")" 1

for option in -j -b -t --frames --csv; do
	"$tool" report --html "$SCRATCH/x.html" $option "$SCRATCH/small.data" 2>"$SCRATCH/err"
	is "a page and $option" "$? $(grep -c 'cannot be combined with' "$SCRATCH/err") $(ls "$SCRATCH/x.html" 2>/dev/null)" "2 1 "
done
"$tool" report --html "$SCRATCH/no/such.html" "$SCRATCH/small.data" 2>"$SCRATCH/err"
is "a directory that is not there" "$? $(grep -c 'No such file' "$SCRATCH/err")" "8 1"
"$tool" report --html "$SCRATCH/x.html" "$SCRATCH/small.html" 2>"$SCRATCH/err"
is "what is no recording" "$? $(ls "$SCRATCH/x.html" 2>/dev/null)" "9 "

# A sample of no time, between two of a second in which all is the same, is no time without a load.
mkfifo "$SCRATCH/ticks"
exec 6<>"$SCRATCH/ticks"
printf szsg >&6
FAKE_TICKS=$SCRATCH/ticks "$tool" record -a -p 1s -o "$SCRATCH/instant.data" -- true 2>"$SCRATCH/err"
exec 6>&-
page instant -e MaliGPUActiveCy
grep -o '"low":[^,]*,"high":[^,]*,[^}]*"plot":"\(load\|units\|cores\)"' "$SCRATCH/instant.html" | tr -d '"' >"$SCRATCH/lows"
is "a sample of no time is no pause" "$(awk -F'[:,]' '$2 != $4 || !$2' "$SCRATCH/lows" | wc -l) of $(wc -l <"$SCRATCH/lows")" "0 of 10"

# A file that somebody else writes anew meanwhile: it is cut when its samples are read, behind the header, the index and the end.
cat >"$SCRATCH/cut.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

ssize_t pread(int fd, void *to, size_t size, off_t offset)
{
	static ssize_t (*next)(int, void *, size_t, off_t);
	static int times;

	if (!next)
		next = dlsym(RTLD_NEXT, "pread");
	if (__atomic_add_fetch(&times, 1, __ATOMIC_RELAXED) == 5 && truncate(getenv("CUT"), 100000))
		abort();
	return next(fd, to, size, offset);
}
END
"${CC:-cc}" -shared -fPIC -o "$SCRATCH/cut.so" "$SCRATCH/cut.c" || not_ok "what cuts files compiles"
cp "$SCRATCH/small.data" "$SCRATCH/cut.data"
LD_PRELOAD=$SCRATCH/cut.so CUT=$SCRATCH/cut.data "$tool" report --html "$SCRATCH/x.html" "$SCRATCH/cut.data" >"$SCRATCH/err" 2>&1
is "a file that changes meanwhile" "$? $(cat "$SCRATCH/err") $(ls "$SCRATCH/x.html" 2>/dev/null)" \
	"8 panthor-perf: $SCRATCH/cut.data: the file changed while it was being read "

# A command that is a script of a megabyte, of characters that are longer in a page.
script=$(printf '%0100000d' 0 | tr 0 '<')
words=("$script" "$script" "$script" "$script" "$script" "$script" "$script" "$script" "$script" "$script")
"$SCRATCH/recording-make" "$SCRATCH/script.data" 50 default "${words[@]}"
page script
size=$(stat -c %s "$SCRATCH/script.html")
[ "$size" -gt 200000 ] && [ "$size" -le 1000000 ] && ok "script: $size bytes" || not_ok "script: a page of no more than a megabyte" "$size bytes"
is "script: the command is cut" "$(grep -c '^<p>Command: &lt;&lt;.*&lt;\.\.\.</p>$' "$SCRATCH/script.html")" 1

# ---- In a browser ----

browser=$(command -v chromium-headless-shell chromium | head -n 1)
if [ -z "$browser" ]; then
	ok "the page in a browser # SKIP neither chromium-headless-shell nor chromium is there: make deps installs the first"
	plan "$TAP_COUNT"
	exit
fi

# browse OPTION... FILE#STATE
browse()
{
	timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --hide-scrollbars --user-data-dir="$SCRATCH/profile" \
		--virtual-time-budget=5000 "$@" 2>"$SCRATCH/browser.err"
}

# seen NAME STATE: what the browser makes of the page, in NAME.seen
seen()
{
	browse --dump-dom "file://$SCRATCH/$1.html#$2" >"$SCRATCH/$1.seen"
	# A browser that was ended has no page, whatever is in it.
	grep -q '</html>' "$SCRATCH/$1.seen" || browse --dump-dom "file://$SCRATCH/$1.html#$2" >"$SCRATCH/$1.seen"
	is "$1 with \"$2\": all is well" \
		"$(grep -o '<p id="failed"[^>]*>.*' "$SCRATCH/$1.seen") $(grep -c '</html>' "$SCRATCH/$1.seen")" \
		'<p id="failed" class="bad" hidden=""></p> 1'
}

# ranges NAME: of time, of all plots
ranges()
{
	grep -o 'data-range="[^"]*"' "$SCRATCH/$1.seen" | cut -d'"' -f2 | sort -u
}

for name in small minute minute-all; do
	seen $name ""
	is "$name: all of the time" "$(ranges $name)" "0 $(sed -n 's/.*over \([0-9]*\.[0-9]*[1-9]\)0*\( s\|0* s\).*/\1/p' "$SCRATCH/$name.html" | head -n 1)"
	same_values $name "$SCRATCH/$name.seen"
	is "$name: plots" "$(grep -o 'data-plot="[^"]*"' "$SCRATCH/$name.seen" | cut -d'"' -f2 | tr '\n' ',')" \
		"GPU load,Frequency,Top-down,External memory,Queues and tiler,Shader cores,"
	is "$name: each is drawn" "$(grep -o '<canvas' "$SCRATCH/$name.seen" | wc -l)" 6
	is "$name: what is told of samples" "$(grep -o '<span id="marks">.*' "$SCRATCH/$name.seen" | grep -oE 'may be missing|more than one period|protected' | tr '\n' ' ')" \
		"may be missing more than one period "
done

# What a cursor shows is what the sample of that moment says: begin and end of the hundredth, and its value.
counter=MaliFragActiveCy
# shellcheck disable=SC2016
read -r middle want < <("$tool" convert --csv "$SCRATCH/small.data" | awk -F, -v name="$counter" '
	NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ ":" name "$") of[i] = 1; next }
	NR == 2 { begin = $1 }
	NR == 102 {
		for (i in of) sum += $i
		printf "%.6f %.6g\n", ($1 + $2) / 2e9 - begin / 1e9, sum / ($2 - $1) * 1e9
	}')
seen small "add=$counter&at=$middle"
got=$(grep -o "data-counter=\"$counter\".*" "$SCRATCH/small.seen" | grep -o 'u-value[^<]*' | cut -d'>' -f2 | sed -n 2p)
# With the prefix of a unit, to four digits, in steps of a four thousandth of the largest.
awk -v got="$got" -v want="$want" 'BEGIN {
	split(got, word, " ")
	scale = word[2] ~ /^G/ ? 1e9 : word[2] ~ /^M/ ? 1e6 : word[2] ~ /^k/ ? 1e3 : 1
	exit !(want > 0 && word[1] * scale > want * 0.99 && word[1] * scale < want * 1.01)
}' && ok "the cursor shows what was counted: $got" || not_ok "the cursor shows what was counted" "got $got, want $want"
is "in a plot that was added" "$(grep -o '<canvas' "$SCRATCH/small.seen" | wc -l)" 7

for zoom in 5,6 -2,-1 0.2,0.1; do
	seen small "zoom=$zoom"
	is "a part of the time that is none, $zoom" "$(sed -n 's/.*<output id="range">\([^<]*\)<.*/\1/p' "$SCRATCH/small.seen")" "0 s to 0.802 s of 0.802 s"
done
seen small "zoom=0.1,0.25&level=2&theme=dark"
is "a part of the time" "$(sed -n 's/.*<output id="range">\([^<]*\)<.*/\1/p' "$SCRATCH/small.seen")" "0.1 s to 0.25 s of 0.802 s"
is "of all plots" "$(ranges small)" "0.1 0.25"
is "top-down has a second level" \
	"$(sed -n 's/.*data-plot="Top-down"//; s/data-plot=.*//p' "$SCRATCH/small.seen" | grep -o 'u-label[^<]*' | sed -n '2,$p' | wc -l)" \
	"$(grep -oE '"level":(2,"children":[0-9]*|1,"children":0)' "$SCRATCH/small.html" | wc -l)"
is "a theme that was chosen" "$(grep -o '<html[^>]*data-theme="[a-z]*"' "$SCRATCH/small.seen" | grep -o 'dark')" dark

# back STATE OPTION...: what is behind all
back()
{
	local state=$1

	shift
	browse --dump-dom "$@" "file://$SCRATCH/small.html#$state" | grep -o '<html[^>]*' | grep -o 'data-back="[^"]*"'
}
system_dark=--blink-settings=preferredColorScheme=0
is "a light theme" "$(back theme=light)" 'data-back="rgb(255, 255, 255)"'
is "in a dark system, too" "$(back theme=light $system_dark)" "$(back theme=light)"
is "a dark one" "$(back theme=dark)" 'data-back="rgb(20, 23, 28)"'
is "that of the system, dark" "$(back "" $system_dark)" "$(back theme=dark)"
is "or light" "$(back "")" "$(back theme=light)"

if [ -n "${PICTURES:-}" ]; then
	browse --window-size=1400,2600 --screenshot="$PICTURES/light.png" "file://$SCRATCH/minute.html#level=2" >/dev/null
	browse --window-size=1400,2600 --screenshot="$PICTURES/dark.png" $system_dark \
		"file://$SCRATCH/small.html#at=0.3&add=MaliFragActiveCy" >/dev/null
fi

# Regions: a table of their figures, one of their sums, bands over the time.
MARKS=$'100500000 shadows\n200000000 <b>light & "more"\n300300000 shadows\n400000000 \n600000000 x' \
	"$SCRATCH/recording-make" "$SCRATCH/regions.data" 800 all glmark2
page regions
seen regions "at=0.25"
# region_values FILE: "NAME VALUE..." of report -j, with what is in none as its last
awk '/^  "regions":/ { regions = 1 } /^  \]/ { regions = 0 } !regions { next }
	{ value = $0; sub(/^[^:]*:/, "", value); sub(/,$/, "", value) }
	/^      "name":/ { name = value; gsub(/^"|"$/, "", name); gsub(/\\"/, "\"", name) }
	/^      "(times|seconds|across_seconds)":/ || /^        "(of_time|active_hz|read|written)":/ { print name, value }
	/^          "name":/ { counter = value; gsub(/"/, "", counter) }
	/^          "(total|mean)":/ { print counter, value }' "$SCRATCH/regions.json" | sed 's/^null /(no region) /' | sort >"$SCRATCH/want"
awk '/^<tr data-region=/ || /^<tr data-sum=/ {
	name = $0; sub(/^<tr data-[a-z]*="/, "", name); sub(/".*/, "", name)
	gsub(/&lt;/, "<", name); gsub(/&gt;/, ">", name); gsub(/&quot;/, "\"", name); gsub(/&amp;/, "\\&", name)
	n = split($0, cell, /<td/)
	for (i = 2; i <= n; i++) if (match(cell[i], /data-v="[^"]*"/)) print name, substr(cell[i], RSTART + 8, RLENGTH - 9)
}' "$SCRATCH/regions.html" | sort >"$SCRATCH/got"
if [ "$(wc -l <"$SCRATCH/want")" -gt 500 ] && cmp -s "$SCRATCH/want" "$SCRATCH/got"; then
	ok "regions: each of $(wc -l <"$SCRATCH/want") figures is that of report -j"
else
	not_ok "regions: each figure is that of report -j" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20)" \
		"$(wc -l "$SCRATCH/want" "$SCRATCH/got")"
fi
is "regions: that of a moment is named" "$(grep -o 'u-value[^<]*' "$SCRATCH/regions.seen" | cut -d'>' -f2 | grep -o ', .*' | sort -u)" \
	', &lt;b&gt;light &amp; "more"'
is "regions: what is drawn" "$(grep -o '"bands":.*\]\]' "$SCRATCH/regions.html")" \
	'"bands":[[0.100500,0.200000,1],[0.200000,0.300300,2],[0.300300,0.400000,1],[0.600000,0.802000,3]]'
MARKS=$(for n in $(seq 5000); do echo "${n}00000 n$((n % 300))"; done) "$SCRATCH/recording-make" "$SCRATCH/marks.data" 60000 all
page marks
seen marks ""
size=$(stat -c %s "$SCRATCH/marks.html")
[ "$size" -le $LIMIT ] && ok "marks: $size bytes, of $LIMIT at most" || not_ok "marks: at most $LIMIT bytes" "$size bytes"
is "marks: says that they are not drawn" "$(grep -c 'there are too many (5,000)' "$SCRATCH/marks.html")" 1
[ -z "${PICTURES:-}" ] || browse --window-size=1400,2600 --screenshot="$PICTURES/regions.png" \
	"file://$SCRATCH/regions.html#at=0.25" >/dev/null

# Frames: tables of the slowest ones, and bars, of which each is one frame.
FRAMES=$({
	for ((i = 0; i <= 40; i++)); do echo "$((i * 16666667 + (i > 20 ? 20000000 : 0))) 7 <b>game"; done
	for ((i = 0; i < 100; i++)); do echo "$((100000000 + i * 400000)) 9 tiny"; done
	echo '712345678 7 <b>game 3'
	echo '900000000 7 <b>game'
} | sort -n) "$SCRATCH/recording-make" "$SCRATCH/frames.data" 800 default
"$tool" report --html "$SCRATCH/frames.html" --budget 20ms,MaliGPUActiveCy=1e12 "$SCRATCH/frames.data" >"$SCRATCH/err" 2>&1
is "frames: a page, and two are over budget" "$? $(cat "$SCRATCH/err") $(
	sed -n '/frames are over budget/,/<\/section>/s/<p> *\(.*\)<\/p>/\1/p' "$SCRATCH/frames.html")" \
	"1  2 frames are over budget:
frame 21 of &lt;b&gt;game (PID 7) at 0.333 s: 36.667 ms, budget 20.000 ms
frame 42 of &lt;b&gt;game (PID 7) at 0.712 s: 187.654 ms, budget 20.000 ms"
"$tool" report -j "$SCRATCH/frames.data" >"$SCRATCH/frames.json"
"$tool" report --csv "$SCRATCH/frames.data" >"$SCRATCH/frames.csv"
sed -n '/^  "frames":/,$p' "$SCRATCH/frames.json" | awk '
	{ value = $0; sub(/^[^:]*:/, "", value); gsub(/^"|"?,?$/, "", value) }
	/^        "(p50|p95|p99|max)":/ || /^ *"(frame|start_ns|end_ns|idle|limited_by|share)":/ { print value }' >"$SCRATCH/want"
sed -n '/<section id="frames">/,/<\/section>/p' "$SCRATCH/frames.html" | grep -oE 'data-(v|limit)="[^"]*"' | cut -d'"' -f2 >"$SCRATCH/got"
is "frames: each figure is that of report -j" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20) $(wc -l <"$SCRATCH/got")" " 128"
# bars NAME KEY: of the first process
bars()
{
	grep -o '"frames":\[{"start".*' "$SCRATCH/$1.html" | grep -o "\"$2\":\[[^]]*\]" | head -n 1 | sed 's/^[^[]*\[//; s/\]$//' | tr , '\n'
}
is "frames: each has its bar, but for one that covers others" "$(bars frames time | paste -sd ' ')" "$(awk -F, '
	$2 == 7 { print $6 ? "null" : sprintf("%.7f", ($5 - $4) / 1e9) }' "$SCRATCH/frames.csv" | paste -sd ' ')"
seen frames "at=0.35"
is "frames: they are drawn" "$(grep -o 'data-plot="Frames[^"]*"' "$SCRATCH/frames.seen" | cut -d'"' -f2 | paste -sd,)" \
	"Frames of &lt;b&gt;game (PID 7),Frames of tiny (PID 9)"
is "frames: the cursor shows one" "$(grep -o 'u-value[^<]*' "$SCRATCH/frames.seen" | cut -d'>' -f2 | grep frame)" "36.667 ms (frame 21)"

# clicked NAME RESULT SCRIPT RANGE: once a script has clicked, this is seen, to a tenth of a millisecond
clicked()
{
	{
		cat "$SCRATCH/$1.html"
		cat <<END
<script>
addEventListener("load", () => setTimeout(() => {
	const press = (over, x, y) => {
		const at = over.getBoundingClientRect();
		for (const name of ["mousedown", "mouseup", "click"])
			over.dispatchEvent(new MouseEvent(name, { clientX: at.left + x * at.width, clientY: at.top + y * at.height, bubbles: true }));
	};
	const bar = (process, part) => press(document.querySelectorAll('[data-plot^="Frames of"] .u-over')[process], part, 0.05);
	const job = (part, height) => press(document.querySelector('[data-plot="Jobs"] .u-over'), part, height);
	const row = number => document.querySelectorAll("#frames tr[data-from]")[number].click();
	$3;
}));
</script>
END
	} >"$SCRATCH/clicked.html"
	seen clicked ""
	is "$1: $2" "$(ranges clicked | awk '{ printf "%.4f %.4f\n", $1, $2 }')" "$4"
}
clicked frames "a click on a bar shows its frame" "bar(0, 0.35 / 0.802)" "0.3333 0.3700"
clicked frames "a click beside all bars changes nothing" "bar(1, 0.9)" "0.0000 0.8020"
clicked frames "a click on a line shows its frame" "row(11)" "0.1004 0.1008"
[ -z "${PICTURES:-}" ] || browse --window-size=1400,2600 --screenshot="$PICTURES/frames.png" "file://$SCRATCH/frames.html" >/dev/null

# More frames than bars: the slowest of each bar is drawn and found.
FRAMES=$(for ((i = 0; i <= 5000; i++)); do echo "$((i * 100000 + (i > 2502 ? 5000000 : 0))) 7 g"; done) \
	"$SCRATCH/recording-make" "$SCRATCH/short.data" 800 default
page short
is "short: a bar is of several" "$(bars short time | wc -l) $(paste <(bars short time) <(bars short frame) | sort -n | tail -n 1)" \
	"2000 0.0051000	2503"
clicked short "a click shows the slowest" "bar(0, 0.2527 / 0.802)" "0.2502 0.2553"

# Jobs: tables of processes and of idle time, and rows of queues. Three in two queues, of which the second begins while the first
# runs, and the third waits for the second; one that is killed, one that does not end, and one of which little is known.
export QUEUES='700 <b>game q-0
650 compositor q-1
0 vkms crtc-0'
JOBS='0 702 100000000 112000000 113000000 120000000 2
0 702 105000000 115000000 118000000 125000000 2
1 651 110000000 125000000 125500000 130000000 0
1 651 140000000 145000000 - 145000000 2 1
0 0 - - 300000000 310000000
1 0 - - - 320000000
0 702 500000000 500000000 500500000 700000000 -1 2
gap 1 710000000 720000000 7
until 750000000' "$SCRATCH/recording-make" "$SCRATCH/jobs.data" 800 default
page jobs
# jobs_values NAME: of report -j, in the order of the page, and so those of the page
jobs_values()
{
	jq '.jobs | (.processes[] | .busy_ns, .share, .jobs, (.queued_to_run_ns, .run_to_end_ns | values | .p50, .p95, .max)),
		(.idle | .none, .waiting, .ready, .unknown | .ns, (.causes // [] | .[0:5][] | .ns, .times, .longest_ns))' "$SCRATCH/$1.json" |
		awk '{ printf "%.9g\n", $1 }' >"$SCRATCH/want"
	sed -n '/<section id="jobs">/,/<\/section>/p' "$SCRATCH/$1.html" | grep -o 'data-v="[^"]*"' | cut -d'"' -f2 |
		awk '{ printf "%.9g\n", $1 }' >"$SCRATCH/got"
	is "$1: each figure is that of report -j" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20) $(($(wc -l <"$SCRATCH/got") > 20))" " 1"
}
# drawn NAME FILTER: what the page's script draws of jobs
drawn()
{
	sed -n 's/.*<script type="application\/json" id="data">\(.*\)<\/script>$/\1/p' "$SCRATCH/$1.html" | jq -rc ".jobs | $2"
}
jobs_values jobs
is "jobs: rows have each" "$(drawn jobs '.names[.lanes[].name]')
$(drawn jobs '.lanes[] | [.run, .took, .ready, .waited, .thread, .fence, .outcome] | transpose | .[]')" \
	"<b>game (PID 700), q-0
compositor (PID 650), q-1
[113000000,7000000,1000000,12000000,702,1,0]
[118000000,7000000,3000000,10000000,702,1,0]
[300000000,10000000,0,null,0,-1,0]
[500500000,199500000,500000,0,702,-1,2]
[125500000,4500000,500000,15000000,651,0,0]
[145000000,0,0,5000000,651,1,1]
[320000000,0,0,null,0,-1,-1]"
is "jobs: and idle has each time, with its reason" "$(drawn jobs '.idle | [.from, .took, .reason, .queue] | transpose | .[]')" \
	"[0,100000000,0,-1]
[100000000,10000000,1,1]
[110000000,2000000,1,-1]
[112000000,1000000,2,0]
[125000000,500000,2,2]
[130000000,10000000,0,2]
[140000000,5000000,1,1]
[145000000,155000000,0,2]
[310000000,190000000,0,0]
[500000000,500000,2,0]
[700000000,10000000,0,0]
[710000000,10000000,3,-1]
[720000000,30000000,0,0]
[750000000,52000000,3,-1]"
seen jobs "at=0.122"
is "jobs: they are drawn" "$(grep -o 'data-plot="[^"]*"' "$SCRATCH/jobs.seen" | cut -d'"' -f2 | head -n 2 | paste -sd,)" "Jobs,GPU load"
# told NAME: what is shown below the plot of jobs
told()
{
	sed -n 's/.*data-plot="Jobs"//; s/data-plot=.*//p' "$SCRATCH/$1.seen" | grep -oE 'u-(label|value)[^<]*' | cut -d'>' -f2 | paste -d' ' - - |
		sed 1d
}
is "jobs: the cursor shows those of a moment" "$(told jobs)" "Idle -
Queue 1: &lt;b&gt;game (PID 700), q-0 waited 10 ms for vkms, crtc-0, ready 3 ms, ran 7 ms, thread 702
Queue 2: compositor (PID 650), q-1 -"
is "jobs: with an arrow to where it ran" "$(grep -o '<div class="wait"[^>]*>' "$SCRATCH/jobs.seen" | grep -v hidden | grep -o 'data-time="[^"]*"')" 'data-time="0.105 0.118"'
seen jobs "at=0.142"
is "jobs: and why the GPU was idle" "$(told jobs)" "Idle waiting for a fence, 5 ms (vkms, crtc-0)
Queue 1: &lt;b&gt;game (PID 700), q-0 -
Queue 2: compositor (PID 650), q-1 -"
clicked jobs "a click shows a job from where it was queued" "job(0.123 / 0.802, 0.5)" "0.1050 0.1250"
clicked jobs "a click shows a time of idle" "job(0.135 / 0.802, 0.1)" "0.1300 0.1400"
clicked jobs "a click beside them changes nothing" "job(0.05 / 0.802, 0.5)" "0.0000 0.8020"

# Many, which overlap half of the time: what is drawn of each queue are shares, which add up to the time in which its process was
# busy.
QUEUES=$(for ((i = 0; i < 4; i++)); do echo "$((700 + i)) p$i q-$i"; done)
awk 'BEGIN {
	srand(5)
	for (n = 1; n <= 600000; n++) {
		run = n * 100000 + int(rand() * 50000)
		# None ends before one of an earlier record.
		end = int(n / 5100) % 2 ? run + int(rand() * 49999) : n * 100000 + 400000 + int(rand() * 99999)
		if (n % 5100 < 10) end = n * 100000 + 600000
		printf "%d %d %.0f %.0f %.0f %.0f\n", n % 4, 700 + n % 4, run - 7000, run - 5000, run, end
		if (n % 400 == 0) printf "until %.0f\n", end + 1
	}
}' >"$SCRATCH/many"
JOBS=@$SCRATCH/many "$SCRATCH/recording-make" "$SCRATCH/many.data" 60000 all
page many
jobs_values many
size=$(stat -c %s "$SCRATCH/many.html")
[ "$size" -le $LIMIT ] && ok "many: $size bytes, of $LIMIT at most" || not_ok "many: at most $LIMIT bytes" "$size bytes"
is "many: each is counted" "$(drawn many '[.lanes[].count | add] | add')" "$(jq '[.jobs.processes[].jobs] | add' "$SCRATCH/many.json")"
# Each share is rounded up to a thousandth.
drawn many '.lanes | sort_by(.name)[] | (.width * (.share | add) / 1000, .width * (.share | length) / 1000)' | paste - - >"$SCRATCH/got"
jq '.jobs.processes | sort_by(.process)[].busy_ns' "$SCRATCH/many.json" | paste - "$SCRATCH/got" >"$SCRATCH/both"
is "many: shares are those of the time in which any ran" "$(awk '$2 < $1 || $2 > $1 + $3' "$SCRATCH/both") $(wc -l <"$SCRATCH/both")" " 4"
drawn many '.idle | .width as $width | (.none, .waiting, .ready, .unknown) | ($width * add / 1000, $width * length / 1000)' | paste - - >"$SCRATCH/got"
jq '.jobs.idle | (.none, .waiting, .ready, .unknown).ns' "$SCRATCH/many.json" | paste - "$SCRATCH/got" >"$SCRATCH/both"
is "many: so are those of idle" "$(awk '$2 < $1 || $2 > $1 + $3' "$SCRATCH/both") $(wc -l <"$SCRATCH/both")" " 4"
seen many "at=20"
is "many: the cursor shows a share, and the longest job" "$(told many | grep -cE '^Queue [1-4]: p[0-3] \(PID 70[0-3]\), q-[0-3] [0-9.]+ %, [0-9]+ jobs; longest: waited 0.002 ms, ready 0.005 ms, ran 0\.0[0-9]* ms, thread 70[0-3]$')" 4
QUEUES=$(for ((i = 0; i < 32; i++)); do echo "700 game q-$i"; done)
JOBS=$(for ((i = 0; i < 32; i++)); do echo "$i 700 1000 1000 2000 $((3000000 + i))"; done; echo "until 9000000") \
	"$SCRATCH/recording-make" "$SCRATCH/queues.data" 80 default
page queues
seen queues ""
is "queues: the busiest are drawn" "$(drawn queues '.names[.lanes[].name]' | paste -sd' ') $(grep -o '(the 12 busiest of 32 queues)' "$SCRATCH/queues.seen")" \
	"$(for ((i = 20; i < 32; i++)); do echo "game (PID 700), q-$i"; done | paste -sd' ') (the 12 busiest of 32 queues)"
unset QUEUES
is "without jobs there is nothing of them" "$(grep -cE '<section id="jobs">|"jobs":' "$SCRATCH/small.html")" 0
[ -z "${PICTURES:-}" ] || browse --window-size=1400,2600 --screenshot="$PICTURES/jobs.png" "file://$SCRATCH/jobs.html#at=0.122" >/dev/null

# Names out of files are text, whatever is in them.
evil='</script><script>document.title="evil"</script><!--<script>&lt;"'"'"'<img src=x onerror=document.title="evil">'
mkdir "$SCRATCH/<b>&\"'"
GPU="Mali $evil" "$SCRATCH/recording-make" "$SCRATCH/<b>&\"'/x.data" 50 default "$evil" $'\xff\e[2J@title@'
"$tool" report --html "$SCRATCH/evil.html" "$SCRATCH/<b>&\"'/x.data" >"$SCRATCH/err" 2>&1
is "evil names: a page" "$? $(cat "$SCRATCH/err")" "0 "
seen evil ""
is "evil names: are no elements" "$(grep -c '<img' "$SCRATCH/evil.seen") $(grep -o '<title>.*</title>' "$SCRATCH/evil.seen" | grep -c evil)" "0 0"
is "evil names: are there" "$(grep -o '^<p>Command: .*' "$SCRATCH/evil.seen" | sed 's/<p>Command: //; s/<.*//; s/&lt;/</g; s/&gt;/>/g; s/&quot;/"/g; s/&amp;/\&/g')" \
	"$evil"$' \xef\xbf\xbd?[2J@title@'

plan "$TAP_COUNT"
