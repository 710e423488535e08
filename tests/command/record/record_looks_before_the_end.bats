#!/usr/bin/env bats
# record_looks_before_the_end - record --leaks: a look at each process, as it ends.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# ends WORDS...: ways_to_end, recorded with --leaks into $T/data
ends() { record -q --leaks --force -o data "$HOSTS/ways_to_end" "$@"; }

# looked: of each process "judged reason looks at_exit leaks", sorted
looked() {
	(cd "$T" && "$SEEP" leaks data --format json) >"$T/json" || [[ $? -eq 1 || $? -eq 3 ]]
	jq -r '.processes[].leaks | [.judged, .reason, .looks, .at_exit,
		(if .judged then .leak.blocks > 9 else null end)] |
		map(tostring) | join(" ")' "$T/json" | sort
}

ENDED="false ended null null null"
FOUND="true null 1 true true"

@test "the command: what is lost is found, what is kept is not, it ends as it would" {
	ends lose
	[[ $status -eq 7 && ! -s $T/out ]]
	[[ $(looked) == "$FOUND" ]]
	(cd "$T" && "$SEEP" report data) >"$T/said"
	head -n 1 "$T/said" | grep -Eq '^LEAK +1[0-9] blocks .*: nothing points to them \(at its exit\)$'
	grep -q 'lose ways_to_end.c:[0-9]* <- main' "$T/said"
	# a rest of one block may be held by a frame that was left
	jq -e '.sites | length == 1 and (.[0].frames[0].function == "lose")' "$T/json"
	ends
	[[ $(looked) == "true null 1 true false" ]]
	(cd "$T" && "$SEEP" leaks data) | grep -q '^No leak: all 1 block (1000 bytes) of ways_to_end (pid [0-9]*) can be reached\. 1 look, at its exit\.'
	(cd "$T" && "$SEEP" check data)
}

@test "who frees the others of a place is evidence" {
	ends forget
	(cd "$T" && "$SEEP" leaks data) >"$T/said" || [[ $? -eq 1 ]]
	grep -Eq '^LEAK +(199|200) blocks ' "$T/said"
	tr '\n' ' ' <"$T/said" | grep -Eq 'take ways_to_end.c:[0-9]+ <- forget_some .*others of this place are freed in give_back ways_to_end.c:[0-9]+'
	(cd "$T" && "$SEEP" leaks data --format json || [[ $? -eq 1 ]]) |
		jq -e '.sites[0].verdict.freed_by | length == 1 and (.[0] | .function == "give_back" and .share == 1 and .line > 0)'
}

@test "where other threads are left two looks are made" {
	ends lose thread
	[[ $status -eq 7 ]]
	[[ $(looked) == "true null 2 true true" ]]
}

@test "children, and programs that they become, are looked at, too" {
	ends child_exits
	[[ $(looked) == "true null 1 true false"$'\n'"$FOUND" ]]
	ends spawn # the fork that only called exec is not listed
	[[ $(looked) == "true null 1 true false"$'\n'"$FOUND" ]]
	record -q --leaks --no-follow --force -o data "$HOSTS/ways_to_end" child_exits
	[[ $(looked) == "true null 1 true false" ]]
}

@test "who ends by _exit, exec or a signal is not judged, and named" {
	ends lose _exit
	[[ $status -eq 3 && $(looked) == "$ENDED" ]]
	ends lose kill
	[[ $status -eq 137 && $(looked) == "$ENDED" ]]
	ends lose exec
	[[ $status -eq 7 && $(looked) == "$ENDED"$'\n'"$FOUND" ]]
	ends child_leaves
	[[ $(looked) == "$ENDED"$'\n'"true null 1 true false" ]]
	(cd "$T" && "$SEEP" report data) | grep -q '^Not judged: ways_to_end (pid [0-9]*): it ended, or became another'
}

@test "the last look at one that is killed counts" {
	mkfifo "$T/lines"
	exec 7<>"$T/lines"
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q --leaks=1s -o data "$HOSTS/ways_to_end" lose wait) \
		<&7 >"$T/out" 2>"$T/err" 3>&- 7>&- &
	PIDS+=("$!")
	eventually grep -q ready "$T/out"
	PIDS+=("$(awk '{ print $2 }' "$T/out")")
	# three looks, two seconds apart, then an entry in the file
	eventually has_verdicts
	kill -KILL "$(awk '{ print $2 }' "$T/out")"
	wait "${PIDS[0]}" || true
	[[ $(looked) == "true null 3 false true" ]]
	exec 7>&-
}
has_verdicts() { (cd "$T" && "$SEEP" leaks data 2>/dev/null) | grep -q LEAK; }

