#!/usr/bin/env bats
# service_root_is_thrown_away - the systemd of tests/systemd is a real one, cannot change the machine, and leaves nothing.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../systemd/systemd.bash

setup_file() {
	mkdir "$BATS_FILE_TMPDIR/units"
	cat >"$BATS_FILE_TMPDIR/units/lister.service" <<-END
		[Service]
		Type=oneshot
		ExecStart=/bin/ls /
		Environment=LD_PRELOAD=/opt/seep/libseep.so SEEP_BASE=/run/seep
	END
	systemd_boot "$BATS_FILE_TMPDIR/units"
}
teardown_file() { systemd_end; }

@test "it runs units, and the collector is visible in them" {
	systemd_needed
	[[ $(inside cat /proc/1/comm) == systemd ]]
	inside systemctl start lister
	inside find /run/seep -name 'ls-*.seg' | grep seg
	inside seep ls | grep '/ls'
}

@test "sysctls of the machine cannot be written, and its files stay as they are" {
	systemd_needed
	run inside sysctl -w kernel.pid_max=4194304
	[[ $status -ne 0 ]]
	inside touch /etc/only_inside /tmp/only_inside /var/tmp/only_inside
	[[ ! -e /etc/only_inside && ! -e /tmp/only_inside && ! -e /var/tmp/only_inside ]]
	local unit
	for unit in systemd-sysctl systemd-tmpfiles-setup systemd-udevd systemd-modules-load systemd-journald; do
		[[ $(inside systemctl show -p LoadState --value $unit.service) == masked ]]
	done
}
