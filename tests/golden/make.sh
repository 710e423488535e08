#!/bin/bash
# make.sh - records anew what the golden reports are of; then: GOLDEN=write.
# SPDX-License-Identifier: Apache-2.0
#
# usage: make.sh [BUILD]: as root, because the programs are built in
# /opt/seep-golden: no path of whoever runs this is in the files.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
place=/opt/seep-golden

mkdir "$place"
trap 'rm -rf "$place"' EXIT
cp "$here/../hosts/tour.c" "$here/../../include/seep.h" "$place"
cd "$place"
gcc -O0 -g -I. -o tour-1.0 tour.c
{ yes '' | head -n 20; cat tour.c; } >moved.c && mv moved.c tour.c
gcc -O0 -g -I. -o tour-1.1 tour.c

# record NAME WORD...: in a namespace, so that the machine has another name
record() {
	local name=$1
	shift
	rm -rf "$here/$name.seep" "$here/$name.seep.snapshots"
	unshare --uts sh -c 'hostname tour && exec "$@"' sh \
		"$build/seep" record -q --force -o "$name.seep" "$@"
	cp "$name.seep" "$here"
	[[ ! -d $name.seep.snapshots ]] || cp -r "$name.seep.snapshots" "$here"
}
record old "$place/tour-1.0" 100 10 400
record new "$place/tour-1.1" 130 0 1
rm -rf "$here/new.seep.snapshots"
record sampled --sample 4096 "$place/tour-1.0" 3000 60 1
rm -rf "$here/sampled.seep.snapshots"
record family sh -c "$place/tour-1.0 50 5; $place/tour-1.1 20 2"
rm -rf "$here/family.seep.snapshots"
"$build/tools/add_verdicts" old.seep "$here/verdicts.seep" <"$here/verdicts.in"
"$build/tools/add_verdicts" family.seep "$here/verdicts_family.seep" <"$here/verdicts_family.in"
chmod -R u+rw,go+r "$here"/*.seep*
