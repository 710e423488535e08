/* table_lifetimes.h - prints how long the blocks of each site live. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TABLE_LIFETIMES_H
#define SEEP_TABLE_LIFETIMES_H

#include "print/text/body.h"
#include "view/sites/lifetimes.h"

/*
 * For each process its first paragraph, and a table: one row per site, most frees
 * first. options->view.id: this site alone, with its whole histogram. -ENOMEM,
 * -EIO if ferror(), -ESRCH: no process has options->view.pid; -ENOENT: there is
 * no such site.
 */
int table_lifetimes_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct lifetimes *l);

#endif
