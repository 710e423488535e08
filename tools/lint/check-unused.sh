#!/bin/bash
# check-unused.sh - no function of src/ is left that no program and no test reaches.
# SPDX-License-Identifier: Apache-2.0
exec python3 "$(dirname "$0")/unused.py"
