/* doctor_unit.h - can the service of a unit be traced? */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DOCTOR_UNIT_H
#define SEEP_DOCTOR_UNIT_H

#include "attach/doctor/doctor.h"
#include "attach/service/unit.h"

/*
 * Looks at the unit as it is now. What `seep service enable` cures is a warning.
 * If a check fails, the service would not be traced, or would not start, with the
 * collector preloaded.
 */
void doctor_unit(const struct unit *u, struct doctor_report *r);

/* Does its Environment= preload the collector already? */
bool doctor_unit_is_preloaded(const struct unit *u);

#endif
