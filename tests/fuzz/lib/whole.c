/* whole.c - all that the command makes of a session, into nothing. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "whole.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "print/check/write.h"
#include "print/export/export.h"
#include "print/json/report_json.h"
#include "names/find/names.h"
#include "print/text/body.h"
#include "print/text/report_text.h"

/*
 * Linked with --wrap=fork: the process that would read debug information of
 * files which the input chooses is never started. That has tests of its own.
 */
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	errno = EAGAIN;
	return -1;
}

FILE *whole_nowhere(void)
{
	static FILE *nowhere;

	if (!nowhere)
		nowhere = fopen("/dev/null", "w");
	if (!nowhere)
		abort(); /* the fuzzer's own trouble */
	return nowhere;
}

void whole_open(struct whole_file *f, const uint8_t *bytes, size_t len)
{
	f->fd = memfd_create("input", MFD_CLOEXEC);
	if (f->fd < 0 || write(f->fd, bytes, len) != (ssize_t)len)
		abort();
	(void)snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
}

void whole_close(struct whole_file *f)
{
	close(f->fd);
}

/* Is it the n-th one's turn? */
static bool is_turn(size_t turn, size_t n)
{
	return turn == WHOLE_EVERY || turn % 3 == n % 3;
}

static void reports(struct session *s, struct names *names, size_t turn)
{
	static const struct growth_moment from = {30, true}, to = {100, true};
	const struct layout page = {
	    .out = whole_nowhere(), .width = 80, .colour = true, .utf8 = true};

	for (size_t metric = VIEW_LIVE; metric <= VIEW_TEMPORARY; metric++) {
		const struct body_options tree = {.threshold = 1,
		    .top = 10,
		    .top_down = metric & 1,
		    .view = {.metric = (int)metric, .group = true, .fold = true}};
		const struct body_options table = {.shape = BODY_TABLE,
		    .order = (int)metric % 3,
		    .view = {.metric = (int)metric, .merge = true, .group = true}};

		if (is_turn(turn, metric + 1))
			(void)report_text_write(&page, s, names, &table);
		if (!is_turn(turn, metric))
			continue;
		(void)report_text_write(&page, s, names, &tree);
		if (metric == VIEW_LIVE || metric == VIEW_ALLOCS)
			(void)compare_text_growth(&page, s, names, &tree, &from, &to);
	}
	for (uint32_t id = 1; id < 4; id++)
		if (is_turn(turn, id))
			(void)site_write(&page, s, names, &(struct view_options){0}, id);
}

static void jsons(struct session *s, struct names *names, size_t turn)
{
	static const struct growth_moment from = {0, false}, to = {0.1, false};
	const struct view_options plain = {0};
	const struct view_options merged = {.merge = true, .depth = 3};
	FILE *out = whole_nowhere();

	(void)report_json_write(out, s, names, NULL, "fuzz");
	if (is_turn(turn, 0))
		(void)report_json_write(out, s, names, &merged, "fuzz");
	if (is_turn(turn, 1))
		(void)growth_json_write(out, s, names, &plain, &from, &to, "fuzz");
}

static void diffs(struct session *s, struct names *names, size_t turn)
{
	const struct layout page = {.out = whole_nowhere(), .width = 200};
	const struct body_options body = {.view = {.group = true, .fold = true, .trim = true}};
	const struct diff_side first = {.name = "old", .session = s, .only = s->processes[0]};
	const struct diff_side all = {.name = "new", .session = s};
	struct session *const row[] = {s, s};

	(void)compare_text_diff(&page, &first, &all, names, &body);
	if (is_turn(turn, 0))
		(void)diff_json_write(page.out, &all, &first, names, &body.view, "fuzz");
	if (is_turn(turn, 1)) {
		(void)compare_text_snapshots(&page, row, 2, names, &body);
		(void)moments_table_write(page.out, row, 2, body.view.pid, "fuzz");
	}
}

static void write_verdicts(const struct check *c)
{
	const struct write_options write = {.root = "/", .version = "fuzz"};
	FILE *out = whole_nowhere();

	(void)write_text(out, c, &write);
	(void)write_json(out, c, &write);
	(void)write_junit(out, c, &write);
	(void)write_sarif(out, c, &write);
	(void)write_suppressions(out, c, WRITE_VALGRIND);
	(void)write_suppressions(out, c, WRITE_LSAN);
}

static void checks(struct session *s, struct names *names)
{
	struct check_options options = {
	    .max_live = {.given = true, .bytes = 1}, .tolerance_percent = 10};
	struct view_options live = {.group = true, .fold = true};
	struct check_input input = {.name = "input", .session = s};
	struct check *c;

	if (suppress_new(&live.suppress) < 0)
		return;
	input.suppress = live.suppress;
	if (suppress_builtin(live.suppress) == 0 && view_new(s, names, &live, &input.view) == 0) {
		if (check_new(&input, 1, &options, &c) == 0) {
			write_verdicts(c);
			check_free(c);
		}
		view_free(input.view);
	}
	suppress_free(live.suppress);
}

static void write_export(const struct export_format *f, struct session *s, struct names *names)
{
	const struct process *only = f->flags & EXPORT_ONE ? s->processes[0] : NULL;
	const struct view_options options = {.only = only,
	    .metric = f->flags & EXPORT_DEAD ? VIEW_ALL : VIEW_LIVE,
	    .all_kinds = f->flags & EXPORT_KINDS,
	    .group = f->flags & EXPORT_GROUPED,
	    .fold = f->flags & EXPORT_FOLDED,
	    .merge = f->flags & EXPORT_MERGED};
	const struct export_options how = {.version = "fuzz", .only = only};
	struct view *v;

	if (f->write_session) {
		(void)f->write_session(whole_nowhere(), s, names, &options, &how);
		return;
	}
	if (view_new(s, names, &options, &v) < 0)
		return;
	(void)f->write(whole_nowhere(), v, &how);
	view_free(v);
}

void whole_session(struct session *s, unsigned parts, size_t turn, bool named)
{
	const struct names_options options = {.no_symbols = !named, .no_cache = true};
	const struct export_format *const *formats;
	struct names *names;
	size_t count;

	if (s->count == 0 || names_new(&options, &names) < 0)
		return;
	if (parts & WHOLE_REPORTS)
		reports(s, names, turn);
	if (parts & WHOLE_JSON)
		jsons(s, names, turn);
	if (parts & WHOLE_DIFF)
		diffs(s, names, turn);
	if (parts & WHOLE_CHECK)
		checks(s, names);
	formats = export_formats(&count);
	for (size_t i = 0; i < count && parts & WHOLE_EXPORTS; i++)
		if (is_turn(turn, i) && !(formats[i]->flags & EXPORT_PACKED))
			write_export(formats[i], s, names);
	names_free(names);
}
