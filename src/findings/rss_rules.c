/* rss_rules.c - when advice about resident memory may be given. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/rss_rules.h"

#include "kit/data/capped.h"

/*
 * Advice is given only where figures prove it: below these bounds nobody would
 * notice the difference. docs/RSS.md lists them.
 */
enum {
	FREE_PERCENT = 10, /* of RSS */
	FREE_LEAST = 4 << 20,
	ARENAS_LEAST = 8,
	PINNED_PERCENT = 5,
	PINNED_LEAST = 1 << 20,
	PINNED_TIMES = 10,
};

static bool is_much(uint64_t bytes, const struct rss_account *r, uint64_t percent, uint64_t least)
{
	return bytes >= least && bytes >= r->rss_bytes / 100 * percent;
}

static uint64_t pins_of(const struct rss_site *s)
{
	return s->holds - s->live;
}

const struct rss_site *rss_rules_most_pins(const struct rss_account *r)
{
	const struct rss_site *most = NULL;

	for (size_t i = 0; i < r->site_count; i++)
		if (pins_of(&r->sites[i]) > (most ? pins_of(most) : 0))
			most = &r->sites[i];
	return most;
}

unsigned rss_rules(const struct rss_account *r, const struct rss_site *s)
{
	unsigned rules = 0;

	if (r->lack != RSS_SPLIT || r->is_partial)
		return 0;
	if (is_much(r->classes[RSS_FREE], r, FREE_PERCENT, FREE_LEAST))
		rules |= RULE_FREE;
	if (r->is_glibc && r->arenas >= ARENAS_LEAST &&
	    is_much(r->arena_free_bytes, r, FREE_PERCENT, FREE_LEAST))
		rules |= RULE_ARENAS;
	if (s && is_much(pins_of(s), r, PINNED_PERCENT, PINNED_LEAST) &&
	    pins_of(s) / PINNED_TIMES >= s->live)
		rules |= RULE_PINNED;
	return rules;
}

const struct rss_account *rss_rules_at(
    const struct session *s, const struct process *p, uint64_t time_us)
{
	const struct rss_account *found = NULL;
	/* from the start of the recording to that of the process */
	uint64_t start = capped_difference(p->header.start_realtime_ns, s->start_ns);
	size_t count = p->rss_account ? p->earlier_count + 1 : 0;

	for (size_t i = 0; i < count; i++) {
		const struct rss_account *r =
		    i < p->earlier_count ? &p->earlier[i] : p->rss_account;

		if (capped_sum(start, r->time_ns) / 1000 <= time_us)
			found = r;
	}
	return found;
}

const char *rss_rules_key(enum rss_class which)
{
	static const char *const keys[RSS_CLASSES] = {
	    [RSS_LIVE] = "living",
	    [RSS_ROUNDING] = "rounding",
	    [RSS_PARTLY] = "partly_free",
	    [RSS_FREE] = "free",
	    [RSS_HEAP] = "heap",
	    [RSS_STACKS] = "stacks",
	    [RSS_MODULES] = "modules",
	    [RSS_ANONYMOUS] = "anonymous",
	    [RSS_SHARED] = "shared",
	    [RSS_FILES] = "files",
	    [RSS_OURS] = "seep",
	};

	return which < RSS_CLASSES ? keys[which] : "unknown";
}
