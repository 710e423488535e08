#!/usr/bin/env bats
# who_holds_it.bats - seep leaks --held and --retained name the root, the way and the bytes.
# SPDX-License-Identifier: Apache-2.0
load ../lib/verdicts.bash

@test "twelve ways to hold memory: root, pile and retained bytes are the host's own" {
	begin holders
	"$PYTHON" "$LIB/held_answer.py" "$T/out" "$SEEP" "$HOST"
	leaks --held "$(site_of hash_add)"
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	tr -s ' \n' ' ' <"$T/leaks" >"$T/line"
	grep -q 'held by global `sessions`+0x40 -> a block of hash_grow (2.0 KiB) -> 500 of hash_add (23.4 KiB)' "$T/line"
	grep -q 'pile up in a block of hash_grow (2.0 KiB), which retains 1,001 blocks 37.2 KiB' "$T/line"
	end_host
}

# site_of FUNCTION: the id of a site that it allocates
site_of() {
	"$SEEP" leaks --retained --format json "$HOST" 2>/dev/null | "$PYTHON" -c '
import json, sys
print([s["id"] for s in json.load(sys.stdin)["sites"] if s["function"] == sys.argv[1]][0])' "$1"
}

@test "with all threads stopped it is the same" {
	begin holders
	"$PYTHON" "$LIB/held_answer.py" "$T/out" "$SEEP" "$HOST" --stop
	end_host
}

@test "without symbols a root is a module, and an offset in it" {
	cp "$HOSTS/holders" "$HOSTS/holders_plugin.so" "$T"
	strip -s "$T/holders" "$T/holders_plugin.so"
	HOSTS=$T begin holders
	leaks --retained --top 0
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	grep -Eq '^RETAINED 500 blocks 23.4 KiB: data of holders_plugin.so\+0x[0-9a-f]+ -> 500 of ' "$T/leaks"
	grep -q '^RETAINED 500 blocks 39.1 KiB: stack of thread [0-9]* (holder) -> 500 of ' "$T/leaks"
	end_host
}

@test "a site that is not there, a file, and too little memory are refused in one line" {
	begin holders
	leaks --held 999999
	says_why "has no live block of site 999999"
	leaks --retained --max-memory 100K
	says_why "--max-memory raises the limit"
	run "$SEEP" leaks --retained "$T/none.data"
	[[ $status -eq 2 && $output == *"give its PID"* ]]
	end_host
}
