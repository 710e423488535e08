/* debug_frame_plugin.c - has unwind tables for debuggers only, in .debug_frame. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fno-asynchronous-unwind-tables -fno-exceptions -fomit-frame-pointer -g -w */
#include "odd_plugin.h"
ODD_PLUGIN(odd_debug_frame)
