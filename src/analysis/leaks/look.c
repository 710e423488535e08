/* look.c - one look at the memory of a process: its blocks and who points to them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/look.h"

#include "base/cpu/cpu.h"
#include "host/memory/foreign.h"
#include "segments/blocks/our_ranges.h"
#include "segments/blocks/live_map.h"
#include "host/proc/procfs.h"
#include "kit/os/clock.h"
#include "kit/data/sorted.h"
#include "analysis/leaks/judge.h"
#include "analysis/leaks/owned.h"
#include "analysis/leaks/heap.h"
#include "host/memory/address_ranges.h"
#include "analysis/holders/root_notes.h"
#include "host/proc/roots.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	REST_US = 100,
	SPARSE_LEAST = 256 * PAGE,
	RING_LEAST = PAGE,    /* of a ring that is not mapped */
	FILES_MOST = 1 << 30, /* bytes of shared files that are read */
};

/*
 * A live map may be made up, without an end. A true one is a part of what is
 * resident, and read faster than 50 MB/s.
 */
#define MAP_BUDGET_NS   UINT64_C(3000000000)
#define MAP_NS_PER_BYTE 20

#define ADDRESS_END (UINT64_C(1) << CPU_ADDRESS_BITS)

struct look {
	pid_t pid;
	const struct seg_header *header;
	const struct look_options *o;
	struct foreign *memory;
	struct roots_areas areas;
	struct threads threads; /* of a look without a stop */
	struct heap *heap;
	struct owned *owned;
	struct ranges files; /* pages of files that the process may write */
	/* what is read now are pages with these, new blocks; NULL: all counts */
	const struct ranges *fresh;
	bool is_new; /* it is also of blocks of notes->grown */
	struct look_seen *seen;
	struct fault *where;
};

/* A process that is stopped, or waits for us at its end, is read at once. */
static uint32_t rest_us(const struct look *l)
{
	return l->o->stop || l->o->is_waiting ? 0 : REST_US;
}

/* ---- blocks --------------------------------------------------------------- */

struct block_list {
	struct heap_block *at;
	size_t count, room, most;
	bool is_full;
};

static bool add_block(const struct live_map_block *b, void *arg)
{
	struct block_list *l = arg;

	if (l->count == l->most) {
		l->is_full = true;
		return false;
	}
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 4096;
		struct heap_block *at = room > SIZE_MAX / sizeof(*at)
		    ? NULL
		    : large_grow(l->at, l->count * sizeof(*at), room * sizeof(*at));

		if (!at)
			return false;
		l->at = at;
		l->room = room;
	}
	l->at[l->count++] = (struct heap_block){.address = b->address,
	    .size = b->size_known ? b->size : 0,
	    .site = b->site,
	    /* on the parent's clock: before the first tick of this one */
	    .birth = b->is_inherited ? 0 : b->birth};
	return true;
}

static int too_large(const struct look *l, const char *what)
{
	return fault_set(l->where, -E2BIG, "%s: more than %llu MiB would be needed", what,
	    (unsigned long long)(l->o->max_bytes >> 20));
}

static uint64_t map_budget(const struct look *l)
{
	return MAP_BUDGET_NS + procfs_resident(l->pid) * MAP_NS_PER_BYTE;
}

static int read_blocks(struct look *l)
{
	struct block_list list = {.most = l->o->max_bytes / 48};
	struct live_map m = {.each = add_block,
	    .arg = &list,
	    .memory = l->memory,
	    .wants_inherited = true,
	    .is_list = true};
	uint64_t budget_ns = map_budget(l);
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	int err = live_map_read(&m, l->pid, l->header, budget_ns);

	if (err == 0 && clock_ns(CLOCK_MONOTONIC) - begin_ns > budget_ns)
		err = fault_set(&m.why, -ETIMEDOUT, "its list of blocks has no end");
	if (err == 0 && !m.is_exact)
		err = -ENOTSUP;
	if (err == -EFAULT)
		err = -ESRCH; /* of a collector of ours that is only so */
	if (err < 0 && m.why.text[0])
		(void)fault_set(l->where, err, "%s", m.why.text);
	l->seen->heads_only |= m.is_partial;
	live_map_release(&m);
	if (list.is_full)
		err = too_large(l, "its blocks are too many");
	if (err < 0) {
		free(list.at);
		return err;
	}
	err = heap_adopt(list.at, list.count, l->o->max_bytes, &l->heap);
	if (err == -E2BIG)
		return too_large(l, "its blocks are too many");
	return err;
}

