# SPDX-License-Identifier: MIT
# A Prometheus that scrapes panthor-perf export: the queries of a dashboard in /root/queries, what its lists are made
# of in /root/labels, and /root/mali-rules.yml.
. /root/tap.sh

cd /root || exit
ip link set lo up
cat >prometheus.yml <<'END'
global:
  scrape_interval: 2s
  scrape_timeout: 2s
  evaluation_interval: 5s
rule_files: [mali-rules.yml]
scrape_configs:
  - job_name: mali
    static_configs:
      - targets: ["127.0.0.1:9477"]
END
succeeds "promtool takes the rules" promtool check rules mali-rules.yml
succeeds "and a configuration as the manual has it" promtool check config prometheus.yml

panthor-perf export >exporter.log 2>&1 &
exporter=$!
prometheus --config.file=prometheus.yml --storage.tsdb.path=/root/data --web.listen-address=127.0.0.1:9090 \
	>prometheus.log 2>&1 &
prometheus=$!

# ask QUERY: a line for each series, "{LABELS} => VALUE @[TIME]"
ask()
{
	promtool query instant http://127.0.0.1:9090 "$1" 2>&1
}

scraped()
{
	case $(ask 'sum(up)') in
	*'=> 1 '*) ;;
	*) return 1 ;;
	esac
}
if until_true 300 scraped; then
	ok "Prometheus scrapes the exporter"
else
	not_ok "Prometheus scrapes the exporter" "$(tail -n 20 prometheus.log)" "$(cat exporter.log)"
fi

gpu-load -t 600 -j 0 -k fragment -p 1000 --duty 50 >load 2>&1 &
load=$!
two_minutes()
{
	case $(ask 'sum(count_over_time(mali_samples_total[5m])) >= bool 60') in
	*'=> 1 '*) ;;
	*) return 1 ;;
	esac
}
if until_true 600 two_minutes; then
	ok "two minutes of scraping, once each two seconds"
else
	not_ok "two minutes of scraping, once each two seconds" "$(ask 'count_over_time(mali_samples_total[5m])')"
fi

# As a panel shows it: series, each of which is a number.
while IFS="$(printf '\t')" read -r title query; do
	out=$(ask "$query")
	if [ -n "$out" ] && ! printf '%s\n' "$out" | grep -v '=> [-+0-9.e]* @' | grep -q .; then
		ok "panel: $title: $(printf '%s\n' "$out" | wc -l) series"
	else
		not_ok "panel: $title" "$query" "$out"
	fi
done <queries
while IFS="$(printf '\t')" read -r label query; do
	has "list: $label" "$(ask "$query")" "$label=\"[a-zA-Z0-9.:]*\""
done <labels

busy=$(ask 'increase(mali_gpu_busy_seconds_total[1m])' | sed 's/.*=> //; s/ @.*//')
if awk -v busy="$busy" 'BEGIN { exit !(busy > 0) }'; then
	ok "the GPU was busy ($busy s of a minute)"
else
	not_ok "the GPU was busy" "$busy"
fi
kill $load
wait $load

# Once the GPU sleeps, these stand still.
sums='mali_gpu_busy_seconds_total|hw_gpu_io_bytes_total|mali_clock_cycles_total'
numbers()
{
	sed 's/, *\(job\|instance\)="[^"]*"//g; s/ => / /; s/ @.*//; s/, /,/g' |
		awk '{ n = split(substr($0, index($0, "{") + 1, index($0, "}") - index($0, "{") - 1), l, ","); labels = ""
			for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (l[j] < l[i]) { t = l[i]; l[i] = l[j]; l[j] = t }
			for (i = 1; i <= n; i++) labels = labels "," l[i]
			name = substr($0, 1, index($0, "{") - 1)
			value = substr($0, index($0, "}") + 1)
			printf "%s{%s} %.9g\n", name, labels, value }' | sort
}
equal()
{
	wget -qO- http://127.0.0.1:9477/metrics | grep -E "^($sums)" | numbers >want
	ask "{__name__=~\"$sums\"}" | numbers >got
	[ -s want ] && cmp -s got want
}
if until_true 60 equal; then
	ok "sums are those of the exporter: $(wc -l <want)"
else
	not_ok "sums are those of the exporter" "$(diff got want)"
fi
is "no alert is raised for a GPU that is well" "$(ask 'ALERTS{alertstate="firing"}')" ""

# The GPU is unbound, and bound again.
driver=/sys/bus/platform/drivers/panthor
name=$(basename "$GPU")
# alert LABELS: an alert is there
alert()
{
	ask "count(ALERTS{$1})" | grep -q '=> 1 '
}
no_alert()
{
	! alert "$1" && ask 'panthor_gpu_up' | grep -q '=> 1 '
}
echo "$name" >$driver/unbind
until_true 120 alert 'alertname="MaliGPUGone",alertstate="firing",gpu="renderD128"' && ok "an alert is raised for a GPU that is gone" ||
	not_ok "an alert is raised for a GPU that is gone" "$(ask ALERTS)" "$(ask panthor_gpu_up)"
echo "$name" >$driver/bind
until_true 120 no_alert 'alertname="MaliGPUGone"' && ok "and ends when it is back" ||
	not_ok "and ends when it is back" "$(ask ALERTS)" "$(ask panthor_gpu_up)"

kill -INT $exporter
wait $exporter
down()
{
	case $(ask 'sum(up)') in
	*'=> 0 '*) ;;
	*) return 1 ;;
	esac
}
until_true 60 down && ok "Prometheus sees that the exporter has gone" ||
	not_ok "Prometheus sees that the exporter has gone" "$(ask up)"
kill $prometheus
wait $prometheus
is "Prometheus ends well" $? 0
