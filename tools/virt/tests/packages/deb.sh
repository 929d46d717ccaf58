#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# long: none
# The packages for Debian: what is in them, what they depend on, and that lintian is silent; and what
# debian/releases lists, and does not; and that another clone makes the same bytes. It takes sources of many kernels.
set -u
. "$(dirname "$0")/../lib/tap.sh"

build=$VIRT_DIR/build
debian=$VIRT_DIR/../../debian
plan 50

if ! "$build/deb.sh" "$SCRATCH/deb" >"$SCRATCH/said" 2>"$SCRATCH/err"; then
	not_ok "the packages are built" "$(tail -n 30 "$SCRATCH/err")"
	exit 1
fi
ok "the packages are built"
tool=$(ls "$SCRATCH"/deb/panthor-perf_*_arm64.deb)
dkms=$(ls "$SCRATCH"/deb/panthor-perf-dkms_*_all.deb)
library=$(ls "$SCRATCH"/deb/libpanthor-perf0_*_arm64.deb)
development=$(ls "$SCRATCH"/deb/libpanthor-perf-dev_*_arm64.deb)
python=$(ls "$SCRATCH"/deb/python3-panthor-perf_*_all.deb)
frames=$(ls "$SCRATCH"/deb/panthor-perf-frames_*_arm64.deb)
selftests=$(ls "$SCRATCH"/deb/panthor-perf-selftests_*_arm64.deb)
is "there are seven" "$(ls "$SCRATCH/deb" | wc -l)" 7
version=$("$debian/../packaging/version")
is "all have the version with day and commit" "$(for deb in "$SCRATCH"/deb/*; do dpkg-deb -f "$deb" Version; done | sort -u)" "$version"

has()
{
	if grep -qE -- "$3" <<<"$2"; then
		ok "$1"
	else
		not_ok "$1" "no line matches: $3" "$2"
	fi
}

has "the tool depends on libraries by their packages" "$(dpkg-deb -f "$tool" Depends)" 'libc6 \(>= .*libdrm2 \(>= .*libjson-c5'
for file in usr/bin/panthor-perf usr/share/man/man1/panthor-perf.1.gz usr/share/bash-completion/completions/panthor-perf \
	usr/lib/systemd/system/panthor-perf-export.service usr/share/panthor-perf/streamline/events-mali-g1.xml \
	usr/share/panthor-perf/streamline/pmus-mali-g710.xml; do
	has "it has $file" "$(dpkg-deb -c "$tool")" " \./$file"
done
has "it has the script that runs selftests" "$(dpkg-deb -c "$tool")" " \./usr/bin/panthor-perf-selftest$"
dpkg-deb -x "$selftests" "$SCRATCH/selftests"
is "the selftests have all programs of the kernel's but one, and the load" \
	"$(cd "$SCRATCH/selftests/usr/libexec/panthor-perf-selftests" && ls | tr '\n' ' ')" \
	"gpu-load $(cd "$debian/../tools/testing/selftests/drivers/gpu/panthor" && ls perf_*.c | grep -v fail_nth | sed 's/\.c$//' | tr '\n' ' ')"
is "which are static, for arm64" "$(for program in "$SCRATCH"/selftests/usr/libexec/panthor-perf-selftests/*; do
	readelf -hl "$program" | grep -E 'Machine:|INTERP' | tr -s ' '
done | sort -u)" " Machine: AArch64"
for file in usr/lib/aarch64-linux-gnu/libpanthor-perf-frames.so usr/share/vulkan/implicit_layer.d/panthor-perf-frames.json \
	usr/share/man/man7/panthor-perf-frames.7.gz; do
	has "what marks frames has $file" "$(dpkg-deb -c "$frames")" " \./$file$"
done
dpkg-deb -x "$frames" "$SCRATCH/frames"
has "the layer's library is one that the linker finds" "$(cat "$SCRATCH"/frames/usr/share/vulkan/implicit_layer.d/*.json)" \
	'"library_path": "libpanthor-perf-frames\.so"'
has "the library has its file" "$(dpkg-deb -c "$library")" " \./usr/lib/aarch64-linux-gnu/libpanthor-perf\.so\.0$"
has "programs depend on it by the versions of its symbols" "$(dpkg-deb --ctrl-tarfile "$library" | tar -xO ./symbols)" \
	"^ pperf_gpu_open@PPERF_0\.3 0\.3$"
for file in usr/include/panthor-perf.h usr/lib/aarch64-linux-gnu/libpanthor-perf.so usr/lib/aarch64-linux-gnu/pkgconfig/libpanthor-perf.pc \
	usr/share/man/man3/libpanthor-perf.3.gz; do
	has "what programs are built with has $file" "$(dpkg-deb -c "$development")" " \./$file"
done
has "of the same version" "$(dpkg-deb -f "$development" Depends)" "libpanthor-perf0 \(= ${version//+/\\+}\)"
has "Python finds its module" "$(dpkg-deb -c "$python")" " \./usr/lib/python3/dist-packages/panthor_perf/_recording\.py$"
has "with its types" "$(dpkg-deb -c "$python")" " \./usr/lib/python3/dist-packages/panthor_perf/py\.typed$"
has "numpy and pandas are suggestions" "$(dpkg-deb -f "$python" Suggests)" "^python3-numpy, python3-pandas$"
has "and the library" "$(dpkg-deb -f "$python" Depends)" "libpanthor-perf0 \(>= 0\.3\)"
dpkg-deb -x "$tool" "$SCRATCH/tool"
# Those that doctor names, and those that they name.
is "it has the pages for users" "$(cd "$SCRATCH/tool/usr/share/doc/panthor-perf" && echo *.rst*)" \
	"board.rst.gz clients.rst.gz counting.rst.gz sql.rst.gz without-root.rst"
