# serve.bash - runs seep serve over $DIR and asks it; its address is in $AT.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/host.bash"

# a port of 127.0.0.1 that nobody has just now
free_port() {
	"$PYTHON" -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

# serving [OPTIONS...] [-- INPUT...]: in the background; pid in $SERVE. Another
# test may take the port between our choice and its use, so it is tried again.
serving() {
	local options=() try
	while [[ $# -gt 0 && $1 != -- ]]; do
		options+=("$1")
		shift
	done
	shift || true
	[[ $# -gt 0 ]] || set -- "$DIR"
	for try in 1 2 3 4 5; do
		PORT=$(free_port)
		AT=http://127.0.0.1:$PORT
		: >"$T/serve.err"
		"${SERVE_AS[@]}" "$SEEP" serve --listen "127.0.0.1:$PORT" "${options[@]}" "$@" \
			2>>"$T/serve.err" 3>&- &
		SERVE=$!
		PIDS+=("$SERVE")
		eventually serve_is_up_or_ended
		! grep -q 'somebody else listens' "$T/serve.err" || continue
		grep -q listening "$T/serve.err" && return
		cat "$T/serve.err"
		return 1
	done
	return 1
}
serve_is_up_or_ended() {
	grep -q listening "$T/serve.err" || ! kill -0 "$SERVE" 2>/dev/null
}

# SIGTERM, and it ends well
unserve() {
	kill -TERM "$SERVE"
	local status=0
	wait "$SERVE" || status=$?
	[[ $status -eq 0 ]] || cat "$T/serve.err"
	return "$status"
}

# get PATH [CURL'S OPTIONS...]: the reply on stdout; fails unless it is 2xx
get() { curl -sS --max-time 60 --fail-with-body "$AT$1" "${@:2}"; }

# status PATH [CURL'S OPTIONS...]: its number alone
status() {
	curl -sS --max-time 60 -o "$T/reply" -w '%{http_code}\n' "$AT$1" "${@:2}"
}

# one_line STATUS COMMAND...: it ends so, with one line on stderr
one_line() {
	local wanted=$1 got=0
	shift
	timeout 20 "$@" >"$T/stdout" 2>"$T/stderr" 3>&- </dev/null || got=$?
	[[ $got -eq $wanted && ! -s $T/stdout && $(wc -l <"$T/stderr") -eq 1 ]] &&
		grep -q '^seep: ' "$T/stderr" || {
		echo "status $got:"
		cat "$T/stdout" "$T/stderr"
		return 1
	}
}

# the waiting host, which has answered "second", takes the last step and ends
ends_after_second() {
	printf '\n' >&9
	answered third
	printf '\n' >&9
	exec 9>&-
	wait "$HOST"
	[[ ! -s $T/err ]]
}

# lacks COMMAND...: it must fail. (In bats `! COMMAND` counts in the last line alone.)
lacks() {
	if "$@" >"$T/lacks"; then
		echo "succeeds: $*"
		cat "$T/lacks"
		return 1
	fi
}
