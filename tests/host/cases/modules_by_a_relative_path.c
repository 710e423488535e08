/* modules_by_a_relative_path.c - plugins loaded by relative paths, from one directory and from another: as bare. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T105 */
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

static void
load(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW);

	printf("%s: %s\n", path, lib ? "loaded" : "not there");
	if (lib)
		dlclose(lib);
}

int
main(void)
{
	char dir[4096];

	mkdir("plugins", 0700);
	mkdir("other", 0700);
	copy("tls_plugin.so", "plugins/one.so");
	copy("twin_plugin_a.so", "other/two.so");
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
