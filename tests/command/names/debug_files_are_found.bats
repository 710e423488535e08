#!/usr/bin/env bats
# debug_files_are_found - debug files are found in the usual directories and where the user says.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # repo is of host.bash
load ../../lib/record.bash

# $T/bin/program, stripped; its debug information in $T/program.debug; a
# recording of it without names in $T/seep.data.
stripped_program() {
	mkdir -p "$T/bin"
	cp "$HOSTS/inlined" "$T/bin/program"
	objcopy --only-keep-debug "$T/bin/program" "$T/program.debug"
	strip "$T/bin/program"
	(cd "$T" && objcopy --add-gnu-debuglink=program.debug bin/program)
	id=$(readelf -nW "$T/bin/program" | sed -n 's/.*Build ID: //p')
	record -q --no-symbols bin/program
	[[ $status -eq 0 ]]
}

# names ARGS...: how many functions are told at the frame of shop::order()
names() {
	"$SEEP" report --no-cache --format json "$@" "$T/seep.data" \
		>"$T/report.json" 2>"$T/report.err"
	jq '[.processes[].sites[] | select(any(.frames[]; .function != null and
		(.function | startswith("shop::order")))) | .frames[]
		| select(.function != null and (.function | startswith("shop::")))]
		| length' "$T/report.json"
}

@test "without debug information there are no names, and a hint says what is missing" {
	stripped_program
	mv "$T/program.debug" "$T/elsewhere"
	[[ $(names) -eq 0 ]]
	jq -e --arg id "$id" 'any(.notes[]; contains("stripped") and
		contains($id) and contains("--debuginfod"))' "$T/report.json"
}

@test "debug files are found beside the program, in .debug, and by name in --debug-dir" {
	stripped_program
	mv "$T/program.debug" "$T/bin/"
	[[ $(names) -eq 3 ]]
	mkdir "$T/bin/.debug"
	mv "$T/bin/program.debug" "$T/bin/.debug/"
	[[ $(names) -eq 3 ]]
	mkdir -p "$T/one" "$T/two"
	mv "$T/bin/.debug/program.debug" "$T/two/"
	[[ $(names) -eq 0 ]]
	[[ $(names --debug-dir "$T/one" --debug-dir "$T/two") -eq 3 ]]
	[[ $(names --debug-dir "$T/one:$T/two") -eq 3 ]]
	mkdir -p "$T/one$T/bin"
	mv "$T/two/program.debug" "$T/one$T/bin/"
	[[ $(names --debug-dir "$T/one") -eq 3 ]]
}

@test "record --debug-dir puts the names into the recording" {
	stripped_program
	mkdir "$T/d"
	mv "$T/program.debug" "$T/d/"
	record -q --force --debug-dir "$T/d" bin/program
	[[ $status -eq 0 ]]
	rm -r "$T/d"
	[[ $(names) -eq 3 ]]
	record --debug-dir "$T/d" bin/program
	[[ $status -eq 2 ]]
	grep -q -- "--debug-dir: no such directory" "$T/err"
}

@test "debug files are found by build-id below --debug-dir and --sysroot" {
	stripped_program
	mkdir -p "$T/d/.build-id/${id:0:2}"
	mv "$T/program.debug" "$T/d/.build-id/${id:0:2}/${id:2}.debug"
	[[ $(names --debug-dir "$T/d") -eq 3 ]]
	[[ $(names --debug-dir "$T/d/.build-id") -eq 3 ]]
	mkdir -p "$T/sys/usr/lib/debug" "$T/sys$T/bin"
	mv "$T/d/.build-id" "$T/sys/usr/lib/debug/"
	[[ $(names --sysroot "$T/sys") -eq 3 ]]
	mv "$T/bin/program" "$T/sys$T/bin/program"
	[[ $(names --sysroot "$T/sys") -eq 3 ]]
	[[ $(names) -eq 0 ]]
}

@test "debug information of another program is not used" {
	stripped_program
	objcopy --only-keep-debug "$HOSTS/operators" "$T/bin/program.debug"
	[[ $(names) -eq 0 ]]
	mkdir -p "$T/d/.build-id/${id:0:2}"
	cp "$T/bin/program.debug" "$T/d/.build-id/${id:0:2}/${id:2}.debug"
	[[ $(names --debug-dir "$T/d") -eq 0 ]]
}

@test "without a build-id the checksum of the link decides" {
	mkdir -p "$T/bin"
	g++ -std=c++17 -O2 -g -Wl,--build-id=none -o "$T/bin/program" \
		"$repo/tests/hosts/inlined.cpp"
	objcopy --only-keep-debug "$T/bin/program" "$T/bin/program.debug"
	strip "$T/bin/program"
	(cd "$T/bin" && objcopy --add-gnu-debuglink=program.debug program)
	record -q --no-symbols bin/program
	[[ $(names) -eq 3 ]]
	printf x >>"$T/bin/program.debug"
	[[ $(names) -eq 0 ]]
}

@test "symbols in .gnu_debugdata are used" {
	need xz
	stripped_program
	objcopy -S --remove-section .gnu_debuglink "$T/bin/program" "$T/new"
	objcopy --strip-debug "$HOSTS/inlined" "$T/mini"
	xz -k "$T/mini"
	objcopy --add-section .gnu_debugdata="$T/mini.xz" "$T/new" "$T/bin/program"
	rm "$T/program.debug"
	[[ $(names) -eq 1 ]]
}

@test "debuginfod servers are asked only with --debuginfod" {
	ldconfig -p | grep -q libdebuginfod.so.1 || lacking libdebuginfod.so.1
	stripped_program
	mkdir "$T/served" "$T/home"
	mv "$T/program.debug" "$T/served/$id"
	mkfifo "$T/stop"
	"$PYTHON" "$LIB/debuginfod.py" "$T/served" <"$T/stop" >"$T/server" 3>&- &
	PIDS+=("$!")
	exec 9>"$T/stop"
	appears "$T/server"
	port=$(sed -n 's/^PORT //p' "$T/server")
	export HOME=$T/home DEBUGINFOD_URLS=http://127.0.0.1:$port
	[[ $(names) -eq 0 ]]
	lacks GET "$T/server"
	[[ $(names --debuginfod) -eq 3 ]]
	grep "GET /buildid/$id/debuginfo" "$T/server"
	unset DEBUGINFOD_URLS
	[[ $(names --debuginfod) -eq 0 ]]
	jq -e 'any(.notes[]; contains("DEBUGINFOD_URLS"))' "$T/report.json"
	# a server that is not there is no harm, and takes no time
	export DEBUGINFOD_URLS=http://127.0.0.1:1 DEBUGINFOD_CACHE_PATH=$T/other
	[[ $(names --debuginfod) -eq 0 ]]
	exec 9>&-
}

@test "a missing --debug-dir is a usage error" {
	stripped_program
	run -2 "$SEEP" report --debug-dir "$T/nowhere" "$T/seep.data"
	[[ $output == *"--debug-dir: no such directory"* ]]
	run -2 "$SEEP" report --sysroot "$T/seep.data" "$T/seep.data"
	[[ $output == *"--sysroot: no such directory"* ]]
}
