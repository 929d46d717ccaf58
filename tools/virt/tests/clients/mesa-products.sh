#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: plain
# daily: plain
# Mesa on other products than the G610: Debian trixie's knows architecture 10, sid's later ones, too.
# Linux 6.12 has no firmware's name for these.
set -u
. "$(dirname "$0")/../lib/tap.sh"

sid="g610 g720 g725"
[ "$KERNEL" != 6.12 ] || sid=g610

guest_script 8 mesa -g g310 -r gl -- gl-work Mali-G310 unknown
guest_script 8 mesa -g g310 -r gl -- vk-work Mali-G310 0

# sid's packages vanish from mirrors while lists still name them.
if "$VIRT_DIR/build/debroot.sh" sid gl >/dev/null 2>"$SCRATCH/err"; then
	for gpu in $sid; do
		guest_script 8 mesa -g "$gpu" -r gl:sid -- gl-work "Mali-${gpu^^}" 0
		guest_script 8 mesa -g "$gpu" -r gl:sid -- vk-work "Mali-${gpu^^}" 0
	done
else
	ok "Mesa of sid # SKIP the mirror does not have it: $(tail -n 1 "$SCRATCH/err")"
fi
plan "$TAP_COUNT"
