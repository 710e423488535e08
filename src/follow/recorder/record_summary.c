/* record_summary.c - prints what seep record has recorded, at its end. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/recorder/record_run.h"

#include "follow/recorder/follow.h"
#include "segments/find/segment_dir.h"
#include "findings/check_parts.h"
#include "findings/who.h"
#include "view/sites/enum_words.h"

void record_warn_refused(struct record_run *r)
{
	const char *why;
	size_t count;
	bool more;

	refused_report(&r->segment_dir, r->writer, &count, &more, &why);
	if (count == 0)
		return;
	r->say("%s%s not recorded: %s in %s (seep ls --prune)", WORDS_COUNTED(count, "program"),
	    more             ? " or more were"
	        : count == 1 ? " was"
	                     : " were",
	    why, r->segment_dir.path);
	refused_forget(&r->segment_dir);
}

void record_warn_cut(struct record_run *r)
{
	const struct quota *q = &r->quota;
	size_t unwatched = q->unwatched + q->unlisted;
	size_t unplaced = r->collect.where.unplaced;

	quota_write(q, r->writer);
	for (int i = 0; i < QUOTA_REASONS; i++)
		if (q->refused[i] > 0)
			r->say("%s %s not recorded: %s", WORDS_COUNTED(q->refused[i], "process"),
			    words_was(q->refused[i]), quota_words((enum quota_reason)i));
	if (unwatched > 0)
		r->say("%s %s no time line, because there is no memory to "
		       "watch more of them",
		    WORDS_COUNTED(unwatched, "process"), words_has(unwatched));
	if (unplaced > 0)
		r->say("%s with a relative path %s not looked for: functions "
		       "there may have no names",
		    WORDS_COUNTED(unplaced, "module"), words_was(unplaced));
	if (q->verdicts_left > 0)
		r->say("what %s found is not in the recording, because there "
		       "is no room for it (--max-size)",
		    WORDS_COUNTED(q->verdicts_left, "look"));
	if (q->timeline_cut)
		r->say("the time line ends before the command, because it has "
		       "reached half of --max-size");
}

/*
 * Live blocks as a report would show them: start-up remainders are counted
 * apart. If the recording cannot be read back, or has no names, all are in one
 * figure.
 */
static void say_live(const struct record_run *r)
{
	const struct collect *c = &r->collect;
	struct remainders left = {0};
	char a[WORDS_COUNTED_MAX], b[WORDS_MAX];
	uint64_t blocks = c->live_blocks, bytes = c->live_bytes;
	struct stat st;

	if (blocks > 0 && r->embed && stat(r->file, &st) == 0 && S_ISREG(st.st_mode) &&
	    remainders_count(r->file, &left) == 0 && left.blocks <= blocks && left.bytes <= bytes) {
		blocks -= left.blocks;
		bytes -= left.bytes;
	} else {
		left.sites = 0;
	}
	(void)words_counted(a, blocks, "block");
	(void)words_bytes(b, bytes);
	if (left.sites == 0)
		r->say("live at exit: %s, %s", a, b);
	else
		r->say("live at exit: %s, %s (without %s, %s)", a, b,
		    WORDS_COUNTED(left.sites, "start-up remainder"), WORDS_BYTES(left.bytes));
}

/* Blocks that nothing points to; seep report shows where they come from. */
static void say_lost(const struct record_run *r)
{
	const struct leaks_found *f = &r->found;
	char d[WORDS_COUNTED_MAX];

	(void)words_counted(d, f->judged, "process");
	if (f->judged == 0)
		r->say("lost: not known, no process could be looked at");
	else if (f->blocks == 0 && f->inheriting == 0)
		r->say("lost: nothing, in %s", d);
	else if (f->blocks == 0)
		r->say("lost: only blocks that forked processes have from "
		       "their parents, in %zu of %s",
		    f->inheriting, d);
	else
		r->say("lost: %s, %s, in %zu of %s%s", WORDS_COUNTED(f->blocks, "block"),
		    WORDS_BYTES(f->bytes), f->leaking, d,
		    f->inheriting == 0 ? ""
		                       : ", besides blocks that forked processes "
		                         "have from their parents");
}

