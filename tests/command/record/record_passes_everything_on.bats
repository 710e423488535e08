#!/usr/bin/env bats
# record_passes_everything_on - exit status, stdio, signals and descriptors of CMD are unchanged.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

@test "exit status 0 and 3" {
	record -q true
	[[ $status -eq 0 && ! -s $T/err ]]
	record -q sh -c 'exit 3'
	[[ $status -eq 3 && ! -s $T/err ]]
}

@test "death by signal N is 128+N" {
	record -q sh -c 'kill -KILL $$'
	[[ $status -eq 137 ]]
	record -q sh -c 'kill -TERM $$'
	[[ $status -eq 143 ]]
}

@test "not found is 127, not executable is 126, one line each" {
	cd "$T"
	export SEEP_DIR=$DIR
	complains 127 "$SEEP" record no-such-command-anywhere
	complains 127 "$SEEP" record ./no-such-file
	echo text >"$T/plain"
	complains 126 "$SEEP" record "$T/plain"
	complains 126 "$SEEP" record "$T"
	[[ ! -e $T/seep.data ]]
	[[ -z $(ls -A "$DIR") ]]
}

@test "a failed start leaves an existing recording as it was" {
	record -q true
	cp "$T/seep.data" "$T/before"
	record no-such-command-anywhere
	[[ $status -eq 127 ]]
	cmp "$T/seep.data" "$T/before"
	[[ ! -e $T/seep.data.old ]]
}

@test "wrong usage is 2" {
	complains 2 "$SEEP" record
	complains 2 "$SEEP" record --no-such-option true
	complains 2 "$SEEP" record --sample 10x true
	complains 2 "$SEEP" record --sample 0 true
	complains 2 "$SEEP" record --interval 100 true
	complains 2 "$SEEP" record --interval 1ms true
	complains 2 "$SEEP" record -o '%q' true
	complains 2 "$SEEP" record --interval 1 true
	complains 2 "$SEEP" record --depth many true
	complains 2 "$SEEP" record -o
}

@test "options behind CMD are CMD's" {
	record -q echo -q --force -o x
	[[ $(<"$T/out") == "-q --force -o x" ]]
	record -q -- sh -c 'echo "$@"' sh --depth
	[[ $(<"$T/out") == "--depth" ]]
}

@test "stdin, stdout and stderr pass byte for byte" {
	head -c 3000000 /dev/urandom >"$T/random"
	record -q cat <"$T/random"
	cmp "$T/random" "$T/out"
	record -q sh -c 'cat >&2' <"$T/random"
	cmp "$T/random" "$T/err"
}

@test "closed standard files stay closed and catch no words of ours" {
	local script='for i in 0 1 2; do [ -e /proc/self/fd/$i ] &&
		echo $i >>"$0"; done; exit 4'
	status=0
	(
		cd "$T" || exit
		SEEP_DIR=$DIR exec "$SEEP" record -o closed.data \
			sh -c "$script" "$T/open" <&- >&- 2>&-
	) || status=$?
	[[ $status -eq 4 ]]
	# the shell's own >> took the lowest number, as it would without us
	lacks '[12]' "$T/open"
	"$SEEP" report "$T/closed.data" --format json >"$T/report.json"
}

@test "no descriptor of ours reaches CMD" {
	(cd "$T" && ls -l /proc/self/fd) | grep -o '[0-9]* ->' >"$T/bare"
	record -q ls -l /proc/self/fd
	grep -o '[0-9]* ->' "$T/out" >"$T/traced"
	diff "$T/bare" "$T/traced"
}

@test "CMD sees the same files in its directory" {
	mkdir "$T/sub"
	(cd "$T/sub" && SEEP_DIR=$DIR "$SEEP" record -q ls -A >../listing)
	[[ ! -s $T/listing ]]
	[[ $(ls -A "$T/sub") == seep.data ]]
}

# without timeout between us and record: it sets signals of its own
record_directly() {
	(cd "$T" && SEEP_DIR=$DIR exec "$SEEP" record "$@") >"$T/out"
}

