/* follow.c - the process tree while it runs: when to look, and at whom. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/follow.h"

#include "attach/program/inspect.h"
#include "follow/recorder/follow_parts.h"
#include "follow/recorder/leaks.h"
#include "follow/recorder/quota.h"
#include "kit/os/clock.h"
#include "recording/file/meta.h"
#include "recording/parts/aging.h"
#include "segments/find/procs.h"
#include "segments/read/segfile.h"

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

enum {
	FLUSH_BYTES = 1 << 20,
	FLUSH_MS = 1000,      /* what a kill of ours may cost the time line */
	LOAD = 80,            /* rest so many times as long as a look took */
	FAMILY_MS = 2000,     /* between checks for ended processes */
	FAMILY_FAST_MS = 200, /* the same, when slots run out */
	FAMILY_LOAD = 200,
	SLOTS_MANY = SEG_SLOTS / 4,
	SUSPECTS_MAX = 10000,
	FILES_MANY = 200,   /* of processes, most of which have ended */
	SLOTS_MS = 1000,    /* between looks at how many are taken */
	UNTRACED_MS = 1000, /* after this time a collector has started */
};

uint64_t follow_interval(uint64_t elapsed_ns)
{
	if (elapsed_ns < 100 * S)
		return 100 * MS;
	return elapsed_ns < 3600 * S ? S : 10 * S;
}

uint64_t follow_allowance(uint64_t elapsed_ns, uint64_t sites)
{
	return (4 << 20) + elapsed_ns / MS * (3072 + sites / 10) / 1000;
}

/* ---- files and segments ---- */

void follow_mark(struct follow *f, enum codec_mark kind, pid_t pid, const char *label)
{
	timeline_writer_time(&f->timeline, f->now_ns);
	timeline_writer_mark(&f->timeline, kind, pid, label);
}

int follow_flush(struct follow *f)
{
	int err;

	if (!quota_timeline(f->plan.collect->quota, f->plan.writer))
		timeline_writer_drop(&f->timeline);
	err = timeline_writer_flush(&f->timeline);
	f->last_flush_ns = f->now_ns;
	/* From here on there are frames to be named; tried again at the end. */
	if (err == 0 && f->numbers > 0)
		(void)recording_publish(f->plan.writer);
	return err;
}

/* ---- ended and untraced processes ---- */

static void after_merge(
    void *context, const uint8_t uuid[16], pid_t pid, const struct recording_segment *end)
{
	(void)uuid;
	if (end->end_kind != RECORDING_END_EXEC)
		follow_mark(context, CODEC_MARK_EXIT, pid, "");
}

static struct follow_suspect *suspect_of(struct follow *f, const struct procs_process *p)
{
	struct follow_suspect *more;

	for (size_t i = 0; i < f->suspect_count; i++)
		if (f->suspects[i].pid == p->pid &&
		    f->suspects[i].start_jiffies == p->start_jiffies)
			return &f->suspects[i];
	if (f->suspect_count >= SUSPECTS_MAX) {
		f->untold++;
		return NULL;
	}
	more = reallocarray(f->suspects, f->suspect_count + 1, sizeof(*more));
	if (!more)
		return NULL;
	f->suspects = more;
	more += f->suspect_count++;
	*more = (struct follow_suspect){
	    .pid = p->pid, .start_jiffies = p->start_jiffies, .first_ns = f->now_ns};
	return more;
}

/* Seen twice without the collector, some time apart: it will not come. */
static void note_untraced(void *context, const struct procs_process *p, bool traced)
{
	struct follow *f = context;
	struct follow_suspect *s;
	struct inspect in;

	if (traced || p->pid == f->plan.child.pid || f->plan.child.alone)
		return;
	s = suspect_of(f, p);
	if (s)
		s->seen = f->families;
	if (!s || s->reported || f->now_ns - s->first_ns < UNTRACED_MS * MS)
		return;
	s->reported = true;
	inspect_pid(p->pid, &in);
	(void)meta_write_untraced(f->plan.writer, p->pid, in.program,
	    in.kind != INSPECT_FINE ? in.message : META_NO_REASON);
}

/* Who has ended is not asked about any more; its pid may become another's. */
static void forget_ended_suspects(struct follow *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->suspect_count; i++) {
		const struct follow_suspect *s = &f->suspects[i];

		if (s->seen == f->families || procs_start_jiffies(s->pid) == s->start_jiffies)
			f->suspects[kept++] = *s;
	}
	f->suspect_count = kept;
}

