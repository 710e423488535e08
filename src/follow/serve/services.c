/* services.c - sums of the traced processes of each service. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/metrics.h"

#include "kit/data/capped.h"
#include "kit/os/clock.h"
#include "kit/data/dict.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "follow/history/store.h"

enum {
	SERVICES_MAX = 4096,
	SERVICES_ROWS = 8192, /* with those of other programs */
	OTHERS_MAX = 64,      /* of one other user, who may choose any names */
	/* a service without a process leaves when there are more than these */
	IDLE_KEPT = 2048,
};

/* A process that the engine lists; in the order of their numbers. */
struct member {
	uint64_t number;
	uint8_t uuid[16];
	uid_t uid;
	uint32_t service;
	struct services_counts counts;
	bool is_listed; /* in this update */
};

struct services {
	struct engine *live;
	uint64_t begun_ns; /* CLOCK_MONOTONIC */
	struct services_row *rows;
	size_t count, room;
	struct dict index; /* rows by name */
	struct member *members;
	size_t member_count, member_room;
};

/* ---- counters ---- */

static void add(uint64_t *to, uint64_t more)
{
	*to = capped_sum(*to, more);
}

static void raise_to(uint64_t *to, uint64_t value)
{
	if (*to < value)
		*to = value;
}

static void add_counts(struct services_counts *to, const struct services_counts *more)
{
	add(&to->allocations, more->allocations);
	add(&to->allocated_bytes, more->allocated_bytes);
	add(&to->frees, more->frees);
	add(&to->freed_bytes, more->freed_bytes);
	add(&to->lost, more->lost);
	for (size_t i = 0; i < SEG_COUNTS; i++)
		add(&to->counts[i], more->counts[i]);
}

/* A look that could not read everything has less than the one before. */
static void raise_counts(struct services_counts *to, const struct engine_process *p)
{
	raise_to(&to->allocations, p->now.allocations);
	raise_to(&to->allocated_bytes, p->now.allocated_bytes);
	raise_to(&to->frees, p->now.frees);
	raise_to(&to->freed_bytes, p->now.freed_bytes);
	raise_to(&to->lost, p->now.lost);
	for (size_t i = 0; i < SEG_COUNTS; i++)
		raise_to(&to->counts[i], p->header.counts[i]);
}

/* ---- services ---- */

static bool same_name(const void *items, uint32_t item, const void *key)
{
	return strcmp(((const struct services_row *)items)[item].name, key) == 0;
}

static bool look_up(const struct services *s, const char *name, uint32_t *ret)
{
	return dict_seek(&s->index, dict_hash_text(name), same_name, s->rows, name, ret);
}

static size_t count_of(const struct services *s, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += s->rows[i].uid == uid;
	return n;
}

/* Returns the number of the service; negative errno. */
static int64_t new_row(struct services *s, const struct folder_service *id, const char *name)
{
	uint32_t at = 0;

	if (room_make(&s->rows, &s->room, s->count, sizeof(*s->rows)) < 0)
		return -ENOMEM;
	s->rows[s->count] = (struct services_row){.kind = id->kind, .uid = id->uid};
	memcpy(s->rows[s->count].name, name, strlen(name) + 1);
	if (dict_find(&s->index, dict_hash_text(name), same_name, s->rows, name, (uint32_t)s->count,
	        &at) < 0)
		return -ENOMEM;
	return (int64_t)s->count++;
}

/* Names without end are no services: they share one. */
static int64_t find_row(struct services *s, struct folder_service *id)
{
	char name[FOLDER_NAME_BYTES];
	uint32_t at = 0;

	folder_name(id, geteuid(), name);
	if (look_up(s, name, &at))
		return at;
	if (s->count >= SERVICES_MAX ||
	    (id->uid != geteuid() && count_of(s, id->uid) >= OTHERS_MAX)) {
		id->text = "other programs";
		id->kind = FOLDER_PROGRAM;
		folder_name(id, geteuid(), name);
		if (look_up(s, name, &at))
			return at;
		if (s->count >= SERVICES_ROWS)
			return 0;
	}
	return new_row(s, id, name);
}

/*
 * A uuid is what a process says of itself, so the owner must be the same. The
 * parent is a member before its child, whose number is higher.
 */
static const struct member *parent_of(
    const struct services *s, const struct engine_process *p, uid_t uid)
{
	static const uint8_t none[16];

	if (memcmp(p->header.parent_uuid, none, sizeof(none)) == 0)
		return NULL;
	for (size_t i = 0; i < s->member_count; i++) {
		const struct member *m = &s->members[i];

		if (m->uid == uid && memcmp(m->uuid, p->header.parent_uuid, 16) == 0)
			return m;
	}
	return NULL;
}

/* The place of a number, or of the first higher one. */
static size_t place_of(const struct services *s, uint64_t number)
{
	return sorted_first(s->members, s->member_count, x, x->number < number);
}

static int add_member(struct services *s, const struct engine_process *p)
{
	struct folder_service id;
	const struct member *parent;
	const struct segfile *f;
	struct member *m;
	int64_t row;
	size_t at;
	uid_t uid;
	int slot;

	f = engine_segfile(s->live, p, &slot);
	uid = f ? segfile_source(f)->uid : p->uid;
	parent = parent_of(s, p, uid);
	if (parent) {
		row = parent->service;
	} else {
		folder_service_of(p, uid, &id);
		row = find_row(s, &id);
	}
	if (row < 0 ||
	    room_make(&s->members, &s->member_room, s->member_count, sizeof(*s->members)) < 0)
		return -ENOMEM;
	/* one that could not be read at first comes after younger ones */
	at = place_of(s, p->number);
	m = &s->members[at];
	memmove(m + 1, m, (s->member_count++ - at) * sizeof(*m));
	*m = (struct member){.number = p->number, .uid = uid, .service = (uint32_t)row};
	memcpy(m->uuid, p->header.uuid, sizeof(m->uuid));
	return 0;
}

