#!/usr/bin/env bats
# serve_refuses_bad_use - what seep serve cannot do, or must not, it says in one line before it listens.
# SPDX-License-Identifier: Apache-2.0
load ../../lib/serve.bash

said() { grep -qF -- "$1" "$T/stderr"; }

@test "an address that other machines can reach is tried with --no-auth" {
	one_line 3 "$SEEP" serve --listen 192.0.2.1:7337 --no-auth # the address is nobody's here
	said 192.0.2.1:7337
}

@test "a token that others can read, that is short, or is not there" {
	: >"$T/empty"
	echo short >"$T/short"
	echo 0123456789abcdef0 >"$T/open"
	head -c 2000 /dev/zero | tr '\0' x >"$T/long"
	printf '0123456789abcdef\0more\n' >"$T/odd"
	chmod 600 "$T/empty" "$T/short" "$T/long" "$T/odd"
	chmod 640 "$T/open"
	local f
	for f in empty short open long odd none; do
		one_line 3 "$SEEP" serve --listen "127.0.0.1:$(free_port)" --token-file "$T/$f"
		said "$T/$f"
	done
	one_line 3 "$SEEP" serve --token-file /
	one_line 2 "$SEEP" serve --token-file "$T/open" --no-auth
	# nothing listens, nothing is left behind
	one_line 3 "$SEEP" watch --listen "unix:$T/socket" --token-file "$T/open" --history "$T/history"
	[[ ! -e $T/socket && ! -e $T/history ]]
}

@test "a port that is taken, a path that is, and one that cannot be made" {
	serving
	one_line 3 "$SEEP" serve --listen "127.0.0.1:$PORT"
	said "$PORT"
	said "somebody else listens"
	# a file that is no socket stays
	echo mine >"$T/file"
	one_line 3 "$SEEP" serve --listen "unix:$T/file"
	[[ $(cat "$T/file") == mine ]]
	one_line 3 "$SEEP" serve --listen "unix:$T/no/socket"
	unserve
}

@test "without seep-net the command says so, and help is there" {
	mkdir "$T/alone"
	cp "$SEEP" "$T/alone/seep"
	one_line 3 "$T/alone/seep" serve
	said 'built without'
	one_line 3 "$T/alone/seep" watch --listen 127.0.0.1:7337 --history "$T/history"
	said 'built without'
	"$T/alone/seep" serve --help | grep -q -- --token-file
	# another one on the PATH is not run
	mkdir "$T/path"
	printf '#!/bin/sh\ntouch "%s/ran"\n' "$T" >"$T/path/seep-net"
	chmod 755 "$T/path/seep-net"
	PATH=$T/path:$PATH one_line 3 "$T/alone/seep" serve
	[[ ! -e $T/ran ]]
	# nor one that others may write
	cp "$T/path/seep-net" "$T/alone"
	chmod 777 "$T/alone/seep-net"
	one_line 3 "$T/alone/seep" serve
	said 'other users may write it'
	[[ ! -e $T/ran ]]
}

@test "an INPUT that is none" {
	one_line 2 "$SEEP" serve "$SEEP"
	one_line 2 "$SEEP" serve "$T" 1 || one_line 3 "$SEEP" serve "$T" 1
}
