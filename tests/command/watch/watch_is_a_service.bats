#!/usr/bin/env bats
# watch_is_a_service - contrib/systemd/seep-watch.service in a real systemd: starts, sees the services of other users, and loses nothing.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../systemd/systemd.bash

setup_file() {
	local units=$BATS_FILE_TMPDIR/units
	mkdir "$units"
	sed 's|@bindir@|/opt/seep|' "$BATS_TEST_DIRNAME/../../../contrib/systemd/seep-watch.service" >"$units/seep-watch.service"
	# of another user, hardened as services of Debian are
	cat >"$units/forker.service" <<-END
		[Service]
		ExecStart=/opt/seep/many_children 1000000 10 100 48 _exit
		Environment=LD_PRELOAD=/opt/seep/libseep.so SEEP_BASE=/run/seep
		User=nobody
		NoNewPrivileges=yes
		PrivateTmp=yes
		ProtectSystem=strict
		ProtectHome=yes
		ReadWritePaths=/run/seep
	END
	systemd_boot "$units" "$HOSTS/many_children"
}
teardown_file() { systemd_end; }

is_active() { [[ $(inside systemctl is-active "$1") == active ]]; }
main_pid() { inside systemctl show -p MainPID --value "$1"; }
# segments of nobody
segments() { inside find /run/seep -name '*.seg'; }
none_left() { [[ -z $(segments) ]]; }
history() { inside find /var/lib/seep/forker.service -name "$1" 2>/dev/null; }
has() { [[ -n $(history "$1") ]]; }
in_service() {
	inside seep report --format json --no-suppress /var/lib/seep/forker.service >"$T/report.json"
	from_report "$1"
}
wrote() { [[ $(in_service 'len(p)') -ge $1 ]]; }
is_another() { is_active seep-watch && [[ $(main_pid seep-watch) != "$1" ]]; }

@test "it starts, is ready, and its settings do not keep it from others' processes" {
	systemd_needed
	inside systemctl start seep-watch # returns after READY=1
	is_active seep-watch
	[[ $(inside systemctl show -p NotifyAccess,Type --value seep-watch | tr '\n' ' ') == *notify* ]]
	inside systemctl start forker
	eventually has '*.seep.part'
	eventually wrote 10
	[[ $(inside stat -c '%a %U' /var/lib/seep /var/lib/seep/forker.service | sort -u) == "700 root" ]]
	[[ $(inside cat "/proc/$(main_pid seep-watch)/status" | sed -n 's/^NoNewPrivs:\t//p') == 1 ]]
}

@test "kill -9: systemd starts it again, and nothing is lost" {
	systemd_needed
	is_active forker
	before=$(in_service 'len(p)')
	old=$(main_pid seep-watch)
	inside systemctl kill -s KILL --kill-who=main seep-watch
	eventually is_another "$old"
	# the chapter that was cut off is completed, and the next one is begun
	eventually has '*-0001.seep'
	eventually wrote $((before + 20))
}

@test "stopping it keeps everything, with names" {
	systemd_needed
	inside systemctl stop forker
	eventually none_left
	inside systemctl stop seep-watch
	[[ $(inside systemctl is-active seep-watch) == inactive ]]
	[[ -z $(history '*.part') ]]
	[[ $(in_service 'sum(x["lost"]["events"] + x["lost"]["children_untraced"] for x in p)') -eq 0 ]]
	# one may have been cut off by the stop
	[[ $(in_service 'sum(x["totals"]["allocations"] != 100 for x in p if x["parent"]) <= 1') == True ]]
	inside seep report /var/lib/seep/forker.service >"$T/text" || [[ $? -eq 3 ]]
	grep -q 'leave_blocks many_children.c' "$T/text"
	[[ $(in_service 'len(p) == len({x["uuid"] for x in p})') == True ]]
}

@test "processes that died while nobody watched are filed under their service" {
	systemd_needed
	before=$(in_service 'len(p)')
	inside systemctl start forker
	sleep 1
	inside systemctl stop forker
	[[ -n $(segments) ]]
	inside systemctl start seep-watch
	eventually none_left
	inside systemctl stop seep-watch
	inside find /var/lib/seep
	[[ $(inside ls /var/lib/seep) == forker.service ]]
	[[ $(in_service 'len(p)') -gt $((before + 3)) ]]
}
