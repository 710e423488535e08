/* rss_text.h - the account of resident memory as text, and what to do about it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_TEXT_H
#define SEEP_RSS_TEXT_H

#include "print/text/layout.h"
#include "view/sites/view.h"
#include "findings/rss_rules.h"

/* The site that keeps most beyond its own bytes; its name and figures. */
struct rss_holder {
	const struct residence_site *site; /* NULL: none */
	char *name;                        /* of its function, for free() */
};

/*
 * The account of process->residence: a line for each class, the sentence, the
 * advice, and the course if there are several readings. Nothing if there is no
 * reading. -ENOMEM.
 */
int rss_text_write(const struct layout *p, const struct session *s, const struct process *process,
    struct names *names, const struct view_options *options);

/* One line for a verdict: RSS = live + rounding + ... -ENOMEM. */
int rss_text_write_line(const struct layout *p, const struct session *s,
    const struct process *process, struct names *names);

#endif
