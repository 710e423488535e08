/* site_site_infos.c - figures of sites that few sites have. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/process/site_infos.h"
#include "kit/data/sorted.h"

#include <errno.h>
#include <stdlib.h>

struct info_place {
	uint32_t site, row;
	const struct segment_rows *rows;
};

BY(by_site, struct info_place, UP(site))

int site_infos_init(struct infos *s, const struct segment *seg)
{
	struct seg_info info;
	uint64_t rows = 0;

	*s = (struct infos){0};
	for (size_t i = 0; i < seg->extent_count; i++)
		if (seg->extents[i].kind == SEG_EXT_SITE_INFO)
			rows += seg->extents[i].count;
	s->places = calloc(rows + 1, sizeof(*s->places));
	if (!s->places || extents_init(&s->older, seg, SEG_EXT_INFO) < 0) {
		site_infos_release(s);
		return -ENOMEM;
	}
	for (size_t i = 0; i < seg->extent_count; i++) {
		const struct segment_rows *x = &seg->extents[i];

		if (x->kind != SEG_EXT_SITE_INFO)
			continue;
		for (uint32_t k = 0; k < x->count; k++) {
			segment_copy_row_into(x, k, &info, sizeof(info));
			if (info.site != 0)
				s->places[s->count++] = (struct info_place){info.site, k, x};
		}
	}
	qsort(s->places, s->count, sizeof(*s->places), by_site);
	return 0;
}

void site_infos_release(struct infos *s)
{
	extents_release(&s->older);
	free(s->places);
	*s = (struct infos){0};
}

/* The first place of this site, or of a larger one. */
static size_t first_of(const struct infos *s, uint32_t site)
{
	return sorted_first(s->places, s->count, x, x->site < site);
}

bool site_infos_next(const struct infos *s, uint32_t site, size_t *at, struct seg_info *ret)
{
	const struct info_place *p;

	/* *at - 1 is the next place */
	if (*at == 0) {
		*at = first_of(s, site) + 1;
		if (extents_take(&s->older, site, ret, sizeof(*ret)) > 0)
			return true;
	}
	if (*at > s->count)
		return false;
	p = &s->places[*at - 1];
	if (p->site != site)
		return false;
	segment_copy_row_into(p->rows, p->row, ret, sizeof(*ret));
	(*at)++;
	return true;
}
