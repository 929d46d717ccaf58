# SPDX-License-Identifier: MIT
# In the image of make image BOARD=virt (tests/packages/image.sh), as root: "NAME: VALUE" lines for the test to judge.
export LC_ALL=C.UTF-8 PATH=/usr/sbin:/usr/bin

say()
{
	echo "$1: $(shift; "$@" 2>&1 | tr '\n' ' ')"
}

# All that is started at boot has been.
systemctl is-system-running --wait >/dev/null
say failed systemctl --failed --no-legend --plain
say kernel uname -r
say root findmnt -bno SIZE /
say file modinfo -n panthor
say loaded sh -c "lsmod | grep -c '^panthor '"
say bound sh -c 'dmesg | grep -i -e panthor -e mali | tail -n 4'
say hostname hostname
say doctor panthor-perf doctor
panthor-perf stat -a -x ';' -o /root/stat /usr/libexec/panthor-perf-selftests/gpu-load
echo "stat: $?"
say cycles awk -F';' '$3 == "MaliGPUActiveCy" { print $1 }' /root/stat
say keys sh -c 'ls /etc/ssh/ssh_host_*_key | wc -l'
say ssh ssh -i /root/key -o StrictHostKeyChecking=no -o BatchMode=yes debian@localhost id -un
say password sh -c "sshd -T | grep -i '^passwordauthentication'"
mkdir /root/report
panthor-perf selftest -y -o /root/report >/root/selftest 2>&1
say reports sh -c 'ls /root/report/*.tar.gz | wc -l'
say parts sh -c "sed -n '/^Tests$/,/^Assumptions/p' /root/selftest | grep -cE '^  [a-z_]+ +[0-9]+ passed, '"
echo "end: yes"
