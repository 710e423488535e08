/* profile.c - the sums of a service as a profile that a server takes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/push/message.h"

#include "view/sites/view.h"

enum { GZIP_END = 4 }; /* bytes of the length, at the end */

static bool has_amount(const struct stack_sums_stack *s)
{
	return (s->live.blocks | s->live.bytes | s->sending.blocks | s->sending.bytes) != 0;
}

static bool has_figures(const struct view_site *s)
{
	const struct process_figures *f = &s->figures.all;

	return (f->allocations | f->allocated_bytes | f->live_blocks | f->live_bytes) != 0;
}

static void fill(struct view_site *to, const struct stack_sums_stack *s)
{
	*to = (struct view_site){
	    .process = VIEW_MERGED, .count = 1, .frames = s->frames, .frame_count = s->frame_count};
	to->figures.all = (struct process_figures){.allocations = s->sending.blocks,
	    .allocated_bytes = s->sending.bytes,
	    .live_blocks = s->live.blocks,
	    .live_bytes = s->live.bytes};
}

/* All frames are those of the sums, and the sites are their largest stacks. */
static void choose(const struct stack_sums *b, const uint32_t *order, size_t most, struct view *v,
    size_t *ret_merged)
{
	size_t merged = 0;

	v->site_count = 1;
	fill(&v->sites[0], &b->stacks[STACK_SUMS_OTHER]);
	for (size_t i = 0; i + 1 < b->stack_count; i++) {
		const struct stack_sums_stack *s = &b->stacks[order[i]];
		struct view_site site;

		if (!has_amount(s))
			continue;
		fill(&site, s);
		if (v->site_count < most) {
			v->sites[v->site_count++] = site;
		} else {
			process_add(&v->sites[0].figures.all, &site.figures.all);
			merged++;
		}
	}
	*ret_merged = merged;
}

static int write_view(const struct view *v, const struct export_moment *moment, struct profile *p)
{
	const struct export_options options = {.metric = VIEW_LIVE, .moment = moment};
	char *bytes = NULL;
	FILE *out = open_memstream(&bytes, &p->len);
	int err;

	if (!out)
		return -ENOMEM;
	err = export_pprof.write(out, v, &options);
	if (fclose(out) != 0 && err == 0)
		err = -ENOMEM;
	if (err == 0 && p->len < GZIP_END)
		err = -EIO;
	if (err < 0) {
		free(bytes);
		return err;
	}
	p->bytes = (uint8_t *)bytes;
	p->unpacked = 0;
	for (int i = 0; i < GZIP_END; i++)
		p->unpacked |= (size_t)p->bytes[p->len - GZIP_END + i] << 8 * i;
	/* "(other)" is not there if it has nothing */
	p->samples = v->site_count - !has_figures(&v->sites[0]);
	return 0;
}

int profile_make(
    const struct stack_sums *b, const struct export_moment *moment, struct profile *ret)
{
	struct process source = {.modules = b->modules, .module_count = b->module_count};
	struct process *sources[] = {&source};
	struct session session = {.processes = sources, .count = 1};
	struct view v = {.session = &session, .frames = b->frames, .frame_count = b->frame_count};
	uint32_t *order = stack_sums_by_size(b);
	size_t most = PROFILE_SAMPLES;
	struct profile p = {0};
	int err = -ENOMEM;

	v.sites = calloc(most, sizeof(*v.sites));
	if (!order || !v.sites)
		goto out;
	for (;;) {
		choose(b, order, most, &v, &p.merged);
		err = write_view(&v, moment, &p);
		if (err < 0 || p.unpacked <= PROFILE_UNPACKED)
			break;
		free(p.bytes);
		p.bytes = NULL;
		err = -EFBIG;
		if (most == 1)
			break;
		/* names have most of the bytes, so a share is a guess */
		most /= 2;
	}
	if (err == 0)
		*ret = p;
out:
	free(order);
	free(v.sites);
	return err;
}