unit=$SCRATCH/tool/usr/lib/systemd/system/panthor-perf-export.service
is "its service starts its program" "$(sed -n 's/^ExecStart=\([^ ]*\) \([a-z]*\).*/\1 \2/p' "$unit")" "/usr/bin/panthor-perf export"
is "and systemd knows each of its words" "$(systemd-analyze verify --man=no --root="$SCRATCH/tool" "$unit" 2>&1 |
	grep -E 'service:[0-9]+:|command not found')" ""
is "its udev rule changes nothing" "$(cat "$SCRATCH"/tool/usr/lib/udev/rules.d/*.rules | grep -cv '^#')" 0
is "its example for modprobe opens counters" "$(grep -v '^#' "$SCRATCH/tool/usr/share/doc/panthor-perf/examples/panthor-perf.conf")" \
	"options panthor perf_paranoid=0"
dpkg-deb -x "$dkms" "$SCRATCH/dkms"
listed=$(sed 's/#.*//' "$debian/releases" | awk 'NF { print $1 }')
cd "$SCRATCH"/dkms/usr/src/panthor-perf-* || exit
is "the driver's package has a source of the newest of each series that we have patches for" \
	"$(for tree in [0-9]*; do [ ! -e "$tree/panthor_perf.c" ] || echo "$tree"; done)" \
	"$(for series in 6.12 7.3; do grep "^$series\." <<<"$listed" | sort -V | tail -n 1 | cut -d - -f 1; done)"
is "and says which kernels each is for" "$(cat served)" \
	"$(for tree in [0-9]*; do [[ $tree = 6.12.* ]] && echo "6.12 6.12 $tree" || echo "6.18 7.3 $tree"; done)"
cd "$OLDPWD" || exit
is "lintian has nothing to say" "$("$build/deb.sh" lintian 2>&1)" ""

# Another clone, of another time and with other rights.
commit=$(git -C "$debian" rev-parse HEAD 2>/dev/null)
if [ -z "$commit" ] || [[ $version = *.changed ]]; then
	ok "another clone makes the same bytes # SKIP there are changes that no commit has"
else
	(umask 077 && git clone -q --shared "$debian/.." "$SCRATCH/clone" && git -C "$SCRATCH/clone" checkout -q "$commit" &&
		find "$SCRATCH/clone" -exec touch -h -d '2025-01-01' {} +) 2>"$SCRATCH/err"
	(umask 077; DEB_SALT=again "$SCRATCH/clone/tools/virt/build/deb.sh" "$SCRATCH/again") >"$SCRATCH/said" 2>>"$SCRATCH/err"
	is "another clone makes the same bytes" "$(diff -rq "$SCRATCH/deb" "$SCRATCH/again" 2>&1)$(
		[ "$(ls "$SCRATCH/again" 2>/dev/null | wc -l)" = 7 ] || tail -n 20 "$SCRATCH/err")" ""
fi

# dkms RELEASE [COMMAND]: $said is what DKMS says
dkms()
{
	said=$("$build/deb.sh" dkms "$@" 2>/dev/null)
}

# The oldest that is listed, one that is not, other flavours.
for release in 6.12.107+deb13-arm64 7.2.11+deb13-arm64 7.2.12+deb13-arm64-16k 7.3.4+deb13-rt-arm64; do
	dkms "$release"
	has "DKMS builds the module for $release" "$said" "^panthor-perf/.*, ${release//+/\\+}, aarch64: built"
	has "and says whose it is" "$said" "^panthor-perf: panthor of Linux ${release//+/\\+} is replaced by that of Linux "
done
# shellcheck disable=SC2016
dkms 7.3.4+deb13-arm64 'echo "#error nothing compiles" >>$(ls -d /usr/src/linux-headers-*-common)/include/drm/drm_gem.h'
has "a kernel for which it does not compile is skipped" "$said" '^status 77$'
has "and DKMS says why" "$said" '^panthor-perf: Linux 7\.3\.4\+deb13-arm64 keeps its own panthor, .* \(.*#error nothing compiles\)'
dkms 7.3.4+deb13-cloud-arm64
has "so is one without panthor" "$said" '^panthor-perf: Linux 7\.3\.4\+deb13-cloud-arm64 keeps its own panthor, .* built without one'

# A release that is not in the list is told, with what it takes.
sed '/^6\.12\.116-/q' "$debian/releases" >"$SCRATCH/releases"
said=$(RELEASES=$SCRATCH/releases "$build/releases.sh" 2>/dev/null)
is "a release that is not listed is told: status" $? 1
has "with what has changed, and that it compiles" "$(tr '\n' ' ' <<<"$said")" \
	'^6\.12\.117\+deb13-arm64 .*files of panthor that differ from those of 6\.12\.116-1: panthor_.*the patches apply and the module compiles'
