/* verdict.c - verdicts on sites, as all reports use them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/verdict.h"

#include "base/std.h"
#include "session/process/family.h"
#include "analysis/score/slope.h"
#include "kit/data/capped.h"
#include "kit/data/sorted.h"

/* ---- sites ---- */

/* The number of the site with this id; false: p has no such site. */
static bool find_site(const struct process *p, uint32_t id, uint32_t *ret)
{
	size_t low = sorted_first(p->ids, p->id_count, x, x->id < id);

	if (low == p->id_count || p->ids[low].id != id)
		return false;
	*ret = p->ids[low].site;
	return *ret < p->site_count;
}

/* How long before the last look a tick of p was, in ns. */
static uint64_t age_of(const struct process *p, const struct process *judged, uint32_t tick)
{
	uint64_t looked_ns = judged->header.start_realtime_ns;
	uint64_t born_ns = process_time_ns(p, tick);

	looked_ns = capped_sum(looked_ns, judged->verdicts->end_ns);
	return looked_ns > born_ns ? looked_ns - born_ns : 0;
}

static struct verdict_part part_of(
    const struct process *p, const struct process *judged, const struct verdict_site *s)
{
	return (struct verdict_part){
	    .blocks = s->blocks,
	    .bytes = s->bytes,
	    .direct_blocks = s->direct_blocks,
	    .direct_bytes = s->direct_bytes,
	    .cycle_blocks = s->cycle_blocks,
	    .cycle_bytes = s->cycle_bytes,
	    .indirect_blocks = s->indirect_blocks,
	    .indirect_bytes = s->indirect_bytes,
	    .held_again = s->held_again,
	    .freed_late = s->freed_late,
	    .notes = s->notes,
	    .looks = judged->verdicts->looks,
	    .first_ns = process_time_ns(p, s->first_birth),
	    .last_ns = process_time_ns(p, s->last_birth),
	    .first_age = age_of(p, judged, s->first_birth),
	    .last_age = age_of(p, judged, s->last_birth),
	    .type = s->type,
	};
}

static void join_part(struct verdict_part *to, const struct verdict_part *from)
{
	if (from->looks == 0)
		return;
	if (to->looks == 0) {
		*to = *from;
		return;
	}
	/* the type of most of them, as far as that is known */
	if (!to->type || (from->type && from->direct_blocks > to->direct_blocks))
		to->type = from->type;
	to->blocks = capped_sum(to->blocks, from->blocks);
	to->bytes = capped_sum(to->bytes, from->bytes);
	to->direct_blocks = capped_sum(to->direct_blocks, from->direct_blocks);
	to->direct_bytes = capped_sum(to->direct_bytes, from->direct_bytes);
	to->cycle_blocks = capped_sum(to->cycle_blocks, from->cycle_blocks);
	to->cycle_bytes = capped_sum(to->cycle_bytes, from->cycle_bytes);
	to->indirect_blocks = capped_sum(to->indirect_blocks, from->indirect_blocks);
	to->indirect_bytes = capped_sum(to->indirect_bytes, from->indirect_bytes);
	to->held_again = capped_sum(to->held_again, from->held_again);
	to->freed_late = capped_sum(to->freed_late, from->freed_late);
	to->notes |= from->notes;
	if (from->looks < to->looks)
		to->looks = from->looks;
	if (from->first_ns < to->first_ns)
		to->first_ns = from->first_ns;
	if (from->last_ns > to->last_ns)
		to->last_ns = from->last_ns;
	if (from->first_age > to->first_age)
		to->first_age = from->first_age;
	if (from->last_age < to->last_age)
		to->last_age = from->last_age;
}

