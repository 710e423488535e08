/* leaks_look.c - a child of the recorder that looks at one process. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/leaks_look.h"

#include <sys/resource.h>

#include "analysis/leaks/judge.h"
#include "analysis/leaks/look.h"
#include "analysis/rss/rss_reading.h"
#include "analysis/score/score.h"
#include "analysis/types/survey.h"
#include "findings/held_view.h"
#include "host/memory/foreign.h"
#include "host/proc/procfs_group.h"
#include "kit/os/clock.h"
#include "kit/os/helper.h"
#include "kit/os/outfile.h"
#include "recording/file/recording.h"
#include "recording/parts/aging.h"
#include "recording/parts/rss_account.h"
#include "segments/find/segment_dir.h"
#include "segments/read/steady.h"
#include "session/process/family.h"
#include "session/process/live_ages.h"
#include "session/process/process.h"

#define MS UINT64_C(1000000)

enum {
	EXIT_LOOKS = 2,    /* if other threads are left */
	EXIT_REST_MS = 20, /* between such looks */
	REST_MS = 2000,    /* between looks at a process that keeps running */
	EXIT_LIMIT_S = 60, /* because SEEP_LEAKS_WAIT may be long */
	PAGES_LIMIT_S = 60,
	RUNNING_LIMIT_S = 600,
	READ_BYTES = 64 << 10,
};

/* ---- in the child ---- */

