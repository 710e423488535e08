#!/usr/bin/env bats
# runs_of_tests_leave_nothing - tests/run notices files and processes that a test leaves or hides.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# a checkout that has one file of tests, which is read from stdin; the bats that
# reads this file must not see its @test lines
checkout() {
	mkdir -p "$T/co/tests/command/some" "$T/co/tests/lib"
	cp "$repo/tests/run" "$T/co/tests"
	cp "$repo/tests/lib/left.bash" "$T/co/tests/lib"
	sed 's/^%test/@test/; s/^%tags/# bats test_tags/' >"$T/co/tests/command/some/one.bats"
}

# the tests of that checkout; the lines after "left behind" in $left
run_tests() {
	status=0
	env -u SEEP_FULL -u SEEP_ALONE -u TESTS -u AGAIN LEFT_SECONDS=1 "$@" "$T/co/tests/run" command >"$T/out" 2>&1 || status=$?
	cat "$T/out"
	left=$(sed -n '/^FAIL left behind:/,$p' "$T/out" | grep '^ ' || true)
}

@test "processes and files that a test leaves are reported, and removed if their names are ours" {
	checkout <<-'END'
		%test "leaves" {
			(exec -a left-running sleep 300) >/dev/null 2>&1 3>&- &
			mkdir "$TMPDIR/by-tmpdir"
			mktemp -d "/dev/shm/seep-test.$SEEP_RUN.XXXXXX"
			echo "$PWD/x" >"$ELSEWHERE"
			touch in-the-checkout
		}
	END
	local elsewhere
	elsewhere=$(mktemp -u /tmp/seep-test.none.XXXXXX) # SEEP_RUN
	run_tests ELSEWHERE="$elsewhere"
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "1 passed, 1 failed" ]]
	[[ $(wc -l <<<"$left") -eq 5 ]]
	local pattern
	for pattern in 'process [0-9]* left-running 300' 'file .*/by-tmpdir' \
		'file /dev/shm/seep-test\.' "file $elsewhere" 'checkout ./in-the-checkout'; do
		grep -q "^ *$pattern" <<<"$left"
	done
	rm "$elsewhere" # it may be the notes of somebody: only told
	local ours
	ours=$(sed -n 's/^ *file \(\/dev\/shm\/seep-test[^ ]*\) .*/\1/p' <<<"$left")
	[[ -n $ours && ! -e $ours ]]
	local pid
	pid=$(sed -n 's/^ *process \([0-9]*\) .*/\1/p' <<<"$left")
	! kill -0 "$pid" 2>/dev/null || grep -q '^State:.Z' "/proc/$pid/status"
}

@test "what others leave meanwhile is none of ours, unless nobody else is there" {
	checkout <<-'END'
		%test "is clean" { env -u SEEP_RUN mkdir "$OTHERS"; sleep 0.1; }
	END
	local others
	others=$(mktemp -u /tmp/seep-test.none.XXXXXX) # SEEP_RUN
	run_tests OTHERS="$others"
	[[ $status -eq 0 && -d $others ]]
	rmdir "$others"
	run_tests OTHERS="$others" SEEP_ALONE=1
	[[ $status -eq 1 && $left == *"file $others ("* ]]
	rmdir "$others" # told, not removed
}

@test "tests without a short form run with SEEP_FULL alone, and are no skips" {
	checkout <<-'END'
		%test "short" { true; }
		%tags=full
		%test "long" { true; }
	END
	run_tests
	[[ $(tail -n 1 "$T/out") == "1 passed, 0 failed" ]]
	run_tests SEEP_FULL=1
	[[ $(tail -n 1 "$T/out") == "2 passed, 0 failed" ]]
}

