/* places.c - where the file of a module and its debug information may be. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/places.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "names/dwarf/buildid.h"
#include "kit/words/text.h"

#define USUAL "/usr/lib/debug"
#define PROC  "/proc/"

enum { NAME_BYTES = 2 * 32 + 33 };

/* Counts down to the place that is wanted. */
struct counter {
	size_t left;
	struct places_place *ret;
};

/* Concatenates root, dir and name. A path that is too long is no place. */
static bool is_at(struct counter *c, const char *root, const char *dir, const char *name)
{
	struct places_place *p = c->ret;
	int n;

	if (c->left-- > 0)
		return false;
	n = snprintf(p->path, sizeof(p->path), "%s%s%s", root, dir, name);
	if (n < 0 || (size_t)n >= sizeof(p->path))
		p->path[0] = '\0';
	p->root_bytes = p->path[0] ? strlen(root) : 0;
	return true;
}

static bool is_foreign_root(const char *root)
{
	return strncmp(root, PROC, strlen(PROC)) == 0;
}

/* The same, for a place where a traced process may have put files. */
static bool is_below(struct counter *c, const char *root, const char *dir, const char *name)
{
	if (!is_at(c, root, dir, name))
		return false;
	c->ret->check_owner = is_foreign_root(root);
	return true;
}

/* The same, if the contents of somebody's file decide what is opened. */
static bool is_chosen(struct counter *c, const char *root, const char *dir, const char *name)
{
	if (!is_at(c, root, dir, name))
		return false;
	c->ret->check_owner = true;
	return true;
}

/* Is one of its parts ".."? */
static bool leads_up(const char *path)
{
	for (const char *p = path; p; p = strchr(p, '/')) {
		p += *p == '/';
		if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
			return true;
	}
	return false;
}

/* ---- the module ---- */

/* One of several names, below one of several roots. */
static bool is_named(struct counter *c, const struct places_search *s, const char *const *names)
{
	for (size_t i = 0; names && names[i]; i++)
		for (size_t k = 0; names[i][0] == '/' && s->roots[k]; k++)
			if (is_at(c, s->roots[k], "", names[i]))
				return true;
	return false;
}

/*
 * By the whole path and by its last part, below a directory that the user gave.
 */
static bool is_in_dirs(struct counter *c, const struct places_search *s)
{
	const char *last = text_base(s->path);
	char dir[PATH_MAX];

	for (size_t i = 0; s->dirs[i]; i++) {
		(void)snprintf(dir, sizeof(dir), "%s/", s->dirs[i]);
		if ((!leads_up(s->path) && is_at(c, "", dir, s->path + (s->path[0] == '/'))) ||
		    is_at(c, "", dir, last))
			return true;
	}
	return false;
}

bool places_module(const struct places_search *s, size_t n, struct places_place *ret)
{
	const char *const own[] = {s->path, NULL};
	struct counter c = {.left = n, .ret = ret};

	*ret = (struct places_place){0};
	if (is_named(&c, s, s->mapped) || is_named(&c, s, own))
		return true;
	ret->by_id = true;
	if (is_named(&c, s, s->twins)) {
		/* a hostile process may give this name to a file of its own */
		ret->check_owner = true;
		ret->by_session = true;
		return true;
	}
	return is_in_dirs(&c, s);
}

/* ---- debug information ---- */

/* ".build-id/ab/cdef.debug"; false: too short for a build-id. */
static bool name_by_id(char name[NAME_BYTES], const uint8_t *id, size_t bytes)
{
	char hex[65];

	if (bytes < 2 || bytes > 32)
		return false;
	buildid_hex(hex, id, bytes);
	(void)snprintf(name, NAME_BYTES, "/.build-id/%.2s/%s.debug", hex, hex + 2);
	return true;
}

static bool has_id(
    struct counter *c, const struct places_search *s, const uint8_t *id, size_t bytes)
{
	char name[NAME_BYTES];

