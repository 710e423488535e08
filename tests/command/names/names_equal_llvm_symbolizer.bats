#!/usr/bin/env bats
# names_equal_llvm_symbolizer - functions, inlined functions, files and lines equal those of llvm-symbolizer.
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154 # repo is of host.bash
load ../../lib/host.bash

source=tests/hosts/inlined.cpp

# compare ARGS... MODULE: at least 99.9 % of some thousand addresses are equal
compare() {
	need llvm-symbolizer
	export XDG_CACHE_HOME=$T/cache # of this test alone
	"$PYTHON" "$LIB/compare_symbols.py" -n "$(full_or 20000 5000)" \
		"${@:1:$#-1}" "$BUILD/tools/names_of" "${*: -1}"
}

# build COMPILER FLAGS...: $T/program from our host with much inlined code
build() {
	need "$1"
	(cd "$repo" && "$1" -std=c++17 -O2 -Wl,--build-id "${@:2}" \
		-o "$T/program" "$source")
}

# split_off NAME: the debug information of $T/program into $T/NAME
split_off() {
	mkdir -p "$(dirname "$T/$1")"
	objcopy --only-keep-debug "$T/program" "$T/$1"
	cp "$T/program" "$T/whole"
	strip "$T/program"
}

@test "our own command, by gcc" {
	compare --inlined-at-least 500 "$BUILD/seep"
}

@test "clang, DWARF 5, without .debug_aranges" {
	build clang++ -gdwarf-5
	if readelf -SW "$T/program" | grep -q debug_aranges; then
		return 1
	fi
	compare --inlined-at-least 500 "$T/program"
}

@test "clang, DWARF 4, and sections that the linker has dropped" {
	build clang++ -gdwarf-4 -ffunction-sections -Wl,--gc-sections
	compare --inlined-at-least 500 "$T/program"
}

@test "gcc, DWARF 5, compressed sections" {
	build g++ -gdwarf-5 -gz
	readelf -tW "$T/program" | grep -q COMPRESSED
	compare --inlined-at-least 500 "$T/program"
}

@test "gcc, split into .dwo files" {
	cd "$T"
	need g++
	g++ -std=c++17 -O2 -g -gsplit-dwarf -c -o program.o "$repo/$source"
	g++ -Wl,--build-id -o program program.o
	[[ -s program.dwo ]]
	compare --inlined-at-least 500 "$T/program"
}

@test "Rust, v0 and legacy symbols" {
	need rustc
	cat >"$T/program.rs" <<-'END'
		use std::collections::BTreeMap;
		#[inline(always)]
		fn fill(m: &mut BTreeMap<String, Vec<u64>>, n: u64) {
		    for i in 0..n {
		        m.entry(format!("k{}", i % 97)).or_default().push(i);
		    }
		}
		fn main() {
		    let mut m = BTreeMap::new();
		    fill(&mut m, 10000);
		    let mut v: Vec<_> = m.into_iter().collect();
		    v.sort_by_key(|x| std::cmp::Reverse(x.1.len()));
		    println!("{}", v.len());
		}
	END
	for scheme in v0 legacy; do
		# legacy is no longer for everybody
		RUSTC_BOOTSTRAP=1 rustc -g -O -Z unstable-options \
			-C symbol-mangling-version=$scheme \
			-C link-arg=-Wl,--build-id -o "$T/program" "$T/program.rs"
		main=$(nm "$T/program" | awk '/ t .*program4main/ { print $1 }')
		[[ -n $main ]]
		"$BUILD/tools/names_of" "$T/program" <<<"$main" |
			cut -f2 | grep -x 'program::main'
	done
	compare --inlined-at-least 500 "$T/program"
}

@test "stripped, with .gnu_debuglink" {
	build g++ -g
	split_off program.debug
	(cd "$T" && objcopy --add-gnu-debuglink=program.debug program)
	compare --debug-file "$T/whole" --inlined-at-least 500 "$T/program"
}

@test "stripped, in a directory of build-ids" {
	build clang++ -g
	id=$(readelf -nW "$T/program" | sed -n 's/.*Build ID: //p')
	split_off "debug/.build-id/${id:0:2}/${id:2}.debug"
	compare --debug-dir "$T/debug" --debug-file "$T/whole" \
		--inlined-at-least 500 "$T/program"
}

@test "shared parts moved out by dwz" {
	need dwz
	build g++ -gdwarf-4
	cp "$T/program" "$T/whole"
	cp "$T/program" "$T/second"
	mkdir -p "$T/debug/.dwz"
	(cd "$T" && dwz -m debug/.dwz/common.debug -M /usr/lib/debug/.dwz/common.debug \
		program second)
	readelf -SW "$T/program" | grep -q gnu_debugaltlink
	compare --debug-dir "$T/debug" --debug-file "$T/whole" \
		--inlined-at-least 500 "$T/program"
	# without that part: what is left is told, and that it is not all
	"$BUILD/tools/names_of" -n "$T/program" <<<"$(nm "$T/program" |
		awk '/ T main$/ { print $1 }')" >"$T/out" 2>"$T/err"
	grep -q '^main' "$T/out"
	grep 'which dwz made' "$T/err"
}

@test "the C library with the debug package of the distribution" {
	libc=$(ldd "$HOSTS/c_host" | awk '/libc\.so/ { print $3 }')
	id=$(readelf -nW "$libc" | sed -n 's/.*Build ID: //p')
	debug=/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug
	[[ -e $debug ]] || lacking "the debug file of the C library"
	compare --debug-file "$debug" --inlined-at-least 300 "$libc"
}

# bats test_tags=full
@test "ceph-osd: 20,000 addresses, 10 s, 1.4 GB, and 0.5 s from the cache" {
	need llvm-symbolizer
	"$LIB/compare_symbols.sh"
}
