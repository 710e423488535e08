#!/usr/bin/env bats
# service_writes_a_drop_in - seep service enable writes one file and reloads; disable removes it if it is byte for byte ours; status prints what is known.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash
load ../../lib/service.bash

setup() {
	T=$BATS_TEST_TMPDIR PIDS=()
	fake_systemd
}
teardown() { true; }
service() { "$SEEP" service --user "$@"; }

@test "enable writes one file, reloads, prints the restart; disable leaves nothing" {
	unit d "ExecStart=/bin/sleep 1000"
	service enable d >"$T/out"
	cat "$T/out" "$(drop_in d)"
	[[ $(cd "$T/config" && find . -type f) == ./systemd/user/d.service.d/50-seep.conf ]]
	[[ $(stat -c %a "$(drop_in d)") == 644 && $(stat -c %a "$(dirname "$(drop_in d)")") == 755 ]]
	grep -qx "$(drop_in d) was written" "$T/out"
	grep -qx 'to have it traced, type: systemctl --user restart d.service' "$T/out"
	diff - <(sed 1,2d "$(drop_in d)") <<-END
		[Service]
		Environment="LD_PRELOAD=$COLLECTOR"
		Environment="SEEP_BASE=/run/seep"
		Environment="SEEP_ONLY=sleep"
	END
	[[ $(cut -d' ' -f2- "$T/calls" | paste -sd,) == "--user show -- d.service,--user daemon-reload,--user show -- d.service" ]]
	# again, with other options: it is replaced
	service enable d --sample 512k --dormant --depth 30 --only 'one:two' --no-deepbind --restart
	diff - <(sed 1,4d "$(drop_in d)") <<-END
		Environment="SEEP_BASE=/run/seep"
		Environment="SEEP_ONLY=one:two"
		Environment="SEEP_MODE=dormant"
		Environment="SEEP_DEEPBIND=clear"
		Environment="SEEP_SAMPLE=524288"
		Environment="SEEP_DEPTH=30"
	END
	[[ $(tail -1 "$T/calls") == *"restart -- d.service" ]]
	service disable d
	[[ -z $(cd "$T/config" && find . -type f) && ! -e $(dirname "$(drop_in d)") ]]
	[[ $(tail -1 "$T/calls") == *daemon-reload ]]
	refused 3 "d.service is not enabled" service disable d
}

@test "--dry-run prints the same text and changes nothing; --runtime is another place" {
	unit d "ExecStart=/bin/sleep 1000"
	service enable d --dry-run >"$T/dry"
	[[ -z $(ls -A "$T/config") && $(grep -c . "$T/calls") -eq 1 ]]
	service enable d
	diff <(echo "# $(drop_in d)" && cat "$(drop_in d)") "$T/dry"
	service disable d -n | grep 'would be removed'
	[[ -s $(drop_in d) ]]
	service disable d
	service enable d --runtime
	[[ -s $T/runtime/systemd/user/d.service.d/50-seep.conf && ! -e $(drop_in d) ]]
	service disable d --runtime
	[[ -z $(find "$T/runtime" -type f) ]]
}

@test "LD_PRELOAD of the unit is kept behind ours, with its specifiers; ours is not joined twice" {
	unit d "ExecStart=/bin/sleep 1" 'Environment="LD_PRELOAD=/lib/a%i.so:/lib/b\x2dc.so" X=1'
	service enable d
	grep -qxF "Environment=\"LD_PRELOAD=$COLLECTOR:/lib/a%i.so:/lib/b-c.so\"" "$(drop_in d)"
	cp "$(drop_in d)" "$T/first"
	service enable d
	cmp "$(drop_in d)" "$T/first"
}

