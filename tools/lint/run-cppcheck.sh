#!/bin/bash
# run-cppcheck.sh - cppcheck over src/.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1

cppcheck --std=c11 --enable=warning,performance,portability --inline-suppr \
	--suppress=unknownMacro --error-exitcode=1 --quiet -j 2 \
	-D__x86_64__ -D__linux__ -Isrc -Iinclude src
