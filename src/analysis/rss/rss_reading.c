/* rss_reading.c - where the resident memory of a running process is. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/rss/rss_reading.h"

#include <sys/auxv.h>

#include "host/memory/foreign.h"
#include "segments/blocks/live_map.h"
#include "segments/blocks/our_ranges.h"
#include "host/proc/procfs.h"
#include "host/proc/roots.h"
#include "format/cell.h"
#include "kit/data/capped.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

#define BUDGET_NS   (UINT64_C(30) * 1000000000)
#define ARENA_BYTES (UINT64_C(64) << 20)

enum {
	KIB = 1024,
	LISTED_PERCENT = 1, /* of RSS: a mapping gets its own line */
	OWNERS = 2,         /* besides the sites: */
	OWNER_LATE = 0,     /* sites that began meanwhile */
	OWNER_INHERITED = 1,
};

struct reading {
	const struct process *process;
	struct rss_account *ret;
	struct foreign *memory; /* NULL: it cannot be read */
	struct fault *where;
	uint64_t until_ns;
	char *text;
	struct smaps smaps;
	struct rss_block *blocks; /* settled */
	size_t block_count, block_room;
	/* sorted, disjoint: what the collector has, modules, the heap */
	struct rss_ranges ours, modules, heap;
	struct rss_pages pages;
};

/* ---- blocks ---- */

/* The owner of a block in rss_pages.shares; false: it is no memory. */
static bool owner_of(const struct process *p, const struct live_map_block *b, uint32_t *ret)
{
	const struct process_id *id;

	if (b->is_inherited) {
		*ret = (uint32_t)p->site_count + OWNER_INHERITED;
		return true;
	}
	id = process_find_id(p, b->site);
	*ret = id ? id->site : (uint32_t)p->site_count + OWNER_LATE;
	return !id || p->sites[id->site].kind != SEG_SITE_USER;
}

static bool add_block(const struct live_map_block *b, void *arg)
{
	struct reading *r = arg;
	struct rss_block to = {.address = b->address, .size = b->size};

	if (!b->size_known || !owner_of(r->process, b, &to.who)) {
		r->ret->is_partial |= !b->size_known;
		return true;
	}
	if (room_make(&r->blocks, &r->block_room, r->block_count, sizeof(to)) < 0)
		return false;
	r->blocks[r->block_count++] = to;
	r->ret->blocks++;
	r->ret->block_bytes = capped_sum(r->ret->block_bytes, b->size);
	return true;
}

static enum rss_lack lack_of(int err)
{
	switch (err) {
	case -EPERM:
	case -EACCES:
		return RSS_NO_RIGHT;
	case -ETIMEDOUT:
		return RSS_NO_ANSWER;
	case -ENOTSUP:
		return RSS_NO_MAP;
	default:
		return RSS_OTHER;
	}
}

/* What makes the whole account worthless. */
static bool is_fatal(int err)
{
	return err == -ENOMEM || err == -ESRCH;
}

static int read_blocks(struct reading *r)
{
	const struct seg_header *h = &r->process->header;
	struct live_map m = {.each = add_block,
	    .arg = r,
	    .memory = r->memory,
	    .wants_inherited = true,
	    .is_list = true};
	int err;

	if (h->sample_bytes > 0) {
		r->ret->lack = RSS_SAMPLED;
		return 0;
	}
	if (h->live_root == 0) {
		r->ret->lack = RSS_NO_MAP;
		return 0;
	}
	err = live_map_read(&m, r->process->running_pid, h, BUDGET_NS);
	r->ret->is_partial |= m.is_partial;
	live_map_release(&m);
	if (is_fatal(err))
		return err;
	if (err < 0) {
		r->ret->lack = lack_of(err);
		r->block_count = 0;
		r->ret->blocks = r->ret->block_bytes = 0;
		return 0;
	}
	r->block_count = rss_pages_settle(r->blocks, r->block_count);
	return 0;
}

/* ---- ranges ---- */

BY(by_start, struct rss_range, UP(start))

