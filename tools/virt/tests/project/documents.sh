#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: none
# quick: none
# What the driver shows to user space is described where people look for it, and what the pages name is there.
set -u
. "$(dirname "$0")/../lib/tap.sh"

top=$(cd "$VIRT_DIR/../.." && pwd)
cd "$top" || exit
sources=(drivers/gpu/drm/panthor/*.c backports/*.[ch] backports/*/*.[ch])
page=Documentation/gpu/panthor-perf.rst
pmu=Documentation/admin-guide/perf/panthor-pmu.rst
abi=Documentation/ABI/testing/sysfs-bus-event_source-devices-panthor

# files: the existing ones of the sources
files()
{
	ls -d "${sources[@]}" 2>/dev/null
}

# missing FILE: those of the lines that come in which the file does not have
missing()
{
	while read -r line; do
		grep -qF -e "$line" "$1" || echo "$line"
	done
}

plan 13
# shellcheck disable=SC2046
is "ABI has each file of the PMU" "$(sed -n 's/.*DEVICE_ATTR_[A-Z]*(\([a-z_]*\)).*/\1/p
	s/.*PMU_FORMAT_ATTR(\([a-z_]*\), .*/\1 =/p' $(files) | missing "$abi")" ""
# shellcheck disable=SC2046
is "ABI has each parameter of the module" "$(sed -n 's/^module_param(\([a-z_]*\),.*/parameters\/\1/p' $(files) |
	missing Documentation/ABI/testing/sysfs-module-panthor)" ""
# shellcheck disable=SC2046
is "panthor.rst has each key of fdinfo" "$(sed -n 's/.*"\(panthor-perf-[a-z]*:\)\\t.*/\1/p' $(files) |
	missing Documentation/gpu/panthor.rst.patch)" ""
is "the PMU's page has each event that the kernel makes" \
	"$(sed -n 's/^\t{ "\([a-z_]*\)", 0x00.*/\1/p' drivers/gpu/drm/panthor/panthor_perf_pmu_events.h | missing "$pmu")" ""

# A file and a title in it, for each directive.
titles=$(awk '/^.. kernel-doc::/ { file = $3 } /^   :doc:/ { sub(/^   :doc: /, ""); print file ":" $0 }' "$page")
is "each comment that the page takes from a source is there" "$(while IFS=: read -r file title; do
	grep -qxF -e " * DOC: $title" "$file" || echo "$file: $title"
done <<<"$titles")" ""
# shellcheck disable=SC2046
is "each comment of the driver's own files is in the page" \
	"$(grep -o 'DOC: .*' $(files) drivers/gpu/drm/panthor/panthor_perf_*.h | sed 's/DOC: //' | grep -vxF "$titles")" ""

# shellcheck disable=SC2046
is "the page has each lock" "$(sed -n 's/^\t\(struct mutex\|spinlock_t\) \([a-z_]*\);.*/::\2/p' $(files) \
	drivers/gpu/drm/panthor/panthor_perf_*.h | sort -u | missing "$page")" ""

is "each function that a page names is there" "$(grep -ohE 'panthor_perf_[a-z_]+\(\)' "$page" tools/ordering/README | sort -u |
	tr -d '()' | while read -r name; do
		grep -rqE "\b$name\(" drivers/gpu/drm/panthor || echo "$name"
	done)" ""

# gpu/panthor.rst is the kernel's own.
is "each page that a text names is there" "$(grep -rohE 'Documentation/[A-Za-z0-9_/.*-]*[a-z*]' README Documentation drivers \
	patches/series clients tools/ordering tools/perf debian | sort -u |
	grep -E 'panthor' | grep -vxF Documentation/gpu/panthor.rst | while read -r file; do
		compgen -G "$file" >/dev/null || echo "$file"
	done)" ""

# panthor_drm.h is the kernel's own, and check -L writes long-runs.csv.
# shellcheck disable=SC2046
is "each file that a README names is there" \
	"$(grep -ohE '[A-Za-z0-9_.-]+\.(sh|c|h|py|csv|figures|patch|list)\b' $(find . -name README -not -path './.git/*') | sort -u |
	grep -vxE 'panthor_drm\.h|long-runs\.csv' | while read -r name; do
		[ -n "$(find . -name "$name" -not -path './.git/*' -print -quit)" ] || echo "$name"
	done)" ""

told=$(sed -n '/^What the driver tells of itself$/,/^What the driver promises$/p' Documentation/virtual-mali.rst)
# shellcheck disable=SC2046
is "virtual-mali.rst has each key of debugfs" "$(grep -hE '_printf\(' $(files) | grep -oE '[" ][a-z_-]+(: |=)%' |
	tr -d '" :=%' | sort -u | while read -r key; do
		grep -qwF -e "$key" <<<"$told" || echo "$key"
	done)" ""
is "virtual-mali.rst has each tracepoint" \
	"$(sed -nE 's/^(TRACE_EVENT|DEFINE_EVENT\(panthor_perf_session, )\(?panthor_perf_([a-z_]*),/\2/p' drivers/gpu/drm/panthor/panthor_perf_trace.h |
	while read -r name; do
		grep -qwF -e "$name" <<<"$told" || echo "$name"
	done)" ""

tests=tools/virt/tests
is "each report of panthor's own is one that some test may meet, and no test has others" \
	"$(grep -l '^allow_known$' $tests/*/*.sh | sed 's/.*\///; s/\.sh$//' | sort
	grep -lE '^[^#]*VIRT_ALLOW_REPORT=' $tests/*/*.sh | grep -vE '/(run|suspend-fence|tap)\.sh$')" \
	"$(awk -F';' '!/^#/ { gsub(" ", "\n", $5); print $5 }' tools/virt/data/panthor-reports.csv | sort -u)"
