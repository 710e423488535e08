/* c_host.c - a C program whose C++ plugin (RTLD_LOCAL) throws bad_alloc: exit status 42, bare and traced. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(void)
{
	char path[4200];
	ssize_t n = readlink("/proc/self/exe", path, 4000);

	if (n < 0)
		return 1;
	path[n] = '\0';
	strcpy(strrchr(path, '/') + 1, "cxx_plugin.so");
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib) {
		puts(dlerror());
		return 2;
	}
	int (*catch)(void) = (int (*)(void))dlsym(lib, "catch_bad_alloc");
	int answer = catch ? catch () : 3;

	dlclose(lib);
	return answer;
}
