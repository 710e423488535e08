/* jobs.c - lookups of many modules, some at a time, each with its retries. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/jobs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/buildid.h"
#include "names/debuginfod.h"
#include "names/worker.h"
#include "reader/clock.h"

#define MIB UINT64_C(1048576)

enum {
	PARALLEL = 2,
	MEMORY_MIN_MIB = 1024,
	MEMORY_MAX_MIB = 4096,
	SECONDS = 120, /* for one module, unless options say less */
	SERVER_SECONDS = 90,
	PROGRESS_MS = 1000,
};

/* What a process may take: a good part of what is free. */
static uint64_t
memory_limit(void)
{
	uint64_t free_mib = (uint64_t)sysconf(_SC_AVPHYS_PAGES) *
	    (uint64_t)sysconf(_SC_PAGESIZE) / MIB;

	if (free_mib / PARALLEL < MEMORY_MIN_MIB)
		return MEMORY_MIN_MIB * MIB;
	if (free_mib / PARALLEL > MEMORY_MAX_MIB)
		return MEMORY_MAX_MIB * MIB;
	return free_mib / PARALLEL * MIB;
}

/*
 * Of a module whose directory is in doubt: files of the session that were
 * loaded by an absolute path and had the same build-id.
 */
static void
find_twins(const struct jobs *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	size_t n = 0;

	for (uint32_t i = 0; i < table_objects(s->table) && n < JOBS_TWINS;
	     i++) {
		const struct table_key *x = table_key(s->table, i);

		if (i != j->object && x->kind == TABLE_MODULE &&
		    key->id_bytes > 0 && x->id_bytes == key->id_bytes &&
		    memcmp(x->id, key->id, key->id_bytes) == 0)
			j->twins[n++] = x->path;
	}
	j->twins[n] = NULL;
}

