# without_home_and_path.sh - HOME unset, PATH empty, TMPDIR nowhere: as bare.
# SPDX-License-Identifier: Apache-2.0
# torture: T26
# modes: exact record
# shellcheck shell=bash
hosts=$HOSTS
unset HOME LANG
PATH='' TMPDIR=/proc/none exec "$hosts/environment_is_cleared_at_once"