/* ---- the pass over its memory --------------------------------------------- */

/* Memory that was not read, by the reason that its mapping has. */
static void count_unread(struct look *l, uint64_t address, uint64_t bytes, enum foreign_page kind)
{
	const struct roots_area *a = roots_at(&l->areas, address);

	if (kind == FOREIGN_SWAPPED)
		l->seen->swapped_bytes += bytes;
	else if (a && a->kind == ROOTS_DEVICE)
		l->seen->device_bytes += bytes;
	else if (kind == FOREIGN_REFUSED)
		l->seen->unreadable_bytes += bytes;
	else if (kind == FOREIGN_FILE && a && a->kind == ROOTS_SHARED && a->can_write &&
	    address_ranges_add(&l->files, address, address + bytes) < 0)
		l->seen->unreadable_bytes += bytes;
}

static int scan_all(struct look *l, int part, uint64_t address, const uint8_t *bytes, size_t len)
{
	int err = 0;

	if (part == HEAP_BLOCKS) {
		err = owned_note_headers(l->owned, address, bytes, len);
	} else {
		const struct roots_area *a = roots_at(&l->areas, address);

		l->seen->root_bytes += len;
		if (a && a->kind == ROOTS_SHARED && a->can_write &&
		    l->seen->unseen_shared_bytes >= len)
			l->seen->unseen_shared_bytes -= len;
	}
	l->seen->read_bytes += len;
	if (err == 0)
		err = heap_scan(l->heap, (enum heap_part)part, address, bytes, len);
	if (err == 0 && l->is_new)
		err = grown_scan(&l->o->notes->grown, l->heap, address, bytes, len);
	else if (err == 0 && l->o->notes)
		err = root_notes_scan(
		    l->o->notes, l->heap, &l->areas, (enum heap_part)part, address, bytes, len);
	return err == -E2BIG ? too_large(l, "its pointers are too many") : err;
}

/* Of pages, only what is in a range counts. */
static int scan_fresh(struct look *l, int part, uint64_t address, const uint8_t *bytes, size_t len)
{
	const struct ranges *r = l->fresh;
	const uint64_t end = address + len;
	size_t low = sorted_first(r->at, r->count, x, x->end <= address);
	int err = 0;

	for (; low < r->count && r->at[low].start < end && err == 0; low++) {
		uint64_t from = r->at[low].start, to = r->at[low].end;

		if (from < address)
			from = address;
		if (to > end)
			to = end;
		err = scan_all(l, part, from, bytes + (from - address), (size_t)(to - from));
	}
	return err;
}

static int scan(void *context, int part, uint64_t address, const uint8_t *bytes, size_t len)
{
	struct look *l = context;

	return l->fresh ? scan_fresh(l, part, address, bytes, len)
	                : scan_all(l, part, address, bytes, len);
}

static void unread(void *context, uint64_t address, uint64_t bytes, int kind)
{
	count_unread(context, address, bytes, (enum foreign_page)kind);
}

/* Only of a large block many pages may never have been touched. */
static int pass_heap(struct pass *p, bool is_dense, uint64_t start, uint64_t end)
{
	return is_dense ? pass_add_dense(p, HEAP_BLOCKS, start, end)
	                : pass_add(p, HEAP_BLOCKS, start, end);
}

