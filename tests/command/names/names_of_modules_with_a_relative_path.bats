#!/usr/bin/env bats
# names_of_modules_with_a_relative_path - modules with relative paths have names: dlopen("./plugins/x.so"), relative RPATH and LD_LIBRARY_PATH.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

setup_file() {
	local at=$BATS_FILE_TMPDIR
	cat >"$at/plugin.c" <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) void *plugin_keeps(size_t n) {
			char *volatile p = malloc(n); return p; }
		void plugin_run(void) { for (int i = 0; i < 50; i++) plugin_keeps(1000); }
	END
	# host WORD...: cd DIR, open FILE, linked, fork, exec DIR, wait
	cat >"$at/host.c" <<-'END'
		#include <dlfcn.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		extern void plugin_run(void) __attribute__((weak));
		static void *lib;
		static void run(void) {
			void (*f)(void) = lib ? dlsym(lib, "plugin_run") : plugin_run;
			if (f) f(); else exit(9);
		}
		int main(int argc, char **argv) {
			for (int i = 1; i < argc; i++) {
				if (!strcmp(argv[i], "cd")) {
					if (chdir(argv[++i])) return 8;
				} else if (!strcmp(argv[i], "open")) {
					lib = dlopen(argv[++i], RTLD_NOW);
					if (!lib) { puts(dlerror()); return 7; }
					run();
				} else if (!strcmp(argv[i], "linked")) {
					run();
				} else if (!strcmp(argv[i], "fork")) {
					if (fork() == 0) {
						for (int k = 0; k < 3; k++) run();
						return 0;
					}
					wait(NULL);
				} else if (!strcmp(argv[i], "sleep")) {
					puts("ready"); fflush(stdout);
					usleep(atoi(argv[++i]) * 1000);
				}
			}
			return 0;
		}
	END
	"${CC:-gcc}" -O1 -g -shared -fPIC -Wl,--build-id -Wl,-soname,x.so -o "$at/x.so" "$at/plugin.c"
	"${CC:-gcc}" -O1 -g -o "$at/host" "$at/host.c" -ldl
	mkdir "$at/lib"
	cp "$at/x.so" "$at/lib/x.so"
	"${CC:-gcc}" -O1 -g -Wl,--no-as-needed -Wl,--disable-new-dtags,-rpath,lib \
		-o "$at/linked" "$at/host.c" "$at/lib/x.so" -ldl
	"${CC:-gcc}" -O1 -g -Wl,--no-as-needed -o "$at/plain" "$at/host.c" "$at/lib/x.so" -ldl
}

# a directory of its own: start/ with plugins/x.so, lib/x.so, other/
prepare() {
	W=$T/w
	export XDG_CACHE_HOME=$T/cache # what another test found is none of ours
	mkdir -p "$W/start/plugins" "$W/start/lib" "$W/other/plugins" "$W/elsewhere"
	cp "$BATS_FILE_TMPDIR"/{host,linked,plain} "$W/start"
	cp "$BATS_FILE_TMPDIR/x.so" "$W/start/plugins"
	cp "$BATS_FILE_TMPDIR/x.so" "$W/start/lib"
}

# in_start PROGRAM WORD...: traced, from that directory
in_start() { (cd "$W/start" && traced_well "$@"); }

# named [INPUT] [OPTION...]: how many sites of the plugin have their name
named() {
	"$SEEP" report "$@" --format json --no-cache >"$T/report.json" || return
	jq '[.processes[].sites[] | select(any(.frames[]; .function == "plugin_keeps" and .line == 3))
		| .allocations] | add // 0' "$T/report.json"
}

# said INPUT [OPTION...]: the text of a report, in one line
said() { "$SEEP" report "$@" --no-cache 2>&1 | tr -s ' \n' ' '; }

