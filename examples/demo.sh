#!/bin/bash
# demo.sh - what `make demo` shows: record a leaking server, print the report.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/.." || exit 1

data=build/demo/leaky_server.seep
step() {
	printf '\n$ %s\n' "$*"
	"$@"
}

step build/seep record --force -o "$data" -- build/demo/leaky_server || exit
step build/seep report "$data" --live --tree --top 10 || exit

cat <<EOT

session_open is the leak: handle_login forgets the session of a login that
fails. cache_store only grows. render_page is busy, but gives all back.

Next, type:
  build/seep report $data --allocs --table   who allocates most, freed or not
  build/seep report $data --peak             what was alive at the highest moment
  build/seep report $data --format json | less
  build/seep record -- YOUR-PROGRAM ...      then: build/seep report
EOT
