#!/bin/bash
# run.sh - fuzzers and mutations: short in `make check`, long in `make fuzz`.
# SPDX-License-Identifier: Apache-2.0
#
# usage: run.sh --can-build              can this machine build them? status
#        B=build run.sh --tap FUZZER     one, for a few seconds, as TAP
#        B=build run.sh --long SECONDS   all fuzzers, two at a time
#
# Inputs to begin with are the recordings of tests/golden, their entries, and
# what lies in tests/fuzz/seeds/NAME. --tap begins with these alone; a corpus of
# --long grows in $B/san-fuzz/corpus/NAME. FUZZ_SEED is the seed of both (1, and
# by chance), FUZZ_SECONDS how long --tap runs (6), MUTATIONS how many (5000; with SEEP_FULL 20000).
#
# The limit is 512 MB for the process as the kernel counts it, so with what
# AddressSanitizer adds: shadow, red zones, freed blocks it holds back.
set -u
cd "$(dirname "$0")/../.." || exit 1
place=${B:-build}/san-fuzz
limit_mb=512
export ASAN_OPTIONS=quarantine_size_mb=8:allocator_may_return_null=1:malloc_context_size=6
export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1

can_build() {
	local out
	out=$(mktemp) || return 1
	echo 'int LLVMFuzzerTestOneInput(const char *p, long n);
	int LLVMFuzzerTestOneInput(const char *p, long n) { return !p && !n; }' |
		clang -fsanitize=fuzzer,address,undefined -x c - -o "$out" 2>/dev/null
	local status=$?
	rm -f "$out"
	return $status
}

golden() {
	printf '%s\n' tests/golden/inputs/{family,new,old,sampled,verdicts,verdicts_family}.seep \
		tests/golden/inputs/*.snapshots/*.seep-snap \
		tests/fuzz/seeds/fuzz_recording/*
}

# make_seeds DIR: DIR/fuzz_*/, from recordings, their entries, and by hand
make_seeds() {
	local dir=$1 name
	mkdir -p "$dir"/fuzz_{segment,pulse,tail,report,check,recording,line,names,lists,elf,verdict,chapters,aging,residence,inventory,held,typed,log,flight,net_http,push_answer,notes,unit}
	mapfile -t files < <(golden)
	cp "${files[@]}" "$dir/fuzz_recording"
	# chapters: the same process twice, and others before and behind it
	for name in "${files[@]}"; do
		[[ $name == *.seep ]] || continue
		cat "$name" "$name" >"$dir/fuzz_chapters/twice-$(basename "$name")"
	done
	cat "${files[0]}" "${files[-1]}" "${files[0]}" >"$dir/fuzz_chapters/mixed"
	"$place/fuzz/mutations" -x "$dir" "${files[@]}" || return 1
	for name in pulse tail report check; do
		cp "$dir"/fuzz_segment/* "$dir/fuzz_$name"
	done
	for name in tests/fuzz/seeds/*/; do
		cp "$name"/* "$dir/$(basename "$name")"
	done
	head -c 4096 "$place/fuzz/mutations" | cat <(printf '\3') - >"$dir/fuzz_names/elf"
	cp /bin/true "$dir/fuzz_elf" # small, with all headers and tables
}

# run_fuzzer FUZZER SECONDS SEED CORPUS CRASHES LOG
run_fuzzer() {
	local fuzzer=$1 name pid status
	name=$(basename "$fuzzer")
	mkdir -p "$4" "$5"
	TMPDIR=$work "$fuzzer" -seed="$3" -max_total_time="$2" -timeout=10 \
		-rss_limit_mb=$limit_mb -max_len=262144 -print_final_stats=1 \
		-artifact_prefix="$5/" "$4" "$work/seeds/$name" >"$6" 2>&1 &
	pid=$!
	wait "$pid"
	status=$?
	rm -f "/tmp/perf-$pid.map"
	return $status
}

# tell_crash LOG CRASHES: what was found, so that it can be done again
tell_crash() {
	local file
	grep -E -m 1 -A 40 '^==|ERROR|SUMMARY|runtime error' "$1" | head -n 60
	for file in "$2"/*; do
		[[ -f $file ]] || continue
		echo "input $(basename "$file"), $(stat -c %s "$file") bytes:"
		[[ $(stat -c %s "$file") -gt 4096 ]] || base64 -w 0 "$file"
		echo
	done
}

figures() { # LOG
	sed -nE 's/^stat::number_of_executed_units: *([0-9]+)/\1 inputs/p
		s/^stat::peak_rss_mb: *([0-9]+)/\1 MB/p' "$1" | paste -sd' '
}

tap_fuzzer() {
	local name seed=${FUZZ_SEED:-1} seconds=${FUZZ_SECONDS:-6}
	name=$(basename "$1")
	echo "1..1"
	make_seeds "$work/seeds" || return 1
	if run_fuzzer "$1" "$seconds" "$seed" "$work/corpus" "$work/crashes" "$work/log"; then
		echo "# -seed=$seed, $seconds s: $(figures "$work/log")"
		echo "ok 1 - $name"
		return 0
	fi
	echo "not ok 1 - $name -seed=$seed -max_total_time=$seconds"
	tell_crash "$work/log" "$work/crashes" | sed 's/^/# /'
	mkdir -p "$place/crashes/$name"
	cp "$work/crashes"/* "$place/crashes/$name" 2>/dev/null &&
		echo "# kept in $place/crashes/$name"
	return 1
}

tap() {
	case $1 in
	*/mutations)
		mapfile -t files < <(golden)
		"$1" -n "${MUTATIONS:-$([[ -n ${SEEP_FULL:-} ]] && echo 20000 || echo 5000)}" -s "${FUZZ_SEED:-1}" "${files[@]}" \
			tests/fuzz/seeds/fuzz_segment/*
		;;
	*/fuzz_*) tap_fuzzer "$1" ;;
	*) 
		printf '1..1\nnot ok 1 - fuzzers: not built, for clang or libFuzzer is missing\n'
		return 1
		;;
	esac
}

