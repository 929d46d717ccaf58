# SPDX-License-Identifier: MIT
# What the tests of the device without a driver share. After tap.sh.

# build_qtest NAME [sanitized] [SOURCE...]: $SCRATCH/NAME of qtest/NAME.c, and QEMU as $QEMU; or a test
# that has failed
build_qtest()
{
	local name=$1 kind=()

	shift
	if [ "${1:-}" = sanitized ]; then
		kind=(sanitized)
		shift
	fi
	QEMU=${VIRT_QEMU:-}
	if [ -z "$QEMU" ] && ! QEMU=$("$VIRT_DIR/build/qemu.sh" "${kind[@]}" 2>"$SCRATCH/err"); then
		plan 1
		not_ok "QEMU builds" "$(cat "$SCRATCH/err")"
		exit 1
	fi
	if ! "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -o "$SCRATCH/$name" "$VIRT_DIR/qemu/qtest/$name.c" \
		"$VIRT_DIR/qemu/qtest/vgpu.c" "$@" -lfdt 2>"$SCRATCH/err"; then
		plan 1
		not_ok "the test compiles" "$(cat "$SCRATCH/err")"
		exit 1
	fi
}
