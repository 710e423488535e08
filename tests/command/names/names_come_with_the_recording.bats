#!/usr/bin/env bats
# names_come_with_the_recording - a recording shows the same names on another machine and later.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # repo is of host.bash
load ../../lib/record.bash

# The chain of the site that shop::order() allocates at, one frame a line.
chain() { # REPORT.json
	jq -r '[.processes[].sites[] | select(any(.frames[];
		.function != null and (.function | startswith("shop::order"))))
		| .frames[]] | .[0:4][]
		| "\(.function) \(.file | split("/") | last):\(.line) \(.inlined)"' "$1"
}

line_of() { # WORD: the number of the line that says so
	grep -n "LINE $1 " "$repo/tests/hosts/inlined.cpp" | cut -d: -f1
}

# What does not depend on where it is read: no address, no note.
frames() { # REPORT.json
	jq -S '[.processes[].sites[] | {live_bytes, frames}]' "$1"
}

read_as_json() { # FILE ARGS...
	"$SEEP" report --format json "$@" 2>"$T/report.err"
}

setup_program() {
	export XDG_CACHE_HOME=$T/cache # of this test alone
	cp "$HOSTS/inlined" "$T/program"
}

@test "reports show inlined functions, files and lines" {
	setup_program
	record -q ./program
	[[ $status -eq 0 ]]
	read_as_json "$T/seep.data" >"$T/a.json"
	chain "$T/a.json" >"$T/chain"
	cat "$T/chain"
	diff "$T/chain" - <<-END
		shop::take inlined.cpp:$(line_of take) true
		shop::(anonymous namespace)::shelf::fetch inlined.cpp:$(line_of fetch) true
		shop::order(unsigned long) inlined.cpp:$(line_of order) false
		main inlined.cpp:$(grep -n 'p = shop::order' "$repo/tests/hosts/inlined.cpp" | cut -d: -f1) false
	END
}

@test "names are the same if the program is removed, replaced or on another machine" {
	setup_program
	record -q ./program
	read_as_json "$T/seep.data" >"$T/a.json"
	rm "$T/program"
	read_as_json "$T/seep.data" >"$T/b.json"
	cp "$HOSTS/c_host" "$T/program"
	read_as_json "$T/seep.data" >"$T/c.json"
	diff <(frames "$T/a.json") <(frames "$T/b.json")
	diff <(frames "$T/a.json") <(frames "$T/c.json")
	[[ -n $(chain "$T/c.json") ]]
}

@test "without embedded names, a file with another build-id gives none, and the report says so" {
	setup_program
	record -q --no-symbols ./program
	read_as_json "$T/seep.data" >"$T/a.json"
	[[ -n $(chain "$T/a.json") ]]
	cp "$HOSTS/c_host" "$T/program"
	read_as_json "$T/seep.data" >"$T/b.json"
	[[ -z $(chain "$T/b.json") ]]
	jq -e --arg p "$T/program" 'all(.processes[].sites[].frames[];
		.module != $p or (.function == null and .line == null))' "$T/b.json"
	jq -e --arg p "$T/program" 'any(.notes[];
		contains($p) and contains("but the one that ran had"))' "$T/b.json"
	rm "$T/program"
	read_as_json --no-cache "$T/seep.data" >"$T/c.json"
	jq -e --arg p "$T/program" 'any(.notes[];
		contains($p) and contains("No such file"))' "$T/c.json"
}

@test "--no-symbols gives modules and offsets" {
	setup_program
	record -q ./program
	read_as_json --no-symbols "$T/seep.data" >"$T/a.json"
	jq -e 'all(.processes[].sites[].frames[]; .function == null)' "$T/a.json"
	"$SEEP" report --no-symbols "$T/seep.data" >"$T/text"
	grep -E 'program\+0x[0-9a-f]+' "$T/text"
}

