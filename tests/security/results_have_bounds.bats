#!/usr/bin/env bats
# results_have_bounds - a few MiB of shared stacks do not become GiB of output: the output is refused before the first byte or cut off, and seep says so.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# deep SITES DEPTH: $T/deep.seg, a segment whose stacks share one chain of frames
deep() {
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" true
	"$PYTHON" - "$(find "$DIR" -name '*.seg')" "$T/deep.seg" "$1" "$2" <<-'PY'
	import struct, sys
	sites, depth = int(sys.argv[3]), int(sys.argv[4])
	# docs/FORMAT.md: nodes 3, inners 4, sites 5, ledger 6; rows count from 1
	tables = [
	    (3, 16, depth, b"".join(struct.pack("<QII", 4096 * i, i - 1, 0) for i in range(1, depth + 1))),
	    (4, 64, sites, b"".join(struct.pack("<QQQQQQIIQ", 64 * i, 0, 0, 0, 0, 0, 1, 0, 1) for i in range(1, sites + 1))),
	    (5, 16, sites, b"".join(struct.pack("<IIIBBH", depth, i, 0, 1, 1, 0) for i in range(1, sites + 1))),
	    (6, 64, sites, struct.pack("<QQQQqqIIII", 1, 8, 0, 0, 0, 0, 0, 0, 8, 0) * sites)]
	head = bytearray(open(sys.argv[1], "rb").read(8192))
	struct.pack_into("<QII", head, 208, 8192, 4, 4)
	struct.pack_into("<Q", head, 224, 0)
	at, directory, rows = 8192 + 4 * 32, b"", b""
	for kind, size, count, data in tables:
	    assert len(data) == size * count
	    directory += struct.pack("<IIIIQQ", kind, 0, size, count, 1, at)
	    at, rows = at + len(data), rows + data
	open(sys.argv[2], "wb").write(head + directory + rows)
	PY
	rm -f "$DIR"/*.seg
}

@test "JSON of more than --max-output is refused before the first byte, with its size and the way out" {
	deep 700 700
	[[ $(stat -c %s "$T/deep.seg") -lt 200000 ]]
	complains 3 "$SEEP" report "$T/deep.seg" --format json --no-cache --max-output 10MiB
	grep -E 'about [0-9.]+ [MG]iB of JSON.*--frames shared.*--max-output' "$T/complaint"
	complains 3 "$SEEP" export "$T/deep.seg" --format json --no-cache --max-output 10MiB
	echo precious >"$T/result"
	complains 3 "$SEEP" report "$T/deep.seg" --format json --no-cache --max-output 10MiB -o "$T/result"
	[[ $(<"$T/result") == precious ]]
	"$SEEP" report "$T/deep.seg" --format json --no-cache --frames shared --max-output 10MiB >"$T/shared"
	[[ $(stat -c %s "$T/shared") -lt 10000000 ]]
}

@test "the estimated size is close to the real one" {
	deep 300 500
	"$SEEP" report "$T/deep.seg" --format json --no-cache >"$T/full"
	local size
	size=$(stat -c %s "$T/full")
	complains 3 "$SEEP" report "$T/deep.seg" --format json --no-cache --max-output $((size / 2))
	"$SEEP" report "$T/deep.seg" --format json --no-cache --max-output $((size * 2)) | cmp - "$T/full"
}

# bats test_tags=full
@test "the default limit is 2 GiB" {
	deep 6000 4000
	complains 3 timeout 60 "$SEEP" report "$T/deep.seg" --format json --no-cache
	grep -E 'about [2-9](\.[0-9]+)? GiB of JSON' "$T/complaint"
}

@test "every other format ends at the limit, and an existing file is kept" {
	local format n=0
	deep 60 200
	for format in $("$SEEP" export --list | awk '{ print $1 }' | grep -E '^[a-z0-9]+$'); do
		case $format in
		json | seep) continue ;; # before the first byte; a copy
		esac
		echo precious >"$T/result"
		"$SEEP" export "$T/deep.seg" --format "$format" --full --no-cache >"$T/whole" 2>/dev/null || continue
		[[ $(stat -c %s "$T/whole") -gt 2000 ]] || continue
		complains 3 "$SEEP" export "$T/deep.seg" --format "$format" --full --no-cache --max-output 1000 \
			--force -o "$T/result" || { echo "$format"; false; }
		[[ $(<"$T/result") == precious ]]
		n=$((n + 1))
	done
	[[ $n -ge 6 ]]
	[[ $(find "$T" -name '.result*' | wc -l) -eq 0 ]]
	local got=0
	"$SEEP" report "$T/deep.seg" --no-cache --table --max-output 100 >"$T/said" 2>"$T/complaint" || got=$?
	[[ $got -eq 3 && $(stat -c %s "$T/said") -le 100 && $(wc -l <"$T/complaint") -eq 1 ]]
}

@test "the page of view ends at the bound and leaves nothing, with -o and without" {
	deep 60 200
	echo precious >"$T/result"
	mkdir "$T/tmp"
	complains 3 "$SEEP" view "$T/deep.seg" --no-open --full --no-cache --max-output 1000 -o "$T/result"
	[[ $(<"$T/result") == precious ]]
	complains 3 env TMPDIR="$T/tmp" "$SEEP" view "$T/deep.seg" --no-open --full --no-cache --max-output 1000
	grep -E 'seep-view\..*more than 1000 bytes.*--max-output' "$T/complaint"
	[[ -z $(ls -A "$T/tmp") ]]
	TMPDIR="$T/tmp" "$SEEP" view "$T/deep.seg" --no-open --full --no-cache --max-output 100MiB >"$T/path"
	[[ -s $(<"$T/path") ]]
}

@test "a page of view whose disk is full is not left behind" {
	deep 60 200
	mkdir "$T/tmp"
	complains 3 env TMPDIR="$T/tmp" bash -c 'ulimit -f 8; trap "" XFSZ; exec "$@"' - \
		"$SEEP" view "$T/deep.seg" --no-open --full --no-cache
	[[ -z $(ls -A "$T/tmp") ]]
}
