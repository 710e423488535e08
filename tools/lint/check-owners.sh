#!/bin/bash
# check-owners.sh - what a module keeps for a thread is its own: `t->log.` stands in
# log/ and event/ only, and so on.
# SPDX-License-Identifier: Apache-2.0
set -u
cd "$(dirname "$0")/../../src/collector" || exit 1

# Member of struct thread -> who may name it, below src/collector. Events store the
# words of logs and look at the ledger's epoch; what they do is inline.
declare -A of=(
	[ledger]='heap/|event/|thread\.c'
	[pace]='event/|heap/ledger_hit\.h|log/'
	[memo]='stack/memo|stack/paths\.c'
	[log]='log/log\.|event/'
	[flight]='log/flight\.|event/'
	[leaves]='event/|thread\.c'
	[stack]='unwind/walk\.|stack/known\.c'
	[record]='event/|thread\.c'
	[lookup]='stack/known\.c'
	[copy]='stack/'
	[coroutine]='stack/paths\.c'
	[nested]='event/'
)

bad=0
for member in "${!of[@]}"; do
	if grep -rnE --include='*.[ch]' -- "(\bt|self|block\([^()]*\))->$member\." . | sed 's@^\./@@' | grep -vE "^(thread_types\.h|${of[$member]})"; then
		echo "src/collector: only ${of[$member]} may name the member '$member' of a thread" >&2
		bad=1
	fi
done
exit $bad
