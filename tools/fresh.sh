#!/bin/bash
# fresh.sh - does the README hold on a Debian that has nothing but gcc and make?
# SPDX-License-Identifier: Apache-2.0
#
# usage: tools/fresh.sh [--keep] [--root-only]
#
# Makes a minimal Debian by debootstrap in a temporary directory and enters it
# with pivot_root, in namespaces of its own for mounts, processes and IPC, so
# that nothing stays mounted and no process survives. There, in clones of HEAD:
#   1. plain `make` must install nothing, name the packages and fail;
#   2. the commands of the README, `make demo` and `make check`, as root;
#   3. `make check` once more as a normal user (not with --root-only).
# The machine's suite, mirrors, proxies, certificates and settings of npm are
# read when it runs. Needs root, 8 GB below ${TMPDIR:-/var/tmp}, and the network;
# takes as long as two `make check` and the installation. --keep leaves the
# directory. The log is build/fresh.log.
#
# The last line is "N passed, N failed, N skipped". It fails if a test failed,
# or was skipped for another reason than hardware, the kernel or privileges
# (tools/lint/skips.allow).
set -u
here=$(cd "$(dirname "$0")/.." && pwd)
user=tester

# ---- inside ----------------------------------------------------------------

devices() { # DIR: a /dev of its own
	local name
	mount -t tmpfs -o mode=755 tmpfs "$1"
	for name in null zero full random urandom tty; do
		touch "$1/$name"
		mount --bind "/dev/$name" "$1/$name"
	done
	mkdir "$1/pts" "$1/shm"
	mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$1/pts"
	mount -t tmpfs -o mode=1777 tmpfs "$1/shm"
	ln -s pts/ptmx "$1/ptmx"
	ln -s /proc/self/fd "$1/fd"
	ln -s /proc/self/fd/0 "$1/stdin"
	ln -s /proc/self/fd/1 "$1/stdout"
	ln -s /proc/self/fd/2 "$1/stderr"
}

# pivot_root, not chroot: a process in a chroot may not make user namespaces.
enter() { # ROOT
	mount --bind "$1" "$1" && cd "$1" || return
	mount -t proc proc proc
	mount --rbind /sys sys
	devices dev
	mkdir -p old
	pivot_root . old && cd / && umount -l /old && rmdir /old
}

# as WHO COMMAND: like a new session; lines of /settings are its environment
as() {
	local who=$1 home=/root place=/srv/seep
	local -a become=() settings
	shift
	if [[ $who != root ]]; then
		home=/home/$who place=/home/$who/seep
		become=(setpriv --reuid="$who" --regid="$who" --init-groups)
	fi
	mapfile -t settings </settings
	(cd "$place" && env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		HOME="$home" USER="$who" LOGNAME="$who" TERM=dumb SEEP_ALONE=1 \
		"${settings[@]}" "${become[@]}" "$@" </dev/null 2>&1)
}

say() { printf '\n==== %s\n' "$*"; }

plain_make_tells() {
	local before said status=0
	before=$(dpkg-query -f '${Package}\n' -W)
	say "root: make (must name what is missing, and install nothing)"
	said=$(as root make) || status=$?
	echo "$said"
	if [[ $status -eq 0 || $(grep -c '^seep: missing: .*libdw-dev.*make deps' <<<"$said") -ne 1 ||
		$before != "$(dpkg-query -f '${Package}\n' -W)" ]]; then
		echo "FRESH FAIL: plain make"
	else
		echo "FRESH OK: plain make"
	fi
}

# A user who cannot install is told what to type, and no test runs.
user_is_told() {
	local said status=0
	say "$user: make check without the packages (must fail and say what to type)"
	said=$(as "$user" make check) || status=$?
	echo "$said"
	if [[ $status -eq 0 || $said != *"apt-get"*"install"*bats* || $said == *" passed"* ]]; then
		echo "FRESH FAIL: make check of a user without packages"
	else
		echo "FRESH OK: make check of a user without packages"
	fi
}

inside() { # ROOT HOW
	local command status
	enter "$1" || exit 1
	plain_make_tells
	user_is_told
	while read -r command; do
		say "root: $command"
		status=0
		# shellcheck disable=SC2086 # the words of the README
		as root $command || status=$?
		echo "FRESH $([[ $status -eq 0 ]] && echo OK || echo FAIL): root: $command"
	done </commands
	[[ $2 != --root-only ]] || return 0
	say "$user: make check"
	status=0
	as "$user" make check || status=$?
	echo "FRESH $([[ $status -eq 0 ]] && echo OK || echo FAIL): $user: make check"
}

# ---- outside ---------------------------------------------------------------

die() {
	echo "fresh.sh: $*" >&2
	echo "0 passed, 1 failed"
	exit 1
}

# repositories: "URI RELEASE COMPONENT" of Debian's own, as apt knows them here
repositories() {
	# shellcheck disable=SC2016 # these are fields of apt
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT) $(ORIGIN)' \
		'Created-By: Packages' | sort -u | sed -n 's/ Debian$//p'
}

