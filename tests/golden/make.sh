#!/bin/bash
# make.sh - records anew the inputs of the golden cases; then: make golden-accept.
# SPDX-License-Identifier: Apache-2.0
#
# usage: make.sh [BUILD [NAME...]]: as root, because programs and a copy of seep are in
# /opt/seep-golden, with a C library and a C++ library of their own: no path of whoever
# runs this is in the files, and no file of a machine that reads them has such a path.
# NAME: record only these.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build}" && pwd)
shift || true
only=" $* "
place=/opt/seep-golden
to=$here/inputs

# The machine has another name and another boot, so that no process of a reader's machine
# can be one of these; and addresses are the same each time.
if [[ ${SEEP_GOLDEN_INSIDE:-} != yes ]]; then
	export SEEP_GOLDEN_INSIDE=yes
	exec unshare --uts --cgroup --mount setarch -R "$0" "$build" "$@"
fi
hostname tour
mkdir "$place"
echo 5eeb601d-0000-4000-8000-000000000001 >"$place/boot_id"
mount --bind "$place/boot_id" /proc/sys/kernel/random/boot_id
started=()
clean() {
	local pid
	umount /proc/sys/kernel/random/boot_id
	for pid in "${started[@]}"; do kill -KILL "$pid" 2>/dev/null || true; done
	rm -rf "$place"
}
trap clean EXIT
cd "$place"
mkdir lib bin seg
cp "$build"/seep "$build"/libseep*.so bin
cp "$here"/../hosts/{tour,crashes,grows,lifetimes,holds_grow,mapped_pages,scores,page,family,ten_leaks}.c \
	"$here"/../hosts/{holders,typed,inlined}.cpp "$here"/../hosts/holders_plugin.c \
	"$here"/../lib/{ledger,scrub}.h "$here/../../include/seep.h" "$here/crew.c" .