static void rest(uint64_t ns)
{
	struct timespec t = {
	    .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/*
 * Waits for the end of the tick in which the process began to wait, so that
 * blocks of that tick count too.
 */
static void wait_for_tick(const struct seg_header *h)
{
	uint64_t tick = ticks_now(h);

	if (tick <= h->exit_tick && h->tick_ns > 0 && h->tick_ns <= 1000 * MS)
		rest(((uint64_t)h->exit_tick + 1 - tick) * h->tick_ns);
}

/*
 * If no other thread is left, nothing changes any more, and one look is a proof
 * for blocks of any age. Otherwise pointers may move during a look.
 */
static int look_at_exit(const struct process *p, pid_t pid, struct verdicts *ret)
{
	bool alone = p->header.exit_threads == 0;
	const struct judge_options o = {
	    .is_waiting = true, .at_end = alone, .born_before = p->header.exit_tick + 1};
	struct judge_about about;
	struct judge *j;
	int err;

	if (!alone)
		wait_for_tick(&p->header);
	err = judge_new(p, pid, &o, &j);
	if (err < 0)
		return err;
	for (int i = 0; i < (alone ? 1 : EXIT_LOOKS); i++) {
		if (i > 0)
			rest(EXIT_REST_MS * MS);
		if (judge_look(j) < 0)
			break;
	}
	err = judge_finish(j, alone, ret, &about);
	judge_free(j);
	if (err == 0)
		ret->at_exit = true;
	return err;
}

static int look_while_it_runs(const struct process *p, pid_t pid, struct verdicts *ret)
{
	const struct judge_options o = {0};
	struct judge_about about;
	struct judge *j;
	int err = judge_new(p, pid, &o, &j);

	if (err < 0)
		return err;
	for (int i = 0; i < LOOKS_MAX && !judge_is_certain(j); i++) {
		if (i > 0)
			rest(REST_MS * MS);
		if (judge_look(j) < 0)
			break;
	}
	err = judge_finish(j, false, ret, &about);
	judge_free(j);
	return err;
}

/* A part of the result: its length, and its bytes, which are freed. */
static int say_part(int fd, uint8_t *bytes, size_t len)
{
	const uint64_t n = len;
	int err = write_all(fd, &n, sizeof(n));

	if (err == 0)
		err = write_all(fd, bytes, len);
	free(bytes);
	return err;
}

static int say(int fd, const struct verdicts *v)
{
	uint8_t *bytes;
	size_t len;
	int err = verdicts_encode(v, &bytes, &len);

	return err < 0 ? err : say_part(fd, bytes, len);
}

/* Ages and births of all blocks, and the limits of its memory. */
static int look_at_births(int fd, struct process *p, pid_t pid)
{
	struct aging b = {0};
	uint8_t *bytes;
	size_t len;
	int err;

	p->running_pid = pid;
	err = live_ages_read_whole(p);
	if (err == 0)
		err = scores_take(p, &b);
	if (err < 0)
		return err;
	b.limit_count = limits_read(pid, b.limits);
	err = aging_encode(&b, &bytes, &len);
	aging_release(&b);
	if (err < 0)
		return err;
	err = write_all(fd, bytes, len);
	free(bytes);
	return err;
}

static int look_at_pages(int fd, struct process *p, pid_t pid)
{
	struct rss_account r;
	uint8_t *bytes;
	size_t len;
	int err;

	p->running_pid = pid;
	err = rss_reading_read(p, &r, NULL);
	if (err < 0)
		return err;
	rss_account_shorten(&r);
	err = rss_account_encode(&r, &bytes, &len);
	rss_account_release(&r);
	if (err < 0)
		return err;
	err = write_all(fd, bytes, len);
	free(bytes);
	return err;
}

static int look_for_leaks(int fd, const struct process *p, pid_t pid, bool at_exit)
{
	struct verdicts v = {0};
	int err = at_exit ? look_at_exit(p, pid, &v) : look_while_it_runs(p, pid, &v);

	if (err == 0)
		err = say(fd, &v);
	verdicts_release(&v);
	return err;
}

/* ---- in the child: an inventory ---- */

static struct process *find_process(const struct session *s, const uint8_t *uuid)
{
	for (size_t i = 0; i < s->count; i++)
		if (memcmp(s->processes[i]->header.uuid, uuid, 16) == 0)
			return s->processes[i];
	return NULL;
}

/* One look of its own: the roots of all looks for a verdict are not needed. */
static int read_heap(bool at_exit, struct root_notes *notes, struct leaks_look_memory *m)
{
	const struct process *p = m->process;
	const struct judge_options o = {.is_waiting = at_exit,
	    .at_end = at_exit && p->header.exit_threads == 0,
	    .notes = notes};
	struct judge *j;
	int err = judge_new(p, m->pid, &o, &j);

	if (err < 0)
		return err;
	err = judge_look(j);
	if (err == 0) {
		m->heap = judge_detach_heap(j);
		m->notes = notes;
		m->max_bytes = judge_max_bytes(j);
		m->was_still = o.at_end;
	}
	judge_free(j);
	return err;
}

static void say_inventory(int fd, const struct leaks_look_more *more,
    const struct leaks_look_memory *m, bool at_exit, uint64_t time_ns)
{
	struct inventory v = {0};
	uint8_t *bytes;
	size_t len;

	if (more->make(more, m, &v) < 0)
		return;
	v.at_exit = at_exit;
	v.time_ns = time_ns;
	if (inventory_encode(&v, &bytes, &len) == 0)
		(void)say_part(fd, bytes, len);
	inventory_release(&v);
}

/*
 * All memory is read before the verdicts are said, because the process goes on
 * to its end then. Where something fails, the verdicts are there all the same.
 */
static int look_for_more(
    int fd, const struct process *seen, pid_t pid, bool at_exit, const struct leaks_look_more *more)
{
	const struct survey_options types = {.with_types = true, .is_waiting = at_exit};
	struct leaks_look_memory m = {.pid = pid};
	struct root_notes notes = {0};
	struct census census = {0};
	struct verdicts v = {0};
	struct fault why = {0};
	struct session *s = NULL;
	struct process *p = NULL;
	uint64_t time_ns;
	int err;

	if (forked_load(pid, &s, &why) == 0)
		p = find_process(s, seen->header.uuid);
	err = at_exit ? look_at_exit(seen, pid, &v) : look_while_it_runs(seen, pid, &v);
	time_ns = v.end_ns;
	m.session = s;
	m.process = p;
	if (p && v.reason == VERDICT_JUDGED && more->types &&
	    survey_take(p, pid, &types, &census, &why) == 0)
		m.census = &census;
	if (p && v.reason == VERDICT_JUDGED && more->holders)
		(void)read_heap(at_exit, &notes, &m);
	if (err == 0)
		err = say(fd, &v);
	if (err == 0 && (m.census || m.heap))
		say_inventory(fd, more, &m, at_exit, time_ns);
	else
		heap_free(m.heap);
	verdicts_release(&v);
	census_release(&census);
	root_notes_release(&notes);
	session_free(s);
	return err;
}

static int look(int fd, const struct segfile *f, int slot, const struct seg_header *h, pid_t pid,
    enum leaks_look_kind kind, const struct leaks_look_more *more)
{
	struct segment *seg;
	struct process *p;
	int err = segfile_read(f, slot, &seg, NULL);

	if (err < 0)
		return err;
	err = process_new(seg, &p);
	segment_copy_free(seg);
	if (err < 0)
		return err;
	/* the slot may belong to another child by now */
	err = memcmp(p->header.uuid, h->uuid, sizeof(h->uuid)) ? -ESRCH : 0;
	if (err == 0)
		err = kind == LEAKS_LOOK_BIRTHS ? look_at_births(fd, p, pid)
		    : kind == LEAKS_LOOK_PAGES  ? look_at_pages(fd, p, pid)
		    : more ? look_for_more(fd, p, pid, kind == LEAKS_LOOK_AT_EXIT, more)
		           : look_for_leaks(fd, p, pid, kind == LEAKS_LOOK_AT_EXIT);
	process_free(p);
	return err;
}

/* ---- in the recorder ---- */

static int not_for_children = -1;

void leaks_look_close(int fd)
{
	not_for_children = fd;
}

/* The arguments of leaks_look_start(). */
struct order {
	const struct segfile *f;
	int slot;
	const struct seg_header *h;
	pid_t pid;
	enum leaks_look_kind kind;
	const struct leaks_look_more *more;
};

static int carry_out(int fd, void *context)
{
	const struct order *o = context;

	if (not_for_children >= 0)
		close(not_for_children);
	return look(fd, o->f, o->slot, o->h, o->pid, o->kind, o->more) < 0;
}

int leaks_look_start(struct leaks_look *k, const struct segfile *f, int slot,
    const struct seg_header *h, pid_t pid, enum leaks_look_kind kind,
    const struct leaks_look_more *more)
{
	static const uint64_t limits_s[] = {[LEAKS_LOOK_RUNNING] = RUNNING_LIMIT_S,
	    [LEAKS_LOOK_AT_EXIT] = EXIT_LIMIT_S,
	    [LEAKS_LOOK_BIRTHS] = RUNNING_LIMIT_S,
	    [LEAKS_LOOK_PAGES] = PAGES_LIMIT_S};
	struct order order = {f, slot, h, pid, kind, more};
	const struct helper_plan plan = {
	    .run = carry_out, .context = &order, .flags = HELPER_DIES, .channel = HELPER_PIPE};
	int err;

	*k = (struct leaks_look){
	    .fd = -1, .until_ns = clock_ns(CLOCK_MONOTONIC) + limits_s[kind] * 1000 * MS};
	foreign_lend(pid); /* we are an ancestor of the process, it is not */
	err = helper_start(&plan, &k->worker, &k->fd);
	foreign_take_back();
	if (err == 0 && fcntl(k->fd, F_SETFL, O_NONBLOCK) < 0)
		err = -errno;
	if (err < 0)
		leaks_look_release(k);
	return err;
}

int leaks_look_start_at(struct leaks_look *k, const char *dir, const char *name, int slot,
    const uint8_t uuid[16], enum leaks_look_kind kind, uint64_t *ret_start_ns)
{
	struct segfile *f;
	struct seg_header h;
	pid_t pid = 0;
	int err = segment_dir_open_file(dir, name, &f);

	*ret_start_ns = 0;
	if (err < 0)
		return err;
	err = -ESRCH;
	if (segfile_header(f, slot, &h, NULL) == 0 && memcmp(h.uuid, uuid, sizeof(h.uuid)) == 0 &&
	    h.state != SEG_INERT && session_end(&h, segfile_source(f), &pid) == PROCESS_RUNNING &&
	    pid > 0) {
		*ret_start_ns = h.start_monotonic_ns;
		err = leaks_look_start(k, f, slot, &h, pid, kind, NULL);
	}
	segfile_close(f);
	return err;
}

/* 1: there may be more; 0: nothing now; -ENODATA: that was all. */
static int read_some(struct leaks_look *k)
{
	ssize_t n;

	if (k->room - k->len < READ_BYTES) {
		size_t room = k->room ? k->room * 2 : READ_BYTES;
		uint8_t *more;

		if (room > RECORDING_ENTRY_MAX)
			return -EFBIG;
		more = realloc(k->bytes, room);
		if (!more)
			return -ENOMEM;
		k->bytes = more;
		k->room = room;
		return 1;
	}
	n = read(k->fd, k->bytes + k->len, READ_BYTES);
	if (n > 0)
		k->len += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	return n > 0 ? 1 : n == 0 ? -ENODATA : 0;
}

static uint64_t cpu_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000 * MS + (uint64_t)t->tv_usec * 1000;
}

int leaks_look_poll(struct leaks_look *k)
{
	struct rusage used = {0};
	int err;

	do {
		err = read_some(k);
	} while (err > 0);
	if (err == -ENODATA) {
		while (wait4(k->worker, NULL, 0, &used) < 0 && errno == EINTR)
			;
		k->cpu_ns = cpu_of(&used.ru_utime) + cpu_of(&used.ru_stime);
		k->worker = 0;
		return k->len > 0 ? 1 : -EIO;
	}
	if (err == 0 && clock_ns(CLOCK_MONOTONIC) > k->until_ns)
		return -ETIMEDOUT;
	return err;
}

bool leaks_look_part(
    const struct leaks_look *k, enum leaks_look_part part, const uint8_t **ret, size_t *ret_len)
{
	const uint8_t *at = k->bytes;
	size_t left = k->len;
	uint64_t n;

	for (int i = 0;; i++) {
		if (left < sizeof(n))
			return false;
		memcpy(&n, at, sizeof(n));
		at += sizeof(n);
		left -= sizeof(n);
		if (n > left)
			return false;
		if (i == (int)part)
			break;
		at += n;
		left -= n;
	}
	*ret = at;
	*ret_len = n;
	return true;
}

void leaks_look_release(struct leaks_look *k)
{
	if (k->worker > 0) {
		(void)kill(k->worker, SIGKILL);
		while (waitpid(k->worker, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (k->fd >= 0)
		close(k->fd);
	free(k->bytes);
	*k = (struct leaks_look){.fd = -1};
}

/* ---- inventory_make: record --retained and --types: an inventory of what was read ---- */

static int take_holders(const struct leaks_look_memory *m, struct names *names,
    const struct view_options *view, struct inventory_of *to)
{
	const struct held_view_input in = {.session = m->session,
	    .process = m->process,
	    .pid = m->pid,
	    .names = names,
	    .view = view,
	    .heap = m->heap,
	    .notes = m->notes,
	    .max_bytes = m->max_bytes,
	    .was_stopped = m->was_still};
	struct held_view v;
	int err = held_view_make(&in, &v);

	if (err < 0)
		return err;
	err = inventory_of_held(to, &v);
	held_view_release(&v);
	return err;
}

static int take_types(
    const struct leaks_look_memory *m, struct names *names, struct inventory_of *to)
{
	struct by_type_find *find = NULL;
	struct by_type types = {0};
	int err = by_type_find_new(m->session, m->process, names, m->census, &find);

	if (err == 0)
		err = by_type_make(m->process, m->census, NULL, find, &types);
	if (err == 0) {
		by_type_settle(&types);
		err = inventory_of_types(to, &types, m->census->is_partial);
	}
	by_type_release(&types);
	by_type_find_free(find);
	return err;
}

int inventory_make(
    const struct leaks_look_more *more, const struct leaks_look_memory *m, struct inventory *ret)
{
	const struct view_options view = {
	    .pid = VIEW_ANY, .metric = VIEW_ALL, .fold = true, .trim = true};
	struct names *names = NULL;
	struct inventory_of to;
	int err = inventory_of_begin(&to);

	if (err == 0)
		err = names_new(more->context, &names);
	if (m->heap && err == 0)
		err = take_holders(m, names, &view, &to);
	else
		heap_free(m->heap);
	if (m->census && err == 0)
		err = take_types(m, names, &to);
	names_free(names);
	return inventory_of_end(&to, err, ret);
}
