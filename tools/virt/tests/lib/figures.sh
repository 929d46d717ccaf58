# SPDX-License-Identifier: MIT
# Compares what was measured with icount.figures. Both have lines "RELEASE COMPILER GPU NAME INSTRUCTIONS".
# After tap.sh.

# nearest_figures RELEASE COMPILER FILE: "RELEASE COMPILER" of the figures in FILE to compare that kernel with:
# its own, or else those of the nearest version of its series, by the same compiler if there are any. Nothing
# if none of the series are kept.
nearest_figures()
{
	awk -v release="$1" -v compiler="$2" '
		BEGIN { split(release, want, /[.-]/) }
		split($1, kept, /[.-]/) && kept[1] "." kept[2] == want[1] "." want[2] {
			far = kept[3] - want[3]
			far = (far < 0 ? -far : far) + ($2 == compiler ? 0 : 1e6)
			if (nearest == "" || far < least) {
				nearest = $1 " " $2
				least = far
			}
		}
		END { if (nearest != "") print nearest }' "$3"
}

# compare_figures GPU MEASURED FIGURES: a result for each figure of the file MEASURED, which are all of one
# kernel, and one for those that are missing there. A tenth more or less is no difference.
compare_figures()
{
	local gpu=$1 measured=$2 figures=$3 release compiler name got like by kept

	read -r release compiler _ <"$measured"
	read -r like by < <(nearest_figures "$release" "$compiler" "$figures")
	if [ -z "${like:-}" ]; then
		not_ok "$gpu: there are figures to compare Linux $release by $compiler with" \
			"none of the series are kept; icount.sh -w writes what it measures into icount.figures"
		return
	fi
	[ "$like $by" = "$release $compiler" ] ||
		echo "# $gpu: Linux $release by $compiler is compared with Linux $like by $by, the nearest that is kept"
	while read -r release compiler _ name got; do
		kept=$(awk -v r="$like" -v c="$by" -v g="$gpu" -v n="$name" \
			'$1 == r && $2 == c && $3 == g && $4 == n { print $5 }' "$figures")
		if [ -z "$kept" ]; then
			not_ok "$gpu: $name takes as many instructions as before" "no figure is kept" \
				"to be added to icount.figures: $release $compiler $gpu $name $got"
		elif [ $((10 * got)) -gt $((11 * kept)) ]; then
			not_ok "$gpu: $name takes as many instructions as before" "got:  $got" "want: $kept, or a tenth more" \
				"to be put into icount.figures, if it has to be: $release $compiler $gpu $name $got"
		elif [ $((10 * got)) -lt $((9 * kept)) ]; then
			not_ok "$gpu: $name takes as many instructions as before" "got:  $got" "want: $kept, or a tenth less" \
				"it is better now, to be put into icount.figures: $release $compiler $gpu $name $got"
		else
			ok "$gpu: $name takes $got instructions, $kept before"
		fi
	done <"$measured"
	# What is kept and was not measured is not known to be as before.
	is "$gpu: every figure that is kept was measured" \
		"$(awk -v r="$like" -v c="$by" -v g="$gpu" '
			FNR == NR { seen[$4] = 1; next }
			$1 == r && $2 == c && $3 == g && !($4 in seen) { print $4 }' "$measured" "$figures")" ""
}
