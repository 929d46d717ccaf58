#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# panthor-perf and libpanthor-perf on this machine: what is installed, programs built against that by
# pkg-config alone, man pages, completion, and what the commands say where there is no GPU.
set -u
. "$(dirname "$0")/../../virt/tests/lib/tap.sh"
. "$(dirname "$0")/../../virt/tests/lib/locales.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
tool=$top/tools/panthor-perf
tree=$SCRATCH/tree
export PKG_CONFIG_PATH=$tree/lib/pkgconfig

plan $((37 + 1 + 2 * 15))

if make -s -j2 -C "$tool" O="$SCRATCH/build" prefix="$tree" install >"$SCRATCH/log" 2>&1; then
	ok "panthor-perf builds and installs"
else
	not_ok "panthor-perf builds and installs" "$(cat "$SCRATCH/log")"
	exit 1
fi
if headers=$("$VIRT_DIR/build/kernel.sh" headers 2>"$SCRATCH/log") &&
	cc -std=gnu11 -fsyntax-only -I"$tool/libpanthor-perf" -I"$top/include/uapi" -idirafter "$headers" -idirafter "$headers/drm" \
		"$tool/tests/uapi-test.c" >"$SCRATCH/log" 2>&1; then
	ok "its declarations of panthor's interface match the kernel's header"
else
	not_ok "its declarations of panthor's interface match the kernel's header" "$(cat "$SCRATCH/log")"
fi

# ---- The library ----

cat >"$SCRATCH/want" <<END
bin/panthor-perf
bin/panthor-perf-selftest
include/panthor-perf.h
lib/libpanthor-perf.a
lib/libpanthor-perf.so
lib/libpanthor-perf.so.0
lib/pkgconfig/libpanthor-perf.pc
share/bash-completion/completions/panthor-perf
$(for what in events pmus; do printf "share/panthor-perf/streamline/$what-mali-%s.xml\n" g1 g710 g715 g720 g725; done)
END
(cd "$tree" && find . -type f -o -type l | sed 's,^\./,,' | grep -v '^share/man/' | sort) >"$SCRATCH/got"
is "what is installed besides man pages" "$(cat "$SCRATCH/got")" "$(cat "$SCRATCH/want")"
mkdir "$SCRATCH/streamline"
for product in G310 G615 G620 G625 G1-Ultra; do
	"$tree/bin/panthor-perf" streamline -g $product -o "$SCRATCH/streamline" >"$SCRATCH/log" 2>&1 || sed 's/^/# /' "$SCRATCH/log"
done
is "Streamline's files are those that the tool writes" \
	"$(diff -r "$SCRATCH/streamline" "$tree/share/panthor-perf/streamline" 2>&1)" ""
is "the soname" "$(objdump -p "$tree/lib/libpanthor-perf.so" | awk '$1 == "SONAME" { print $2 }')" libpanthor-perf.so.0
is "the version" "$(pkg-config --modversion libpanthor-perf)" \
	"$(sed -n 's/^#define PPERF_VERSION "\(.*\)"/\1/p' "$tree/include/panthor-perf.h")"

# Functions that the header declares; data would be a part of programs' own, with the size that it has today.
sed -n 's/^[a-z].*[ *]\(pperf_[a-z_]*\)(.*/\1/p' \
	"$tree/include/panthor-perf.h" | sort >"$SCRATCH/declared"
# The version of the symbols is one itself.
nm -D --defined-only "$tree/lib/libpanthor-perf.so" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$SCRATCH/exported"
is "the shared library has what the header declares, and no more" "$(diff "$SCRATCH/declared" "$SCRATCH/exported")" ""
[ "$(wc -l <"$SCRATCH/declared")" -gt 70 ] && ok "which is much" || not_ok "which is much" "$(cat "$SCRATCH/declared")"
is "names of the static library are its own" \
	"$(nm --defined-only "$tree/lib/libpanthor-perf.a" 2>/dev/null | awk '$2 ~ /[A-Z]/ && $3 !~ /^pperf_/ { print $3 }')" ""
