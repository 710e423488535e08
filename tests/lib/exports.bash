# exports.bash - recordings to export, and what JSON says of them.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
load "${BASH_SOURCE[0]%/*}/record.bash"

# Once for a file of tests: $E/one.data of a process, $E/tree.data of two, each
# with its .json; one function has a name that is syntax everywhere.
make_recordings() {
	local name
	export E=$BATS_FILE_TMPDIR
	DIR=$(mktemp -d -p /dev/shm "seep-test.${SEEP_RUN:-0}.XXXXXX")
	objcopy --redefine-sym \
		$'hostile=a;b"c\\d,e<f>&g{h}|i\nj\tk%s(1) \xff=l' \
		"$HOSTS/exported" "$E/exported"
	SEEP_DIR=$DIR "$SEEP" record -q -o "$E/one.data" "$E/exported"
	SEEP_DIR=$DIR "$SEEP" record -q -o "$E/tree.data" "$E/exported" fork
	for name in one tree; do
		"$SEEP" report "$E/$name.data" --format json >"$E/$name.json"
	done
	rm -rf "$DIR"
}

# export_to FILE ARGS...: of $E/one.data unless ARGS begin with another; with
# every site and all of their names, as JSON has them (it marks the suppressed)
export_to() {
	local file=$1 input=$E/one.data
	shift
	if [[ $1 != --* ]]; then
		input=$1
		shift
	fi
	[[ " $* " == *" --format "@(json|html)" "* ]] || set -- "$@" --no-suppress
	"$SEEP" export "$input" -o "$file" --force --full-names "$@"
}

# equals FORMAT FILE [METRIC] [REPORT]: every figure is that of the report
equals() {
	"$PYTHON" "$LIB/exports.py" "${4:-$E/one.json}" "$1" "$2" "${3:-live}"
}
