/* survey.c - reads the live blocks of a process, page by page. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/survey.h"

#include "analysis/leaks/judge.h"
#include "analysis/leaks/look.h"
#include "analysis/types/survey_parts.h"
#include "host/memory/address_ranges.h"
#include "kit/data/sorted.h"
#include "kit/os/clock.h"

enum { REST_US = 100 };

struct survey {
	const struct process *process;
	pid_t pid;
	const struct survey_options *o;
	struct foreign *memory;
	struct roots_areas areas;
	struct heap *heap;
	struct survey_types *types;
	struct survey_spare *spare;
	struct fault *where;
};

bool survey_is_module(const struct roots_areas *a, uint64_t address)
{
	const struct roots_area *x = roots_at(a, address);

	if (!x || x->kind != ROOTS_MEMORY)
		return false;
	return x->is_file || (x > a->at && x[-1].end == x->start && x[-1].is_file);
}

uint32_t survey_id(const struct process *p, uint32_t site)
{
	const struct process_id *id = process_find_id(p, site);

	return id ? p->sites[id->site].id : site;
}

/* ---- the pass ------------------------------------------------------------- */

/* The first block that ends behind an address. */
static size_t first_behind(const struct heap *h, uint64_t address)
{
	const struct heap_block *b = heap_blocks(h);
	size_t low = sorted_first(b, heap_count(h), x, x->address + x->size <= address);

	return low;
}

static int show(struct survey *s, struct survey_piece *x)
{
	int err = 0;

	x->first = first_behind(s->heap, x->address);
	if (s->types && x->bytes)
		err = survey_types_piece(s->types, x);
	if (s->spare && err == 0)
		survey_spare_piece(s->spare, x);
	return err;
}

static int scan(void *context, int tag, uint64_t address, const uint8_t *bytes, size_t len)
{
	struct survey_piece x = {.address = address, .bytes = bytes, .len = len};

	(void)tag;
	return show(context, &x);
}

static void unread(void *context, uint64_t address, uint64_t bytes, int kind)
{
	struct survey_piece x = {.address = address, .len = (size_t)bytes};

	(void)kind;
	(void)show(context, &x);
}

/* Pages of all blocks, or of their beginnings. */
static int pass_blocks(const struct survey *s, struct pass *p)
{
	const struct heap_block *b = heap_blocks(s->heap);
	uint64_t start = 0, end = 0;
	int err = 0;

	for (size_t i = 0; i < heap_count(s->heap) && err == 0; i++) {
		uint64_t size = b[i].size;
		uint64_t from = b[i].address & -(uint64_t)SURVEY_PAGE, to;

		if (!s->spare && size > SURVEY_HEAD)
			size = SURVEY_HEAD;
		to = (b[i].address + size + SURVEY_PAGE - 1) & -(uint64_t)SURVEY_PAGE;
		if (from > end || i == 0) {
			err = pass_add(p, 0, start, end);
			start = from;
			end = to;
		}
		if (to > end)
			end = to;
	}
	if (err == 0)
		err = pass_add(p, 0, start, end);
	return err == 0 ? pass_flush(p) : err;
}

static int read_blocks(struct survey *s)
{
	const struct pass_visitor visitor = {.scan = scan, .unread = unread, .context = s};
	struct pass *p;
	int err = pass_new(s->memory, &visitor, s->where, &p);

	if (err < 0)
		return err;
	err = pass_blocks(s, p);
	pass_free(p);
	return err;
}

/* ---- all of it ------------------------------------------------------------ */

static int read_areas(struct survey *s)
{
	char *text;
	size_t len;
	int err = foreign_text(s->pid, "maps", &text, &len);

	if (err < 0)
		return err == -EACCES ? -EPERM : err;
	err = roots_parse(text, &s->areas);
	free(text);
	return err == 0 && s->areas.count == 0 ? -ESRCH : err;
}

/* Names of classes are in pages of files. */
static int finish_types(struct survey *s, struct census *ret)
{
	const struct foreign_options reading = {.with_files = true};
	struct foreign *files;
	int err = foreign_open(s->pid, &reading, &files, s->where);

	if (err < 0)
		return err;
	err = survey_types_finish(s->types, s->process, files, ret);
	foreign_close(files);
	return err;
}

