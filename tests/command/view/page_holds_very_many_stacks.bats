# A page of 100,000 stacks has at most 10 MB, is interactive within 1.5 s and zooms within 50 ms; one of 1,000 stacks has 400 KB.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# SEEP_SLACK: how much slower a loaded machine may be
SLACK=${SEEP_SLACK:-2}

# page STACKS: of the host forest, with nothing merged, in $T/page.html
page() {
	record -q -- "$HOSTS/forest" "$1"
	[[ $status -eq 0 ]]
	"$SEEP" report "$T/seep.data" --format html --full -o "$T/page.html"
}

@test "1,000 stacks: at most 400 KB" {
	page 1000
	"$PYTHON" "$LIB/page_speed.py" "$T/page.html" 1000 409600 >&3
}

@test "100,000 stacks: at most 10 MB; interactive within 1.5 s, a zoom within 50 ms" {
	page 100000
	need chromium
	"$PYTHON" "$LIB/page_speed.py" "$T/page.html" 100000 10485760 \
		$((1500 * SLACK)) $((50 * SLACK)) >&3
}