@test "dlopen of ./plugins/x.so, also after the program has gone elsewhere" {
	prepare
	in_start ./host open ./plugins/x.so cd /
	[[ $(named "$DIR") -eq 50 ]]
	# what the loader said stays what is told of the module
	[[ $(jq -r '.processes[0].modules[].path' "$T/report.json" | grep -c '^\./plugins/x\.so$') -eq 1 ]]
	[[ $(jq -r '.processes[0].start_dir' "$T/report.json") == "$(realpath "$W/start")" ]]
	[[ $(said "$DIR") != *"no names from"* ]]
	"$SEEP" export --format maps -o "$T/maps" "$DIR"
	grep -q " $(realpath "$W/start")/plugins/x.so\$" "$T/maps"
}

@test "a relative RPATH, and a relative LD_LIBRARY_PATH" {
	prepare
	in_start ./linked linked cd /
	[[ $(named "$DIR") -eq 50 ]]
	rm "$DIR"/*
	in_start env LD_LIBRARY_PATH=lib ./plain linked
	[[ $(named "$DIR") -ge 50 ]]
}

@test "loaded from another directory: found while it runs, named for --debug-dir when it has ended" {
	prepare
	mv "$W/start/plugins/x.so" "$W/other/plugins/x.so"
	(cd "$W/start" && LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR exec ./host cd ../other open plugins/x.so \
		sleep 60000 >"$T/out" 3>&-) &
	PIDS+=($!)
	answered ready
	[[ $(named $!) -eq 50 ]]
	[[ $(named "$DIR") -eq 50 ]]
	kill -KILL $!
	wait $! || true
	[[ $(named "$DIR") -eq 0 ]]
	text=$(said "$DIR")
	echo "$text"
	[[ $text == *"no names from $(realpath "$W/start")/plugins/x.so"* ]]
	[[ $text == *"loaded by a relative path"*"--debug-dir"* ]]
	[[ $(named "$DIR" --debug-dir "$W/other/plugins") -eq 50 ]]
	[[ $(named "$DIR" --debug-dir "$W/elsewhere") -eq 0 ]]
}

@test "another file of that name gives none, wherever it lies" {
	prepare
	in_start ./host open ./plugins/x.so
	sed 's/1000/2000/' "$BATS_FILE_TMPDIR/plugin.c" >"$T/plugin.c"
	"${CC:-gcc}" -O1 -g -shared -fPIC -Wl,--build-id -o "$W/start/plugins/x.so" "$T/plugin.c"
	cp "$W/start/plugins/x.so" "$W/elsewhere"
	[[ $(named "$DIR") -eq 0 ]]
	[[ $(said "$DIR") == *"no names from "*"plugins/x.so: the file there now has build-id"* ]]
	[[ $(named "$DIR" --debug-dir "$W/elsewhere") -eq 0 ]]
	[[ $(named "$DIR" --debug-dir "$BATS_FILE_TMPDIR") -eq 50 ]]
}

@test "nor does one that took its place while the program runs" {
	prepare
	(cd "$W/start" && LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR exec ./host open ./plugins/x.so \
		sleep 60000 >"$T/out" 3>&-) &
	PIDS+=($!)
	answered ready
	[[ $(named $!) -eq 50 ]]
	rm "$W/start/plugins/x.so"
	[[ $(named $!) -eq 0 ]]
	[[ $(said $!) == *"no names from "*"plugins/x.so: No such file"* ]]
	sed 's/1000/2000/' "$BATS_FILE_TMPDIR/plugin.c" >"$T/plugin.c"
	"${CC:-gcc}" -O1 -g -shared -fPIC -Wl,--build-id -o "$W/start/plugins/x.so" "$T/plugin.c"
	[[ $(named $!) -eq 0 ]]
	[[ $(said $!) == *"the file there now has build-id"* ]]
}

@test "the same library elsewhere in the session lends its names, by its build-id" {
	prepare
	cp "$W/start/plugins/x.so" "$W/elsewhere/y.so"
	mv "$W/start/plugins/x.so" "$W/other/plugins/x.so"
	in_start ./host cd ../other open plugins/x.so
	[[ $(named "$DIR") -eq 0 ]]
	in_start ./host open "$W/elsewhere/y.so"
	rm "$W/other/plugins/x.so"
	[[ $(named "$DIR") -eq 100 ]]
}

@test "a forked child knows where its parent started" {
	prepare
	in_start ./host open ./plugins/x.so cd / fork
	[[ $(named "$DIR") -eq 200 ]]
	[[ $(jq '[.processes[].start_dir] | unique | length' "$T/report.json") -eq 1 ]]
}

@test "a recording has the names, and reads the same where the files are no more" {
	prepare
	(cd "$W/start" && SEEP_DIR=$DIR "$SEEP" record -q -o "$T/r.data" -- sh -c \
		'./host open ./plugins/x.so cd /; cd ../other; mv ../start/plugins/x.so plugins; ../start/host open ./plugins/x.so')
	mkdir "$T/far"
	mv "$W" "$T/far/gone"
	[[ $(named "$T/r.data") -eq 100 ]]
	[[ $(said "$T/r.data") != *"no names from"* ]]
}

@test "record looks where a module lies while the program runs" {
	prepare
	mv "$W/start/plugins/x.so" "$W/other/plugins/x.so"
	(cd "$W/start" && SEEP_DIR=$DIR "$SEEP" record -q -o "$T/r.data" ./host cd ../other open ./plugins/x.so sleep 1500)
	[[ $(named "$T/r.data") -eq 50 ]]
}

@test "a snapshot keeps the directory" {
	prepare
	(cd "$W/start" && LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR exec ./host open ./plugins/x.so cd / \
		sleep 60000 >"$T/out" 3>&-) &
	PIDS+=($!)
	answered ready
	"$SEEP" snapshot -o "$T/s.seep-snap" $!
	kill -KILL $!
	[[ $(named "$T/s.seep-snap") -eq 50 ]]
}

@test "without a known directory the module is named as the loader had it" {
	prepare
	# a working directory whose path has more than 1,023 bytes
	deep=$W/start
	for _ in 1 2 3 4 5; do deep=$deep/$(printf '%0200d' 0); done
	mkdir -p "$deep/plugins"
	cp "$W/start/plugins/x.so" "$deep/plugins"
	(cd "$deep" && traced_well "$W/start/host" open ./plugins/x.so)
	[[ $(named "$DIR") -eq 0 ]]
	[[ $(jq -r '.processes[0].start_dir' "$T/report.json") == null ]]
	text=$(said "$DIR")
	[[ $text == *"no names from ./plugins/x.so"*"--debug-dir"* ]]
	[[ $(named "$DIR" --debug-dir "$W/start/plugins") -eq 50 ]]
}

@test "a program that the loader is asked to run (ld.so PROGRAM) has its own names, and not those of the loader" {
	local loader path
	cat >"$T/app.c" <<-'END'
		#include <stdlib.h>
		__attribute__((noinline)) static void *app_keeps(size_t n) {
			char *volatile p = malloc(n); return p; }
		int main(void) { for (int i = 0; i < 50; i++) app_keeps(1000); return 0; }
	END
	cc -g -O1 -o "$T/app" "$T/app.c"
	loader=$(readelf -lW "$T/app" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
	cd "$T"
	for path in ./app "$T/app" "../${T##*/}/app"; do
		"$SEEP" record -q --force --no-symbols -o "$T/r.seep" -- "$loader" "$path"
		"$SEEP" report "$T/r.seep" --format json >"$T/report.json" 2>"$T/err"
		[[ ! -s $T/err ]]
		[[ $(jq -r '.processes[0].exe | sub("/[.][.]/[^/]*/"; "/")' "$T/report.json") == "$T/app" ]]
		jq -e 'any(.processes[0].sites[]; .live_blocks == 50 and .frames[0].function == "app_keeps")' "$T/report.json"
	done
}
