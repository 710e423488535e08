# bash completion for seep, made by "seep completions bash"
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# COMMAND PLACE, an option or the number of an operand: what may stand there,
# into $kinds, between spaces; fails where nothing does, as behind a flag
_seep_kinds()
{
	kinds=
	case $1:$2 in
	#@ kinds
	*) return 1 ;;
	esac
}

_seep_options() # COMMAND
{
	case $1 in
	#@ options
	esac
	echo --help
}

_seep_commands() # no argument
{
	#@ commands
	:
}

# services of systemd whose names begin with $whole, into COMPREPLY; readline has
# split the word at "@" and ":", and replaces only "@" and what follows, or what
# follows ":"
_seep_offer_units()
{
	local unit manager=--system stem=${whole%"${whole##*[@:]}"}
	stem=${stem%@}
	[[ " ${COMP_WORDS[*]} " != *" --user "* ]] || manager=--user
	while read -r unit _; do
		[[ $unit == "$whole"* && $unit != *[^[:alnum:]:_.@\\-]* ]] || continue
		unit=${unit#"$stem"}
		printf -v unit %q "$unit"
		COMPREPLY+=("$unit")
	done < <({
		systemctl $manager --no-pager --no-legend --type=service list-unit-files
		systemctl $manager --no-pager --no-legend --type=service --all --plain list-units
	} 2>/dev/null | cut -d ' ' -f 1 | sort -u)
}

# $kinds, for $cur, into COMPREPLY; names of files are left to readline, which
# knows about quotes, where nothing else is offered
_seep_offer() # SEEP
{
	local kind words=
	for kind in $kinds; do
		case $kind in
		PID) words+=" $("$1" ls --pids 2>/dev/null | cut -f 1)" ;;
		COMMAND) words+=" $(_seep_commands)" ;;
		CMD) [[ $cur == */* ]] || words+=" $(compgen -c -- "$cur")" ;;
		FILE | DIR | UNIT) ;;
		*) words+=" $kind" ;;
		esac
	done
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	[[ $kinds != *" UNIT "* ]] || _seep_offer_units
	case $kinds in
	*" DIR "*) compopt -o dirnames ;;
	*" FILE "* | *" CMD "*)
		if [[ ${#COMPREPLY[@]} -gt 0 && $kinds == *" FILE "* ]]; then
			mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
			compopt -o filenames
		fi
		compopt -o default
		;;
	esac
}

# what follows a recorded program is that program's
_seep_program() # OFFSET
{
	if declare -F _command_offset >/dev/null; then
		_command_offset "$1"
	else
		compopt -o default
	fi
}

_seep()
{
	local cur=${COMP_WORDS[COMP_CWORD]} command='' option='' kinds='' word i
	local operand=0 dashes='' whole=${COMP_LINE:0:${COMP_POINT:-0}}
	whole=${whole##*[[:space:]]}
	[[ -n $whole ]] || whole=$cur
	COMPREPLY=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		word=${COMP_WORDS[i]}
		if [[ -z $command ]]; then
			command=$word
		elif [[ -n $option ]]; then # "=" is a word of its own
			[[ $word == = ]] || option=
		elif [[ ($word == [@:] || ${COMP_WORDS[i - 1]} == [@:]) && $operand -gt 0 ]]; then
			: # part of the operand before it
		elif [[ -z $dashes && $word == -- ]]; then
			dashes=1
		elif [[ -z $dashes && $word == -?* ]]; then
			! _seep_kinds "$command" "$word" || option=$word
		else
			((++operand))
			_seep_kinds "$command" "$operand"
			if [[ $kinds == *" CMD "* && $kinds != *" PID "* ]]; then
				_seep_program "$i"
				return
			fi
		fi
	done
	[[ $cur != = || -z $option ]] || cur=
	if [[ ($cur == [@:] || ${COMP_WORDS[COMP_CWORD - 1]} == [@:]) && $operand -gt 0 ]]; then
		((operand--))
	fi
	if [[ -z $command ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_seep_commands) --help --version" -- "$cur")
	elif [[ -n $option ]]; then
		! _seep_kinds "$command" "$option" || _seep_offer "$1"
	elif [[ -z $dashes && $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_seep_options "$command")" -- "$cur")
	elif _seep_kinds "$command" $((operand + 1)); then
		_seep_offer "$1"
	fi
}

complete -F _seep seep
