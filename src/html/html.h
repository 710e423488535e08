/* html.h - the report as one page of HTML: template, then packed data. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTML_HTML_H
#define SEEP_HTML_HTML_H

#include "report/view.h"

struct names;

struct html_input {
	/* of VIEW_ALL with keep_suppressed, each site by itself */
	const struct view *view;
	const char *title; /* as the user calls it; NULL: nothing */
};

struct html_session {
	const struct session *session;
	const char *title; /* as above */
};

struct html_options {
	const char *version; /* ours */
	int metric;          /* enum view_metric: what is shown at first */
	uint32_t pid;        /* VIEW_ANY */
	bool full;           /* sites that hardly matter, too */
	/* of the only input; shown at first. NULL: not asked for */
	const struct older *older;
	bool compare; /* at first, the last input with the first; two: always */
	char *const *notes; /* about names */
	size_t note_count;
};

/*
 * One file that needs nothing else, told in docs/PAGE.md. Figures are those of
 * the JSON report; sites of less than a ten thousandth of everything are merged
 * into "(other)" below their callers where there are very many. -EINVAL: a view is grouped;
 * -ENOMEM; -EIO as ferror(out) tells.
 */
int html_write(FILE *out, const struct html_input *inputs, size_t count,
    const struct html_options *o);

/*
 * The same of whole inputs. The filters and suppressions of `options` hold for
 * all; notes about names are added. -ENOMEM, -EIO; -ESRCH: none has the process
 * options->pid.
 */
int html_write_sessions(FILE *out, const struct html_session *sessions,
    size_t count, struct names *names, const struct view_options *options,
    const struct html_options *o);

#endif
