/* inventory_text.h - the holders that a recording has stored, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_INVENTORY_TEXT_H
#define SEEP_INVENTORY_TEXT_H

#include "print/text/layout.h"
#include "recording/parts/inventory.h"
#include "session/process/process.h"

/* One site, and who holds it; false: it is not stored, and nothing is written. */
bool inventory_text_site(const struct layout *p, const struct inventory *v, uint32_t id);

/* The largest holders, and the sites that retain most; `top`, 0: all. -ENOMEM. */
int inventory_text_retained(const struct layout *p, const struct inventory *v, unsigned top);

/* Of what it is, and what is not in it. */
void inventory_text_sentence(const struct layout *page, const struct process *p);

#endif
