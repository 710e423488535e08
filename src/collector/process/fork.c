/* fork.c - fork(): what the parent does before it, and what the child does. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/fork.h"

#include <linux/futex.h>
#include <string.h>

#include "base/sys.h"
#include "collector/segment/config.h"
#include "collector/process/early.h"
#include "collector/process/start.h"
#include "collector/segment/kernel.h"
#include "collector/heap/ledger.h"
#include "collector/lifecycle.h"
#include "collector/lifecycle_set.h"
#include "collector/log/flight.h"
#include "collector/log/log.h"
#include "collector/log/logpool.h"
#include "collector/event/mapping.h"
#include "collector/snapshot/mark.h"
#include "collector/unwind/module.h"
#include "collector/segment/loader.h"
#include "collector/stack/outer.h"
#include "collector/owner.h"
#include "collector/segment/place.h"
#include "collector/stack/nested.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/segment/slots.h"
#include "collector/snapshot/snap.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"
#include "collector/event/user_pools.h"
#include "collector/segment/mem.h"

/* ---- children that could not be recorded ---------------------------------- */

/*
 * Children that found no place for a file. The first process of a family shares
 * this word with all that fork from it. Its page belongs to no file, and no
 * medium below it can be full, so nobody can turn an access into SIGBUS.
 */
static uint64_t *without_file;
static bool is_counted; /* this process is counted there */
static bool is_first;   /* of its family: it writes the sum down */

bool fork_count_family(void)
{
	void *p =
	    sys_mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(p))
		return false;
	own_memory_add(p, CPU_PAGE, OWN_MEMORY_FOR_NOW);
	sys_madvise(p, CPU_PAGE, MADV_DONTDUMP);
	without_file = p;
	is_first = true;
	return true;
}

void fork_count_untraced(void)
{
	if (place.slots.head)
		slots_count_untraced(&place.slots);
	else if (child_file.has_early)
		child_file_stop_early(&child_file);
	else if (without_file && !is_counted)
		ADD(without_file, 1);
	is_counted = true;
}

void fork_sum_up(void)
{
	if (is_first && without_file)
		STORE(&segment.header->counts[SEG_CHILDREN_UNTRACED], LOAD(without_file));
}

static bool own_files;          /* each child has a file of its own */
static bool has_left;           /* the parent's segment; no event since then */
static uint32_t forks;          /* calls of fork() so far */
static uint32_t forks_inside;   /* calls of fork() under way inside a hook */
static struct seg_header facts; /* a private copy, for children */

void fork_decide(void)
{
	own_files = kernel.populate && !config.no_child_files && !config.is_private &&
	    (config.child_files || child_file_is_needed());
}

bool fork_has_own_files(void)
{
	return own_files;
}

void fork_remember(const struct seg_header *h)
{
	facts = *h;
}

/* ---- both sides ---------------------------------------------------------- */

/*
 * Maps the slots behind a process that has not done so, because its children
 * have files of their own. Children that fork() did not make need slots.
 */
static void map_slots(void)
{
	const struct segment_memory *m =
	    child_file.memory.head ? &child_file.memory : &segment.memory;

	if (m->head && !m->anonymous)
		slots_map_behind(&place.slots, m->extents + m->extents_bytes,
		    place.segment_bytes - segment_layout(place.segment_bytes).first -
		        m->extents_bytes);
}

/*
 * The parent's memory must be out of a child's reach before the child can
 * become another user, because a process that holds a shared mapping may take
 * its pages away. fork() calls this before the child's own code goes on. A
 * child of clone() or _Fork() comes here with its first event.
 *
 * If a signal handler interrupted a hook and forked, the hook goes on in the
 * child, too, and holds pointers into the parent's segment. They must stay
 * valid, so plain memory takes the place of the shared mapping. One event may
 * be written there.
 */
static bool leave_parent(bool inside_hook)
{
	bool done = segment_leave(inside_hook);

	child_file.has_early = false;
	done &= child_file_leave(&child_file, inside_hook);
	logpool_leave(inside_hook, !own_files);
	lifecycle_listen(NULL, false);
	has_left = true;
	return done;
}

/* ---- the first event of a child ------------------------------------------ */

/*
 * The child's pid, without getpid, for which a sandbox may kill. glibc keeps
 * the tid of each thread in its control block, and fork() renews the one of the
 * thread that called it, which need not be this thread. A raw clone renews
 * nothing. Then we take a free priority-inheritance lock, because the kernel
 * writes the owner's tid into it, and because every program with locks must be
 * allowed to call futex.
 */
static uint32_t child_pid(void)
{
	static uint32_t lock;
	uint32_t tid = thread_renewed_tid();

	if (tid || !thread_gate)
		return tid; /* 0: not known */
	lock = 0;
	if (cpu_syscall6(
	        SYS_futex, (long)&lock, FUTEX_TRYLOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0, 0, 0) != 0)
		return 0;
	return lock & FUTEX_TID_MASK; /* nobody waits, so no need to unlock */
}

