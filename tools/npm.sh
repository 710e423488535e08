#!/bin/bash
# npm.sh - installs the packages that a folder's package-lock.json names.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/npm.sh FROM TO
#
# From FROM/package.json, package-lock.json and .npmrc into TO/node_modules, from
# npm's cache where it has them; nothing is done where they are there already.
# Prints the path. Exit 77: they are not to be had.
set -u
from=$1 to=$2

unavailable() {
	echo "npm.sh: $1" >&2
	exit 77
}

is_there() { cmp -s "$from/package-lock.json" "$to/installed"; }

# one at a time: tests run beside each other
if ! is_there; then
	mkdir -p "$to" || exit 1
	exec 9>"$to/lock"
	flock 9
fi
if ! is_there; then
	command -v npm >/dev/null || unavailable "no npm here (make deps-web)"
	cp "$from/package.json" "$from/package-lock.json" "$from/.npmrc" "$to"/
	(cd "$to" && timeout 120 npm ci --prefer-offline --ignore-scripts \
		--fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 \
		--no-progress >npm.log 2>&1) ||
		unavailable "npm cannot install the packages, see $to/npm.log"
	cp "$from/package-lock.json" "$to/installed"
fi
realpath "$to/node_modules"
