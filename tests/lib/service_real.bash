# service_real.bash - a unit of Debian in a real systemd: enable, start, load, report, crash, disable.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# (after record.bash and systemd/systemd.bash)

# as_systemd_sees UNIT: its files and its properties, but for those that every
# start changes; the words of a line in one order, because systemd has none. SEES
# is the command that asks.
SEES=(inside systemctl)
as_systemd_sees() {
	"${SEES[@]}" cat "$1"
	"${SEES[@]}" show "$1" | sed 's/ ; start_time=.*//' |
		grep -vE '^(ActiveState|SubState|Result|FreezerState|StatusText|StatusErrno|ControlGroup|ControlGroupId|InvocationID|NRestarts|(Main|Control|ExecMain)PID|ExecMain.*|.*Timestamp.*|.*Current|MemoryAvailable|CPUUsageNSec|IO(Read|Write).*|IP(In|E)gress.*|ConditionResult|AssertResult|StateChange.*|NFileDescriptorStore|UID|GID|RuntimeDirectorySymlink|EffectiveCPUs|EffectiveMemoryNodes|Job|BusName|WatchdogUSec)=' |
		"$PYTHON" -c 'import sys; [print(*sorted(line.replace("=", " = ", 1).split())) for line in sys.stdin]'
}

# main_pid UNIT: as it is inside
main_pid() { inside systemctl show -p MainPID --value "$1"; }

# traced UNIT PROGRAM: a process of the unit that is this program, by its segment
traced() {
	inside seep service status "$1" >"$T/status" || return 1
	sed -n "s/^process *\([0-9]*\) $2: traced for .*/\1/p" "$T/status" | tail -1 | grep .
}

# lives_and_leaves UNIT PROGRAM LOAD...: all of it. LOAD runs inside.
lives_and_leaves() {
	local unit=$1 program=$2 pid
	shift 2
	as_systemd_sees "$unit" >"$T/before"
	inside seep service enable ${ONLY:+--only "$ONLY"} "$unit" >"$T/out" # ONLY: a shell is before it
	cat "$T/out"
	[[ $(inside systemctl is-active "$unit") != active ]] # the restart is the user's
	inside systemctl start "$unit" || {
		inside systemctl status "$unit" | cat
		return 1
	}
	eventually traced "$unit" "$program" >/dev/null
	inside "$@" >"$T/load"
	tail -3 "$T/load"
	inside seep service status "$unit" | tee "$T/status"
	grep -q "^drop-in *.*50-seep.conf$" "$T/status"
	grep -q 'LD_PRELOAD=/opt/seep/libseep.so' "$T/status"
	pid=$(traced "$unit" "$program")
	inside seep report "$pid" >"$T/report"
	head -12 "$T/report"
	grep -q "$program" "$T/report"
	# a crash: what it held can still be read, wherever systemd has cleaned up
	inside kill -SEGV "$pid"
	eventually has_ended "$pid"
	inside systemctl stop "$unit" 2>/dev/null || true
	inside systemctl reset-failed "$unit" 2>/dev/null || true
	inside seep ls | grep -A1 "^ *$pid " | tee "$T/dead"
	grep -q '/run/seep/seep-' "$T/dead"
	inside seep report "$pid" --format json >"$T/dead.json"
	jq -e '.processes[0].totals | .live_bytes > 1000 and .allocations > 10' "$T/dead.json"
	# no shell, helper or wrapper has left a file
	inside seep ls --format json >"$T/list.json"
	jq -r '.processes[].exe' "$T/list.json" | sort -u
	[[ -z $(jq -r '.processes[].exe' "$T/list.json" | grep -E '/(bash|dash|sh|perl[0-9.]*|kill|start-stop-daemon|dbus-send)$') ]]
	inside seep service disable "$unit"
	as_systemd_sees "$unit" >"$T/after"
	diff "$T/before" "$T/after"
	inside seep ls --prune >/dev/null
}

has_ended() { ! inside kill -0 "$1" 2>/dev/null; }
