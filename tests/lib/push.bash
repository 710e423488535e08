# push.bash - servers that take profiles, and seep push to them; what they got is in $GOT.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/host.bash"

# server [BEHAVIOUR...]: tests/lib/pyroscope.py in the background; its address is in $AT
server() {
	GOT=$T/got
	mkdir -p "$GOT"
	mkfifo "$T/server"
	"$PYTHON" "$LIB/pyroscope.py" "$GOT" "$@" <"$T/server" 3>&- &
	SERVER=$!
	PIDS+=("$SERVER")
	exec 7>"$T/server" # it ends with this
	eventually test -s "$GOT/port"
	AT=http://127.0.0.1:$(cat "$GOT/port")
	# proxies of the environment are for tests that want them
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY
}

# connect_server: a real Connect stack
connect_server() {
	local modules answer=0
	need node
	GOT=$T/connect
	mkdir -p "$GOT"
	modules=$(cd "$repo" && tools/npm.sh tests/readers build/readers 2>"$T/npm") || answer=$?
	[[ $answer -ne 77 ]] || skip "npm has no packages: $(tail -n 1 "$T/npm")"
	mkfifo "$T/connect.in"
	node "$repo/tests/readers/connect_server.mjs" "$modules" "$GOT" <"$T/connect.in" 2>"$T/connect.err" 3>&- &
	PIDS+=($!)
	exec 6>"$T/connect.in"
	eventually test -s "$GOT/port"
	AT=http://127.0.0.1:$(cat "$GOT/port")
	unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY no_proxy NO_PROXY
}

# mode BEHAVIOUR: of the server from now on
mode() {
	echo "$1" >"$GOT/mode.new"
	mv "$GOT/mode.new" "$GOT/mode"
}

# requests [BEHAVIOUR]: how many came, or met this
requests() { awk -v how="${1:-}" '!how || $2 == how' "$GOT/log" 2>/dev/null | wc -l; }
came() { [[ $(requests "${2:-}") -ge $1 ]]; }
accepted() { [[ $(find "$GOT" -name '*.json' | wc -l) -ge $1 ]]; }

# pushing [OPTIONS...]: seep push --every over $DIR in the background; its pid is in $PUSH
pushing() {
	: >"$T/push.err"
	"$SEEP" push "$AT" --every "${EVERY:-1s}" "$@" "$DIR" 2>>"$T/push.err" 3>&- 7>&- 6>&- &
	PUSH=$!
	PIDS+=("$PUSH")
}

# SIGTERM, and it ends well
unpush() {
	kill -TERM "$PUSH"
	local status=0
	wait "$PUSH" || status=$?
	[[ $status -eq 0 ]] || cat "$T/push.err"
	return "$status"
}

# in_got EXPRESSION: over `got`, all that was accepted, by time
in_got() {
	"$PYTHON" -c '
import glob, json, sys
got = [json.load(open(f)) for f in glob.glob(sys.argv[1] + "/*.json")]
got.sort(key=lambda g: g.get("time", 0))
def sums(kind, service=None):
    return sum(g["sums"][kind] for g in got if service in (None, g["labels"]["service_name"]))
if not eval(sys.argv[2]):
    print("not so:", sys.argv[2])
    for g in got: print(g)
    sys.exit(1)' "$GOT" "$1"
}

# allocated_by_report [INPUT]: "BLOCKS BYTES LIVE_BLOCKS LIVE_BYTES" of all processes together
by_report() {
	"$SEEP" report --format json --no-suppress "${1:-$DIR}" >"$T/report.json" || [[ $? -eq 3 ]]
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
t = [p["totals"] for p in d["processes"]]
print(*[sum(x[k] for x in t) for k in ("allocations", "allocated_bytes", "live_blocks", "live_bytes")])' "$T/report.json"
}

# one_line STATUS COMMAND...: it ends so, with one line on stderr
one_line() {
	local wanted=$1 got=0
	shift
	timeout 60 "$@" >"$T/stdout" 2>"$T/stderr" 3>&- 7>&- </dev/null || got=$?
	[[ $got -eq $wanted && ! -s $T/stdout && $(wc -l <"$T/stderr") -eq 1 ]] &&
		grep -q '^seep: ' "$T/stderr" || {
		echo "status $got:"
		cat "$T/stdout" "$T/stderr"
		return 1
	}
}
# refute COMMAND...: it must fail; a plain ! counts only in the last line of a test
refute() { if "$@"; then return 1; fi; }
said() { grep -qF -- "$1" "$T/stderr"; }

# allocating N: a host of N sites that goes on until descriptor 8 is closed; pid in $HOST
allocating() {
	mkfifo "$T/busy"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/busy_sites" "$1" 1000000 \
		<"$T/busy" >"$T/busy.out" 3>&- 7>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 8>"$T/busy"
	eventually grep -q ready "$T/busy.out"
}
