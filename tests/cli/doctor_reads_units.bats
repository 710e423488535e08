#!/usr/bin/env bats
# doctor_reads_units - what seep doctor UNIT concludes from what systemctl prints, whatever that is.
# SPDX-License-Identifier: Apache-2.0
load ../lib/host.bash
load ../lib/doctor.bash

# systemctl_says LINE...: a systemctl that prints these properties of any unit;
# ExecStart= is in the file of the unit, where seep reads it
systemctl_says() {
	local line command='ExecStart=/usr/bin/sleep 9'
	mkdir -p "$T/bin"
	printf '%s\n' Id=some.service Names=some.service LoadState=loaded FragmentPath="$T/some.service" >"$T/shown"
	for line; do
		case $line in
		ExecStart=*) command=$line ;;
		*) echo "$line" >>"$T/shown" ;;
		esac
	done
	printf '[Service]\n%s\n' "$command" >"$T/some.service"
	printf '#!/bin/sh\ncat "%s"\n' "$T/shown" >"$T/bin/systemctl"
	chmod +x "$T/bin/systemctl"
	DOCTOR_ENV=(PATH="$T/bin:$PATH" SEEP_DIR="$DIR")
}

@test "nothing special: nothing fails" {
	systemctl_says
	doctor 0 some.service
	found ok unit unit some.service
	found ok program linkage
}

@test "a name without .service: a command first, then a unit" {
	systemctl_says
	doctor 0 no-such-command
	jq -e '.subject == "unit" and .name == "no-such-command"' "$T/doctor.json"
	doctor 0 sleep
	jq -e '.subject == "command"' "$T/doctor.json"
}

@test "MemoryMax against the segment" {
	systemctl_says MemoryMax=33554432
	doctor 0 some.service
	found warn unit memory 'MemoryMax= is 32.0 MiB, and the pages of its segment (at most 2.0 MiB)'
	systemctl_says MemoryMax=1073741824
	doctor 0 some.service
	found ok unit memory
	systemctl_says MemoryMax=infinity
	doctor 0 some.service
	[[ $(jq '[.checks[] | select(.check == "memory")] | length' "$T/doctor.json") -eq 0 ]]
}

@test "LimitMEMLOCK against a program that locks its memory" {
	local locks="ExecStart=$HOSTS/locks_memory"
	systemctl_says LimitMEMLOCK=65536 LimitMEMLOCKSoft=65536
	doctor 0 some.service
	found ok unit limits 'does not lock its memory'
	systemctl_says "$locks" LimitMEMLOCK=16777216 LimitMEMLOCKSoft=8388608 User=nobody
	doctor 0 some.service
	found warn unit limits 'locks_memory may lock all memory (mlockall), and LimitMEMLOCK= is 8.0 MiB'
	systemctl_says "$locks" LimitMEMLOCK=infinity LimitMEMLOCKSoft=infinity User=nobody
	doctor 0 some.service
	found ok unit limits 'is not limited'
	systemctl_says "$locks" LimitMEMLOCKSoft=8388608 User=nobody 'AmbientCapabilities=cap_chown cap_ipc_lock'
	doctor 0 some.service
	found ok unit limits 'is not limited'
	systemctl_says "$locks" LimitMEMLOCKSoft=8388608 'CapabilityBoundingSet=cap_chown cap_ipc_lock'
	doctor 0 some.service
	found ok unit limits 'is not limited'
	for line in CapabilityBoundingSet=cap_chown PrivateUsers=yes; do
		systemctl_says "$locks" LimitMEMLOCKSoft=8388608 $line
		doctor 0 some.service
		found warn unit limits 'LimitMEMLOCK= is 8.0 MiB'
	done
}

@test "filters: allowed, forbidden, with an error of their own, groups" {
	all=$(sed -nE 's/^ +\{"([a-z0-9_]+)", (true|false)\}.*/\1/p' "$repo/src/attach/doctor/doctor_calls.c" | paste -sd' ')
	systemctl_says "SystemCallFilter=$all" SystemCallErrorNumber=1
	doctor 0 some.service
	found ok unit calls
	systemctl_says "SystemCallFilter=${all/fstatfs/fstatfs:EPERM}" SystemCallErrorNumber=2147483646
	doctor 1 some.service
	found fail unit calls 'forbids fstatfs, which'
	systemctl_says "SystemCallFilter=~mount umount2"
	doctor 0 some.service
	systemctl_says "SystemCallFilter=~getcwd"
	doctor 1 some.service
	found fail unit calls 'would be killed'
	systemctl_says "SystemCallFilter=@system-service"
	doctor 0 some.service
	found warn unit calls 'groups of calls'
}

@test "a masked unit, one with an error, one without a command" {
	systemctl_says
	sed -i 's/LoadState=loaded/LoadState=masked/' "$T/shown"
	doctor 1 some.service
	found fail unit unit masked
	sed -i 's/LoadState=masked/LoadState=bad-setting/' "$T/shown"
	doctor 1 some.service
	found fail unit unit bad-setting
	systemctl_says ExecStart=
	doctor 1 some.service
	found fail unit command 'no ExecStart='
}

