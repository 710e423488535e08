/* twin_plugin_b.c - loaded by twins: its allocations are work_B's alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#define WORK work_B
#include "twin_plugin.h"
