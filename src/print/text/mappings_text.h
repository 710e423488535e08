/* mappings_text.h - prints who mapped the memory that a process has mapped. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_MAPPINGS_TEXT_H
#define SEEP_MAPPINGS_TEXT_H

#include "print/text/body.h"

/*
 * The mappings of each process by caller, the largest first, with the part that
 * is resident if mapped_pages_read() has read it. -ENOMEM; -ESRCH: no such process;
 * -ENODATA: no process of the session has mappings by caller.
 */
int mappings_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/* One line for a report of the heap; nothing if there are no mappings. */
void mappings_text_write_line(const struct layout *p, const struct process *x);

/* Does the process record mappings, or has it recorded some? */
bool mappings_text_has(const struct process *x);

/* Is the site of all mappings that the allocator has made? */
bool mappings_text_is_allocators(const struct process *x, const struct view_site *s);

/* What the site has now; NULL: not known. */
const struct mapped_site *mappings_text_resident(
    const struct process *x, const struct view_site *s);

#endif
