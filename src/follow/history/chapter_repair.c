/* chapter_repair.c - completes a chapter whose writer was killed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/service.h"

#include "session/load/session.h"
#include "names/find/names.h"
#include "recording/file/chapter.h"
#include "recording/file/recording.h"

enum { LEVEL = 3, NAMES_S = 30 };

struct places {
	char part[PATH_MAX], done[PATH_MAX];
};

static int find_places(
    const struct store *s, const char *folder, const char *part, struct places *ret)
{
	char path[PATH_MAX], text[CHAPTER_NAME_BYTES];
	struct chapter_name name;
	int err = store_folder(s, folder, path);

	if (err < 0)
		return err;
	if (!chapter_name_read(part, &name) || !name.is_part)
		return -EINVAL;
	name.is_part = false;
	chapter_name_write(&name, text);
	if (snprintf(ret->part, PATH_MAX, "%s/%s", path, part) >= PATH_MAX ||
	    snprintf(ret->done, PATH_MAX, "%s/%s", path, text) >= PATH_MAX)
		return -ENAMETOOLONG;
	return 0;
}

/* All whole entries; how many processes there are, and whether names are. */
static int copy_entries(
    struct recording *from, struct recording_writer *to, size_t *ret_processes, bool *ret_named)
{
	const void *bytes;
	uint32_t type;
	size_t len;
	int err;

	*ret_processes = 0;
	*ret_named = false;
	while ((err = recording_next(from, &type, &bytes, &len)) == 1) {
		*ret_processes += type == RECORDING_SEGMENT || type == RECORDING_LINE;
		*ret_named |= type == RECORDING_NAMES;
		err = recording_append_packed(
		    to, (enum recording_type)type, NULL, 0, bytes, len, LEVEL);
		if (err < 0)
			return err;
	}
	/* what was cut, or damaged by a loss of power, ends here */
	return err == -EBADMSG ? 0 : err;
}

/* Those of a recording that was cut are found now, if files are still there. */
static void add_names(
    struct recording_writer *w, const char *path, const struct names_options *naming)
{
	struct names_options options = *naming;
	struct session *s = NULL;
	struct embed *e = NULL;

	options.seconds = NAMES_S;
	if (options.no_symbols || session_load(path, &s, NULL) < 0)
		return;
	if (embed_new(&options, &e) == 0) {
		for (size_t i = 0; i < s->count; i++)
			embed_add(e, s->processes[i]);
		(void)embed_write(e, w);
	}
	embed_free(e);
	session_free(s);
}

static int sync_folder(const char *file)
{
	char path[PATH_MAX];
	int fd, err = 0;

	(void)snprintf(path, sizeof(path), "%s", file);
	*strrchr(path, '/') = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0 && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

static int copy(const struct store *s, const struct places *at, struct recording *from,
    const struct names_options *naming)
{
	struct recording_writer *to = NULL;
	size_t processes;
	bool named;
	int err;

	err = recording_create(at->done, RECORDING_REFUSE, &to);
	if (err == 0)
		err = store_share(s, recording_descriptor(to));
	if (err == 0)
		err = copy_entries(from, to, &processes, &named);
	if (err == 0 && processes == 0) {
		recording_discard(to);
		return 0; /* nothing was recorded: only the part goes */
	}
	if (err == 0 && !named) {
		/* embed_write() gives the file its name before it is named */
		add_names(to, at->part, naming);
	}
	if (err < 0) {
		recording_discard(to);
		return err;
	}
	return recording_finish(to);
}

int chapter_repair(
    const struct store *s, const char *folder, const char *part, const struct names_options *naming)
{
	struct recording *from = NULL;
	struct places at;
	struct stat st;
	bool is_whole = false, is_empty;
	int err = find_places(s, folder, part, &at);

	if (err < 0)
		return err;
	err = recording_open(at.part, &from);
	/* killed before the first bytes were in it */
	is_empty = err == -EINVAL || err == -EBADMSG;
	if (err < 0 && !is_empty)
		return err;
	if (from && recording_is_growing(from)) {
		recording_close(from);
		return -EBUSY;
	}
	if (lstat(at.done, &st) == 0) {
		err = 0; /* killed before the part could be removed */
	} else if (!is_empty) {
		const void *bytes;
		uint32_t type;
		size_t len;

		while ((err = recording_next(from, &type, &bytes, &len)) == 1)
			;
		is_whole = err == 0 && !recording_truncated(from);
		recording_rewind(from);
		err = is_whole ? 0 : copy(s, &at, from, naming);
	} else {
		err = 0;
	}
	recording_close(from);
	if (err == 0 && is_whole && rename(at.part, at.done) < 0)
		err = -errno;
	if (err == 0 && !is_whole && unlink(at.part) < 0)
		err = -errno;
	return err < 0 ? err : sync_folder(at.part);
}
