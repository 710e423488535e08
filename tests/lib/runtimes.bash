# runtimes.bash - runtimes that may write maps of their functions.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# a Python whose functions have trampolines, or nothing
python_with_maps() {
	local p
	for p in "${PYTHON_WITH_MAPS:-}" python3.14 python3.13 python3.12 python3; do
		[[ -n $p ]] && p=$(command -v "$p") &&
			p=$("$p" -c 'import ctypes, sys
print(sys.executable if sys.version_info >= (3, 12) else "")' 2>/dev/null) &&
			[[ -n $p ]] && "$p" -X perf -c 1 2>/dev/null || continue
		echo "$p"
		return
	done
}
