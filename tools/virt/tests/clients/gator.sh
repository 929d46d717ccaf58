#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# gatord, the daemon of Arm Streamline, counts what the ledger has: by perf as Arm ships it, and with our patches as on
# Arm's own drivers. A GPU that hangs, goes or is not to be had ends no capture but with a word.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/ledger.sh"
. "$(dirname "$0")/../lib/pmu.sh"

GUEST=20
# Events of perf that the ledger does not have: times, cycles, samples.
NOT_IN_LEDGER='^0x\(1\|2\|3\|a\) '

if [ -z "${GATOR_SRC:-}" ]; then
	echo "1..0 # SKIP set GATOR_SRC to a checkout of gator (clients/gator/README)"
	exit 0
fi

# counts CAPTURE: "NAME EVENT COUNT" of its counters, whose event may be missing
counts()
{
	# mxml breaks lines between attributes.
	tr '\n' ' ' <"$SCRATCH/captures/$1.xml" | grep -o '<counter [^>]*>' |
		awk -F'"' '$3 ~ /type=/ { print $2, $4, $5 ~ /event=/ ? $6 : "-" }' >"$SCRATCH/keys"
	"$SCRATCH/gator-counts" "$SCRATCH/captures/$1.data" >"$SCRATCH/sums" || return
	awk 'NR == FNR { name[$1] = $2 " " $3; next } $1 in name { print name[$1], $2 }' "$SCRATCH/keys" "$SCRATCH/sums"
}

# by_perf CAPTURE: "CONFIG COUNT" of the GPU's events
by_perf()
{
	counts "$1" | awk '/^panthor_/ { print $2, $3 }'
}

# names_of GPU: "NAME CONFIG" of all counters, by their place in gator's own table
names_of()
{
	awk -v gpu="$1" '
		index($0, "/* Mali-" gpu " */") { found = 1 }
		found && /^ *"/ { name[n++] = $0 }
		found && /^ *};/ { exit }
		END {
			# Blocks as gator has them: front end, tiler, shader cores, memory system.
			split("3 4 6 5", type)
			for (i = 0; i < n; i++)
				if (split(name[i], part, "\"") && part[2] != "")
					printf "ARM_Mali-%s 0x%x\n", part[2], type[int(i / (n / 4)) + 1] * 256 + i % (n / 4)
		}' "$GATOR_SRC/daemon/mali_userspace/MaliHwCntrNamesGenerated.h"
}

# by_mali CAPTURE GPU: the same of what gatord has read itself
by_mali()
{
	names_of "$2" >"$SCRATCH/names"
	counts "$1" | awk 'NR == FNR { config[$1] = $2; next } $1 in config { print config[$1], $3 }' "$SCRATCH/names" -
}

# as_ledger NAME EVENTS: 3 results; $SCRATCH/counts against the epochs of the capture
as_ledger()
{
	{
		echo "run $(cat "$SCRATCH/captures/$1.epochs")"
		grep -v "$NOT_IN_LEDGER" "$SCRATCH/counts"
	} >"$SCRATCH/runs"
	compare_runs "$model, $1" 1 "$2"
}

plan $((1 + 2 * (GUEST + 1 + 3 + 3 + 2)))
if build=$("$VIRT_DIR/../../clients/gator/build.sh" 2>"$SCRATCH/err"); then
	ok "gatord builds, as it is and with our patches"
else
	not_ok "gatord builds, as it is and with our patches" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
if ! "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/gator-counts" "$VIRT_DIR/host/gator-counts.c" \
	2>"$SCRATCH/err"; then
	not_ok "what reads captures compiles" "$(cat "$SCRATCH/err")"
	exit 1
fi
build_ledger_sums
for model in g610 g715; do
	rm -rf "$SCRATCH"/{ledger,info,events.xml,captures*}
	# One of them has blocks that gatord has no events of.
	blocks=0
	[ $model = g610 ] || blocks=1
	guest_script $GUEST gator -s 1 -g "$model" -p fw_blocks=$blocks -m 1536 -t 3000 -l "$SCRATCH/ledger" \
		-f "$build:/root/bin" -o info:"$SCRATCH/info" -o events.xml:"$SCRATCH/events.xml" \
		-o captures.tar:"$SCRATCH/captures.tar"
	tar -C "$SCRATCH" -xf "$SCRATCH/captures.tar"
	by_perf perf >"$SCRATCH/counts"
	as_ledger perf "$(grep -v '"0x[123a]"' "$SCRATCH/events.xml" | grep -c '<event event=')"
	by_mali mali "${model^^}" >"$SCRATCH/counts"
	as_ledger mali "$(wc -l <"$SCRATCH/names")"
	by_perf perf >"$SCRATCH/counts"
	is "$model: time passes, cycles and samples are counted" \
		"$(awk '$1 ~ /^0x[123a]$/ && $2 > 0' "$SCRATCH/counts" | wc -l)" 4
	by_perf hang >"$SCRATCH/counts"
	if grep -q '^0xb [1-9]' "$SCRATCH/counts"; then
		ok "$model: a hang is counted as a sample that may be too low"
	else
		not_ok "$model: a hang is counted as a sample that may be too low" "$(grep '^0xb ' "$SCRATCH/counts")"
	fi
done
