# record.bash - runs seep record in the scratch directory of a test.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/host.bash"

recorder= # of record_behind()

# shellcheck disable=SC2034 # the tests look at it
# record ARGS...: in $T, segments in $DIR; output in $T/out, $T/err, $status
record() {
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec timeout "${LIMIT:-60}" "$SEEP" record "$@") \
		>"$T/out" 2>"$T/err" || status=$?
}

# record_behind ARGS...: the same in the background; its pid in $recorder
record_behind() {
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record "$@") \
		>"$T/out" 2>"$T/err" 3>&- &
	recorder=$!
	PIDS+=("$recorder")
}

# appears PATTERN: waits until a file of this name is there and not empty
appears() { eventually is_written "$1"; }
is_written() {
	local file
	while read -r file; do
		[[ -s $file ]] || return 1
	done < <(compgen -G "$1" || echo)
}

# lacks PATTERN FILE: a negated grep that fails a test
lacks() {
	if grep -e "$1" "$2"; then
		return 1
	fi
}

# segments: how many segments lie in $DIR
segments() {
	find "$DIR" -name '*.seg' | wc -l
}
