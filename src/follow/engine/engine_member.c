/* engine_member.c - one process of the roster: who it is, its looks, its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/epoll.h>

#include "segments/find/dead.h"
#include "follow/engine/engine_parts.h"
#include "host/proc/procfs.h"
#include "host/proc/procfs_group.h"
#include "kit/data/capped.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/words/text.h"

enum {
	SILENT_S = 10,        /* a clock that stood still so long */
	FORGET_S = 60,        /* out of sight, silent, and without a file */
	SELDOM = 4,           /* looks at what rarely changes */
	REST_MS_PER_MIB = 10, /* of ledger, until it is read again */
};

struct engine_member *engine_member_running(const struct engine *l, pid_t pid)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->members[i]->shown.pid == pid && l->members[i]->shown.state == LIVE_RUNS)
			return l->members[i];
	return NULL;
}

/* ---- who it is ---- */

/* Does its pid mean the same to us? */
static bool is_of_our_namespace(const struct engine *l, const struct seg_header *h)
{
	return h->pid > 0 && h->pid <= INT32_MAX && l->own_pid_ns != 0 &&
	    h->pid_ns == l->own_pid_ns;
}

/*
 * A process whose map is hidden, but which is there, under its pid and with its
 * start: it runs.
 */
static bool is_there(const struct engine *l, const struct seg_header *h)
{
	struct procfs_stat stat;

	return is_of_our_namespace(l, h) && h->start_jiffies != 0 &&
	    procfs_stat((pid_t)h->pid, &stat) == 0 && stat.start_jiffies == h->start_jiffies;
}

/*
 * As far as it can be told, and never dead if it may live. A forked child knows
 * neither its start nor whether it was born into a pid namespace of its own, and
 * a process of another namespace has a pid that says nothing. Both are searched
 * for. What is read of /proc must be younger than the segment, so that a process
 * is not dead before its segment was seen by two looks (*suspect).
 */
static enum proc_state check(struct engine *l, const struct segfile *seg,
    const struct seg_header *h, pid_t *ret_pid, bool *suspect)
{
	const struct source *file = segfile_source(seg);
	bool is_ours = is_of_our_namespace(l, h), was_suspect = *suspect;
	enum proc_state state = PROC_UNKNOWN;
	bool is_hidden;

	*suspect = false;
	*ret_pid = (pid_t)h->pid;
	if (is_ours)
		state = proc_check_own(h, file);
	if (is_ours && (state == PROC_YES || h->start_jiffies != 0))
		return state;
	*ret_pid =
	    roster_newcomers_search(l->newcomers, h, file, was_suspect ? l->now_ns : 0, &is_hidden);
	if (*ret_pid != 0)
		return PROC_YES;
	*suspect = !was_suspect;
	if (is_ours)
		return is_hidden ? PROC_UNKNOWN : state;
	if (!was_suspect)
		return PROC_UNKNOWN;
	if (!l->cache)
		l->cache = proc_cache_new();
	return proc_check_in(l->cache, h, file, ret_pid);
}

/* argv[0] as the process has it in its header, from before it was rewritten. */
static void find_program(struct engine_process *p)
{
	const char *name = text_base(p->header.command);

	if (!name[0])
		name = text_base(p->header.exe);
	(void)snprintf(p->program, sizeof(p->program), "%.*s", LIVE_NAME - 1, name[0] ? name : "?");
}

static void find_group(struct engine *l, struct engine_member *m)
{
	struct engine_process *p = &m->shown;
	struct memory_group *was = m->group;
	struct procfs_group group;

	if (p->pid == 0 || procfs_group_of(p->pid, &group) < 0) {
		if (!p->service[0])
			memcpy(p->service, p->program, sizeof(p->service));
		return;
	}
	p->has_unit = group.unit[0] != '\0';
	p->has_container = group.container[0] != '\0';
	(void)snprintf(p->service, sizeof(p->service), "%s",
	    p->has_unit            ? group.unit
	        : p->has_container ? group.container
	                           : p->program);
	m->group = group.memory[0] ? memory_groups_join(l->groups, &group) : NULL;
	memory_groups_leave(l->groups, was);
}

