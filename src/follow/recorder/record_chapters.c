/* record_chapters.c - the folder of seep record --rotate. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/file.h>

#include "follow/recorder/record_run.h"
#include "host/proc/folder.h"
#include "kit/os/infile.h"
#include "kit/os/outfile.h"
#include "kit/os/clock.h"
#include "kit/os/helper.h"

/* Is there a file that is no chapter? Then this is no folder of ours. */
static bool is_foreign(const char *name)
{
	struct chapter_name unused;

	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	    !chapter_name_read(name, &unused);
}

/* One line about it, and true: the folder must not be used. */
static bool refuse(struct record_run *r)
{
	char why[FOLDER_TEXT_BYTES];
	struct listing_names others = {0};
	bool refused = true;
	int err;

	if (folder_complaint(r->file, geteuid(), why, sizeof(why))) {
		r->say("%s: with --rotate, -o names a folder of your own", why);
		return true;
	}
	r->folder_fd = open(r->file, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = r->folder_fd < 0 ? -errno : listing_read(r->folder_fd, is_foreign, &others);
	if (err < 0)
		r->say("cannot write to %s: %s; choose another folder with "
		       "-o",
		    r->file, strerror(-err));
	else if (flock(r->folder_fd, LOCK_EX | LOCK_NB) < 0)
		r->say("another seep record writes to %s; choose another "
		       "folder with -o",
		    r->file);
	else if (others.count > 0)
		r->say("%s contains %s, which is no chapter: with --rotate, "
		       "-o names a new folder, or one that has chapters",
		    r->file, others.names[0]);
	else
		refused = false;
	listing_release(&others);
	return refused;
}

int record_open_chapters(struct record_run *r)
{
	for (size_t n = strlen(r->file); n > 1 && r->file[n - 1] == '/'; n--)
		r->file[n - 1] = '\0';
	if (mkdir(r->file, 0700) == 0) {
		r->made_folder = true;
	} else if (errno != EEXIST) {
		r->say("cannot make the folder %s: %s; choose another place "
		       "with -o",
		    r->file, strerror(errno));
		return RECORD_FAILED;
	}
	return refuse(r) ? RECORD_FAILED : record_begin_chapter(r);
}

int record_begin_chapter(struct record_run *r)
{
	int err = chapter_begin(r->file, clock_ns(CLOCK_REALTIME), &r->chapter);

	if (err < 0) {
		r->say("cannot write to %s: %s", r->file, outfile_error(err));
		return RECORD_FAILED;
	}
	r->writer = chapter_writer(r->chapter);
	return 0;
}

static int finish(struct record_run *r, void (*write_names)(struct record_run *r))
{
	struct chapter *c = r->chapter;
	int err;

	write_names(r);
	r->chapter = NULL;
	r->writer = NULL;
	err = chapter_finish(c);
	if (err < 0)
		r->say("cannot write a chapter to %s: %s", r->file, outfile_error(err));
	return err;
}

int record_await_chapter(struct record_run *r)
{
	pid_t pid = r->finisher;
	int status = 0;

	r->finisher = 0;
	if (pid == 0)
		return 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status == 0 ? 0 : -EIO;
}

struct ending {
	struct record_run *run;
	void (*write_names)(struct record_run *r);
};

static int finish_apart(int none, void *context)
{
	const struct ending *e = context;

	(void)none;
	return finish(e->run, e->write_names) < 0;
}

int record_end_chapter(struct record_run *r, void (*write_names)(struct record_run *r))
{
	struct ending ending = {r, write_names};
	const struct helper_plan plan = {.run = finish_apart, .context = &ending};
	int err = record_await_chapter(r);

	if (err < 0)
		return err;
	if (helper_start(&plan, &r->finisher, NULL) < 0)
		return finish(r, write_names);
	chapter_discard(r->chapter); /* the child has it */
	r->chapter = NULL;
	r->writer = NULL;
	return 0;
}

int record_clear_chapters(const struct record_run *r)
{
	struct chapter_entry *all;
	size_t count;
	int err;

	if (!r->options.force)
		return 0;
	err = chapter_list(r->file, &all, &count);
	if (err < 0)
		return err;
	for (size_t i = 0; i < count && err == 0; i++)
		if (unlinkat(r->folder_fd, all[i].text, 0) < 0 && errno != ENOENT)
			err = -errno;
	free(all);
	return err;
}

void record_close_chapters(struct record_run *r)
{
	(void)record_await_chapter(r);
	chapter_discard(r->chapter);
	if (r->folder_fd >= 0)
		(void)close(r->folder_fd);
	/* only while it is empty: nothing was recorded */
	if (r->made_folder)
		(void)rmdir(r->file);
}
