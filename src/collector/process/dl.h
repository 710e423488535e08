/* dl.h - the hooks of dlopen, dlmopen and dlclose: objects come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_DL_H
#define SEEP_DL_H

#include "base/attr.h"

/* <dlfcn.h> declares them; here they are visible to the host. */
SEEP_EXPORT int dlclose(void *handle);
SEEP_EXPORT void *dlopen(const char *file, int mode);
SEEP_EXPORT void *dlmopen(long nsid, const char *file, int mode);

#endif
