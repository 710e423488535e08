/* lifecycle.c - start, fork, control and exit: the only file that knows the
 * order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/lifecycle.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/fmt.h"
#include "base/hash.h"
#include "base/sys.h"
#include "collector/config.h"
#include "collector/cradle.h"
#include "collector/exit_wait.h"
#include "collector/hook.h"
#include "collector/ignored.h"
#include "collector/ledger.h"
#include "collector/live.h"
#include "collector/mark.h"
#include "collector/mem.h"
#include "collector/ours.h"
#include "collector/outer.h"
#include "collector/plain.h"
#include "collector/module.h"
#include "collector/next.h"
#include "collector/noplace.h"
#include "collector/place.h"
#include "collector/recorder.h"
#include "collector/rules.h"
#include "collector/sample.h"
#include "collector/segment.h"
#include "collector/sites.h"
#include "collector/slots.h"
#include "collector/snap.h"
#include "collector/snapfile.h"
#include "collector/snapwhen.h"
#include "collector/spaces.h"
#include "collector/spill.h"
#include "collector/symbol.h"
#include "collector/thread.h"
#include "collector/tick.h"
#include "collector/user.h"
#include "collector/walk.h"

/*
 * The word that a fork wipes: alone in its page, MADV_WIPEONFORK. Zero in a
 * process that was started means: a forked child, not yet set up. No pid is
 * compared anywhere, and vfork children count as their parent, because they
 * are: they share its memory.
 */
enum proc_word {
	PROC_WIPED = 0,
	PROC_RUNNING = 0x5eed0001,
	PROC_SETTING_UP = 0x5eed0002, /* by one thread; others pass by */
};

enum {
	NURSERY_EVENTS = 64,
	DEPTH_MIN = SEG_INNER_FRAMES + 2,
	SPINS = 1 << 22, /* a tenth of a second or two, at most */
	NURSERY_BYTES =
	    64 << 10, /* allocated in them; or it is no small child */
	CHILD_BYTES = 256 << 10, /* of plain memory: ample for 64 events */
	CHILD_FILE_BYTES = 8 << 20,
	BUDGET_BYTES = 256 << 20,
	SCAN_BLOCKS_PER_LOOK = 4096,
	SCAN_NS = 50000000,
	ARGC_MAX = 1 << 20,
};

extern const char *gnu_get_libc_version(void) SEEP_WEAK;
extern char **environ SEEP_WEAK;
extern void __asan_init(void) SEEP_WEAK;
extern void __tsan_init(void) SEEP_WEAK;
extern void __msan_init(void) SEEP_WEAK;

static uint32_t *proc; /* enum proc_word, and INSIDE; NULL: not started */
static bool inert;     /* declined, or given up after a fault */
static uint32_t mode;  /* enum seg_mode */
static bool was_off;
static struct place place;
static uint32_t no_command; /* before there is a word, and in nurseries */
static struct place_kernel kernel;
static uint32_t starting; /* 1: it has begun, in whatever way it will end */
static uint64_t early_events;
static char exe[PLACE_PATH_BYTES];

/*
 * A forked child's first events are kept in plain memory, and their sums in a
 * line of its ancestor's file, which survives whatever ends the child.
 */
static bool nursery;
static uint32_t nursery_events;
static struct seg_early *early; /* NULL: none was free */

/*
 * Can children become other users? Then each has a file of its own, and what
 * its first events sum up to is on the card there.
 */
static bool apart;
static struct cradle cradle;
static bool has_card;

/*
 * Children that found no place for a file: a word that the first of a family
 * has in common with all that fork from it. Its page is of no file and has no
 * medium that could be full, so that nobody can turn an access into SIGBUS.
 */
static uint64_t *homeless;
static bool is_homeless;    /* counted there */
static bool is_first;       /* of its family: it writes the sum down */
static bool has_left;       /* the parent's segment; no event has come since */
static uint64_t setting_up; /* thread pointer of who does it */

const uint32_t *lifecycle_command SEEP_HOT = &no_command;
uint32_t lifecycle_obeyed SEEP_HOT;

bool
lifecycle_started(void)
{
	return proc && !inert;
}

bool
lifecycle_is_on(void)
{
	return mode == SEG_MODE_ON || mode == SEG_MODE_SAMPLED;
}

enum seg_mode
lifecycle_mode(void)
{
	return (enum seg_mode)LOAD(&mode);
}

bool
lifecycle_was_off(void)
{
	return was_off;
}

