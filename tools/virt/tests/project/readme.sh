#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 7.3
# configs: stock
# Each command in README: what can run here runs, and its output has the shape that README shows or promises;
# of what is for a board, or takes hours, files, options, targets and packages are there.
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
cd "$top" || exit
LIMIT=150

# shape: what comes in, without what differs from run to run: numbers, their units' prefixes, widths of columns
shape()
{
	sed -E 's/[0-9][0-9,.]*/N/g; s/N [kMGT]?(B|bytes|cycles|Hz)/N \1/g; s/ +/ /g; s/^ //; s/ $//'
}

# commands: what README tells to run, a line each: in indented lines, up to a comment, and in the table
commands()
{
	sed -n '/^Without a board$/,/^What do you want to do?$/s/^  //p' README | sed 's/  *#.*//; s/ && /\n/g' | grep .
	sed -n '/^  I want to/,/^On a board all/p' README | sed -n 's/^  .\{44\}  //p' | sed 's/; */\n/g; s/, "/ "/g' |
		grep -v '^-*$\|^command, or page$'
}

# exists COMMAND: what it needs is in the tree; else says what is missing
exists()
{
	local -a words
	local target file word

	read -ra words <<<"${1#sudo }"
	case ${1#sudo } in
	make\ *)
		target=${words[1]}
		grep -q "^$target:" Makefile && [[ "$(make help)" = *"make $target "* ]] || echo "no target $target, or make help has not got it"
		;;
	"man "*)
		compgen -G "tools/panthor-perf/man/${words[1]}.[0-9]" >/dev/null || echo "no such page: $1"
		;;
	"apt install "*)
		for word in "${words[@]:2}"; do
			word=${word#./}
			grep -qx "Package: ${word%%_*}" debian/control || echo "no package $word"
		done
		;;
	"systemctl enable --now "*)
		[ -e "debian/panthor-perf.${words[3]}.service" ] || echo "no such unit: $1"
		;;
	"perf stat "*)
		grep -qw 'gpu_active' drivers/gpu/drm/panthor/panthor_perf_pmu_events.h || echo "no event gpu_active"
		;;
	reboot) ;;
	tools/virt/*|panthor-perf\ *) ;;
	*)
		file=${1%% *}
		[ -e "$file" ] || echo "no file $file"
		if [[ $1 = *\"* ]]; then
			word=${1#*\"}
			grep -qxF "${word%\"*}" "$file" || echo "$file has no section ${word%\"*}"
		fi
		;;
	esac
}

# ran NAME PATTERN [FILE]: the next result is that the output has a line of that pattern
ran()
{
	if grep -q "$2" "${3:-$SCRATCH/out}"; then
		ok "$1"
	else
		not_ok "$1" "no line with: $2" "$(head -n 20 "${3:-$SCRATCH/out}")"
	fi
}

commands >"$SCRATCH/commands"
mapfile -t tool < <(grep '^panthor-perf ' "$SCRATCH/commands")
plan $((7 + ${#tool[@]} + 6))

is "README has at most $LIMIT lines" "$(($(wc -l <README) <= LIMIT))" 1
is "there are commands" "$(($(wc -l <"$SCRATCH/commands") >= 30))" 1
is "what each command needs is there" "$(while read -r command; do exists "$command"; done <"$SCRATCH/commands")" ""
is "each page for users is in README, and in the index" \
	"$(for page in Documentation/*.rst; do
		name=$(basename "$page" .rst)
		[ "$name" = index ] || { grep -q "^  $page " README && grep -qx "   $name" Documentation/index.rst; } || echo "$page"
	done)" ""
port=$(sed -n 's/.*(port \([0-9]*\)).*/\1/p' README)
is "the port is export's" "$(grep -c "127.0.0.1:$port" tools/panthor-perf/man/panthor-perf-export.1 | sed 's/[1-9]/yes/')" yes

# Beside the others, as they take longest.
DEMO_TRACE=$SCRATCH/trace make -s demo >"$SCRATCH/demo.out" 2>"$SCRATCH/demo.err" &
make -s series KERNEL="$KERNEL" OUT="$SCRATCH/series" >"$SCRATCH/series.out" 2>"$SCRATCH/series.err" &

