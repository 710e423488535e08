#!/usr/bin/env bats
# push_meets_bad_servers - whatever a server does, seep push says it in a line, waits as asked, and loses no sums.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/push.bash

# all of it has arrived
everything_arrived() {
	exec 8>&-
	wait "$HOST"
	sleep 0.5
	unpush
	read -r blocks bytes _ <<<"$(by_report)"
	in_got "sums('alloc_objects') == $blocks and sums('alloc_space') == $bytes"
}

@test "503, 429, resets and no contact: every sum arrives, with one line for each bad time" {
	server 503 503:1 429:1 429@2 reset 500
	pushing
	sleep 0.5
	allocating 50
	eventually accepted 2
	everything_arrived
	[[ $(requests 503) -eq 1 && $(requests reset) -eq 1 ]]
	# one line for a bad time, one for its end
	[[ $(grep -c 'takes no profiles now' "$T/push.err") -eq 1 ]]
	[[ $(grep -c 'takes profiles again' "$T/push.err") -eq 1 ]]
	grep -q 'a bad day' "$T/push.err"
	refute grep -q $'[\x1b\u202e]' "$T/push.err"
}

@test "Retry-After is obeyed, as seconds and as a date" {
	server 429:3 429@3
	pushing
	sleep 0.5
	allocating 50
	eventually came 3
	everything_arrived
	"$PYTHON" - "$GOT/log" <<'END'
import sys
at = [float(line.split()[0]) for line in open(sys.argv[1])]
assert at[1] - at[0] >= 3 and at[2] - at[1] >= 2, at  # a date has whole seconds
END
}

@test "a refusal is said once, in the server's words, and the sums are kept" {
	server 401 401 401 400
	pushing
	sleep 0.5
	allocating 50
	eventually accepted 1
	everything_arrived
	[[ $(grep -c 'answers 401: a bad day' "$T/push.err") -eq 1 ]]
	[[ $(grep -c 'answers 400: a bad day' "$T/push.err") -eq 1 ]]
	refute grep -q $'\x1b' "$T/push.err"
}

@test "redirects, pages for people, garbage and floods are no acceptance" {
	server redirect portal garbage flood
	pushing
	sleep 0.5
	allocating 50
	eventually accepted 1
	everything_arrived
	grep -q 'redirects to "/elsewhere"' "$T/push.err"
	grep -q 'text/html' "$T/push.err"
	# nothing was sent to where it points
	[[ $(requests stolen) -eq 0 ]]
	refute grep -q $'[\x1b\x07]' "$T/push.err"
}

@test "an answer that is lost: the same profile is sent again, with its id" {
	server lost
	pushing
	sleep 0.5
	allocating 50
	eventually accepted 3
	exec 8>&-
	wait "$HOST"
	sleep 0.5
	unpush
	read -r blocks bytes _ <<<"$(by_report)"
	# the server has it twice, and can tell
	in_got 'len(got) - len(set(g["id"] for g in got)) == 1'
	in_got "sum({g['id']: g['sums']['alloc_space'] for g in got}.values()) == $bytes"
}

@test "a server that hangs: SIGTERM ends it within seconds" {
	server hang
	mode hang
	allocating 50
	pushing
	eventually came 1
	kill -TERM "$PUSH"
	local begin=$SECONDS
	wait "$PUSH"
	[[ $((SECONDS - begin)) -le 15 ]]
}

@test "one push that fails: one line, exit 3" {
	server
	allocating 50
	local how
	for how in 503 401 redirect portal garbage reset; do
		mode "$how"
		one_line 3 "$SEEP" push "$AT" "$DIR"
		said "$AT"
		refute grep -q $'[\x1b\u202e]' "$T/stderr"
	done
	mode ok
	"$SEEP" push "$AT" "$DIR"
	in_got 'len(got) == 1'
}

@test "a token is sent as Bearer or Basic, is read anew, and goes nowhere else" {
	server
	allocating 50
	echo 0123456789abcdef-one >"$T/token"
	chmod 600 "$T/token"
	"$SEEP" push "$AT" "$DIR" --token-file "$T/token"
	grep -q 'Bearer$\|Bearer 0123456789abcdef-one' "$GOT/log"
	echo somebody:0123456789abcdef >"$T/token"
	"$SEEP" push "$AT" "$DIR" --token-file "$T/token"
	grep -q "Basic $(printf somebody:0123456789abcdef | base64)" "$GOT/log"
	# a JWT with many claims
	"$PYTHON" -c 'print("eyJ" + "x" * 8189)' >"$T/token"
	"$SEEP" push "$AT" "$DIR" --token-file "$T/token"
	grep -qE 'Bearer eyJx{8189}\b' "$GOT/log"
	echo somebody:0123456789abcdef >"$T/token"
	# while it runs, too
	pushing --token-file "$T/token"
	eventually came 4
	echo 0123456789abcdef-two >"$T/token"
	eventually grep -q 'Bearer 0123456789abcdef-two' "$GOT/log"
	# and it stops to push, not to run, when others may read it
	chmod 644 "$T/token"
	eventually grep -q 'other users may read it' "$T/push.err"
	chmod 600 "$T/token"
	unpush
}

@test "a proxy of the environment is used" {
	server
	allocating 50
	# the server is the proxy: it sees the whole URL, which it does not know
	http_proxy=$AT one_line 3 "$SEEP" push http://pyroscope.invalid:4040 "$DIR"
	said 'no such procedure'
	http_proxy=$AT no_proxy=127.0.0.1 "$SEEP" push "$AT" "$DIR"
}
