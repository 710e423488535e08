#!/usr/bin/env bats
# tables_fit_the_terminal - no table is wider than a terminal of 80 columns; wide ones, and pipes, have all of it.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../lib/service.bash

# fits COLUMNS FILE: no line is longer, but for paths that stay whole
fits() {
	[[ -s $2 ]]
	LC_ALL=C.UTF-8 awk -v most="$1" 'length($0) > most && !/^ *\// { print; bad = 1 } END { exit bad }' "$2"
}

@test "seep ls: with few columns sizes are rounded, that of the file is left out, and the command is cut" {
	local n
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR /bin/sleep 123456789 "0.$(printf '0%.0s' {1..90})" 3>&- &
	PIDS+=("$!")
	listed() { SEEP_DIR=$DIR "$SEEP" ls | grep -q running; }
	eventually listed
	for n in 80 99 100 120; do
		SEEP_DIR=$DIR COLUMNS=$n "$SEEP" ls >"$T/list"
		cat "$T/list"
		fits "$n" "$T/list"
	done
	grep -q 'AGE *SIZE  COMMAND' "$T/list"
	SEEP_DIR=$DIR COLUMNS=80 "$SEEP" ls >"$T/list"
	grep -q '^     PID  STATE  *LIVE  *PEAK  *AGE  COMMAND$' "$T/list"
	grep -qE ' [0-9.]+ KiB  +[0-9.]+ KiB +[0-9.]+ m?s  sleep 123456789 0\.0*\.\.\.$' "$T/list"
	# no terminal, no limit
	env -u COLUMNS SEEP_DIR="$DIR" "$SEEP" ls >"$T/list"
	grep -qE 'KiB  /bin/sleep 123456789 0\.0{35}0*\.\.\.$' "$T/list"
}

@test "seep dump, and its last events: no pid, narrower figures, and the function is cut" {
	cat >"$T/a.c" <<-END
		#include <stdlib.h>
		__attribute__((noinline)) void *a_function_with_a_name_that_is_longer_than_any_column_for_it(void)
		{ void *volatile p = malloc(100); return p; }
		int main(void) { for (int i = 0; i < 100; i++) free(a_function_with_a_name_that_is_longer_than_any_column_for_it()); return 0; }
	END
	gcc -g -O1 -fno-builtin -o "$T/a" "$T/a.c"
	record -q --log -o r.seep "$T/a"
	COLUMNS=80 "$SEEP" dump "$T/r.seep" >"$T/list"
	fits 80 "$T/list"
	grep -qE '^ +[0-9.]+ +[0-9]+ free +[0-9]+ +100 +[0-9]+ +0\.00 a_func[a-z_]*\.\.[a-z_]*_for_it$' "$T/list"
	[[ $(head -1 "$T/list") == "     time     tid event       block      size  site     age function" ]]
	"$SEEP" dump "$T/r.seep" >"$T/whole"
	grep -q ' a_function_with_a_name_that_is_longer_than_any_column_for_it$' "$T/whole"
	grep -q '^     time     pid     tid ' "$T/whole"
	[[ $(wc -l <"$T/whole") -eq $(wc -l <"$T/list") ]]
	COLUMNS=150 "$SEEP" dump "$T/r.seep" | cmp - "$T/whole"
	SEEP_LOG=last LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$T/a"
	COLUMNS=80 "$SEEP" dump --last "$DIR" >"$T/list"
	fits 80 "$T/list"
	grep -q '0x[0-9a-f]* *100 *[0-9]* *0\.0 a_[a-z_]*\.\.[a-z_]*_it$' "$T/list"
	COLUMNS=80 "$SEEP" report --table "$T/r.seep" >"$T/list"
	fits 80 "$T/list"
}

@test "seep service status: lines are broken between words" {
	PIDS=()
	fake_systemd
	unit d "ExecStart=/bin/sleep 1000"
	COLUMNS=50 "$SEEP" service --user status d >"$T/list"
	cat "$T/list"
	env -u COLUMNS "$SEEP" service --user status d >"$T/whole"
	[[ $(tr -s ' \n' ' ' <"$T/list") == "$(tr -s ' \n' ' ' <"$T/whole")" ]]
	[[ $(wc -l <"$T/list") -gt $(wc -l <"$T/whole") ]]
	grep -q '^             ' "$T/list"
}
