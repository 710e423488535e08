#!/usr/bin/env bats
# watch_sees_namespaces - a container with its own /dev/shm: seen, watched, and its last state outlives it.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/watch.bash

# contained COMMAND...: traced, as pid 1 of namespaces with their own /dev/shm;
# $OUTER is the pid of unshare, $INNER that of the command as we see it
contained() {
	local -a user=(-U -r)
	[[ $(id -u) -ne 0 ]] || user=()
	unshare "${user[@]}" -mpf --mount-proc true 2>/dev/null || skip "no mount and pid namespaces here"
	mkfifo "$T/lines"
	unshare "${user[@]}" -mpf --mount-proc bash -c '
		mount -t tmpfs -o size=64m tmpfs /dev/shm
		exec env LD_PRELOAD="$0" "$@"' "$COLLECTOR" "$@" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	OUTER=$!
	PIDS+=("$OUTER")
	exec 9>"$T/lines"
	answered ready
	INNER=$(pgrep -P "$OUTER")
	PIDS+=("$INNER")
}

@test "the last state of a container's process is read after SIGKILL of its pid 1" {
	contained "$HOSTS/toggled"
	H=$T/history
	"$SEEP" watch --history "$H" "$INNER" 2>"$T/watch.err" 3>&- &
	WATCH=$!
	PIDS+=("$WATCH")
	eventually has_part
	printf '\n\n' >&9
	answered second
	"$SEEP" report --format json "$INNER" >"$T/report.json"
	was=$(from_report 'p[0]["totals"]["allocations"], p[0]["totals"]["live_bytes"]')
	kill -KILL "$INNER"
	exec 9>&-
	wait "$OUTER" || true
	eventually part_has_an_end
	unwatch
	[[ $(in_history 'len(p)') -eq 1 ]]
	[[ $(in_history '[(x["totals"]["allocations"], x["totals"]["live_bytes"]) for x in p.values()]') == "[$was]" ]]
	[[ $(in_history 'list(p.values())[0]["pid"]') -eq 1 ]]
	[[ $(in_history 'list(p.values())[0]["end"]') != running ]]
}
part_has_an_end() {
	"$SEEP" report --format json "$(compgen -G "$H/*/*.seep.part")" 2>/dev/null |
		grep -q '"end_state": *true'
}

# with_own_root COMMAND...: as contained, but below a root of its own, which has
# the programs of ours, and the command at /opt/inside
with_own_root() {
	local -a user=(-U -r)
	[[ $(id -u) -ne 0 ]] || user=()
	unshare "${user[@]}" -mpf --mount-proc true 2>/dev/null || skip "no mount and pid namespaces here"
	mkfifo "$T/lines"
	mkdir "$T/root"
	unshare "${user[@]}" -mpf --mount-proc bash -ec '
		mount -t tmpfs tmpfs "$2"
		cd "$2"
		mkdir -p usr lib lib64 proc dev/shm opt
		for d in usr lib lib64 proc; do mount --rbind "/$d" "$d"; done
		mount -t tmpfs -o size=64m tmpfs dev/shm
		cp "$1" opt/inside
		cp "$0" opt/libseep.so
		exec chroot . /usr/bin/env LD_PRELOAD=/opt/libseep.so /opt/inside' \
		"$COLLECTOR" "$1" "$T/root" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	OUTER=$!
	PIDS+=("$OUTER")
	exec 9>"$T/lines"
	answered ready
	INNER=$(pgrep -P "$OUTER")
	PIDS+=("$INNER")
}
holds_no_root() { [[ -z $(find "/proc/$WATCH/fd" -lname / 2>/dev/null) ]]; }
has_chapter() { compgen -G "$H/*/*.seep" >/dev/null; }

@test "functions of a container have names after its end, and its files are let go soon" {
	with_own_root "$HOSTS/toggled"
	H=$T/history
	"$SEEP" watch --history "$H" "$INNER" 2>"$T/watch.err" 3>&- &
	WATCH=$!
	PIDS+=("$WATCH")
	eventually has_part
	printf '\n\n' >&9
	answered second
	kill -KILL "$INNER"
	exec 9>&-
	wait "$OUTER" || true
	eventually part_has_an_end
	# nobody comes back, so the chapter ends long before its hour
	eventually has_chapter
	eventually holds_no_root
	unwatch
	"$SEEP" report "$H"/*/ >"$T/report"
	grep -q 'alloc_first toggled.c:' "$T/report"
}

@test "a watch inside of a container frees nothing of those outside" {
	unshare -Urpf --mount-proc true 2>/dev/null || skip "no pid namespace here"
	waiting
	H=$T/inside
	for _ in 1 2 3; do
		unshare -Urpf --mount-proc "$SEEP" watch --once --history "$H" "$DIR"
	done
	[[ -n $(find "$DIR" -name 'toggled*.seg') ]]
	"$SEEP" report "$HOST" >/dev/null
	ends_well
}
