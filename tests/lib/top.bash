# top.bash - seep top on a terminal of tmux, and a host that does what it is told.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/host.bash"

eval "host_$(declare -f teardown)"
teardown() {
	end_tmux
	host_teardown
}

# start_host [VARIABLE=VALUE...]: the host on_show, traced; its pid is in $HOST
start_host() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" "$HOSTS/on_show" \
		<"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
	told=0
}

# tell WORDS...: to the host, and it has done so
tell() {
	echo "$*" >&9
	told=$((told + 1))
	eventually has_obeyed
}
has_obeyed() { [[ $(grep -c '^done' "$T/out") -eq $told ]]; }

# a server of its own for each terminal: one that ends is no good for the next
end_tmux() {
	[[ -z ${SOCKET:-} ]] || tmux -S "$SOCKET" kill-server 2>/dev/null || true
	SOCKET=
}

# on_tmux COMMAND...: of the server
on_tmux() { tmux -S "$SOCKET" "$@"; }

# in_tmux COLUMNS ROWS COMMAND: on a terminal of this size
in_tmux() {
	need tmux
	end_tmux
	SOCKET=$OWN_DIR/tmux.$((++servers))
	(cd "$T" && exec env -u TMUX tmux -S "$SOCKET" -u -f /dev/null \
		new-session -d -x "$1" -y "$2" "$3") 3>&-
}

# top COLUMNS ROWS ARGUMENT...: NAME=VALUE first; when it ends, "status N" is shown
top() {
	local size=("$1" "$2") vars=()
	shift 2
	while [[ ${1:-} == *=* ]]; do
		vars+=("$1")
		shift
	done
	in_tmux "${size[@]}" "env -u NO_COLOR LC_ALL=C.UTF-8 SEEP_DIR='$DIR' XDG_CACHE_HOME='$XDG_CACHE_HOME' \
		${vars[*]@Q} '$SEEP' top ${*@Q}; echo status \$?; exec sleep 1000"
}

# press KEY...: as tmux calls them
press() { on_tmux send-keys "$@"; }

# screen [-e]: what is seen; -e: with colours
screen() { on_tmux capture-pane -p "$@"; }

# shows RE: sooner or later, in some line
shows() {
	eventually is_shown "$1" || {
		screen
		return 1
	}
}
is_shown() { screen | grep -Eq -e "$1"; }

# hides RE: sooner or later no line has it
hides() {
	eventually is_hidden "$1" || {
		screen
		return 1
	}
}
is_hidden() { ! is_shown "$1"; }

# selected RE: sooner or later the row that keys are about
selected() {
	eventually is_selected "$1" || {
		echo "not selected: $1"
		screen -e
		return 1
	}
}
is_selected() { screen -e | "$PYTHON" "$LIB/cell.py" --selected | grep -Eq -e "$1"; }

# cell TITLE [RE]: the column of this title in the row that RE matches, by position
cell() {
	screen | "$PYTHON" "$LIB/cell.py" "$1" "${2:-.}"
}
