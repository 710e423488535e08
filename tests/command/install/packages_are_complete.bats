#!/usr/bin/env bats
# packages_are_complete - the release has all sources, and the packages have all installed files.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/record.bash

version=$(cat "$BATS_TEST_DIRNAME/../../../VERSION")

# installed: what make install puts below /usr, as packages see it
installed() {
	mkdir "$T/build"
	cp -p "$BUILD"/{seep,seep-replay-run,mkman,libseep{,-cxx,-jemalloc,-tcmalloc,-map}.so} "$T/build"
	B=$T/build "$repo/tools/install.sh" install "$T/root" /usr "$1" >/dev/null
	(cd "$T/root" && find usr ! -type d | sort)
}

@test "make dist: all sources with the version in its name, the same each time" {
	cd "$repo"
	git rev-parse HEAD >/dev/null 2>&1 || skip "no repository here"
	tools/dist.sh "$T/seep-$version.tar.gz"
	cp "$T/seep-$version.tar.gz" "$T/first"
	tools/dist.sh "$T/seep-$version.tar.gz"
	cmp "$T/first" "$T/seep-$version.tar.gz"
	diff <(tar -tzf "$T/first" | sort) <(git ls-files | while read -r file; do
		[[ ! -e $file ]] || echo "seep-$version/$file"
	done | sort)
	# it builds: from a place that is no repository
	tar -xzf "$T/first" -C "$T"
	(cd "$T/seep-$version" && make -n all >"$T/said")
	[[ $(cat "$T/seep-$version/VERSION") == "$version" ]]
	(cd "$T/seep-$version" && tools/dist.sh "build/seep-$version.tar.gz" >/dev/null)
	diff <(tar -tzf "$T/first" | sort) \
		<(tar -tzf "$T/seep-$version/build/seep-$version.tar.gz" | sort)
}

@test "Debian: every file is in one package" {
	local file pattern found failed=0
	installed /usr/lib/x86_64-linux-gnu >"$T/files"
	cat "$repo"/packaging/debian/*.install >"$T/patterns"
	while read -r file; do
		[[ $file != */doc/seep/LICENSE ]] || continue # debian/copyright has it
		file=${file/#usr\/lib\/systemd/lib\/systemd}  # debian/rules moves it
		found=0
		while read -r pattern; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file == $pattern || $file == $pattern/* ]] && found=$((found + 1))
		done <"$T/patterns"
		[[ $found -eq 1 ]] || {
			echo "$file: in $found packages"
			failed=1
		}
	done <"$T/files"
	[[ $failed -eq 0 ]]
}

@test "Fedora: the spec has the version, and a place for every file" {
	local file failed=0
	grep -qx "%{!?seep_version: %global seep_version $version}" "$repo/packaging/seep.spec"
	installed /usr/lib64 >"$T/files"
	sed -n '/^%files/,$p' "$repo/packaging/seep.spec" | sed -n 's/^%{/%{/p; s/^%dir //p' |
		sed 's,%{_bindir},usr/bin,; s,%{_mandir},usr/share/man,; s,%{_libdir},usr/lib64,
			s,%{_includedir},usr/include,; s,%{_docdir},usr/share/doc,; s,%{_datadir},usr/share,
			s,%{name},seep,; s,%{_unitdir},usr/lib/systemd/system,; s,%{_tmpfilesdir},usr/lib/tmpfiles.d,' >"$T/patterns"
	while read -r file; do
		while read -r pattern; do
			# shellcheck disable=SC2053 # a pattern
			[[ $file == $pattern || $file == $pattern/* ]] && continue 2
		done <"$T/patterns"
		echo "$file: in no package"
		failed=1
	done <"$T/files"
	[[ $failed -eq 0 ]]
}

@test "the maintainer of a package is the person who builds it, or a name without an address" {
	cd "$repo"
	lacks 'example\.\(org\|com\)' packaging/debian/control
	lacks 'example\.\(org\|com\)' packaging/seep.spec
	mkdir "$T/bin"
	printf '#!/bin/sh\ncat debian/control debian/changelog >"%s"\ntouch ../x.deb ../x.changes\n' \
		"$T/built" >"$T/bin/dpkg-buildpackage"
	printf '#!/bin/sh\n' >"$T/bin/lintian"
	chmod +x "$T/bin"/*
	mkdir "$T/seep-9.9"
	touch "$T/seep-9.9/VERSION"
	tar -czf "$T/seep-9.9.tar.gz" -C "$T" seep-9.9
	PATH=$T/bin:$PATH packaging/deb.sh "$T/seep-9.9.tar.gz" "$T/deb"
	grep -qx 'Maintainer: seep maintainers <maintainers@seep\.invalid>' "$T/built"
	grep -q '^ -- seep maintainers <maintainers@seep\.invalid>  ' "$T/built"
	DEBFULLNAME='A & B' DEBEMAIL=ab@packages.test PATH=$T/bin:$PATH \
		packaging/deb.sh "$T/seep-9.9.tar.gz" "$T/deb"
	cat "$T/built"
	grep -q '^ -- A & B <ab@packages\.test>  ' "$T/built"
	grep -qx 'Maintainer: A & B <ab@packages\.test>' "$T/built"
}

# bats test_tags=full
@test "make deb: packages that lintian has nothing against, and that work" {
	need lintian
	cd "$repo"
	tools/dist.sh "$T/seep-$version.tar.gz"
	packaging/deb.sh "$T/seep-$version.tar.gz" "$T/deb" >"$T/said" 2>&1 || {
		cat "$T/said"
		return 1
	}
	lacks '^[EW]:' "$T/said"
	for name in seep libseep libseep-dev seep-doc; do
		dpkg-deb -x "$T/deb/${name}_${version}_"*.deb "$T/root"
	done
	SEEP_DIR=$DIR "$T/root/usr/bin/seep" record -q --require -o "$T/data" true
	"$T/root/usr/bin/seep" report "$T/data" >"$T/report"
	grep -q allocations "$T/report"
	dead_links "$T/root/usr/share/doc/seep"
}
