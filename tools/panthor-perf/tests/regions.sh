#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# Regions: marks of programs in what is recorded, the sums of each region, and who lets a recorder count. The
# GPU is a fake one; all of it with ASan and UBSan.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/perfetto.sh"
. "$(dirname "$0")/../../virt/tests/lib/recorders.sh"

tool=$SCRATCH/live-test
build_decoder
tool_builds live-test live-fast recording-make mark-noise slow-disk.so

# ---- Sums of a recording's regions ----

# Marks within samples, at an edge of some, two in one, one before the first and one behind the last; one that goes on.
MARKS='0 shadows
100500000 lighting
100600000 lighting & "more" ä
200000000 shadows
250000000 shadows
300499999 
400000000 lighting
700300000 x
700700000 y
90000000000 behind'
MARKS=$MARKS "$SCRATCH/recording-make" "$SCRATCH/data" 800 all
"$tool" convert --csv -o "$SCRATCH/csv" "$SCRATCH/data"
"$tool" report -j -o "$SCRATCH/json" "$SCRATCH/data" 2>"$SCRATCH/err"
is "report -j of a recording with marks" "$? $(cat "$SCRATCH/err")" "0 "

# What the samples say: "REGION COUNTER total|least|most NUMBER".
awk -v marks="$MARKS" -F, '
	BEGIN {
		n = split(marks, line, "\n")
		for (i = 1; i <= n; i++) {
			time[i] = line[i] + 5000000000
			name[i] = line[i]
			sub(/^[0-9]* /, "", name[i])
		}
		name[0] = ""
	}
	function until(t, i) { for (i = 0; i < n && time[i + 1] <= t; i++); return i }
	FNR == 1 { for (i = 4; i <= NF; i++) if (split($i, w, ":") == 2 && w[2] != "states") of[i] = w[2]; next }
	{
		owner = name[until(int(($1 + $2) / 2))]
		delete touched
		for (i = until($1); i <= until($2 - 1); i++) touched[name[i]] = 1
		for (i in of) {
			if (!$i) continue
			sum[owner SUBSEP of[i] SUBSEP "total"] += $i
			for (r in touched) sum[r SUBSEP of[i] SUBSEP "most"] += $i
			if (length(touched) == 1) sum[owner SUBSEP of[i] SUBSEP "least"] += $i
		}
	}
	END { for (k in sum) { split(k, p, SUBSEP); printf "%s|%s|%s|%.0f\n", p[1], p[2], p[3], sum[k] } }' "$SCRATCH/csv" |
	sort >"$SCRATCH/want"

# region_sums FILE: the same of report -j, of counters of hardware
"$tool" list -x ';' | cut -d';' -f1-2 >"$SCRATCH/places"
region_sums()
{
	awk 'FNR == NR { split($0, p, ";"); if (p[2] != "derived") is[p[1]] = 1; next }
		/^  "regions":/ { regions = 1 }
		/^  \]/ { regions = 0 }
		!regions { next }
		/^      "name":/ { name = $0; sub(/^ *"name":/, "", name); sub(/,$/, "", name); gsub(/^"|"$/, "", name)
			gsub(/\\"/, "\"", name); if (name == "null") name = "" }
		/^          "name":/ { counter = $0; gsub(/.*:"|",?$/, "", counter) }
		/^          "(total|least|most)":/ && counter in is {
			split($0, w, /[":,]+/)
			if (w[3] != 0) printf "%s|%s|%s|%s\n", name, counter, w[2], w[3]
		}' "$SCRATCH/places" "$1" | sort
}
region_sums "$SCRATCH/json" >"$SCRATCH/got"
if [ "$(wc -l <"$SCRATCH/want")" -gt 500 ] && cmp -s "$SCRATCH/want" "$SCRATCH/got"; then
	ok "each of $(wc -l <"$SCRATCH/want") sums is that of the region's samples"
else
	not_ok "each sum is that of the region's samples" "$(diff "$SCRATCH/want" "$SCRATCH/got" | head -n 20)" \
		"$(wc -l "$SCRATCH/want" "$SCRATCH/got")"
fi
is "what can be told of them surely is less than what they may have" \
	"$(awk -F'|' '{ v[$1 "|" $2, $3] = $4; k[$1 "|" $2] } END { for (i in k) { if (v[i, "least"] + 0 > v[i, "total"] + 0 ||
		v[i, "total"] + 0 > v[i, "most"] + 0) wrong++; if (v[i, "least"] + 0 < v[i, "most"]) some = 1 } print wrong + 0, some }' "$SCRATCH/got")" "0 1"