bool
lifecycle_in_nursery(void)
{
	return nursery;
}

void
lifecycle_passed_by(void)
{
	/* perhaps before our own relocation: segment.header is not set yet */
	if (!proc) {
		ADD(&early_events, 1);
		recorder_unseen();
	} else if (!inert) {
		recorder_passed_by(
		    lifecycle_is_on() ? SEG_LOST_EVENTS : SEG_EVENTS_OFF);
	}
}

/* ---- the control word ---------------------------------------------------- */

static void
obey(uint32_t command)
{
	STORE(&lifecycle_obeyed, command);
	if (command != SEG_MODE_ON && command != SEG_MODE_OFF) {
		/* the answer to a process that ends is no command */
		if (command && !(command & SEG_CTL_EXIT))
			segment_count(SEG_CTL_IGNORED, 1);
		return;
	}
	if (command == SEG_MODE_ON && sample_rate())
		command = SEG_MODE_SAMPLED;
	if (command == SEG_MODE_OFF)
		was_off = true;
	STORE(&mode, command);
	STORE(&segment.header->mode, command);
}

static void try_to_leave_nursery(uint32_t own, bool at_exit);

/* Writes the sums of a child's first events where they survive it. */
SEEP_COLD static struct ledger_sums
note_early(void)
{
	struct ledger_sums sums = ledger_sums();

	if (early) {
		STORE(&early->allocations, sums.allocations);
		STORE(&early->allocated_bytes, sums.allocated_bytes);
		STORE(&early->frees, sums.frees);
		STORE(&early->freed_bytes, sums.freed_bytes);
		STORE(&early->peak_bytes, segment.header->peak_bytes);
	}
	if (has_card)
		cradle_update_card(&cradle, &sums, segment.header->peak_bytes);
	return sums;
}

/* Has a forked child done enough to be worth a segment of its own? */
SEEP_COLD static bool
is_grown_up(void)
{
	return note_early().allocated_bytes >= NURSERY_BYTES ||
	    ++nursery_events >= NURSERY_EVENTS;
}

bool
lifecycle_poll(void)
{
	uint32_t command = LOAD(lifecycle_command);

	if (unlikely(command != lifecycle_obeyed))
		obey(command);
	if (unlikely(nursery) && is_grown_up())
		try_to_leave_nursery(
		    thread_self ? thread_self->counted : 1, false);
	if (unlikely(snapwhen_active) && lifecycle_is_on())
		snapwhen_poll();
	return lifecycle_is_on();
}

/* ---- fork ---------------------------------------------------------------- */

/*
 * The child's pid without getpid, for which a sandbox may kill. glibc keeps
 * the tid of a thread in its control block, and fork() renews it there: in
 * the block of the thread that forked, whoever is here first. After a raw
 * clone nothing is renewed; then the kernel tells it by the way: taking a
 * free priority-inheritance lock writes the owner's tid into it, and futex is
 * a call that every program with locks must be allowed.
 */
static uint32_t
child_pid(void)
{
	static uint32_t lock;
	uint32_t tid = thread_renewed_tid();

	if (tid || !thread_gate)
		return tid; /* 0: not known */
	lock = 0;
	if (cpu_syscall6(SYS_futex, (long)&lock,
	        FUTEX_TRYLOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0, 0, 0) != 0)
		return 0;
	return lock & FUTEX_TID_MASK; /* uncontended: nothing to unlock */
}

static void
child_header(
    struct seg_header *h, const struct seg_header *parent, uint32_t pid)
{
	uint64_t mix = hash_mix(cpu_thread_pointer() ^ cpu_cycles(), pid);
	int i;

	/* facts of before the fork, from private memory */
	memcpy(h->parent_uuid, parent->uuid, 16);
	for (i = 0; i < 16; i++) {
		mix = hash_mix(mix, parent->uuid[i] + (uint64_t)i);
		h->uuid[i] = (uint8_t)(mix >> 40);
	}
	memcpy(h->boot_id, parent->boot_id, sizeof(h->boot_id));
	memcpy(h->session, parent->session, sizeof(h->session));
	memcpy(h->exe, parent->exe, sizeof(h->exe));
	memcpy(h->start_dir, parent->start_dir, sizeof(h->start_dir));
	memcpy(h->command, parent->command, sizeof(h->command));
	h->command_truncated = parent->command_truncated;
	h->pid_ns = parent->pid_ns;
	h->sequence = parent->sequence + 1;
	h->ppid = parent->pid;
	h->pid = pid;
	h->medium = parent->medium;
	h->sample_bytes = parent->sample_bytes;
}

