/* unseen.c - a sentence about memory that did not come from malloc. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/unseen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/sites/enum_words.h"

enum { FACTOR = 3, LEAST = 32 << 20 };

/* Runtimes that have their own heap, recognised by a part of a file's name. */
static const struct {
	const char *file, *reason;
} runtimes[] = {
    {"libjvm.so",
        "the heap of the Java virtual machine, which its own tools "
        "show"},
    {"libcoreclr.so", "the heap of .NET, which its own tools show"},
    {"libmono", "the heap of Mono, which its own tools show"},
    {"/node", "the heap of V8, which node's own tools show"},
    {"libnode.so", "the heap of V8, which node's own tools show"},
    {"libv8", "the heap of V8, which its own tools show"},
    {"libgo.so", "the heap of Go, which pprof shows"},
    {"python",
        "pymalloc's own pools: with PYTHONMALLOC=malloc every object is "
        "seen"},
    {"libruby", "the heap of Ruby's objects"},
};

static uint64_t seen_bytes(const struct process *p)
{
	return p->rss_is_peak ? p->totals.peak_bytes : p->totals.live_bytes;
}

/* Is so much of its memory outside the heap that a user must know? */
static bool matters(const struct process *p)
{
	uint64_t seen = seen_bytes(p), own = p->header.own_bytes;

	return p->rss_bytes > seen + own + LEAST && p->rss_bytes / FACTOR > seen + own;
}

static const char *reason_of(const struct process *p)
{
	for (size_t k = 0; k < sizeof(runtimes) / sizeof(runtimes[0]); k++) {
		if (strstr(p->header.exe, runtimes[k].file))
			return runtimes[k].reason;
		for (size_t i = 0; i < p->module_count; i++)
			if (p->modules[i].path && strstr(p->modules[i].path, runtimes[k].file))
				return runtimes[k].reason;
	}
	return "stacks, files, mmap, or a runtime's own heap";
}

/*
 * What the rest is cannot be told from two sums: the pages of a heap that was
 * larger once are resident, too, and those of a parent.
 */
static const char *others_of(const struct process *p)
{
	static const uint8_t none[sizeof(p->header.parent_uuid)];

	if (memcmp(p->header.parent_uuid, none, sizeof(none)) != 0)
		return "blocks of its parent from before the fork, freed "
		       "memory that the heap keeps, or";
	return "freed memory that the heap keeps, or";
}

void unseen_write(const struct layout *p, const struct process *process)
{
	char a[WORDS_MAX], b[WORDS_MAX], *text;

	if (!matters(process))
		return;
	if (asprintf(&text,
	        "Its resident memory %s %s, of which seep sees %s: the rest is "
	        "%s not from malloc (%s). %s\n",
	        process->rss_is_peak ? "reached" : "is", words_bytes(a, process->rss_bytes),
	        words_bytes(b, seen_bytes(process)), others_of(process), reason_of(process),
	        process->residence         ? "--rss shows where it is."
	            : process->running_pid ? "report PID --rss says which."
	                                   : "record --rss says which.") < 0)
		return;
	layout_paragraph(p, text, 0);
	free(text);
}
