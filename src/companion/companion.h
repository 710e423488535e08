/* companion.h - what the libraries beside libseep.so have in common. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COMPANION_H
#define SEEP_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/attr.h"
#include "base/cpu/cpu.h"

/*
 * A companion is a second library that is preloaded with libseep.so, and only
 * into hosts with a certain allocator, or if the user asks for it. It hooks functions that
 * libseep.so must not define, because other hosts do not have them: a program may ask with a
 * weak symbol or with dlsym whether a function exists. Each hook forwards to the next
 * definition in the search order and reports the block to libseep.so (companion_calls.h).
 */

/*
 * libseep.so's side (companion_calls.h). Weak, because a companion may be preloaded
 * without it.
 */
extern void seep_cxx_library(const void *start, size_t bytes) SEEP_WEAK;
extern void seep_next_module(const void *function) SEEP_WEAK;
extern void seep_cxx_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api) SEEP_WEAK;
extern void seep_cxx_freeing(const void *p, uint64_t pc) SEEP_WEAK;
extern void seep_next_allocated(
    const void *p, size_t size, const struct cpu_frame *c, uint32_t api) SEEP_WEAK;
extern void seep_next_freeing(const void *p, uint64_t pc) SEEP_WEAK;
extern void *seep_next_resize(void *old, size_t size, const struct cpu_frame *c, uint32_t api,
    void *(*resize)(void *old, size_t size, size_t extra), size_t extra) SEEP_WEAK;

/* A function after us in the search order, looked for once. */
struct companion_next {
	void *found;
	const char *name;
};

/*
 * The next definition, or NULL. Looks for it as long as it is not found, because
 * a library that is loaded later may have it. dlsym allocates where there is
 * none; only a host that calls what it would not have without us pays for that.
 */
void *companion_resolve(struct companion_next *next);

/* For the constructor: tells libseep.so where this library is in memory. */
void companion_enter(void);

/*
 * For the constructor: companion_enter(), and resolves all functions that have
 * a next definition, which are functions of the allocator. A function that is
 * called before the constructor is found by its first call.
 */
void companion_start(struct companion_next *all, size_t count);

/* The next definition as a function pointer of the right type, or NULL. */
#define COMPANION_NEXT(fn, next) \
	do { \
		void *found_ = LOAD_ACQUIRE(&(next)->found); \
		if (unlikely(!found_)) \
			found_ = companion_resolve(next); \
		memcpy(&(fn), &found_, sizeof(fn)); \
	} while (0)

#endif
