/* lifecycle.c - start, fork, control and exit: the only file that knows the
 * order. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/lifecycle.h"

#include <string.h>
#include <sys/auxv.h>

#include "base/fmt.h"
#include "base/hash.h"
#include "base/sys.h"
#include "collector/config.h"
#include "collector/hook.h"
#include "collector/ledger.h"
#include "collector/live.h"
#include "collector/mem.h"
#include "collector/memo.h"
#include "collector/module.h"
#include "collector/next.h"
#include "collector/place.h"
#include "collector/recorder.h"
#include "collector/rows.h"
#include "collector/segment.h"
#include "collector/sites.h"
#include "collector/spill.h"
#include "collector/thread.h"
#include "collector/tick.h"
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
	CHILD_BYTES_MIN = 128 << 10,
	SCAN_BLOCKS_PER_LOOK = 4096,
	SCAN_NS = 50000000,
	TCB_SCAN = 1024, /* where glibc keeps the tid, in bytes from the TP */
};

extern const char *gnu_get_libc_version(void) SEEP_WEAK;

static uint32_t *proc; /* enum proc_word; NULL: not started */
static bool inert;     /* declined, or given up after a fault */
static uint32_t mode;  /* enum seg_mode */
static uint32_t last_command;
static struct place place;
static struct ctl_block no_control; /* before there is one, and in nurseries */
static struct ctl_block *control = &no_control;
static struct place_kernel kernel;
static char exe[SEG_EXE_BYTES];
static uint32_t tid_offset; /* of the tid behind the thread pointer, 0: none */
static uint32_t own_tid;

/* A forked child's first events are kept in plain memory. */
static bool nursery;
static uint32_t nursery_events;
static uint64_t child_bytes;
static uint32_t slot_count;

bool
lifecycle_started(void)
{
	return proc && !inert;
}

bool
lifecycle_is_on(void)
{
	return mode == SEG_MODE_ON;
}

bool
lifecycle_in_nursery(void)
{
	return nursery;
}

void
lifecycle_passed_by(void)
{
	if (!proc)
		recorder_passed_by(SEG_EARLY_EVENTS);
	else if (!inert)
		recorder_passed_by(lifecycle_is_on() ? SEG_LOST_EVENTS
						     : SEG_EVENTS_OFF);
}

SEEP_COLD void
lifecycle_fault(void)
{
	mode = SEG_MODE_OFF;
	inert = true;
	segment.header->inert_reason = SEG_INERT_FAULT;
	STORE(&segment.header->state, SEG_INERT);
}

/* ---- the control word ---------------------------------------------------- */

static void
obey(uint32_t command)
{
	last_command = command;
	if (command != SEG_MODE_ON && command != SEG_MODE_OFF) {
		if (command)
			segment_count(SEG_CTL_IGNORED, 1);
		return;
	}
	STORE(&mode, command);
	STORE(&segment.header->mode, command);
}

static void leave_nursery(void);

bool
lifecycle_poll(void)
{
	uint32_t command = LOAD(&control->command);

	if (unlikely(command != last_command))
		obey(command);
	if (unlikely(nursery) && ++nursery_events >= NURSERY_EVENTS)
		leave_nursery();
	return LOAD(&mode) == SEG_MODE_ON;
}

/* ---- fork ---------------------------------------------------------------- */

/*
 * The child's pid without a system call: a sandbox may kill for getpid. glibc
 * keeps the tid of a thread in its control block and fork() renews it there.
 * After a raw clone it is still the parent's; then the call must be risked.
 */
static uint32_t
child_pid(void)
{
	uint32_t tid = 0;

	if (tid_offset)
		memcpy(&tid,
		    (const char *)(uintptr_t)(cpu_thread_pointer() +
			tid_offset),
		    sizeof(tid));
	if (!tid || tid == own_tid)
		tid = (uint32_t)cpu_syscall3(SYS_getpid, 0, 0, 0);
	return tid;
}

static void
find_tid_offset(void)
{
	const char *tp = (const char *)(uintptr_t)cpu_thread_pointer();
	uint32_t tid = (uint32_t)cpu_syscall3(SYS_gettid, 0, 0, 0);
	uint32_t at, v;

	own_tid = tid;
	tid_offset = 0;
	for (at = 512; at < TCB_SCAN; at += 4) {
		memcpy(&v, tp + at, sizeof(v));
		if (v == tid && !tid_offset)
			tid_offset = at;
		else if (v == tid)
			tid_offset = UINT32_MAX; /* not unique: no guessing */
	}
	if (tid_offset == UINT32_MAX)
		tid_offset = 0;
}

static void
child_header(struct seg_header *h, const struct seg_header *parent)
{
	uint64_t mix = hash_mix(
	    cpu_thread_pointer() ^ __builtin_ia32_rdtsc(), own_tid);
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
	memcpy(h->command, parent->command, sizeof(h->command));
	h->command_truncated = parent->command_truncated;
	h->pid_ns = parent->pid_ns;
	h->sequence = parent->sequence + 1;
	h->ppid = parent->pid;
	h->pid = own_tid;
	h->medium = parent->medium;
	h->sample_bytes = parent->sample_bytes;
}

