#!/usr/bin/env bats
# shells_complete_the_command_line - completion works in the real bash, zsh and fish.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# a "seep" on the PATH that says how it was called; ls is the real one
start_shells() {
	mkdir "$T/bin" "$T/home"
	printf '#!/bin/sh\n[ "$1" != ls ] || exec %s "$@"\necho "RAN: $*;"\n' \
		"$SEEP" >"$T/bin/seep"
	chmod +x "$T/bin/seep"
	export PATH=$T/bin:$PATH SEEP_DIR=$DIR HOME=$T/home
	cd "$T/home" || return
	: >seep.data
	mkdir traces
}

# in_bash WORD...: what bash offers for the last word, sorted, on one line
in_bash() {
	bash --norc -c '
		source "$1"
		shift
		compopt() { echo "compopt $*" >>../offers; }
		: >../offers
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		COMP_LINE=$* COMP_LINE=${COMP_LINE// @ /@} COMP_POINT=${#COMP_LINE}
		_seep seep "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}" | sort | cat - ../offers | paste -sd " " |
			sed "s/^ //"
	' bash "$T/seep.bash" "$@"
}

# offers EXPECTED WORD...
offers() {
	local expected=$1 got
	shift
	got=$(in_bash "$@")
	[[ $got == "$expected" ]] && return
	echo "for: $*"
	echo "expected: $expected"
	echo "got:      $got"
	return 1
}

@test "every option and every command is in each script" {
	local shell command option
	for shell in bash zsh fish; do
		"$SEEP" completions "$shell" >"$T/seep.$shell"
	done
	"$SEEP" help | sed -nE 's/^  ([a-z]+) +.*/\1/p' >"$T/commands"
	[[ $(wc -l <"$T/commands") -ge 8 ]]
	while read -r command; do
		"$SEEP" "$command" --help | sed -nE 's/^  .*--([a-z-]+).*/\1/p' >"$T/options"
		grep -qx help "$T/options"
		while read -r option; do
			grep -qE "${command}[:)].*--$option\b" "$T/seep.bash" ||
				[[ $option == help ]]
			grep -qE "\-\-$option" "$T/seep.zsh"
			grep -qE "$command.* -l $option( |$)" "$T/seep.fish"
		done <"$T/options"
	done <"$T/commands"
}

@test "the scripts have no syntax errors" {
	"$SEEP" completions bash >"$T/seep.bash"
	bash -n "$T/seep.bash"
	need shellcheck
	shellcheck "$T/seep.bash"
	"$SEEP" completions zsh >"$T/seep.zsh"
	need zsh
	zsh -n "$T/seep.zsh"
	"$SEEP" completions fish >"$T/seep.fish"
	need fish
	fish -n "$T/seep.fish"
	complains 2 "$SEEP" completions tcsh
}

@test "bash: commands, options, words, programs" {
	start_shells
	"$SEEP" completions bash >"$T/seep.bash"
	offers "record replay report" seep re
	offers "--version" seep --v
	offers "--format" seep report --fo
	offers "html json text" seep report --format ""
	offers "html json text" seep report --format =
	offers "json" seep report --format = j
	offers "pprof" seep export --format pp
	offers "always auto never" seep report --top 5 --color ""
	offers "" seep report --top ""
	offers "compopt -o default" seep report se
	offers "compopt -o default" seep report -o ""
	offers "compopt -o dirnames" seep report --debug-dir ""
	offers "--interval" seep record -q --i
	printf '#!/bin/sh\n' >"$T/bin/rang-this"
	chmod +x "$T/bin/rang-this"
	offers "rang-this compopt -o default" seep record -q rang-
	offers "compopt -o default" seep record -q ls --i
	offers "compopt -o default" seep record -o x -- ls --i
	offers "completions" seep help comp
	offers "bash fish zsh" seep completions ""
	offers "compopt -o dirnames" seep ls "" # of --history
	offers "" seep frobnicate ""
}

@test "bash: pids of traced processes" {
	start_shells
	waiting
	"$SEEP" completions bash >"$T/seep.bash"
	offers "$HOST" seep off ""
	offers "$HOST" seep snapshot -o x "${HOST:0:1}"
	offers "" seep on "$HOST" ""
	offers "$HOST seep.data traces compopt -o filenames compopt -o default" \
		seep report ""
}

# units_of_systemd: a systemctl with these units; those of --user have another name
units_of_systemd() {
	cat >"$T/bin/systemctl" <<-'END'
		#!/bin/sh
		case "$*" in
		*--user*list-unit-files*) echo 'zq-mine.service enabled enabled' ;;
		*list-unit-files*)
			echo 'zq-redis.service enabled enabled'
			echo 'zq-getty@.service  static -'
			printf '%s\n' 'zq-a\x2db.service static -' 'zq-$(touch evil).service x'
			;;
		*--user*) ;;
		*list-units*) echo 'zq-getty@tty1.service loaded active running A terminal' ;;
		esac
	END
	chmod +x "$T/bin/systemctl"
	printf '#!/bin/sh\n' >"$T/bin/zq-program"
	chmod +x "$T/bin/zq-program"
}

@test "bash: units of systemd, programs and pids for doctor" {
	start_shells
	units_of_systemd
	waiting
	"$SEEP" completions bash >"$T/seep.bash"
	offers "enable" seep service en
	offers 'zq-a\\x2db.service zq-getty@.service zq-getty@tty1.service zq-redis.service' seep service enable zq
	offers "zq-mine.service" seep service --user status zq
	offers "zq-mine.service" seep service status --user zq
	offers "" seep service status zq-redis.service zq
	offers "@tty1.service" seep service enable zq-getty @ t
	offers "zq-program compopt -o default" seep doctor -q zq-p
	offers "zq-redis.service compopt -o default" seep doctor zq-r
	offers "$HOST compopt -o default" seep doctor "$HOST"
	[[ ! -e evil ]]
}

