#!/usr/bin/env bats
# links_are_not_followed - the command writes to the file that its user named, even if others can write to the directory.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# a recording, and a directory as /tmp is: others may make names there
a_place() {
	record -q -o r.seep true
	[[ $status -eq 0 ]]
	echo precious >"$T/precious"
	mkdir -m 1777 "$T/open"
	waiting
}

# writes FORM TO: one of the ways in which the command writes to a file
writes() {
	local to=$2
	cd "$T" || return
	case $1 in
	report) timeout 20 "$SEEP" report r.seep -o "$to" ;;
	json) timeout 20 "$SEEP" report r.seep --format json -o "$to" ;;
	diff) timeout 20 "$SEEP" diff r.seep r.seep -o "$to" ;;
	check) timeout 20 "$SEEP" check r.seep --no-suppress -o "$to" --format json || [[ $? -eq 1 ]] ;;
	baseline) timeout 20 "$SEEP" check r.seep --write-baseline "$to" ;;
	suppressions) timeout 20 "$SEEP" check r.seep --write-suppressions "$to" || [[ $? -eq 1 ]] ;;
	export) timeout 20 "$SEEP" export r.seep --format csv --force -o "$to" ;;
	packed) timeout 20 "$SEEP" export r.seep --format seep --force -o "$to" ;;
	new) timeout 20 "$SEEP" export r.seep --format csv -o "$to" ;;
	view) timeout 20 "$SEEP" view r.seep --no-open -o "$to" ;;
	snapshot) timeout 20 "$SEEP" snapshot "$HOST" -o "$to" ;;
	named) timeout 20 "$SEEP" snapshot "$HOST" --names -o "$to" ;;
	record) SEEP_DIR=$DIR timeout 20 "$SEEP" record -q --force -o "$to" true ;;
	esac >"$T/said" 2>"$T/complaint" 3>&- 9>&-
}

# refused COMMAND...: it fails
refused() {
	if "$@"; then
		echo "not refused: $*"
		return 1
	fi
}

FORMS=(report json diff check baseline suppressions export packed new view snapshot named record)

@test "a link in a directory that others can write: refused, by one line" {
	local form to
	a_place
	for form in "${FORMS[@]}"; do
		ln -sf ../precious "$T/open/$form"
		ln -sf ../absent "$T/open/$form-absent"
		for to in "$T/open/$form" "$T/open/$form-absent"; do
			if writes "$form" "$to"; then
				echo "$form wrote through $to"
				false
			fi
			[[ $(wc -l <"$T/complaint") -eq 1 ]] || { cat "$T/complaint"; false; }
			[[ -L $to && ! -e $T/absent && $(<"$T/precious") == precious ]]
		done
	done
	# and nothing of ours is left there
	[[ -z $(find "$T/open" ! -type l ! -path "$T/open") ]]
	ends_well
}

@test "a link of somebody else, or in a directory of somebody else" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local form
	a_place
	mkdir "$T/theirs" "$T/ours"
	chmod 755 "$T/theirs" "$T/ours"
	for form in "${FORMS[@]}"; do
		ln -s ../precious "$T/theirs/$form"
		ln -s ../precious "$T/ours/$form"
		chown -h 65534 "$T/ours/$form"
	done
	chown 65534 "$T/theirs"
	for form in "${FORMS[@]}"; do
		for to in "$T/theirs/$form" "$T/ours/$form"; do
			if writes "$form" "$to"; then
				echo "$form wrote through $to"
				false
			fi
			[[ -L $to && $(<"$T/precious") == precious ]]
		done
	done
	ends_well
}

@test "a link of ours to a link of theirs; links in a circle" {
	a_place
	ln -s ../precious "$T/open/second"
	ln -s open/second "$T/first"
	refused writes report "$T/first"
	[[ $(<"$T/precious") == precious ]]
	ln -s b "$T/a"
	ln -s a "$T/b"
	refused writes report "$T/a"
	ends_well
	[[ $(wc -l <"$T/complaint") -eq 1 ]]
}