missing=
while read -r name; do
	grep -q "$name\$\| $name " "$tree/share/man/man3/libpanthor-perf.3" || missing+=" $name"
done <"$SCRATCH/declared"
is "its page names all of it" "$missing" ""

# The example of the page, as C, in all ways of linking; it is the one that the VM runs.
sed -n '/^\.Bd -literal/,/^\.Ed/p' "$tree/share/man/man3/libpanthor-perf.3" | sed '1d; $d; s/\\e/\\/g' >"$SCRATCH/example.c"
is "the example of the page is the one in examples/" \
	"$(diff "$SCRATCH/example.c" <(tail -n +3 "$tool/examples/count.c"))" ""

# builds NAME COMMAND...: and runs, where there is no GPU
builds()
{
	local name=$1

	shift
	if "$@" >"$SCRATCH/log" 2>&1; then
		ok "$name builds"
	else
		not_ok "$name builds" "$(cat "$SCRATCH/log")"
	fi
}

# shellcheck disable=SC2046
{
	builds "the example" cc -Wall -Wextra -Werror -std=c99 -o "$SCRATCH/example" "$SCRATCH/example.c" \
		$(pkg-config --cflags --libs libpanthor-perf)
	builds "the example, statically" cc -Wall -Wextra -Werror -std=c99 -o "$SCRATCH/example-static" "$SCRATCH/example.c" \
		$(pkg-config --cflags libpanthor-perf) -Wl,-Bstatic $(pkg-config --libs libpanthor-perf) -Wl,-Bdynamic \
		$(pkg-config --libs libdrm) -lm
	builds "the example, as C++" c++ -Wall -Werror -x c++ -o "$SCRATCH/example-c++" "$SCRATCH/example.c" \
		$(pkg-config --cflags --libs libpanthor-perf)
	builds "a C++ program" c++ -Wall -Wextra -Werror -std=c++11 -o "$SCRATCH/layouts" "$tool/examples/layouts.cpp" \
		$(pkg-config --cflags --libs libpanthor-perf)
}
is "the C++ program runs" "$(LD_LIBRARY_PATH=$tree/lib "$SCRATCH/layouts" | grep -c '^Mali.G[0-9]*: .*MaliTexIssueCy')" 5
ldd "$SCRATCH/example-static" | grep -q panthor-perf
is "the static one needs no shared library of ours" $? 1

# ---- The tool, where there is no GPU of panthor's ----

export PATH=$tree/bin:$PATH
if panthor-perf info >/dev/null 2>&1; then
	for what in "says that there is no GPU" "with a status" "names kbase" "and so does the example"; do
		ok "the tool $what # SKIP this machine has one"
	done
else
	panthor-perf stat -- touch "$SCRATCH/ran" >"$SCRATCH/out" 2>&1
	is "the tool says that there is no GPU" "$? $(grep -c '^panthor-perf: No Mali GPU driven by panthor found. Check `lsmod | grep panthor`, or run `panthor-perf doctor`.$' "$SCRATCH/out")" "3 1"
	unshare -m sh -c 'mount -t tmpfs none /dev && : >/dev/mali0 && panthor-perf info' 2>"$SCRATCH/err"
	is "and names the driver that the GPU has instead" "$? $(grep -c '/dev/mali0 belongs to Arm.s own driver' "$SCRATCH/err")" "3 1"
	[ ! -e "$SCRATCH/ran" ] && ok "and does not run the program" || not_ok "and does not run the program"
	LD_LIBRARY_PATH=$tree/lib "$SCRATCH/example" 2>"$SCRATCH/err"
	is "and so does the example" "$? $(grep -c '^No Mali GPU driven by panthor found' "$SCRATCH/err")" "1 1"
