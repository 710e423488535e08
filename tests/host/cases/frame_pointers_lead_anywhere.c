/* frame_pointers_lead_anywhere.c - anything in the frame pointer, below run-time code and code without unwind information, on every kind of stack: no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T54 T58 */
/* flags: -fno-builtin */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#define SITES(X) X(alloc_below)
#include "../../lib/ledger.h"
#include "../../lib/made_code.h"

enum { SMALL = 16384, CHAIN = 4096 };

static uint8_t *code, *hole;
static made_code *stub, *frame, *garbage;
static uintptr_t chain[CHAIN]; /* in no stack */
static uintptr_t *elsewhere;   /* in the stack of the first thread */

/*
 * call_below(arg, fn, rbp): the same as run-time code of the kind GARBAGE, but
 * in this program. No .cfi_*: nobody can know the way out.
 */
made_code call_below;
__asm__(".text\n"
        ".globl call_below\n"
        ".type call_below, @function\n"
        "call_below:\n"
        "	push %rbp\n"
        "	mov %rdx, %rbp\n"
        "	call *%rsi\n"
        "	nop\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size call_below, .-call_below\n");

SITE_FN static void alloc_below(size_t n)
{
	void *p = led_keep(malloc(n));

	led_alloc(L_alloc_below, n);
	led_free(L_alloc_below, n);
	free(p);
}

static void allocate(void *arg)
{
	alloc_below((size_t)(uintptr_t)arg);
}

static void through_stub(void *arg)
{
	stub(arg, allocate, 0);
}

static void through_frame(void *arg)
{
	frame(arg, through_stub, 0);
}

static void try_all(size_t n)
{
	/* our own stack: a loop, one that runs down, words that are not code */
	uintptr_t here[64];
	uintptr_t call = (uintptr_t)__builtin_return_address(0);

	for (int i = 0; i < 64; i += 2) {
		here[i] = (uintptr_t)&here[(i + 62) % 64];
		here[i + 1] = i % 8 ? call : (uintptr_t)allocate;
	}
	for (int i = 0; i < CHAIN; i += 2) {
		chain[i] = (uintptr_t)&chain[i + 2 < CHAIN ? i + 2 : 0];
		chain[i + 1] = call;
	}
	uintptr_t odd[] = {0, 1, 4096, ~(uintptr_t)0, (uintptr_t)1 << 47, 0xdeadbeefdeadbeef,
	    (uintptr_t)here, (uintptr_t)&here[62], (uintptr_t)&here[31], (uintptr_t)here + 4,
	    (uintptr_t)chain, (uintptr_t)&chain[CHAIN - 1], (uintptr_t)elsewhere,
	    (uintptr_t)&elsewhere[CHAIN - 2], (uintptr_t)hole, (uintptr_t)hole - 8,
	    (uintptr_t)hole - 16, (uintptr_t)code, (uintptr_t)allocate, (uintptr_t)&odd - 256};

	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		void *arg = (void *)(n + i);

		garbage(arg, allocate, odd[i]);
		garbage(arg, through_frame, odd[i]);
		call_below(arg, allocate, odd[i]);
		call_below(arg, through_frame, odd[i]);
	}
	through_frame((void *)n);
	led_keep(here);
}

static void *in_thread(void *arg)
{
	for (size_t n = 1; n < 20; n++)
		try_all(n);
	return arg;
}

static void on_signal(int number)
{
	try_all((size_t)number);
}

int main(void)
{
	struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	static char alternate[SMALL * 2];
	stack_t other = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
	uintptr_t others[CHAIN];
	pthread_attr_t small;
	pthread_t thread;
	uint8_t *at;

	elsewhere = others;
	for (int i = 0; i < CHAIN; i += 2) {
		others[i] = (uintptr_t)&others[i + 2 < CHAIN ? i + 2 : 0];
		others[i + 1] = (uintptr_t)__builtin_return_address(0);
	}
	led_keep(others);

	code = made_pages(1);
	hole = mmap(NULL, (size_t)2 * MADE_PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	led_check(code && hole != MAP_FAILED, "mmap");
	hole += MADE_PAGE;
	led_check(!mprotect(hole, MADE_PAGE, PROT_NONE), "mprotect");
	at = code + 64;
	stub = made_entry(at);
	at = made_write(at, MADE_STUB);
	frame = made_entry(at);
	at = made_write(at, MADE_FRAME);
	garbage = made_entry(at);
	made_write(at, MADE_GARBAGE);
	led_check(!mprotect(code, MADE_PAGE, PROT_READ | PROT_EXEC), "mprotect");

	in_thread(NULL);
	led_check(
	    !pthread_attr_init(&small) && !pthread_attr_setstacksize(&small, SMALL), "stack size");
	for (int i = 0; i < 4; i++) {
		led_check(!pthread_create(&thread, &small, in_thread, NULL), "thread");
		pthread_join(thread, NULL);
	}
	led_check(!sigaltstack(&other, NULL) && !sigaction(SIGUSR1, &act, NULL), "sigaltstack");
	for (int i = 0; i < 20; i++)
		raise(SIGUSR1);
	led_keep(others);
	led_print(1);
	return 0;
}
