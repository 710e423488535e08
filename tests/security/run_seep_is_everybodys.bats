#!/usr/bin/env bats
# run_seep_is_everybodys - /run/seep is sticky and writable for everybody: who makes seep-UID of another user there forges none of that user's segments, for any reader.
# threat: nobody may harm the host by means of seep who could not harm it without seep; this includes the host's own less privileged children; if root points seep at a process, file or directory of a hostile user, that user must not be able to make it read or write other files than it was told to; if seep cannot read something completely, it says so
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

victim=64321 attacker=64322 # of nobody

@test "forged segments and links in /run/seep are nobody's: ls, report PID, top, watch" {
	[[ $(id -u) -eq 0 ]] || skip "needs root, for directories of two users"
	setpriv --reuid=$victim --regid=$victim --clear-groups \
		test -x "$SEEP" -a -x "$HOSTS/family" || skip "nobody cannot come here"
	cat >"$T/script" <<-END
		set -eu
		unset SEEP_DIR
		mount --make-rprivate /
		mount -t tmpfs -o size=32m,mode=1777 tmpfs /dev/shm
		mount -t tmpfs -o size=32m,mode=755 tmpfs /run
		mount -t tmpfs -o size=32m,mode=1777 tmpfs /mnt
		mkdir /run/seep
		chmod 1777 /run/seep
		export HOME=/mnt XDG_CACHE_HOME=/mnt
		cd /mnt
		as() { local id=\$1; shift; setpriv --reuid=\$id --regid=\$id --clear-groups -- "\$@"; }
		SEEP='$SEEP' family='$HOSTS/family' victim=$victim attacker=$attacker
		# the attacker's own process, in a directory that has the victim's name
		as \$attacker mkdir -m 700 /dev/shm/elsewhere
		as \$attacker env LD_PRELOAD='$COLLECTOR' SEEP_DIR=/dev/shm/elsewhere \$family >forged.out
		pid=\$(sed -n 's/^PID //p' forged.out)
		as \$attacker mkdir /run/seep/seep-\$victim
		mv /dev/shm/elsewhere/* /run/seep/seep-\$victim
		rmdir /dev/shm/elsewhere
		chmod 755 /run/seep/seep-\$victim
		chmod 444 /run/seep/seep-\$victim/*
		as \$attacker ln -s /etc /run/seep/seep-\$attacker
		as \$attacker ln -s /etc /run/seep/any
		as \$attacker mkfifo /run/seep/fifo.seg
		for who in 0 \$victim; do
			as \$who \$SEEP ls >out 2>err || true
			cat out err
			if grep -q family out; then exit 1; fi
			as \$who \$SEEP report \$pid 2>&1 | grep 'no such process'
		done
		\$SEEP ls 2>&1 >/dev/null | grep "/run/seep/seep-\$victim.* belongs to uid \$attacker"
		\$SEEP watch --once --history /mnt/history >out 2>err
		cat err
		if ls /mnt/history | grep family; then exit 1; fi
		[[ -n \$(ls /run/seep/seep-\$victim/*.seg) ]]
		# the victim runs, traced, in the next place, which says why
		as \$victim env LD_PRELOAD='$COLLECTOR' SEEP_BASE=/run/seep \$family >/dev/null
		\$SEEP ls 2>/dev/null | grep 'not in SEEP_BASE: .*belongs to uid $attacker'
		# the same files in a directory of the victim's own are taken
		chown -R \$victim /run/seep/seep-\$victim
		\$SEEP report \$pid | grep family
	END
	unshare -m bash "$T/script" 2>&1
}
