#!/usr/bin/env bats
# a_fresh_machine_is_served - make names what is missing, make check installs it, and says so.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

# without_libdw COMMAND...: where the header of libdw is missing; apt-get is one of
# ours, which writes down how it was called, and "installs" by showing it again
without_libdw() {
	mkdir -p "$T/bin"
	cat >"$T/bin/apt-get" <<-'END'
		#!/bin/bash
		echo "$*" >>"$CALLS"
		case " $* " in
		*" --assume-no "*)
			echo "Need to get 10.2 MB of archives."
			echo "After this operation, 37.8 MB of additional disk space will be used."
			;;
		*" install "*) umount /usr/include/elfutils ;;
		esac
	END
	chmod +x "$T/bin/apt-get"
	: >"$T/calls"
	status=0
	# shellcheck disable=SC2016 # for the inner shell
	CALLS=$T/calls BIN=$T/bin own_mounts bash -c '
		mount -t tmpfs tmpfs /usr/include/elfutils || exit 99
		PATH=$BIN:$PATH exec "$@"' bash "$@" >"$T/out" 2>"$T/err" || status=$?
	[[ $status -ne 99 ]] || skip "no mount namespace here"
}

@test "plain make installs nothing and prints one line with the missing packages and make deps" {
	local goal
	for goal in all install "$T/b/seep"; do
		without_libdw make -C "$repo" B="$T/b" DESTDIR="$T/root" "$goal"
		cat "$T/err"
		[[ $status -ne 0 && ! -s $T/calls && ! -e $T/b/seep && ! -e $T/root ]]
		[[ $(grep -c '^seep: ' "$T/err") -eq 1 ]]
		grep -q "^seep: missing: libdw-dev (.*'make deps'" "$T/err"
	done
}

@test "a unit test is built without the packages of other tests" {
	make -n -C "$repo" B="$T/b" "$T/b/tests/test_units" >"$T/out"
	grep '^tools/deps.sh' "$T/out" | sort | diff - <(printf 'tools/deps.sh --tell %s\n' build unit)
}

@test "make deps, demo and check print the packages and their size before they install them" {
	local goal
	for goal in deps-build deps-check; do
		without_libdw make -n -C "$repo" B="$T/b" "$goal"
		grep -qx "tools/deps.sh  ${goal#deps-}" "$T/out"
	done
	without_libdw "$repo/tools/deps.sh" build
	cat "$T/err"
	[[ $status -eq 0 ]]
	grep -q '^seep: installing libdw-dev (with what they depend on: 10.2 MB to fetch, 37.8 MB on disk)$' "$T/err"
	grep -q 'install --no-install-recommends libdw-dev$' "$T/calls"
}

@test "without the right to install, make prints the command to type and runs no test" {
	[[ $(id -u) -eq 0 ]] || skip "needs root"
	printf '#!/bin/sh\nexit 1\n' >"$T/sudo"
	chmod +x "$T/sudo"
	chmod 711 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR/test" "$T"
	without_libdw setpriv --reuid=65534 --regid=65534 --clear-groups \
		env PATH="$T:$T/bin:$PATH" "$repo/tools/deps.sh" build
	cat "$T/err"
	if grep -q 'Permission denied' "$T/err"; then
		skip "nobody cannot come here"
	fi
	[[ $status -eq 1 && ! -s $T/calls ]]
	grep -q 'sudo apt-get .*install --no-install-recommends libdw-dev$' "$T/err"
}

@test "a package that is installed but cannot be found is reported" {
	without_libdw sh -c 'printf "#!/bin/sh\n" >"$BIN/apt-get"; exec "$0" build' "$repo/tools/deps.sh"
	[[ $status -eq 1 ]]
	grep -q '^seep: installed, and yet missing: libdw-dev$' "$T/err"
}

@test "fresh.sh needs root and says so; its last line is a verdict" {
	if [[ $(id -u) -eq 0 ]]; then
		AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		"${AS[@]}" test -x "$repo/tools/fresh.sh" || skip "nobody cannot come here"
	fi
	run "${AS[@]}" "$repo/tools/fresh.sh"
	[[ $status -eq 1 && ${lines[0]} == "fresh.sh: needs root"* && ${lines[1]} == "0 passed, 1 failed" ]]
}

@test "check-full adds up its parts; one that has no totals has failed" {
	mkdir -p "$T/co/tools/refactor"
	cp "$repo/tools/full.sh" "$T/co/tools"
	printf '#!/bin/sh\necho "$*"\necho "1 passed, 0 failed"\n' >"$T/co/tools/refactor/mutants"
	chmod +x "$T/co/tools/refactor/mutants"
	printf '#!/bin/sh\necho "70 passed, 1 failed, 3 skipped"\nexit 1\n' >"$T/co/tools/fresh.sh"
	chmod +x "$T/co/tools/fresh.sh"
	printf '%s\n' 'check:' "	@echo \$(SEEP_FULL) \$(GROUP); echo '500 passed, 0 failed'" \
		'fuzz:' "	@echo '\$(FUZZ_SECONDS) s'" >"$T/co/Makefile"
	run "$T/co/tools/full.sh"
	echo "$output"
	[[ $status -eq 1 && ${lines[-1]} == "571 passed, 2 failed, 3 skipped" ]]
	grep -qx 'fuzz: did not come to its totals, see build/full/fuzz.log' <<<"$output"
	grep -qx '600 s' <<<"$output"
	run "$T/co/tools/full.sh" real
	[[ $status -eq 0 && ${lines[0]} == "1 real" && ${lines[-1]} == "500 passed, 0 failed, 0 skipped" ]]
	run "$T/co/tools/full.sh" nothing
	[[ $status -eq 2 && ${lines[-1]} == "0 passed, 1 failed" ]]
}