static void find_user(struct engine_member *m)
{
	uid_t ids[PROCFS_UIDS];
	int fd = m->shown.pid ? procfs_open(m->shown.pid) : -1;

	if (fd < 0)
		return;
	if (procfs_uids_at(fd, ids) == 0)
		m->shown.uid = ids[1];
	(void)close(fd);
}

/* What /proc says of a process that runs, and of the program that it is. */
static void describe(struct engine *l, struct engine_member *m)
{
	struct engine_process *p = &m->shown;
	struct procfs_stat stat;

	find_program(p);
	find_group(l, m);
	find_user(m);
	if (p->pid == 0 || procfs_stat(p->pid, &stat) < 0)
		return;
	m->start_jiffies = stat.start_jiffies;
	m->code_start = stat.code_start;
	m->stack_start = stat.stack_start;
	p->start_ns = stat.start_jiffies * (LIVE_S / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* ---- coming ---- */

static bool is_wanted(const struct engine *l, pid_t pid)
{
	for (size_t i = 0; i < l->plan.pid_count; i++)
		if (l->pids[i] == pid)
			return true;
	return !l->pids;
}

/* Holds on to the process, so that its end is known at once. */
static void hold(struct engine *l, struct engine_member *m)
{
	struct epoll_event e = {.events = EPOLLIN, .data.u64 = m->shown.number};

	if (m->shown.pid == 0 || l->fds_left == 0)
		return;
	m->pidfd = cause_open(m->shown.pid);
	if (m->pidfd < 0) {
		m->pidfd = -1;
		return;
	}
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, m->pidfd, &e) < 0) {
		(void)close(m->pidfd);
		m->pidfd = -1;
		return;
	}
	l->fds_left--;
}

static void let_go(struct engine *l, struct engine_member *m)
{
	if (m->pidfd < 0)
		return;
	(void)epoll_ctl(l->epoll, EPOLL_CTL_DEL, m->pidfd, NULL);
	(void)close(m->pidfd);
	m->pidfd = -1;
	l->fds_left++;
}

/* From now on the roster looks who is in its slot. */
static void leave_slot(struct engine_member *m)
{
	if (!m->is_lost)
		roster_unbind(m->file, m->slot);
	m->is_lost = true;
}

void engine_member_free(struct engine *l, struct engine_member *m)
{
	if (!m)
		return;
	let_go(l, m);
	memory_groups_leave(l->groups, m->group);
	pulse_free(m->pulse);
	leave_slot(m);
	m->file->users--;
	if (m->file->users == 0 && m->file->open) {
		segfile_close(m->file->open);
		m->file->open = NULL;
		l->fds_left++;
	}
	l->room.left += sizeof(*m);
	free(m);
}

/* NULL: no memory. */
static struct engine_member *add(struct engine *l, struct engine_file *f, const struct segfile *seg,
    int slot, const struct seg_header *h)
{
	struct engine_member *m;

	if (!pulse_room_take(&l->room, sizeof(*m)))
		return NULL;
	m = calloc(1, sizeof(*m));
	if (!m || pulse_new(&l->room, l->plan.want_sites, &m->pulse) < 0 ||
	    room_make(&l->members, &l->room_count, l->count, sizeof(struct engine_member *)) < 0) {
		if (m)
			pulse_free(m->pulse);
		free(m);
		l->room.left += sizeof(*m);
		return NULL;
	}
	m->file = f;
	m->slot = slot;
	m->is_early = segfile_is_early(seg, slot);
	m->pidfd = -1;
	m->moved_ns = l->now_ns;
	m->shown.number = ++l->numbers;
	m->shown.header = *h;
	m->shown.inner_pid = (pid_t)h->pid;
	m->shown.uid = segfile_source(seg)->uid;
	f->users++;
	l->members[l->count++] = m;
	return m;
}

