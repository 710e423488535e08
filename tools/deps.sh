#!/bin/bash
# deps.sh - installs what a target needs and this machine lacks.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/deps.sh [--tell] GROUP ...
#   build net unit check lint bench fuzz man web page readers real full fresh deb
#
# Prints nothing when nothing is missing. --tell never installs: it names the
# missing packages and fails. --list prints the packages of the groups.
#
# Each need is named by the thing we use (a command, a header, a library, a
# path), not by its package, so that a machine with another package system, or
# with tools built by hand, passes too. `libc:` stands for the debug file of the
# C library in use.
set -u
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin # servers are there

# group  kind:thing  Debian package
needs='
build cmd:gcc gcc
build cmd:make make
build hdr:elfutils/libdw.h libdw-dev
build hdr:libelf.h libelf-dev
build hdr:libiberty/demangle.h libiberty-dev
build hdr:zlib.h zlib1g-dev
build hdr:zstd.h libzstd-dev
build hdr:curses.h libncurses-dev
build hdr:stdlib.h libc6-dev
net hdr:microhttpd.h libmicrohttpd-dev
net hdr:curl/curl.h libcurl4-openssl-dev
unit hdr:cmocka.h libcmocka-dev
unit cmd:jq jq
check cmd:g++ g++
check hdr:microhttpd.h libmicrohttpd-dev
check hdr:curl/curl.h libcurl4-openssl-dev
check cmd:prometheus prometheus
check cmd:promtool prometheus
check cmd:openssl openssl
check cmd:curl curl
check cmd:bats bats
check cmd:jq jq
check cmd:python3 python3
check cmd:perl perl
check cmd:git git
check cmd:sqlite3 sqlite3
check cmd:musl-gcc musl-tools
check cmd:objdump binutils
check cmd:clang clang
check lib:libclang_rt.fuzzer-x86_64.a libclang-rt-14-dev
check cmd:llvm-symbolizer llvm
check cmd:dwz dwz
check cmd:xz xz-utils
check lib:libdebuginfod.so.1 libdebuginfod1
check cmd:setsid util-linux
check cmd:pgrep procps
check cmd:strace strace
check cmd:setcap libcap2-bin
check cmd:crun crun
check cmd:fakeroot fakeroot
check lib:libeatmydata.so.1 libeatmydata1
check cmd:less less
check cmd:tmux tmux
check cmd:zsh zsh
check cmd:fish fish
check cmd:clang-format-14 clang-format-14
check cmd:valgrind valgrind
check cmd:ms_print valgrind
check cmd:callgrind_annotate valgrind
check cmd:heaptrack_print heaptrack
check cmd:heaptrack heaptrack
check cmd:dot graphviz
check cmd:chromium chromium
check cmd:go golang-go
check cmd:node nodejs
check cmd:npm npm
check cmd:redis-server redis-server
check cmd:redis-benchmark redis-tools
check cmd:nginx nginx-light
check cmd:memcached memcached
check cmd:wrk wrk
check cmd:eu-addr2line elfutils
check cmd:pkg-config pkgconf
check cmd:rustc rustc
check cmd:systemd-analyze systemd
check path:/lib/systemd/systemd systemd
check cmd:systemd-tmpfiles systemd
check cmd:nsenter util-linux
check cmd:ip iproute2
check cmd:ganesha.nfsd nfs-ganesha
check path:/usr/lib/*/ganesha/libfsalvfs.so nfs-ganesha-vfs
check cmd:h2o h2o
check path:/usr/sbin/php-fpm* php-fpm
check path:/usr/lib/postgresql/*/bin/pgbench postgresql
check cmd:shellcheck shellcheck
check cmd:zstd zstd
check cmd:ld.gold binutils
check cmd:ld.lld lld
check cmd:hostname hostname
check libc:debug libc6-dbg
check hdr:cmocka.h libcmocka-dev
check lib:libjemalloc.so.2 libjemalloc2
check lib:libtcmalloc_minimal.so.4 libtcmalloc-minimal4
check lib:libmimalloc.so.2.0 libmimalloc2.0
check cmd:scdoc scdoc
check cmd:mandoc mandoc
man cmd:scdoc scdoc
lint cmd:clang-format-14 clang-format-14
lint cmd:clang-tidy-14 clang-tidy-14
lint cmd:cppcheck cppcheck
lint cmd:shellcheck shellcheck
lint cmd:objdump binutils
bench cmd:python3 python3
bench cmd:heaptrack heaptrack
bench cmd:g++ g++
bench cmd:sqlite3 sqlite3
bench cmd:perl perl
bench cmd:git git
bench cmd:redis-server redis-server
bench cmd:redis-benchmark redis-tools
bench cmd:valgrind valgrind
bench hdr:libunwind.h libunwind-dev
bench lib:libjemalloc.so.2 libjemalloc2
bench lib:libtcmalloc.so.4 libgoogle-perftools4
web cmd:node nodejs
web cmd:npm npm
page cmd:chromium chromium
readers cmd:go golang-go
readers cmd:ms_print valgrind
readers cmd:heaptrack_print heaptrack
readers cmd:dot graphviz
real cmd:redis-server redis-server
real cmd:redis-benchmark redis-tools
real cmd:nginx nginx-light
real cmd:psql postgresql-client
real path:/usr/lib/postgresql/*/bin/pgbench postgresql
real cmd:mariadbd mariadb-server
real cmd:memcached memcached
real cmd:haproxy haproxy
real cmd:varnishd varnish
real cmd:ganesha.nfsd nfs-ganesha
real path:/usr/lib/*/ganesha/libfsalvfs.so nfs-ganesha-vfs
real cmd:h2o h2o
real path:/usr/sbin/php-fpm* php-fpm
real cmd:apache2 apache2
real cmd:named bind9
real cmd:slapd slapd
real cmd:ldapsearch ldap-utils
real cmd:ruby ruby
real cmd:qemu-x86_64 qemu-user
real cmd:wrk wrk
real cmd:javac default-jdk-headless
real cmd:node nodejs
real cmd:chromium chromium
real cmd:clang clang
real path:/usr/lib/python3*/test/test_subprocess.py libpython3.11-testsuite
real lib:libjemalloc.so.2 libjemalloc2
real lib:libtcmalloc_minimal.so.4 libtcmalloc-minimal4
real lib:libmimalloc.so.2.0 libmimalloc2.0
fresh cmd:debootstrap debootstrap
deb cmd:gdb gdb
deb cmd:dpkg-buildpackage dpkg-dev
deb cmd:dh debhelper
deb cmd:fakeroot fakeroot
deb cmd:lintian lintian
deb cmd:scdoc scdoc
deb cmd:git git
fuzz cmd:clang clang
fuzz lib:libclang_rt.fuzzer-x86_64.a libclang-rt-14-dev
'
shopt -s nullglob
# after an installation there may be more of them
find_places() {
	lib_dirs=(/usr/local/lib /usr/lib64 /usr/lib /lib/*-linux-gnu
		/usr/lib/*-linux-gnu /usr/lib/llvm-*/lib/clang/*/lib/linux)
	hdr_dirs=(/usr/local/include /usr/include /usr/include/*-linux-gnu)
}

exists_under() {
	local name=$1 dir
	shift
	for dir; do
		[[ -e $dir/$name ]] && return 0
	done
	return 1
}

# The debug file that belongs to the C library in use, by its build-id.
has_debug_of_libc() {
	local libc id
	for libc in /lib/*-linux-gnu/libc.so.6 /lib64/libc.so.6; do
		id=$(LC_ALL=C readelf -nW "$libc" 2>/dev/null | sed -n 's/.*Build ID: //p')
		[[ -n $id && -e /usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug ]] && return 0
	done
	return 1
}

is_there() {
	local thing=${1#*:}

	case $1 in
	cmd:*) command -v "$thing" >/dev/null ;;
	hdr:*) exists_under "$thing" "${hdr_dirs[@]}" ;;
	lib:*) exists_under "$thing" "${lib_dirs[@]}" ;;
	path:*) compgen -G "$thing" >/dev/null ;;
	libc:debug) has_debug_of_libc ;;
	*) return 1 ;;
	esac
}

find_missing() { # GROUP...
	local group probe package

	missing=()
	find_places
	while read -r group probe package; do
		[[ " $* " == *" $group "* ]] || continue
		[[ " ${missing[*]-} " == *" $package "* ]] && continue
		is_there "$probe" || missing+=("$package")
	done <<<"${needs#$'\n'}"
}

tell=
case ${1:-} in
--tell)
	tell=1
	shift
	;;
--list)
	shift
	while read -r group _ package; do
		[[ " $* " != *" $group "* ]] || echo "$package"
	done <<<"${needs#$'\n'}" | sort -u
	exit
	;;
esac
for group; do
	grep -q "^$group " <<<"$needs" || {
		echo "deps.sh: no group '$group'" >&2
		exit 2
	}
done

find_missing "$@"
[[ ${#missing[@]} -eq 0 ]] && exit 0
if [[ -n $tell ]]; then
	how="'make deps' installs what building needs"
	[[ $* == @(build|net) ]] || how="'make deps-$1' installs what this needs"
	echo "seep: missing: ${missing[*]} (Debian's names); $how" >&2
	exit 1
fi

# make -j may ask for two groups at once; apt-get serves one at a time
exec 9<"$0"
flock 9
find_missing "$@"
[[ ${#missing[@]} -eq 0 ]] && exit 0

as_root=()
if [[ $(id -u) -ne 0 ]]; then
	as_root=(sudo)
fi
# another apt-get may be at work: wait for it
apt=(apt-get -o DPkg::Lock::Timeout=300)
install=(install --no-install-recommends "${missing[@]}")

by_hand() {
	echo "seep: missing: ${missing[*]}" >&2
	echo "seep: $1; please type:" >&2
	echo "  ${as_root[*]}${as_root:+ }${apt[*]} ${install[*]}" >&2
	exit 1
}

command -v apt-get >/dev/null || by_hand "no apt-get here (names are Debian's)"
if [[ ${#as_root[@]} -gt 0 ]]; then
	# never ask for a password in the middle of a build
	sudo -n true 2>/dev/null || by_hand "not root"
fi

# The tests start the servers that they need. No package may start its own, now
# (policy-rc.d) or when the machine starts next (disable_new_services). A policy
# of the machine's own stays; what it lets start is stopped.
policy=/usr/sbin/policy-rc.d
forbid_services() {
	[[ ! -e $policy ]] || return 0
	trap '"${as_root[@]}" rm -f "$policy"' EXIT
	trap 'exit 130' INT TERM
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
	"${as_root[@]}" chmod 755 "$policy"
}

services() { # those that start with the machine
	local path
	for path in /etc/systemd/system/multi-user.target.wants/*.service \
		/etc/rc[2-5].d/S[0-9][0-9]*; do
		path=${path##*/}
		path=${path#S[0-9][0-9]}
		echo "${path%.service}"
	done | sort -u
}

disable_new_services() { # BEFORE: those that were there before
	local name new=()
	while read -r name; do
		# parts of the system, not servers that tests start
		[[ $name != @(|dbus|systemd-*) ]] || continue
		new+=("$name")
		[[ ! -e /etc/systemd/system/multi-user.target.wants/$name.service ]] ||
			"${as_root[@]}" systemctl -q disable --now "$name.service" 2>/dev/null ||
			"${as_root[@]}" systemctl -q disable "$name.service" || true
		[[ ! -e /etc/init.d/$name ]] ||
			"${as_root[@]}" update-rc.d "$name" disable >/dev/null 2>&1 || true
	done < <(comm -13 <(echo "$1") <(services))
	[[ ${#new[@]} -eq 0 ]] ||
		echo "seep: installed, not started, disabled at boot: ${new[*]}" >&2
}

# "Need to get 310 MB" and "1,234 MB of additional disk space", from a dry run
size_of_it() {
	"${as_root[@]}" env LC_ALL=C "${apt[@]}" --assume-no "${install[@]}" 2>/dev/null </dev/null |
		sed -nE 's/^Need to get ([^ ]+ [kMG]?B).*/\1 to fetch/p
			s/^After this operation, ([^ ]+ [kMG]?B) of additional.*/\1 on disk/p' |
		paste -sd, | sed 's/,\([^,]*on disk\)/, \1/'
}

export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" "${apt[@]}" update -q >&2 || echo "seep: apt-get update failed, trying anyway" >&2
size=$(size_of_it)
echo "seep: installing ${missing[*]}${size:+ (with what they depend on: $size)}" >&2
forbid_services
before=$(services)
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "${apt[@]}" -q -y "${install[@]}" \
	</dev/null >&2 || by_hand "apt-get failed"
disable_new_services "$before"
find_missing "$@"
[[ ${#missing[@]} -eq 0 ]] || {
	echo "seep: installed, and yet missing: ${missing[*]}" >&2
	exit 1
}
