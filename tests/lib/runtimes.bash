# runtimes.bash - runtimes that may write maps of their functions.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# python_with_maps: prints the path of a Python whose functions have trampolines,
# or nothing. It is not tried, because that would write a map.
python_with_maps() {
	local p
	for p in "${PYTHON_WITH_MAPS:-}" python3.14 python3.13 python3.12 python3; do
		[[ -n $p ]] && p=$(command -v "$p") || continue
		p=$("$p" -c 'import ctypes, sys, sysconfig
has = sysconfig.get_config_var("PY_HAVE_PERF_TRAMPOLINE")
print(sys.executable if has else "")' 2>/dev/null) || continue
		[[ -n $p ]] || continue
		echo "$p"
		return
	done
}
