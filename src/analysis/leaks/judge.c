/* judge.c - looks at a process until it is certain what is lost. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/leaks/judge.h"

#include "host/memory/foreign.h"
#include "session/process/family.h"
#include "segments/read/losses.h"
#include "segments/find/proc.h"
#include "segments/read/steady.h"
#include "kit/os/clock.h"
#include "kit/data/sorted.h"
#include "host/memory/threads.h"
#include "analysis/leaks/look.h"
#include "analysis/leaks/owned.h"
#include "analysis/types/survey.h"

enum {
	MEMORY_LEAST = 64 << 20,
	STOPS_MAX = 10, /* see stop_threads() */
	STOP_REST_NS = 2000000,
};

struct judge {
	const struct process *process;
	pid_t pid;
	struct judge_options o;
	struct looks *looks;
	struct foreign *guard; /* tells whether it is still this program */
	struct halt *halt;
	struct look_seen seen; /* the last look */
	struct heap *heap;     /* of that, if it is wanted */
	struct judge_about about;
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
	int err;
};

/* By default a quarter of what the machine has left. */
uint64_t judge_memory(uint64_t asked)
{
	FILE *f = fopen("/proc/meminfo", "re");
	uint64_t bytes = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "MemAvailable:", 13) == 0)
			bytes = strtoull(line + 13, NULL, 10) * 1024;
	if (f)
		(void)fclose(f);
	if (asked)
		return asked;
	return bytes / 4 > MEMORY_LEAST ? bytes / 4 : MEMORY_LEAST;
}

/*
 * From now on an exec, or the end of the process, is noticed. It may have become
 * another program since its segment was read, so that is looked at once more.
 */
static int open_guard(struct judge *j)
{
	struct seg_header now;
	struct segfile *f;
	char path[4096];
	int slot, err;

	err = foreign_open(j->pid, NULL, &j->guard, &j->about.why);
	if (err < 0)
		return err;
	if (forked_is(&j->process->header))
		return forked_lacks_segment(j->pid) ? 0 : -ESRCH;
	err = proc_open(j->pid, &f, &slot, path, &j->about.why);
	if (err < 0)
		return err == -EACCES ? -EPERM : err == -ENXIO ? -ESRCH : err;
	err = segfile_header(f, slot, &now, &j->about.why);
	segfile_close(f);
	if (err == 0 && memcmp(now.uuid, j->process->header.uuid, sizeof(now.uuid)) != 0)
		err = -ESRCH;
	if (err == -ESRCH)
		j->about.why.text[0] = '\0';
	return err;
}

int judge_new(const struct process *p, pid_t pid, const struct judge_options *o, struct judge **ret)
{
	struct judge *j = calloc(1, sizeof(*j));
	uint64_t tick = ticks_now(&p->header);
	int err;

	if (!j)
		return -ENOMEM;
	j->process = p;
	j->pid = pid;
	j->o = *o;
	if (o->at_end || o->born_before)
		tick = o->at_end ? UINT32_MAX : o->born_before;
	j->o.max_bytes = judge_memory(o->max_bytes);
	err = looks_new(tick < UINT32_MAX ? (uint32_t)tick : UINT32_MAX, &j->looks);
	if (err < 0) {
		judge_free(j);
		return err;
	}
	*ret = j;
	return 0;
}

void judge_free(struct judge *j)
{
	if (!j)
		return;
	looks_free(j->looks);
	foreign_close(j->guard);
	heap_free(j->heap);
	free(j);
}

struct heap *judge_detach_heap(struct judge *j)
{
	struct heap *h = j->heap;

	j->heap = NULL;
	return h;
}

uint64_t judge_max_bytes(const struct judge *j)
{
	return j->o.max_bytes;
}

/* ---- looking -------------------------------------------------------------- */

/* Allocations that the live map does not have. */
bool judge_lacks_blocks(const struct seg_header *h)
{
	static const enum seg_count missing[] = {SEG_LOST_EVENTS, SEG_EARLY_EVENTS, SEG_EVENTS_OFF,
	    SEG_SPILL_FULL, SEG_PAUSED_EVENTS, SEG_UNTRACKED_FREES, SEG_UNKNOWN_FREES,
	    SEG_DEEPBIND_LOADS, SEG_MALLOC_BEFORE, SEG_NAMESPACES, SEG_OWN_NAMES};

	if (h->sample_bytes || h->mode != SEG_MODE_ON)
		return true;
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (h->counts[missing[i]])
			return true;
	return losses_is_own(h->inert_reason);
}

