/* report_report_text.h - prints a session: a paragraph, then a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_TEXT_H
#define SEEP_REPORT_TEXT_H

#include "print/text/body.h"

/*
 * Prints one process in full. For several: a list, then the largest ones, or
 * with options->view.merge all as one. -ENOMEM, -EIO if ferror(), -ESRCH: no
 * process has options->view.pid.
 */
int report_text_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options);

/* Says what could not be named, one line each. */
void report_text_notes(const struct layout *p, const struct names *names);

#endif
