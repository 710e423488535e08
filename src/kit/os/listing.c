/* listing.c - the names in a directory, sorted, up to LISTING_MAX of them. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/os/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "kit/data/room.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int listing_read(int dir, bool (*is_wanted)(const char *name), struct listing_names *ret)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	struct dirent *e;
	size_t room = 0;
	DIR *d;

	*ret = (struct listing_names){0};
	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		err = -errno;
		(void)close(fd);
		return err;
	}
	while (err == 0 && (e = readdir(d))) {
		if (is_wanted && !is_wanted(e->d_name))
			continue;
		if (ret->count == LISTING_MAX) {
			ret->refused++;
			continue;
		}
		err = room_make(&ret->names, &room, ret->count, sizeof(char *));
		if (err < 0)
			break;
		ret->names[ret->count] = strdup(e->d_name);
		if (!ret->names[ret->count])
			err = -ENOMEM;
		else
			ret->count++;
	}
	(void)closedir(d);
	if (ret->count > 1)
		qsort(ret->names, ret->count, sizeof(char *), by_name);
	return err;
}

void listing_release(struct listing_names *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->names[i]);
	free(f->names);
	*f = (struct listing_names){0};
}

bool listing_is_own(int dir, const char *name)
{
	struct stat own, of;

	return fstat(dir, &own) == 0 && fstatat(dir, name, &of, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(of.st_mode) && own.st_uid == of.st_uid;
}