bool follow_is_empty(const struct follow *f)
{
	return !f->found_any;
}

bool follow_told(const struct follow *f, pid_t pid, uint64_t start_jiffies)
{
	for (size_t i = 0; i < f->suspect_count; i++)
		if (f->suspects[i].pid == pid && f->suspects[i].start_jiffies == start_jiffies)
			return f->suspects[i].reported;
	return false;
}

/* Costs more than a look at the figures, so it comes less often. */
static int look_at_family(struct follow *f)
{
	const struct collect_hooks hooks = {
	    .context = f, .before = follow_files_last_look, .after = after_merge};
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t rest_ns;
	int err;

	err = collect_find(
	    f->plan.collect, f->plan.segment_dir, &f->plan.child, f->plan.since_jiffies);
	if (err == 0)
		err = collect_merge(f->plan.collect, f->plan.writer, &hooks);
	f->untold = 0;
	f->families++;
	if (err == 0) {
		collect_each_running(f->plan.collect, note_untraced, f);
		forget_ended_suspects(f);
	}
	quota_at_once(&f->plan.collect->quota->refused[QUOTA_UNTOLD], f->untold);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	rest_ns = cpu_ns * FAMILY_LOAD;
	if (rest_ns < FAMILY_MS * MS)
		rest_ns = FAMILY_MS * MS;
	f->last_family_ns = clock_ns(CLOCK_MONOTONIC);
	f->next_family_ns = f->last_family_ns + rest_ns;
	return err;
}

/*
 * A program that forks often must not use up all slots, or the number of files
 * of a directory, before the next check.
 */
static bool family_is_due(const struct follow *f)
{
	if (f->slots_taken >= SLOTS_MANY || f->present >= FILES_MANY)
		return f->now_ns >= f->last_family_ns + FAMILY_FAST_MS * MS;
	return f->now_ns >= f->next_family_ns;
}

/* ---- looks ---- */

/*
 * Rows of sites are expensive, so they are not written at every look; totals
 * are.
 */
static bool rows_are_due(const struct follow *f)
{
	return f->timeline.written_bytes < follow_allowance(f->now_ns - f->plan.start_ns, f->sites);
}

/* Between looks that are far apart: have the slots filled up? */
static int look_at_slots(struct follow *f)
{
	int err = 0;

	if (f->now_ns < f->next_slots_ns || !f->has_children)
		return 0;
	f->next_slots_ns = f->now_ns + SLOTS_MS * MS;
	err = follow_files_count_slots(f);
	if (err == 0 && f->slots_taken >= SLOTS_MANY)
		err = look_at_family(f);
	return err;
}

int follow_look(struct follow *f)
{
	uint64_t interval = f->plan.interval_ns, cpu_ns, rest_ns;
	int err;

	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	if (f->plan.collect->drain) {
		err = drain_look(f->plan.collect->drain, f->plan.writer);
		if (err < 0)
			return err;
	}
	if (f->now_ns < f->next_look_ns)
		return look_at_slots(f);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	err = follow_files_look(f, rows_are_due(f), false);
	if (err == 0 &&
	    (f->timeline.out.len > FLUSH_BYTES || f->now_ns - f->last_flush_ns >= FLUSH_MS * MS))
		err = follow_flush(f);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	if (err == 0)
		follow_births_step(f);
	if (err == 0 && family_is_due(f))
		err = look_at_family(f);
	if (!interval)
		interval = follow_interval(
		    f->now_ns - (f->plan.run_ns ? f->plan.run_ns : f->plan.start_ns));
	rest_ns = cpu_ns * LOAD;
	/* what a first meeting cost, of other runs' files, too, is paid once */
	if (f->learned > 0 && rest_ns > 2 * interval)
		rest_ns = 2 * interval;
	f->next_look_ns += interval;
	if (f->next_look_ns < f->now_ns + rest_ns)
		f->next_look_ns = f->now_ns + rest_ns;
	if (f->next_look_ns <= f->now_ns)
		f->next_look_ns = f->now_ns + interval;
	f->next_slots_ns = f->now_ns + SLOTS_MS * MS;
	return err;
}

int follow_wait_ms(const struct follow *f)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	uint64_t next = f->next_look_ns;

	if (f->has_children && f->next_slots_ns < next)
		next = f->next_slots_ns;
	if (f->plan.collect->drain && now < next) {
		int ms = drain_wait_ms(f->plan.collect->drain);

		if (now + (uint64_t)ms * MS < next)
			return ms;
	}
	return now >= next ? 0 : (int)((next - now) / MS) + 1;
}

