/* site_score.c - the score of a site, from what a process knows of its ages. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "report/site_score.h"

_Static_assert(
    (int)LIFE_TABLE_CLASSES == (int)PROCESS_STEPS - 1 + (int)PROCESS_AGES,
    "all ages");
_Static_assert((int)INFLOW_SLOTS == (int)SEG_BIRTH_SLOTS, "all births");

/*
 * realloc counts as a free without an age, so it is among the youngest deaths
 * although the block lives on. These are deaths if a call of free() was seen, of
 * which the collector looks at one in 60.
 */
static bool
youngest_are_moves(const struct process_site *s)
{
	return s->api == SEG_API_REALLOC || !s->freed_by;
}

static void
take_deaths(const struct process_site *s, struct score_input *to)
{
	uint64_t deaths[PROCESS_AGES], young[PROCESS_STEPS];

	process_deaths(s, deaths);
	process_young(s->ages, deaths[0], young);
	for (int i = 0; i < PROCESS_STEPS; i++)
		to->ages.deaths[i] = (double)young[i];
	for (int i = 1; i < PROCESS_AGES; i++)
		to->ages.deaths[PROCESS_STEPS - 1 + i] = (double)deaths[i];
	if (youngest_are_moves(s)) {
		to->moved = to->ages.deaths[0];
		to->ages.deaths[0] = 0;
	}
}

/* Tests count blocks that were seen, not those that a sample stands for. */
static void
take_samples(const struct process_site *s, struct score_input *to)
{
	double each;

	if (s->samples == 0 || s->figures.allocations == 0)
		return;
	each = (double)s->samples / (double)s->figures.allocations;
	for (int i = 0; i < LIFE_TABLE_CLASSES; i++)
		to->ages.deaths[i] *= each;
	to->moved *= each;
}

bool
site_score_input(const struct process *p, const struct process_site *s,
    struct score_input *ret)
{
	double tick_s = (double)p->header.tick_ns * 1e-9;

	*ret = (struct score_input){.blocks = (double)s->figures.live_blocks,
	    .bytes = (double)s->figures.live_bytes};
	if (p->temporary_ticks == 0 || p->births_until == 0)
		return false;
	if (s->figures.live_blocks > 0 && (!s->ages || !s->ages->births_known))
		return false;
	ret->until_s = ((double)p->births_until + 1) * tick_s;
	ret->first_s = (double)s->first_tick * tick_s;
	ret->ages.unit_s = tick_s;
	ret->ages.life_s = ret->until_s - ret->first_s;
	take_deaths(s, ret);
	take_samples(s, ret);
	for (int i = 0; s->ages && i < PROCESS_AGES; i++)
		ret->ages.living[i ? PROCESS_STEPS - 1 + i : 0] =
		    (double)s->ages->living[i];
	for (int i = 0; s->ages && i < SEG_BIRTH_SLOTS; i++)
		ret->births[i] = (double)s->ages->births[i];
	return true;
}
