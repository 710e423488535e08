/* libraries.c - finds the libraries that the loader would load. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/inspect.h"

#include "base/cpu/elf_machine.h"

enum { OBJECTS_MAX = 256 };

struct object {
	char *name, *path; /* as it is asked for, and where it was found */
	uid_t owner;
	struct elf_facts *facts;
};

/* A program and the libraries it would load, breadth first. */
struct closure {
	struct elf_reader *reader;
	bool is_foreign;
	const char *root;
	void (*found_one)(void *context, const char *path, const struct elf_facts *facts);
	bool (*each)(void *context, const char *who, const char *name);
	void *context;
	bool is_over; /* `each` wants no more */
	struct elf_facts found;
	struct object list[OBJECTS_MAX];
	size_t count;
};

/* A file that asks for a library. */
struct user {
	const char *path, *runpath;
	uid_t owner;
	bool is_file; /* false: a variable of our own environment */
};

static const char *const library_dirs[] = {
    "/lib/" CPU_LIBRARY_DIR,
    "/usr/lib/" CPU_LIBRARY_DIR,
    "/lib64",
    "/usr/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/lib64",
};

/* Joins; false if it does not fit. */
static bool join(char *to, size_t bytes, const char *dir, const char *name)
{
	int n = snprintf(to, bytes, "%s/%s", dir, name);

	return n > 0 && (size_t)n < bytes;
}

/* Reads a file into c->found if it is ELF of our kind. */
static bool is_native(
    struct closure *c, const char *path, const struct user *chooser, uid_t *ret_owner)
{
	const struct elf_file file = {.path = path,
	    .root = c->root,
	    .is_chosen = c->is_foreign && chooser,
	    .chooser = chooser ? chooser->owner : 0};

	return elf_reader_read(c->reader, &file, &c->found, ret_owner) == 0 && c->found.native;
}

/* Expands a directory of RUNPATH for a file in `origin`; false: too long. */
static bool expand(char to[PATH_MAX], const char *entry, size_t len, const char *origin)
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	const char *before = "";
	int n;

	for (size_t i = 0; i < 2; i++) {
		size_t bytes = strlen(words[i]);

		if (len < bytes || strncmp(entry, words[i], bytes) != 0)
			continue;
		before = origin;
		entry += bytes;
		len -= bytes;
		break;
	}
	n = snprintf(to, PATH_MAX, "%s%.*s", before, (int)len, entry);
	return n > 0 && n < PATH_MAX;
}

/* Tries the name in each directory of a list. */
static bool find_in_list(struct closure *c, const char *list, const struct user *user,
    const char *name, char to[PATH_MAX], uid_t *ret_owner)
{
	const char *slash = strrchr(user->path, '/');
	char origin[PATH_MAX], dir[PATH_MAX];

	(void)snprintf(origin, sizeof(origin), "%.*s", slash ? (int)(slash - user->path) : 1,
	    slash ? user->path : ".");
	while (*list) {
		size_t len = strcspn(list, ":");
		const char *entry = list;

		list += len + (list[len] == ':');
		if (len == 0)
			continue;
		if (expand(dir, entry, len, origin) && join(to, PATH_MAX, dir, name) &&
		    is_native(c, to, user->is_file ? user : NULL, ret_owner))
			return true;
	}
	return false;
}

static bool find_library(struct closure *c, const char *name, const struct user *user,
    char to[PATH_MAX], uid_t *ret_owner)
{
	const struct user environment = {.path = user->path};
	const char *env = getenv("LD_LIBRARY_PATH");

	if (strchr(name, '/')) {
		(void)snprintf(to, PATH_MAX, "%s", name);
		return is_native(c, to, user->is_file ? user : NULL, ret_owner);
	}
	if (find_in_list(c, user->runpath, user, name, to, ret_owner))
		return true;
	if (env && find_in_list(c, env, &environment, name, to, ret_owner))
		return true;
	for (size_t i = 0; i < sizeof(library_dirs) / sizeof(library_dirs[0]); i++)
		if (join(to, PATH_MAX, library_dirs[i], name) && is_native(c, to, NULL, ret_owner))
			return true;
	return false;
}

static void release_object(struct object *o)
{
	free(o->name);
	free(o->path);
	free(o->facts);
}

static void add(struct closure *c, const char *name, const struct user *user)
{
	struct object o = {0};
	char path[PATH_MAX];

	/* the loader and libc load nothing of interest */
	if (!strncmp(name, "ld-linux", 8) || (!strcmp(name, ELF_LIBC) && !c->found_one))
		return;
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->list[i].name, name))
			return;
	if (c->count == OBJECTS_MAX || !find_library(c, name, user, path, &o.owner))
		return;
	o.name = strdup(name);
	o.path = strdup(path);
	o.facts = malloc(sizeof(*o.facts));
	if (!o.name || !o.path || !o.facts) {
		release_object(&o);
		return;
	}
	*o.facts = c->found;
	if (c->found_one)
		c->found_one(c->context, path, o.facts);
	c->list[c->count++] = o;
}

static void ask_for(struct closure *c, const char *name, const struct user *user)
{
	c->is_over = c->is_over || !c->each(c->context, user->path, name);
	if (!c->is_over)
		add(c, name, user);
}

static void follow(struct closure *c, const char *path, const struct elf_facts *f, uid_t owner)
{
	const struct user user = {
	    .path = path, .runpath = f->runpath, .owner = owner, .is_file = true};
	const char *end = f->needed + f->needed_bytes;

	for (const char *n = f->needed; n < end && !c->is_over; n += strlen(n) + 1)
		ask_for(c, n, &user);
}

static void follow_preloads(struct closure *c)
{
	const struct user user = {.path = "LD_PRELOAD", .runpath = ""};
	const char *env = getenv("LD_PRELOAD");
	char *copy = env ? strdup(env) : NULL;
	char *save = NULL;

	for (char *w = copy ? strtok_r(copy, " :", &save) : NULL; w;
	     w = strtok_r(NULL, " :", &save))
		ask_for(c, w, &user);
	free(copy);
}

void libraries_each(struct elf_reader *reader, const struct libraries_program *program,
    bool (*each)(void *context, const char *who, const char *name), void *context)
{
	struct closure *c = calloc(1, sizeof(*c));

	if (!c)
		return;
	c->reader = reader;
	c->is_foreign = program->is_foreign;
	c->root = program->root;
	c->found_one = program->found;
	c->each = each;
	c->context = context;
	follow(c, program->path, program->facts, program->owner);
	follow_preloads(c);
	for (size_t i = 0; i < c->count && !c->is_over; i++)
		follow(c, c->list[i].path, c->list[i].facts, c->list[i].owner);
	for (size_t i = 0; i < c->count; i++)
		release_object(&c->list[i]);
	free(c);
}
