#!/bin/bash
# check-host-table.sh - every number of the torture list has a test, and the page says which.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../.." || exit 1
exec python3 -B tests/host/table.py --check
