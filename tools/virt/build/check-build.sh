#!/bin/bash
# SPDX-License-Identifier: MIT
# check-build.sh [-k VERSION] [-l] [-o] [CHECK...]
#
# Compile panthor's objects (no whole kernel) in configurations that no VM runs, and run the kernel's checkers on our
# files. Any compiler or checker message is a failure, unless the checker prints it for Debian's source, too. Prints
# TAP, then "N passed, N failed".
#
#   -k VERSION  check only this kernel
#   -l          list the checks
#   -o          compile only our objects, not all of panthor: any message is a failure
#   CHECK       run only these: a name, or a shell pattern ('* clang *')
#
# A check that passed runs again only when its inputs change.

. "$(dirname "$0")/common.sh"

# NAME COMPILER ARCHITECTURE CONFIG...: CONFIG is one of configs/check-CONFIG.config.
COMPILE="
gcc arm64 module
gcc arm64 builtin
gcc arm64 noperf
gcc arm64 nopmu
gcc arm64 nopm
gcc arm64 nodebugfs
gcc arm64 noperfevents
gcc arm module
gcc arm builtin
gcc arm bare
gcc x86_64 module
gcc x86_64 builtin
clang arm64 module
clang arm64 builtin
clang arm module
clang arm builtin
clang x86_64 module
clang x86_64 builtin
"
CLANG=19
EXTRA_PACKAGES="clang-$CLANG lld-$CLANG llvm-$CLANG g++ gcc-arm-linux-gnueabihf sparse git
	coccinelle ocaml libparmap-ocaml python3-sphinx python3-yaml"
# The series that maintainers get: how each of its steps is compiled, and besides how the last one is.
SERIES_STEP="gcc arm64 module
gcc arm64 builtin"
SERIES_LAST="gcc arm64 noperf
gcc arm64 nopmu
gcc arm64 nopm
gcc arm64 noperfevents
gcc arm module
gcc x86_64 module
clang arm64 module
clang arm64 builtin"

# Calls of functions that a kernel does not have: 64-bit division, floating point, wide atomics.
NOT_IN_KERNEL='__(u|)(div|mod|divmod)[dt]i[34]|__aeabi_u?ldivmod|__aeabi_[dfil]+2[dfil]+|__aeabi_[df](add|sub|mul|div|cmp.*)|__(add|sub|mul|div|float.*|fix.*)[sd]f.*|__multi3|__(atomic|sync)_.*'

CHECK_DIR=$CACHE/check
PANTHOR=drivers/gpu/drm/panthor

OURS=
# What a build directory is called besides: another tree of the same kernel has its own.
BUILD_OF=
COUNT=0
PASSED=0
FAILED=0
ONLY_KERNEL=
LIST=
PATTERNS=()

