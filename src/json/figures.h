/* figures.h - the figures of a process or a site as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_FIGURES_H
#define SEEP_JSON_FIGURES_H

#include <stdbool.h>
#include <stdio.h>

#include "reader/process.h"

/* The eight of struct process_figures, each under its name. */
void json_figures(FILE *out, const struct process_figures *f);

/*
 * ,"error":{...}: of sampled figures half the width of the 95 % interval, from
 * their variances; null where figures are exact.
 */
void json_figures_errors(
    FILE *out, bool sampled, double live, double allocated);

#endif
