/* csv.c - a row for each site, as defined by RFC 4180. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/export/export.h"
#include "print/export/texts.h"
#include "print/json/figures.h"
#include "view/sites/ages.h"
#include "view/stacks/fingerprint.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/words/text.h"
#include "kit/data/sorted.h"

struct csv {
	FILE *out;
	const struct view *view;
	const struct export_options *options;
	struct texts *texts;
	struct fingerprints *prints;
	bool with_holds; /* the last two columns */
};

/* ---- cells ---- */

/* Would a spreadsheet take it for a formula? Full-width forms count, too. */
static bool is_formula(const char *text)
{
	static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	text += strspn(text, " ");
	return *text && strchr("=+-@", *text);
}

/*
 * Foreign text in quotes. Spreadsheets evaluate text that begins like a
 * formula, so an apostrophe is put before it; also after a semicolon, where
 * some of them split the line in spite of the quotes.
 */
static void put_guarded(FILE *out, const char *text)
{
	char before = ';';

	while (*text) {
		if (before == ';' && is_formula(text))
			(void)putc('\'', out);
		if (*text == '"')
			(void)putc('"', out);
		before = *text;
		text += text_put(out, text);
	}
}

static void put_text(FILE *out, const char *text)
{
	(void)fputs(",\"", out);
	if (text)
		put_guarded(out, text);
	(void)putc('"', out);
}

static void put_number(FILE *out, uint64_t n)
{
	(void)fprintf(out, ",%" PRIu64, n);
}

/* Not known: an empty cell. */
static void put_known(FILE *out, uint64_t n, bool known)
{
	if (known)
		put_number(out, n);
	else
		(void)putc(',', out);
}

static void put_time(FILE *out, uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char buffer[64];
	struct tm tm;

	(void)putc(',', out);
	if (realtime_ns > 0 && gmtime_r(&seconds, &tm) &&
	    strftime(buffer, sizeof(buffer), "%Y-%m-%dT%H:%M:%S", &tm) > 0)
		(void)fprintf(out, "%s.%03uZ", buffer, (unsigned)(realtime_ns / 1000000 % 1000));
}

/* A recording at a moment lacks some; their columns are empty. */
static void put_figures(const struct csv *c, unsigned groups, const struct view_figures *f)
{
	for (int i = 0; i < FIGURES; i++)
		if (figures[i].group & groups)
			put_known(c->out, figures_value(&figures[i], f),
			    !c->view->session->title || !(figures[i].group & FIGURES_ENDS));
}

/* ---- rows ---- */

static void put_names(FILE *out, unsigned groups, const char *before)
{
	for (int i = 0; i < FIGURES; i++)
		if (figures[i].group & groups)
			(void)fprintf(out, ",%s%s", before, figures[i].name);
}

static void put_head(FILE *out, const struct export_options *o, bool with_holds)
{
	(void)fputs("pid,process,id,kind,api,pool", out);
	put_names(out, FIGURES_COUNTED | FIGURES_TEMPORARY, "");
	if (o->since)
		put_names(out, FIGURES_COUNTED | FIGURES_TEMPORARY, "before_");
	if (o->older)
		put_names(out, FIGURES_OLDER, "");
	(void)fputs(",samples,size_min,size_max,first_time,last_time,"
	            "fingerprint,suppression,function,file,line,module,"
	            "stack,temporary_within_ms",
	    out);
	if (with_holds)
		put_names(out, FIGURES_PAGES, "");
	(void)fputs("\r\n", out);
}

/*
 * As in collapsed stacks: from the outermost frame on, separated by semicolons.
 */
static void put_stack(FILE *out, struct texts *texts, const struct view_site *s)
{
	(void)fputs(",\"", out);
	for (uint32_t i = s->frame_count; i-- > 0;) {
		texts_put(texts, s->frames[i], out);
		if (i > 0)
			(void)putc(';', out);
	}
	(void)putc('"', out);
}

static void write_name(FILE *out, const struct frame *f)
{
	char *text = texts_name_of(f);

	for (char *c = text; c && *c; c++)
		if (*c == ';')
			*c = ':';
	if (text)
		put_guarded(out, text); /* it is already escaped */
	free(text);
}

