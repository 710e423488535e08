/* html_verdicts.c - verdicts, in the head of a page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdlib.h>

#include "print/page/html_parts.h"
#include "print/json/verdict_json.h"
#include "print/text/score_text.h"
#include "print/text/verdict_text.h"
#include "kit/json/json_put.h"

enum { SCORES_TOP = 10 };

/* The clause of several blocks. */
static void put_plural(FILE *out, const char *words)
{
	(void)putc('"', out); /* words of ours need no escape */
	for (; *words; words++)
		if (*words == '@' || *words == '~')
			(void)fputs(*words == '@' ? "them" : "their", out);
		else
			(void)putc(*words, out);
	(void)putc('"', out);
}

/* Few sites have one, so these are no columns. */
void html_verdict_rows(FILE *out, const struct html *h)
{
	const struct verdict_note_text *note;
	const char *comma = "";

	for (size_t i = 0; i < h->row_count; i++) {
		const struct view_site *s = h->rows[i].site;

		if (!s->verdict && (!s->score || s->score->class == SCORE_CHURN))
			continue; /* most sites are churn */
		(void)fprintf(
		    out, "%s{\"row\":%zu,\"verdict\":", *comma ? comma : ",\n\"verdicts\":[", i);
		verdict_json_site(out, h->inputs[h->groups[h->rows[i].group].input].view, s);
		(void)putc('}', out);
		comma = ",\n";
	}
	if (!*comma)
		return;
	(void)fputs("],\n\"verdict_notes\":{", out);
	for (size_t i = 0; (note = verdict_note_text(i)) != NULL; i++) {
		(void)fprintf(out, "%s\"%s\":", i ? "," : "", note->key);
		put_plural(out, note->words);
	}
	(void)putc('}', out);
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
static int put_scores(FILE *out, const struct view *v, struct process *p)
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

int html_verdict_group(FILE *out, const struct html *h, size_t group)
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