/* Frees that it has not seen: what they freed looks lost. */
static bool lacks_frees(const struct seg_header *h)
{
	return h->counts[SEG_MISSED_FREES] || h->counts[SEG_LOST_FREES] ||
	    h->counts[SEG_DEEPBIND_LOADS] || h->counts[SEG_MALLOC_BEFORE] ||
	    h->counts[SEG_OWN_NAMES] || losses_is_own(h->inert_reason);
}

/* The threads run again while the rest is done in our memory. */
static void go_on(void *context)
{
	struct judge *j = context;
	uint64_t ns = halt_end(j->halt);

	j->halt = NULL;
	if (ns > j->about.pause_ns)
		j->about.pause_ns = ns;
}

static int look_once(struct judge *j, const struct threads_stop *stop)
{
	const struct look_options o = {.max_bytes = j->o.max_bytes,
	    .with_swapped = j->o.with_swapped,
	    .heads_only = judge_lacks_blocks(&j->process->header),
	    .skip_dead = j->o.at_end,
	    .stop = stop,
	    .is_waiting = j->o.is_waiting,
	    .read_done = stop ? go_on : NULL,
	    .context = j,
	    .notes = j->o.notes,
	    .process = j->process};
	struct heap *heap;
	int err;

	heap_free(judge_detach_heap(j));
	if (j->o.notes) {
		j->o.notes->max_bytes = j->o.max_bytes / 4;
		root_notes_release(j->o.notes);
	}
	err = look_take(j->pid, &j->process->header, &o, &heap, &j->seen, &j->about.why);
	if (err < 0)
		return err;
	err = foreign_is_same(j->guard) ? looks_add(j->looks, heap) : -ESRCH;
	if (err == 0 && j->o.notes)
		j->heap = heap;
	else
		heap_free(heap);
	return err;
}

/*
 * A thread that is stopped inside of realloc may be anywhere in it: the block
 * may have been copied already, to an address that nobody knows. So they go on
 * for a moment and are stopped again. If that does not help, there are several
 * looks: see judge_is_certain().
 */
static int stop_threads(struct judge *j)
{
	const struct timespec rest = {.tv_nsec = STOP_REST_NS};
	struct moving m = {0};
	int err = 0;

	for (int i = 0; i < STOPS_MAX && err == 0; i++) {
		if (j->halt) {
			go_on(j);
			(void)nanosleep(&rest, NULL);
		}
		err = halt_begin(j->pid, &j->halt, &j->about.why);
		if (err == 0)
			err = moving_blocks_read(j->guard, &j->process->header, &m, &j->about.why);
		if (!moving_blocks_any(&m))
			break;
	}
	moving_blocks_release(&m);
	if (err < 0 && j->halt)
		go_on(j);
	return err;
}

int judge_look(struct judge *j)
{
	if (j->err < 0)
		return j->err;
	if (!j->guard) {
		j->begin_ns = clock_ns(CLOCK_MONOTONIC);
		j->err = open_guard(j);
		if (j->err < 0)
			return j->err;
	}
	if (j->o.stop)
		j->err = stop_threads(j);
	if (j->err < 0)
		return j->err;
	j->about.threads = j->halt ? halt_stop(j->halt)->count : 0;
	j->err = look_once(j, j->halt ? halt_stop(j->halt) : NULL);
	j->end_ns = clock_ns(CLOCK_MONOTONIC);
	return j->err;
}

bool judge_is_certain(const struct judge *j)
{
	if (j->o.stop)
		return !j->seen.is_moving || looks_count(j->looks) >= LOOKS_MIN;
	return looks_are_enough(j->looks);
}

/* ---- the verdict ---------------------------------------------------------- */

uint32_t judge_reason(int err, const struct seg_header *h)
{
	switch (err) {
	case -ESRCH:
		return VERDICT_ENDED;
	case -EPERM:
	case -EACCES:
		return VERDICT_NO_RIGHT;
	case -ENOTSUP:
		return h->live_cell_version < 2 && h->live_root ? VERDICT_OLD_CELLS
		                                                : VERDICT_NO_LIVE_MAP;
	case -E2BIG:
		return VERDICT_TOO_LARGE;
	case -ETIMEDOUT:
		return VERDICT_NO_ANSWER;
	default:
		return VERDICT_FAILED;
	}
}

