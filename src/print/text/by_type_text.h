/* by_type_text.h - a census as text: live blocks by C++ type, and what sites could give back. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BY_TYPE_TEXT_H
#define SEEP_BY_TYPE_TEXT_H

#include "findings/by_type.h"
#include "findings/spare.h"
#include "print/text/layout.h"

/* `top` rows at most, 0: all. */
void by_type_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct by_type *t, unsigned top);
/* `top` lines at most, 0: all. */
void spare_text_write(const struct layout *page, const struct process *p, const struct census *c,
    const struct spare *s, unsigned top);

#endif
