#!/bin/bash
# SPDX-License-Identifier: MIT
# deps.sh PACKAGE...   install the Debian packages that are missing

. "$(dirname "$0")/common.sh"

command -v dpkg-query >/dev/null ||
	die "this is not Debian; what its packages $* contain is needed"

missing=()
for p in "$@"; do
	# On arm64 the machine's own compiler makes the guest's programs.
	case $NATIVE:$p in
	aarch64:gcc-aarch64-linux-gnu|aarch64:*-arm64-cross) continue ;;
	esac
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
done
if [ ${#missing[@]} -eq 0 ]; then
	say "all packages are installed"
	exit
fi

sudo=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || die "only root can install packages: apt-get install ${missing[*]}"
	sudo=(sudo)
fi
# Somebody else may be installing something just now.
install=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive
	apt-get -o DPkg::Lock::Timeout=600 install -y --no-install-recommends "${missing[@]}")
say "installing ${missing[*]}"
# Lists that are too old for what the mirror has now are the usual reason of a failure.
if ! "${install[@]}" >/dev/null 2>&1; then
	"${sudo[@]}" apt-get update >/dev/null 2>&1 ||
		die "apt-get update failed; when it works again: apt-get install ${missing[*]}"
	log=$(mktemp)
	"${install[@]}" >"$log" 2>&1 ||
		{ tail -n 5 "$log" >&2; rm -f "$log"; die "cannot install them: try 'apt-get install ${missing[*]}'"; }
	rm -f "$log"
fi
say "installed ${#missing[@]} packages"
