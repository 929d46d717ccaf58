#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# Counters in GL by Mesa with our patches: GL_AMD_performance_monitor and GALLIUM_HUD have the ledger's counts between the
# same two samples, of every counter; without library, permission, the GPU, or beside another set, Mesa is as before. GL
# and Vulkan cost next to nothing more if nobody asks for counters.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$TESTS_DIR/lib/ledger.sh"

CLIENTS=$VIRT_DIR/../../clients
GUEST=24
MODELS="g610 g310"

# points TRACE: EPOCH.INSERT of each delivery, of the session with the most; the number of its line is its boundary
points()
{
	sort -k 1,1n -s "$1" | awk '{ n[$1]++; at[$1, n[$1]] = $2 "." $3 " " $4 " " $5; if (n[$1] > n[most]) most = $1 }
		END { for (i = 1; i <= n[most]; i++) print at[most, i] }'
}

# truth FROM TO: the sums of the ledger between two boundaries of $SCRATCH/points, by name, over all blocks
truth()
{
	ledger_by_name "$(sed -n "$1s/ .*//p" "$SCRATCH/points")" "$(sed -n "$2s/ .*//p" "$SCRATCH/points")" |
		awk '{ sum[$1] += $3 } END { for (name in sum) print name, sum[name] }' | sort
}

# compare NAME GOT WANT: counters of hardware that both have; all of the ledger's have to be there
compare()
{
	join "$3" "$2" >"$SCRATCH/both"
	if [ -s "$3" ] && [ "$(wc -l <"$SCRATCH/both")" = "$(wc -l <"$3")" ] && awk '$2 != $3 { bad = 1 } END { exit bad }' "$SCRATCH/both"; then
		ok "$1: $(wc -l <"$3") counters"
	else
		not_ok "$1" "counters without a value: $(join -v 1 "$3" "$2" | head -n 5 | tr '\n' ' ')" \
			"name, want, got:" "$(awk '$2 != $3' "$SCRATCH/both" | head -n 20)"
	fi
}

# derived FILE: metrics of a monitor that are not what their counters make
derived()
{
	tr ' ' '\n' <"$1" | awk -F= '
		function check(name, want) {
			if (value[name] == "" || value[name] - want > 1e-4 * want + 1e-4 || want - value[name] > 1e-4 * want + 1e-4)
				printf "%s is %s, not %s; ", name, value[name], want
		}
		function frame() {
			check("MaliExtBusRdBy", value["MaliExtBusRdBt"] * 16)
			check("MaliFragQueueActiveCy", value["MaliFragQueuedCy"] - value["MaliFragQueueAssignStallCy"])
			check("MaliFragQueueUtil", value["MaliGPUActiveCy"] ? 100 * value["MaliFragQueueActiveCy"] / value["MaliGPUActiveCy"] : 0)
			check("td_idle", 100 - value["td_frontend"] - value["td_tiler"] - value["td_core"] - value["td_memory"])
			delete value
		}
		NF == 1 && NR > 1 { frame() }
		{ value[$1] = $2 }
		END { frame() }'
}

# monitors FILE FRAMES WHAT: a result for each frame
monitors()
{
	local i

	points "$SCRATCH/$1.trace" >"$SCRATCH/points"
	for i in $(seq "$2"); do
		sed -n "${i}p" "$SCRATCH/$1" | tr ' ' '\n' | sed -n 's/=/ /p' | sort >"$SCRATCH/got"
		truth $((2 * i - 1)) $((2 * i)) >"$SCRATCH/want"
		compare "$3, frame $i" "$SCRATCH/got" "$SCRATCH/want"
	done
	is "$3: metrics are those of the counts" "$(derived "$SCRATCH/$1")" ""
}

# Each run of the HUD has written values for some counters, line by line; of how many frames they are in all, from the
# first boundary on, it does not say. It is the same number for all counters.
huds()
{
	local run last until bad=

	for run in $(cut -d ' ' -f 1 "$SCRATCH/huds.values" | sort -un); do
		sed -n "s/^$run //p" "$SCRATCH/huds.traces" >"$SCRATCH/run.trace"
		points "$SCRATCH/run.trace" >"$SCRATCH/points"
		last=$(wc -l <"$SCRATCH/points")
		awk -v run="$run" '$1 == run { sum[$2] += $3 } END { for (name in sum) printf "%s %.0f\n", name, sum[name] }' \
			"$SCRATCH/huds.values" | sort >"$SCRATCH/got"
		for until in $(seq 4 "$last"); do
			truth 1 "$until" | join - "$SCRATCH/got" >"$SCRATCH/both"
			awk '$2 != $3 { bad = 1 } END { exit bad }' "$SCRATCH/both" && break
		done
		if awk '$2 != $3 { bad = 1 } END { exit bad }' "$SCRATCH/both" && [ "$last" -ge 5 ]; then
			cut -d ' ' -f 1 "$SCRATCH/both" >>"$SCRATCH/shown"
		else
			bad="$bad $run, of $last boundaries: $(awk '$2 != $3' "$SCRATCH/both" | head -n 3 | tr '\n' ' ')"
		fi
	done
	is "HUDs have the ledger's counts" "$bad" ""
	is "of all its counters" "$(truth 1 2 | cut -d ' ' -f 1)" "$(sort "$SCRATCH/shown")"
}

plan $((2 * (GUEST + 1 + 10 + 4 + 2) + 1))
if build=$("$CLIENTS/mesa/build.sh" 2>"$SCRATCH/err") && library=$("$CLIENTS/library.sh" 2>"$SCRATCH/err"); then
	ok "Mesa builds with our patches"
else
	not_ok "Mesa builds with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
for model in $MODELS; do
	rm -f "$SCRATCH/ledger" "$SCRATCH/shown"
	guest_script $GUEST mesa-counters -i -g "$model" -t 1800 -r gl -a libcap2 -a libjson-c5 -l "$SCRATCH/ledger" \
		-f "$build:/root/mesa" -f "$library/libpanthor-perf.so.0:/root/lib/libpanthor-perf.so.0" \
		-f "$TESTS_DIR/guest/shown.sh" $(for f in info list monitor monitor.trace beside beside.trace huds.traces huds.values; do
			printf '%s ' -o "/root/$f:$SCRATCH/$f"; done)
	monitors monitor 9 "a monitor"
	monitors beside 3 "beside another process"
	huds
done
