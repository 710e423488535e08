/* no_entry.c - stands for entry.c in test_c_*: no constructor, no destructor, and no event starts the collector. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

void entry_first_event(void)
{
}
