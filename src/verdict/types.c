/* types.c - the C++ class of a block, by its vtable. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "verdict/types.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reader/foreign.h"
#include "util/room.h"
#include "verdict/roots.h"
#include "verdict/type_name.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	SITES_MAX = 4096,
	SAMPLES = 4, /* blocks of one site */
	NAME_MAX_BYTES = 512,
	OFFSET_MAX = 1 << 20, /* of a base class in an object */
	KNOWN = 256,          /* vtables that are remembered */
};

#define ADDRESS_MASK ((UINT64_C(1) << 48) - 1)

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
	struct roots_areas areas;
	struct sample *samples;
	size_t count, room;
	struct known known[KNOWN];
	struct types *found;
	size_t text_len, text_room;
};

/* ---- names ---------------------------------------------------------------- */

bool
types_is_name(const char *text, size_t len)
{
	/* "3Foo", "N3app3FooE", "St6vectorIiSaIiEE", "*3Foo" of a local one */
	if (len < 2)
		return false;
	if (!isdigit((unsigned char)text[0]) && text[0] != 'N' &&
	    text[0] != 'S' && text[0] != 'Z')
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' &&
		    text[i] != '.' && text[i] != '$')
			return false;
	return true;
}

/* ---- foreign memory ------------------------------------------------------- */

/* Bytes that may lie across two pages. false: some are not there. */
static bool
read_at(struct search *s, uint64_t address, void *to, size_t bytes)
{
	uint64_t start = address / PAGE * PAGE;
	struct foreign_range r = {
	    start, (address + bytes - start + PAGE - 1) / PAGE};
	struct foreign_batch b;

	if (foreign_read(s->memory, &r, 1, &b, NULL) < 0)
		return false;
	for (size_t i = 0; i < b.count; i++)
		if (b.pages[i] != FOREIGN_READ)
			return false;
	memcpy(to, b.bytes + (address - start), bytes);
	return true;
}

static bool
is_in_module(const struct search *s, uint64_t address)
{
	const struct roots_area *a = roots_at(&s->areas, address);

	return a && a->is_file && a->kind == ROOTS_MEMORY;
}

/* The name at the end of the way from a vtable; 0: there is none. */
static size_t
read_name(struct search *s, uint64_t vtable, char name[NAME_MAX_BYTES])
{
	uint64_t before[2], info[2];
	int64_t to_top;
	size_t len, most = NAME_MAX_BYTES;

	if (vtable % 8 || vtable < PAGE || !is_in_module(s, vtable) ||
	    !is_in_module(s, vtable - 16) ||
	    !read_at(s, vtable - 16, before, sizeof(before)))
		return 0;
	to_top = (int64_t)before[0];
	if (to_top > 0 || to_top < -OFFSET_MAX || before[1] % 8 ||
	    !is_in_module(s, before[1]) ||
	    !read_at(s, before[1], info, sizeof(info)))
		return 0;
	info[1] &= ADDRESS_MASK;
	if (!is_in_module(s, info[0]) || !is_in_module(s, info[1]))
		return 0;
	/* a name may end where its page does */
	if (PAGE - info[1] % PAGE < most)
		most = PAGE - info[1] % PAGE;
	if (!read_at(s, info[1], name, most))
		return 0;
	if (name[0] == '*') { /* of a class that only one module knows */
		memmove(name, name + 1, most - 1);
		most--;
	}
	len = strnlen(name, most);
	return len < most && types_is_name(name, len) ? len : 0;
}

/* Where the name is in the text; 0: none. -ENOMEM. */
static int
name_of(struct search *s, uint64_t vtable, size_t *ret)
{
	struct known *k = &s->known[vtable / 8 % KNOWN];
	char name[NAME_MAX_BYTES], plain[2 * NAME_MAX_BYTES];
	size_t len;

	if (k->vtable != vtable) {
		len = read_name(s, vtable, name);
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
static int
add_sample(const struct heap_block *b, enum heap_role role, void *context)
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
		if (room_make(&s->samples, &s->room, s->count,
		        sizeof(*s->samples)) < 0)
			return -ENOMEM;
		x = &s->samples[s->count++];
		*x = (struct sample){.site = b->site};
	}
	if (x->count < SAMPLES)
		x->address[x->count++] = b->address;
	return 0;
}

/* Most of the samples must agree. */
static int
judge_site(struct search *s, const struct sample *x)
{
	size_t names[SAMPLES] = {0}, best = 0, most = 0;

	for (size_t i = 0; i < x->count; i++) {
		uint64_t word;
		int err;

		if (!read_at(s, x->address[i], &word, sizeof(word)))
			continue;
		err = name_of(s, word & ADDRESS_MASK, &names[i]);
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
	if (room_make(&s->found->at, &s->found->room, s->found->count,
	        sizeof(*s->found->at)) < 0)
		return -ENOMEM;
	/* an offset until the text moves no more */
	s->found->at[s->found->count++] = (struct types_found){
	    .site = x->site, .name = (const char *)(uintptr_t)best};
	return 0;
}

static int
by_site(const void *a, const void *b)
{
	const struct types_found *x = a, *y = b;

	return (x->site > y->site) - (x->site < y->site);
}

int
types_read(pid_t pid, const struct looks *l, struct types *ret)
{
	const struct foreign_options reading = {.with_files = true};
	struct search s = {.found = ret, .text_len = 1};
	char *maps = NULL;
	size_t len;
	int err;

	*ret = (struct types){0};
	err = looks_each_lost(l, add_sample, &s);
	if (err == 0 && s.count > 0 &&
	    foreign_text(pid, "maps", &maps, &len) == 0 &&
	    foreign_open(pid, &reading, &s.memory, NULL) == 0)
		err = roots_parse(maps, &s.areas);
	for (size_t i = 0; s.memory && i < s.count && err == 0; i++)
		err = judge_site(&s, &s.samples[i]);
	for (size_t i = 0; i < ret->count; i++)
		ret->at[i].name = ret->text + (uintptr_t)ret->at[i].name;
	if (ret->count)
		qsort(ret->at, ret->count, sizeof(*ret->at), by_site);
	foreign_close(s.memory);
	roots_release(&s.areas);
	free(s.samples);
	free(maps);
	if (err < 0)
		types_release(ret);
	return err;
}

void
types_release(struct types *t)
{
	free(t->at);
	free(t->text);
	*t = (struct types){0};
}

const char *
types_of(const struct types *t, uint32_t site)
{
	const struct types_found key = {.site = site};
	const struct types_found *found = t->count
	    ? bsearch(&key, t->at, t->count, sizeof(*t->at), by_site)
	    : NULL;

	return found ? found->name : NULL;
}