/* Pages with blocks, and with the header before each. */
static int pass_blocks(struct look *l, struct pass *p)
{
	const struct heap_block *b = heap_blocks(l->heap);
	uint64_t start = 0, end = 0;
	bool is_dense = true;
	int err = 0;

	for (size_t i = 0; i < heap_count(l->heap) && err == 0; i++) {
		uint64_t from = (b[i].address - OWNED_HEADER) & -(uint64_t)PAGE;
		uint64_t to = (b[i].address + b[i].size + PAGE - 1) & -(uint64_t)PAGE;

		l->seen->bytes += b[i].size;
		if (b[i].address < OWNED_HEADER)
			from = 0;
		if (from > end || i == 0) {
			err = pass_heap(p, is_dense, start, end);
			start = from;
			is_dense = true;
		}
		if (to > end)
			end = to;
		is_dense &= b[i].size < SPARSE_LEAST;
	}
	if (err == 0)
		err = pass_heap(p, is_dense, start, end);
	return err == 0 ? pass_flush(p) : err;
}

static int pass_ranges(struct pass *p, const struct ranges *r, enum heap_part part)
{
	int err = 0;

	for (size_t i = 0; i < r->count && err == 0; i++)
		err = pass_add(p, part, r->at[i].start, r->at[i].end);
	return err;
}

/* Shared memory that may hold pointers; what is read of it is subtracted. */
static void count_shared(struct look *l, const struct ranges * not )
{
	for (size_t i = 0; i < l->areas.count; i++) {
		const struct roots_area *a = &l->areas.at[i];

		if (a->kind == ROOTS_SHARED && a->can_write && !address_ranges_hold(not, a->start))
			l->seen->unseen_shared_bytes += a->end - a->start;
	}
}

/* Is anything at all swapped out on this machine? */
static bool has_swapped(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t total = 0, rest = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "SwapTotal:", 10) == 0)
			total = strtoull(line + 10, NULL, 10);
		if (strncmp(line, "SwapFree:", 9) == 0)
			rest = strtoull(line + 9, NULL, 10);
	}
	if (f)
		(void)fclose(f);
	return rest < total;
}

/*
 * Shared memory that is swapped out looks as if it had never been touched; only
 * smaps has it. That is a long text, for which page tables are walked, so it is
 * only asked for where there may be something in it.
 */
static int count_swapped_shared(struct look *l)
{
	char *text;
	size_t len;
	int err;

	if (l->seen->unseen_shared_bytes == 0 || !has_swapped())
		return 0;
	err = foreign_text(l->pid, "smaps", &text, &len);
	if (err == -ENOMEM || err == -ESRCH)
		return err;
	if (err < 0) { /* then it may be all of it */
		l->seen->swapped_bytes += l->seen->unseen_shared_bytes;
		return 0;
	}
	l->seen->swapped_bytes += roots_swapped_shared(text);
	free(text);
	return 0;
}

static int pass_roots(struct look *l, struct pass *p)
{
	const struct threads *t = l->o->stop ? &l->o->stop->threads : &l->threads;
	struct roots_plan plan = {{0}, {0}, {0}};
	struct ranges not = {0};
	int err = owned_settle(
	    l->owned, l->pid, l->memory, &l->areas, l->seen->heads_only, &not, l->where);

	if (err == 0)
		count_shared(l, &not );
	if (err == 0)
		err = roots_plan(&l->areas, &not, t->pointers, t->count, &plan);
	if (err == 0)
		err = pass_ranges(p, &plan.certain, HEAP_ROOT);
	if (err == 0)
		err = pass_ranges(p, &plan.code, HEAP_CODE);
	if (err == 0 && !l->o->skip_dead)
		err = pass_ranges(p, &plan.weak, HEAP_WEAK_ROOT);
	if (err == 0)
		err = pass_flush(p);
	if (err == 0)
		err = count_swapped_shared(l);
	address_ranges_release(&not );
	roots_plan_release(&plan);
	return err;
}

/*
 * Pointers may also be in a file that is mapped to be shared and written. Only
 * pages that the process has are read, so its file system is not called; but a
 * page may be taken away just then, and come back never. So a reader of its own
 * reads them, last, and where it fails only these are not read.
 */
static void unread_file(void *context, uint64_t address, uint64_t bytes, int kind)
{
	struct look *l = context;

	(void)address;
	(void)kind;
	l->seen->unreadable_bytes += bytes;
}

