/* leaks_growth.c - what grows in a process that runs, and who holds it. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/held_view.h"

#include "session/process/family.h"
#include "session/process/live_ages.h"
#include "analysis/score/score.h"
#include "segments/read/steady.h"
#include "analysis/leaks/judge.h"

enum { LOOKS_MOST = 6 };

int leaks_growth_ages(struct process *p)
{
	const struct seg_header *h = &p->header;
	double age_s = (double)ticks_now(h) * (double)h->tick_ns * 1e-9;
	int err;

	/* blocks of a child without figures have the ids of its parent */
	if (forked_is(h) || age_s * scores_clock() < SCORE_MIN_S)
		return 0;
	err = live_ages_read_whole(p);
	return err == -ENOMEM ? err : 0;
}

static int add_words(const struct held_view *v, struct score_line *line, bool *vague)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	bool known, is_vague = false;

	if (!out)
		return -ENOMEM;
	known = held_words_line(out, v, line->site->id, &is_vague);
	if (fclose(out) != 0) {
		free(text);
		return -ENOMEM;
	}
	*vague |= is_vague;
	if (!known || (is_vague && line->held)) {
		free(text);
		return 0;
	}
	free(line->held);
	line->held = text;
	return 0;
}

static int name_holders(const struct held_view_input *in, struct score_list *l, bool *vague)
{
	struct held_view v;
	int err = held_view_make(in, &v);

	if (err < 0)
		return err == -ENOMEM ? err : 0;
	for (size_t i = 0; i < l->count && err == 0; i++)
		if (l->lines[i].score->class == SCORE_GROWTH)
			err = add_words(&v, &l->lines[i], vague);
	held_view_release(&v);
	return err;
}

static int look(const struct leaks_growth *o, const struct process *p, struct names *names,
    struct score_list *l, bool *vague)
{
	struct root_notes notes = {0};
	const struct judge_options options = {
	    .max_bytes = o->max_memory, .with_swapped = o->with_swapped, .notes = &notes};
	struct held_view_input in = {.session = o->session,
	    .process = p,
	    .pid = p->running_pid,
	    .names = names,
	    .view = o->view,
	    .notes = &notes};
	struct judge *j;
	int err;

	if (judge_new(p, p->running_pid, &options, &j) < 0)
		return -ENOMEM;
	err = judge_look(j);
	if (err == 0) {
		in.heap = judge_detach_heap(j);
		in.max_bytes = judge_max_bytes(j);
		err = name_holders(&in, l, vague);
	}
	judge_free(j);
	root_notes_release(&notes);
	return err;
}

/*
 * These looks are none of those for the verdict: to note all roots takes memory,
 * for lack of which they may fail. A list that grew just then hides its root;
 * the next look may come between two of its blocks.
 */
int leaks_growth_hold(const struct leaks_growth *o, const struct process *p, struct names *names,
    struct score_list *l)
{
	bool vague = true;
	int err = 0;

	if (l->growths == 0 || p->running_pid <= 0)
		return 0;
	for (int i = 0; i < LOOKS_MOST && vague && err == 0; i++) {
		vague = false;
		err = look(o, p, names, l, &vague);
	}
	return err == -ENOMEM ? err : 0;
}
