/* claims.c - loads ./plug.so, keeps its blocks, and says in its segment that it is another process: names must not follow what it says. */
/* SPDX-License-Identifier: Apache-2.0 */
/* flags: -Isrc */
/*
 * usage: claims [SEGMENT]: plug.so lies in the working directory. With
 * the SEGMENT of another process (a file with its first 8 KiB) it takes that
 * one's uuid and start directory. Says "ready", waits for a byte, ends.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lib/own_segment.h"

static int claim(const char *path)
{
	struct seg_header *own = own_segment(), other;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &other, sizeof(other)) != sizeof(other)) {
		perror(path);
		return -1;
	}
	close(fd);
	memcpy(own->uuid, other.uuid, sizeof(own->uuid));
	memcpy(own->start_dir, other.start_dir, sizeof(own->start_dir));
	return 0;
}

int main(int argc, char **argv)
{
	void *lib = dlopen("./plug.so", RTLD_NOW);
	void (*run)(void) = lib ? (void (*)(void))dlsym(lib, "run") : NULL;
	char byte;

	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	run();
	if (argc > 1 && claim(argv[1]) < 0)
		return 1;
	puts("ready");
	fflush(stdout);
	return read(0, &byte, 1) == 1 ? 0 : 1;
}