static int pass_files(struct look *l)
{
	const struct pass_visitor visitor = {.scan = scan, .unread = unread_file, .context = l};
	const struct foreign_options reading = {.rest_us = rest_us(l), .with_files = true};
	uint64_t read = 0, all = 0;
	struct foreign *memory = NULL;
	struct pass *p = NULL;
	struct fault why;
	int err;

	if (l->files.count == 0)
		return 0;
	address_ranges_settle(&l->files);
	err = foreign_open(l->pid, &reading, &memory, &why);
	if (err == 0)
		err = pass_new(memory, &visitor, &why, &p);
	for (size_t i = 0; i < l->files.count; i++) {
		const struct range *r = &l->files.at[i];

		all += r->end - r->start;
		if (err == 0 && all <= FILES_MOST) {
			err = pass_add(p, HEAP_ROOT, r->start, r->end);
			read = all;
		}
	}
	if (err == 0)
		err = pass_flush(p);
	pass_free(p);
	foreign_close(memory);
	if (err == -ETIMEDOUT || err == -EIO) {
		err = 0;
		read = 0;
	}
	l->seen->unreadable_bytes += all - read;
	return err;
}

/* Many small blocks may be on one page, which is read once. */
static int whole_pages(const struct ranges *r, struct ranges *ret)
{
	int err = 0;

	for (size_t i = 0; i < r->count && err == 0; i++) {
		uint64_t start = r->at[i].start & -(uint64_t)PAGE;
		uint64_t end = (r->at[i].end + PAGE - 1) & -(uint64_t)PAGE;
		struct range *last = ret->count ? &ret->at[ret->count - 1] : NULL;

		if (last && start <= last->end && end >= last->end)
			last->end = end;
		else if (!last || end > last->end)
			err = address_ranges_add(ret, start, end);
	}
	return err;
}

/* What the process has got meanwhile; where it is stopped it gets nothing. */
static int pass_fresh(struct look *l, struct pass *p)
{
	struct grown *grown = l->o->notes ? &l->o->notes->grown : NULL;
	struct ranges fresh = {0}, pages = {0};
	int err = fresh_ranges(l->pid, l->memory, l->header, l->heap, map_budget(l),
	    l->o->max_bytes / 48, &fresh, grown, l->where);

	if (err == -EFAULT)
		err = -ESRCH;
	if (err == -E2BIG)
		err = too_large(l, "its new blocks are too many");
	if (err == 0)
		err = whole_pages(&fresh, &pages);
	l->fresh = &fresh;
	l->is_new = grown != NULL;
	if (err == 0)
		err = pass_ranges(p, &pages, HEAP_ROOT);
	if (err == 0)
		err = pass_flush(p);
	l->fresh = NULL;
	l->is_new = false;
	address_ranges_release(&fresh);
	address_ranges_release(&pages);
	return err;
}

/* Once, or until the pointers of new blocks are all known: see grown.h. */
static int pass_all_fresh(struct look *l, struct pass *p)
{
	int err = pass_fresh(l, p);

	for (int i = 1; i < GROWN_ROUNDS && l->o->notes && err == 0; i++) {
		if (!grown_wants_more(&l->o->notes->grown))
			break;
		err = pass_fresh(l, p);
	}
	return err;
}

/* Of memory that a block has left nothing can be said where it is not there. */
static void unread_moving(void *context, uint64_t address, uint64_t bytes, int kind)
{
	struct look *l = context;

	(void)address;
	if (kind == FOREIGN_SWAPPED)
		l->seen->swapped_bytes += bytes;
}

/* Not more than what is left of *most, which a made-up note may exceed. */
static int add_moving(
    struct look *l, struct pass *p, uint64_t address, uint64_t size, uint64_t *most)
{
	int err;

	if (size > *most)
		size = *most;
	if (address == 0 || size == 0 || address >= ADDRESS_END || size > ADDRESS_END - address)
		return 0;
	*most -= size;
	err = heap_note_other(l->heap, address);
	if (err == 0 && l->o->notes) {
		err = grown_add(&l->o->notes->grown, l->heap, address, size, GROWN_NO_SITE);
		grown_settle(&l->o->notes->grown);
	}
	return err >= 0 ? pass_add(p, HEAP_ROOT, address, address + size) : err;
}

