/* verify.h - the verifying build compares every stack with libgcc's. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_VERIFY_H
#define SEEP_VERIFY_H

#include "base/cpu/cpu.h"
#include "collector/heap/sites.h"

#ifdef SEEP_VERIFY
/* Compares the frames of `site` with _Unwind_Backtrace from here. */
void verify_site(struct site_id site, const struct cpu_frame *c);
#else
SEEP_INLINE void verify_site(struct site_id site, const struct cpu_frame *c)
{
	(void)site;
	(void)c;
}
#endif

#endif
