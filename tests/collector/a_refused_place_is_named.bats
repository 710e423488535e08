#!/usr/bin/env bats
# a_refused_place_is_named - a SEEP_DIR that cannot be used is named in the header, with the reason, and ls, report, top, watch and JSON say it.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# Each test has a /dev/shm of its own, so that what goes to the default place is seen and gone with the test.
# inside SCRIPT: with $1 the host, $2 the command
inside() {
	local -a user=()
	[[ $(id -u) -eq 0 ]] || user=(--user --map-root-user)
	unshare --mount "${user[@]}" true 2>/dev/null || skip "no mount namespace here"
	{
		cat <<-END
			set -eu
			mount --make-rprivate / 2>/dev/null || true
			mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm
			mount -t tmpfs -o size=32m,mode=755 tmpfs /mnt
			SEEP='$SEEP' HOST='$HOSTS/twins' PRELOAD='$COLLECTOR'
			own=/dev/shm/seep-\$(id -u)
			# run DIR: the host, with this SEEP_DIR; then what its header says
			run() {
				rm -rf \$own
				LD_PRELOAD=\$PRELOAD SEEP_DIR=\$1 \$HOST >/dev/null
				env -u SEEP_DIR \$SEEP report \$own --format json >/mnt/report.json
				env -u SEEP_DIR \$SEEP report \$own >/mnt/report
				env -u SEEP_DIR \$SEEP ls >/mnt/list
				env -u SEEP_DIR \$SEEP ls --format json >/mnt/list.json
				jq -c '.processes[0].place_refused' /mnt/report.json
				cmp -s <(jq -c '.processes[0].place_refused' /mnt/report.json) <(jq -c '.processes[0].place_refused' /mnt/list.json)
			}
			# says DIR REASON WORDS
			says() {
				[[ \$(jq -r '.processes[0].place_refused.asked' /mnt/report.json) == "\$1" ]]
				[[ \$(jq -r '.processes[0].place_refused.reason' /mnt/report.json) == "\$2" ]]
				grep -q "not in SEEP_DIR: \$1\$3" /mnt/list
				tr '\\n' ' ' </mnt/report | tr -s ' ' | grep -q "settings\? of SEEP_DIR or SEEP_BASE that could not be used.*(\$1\$3"
			}
		END
		cat
	} >"$T/script"
	unshare --mount "${user[@]}" bash "$T/script" 2>&1 || { [[ $? -ne 77 ]] || skip "not permitted here: a mount"; return 1; }
}

@test "missing, a file, a link, writable by others, of another user" {
	need jq
	inside <<-'END'
		run /mnt/nothing
		says /mnt/nothing missing ' cannot be opened: No such file or directory'
		touch /mnt/file
		run /mnt/file
		says /mnt/file no_directory ' is not a directory'
		mkdir -m 700 /mnt/real
		ln -s real /mnt/link
		run /mnt/link
		says /mnt/link no_directory ' is not a directory'
		mkdir /mnt/shared
		chmod 777 /mnt/shared
		run /mnt/shared
		says /mnt/shared shared ' can be written by others (mode 0777)'
		mkdir -m 755 /mnt/theirs
		if chown 65534 /mnt/theirs 2>/dev/null; then
			run /mnt/theirs
			says /mnt/theirs owner ' belongs to uid 65534'
		fi
		# a fit one is used, and nothing is said
		mkdir -m 700 /mnt/fit
		rm -rf $own
		LD_PRELOAD=$PRELOAD SEEP_DIR=/mnt/fit $HOST >/dev/null
		[[ ! -e $own ]]
		$SEEP report /mnt/fit --format json | jq -e '.processes[0] | has("place_refused") | not'
	END
}

@test "a file system on which a store may stall: overlayfs" {
	need jq
	inside <<-'END'
		mkdir /mnt/low /mnt/up /mnt/work /mnt/over
		mount -t overlay -o lowerdir=/mnt/low,upperdir=/mnt/up,workdir=/mnt/work overlay /mnt/over || exit 77
		mkdir -m 700 /mnt/over/seep
		run /mnt/over/seep
		says /mnt/over/seep file_system ' is on overlayfs'
	END
}

