/* text.h - a session in plain text: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TEXT_H
#define SEEP_REPORT_TEXT_H

#include "report/body.h"

/*
 * One process in full; of several first a list, then the heavy ones, or with
 * options->view.merge all as one. -ENOMEM, -EIO if ferror(), -ESRCH: no
 * process has options->view.pid.
 */
int text_write(const struct layout *p, const struct session *s,
    struct names *names, const struct body_options *options);

/* What could not be named, one line each. */
void text_notes(const struct layout *p, const struct names *names);

#endif
