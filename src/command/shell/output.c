/* output.c - writes results to stdout, or to a file named when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/shell/output.h"

#include "command/cmd.h"
#include "command/shell/die.h"
#include "command/shell/terminal.h"
#include "kit/os/infile.h"
#include "kit/words/text.h"
#include "view/sites/enum_words.h"

const struct opts_option output_view_rows[] = {
    {"color", 0, OPTS_WORD, offsetof(struct output_view, colour), 0, TERMINAL_COLOURS,
        "auto (the default) uses colours on a terminal unless NO_COLOR is set"},
    {"no-pager", 0, OPTS_FLAG, offsetof(struct output_view, no_pager), 0, NULL,
        "write to the terminal itself, not to SEEP_PAGER, PAGER or less"},
    {"max-output", 0, OPTS_SIZE, offsetof(struct output_view, max_bytes), 0, "SIZE",
        OUTPUT_MAX_HELP},
    {0},
};

/*
 * Is there a temporary file to remove if we end early? A signal handler reads
 * both.
 */
static const struct outfile *volatile pending;
static const char *volatile pending_dir; /* NULL: none to remove */

enum { BUFFER_BYTES = 1 << 16 };

static void remove_pending(void)
{
	const struct outfile *out = pending;

	if (out && out->has_temp)
		(void)unlinkat(out->dir_fd, out->temp, 0);
	if (pending_dir)
		(void)rmdir(pending_dir);
}

static void on_ending(int signal_number)
{
	remove_pending();
	(void)signal(signal_number, SIG_DFL);
	(void)raise(signal_number); /* delivered when this handler returns */
}

/* Removes it, however the program ends, except by SIGKILL. */
static void guard(const struct outfile *out)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	static bool guarded;

	pending = out;
	if (guarded)
		return;
	guarded = true;
	(void)atexit(remove_pending);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		if (signal(ending[i], on_ending) == SIG_IGN)
			(void)signal(ending[i], SIG_IGN);
}

/*
 * Results on stdout begin when the first bytes leave the buffer. Until then a
 * line of progress may be shown, and there is no pager that would show an empty
 * page. From then on others write to the terminal: the pager, the reader of a
 * pipe, or we.
 */
static struct {
	bool begun, ending, wants_pager;
	int answer;
	struct terminal terminal;
} shown;

static void note_end(void)
{
	shown.ending = true; /* what is flushed now is too short for a pager */
}