static void
prepare(struct jobs *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	size_t n = 0;

	if (s->options->sysroot) {
		j->roots[n++] = s->options->sysroot;
	} else {
		if (j->who.alive_pid > 0) {
			(void)snprintf(j->root, sizeof(j->root),
			    "/proc/%d/root", (int)j->who.alive_pid);
			j->roots[n++] = j->root;
			/* what was loaded before a chroot is not below it */
			if (alive_root(j->who.alive_pid, j->namespace_root) ==
			        0 &&
			    strcmp(j->root, j->namespace_root) != 0)
				j->roots[n++] = j->namespace_root;
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
	j->request.search = (struct debugfile_search){
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

bool
jobs_is_replaced(struct jobs *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	struct debugfile_place place;
	bool replaced = false;
	uint8_t id[32];

	prepare(s, j);
	for (size_t i = 0; debugfile_module(&j->request.search, i, &place);
	     i++) {
		int n = buildid_read(place.path, id);

		if (n == (int)key->id_bytes &&
		    memcmp(id, key->id, key->id_bytes) == 0)
			return false;
		replaced |= n >= 0 && !place.by_id;
	}
	return replaced;
}

/*
 * A program that loads another build of its plugin every minute has thousands
 * of modules whose file is no more: one process for each would take long.
 */
bool
jobs_is_hopeless(struct jobs *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	struct table_state *state = table_state(s->table, j->object);
	struct debugfile_place place;
	int found = -ENOENT, n;
	uint8_t id[32], other[32];
	const char *detail;
	char hex[65];

	prepare(s, j);
	if (key->id_bytes == 0 || j->given || s->options->debuginfod ||
	    debugfile_is_there(&j->request.search))
		return false;
	for (size_t i = 0; debugfile_module(&j->request.search, i, &place);
	     i++) {
		n = buildid_read(place.path, other);
		if ((n == 0 && !place.by_id) ||
		    (n > 0 && (size_t)n == key->id_bytes &&
		        memcmp(other, key->id, key->id_bytes) == 0))
			return false; /* it, or nobody knows what */
		if (found < 0 && !place.by_id) {
			found = n;
			memcpy(id, other, sizeof(id));
		}
	}
	state->problem = found > 0 ? TABLE_OTHER_FILE : TABLE_NO_FILE;
	debugfile_hex(hex, id, found > 0 ? (size_t)found : 0);
	detail = found > 0 ? hex : strerror(-found);
	if (table_text(s->table, detail, strlen(detail), &state->detail) < 0)
		state->detail = NULL;
	return true;
}

/* Says what takes long, once a second; NULL: nothing any more. */
static void
tell_progress(struct jobs *s, const char *path)
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

/* From hexadecimal digits; 0: it is none. */
static size_t
id_from(const char *hex, uint8_t id[32])
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

/* True: a server had something, it is worth another try. */
static bool
ask_server(struct jobs *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	const struct table_state *state = table_state(s->table, j->object);
	uint8_t alt[32];
	size_t alt_bytes;
	int err = 0;

	if (!s->options->debuginfod || j->server_asked || s->interrupted ||
	    s->server_error)
		return false;
	if (state->level < TABLE_DEBUG && !j->given && key->id_bytes > 0) {
		tell_progress(s, key->path);
		err = debuginfod_fetch(
		    key->id, key->id_bytes, SERVER_SECONDS, &j->given);
	} else if (state->problem == TABLE_NO_ALT) {
		j->server_asked = true;
		alt_bytes = id_from(state->detail, alt);
		if (alt_bytes == 0)
			return false;
		err = debuginfod_fetch(
		    alt, alt_bytes, SERVER_SECONDS, &j->given_alt);
	} else {
		return false;
	}
	if (err < 0)
		j->server_asked = true;
	if (err == -ENOSYS || err == -EDESTADDRREQ)
		s->server_error = err; /* no use in asking again */
	return err == 0;
}

static bool
is_worth_keeping(const struct table_state *state)
{
	return state->level == TABLE_DEBUG && state->problem == TABLE_FINE;
}

/* What is left, but so that the symbols alone can still be read after it. */
static struct worker_limits
limits_of(const struct jobs *s, const struct job *j)
{
	struct worker_limits l = {.memory_bytes = memory_limit(),
	    .seconds = SECONDS,
	    /* on a busy machine a second of computing takes longer than one */
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

static void
start(struct jobs *s, struct worker *w, struct job *j)
{
	struct worker_limits limits = limits_of(s, j);

	prepare(s, j);
	if (worker_start(w, &j->request, s->table, &limits) < 0)
		(void)snprintf(w->why, sizeof(w->why),
		    "no process to read it could be started");
}

/*
 * One of them has come to its end, well or not. True: it was started again,
 * with less hope or with a file from a server.
 */
static bool
conclude(struct jobs *s, struct worker *w, struct job *j)
{
	struct table_state *state = table_state(s->table, j->object);
	bool failed = !w->complete;

	s->interrupted |= w->interrupted;
	if (failed && !j->symbols_only && !s->interrupted &&
	    (!s->deadline_ns || clock_ns(CLOCK_MONOTONIC) < s->deadline_ns)) {
		char why[sizeof(w->why)];

		memcpy(why, w->why, sizeof(why));
		j->symbols_only = true;
		start(s, w, j);
		memcpy(w->first_why, why, sizeof(why));
		return w->pid != 0;
	}
	if (failed || w->first_why[0]) {
		state->problem = TABLE_UNREADABLE;
		if (table_text(s->table, failed ? w->why : w->first_why,
		        strlen(failed ? w->why : w->first_why),
		        &state->detail) < 0)
			state->detail = NULL;
		return false;
	}
	if (ask_server(s, j)) {
		start(s, w, j);
		return w->pid != 0;
	}
	for (size_t i = 0; i < j->count; i++)
		(void)table_place(
		    s->table, j->object, j->addresses[i], s->nothing);
	if (s->cache && is_worth_keeping(state))
		cache_store(s->cache, s->table, j->object);
	return false;
}

static bool
is_time_up(const struct jobs *s)
{
	return s->interrupted ||
	    (s->deadline_ns && clock_ns(CLOCK_MONOTONIC) >= s->deadline_ns);
}

void
jobs_run(struct jobs *s, struct job *jobs, size_t count)
{
	struct worker workers[PARALLEL] = {0};
	struct job *of[PARALLEL] = {0};
	size_t next = 0, running = 0;

	while (running > 0 || (next < count && !is_time_up(s))) {
		for (size_t i = 0; i < PARALLEL; i++) {
			if (of[i] || next == count || is_time_up(s))
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
			if (!of[i] || workers[i].pid ||
			    conclude(s, &workers[i], of[i]))
				continue;
			free(of[i]->given);
			free(of[i]->given_alt);
			of[i] = NULL;
			running--;
		}
	}
	for (; next < count; next++) {
		struct table_state *state =
		    table_state(s->table, jobs[next].object);

		state->problem = TABLE_UNREADABLE;
		(void)table_text(s->table, "there was no time to read it",
		    strlen("there was no time to read it"), &state->detail);
	}
}
