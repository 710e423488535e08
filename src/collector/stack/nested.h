/* nested.h - walks without a memo, for nested events. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_NESTED_H
#define SEEP_NESTED_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/heap/sites.h"
#include "collector/thread.h"

/*
 * The site of a caller, without a memo. `scratch` holds up to `max` frames;
 * with max <= SEG_INNER_FRAMES the outer ones are dropped. *ret_own says
 * whether a frame of this library is on the stack, and *ret_whole whether the
 * walk came to the end of the thread's own stack. t may be NULL.
 */
struct site_id nested_walk(struct thread *t, const struct cpu_frame *c, enum seg_api api,
    uint64_t *scratch, uint32_t max, bool *ret_own, bool *ret_whole);

/*
 * Is code of ours on the stack above this caller, or is that not certain? If
 * so, a signal handler has interrupted a hook.
 */
bool nested_inside_hook(struct thread *t, const struct cpu_frame *c);

#endif
