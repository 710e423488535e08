/* early_calls_plugin.c - a library whose constructor calls the whole family; preloaded before or behind the collector. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-builtin -Wno-deprecated-declarations -w */
#include "early_calls.h"

__attribute__((constructor)) static void call_early(void)
{
	for (int which = 0; which < EARLY_KINDS; which++)
		early_call(which);
}
