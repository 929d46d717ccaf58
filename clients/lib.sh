# SPDX-License-Identifier: MIT
# Shared by the build scripts of clients: checkouts of others, what they need, results that are kept.
# To be sourced by build.sh of a client; everything is said on stderr, stdout belongs to the caller.

. "$(dirname "${BASH_SOURCE[0]}")/../tools/virt/build/common.sh"

HERE=$(cd "$(dirname "$0")" && pwd)
KEEP=2

# checkout VARIABLE FILE NAME: makes the directory that VARIABLE has absolute; a checkout of NAME has FILE
checkout()
{
	local -n source=$1

	[ -n "${source:-}" ] || die "set $1 to a checkout of $3"
	[ -e "$source/$2" ] || die "$source is no checkout of $3 ($1)"
	source=$(cd "$source" && pwd)
}

# deps PACKAGE...: of this machine, and a compiler for the guest's
deps()
{
	[ -z "$CROSS" ] || set -- "$@" g++-aarch64-linux-gnu
	"$BUILD_DIR/deps.sh" "$@"
}

# inputs: a hash of what is ours in a client that is patched
inputs()
{
	hash_files "$HERE"/patches/*.patch "$HERE/build.sh" "$TOP_DIR/clients/lib.sh"
}

# kept NAME KEY WHAT COMMAND [ARG...]: sets DEST to a directory in the cache, which COMMAND makes, unless it is there.
# The directory is the last argument of COMMAND.
kept()
{
	local name=$1 what=$3

	DEST=$CACHE/$1-$2
	shift 3
	if [ ! -e "$DEST/.done" ]; then
		lock "${name//\//-}"
		if [ ! -e "$DEST/.done" ]; then
			step "$what" "$@" "$DEST"
			touch "$DEST/.done"
		fi
		prune "$CACHE/$name" "$KEEP"
		unlock
	fi
	touch -c "$DEST"
}
