/* debuginfo.c - DWARF: which functions, inlined ones too, are at an address. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/debuginfo.h"

#include <dwarf.h>

#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	MAX_NESTING = 512, /* levels of DIEs; deeper ones are ignored */
	MAX_CHAIN = 256,   /* levels of inlined functions */
};

/* A function, or an inlined one, that holds some of the addresses. */
struct node {
	Dwarf_Die die;
	uint32_t parent; /* number + 1, 0: none */
	uint32_t depth;
	bool inlined;
	bool named; /* the following fields are filled in */
	const char *name, *scope;
	const char *call_file;
	uint32_t call_line;
};

struct query {
	uint64_t address;
	size_t number; /* of the caller */
	uint32_t unit;
	uint32_t node; /* number + 1 of the deepest node so far, 0: none */
};

struct debuginfo {
	Dwarf *dwarf, *alt;
	struct units units;
	struct node *nodes; /* of one unit at a time */
	size_t node_count, node_room;
};

/* The addresses of one unit that are being looked up. */
struct search {
	struct debuginfo *info;
	struct query *queries; /* by address */
	size_t count;
	bool thorough; /* search all children, not only those with ranges */
	bool failed;   /* out of memory */
};

int debuginfo_new(Elf *elf, Elf *alt, struct debuginfo **ret)
{
	struct debuginfo *d = calloc(1, sizeof(*d));
	int err = -ENOMEM;

	if (!d)
		return -ENOMEM;
	if (alt)
		d->alt = dwarf_begin_elf(alt, DWARF_C_READ, NULL);
	d->dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	if (!d->dwarf) {
		err = -ENODATA;
		goto out;
	}
	if (d->alt)
		dwarf_setalt(d->dwarf, d->alt);
	err = dwarf_units_init(&d->units, d->dwarf, elf);
	if (err == 0 && d->units.count == 0)
		err = -ENODATA;
	if (err < 0)
		goto out;
	*ret = d;
	return 0;
out:
	debuginfo_free(d);
	return err;
}

void debuginfo_free(struct debuginfo *d)
{
	if (!d)
		return;
	if (d->dwarf)
		(void)dwarf_end(d->dwarf);
	if (d->alt)
		(void)dwarf_end(d->alt);
	dwarf_units_release(&d->units);
	free(d->nodes);
	free(d);
}

size_t debuginfo_missing_units(const struct debuginfo *d)
{
	return d->units.missing;
}

/* The first query at or above an address. */
static size_t first_from(const struct search *s, uint64_t address)
{
	return sorted_first(s->queries, s->count, x, x->address < address);
}

/* A node for a DIE below parent; its number + 1, 0: out of memory. */
static uint32_t add_node(struct search *s, const Dwarf_Die *die, uint32_t parent, bool inlined)
{
	struct debuginfo *d = s->info;
	struct node *more;

	if (d->node_count >= UINT32_MAX - 1 ||
	    room_make(&d->nodes, &d->node_room, d->node_count, sizeof(*d->nodes)) < 0) {
		s->failed = true;
		return 0;
	}
	more = &d->nodes[d->node_count++];
	*more = (struct node){.die = *die, .parent = parent, .inlined = inlined};
	more->depth = parent ? d->nodes[parent - 1].depth + 1 : 1;
	return (uint32_t)d->node_count;
}

/*
 * Gives the addresses inside a DIE's ranges a node of their own, if there are
 * any. The deepest DIE wins, and of equally deep ones the last. *ret_node is
 * the new node, or parent. False: the DIE has ranges, but none of the addresses
 * is in them.
 */
