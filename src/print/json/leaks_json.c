/* leaks_json.c - the answer of seep leaks as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/leaks_json.h"

#include <errno.h>
#include <inttypes.h>

#include "print/json/frames_table.h"
#include "print/json/rss_json.h"
#include "print/json/score_json.h"
#include "print/json/verdict_json.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"

enum { SCHEMA = 1 };

/* `unit` is the key for the number of sites. */
static void put_sum(FILE *out, const char *name, const char *unit, const struct verdict_sum *s)
{
	json_key(out, name);
	(void)fprintf(out, "{\"%s\":%" PRIu64 ",\"blocks\":%" PRIu64 ",\"bytes\":%" PRIu64 "}",
	    unit, s->places, s->blocks, s->bytes);
}

static void put_sums(FILE *out, const char *name, const struct verdict_sums *s)
{
	json_key(out, name);
	(void)fprintf(out, "{\"places\":%" PRIu64, s->shown.places);
	put_sum(out, "shown", "places", &s->shown);
	put_sum(out, "suppressed", "places", &s->suppressed);
	put_sum(out, "filtered", "places", &s->filtered);
	(void)putc('}', out);
}

/* One site; `frames` are the frames of its view. */
static int put_line(
    FILE *out, const struct process *p, const struct verdict_line *x, struct frames_table *frames)
{
	int err = 0;

	(void)fprintf(out, "\n{\"pid\":%u,\"id\":", p->header.pid);
	if (x->site)
		(void)fprintf(out, "%u", x->site->id);
	else
		(void)fputs("null", out);
	json_number(out, "sites", x->site ? x->site->count : 1);
	json_boolean(out, "inherited", x->is_inherited);
	json_text(out, "api", x->site ? enum_words_api(x->site->api) : NULL);
	json_key(out, "verdict");
	verdict_json_part(out, x->view, x->site, x->class, &x->part);
	if (x->site)
		err = frames_table_put(out, frames, x->site);
	else
		(void)fputs(",\"frames\":[]", out);
	(void)putc('}', out);
	return err;
}

/* All sites of a process; *comma: a comma comes before the first one. */
static int put_lines(
    FILE *out, const struct process *p, const struct verdict_list *l, const char **comma)
{
	struct frames_table *frames = NULL;
	const struct view *of = NULL;
	int err = 0;

	for (size_t i = 0; i < l->count && err == 0; i++) {
		const struct verdict_line *x = &l->lines[i];

		if (x->view && x->view != of) {
			frames_table_free(frames);
			frames = NULL;
			of = x->view;
			err = frames_table_new(of, NULL, &frames);
		}
		(void)fputs(*comma, out);
		*comma = ",";
		if (err == 0)
			err = put_line(out, p, x, frames);
	}
	frames_table_free(frames);
	return err;
}

/* What leaks, grows or is steady by the ages of its blocks. */
static int put_scores(
    FILE *out, const struct process *p, const struct score_list *l, const char **comma)
{
	struct frames_table *frames = NULL;
	int err = l->count > 0 ? frames_table_new(l->view, NULL, &frames) : 0;

	for (size_t i = 0; i < l->count && err == 0; i++) {
		const struct view_site *s = l->lines[i].site;

		(void)fprintf(out, "%s\n{\"pid\":%u,\"id\":%u", *comma, p->header.pid, s->id);
		json_number(out, "sites", s->count);
		json_text(out, "api", enum_words_api(s->api));
		json_key(out, "verdict");
		verdict_json_score(out, l->view, s, l->lines[i].held);
		err = frames_table_put(out, frames, s);
		(void)putc('}', out);
		*comma = ",";
	}
	frames_table_free(frames);
	return err;
}

static void put_process(FILE *out, const struct session *s, const struct leaks_json_one *one)
{
	const struct process *p = one->process;

	(void)fprintf(out, "\n{\"pid\":%u", p->header.pid);
	if (p->running_pid > 0)
		json_number(out, "pid_here", (uint64_t)p->running_pid);
	else
		(void)fputs(",\"pid_here\":null", out);
	json_text(out, "program", program_name(&p->header));
	json_text(out, "exe", p->header.exe);
	json_hex(out, "uuid", p->header.uuid, sizeof(p->header.uuid));
	verdict_json_process(out, s, p);
	score_json_process(out, s, p);
	rss_json_process(out, p);
	put_sums(out, "leak", &one->list.leak);
	put_sums(out, "possible", &one->list.possible);
	(void)putc('}', out);
}

static void add_sum(struct verdict_sum *to, const struct verdict_sum *from)
{
	to->places += from->places;
	to->blocks = capped_sum(to->blocks, from->blocks);
	to->bytes = capped_sum(to->bytes, from->bytes);
}

/* Sums over all processes: of the sites in "sites", and of those left out. */
static void put_totals(FILE *out, const struct leaks_json *j)
{
	struct verdict_sum leaks = {0}, possible = {0}, left_out = {0};

	for (size_t i = 0; i < j->count; i++) {
		const struct verdict_list *l = &j->list[i].list;

		add_sum(&leaks, &l->leak.shown);
		add_sum(&possible, &l->possible.shown);
		add_sum(&left_out, &l->leak.suppressed);
		add_sum(&left_out, &l->leak.filtered);
		add_sum(&left_out, &l->possible.suppressed);
		add_sum(&left_out, &l->possible.filtered);
	}
	put_sum(out, "leaks", "sites", &leaks);
	put_sum(out, "possible", "sites", &possible);
	put_sum(out, "left_out", "sites", &left_out);
}

int leaks_json_write(FILE *out, const struct leaks_json *j)
{
	const char *comma = "";
	int err = 0;

	(void)fprintf(out, "{\"schema\":%d", SCHEMA);
	json_text(out, "seep", j->version);
	json_number(out, "exit_status", (uint64_t)j->exit_status);
	put_totals(out, j);
	(void)fputs(",\"processes\":[", out);
	for (size_t i = 0; i < j->count; i++) {
		(void)fputs(i ? "," : "", out);
		put_process(out, j->session, &j->list[i]);
	}
	(void)fputs("],\"sites\":[", out);
	for (size_t i = 0; i < j->count && err == 0; i++)
		err = put_lines(out, j->list[i].process, &j->list[i].list, &comma);
	comma = "";
	(void)fputs("],\"scores\":[", out);
	for (size_t i = 0; i < j->count && err == 0; i++)
		err = put_scores(out, j->list[i].process, &j->list[i].scores, &comma);
	(void)fputs("]}\n", out);
	if (err == 0 && ferror(out))
		err = -EIO;
	return err;
}
