# systemd.bash - a real systemd for the tests of one file: boots it once, runs commands in it, and takes it away again.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# In a bats file, after `load ../../lib/record.bash` (or host.bash):
#
#	load ../../systemd/systemd.bash
#	setup_file() { systemd_boot [UNITDIR [COPY...]]; }
#	teardown_file() { systemd_end; }
#	@test "..." {
#		systemd_needed                 # skips where it could not be booted
#		inside systemctl start redis-server
#	}
#
# The command and the libraries of the build are in /opt/seep inside, `seep` is in
# the PATH of `inside`, and /run/seep is there as tmpfiles.d makes it.

SYSTEMD_SECONDS=${SYSTEMD_SECONDS:-60} # for one command, and for booting

# systemd_why_not: why no systemd can be booted here; nothing if it can
systemd_why_not() {
	[[ $(id -u) -eq 0 ]] || {
		echo "needs root, for a systemd"
		return
	}
	unshare -m -p -f -i -n -u -C --kill-child --propagation private true 2>/dev/null || {
		echo "no mount and pid namespaces here"
		return
	}
	# shellcheck disable=SC2016
	unshare -m --propagation private bash -c '
		mount -t tmpfs tmpfs /mnt && mkdir /mnt/u /mnt/w /mnt/m /mnt/c &&
			mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/u,workdir=/mnt/w /mnt/m &&
			mount -t cgroup2 none /mnt/c && mkdir /mnt/c/seep-test-$1-0 && rmdir /mnt/c/seep-test-$1-0
	' why "${SEEP_RUN:-0}" 2>/dev/null || echo "not permitted here: an overlay of / and a cgroup"
}

# systemd_boot [UNITDIR [COPY...]]: for setup_file. COPY files go to /opt/seep.
systemd_boot() {
	local units=${1:-} why file
	local -a copy=()
	export SYSTEMD=$BATS_FILE_TMPDIR/systemd
	shift || true
	mkdir -p "$SYSTEMD"
	why=$(systemd_why_not)
	if [[ -n $why ]]; then
		echo "$why" >"$SYSTEMD/why_not"
		return
	fi
	for file in "$BUILD"/seep "$BUILD"/libseep*.so; do
		[[ $file == *-verify.so ]] || copy+=("$file")
	done
	setsid "${BASH_SOURCE[0]%/*}/boot" "$SYSTEMD" "$units" "${copy[@]}" "$@" \
		>"$SYSTEMD/log" 2>&1 </dev/null 3>&- 4>&- &
	echo $! >"$SYSTEMD/boot_pid"
	systemd_wait || {
		cat "$SYSTEMD/log" >&2
		systemd_end
		return 1
	}
	inside install -d -m 1777 /run/seep
	inside chmod 1777 /run/seep
}

# until it answers
systemd_wait() {
	local begin=$SECONDS state
	while ((SECONDS - begin < SYSTEMD_SECONDS)); do
		if [[ -s $SYSTEMD/pid ]]; then
			state=$(inside systemctl is-system-running 2>/dev/null) || true
			[[ $state != @(running|degraded) ]] || return 0
		fi
		sleep 0.1
	done
	echo "systemd does not answer: ${state:-no pid}" >&2
	return 1
}

# systemd_needed: in each test; it skips where there is none
systemd_needed() {
	[[ ! -s $SYSTEMD/why_not ]] || systemd_skip "$(cat "$SYSTEMD/why_not")"
}
systemd_skip() {
	case $1 in
	"needs root"*) skip "needs root, for a systemd" ;;
	"no mount"*) skip "no mount and pid namespaces here" ;;
	*) skip "not permitted here: an overlay of / and a cgroup" ;;
	esac
}

# inside COMMAND...: as root of the throw-away system
inside() {
	timeout -k 5 "$SYSTEMD_SECONDS" nsenter -a -t "$(cat "$SYSTEMD/pid")" \
		env -u SEEP_DIR -u TMPDIR -u XDG_CACHE_HOME HOME=/root \
		PATH=/opt/seep:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" 3>&- 4>&-
}

# systemd_end: for teardown_file. Ends all that it started, and its cgroups.
systemd_end() {
	local pid begin=$SECONDS
	for pid in $(cat "$SYSTEMD/pid" "$SYSTEMD/boot_pid" 2>/dev/null); do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[[ -s $SYSTEMD/cgroup ]] || return 0
	# shellcheck disable=SC2016
	until unshare -m --propagation private bash -c '
		mkdir -p "$1/cg" && mount -t cgroup2 none "$1/cg" && cd "$1/cg" || exit 1
		[[ ! -d $2 ]] || find "$2" -depth -type d -exec rmdir {} + 2>/dev/null
		[[ ! -d $2 ]]' end "$SYSTEMD" "$(cat "$SYSTEMD/cgroup")"; do
		((SECONDS - begin < SYSTEMD_SECONDS)) || return 1
		sleep 0.1
	done
}
