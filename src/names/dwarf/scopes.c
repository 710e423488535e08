/* scopes.c - the namespaces and classes around a function of DWARF. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/dwarf/debuginfo.h"

#include <dwarf.h>

#include "kit/data/room.h"

enum {
	MAX_HOPS = 8,
	MAX_NESTING = 64,
	MAX_TEXT = 4096,
};

/* A DIE and, after the first search in it, its children by offset. */
struct scope {
	Dwarf_Die die;
	Dwarf_Off offset;
	struct scope *children;
	size_t count;
	bool expanded;
	struct scope *before; /* the one expanded before this one */
	char *text;           /* its own "a::b"; made when first needed */
};

struct scopes {
	struct scope unit;
	struct scope *last; /* expanded last; DIEs inside one come after it */
};

int scopes_new(const Dwarf_Die *unit, struct scopes **ret)
{
	struct scopes *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->unit.die = *unit;
	*ret = s;
	return 0;
}

void scopes_free(struct scopes *s)
{
	if (!s)
		return;
	for (struct scope *at = s->last, *before; at; at = before) {
		before = at->before;
		for (size_t i = 0; i < at->count; i++)
			free(at->children[i].text);
		free(at->children);
	}
	free(s->unit.text);
	free(s);
}

/* If out of memory, as many as there is room for. */
static void expand(struct scopes *s, struct scope *scope)
{
	size_t room = 0;
	Dwarf_Die die;

	if (scope->expanded)
		return;
	scope->expanded = true;
	scope->before = s->last;
	s->last = scope;
	if (dwarf_child(&scope->die, &die) != 0)
		return;
	do {
		if (room_make(&scope->children, &room, scope->count, sizeof(*scope->children)) < 0)
			return;
		scope->children[scope->count++] =
		    (struct scope){.die = die, .offset = dwarf_dieoffset(&die)};
	} while (dwarf_siblingof(&die, &die) == 0);
}

/* The child at this offset, or the one that contains it. */
static struct scope *child_at(struct scopes *s, struct scope *scope, Dwarf_Off offset)
{
	size_t low = 0, high;

	expand(s, scope);
	high = scope->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (scope->children[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &scope->children[low - 1] : NULL;
}

/* The part that a DIE adds to the names inside it; NULL: nothing. */
static const char *part_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	switch (dwarf_tag(die)) {
	case DW_TAG_namespace:
		return name ? name : "(anonymous namespace)";
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
		return name ? name : "{unnamed}";
	case DW_TAG_module:
	case DW_TAG_subprogram:
		return name;
	default:
		return NULL;
	}
}

/* From the code of a function to its declaration. */
static Dwarf_Die declaration(const Dwarf_Die *function)
{
	Dwarf_Die die = *function, next;

	for (int hop = 0; hop < MAX_HOPS; hop++) {
		Dwarf_Attribute attr;

		if (!dwarf_formref_die(dwarf_attr(&die, DW_AT_abstract_origin, &attr), &next) &&
		    !dwarf_formref_die(dwarf_attr(&die, DW_AT_specification, &attr), &next))
			break;
		die = next;
	}
	return die;
}

const char *scopes_of(struct scopes *s, const Dwarf_Die *function)
{
	Dwarf_Die die = declaration(function);
	Dwarf_Off offset = dwarf_dieoffset(&die);
	struct scope *at = &s->unit, *next;
	const char *part;
	char text[MAX_TEXT] = "";
	size_t len = 0;

	if (die.cu != s->unit.die.cu)
		return NULL; /* in a partial unit */
	for (int n = 0; n < MAX_NESTING; n++) {
		next = child_at(s, at, offset);
		if (!next || next->offset == offset)
			break;
		at = next;
		part = part_of(&at->die);
		if (part && len < sizeof(text))
			len += (size_t)snprintf(
			    text + len, sizeof(text) - len, "%s%s", len ? "::" : "", part);
	}
	if (len == 0 || len >= sizeof(text))
		return NULL;
	if (!at->text)
		at->text = strdup(text);
	return at->text;
}
