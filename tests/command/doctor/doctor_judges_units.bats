#!/usr/bin/env bats
# doctor_judges_units - a service under a real systemd is traced, or not, as seep doctor UNIT has predicted.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/doctor.bash
load ../../systemd/systemd.bash

# unit NAME [LINE...]: sleeps, with these settings and the drop-in of a service
unit() {
	local name=$1 command=/usr/bin/sleep\ 1000 line
	shift
	{
		echo '[Service]'
		for line; do
			[[ $line != ExecStart=* ]] || command=
			echo "$line"
		done
		[[ -z $command ]] || echo "ExecStart=$command"
	} >"$U/$name.service"
	mkdir -p "$U/$name.service.d"
	cat >"$U/$name.service.d/50-seep.conf" <<-END
		[Service]
		Environment=LD_PRELOAD=/opt/seep/libseep.so SEEP_BASE=/run/seep
		ReadWritePaths=-/run/seep
	END
}

setup_file() {
	export U=$BATS_FILE_TMPDIR/units
	mkdir -p "$U"
	unit plain
	unit shell "ExecStart=/bin/sh -c 'exec /usr/bin/sleep 1000'"
	unit nice "ExecStart=/usr/bin/nice -n 5 /usr/bin/sleep 1000"
	unit hardened DynamicUser=yes ProtectSystem=strict PrivateDevices=yes ProtectHome=yes \
		SystemCallFilter=@system-service MemoryDenyWriteExecute=yes NoNewPrivileges=yes \
		RestrictAddressFamilies=AF_UNIX ProtectProc=invisible
	unit envfile EnvironmentFile=/opt/seep/variables
	unit unset UnsetEnvironment=LD_PRELOAD
	unit killed SystemCallFilter=~fchmod
	unit refused SystemCallFilter=~fchmod SystemCallErrorNumber=EPERM
	unit gentle SystemCallFilter=~getcwd SystemCallErrorNumber=EPERM
	unit small LimitFSIZE=100K
	unit tight LimitAS=7900K
	unit static ExecStart=/opt/seep/still
	unit bound RootDirectory=/srv/root "BindReadOnlyPaths=/usr /opt/seep" "BindPaths=/run/seep"
	echo 'LD_PRELOAD=/usr/lib/none.so' >"$BATS_FILE_TMPDIR/variables"
	printf '#include <unistd.h>\nint main(void) { sleep(1000); return 0; }\n' >"$BATS_FILE_TMPDIR/s.c"
	"${CC:-gcc}" -static -o "$BATS_FILE_TMPDIR/still" "$BATS_FILE_TMPDIR/s.c"
	systemd_boot "$U" "$BATS_FILE_TMPDIR/variables" "$BATS_FILE_TMPDIR/still"
	[[ ! -s $SYSTEMD/pid ]] || inside sh -ec '
		mkdir -p /srv/root/usr /srv/root/opt/seep /srv/root/run/seep
		mkdir /srv/root/proc /srv/root/sys /srv/root/dev /srv/root/etc /srv/root/tmp /srv/root/var
		for d in bin sbin lib lib64; do ln -s usr/$d /srv/root/$d; done'
}

teardown_file() { systemd_end; }

# predicted STATUS UNIT [STATE CHECK WORDS]
predicted() {
	local got=0
	inside /opt/seep/seep doctor --format json "$2.service" >"$T/doctor.json" 2>"$T/err" || got=$?
	cat "$T/err"
	if [[ $got -ne $1 ]]; then
		jq -r '.checks[] | "\(.state) \(.group).\(.check) \(.text)"' "$T/doctor.json"
		return 1
	fi
	jq -e '.subject == "unit"' "$T/doctor.json" >/dev/null
	[[ -z ${3:-} ]] || found "$3" unit "$4" "$5"
}

# runs UNIT: it is started; its main process is in $MAIN
runs() {
	inside systemctl start "$1"
	MAIN=$(inside systemctl show -p MainPID --value "$1")
	[[ $MAIN -gt 0 ]]
}

# traced UNIT, untraced UNIT: what it really is
is_traced() { inside seep ls --format json | jq -e --argjson pid "$MAIN" 'any(.processes[]; .pid == $pid and .state == "running")' >/dev/null; }
is_sleeping() { [[ $(inside readlink "/proc/$MAIN/exe") == @(*/sleep|*/still) ]]; }
traced() {
	runs "$1"
	eventually is_traced
	inside systemctl stop "$1"
}
untraced() {
	runs "$1"
	eventually is_sleeping
	! is_traced || return 1
	inside systemctl stop "$1"
}

@test "a plain service, one behind a shell, one behind a wrapper" {
	systemd_needed
	predicted 0 plain ok collector '/opt/seep/libseep.so'
	traced plain
	for name in shell nice; do
		predicted 0 $name warn command 'hides which program is the daemon'
		traced $name
	done
}

@test "a hardened service" {
	systemd_needed
	predicted 0 hardened ok calls 'allows all calls'
	traced hardened
}

@test "LD_PRELOAD does not arrive: EnvironmentFile=, UnsetEnvironment=" {
	systemd_needed
	predicted 1 envfile fail environment '/opt/seep/variables (EnvironmentFile=) sets LD_PRELOAD=/usr/lib/none.so'
	untraced envfile
	predicted 1 unset fail environment 'UnsetEnvironment= removes LD_PRELOAD'
	untraced unset
}

@test "SystemCallFilter: killed, refused, and one that is not missed" {
	systemd_needed
	predicted 1 killed fail calls 'forbids fchmod, which the collector calls at its start: the service would be killed'
	inside systemctl start killed
	eventually has_failed killed
	[[ $(inside systemctl show -p ExecMainStatus --value killed) -eq 31 ]] # SIGSYS
	predicted 1 refused fail calls 'it would not be traced'
	untraced refused
	predicted 0 gentle warn calls 'forbids getcwd'
	traced gentle
}
has_failed() { [[ $(inside systemctl is-failed "$1") == failed ]]; }

@test "limits: LimitFSIZE, LimitAS" {
	systemd_needed
	predicted 1 small fail limits 'LimitFSIZE='
	untraced small
	predicted 1 tight fail limits 'LimitAS='
	untraced tight
}

@test "a static daemon; a RootDirectory with binds" {
	systemd_needed
	predicted 1 static
	found fail program linkage 'statically linked'
	untraced static
	predicted 0 bound
	traced bound
}

@test "no such unit, no systemd: one line, 3" {
	complains 3 "$SEEP" doctor no-such-thing.service
	systemd_needed
	inside seep doctor no-such-thing.service >"$T/out" 2>"$T/err" || status=$?
	[[ ${status:-0} -eq 3 && ! -s $T/out && $(wc -l <"$T/err") -eq 1 ]]
}
