/* stripped_plugin.c - neither symbols nor section headers that say anything, a packed relocation table, one segment. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -s -fno-unwind-tables -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code,-z,pack-relative-relocs -w */
#include "odd_plugin.h"
ODD_PLUGIN(odd_stripped)