counter=MaliGPUActiveCy
is "they make up the whole" "$(awk -F'|' -v c=$counter '$2 == c && $3 == "total" { n += $4 } END { print n }' "$SCRATCH/got")" \
	"$(sed -n "/^      \"name\":\"$counter\"/,/total/s/.*\"total\":\([0-9]*\).*/\1/p" "$SCRATCH/json")"

# times: "NAME TIMES SECONDS SAMPLES", as report -j has them
is "how often each begins, and how long it lasts" "$(awk '/^  "regions":/ { regions = 1 } /^  \]/ { regions = 0 }
	regions && /^      "(name|times|seconds|samples)":/ { sub(/^ *"[a-z]*":/, ""); sub(/,$/, ""); printf "%s ", $0 }
	regions && /^      "sampled/ { print "" }' "$SCRATCH/json")" \
	'"shadows" 3 0.200999999 200 
"lighting" 2 0.300400000 301 
"lighting & \"more\" ä" 1 0.099400000 99 
"x" 1 0.000400000 0 
"y" 1 0.101300000 100 
"behind" 1 0.000000000 0 
null 0.099500001 100 '
"$tool" report "$SCRATCH/data" >"$SCRATCH/out"
is "report has a line for each" "$(sed -n '/^ *time *times /,/^across/s/^ *\([0-9.]* s\) *\([0-9]*\) .* %  /\1 \2 /p' "$SCRATCH/out")" \
	'0.201000 s 3 shadows
0.300400 s 2 lighting
0.099400 s 1 lighting & "more" ä
0.000400 s 1 x
0.101300 s 1 y
0.000000 s 1 behind
0.099500 s  (no region) (counts may be missing)'

# total NAME [FILE]: of report --region
total()
{
	"$tool" report -j -e $counter --region "$1" "$SCRATCH/${2:-data}" 2>"$SCRATCH/err" | sed -n 's/^      "total":\([0-9]*\),$/\1/p'
}

# known NAME: the same, as the samples say
known()
{
	awk -F'|' -v c=$counter -v r="$1" '$1 == r && $2 == c && $3 == "total" { print $4 }' "$SCRATCH/want"
}
for name in shadows 'lighting & "more" ä' y; do
	is "report --region: $name" "$(total "$name") $(cat "$SCRATCH/err")" "$(known "$name") "
done
"$tool" report --region shadows "$SCRATCH/data" >"$SCRATCH/out"
is "its gaps are none of its own" "$(grep -c 'gap' "$SCRATCH/out") $(sed -n 's/^\(Region shadows: 3 times, [0-9.]* s\).*/\1/p' "$SCRATCH/out")" \
	"0 Region shadows: 3 times, 0.201000 s"
# Before sample 5000 there is one of 40 ms.
MARKS=$'1000000000 before\n2000000000 \n4500000000 in\n5500000000 ' "$SCRATCH/recording-make" "$SCRATCH/gap" 6000 default
for name in before in; do
	"$tool" report --region $name "$SCRATCH/gap" | grep "^[0-9].*not counted"
done >"$SCRATCH/out"
is "a gap is told of the region that it is in" "$(cat "$SCRATCH/out")" "1 gap between samples, 0.04 s in total, was not counted."
"$tool" report --region none "$SCRATCH/data" >"$SCRATCH/out" 2>&1
is "a region that is not there" "$? $(grep -c $'^\t' "$SCRATCH/out")" "2 6"
"$tool" report --region behind "$SCRATCH/data" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "one without samples" "$? $(grep -c 'shorter than a sample' "$SCRATCH/err")" "0 1"

# Compared with a recording of half of the time.
MARKS=$'0 shadows\n50000000 ' "$SCRATCH/recording-make" "$SCRATCH/half" 800 all
"$tool" diff -T -j -e $counter --region shadows "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/out"
is "diff --region" "$? $(sed -n 's/^      *"\(region\|a\|b\)":\([0-9]*\).*/\2/p' "$SCRATCH/out" | tr '\n' ' ')" \
	"0 $(total shadows half) $(known shadows) "
"$tool" diff --region x "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/out" 2>&1
is "diff of a region that one has not" "$? $(grep -c 'half has no region "x"' "$SCRATCH/out")" "2 1"

"$SCRATCH/recording-make" "$SCRATCH/unmarked" 800 default
# All that both have, each as --region has it; the other one has three of them, and one that is too short for a sample.
MARKS=$'0 shadows\n50000000 x\n50300000 y\n90000000 lighting & "more" ä\n110000000 lonely\n120000000 ' \
	"$SCRATCH/recording-make" "$SCRATCH/half" 800 all
