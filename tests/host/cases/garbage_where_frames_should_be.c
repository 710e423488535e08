/* garbage_where_frames_should_be.c - malloc on stacks full of random return addresses, with pages above that come and go: no fault, every block is counted. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T101 */
/* flags: -fno-builtin */
/* ledger: no */
#include <execinfo.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../lib/code_words.h"

enum {
	PAGE = 4096,
	ROOM = 32, /* pages in which malloc itself runs */
	ABOVE = 8, /* pages in which frames are looked for */
	CODES = 2048,
	LAYOUTS = 4000, /* SEEP_FULL=1: 500,000 */
	LOOKS = 4,
};

/*
 * malloc_on(sp, rbp, n): malloc(n) on another stack. The unwind rule at the
 * call says that the caller's return address is at sp.
 */
void *malloc_on(void *sp, uintptr_t rbp, size_t n);
__asm__(".text\n"
        ".globl malloc_on\n"
        ".type malloc_on, @function\n"
        "malloc_on:\n"
        "	.cfi_startproc\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	mov %rsp, %rbx\n"
        "	mov %rdi, %rsp\n"
        "	mov %rsi, %rbp\n"
        "	mov %rdx, %rdi\n"
        "	call malloc@PLT\n"
        "	mov %rbx, %rsp\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	ret\n"
        "	.cfi_endproc\n"
        ".size malloc_on, .-malloc_on\n");

static uintptr_t codes[CODES];
static char *area;

static void gather_codes(void)
{
	uintptr_t vdso = getauxval(AT_SYSINFO_EHDR), handler = code_words_restorer();
	void *frames[16];
	struct code_words modules = {codes, 0, CODES / 2, 200};
	int n, seen = backtrace(frames, 16);

	dl_iterate_phdr(code_words_add, &modules);
	n = modules.count;
	for (; n < CODES; n++) {
		uint64_t kind = draw(4);

		if (kind == 0)
			codes[n] = handler;
		else if (kind == 1)
			codes[n] = vdso + 0x600 + draw(0x800);
		else if (kind == 2)
			codes[n] = (uintptr_t)printf;
		else /* up to _start */
			codes[n] = (uintptr_t)frames[draw((uint64_t)seen)];
	}
}

static uintptr_t any_word(void)
{
	switch (draw(10)) {
	case 0:
		return 0;
	case 1:
		return draw(UINT64_MAX);
	case 2:
		return (uintptr_t)area + draw((ROOM + ABOVE + 2) * PAGE);
	case 3:
		return (uintptr_t)area + draw((ROOM + ABOVE) * PAGE / 8) * 8;
	case 4:
		return (uintptr_t)__builtin_frame_address(0) + draw(512) * 8;
	default:
		return codes[draw(CODES)];
	}
}

static void fill(char *page)
{
	uintptr_t *word = (uintptr_t *)(void *)page;

	for (size_t i = 0; i < PAGE / sizeof(*word); i++)
		word[i] = any_word();
}

/* A page that comes and goes, unless somebody else has taken its place. */
static void change(int i)
{
	static enum { THERE, CLOSED, GONE } is[ABOVE];
	char *page = area + (ROOM + i) * PAGE;
	uint64_t what = draw(4);

	if (is[i] == GONE) {
		if (mmap(page, PAGE, PROT_READ | PROT_WRITE,
		        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != page)
			return;
		is[i] = THERE;
	}
	if (what == 0) {
		munmap(page, PAGE);
		is[i] = GONE;
	} else if (what == 1) {
		mprotect(page, PAGE, PROT_NONE);
		is[i] = CLOSED;
	} else {
		mprotect(page, PAGE, PROT_READ | PROT_WRITE);
		is[i] = THERE;
		if (draw(2))
			fill(page);
	}
}

static void try_layout(void)
{
	char *end = area + ROOM * PAGE;
	uintptr_t *sp = (uintptr_t *)(void *)(end - draw(12) * 16);
	uintptr_t rbp = any_word();

	/* what malloc writes is below sp; what a walk finds is from sp on */
	for (uintptr_t *w = sp; (char *)w < end; w++)
		*w = any_word();
	for (int i = 0; i < LOOKS; i++) {
		void *p = malloc_on(sp, rbp, 16 + draw(64));

		free(p);
		change((int)draw(3));
		if (draw(2) == 0)
			change((int)draw(ABOVE));
		if (draw(3) == 0)
			rbp = any_word();
	}
}

static void *try_layouts(void *arg)
{
	int count = getenv("SEEP_FULL") ? 500000 : LAYOUTS;

	for (int i = 0; i < count; i++)
		try_layout();
	return arg;
}

int main(void)
{
	pthread_t thread;

	gather_codes();
	area = mmap(NULL, (ROOM + ABOVE) * PAGE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < ABOVE; i++)
		fill(area + (ROOM + i) * PAGE);
	try_layouts(NULL);
	pthread_create(&thread, NULL, try_layouts, NULL);
	pthread_join(thread, NULL);
	puts("no fault");
	return 0;
}
