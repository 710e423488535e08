#!/usr/bin/env bats
# scores_say_what_grows - leaks and growth by the ages of blocks, and when memory ends.
# SPDX-License-Identifier: Apache-2.0
#
# SEEP_SCORE_CLOCK=3600: a second counts as an hour.
load ../../lib/record.bash
export SEEP_SCORE_CLOCK=3600

# recorded NAME ARGS...: tests/hosts/scores behind seep record
recorded() {
	local name=$1
	shift
	mkdir -p "$DIR/$name"
	(
		cd "$T" || exit
		export SEEP_DIR=$DIR/$name
		exec timeout 120 "$SEEP" record -o "$name.data" "$HOSTS/scores" "$@"
	) >"$T/$name.out" 2>"$T/$name.err" 3>&- &
	PIDS+=($!)
	RECORDER[$name]=$!
}

# class FUNCTION: class and basis of the site that it heads, in $T/json
class() {
	jq -r --arg f "$1" '[.processes[] | .sites[] | select(.frames[0].function == $f or
		.frames[1].function == $f) | .verdict | "\(.class) \(.basis)"][0]' "$T/json"
}

# told INPUT: its report has scores. On a busy machine, the memory of a running
# process may not be read in a tenth of a second; then it is asked again.
told() {
	(cd "$T" && SEEP_DIR=$DIR/live "$SEEP" report "$1" --no-cache >text)
	(cd "$T" && SEEP_DIR=$DIR/live "$SEEP" report "$1" --no-cache --format json >json)
	grep -q '^GROWTH ' "$T/text" && [[ $(class add_history) == growth* ]]
}

# judged INPUT: the report, as text and JSON, and the classes of all sites
judged() {
	eventually told "$1"
	cat "$T/text"
	[[ $(class serve) == 'leak siblings' ]]
	[[ $(class add_history) == 'growth inflow' ]]
	[[ $(class build_table) == 'steady inflow' ]]
	[[ $(class use_ring) == 'churn siblings' ]]
	grep -q '^LEAK .* of their siblings die within ' "$T/text"
	grep -q '^ *siblings are freed in serve scores.c:[0-9]*: look for a path that skips it$' "$T/text"
	grep -qE '^GROWTH +[0-9.]+ [KM]iB \+[0-9.]+ KiB/h \([0-9.]+ KiB to [0-9.]+ KiB\): nothing of it is ever freed; a leak by [6-9][0-9] %$' "$T/text"
	grep -qE '^STEADY +1000\.0 KiB, built in the first .*: a pool or a full cache$' "$T/text"
}

# looked PID: both outputs. If the head of the list was allocated during the look, it
# is not a known block, and is named instead of the variable; then it looks again.
looked() {
	(cd "$T" && SEEP_DIR=$DIR/live "$SEEP" leaks "$1" --no-cache --looks 1 >text) &&
		(cd "$T" && SEEP_DIR=$DIR/live "$SEEP" leaks "$1" --no-cache --looks 1 --format json >json) &&
		grep -q 'held by static' "$T/text" && grep -q '"held_by":"static' "$T/json"
}

# held_by PID: seep leaks has the scores, too, and names who holds what grows
held_by() {
	eventually looked "$1"
	cat "$T/text"
	grep -q '^No leak' "$T/text"
	grep -q '^LEAK .* of their siblings die within ' "$T/text"
	grep -q '^STEADY ' "$T/text"
	grep -A1 '^GROWTH ' "$T/text" | grep -q '^ *held by static `history`.* of add_history ('
	jq -e '.exit_status == 0 and .leaks.sites == 0 and .processes[0].growth.growth.places >= 1' "$T/json"
	held=$(jq -r '.scores[] | select(.verdict.class == "growth") | .verdict.held_by' "$T/json")
	[[ $held == 'static `history`'*' of add_history ('* ]]
	jq -e '[.scores[] | select(.verdict.class != "growth") | .verdict.held_by] | length >= 2 and all(. == null)' "$T/json"
	# a process that is young has no score, and nobody looks for who holds what
	(cd "$T" && SEEP_SCORE_CLOCK=1 SEEP_DIR=$DIR/live "$SEEP" leaks "$1" --no-cache --looks 1 >text) || true
	lacks '^LEAK\|^GROWTH\|^STEADY\|held by' "$T/text"
}

# Beside others, the program works by fits, which is likely a leak only after 14 hours:
# here a second counts as four.
check_growth() {
	status=0
	(cd "$T" && SEEP_SCORE_CLOCK=14400 "$SEEP" check --no-cache "$@" --fail-on growth) >"$T/said" || status=$?
}

