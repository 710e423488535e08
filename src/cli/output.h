/* output.h - results: to stdout, or to a file that appears when complete. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_OUTPUT_H
#define SEEP_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/opts.h"
#include "cli/terminal.h"
#include "trace/outfile.h"

/*
 * With a path (NULL or "-": stdout) bytes go to a file beside it, which gets
 * its name in output_finish(): a failure or a signal leaves what was there.
 * trace/outfile.h has the rules about links, devices and pipes. Failures end
 * the program: one line, exit 3. `o` stays where it is until output_finish().
 */
struct output {
	FILE *file; /* not stdout: that one waits for its first bytes */
	const char *path;
	struct outfile out; /* with a path */
	enum outfile_existing existing;
	int fd, error;  /* errno of the first write that failed */
	uint64_t bytes; /* so far */
};

void output_open(struct output *o, const char *path);

/* A page is not for a terminal: without a path that is one line, exit 2. */
void output_not_terminal(const char *command, const char *path);

/* The same, but an existing file is refused, now and in output_finish(). */
void output_open_new(struct output *o, const char *path);

/*
 * The same for a file that nobody else may read, in a directory made for it
 * alone: if there is no result, `dir` is removed as well. It stays valid until
 * output_finish().
 */
void output_open_private(struct output *o, const char *dir, const char *path);

/* How the user wants to see results: --color and --no-pager. */
struct output_view {
	int colour; /* enum terminal_colour */
	bool no_pager;
	uint64_t max_bytes; /* of the result; 0: OUTPUT_MAX */
};

/* They fill a struct output_view. */
extern const struct opts_option output_view_rows[];

/*
 * A result of a small file can be very large, where it repeats what the file
 * has once. What would be larger than this is no result: one line, exit 3, and
 * a file that was there is as it was. Not on a terminal, where the user has
 * seen enough when he has. Call it before output_open(); 0: OUTPUT_MAX.
 */
#define OUTPUT_MAX      (UINT64_C(2) << 30)
#define OUTPUT_MAX_HELP "refuse to write more than SIZE (default 2GiB)"
void output_limit(uint64_t max_bytes);
uint64_t output_max(void);

/* Are there about so many bytes of JSON to come, too many? Then that is it. */
void output_check_json(const char *command, uint64_t bytes);

/*
 * Tells what the place can show. A terminal gets a pager (see pager.h, also
 * for `answer`, what the command will exit with) when the first bytes leave the
 * buffer; progress ends then.
 */
void output_show(const struct output *o, const struct output_view *view,
    int answer, struct terminal *ret);

/* A closed pipe at the other end of stdout is no failure to talk about. */
void output_finish(struct output *o);

/*
 * A line on stdout with the name of a file that was written: as it is for a
 * script, escaped on a terminal.
 */
void output_tell_path(const char *path);

/* The same for what was printed to stdout: CMD_OK, or it does not return. */
int output_flush(void);

#endif
