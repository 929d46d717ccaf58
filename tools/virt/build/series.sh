#!/bin/bash
# SPDX-License-Identifier: MIT
# series.sh [-p PART] [-s DIR] VERSION OUT   write our changes as patch series, for `git am` on Debian's source of that
#                                            kernel: for each part a directory with a cover letter; each part applies on
#                                            top of the one before
#
#   -p PART  write only that part: the number at the start of its directory's name in patches/series
#   -s DIR   also keep the git repository: one commit for each patch, and a tag part-N at the end of each part. It has
#            only files that the series changes
#
# The resulting tree is the source of the VM's kernels, with three differences that an overlay cannot make: our uAPI
# header is merged into panthor_drm.h, Kconfig.perf into Kconfig, and the lists of documents, selftests and maintainers
# include our files. patches/series defines what each patch contains. Patches have no Signed-off-by: only a person can
# give it.

. "$(dirname "$0")/common.sh"

SERIES=$TOP_DIR/patches/series
PANTHOR=drivers/gpu/drm/panthor
UAPI=include/uapi/drm/panthor_drm.h
OURS=$TOP_DIR/include/uapi/drm/panthor_perf_drm.h
# As Documentation/process/coding-assistants.rst of Linux wants it.
ASSISTED="Assisted-by: LLM coccinelle sparse"
USAGE="usage: series.sh [-p PART] [-s DIR] VERSION OUT"

# header FILE KEY: what a file of patches/series says of it.
header()
{
	awk -v key="$2:" '/^$/ { exit } $1 == key { sub(/^[^ ]* /, ""); print }' "$1"
}

message()
{
	awk '/^---$/ { exit } seen { print } /^$/ { seen = 1 }' "$1"
}

