#!/usr/bin/env bats
# hostile_debug_information_is_survived - the report is printed, whatever a file with debug information contains.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # repo is of host.bash
load ../../lib/record.bash

# A recording of $T/program, without names.
recorded_program() {
	cp "${1:-$HOSTS/inlined}" "$T/program"
	cp "$T/program" "$T/good"
	record -q --no-symbols ./program
	[[ $status -eq 0 ]]
}

# report in bounded time and memory: our own, and the reading process's
bounded_report() {
	timeout 60 "$SEEP" report --no-cache --format json "$T/seep.data" \
		>"$T/report.json" 2>"$T/report.err"
}

notes() { jq -r '.notes[]' "$T/report.json"; }

# fill OFFSET_OF_SECTION...: where a section is in $T/program
section_offset() {
	readelf -SW "$T/program" | sed -n "s/^.*\] $1 *[A-Z]* *[0-9a-f]* \([0-9a-f]*\) .*/\1/p"
}

@test "the report is complete, whichever bytes of a file are changed" {
	recorded_program
	bounded_report
	jq '[.processes[].totals]' "$T/report.json" >"$T/totals"
	for ((i = 0; i < $(full_or 2000 40); i++)); do
		rm -f "$T/program"
		"$PYTHON" "$LIB/mutate_elf.py" "$T/good" "$T/program" $i
		bounded_report || { echo "seed $i: status $?"; cat "$T/report.err"; return 1; }
		jq '[.processes[].totals]' "$T/report.json" | diff "$T/totals" - ||
			{ echo "seed $i"; return 1; }
	done
}

@test "a section that unpacks to a terabyte gives no more than a note" {
	g++ -std=c++17 -O2 -g -gz -Wl,--build-id -o "$T/packed" \
		"$repo/tests/hosts/inlined.cpp"
	recorded_program "$T/packed"
	offset=$((16#$(section_offset .debug_info)))
	[[ $offset -gt 0 ]]
	printf '\0\0\0\0\0\1\0\0' | dd of="$T/program" bs=1 seek=$((offset + 8)) \
		conv=notrunc 2>/dev/null
	bounded_report
	notes | grep "$T/program: its debug information is unreadable"
	# its symbols are read all the same
	jq -e 'any(.processes[].sites[].frames[]; .function != null and
		(.function | startswith("shop::order")))' "$T/report.json"
}

@test "a pipe in the place of a .dwo file is not opened, and the report says so" {
	cd "$T"
	g++ -std=c++17 -O2 -g -gsplit-dwarf -c -o program.o "$repo/tests/hosts/inlined.cpp"
	g++ -Wl,--build-id -o program program.o
	main=$(nm program | awk '/ T main$/ { print $1 }')
	"$BUILD/tools/names_of" -n "$T/program" <<<"$main" | grep -q 'inlined.cpp'
	rm program.dwo
	mkfifo program.dwo
	begin=$SECONDS
	timeout 60 "$BUILD/tools/names_of" -n -s 2 "$T/program" <<<"$main" \
		>out 2>err
	[[ $((SECONDS - begin)) -lt 30 ]]
	grep '1 .dwo files of its debug information are missing' err
}

@test "an archive, a script, an empty file, a directory in the place of a program" {
	recorded_program
	for kind in archive script empty directory; do
		rm -rf "$T/program"
		case $kind in
		archive) (cd "$T" && ar rc program good) ;;
		script) printf '#!/bin/sh\n' >"$T/program" ;;
		empty) : >"$T/program" ;;
		directory) mkdir "$T/program" ;;
		esac
		bounded_report
		notes | grep "no names from $T/program"
	done
}
