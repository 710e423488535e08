#!/usr/bin/env bats
# check_is_a_gate - exit status 0 no leaks, 1 leaks, 2 usage, 3 incomplete input.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

@test "a program that frees everything passes; another one fails with the places of its leaks" {
	leaky app
	run_leaky app peak
	check data
	[[ $status -eq 0 ]]
	grep -q '^PASS: Nothing leaks' "$T/said"
	run_leaky app add add copy
	check data
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 210 bytes in 3 blocks were not freed, by 2 sites' "$T/said"
	grep -q '^200 bytes in 2 blocks; malloc by add < handle < main' "$T/said"
	grep -Eq '^ +handle .*\[app\]' "$T/said"
	[[ $(sed -n '/^200 bytes/=' "$T/said") -lt $(sed -n '/^10 bytes/=' "$T/said") ]]
	check data -q
	[[ $status -eq 1 && ! -s $T/said ]]
}

@test "blocks that libc and libstdc++ keep are suppressed by name, unless --no-suppress" {
	leaky app
	run_leaky app say
	check data
	[[ $status -eq 0 ]]
	grep -q 'Suppressed: stdio buffers (' "$T/said"
	check data --no-suppress
	[[ $status -eq 1 ]]
	lacks 'Suppressed' "$T/said"
	echo '#include <iostream>
	int main() { std::cout << "hello\n"; }' >"$T/cxx.cpp"
	g++ -o "$T/cxx" "$T/cxx.cpp"
	record -q --force -o data ./cxx
	check data
	[[ $status -eq 0 ]]
	grep -q 'libstdc++ emergency pool' "$T/said"
	check --list-suppressions
	[[ $status -eq 0 ]]
	grep -q '^# stdio buffers: ' "$T/said"
}

@test "without a baseline check says why ordinary programs fail; with one only new leaks count" {
	local why='^Without a baseline, every block that is live at exit counts, .*--write-baseline FILE.*--exe RE'
	leaky app
	run_leaky app add copy
	check data
	[[ $status -eq 1 ]]
	[[ $(grep -cE "$why" "$T/said") -eq 1 ]]
	check data --max-peak 1
	[[ $status -eq 1 ]]
	lacks '^Without a baseline' "$T/said"
	check data --format json
	lacks 'Without a baseline' "$T/said"
	check data --write-baseline base
	check data --baseline base
	[[ $status -eq 0 ]]
	lacks '^Without a baseline' "$T/said"
	run_leaky app add copy recurse twice
	check data --baseline base
	[[ $status -eq 1 ]]
	# what the baseline has is counted, not listed
	grep -q '; malloc by recurse < handle' "$T/said"
	grep -q '; malloc by add < handle.*, of .* now; the baseline has\|, of 300 bytes in 3 blocks now; the baseline has 100 bytes' "$T/said"
	lacks 'by copy <' "$T/said"
	grep -q '^In the baseline: 10 bytes in 1 block of 1 site\.$' "$T/said"
	lacks '^Without a baseline' "$T/said"
	run_leaky app peak
	check data
	lacks '^Without a baseline' "$T/said"
}

@test "limits are compared with live, leaked and peak bytes" {
	leaky app
	run_leaky app add peak
	check data --max-live 100
	[[ $status -eq 0 ]]
	check data --max-live 99
	[[ $status -eq 1 ]]
	grep -q 'FAIL: 100 bytes live at the end, above the limit of 99 bytes' "$T/said"
	check data --max-leaked 1k --max-live 1KiB --max-peak 1.5MiB
	[[ $status -eq 0 ]]
	check data --max-leaked 0
	[[ $status -eq 1 ]]
	check data --max-peak 1MiB
	[[ $status -eq 1 ]]
	grep -q 'at the peak of app (pid [0-9]*), above the limit of 1.0 MiB' "$T/said"
	lacks 'malloc by add' "$T/said" # not why
	# suppressed memory is live, but not leaked
	run_leaky app say
	check data --max-live 0
	[[ $status -eq 1 ]]
	check data --max-leaked 0
	[[ $status -eq 0 ]]
}

@test "all processes are judged unless --pid or --exe selects some; exec is not a leak" {
	leaky app
	cp "$T/app" "$T/other"
	# shellcheck disable=SC2016 # for the inner shell
	record -q --force -o data sh -c './app add; ./other child; exec ./app peak'
	check data --exe 'app$|other$'
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 107 bytes in 2 blocks' "$T/said"
	grep -q '^ *pid end ' "$T/said"
	check data --exe 'other$'
	[[ $status -eq 1 ]]
	grep -q '^FAIL: 7 bytes in 1 block ' "$T/said"
	check data --exe 'app$' --format json -o out.json
	local pid
	pid=$(jq '[.processes[] | select(.standing == "judged" and .leaked_bytes == 0)][0].pid' "$T/out.json")
	check data --pid "$pid"
	[[ $status -eq 0 ]]
	check data --exe nothing-like-it
	[[ $status -eq 3 ]]
	SEEP_MODE=dormant record -q --force -o off ./app add
	check off
	[[ $status -eq 3 ]]
	grep -q 'was not traced: recording was off' "$T/said"
	check data --format json -o out.json
	grep -q 'Note: [1-9] process.* went on as another program' "$T/said"
	jq -e '[.processes[] | select(.exe | endswith("sh"))] | all(.standing == "peak_only")' "$T/out.json"
}

@test "killed and running processes are judged, with a note" {
	leaky app
	record -q --force -o data ./app add abort
	check data
	[[ $status -eq 1 ]]
	grep -q 'Note: app (pid [0-9]*) was killed by signal 6' "$T/said"
	serve app add wait
	check "$PID"
	[[ $status -eq 1 ]]
	grep -q "Note: app (pid $PID) still ran" "$T/said"
	next
	wait "$recorder"
}

@test "sampled figures are estimates, and check says what that means" {
	leaky app
	local what=() i
	for ((i = 0; i < 400; i++)); do what+=(add); done
	record -q --force -o data --sample 1000 ./app "${what[@]}"
	check data
	[[ $status -eq 1 ]]
	grep -Eq '^FAIL: [0-9.]+ KiB \(\+-[0-9.]+ KiB\) in ' "$T/said"
	grep -q 'Note: sampled: one block in about 1000 bytes' "$T/said"
	check data --format json
	check data --max-leaked "$(jq .leaked.bytes "$T/said")"
	grep -q 'too close to the limit to be sure' "$T/said"
	check data --max-leaked 400k
	[[ $status -eq 0 ]]
	lacks 'too close' "$T/said"
}

@test "--exe that matches nothing is a mistake, not a damaged input" {
	SEEP_DIR=$DIR "$SEEP" record -q --force -o "$T/x.data" true
	run --separate-stderr "$SEEP" check "$T/x.data" --exe no-such-program
	[[ $status -eq 3 && -z $output ]]
	grep -F "matches --exe 'no-such-program'" <<<"$stderr"
}
