/* site.h - prints everything that is known of one site. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SITE_H
#define SEEP_SITE_H

#include "print/text/layout.h"
#include "view/sites/view.h"

/*
 * The site with this id, in every process that has one: figures, sizes, ages,
 * time line, whole stack. -ENOMEM, -EIO; -ENOENT: there is none.
 */
int site_write(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id);

/* The same with the stack before the figures: for a screen that shows those. */
int site_write_stack_first(const struct layout *p, const struct session *s, struct names *names,
    const struct view_options *options, uint32_t id);

#endif
