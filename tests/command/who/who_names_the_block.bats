#!/usr/bin/env bats
# who_names_the_block - seep who and dump --last: who allocated the block at an address, and who freed it.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# crashed MODE: the host crashes; its address is in $ADDRESS
crashed() {
	traced "$HOSTS/crashes" "$@"
	ADDRESS=$(sed -n 's/^ADDRESS //p' "$T/out")
}

# frames KEY: the functions of this stack of the answer in $T/json
frames() { jq -r ".processes[0].$1.stack | map(.function) | join(\" \")" "$T/json"; }

@test "a double free: who allocated, who freed, who freed again, with their stacks" {
	export SEEP_LOG=last,frees
	crashed double
	[[ $status -eq 134 ]]
	"$SEEP" who "$ADDRESS" "$DIR" --format json >"$T/json"
	[[ $(jq -r '.processes[0] | "\(.state) \(.size) \(.offset)"' "$T/json") == "freed 64 24" ]]
	[[ $(frames allocated) == "allocates_it main "* ]]
	[[ $(frames freed) == "frees_it "* ]]
	[[ $(frames freed_again) == "frees_it_again main "* ]]
	jq -e '.processes[0] | .allocated.tid == .pid and .freed.tid != .pid and .freed_again.tid == .pid' "$T/json"
	# as a decimal number, which seep dump --format jsonl has
	"$SEEP" who "$((ADDRESS))" "$DIR" --format json | diff "$T/json" -
	"$SEEP" who "$ADDRESS" "$DIR" >"$T/text"
	grep -q 'byte 24 of a block of 64 bytes at 0x[0-9a-f]*, freed$' "$T/text"
	grep -A 1 '^  freed at .* by thread ' "$T/text" | grep -q '^    frees_it at crashes.c:'
	grep -A 1 '^  freed again at ' "$T/text" | grep -q '^    frees_it_again at crashes.c:'
	# a stack of a free is no place that allocates
	"$SEEP" report "$DIR" --format json --full >"$T/report"
	! grep -q frees_it "$T/report"
}

@test "a process that has crashed, by its pid: who, dump --last, and what needs an event log" {
	local pid command
	export SEEP_DIR=$DIR
	SEEP_LOG=last,frees crashed double
	pid=$(sed -n 's/^PID //p' "$T/out")
	"$SEEP" who "$ADDRESS" "$pid" --format json >"$T/json"
	jq -e --argjson pid "$pid" '.processes | length == 1 and .[0].pid == $pid and .[0].state == "freed"' "$T/json"
	[[ $(frames freed_again) == "frees_it_again main "* ]]
	"$SEEP" dump --last "$pid" >"$T/text"
	grep -q "^process $pid, thread 1, tid $pid (crashes): its last [0-9]* events\$" "$T/text"
	complains 2 "$SEEP" dump "$pid"
	grep -q 'seep dump --last shows it' "$T/complaint"
	# with an event log, while another process is in the directory, too
	SEEP_LOG=1 crashed double
	pid=$(sed -n 's/^PID //p' "$T/out")
	SEEP_LOG=1 crashed use
	"$SEEP" dump "$pid" --format jsonl >"$T/jsonl"
	jq -s -e --argjson pid "$pid" 'length > 2 and all(.[]; .pid == $pid)' "$T/jsonl"
	"$SEEP" report "$pid" --at 0 --format json | jq -e --argjson pid "$pid" '.processes[0].pid == $pid'
	"$SEEP" replay "$pid" --runs 1 --allocator glibc --format json | jq -e --argjson pid "$pid" '.pid == $pid'
	complains 2 "$SEEP" who "$ADDRESS" "$pid"
	grep -q 'has no flight recorder' "$T/complaint"
	# what only a running process can do
	for command in snapshot on off top doctor; do
		complains 3 "$SEEP" "$command" "$pid"
		grep -q "process $pid has ended; what is left of it: seep report $pid\$" "$T/complaint"
	done
}

