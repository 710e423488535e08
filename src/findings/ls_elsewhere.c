/* ls_elsewhere.c - processes whose segments are in no directory that ls lists. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "findings/ls_row.h"

#include "kit/data/room.h"
#include "kit/data/sorted.h"
#include "kit/os/clock.h"
#include "session/load/session.h"
#include "view/sites/enum_words.h"

struct ls_elsewhere_file {
	uint64_t device, inode;
};

/* Processes, each once, whatever the number of segments that it maps. */
struct search {
	const struct ls_elsewhere *listed;
	pid_t *pids;
	size_t count, room;
	int err;
};

int ls_elsewhere_skip(struct ls_elsewhere *e, uint64_t device, uint64_t inode)
{
	if (room_make(&e->files, &e->room, e->count, sizeof(*e->files)) < 0)
		return -ENOMEM;
	e->files[e->count++] = (struct ls_elsewhere_file){device, inode};
	return 0;
}

BY(by_file, struct ls_elsewhere_file, UP(device) ?: UP(inode))

static int by_pid(const void *a, const void *b)
{
	const pid_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void note(void *context, uint64_t device, uint64_t inode, pid_t pid)
{
	const struct ls_elsewhere_file key = {device, inode};
	struct search *s = context;

	if (s->listed->count > 0 &&
	    bsearch(&key, s->listed->files, s->listed->count, sizeof(key), by_file))
		return;
	if (s->err == 0)
		s->err = room_make(&s->pids, &s->room, s->count, sizeof(*s->pids));
	if (s->err == 0)
		s->pids[s->count++] = pid;
}

/* It may have ended meanwhile, or be one that we may not look at. */
static void show_one(pid_t pid, const struct ls_elsewhere *listed,
    void (*show)(void *context, const struct ls_row *r), void *context)
{
	struct session_brief_file file;
	struct ls_elsewhere_file key;
	struct ls_row r = {.folder = ""};
	struct session *s;

	if (session_load_pid_brief(pid, &s, &file) < 0)
		return;
	key = (struct ls_elsewhere_file){file.device, file.inode};
	/* a forked child may have a segment in a listed file, too */
	if (s->count > 0 &&
	    !(listed->count > 0 &&
	        bsearch(&key, listed->files, listed->count, sizeof(key), by_file))) {
		r.process = s->processes[0];
		r.owner = file.uid;
		r.stored_bytes = file.stored_bytes;
		r.name = file.path;
		show(context, &r);
	}
	session_free(s);
}

int ls_elsewhere_list(struct ls_elsewhere *e, struct proc_cache *cache, uint64_t until_ns,
    void (*show)(void *context, const struct ls_row *r), void *context, size_t *ret_unread)
{
	struct search s = {.listed = e};
	size_t unread = 0;

	if (!proc_cache_at_all(cache))
		unread++;
	if (e->count > 0)
		qsort(e->files, e->count, sizeof(*e->files), by_file);
	proc_cache_each_file(cache, note, &s);
	if (s.count > 0)
		qsort(s.pids, s.count, sizeof(*s.pids), by_pid);
	for (size_t i = 0; i < s.count && s.err == 0; i++) {
		if (i > 0 && s.pids[i] == s.pids[i - 1])
			continue;
		if (clock_ns(CLOCK_MONOTONIC) > until_ns)
			unread++;
		else
			show_one(s.pids[i], e, show, context);
	}
	free(s.pids);
	*ret_unread = unread;
	return s.err;
}

void ls_elsewhere_release(struct ls_elsewhere *e)
{
	free(e->files);
}

/* ---- ls_row: one process in the list of seep ls ---- */

const char *ls_row_state(const struct process *p)
{
	if (p->is_snapshot)
		return "snapshot";
	if (p->header.state == SEG_INERT)
		return "inert";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_OFF)
		return "running, off";
	if (p->end == PROCESS_RUNNING && p->header.mode == SEG_MODE_DORMANT)
		return "dormant";
	if (p->end == PROCESS_UNKNOWN)
		return "out of sight";
	if (p->is_out_of_memory)
		return enum_words_end(p->end); /* a line of its own says why */
	return enum_words_ended(p);
}

uint32_t ls_row_pid(const struct process *p)
{
	return p->running_pid > 0 ? (uint32_t)p->running_pid : p->header.pid;
}
