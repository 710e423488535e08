#!/usr/bin/env bats
# serve_speaks_pprof - go tool pprof reads profiles from seep serve, and its figures are those of the report.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

# go_top FILE ARGUMENTS...: what go tool pprof says, without leaving anything
go_top() {
	HOME=$T PPROF_TMPDIR=$T/pprof go tool pprof -top -nodecount=0 -nodefraction=0 -unit=B \
		"${@:2}" >"$1" 2>"$T/go.err" || {
		cat "$T/go.err"
		return 1
	}
}
# equals FORM FILE WHAT REPORT
equals() { "$PYTHON" "$LIB/exports.py" "$4" "$1" "$2" "$3"; }
report() { "$SEEP" report --format json "$HOST" >"$T/$1.json"; }

@test "-top by URL: heap and allocs, every type, equal the report to the byte" {
	need go
	waiting
	printf '\n\n\n' >&9
	answered third
	report now
	serving
	local type
	for type in inuse:live alloc:allocs peak:peak; do
		go_top "$T/top" -sample_index="${type%:*}_space" "$AT/debug/pprof/heap"
		equals go-top "$T/top" "${type#*:}" "$T/now.json"
		go_top "$T/top" -sample_index="${type%:*}_space" "$AT/debug/pprof/allocs?pid=$HOST"
		equals go-top "$T/top" "${type#*:}" "$T/now.json"
	done
	go_top "$T/top" "$AT/debug/pprof/heap"
	grep -q 'Type: inuse_space' "$T/top"
	go_top "$T/top" "$AT/debug/pprof/allocs"
	grep -q 'Type: alloc_space' "$T/top"
	# the same bytes as seep export writes, but for the time
	get /debug/pprof/heap >"$T/a.pb.gz"
	"$SEEP" export "$HOST" --format pprof --no-suppress -o "$T/b.pb.gz"
	PYTHONPATH=$LIB "$PYTHON" - "$T/a.pb.gz" "$T/b.pb.gz" <<-'END'
		import sys
		from exports_read import pprof
		a, b = (pprof(p) for p in sys.argv[1:])
		for p in a, b:
		    del p["time_ns"], p["duration_ns"]
		assert a == b, (a, b)
	END
	unserve
}

@test "-diff_base: a file from before, and the URL" {
	need go
	waiting
	serving
	printf '\n\n' >&9
	answered second
	report before
	get /debug/pprof/heap >"$T/before.pb.gz"
	printf '\n' >&9
	answered third
	report after
	local type
	for type in inuse:live alloc:allocs; do
		go_top "$T/top" -sample_index="${type%:*}_space" -diff_base "$T/before.pb.gz" "$AT/debug/pprof/heap"
		equals go-diff "$T/top" "${type#*:}:$T/before.json" "$T/after.json"
	done
	unserve
}

@test "-seconds: the difference of two readings, and nobody else waits" {
	need go
	waiting
	serving
	printf '\n\n' >&9
	answered second
	report before
	go_top "$T/top" -seconds 4 "$AT/debug/pprof/heap" &
	local asked=$!
	eventually is_asked
	# it has taken its first reading before the second one here
	sleep 1
	local begin=$SECONDS
	get /metrics >/dev/null
	get /debug/pprof/allocs >/dev/null
	[[ $((SECONDS - begin)) -le 2 ]]
	printf '\n' >&9
	answered third
	report after
	wait "$asked"
	equals go-diff "$T/top" "live:$T/before.json" "$T/after.json"
	grep -q 'Duration: 4' "$T/top"
	unserve
}
is_asked() { [[ $(get /metrics | sed -n 's/^seep_profiles_total //p') -ge 1 ]]; }

@test "Basic, with the token as password, and Bearer" {
	need go
	waiting
	printf '\n\n' >&9
	answered second
	report now
	umask 077
	echo "a-token_0123456789" >"$T/token"
	serving --token-file "$T/token"
	go_top "$T/top" "http://any:a-token_0123456789@127.0.0.1:$PORT/debug/pprof/heap"
	equals go-top "$T/top" live "$T/now.json"
	[[ $(status /debug/pprof/heap) == 401 ]]
	[[ $(status /debug/pprof/heap -u any:a-token_0123456788) == 401 ]]
	[[ $(status /debug/pprof/heap -H 'Authorization: Bearer a-token_0123456789') == 200 ]]
	# it is not in what others can see of the process
	lacks grep -a a-token "/proc/$SERVE/cmdline"
	lacks grep -a a-token "/proc/$SERVE/environ"
	unserve
}

@test "the time of a profile is the moment of reading, in an export, too" {
	waiting
	serving
	sleep 1.5
	local from to
	from=$(date +%s%N)
	get /debug/pprof/heap >"$T/a.pb.gz"
	"$SEEP" export "$HOST" --format pprof -o "$T/b.pb.gz"
	to=$(date +%s%N)
	PYTHONPATH=$LIB "$PYTHON" - "$from" "$to" "$T/a.pb.gz" "$T/b.pb.gz" <<-'END'
		import sys
		from exports_read import pprof
		begin, end = (int(n) for n in sys.argv[1:3])
		for path in sys.argv[3:]:
		    p = pprof(path)
		    # clocks of the start are as exact as a tick of the kernel
		    assert begin - 2e8 <= p["time_ns"] <= end + 2e8, (begin, p["time_ns"], end)
		    assert p["duration_ns"] >= 1e9, p["duration_ns"]
	END
	unserve
}

@test "what cannot be answered is reported" {
	waiting
	serving
	[[ $(status '/debug/pprof/heap?service=none') == 404 ]]
	[[ $(status '/debug/pprof/heap?pid=1') == 404 ]]
	[[ $(status '/debug/pprof/heap?pid=x') == 400 ]]
	[[ $(status '/debug/pprof/heap?seconds=-1') == 400 ]]
	[[ $(status '/debug/pprof/heap?seconds=99999') == 400 ]]
	[[ $(status '/debug/pprof/heap?seconds=99999999999999999999') == 400 ]]
	[[ $(status '/debug/pprof/profile') == 404 ]]
	get /debug/pprof/ | grep -q heap
	get /debug/pprof -L | grep -q heap
	# of a process that has ended there is no profile
	ends_well
	eventually gone
	unserve
}
gone() { [[ $(status "/debug/pprof/heap?pid=$HOST") == 404 ]]; }
