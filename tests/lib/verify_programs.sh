#!/bin/bash
# verify_programs.sh - compares every stack of real programs with the unwinder.
# SPDX-License-Identifier: Apache-2.0
#
# usage: verify_programs.sh [full]
#
# Runs programs under libseep-verify.so, which compares each stack with
# _Unwind_Backtrace, and adds up what it found. Fails on any mismatch, on any
# stack that ended before the unwinder's did, on a frame beyond the unwinder's
# end that follows no call (a mismatch, too), on a program that behaves unlike
# the bare one, and, in the full form, on less than a million comparisons.
# $SEEP_BUILD (or build) holds the collector.
set -u
here=$(cd "$(dirname "$0")" && pwd)
repo=$(cd "$here/../.." && pwd)
build=${SEEP_BUILD:-build}
[[ $build == /* ]] || build=$repo/$build
collector=$build/libseep-verify.so
full=${1:-}
python=/usr/bin/python3 # not a shim: the interpreter itself
[[ -x $python ]] || python=python3

if [[ ! -e $collector ]]; then
	echo "verify_programs.sh: no $collector: make it first" >&2
	exit 2
fi
work=$(mktemp -d)
segments=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
trap 'rm -rf "$work" "$segments"' EXIT
ulimit -c 0
failures=0 all_checked=0 all_mismatches=0 all_cut=0 all_beyond=0

# verify NAME COMMAND...: stdin is passed on, output must equal the bare run's
verify() {
	local name=$1 got=0 expected=0
	shift
	cat >"$work/in"
	rm -f "$work/found"
	rm -rf "${segments:?}"/*
	"$@" <"$work/in" >"$work/bare" 2>&1 || expected=$?
	timeout 300 env LD_PRELOAD="$collector" SEEP_DIR="$segments" \
		SEEP_VERIFY_OUT="$work/found" "$@" \
		<"$work/in" >"$work/traced" 2>&1 || got=$?
	touch "$work/found"
	local sums
	sums=$(awk '/^pid=/ { for (i = 1; i <= NF; i++) {
			split($i, kv, "="); sum[kv[1]] += kv[2] } lines++ }
		END { printf "%d %d %d %d %d %d", lines, sum["checked"],
			sum["mismatches"], sum["truncated"], sum["cut"],
			sum["beyond"] }' \
		"$work/found")
	# shellcheck disable=SC2086 # six words
	set -- $sums
	printf '%-22s %3d processes %9d checked %3d mismatches %6d truncated %6d cut %6d beyond\n' \
		"$name" "$1" "$2" "$3" "$4" "$5" "$6"
	all_checked=$((all_checked + $2))
	all_mismatches=$((all_mismatches + $3))
	all_cut=$((all_cut + $5))
	all_beyond=$((all_beyond + $6))
	grep '^#' "$work/found" | head -n 6
	if [[ $2 -eq 0 ]]; then
		echo "  nothing was checked"
		failures=$((failures + 1))
	fi
	if [[ $got -ne $expected ]]; then
		echo "  status $got, bare $expected"
		tail -n 3 "$work/traced"
		failures=$((failures + 1))
	elif ! cmp -s "$work/bare" "$work/traced"; then
		echo "  output differs from the bare run's"
		diff "$work/bare" "$work/traced" | head -n 5
		failures=$((failures + 1))
	fi
}

missing() { echo "$1: not installed, left out"; }

hostile() {
	local rounds=1 flags i=0
	[[ -z $full ]] || rounds=6
	for flags in "-O0" "-O2" "-O2 -mavx2 -fno-omit-frame-pointer"; do
		i=$((i + 1))
		# shellcheck disable=SC2086 # several words
		g++ -g -std=c++17 -w $flags -pthread -o "$work/hostile$i" \
			"$here/../hosts/hostile.cpp" || exit 2
		verify "hostile $flags" "$work/hostile$i" "$rounds" </dev/null
	done
}

recursion() {
	local flags i=0
	for flags in "-O2" "-O2 -fno-omit-frame-pointer"; do
		i=$((i + 1))
		# shellcheck disable=SC2086 # several words
		gcc -g -w $flags -o "$work/recursion$i" \
			"$here/../hosts/recursion.c" || exit 2
		verify "100 deep $flags" "$work/recursion$i" 100 20000 </dev/null
		verify "2000 deep $flags" "$work/recursion$i" 2000 20000 </dev/null
	done
}

# stacks in random order, each seen before: its time is not the same each run
ways() {
	local flags i=0 k pairs=30000
	[[ -z $full ]] || pairs=600000
	for flags in "-O0" "-O2" "-O2 -fno-omit-frame-pointer"; do
		i=$((i + 1))
		# shellcheck disable=SC2086 # several words
		gcc -g -w $flags -o "$work/ways$i" \
			"$here/../../bench/programs/ways.c" || exit 2
		for k in 2 5 16; do
			# shellcheck disable=SC2016 # for sh
			verify "$((k * k * k * k)) ways $flags" sh -c \
				'exec "$0" "$@" >/dev/null' "$work/ways$i" "$k" \
				"$pairs" </dev/null
		done
	done
}

coroutines() {
	local rounds=100
	[[ -z $full ]] || rounds=2000
	gcc -g -O2 -w -D_GNU_SOURCE -pthread -o "$work/coroutines" \
		"$here/../hosts/coroutines.c" || exit 2
	verify "coroutines" "$work/coroutines" 50 "$rounds" 40 </dev/null
	verify "coroutines in a thread" "$work/coroutines" 50 "$rounds" 40 \
		thread guards </dev/null
	# one stack that stays, and deeper than the memo of one page
	verify "one coroutine" "$work/coroutines" 1 "$((rounds * 50))" 60 \
		thread </dev/null
}

# code without unwind information: stacks go on where the unwinder ends
run_time_code() {
	local kind
	gcc -g -O2 -w -fno-builtin -D_GNU_SOURCE -o "$work/trampolines" \
		"$here/../hosts/trampolines.c" || exit 2
	for kind in python js; do
		# shellcheck disable=SC2016 # for sh
		verify "$kind" sh -c 'exec "$0" "$@" >/dev/null' \
			"$work/trampolines" "$kind" </dev/null
	done
	if command -v node >/dev/null; then
		node_program >"$work/app.js"
		verify node node "$work/app.js" </dev/null
	else
		missing node
	fi
	[[ $all_beyond -gt 20 ]] || {
		echo "  no stack went on by a guess"
		failures=$((failures + 1))
	}
}

node_program() {
	local n=3
	[[ -z $full ]] || n=200
	cat <<-JS
	const zlib = require('zlib');
	function deep(d, n) { return d ? deep(d - 1, n) : zlib.deflateSync('x'.repeat(n)).length; }
	let sum = 0;
	for (let i = 0; i < $n; i++)
	    sum += deep(i % 30, 100 + i) + [3, 1, 2].sort((a, b) => (deep(2, 9), a - b))[0];
	console.log(sum, JSON.stringify([...'hello'].map((c) => deep(1, c.charCodeAt(0)))));
	JS
}

sql() {
	local rows=300
	[[ -z $full ]] || rows=6000
	cat <<-SQL
	create table t(a integer primary key, b text, c real);
	with recursive n(i) as (select 1 union all select i+1 from n where i<$rows)
	  insert into t select i, printf('%0*d', i % 60, i), i / 7.0 from n;
	create index tb on t(b, c);
	select count(*), sum(a), group_concat(substr(b, 1, 1)) from t where b like '%1%';
	select x.b, count(*) from t x join t y on x.b = y.b group by 1 order by 2 desc limit 5;
	with recursive f(d, s) as (select 0, 'x' union all select d+1, s||d from f where d<50)
	  select max(length(s)) from f;
	select json_group_array(json_object('a', a, 'b', b)) from t where a < 50;
	SQL
}

python_program() {
	local n=30
	[[ -z $full ]] || n=400
	cat <<-PY
	import ast, json, re, decimal, collections, functools
	def tree(d):
	    return "x" if d == 0 else "(%s + f(%s, [1, 2, %d]))" % (tree(d - 1), tree(d - 1), d)
	total = 0
	for i in range($n):
	    total += len(ast.dump(ast.parse(tree(i % 5))))
	    compile(tree(i % 6), "<s>", "eval")
	    total += len(json.dumps(json.loads(json.dumps({str(k): [k] * (k % 7) for k in range(40)}))))
	    total += len(re.findall(r"(a|b)+c?", "abcabbac" * 10))
	    total += int(decimal.Decimal(i + 1).sqrt() * 1000)
	    try:
	        raise ValueError(i)
	    except ValueError as e:
	        total += e.args[0]
	print(total, sorted(collections.Counter("hello world").items(), key=functools.cmp_to_key(lambda a, b: a[1] - b[1]))[0])
	PY
}

perl_program() {
	local n=2000
	[[ -z $full ]] || n=60000
	cat <<-PL
	my %h; my \$s = 0;
	for my \$i (1 .. $n) {
		\$h{"k\$i"} = [map { \$_ x 3 } 1 .. (\$i % 9)];
		(my \$t = "abc\$i") =~ s/(\\d+)/<\$1>/g;
		\$s += length \$t;
	}
	my @k = sort { \$a cmp \$b } keys %h;
	eval { die { code => 7 } }; \$s += \$@->{code};
	print scalar(@k), " \$s ", join(",", @k[0 .. 5]), "\n";
	PL
}

repository() {
	local commits=20 i
	[[ -z $full ]] || commits=300
	git init -q "$work/repo"
	for ((i = 0; i < commits; i++)); do
		printf 'commit refs/heads/main\ncommitter T <t@t> %d +0000\ndata 4\nc %02d\n' \
			$((1700000000 + i)) $((i % 100))
		printf 'M 644 inline f%d\n' $((i % 7))
		local text
		text=$(seq $((i * 3)) $((i * 3 + 200)))
		printf 'data %d\n%s\n' ${#text} "$text"
	done | git -C "$work/repo" fast-import --quiet
}

source_c() {
	local n=60 i
	[[ -z $full ]] || n=1500
	echo 'struct s { int a[8]; double d; };'
	for ((i = 0; i < n; i++)); do
		echo "static int f$i(struct s *p, int n) { int r = $i; for (int i = 0; i < n; i++) { r += p->a[(i + $i) & 7] * i; if (r > $i) switch (r & 3) { case 0: r ^= i; break; case 1: r -= p->d; default: r++; } } return r; }"
		echo "int g$i(struct s *p) { return f$i(p, p->a[0]) + f$i(p + 1, $i); }"
	done
}

source_cxx() {
	local n=4 i
	[[ -z $full ]] || n=60
	printf '#include <map>\n#include <string>\n#include <vector>\n'
	for ((i = 0; i < n; i++)); do
		echo "template <int N> struct t$i { std::map<std::string, std::vector<int>> m; int f(int x) { m[\"k\"].push_back(x + N); return N ? t$i<(N > 0 ? N - 1 : 0)>().f(x) : x; } };"
		echo "int h$i(int x) { return t$i<12>().f(x); }"
	done
}

hostile
recursion
ways
coroutines
run_time_code
if command -v sqlite3 >/dev/null; then
	sql | verify sqlite3 sqlite3 :memory:
else
	missing sqlite3
fi
python_program | PYTHONMALLOC=malloc PYTHONHASHSEED=0 verify python3 "$python" -S -
if command -v perl >/dev/null; then
	perl_program | PERL_HASH_SEED=0 verify perl perl -
else
	missing perl
fi
if command -v git >/dev/null; then
	repository
	verify "git log -p" git -C "$work/repo" -c core.pager=cat --no-pager \
		log -p --stat main </dev/null
	verify "git repack" git -C "$work/repo" repack -adfq </dev/null
else
	missing git
fi
source_c >"$work/c.c"
source_cxx >"$work/c.cc"
# gcc runs cc1 as its child: the preload goes with it
verify "cc1" "$(gcc -print-prog-name=cc1)" -quiet -O2 "$work/c.c" \
	-o "$work/c.s" </dev/null
verify "gcc with cc1plus" g++ -S -O1 "$work/c.cc" -o "$work/cc.s" </dev/null

echo "total: $all_checked stacks checked, $all_mismatches mismatches," \
	"$all_cut cut short, $failures failures"
[[ -z $full || $all_checked -ge 1000000 ]] || {
	echo "less than 1,000,000 stacks"
	exit 1
}
[[ $all_mismatches -eq 0 && $all_cut -eq 0 && $failures -eq 0 ]]
