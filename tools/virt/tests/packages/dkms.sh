#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# The packages of `make deb` in a Debian system of their own, on a disk: apt installs them, DKMS tries in vain to
# build the module there, for a kernel that has a mistake, and then does; it loads and counts; then Debian's kernel
# is updated, from the oldest release of debian/releases that the mirror has to the newest that it has, listed or
# not, or, if it has only one, installed again; in the end the packages are purged, and the kernel, and its initrd,
# have its own panthor back.
#
# On a machine that does nothing else it takes less than 40 minutes for a kernel, most of which are the
# compiler's in the virtual machine.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/ledger.sh"

BUILD=$VIRT_DIR/build
# The compiler takes as many as there are; run gives 8 at most.
PROCESSORS=$("$BUILD/processors.sh" | awk '{ print $1 < 8 ? $1 : 8 }')

# listed: "VERSION RELEASE" of this series in debian/releases
listed()
{
	sed 's/#.*//' "$VIRT_DIR/../../debian/releases" | awk -v series="$KERNEL." 'index($2, series) == 1 { print $1, $2 }'
}

# prepare: sets PACKAGES, the directory of our packages, MODULE, their version, OLD and NEW, releases of
# the kernel, and DISK; fails with what went wrong on standard error
prepare()
{
	local available version release suite=() releases=() needs

	PACKAGES=$SCRATCH/packages
	"$BUILD/deb.sh" "$SCRATCH/all" >/dev/null || return
	# The others are for programs that count by themselves.
	mkdir "$PACKAGES"
	cp "$SCRATCH/all"/{panthor-perf,panthor-perf-dkms}_*.deb "$PACKAGES/"
	MODULE=$(dpkg-deb -f "$PACKAGES"/panthor-perf-dkms_*.deb Version)
	available=$("$BUILD/sources.sh" kernel-releases) || return
	while read -r version release; do
		if ! grep -qxF "$version $release" <<<"$available"; then
			echo "# left out: $release, which Debian's mirror has no more"
			continue
		fi
		releases+=("$release")
		# What a backported kernel needs is there where it comes from.
		[[ $version != *~bpo* ]] || suite=(-t trixie-backports)
	done < <(listed)
	[ ${#releases[@]} -gt 0 ] || {
		echo "Debian's mirror has no kernel of debian/releases with $KERNEL" >&2
		return 1
	}
	OLD=${releases[0]}
	NEW=$(awk -v series="$KERNEL." 'index($2, series) == 1 { print $2 }' <<<"$available" | tail -n 1)
	if [ "$OLD" = "$NEW" ]; then
		echo "# $OLD, which is installed twice"
	else
		echo "# from $OLD to $NEW"
	fi
	# Our packages come later; what they depend on has to be on the disk.
	mapfile -t needs < <(for p in "$PACKAGES"/*.deb; do dpkg-deb -f "$p" Depends; done |
		tr ',' '\n' | sed 's/([^)]*)//; s/|.*//; s/ //g; s/$/:arm64/' | sort -u)
	releases=("$OLD")
	[ "$NEW" = "$OLD" ] || releases+=("$NEW")
	DISK=$SCRATCH/disk
	cp --sparse=always "$("$BUILD/disk.sh" "${suite[@]}" "${releases[@]}" -- "${needs[@]}")" "$DISK"
}

# boot PART RELEASE RESULTS: the part of guest/dkms.sh on the disk, on that kernel
boot()
{
	local part=$1 release=$2 results=$3

	rm -f "$SCRATCH"/{ledger,info,list,stat}
	KERNEL=${release%%+*} CONFIG=debian guest_script "$results" dkms --disk "$DISK" -p noload=1 -m 2048 -t 0 \
		-s "$PROCESSORS" \
		-f "$PACKAGES:/root/packages" -l "$SCRATCH/ledger" -o "info:$SCRATCH/info" -o "list:$SCRATCH/list" \
		-o "stat:$SCRATCH/stat" -- "$part" "$MODULE" "$OLD" "$NEW"
}

# counted NAME: 1 result. What stat says of each counter is what the ledger has of it.
counted()
{
	ledger_by_name 1 4294967295 | awk '{ sum[$1] += $3 } END { for (n in sum) if (sum[n]) print n, sum[n] }' |
		sort >"$SCRATCH/want"
	awk -F';' 'FNR == NR { counter[$1] = $2 != "derived"; next }
		counter[$3] && $1 != 0 { print $3, $1 }' "$SCRATCH/list" "$SCRATCH/stat" | sort >"$SCRATCH/got"
	# Work of all kinds moves more counters than these.
	if [ "$(wc -l <"$SCRATCH/want")" -gt 50 ] && cmp -s "$SCRATCH/got" "$SCRATCH/want"; then
		ok "$1"
	else
		not_ok "$1" "$(wc -l <"$SCRATCH/want") counters moved" "$(diff "$SCRATCH/got" "$SCRATCH/want" | head -n 20)"
	fi
}

build_ledger_sums
if prepare 2>"$SCRATCH/err"; then
	# Each kernel has a result of its own at the end.
	kernels=$(printf '%s\n' "$OLD" "$NEW" | uniq | wc -l)
	plan $((1 + 26 + 2 + 17 + kernels + 2))
	ok "packages, and a disk with a Debian system"
else
	plan 1
	not_ok "packages, and a disk with a Debian system" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
boot first "$OLD" 26
counted "on $OLD counts are the ledger's"
boot second "$NEW" $((17 + kernels))
counted "on $NEW counts are the ledger's"
