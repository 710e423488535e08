#!/usr/bin/env bats
# who_holds_it.bats - seep leaks --held and --retained name the root, the way and the bytes.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/verdicts.bash

@test "twelve ways to hold memory: root, pile and retained bytes are the host's own" {
	begin holders
	"$PYTHON" "$LIB/held_answer.py" "$T/out" "$SEEP" "$HOST"
	leaks --held "$(site_of hash_add)"
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	tr -s ' \n' ' ' <"$T/leaks" >"$T/line"
	grep -q 'held by global `sessions`+0x40 -> a block of hash_grow (2.0 KiB) -> 500 of hash_add (23.4 KiB)' "$T/line"
	grep -q 'pile up in a block of hash_grow (2.0 KiB), which retains 1,001 blocks 37.2 KiB' "$T/line"
	end_host
}

# site_of FUNCTION: the id of a site that it allocates
site_of() {
	"$SEEP" leaks --retained --format json "$HOST" 2>/dev/null | "$PYTHON" -c '
import json, sys
print([s["id"] for s in json.load(sys.stdin)["sites"] if s["function"] == sys.argv[1]][0])' "$1"
}

@test "with all threads stopped it is the same" {
	begin holders
	"$PYTHON" "$LIB/held_answer.py" "$T/out" "$SEEP" "$HOST" --stop
	end_host
}

@test "the page has the holders and what each site retains" {
	begin holders
	leaks --retained --format json -o "$T/held.json"
	[[ $status -eq 0 ]]
	leaks --retained --format html -o "$T/page.html"
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	PYTHONPATH=$LIB "$PYTHON" "$LIB/page_held.py" "$T/page.html" "$T/held.json"
	end_host
}

@test "without symbols a root is a module, and an offset in it" {
	cp "$HOSTS/holders" "$HOSTS/holders_plugin.so" "$T"
	strip -s "$T/holders" "$T/holders_plugin.so"
	HOSTS=$T begin holders
	leaks --retained --top 0
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	grep -Eq '^RETAINED 500 blocks 23.4 KiB: data of holders_plugin.so\+0x[0-9a-f]+ -> 500 of ' "$T/leaks"
	grep -q '^RETAINED 500 blocks 39.1 KiB: stack of thread [0-9]* (holder) -> 500 of ' "$T/leaks"
	end_host
}

@test "a site that is not there, a file, and too little memory are refused in one line" {
	begin holders
	leaks --held 999999
	says_why "has no live block of site 999999"
	leaks --retained --max-memory 100K
	says_why "--max-memory raises the limit"
	run "$SEEP" leaks --retained "$T/none.data"
	[[ $status -eq 3 && $output == *"none.data"* ]]
	end_host
}

@test "a heap of many blocks takes 48 bytes a block, 8 a pointer and 64 MiB at most" {
	begin many_held "$(full_or 8000000 1000000)" "$(full_or 512 32)"
	"$PYTHON" "$LIB/held_memory.py" "$T/out" "$SEEP" "$HOST"
	end_host
}

# held_by NAME...: nearly all items are held by one of these variables
held_by() {
	leaks --retained --format json
	cat "$T/leaks.err"
	[[ $status -eq 0 ]]
	"$PYTHON" - "$T/leaks" "$@" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		first = d["retained"][0]
		print(first, d["unheld_blocks"])
		assert first["way"][0]["root"] == "variable", first["way"][0]
		assert first["way"][0]["name"] in sys.argv[2:], first["way"][0]
		# blocks that came after the words were read are unheld, not new roots
		odd = [r for r in d["retained"] if r["way"][0]["root"] in ("new_block", "unknown_heap", "mapping")]
		assert sum(r["retained_bytes"] for r in odd) * 20 < first["retained_bytes"], odd
	END
}

@test "a list, a hash and a queue that grow as fast as they can are held by their variables" {
	begin grows_fast list 50000 1000000
	held_by newest
	end_host
	PIDS=()
	begin grows_fast hash 50000 1000000
	held_by registry
	end_host
	PIDS=()
	# all items of this one are others at the end of a look
	begin grows_fast queue 20000 20000
	for i in 1 2 3; do
		held_by newest oldest
	done
	end_host
}

