/* rss_rules.h - when advice about resident memory may be given. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RSS_RULES_H
#define SEEP_RSS_RULES_H

#include "recording/parts/rss_account.h"
#include "session/load/session.h"

/* What may be said because a rule fits: docs/RSS.md. Bits. */
enum rss_advice {
	RULE_FREE = 1,   /* pages without a living block: malloc_trim */
	RULE_ARENAS = 2, /* many arenas with free memory in them */
	RULE_PINNED = 4, /* one site keeps over ten times what it has */
};

/* Of the largest by pins; NULL: none. */
unsigned rss_rules(const struct rss_account *r, const struct rss_site *s);

/* The site with the most bytes beyond its own; NULL: none has any. */
const struct rss_site *rss_rules_most_pins(const struct rss_account *r);

/* The last reading of a process at a moment of its recording; NULL: none. */
const struct rss_account *rss_rules_at(
    const struct session *s, const struct process *p, uint64_t time_us);

/* "living", "free", ...: keys of JSON and of the page. */
const char *rss_rules_key(enum rss_class which);

#endif
