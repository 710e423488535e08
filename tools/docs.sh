#!/bin/bash
# docs.sh - the documents as they are installed: side by side, all links alive.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/docs.sh TO
#
# Writes README.md, CHANGELOG.md, LICENSE, docs/*.md and docs/pictures into TO.
# A link to one of these leads there, one to another file of the sources becomes
# its text; what is typed is seep, not build/seep.
set -euo pipefail
cd "$(dirname "$0")/.."
to=$1

rm -rf "$to"
mkdir -p "$to/pictures"
cp LICENSE "$to"
cp docs/pictures/* "$to/pictures"
documents=(README.md CHANGELOG.md docs/*.md)

# where_to TARGET: the same file in TO; nothing: it is not there
where_to() {
	local path=${1%%#*} anchor="" base
	[[ $1 != *#* ]] || anchor="#${1#*#}"
	base=$(basename "$path")
	if [[ $path == *pictures/* && -e docs/pictures/$base ]]; then
		echo "pictures/$base"
	elif [[ -e docs/$base || $base == @(README.md|CHANGELOG.md|LICENSE) ]]; then
		echo "$base$anchor"
	fi
}

quoted() { sed 's/[][\\.*^$/&]/\\&/g' <<<"$1"; }

for file in "${documents[@]}"; do
	script='s/\bbuild\/seep\b/seep/g'
	while read -r target; do
		[[ $target != *:* && $target != \#* ]] || continue # elsewhere, or here
		place=$(where_to "$target")
		if [[ -n $place ]]; then
			script+=";s/\]($(quoted "$target"))/]($(quoted "$place"))/g"
		else
			script+=";s/!\?\[\([^][]*\)\]($(quoted "$target"))/\1/g"
		fi
	done < <(grep -oE '\]\([^) ]+\)' "$file" | sed 's/^](//; s/)$//' | sort -u)
	script+=';s/\bdocs\/\([A-Za-z_-]*\.md\)/\1/g'
	sed -z "$script" "$file" >"$to/$(basename "$file")"
done
