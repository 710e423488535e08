/* ages.c - ages of live and of freed blocks, in words. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/ages.h"

#include "base/std.h"
uint64_t ages_bound_ns(int bucket)
{
	if (bucket <= 0)
		return 0;
	return ((uint64_t)SEG_YOUNG_TICKS << (bucket - 1)) * SEG_TICK_NS;
}

/* The last bucket has no upper bound: it ends with the host's whole life. */
static uint64_t upper_ns(int bucket)
{
	return bucket + 1 < PROCESS_AGES ? ages_bound_ns(bucket + 1) : UINT64_MAX;
}

const char *ages_living(char buffer[AGES_MAX], const struct view_site *s, uint64_t now_ns)
{
	uint64_t low, high;
	char a[WORDS_MAX], b[WORDS_MAX];

	if (s->figures.all.live_blocks == 0)
		return "-";
	low = now_ns > s->last_ns ? now_ns - s->last_ns : 0;
	high = now_ns > s->first_ns ? now_ns - s->first_ns : 0;
	if (s->ages && s->ages->live_ages_known) {
		int first = 0, last = PROCESS_AGES - 1;

		while (first < last && s->ages->living[first] == 0)
			first++;
		while (last > first && s->ages->living[last] == 0)
			last--;
		if (ages_bound_ns(first) > low)
			low = ages_bound_ns(first);
		if (upper_ns(last) < high)
			high = upper_ns(last);
	}
	if (high < SEG_TICK_NS)
		return "<0.1 s";
	(void)words_time(a, low);
	(void)words_time(b, high);
	if (low < SEG_TICK_NS)
		(void)snprintf(buffer, AGES_MAX, "<%s", b);
	else if (low >= high || strcmp(a, b) == 0)
		(void)snprintf(buffer, AGES_MAX, "%s", b);
	else
		(void)snprintf(buffer, AGES_MAX, "%s..%s", a, b);
	return buffer;
}

bool ages_births(const struct view_site *s, const struct process *p, uint64_t ret[SEG_BIRTH_SLOTS],
    uint64_t *ret_slot_ns)
{
	if (!p || !s->ages || !s->ages->births_known)
		return false;
	for (int i = 0; i < SEG_BIRTH_SLOTS; i++)
		ret[i] = s->ages->births[i];
	*ret_slot_ns = ((uint64_t)p->births_until + 1) * p->header.tick_ns / SEG_BIRTH_SLOTS;
	return true;
}

uint64_t ages_births_since(
    const uint64_t births[SEG_BIRTH_SLOTS], uint64_t slot_ns, unsigned percent)
{
	uint64_t all = 0, some = 0;
	int i = SEG_BIRTH_SLOTS;

	/* 32 numbers of 32 bits: no sum is too large */
	for (int k = 0; k < SEG_BIRTH_SLOTS; k++)
		all += births[k];
	while (i > 0 && some * 100 < all * percent)
		some += births[--i];
	return slot_ns * (uint64_t)(SEG_BIRTH_SLOTS - i);
}

void ages_deaths(const struct view_site *s, uint64_t ret[PROCESS_AGES])
{
	ret[0] = s->figures.young_blocks;
	for (int i = 1; i < PROCESS_AGES; i++)
		ret[i] = s->ages ? s->ages->deaths[i] : 0;
}

bool ages_young(const struct view_site *s, uint64_t ret[PROCESS_STEPS])
{
	if (s->age_flags)
		return false;
	process_young(s->ages, s->figures.young_blocks, ret);
	return true;
}

void ages_all(const struct view_site *s, uint64_t ret[AGES_ALL])
{
	uint64_t deaths[PROCESS_AGES];

	ages_deaths(s, deaths);
	memset(ret, 0, PROCESS_STEPS * sizeof(*ret));
	if (!ages_young(s, ret))
		ret[PROCESS_STEPS - 1] = deaths[0];
	memcpy(ret + PROCESS_STEPS, deaths + 1, (PROCESS_AGES - 1) * sizeof(*deaths));
}

uint64_t ages_all_bound_ns(int class)
{
	return class > 0 ? (UINT64_C(1) << (class - 1)) * SEG_TICK_NS : 0;
}

uint64_t ages_temporary_ns(const struct view *v)
{
	return (uint64_t)v->temporary_ticks * SEG_TICK_NS;
}

const char *ages_dead(char buffer[AGES_MAX], const struct view_site *s)
{
	uint64_t deaths[AGES_ALL], all = 0, sum = 0;
	int i;

	ages_all(s, deaths);
	for (i = 0; i < AGES_ALL; i++)
		all += deaths[i];
	if (all == 0 || s->age_flags & VIEW_AGES_UNKNOWN)
		return "-";
	for (i = 0; i < AGES_ALL - 1; i++) {
		sum += deaths[i];
		if (sum >= all - sum)
			break;
	}
	if (i == AGES_ALL - 1)
		return ">9 d";
	(void)words_time(buffer, ages_all_bound_ns(i + 1));
	return buffer;
}

const char *ages_sizes(char buffer[AGES_MAX], const struct view_site *s)
{
	if (s->size_min == 0 && s->size_max == 0)
		return "-";
	if (s->size_min == s->size_max)
		(void)snprintf(buffer, AGES_MAX, "%s", WORDS_COUNT(s->size_min));
	else
		(void)snprintf(
		    buffer, AGES_MAX, "%s..%s", WORDS_COUNT(s->size_min), WORDS_COUNT(s->size_max));
	return buffer;
}
