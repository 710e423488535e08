/* seek.c - looks up many places: in the cache, the jail, servers, maps. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "names/find/seek.h"

#include "base/std.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "names/jail/worker.h"

enum { DIRS_MAX = 32 };

struct object {
	struct perfmap_process who;
	bool cache_read;
	bool is_relative;
	const char *mapped; /* in the table; NULL: not known */
	size_t asked, unknown;
};

struct place {
	uint64_t address;
	uint32_t object;
};

struct seek {
	const struct names_options *options;
	struct table *table;
	struct jobs jobs;
	struct object *objects; /* by number in the table */
	size_t object_count;
	struct place *places;
	size_t place_count, place_room;
	uint64_t begin_ns, spent_ns; /* in this run, and in those before */
	char *dirs_text;
	const char *dirs[DIRS_MAX + 1];
};

static int split_dirs(struct seek *s, const char *dirs)
{
	size_t n = 0;
	char *rest;

	if (!dirs)
		return 0;
	s->dirs_text = strdup(dirs);
	if (!s->dirs_text)
		return -ENOMEM;
	for (char *dir = strtok_r(s->dirs_text, ":", &rest); dir && n < DIRS_MAX;
	     dir = strtok_r(NULL, ":", &rest))
		s->dirs[n++] = dir;
	return 0;
}

int seek_new(const struct names_options *options, struct table *t, struct seek **ret)
{
	static const struct names_frame nothing;
	struct seek *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	s->options = options;
	s->table = t;
	s->jobs.options = options;
	s->jobs.table = t;
	s->jobs.dirs = s->dirs;
	err = split_dirs(s, options->debug_dirs);
	if (err == 0)
		err = opener_new(&s->jobs.opener);
	if (err == 0)
		err = name_table_chain(t, &nothing, 1, &s->jobs.nothing);
	if (err < 0) {
		seek_free(s);
		return err;
	}
	if (!options->no_cache)
		(void)cache_open(&s->jobs.cache);
	*ret = s;
	return 0;
}

void seek_free(struct seek *s)
{
	if (!s)
		return;
	cache_close(s->jobs.cache);
	opener_free(s->jobs.opener);
	free(s->objects);
	free(s->places);
	free(s->dirs_text);
	free(s);
}

static struct object *object_of(struct seek *s, uint32_t number)
{
	size_t count = number + 1;
	struct object *more;

	if (number < s->object_count)
		return &s->objects[number];
	count += count / 2;
	more = reallocarray(s->objects, count, sizeof(*more));
	if (!more)
		return NULL;
	memset(more + s->object_count, 0, (count - s->object_count) * sizeof(*more));
	s->objects = more;
	s->object_count = count;
	return &s->objects[number];
}

BY(by_place, struct place, UP(object) ?: UP(address))

static size_t unique(struct place *places, size_t count)
{
	size_t kept = 0;

	if (count > 0)
		qsort(places, count, sizeof(*places), by_place);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || by_place(&places[i], &places[i - 1]) != 0)
			places[kept++] = places[i];
	return kept;
}

/*
 * Processes of one program have the same places, so duplicates are dropped
 * first.
 */
static int make_room(struct seek *s)
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

int seek_add(struct seek *s, uint32_t object, uint64_t address, const struct perfmap_process *who)
{
	const struct names_frame *frames;
	struct object *o = object_of(s, object);

	if (!o)
		return -ENOMEM;
	if (!o->who.running_pid)
		o->who = *who;
	if (name_table_find(s->table, object, address, &frames) > 0)
		return 0;
	if (make_room(s) < 0)
		return -ENOMEM;
	s->places[s->place_count++] = (struct place){.object = object, .address = address};
	return 0;
}

int seek_relative(struct seek *s, uint32_t object, const char *mapped)
{
	struct object *o = object_of(s, object);

	if (!o)
		return -ENOMEM;
	o->is_relative = true;
	if (!mapped || o->mapped)
		return 0;
	return name_table_text(s->table, mapped, strlen(mapped), &o->mapped);
}

bool seek_is_relative(const struct seek *s, uint32_t object)
{
	return object < s->object_count && s->objects[object].is_relative;
}

void seek_counts(const struct seek *s, uint32_t object, size_t *ret_asked, size_t *ret_unknown)
{
	*ret_asked = 0;
	*ret_unknown = 0;
	if (object < s->object_count) {
		*ret_asked = s->objects[object].asked;
		*ret_unknown = s->objects[object].unknown;
	}
}

