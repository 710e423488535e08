#!/usr/bin/env bats
# objects_are_compared - tools/refactor/same-objects: a move passes, a changed constant does not.
# SPDX-License-Identifier: Apache-2.0
repo=$(cd "$BATS_TEST_DIRNAME/../../.." && pwd)

# a repository with two files and a Makefile of seep's shape
setup_file() {
	local tree=$BATS_FILE_TMPDIR/tree
	mkdir -p "$tree/src/one"
	cd "$tree" || return
	cat >Makefile <<-'END'
		objects := $(patsubst src/%.c,build/obj/tool/%.o,$(shell find src -name '*.c'))
		all: $(objects)
		build/obj/tool/%.o: src/%.c; @mkdir -p $(@D) && $(CC) -O2 -fno-inline -g -Isrc -c -o $@ $<
	END
	cat >src/one/add.h <<-'END'
		int add(int a);
	END
	cat >src/one/add.c <<-'END'
		#include "one/add.h"
		#include <stdio.h>
		static const char *words[] = { "one", "two" };
		static int twice(int a) { puts(words[a & 1]); return a + 3; }
		int add(int a) { return twice(a) + twice(a + 1); }
	END
	cat >src/one/main.c <<-'END'
		#include "one/add.h"
		static int state;
		static int step(int a) { state += a; return state; }
		int other(int a) { return a > 5 ? add(a) : step(a); }
		int main(void) { return other(3) + other(9); }
	END
	git init -q . && git add -A
	git -c user.name=x -c user.email=x@x commit -qm base
	make -s CC=gcc && mv build "$BATS_FILE_TMPDIR/base"
}

setup() {
	T=$BATS_TEST_TMPDIR
	cp -r "$BATS_FILE_TMPDIR/tree" "$T"
	cd "$T/tree" || return
}

compare() { # OPTION...: against the build of the commit
	status=0
	"$repo/tools/refactor/same-objects" HEAD --targets all --make CC=gcc \
		--base-build "$BATS_FILE_TMPDIR/base" "$@" >"$T/out" 2>&1 || status=$?
}

@test "a file that moves has the same object, by the map" {
	mkdir src/two
	git mv src/one/add.c src/two/sum.c
	git mv src/one/add.h src/two/sum.h
	sed -i 's,one/add.h,two/sum.h,' src/*/*.c
	compare
	[[ $status -eq 1 ]]
	grep -qx 'tool/one/add.o is only in the base' "$T/out"
	printf 'one/add.%s two/sum.%s\n' c c h h >"$T/map"
	compare --map "$T/map"
	[[ $status -eq 0 && $(tail -n 1 "$T/out") == "2 of 2 objects are the same" ]]
}

@test "a changed constant is named with its function, changed words with their variable" {
	sed -i 's/a > 5/a > 6/' src/one/main.c
	compare
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "1 of 2 objects are the same" ]]
	grep -q 'function other differs' "$T/out"
	sed -i 's/"two"/"owt"/' src/one/add.c
	compare --functions
	[[ $status -eq 1 ]]
	grep -q 'variable words differs.*two.*owt' "$T/out"
	git checkout -q src/one/main.c
	compare src/one/main.c
	[[ $status -eq 2 ]]
	compare src/two
	[[ $status -eq 2 ]]
}

@test "a function that moves to another file is the same one" {
	{ echo 'int step(int a);' && grep 'int other' src/one/main.c; } >>src/one/add.c
	sed -i '/int other/d; s/static int step/int step/; 1a int other(int a);' src/one/main.c
	compare --functions
	[[ $status -eq 0 && $(tail -n 1 "$T/out") == "5 of 5 functions are the same" ]]
	compare
	[[ $status -eq 1 && $(tail -n 1 "$T/out") == "0 of 2 objects are the same" ]]
	grep -qx '    function other is only in the base' "$T/out"
}

@test "names that are changed everywhere are equal with --renames, alone they are not" {
	sed -i 's/\badd\b\([(]\)/sum\1/' src/one/*.[ch]
	compare
	[[ $status -eq 1 ]]
	echo "add sum" >"$T/renames"
	compare --renames "$T/renames"
	[[ $status -eq 0 ]]
	compare --renames "$T/renames" --functions
	[[ $status -eq 0 ]]
}
