/* snapshots.h - one process at several moments: snapshots in a row. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_SNAPSHOTS_H
#define SEEP_REPORT_SNAPSHOTS_H

#include "report/body.h"

enum snapshots_mode {
	SNAPSHOTS_EACH = 1,   /* what there was at each moment */
	SNAPSHOTS_DELTAS,     /* what changed since the one before */
	SNAPSHOTS_CUMULATIVE, /* what changed since the first */
};

/*
 * Every process of every session is one moment; those of one process (by uuid)
 * make a row, by time. First a line for each, then what the mode says. -ENOMEM,
 * -EIO; -ENODATA: nowhere are there two moments of one process; -ESRCH: none
 * has options->view.pid.
 */
int snapshots_write(const struct layout *p, struct session *const *sessions,
    size_t count, struct names *names, const struct body_options *options,
    int mode);

#endif