static void
describe_memory(struct seg_header *h)
{
	h->live_root = (uint64_t)(uintptr_t)live_root;
	h->live_root_bits = CELL_ROOT_BITS;
	h->live_mid_bits = CELL_MID_BITS;
	h->live_leaf_bits = CELL_LEAF_BITS;
	h->live_granule_bits = (uint8_t)live_granule_bits;
	h->live_cell_version = CELL_VERSION;
	h->spill_root = (uint64_t)(uintptr_t)spill_levels;
	h->ignored_root = (uint64_t)(uintptr_t)ignored_levels;
	h->ours_table = (uint64_t)(uintptr_t)ours_table;
	h->ours_entries = OURS_MAX;
	h->control_address = (uint64_t)(uintptr_t)place.control;
}

/* A private copy of the facts that a child takes over from its parent. */
static struct seg_header facts;

/*
 * What the parent relies on must be out of a child's reach before the child can
 * become another user: whoever holds a shared mapping may take its pages away.
 * fork() calls this before the child's code goes on; a child of clone() or
 * _Fork() comes here with its first event.
 *
 * A hook that was interrupted by the handler which forked us will go on after
 * it, with pointers into the parent's segment. They must stay valid: plain
 * memory takes the place of the shared mapping then. What lands there is one
 * event.
 */
static bool
leave_parent(bool inside_hook)
{
	bool done = segment_leave(inside_hook);

	has_card = false;
	done &= cradle_leave(&cradle, inside_hook);
	lifecycle_command = &no_command;
	lifecycle_obeyed = 0;
	has_left = true;
	return done;
}

/* The layout of a child's segment, in plain memory, slot or file. */
static uint64_t
child_layout(void)
{
	return place.slots.count ? place.slots.large_bytes : CHILD_FILE_BYTES;
}

static bool
start_nursery(void)
{
	struct segment_memory m;
	uint8_t *p;

	if (config.is_private)
		return segment_map_private(&m, place.segment_bytes) &&
		    segment_init(
		        &m, place.segment_bytes, place.segment_bytes, false);
	p = sys_mmap(NULL, CHILD_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_failed(p))
		return false;
	ours_add(p, CHILD_BYTES, OURS_FOR_NOW);
	sys_madvise(p, CHILD_BYTES, MADV_DONTDUMP);
	if (!segment_init_plain(p, CHILD_BYTES, child_layout()))
		return false;
	segment.populate = kernel.populate; /* for the slot to come */
	return true;
}

static void
begin_early(const struct seg_header *h)
{
	early = slots_claim_early(&place.slots);
	if (!early) {
		slots_count_unlisted(&place.slots, 1);
		return;
	}
	early->pid = h->pid;
	early->ppid = h->ppid;
	early->sequence = (uint32_t)h->sequence;
	STORE_RELEASE(&early->start_monotonic_ns, h->start_monotonic_ns);
}

/*
 * The slots behind a process that has not mapped them: its children have files
 * of their own, but for those that fork() has not made.
 */
static void
map_slots(void)
{
	const struct segment_memory *m =
	    cradle.memory.head ? &cradle.memory : &segment.memory;

	if (m->head && !m->anonymous)
		slots_map_behind(&place.slots, m->extents + m->extents_bytes,
		    place.segment_bytes -
		        segment_layout(place.segment_bytes).first -
		        m->extents_bytes);
}

/* The slots of a process that lives in its cradle begin behind it. */
static void
describe_slots(struct seg_header *h, uint64_t segment_bytes)
{
	if (!place.slots.count)
		return;
	h->slots_offset = segment_bytes;
	h->slot_bytes = place.slots.large_bytes;
	h->slot_count = place.slots.count;
}

static void
count_untraced(void)
{
	if (place.slots.head)
		slots_count_untraced(&place.slots);
	else if (has_card)
		cradle_stop_card(&cradle);
	else if (homeless && !is_homeless)
		ADD(homeless, 1);
	is_homeless = true;
}

static void
sum_up_homeless(void)
{
	if (is_first && homeless)
		STORE(&segment.header->counts[SEG_CHILDREN_UNTRACED],
		    LOAD(homeless));
}

