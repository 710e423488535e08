/* hostile_frame_chains.c - code without unwind information and garbage in rbp, at the very end of a stack between guard pages: no fault, exact. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T54 T58 */
/* cut: alloc_on_edge */
/* flags: -fno-builtin */
#include <stdlib.h>
#include <sys/mman.h>

#define SITES(X) X(alloc_on_edge)
#include "../../lib/ledger.h"

enum { STACK = 16384, PAGE = 4096 };

SITE_FN void alloc_on_edge(size_t n)
{
	void *p = led_keep(malloc(n));

	led_alloc(L_alloc_on_edge, n);
	if (n % 2) {
		led_free(L_alloc_on_edge, n);
		free(p);
	}
}

/*
 * call_on_stack(sp, rbp, n): alloc_on_edge(n) on another stack with a frame
 * pointer of the caller's choice. No .cfi_*: nobody can know the way out.
 */
void call_on_stack(void *sp, uintptr_t rbp, size_t n);
__asm__(".text\n"
        ".globl call_on_stack\n"
        ".type call_on_stack, @function\n"
        "call_on_stack:\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	push %r12\n"
        "	mov %rsp, %rbx\n"
        "	mov %rdi, %rsp\n"
        "	mov %rsi, %rbp\n"
        "	mov %rdx, %rdi\n"
        "	call alloc_on_edge\n"
        "	mov %rbx, %rsp\n"
        "	pop %r12\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size call_on_stack, .-call_on_stack\n");

int main(void)
{
	char *base = mmap(NULL, STACK + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *low = base + PAGE, *top = low + STACK;

	led_check(!mprotect(low, STACK, PROT_READ | PROT_WRITE), "mprotect");
	/* a loop of frame pointers, and one that leads out */
	uintptr_t *loop = (uintptr_t *)(top - 256);

	loop[0] = (uintptr_t)loop;
	loop[1] = (uintptr_t)main;
	uintptr_t chains[] = {0, 1, (uintptr_t)loop, (uintptr_t)base, (uintptr_t)top,
	    (uintptr_t)top - 8, (uintptr_t)top - 16, ~(uintptr_t)0, (uintptr_t)1 << 47,
	    0xdeadbeefdeadbeef, 4096, (uintptr_t)low};

	for (size_t i = 0; i < sizeof(chains) / sizeof(*chains); i++) {
		for (size_t n = 0; n < 50; n++) {
			/* the caller's frame ends where the mapping does */
			call_on_stack(top, chains[i], n);
			call_on_stack(top - 16, chains[i], n);
			call_on_stack(top - 512, chains[i], n);
		}
	}
	led_print(1);
	return 0;
}