# wanted NAME: whether this check was asked for; counts it.
wanted()
{
	local p

	if [ ${#PATTERNS[@]} -gt 0 ]; then
		for p in "${PATTERNS[@]}"; do
			# shellcheck disable=SC2053
			[[ $1 != $p ]] || break
			p=
		done
		[ -n "$p" ] || return 1
	fi
	if [ -n "$LIST" ]; then
		echo "$1"
		return 1
	fi
	NAME=$1
}

passed()
{
	COUNT=$((COUNT + 1))
	PASSED=$((PASSED + 1))
	echo "ok $COUNT - $NAME"
}

# failed FILE: with what the file says.
failed()
{
	local lines

	COUNT=$((COUNT + 1))
	FAILED=$((FAILED + 1))
	echo "not ok $COUNT - $NAME"
	head -n 50 "$1" | sed 's/^/# /'
	lines=$(wc -l <"$1")
	[ "$lines" -le 50 ] || echo "# ... and more, all of it is in $1"
}

# judge FILE: a check passes that has nothing to say.
judge()
{
	if [ -s "$1" ]; then
		failed "$1"
	else
		passed
	fi
}

# A check's key is what it depends on; the keys of those that passed are kept.
is_done()
{
	[ -e "$CHECK_DIR/passed/$(hash_text "$NAME" "$1")" ]
}

set_done()
{
	mkdir -p "$CHECK_DIR/passed"
	touch "$CHECK_DIR/passed/$(hash_text "$NAME" "$1")"
	find "$CHECK_DIR/passed" -type f -mtime +30 -delete
}

# What the objects of a tree depend on, but for their configuration and compiler.
tree_key()
{
	local src=$1 tree=$2 file

	source_id "$src"
	cd "$tree"
	sort -u .overlay | while read -r file; do
		[ -z "$file" ] || echo "$file $(sha256sum <"$file")"
	done
}

# Sets ARGS, the arguments of make.
toolchain()
{
	local compiler=$1 arch=$2

	case $arch in
	arm64) TRIPLE=aarch64-linux-gnu- ;;
	arm) TRIPLE=arm-linux-gnueabihf- ;;
	x86_64) TRIPLE=x86_64-linux-gnu- ;;
	esac
	ARGS=(ARCH="$arch")
	if [ "$compiler" = clang ]; then
		# The host's programs are nobody's concern here: with gcc, as in all other builds.
		ARGS+=(LLVM="-$CLANG" HOSTCC=gcc HOSTCXX=g++ HOSTLD=ld HOSTAR=ar)
		CC=clang-$CLANG
		NM=llvm-nm-$CLANG
	else
		ARGS+=(CROSS_COMPILE="$TRIPLE")
		CC=${TRIPLE}gcc
		NM=${TRIPLE}nm
	fi
}

# has_option TREE OPTION: a tree of ours, or a step of the series that has come that far.
has_option()
{
	grep -qs "^config DRM_PANTHOR_$2\$" "$1/$PANTHOR"/Kconfig*
}

# fragments TREE ARCH CONFIG: the lines to configure with; of those that contradict, the last.
fragments()
{
	local tree=$1 arch=$2 config=$3 name files=()

	for name in check "check-$arch" check-perf check-pmu "check-$config" "check-$config-perf"; do
		case $name in
		*-perf) has_option "$tree" PERF || continue ;;
		check-pmu) has_option "$tree" PERF_PMU || continue ;;
		esac
		[ ! -e "$BUILD_DIR/configs/$name.config" ] || files+=("$BUILD_DIR/configs/$name.config")
	done
	awk '/^CONFIG_/ { split($0, part, "="); line[part[1]] = $0 }
		/^# CONFIG_.* is not set$/ { line[$2] = $0 }
		END { for (name in line) print line[name] }' "${files[@]}" | sort
}

# seed OUT PREFIX
# A configuration of the same kernel, compiler and architecture has built the host's programs and most
# of the headers already; make sees what differs.
seed()
{
	local out=$1 other

	[ ! -e "$out" ] || return 0
	for other in "$CHECK_DIR/build/$2"-*/fragments.key; do
		cp -a "$(dirname "$other")" "$out"
		return
	done
}

# configure TREE OUT FRAGMENTS: anew, if something has changed, and insists on every line.
configure()
{
	local tree=$1 out=$2 lines=$3 key line lost=

	key=$(hash_text "$lines" "${ARGS[*]}" "$($CC --version)" \
		"$(find "$tree/$PANTHOR" -name 'Kconfig*' -exec cat {} +)")
	if [ "$(cat "$out/fragments.key" 2>/dev/null)" = "$key" ]; then
		return
	fi
	mkdir -p "$out"
	# What is left of another configuration must not pass for a result of this one.
	rm -rf "$out/fragments.key" "${out:?}/$PANTHOR"
	printf '%s\n' "$lines" >"$out/fragments"
	kernel_make "$tree" "$out" KCONFIG_ALLCONFIG="$out/fragments" allnoconfig || return 1
	while read -r line; do
		case $line in
		CONFIG_*) grep -qxF "$line" "$out/.config" || lost="$lost $line" ;;
		*)
			line=${line#\# }
			! grep -q "^${line% is not set}=" "$out/.config" || lost="$lost ${line% is not set}=n"
			;;
		esac
	done <"$out/fragments"
	if [ -n "$lost" ]; then
		echo "The kernel does not take these lines of the configuration:$lost"
		return 1
	fi
	# What is said on the way to panthor is not ours.
	kernel_make "$tree" "$out" W=1 prepare || return 1
	echo "$key" >"$out/fragments.key"
}