void verdict_add_freer(struct verdict_found *f, uint32_t frame, uint64_t count)
{
	uint32_t i = 0;

	while (i < f->freer_count && f->freers[i].frame != frame)
		i++;
	if (i == VERDICT_FREERS) {
		i--;
		if (f->freers[i].count >= count)
			return;
		f->freers[i] = (struct verdict_freer){.frame = frame};
	} else if (i == f->freer_count) {
		f->freers[f->freer_count++] = (struct verdict_freer){.frame = frame};
	}
	f->freers[i].count = capped_sum(f->freers[i].count, count);
	for (; i > 0 && f->freers[i - 1].count < f->freers[i].count; i--) {
		struct verdict_freer rarer = f->freers[i - 1];

		f->freers[i - 1] = f->freers[i];
		f->freers[i] = rarer;
	}
}

void verdict_join(struct verdict_found *to, const struct verdict_found *from)
{
	join_part(&to->leak, &from->leak);
	join_part(&to->possible, &from->possible);
	for (uint32_t i = 0; i < from->freer_count; i++)
		verdict_add_freer(to, from->freers[i].frame, from->freers[i].count);
}

int verdict_index_make(const struct process *p, const struct process *judged, uint32_t below,
    struct verdict_index *ret)
{
	const struct verdicts *v = judged->verdicts;

	*ret = (struct verdict_index){0};
	if (!v || v->count == 0)
		return 0;
	ret->found = calloc(v->count, sizeof(*ret->found));
	ret->at = calloc(p->site_count + 1, sizeof(*ret->at));
	if (!ret->found || !ret->at) {
		verdict_index_release(ret);
		return -ENOMEM;
	}
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *s = &v->sites[i];
		struct verdict_found *found;
		struct verdict_part part;
		uint32_t site;

		/* the ancestor has given these ids to other stacks since */
		if ((judged != p && s->site >= below) || !find_site(p, s->site, &site))
			continue;
		if (ret->at[site] == 0)
			ret->at[site] = (uint32_t)++ret->count;
		found = &ret->found[ret->at[site] - 1];
		part = part_of(p, judged, s);
		join_part(s->class == VERDICT_LEAK ? &found->leak : &found->possible, &part);
	}
	return 0;
}

void verdict_index_release(struct verdict_index *x)
{
	free(x->found);
	free(x->at);
	*x = (struct verdict_index){0};
}

struct verdict_found *verdict_index_find(const struct verdict_index *x, size_t site)
{
	return x->at && x->at[site] > 0 ? &x->found[x->at[site] - 1] : NULL;
}

const struct process *verdict_owner(const struct session *s, const struct process *p, uint32_t id)
{
	return family_owner(s, p, id);
}

/* ---- rate ---- */

bool verdict_rate(const struct verdict_part *p, struct verdict_rate *ret)
{
	const double hour_ns = 3600e9, minute_ns = 60e9;
	/* blocks held only by others were lost together with them */
	uint64_t losses = p->direct_blocks ? p->direct_blocks : p->blocks;
	double span = (double)p->first_age, n, low, high;

	if (losses < 3 || span < minute_ns || (double)p->last_age > span / 2)
		return false;
	/* the first loss only starts the time in which the others came */
	n = (double)losses - 1;
	poisson_interval(n, &low, &high);
	ret->bytes = (double)p->bytes * (n / (double)losses) * (hour_ns / span);
	ret->low = ret->bytes * (low / n);
	ret->high = ret->bytes * (high / n);
	return true;
}

/* ---- processes ---- */

/*
 * Its heap was a copy of its parent's until the exec, so no verdict is
 * expected.
 */
static bool only_called_exec(const struct process *p)
{
	static const uint8_t none[sizeof(p->header.parent_uuid)];

	return p->end == PROCESS_EXEC && memcmp(p->header.parent_uuid, none, sizeof(none)) != 0;
}

enum verdict_state verdict_state(const struct session *s, const struct process *p)
{
	if (p->verdicts && p->verdicts->reason == VERDICT_JUDGED)
		return VERDICT_STATE_JUDGED;
	if (only_called_exec(p))
		return VERDICT_STATE_NONE;
	return p->verdicts || s->leaks_asked ? VERDICT_STATE_UNJUDGED : VERDICT_STATE_NONE;
}

uint32_t verdict_why_not(const struct process *p)
{
	return p->verdicts ? p->verdicts->reason : VERDICT_ENDED;
}

