/* rules.h - unwind rules, once computed, by code address. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RULES_H
#define SEEP_RULES_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/rule.h"
#include "collector/unwind/module.h"

bool rules_init(void);

/*
 * The rule of `pc`, which is a code address on the caller's stack: a return
 * address, or, if `exact`, an interrupted instruction. Also gives the frame
 * word for the segment: module number, pc and exact bit. A hit is a few loads;
 * a miss computes the rule. RULE_STOP, for code in no module, is never
 * remembered, because such code may be replaced.
 */
struct unwind_rule rules_get(uint64_t pc, bool exact, uint64_t *ret_frame);

/* ---- cfi: .eh_frame: the unwind rule of a code address, on demand ---- */

/*
 * The rule that holds at `pc`. Reads only the module's own unwind segment,
 * whatever the tables say, and takes a bounded time, 0.5 to 1.5 us. RULE_STOP
 * if the tables do not cover pc; RULE_OTHER if struct unwind_rule cannot
 * express the rule.
 */
struct unwind_rule cfi_rule(const struct module *m, uint64_t pc);

/* Is it the first byte of a function that has unwind information? */
bool cfi_begins(const struct module *m, uint64_t pc);

#endif
