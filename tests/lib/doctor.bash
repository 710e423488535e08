# doctor.bash - runs seep doctor and looks into what it found.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# doctor STATUS [ARG...]: as JSON in $T/doctor.json; host checks must not fail
doctor() {
	local expected=$1 got=0
	shift
	# by default the machine's own places do not matter
	[[ ${#DOCTOR_ENV[@]} -gt 0 ]] || DOCTOR_ENV=(SEEP_DIR="$DIR")
	"${AS[@]}" env "${DOCTOR_ENV[@]}" "$SEEP" doctor --format json "$@" >"$T/doctor.json" 2>"$T/doctor.err" || got=$?
	if [[ $got -ne $expected || -s $T/doctor.err ]]; then
		echo "status $got of: seep doctor $*"
		cat "$T/doctor.err"
		jq -r '.checks[] | select(.state != "ok") | "\(.state) \(.group).\(.check) \(.text)"' "$T/doctor.json"
		return 1
	fi
	jq -e '.schema == 1 and .kind == "doctor"' "$T/doctor.json" >/dev/null
}
DOCTOR_ENV=()

# found STATE GROUP CHECK [WORDS]: such a check is in $T/doctor.json, and WORDS
# are in its text or its advice
found() {
	jq -e --arg state "$1" --arg group "$2" --arg check "$3" --arg words "${4:-}" \
		'any(.checks[]; .state == $state and .group == $group and .check == $check and
			((.text + "; " + (.advice // "")) | contains($words)))' "$T/doctor.json" >/dev/null || {
		echo "not found: $*"
		jq -r '.checks[] | "\(.state) \(.group).\(.check) \(.text); \(.advice)"' "$T/doctor.json"
		return 1
	}
}

# can_be_nobody: skips unless uid 65534 can come to what was built
can_be_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups test -x "$SEEP" -a -r "$COLLECTOR" ||
		skip "nobody cannot come here"
}
