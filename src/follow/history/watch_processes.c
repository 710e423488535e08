/* watch_processes.c - who runs and who has ended: what a history keeps of them. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/find/proc.h"
#include "segments/read/losses.h"
#include "recording/file/codec.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "follow/history/watch_parts.h"

/* ---- seats: what runs, for gather.h ---- */

static bool same_seat(const void *items, uint32_t item, const void *key)
{
	return memcmp((const struct watch_seat *)items + item, key, sizeof(struct watch_seat)) == 0;
}
_Static_assert(sizeof(struct watch_seat) == 24, "no padding to compare");

static int add_seat(struct watch *w, const struct segfile *f, int slot)
{
	const struct source *s = segfile_source(f);
	const struct watch_seat seat = {.device = s->device, .inode = s->inode, .slot = slot};
	uint32_t at = 0;
	int err = room_make(&w->seats, &w->seat_room, w->seat_count, sizeof(*w->seats));

	if (err == 0)
		err = dict_find(&w->seat_index, dict_hash_bytes(&seat, sizeof(seat)), same_seat,
		    w->seats, &seat, (uint32_t)w->seat_count, &at);
	if (err < 0 || at < w->seat_count)
		return err;
	w->seats[w->seat_count++] = seat;
	return 0;
}

static void clear_seats(struct watch *w)
{
	w->seat_count = 0;
	dict_release(&w->seat_index);
	w->seat_index = (struct dict){0};
}

static bool runs(void *context, uint64_t device, uint64_t inode, int slot)
{
	const struct watch *w = context;
	const struct watch_seat seat = {.device = device, .inode = inode, .slot = slot};
	uint32_t at;

	return w->seat_count > 0 &&
	    dict_seek(&w->seat_index, dict_hash_bytes(&seat, sizeof(seat)), same_seat, w->seats,
	        &seat, &at);
}

/* ---- the ended ---- */

static struct recording_segment end_of(const struct engine_process *p)
{
	struct recording_segment end = {.exit_status = -1};

	switch (p->cause) {
	case LIVE_CAUSE_EXIT:
		end.end_kind = RECORDING_END_EXITED;
		end.exit_status = p->cause_number;
		break;
	case LIVE_CAUSE_SIGNAL:
		end.end_kind = RECORDING_END_KILLED;
		end.signal = p->cause_number;
		break;
	case LIVE_CAUSE_OOM:
		end.end_kind = RECORDING_END_KILLED;
		end.signal = 9;
		end.flags = RECORDING_SEGMENT_OOM;
		break;
	case LIVE_CAUSE_EXEC:
		end.end_kind = RECORDING_END_EXEC;
		break;
	case LIVE_CAUSE_UNKNOWN:
		if (p->header.end_kind == SEG_END_EXITED)
			end.end_kind = RECORDING_END_EXITED;
		break;
	}
	return end;
}

/*
 * Writes the last state. True: it is in the chapter, or never can be. Then the
 * engine may forget it, once the chapter is safe.
 */
static bool write_ended(
    struct watch *w, struct service *s, const struct engine_process *p, uint64_t view)
{
	struct recording_segment end = end_of(p);
	const struct segfile *f;
	int slot, answer;

	f = engine_segfile(w->live, p, &slot);
	if (!f || p->header.state == SEG_INERT)
		return true;
	if (gather_is_noted(w->gather, f, slot, p->header.uuid))
		return true; /* by an earlier watch */
	answer = service_add(s, f, slot, &end, 0, view);
	if (answer == 0 && end.end_kind != RECORDING_END_EXEC)
		service_mark(s, CODEC_MARK_EXIT, p->inner_pid, "");
	return answer >= 0;
}

/* All chapters that were written to; those that fail have their `err`. */
static void sync_services(void *context)
{
	struct watch *w = context;

	for (size_t i = 0; i < w->service_count; i++)
		if (w->services[i]->is_dirty)
			(void)service_sync(w->services[i]);
}

