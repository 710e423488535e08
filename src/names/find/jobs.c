/* jobs.c - looks up many modules, some at a time, with retries for each. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/seek.h"

#include "base/std.h"
#include "names/dwarf/objfile.h"
#include "names/find/places.h"
#include "names/jail/worker.h"
#include "kit/os/clock.h"

#define MIB UINT64_C(1048576)

enum {
	PARALLEL = 2,
	MEMORY_MIN_MIB = 1024,
	MEMORY_MAX_MIB = 4096,
	SECONDS = 120, /* seconds for one module, unless the options say less */
	SERVER_SECONDS = 90,
	PROGRESS_MS = 1000,
};

/* The memory that a process may use: a good part of what is free. */
static uint64_t memory_limit(void)
{
	uint64_t free_mib =
	    (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / MIB;

	if (free_mib / PARALLEL < MEMORY_MIN_MIB)
		return MEMORY_MIN_MIB * MIB;
	if (free_mib / PARALLEL > MEMORY_MAX_MIB)
		return MEMORY_MAX_MIB * MIB;
	return free_mib / PARALLEL * MIB;
}

/*
 * For a module whose directory is in doubt: files of the session that were
 * loaded by an absolute path and had the same build-id.
 */
static void find_twins(const struct jobs *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	size_t n = 0;

	for (uint32_t i = 0; i < name_table_objects(s->table) && n < JOBS_TWINS; i++) {
		const struct name_table_key *x = name_table_key(s->table, i);

		if (i != j->object && x->kind == TABLE_MODULE && key->id_bytes > 0 &&
		    x->id_bytes == key->id_bytes && memcmp(x->id, key->id, key->id_bytes) == 0)
			j->twins[n++] = x->path;
	}
	j->twins[n] = NULL;
}

static void prepare(struct jobs *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	size_t n = 0;

	if (s->options->sysroot) {
		j->roots[n++] = s->options->sysroot;
	} else {
		/*
		 * Used only if the root is not ours: a process may change its
		 * root after it was looked at, and others share this object.
		 */
		if (key->view != 0 && j->who.running_pid > 0) {
			(void)snprintf(
			    j->root, sizeof(j->root), "/proc/%d/root", (int)j->who.running_pid);
			j->roots[n++] = j->root;
			/*
			 * files that were loaded before a chroot are not below
			 * the new root
			 */
			if (procfs_root(j->who.running_pid, j->namespace_root) == 0 &&
			    strcmp(j->root, j->namespace_root) != 0)
				j->roots[n++] = j->namespace_root;
		} else if (key->view != 0 && j->who.root_fd > 0) {
			/* the opener is another process than this one */
			(void)snprintf(j->root, sizeof(j->root), "/proc/%d/fd/%d", (int)getpid(),
			    j->who.root_fd);
			j->roots[n++] = j->root;
		}
		j->roots[n++] = "";
	}
	j->roots[n] = NULL;
	j->request = (struct lookup_request){
	    .key = *key,
	    .addresses = j->addresses,
	    .count = j->count,
	    .symbols_only = j->symbols_only,
	};
	j->search = (struct places_search){
	    .path = key->path,
	    .build_id = j->request.key.id,
	    .build_id_bytes = key->id_bytes,
	    .roots = j->roots,
	    .dirs = s->dirs,
	    .given = j->given,
	    .given_alt = j->given_alt,
	    .mapped = j->mapped,
	    .twins = j->twins,
	};
	if (j->is_relative)
		find_twins(s, j);
}

static int ask_about(
    struct jobs *s, const struct places_place *p, enum opener_kind kind, struct opener_file *ret)
{
	const struct opener_question q = {.kind = kind,
	    .path = p->path,
	    .root_bytes = p->root_bytes,
	    .check_owner = p->check_owner};

	return opener_ask(s->opener, &q, ret, NULL);
}

/*
 * A process in its own mount namespace usually sees the same files as we do.
 * Then our files are read, also for debug information: nobody in that namespace
 * can have put another file beside them, and the names can be cached for
 * others.
 */
static void prefer_our_view(struct jobs *s, struct job *j, const struct places_place *at)
{
	struct places_place ours = {0};
	struct opener_file file;

	if (at->root_bytes == 0 || s->options->sysroot)
		return;
	(void)snprintf(ours.path, sizeof(ours.path), "%s", at->path + at->root_bytes);
	if (ask_about(s, &ours, OPENER_ELF, &file) < 0 || file.device != j->origin.file.device ||
	    file.inode != j->origin.file.inode)
		return;
	j->roots[0] = "";
	j->roots[1] = NULL;
	j->origin.view = 0;
}

/* Which place of a module has its file? Opens files only once. */
static void look(struct jobs *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	struct places_place place;
	bool is_first = true;

	if (j->is_looked_at)
		return;
	j->is_looked_at = true;
	j->first_error = -ENOENT;
	j->origin.view = key->view;
	for (size_t i = 0; places_module(&j->search, i, &place); i++) {
		struct opener_file f;
		int err = ask_about(s, &place, OPENER_ELF, &f);

		if (err == 0 && key->id_bytes > 0 && f.id_bytes == key->id_bytes &&
		    memcmp(f.id, key->id, key->id_bytes) == 0) {
			j->is_there = true;
			j->origin.is_there = true;
			j->origin.file = f;
			prefer_our_view(s, j, &place);
			return;
		}
		if (place.by_id)
			continue;
		j->is_unknown |= err == -ENOEXEC || (err == 0 && f.id_bytes == 0);
		j->is_replaced |= err == -ENOEXEC || err == 0;
		if (is_first || j->first_error < 0) {
			j->first_error = err;
			j->first = f;
		}
		is_first = false;
	}
}

/* Is there any file in the places of debug information by build-id? */
static bool has_debug_file(struct jobs *s, const struct job *j)
{
	struct ask q = {
	    .kind = ASK_DEBUG, .id = j->search.build_id, .id_bytes = j->search.build_id_bytes};
	struct places_place place;
	struct opener_file file;

	for (; places_of(&j->search, &q, &place); q.n++)
		if (ask_about(s, &place, OPENER_THERE, &file) == 0)
			return true;
	return false;
}

/*
 * If another file has that name now, cached names of the old file are not used,
 * and the report says that the file was replaced. If the file is gone, they are
 * used.
 */
bool jobs_load(struct jobs *s, struct job *j)
{
	prepare(s, j);
	look(s, j);
	if (!s->cache || (!j->is_there && j->is_replaced))
		return false;
	return cache_load(s->cache, name_table_key(s->table, j->object), &j->origin, s->table);
}

static void set_state(
    struct jobs *s, uint32_t object, enum table_problem problem, const char *detail)
{
	struct name_table_state *state = name_table_state(s->table, object);

	state->problem = problem;
	if (name_table_text(s->table, detail, strlen(detail), &state->detail) < 0)
		state->detail = NULL;
}

void jobs_give_up(struct jobs *s, uint32_t object)
{
	set_state(s, object, TABLE_NO_TIME, "there was no time to read it");
}

/*
 * A program that loads a new build of its plugin every minute has thousands of
 * modules whose files are gone. A process for each of them would take too long.
 */
bool jobs_is_hopeless(struct jobs *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	char hex[65];

	prepare(s, j);
	if (key->id_bytes == 0 || j->given || s->options->debuginfod)
		return false;
	look(s, j);
	if (j->is_there || j->is_unknown || has_debug_file(s, j))
		return false;
	buildid_hex(hex, j->first.id, j->first.id_bytes);
	if (j->first_error == 0)
		set_state(s, j->object, TABLE_OTHER_FILE, hex);
	else
		set_state(s, j->object, TABLE_NO_FILE,
		    j->first_error == -ETIMEDOUT ? "its file system does not answer"
		                                 : strerror(-j->first_error));
	return true;
}

/* Reports once a second what takes long; NULL: nothing any more. */
static void tell_progress(struct jobs *s, const char *path)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	if (!s->options->progress)
		return;
	if (!s->told_ns)
		s->told_ns = now;
	if (!path || now - s->told_ns < (uint64_t)PROGRESS_MS * 1000000)
		return;
	s->told_ns = now;
	s->options->progress(s->options->progress_context, path);
}

