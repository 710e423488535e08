#!/usr/bin/env bats
# stacks_go_on_through_run_time_code - frames without unwind information are left by their frame pointers, named by a map, and shown without the runtime.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

setup_file() { export LC_ALL=C; }

map() { echo "/tmp/perf-$(sed -n 's/^PID //p' "$T/out").map"; }

# shown ARGS...: the stack of what the host leaks, its functions in one line
shown() {
	"$SEEP" report --no-cache --format json "$@" >"$T/report.json"
	jq -r '[.processes[].sites[] | select(.live_bytes == 123450)][0].frames
		| map(.function) | join(" ")' "$T/report.json"
}

# frame FUNCTION FIELD: of that stack
frame() {
	jq -c --arg f "$1" '[.processes[].sites[] | select(.live_bytes == 123450)]
		[0].frames | map(select(.function == $f))[0].'"$2" "$T/report.json"
}

@test "Python: every function, in order, without the evaluator between them" {
	record -q "$HOSTS/trampolines" python map
	[[ $status -eq 0 ]]
	rm "$(map)"
	[[ $(shown "$T/seep.data") == "builtin_leak _PyEval_EvalFrameDefault leaf three two one outer py_trampoline_evaluator main"* ]]
	[[ $(frame leaf language) == '"python"' ]]
	[[ $(frame leaf file) == '"/srv/app.py"' ]]
	[[ $(frame main language) == null ]]
	[[ $(shown --all-frames "$T/seep.data") == "builtin_leak _PyEval_EvalFrameDefault leaf py_trampoline_evaluator PyObject_Vectorcall _PyEval_EvalFrameDefault three "* ]]
}

@test "JavaScript: functions, files and lines; the text says that frame pointers led there" {
	record -q "$HOSTS/trampolines" js map
	[[ $status -eq 0 ]]
	rm "$(map)"
	[[ $(shown "$T/seep.data") == "js_native Builtins_CallFunction leaf three two one outer Builtins_CallFunction v8::internal::Execution::Call() main"* ]]
	[[ $(frame leaf line) == 5 && $(frame outer line) == 1 ]]
	[[ $(frame leaf file) == '"/srv/app.js"' ]]
	[[ $(frame leaf language) == '"js"' && $(frame leaf guessed) == true ]]
	[[ $(frame main guessed) == null ]]
	jq -e '.processes[0].lost.cut_no_info == 0' "$T/report.json"
	"$SEEP" report "$T/seep.data" >"$T/text"
	tr -s '\n ' '  ' <"$T/text" >"$T/words"
	grep -q 'Stacks of 1 site pass through code without unwind information by its frame pointers\.' "$T/words"
	grep -q '<- three app.js:4' "$T/text"
	# filters, depth and exports see the same stack
	"$SEEP" report --include '^Builtins_' --depth 3 "$T/seep.data" | grep -q '<- leaf'
	"$SEEP" export --format collapsed "$T/seep.data" -o - >"$T/collapsed"
	grep -q 'outer;one;two;three;leaf;' "$T/collapsed"
}

@test "every export and the page have the stack without the runtime" {
	local format
	record -q "$HOSTS/trampolines" python map
	[[ $status -eq 0 ]]
	rm "$(map)"
	while read -r format _; do
		"$SEEP" export --no-cache --format "$format" -o "$T/$format" "$T/seep.data"
		case $format in
		html) continue ;; # below
		heaptrack | seep) continue ;; # all events, the recording itself: these have the stack as it was
		pprof) gzip -dc <"$T/$format" >"$T/plain" ;;
		*) cp "$T/$format" "$T/plain" ;;
		esac
		echo "$format"
		case $format in
		leaktrace | maps | mmleak*) ;; # no stacks
		*) grep -aq 'three' "$T/plain" ;;
		esac
		# between two functions of Python only; the outermost call of the evaluator stays
		lacks PyObject_Vectorcall "$T/plain"
	done < <("$SEEP" export --list)
	"$SEEP" report --no-cache --format html -o "$T/page.html" "$T/seep.data"
	PYTHONPATH=$LIB "$PYTHON" - "$T/page.html" <<-'END'
		import page, sys
		p = page.Page(sys.argv[1])
		names = [[p.frame(f)["function"] for f in s] for s in p.stacks]
		assert any("leaf" in s and "outer" in s for s in names), names
		assert not any("PyObject_Vectorcall" in s for s in names), names
	END
	# so do comparisons and checks
	"$SEEP" diff --no-cache --format json "$T/seep.data" "$T/seep.data" >"$T/diff" || [[ $? -eq 1 ]]
	lacks PyObject_Vectorcall "$T/diff"
	"$SEEP" check --no-cache --format json "$T/seep.data" >"$T/check" || [[ $? -eq 1 ]]
	lacks PyObject_Vectorcall "$T/check"
}

@test "a function that calls itself through the runtime is one line" {
	traced_well "$HOSTS/trampolines" python map
	sed -i -E 's/py::(one|two|three):/py::walk:/' "$(map)"
	"$SEEP" report --no-cache "$DIR" >"$T/text"
	"$SEEP" report --no-cache --depth 3 "$DIR" >"$T/short"
	rm "$(map)"
	cat "$T/text"
	grep -q '<- walk app.py (recursive, 3 deep)' "$T/text"
	lacks PyObject_Vectorcall "$T/text"
	grep -q '<- leaf app.py' "$T/short"
	lacks walk "$T/short"
}

