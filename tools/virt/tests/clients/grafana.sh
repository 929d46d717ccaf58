#!/bin/bash
# SPDX-License-Identifier: MIT
# configs: stock
# long: stock
# The dashboard and the alerts of packaging/grafana, with a Prometheus of Debian's that scrapes panthor-perf export
# for two minutes: no panel is empty, no rule is wrong, and what it shows is what the exporter says.
set -u
. "$(dirname "$0")/../lib/tap.sh"

packaging=$VIRT_DIR/../../packaging/grafana

# As Grafana would ask for all hosts and GPUs.
jq -r '.panels[] | .title as $title | .targets[] | $title + "\t" + .expr' "$packaging/mali.json" |
	sed 's/\$__rate_interval/1m/g; s/\$\(instance\|gpu\)/.*/g' >"$SCRATCH/queries"
jq -r '.templating.list[] | select(.type == "query") | .query.query' "$packaging/mali.json" |
	sed -n 's/label_values(\(.*\), \([a-z]*\))/\2\t\1/p' | sed 's/\$instance/.*/' >"$SCRATCH/labels"
queries=$(wc -l <"$SCRATCH/queries")
labels=$(wc -l <"$SCRATCH/labels")
plan $((queries + labels + 11 + 1))
guest_script $((queries + labels + 11)) grafana -g g610 -m 2048 -t 1800 -r none:trixie -a prometheus \
	-f "$SCRATCH/queries" -f "$SCRATCH/labels" -f "$packaging/mali-rules.yml"