/* A child in its first events has got its slot: it is the same process. */
static bool move_to_slot(
    struct engine *l, struct engine_file *f, int slot, const struct seg_header *h)
{
	for (size_t i = 0; i < l->count; i++) {
		struct engine_member *m = l->members[i];
		const struct seg_header *was = &m->shown.header;
		struct pulse *fresh;

		if (m->file != f || !m->is_early || was->pid != h->pid ||
		    was->start_monotonic_ns != h->start_monotonic_ns ||
		    m->shown.state == LIVE_ENDED)
			continue;
		if (pulse_new(&l->room, l->plan.want_sites, &fresh) < 0)
			return false;
		leave_slot(m);
		pulse_free(m->pulse);
		m->pulse = fresh;
		m->slot = slot;
		m->is_early = m->is_lost = false;
		m->shown.header = *h;
		return true;
	}
	return false;
}

/* The same segment in a second file: a copy that somebody has made. */
static bool is_listed(const struct engine *l, const struct seg_header *h)
{
	for (size_t i = 0; i < l->count; i++)
		if (memcmp(l->members[i]->shown.header.uuid, h->uuid, sizeof(h->uuid)) == 0)
			return true;
	return false;
}

static int arrive_running(struct engine *l, struct engine_file *f, const struct segfile *seg,
    int slot, const struct seg_header *h, pid_t pid, bool *ret)
{
	struct engine_member *before = pid ? engine_member_running(l, pid) : NULL;
	struct engine_member *m;

	if (before && before->shown.header.start_monotonic_ns > h->start_monotonic_ns)
		return 0; /* of what it was before an exec */
	if (before)
		engine_member_end(l, before, LIVE_CAUSE_EXEC);
	m = add(l, f, seg, slot, h);
	if (!m)
		return 0;
	*ret = true;
	m->shown.pid = pid;
	m->shown.state = pid ? LIVE_RUNS : LIVE_OUT_OF_SIGHT;
	hold(l, m);
	describe(l, m);
	/* between the check and hold() it may have ended */
	if (m->start_jiffies != 0 && !proc_may_have_written(h, m->start_jiffies)) {
		let_go(l, m);
		engine_member_end(l, m, LIVE_CAUSE_UNKNOWN);
		*ret = false;
	}
	return engine_member_look(l, m);
}

/*
 * The one that an exec has turned into this one, if both have ended by the time
 * of this look: the same process, and what is known of its end is the end of
 * the later program. NULL: there is none, or its end has been told already.
 */
static struct engine_member *find_before_exec(
    const struct engine *l, const struct segfile *seg, const struct seg_header *h)
{
	for (size_t i = 0; i < l->count && h->start_jiffies != 0; i++) {
		struct engine_member *m = l->members[i];
		const struct seg_header *was = &m->shown.header;

		if (was->pid == h->pid && was->pid_ns == h->pid_ns &&
		    was->start_jiffies == h->start_jiffies &&
		    m->shown.uid == segfile_source(seg)->uid &&
		    was->start_monotonic_ns < h->start_monotonic_ns &&
		    m->shown.state == LIVE_ENDED && m->shown.ended_ns == l->now_ns &&
		    m->shown.cause != LIVE_CAUSE_EXEC)
			return m;
	}
	return NULL;
}

/* The end of `before`, and the descriptor that tells it, are those of `m`. */
static void take_end(struct engine *l, struct engine_member *m, struct engine_member *before)
{
	struct epoll_event e = {.data.u64 = m->shown.number};

	m->shown.pid = before->shown.pid;
	m->shown.cause = before->shown.cause;
	m->shown.cause_number = before->shown.cause_number;
	m->start_jiffies = before->start_jiffies;
	m->is_settled = before->is_settled;
	m->has_claimed = before->has_claimed;
	m->pidfd = before->pidfd;
	before->pidfd = -1;
	if (m->pidfd >= 0)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, m->pidfd, &e);
	before->shown.cause = LIVE_CAUSE_EXEC;
	before->shown.cause_number = 0;
	before->is_settled = true;
}

