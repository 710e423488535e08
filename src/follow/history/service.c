/* service.c - one service of a history, and the chapter that it writes. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/history/service.h"

#include "session/process/family.h"
#include "recording/file/meta.h"
#include "follow/recorder/tail.h"
#include "kit/os/helper.h"

#ifndef SEEP_VERSION
#define SEEP_VERSION "0.1"
#endif

#define S UINT64_C(1000000000)

enum {
	LEVEL = 3, /* of compression */
	FLUSH_BYTES = 1 << 20,
	FLUSH_S = 30, /* what a kill of ours may cost the time line */
	CHAPTER_S = 86400,
	NAMES_S = 30,
	AGING_PART = 10, /* of a chapter */
};

void service_init(struct service *s)
{
	s->pace.day_bytes =
	    history_pace_day_bytes(s->store->plan.size_bytes, s->store->plan.keep_ns);
}

/* What belongs to the chapter; the file stays. */
static void forget_chapter(struct service *s)
{
	chapter_discard(s->chapter);
	s->chapter = NULL;
	embed_free(s->embed);
	s->embed = NULL;
	where_release(&s->where);
	kept_roots_drop(&s->roots);
	timeline_writer_release(&s->line);
	s->line = (struct timeline_writer){0};
	s->numbers = 0;
	s->segments = 0;
	s->aging_bytes = 0;
	s->is_dirty = false;
	s->serial++;
}

void service_release(struct service *s)
{
	forget_chapter(s);
	kept_roots_release(&s->roots);
}

static int fail(struct service *s, int err)
{
	if (s->err == 0)
		s->err_ns = history_pace_monotonic_ns();
	s->err = err;
	/* differences that were lost mean that the time line has ended */
	timeline_writer_drop(&s->line);
	s->serial++;
	return err;
}

static int write_about(struct service *s, bool ended)
{
	const struct meta about = {
	    .version = SEEP_VERSION,
	    .session = "",
	    .service = s->text,
	    .start_ns = history_pace_realtime_ns() - (history_pace_monotonic_ns() - s->begun_ns),
	    .start_monotonic_ns = s->begun_ns,
	    .chapter = chapter_number(s->chapter),
	    .turned = ended,
	    .end_ns = history_pace_realtime_ns(),
	    .follow = true,
	    .unplaced = s->where.unplaced,
	};

	return meta_write(&about, chapter_writer(s->chapter));
}

int service_open(struct service *s)
{
	struct names_options naming = *s->naming;
	char folder[PATH_MAX];
	int err;

	s->used_ns = history_pace_monotonic_ns();
	if (s->chapter)
		return s->err;
	err = store_folder(s->store, s->folder, folder);
	if (err == 0)
		err = chapter_begin(folder, history_pace_realtime_ns(), &s->chapter);
	if (err < 0)
		return fail(s, err);
	s->begun_ns = history_pace_monotonic_ns();
	s->flushed_ns = s->begun_ns;
	s->next_look_ns = s->begun_ns;
	s->pace.start_ns = s->begun_ns;
	s->pace.first_bytes = 0;
	s->pace.totals_bytes = 0;
	s->line.writer = chapter_writer(s->chapter);
	s->line.start_ns = s->begun_ns;
	s->serial++;
	naming.seconds = NAMES_S;
	if (!naming.no_symbols)
		(void)embed_new(&naming, &s->embed); /* else a report looks */
	err = store_share(s->store, recording_descriptor(chapter_writer(s->chapter)));
	if (err == 0)
		err = write_about(s, false);
	/* from here on a kill leaves a file that the next watch completes */
	if (err == 0)
		err = recording_publish(chapter_writer(s->chapter));
	if (err == 0)
		err = recording_sync(chapter_writer(s->chapter));
	if (err < 0) {
		forget_chapter(s);
		return fail(s, err);
	}
	s->err = 0;
	service_mark(s, CODEC_MARK_START, 0, s->text);
	return 0;
}

void service_mark(struct service *s, enum codec_mark kind, pid_t pid, const char *label)
{
	if (!s->chapter || s->err < 0)
		return;
	timeline_writer_time(&s->line, history_pace_monotonic_ns());
	timeline_writer_mark(&s->line, kind, pid, label);
}

