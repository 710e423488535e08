#!/usr/bin/env bats
# services_have_a_base - SEEP_BASE=DIR: segments are in DIR/seep-UID, made and checked as in /dev/shm; an unfit one is named and /dev/shm takes its place.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# inside SCRIPT: in a mount namespace with a /dev/shm, a /run and a /mnt of its own
inside() {
	local -a user=()
	[[ $(id -u) -eq 0 ]] || user=(--user --map-root-user)
	unshare --mount "${user[@]}" true 2>/dev/null || skip "no mount namespace here"
	{
		cat <<-END
			set -eu
			unset SEEP_DIR SEEP_BASE
			mount --make-rprivate / 2>/dev/null || true
			mount -t tmpfs -o size=64m,mode=1777 tmpfs /dev/shm
			mount -t tmpfs -o size=64m,mode=755 tmpfs /run
			mount -t tmpfs -o size=32m,mode=755 tmpfs /mnt
			SEEP='$SEEP' HOST='$HOSTS/twins' HOSTS='$HOSTS' PRELOAD='$COLLECTOR'
			own=/dev/shm/seep-\$(id -u)
			uid=\$(id -u)
			traced() { rm -rf \$own; env LD_PRELOAD=\$PRELOAD "\$@" >/mnt/out; }
			# says PATH REASON: of the process in the default place
			says() {
				\$SEEP report \$own --format json >/mnt/report.json
				jq -c '.processes[0].place_refused' /mnt/report.json
				jq -e --arg p "\$1" --arg r "\$2" '.processes[0].place_refused | .asked == \$p and .reason == \$r and .setting == "SEEP_BASE"' /mnt/report.json
				\$SEEP ls | grep "not in SEEP_BASE: \$1"
			}
		END
		cat
	} >"$T/script"
	unshare --mount "${user[@]}" bash "$T/script" 2>&1 || { [[ $? -ne 77 ]] || skip "not permitted here: a mount"; return 1; }
}

@test "a sticky directory of root: one of 0700 for each user, private files, and ls finds them there" {
	need jq
	inside <<-'END'
		mkdir -m 1777 /run/seep
		chmod 1777 /run/seep
		traced SEEP_BASE=/run/seep $HOST
		[[ ! -e $own ]]
		[[ $(stat -c '%a %u' /run/seep/seep-$uid) == "700 $uid" ]]
		[[ $(stat -c %a /run/seep/seep-$uid/twins-*.seg) == 400 ]]
		[[ $(stat -c %a /run/seep/seep-$uid/twins-*.ctl) == 600 ]]
		$SEEP ls | grep ' twins\|/twins'
		pid=$(ls /run/seep/seep-$uid | sed -n 's/^twins-\([0-9]*\)-.*seg$/\1/p')
		$SEEP report $pid --format json | jq -e '.processes[0] | has("place_refused") | not'
		# forked children, too
		traced SEEP_BASE=/run/seep $HOSTS/forks
		[[ ! -e $own ]]
		$SEEP ls --prune | grep 'removed'
		[[ -z $(ls /run/seep/seep-$uid) ]]
		# SEEP_DIR wins
		mkdir -m 700 /mnt/dir
		traced SEEP_BASE=/run/seep SEEP_DIR=/mnt/dir $HOST
		[[ -n $(ls /mnt/dir) && -z $(ls /run/seep/seep-$uid) ]]
		# any other base: ls has to be told, or finds the living by their maps
		mkdir -m 700 /mnt/base
		traced SEEP_BASE=/mnt/base $HOST
		if $SEEP ls | grep /mnt/base; then exit 1; fi
		SEEP_BASE=/mnt/base $SEEP ls | grep twins
		$SEEP report /mnt/base/seep-$uid | grep twins
	END
}