static void
describe_live(struct seg_header *h)
{
	h->live_root = (uint64_t)(uintptr_t)live_root;
	h->live_root_bits = LIVE_ROOT_BITS;
	h->live_mid_bits = LIVE_MID_BITS;
	h->live_leaf_bits = LIVE_LEAF_BITS;
	h->live_granule_bits = (uint8_t)live_granule_bits;
	h->live_cell_version = 1;
	h->spill_root = (uint64_t)(uintptr_t)spill_levels;
}

/* A private copy of the facts that a child takes over from its parent. */
static struct seg_header facts;

static void
set_up_child(void)
{
	uint64_t bytes = child_bytes;
	uint32_t first_id = sites_next_id();
	void *landing, *fresh;

	/*
	 * A hook that was interrupted by the handler which forked us will go
	 * on after it, with pointers into the parent's segment. They must stay
	 * valid, and must not reach the parent any more: plain memory takes
	 * the place of the shared mapping. What lands there is one event.
	 */
	landing = sys_mmap(segment.base, segment.bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
	fresh = sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	control = &no_control;
	last_command = 0;
	if (sys_failed(landing) || sys_failed(fresh))
		goto quiet;
	sys_madvise(segment.base, segment.bytes, MADV_DONTDUMP);
	sys_madvise(fresh, bytes, MADV_DONTDUMP);
	own_tid = child_pid();
	if (!segment_init(fresh, bytes, true, kernel.populate))
		goto quiet;
	child_header(segment.header, &facts);
	facts = *segment.header; /* its own children take over from it */
	nursery = true;
	nursery_events = 0;
	segment.header->start_monotonic_ns = tick_start();
	segment.header->start_realtime_ns = tick_realtime();
	segment.header->first_id = first_id;
	segment.header->max_frames = memo_depth;
	segment.header->mode = mode;
	describe_live(segment.header);
	if (!module_restart() || !sites_init(first_id) ||
	    !ledger_init(first_id))
		goto quiet;
	thread_restart(thread_self);
	if (thread_self)
		thread_make_ready(thread_self, lifecycle_is_on());
	segment.header->state = SEG_ALIVE;
	STORE_RELEASE(&segment.header->magic, SEG_MAGIC);
	return;
quiet:
	inert = true;
	mode = SEG_MODE_OFF;
	if (place.slots)
		ADD(&place.slots->untraced, 1);
}

SEEP_COLD static bool
set_up_once(void)
{
	uint32_t wiped = PROC_WIPED;

	if (!CAS(proc, &wiped, PROC_SETTING_UP))
		return false; /* a handler, or another thread: passes by */
	set_up_child();
	STORE_RELEASE(proc, PROC_RUNNING);
	return !inert;
}

bool
lifecycle_running(void)
{
	uint32_t word;

	if (!proc || inert)
		return false;
	word = LOAD_ACQUIRE(proc);
	if (likely(word == PROC_RUNNING))
		return true;
	return word == PROC_WIPED && set_up_once();
}

/* A free slot of the file that our ancestor mapped at its start. */
static uint8_t *
claim_slot(uint32_t *ret_index)
{
	struct seg_slots *s = place.slots;
	uint32_t i;

	for (i = 0; s && i < slot_count; i++) {
		uint32_t free_slot = 0;

		if (CAS(&s->taken[i], &free_slot, 1)) {
			*ret_index = i;
			return (uint8_t *)s + CPU_PAGE + i * child_bytes;
		}
	}
	return NULL;
}

enum { TABLES_MAX = SEG_ARRAYS + 8 };

static size_t
all_tables(struct segment_table **ret)
{
	size_t n = ledger_tables(ret, SEG_ARRAYS + 3);

	ret[n++] = &module_table;
	ret[n++] = &module_strings;
	ret[n++] = &sites_tables[0];
	ret[n++] = &sites_tables[1];
	ret[n++] = &sites_tables[2];
	return n;
}

/*
 * From its 64th event on a child has a segment of its own: a slot, which
 * needs no system call but madvise and mprotect, or else a file. Children
 * that exec at once never come here.
 */
SEEP_COLD static void
leave_nursery(void)
{
	struct segment_table *tables[TABLES_MAX];
	struct place own;
	uint32_t index = UINT32_MAX;
	uint8_t *slot = claim_slot(&index);

	nursery = false;
	if (slot) {
		segment.header->slot_index = index;
		if (segment_move(
			slot, child_bytes, tables, all_tables(tables)))
			return;
		segment.header->slot_index = UINT32_MAX;
		STORE(&place.slots->taken[index], 0);
	}
	if (place_replace(&own, segment.base, segment.bytes,
		LOAD(&segment.used))) {
		segment.anonymous = false;
		segment.dir_open = segment.dir_capacity *
		    sizeof(struct seg_extent);
		control = own.control;
		return;
	}
	/* it goes on in plain memory, and nobody will read it */
	if (place.slots)
		ADD(&place.slots->untraced, 1);
	mode = SEG_MODE_OFF;
}

/* ---- start --------------------------------------------------------------- */

/* Only where MADV_WIPEONFORK is missing (before Linux 4.14). */
static void
after_fork_in_child(void)
{
	if (proc)
		*proc = PROC_WIPED;
	if (thread_self)
		thread_self->state = THREAD_WIPED;
}

static bool
watch_forks(void)
{
	int (*reg)(void (*)(void), void (*)(void), void (*)(void), void *);
	void *sym;

	if (kernel.wipe)
		return true;
	sym = next_symbol("__register_atfork");
	if (!sym)
		return false;
	memcpy(&reg, &sym, sizeof(reg));
	return reg(NULL, NULL, after_fork_in_child, NULL) == 0;
}

static enum seg_inert
reason_to_decline(void **ret_find_object)
{
	void *own = next_symbol("malloc");

	if (!gnu_get_libc_version)
		return SEG_INERT_LIBC;
	if (next_symbol("__asan_init") || next_symbol("__tsan_init") ||
	    next_symbol("__msan_init"))
		return SEG_INERT_SANITIZER;
	if (own && own != (void *)(uintptr_t)malloc)
		return SEG_INERT_OWN_MALLOC;
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
write_header(struct seg_header *h, char **argv)
{
	place_describe(h, argv);
	place_random(h->uuid, sizeof(h->uuid));
	fmt_copy(h->session, sizeof(h->session), config.session);
	h->medium = place.medium;
	h->first_id = 1;
	h->max_frames = memo_depth;
	h->start_monotonic_ns = tick_start();
	h->start_realtime_ns = tick_realtime();
	h->mode = mode;
	if (place.slots) {
		h->slots_offset = place.slots_offset;
		h->slot_bytes = place.slots->slot_bytes;
		h->slot_count = place.slots->count;
	}
	describe_live(h);
}

static bool
start_tables(void *find_object)
{
	uint64_t stack_end = main_stack_end();

	live_init(next_is_glibc());
	walk_init(stack_end, kernel.populate);
	thread_init(kernel.wipe);
	return module_init(find_object, exe) && rows_init() && sites_init(1) &&
	    ledger_init(1) && make_proc_word();
}

static void
start(char **argv, char **envp)
{
	enum seg_inert why;
	void *find_object = NULL;
	struct seg_header *h;

	config_read(envp);
	kernel = place_probe();
	mem_init(place_reserve_bytes());
	why = reason_to_decline(&find_object);
	if (!place_create(&place, UINT64_C(256) << 20, !why, kernel.populate))
		return;
	if (!segment_init(place.segment, place.segment_bytes, false,
		kernel.populate))
		return;
	control = place.control;
	h = segment.header;
	mode = config.dormant ? SEG_MODE_DORMANT : SEG_MODE_ON;
	if (config.depth >= 8 && config.depth < THREAD_OUTER_MAX)
		memo_depth = config.depth;
	place_exe(exe, sizeof(exe));
	find_tid_offset();
	write_header(h, argv);
	facts = *h;
	child_bytes = h->slot_bytes;
	slot_count = h->slot_count;
	if (child_bytes < CHILD_BYTES_MIN)
		child_bytes = CHILD_BYTES_MIN;
	if (!why && !start_tables(find_object))
		why = SEG_INERT_MEMORY;
	h->own_bytes = mem_total();
	inert = why != SEG_INERT_NONE;
	h->inert_reason = why;
	h->state = inert ? SEG_INERT : SEG_ALIVE;
	STORE_RELEASE(&h->magic, SEG_MAGIC);
}

/*
 * -z initfirst: before any other constructor, so that no allocation is
 * missed. glibc hands argc, argv and envp to constructors; others do not.
 */
__attribute__((constructor)) static void
lifecycle_start(int argc, char **argv, char **envp)
{
	(void)argc;
	next_ready();
	if (getauxval(AT_SECURE) || proc)
		return;
	if (!gnu_get_libc_version)
		argv = envp = NULL;
	start(argv, envp);
}

/* ---- exit ---------------------------------------------------------------- */

struct scan {
	uint64_t until_ns;
	uint32_t count;
	bool partial;
};

static bool
fold(uint64_t address, struct live_block b, void *arg)
{
	struct scan *s = arg;

	(void)address;
	ledger_fold_live(b.site, b.size, tick_now() - b.birth);
	if (++s->count % SCAN_BLOCKS_PER_LOOK)
		return true;
	s->partial = tick_read() > s->until_ns;
	return !s->partial;
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

	if (!lifecycle_started() || LOAD(proc) != PROC_RUNNING || nursery)
		return;
	s.until_ns = tick_read() + SCAN_NS;
	live_scan(fold, &s);
	segment.header->live_scan_partial = s.partial;
	segment.header->own_bytes = mem_total();
	segment.header->end_tick = tick_now();
	STORE_RELEASE(&segment.header->end_kind, SEG_END_EXITED);
}