/* ---- the time line ---- */

bool service_look_due(struct service *s, bool *ret_rows)
{
	uint64_t now = history_pace_monotonic_ns();

	if (!s->chapter || s->err < 0 || now < s->next_look_ns)
		return false;
	*ret_rows = history_pace_rows_due(&s->pace, now, s->line.written_bytes);
	if (!*ret_rows && !history_pace_totals_due(&s->pace, now)) {
		s->next_look_ns = now + history_pace_interval_ns(now - s->begun_ns);
		return false;
	}
	s->sites = 0;
	s->has_rows = *ret_rows;
	timeline_writer_time(&s->line, now);
	return true;
}

static int begin_tail(struct service *s, struct service_process *p)
{
	service_process_release(p);
	p->serial = s->serial;
	p->module_changes = 0;
	p->is_unreadable = false;
	return tail_new(++s->numbers, s->room, &p->tail);
}

int service_look(
    struct service *s, struct service_process *p, const struct segfile *f, int slot, bool rows)
{
	size_t before = s->line.out.len;
	struct seg_header h;
	int err = 0;

	if (!s->chapter || s->err < 0)
		return 0;
	if (p->serial != s->serial)
		err = begin_tail(s, p);
	if (err < 0 || p->is_unreadable)
		return err;
	/* the first look of a process is complete, whatever it costs */
	rows = rows || tail_sites(p->tail) == 0;
	err = tail_look(p->tail, f, slot, rows, &s->line.out, &h);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		s->line.out.len = before;
		service_process_release(p);
		p->is_unreadable = true; /* its last state will do */
		return 0;
	}
	s->sites += tail_sites(p->tail);
	if (!rows)
		s->pace.totals_bytes += s->line.out.len - before;
	if (p->module_changes == tail_module_changes(p->tail))
		return 0;
	p->module_changes = tail_module_changes(p->tail);
	return where_look(&s->where, p->tail, &h, segfile_source(f));
}

void service_process_release(struct service_process *p)
{
	tail_free(p->tail);
	p->tail = NULL;
}

static int flush(struct service *s)
{
	int err = timeline_writer_flush(&s->line);

	s->flushed_ns = history_pace_monotonic_ns();
	recording_rest(chapter_writer(s->chapter));
	if (s->pace.first_bytes == 0)
		s->pace.first_bytes = s->line.written_bytes;
	return err < 0 ? fail(s, err) : 0;
}

void service_looked(struct service *s)
{
	uint64_t now = history_pace_monotonic_ns();

	s->next_look_ns = now + history_pace_interval_ns(now - s->begun_ns);
	if (s->line.out.len > FLUSH_BYTES || now - s->flushed_ns >= FLUSH_S * S ||
	    (s->pace.first_bytes == 0 && s->line.out.len > 0))
		(void)flush(s);
}

/* ---- states ---- */

/* Notes the names that it needs, and where it saw its files. */
static int gather_names(struct service *s, const struct segment *seg, struct recording_segment *end,
    pid_t pid, uint64_t view)
{
	struct process *p;
	int err;

	if (!s->embed)
		return 0;
	err = process_new(seg, &p);
	if (err < 0)
		return err == -ENOMEM ? err : 0;
	p->owner = end->owner;
	p->running_pid = pid;
	p->root = kept_roots_find(&s->roots, view);
	err = where_fill(&s->where, p);
	if (err == 0)
		err = relative_look(p);
	if (err == 0) {
		embed_add(s->embed, p);
		end->view = embed_view(s->embed, p);
	}
	process_free(p);
	return err;
}