@test "an interrupted instruction of such code is no call: the stack ends there" {
	cat >"$T/trapped.c" <<-'C'
		#include <signal.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		static void *volatile kept;
		static void on_trap(int number)
		{
			kept = malloc(123450 + (size_t)number * 0);
		}
		int main(void)
		{
			/* push rbp; mov rbp, rsp; int3; pop; ret: all that a guess could wish for */
			static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xcc, 0x5d, 0xc3};
			void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			void (*f)(void);
			signal(SIGTRAP, on_trap);
			memcpy(p, code, sizeof(code));
			mprotect(p, 4096, PROT_READ | PROT_EXEC);
			memcpy(&f, &p, sizeof(f));
			f();
			return kept == NULL;
		}
	C
	cc -w -O1 -g "$T/trapped.c" -o "$T/trapped"
	traced_well "$T/trapped"
	shown "$DIR" >"$T/stack"
	cat "$T/stack"
	[[ $(<"$T/stack") == "on_trap "* && $(<"$T/stack") != *main* ]]
	jq -e '[.processes[].sites[] | select(.live_bytes == 123450)] | length == 1 and .[0].stack == "cut" and
		all(.[0].frames[]; .guessed != true)' "$T/report.json"
}

@test "code that is rewritten in place: old and new stacks end in known functions, or are cut" {
	traced_well "$HOSTS/run_time_code_comes_and_goes"
	"$SEEP" report --no-cache --allocs --format json --all-frames "$DIR" >"$T/report.json"
	jq -e '[.processes[].sites[] | select(any(.frames[]; .function == "alloc_below"))] | length > 90 and
		([.[] | select(.stack == "complete")] | length > 60) and
		all(.[]; .stack != "complete" or (.frames[-1].function | IN("_start", "clone3", "__clone3", "clone", "__clone")))' "$T/report.json"
}

# delayed COMMAND...: each answer of madvise comes a while after the kernel has made it
delayed() {
	env SEEP_DIR="$DIR" strace -f -qq -o /dev/null -E LD_PRELOAD="$COLLECTOR" -e trace=madvise -e inject=madvise:delay_exit=300 "$@"
}

@test "where answers of the kernel come late, as below a tracer, code that may go is not read" {
	need strace
	delayed "$HOSTS/trampolines" js >/dev/null
	shown "$DIR" >"$T/stack"
	cat "$T/stack"
	# the first of these is in the program, the second in no module
	[[ $(<"$T/stack") == "js_native Builtins_CallFunction (no unwind information beyond this frame)" ]]
	for _ in 1 2 3; do
		delayed "$HOSTS/run_time_code_goes_at_any_moment" >"$T/out"
		grep -q '^SITE alloc_below ' "$T/out"
	done
}

@test "without guesses the stack ends there" {
	local how
	record -q --no-guess "$HOSTS/trampolines" js
	[[ $(shown "$T/seep.data") == "js_native Builtins_CallFunction (no unwind information beyond this frame)" ]]
	jq -e '.processes[0].lost.cut_no_info > 0' "$T/report.json"
	for how in 0 1 2; do
		rm -f "$DIR"/*
		SEEP_GUESS=$how traced_well "$HOSTS/trampolines" python
		shown "$DIR" >"$T/stack"
		[[ $(jq '.processes[0].lost.settings_ignored' "$T/report.json") -eq $((how / 2)) ]]
		if [[ $how -eq 0 ]]; then
			grep -q 'beyond this frame' "$T/stack"
		else
			grep -q ' main' "$T/stack"
		fi
	done
}

@test "a map is hostile: it names what it can, and malformed lines are counted" {
	local bad
	traced_well "$HOSTS/trampolines" js map
	bad=$(map)
	printf 'nonsense\n12 zz x\n\n%s\n' "$(head -c 9000 /dev/zero | tr '\0' x)" >>"$bad"
	printf '%s 20 JS:~\033[2Jleaf /srv/\033]0;x\007.js:5:1\n' \
		"$(awk '/leaf/ { print $1 }' "$bad")" >>"$bad"
	"$SEEP" report --no-cache "$DIR" >"$T/text"
	rm "$bad"
	grep -q '3 malformed lines, skipped' <(tr -s '\n ' '  ' <"$T/text")
	grep -q 'three app.js:4' "$T/text"
	lacks $'\033' "$T/text"
}

@test "--runtime-names adds to what is set, says so, and removes the maps of the run alone" {
	cat >"$T/runtime" <<-'SH'
	#!/bin/sh
	echo "$PYTHONPERFSUPPORT,$NODE_OPTIONS,$JAVA_TOOL_OPTIONS"
	exec "$@" js map
	SH
	chmod +x "$T/runtime"
	touch -d 2001-01-01 "/tmp/perf-0$$.map"
	NODE_OPTIONS='--a --perf-basic-prof' JAVA_TOOL_OPTIONS='' \
		record --runtime-names "$T/runtime" "$HOSTS/trampolines"
	[[ $status -eq 0 ]]
	grep -qx '1,--a --perf-basic-prof --interpreted-frames-native-stack,-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' "$T/out"
	grep -qx 'seep: set PYTHONPERFSUPPORT=1' "$T/err"
	grep -qx 'seep: set NODE_OPTIONS=--a --perf-basic-prof --interpreted-frames-native-stack' "$T/err"
	[[ ! -e $(map) && -e /tmp/perf-0$$.map ]]
	rm "/tmp/perf-0$$.map"
	[[ $(shown "$T/seep.data") == *" leaf three two one outer "* ]]
	lacks 'runtime-names' "$T/err"
	# nothing is set without it, and a line says how to get the names
	rm "$T/seep.data"
	record "$T/runtime" "$HOSTS/trampolines"
	grep -qx ',,' "$T/out"
	[[ -e $(map) ]]
	rm "$(map)" "$T/seep.data"
	record "$HOSTS/trampolines" js
	grep -q '^seep: 5 frames of code made at run time have no name; --runtime-names' "$T/err"
}