static uint32_t reason_of(const struct judge *j)
{
	if (j->err == 0)
		return looks_count(j->looks) ? VERDICT_JUDGED : VERDICT_ENDED;
	return judge_reason(j->err, &j->process->header);
}

/* Sites with equal stacks are one: the process has its lowest id. */
static uint32_t id_of(const struct process *p, uint32_t site, const struct process_site **ret)
{
	const struct process_id *id = process_find_id(p, site);

	*ret = id ? &p->sites[id->site] : NULL;
	return id ? p->sites[id->site].id : site;
}

/* Is code of its stack no longer loaded? */
static bool is_unloaded(const struct process *p, const struct process_site *site)
{
	uint64_t frames[64];
	uint32_t flags;
	size_t n;

	if (!site || !p->stacks)
		return false;
	n = stacks_frames(p->stacks, site->stack, frames, 64, &flags);
	for (size_t i = 0; i < n; i++) {
		const struct process_module *m = process_module(p, frames[i]);

		if (m && m->is_gone)
			return true;
	}
	return false;
}

/* Adds b's figures to a, which is of the same site and class. */
static void join(struct verdict_site *a, const struct verdict_site *b)
{
	a->notes |= b->notes;
	if (a->first_birth > b->first_birth)
		a->first_birth = b->first_birth;
	if (a->last_birth < b->last_birth)
		a->last_birth = b->last_birth;
	a->blocks += b->blocks;
	a->bytes += b->bytes;
	a->direct_blocks += b->direct_blocks;
	a->direct_bytes += b->direct_bytes;
	a->cycle_blocks += b->cycle_blocks;
	a->cycle_bytes += b->cycle_bytes;
	a->indirect_blocks += b->indirect_blocks;
	a->indirect_bytes += b->indirect_bytes;
	a->held_again += b->held_again;
	a->freed_late += b->freed_late;
	if (!a->type)
		a->type = b->type;
}

BY(by_site_and_class, struct verdict_site, UP(site) ?: UP(class))

/* LEAK before POSSIBLE, the largest first. */
BY(by_weight, struct verdict_site, UP(class) ?: DOWN(bytes) ?: DOWN(blocks) ?: UP(site))

/* What makes all that is lost POSSIBLE, in this process and these looks. */
static uint32_t doubts(const struct judge *j, bool proof)
{
	const struct look_seen *s = &j->seen;
	uint32_t notes = 0;

	if (s->swapped_bytes || s->unreadable_bytes || s->device_bytes || s->ring_bytes)
		notes |= VERDICT_UNREAD;
	if (lacks_frees(&j->process->header))
		notes |= VERDICT_UNSEEN_FREES;
	if (looks_count(j->looks) < 2 && !proof && !j->o.stop)
		notes |= VERDICT_ONE_LOOK;
	return notes;
}

static struct verdict_site lost_of(
    const struct judge *j, const struct looks_site *s, uint32_t doubt)
{
	struct verdict_site v = {.site = s->site,
	    .class = VERDICT_LEAK,
	    .first_birth = s->first_birth,
	    .last_birth = s->last_birth,
	    .blocks = s->blocks,
	    .bytes = s->bytes,
	    .direct_blocks = s->direct + s->cycle,
	    .direct_bytes = s->direct_bytes + s->cycle_bytes,
	    .cycle_blocks = s->cycle,
	    .cycle_bytes = s->cycle_bytes,
	    .indirect_blocks = s->indirect,
	    .indirect_bytes = s->indirect_bytes,
	    .held_again = s->held_again,
	    .freed_late = s->freed_late,
	    .notes = doubt};

	if (s->moves)
		v.notes |= VERDICT_MOVES;
	if (s->hides)
		v.notes |= VERDICT_HIDES;
	/* pointers of the parent may be in what the child never touched */
	if (s->site < j->process->header.first_id && j->seen.unseen_shared_bytes)
		v.notes |= VERDICT_UNREAD;
	if (v.notes)
		v.class = VERDICT_POSSIBLE;
	return v;
}