long_one() { # FUZZER SECONDS
	local name seed log
	name=$(basename "$1")
	seed=${FUZZ_SEED:-$RANDOM}
	log=$place/$name.log
	if run_fuzzer "$1" "$2" "$seed" "$place/corpus/$name" "$place/crashes/$name" "$log"; then
		echo "ok   $name, $2 s, -seed=$seed: $(figures "$log")"
		return 0
	fi
	echo "FAIL $name, -seed=$seed: inputs in $place/crashes/$name, log $log"
	tell_crash "$log" "$place/crashes/$name"
	return 1
}

long() { # SECONDS: the last line is "N passed, N failed"
	local fuzzer bad=0 all=0 running=0
	make_seeds "$work/seeds" || return 1
	for fuzzer in "$place"/fuzz/fuzz_*; do
		[[ -x $fuzzer && $fuzzer == *"${TESTS:-}"* ]] || continue
		if [[ $running -ge 2 ]]; then
			wait -n || bad=$((bad + 1))
			running=$((running - 1))
		fi
		long_one "$fuzzer" "$1" &
		running=$((running + 1)) all=$((all + 1))
	done
	for (( ; running > 0; running--)); do
		wait -n || bad=$((bad + 1))
	done
	echo "$((all - bad)) passed, $bad failed"
	[[ $bad -eq 0 && $all -gt 0 ]]
}

case ${1:-} in
--can-build)
	can_build
	exit
	;;
--tap | --long)
	work=$(mktemp -d) || exit 1
	trap 'rm -rf "$work"' EXIT
	trap 'exit 130' INT TERM
	"${1#--}" "$2"
	exit
	;;
*)
	sed -n '5,7s/^# //p' "$0" >&2
	exit 2
	;;
esac
