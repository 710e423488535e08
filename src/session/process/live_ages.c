/* live_ages.c - ages and sizes of the live blocks in a running process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/live_ages.h"

#include "format/cell.h"
#include "segments/blocks/live_map.h"
#include "segments/read/steady.h"

enum { BUDGET_NS = 100000000 };

struct fold {
	struct process *process;
	uint32_t now; /* tick */
};

/* The clock that births are on. */
static uint32_t now_in(const struct seg_header *h)
{
	uint64_t now = ticks_now(h);

	return now < CELL_BIRTH_MAX ? (uint32_t)now : CELL_BIRTH_MAX;
}

static bool add_block(const struct live_map_block *b, void *arg)
{
	const struct fold *f = arg;
	const struct process *p = f->process;
	const struct process_id *id = process_find_id(p, b->site);
	uint32_t age = f->now > b->birth ? f->now - b->birth : 0;
	struct process_site *site;

	if (!id)
		return true; /* allocated after the ledger was read */
	site = &p->sites[id->site];
	if (!site->ages)
		site->ages = calloc(1, sizeof(*site->ages));
	if (!site->ages)
		return false;
	site->ages->live_ages_known = true;
	/* the first class is for young blocks, as in struct process_ages */
	site->ages->living[age < SEG_YOUNG_TICKS ? 0 : seg_age_bucket(age) + 1]++;
	site->ages->births_known = true;
	if (site->ages->births[seg_birth_slot(b->birth, f->now)] != UINT32_MAX)
		site->ages->births[seg_birth_slot(b->birth, f->now)]++;
	if (!b->size_known)
		return true;
	site->ages->sizes_known = true;
	if (site->ages->sizes[seg_size_class(b->size)] != UINT32_MAX)
		site->ages->sizes[seg_size_class(b->size)]++;
	return true;
}

struct search {
	const struct process *process;
	struct live_ages_old *old; /* by site */
	uint32_t now, ticks;
	bool lacks_sizes;
};

static bool add_old(const struct live_map_block *b, void *arg)
{
	struct search *s = arg;
	const struct process *p = s->process;
	const struct process_id *id = process_find_id(p, b->site);
	struct live_ages_old *old;

	if (!id)
		return true; /* allocated after the ledger was read */
	old = &s->old[id->site];
	old->all_blocks++;
	if (b->birth > s->now || s->now - b->birth < s->ticks)
		return true;
	old->blocks++;
	old->bytes += b->size;
	s->lacks_sizes |= !b->size_known;
	return true;
}

int live_ages_older(const struct process *p, uint32_t ticks, struct live_ages_old *ret)
{
	struct search s = {.process = p, .old = ret, .now = now_in(&p->header), .ticks = ticks};
	struct live_map m = {.each = add_old, .arg = &s};
	int err;

	if (p->running_pid <= 0)
		return -ESRCH;
	if (p->unread.text[0])
		return -ETIMEDOUT; /* it would make us wait again */
	err = live_map_read(&m, p->running_pid, &p->header, BUDGET_NS);
	if (err == 0 && (m.is_partial || s.lacks_sizes))
		err = -ENODATA;
	live_map_release(&m);
	return err < 0 ? err : 0;
}

static int read_for(struct process *p, uint64_t budget_ns)
{
	struct fold f = {.process = p, .now = now_in(&p->header)};
	struct live_map m = {.each = add_block, .arg = &f};
	int err;

	p->births_until = f.now;
	err = live_map_read(&m, p->running_pid, &p->header, budget_ns);
	if (err == -ETIMEDOUT)
		p->unread = m.why;
	p->ages_partial = err < 0 || m.is_partial;
	if (err >= 0 && m.is_partial)
		err = -ENODATA;
	live_map_release(&m);
	return err < 0 ? err : 0;
}

int live_ages_read(struct process *p)
{
	int err = p->running_pid > 0 ? read_for(p, BUDGET_NS) : 0;

	return err == -ENOMEM ? err : 0; /* else sums tell what is missing */
}

int live_ages_read_whole(struct process *p)
{
	return p->running_pid > 0 ? read_for(p, UINT64_MAX) : -ESRCH;
}

/* ---- rss_table: an account of resident memory as a table of a snapshot ---- */

/* The bytes of rss_account_encode(), in rows; the last one ends with zeros. */
enum { ROW = RSS_ROW_BYTES, BYTES_MAX = 256 << 20 };

int rss_table_put(struct segment *seg, const struct rss_account *r)
{
	struct seg_extent x = {.kind = RSS_TABLE, .row_bytes = ROW};
	struct segment_rows *rows;
	uint8_t *bytes;
	size_t len;
	int err = rss_account_encode(r, &bytes, &len);

	if (err < 0)
		return err;
	x.count = (uint32_t)((len + ROW - 1) / ROW);
	rows = segment_copy_add(seg, &x);
	if (rows)
		memcpy(rows->rows, bytes, len);
	free(bytes);
	return rows ? 0 : -ENOMEM;
}

/* Compact segments leave out rows of zeros, so there may be several extents. */
static size_t bytes_of(const struct segment *seg)
{
	uint64_t end = 0;

	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != RSS_TABLE || x->row_bytes != ROW || x->first > BYTES_MAX / ROW)
			continue;
		if (end < x->first + x->count)
			end = x->first + x->count;
	}
	return end <= BYTES_MAX / ROW ? (size_t)end * ROW : 0;
}

int rss_table_take(const struct segment *seg, struct rss_account *ret)
{
	size_t len = bytes_of(seg);
	uint8_t *bytes;
	int err;

	if (len == 0)
		return -ENODATA;
	bytes = calloc(1, len);
	if (!bytes)
		return -ENOMEM;
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind == RSS_TABLE && x->row_bytes == ROW && x->first <= BYTES_MAX / ROW)
			memcpy(bytes + (size_t)x->first * ROW, x->rows, (size_t)x->count * ROW);
	}
	err = rss_account_decode(bytes, len, ret);
	free(bytes);
	return err;
}
