/* pass.c - one linear pass over the memory of a process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "host/memory/address_ranges.h"

enum {
	PAGE = FOREIGN_PAGE_BYTES,
	LARGE = 256 * PAGE, /* from here on it is asked which pages are there */
	/* what is read at once is scanned while a cache still has it */
	BATCH_PAGES = 256,
};

/* One range of a batch: whole pages, of which these bytes are wanted. */
struct item {
	uint64_t start, end;
	int tag;
};

struct pass {
	struct foreign *memory;
	struct pass_visitor visitor;
	struct fault *where;
	struct item items[FOREIGN_BATCH_RANGES];
	struct foreign_range ranges[FOREIGN_BATCH_RANGES];
	size_t count, pages;
};

int pass_new(struct foreign *memory, const struct pass_visitor *visitor, struct fault *where,
    struct pass **ret)
{
	struct pass *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->memory = memory;
	p->visitor = *visitor;
	p->where = where;
	*ret = p;
	return 0;
}

void pass_free(struct pass *p)
{
	free(p);
}

/* Pages of one kind in an item; `bytes` are those of the first. */
static int show(const struct pass *p, const struct item *x, uint64_t address, size_t pages,
    int kind, const uint8_t *bytes)
{
	uint64_t from = address < x->start ? x->start : address;
	uint64_t to = address + pages * PAGE;

	if (to > x->end)
		to = x->end;
	if (from >= to || kind == FOREIGN_UNTOUCHED)
		return 0;
	if (kind == FOREIGN_READ)
		return p->visitor.scan(p->visitor.context, x->tag, from, bytes + (from - address),
		    (size_t)(to - from));
	p->visitor.unread(p->visitor.context, from, to - from, kind);
	return 0;
}

/*
 * A page may have been unmapped between the two calls that look for it and read
 * it, and one that the kernel moves just then looks swapped out: these are asked
 * for again, alone.
 */
static int show_again(struct pass *p, const struct item *x, uint64_t address)
{
	const struct foreign_range r = {address, 1};
	struct foreign_batch b;
	int err = foreign_read(p->memory, &r, 1, &b, p->where);

	return err < 0 ? err : show(p, x, address, 1, b.pages[0], b.bytes);
}

enum { AGAIN_MAX = 64 }; /* pages of a batch that are asked for again */

int pass_flush(struct pass *p)
{
	struct foreign_batch b;
	struct {
		uint64_t address;
		size_t item;
	} again[AGAIN_MAX];
	size_t page = 0, refused = 0;
	int err = 0;

	if (p->count == 0)
		return 0;
	err = foreign_read(p->memory, p->ranges, p->count, &b, p->where);
	for (size_t i = 0; i < p->count && err == 0; i++) {
		const struct item *x = &p->items[i];
		uint64_t address = p->ranges[i].start;
		size_t left = (size_t)p->ranges[i].pages;

		while (left > 0 && err == 0) {
			size_t n = 1;

			while (n < left && b.pages[page + n] == b.pages[page])
				n++;
			if ((b.pages[page] == FOREIGN_REFUSED ||
			        b.pages[page] == FOREIGN_SWAPPED) &&
			    refused + n <= AGAIN_MAX) {
				for (size_t k = 0; k < n; k++) {
					again[refused].address = address + k * PAGE;
					again[refused++].item = i;
				}
			} else {
				err = show(p, x, address, n, b.pages[page], b.bytes + page * PAGE);
			}
			page += n;
			left -= n;
			address += n * PAGE;
		}
	}
	for (size_t i = 0; i < refused && err == 0; i++)
		err = show_again(p, &p->items[again[i].item], again[i].address);
	p->count = p->pages = 0;
	return err;
}

/* Whole pages around [start, end), as many batches as it takes. */
int pass_add_dense(struct pass *p, int tag, uint64_t start, uint64_t end)
{
	uint64_t at = start / PAGE * PAGE;
	int err = 0;

	while (at < end && err == 0) {
		uint64_t pages = (end - at + PAGE - 1) / PAGE;
		size_t room = BATCH_PAGES - p->pages;

		if (pages > room)
			pages = room;
		p->items[p->count] = (struct item){.start = at < start ? start : at,
		    .end = at + pages * PAGE < end ? at + pages * PAGE : end,
		    .tag = tag};
		p->ranges[p->count++] = (struct foreign_range){at, pages};
		p->pages += (size_t)pages;
		at += pages * PAGE;
		if (p->count == FOREIGN_BATCH_RANGES || p->pages == BATCH_PAGES)
			err = pass_flush(p);
	}
	return err;
}

struct part {
	uint64_t start, end;
	uint32_t kind;
};

/* The runs of an answer are gone with the next call, so they are copied. */
static int add_runs(struct pass *p, int tag, uint64_t start, uint64_t end,
    const struct foreign_run *runs, size_t count)
{
	struct part *parts = calloc(count + 1, sizeof(*parts));
	int err = parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && err == 0; i++) {
		uint64_t from = runs[i].start;
		uint64_t to = from + runs[i].pages * PAGE;

		parts[i] = (struct part){.start = from < start ? start : from,
		    .end = to > end ? end : to,
		    .kind = runs[i].kind};
	}
	for (size_t i = 0; i < count && err == 0; i++) {
		if (parts[i].start >= parts[i].end)
			continue;
		if (parts[i].kind == FOREIGN_READ)
			err = pass_add_dense(p, tag, parts[i].start, parts[i].end);
		else
			p->visitor.unread(p->visitor.context, parts[i].start,
			    parts[i].end - parts[i].start, (int)parts[i].kind);
	}
	free(parts);
	return err;
}

int pass_add(struct pass *p, int tag, uint64_t start, uint64_t end)
{
	uint64_t at = start / PAGE * PAGE;
	uint64_t last = (end + PAGE - 1) / PAGE * PAGE;
	int err = 0;

	if (start >= end)
		return 0;
	if (end - start < LARGE)
		return pass_add_dense(p, tag, start, end);
	while (at < last && err == 0) {
		const struct foreign_run *runs;
		size_t count;
		uint64_t next;

		err = foreign_present(p->memory, at, last, &runs, &count, &next, p->where);
		if (err < 0)
			return err;
		err = add_runs(p, tag, start, end, runs, count);
		at = next;
	}
	return err;
}
