/* figures.h - the figures of a process or a site as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_FIGURES_H
#define SEEP_FIGURES_H

#include <stdbool.h>

#include "kit/json/json_put.h"
#include "session/process/process.h"

/* The eight figures of struct process_figures, each under its name. */
void json_figures(struct json *out, const struct process_figures *f);

/*
 * Writes ,"error":{...}: for sampled figures half the width of the 95 %
 * interval, computed from the variances; null if the figures are exact.
 */
void json_figures_errors(struct json *out, bool sampled, double live, double allocated);

#endif
