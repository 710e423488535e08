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

/*
 * "global `sessions`+0x40 -> a block of dict_expand (8 MiB) -> 1,200,000
 * of dict_add (404 MiB)": the way to most blocks of a site, for the line "held
 * by" below GROWTH. `id` as reports show it. Writes no newline. False: nothing is
 * known of the site, and nothing is written. *ret_vague: the root is memory of
 * which nothing is known, because the process made it during the look.
 */
bool held_text_line(FILE *out, const struct held_view *v, uint32_t id, bool *ret_vague);

/* All that is known of one site; false: it has no live block. */
bool held_text_site(const struct layout *p, const struct held_view *v, uint32_t id);

/* The largest holders, and the sites that retain most; `top`, 0: all. */
void held_text_retained(const struct layout *p, const struct held_view *v, unsigned top);

/* The way to a node, without a newline. */
void held_text_way(FILE *out, const struct held_view *v, uint32_t node);

/*
 * What piles up below a node: the child that retains more than half of it, and so
 * on, for a few steps; or the node itself.
 */
uint32_t held_text_follow(const struct held_view *v, uint32_t node);

/* "global `sessions`" and the like. `count`: so many roots of this name. */
void held_text_root(FILE *out, const struct held_view_root *r, uint64_t count);

#endif
