# Live blocks by size are counted at exit, kept in a recording, and shown in all formats.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# sizes FUNCTION: class:blocks of what it allocated itself, or null
sizes() {
	jq -r --arg f "$1" '[.processes[].sites[] | select(.frames[0].function == $f).live_sizes // empty]
		| if . == [] then "null" else transpose | map(add) | to_entries | map(select(.value > 0)
		| "\(.key):\(.value)") | join(" ") end' "$T/report.json"
}

# truth FUNCTION: the same, as tests/hosts/sizes.c has it
truth() {
	"$PYTHON" - "$1" <<-'END'
		import collections, sys
		live = {
		    "alloc_small": [n for r in range(40) for n in range(201) if (n + r) % 3 == 0],
		    "clear_small": range(201),
		    "alloc_power": [(1 << bit) + d - 1 for bit in range(25) for d in range(3)
		                    if d or bit % 2],
		    "alloc_huge": [(5 << 30) + 77],
		}[sys.argv[1]]
		classes = collections.Counter(min(max(n.bit_length() - 1, 0), 31) for n in live)
		print(" ".join(f"{k}:{v}" for k, v in sorted(classes.items())))
	END
}

# id FUNCTION: of its site
id_of() {
	jq --arg f "$1" '[.processes[].sites[] | select(.frames[0].function == $f)][0].id' "$T/report.json"
}

@test "every size class has its live blocks, from 0 bytes to 5 GiB" {
	local f
	record -q -- "$HOSTS/sizes"
	[[ $status -eq 0 ]]
	report "$T/seep.data"
	for f in alloc_small clear_small alloc_power alloc_huge; do
		echo "$f: $(sizes $f), truth $(truth $f)"
		if [[ $f != alloc_huge ]] || ! grep -q '^SKIP' "$T/out"; then
			[[ $(sizes $f) == "$(truth $f)" ]]
		fi
	done
}

@test "the smallest and largest of blocks of 5 GiB are exact, and filters use them" {
	record -q -- "$HOSTS/sizes"
	if grep -q '^SKIP' "$T/out"; then
		skip "no room for 5 GiB"
	fi
	report "$T/seep.data"
	# two calls, so two sites
	[[ $(jq -c '[.processes[].sites[] | select(.frames[0].function == "alloc_huge")
		| [.size_min, .size_max]] | sort' "$T/report.json") == \
		"[[$((5 << 30)),$((5 << 30))],[$(((5 << 30) + 77)),$(((5 << 30) + 77))]]" ]]
	"$SEEP" report "$T/seep.data" --max-size $(((5 << 30) - 1)) --format json >"$T/report.json"
	lacks alloc_huge "$T/report.json"
	grep -q alloc_power "$T/report.json"
	"$SEEP" report "$T/seep.data" --allocs --max-size 5GiB >"$T/text"
	grep -q alloc_huge "$T/text"
	"$SEEP" report "$T/seep.data" --min-size $(((5 << 30) + 77)) >"$T/text"
	grep -q alloc_huge "$T/text"
}

@test "sizes are known in a segment and for each process of a tree" {
	traced_well "$HOSTS/sizes"
	report "$DIR"
	[[ $(sizes alloc_small) == "$(truth alloc_small)" ]]
	record -q -o tree.data -- sh -c "'$HOSTS/page' tidy; '$HOSTS/page' many"
	report "$T/tree.data"
	[[ $(sizes heavy) == 7:200000 ]]
	[[ $(jq '[.processes[].sites[] | select(.live_sizes != null and
		(.live_sizes | add) != .live_blocks)] | length' "$T/report.json") -eq 0 ]]
}

@test "--site shows sizes and ages, and says if their sums differ" {
	record -q -- "$HOSTS/page"
	report "$T/seep.data"
	[[ $(sizes mixed) == "4:2 6:3 12:1" ]]
	"$SEEP" report "$T/seep.data" --site "$(id_of mixed)" >"$T/text"
	cat "$T/text"
	grep -qxE ' +from 16 bytes +2  #{27}' "$T/text"
	grep -qxE ' +from 64 bytes +3  #{40}' "$T/text"
	grep -qxE ' +from 4.0 KiB +1  #{13}' "$T/text"
	lacks 'not recorded' "$T/text"
	lacks 'at another moment' "$T/text"
}

@test "present ages and sizes are read from the memory of a running process" {
	LD_PRELOAD=$COLLECTOR SEEP_DIR=$DIR "$HOSTS/page" still 3>&- &
	PIDS+=($!)
	for _ in {1..200}; do
		"$SEEP" report $! --format json >"$T/report.json" 2>"$T/err" &&
			[[ $(sizes mixed) == "4:2 6:3 12:1" ]] && break
		sleep 0.05
	done
	if grep -q '"live_map":null' "$T/report.json"; then
		skip "this process may not look into another"
	fi
	echo "$(sizes mixed), live map $(jq -r '.processes[0].live_map' "$T/report.json")"
	[[ $(sizes mixed) == "4:2 6:3 12:1" ]]
	[[ $(jq '[.processes[].sites[] | select(.kind == "heap" and .live_blocks > 0 and
		((.live_sizes | add) != .live_blocks or (.live_ages | add) != .live_blocks))] | length' "$T/report.json") -eq 0 ]]
	"$SEEP" report $! --site "$(id_of mixed)" >"$T/text"
	grep -q '^Size of live blocks:' "$T/text"
}

@test "after a kill sizes are null, and the report says that they are not known" {
	record -q -- timeout -s KILL 0.5 "$HOSTS/page"
	report "$T/seep.data"
	[[ $(sizes mixed) == null ]]
	"$SEEP" report "$T/seep.data" --site "$(id_of mixed)" >"$T/text"
	cat "$T/text"
	tr '\n' ' ' <"$T/text" | grep -q 'Ages and sizes of live blocks are not known, because a process counts them when it exits'
}

@test "an older recording can be read, and a single block size is known" {
	"$SEEP" report "$repo/tests/golden/inputs/old.seep" --format json >"$T/report.json"
	jq -r '.processes[].sites[] | [.id, .size_min, .size_max, .live_blocks, (.live_sizes // [] | add)] | @tsv' "$T/report.json"
	[[ $(jq '[.processes[].sites[] | select(.live_blocks > 0 and .size_min == .size_max and .live_ages != null
		and (.live_sizes | add) != .live_blocks)] | length' "$T/report.json") -eq 0 ]]
}

@test "a sampled run shows the sizes of its samples" {
	record -q --sample 4096 -- "$HOSTS/page" many
	report "$T/seep.data"
	[[ $(jq '[.processes[].sites[] | select(.frames[0].function == "heavy")][0]
		| .live_sizes[7] > 0 and (.live_sizes | add) < .live_blocks' "$T/report.json") == true ]]
	"$SEEP" report "$T/seep.data" --site "$(id_of heavy)" >"$T/text"
	grep -q 'sampled blocks' "$T/text"
}
