/* log_places.c - what lines of events say of the sites of one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/who.h"

#include "kit/data/room.h"
#include "view/stacks/frames.h"

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

	if (dict_seek(&p->by_id, dict_hash(id, 0, 0), same_id, p->items, &id, &number))
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

/* ---- log_lack: says why a process has no event log ---- */

static const char *const reasons[] = {
    [SEG_LOG_LACK_SETTING] = "SEEP_LOG has a value that seep does not know (1, addresses, last, or "
                             "last:N with N from 16 to 1048576; ,frees behind last)",
    [SEG_LOG_LACK_SAMPLE] = "SEEP_LOG was ignored, because SEEP_SAMPLE was "
                            "set and a log needs every event",
    [SEG_LOG_LACK_PRIVATE] = "SEEP_LOG was ignored, because SEEP_PRIVATE was "
                             "set and a log needs shared memory",
    [SEG_LOG_LACK_SMALL] = "SEEP_LOG_POOL is below 256KiB, which is the least",
    [SEG_LOG_LACK_ROOM] = "there was too little room for its pool of 256KiB or more: it takes at "
                          "most 1/4 of what is free in the file system of SEEP_DIR, and a part "
                          "of the memory cgroup, of ulimit -f and of ulimit -v",
    [SEG_LOG_LACK_FILE] = "its file could not be made beside the segment",
    [SEG_LOG_LACK_MEMORY] = "there was no memory for it",
    [SEG_LOG_LACK_CHILD] = "a forked child for which its parent's log file has no pool left, or "
                           "one made by clone() or _Fork() by a process that may become another "
                           "user",
    [SEG_LOG_LACK_EARLY] = "a forked child that ended in its first events, of "
                           "which only sums are kept",
};

bool log_lack_words(const struct seg_header *h, char ret[LOG_LACK_BYTES])
{
	uint32_t why = h->log_lack;
	bool is_known = why < sizeof(reasons) / sizeof(reasons[0]) && reasons[why];
	const char *error = h->log_lack_error > 0 && h->log_lack_error < 4096
	    ? strerrordesc_np((int)h->log_lack_error)
	    : NULL;

	if (h->log_state == SEG_LOG_ON || h->log_state == SEG_LOG_LAST)
		return false;
	if (!is_known && h->log_state == SEG_LOG_NONE)
		return false;
	(void)snprintf(ret, LOG_LACK_BYTES, "%s%s%s",
	    is_known ? reasons[why] : "no pool could be made for it", error ? ": " : "",
	    error ? error : "");
	return true;
}
