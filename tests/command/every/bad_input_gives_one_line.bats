#!/usr/bin/env bats
# bad_input_gives_one_line - unreadable input gives one line on stderr and the right exit status.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

a_segment() {
	traced_well "$HOSTS/family"
	SEGMENT=$(find "$DIR" -type f ! -name '*.ctl' | head -n 1)
	[[ -n $SEGMENT ]]
}

@test "unknown commands and options are usage errors" {
	local words
	for words in "frobnicate" "report --frobnicate" "ls --frobnicate" \
		"report --format frob $DIR" "snapshot" "on" "off" "snapshot x" \
		"on x" "off 12x" "report a b"; do
		# shellcheck disable=SC2086 # several words
		complains 2 "$SEEP" $words
	done
}

# says WORDS: the line of the last complaint has them
says() { grep -qF -- "$1" "$T/complaint" || { cat "$T/complaint" && false; }; }

@test "what a line may have meant is said" {
	complains 2 "$SEEP" version
	says 'did you mean --version?'
	complains 2 "$SEEP" -V
	says 'did you mean --version?'
	complains 2 "$SEEP" --verison
	says 'did you mean --version?'
	complains 2 "$SEEP" report --leaks "$T/x"
	says 'there is a command: seep leaks'
	complains 2 "$SEEP" report --peek "$T/x"
	says 'did you mean --peak?'
	complains 2 "$SEEP" report --growth 60-600 "$T/x"
	says 'has two dots, as in --growth 10..60'
	complains 2 "$SEEP" report --growth "$T/x" 0..1
	says 'has two dots, as in --growth 10..60'
	complains 2 "$SEEP" who 1234 0x55d0c8a012a0
	says 'the address comes first: seep who 0x55d0c8a012a0 1234'
	complains 2 "$SEEP" ls 1234
	says 'seep report 1234'
}

@test "an argument without its command is answered with the command" {
	local line words meaning
	while IFS=: read -r words meaning; do
		# shellcheck disable=SC2086 # several words
		complains 2 "$SEEP" $words
		says "$meaning"
	done <<-END
		1234:seep report 1234
		$SEEP:to record a program: seep record $SEEP
		$T:to see it: seep report $T
	END
	complains 127 "$SEEP" record --leaks 5m true
	says '--leaks=10m'
}

@test "an input that is packed, a pipe, or a name of a process is called so" {
	echo x | gzip >"$T/x.gz"
	printf '\x28\xb5\x2f\xfd0000' >"$T/x.zst"
	complains 3 "$SEEP" report "$T/x.gz"
	says "compressed; unpack it first: gunzip $T/x.gz"
	complains 3 "$SEEP" report "$T/x.zst"
	says 'unzstd'
	mkfifo "$T/pipe"
	complains 3 "$SEEP" report "$T/pipe"
	says 'a pipe or a device'
	(cd "$T" && complains 3 "$SEEP" report - && says 'standard input')
	(cd "$T" && complains 3 "$SEEP" leaks redis-server && says 'no PID (seep ls')
}

@test "an empty argument, as of a variable that is not set, is a usage error; those of CMD are its own" {
	local command
	for command in report leaks check export dump who replay snapshot on off doctor ls top watch serve record; do
		complains 2 "$SEEP" "$command" ''
		says "seep: $command: an argument is empty, as of a variable that is not set"
	done
	complains 2 "$SEEP" diff "$T" ''
	[[ $("$SEEP" record -q -o "$T/r.seep" -- printf '<%s>' '' a '') == '<><a><>' ]]
}

@test "a missing value of an option is a usage error" {
	complains 2 "$SEEP" report --format
	complains 2 "$SEEP" report -o
}

@test "a missing file is an input error" {
	complains 3 "$SEEP" report "$T/missing"
	complains 3 "$SEEP" report "$T/missing" --format json
	(cd "$T" && complains 3 "$SEEP" report)
}

@test "an empty, a foreign and a short file are input errors" {
	: >"$T/empty"
	head -c 100000 /dev/urandom >"$T/random"
	head -c 100 /dev/zero >"$T/zeros"
	local file
	for file in "$T/empty" "$T/random" "$T/zeros" /bin/sh /dev/null \
		"$repo/tests/lib/ledger.h"; do
		complains 3 "$SEEP" report "$file"
	done
}

@test "a truncated segment is an input error, or read with a warning" {
	a_segment
	local cut got
	for cut in 1 7 8 100 4095 4096 8191 8192 8193 20000 1060000; do
		head -c "$cut" "$SEGMENT" >"$T/cut"
		got=0
		timeout 30 "$SEEP" report "$T/cut" >"$T/said" 2>"$T/complaint" ||
			got=$?
		echo "cut at $cut: $got: $(cat "$T/complaint")"
		[[ $got -eq 0 || $got -eq 3 ]]
		[[ $(wc -l <"$T/complaint") -eq 1 ]]
		grep -q '^seep: ' "$T/complaint"
	done
}

@test "a directory without segments and an unreadable file are input errors" {
	mkdir "$T/none"
	complains 3 "$SEEP" report "$T/none"
	a_segment
	drop_privileges # root may read everything
	chmod 000 "$SEGMENT"
	complains 3 "${AS[@]}" "$SEEP" report "$SEGMENT"
}

