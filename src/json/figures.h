/* figures.h - the figures of a process or a site as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_JSON_FIGURES_H
#define SEEP_JSON_FIGURES_H

#include <stdio.h>

#include "reader/process.h"

/* The eight of struct process_figures, each under its name. */
void json_figures(FILE *out, const struct process_figures *f);

#endif
