/* seek.c - finds out what is at many places: cache, jail, servers, maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/seek.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names/buildid.h"
#include "names/cache.h"
#include "names/debuginfod.h"
#include "names/worker.h"

#define MIB UINT64_C(1048576)

enum {
	PARALLEL = 2,
	DIRS_MAX = 32,
	MEMORY_MIN_MIB = 1024,
	MEMORY_MAX_MIB = 4096,
	SECONDS = 120, /* for one module, unless options say less */
	SERVER_SECONDS = 90,
	PROGRESS_MS = 1000,
};

struct object {
	struct perfmap_process who;
	bool cache_read;
	bool server_asked;
	char *given, *given_alt; /* files from a server */
	size_t asked, unknown;
};

struct place {
	uint64_t address;
	uint32_t object;
};

/* The places of one object, being looked for. */
struct job {
	uint32_t object;
	uint64_t *addresses;
	size_t count;
	bool symbols_only;
	char root[32];
	const char *roots[3];
	struct lookup_request request;
};

struct seek {
	const struct names_options *options;
	struct table *table;
	uint32_t nothing; /* the chain that knows nothing */
	struct cache *cache;
	struct object *objects; /* by number in the table */
	size_t object_count;
	struct place *places;
	size_t place_count, place_room;
	char *dirs_text;
	const char *dirs[DIRS_MAX + 1];
	struct worker_limits limits;
	uint64_t deadline_ns;
	uint64_t told_ns; /* progress */
	bool interrupted;
	int server_error;
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

static int
split_dirs(struct seek *s, const char *dirs)
{
	size_t n = 0;
	char *rest;

	if (!dirs)
		return 0;
	s->dirs_text = strdup(dirs);
	if (!s->dirs_text)
		return -ENOMEM;
	for (char *dir = strtok_r(s->dirs_text, ":", &rest);
	     dir && n < DIRS_MAX; dir = strtok_r(NULL, ":", &rest))
		s->dirs[n++] = dir;
	return 0;
}

int
seek_new(
    const struct names_options *options, struct table *t, struct seek **ret)
{
	static const struct names_frame nothing;
	struct seek *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->options = options;
	s->table = t;
	s->limits.memory_bytes = memory_limit();
	s->limits.seconds = SECONDS;
	if (options->seconds && options->seconds < SECONDS)
		s->limits.seconds = options->seconds;
	err = split_dirs(s, options->debug_dirs);
	if (err == 0)
		err = table_chain(t, &nothing, 1, &s->nothing);
	if (err < 0) {
		seek_free(s);
		return err;
	}
	if (!options->no_cache)
		(void)cache_open(&s->cache);
	*ret = s;
	return 0;
}

void
seek_free(struct seek *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->object_count; i++) {
		free(s->objects[i].given);
		free(s->objects[i].given_alt);
	}
	cache_close(s->cache);
	free(s->objects);
	free(s->places);
	free(s->dirs_text);
	free(s);
}

static struct object *
object_of(struct seek *s, uint32_t number)
{
	size_t count = number + 1;
	struct object *more;

	if (number < s->object_count)
		return &s->objects[number];
	count += count / 2;
	more = reallocarray(s->objects, count, sizeof(*more));
	if (!more)
		return NULL;
	memset(more + s->object_count, 0,
	    (count - s->object_count) * sizeof(*more));
	s->objects = more;
	s->object_count = count;
	return &s->objects[number];
}

static int
by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

static size_t
unique(struct place *places, size_t count)
{
	size_t kept = 0;

	if (count > 0)
		qsort(places, count, sizeof(*places), by_place);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || by_place(&places[i], &places[i - 1]) != 0)
			places[kept++] = places[i];
	return kept;
}