@test "dispositions and masks are those record was started with" {
	local want='^Sig(Blk|Ign|Cgt)'
	(
		trap '' USR1 CHLD INT PIPE
		grep -E "$want" /proc/self/status
	) >"$T/bare"
	(
		trap '' USR1 CHLD INT PIPE
		record_directly -q grep -E "$want" /proc/self/status
	)
	diff "$T/bare" "$T/out"
	grep -E "$want" /proc/self/status >"$T/bare"
	record_directly -q grep -E "$want" /proc/self/status
	diff "$T/bare" "$T/out"
}

@test "an ignored SIGCHLD does not lose the exit status" {
	status=0
	(
		trap '' CHLD
		record_directly -q sh -c 'exit 7'
	) || status=$?
	[[ $status -eq 7 ]]
}

@test "no new process group or session" {
	local ids='read -r _ _ _ _ group session _ </proc/$$/stat
		echo "$group $session"'
	(bash -c "$ids") >"$T/bare"
	record_directly -q sh -c "$ids"
	diff "$T/bare" "$T/out"
}

# shellcheck disable=SC2154 # $recorder is record_behind()'s
@test "SIGTERM and SIGHUP go to CMD, which decides" {
	local signal
	for signal in TERM HUP; do
		rm -f "$T/ready" "$T/sig.data"
		record_behind -q -o sig.data sh -c "
			trap 'echo got $signal; exit 5' $signal
			echo >ready
			while :; do sleep 0.05; done"
		appears "$T/ready"
		kill -s "$signal" "$recorder"
		status=0
		wait "$recorder" || status=$?
		[[ $status -eq 5 ]]
		[[ $(<"$T/out") == "got $signal" ]]
		"$SEEP" report "$T/sig.data" --format json >"$T/report.json"
	done
}

# listening: a program that prints each signal that it gets, in $T/said
listening() {
	cat >"$T/listen.py" <<-'END'
		import signal, sys
		every = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
		signal.pthread_sigmask(signal.SIG_BLOCK, every)
		open("said", "w").close()
		open("ready", "w").write("1")
		while True:
		    got = signal.sigwaitinfo(every)
		    with open("said", "a") as f:
		        print(got.si_signo, got.si_code, got.si_pid, file=f)
		    if got.si_signo == signal.SIGTERM:
		        sys.exit(5)
	END
	rm -f "$T/ready"
	record_behind -q -o sig.data "$PYTHON" "$T/listen.py"
	appears "$T/ready"
}

@test "every signal that somebody sends to record goes to CMD, once" {
	local n
	listening
	for n in INT QUIT HUP USR1 USR2 WINCH ALRM VTALRM PROF ABRT PIPE XCPU XFSZ IO URG PWR STKFLT CONT \
		RTMIN RTMIN+1 RTMIN+7 RTMAX; do
		kill -s "$n" "$recorder"
		n=$(kill -l "$n")
		eventually grep -q "^$n " "$T/said"
	done
	# in order, and with their values: those that are queued
	"$PYTHON" - "$recorder" <<-'END'
		import ctypes, signal, sys
		libc = ctypes.CDLL(None)
		libc.sigqueue.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
		for i in range(5):
		    assert libc.sigqueue(int(sys.argv[1]), signal.SIGRTMIN + 3, 1000 + i) == 0
	END
	eventually sh -c "[ \$(grep -c '^37 -1 ' '$T/said') -eq 5 ]"
	kill -TERM "$recorder"
	status=0
	wait "$recorder" || status=$?
	[[ $status -eq 5 ]]
	[[ $(sort "$T/said" | grep -v '^37 ' | uniq -d | wc -l) -eq 0 ]]
	"$SEEP" report "$T/sig.data" --format json >"$T/report.json"
}

@test "SIGTSTP stops CMD and record, SIGCONT lets both go on" {
	listening
	has_state() { [[ $(sed 's/.*) //' "/proc/$1/stat" | cut -c1) == [$2] ]]; }
	kill -TSTP "$recorder"
	eventually grep -q '^20 ' "$T/said"
	eventually has_state "$recorder" T
	kill -CONT "$recorder"
	eventually grep -q '^18 ' "$T/said"
	eventually has_state "$recorder" SRD
	kill -TERM "$recorder"
	status=0
	wait "$recorder" || status=$?
	[[ $status -eq 5 ]]
}