static bool claim(struct search *s, Dwarf_Die *die, uint32_t parent, bool is_function, bool inlined,
    uint32_t *ret_node)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;
	uint32_t node = 0;
	bool any = false, has_ranges = false;

	*ret_node = parent;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		has_ranges = true;
		if (!dwarf_units_is_code(&s->info->units, start, end))
			continue;
		for (size_t i = first_from(s, start); i < s->count && s->queries[i].address < end;
		     i++) {
			struct query *q = &s->queries[i];

			any = true;
			if (!is_function)
				return true;
			if (!node)
				node = add_node(s, die, parent, inlined);
			if (!node)
				return false;
			*ret_node = node;
			if (!q->node ||
			    s->info->nodes[q->node - 1].depth <= s->info->nodes[node - 1].depth)
				q->node = node;
		}
	}
	return any || !has_ranges;
}

/*
 * Visits one DIE. True: visit its children too; *node is then the node to which
 * they belong.
 */
static bool visit(struct search *s, Dwarf_Die *die, uint32_t *node)
{
	uint32_t parent = *node;

	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		/*
		 * it has no code: an abstract instance, of no interest by
		 * itself
		 */
		return (claim(s, die, parent, true, false, node) &&
		           (dwarf_hasattr(die, DW_AT_low_pc) ||
		               dwarf_hasattr(die, DW_AT_ranges))) ||
		    s->thorough;
	case DW_TAG_inlined_subroutine:
		return claim(s, die, parent, true, true, node) || s->thorough;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_entry_point:
		return claim(s, die, parent, false, false, node) || s->thorough;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_common_block:
		return true;
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return s->thorough; /* the code of local classes */
	default:
		return false;
	}
}

/* Visits all DIEs below one. */
static void walk(struct search *s, const Dwarf_Die *root)
{
	struct {
		Dwarf_Die die;
		uint32_t node; /* around it */
	} levels[MAX_NESTING];
	Dwarf_Die top = *root;
	size_t depth = 0;

	if (dwarf_child(&top, &levels[0].die) != 0)
		return;
	levels[0].node = 0;
	while (!s->failed) {
		uint32_t node = levels[depth].node;

		if (visit(s, &levels[depth].die, &node) && depth + 1 < MAX_NESTING &&
		    dwarf_child(&levels[depth].die, &levels[depth + 1].die) == 0) {
			levels[++depth].node = node;
			continue;
		}
		while (dwarf_siblingof(&levels[depth].die, &levels[depth].die) != 0)
			if (depth-- == 0)
				return;
	}
}

/* The name of a function, from where it was declared if need be. */
static void name_node(struct node *n, struct scopes *scopes)
{
	Dwarf_Attribute attr;
	Dwarf_Word line = 0;

	n->named = true;
	n->name = dwarf_formstring(dwarf_attr_integrate(&n->die, DW_AT_linkage_name, &attr));
	if (!n->name)
		n->name =
		    dwarf_formstring(dwarf_attr_integrate(&n->die, DW_AT_MIPS_linkage_name, &attr));
	if (!n->name) {
		n->name = dwarf_diename(&n->die);
		n->scope = scopes_of(scopes, &n->die);
	}
	if (n->inlined &&
	    dwarf_formudata(dwarf_attr(&n->die, DW_AT_call_line, &attr), &line) == 0 &&
	    line <= UINT32_MAX)
		n->call_line = (uint32_t)line;
}

