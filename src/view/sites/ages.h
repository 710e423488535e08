/* ages.h - ages of live and of freed blocks, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AGES_H
#define SEEP_AGES_H

#include "view/sites/view.h"
#include "view/sites/enum_words.h"

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

#endif
