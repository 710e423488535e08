/* engine.c - the processes that are traced now, looked at again and again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/engine/engine.h"

#include <sys/epoll.h>
#include <sys/resource.h>

#include "follow/engine/engine_parts.h"
#include "kit/os/clock.h"

enum {
	MEMORY_BYTES = 48 << 20,
	FDS_OTHERS = 64, /* descriptors that are left to others */
	EVENTS = 64,
};

static struct rlimit first_limit;
static bool is_raised;

/* ---- descriptors ---- */

/* As many as we may have; the limit of this process alone. */
static size_t raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (!is_raised) {
		first_limit = limit;
		limit.rlim_cur = limit.rlim_max;
		is_raised = setrlimit(RLIMIT_NOFILE, &limit) == 0;
		(void)getrlimit(RLIMIT_NOFILE, &limit);
	}
	return limit.rlim_cur > FDS_OTHERS ? limit.rlim_cur - FDS_OTHERS : 0;
}

void engine_before_exec(void)
{
	if (is_raised)
		(void)setrlimit(RLIMIT_NOFILE, &first_limit);
}

/* ---- the engine ---- */

/* 0: the numbers of /proc are not those of our own pid namespace. */
static uint64_t own_pid_ns(void)
{
	char self[32] = "";
	struct stat st;

	return readlink("/proc/self", self, sizeof(self) - 1) > 0 &&
	        strtol(self, NULL, 10) == getpid() && stat("/proc/self/ns/pid", &st) == 0
	    ? st.st_ino
	    : 0;
}

static int take_pids(struct engine *l)
{
	size_t n = l->plan.pid_count;

	if (!l->plan.pids)
		return 0;
	l->pids = calloc(n + 1, sizeof(*l->pids));
	l->pid_starts = calloc(n + 1, sizeof(*l->pid_starts));
	if (!l->pids || !l->pid_starts)
		return -ENOMEM;
	if (n > 0)
		memcpy(l->pids, l->plan.pids, n * sizeof(*l->pids));
	l->plan.pids = l->pids;
	return 0;
}

static int take_roster(struct engine *l)
{
	const char *dir = getenv("SEEP_DIR");
	int err = 0;

	l->newcomers = roster_newcomers_new();
	if (!l->newcomers)
		return -ENOMEM;
	if (l->pids && !l->plan.directories)
		return 0;
	err = roster_places_new(l->plan.directories, &l->places);
	l->want_newcomers = !l->plan.directories && !(dir && dir[0]);
	return err;
}

static int take_epoll(struct engine *l)
{
	struct epoll_event e = {.events = EPOLLIN};
	int fd = l->places ? roster_places_fd(l->places) : -1;

	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll < 0)
		return errno == ENOMEM ? -ENOMEM : -EMFILE;
	if (fd >= 0 && epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		return -ENOMEM;
	return 0;
}

int engine_new(const struct engine_plan *plan, struct engine **ret)
{
	struct engine *l = calloc(1, sizeof(*l));
	int err = -ENOMEM;

	if (!l)
		return -ENOMEM;
	l->epoll = -1;
	l->plan = *plan;
	l->start_ns = l->now_ns = clock_ns(CLOCK_MONOTONIC);
	l->room.left = plan->most_memory ? plan->most_memory : MEMORY_BYTES;
	l->fds_left = raise_limit();
	l->fds_left -= plan->other_fds < l->fds_left ? plan->other_fds : l->fds_left;
	l->generation = 1;
	l->own_pid_ns = own_pid_ns();
	l->groups = memory_groups_new();
	if (l->groups)
		err = take_pids(l);
	if (err == 0)
		err = take_roster(l);
	if (err == 0)
		err = take_epoll(l);
	if (err < 0) {
		engine_free(l);
		return err;
	}
	*ret = l;
	return 0;
}

void engine_free(struct engine *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->count; i++)
		engine_member_free(l, l->members[i]);
	roster_release(l);
	roster_places_free(l->places);
	roster_newcomers_free(l->newcomers);
	memory_groups_free(l->groups);
	if (l->epoll >= 0)
		(void)close(l->epoll);
	free(l->members);
	free(l->pids);
	free(l->pid_starts);
	free(l);
}

int engine_wake_fd(const struct engine *l)
{
	return l->epoll;
}

