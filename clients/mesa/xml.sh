#!/bin/bash
# SPDX-License-Identifier: MIT
# xml.sh DIRECTORY   write the counters of hardware, a file for each layout, in the format that Mesa's
#                    src/panfrost/perf/pan_gen_perf.py reads
#
# The categories are in the order of Mesa's other files: those of the front end take the place of the job manager's.

set -euo pipefail
DATA=$(dirname "$0")/../../tools/panthor-perf/data/hw_counters.csv

[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: xml.sh DIRECTORY" >&2; exit 2; }
awk -F, -v dir="$1" '
	function escaped(text) {
		gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text); gsub(/"/, "\\&quot;", text)
		return text
	}

	BEGIN {
		n = split("CSHW TILER MEMSYS SHADER", block, " ")
		title["CSHW"] = "Front end"; title["TILER"] = "Tiler"; title["MEMSYS"] = "Memory System"; title["SHADER"] = "Shader Core"
	}
	/^#/ { licence = licence substr($0, 3) "\n"; next }
	$1 == "layout" { next }
	{
		name = $1
		if ($7 == "")
			$7 = $5
		gsub(/^Mali[- ]/, "", name)
		if (!((name, $2) in events))
			layouts[name]
		events[name, $2] = events[name, $2] sprintf("        <event offset=\"%d\"%s counter=\"%s\" title=\"%s\" name=\"%s\" description=\"%s\" units=\"%s\"/>\n",
			$4, $10 ~ /^Advanced/ ? " advanced=\"yes\"" : "", escaped($5), escaped($8), escaped($7), escaped($7), $9 == "" ? "events" : $9)
	}
	END {
		for (name in layouts) {
			file = dir "/" name ".xml"
			printf "<!--\n%s-->\n<metrics id=\"%s\">\n", licence, name >file
			for (i = 1; i <= n; i++)
				printf "    <category name=\"%s\" per_cpu=\"no\">\n%s    </category>\n", title[block[i]],
					events[name, block[i]] >file
			print "</metrics>" >file
		}
	}' "$DATA"