@test "lint: a skip for what a package has, a command asked for in silence, a path that is to be absent" {
	mkdir -p "$T/co/tools/lint" "$T/co/tests/command/some" "$T/co/tests/security" "$T/co/tests/unit/room"
	cp "$repo"/tools/lint/{check-skips.sh,skips.allow} "$T/co/tools/lint"
	cp "$repo/tools/deps.sh" "$T/co/tools"
	# put together, so that this file does not break the rules itself
	local s=skip n=need m="mktemp -d" ask="command"" -v" absent="/non""existent"
	cat >"$T/co/tests/command/some/one.bats" <<-END
		$s "no strace here"
		x || $s "needs root"
		if $ask strace; then
		$n strace
		$n no-such-command
		cat $absent
		$m /tmp/x.XXXXXX
	END
	echo "	$s();" >"$T/co/tests/unit/room/test_x.c"
	run "$T/co/tools/lint/check-skips.sh"
	echo "$output"
	[[ $status -eq 1 && $(grep -c '^tests/' <<<"$output") -eq 6 ]]
	local line
	for line in 1 3 5 6 7; do
		grep -q "^tests/command/some/one.bats:$line: " <<<"$output"
	done
	run "$T/co/tools/lint/check-skips.sh" --classify <<-'END'
		     ok 3 traced # skip no mount namespace here
		     ok 1 - T01 shadow stack # SKIP the CPU or kernel has no user_shstk
		     ok 4 odd # skip no strace here
		ok   tests/command/some/x.bats (3 passed, 2 skipped, 1 s)
	END
	echo "$output"
	[[ ${lines[0]} == "kernel traced: no mount namespace here" && ${lines[1]} == "hardware T01"* &&
		${lines[2]} == "unknown odd: no strace here" && ${#lines[@]} -eq 3 ]]
}

@test "the end names what failed, also if no test did" {
	local pid
	checkout <<-'END'
		%test "writes on" {
			mkdir "$BATS_RUN_TMPDIR/more"
			(cd "$BATS_RUN_TMPDIR/more" && exec /usr/bin/python3 -c '
		import os, sys
		rm = os.path.realpath("/bin/rm")
		n = 0
		while n < 1000000:
		    n += 1
		    try:
		        os.mkdir("d%d" % n)
		    except OSError:
		        break
		' >/dev/null 2>&1 3>&-) &
			sleep 0.3
		}
	END
	# whoever is faster: the directory goes, or bats cannot remove it
	for _ in 1 2 3 4 5; do
		run_tests
		[[ $status -eq 0 ]] || break
	done
	[[ $status -eq 0 ]] || grep -qE '^failed: (tests/command/some/one.bats: no test failed, but it ended with status 1: rm: cannot remove|left behind: )' "$T/out"
	checkout <<-'END'
		%test "passes" { touch in-the-checkout; }
		%test "fails, and has a name" { false; }
	END
	run_tests
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "1 passed, 2 failed" ]]
	tail -n 3 "$T/out" | grep -q '^failed: tests/command/some/one.bats: 2 fails, and has a name'
	tail -n 3 "$T/out" | grep -qx 'failed: left behind: checkout ./in-the-checkout'
}

@test "AGAIN: what fails beside a neighbour may pass alone, and the last line says so" {
	checkout <<-'END'
		%test "passes the second time" {
			[[ -e $SECOND ]] || ! touch "$SECOND"
		}
		%test "passes always" {
			true
		}
	END
	run_tests SECOND="$T/second" AGAIN=1
	[[ $status -eq 0 ]]
	[[ $(tail -n 1 "$T/out") == "2 passed, 0 failed, 1 passed only when repeated alone" ]]
	grep -q '^FAIL tests/command/some/one.bats (1 passed, 1 failed' "$T/out"
	rm "$T/second"
	run_tests SECOND="$T/second" # nobody asked for it
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "1 passed, 1 failed" ]]
}

@test "AGAIN: what fails twice has failed" {
	checkout <<-'END'
		%test "fails" { false; }
	END
	run_tests AGAIN=1
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "0 passed, 1 failed" ]]
	grep -q '^again, alone: tests/command/some/one.bats' "$T/out"
}