static void write_header(struct seg_header *h, uint32_t first_id)
{
	h->start_monotonic_ns = tick_start(false);
	h->start_realtime_ns = tick_realtime(false);
	h->first_id = first_id;
	h->max_frames = outer_depth;
	h->mode = lifecycle_mode();
	describe_memory(h);
	unhooked_tell();
	snap_start(config.snapshots, tables_all);
	h->snapshot_limit = config.snapshots;
	snapwhen_restart(h);
}

/* Where the sums of its first events survive the child. */
static void list_child(struct seg_header *h)
{
	if (child_file.memory.head)
		early_write_page(h);
	else if (place.slots.head || !own_files)
		early_claim_line(h);
	else
		fork_count_untraced();
}

void fork_set_up_child(void)
{
	uint32_t first_id = sites_next_id();
	bool left = has_left;

	/*
	 * A hook that was under way at the fork has ended since. Both the
	 * parent and the child wrote its event into the parent's ledger.
	 */
	if (!left && thread_gate && LOAD(&thread_gate->state) != THREAD_WIPED &&
	    LOAD(&thread_gate->state) != THREAD_CROWDED)
		segment_count(SEG_FORKED_INSIDE, 1);
	/*
	 * The sandbox of a child of clone() may kill it for making a file, so
	 * such a child takes a slot of its parent's file.
	 */
	if (!left && own_files)
		map_slots();
	if ((!left && !leave_parent(true)) || !early_map_memory())
		goto inert;
	has_left = false; /* its own children have to leave it, in turn */
	is_counted = is_first = false;
	place.slots.preparing = 0; /* the thread that did it is not here */
	describe_child(segment.header, &facts, child_pid(), LOAD(&forks));
	facts = *segment.header; /* its own children take over from it */
	facts.first_id = first_id;
	early_begin();
	log_restart();
	write_header(segment.header, first_id);
	if (!module_restart() || !sites_init(first_id) || !ledger_init(first_id) || !mark_init() ||
	    !user_pools_init(first_id) || !mapping_init(first_id))
		goto inert;
	list_child(segment.header);
	thread_slow_down(lifecycle_is_early);
	thread_restart();
	thread_make_ready(lifecycle_mode());
	segment.header->state = SEG_ALIVE;
	STORE_RELEASE(&segment.header->magic, SEG_MAGIC);
	return;
inert:
	lifecycle_go_inert();
	early_close(); /* tables may be the parent's, whose memory is gone */
	lifecycle_set_mode(SEG_MODE_OFF);
	fork_count_untraced();
}

/* ---- handlers of fork() -------------------------------------------------- */

/*
 * A process that can no longer change its user shares the rest of its file with
 * its children from now on, because they are the same user.
 */
static bool still_needs_own_files(void)
{
	if (config.child_files || child_file_is_needed()) {
		child_file_before_fork(facts.pid, &segment.header->child_files);
		fork_sum_up();
		return true;
	}
	map_slots();
	return false;
}

static void before_fork(void)
{
	CPU_CALLER(c);

	if (!lifecycle_started())
		return;
	ADD(&forks, 1);
	/*
	 * A child that forks before its first event would leave its own empty
	 * file to its children, all of which would write there.
	 */
	if (child_file.memory.head && has_left && !lifecycle_running())
		return;
	/* a signal handler that interrupted one of our hooks may call fork() */
	if (nested_inside_hook(thread_self, &c))
		ADD(&forks_inside, 1);
	if (own_files)
		own_files = still_needs_own_files();
	if (config.is_private)
		segment_count(SEG_PRIVATE_FORKS, 1);
	if (!own_files && lifecycle_is_on())
		slots_prepare(&place.slots);
}

static void after_fork_in_parent(void)
{
	CPU_CALLER(c);

	if (lifecycle_started() && nested_inside_hook(thread_self, &c))
		ADD(&forks_inside, (uint32_t)-1);
}

/* A file that the child shares with nobody, before its own code goes on. */
static void make_child_file(void)
{
	slots_unmap(&place.slots);
	if (child_file_make(&child_file, facts.pid, early_layout(), &place.slots))
		place.segment_bytes = child_file.bytes;
}

static void after_fork_in_child(void)
{
	/* the first event may come from a thread that this one starts */
	owner_note_fork();
	if (!kernel.wipe) { /* before Linux 4.14 */
		lifecycle_wipe();
		if (thread_gate && thread_gate->state != THREAD_CROWDED)
			thread_gate->state = THREAD_WIPED;
	}
	/* another handler that ran before ours may have allocated already */
	if (lifecycle_is_set_up())
		return;
	if (!has_left && place.memory.head) {
		leave_parent(LOAD(&forks_inside) != 0);
		if (own_files)
			make_child_file();
		else if ((log_is_on || flight_is_on) && place.slots.spare.head)
			logpool_prepare(place.slots.spare_slot);
	}
	forks_inside = 0;
}

bool fork_watch(void)
{
	int (*reg)(void (*)(void), void (*)(void), void (*)(void), void *);
	void *sym = loader_symbol("__register_atfork");

	if (!sym)
		return kernel.wipe;
	memcpy(&reg, &sym, sizeof(reg));
	return reg(before_fork, after_fork_in_parent, after_fork_in_child, NULL) == 0 ||
	    kernel.wipe;
}
