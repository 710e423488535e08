#!/bin/bash
# web.sh - builds the page of web/ into the file named.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/web.sh FILE
#
# The packages, in the versions of web/package-lock.json, are installed into
# build/web, from npm's cache where it has them. Exit 77: they are not to be had.
set -u
cd "$(dirname "$0")/.." || exit 1

out=$(realpath -m "$1")
place=build/web

unavailable() {
	echo "web.sh: $1" >&2
	exit 77
}

command -v node >/dev/null || unavailable "no node here"
command -v npm >/dev/null || unavailable "no npm here"

# one at a time: tests run beside each other
mkdir -p "$place"
exec 9>"$place/lock"
flock 9
cp -r web/package.json web/package-lock.json web/.npmrc web/build.mjs web/src "$place"/
if ! cmp -s web/package-lock.json "$place/installed"; then
	(cd "$place" && timeout 120 npm ci --prefer-offline --ignore-scripts \
		--no-progress >npm.log 2>&1) ||
		unavailable "npm cannot install the packages, see $place/npm.log"
	cp web/package-lock.json "$place/installed"
fi
node "$place/build.mjs" "$out"
