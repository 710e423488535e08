#!/bin/bash
# all.sh - every check of this folder, also after one has failed.
# SPDX-License-Identifier: Apache-2.0
set -u
here=$(dirname "$0")

bad=0
for check in "$here"/check-*.sh "$here"/run-*.sh; do
	if "$check"; then
		echo "ok   $(basename "$check" .sh)"
	else
		echo "FAIL $(basename "$check" .sh)"
		bad=1
	fi
done
exit $bad
