/* cmd_view.c - seep view: shows the page of a report in a browser. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <pwd.h>

#include "command/shell/terminal.h"
#include "command/cmd.h"
#include "command/shell/die.h"
#include "kit/words/words.h"
#include "command/shell/input.h"
#include "command/options/view_opts.h"
#include "command/options/opts.h"
#include "command/shell/output.h"
#include "command/options/secure.h"
#include "print/page/html.h"
#include "kit/words/text.h"

enum { OLD_SECONDS = 24 * 60 * 60 }; /* pages that nobody opened */

#define FOLDER "seep-view."

struct view_command {
	struct view_opts sites;
	bool full, no_open;
	const char *path; /* NULL: a temporary file */
	uint64_t max_bytes;
	struct names_options naming;
	struct moment_opts moments;
};

struct view_inputs {
	struct html_session *list;
	struct session **sessions;
	size_t count;
	bool is_truncated;
	char *titles[2]; /* of two moments */
};

/* ---- the file ---- */

/* For free(). */
static char *file_name(const struct session *s)
{
	char program[64] = "report", *name;

	if (s->count > 0)
		program_filename(s->processes[0]->header.exe, program, sizeof(program));
	if (asprintf(&name, "%s.html", program) < 0)
		die(CMD_INPUT, "view: out of memory");
	return name;
}

struct page_file {
	char *dir, *path; /* dir: NULL of a file of the user's choice */
	const char *name; /* in path */
};

static const char *temporary_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	return tmp && *tmp == '/' ? tmp : "/tmp";
}

/* Removes a directory of pages, if it is one, belongs to us and is old. */
static void sweep_folder(int tmp, const char *name)
{
	int fd = openat(tmp, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!dir) {
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	if (fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 07777) == 0700 &&
	    time(NULL) - st.st_mtime > OLD_SECONDS) {
		while ((e = readdir(dir)) != NULL) {
			size_t n = strlen(e->d_name);

			if (n > 5 && strcmp(e->d_name + n - 5, ".html") == 0)
				(void)unlinkat(fd, e->d_name, 0);
		}
		(void)unlinkat(tmp, name, AT_REMOVEDIR);
	}
	(void)closedir(dir);
}

/* Pages that were made a day ago or earlier and were not opened are useless. */
static void sweep(void)
{
	DIR *dir = opendir(temporary_folder());
	struct dirent *e;

	while (dir && (e = readdir(dir)) != NULL)
		if (strncmp(e->d_name, FOLDER, strlen(FOLDER)) == 0)
			sweep_folder(dirfd(dir), e->d_name);
	if (dir)
		(void)closedir(dir);
}

/* TMPDIR/seep-view.XXXXXX/NAME: 0600 in a directory of 0700. */
static void open_temporary(const struct session *s, struct page_file *ret, struct output *out)
{
	const char *tmp = temporary_folder();
	char *name = file_name(s);

	if (asprintf(&ret->dir, "%s/" FOLDER "XXXXXX", tmp) < 0)
		die(CMD_INPUT, "view: out of memory");
	if (!mkdtemp(ret->dir)) /* 0700, and made by us */
		die(CMD_INPUT, "view: %s: no file can be made there: %s", tmp, strerror(errno));
	if (asprintf(&ret->path, "%s/%s", ret->dir, name) < 0)
		die(CMD_INPUT, "view: out of memory");
	free(name);
	output_open_private(out, ret->dir, ret->path);
}

/* A page that is incomplete, or above --max-output, is removed. */
static void write_inputs(const struct view_inputs *in, struct names *names,
    const struct view_options *options, const struct html_options *html, struct output *out)
{
	int err = html_write_sessions(out->file, in->list, in->count, names, options, html);

	if (err == -ENOMEM)
		die(CMD_INPUT, "view: out of memory");
	if (err == -ESRCH)
		die(CMD_INPUT, "view: the input has no such process");
	output_finish(out);
}

/* The file that the user named, as a path that a browser understands. */
static char *absolute(const char *path)
{
	char *real = realpath(path, NULL);

	if (!real)
		die(CMD_INPUT, "view: %s: %s", path, strerror(errno));
	return real;
}

