/* program.c - the name of a process: its program as it was started. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/program.h"

#include "base/std.h"
#include "names/jail/opener.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum { ANSWERS = 16 };

static struct opener *opener; /* kept, because it remembers paths that hang */

/*
 * The process wrote these paths, and its file system may never answer. So
 * another process of ours checks them, with a deadline for all questions of one
 * name.
 */
static bool look_at(const char *path, struct opener_file *ret)
{
	const struct opener_question q = {.kind = OPENER_THERE, .path = path};

	return opener && opener_ask(opener, &q, ret, NULL) == 0;
}

/* DIR/NAME or DIRNAME, as `between` says, is the same file. */
static bool is_at(const char *dir, size_t len, const char *between, const char *name,
    const struct opener_file *exe)
{
	char path[PATH_MAX];
	struct opener_file st;
	int n = snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dir, between, name);

	return n > 0 && (size_t)n < sizeof(path) && look_at(path, &st) &&
	    st.device == exe->device && st.inode == exe->inode;
}

/* Is it in one of these directories, which colons separate? */
static bool is_in(const char *dirs, const char *name, const struct opener_file *exe)
{
	while (dirs && *dirs) {
		size_t n = strcspn(dirs, ":");

		if (dirs[0] == '/' && is_at(dirs, n, "/", name, exe))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}

/* Does argv[0] lead to the executable? */
static bool leads_there(
    const struct seg_header *h, const char *argument, const struct opener_file *exe)
{
	size_t dir = (size_t)(text_base(h->exe) - h->exe);

	if (argument[0] == '/')
		return is_at("", 0, "", argument, exe);
	if (strchr(argument, '/'))
		return h->start_dir[0] &&
		    is_at(h->start_dir, strlen(h->start_dir), "/", argument, exe);
	return is_at(h->exe, dir, "", argument, exe) || is_in(getenv("PATH"), argument, exe) ||
	    is_in("/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", argument, exe);
}

/* Programs may put any text there, such as "-sh" or "worker: idle". */
static bool may_be_a_file(const char *name)
{
	return *name && *name != '-' &&
	    name[strspn(name,
	        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	        "0123456789._+-")] == '\0';
}

/* Cached, because it is the same for every process of a tree. */
struct answer {
	char exe[sizeof(((struct seg_header *)0)->exe)];
	char command[sizeof(((struct seg_header *)0)->command)];
	char start_dir[sizeof(((struct seg_header *)0)->start_dir)];
	bool is_exe; /* use the name of the executable */
	bool is_known;
};

static bool is_same(const struct answer *a, const struct seg_header *h)
{
	return a->is_known && strcmp(a->exe, h->exe) == 0 && strcmp(a->command, h->command) == 0 &&
	    strcmp(a->start_dir, h->start_dir) == 0;
}

static bool find_out(const struct seg_header *h)
{
	struct opener_file exe;
	bool is_exe;

	if (!opener && opener_new(&opener) < 0)
		return true;
	opener_set_deadline(opener, clock_ns(CLOCK_MONOTONIC) + UINT64_C(2000000000));
	is_exe = h->exe[0] == '/' && look_at(h->exe, &exe) && !leads_there(h, h->command, &exe);
	opener_rest(opener);
	return is_exe;
}

const char *program_started_as(const struct seg_header *h)
{
	const char *exe = text_base(h->exe), *name = text_base(h->command);

	if (may_be_a_file(name))
		return name;
	return *exe ? exe : "(no name)";
}

const char *program_name(const struct seg_header *h)
{
	static struct answer answers[ANSWERS];
	static size_t next;
	const char *exe = text_base(h->exe), *name = text_base(h->command);
	struct answer *a;

	if (!may_be_a_file(name) || strcmp(name, exe) == 0)
		return *exe ? exe : "(no name)";
	for (size_t i = 0; i < ANSWERS; i++)
		if (is_same(&answers[i], h))
			return answers[i].is_exe ? exe : name;
	a = &answers[next++ % ANSWERS];
	memcpy(a->exe, h->exe, sizeof(a->exe));
	memcpy(a->command, h->command, sizeof(a->command));
	memcpy(a->start_dir, h->start_dir, sizeof(a->start_dir));
	a->is_exe = find_out(h);
	a->is_known = true;
	return a->is_exe ? exe : name;
}
