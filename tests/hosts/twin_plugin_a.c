/* twin_plugin_a.c - loaded by twins: its allocations are work_A's alone. */
/* SPDX-License-Identifier: Apache-2.0 */
#define WORK work_A
#include "twin_plugin.h"
