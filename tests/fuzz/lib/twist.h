/* twist.h - what hostile or broken writers do to a recording or segment. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FUZZ_TWIST_H
#define SEEP_FUZZ_TWIST_H

#include "chance.h"
#include "shape.h"

/*
 * Known fields one after the other: 0, 1, -1, 2^31 and 2^63 in every field of
 * docs/FORMAT.md and docs/RECORDING.md that this shape has. False: there are
 * not n + 1 such changes; the shape is as it was.
 */
bool twist_known(struct shape *s, size_t n);
size_t twist_known_count(const struct shape *s);

/* One to four changes by chance. `other`: where entries may come from. */
void twist_random(struct shape *s, const struct shape *other, struct chance *c);

/* A value worth trying in place of `was`. */
uint64_t twist_value(struct chance *c, uint64_t was);

/* One change by chance in the content of an entry of this type. */
void twist_content(struct codec_out *content, uint32_t type, struct chance *c);

#endif
