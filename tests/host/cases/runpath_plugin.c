/* runpath_plugin.c - loads another library that only its own RUNPATH can find. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -w -Wl,--enable-new-dtags,-rpath,'$ORIGIN/sub' */
#include <dlfcn.h>

const char *load_by_runpath(const char *name)
{
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	return lib ? "loaded" : dlerror();
}