@test "what wins over a drop-in is refused: EnvironmentFile=, UnsetEnvironment=, a later drop-in" {
	unit d "ExecStart=/bin/sleep 1" "EnvironmentFile=-$T/env file"
	printf '# x\nLD_PRELOAD="/lib/x.so"\n' >"$T/env file"
	refused 3 "$T/env file (EnvironmentFile=) sets LD_PRELOAD=/lib/x.so, which wins" service enable d
	printf 'SEEP_ONLY=x\n' >"$T/env file"
	service enable d 2>&1 | grep "sets SEEP_ONLY, which wins"
	service disable d
	rm "$T/env file"
	service enable d
	service disable d
	echo 'UnsetEnvironment=A LD_PRELOAD' >"$T/units/d.service.show"
	refused 3 "UnsetEnvironment= removes LD_PRELOAD" service enable d
	rm "$T/units/d.service.show"
	mkdir -p "$T/config/systemd/user/d.service.d"
	printf '[Service]\nEnvironment=LD_PRELOAD=/lib/late.so\n' >"$T/config/systemd/user/d.service.d/90-late.conf"
	refused 3 "d.service is as before, because systemd has another LD_PRELOAD: does a later drop-in set it?" service enable d
	[[ $(ls -A "$T/config/systemd/user/d.service.d") == 90-late.conf ]]
	[[ $(tail -1 "$T/calls") == *daemon-reload ]]
}

@test "what somebody has changed stays, and the line is named" {
	unit d "ExecStart=/bin/sleep 1000"
	service enable d
	cp "$(drop_in d)" "$T/ours"
	sed -i 's/SEEP_ONLY=sleep/SEEP_ONLY=sleeq/' "$(drop_in d)"
	refused 3 'line 6 is not what seep wrote: Environment="SEEP_ONLY=sleeq"' service disable d
	refused 3 'line 6 is not what seep wrote' service enable d
	{ cat "$T/ours" && echo 'Nice=5'; } >"$(drop_in d)"
	refused 3 'line 7 is not what seep wrote: Nice=5' service disable d
	{ cat "$T/ours" && printf 'Nice=5'; } >"$(drop_in d)"
	refused 3 'line 7 is not what seep wrote: Nice=5' service disable d
	head -n -1 "$T/ours" >"$(drop_in d)"
	refused 3 'lines that seep wrote are missing' service disable d
	sed 1s/d.service/e.service/ "$T/ours" >"$(drop_in d)"
	refused 3 'line 1 is not what seep wrote' service disable d
	{ cat "$T/ours" && printf '\0'; } >"$(drop_in d)"
	refused 3 "50-seep.conf: Invalid argument" service disable d
	printf '[Service]\nNice=5\n' >"$(drop_in d)"
	refused 3 'seep did not write it' service disable d
	refused 3 'is there already, and seep did not write it; remove it first' service enable d
	: >"$(drop_in d)"
	refused 3 'seep did not write it' service disable d
	rm "$(drop_in d)"
	ln -s /etc/passwd "$(drop_in d)"
	refused 3 'seep did not write it' service disable d
	rm "$(drop_in d)"
	mkdir "$(drop_in d)"
	refused 3 '50-seep.conf' service enable d
	rmdir "$(drop_in d)"
	cp "$T/ours" "$(drop_in d)"
	service disable d
	[[ ! -e $(drop_in d) ]]
}

