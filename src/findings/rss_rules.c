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

static bool is_much(uint64_t bytes, const struct residence *r, uint64_t percent, uint64_t least)
{
	return bytes >= least && bytes >= r->rss_bytes / 100 * percent;
}

static uint64_t pins_of(const struct residence_site *s)
{
	return s->holds - s->live;
}

const struct residence_site *rss_rules_most_pins(const struct residence *r)
{
	const struct residence_site *most = NULL;

	for (size_t i = 0; i < r->site_count; i++)
		if (pins_of(&r->sites[i]) > (most ? pins_of(most) : 0))
			most = &r->sites[i];
	return most;
}

unsigned rss_rules(const struct residence *r, const struct residence_site *s)
{
	unsigned rules = 0;

	if (r->lack != RESIDENCE_SPLIT || r->is_partial)
		return 0;
	if (is_much(r->classes[RESIDENCE_FREE], r, FREE_PERCENT, FREE_LEAST))
		rules |= RSS_FREE;
	if (r->is_glibc && r->arenas >= ARENAS_LEAST &&
	    is_much(r->arena_free_bytes, r, FREE_PERCENT, FREE_LEAST))
		rules |= RSS_ARENAS;
	if (s && is_much(pins_of(s), r, PINNED_PERCENT, PINNED_LEAST) &&
	    pins_of(s) / PINNED_TIMES >= s->live)
		rules |= RSS_PINNED;
	return rules;
}

const struct residence *rss_rules_at(
    const struct session *s, const struct process *p, uint64_t time_us)
{
	const struct residence *found = NULL;
	/* from the start of the recording to that of the process */
	uint64_t start = capped_difference(p->header.start_realtime_ns, s->start_ns);
	size_t count = p->residence ? p->earlier_count + 1 : 0;

	for (size_t i = 0; i < count; i++) {
		const struct residence *r = i < p->earlier_count ? &p->earlier[i] : p->residence;

		if (capped_sum(start, r->time_ns) / 1000 <= time_us)
			found = r;
	}
	return found;
}

const char *rss_rules_key(enum residence_class which)
{
	static const char *const keys[RESIDENCE_CLASSES] = {
	    [RESIDENCE_LIVE] = "living",
	    [RESIDENCE_ROUNDING] = "rounding",
	    [RESIDENCE_PARTLY] = "partly_free",
	    [RESIDENCE_FREE] = "free",
	    [RESIDENCE_HEAP] = "heap",
	    [RESIDENCE_STACKS] = "stacks",
	    [RESIDENCE_MODULES] = "modules",
	    [RESIDENCE_ANONYMOUS] = "anonymous",
	    [RESIDENCE_SHARED] = "shared",
	    [RESIDENCE_FILES] = "files",
	    [RESIDENCE_OURS] = "seep",
	};

	return which < RESIDENCE_CLASSES ? keys[which] : "unknown";
}
