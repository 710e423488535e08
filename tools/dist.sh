#!/bin/bash
# dist.sh - the release: all sources in one compressed file, the same each time.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/dist.sh build/seep-VERSION.tar.gz
#
# What git knows, as it lies here; in a release itself, which is no repository,
# everything but build/. The date of all files is that of VERSION's last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
to=$1
name=$(basename "$to" .tar.gz)

files() {
	if git ls-files --error-unmatch Makefile >/dev/null 2>&1; then
		git ls-files -z
	else
		find . -name build -prune -o ! -type d -printf '%P\0'
	fi | while IFS= read -r -d '' file; do
		[[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file" # deleted
	done
}

when=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y VERSION)
mkdir -p "$(dirname "$to")"
files | LC_ALL=C sort -z | tar --create --null --files-from=- \
	--transform="s,^,$name/,S" --owner=root:0 --group=root:0 \
	--mtime="@$when" --mode=u+rw,go+r-w --format=gnu | gzip -9n >"$to.new"
mv "$to.new" "$to"
echo "$to"