static int arrive_dead(struct engine *l, struct engine_file *f, const struct segfile *seg, int slot,
    const struct seg_header *h, enum engine_cause cause)
{
	struct engine_member *m, *before = NULL;

	if (cause == LIVE_CAUSE_UNKNOWN)
		before = find_before_exec(l, seg, h);
	if (!before &&
	    (l->pids || (!l->plan.keep_the_ended && h->start_monotonic_ns < l->start_ns)))
		return 0;
	m = add(l, f, seg, slot, h);
	if (!m)
		return 0;
	find_program(&m->shown);
	memcpy(m->shown.service,
	    before && before->shown.has_unit + before->shown.has_container ? before->shown.service
	                                                                   : m->shown.program,
	    sizeof(m->shown.service));
	if (before)
		take_end(l, m, before);
	engine_member_end(l, m, before ? m->shown.cause : cause);
	return 0;
}

int engine_member_arrive(struct engine *l, struct engine_file *f, const struct segfile *seg,
    struct engine_slot *s, const struct seg_header *h)
{
	int slot = s->slot;
	enum proc_state state;
	size_t count = l->count;
	pid_t pid = 0;
	int err;

	s->is_bound = move_to_slot(l, f, slot, h);
	if (s->is_bound || is_listed(l, h)) {
		s->is_suspect = false;
		s->was_listed = true;
		return 0;
	}
	if (l->room.left < sizeof(struct engine_member)) {
		/* when others have gone there may be room */
		s->is_suspect = true;
		l->unlisted++;
		return 0;
	}
	state = check(l, seg, h, &pid, &s->is_suspect);
	if (s->is_suspect)
		return 0; /* until the next look */
	if (state == PROC_UNKNOWN)
		pid = is_there(l, h) ? (pid_t)h->pid : 0;
	if (state != PROC_YES && state != PROC_UNKNOWN)
		err = arrive_dead(
		    l, f, seg, slot, h, state == PROC_EXEC ? LIVE_CAUSE_EXEC : LIVE_CAUSE_UNKNOWN);
	else if (is_wanted(l, pid))
		err = arrive_running(l, f, seg, slot, h, pid, &s->is_bound);
	else
		err = 0;
	s->was_listed = l->count > count;
	return err;
}

int engine_member_arrive_ended(struct engine *l, struct engine_file *f, const struct segfile *seg,
    struct engine_slot *s, const struct seg_header *h)
{
	size_t count = l->count;
	int err;

	s->is_suspect = false;
	if (is_listed(l, h)) {
		s->was_listed = true;
		return 0;
	}
	if (l->room.left < sizeof(struct engine_member))
		return -ENOBUFS;
	err = arrive_dead(l, f, seg, s->slot, h, LIVE_CAUSE_UNKNOWN);
	s->was_listed = l->count > count;
	return err;
}

/* ---- looks ---- */

static uint64_t peak(const struct engine_process *p)
{
	const struct seg_header *h = &p->header;

	/* one thread: the peak is right to the byte; see process.c */
	if (p->now.live_bytes <= h->peak_bytes ||
	    (h->threads <= 1 && h->sample_bytes == 0 && h->peak_bytes > 0))
		return h->peak_bytes;
	return p->now.live_bytes;
}

static uint64_t lost(const struct seg_header *h)
{
	return capped_sum(h->counts[SEG_LOST_EVENTS],
	    capped_sum(h->counts[SEG_LOST_FREES], h->counts[SEG_CROWDED_EVENTS]));
}

