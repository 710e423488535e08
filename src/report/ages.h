/* ages.h - how old blocks are, and how old they died, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_AGES_H
#define SEEP_REPORT_AGES_H

#include "report/view.h"
#include "report/words.h"

enum { AGES_MAX = 2 * WORDS_MAX + 4 };

/* From when on a block is in this bucket of struct process_ages. */
uint64_t ages_bound_ns(int bucket);

/*
 * "2 min..9 min": the living are no younger and no older, seen at now_ns since
 * 1970. From their birth times where those are known, else from the first and
 * the last allocation. "-": none lives.
 */
const char *ages_living(
    char buffer[AGES_MAX], const struct view_site *s, uint64_t now_ns);

/*
 * When the living were born, in SEG_BIRTH_SLOTS equal parts of the life of their
 * process; *ret_slot_ns is the length of one. False: not known, or of several
 * processes.
 */
bool ages_births(const struct view_site *s, const struct process *p,
    uint64_t ret[SEG_BIRTH_SLOTS], uint64_t *ret_slot_ns);

/* How long before the end so many percent of them began to come. */
uint64_t ages_births_since(
    const uint64_t births[SEG_BIRTH_SLOTS], uint64_t slot_ns, unsigned percent);

/* Deaths by age, the young ones included. */
void ages_deaths(const struct view_site *s, uint64_t ret[PROCESS_AGES]);

/* The first of them in steps that end at 0.1, 0.2, 0.4, ... s; false: unknown. */
bool ages_young(const struct view_site *s, uint64_t ret[PROCESS_STEPS]);

/* Both in one; where steps are not known, the last of them has all. */
enum { AGES_ALL = PROCESS_STEPS - 1 + PROCESS_AGES };
void ages_all(const struct view_site *s, uint64_t ret[AGES_ALL]);

/* From when on a block is in this class of ages_all(). */
uint64_t ages_all_bound_ns(int class);

/* What a view calls temporary: freed within this time. 0: not known. */
uint64_t ages_temporary_ns(const struct view *v);

/* "1.6 s": half of the dead were younger. "-": none died, or nobody counted. */
const char *ages_dead(char buffer[AGES_MAX], const struct view_site *s);

/* "16..4,096", "32", "-": not known. */
const char *ages_sizes(char buffer[AGES_MAX], const struct view_site *s);

#endif
