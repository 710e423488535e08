#!/usr/bin/env bats
# install_is_complete - the files of make install work, and make uninstall removes them.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/host.bash

setup_file() {
	export ROOT # a place that everybody can read
	ROOT=$(mktemp -d)
	chmod 755 "$ROOT"
}

teardown_file() {
	rm -rf "$ROOT"
}

# in_place ACTION DESTDIR PREFIX LIBDIR: from a copy, so that no file of the
# build is touched while other tests run it
in_place() {
	local copy=$BATS_FILE_TMPDIR/build
	if [[ ! -d $copy ]]; then
		mkdir "$copy"
		cp -p "$BUILD"/{seep,seep-net,seep-replay-run,mkman,libseep{,-cxx,-jemalloc,-tcmalloc,-map}.so} "$copy"
	fi
	B=$copy "$repo/tools/install.sh" "$@" >"$T/said"
}

files() { (cd "$1" && find . ! -type d | sort); }

@test "make install installs every file" {
	in_place install "$ROOT" /usr /usr/lib
	local file
	for file in bin/seep lib/seep/seep-net lib/seep/seep-replay-run lib/seep/libseep{,-cxx,-jemalloc,-tcmalloc,-map}.so include/seep.h \
		lib/pkgconfig/seep.pc share/bash-completion/completions/seep \
		lib/systemd/system/seep-watch.service lib/tmpfiles.d/seep.conf share/zsh/site-functions/_seep share/fish/vendor_completions.d/seep.fish \
		share/doc/seep/{README.md,LICENSE,CHANGELOG.md,FORMAT.md,FLEET.md,contrib/prometheus/seep.rules.yml}; do
		[[ -s $ROOT/usr/$file ]] || {
			echo "missing: $file"
			return 1
		}
	done
	[[ -z $(find "$ROOT" -perm /022 ! -type l) ]] # nobody else may write
	[[ -z $(find "$ROOT" -name '*.new') ]]
}

@test "the unit is one that systemd understands" {
	need systemd-analyze
	in_place install "$ROOT" /usr /usr/lib
	local unit=$ROOT/usr/lib/systemd/system/seep-watch.service
	grep -x 'ExecStart=/usr/bin/seep watch .*' "$unit"
	# the command is not installed here, where systemd looks for it
	sed "s|/usr/bin/seep|$SEEP|" "$unit" >"$T/seep-watch.service"
	systemd-analyze verify --man=no "$T/seep-watch.service" >"$T/said" 2>&1
	cat "$T/said"
	[[ ! -s $T/said ]]
}

@test "tmpfiles.d makes /run/seep, of root and sticky" {
	need systemd-tmpfiles
	[[ $(id -u) -eq 0 ]] || skip "needs root, for a directory of root"
	in_place install "$ROOT" /usr /usr/lib
	systemd-tmpfiles --create --root="$ROOT" "$ROOT/usr/lib/tmpfiles.d/seep.conf"
	[[ $(stat -c '%a %u %g' "$ROOT/run/seep") == "1777 0 0" ]]
}

@test "installed documents have no dead links and name the installed command" {
	in_place install "$ROOT" /usr /usr/lib
	dead_links "$ROOT/usr/share/doc/seep"
	grep -q '^    seep record ./your-program' "$ROOT/usr/share/doc/seep/README.md"
	[[ -s $ROOT/usr/share/doc/seep/pictures/page.png ]]
}

@test "the installed seep record works for a normal user" {
	in_place install "$ROOT" /usr /usr/lib
	local mine
	mine=$(mktemp -d)
	PIDS=()
	if [[ $(id -u) -eq 0 ]]; then
		AS=(setpriv --reuid=65534 --regid=65534 --clear-groups)
		chown 65534:65534 "$mine" "$DIR"
	fi
	SEEP_DIR=$DIR "${AS[@]}" "$ROOT/usr/bin/seep" record -q -o "$mine/r.data" \
		sh -c 'echo "$LD_PRELOAD"' >"$T/env"
	"${AS[@]}" "$ROOT/usr/bin/seep" report "$mine/r.data" >"$T/report"
	rm -rf "$mine"
	grep -qx "$ROOT/usr/lib/seep/libseep.so" "$T/env"
	grep -q 'allocations' "$T/report"
}

