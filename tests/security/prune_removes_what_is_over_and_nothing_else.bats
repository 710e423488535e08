#!/usr/bin/env bats
# prune_removes_what_is_over_and_nothing_else - ls --prune keeps segments of processes that it cannot see, and is not misled by directories that are exchanged meanwhile.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it read or write other files than it was told to; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

@test "a process of the host that a container cannot see is unknown, and its segment stays" {
	setup_namespace
	waiting
	in_namespace env SEEP_DIR="$DIR" "$SEEP" ls >"$T/list" 2>&1
	cat "$T/list"
	grep -Eq "^ *$HOST  out of sight .*toggled" "$T/list"
	in_namespace env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>&1
	cat "$T/list"
	grep -q "kept, because seep cannot see whether its process still runs" "$T/list"
	grep -qx "0 files removed" "$T/list"
	[[ -e $(echo "$DIR"/toggled-"$HOST"-*.seg) && -e $(echo "$DIR"/toggled-"$HOST"-*.seg.ctl) ]]
	ends_well
	# outside all is seen
	SEEP_DIR=$DIR "$SEEP" ls --prune | grep -qx "1 file removed"
}

@test "a process of one container is unknown in another, and both are known outside" {
	[[ $(id -u) -eq 0 ]] || skip "needs root: /proc of another user namespace"
	setup_namespace
	mkfifo "$T/lines"
	in_namespace env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/toggled" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	PIDS+=("$!")
	exec 9>"$T/lines"
	answered ready
	in_namespace env SEEP_DIR="$DIR" "$SEEP" ls --prune >"$T/list" 2>&1
	cat "$T/list"
	grep -Eq "out of sight .*toggled" "$T/list"
	grep -qx "0 files removed" "$T/list"
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/list"
	grep -Eq "running .*toggled" "$T/list"
	grep -qx "0 files removed" "$T/list"
	printf '\n\n\n\n' >&9
	exec 9>&-
	wait "${PIDS[0]}"
	SEEP_DIR=$DIR "$SEEP" ls --prune | grep -qx "1 file removed"
}

@test "a process that hidepid hides is unknown, and its segment stays" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	waiting
	# pid and start are the host's; nobody has the right to see it
	chown 65534:65534 "$DIR" "$DIR"/*
	unshare -m sh -c "
		mount -t proc -o hidepid=2 proc /proc || exit 77
		SEEP_DIR='$DIR' exec setpriv --reuid=65534 --regid=65534 --clear-groups '$SEEP' ls --prune" \
		>"$T/list" 2>&1 || { [[ $? -ne 77 ]] || skip "not permitted here: hidepid"; }
	cat "$T/list"
	grep -Eq "out of sight .*toggled" "$T/list"
	grep -qx "0 files removed" "$T/list"
	[[ -e $(echo "$DIR"/toggled-"$HOST"-*.seg) ]]
}

@test "the directory is exchanged for a link while prune works: nothing behind the link is removed" {
	local i name
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/twins" >/dev/null
	name=$(cd "$DIR" && echo *.seg)
	mkdir -m 700 "$T/place" "$T/dead" "$T/victim"
	exec 8<"$T/place" # wherever it is by now
	cp "$DIR/$name" "$T/segment"
	# the same names behind the link, which are no segments
	for i in {1..40}; do
		echo precious >"$T/victim/$i-$name"
		ln "$T/segment" "$T/dead/$i-$name"
	done
	"$PYTHON" - "$T" <<-'END' 3>&- &
		import ctypes, os, sys, time
		os.chdir(sys.argv[1])
		os.symlink("victim", "link")
		libc = ctypes.CDLL(None)
		while True: # RENAME_EXCHANGE
		    libc.renameat2(-100, b"place", -100, b"link", 2)
		    time.sleep(0.0005)
	END
	PIDS+=("$!")
	for _ in $(seq "$(full_or 100 12)"); do
		cp -fl "$T"/dead/* "/proc/$$/fd/8/"
		SEEP_DIR=$T/place timeout 20 "$SEEP" ls --prune >"$T/list" 2>&1 || true
	done
	kill "${PIDS[-1]}"
	exec 8<&-
	[[ $(find "$T/victim" -type f | wc -l) -eq 40 ]]
	[[ $(cat "$T"/victim/* | sort -u) == precious ]]
}

@test "root removes of a user's directory what is the user's, and nothing else" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/twins" >/dev/null
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/twins" >/dev/null
	set -- "$DIR"/*.seg
	[[ $# -eq 2 ]]
	chown 65534:65534 "$DIR" "$1"
	chown 65533:65533 "$2"
	SEEP_DIR=$DIR "$SEEP" ls --prune >"$T/list" 2>&1
	cat "$T/list"
	[[ ! -e $1 && -e $2 ]]
	grep -q "kept, because it does not belong to the owner of its directory" "$T/list"
	grep -qx "1 file removed" "$T/list"
}
