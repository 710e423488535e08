/* held_words.h - who holds what, in words: a root, and a way from it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HELD_WORDS_H
#define SEEP_HELD_WORDS_H

#include <stdio.h>

#include "findings/held_view.h"

/*
 * "global `sessions`+0x40 -> a block of dict_expand (8 MiB) -> 1,200,000
 * of dict_add (404 MiB)": the way to most blocks of a site, for the line "held
 * by" below GROWTH. `id` as reports show it. Writes no newline. False: nothing is
 * known of the site, and nothing is written. *ret_vague: the root is memory of
 * which nothing is known, because the process made it during the look.
 */
bool held_words_line(FILE *out, const struct held_view *v, uint32_t id, bool *ret_vague);

/* The way to a node, without a newline. */
void held_words_way(FILE *out, const struct held_view *v, uint32_t node);

/*
 * What piles up below a node: the child that retains more than half of it, and so
 * on, for a few steps; or the node itself.
 */
uint32_t held_words_follow(const struct held_view *v, uint32_t node);

/* "1,200,000 of dict_add (404 MiB)": the blocks of one node. */
void held_words_node(FILE *out, const struct held_view *v, uint32_t node);

/* "global `sessions`" and the like. `count`: so many roots of this name. */
void held_words_root(FILE *out, const struct held_view_root *r, uint64_t count);

#endif
