/* spare.c - what the sites of a process could give back. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/spare.h"

#include <errno.h>
#include <stdlib.h>

static void add(struct census_spare *to, const struct census_spare *x)
{
	to->equal_blocks += x->equal_blocks;
	to->equal_bytes += x->equal_bytes;
	to->unwritten_blocks += x->unwritten_blocks;
	to->unwritten_bytes += x->unwritten_bytes;
	to->tail_blocks += x->tail_blocks;
	to->tail_bytes += x->tail_bytes;
}

static uint64_t weight(const struct census_spare *x)
{
	return x->equal_bytes + x->unwritten_bytes + x->tail_bytes;
}

static int by_weight(const void *a, const void *b)
{
	const struct spare_line *x = a, *y = b;

	if (weight(&x->sum) != weight(&y->sum))
		return weight(&x->sum) > weight(&y->sum) ? -1 : 1;
	return (x->sum.site > y->sum.site) - (x->sum.site < y->sum.site);
}

int spare_make(const struct census *c, const struct census_view *v, struct spare *ret)
{
	*ret = (struct spare){.lines = calloc(c->spare_count + 1, sizeof(*ret->lines))};
	if (!ret->lines)
		return -ENOMEM;
	for (size_t i = 0; i < c->spare_count; i++) {
		struct spare_line *x = &ret->lines[ret->count];

		x->sum = c->spare[i];
		x->site = census_view_find(v, x->sum.site, &x->view);
		if (!x->site && v->is_filtered) {
			add(&ret->filtered, &x->sum);
			continue;
		}
		add(&ret->all, &x->sum);
		ret->count++;
	}
	qsort(ret->lines, ret->count, sizeof(*ret->lines), by_weight);
	return 0;
}

void spare_release(struct spare *s)
{
	free(s->lines);
	*s = (struct spare){0};
}