struct ended {
	uint64_t number;
	struct service *service;
	uint64_t view;
	bool is_written;
};

/* The last look at those that were followed, then their last states. */
static int write_all_ended(struct watch *w, struct ended *ended, size_t count)
{
	size_t at = 0;

	for (size_t i = 0; i < engine_count(w->live) && at < count; i++) {
		struct engine_process *p = engine_at(w->live, i);

		if (p->number != ended[at].number)
			continue;
		ended[at].is_written = write_ended(w, ended[at].service, p, ended[at].view);
		at++;
	}
	sync_services(w);
	/* backwards, because the engine's list gets shorter */
	for (size_t i = engine_count(w->live); i-- > 0;) {
		struct engine_process *p = engine_at(w->live, i);
		const struct segfile *f;
		int slot;

		while (at > 0 && ended[at - 1].number > p->number)
			at--;
		if (at == 0 || ended[at - 1].number != p->number)
			continue;
		at--;
		if (!ended[at].is_written || ended[at].service->is_dirty ||
		    ended[at].service->err < 0)
			continue; /* it stays in the engine: tried again */
		f = engine_segfile(w->live, p, &slot);
		if (f && gather_note(w->gather, f, slot, p->header.uuid) < 0)
			return -ENOMEM;
		watch_kin_ended(w, &p->header);
		engine_forget(w->live, p);
	}
	return 0;
}

/* ---- who runs ---- */

static void mark_arrival(struct service *s, const struct engine_process *p, int slot)
{
	static const uint8_t none[16];
	enum codec_mark kind = CODEC_MARK_SPAWN;

	if (slot >= 0 || memcmp(p->header.parent_uuid, none, sizeof(none)) != 0)
		kind = CODEC_MARK_FORK;
	service_mark(s, kind, p->inner_pid, p->program);
}

/* The pid may be that of another process by now. */
static uint64_t enter_root(
    struct service *s, const struct engine_process *p, const struct segfile *f)
{
	uint64_t view = p->pid > 0 ? kept_roots_enter(&s->roots, p->pid) : 0;
	pid_t pid;

	if (view == 0 ||
	    (proc_check(&p->header, segfile_source(f), &pid) == PROC_YES && pid == p->pid))
		return view;
	kept_roots_leave(&s->roots, view);
	return 0;
}

/* Once for each service, because all its processes have the same settings. */
static void say_place(const struct watch *w, struct service *s, const struct engine_process *p)
{
	char words[REFUSED_DIRECTORY_BYTES], text[2 * REFUSED_DIRECTORY_BYTES];
	char name[2 * LIVE_NAME];

	if (s->is_place_said || !refused_directory(&p->header, words, sizeof(words)))
		return;
	s->is_place_said = true;
	(void)text_escape(text, sizeof(text), words);
	(void)text_escape(name, sizeof(name), p->program);
	watch_say(w, "%s (pid %d): not in SEEP_DIR: %s", name,
	    (int)(p->pid ? p->pid : p->inner_pid), text);
}

static void drop_watched(struct watch *w, struct watched *x)
{
	watch_births_ended(w, x);
	x->service->living--;
	kept_roots_leave(&x->service->roots, x->view);
	service_process_release(&x->line);
}

struct merge {
	struct watched *next;
	size_t count, room;
	struct ended *ended;
	size_t ended_count, ended_room;
	bool has_new_file;
};

static int add_ended(
    struct merge *m, const struct engine_process *p, struct service *s, uint64_t view)
{
	int err = room_make(&m->ended, &m->ended_room, m->ended_count, sizeof(*m->ended));

	if (err == 0)
		m->ended[m->ended_count++] =
		    (struct ended){.number = p->number, .service = s, .view = view};
	return err;
}

/* One process of the engine; `old` is what we have of it, or NULL. */
static int merge_one(
    struct watch *w, struct merge *m, const struct engine_process *p, struct watched *old)
{
	struct watched x = old ? *old : (struct watched){.number = p->number};
	const struct segfile *f;
	int slot, err;

