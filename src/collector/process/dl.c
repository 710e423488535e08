/* dl.c - the hooks of dlopen, dlmopen and dlclose: objects come and go. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/start.h"

#include <dlfcn.h>

#include "collector/event/next.h"
#include "collector/event/recorder.h"
#include "collector/lifecycle.h"
#include "collector/process/fork.h"
#include "collector/segment/config.h"

/*
 * The unwind rules of a module that is unloaded are no longer valid. Modules
 * that libc unloads by itself (NSS, gconv) are noticed when an address is in no
 * module, or in another one.
 */
SEEP_EXPORT int dlclose(void *handle)
{
	struct gate *g;
	int err;

	next_need();
	if (!next.dlclose)
		return -1; /* without libdl there is no handle */
	g = recorder_closing();
	err = next.dlclose(handle);
	recorder_closed(g);
	return err;
}

/* Returns the flags to load with. */
static SEEP_COLD int binding_deep(const char *file, int flags)
{
	bool counted;

	if (config.no_deepbind && lifecycle_started())
		return flags & ~RTLD_DEEPBIND;
	if (!file || flags & RTLD_NOLOAD)
		return flags;
	counted = lifecycle_slow_begins();
	unhooked_deepbind(file, lifecycle_running());
	lifecycle_slow_ends(counted);
	return flags;
}

/*
 * These are hooked to notice RTLD_DEEPBIND. The real functions use their return
 * address to find the calling object (RUNPATH, $ORIGIN, the namespace), so they
 * are entered by a jump; tools/lint/check-symbols.sh checks the instructions.
 */
SEEP_EXPORT void *dlopen(const char *file, int mode)
{
	next_need();
	if (unlikely(mode & RTLD_DEEPBIND))
		mode = binding_deep(file, mode);
	if (unlikely(!next.dlopen))
		return NULL; /* an older libc, and libdl is not loaded */
	return next.dlopen(file, mode);
}

SEEP_EXPORT void *dlmopen(long nsid, const char *file, int mode)
{
	next_need();
	if (unlikely(mode & RTLD_DEEPBIND))
		mode = binding_deep(file, mode);
	if (unlikely(!next.dlmopen))
		return NULL;
	return next.dlmopen(nsid, file, mode);
}
