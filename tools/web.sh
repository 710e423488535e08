#!/bin/bash
# web.sh - builds the page of web/ into the file named.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/web.sh FILE
#
# The packages, in the versions of web/package-lock.json, are installed into
# build/web. Exit 77: they are not to be had.
set -u
cd "$(dirname "$0")/.." || exit 1

out=$(realpath -m "$1")
place=build/web

if ! command -v node >/dev/null; then
	echo "web.sh: no node here" >&2
	exit 77
fi
tools/npm.sh web "$place" >/dev/null || exit

# one at a time: tests run beside each other
exec 9>"$place/build.lock"
flock 9
cp -r web/build.mjs web/src "$place"/
node "$place/build.mjs" "$out"
