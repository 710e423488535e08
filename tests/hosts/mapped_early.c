/* mapped_early.c - libraries map before the collector is relocated, and in constructors. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Wl,--no-as-needed,-rpath,'$ORIGIN' -Lbuild/hosts -l:mapped_early_plugin.so -l:mapped_early_plugin_resolver.so */
#include <stdio.h>

extern int mapped_early_right;

int main(void)
{
	puts(mapped_early_right ? "right" : "wrong");
	return 0;
}
