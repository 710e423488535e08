/* output.c - results: to stdout, or to a file that appears when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/pager.h"
#include "cli/progress.h"

const struct opts_option output_view_rows[] = {
    {"color", 0, OPTS_WORD, offsetof(struct output_view, colour), 0,
        TERMINAL_COLOURS,
        "auto: on a terminal, unless NO_COLOR is set (the default)"},
    {"no-pager", 0, OPTS_FLAG, offsetof(struct output_view, no_pager), 0, NULL,
        "write to the terminal itself, not to SEEP_PAGER, PAGER or less"},
    {0},
};

/* A temporary to remove, should we end early; a handler reads it. */
static char *volatile pending;

static void
remove_pending(void)
{
	const char *path = pending;

	if (path)
		(void)unlink(path);
}

static void
on_ending(int signal_number)
{
	remove_pending();
	(void)signal(signal_number, SIG_DFL);
	(void)raise(signal_number); /* comes when this handler returns */
}

/* However we end, short of SIGKILL: it goes. */
static void
guard(char *temporary)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	static bool guarded;

	pending = temporary;
	if (guarded)
		return;
	guarded = true;
	(void)atexit(remove_pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (signal(ending[i], on_ending) == SIG_IGN)
			(void)signal(ending[i], SIG_IGN);
}

static _Noreturn void
fail(const char *path, int err)
{
	die(CMD_INPUT, "%s: cannot be written: %s", path, strerror(err));
}

void
output_open(struct output *o, const char *path)
{
	mode_t mask;
	struct stat st;
	int fd;

	if (path && (!strcmp(path, "-") || !strcmp(path, "/dev/stdout")))
		path = NULL;
	*o = (struct output){.file = stdout, .path = path};
	if (!path)
		return;
	if (lstat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		if (S_ISDIR(st.st_mode))
			fail(path, EISDIR);
		o->file = fopen(path, "we");
		if (!o->file)
			fail(path, errno);
		return;
	}
	if (asprintf(&o->temporary, "%s.XXXXXX", path) < 0)
		fail(path, ENOMEM);
	fd = mkstemp(o->temporary);
	if (fd < 0)
		fail(path, errno);
	guard(o->temporary);
	mask = umask(0);
	(void)umask(mask);
	(void)fchmod(fd, 0666 & ~mask); /* as any other result of a command */
	o->file = fdopen(fd, "w");
	if (!o->file)
		fail(path, errno);
}

static _Noreturn void
refuse(const char *path)
{
	die(CMD_INPUT, "%s exists: use --force to replace it, or another name",
	    path);
}

void
output_open_new(struct output *o, const char *path)
{
	struct stat st;

	if (path && stat(path, &st) == 0 && S_ISREG(st.st_mode))
		refuse(path);
	output_open(o, path);
	o->is_new = true;
}

/* The file gets its name. */
static int
give_name(const struct output *o)
{
	if (o->is_new && link(o->temporary, o->path) == 0) {
		(void)unlink(o->temporary);
		return 0;
	}
	if (o->is_new && errno == EEXIST)
		refuse(o->path);
	/* not all file systems know links */
	return rename(o->temporary, o->path) < 0 ? errno : 0;
}

void
output_show(struct output *o, const struct output_view *view, int answer,
    struct terminal *ret)
{
	terminal_look(fileno(o->file), view->colour, ret);
	if (!ret->is_terminal)
		return;
	progress_end(); /* the two would mix */
	if (!o->path && !view->no_pager)
		pager_start(ret, answer);
}

void
output_finish(struct output *o)
{
	int err = 0;

	errno = 0;
	if (fflush(o->file) != 0 || ferror(o->file))
		err = errno ? errno : EIO;
	if (!o->path && err == EPIPE) {
		/* end as if SIGPIPE had not been ignored by who started us */
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	if (o->path && fclose(o->file) != 0 && err == 0)
		err = errno;
	if (err == 0 && o->temporary)
		err = give_name(o);
	if (err != 0)
		fail(o->path ? o->path : "standard output", err);
	pending = NULL;
	free(o->temporary);
}

int
output_flush(void)
{
	struct output o = {.file = stdout};

	output_finish(&o);
	return CMD_OK;
}