@test "a signal that CMD sends to its whole group does not come back" {
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec setsid --wait "$SEEP" record -q "$PYTHON" -c '
import os, signal, time
got = []
signal.signal(signal.SIGUSR1, lambda *_: got.append(1))
os.kill(0, signal.SIGUSR1)
time.sleep(0.5)
os._exit(10 + len(got))') || status=$?
	[[ $status -eq 11 ]]
}

@test "a timer that was set before record was executed reaches CMD" {
	status=0
	(cd "$T" && SEEP_DIR=$DIR exec "$PYTHON" -c '
import os, signal, sys
signal.setitimer(signal.ITIMER_REAL, 1)
os.execv(sys.argv[1], sys.argv[1:])' "$SEEP" record -q sleep 30) || status=$?
	[[ $status -eq 142 ]]
}

@test "LD_PRELOAD entries of the user are kept, behind ours" {
	local other
	other=$(ldconfig -p | sed -n 's/.*libm\.so\.6 .*=> //p' | head -n 1)
	[[ -n $other ]]
	# a sanitized seep would not bear it
	ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$other record -q sh -c 'echo "$LD_PRELOAD"'
	[[ $(<"$T/out") == */libseep.so:"$other" ]]
}

# at_terminal KEY COMMAND...: types KEY at a pseudo terminal once "ready" is
# there; prints what the terminal shows; the status of COMMAND
at_terminal() {
	"$PYTHON" - "$@" <<-'END'
		import os, pty, sys
		key = bytes(sys.argv[1], "ascii")
		pid, fd = pty.fork()
		if pid == 0:
		    os.execvp(sys.argv[2], sys.argv[2:])
		seen = b""
		typed = False
		while True:
		    try:
		        more = os.read(fd, 4096)
		    except OSError:
		        break
		    if not more:
		        break
		    seen += more
		    if b"ready" in seen and not typed:
		        os.write(fd, key)
		        typed = True
		sys.stdout.buffer.write(seen)
		sys.stdout.flush()
		sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
}

@test "Ctrl-C at the terminal: CMD decides, record writes what there is" {
	export SEEP_DIR=$DIR
	cd "$T"
	status=0
	at_terminal $'\003' "$SEEP" record sh -c "
		trap 'echo interrupted; exit 8' INT; echo ready
		while :; do sleep 0.05; done" >"$T/out" || status=$?
	[[ $status -eq 8 ]]
	grep -q interrupted "$T/out"
	grep -q 'seep: recorded' "$T/out"
	"$SEEP" report seep.data --format json >"$T/report.json"
}

@test "Ctrl-C and Ctrl-\\ at the terminal come once, and not from us as well" {
	export SEEP_DIR=$DIR
	cd "$T"
	status=0
	at_terminal $'\003\034' "$SEEP" record -q "$PYTHON" -c '
import signal, time
got = []
for n in (signal.SIGINT, signal.SIGQUIT): signal.signal(n, lambda n, f: got.append(n))
print("ready", flush=True)
end = time.time() + 1
while time.time() < end: time.sleep(0.05)
print("got", sorted(got), flush=True)' >"$T/out" || status=$?
	cat "$T/out"
	[[ $status -eq 0 ]]
	grep -q 'got \[2, 3\]' "$T/out"
}

@test "CMD reads from the terminal" {
	export SEEP_DIR=$DIR
	cd "$T"
	at_terminal $'hello\n' "$SEEP" record -q sh -c '
		[ -t 0 ] && [ -t 1 ] && [ -t 2 ] || exit 9
		echo ready; read -r line; echo "got <$line>"' >"$T/out"
	grep -q 'got <hello>' "$T/out"
}

@test "of a process that was killed, the report has the time of its last event, not a length" {
	printf '%s\n' '#include <signal.h>' '#include <stdlib.h>' '#include <unistd.h>' 'void *volatile k;' \
		'int main(void) { k = malloc(9); usleep(300000); raise(SIGKILL); }' | gcc -w -x c - -o "$T/sleeps"
	record -q --force -o data "$T/sleeps"
	(cd "$T" && COLUMNS=200 "$SEEP" report data >out)
	grep -q 'was killed by signal 9 (Killed); its last event was less than 0.1 s after its start' "$T/out"
}