@test "the keys of redis are retained by the dict of its server" {
	need redis-server
	env LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" redis-server --port 0 --unixsocket "$T/socket" \
		--save "" >"$T/redis" 2>&1 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	eventually test -S "$T/socket"
	"$PYTHON" - "$T/socket" <<-'END'
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.connect(sys.argv[1])
		for part in range(100):
		    keys = [b"key:%06d" % i for i in range(part * 1000, part * 1000 + 1000)]
		    s.sendall(b"".join(b"*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$64\r\n%s\r\n" % (len(k), k, b"x" * 64) for k in keys))
		    left = 5 * len(keys)  # "+OK" and the end of the line
		    while left:
		        left -= len(s.recv(left))
	END
	leaks --retained --format json
	[[ $status -eq 0 ]]
	"$PYTHON" - "$T/leaks" <<-'END'
		import json, sys
		first = json.load(open(sys.argv[1]))["retained"][0]
		way = first["way"]
		print(first)
		# keys may still move to a larger table, and one may be in hand
		assert way[0]["name"] == "server" and way[0]["root"] == "variable"
		assert "dictExpand" in way[-1]["function"]
		assert first["retained_blocks"] > 290000 and first["retained_bytes"] > 100000 * 64
	END
	kill "$HOST"
	wait "$HOST" || true
}

@test "a list of objects of python is held by the state of the interpreter" {
	cat >"$T/a.py" <<-'END'
		import os, sys
		class Item:
		    __slots__ = ("name",)
		    def __init__(self, i):
		        self.name = "name %d" % i
		kept = [Item(i) for i in range(50000)]
		print("ready", os.getpid(), flush=True)
		sys.stdin.read()
	END
	mkdir "$T/hosts"
	ln -s "$PYTHON" "$T/hosts/python"
	HOSTS=$T/hosts PYTHONMALLOC=malloc begin python -S "$T/a.py"
	leaks --retained --format json
	[[ $status -eq 0 ]]
	"$PYTHON" - "$T/leaks" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		print(d["retained"][:3])
		items = [s for s in d["sites"] if s["live_blocks"] >= 49000]
		assert items
		roots = {way[0]["name"] for w in d["retained"][:3] for way in [w["way"]] + w["several"]}
		assert "_PyRuntime" in roots
	END
	end_host
}

@test "blocks that move during a look are not called lost, unless all threads were stopped" {
	begin moves_fast
	leaks --retained
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	grep -q '^RETAINED .*: static `tables`' "$T/leaks"
	lacks 'nothing (lost)' "$T/leaks"
	leaks --retained --stop
	cat "$T/leaks"
	[[ $status -eq 0 ]]
	grep -q 'nothing (lost) -> 100 of lose' "$T/leaks"
	lacks 'moved meanwhile' "$T/leaks"
	exec 9>&-
}

@test "of a sampled process, the text and JSON say that not all blocks are known" {
	SEEP_SAMPLE=4096 begin holders
	leaks --retained
	tr -s ' \n' ' ' <"$T/leaks" >"$T/line"
	grep -q 'Some of its blocks are unknown, because it was sampled' "$T/line"
	leaks --retained --format json
	jq -e .blocks_unknown "$T/leaks"
	end_host
	PIDS=()
	begin holders
	leaks --retained
	lacks 'blocks are unknown' "$T/leaks"
	leaks --retained --format json
	jq -e '.blocks_unknown | not' "$T/leaks"
	end_host
	(cd "$T" && SEEP_DIR=$DIR "$SEEP" record -q --sample 4K --retained -o sampled.data "$HOSTS/held_at_exit" </dev/null >out)
	"$SEEP" leaks --retained "$T/sampled.data" | tr -s ' \n' ' ' | grep -q 'Some of its blocks are unknown'
	"$SEEP" leaks --retained --format json "$T/sampled.data" | jq -e '.processes[0].blocks_unknown'
}