fi
panthor-perf info -d /no/such/node 2>"$SCRATCH/err"
is "a node that is not there" "$? $(cat "$SCRATCH/err")" "3 panthor-perf: /no/such/node: No such file or directory"
panthor-perf >"$SCRATCH/out" 2>"$SCRATCH/err"
is "without a command, there are those it has" "$? $(grep -c '^  \(info\|list\|stat\) ' "$SCRATCH/err")" "2 3"
panthor-perf nothing 2>"$SCRATCH/err"
is "a command that is not there" "$? $(cat "$SCRATCH/err")" \
	'2 panthor-perf: unknown command "nothing". Run panthor-perf help to list all commands.'
wrong=
for command in $(panthor-perf 2>&1 | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
	case $command in
	mark|report|convert|diff) ;; # They use a file or a socket, and no GPU.
	selftest) ;; # Its tests find the GPU.
	*) panthor-perf "$command" --help | grep -q -- '--device=NODE' || wrong+=" $command:-d" ;;
	esac
	[ -e "$tree/share/man/man1/panthor-perf-$command.1" ] || wrong+=" $command:page"
	panthor-perf "$command" --no-such-option >/dev/null 2>&1
	[ $? -eq 2 ] || wrong+=" $command:status"
done
is "each command of a GPU has -d, each a page, and a status for wrong arguments" "$wrong" ""
panthor-perf list -g G999 2>"$SCRATCH/err"
is "a product that is not known" "$?" 2
[ ! -e /dev/full ] || panthor-perf list -g G610 >/dev/full 2>"$SCRATCH/err"
is "a full disk" "$? $(cat "$SCRATCH/err")" "8 panthor-perf: cannot write standard output: No space left on device"

# ---- Man pages ----

for page in "$tree"/share/man/man*/*; do
	# Other pages are not installed here.
	mandoc -T lint "$page" 2>/dev/null | grep -v 'referenced manual not found'
done >"$SCRATCH/lint"
is "mandoc finds nothing in the pages" "$(cat "$SCRATCH/lint")" ""

# ---- Completion ----

# completes WORD...: what the last of the words of a command line can become
completes()
{
	bash -c '
		. "$1"
		shift
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_panthor_perf
		printf "%s\n" "${COMPREPLY[@]}"' bash "$tree/share/bash-completion/completions/panthor-perf" "$@"
}
is "commands complete" "$(completes panthor-perf sta)" stat
is "options do" "$(completes panthor-perf stat --top)" --topdown
is "products do" "$(completes panthor-perf list -g G61 | tr '\n' ' ')" "G610 G615 "
is "in any case" "$(completes panthor-perf list --gpu = g1 | tr '\n' ' ')" "g1-pro g1-premium g1-ultra "
mkdir "$SCRATCH/here"
is "and files" "$(completes panthor-perf stat -o "$SCRATCH/her")" "$SCRATCH/here"
is "which report reads" "$(completes panthor-perf report "$SCRATCH/her")" "$SCRATCH/here"
is "and runs no program" "$(completes panthor-perf report basenam)" ""

# ---- ASan and UBSan ----

# sanitized TARGET: 1 result
sanitized()
{
	if make -s -j2 -C "$tool" O="$SCRATCH/sanitized" \
		CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined" \
		"$SCRATCH/sanitized/$1" >"$SCRATCH/log" 2>&1; then
		ok "$1 builds with sanitizers"
	else
		not_ok "$1 builds with sanitizers" "$(cat "$SCRATCH/log")"
	fi
}

# A kernel that is not there, and does what a real one hardly ever does.
sanitized session-test
make_locales
for locale in C de_DE.UTF-8; do
	run_tests 13 "sessions in $locale" in_locale "$locale" "$SCRATCH/sanitized/session-test"
done

sanitized panthor-perf
for arguments in "list -g G610" "list -g G1-Ultra -x ;" "list -g none" "info" "stat -e a,b -- true" "stat -p 5" \
	"" "none"; do
	# shellcheck disable=SC2086
	"$SCRATCH/sanitized/panthor-perf" $arguments 2>&1 >/dev/null | grep -A20 'Sanitizer\|runtime error'
done >"$SCRATCH/said"
is "and they find nothing" "$(cat "$SCRATCH/said")" ""
