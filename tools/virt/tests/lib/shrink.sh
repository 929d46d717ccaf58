# SPDX-License-Identifier: MIT
# Makes a failure small.

# shrink CHECK LENGTH STEP ITEM...: CHECK LENGTH ITEM... succeeds if it still fails with these items
# and this length. Leaves the fewest items in SHRUNK_ITEMS: without any one of them it fails no more.
# Then it leaves the shortest length of SHRUNK_LENGTH, but for STEP.
shrink()
{
	local check=$1 length=$2 step=$3 chunks=2 size i short=0 middle reduced rest

	shift 3
	SHRUNK_ITEMS=("$@")
	# Without halves first, then without smaller parts, in the end without one.
	while [ ${#SHRUNK_ITEMS[@]} -gt 1 ]; do
		size=$(((${#SHRUNK_ITEMS[@]} + chunks - 1) / chunks))
		reduced=false
		for ((i = 0; i < ${#SHRUNK_ITEMS[@]}; i += size)); do
			rest=("${SHRUNK_ITEMS[@]:0:i}" "${SHRUNK_ITEMS[@]:i+size}")
			[ ${#rest[@]} -gt 0 ] && "$check" "$length" "${rest[@]}" || continue
			SHRUNK_ITEMS=("${rest[@]}")
			reduced=true
			break
		done
		if $reduced; then
			[ $chunks -le 2 ] || chunks=$((chunks - 1))
		elif [ $size -eq 1 ]; then
			break
		else
			chunks=$((2 * chunks < ${#SHRUNK_ITEMS[@]} ? 2 * chunks : ${#SHRUNK_ITEMS[@]}))
		fi
	done
	while [ $((length - short)) -gt "$step" ]; do
		middle=$(((length + short) / 2))
		if "$check" $middle "${SHRUNK_ITEMS[@]}"; then
			length=$middle
		else
			short=$middle
		fi
	done
	SHRUNK_LENGTH=$length
}
