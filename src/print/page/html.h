/* html.h - the report as one page of HTML: template, then packed data. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTML_H
#define SEEP_HTML_H

#include "view/sites/view.h"

struct names;

struct html_input {
	/* of VIEW_ALL with keep_suppressed, each site by itself */
	const struct view *view;
	const char *title; /* the name that the user gave; NULL: none */
	/* with what mappings by caller are shown; NULL: they are not */
	struct names *names;
	const struct view_options *filters;
};

struct html_session {
	const struct session *session;
	const char *title; /* as above */
};

struct html_options {
	const char *version; /* ours */
	int metric;          /* enum view_metric: what is shown at first */
	uint32_t pid;        /* VIEW_ANY */
	bool full;           /* includes very small sites */
	/* of the only input; shown at first. NULL: not asked for */
	const struct older *older;
	bool compare; /* at first, the last input with the first; two: always */
	/*
	 * From where, relative to the page, it takes new data again and again;
	 * NULL: it asks nobody. What is_data writes is meant.
	 */
	const char *refresh;
	const char *census; /* census_json_page() of the only input; or NULL */
	bool is_data;       /* only what goes into the place for data */
	char *const *notes; /* about names */
	size_t note_count;
};

/*
 * One file that needs no other; docs/PAGE.md describes it. Figures are those of
 * the JSON report; sites of less than a ten thousandth of everything are merged
 * into "(other)" below their callers where there are very many. -EINVAL: a view is grouped;
 * -ENOMEM; -EIO if ferror(out).
 */
int html_write(
    FILE *out, const struct html_input *inputs, size_t count, const struct html_options *o);

/*
 * The policy of a page that may ask its server (html_options.refresh), for a
 * header: what may run in it is named by hashes. "" if it does not fit.
 */
void html_policy(char *to, size_t bytes);

/*
 * The same for whole inputs. The filters and suppressions of `options` apply to
 * all; notes about names are added. -ENOMEM, -EIO; -ESRCH: none has the process
 * options->pid.
 */
int html_write_sessions(FILE *out, const struct html_session *sessions, size_t count,
    struct names *names, const struct view_options *options, const struct html_options *o);

/* ---- html_template: the page without data, built from web/ ---- */

/*
 * web/dist/report.html, a text; data goes to the one place where it has
 * HTML_TEMPLATE_DATA.
 */
#define HTML_TEMPLATE_DATA "@SEEP-DATA@"

extern const char html_template[];

#endif
