/* html_verdicts.c - verdicts, in the head of a page. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "print/page/html_parts.h"

#include "base/std.h"
#include "print/json/processes.h"
#include "print/text/verdict_text.h"
#include "kit/json/json_put.h"

enum { SCORES_TOP = 10 };

/* The clause of several blocks. */
static void put_plural(struct json *out, const char *key, const char *words)
{
	json_format(out, key, "\""); /* words of ours need no escape */
	for (; *words; words++)
		if (*words == '@' || *words == '~')
			(void)fputs(*words == '@' ? "them" : "their", out->file);
		else
			(void)putc(*words, out->file);
	(void)putc('"', out->file);
}

/* Few sites have one, so these are no columns. */
void html_verdict_rows(struct json *out, const struct html *h)
{
	const struct verdict_note_text *note;
	bool has_rows = false;

	for (size_t i = 0; i < h->row_count; i++) {
		const struct view_site *s = h->rows[i].site;

		if (!s->verdict && (!s->score || s->score->class == SCORE_CHURN))
			continue; /* most sites are churn */
		json_line(out);
		if (!has_rows)
			json_list(out, "verdicts");
		has_rows = true;
		json_object(out, NULL);
		json_number(out, "row", i);
		json_key(out, "verdict");
		verdict_json_site(out, h->inputs[h->groups[h->rows[i].group].input].view, s);
		json_end(out);
	}
	if (!has_rows)
		return;
	json_end(out);
	json_line(out);
	json_object(out, "verdict_notes");
	for (size_t i = 0; (note = verdict_note_text(i)) != NULL; i++)
		put_plural(out, note->key, note->words);
	json_end(out);
}

/* The number of a process in its session. */
static uint32_t number_of(const struct session *s, const struct process *p)
{
	uint32_t i = 0;

	while (i < s->count && s->processes[i] != p)
		i++;
	return i;
}

/* What leaks, grows or is steady by its ages, as a report says it. */
static int put_scores(struct json *out, const struct view *v, struct process *p)
{
	struct layout page = {.utf8 = true};
	struct score_list l;
	char *text = NULL;
	size_t len;
	int err;

	if (!score_list_has(v->session, p))
		return 0;
	err = score_list_of_view(v, number_of(v->session, p), p, &l);
	if (err < 0)
		return err;
	page.out = open_memstream(&text, &len);
	if (page.out) {
		score_text_list(&page, p, &l, SCORES_TOP);
		err = fclose(page.out) == 0 ? 0 : -ENOMEM;
	} else {
		err = -ENOMEM;
	}
	score_list_release(&l);
	if (err == 0 && len > 0)
		json_text(out, "scores", text);
	free(text);
	return err;
}

int html_verdict_group(struct json *out, const struct html *h, size_t group)
{
	const struct html_group *g = &h->groups[group];
	const struct view *v = h->inputs[g->input].view;
	const struct process *p = g->process;
	char *text = NULL;
	size_t len;
	struct layout page = {.utf8 = true};
	struct verdict_list sums;

	if (put_scores(out, v, v->session->processes[number_of(v->session, p)]) < 0)
		return -ENOMEM;
	if (verdict_state(v->session, p) == VERDICT_STATE_NONE)
		return 0;
	verdict_json_process(out, v->session, p);
	page.out = open_memstream(&text, &len);
	if (!page.out)
		return -ENOMEM;
	verdict_list_sums(v, number_of(v->session, p), p, &sums);
	verdict_text_sentence(&page, v->session, p, &sums);
	if (fclose(page.out) != 0) {
		free(text);
		return -ENOMEM;
	}
	while (len > 0 && text[len - 1] == '\n')
		text[--len] = '\0';
	json_text(out, "verdict", text);
	free(text);
	return 0;
}