# changes FILE [NAME]: of a diff -j, of the region
changes()
{
	awk -v name="${2:-}" '/^  "regions"/ { regions = 1 }
		regions && /^      "name":/ { sub(/^ *"name":"/, ""); sub(/",$/, ""); gsub(/\\"/, "\""); it = $0 == name }
		regions ? it : name == ""' "$1" | grep -oE '"(name|a|b|change_percent|noise_[ab]_percent|clear)":("Mali[^"]*"|[0-9a-z.-]+)'
}
for totals in "" -T; do
	# shellcheck disable=SC2086
	"$tool" diff $totals -j "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/diff" 2>"$SCRATCH/err"
	is "diff${totals:+ $totals} of recordings with regions has those of both" \
		"$? $(cat "$SCRATCH/err") $(sed -n '/"Mali/d; s/^      "name":"\(.*\)",/\1/p; s/^  "regions_of_._alone"/&/p' "$SCRATCH/diff" | tr '\n' ';')" \
		'0  shadows;x;y;lighting & \"more\" ä;  "regions_of_a_alone":[;  "regions_of_b_alone":[;'
	for name in shadows y 'lighting & "more" ä'; do
		# shellcheck disable=SC2086
		"$tool" diff $totals -j --region "$name" "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/one"
		changes "$SCRATCH/diff" "$name" >"$SCRATCH/got"
		[ "$(wc -l <"$SCRATCH/got")" -gt 1000 ] && cmp -s "$SCRATCH/got" <(changes "$SCRATCH/one") &&
			ok "$name: as with --region" || not_ok "$name: as with --region" "$(diff "$SCRATCH/got" <(changes "$SCRATCH/one") | head)"
	done
done
is "of one that is too short nothing is said" "$(changes "$SCRATCH/diff" x)" ""
is "and its times are" "$(sed -n '/^      "name":"x"/,/seconds_b/s/^      "[a-z]*_\([ab]\)":\(.*\),/\1 \2/p' "$SCRATCH/diff" | tr '\n' ' ')" \
	"a 1 b 1 a 0.000300000 b 0.000400000 "
is "what one has alone is named" "$(sed -n '/_alone/,/]/p' "$SCRATCH/diff" | tr -d ' \n')" \
	'"regions_of_a_alone":["lonely"],"regions_of_b_alone":["lighting","behind"]'
"$tool" diff -T "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/out"
is "people see each with its times, and ten changes" \
	"$? $(sed -n '/^~/,$p' "$SCRATCH/out" | sed -E 's/^ *[+-][0-9.inf]+%.*/change/; s/[0-9]+ more/N more/' | sed 1,2d | uniq -c | sed 's/^ *//')" \
	'0 1 Region: shadows
1 A: 1 time, 0.050000 s
1 B: 3 times, 0.201000 s
1 
1     change            A    noise            B    noise
10 change
1            N more: use --region to see all
1 
1 Region: x
1 A: 1 time, 0.000300 s, shorter than a sample
1 B: 1 time, 0.000400 s, shorter than a sample
1 
1 Region: y
1 A: 1 time, 0.039700 s
1 B: 1 time, 0.101300 s
1 
1     change            A    noise            B    noise
10 change
1            N more: use --region to see all
1 
1 Region: lighting & "more" ä
1 A: 1 time, 0.020000 s
1 B: 1 time, 0.099400 s
1 
1     change            A    noise            B    noise
10 change
1            N more: use --region to see all
1 
1 Regions only in A: lonely
1 
1 Regions only in B: lighting, behind'
"$tool" diff -T -e "$counter,MaliAnyActiveCy" "$SCRATCH/half" "$SCRATCH/data" >"$SCRATCH/out"
is "or what they ask for" "$? $(grep -c "^ .* $counter " "$SCRATCH/out") $(grep -c 'more, which' "$SCRATCH/out")" "0 4 0"
"$tool" diff -j "$SCRATCH/gap" "$SCRATCH/unmarked" >"$SCRATCH/out"
is "of a recording without regions there are none" "$? $(grep -c '"regions' "$SCRATCH/out")" "0 0"

