/* locations.h - code addresses of stacks, with what is inlined there. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_LOCATIONS_H
#define SEEP_LOCATIONS_H

#include "kit/data/dict.h"
#include "view/sites/view.h"

/* Frames of a site: functions inlined, then the one that holds them. */
struct location {
	const uint32_t *frames; /* numbers, innermost first */
	uint32_t count;         /* 0: of a stack without frames */
};

/* Each once, numbered as they come up: 0, 1, ... Zeros: none yet. */
struct locations {
	struct location *list;
	size_t count, room;
	struct dict index;
};

/*
 * The next location of a site, from its frame number *at on; moves *at past it.
 * -ENOMEM.
 */
int locations_next(struct locations *l, const struct view *v, const struct view_site *s,
    uint32_t *at, uint32_t *ret);

void locations_release(struct locations *l);

#endif
