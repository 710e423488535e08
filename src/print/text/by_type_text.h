/* by_type_text.h - live blocks by C++ type, as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BY_TYPE_TEXT_H
#define SEEP_BY_TYPE_TEXT_H

#include "findings/by_type.h"
#include "print/text/layout.h"

/* `top` rows at most, 0: all. */
void by_type_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct by_type *t, unsigned top);

#endif
