/* log_lack.c - says why a process has no event log. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/log_lack.h"

#include <stdio.h>
#include <string.h>

static const char *const reasons[] = {
    [SEG_LOG_LACK_SETTING] = "SEEP_LOG has a value that seep does not know (1, addresses, last, or "
                             "last:N with N from 16 to 1048576; ,frees behind last)",
    [SEG_LOG_LACK_SAMPLE] = "SEEP_LOG was ignored, because SEEP_SAMPLE was "
                            "set and a log needs every event",
    [SEG_LOG_LACK_PRIVATE] = "SEEP_LOG was ignored, because SEEP_PRIVATE was "
                             "set and a log needs shared memory",
    [SEG_LOG_LACK_SMALL] = "SEEP_LOG_POOL is below 256KiB, which is the least",
    [SEG_LOG_LACK_ROOM] = "there was too little room for its pool of 256KiB or more: it takes at "
                          "most 1/4 of what is free in the file system of SEEP_DIR, and a part "
                          "of the memory cgroup, of ulimit -f and of ulimit -v",
    [SEG_LOG_LACK_FILE] = "its file could not be made beside the segment",
    [SEG_LOG_LACK_MEMORY] = "there was no memory for it",
    [SEG_LOG_LACK_CHILD] = "a forked child for which its parent's log file has no pool left, or "
                           "one made by clone() or _Fork() by a process that may become another "
                           "user",
    [SEG_LOG_LACK_EARLY] = "a forked child that ended in its first events, of "
                           "which only sums are kept",
};

bool log_lack_words(const struct seg_header *h, char ret[LOG_LACK_BYTES])
{
	uint32_t why = h->log_lack;
	bool is_known = why < sizeof(reasons) / sizeof(reasons[0]) && reasons[why];
	const char *error = h->log_lack_error > 0 && h->log_lack_error < 4096
	    ? strerrordesc_np((int)h->log_lack_error)
	    : NULL;

	if (h->log_state == SEG_LOG_ON || h->log_state == SEG_LOG_LAST)
		return false;
	if (!is_known && h->log_state == SEG_LOG_NONE)
		return false;
	(void)snprintf(ret, LOG_LACK_BYTES, "%s%s%s",
	    is_known ? reasons[why] : "no pool could be made for it", error ? ": " : "",
	    error ? error : "");
	return true;
}
