#!/usr/bin/env bats
# histories_are_one_input - a folder of chapters, or a history, reads like one recording.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

# as_json INPUT [OPTION...]: its report in $T/report.json, the notes in $T/notes
as_json() {
	local answer=0
	"$SEEP" report "$@" --format json >"$T/report.json" 2>"$T/notes" || answer=$?
	return "$answer"
}

# chapters: how many complete ones are in $T/out.d
chapters() { find "$T/out.d" -name '*.seep' | wc -l; }

# many: three chapters or more of a program that keeps 4,000 KiB; $T/out.d
many() {
	record -q --rotate 1s --interval 50ms -o out.d "$HOSTS/grows" 4000 4000
	[[ $status -eq 0 && $(chapters) -ge 3 ]]
}

@test "record --rotate writes complete recordings with names, and says where they are" {
	record --rotate 1s --interval 50ms -o out.d "$HOSTS/grows" 2000 3000
	[[ $status -eq 0 && $(chapters) -ge 2 ]]
	grep 'next: seep report out.d' "$T/err"
	[[ $(grep -c recorded "$T/err") -eq 1 ]]
	grep 'recorded 1 process: 2,00[0-9] allocations' "$T/err"
	[[ $(stat -c %a "$T/out.d") == 700 ]]
	[[ -z $(find "$T/out.d" -type f ! -name '????????T??????Z-????.seep') ]]
	[[ -z $(find "$T/out.d" -type f ! -perm 600) ]]
	for file in "$T"/out.d/*; do
		"$SEEP" report "$file" >"$T/text" 2>&1
		grep -E 'main .*grows.c:' "$T/text"
	done
}

@test "a folder of chapters has each process once, with the last counters and one time line" {
	need jq
	many
	as_json "$T/out.d"
	cp "$T/report.json" "$T/all.json"
	as_json "$T/out.d/$(ls "$T/out.d" | tail -1)"
	"$PYTHON" - "$T/all.json" "$T/report.json" "$(chapters)" <<-'END'
		import json, sys
		all, last = (json.load(open(f)) for f in sys.argv[1:3])
		p, q = all["processes"], last["processes"]
		assert len(p) == 1 and len(q) == 1
		p, q = p[0], q[0]
		assert all["complete"] and not all["notes"], all["notes"]
		assert p["totals"] == q["totals"] and p["end"] == q["end"]
		assert p["lost"] == q["lost"] and p["counts"] == q["counts"]
		figures = ("allocations", "frees", "live_bytes", "live_blocks")
		assert [[s[k] for k in figures] for s in p["sites"]] == \
		    [[s[k] for k in figures] for s in q["sites"]]
		assert p["totals"]["live_blocks"] >= 4000
		t = p["timeline"]
		assert t["times_us"] == sorted(set(t["times_us"])), "times go back"
		assert t["allocations"] == sorted(t["allocations"])
		# a point every 50 ms, over all chapters and their borders
		assert t["times_us"][-1] > 3500000, t["times_us"][-1]
		gaps = [b - a for a, b in zip(t["times_us"], t["times_us"][1:])]
		assert max(gaps) < 2000000, max(gaps)
		assert t["allocations"][0] < 2000
		assert len(t["times_us"]) > 2 * len(q["timeline"]["times_us"])
	END
}

@test "growth between two moments is the same whichever chapters they are in" {
	need jq
	many
	"$SEEP" report --growth 10%..90% --format json "$T/out.d" >"$T/growth.json"
	"$PYTHON" - "$T/growth.json" <<-'END'
		import json, sys
		d = json.load(open(sys.argv[1]))
		p = d["processes"][0]
		grown = p["blocks"]
		# four fifths of 4,000 blocks, at the looks of a busy machine
		assert 2000 < grown < 3950, grown
	END
	"$SEEP" report --growth "$T/out.d" >"$T/text"
	grep -E '^\+.* main .*grows.c' "$T/text"
}

@test "processes that ended in an earlier chapter stay, and a folder is continued" {
	need jq
	record -q --rotate 1s -o out.d sh -c "for i in 1 2 3; do $HOSTS/grows 700 700; done"
	record -q --rotate 1s -o out.d "$HOSTS/grows" 1300 100
	as_json "$T/out.d"
	[[ $(jq '[.processes[] | select((.exe | endswith("/grows")))] | length' "$T/report.json") -eq 4 ]]
	[[ $(jq '[.processes[] | select((.exe | endswith("/grows"))) | .totals.live_blocks] | add' \
		"$T/report.json") -ge 3400 ]]
	[[ $(jq '[.processes[] | select((.exe | endswith("/grows")) and .end != "exited")] | length' \
		"$T/report.json") -eq 0 ]]
	[[ $(find "$T/out.d" -name '*-0001.seep' | wc -l) -eq 1 ]]
	# --force begins anew
	record -q --rotate 1s --force -o out.d "$HOSTS/grows" 1300 100
	as_json "$T/out.d"
	[[ $(jq '.processes | length' "$T/report.json") -eq 1 ]]
}

@test "every command takes a folder of chapters" {
	many
	local first last
	first=$(ls "$T/out.d" | head -1)
	last=$(ls "$T/out.d" | tail -1)
	"$SEEP" diff "$T/out.d/$first" "$T/out.d" >"$T/text"
	grep -E '^\+.* main .*grows.c' "$T/text"
	"$SEEP" diff "$T/out.d/$last" "$T/out.d" >"$T/text"
	grep -i 'no difference\|nothing' "$T/text"
	run "$SEEP" check "$T/out.d"
	[[ $status -eq 1 ]]
	"$SEEP" view -o "$T/page.html" "$T/out.d"
	[[ -s $T/page.html ]]
	for format in pprof massif heaptrack collapsed csv json; do
		"$SEEP" export --format "$format" -o "$T/x.$format" "$T/out.d"
		[[ -s $T/x.$format ]]
	done
	# written as one recording, it is the same
	"$SEEP" export --format seep -o "$T/one.seep" "$T/out.d"
	"$SEEP" diff "$T/one.seep" "$T/out.d" >"$T/text"
	grep -i 'no difference\|nothing' "$T/text"
	(cd "$T" && "$SEEP" report out.d/ >/dev/null)
}

@test "written as one recording it has the time line of all chapters, or of one process" {
	need jq
	many
	"$SEEP" export --format seep -o "$T/one.seep" "$T/out.d"
	as_json "$T/out.d"
	cp "$T/report.json" "$T/folder.json"
	as_json "$T/one.seep"
	[[ $(jq '.processes[0].timeline.times_us | length' "$T/report.json") -ge 10 ]]
	cmp <(jq -S '.processes[0] | [.timeline, .totals]' "$T/folder.json") <(jq -S '.processes[0] | [.timeline, .totals]' "$T/report.json")
	for moments in 1..2 30%..90% 0.5..; do
		"$SEEP" report --growth=$moments "$T/out.d" >"$T/folder.text"
		"$SEEP" report --growth=$moments "$T/one.seep" >"$T/one.text"
		grep -q 'main .*grows.c' "$T/one.text"
		cmp "$T/folder.text" "$T/one.text"
	done
	"$SEEP" export --format massif -o "$T/folder.massif" "$T/out.d"
	"$SEEP" export --format massif -o "$T/one.massif" "$T/one.seep"
	cmp <(grep -v ^desc "$T/folder.massif") <(grep -v ^desc "$T/one.massif")
	# of two processes: the time line of the other one stays away
	record -q -o two.seep sh -c "'$HOSTS/grows' 700 100 & '$HOSTS/grows' 900 100; wait"
	as_json "$T/two.seep"
	local pid
	pid=$(jq '[.processes[] | select(.program == "grows")][1].pid' "$T/report.json")
	cp "$T/report.json" "$T/two.json"
	"$SEEP" export --format seep --pid "$pid" -o "$T/third.seep" "$T/two.seep"
	as_json "$T/third.seep"
	[[ $(jq -c '[.complete, (.processes | length), .processes[0].pid]' "$T/report.json") == "[true,1,$pid]" ]]
	cmp <(jq ".processes[] | select(.pid == $pid) | .timeline" "$T/two.json") <(jq '.processes[0].timeline' "$T/report.json")
}

@test "two recordings of a directory, written as one, have both time lines" {
	need jq
	mkdir "$T/dir"
	record -q --interval 50ms -o dir/a.seep "$HOSTS/grows" 500 1000
	record -q --interval 50ms -o dir/b.seep "$HOSTS/grows" 700 1000
	"$SEEP" export --format seep -o "$T/both.seep" "$T/dir"
	as_json "$T/both.seep"
	[[ $(jq -c '[.complete, (.processes | length), ([.processes[].timeline.times_us | length] | min > 3)]' "$T/report.json") == '[true,2,true]' ]]
}

@test "a process that exited, whose end state is cut off, is not called damaged" {
	need jq
	# all but the end states, as if record had been killed before it wrote them
	record -q --interval 50ms -o whole.seep sh -c "'$HOSTS/grows' 500 500; sleep 0.5"
	"$PYTHON" - "$T/whole.seep" "$T/cut.seep" <<-'END'
		import struct, sys
		data = open(sys.argv[1], "rb").read()
		at = struct.unpack_from("<8sIIQQ", data)[2]
		kept = data[:at]
		while at < len(data):
		    kind, flags, length = struct.unpack_from("<IIQ", data, at)
		    end = at + 24 + (length + 7) // 8 * 8
		    if kind in (2, 5):  # about the run, the time line
		        kept += data[at:end]
		    at = end
		open(sys.argv[2], "wb").write(kept)
	END
	as_json "$T/cut.seep" || [[ $? -eq 3 ]]
	[[ $(jq -c '[.processes[] | select(.program == "grows") | [.end, .end_state]]' "$T/report.json") == '[["exited",false]]' ]]
	[[ $(grep -c 'do not agree' "$T/notes") -eq 0 ]]
}

@test "verdicts of record --leaks are found in the chapter that has them" {
	record -q --rotate 1s --leaks=1s -o out.d "$HOSTS/grows" 900 3000
	[[ $status -eq 0 && $(chapters) -ge 2 ]]
	run "$SEEP" leaks "$T/out.d"
	[[ $status -eq 1 ]]
	[[ $output == *LEAK* ]]
}

@test "a chapter that a kill cut off is read as far as it goes" {
	need jq
	record_behind -q --rotate 1s --interval 50ms -o out.d "$HOSTS/grows" 10000 10000
	eventually compgen -G "$T/out.d/*-0002.seep"
	eventually compgen -G "$T/out.d/*-0003.seep.part"
	sleep 0.5
	# its recorder is at work: nothing is missing
	as_json "$T/out.d"
	grep 'is being written' "$T/notes"
	[[ $(jq .complete "$T/report.json") == true ]]
	kill -KILL "$recorder"
	wait "$recorder" || true
	local answer=0
	as_json "$T/out.d" || answer=$?
	[[ $answer -eq 3 ]]
	grep 'seep.part is cut off' "$T/notes"
	[[ $(jq '.processes | length' "$T/report.json") -eq 1 ]]
	[[ $(jq '.processes[0].totals.live_blocks' "$T/report.json") -ge 1000 ]]
	[[ $(jq '.processes[0].end_state' "$T/report.json") == false ]]
	# names come from the chapters before
	[[ $(jq '[.processes[0].sites[].frames[] | select(.function == "main")] | length' \
		"$T/report.json") -ge 1 ]]
	# a later chapter of the same folder is not hidden by it
	record -q --rotate 1h -o out.d "$HOSTS/grows" 1300 100
	as_json "$T/out.d" || true
	[[ $(jq '.processes | length' "$T/report.json") -eq 2 ]]
}

@test "after SIGKILL of record at any instant of a turn, what was written can be read" {
	need jq
	local i answer times
	times=$(full_or 100 4)
	for ((i = 0; i < times; i++)); do
		rm -rf "${T:?}/out.d" "${DIR:?}"/*
		record_behind -q --rotate 1s --interval 20ms -o out.d "$HOSTS/grows" 30000 30000
		eventually compgen -G "$T/out.d/*.part"
		sleep "$((RANDOM % 2)).$((RANDOM % 10))$((RANDOM % 10))"
		kill -KILL "$recorder"
		wait "$recorder" || true
		answer=0
		as_json "$T/out.d" || answer=$?
		[[ $answer -eq 0 || $answer -eq 3 ]]
		"$PYTHON" - "$T/report.json" "$answer" <<-'END'
			import json, sys
			d = json.load(open(sys.argv[1]))
			assert d["complete"] == (sys.argv[2] == "0")
			assert len(d["processes"]) == 1, len(d["processes"])
			p = d["processes"][0]
			t = p["timeline"]
			assert 0 < p["totals"]["live_blocks"] <= 30000
			assert t["times_us"] == sorted(t["times_us"])
			assert t["allocations"] == sorted(t["allocations"])
			# at most a second was not written yet
			assert p["totals"]["allocations"] > t["allocations"][-1] - 2500
		END
		# the program goes on without its recorder
		kill -KILL "$(jq '.processes[0].pid' "$T/report.json")"
	done
}

@test "a damaged, empty, foreign or odd chapter is one line, and the others are read" {
	need jq
	many
	local second answer=0
	second=$T/out.d/$(ls "$T/out.d" | sed -n 2p)
	as_json "$T/out.d"
	jq -S '.processes[0].totals' "$T/report.json" >"$T/before"
	cp -r "$T/out.d" "$T/bad.d"
	printf 'SEEPREC\1 nonsense, for the rest of it' >"$T/bad.d/$(basename "$second")"
	: >"$T/bad.d/20200101T000000Z-9999.seep.part"
	mkdir "$T/bad.d/20200101T000000Z-9998.seep"
	as_json "$T/bad.d" || answer=$?
	[[ $answer -eq 3 ]]
	[[ $(grep -c 'left out' "$T/notes") -eq 2 ]]
	jq -S '.processes[0].totals' "$T/report.json" | diff - "$T/before"
	# a byte in the middle of it
	cp "$second" "$T/bad.d/$(basename "$second")"
	rm "$T/bad.d/20200101T000000Z-9999.seep.part"
	printf '\377' | dd of="$T/bad.d/$(basename "$second")" bs=1 seek=700 conv=notrunc status=none
	answer=0
	as_json "$T/bad.d" || answer=$?
	[[ $answer -eq 3 ]]
	jq -S '.processes[0].totals' "$T/report.json" | diff - "$T/before"
	# nothing that can be read
	mkdir "$T/none.d"
	echo no >"$T/none.d/20200101T000000Z-0001.seep"
	run "$SEEP" report "$T/none.d"
	[[ $status -eq 3 && ${#lines[@]} -eq 1 ]]
}

@test "a history stands for its only service, and lists several" {
	record -q --rotate 1h -o one.d "$HOSTS/grows" 1300 100
	mkdir "$T/history"
	printf 'seep history 1\n' >"$T/history/.version"
	run "$SEEP" report "$T/history"
	[[ $status -eq 3 && $output == *'no chapter yet'* ]]
	cp -r "$T/one.d" "$T/history/redis.service"
	mkdir "$T/history/empty.service"
	"$SEEP" report "$T/history" >"$T/text"
	"$SEEP" report "$T/history/redis.service" | diff - "$T/text"
	cp -r "$T/one.d" "$T/history/nginx.service"
	run "$SEEP" report "$T/history"
	[[ $status -eq 3 && ${#lines[@]} -eq 1 ]]
	[[ $output == *'nginx.service, redis.service'* && $output != *empty* ]]
	# a link is no service
	rm -r "$T/history/nginx.service"
	ln -s "$T/one.d" "$T/history/linked.service"
	"$SEEP" report "$T/history" | diff - "$T/text"
	# another version
	printf 'seep history 2\n' >"$T/history/.version"
	for input in "$T/history" "$T/history/redis.service"; do
		run "$SEEP" report "$input"
		[[ $status -eq 3 && ${#lines[@]} -eq 1 && $output == *'another version'* ]]
	done
}

@test "a history of another user is refused, and so are chapters that others put into ours" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	record -q --rotate 1h -o one.d "$HOSTS/grows" 1300 100
	chmod 755 "$T"
	mkdir -m 700 "$T/history"
	printf 'seep history 1\n' >"$T/history/.version"
	cp -r "$T/one.d" "$T/history/a.service"
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$SEEP" report "$T/history"
	[[ $status -eq 3 && ${#lines[@]} -eq 1 && $output == *'may not be read'* ]]
	# with a group it can be read
	cp "$T/one.d"/*-0001.seep "$T/one.d/20200101T000000Z-0002.seep"
	chown 65534 "$T/one.d/20200101T000000Z-0002.seep"
	run "$SEEP" report "$T/one.d"
	[[ $status -eq 0 && $output == *'left out: it belongs to uid 65534'* ]]
}

@test "record --rotate refuses a folder that is not for chapters" {
	mkdir "$T/full.d"
	touch "$T/full.d/letter"
	record -q --rotate 1h -o full.d true
	[[ $status -eq 125 ]]
	grep 'letter, which is no chapter' "$T/err"
	touch "$T/file"
	record -q --rotate 1h -o file true
	[[ $status -eq 125 ]]
	grep 'not a directory' "$T/err"
	mkdir -m 777 "$T/open.d"
	chmod 777 "$T/open.d"
	record -q --rotate 1h -o open.d true
	[[ $status -eq 125 ]]
	grep 'written by others' "$T/err"
	record -q --rotate 1h -o missing/out.d true
	[[ $status -eq 125 ]]
	grep 'cannot make the folder' "$T/err"
	# shellcheck disable=SC2016 # the shell of the host does
	record_behind -q --rotate 1h -o out.d sh -c 'echo PID $$; exec sleep 60'
	eventually grep PID "$T/out"
	PIDS+=("$(sed -n 's/^PID //p' "$T/out")")
	record -q --rotate 1h -o out.d true
	[[ $status -eq 125 ]]
	grep 'another seep record' "$T/err"
	for wrong in 5 1K 10ms soon 64MiBs ''; do
		record --rotate "$wrong" true
		[[ $status -eq 2 ]]
		grep -- '--rotate takes' "$T/err"
	done
	record --rotate 1MiB --max-size 1MiB true
	[[ $status -eq 2 ]]
}

@test "a run that records nothing leaves no folder" {
	record --rotate 1h -o out.d "$HOSTS/grows-that-is-missing"
	[[ $status -eq 127 && ! -e $T/out.d ]]
}

@test "chapters turn by size, and their number is bounded" {
	# each change of 4,096 sites is some 40 KiB
	record_behind -q --rotate 256KiB --interval 10ms -o out.d "$HOSTS/many_stacks" 12
	wait "$recorder" || [[ $? -le 1 ]]
	[[ $(chapters) -ge 1 && $(chapters) -le 2 ]]
}

# at_home COMMAND...: $T/history is the default history of this user
at_home() {
	if [[ $(id -u) -ne 0 ]]; then
		mkdir -p "$T/state"
		ln -sfn "$T/history" "$T/state/seep"
		XDG_STATE_HOME=$T/state "$@"
		return
	fi
	# shellcheck disable=SC2016 # the inner shell does
	unshare -m sh -c 'mount -t tmpfs none /var/lib && cp -a "$1" /var/lib/seep && shift && exec "$@"' \
		sh "$T/history" "$@"
}

@test "report PID and ls find in the history what watch has removed, and say so" {
	need jq
	[[ $(id -u) -ne 0 ]] || unshare -m mount -t tmpfs none /var/lib ||
		skip "no mount namespace here"
	record -q --rotate 1s -o out.d "$HOSTS/grows" 2500 2500
	[[ $(chapters) -ge 2 ]]
	as_json "$T/out.d"
	local pid
	pid=$(jq '.processes[0].pid' "$T/report.json")
	jq -S '.processes[0] | del(.notes)' "$T/report.json" >"$T/before"
	mkdir "$T/history"
	printf 'seep history 1\n' >"$T/history/.version"
	cp -r "$T/out.d" "$T/history/grows"
	at_home "$SEEP" report --format json "$pid" >"$T/report.json" 2>"$T/notes"
	grep "process $pid has ended; this is what seep watch kept of it in .*/grows" "$T/notes"
	jq -S '.processes[0] | del(.notes)' "$T/report.json" | diff - "$T/before"
	SEEP_DIR=$DIR at_home "$SEEP" ls >"$T/list"
	grep -E 'history of 1 service in .*: seep ls --history' "$T/list"
	SEEP_DIR=$DIR at_home "$SEEP" ls --history >"$T/list"
	[[ $(grep -c "^ *$pid  exited" "$T/list") -eq 1 ]]
	grep -F '/grows/' "$T/list"
	"$SEEP" ls --history "$T/history" --format json >"$T/list.json"
	[[ $(jq '.processes | length' "$T/list.json") -eq 1 ]]
	[[ $(jq '.processes[0].live_bytes' "$T/list.json") -eq \
		$(jq '.processes[0].totals.live_bytes' "$T/report.json") ]]
	"$SEEP" ls --history "$T/out.d" >"$T/list"
	grep "^ *$pid  exited" "$T/list"
	# nobody had this one
	run at_home "$SEEP" report 4194303
	[[ $status -eq 3 && ${#lines[@]} -eq 1 ]]
	run "$SEEP" ls --history "$T"
	[[ $status -eq 3 && $output == *'no history'* ]]
	run "$SEEP" ls "$T/history"
	[[ $status -eq 2 && $output == *"is a history of seep watch: seep ls --history $T/history" ]]
	run "$SEEP" ls --history --prune
	[[ $status -eq 2 ]]
}
