/* json_size.c - estimates the size of JSON before it is written. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/report_json.h"

#include "session/process/stacks.h"

enum {
	SITE_BYTES = 700,  /* of a site without its frames, about */
	FRAME_BYTES = 110, /* of a frame without its texts */
	ROUGH_BYTES = 400, /* of a frame with them */
};

static bool is_wanted(const struct process *p, const struct view_options *o)
{
	return o->pid == VIEW_ANY || p->header.pid == o->pid;
}

/* Uses the number of frames alone. */
static uint64_t rough(const struct session *s, const struct view_options *o)
{
	static uint64_t frames[STACKS_MAX_FRAMES];
	uint64_t bytes = 0;
	uint32_t flags;

	for (size_t i = 0; i < s->count; i++) {
		const struct process *p = s->processes[i];

		for (size_t k = 0; is_wanted(p, o) && k < p->site_count; k++)
			bytes += SITE_BYTES +
			    ROUGH_BYTES *
			        stacks_frames(p->stacks, p->sites[k].stack, frames,
			            STACKS_MAX_FRAMES, &flags);
	}
	return o->merge ? 2 * bytes : bytes;
}

static uint64_t text_bytes(const char *text)
{
	return text ? strlen(text) : 0;
}

static int size_of_view(const struct view *v, uint64_t *bytes)
{
	uint32_t *lengths = calloc(v->frame_count + 1, sizeof(*lengths));

	if (!lengths)
		return -ENOMEM;
	for (size_t i = 0; i < v->frame_count; i++) {
		const struct frame *f = &v->frames[i];

		lengths[i] = (uint32_t)(FRAME_BYTES + text_bytes(f->function) +
		    text_bytes(f->symbol) + text_bytes(f->file) + text_bytes(f->module));
	}
	for (size_t i = 0; i < v->site_count; i++) {
		*bytes += SITE_BYTES;
		for (uint32_t k = 0; k < v->sites[i].frame_count; k++)
			*bytes += lengths[v->sites[i].frames[k]];
	}
	free(lengths);
	return 0;
}

int json_size(const struct session *s, struct names *names, const struct view_options *options,
    uint64_t enough, uint64_t *ret)
{
	struct view_options o = *options;
	uint64_t bytes = 0;
	int err = 0;

	*ret = rough(s, options);
	if (*ret < enough / 4)
		return 0;
	o.metric = VIEW_ALL;
	o.all_kinds = o.keep_suppressed = true;
	o.group = o.merge = false;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct view *v;

		o.only = s->processes[i];
		if (!is_wanted(o.only, options))
			continue;
		err = view_new(s, names, &o, &v);
		if (err < 0)
			return err;
		err = size_of_view(v, &bytes);
		view_free(v);
	}
	*ret = options->merge ? 2 * bytes : bytes;
	return err;
}