# The text of our header between two marks: all declarations, without what panthor_drm.h has itself.
uapi_text()
{
	awk '
		/^\/\*\* *$|^\/\*\*$/ { comment = $0; held = 1; next }
		held { comment = comment "\n" $0; if (!/ \*\//) next; held = 0
			if (comment ~ /define DRM_/) { skip = 1; next }
			if (comment ~ /DOC: Performance counters/) on = 1
			if (on) print comment
			next }
		/^#if defined\(__cplusplus\)/ && on { exit }
		skip { if (!/\\$/) skip = 0; if (/^$/) skip = 0; eat = 1; next }
		eat && /^$/ { eat = 0; next }
		{ eat = 0 }
		on { print }' "$OURS"
}

# What the comment of a define of ours says, as it stands: uapi_define NAME
uapi_define()
{
	awk -v name="$1" '
		/^\/\*\*$/ { text = ""; held = 1; mine = 0; next }
		held && / \*\// { if (mine) { printf "%s", text; exit } held = 0; next }
		held { if ($0 ~ "define " name " ") mine = 1; else text = text $0 "\n" }' "$OURS"
}

# merge_uapi FILE: panthor_drm.h with our text in its places.
merge_uapi()
{
	local file=$1 text=$1.text errors=$1.errors control query headers

	headers=$("$BUILD_DIR/kernel.sh" headers)

	uapi_text >"$text"
	# The errors of all commands belong to the struct that all of them pass.
	uapi_define DRM_IOCTL_PANTHOR_PERF_CONTROL | sed '1,/Returns 0/{/^ \*$/d}' >"$errors"
	control=$(sed -n 's/^#define DRM_PANTHOR_PERF_CONTROL //p' "$OURS")
	query=$(sed -n 's/^#define DRM_PANTHOR_DEV_QUERY_PERF_INFO //p' "$OURS")
	awk -v errors="$errors" '
		/struct drm_panthor_perf_control - / { mine = 1 }
		mine && /^ \*\/$/ {
			print " *"
			while ((getline line <errors) > 0)
				print line
			mine = 0
		}
		{ print }' "$text" >"$text.new"
	mv "$text.new" "$text"
	awk -v text="$text" -v control="$control" -v query="$query" '
		function ours(line) {
			while ((getline line <text) > 0)
				print line
			done = 1
		}
		# A number is only named where it is not the next one.
		function value(wanted, next_) { return wanted == next_ ? "" : " = " wanted }
		/^enum drm_panthor_ioctl_id / { list = "ioctl"; n = 0 }
		/^enum drm_panthor_dev_query_type / { list = "query"; n = 0 }
		list && /^\tDRM_[A-Z_]*( = 0)?,/ { n++ }
		list && /^};/ {
			if (list == "ioctl") {
				print ""
				print "\t/** @DRM_PANTHOR_PERF_CONTROL: Control a performance counter session. */"
				print "\tDRM_PANTHOR_PERF_CONTROL" value(control, n) ","
			} else {
				print ""
				print "\t/**"
				print "\t * @DRM_PANTHOR_DEV_QUERY_PERF_INFO: Query the performance counters of the GPU."
				print "\t */"
				print "\tDRM_PANTHOR_DEV_QUERY_PERF_INFO" value(query, n) ","
			}
			list = ""
		}
		# In later kernels the numbers of the ioctls come last, as an enum; ours comes last in it.
		/^\/\*\*$/ { held = $0; next }
		held != "" {
			if (/DRM_IOCTL_PANTHOR\(\) - / && seen_struct && !done)
				ours()
			print held
			held = ""
		}
		/^struct / { seen_struct = 1 }
		/^\tDRM_IOCTL_PANTHOR_/ { numbers = 1 }
		numbers && /^};/ {
			print "\tDRM_IOCTL_PANTHOR_PERF_CONTROL ="
			print "\t\tDRM_IOCTL_PANTHOR(WR, PERF_CONTROL, perf_control),"
			numbers = 0
		}
		/^#define DRM_IOCTL_PANTHOR_/ { macros = 1 }
		macros && /^$/ {
			print "#define DRM_IOCTL_PANTHOR_PERF_CONTROL \\"
			print "\tDRM_IOCTL_PANTHOR(WR, PERF_CONTROL, perf_control)"
			macros = 0
		}
		/^#if defined\(__cplusplus\)/ && seen_struct && !done { ours() }
		{ print }' "$file" >"$file.new"
	mv "$file.new" "$file"
	rm "$text" "$errors"
	# The numbers of our header are those that clients use.
	{
		echo "#include <linux/types.h>"
		echo "#include \"$file\""
		echo "_Static_assert(DRM_PANTHOR_PERF_CONTROL == $control, \"number of the ioctl\");"
		echo "_Static_assert(DRM_PANTHOR_DEV_QUERY_PERF_INFO == $query, \"number of the query\");"
		echo "enum { ours = DRM_IOWR(DRM_COMMAND_BASE + $control, struct drm_panthor_perf_control) };"
		echo "_Static_assert((int)DRM_IOCTL_PANTHOR_PERF_CONTROL == (int)ours, \"code of the ioctl\");"
		sed -n '/^#ifdef __cplusplus/,$p' "$TOP_DIR/tools/layout/uapi.c"
	} | "${CROSS}gcc" -fsyntax-only -Wall -Werror -isystem "$headers" -isystem "$headers/drm" -x c - ||
		die "panthor_drm.h with our text is not what our header says"
}

# Documents without the paragraphs that begin with another kernel.
of_this_kernel()
{
	awk -v RS= -v version="In Linux $VERSION" '
		{ text = $0; sub(/^ +/, "", text) }
		text !~ /^In Linux [0-9]/ || index(text, version) == 1 { printf "%s%s\n", between, $0; between = "\n" }'
}

