# SPDX-License-Identifier: MIT
# Completion of panthor-perf for bash.

# _panthor_perf_options TOOL COMMAND: the long options that its --help tells of
_panthor_perf_options()
{
	command "$@" --help 2>/dev/null | sed -n 's/^ *\(-.,\)\{0,1\} *\(--[a-z-]*\).*/\2/p'
}

# _panthor_perf_products WORD: those that can be named, in the case in which the word begins
_panthor_perf_products()
{
	local products="G310 G510 G610 G710 G615 G715 G620 G720 G625 G725 G1-Pro G1-Premium G1-Ultra"

	case $1 in
	g*) echo "${products,,}" ;;
	*) echo "$products" ;;
	esac
}

_panthor_perf()
{
	local tool=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local command=${COMP_WORDS[1]} list

	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		list=$(command "$tool" 2>&1 | sed -n 's/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$list --help --version" -- "$word")
		return
	fi

	# "--event=a,b" is three words to bash, of which the middle one is =.
	if [ "$before" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	elif [ "$word" = = ]; then
		word=
	fi

	case $before in
	-d|--device)
		mapfile -t COMPREPLY < <(compgen -G "/dev/dri/renderD*" | grep "^$word")
		return
		;;
	-e|--event)
		# Only the last of a list; what is before it stays.
		list=$(command "$tool" list -x ';' 2>/dev/null | cut -d ';' -f 1)
		case $word in
		*,*) mapfile -t COMPREPLY < <(compgen -P "${word%,*}," -W "$list" -- "${word##*,}") ;;
		*) mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word") ;;
		esac
		return
		;;
	-g|--gpu)
		mapfile -t COMPREPLY < <(compgen -W "$(_panthor_perf_products "$word")" -- "$word")
		return
		;;
	-o|--output|-t|--textfile|--html|--socket)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	esac

	# These read files, and run nothing.
	case $command:$word in
	*:-*) ;;
	report:*|convert:*|diff:*)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return
		;;
	mark:*)
		return
		;;
	help:*)
		list=$(command "$tool" 2>&1 | sed -n 's/^  \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$list" -- "$word")
		return
		;;
	esac

	case $word in
	-*) mapfile -t COMPREPLY < <(compgen -W "$(_panthor_perf_options "$tool" "$command")" -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -c -f -- "$word") ;;
	esac
}

complete -o filenames -o bashdefault -F _panthor_perf panthor-perf
