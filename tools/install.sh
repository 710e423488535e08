#!/bin/bash
# install.sh - puts what was built where it belongs, and takes it away again.
# SPDX-License-Identifier: Apache-2.0
#
# usage: B=build tools/install.sh install|uninstall DESTDIR PREFIX LIBDIR
#
# One list says what goes where; uninstall walks the same list, so that nothing
# is left, and removes directories of ours that have become empty.
set -euo pipefail
action=$1 destdir=$2 prefix=$3 libdir=$4
build=${B:-build}
cd "$(dirname "$0")/.."

for dir in "$prefix" "$libdir"; do
	[[ $dir == /* ]] || {
		echo "seep: PREFIX and LIBDIR are absolute paths, not \"$dir\"" >&2
		exit 2
	}
done

# MODE FILE TARGET; what has no fixed name in the sources is made before
list() {
	local file
	echo "0755 $build/seep $prefix/bin/seep"
	echo "0755 $build/seep-replay-run $libdir/seep/seep-replay-run"
	# seep serve and seep push, where it was built
	[[ ! -e $build/seep-net && $action == install ]] ||
		echo "0755 $build/seep-net $libdir/seep/seep-net"
	for file in libseep.so libseep-cxx.so libseep-jemalloc.so libseep-tcmalloc.so libseep-map.so; do
		echo "0644 $build/$file $libdir/seep/$file"
	done
	echo "0644 include/seep.h $prefix/include/seep.h"
	echo "0644 $build/install/seep.pc $libdir/pkgconfig/seep.pc"
	echo "0644 $build/install/seep.bash $prefix/share/bash-completion/completions/seep"
	echo "0644 $build/install/_seep $prefix/share/zsh/site-functions/_seep"
	echo "0644 $build/install/seep.fish $prefix/share/fish/vendor_completions.d/seep.fish"
	echo "0644 $build/install/seep-watch.service $prefix/lib/systemd/system/seep-watch.service"
	echo "0644 contrib/tmpfiles.d/seep.conf $prefix/lib/tmpfiles.d/seep.conf"
	for file in README.md CHANGELOG.md LICENSE docs/*.md docs/pictures/*; do
		file=${file#docs/}
		echo "0644 $build/install/doc/$file $prefix/share/doc/seep/$file"
	done
	for file in contrib/{prometheus,grafana,parca,alloy,otel-collector}/* contrib/systemd/network.conf; do
		echo "0644 $file $prefix/share/doc/seep/$file"
	done
	for file in "$build"/man/*.[0-9]; do
		[[ ! -e $file ]] ||
			echo "0644 $file $prefix/share/man/man${file##*.}/$(basename "$file")"
	done
}

make_files() {
	local to=$build/install
	mkdir -p "$to"
	"$build/seep" completions bash >"$to/seep.bash"
	"$build/seep" completions zsh >"$to/_seep"
	"$build/seep" completions fish >"$to/seep.fish"
	cat >"$to/seep.pc" <<-PC
	prefix=$prefix
	includedir=\${prefix}/include
	libdir=$libdir
	libseep=\${libdir}/seep/libseep.so

	Name: seep
	Description: what a program may tell the heap profiler seep; header only
	Version: $(cat VERSION)
	Cflags: -I\${includedir}
	PC
	sed "s|@bindir@|$prefix/bin|" contrib/systemd/seep-watch.service >"$to/seep-watch.service"
	tools/docs.sh "$to/doc"
	man/build.sh "$build/mkman" "$build/man" || {
		rm -rf "$build/man"
		echo "seep: installing without manual pages" >&2
	}
}

if [[ $action == install ]]; then
	make_files
	while read -r mode file target; do
		install -D -m "$mode" "$file" "$destdir$target"
	done < <(list)
	echo "installed in $destdir$prefix"
	exit
fi
while read -r _ _ target; do
	rm -f "$destdir$target"
done < <(list)
# pages of an earlier install may be of commands that are gone by now
rm -f "$destdir$prefix"/share/man/man1/seep{,-[a-z]*}.1 \
	"$destdir$prefix"/share/man/man7/{seep,libseep}.7
for dir in "$libdir/seep" "$prefix/share/doc/seep/contrib"/{prometheus,grafana,parca,alloy,otel-collector,systemd} \
	"$prefix/share/doc/seep/contrib" "$prefix/share/doc/seep/pictures" "$prefix/share/doc/seep"; do
	[[ ! -d $destdir$dir ]] || rmdir --ignore-fail-on-non-empty "$destdir$dir"
done
echo "removed from $destdir$prefix"
