#!/usr/bin/env bats
# recording_follows_the_tree - many children, short-lived children, untraced processes, names.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # $status and $recorder are lib/record.bash's
# shellcheck disable=SC2016 # for the shell that is recorded
load ../../lib/record.bash

setup_file() {
	need jq
	cat >"$BATS_FILE_TMPDIR/server.c" <<-'END'
		/* server N PAUSE_US: forks N children, one after the other, each allocates 100 blocks */
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv) {
			for (int i = 0; i < atoi(argv[1]); i++) {
				if (fork() == 0) {
					for (int k = 0; k < 100; k++) {
						char *volatile p = malloc(10);
						p[0] = 1;
					}
					_exit(0);
				}
				wait(NULL);
				usleep(atoi(argv[2]));
			}
			return argc > 3;
		}
	END
	"${CC:-gcc}" -O1 -o "$BATS_FILE_TMPDIR/server" "$BATS_FILE_TMPDIR/server.c"
	export SERVER=$BATS_FILE_TMPDIR/server
}

json() { "$SEEP" report "$T/seep.data" --format json | jq -c "$1"; }

# What matters of a recording of SERVER: how many processes there are, how many
# were lost, what they allocated (the server itself nothing), and what is wrong.
children() {
	json '[(.processes | length), ([.processes[].lost.children_untraced] | add),
		([.processes[].totals.allocations] | unique), .notes]'
}

# Children of root have files, because they may change their user.
@test "a fork server does not run out of slots, because those of dead children are reused" {
	drop_privileges
	install -d -m 777 "$DIR/own" # where nobody may come
	cp "$SERVER" "$DIR/own/server"
	(cd "$DIR/own" && SEEP_DIR=$DIR exec timeout 120 "${AS[@]}" "$SEEP" record -q ./server 1400 2000)
	mv "$DIR/own/seep.data" "$T"
	rm -r "$DIR/own"
	children | tee /dev/stderr
	[[ $(children) == '[1401,0,[0,100],[]]' ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "a fork server of root leaves no files of dead children" {
	record -q "$SERVER" 500 2000
	[[ $status -eq 0 ]]
	children | tee /dev/stderr
	[[ $(children) == '[501,0,[0,100],[]]' ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "files of ended processes are removed while others run" {
	record_behind -q sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/ls / >/dev/null; done
		echo >ready; while [ ! -e go ] && [ -e ready ]; do sleep 0.1; done'
	appears "$T/ready"
	# each sleep of the shell leaves a new one until the next look
	local n=99
	for ((i = 0; i < 200; i++)); do
		n=$(segments)
		[[ $n -gt 3 ]] || break
		sleep 0.05
	done
	[[ $n -le 3 ]]
	: >"$T/go"
	wait "$recorder"
	[[ $(json '[.processes[] | select(.exe | endswith("/ls"))] | length') == 8 ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "processes without the collector are listed with the reason while they run" {
	local cc=${CC:-gcc}
	echo 'int pause(void); int main(void) { return pause(); }' >"$T/s.c"
	"$cc" -static -o "$T/still" "$T/s.c"
	record -q sh -c './still & sleep 9; kill $!; wait; true'
	"$SEEP" report "$T/seep.data" --format json 2>/dev/null >"$T/report.json"
	[[ $(jq '[.notes[] | select(test("still.* was not traced: .*static"))] | length' "$T/report.json") == 1 ]]
}

@test "the output name can contain %e, %p, %h, %t and %%" {
	record -q -o 'x-%e-%p-%h-%t-%%' true
	[[ $status -eq 0 ]]
	[[ $(find "$T" -name 'x-*' -printf '%f') =~ ^x-true-[0-9]+-$(hostname)-[0-9]+-%$ ]]
	record -q -o '%p' sh -c 'echo $$'
	[[ -s $T/$(<"$T/out") ]]
	record -o '%p' --force no-such-command
	[[ $status -eq 127 ]]
	record -o "$T/no/such/%p" touch "$T/ran"
	[[ $status -eq 125 && ! -e $T/ran ]]
	[[ $(wc -l <"$T/err") -eq 1 ]]
}

@test "--sample reaches the collector" {
	record -q --sample 512K sh -c 'echo "$SEEP_SAMPLE"'
	[[ $(<"$T/out") == 524288 ]]
	record --sample 1M true
	grep -q '^seep: sampled: ' "$T/err"
}

@test "record is light: below 2 % of a CPU at 100 ms with 5,000 sites" {
	local ticks seconds
	seconds=$(full_or 20 4)
	cat >"$T/busy.c" <<-'END'
		/* busy S: for S seconds, 5,000 distinct stacks, all of them at work */
		#include <stdlib.h>
		#include <time.h>
		static void *volatile sink;
		__attribute__((noinline)) static void go(unsigned path, int bits) {
			if (bits == 0) { free(sink); sink = malloc(path % 500 + 1); }
			else if (path >> (bits - 1) & 1) { go(path, bits - 1); __asm__("nop"); }
			else { go(path, bits - 1); __asm__("nop; nop"); }
		}
		int main(int argc, char **argv) {
			time_t end = time(NULL) + atoi(argv[1]);
			while (time(NULL) <= end)
				for (unsigned i = 0; i < 5000; i++)
					go(i, 13);
			return argc > 2;
		}
	END
	"${CC:-gcc}" -O1 -o "$T/busy" "$T/busy.c"
	record_behind -q "$T/busy" $((seconds + 1))
	sleep 0.7
	ticks=$(awk '{ print $14 + $15 }' "/proc/$recorder/stat")
	sleep "$seconds"
	ticks=$(($(awk '{ print $14 + $15 }' "/proc/$recorder/stat") - ticks))
	echo "# $ticks ticks in $seconds s"
	wait "$recorder"
	[[ $(json '.processes[0].totals.sites >= 4900') == true ]]
	[[ $(json '.processes[0].timeline.times_us | length >= 20') == true ]]
	# two ticks are the grain of the measure
	[[ $ticks -le $((seconds * $(getconf CLK_TCK) * 2 / 100 + 2)) ]]
}