@test "the recorder is killed while a process waits for it: it ends within 3 s" {
	local recorder host begin took
	mkfifo "$T/lines"
	exec 7<>"$T/lines"
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record -q --leaks -o data "$HOSTS/ways_to_end" lose wait) \
		<&7 >"$T/out" 2>"$T/err" 3>&- 7>&- &
	recorder=$!
	eventually grep -q ready "$T/out"
	host=$(awk '{ print $2 }' "$T/out")
	PIDS+=("$recorder" "$host")
	kill -STOP "$recorder"
	begin=$(date +%s%N)
	echo >&7
	eventually waits "$host"
	kill -KILL "$recorder"
	eventually ended "$host"
	took=$((($(date +%s%N) - begin) / 1000000))
	echo "$took ms"
	[[ $took -lt 3000 ]]
	exec 7>&-
}
waits() { grep -q futex "/proc/$1/wchan" 2>/dev/null || ended "$1" || [[ $(cut -d' ' -f1 "/proc/$1/syscall") == 202 ]]; }
ended() { [[ ! -d /proc/$1 ]] || grep -q '^State:.Z' "/proc/$1/status"; }

# median_ms WORDS...: of eleven runs
@test "record --leaks true takes hardly longer" {
	local i plain=() looking=()
	for ((i = 0; i < 9; i++)); do
		plain+=("$(took_us record -q --no-symbols --force -o data true)")
		looking+=("$(took_us record -q --no-symbols --force -o data --leaks true)")
	done
	echo "us: $(median "${plain[@]}") without, $(median "${looking[@]}") with --leaks"
	# 50 ms on a machine of its own; tests share theirs
	[[ $(($(median "${looking[@]}") - $(median "${plain[@]}"))) -lt 200000 ]]
}
took_us() {
	local begin
	begin=$(date +%s%N)
	"$@"
	echo $((($(date +%s%N) - begin) / 1000))
}
median() { printf '%s\n' "$@" | sort -n | sed -n "$(($# / 2 + 1))p"; }

@test "--leaks takes a time, and says which" {
	record --leaks=5 true
	[[ $status -eq 2 && $(wc -l <"$T/err") -eq 1 ]]
	record --leaks=1ms true
	[[ $status -eq 2 ]]
	record --leaks=2h --force -o data true
	[[ $status -eq 0 ]]
	grep -q '^seep: lost: nothing, in 1 process' "$T/err"
}

@test "the summary counts a lost block once, whatever forked children have lost" {
	cat >"$T/twice.c" <<-'END'
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		void *volatile last;
		__attribute__((noinline)) void lose(void) { last = malloc(1000); last = 0; }
		int main(int argc, char **argv)
		{
			(void)argv;
			lose();
			if (fork() == 0) {
				if (argc > 1) lose();
				exit(0);
			}
			wait(0);
			if (argc > 2) _exit(0);
			return 0;
		}
	END
	gcc -g -O1 -o "$T/twice" "$T/twice.c"
	record --leaks --force -o data ./twice and
	grep -q '^seep: lost: 2 blocks, 2.0 KiB, in 2 of 2 processes, besides blocks that' "$T/err"
	(cd "$T" && "$SEEP" check data >said) || true
	grep -q '^FAIL: 2.0 KiB in 2 blocks were lost' "$T/said"
	record --leaks --force -o data ./twice
	grep -q '^seep: lost: 1 block, [0-9,.]* [a-zA-Z]*, in 1 of ' "$T/err"
}

@test "verdicts count against --max-size, and what has no room is said" {
	local i
	{
		echo '#include <stdlib.h>'
		echo 'void *volatile last;'
		for i in {1..1500}; do
			echo "__attribute__((noinline)) void lose_$i(void) { last = malloc($i); last = 0; }"
		done
		echo 'int main(void) {'
		for i in {1..1500}; do echo "lose_$i();"; done
		echo 'return 0; }'
	} >"$T/many.c"
	gcc -o "$T/many" "$T/many.c"
	record -q --leaks --force -o data ./many
	[[ $(looked) == "true null 1 true true" ]]
	[[ ! -s $T/err ]]
	# no room for the verdicts; none for the process either
	record -q --leaks --force --max-size 400K -o data ./many
	cat "$T/err"
	grep -q 'what 1 look found is not in the recording, because there is no room for it (--max-size)' "$T/err"
	[[ $(stat -c %s "$T/data") -lt $((400 << 10)) ]]
}

# as root each of them has a file of its own, and names of files are used again: 152 s were seen
@test "children of a shell that do little and end are not left waiting" {
	cd "$T"
	# shellcheck disable=SC2016 # for that shell
	timeout 60 "$SEEP" record -q --leaks -o data bash -c \
		'for i in 1 2 3 4 5 6 7 8; do x=$(y=$(:); eval "z=$i"; echo $z | cat); (:); done; echo $x' >out
	[[ $(cat out) == 8 ]]
	"$SEEP" leaks data >text || [[ $? -eq 1 ]]
	cat text
	[[ $(grep -c 'of cat (pid .*at its exit' text) -eq 8 ]]
}