static void settle(struct rss_ranges *r)
{
	size_t kept = 0;

	if (r->count)
		qsort(r->at, r->count, sizeof(*r->at), by_start);
	for (size_t i = 0; i < r->count; i++) {
		struct rss_range x = r->at[i];

		if (kept == 0 || r->at[kept - 1].end < x.start)
			r->at[kept++] = x;
		else if (r->at[kept - 1].end < x.end)
			r->at[kept - 1].end = x.end;
	}
	r->count = kept;
}

static int add_range(struct rss_ranges *r, uint64_t start, uint64_t end)
{
	int err = room_make(&r->at, &r->room, r->count, sizeof(*r->at));

	if (err == 0 && start < end)
		r->at[r->count++] = (struct rss_range){start, end};
	return err;
}

static int add_ours(uint64_t start, uint64_t end, void *arg)
{
	return add_range(arg, start, end);
}

static int find_ours(struct reading *r)
{
	struct our_ranges o = {.add = add_ours, .arg = &r->ours, .memory = r->memory};
	int err = our_ranges_read(&o, r->process->running_pid, &r->process->header);

	settle(&r->ours);
	return is_fatal(err) ? err : 0; /* else it counts as the process's */
}

/* The kernel joins the end of a module's data with a mapping behind it. */
static int find_modules(struct reading *r)
{
	const struct process *p = r->process;
	uint64_t mask = r->ret->page_bytes - 1;
	int err = 0;

	for (size_t i = 1; i < p->module_count && err == 0; i++) {
		const struct process_module *m = &p->modules[i];

		if (m->end > m->start && !m->is_gone)
			err = add_range(&r->modules, m->start & ~mask, (m->end + mask) & ~mask);
	}
	settle(&r->modules);
	return err;
}

/* The first range that ends above an address, or NULL. */
static const struct rss_range *range_above(const struct rss_ranges *r, uint64_t address)
{
	size_t low = sorted_first(r->at, r->count, x, x->end <= address);

	return low < r->count ? &r->at[low] : NULL;
}

static bool touches(const struct rss_ranges *r, uint64_t start, uint64_t end)
{
	const struct rss_range *x = range_above(r, start);

	return x && x->start < end;
}

static bool covers(const struct rss_ranges *r, uint64_t start, uint64_t end)
{
	const struct rss_range *x = range_above(r, start);

	return x && x->start <= start && x->end >= end;
}

static bool is_anonymous(const struct smaps_area *a)
{
	return a->kind == SMAPS_ANONYMOUS || a->kind == SMAPS_HEAP || a->kind == SMAPS_STACK;
}

static int find_heap(struct reading *r)
{
	size_t at = 0;
	int err = 0;

	if (r->ret->lack != RSS_SPLIT)
		return 0;
	for (size_t i = 0; i < r->smaps.count && err == 0; i++) {
		const struct smaps_area *a = &r->smaps.at[i];
		const struct rss_range x = {a->start, a->end};

		if (a->kind == SMAPS_HEAP)
			err = rss_pages_add(&r->heap, x.start, x.end);
		else if (is_anonymous(a))
			err = rss_pages_heap(x, r->ret->page_bytes, r->ret->is_glibc, r->blocks,
			    r->block_count, &at, &r->heap);
	}
	return err;
}

/* ---- the account ---- */

static void count(struct reading *r, enum rss_class class, uint64_t bytes)
{
	r->ret->classes[class] = capped_sum(r->ret->classes[class], bytes);
}

static enum rss_class class_of(const struct smaps_area *a)
{
	switch (a->kind) {
	case SMAPS_HEAP:
		return RSS_HEAP;
	case SMAPS_STACK:
		return RSS_STACKS;
	case SMAPS_MODULE:
		return RSS_MODULES;
	case SMAPS_SHARED:
		return RSS_SHARED;
	case SMAPS_FILE:
		return RSS_FILES;
	case SMAPS_COLLECTOR:
		return RSS_OURS;
	default:
		return RSS_ANONYMOUS;
	}
}