	f = engine_segfile(w->live, p, &slot);
	if (!f) {
		if (old)
			drop_watched(w, old);
		return 0;
	}
	if (!old) {
		x.service = watch_service_of(w, p);
		if (!x.service)
			return -ENOMEM;
		say_place(w, x.service, p);
	}
	if (p->state == LIVE_ENDED) {
		if (old) {
			/* all rows once more, if it was followed at all */
			if (x.line.tail)
				(void)service_look(x.service, &x.line, f, slot, true);
			drop_watched(w, &x);
			memset(&old->line, 0, sizeof(old->line));
			old->births = x.births;
		}
		return add_ended(m, p, x.service, x.view);
	}
	err = add_seat(w, f, slot);
	if (err == 0 && !old) {
		m->has_new_file |= slot == SEGFILE_OWN;
		x.service->living++;
		x.view = enter_root(x.service, p, f);
		(void)service_open(x.service);
		mark_arrival(x.service, p, slot);
	}
	if (err == 0)
		err = room_make(&m->next, &m->room, m->count, sizeof(x));
	if (err < 0 || !m->next)
		return -ENOMEM;
	m->next[m->count++] = x;
	return 0;
}

int watch_processes(struct watch *w)
{
	struct merge m = {0};
	size_t at = 0;
	int err = 0;

	clear_seats(w);
	for (size_t i = 0; i < engine_count(w->live) && err == 0; i++) {
		struct engine_process *p = engine_at(w->live, i);
		struct watched *old = NULL;

		for (; at < w->watched_count && w->watched[at].number < p->number; at++)
			drop_watched(w, &w->watched[at]); /* forgotten */
		if (at < w->watched_count && w->watched[at].number == p->number)
			old = &w->watched[at++];
		err = merge_one(w, &m, p, old);
	}
	for (; at < w->watched_count; at++)
		drop_watched(w, &w->watched[at]);
	free(w->watched);
	w->watched = m.next;
	w->watched_count = m.count;
	w->watched_room = m.room;
	/* before anything of them is written: the next watch must agree */
	if (w->is_kin_new)
		(void)watch_kin_save(w);
	w->is_kin_new = false;
	if (err == 0 && m.ended_count > 0) {
		err = write_all_ended(w, m.ended, m.ended_count);
		w->next_gather_ns = 0; /* what they had is given back now */
	}
	/* gather.h looks at the room of files that it has met */
	if (m.has_new_file)
		watch_hasten_gather(w);
	free(m.ended);
	return err;
}

void watch_processes_release(struct watch *w)
{
	for (size_t i = 0; i < w->watched_count; i++)
		service_process_release(&w->watched[i].line);
	free(w->watched);
	free(w->seats);
	dict_release(&w->seat_index);
}

struct engine_process *watch_process_of(const struct watch *w, uint64_t number, size_t *at)
{
	while (*at < engine_count(w->live)) {
		struct engine_process *p = engine_at(w->live, *at);

		if (p->number == number)
			return p;
		if (p->number > number)
			return NULL;
		(*at)++;
	}
	return NULL;
}

/* Calls for those of one service. */
static int look_at_service(struct watch *w, struct service *s, bool rows)
{
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < w->watched_count && err == 0; i++) {
		struct watched *x = &w->watched[i];
		struct engine_process *p;
		const struct segfile *f;
		int slot;

		if (x->service != s)
			continue;
		p = watch_process_of(w, x->number, &at);
		f = p ? engine_segfile(w->live, p, &slot) : NULL;
		if (f)
			err = service_look(s, &x->line, f, slot, rows);
	}
	return err;
}

int watch_look(struct watch *w)
{
	for (size_t i = 0; i < w->service_count; i++) {
		struct service *s = w->services[i];
		bool rows;
		int err;

		if (s->living == 0 || !service_look_due(s, &rows))
			continue;
		err = look_at_service(w, s, rows);
		if (err < 0)
			return err;
		service_looked(s);
	}
	return 0;
}

