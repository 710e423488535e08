/* output.h - writes results to stdout, or to a file named when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_OUTPUT_H
#define SEEP_OUTPUT_H

#include "base/std.h"
#include "command/options/opts.h"
#include "command/shell/terminal.h"
#include "kit/os/outfile.h"
#include "session/load/session.h"

/*
 * With a path (NULL or "-": stdout), bytes go to a file beside it, which
 * output_finish() renames: a failure or a signal does not change an existing
 * file. kit/os/outfile.h has the rules about links, devices and pipes. Failures
 * end the program: one line, exit 3. `o` must not move until output_finish().
 */
struct output {
	FILE *file; /* not stdout, which waits for its first bytes */
	const char *path;
	struct outfile out; /* with a path */
	enum outfile_existing existing;
	int fd, error;  /* errno of the first write that failed */
	uint64_t bytes; /* so far */
};

void output_open(struct output *o, const char *path);

/*
 * The same for a page of HTML, which is not for a terminal: without a path, one
 * line and exit 2.
 */
void output_not_terminal(const char *command, const char *path);

/*
 * A name that ends as that of a compressed file, for a result that is not: other
 * tools go by the name and find nothing. One line and exit 2.
 */
void output_not_packed(const char *command, const char *path);

/* The same, but an existing file is an error, here and in output_finish(). */
void output_open_new(struct output *o, const char *path);

/*
 * The same for a file that nobody else may read, in a directory made for it: if
 * there is no result, `dir` is removed as well. It must stay valid until
 * output_finish().
 */
void output_open_private(struct output *o, const char *dir, const char *path);

/* How results are shown: --color and --no-pager. */
struct output_view {
	int colour; /* enum terminal_colour */
	bool no_pager;
	uint64_t max_bytes; /* of the result; 0: OUTPUT_MAX */
};

/* They fill a struct output_view. */
extern const struct opts_option output_view_rows[];

/*
 * A result that repeats parts of its input can be very large. If it exceeds
 * this limit, there is none: one line, exit 3, and an existing file stays as it
 * was. On a terminal there is no limit, because the user can stop it. Call this
 * before output_open(); 0: OUTPUT_MAX.
 */
#define OUTPUT_MAX      (UINT64_C(2) << 30)
#define OUTPUT_MAX_HELP "refuse to write more than SIZE (default 2GiB)"
void output_limit(uint64_t max_bytes);
uint64_t output_max(void);

/* Ends the program in this way if the coming bytes of JSON are too many. */
void output_check_json(const char *command, uint64_t bytes);

/*
 * Finds out what the terminal can show. It gets a pager (see terminal.h, also for
 * `answer`, the later exit status) when the first bytes leave the buffer; the
 * line of progress ends then.
 */
void output_show(
    const struct output *o, const struct output_view *view, int answer, struct terminal *ret);

/* A closed pipe behind stdout is not reported as a failure. */
void output_finish(struct output *o);

/*
 * Prints the name of a file that was written to stdout: unchanged for a script,
 * escaped on a terminal.
 */
void output_tell_path(const char *path);

/*
 * The same for what was printed to stdout: returns CMD_OK, or does not return.
 */
int output_flush(void);

/* For who has flushed stdout himself, with this error (errno). */
_Noreturn void output_failed(int error);

/* ---- privacy: makes results as private as their inputs ---- */

/*
 * From now on files with results have at most the permissions of this input: if
 * others may read it, they may read the result. Anything else, a directory or a
 * process (NULL), gives files for the user alone. If the input belongs to
 * another group, its mode says nothing about ours.
 */
void privacy_note(const char *path);

/* The same for the snapshots that session_add_snapshots() has found. */
void privacy_note_snapshots(const struct session *s);

/* The result of this command is meant to be shown to others. */
void privacy_lift(void);

/* The permissions that a result may have, before the umask. */
mode_t privacy_mode(void);

#endif