@test "a directory of other files has nothing to report and is not called damaged" {
	mkdir "$T/others"
	echo hello >"$T/others/note"
	complains 3 "$SEEP" report "$T/others/"
	says "$T/others/: nothing to report: there is no segment and no recording in it; $T/others/note left out"
	! grep -q damaged "$T/complaint"
}

@test "a damaged segment never crashes the reader" {
	a_segment
	local i
	for i in $(seq 60); do # mostly holes: copied as such
		cp --sparse=always "$SEGMENT" "$T/damaged.$i"
		chmod 600 "$T/damaged.$i"
	done
	"$PYTHON" - "$T"/damaged.* <<-'PY'
	import random, sys
	random.seed(7)
	for path in sys.argv[1:]:
	    with open(path, "r+b") as file:
	        for _ in range(random.choice((1, 3, 20))):
	            file.seek(random.randrange(random.choice((2048, 16384, 1200000))) & ~7)
	            file.write(random.choice((
	                b"\xff" * 8, b"\0" * 8, random.randbytes(8),
	                (1 << 31).to_bytes(8, "little"))))
	PY
	local file got
	for file in "$T"/damaged.*; do
		got=0
		timeout 10 "$SEEP" report "$file" --format json \
			>"$T/said" 2>"$T/complaint" || got=$?
		if [[ $got -ne 0 && $got -ne 3 ]]; then
			echo "$file: status $got"
			return 1
		fi
		[[ $got -ne 0 ]] || "$PYTHON" -m json.tool "$T/said" >/dev/null
	done
}

@test "a process that is not traced is reported as such and not disturbed" {
	untraced_waiting
	complains 3 "$SEEP" report "$HOST"
	complains 3 "$SEEP" snapshot "$HOST" -o "$T/snap"
	complains 3 "$SEEP" on "$HOST"
	complains 3 "$SEEP" off "$HOST"
	[[ ! -e $T/snap ]]
	ends_well
}

@test "a process of another user is reported as such" {
	drop_privileges
	[[ $(stat -c %u /proc/1) -eq 0 ]] || skip "pid 1 is not root's"
	local word
	for word in report on off; do
		complains 3 "${AS[@]}" "$SEEP" "$word" 1
	done
}

@test "a pid without a process is an input error" {
	local nobody=4194305 # above the highest possible pid
	complains 3 "$SEEP" report "$nobody"
	complains 3 "$SEEP" snapshot "$nobody" -o "$T/snap"
	complains 3 "$SEEP" on "$nobody"
	complains 3 "$SEEP" off "$nobody"
}

@test "output that cannot be written is an error" {
	a_segment
	complains 3 "$SEEP" report "$SEGMENT" -o "$T/no/such/file"
	complains 3 "$SEEP" report "$SEGMENT" --format json -o "$T"
}

@test "a full disk under the report is noticed" {
	[[ -c /dev/full ]]
	a_segment
	local got=0
	"$SEEP" report "$SEGMENT" --format json >/dev/full 2>"$T/complaint" || got=$?
	cat "$T/complaint"
	[[ $got -ne 0 && $(wc -l <"$T/complaint") -eq 1 ]]
}

@test "a reader that closes the pipe causes no error message" {
	a_segment
	"$SEEP" report "$SEGMENT" --format json 2>"$T/complaint" | head -c 10 >/dev/null
	[[ ! -s $T/complaint ]]
}

@test "digits are a pid, ./digits is a file" {
	a_segment
	cp "$SEGMENT" "$T/4194305"
	cd "$T"
	complains 3 "$SEEP" report 4194305
	"$SEEP" report ./4194305 >"$T/said"
	[[ -s $T/said ]]
}

@test "an option that has no effect is said" {
	local golden=$repo/tests/golden/inputs/old.seep
	"$SEEP" report "$golden" --table --top-down >"$T/out" 2>"$T/err"
	grep -q 'report: --table is no tree; --top-down has no effect' "$T/err"
	"$SEEP" diff "$golden" "$golden" --table --top-down >"$T/out" 2>"$T/err"
	grep -q 'diff: --table is no tree; --top-down has no effect' "$T/err"
	"$SEEP" report "$golden" --format json --site 5 >"$T/out" 2>"$T/err"
	grep -q 'report: --site is for text, and has no effect' "$T/err"
	"$SEEP" report "$golden" --lifetimes --sort calls >"$T/out" 2>"$T/err" || true
	grep -q 'report: --lifetimes is a table of its own, most frees first; --sort has no effect' "$T/err"
	"$SEEP" report "$golden" --format json --top 5 >"$T/out" 2>"$T/err"
	grep -q 'report: --top is for text, and has no effect: json has all sites' "$T/err"
	"$SEEP" diff "$golden" "$golden" --format json --sort calls >"$T/out" 2>"$T/err"
	grep -q 'diff: --sort is for text' "$T/err"
	"$SEEP" view "$golden" --no-open --table -o "$T/page.html" >"$T/out" 2>"$T/err"
	grep -q 'view: --table is for text, and has no effect: the page has all sites' "$T/err"
}
