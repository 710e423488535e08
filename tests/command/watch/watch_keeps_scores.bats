#!/usr/bin/env bats
# watch_keeps_scores - what seep watch followed has a score, also if it was killed.
# SPDX-License-Identifier: Apache-2.0
#
# SEEP_SCORE_CLOCK=3600: a second counts as an hour.
load ../../lib/watch.bash
export SEEP_SCORE_CLOCK=3600

# class PID FUNCTION: class and basis of the site that it heads, in $T/json
class() {
	jq -r --argjson p "$1" --arg f "$2" '[.processes[] | select(.pid == $p) | .sites[] |
		select(.frames[0].function == $f or .frames[1].function == $f) |
		.verdict | "\(.class) \(.basis)"][0]' "$T/json"
}

# judged PID: the history says what grows in it
judged() {
	"$SEEP" report "$H" --no-cache --pid "$1" >"$T/text"
	"$SEEP" report "$H" --no-cache --format json >"$T/json"
	head -12 "$T/text"
	[[ $(class "$1" serve) == 'leak siblings' ]] &&
		[[ $(class "$1" add_history) == 'growth inflow' ]] &&
		[[ $(class "$1" build_table) == 'steady inflow' ]] &&
		grep -q '^LEAK .* of their siblings die within ' "$T/text" &&
		grep -qE '^GROWTH .* nothing of it is ever freed; a leak by [6-9][0-9] %$' "$T/text" &&
		grep -q '^STEADY ' "$T/text"
}

end_of() { jq -r --argjson p "$1" '.processes[] | select(.pid == $p) | .end' "$T/json"; }

# followed SECONDS: two hosts run for so long, then one is killed, and watch ends
followed() {
	H=$T/history.$1
	background "$HOSTS/scores" 100
	killed=$HOST
	background "$HOSTS/scores" 100
	left=$HOST
	watching || return 1
	sleep "$1"
	kill -KILL "$killed"
	wait "$killed" || true
	unwatch || return 1
	kill -KILL "$left"
	wait "$left" || true
	find "$DIR" -type f -delete
	judged "$killed" && [[ $(end_of "$killed") != running ]] &&
		judged "$left" && [[ $(end_of "$left") == running ]]
}

# How often a busy machine lets watch read is not known: longer, if need be.
@test "a process that was killed has the score of the last reading, and so has one that runs on" {
	followed 4 || followed 12 || followed 30
}
