#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# The tarball that make dist writes: it has the same bytes from two clones that differ in all that no commit
# has, it builds and installs where there is no repository and no program of git, and says which commit it is of.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
plan 11

# What is here, committed or not, as a repository of one commit, whatever this one is.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.invalid GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.invalid
export GIT_AUTHOR_DATE='2026-01-02T23:30:00 -0500' GIT_COMMITTER_DATE='2026-01-02T23:30:00 -0500'
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
mkdir "$SCRATCH/one"
if (cd "$top" && find Documentation LICENSES Makefile README clients/frames debian include packaging tools/layout tools/panthor-perf -type f -not -path '*/build/*' -print0 |
	tar -c --null -T - | tar -x -C "$SCRATCH/one" && cd "$SCRATCH/one" && git init -q . && git add -A && git commit -qm one) 2>"$SCRATCH/err"; then
	ok "there is a repository"
else
	not_ok "there is a repository" "$(cat "$SCRATCH/err")"
fi
(umask 077 && git clone -q "$SCRATCH/one" "$SCRATCH/two" && find "$SCRATCH/two" -exec touch -h -d 2025-01-01 {} +)
hash=$(git -C "$SCRATCH/one" rev-parse --short=12 HEAD)
version=$(sed -n 's/^#define PPERF_VERSION "\(.*\)"/\1/p' "$top/tools/panthor-perf/libpanthor-perf/panthor-perf.h")+git20260103.$hash

dist()
{
	mkdir "$SCRATCH/out-$1"
	make -s --no-print-directory -C "$SCRATCH/$1" dist OUT="$SCRATCH/out-$1" 2>"$SCRATCH/err"
}
is "the day is that of Greenwich" "$(dist one)" "$SCRATCH/out-one/panthor-perf-$version.tar.gz"
(umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8 dist two >/dev/null)
cmp "$SCRATCH"/out-*/*.tar.gz >"$SCRATCH/err" 2>&1
is "two clones give the same bytes" "$? $(cat "$SCRATCH/err")" "0 "
echo change >>"$SCRATCH/two/README"
make -s --no-print-directory -C "$SCRATCH/two" dist OUT="$SCRATCH" >"$SCRATCH/err" 2>&1
is "with changes that no commit has there is none" "$? $(grep -c 'commit them' "$SCRATCH/err") $(ls "$SCRATCH"/*.tar.gz 2>/dev/null)" "2 1 "

tree=$SCRATCH/panthor-perf-$version
tar -xf "$SCRATCH"/out-one/*.tar.gz -C "$SCRATCH"
is "all of it is in one directory, of nobody's" "$(tar --numeric-owner -tvf "$SCRATCH"/out-one/*.tar.gz |
	awk -v top="panthor-perf-$version/" '$2 != "0/0" || index($6, top) != 1 || $1 !~ /^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|l)/')" ""
# uPlot has its own text; JSON and recordings have no place for one, and the notebook has it in its first cell.
is "each file names a licence that is there" "$(find "$tree" -type f -not -path '*/LICENSES/*' -not -name VERSION -not -name 'uPlot.*' -not -name '*.json' -not -name '*.ipynb' -not -name '*.data' | while read -r file; do
	licence=$(head -n 3 "$file" | sed -n 's/.*SPDX-License-Identifier: \([A-Za-z0-9.-]*\).*/\1/p')
	[ -n "$licence" ] && [ -e "$tree/LICENSES/$licence" ] || echo "${file#"$tree"/}: $licence"
done)" ""
is "the pages for users are there" "$(cd "$tree/Documentation" && echo *)" "board.rst clients.rst counting.rst sql.rst without-root.rst"
is "recipes have the version" "$(grep -rh '^pkgver=\|^Version: ' "$tree/packaging" | grep -c -F "$version") $(grep -rl '@VERSION@' "$tree/packaging")" \
	"2 $tree/packaging/dist"

if make -s -j2 -C "$tree/tools/panthor-perf" CFLAGS=-O0 DESTDIR="$SCRATCH/root" install >"$SCRATCH/log" 2>&1; then
	ok "it builds and installs"
else
	not_ok "it builds and installs" "$(cat "$SCRATCH/log")"
fi
"$VIRT_DIR/build/deps.sh" libvulkan-dev >/dev/null 2>&1
make -s -C "$tree/clients/frames" CFLAGS=-O0 DESTDIR="$SCRATCH/root" install >"$SCRATCH/log" 2>&1
is "so does what marks frames" "$? $(cat "$SCRATCH/log")$(cd "$SCRATCH/root/usr" && find . -name '*frames*' | sort | tr '\n' ' ')" \
	"0 ./lib/libpanthor-perf-frames.so ./share/man/man7/panthor-perf-frames.7 ./share/vulkan/implicit_layer.d/panthor-perf-frames.json "
is "the program says which commit it is of" "$("$SCRATCH/root/usr/bin/panthor-perf" --version)" "panthor-perf $version"
