#!/usr/bin/env bats
# odd_recordings_are_refused_or_repaired - T87, T89, T91: recordings that are cut, joined, swapped or huge.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# judged FILE...: 0 or 3, soon, in little memory, at most a few lines
judged() {
	local file got
	for file; do
		got=0
		(ulimit -v 2000000 && timeout 20 "$SEEP" report "$file" --format json) \
			>"$T/said" 2>"$T/complaint" || got=$?
		if [[ $got -ne 0 && $got -ne 3 ]]; then
			echo "$file: status $got"
			head -n 3 "$T/complaint"
			return 1
		fi
		[[ $got -eq 0 || -s $T/complaint ]]
		[[ $got -ne 0 ]] || "$PYTHON" -m json.tool "$T/said" >/dev/null
	done
}

# every byte of three recordings: tests/unit/test_prefix.c
@test "T87 prefixes of a recording: no crash, and the command says that it is cut" {
	record -q -o "$T/r.seep" "$HOSTS/family"
	local size step at
	size=$(stat -c %s "$T/r.seep")
	step=$((size / $(full_or 2000 40) + 1))
	for ((at = 0; at < size; at += step)); do
		head -c "$at" "$T/r.seep" >"$T/cut"
		judged "$T/cut"
		[[ -s $T/complaint ]] || grep -q '"complete":false' "$T/said"
	done
}

@test "T89 two recordings in one file, entries of two writers in turn" {
	record -q -o "$T/a.seep" "$HOSTS/family"
	record -q -o "$T/b.seep" "$HOSTS/peak"
	cat "$T/a.seep" "$T/b.seep" >"$T/joined"
	"$PYTHON" - "$T" <<-'PY'
	import struct, sys
	def entries(data):
	    at = 32
	    while at + 24 <= len(data):
	        length = struct.unpack_from("<Q", data, at + 8)[0]
	        end = at + 24 + (length + 7) // 8 * 8
	        yield data[at:end]
	        at = end
	a, b = (open(sys.argv[1] + n, "rb").read() for n in ("/a.seep", "/b.seep"))
	x, y = list(entries(a)), list(entries(b))
	mixed = [e for pair in zip(x, y) for e in pair]
	open(sys.argv[1] + "/mixed", "wb").write(a[:32] + b"".join(mixed))
	PY
	judged "$T/joined" "$T/mixed"
}

@test "T89 the other byte order, another version, sizes of 2^64, stacks in a circle" {
	traced_well "$HOSTS/family"
	local segment
	segment=$(find "$DIR" -name '*.seg')
	"$PYTHON" - "$segment" "$T" <<-'PY'
	import struct, sys
	def copy(name):
	    import subprocess
	    path = sys.argv[2] + "/" + name
	    subprocess.run(["cp", "--sparse=always", sys.argv[1], path], check=True)
	    subprocess.run(["chmod", "600", path], check=True)
	    return open(path, "r+b")
	def tables(f):
	    f.seek(0)
	    h = f.read(8192)
	    offset, = struct.unpack_from("<Q", h, 208)
	    used, = struct.unpack_from("<I", h, 220)
	    f.seek(offset)
	    d = f.read(32 * used)
	    return [struct.unpack_from("<IIIIQQ", d, 32 * i) for i in range(used)]
	with copy("swapped") as f:
	    f.write(f.read(8)[::-1])
	    f.seek(0)
	    f.write(open(sys.argv[1], "rb").read(8)[::-1])
	with copy("version") as f:
	    f.seek(8); f.write(struct.pack("<I", 99))
	with copy("huge") as f:
	    for kind, owner, row, count, first, where in tables(f):
	        for k in range(min(count, 64) if kind == 6 else 0):
	            f.seek(where + k * row)
	            f.write(struct.pack("<4Q", 2**64 - 1, 2**64 - 1, 2**63, 2**63))
	with copy("circle") as f:
	    for kind, owner, row, count, first, where in tables(f):
	        for k in range(count if kind == 3 else 0):
	            f.seek(where + k * row + 8)
	            f.write(struct.pack("<I", (first + k) % 7 + 5))
	PY
	judged "$T/swapped" "$T/version" "$T/huge" "$T/circle"
}

@test "T91 files of 50 GB, on a machine that has 2: done or refused at once" {
	traced_well "$HOSTS/family"
	local segment
	segment=$(find "$DIR" -name '*.seg')
	cp --sparse=always "$segment" "$T/large.seg"
	chmod 600 "$T/large.seg"
	truncate -s 50G "$T/large.seg" || skip "no sparse files of 50 GiB here"
	record -q -o "$T/r.seep" "$HOSTS/family"
	cp "$T/r.seep" "$T/large.seep"
	truncate -s 50G "$T/large.seep"
	truncate -s 50G "$T/nothing"
	judged "$T/large.seg" "$T/large.seep" "$T/nothing"
}
