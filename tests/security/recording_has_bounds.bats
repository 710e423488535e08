#!/usr/bin/env bats
# recording_has_bounds - memory, disk and time that root's record uses stay bounded, whatever a traced process leaves as its records.
# threat: if root points seep at a process, file or directory of a hostile user, that user must not be able to make it hang, use memory without bound, read or write other files than it was told to, send a signal, or execute anything; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# hostile MIB SECONDS FORM COUNT SIZE [OPTIONS]: records one; it takes no more
# than so much memory and time
hostile() {
	local mib=$1 seconds=$2 form=$3 count=$4 size=$5
	shift 5
	(cd "$T" && SEEP_DIR=$DIR exec "$PYTHON" - "$mib" "$seconds" "$SEEP" record --force -o r.seep "$@" \
		"$PYTHON" "$LIB/hostile_segments.py" "$form" "$count" "$size") \
		>"$T/out" 2>"$T/err" <<-'PY' || { cat "$T/out" "$T/err"; return 1; }
	import resource, subprocess, sys, time
	begin = time.monotonic()
	child = subprocess.run(sys.argv[3:], timeout=120)
	took, mib = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
	print("# %.1f s, %.0f MiB, status %d" % (took, mib, child.returncode))
	assert child.returncode == 0
	assert mib < float(sys.argv[1]), "it took %d MiB" % mib
	assert took < float(sys.argv[2]), "it took %d s" % took
	PY
	grep '^#' "$T/out"
	grep -q '^forged' "$T/out"
}

# stated PATTERN: by record, by report, which exits with 3, and by check
stated() {
	local got=0
	grep -E "$1" "$T/err" || { cat "$T/err"; return 1; }
	"$SEEP" report "$T/r.seep" >"$T/report" 2>&1 || got=$?
	grep -E "$1" "$T/report" || { cat "$T/report"; return 1; }
	got=0
	"$SEEP" check "$T/r.seep" >"$T/check" 2>&1 || got=$?
	[[ $got -eq 3 ]] || { cat "$T/check"; return 1; }
}

@test "100 files of 500 MB of holes stay within the bounds" {
	hostile 300 20 files 100 500000000
	stated '^.*100 (more )?processes were not (recorded|traced): the record is damaged, or claims far more than is in it'
	# the program itself is there
	"$SEEP" report "$T/r.seep" --format json >"$T/report.json" || [[ $? -eq 3 ]]
	[[ $(from_report 'len(p)') -eq 1 ]]
}

@test "100 slots of 500 MB of holes stay within the bounds" {
	hostile 300 20 slots 100 500000000
	stated 'the record is damaged, or claims far more than is in it'
}

@test "--max-size bounds the recording even if records really are that large" {
	hostile 600 40 dense 30 2000000 --max-size 100K
	stated 'the recording has its full size'
	[[ $(stat -c %s "$T/r.seep") -lt 600000 ]]
}

@test "a snapshot of 3 GB of holes keeps them" {
	hostile 300 20 snapshots 3 3000000000
	[[ $(find "$T/r.seep.snapshots" -name '*.seep-snap' | wc -l) -eq 3 ]]
	[[ $(du -sk "$T/r.seep.snapshots" | cut -f 1) -lt 2000 ]]
	[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 0 ]]
}

@test "nobody can have another's record left out by taking its uuid" {
	hostile 300 20 stolen 3 100000
	"$SEEP" report "$T/r.seep" --format json >"$T/report.json" || [[ $? -eq 3 ]]
	# with its allocations, and its command line
	[[ $(from_report 'sum(x["totals"]["allocations"] > 100 for x in p)') -eq 1 ]]
}

# bats test_tags=full
@test "processes of another user have their own share of the recording" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	[[ ! -e /dev/shm/seep-64321 ]] || skip "not permitted here: uid 64321 is in use"
	chmod 711 "$T"
	(cd "$T" && SEEP_DIR=$DIR timeout 100 "$SEEP" record --force -o r.seep \
		setpriv --reuid=64321 --regid=64321 --clear-groups \
		"$PYTHON" "$LIB/hostile_segments.py" dense 20 30000000) >"$T/out" 2>"$T/err" || true
	rm -rf /dev/shm/seep-64321
	cat "$T/out" "$T/err"
	grep -q '^forged' "$T/out" || skip "nobody cannot come here"
	stated 'the records of another user have more than 256 MiB'
}

@test "if a recording unpacks to too much, processes are left out and the report says so" {
	need zstd
	record -q -o small.seep true
	"$PYTHON" - "$T/small.seep" "$T/bomb.seep" <<-'PY'
	import struct, subprocess, sys, zlib
	data = open(sys.argv[1], "rb").read()
	out, at, payload = data[:32], 32, None
	def entry(kind, flags, body):
	    head = struct.pack("<IIQI", kind, flags, len(body), zlib.crc32(body))
	    return head + struct.pack("<I", zlib.crc32(head)) + body + bytes(-len(body) % 8)
	segment = None
	while at + 24 <= len(data):
	    kind, flags, length = struct.unpack_from("<IIQ", data, at)
	    body = data[at + 24:at + 24 + length]
	    at += 24 + (length + 7) // 8 * 8
	    if kind == 1 and flags == 1:
	        segment = subprocess.run(["zstd", "-dc"], input=body, stdout=subprocess.PIPE, check=True).stdout
	# one ledger of 30 MB of zeros behind its header
	seg = bytearray(segment[:64 + 8192])
	struct.pack_into("<QII", seg, 64 + 208, 8192, 1, 1)
	seg += struct.pack("<IIIIQQ", 6, 0, 64, 30000000 // 64, 1, 8192 + 32) + bytes(30000000)
	packed = subprocess.run(["zstd", "-c", "--no-check", "--stream-size=%d" % len(seg)], input=bytes(seg), stdout=subprocess.PIPE, check=True).stdout
	out += b"".join(entry(1, 1, packed) for _ in range(200))
	open(sys.argv[2], "wb").write(out)
	print(len(out), len(packed))
	PY
	"$PYTHON" - "$SEEP" report "$T/bomb.seep" >"$T/out" 2>"$T/err" <<-'PY' || { tail -n 5 "$T/out" "$T/err"; false; }
	import resource, subprocess, sys
	child = subprocess.run(sys.argv[1:], timeout=100)
	mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
	print("# %.0f MiB, status %d" % (mib, child.returncode))
	assert child.returncode == 3 and mib < 1200
	PY
	grep '^#' "$T/out"
	cat "$T/out" "$T/err" | tr '\n' ' ' | grep -E '[0-9]+ processes left out: *unpacked'
	# and one of holes
	cp "$T/small.seep" "$T/sparse.seep"
	truncate -s 3T "$T/sparse.seep"
	complains 3 timeout 20 "$SEEP" report "$T/sparse.seep"
}
