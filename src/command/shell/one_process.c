/* one_process.c - chooses the process for a format that holds one. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/one_process.h"

#include <inttypes.h>

#include "command/shell/die.h"
#include "names/find/program.h"

static uint64_t peak_of(const struct process *p)
{
	return p->totals.peak_bytes;
}

const struct process *one_process_choose(
    const struct session *s, unsigned pid, bool logs, const char *format)
{
	const struct process *best = NULL;
	size_t count = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		if ((pid != 0 && p->header.pid != pid) ||
		    (logs && p->header.log_state != SEG_LOG_ON))
			continue;
		count++;
		if (!best || peak_of(p) > peak_of(best))
			best = p;
	}
	if (count > 1)
		die_warn("--format %s holds one process: this is %" PRIu32
		         " (%s), which has the highest peak of %zu; --pid N "
		         "chooses another",
		    format, best->header.pid, program_name(&best->header), count);
	return best;
}

uint32_t one_process_number(const struct session *s, const struct process *one)
{
	uint32_t i = 0;

	while (i < s->count && s->processes[i] != one)
		i++;
	return i;
}