static void say_log(const struct record_run *r)
{
	const struct drain_sums s = drain_sums(r->collect.drain);
	char why[LOG_LACK_BYTES];

	r->say("logged: %s, %s%s%s%s", WORDS_COUNTED(s.events, "event"), WORDS_BYTES(s.bytes),
	    s.lost ? ", lost " : "", s.lost ? WORDS_COUNTED(s.lost, "event") : "",
	    s.is_full ? "; the log ends there, because of its limit (--log=LIMIT)" : "");
	if (log_lack_words(&s.lack, why))
		r->say("no event log of %s: %s", WORDS_COUNTED(s.without, "process"), why);
}

/* Without --log: what became of SEEP_LOG of the environment. */
static void say_no_log(const struct record_run *r)
{
	const struct collect_logs *l = &r->collect.logs;
	const char *asked = getenv("SEEP_LOG");
	char why[LOG_LACK_BYTES];
	bool is_last = asked && strncmp(asked, "last", 4) == 0;

	if (l->without > 0 && log_lack_words(&l->lack, why))
		r->say("no %s of %s: %s",
		    is_last || r->options.last ? "flight recorder" : "event log",
		    WORDS_COUNTED(l->without, "process"), why);
	if (l->unread > 0)
		r->say("the event log of %s is not in the recording: seep "
		       "record --log keeps it",
		    WORDS_COUNTED(l->unread, "process"));
}

/* Settings that were not understood, but for one that was named above. */
static void say_ignored(const struct record_run *r)
{
	const struct collect *c = &r->collect;
	const struct drain_sums s = c->drain ? drain_sums(c->drain) : (struct drain_sums){0};
	const uint32_t lack = c->drain ? s.lack.log_lack : c->logs.lack.log_lack;
	uint64_t n = c->logs.ignored;

	if (lack == SEG_LOG_LACK_SETTING || lack == SEG_LOG_LACK_SAMPLE ||
	    lack == SEG_LOG_LACK_PRIVATE)
		n -= n > 0;
	if (n > 0)
		r->say("%s with a value that seep does not understand %s "
		       "ignored",
		    WORDS_COUNTED(n, "SEEP_ variable"), words_was(n));
}

/* How to get names of functions that were made at run time. */
static void say_outside(const struct record_run *r)
{
	size_t frames = r->embed && !r->maps ? embed_outside(r->embed) : 0;

	if (frames > 0)
		r->say("%s of code made at run time %s no name; "
		       "--runtime-names makes node, java and Python 3.12 or "
		       "later write names (an earlier Python cannot)",
		    WORDS_COUNTED(frames, "frame"), words_has(frames));
}

void record_summarise(const struct record_run *r)
{
	const struct collect *c = &r->collect;
	size_t processes = c->processes ? c->processes : 1;
	char programs[WORDS_COUNTED_MAX + 4] = "";

	if (c->programs != processes)
		snprintf(
		    programs, sizeof(programs), " (%s)", WORDS_COUNTED(c->programs, "program"));
	r->say("recorded %s%s: %s, %s", WORDS_COUNTED(processes, "process"), programs,
	    WORDS_COUNTED(c->allocations, "allocation"), WORDS_BYTES(c->allocated_bytes));
	say_live(r);
	if (r->options.leaks_ns)
		say_lost(r);
	if (c->programs == 1)
		r->say("peak: %s", WORDS_BYTES(c->peak_bytes));
	else
		r->say("peak: %s, in pid %d %s", WORDS_BYTES(c->peak_bytes), (int)c->peak_pid,
		    c->peak_name);
	if (c->drain)
		say_log(r);
	else
		say_no_log(r);
	say_ignored(r);
	if (r->options.sample_bytes)
		r->say("sampled: one block in about %s; all figures are "
		       "estimates",
		    WORDS_BYTES(r->options.sample_bytes));
	say_outside(r);
	if (r->options.last)
		r->say("next: seep dump --last %s, or seep report %s", r->file, r->file);
	else
		r->say("next: seep report %s", r->file);
}