# slices TEXT: "TIME BEGIN|END NAME" of a trace
slices()
{
	awk '/^packet/ { event = "" }
		/^  timestamp:/ { time = $2 }
		$1 == "type:" { event = substr($2, 12) }
		event && $1 == "name:" { name = $0; sub(/^ *name: "/, "", name); sub(/"$/, "", name) }
		/^}/ && event { printf "%.9f %s %s\n", (time - 5e9) / 1e9, event, name; name = "" }' "$1"
}
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
is "regions are slices of a trace" "$? $(slices "$SCRATCH/text")" "0 0.000000000 BEGIN shadows
0.100500000 END 
0.100500000 BEGIN lighting
0.100600000 END 
0.100600000 BEGIN lighting & \\\"more\\\" \\303\\244
0.200000000 END 
0.200000000 BEGIN shadows
0.250000000 END 
0.250000000 BEGIN shadows
0.300499999 END 
0.400000000 BEGIN lighting
0.700300000 END 
0.700300000 BEGIN x
0.700700000 END 
0.700700000 BEGIN y
90.000000000 END 
90.000000000 BEGIN behind
90.000000000 END "
is "on a track of their own" "$(grep -A3 track_descriptor "$SCRATCH/text" | sed -n 's/^ *name: //p') $(grep -E '^ *(track_)?uuid:' "$SCRATCH/text" |
	sed 's/.*: //' | sort -u | wc -l)" '"GPU regions" 1'

# told TEXT: "NAME|NOTE|VALUE" of each end of a slice, of counters without what they are in
told()
{
	awk '/^packet/ { event = in_counters = 0; delete notes }
		$1 ~ /^(uint|double|bool)_value:/ { value = $2 }
		$1 == "type:" { event = substr($2, 12) }
		/^      name:/ { notes[++n] = substr($2, 2, length($2) - 2); if (value != "") values[n] = value; value = "" }
		/^        name:/ { notes[++n] = substr($2, 2, length($2) - 2); values[n] = value; value = "" }
		event && /^    name:/ { name = $0; sub(/^ *name: "/, "", name); sub(/"$/, "", name); gsub(/\\"/, "\"", name)
			gsub(/\\303\\244/, "ä", name) }
		/^}/ { if (event == "END") for (i = 1; i <= n; i++) if (i in values) print name "|" notes[i] "|" values[i]
			n = 0; delete values }' "$1"
}
# told_sums TEXT: the totals of all slices of a name, as they are in want
told_sums()
{
	told "$1" | awk -F'|' 'FNR == NR { split($0, p, ";"); if (p[2] != "derived") is[p[1]] = 1; next }
		$2 in is { sum[$1 "|" $2 "|total|"] += $3 }
		END { for (k in sum) if (sum[k]) printf "%s%.0f\n", k, sum[k] }' "$SCRATCH/places" - | sort
}
grep '|total|' "$SCRATCH/want" | grep -v '^|' >"$SCRATCH/want.named"
told_sums "$SCRATCH/text" >"$SCRATCH/told"
if [ "$(wc -l <"$SCRATCH/want.named")" -gt 200 ] && cmp -s "$SCRATCH/want.named" "$SCRATCH/told"; then
	ok "each slice has its sums: $(wc -l <"$SCRATCH/told") by name"
else
	not_ok "each slice has its sums" "$(diff "$SCRATCH/want.named" "$SCRATCH/told" | head -n 20)" \
		"$(wc -l "$SCRATCH/want.named" "$SCRATCH/told")"
fi
# flat FILE: "NAME|NOTE|VALUE" of report -j, of regions that begin once, and of what is not 0
flat()
{
	awk '/^  "regions":/ { regions = 1 }
		/^  \]/ { regions = 0 }
		!regions { next }
		/^      "name":/ { name = $0; sub(/^ *"name":"?/, "", name); sub(/"?,$/, "", name); gsub(/\\"/, "\"", name) }
		/^      "name":/ { once = 0 }
		/^      "times":/ { once = $0 ~ /:1,/ }
		/^          "name":/ { counter = $0; gsub(/.*:"|",?$/, "", counter) }
		/^ *"(samples|sampled_seconds|of_time|of_cycles|active_hz|read|written|missing|total|mean)":/ && once {
			split($0, w, /[":,]+/)
			note = w[2] ~ /total|mean/ ? counter : w[2]
			if (w[3] + 0 || w[3] == "true") printf "%s|%s|%.15g\n", name, note, w[3] == "true" ? 1 : w[3]
		}' "$1" | sort
}
flat "$SCRATCH/json" >"$SCRATCH/want"
told "$SCRATCH/text" | awk -F'|' 'FNR == NR { once[$1] = 1; next } $1 in once && ($3 + 0 || $3 == "true") {
	printf "%s|%s|%.15g\n", $1, $2, $3 == "true" ? 1 : $3 }' "$SCRATCH/want" - | sort >"$SCRATCH/told"
