/* plugins_without_end.c - loads a plugin again and again, another build each time: what it allocates is never another's, and memory stays bounded. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -rdynamic */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#define SITES(X) X(work_A) X(alloc_own)
#include "../lib/ledger.h"
#include "../lib/resident.h"

/*
 * plugins_without_end LOADS same|other: of one file whose build-id is changed
 * before each load, or not. The plugin allocates one block, which is kept for
 * some time; so does the program. Prints "grown KIB": what the process has
 * more in memory after the second half of the loads than after the first.
 */
enum { KEPT = 64 };

static unsigned char *image; /* the file, mapped shared */
static size_t image_bytes, id_at;

SITE_FN static void *alloc_own(size_t n)
{
	return led_keep(malloc(n));
}

/* "GNU" of the note is followed by the build-id */
static void find_build_id(void)
{
	static const unsigned char note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};

	for (size_t i = 0; i + sizeof(note) + 20 < image_bytes; i += 4)
		if (memcmp(image + i, note, sizeof(note)) == 0)
			id_at = i + sizeof(note);
	led_check(id_at, "the plugin has no build-id");
}

static void copy_plugin(const char *name)
{
	char from[4200];
	struct stat st;
	ssize_t n = readlink("/proc/self/exe", from, 4000);

	led_check(n > 0, "readlink");
	from[n] = '\0';
	strcpy(strrchr(from, '/') + 1, "twin_plugin_a.so");
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	led_check(in >= 0 && out >= 0 && !fstat(in, &st), "copy");
	led_check(sendfile(out, in, NULL, (size_t)st.st_size) == st.st_size, "sendfile");
	image_bytes = (size_t)st.st_size;
	image = mmap(NULL, image_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out, 0);
	led_check(image != MAP_FAILED, "mmap");
	close(in);
	close(out);
	find_build_id();
}

static void load_once(int i, const char *name)
{
	static void *kept[2][KEPT];
	void *lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);

	led_check(lib, "dlopen");
	void *(*work)(size_t) = (void *(*)(size_t))dlsym(lib, "work_A");

	led_check(work, "dlsym");
	if (kept[0][i % KEPT]) {
		led_free(L_work_A, 24);
		free(kept[0][i % KEPT]);
		led_free(L_alloc_own, 40);
		free(kept[1][i % KEPT]);
	}
	kept[0][i % KEPT] = work(24);
	led_alloc(L_work_A, 24);
	dlclose(lib);
	kept[1][i % KEPT] = alloc_own(40);
	led_alloc(L_alloc_own, 40);
}

int main(int argc, char **argv)
{
	char name[4200];
	int loads = argc > 1 ? atoi(argv[1]) : 100;
	bool change = argc > 2 && argv[2][0] == 'o';
	long half = 0;

	led_check(getcwd(name, 4096), "getcwd");
	strcat(name, "/changing.so");
	copy_plugin(name);
	for (int i = 0; i < loads; i++) {
		if (change)
			memcpy(image + id_at, &i, sizeof(i));
		load_once(i, name);
		if (i == loads / 2)
			half = resident_kib();
	}
	printf("grown %ld\n", resident_kib() - half);
	fflush(stdout);
	led_print(1);
	return 0;
}
