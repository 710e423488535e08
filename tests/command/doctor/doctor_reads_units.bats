#!/usr/bin/env bats
# doctor_reads_units - what seep doctor UNIT concludes from what systemctl prints, whatever that is.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash
load ../../lib/doctor.bash

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

@test "filters: allowed, forbidden, with an error of their own, groups" {
	all=$(sed -nE '/_calls\[\] =/,/;/ s/^ +"(.*)";?/\1/p' "$repo/src/attach/doctor/doctor_unit.c" | tr -s ' \n' ' ')
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

@test "a RootDirectory: its own program and its own glibc count" {
	mkdir -p "$T/root/usr/bin" "$T/root/lib"
	systemctl_says RootDirectory="$T/root"
	doctor 0 some.service
	found warn unit root 'is not in RootDirectory='
	cp /usr/bin/sleep "$T/root/usr/bin/"
	echo 'void f(void) { }' >"$T/libc.c"
	echo 'GLIBC_2.2.5 { global: f; }; GLIBC_2.17 { };' >"$T/libc.map"
	"${CC:-gcc}" -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$T/libc.map" \
		-o "$T/root/lib/libc.so.6" "$T/libc.c"
	doctor 1 some.service
	found fail program libc
	# a link in it leads nowhere else
	rm "$T/root/lib/libc.so.6"
	ln -s /../../../../../../../lib/x86_64-linux-gnu/libc.so.6 "$T/root/lib/libc.so.6"
	doctor 0 some.service
	[[ $(jq -r '.checks[] | select(.group == "program" and .check == "libc").state' "$T/doctor.json") == warn ]]
}

@test "a launcher hides the daemon: doctor says so, and what to do" {
	for words in "/usr/bin/env A=b /usr/bin/sleep 9" "/usr/bin/nice -n 5 /usr/bin/sleep 9" "-/bin/sh -c 'A=b exec /usr/bin/sleep 9'"; do
		systemctl_says "ExecStart=$words"
		doctor 0 some.service
		found warn unit command 'hides which program is the daemon; seep service enable --only NAME'
	done
	systemctl_says "ExecStart=@/usr/bin/sleep nap 9"
	doctor 0 some.service
	found ok program executable /usr/bin/sleep
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