# One machine for all commands of the tool, in README's order, with names put in.
for command in "${tool[@]}"; do
	case $command in
	*" mark "*) command="panthor-perf record -- sh -c 'panthor-perf mark NAME && gpu-load' && panthor-perf report" ;;
	*" top") command="{ gpu-load -t 3 >/dev/null & $command --once; }" ;;
	*" diff "*) command="cp panthor-perf.data before.data && cp panthor-perf.data after.data && $command" ;;
	*" --html "*) command="$command && head -c 1000 page.html; echo" ;;
	*" --perfetto "*) command="$command && ls panthor-perf.*trace" ;;
	# That it runs is selftest.sh's matter.
	*" selftest") command="$command --help" ;;
	*" glmark2-es2-wayland") command="panthor-perf stat gpu-load" ;;
	esac
	echo "echo '@@'; { ${command//PROGRAM/gpu-load}; } 2>&1 || echo \"status \$?\""
done >"$SCRATCH/script"
"$VIRT_DIR/run" -i -k "$KERNEL" -c "$CONFIG" -f "$SCRATCH/script:/root/script" -- sh -c 'cd /root && . ./script' \
	>"$SCRATCH/all" 2>"$SCRATCH/err"
is "the commands run: status" $? 0
awk -v file="$SCRATCH/out-" '/^@@$/ { n++; next } { print >(file n) }' "$SCRATCH/all"
n=0
for command in "${tool[@]}"; do
	n=$((n + 1))
	out=$SCRATCH/out-$n
	touch "$out"
	if grep -q '^status ' "$out"; then
		not_ok "$command" "$(tail -n 5 "$out")"
		continue
	fi
	case $command in
	*" selftest") pattern='^Usage: panthor-perf selftest ' ;;
	*" doctor") pattern='^ok  *counters' ;;
	*" --topdown "*) pattern='^Largest: ' ;;
	*" stat "*|*" report") pattern='^GPU load: ' ;;
	*" top") pattern='^GPU .*% of time' ;;
	*" record --perfetto"*) pattern='^panthor-perf\..*trace$' ;;
	*" record "*) pattern='^panthor-perf: .* samples, .* in panthor-perf.data$' ;;
	*" --html "*) pattern='<!DOCTYPE html>' ;;
	*" mark "*) pattern=' NAME$' ;;
	*" diff "*) pattern='^ *change  *A  *noise' ;;
	*" list") pattern='^  MaliGPUActiveCy ' ;;
	*" streamline") pattern='gatord' ;;
	*) pattern="README's test does not know what this prints" ;;
	esac
	ran "$command" "$pattern" "$out"
	[ "$command" != "panthor-perf stat -- PROGRAM" ] || picture=$out
done
sed -n '/^  # panthor-perf stat/,/^Without a board/p' README | sed '1d; $d; /^ *\.\.\.$/d; /^$/d' | shape >"$SCRATCH/shown"
shape <"${picture:-/dev/null}" >"$SCRATCH/printed"
is "the picture is what stat prints" "$(grep -vxFf "$SCRATCH/printed" "$SCRATCH/shown")" ""

"$VIRT_DIR/run" -k "$KERNEL" -c "$CONFIG" -- perf_uapi -r uapi.query_values >"$SCRATCH/out" 2>&1
ran "tools/virt/run runs a selftest" '^ok 1 uapi.query_values$'
tools/virt/check -l run load >"$SCRATCH/out" 2>&1
is "tests that README names are there" "$(grep -oE '/(run|load)\.sh' "$SCRATCH/out" | sort -u | tr '\n' ' ')" "/load.sh /run.sh "

wait
ran "make series" '^The patches are in ' "$SCRATCH/series.out"
is "which has four parts" "$(find "$SCRATCH/series" -name '*cover-letter*' | wc -l)" 4
ran "make demo" '^That took [0-9]* seconds' "$SCRATCH/demo.out"
make -s docs OUT="$SCRATCH/docs" >"$SCRATCH/out" 2>"$SCRATCH/err"
is "make docs has no warning" "$? $(tail -n 1 "$SCRATCH/out") $(grep -vE 'all packages are installed|^install(ing|ed) ' "$SCRATCH/err")" "0 $SCRATCH/docs/index.html "
