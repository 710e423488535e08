#!/usr/bin/env bats
# doctor_judges_units - a service under a real systemd is traced, or not, as seep doctor UNIT has predicted.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash
load ../lib/doctor.bash
load ../systemd/systemd.bash

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
		Environment=LD_PRELOAD=${LIBRARY:-/opt/seep/libseep.so} SEEP_BASE=/run/seep
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
	unit ipc User=nobody RemoveIPC=yes
	unit envfile EnvironmentFile=/opt/seep/variables
	unit unset UnsetEnvironment=LD_PRELOAD
	unit cleared "ExecStart=/usr/bin/env -i /usr/bin/sleep 1000"
	unit noexec NoExecPaths=/ "ExecPaths=/usr /bin /sbin /lib /lib64"
	unit hidden InaccessiblePaths=/opt/seep
	unit tmpfs TemporaryFileSystem=/opt
	unit killed SystemCallFilter=~fchmod
	unit refused SystemCallFilter=~fchmod SystemCallErrorNumber=EPERM
	unit gentle SystemCallFilter=~getcwd SystemCallErrorNumber=EPERM
	unit small LimitFSIZE=100K
	unit tight LimitAS=7900K
	for name in locked unlimited; do
		unit $name "ExecStart=/opt/seep/locks_memory 3" User=nobody LimitMEMLOCK=4M StandardOutput=truncate:/run/$name.out
	done
	sed -i s/=4M/=infinity/ "$U/unlimited.service"
	unit static ExecStart=/opt/seep/still
	unit bound RootDirectory=/srv/root "BindReadOnlyPaths=/usr /opt/seep" "BindPaths=/run/seep"
	LIBRARY=/opt/closed/libseep.so unit closed User=nobody
	LIBRARY=/run/user/7/libseep.so unit home ProtectHome=yes
	LIBRARY=/tmp/libseep.so unit tmp PrivateTmp=yes
	echo 'LD_PRELOAD=/usr/lib/none.so' >"$BATS_FILE_TMPDIR/variables"
	printf '#include <unistd.h>\nint main(void) { sleep(1000); return 0; }\n' >"$BATS_FILE_TMPDIR/s.c"
	"${CC:-gcc}" -static -o "$BATS_FILE_TMPDIR/still" "$BATS_FILE_TMPDIR/s.c"
	systemd_boot "$U" "$BATS_FILE_TMPDIR/variables" "$BATS_FILE_TMPDIR/still" "$HOSTS/locks_memory"
	[[ ! -s $SYSTEMD/pid ]] || inside sh -ec '
		mkdir -p /opt/closed /run/user/7 /srv/root/usr /srv/root/opt/seep /srv/root/run/seep
		mkdir /srv/root/proc /srv/root/sys /srv/root/dev /srv/root/etc /srv/root/tmp /srv/root/var
		for d in bin sbin lib lib64; do ln -s usr/$d /srv/root/$d; done
		for d in /opt/closed /run/user/7 /tmp; do cp /opt/seep/seep /opt/seep/*.so $d; done
		chmod 700 /opt/closed'
}

teardown_file() { systemd_end; }

# predicted STATUS UNIT [STATE CHECK WORDS]: by the seep of $FROM
predicted() {
	local got=0
	inside "${FROM:-/opt/seep}/seep" doctor --format json "$2.service" >"$T/doctor.json" 2>"$T/err" || got=$?
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
	for name in plain shell nice; do
		predicted 0 $name ok library '/opt/seep/libseep.so'
		traced $name
	done
}

@test "a hardened service" {
	systemd_needed
	predicted 0 hardened ok calls 'allows all calls'
	traced hardened
}

@test "RemoveIPC: a warning in the default place, none below /run/seep" {
	systemd_needed
	predicted 0 ipc ok place /run/seep
	traced ipc
	inside sh -c 'sed -i "s@ SEEP_BASE=/run/seep@@" /etc/systemd/system/ipc.service.d/50-seep.conf && systemctl daemon-reload'
	predicted 0 ipc warn place 'RemoveIPC=yes'
	runs ipc
	eventually is_traced
	inside sh -c 'ls /dev/shm/seep-*/*.seg'
	inside systemctl stop ipc
	# as it says: the figures of the dead are lost (logind is masked here, pid 1 does it)
	eventually all_gone
}
all_gone() { ! inside sh -c 'ls /dev/shm/seep-65534/*.seg' >/dev/null 2>&1; }

@test "LD_PRELOAD does not arrive: EnvironmentFile=, UnsetEnvironment=, env -i" {
	systemd_needed
	predicted 1 envfile fail environment '/opt/seep/variables (EnvironmentFile=) sets LD_PRELOAD=/usr/lib/none.so'
	untraced envfile
	predicted 1 unset fail environment 'UnsetEnvironment= removes LD_PRELOAD'
	untraced unset
	predicted 1 cleared fail environment 'clears the environment (env -i)'
	untraced cleared
}

@test "the library cannot be loaded: NoExecPaths, InaccessiblePaths, TemporaryFileSystem" {
	systemd_needed
	predicted 1 noexec fail library 'NoExecPaths='
	untraced noexec
	predicted 1 hidden fail library 'InaccessiblePaths='
	untraced hidden
	predicted 1 tmpfs fail library 'TemporaryFileSystem='
	untraced tmpfs
}

@test "the library cannot be found: ProtectHome, PrivateTmp, a closed directory" {
	systemd_needed
	FROM=/run/user/7 predicted 1 home fail library 'ProtectHome=yes hides /run/user/7/libseep.so'
	untraced home
	FROM=/tmp predicted 1 tmp fail library 'PrivateTmp=yes hides /tmp/libseep.so'
	untraced tmp
	FROM=/opt/closed predicted 1 closed fail library '/opt/closed (mode 0700) is closed'
	untraced closed
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

@test "LimitMEMLOCK: traced, but the collector's memory counts" {
	systemd_needed
	predicted 0 locked warn limits 'locks_memory may lock all memory (mlockall), and LimitMEMLOCK= is 4.0 MiB'
	traced locked
	[[ $(inside head -1 /run/locked.out) == 'mlockall Cannot allocate memory' ]]
	predicted 0 unlimited ok limits 'not limited'
	traced unlimited
	[[ $(inside head -1 /run/unlimited.out) == 'mlockall works' ]]
	# without the collector the limit is large enough
	inside sh -c 'rm /etc/systemd/system/locked.service.d/50-seep.conf && systemctl daemon-reload && systemctl start locked'
	eventually says_works
	inside systemctl stop locked
}
says_works() { [[ $(inside head -1 /run/locked.out) == 'mlockall works' ]]; }

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
