#!/bin/bash
# run.sh - runs each fuzzer for a while; a crash leaves its input behind.
# SPDX-License-Identifier: Apache-2.0
# usage: run.sh SECONDS FUZZER...
# A corpus grows in build/fuzz/corpus/NAME. Where the command and the collector
# are built, it starts from a real recording and a real snapshot.
set -u
cd "$(dirname "$0")/../.." || exit 1

seconds=$1
shift
[[ $# -gt 0 ]] || {
	echo "seep: no fuzzers in tests/fuzz" >&2
	exit 1
}

# A segment of a living host, copied: small, with every table in it.
make_seeds() {
	local dir pid
	[[ -x build/seep && -e build/libseep.so ]] || return 0
	dir=$(mktemp -d) || return 0
	build/seep record -q --interval 20ms -o "$dir/recording" -- \
		sh -c 'ls / >/dev/null; sleep 0.2; ls / >/dev/null' >/dev/null 2>&1
	: >"$dir/said"
	LD_PRELOAD=$PWD/build/libseep.so SEEP_DIR=$dir \
		perl -e '$| = 1; print "up\n"; sleep 30' >"$dir/said" &
	pid=$!
	until grep -q up "$dir/said" || ! kill -0 "$pid" 2>/dev/null; do
		sleep 0.1
	done
	build/seep snapshot "$pid" -o "$dir/snapshot" >/dev/null 2>&1
	kill "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	mkdir -p build/fuzz/seeds/fuzz_{segment,report,check,lists,recording,line,names}
	[[ -s $dir/snapshot ]] && cp "$dir/snapshot" build/fuzz/seeds/fuzz_segment/ &&
		cp "$dir/snapshot" build/fuzz/seeds/fuzz_report/ &&
		cp "$dir/snapshot" build/fuzz/seeds/fuzz_check/
	build/seep check --list-suppressions >build/fuzz/seeds/fuzz_lists/builtin
	build/seep check "$dir/recording" -q --write-baseline build/fuzz/seeds/fuzz_lists/baseline
	[[ -s $dir/recording ]] && cp "$dir/recording" build/fuzz/seeds/fuzz_recording/
	# the stretches of its time line, entries of type 5, and its names, of
	# type 7: zstd frames. fuzz_names takes the first byte for what follows.
	python3 - "$dir/recording" build/fuzz/seeds <<-'END' 2>/dev/null
		import struct, subprocess, sys
		data, at = open(sys.argv[1], "rb").read(), 32
		while at + 24 <= len(data):
		    kind, flags, length = struct.unpack_from("<IIQ", data, at)
		    payload = data[at + 24:at + 24 + length]
		    if kind in (5, 7) and flags == 1:
		        plain = subprocess.run(["zstd", "-dqc"], input=payload,
		            stdout=subprocess.PIPE, check=True).stdout
		        into = "fuzz_line" if kind == 5 else "fuzz_names"
		        first = b"" if kind == 5 else b"\0"
		        open("%s/%s/%d" % (sys.argv[2], into, at), "wb").write(first + plain)
		        if kind == 7:
		            open("%s/%s/cache%d" % (sys.argv[2], into, at), "wb").write(b"\2" + payload)
		    at += 24 + (length + 7) // 8 * 8
		head = open("build/seep", "rb").read(4096)
		open(sys.argv[2] + "/fuzz_names/elf", "wb").write(b"\3" + head)
		open(sys.argv[2] + "/fuzz_names/map", "wb").write(b"\0037f0000000000 20 f\n")
	END
	rm -rf "$dir"
}

make_seeds
bad=0
for fuzzer; do
	name=$(basename "$fuzzer")
	corpus=build/fuzz/corpus/$name
	crashes=build/fuzz/crashes/$name
	mkdir -p "$corpus" "$crashes"
	dirs=("$corpus")
	[[ -d build/fuzz/seeds/$name ]] && dirs+=("build/fuzz/seeds/$name")
	echo "== $name, $seconds s"
	if ! "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
		-max_len=262144 -artifact_prefix="$crashes/" -print_final_stats=1 "${dirs[@]}" \
		>"build/fuzz/$name.log" 2>&1; then
		echo "FAIL $name: input in $crashes" >&2
		tail -n 40 "build/fuzz/$name.log" >&2
		bad=1
	fi
	grep -E '^stat::(number_of_executed|peak_rss)' "build/fuzz/$name.log"
done
exit $bad