static struct engine_member *find(const struct engine *l, uint64_t number)
{
	size_t from = 0, to = l->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (l->members[middle]->shown.number < number)
			from = middle + 1;
		else
			to = middle;
	}
	return from < l->count && l->members[from]->shown.number == number ? l->members[from]
	                                                                   : NULL;
}

/* ---- the end ---- */

static void look_at_ends(struct engine *l)
{
	struct epoll_event events[EVENTS];
	int n;

	do {
		n = epoll_wait(l->epoll, events, EVENTS, 0);
		for (int i = 0; i < n; i++) {
			struct engine_member *m =
			    events[i].data.u64 ? find(l, events[i].data.u64) : NULL;

			if (!m)
				continue; /* a directory has changed */
			if (m->shown.state == LIVE_ENDED)
				engine_member_ask(l, m, events[i].events & EPOLLHUP);
			else
				engine_member_end(l, m, LIVE_CAUSE_UNKNOWN);
		}
	} while (n == EVENTS);
	for (size_t i = 0; i < l->count; i++)
		engine_member_ask(l, l->members[i], false);
}

static void remove_at(struct engine *l, size_t i)
{
	struct engine_member *m = l->members[i];

	memmove(
	    l->members + i, l->members + i + 1, (--l->count - i) * sizeof(struct engine_member *));
	engine_member_free(l, m);
}

static void forget_the_ended(struct engine *l)
{
	for (size_t i = l->count; i-- > 0;) {
		const struct engine_member *m = l->members[i];

		if (engine_member_is_over(l, m))
			remove_at(l, i);
	}
}

int engine_has_ended(struct engine *l, const struct live_key *key)
{
	return roster_end(l, key);
}

void engine_forget(struct engine *l, struct engine_process *p)
{
	for (size_t i = 0; i < l->count; i++)
		if (&l->members[i]->shown == p && p->state == LIVE_ENDED) {
			remove_at(l, i);
			return;
		}
}

/* ---- looks ---- */

static int look_at_roster(struct engine *l, bool only_new)
{
	l->now_ns = clock_ns(CLOCK_MONOTONIC);
	forget_the_ended(l);
	look_at_ends(l);
	return roster_look(l, only_new);
}

int engine_look_at_roster(struct engine *l)
{
	return look_at_roster(l, true);
}

int engine_look(struct engine *l)
{
	int err = look_at_roster(l, false);

	memory_groups_look(l->groups);
	for (size_t i = 0; i < l->count && err == 0; i++)
		err = engine_member_look(l, l->members[i]);
	return err;
}

uint64_t engine_came_dead(const struct engine *l)
{
	return l->came_dead;
}

size_t engine_count(const struct engine *l)
{
	return l->count;
}

struct engine_process *engine_at(const struct engine *l, size_t i)
{
	return &l->members[i]->shown;
}

/* ---- sites ---- */

void engine_each_site(const struct engine *l, const struct engine_process *p,
    bool (*each)(void *, const struct engine_site *), void *context)
{
	(void)l;
	pulse_each(engine_member_of(p)->pulse, each, context);
}

uint64_t engine_site_then(
    const struct engine_process *p, const struct engine_site *s, uint64_t look)
{
	if (p->looks > LIVE_LOOKS && look < p->looks - LIVE_LOOKS)
		look = p->looks - LIVE_LOOKS;
	return pulse_then(s, look);
}

void engine_set_base(struct engine *l, struct engine_process *p)
{
	(void)l;
	p->base = p->now;
	pulse_set_base(engine_member_of(p)->pulse);
}

const struct segfile *engine_segfile(
    const struct engine *l, const struct engine_process *p, int *ret_slot)
{
	const struct engine_member *m = engine_member_of(p);

	(void)l;
	*ret_slot = m->slot;
	return m->file->open;
}

int engine_directory(const struct engine *l, const struct engine_process *p, const char **ret_path,
    const char **ret_name)
{
	const struct engine_file *f = engine_member_of(p)->file;
	const struct roster_place *at =
	    f->place && !f->is_gone && l->places ? roster_places_find(l->places, f->place) : NULL;

	if (!at)
		return -1;
	*ret_path = at->path;
	*ret_name = f->name;
	return at->fd;
}

struct engine_missing engine_missing(const struct engine *l)
{
	struct engine_missing missing = {.processes = l->unlisted};

	if (l->places)
		missing.files = roster_places_refused(l->places);
	for (size_t i = 0; i < l->count; i++)
		missing.unkept += !l->members[i]->file->open;
	return missing;
}