if [ "$(cut -d'|' -f2 "$SCRATCH/want" | sort -u | wc -l)" -gt 150 ] && cmp -s "$SCRATCH/want" "$SCRATCH/told"; then
	ok "and what report -j has, figures and metrics: $(wc -l <"$SCRATCH/told")"
else
	not_ok "and what report -j has, figures and metrics" "$(diff "$SCRATCH/want" "$SCRATCH/told" | head -n 20)" \
		"$(wc -l "$SCRATCH/want" "$SCRATCH/told")"
fi
told_sums "$SCRATCH/text" >"$SCRATCH/told"
for late in 50000000 150000000; do
	LATE=$late MARKS=$MARKS "$SCRATCH/recording-make" "$SCRATCH/late" 800 all
	"$tool" convert -P /dev/stdin <"$SCRATCH/late" >"$SCRATCH/trace" && decode_trace "$SCRATCH/trace" "$SCRATCH/text.late"
	is "marks that come $late ns behind samples: slices" "$(slices "$SCRATCH/text.late")" "$(slices "$SCRATCH/text")"
	told_sums "$SCRATCH/text.late" >"$SCRATCH/told.$late"
done
is "marks that come late have their sums" "$(diff "$SCRATCH/told" "$SCRATCH/told.50000000")" ""
# The last ones come when the samples around them still wait.
is "those that come too late have none, and leave none" \
	"$(told "$SCRATCH/text.late" | cut -d'|' -f1 | sort -u | tr '\n' ' ')$(comm -13 "$SCRATCH/told" "$SCRATCH/told.150000000")" "behind x y "

is "convert -j has the marks" "$("$tool" convert -j "$SCRATCH/data" | sed -n 's/^"marks"://p' | grep -o '"time_ns":[0-9]*,"name":[^}]*' | sed -n '5,6p')" \
	'"time_ns":5250000000,"name":"shadows"
"time_ns":5300499999,"name":null'

