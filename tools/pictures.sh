#!/bin/bash
# pictures.sh - the pictures of the README: real reports, a real page, seep top.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/pictures.sh [FOLDER]    (default docs/pictures)
#
# Records the demo, shows its report on a terminal of tmux, looks at it with seep
# top while it runs, and shows its page in a headless Chromium. Does the same with a
# report of a JavaScript program. Needs tmux, python3, node and chromium.
set -euo pipefail
cd "$(dirname "$0")/.."

to=${1:-docs/pictures}
columns=100
work=$(mktemp -d)
server=seep-pictures-$$
trap 'tmux -L "$server" kill-server 2>/dev/null || true; rm -rf "$work"' EXIT

for tool in tmux python3 node; do
	command -v "$tool" >/dev/null || {
		echo "pictures.sh: no $tool here" >&2
		exit 1
	}
done
mkdir -p "$to" "$work/bin"
ln -s "$PWD/build/seep" "$work/bin/seep"
ln -s "$PWD/build/demo/leaky_server" "$work/leaky_server"
cp examples/cache.js "$work"

# the terminal: what `record` and `report` print there, prompts included
tmux -L "$server" -f /dev/null new-session -d -x "$columns" -y 60 \
	"cd '$work' && PATH='$work/bin':\$PATH PS1='\$ ' LC_ALL=C.UTF-8 TERM=tmux-256color \
	bash --norc --noprofile -i"
type_in() {
	tmux -L "$server" send-keys "$1" Enter
	for ((i = 0; i < 300; i++)); do
		sleep 0.1
		# the prompt is back, on a line of its own
		if tmux -L "$server" capture-pane -p | sed '/^$/d' | tail -n 1 | grep -qx '\$ *'; then
			return
		fi
	done
	echo "pictures.sh: \"$1\" does not end" >&2
	exit 1
}
# the terminal as it is, to a file; without the last prompt
picture() {
	tmux -L "$server" capture-pane -e -p | sed -E '/^(\x1b\[[0-9;]*m)*\$ *$/,$d' |
		python3 tools/terminal_svg.py "$1" "$columns" >"$2"
}
sleep 1
type_in 'seep record ./leaky_server'
type_in 'seep report --no-pager --top 8'
picture "seep report" "$to/report.svg"
tmux -L "$server" send-keys C-l
tmux -L "$server" clear-history
type_in 'seep record -q -o js.seep --runtime-names node cache.js'
type_in 'seep report js.seep --no-pager --peak --top 1 --threshold 5'
picture "seep report, JavaScript" "$to/mixed.svg"

# the sites of the demo while it runs: the cache has the most, and the leak grows
SEEP_DIR=$(mktemp -d -p /dev/shm)
export SEEP_DIR
trap 'tmux -L "$server" kill-server 2>/dev/null || true; rm -rf "$work" "$SEEP_DIR"' EXIT
LD_PRELOAD=$PWD/build/libseep.so build/demo/leaky_server 20 >/dev/null &
host=$!
sleep 2
tmux -L "$server" -f /dev/null new-session -d -s top -x "$columns" -y 16 \
	"SEEP_DIR='$SEEP_DIR' LC_ALL=C.UTF-8 TERM=tmux-256color build/seep top --interval 500ms $host"
sleep 2
tmux -L "$server" send-keys -t top Enter
sleep 22
tmux -L "$server" send-keys -t top Home
sleep 0.6
tmux -L "$server" capture-pane -t top -e -N -p |
	python3 tools/terminal_svg.py "seep top" "$columns" >"$to/top.svg"
kill "$host"

# the page
build/seep report "$work/seep.data" --format html -o "$work/page.html"
PYTHONPATH=tests/lib python3 - "$work/page.html" "$to/page.png" <<'PY'
import sys
import time
from browser import Browser, find
if not find():
    sys.exit("pictures.sh: no chromium here")
with Browser(1240, 960) as b:
    b.open(sys.argv[1])
    b.eval("document.querySelector('#row-0').click(); scrollTo(0, 0)")
    time.sleep(0.3)
    b.screenshot(sys.argv[2])
PY
ls -l "$to"
