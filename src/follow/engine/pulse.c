/* pulse.c - the counters of one segment, read again and again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/engine/pulse.h"

#include "base/std.h"
#include "follow/engine/pulse_parts.h"
#include "kit/data/capped.h"

enum { SCALE_LOOKS = 16 }; /* between attempts to find a finer unit */

bool pulse_room_take(struct pulse_room *room, size_t bytes)
{
	if (bytes > room->left)
		return false;
	room->left -= bytes;
	return true;
}

bool pulse_charge(struct pulse *p, size_t bytes)
{
	if (!pulse_room_take(p->room, bytes))
		return false;
	p->charged += bytes;
	return true;
}

void pulse_refund(struct pulse *p, size_t bytes)
{
	p->room->left += bytes;
	p->charged -= bytes;
}

int pulse_new(struct pulse_room *room, bool want_sites, struct pulse **ret)
{
	struct pulse *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->room = room;
	p->want_sites = want_sites;
	*ret = p;
	return 0;
}

/* The site keeps no memory of its last looks. */
static void drop_trend(struct pulse *p, struct engine_site *s)
{
	if (!s->trend)
		return;
	free(s->trend);
	s->trend = NULL;
	pulse_refund(p, sizeof(struct engine_trend));
}

void pulse_free(struct pulse *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->moved_count; i++)
		drop_trend(p, &p->moved[i]);
	for (size_t i = 0; i < p->directory.block_room; i++) {
		const struct pulse_block *b = p->directory.blocks[i].kept;

		free(b ? b->sites : NULL);
	}
	free(p->moved);
	extent_list_release(&p->directory);
	p->room->left += p->charged;
	free(p);
}

/* ---- trends ---- */

static uint64_t live_bytes(const struct engine_site *s)
{
	return capped_difference(s->allocated_bytes, s->freed_bytes);
}

/* The smallest unit in which the value fits. */
static uint8_t shift_for(uint64_t value)
{
	return value <= UINT16_MAX ? 0 : (uint8_t)(48 - __builtin_clzll(value));
}

static void set_shift(struct engine_trend *t, uint8_t shift)
{
	for (size_t i = 0; i < LIVE_LOOKS; i++) {
		uint64_t value = (uint64_t)t->at[i] << t->shift;

		t->at[i] = (uint16_t)(value >> shift);
	}
	t->shift = shift;
}

/*
 * Finer units, once all larger values have left the ring: those that stay in it
 * are the looks from `from` on, up to the last one.
 */
static void scale(struct engine_trend *t, uint64_t from, uint64_t look, uint64_t most)
{
	uint8_t shift;

	for (uint64_t i = from; i <= t->last; i++)
		if ((uint64_t)t->at[i % LIVE_LOOKS] << t->shift > most)
			most = (uint64_t)t->at[i % LIVE_LOOKS] << t->shift;
	shift = shift_for(most);
	if (shift < t->shift)
		set_shift(t, shift);
	t->scaled_at = look;
}

static void put(struct engine_trend *t, uint64_t look, uint64_t was, uint64_t value)
{
	uint64_t from = look >= LIVE_LOOKS ? look - LIVE_LOOKS + 1 : 0;

	if (shift_for(value) > t->shift)
		set_shift(t, shift_for(value));
	else if (t->shift > 0 && look - t->scaled_at >= SCALE_LOOKS)
		scale(t, from, look, was > value ? was : value);
	/* the looks since it moved last */
	for (uint64_t i = t->last + 1 > from ? t->last + 1 : from; i < look; i++)
		t->at[i % LIVE_LOOKS] = (uint16_t)(was >> t->shift);
	t->last = look;
	t->at[look % LIVE_LOOKS] = (uint16_t)(value >> t->shift);
}

static struct engine_trend *new_trend(struct pulse *p, uint64_t look, uint64_t was)
{
	struct engine_trend *t;

	if (!pulse_charge(p, sizeof(*t)))
		return NULL;
	t = calloc(1, sizeof(*t));
	if (!t) {
		pulse_refund(p, sizeof(*t));
		return NULL;
	}
	t->shift = shift_for(was);
	t->scaled_at = look;
	t->last = look > 0 ? look - 1 : 0;
	for (size_t i = 0; i < LIVE_LOOKS; i++)
		t->at[i] = (uint16_t)(was >> t->shift);
	return t;
}

uint64_t pulse_then(const struct engine_site *s, uint64_t look)
{
	const struct engine_trend *t = s->trend;

	if (!t || look >= t->last)
		return live_bytes(s);
	/* the oldest look that the ring still has */
	if (t->last >= LIVE_LOOKS && look <= t->last - LIVE_LOOKS)
		look = t->last - LIVE_LOOKS + 1;
	return (uint64_t)t->at[look % LIVE_LOOKS] << t->shift;
}

