/* start.c - the start of a process: its segment, its tables, its threads. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include <sys/auxv.h>
#include <sys/resource.h>

#include "base/fmt.h"
#include "base/sys.h"
#include "collector/segment/kernel.h"
#include "collector/segment/config.h"
#include "collector/process/fork.h"
#include "collector/heap/ledger.h"
#include "collector/segment/loader.h"
#include "collector/lifecycle.h"
#include "collector/lifecycle_set.h"
#include "collector/heap/blocks.h"
#include "collector/log/log.h"
#include "collector/log/logpool.h"
#include "collector/event/mapping.h"
#include "collector/snapshot/mark.h"
#include "collector/segment/mem.h"
#include "collector/unwind/module.h"
#include "collector/event/next.h"
#include "collector/stack/outer.h"
#include "collector/segment/place.h"
#include "collector/unwind/rules.h"
#include "collector/heap/sample.h"
#include "collector/segment/segment.h"
#include "collector/heap/sites.h"
#include "collector/snapshot/snap.h"
#include "collector/snapshot/snapfile.h"
#include "collector/thread.h"
#include "collector/segment/tick.h"
#include "collector/event/user_pools.h"
#include "collector/unwind/walk.h"

enum {
	DEPTH_MIN = SEG_INNER_FRAMES + 2,
	ROOM_AT_START = 400 << 10, /* a process without options has 420 */
	TABLES_MIN = 1152 << 10,   /* its tables before its first event */
};

extern const char *gnu_get_libc_version(void) SEEP_WEAK;

static char exe[DESCRIBE_PATH_BYTES];

/*
 * If the executable has functions of the family, they are called instead of
 * ours, by libc too. The collector starts all the same, because they may be
 * wrappers that call ours, and because the rest of the family is ours.
 */
static enum seg_inert executable_has_own(void *find_object)
{
	static const char *const others[] = {
	    "calloc", "realloc", "reallocarray", "memalign", "aligned_alloc", "posix_memalign"};
	const struct link_map *l = module_of_executable(find_object);
	size_t i;

	if (!l)
		return SEG_INERT_NONE;
	if (loader_defines(l, "malloc"))
		return SEG_INERT_OWN_MALLOC;
	if (loader_defines(l, "free"))
		return SEG_INERT_OWN_FREE;
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (loader_defines(l, others[i]))
			return SEG_INERT_OWN_PART;
	return SEG_INERT_NONE;
}

static enum seg_inert reason_to_decline(void **ret_find_object)
{
	*ret_find_object = loader_symbol("_dl_find_object");
	if (!*ret_find_object)
		return SEG_INERT_NO_FINDOBJ;
	if (!kernel.honest || !fork_watch())
		return SEG_INERT_KERNEL;
	return SEG_INERT_NONE;
}

static uint64_t main_stack_end(void)
{
	void **end = loader_symbol("__libc_stack_end");

	return end ? (uint64_t)(uintptr_t)*end : 0;
}

static void start_walk(void)
{
	const uint32_t *pthread_bytes = loader_symbol("_thread_db_sizeof_pthread");
	struct rlimit stack = {0};
	struct walk_facts f = {
	    .main_end = main_stack_end(),
	    .pthread_bytes = pthread_bytes ? *pthread_bytes : 0,
	    .can_probe = kernel.populate,
	    .guess = !config.no_guess,
	};

	if (sys_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&stack) == 0)
		f.main_max = stack.rlim_cur;
	walk_init(&f);
}

static void write_header(struct seg_header *h, char **argv)
{
	describe_process(h, argv, exe);
	kernel_random(h->uuid, sizeof(h->uuid));
	fmt_copy(h->session, sizeof(h->session), config.session);
	h->medium = place.medium;
	h->first_id = 1;
	h->max_frames = outer_depth;
	h->start_monotonic_ns = tick_start(true);
	h->start_realtime_ns = tick_realtime(true);
	h->mode = lifecycle_mode();
	h->sample_bytes = config.sample;
	h->snapshot_limit = config.snapshots;
	h->counts[SEG_SETTINGS_IGNORED] = config.ignored;
	h->counts[SEG_DIR_REPLACED] = config.dir_replaced;
	describe_place(h);
	h->counts[SEG_EARLY_EVENTS] += lifecycle_early_events();
	h->counts[SEG_NO_CHILD_ROOM] =
	    !place.slots.head && !fork_has_own_files() && !config.is_private;
	h->counts[SEG_CHILDREN_UNTRACED] = fork_has_own_files() && !fork_count_family();
	describe_slots(h, &place.slots, place.segment_bytes);
}