@test "a link of the user in a directory of his own: what it names is replaced, the link stays" {
	local form
	a_place
	mkdir "$T/mine"
	for form in report json diff check baseline suppressions export packed view record; do
		echo old >"$T/mine/target"
		ln -sf mine/target "$T/l1"
		ln -sf l1 "$T/l2"
		writes "$form" "$T/l2" || { cat "$T/complaint"; false; }
		[[ -L $T/l2 && -L $T/l1 && -s $T/mine/target && $(head -c 3 "$T/mine/target") != old ]]
		rm "$T/mine/target"
	done
	# to nowhere: made there, unless nothing may be replaced
	writes report "$T/l2"
	[[ -s $T/mine/target ]]
	rm "$T/mine/target"
	refused writes new "$T/l2"
	[[ ! -e $T/mine/target ]]
	refused writes snapshot "$T/l2"
	[[ ! -e $T/mine/target ]]
	ends_well
}

@test "a pipe that somebody else put there holds nobody" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	local form
	a_place
	for form in "${FORMS[@]}"; do
		mkfifo "$T/open/$form"
		chown 65534 "$T/open/$form"
		refused writes "$form" "$T/open/$form"
		[[ $(wc -l <"$T/complaint") -eq 1 ]] || { echo "$form"; cat "$T/complaint"; false; }
		[[ -p $T/open/$form ]]
	done
	ends_well
}

@test "descriptors, devices and process substitution go on working" {
	a_place
	cd "$T"
	"$SEEP" report r.seep >plain
	"$SEEP" report r.seep -o /dev/stdout >out1
	"$SEEP" report r.seep -o /proc/self/fd/1 >out2
	"$SEEP" report r.seep -o /dev/fd/7 7>out3
	"$SEEP" report r.seep -o /dev/fd/1 | cat >out4
	"$SEEP" report r.seep -o >(cat >out5; echo >done5)
	appears done5
	ln -s /dev/stdout tap
	"$SEEP" report r.seep -o tap >out6
	mkfifo pipe
	cat pipe >out7 &
	PIDS+=("$!")
	"$SEEP" report r.seep -o pipe
	wait "${PIDS[-1]}"
	local n
	for n in 1 2 3 4 5 6 7; do
		cmp plain "out$n"
	done
	echo first >log
	"$SEEP" report r.seep -o /dev/fd/7 7>>log
	[[ $(head -n 1 log) == first && $(wc -l <log) -gt 3 ]]
	"$SEEP" report r.seep -o /dev/null
	[[ -c /dev/null ]]
	# for reading only, not open, no number
	refused "$SEEP" report r.seep -o /dev/fd/7 7<plain 2>complaint
	refused "$SEEP" report r.seep -o /dev/fd/9999 2>complaint
	"$SEEP" check r.seep --no-suppress --write-baseline base >/dev/null
	"$SEEP" check r.seep --no-suppress --baseline base >want
	"$SEEP" check r.seep --no-suppress --baseline <(cat base) >got
	sed -i 's@/dev/fd/[0-9]*@base@' got
	cmp want got
	"$SEEP" check r.seep --no-suppress --baseline /dev/stdin <base >got
	printf 'leak:nothing_of_this_name\n' >suppressions
	"$SEEP" report r.seep --suppress suppressions >want
	"$SEEP" report r.seep --suppress <(cat suppressions) >got
	cmp want got
	"$SEEP" report r.seep --suppress /dev/null >got
	ends_well
}

@test "inputs: nothing is opened before it is known to be a file" {
	need strace
	a_place
	cd "$T"
	mkfifo pipe
	for input in pipe /dev/ptmx /dev/zero /dev/tty .; do
		[[ -e $input ]] || continue
		for line in 'check r.seep --baseline' 'report r.seep --suppress' 'record --force -o x.seep'; do
			# shellcheck disable=SC2086 # words
			SEEP_DIR=$DIR timeout 20 strace -qq -f -e trace=open,openat -o trace \
				"$SEEP" $line "$input" >said 2>complaint </dev/null 3>&- 9>&- && { echo "$line $input"; false; }
			[[ $? -ne 124 ]]
			grep -F "\"$input\"" trace | grep -v O_PATH >opened || true
			if [[ -s opened ]]; then
				cat opened
				false
			fi
		done
	done
	ends_well
}