static int add_notes(struct look *l, struct pass *p, const struct moving *m, uint64_t *most)
{
	int err = 0;

	for (size_t i = 0; i < m->count && err == 0; i++) {
		const struct resizing_note *n = &m->notes[i];

		if (n->address == 0)
			continue;
		err = add_moving(l, p, n->address, n->size, most);
		if (err == 0)
			err = add_moving(l, p, n->to, n->to_size, most);
	}
	return err == 0 ? pass_flush(p) : err;
}

/* What is being resized, and in no list of blocks: see owned.h. */
static int pass_moving(struct look *l)
{
	const struct pass_visitor visitor = {.scan = scan, .unread = unread_moving, .context = l};
	uint64_t most = MOVING_ROUNDS * procfs_resident(l->pid);
	struct moving before = {0}, now = {0};
	struct pass *p;
	int err = pass_new(l->memory, &visitor, l->where, &p);

	if (err < 0)
		return err;
	l->is_new = l->o->notes != NULL;
	for (int i = 0; i < MOVING_ROUNDS && err == 0; i++) {
		struct moving swap = before;

		before = now;
		now = swap;
		err = moving_blocks_read(l->memory, l->header, &now, l->where);
		if (err < 0 || (i > 0 && moving_blocks_is_same(&before, &now)))
			break;
		err = add_notes(l, p, &now, &most);
		if (l->o->stop)
			break;
	}
	l->is_new = false;
	l->seen->is_moving = moving_blocks_any(&now);
	moving_blocks_release(&before);
	moving_blocks_release(&now);
	pass_free(p);
	return err;
}

static int pass_all(struct look *l)
{
	const struct pass_visitor visitor = {.scan = scan, .unread = unread, .context = l};
	struct pass *p;
	int err = pass_new(l->memory, &visitor, l->where, &p);

	if (err < 0)
		return err;
	err = pass_blocks(l, p);
	if (err == 0)
		err = pass_roots(l, p);
	if (err == 0)
		err = pass_files(l);
	if (err == 0 && !l->o->stop)
		err = pass_all_fresh(l, p);
	if (err == 0)
		err = pass_moving(l);
	pass_free(p);
	return err;
}

/* ---- what is in no memory ------------------------------------------------- */

static int add_root(struct look *l, enum root_notes_area where, uint64_t word)
{
	int err = heap_root(l->heap, word);

	return err == 0 && l->o->notes ? root_notes_word(l->o->notes, l->heap, where, word) : err;
}

static int add_word(uint64_t word, void *context)
{
	return add_root(context, ROOT_NOTES_KERNEL, word);
}

/* A block that is kept on purpose is held, with all that it holds. */
static int add_ignored(const struct ignored_block *b, void *arg)
{
	struct look *l = arg;
	int64_t i = heap_find(l->heap, b->address);
	const struct heap_block *block;

	if (i < 0)
		return 0;
	block = &heap_blocks(l->heap)[i];
	/* inherited ones have no birth here */
	if (block->address != b->address || block->site != b->site ||
	    (block->birth != b->birth && b->site >= l->header->first_id))
		return 0;
	l->seen->ignored_blocks++;
	l->seen->ignored_bytes += block->size;
	return add_root(l, ROOT_NOTES_IGNORED, b->address);
}

static int add_words(struct look *l)
{
	const struct threads *t = l->o->stop ? &l->o->stop->threads : &l->threads;
	struct kernel_seen seen = {0};
	int err = 0;

	for (size_t i = 0; i < t->word_count && err == 0; i++)
		err = add_root(l, ROOT_NOTES_REGISTER, t->words[i]);
	/* a stack may be a block */
	for (size_t i = 0; i < t->count && err == 0; i++)
		err = add_root(l, ROOT_NOTES_REGISTER, t->pointers[i]);
	if (err == 0)
		err = ignored_blocks_read(l->pid, l->memory, l->header, add_ignored, l, l->where);
	if (err == -ENOTSUP || err == -EFAULT)
		err = 0; /* an older collector has no such list */
	if (err == 0)
		err = kernel_words(l->pid, add_word, l, &seen);
	if (err < 0)
		return err;
	l->seen->unreadable_bytes += seen.not_read;
	if (seen.has_io_uring && l->seen->ring_bytes == 0)
		l->seen->ring_bytes = RING_LEAST;
	return 0;
}