int service_add(struct service *s, const struct segfile *f, int slot, struct recording_segment *end,
    pid_t pid, uint64_t view)
{
	struct segment *seg;
	void *bytes = NULL;
	size_t len = 0;
	int err;

	err = service_open(s);
	if (err < 0)
		return err;
	err = segfile_read(f, slot, &seg, NULL);
	if (err == -ENOMEM)
		return err;
	if (err < 0) {
		s->refused++;
		return 1;
	}
	end->owner = source_owner(segfile_source(f));
	err = gather_names(s, seg, end, pid, view);
	if (err == 0)
		err = segment_copy_compact(seg, &bytes, &len);
	segment_copy_free(seg);
	if (err < 0)
		return err;
	/* what others wrote may not push out all that we keep */
	if (len > RECORDING_ENTRY_MAX - sizeof(*end) ||
	    (f && segfile_source(f)->uid != geteuid() && len > s->store->plan.size_bytes)) {
		free(bytes);
		s->refused++;
		return 1;
	}
	err = recording_append_packed(
	    chapter_writer(s->chapter), RECORDING_SEGMENT, end, sizeof(*end), bytes, len, LEVEL);
	free(bytes);
	if (err < 0)
		return err == -ENOMEM ? err : fail(s, err);
	s->segments++;
	s->is_dirty = true;
	return 0;
}

int service_add_aging(
    struct service *s, const uint8_t uuid[16], const void *bytes, size_t len, bool is_last)
{
	struct recording_writer *w;
	uint64_t before;
	int err;

	if (!s->chapter || s->err < 0)
		return -EAGAIN;
	w = chapter_writer(s->chapter);
	before = recording_size(w);
	if (!is_last && s->aging_bytes > before / AGING_PART)
		return -EAGAIN;
	err = recording_append_packed(w, RECORDING_AGING, uuid, 16, bytes, len, LEVEL);
	if (err < 0)
		return err == -ENOMEM ? -EAGAIN : fail(s, err);
	s->aging_bytes += recording_size(w) - before;
	return 0;
}

int service_sync(struct service *s)
{
	int err;

	if (!s->chapter || !s->is_dirty)
		return s->err;
	if (s->err < 0)
		return s->err;
	err = recording_sync(chapter_writer(s->chapter));
	if (err < 0)
		return fail(s, err);
	s->is_dirty = false;
	return 0;
}

/* ---- its end ---- */

bool service_is_full(const struct service *s)
{
	if (!s->chapter)
		return false;
	return recording_size(chapter_writer(s->chapter)) >=
	    history_pace_chapter_bytes(s->store->plan.size_bytes) ||
	    history_pace_monotonic_ns() - s->begun_ns >= CHAPTER_S * S;
}

/* Names, the end, and the last name of the file. */
static int complete(struct service *s)
{
	struct recording_writer *w = chapter_writer(s->chapter);
	int err;

	if (s->embed)
		(void)embed_write(s->embed, w); /* without names if need be */
	err = recording_checkpoint(w);
	if (err == 0) {
		err = chapter_finish(s->chapter);
		s->chapter = NULL;
	}
	return err;
}

/* Nobody was in it: no chapter. */
static void drop_empty(struct service *s)
{
	char part[PATH_MAX + 16];

	(void)snprintf(part, sizeof(part), "%s.part", chapter_path(s->chapter));
	(void)unlink(part);
	forget_chapter(s);
}

/* The lock is the parent's, and ends with that; the chapter is completed even so. */
static int complete_apart(int none, void *service)
{
	struct service *s = service;

	(void)none;
	close(s->store->lock_fd);
	return complete(s) < 0;
}

int service_finish(struct service *s, bool wait, pid_t *ret_child)
{
	const struct helper_plan plan = {.run = complete_apart, .context = s};
	struct recording_writer *w = chapter_writer(s->chapter);
	int err;

	*ret_child = 0;
	if (s->segments == 0 && s->numbers == 0) {
		drop_empty(s);
		return 0;
	}
	service_mark(s, CODEC_MARK_END, 0, "");
	err = flush(s);
	if (err == 0)
		err = write_about(s, true);
	/* whole without its names, before anybody looks for these */
	if (err == 0)
		err = recording_checkpoint(w);
	if (err == 0)
		err = recording_sync(w);
	if (err < 0)
		return fail(s, err);
	if (wait || helper_start(&plan, ret_child, NULL) < 0)
		err = complete(s);
	forget_chapter(s);
	return err < 0 ? fail(s, err) : 0;
}

void service_retry(struct service *s)
{
	/* no way back: the next watch completes what is there */
	if (s->chapter && recording_recover(chapter_writer(s->chapter)) < 0)
		forget_chapter(s);
	s->err = 0;
}