/* Keeps mappings that may be listed; `name` is inside the text of smaps. */
static int note_area(struct reading *r, const struct smaps_area *a, uint64_t bytes)
{
	struct rss_account *ret = r->ret;
	size_t room = ret->area_count; /* a power of two, or full */

	if (bytes == 0)
		return 0;
	ret->areas_bytes = capped_sum(ret->areas_bytes, bytes);
	ret->areas_count++;
	if ((room & (room - 1)) == 0) {
		struct rss_area *more =
		    reallocarray(ret->areas, room ? room * 2 : 1, sizeof(*more));

		if (!more)
			return -ENOMEM;
		ret->areas = more;
	}
	ret->areas[ret->area_count++] =
	    (struct rss_area){.start = a->start, .end = a->end, .bytes = bytes, .name = a->name};
	return 0;
}

/* The heap of an arena that is not the first; `[heap]` is the first one's. */
static bool is_arena(const struct reading *r, const struct smaps_area *a)
{
	return r->ret->is_glibc && a->kind != SMAPS_HEAP;
}

/*
 * Splits resident pages of one mapping among the classes. *rest is what belongs
 * to the mapping itself.
 */
static void split_run(
    struct reading *r, const struct smaps_area *a, struct rss_range run, uint64_t *rest)
{
	while (run.start < run.end) {
		const struct rss_ranges *const layers[] = {&r->ours, &r->modules, &r->heap};
		uint64_t end = run.end;
		int found = -1;

		for (int i = 0; i < 3; i++) {
			const struct rss_range *x = range_above(layers[i], run.start);

			if (!x || x->start >= end)
				continue;
			if (x->start > run.start) {
				end = x->start;
				continue;
			}
			end = x->end < end ? x->end : end;
			found = i;
			break;
		}
		if (found == 0)
			count(r, RSS_OURS, end - run.start);
		else if (found == 1)
			count(r, RSS_MODULES, end - run.start);
		else if (found == 2)
			rss_pages_share(&r->pages, r->blocks, r->block_count,
			    (struct rss_range){run.start, end}, is_arena(r, a));
		else
			*rest += end - run.start;
		run.start = end;
	}
}

/* Bytes of [start, end) that are heap. */
static uint64_t heap_in(const struct reading *r, uint64_t start, uint64_t end)
{
	const struct rss_range *x = range_above(&r->heap, start);
	const struct rss_range *last = r->heap.at + r->heap.count;
	uint64_t sum = 0;

	for (; x && x < last && x->start < end; x++)
		sum += (x->end < end ? x->end : end) - (x->start > start ? x->start : start);
	return sum;
}

/* A mapping of several classes: page by page. */
static int split_area(struct reading *r, const struct smaps_area *a)
{
	uint64_t at = a->start, rest = 0;

	while (at < a->end) {
		const struct foreign_run *runs;
		size_t n;
		int err;

		if (clock_ns(CLOCK_MONOTONIC) > r->until_ns)
			return -ETIMEDOUT;
		err = foreign_present(r->memory, at, a->end, &runs, &n, &at, r->where);
		if (err < 0)
			return err;
		for (size_t i = 0; i < n; i++) {
			struct rss_range run = {
			    runs[i].start, runs[i].start + runs[i].pages * FOREIGN_PAGE_BYTES};

			if (runs[i].kind == FOREIGN_SWAPPED)
				r->ret->heap_swap_bytes += heap_in(r, run.start, run.end);
			else
				split_run(r, a, run, &rest);
		}
	}
	if (class_of(a) != RSS_ANONYMOUS) {
		count(r, class_of(a), rest);
		return 0;
	}
	count(r, RSS_ANONYMOUS, rest);
	return note_area(r, a, rest);
}