	if (!name_by_id(name, id, bytes))
		return false;
	for (size_t i = 0; s->dirs[i]; i++)
		if (is_at(c, "", s->dirs[i], name) ||
		    is_at(c, "", s->dirs[i], name + strlen("/.build-id")))
			return true;
	for (size_t i = 0; s->roots[i]; i++)
		if (is_below(c, s->roots[i], USUAL, name))
			return true;
	return false;
}

/* `name` comes from .gnu_debuglink: a file in one of these directories. */
static bool is_linked(struct counter *c, const struct places_search *s, const char *name)
{
	const char *slash = strrchr(s->path, '/');
	char dir[PATH_MAX], below[PATH_MAX + sizeof(USUAL)], file[NAME_MAX + 2];
	bool up = leads_up(s->path);

	if (!name[0] || strchr(name, '/') || strlen(name) > NAME_MAX || leads_up(name))
		return false;
	(void)snprintf(file, sizeof(file), "/%s", name);
	(void)snprintf(dir, sizeof(dir), "%.*s", slash ? (int)(slash - s->path) : 0, s->path);
	for (size_t i = 0; s->dirs[i]; i++)
		if ((!up && is_at(c, s->dirs[i], dir, file)) || is_at(c, "", s->dirs[i], file))
			return true;
	for (size_t i = 0; s->roots[i]; i++) {
		if (is_chosen(c, s->roots[i], dir, file))
			return true;
		(void)snprintf(below, sizeof(below), "%s/.debug", dir);
		if (is_chosen(c, s->roots[i], below, file))
			return true;
		(void)snprintf(below, sizeof(below), USUAL "%s", dir);
		if (!up && is_below(c, s->roots[i], below, file))
			return true;
	}
	return false;
}

/* `name` comes from .gnu_debugaltlink. */
static bool is_alt(struct counter *c, const struct places_search *s, const char *name)
{
	/* "../../.dwz/x.debug" is relative to a file in such a directory */
	while (strncmp(name, "../", 3) == 0)
		name += 3;
	if (!name[0] || leads_up(name))
		return false;
	if (strncmp(name, USUAL "/", sizeof(USUAL)) == 0)
		name += sizeof(USUAL);
	for (size_t i = 0; s->dirs[i]; i++) {
		char dir[PATH_MAX];

		(void)snprintf(dir, sizeof(dir), "%s/", s->dirs[i]);
		if (is_at(c, "", dir, name))
			return true;
	}
	for (size_t i = 0; s->roots[i]; i++)
		if (name[0] == '/' ? is_chosen(c, s->roots[i], "", name)
		                   : is_below(c, s->roots[i], USUAL "/", name))
			return true;
	return false;
}

/* A .dwo file; libdw has already put the directory in front of its name. */
static bool is_split(struct counter *c, const struct places_search *s, const char *path)
{
	for (size_t i = 0; s->roots[i]; i++) {
		size_t len = strlen(s->roots[i]);

		if (len > 0 && strncmp(path, s->roots[i], len) == 0)
			return is_chosen(c, s->roots[i], "", path + len);
	}
	return path[0] == '/' && is_chosen(c, "", "", path);
}

bool places_of(const struct places_search *s, const struct ask *q, struct places_place *ret)
{
	struct counter c = {.left = q->n, .ret = ret};

	*ret = (struct places_place){0};
	switch (q->kind) {
	case ASK_MODULE:
		return places_module(s, q->n, ret);
	case ASK_DEBUG:
		return (s->given && is_at(&c, "", "", s->given)) ||
		    has_id(&c, s, q->id, q->id_bytes);
	case ASK_LINK:
		return is_linked(&c, s, q->name);
	case ASK_ALT:
		return (s->given_alt && is_at(&c, "", "", s->given_alt)) ||
		    has_id(&c, s, q->id, q->id_bytes) || is_alt(&c, s, q->name);
	case ASK_SPLIT:
		return is_split(&c, s, q->name);
	case ASK_MAP:
	default:
		return false;
	}
}