/* The counters as they are now; the last ones stay where that fails. */
static int read_counters(struct engine *l, struct engine_member *m, bool *ret_changed)
{
	struct engine_process *p = &m->shown;
	struct segfile *seg;
	int err;

	*ret_changed = false;
	if (m->is_lost)
		return 0;
	if (l->now_ns < m->next_rows_ns && p->state != LIVE_ENDED)
		return 0;
	seg = roster_open(l, m->file, &err);
	if (!seg) {
		p->look_err = err;
		return err == -ENOMEM ? err : 0;
	}
	err = pulse_look(m->pulse, seg, m->slot, p->looks, &p->header, &p->now, ret_changed);
	roster_done(m->file, seg);
	p->look_err = err;
	if (err == -ESTALE)
		leave_slot(m);
	/* a few per cent of a core, however large the ledger is */
	m->next_rows_ns = l->now_ns + (pulse_bytes(m->pulse) >> 20) * REST_MS_PER_MIB * LIVE_MS;
	return err == -ENOMEM ? err : 0;
}

/* Is a process without a descriptor still there? */
static bool is_gone(const struct engine_member *m, const struct procfs_stat *stat, int err)
{
	if (m->pidfd >= 0)
		return false;
	if (err == 0)
		return m->start_jiffies != 0 && stat->start_jiffies != m->start_jiffies;
	return err == -ESRCH || (kill(m->shown.pid, 0) < 0 && errno == ESRCH);
}

/*
 * It runs, but is it still the program that was traced? An exec without a
 * collector leaves no other trace than these addresses.
 */
static void look_for_exec(struct engine *l, struct engine_member *m)
{
	struct procfs_stat stat = {0};
	int err = procfs_stat(m->shown.pid, &stat);
	struct segfile *seg;
	pid_t pid;

	if (is_gone(m, &stat, err)) {
		engine_member_end(l, m, LIVE_CAUSE_UNKNOWN);
		return;
	}
	if (err < 0 || stat.start_jiffies != m->start_jiffies ||
	    (stat.code_start == m->code_start && stat.stack_start == m->stack_start && !m->is_lost))
		return;
	seg = roster_open(l, m->file, &err);
	if (!seg)
		return;
	if (proc_check(&m->shown.header, segfile_source(seg), &pid) == PROC_EXEC) {
		engine_member_end(l, m, LIVE_CAUSE_EXEC);
		roster_newcomers_again(l->newcomers, m->shown.pid);
	} else {
		m->code_start = stat.code_start;
		m->stack_start = stat.stack_start;
	}
	roster_done(m->file, seg);
}

static void note_look(struct engine *l, struct engine_member *m, bool changed)
{
	struct engine_process *p = &m->shown;
	bool is_seldom = (p->looks + p->number) % SELDOM == 0;

	p->now.at_ns = l->now_ns;
	p->now.peak_bytes = peak(p);
	p->now.lost = lost(&p->header);
	if (p->state == LIVE_RUNS && (changed || is_seldom || p->looks == 0))
		p->now.resident = procfs_resident(p->pid);
	if (p->looks == 0)
		p->base = p->now;
	p->ring[p->looks++ % LIVE_LOOKS] = p->now;
	p->site_count = pulse_site_count(m->pulse);
	(void)pulse_moved(m->pulse, &p->moved_count);
	p->unlisted = pulse_unlisted(m->pulse);
	p->limit = m->group ? m->group->limit : 0;
	p->used = m->group ? m->group->used : 0;
}

int engine_member_look(struct engine *l, struct engine_member *m)
{
	struct engine_process *p = &m->shown;
	uint32_t tick = p->header.tick;
	bool changed;
	int err;

	if (p->state == LIVE_ENDED)
		return 0;
	err = read_counters(l, m, &changed);
	if (err < 0)
		return err;
	changed |= tick != p->header.tick;
	if (changed)
		m->moved_ns = l->now_ns;
	p->is_silent =
	    p->state == LIVE_OUT_OF_SIGHT && l->now_ns - m->moved_ns >= SILENT_S * LIVE_S;
	note_look(l, m, changed);
	if (p->looks % LIVE_LOOKS == 0)
		pulse_rest(m->pulse, p->looks);
	if (p->state == LIVE_RUNS && (p->looks == 2 || p->looks == 10)) {
		/* a service changes its user, or is moved, after its start */
		find_group(l, m);
		find_user(m);
	}
	if (p->state == LIVE_RUNS &&
	    (m->pidfd < 0 || (!changed && (p->looks + p->number) % SELDOM == 0)))
		look_for_exec(l, m);
	return 0;
}

