#!/bin/bash
# check-fork.sh - processes are started by helper_start() (src/kit/os/helper.h),
# and by the few files whose child is more than a helper.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

allowed='^src/(collector/|companion/' # of the host: they follow its forks
allowed+='|kit/os/helper\.c'
allowed+='|attach/program/launch\.c' # the traced program: its end is ours to report
allowed+='|replay/trial\.c'          # a performer that is measured
allowed+='|command/shell/pager\.c'   # holds the terminal
allowed+='|command/shell/browser\.c' # stays when we have ended
allowed+='):'
if grep -rnE '\b(v?fork|posix_spawnp?|popen|system)\(|SYS_clone' src --include='*.[ch]' |
	grep -vE "$allowed" | grep -vE ':[0-9]+:[[:space:]]*/?\*|/\*.*\b(fork|system)\(' >&2; then
	echo "use helper_start() of kit/os/helper.h: it closes, limits and ends what it starts" >&2
	exit 1
fi
