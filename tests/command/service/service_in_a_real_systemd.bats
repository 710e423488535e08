#!/usr/bin/env bats
# service_in_a_real_systemd - what systemd makes of the drop-in: hostile words, hardened and dynamic users, an own root, templates; and what is refused changes nothing.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../systemd/systemd.bash
load ../../lib/service_real.bash

setup_file() {
	local units=$BATS_FILE_TMPDIR/units
	mkdir "$units"
	cp "$HOSTS/toggled" "$BATS_FILE_TMPDIR/daemon"
	unit() { printf '%s\n' '[Service]' "${@:2}" >"$units/$1.service"; }
	wait='ExecStart=/bin/sh -c "/bin/true; exec /opt/seep/daemon </run/never"'
	unit plain "$wait" 'ExecStartPre=/bin/true' 'ExecStopPost=/bin/sh -c :'
	unit hard "$wait" User=nobody ProtectSystem=strict ProtectHome=yes PrivateTmp=yes PrivateDevices=yes RemoveIPC=yes \
		NoNewPrivileges=yes MemoryDenyWriteExecute=yes SystemCallFilter=@system-service RestrictAddressFamilies=AF_UNIX \
		ProtectProc=invisible RestrictNamespaces=yes LockPersonality=yes NoExecPaths=/ 'ExecPaths=/usr /lib /bin /opt/seep/daemon'
	unit dynamic "$wait" DynamicUser=yes
	unit rooted 'ExecStart=/bin/sh -c "exec /daemon </never"' \
		RootDirectory=/srv/image MountAPIVFS=yes BindReadOnlyPaths=/usr:/usr
	unit inst@ "$wait" 'Environment=INSTANCE=%i "LD_PRELOAD=/opt/seep/none%%.so"'
	unit filed "$wait" EnvironmentFile=/etc/filed
	unit fixed 'ExecStart=/opt/seep/static'
	# as user@.service, without PAM and logind, which the throw-away root lacks
	unit manager 'ExecStart=/lib/systemd/systemd --user --unit=own.target' User=nobody Type=notify Delegate=yes KillMode=mixed \
		'RuntimeDirectory=home user/65534' RuntimeDirectoryMode=700 \
		Environment=HOME=/run/home Environment=XDG_RUNTIME_DIR=/run/user/65534
	printf '[Service]\nExecStart=/bin/true\n' >"$units/masked.service.off"
	ln -s /dev/null "$units/masked.service"
	printf 'int main(void) { return 0; }\n' >"$BATS_FILE_TMPDIR/static.c"
	"${CC:-gcc}" -static -o "$BATS_FILE_TMPDIR/static" "$BATS_FILE_TMPDIR/static.c"
	systemd_boot "$units" "$BATS_FILE_TMPDIR/daemon" "$BATS_FILE_TMPDIR/static"
	[[ ! -s $SYSTEMD/why_not ]] || return 0
	# /run/never: opened, and never written to
	inside bash -c 'mkfifo -m 666 /run/never; exec sleep infinity <>/run/never >/dev/null 2>&1 & disown' 
	inside bash -c 'mkdir -p /srv/image/{run,proc,sys,dev,tmp,usr}; mkfifo -m 666 /srv/image/never; cd /srv/image
		ln -s usr/lib lib; ln -s usr/lib64 lib64; ln -s usr/bin bin; cp /opt/seep/daemon .
		exec sleep infinity <>/srv/image/never >/dev/null 2>&1 & disown'
	inside bash -c 'echo LD_PRELOAD=/lib/x.so >/etc/filed'
}
teardown_file() { systemd_end; }

# runs_traced UNIT: enabled, started, and the daemon has a segment in /run/seep; its pid is in $PID
runs_traced() {
	inside seep service enable --only daemon "$1" || return 1 # a shell is before it
	inside systemctl start "$1"
	eventually traced "$1" daemon >/dev/null || {
		cat "$T/status"
		inside systemctl status "$1" | cat
		return 1
	}
	PID=$(traced "$1" daemon)
	cat "$T/status"
}