kernel_make()
{
	local tree=$1 out=$2

	shift 2
	nice make -s -C "$tree" O="$out" -j"$JOBS" "${ARGS[@]}" "$@" </dev/null
}

# Messages without what differs between one state of a source and another: directories, lines.
normalize()
{
	sed -E -e 's,[^ ]*/tree/[^/]*/,,g' -e 's,[^ ]*/src/linux-[^/]*/,,g' -e "s,$SRC/,,g" \
		-e 's/:[0-9]+(:[0-9]+)?/:/g' -e 's/\bline [0-9]+/line/g' -e 's/\t/ /g; s/^ +//'
}

# Debian's checker of C types is older than 7.3 wants: these stand in for what it lacks. It does not see
# that guard() unlocks, and says of each on 6.12 that the lock is kept: 7.3 has nothing that it could say so of.
# That locks are released is lockdep's on the debug kernel.
SPARSE="sparse -Wno-context -D__typeof_unqual__=__typeof__ '-D__builtin_strlen(x)=(sizeof(x)-1)'"

# known VERSION: the messages that the source as Debian ships it causes.
known()
{
	local version=$1 lines key out

	[ -z "$KNOWN" ] || return 0
	toolchain gcc arm64
	lines=$(fragments "$SRC" arm64 module)
	key=$(hash_text "$SRC_ID" "$lines" "$SPARSE" "$($CC --version)")
	KNOWN=$CHECK_DIR/known-$version-$key
	[ ! -e "$KNOWN" ] || return 0
	out=$CHECK_DIR/build/$version-known
	rm -rf "$out" "$CHECK_DIR/known-$version"-*
	step "what Linux $version as it is says" known_messages "$out" "$lines"
	mv "$out.messages" "$KNOWN"
}

known_messages()
{
	local out=$1 lines=$2

	configure "$SRC" "$out" "$lines" || return 1
	kernel_make "$SRC" "$out" W=1 C=2 CHECK="$SPARSE" "$PANTHOR/" >"$out.log" 2>&1 ||
		{ cat "$out.log"; return 1; }
	normalize <"$out.log" | sort -u >"$out.messages"
}

# new_messages LOG: those that are not known.
new_messages()
{
	local line norm

	paste <(normalize <"$1") "$1" | while IFS=$'\t' read -r norm line; do
		[ -z "$norm" ] || grep -qxF -e "$norm" "$KNOWN" || printf '%s\n' "$line"
	done
}

compile()
{
	local version=$1 compiler=$2 arch=$3 config=$4 out lines key log rc=0 targets=("$PANTHOR/")

	if [ -z "$OURS" ]; then
		known "$version"
	else
		KNOWN=/dev/null
		mapfile -t targets < <(our_objects)
	fi
	toolchain "$compiler" "$arch"
	lines=$(fragments "$TREE" "$arch" "$config")
	key=$(hash_text "$TREE_KEY" "$lines" "${ARGS[*]}" "${targets[*]}" "$($CC --version)" "$(hash_files "$0")")
	if is_done "$key"; then
		passed
		return
	fi
	out=$CHECK_DIR/build/$version$BUILD_OF-$compiler-$arch-$config
	log=$out.log
	mkdir -p "$CHECK_DIR/build"
	seed "$out" "$version$BUILD_OF-$compiler-$arch"
	(step "configuring Linux $version ($compiler, $arch, $config)" configure "$TREE" "$out" "$lines") 2>"$log" ||
		{ failed "$log"; return; }
	# What has been compiled says nothing when make meets it again.
	# A run that was cut off may not have come that far.
	[ ! -e "$out.failed" ] || [ ! -d "$out/$PANTHOR" ] || find "$out/$PANTHOR" -name '*.o' -delete
	: >"$out.failed"
	kernel_make "$TREE" "$out" W=1 "${targets[@]}" >"$log" 2>&1 || rc=$?
	{
		new_messages "$log"
		[ "$rc" -eq 0 ] || echo "make ended with status $rc"
		objects "$out" "$config"
	} >"$log.new"
	judge "$log.new"
	if [ ! -s "$log.new" ]; then
		rm -f "$out.failed"
		set_done "$key"
	fi
}

