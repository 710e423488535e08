/* mapped_pages.c - reads from a running process which mappings its callers have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/live_ages.h"

#include "host/memory/foreign.h"
#include "format/seg_mapped.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	NODES_MAX = 1 << 16, /* of a table; a collector has no more */
	RUNS_MAX = 1 << 22,
	SLOTS = 1 << MAPPED_NODE_BITS,
	ROOT_BYTES = 8 << MAPPED_ROOT_BITS,
	NODE_BYTES = 8 << MAPPED_NODE_BITS,
};

/* Of a process; the table has no pages beyond it. */
#define ADDRESS_MAX (MAPPED_PAGES << MAPPED_PAGE_BITS)

/* A node of the table that is still to be read. */
struct node {
	uint64_t address;
	uint64_t page; /* the first that it is for */
};

struct run {
	uint64_t first, end; /* pages */
	uint64_t leaf;
};

struct walk {
	struct foreign *memory;
	const struct process *process;
	struct mapped *to;
	struct node *nodes, *next; /* of this level and of the next one */
	size_t node_count, node_room, next_count, next_room, all_nodes;
	struct run *runs; /* by address within a level, then sorted */
	size_t run_count, run_room;
};

static int add_node(struct walk *w, uint64_t entry, uint64_t page)
{
	const uint64_t address = entry & ~MAPPED_IS_NODE;
	int err;

	if (address % NODE_BYTES || address >= ADDRESS_MAX || w->all_nodes == NODES_MAX) {
		w->to->is_partial = true;
		return 0;
	}
	err = room_make(&w->next, &w->next_room, w->next_count, sizeof(*w->next));
	if (err < 0)
		return err;
	w->all_nodes++;
	w->next[w->next_count++] = (struct node){address, page};
	return 0;
}

/* Adds a leaf to the last run, or begins a new one. */
static int add_leaf(struct walk *w, uint64_t leaf, uint64_t page, uint64_t pages)
{
	struct run *last = w->run_count ? &w->runs[w->run_count - 1] : NULL;
	int err;

	if (last && last->end == page && mapped_goes_on(last->leaf, leaf)) {
		last->end += pages;
		return 0;
	}
	if (w->run_count == RUNS_MAX) {
		w->to->is_partial = true;
		return 0;
	}
	err = room_make(&w->runs, &w->run_room, w->run_count, sizeof(*w->runs));
	if (err < 0 || !w->runs)
		return -ENOMEM;
	w->runs[w->run_count++] = (struct run){page, page + pages, leaf};
	return 0;
}

/* The entries of the root or of a node, each for 1 << shift pages. */
static int add_entries(
    struct walk *w, const uint8_t *bytes, size_t count, uint64_t page, unsigned shift)
{
	int err = 0;

	for (size_t i = 0; i < count && err == 0; i++) {
		const uint64_t at = page + ((uint64_t)i << shift);
		uint64_t entry;

		memcpy(&entry, bytes + i * sizeof(entry), sizeof(entry));
		if (entry & MAPPED_IS_NODE && shift > 0)
			err = add_node(w, entry, at);
		else if (entry & MAPPED_IS_NODE)
			w->to->is_partial = true; /* there is no lower level */
		else if (entry)
			err = add_leaf(w, entry, at, UINT64_C(1) << shift);
	}
	return err;
}

static int read_root(struct walk *w)
{
	const struct foreign_range range = {
	    w->process->header.mapped_root, ROOT_BYTES / FOREIGN_PAGE_BYTES};
	struct foreign_batch batch;
	struct fault where;
	int err;

	if (range.start % FOREIGN_PAGE_BYTES || range.start >= ADDRESS_MAX)
		return -EBADMSG;
	err = foreign_read(w->memory, &range, 1, &batch, &where);
	if (err < 0)
		return err;
	for (size_t i = 0; i < batch.count; i++)
		w->to->is_partial |= batch.pages[i] >= FOREIGN_SWAPPED;
	return add_entries(w, batch.bytes, 1 << MAPPED_ROOT_BITS, 0, MAPPED_TOP_SHIFT);
}

/* Reads nodes from `from` on, as many as fit; returns how many. */
static int read_some(struct walk *w, size_t from, unsigned shift)
{
	struct foreign_range ranges[FOREIGN_BATCH_RANGES];
	struct foreign_batch batch;
	struct fault where;
	size_t n = 0;
	int err;

	for (; n < FOREIGN_BATCH_RANGES && from + n < w->node_count; n++)
		ranges[n] = (struct foreign_range){
		    w->nodes[from + n].address & ~(uint64_t)(FOREIGN_PAGE_BYTES - 1), 1};
	err = foreign_read(w->memory, ranges, n, &batch, &where);
	for (size_t i = 0; i < n && err >= 0; i++) {
		const struct node *node = &w->nodes[from + i];

		if (batch.pages[i] != FOREIGN_READ)
			w->to->is_partial = true;
		err = add_entries(w,
		    batch.bytes + i * FOREIGN_PAGE_BYTES + node->address % FOREIGN_PAGE_BYTES,
		    SLOTS, node->page, shift);
	}
	return err < 0 ? err : (int)n;
}