@test "a zombie has ended, and is not said to be no process" {
	local pid command
	"$PYTHON" -c 'import os, time
child = os.fork()
if child == 0: os._exit(0)
print(child, flush=True)
time.sleep(60)' >"$T/out" 3>&- &
	PIDS+=("$!")
	eventually test -s "$T/out"
	pid=$(cat "$T/out")
	eventually grep -q '^State:.Z' "/proc/$pid/status"
	for command in report doctor; do
		complains 3 "$SEEP" "$command" "$pid"
		grep -q "process $pid has ended, although its parent has not waited for it yet (a zombie)\$" "$T/complaint"
	done
}

@test "the use of a freed block, in a recording; the free has no stack unless asked for" {
	local address
	status=0
	SEEP_DIR=$DIR "$SEEP" record -q --last -o "$T/r.seep" -- "$HOSTS/crashes" use >"$T/out" 2>"$T/err" || status=$?
	[[ $status -eq 139 && -z $(ls "$DIR") ]]
	address=$(sed -n 's/^ADDRESS //p' "$T/out")
	"$SEEP" who "${address#0x}" "$T/r.seep" >"$T/text"
	grep -q ', freed$' "$T/text"
	grep -q '^    (call stacks of frees are recorded with SEEP_LOG=last,frees)$' "$T/text"
	status=0
	SEEP_LOG=last:50,frees SEEP_DIR=$DIR "$SEEP" record -q -o "$T/s.seep" -- "$HOSTS/crashes" use 300 \
		>"$T/out" 2>"$T/err" || status=$?
	address=$(sed -n 's/^ADDRESS //p' "$T/out")
	"$SEEP" who "$address" "$T/s.seep" --format json >"$T/json"
	# its allocation is overwritten, but the free says who made the block, and when
	jq -e '.processes[0] | .allocated == null and .born_ms < 300 and .stack[0].function == "allocates_it"' "$T/json"
	[[ $(frames freed) == "frees_it "* ]]
}

@test "an address that was used a million times: the newest event counts, also of another thread" {
	SEEP_LOG=last:1048576 SEEP_LOG_POOL=600MiB crashed hot
	[[ $status -eq 139 ]]
	"$SEEP" who "$ADDRESS" "$DIR" --format json >"$T/json"
	jq -e '.processes[0] | .state == "freed" and .allocated.tid == .pid and .freed.tid != .pid' "$T/json"
}

@test "freed by one thread and allocated again by another, in the same 10 ms: it is in use" {
	local i
	for i in 1 2 3; do
		rm -rf "${DIR:?}"/*
		SEEP_LOG=last crashed reused
		[[ $status -eq 139 ]]
		"$SEEP" who "$ADDRESS" "$DIR" --format json >"$T/json"
		jq -e '.processes[0] | .state == "live" and .size == 2000 and .allocated.tid == .pid' "$T/json"
	done
}

@test "a block in use, of a running process, without any log" {
	local pid
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/crashes" live >"$T/out" 3>&- &
	pid=$!
	PIDS+=("$pid")
	eventually grep -q ADDRESS "$T/out"
	ADDRESS=$(sed -n 's/^ADDRESS //p' "$T/out")
	"$SEEP" who "$ADDRESS" "$pid" >"$T/text"
	grep -q 'byte 24 of a block of 64 bytes at 0x[0-9a-f]*, in use$' "$T/text"
	grep -q '^    allocates_it at crashes.c:' "$T/text"
	complains 1 "$SEEP" who 0x10 "$pid"
}

@test "a block that a child has from its parent: the parent's stack, in use and freed" {
	local kept gone child
	cat >"$T/inherits.c" <<-'C'
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static char *kept, *gone;
		__attribute__((noinline)) static void allocates_it(void) {
			kept = malloc(100);
			gone = malloc(200);
			memset(kept, 1, 100);
		}
		static int works(void) {
			for (int i = 0; i < 300; i++)
				kept[i % 100] ^= (free(malloc(5000)), 1);
			return 0;
		}
		int main(void) {
			char line[8];
			allocates_it();
			/* a grandchild */
			if (fork() == 0 && works() == 0 && fork() == 0) {
				free(gone);
				works();
				printf("%p %p %d\n", (void *)(kept + 4), (void *)gone, (int)getpid());
				fflush(stdout);
				_exit(read(0, line, sizeof(line)) < 0);
			}
			while (wait(NULL) > 0)
				;
			return 0;
		}
	C
	cc -w -g "$T/inherits.c" -o "$T/inherits"
	mkfifo "$T/go"
	SEEP_LOG=last,frees SEEP_DIR=$DIR LD_PRELOAD=$COLLECTOR "$T/inherits" <"$T/go" >"$T/out" &
	exec 7>"$T/go"
	for ((i = 0; i < 100; i++)); do
		[[ -s $T/out ]] && break
		sleep 0.1
	done
	read -r kept gone child <"$T/out"
	"$SEEP" who "$kept" "$DIR" --pid "$child" --format json >"$T/json"
	jq -e --argjson pid "$child" '.processes[0] | .pid == $pid and .state == "live" and .inherited and .offset == 4 and
		.allocated_by_pid != $pid and .born_ms != null and .stack[0].function == "allocates_it"' "$T/json"
	"$SEEP" who "$gone" "$DIR" --pid "$child" --format json >"$T/json"
	jq -e '.processes[0] | .state == "freed" and .inherited and .stack[0].function == "allocates_it" and
		.freed.stack[0].function == "main"' "$T/json"
	# of the process alone: who its parent is, and no guess
	"$SEEP" who "$kept" "$child" >"$T/text"
	grep -q 'inherited: allocated before the fork by a process of which, or of one in between, this input has no records (process [0-9]* is the parent)' "$T/text"
	exec 7>&-
	wait
}

