#compdef seep
# zsh completion for seep, made by "seep completions zsh"
# SPDX-License-Identifier: Apache-2.0

_seep_pids()
{
	local -a lines
	lines=(${(f)"$(_call_program pids seep ls --pids 2>/dev/null)"})
	lines=(${${lines//:/\\:}/$'\t'/:})
	_describe -t pids 'traced process' lines
}

_seep_inputs()
{
	_alternative 'pids:traced process:_seep_pids' 'files:file:_files'
}

_seep_units()
{
	local -a units
	local expl manager=--system

	((!${words[(I)--user]})) || manager=--user
	units=(${(f)"$(_call_program units systemctl $manager --no-pager --no-legend --type=service list-unit-files 2>/dev/null
		_call_program units systemctl $manager --no-pager --no-legend --type=service --all --plain list-units 2>/dev/null)"})
	units=(${(u)units%% *})
	_wanted units expl service compadd -a units
}

# a command, a process or a unit
_seep_subjects()
{
	if [[ $PREFIX == */* ]]; then
		_files -g '*(-*)'
	else
		_alternative 'pids:traced process:_seep_pids' \
			'commands:program:_command_names -e' 'units:service:_seep_units'
	fi
}

_seep_commands()
{
	local -a commands
	commands=(
		#@ commands
	)
	_describe -t commands 'seep command' commands
}

_seep()
{
	local curcontext=$curcontext state line ret=1
	typeset -A opt_args

	_arguments -C \
		'(- *)'{-h,--help}'[the list of commands]' \
		'(- *)--version[which seep this is]' \
		'1: :_seep_commands' \
		'*:: :->arguments' && ret=0
	[[ $state == arguments ]] || return ret
	curcontext="${curcontext%:*:*}:seep-$words[1]:"
	case $words[1] in
	#@ options
	*) _message 'no such command' ;;
	esac && ret=0
	return ret
}

if [[ $funcstack[1] == _seep ]]; then
	_seep "$@"
else
	compdef _seep seep
fi
