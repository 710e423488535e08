/* allocator.c - the allocators that a replay compares. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/allocator.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/trial.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

enum { NAMES = 4 };
#define IDLE_NS UINT64_C(20000000000)
#define GLIBC   "glibc"

/* Names under which the libraries of distributions are installed. */
static const struct {
	const char *name;
	const char *libraries[NAMES];
} known[] = {
    {"jemalloc", {"libjemalloc.so.2"}},
    {"tcmalloc", {"libtcmalloc_minimal.so.4", "libtcmalloc.so.4"}},
    {"mimalloc", {"libmimalloc.so.2", "libmimalloc.so.2.0", "libmimalloc.so.3"}},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

/* Tunables that may be given without their "glibc.malloc." */
static const char *const tunables[] = {"arena_max", "arena_test", "check", "hugetlb", "mmap_max",
    "mmap_threshold", "mxfast", "perturb", "tcache_count", "tcache_max", "tcache_unsorted_limit",
    "top_pad", "trim_threshold"};

static int probe(const struct allocators *a, const struct allocator *one, struct trial_outcome *ret)
{
	const struct trial_plan plan = {.performer = a->performer,
	    .mode = SCRIPT_PROBE,
	    .script = -1,
	    .preload = one && one->preload[0] ? one->preload : NULL,
	    .tunables = one && one->tunables[0] ? one->tunables : NULL,
	    .idle_ns = IDLE_NS};

	return trial_run(&plan, ret);
}

int allocator_begin(struct allocators *a, const char *performer, struct fault *where)
{
	struct trial_outcome o;
	int err;

	*a = (struct allocators){.performer = performer};
	err = probe(a, NULL, &o);
	if (err == 0 && o.end != TRIAL_DONE)
		err = -ENOEXEC;
	if (err < 0)
		return fault_set(where, err, "%s cannot be run: %s", performer, strerror(-err));
	memcpy(a->libc, o.result.malloc_path, sizeof(a->libc));
	return 0;
}

void allocator_release(struct allocators *a)
{
	free(a->all);
	*a = (struct allocators){0};
}

/* ---- does it work? ---- */

/* The loader's reason, in "... cannot be preloaded (REASON): ignored." */
static void find_reason(const char *said, char *ret, size_t bytes)
{
	const char *begin = strstr(said, "cannot be preloaded (");
	const char *end;

	(void)snprintf(ret, bytes, "it has no malloc");
	begin = begin ? strchr(begin, '(') + 1 : NULL;
	end = begin ? strstr(begin, "):") : NULL;
	if (end)
		(void)snprintf(ret, bytes, "%.*s", (int)(end - begin), begin);
}

/* Loads it. -EINVAL, with a text: that is not possible. */
static int try(const struct allocators *a, struct allocator *one, struct fault *where)
{
	struct trial_outcome o;
	char reason[128];
	int err = probe(a, one, &o);

	if (err < 0)
		return fault_set(
		    where, err == -ENOMEM ? err : -EINVAL, "%s: %s", one->name, strerror(-err));
	if (o.end == TRIAL_SIGNAL)
		return fault_set(where, -EINVAL,
		    "%s: a program with %s in it was ended by signal %d "
		    "(SIG%s)",
		    one->name, one->preload, o.detail,
		    sigabbrev_np(o.detail) ? sigabbrev_np(o.detail) : "");
	if (o.end != TRIAL_DONE)
		return fault_set(where, -EINVAL, "%s: a program with %s in it does not start",
		    one->name, one->preload);
	find_reason(o.said, reason, sizeof(reason));
	if (one->preload[0] && strcmp(o.result.malloc_path, a->libc) == 0)
		return fault_set(
		    where, -EINVAL, "%s: %s cannot be used: %s", one->name, one->preload, reason);
	memcpy(one->library, o.result.malloc_path, sizeof(one->library));
	return 0;
}

static int append(struct allocators *a, const struct allocator *one, struct fault *where)
{
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->all[i].name, one->name) == 0)
			return fault_set(where, -EINVAL,
			    "there are two allocators with the name \"%s\"", one->name);
	if (a->count >= ALLOCATORS_MAX)
		return fault_set(
		    where, -EINVAL, "there are more than %d allocators", ALLOCATORS_MAX);
	if (room_make(&a->all, &a->room, a->count, sizeof(*a->all)) < 0)
		return -ENOMEM;
	a->all[a->count++] = *one;
	return 0;
}

