#!/usr/bin/env bats
# debug_information_is_read_in_a_jail - the author of an ELF file or its DWARF cannot choose another file that is read; the test fails without the jail.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # repo is of host.bash
load ../lib/record.bash

names_of() { timeout 60 "${AS[@]}" "$BUILD/tools/names_of" -n "$@" 2>"$T/err"; }

# a program and its .dwo file; where they were compiled is no more
setup_file() {
	local at=$BATS_FILE_TMPDIR source=$BATS_TEST_DIRNAME/../hosts/inlined.cpp
	mkdir "$at/compiled"
	(cd "$at/compiled" && g++ -std=c++17 -O2 -g -gsplit-dwarf -c -o program.o "$source" &&
		g++ -Wl,--build-id -o program program.o && rm program.o)
	mv "$at/compiled" "$at/moved"
}

# split_program DIR: DIR/program and DIR/program.dwo; $main
split_program() {
	cp -r "$BATS_FILE_TMPDIR/moved" "$1"
	main=$(nm "$1/program" | awk '/ T _ZN4shop5order/ { print $1; exit }')
	[[ -n $main ]]
}

@test "forbidden calls of the confined process are refused" {
	"$BUILD/tests/test_jail" 2>&1
}

@test "names come out of the jail for a normal user as for root, from a .dwo file beside it too" {
	split_program "$DIR/d"
	names_of "$DIR/d/program" <<<"$main" | grep inlined.cpp
	lacks '.dwo files' "$T/err"
	[[ $(id -u) -eq 0 ]] || return 0
	cp "$BUILD/tools/names_of" "$DIR/d"
	chmod 755 "$DIR"
	setpriv --reuid=65534 --regid=65534 --clear-groups "$DIR/d/names_of" -n "$DIR/d/program" \
		<<<"$main" 2>"$T/err" | grep inlined.cpp
	lacks '.dwo files' "$T/err"
}

@test "a program of another user cannot make seep read root's files through .dwo or debuglink names" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	split_program "$T/d"
	chown 65534 "$T/d" "$T/d/program" "$T/d/program.dwo"
	# his own, all of it: fine
	names_of "$T/d/program" <<<"$main" | grep inlined.cpp
	lacks '.dwo files' "$T/err"
	# a link of his to a file of root's
	mv "$T/d/program.dwo" "$T/roots.dwo"
	chown 0 "$T/roots.dwo"
	ln -s "$T/roots.dwo" "$T/d/program.dwo"
	names_of "$T/d/program" <<<"$main" >/dev/null
	grep '1 .dwo files of its debug information are missing' "$T/err"

	mkdir "$T/e"
	cp "$HOSTS/inlined" "$T/e/program"
	objcopy --only-keep-debug "$T/e/program" "$T/roots.debug"
	strip "$T/e/program"
	(cd "$T" && objcopy --add-gnu-debuglink=roots.debug e/program)
	main=$(nm "$HOSTS/inlined" | awk '/ T main$/ { print $1 }')
	chown 65534 "$T/e" "$T/e/program"
	ln -s "$T/roots.debug" "$T/e/roots.debug"
	! names_of "$T/e/program" <<<"$main" | grep inlined.cpp || false
	rm "$T/e/roots.debug"
	mv "$T/roots.debug" "$T/e"
	chown 65534 "$T/e/roots.debug"
	names_of "$T/e/program" <<<"$main" | grep inlined.cpp
}

@test "without seccomp filters only symbols are read, and the report says so" {
	status=0
	"$BUILD/tools/without_filters" true || status=$?
	[[ $status -eq 0 ]] || skip "no seccomp here"
	record -q --no-symbols "$HOSTS/inlined"
	"$SEEP" report --no-cache --format json "$T/seep.data" >"$T/with.json"
	jq -e '.names_missing == null' "$T/with.json"
	jq -e 'any(.processes[].sites[].frames[]; .line != null and .line > 0)' "$T/with.json"
	"$BUILD/tools/without_filters" "$SEEP" report --no-cache --format json "$T/seep.data" >"$T/report.json"
	jq -e '.names_missing.unconfined_modules > 0' "$T/report.json"
	jq -e 'any(.notes[]; contains("symbols alone") and contains("seccomp"))' "$T/report.json"
	jq -e 'all(.processes[].sites[].frames[]; (.line // 0) == 0)' "$T/report.json"
	jq -e 'any(.processes[].sites[].frames[]; .function != null and (.function | startswith("shop::order")))' \
		"$T/report.json"
	"$BUILD/tools/without_filters" "$SEEP" report --no-cache "$T/seep.data" | tr -s ' \n' ' ' |
		grep "names there come from symbols alone"
}
