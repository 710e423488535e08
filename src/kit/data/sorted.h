/* sorted.h - comparing items for qsort(), and a place in a sorted array. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SORTED_H
#define SEEP_SORTED_H

#include "base/std.h"

/*
 * A function for qsort(); `order` compares x with y, which are two items:
 *
 *	BY(by_time, struct item, UP(start_ns) ?: UP(sequence))
 *	BY(by_name, struct item, strcmp(x->name, y->name))
 */
#define BY(name, type, order) \
	static int name(const void *a, const void *b) \
	{ \
		const type *x = a, *y = b; \
\
		return order; \
	}

/* The smallest key first, or the largest. */
#define UP(key)   ((x->key > y->key) - (x->key < y->key))
#define DOWN(key) ((x->key < y->key) - (x->key > y->key))

/*
 * The number of the first item for which `is_before` is not true, or `count`.
 * `x` is the name that an item has in is_before, as a pointer:
 *
 *	i = sorted_first(r->sites, r->site_count, s, s->id < id);
 */
#define sorted_first(array, count, x, is_before) \
	__extension__({ \
		size_t low_ = 0, high_ = (count); \
\
		while (low_ < high_) { \
			size_t middle_ = low_ + (high_ - low_) / 2; \
			__typeof__(&(array)[0]) x = (array) + middle_; \
\
			if (is_before) \
				low_ = middle_ + 1; \
			else \
				high_ = middle_; \
		} \
		low_; \
	})

#endif
