# service.bash - seep service with a systemctl that only reads files; all below $T.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# fake_systemd: $T/bin/systemctl, whose units are $T/units/NAME.service with more
# properties in NAME.service.show; what it was asked is in $T/calls
fake_systemd() {
	mkdir -p "$T/bin" "$T/units" "$T/config"
	export FAKE=$T XDG_CONFIG_HOME=$T/config XDG_RUNTIME_DIR=$T/runtime
	unset SEEP_DIR
	cat >"$T/bin/systemctl" <<-'END'
		#!/bin/bash
		echo "$*" >>"$FAKE/calls"
		[[ ! -e $FAKE/silent ]] || exit 1
		while [[ $1 == --no-pager || $1 == --user ]]; do shift; done
		verb=$1 name=${3:-}
		if [[ -e $FAKE/fails-$verb ]]; then
			cat "$FAKE/fails-$verb" >&2
			exit 1
		fi
		[[ $verb == show ]] || exit 0
		file=$FAKE/units/$name
		[[ -e $file ]] || file=$FAKE/units/${name/@*./@.}
		[[ ! -L $file ]] || name=$(basename "$(readlink "$file")")
		echo "Id=$name"
		if [[ ! -e $file ]]; then
			echo "LoadState=not-found"
			exit
		fi
		shopt -s nullglob
		drop_ins=()
		for place in "$XDG_CONFIG_HOME" "$XDG_RUNTIME_DIR"; do
			drop_ins+=("$place/systemd/user/$name.d"/*.conf)
			[[ $name != *@?*.* ]] || drop_ins+=("$place/systemd/user/${name/@*./@.}.d"/*.conf)
		done
		echo "FragmentPath=$(readlink -f "$file")"
		printf 'DropInPaths='
		printf '"%s" ' "${drop_ins[@]}"
		printf '\nEnvironment='
		# systemd prints each variable once, with its last value
		sed -n 's/^Environment=//p' "$file" "${drop_ins[@]}" | tac | sed 's/%%/%/g' | tr '\n' ' '
		sed -n 's/^EnvironmentFile=-\(.*\)/\nEnvironmentFiles=\1 (ignore_errors=yes)/p' "$file" "${drop_ins[@]}"
		echo
		grep -q ^LoadState= "$file.show" 2>/dev/null || echo LoadState=loaded
		cat "$file.show" 2>/dev/null
		true
	END
	chmod +x "$T/bin/systemctl"
	PATH=$T/bin:$PATH
}

# unit NAME LINE...: a service with these lines in [Service]
unit() {
	local name=$1
	shift
	printf '%s\n' '[Service]' "$@" >"$T/units/$name.service"
}

# the drop-in of a unit
drop_in() { echo "$T/config/systemd/user/$1.service.d/50-seep.conf"; }

# refused STATUS WORDS COMMAND...: it ends so, in one line with these words, and
# nothing is left
refused() {
	local status=$1 words=$2 got=0
	shift 2
	"$@" >"$T/stdout" 2>"$T/stderr" || got=$?
	cat "$T/stdout" "$T/stderr"
	[[ $got -eq $status && ! -s $T/stdout ]]
	[[ $(wc -l <"$T/stderr") -eq 1 ]]
	grep -qF -- "$words" "$T/stderr"
}

# variables FILE: the variables of a drop-in, as systemd reads them, one a line,
# with bytes that are no text escaped
variables() {
	"$PYTHON" - "$1" <<-'END'
		import re, sys
		escape = {"n": "\n", "t": "\t", "\\": "\\", '"': '"', "s": " "}
		for line in open(sys.argv[1], encoding="utf-8", errors="surrogateescape"):
		    m = re.match(r'Environment="(.*)"$', line)
		    if m:
		        text = re.sub(r'\\(x..|.)', lambda e: chr(int(e[1][1:], 16)) if e[1][0] == "x" else escape[e[1]], m[1])
		        print(repr(text.replace("%%", "%")))
	END
}
