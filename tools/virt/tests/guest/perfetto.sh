# SPDX-License-Identifier: MIT
# Live traces of Perfetto in the guest: /root/all.cfg asks for all counters, /root/some.cfg for some of them,
# /root/instrumented.cfg for what there is not. Traces go to /root/trace.NAME.
. /root/tap.sh

. /root/traced.sh

# nodes: of GPUs, that the source has open
nodes()
{
	ls -l /proc/$source/fd 2>/dev/null | grep -c renderD
}

opened()
{
	[ "$(nodes)" -ge "$1" ]
}

is_one()
{
	[ "$(nodes)" -eq 1 ]
}

closed()
{
	[ "$(nodes)" -eq 0 ]
}

# More than one without counters has
has_some()
{
	[ "$(wc -c <"/root/trace.$1")" -gt $(($(wc -c </root/trace.instrumented) + 500)) ]
}

panthor-perf info -j >/root/info
panthor-perf list -x ';' >/root/list
start_traced
start_source
if until_true 60 is_known; then
	ok "traced knows the source"
else
	not_ok "traced knows the source" "$(perfetto --query 2>&1)" "$(cat /root/source.log)"
fi
is "nothing is open before there is a trace" "$(nodes)" 0

# ---- Two at a time ----

first=$(($(mali-bench epoch) + 1))
trace all all
all=$trace
until_true 60 counting
trace some some
some=$trace
until_true 60 opened 2
succeeds "work in two traces" gpu-load -j 32
finish $some
is "one trace ends" $? 0
until_true 60 is_one
succeeds "work in one of them" gpu-load -j 32
finish $all
is "and the other" $? 0
until_true 60 closed
is "then nothing is open" "$(nodes)" 0
echo "$first" "$(mali-bench epoch)" >/root/epochs

# ---- What there is not ----

trace instrumented instrumented
has "instrumented_sampling is refused in words" "$(until_true 60 grep instrumented_sampling /root/source.log)" 'instrumented_sampling, which there is not'
finish $trace
is "such a trace ends as others do" $? 0

# ---- What goes away ----

# With few counters: what a busy host has not taken yet is taken before the end is told of.
trace killed some
until_true 60 counting
gpu-load -j 8 >/dev/null 2>&1
kill -KILL $source
wait $source 2>/dev/null
finish $trace
is "a killed source: the trace ends" $? 0
is "a killed source: nobody counts" "$(grep -h '^sessions:' /sys/kernel/debug/dri/*/perf | sort -u)" "sessions: 0"
start_source
until_true 60 is_known
until_true 60 nobody_counts
trace again some
until_true 60 counting
gpu-load -j 8 >/dev/null 2>&1
finish $trace
succeeds "a killed source: the next trace has counters" has_some again

until_true 60 nobody_counts
trace traced some
until_true 60 counting
kill -KILL $traced
wait $traced 2>/dev/null
finish $trace
if until_true 60 closed; then
	ok "a killed traced: the source stops counting"
else
	not_ok "a killed traced: the source stops counting" "$(cat /root/source.log)"
fi
start_traced
if until_true 120 is_known; then
	ok "a killed traced: the source comes back by itself"
else
	not_ok "a killed traced: the source comes back by itself" "$(cat /root/source.log)"
fi
until_true 60 nobody_counts
trace back some
until_true 60 counting
gpu-load -j 8 >/dev/null 2>&1
finish $trace
succeeds "a killed traced: the next trace has counters" has_some back

name=$(basename "$GPU")
until_true 60 nobody_counts
trace unbound some
until_true 60 counting
gpu-load -j 8 >/dev/null 2>&1
echo "$name" >/sys/bus/platform/drivers/panthor/unbind
until_true 60 closed
is "an unbound GPU: the source lets it go" "$(nodes)" 0
finish $trace
is "an unbound GPU: the trace ends" $? 0
succeeds "an unbound GPU: what was counted is in it" has_some unbound
has "an unbound GPU: the source tells of it" "$(cat /root/source.log)" 'the GPU has gone'
echo "$name" >/sys/bus/platform/drivers/panthor/bind
until_true 60 test -e /dev/dri/renderD128
trace bound some
until_true 60 counting
gpu-load -j 8 >/dev/null 2>&1
finish $trace
succeeds "an unbound GPU: bound again, the next trace has counters" has_some bound

kill $source $traced
