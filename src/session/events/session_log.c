/* session_log.c - a session and the event logs of its processes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/events/session_log.h"

#include "format/seg_log.h"
#include "kit/data/capped.h"
#include "session/events/flightread.h"
#include "session/events/logblocks.h"
#include "session/load/session_moment.h"
#include "session/process/family.h"

#define MS UINT64_C(1000000)

static const struct process *first_of(const struct session *s)
{
	const struct process *first = NULL;

	for (size_t i = 0; i < s->count; i++)
		if (!first ||
		    s->processes[i]->header.start_monotonic_ns < first->header.start_monotonic_ns)
			first = s->processes[i];
	return first;
}

uint64_t session_log_base_ns(const struct session *s)
{
	const struct process *p = first_of(s);

	return p ? p->header.start_monotonic_ns : 0;
}

uint64_t session_log_start_ns(const struct session *s)
{
	const struct process *p = first_of(s);

	return p ? p->header.start_realtime_ns : 0;
}

/* When it started, after the first one. */
static uint64_t start_ms(const struct process *p, uint64_t base_ns)
{
	return capped_difference(p->header.start_monotonic_ns, base_ns) / MS;
}

/* The end of the tick in which a process was last seen. */
static uint64_t end_ns(const struct process *p)
{
	return capped_sum(p->duration_ns, p->header.tick_ns);
}

uint64_t session_log_until_ms(const struct session *s)
{
	uint64_t base = session_log_base_ns(s), until = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];
		uint64_t end = capped_sum(start_ms(p, base), end_ns(p) / MS);

		until = end > until ? end : until;
	}
	return until;
}

bool session_log_site(const struct process *p, uint32_t id, size_t *ret_number)
{
	const struct process_id *found = process_find_id(p, id);

	if (!found)
		return false;
	*ret_number = found->site;
	return true;
}

/* ---- what a log lacks ---- */

static uint64_t counted(const struct process *p)
{
	return capped_sum(p->totals.allocations, p->totals.frees);
}

static uint64_t logged(const struct events_process *log)
{
	const struct events_sums *s = &log->sums;

	return capped_sum(
	    capped_sum(capped_sum(s->allocations, s->frees), s->unlogged), log->left_out);
}

static void find_losses(struct process *p, const struct events_process *log, bool is_of_pools)
{
	uint64_t all = p->header.counts[SEG_LOG_LOST];
	uint64_t missing = capped_difference(counted(p), logged(log));

	/* objects of pools are in the log, but not in the totals of the heap */
	if (p->pool_count > 0)
		missing = 0;
	p->log.is_read = true;
	p->log.lost = log->sums.lost;
	/* behind the end of a log no word says what it lacks */
	if (log->is_whole) {
		p->log.lost = all > p->log.lost ? all : p->log.lost;
		p->log.lost = missing > p->log.lost ? missing : p->log.lost;
	} else if (is_of_pools) {
		/* somebody has taken them out of the pool */
		p->log.lost = capped_sum(p->log.lost, capped_difference(missing, all));
	}
	missing = missing > all ? missing : all;
	p->log.lost_later = capped_difference(missing, p->log.lost);
}

/* The log of a process; false: it has none. A log may have no entry. */
static bool log_of(const struct process *p, const struct events *e, struct events_process *ret)
{
	static const struct logblocks no_blocks;
	static const struct logsites no_sites;

	*ret = (struct events_process){.blocks = &no_blocks, .sites = &no_sites, .is_whole = true};
	return events_process(e, p->header.uuid, ret) || p->header.log_state == SEG_LOG_ON;
}

void session_log_losses(struct session *s, const struct events *e)
{
	for (size_t i = 0; i < s->count; i++) {
		struct events_process log;

		if (log_of(s->processes[i], e, &log))
			find_losses(s->processes[i], &log, false);
	}
}

/* ---- a moment ---- */

/* Counts of the log by site, as figures. */
static void take_sites(const struct process *p, const struct logsites *sites,
    struct process_figures *then, struct session_log_doubts *doubts)
{
	const struct logindex_site *row;
	size_t at = 0, number;