static struct verdict_site possible_of(const struct looks_site *s)
{
	struct verdict_site v = {.site = s->site,
	    .class = VERDICT_POSSIBLE,
	    .first_birth = s->possible_first_birth,
	    .last_birth = s->possible_last_birth,
	    .blocks = s->possible_blocks,
	    .bytes = s->possible_bytes};

	if (s->weak & 1u << HEAP_PAST_END)
		v.notes |= VERDICT_PAST_END;
	if (s->weak & 1u << HEAP_MISALIGNED)
		v.notes |= VERDICT_MISALIGNED;
	if (s->weak & 1u << HEAP_BELOW_SP)
		v.notes |= VERDICT_BELOW_SP;
	return v;
}

/* A place that was seen to hide pointers, and has no block that seems lost. */
static struct verdict_site hidden_of(const struct looks_site *s)
{
	return (struct verdict_site){.site = s->site,
	    .class = VERDICT_POSSIBLE,
	    .held_again = s->held_again,
	    .freed_late = s->freed_late,
	    .notes = VERDICT_HIDES};
}

static size_t fill_sites(struct judge *j, bool proof, const struct looks_site *list, size_t count,
    const struct types *types, struct verdict_site *to)
{
	uint32_t doubt = doubts(j, proof);
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < count; i++) {
		if (list[i].blocks)
			to[n++] = lost_of(j, &list[i], doubt);
		else if (list[i].hides)
			to[n++] = hidden_of(&list[i]);
		if (list[i].possible_blocks)
			to[n++] = possible_of(&list[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const struct process_site *site;

		if (to[i].direct_blocks > 0)
			to[i].type = types_of(types, to[i].site);
		to[i].site = id_of(j->process, to[i].site, &site);
		/* why it is POSSIBLE comes first; these say more about it */
		if (is_unloaded(j->process, site))
			to[i].notes |= VERDICT_UNLOADED;
		if (j->seen.heads_only)
			to[i].notes |= VERDICT_HEADS_ONLY;
	}
	qsort(to, n, sizeof(*to), by_site_and_class);
	for (size_t i = 0; i < n; i++) {
		if (kept && by_site_and_class(&to[kept - 1], &to[i]) == 0)
			join(&to[kept - 1], &to[i]);
		else
			to[kept++] = to[i];
	}
	qsort(to, kept, sizeof(*to), by_weight);
	return kept;
}

static uint64_t since_start(const struct judge *j, uint64_t ns)
{
	uint64_t start = j->process->header.start_monotonic_ns;

	return ns > start ? ns - start : 0;
}

int judge_finish(struct judge *j, bool proof, struct verdicts *ret, struct judge_about *ret_about)
{
	struct looks_site *list = NULL;
	struct types types = {0};
	size_t count = 0;
	int err;

	*ret = (struct verdicts){.reason = reason_of(j),
	    .looks = (uint32_t)looks_count(j->looks),
	    .stopped = j->o.stop,
	    .begin_ns = since_start(j, j->begin_ns),
	    .end_ns = since_start(j, j->end_ns),
	    .blocks = j->seen.blocks,
	    .bytes = j->seen.bytes,
	    .refused_blocks = j->seen.refused_blocks,
	    .heads_only = j->seen.heads_only,
	    .ignored_blocks = j->seen.ignored_blocks,
	    .ignored_bytes = j->seen.ignored_bytes,
	    .swapped_bytes = j->seen.swapped_bytes,
	    .unreadable_bytes = j->seen.unreadable_bytes,
	    .device_bytes = j->seen.device_bytes,
	    .ring_bytes = j->seen.ring_bytes};
	j->about.read_bytes = j->seen.read_bytes;
	if (ret_about)
		*ret_about = j->about;
	if (ret->reason != VERDICT_JUDGED)
		return 0;
	err = looks_sites(j->looks, &list, &count);
	if (err == 0)
		err = types_read(j->pid, j->looks, &types);
	if (err == 0) {
		ret->sites = calloc(2 * count + 1, sizeof(*ret->sites));
		if (!ret->sites)
			err = -ENOMEM;
	}
	if (err == 0)
		ret->count = fill_sites(j, proof, list, count, &types, ret->sites);
	/* the text goes with the verdicts, and what it has of the types */
	ret->text = types.text;
	types.text = NULL;
	types_release(&types);
	free(list);
	return err;
}