@test "shells around it leave no file, and what a stop or a crash leaves can be read: plain, hardened, dynamic user" {
	systemd_needed
	local unit
	for unit in plain hard dynamic; do
		as_systemd_sees "$unit" >"$T/before"
		runs_traced "$unit"
		[[ $(inside bash -c 'cd /run/seep && ls -d seep-*/*.seg' | grep -vc /daemon-) -eq 0 ]]
		inside seep service status "$unit" --format json | jq -e --argjson pid "$PID" \
			'.active_state == "active" and .traced == 1 and any(.processes[]; .pid == $pid and .state == "traced")'
		inside systemctl stop "$unit"
		inside seep report "$PID" | grep daemon
		inside systemctl start "$unit"
		eventually traced "$unit" daemon
		PID=$(traced "$unit" daemon)
		inside kill -KILL "$PID"
		eventually has_ended "$PID"
		inside systemctl stop "$unit" 2>/dev/null || true
		inside systemctl reset-failed "$unit" 2>/dev/null || true
		inside seep report "$PID" | grep daemon
		inside seep service disable "$unit"
		as_systemd_sees "$unit" >"$T/after"
		diff "$T/before" "$T/after"
		inside seep ls --prune
	done
}

@test "a root of its own: library and /run/seep are mounted there" {
	systemd_needed
	runs_traced rooted
	inside cat /etc/systemd/system/rooted.service.d/50-seep.conf | grep -x 'BindPaths="-/run/seep"'
	inside ls /run/seep/seep-0 | grep ^daemon
	inside systemctl stop rooted
	inside seep service disable rooted
	inside seep ls --prune
}

@test "templates: all instances, one instance; what the unit preloads stays" {
	systemd_needed
	inside seep service enable inst@ 
	inside systemctl start inst@one
	eventually traced inst@one daemon
	[[ $(inside systemctl show -p Environment --value inst@one) == *"LD_PRELOAD=/opt/seep/libseep.so:/opt/seep/none%.so"* ]]
	inside systemctl stop inst@one
	inside seep service disable inst@
	inside seep service enable inst@two --dormant --runtime
	inside ls /run/systemd/system/inst@two.service.d/50-seep.conf
	inside systemctl start inst@two inst@one
	eventually traced inst@two daemon
	grep -q '(dormant)' "$T/status"
	inside seep service status inst@one | grep 'daemon: not traced'
	inside systemctl stop inst@two inst@one
	inside seep service disable inst@two --runtime
	inside seep ls --prune
}

