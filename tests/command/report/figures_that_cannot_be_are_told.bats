#!/usr/bin/env bats
# figures_that_cannot_be_are_told - I15: the reader checks its input and reports impossible figures.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# spoil FIELD VALUE: in the first ledger row in use of the only segment; KIND
# and AT: in rows of another kind, in use where that word is not 0
spoil() {
	local segment
	segment=$(find "$DIR" -name '*.seg')
	cp --sparse=always "$segment" "$T/spoilt.seg"
	chmod 600 "$T/spoilt.seg"
	"$PYTHON" - "$T/spoilt.seg" "$@" "${KIND:-6}" "${AT:-0}" <<-'PY'
	import struct, sys
	path, field, value = sys.argv[1], sys.argv[2], int(sys.argv[3])
	wanted, used_at = int(sys.argv[4]), int(sys.argv[5])
	at = {"allocations": 0, "allocated_bytes": 8, "frees": 16, "freed_bytes": 24,
	      "blocks": 88}
	with open(path, "r+b") as f:
	    header = f.read(8192)
	    offset, = struct.unpack_from("<Q", header, 208)
	    used, = struct.unpack_from("<I", header, 220)
	    f.seek(offset)
	    entries = f.read(32 * used)
	    for i in range(used):
	        kind, owner, row, count, first, where = struct.unpack_from(
	            "<IIIIQQ", entries, 32 * i)
	        for k in range(count if kind == wanted else 0):
	            f.seek(where + k * row + used_at)
	            if struct.unpack("<Q", f.read(8))[0] == 0:
	                continue
	            f.seek(where + k * row + at[field])
	            f.write(struct.pack("<Q", value))
	            sys.exit(0)
	sys.exit("no ledger row")
	PY
}

@test "I15 a sound segment gives no note" {
	traced_well "$HOSTS/family"
	report
	[[ $(from_report 'sum("do not agree" in n for n in d["notes"])') -eq 0 ]]
}

@test "I15 more frees than allocations are shown, with a note in text and JSON" {
	traced_well "$HOSTS/family"
	spoil frees 123456789
	report "$T/spoilt.seg"
	[[ $(from_report 'sum("do not agree" in n and "123456789 frees" in n for n in d["notes"])') -eq 1 ]]
	[[ $(from_report 'min(s["live_blocks"] for s in p[0]["sites"])') -eq 0 ]]
	"$SEEP" report "$T/spoilt.seg" >"$T/text" 2>"$T/notes"
	cat "$T/text" "$T/notes" | tr '\n' ' ' | grep -q 'do not agree'
}

@test "I15 freed bytes that were never allocated give a note" {
	traced_well "$HOSTS/family"
	spoil freed_bytes 99999999999
	report "$T/spoilt.seg"
	[[ $(from_report 'sum("99999999999" in n for n in d["notes"])') -eq 1 ]]
}

# ---- the live map against the ledger ----

@test "I15 the live map of a host that has ended agrees with its ledger" {
	traced_well "$HOSTS/family"
	report
	[[ $(from_report 'p[0]["live_map"]') == agrees ]]
	rm -r "${DIR:?}"/*
	SEEP_SAMPLE=512 traced_well "$HOSTS/family"
	report
	[[ $(from_report 'p[0]["live_map"]') == agrees ]]
	"$SEEP" record -q -o "$T/r.seep" "$HOSTS/family" >/dev/null
	report "$T/r.seep"
	[[ $(from_report 'p[0]["live_map"]') == agrees ]]
}

# a site of the ledger without one that lives: what the destructor has counted
@test "I15 live blocks that the ledger does not have give a note" {
	traced_well "$HOSTS/family"
	KIND=9 AT=88 spoil blocks 4321
	report "$T/spoilt.seg"
	[[ $(from_report 'p[0]["live_map"]') == disagrees ]]
	[[ $(from_report 'sum("4321 blocks in the live map at its end" in n for n in d["notes"])') -eq 1 ]]
}

# a host that has worked and waits for a line
quiet_host() {
	mkfifo "$T/lines"
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$HOSTS/toggled" \
		<"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	echo >&9
	for _ in $(seq 200); do
		! grep -q first "$T/out" || break
		sleep 0.05
	done
}

# forget N: N cells of the host's live map are wiped, in its memory
forget() {
	"$PYTHON" - "$HOST" "$(find "$DIR" -name '*.seg')" "$1" <<-'PY'
	import struct, sys
	pid, path, wanted = sys.argv[1], sys.argv[2], int(sys.argv[3])
	with open(path, "rb") as f:
	    root, = struct.unpack_from("<Q", f.read(8192), 248)
	def words(mem, at, n):
	    mem.seek(at)
	    return struct.unpack("<%dQ" % n, mem.read(8 * n))
	with open("/proc/%s/mem" % pid, "r+b", buffering=0) as mem:
	    for mid in filter(None, words(mem, root, 1 << 12)):
	        for leaf in filter(None, words(mem, mid, 1 << 15)):
	            for i, cell in enumerate(words(mem, leaf, 1 << 15)):
	                if cell >> 38 and wanted:
	                    mem.seek(leaf + 8 * i)
	                    mem.write(bytes(8))
	                    wanted -= 1
	sys.exit(wanted)
	PY
}

@test "I15 the live map of a running host is compared with its ledger" {
	quiet_host
	report "$HOST"
	[[ $(from_report 'p[0]["live_map"]') != None ]] || skip "its memory may not be read here"
	[[ $(from_report 'p[0]["live_map"], p[0]["totals"]["live_blocks"]') == "('agrees', 1000)" ]]
	report "$DIR"
	[[ $(from_report 'p[0]["live_map"]') == agrees ]]
	forget 3
	report "$HOST"
	[[ $(from_report 'p[0]["live_map"]') == disagrees ]]
	[[ $(from_report 'sum("do not agree" in n and "live map while it ran" in n for n in d["notes"])') -eq 1 ]]
	"$SEEP" report "$HOST" >"$T/text" 2>"$T/notes"
	cat "$T/text" "$T/notes" | tr '\n' ' ' | grep -q 'do not agree'
	kill -0 "$HOST"
	exec 9>&-
}

@test "I15 the live map of a busy host agrees with its ledger, without false notes" {
	local mode i
	for mode in "" 4096; do
		SEEP_SAMPLE=$mode SEEP_DIR=$DIR LD_PRELOAD=$COLLECTOR \
			"$HOSTS/tempest" "$(full_or 20 4)" >"$T/out" 2>&1 3>&- &
		HOST=$!
		PIDS+=("$HOST")
		for _ in $(seq 100); do
			! "$SEEP" report "$HOST" >/dev/null 2>&1 || break
			sleep 0.05
		done
		for i in $(seq "$(full_or 40 8)"); do
			report "$HOST" || break
			[[ $(from_report 'p[0]["live_map"]') != disagrees ]]
			[[ $(from_report 'sum("do not agree" in n for n in d["notes"])') -eq 0 ]]
		done
		[[ $i -gt 2 ]]
		wait "$HOST"
		rm -rf "${DIR:?}"/*
	done
}
