#!/bin/bash
# compare_symbols.sh - 20,000 addresses of a large C++ program, by a stopwatch.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tests/lib/compare_symbols.sh [DIR]
# Fetches Debian's ceph-osd and its debug package (some 500 MB) into DIR, or
# into a directory that is removed afterwards, and compares our names with
# llvm-symbolizer's: at least 99.9 % equal, in at most 10 s and 1.4 GB, the
# second time in at most 0.5 s out of the cache. Wants an idle machine.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SEEP_BUILD:-$here/../../build}

dir=${1:-}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[[ -n $dir ]] || dir=$scratch

if [[ ! -e $dir/root/usr/bin/ceph-osd ]]; then
	mkdir -p "$dir"
	(
		cd "$dir"
		apt-get download -q ceph-osd ceph-osd-dbg >&2
		for package in ceph-osd*.deb; do
			dpkg -x "$package" root
		done
		rm -f ceph-osd*.deb
	)
fi

module=$dir/root/usr/bin/ceph-osd
debug=$dir/root/usr/lib/debug
id=$(readelf -nW "$module" | sed -n 's/.*Build ID: //p')

export XDG_CACHE_HOME=$scratch
for seconds in 10 0.5; do
	"$here/compare_symbols.py" --debug-dir "$debug" \
		--debug-file "$debug/.build-id/${id:0:2}/${id:2}.debug" \
		--most-seconds $seconds --most-mib 1400 --inlined-at-least 10000 \
		"$build/tools/names_of" "$module"
done