static int take(struct survey *s, struct census *ret)
{
	const struct foreign_options reading = {.rest_us = s->o->is_waiting ? 0 : REST_US};
	const struct look_options blocks = {.max_bytes = judge_memory(s->o->max_bytes)};
	struct look_seen seen = {.blocks = 0};
	int err = foreign_open(s->pid, &reading, &s->memory, s->where);

	if (err == 0)
		err = look_blocks(
		    s->pid, &s->process->header, &blocks, s->memory, &s->heap, &seen, s->where);
	if (err == 0)
		err = read_areas(s);
	if (err == 0 && s->o->with_types)
		err = survey_types_new(s->heap, &s->areas, &s->types);
	if (err == 0 && s->o->with_spare)
		err = survey_spare_new(s->heap, &s->spare);
	if (err == 0)
		err = read_blocks(s);
	if (err == 0 && s->types)
		err = finish_types(s, ret);
	if (err == 0 && s->spare)
		err = survey_spare_finish(s->spare, s->process, ret);
	if (err == 0 && !foreign_is_same(s->memory))
		err = -ESRCH;
	if (err < 0)
		return err;
	ret->blocks = seen.blocks;
	ret->refused_blocks = seen.refused_blocks;
	ret->is_partial = seen.heads_only || judge_lacks_blocks(&s->process->header);
	ret->has_types = s->types != NULL;
	ret->has_spare = s->spare != NULL;
	for (size_t i = 0; i < heap_count(s->heap); i++)
		ret->bytes += heap_blocks(s->heap)[i].size;
	return 0;
}

int survey_take(const struct process *p, pid_t pid, const struct survey_options *o,
    struct census *ret, struct fault *where)
{
	struct survey s = {.process = p, .pid = pid, .o = o, .where = where};
	uint64_t now = clock_ns(CLOCK_REALTIME);
	int err;

	*ret = (struct census){0};
	where->text[0] = '\0';
	err = take(&s, ret);
	if (err < 0)
		census_release(ret);
	else
		ret->taken_ns = now;
	survey_types_free(s.types);
	survey_spare_free(s.spare);
	heap_free(s.heap);
	roots_release(&s.areas);
	foreign_close(s.memory);
	return err;
}

/* ---- survey_pages: memory of modules, for the search for vtables; pages are kept ---- */

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	KEPT = 1024, /* pages */
	AHEAD = 8,   /* pages that are read at once */
};

struct survey_pages {
	struct foreign *files;
	const struct roots_areas *areas;
	int err;
	uint64_t number[KEPT]; /* of the page, + 1; 0: none */
	bool is_there[KEPT];
	uint8_t bytes[KEPT][PAGE];
};

int survey_pages_new(
    struct foreign *files, const struct roots_areas *areas, struct survey_pages **ret)
{
	struct survey_pages *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->files = files;
	p->areas = areas;
	*ret = p;
	return 0;
}

void survey_pages_free(struct survey_pages *p)
{
	free(p);
}

int survey_pages_failure(const struct survey_pages *p)
{
	return p->err;
}

/* Reads a page, and those behind it in the same group. */
static void fetch(struct survey_pages *p, uint64_t number)
{
	uint64_t first = number / AHEAD * AHEAD;
	struct foreign_range r = {first * PAGE, AHEAD};
	struct foreign_batch b;
	int err;

	if (p->err < 0)
		return;
	err = foreign_read(p->files, &r, 1, &b, NULL);
	if (err < 0) {
		p->err = err;
		return;
	}
	for (size_t i = 0; i < AHEAD; i++) {
		size_t slot = (first + i) % KEPT;

		p->number[slot] = first + i + 1;
		p->is_there[slot] = b.pages[i] == FOREIGN_READ;
		memcpy(p->bytes[slot], b.bytes + i * PAGE, PAGE);
	}
}

bool survey_pages_read(struct survey_pages *p, uint64_t address, void *to, size_t bytes)
{
	uint8_t *out = to;

	while (bytes > 0) {
		uint64_t number = address / PAGE;
		size_t slot = number % KEPT, inside = address % PAGE;
		size_t n = PAGE - inside < bytes ? PAGE - inside : bytes;

		if (p->number[slot] != number + 1)
			fetch(p, number);
		if (p->number[slot] != number + 1 || !p->is_there[slot])
			return false;
		memcpy(out, p->bytes[slot] + inside, n);
		out += n;
		address += n;
		bytes -= n;
	}
	return true;
}

static bool read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	return survey_pages_read(context, address, to, bytes);
}

static bool is_in_module(void *context, uint64_t address)
{
	const struct survey_pages *p = context;

	return survey_is_module(p->areas, address);
}

struct vtable_memory survey_pages_memory(struct survey_pages *p)
{
	return (struct vtable_memory){
	    .read = read_memory, .is_in_module = is_in_module, .context = p};
}
