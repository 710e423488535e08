#!/usr/bin/env bats
# types_are_known.bats - seep leaks --types: every polymorphic block of a known host has its class, and no program has a wrong one.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

# counted: the census of $HOST has what the host says
counted() {
	leaks --types --format json
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	"$PYTHON" "$LIB/known_types.py" "$T/out" "$T/leaks"
}

# right LEAST: the files of $HOST say the same of at least so many vtables
right() {
	"$PYTHON" "$LIB/vtable_oracle.py" "$T/leaks" "$1"
	# where memory and functions both say what a block is, they say the same
	[[ $(jq '.processes[0].census.known_twice.differ' "$T/leaks") -eq 0 ]]
}

@test "all polymorphic blocks have their class, objects behind a shared_ptr theirs, and decoys none" {
	begin typed
	counted
	right 15
	[[ $(jq '.processes[0].census.known_twice.agree' "$T/leaks") -ge 1000 ]]
	end_host
}

@test "the same in a stripped executable at a fixed address, which has copies of the library's vtables" {
	g++ -O2 -no-pie -s -o "$T/typed" "$BATS_TEST_DIRNAME/../../hosts/typed.cpp"
	HOSTS=$T
	begin typed
	counted
	right 15
	end_host
}

@test "two moments are compared, and the text has the numbers of the JSON" {
	local row
	begin typed
	leaks --types --format json
	cp "$T/leaks" "$T/before.json"
	end_host
	PIDS=()
	begin typed 1234
	leaks --types --before "$T/before.json"
	cat "$T/leaks" "$T/leaks.err"
	[[ $status -eq 0 ]]
	row=$(grep 'app::session$' "$T/leaks")
	grep -q '^ *+1,234  *+48.2 KiB  *21,234  *829.5 KiB  vtable ' <<<"$row"
	grep -q 'difference to .* before\.$' "$T/leaks"
	# it has grown most, so it comes first; others have not changed
	[[ $(grep -m 1 -A 1 '+blocks' "$T/leaks" | tail -1) == "$row" ]]
	grep -q '^ *0  *0  *10,000 .*app::secure_session$' "$T/leaks"
	leaks --types --before "$T/before.json" --format json
	jq -e '.types[] | select(.type == "app::session") | .before_blocks == 20000 and .blocks == 21234' "$T/leaks"
	end_host
}

@test "the page has a table with the figures of the JSON" {
	need chromium
	begin typed
	leaks --types --format json
	cp "$T/leaks" "$T/types.json"
	leaks --types --insight --format html -o "$T/page.html"
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	PYTHONPATH=$LIB "$PYTHON" "$LIB/page_types.py" "$T/page.html" "$T/types.json" insight
	end_host
}

# typed_recording NAME [MORE]: of tests/hosts/typed, with its types
typed_recording() {
	(cd "$T" && SEEP_DIR=$DIR "$SEEP" record -q --types -o "$1" "$HOSTS/typed" "${@:2}" </dev/null >"$1.out")
}

@test "a recording is compared with another one, with a census of a process, and a process with it" {
	local row
	need chromium
	typed_recording before.data
	typed_recording after.data 1234
	cd "$T"
	"$SEEP" leaks --types --before before.data after.data >text
	cat text
	row=$(grep 'app::session$' text)
	grep -q '^ *+1,234  *+48.2 KiB  *21,234  *829.5 KiB  vtable ' <<<"$row"
	grep -q 'difference to .* before\.$' text
	[[ $(grep -m 1 -A 1 '+blocks' text | tail -1) == "$row" ]]
	"$SEEP" leaks --types --before before.data --format json after.data >types.json
	jq -e '.types[] | select(.type == "app::session") | .before_blocks == 20000 and .blocks == 21234' types.json
	jq -e '.processes[0].census | .before.blocks + 1234 == .blocks and .taken_ms > .before_taken_ms' types.json
	"$SEEP" leaks --types --before before.data --format html -o page.html after.data
	PYTHONPATH=$LIB "$PYTHON" "$LIB/page_types.py" page.html types.json
	# what JSON says of the first is what the recording says
	"$SEEP" leaks --types --format json -o before.json before.data
	"$SEEP" leaks --types --before before.json --format json after.data >again.json
	cmp types.json again.json
	begin typed
	leaks --types --before "$T/before.data" --format json
	jq -e '.types[] | select(.type == "app::session") | .before_blocks == 20000 and .blocks == 20000' leaks
	end_host
	# another program has none of these types
	PIDS=()
	begin held_at_exit
	leaks --types --before "$T/before.data"
	says_why 'has no stored types of held_at_exit'
	exec 9>&-
}

