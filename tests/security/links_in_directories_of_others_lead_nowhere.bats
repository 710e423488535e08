#!/usr/bin/env bats
# links_in_directories_of_others_lead_nowhere - a user puts symbolic links into his directory of segments, which root's seep lists.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, or read other files than it was told to
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# $DIR has the name of a directory of segments, so record looks into it, too.
# $OURS is where root's own segments go.
setup_links() {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	chmod 711 "$DIR"
	OURS=$DIR/ours
	mkdir "$DIR/his" "$DIR/w" "$OURS"
	chmod 700 "$OURS"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$OURS ls / >/dev/null
	SEGMENT=$(echo "$OURS"/*.seg)
}

# in_time COMMAND...: where $DIR/w does not answer. It may hang beyond SIGKILL,
# so nobody waits for it; the end of the file system ends it.
in_time() {
	local shell hangs=
	rm -f "$T/status"
	# shellcheck disable=SC2016 # for that shell
	unshare -m "$BASH" -c '
		mount --make-rprivate /
		"$1" "$2" "$3" "$4" lookup >"$5/ready" 2>&1 &
		echo $! >"$5/server"
		until grep -q READY "$5/ready"; do sleep 0.05; done
		T=$5
		shift 5
		status=0
		"$@" >"$T/said" 2>&1 || status=$?
		echo $status >"$T/status"' - "$PYTHON" "$LIB/fuse_silent.py" "$DIR/w" "$SEGMENT" "$T" "$@" 3>&- &
	shell=$!
	PIDS+=("$shell")
	for _ in {1..400}; do
		[[ ! -s $T/status ]] || break
		sleep 0.05
	done
	[[ -s $T/status ]] || hangs=1
	kill -KILL "$(<"$T/server")"
	wait "$shell" || true
	if [[ -n $hangs ]]; then
		echo "hangs: $*"
		return 1
	fi
	echo "status $(<"$T/status") of: $*"
	cat "$T/said"
}

@test "they lead to a file system that does not answer" {
	setup_links
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	cp "$SEGMENT" "$DIR/his/real.seg"
	ln -s "$DIR/w/x.seg" "$DIR/his/x.seg"
	ln -s "$DIR/w/x.data" "$DIR/his/x.data"
	chown -hR 65534 "$DIR/his"
	in_time "$SEEP" report "$DIR/his"
	grep -q "his/x.seg left out: a symbolic link of another user" "$T/said"
	grep -q "his/x.data left out: a symbolic link of another user" "$T/said"
	in_time env SEEP_DIR="$DIR/his" "$SEEP" ls
	grep -q real.seg "$T/said"
	in_time "$SEEP" export --format seep -o "$T/exported" "$DIR/his"
	[[ -s $T/exported ]]
	in_time "$SEEP" check "$DIR/his"
}

@test "record looks into the directories of all users, where a file becomes a link" {
	setup_links
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	chown 65534 "$DIR"
	# now a segment, now a link: record looks at it before it opens it
	setpriv --reuid=65534 --regid=65534 --clear-groups "$PYTHON" -c '
import os, sys, time
os.chdir(sys.argv[1])
until = time.monotonic() + 60
while time.monotonic() < until:
    for end in ("seg", "seep-snap"):
        open("file", "w").close()
        os.rename("file", "x." + end)
        os.symlink("w/x." + end, "link")
        os.rename("link", "x." + end)' "$DIR" 3>&- &
	PIDS+=($!)
	eventually test -L "$DIR/x.seg"
	in_time env SEEP_DIR="$OURS" "$SEEP" record -q -o "$T/r.seep" sleep 3
	[[ $(<"$T/status") -eq 0 && -s $T/r.seep ]]
}

@test "the snapshots beside a recording are a link" {
	setup_links
	[[ -c /dev/fuse ]] || skip "not permitted here: no /dev/fuse"
	SEEP_DIR=$OURS "$SEEP" record -q -o "$DIR/his/r.seep" ls / >/dev/null
	ln -s "$DIR/w/inner" "$DIR/his/r.seep.snapshots"
	chown -hR 65534 "$DIR/his"
	in_time "$SEEP" report "$DIR/his/r.seep"
	[[ $(<"$T/status") -eq 0 ]]
}

@test "links of our own are followed" {
	local where=$T/links
	mkdir "$where"
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR ls / >/dev/null
	ln -s "$(echo "$DIR"/*.seg)" "$where/x.seg"
	"$SEEP" report "$where" | grep -q 'ls (pid'
}