/* False: children could fail to make their files without a word. */
static bool
start_family(void)
{
	void *p = sys_mmap(NULL, CPU_PAGE, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sys_failed(p))
		return false;
	ours_add(p, CPU_PAGE, OURS_FOR_NOW);
	sys_madvise(p, CPU_PAGE, MADV_DONTDUMP);
	homeless = p;
	is_first = true;
	return true;
}

static void
begin_card(struct seg_header *h)
{
	h->slot_index = cradle.word;
	describe_slots(h, cradle.bytes);
	cradle_write_card(&cradle, h);
	has_card = true;
}

static void
set_up_child(void)
{
	uint32_t first_id = sites_next_id();
	bool left = has_left;

	/*
	 * A hook that was under way at the fork has come to its end since: its
	 * event went into the parent's ledger, by the parent and by us.
	 */
	if (!left && thread_gate && LOAD(&thread_gate->state) != THREAD_WIPED &&
	    LOAD(&thread_gate->state) != THREAD_CROWDED)
		segment_count(SEG_FORKED_INSIDE, 1);
	/*
	 * No file can be made here: the sandbox of a child of clone() may kill
	 * for that. It takes a slot of its parent's file.
	 */
	if (!left && apart)
		map_slots();
	if ((!left && !leave_parent(true)) || !start_nursery())
		goto quiet;
	has_left = false; /* its own children have to leave it, in turn */
	is_homeless = is_first = false;
	place.slots.preparing = 0; /* whoever did that is not here */
	child_header(segment.header, &facts, child_pid());
	facts = *segment.header; /* its own children take over from it */
	nursery = !config.is_private;
	nursery_events = 0;
	segment.header->start_monotonic_ns = tick_start(false);
	segment.header->start_realtime_ns = tick_realtime(false);
	segment.header->first_id = first_id;
	segment.header->max_frames = outer_depth;
	segment.header->mode = mode;
	describe_memory(segment.header);
	spaces_tell();
	snap_start(config.snapshots);
	segment.header->snapshot_limit = config.snapshots;
	snapwhen_restart(segment.header);
	if (!module_restart() || !sites_init(first_id) ||
	    !ledger_init(first_id) || !mark_init() || !user_init(first_id))
		goto quiet;
	if (cradle.memory.head)
		begin_card(segment.header);
	else if (place.slots.head || !apart)
		begin_early(segment.header);
	else
		count_untraced();
	thread_slow_down(nursery);
	thread_restart();
	thread_make_ready(lifecycle_mode());
	segment.header->state = SEG_ALIVE;
	STORE_RELEASE(&segment.header->magic, SEG_MAGIC);
	return;
quiet:
	inert = true;
	nursery = false; /* tables may be the parent's, whose memory is gone */
	mode = SEG_MODE_OFF;
	count_untraced();
}

/*
 * Two threads of a fresh child may come at once. The second waits, but not
 * for ever: a handler that interrupted the set-up would wait for itself, and
 * the first may have been killed. Then the event passes by, counted.
 */
SEEP_COLD static bool
wait_for_set_up(void)
{
	int i;

	for (i = 0; i < SPINS && LOAD(proc) == PROC_SETTING_UP &&
	     LOAD(&setting_up) != cpu_thread_pointer();
	     i++)
		cpu_pause();
	return LOAD_ACQUIRE(proc) == PROC_RUNNING && !inert;
}

SEEP_COLD static bool
set_up_once(void)
{
	uint32_t wiped = PROC_WIPED;

	if (!CAS(proc, &wiped, PROC_SETTING_UP))
		return wait_for_set_up();
	STORE(&setting_up, cpu_thread_pointer());
	set_up_child();
	STORE_RELEASE(proc, PROC_RUNNING);
	return !inert;
}

static void start_at_first_event(void);

bool
lifecycle_running(void)
{
	uint32_t word;

	if (unlikely(!proc))
		start_at_first_event();
	if (!proc || inert)
		return false;
	word = LOAD_ACQUIRE(proc);
	if (likely(word == PROC_RUNNING))
		return true;
	return word == PROC_WIPED ? set_up_once() : wait_for_set_up();
}

enum { LEDGER_TABLES = SEG_ARRAYS * 3 + 3, TABLES_MAX = LEDGER_TABLES + 8 };
_Static_assert(TABLES_MAX <= (int)SNAP_TABLES, "a snapshot takes them all");

