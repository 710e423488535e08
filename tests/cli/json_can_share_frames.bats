#!/usr/bin/env bats
# json_can_share_frames - report --format json --frames shared: each frame once.
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# same FULL SHARED: the shared form says what the full one does
same() {
	"$PYTHON" - "$1" "$2" <<-'END'
		import json, sys
		full, shared = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
		frames = shared.pop("frames")
		texts = [json.dumps(f) for f in frames]
		assert len(texts) == len(set(texts)), "a frame is there twice"
		used = set()
		def lists(x):
		    yield from (p["sites"] for p in x["processes"])
		    if x["merged"]:
		        yield x["merged"]["sites"]
		for sites in lists(shared):
		    for s in sites:
		        used.update(s["frames"])
		        s["frames"] = [frames[n] for n in s["frames"]]
		assert used == set(range(len(frames))), "frames that nobody has"
		for sites in lists(full):
		    for s in sites:
		        for name in ("ages", "ages_fine", "live_ages", "live_sizes"):
		            while s.get(name) and s[name][-1] == 0:
		                s[name].pop()
		        for name in [k for k, v in s.items() if v is None or v == 0]:
		            del s[name]
		assert full == shared, "they differ"
		print(sum(len(x) for x in lists(full)), "sites,", len(frames), "frames")
	END
}

@test "the same figures and stacks, of several processes and merged" {
	cd "$repo/tests/golden"
	for words in "old.seep" "family.seep" "family.seep --merge" "sampled.seep --include visit" \
		"old.seep --depth 1"; do
		# shellcheck disable=SC2086 # several words
		"$SEEP" report $words --format json >"$T/full"
		# shellcheck disable=SC2086
		"$SEEP" report $words --format json --frames shared >"$T/shared"
		same "$T/full" "$T/shared"
	done
	complains 2 "$SEEP" report old.seep --frames shared
	complains 2 "$SEEP" report old.seep --frames shared --growth --format json
}

@test "a tenth where sites are many, and the full form says so" {
	record -q -o data "$HOSTS/forest" 26000
	cd "$T"
	"$SEEP" report data --format json >full 2>said
	[[ $(wc -l <said) -eq 1 ]]
	grep -q '^seep: report: .* --frames shared ' said
	"$SEEP" report data --format json --frames shared >shared 2>said
	[[ ! -s said ]]
	echo "$(stat -c %s full) $(stat -c %s shared)"
	[[ $(stat -c %s shared) -le $((26000 * 600)) ]]
	[[ $(($(stat -c %s shared) * 8)) -le $(stat -c %s full) ]]
	same full shared
}
