/* held_text.h - who holds what, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_TEXT_H
#define SEEP_HELD_TEXT_H

#include "findings/held_view.h"
#include "print/text/layout.h"

/* A sentence for processes of which not all blocks are known. */
#define HELD_TEXT_PARTIAL \
	" Some of its blocks are unknown, because it was sampled, or " \
	"allocated them before the collector started or while recording " \
	"was off: they are in no figure, and may hold others."

/* All that is known of one site; false: it has no live block. */
bool held_text_site(const struct layout *p, const struct held_view *v, uint32_t id);

/* The largest holders, and the sites that retain most; `top`, 0: all. */
void held_text_retained(const struct layout *p, const struct held_view *v, unsigned top);

#endif