MARKS=$(for n in $(seq 300); do echo "${n}000000 n$n"; done) "$SCRATCH/recording-make" "$SCRATCH/many" 400 default
"$tool" report -j "$SCRATCH/many" >"$SCRATCH/json" 2>&1
is "more names than there is room for are one region" \
	"$? $(sed -n '/^  "regions"/,/^  \]/s/^      "\(name\|times\)":"\{0,1\}\(.*[^"]\)"\{0,1\},$/\2/p' "$SCRATCH/json" | tail -n 5 | tr '\n' ' ')" \
	"0 n198 1 (others) 102 null "

# As many slices as samples, and more than can wait, of which the last are within one.
MARKS=$(for n in $(seq 400); do echo "${n}000000 n"; done) "$SCRATCH/recording-make" "$SCRATCH/many" 800 default
"$tool" report -j "$SCRATCH/many" >"$SCRATCH/json"
"$tool" convert -P "$SCRATCH/many" >"$SCRATCH/trace" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
region_sums "$SCRATCH/json" | grep '^n|.*|total|' >"$SCRATCH/want"
told_sums "$SCRATCH/text" >"$SCRATCH/told"
is "400 slices have the sums of their name" "$(diff "$SCRATCH/want" "$SCRATCH/told") $(told "$SCRATCH/text" | grep -c '|samples|')" " 400"
"$tool" convert -P "$SCRATCH/unmarked" >"$SCRATCH/trace.unmarked"
bytes=$((($(stat -c %s "$SCRATCH/trace") - $(stat -c %s "$SCRATCH/trace.unmarked")) / 400))
[ "$bytes" -gt 0 ] && [ "$bytes" -le 2000 ] && ok "a slice takes $bytes bytes of a trace" || not_ok "a slice takes 2000 bytes at the most" "$bytes"
MARKS=$(for n in $(seq 5000); do echo "$((700000 + n)) n"; done; echo 900000 rest) "$SCRATCH/recording-make" "$SCRATCH/many" 800 default
"$tool" report -j "$SCRATCH/many" >"$SCRATCH/json"
"$tool" convert -P "$SCRATCH/many" >"$SCRATCH/trace" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
region_sums "$SCRATCH/json" | grep '^rest|.*|total|' >"$SCRATCH/want"
told_sums "$SCRATCH/text" >"$SCRATCH/told"
is "of more marks in a sample than can wait the last has its sums" \
	"$(diff "$SCRATCH/want" "$SCRATCH/told") $(slices "$SCRATCH/text" | grep -c BEGIN) $(wc -l <"$SCRATCH/want" | sed 's/^[1-9][0-9]*$/some/')" " 5001 some"

# ---- Marks that come while it is recorded ----

recorders_apart
mark()
{
	"${RUN[@]}" "$tool" mark "$@"
}

# tick NAME BYTES
tick()
{
	printf '%s' "$2" >"$SCRATCH/$1.ticks"
	tell "$1" ping
}

# sums NAME: "REGION:TOTAL " of each
sums()
{
	"$tool" report -j "$SCRATCH/$1.data" 2>&1 | awk '/^  "regions":/ { regions = 1 } /^  \]/ { regions = 0 }
		regions && /^      "name":/ { name = $0; gsub(/^ *"name":"?|"?,$/, "", name) }
		regions && /^          "total":/ { printf "%s:%s ", name, $0 + 0 ? $0 : substr($0, index($0, ":") + 1) + 0 }'
}

# end NAME WANT: what the end says of marks and of those that were dropped
end()
{
	tell "$1" stop
	wait "${PID[$1]}"
	is "$1: it ends well" "$? $("$tool" convert -j "$SCRATCH/$1.data" | tail -n 1 | grep -o '"marks":[0-9]*,"dropped":[0-9]*')" \
		"0 \"marks\":$2,\"dropped\":$3"
}

mark nobody >"$SCRATCH/out" 2>&1
is "nobody records: nothing happens" "$? $(cat "$SCRATCH/out") $(ls "$run")" "0  "

begin one
begin two
is "recorders are found where they listen" "$(find "$run/panthor-perf" -type s -printf '%m\n' | sort | uniq -c | tr -s ' ')" " 2 600"
tick one n
tick two n
mark shadows
is "mark has a status of 0" $? 0
tick one nn
tick two n
mark "lighting ä"
tick one n
tick two nnn
mark --end
tick one n
tick two n
end one 3 0
end two 3 0
is "what was counted is of the region that there was" "$(sums one)" "shadows:$((2 * 996)) lighting ä:996 null:$((2 * 996)) "
is "all recorders have the marks" "$(sums two)" "shadows:996 lighting ä:$((3 * 996)) null:$((2 * 996)) "
is "and nothing is left" "$(ls "$run/panthor-perf")" ""

# A recorder's own socket, which its command knows.
mkfifo "$SCRATCH/go"
begin own --socket="$SCRATCH/own.sock" -- sh -c "'$tool' mark inside; touch '$SCRATCH/inside'; read -r _ <'$SCRATCH/go'"
until_true test -e "$SCRATCH/inside"
"$tool" mark --socket "$SCRATCH/own.sock" outside
tick own n
"$tool" mark --socket "$SCRATCH/no.sock" nowhere
is "nobody listens at a path" $? 0
FAKE_TICKS=$SCRATCH/own.ticks "$tool" record --socket="$SCRATCH/own.sock" -o "$SCRATCH/x" 2>"$SCRATCH/err" >"$SCRATCH/out"
is "somebody does" "$? $(grep -c 'cannot listen on .*own.sock: Address already in use' "$SCRATCH/err")" "8 1"
echo >"$SCRATCH/go"
wait "${PID[own]}"
is "own: it ends with its command" "$? $(ls "$SCRATCH/own.sock" 2>/dev/null)" "0 "
is "its command's marks are there" "$(sums own)" "inside:0 outside:996 null:0 "

# A recorder that was killed is cleaned up behind; what is no socket is not.
begin dead
kill -KILL "${PID[dead]}"
wait "${PID[dead]}" 2>/dev/null
: >"$run/panthor-perf/1"
mark x >"$SCRATCH/out" 2>&1
is "a recorder that was killed hears nothing" "$? $(cat "$SCRATCH/out") $(find "$run/panthor-perf" -type s | wc -l)" "0  1"
begin hostile
is "and its socket goes with the next" "$(find "$run/panthor-perf" -type s | wc -l) $(find "$run/panthor-perf" -type f | wc -l)" "1 1"

"$SCRATCH/mark-noise" nonsense "$(find "$run/panthor-perf" -type s)"
is "nonsense is sent" $? 0
tick hostile n
end hostile 2 7
is "and dropped, times are put right, and what is told of it is told" \
	"$(sums hostile) $(grep -c '^7 marks were dropped' "$SCRATCH/hostile.err")" "future:0 past:996 null:0  1"

begin flood
"${RUN[@]}" "$SCRATCH/mark-noise" flood 30000
is "a flood comes" $? 0
tell flood stop
wait "${PID[flood]}"
read -r taken dropped <<<"$("$tool" convert -j "$SCRATCH/flood.data" | tail -n 1 | sed 's/.*"marks":\([0-9]*\),"dropped":\([0-9]*\).*/\1 \2/')"
[ "$((taken + dropped))" -eq 30001 ] && [ "$taken" -gt 0 ] && ok "each mark was taken or is told of: $taken and $dropped" ||
	not_ok "each mark was taken or is told of" "$taken and $dropped of 30001" "$(cat "$SCRATCH/flood.err")"

# A program with a capability, as panthor-perf with CAP_PERFMON, is its user's all the same.
cp "$SCRATCH/mark-noise" "$SCRATCH/capable"
if [ "$(id -u)" -eq 0 ] && PATH=$PATH:/usr/sbin setcap cap_sys_nice+ep "$SCRATCH/capable" 2>/dev/null; then
	begin capable
	chmod 711 "$SCRATCH"
	chmod 755 "$run"
	find "$run/panthor-perf" -type s -exec chmod 666 {} +
	setpriv --reuid=65534 --regid=65534 --clear-groups env XDG_RUNTIME_DIR="$run" "$SCRATCH/capable" flood 1
	is "a program with a capability marks" $? 0
	end capable 2 0
else
	ok "a program with a capability marks # SKIP it takes root and setcap"
	ok "capable: it ends well # SKIP"
fi

for name in "" "$(printf '%097d' 0)" $'a\e[2J' $'\xff'; do
	mark "$name" 2>>"$SCRATCH/err"
	echo $?
done >"$SCRATCH/out"
is "names that are none" "$(tr '\n' ' ' <"$SCRATCH/out")" "2 2 2 2 "
mark a b 2>"$SCRATCH/err"
is "two names" $? 2

# ---- Who lets it count ----

begin paused --delay=-1
tick paused s
mark before
tell paused enable
tick paused sss
tell paused disable
tell paused disable
tick paused ss
mark between
tell paused enable
tell paused enable
end paused 2 0
# 1 + 3 samples and that of the end, 10 seconds of nothing, two samples and that of the end.
is "samples come between enable and disable alone" \
	"$("$tool" convert --csv "$SCRATCH/paused.data" | awk -F, -v c="$counter\$" '
		NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ c) of = i; next }
		{ print $1 / 1e9 "-" $2 / 1e9 ":" $of }' | tr '\n' ' ')" \
	"0-1:996 1-2:996 2-3:996 3-4:996 4-5:0 15-16:996 16-17:996 17-18:0 "
