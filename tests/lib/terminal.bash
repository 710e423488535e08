# terminal.bash - runs seep on a terminal, with keys that are typed.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# on_terminal [-k WHEN=KEYS]... [NAME=VALUE]... ARGUMENT of seep...: what is seen
# is in $T/screen, its status in $got
on_terminal() {
	local -a keys=() vars=()
	while [[ ${1:-} == -k ]]; do
		keys+=(-k "$2")
		shift 2
	done
	while [[ ${1:-} == *=* ]]; do
		vars+=("$1")
		shift
	done
	got=0
	env -u LESS -u PAGER -u SEEP_PAGER -u NO_COLOR -u COLUMNS TERM=xterm \
		"$PYTHON" "$LIB/on_terminal.py" "${keys[@]}" env "${vars[@]}" \
		"$SEEP" "$@" >"$T/screen" || got=$?
}
