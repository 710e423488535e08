/* trial.h - one run of seep-replay-run with one allocator. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TRIAL_H
#define SEEP_TRIAL_H

#include <stdint.h>

#include "replay/script.h"

struct trial_plan {
	const char *performer; /* path of seep-replay-run */
	enum script_mode mode;
	int script;           /* descriptor; -1: none, with SCRIPT_PROBE */
	const char *preload;  /* LD_PRELOAD; NULL: libc's own malloc */
	const char *tunables; /* GLIBC_TUNABLES; NULL: none */
	uint64_t memory_max;  /* it is ended if it has more; 0: no limit */
	uint64_t idle_ns;     /* it is ended if it uses no CPU for so long */
};

enum trial_end {
	TRIAL_DONE,
	TRIAL_FAILED,  /* detail: errno, of the performer; 0: no answer */
	TRIAL_SIGNAL,  /* detail: the signal that ended it */
	TRIAL_STALLED, /* it did nothing, and was ended */
	TRIAL_MEMORY,  /* it needed too much memory, and was ended */
};

enum { TRIAL_SAID = 512 };

struct trial_outcome {
	enum trial_end end;
	int detail;
	struct script_result result; /* of TRIAL_DONE */
	char said[TRIAL_SAID];       /* on stderr, with SCRIPT_PROBE: its beginning */
};

/*
 * Runs it and waits. Settings of allocators in our environment hold, but
 * LD_PRELOAD, GLIBC_TUNABLES and SEEP_* do not. If we end, the run ends, too.
 * -errno: it cannot be started.
 */
int trial_run(const struct trial_plan *plan, struct trial_outcome *ret);

#endif
