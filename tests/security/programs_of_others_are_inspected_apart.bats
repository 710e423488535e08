#!/usr/bin/env bats
# programs_of_others_are_inspected_apart - record looks at the program of an untraced descendant, and at the libraries it names, in processes of their own.
# threat: root's seep, pointed at a hostile user's process, file or directory, must not be made to hang, to grow without bound, to read or write elsewhere
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

@test "ELF headers are parsed in a jail: its user, its capabilities, its filter" {
	"$BUILD/tests/test_elf_reader" 2>&1
}

@test "a descendant of another user that asks for libraries on a file system that does not answer" {
	[[ $(id -u) -eq 0 && -c /dev/fuse ]] || skip "needs root and FUSE"
	local begin=$SECONDS
	local P=$DIR/program # where that user can go
	mkdir "$P" "$P/lib"
	chmod 755 "$DIR" "$P"
	printf '#include <unistd.h>\nint main(void) { sleep(60); return 0; }\n' >"$T/hostile.c"
	"${CC:-gcc}" -Wl,--no-as-needed "-Wl,-rpath,$P/lib" -o "$P/hostile" "$T/hostile.c" -lm
	# it is loaded first; then nobody can look into the directory any more
	cat >"$T/run" <<-'END'
		setpriv --reuid=65534 --regid=65534 --clear-groups env -u LD_PRELOAD "$P/hostile" &
		echo $! >"$T/pids"
		for i in 1 2 3 4 5 6 7 8 9 10; do
			grep -q libm /proc/$!/maps && break
			sleep 0.2
		done
		"$PYTHON" "$LIB/fuse_silent.py" "$P/lib" "$T/hostile.c" lookup >"$T/ready" &
		echo $! >>"$T/pids"
		sleep 6
	END
	export P T PYTHON LIB DIR SEEP
	status=0
	# shellcheck disable=SC2016 # for that shell
	unshare -m "$BASH" -c '
		mount --make-rprivate /
		cd "$T" && SEEP_DIR=$DIR timeout -s KILL 40 "$SEEP" record -q -o r.seep "$BASH" "$T/run" 3>&-' \
		>"$T/out" 2>"$T/err" || status=$?
	while read -r pid; do
		PIDS+=("$pid")
		kill -KILL "$pid" 2>/dev/null || true
	done < <(tac "$T/pids")
	cat "$T/err" "$T/ready"
	grep -q READY "$T/ready"
	echo "status $status after $((SECONDS - begin)) s"
	[[ $status -eq 0 && $((SECONDS - begin)) -lt 30 ]]
	"$SEEP" report "$T/r.seep" >"$T/report" 2>&1
	grep -q '/hostile) was not traced' "$T/report"
}
