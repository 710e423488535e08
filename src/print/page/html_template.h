/* html_template.h - the page without data, built from web/. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_HTML_TEMPLATE_H
#define SEEP_HTML_TEMPLATE_H

/*
 * web/dist/report.html, a text; data goes to the one place where it has
 * HTML_TEMPLATE_DATA.
 */
#define HTML_TEMPLATE_DATA "@SEEP-DATA@"

extern const char html_template[];

#endif
