/* inventory_make.h - record --retained and --types: an inventory of what was read. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVENTORY_MAKE_H
#define SEEP_INVENTORY_MAKE_H

#include "names/find/names.h"
#include "follow/recorder/leaks_look.h"

/*
 * For leaks_look_more.make, whose context is a struct names_options. *ret is for
 * inventory_release(). -ENOMEM; -E2BIG: the memory does not suffice.
 */
int inventory_make(
    const struct leaks_look_more *more, const struct leaks_look_memory *m, struct inventory *ret);

#endif
