#!/bin/bash
# SPDX-License-Identifier: MIT
# releases.sh        list the releases of Debian's arm64 kernels that debian/releases does not have, and for each: which
#                    panthor files differ from the latest listed release, whether our patches apply, and whether the
#                    module compiles. Status 1 if there are any
# releases.sh -a     compile for all listed releases as well; prints TAP

. "$(dirname "$0")/common.sh"

# Another list is for the test of this.
LIST=${RELEASES:-$TOP_DIR/debian/releases}
PANTHOR=drivers/gpu/drm/panthor
WORK=$CACHE/releases

listed()
{
	sed 's/#.*//' "$LIST" | awk 'NF { print $1, $2 }'
}

series_of()
{
	cut -d . -f 1-2 <<<"$1"
}

# applies VERSION: our patches to the panthor that modules of that kernel have, and what makes a module of it,
# in $WORK/VERSION; else $WORK/VERSION.said
applies()
{
	local series src

	mkdir -p "$WORK"
	series=$("$BUILD_DIR/module.sh" series "$1") && src=$("$BUILD_DIR/sources.sh" panthor "$series") || return
	"$BUILD_DIR/module.sh" tree "$series" "$src" "$WORK/$1" >"$WORK/$1.said" 2>&1
}

# compiles VERSION RELEASE: what applies has made
compiles()
{
	local root work=/build/releases-$2 status=0

	root=$("$BUILD_DIR/sources.sh" headers "$2") || return
	rm -rf "${root:?}$work"
	cp -r "$WORK/$1" "$root$work"
	in_root "$root" make -C "/usr/src/linux-headers-$2" M="$work" -j"$JOBS" modules >"$WORK/$1.said" 2>&1 &&
		[ -e "$root$work/panthor.ko" ] && ! grep -q 'warning:' "$WORK/$1.said" || status=1
	rm -rf "${root:?}$work"
	return $status
}

# changed VERSION: against the newest of its series in the list
changed()
{
	local last a b

	last=$(listed | awk -v s="$(series_of "$1")." 'index($1, s) == 1 { v = $1 } END { print v }')
	a=$("$BUILD_DIR/sources.sh" panthor "$last") || return 0
	b=$("$BUILD_DIR/sources.sh" panthor "$1") || return 0
	{ diff -rq "$a/$PANTHOR" "$b/$PANTHOR" || [ $? = 1 ]; } | sed "s|$a/$PANTHOR/*||g; s|$b/$PANTHOR/*||g" |
		sed -n 's/^Files \(.*\) and .*/\1/p; s/^Only in .*: \(.*\)/\1/p' | tr '\n' ' ' |
		sed "s/^/  files of panthor that differ from those of $last: /; s/ *\$/\n/; s/: *\$/: none/"
}

examine()
{
	local version=$1 release=$2

	echo "$release (source $version) is not in debian/releases"
	changed "$version"
	if ! applies "$version"; then
		echo "  the patches do not apply:"
		sed 's/^/    /' "$WORK/$version.said" 2>/dev/null
	elif ! compiles "$version" "$release"; then
		echo "  the patches apply; the module does not compile, or with warnings:"
		grep -E 'error|warning' "$WORK/$version.said" | head -n 20 | sed 's/^/    /'
	else
		echo "  the patches apply and the module compiles: test it with"
		echo "    tools/virt/run -k ${version%%-*} -c stock -- gpu-load"
		echo "  and add to debian/releases:  $version $release"
	fi
}

new_releases()
{
	local version release oldest series new=0

	while read -r version release; do
		series=$(series_of "$version")
		oldest=$(listed | awk -v s="$series." 'index($1, s) == 1 { print $1; exit }')
		! listed | grep -q "^$version " || continue
		# What is older than all that is in the list is nobody's any more.
		[ -n "$oldest" ] && dpkg --compare-versions "$version" gt "$oldest" || continue
		examine "$version" "$release"
		new=1
	done < <("$BUILD_DIR/sources.sh" kernel-releases)
	[ $new = 1 ] || echo "debian/releases has all that Debian has, from the oldest in it on"
	return $new
}

all_listed()
{
	local version release n=0 failed=0

	echo "1..$(listed | wc -l)"
	while read -r version release; do
		n=$((n + 1))
		if applies "$version" && compiles "$version" "$release"; then
			echo "ok $n - $release: the patches apply and the module compiles without a warning"
		else
			failed=1
			echo "not ok $n - $release: the patches apply and the module compiles without a warning"
			tail -n 30 "$WORK/$version.said" | sed 's/^/# /'
		fi
	done < <(listed)
	return $failed
}

lock releases
case ${1:-} in
-a) all_listed ;;
'') new_releases ;;
*) die "usage: releases.sh [-a]" ;;
esac
