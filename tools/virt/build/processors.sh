#!/bin/sh
# SPDX-License-Identifier: MIT
# processors.sh [ROOT]   print how many processors this process may keep busy: those in its affinity mask, or fewer if
#                        its control group has a CPU limit. ROOT contains proc and sys (default: those of the machine)

proc=${1:-}/proc/self/cgroup
groups=${1:-}/sys/fs/cgroup
number=$(nproc)

# limit FILE...: they say what a group may take, and in what time, in microseconds ("max" or -1: all)
limit()
{
	# shellcheck disable=SC2046
	set -- $(cat "$@" 2>/dev/null)
	[ "${1:-max}" -gt 0 ] 2>/dev/null || return
	[ $((number * $2)) -le "$1" ] || number=$((($1 + $2 - 1) / $2))
}

# A group may take no more than those that it is in. In a container its path may be one that is not to
# be seen there, and what is to be seen is at the top.
[ ! -e "$proc" ] || while IFS=: read -r _ controllers path; do
	while :; do
		case ,$controllers, in
		,,) limit "$groups$path/cpu.max" ;;
		*,cpu,*) limit "$groups/cpu$path/cpu.cfs_quota_us" "$groups/cpu$path/cpu.cfs_period_us" ;;
		esac
		case $path in
		/?*) path=${path%/*} ;;
		*) break ;;
		esac
	done
done <"$proc"
echo "$number"
