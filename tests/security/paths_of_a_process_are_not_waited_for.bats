#!/usr/bin/env bats
# paths_of_a_process_are_not_waited_for - the segment of a process, its control file and its directory are on a file system that never answers.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

setup_silent() {
	[[ $(id -u) -eq 0 && -c /dev/fuse ]] || skip "needs root and FUSE"
	chmod 755 "$DIR"
	mkdir "$DIR/w"
	chown 65534 "$DIR/w"
	mkfifo "$T/lines" # what toggled waits for
	export T DIR PYTHON LIB HOSTS COLLECTOR
	setpriv --reuid=65534 --clear-groups test -x "$HOSTS/toggled" || skip "nobody cannot come here"
}

# hostile WHERE WHAT COMMAND...: as nobody, in a mount namespace in which WHERE
# stops to answer WHAT: before the command if WHAT is "read", else once it is
# ready. Its pid is in $HOST. The server of the file system ends first: see the
# order of $PIDS.
hostile() {
	# shellcheck disable=SC2016 # for that shell
	unshare -m "$BASH" -c '
		mount --make-rprivate /
		where=$1 what=$2
		shift 2
		mount_silent() {
			"$PYTHON" "$LIB/fuse_silent.py" "$where" "$T/contents" "$what" >"$T/mounted" 2>&1 &
			echo $! >"$T/server"
			until grep -q READY "$T/mounted"; do sleep 0.05; done
		}
		[[ $what != read ]] || mount_silent
		exec 8<>"$T/lines"
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@" <&8 >"$T/out" &
		host=$!
		until grep -q ready "$T/out"; do sleep 0.05; done
		[[ -z ${COPY:-} ]] || cp "$DIR"/w/*.seg "$COPY"
		[[ $what == read ]] || mount_silent
		echo $host >"$T/host.part"
		mv "$T/host.part" "$T/host"
		wait' - "$@" >"$T/shell" 2>&1 3>&- &
	PIDS+=($!)
	eventually test -s "$T/host"
	HOST=$(<"$T/host")
	PIDS=("$(<"$T/server")" "$HOST" "${PIDS[@]}")
}

# ends COMMAND...: with its words in $T/said and its status in $status. It may be
# in D state, so nobody waits for it.
ends() {
	local child
	rm -f "$T/status"
	(
		status=0
		"$@" >"$T/said" 2>&1 3>&- || status=$?
		echo $status >"$T/status"
	) 3>&- &
	child=$!
	PIDS+=("$child")
	for _ in {1..400}; do
		if [[ -s $T/status ]]; then
			status=$(<"$T/status")
			echo "status $status of: $*"
			cat "$T/said"
			return 0
		fi
		sleep 0.05
	done
	echo "hangs: $*"
	return 1
}

# all_end WORDS: every command that opens the segment of a process comes to its
# end and says why it cannot read the segment
all_end() {
	local command why=$1
	for command in "report" "check" "leaks --wait 0" "snapshot -o $T/snapshot" "off" "on" "export --format json -o $T/json"; do
		# shellcheck disable=SC2086 # words
		ends "$SEEP" $command "$HOST"
		[[ $status -eq 3 ]]
		grep -q "process $HOST: its segment cannot be read: .*$why" "$T/said"
	done
}

@test "looking up the path of the segment" {
	setup_silent
	: >"$T/contents"
	mkdir "$DIR/copy"
	export COPY=$DIR/copy
	hostile "$DIR/w" lookup env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR/w" "$HOSTS/toggled"
	all_end "does not answer"
	# a copy of its segment: is it that of the process which runs?
	ends env SEEP_DIR="$DIR/copy" "$SEEP" ls
	[[ $status -eq 0 ]]
}

@test "reading the segment, which was opened" {
	setup_silent
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR ls / >/dev/null
	cp "$DIR"/*.seg "$T/contents"
	hostile "$DIR/w" read "$PYTHON" -c '
import mmap, os, sys, time
fd = os.open(sys.argv[1], os.O_RDONLY)
m = mmap.mmap(fd, 8192, mmap.MAP_SHARED, mmap.PROT_READ)
print("ready", flush=True)
time.sleep(60)' "$DIR/w/x.seg"
	all_end "no collector writes"
}

@test "the directory for segments, of a process that found no place" {
	setup_silent
	: >"$T/contents"
	hostile /dev/shm lookup "$PYTHON" -c '
import mmap, os, sys, time
m = mmap.mmap(os.open(sys.argv[1], os.O_RDONLY), 4096, mmap.MAP_SHARED, mmap.PROT_READ)
print("ready", flush=True)
time.sleep(60)' "$COLLECTOR"
	ends "$SEEP" report "$HOST"
	[[ $status -eq 3 ]]
	grep -q "process $HOST: not traced" "$T/said"
}