size_t
lifecycle_tables(struct segment_table **ret)
{
	size_t n = ledger_tables(ret, LEDGER_TABLES);

	ret[n++] = &module_table;
	ret[n++] = &module_strings;
	ret[n++] = &sites_tables[0];
	ret[n++] = &sites_tables[1];
	ret[n++] = &sites_tables[2];
	ret[n++] = &mark_table;
	ret[n++] = &user_tables[0];
	ret[n++] = &user_tables[1];
	return n;
}

static bool
move_into_slot(void)
{
	struct segment_table *tables[TABLES_MAX];
	uint32_t slot = slots_claim(&place.slots);
	struct segment_memory m;
	uint64_t bytes;

	if (slot == UINT32_MAX)
		return false;
	segment.header->slot_index = slot;
	if (slots_map_one(&place.slots, slot, &m, &bytes) &&
	    segment_move(&m, bytes, tables, lifecycle_tables(tables))) {
		lifecycle_command = &place.control->slot_command[slot];
		lifecycle_obeyed = LOAD(lifecycle_command);
		return true;
	}
	segment.header->slot_index = UINT32_MAX;
	slots_give_back(&place.slots, slot);
	return false;
}

/* The file was made when this child was; see after_fork_in_child(). */
static bool
move_into_cradle(void)
{
	struct segment_table *tables[TABLES_MAX];

	if (!segment_move(
	        &cradle.memory, cradle.bytes, tables, lifecycle_tables(tables)))
		return false;
	cradle.memory.head = NULL; /* it is the segment now */
	lifecycle_command = &place.control->slot_command[cradle.word];
	lifecycle_obeyed = LOAD(lifecycle_command);
	return true;
}

static void
tell_early_exit(void)
{
	if (early)
		STORE_RELEASE(&early->state, SEG_EARLY_EXITED);
	if (has_card)
		cradle_end_card(&cradle);
}

/*
 * A child that is no small one any more has a segment of its own: a slot, or
 * its cradle. Both need no system call but mremap, munmap and madvise. Children
 * that exec at once never come here.
 */
SEEP_COLD static void
leave_nursery(bool at_exit)
{
	bool moved = cradle.memory.head ? move_into_cradle() : move_into_slot();

	if (!moved && at_exit && (early || has_card)) {
		tell_early_exit();
		return; /* its sums are whole */
	}
	/* without a slot it is one of the untraced: half of it is not shown */
	if (!moved) {
		count_untraced();
		mode = SEG_MODE_OFF;
	}
	if (early)
		STORE_RELEASE(&early->state, SEG_EARLY_FREE);
	else if (!has_card && place.slots.head)
		slots_count_unlisted(&place.slots, -1);
	early = NULL;
	has_card = false;
}

/*
 * Slow events under way, counted while a move is possible. Who wants to move
 * raises PROC_SETTING_UP first and then looks at the count; who comes raises
 * the count first and then looks at the word: one of them sees the other.
 * The count is beside the word: a fork wipes both.
 */
#define INSIDE (&proc[1])

bool
lifecycle_slow_begins(void)
{
	if (!proc || inert || (LOAD(proc) == PROC_RUNNING && !nursery))
		return false;
	__atomic_fetch_add(INSIDE, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(proc, __ATOMIC_SEQ_CST) == PROC_SETTING_UP &&
	    LOAD(&setting_up) != cpu_thread_pointer()) {
		__atomic_fetch_sub(INSIDE, 1, __ATOMIC_SEQ_CST);
		wait_for_set_up();
		__atomic_fetch_add(INSIDE, 1, __ATOMIC_SEQ_CST);
	}
	if (thread_self)
		thread_self->counted++;
	return true;
}

void
lifecycle_slow_ends(bool counted)
{
	if (!counted)
		return;
	if (nursery)
		note_early();
	if (thread_self && thread_self->counted)
		thread_self->counted--;
	__atomic_fetch_sub(INSIDE, 1, __ATOMIC_SEQ_CST);
}

static bool
nobody_else_inside(uint32_t own)
{
	int i;

	for (i = 0; i < SPINS; i++) {
		if ((int32_t)__atomic_load_n(INSIDE, __ATOMIC_SEQ_CST) <=
		    (int32_t)own)
			return true;
		cpu_pause();
	}
	return false;
}

