#!/usr/bin/env bats
# check_speaks_to_machines - output as JSON, JUnit and SARIF, and suppression files that can be used again.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

@test "JSON has verdict, limits, findings and what was suppressed" {
	leaky app
	run_leaky app add add copy say
	check data --max-leaked 100 --format json -o out.json
	[[ $status -eq 1 ]]
	grep -q '^FAIL' "$T/said" # people get their text beside it
	jq -e '.verdict == "fail" and .exit_status == 1 and .schema == 1' "$T/out.json"
	jq -e '.leaked.bytes == 210 and .leaked.blocks == 3' "$T/out.json"
	jq -e '.limits == [{"rule":"max-leaked","fails":true,"bytes":210,"error_bytes":0,"limit":100,"close":false,"pid":null}]' "$T/out.json"
	jq -e '.findings | length == 2' "$T/out.json"
	jq -e '.findings[0] | .where == "add < handle < main" and .live_bytes == 200 and (.frames[0].function == "add") and (.fingerprint | length == 16)' "$T/out.json"
	jq -e '.suppressed[0].name == "stdio buffers"' "$T/out.json"
	run_leaky app peak
	check data --format json
	[[ $status -eq 0 ]]
	jq -e '.verdict == "pass" and .findings == []' "$T/said"
	head -c -40 "$T/data" >"$T/cut"
	check cut --format json
	[[ $status -eq 3 ]]
	jq -e '.verdict == "unknown" and (.notes | length > 0)' "$T/said"
}

junit() { "$PYTHON" "$LIB/junit.py" "$1"; }

@test "the counts of JUnit output equal those of a JUnit reader" {
	leaky app
	run_leaky app add copy
	check data --format junit -o out.xml
	[[ $status -eq 1 ]]
	[[ $(junit "$T/out.xml") == "3 2 0" ]]
	grep -q 'classname="seep.app" name="leak: add &lt; handle &lt; main"' "$T/out.xml"
	run_leaky app add twice # three lines of one function's
	check data --format junit -o out.xml
	[[ $(grep -o '<testcase [^>]* name="[^"]*"' "$T/out.xml" | sort | uniq -d) == "" ]]
	run_leaky app add copy
	check data --format junit -o out.xml --max-peak 1 --max-live 1M
	[[ $(junit "$T/out.xml") == "4 1 0" ]]
	run_leaky app peak
	check data --format junit -o out.xml
	[[ $status -eq 0 && $(junit "$T/out.xml") == "2 0 0" ]]
	head -c -40 "$T/data" >"$T/cut"
	check cut --format junit -o out.xml
	[[ $status -eq 3 && $(junit "$T/out.xml") == "2 0 1" ]]
}

@test "SARIF output is valid and has fingerprints and relative paths" {
	leaky app
	run_leaky app add copy
	check data --format sarif -o out.sarif --max-live 1
	[[ $status -eq 1 ]]
	"$PYTHON" "$LIB/sarif.py" "$T/out.sarif"
	jq -e '.runs[0].results | length == 3' "$T/out.sarif"
	jq -e '.runs[0].results[0].ruleId == "max-live"' "$T/out.sarif"
	jq -e '[.runs[0].results[1:][].partialFingerprints."seepStack/v1"] | unique | length == 2' "$T/out.sarif"
	jq -e '.runs[0].results[1].locations[0].physicalLocation.artifactLocation | .uriBaseId == "SRCROOT" and (.uri | startswith("app"))' "$T/out.sarif"
	jq -e '.runs[0].results[1].message.text | contains("100 bytes in 1 block")' "$T/out.sarif"
	run_leaky app peak
	check data --format sarif
	[[ $status -eq 0 ]]
	"$PYTHON" "$LIB/sarif.py" "$T/said"
	jq -e '.runs[0].results == []' "$T/said"
	head -c -40 "$T/data" >"$T/cut"
	check cut --format sarif
	[[ $status -eq 3 ]]
	"$PYTHON" "$LIB/sarif.py" "$T/said"
	jq -e '.runs[0].invocations[0] | (.executionSuccessful | not) and .exitCode == 3' "$T/said"
}

@test "odd names are escaped in every format" {
	leaky app
	mv "$T/app" "$T/a<b>&\"c' %d"
	# shellcheck disable=SC2016
	record -q --force -o data "./a<b>&\"c' %d" add
	check data --format junit -o out.xml
	junit "$T/out.xml"
	check data --format sarif -o out.sarif
	"$PYTHON" "$LIB/sarif.py" "$T/out.sarif"
	check data --format json -o out.json
	jq -e '.processes[0].exe | endswith("a<b>&\"c'"'"' %d")' "$T/out.json"
}

@test "written suppressions match exactly the sites that failed" {
	leaky app
	local form
	for form in valgrind lsan; do
		run_leaky app add copy deeper
		check data --write-suppressions list --suppressions-for $form -q
		[[ $status -eq 1 ]]
		check data --suppress list
		[[ $status -eq 0 ]]
		grep -q 'Suppressed: ' "$T/said"
		sed -i '/copy/d' "$T/list" # comments, and for lsan the entry
		check data --suppress list
		[[ $form == valgrind || $status -eq 1 ]]
	done
	check data --write-suppressions - --suppressions-for lsan
	grep -qx 'leak:^add\$' "$T/said"
}

@test "valgrind itself reads the entries" {
	need valgrind
	leaky app
	run_leaky app add copy
	check data --write-suppressions list -q
	valgrind -q --leak-check=full --show-leak-kinds=all --error-exitcode=9 \
		--errors-for-leak-kinds=all --suppressions="$T/list" "$T/app" add copy
}