# settings: of the machine, needed to reach package servers, as VARIABLE=VALUE
settings() {
	local name value ca=${SSL_CERT_FILE:-/etc/ssl/certs/ca-certificates.crt}
	for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY; do
		[[ -z ${!name:-} ]] || echo "$name=${!name}"
	done
	if [[ -r $ca ]]; then
		cp "$ca" "$root/usr/local/share/machine-ca.crt"
		echo NODE_EXTRA_CA_CERTS=/usr/local/share/machine-ca.crt
	fi
	command -v npm >/dev/null || return 0
	for name in registry proxy https-proxy noproxy strict-ssl; do
		value=$(cd / && npm config get "$name" 2>/dev/null)
		[[ -z $value || $value == @(null|undefined) ]] ||
			echo "npm_config_${name//-/_}=$value"
	done
}

# The commands in the README's first block of code.
commands() {
	awk '/^    make / { print; seen = 1; next } seen { exit }' "$here/README.md" |
		sed -E 's/^ +//; s/ +#.*//'
}

furnish() { # the new root gets what a machine has: network, users, the sources
	local place
	cp /etc/resolv.conf /etc/hosts "$root/etc/"
	hostname >"$root/etc/hostname"
	repositories | sed 's/^/deb /' >"$root/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(https?|ftp|Retries|ForceIPv[46])\b' \
		>"$root/etc/apt/apt.conf.d/90machine"
	settings >"$root/settings"
	commands >"$root/commands"
	[[ $(grep -cx 'make demo\|make check' "$root/commands") -eq 2 ]] ||
		die "the README's first block has no 'make demo' and 'make check'"
	chroot "$root" useradd -m -s /bin/bash "$user"
	# not below /root, where nobody else may come
	for place in "$root/srv/seep" "$root/home/$user/seep"; do
		git -C "$here" clone -q --no-hardlinks . "$place" || die "git clone failed"
	done
	# this root is thrown away, so dpkg need not wait for the disk
	echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
	chroot "$root" chown -R "$user:$user" "/home/$user"
}

# totals LOG: adds up the last lines of the runs and the steps around them, and
# judges the skips
totals() {
	local passed failed skipped=0 runs=0 p f s why class
	passed=$(grep '^FRESH OK' "$1" | grep -cv 'make check$')
	failed=$(grep '^FRESH FAIL' "$1" | grep -cv 'make check$')
	while read -r p f s; do
		runs=$((runs + 1)) passed=$((passed + p)) failed=$((failed + f))
		skipped=$((skipped + ${s:-0}))
	done < <(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$/\1 \2 \4/p' "$1")
	# a run that did not come to its last line
	[[ -n $how ]] && s=1 || s=2
	[[ $runs -eq $s ]] || failed=$((failed + s - runs))
	while read -r class why; do
		echo "skipped ($class): $why"
		[[ $class == @(hardware|kernel|root|user|absent) ]] || failed=$((failed + 1))
	done < <("$here/tools/lint/check-skips.sh" --classify <"$1")
	grep '^FRESH' "$1"
	echo "$passed passed, $failed failed, $skipped skipped"
	[[ $failed -eq 0 && $passed -gt 0 ]]
}

if [[ ${1:-} == --inside ]]; then
	inside "$2" "${3:-}"
	exit
fi

keep=''
how=''
for word; do
	case $word in
	--keep) keep=1 ;;
	--root-only) how=--root-only ;;
	*)
		sed -n '5s/^# //p' "$0" >&2
		exit 2
		;;
	esac
done
[[ $(id -u) -eq 0 ]] || die "needs root, for debootstrap and mounts"
unshare -mpif true 2>/dev/null || die "no mount and pid namespaces can be made here"
"$here/tools/deps.sh" fresh || die "debootstrap is missing"
[[ -z $(git -C "$here" status --porcelain) ]] ||
	echo "fresh.sh: not committed, so not tested: $(git -C "$here" status --porcelain | wc -l) files" >&2

work=$(mktemp -d -p "${TMPDIR:-/var/tmp}" seep-fresh.XXXXXX) || exit 1
root=$work/root
log=$here/build/fresh.log
mkdir -p "$here/build"
clean_up() {
	[[ -z $keep ]] || { echo "fresh.sh: kept: $root"; return; }
	rm -rf --one-file-system "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

read -r mirror suite _ < <(repositories | grep -vE -- '-(security|updates|backports) ')
[[ -n ${suite:-} ]] || die "apt knows no Debian repository here (apt-get update?)"
say "debootstrap $suite, with gcc and make"
debootstrap --variant=minbase --include=gcc,make "$suite" "$root" "$mirror" \
	>"$work/debootstrap.log" 2>&1 || { tail "$work/debootstrap.log"; die "debootstrap failed"; }
furnish
unshare -mpif --kill-child=KILL "$0" --inside "$root" "$how" 2>&1 | tee "$log"
say "totals"
totals "$log"