/* The file of a call, as the unit's table of files has it. */
static const char *call_file(struct node *n, Dwarf_Die *unit)
{
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Word number;
	size_t count;

	if (!n->call_file &&
	    dwarf_formudata(dwarf_attr(&n->die, DW_AT_call_file, &attr), &number) == 0 &&
	    dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
		n->call_file = dwarf_filesrc(files, number, NULL, NULL);
	return n->call_file;
}

/* The source position of an address; NULL, 0: not known. */
static void find_line(const struct units_unit *u, uint64_t address, struct debuginfo_frame *f)
{
	Dwarf_Die die = u->die;
	Dwarf_Line *line = dwarf_getsrc_die(&die, address);
	int number = 0;

	if (!line)
		return;
	f->file = dwarf_linesrc(line, NULL, NULL);
	if (dwarf_lineno(line, &number) == 0 && number > 0)
		f->line = (uint32_t)number;
}

static size_t chain_of(struct debuginfo *d, struct units_unit *u, const struct query *q,
    struct scopes *scopes, struct debuginfo_frame *frames)
{
	struct debuginfo_frame place = {.dir = u->dir};
	uint32_t at = q->node;
	size_t count = 0;

	find_line(u, q->address, &place);
	if (!at) {
		frames[0] = place;
		return place.file ? 1 : 0;
	}
	while (at && count < MAX_CHAIN) {
		struct node *n = &d->nodes[at - 1];
		struct debuginfo_frame *f = &frames[count++];

		if (!n->named)
			name_node(n, scopes);
		*f = place;
		f->name = n->name;
		f->scope = n->scope;
		f->inlined = n->inlined && n->parent;
		if (!n->inlined)
			break;
		place.file = call_file(n, &u->split);
		place.line = n->call_line;
		at = n->parent;
	}
	return count;
}

/* Reports what was found about the addresses of one unit. */
static int answer(struct search *s, struct units_unit *u, debuginfo_found *found, void *context)
{
	struct debuginfo_frame frames[MAX_CHAIN];
	struct scopes *scopes;
	int err;

	if (s->failed)
		return -ENOMEM;
	err = scopes_new(&u->split, &scopes);
	if (err < 0)
		return err;
	for (size_t i = 0; i < s->count && err == 0; i++) {
		const struct query *q = &s->queries[i];
		size_t n = chain_of(s->info, u, q, scopes, frames);

		if (n > 0)
			err = found(context, q->number, frames, n);
	}
	scopes_free(scopes);
	return err;
}

static int resolve_unit(
    struct search *s, struct units_unit *u, debuginfo_found *found, void *context)
{
	bool complete = true;

	s->info->node_count = 0;
	walk(s, &u->split);
	for (size_t i = 0; i < s->count; i++)
		complete = complete && s->queries[i].node;
	if (!complete) {
		s->thorough = true;
		walk(s, &u->split);
	}
	return answer(s, u, found, context);
}

static int by_found(const void *a, const void *b)
{
	const struct query *x = a, *y = b;

	if (!x->node != !y->node)
		return x->node ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/*
 * Some units do not say where their code is. They are asked for each address
 * that no other unit claims.
 */
static int resolve_rest(
    struct debuginfo *d, struct query *queries, size_t count, debuginfo_found *found, void *context)
{
	int err = 0;

	for (size_t i = 0; i < d->units.count && count > 0 && err == 0; i++) {
		struct search s = {.info = d, .queries = queries, .count = count};
		size_t done = 0;

		if (d->units.list[i].has_ranges)
			continue;
		d->node_count = 0;
		s.thorough = true;
		walk(&s, &d->units.list[i].split);
		/* move those found to the front; the others stay in order */
		qsort(queries, count, sizeof(*queries), by_found);
		while (done < count && queries[done].node)
			done++;
		s.count = done;
		err = answer(&s, &d->units.list[i], found, context);
		queries += done;
		count -= done;
	}
	return err;
}

BY(by_unit, struct query, UP(unit) ?: UP(number))

int debuginfo_resolve(struct debuginfo *d, const uint64_t *addresses, size_t count,
    debuginfo_found *found, void *context)
{
	struct query *queries = calloc(count + 1, sizeof(*queries));
	int err = 0;

	if (!queries)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		queries[i] = (struct query){.address = addresses[i],
		    .number = i,
		    .unit = dwarf_units_find(&d->units, addresses[i])};
	qsort(queries, count, sizeof(*queries), by_unit);
	for (size_t i = 0, n; i < count && err == 0; i += n) {
		struct search s = {.info = d, .queries = queries + i};

		for (n = 1; i + n < count && queries[i + n].unit == queries[i].unit;)
			n++;
		s.count = n;
		if (queries[i].unit == UNITS_NONE)
			err = resolve_rest(d, queries + i, n, found, context);
		else
			err = resolve_unit(&s, &d->units.list[queries[i].unit], found, context);
	}
	free(queries);
	return err;
}
