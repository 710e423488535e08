/* ls_row.c - one process in the list of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/ls_row.h"

#include "view/sites/enum_words.h"

const char *ls_row_state(const struct process *p)
{
	if (p->is_snapshot)
		return "snapshot";
	if (p->header.state == SEG_INERT)
		return "inert";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_OFF)
		return "running, off";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_DORMANT)
		return "dormant";
	if (p->end == PROCESS_UNKNOWN)
		return "out of sight";
	if (p->is_out_of_memory)
		return enum_words_end(p->end); /* a line of its own says why */
	return enum_words_ended(p);
}

uint32_t ls_row_pid(const struct process *p)
{
	return p->running_pid > 0 ? (uint32_t)p->running_pid : p->header.pid;
}
