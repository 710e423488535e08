/* leaks_json.c - the answer of seep leaks as JSON; keys are only ever added. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/leaks_json.h"

#include "print/json/processes.h"
#include "print/json/json_parts.h"
#include "names/find/program.h"
#include "view/sites/enum_words.h"
#include "kit/data/capped.h"
#include "kit/json/json_put.h"

/* `unit` is the key for the number of sites. */
static void put_sum(
    struct json *out, const char *name, const char *unit, const struct verdict_sum *s)
{
	json_object(out, name);
	json_number(out, unit, s->places);
	json_number(out, "blocks", s->blocks);
	json_number(out, "bytes", s->bytes);
	json_end(out);
}

static void put_sums(struct json *out, const char *name, const struct verdict_sums *s)
{
	json_object(out, name);
	json_number(out, "places", s->shown.places);
	put_sum(out, "shown", "places", &s->shown);
	put_sum(out, "suppressed", "places", &s->suppressed);
	put_sum(out, "filtered", "places", &s->filtered);
	json_end(out);
}

/* One site; `frames` are the frames of its view. */
static int put_line(struct json *out, const struct process *p, const struct verdict_line *x,
    struct frames_table *frames)
{
	int err = 0;

	json_object(out, NULL);
	json_number(out, "pid", p->header.pid);
	json_number_or_null(out, "id", x->site, x->site ? x->site->id : 0);
	json_number(out, "sites", x->site ? x->site->count : 1);
	json_boolean(out, "inherited", x->is_inherited);
	json_text(out, "api", x->site ? enum_words_api(x->site->api) : NULL);
	json_key(out, "verdict");
	verdict_json_part(out, x->view, x->site, x->class, &x->part);
	if (x->site)
		err = frames_table_put(out, frames, x->site);
	else
		json_numbers(out, "frames", NULL, 0);
	json_end(out);
	return err;
}

/* All sites of a process. */
static int put_lines(struct json *out, const struct process *p, const struct verdict_list *l)
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
		if (err == 0)
			err = put_line(out, p, x, frames);
	}
	frames_table_free(frames);
	return err;
}

/* What leaks, grows or is steady by the ages of its blocks. */
static int put_scores(struct json *out, const struct process *p, const struct score_list *l)
{
	struct frames_table *frames = NULL;
	int err = l->count > 0 ? frames_table_new(l->view, NULL, &frames) : 0;

	for (size_t i = 0; i < l->count && err == 0; i++) {
		const struct view_site *s = l->lines[i].site;

		json_object(out, NULL);
		json_number(out, "pid", p->header.pid);
		json_number(out, "id", s->id);
		json_number(out, "sites", s->count);
		json_text(out, "api", enum_words_api(s->api));
		json_key(out, "verdict");
		verdict_json_score(out, l->view, s, l->lines[i].held);
		err = frames_table_put(out, frames, s);
		json_end(out);
	}
	frames_table_free(frames);
	return err;
}

static void put_process(struct json *out, const struct session *s, const struct leaks_json_one *one)
{
	const struct process *p = one->process;

	json_object(out, NULL);
	json_number(out, "pid", p->header.pid);
	json_number_or_null(out, "pid_here", p->running_pid > 0, (uint64_t)p->running_pid);
	json_text(out, "program", program_name(&p->header));
	json_text(out, "exe", p->header.exe);
	json_hex(out, "uuid", p->header.uuid, sizeof(p->header.uuid));
	verdict_json_process(out, s, p);
	score_json_process(out, s, p);
	rss_json_process(out, p);
	put_sums(out, "leak", &one->list.leak);
	put_sums(out, "possible", &one->list.possible);
	json_end(out);
}

static void add_sum(struct verdict_sum *to, const struct verdict_sum *from)
{
	to->places += from->places;
	to->blocks = capped_sum(to->blocks, from->blocks);
	to->bytes = capped_sum(to->bytes, from->bytes);
}

/* Sums over all processes: of the sites in "sites", and of those left out. */
static void put_totals(struct json *out, const struct leaks_json *j)
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
	struct json to;
	int err = 0;

	to = json_begin(out, j->version);
	json_number(&to, "exit_status", (uint64_t)j->exit_status);
	put_totals(&to, j);
	json_rows(&to, "processes");
	for (size_t i = 0; i < j->count; i++)
		put_process(&to, j->session, &j->list[i]);
	json_end(&to);
	json_rows(&to, "sites");
	for (size_t i = 0; i < j->count && err == 0; i++)
		err = put_lines(&to, j->list[i].process, &j->list[i].list);
	json_end(&to);
	json_rows(&to, "scores");
	for (size_t i = 0; i < j->count && err == 0; i++)
		err = put_scores(&to, j->list[i].process, &j->list[i].scores);
	return json_finish(&to, err);
}
