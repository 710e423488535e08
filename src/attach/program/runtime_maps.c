/* runtime_maps.c - makes runtimes write the names of their functions, and tidies up. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "attach/program/launch.h"

#include "kit/data/room.h"

/* ---- the environment ---- */

enum { WORDS = 3 };

static const struct {
	const char *name;
	const char *words[WORDS]; /* options that it must have */
	const char *value;        /* or all of it, if it is not set */
} variables[] = {
    {"PYTHONPERFSUPPORT", {NULL}, "1"},
    {"NODE_OPTIONS", {"--perf-basic-prof", "--interpreted-frames-native-stack", NULL}, NULL},
    {"JAVA_TOOL_OPTIONS",
        {"-XX:+PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"},
        NULL},
};

/* Is it one of the words in the text? */
static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

/* `old` with the words that it lacks; the caller frees it. NULL: no memory. */
static char *add_words(const char *old, const char *const words[WORDS])
{
	char *value = strdup(old);

	for (size_t i = 0; value && i < WORDS && words[i]; i++) {
		char *longer;

		if (has_word(value, words[i]))
			continue;
		if (asprintf(&longer, "%s%s%s", value, *value ? " " : "", words[i]) < 0)
			longer = NULL;
		free(value);
		value = longer;
	}
	return value;
}

int runtime_maps_each(int (*set)(void *context, const char *name, const char *value), void *context)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]) && err == 0; i++) {
		const char *old = getenv(variables[i].name);
		char *value;

		if (variables[i].value) {
			if (!old || !*old)
				err = set(context, variables[i].name, variables[i].value);
			continue;
		}
		value = add_words(old ? old : "", variables[i].words);
		if (!value)
			return -ENOMEM;
		if (!old || strcmp(old, value) != 0)
			err = set(context, variables[i].name, value);
		free(value);
	}
	return err;
}

/* ---- the files ---- */

/* Where runtimes write, and how these files are called: PREFIX...PID.SUFFIX */
static const struct {
	const char *dir, *prefix, *suffix;
} places[] = {
    {"/tmp", "perf-", ".map"},
    {".", "isolate-0x", "-v8.log"},
};
enum { PLACES = 2 };

struct file {
	char *name;
	size_t place;
};

struct runtime_maps {
	struct file *before;
	size_t before_count, before_room;
	uint32_t *pids;
	size_t pid_count, pid_room;
};

static bool has_form(const char *name, size_t place)
{
	size_t n = strlen(name), end = strlen(places[place].suffix);

	return strncmp(name, places[place].prefix, strlen(places[place].prefix)) == 0 && n > end &&
	    strcmp(name + n - end, places[place].suffix) == 0;
}

/* The number before the suffix; 0: there is none. */
static uint32_t pid_in(const char *name, size_t place)
{
	const char *end = name + strlen(name) - strlen(places[place].suffix);
	const char *at = end;
	unsigned long pid;

	while (at > name && at[-1] >= '0' && at[-1] <= '9')
		at--;
	if (at == end || end - at > 10 || at == name || at[-1] != '-')
		return 0;
	pid = strtoul(at, NULL, 10);
	return pid <= INT32_MAX ? (uint32_t)pid : 0;
}

/* Calls `visit` for each file that has the form. */
static int each_file(
    int (*visit)(void *context, int dir, const char *name, size_t place), void *context)
{
	int err = 0;

	for (size_t i = 0; i < PLACES; i++) {
		DIR *dir = opendir(places[i].dir);
		const struct dirent *d;

		if (!dir)
			continue;
		while (err == 0 && (d = readdir(dir)))
			if (has_form(d->d_name, i))
				err = visit(context, dirfd(dir), d->d_name, i);
		(void)closedir(dir);
	}
	return err;
}

static int note_before(void *context, int dir, const char *name, size_t place)
{
	struct runtime_maps *m = context;
	char *copy;

	(void)dir;
	if (room_make(&m->before, &m->before_room, m->before_count, sizeof(*m->before)) < 0)
		return -ENOMEM;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	m->before[m->before_count].name = copy;
	m->before[m->before_count++].place = place;
	return 0;
}

int runtime_maps_new(struct runtime_maps **ret)
{
	struct runtime_maps *m = calloc(1, sizeof(*m));
	int err = m ? each_file(note_before, m) : -ENOMEM;

	if (err < 0) {
		runtime_maps_free(m);
		return err;
	}
	*ret = m;
	return 0;
}

void runtime_maps_free(struct runtime_maps *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->before_count; i++)
		free(m->before[i].name);
	free(m->before);
	free(m->pids);
	free(m);
}

void runtime_maps_note(struct runtime_maps *m, const struct process *p)
{
	if (p->view == 0 && room_make(&m->pids, &m->pid_room, m->pid_count, sizeof(*m->pids)) == 0)
		m->pids[m->pid_count++] = p->header.pid;
}

static bool was_before(const struct runtime_maps *m, const char *name, size_t place)
{
	for (size_t i = 0; i < m->before_count; i++)
		if (m->before[i].place == place && strcmp(m->before[i].name, name) == 0)
			return true;
	return false;
}

static int remove_one(void *context, int dir, const char *name, size_t place)
{
	const struct runtime_maps *m = context;
	uint32_t pid = pid_in(name, place);
	bool is_ours = false;
	struct stat st;

	for (size_t i = 0; pid > 0 && i < m->pid_count && !is_ours; i++)
		is_ours = m->pids[i] == pid;
	if (!is_ours || was_before(m, name, place) || kill((pid_t)pid, 0) == 0 || errno != ESRCH ||
	    fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid())
		return 0;
	(void)unlinkat(dir, name, 0);
	return 0;
}

void runtime_maps_remove(const struct runtime_maps *m)
{
	(void)each_file(remove_one, (void *)(uintptr_t)m);
}