@test "--debug-dir can add better names to a recording" {
	setup_program
	strip "$T/program"
	record -q ./program
	read_as_json "$T/seep.data" >"$T/a.json"
	[[ -z $(chain "$T/a.json") ]]
	id=$(readelf -nW "$T/program" | sed -n 's/.*Build ID: //p')
	mkdir -p "$T/debug/.build-id/${id:0:2}"
	cp "$HOSTS/inlined" "$T/debug/.build-id/${id:0:2}/${id:2}.debug"
	read_as_json --debug-dir "$T/debug" "$T/seep.data" >"$T/b.json"
	[[ $(chain "$T/b.json" | wc -l) -eq 4 ]]
}

@test "names of many processes and their children are looked up once" {
	setup_program
	record -q sh -c './program; ./program & ./program; wait'
	rm "$T/program"
	read_as_json "$T/seep.data" >"$T/a.json"
	[[ $(jq '[.processes[] | select(any(.sites[].frames[];
		.function != null and (.function | startswith("shop::order"))))]
		| length' "$T/a.json") -eq 3 ]]
}

# A program whose debug information takes a while, read by a process that is
# then stopped: record waits for it in vain. Its pid is in $reader.
endless_names() {
	(
		cd "$T" || exit
		# empty units: each costs libdw about a microsecond
		printf '%s\n' '.section .debug_info,"",@progbits' '.rept 600000' \
			'.long 8' '.short 4' '.long 0' '.byte 8, 0' '.endr' >units.s
		g++ -std=c++17 -O2 -g -Wl,--build-id -o program "$repo/tests/hosts/inlined.cpp" units.s
	)
	record_behind -q ./program
	appears "$T/seep.data"
	for ((i = 0; i < 3000; i++)); do
		for reader in $(pgrep -P "$recorder" -x seep); do
			# the one that reads is confined, the one that opens is not
			grep -q '^Seccomp:.*2' "/proc/$reader/status" 2>/dev/null || continue
			kill -STOP "$reader" 2>/dev/null && sleep 0.2 &&
				grep -q '^State:.*T' "/proc/$reader/status" 2>/dev/null && return 0
		done
		sleep 0.01
	done
	return 1
}

@test "if record is killed while it looks up names, only the names are missing" {
	endless_names
	for ((i = 0; i < 200; i++)); do # the end comes first, then the names
		! "$SEEP" report --no-symbols "$T/seep.data" >/dev/null 2>&1 || break
		sleep 0.05
	done
	kill -KILL "$recorder"
	wait "$recorder" || true
	"$SEEP" report --no-symbols --format json "$T/seep.data" >"$T/a.json"
	jq -e '.complete and (.processes | length == 1) and
		.processes[0].totals.live_bytes >= 10010' "$T/a.json"
	# nobody is left who waits
	for ((i = 0; i < 100; i++)); do
		[[ -e /proc/$reader ]] || break
		sleep 0.05
	done
	[[ ! -e /proc/$reader ]]
}

@test "an interrupt from the terminal leaves out the remaining names" {
	endless_names
	begin=$SECONDS
	kill -INT "$reader" # record itself ignores it, for the command's sake
	kill -CONT "$reader"
	wait "$recorder"
	[[ $((SECONDS - begin)) -lt 20 ]]
	"$SEEP" report --no-symbols --format json "$T/seep.data" >"$T/a.json"
	jq -e .complete "$T/a.json"
}

@test "Rust: from the program's own functions to its main, nothing of the runtime" {
	need rustc
	cat >"$T/keeper.rs" <<-'END'
		#[inline(never)]
		fn keep(n: usize) { unsafe { std::ptr::read_volatile(vec![n; 100].leak().as_ptr()); } }
		fn main() {
		    keep(1);
		    std::thread::spawn(|| keep(2)).join().unwrap();
		}
	END
	rustc -g -O -o "$T/keeper" "$T/keeper.rs"
	record -q ./keeper
	"$SEEP" report "$T/seep.data" --skip-wrappers >"$T/text"
	cat "$T/text"
	grep -q 'keeper::keep keeper.rs:2' "$T/text"
	grep -q '<- keeper::main keeper.rs:4' "$T/text"
	grep -q '<- keeper::main::{.*keeper.rs:5' "$T/text"
	lacks 'raw_vec\|lang_start\|catch_unwind\|short_backtrace' "$T/text"
	"$SEEP" report "$T/seep.data" --all-frames >"$T/text"
	grep -q 'lang_start' "$T/text"
}