/* A word for a shell, quoted if necessary; the caller frees it. */
static char *quoted(const char *word)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	bool plain = *word != '\0' && *word != '-';

	if (!out)
		die(CMD_INPUT, "view: out of memory");
	for (const char *p = word; *p; p++)
		plain = plain && (isalnum((unsigned char)*p) || strchr("._+-/", *p));
	if (!plain)
		(void)putc('\'', out);
	for (const char *p = word; *p; p++)
		(void)fputs(*p == '\'' ? "'\\''" : (char[]){*p, '\0'}, out);
	if (!plain)
		(void)putc('\'', out);
	if (fclose(out) != 0)
		die(CMD_INPUT, "view: out of memory");
	return text;
}

/* How to see the page from a machine that has a screen. */
static void tell_copy(const struct page_file *f)
{
	const struct passwd *user = getpwuid(geteuid());
	char host[HOST_NAME_MAX + 1] = "";
	char *path = quoted(f->path), *name = quoted(f->name);

	if (gethostname(host, sizeof(host) - 1) < 0 || !*host)
		(void)strcpy(host, "HOST");
	die_warn("%s. On a machine with a browser, type:",
	    secure_mode() == SECURE_NO
	        ? "no browser opens here"
	        : "no browser is started as root (SEEP_PAGERSECURE=0 allows it)");
	die_more("scp %s@%s:%s . && xdg-open %s", user ? user->pw_name : "USER", host, path, name);
	free(path);
	free(name);
}

/* ---- the command ---- */

static void read_inputs(int count, char **names, struct view_inputs *ret)
{
	size_t n = count > 0 ? (size_t)count : 1;

	*ret = (struct view_inputs){.sessions = calloc(n, sizeof(struct session *)),
	    .list = calloc(n, sizeof(*ret->list)),
	    .count = n};
	if (!ret->sessions || !ret->list)
		die(CMD_INPUT, "view: out of memory");
	for (size_t i = 0; i < n; i++) {
		const char *name = count > 0 ? names[i] : NULL;
		struct fault where;
		struct session *s;

		progress_begin("reading", name ? name : INPUT_DEFAULT);
		s = ret->sessions[i] = input_load(name);
		if (session_add_snapshots(s, &where) < 0)
			die(CMD_INPUT, "view: %s", where.text);
		privacy_note_snapshots(s);
		ret->is_truncated |= s->is_truncated;
		ret->list[i] = (struct html_session){.session = s,
		    .title = s->title ? s->title
		        : n > 1       ? name
		                      : NULL};
	}
}

/* Two moments of one input, to be compared. */
static void read_moments(const struct moment_opts *m, const char *input, struct view_inputs *ret)
{
	struct moment_opts_pair pair;

	*ret = (struct view_inputs){.sessions = calloc(2, sizeof(struct session *)),
	    .list = calloc(2, sizeof(*ret->list)),
	    .count = 2};
	if (!ret->sessions || !ret->list)
		die(CMD_INPUT, "view: out of memory");
	moment_opts_load("view", m, input, &pair);
	ret->sessions[0] = pair.old;
	ret->sessions[1] = pair.new;
	ret->is_truncated = pair.old->is_truncated || pair.new->is_truncated;
	ret->list[0] =
	    (struct html_session){.session = pair.old, .title = ret->titles[0] = pair.old_title};
	ret->list[1] =
	    (struct html_session){.session = pair.new, .title = ret->titles[1] = pair.new_title};
}

static void free_inputs(struct view_inputs *in)
{
	free(in->titles[0]);
	free(in->titles[1]);
	for (size_t i = 0; i < in->count; i++)
		session_free(in->sessions[i]);
	free(in->sessions);
	free(in->list);
}