sed -i 's@"\.\./lib/@"@' ./*.c ./*.cpp

# Libraries of our own. Their build-ids are of no other file, so that no debug file of a
# machine belongs to them; the C library has its debug information in itself.
library() {
	local from to=lib/$1 id debug
	from=$(realpath "$(gcc -print-file-name="$1")")
	id=$(readelf -n "$from" | sed -n 's/.*Build ID: //p')
	debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	if [[ -e $debug ]]; then
		eu-unstrip -o "$to" "$from" "$debug"
	else
		cp "$from" "$to"
	fi
	python3 - "$to" "$id" "$1" <<-'END'
		import hashlib, sys
		path, build_id, name = sys.argv[1:]
		data = open(path, "rb").read()
		old = bytes.fromhex(build_id)
		new = hashlib.sha1(b"seep golden " + name.encode()).digest()
		assert data.count(old) >= 1 and len(new) == len(old)
		open(path, "wb").write(data.replace(old, new))
	END
	chmod 755 "$to"
}
for name in libc.so.6 ld-linux-x86-64.so.2 libstdc++.so.6 libgcc_s.so.1 libm.so.6; do
	library "$name"
done

# host NAME SOURCE [FLAG...]
host() {
	local name=$1 source=$2 compiler=gcc
	shift 2
	[[ $source != *.cpp ]] || compiler=g++
	"$compiler" -g -D_GNU_SOURCE -I. -o "$name" "$source" -pthread "$@" \
		-Wl,-rpath,"$place/lib" -Wl,--dynamic-linker="$place/lib/ld-linux-x86-64.so.2"
}
host tour-1.0 tour.c -O0
{ yes '' | head -n 20; cat tour.c; } >moved.c && mv moved.c tour.c
host tour-1.1 tour.c -O0
host crew crew.c -O1
host crashes crashes.c -O2 -fno-optimize-sibling-calls -Wno-use-after-free
host grows grows.c -O2
host lifetimes lifetimes.c -O0
host holds_grow holds_grow.c -O1 -fno-builtin
host mapped_pages mapped_pages.c -O2
host scores scores.c -O2
host page page.c -O2
host family family.c -O2 -fno-builtin -Wno-deprecated-declarations
host holders holders.cpp -O2 -fno-inline-small-functions -ldl
gcc -g -O2 -shared -fPIC -I. -o holders_plugin.so holders_plugin.c
host typed typed.cpp -O2
host inlined inlined.cpp -O2 -std=c++17
gcc -g -O0 -static -I. -o tour-static tour.c 2>/dev/null
export SEEP_DIR=$place/seg XDG_CACHE_HOME=$place/cache HOME=$place TZ=UTC
seep=$place/bin/seep

# wanted NAME PID: the processes of this input have numbers behind PID, if these are free
wanted() {
	[[ $only == "  " || $only == *" $1 "* ]] || return
	echo "$2" >/proc/sys/kernel/ns_last_pid
}

# store NAME...: files and folders of here into the inputs
store() {
	local name
	for name; do
		rm -rf "${to:?}/$name"
		cp -r "$name" "$to"
	done
}

# record NAME WORD...: NAME.seep, without its snapshots
record() {
	local name=$1
	shift
	"$seep" record -q --force -o "$name.seep" "$@" >"$name.out" </dev/null || true
	rm -rf "$name.seep.snapshots"
	store "$name.seep"
}

# bare NAME WORD...: in the background with the library alone, its segments in NAME; $pid
bare() {
	local name=$1
	shift
	rm -rf "$name"
	mkdir -m 700 "$name"
	SEEP_DIR=$place/$name LD_PRELOAD=$place/bin/libseep.so "$@" </dev/null >"$name.out" 2>/dev/null &
	pid=$!
	started+=("$pid")
}

# stop: the last one is killed, and leaves its segment
stop() {
	kill -KILL "$pid" 2>/dev/null || true
	wait "$pid" 2>/dev/null || true
}

# pack FOLDER: segments, which are gigabytes with holes
pack() {
	tar -c --sparse --format=gnu --sort=name --owner=0 --group=0 --mtime=@1700000000 "$1" |
		gzip -9n >"$to/$1.tar.gz"
}

if wanted old 1050; then
	"$seep" record -q --force -o old.seep "$place/tour-1.0" 100 10 400
	store old.seep old.seep.snapshots
	"$build/tools/add_verdicts" old.seep "$to/verdicts.seep" <"$to/verdicts.in"
fi
if wanted moments 2450; then # four snapshots with names
	rm -rf moments
	mkdir moments
	"$seep" record -q --force -o again.seep "$place/tour-1.0" 100 10 300
	mv again.seep moments.seep
	for file in again.seep.snapshots/*; do
		"$seep" export --format seep -o "moments/$(basename "$file")" "$file"
	done
	store moments.seep moments
fi
if wanted new 1100; then record new "$place/tour-1.1" 130 0 1; fi
if wanted sampled 1150; then record sampled --sample 4096 "$place/tour-1.0" 3000 60 1; fi
if wanted family 1200; then
	record family "$place/crew" "$place/tour-1.0 50 5" "$place/tour-1.1 20 2"
	"$build/tools/add_verdicts" family.seep "$to/verdicts_family.seep" <"$to/verdicts_family.in"
fi
if wanted nonames 1250; then record nonames --no-symbols "$place/tour-1.0" 100 10 20; fi
if wanted untraced 1300; then record untraced "$place/crew" "$place/tour-static 5 1 400" "$place/tour-1.1 20 2" "$place/crashes use"; fi
if wanted api 1350; then record api "$place/family"; fi
if wanted inlined 1400; then record inlined "$place/inlined"; fi
if wanted log 1450; then SEEP_LOG=addresses record log --log "$place/tour-1.0" 100 10 100; fi
if wanted lives 1500; then record lives --log "$place/lifetimes" steps; fi
if wanted last 1550; then SEEP_LOG=last:64,frees record last --last "$place/crashes" double; fi
if wanted leaks 1600; then record leaks --leaks --retained --types "$place/crew" "$place/holders" "$place/typed 50" "$place/tour-1.0 60 4"; fi
if wanted held 1650; then
	sleep 14 | "$seep" record -q --force --leaks=1s --retained --types -o held.seep "$place/holders" >held.out
	store held.seep
fi
if wanted scores 1700; then SEEP_SCORE_CLOCK=3600 record scores --leaks "$place/scores" 6; fi
if wanted mapped 1750; then record mapped --mappings "$place/mapped_pages"; fi
if wanted page 1800; then record page "$place/page"; fi
if wanted many 2500; then record many "$place/page" many; fi # more sites than a page shows
if wanted reallocs 2550; then SEEP_LOG=addresses record reallocs --log "$place/family"; fi
if wanted rss 1850; then
	{ sleep 2.5; echo free; sleep 2.5; } | "$seep" record -q --force --rss=1s -o rss.seep "$place/holds_grow" >rss.out
	store rss.seep
fi
if wanted chapters 1900; then
	rm -rf chapters
	"$seep" record -q --rotate 1s --interval 50ms -o chapters "$place/grows" 2000 2500
	"$seep" record -q --rotate 1s --interval 50ms -o chapters "$place/tour-1.0" 100 10 300
	store chapters
fi
if wanted history 1950; then
	rm -rf watched history
	bare watched "$place/tour-1.0" 100 10 1200
	bare_more() { SEEP_DIR=$place/watched LD_PRELOAD=$place/bin/libseep.so "$@" </dev/null >/dev/null 2>&1 & started+=("$!"); }
	bare_more "$place/grows" 900 3000
	SEEP_WATCH_CLOCK=43200 "$seep" watch --history "$place/history" "$place/watched" &
	watch=$!
	started+=("$watch")
	sleep 6
	kill -TERM "$watch"
	wait "$watch" || true
	rm -f history/.lock
	cp -r "$to/chapters" history/grows.service
	store history
fi
if wanted live 2000; then # one that was killed between two moments
	bare live "$place/tour-1.0" 100 10 1000
	sleep 2.5
	"$seep" snapshot "$pid" -o moment.seep-snap --label "by hand" >/dev/null
	"$seep" snapshot "$pid" -o named.seep-snap --names >/dev/null
	stop
	pack live
	store moment.seep-snap named.seep-snap
fi
if wanted several 2050; then # a folder of segments: a family, ended and killed
	bare several "$place/crew" "$place/tour-1.0 50 5" "$place/tour-1.1 20 2 300"
	sleep 0.8
	stop
	pack several
fi
if wanted eventlog 2100; then
	export SEEP_LOG=1 SEEP_LOG_POOL=1MiB
	bare eventlog "$place/tour-1.0" 100 10 1000
	sleep 2.5
	stop
	unset SEEP_LOG SEEP_LOG_POOL
	pack eventlog
fi
if wanted flight 2150; then
	export SEEP_LOG=last:64,frees
	bare flight "$place/crashes" double
	wait "$pid" 2>/dev/null || true
	unset SEEP_LOG
	sed -n 's/^ADDRESS //p' flight.out >flight/address
	pack flight
fi
chmod -R u+rwX,go+rX,go-w "$to"
if grep -raE "$(cd "$here/../.." && pwd)|/tmp/|$build|$(id -un)@" "$to"; then
	echo "make.sh: a path of this machine is in these files" >&2
	exit 1
fi
du -sh --apparent-size "$to"