/* ---- sites that moved ---- */

/* false: no room. */
static bool make_room(struct pulse *p)
{
	size_t more = p->moved_room ? p->moved_room * 2 : 16;
	struct engine_site *bigger;

	if (p->moved_count < p->moved_room)
		return true;
	more = more < LIVE_SITES ? more : LIVE_SITES;
	if (more <= p->moved_room || !pulse_charge(p, (more - p->moved_room) * sizeof(*bigger)))
		return false;
	bigger = reallocarray(p->moved, more, sizeof(*bigger));
	if (!bigger) {
		pulse_refund(p, (more - p->moved_room) * sizeof(*bigger));
		return false;
	}
	p->moved = bigger;
	p->moved_room = more;
	return true;
}

static struct engine_site *list(
    struct pulse *p, struct pulse_sites *s, uint32_t id, const struct pulse_sum *was)
{
	uint16_t *number = &s->moved[id % PULSE_BLOCK_ROWS];
	struct engine_site *site;

	if (*number > 0 && *number != PULSE_UNLISTED)
		return &p->moved[*number - 1];
	if (!make_room(p)) {
		p->unlisted += *number == 0;
		*number = PULSE_UNLISTED;
		return NULL;
	}
	p->unlisted -= *number == PULSE_UNLISTED;
	site = &p->moved[p->moved_count++];
	*number = (uint16_t)p->moved_count;
	*site = (struct engine_site){
	    .id = id,
	    .base_live_bytes = capped_difference(was->allocated_bytes, was->freed_bytes),
	    .base_live_blocks = capped_difference(was->allocations, was->frees),
	    .base_allocations = was->allocations,
	};
	return site;
}

static void fill(struct engine_site *site, const struct pulse_sum *now, bool is_pool)
{
	site->is_pool = is_pool;
	site->allocations = now->allocations;
	site->allocated_bytes = now->allocated_bytes;
	site->frees = now->frees;
	site->freed_bytes = now->freed_bytes;
}

void pulse_move(
    struct pulse_look *l, struct pulse_sites *s, uint32_t id, const struct pulse_sum *was)
{
	const size_t i = id % PULSE_BLOCK_ROWS;
	uint64_t engine_was = capped_difference(was->allocated_bytes, was->freed_bytes);
	struct engine_site *site;

	if (!l->pulse->is_begun)
		return;
	site = list(l->pulse, s, id, was);
	if (!site)
		return;
	fill(site, &s->sums[i], s->is_pool[i]);
	if (live_bytes(site) == engine_was)
		return;
	if (!site->trend)
		site->trend = new_trend(l->pulse, l->number, engine_was);
	if (site->trend)
		put(site->trend, l->number, engine_was, live_bytes(site));
}

void pulse_rest(struct pulse *p, uint64_t look)
{
	for (size_t i = 0; i < p->moved_count; i++)
		if (p->moved[i].trend && p->moved[i].trend->last + LIVE_LOOKS < look)
			drop_trend(p, &p->moved[i]);
}

uint64_t pulse_bytes(const struct pulse *p)
{
	return p->directory.claimed;
}

size_t pulse_site_count(const struct pulse *p)
{
	return p->site_count;
}

const struct engine_site *pulse_moved(const struct pulse *p, size_t *ret_count)
{
	*ret_count = p->moved_count;
	return p->moved;
}

uint64_t pulse_unlisted(const struct pulse *p)
{
	return p->unlisted;
}

/* A site that never moved: its base is what it has. */
static struct engine_site resting(const struct pulse_sites *s, size_t i, uint32_t id)
{
	struct engine_site site = {.id = id};

	fill(&site, &s->sums[i], s->is_pool[i]);
	site.base_live_bytes = live_bytes(&site);
	site.base_live_blocks = capped_difference(site.allocations, site.frees);
	site.base_allocations = site.allocations;
	return site;
}

static bool each_of_block(const struct pulse *p, const struct pulse_sites *s, uint32_t first_id,
    bool (*each)(void *, const struct engine_site *), void *context)
{
	for (uint32_t i = 0; i < PULSE_BLOCK_ROWS; i++) {
		struct engine_site site;

		if (s->moved[i] > 0 && s->moved[i] != PULSE_UNLISTED)
			site = p->moved[s->moved[i] - 1];
		else
			site = resting(s, i, first_id + i);
		if ((site.allocations | site.allocated_bytes | site.frees | site.freed_bytes) !=
		        0 &&
		    !each(context, &site))
			return false;
	}
	return true;
}