/* Many processes of one program name the same places again and again. */
static int
make_room(struct seek *s)
{
	struct place *more;
	size_t room;

	if (s->place_count < s->place_room)
		return 0;
	s->place_count = unique(s->places, s->place_count);
	if (s->place_count < s->place_room / 2)
		return 0;
	room = s->place_room ? s->place_room * 2 : 1024;
	more = reallocarray(s->places, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	s->places = more;
	s->place_room = room;
	return 0;
}

int
seek_add(struct seek *s, uint32_t object, uint64_t address,
    const struct perfmap_process *who)
{
	const struct names_frame *frames;
	struct object *o = object_of(s, object);

	if (!o)
		return -ENOMEM;
	if (!o->who.alive_pid)
		o->who = *who;
	if (table_find(s->table, object, address, &frames) > 0)
		return 0;
	if (make_room(s) < 0)
		return -ENOMEM;
	s->places[s->place_count++] =
	    (struct place){.object = object, .address = address};
	return 0;
}

void
seek_counts(const struct seek *s, uint32_t object, size_t *ret_asked,
    size_t *ret_unknown)
{
	*ret_asked = 0;
	*ret_unknown = 0;
	if (object < s->object_count) {
		*ret_asked = s->objects[object].asked;
		*ret_unknown = s->objects[object].unknown;
	}
}

int
seek_server_error(const struct seek *s)
{
	return s->server_error;
}

/* Says what takes long, once a second; NULL: nothing any more. */
static void
tell_progress(struct seek *s, const char *path)
{
	uint64_t now = worker_now_ns();

	if (!s->options->progress)
		return;
	if (!s->told_ns)
		s->told_ns = now;
	if (!path || now - s->told_ns < (uint64_t)PROGRESS_MS * 1000000)
		return;
	s->told_ns = now;
	s->options->progress(s->options->progress_context, path);
}

/* ---- one module ---- */

/* Leaves out what the table knows by now. */
static void
drop_known(const struct seek *s, struct job *j)
{
	const struct names_frame *frames;
	size_t left = 0;

	for (size_t i = 0; i < j->count; i++)
		if (table_find(s->table, j->object, j->addresses[i], &frames) ==
		    0)
			j->addresses[left++] = j->addresses[i];
	j->count = left;
}

static void
prepare(struct seek *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	const struct object *o = &s->objects[j->object];
	size_t n = 0;

	if (s->options->sysroot) {
		j->roots[n++] = s->options->sysroot;
	} else {
		if (o->who.alive_pid > 0) {
			(void)snprintf(j->root, sizeof(j->root),
			    "/proc/%d/root", (int)o->who.alive_pid);
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
	j->request.search = (struct debugfile_search){
	    .path = key->path,
	    .build_id = j->request.key.id,
	    .build_id_bytes = key->id_bytes,
	    .roots = j->roots,
	    .dirs = s->dirs,
	    .given = o->given,
	    .given_alt = o->given_alt,
	};
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
ask_server(struct seek *s, uint32_t number)
{
	const struct table_key *key = table_key(s->table, number);
	const struct table_state *state = table_state(s->table, number);
	struct object *o = &s->objects[number];
	uint8_t alt[32];
	size_t alt_bytes;
	int err = 0;

	if (!s->options->debuginfod || o->server_asked || s->interrupted ||
	    s->server_error)
		return false;
	if (state->level < TABLE_DEBUG && !o->given && key->id_bytes > 0) {
		tell_progress(s, key->path);
		err = debuginfod_fetch(
		    key->id, key->id_bytes, SERVER_SECONDS, &o->given);
	} else if (state->problem == TABLE_NO_ALT) {
		o->server_asked = true;
		alt_bytes = id_from(state->detail, alt);
		if (alt_bytes == 0)
			return false;
		err = debuginfod_fetch(
		    alt, alt_bytes, SERVER_SECONDS, &o->given_alt);
	} else {
		return false;
	}
	if (err < 0)
		o->server_asked = true;
	if (err == -ENOSYS || err == -EDESTADDRREQ)
		s->server_error = err; /* no use in asking again */
	return err == 0;
}

static bool
is_worth_keeping(const struct table_state *state)
{
	return state->level == TABLE_DEBUG && state->problem == TABLE_FINE;
}

static void
start(struct seek *s, struct worker *w, struct job *j)
{
	prepare(s, j);
	if (worker_start(w, &j->request, s->table, &s->limits) < 0)
		(void)snprintf(w->why, sizeof(w->why),
		    "no process to read it could be started");
}

/*
 * One of them has come to its end, well or not. True: it was started again,
 * with less hope or with a file from a server.
 */
static bool
conclude(struct seek *s, struct worker *w, struct job *j)
{
	struct table_state *state = table_state(s->table, j->object);
	bool failed = !w->complete;

	s->interrupted |= w->interrupted;
	if (failed && !j->symbols_only && !s->interrupted &&
	    (!s->deadline_ns || worker_now_ns() < s->deadline_ns)) {
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
	if (ask_server(s, j->object)) {
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
is_time_up(const struct seek *s)
{
	return s->interrupted ||
	    (s->deadline_ns && worker_now_ns() >= s->deadline_ns);
}

static void
run_jobs(struct seek *s, struct job *jobs, size_t count)
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

/* ---- all of them ---- */

struct found {
	struct seek *seek;
	const struct job *job;
};

static void
take_mapped(void *context, size_t number, const char *name, size_t len)
{
	const struct found *f = context;
	struct names_frame frame = {0};
	uint32_t chain;

	if (table_text(f->seek->table, name, len, &frame.function) < 0)
		return;
	frame.symbol = frame.function;
	if (table_chain(f->seek->table, &frame, 1, &chain) == 0)
		(void)table_replace(f->seek->table, f->job->object,
		    f->job->addresses[number], chain);
}

static void
read_map(struct seek *s, const struct job *j)
{
	struct found f = {.seek = s, .job = j};
	struct table_state *state = table_state(s->table, j->object);
	int err;

	err = perfmap_read(&s->objects[j->object].who, j->addresses, j->count,
	    take_mapped, &f);
	if (err == -EPERM)
		state->problem = TABLE_OTHER_FILE;
	else if (err == -ESTALE)
		state->problem = TABLE_OTHER_FILE;
	else if (err < 0)
		state->problem = TABLE_NO_FILE;
}

/*
 * Is there another file now under that name? Then what is known of the old one
 * is not used, though it may be in the cache: there are no names, and the
 * report says why. A file that is gone does no such harm.
 */
static bool
is_replaced(struct seek *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	char path[PATH_MAX * 2];
	bool replaced = false;
	uint8_t id[32];

	prepare(s, j);
	for (size_t i = 0; j->roots[i]; i++) {
		int n;

		(void)snprintf(
		    path, sizeof(path), "%s%s", j->roots[i], key->path);
		n = buildid_read(path, id);
		if (n == (int)key->id_bytes &&
		    memcmp(id, key->id, key->id_bytes) == 0)
			return false;
		replaced |= n >= 0;
	}
	return replaced;
}

/* What needs no process of its own; true: it does. */
static bool
try_cheaply(struct seek *s, struct job *j)
{
	const struct table_key *key = table_key(s->table, j->object);
	struct object *o = &s->objects[j->object];

	if (key->kind == TABLE_PROCESS) {
		read_map(s, j);
		return false;
	}
	if (key->path[0] != '/')
		return false; /* the kernel's vdso: there is no such file */
	if (s->cache && !o->cache_read) {
		o->cache_read = true;
		if (!is_replaced(s, j) && cache_load(s->cache, key, s->table))
			drop_known(s, j);
	}
	return j->count > 0;
}

/* Whatever happened: each place has an answer. */
static void
settle(struct seek *s)
{
	for (size_t i = 0; i < s->place_count; i++) {
		struct object *o = &s->objects[s->places[i].object];
		const struct names_frame *frames;

		(void)table_place(s->table, s->places[i].object,
		    s->places[i].address, s->nothing);
		o->asked++;
		if (table_find(s->table, s->places[i].object,
		        s->places[i].address, &frames) == 0 ||
		    !frames[0].function)
			o->unknown++;
	}
	s->place_count = 0;
}

void
seek_run(struct seek *s)
{
	struct job *jobs;
	uint64_t *addresses;
	size_t count = 0, n;

	s->place_count = unique(s->places, s->place_count);
	if (s->options->seconds && !s->deadline_ns)
		s->deadline_ns = worker_now_ns() +
		    (uint64_t)s->options->seconds * 1000000000;
	jobs = calloc(s->object_count + 1, sizeof(*jobs));
	addresses = calloc(s->place_count + 1, sizeof(*addresses));
	for (size_t i = 0; jobs && addresses && i < s->place_count; i += n) {
		struct job *j = &jobs[count];

		*j = (struct job){.object = s->places[i].object};
		j->addresses = addresses + i;
		for (n = 0; i + n < s->place_count &&
		     s->places[i + n].object == j->object;
		     n++)
			addresses[i + n] = s->places[i + n].address;
		j->count = n;
		if (try_cheaply(s, j))
			count++;
	}
	if (jobs && addresses)
		run_jobs(s, jobs, count);
	tell_progress(s, NULL);
	settle(s);
	free(jobs);
	free(addresses);
}