/* Parses hexadecimal digits; 0: these are none. */
static size_t id_from(const char *hex, uint8_t id[32])
{
	size_t n = hex ? strlen(hex) / 2 : 0;

	if (n > 32 || (n > 0 && strspn(hex, "0123456789abcdef") != 2 * n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		const char byte[3] = {hex[2 * i], hex[2 * i + 1], '\0'};

		id[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return n;
}

static unsigned server_seconds(const struct jobs *s)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left;

	if (!s->deadline_ns)
		return SERVER_SECONDS;
	left = s->deadline_ns > now ? (s->deadline_ns - now) / 1000000000 : 0;
	return left < SERVER_SECONDS ? (unsigned)left : SERVER_SECONDS;
}

/* True: a server had a file, so another try is worth it. */
static bool ask_server(struct jobs *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	const struct name_table_state *state = name_table_state(s->table, j->object);
	uint8_t alt[32];
	size_t alt_bytes;
	int err = 0;

	if (!s->options->debuginfod || j->server_asked || s->interrupted || s->server_error)
		return false;
	if (state->level < TABLE_DEBUG && !j->given && key->id_bytes > 0) {
		tell_progress(s, key->path);
		err = debuginfod_fetch(key->id, key->id_bytes, server_seconds(s), &j->given);
	} else if (state->problem == TABLE_NO_ALT) {
		j->server_asked = true;
		alt_bytes = id_from(state->detail, alt);
		if (alt_bytes == 0)
			return false;
		err = debuginfod_fetch(alt, alt_bytes, server_seconds(s), &j->given_alt);
	} else {
		return false;
	}
	if (err < 0)
		j->server_asked = true;
	if (err == -ENOSYS || err == -EDESTADDRREQ)
		s->server_error = err; /* asking again would be useless */
	return err == 0;
}

static bool is_worth_keeping(const struct name_table_state *state)
{
	return state->level == TABLE_DEBUG && state->problem == TABLE_FINE;
}

/* The time that is left, minus enough to read the symbols alone afterwards. */
static struct worker_limits limits_of(const struct jobs *s, const struct job *j)
{
	struct worker_limits l = {.memory_bytes = memory_limit(),
	    .seconds = SECONDS,
	    /*
	     * on a busy machine, a second of CPU time takes longer than a
	     * second
	     */
	    .wall_seconds = SECONDS + SECONDS / 2};
	uint64_t now = clock_ns(CLOCK_MONOTONIC), left;

	if (!s->deadline_ns)
		return l;
	left = s->deadline_ns > now ? (s->deadline_ns - now) / 1000000000 : 0;
	if (!j->symbols_only)
		left = left * 2 / 3;
	if (left < l.wall_seconds)
		l.wall_seconds = (unsigned)left + 1;
	if (l.wall_seconds < l.seconds)
		l.seconds = l.wall_seconds;
	return l;
}

static void start(struct jobs *s, struct worker *w, struct job *j)
{
	struct worker_limits limits = limits_of(s, j);

	prepare(s, j);
	if (j->is_there && j->origin.view == 0 && !s->options->sysroot) {
		j->roots[0] = ""; /* see prefer_our_view() */
		j->roots[1] = NULL;
	}
	j->answer = (struct answer){.opener = s->opener, .search = &j->search, .who = &j->who};
	if (worker_start(w, &j->request, s->table, &j->answer, &limits) < 0)
		(void)snprintf(w->why, sizeof(w->why), "no process to read it could be started");
}

/*
 * Handles the end of a process, good or bad. True: it was started again, with
 * fewer goals or with a file from a server.
 */
static bool conclude(struct jobs *s, struct worker *w, struct job *j)
{
	struct name_table_state *state = name_table_state(s->table, j->object);
	bool failed = !w->complete;

	s->interrupted |= w->interrupted;
	s->left += w->left;
	w->left = false;
	if (failed && !j->symbols_only && !s->interrupted && !jobs_is_time_up(s)) {
		char why[sizeof(w->why)];

		memcpy(why, w->why, sizeof(why));
		j->symbols_only = true;
		start(s, w, j);
		memcpy(w->first_why, why, sizeof(why));
		return w->pid != 0;
	}
	if (failed && w->late) {
		jobs_give_up(s, j->object);
		return false;
	}
	if (failed || w->first_why[0]) {
		set_state(s, j->object, TABLE_UNREADABLE, failed ? w->why : w->first_why);
		return false;
	}
	if (ask_server(s, j)) {
		start(s, w, j);
		return w->pid != 0;
	}
	for (size_t i = 0; i < j->count; i++)
		(void)name_table_place(s->table, j->object, j->addresses[i], s->nothing);
	if (s->cache && is_worth_keeping(state))
		cache_store(s->cache, s->table, j->object, &j->origin);
	return false;
}

bool jobs_is_time_up(const struct jobs *s)
{
	return s->interrupted || (s->deadline_ns && clock_ns(CLOCK_MONOTONIC) >= s->deadline_ns);
}

void jobs_run(struct jobs *s, struct job *jobs, size_t count)
{
	struct worker workers[PARALLEL] = {0};
	struct job *of[PARALLEL] = {0};
	size_t next = 0, running = 0;

	while (running > 0 || (next < count && !jobs_is_time_up(s))) {
		for (size_t i = 0; i < PARALLEL; i++) {
			if (of[i] || next == count || jobs_is_time_up(s))
				continue;
			of[i] = &jobs[next++];
			running++;
			workers[i] = (struct worker){0};
			start(s, &workers[i], of[i]);
		}
		worker_wait(workers, PARALLEL, PROGRESS_MS, s->deadline_ns);
		for (size_t i = 0; i < PARALLEL; i++) {
			if (of[i] && workers[i].pid)
				tell_progress(s, of[i]->request.key.path);
			if (!of[i] || workers[i].pid || conclude(s, &workers[i], of[i]))
				continue;
			free(of[i]->given);
			free(of[i]->given_alt);
			of[i] = NULL;
			running--;
		}
	}
	for (; next < count; next++)
		jobs_give_up(s, jobs[next].object);
}