@test "nothing is half done: systemd does not reload, the place is read-only, a file is in the way" {
	unit d "ExecStart=/bin/sleep 1000"
	echo 'Failed to reload daemon: Access denied' >"$T/fails-daemon-reload"
	refused 3 "d.service is as before, because systemd could not reload its units: Failed to reload daemon: Access denied" service enable d
	[[ -z $(ls -A "$T/config") ]] # the directories above it were not there, either
	mkdir -p "$(dirname "$(drop_in d)")"
	refused 3 "as before" service enable d
	[[ -d $(dirname "$(drop_in d)") && -z $(find "$T/config" -type f) ]] # this one was
	rm -r "$T/config/systemd" "$T/fails-daemon-reload"
	# systemd reloads, and then it does not answer any more
	mv "$T/bin/systemctl" "$T/bin/answers"
	cat >"$T/bin/systemctl" <<-'END'
		#!/bin/bash
		[[ $* != *daemon-reload* ]] || echo 'Failed to get properties: x' >"$FAKE/fails-show"
		exec "$FAKE/bin/answers" "$@"
	END
	chmod +x "$T/bin/systemctl"
	refused 3 "d.service is as before, because systemd did not show what it has understood: Failed to get properties: x" service enable d
	[[ -z $(ls -A "$T/config") ]]
	mv "$T/bin/answers" "$T/bin/systemctl"
	rm "$T/fails-show"
	service enable d
	cp "$(drop_in d)" "$T/ours"
	echo 'Failed to reload daemon: x' >"$T/fails-daemon-reload"
	refused 3 "as before" service enable d --sample 1M
	cmp "$(drop_in d)" "$T/ours"
	refused 3 "d.service is as before, because systemd could not reload its units: Failed to reload daemon: x" service disable d
	cmp "$(drop_in d)" "$T/ours"
	rm "$T/fails-daemon-reload"
	service disable d
	rm -r "$T/config"
	echo >"$T/config"
	refused 3 "Not a directory" service enable d
	rm "$T/config"
	if [[ $(id -u) -ne 0 ]]; then
		mkdir -m 500 "$T/config"
		refused 3 "Permission denied" service enable d
		[[ -z $(ls -A "$T/config") ]]
		chmod 700 "$T/config"
	fi
	echo 'Job for d.service failed.' >"$T/fails-restart"
	refused 3 "d.service is set up, but was not restarted: Job for d.service failed" service enable d --restart ||
		grep -q 'was written' "$T/stdout"
}

@test "units that are none, cannot run or cannot be traced: one line, and nothing is written" {
	refused 3 "none: there is no such unit" service enable none
	refused 2 "x.timer: only a service runs a program" service enable x.timer
	refused 2 "cannot be the name of a unit" service enable ../../etc/x
	refused 2 "cannot be the name of a unit" service enable $'a\nb'
	unit m "ExecStart=/bin/true"
	echo LoadState=masked >"$T/units/m.service.show"
	refused 3 "m.service is masked" service enable m
	echo LoadState=bad-setting >"$T/units/m.service.show"
	refused 3 "could not load it (bad-setting)" service enable m
	printf 'int main(void) { return 0; }\n' >"$T/static.c"
	"${CC:-gcc}" -static -o "$T/static" "$T/static.c"
	unit s "ExecStart=$T/static"
	refused 3 "static" service enable s
	if [[ $(id -u) -eq 0 ]]; then
		"${CC:-gcc}" -o "$T/setuid" "$T/static.c"
		chown 65534 "$T/setuid"
		chmod 4755 "$T/setuid"
		unit s "ExecStart=$T/setuid"
		refused 3 "setuid" service enable s
	fi
	unit t@ "ExecStart=/bin/true"
	refused 2 "t@.service is a template" service enable t@ --restart
	rm "$T/bin/systemctl"
	printf '#!/bin/sh\necho "System has not been booted with systemd as init system (PID 1). Can'\''t operate." >&2\nexit 1\n' >"$T/bin/systemctl"
	chmod +x "$T/bin/systemctl"
	refused 3 "has not been booted with systemd" service enable d
	refused 3 "has not been booted with systemd" service status d
	PATH=$T/empty "$SEEP" service --user disable d 2>&1 | grep "d: there is no systemctl"
	[[ -z $(ls -A "$T/config") ]]
}

