/* plugins_are_found_by_runpath.c - dlopen looks where the caller's RUNPATH says, from the program and from a library. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T65 */
/* flags: -Wl,--enable-new-dtags,-rpath,'$ORIGIN' */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static void
copy(const char *name, const char *to)
{
	char from[4096];
	struct stat st;

	snprintf(from, sizeof(from), "%s/%s", getenv("HOSTS"), name);
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	if (in < 0 || out < 0 || fstat(in, &st) != 0 ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
		_exit(90);
	close(in);
	close(out);
}

int
main(void)
{
	const char *(*load)(const char *);
	Dl_info info;

	/* by our own: the program and its plugins are in one directory */
	printf("from the program: %s\n",
	    dlopen("tls_plugin.so", RTLD_NOW) ? "loaded" : dlerror());
	mkdir("sub", 0700);
	copy("runpath_plugin.so", "./one.so");
	copy("tls_plugin.so", "./sub/two.so");
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