/* ---- all of it ------------------------------------------------------------ */

static int read_areas(struct look *l)
{
	char *text;
	size_t len;
	int err = foreign_text(l->pid, "maps", &text, &len);

	if (err < 0)
		return err == -EACCES ? -EPERM : err;
	err = roots_parse(text, &l->areas);
	free(text);
	if (err == 0 && l->areas.count == 0)
		err = -ESRCH; /* a process without memory has ended */
	for (size_t i = 0; err == 0 && i < l->areas.count; i++) {
		const struct roots_area *a = &l->areas.at[i];

		if (a->kind == ROOTS_RING)
			l->seen->ring_bytes += a->end - a->start;
		if (a->kind == ROOTS_DEVICE && a->can_write)
			l->seen->device_bytes += a->end - a->start;
	}
	return err;
}

static int take(struct look *l)
{
	const struct foreign_options reading = {
	    .rest_us = rest_us(l), .with_swapped = l->o->with_swapped};
	int err = foreign_open(l->pid, &reading, &l->memory, l->where);

	if (err == 0)
		err = read_blocks(l);
	if (err == 0)
		err = read_areas(l);
	if (err == 0 && !l->o->stop)
		err = threads_read(l->pid, &l->threads);
	if (err == 0)
		err = owned_new(l->heap, l->header, &l->owned);
	if (err == 0 && l->o->notes)
		err = grown_begin(&l->o->notes->grown, l->heap, &l->areas, l->o->max_bytes / 8);
	if (err == 0)
		err = pass_all(l);
	if (err == 0)
		err = add_words(l);
	if (err == 0 && l->o->notes)
		err = root_notes_finish(l->o->notes, l->heap);
	if (err == 0 && l->o->notes)
		err = root_threads_read(l->o->notes, l->o->process, l->pid, l->memory);
	if (err == 0 && !foreign_is_same(l->memory))
		err = -ESRCH;
	if (l->o->read_done)
		l->o->read_done(l->o->context);
	if (err == 0)
		err = heap_judge(l->heap);
	if (err == -E2BIG && !l->where->text[0])
		err = too_large(l, "its pointers are too many");
	return err;
}

int look_take(pid_t pid, const struct seg_header *header, const struct look_options *o,
    struct heap **ret, struct look_seen *ret_seen, struct fault *where)
{
	struct look l = {.pid = pid, .header = header, .o = o, .seen = ret_seen, .where = where};
	int err;

	*ret_seen = (struct look_seen){.heads_only = o->heads_only};
	where->text[0] = '\0';
	err = take(&l);
	if (err == 0) {
		ret_seen->blocks = heap_count(l.heap);
		ret_seen->refused_blocks = heap_refused(l.heap);
		*ret = l.heap;
		l.heap = NULL;
	}
	if (err == 0 && o->notes) {
		o->notes->areas = l.areas;
		l.areas = (struct roots_areas){0};
	}
	heap_free(l.heap);
	owned_free(l.owned);
	roots_release(&l.areas);
	address_ranges_release(&l.files);
	threads_release(&l.threads);
	foreign_close(l.memory);
	return err;
}

int look_blocks(pid_t pid, const struct seg_header *header, const struct look_options *o,
    struct foreign *memory, struct heap **ret, struct look_seen *ret_seen, struct fault *where)
{
	struct look l = {.pid = pid,
	    .header = header,
	    .o = o,
	    .memory = memory,
	    .seen = ret_seen,
	    .where = where};
	int err;

	*ret_seen = (struct look_seen){.heads_only = o->heads_only};
	where->text[0] = '\0';
	err = read_blocks(&l);
	if (err < 0)
		return err;
	ret_seen->blocks = heap_count(l.heap);
	ret_seen->refused_blocks = heap_refused(l.heap);
	*ret = l.heap;
	return 0;
}
