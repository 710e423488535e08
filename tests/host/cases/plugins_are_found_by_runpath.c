/* plugins_are_found_by_runpath.c - dlopen looks where the caller's RUNPATH says, from the program and from a library. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T65 */
/* flags: -Wl,--enable-new-dtags,-rpath,'$ORIGIN' */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/copy_file.h"

int main(void)
{
	const char *(*load)(const char *);
	Dl_info info;

	/* by our own: the program and its plugins are in one directory */
	printf("from the program: %s\n", dlopen("tls_plugin.so", RTLD_NOW) ? "loaded" : dlerror());
	mkdir("sub", 0700);
	copy_file("runpath_plugin.so", "./one.so");
	copy_file("tls_plugin.so", "./sub/two.so");
	void *lib = dlopen("./one.so", RTLD_NOW);

	if (!lib)
		return 1;
	*(void **)&load = dlsym(lib, "load_by_runpath");
	printf("from a library: %s\n", load("two.so"));
	printf("not there: %s\n", load("three.so"));
	/* the caller is who it is, for RTLD_NEXT and dladdr too */
	printf("dladdr %d\n", dladdr((void *)load, &info));
	printf("next %d\n", dlsym(RTLD_NEXT, "load_by_runpath") == NULL);
	dlclose(lib);
	return 0;
}
