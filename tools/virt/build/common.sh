# SPDX-License-Identifier: MIT
# Shared code of the build scripts: paths, messages, steps, locks, keys.
# Source it from bash. All messages go to stderr; stdout is the caller's.

set -euo pipefail
shopt -s nullglob inherit_errexit

BUILD_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
VIRT_DIR=$(cd "$BUILD_DIR/.." && pwd)
TOP_DIR=$(cd "$VIRT_DIR/../.." && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/panthor-perf
KERNELS="6.12 7.3"
DEBIAN_KERNELS="6.12 7.2 7.3"
# Those that our module is built for: also with PREEMPT_RT and with pages of 16 KiB. Debian has 6.18 no more.
STOCK_KERNELS="$DEBIAN_KERNELS 6.12-rt 7.3-rt 7.3-16k${KERNEL_SRC_6_18:+ 6.18}"
VARIANTS="plain debug kcsan gcov"

# Debian's own tools first: a meson or python of the user's may lack what QEMU needs.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH
# Make hands its jobserver and its flags down; our makes are independent of it.
unset MAKEFLAGS MAKELEVEL MFLAGS
export LC_ALL=C

JOBS=${JOBS:-$("$BUILD_DIR/processors.sh")}
NATIVE=$(uname -m)
CROSS=
[ "$NATIVE" = aarch64 ] || CROSS=aarch64-linux-gnu-

die()
{
	printf 'error: %s\n' "$*" >&2
	exit 1
}

# test_script NAME: path of the test NAME, or DIRECTORY/NAME if two tests have the same name
test_script()
{
	local found

	mapfile -t found < <(cd "$TOP_DIR" && find tools/virt/tests -path "*/$1.sh" -perm -u+x)
	[ ${#found[@]} -eq 1 ] || die "$1 does not name exactly one test in tools/virt/tests"
	echo "${found[0]}"
}

say()
{
	printf '%s\n' "$*" >&2
}

# need_tool COMMAND PACKAGE
need_tool()
{
	command -v "$1" >/dev/null ||
		die "$1 is missing: run 'make deps', or install the Debian package $2"
}

# need_space GIGABYTES
need_space()
{
	local have

	mkdir -p "$CACHE" || die "cannot create $CACHE: set XDG_CACHE_HOME to a directory you can write"
	[ -w "$CACHE" ] || die "cannot write to $CACHE: set XDG_CACHE_HOME to a directory you can write"
	have=$(df -Pk "$CACHE" | awk 'NR == 2 { print int($4 / 1048576) }')
	[ "$have" -ge "$1" ] ||
		die "$CACHE needs $1 GB of free disk, there are $have: free some, or set XDG_CACHE_HOME to a larger disk"
}

# Everything below lock NAME is done by one process at a time. Held until the subshell that took it
# ends; taken in the order of the names (releases, image, disk, deb, module, apt, kernel-*, qemu, tools, root).
lock()
{
	mkdir -p "$CACHE/lock" 2>/dev/null ||
		die "cannot create $CACHE: set XDG_CACHE_HOME to a directory you can write"
	exec {LOCK_FD}>"$CACHE/lock/$1"
	if ! flock -w 3 "$LOCK_FD"; then
		say "waiting for another build ($1) to finish"
		flock "$LOCK_FD"
	fi
}

# A lock must not live on in a daemon that a command happens to start.
unlock()
{
	exec {LOCK_FD}>&-
}

# step DESCRIPTION COMMAND [ARG...]: runs COMMAND with its output in a log; one line for people
# who read a file, a line that moves for people at a terminal, the end of the log on failure.
step()
{
	local what=$1 log start pid rc=0 last now

	shift
	mkdir -p "$CACHE/log"
	log=$CACHE/log/$(printf %s "$what" | tr -cs 'A-Za-z0-9._-' _).log
	start=$SECONDS
	# In the background even when nobody watches: a function called as a condition would go on
	# after its first error.
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	if [ -t 2 ]; then
		trap 'kill "$pid" 2>/dev/null; exit 130' INT TERM
		while kill -0 "$pid" 2>/dev/null; do
			last=$(tail -n 1 "$log" 2>/dev/null | tr -cd '[:print:]' | cut -c 1-50)
			now=$((SECONDS - start))
			printf '\r\033[K%s (%ds) %s' "$what" "$now" "$last" >&2
			# Redraws twice a second, and returns at once when the command has ended.
			timeout 0.5 tail --pid="$pid" -f /dev/null 2>/dev/null || true
		done
		trap - INT TERM
		printf '\r\033[K' >&2
	fi
	wait "$pid" || rc=$?
	if [ "$rc" -ne 0 ]; then
		tail -n 30 "$log" | sed 's/^/    /' >&2
		if grep -q 'No space left on device' "$log"; then
			die "$what: the disk is full: free some of it, or set XDG_CACHE_HOME to a larger one"
		fi
		die "$what failed; the whole log is $log"
	fi
	say "$what: done ($((SECONDS - start)) s)"
}

# A hash of names and contents; missing files count as such.
hash_files()
{
	local f

	for f in "$@"; do
		if [ -f "$f" ]; then
			printf '%s ' "${f#"$TOP_DIR"/}"
			sha256sum <"$f"
		else
			printf '%s -\n' "${f#"$TOP_DIR"/}"
		fi
	done | sha256sum | cut -c 1-16
}

hash_text()
{
	printf '%s\n' "$@" | sha256sum | cut -c 1-16
}

# put FILE DEST: replaces DEST only if its content differs, so that its time moves only then, and
# never writes through a hard link.
put()
{
	cmp -s "$1" "$2" && return
	mkdir -p "$(dirname "$2")"
	cp --no-preserve=timestamps "$1" "$2.new"
	mv -f "$2.new" "$2"
}

var_version()
{
	printf %s "$1" | tr . _
}

# Patched sources. A tree is a copy of a source made of hard links, in which only what differs from
# the source is ever replaced, so that a make or ninja there rebuilds just that:
#   link_tree SOURCE TREE; stage_patches SOURCE STAGE PATCH...; files of ours into STAGE;
#   sync_stage SOURCE TREE STAGE
# What stands around a change is to be what it was made for: in a kernel it might be put elsewhere, and compile.
# PATCH_FUZZ lines of it may be others.
link_tree()
{
	[ ! -e "$2/.linked" ] || return 0
	rm -rf "$2"
	mkdir -p "$(dirname "$2")"
	# Across file systems there are no hard links.
	cp -al "$1" "$2" 2>/dev/null || { rm -rf "$2"; cp -a "$1" "$2"; }
	rm -f "$2/.overlay"
	touch "$2/.linked"
}

stage_patches()
{
	local src=$1 stage=$2 p file

	shift 2
	rm -rf "$stage"
	mkdir -p "$stage"
	for p in "$@"; do
		# Copies of just the files that the patch names.
		sed -n 's,^\(---\|+++\) [ab]/\([^\t]*\).*,\2,p' "$p" | sort -u | while read -r file; do
			[ -e "$src/$file" ] && [ ! -e "$stage/$file" ] || continue
			mkdir -p "$stage/$(dirname "$file")"
			cp -p "$src/$file" "$stage/$file"
		done
		patch -s -N -F"${PATCH_FUZZ:-0}" -p1 -d "$stage" --no-backup-if-mismatch <"$p" ||
			die "$p does not apply to $src"
	done
}

sync_stage()
{
	local src=$1 tree=$2 stage=$3 list file

	list=$(cd "$stage" && find . -type f -printf '%P\n' | sort)
	if [ -e "$tree/.overlay" ]; then
		sort -u "$tree/.overlay" | while read -r file; do
			[ -n "$file" ] && [ ! -e "$stage/$file" ] || continue
			# Ours no longer: the source's own again, with a new time, or nothing.
			rm -f "$tree/$file"
			[ ! -e "$src/$file" ] || cp --no-preserve=timestamps "$src/$file" "$tree/$file"
		done
	fi
	while read -r file; do
		[ -z "$file" ] || put "$stage/$file" "$tree/$file"
	done <<<"$list"
	printf '%s\n' "$list" >"$tree/.overlay"
	rm -rf "$stage"
}

# in_root ROOT COMMAND [ARG...]: runs it with that directory (of sources.sh root) as its root. Only root
# may do so; others are root in a name space of their own, where the machine's /dev takes the place of theirs.
in_root()
{
	local root=$1 enter=(chroot)

	shift
	if [ "$(id -u)" != 0 ]; then
		# shellcheck disable=SC2016
		enter=(unshare --map-root-user --mount sh -c 'mount --rbind /dev "$1/dev" && exec chroot "$@"' sh)
	fi
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C HOME=/root "${enter[@]}" "$root" "$@"
}

# What a source is called in keys: Debian's package, or, of a tree of the user's own, all that can
# tell one state of it from another.
source_id()
{
	if [ -e "$1/.complete" ]; then
		cat "$1/.complete"
	else
		echo "$1"
		find "$1" -name .git -prune -o -type f -printf '%P %s %T@\n' | sort | sha256sum
	fi
}

# prune PREFIX KEEP: of the finished results PREFIX-*, only the newest stay, and those that someone
# (another checkout, a VM that is being started) has used within the hour: using one touches it.
prune()
{
	local d

	ls -dt "$1"-* 2>/dev/null | grep -v '\.new$' | tail -n +$(($2 + 1)) | while read -r d; do
		[ -z "$(find "$d" -maxdepth 0 -mmin +60)" ] || rm -rf "$d"
	done
}

# The guest's packages: a C library to link against, libraries of tools, a shell, descriptions of terminals.
ARM64_PACKAGES="busybox-static libc6-dev linux-libc-dev libdrm-dev libdrm2 libjson-c-dev libjson-c5 \
	libncurses-dev libprotobuf-c-dev libsqlite3-dev libtraceevent-dev libtracefs-dev libzstd-dev ncurses-base zlib1g-dev"

# What a root of Mesa is taken from: loaders of GL ES, EGL and Vulkan, and Mesa behind them.
MESA_PACKAGES="mesa-vulkan-drivers libvulkan1 libegl-mesa0 libegl1 libgles2 libgbm1 mesa-libgallium"
# What our programs for such a root are linked against: of the machine's release, which is older.
MESA_DEV_PACKAGES="libc6 libc6-dev linux-libc-dev libdrm-dev libdrm2 libegl-dev libegl1 libgl-dev libgles-dev
	libgles2 libglvnd0 libgbm-dev libgbm1 libvulkan-dev libvulkan1"
