/* tally_text.c - what the runs of all allocators took, as a table. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "replay/trial.h"
#include "format/seg_log.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum { CELL = 48, COLUMNS = 7 };

static const char *const titles[COLUMNS] = {"allocator", "peak RSS, MiB", "over live",
    "final RSS, MiB", "CPU, s", "wall, s", "page faults"};

/* A median and its interval, in units. */
static void put_spread(
    char cell[CELL], const struct tally_row *r, enum tally_figure f, double unit, int digits)
{
	struct tally_spread s = tally_spread(r, f);

	(void)snprintf(cell, CELL, "%.*f  %.*f..%.*f", digits, (double)s.median / unit, digits,
	    (double)s.low / unit, digits, (double)s.high / unit);
}

static void fill(char cells[COLUMNS][CELL], const struct tally *t, const struct tally_row *r)
{
	const double mib = 1 << 20, second = 1e9;

	(void)text_escape(cells[0], CELL, r->allocator->name);
	put_spread(cells[1], r, TALLY_PEAK, mib, 2);
	(void)snprintf(cells[2], CELL, "-");
	if (t->facts.peak_bytes > 0)
		(void)snprintf(cells[2], CELL, "%.2f",
		    (double)tally_spread(r, TALLY_PEAK).median / (double)t->facts.peak_bytes);
	put_spread(cells[3], r, TALLY_FINAL, mib, 2);
	put_spread(cells[4], r, TALLY_CPU, second, 3);
	put_spread(cells[5], r, TALLY_WALL, second, 3);
	put_spread(cells[6], r, TALLY_FAULTS, 1, 0);
}

static void put_line(FILE *out, const char *const cells[COLUMNS], const int widths[COLUMNS])
{
	for (int k = 0; k < COLUMNS; k++)
		(void)fprintf(
		    out, "%s%-*s", k ? "   " : "", k + 1 < COLUMNS ? widths[k] : 0, cells[k]);
	(void)putc('\n', out);
}

static void put_rows(FILE *out, const struct tally *t)
{
	int widths[COLUMNS];

	for (int k = 0; k < COLUMNS; k++)
		widths[k] = (int)strlen(titles[k]);
	for (int turn = 0; turn < 2; turn++) {
		if (turn == 1)
			put_line(out, titles, widths);
		for (size_t i = 0; i < t->count; i++) {
			char cells[COLUMNS][CELL];
			const char *line[COLUMNS];

			if (t->rows[i].runs == 0)
				continue;
			fill(cells, t, &t->rows[i]);
			for (int k = 0; k < COLUMNS; k++) {
				int n = (int)strlen(cells[k]);

				widths[k] = n > widths[k] ? n : widths[k];
				line[k] = cells[k];
			}
			if (turn == 1)
				put_line(out, line, widths);
		}
	}
}

static void put_head(FILE *out, const struct tally *t)
{
	const struct compose_facts *f = &t->facts;

	(void)fputs("Replay of ", out);
	text_print(out, t->program ? t->program : "a process");
	(void)fprintf(out, " (pid %" PRIu32 "): %s of %s in %s; at most %s in %s live\n", t->pid,
	    WORDS_COUNTED(f->allocations + f->frees + f->reallocs, "event"),
	    WORDS_COUNTED(f->threads, "thread"), WORDS_TIME(f->ticks * LOG_TICK_NS),
	    WORDS_BYTES(f->peak_bytes), WORDS_COUNTED(f->peak_blocks, "block"));
	(void)fprintf(out,
	    "%s of each allocator, in turns, %s: the median, and the lowest "
	    "and highest\n\n",
	    WORDS_COUNTED(t->runs, "run"),
	    t->as_recorded ? "every event at its time" : "as fast as possible");
}

static void say(FILE *out, uint64_t n, const char *noun, const char *rest)
{
	if (n > 0)
		(void)fprintf(out, "  %s %s\n", WORDS_COUNTED(n, noun), rest);
}

/* What is not in the replay as it was in the program. */
static void put_remarks(FILE *out, const struct tally *t)
{
	const struct compose_facts *f = &t->facts;

	say(out, f->lost, "event", "of the program not in the log");
	say(out, f->unknown, "free", "of blocks whose allocation is not in the log: left out");
	say(out, f->inherited, "free", "of blocks of the parent process: left out");
	say(out, f->too_large, "allocation", "for which this machine has no memory: left out");
	say(out, f->alignments, "allocation",
	    "with an alignment that the log does not have: taken as 64 bytes");
	say(out, f->sharing, "thread",
	    "more than the replay has at once: shared the threads of others");
	if (t->processes > 1) {
		char text[WORDS_COUNTED_MAX];

		(void)fprintf(out, "  %s of the log not replayed: --pid selects another one\n",
		    words_counted(text, t->processes - 1, "process"));
	}
	for (size_t i = 0; i < t->count; i++) {
		const struct tally_row *r = &t->rows[i];

		if (r->failure[0]) {
			(void)fputs("  ", out);
			text_print(out, r->allocator->name);
			(void)fprintf(out, ": %s, after %s\n", r->failure,
			    WORDS_COUNTED(r->runs, "complete run"));
		} else if (r->refused > 0) {
			(void)fputs("  ", out);
			text_print(out, r->allocator->name);
			(void)fprintf(
			    out, ": refused %s\n", WORDS_COUNTED(r->refused, "allocation"));
		}
	}
}

void tally_text(FILE *out, const struct tally *t)
{
	put_head(out, t);
	put_rows(out, t);
	(void)putc('\n', out);
	put_remarks(out, t);
	(void)fputs("RSS is what the allocator adds to a process without a heap. "
	            "CPU, wall and page faults are of the replay, which\n"
	            "writes once to every page of a block. The log does not say "
	            "which pages the program used, what it wrote, what\n"
	            "it did between allocations, or what was in the caches.\n",
	    out);
}
