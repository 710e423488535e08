/* rules.h - unwind rules once computed, by code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RULES_H
#define SEEP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/rule.h"

bool rules_init(void);

/*
 * The rule of `pc`, which is a code address on the caller's stack: a return
 * address, or, if `exact`, an interrupted instruction. Also gives the frame
 * word for the segment: module number, pc and exact bit. A hit is a few loads;
 * a miss computes the rule. RULE_STOP, for code in no module, is never
 * remembered, because such code may be replaced.
 */
struct unwind_rule rules_get(uint64_t pc, bool exact, uint64_t *ret_frame);

#endif