@test "the collector is found in a LIBDIR of its own" {
	[[ $BUILD == "$repo/build" ]] || skip "a sanitized build is not installed"
	local b=$BATS_FILE_TMPDIR/libdir to=$ROOT/other
	mkdir -p "$b/obj"
	cp -a "$BUILD"/{flags,seep,seep-replay-run,mkman,libseep{,-cxx,-jemalloc,-tcmalloc,-map}.so} "$b"
	cp -a "$BUILD"/obj/{tool,man,so,replayer} "$b/obj"
	# flags as they were: one file is compiled, not all
	local -a with=(B="$b" DESTDIR="$to" PREFIX=/opt/seep LIBDIR=/opt/seep/lib/any-linux-gnu)
	! grep -qw -- -Werror "$b/flags" || with+=(WERROR=1)
	make -n -C "$repo" "${with[@]}" install >"$T/said"
	[[ $(grep -c '"  CC' "$T/said") -le 2 ]] || skip "built with other flags"
	make -s -C "$repo" "${with[@]}" install >"$T/said" 2>&1 || {
		cat "$T/said"
		return 1
	}
	SEEP_DIR=$DIR "$to/opt/seep/bin/seep" record -q -o "$T/r.data" \
		sh -c 'echo "$LD_PRELOAD"' >"$T/env"
	cat "$T/env"
	grep -qx "$to/opt/seep/lib/any-linux-gnu/seep/libseep.so" "$T/env"
	make -s -C "$repo" "${with[@]}" uninstall >"$T/said"
	[[ -z $(files "$to") ]]
}

@test "a program compiles with the flags of pkg-config" {
	need pkg-config
	in_place install "" "$ROOT/prefix" "$ROOT/prefix/lib"
	export PKG_CONFIG_PATH=$ROOT/prefix/lib/pkgconfig
	local -a flags
	read -ra flags < <(pkg-config --cflags seep)
	printf '#include <seep.h>\nint main(void) { seep_mark("x"); return 0; }\n' >"$T/x.c"
	cc "${flags[@]}" -o "$T/x" "$T/x.c"
	"$T/x"
	[[ -e $(pkg-config --variable=libseep seep) ]]
	[[ $(pkg-config --modversion seep) == "$(cat "$repo/VERSION")" ]]
	in_place uninstall "" "$ROOT/prefix" "$ROOT/prefix/lib"
	[[ -z $(files "$ROOT/prefix") ]]
}

@test "uninstall removes all files of seep and no others" {
	local root=$ROOT/third
	mkdir -p "$root/usr/share/man/man1" "$root/usr/lib/seep" "$root/usr/bin"
	echo other >"$root/usr/share/man/man1/other.1"
	echo other >"$root/usr/bin/seeper"
	in_place install "$root" /usr /usr/lib
	[[ $(files "$root" | wc -l) -gt 15 ]]
	in_place uninstall "$root" /usr /usr/lib
	[[ $(files "$root" | paste -sd ' ') == "./usr/bin/seeper ./usr/share/man/man1/other.1" ]]
	[[ ! -e $root/usr/lib/seep && ! -e $root/usr/share/doc/seep ]]
}

@test "the manual has a page for every command, with all its options" {
	need scdoc
	"$repo/man/build.sh" "$BUILD/mkman" "$T/man"
	local command page option
	while read -r command; do
		page=$T/man/seep-$command.1
		[[ -s $page ]]
		while read -r option; do
			grep -qF -- "\\fB--$option\\fR" "$page" || {
				echo "seep-$command.1: no --$option"
				return 1
			}
		done < <("$SEEP" "$command" --help | sed -nE 's/^  .{4}--([a-z-]+).*/\1/p')
		grep -q "seep-$command" "$T/man/seep.1"
	done < <("$BUILD/mkman")
	[[ $("$BUILD/mkman" | wc -l) -ge 8 ]]
}

@test "the manual is well-formed" {
	need scdoc
	need mandoc
	"$repo/man/build.sh" "$BUILD/mkman" "$T/man"
	mandoc -T lint -W warning "$T"/man/*.[0-9]
	! grep -l '@version@\|@commands' "$T"/man/* || return 1
}

@test "the manual names every variable that is read" {
	local name
	while read -r name; do
		grep -q "^\*$name\*\|, \*$name\*" "$repo"/man/{seep,libseep}.7.scd || {
			echo "$name is in no page"
			return 1
		}
	done < <(sed -nE 's/^    \{"(SEEP_[A-Z_]+)", read_.*/\1/p' \
		"$repo/src/collector/segment/config.c"
	grep -rhoE 'getenv\("[A-Z_]+"\)' "$repo"/src/{command,names} "$repo"/src/follow/recorder/record_*.c "$repo/src/segments/find/segment_dir.c" |
		sed -E 's/.*"(.*)".*/\1/' | grep -vE '^(HOME|PATH)$')
}