@test "leaks, growth and what is steady: at an exit, while it runs, after a kill" {
	declare -A RECORDER
	recorded exited 9
	recorded killed 100
	recorded steady 9 steady
	mkdir "$DIR/live"
	SEEP_DIR=$DIR/live LD_PRELOAD=$COLLECTOR "$HOSTS/scores" 100 >"$T/live.out" 3>&- &
	live=$!
	PIDS+=("$live")
	wait "${RECORDER[steady]}" "${RECORDER[exited]}"
	kill -KILL "$(sed -n 's/^PID //p' "$T/killed.out")"
	wait "${RECORDER[killed]}" || true
	judged exited.data
	# one block that realloc makes larger has no siblings; its series shows it
	[[ $(class extend_vector) == 'growth inflow' ]]
	rate=$(jq '[.processes[] | .sites[] | select(.frames[0].function == "extend_vector") | .verdict.rate][0]' "$T/json")
	[[ ${rate%.*} -gt 46000 && ${rate%.*} -lt 57000 ]] # 100 steps of 512 bytes
	check_growth exited.data
	[[ $status -eq 1 ]]
	grep -q 'never freed; a leak by' "$T/said"
	lacks 'Without a baseline' "$T/said"
	(cd "$T" && SEEP_SCORE_CLOCK=14400 "$SEEP" check exited.data --no-cache --fail-on growth --format sarif >sarif) || true
	[[ $(jq '[.runs[0].results[] | select(.ruleId == "growth")] | length' "$T/sarif") -ge 2 ]]
	(cd "$T" && "$SEEP" report exited.data --no-cache --format html -o page.html)
	"$PYTHON" "$LIB/page.py" check "$T/page.html" "$T/json"
	"$PYTHON" "$LIB/page.py" head "$T/page.html" "head['processes'][0]['scores']" >"$T/page.scores"
	(cd "$T" && "$SEEP" report exited.data --no-cache --top 0 >text)
	"$PYTHON" "$LIB/scores.py" "$T/text" "$T/json" "$T/page.scores"
	# what began late, and after which mark
	[[ $(class add_session) == 'growth inflow' ]]
	grep -E '^ *growth began about [0-2][0-9]:[0-5][0-9], .* (after|before) mark `deploy-7`$' "$T/text"
	grep -q 'growth began about .* mark `deploy-7`$' "$T/page.scores"
	jq -e '[.processes[0].sites[] | select(.frames[0].function == "add_session") | .verdict][0] |
		.began_near.kind == "mark" and .began_near.label == "deploy-7" and
		(.began_near.after_s | fabs) < 1800 and .began_s > 2.8 * 3600 and .began != null' "$T/json"
	jq -e '[.processes[0].sites[] | select(.frames[0].function == "add_history") | .verdict][0] |
		.began == null and .began_near == null' "$T/json"
	judged killed.data
	judged "$live"
	held_by "$live"
	kill -KILL "$live"

	(cd "$T" && "$SEEP" report steady.data --no-cache >text)
	grep -q '^STEADY ' "$T/text"
	lacks '^LEAK\|^GROWTH\| in about ' "$T/text"
	check_growth steady.data
	[[ $status -eq 0 ]]
	# ten seconds are not ten minutes
	status=0
	(cd "$T" && SEEP_SCORE_CLOCK=1 "$SEEP" check --no-cache exited.data --fail-on growth) 2>"$T/err" || status=$?
	[[ $status -eq 3 ]]
	grep -q 'needs a process that was seen for 10 minutes' "$T/err"
	(cd "$T" && SEEP_SCORE_CLOCK=1 "$SEEP" report --no-cache exited.data >text)
	lacks '^LEAK\|^GROWTH\|^STEADY' "$T/text"
}

# confidence INPUT FUNCTION: of the site of the process that began last
confidence() {
	(cd "$T" && "$SEEP" report "$1" --no-cache --format json) |
		jq --arg f "$2" '[.processes[-1] | .sites[] | select(.frames[0].function == $f) | .verdict.confidence][0]'
}

@test "a place that settled in a longer life before is less likely a leak" {
	declare -A RECORDER
	mkdir "$T/lives"
	recorded lives/1 4 fill 300000 1
	wait "${RECORDER[lives/1]}"
	recorded lives/2 2 fill 300000
	wait "${RECORDER[lives/2]}"
	alone=$(confidence lives/2.data add_history)
	both=$(confidence lives add_history)
	echo "alone $alone, both $both"
	awk -v a="$alone" -v b="$both" 'BEGIN { exit !(a > 0.6 && b > 0 && b < a / 1.5) }'
}

# forecast: hours until the limit, of the running $HOST; see told()
forecast() {
	SEEP_DIR=$DIR "$SEEP" report "$HOST" --no-cache >"$T/text" 2>"$T/err"
	grep -qE '^Limit of the container \(36\.0 MiB\) in about [0-9.]+ h' "$T/text" || return 1
	SEEP_DIR=$DIR "$SEEP" report "$HOST" --no-cache --format json >"$T/json" 2>"$T/err"
	asked=$EPOCHREALTIME
	jq -e '.processes[0].growth.forecast.limit == "cgroup_max"' "$T/json" >"$T/is"
}

@test "the limit of a container is reached when the forecast says so" {
	make_cgroup $((36 << 20)) || skip "no memory cgroup can be made"
	# shellcheck disable=SC2016 # bash inside expands it
	SEEP_DIR=$DIR bash -c 'echo $$ >"$1/cgroup.procs" && LD_PRELOAD=$2 exec "$3" 100 fill 3000000' \
		- "$GROUP" "$COLLECTOR" "$HOSTS/scores" >"$T/out" 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	eventually grep -q ready "$T/out"
	sleep 3 # of data
	eventually forecast
	head -5 "$T/text"
	status=0
	wait "$HOST" || status=$?
	[[ $status -eq 137 ]]
	took=$(awk -v a="$asked" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }')
	said=$(jq '.processes[0].growth.forecast.hours' "$T/json")
	rmdir "$GROUP"
	echo "said $said s, took $took s"
	awk -v s="$said" -v t="$took" -v bar="$(full_or 1.2 2)" \
		'BEGIN { exit !(s < t * bar && t < s * bar) }'
}
