# host.bash - runs a host bare or traced and holds the report against it.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

repo=$(cd "${BASH_SOURCE[0]%/*}/../.." && pwd)
BUILD=${SEEP_BUILD:-build}
[[ $BUILD == /* ]] || BUILD=$repo/$BUILD
HOSTS=$BUILD/hosts
[[ -d $HOSTS ]] || HOSTS=$repo/build/hosts # hosts are never sanitized
LIB=$repo/tests/lib
PYTHON=/usr/bin/python3
[[ -x $PYTHON ]] || PYTHON=python3
SEEP=$BUILD/seep
COLLECTOR=$BUILD/libseep.so

# $T: scratch of this test; $DIR: where its segments go, on tmpfs, ours alone
setup() {
	T=$BATS_TEST_TMPDIR
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	OWN_DIR=$DIR # a test may point $DIR elsewhere
	PIDS=()
	AS=() # in front of a host: see drop_privileges
	ulimit -c 0
	# names found in other tests, or by the user, are none of ours
	export XDG_CACHE_HOME=$BATS_RUN_TMPDIR/cache
}

# end only what this test started, by its id
teardown() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill -KILL "$pid" 2>/dev/null || true
	done
	[[ -z ${DIR:-} ]] || rm -rf "$DIR" "$OWN_DIR"
	# where $DIR was not to be had, a host went to the default place
	for pid in $(grep -hsx 'PID [0-9]*' "$T"/out* "$T/pids" | cut -c5- | sort -u); do
		rm -f "/dev/shm/seep-$(id -u)"/*-"$pid"-*
	done
}

full() { [[ -n ${SEEP_FULL:-} ]]; }

# full_or N M: N in the full form (SEEP_FULL=1), M in make check
full_or() { full && echo "$1" || echo "$2"; }

# waiting [VARIABLE=VALUE...]: the host toggled, traced, which waits for lines
# on descriptor 9; its pid is in $HOST. untraced_waiting: the same, bare.
waiting() {
	untraced_waiting LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" "$@"
}
untraced_waiting() {
	mkfifo "$T/lines"
	env "$@" "$HOSTS/toggled" <"$T/lines" >"$T/out" 2>"$T/err" 3>&- &
	HOST=$!
	PIDS+=("$HOST")
	exec 9>"$T/lines"
	answered ready
}

# eventually COMMAND...: waits until it succeeds. A minute is no measure of
# speed: it is for a machine on which everything stands still for a while.
eventually() {
	local begin=$SECONDS
	until "$@"; do
		if [[ $((SECONDS - begin)) -gt 60 ]]; then
			echo "not within a minute: $*"
			return 1
		fi
		sleep 0.05
	done
}

# answered WORD: the waiting host has said so
answered() { eventually grep -q "^$1" "$T/out"; }

# the waiting host is asked to end and does so as if nothing had been
ends_well() {
	printf '\n\n\n\n' >&9
	exec 9>&-
	wait "$HOST"
	[[ ! -s $T/err ]]
	grep -q 'SITE alloc_third' "$T/out"
}

# bare COMMAND...: output in $T/bare, status in $bare_status. The same words
# and files as traced(), so that the two differ by our own entries alone.
bare() {
	bare_status=0
	timeout "${LIMIT:-60}" "${AS[@]}" env SEEP_DIR="$DIR" "$@" \
		>"$T/now" 2>"$T/now.err" || bare_status=$?
	mv "$T/now" "$T/bare"
	mv "$T/now.err" "$T/bare.err"
}

# traced COMMAND...: output in $T/out and $T/err, status in $status.
# PRELOAD_MORE: further libraries, behind ours.
traced() {
	status=0
	timeout "${LIMIT:-60}" "${AS[@]}" env \
		LD_PRELOAD="$COLLECTOR${PRELOAD_MORE:+ $PRELOAD_MORE}" \
		SEEP_DIR="$DIR" "$@" >"$T/now" 2>"$T/now.err" || status=$?
	mv "$T/now" "$T/out"
	mv "$T/now.err" "$T/err"
	grep -s '^PID ' "$T/out" >>"$T/pids" || true
}

# traced, and it went well and said nothing on stderr
traced_well() {
	traced "$@"
	if [[ $status -ne 0 || -s $T/err ]]; then
		echo "status $status of: $*"
		head -n 5 "$T/err"
		grep BROKEN "$T/out" || tail -n 3 "$T/out"
		return 1
	fi
}

# shellcheck disable=SC2120 # tests give it a file or a pid
report() { "$SEEP" report "${1:-$DIR}" --format json >"$T/report.json"; }

# equals_ledger [OPTIONS of compare.py]: the report, with shared frames, against $T/out
equals_ledger() {
	"$SEEP" report "$DIR" --format json --frames shared >"$T/report.json" || return
	local answer=0
	"$PYTHON" "$LIB/compare.py" "$T/out" "$T/report.json" "$@" || answer=$?
	[[ $answer -ne 77 ]] || skip "the host found no room for its test"
	return "$answer"
}

# the value of an expression over the report, d["processes"] = p
from_report() {
	PYTHONPATH=$LIB "$PYTHON" -c '
import shared, sys
d = shared.load(sys.argv[1])
p = d["processes"]
print(eval(sys.argv[2]))' "$T/report.json" "$1"
}

# same_as_bare: output and status, but for our pid and remarks
same_as_bare() {
	diff <(grep -vE '^(PID|#)' "$T/bare") <(grep -vE '^(PID|#)' "$T/out") &&
		diff "$T/bare.err" "$T/err" && [[ $status -eq $bare_status ]]
}

# complains CODE COMMAND...: exactly one line, "seep: ...", and this status
complains() {
	local code=$1 got=0
	shift
	timeout 30 "$@" >"$T/said" 2>"$T/complaint" || got=$?
	if [[ $got -ne $code || $(wc -l <"$T/complaint") -ne 1 ]] ||
		! grep -q '^seep: ..*' "$T/complaint" || [[ -s $T/said ]]; then
		echo "status $got (expected $code) of: $*"
		sed 's/^/stderr: /' "$T/complaint"
		head -n 3 "$T/said" | sed 's/^/stdout: /'
		return 1
	fi
}

# need COMMAND: it is in a package that `make check` installs (tools/deps.sh), so a
# test that lacks it fails. Skips are for hardware, kernel and privileges alone.
need() { command -v "$1" >/dev/null || lacking "$1"; }
lacking() {
	echo "missing: $1; 'make deps-check' installs what the tests need"
	return 1
}

# unprivileged COMMAND...: root runs it as nobody
unprivileged() {
	local -a as=()
	[[ $(id -u) -ne 0 ]] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	"${as[@]}" "$@"
}

# hosts run without privileges from here on: root becomes nobody
drop_privileges() {
	if [[ $(id -u) -eq 0 ]]; then
		AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		chown 65534:65534 "$DIR"
		"${AS[@]}" test -x "$SEEP" || skip "nobody cannot come here"
	fi
}

# in_namespace COMMAND...: in a pid namespace of its own, with its own /proc
in_namespace() {
	unshare --pid --fork --mount-proc --kill-child "${USER_NS[@]}" "$@"
}

# it can be had; as a normal user by a user namespace
setup_namespace() {
	USER_NS=()
	[[ $(id -u) -eq 0 ]] || USER_NS=(--user --map-root-user)
	in_namespace true 2>/dev/null || skip "no pid namespace here"
}

# make_cgroup BYTES: a memory cgroup of this test's own, of either version;
# sets $GROUP. False: none can be made here.
make_cgroup() {
	local base
	if [[ -e /sys/fs/cgroup/cgroup.controllers ]]; then
		base=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
		GROUP=$base/seep-test-${SEEP_RUN:-0}-$$
		mkdir "$GROUP" 2>/dev/null &&
			echo "$1" 2>/dev/null >"$GROUP/memory.max"
	else
		base=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)
		[[ -d $base ]] || base=/sys/fs/cgroup/memory
		GROUP=$base/seep-test-${SEEP_RUN:-0}-$$
		mkdir "$GROUP" 2>/dev/null &&
			echo "$1" 2>/dev/null >"$GROUP/memory.limit_in_bytes"
	fi
}

# own_mounts COMMAND...: in a mount namespace; who is not root becomes it there
own_mounts() {
	if [[ $(id -u) -eq 0 ]]; then
		unshare -m "$@"
	else
		unshare -Urm "$@"
	fi
}

# dead_links FOLDER: fails and tells where a document there names a file that is
# not there, or what is typed is a file of the sources
dead_links() {
	"$PYTHON" - "$1" <<-'END'
		import pathlib, re, sys
		bad = []
		for path in pathlib.Path(sys.argv[1]).glob("**/*.md"):
		    text = path.read_text(encoding="utf-8")
		    for target in re.findall(r"\]\(([^)\s]+)\)", text):
		        file, _, anchor = target.partition("#")
		        if ":" in file or (file and not (path.parent / file).exists()):
		            bad += [f"{path.name}: {target}"] if ":" not in file else []
		            continue
		        page = (path.parent / file).read_text(encoding="utf-8") if file.endswith(".md") else text
		        heads = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
		                 for h in re.findall(r"^#+ (.*)$", page, re.M)}
		        if anchor and anchor not in heads:
		            bad.append(f"{path.name}: {target}")
		    bad += [f"{path.name}: build/seep"] if re.search(r"\bbuild/seep\b", text) else []
		print("\n".join(bad))
		sys.exit(bool(bad))
	END
}

# at_their_time N: the N events in $T/logged are those of $T/out, each of them no
# more than a look at a coarse clock before, and the start of a program after.
at_their_time() {
	paste -d' ' "$T/out" "$T/logged" | tee /dev/stderr |
		awk -v n="$1" '$1 != $4 || $2 != $5 || $6 - $3 < -15 || $6 - $3 > 60 { bad++ } END { exit bad || NR != n }'
}