/* One thread moves, the others stay out; who is in the way, tries later. */
SEEP_COLD static void
try_to_leave_nursery(uint32_t own, bool at_exit)
{
	uint32_t running = PROC_RUNNING;

	if (!__atomic_compare_exchange_n(proc, &running, PROC_SETTING_UP, 0,
	        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	STORE(&setting_up, cpu_thread_pointer());
	nursery_events = 0; /* if it does not work out: 64 events later */
	if (nursery && nobody_else_inside(own) && thread_hold_others()) {
		leave_nursery(at_exit);
		segment_refill(); /* as at the start of its parent */
		nursery = false;
		thread_slow_down(false);
		thread_release_others();
		if (thread_gate)
			thread_change_home(lifecycle_mode());
	}
	STORE_RELEASE(proc, PROC_RUNNING);
}

void
lifecycle_new_thread(void)
{
	if (nursery && thread_any())
		try_to_leave_nursery(1, false);
}

/* ---- start --------------------------------------------------------------- */

/*
 * Handlers of fork(), the only ones that we install. Before: is it called from
 * a signal handler that has interrupted one of our hooks? In the child: see
 * leave_parent().
 */
static uint32_t forks_inside; /* calls of fork() under way there */

/*
 * A process that has given up the right to change its user shares the rest of
 * its file with its children from now on: they are the same user as it is.
 */
static bool
still_apart(void)
{
	if (config.child_files || cradle_is_needed()) {
		cradle_before_fork(facts.pid, &segment.header->child_files);
		sum_up_homeless();
		return true;
	}
	map_slots();
	return false;
}

static void
before_fork(void)
{
	CPU_CALLER(c);

	if (!lifecycle_started())
		return;
	if (plain_inside_hook(thread_self, &c))
		ADD(&forks_inside, 1);
	if (apart)
		apart = still_apart();
	if (config.is_private)
		segment_count(SEG_PRIVATE_FORKS, 1);
	if (!apart && lifecycle_is_on())
		slots_prepare(&place.slots);
}

static void
after_fork_in_parent(void)
{
	CPU_CALLER(c);

	if (lifecycle_started() && plain_inside_hook(thread_self, &c))
		ADD(&forks_inside, (uint32_t)-1);
}

/* What the child shares with nobody, before its code goes on. */
static void
make_cradle(void)
{
	slots_unmap(&place.slots);
	if (cradle_make(&cradle, facts.pid, child_layout(), &place.slots))
		place.segment_bytes = cradle.bytes;
}

static void
after_fork_in_child(void)
{
	if (!kernel.wipe) { /* before Linux 4.14 */
		if (proc)
			*proc = PROC_WIPED;
		if (thread_gate && thread_gate->state != THREAD_CROWDED)
			thread_gate->state = THREAD_WIPED;
	}
	/* an event in a handler that comes before ours has set us up already */
	if (proc && LOAD(proc) != PROC_WIPED)
		return;
	if (!has_left && place.memory.head) {
		leave_parent(LOAD(&forks_inside) != 0);
		if (apart)
			make_cradle();
	}
	forks_inside = 0;
}

static bool
watch_forks(void)
{
	int (*reg)(void (*)(void), void (*)(void), void (*)(void), void *);
	void *sym = next_symbol("__register_atfork");

	if (!sym)
		return kernel.wipe;
	memcpy(&reg, &sym, sizeof(reg));
	return reg(before_fork, after_fork_in_parent, after_fork_in_child,
	           NULL) == 0 ||
	    kernel.wipe;
}

/*
 * Then it is called instead of ours, by libc too. All the same we stay awake:
 * it may be a wrapper that calls us, and what it lacks of the family is ours.
 */
static enum seg_inert
executable_has_own(void *find_object)
{
	static const char *const others[] = {"calloc", "realloc",
	    "reallocarray", "memalign", "aligned_alloc", "posix_memalign"};
	const struct link_map *l = module_of_executable(find_object);
	size_t i;

	if (!l)
		return SEG_INERT_NONE;
	if (symbol_is_defined(l, "malloc"))
		return SEG_INERT_OWN_MALLOC;
	if (symbol_is_defined(l, "free"))
		return SEG_INERT_OWN_FREE;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (symbol_is_defined(l, others[i]))
			return SEG_INERT_OWN_PART;
	return SEG_INERT_NONE;
}

static enum seg_inert
reason_to_decline(void **ret_find_object)
{
	if (!gnu_get_libc_version)
		return SEG_INERT_LIBC;
	if (__asan_init || __tsan_init || __msan_init)
		return SEG_INERT_SANITIZER;
	*ret_find_object = next_symbol("_dl_find_object");
	if (!*ret_find_object)
		return SEG_INERT_NO_FINDOBJ;
	if (!kernel.honest || !watch_forks())
		return SEG_INERT_KERNEL;
	return SEG_INERT_NONE;
}

static bool
make_proc_word(void)
{
	uint32_t *p = mem_alloc(CPU_PAGE);

	if (!p)
		return false;
	if (kernel.wipe && sys_madvise(p, CPU_PAGE, MADV_WIPEONFORK) != 0)
		return false;
	*p = PROC_RUNNING;
	proc = p;
	return true;
}

static uint64_t
main_stack_end(void)
{
	void **end = next_symbol("__libc_stack_end");

	return end ? (uint64_t)(uintptr_t)*end : 0;
}

static void
start_walk(void)
{
	const uint32_t *pthread_bytes =
	    next_symbol("_thread_db_sizeof_pthread");
	struct rlimit stack = {0};
	struct walk_facts f = {
	    .main_end = main_stack_end(),
	    .pthread_bytes = pthread_bytes ? *pthread_bytes : 0,
	    .can_probe = kernel.populate,
	};

	if (sys_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&stack) == 0)
		f.main_max = stack.rlim_cur;
	walk_init(&f);
}

static void
write_header(struct seg_header *h, char **argv)
{
	place_describe(h, argv, exe);
	place_random(h->uuid, sizeof(h->uuid));
	fmt_copy(h->session, sizeof(h->session), config.session);
	h->medium = place.medium;
	h->first_id = 1;
	h->max_frames = outer_depth;
	h->start_monotonic_ns = tick_start(true);
	h->start_realtime_ns = tick_realtime(true);
	h->mode = mode;
	h->sample_bytes = config.sample;
	h->snapshot_limit = config.snapshots;
	h->counts[SEG_SETTINGS_IGNORED] = config.ignored;
	h->counts[SEG_DIR_REPLACED] = config.dir_replaced;
	h->counts[SEG_EARLY_EVENTS] += LOAD(&early_events);
	h->counts[SEG_NO_CHILD_ROOM] =
	    !place.slots.head && !apart && !config.is_private;
	h->counts[SEG_CHILDREN_UNTRACED] = apart && !start_family();
	describe_slots(h, place.segment_bytes);
}

static bool
start_tables(void *find_object)
{
	start_walk();
	thread_init(kernel.wipe, kernel.populate);
	if (!module_init(find_object, exe))
		return false;
	live_break = next_symbol("__curbrk");
	spaces_init(next_symbol("_r_debug"));
	spaces_tell();
	/* other allocators export glibc's private names too: ask the loader */
	live_init(module_same((const void *)(uintptr_t)next.malloc,
	    (const void *)(uintptr_t)gnu_get_libc_version));
	describe_memory(segment.header);
	snapfile_start();
	exit_wait_start();
	snap_start(config.snapshots);
	return sample_init(config.sample) && rules_init() && sites_init(1) &&
	    ledger_init(1) && mark_init() && user_init(1) && make_proc_word();
}

static enum place_slots
slots_wanted(enum seg_inert why)
{
	if (why)
		return PLACE_NO_SLOTS;
	return apart ? PLACE_SLOTS_UNMAPPED : PLACE_SLOTS_MAPPED;
}

static void
start(char **argv, char **envp)
{
	enum seg_inert why;
	void *find_object = NULL;
	struct seg_header *h;

	config_read(envp);
	kernel = place_probe();
	mem_init(place_private_bytes());
	ours_add_library();
	why = reason_to_decline(&find_object);
	apart = kernel.populate && !config.no_child_files &&
	    !config.is_private && (config.child_files || cradle_is_needed());
	if (!(config.is_private ? place_private(&place, BUDGET_BYTES)
	                        : place_create(&place, BUDGET_BYTES,
	                              slots_wanted(why), kernel.populate))) {
		if (place.is_taken)
			noplace_note(place.owner, argv);
		return;
	}
	if (!segment_init(&place.memory, place.segment_bytes,
	        place.segment_bytes, kernel.populate && !config.is_private))
		return;
	lifecycle_command = &place.control->command;
	h = segment.header;
	mode = config.sample ? SEG_MODE_SAMPLED : SEG_MODE_ON;
	if (config.dormant)
		mode = SEG_MODE_DORMANT;
	was_off = config.dormant;
	if (config.depth && config.depth < OUTER_MAX)
		outer_depth =
		    config.depth > DEPTH_MIN ? config.depth : DEPTH_MIN;
	place_exe(exe);
	write_header(h, argv);
	facts = *h;
	if (!why && !start_tables(find_object))
		why = SEG_INERT_MEMORY;
	inert = why != SEG_INERT_NONE;
	if (!inert)
		why = executable_has_own(find_object);
	if (!inert) {
		/* so that a child knows who forked: see child_pid() */
		thread_arrive();
		thread_make_ready(lifecycle_mode());
		snapwhen_start(h);
	}
	mem_refill();
	segment_refill();
	h->own_bytes = mem_total();
	h->inert_reason = why;
	h->state = inert ? SEG_INERT : SEG_ALIVE;
	STORE_RELEASE(&h->magic, SEG_MAGIC);
}

/* Once, by the first event or the constructor, whichever comes first. */
static void
start_once(char **argv, char **envp)
{
	if (__atomic_exchange_n(&starting, 1, __ATOMIC_ACQ_REL))
		return;
	if (!getauxval(AT_SECURE))
		start(argv, envp);
}

/*
 * glibc keeps one -z initfirst library, the last that was loaded: where a
 * library of the host has the flag too, its constructor runs before ours, and
 * all others may. So whatever event is first starts us, as soon as we are
 * relocated. The arguments and the environment are where the kernel has put
 * them: neither libc nor we have been initialised.
 */
SEEP_COLD static void
start_at_first_event(void)
{
	void **end;
	char **words;
	uint64_t argc;

	if (LOAD(&starting) || !next.complete || !gnu_get_libc_version)
		return;
	end = next_symbol("__libc_stack_end");
	if (!end || !*end)
		return;
	words = (char **)*end;
	argc = (uint64_t)(uintptr_t)words[0];
	if (argc - 1 < ARGC_MAX && !words[argc + 1])
		start_once(words + 1, words + argc + 2);
}

/* -z initfirst: before the other constructors, where nothing allocates. */
__attribute__((constructor)) static void
lifecycle_start(int argc, char **argv, char **envp)
{
	(void)argc;
	next_ready();
	/* glibc hands argc, argv and envp to constructors; others do not */
	if (!gnu_get_libc_version) {
		argv = NULL;
		envp = environ;
	}
	start_once(argv, envp);
}

/* ---- exit ---------------------------------------------------------------- */

struct scan {
	uint64_t until_ns;
	uint32_t now; /* tick */
	uint32_t count;
	bool partial;
};

static bool
fold_user(uint32_t site, uint64_t size, uint32_t birth, void *arg)
{
	struct scan *s = arg;

	s->partial |= !ledger_fold_live(site, size, birth, s->now);
	if (++s->count % SCAN_BLOCKS_PER_LOOK)
		return true;
	if (tick_read() <= s->until_ns)
		return true;
	s->partial = true;
	return false;
}

static bool
fold(uint64_t address, struct live_block b, void *arg)
{
	(void)address;
	return fold_user(b.site, b.size, b.birth, arg);
}

/* A child that ends in its first events, and leaves blocks, tells whose. */
static void
end_early(void)
{
	struct ledger_sums sums = note_early();

	if (sums.allocations > sums.frees)
		try_to_leave_nursery(
		    thread_self ? thread_self->counted : 0, true);
	else
		tell_early_exit();
}

/*
 * What still lives, by age and size, is known to the live map alone, which
 * dies with the process: it is folded into the segment, for 50 ms at most.
 * Events go on afterwards and are booked as ever.
 */
__attribute__((destructor)) static void
lifecycle_end(void)
{
	struct scan s = {0};

	if (!lifecycle_started() || LOAD(proc) != PROC_RUNNING)
		return;
	sum_up_homeless();
	if (nursery)
		end_early();
	if (segment.memory.anonymous || segment.header->end_kind)
		return; /* a vfork child may have called exit() before us */
	exit_wait(segment.header, place.control, lifecycle_command);
	s.until_ns = tick_read() + SCAN_NS;
	s.now = tick_now();
	segment.header->fold_events = ledger_events(s.until_ns);
	spaces_look();
	live_scan(fold, &s);
	if (!s.partial)
		user_scan(fold_user, &s);
	segment.header->live_scan_partial = s.partial;
	segment.header->own_bytes = mem_total();
	segment.header->end_tick = s.now; /* births are told as parts of it */
	STORE_RELEASE(&segment.header->end_kind, SEG_END_EXITED);
	if (config.is_private)
		snap_write_segment(lifecycle_tables);
}
