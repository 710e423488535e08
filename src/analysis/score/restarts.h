/* restarts.h - earlier lives of a program, in which its sites have settled. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_RESTARTS_H
#define SEEP_RESTARTS_H

#include "session/load/session.h"

/*
 * A history or a folder of recordings has several lives of one program. A site
 * that did not grow at the end of a longer life is rather a cache that fills
 * again than a leak.
 */
struct restarts {
	struct restarts_site *sites; /* by stack */
	size_t count;
	uint64_t *frames;
};

/*
 * The lives of the program of p that ended before p began and were longer: the
 * longest few. Without memory there are none.
 */
void restarts_make(const struct session *s, const struct process *p, struct restarts *ret);
void restarts_release(struct restarts *r);

/*
 * For score_input.settled_s: how long the site with the same stack lived in one
 * of them; 0: in none, or it grew in one. The same build of all its modules.
 */
double restarts_settled_s(
    const struct restarts *r, const struct process *p, const struct process_site *s);

#endif