@test "no room, too many files, a read-only file system" {
	need jq
	inside <<-'END'
		mkdir -m 700 /mnt/full
		mount -t tmpfs -o size=64k,mode=700 tmpfs /mnt/full
		run /mnt/full
		says /mnt/full no_room ' has too little room'
		mkdir -m 700 /mnt/many
		mount -t tmpfs -o size=16m,mode=700 tmpfs /mnt/many
		dd if=/dev/zero of=/mnt/many/filler bs=1M count=9 2>/dev/null
		(cd /mnt/many && seq -f x%g 3100 | xargs touch)
		run /mnt/many
		says /mnt/many too_many_files ' has too many files'
		mkdir -m 700 /mnt/ro
		mount -t tmpfs -o ro,size=16m,mode=700 tmpfs /mnt/ro
		run /mnt/ro
		says /mnt/ro no_file ': no file could be made there'
	END
}

@test "a path longer than the header, and one longer than any" {
	need jq
	inside <<-'END'
		long=/mnt/$(printf 'a%.0s' $(seq 200))/$(printf 'b%.0s' $(seq 200))/$(printf 'c%.0s' $(seq 200))
		run $long
		[[ $(jq -r '.processes[0].place_refused.asked' /mnt/report.json) == .../bbb*/ccc* ]]
		run $long$long$long
		jq -e '.processes[0].place_refused | .reason == "missing" and .asked == ""' /mnt/report.json
	END
}

@test "top and watch say it of a process that runs" {
	need jq
	inside <<-'END'
		rm -rf $own
		mkfifo /mnt/in
		LD_PRELOAD=$PRELOAD SEEP_DIR=/mnt/not$'\e'there ${HOST%twins}on_show </mnt/in >/mnt/out &
		exec 9>/mnt/in
		for _ in $(seq 100); do grep -q ready /mnt/out && break; sleep 0.1; done
		unset SEEP_DIR
		$SEEP top --once --interval 100ms $own >/mnt/plain
		cat /mnt/plain
		grep -qF "$! not in SEEP_DIR: /mnt/not\\x1bthere cannot be opened: No such file or directory" /mnt/plain
		$SEEP top --once --interval 100ms --format json $own >/mnt/top.json
		$SEEP report $own --format json >/mnt/report.json
		jq -e '.processes[0].place_refused.reason == "missing"' /mnt/top.json
		cmp <(jq -c '.processes[0].place_refused' /mnt/report.json) <(jq -c '.processes[0].place_refused' /mnt/top.json)
		# twice, and it is said once for the service
		LD_PRELOAD=$PRELOAD SEEP_DIR=/mnt/not$'\e'there ${HOST%twins}on_show </mnt/in >/mnt/out2 9>&- &
		for _ in $(seq 100); do grep -q ready /mnt/out2 && break; sleep 0.1; done
		$SEEP watch --once --history /mnt/history $own 2>/mnt/err
		cat /mnt/err
		[[ $(grep -cF "): not in SEEP_DIR: /mnt/not\\x1bthere cannot be opened" /mnt/err) -eq 1 ]]
		exec 9>&-
		wait
	END
}

@test "forked children say it, too" {
	need jq
	inside <<-'END'
		rm -rf $own
		LD_PRELOAD=$PRELOAD SEEP_DIR=/mnt/nothing SEEP_CHILD_FILES=0 ${HOST%twins}forks >/dev/null
		env -u SEEP_DIR $SEEP report $own --format json >/mnt/report.json
		jq -c '[.processes[] | .place_refused.asked]' /mnt/report.json
		jq -e '.processes | length > 1' /mnt/report.json
		jq -e '[.processes[] | select(.lost.early_stacks == 0) | .place_refused.asked] | unique == ["/mnt/nothing"]' /mnt/report.json
	END
}

@test "no place at all: a line is left where the user looks, ls prints it, and --prune removes it" {
	inside <<-'END'
		mkdir -m 700 /mnt/full
		mount -t tmpfs -o size=64k,mode=700 tmpfs /mnt/full
		mount -t tmpfs -o size=64k,mode=1777 tmpfs /dev/shm
		LD_PRELOAD=$PRELOAD SEEP_DIR=/mnt/full $HOST >/dev/null
		SEEP_DIR=/mnt/full $SEEP ls >/mnt/out 2>/mnt/err
		cat /mnt/err
		grep -E '/mnt/full: 1 program was not traced, the last one twins \(pid [0-9]+\): no space left for its segment, [0-9.]+ m?s ago' /mnt/err
		SEEP_DIR=/mnt/full $SEEP ls --prune >/mnt/out 2>/mnt/err
		SEEP_DIR=/mnt/full $SEEP ls >/mnt/out 2>/mnt/err
		[[ ! -s /mnt/err ]]
	END
}
