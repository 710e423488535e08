#!/usr/bin/env bats
# scripts_are_on_the_stack - functions of JavaScript, Python and Java are on the stacks of what they allocate.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../lib/runtimes.bash

setup_file() { export LC_ALL=C; }

# stacks RECORDING FILTER: functions of all stacks that jq selects, a line each
stacks() {
	"$SEEP" report --no-cache --allocs --format json "$1" |
		jq -r "[.processes[].sites[] | select($2)] | .[].frames
			| map(.function // \"?\") | join(\" \")"
}

# cut RECORDING: stacks cut at code without unwind information
cut_stacks() {
	"$SEEP" report --no-cache --no-symbols --format json "$1" |
		jq '[.processes[].lost.cut_no_info] | add'
}

node_program() {
	cat <<-'JS'
	const zlib = require('zlib');
	const kept = [];
	function leaf(n) {
		kept.push(Buffer.allocUnsafeSlow(n));
		kept.push(zlib.deflateSync('x'.repeat(100)));
	}
	const four = (n) => { leaf(n); };
	function three(n) { four(n); }
	function two(n) { three(n); }
	function one(n) { two(n); }
	for (let i = 0; i < 100; i++)
		one(100000);
	JS
}

@test "node: five functions in order with their lines, down to node::Start; hardly a stack is cut" {
	local before
	need node
	node_program >"$T/app.js"
	record -q --no-symbols --no-guess -o "$T/before" node "$T/app.js"
	[[ $status -eq 0 ]]
	before=$(cut_stacks "$T/before")
	[[ $before -gt 200 ]]
	record --runtime-names -o "$T/after" node "$T/app.js"
	[[ $status -eq 0 ]]
	grep -q '^seep: set NODE_OPTIONS=' "$T/err"
	[[ $(($(cut_stacks "$T/after") * 100)) -le $before ]]
	stacks "$T/after" 'any(.frames[]; .function == "leaf")' >"$T/stacks"
	[[ -s $T/stacks ]]
	# each stack that has all of them has them in this order
	grep -q ' leaf four three two one ' "$T/stacks"
	grep ' leaf ' "$T/stacks" | grep -v ' leaf four three two one ' >"$T/odd" || true
	[[ $(wc -l <"$T/odd") -le $(($(wc -l <"$T/stacks") / 10)) ]]
	grep 'deflateInit2_.* leaf four three two one .* node::Start' "$T/stacks" |
		grep -v 'no unwind information'
	"$SEEP" report --no-cache --allocs --format json "$T/after" |
		jq -c '[.processes[].sites[].frames[] | select(.language == "js" and
			(.file | endswith("app.js")) and (.function | test("^(leaf|four|one)$")))
			| [.function, .line]] | unique' >"$T/lines"
	[[ $(<"$T/lines") == '[["four",7],["leaf",3],["one",10]]' ]]
	# what the run has made is gone
	[[ -z $(compgen -G "$T/isolate-*") ]]
}

@test "Python: five functions in order down to the module, below a leak of ctypes" {
	local python
	python=$(cd "$T" && python_with_maps)
	[[ -n $python ]] || skip "no Python that writes maps here"
	cat >"$T/app.py" <<-'PY'
	import ctypes
	libc = ctypes.CDLL(None)
	libc.malloc.restype = ctypes.c_void_p
	libc.malloc.argtypes = [ctypes.c_size_t]
	def leaf(n):
	    return libc.malloc(n)
	def four(n):
	    return leaf(n)
	def three(n):
	    return four(n)
	def two(n):
	    return three(n)
	def one(n):
	    return two(n)
	for i in range(100):
	    one(123456)
	PY
	record --runtime-names "$python" "$T/app.py"
	[[ $status -eq 0 ]]
	stacks "$T/seep.data" '.size_max == 123456' >"$T/stacks"
	[[ -s $T/stacks ]]
	[[ -z $(grep -v ' leaf four three two one <module> ' "$T/stacks") ]]
	grep -q ' Py_RunMain .*main' "$T/stacks"
	[[ $(cut_stacks "$T/seep.data") -eq 0 ]]
}

# bats test_tags=full
@test "Java: compiled methods above an allocation of direct memory" {
	need javac
	cat >"$T/App.java" <<-'JAVA'
	import java.nio.ByteBuffer;
	import java.util.ArrayList;
	public class App {
		static ArrayList<ByteBuffer> kept = new ArrayList<>();
		static void third(int n) { kept.add(ByteBuffer.allocateDirect(n)); }
		static void second(int n) { third(n + 1); }
		static void first(int n) { second(n + 1); }
		public static void main(String[] a) {
			for (int i = 0; i < 40000; i++) {
				first(1000);
				if (kept.size() > 100)
					kept.clear();
			}
		}
	}
	JAVA
	javac -d "$T" "$T/App.java"
	record --runtime-names java -cp "$T" -XX:CompileCommand=dontinline,App.* App
	[[ $status -eq 0 ]]
	stacks "$T/seep.data" 'any(.frames[]; .function == "App.third")' >"$T/stacks"
	grep 'Unsafe_AllocateMemory0.* App.third App.second App.first' "$T/stacks"
}
