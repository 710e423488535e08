/* systemctl.h - runs systemctl, with a deadline and a bound on its answer. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SYSTEMCTL_H
#define SEEP_SYSTEMCTL_H

#include <stdbool.h>
#include <stddef.h>

#include "kit/os/fault.h"

enum {
	SYSTEMCTL_ASK_S = 15,     /* for a question */
	SYSTEMCTL_RELOAD_S = 100, /* longer than systemd's own deadline */
	SYSTEMCTL_BYTES = 1 << 20,
};

/*
 * Runs systemctl from PATH with these arguments, which end with NULL, and for
 * the user's own manager with --user. The answer is its standard output, NUL
 * terminated, which the caller frees; NULL for ret_answer: not wanted. It is untrusted
 * text. The error's text is the first line that it wrote to standard error:
 * -ENOENT: there is no systemctl; -ENOTCONN: systemd does not run here;
 * -ETIMEDOUT; -EFBIG: a longer answer; -EPERM: refused; -EIO: all else.
 */
int systemctl_run(bool is_user, const char *const *arguments, int seconds, char **ret_answer,
    struct fault *where);

#endif
