/* knee.h - when growth began. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_KNEE_H
#define SEEP_KNEE_H

#include <stdbool.h>

#include "analysis/score/inflow.h"

/*
 * The moment, in seconds, from which on births come at least eight times as fast
 * as before it, if 1000 to 1 speak for such a moment: the best one of a change of
 * rate, and within its slot by the births in it. False: there is none, because
 * they came all the time, or because traffic rises slowly.
 */
bool knee_find(const struct inflow_input *in, double *ret_s);

#endif