/* Other allocators export glibc's private names, so ask the loader. */
static bool has_malloc_of_glibc(void)
{
	return module_same(
	    (const void *)(uintptr_t)next.malloc, (const void *)(uintptr_t)gnu_get_libc_version);
}

static bool start_tables(void *find_object)
{
	start_walk();
	thread_init(kernel.wipe, kernel.populate);
	if (!module_init(find_object, exe))
		return false;
	blocks_break = loader_symbol("__curbrk");
	unhooked_init(loader_symbol("_r_debug"), !has_malloc_of_glibc());
	unhooked_tell();
	blocks_init(has_malloc_of_glibc());
	log_start();
	describe_memory(segment.header);
	if (!has_malloc_of_glibc())
		mapping_set_allocator((const void *)(uintptr_t)next.malloc);
	snapfile_start();
	exit_wait_start();
	snap_start(config.snapshots, tables_all);
	return sample_init(config.sample) && rules_init() && sites_init(1) && ledger_init(1) &&
	    mark_init() && user_pools_init(1) && mapping_init(1) && lifecycle_begin();
}

static enum place_slots slots_wanted(enum seg_inert why)
{
	if (why)
		return PLACE_NO_SLOTS;
	return fork_has_own_files() ? PLACE_SLOTS_UNMAPPED : PLACE_SLOTS_MAPPED;
}

static bool make_segment(enum seg_inert why, char **argv)
{
	/* log_start() says why there is no pool */
	place_beside *pool = config.log && !why ? logpool_create : NULL;

	if (!(config.is_private ? place_private()
	                        : place_create(slots_wanted(why), kernel.populate, pool))) {
		if (place.is_taken)
			notice_write(place.owner, argv);
		return false;
	}
	return segment_init(&place.memory, place.segment_bytes, place.segment_bytes,
	    kernel.populate && !config.is_private);
}

static void apply_settings(void)
{
	lifecycle_set_mode(config.sample ? SEG_MODE_SAMPLED : SEG_MODE_ON);
	if (config.dormant)
		lifecycle_set_mode(SEG_MODE_DORMANT);
	if (config.depth && config.depth < SITES_DEPTH_MAX)
		outer_depth = config.depth > DEPTH_MIN ? config.depth : DEPTH_MIN;
}

/* Does SEEP_ONLY leave this program out? */
static bool is_left_out(void)
{
	bool ignored = false, out = false;

	if (!config.only)
		return false;
	out = config_leaves_out(config.only, exe, (const char *)kernel_auxval(AT_EXECFN), &ignored);
	config.ignored += ignored;
	config.only = NULL; /* the host may overwrite its environment */
	return out;
}

static void start_clock(void)
{
	tick_use_clock((tick_clock *)loader_libc("clock_gettime"));
}

void start_process(char **argv, char **envp, enum seg_inert why)
{
	void *find_object = NULL;
	struct seg_header *h;
	uint64_t room;

	start_clock();
	config_read(envp);
	describe_exe(exe);
	if (is_left_out()) {
		lifecycle_stay_out();
		return;
	}
	kernel_probe();
	room = budget_of_tables();
	mem_init(room);
	own_memory_add_library();
	if (!why)
		why = reason_to_decline(&find_object);
	if (!why && room < TABLES_MIN)
		why = SEG_INERT_MEMORY; /* before any of it is taken */
	fork_decide();
	if (!make_segment(why, argv)) {
		lifecycle_stay_out();
		return;
	}
	lifecycle_listen(&place.control->command, false);
	h = segment.header;
	apply_settings();
	write_header(h, argv);
	fork_remember(h);
	if (!why && !start_tables(find_object))
		why = SEG_INERT_MEMORY;
	if (why) {
		lifecycle_go_inert();
		h->state = SEG_INERT;
	} else {
		why = executable_has_own(find_object);
		thread_arrive(); /* so that a child knows who forked */
		thread_make_ready(lifecycle_mode());
		snapwhen_start(h);
		h->state = SEG_ALIVE;
		mem_refill_first(ROOM_AT_START);
		segment_refill();
	}
	h->own_bytes = mem_total();
	h->inert_reason = why;
	STORE_RELEASE(&h->magic, SEG_MAGIC);
}
