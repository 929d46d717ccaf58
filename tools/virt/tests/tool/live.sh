#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# panthor-perf top and export against the real driver: what they tell is what the model's ledger has,
# by counters and blocks, and what the kernel's fdinfo has of clients.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/ledger.sh"

# What the guest says. On 6.12 the kernel does not tell the time of clients.
case $KERNEL in
6.12) RESULTS=44 ;;
*) RESULTS=47 ;;
esac

plan $((2 * (RESULTS + 1 + 8)))

build_ledger_sums

# ledger_of WHAT: the sums of its epochs, by the names of the counters: "NAME BLOCK SUM"
ledger_of()
{
	local first last

	read -r first last < <(sed -n "s/^$1 //p" "$SCRATCH/epochs")
	ledger_by_name "$first" "$last"
}

# same NAME GOT WANT: equal files, with something in them
same()
{
	if [ -s "$3" ] && cmp -s "$2" "$3"; then
		ok "$1"
	else
		not_ok "$1" "$(wc -l <"$3") lines are wanted" "$(diff "$2" "$3" | head -n 20)"
	fi
}

for gpu in g610 g715; do
	case $gpu in
	g610) name=Mali-G610 ;;
	g715) name=Mali-G715 ;;
	esac
	rm -f "$SCRATCH"/{ledger,info,list,epochs,top.json,all.prom}
	guest_script "$RESULTS" live -g "$gpu" -l "$SCRATCH/ledger" -o "info:$SCRATCH/info" \
		-o "list:$SCRATCH/list" -o "epochs:$SCRATCH/epochs" -o "top.json:$SCRATCH/top.json" \
		-o "all.prom:$SCRATCH/all.prom" -- "$name" "$KERNEL"

	# top: arrays by block, added over all lines.
	grep -o '"Mali[A-Za-z0-9]*":\[[0-9,]*\]' "$SCRATCH/top.json" | tr -d '"[]' |
		awk -F: '{ n = split($2, v, ","); for (i = 1; i <= n; i++) sum[$1 " " i - 1] += v[i] }
			END { for (k in sum) printf "%s %d\n", k, sum[k] }' | sort >"$SCRATCH/got"
	ledger_of top >"$SCRATCH/all"
	cut -d' ' -f1,2 "$SCRATCH/got" | awk 'FNR == NR { want[$0] = 1; next } ($1 " " $2) in want' - "$SCRATCH/all" \
		>"$SCRATCH/want"
	same "$gpu: top's counters by block are the ledger's" "$SCRATCH/got" "$SCRATCH/want"
	is "$gpu: active cycles are the ledger's" \
		"$(grep -o '"active_cycles":[0-9]*' "$SCRATCH/top.json" | awk -F: '{ s += $2 } END { print s }')" \
		"$(awk '$1 == "MaliGPUActiveCy" || $1 == "MaliGPUAnyQueueActiveCy" { s[$1] = $3 }
			END { print "MaliGPUActiveCy" in s ? s["MaliGPUActiveCy"] : s["MaliGPUAnyQueueActiveCy"] }' "$SCRATCH/all")"
	is "$gpu: bytes read are the ledger's" \
		"$(grep -o '"MaliExtBusRdBy":[0-9.]*' "$SCRATCH/top.json" | awk -F: '{ s += $2 } END { printf "%d\n", s }')" \
		"$(awk '$1 == "MaliExtBusRdBt" { s += $3 * 16 } END { print s }' "$SCRATCH/all")"
	is "$gpu: no sample is flagged" "$(grep -c '"overflow":true\|"error":true' "$SCRATCH/top.json")" 0

	# export: the name of the counter is in the text of its metric.
	awk '/^# HELP/ { metric = $3; name = $0; sub(/.*\(/, "", name); sub(/[,)].*/, "", name); next }
		/block="/ { block = $0; sub(/.*block="/, "", block); sub(/".*/, "", block); sub(/^[a-z]*/, "", block)
			print name, block, $NF }' "$SCRATCH/all.prom" | sort >"$SCRATCH/got"
	ledger_of export >"$SCRATCH/want"
	same "$gpu: export's counters by block are the ledger's" "$SCRATCH/got" "$SCRATCH/want"
	[ "$(awk '$3 > 0' "$SCRATCH/want" | wc -l)" -gt 100 ] && ok "$gpu: something was counted" ||
		not_ok "$gpu: something was counted" "$(cat "$SCRATCH/want")"
	is "$gpu: metrics have names of their own" "$(grep '^# TYPE' "$SCRATCH/all.prom" | cut -d' ' -f3 | sort | uniq -d)" ""
	if promtool=$("$VIRT_DIR/build/promtool.sh" 2>"$SCRATCH/err"); then
		is "$gpu: promtool has nothing to say of them" "$("$promtool" check metrics <"$SCRATCH/all.prom" 2>&1; echo $?)" 0
	else
		not_ok "$gpu: promtool has nothing to say of them" "$(cat "$SCRATCH/err")"
	fi
done