static void put_identity(const struct csv *c, const struct view_site *s)
{
	const struct session *session = c->view->session;
	const struct process *p;

	if (s->process != VIEW_MERGED) {
		p = session->processes[s->process];
		(void)fprintf(c->out, "%" PRIu32, p->header.pid);
		put_text(c->out, program_name(&p->header));
	} else {
		(void)putc(',', c->out);
	}
	put_known(c->out, s->id, s->count == 1);
	put_text(c->out, enum_words_kind(s->kind));
	put_text(c->out, enum_words_api(s->api));
	put_text(c->out, s->pool);
}

static void put_row(const struct csv *c, const struct view_site *s)
{
	const struct frame *f = s->frame_count ? &c->view->frames[s->frames[s->own]] : NULL;
	bool knows_size = s->size_min > 0 || s->size_max > 0;
	struct fingerprint print;

	put_identity(c, s);
	put_figures(c, FIGURES_COUNTED | FIGURES_TEMPORARY, &s->figures);
	if (c->options->since)
		put_figures(c, FIGURES_COUNTED | FIGURES_TEMPORARY, &s->before);
	if (c->options->older)
		put_figures(c, FIGURES_OLDER, &s->figures);
	put_number(c->out, s->samples);
	put_known(c->out, s->size_min, knows_size);
	put_known(c->out, s->size_max, knows_size);
	put_time(c->out, s->first_ns);
	put_time(c->out, s->last_ns);
	fingerprints_site(c->prints, s, &print);
	(void)fprintf(c->out, ",%016" PRIx64, print.hash);
	put_text(c->out, s->suppression);
	put_text(c->out, f ? f->brief : NULL);
	put_text(c->out, f ? f->file : NULL);
	put_known(c->out, f ? f->line : 0, f && f->line > 0);
	put_text(c->out, f ? f->module : NULL);
	put_stack(c->out, c->texts, s);
	put_known(c->out, ages_temporary_ns(c->view) / 1000000, c->view->temporary_ticks > 0);
	if (c->with_holds)
		put_figures(c, FIGURES_PAGES, &s->figures);
	(void)fputs("\r\n", c->out);
}

/* ---- all of them ---- */

struct row {
	const struct view_site *site;
	uint64_t bytes; /* of the metric; how much it changed; the older */
};

BY(larger, struct row, DOWN(bytes) ?: UP(site))

static int write_csv(FILE *out, const struct view *v, const struct export_options *o)
{
	struct row *rows = calloc(v->site_count + 1, sizeof(*rows));
	size_t count = v->site_count;
	struct csv c = {.out = out, .view = v, .options = o, .with_holds = export_has_holds(v, o)};
	int err = -ENOMEM;

	if (!rows || texts_new(v, write_name, &c.texts) < 0 || fingerprints_new(v, &c.prints) < 0)
		goto out;
	for (size_t i = 0; i < count; i++) {
		const struct view_site *s = &v->sites[i];
		uint64_t now = view_bytes(&s->figures, o->metric);
		uint64_t before = view_bytes(&s->before, o->metric);

		rows[i].site = s;
		rows[i].bytes = now > before ? now - before : before - now;
		if (o->older)
			rows[i].bytes = s->figures.older_bytes;
	}
	qsort(rows, count, sizeof(*rows), larger);
	if (o->top > 0 && count > o->top)
		count = o->top;
	put_head(out, o, c.with_holds);
	for (size_t i = 0; i < count && !ferror(out); i++)
		put_row(&c, rows[i].site);
	err = ferror(out) ? -EIO : 0;
out:
	texts_free(c.texts);
	fingerprints_free(c.prints);
	free(rows);
	return err;
}

const struct export_format export_csv = {
    .name = "csv",
    .extension = ".csv",
    .what = "a row for each site, largest first: spreadsheets, databases",
    .flags = EXPORT_DEAD | EXPORT_KINDS | EXPORT_METRIC | EXPORT_SINCE | EXPORT_DEPTH | EXPORT_TOP |
        EXPORT_AGES | EXPORT_RESIDENT,
    .write = write_csv,
};