@test "the name of a program does not move the file" {
	local n=0 name
	a_place
	mkdir "$T/in" "$T/elsewhere"
	cd "$T/in"
	"$SEEP" snapshot "$HOST" -o "$T/snap" >/dev/null
	while IFS= read -r -d '' name; do
		n=$((n + 1))
		# `exe` in the header (docs/FORMAT.md) is theirs: any bytes
		"$PYTHON" - "$T/snap" "$T/evil.$n" "$name" <<-'PY'
		import os, sys
		data = bytearray(open(sys.argv[1], "rb").read())
		name = os.fsencode(sys.argv[3])
		assert data[4096:4097] == b"/" and name
		data[4096:4096 + len(name) + 1] = name + b"\0"
		open(sys.argv[2], "wb").write(data)
		PY
		rm -rf ./* ./.[!.]* || true
		"$SEEP" export "$T/evil.$n" --format csv -o '%e' 2>"$T/complaint" || { cat "$T/complaint"; false; }
		"$SEEP" export "$T/evil.$n" --format csv -o '%e-%p-%n.csv' >"$T/said" 2>"$T/complaint"
		[[ $(find . -type f | wc -l) -ge 2 && $(find . -mindepth 2 | wc -l) -eq 0 ]]
		[[ -z $(find . -mindepth 1 -name '-*') && -z $(find . -mindepth 1 -name '.*') ]]
		[[ -z $(ls -A "$T/elsewhere") && ! -e $T/evil ]]
	done < <(printf '%s\0' '/x/..' '..' '.' '/' '-o' '/x/-rf' '/x/.bashrc' 'a/../../evil' $'/x/a\nb' $'/x/\e[31m' '/x/' '%n%p' "$(printf 'x%.0s' {1..300})")
	[[ $n -ge 12 ]]
	ends_well
}

@test "one place opens for writing what a user names" {
	# shellcheck disable=SC2154 # lib/host.bash sets it
	cd "$repo"
	# these write in folders of our own or of systemd, or to the control file of a process
	grep -rnE 'O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE|\bcreat\(|\bmk(o?s?)temps?\(|\bfopen\([^,]*, *"[wa]|"r\+' src --include='*.[ch]' |
		grep -vE '^src/(collector/|kit/os/(outfile|infile)\.c|names/(find/cache|jail/jail|jail/trap)\.c|segments/find/(segment_dir|free_slots|gather|dead)\.c|recording/file/meta\.c|follow/recorder/copy_snapshots\.c|follow/history/(watch_services|store)\.c|attach/service/dropin_place\.c|replay/script_writer\.c|session/events/logread\.c|host/memory/(foreign_ask|foreign_answer)\.c)' |
		grep -vE '/dev/null|/proc/self/|fmemopen|\(fd == 0 \? O_WRONLY' >"$T/found" || true
	cat "$T/found"
	[[ ! -s $T/found ]]
}

@test "without /proc: the same, by hidden names that are removed" {
	own_mounts umount -l /proc 2>/dev/null || skip "no mount namespace here"
	record -q -o r.seep true
	echo precious >"$T/precious"
	mkdir -m 1777 "$T/open"
	mkdir "$T/mine"
	ln -s ../precious "$T/open/link"
	cd "$T"
	# shellcheck disable=SC2016 # for the shell in there
	own_mounts sh -c 'umount -l /proc; "$1" report r.seep -o mine/a &&
		"$1" report r.seep -o /dev/null && ! "$1" report r.seep -o /dev/full 2>/dev/null &&
		! "$1" report r.seep -o open/link' sh "$SEEP" 2>"$T/complaint"
	[[ $(ls -A mine) == a && -s mine/a && $(<precious) == precious ]]
	[[ $(wc -l <"$T/complaint") -eq 1 ]]
}
