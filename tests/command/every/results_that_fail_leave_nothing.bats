#!/usr/bin/env bats
# results_that_fail_leave_nothing - a limit, a full disk or a kill while a result is written: one line that says why, and no file.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

running() {
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR sleep 300 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	eventually has_segment
	mkdir "$T/here"
	cd "$T/here" || return
	export SEEP_DIR=$DIR
}
has_segment() { [[ -n $(find "$DIR" -name 'sleep-*.seg') ]]; }

# with a limit on the size of files, in KiB
# shellcheck disable=SC2016 # for the shell that has it
limited=(bash -c 'ulimit -f "$1"; shift; exec "$@"' bash)

@test "a limit on the size of files is an error, and no signal" {
	local command
	running
	while read -r command; do
		# shellcheck disable=SC2086 # words
		complains 3 "${limited[@]}" 1 "$SEEP" $command "$HOST"
		grep -q 'cannot be written: File too large' "$T/complaint"
		[[ -z $(ls -A) ]]
	done <<-END
		snapshot
		snapshot -o x.seep-snap
		view --no-open -o x.html
	END
	# programs that record starts are ended by the signal as without it
	status=0
	"${limited[@]}" 1024 "$SEEP" record -q -o r.seep head -c 2000000 /dev/zero >f 2>err || status=$?
	[[ $status -eq $((128 + $(kill -l XFSZ))) ]]
}

@test "a full disk" {
	running
	status=0
	own_mounts true || skip "no mount namespace here"
	# shellcheck disable=SC2016 # for the shell in the namespace
	own_mounts bash -c '
		mount -t tmpfs -o size=8k tmpfs . && cd . && cd "$PWD" || exit 77
		status=0; head -c 4096 /dev/zero >full
		"$1" snapshot "$2" || status=$?
		rm full; ls -A
		exit $status' bash "$SEEP" "$HOST" >"$T/said" 2>"$T/complaint" || status=$?
	[[ $status -eq 3 && ! -s $T/said ]]
	grep -qx 'seep: snapshot: cannot be written: No space left on device' "$T/complaint"
}

# without O_TMPFILE, or /proc to name such a file, a result has a hidden name until it is whole
@test "what a killed command has left under a hidden name, the next one there removes" {
	local name
	own_mounts true || skip "no mount namespace here"
	running
	for name in .x.seep-0badcafe .another.html.seep-12345678 .held.seep-0badcafe .x.0badcafe x.seep-0badcafe .x.seep-0badcaf; do
		touch -d '-2 minutes' "$name"
	done
	touch .fresh.seep-0badcafe
	exec 7<.held.seep-0badcafe
	flock -n 7
	# shellcheck disable=SC2016 # for the shell in the namespace
	own_mounts bash -c 'mount -t tmpfs none /proc && exec "$@"' bash \
		"$SEEP" report "$DIR" -o result
	[[ $(ls -A | sort | tr '\n' ' ') == ".fresh.seep-0badcafe .held.seep-0badcafe .x.0badcafe .x.seep-0badcaf result x.seep-0badcafe " ]]
}
