/* lifecycle.c - which state this process is in, and whether it records. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/lifecycle.h"

#include "base/sys.h"
#include "collector/process/start.h"
#include "collector/process/fork.h"
#include "collector/segment/kernel.h"
#include "collector/lifecycle_set.h"
#include "collector/segment/mem.h"
#include "collector/process/early.h"
#include "collector/event/recorder.h"
#include "collector/heap/sample.h"
#include "collector/segment/segment.h"
#include "collector/snapshot/snap.h"
#include "collector/thread.h"

/*
 * The word that a fork wipes. It has a page of its own with MADV_WIPEONFORK, so
 * zero in a process that has started means that this is a forked child which
 * has not been set up. No pid is compared anywhere. The child of a vfork()
 * counts as its parent, because it shares its parent's memory.
 */
enum proc_word {
	PROC_WIPED = 0,
	PROC_RUNNING = 0x5eed0001,
	PROC_SETTING_UP = 0x5eed0002, /* by one thread; others wait */
};

enum { SPINS = 1 << 22 }; /* one or two tenths of a second at most */

static uint32_t *proc; /* enum proc_word and INSIDE; NULL: not started */
static bool inert;     /* declined, or given up after a fault */
static uint32_t mode;  /* enum seg_mode */
static bool was_off;
bool lifecycle_is_out;
bool lifecycle_is_early;
static uint64_t early_events;
static uint64_t setting_up; /* thread pointer of the thread that does it */

/* The command word of a process that has none, as in its first events. */
static uint32_t no_command;
const uint32_t *lifecycle_command SEEP_HOT = &no_command;
uint32_t lifecycle_obeyed SEEP_HOT;

bool lifecycle_started(void)
{
	return proc && !inert;
}

bool lifecycle_is_on(void)
{
	return mode == SEG_MODE_ON || mode == SEG_MODE_SAMPLED;
}

enum seg_mode lifecycle_mode(void)
{
	return (enum seg_mode)LOAD(&mode);
}

bool lifecycle_was_off(void)
{
	return was_off;
}

void lifecycle_passed_by(void)
{
	/* before our own relocation segment.header is not set yet */
	if (!proc) {
		ADD(&early_events, 1);
		recorder_unseen();
	} else if (!inert) {
		recorder_passed_by(lifecycle_is_on() ? SEG_LOST_EVENTS : SEG_EVENTS_OFF);
	}
}

uint64_t lifecycle_early_events(void)
{
	return LOAD(&early_events);
}

/* ---- the command word ---------------------------------------------------- */

void lifecycle_set_mode(enum seg_mode m)
{
	if (m == SEG_MODE_DORMANT)
		was_off = true;
	mode = m;
}

void lifecycle_listen(const uint32_t *command, bool is_obeyed)
{
	command = command ? command : &no_command;
	STORE(&lifecycle_command, command);
	STORE(&lifecycle_obeyed, is_obeyed ? LOAD(command) : 0);
}

static void obey(uint32_t command)
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

bool lifecycle_poll(void)
{
	uint32_t command = LOAD(lifecycle_command);

	if (unlikely(command != lifecycle_obeyed))
		obey(command);
	if (unlikely(LOAD(&lifecycle_is_early)))
		early_poll();
	if (unlikely(snapwhen_active) && lifecycle_is_on())
		snapwhen_poll();
	unhooked_look();
	return lifecycle_is_on();
}

/* ---- the word of the process --------------------------------------------- */

bool lifecycle_begin(void)
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

void lifecycle_go_inert(void)
{
	inert = true;
}

void lifecycle_stay_out(void)
{
	inert = true;
	lifecycle_is_out = true;
}

void lifecycle_wipe(void)
{
	if (proc)
		*proc = PROC_WIPED;
}

bool lifecycle_is_set_up(void)
{
	return proc && LOAD(proc) != PROC_WIPED;
}

bool lifecycle_is_settled(void)
{
	return lifecycle_started() && LOAD(proc) == PROC_RUNNING;
}

/*
 * Two threads of a fresh child may come at once. The second waits, but not for
 * ever, because the first may have been killed, and because a signal handler
 * that interrupted the set-up would wait for itself. If the wait ends too
 * early, the event is not recorded but counted.
 */
SEEP_COLD static bool wait_for_set_up(void)
{
	int i;

	for (i = 0; i < SPINS && LOAD(proc) == PROC_SETTING_UP &&
	     LOAD(&setting_up) != cpu_thread_pointer();
	     i++)
		cpu_pause();
	return LOAD_ACQUIRE(proc) == PROC_RUNNING && !inert;
}

SEEP_COLD static bool set_up_once(void)
{
	uint32_t wiped = PROC_WIPED;

	if (!CAS(proc, &wiped, PROC_SETTING_UP))
		return wait_for_set_up();
	STORE(&setting_up, cpu_thread_pointer());
	fork_set_up_child();
	STORE_RELEASE(proc, PROC_RUNNING);
	return !inert;
}

bool lifecycle_running(void)
{
	uint32_t word;

	if (unlikely(!proc))
		entry_first_event();
	if (!proc || inert)
		return false;
	word = LOAD_ACQUIRE(proc);
	if (likely(word == PROC_RUNNING))
		return true;
	return word == PROC_WIPED ? set_up_once() : wait_for_set_up();
}

/*
 * The slow events under way are counted while a move is possible. A thread that
 * wants to move raises PROC_SETTING_UP first and then looks at the count. An
 * event raises the count first and then looks at the word. So one of the two
 * sees the other. The count is in the same page as the word, so that a fork
 * wipes both.
 */
#define INSIDE (&proc[1])

bool lifecycle_slow_begins(void)
{
	if (!proc || inert || (LOAD_ACQUIRE(proc) == PROC_RUNNING && !LOAD(&lifecycle_is_early)))
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

void lifecycle_slow_ends(bool counted)
{
	if (!counted)
		return;
	if (LOAD(&lifecycle_is_early))
		early_note_sums();
	if (thread_self && thread_self->counted)
		thread_self->counted--;
	__atomic_fetch_sub(INSIDE, 1, __ATOMIC_SEQ_CST);
}

bool lifecycle_change_begins(void)
{
	uint32_t running = PROC_RUNNING;

	if (!__atomic_compare_exchange_n(
	        proc, &running, PROC_SETTING_UP, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return false;
	STORE(&setting_up, cpu_thread_pointer());
	return true;
}

bool lifecycle_change_is_alone(uint32_t own)
{
	int i;

	for (i = 0; i < SPINS; i++) {
		if ((int32_t)__atomic_load_n(INSIDE, __ATOMIC_SEQ_CST) <= (int32_t)own)
			return true;
		cpu_pause();
	}
	return false;
}

void lifecycle_change_ends(void)
{
	STORE_RELEASE(proc, PROC_RUNNING);
}
