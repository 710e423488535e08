/* html.c - the report as one page of HTML: template, then packed data. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/page/html.h"

#include "base/std.h"
#include "print/export/export.h"
#include "print/page/html_parts.h"

static void release(struct html *h)
{
	for (size_t i = 0; i < h->group_count; i++) {
		free(h->groups[i].row_of);
		for (size_t k = 0; k < h->groups[i].other_count; k++)
			free(h->groups[i].others[k].site.own_ages);
		free(h->groups[i].others);
	}
	free(h->groups);
	free(h->rows);
	free(h->moments);
	html_frames_release(&h->frames);
	html_blob_release(&h->blob);
}

/* Fills the columns; later steps use the results of earlier ones. */
static int gather(struct html *h)
{
	int err;

	h->moments = calloc(h->input_count + 1, sizeof(*h->moments));
	if (!h->moments)
		return -ENOMEM;
	err = html_rows_choose(h);
	if (err == 0)
		err = html_stacks_put(h);
	if (err == 0)
		err = html_sites_put(h);
	if (err == 0)
		err = html_timeline_put(h);
	return err;
}

#define POLICY    "default-src 'none'; "
#define MAY_ASK   "connect-src 'self'; "
#define POLICY_AT "content=\"" POLICY

/*
 * The page up to its data. Its policy forbids it to ask anybody; one that is
 * served may ask its server.
 */
static int write_begin(FILE *out, const char *place, bool may_ask)
{
	const char *at = strstr(html_template, POLICY_AT);

	if (!at || at > place)
		return -EINVAL;
	at += strlen(POLICY_AT);
	(void)fwrite(html_template, 1, (size_t)(at - html_template), out);
	if (may_ask)
		(void)fputs(MAY_ASK, out);
	(void)fwrite(at, 1, (size_t)(place - at), out);
	return 0;
}

void html_policy(char *to, size_t bytes)
{
	const char *at = strstr(html_template, POLICY_AT);
	size_t len;
	int n;

	to[0] = '\0';
	if (!at)
		return;
	at += strlen(POLICY_AT);
	len = strcspn(at, "\"");
	n = snprintf(to, bytes, POLICY MAY_ASK "%.*s", (int)len, at);
	if (n < 0 || (size_t)n >= bytes)
		to[0] = '\0';
}

int html_write(
    FILE *out, const struct html_input *inputs, size_t count, const struct html_options *o)
{
	const char *place = strstr(html_template, HTML_TEMPLATE_DATA);
	struct html h = {.inputs = inputs, .input_count = count, .options = o};
	char *head = NULL;
	size_t head_len = 0;
	int err;

	for (size_t i = 0; i < count; i++)
		if (inputs[i].view->is_grouped || inputs[i].view->is_merged)
			return -EINVAL;
	err = place ? gather(&h) : -EINVAL;
	if (err == 0)
		err = html_head_write(&h, &head, &head_len);
	if (err < 0)
		goto out;
	if (!o->is_data)
		err = write_begin(out, place, o->refresh != NULL);
	if (err == 0)
		err = html_blob_write(out, &h.blob, head, head_len);
	if (!o->is_data)
		(void)fputs(place + strlen(HTML_TEMPLATE_DATA), out);
	if (err == 0 && ferror(out))
		err = -EIO;
out:
	free(head);
	release(&h);
	return err;
}

static bool has_process(const struct html_session *list, size_t count, uint32_t pid)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < list[i].session->count; k++)
			if (pid == VIEW_ANY || list[i].session->processes[k]->header.pid == pid)
				return true;
	return false;
}

int html_write_sessions(FILE *out, const struct html_session *sessions, size_t count,
    struct names *names, const struct view_options *options, const struct html_options *o)
{
	struct html_input *inputs = calloc(count + 1, sizeof(*inputs));
	struct view **views = calloc(count + 1, sizeof(struct view *));
	struct view_options all = *options;
	struct html_options noted = *o;
	int err = inputs && views ? 0 : -ENOMEM;

	noted.compare = o->compare || count == 2;
	/* the page itself merges, sorts and leaves out */
	all.metric = VIEW_ALL;
	all.all_kinds = all.keep_suppressed = true;
	all.merge = all.group = all.fold = false;
	all.trim = true;
	all.depth = 0;
	/* The page adds inputs up and compares them, so all use one limit. */
	for (size_t i = 0; i < count; i++) {
		uint32_t ticks = view_temporary_ticks(sessions[i].session, NULL, options->pid);

		if (ticks > all.temporary_ticks)
			all.temporary_ticks = ticks;
	}
	if (err == 0 && !has_process(sessions, count, options->pid))
		err = -ESRCH;
	for (size_t i = 0; i < count && err == 0; i++) {
		err = view_new(sessions[i].session, names, &all, &views[i]);
		inputs[i] = (struct html_input){
		    .view = views[i], .title = sessions[i].title, .names = names, .filters = &all};
	}
	if (err == 0) {
		noted.pid = options->pid;
		noted.note_count = names_notes(names, &noted.notes);
		err = html_write(out, inputs, count, &noted);
	}
	for (size_t i = 0; views && i < count; i++)
		view_free(views[i]);
	free(views);
	free(inputs);
	return err;
}

static int write_session(FILE *out, const struct session *s, struct names *names,
    const struct view_options *options, const struct export_options *o)
{
	const struct html_session one = {.session = s};
	const struct html_options page = {.version = o->version,
	    .metric = options->metric,
	    .full = o->full,
	    .older = options->older};

	return html_write_sessions(out, &one, 1, names, options, &page);
}

const struct export_format export_html = {
    .name = "html",
    .extension = ".html",
    .what = "one page for a browser: flame graph, time line, table",
    .flags = EXPORT_METRIC | EXPORT_DEAD | EXPORT_BINARY | EXPORT_KINDS | EXPORT_MOMENTS |
        EXPORT_AGES | EXPORT_RESIDENT,
    .write_session = write_session,
};