/* Writes the page, and frees everything that it needed. */
static bool write_page(const struct cmd *self, const struct view_command *o, int count,
    char **inputs, struct page_file *ret)
{
	const struct html_options html = {.version = SEEP_VERSION,
	    .metric = o->sites.metric,
	    .full = o->full,
	    .compare = o->moments.text != NULL};
	struct view_options options;
	struct view_inputs in;
	struct names *names;
	struct output out;

	view_opts_warn_text(self->name, &o->sites, "the page");
	view_opts_finish_exact(self->name, &o->sites, &options);
	if (o->moments.text)
		read_moments(&o->moments, count > 0 ? inputs[0] : NULL, &in);
	else
		read_inputs(count, inputs, &in);
	names = name_opts_open(self->name, &o->naming);
	for (size_t i = 0; i < in.count; i++)
		name_opts_gather(names, in.sessions[i]);
	progress_begin("finding names", NULL);
	output_limit(o->max_bytes);
	if (o->path)
		output_open(&out, o->path);
	else
		open_temporary(in.sessions[0], ret, &out);
	write_inputs(&in, names, &options, &html, &out);
	if (o->path)
		ret->path = absolute(o->path);
	ret->name = text_base(ret->path);
	progress_end();
	names_free(names);
	free_inputs(&in);
	(void)malloc_trim(0);
	return !in.is_truncated;
}

static int run(const struct cmd *self, int argc, char **argv)
{
	struct view_command o = {.sites = view_opts_default};
	int n = opts_parse(self, argc, argv, &o);
	struct page_file page = {0};
	bool is_whole;

	if (o.moments.text && n > 1)
		die(CMD_USAGE, "view: --growth compares two moments of one INPUT");
	moment_opts_refuse(self->name, n, argv + 1,
	    o.moments.text || (o.sites.metric != VIEW_LIVE && o.sites.metric != VIEW_ALLOCS));
	if (o.moments.text)
		moment_opts_parse(self->name, &o.moments);
	sweep();
	is_whole = write_page(self, &o, n, argv + 1, &page);
	output_tell_path(page.path);
	(void)output_flush();
	if (!o.no_open && (secure_mode() != SECURE_NO || !browser_open(page.path, page.dir)))
		tell_copy(&page);
	free(page.dir);
	free(page.path);
	return is_whole ? CMD_OK : CMD_INPUT;
}

#define AT(field) offsetof(struct view_command, field)

static const struct opts_option rows[] = {
    {"output", 'o', OPTS_TEXT, AT(path), 0, "FILE", "write the page to FILE, where it stays"},
    {"full", 0, OPTS_FLAG, AT(full), 0, NULL,
        "put all sites into the page, even if there are very many"},
    {"no-open", 0, OPTS_FLAG, AT(no_open), 0, NULL,
        "write the page and print its path, without opening it"},
    {"growth", 0, OPTS_RANGE, AT(moments.text), 0, "[FROM..TO]",
        "compare two moments of one recording or history " MOMENT_OPTS_FORMS},
    {"max-output", 0, OPTS_SIZE, AT(max_bytes), 0, "SIZE", OUTPUT_MAX_HELP},
    {0},
};

static const struct opts_group options[] = {
    {"The page", rows, 0},
    {"What to show at first", view_opts_metrics, AT(sites)},
    {"Which sites", view_opts_filters, AT(sites)},
    {"How to show them, as in seep report", view_opts_shapes, AT(sites)},
    {"Where names come from", name_opts_rows, AT(naming)},
    {0},
};

const struct cmd cmd_view = {
    .name = "view",
    .summary = "show a report in the browser: flame graph, time line, table",
    .operands = "[INPUT...]",
    .about = "Writes the report of INPUT as one page into a private temporary file, "
             "prints its path, and opens it with $BROWSER or xdg-open. If there is "
             "no screen, it prints how to copy the page to a machine that has one. "
             "INPUT is a recording (default: " INPUT_DEFAULT "), a segment or snapshot file, a "
             "directory of them or of chapters, or the PID of a traced process; two "
             "of them open "
             "as a comparison. " INPUT_MOMENT_HELP "\n\n"
             "The page needs no other file and no network. The temporary file is "
             "removed when the browser has loaded it or has ended; one that nobody "
             "opened is removed by seep view a day later. -o FILE keeps it.",
    .options = options,
    .run = run,
};
