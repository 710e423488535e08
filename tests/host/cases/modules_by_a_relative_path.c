/* modules_by_a_relative_path.c - plugins loaded by relative paths, from one directory and from another: as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T105 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../lib/copy_file.h"

static void load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	printf("%s: %s\n", path, lib ? "loaded" : "not there");
	if (lib)
		dlclose(lib);
}

int main(void)
{
	char dir[4096];

	mkdir("plugins", 0700);
	mkdir("other", 0700);
	copy_file("tls_plugin.so", "plugins/one.so");
	copy_file("twin_plugin_a.so", "other/two.so");
	load("./plugins/one.so");
	if (chdir("other") != 0)
		return 1;
	load("./plugins/one.so");
	load("../plugins/one.so");
	load("./two.so");
	/* the directory is the host's: it may go away under our feet */
	printf("here %d\n", getcwd(dir, sizeof(dir)) != NULL);
	return 0;
}
