# verdicts.bash - hosts whose lost blocks are known, and looks at them.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/record.bash"

# begin HOST [ARG...]: starts it traced; its pid in $HOST once it is ready. It
# ends when descriptor 9 is closed. PRELOAD_MORE: libraries behind ours.
begin() {
	rm -f "$T/lines" "$T/out" # of an earlier host, which has said "ready", too
	mkfifo "$T/lines"
	# shellcheck disable=SC2086 # several libraries
	env LD_PRELOAD="$COLLECTOR${PRELOAD_MORE:+ $PRELOAD_MORE}" SEEP_DIR="$DIR" \
		"$HOSTS/$1" "${@:2}" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=("$!")
	exec 9>"$T/lines"
	answered ready
	HOST=$(awk '/^ready/ { print $2 }' "$T/out")
	PIDS+=("$HOST")
	sleep 0.2 # blocks of the tick in which a look begins are not judged
}

# leaks ARG...: of $HOST; output in $T/leaks and $T/leaks.err, its $status
leaks() {
	status=0
	timeout "$(full_or 600 60)" "$SEEP" leaks "$@" "$HOST" >"$T/leaks" 2>"$T/leaks.err" ||
		status=$?
}

# judged ARG... [-- RULE...]: leaks finds what the host knows
judged() {
	local args=()
	while [[ $# -gt 0 && $1 != -- ]]; do
		args+=("$1")
		shift
	done
	leaks --format json "${args[@]}"
	cat "$T/leaks.err"
	[[ $status -eq 1 ]]
	"$PYTHON" "$LIB/known_answer.py" "$T/out" "$T/leaks" "${@:2}"
}

# end_host: it ends by itself, and has noticed nothing
end_host() {
	exec 9>&-
	wait "${PIDS[0]}"
	[[ ! -s $T/err ]]
}

# says_why PATTERN: exit 3, one line on stderr, nothing on stdout
says_why() {
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -eq 3 ]]
	[[ ! -s $T/leaks ]]
	[[ $(wc -l <"$T/leaks.err") -eq 1 ]]
	grep -q -e "$1" "$T/leaks.err"
}