size_t seek_left(const struct seek *s)
{
	return s->jobs.left + opener_left(s->jobs.opener);
}

int seek_server_error(const struct seek *s)
{
	return s->jobs.server_error;
}

/* Leaves out the places that the table has by now. */
static void drop_known(const struct seek *s, struct job *j)
{
	const struct names_frame *frames;
	size_t left = 0;

	for (size_t i = 0; i < j->count; i++)
		if (name_table_find(s->table, j->object, j->addresses[i], &frames) == 0)
			j->addresses[left++] = j->addresses[i];
	j->count = left;
}

/* Is there a map of code made at run time? The jail reads it. */
static bool has_map(struct seek *s, const struct job *j)
{
	struct name_table_state *state = name_table_state(s->table, j->object);
	int err = perfmap_open(s->jobs.opener, &j->who, NULL);

	if (err == -EPERM || err == -ESTALE)
		state->problem = TABLE_OTHER_FILE;
	else if (err < 0)
		state->problem = TABLE_NO_FILE;
	return err == 0;
}

/*
 * Finds the answer without a process, if possible; true: a process is needed.
 */
static bool try_cheaply(struct seek *s, struct job *j)
{
	const struct name_table_key *key = name_table_key(s->table, j->object);
	struct object *o = &s->objects[j->object];

	if (key->kind == TABLE_MODULE && !strchr(key->path, '/') && !o->is_relative)
		return false; /* the kernel's vdso: there is no such file */
	if (jobs_is_time_up(&s->jobs)) {
		jobs_give_up(&s->jobs, j->object);
		return false;
	}
	if (key->kind == TABLE_PROCESS)
		return has_map(s, j);
	if (s->jobs.cache && !o->cache_read) {
		o->cache_read = true;
		if (jobs_load(&s->jobs, j))
			drop_known(s, j);
	}
	return j->count > 0 && !jobs_is_hopeless(&s->jobs, j);
}

/* Gives every place that was not found the chain for unknown places. */
static void settle(struct seek *s)
{
	for (size_t i = 0; i < s->place_count; i++) {
		struct object *o = &s->objects[s->places[i].object];
		const struct names_frame *frames;

		(void)name_table_place(
		    s->table, s->places[i].object, s->places[i].address, s->jobs.nothing);
		/* the hints that these are for are about functions */
		if (s->places[i].address & (TABLE_DATA | TABLE_TLS))
			continue;
		o->asked++;
		if (name_table_find(s->table, s->places[i].object, s->places[i].address, &frames) ==
		        0 ||
		    !frames[0].function)
			o->unknown++;
	}
	s->place_count = 0;
}

/* The time that is allowed is for all runs together. */
static void begin(struct seek *s)
{
	uint64_t all_ns = (uint64_t)s->options->seconds * 1000000000;

	s->begin_ns = clock_ns(CLOCK_MONOTONIC);
	if (all_ns > 0)
		s->jobs.deadline_ns =
		    s->begin_ns + (all_ns > s->spent_ns ? all_ns - s->spent_ns : 0);
	opener_set_deadline(s->jobs.opener, s->jobs.deadline_ns);
}

/*
 * The opener's process would keep a copy of all memory that we change from now
 * on.
 */
static void end(struct seek *s)
{
	opener_dismiss(s->jobs.opener);
	s->spent_ns += clock_ns(CLOCK_MONOTONIC) - s->begin_ns;
}

void seek_run(struct seek *s)
{
	struct job *jobs;
	uint64_t *addresses;
	size_t count = 0, n;

	s->place_count = unique(s->places, s->place_count);
	if (s->place_count == 0)
		return;
	begin(s);
	jobs = calloc(s->object_count + 1, sizeof(*jobs));
	addresses = calloc(s->place_count + 1, sizeof(*addresses));
	for (size_t i = 0; jobs && addresses && i < s->place_count; i += n) {
		struct job *j = &jobs[count];

		*j = (struct job){.object = s->places[i].object};
		j->who = s->objects[j->object].who;
		j->is_relative = s->objects[j->object].is_relative;
		j->mapped[0] = s->objects[j->object].mapped;
		j->addresses = addresses + i;
		for (n = 0; i + n < s->place_count && s->places[i + n].object == j->object; n++)
			addresses[i + n] = s->places[i + n].address;
		j->count = n;
		if (try_cheaply(s, j))
			count++;
	}
	if (jobs && addresses)
		jobs_run(&s->jobs, jobs, count);
	settle(s);
	end(s);
	free(jobs);
	free(addresses);
}
