#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# long: none
# The image that make image BOARD=virt writes boots by UEFI in the virtual machine, on a disk larger than itself, to a
# login prompt: its root has grown, the module that DKMS has built in it is loaded and counts, keys log in, and the
# selftests write their report. Then, of the image for rock-5b, what can be looked at
# without a board. Most of its time (half an hour) are the installation of packages, and the compiler's.
set -u
. "$(dirname "$0")/../lib/tap.sh"
. "$(dirname "$0")/../lib/image.sh"

DISK_SIZE=$((8 << 30))
# For a machine that hangs.
SECONDS_AT_MOST=7200

plan 27

# said NAME: what guest/image.sh said of it
said()
{
	sed -n "s/^$1: *//p" "$SCRATCH/results" | sed 's/ *$//'
}

# matches NAME GOT REGEX
matches()
{
	if grep -qE "$3" <<<"$2"; then
		ok "$1"
	else
		not_ok "$1" "got:  $2" "want: $3"
	fi
}

"$VIRT_DIR/build/deps.sh" dosfstools fdisk jq mtools openssh-client openssl 2>/dev/null
ssh-keygen -q -t ed25519 -N '' -C test -f "$SCRATCH/key"
{ printf RKNS; head -c 1000000 /dev/urandom; } >"$SCRATCH/u-boot"
export SSH_KEY=$SCRATCH/key.pub PASSWORD=secret
if ! "$VIRT_DIR/build/image.sh" virt "$SCRATCH/virt" 2>"$SCRATCH/err" >/dev/null; then
	not_ok "an image for virt" "$(tail -n 40 "$SCRATCH/err")"
	exit 1
fi
ok "an image for virt"

echo "#: the image: $(du -m "$SCRATCH/virt" | cut -f 1) MB of $(($(stat -c %s "$SCRATCH/virt") >> 20))"
truncate -s $DISK_SIZE "$SCRATCH/virt"
into_image "$SCRATCH/virt" "$TESTS_DIR/guest/image.sh" /root/test "$SCRATCH/key" /root/key
line='echo secret | sudo -S sh -c "chmod 600 /root/key; sh /root/test >/root/results 2>&1; systemctl poweroff"'
if python3 "$TESTS_DIR/lib/console.py" debian secret "$line" $SECONDS_AT_MOST \
	"$VIRT_DIR/run" --image "$SCRATCH/virt" >"$SCRATCH/console" 2>"$SCRATCH/err"; then
	ok "it boots by UEFI to a login prompt, and goes off"
else
	not_ok "it boots by UEFI to a login prompt, and goes off" "$(cat "$SCRATCH/err")" "$(tail -n 60 "$SCRATCH/console" | tr -d '\r\033')"
fi
in_image "$SCRATCH/virt" /root/results >"$SCRATCH/results"
sed 's/^/# /' "$SCRATCH/results"
is "the test ran to its end" "$(said end)" yes
is "no unit failed" "$(said failed)" ""
matches "the kernel is Debian's 7.3" "$(said kernel)" '^7\.3\.[0-9]+\+.*-arm64$'
# All but the first partition, metadata and what is for root alone.
root=$(said root)
if [ "${root:-0}" -gt $((DISK_SIZE / 10 * 9)) ]; then
	ok "the root file system has grown to the disk"
else
	not_ok "the root file system has grown to the disk" "$root of $DISK_SIZE bytes"
fi
matches "panthor is the one that DKMS has built" "$(said file)" '/updates/dkms/panthor\.ko'
is "and it is loaded" "$(said loaded)" 1
is "NAME is the board's if there is none" "$(said hostname)" virt
is "panthor-perf stat: status" "$(said stat)" 0
matches "it has counted" "$(said cycles)" '^[1-9][0-9]*$'
is "ssh made keys of its own" "$(said keys)" 3
matches "SSH_KEY logs in" "$(said ssh)" '(^| )debian$'
is "passwords do not, from elsewhere" "$(said password)" "passwordauthentication no"
# Whether they pass on a machine that is busy is nothing to the image.
is "panthor-perf selftest writes its report" "$(said reports)" 1
is "of all its parts" "$(said parts)" 13
in_image "$SCRATCH/virt" /root/selftest | sed -n '/^Tests$/,$s/^/# /p'
# The power is cut in the middle of a test, and the selftests go on after it.
cat >"$SCRATCH/cut" <<'END'
mkdir /root/cut
panthor-perf selftest -y -o /root/cut >/dev/null 2>&1 &
until grep -qs "RUN  *session.order " /root/cut/*/session.1.tap; do sleep 0.2; done
echo "test number $((1 + 1)) runs"
wait
END
into_image "$SCRATCH/virt" "$SCRATCH/cut" /root/cut.sh
python3 "$TESTS_DIR/lib/console.py" debian secret "echo secret | sudo -S sh /root/cut.sh" $SECONDS_AT_MOST \
	"$VIRT_DIR/run" --image "$SCRATCH/virt" >"$SCRATCH/console" 2>"$SCRATCH/err" &
until grep -aq "test number 2 runs" "$SCRATCH/console" || ! kill -0 $! 2>/dev/null; do sleep 1; done
pkill -KILL -f "file=$SCRATCH/virt"
wait
line='echo secret | sudo -S sh -c "panthor-perf selftest -y --resume -o /root/cut >/root/resumed 2>&1; systemctl poweroff"'
python3 "$TESTS_DIR/lib/console.py" debian secret "$line" $SECONDS_AT_MOST \
	"$VIRT_DIR/run" --image "$SCRATCH/virt" >"$SCRATCH/console" 2>"$SCRATCH/err"
in_image "$SCRATCH/virt" /root/resumed >"$SCRATCH/resumed"
matches "after a power cut selftest --resume says where that was" "$(head -n 1 "$SCRATCH/resumed")" '^The machine stopped in session\.'
is "and reports all parts" "$(sed -n '/^Tests$/,/^$/p' "$SCRATCH/resumed" | grep -c ' passed, ')" 13
rm "$SCRATCH/virt"

image=$SCRATCH/rock-5b
UBOOT=$SCRATCH/u-boot "$VIRT_DIR/build/image.sh" rock-5b "$image" 2>"$SCRATCH/err" >/dev/null ||
	sed 's/^/# /' "$SCRATCH/err"
layout "$image" "$SCRATCH/u-boot"

menu=$(in_image "$image" /boot/extlinux/extlinux.conf)
# Of the first entry.
entry()
{
	sed -n "s/^[[:space:]]*$1 //p" <<<"$menu" | head -n 1
}

if [ "$(in_image "$image" "$(entry linux)" | wc -c)" -gt 1000000 ] && [ "$(in_image "$image" "$(entry initrd)" | wc -c)" -gt 1000000 ]; then
	ok "U-Boot's menu names a kernel and an initrd"
else
	not_ok "U-Boot's menu names a kernel and an initrd" "$menu"
fi
in_image "$image" "$(entry fdt)" >"$SCRATCH/dtb"
matches "and the board's device tree, with its GPU" "$(entry fdt) $(tr '\0' '\n' <"$SCRATCH/dtb" | grep -xcF arm,mali-valhall-csf)" \
	'/rk3588-rock-5b\.dtb [1-9]'
is "and root and consoles" "$(entry append | tr -s ' ')" "root=LABEL=panthor-perf ro console=ttyS2,1500000 console=tty1"
