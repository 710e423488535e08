#!/bin/bash
# build.sh - the manual pages, from man/*.scd and the tables of commands.
# SPDX-License-Identifier: Apache-2.0
#
# usage: man/build.sh MKMAN TO-DIRECTORY
set -euo pipefail
mkman=$1
to=$2
here=$(dirname "$0")

command -v scdoc >/dev/null || {
	echo "seep: no manual pages without scdoc (Debian: apt-get install scdoc)" >&2
	exit 1
}
# the day of the sources, not of the build
if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
	SOURCE_DATE_EPOCH=$(git -C "$here" log -1 --format=%ct 2>/dev/null ||
		stat -c %Y "$here/../VERSION")
fi
export SOURCE_DATE_EPOCH
version=$(cat "$here/../VERSION")

# scdoc opens paragraphs that stay empty: mandoc -T lint counts them all
tidy() {
	awk '
	/^\.PP?$/ { held = !after_heading; next }
	/^\.RE$/ { print; after_heading = 0; next }
	{
		if (held && !/^\.(SH|SS)/)
			print ".PP"
		held = 0
		after_heading = /^\.(SH|SS|TH)/
		print
	}'
}

page() { # NAME.SECTION, scdoc on stdin
	sed "s/@version@/$version/" | scdoc | tidy >"$to/$1.new"
	mv "$to/$1.new" "$to/$1"
}

rm -rf "$to"
mkdir -p "$to"
for page in "$here"/*.[0-9].scd; do
	name=$(basename "$page" .scd)
	"$mkman" - "$page" | page "$name"
done
while read -r command; do
	"$mkman" "$command" "$here/seep-$command.scd" | page "seep-$command.1"
done < <("$mkman")
