/* rss_text.h - the account of resident memory as text, and what to do about it. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_TEXT_H
#define SEEP_RSS_TEXT_H

#include "print/text/layout.h"
#include "view/sites/view.h"
#include "recording/parts/rss_account.h"

/* The site that keeps most beyond its own bytes; its name and figures. */
struct rss_holder {
	const struct residence_site *site; /* NULL: none */
	char *name;                        /* of its function, for free() */
};

/* What may be said because a rule fits: docs/RSS.md. Bits. */
enum rss_advice {
	RSS_FREE = 1,   /* pages without a living block: malloc_trim */
	RSS_ARENAS = 2, /* many arenas with free memory in them */
	RSS_PINNED = 4, /* one site keeps over ten times what it has */
};

/* Of the largest by pins; NULL: none. */
unsigned rss_rules(const struct residence *r, const struct residence_site *s);

/* The site with the most bytes beyond its own; NULL: none has any. */
const struct residence_site *rss_rules_most_pins(const struct residence *r);

/* The last reading of a process at a moment of its recording; NULL: none. */
const struct residence *rss_rules_at(
    const struct session *s, const struct process *p, uint64_t time_us);

/* "living", "free", ...: keys of JSON and of the page. */
const char *rss_rules_key(enum residence_class which);

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
