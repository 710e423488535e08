#!/usr/bin/env bats
# a_taken_directory_is_told - /dev/shm is writable for everybody: a user who creates /dev/shm/seep-UID of another user obtains none of that user's segments, cannot forge any, and is named.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children; if root points seep at a process, file or directory of a hostile user, that user must not be able to make it read or write other files than it was told to; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

victim=64321 attacker=64322 # of nobody

# in_shm: the rest of standard input as a script, with a /dev/shm of its own
in_shm() {
	[[ $(id -u) -eq 0 ]] || skip "needs root, for directories of two users"
	setpriv --reuid=$victim --regid=$victim --clear-groups \
		test -x "$SEEP" -a -x "$HOSTS/family" || skip "nobody cannot come here"
	{
		cat <<-END
			set -eu
			unset SEEP_DIR
			mount --make-rprivate /
			mount -t tmpfs -o size=32m,mode=1777 tmpfs /dev/shm
			mount -t tmpfs -o size=8m,mode=1777 tmpfs /mnt
			export HOME=/mnt XDG_CACHE_HOME=/mnt
			cd /mnt
			seep() { command '$SEEP' "\$@"; }
			as() { local id=\$1; shift; setpriv --reuid=\$id --regid=\$id --clear-groups -- "\$@"; }
			traced() { as $victim env LD_PRELOAD='$COLLECTOR' "\$@"; }
			family='$HOSTS/family' SEEP='$SEEP' victim=$victim attacker=$attacker
			theirs=/dev/shm/seep-$victim
		END
		cat
	} >"$T/script"
	unshare -m bash "$T/script" >"$T/out" 2>"$T/err" || {
		local status=$?
		cat "$T/out" "$T/err"
		return $status
	}
	cat "$T/out"
	sed 's/^/stderr: /' "$T/err"
}

@test "ls and record name the owner and say what to do, in one line" {
	in_shm <<-'END'
		for mode in 700 755 777; do
			as $attacker mkdir -m $mode $theirs
			chmod $mode $theirs
			for command in "ls" "record true"; do
				as $victim $SEEP $command >out 2>err && exit 1
				echo "$? $mode $command: $(cat err)"
				[[ $(wc -l <err) -eq 1 ]]
				grep -q "^seep: $theirs.* belongs to uid $attacker: .*removed\? .*SEEP_DIR" err ||
					grep -q "^seep: $theirs.* belongs to uid $attacker: .*remove it.*SEEP_DIR" err
			done
			rmdir $theirs
		done
		# a link or a file there is no better
		as $attacker ln -s /mnt $theirs
		as $victim $SEEP ls 2>&1 | grep "belongs to uid $attacker"
		as $victim $SEEP record true 2>&1 | grep "belongs to uid $attacker"
		rm $theirs
		as $attacker touch $theirs
		as $victim $SEEP ls 2>&1 | grep "belongs to uid $attacker"
		as $victim $SEEP record true 2>&1 | grep "belongs to uid $attacker"
		# root sees it for others
		seep ls >out 2>err
		grep "belongs to uid $attacker: programs of uid $victim find no place" err
		# of a hundred of them it is told in a few lines
		as $attacker mkdir $(seq -f /dev/shm/seep-%g 1000 1099)
		seep ls >out 2>err
		cat err
		[[ $(wc -l <err) -eq 6 ]]
		grep -E '96 more directories in /dev/shm' err
		rmdir $(seq -f /dev/shm/seep-%g 1000 1099)
		# if it is root's own, that is an error
		as $attacker mkdir /dev/shm/seep-0
		status=0
		seep ls >out 2>err || status=$?
		[[ $status -eq 3 ]]
		grep "seep-0 belongs to uid $attacker" err
		rmdir /dev/shm/seep-0
		rm $theirs
		# what is his own, but others may write: told, too
		as $victim mkdir $theirs
		chmod 777 $theirs
		as $victim $SEEP ls 2>&1 | grep 'can be written by others.*chmod go-w'
	END
	grep -x "3 755 ls: .*" "$T/out"
	grep -x "125 700 record true: .*" "$T/out"
}