# final DIR: all files that the series changes or adds, as they stand at its end.
final()
{
	local dir=$1 file place

	stage_patches "$SRC" "$dir" "$TOP_DIR/patches/$VERSION"/*.patch
	while IFS=$'\t' read -r file place; do
		mkdir -p "$dir/$(dirname "$place")"
		cp "$file" "$dir/$place"
	done < <("$BUILD_DIR/kernel.sh" overlay "$VERSION")
	rm "$dir/include/uapi/drm/panthor_perf_drm.h"
	cp "$SRC/$UAPI" "$dir/$UAPI"
	merge_uapi "$dir/$UAPI"

	for file in "$dir/$PANTHOR"/panthor_perf*.[ch] "$dir/$PANTHOR"/tests/*.c; do
		sed -i 's/panthor_perf_drm\.h/panthor_drm.h/' "$file"
	done

	{
		grep -v 'Kconfig\.perf"$' "$dir/$PANTHOR/Kconfig"
		sed 1,2d "$TOP_DIR/Kconfig.perf"
	} >"$dir/kconfig"
	mv "$dir/kconfig" "$dir/$PANTHOR/Kconfig"
	rm "$dir/$PANTHOR/Kconfig.perf"

	cp -r "$TOP_DIR/tools/perf/pmu-events/arch" "$dir/pmu-events"
	(cd "$dir/pmu-events" && find . -name '*.json') | while read -r file; do
		mkdir -p "$dir/tools/perf/pmu-events/arch/$(dirname "$file")"
		mv "$dir/pmu-events/$file" "$dir/tools/perf/pmu-events/arch/$file"
	done
	rm -r "$dir/pmu-events"
	cp "$SRC/tools/perf/pmu-events/jevents.py" "$dir/tools/perf/pmu-events/"
	patch -s --no-backup-if-mismatch -d "$dir" -p1 <"$TOP_DIR/tools/perf/pmu-events/jevents.patch" ||
		die "jevents.patch does not apply to Linux $VERSION"

	mkdir -p "$dir/Documentation/gpu"
	# The header is in the page of all uAPIs already. The model is not in the tree, nor are its switches.
	sed -e '/kernel-doc:: include\/uapi/c The uAPI is described in :doc:`driver-uapi`, with the rest of panthor'\''s.' \
		-e '/^[A-Z]/s/ (``[a-z_`, ]*``)//' -e '/^In parentheses is the switch/,+1d' \
		"$TOP_DIR/Documentation/gpu/panthor-perf.rst" | of_this_kernel >"$dir/Documentation/gpu/panthor-perf.rst"
	awk 'after { if (/^   panthor$/) { print; print "   panthor-perf" } else { print "   panthor-perf"; print }; after = 0; next }
		{ print } /^   panfrost$/ { after = 1 }' \
		"$SRC/Documentation/gpu/drivers.rst" >"$dir/Documentation/gpu/drivers.rst"
	(cd "$TOP_DIR" && find Documentation/ABI Documentation/admin-guide -type f) | while read -r file; do
		mkdir -p "$dir/$(dirname "$file")"
		of_this_kernel <"$TOP_DIR/$file" >"$dir/$file"
	done
	# The list of pages is the last thing in this file.
	awk '{ print } END { if (/^   [a-z0-9_-]+$/) print "   panthor-pmu" }' \
		"$SRC/Documentation/admin-guide/perf/index.rst" >"$dir/Documentation/admin-guide/perf/index.rst"
	# A page that Linux 6.12 does not have.
	if [ -e "$SRC/Documentation/gpu/panthor.rst" ]; then
		cp "$SRC/Documentation/gpu/panthor.rst" "$dir/Documentation/gpu/"
		patch -s --no-backup-if-mismatch -d "$dir" -p1 <"$TOP_DIR/Documentation/gpu/panthor.rst.patch" ||
			die "panthor.rst.patch does not apply to Linux $VERSION"
	fi
	awk '/^ARM MALI PANTHOR DRM DRIVER/ { mine = 1 } /^$/ { mine = 0 }
		mine && /^F:/ && !first {
			print "F:\tDocumentation/ABI/testing/sysfs-bus-event_source-devices-panthor"
			print "F:\tDocumentation/ABI/testing/sysfs-module-panthor"
			print "F:\tDocumentation/admin-guide/perf/panthor-pmu.rst"
			first = 1
		}
		{ print }
		mine && /gpu\/arm,mali-valhall-csf\.yaml/ { print "F:\tDocumentation/gpu/panthor*.rst" }
		mine && /include\/uapi\/drm\/panthor_drm\.h/ {
			print "F:\ttools/perf/pmu-events/arch/arm64/mali/"
			print "F:\ttools/testing/selftests/drivers/gpu/panthor/"
		}' \
		"$SRC/MAINTAINERS" >"$dir/MAINTAINERS"

	mkdir -p "$dir/tools/testing/selftests/drivers/gpu"
	cp -r "$TOP_DIR/tools/testing/selftests/drivers/gpu/panthor" "$dir/tools/testing/selftests/drivers/gpu/"
	sed -i '/__has_include(<drm\/panthor_perf_drm\.h>)/,/#endif/d' \
		"$dir/tools/testing/selftests/drivers/gpu/panthor/perf.h"
	awk '/^TARGETS \+= drivers\// && !done && $3 > "drivers/gpu/panthor" { print "TARGETS += drivers/gpu/panthor"; done = 1 }
		{ print }' "$SRC/tools/testing/selftests/Makefile" >"$dir/tools/testing/selftests/Makefile"

	for file in Documentation/gpu/drivers.rst Documentation/admin-guide/perf/index.rst MAINTAINERS \
		tools/testing/selftests/Makefile; do
		! cmp -s "$SRC/$file" "$dir/$file" || die "$file of Linux $VERSION has no place for our line"
	done
}

in_repo()
{
	git -C "$REPO" -c user.name=panthor-perf -c user.email=panthor-perf@localhost -c core.hooksPath=/dev/null \
		-c commit.gpgSign=false -c core.autocrlf=false -c core.excludesFile=/dev/null "$@"
}

# commit FILE LATER...: one patch, by a file of patches/series; LATER are those that come after it.
commit()
{
	local file=$1 patch pattern f subject files

	subject=$(header "$file" Subject)
	pattern=$(header "$file" Patch)
	if [ -n "$pattern" ]; then
		# shellcheck disable=SC2206
		patch=("$TOP_DIR/patches/$VERSION"/$pattern)
		[ ${#patch[@]} -eq 1 ] || die "$file: its Patch means ${#patch[@]} files of patches/$VERSION, not one"
		git -C "$FULL" apply --exclude='*/Kconfig' --exclude='*/Makefile' --exclude='*/Kbuild' "${patch[0]}" ||
			die "${patch[0]} does not apply"
	fi
	read -ra files < <(header "$file" Files) || true
	for pattern in "${files[@]}"; do
		while read -r f; do
			mkdir -p "$FULL/$(dirname "$f")"
			cp "$FINAL/$f" "$FULL/$f"
		done < <(cd "$FINAL" && compgen -G "$pattern" || die "$file: there is no $pattern")
	done
	"$BUILD_DIR/series-step.py" "$VERSION" "$FULL" "$REPO" "${@:2}" || die "patches/series is not up to date"
	in_repo add -f -A .
	{
		if [ -n "$subject" ]; then
			printf '%s\n\n' "$subject"
			message "$file"
		else
			# The subject may go on in a second line; what follows is the message.
			awk '/^Subject: / { on = 1; sub(/^Subject: \[PATCH\] /, "") } /^---$/ { exit }
				on == 1 && /^$/ { printf "\n\n"; on = 2; next }
				on == 1 { printf "%s", $0 } on == 2 { print }' "${patch[0]}"
		fi
	} | in_repo commit -q --trailer "$ASSISTED" -F - || die "$file: nothing to commit"
}