@test "what is no earlier census is refused with a reason" {
	begin typed
	echo '{"schema":1,"types":[{"type":"a"}]}' >"$T/odd"
	leaks --types --before "$T/odd"
	says_why 'odd: it has no census of types'
	leaks --types --before "$T/missing"
	says_why 'missing: No such file'
	leaks --types --before "$T"
	says_why 'not a file\|Is a directory'
	status=0
	"$SEEP" leaks --before "$T/odd" "$HOST" 2>"$T/leaks.err" || status=$?
	[[ $status -eq 2 ]]
	end_host
}

# frames HOW [FLAG...]: containers of many types; no block has a type that the host's own allocator has not counted
frames() {
	"${CXX:-g++}" -std=c++17 "${@:2}" -o "$T/typed_frames" "$BATS_TEST_DIRNAME/../../hosts/typed_frames.cpp"
	counted_frames "$1"
}

counted_frames() {
	HOSTS=$T begin typed_frames
	leaks --types --format json
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	"$PYTHON" "$LIB/known_frames.py" "$T/out" "$T/leaks" "$1"
	[[ $(jq '.processes[0].census.known_twice.differ' "$T/leaks") -eq 0 ]]
	end_host
	PIDS=()
}

@test "all blocks of containers have the types that an allocator has counted, with debug information" {
	cp "$HOSTS/typed_frames" "$T"
	counted_frames own
	# without it, only functions that were not inlined say a type
	strip -g "$T/typed_frames"
	counted_frames none
	strip -s "$T/typed_frames"
	counted_frames none
}

# bats test_tags=full
@test "types by frames are right whatever the compiler inlines, and what it makes one" {
	need clang
	need ld.gold
	frames none -O2 -flto
	frames none -O0 -ffunction-sections -fuse-ld=gold -Wl,--icf=all
	frames none -O0 -g -ffunction-sections -fuse-ld=gold -Wl,--icf=all
	frames none -O2 -g -ffunction-sections -fuse-ld=gold -Wl,--icf=all
	frames none -O2 -ffunction-sections -fuse-ld=gold -Wl,--icf=all
	frames own -O0 -g
	frames own -O1 -g
	frames none -O3 -g -flto
	frames all -O2 -g1
	frames none -O0
	frames none -O1
	frames none -O3
	CXX=clang++ frames own -O2 -g
	CXX=clang++ frames none -O2
	CXX=clang++ frames none -O0
}

# compiling: clang waits for its source; its pid in $HOST
compiling() {
	mkfifo "$T/source"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$(clang -print-prog-name=clang)" -cc1 -fsyntax-only -x c++ - \
		<"$T/source" >"$T/out" 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/source"
	eventually is_in "$HOST" 0 0x0
}

# is_in PID NUMBER DESCRIPTOR: it waits in this system call
is_in() { [[ $(cut -d ' ' -f 1,2 "/proc/$1/syscall" 2>/dev/null) == "$2 $3" ]]; }


@test "clang: no type is wrong" {
	need clang
	compiling
	leaks --types --format json
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	right 20
	exec 9>&-
	wait "$HOST"
}

# bats test_tags=full
@test "gdb, node and clang at work: no type is wrong" {
	need gdb
	need node
	mkfifo "$T/lines" "$T/never"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" gdb -q -nx "$SEEP" -ex 'break main' -ex 'info types leaks' -ex "shell : >$T/gdb.done" \
		<"$T/lines" >"$T/gdb.out" 2>&1 3>&- &
	PIDS+=("$!")
	exec 9>"$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" node -e 'setInterval(() => {}, 1e9)' 3>&- &
	PIDS+=("$!")
	printf '#include <map>\n#include <regex>\nint f%d(std::map<int, std::regex> &m) { return m.size() + std::regex_match("a", m[1]); }\n' \
		1 2 3 4 5 6 7 8 >"$T/a.cpp"
	# its output does not fit into the pipe, so it waits with all that it has
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" clang++ -O1 -fintegrated-cc1 -S -o - "$T/a.cpp" >"$T/never" 2>"$T/clang.err" 3>&- &
	PIDS+=("$!")
	exec 8<"$T/never"
	eventually test -e "$T/gdb.done"
	eventually is_in "${PIDS[2]}" 1 0x1
	for HOST in "${PIDS[@]}"; do
		leaks --types --format json
		cat "$T/leaks.err"
		[[ $status -eq 0 ]]
		right 1
	done
	exec 9>&- 8<&-
	kill -KILL "${PIDS[1]}" "${PIDS[2]}"
	wait "${PIDS[0]}"
}