"$tool" report "$SCRATCH/paused.data" >"$SCRATCH/out"
is "the gap is told" "$(grep gap "$SCRATCH/out") $(grep -c 'over 18.000000 s$' "$SCRATCH/out")" \
	"1 gap between samples, 10 s in total, was not counted. 1"
is "and is none of the time of rates" "$("$tool" report -j "$SCRATCH/paused.data" | sed -n '/"counters"/,$s/^ *"mean":\(.*\),/\1/p')" \
	"$(awk 'BEGIN { printf "%.1f", 6 * 996 / 8 }')"
"$tool" convert -P -o "$SCRATCH/trace" "$SCRATCH/paused.data" && decode_trace "$SCRATCH/trace" "$SCRATCH/text"
is "a trace is 0 in it" "$(awk '/^      specs {/ { spec = 1 } /^      }/ { spec = 0 }
	spec && $1 == "counter_id:" { id = $2 } spec && $0 ~ /name: "GPU active cycles"/ { it = id }
	/^  timestamp:/ { time = $2 / 1e9 } !spec && $1 == "counter_id:" { c = $2 } $1 == "double_value:" && c == it { print time ":" $2 }' \
	"$SCRATCH/text" | tr '\n' ' ')" "0:996 1:996 2:996 3:996 4:0 15:996 16:996 17:0 "

begin never -D -1
end never 0 0
is "nobody has enabled it" "$(grep -c 'nothing was counted: --control never enabled counting' "$SCRATCH/never.err")" 1
begin fast -D 86400s
tell fast enable
tick fast s
end fast 0 0
is "enable ends a delay" "$("$tool" convert --csv "$SCRATCH/fast.data" | wc -l)" 3

