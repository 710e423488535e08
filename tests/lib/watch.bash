# watch.bash - runs seep watch over $DIR, with its history in $H.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/host.bash"

# watching [OPTIONS...]: in the background, its pid is in $WATCH
watching() {
	H=${H:-$T/history}
	: >"$T/watch.err"
	"${WATCH_AS[@]}" "$SEEP" watch --history "$H" "$@" "$DIR" 2>>"$T/watch.err" 3>&- &
	WATCH=$!
	PIDS+=("$WATCH")
	eventually watch_is_up
}
watch_is_up() { [[ $(cat "$H/.lock" 2>/dev/null) == "$WATCH" ]]; }

# has_part [NUMBER]: a chapter is being written. The name of a service that runs
# depends on where the tests run: it is a unit, a container or a program.
has_part() { compgen -G "$H/*/*-${1:-*}.seep.part" >/dev/null; }

# SIGTERM, and it ends well
unwatch() {
	kill -TERM "$WATCH"
	local status=0
	wait "$WATCH" || status=$?
	[[ $status -eq 0 ]] || cat "$T/watch.err"
	return "$status"
}

# one round, for what is there now
watch_once() {
	H=${H:-$T/history}
	"$SEEP" watch --once --history "$H" "$@" "$DIR"
}

# background COMMAND...: traced; pid in $HOST
background() {
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
}

# the waiting host, which has had its first line, gets the others and ends well
goes_on_to_its_end() {
	printf '\n\n\n' >&9
	exec 9>&-
	wait "$HOST"
	[[ ! -s $T/err ]] && grep -q 'SITE alloc_third' "$T/out"
}

# in_history EXPRESSION: over p, all processes of all services, by uuid
in_history() {
	local service
	rm -f "$T"/service.*.json
	for service in "$H"/*/; do
		service=$(basename "$service")
		"$SEEP" report --format json --no-suppress --frames shared "$H/$service" \
			>"$T/service.$service.json" || [[ $? -eq 3 ]] || return 1
	done
	PYTHONPATH=$LIB "$PYTHON" -c '
import collections, glob, shared, sys
p, files = {}, glob.glob(sys.argv[1] + "/service.*.json")
for f in files:
    for x in shared.load(f)["processes"]:
        assert x["uuid"] not in p, ("a process is there twice", f, x["pid"], x["exe"], x["end"])
        p[x["uuid"]] = x
services = sorted(f.split("/service.")[1][:-5] for f in files)
print(eval(sys.argv[2]))' "$T" "$1"
}

# nobody is left in the segment directory
is_empty() { [[ -z $(find "$DIR" -name '*.seg') ]]; }