@test "hostile names of units: one line, 2, and systemctl is never asked" {
	local name verb long why
	printf -v long '%300s' ''
	for name in 'foo;rm' ../x ../../etc/passwd a/b "${long// /x}" $'a\nb' $'\n' '' ' ' 'a b' '$(touch x)' '`x`' '%i' '*' '?' \
		$'\e[31mred' $'\xff' $'\xc3\xa4' . .. .service @ @x.service '"' "'" 'a\0b/c' 'x&y' 'x|y' '~' '#' '{a,b}'; do
		why='cannot be the name of a unit'
		[[ $name ]] || why='an argument is empty'
		[[ ${#name} -ne 300 ]] || why='the name is too long'
		for verb in enable disable status; do
			refused 2 "$why" service $verb -- "$name"
			[[ $(wc -c <"$T/stderr") -lt 500 ]]
			! grep -q "$(printf '[\001-\011\013-\037\177]')" "$T/stderr" || return 1
		done
		"$SEEP" doctor --user -- "$name" >"$T/stdout" 2>"$T/stderr" && return 1
		[[ $? -le 3 && $(wc -l <"$T/stderr") -le 1 ]]
	done
	for name in -x --help -- -.service; do # names that systemd does not forbid, and that are no options
		refused 3 "there is no such unit" service enable -- "$name"
	done
	[[ ! -e $T/calls ]] || [[ -z $(grep -v -- ' show -- ' "$T/calls") ]]
	[[ -z $(ls -A "$T/config") && ! -e x ]]
}

@test "hostile words are data: in --only, in what the unit preloads, in names of files" {
	local odd
	odd=$'a b"c\\d%n\n[Service]\nExecStart=/bin/evil\t\x01\x7f\xc3\xa4\xff'
	unit d "ExecStart=/bin/sleep 1" 'Environment="LD_PRELOAD=/lib/x \"y\\z\n[Service]\nUser=evil.so"'
	service enable d --only "$odd"
	cat -A "$(drop_in d)"
	[[ $(wc -l <"$(drop_in d)") -eq 6 ]]
	[[ $(grep -c '^\[' "$(drop_in d)") -eq 1 ]]
	[[ $(grep -c '^ExecStart\|^User' "$(drop_in d)") -eq 0 ]]
	variables "$(drop_in d)" >"$T/variables"
	cat "$T/variables"
	"$PYTHON" - "$T/variables" "$COLLECTOR" <<-'END'
		import ast, sys
		have = [ast.literal_eval(line) for line in open(sys.argv[1])]
		assert have[0] == f'LD_PRELOAD={sys.argv[2]}:/lib/x "y\\z\n[Service]\nUser=evil.so', have[0]
		assert have[2].encode("utf-8", "surrogateescape") == b'SEEP_ONLY=a b"c\\d%n\n[Service]\nExecStart=/bin/evil\t\x01\x7f\xc3\xa4\xff', have[2]
	END
	service status d | cat -v | grep -F 'SEEP_ONLY='
	service disable d
}

@test "a mount namespace, NoExecPaths= and RootDirectory= get what they need" {
	unit d "ExecStart=/bin/sleep 1"
	echo PrivateDevices=yes >"$T/units/d.service.show"
	service enable d
	[[ $(tail -1 "$(drop_in d)") == 'ReadWritePaths="-/run/seep"' ]]
	printf 'NoExecPaths=/\nExecPaths=/usr/lib\n' >"$T/units/d.service.show"
	service enable d
	[[ $(tail -1 "$(drop_in d)") == "ExecPaths=\"-$(dirname "$COLLECTOR")\"" ]]
	mkdir -p "$T/image/bin"
	cp /bin/sleep "$T/image/bin/inner"
	unit d "ExecStart=/bin/inner 1"
	echo "RootDirectory=$T/image" >"$T/units/d.service.show"
	service enable d
	diff - <(tail -3 "$(drop_in d)") <<-END
		Environment="SEEP_ONLY=inner"
		BindPaths="-/run/seep"
		BindReadOnlyPaths="-$(dirname "$COLLECTOR")"
	END
}

@test "aliases, templates and instances" {
	unit d "ExecStart=/bin/sleep 1"
	ln -s d.service "$T/units/alias.service"
	service enable alias
	[[ -s $(drop_in d) && ! -e $(drop_in alias) ]]
	service disable d
	unit t@ "ExecStart=/bin/sleep %i"
	service enable t@ | grep 'its instances are traced when they are started next'
	[[ -s $(drop_in t@) ]]
	service enable t@one
	[[ -s $(drop_in t@one) ]]
	service status t@ | grep 'a template'
	service disable t@one
	service disable t@
	[[ -z $(find "$T/config" -type f) ]]
}

@test "status: no drop-in, a changed one, a process that is traced, one that is not" {
	unit d "ExecStart=$HOSTS/toggled"
	service status d >"$T/out"
	cat "$T/out"
	grep -q '^unit *d.service (loaded, ' "$T/out"
	grep -q "^drop-in *none: there is no $(drop_in d)$" "$T/out"
	grep -q '^environment *neither LD_PRELOAD nor SEEP_' "$T/out"
	grep -q '^process *none runs' "$T/out"
	service enable d
	echo "MainPID=$$" >"$T/units/d.service.show"
	service status d >"$T/out"
	cat "$T/out"
	grep -q ' LD_PRELOAD=.*libseep.so$' "$T/out"
	grep -q "^process *$$ .*: left out (SEEP_ONLY)" "$T/out"
	grep -q 'to have it traced, type: systemctl --user restart d.service' "$T/out"
	DIR=$T/segments
	mkdir -m 700 "$DIR"
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	waiting
	echo "MainPID=$HOST" >"$T/units/d.service.show"
	service status d >"$T/out"
	kill "$HOST"
	rm -rf "$DIR"
	cat "$T/out"
	grep -q "^process *$HOST toggled: traced for .* live in .* block.*, peak" "$T/out"
	refused 2 "are for enable" service status d --sample 1k
	refused 2 "status changes nothing" service status d --dry-run
}

# says FILTER: true of the JSON of the last status
says() {
	jq -e "$1" "$T/status.json" >/dev/null || {
		echo "not so: $1"
		cat "$T/status.json"
		return 1
	}
}

@test "status as JSON says what the text says" {
	local image=$T/image
	unit d "ExecStart=$HOSTS/toggled"
	service status d --format json >"$T/status.json"
	says '.schema == 1 and .kind == "service" and .unit == "d.service" and .manager == "user" and .root == null'
	says '.load_state == "loaded" and .template == false and .environment == [] and .processes == [] and .running == 0 and .complete'
	says ".drop_in == {path: \"$(drop_in d)\", state: \"none\", reason: null}"
	service enable d --only $'toggled:a"b\\c\n\x01' --sample 512k
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	waiting
	printf '\n' >&9
	eventually grep -q . "$T/out"
	echo "MainPID=$HOST" >"$T/units/d.service.show"
	service status d --format json >"$T/status.json"
	service status d >"$T/status"
	kill "$HOST"
	rm -rf "$DIR"
	cat "$T/status"
	says '.drop_in.state == "ours" and .running == 1 and .traced == 1 and .history == []'
	says '.environment | from_entries | .SEEP_ONLY == "toggled:a\"b\\c\n\u0001" and .SEEP_SAMPLE == "524288" and (.LD_PRELOAD | endswith("libseep.so"))'
	says ".processes[0] | .pid == $HOST and .program == \"toggled\" and .state == \"traced\" and .reason == null and .mode == \"on\" and .sample_bytes == 0"
	says '.live_bytes == .processes[0].live_bytes and .live_blocks == .processes[0].live_blocks and .live_blocks > 0'
	sed "s/,//g" "$T/status" | grep -q "live in $(jq .live_blocks "$T/status.json") block"
	# others: left out, not traced, changed by somebody
	echo "MainPID=$$" >"$T/units/d.service.show"
	service status d --format json >"$T/status.json"
	says '.traced == 0 and (.processes[0] | .state == "left_out" and .live_bytes == null and .mode == null and .start == null)'
	echo '#' >>"$(drop_in d)"
	service status d --format json >"$T/status.json"
	says '.drop_in | .state == "changed" and (.reason | contains("is not what seep wrote"))'
	echo '[Service]' >"$(drop_in d)"
	service status d --format json >"$T/status.json"
	says '.drop_in.state == "foreign" and (.processes[0].state == "untraced")'
	rm "$(drop_in d)"
	mkdir "$(drop_in d)"
	service status d --format json >"$T/status.json"
	says '.drop_in | .state == "unreadable" and .reason != null'
	rmdir "$(drop_in d)"
	# where nothing can run
	unit t@ "ExecStart=/bin/sleep 1"
	service status t@ --format json >"$T/status.json"
	says '.template and .processes == null and .running == null and .history == null and .active_state == null'
	refused 2 "--format is for status" service enable d --format json
	refused 2 "--format" service status d --format xml
	refused 3 "there is no such unit" service status none --format json
}
