#!/bin/bash
# check-procfs.sh - files of /proc/PID that are read under a lock of the process
# are opened by the helper with a deadline alone (src/host/memory/foreign*.c).
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

locked='maps|smaps|smaps_rollup|numa_maps|environ|cmdline|auxv|mem|pagemap|fdinfo|clear_refs'
if grep -rnE "\"[^\"]*/proc/[^\"/]*/($locked)[\"/]" src --include='*.[ch]' |
	grep -vE '^src/(collector|companion|host/memory/foreign[a-z_]*\.c)|/proc/self/' >&2; then
	echo "use foreign_text() of host/memory/foreign.h: the process can make whoever opens this wait" >&2
	exit 1
fi
