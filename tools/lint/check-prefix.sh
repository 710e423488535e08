#!/bin/bash
# check-prefix.sh - the name of a public function begins with the name of its file.
# SPDX-License-Identifier: Apache-2.0
exec python3 "$(dirname "$0")/prefix.py"
