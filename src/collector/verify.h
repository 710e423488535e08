/* verify.h - the verifying build compares every stack with libgcc's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_COLLECTOR_VERIFY_H
#define SEEP_COLLECTOR_VERIFY_H

#include "cpu/cpu.h"
#include "collector/sites.h"

#ifdef SEEP_VERIFY
/* Compares the frames of `site` with _Unwind_Backtrace from here. */
void verify_site(struct site_id site, const struct cpu_frame *c);
#else
SEEP_INLINE void
verify_site(struct site_id site, const struct cpu_frame *c)
{
	(void)site;
	(void)c;
}
#endif

#endif
