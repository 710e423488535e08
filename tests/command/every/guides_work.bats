#!/usr/bin/env bats
# guides_work - every command of docs/GUIDES.md does what the page says.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/leaks.bash

# commands: those of the page's sh blocks, one a line
commands() { awk '/^```/ { on = $0 == "```sh"; next } on' "$repo/docs/GUIDES.md"; }

# try COMMAND: in $T, with the pid of the service for 1234; "# exit N" is what
# it must give, else 0
try() {
	local want=0 got=0
	local command=${1//1234/${service:-1234}}
	[[ ! $command =~ '# exit '([0-9]+)$ ]] || want=${BASH_REMATCH[1]}
	echo "$command"
	eval "$command" >"$T/said" 2>"$T/err" </dev/null 3>&- || got=$?
	[[ $command != *'&' ]] || PIDS+=($!)
	[[ $got -eq $want ]] || {
		echo "status $got"
		cat "$T/said" "$T/err"
		return 1
	}
}

is_up() {
	service=$(seep ls --pids | awk '$2 == "service" { print $1 }')
	[[ -n $service ]] && PIDS+=("$service")
}

@test "every command of the guides works" {
	local command n=0 service=
	cat >"$T/service.cpp" <<-'END'
		#include <string>
		#include <unistd.h>
		#include <vector>
		std::vector<std::string> sessions;
		__attribute__((noinline)) void open_session(int n) { sessions.emplace_back(1000 + n % 7, 'x'); }
		int main()
		{
			for (int i = 0;; i++, usleep(2000)) open_session(i);
		}
	END
	g++ -O2 -g -o "$T/service" "$T/service.cpp"
	leaky your-tests
	echo 'held = [("x" * 100) + str(i) for i in range(10000)]' >"$T/app.py"
	mkdir "$T/bin"
	ln -s "$SEEP" "$T/bin/seep"
	export PATH=$T/bin:$PATH LIBSEEP=$COLLECTOR
	cd "$T"
	while read -r command; do
		n=$((n + 1))
		try "$command"
		# where the machine is busy, a second is not enough to start
		[[ $n -ne 2 ]] || eventually is_up
		case $command in
		"seep ls") [[ $n -gt 5 ]] || grep -q 'service$' "$T/said" ;;
		"seep report 1234"*) grep -q open_session "$T/said" ;;
		"seep diff"*) grep -q '+.*open_session' "$T/said" ;;
		*--growth*) grep -q open_session "$T/said" ;;
		*python.data\ --peak\ --top*) grep -Eiq 'unicode|list' "$T/said" ;;
		*"report segments"*) grep -q 'add your-tests.c' "$T/said" ;;
		esac
	done < <(commands)
	[[ $n -ge 25 ]]
	[[ -s service.html && -s seep.sarif && -s seep.xml && -s leaks.txt ]]
	seep report whole.data | grep -q 'add your-tests.c'
}