static int count_area(struct reading *r, const struct smaps_area *a)
{
	const struct seg_header *h = &r->process->header;

	if (r->memory && is_anonymous(a) && (a->rss > 0 || a->swap > 0) &&
	    (touches(&r->heap, a->start, a->end) || touches(&r->ours, a->start, a->end) ||
	        touches(&r->modules, a->start, a->end))) {
		uint64_t heap = heap_in(r, a->start, a->end);

		/* huge pages are not listed one by one */
		r->ret->huge_bytes +=
		    (uint64_t)((double)a->huge * ((double)heap / (double)(a->end - a->start)));
		return split_area(r, a);
	}
	if (!is_anonymous(a) &&
	    (covers(&r->ours, a->start, a->end) ||
	        (h->own_address >= a->start && h->own_address < a->end) ||
	        (h->control_address >= a->start && h->control_address < a->end))) {
		count(r, RSS_OURS, a->rss);
		return 0;
	}
	/* the data of a module that the kernel did not join with others */
	if (a->kind == SMAPS_ANONYMOUS && a->rss > 0 && covers(&r->modules, a->start, a->end)) {
		count(r, RSS_MODULES, a->rss);
		return 0;
	}
	count(r, class_of(a), a->rss);
	if (class_of(a) == RSS_ANONYMOUS)
		return note_area(r, a, a->rss);
	return 0;
}

/* Heaps of other arenas: each begins at a multiple of its size. */
static void count_arenas(struct reading *r)
{
	uint64_t last = 0;

	if (!r->ret->is_glibc)
		return;
	for (size_t i = 0; i < r->block_count; i++) {
		const struct rss_block *b = &r->blocks[i];
		const struct smaps_area *a;

		if (b->address < last || rss_pages_is_mapped(b, r->ret->page_bytes))
			continue;
		a = smaps_at(&r->smaps, b->address);
		if (!a)
			continue;
		if (a->kind == SMAPS_HEAP) {
			last = a->end;
			continue;
		}
		last = (b->address & ~(ARENA_BYTES - 1)) + ARENA_BYTES;
		r->ret->arenas += a->start <= last - ARENA_BYTES;
	}
}

static int count_all(struct reading *r)
{
	struct rss_account *ret = r->ret;
	int err = 0;

	r->pages = (struct rss_pages){.page_bytes = ret->page_bytes,
	    .is_glibc = ret->is_glibc,
	    .share_count = r->process->site_count + OWNERS};
	r->pages.shares = calloc(r->pages.share_count, sizeof(*r->pages.shares));
	if (!r->pages.shares)
		return -ENOMEM;
	for (size_t i = 0; i < r->smaps.count && err == 0; i++)
		err = count_area(r, &r->smaps.at[i]);
	if (err < 0)
		return err;
	count(r, RSS_LIVE, r->pages.live);
	count(r, RSS_ROUNDING, r->pages.rounding);
	count(r, RSS_PARTLY, r->pages.partly);
	count(r, RSS_FREE, r->pages.free);
	memcpy(ret->fills, r->pages.fills, sizeof(ret->fills));
	ret->arena_free_bytes = r->pages.arena_free;
	count_arenas(r);
	return 0;
}

/* ---- the result ---- */

static int give_sites(struct reading *r)
{
	const struct process *p = r->process;
	const struct rss_share *all = r->pages.shares;
	struct rss_account *ret = r->ret;

	ret->inherited_live = all[p->site_count + OWNER_INHERITED].live;
	ret->inherited_holds = all[p->site_count + OWNER_INHERITED].holds;
	ret->rest_live = all[p->site_count + OWNER_LATE].live;
	ret->rest_holds = all[p->site_count + OWNER_LATE].holds;
	ret->sites = calloc(p->site_count + 1, sizeof(*ret->sites));
	if (!ret->sites)
		return -ENOMEM;
	for (size_t i = 0; i < p->site_count; i++) { /* they are by id */
		if (all[i].holds == 0)
			continue;
		if (ret->site_count == RSS_SITES_MAX) {
			ret->rest_live += all[i].live;
			ret->rest_holds += all[i].holds;
			ret->is_short = true;
			continue;
		}
		ret->sites[ret->site_count++] = (struct rss_site){.id = p->sites[i].id,
		    .blocks = all[i].blocks,
		    .live = all[i].live,
		    .holds = all[i].holds,
		    .thin = all[i].thin};
	}
	return 0;
}

