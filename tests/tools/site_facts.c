/* site_facts.c - what reports do not show of a site: who frees, births of the living. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "names/find/names.h"
#include "session/load/session.h"

/*
 * usage: site_facts INPUT
 * For each site: SITE and the function that allocated, for each that freed a
 * line FREER, its function, its count; BIRTH, a slot of 32, how many blocks
 * that live were born in it.
 */
static const char *name_of(struct names *names, const struct process *p, uint64_t frame)
{
	const struct names_frame *chain;
	size_t n = 0;

	if (names_gather_frames(names, p, &frame, 1) == 0) {
		names_resolve(names);
		n = names_chain(names, p, frame, &chain);
	}
	return n > 0 && chain[0].function ? chain[0].function : "??";
}

static void print(struct names *names, const struct process *p)
{
	for (size_t i = 0; i < p->site_count; i++) {
		const struct process_site *s = &p->sites[i];
		uint64_t inner = 0;
		uint32_t flags;

		(void)stacks_frames(p->stacks, s->stack, &inner, 1, &flags);
		printf("SITE %s\n", name_of(names, p, inner));
		for (int k = 0; k < SEG_BIRTH_SLOTS; k++)
			if (s->ages && s->ages->births_known && s->ages->births[k] > 0)
				printf("BIRTH %d %" PRIu32 "\n", k, s->ages->births[k]);
		for (size_t k = 0; s->freed_by && k < s->freed_by->count; k++)
			printf("FREER %s %" PRIu64 "\n",
			    name_of(names, p, s->freed_by->at[k].frame), s->freed_by->at[k].count);
	}
}

int main(int argc, char **argv)
{
	struct names_options options = {.no_cache = true};
	struct names *names = NULL;
	struct fault where = {""};
	struct session *s = NULL;
	int err = argc == 2 ? session_load(argv[1], &s, &where) : -1;

	if (err == 0)
		err = names_new(&options, &names);
	for (size_t i = 0; err == 0 && i < s->count; i++)
		print(names, s->processes[i]);
	if (err < 0)
		(void)fprintf(stderr, "site_facts: %d %s\n", err, where.text);
	names_free(names);
	session_free(s);
	return err < 0;
}
