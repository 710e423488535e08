#!/usr/bin/env bats
# names_take_bounded_time - files that never answer, never end or are very large cost only their own names.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang or use memory without bound
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# a recording of $T/w/program, without names
recorded_program() {
	mkdir "$T/w"
	cp "$HOSTS/inlined" "$T/w/program"
	cp "$T/w/program" "$T/program"
	# under another name: the report asks whether it is one of that file
	"$SEEP" record -q --no-symbols -o "$T/seep.data" "$BASH" -c "exec -a other '$T/w/program'"
}

# silently WHAT COMMAND...: in a namespace where $T/w does not answer WHAT
silently() {
	local what=$1
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m "$BASH" -c '
		"$1" "$2" "$3/w" "$3/program" "$4" >"$3/ready" 2>&1 3>&- &
		server=$!
		for _ in $(seq 100); do grep -q READY "$3/ready" && break; sleep 0.05; done
		shift 4
		status=0
		"$@" || status=$?
		kill -KILL "$server"
		exit $status' - "$PYTHON" "$LIB/fuse_silent.py" "$T" "$what" "$@"
}

@test "a file system that does not answer: lookup, open, read, the rest of a file" {
	[[ $(id -u) -eq 0 && -c /dev/fuse ]] || skip "needs root and FUSE"
	recorded_program
	for what in $(full_or 'lookup open read rest' 'open rest'); do
		begin=$SECONDS
		silently "$what" timeout 40 "$SEEP" report --no-cache --patience 1 --format json "$T/seep.data" \
			>"$T/report.json" 2>"$T/report.err" || { echo "$what: $?"; cat "$T/ready" "$T/report.err"; false; }
		grep READY "$T/ready"
		echo "$what: $((SECONDS - begin)) s"
		[[ $((SECONDS - begin)) -lt 20 ]]
		jq -c '.names_missing, .notes' "$T/report.json"
		jq -e '.names_missing.late_frames > 0' "$T/report.json"
		jq -e 'any(.notes[]; contains("--patience"))' "$T/report.json"
	done
}

@test "a reader of the output does not wait for a process that was left behind" {
	[[ $(id -u) -eq 0 && -c /dev/fuse ]] || skip "needs root and FUSE"
	recorded_program
	# shellcheck disable=SC2016
	silently open "$BASH" -c '
		begin=$SECONDS
		timeout 40 "$@" | cat >"$T/piped"
		[[ $((SECONDS - begin)) -lt 20 ]]' - "$SEEP" report --no-cache --patience 1 "$T/seep.data"
}

@test "debug information of three terabytes of nothing is not summed up" {
	mkdir -p "$T/w"
	g++ -std=c++17 -O2 -g -Wl,--build-id=none -o "$T/w/program" "$repo/tests/hosts/inlined.cpp"
	objcopy --only-keep-debug "$T/w/program" "$T/w/program.debug"
	strip "$T/w/program"
	(cd "$T/w" && objcopy --add-gnu-debuglink=program.debug program)
	truncate -s 3T "$T/w/program.debug" 2>/dev/null || truncate -s 500G "$T/w/program.debug" ||
		skip "no sparse files of 50 GiB here, nor of 3 TB"
	"$SEEP" record -q --no-symbols -o "$T/seep.data" "$T/w/program"
	begin=$SECONDS
	timeout 50 "$SEEP" report --no-cache --format json "$T/seep.data" >"$T/report.json"
	echo "$((SECONDS - begin)) s"
	[[ $((SECONDS - begin)) -lt 15 ]]
	jq -e 'any(.notes[]; contains("stripped"))' "$T/report.json"
}

# made: the name of the function that the made code has
made() {
	timeout 50 "$SEEP" report --no-cache --format json "$DIR" >"$T/report.json"
	jq -r '.processes[].sites[] | select(.live_bytes == 123450) | .frames[0].function' "$T/report.json"
}

@test "a map whose lines all overlap is read in linear time, the last line counts" {
	traced_well "$HOSTS/jit"
	map=/tmp/perf-$(sed -n 's/^PID //p' "$T/out").map
	"$PYTHON" - "$map" <<-'END'
		import sys
		with open(sys.argv[1]) as f:
		    own = f.read()
		with open(sys.argv[1], "w") as f:
		    for i in range(500000):
		        f.write(f"1000 7ffffffff000 x{i}\n")
		    f.write(own)
	END
	begin=$SECONDS
	[[ $(made) == com.example.Made.run ]]
	[[ $((SECONDS - begin)) -lt 15 ]]
	rm "$map"
	jq -e 'all(.notes[]; contains("only its end was read") | not)' "$T/report.json"
}

# filler lines|bytes: more than is read of a map
filler() {
	if [[ $1 == lines ]]; then
		yes '1 1 x' | head -n 2000001
	else
		yes "1 1 $(printf '%04000d' 0)" | head -c $((65 << 20))
		echo
	fi
}

@test "of a map with too many bytes or lines the end is read, and the report says what is missing" {
	traced_well "$HOSTS/jit"
	map=/tmp/perf-$(sed -n 's/^PID //p' "$T/out").map
	cp "$map" "$T/map"
	for kind in lines bytes; do
		(filler $kind && cat "$T/map") >"$map"
		[[ $(made) == com.example.Made.run ]]
		(cat "$T/map" && filler $kind) >"$map"
		[[ $(made) == null ]]
		jq -e 'any(.notes[]; contains("only its end was read"))' "$T/report.json"
	done
	# a hole of terabytes
	truncate -s 100G "$map"
	[[ $(made) == null ]]
	rm "$map"
}

@test "all commands that look up names have --patience" {
	for command in report diff check export view; do
		"$SEEP" "$command" --help | grep -q -- --patience
	done
}
