/* ages.h - ages of live and of freed blocks. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AGES_H
#define SEEP_AGES_H

#include "session/events/events.h"
#include "session/load/session.h"
#include "view/sites/enum_words.h"
#include "view/sites/view.h"

enum { AGES_MAX = 2 * WORDS_MAX + 4 };

/* The lowest age of this bucket of struct process_ages. */
uint64_t ages_bound_ns(int bucket);

/*
 * "2 min..9 min": the range of ages of live blocks at now_ns since 1970. Taken
 * from their birth times if these are known, else from the first and the last
 * allocation. "-": none is live.
 */
const char *ages_living(char buffer[AGES_MAX], const struct view_site *s, uint64_t now_ns);

/*
 * When the living were born, in SEG_BIRTH_SLOTS equal parts of the life of their
 * process; *ret_slot_ns is the length of one. False: not known, or of several
 * processes.
 */
bool ages_births(const struct view_site *s, const struct process *p, uint64_t ret[SEG_BIRTH_SLOTS],
    uint64_t *ret_slot_ns);

/* How long before the end so many percent of them began to come. */
uint64_t ages_births_since(
    const uint64_t births[SEG_BIRTH_SLOTS], uint64_t slot_ns, unsigned percent);

/* Deaths by age, the young ones included. */
void ages_deaths(const struct view_site *s, uint64_t ret[PROCESS_AGES]);

/*
 * Splits the first class into steps that end at 0.1, 0.2, 0.4, ... s; false:
 * unknown.
 */
bool ages_young(const struct view_site *s, uint64_t ret[PROCESS_STEPS]);

/* Both in one array; if steps are not known, the last of them has all. */
enum { AGES_ALL = PROCESS_STEPS - 1 + PROCESS_AGES };
void ages_all(const struct view_site *s, uint64_t ret[AGES_ALL]);

/* The lowest age of this class of ages_all(). */
uint64_t ages_all_bound_ns(int class);

/* The age below which a view calls freed blocks temporary. 0: not known. */
uint64_t ages_temporary_ns(const struct view *v);

/*
 * "1.6 s": half of the freed blocks were younger. "-": none was freed, or ages
 * are not known.
 */
const char *ages_dead(char buffer[AGES_MAX], const struct view_site *s);

/* "16..4,096", "32", "-": not known. */
const char *ages_sizes(char buffer[AGES_MAX], const struct view_site *s);

/* ---- lifetimes: how long the blocks of a site live, from an event log ---- */

/*
 * Counts by value, exact below LIFETIMES_EXACT, above in LIFETIMES_EXACT steps
 * for each doubling, so to 1/16. All zero is empty.
 */
enum { LIFETIMES_EXACT = 16, LIFETIMES_CLASSES = 65 };

struct lifetimes_counts {
	uint64_t *bins;
	size_t room;
	uint64_t sum;
};

/* The smallest value that at least `percent` of all do not exceed; 0 if there are none. */
uint64_t lifetimes_percentile(const struct lifetimes_counts *c, unsigned percent);

/* By doublings: [0] is the value 0, [i] those from 2^(i-1) on. */
void lifetimes_classes(const struct lifetimes_counts *c, uint64_t ret[LIFETIMES_CLASSES]);

struct lifetimes_site {
	uint64_t freed; /* blocks; a realloc is no free here */
	uint64_t resized;
	struct lifetimes_counts ticks; /* of LOG_TICK_NS, from birth to free */
	/*
	 * Allocations of the thread that allocated or resized a block last, until
	 * it freed the block itself.
	 */
	struct lifetimes_counts between;
	/* freed or resized with at most `within` of these in between */
	uint64_t within_blocks, within_bytes;
};

/* Memory: that of the sites of the session. */
struct lifetimes;

/* Borrows the session, whose processes must stay in their places. -ENOMEM. */
int lifetimes_new(const struct session *s, uint32_t within, struct lifetimes **ret);
void lifetimes_free(struct lifetimes *l); /* NULL is fine */

/* As events_each, for a struct lifetimes. -ENOMEM. */
int lifetimes_see(void *lifetimes, const struct events_event *e);

/* By the numbers of process and site; never NULL. */
const struct lifetimes_site *lifetimes_site(const struct lifetimes *l, size_t process, size_t site);

uint32_t lifetimes_within(const struct lifetimes *l);

/* Events of sites or processes that the session does not have. */
uint64_t lifetimes_strange(const struct lifetimes *l);

#endif
