/* snapshots.h - shows one process at several moments, by its snapshots. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SNAPSHOTS_H
#define SEEP_SNAPSHOTS_H

#include "print/text/body.h"

enum snapshots_mode {
	SNAPSHOTS_EACH = 1,   /* the state at each moment */
	SNAPSHOTS_DELTAS,     /* changes since the previous moment */
	SNAPSHOTS_CUMULATIVE, /* changes since the first moment */
};

/*
 * Every process of every session is one moment; those of one process (by uuid)
 * form a series, sorted by time. First a line for each, then what the mode
 * says. -ENOMEM, -EIO; -ENODATA: no process has two moments; -ESRCH: no process
 * has options->view.pid.
 */
int snapshots_write(const struct layout *p, struct session *const *sessions, size_t count,
    struct names *names, const struct body_options *options, int mode);

#endif
