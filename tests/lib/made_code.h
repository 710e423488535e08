/* made_code.h - code made at run time, as runtimes make it: stubs and frames with a frame pointer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TESTS_MADE_CODE_H
#define SEEP_TESTS_MADE_CODE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* Each calls fn(arg). `rbp` is what MADE_GARBAGE puts into that register. */
typedef void made_code(void *arg, void (*fn)(void *), uintptr_t rbp);

enum made_kind {
	MADE_STUB,    /* CPython's trampoline: sub, call, add, ret */
	MADE_FRAME,   /* V8's frames: push, mov, sub, call, ..., ret */
	MADE_LEAVE,   /* the same, with its epilogue behind the call */
	MADE_POP,     /* push, call, pop, ret */
	MADE_GARBAGE, /* no frame pointer, and anything in the register */
	MADE_KINDS
};

enum { MADE_BYTES = 32, MADE_PAGE = 4096 };

static const struct {
	uint8_t bytes[MADE_BYTES];
	uint8_t count, call; /* `call`: offset of the return address */
} made_kinds[MADE_KINDS] = {
    [MADE_STUB] = {{0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x08, 0xc3}, 11, 6},
    [MADE_FRAME] = {{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd6, 0x90, 0x48, 0x89,
                        0xec, 0x5d, 0xc3},
        16, 10},
    [MADE_LEAVE] = {{0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x20, 0xff, 0xd6, 0xc9, 0xc3}, 12,
        10},
    [MADE_POP] = {{0x55, 0xff, 0xd6, 0x5d, 0xc3}, 5, 3},
    [MADE_GARBAGE] = {{0x55, 0x48, 0x89, 0xd5, 0xff, 0xd6, 0x90, 0x5d, 0xc3}, 9, 6},
};

/* Pages for code, writable for now; NULL: none. */
static inline uint8_t *made_pages(size_t pages)
{
	void *p = mmap(
	    NULL, pages * MADE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* Writes code of this kind to `at`. Returns where it ends. */
static inline uint8_t *made_write(uint8_t *at, enum made_kind kind)
{
	memcpy(at, made_kinds[kind].bytes, made_kinds[kind].count);
	return at + made_kinds[kind].count;
}

static inline made_code *made_entry(const uint8_t *at)
{
	made_code *f;

	memcpy(&f, &at, sizeof(f));
	return f;
}

#endif
