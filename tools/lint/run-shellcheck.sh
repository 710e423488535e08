#!/bin/bash
# run-shellcheck.sh - shellcheck over every script, bats files included.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

mapfile -t files < <(find tools tests bench examples src .ci -type f \
	\( -name '*.sh' -o -name '*.bash' -o -name '*.bats' -o -name run \) \
	-exec grep -LE '^#!.*python' {} + | sort)
# bats functions run in subshells of another script: not knowable from here
shellcheck --severity=warning --external-sources \
	--exclude=SC2030,SC2031,SC2034,SC2154 "${files[@]}"
