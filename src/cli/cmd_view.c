/* cmd_view.c - seep view: the page of a report, in a browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/die.h"
#include "cli/input.h"
#include "cli/name_opts.h"
#include "cli/opts.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/view_opts.h"
#include "export/html.h"

enum { WORDS = 30 }; /* of a command line of $BROWSER */

struct view_command {
	struct view_opts sites;
	bool full, no_open;
	struct names_options naming;
};

/* ---- the file ---- */

/* The program's name, tame enough for a file name of ours; for free(). */
static char *
file_name(const struct session *s)
{
	const char *base =
	    s->count > 0 ? frames_base(s->processes[0]->header.exe) : NULL;
	char *name;

	if (asprintf(&name, "%.60s.html", base && *base ? base : "report") < 0)
		die(CMD_INPUT, "view: out of memory");
	for (char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			*p = '_';
	if (*name == '.')
		*name = '_';
	return name;
}

struct page_file {
	char *dir, *path;
	const char *name; /* in path */
};

/* TMPDIR/seep-view.XXXXXX/NAME: 0600 in a directory of 0700. */
static FILE *
open_private(const struct session *s, struct page_file *ret)
{
	const char *tmp = getenv("TMPDIR");
	char *name = file_name(s);
	FILE *out;
	int fd;

	if (!tmp || *tmp != '/')
		tmp = "/tmp";
	if (asprintf(&ret->dir, "%s/seep-view.XXXXXX", tmp) < 0)
		die(CMD_INPUT, "view: out of memory");
	if (!mkdtemp(ret->dir)) /* 0700, and nobody else's */
		die(CMD_INPUT, "view: %s: no file can be made there: %s", tmp,
		    strerror(errno));
	if (asprintf(&ret->path, "%s/%s", ret->dir, name) < 0)
		die(CMD_INPUT, "view: out of memory");
	ret->name = ret->path + strlen(ret->dir) + 1;
	free(name);
	fd = open(ret->path,
	    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		(void)rmdir(ret->dir);
		die(CMD_INPUT, "view: %s: cannot be written: %s", ret->path,
		    strerror(errno));
	}
	return out;
}

/* What is not whole is not left behind. */
static _Noreturn void
fail(const struct page_file *f, int err)
{
	(void)unlink(f->path);
	(void)rmdir(f->dir);
	if (err == -ENOMEM)
		die(CMD_INPUT, "view: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "view: there is no such process in it");
	die(CMD_INPUT, "view: %s: cannot be written: %s", f->path,
	    strerror(-err));
}

static void
write_page(const struct session *s, struct names *names,
    const struct view_options *options, const struct html_options *html,
    struct page_file *ret)
{
	const struct html_session one = {.session = s};
	FILE *out = open_private(s, ret);
	int err;

	errno = 0;
	err = html_write_sessions(out, &one, 1, names, options, html);
	if (err == -EIO)
		err = errno ? -errno : -EIO;
	if (fclose(out) != 0 && err == 0)
		err = -errno;
	if (err < 0)
		fail(ret, err);
}

/* ---- the browser ---- */

/* Is there a screen that a browser could open on? */
static bool
has_display(void)
{
	const char *const names[] = {"WAYLAND_DISPLAY", "DISPLAY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return true;
	}
	return false;
}

/* Starts it and waits a second: one that keeps running is fine. */
static bool
start(char *const *words)
{
	pid_t pid;
	int status;

	if (posix_spawnp(&pid, words[0], NULL, NULL, words, environ) != 0)
		return false;
	for (int i = 0; i < 20; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return WIFEXITED(status) && WEXITSTATUS(status) == 0;
		(void)usleep(50000);
	}
	return true; /* it is a browser, not a messenger to one */
}

/*
 * A command line of $BROWSER ("firefox -P work %s"), without a shell: words are
 * split at spaces, %s is the page, which else comes last. Did it go well?
 */
static bool
run_browser(const char *line, const char *path)
{
	char *copy = strdup(line), *page = strdup(path), *state = NULL;
	char *words[WORDS + 2];
	bool is_placed = false, done = false;
	size_t n = 0;

	if (!copy || !page)
		goto out;
	for (char *w = strtok_r(copy, " \t", &state); w && n < WORDS;
	     w = strtok_r(NULL, " \t", &state)) {
		bool is_page = strcmp(w, "%s") == 0;

		words[n++] = is_page ? page : w;
		is_placed = is_placed || is_page;
	}
	if (n == 0)
		goto out;
	if (!is_placed)
		words[n++] = page;
	words[n] = NULL;
	done = start(words);
out:
	free(copy);
	free(page);
	return done;
}

/* $BROWSER is a list of commands, separated by ':', the first that works. */
static bool
open_browser(const char *path)
{
	const char *list = getenv("BROWSER");
	char *copy, *state = NULL;
	bool done = false;

	if (list && *list) {
		copy = strdup(list);
		for (char *one = copy ? strtok_r(copy, ":", &state) : NULL;
		     one && !done; one = strtok_r(NULL, ":", &state))
			done = run_browser(one, path);
		free(copy);
		return done;
	}
	return has_display() && run_browser("xdg-open", path);
}

/* How to see the page from where there is a screen. */
static void
tell_copy(const struct page_file *f)
{
	const struct passwd *user = getpwuid(geteuid());
	char host[HOST_NAME_MAX + 1] = "";

	if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
		(void)strcpy(host, "HOST");
	(void)fprintf(stderr,
	    "seep: no browser opens here. Where there is one, type:\n"
	    "  scp %s@%s:%s . && xdg-open %s\n",
	    user ? user->pw_name : "USER", host, f->path, f->name);
}

static int
run(const struct cmd *self, int argc, char **argv)
{
	struct view_command o = {.sites = view_opts_default};
	int n = opts_parse(self, argc, argv, &o);
	const char *input = n ? argv[1] : NULL;
	struct html_options html;
	struct view_options options;
	struct session *s;
	struct names *names;
	struct fault where;
	struct page_file page = {0};
	int answer;

	view_opts_finish_exact(self->name, &o.sites, &options);
	progress_begin("reading", input ? input : INPUT_DEFAULT);
	s = input_load(input);
	if (session_add_snapshots(s, &where) < 0)
		die(CMD_INPUT, "view: %s", where.text);
	answer = s->is_truncated ? CMD_INPUT : CMD_OK;
	names = name_opts_open(self->name, &o.naming);
	name_opts_gather(names, s);
	progress_begin("finding names", NULL);
	html = (struct html_options){
	    .version = SEEP_VERSION, .metric = o.sites.metric, .full = o.full};
	write_page(s, names, &options, &html, &page);
	progress_end();
	(void)printf("%s\n", page.path);
	(void)output_flush();
	if (!o.no_open && !open_browser(page.path))
		tell_copy(&page);
	free(page.dir);
	free(page.path);
	names_free(names);
	session_free(s);
	return answer;
}

#define AT(field) offsetof(struct view_command, field)

static const struct opts_option rows[] = {
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "all sites, also where that are very many"},
    {"no-open", 0, OPTS_FLAG, AT(no_open), 0, NULL,
        "only write the page and print where it is"},
    {0},
};

static const struct opts_group options[] = {
    {"The page", rows, 0},
    {"What to show at first", view_opts_metrics, AT(sites)},
    {"Which sites", view_opts_filters, AT(sites)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};

const struct cmd cmd_view = {
    .name = "view",
    .summary = "a report in the browser: flame graph, time line, table",
    .operands = "[INPUT]",
    .about =
        "Writes the report of INPUT as one page into a private temporary "
        "file, prints its path, and opens it with $BROWSER or xdg-open. Where "
        "there is no screen it tells how to copy the page to one. INPUT is a "
        "recording (default: " INPUT_DEFAULT "), a segment or snapshot file, a "
        "directory of them, or the PID of a traced process.\n\n"
        "The page needs no other file and no network; seep report --format "
        "html -o FILE writes the same to a place of your choice.",
    .options = options,
    .run = run,
};
