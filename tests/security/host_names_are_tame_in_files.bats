#!/usr/bin/env bats
# host_names_are_tame_in_files - with SEEP_SNAPSHOT_NAME=%h, snapshots stay in their directory under a plain name, whatever the machine's host name is.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash

# on_host NAME VARIABLE=VALUE... COMMAND...: where the host has this name (Python's escapes)
on_host() {
	local name=$1 flags=-Uru
	shift
	[[ $(id -u) -ne 0 ]] || flags=-u
	unshare $flags "$PYTHON" -c '
import os, socket, sys
socket.sethostname(eval("b\"" + sys.argv[1] + "\""))
os.execvp("env", ["env"] + sys.argv[2:])' "$name" "$@"
}

names() { find "$DIR" "$T/top" -name '*.seep-snap' | sort; }

@test "slashes, dots, control bytes, dashes and spaces" {
	local name wanted
	on_host here true 2>/dev/null || skip "not permitted here: a host name of our own"
	mkdir -p "$T/top"
	while read -r name wanted; do
		on_host "$name" LD_PRELOAD="$COLLECTOR" SEEP_DIR="$DIR" SEEP_SNAPSHOT_NAME='%h-%e' \
			"$HOSTS/many_snapshots" 2 >"$T/out"
		grep -qx 'NUMBER 2' "$T/out"
		names
		[[ $(find "$DIR" -name '*.seep-snap' | wc -l) -eq 2 ]]
		[[ $(find "$DIR" -name '*-2.seep-snap') == "$DIR/$wanted-many_snapshots-"* ]]
		# readers find it under this name
		SEEP_DIR=$DIR "$SEEP" ls | grep -q "#2 "
		rm -rf "${DIR:?}"/*
	done <<-'END'
		web-1.example web-1.example
		../../../../tmp/x _._.._.._.._tmp_x
		/etc/cron.d/x _etc_cron.d_x
		.hidden _hidden
		.. _.
		-rf _rf
		a\nb\x1b[31m\x7f a_b__31m_
		\xe2\x80\xae\xff ____
		x;rm\x20$(id) x_rm___id_
	END
	[[ -z $(names) ]]
}

@test "a template that is not one of names is refused as a whole, and counted" {
	SEEP_SNAPSHOT_NAME='%n-%h' traced_well "$HOSTS/many_snapshots" 1
	[[ -n $(find "$DIR" -name "many_snapshots-*-1.seep-snap") ]]
	report
	[[ $(from_report 'p[0]["lost"]["settings_ignored"]') -eq 1 ]]
	rm -f "$DIR"/*
	SEEP_SNAPSHOT_NAME='../%p/..' traced_well "$HOSTS/many_snapshots" 1
	find "$DIR"
	[[ -n $(find "$DIR" -maxdepth 1 -name "_._*_..-*-1.seep-snap") ]]
}
