/* serve_pages.c - the small pages: services, profiles, targets for Prometheus. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/serve/serve_parts.h"

#include "kit/json/json_put.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

const char pages_style[] = ":root{color-scheme:light dark}"
                           "body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;"
                           "max-width:72rem;padding:0 1rem}"
                           "table{border-collapse:collapse;width:100%}"
                           "th,td{text-align:left;padding:.3rem .8rem .3rem 0;"
                           "border-bottom:1px solid #8885;overflow-wrap:anywhere}"
                           "td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;"
                           "white-space:nowrap}"
                           "footer{margin-top:2rem;opacity:.7}\n";

/* ---- pieces ---- */

/* Odd characters are escaped as everywhere, then as HTML wants. */
static void put_text(FILE *out, const char *text)
{
	char shown[TEXT_ESCAPED];

	while (*text) {
		(void)text_next(&text, shown);
		for (const char *p = shown; *p; p++)
			switch (*p) {
			case '&':
				(void)fputs("&amp;", out);
				break;
			case '<':
				(void)fputs("&lt;", out);
				break;
			case '>':
				(void)fputs("&gt;", out);
				break;
			case '"':
				(void)fputs("&quot;", out);
				break;
			case '\'':
				(void)fputs("&#39;", out);
				break;
			default:
				(void)putc(*p, out);
			}
	}
}

/* A value of a query. */
static void put_query(FILE *out, const char *text)
{
	for (; *text; text++)
		(void)fprintf(out,
		    isalnum((unsigned char)*text) || strchr("._-~", *text) ? "%c" : "%%%02X",
		    (unsigned char)*text);
}

static void put_link(FILE *out, const char *path, const char *service, const char *text)
{
	(void)fprintf(out, "<a href=\"%s", path);
	if (service) {
		(void)fputs("?service=", out);
		put_query(out, service);
	}
	(void)fprintf(out, "\">%s</a>", text);
}

static void put_begin(FILE *out, const char *title, const char *style, bool again)
{
	(void)fprintf(out,
	    "<!doctype html>\n<html lang=\"en\">\n<head>\n"
	    "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, "
	    "initial-scale=1\">\n%s<title>%s</title>\n"
	    "<link rel=\"stylesheet\" href=\"%s\">\n</head>\n<body>\n"
	    "<h1>%s</h1>\n",
	    again ? "<meta http-equiv=\"refresh\" content=\"5\">\n" : "", title, style, title);
}

static void put_end(FILE *out, const char *version)
{
	(void)fprintf(out, "<footer>seep %s</footer>\n</body>\n</html>\n", version);
}

static void put_bytes(FILE *out, uint64_t bytes)
{
	(void)fprintf(out, "<td class=\"n\">%s</td>", WORDS_BYTES(bytes));
}

static void put_number(FILE *out, uint64_t number)
{
	(void)fprintf(out, "<td class=\"n\">%s</td>", WORDS_COUNT(number));
}

/* ---- pages ---- */

static void put_service(FILE *out, const struct services_row *r)
{
	(void)fputs("<tr><td>", out);
	put_text(out, r->name);
	(void)fputs("</td>", out);
	put_number(out, r->processes);
	put_bytes(out, r->live_bytes);
	put_bytes(out, r->peak_bytes);
	put_number(out, r->all.allocations);
	put_number(out, r->all.lost);
	(void)fputs("<td>", out);
	if (r->processes > 0) {
		put_link(out, "view", r->name, "view");
		(void)fputs(" ", out);
		put_link(out, "debug/pprof/heap", r->name, "heap");
		(void)fputs(" ", out);
		put_link(out, "debug/pprof/allocs", r->name, "allocs");
		(void)fputs(" ", out);
		put_link(out, "api/report", r->name, "json");
	}
	(void)fputs("</td></tr>\n", out);
}

void serve_pages_home(
    FILE *out, const struct services *s, const struct engine *l, const char *version)
{
	const struct engine_missing missing = engine_missing(l);

	put_begin(out, "Traced services", "style.css", true);
	(void)fputs("<table>\n<tr><th>service</th><th class=\"n\">processes"
	            "</th><th class=\"n\">live</th><th class=\"n\">peak</th>"
	            "<th class=\"n\">allocations</th><th class=\"n\">lost</th>"
	            "<th></th></tr>\n",
	    out);
	for (size_t i = 0; i < services_count(s); i++)
		put_service(out, services_at(s, i));
	(void)fputs("</table>\n", out);
	if (services_count(s) == 0)
		(void)fputs("<p>No process is traced that this seep may look "
		            "at.</p>\n",
		    out);
	if (missing.processes > 0)
		(void)fprintf(out, "<p>There is no room for %s.</p>\n",
		    WORDS_COUNTED(missing.processes, "more process"));
	(void)fputs("<p>", out);
	put_link(out, "metrics", NULL, "metrics");
	(void)fputs(" ", out);
	put_link(out, "debug/pprof/", NULL, "profiles");
	(void)fputs(" ", out);
	put_link(out, "sd", NULL, "targets");
	(void)fputs(" ", out);
	put_link(out, "api/ls", NULL, "processes");
	(void)fputs("</p>\n", out);
	put_end(out, version);
}

void serve_pages_profiles(FILE *out, const struct services *s, const char *version)
{
	put_begin(out, "Profiles", "../../style.css", false);
	(void)fputs("<p>heap shows what is live, allocs what was allocated. "
	            "?seconds=N gives the difference of two readings.</p>\n<table>\n",
	    out);
	for (size_t i = 0; i < services_count(s); i++) {
		const struct services_row *r = services_at(s, i);

		if (r->processes == 0)
			continue;
		(void)fputs("<tr><td>", out);
		put_text(out, r->name);
		(void)fputs("</td><td>", out);
		put_link(out, "heap", r->name, "heap");
		(void)fputs("</td><td>", out);
		put_link(out, "allocs", r->name, "allocs");
		(void)fputs("</td></tr>\n", out);
	}
	(void)fputs("</table>\n", out);
	put_end(out, version);
}

static const char *word_of(enum folder_kind kind)
{
	return kind == FOLDER_UNIT ? "unit" : kind == FOLDER_CONTAINER ? "container" : "program";
}

void serve_pages_targets(FILE *out, const struct services *s, const char *host)
{
	struct json list = {.file = out};

	json_rows(&list, NULL);
	for (size_t i = 0; i < services_count(s); i++) {
		const struct services_row *r = services_at(s, i);

		if (r->processes == 0)
			continue;
		json_object(&list, NULL);
		json_list(&list, "targets");
		json_text(&list, NULL, host);
		json_end(&list);
		json_object(&list, "labels");
		json_text(&list, "__param_service", r->name);
		json_text(&list, "__meta_seep_service", r->name);
		json_text(&list, "__meta_seep_kind", word_of(r->kind));
		json_ends(&list, 2);
	}
	json_line(&list);
	(void)json_finish(&list, 0);
}

void serve_pages_names(FILE *out, const struct services *s)
{
	const char *before = "";

	for (size_t i = 0; i < services_count(s); i++) {
		if (services_at(s, i)->processes == 0)
			continue;
		(void)fputs(before, out);
		text_print(out, services_at(s, i)->name);
		before = ", ";
	}
}