void verdict_total(const struct verdicts *v, uint32_t class, uint64_t *ret_places,
    uint64_t *ret_blocks, uint64_t *ret_bytes)
{
	*ret_places = *ret_blocks = *ret_bytes = 0;
	for (size_t i = 0; i < v->count; i++) {
		const struct verdict_site *s = &v->sites[i];

		if (s->class != class)
			continue;
		++*ret_places;
		*ret_blocks = capped_sum(*ret_blocks, s->blocks);
		*ret_bytes = capped_sum(*ret_bytes, s->bytes);
	}
}

uint64_t verdict_unread_bytes(const struct verdicts *v)
{
	return capped_sum(capped_sum(v->swapped_bytes, v->unreadable_bytes),
	    capped_sum(v->device_bytes, v->ring_bytes));
}

/* ---- words ---- */

const char *verdict_class_key(uint32_t class)
{
	return class == VERDICT_LEAK ? "leak" : "possible";
}

struct reason {
	const char *key, *words;
};

static const struct reason *reason_of(uint32_t reason)
{
	static const struct reason reasons[] = {
	    [VERDICT_JUDGED] = {"judged", "it was"},
	    [VERDICT_ENDED] = {"ended", "it ended, or became another program, before a look"},
	    [VERDICT_NO_RIGHT] = {"no_right", "the system does not let us read its memory"},
	    [VERDICT_OLD_CELLS] = {"old_collector",
	        "its collector is older and keeps no exact addresses"},
	    [VERDICT_NO_LIVE_MAP] = {"no_live_map", "its blocks are not recorded"},
	    [VERDICT_TOO_LARGE] = {"too_large", "a look at it needs more memory than --max-memory"},
	    [VERDICT_NO_ANSWER] = {"no_answer", "its memory could not be read in time"},
	    [VERDICT_FAILED] = {"failed", "the look failed"},
	    [VERDICT_NO_ROOM] = {"no_room",
	        "the recording has no room for what was found (record "
	        "--max-size)"},
	};

	if (reason >= sizeof(reasons) / sizeof(reasons[0]))
		reason = VERDICT_FAILED; /* a note of a later version */
	return &reasons[reason];
}

const char *verdict_reason_key(uint32_t reason)
{
	return reason_of(reason)->key;
}

const char *verdict_reason_words(uint32_t reason)
{
	return reason_of(reason)->words;
}

const char *verdict_why_not_words(const struct process *p)
{
	uint32_t reason = verdict_why_not(p);

	if (reason == VERDICT_ENDED && p->end == PROCESS_RUNNING)
		return "it still ran when the recording ended";
	return verdict_reason_words(reason);
}

const struct verdict_note_text *verdict_note_text(size_t number)
{
	static const struct verdict_note_text notes[] = {
	    {VERDICT_HIDES, "hides",
	        "others seemed lost and were freed: this place hides "
	        "pointers"},
	    {VERDICT_MOVES, "moves",
	        "nothing pointed to @ in any look, but others of this place "
	        "seemed lost and were held again: it moves pointers"},
	    {VERDICT_UNSEEN_FREES, "unseen_frees",
	        "nothing points to @, but some calls of free passed the "
	        "collector by"},
	    {VERDICT_UNREAD, "unread", "nothing points to @ in the memory that could be read"},
	    {VERDICT_ONE_LOOK, "one_look", "nothing points to @, in one look while threads ran"},
	    {VERDICT_PAST_END, "past_end", "held only by pointers one past ~ end"},
	    {VERDICT_MISALIGNED, "misaligned",
	        "held only by pointers that are not at a multiple of 8"},
	    {VERDICT_BELOW_SP, "below_sp", "held only by what is left below a stack pointer"},
	    {VERDICT_HEADS_ONLY, "heads_only",
	        "other blocks are not known: only heads of lost structures "
	        "are found"},
	    {VERDICT_UNLOADED, "unloaded", "a library of this stack is unloaded since"},
	};

	return number < sizeof(notes) / sizeof(notes[0]) ? &notes[number] : NULL;
}
