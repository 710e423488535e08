/* log_places.c - what lines of events say of the sites of one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/log_places.h"

#include <stdlib.h>

#include "view/stacks/callstack.h"
#include "kit/data/room.h"

static bool same_id(const void *items, uint32_t item, const void *key)
{
	const struct log_place *all = items;

	return all[item].id == *(const uint32_t *)key;
}

static bool is_included(void *context, const char *function)
{
	return regexec(context, function, 0, NULL, 0) == 0;
}

/* Of the process, but not asked for so far. NULL: out of memory. */
static const struct log_place *add(struct log_places *p, uint32_t id, uint32_t stack)
{
	struct log_place one = {
	    .id = id, .has_stack = true, .is_wanted = !p->include, .stack = stack};
	uint32_t number;

	if (room_make(&p->items, &p->room, p->count, sizeof(one)) < 0)
		return NULL;
	one.function = callstack_function(p->names, p->process, stack, &one.name);
	if (!one.function)
		return NULL;
	if (p->include)
		one.is_wanted = callstack_matches(
		    p->names, p->process, stack, is_included, (void *)(uintptr_t)p->include);
	if (dict_find(&p->by_id, dict_hash(id, 0, 0), same_id, p->items, &id, (uint32_t)p->count,
	        &number) < 0) {
		free(one.function);
		return NULL;
	}
	p->items[p->count] = one;
	return &p->items[p->count++];
}

const struct log_place *log_places_find(struct log_places *p, uint32_t id)
{
	static const struct log_place unknown = {.is_wanted = true},
	                              unwanted = {.is_wanted = false};
	uint32_t number, stack;

	if (dict_look(&p->by_id, dict_hash(id, 0, 0), same_id, p->items, &id, &number))
		return &p->items[number];
	if (!callstack_find(p->process, id, &stack))
		return p->include ? &unwanted : &unknown;
	return add(p, id, stack);
}

void log_places_release(struct log_places *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->items[i].function);
	free(p->items);
	dict_release(&p->by_id);
	p->items = NULL;
	p->count = p->room = 0;
}
