#!/usr/bin/env bats
# figures_that_cannot_be_are_told - I15: the reader checks what it is given.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# spoil FIELD VALUE: in the first ledger row in use of the only segment
spoil() {
	local segment
	segment=$(find "$DIR" -name '*.seg')
	cp --sparse=always "$segment" "$T/spoilt.seg"
	chmod 600 "$T/spoilt.seg"
	"$PYTHON" - "$T/spoilt.seg" "$@" <<-'PY'
	import struct, sys
	path, field, value = sys.argv[1], sys.argv[2], int(sys.argv[3])
	at = {"allocations": 0, "allocated_bytes": 8, "frees": 16, "freed_bytes": 24}
	with open(path, "r+b") as f:
	    header = f.read(8192)
	    offset, = struct.unpack_from("<Q", header, 208)
	    used, = struct.unpack_from("<I", header, 220)
	    f.seek(offset)
	    entries = f.read(32 * used)
	    for i in range(used):
	        kind, owner, row, count, first, where = struct.unpack_from(
	            "<IIIIQQ", entries, 32 * i)
	        for k in range(count if kind == 6 else 0):
	            f.seek(where + k * row)
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

@test "I15 more frees than allocations: shown, and told in text and JSON" {
	traced_well "$HOSTS/family"
	spoil frees 123456789
	report "$T/spoilt.seg"
	[[ $(from_report 'sum("do not agree" in n and "123456789 frees" in n for n in d["notes"])') -eq 1 ]]
	[[ $(from_report 'min(s["live_blocks"] for s in p[0]["sites"])') -eq 0 ]]
	"$SEEP" report "$T/spoilt.seg" >"$T/text" 2>"$T/notes"
	cat "$T/text" "$T/notes" | tr '\n' ' ' | grep -q 'do not agree'
}

@test "I15 freed bytes that were never allocated are told" {
	traced_well "$HOSTS/family"
	spoil freed_bytes 99999999999
	report "$T/spoilt.seg"
	[[ $(from_report 'sum("99999999999" in n for n in d["notes"])') -eq 1 ]]
}