static void begin(void)
{
	struct stat st;

	shown.begun = true;
	if (fstat(STDOUT_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		return;
	progress_stop();
	if (shown.wants_pager && !shown.ending)
		pager_start(&shown.terminal, shown.answer);
}

static uint64_t limit = OUTPUT_MAX;

void output_limit(uint64_t max_bytes)
{
	limit = max_bytes ? max_bytes : OUTPUT_MAX;
}

uint64_t output_max(void)
{
	return limit;
}

void output_check_json(const char *command, uint64_t bytes)
{
	if (bytes > limit)
		die(CMD_INPUT,
		    "%s: this would be about %s of JSON, more than %s; seep "
		    "report --format json --frames shared writes every frame "
		    "once; --max-output SIZE allows more",
		    command, WORDS_BYTES(bytes), WORDS_BYTES(limit));
}

/* Called by stdio while something writes, so it calls nothing else. */
static _Noreturn void end_too_large(const struct output *o)
{
	die_warn("%s: more than %s: %s; --max-output SIZE allows more",
	    o->path ? o->path : "standard output", WORDS_BYTES(limit),
	    o->path && !o->out.direct ? "not written" : "cut off there");
	remove_pending();
	_exit(CMD_INPUT);
}

/* Remembers the error, because stdio does not keep it. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t len)
{
	struct output *o = cookie;
	size_t done = 0;

	if (!o->path && !shown.begun)
		begin();
	o->bytes += len;
	if (o->bytes > limit && !shown.terminal.is_terminal)
		end_too_large(o);
	while (done < len && o->error == 0) {
		ssize_t n = write(o->fd, bytes + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			o->error = errno;
	}
	return done == len ? (ssize_t)len : 0; /* so says fopencookie(3) */
}

static void open_stream(struct output *o)
{
	static const cookie_io_functions_t calls = {.write = write_bytes};
	static bool registered;

	(void)fflush(stdout); /* flush first what was printed before */
	o->file = fopencookie(o, "w", calls);
	if (!o->file || setvbuf(o->file, NULL, _IOFBF, BUFFER_BYTES) != 0)
		die(CMD_INPUT, "out of memory");
	if (!registered)
		registered = atexit(note_end) == 0;
}

static _Noreturn void fail(const char *path, int err)
{
	die(CMD_INPUT, "%s: cannot be written: %s", path, outfile_error(-err));
}

static _Noreturn void refuse(const char *path)
{
	die(CMD_INPUT, "%s exists: use --force to replace it, or another name", path);
}

static void open_path(
    struct output *o, const char *path, enum outfile_existing existing, mode_t mode)
{
	int err;

	if (path && (!strcmp(path, "-") || infile_descriptor(path) == STDOUT_FILENO))
		path = NULL;
	*o = (struct output){.path = path, .fd = STDOUT_FILENO, .existing = existing};
	if (path) {
		err = outfile_open(path, existing, mode, &o->out);
		if (err == -EEXIST)
			refuse(path);
		if (err < 0)
			fail(path, -err);
		guard(&o->out);
		o->fd = o->out.fd;
	}
	open_stream(o);
}

void output_open(struct output *o, const char *path)
{
	open_path(o, path, OUTFILE_REPLACE, privacy_mode());
}

void output_open_new(struct output *o, const char *path)
{
	open_path(o, path, OUTFILE_REFUSE, privacy_mode());
}

void output_open_private(struct output *o, const char *dir, const char *path)
{
	pending_dir = dir;
	open_path(o, path, OUTFILE_REFUSE, 0600);
}

/* Gives the file its name. */
static int give_name(struct output *o)
{
	int err = outfile_flush(&o->out);

	if (err == 0)
		err = outfile_publish(&o->out, o->existing);
	if (err == -EEXIST)
		refuse(o->path);
	return -err;
}

void output_not_terminal(const char *command, const char *path)
{
	if (!path && isatty(STDOUT_FILENO) == 1)
		die(CMD_USAGE,
		    "%s: --format html is for a browser: give it -o FILE, or "
		    "type: seep view",
		    command);
}

void output_not_packed(const char *command, const char *path)
{
	static const char *const ends[] = {".gz", ".zst", ".xz", ".bz2"};
	size_t len = path ? strlen(path) : 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t n = strlen(ends[i]);

		if (len > n && strcmp(path + len - n, ends[i]) == 0)
			die(CMD_USAGE,
			    "%s: this format is not compressed, and other "
			    "tools go by the name: leave out \"%s\", or "
			    "compress the file afterwards",
			    command, ends[i]);
	}
}

void output_show(
    const struct output *o, const struct output_view *view, int answer, struct terminal *ret)
{
	terminal_look(o->fd, view->colour, ret);
	if (ret->is_terminal && o->path)
		progress_stop(); /* the two would mix */
	shown.terminal = *ret;
	shown.answer = answer;
	shown.wants_pager = !o->path && !view->no_pager;
}

/* Ends as if whoever started us had not ignored SIGPIPE. */
static void end_of_pipe(void)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)raise(SIGPIPE);
}

void output_finish(struct output *o)
{
	if (fclose(o->file) != 0 && o->error == 0)
		o->error = errno ? errno : EIO;
	if (!o->path && o->error == EPIPE)
		end_of_pipe();
	if (o->error == 0 && o->path)
		o->error = give_name(o);
	if (o->error != 0)
		fail(o->path ? o->path : "standard output", o->error);
	pending = NULL;
	pending_dir = NULL;
	if (o->path)
		outfile_close(&o->out);
}

void output_tell_path(const char *path)
{
	if (isatty(STDOUT_FILENO) == 1)
		text_print(stdout, path);
	else
		(void)fputs(path, stdout);
	(void)putchar('\n');
}

_Noreturn void output_failed(int error)
{
	if (error == EPIPE)
		end_of_pipe();
	fail("standard output", error ? error : EIO);
}

int output_flush(void)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return CMD_OK;
	output_failed(errno);
}

/* ---- privacy: makes results as private as their inputs ---- */

enum { USER = 0600, GROUP = 0060, ALL = 0666 };

static mode_t allowed = ALL;

void privacy_note(const char *path)
{
	struct stat st;

	if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode)) {
		allowed = USER;
		return;
	}
	allowed &= st.st_mode | USER;
	if (st.st_gid != getegid())
		allowed &= ~(mode_t)GROUP;
}

void privacy_note_snapshots(const struct session *s)
{
	for (size_t i = 0; i < s->snapshot_count; i++)
		privacy_note(s->snapshots[i].path);
}

void privacy_lift(void)
{
	allowed = ALL;
}

mode_t privacy_mode(void)
{
	return allowed;
}
