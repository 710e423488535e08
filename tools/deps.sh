#!/bin/bash
# deps.sh - installs what a target needs and this machine lacks.
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/deps.sh build|check|lint|bench|fuzz|man|web|page|readers|real|deb ...
#
# Says nothing when all is there. Each need is named by what we use (a command,
# a header, a library, a path), not by its package, so that a machine with
# another package system, or with tools built by hand, passes too.
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
build hdr:stdlib.h libc6-dev
check cmd:g++ g++
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
check cmd:fakeroot fakeroot
check lib:libeatmydata.so.1 libeatmydata1
check cmd:less less
check cmd:zsh zsh
check cmd:fish fish
check cmd:clang-format-14 clang-format-14
check cmd:ms_print valgrind
check cmd:heaptrack_print heaptrack
check cmd:dot graphviz
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
lib_dirs=(/usr/local/lib /usr/lib64 /usr/lib /lib/*-linux-gnu
	/usr/lib/*-linux-gnu /usr/lib/llvm-*/lib/clang/*/lib/linux)
hdr_dirs=(/usr/local/include /usr/include /usr/include/*-linux-gnu)

exists_under() {
	local name=$1 dir
	shift
	for dir; do
		[[ -e $dir/$name ]] && return 0
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
	esac
}

find_missing() { # GROUP...
	local group probe package

	missing=()
	while read -r group probe package; do
		[[ " $* " == *" $group "* ]] || continue
		is_there "$probe" || missing+=("$package")
	done <<<"${needs#$'\n'}"
}

find_missing "$@"
[[ ${#missing[@]} -eq 0 ]] && exit 0

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
install=("${as_root[@]}" apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "${missing[@]}")

by_hand() {
	echo "seep: missing: ${missing[*]}" >&2
	echo "seep: $1; please type:" >&2
	echo "  ${install[*]}" >&2
	exit 1
}

command -v apt-get >/dev/null || by_hand "no apt-get here (names are Debian's)"
if [[ ${#as_root[@]} -gt 0 ]]; then
	# never ask for a password in the middle of a build
	sudo -n true 2>/dev/null || by_hand "not root"
fi

# Servers come here to be run by tests: none is to be started by its package.
policy=/usr/sbin/policy-rc.d
if [[ ! -e $policy ]]; then
	trap '"${as_root[@]}" rm -f "$policy"' EXIT
	printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
	"${as_root[@]}" chmod 755 "$policy"
fi

echo "seep: installing ${missing[*]}" >&2
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q >&2 || echo "seep: apt-get update failed, trying anyway" >&2
"${install[@]}" -q </dev/null >&2 || by_hand "apt-get failed"
