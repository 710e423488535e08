/* compare_text.h - two inputs, or several moments of one, compared as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COMPARE_TEXT_H
#define SEEP_COMPARE_TEXT_H

#include "findings/diff.h"
#include "findings/growth.h"
#include "findings/snapshots.h"
#include "print/text/body.h"

/* Two inputs, site by site. Errors as of diff_view(), and -EIO if ferror(). */
int compare_text_diff(const struct layout *p, const struct diff_side *old,
    const struct diff_side *new, struct names *names, const struct body_options *options);

/*
 * For each process that ran in between: how its sites differ from before, with
 * signs. 0, -ENOMEM, -EIO; -ENODATA: no time line; -ESRCH: no process has
 * options->view.pid; -ERANGE: it begins after the end.
 */
int compare_text_growth(const struct layout *p, const struct session *s, struct names *names,
    const struct body_options *options, const struct growth_moment *from,
    const struct growth_moment *to);

/*
 * For each process with snapshots: first a line for each moment, then the
 * state at each. -ENOMEM, -EIO; -ESRCH: no process has options->view.pid.
 */
int compare_text_snapshots(const struct layout *p, struct session *const *sessions, size_t count,
    struct names *names, const struct body_options *options);

#endif
