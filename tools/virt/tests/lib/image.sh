# SPDX-License-Identifier: MIT
# For tests of make image (source it after tap.sh).
#
#   root_of FILE          what tools of e2fsprogs call the root partition in that image
#   in_image FILE PATH    what that file of its root partition says
#   into_image FILE HOST PATH...
#                         copies files of this machine into its root partition
#   layout FILE [UBOOT]   6 results: partitions, file systems, and U-Boot in front of them

PATH=$PATH:/usr/sbin:/sbin

start_of()
{
	sfdisk -J "$1" | jq ".partitiontable.partitions[] | select(.name == \"$2\").start"
}

root_of()
{
	echo "$1?offset=$(($(start_of "$1" root) * 512))"
}

in_image()
{
	debugfs -R "cat $2" "$(root_of "$1")" 2>/dev/null
}

into_image()
{
	local image

	image=$(root_of "$1")
	shift
	while [ $# -gt 0 ]; do
		debugfs -w -R "write $1 $2" "$image" 2>/dev/null >&2
		shift 2
	done
}

layout()
{
	local image=$1 uboot=${2:-} end=64 seen

	seen=$(sfdisk --verify "$image" 2>&1)
	is "sfdisk finds no error" "$(grep -c '^No errors detected' <<<"$seen")" 1
	is "partitions" "$(sfdisk -J "$image" | jq -r '.partitiontable.partitions[] | .name + " " + .type + " " + (.attrs // "")')" \
		"efi C12A7328-F81F-11D2-BA4B-00A0C93EC93B 
root B921B045-1DF0-41C3-AF44-4C6F280D3FAE LegacyBIOSBootable"
	[ -z "$uboot" ] || end=$((64 + ($(stat -c %s "$uboot") + 511) / 512))
	if [ "$(start_of "$image" efi)" -ge "$end" ]; then
		ok "they start behind U-Boot"
	else
		not_ok "they start behind U-Boot" "at $(start_of "$image" efi), and U-Boot ends at $end"
	fi
	if [ -n "$uboot" ]; then
		seen=$(tail -c +$((64 * 512 + 1)) "$image" | cmp -n "$(stat -c %s "$uboot")" - "$uboot" 2>&1)
		is "U-Boot is at sector 64" "$seen" ""
	else
		is "there is nothing at sector 64" "$(tail -c +$((64 * 512 + 1)) "$image" | head -c 512 | tr -d '\0' | wc -c)" 0
	fi
	seen=$(e2fsck -fn "$(root_of "$image")" 2>&1)
	is "the root file system is clean: status" "$? $(grep -i 'fix\|error' <<<"$seen")" "0 "
	is "UEFI finds GRUB" "$(mtype -i "$image@@$(($(start_of "$image" efi) * 512))" ::EFI/BOOT/BOOTAA64.EFI 2>&1 | head -c 2)" MZ
}