@test "two users share a base and nothing in it" {
	[[ $(id -u) -eq 0 ]] || skip "needs root, for directories of two users"
	setpriv --reuid=64321 --regid=64321 --clear-groups test -x "$SEEP" -a -x "$HOSTS/twins" || skip "nobody cannot come here"
	inside <<-'END'
		mkdir /run/seep
		chmod 1777 /run/seep
		chmod 777 /mnt
		as() { local id=$1; shift; setpriv --reuid=$id --regid=$id --clear-groups -- "$@"; }
		for id in 64321 64322; do
			as $id env LD_PRELOAD=$PRELOAD SEEP_BASE=/run/seep $HOST >/dev/null
			[[ $(stat -c '%a %u' /run/seep/seep-$id) == "700 $id" ]]
		done
		as 64322 ls /run/seep/seep-64321 && exit 1
		as 64322 mv /run/seep/seep-64321 /run/seep/x && exit 1
		export HOME=/mnt XDG_CACHE_HOME=/mnt
		[[ $(as 64322 $SEEP ls | grep -c 'twins$') -eq 1 ]]
		[[ $($SEEP ls | grep -c 'twins$') -eq 2 ]]
		pid=$(ls /run/seep/seep-64321 | sed -n 's/^twins-\([0-9]*\)-.*seg$/\1/p')
		$SEEP report $pid | grep twins
		as 64322 $SEEP report $pid 2>&1 | grep 'no such process'
		# a taken name: the default place, and the reason
		rm -r /run/seep/seep-64321
		as 64322 mkdir -m 777 /run/seep/seep-64321
		as 64321 env LD_PRELOAD=$PRELOAD SEEP_BASE=/run/seep $HOST >/dev/null
		[[ -z $(ls /run/seep/seep-64321) ]]
		as 64321 $SEEP ls 2>/dev/null | tee /dev/stderr | grep 'not in SEEP_BASE: /run/seep/seep-64321 belongs to uid 64322'
		$SEEP report /dev/shm/seep-64321 --format json | grep '"asked":"/run/seep/seep-64321","reason":"owner"'
	END
}

@test "a base that others may write without being sticky, of another user, missing, a link, relative, read-only" {
	need jq
	inside <<-'END'
		traced SEEP_BASE=/mnt/nothing $HOST
		says /mnt/nothing missing
		mkdir /mnt/shared
		chmod 777 /mnt/shared
		traced SEEP_BASE=/mnt/shared $HOST
		says /mnt/shared shared
		[[ -z $(ls -A /mnt/shared) ]]
		chmod 1777 /mnt/shared
		ln -s shared /mnt/link
		traced SEEP_BASE=/mnt/link $HOST
		says /mnt/link no_directory
		touch /mnt/file
		traced SEEP_BASE=/mnt/file $HOST
		says /mnt/file no_directory
		cd /mnt
		traced SEEP_BASE=shared $HOST
		says shared missing
		mkdir -m 755 /mnt/theirs
		if chown 65534 /mnt/theirs 2>/dev/null; then
			traced SEEP_BASE=/mnt/theirs $HOST
			says /mnt/theirs owner
		fi
		mkdir /mnt/ro
		mount -t tmpfs -o ro,size=1m,mode=1777 tmpfs /mnt/ro
		traced SEEP_BASE=/mnt/ro $HOST
		says /mnt/ro/seep-$uid closed
		$SEEP ls | grep 'Read-only file system'
		# SEEP_DIR and SEEP_BASE are both unfit: the first is named
		traced SEEP_DIR=/mnt/no SEEP_BASE=/mnt/ro $HOST
		jq -e '.processes[0].place_refused | .asked == "/mnt/no" and .setting == "SEEP_DIR"' <($SEEP report $own --format json)
		# SEEP_DIR is unfit, and the base is used
		traced SEEP_DIR=/mnt/no SEEP_BASE=/mnt/shared $HOST
		[[ ! -e $own && -n $(ls /mnt/shared/seep-$uid) ]]
		# longer than any path
		traced SEEP_BASE=/mnt/$(printf 'a%.0s' {1..2000}) $HOST
		jq -e '.processes[0].place_refused.reason == "missing"' <($SEEP report $own --format json)
		traced SEEP_BASE= $HOST
		jq -e '.processes[0] | has("place_refused") | not' <($SEEP report $own --format json)
	END
}