int watch_rules(struct watch *w)
{
	uint64_t now = history_pace_monotonic_ns();
	size_t at = 0;
	int err = 0;

	for (size_t i = 0; i < w->watched_count && err == 0; i++) {
		struct watched *x = &w->watched[i];
		struct engine_process *p = watch_process_of(w, x->number, &at);
		const struct segfile *f;
		int slot;

		f = p ? engine_segfile(w->live, p, &slot) : NULL;
		if (f)
			err = alarm_look(w->alarm, p, f, slot, x->service, now);
	}
	alarm_looked(w->alarm);
	return err;
}

/* The state of all that run in it: a chapter is complete in itself. */
static int write_running(struct watch *w, struct service *s)
{
	size_t at = 0;

	for (size_t i = 0; i < w->watched_count; i++) {
		struct recording_segment end = {
		    .end_kind = RECORDING_END_RUNNING, .exit_status = -1};
		struct watched *x = &w->watched[i];
		struct engine_process *p;
		const struct segfile *f;
		int slot, answer;

		if (x->service != s)
			continue;
		p = watch_process_of(w, x->number, &at);
		f = p ? engine_segfile(w->live, p, &slot) : NULL;
		if (!f || p->header.state == SEG_INERT)
			continue;
		answer = service_add(s, f, slot, &end, p->pid, x->view);
		if (answer < 0)
			return answer;
	}
	watch_births_turn(w, s);
	return 0;
}

void watch_turn(struct watch *w, struct service *s, bool is_last)
{
	bool is_apart = w->child_count < WATCH_CHILDREN && !w->plan->once;
	pid_t child = 0;

	if (!s->chapter)
		return;
	if (s->err == 0 && look_at_service(w, s, true) == 0 && s->err == 0 &&
	    write_running(w, s) == 0 && s->err == 0)
		(void)service_finish(s, !is_apart, &child);
	if (child > 0)
		w->children[w->child_count++] = child;
	store_thin(&w->store, s->folder, watch_age_now(w), 0);
	if (!is_last && s->err == 0 && s->living > 0)
		(void)service_open(s);
}

/* ---- gather ---- */

static int write_dead(void *context, struct gather_row *row)
{
	struct watch *w = context;
	struct recording_segment end = {.exit_status = -1};
	struct service *s;

	if (w->plan->pids)
		return -EAGAIN; /* nobody else is asked for */
	s = watch_service_of_dead(w, row);
	if (!s)
		return -ENOMEM;
	if (row->has_called_exec)
		end.end_kind = RECORDING_END_EXEC;
	else if (row->header.end_kind == SEG_END_EXITED)
		end.end_kind = RECORDING_END_EXITED;
	row->context = s;
	return service_add(s, row->file, row->slot, &end, 0, 0);
}

static bool is_safe(void *context, const struct gather_row *row)
{
	const struct service *s = row->context;

	(void)context;
	return s && s->err == 0 && !s->is_dirty;
}

static void offer(void *context, const struct live_key *keys, size_t count)
{
	const struct watch *w = context;

	for (size_t i = 0; i < w->plan->guest_count; i++) {
		const struct guest *g = &w->plan->guests[i];

		if (g->offer)
			g->offer(g->context, keys, count);
	}
}

static bool has_read(void *context)
{
	const struct watch *w = context;

	for (size_t i = 0; i < w->plan->guest_count; i++) {
		const struct guest *g = &w->plan->guests[i];

		if (g->has_read && !g->has_read(g->context))
			return false;
	}
	return true;
}

static bool has_readers(const struct watch *w)
{
	for (size_t i = 0; i < w->plan->guest_count; i++)
		if (w->plan->guests[i].offer)
			return true;
	return false;
}

struct gather_hooks watch_gather_hooks(struct watch *w)
{
	return (struct gather_hooks){.context = w,
	    .offer = has_readers(w) ? offer : NULL,
	    .has_read = has_read,
	    .runs = runs,
	    .write = write_dead,
	    .sync = sync_services,
	    .is_safe = is_safe};
}