@test "hostile words arrive in systemd as they are" {
	systemd_needed
	local odd
	odd=$'a b"c\'d\\e%n$HOME`x`\nUser=evil\t#;[Service]'
	as_systemd_sees plain >"$T/before"
	inside seep service enable plain --only "$odd"
	inside systemctl show -p User --value plain | grep -vx evil
	[[ $(inside systemctl show -p Environment plain) == *'SEEP_ONLY=a b\"c'\''d\\e%n\$HOME\`x\`\nUser=evil\t#;[Service]"'* ]] || {
		inside systemctl show -p Environment plain
		return 1
	}
	inside systemctl start plain
	inside bash -c 'tr "\0" "\1" </proc/$(systemctl show -p MainPID --value plain)/environ' | tr '\1' '\0' >"$T/environ"
	grep -zqxF "SEEP_ONLY=$(printf %s "$odd" | head -1)" "$T/environ" ||
		"$PYTHON" -c 'import sys; e = open(sys.argv[1], "rb").read().split(b"\0"); assert ("SEEP_ONLY=" + sys.argv[2]).encode() in e, e' "$T/environ" "$odd"
	inside systemctl stop plain
	inside seep service disable plain
	as_systemd_sees plain >"$T/after"
	diff "$T/before" "$T/after"
}

@test "what is refused changes nothing: no such unit, masked, static, EnvironmentFile=, a read-only /etc, not root" {
	systemd_needed
	state() { inside find /etc/systemd /run/systemd/system -newer /opt/seep/seep -name '*seep*' ! -name 'seep-test*'; }
	refused() { # STATUS WORDS COMMAND...
		local got=0
		inside "${@:3}" >"$T/stdout" 2>"$T/stderr" || got=$?
		cat "$T/stdout" "$T/stderr"
		[[ $got -eq $1 && ! -s $T/stdout && $(wc -l <"$T/stderr") -eq 1 ]] && grep -qF -- "$2" "$T/stderr"
	}
	[[ -z $(state) ]]
	for unit in plain hard fixed filed masked; do as_systemd_sees $unit; done >"$T/before"
	inside find /etc/systemd /run/systemd/system /run/seep | sort >"$T/files"
	# systemd takes no value that is not UTF-8
	refused 3 'plain.service is as before, because systemd has another SEEP_ONLY' seep service enable plain --only $'a\xff'
	refused 3 'none: there is no such unit' seep service enable none
	refused 3 'masked.service is masked' seep service enable masked
	refused 3 'statically linked' seep service enable fixed
	refused 3 '/etc/filed (EnvironmentFile=) sets LD_PRELOAD' seep service enable filed
	refused 3 'Read-only file system' unshare -m --propagation private bash -c 'mount -o bind /etc /etc && mount -o remount,bind,ro /etc && seep service enable plain'
	refused 3 'seep: plain: ' setpriv --reuid=65534 --regid=65534 --clear-groups seep service enable plain
	# no block and no inode for the drop-in: in a copy of the directory that is full
	for full in 'head -c 1m /dev/zero' 'for i in {1..99}; do : >/etc/systemd/system/f$i; done; :'; do
		refused 3 'No space left on device' unshare -m --propagation private bash -c "
			cp -a /etc/systemd/system /tmp/copy &&
			mount -t tmpfs -o size=256k,nr_inodes=90,mode=755 none /etc/systemd/system &&
			cp -a /tmp/copy/*.service /etc/systemd/system/ && rm -r /tmp/copy
			{ $full; } >/etc/systemd/system/zero 2>/dev/null
			find /etc/systemd/system | sort >/tmp/before
			seep service enable plain; got=\$?
			find /etc/systemd/system | sort | cmp /tmp/before - || exit 9
			exit \$got"
	done
	# systemd does not reload
	inside bash -c 'mkdir -p /run/wrap && cat >/run/wrap/systemctl && chmod 755 /run/wrap/systemctl' <<-'END'
		#!/bin/sh
		case "$*" in *daemon-reload*) echo 'Failed to reload daemon: Message recipient disconnected' >&2; exit 1 ;; esac
		exec /bin/systemctl "$@"
	END
	for unit in plain hard; do
		refused 3 "$unit.service is as before, because systemd could not reload its units" \
			env PATH=/run/wrap:/opt/seep:/usr/bin:/bin seep service enable $unit
	done
	inside rm -r /run/wrap
	# names that are none, straight to the real one
	for unit in 'foo;rm' ../plain $'plain\nhard' '$(touch /run/evil)' "$(printf '%0300d' 0)"; do
		refused 2 'seep: ' seep service enable "$unit"
	done
	inside test ! -e /run/evil
	[[ -z $(state) ]]
	for unit in plain hard fixed filed masked; do as_systemd_sees $unit; done >"$T/after"
	diff "$T/before" "$T/after"
	inside find /etc/systemd /run/systemd/system /run/seep | sort | diff "$T/files" -
}

# as_user COMMAND...: the user whose manager runs
as_user() {
	inside setpriv --reuid=65534 --regid=65534 --clear-groups \
		env HOME=/run/home XDG_RUNTIME_DIR=/run/user/65534 "$@"
}
own_traced() { as_user seep service status --user own --format json | jq -e '.traced == 1 and any(.processes[]; .program == "daemon" and .state == "traced")' >/dev/null; }

@test "--user: a user's own systemd, which is a real one" {
	systemd_needed
	inside mkdir -p /etc/systemd/user
	inside bash -c 'cat >/etc/systemd/user/own.service' <<-'END'
		[Service]
		ExecStart=/bin/sh -c "/bin/true; exec /opt/seep/daemon </run/never"
	END
	inside bash -c 'printf "[Unit]\n" >/etc/systemd/user/own.target'
	inside systemctl start manager
	[[ $(as_user systemctl --user is-system-running) == @(running|degraded) ]]
	SEES=(as_user systemctl --user)
	as_systemd_sees own >"$T/before"
	as_user seep doctor --user own -q
	as_user seep service enable --user own --only daemon --restart | tee "$T/out"
	grep -qx 'own.service was restarted' "$T/out"
	as_user cat /run/home/.config/systemd/user/own.service.d/50-seep.conf | grep -x 'Environment="SEEP_ONLY=daemon"'
	eventually own_traced
	as_user seep service status --user own
	inside ls /run/seep/seep-65534 | grep ^daemon-
	as_user seep ls --format json | jq -e 'any(.processes[]; .program | endswith("daemon"))'
	as_user systemctl --user stop own
	as_user seep service disable --user own
	as_systemd_sees own | diff "$T/before" -
	as_user seep service enable --user own --runtime
	as_user ls /run/user/65534/systemd/user/own.service.d/50-seep.conf
	as_user seep service disable --user own --runtime
	as_systemd_sees own | diff "$T/before" -
	# the other manager does not have it
	inside seep service enable own && return 1
	inside seep ls --prune
	inside systemctl stop manager
	# no manager: one line
	local got=0
	as_user seep service status --user own >"$T/stdout" 2>"$T/stderr" || got=$?
	cat "$T/stderr"
	[[ $got -eq 3 && ! -s $T/stdout && $(wc -l <"$T/stderr") -eq 1 ]]
}
