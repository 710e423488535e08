/* cfi.h - .eh_frame: the row of one code address, computed when needed. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_CFI_H
#define SEEP_COLLECTOR_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "collector/module.h"
#include "collector/rule.h"

/*
 * The row that holds at `pc`. Reads only the module's own unwind segment,
 * whatever the tables say; bounded time; 0.5 to 1.5 us. RULE_STOP when the
 * tables do not cover pc, RULE_OTHER when the rule is one we do not know.
 */
struct unwind_rule cfi_rule(const struct module *m, uint64_t pc);

/* Is it the first byte of a function that has unwind information? */
bool cfi_begins(const struct module *m, uint64_t pc);

#endif