# apparmor LINE-OF-THE-PROFILE STATE: in a mount namespace with such a machine
apparmor() {
	own_mounts true 2>/dev/null || skip "no mount namespace here"
	mkdir -p "$T/etc/local" "$T/sys/apparmor"
	printf '#include <tunables/global>\n%s\n  #include <abstractions/base>\n}\n' "$1" >"$T/etc/usr.bin.sleep"
	printf 'lsb_release (enforce)\n%s\n' "$2" >"$T/sys/apparmor/profiles"
	cat >"$T/with" <<-END
		#!/bin/bash
		mount --make-rprivate / && mkdir -p /etc/apparmor.d 2>/dev/null
		mount --bind '$T/etc' /etc/apparmor.d && mount --bind '$T/sys' /sys/kernel/security && exec "\$@"
	END
	chmod +x "$T/with"
	[[ -d /etc/apparmor.d && -d /sys/kernel/security ]] && own_mounts "$T/with" true 2>/dev/null ||
		skip "not permitted here: mounts for an AppArmor of the test's own"
	AS=(own_mounts_of "$T/with")
}
own_mounts_of() { own_mounts "$@"; }

@test "AppArmor: enforced, allowed, complaining, none" {
	systemctl_says
	apparmor '/usr/bin/sleep flags=(attach_disconnected) {' '/usr/bin/sleep (enforce)'
	doctor 1 some.service
	found fail unit apparmor 'the AppArmor profile /usr/bin/sleep (/etc/apparmor.d/usr.bin.sleep) is enforced'
	found fail unit apparmor '/etc/apparmor.d/local/usr.bin.sleep'
	apparmor '/usr/bin/sleep {' '/usr/bin/sleep (complain)'
	doctor 0 some.service
	found ok unit apparmor 'is not enforced'
	apparmor 'profile nap /usr/bin/sleep {' 'nap (enforce)'
	doctor 1 some.service
	found fail unit apparmor 'the AppArmor profile nap'
	echo '/run/seep/** rw,' >"$T/etc/local/usr.bin.sleep"
	doctor 0 some.service
	found ok unit apparmor 'names the directories of seep'
	rm "$T/etc/local/usr.bin.sleep"
	apparmor '/usr/bin/sleepier {' '/usr/bin/sleepier (enforce)'
	doctor 0 some.service
}

@test "a RootDirectory: its own program and its own glibc count" {
	mkdir -p "$T/root/usr/bin" "$T/root/lib"
	systemctl_says RootDirectory="$T/root"
	doctor 1 some.service
	found fail unit command 'no such program'
	cp /usr/bin/sleep "$T/root/usr/bin/"
	echo 'void f(void) { }' >"$T/libc.c"
	echo 'GLIBC_2.2.5 { global: f; }; GLIBC_2.17 { };' >"$T/libc.map"
	"${CC:-gcc}" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$T/libc.map" \
		-o "$T/root/lib/libc.so.6" "$T/libc.c"
	doctor 1 some.service
	found fail program libc
	found warn unit root 'is not in RootDirectory='
	# a link in it leads nowhere else
	rm "$T/root/lib/libc.so.6"
	ln -s /../../../../../../../lib/x86_64-linux-gnu/libc.so.6 "$T/root/lib/libc.so.6"
	doctor 0 some.service
	[[ $(jq -r '.checks[] | select(.group == "program" and .check == "libc").state' "$T/doctor.json") == warn ]]
}

@test "wrappers: the daemon behind them is looked at" {
	for words in "/usr/bin/env A=b /usr/bin/sleep 9" "/usr/bin/nice -n 5 /usr/bin/sleep 9" \
		"/usr/bin/numactl --interleave=all /usr/bin/sleep 9" \
		"@/usr/bin/sleep nap 9" "-/bin/sh -c 'A=b exec /usr/bin/sleep 9'"; do
		systemctl_says "ExecStart=$words"
		doctor 0 some.service
		found ok program executable /usr/bin/sleep
	done
}

@test "absurd properties: no crash, no hang, nothing that a terminal obeys" {
	local junk
	junk=$(printf 'x%.0s' {1..20000})
	for line in "User=$junk" "RootDirectory=$junk" "RootDirectory=/proc/self/mem" "RootImage=$junk" "LimitFSIZE=-1" \
		"LimitFSIZE=99999999999999999999999" "LimitAS=0x10" "MemoryMax=" "MemoryMax=1e9" "SystemCallFilter=~" \
		"SystemCallFilter= : :: ~" "SystemCallFilter=$junk" "InaccessiblePaths=\"" "InaccessiblePaths=: -: +/ -/ //" \
		"NoExecPaths=/ / /" "BindReadOnlyPaths=:::" "TemporaryFileSystem=$junk:ro" "UnsetEnvironment=\"\\" \
		"Environment=LD_PRELOAD=$junk" "Environment=\"LD_PRELOAD=a b:c\"" "EnvironmentFiles=$junk (ignore_errors=no)" \
		"EnvironmentFiles=/dev/zero (ignore_errors=no)" "EnvironmentFiles=/proc/kmsg (ignore_errors=no)" \
		"AppArmorProfile=$junk" "ExecStart=$junk" "ExecStart=/$junk" "ExecStart=@" "ExecStart=-+!!" \
		"ExecStart=/bin/sh -c \"sh -c \\\"sh -c 'sh -c sh'\\\"\"" "ExecStart=/bin/sh -c" "ExecStart=/bin/sh -c \"\"" \
		"ExecStart=/usr/bin/env -u" "ExecStart=/usr/bin/env" "ExecStart=/usr/bin/env -i" "ExecStart=\"" \
		$'User=\e[31mred' $'ExecStart=/\e]0;x\a \e[2J' "MainPID=1" "MainPID=99999999999"; do
		systemctl_says "$line"
		got=0
		env "${DOCTOR_ENV[@]}" timeout 30 "$SEEP" doctor some.service >"$T/out" 2>"$T/err" || got=$?
		echo "${line:0:60}: $got"
		[[ $got -eq 0 || $got -eq 1 || $got -eq 3 ]]
		! grep -q $'[\e\a]' "$T/out" "$T/err" || return 1
	done
}
