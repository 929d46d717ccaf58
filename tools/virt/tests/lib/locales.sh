# SPDX-License-Identifier: MIT
# Locales of the test's own (source it behind tap.sh), whatever this machine has.
#
#   LOCALES                    their names: de_DE has a decimal comma, in tr_TR the small letter of I is no i
#   make_locales               makes them, or ends the test
#   in_locale NAME COMMAND...  runs a program in one of them

LOCALES="C C.UTF-8 de_DE.UTF-8 tr_TR.UTF-8"

make_locales()
{
	local name

	mkdir "$SCRATCH/locale"
	for name in $LOCALES; do
		[ "$name" != C ] || continue
		localedef -i "${name%%.*}" -f UTF-8 "$SCRATCH/locale/$name" >"$SCRATCH/log" 2>&1
		# 1 is a warning.
		[ $? -gt 1 ] || continue
		not_ok "$name can be made" "$(cat "$SCRATCH/log")"
		exit 1
	done
	# What json-c asks of glibc leaks the path of locales.
	echo leak:__argz_add_sep >"$SCRATCH/suppressions"
	[ "$(in_locale de_DE.UTF-8 locale decimal_point)" = , ] && return
	not_ok "de_DE.UTF-8 has a decimal comma" "$(in_locale de_DE.UTF-8 locale)"
	exit 1
}

in_locale()
{
	env LOCPATH="$SCRATCH/locale" LC_ALL="$1" \
		LSAN_OPTIONS="suppressions=$SCRATCH/suppressions:print_suppressions=0" "${@:2}"
}