static struct member *find_member(const struct services *s, uint64_t number)
{
	size_t i = place_of(s, number);

	return i < s->member_count && s->members[i].number == number ? &s->members[i] : NULL;
}

/* ---- updates ---- */

struct services *services_new(struct engine *l)
{
	struct services *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->live = l;
	s->begun_ns = clock_ns(CLOCK_MONOTONIC);
	return s;
}

void services_free(struct services *s)
{
	if (!s)
		return;
	free(s->rows);
	dict_release(&s->index);
	free(s->members);
	free(s);
}

/*
 * One that had ended before we began is nobody's any more. (An engine that keeps
 * the ended lists these, too.)
 */
static bool is_ours(const struct services *s, const struct engine_process *p)
{
	return p->looks > 0 &&
	    (p->state != LIVE_ENDED || p->header.start_monotonic_ns >= s->begun_ns);
}

/* Who is not listed any more is in the sums for good. */
static void let_go(struct services *s)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->member_count; i++) {
		struct member *m = &s->members[i];

		if (m->is_listed)
			s->members[kept++] = *m;
		else
			add_counts(&s->rows[m->service].ended, &m->counts);
	}
	s->member_count = kept;
}

static void add_process(struct services_row *r, const struct engine_process *p)
{
	r->processes++;
	r->unread += p->look_err < 0;
	add(&r->live_bytes, p->now.live_bytes);
	add(&r->live_blocks, p->now.live_blocks);
	add(&r->peak_bytes, p->now.peak_bytes);
	add(&r->resident, p->now.resident);
	raise_to(&r->sample_bytes, p->header.sample_bytes);
	if (p->limit > 0 && (r->limit == 0 || p->limit < r->limit)) {
		r->limit = p->limit;
		r->used = p->used;
	} else if (r->limit == 0) {
		raise_to(&r->used, p->used);
	}
}

/* The sums of those that run begin anew; counters, with those of the ended. */
static void clear(struct services *s)
{
	for (size_t i = 0; i < s->count; i++) {
		struct services_row *r = &s->rows[i];

		r->all = r->ended;
		r->processes = r->unread = 0;
		r->live_bytes = r->live_blocks = r->peak_bytes = 0;
		r->resident = r->limit = r->used = r->sample_bytes = 0;
	}
}

/* Rows move, so members and the index are made anew. */
static int drop_row(struct services *s, size_t gone)
{
	memmove(&s->rows[gone], &s->rows[gone + 1], (s->count - gone - 1) * sizeof(*s->rows));
	s->count--;
	for (size_t i = 0; i < s->member_count; i++)
		s->members[i].service -= s->members[i].service > gone;
	dict_release(&s->index);
	s->index = (struct dict){0};
	for (size_t i = 0; i < s->count; i++) {
		uint32_t at = 0;

		if (dict_find(&s->index, dict_hash_text(s->rows[i].name), same_name, s->rows,
		        s->rows[i].name, (uint32_t)i, &at) < 0)
			return -ENOMEM;
	}
	return 0;
}

static bool has_member(const struct services *s, size_t row)
{
	for (size_t i = 0; i < s->member_count; i++)
		if (s->members[i].service == row)
			return true;
	return false;
}

/* Names of services that have gone are not kept without end. */
static int drop_idle(struct services *s)
{
	size_t oldest = SIZE_MAX, idle = 0;

	if (s->count <= IDLE_KEPT)
		return 0;
	for (size_t i = 0; i < s->count; i++) {
		if (s->rows[i].processes > 0)
			continue;
		idle++;
		if (oldest == SIZE_MAX || s->rows[i].used_ns < s->rows[oldest].used_ns)
			oldest = i;
	}
	return idle > IDLE_KEPT && !has_member(s, oldest) ? drop_row(s, oldest) : 0;
}

int services_update(struct services *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	for (size_t i = 0; i < s->member_count; i++)
		s->members[i].is_listed = false;
	for (size_t i = 0; i < engine_count(s->live); i++) {
		const struct engine_process *p = engine_at(s->live, i);
		struct member *m = find_member(s, p->number);

		if (!m && is_ours(s, p)) {
			int failed = add_member(s, p);

			err = failed < 0 ? failed : err;
			m = find_member(s, p->number);
		}
		if (m) {
			m->is_listed = true;
			raise_counts(&m->counts, p);
		}
	}
	let_go(s);
	clear(s);
	for (size_t i = 0; i < engine_count(s->live); i++) {
		const struct engine_process *p = engine_at(s->live, i);
		struct member *m = find_member(s, p->number);
		struct services_row *r = m ? &s->rows[m->service] : NULL;

		if (!m)
			continue;
		add_counts(&r->all, &m->counts);
		r->used_ns = now;
		if (p->state != LIVE_ENDED)
			add_process(r, p);
	}
	return err == 0 ? drop_idle(s) : err;
}

/* ---- questions ---- */

size_t services_count(const struct services *s)
{
	return s->count;
}

const struct services_row *services_at(const struct services *s, size_t i)
{
	return &s->rows[i];
}

const struct services_row *services_find(const struct services *s, const char *name)
{
	uint32_t at = 0;

	return look_up(s, name, &at) ? &s->rows[at] : NULL;
}

const struct services_row *services_of(const struct services *s, const struct engine_process *p)
{
	const struct member *m = find_member(s, p->number);

	return m ? &s->rows[m->service] : NULL;
}