BY(by_bytes, struct rss_area, DOWN(bytes) ?: UP(start))

/* The largest mappings stay, and their names get memory of their own. */
static int give_areas(struct reading *r)
{
	struct rss_account *ret = r->ret;
	uint64_t least = ret->rss_bytes / 100 * LISTED_PERCENT;
	size_t kept = 0, len = 1, at = 0;

	if (ret->area_count)
		qsort(ret->areas, ret->area_count, sizeof(*ret->areas), by_bytes);
	while (kept < ret->area_count && kept < RSS_AREAS_MAX && ret->areas[kept].bytes >= least) {
		len += strnlen(ret->areas[kept].name, RSS_NAME_MAX) + 1;
		kept++;
	}
	ret->area_count = kept;
	ret->text = calloc(1, len);
	if (!ret->text)
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++) {
		struct rss_area *a = &ret->areas[i];
		size_t n = strnlen(a->name, RSS_NAME_MAX);

		memcpy(ret->text + at, a->name, n);
		a->name = ret->text + at;
		at += n + 1;
	}
	return 0;
}

static int read_total(struct reading *r)
{
	struct rss_account *ret = r->ret;
	struct smaps_sums sums;
	uint64_t sum = 0;
	size_t len;
	char *text;
	int err = foreign_text(r->process->running_pid, "smaps_rollup", &text, &len);

	if (err < 0)
		return err == -ENOENT ? -ESRCH : err;
	if (!smaps_rollup(text, &sums))
		err = -ESRCH; /* it has no memory any more */
	free(text);
	ret->rss_bytes = sums.rss;
	ret->swap_bytes = sums.swap;
	ret->hugetlb_bytes = sums.hugetlb;
	for (int i = 0; i < RSS_CLASSES; i++)
		sum = capped_sum(sum, ret->classes[i]);
	ret->moved_bytes = capped_change(ret->rss_bytes, sum);
	return err;
}

static int read_maps(struct reading *r)
{
	const uint64_t own = r->process->header.own_address;
	size_t len;
	int err = foreign_text(r->process->running_pid, "smaps", &r->text, &len);

	if (err == 0 && len == 0)
		err = -ESRCH;
	if (err == 0)
		err = smaps_parse(r->text, &r->smaps);
	/* its segment is gone: it has become another program since we have it */
	if (err == 0 && own && !smaps_at(&r->smaps, own))
		err = -ESRCH;
	return err == -ENOENT ? -ESRCH : err;
}

static bool is_mine(pid_t pid)
{
	uid_t uids[PROCFS_UIDS];
	int fd = procfs_open(pid);
	bool answer = fd >= 0 && procfs_uids_at(fd, uids) == 0 &&
	    uids[1] == geteuid(); /* the effective one */

	if (fd >= 0)
		(void)close(fd);
	return answer;
}

/*
 * A process of our own that is not dumpable shows its mappings to root alone,
 * and the sums of three kinds to everybody.
 */
static int read_sums(struct reading *r)
{
	static const struct {
		const char *name;
		enum rss_class class;
	} sums[] = {{"RssAnon", RSS_HEAP}, {"RssFile", RSS_FILES}, {"RssShmem", RSS_SHARED}};
	const pid_t pid = r->process->running_pid;
	struct rss_account *ret = r->ret;

	if (!is_mine(pid))
		return -EACCES;
	for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
		uint64_t bytes = (uint64_t)procfs_status_kib(pid, sums[i].name) * KIB;

		count(r, sums[i].class, bytes);
		ret->rss_bytes += bytes;
	}
	ret->swap_bytes = (uint64_t)procfs_status_kib(pid, "VmSwap") * KIB;
	ret->hugetlb_bytes = (uint64_t)procfs_status_kib(pid, "HugetlbPages") * KIB;
	ret->lack = RSS_NO_SMAPS;
	return ret->rss_bytes ? give_areas(r) : -ESRCH;
}

