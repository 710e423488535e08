#!/bin/bash
# check-json.sh - kit/json alone knows how JSON is written: commas, quotes, levels.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

if grep -rnE '\\"[A-Za-z_$][A-Za-z0-9_$./]*\\":' src --include='*.[ch]' |
	grep -v '^src/kit/json/' >&2; then
	echo "use json_object(), json_text() and the like of kit/json/json_put.h" >&2
	exit 1
fi