figures()
{
	awk -v kernel="$VERSION" '!/^#/ && index($1, kernel) == 1 && $3 == "g610" &&
		$4 ~ /^(empty-ioctl|round-trip|round-trip-more|period-1|start|stop|suspend-0|suspend-1|resume-0|resume-1)$/ {
			printf "  %-14s %6d\n", $4, $5; release = $1; compiler = $2 }
		END { print "\n(Linux " release ", " compiler ", Mali-G610)" }' "$TOP_DIR/tools/virt/tests/driver/icount.figures"
}

release()
{
	awk '$1 ~ /^(VERSION|PATCHLEVEL|SUBLEVEL)$/ { printf "%s%s", point, $3; point = "." } /^NAME/ { exit }' "$SRC/Makefile"
}

# cover LETTER FILE: the text of a cover letter in place of what git wrote there.
cover()
{
	figures >"$WORK/figures"
	# What is in a line that begins with @ and a kernel is for that kernel alone.
	message "$1" | sed -e "s/^@$VERSION //" -e '/^@[0-9]/d' -e "s/@RELEASE@/$(release)/" -e "/@FIGURES@/{r $WORK/figures
d}" >"$WORK/letter"
	sed -i -e "s|\*\*\* SUBJECT HERE \*\*\*|$(header "$1" Subject)|" -e "/\*\*\* BLURB HERE \*\*\*/{r $WORK/letter
