/* many_libraries_with_tls.c - 64 libraries with TLS, loaded late, then new threads: the loader's own mallocs in __tls_get_addr. */
/* SPDX-License-Identifier: Apache-2.0 */
/* torture: T25 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIBS = 64, THREADS = 6 };

static int (*touch[LIBS])(int);
static int sums[THREADS];

static void
copy(const char *from, const char *to)
{
	struct stat st;
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);

	if (in < 0 || out < 0 || fstat(in, &st) != 0 ||
	    sendfile(out, in, NULL, (size_t)st.st_size) != st.st_size)
		_exit(90);
	close(in);
	close(out);
}

static void *
work(void *arg)
{
	int *sum = arg;

	for (int round = 0; round < 20; round++)
		for (int i = 0; i < LIBS; i++)
			*sum += touch[i](round * i);
	return NULL;
}

int
main(void)
{
	char from[4096], name[64];
	void *lib[LIBS];
	pthread_t t[THREADS];

	snprintf(from, sizeof(from), "%s/tls_plugin.so", getenv("HOSTS"));
	for (int i = 0; i < LIBS; i++) {
		snprintf(name, sizeof(name), "./tls%d.so", i);
		copy(from, name);
		lib[i] = dlopen(name, RTLD_NOW | RTLD_LOCAL);
		if (!lib[i]) {
			puts(dlerror());
			return 1;
		}
		*(void **)&touch[i] = dlsym(lib[i], "touch_tls");
		unlink(name);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		printf("thread %d: %d\n", i, sums[i]);
	}
	for (int i = 0; i < LIBS; i++)
		dlclose(lib[i]);
	return 0;
}