	while ((row = logsites_next(sites, &at))) {
		const struct process_figures one = {.allocations = row->allocations,
		    .allocated_bytes = row->allocated_bytes,
		    .frees = row->frees,
		    .freed_bytes = row->freed_bytes,
		    .live_blocks = capped_difference(row->allocations, row->frees),
		    .live_bytes = capped_difference(row->allocated_bytes, row->freed_bytes)};

		if (session_log_site(p, row->site, &number))
			process_add(&then[number], &one);
		else if (p->end != PROCESS_RUNNING)
			doubts->sites++;
	}
}

/* More than was ever counted; a running process counts on. */
static bool exceeds(const struct process *p, const struct process_figures *then)
{
	for (size_t i = 0; i < p->site_count; i++)
		if (then[i].allocations > p->sites[i].figures.allocations ||
		    then[i].frees > p->sites[i].figures.frees)
			return p->end != PROCESS_RUNNING;
	return false;
}

/* A block that lived, in the ages and sizes of its site. */
static int add_block(struct process *p, const struct logblocks_block *b, uint32_t now_tick)
{
	const uint64_t birth_ns =
	    b->born > UINT64_MAX / LOG_TICK_NS ? UINT64_MAX : b->born * LOG_TICK_NS;
	const uint64_t tick = birth_ns / p->header.tick_ns;
	const uint32_t birth = tick < now_tick ? (uint32_t)tick : now_tick;
	const uint32_t age = now_tick - birth;
	struct process_ages *ages;
	size_t number;

	if (!session_log_site(p, b->site, &number))
		return 0;
	ages = p->sites[number].ages;
	if (!ages) {
		ages = calloc(1, sizeof(*ages));
		if (!ages)
			return -ENOMEM;
		ages->live_ages_known = ages->sizes_known = true;
		ages->births_known = true;
		p->sites[number].ages = ages;
	}
	ages->living[age < SEG_YOUNG_TICKS ? 0 : seg_age_bucket(age) + 1]++;
	ages->births[seg_birth_slot(birth, now_tick)] =
	    capped_sum_32(ages->births[seg_birth_slot(birth, now_tick)], 1);
	ages->sizes[seg_size_class(b->size)] =
	    capped_sum_32(ages->sizes[seg_size_class(b->size)], 1);
	return 0;
}

static int take_blocks(struct process *p, const struct logblocks *blocks, uint64_t duration_ns)
{
	const struct logblocks_block *b;
	uint64_t now;
	size_t at = 0;
	int err = 0;

	if (p->header.tick_ns == 0)
		return 0;
	now = duration_ns / p->header.tick_ns;
	if (now > UINT32_MAX)
		now = UINT32_MAX;
	p->births_until = (uint32_t)now;
	while (err == 0 && (b = logblocks_next(blocks, &at)))
		err = add_block(p, b, (uint32_t)now);
	for (size_t i = 0; i < p->site_count; i++)
		if (p->sites[i].last_tick > now)
			p->sites[i].last_tick = (uint32_t)now;
	return err;
}

static int set_back(struct process *p, const struct events_process *log, uint64_t ns,
    bool is_of_pools, struct session_log_doubts *doubts)
{
	struct process_figures *then = calloc(p->site_count + 1, sizeof(*then));
	/* the moment is in whole milliseconds */
	const bool had_ended = p->end != PROCESS_RUNNING && end_ns(p) < capped_sum(ns, 2 * MS);
	const struct process end = *p;

	if (!then)
		return -ENOMEM;
	find_losses(p, log, is_of_pools);
	take_sites(p, log->sites, then, doubts);
	if (exceeds(p, then)) {
		doubts->exceeding++;
		doubts->exceeding_pid = p->header.pid;
	}
	session_moment_put(p, then, had_ended ? p->duration_ns : ns);
	if (had_ended) {
		p->end = end.end;
		p->exit_status = end.exit_status;
		p->signal = end.signal;
		p->is_out_of_memory = end.is_out_of_memory;
	}
	p->log.has_moment = true;
	p->log.is_past = !had_ended;
	free(then);
	session_moment_drop_ends(p);
	return take_blocks(p, log->blocks, p->duration_ns);
}

/* Does a process have nothing that a log could say more of? */
static bool needs_no_log(const struct process *p)
{
	return process_is_unseen(p) || process_ended_early(p) || p->totals.allocations == 0;
}

