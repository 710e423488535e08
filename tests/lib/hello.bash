# hello.bash - a small program to be built in all the ways in which programs are built.
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# prints hello, exits 9
hello() {
	cat >"$T/hello.c" <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		int main(void) {
			char *volatile p = malloc(100);
			p[0] = 'x';
			puts("hello");
			free(p);
			return 9;
		}
	END
}

compile() { # OUTPUT ARGS...: with cc
	hello
	"${CC:-gcc}" -o "$T/$1" "${@:2}" "$T/hello.c"
}
