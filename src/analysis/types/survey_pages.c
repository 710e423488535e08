/* survey_pages.c - memory of modules, for the search for vtables; pages are kept. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/types/survey_parts.h"

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