int session_log_set_back(struct session *s, const struct events *e, uint64_t at_ms,
    bool is_of_pools, struct session_log_doubts *ret)
{
	const uint64_t base = session_log_base_ns(s);
	size_t kept = 0;
	int err = 0;

	*ret = (struct session_log_doubts){0};
	for (size_t i = 0; i < s->count; i++) {
		struct process *p = s->processes[i];
		const uint64_t start = start_ms(p, base);
		struct events_process log;
		const bool has_log = log_of(p, e, &log);

		if (err < 0 || start > at_ms || (!has_log && !needs_no_log(p))) {
			if (err == 0 && start <= at_ms) {
				ret->without_log++;
				ret->without_pid = p->header.pid;
			}
			process_free(p);
			continue;
		}
		s->processes[kept++] = p;
		p->log.at_ms = at_ms;
		if (has_log)
			err = set_back(p, &log, (at_ms - start) * MS, is_of_pools, ret);
		else
			session_moment_drop_ends(p);
	}
	s->count = kept;
	session_moment_drop_line(s);
	return err;
}

/* ---- flights: the flight recorders of an input, ring by ring ---- */

struct reading {
	flights_each *each;
	void *context;
	struct flights_found *found;
};

static int give_out(const struct reading *r, const struct log_head *head, const struct log_chunk *c,
    const struct flight_entry *entries)
{
	struct flightring ring;
	int err = flightring_decode(c, entries, head->entries, &ring);

	if (err < 0)
		return err;
	r->found->strange += ring.strange;
	err = r->each(r->context, head, &ring);
	flightring_release(&ring);
	return err;
}

static int read_pool(void *context, int dir, const char *name, const struct seg_header *h)
{
	const struct reading *r = context;
	const struct flight_entry *entries;
	struct flightread *f;
	struct log_chunk c;
	int got, err;

	if (h->log_state != SEG_LOG_LAST)
		return 0;
	err = flightread_open(dir, name, h->log_pool, h->uuid, &f);
	if (err == -ENOMEM)
		return err;
	r->found->is_damaged |= err < 0;
	if (err < 0)
		return 0; /* removed, or of another process by now */
	r->found->processes++;
	do {
		got = flightread_next(f, &c, &entries);
		err = got == 1 ? give_out(r, flightread_head(f), &c, entries) : got;
	} while (got == 1 && err == 0);
	r->found->is_damaged |= flightread_is_damaged(f);
	flightread_close(f);
	return err;
}

int flights_read_entry(
    const void *bytes, size_t len, flights_each *each, void *context, struct flights_found *ret)
{
	const struct reading r = {each, context, ret};
	const uint8_t *at = bytes;
	struct log_head head;
	size_t ring_bytes;
	int err = 0;

	if (len < sizeof(head))
		return -EBADMSG;
	memcpy(&head, at, sizeof(head));
	if (head.magic != LOG_MAGIC || !flightread_is_sound(&head))
		return -EBADMSG;
	ring_bytes = sizeof(struct log_chunk) + (size_t)head.entries * sizeof(struct flight_entry);
	if ((len - sizeof(head)) % ring_bytes != 0)
		return -EBADMSG;
	ret->processes++;
	for (at += sizeof(head), len -= sizeof(head); len > 0 && err == 0;
	     at += ring_bytes, len -= ring_bytes) {
		struct log_chunk c;

		memcpy(&c, at, sizeof(c));
		/* entries of a recording are aligned, and so are their parts */
		err = give_out(&r, &head, &c, (const void *)(at + sizeof(c)));
	}
	return err;
}

static int read_entry(void *context, const void *bytes, size_t len)
{
	const struct reading *r = context;
	int err = flights_read_entry(bytes, len, r->each, r->context, r->found);

	if (err == -EBADMSG) {
		r->found->is_damaged = true;
		return 0;
	}
	return err;
}

static int read_recording(void *context, struct recording *b)
{
	const struct reading *r = context;

	return pools_entries(b, RECORDING_FLIGHT, read_entry, context, &r->found->is_damaged);
}

int flights_read(const char *path, pid_t pid, flights_each *each, void *context,
    struct flights_found *ret, struct fault *where)
{
	struct reading r = {each, context, ret};
	const struct pools_visitor v = {
	    .pool = read_pool, .recording = read_recording, .context = &r};

	*ret = (struct flights_found){0};
	return pools_visit(path, pid, &v, where);
}
