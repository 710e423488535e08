#!/usr/bin/env bats
# json_can_share_frames - report --format json --frames shared writes each frame once.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# same FULL SHARED: the shared form says what the full one does
same() {
	PYTHONPATH=$LIB "$PYTHON" - "$1" "$2" <<-'END'
		import json, sys, shared as form
		full, shared = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:])
		frames = shared["frames"]
		texts = [json.dumps(f) for f in frames]
		assert len(texts) == len(set(texts)), "a frame is there twice"
		def lists(x):
		    yield from (p["sites"] for p in x["processes"])
		    if x["merged"]:
		        yield x["merged"]["sites"]
		sites = [s for some in lists(shared) for s in some]
		used = {n for s in sites for n in s["frames"]}
		assert used == set(range(len(frames))), "frames that nobody has"
		assert all(v not in (0, None) for s in sites for v in s.values()), "zeros and nulls"
		assert form.expand(shared) == full, "they differ"
		print(len(sites), "sites,", len(frames), "frames")
	END
}

@test "figures and stacks are the same with several processes and with --merge" {
	cd "$repo/tests/golden/inputs"
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

@test "with many sites the output is a tenth of the size, and the full output mentions the option" {
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