@test "a daemon that forks twice: the process in between leaves no records, and the block is its grandparent's" {
	local kept gone own child files
	cat >"$T/daemon.c" <<-'C'
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		static char *kept, *gone, *own;
		__attribute__((noinline)) static void allocates_it(void) {
			kept = malloc(100);
			gone = malloc(200);
		}
		int main(void) {
			int go[2];
			allocates_it();
			if (pipe(go) == 0 && fork() == 0) {
				own = malloc(300);
				if (fork() > 0)
					_exit(0);
				free(gone);
				free(own);
				for (int i = 0; i < 300; i++)
					free(malloc(5000));
				printf("%p %p %p %d\n", (void *)(kept + 4), (void *)gone, (void *)own, (int)getpid());
				fflush(stdout);
				_exit(write(go[1], "x", 1) != 1);
			}
			/* stacks of its own, with the ids that the others have */
			for (int i = 0; i < 3; i++)
				free(malloc(10)), free(calloc(1, 10)), free(realloc(NULL, 10));
			return read(go[0], &go, 1) != 1;
		}
	C
	cc -w -g "$T/daemon.c" -o "$T/daemon"
	for files in 0 1; do # children in their ancestor's file, and with files of their own
		rm -rf "${DIR:?}"/*
		SEEP_CHILD_FILES=$files SEEP_LOG=last,frees SEEP_DIR=$DIR LD_PRELOAD=$COLLECTOR "$T/daemon" >"$T/out"
		read -r kept gone own child <"$T/out"
		# it has an event or two, which are kept as sums at most
		"$SEEP" report "$DIR" --format json --no-symbols | jq -e '[.processes[] | select(.totals.allocations > 1)] | length == 2'
		"$SEEP" who "$gone" "$DIR" --pid "$child" --format json >"$T/json"
		jq -e '.processes[0] | .state == "freed" and .inherited and .allocated_by_pid != null and .stack[0].function == "allocates_it"' "$T/json"
		# of what the one in between has allocated, nobody knows the stack, and none is made up
		"$SEEP" who "$own" "$DIR" --pid "$child" --format json >"$T/json"
		jq -e '.processes[0] | .state == "freed" and .inherited and .allocated_by_pid == null and .stack == null' "$T/json"
	done
}

@test "nobody knows the address: exit 1; no flight recorder, or no address: exit 2" {
	SEEP_LOG=last crashed use
	complains 1 "$SEEP" who 0x10 "$DIR"
	complains 2 "$SEEP" who hello "$DIR"
	complains 2 "$SEEP" who -- -5 "$DIR"
	rm -rf "${DIR:?}"/*
	crashed use
	complains 2 "$SEEP" who "$ADDRESS" "$DIR"
	complains 2 "$SEEP" dump --last "$DIR"
	SEEP_DIR=$DIR "$SEEP" record --last -o "$T/next.seep" -- true 2>&1 | grep -q "next: seep dump --last $T/next.seep"
	complains 2 "$SEEP" record --last --log -- true
	complains 2 "$SEEP" record --last --sample 1M -- true
	complains 3 "$SEEP" who "$ADDRESS" "$T/nothing"
}

# threads_of PID: threads beside the first have events by now
threads_of() {
	"$SEEP" dump --last "$1" --format jsonl --no-symbols >"$T/live" 2>"$T/err" && grep -qv "\"tid\":$1," "$T/live"
}

@test "dump --last: filters, formats, and a process that runs on" {
	SEEP_LOG=last:100 traced_well "$HOSTS/threads" 2000
	"$SEEP" dump --last "$DIR" --top 2 --no-symbols >"$T/text"
	[[ $(grep -c '^process ' "$T/text") -ge 8 ]]
	[[ $(grep -c ' 0x' "$T/text") -le $((2 * $(grep -c '^process ' "$T/text"))) ]]
	"$SEEP" dump --last "$DIR" --thread 2 --min-size 40 --format jsonl --no-symbols >"$T/jsonl"
	jq -es 'length > 0 and all(.thread == 2 and .size >= 40)' "$T/jsonl"
	"$SEEP" dump --last "$DIR" --format csv --stacks --no-symbols >"$T/csv" 2>"$T/err" || [[ $? -eq 2 ]]
	"$SEEP" dump --last "$DIR" --format csv --no-symbols >"$T/csv"
	"$PYTHON" - "$T/csv" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1])))
		assert rows and all(row["event"] in ("alloc", "free", "realloc-from", "realloc-to") for row in rows)
		assert all(int(row["address"], 16) for row in rows)
	END
	# threads that store meanwhile: every line makes sense
	LD_PRELOAD=$COLLECTOR SEEP_LOG=last:200 SEEP_DIR=$DIR "$HOSTS/flown" end "$T/noted" 1000000000 2 >"$T/out.live" 3>&- &
	local pid=$! i
	PIDS+=("$pid")
	eventually grep -q PID "$T/out.live"
	eventually threads_of "$pid"
	for i in 1 2 3 4 5; do
		"$SEEP" dump --last "$pid" --format jsonl --no-symbols >"$T/live" 2>"$T/err" || { cat "$T/err" && false; }
		[[ ! -s $T/err ]]
		jq -es 'length > 0 and all(.size >= 8 and .size < 9000)' <(grep -v "\"tid\":$pid," "$T/live")
	done
}

@test "cut and damaged rings end in what is sound, or a clean error" {
	SEEP_LOG=last:64,frees crashed double
	"$PYTHON" - "$DIR" "$SEEP" "$ADDRESS" <<-'END'
		import glob, os, random, subprocess, sys
		path = glob.glob(sys.argv[1] + "/*.seg.log")[0]
		os.chmod(path, 0o600)
		with open(path, "rb") as file:
		    data = bytearray(file.read(1 << 17))
		random.seed(21)
		for n in range(24):
		    bad = bytearray(data)
		    for _ in range(1 + n % 40):
		        at = random.randrange(128) if n % 2 else random.randrange(4096, 12288)
		        bad[at] ^= 1 << random.randrange(8)
		    with open(path, "r+b") as file:
		        file.write(bad)
		        if n % 5 == 4:
		            file.truncate(random.randrange(len(bad)))
		    for command in (["dump", "--last"], ["who", sys.argv[3]]):
		        done = subprocess.run([sys.argv[2]] + command + [sys.argv[1], "--no-symbols"], stdout=subprocess.DEVNULL,
		                              stderr=subprocess.DEVNULL, timeout=30)
		        assert done.returncode in (0, 1, 2, 3), (n, command, done.returncode)
	END
}
