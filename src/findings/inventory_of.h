/* inventory_of.h - what one reading of a heap found, as an inventory. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVENTORY_OF_H
#define SEEP_INVENTORY_OF_H

#include <stdio.h>

#include "findings/by_type.h"
#include "findings/held_view.h"
#include "recording/parts/inventory.h"

/* An inventory that is being made. It borrows nothing of what is added. */
struct inventory_of {
	struct inventory inventory;
	FILE *texts; /* each with a NUL; where each begins is known when all are there */
	char *text;
	size_t len;
};

/*
 * All but end: -ENOMEM. An end must follow each begin: it returns `err`, or -ENOMEM;
 * after 0, *ret is for inventory_release().
 */
int inventory_of_begin(struct inventory_of *t);
int inventory_of_held(struct inventory_of *t, const struct held_view *v);
int inventory_of_types(struct inventory_of *t, const struct by_type *types, bool is_partial);
int inventory_of_end(struct inventory_of *t, int err, struct inventory *ret);

#endif
