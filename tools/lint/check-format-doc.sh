#!/bin/bash
# check-format-doc.sh - docs/FORMAT.md has the offsets of format.h.
# SPDX-License-Identifier: Apache-2.0
exec python3 "$(dirname "$0")/format_doc.py"
