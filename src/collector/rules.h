/* rules.h - unwind rules once computed, by code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_RULES_H
#define SEEP_COLLECTOR_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/rule.h"

bool rules_init(void);

/*
 * The rule of `pc`, which is a code address on the caller's stack: of a return
 * address for a call, the interrupted instruction itself when `exact`. Also
 * gives the frame word for the segment: module number, pc and exact bit. A
 * hit is a few loads; a miss computes the rule. "No unwind info here" is never
 * remembered: JIT memory may become a module.
 */
struct unwind_rule rules_get(uint64_t pc, bool exact, uint64_t *ret_frame);

#endif