# keys SHELL... -- WHEN=KEYS...: an interactive shell; what it said in $T/screen
keys() {
	local -a shell=() press=()
	while [[ $1 != -- ]]; do
		shell+=("$1")
		shift
	done
	shift
	for key; do
		press+=(-k "$key")
	done
	TERM=dumb "$PYTHON" "$LIB/on_terminal.py" -c 200 -t 30 "${press[@]}" \
		"${shell[@]}" >"$T/screen" || true
	grep -a RAN "$T/screen" || {
		cat -v "$T/screen"
		return 1
	}
}

@test "bash: with the keyboard" {
	start_shells
	"$SEEP" completions bash >"$T/seep.bash"
	printf 'source %s; PS1="at? "\n' "$T/seep.bash" >"$T/rc"
	units_of_systemd
	keys bash --rcfile "$T/rc" -i -- 'at? =seep repo\t--fo\tjs\t-o tr\tx\r' \
		';=seep service en\tzq-getty@t\t\r' ';=seep doctor zq-a\t\r' ';=exit\r'
	grep -aq 'RAN: report --format json -o traces/x;' "$T/screen"
	grep -aq 'RAN: service enable zq-getty@tty1.service;' "$T/screen"
	grep -aqF 'RAN: doctor zq-a\x2db.service;' "$T/screen"
}

@test "zsh: with the keyboard" {
	need zsh
	start_shells
	waiting
	mkdir "$T/fpath"
	"$SEEP" completions zsh >"$T/fpath/_seep"
	printf 'fpath=(%s $fpath); autoload -Uz compinit; compinit -u -d %s; PS1="at? "\n' \
		"$T/fpath" "$T/dump" >"$T/home/.zshrc"
	units_of_systemd
	ZDOTDIR=$HOME keys zsh -i -- \
		'at? =seep repo\t--fo\tjs\t -o tr\tx\r' \
		";=seep off ${HOST:0:1}\\t\\r" ';=seep service en\tzq-getty@t\t\r' ';=seep service --user status zq\t\r' \
		';=seep doctor zq-p\t\r' ';=seep doctor zq-a\t\r' ";=seep doctor $HOST\\t\\r" ";=exit\\r"
	grep -aq 'RAN: report --format=json -o traces/x;' "$T/screen"
	grep -aq "RAN: off $HOST *;" "$T/screen"
	grep -aq 'RAN: service enable zq-getty@tty1.service *;' "$T/screen"
	grep -aq 'RAN: service --user status zq-mine.service *;' "$T/screen"
	grep -aq 'RAN: doctor zq-program *;' "$T/screen"
	grep -aqF 'RAN: doctor zq-a\x2db.service' "$T/screen"
	grep -aq "RAN: doctor $HOST *;" "$T/screen"
}

@test "zsh: sourced, and a recorded program" {
	need zsh
	start_shells
	"$SEEP" completions zsh >"$T/seep.zsh"
	printf 'autoload -Uz compinit; compinit -u -d %s; source %s; PS1="at? "\n' \
		"$T/dump" "$T/seep.zsh" >"$T/home/.zshrc"
	ZDOTDIR=$HOME keys zsh -i -- 'at? =seep record --qui\t basenam\t tra\t\r' ';=exit\r'
	grep -aq 'RAN: record --quiet basename traces/* *;' "$T/screen"
}

# in_fish LINE: the candidates without their descriptions, on one line
in_fish() {
	fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
		"$T/seep.fish" "$1" | cut -f 1 | sort | paste -sd " "
}

@test "fish: commands, options, words, programs, pids" {
	need fish
	start_shells
	waiting
	"$SEEP" completions fish >"$T/seep.fish"
	[[ $(in_fish "seep re") == "record replay report" ]]
	[[ $(in_fish "seep report --fo") == "--format" ]]
	[[ $(in_fish "seep report --format ") == "html json text" ]]
	[[ $(in_fish "seep report --format=j") == "--format=json" ]]
	[[ $(in_fish "seep report -o se") == "seep.data" ]]
	[[ $(in_fish "seep report --debug-dir ") == "traces/" ]]
	[[ $(in_fish "seep report se") == "seep.data" ]]
	[[ $(in_fish "seep off ") == "$HOST" ]]
	[[ $(in_fish "seep help rec") == "record" ]]
	[[ $(in_fish "seep completions z") == "zsh" ]]
	[[ $(in_fish "seep record --int") == "--interval" ]]
	[[ $(in_fish "seep record --depth 3 basenam") == "basename" ]]
	[[ $(in_fish "seep record -o x -- basename tr") == "traces/" ]]
	[[ -z $(in_fish "seep record ls --interv") ]]
	units_of_systemd
	[[ $(in_fish "seep service en") == "enable" ]]
	[[ $(in_fish "seep service enable zq-g") == 'zq-getty@.service zq-getty@tty1.service' ]]
	[[ $(in_fish "seep service --only x status --user zq") == "zq-mine.service" ]]
	[[ -z $(in_fish "seep service enable zq-redis.service zq") ]]
	[[ $(in_fish "seep doctor zq-") == *'zq-getty@.service zq-getty@tty1.service zq-program zq-redis.service'* ]]
	[[ $(in_fish "seep doctor ${HOST:0:2}") == *"$HOST"* ]]
	[[ ! -e evil ]]
}