/* The nodes of one level after the other. */
static int read_nodes(struct walk *w)
{
	unsigned shift = MAPPED_TOP_SHIFT;
	int n = 0;

	while (w->next_count > 0 && n >= 0) {
		struct node *nodes = w->nodes;
		size_t room = w->node_room;

		shift -= MAPPED_NODE_BITS;
		w->nodes = w->next;
		w->node_count = w->next_count;
		w->node_room = w->next_room;
		w->next = nodes;
		w->next_room = room;
		w->next_count = 0;
		for (size_t i = 0; i < w->node_count && n >= 0; i += (size_t)n)
			n = read_some(w, i, shift);
	}
	return n < 0 ? n : 0;
}

/* ---- by site ------------------------------------------------------------- */

BY(by_page, struct run, UP(first))

/* NULL: it is one of a parent's, or newer than the ledger that was read. */
static struct mapped_site *site_of(struct walk *w, uint64_t leaf)
{
	const struct process *p = w->process;
	const uint32_t id = mapped_site(leaf);
	const struct process_id *found = process_find_id(p, id);

	return found && p->sites[found->site].kind == SEG_SITE_MAPPING ? &w->to->sites[found->site]
	                                                               : NULL;
}

/* Runs of different levels may belong to one range. */
static void count_ranges(struct walk *w)
{
	const struct run *last = NULL;

	for (size_t i = 0; i < w->run_count; i++) {
		const struct run *r = &w->runs[i];
		struct mapped_site *s = site_of(w, r->leaf);
		bool goes_on = last && last->end == r->first && mapped_goes_on(last->leaf, r->leaf);

		last = r;
		if (!s)
			continue;
		s->ranges += !goes_on;
		s->bytes += (r->end - r->first) << MAPPED_PAGE_BITS;
	}
}

/* Adds pages of a kind to the runs that they are in, from run `at` on. */
static void add_pages(struct walk *w, size_t at, const struct foreign_run *pages)
{
	const uint64_t first = pages->start >> MAPPED_PAGE_BITS;
	const uint64_t end = first + pages->pages;

	for (; at < w->run_count && w->runs[at].first < end; at++) {
		const struct run *r = &w->runs[at];
		const uint64_t low = r->first > first ? r->first : first;
		const uint64_t high = r->end < end ? r->end : end;
		struct mapped_site *s = site_of(w, r->leaf);

		if (!s || low >= high)
			continue;
		if (pages->kind == FOREIGN_READ)
			s->resident_bytes += (high - low) << MAPPED_PAGE_BITS;
		else if (pages->kind == FOREIGN_SWAPPED)
			s->swapped_bytes += (high - low) << MAPPED_PAGE_BITS;
	}
}

/* Asks for the runs from `at` to `end`, which lie next to each other. */
static int ask_for(struct walk *w, size_t at, size_t end)
{
	uint64_t from = w->runs[at].first << MAPPED_PAGE_BITS;
	const uint64_t to = w->runs[end - 1].end << MAPPED_PAGE_BITS;
	int err = 0;

	while (from < to && err >= 0) {
		const struct foreign_run *list;
		struct fault where;
		uint64_t next = to;
		size_t count;

		err = foreign_present(w->memory, from, to, &list, &count, &next, &where);
		for (size_t i = 0; i < count && err >= 0; i++) {
			while (at < end && w->runs[at].end <= list[i].start >> MAPPED_PAGE_BITS)
				at++;
			add_pages(w, at, &list[i]);
		}
		if (err >= 0 && next <= from)
			return -EIO;
		from = next;
	}
	return err;
}

static int ask_for_pages(struct walk *w)
{
	size_t end;
	int err = 0;

	for (size_t i = 0; i < w->run_count && err >= 0; i = end) {
		for (end = i + 1; end < w->run_count && w->runs[end].first == w->runs[end - 1].end;
		     end++)
			;
		err = ask_for(w, i, end);
	}
	return err;
}

void mapped_pages_free(struct mapped *m)
{
	if (m)
		free(m->sites);
	free(m);
}

static struct mapped *new_mapped(const struct process *p)
{
	struct mapped *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->count = p->site_count;
	m->sites = calloc(p->site_count + 1, sizeof(*m->sites));
	if (m->sites)
		return m;
	free(m);
	return NULL;
}

int mapped_pages_read(struct process *p)
{
	struct walk w = {.process = p};
	struct fault where;
	int err;

	if (p->running_pid <= 0)
		return -ESRCH;
	if (!p->header.mapped_root)
		return -ENODATA;
	if (p->unread.text[0])
		return -ETIMEDOUT; /* it would make us wait again */
	w.to = new_mapped(p);
	if (!w.to)
		return -ENOMEM;
	err = foreign_open(p->running_pid, NULL, &w.memory, &where);
	if (err >= 0)
		err = read_root(&w);
	if (err >= 0)
		err = read_nodes(&w);
	if (err >= 0 && w.run_count > 0) {
		qsort(w.runs, w.run_count, sizeof(*w.runs), by_page);
		count_ranges(&w);
		err = ask_for_pages(&w);
	}
	if (err >= 0 && !foreign_is_same(w.memory))
		err = -ESRCH;
	foreign_close(w.memory);
	free(w.nodes);
	free(w.next);
	free(w.runs);
	if (err < 0) {
		mapped_pages_free(w.to);
		return err;
	}
	mapped_pages_free(p->resident);
	p->resident = w.to;
	return 0;
}