# Descriptors instead of paths, commands that come at once, words that are none.
mkfifo "$SCRATCH"/fds.{ticks,ctl,ack}
exec {ctl}<>"$SCRATCH/fds.ctl" {ack}<>"$SCRATCH/fds.ack"
printf 'disable\nno such word\nenable\n%0100d\nping\nstop\n' 0 >&"$ctl"
FAKE_TICKS=$SCRATCH/fds.ticks "${RUN[@]}" "$tool" record --control="fd:$ctl,$ack" -p 1s -e $counter -o "$SCRATCH/fds.data" 2>"$SCRATCH/err"
is "fd:CTL,ACK" "$? $("$tool" convert --csv "$SCRATCH/fds.data" | wc -l)" "0 3"
for _ in 1 2 3 4; do
	read -rt 1 answer <&"$ack" && printf '%s ' "$answer"
done >"$SCRATCH/out"
is "each command that is one is acknowledged" "$(cat "$SCRATCH/out") $(read -rt 0.1 answer <&"$ack"; echo $?)" "ack ack ack ack  142"
is "others are told of" "$(grep -c 'unknown command .* Use enable, disable, ping, stop or dump.' "$SCRATCH/err")" 3

# reason NAME: why it ended
reason()
{
	"$tool" convert -j "$SCRATCH/$1.data" | tail -n 1 | grep -o '"reason":"[^"]*"'
}

# Who controls it goes, and does not read what was asked for.
exec {gone}> >(:)
wait $!
printf 'ping\nstop\n' >&"$ctl"
FAKE_TICKS=$SCRATCH/fds.ticks "${RUN[@]}" "$tool" record --control="fd:$ctl,$gone" -p 1s -e $counter -o "$SCRATCH/left.data" 2>"$SCRATCH/err"
is "who controls it may go" "$? $(reason left)" '0 "reason":"interrupt"'
# So may who reads what it says, of a GPU that goes.
mkfifo "$SCRATCH/unread.ticks"
exec {ticks}<>"$SCRATCH/unread.ticks"
printf 'sg' >&"$ticks"
FAKE_TICKS=$SCRATCH/unread.ticks "${RUN[@]}" "$tool" record -p 1s -e $counter -o "$SCRATCH/unread.data" 2>&"$gone"
is "and who reads its complaints" "$? $(reason unread)" '7 "reason":"gpu"'
exec {gone}>&- {ticks}>&-

# Marks that fill the queue while the disk takes nothing, so that counting begins with little room in it. The
# command's length moves what is left: of four rooms that are 32 bytes apart, one is too small for clocks.
# asleep PID: it has done nothing since the last look
asleep()
{
	local before=${switches:-}

	sleep 0.2
	switches=$(grep ctxt "/proc/$1/status")
	[ "$switches" = "$before" ]
}
for more in "" 32 64 96; do
	rm -f "$SCRATCH/quick"
	SLOW_UNTIL=$SCRATCH/quick LD_PRELOAD=$SCRATCH/slow-disk.so tool=$SCRATCH/live-fast \
		begin "full$more" -m 128 -D -1 -- sh -c 'exec sleep 300' "$(printf '%0*d' "${more:-0}" 0)"
	"${RUN[@]}" "$SCRATCH/mark-noise" fill "$(printf '%096d' 0)" &
	fill=$!
	until_true asleep $fill
	tell "full$more" enable
	touch "$SCRATCH/quick"
	tell "full$more" ping
	kill $fill
	wait $fill
	tell "full$more" stop
	# It passes that on to its command.
	kill "${PID[full$more]}"
	wait "${PID[full$more]}"
	"$tool" report "$SCRATCH/full$more.data" >"$SCRATCH/out" 2>"$SCRATCH/err"
	is "full$more: counting begins while the queue is full" "$? $(cat "$SCRATCH/err")" "0 "
done

# refused NAME STATUS TEXT OPTION...
refused()
{
	local name=$1 status=$2 text=$3

	shift 3
	FAKE_TICKS=$SCRATCH/fds.ticks "${RUN[@]}" "$tool" record -o "$SCRATCH/none" "$@" -- touch "$SCRATCH/ran" 2>"$SCRATCH/err"
	is "$name" "$? $(grep -c "$text" "$SCRATCH/err") $(ls "$SCRATCH/none" "$SCRATCH/ran" 2>/dev/null)" "$status 1 "
}
refused "no descriptor" 8 "file descriptor 999: Bad file descriptor" --control=fd:999
refused "no number" 2 "use fd:NUMBER" --control=fd:x
refused "three numbers" 2 "use fd:NUMBER" --control=fd:1,2,3
refused "neither" 2 "use fd:NUMBER" --control="$SCRATCH/fds.ctl"
refused "a pipe that is not there" 8 "no.ctl: No such file" --control=fifo:"$SCRATCH/no.ctl"
refused "nobody to end a delay" 2 "needs --control" --delay=-1
plan "$TAP_COUNT"
