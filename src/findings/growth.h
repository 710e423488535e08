/* growth.h - shows what grew between two moments of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_GROWTH_H
#define SEEP_GROWTH_H

#include "print/text/body.h"

struct growth_moment {
	double value;
	bool is_percent; /* of the recording, else seconds from its start */
};

/*
 * For each process that ran in between: how its sites differ from before, with
 * signs. 0, -ENOMEM, -EIO; -ENODATA: no time line; -ESRCH: no process has
 * options->view.pid; -ERANGE: it begins after the end.
 */
int growth_write(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct growth_moment *from,
    const struct growth_moment *to);

#endif