@test "a preloaded process runs untraced and leaves its header in a directory of its own" {
	in_shm <<-'END'
		as $attacker mkdir -m 777 $theirs
		chmod 777 $theirs
		traced $family >traced.out 2>traced.err
		as $victim $family >bare.out
		diff <(grep -v '^PID' bare.out) <(grep -v '^PID' traced.out)
		[[ ! -s traced.err && -z $(ls -A $theirs) ]]
		note=$(echo /dev/shm/seep-$victim-*)
		[[ $(stat -c '%a %u' $note) == "700 $victim" ]]
		[[ $(stat -c '%a %u %s' $note/family-*.seg) == "400 $victim 8192" ]]
		as $attacker ls $note && exit 1
		as $attacker mv $note /dev/shm/x && exit 1
		as $victim $SEEP ls >out 2>err && exit 1
		cat out
		grep ' inert .*family' out
		grep "not traced: the directory for its segment belongs to uid $attacker" out
		seep ls 2>/dev/null | grep "not traced: the directory for its segment belongs to uid $attacker"
		seep report --format json $note/*.seg >report.json
		grep -o "\"place_owner\":$attacker" report.json
		seep report $note/*.seg | grep 'is taken by another user'
		# and it can be cleared up
		as $victim $SEEP ls --prune 2>/dev/null | grep '1 file removed'
		[[ ! -e $note && -d $theirs ]]
		# a SEEP_DIR of one's own is the way out
		as $victim mkdir -m 700 /dev/shm/mine
		traced SEEP_DIR=/dev/shm/mine $family >/dev/null
		[[ $(ls /dev/shm/mine | wc -l) -eq 2 ]]
		# one that is not does not help
		traced SEEP_DIR=/mnt $family >/dev/null
		[[ -n $(find /dev/shm -path "*/seep-$victim-*/family-*.seg") && -z $(ls -A $theirs) ]]
		as $victim $SEEP ls 2>/dev/null | grep ' inert .*family'
	END
}

@test "forged segments are neither listed nor found by pid" {
	in_shm <<-'END'
		as $attacker mkdir -m 700 /dev/shm/elsewhere $theirs
		as $attacker env LD_PRELOAD="${SEEP%seep}libseep.so" SEEP_DIR=/dev/shm/elsewhere $family >forged.out
		pid=$(sed -n 's/^PID //p' forged.out)
		mv /dev/shm/elsewhere/*.seg $theirs
		chmod 755 $theirs
		chmod 444 $theirs/*
		as $victim $SEEP ls >out 2>/dev/null && exit 1
		[[ $(cat out) == 'no segments' ]]
		seep ls >out 2>/dev/null
		if grep family out; then exit 1; fi
		[[ -z $(as $victim $SEEP ls --pids) ]]
		as $victim $SEEP report $pid 2>&1 | grep 'no such process'
		# the same in a directory of one's own is found
		chown -R $victim $theirs
		as $victim $SEEP report $pid | grep family
	END
}

@test "report PID of a running process says why, and so does root's record of one that changed its user" {
	in_shm <<-'END'
		as $attacker mkdir -m 700 $theirs
		(exec setpriv --reuid=$victim --regid=$victim --clear-groups env LD_PRELOAD="${SEEP%seep}libseep.so" sleep 30) >/dev/null 2>&1 &
		sleep=$!
		for i in {1..100}; do
			! grep -q libseep /proc/$sleep/maps 2>/dev/null || break
			sleep 0.05
		done
		sleep 0.2
		status=0
		as $victim $SEEP report $sleep >out 2>err || status=$?
		kill $sleep
		cat err
		[[ $status -eq 3 ]]
		grep "not traced, because it found no place for its segment: $theirs belongs to uid $attacker" err
		seep record -o run.data setpriv --reuid=$victim --clear-groups $family >out 2>err || true
		cat err
		grep "not traced: .*is taken by another user (uid $attacker); have it removed" err
		# it took the header along, and the directory
		[[ $(find /dev/shm -name '*.seg' | wc -l) -eq 1 ]] # of sleep
		[[ $(find /dev/shm -name "seep-$victim-*" | wc -l) -eq 1 ]]
	END
}

@test "no more headers than a few hundred, however many processes run" {
	in_shm <<-'END'
		as $attacker mkdir -m 700 $theirs
		seq -f /dev/shm/x%g 380 | xargs touch
		traced sh -c 'for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30; do /bin/true; done'
		n=$(find /dev/shm -name '*.seg' | wc -l)
		echo "$n headers"
		[[ $n -gt 5 && $n -lt 25 ]]
	END
}