static int read_all(struct reading *r)
{
	struct rss_account *ret = r->ret;
	int err = foreign_open(r->process->running_pid, NULL, &r->memory, r->where);

	if (is_fatal(err))
		return err;
	if (err < 0) {
		r->memory = NULL;
		ret->lack = lack_of(err);
		err = 0;
	} else {
		err = read_blocks(r);
	}
	/* after the blocks, so that each of them has its mapping */
	if (err == 0)
		err = read_maps(r);
	if (err == -EACCES && !r->memory)
		return read_sums(r);
	if (err == 0 && r->memory)
		err = find_ours(r);
	if (err == 0)
		err = find_modules(r);
	if (err == 0)
		err = find_heap(r);
	if (err == 0)
		err = count_all(r);
	if (err == 0)
		err = read_total(r);
	if (err == 0)
		err = give_areas(r);
	if (err == 0 && ret->lack == RSS_SPLIT)
		err = give_sites(r);
	return err == -EPERM ? -EACCES : err;
}

/* Is it still the same process and program? Fields we may not see are equal. */
static bool is_same(pid_t pid, const struct procfs_stat *before)
{
	struct procfs_stat now;

	return procfs_stat(pid, &now) == 0 && now.start_jiffies == before->start_jiffies &&
	    now.code_start == before->code_start && now.code_end == before->code_end &&
	    now.stack_start == before->stack_start;
}

/* Since tick 0. */
static uint64_t age_of(const struct seg_header *h)
{
	return capped_difference(clock_ns(CLOCK_MONOTONIC), h->start_monotonic_ns);
}

int rss_reading_read(const struct process *p, struct rss_account *ret, struct fault *where)
{
	uint64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
	struct rss_account all = {.page_bytes = (uint32_t)getauxval(AT_PAGESZ),
	    .is_glibc = p->header.live_granule_bits == CELL_GRANULE_GLIBC,
	    .time_ns = age_of(&p->header)};
	struct reading r = {
	    .process = p, .ret = &all, .where = where, .until_ns = begin_ns + BUDGET_NS};
	struct procfs_stat before;
	int err;

	if (p->running_pid <= 0 || procfs_stat(p->running_pid, &before) < 0)
		return -ESRCH;
	err = read_all(&r);
	if (err == 0 && !is_same(p->running_pid, &before))
		err = -ESRCH;
	foreign_close(r.memory);
	smaps_release(&r.smaps);
	free(r.text);
	free(r.blocks);
	free(r.ours.at);
	free(r.modules.at);
	free(r.heap.at);
	free(r.pages.shares);
	if (err < 0) {
		rss_account_release(&all);
		return err;
	}
	all.took_ns = clock_ns(CLOCK_MONOTONIC) - begin_ns;
	*ret = all;
	return 0;
}

int rss_reading_attach(struct process *p, struct fault *where)
{
	struct rss_account r;
	int err = rss_reading_read(p, &r, where);

	if (err < 0)
		return err;
	process_drop_rss(p);
	err = process_add_rss(p, &r);
	rss_account_release(&r);
	return err;
}

const char *rss_reading_why(uint32_t lack)
{
	static const char *const words[RSS_LACKS] = {
	    [RSS_NO_RIGHT] = "the system does not let seep read the memory of this process; "
	                     "as root, or with CAP_SYS_PTRACE, it does",
	    [RSS_SAMPLED] = "only a sample of its blocks is known; record it without "
	                    "--sample",
	    [RSS_NO_MAP] = "it has no list of its blocks that this version of seep can "
	                   "read",
	    [RSS_NO_ANSWER] = "reading its memory takes too long; try again later",
	    [RSS_OTHER] = "its memory could not be read",
	    [RSS_NO_SMAPS] = "the system does not let seep see the mappings of this process "
	                     "(it is not dumpable); as root, or with CAP_SYS_PTRACE, it "
	                     "does",
	};

	return lack < RSS_LACKS && words[lack] ? words[lack] : "";
}