/* ---- from words ---- */

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)text[i]))
			return false;
	return len > 0 && len < ALLOCATOR_NAME;
}

static int set_library(struct allocator *one, const char *text, struct fault *where)
{
	char *real = strchr(text, '/') ? realpath(text, NULL) : strdup(text);

	if (!real)
		return fault_set(where, -EINVAL, "%s: %s: %s", one->name, text, strerror(errno));
	(void)snprintf(one->preload, sizeof(one->preload), "%s", real);
	free(real);
	if (!one->preload[0] || strpbrk(one->preload, " :\t\n"))
		return fault_set(where, -EINVAL, "%s: LD_PRELOAD cannot contain the path \"%s\"",
		    one->name, one->preload);
	return 0;
}

/* The prefix that this tunable needs; NULL: it is not one of glibc's. */
static const char *prefix_of(const char *text, size_t len)
{
	if (text_begins_with(text, "glibc."))
		return "";
	for (size_t i = 0; i < sizeof(tunables) / sizeof(tunables[0]); i++)
		if (strlen(tunables[i]) == len && strncmp(tunables[i], text, len) == 0)
			return "glibc.malloc.";
	return NULL;
}

/* "arena_max=1:tcache_count=0", or with "glibc.malloc." before each. */
static int set_tunables(struct allocator *one, const char *text, struct fault *where)
{
	size_t used = 0;

	while (*text) {
		size_t len = strcspn(text, ":"), name = strcspn(text, "=:");
		const char *prefix = prefix_of(text, name);

		if (!prefix || name + 1 >= len || text[name] != '=')
			return fault_set(where, -EINVAL,
			    "%s: \"%.*s\" is not a tunable of glibc's malloc "
			    "with its value, as arena_max=1",
			    one->name, (int)len, text);
		used += (size_t)snprintf(one->tunables + used, sizeof(one->tunables) - used,
		    "%s%s%.*s", used ? ":" : "", prefix, (int)len, text);
		if (used >= sizeof(one->tunables))
			return fault_set(where, -EINVAL, "%s: too many tunables", one->name);
		text += len + (text[len] == ':');
	}
	return 0;
}

/* One of those that are known, by the first of its libraries that loads. */
static int add_by_name(struct allocators *a, const char *name, struct fault *where)
{
	struct allocator one = {0};
	int err = -EINVAL;

	(void)snprintf(one.name, sizeof(one.name), "%s", name);
	if (strcmp(name, GLIBC) == 0) {
		err = try(a, &one, where);
		return err < 0 ? err : append(a, &one, where);
	}
	for (size_t i = 0; i < KNOWN; i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		for (size_t k = 0; k < NAMES && known[i].libraries[k]; k++) {
			(void)snprintf(
			    one.preload, sizeof(one.preload), "%s", known[i].libraries[k]);
			err = try(a, &one, where);
			if (err != -EINVAL)
				break;
		}
		return err < 0 ? err : append(a, &one, where);
	}
	return fault_set(where, -EINVAL,
	    "\"%s\" is not an allocator that seep knows (glibc, jemalloc, "
	    "tcmalloc, mimalloc); give NAME=LIB or NAME=glibc:TUNABLES",
	    name);
}

int allocator_add(struct allocators *a, const char *text, struct fault *where)
{
	const char *equals = strchr(text, '=');
	struct allocator one = {0};
	int err;

	if (!equals)
		return add_by_name(a, text, where);
	if (!is_name(text, (size_t)(equals - text)))
		return fault_set(where, -EINVAL,
		    "\"%s\" does not begin with a name of 1 to %d characters "
		    "without spaces",
		    text, ALLOCATOR_NAME - 1);
	(void)snprintf(one.name, sizeof(one.name), "%.*s", (int)(equals - text), text);
	text = equals + 1;
	if (text_begins_with(text, GLIBC ":"))
		err = set_tunables(&one, text + strlen(GLIBC ":"), where);
	else if (strcmp(text, GLIBC) == 0)
		err = 0;
	else
		err = set_library(&one, text, where);
	if (err == 0)
		err = try(a, &one, where);
	return err < 0 ? err : append(a, &one, where);
}

int allocator_add_known(struct allocators *a)
{
	int err = add_by_name(a, GLIBC, NULL);

	for (size_t i = 0; i < KNOWN && err != -ENOMEM; i++)
		err = add_by_name(a, known[i].name, NULL); /* or it is not here */
	return err == -ENOMEM ? err : 0;
}
