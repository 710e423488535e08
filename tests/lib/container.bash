# container.bash - containers of a real OCI runtime (crun), for the tests of one file.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# A container has the machine's /usr, read-only, a root that is read-only, /dev/shm
# of 64 MiB, its own pid, ipc, uts and mount namespaces, no capability, and the
# build in /opt/seep. crun runs in a mount namespace that has cgroup2 alone; it
# makes no cgroups. CONFIG is a jq filter over config.json, to change any of it.

# containers_needed: in each test; it skips where no container can be had
containers_needed() {
	need crun
	[[ $(id -u) -eq 0 ]] || skip "needs root, for a container"
	unshare -m -p -f -i -u --kill-child --propagation private true 2>/dev/null ||
		skip "no mount and pid namespaces here"
	unshare -m --propagation private mount -t cgroup2 none /sys/fs/cgroup 2>/dev/null ||
		skip "not permitted here: a mount of cgroup2"
}

# container_config UID ARG...: the configuration of a container, on stdout
container_config() {
	local uid=$1
	shift
	printf '%s\036' "$@" | jq -Rs --arg build "$BUILD" --arg app "$T/app" --argjson uid "$uid" '. as $words | {
		ociVersion: "1.0.2",
		process: {
			terminal: false, cwd: "/", args: ($words | split("\u001e")[:-1]), noNewPrivileges: true,
			user: {uid: $uid, gid: $uid},
			env: ["PATH=/opt/seep:/usr/bin:/bin", "LD_PRELOAD=/opt/seep/libseep.so", "HOME=/tmp"],
			capabilities: {bounding: [], effective: [], permitted: [], inheritable: [], ambient: []}
		},
		root: {path: "rootfs", readonly: true},
		mounts: [
			{destination: "/proc", type: "proc", source: "proc"},
			{destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755", "size=65536k"]},
			{destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"]},
			{destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["mode=1777"]},
			{destination: "/usr", type: "bind", source: "/usr", options: ["rbind", "ro"]},
			{destination: "/opt/seep", type: "bind", source: $build, options: ["bind", "ro"]},
			{destination: "/opt/app", type: "bind", source: $app, options: ["bind", "ro"]}
		],
		linux: {namespaces: [{type: "pid"}, {type: "ipc"}, {type: "uts"}, {type: "mount"}]}
	}'
}

# container_bundle NAME UID ARG...: a bundle in $T/NAME, changed by $CONFIG
container_bundle() {
	local root=$T/$1/rootfs link
	mkdir -p "$root"/{usr,etc,proc,dev,tmp,run,sys,opt/seep,opt/app,share} "$T/app"
	for link in bin sbin lib lib64; do
		[[ ! -L /$link ]] || cp -P "/$link" "$root/"
	done
	container_config "${@:2}" | jq "${CONFIG:-.}" >"$T/$1/config.json"
}

# container NAME UID ARG...: runs it in the foreground
container() {
	container_bundle "$@"
	# shellcheck disable=SC2016
	timeout -k 5 60 unshare -m --propagation private bash -c '
		mount -t tmpfs tmpfs /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup && cd "$1" &&
			exec crun --root "$1/state" --cgroup-manager=disabled run --pid-file "$1/pid" "$2"' \
		run "$T/$1" "seep-test-${SEEP_RUN:-0}-$1" 3>&-
}

container_came() { [[ -s $1 ]] || ! kill -0 "$CRUN" 2>/dev/null; }

# container_behind NAME UID ARG...: in the background; its init is $INIT outside
container_behind() {
	container "$@" >"$T/$1.out" 2>"$T/$1.err" </dev/null &
	CRUN=$!
	PIDS+=("$CRUN")
	eventually container_came "$T/$1/pid"
	[[ -s $T/$1/pid ]] || {
		cat "$T/$1.err"
		return 1
	}
	INIT=$(<"$T/$1/pid")
	PIDS+=("$INIT")
}
