# SPDX-License-Identifier: MIT
# panthor-perf export while the GPU is unbound and bound again, also under another node, and when its firmware dies:
# it stays, panthor_gpu_up is 0 meanwhile, and counters go on from where they were.
. /root/tap.sh

driver=/sys/bus/platform/drivers/panthor
name=$(basename "$GPU")

scrape()
{
	wget -qO- http://127.0.0.1:9477/metrics >/root/scraped 2>/dev/null
	grep '^[a-z0-9_]*_total{' /root/scraped | sed 's/ /_/g; s/_\([^_]*\)$/ \1/' >/root/totals
}
metric()
{
	sed -n "s/^$1{[^}]*} //p" /root/scraped
}
up_is()
{
	scrape && [ "$(metric panthor_gpu_up)" = "$1" ]
}
# more_than METRIC VALUE
more_than()
{
	scrape && awk -v a="$(metric "$1")" -v b="$2" 'BEGIN { exit !(a > b) }'
}
# went_back FILE: counters that are less than in FILE, or missing
went_back()
{
	awk 'FNR == NR { before[$1] = $2; next } { now[$1] = $2 }
		END { for (k in before) if (!(k in now) || now[k] + 0 < before[k] + 0) print k, before[k], now[k] }' "$1" /root/totals
}

ip link set lo up
panthor-perf export -a -p 100ms >/root/out 2>/root/err &
exporter=$!
until_true 60 up_is 1 && ok "the GPU is up" || not_ok "the GPU is up" "$(cat /root/err)"
gpu-load >/root/load 2>&1
busy=0

# round NAME DOWN UP: two functions that take the GPU away and bring it back
round()
{
	until_true 60 more_than mali_gpu_busy_seconds_total "$busy" || not_ok "$1: it has counted work" "$(cat /root/scraped)"
	cp /root/totals /root/before
	$2
	until_true 60 up_is 0 && ok "$1: panthor_gpu_up is 0" || not_ok "$1: panthor_gpu_up is 0" "$(cat /root/err)"
	is "$1: and no counter went back" "$(went_back /root/before)" ""
	busy=$(metric mali_gpu_busy_seconds_total)
	samples=$(metric mali_samples_total)
	is "$1: the log says so" "$(tail -n 1 /root/err | grep -c 'is gone.*waiting for the GPU')" 1
	cp /root/totals /root/before
	$3
	until_true 60 up_is 1 && ok "$1: panthor_gpu_up is 1 again" || not_ok "$1: panthor_gpu_up is 1 again" "$(cat /root/err)"
	gpu-load >/root/load 2>&1
	until_true 60 more_than mali_gpu_busy_seconds_total "$busy" && ok "$1: it counts again" ||
		not_ok "$1: it counts again" "$(cat /root/load /root/err /root/scraped)"
	is "$1: from where it was" "$(went_back /root/before) $([ "$(metric mali_samples_total)" -gt "$samples" ] && echo more)" " more"
	is "$1: by the same label" "$(metric panthor_gpu_up) $(grep -c '^panthor_gpu_up{gpu="renderD128"} 1$' /root/scraped)" "1 1"
}

unbind()
{
	echo "$name" >$driver/unbind
}
bind()
{
	echo "$name" >$driver/bind
}
round "unbind" unbind bind

# Another program has the old node open, so that the new one gets another number.
unbind_open()
{
	exec 8<>/dev/dri/renderD128
	unbind
}
round "another node" unbind_open bind
is "another node: it is one" "$(ls "$GPU"/drm | grep renderD)" renderD129
exec 8>&-

# The resets that follow fail, and panthor gives the GPU up. One that is suspended would fail to resume instead.
die()
{
	echo on >"$GPU/power/control"
	until_true 20 pm_is active
	mali-bench boot_fail=100 hang=1
	gpu-load -d /dev/dri/renderD129 >/root/load 2>&1 || :
}
revive()
{
	unbind
	mali-bench boot_fail=0
	bind
}
round "dead firmware" die revive

kill -INT $exporter
wait $exporter
is "Ctrl-C ends it" $? 0