# The names of our objects in a kernel's tree.
our_objects()
{
	local f

	for f in "$TREE/$PANTHOR"/panthor_perf*.c "$TREE/$PANTHOR"/tests/*.c; do
		# A PMU that is kept has the other one in it.
		[ ! -e "${f%.c}_keep.c" ] || continue
		# A step of the series may have a file that is built by a later one.
		[ -z "$BUILD_OF" ] || grep -qs "[^a-z_]$(basename "$f" .c)\.o" "$(dirname "$f")/Makefile" || continue
		f=${f#"$TREE/"}
		echo "${f%.c}.o"
	done
}

# What must be there, and what must not.
objects()
{
	local out=$1 config=$2 dir=$1/$PANTHOR perf f

	[ -n "$OURS" ] || [ -e "$dir/panthor.o" ] || [ -e "$dir/built-in.a" ] || echo "panthor was not built"
	perf=$(find "$dir" -name 'panthor_perf*.o' ! -name '*.mod.o' | sort)
	if [ "$config" = noperf ]; then
		[ -z "$perf" ] || echo "with the option off, these were built:" $perf
		perf=$(find "$dir" -name '*.o' -exec "$NM" -A {} + | grep -i ' [tdbr] .*panthor_perf' || true)
		[ -z "$perf" ] || printf 'with the option off, this is there: %s\n' "$perf"
	elif has_option "$TREE" PERF; then
		for f in $(our_objects); do
			case $config/$f in
			noperfevents/*_pmu*|nopmu/*_pmu*) [ ! -e "$out/$f" ] || echo "with $config, $f was built" ;;
			*) [ -e "$out/$f" ] || echo "$f was not built" ;;
			esac
		done
	fi
	find "$dir" -name '*.o' -exec "$NM" -u -A {} + |
		grep -E " ($NOT_IN_KERNEL)\$" | sed 's/^.*panthor\//no kernel has this function: /' || true
}

# Sparse over everything, as what we change in files of panthor's counts too.
types()
{
	local version=$1 out lines key log rc=0

	known "$version"
	toolchain gcc arm64
	lines=$(fragments "$TREE" arm64 module)
	key=$(hash_text "$TREE_KEY" "$lines" "$SPARSE" "$(hash_files "$0")")
	if is_done "$key"; then
		passed
		return
	fi
	out=$CHECK_DIR/build/$version$BUILD_OF-gcc-arm64-sparse
	log=$out.log
	seed "$out" "$version$BUILD_OF-gcc-arm64"
	(step "configuring Linux $version (for sparse)" configure "$TREE" "$out" "$lines") 2>"$log" ||
		{ failed "$log"; return; }
	kernel_make "$TREE" "$out" C=2 W=1 CHECK="$SPARSE" "$PANTHOR/" >"$log" 2>&1 || rc=$?
	{
		new_messages "$log"
		[ "$rc" -eq 0 ] || echo "make ended with status $rc"
	} >"$log.new"
	judge "$log.new"
	[ -s "$log.new" ] || set_done "$key"
}

# Ours of what goes into a kernel tree.
our_files()
{
	cd "$TOP_DIR"
	find drivers include backports Kconfig.perf Documentation/{ABI,admin-guide,gpu} tools/testing -type f 2>/dev/null |
		grep -E '\.([ch]|rst)$|Kconfig|/ABI/' | sort
}

# style FILE [NAME]: NAME says what kind of file it is, if not its own.
style()
{
	local file=$1 name=${2:-$1} log=$CHECK_DIR/checkpatch.log options=(-q --strict --no-tree --show-types)

	local user=PREFER_KERNEL_TYPES,PREFER_DEFINED_ATTRIBUTE_MACRO,VOLATILE,MACRO_WITH_FLOW_CONTROL

	# Userspace has its own types and attributes, and maps registers. The harness returns from its
	# macros, and checkpatch takes FIXTURE_DATA(x) *p for a product.
	user+=,COMPLEX_MACRO,MACRO_ARG_REUSE,MACRO_ARG_UNUSED,SPACING
	case $file in
	# Only a person signs off. New files are in panthor's directory, which has its maintainers.
	# Kconfig cannot source a file without naming it.
	# By its name, a patch that git knows would be taken for a source file.
	# The commits that "Fixes:" names are the kernel's, whose history is not here.
	*.patch) name=- options+=(--no-signoff --ignore FILE_PATH_CHANGES,EMBEDDED_FILENAME,UNKNOWN_COMMIT_ID)
		[[ $file != */*-selftests-* ]] || options+=(--ignore "$user") ;;
	tools/testing/*) options+=(-f --ignore "$user") ;;
	*) options+=(-f) ;;
	esac
	(cd "$TOP_DIR" && perl "$NEWEST/scripts/checkpatch.pl" "${options[@]}" "$name") <"$file" >"$log" 2>&1 ||
		[ -s "$log" ] || echo "checkpatch.pl failed" >"$log"
	judge "$log"
}

# documentation SOURCE DIR FILE...: what that kernel's kernel-doc says of files in a directory
documentation()
{
	local tree=$1 dir=$2 log=$CHECK_DIR/kernel-doc.log tool files=("${@:3}")

	tool=$tree/scripts/kernel-doc
	[ ! -e "$tree/tools/docs/kernel-doc" ] || tool=$tree/tools/docs/kernel-doc
	(cd "$dir" && "$tool" -none -Wall "${files[@]}") >"$log" 2>&1 || [ -s "$log" ] || echo "$tool failed" >"$log"
	judge "$log"
}

# The header as programs have it: with the kernel's own around it, in old C and in C++, where 64-bit
# numbers are aligned to 8 bytes, and where they are to 4.
uapi()
{
	local headers=$1 language=$2 log=$CHECK_DIR/uapi.log source=$CHECK_DIR/uapi.c compiler options

	shift 2
	{
		echo '#include <drm/panthor_perf_drm.h>'
		grep -E '^(#ifdef|#else|#endif|#define SAME|SAME)' "$TOP_DIR/tools/layout/uapi.c"
	} >"$source"
	case $language in
	c) compiler=gcc options=(-std=c90 -x c) ;;
	c++) compiler=g++ options=(-std=c++11 -x c++) ;;
	esac
	[ "$1" != arm ] || { compiler="clang-$CLANG --target=arm-linux-gnueabihf"; shift; }
	$compiler "${options[@]}" -Wall -Wextra -Werror "$@" -fsyntax-only \
		-I"$TOP_DIR/include/uapi" -isystem "$headers" -isystem "$headers/drm" "$source" >"$log" 2>&1 ||
		[ -s "$log" ] || echo "the compiler failed" >"$log"
	judge "$log"
}

# A fresh repository of the source as Debian ships it, with all that git takes.
fresh_repository()
{
	local dir=$1

	rm -rf "$dir"
	cp -al "$SRC" "$dir" 2>/dev/null || { rm -rf "$dir"; cp -a "$SRC" "$dir"; }
	git -C "$dir" init -q
	git -C "$dir" add -f -A .
	git -C "$dir" -c user.name=check -c user.email=check@localhost commit -q -m "Linux as Debian ships it"
}

git_am()
{
	git -c user.name=check -c user.email=check@localhost -c commit.gpgSign=false -c core.hooksPath=/dev/null \
		-C "$1" am -q "${@:2}"
}

# Every patch by `git am`: a part after the other onto the whole source.
applies()
{
	local version=$1 dir=$CHECK_DIR/series/$version log=$CHECK_DIR/series/$version.log part key

	key=$(hash_text "$SRC_ID" "$(hash_files "$dir"/*/*.patch)" "$(hash_files "$0")")
	if is_done "$key"; then
		passed
		return
	fi
	(
		step "making a repository of Linux $version" fresh_repository "$dir.am"
		for part in "$dir"/*/; do
			git_am "$dir.am" "$part"/000[1-9]*.patch "$part"/00[1-9][0-9]*.patch || exit 1
		done
		[ -z "$(git -C "$dir.am" status --porcelain)" ] || { echo "git am left files behind"; exit 1; }
	) >"$log" 2>&1 && : >"$log" || [ -s "$log" ] || echo "it failed" >"$log"
	rm -rf "$dir.am"
	judge "$log"
	[ -s "$log" ] || set_done "$key"
}

# at_step REPOSITORY COMMIT: brings TREE to that step of the series.
at_step()
{
	local repo=$1 commit=$2 stage=$TREE.stage

	rm -rf "$stage"
	mkdir -p "$stage"
	git -C "$repo" archive "$commit" | tar -x -C "$stage"
	sync_stage "$SRC" "$TREE" "$stage"
	# What is not compiled changes nothing of what was found out.
	TREE_KEY=$(tree_key "$SRC" "$TREE" | grep -vE '^(Documentation|MAINTAINERS|tools)')
}

# The suites there are at a step, all of them passed.
suites()
{
	local version=$1 log=$CHECK_DIR/series/$version-kunit.log key

	key=$(hash_text "$TREE_KEY" "$(hash_files "$0" "$BUILD_DIR/kunit.sh" "$VIRT_DIR/tests/lib/ktap.py")")
	if is_done "$key"; then
		passed
		return
	fi
	if "$BUILD_DIR/kunit.sh" "$version" "$TREE" >"$log" 2>&1 && grep -q '^ok ' "$log" &&
	   ! grep -q '^not ok' "$log"; then
		passed
		set_done "$key"
	else
		[ -s "$log" ] || echo "kunit.sh failed" >"$log"
		failed "$log"
	fi
}

# The selftests of what the first two parts bring, with the panthor that they make.
sessions()
{
	local version=$1 log=$CHECK_DIR/series/$version-selftests.log key

	key=$(hash_text "$TREE_KEY" "$(hash_files "$0" tools/testing/selftests/drivers/gpu/panthor/*.[ch] \
		tools/virt/guest/selftests/*)")
	if is_done "$key"; then
		passed
		return
	fi
	if SERIES_TREE=$TREE KERNEL=$version CONFIG=series "$VIRT_DIR/tests/driver/selftests-g610.sh" \
		perf_uapi perf_session perf_sample perf_states perf_debugfs perf_time perf_unplug >"$log" 2>&1 &&
	   grep -q '^ok ' "$log" && ! grep -q '^not ok' "$log"; then
		passed
		set_done "$key"
	else
		sed -i '/^ok /d' "$log"
		[ -s "$log" ] || echo "they failed" >"$log"
		failed "$log"
	fi
}

# Coccinelle's rules, as far as the source does not make them speak as Debian ships it.
semantics()
{
	local version=$1 log=$CHECK_DIR/series/$version-cocci.log key

	key=$(hash_text "$TREE_KEY" "$(spatch --version)" "$(hash_files "$0")")
	if is_done "$key"; then
		passed
		return
	fi
	# It takes the configuration of this machine's architecture, of which it needs none.
	nice make -C "$TREE" coccicheck MODE=report M="$PANTHOR" J="$JOBS" >"$log" 2>&1 </dev/null || true
	if ! grep -q 'unsigned_lesser_than_zero' "$log"; then
		failed "$log"
		return
	fi
	grep -E '^\./[^ ]*:[0-9]+' "$log" | grep -E '^\./(tests/)?panthor_perf' >"$log.new" || true
	judge "$log.new"
	[ -s "$log.new" ] || set_done "$key"
}

# What the kernel's reader of Documentation/ABI says of our files there.
abi_messages()
{
	local tool=$TREE/scripts/get_abi.pl

	[ ! -e "$TREE/scripts/get_abi.py" ] || tool=$TREE/scripts/get_abi.py
	[ ! -e "$TREE/tools/docs/get_abi.py" ] || tool=$TREE/tools/docs/get_abi.py
	"$tool" --dir "$TREE/Documentation/ABI" validate 2>&1 | sed "s|$TREE/||g" | grep panthor || true
}

# Our pages among the kernel's documents, and what is said of files in sysfs.
pages()
{
	local version=$1 log=$CHECK_DIR/series/$version-htmldocs.log out=$CHECK_DIR/series/$version-docs key name

	key=$(hash_text "$(tree_key "$SRC" "$TREE")" "$(sphinx-build --version)" "$(hash_files "$0")")
	if is_done "$key"; then
		passed
		return
	fi
	nice make -C "$TREE" O="$out" SPHINXDIRS="gpu admin-guide/perf" htmldocs >"$log" 2>&1 </dev/null || true
	{
		# The path of the tree may have the word that is searched for.
		sed "s|$TREE/||g" "$log" | grep -iE 'panthor[-_](perf|pmu)|gpu/panthor\.rst' | grep -iE 'warning|error' || true
		grep -E 'panthor_drm\.h:[0-9]+: (WARNING|ERROR)' "$log" || true
		for name in panthor-perf panthor-pmu; do
			[ -n "$(find "$out" -name $name.html 2>/dev/null)" ] || { echo "$name was not made:"; tail -n 20 "$log"; }
		done
		abi_messages
	} >"$log.new"
	judge "$log.new"
	[ -s "$log.new" ] || set_done "$key"
	rm -rf "$out"
}

# The series that maintainers get: it applies, each of its steps builds and passes, and at its end the
# checkers have nothing to say.
check_series()
{
	local version=$1 dir=$CHECK_DIR/series/$1 commit n=0 last patch compiler arch config files

	if [ -n "$LIST" ]; then
		echo "$version series ..."
		return
	fi
	lock "check-series-$version"
	SRC_ID=$(source_id "$SRC")
	mkdir -p "$CHECK_DIR/series"
	rm -rf "$dir"
	"$BUILD_DIR/series.sh" -s "$dir.repo" "$version" "$dir"
	TREE=$CHECK_DIR/series/tree/$version-$(hash_text "$SRC_ID")
	BUILD_OF=-series
	KNOWN=
	link_tree "$SRC" "$TREE"

	! wanted "$version series applies" || applies "$version"
	for patch in "$dir"/*/*.patch; do
		[[ $patch != */0000-* ]] || continue
		! wanted "$version series checkpatch ${patch#"$dir/"}" || style "$patch" "$patch"
	done
	last=$(git -C "$dir.repo" rev-list --count part-0..series)
	while read -r commit; do
		n=$((n + 1))
		at_step "$dir.repo" "$commit"
		while read -r compiler arch config; do
			! wanted "$version series $n/$last $compiler $arch $config" ||
				compile "$version" "$compiler" "$arch" "$config"
		done <<<"$SERIES_STEP"
		if [ -e "$TREE/$PANTHOR/tests/.kunitconfig" ]; then
			! wanted "$version series $n/$last kunit" || suites "$version"
		fi
		if [ "$commit" = "$(git -C "$dir.repo" rev-parse part-2)" ]; then
			! wanted "$version series $n/$last selftests" || sessions "$version"
		fi
	done < <(git -C "$dir.repo" rev-list --reverse part-0..series)
	while read -r compiler arch config; do
		! wanted "$version series $compiler $arch $config" || compile "$version" "$compiler" "$arch" "$config"
	done <<<"$SERIES_LAST"
	! wanted "$version series sparse" || types "$version"
	if wanted "$version series kernel-doc"; then
		mapfile -t files < <(cd "$TREE" && ls "$PANTHOR"/panthor_perf*.[ch] "$PANTHOR"/tests/*.c)
		documentation "$SRC" "$TREE" "${files[@]}"
	fi
	! wanted "$version series coccicheck" || semantics "$version"
	! wanted "$version series htmldocs" || pages "$version"
	BUILD_OF=
	unlock
}

check_kernel()
{
	local version=$1 compiler arch config files

	SRC=$("$BUILD_DIR/sources.sh" linux "$version")
	if [ -z "$LIST" ]; then
		lock "check-$version"
		SRC_ID=$(source_id "$SRC")
		TREE=$("$BUILD_DIR/check-tree.sh" "$version")
		TREE_KEY=$(tree_key "$SRC" "$TREE")
		KNOWN=
	fi
	while read -r compiler arch config; do
		[ -n "$config" ] || continue
		! wanted "$version $compiler $arch $config" || compile "$version" "$compiler" "$arch" "$config"
	done <<<"$COMPILE"
	! wanted "$version sparse" || types "$version"
	if wanted "$version kernel-doc"; then
		mapfile -t files < <(our_files | grep '\.[ch]$')
		documentation "$SRC" "$TOP_DIR" "${files[@]}"
	fi
	[ -n "$LIST" ] || unlock
	check_series "$version"
}

while getopts k:loh option; do
	case $option in
	k) ONLY_KERNEL=$OPTARG ;;
	l) LIST=1 ;;
	o) OURS=1 ;;
	h) sed -n '3,/^$/s/^# \{0,1\}//p' "$0"; exit ;;
	*) die "usage: check-build.sh [-k VERSION] [-l] [-o] [CHECK...]" ;;
	esac
done
shift $((OPTIND - 1))
PATTERNS=("$@")
if [ -n "$ONLY_KERNEL" ]; then
	case " $KERNELS " in
	*" $ONLY_KERNEL "*) KERNELS=$ONLY_KERNEL ;;
	*) die "no kernel $ONLY_KERNEL: there are $KERNELS" ;;
	esac
fi

cd "$TOP_DIR"
if [ -z "$LIST" ]; then
	# shellcheck disable=SC2086
	"$BUILD_DIR/deps.sh" $EXTRA_PACKAGES
	need_space 3
	mkdir -p "$CHECK_DIR"
	lock check
fi
NEWEST=$("$BUILD_DIR/sources.sh" linux 7.3)
while read -r file; do
	! wanted "checkpatch $file" || style "$file"
done < <(our_files; for version in $KERNELS; do ls -d "patches/$version"/*.patch 2>/dev/null; done)
if [ -z "$LIST" ]; then
	HEADERS=$("$BUILD_DIR/kernel.sh" headers)
fi
for language in c c++; do
	for target in -m64 -m32 arm; do
		! wanted "uapi $language ${target#-m}" || uapi "$HEADERS" "$language" "$target"
	done
done
for version in $KERNELS; do
	check_kernel "$version"
done
[ -z "$LIST" ] || exit 0
[ "$COUNT" -gt 0 ] || die "there is no such check; check-build.sh -l lists them"
echo "1..$COUNT"
echo "$PASSED passed, $FAILED failed"
[ "$FAILED" -eq 0 ]