/* ---- the end ---- */

static void take_status(struct engine *l, struct engine_member *m, int status)
{
	struct engine_process *p = &m->shown;
	bool is_kill = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;

	(void)l;
	m->is_settled = true;
	if (is_kill && !m->has_claimed)
		m->has_claimed = memory_groups_claim_kill(m->group);
	if (!is_kill && m->has_claimed)
		memory_groups_unclaim_kill(m->group);
	if (is_kill && m->has_claimed) {
		p->cause = LIVE_CAUSE_OOM;
		p->cause_number = SIGKILL;
	} else if (WIFSIGNALED(status)) {
		p->cause = LIVE_CAUSE_SIGNAL;
		p->cause_number = WTERMSIG(status);
	} else {
		p->cause = LIVE_CAUSE_EXIT;
		p->cause_number = WEXITSTATUS(status);
	}
}

void engine_member_ask(struct engine *l, struct engine_member *m, bool is_reaped)
{
	struct engine_process *p = &m->shown;
	int status, err;

	if (p->state != LIVE_ENDED || m->is_settled)
		return;
	err = m->pidfd < 0 ? -ENOTSUP : cause_status(m->pidfd, &status);
	if (err < 0 && m->start_jiffies != 0 &&
	    procfs_zombie(p->pid, m->start_jiffies, &status) == 0 &&
	    (status != 0 || p->header.end_kind == SEG_END_EXITED))
		err = 0; /* its parent has not asked yet, but /proc tells */
	if (err == 0) {
		take_status(l, m, status);
	} else if (!m->has_claimed && memory_groups_claim_kill(m->group)) {
		m->has_claimed = true;
		p->cause = LIVE_CAUSE_OOM;
		p->cause_number = SIGKILL;
	} else if (!m->has_claimed && p->header.end_kind == SEG_END_EXITED) {
		p->cause = LIVE_CAUSE_EXIT;
		p->cause_number = -1;
	}
	if (err == -ENOTSUP || is_reaped || l->now_ns - p->ended_ns >= LIVE_DEAD_MS * LIVE_MS)
		m->is_settled = true;
	if (m->is_settled)
		let_go(l, m);
}

void engine_member_end(struct engine *l, struct engine_member *m, enum engine_cause cause)
{
	struct epoll_event e = {.data.u64 = m->shown.number};
	struct engine_process *p = &m->shown;
	bool changed;

	if (p->state == LIVE_ENDED)
		return;
	p->state = LIVE_ENDED;
	p->ended_ns = l->now_ns;
	p->is_silent = false;
	p->cause = cause;
	(void)read_counters(l, m, &changed);
	note_look(l, m, changed);
	leave_slot(m); /* a reader may give it to another process */
	if (cause == LIVE_CAUSE_EXEC) {
		m->is_settled = true;
		let_go(l, m);
		return;
	}
	/* from now on it wakes us when its parent has asked for the status */
	if (m->pidfd >= 0)
		(void)epoll_ctl(l->epoll, EPOLL_CTL_MOD, m->pidfd, &e);
	engine_member_ask(l, m, false);
}

bool engine_member_is_over(const struct engine *l, const struct engine_member *m)
{
	const struct engine_process *p = &m->shown;

	if (p->state == LIVE_ENDED)
		return !l->plan.keep_the_ended && l->now_ns - p->ended_ns >= LIVE_DEAD_MS * LIVE_MS;
	/* nobody can tell whether it has ended, and nobody could see more */
	return p->state == LIVE_OUT_OF_SIGHT && m->file->is_gone &&
	    l->now_ns - m->moved_ns >= FORGET_S * LIVE_S;
}
