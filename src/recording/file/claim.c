/* claim.c - says which file a recorder is about to write, and to which no other may. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/file/meta.h"

#include <sys/file.h>

#include "base/hash.h"
#include "recording/file/recording.h"
#include "kit/os/infile.h"

enum { TRIES = 16 };

static uint64_t hash_of(uint64_t seed, const struct stat *folder, const char *name)
{
	uint64_t h = hash_mix(seed, folder->st_dev);

	h = hash_mix(h, folder->st_ino);
	for (; *name; name++)
		h = hash_mix(h, (unsigned char)*name);
	return hash_finish(h);
}

/* Locks the file of that name. -ESTALE: it was removed meanwhile. */
static int lock(struct claim *c, pid_t *ret_holder)
{
	struct stat st;
	int err = 0;

	c->fd = openat(
	    c->dir_fd, c->name, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return -errno;
	if (flock(c->fd, LOCK_EX | LOCK_NB) < 0)
		err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(c->fd, &st) < 0 || st.st_nlink == 0)
		err = err ? err : -ESTALE;
	else if (err == -EBUSY)
		*ret_holder = lock_holder_find(&st);
	if (err < 0) {
		close(c->fd);
		c->fd = -1;
	}
	return err;
}

int claim_take(struct claim *c, int segments_fd, int folder_fd, const char *name, pid_t *ret_holder)
{
	struct stat folder;
	int err = -ESTALE;

	*c = (struct claim){.dir_fd = segments_fd, .fd = -1};
	if (fstat(folder_fd, &folder) < 0)
		return -errno;
	/* as long as the name of a session, so that it is swept as those are */
	(void)snprintf(c->name, sizeof(c->name), "rec-%016" PRIx64 "%016" PRIx64 ".ctl",
	    hash_of(1, &folder, name), hash_of(2, &folder, name));
	for (int i = 0; i < TRIES && err == -ESTALE; i++)
		err = lock(c, ret_holder);
	return err;
}

void claim_release(struct claim *c)
{
	if (c->fd < 0)
		return;
	(void)unlinkat(c->dir_fd, c->name, 0);
	close(c->fd);
	c->fd = -1;
}

bool claim_is_written(const char *path, pid_t *ret_holder)
{
	struct recording *b;
	struct stat st;
	bool is_growing;

	if (recording_open(path, &b) < 0)
		return false;
	is_growing = recording_is_growing(b);
	recording_close(b);
	if (is_growing && stat(path, &st) == 0)
		*ret_holder = lock_holder_find(&st);
	return is_growing;
}
