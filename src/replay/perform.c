/* perform.c - performs the words of a script, thread by thread. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/stage.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include "kit/os/outfile.h"

enum {
	PAGE = 4096,
	ADDRESS_BITS = 48,
	TICK_NS = 10000000,
	SPINS = 200, /* looks at a slot before the thread yields */
	YIELDS = 20, /* and before it sleeps */
	NAP_NS = 20000,
	SECOND_NS = 1000000000,
	NO_WINDOW = -1,
};

/* Where a thread is in its words. */
struct part {
	struct stage *stage;
	struct stage_carrier *carrier;
	const uint64_t *at;
};

/* ---- windows ---- */

static long futex(_Atomic uint32_t *word, int what, uint32_t value)
{
	return syscall(SYS_futex, word, what | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

/* Was the first window that is open left by all? Then the next one is. */
static void open_windows(struct stage *s)
{
	bool has_moved = false;

	for (;;) {
		uint32_t i = atomic_load(&s->open_window);

		if (i >= s->head.windows ||
		    atomic_load(&s->windows[i].left) < s->windows[i].threads)
			break;
		has_moved |= atomic_compare_exchange_strong(&s->open_window, &i, i + 1);
	}
	if (has_moved && atomic_load(&s->waiting) > 0)
		(void)futex(&s->open_window, FUTEX_WAKE, INT32_MAX);
}

static void leave_window(struct stage *s, struct stage_carrier *c)
{
	if (c->window >= s->head.windows)
		return; /* in none */
	(void)atomic_fetch_add(&s->windows[c->window].left, 1);
	open_windows(s);
}

static void enter_window(struct part *p, uint32_t window)
{
	struct stage *s = p->stage;

	leave_window(s, p->carrier);
	p->carrier->window = window;
	for (;;) {
		uint32_t open = atomic_load(&s->open_window);

		if (open + 1 >= window)
			return;
		(void)atomic_fetch_add(&s->waiting, 1);
		(void)futex(&s->open_window, FUTEX_WAIT, open);
		(void)atomic_fetch_sub(&s->waiting, 1);
	}
}

static void wait_until(const struct stage *s, uint64_t ticks)
{
	uint64_t ns = s->start_ns + ticks * TICK_NS;
	const struct timespec t = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		continue;
}

/* ---- blocks ---- */

/*
 * Writes to each page of a block from this byte on, as the program most likely
 * did.
 */
static void touch(volatile char *block, uint64_t from, uint64_t size)
{
	if (from >= size)
		return;
	for (uint64_t i = from; i < size; i += PAGE - ((uintptr_t)(block + i) & (PAGE - 1)))
		block[i] = 1;
	block[size - 1] = 1;
}

/* Waits until it is this word's turn. Returns the block in the slot. */
static char *take_turn(_Atomic uint64_t *slot, uint16_t turn)
{
	for (unsigned i = 0;; i++) {
		uint64_t value = atomic_load_explicit(slot, memory_order_acquire);

		if ((uint16_t)(value >> ADDRESS_BITS) == turn)
			return (char *)(uintptr_t)(value & ((UINT64_C(1) << ADDRESS_BITS) - 1));
		if (i >= SPINS && i < SPINS + YIELDS)
			(void)sched_yield();
		else if (i >= SPINS + YIELDS)
			(void)nanosleep(&(struct timespec){0, NAP_NS}, NULL);
	}
}

static void end_turn(_Atomic uint64_t *slot, uint16_t turn, const char *block)
{
	atomic_store_explicit(slot,
	    (uint64_t)(uint16_t)(turn + 1) << ADDRESS_BITS |
	        ((uintptr_t)block & ((UINT64_C(1) << ADDRESS_BITS) - 1)),
	    memory_order_release);
}

static char *allocate(enum script_op op, uint64_t size, uint64_t alignment)
{
	void *p = NULL;

	if (op == SCRIPT_CALLOC)
		return calloc(1, size);
	if (op == SCRIPT_ALIGNED)
		return posix_memalign(&p, alignment, size) == 0 ? p : NULL;
	return malloc(size);
}

static void perform_block(struct part *p, uint64_t word)
{
	_Atomic uint64_t *slot = &p->stage->slots[script_slot(word)];
	enum script_op op = script_op(word);
	uint64_t size = script_size(word);
	uint16_t turn = script_turn(word);
	char *block = take_turn(slot, turn);

	if (op == SCRIPT_FREE) {
		free(block);
		end_turn(slot, turn, NULL);
		return;
	}
	if (size == SCRIPT_LARGE)
		size = *p->at++;
	if (op == SCRIPT_REALLOC) {
		uint64_t old = *p->at++;
		/* a size of 0 would free the block */
		char *other = realloc(block, size ? size : 1);

		if (other)
			touch(other, block ? old : 0, size);
		else
			(void)atomic_fetch_add(&p->stage->refused, 1);
		end_turn(slot, turn, other ? other : block);
		return;
	}
	block = allocate(op, size, op == SCRIPT_ALIGNED ? *p->at++ : 0);
	if (block)
		touch(block, 0, size);
	else
		(void)atomic_fetch_add(&p->stage->refused, 1);
	end_turn(slot, turn, block);
}

/* ---- threads ---- */

static void *perform_thread(void *carrier);

static void join(struct stage_carrier *c)
{
	int err = c->is_started ? pthread_join(c->thread, NULL) : 0;

	if (err != 0)
		result_failed(-err);
	c->is_started = false;
}

static void spawn(struct part *p, uint64_t number, uint64_t at)
{
	struct stage_carrier *c;
	pthread_attr_t attr;
	int err;

	if (number == 0 || number >= p->stage->head.carriers)
		result_failed(-EBADMSG);
	c = &p->stage->carriers[number];
	join(c); /* the thread that had this carrier before */
	c->at = at;
	c->stage = p->stage;
	err = pthread_attr_init(&attr);
	if (err == 0)
		err = pthread_attr_setstack(&attr, c->stack, p->stage->stack_bytes);
	if (err == 0)
		err = pthread_create(&c->thread, &attr, perform_thread, c);
	if (err != 0)
		result_failed(-err);
	c->is_started = true;
	(void)pthread_attr_destroy(&attr);
}

/* The words at this place of the script become the next ones. */
static void jump(struct part *p, uint64_t at)
{
	struct stage_carrier *c = p->carrier;
	ssize_t n =
	    pread(p->stage->script, c->words, sizeof(c->words), (off_t)(at * sizeof(uint64_t)));

	if (n < (ssize_t)sizeof(uint64_t))
		result_failed(n < 0 ? -errno : -EBADMSG);
	p->at = c->words;
}

static void perform_words(struct part *p)
{
	jump(p, p->carrier->at);
	for (;;) {
		uint64_t word = *p->at++;

		switch (script_op(word)) {
		case SCRIPT_MALLOC:
		case SCRIPT_CALLOC:
		case SCRIPT_ALIGNED:
		case SCRIPT_REALLOC:
		case SCRIPT_FREE:
			perform_block(p, word);
			break;
		case SCRIPT_JUMP:
			jump(p, script_payload(word));
			break;
		case SCRIPT_WINDOW:
			enter_window(p, (uint32_t)script_payload(word));
			break;
		case SCRIPT_TIME:
			wait_until(p->stage, script_payload(word));
			break;
		case SCRIPT_SPAWN:
			spawn(p, script_payload(word), *p->at++);
			break;
		case SCRIPT_END:
			leave_window(p->stage, p->carrier);
			return;
		default:
			result_failed(-EBADMSG);
		}
	}
}

static void *perform_thread(void *carrier)
{
	struct stage_carrier *c = carrier;
	struct part p = {.stage = c->stage, .carrier = c};

	c->window = (uint32_t)NO_WINDOW;
	perform_words(&p);
	return NULL;
}

void perform_all(struct stage *s)
{
	s->carriers[0].stage = s;
	(void)perform_thread(&s->carriers[0]);
	for (uint32_t i = 1; i < s->head.carriers; i++)
		join(&s->carriers[i]);
}

/* ---- result: reports to the command, and ends the performer ---- */

static int result_fd = -1;

void result_to(int fd)
{
	result_fd = fd;
}

_Noreturn void result_send(struct script_result *r)
{
	r->magic = SCRIPT_MAGIC;
	_exit(write_all(result_fd, r, sizeof(*r)) < 0 || r->error ? 1 : 0);
}

_Noreturn void result_failed(int err)
{
	struct script_result r = {.error = (uint64_t)-err};

	result_send(&r);
}
