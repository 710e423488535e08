/* no_header_plugin.c - has .eh_frame, but no .eh_frame_hdr, so that nobody finds its unwind tables. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -fasynchronous-unwind-tables -Wl,--no-eh-frame-hdr -w */
#include "odd_plugin.h"
ODD_PLUGIN(odd_no_header)
