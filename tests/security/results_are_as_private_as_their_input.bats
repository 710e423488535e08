#!/usr/bin/env bats
# results_are_as_private_as_their_input - a report, page or export is readable only for users who may read its input.
# threat: nobody may harm the host by means of seep who could not harm it without seep
# SPDX-License-Identifier: Apache-2.0
load ../lib/record.bash

# modes FILE...: as octal numbers, in a line
modes() { stat -c %a "$@" | paste -sd ' '; }

# write_all INPUT TO: every form to a file in TO
write_all() {
	local format
	mkdir "$2"
	for format in $("$SEEP" export --list | awk '{ print $1 }'); do
		"$SEEP" export "$1" --format "$format" -o "$2/$format"
	done
	"$SEEP" report "$1" -o "$2/text"
	"$SEEP" report "$1" --format json -o "$2/report.json"
	"$SEEP" report "$1" --format html -o "$2/page.html"
	"$SEEP" diff "$1" "$1" -o "$2/diff"
	"$SEEP" view "$1" -o "$2/view.html"
}

@test "0600 from a recording, also in place of a file that others could read" {
	umask 022
	record -q -o data "$HOSTS/c_host"
	cd "$T"
	[[ $(modes data) == 600 ]]
	write_all data all
	[[ $(find all -type f | wc -l) -ge 20 ]]
	[[ $(modes all/* | tr ' ' '\n' | sort -u) == 600 ]] || { ls -l all; false; }
	echo old >there
	"$SEEP" export data --format csv --force -o there
	[[ $(modes there) == 600 ]]
	record -q --force -o data --export memlog "$HOSTS/c_host"
	[[ $(modes ./*.memlog) == 600 ]]
}

@test "others may read what is made of a file that they may read, as the umask says" {
	umask 022
	record -q -o data "$HOSTS/c_host"
	cd "$T"
	chmod 644 data
	"$SEEP" export data --format csv -o one
	(umask 027 && "$SEEP" report data --format json -o two)
	[[ $(modes one two) == "644 640" ]]
	# one private input is enough
	cp data private
	chmod 600 private
	"$SEEP" export data --since private --format csv -o three
	"$SEEP" diff data private -o four
	[[ $(modes three four) == "600 600" ]]
	# snapshots that lie beside it are inputs of a page, not of CSV
	record -q --force -o data "$HOSTS/tour" 20 2 10
	chmod 644 data
	[[ -n $(ls data.snapshots) ]]
	"$SEEP" report data --format html -o five
	"$SEEP" export data --format csv -o six
	[[ $(modes five six) == "600 644" ]]
}

@test "0600 of a process, a segment, a directory, and of a file of another group" {
	umask 022
	waiting
	cd "$T"
	"$SEEP" export "$HOST" --format csv -o one
	"$SEEP" export "$DIR" --format csv -o two
	"$SEEP" export "$(find "$DIR" -name '*.seg')" --format csv -o three
	[[ $(modes one two three) == "600 600 600" ]]
	[[ $(id -u) -eq 0 ]] || skip "needs root, for another group"
	record -q -o data true
	chmod 640 data
	chgrp 12345 data
	"$SEEP" export data --format csv -o four
	[[ $(modes four) == 600 ]]
}

@test "verdicts and baselines are for everybody, as the umask says" {
	umask 022
	record -q -o data "$HOSTS/c_host"
	cd "$T"
	"$SEEP" check data --format sarif -o sarif --write-baseline base -q || [[ $? -eq 1 ]]
	[[ $(modes sarif base) == "644 644" ]]
}