void pulse_each(
    const struct pulse *p, bool (*each)(void *, const struct engine_site *), void *context)
{
	bool more = true;

	for (size_t n = 0; n < p->directory.block_room && more; n++) {
		const struct pulse_block *b = p->directory.blocks[n].kept;

		if (b && b->sites)
			more = each_of_block(
			    p, b->sites, (uint32_t)(n << PULSE_BLOCK_BITS), each, context);
	}
}

void pulse_set_base(struct pulse *p)
{
	for (size_t i = 0; i < p->moved_count; i++) {
		struct engine_site *s = &p->moved[i];

		s->base_live_bytes = live_bytes(s);
		s->base_live_blocks = capped_difference(s->allocations, s->frees);
		s->base_allocations = s->allocations;
	}
}

/* ---- looks ---- */

static void fill_totals(struct engine_totals *to, const struct pulse_sum *sum)
{
	to->allocations = sum->allocations;
	to->allocated_bytes = sum->allocated_bytes;
	to->frees = sum->frees;
	to->freed_bytes = sum->freed_bytes;
	to->live_blocks = capped_difference(sum->allocations, sum->frees);
	to->live_bytes = capped_difference(sum->allocated_bytes, sum->freed_bytes);
}

/* A child in its first events has sums alone. */
static int look_at_early(const struct segfile *f, int slot, struct pulse_sum *ret)
{
	struct segment *seg;
	int err = segfile_read(f, slot, &seg, NULL);

	if (err < 0)
		return err;
	*ret = (struct pulse_sum){0};
	for (size_t i = 0; i < seg->extent_count; i++)
		if (seg->extents[i].kind == SEG_EXT_LEDGER)
			memcpy(ret, segment_copy_row(&seg->extents[i], 1), sizeof(*ret));
	segment_copy_free(seg);
	return 0;
}

/*
 * The header without its texts, which do not change. Who finds nothing there,
 * or another's header, has lost its slot.
 */
static int read_header(
    const struct pulse_look *l, const struct segfile *f, int slot, struct seg_header *h)
{
	static const uint8_t none[16];
	struct seg_header now;
	int err;

	if (l->pulse->is_begun && !segfile_is_early(f, slot) && l->number % 16 != 0) {
		now = *h;
		err = extent_list_read(&l->at, 0, &now, offsetof(struct seg_header, pad));
		if (err == 0 && now.magic != SEG_MAGIC)
			err = -ESTALE;
		now.session[sizeof(now.session) - 1] = '\0';
		now.snapshot_label[sizeof(now.snapshot_label) - 1] = '\0';
		now.counts[SEG_CHILDREN_UNTRACED] = h->counts[SEG_CHILDREN_UNTRACED];
		now.counts[SEG_CHILDREN_EARLY] = h->counts[SEG_CHILDREN_EARLY];
	} else {
		err = segfile_header(f, slot, &now, NULL);
		if (err == -ENODATA)
			err = -ESTALE;
	}
	if (err < 0)
		return err;
	if (memcmp(h->uuid, none, sizeof(none)) != 0 &&
	    memcmp(h->uuid, now.uuid, sizeof(now.uuid)) != 0)
		return -ESTALE;
	*h = now;
	return 0;
}

int pulse_look(struct pulse *p, const struct segfile *f, int slot, uint64_t look,
    struct seg_header *h, struct engine_totals *ret, bool *ret_changed)
{
	struct pulse_look l = {.pulse = p, .at.source = segfile_source(f), .number = look};
	struct pulse_sum sum = {0};
	int err = 0, no_room = 0;

	if (!segfile_is_early(f, slot))
		err = segfile_window(f, slot, &l.at.base, &l.at.limit);
	if (err < 0)
		return err == -ENODATA ? -ESTALE : err;
	err = read_header(&l, f, slot, h);
	if (err < 0)
		return err;
	if (segfile_is_early(f, slot)) {
		err = look_at_early(f, slot, &sum);
		l.changed =
		    err == 0 && (sum.allocations != ret->allocations || sum.frees != ret->frees);
	} else {
		err = pulse_ledger(&l, h, &sum);
		no_room = err == -EFBIG ? err : 0;
		err = err == -EFBIG ? 0 : err;
	}
	if (err < 0)
		return err == -ENODATA ? -ESTALE : err;
	p->is_begun = true;
	fill_totals(ret, &sum);
	*ret_changed = l.changed;
	return no_room;
}
