/* cfi.h - .eh_frame: the unwind rule of a code address, on demand. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CFI_H
#define SEEP_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/unwind/module.h"
#include "collector/rule.h"

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
