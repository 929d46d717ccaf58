#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# long: none
# The packages as a builder of Debian's makes them, and autopkgtest tries them: in a small trixie of this machine's
# architecture that has nothing but what debian/control names, out of a clean clone, without a network; what
# lintian says of the source. The driver's package is that of deb.sh.
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
root=$SCRATCH/root
if [ "$(id -u)" != 0 ]; then
	echo "1..0 # SKIP it takes root, who makes a system to change into"
	exit
fi
plan 7

# The mirror is that of the kernels, which are of trixie.
sources=$("$VIRT_DIR/build/sources.sh" newest-kernels >/dev/null 2>"$SCRATCH/err" && . "$VIRT_DIR/build/common.sh" &&
	sed 's/\[.*\] //' "$CACHE/apt-kernel/sources.list" | grep -v backports)
if mmdebstrap --variant=apt --include=autopkgtest,build-essential,git,jq,lintian trixie "$root" - <<<"$sources" 2>"$SCRATCH/err"; then
	ok "there is a trixie"
else
	not_ok "there is a trixie" "$(tail -n 20 "$SCRATCH/err")"
	exit 1
fi

# What is here, committed or not, as one commit.
mkdir -p "$root/build"
(cd "$top" && find LICENSES Makefile README clients/frames debian include packaging tools/layout tools/panthor-perf -type f -not -path '*/build/*' -print0 |
	tar -c --null -T - | tar -x -C "$SCRATCH" --one-top-level=one)
in_root()
{
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 HOME=/nonexistent chroot "$root" sh -c "cd /build/panthor-perf && $1" \
		>"$SCRATCH/said" 2>&1
}
(cd "$SCRATCH/one" && git init -q . && git add -A && git -c user.name=a -c user.email=a@b.invalid commit -qm one && git clone -q . "$root/build/panthor-perf")
version=$("$root/build/panthor-perf/packaging/version")

in_root "apt-get -q update && apt-get -q -y --no-install-recommends build-dep -P pkg.panthor-perf.nodkms ./"
is "debian/control names what apt has: status" $? 0
in_root "unshare --net dpkg-buildpackage -us -uc -Ppkg.panthor-perf.nodkms"
is "dpkg-buildpackage, by all that debian/control names: status" $? 0
[ -e "$root/build/panthor-perf_${version}_$(dpkg --print-architecture).deb" ] ||
	tail -n 40 "$SCRATCH/said" | sed 's/^/# /'
is "all packages but the driver's" "$(cd "$root/build" && find . -name '*.deb' -not -name '*-dbgsym_*' | sed 's/_[a-z0-9]*\.deb//' | sort)" \
	"$(for package in libpanthor-perf-dev libpanthor-perf0 panthor-perf panthor-perf-frames python3-panthor-perf; do echo "./${package}_$version"; done)"
is "the clone is as it was after debian/rules clean" \
	"$(in_root "debian/rules clean"; git -C "$root/build/panthor-perf" -c safe.directory='*' status --porcelain --ignored)" ""
in_root "autopkgtest -q ../*.deb . -- null"
is "autopkgtest passes" "$? $(sed -n 's/^\([a-z]*\)  *\(PASS\|FAIL\|SKIP\).*/\1 \2/p' "$SCRATCH/said" | tr '\n' ' ')" \
	"0 tool PASS library PASS python PASS "
grep -q '^python .*PASS' "$SCRATCH/said" || tail -n 40 "$SCRATCH/said" | sed 's/^/# /'
in_root "lintian --allow-root --fail-on error,warning ../*.changes"
is "lintian has no more to say" "$? $(grep '^[EW]:' "$SCRATCH/said")" "0 "
