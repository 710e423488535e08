/* types.c - the C++ class of a block, by its vtable. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/survey.h"

#include "host/memory/foreign.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "host/proc/roots.h"
#include "analysis/types/survey_parts.h"

enum {
	SITES_MAX = 4096,
	SAMPLES = 4, /* blocks of one site */
	KNOWN = 256, /* vtables that are remembered */
};

/* Blocks of one site that are looked at. */
struct sample {
	uint32_t site;
	size_t count;
	uint64_t address[SAMPLES];
};

struct known {
	uint64_t vtable;
	size_t name; /* in the text, 0: none */
};

struct search {
	struct foreign *memory;
	struct survey_pages *pages;
	struct roots_areas areas;
	struct sample *samples;
	size_t count, room;
	struct known known[KNOWN];
	struct types *found;
	size_t text_len, text_room;
};

/* Where the name is in the text; 0: none. -ENOMEM. */
static int name_of(struct search *s, uint64_t vtable, size_t *ret)
{
	struct known *k = &s->known[vtable / 8 % KNOWN];
	char name[VTABLE_NAME_BYTES], plain[2 * VTABLE_NAME_BYTES];
	size_t len;

	if (k->vtable != vtable) {
		const struct vtable_memory memory = survey_pages_memory(s->pages);

		len = vtable_name(&memory, vtable, name);
		*k = (struct known){.vtable = vtable};
		if (len > 0) {
			len = type_name_plain(name, len, plain, sizeof(plain));
			if (s->text_len + len + 2 > s->text_room) {
				size_t room = s->text_room * 2 + 4096;
				char *text = realloc(s->found->text, room);

				if (!text)
					return -ENOMEM;
				s->found->text = text;
				s->text_room = room;
			}
			k->name = s->text_len;
			memcpy(s->found->text + s->text_len, plain, len);
			s->found->text[s->text_len + len] = '\0';
			s->text_len += len + 1;
		}
	}
	*ret = k->name;
	return 0;
}

/* ---- sites ---------------------------------------------------------------- */

/* Blocks come by address, so a site's are found by search; sites are few. */
static int add_sample(const struct heap_block *b, enum heap_role role, void *context)
{
	struct search *s = context;
	struct sample *x = NULL;

	if (role == HEAP_INDIRECT || b->size < sizeof(uint64_t))
		return 0;
	for (size_t i = s->count; i-- > 0 && !x;)
		if (s->samples[i].site == b->site)
			x = &s->samples[i];
	if (!x) {
		if (s->count == SITES_MAX)
			return 0;
		if (room_make(&s->samples, &s->room, s->count, sizeof(*s->samples)) < 0)
			return -ENOMEM;
		x = &s->samples[s->count++];
		*x = (struct sample){.site = b->site};
	}
	if (x->count < SAMPLES)
		x->address[x->count++] = b->address;
	return 0;
}

/* Most of the samples must agree. */
static int judge_site(struct search *s, const struct sample *x)
{
	size_t names[SAMPLES] = {0}, best = 0, most = 0;

	for (size_t i = 0; i < x->count; i++) {
		uint64_t word;
		int err;

		if (!survey_pages_read(s->pages, x->address[i], &word, sizeof(word)))
			continue;
		err = name_of(s, word, &names[i]);
		if (err < 0)
			return err;
	}
	for (size_t i = 0; i < x->count; i++) {
		size_t n = 0;

		for (size_t k = 0; k < x->count; k++)
			n += names[k] && names[k] == names[i];
		if (n > most) {
			most = n;
			best = names[i];
		}
	}
	if (best == 0 || most * 2 <= x->count)
		return 0;
	if (room_make(&s->found->at, &s->found->room, s->found->count, sizeof(*s->found->at)) < 0)
		return -ENOMEM;
	/* an offset until the text moves no more */
	s->found->at[s->found->count++] =
	    (struct types_found){.site = x->site, .name = (const char *)(uintptr_t)best};
	return 0;
}

BY(by_site, struct types_found, UP(site))

int types_read(pid_t pid, const struct looks *l, struct types *ret)
{
	const struct foreign_options reading = {.with_files = true};
	struct search s = {.found = ret, .text_len = 1};
	char *maps = NULL;
	size_t len;
	int err;

	*ret = (struct types){0};
	err = looks_each_lost(l, add_sample, &s);
	if (err == 0 && s.count > 0 && foreign_text(pid, "maps", &maps, &len) == 0 &&
	    foreign_open(pid, &reading, &s.memory, NULL) == 0)
		err = roots_parse(maps, &s.areas);
	if (s.memory && err == 0)
		err = survey_pages_new(s.memory, &s.areas, &s.pages);
	for (size_t i = 0; s.pages && i < s.count && err == 0; i++)
		err = judge_site(&s, &s.samples[i]);
	for (size_t i = 0; i < ret->count; i++)
		ret->at[i].name = ret->text + (uintptr_t)ret->at[i].name;
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(*ret->at), by_site);
	survey_pages_free(s.pages);
	foreign_close(s.memory);
	roots_release(&s.areas);
	free(s.samples);
	free(maps);
	if (err < 0)
		types_release(ret);
	return err;
}

void types_release(struct types *t)
{
	free(t->at);
	free(t->text);
	*t = (struct types){0};
}

const char *types_of(const struct types *t, uint32_t site)
{
	const struct types_found key = {.site = site};
	const struct types_found *found =
	    t->count ? bsearch(&key, t->at, t->count, sizeof(*t->at), by_site) : NULL;

	return found ? found->name : NULL;
}