int follow_turn(struct follow *f)
{
	int err;

	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	timeline_writer_time(&f->timeline, f->now_ns);
	err = look_at_family(f);
	if (err == 0)
		err = follow_files_look(f, true, false);
	return err < 0 ? err : follow_flush(f);
}

int follow_finish(struct follow *f)
{
	int err;

	f->now_ns = clock_ns(CLOCK_MONOTONIC);
	timeline_writer_time(&f->timeline, f->now_ns);
	follow_mark(f, CODEC_MARK_END, f->plan.child.pid, "");
	err = follow_files_look(f, true, true);
	return err < 0 ? err : follow_flush(f);
}

int follow_new(const struct follow_plan *plan, struct follow **ret)
{
	struct follow *f = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->plan = *plan;
	f->births.look.fd = -1;
	f->timeline.writer = plan->writer;
	f->timeline.start_ns = plan->start_ns;
	f->next_look_ns = plan->start_ns +
	    (plan->interval_ns && plan->interval_ns < 100 * MS ? plan->interval_ns : 100 * MS);
	f->next_family_ns = plan->start_ns + UNTRACED_MS * MS;
	timeline_writer_time(&f->timeline, plan->start_ns);
	if (plan->run_ns)
		f->next_look_ns = plan->start_ns;
	else
		follow_mark(f, CODEC_MARK_START, plan->child.pid, "");
	*ret = f;
	return 0;
}

void follow_free(struct follow *f)
{
	if (!f)
		return;
	follow_births_release(f);
	follow_files_release(f);
	timeline_writer_release(&f->timeline);
	free(f->suspects);
	free(f);
}

/* ---- follow_births: ages and births of live blocks, read while the tree runs ---- */

enum { LEVEL = 3 }; /* of compression */

/* A result of an earlier process of this chapter is of no use in the next. */
static void keep(struct follow *f)
{
	const struct leaks_look *k = &f->births.look;
	struct aging b;

	/* untrusted: the child has read hostile memory */
	if (aging_decode(k->bytes, k->len, &b) < 0)
		return;
	aging_release(&b);
	if (!quota_verdicts(f->plan.collect->quota, k->len, f->plan.writer))
		return;
	/* an error sticks in the writer */
	(void)recording_append_packed(f->plan.writer, RECORDING_AGING, f->births.uuid,
	    sizeof(f->births.uuid), k->bytes, k->len, LEVEL);
}

static void finish(struct follow *f)
{
	int err = leaks_look_poll(&f->births.look);

	if (err == 0)
		return;
	if (err == 1)
		keep(f);
	f->births.rest_until_ns = aging_pace_rest(f->now_ns, f->births.look.cpu_ns);
	leaks_look_release(&f->births.look);
}

static void start(struct follow *f, const struct follow_file *file, struct follow_watch *w)
{
	uint64_t start_ns;
	int err = leaks_look_start_at(
	    &f->births.look, file->dir, file->name, w->slot, w->uuid, LEAKS_LOOK_BIRTHS, &start_ns);

	memcpy(f->births.uuid, w->uuid, sizeof(f->births.uuid));
	w->births_ns = err == 0 || start_ns > 0 ? aging_pace_next(f->now_ns, start_ns)
	                                        : aging_pace_first(f->now_ns);
}

/* The one that waits longest. */
static void start_next(struct follow *f)
{
	const struct follow_file *file = NULL;
	struct follow_watch *next = NULL;

	for (size_t i = 0; i < f->file_count; i++) {
		const struct follow_file *x = &f->files[i];

		if (!x->is_ours || x->is_gone)
			continue;
		for (size_t k = 0; k < x->watch_count; k++) {
			struct follow_watch *w = &x->watches[k];

			if (w->births_ns == 0)
				w->births_ns = aging_pace_first(f->now_ns);
			if (w->births_ns > f->now_ns || (next && next->births_ns <= w->births_ns))
				continue;
			next = w;
			file = x;
		}
	}
	if (next)
		start(f, file, next);
}

void follow_births_step(struct follow *f)
{
	if (f->births.look.worker > 0)
		finish(f);
	if (f->births.look.worker == 0 && f->now_ns >= f->births.rest_until_ns)
		start_next(f);
}

void follow_births_release(struct follow *f)
{
	leaks_look_release(&f->births.look);
}