d}" "$2"
}

KEEP=
ONLY=
while getopts p:s: option; do
	case $option in
	p) ONLY=$OPTARG ;;
	s) KEEP=$OPTARG ;;
	*) die "$USAGE" ;;
	esac
done
shift $((OPTIND - 1))
[ $# -eq 2 ] || die "$USAGE"
VERSION=$1
OUT=$2
case " $KERNELS " in
*" $VERSION "*) ;;
*) die "no kernel $VERSION: there are $KERNELS" ;;
esac
parts=("$SERIES"/${ONLY:-[0-9]}-*)
[ -d "${parts[0]}" ] || die "there is no part $ONLY: there are $(cd "$SERIES" && echo [0-9]-*)"
need_tool git git
need_tool patch patch
need_tool "${CROSS}gcc" gcc-aarch64-linux-gnu
SRC=$("$BUILD_DIR/sources.sh" linux "$VERSION")
WORK=$(mktemp -d "${TMPDIR:-/tmp}/series.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
FINAL=$WORK/final
FULL=$WORK/full
REPO=$WORK/repo
mkdir -p "$FINAL" "$FULL" "$REPO"
final "$FINAL"

# One date for all: that of the last change of what they are made from.
date=$(git -C "$TOP_DIR" log -1 --format=%cI 2>/dev/null || date -Is)
export GIT_AUTHOR_DATE=$date GIT_COMMITTER_DATE=$date
in_repo init -q -b series
git -C "$FULL" init -q
(cd "$FINAL" && find . -type f -printf '%P\n') | while read -r f; do
	[ -e "$SRC/$f" ] || continue
	mkdir -p "$FULL/$(dirname "$f")" "$REPO/$(dirname "$f")"
	cp "$SRC/$f" "$FULL/$f"
	cp "$SRC/$f" "$REPO/$f"
done
in_repo add -f -A .
in_repo commit -q -m "Linux $VERSION as Debian ships it"
in_repo tag part-0

steps=()
for file in "$SERIES"/[0-9]-*/[0-9]*; do
	only=$(header "$file" Kernels)
	[ -n "$only" ] && [[ " $only " != *" $VERSION "* ]] || steps+=("$file")
done
for n in "${!steps[@]}"; do
	commit "${steps[@]:n}"
	part=$(basename "$(dirname "${steps[n]}")")
	in_repo tag -f "part-${part%%-*}" >/dev/null
done
diff -r --exclude=.git "$FINAL" "$REPO" >"$WORK/diff" ||
	{ sed 's/^/    /' "$WORK/diff" >&2; die "patches/series does not bring all that the overlay has"; }

for part in "${parts[@]}"; do
	dir=$OUT/$(basename "$part")
	n=$(basename "$part" | cut -d - -f 1)
	mapfile -t cc < <(header "$part/cover-letter" Cc)
	mkdir -p "$dir"
	rm -f "$dir"/*.patch
	# What no board has run is for comments. The mends of part 1 are panthor's own.
	prefix="RFC PATCH"
	[ "$n" != 1 ] || prefix=PATCH
	in_repo format-patch -q --subject-prefix="$prefix" --zero-commit --no-signature --abbrev=12 --cover-letter "${cc[@]/#/--cc=}" \
		-o "$(cd "$dir" && pwd)" "part-$((n - 1))..part-$n"
	cover "$part/cover-letter" "$dir/0000-cover-letter.patch"
done
if [ -n "$KEEP" ]; then
	rm -rf "$KEEP"
	mv "$REPO" "$KEEP"
fi
