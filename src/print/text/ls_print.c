/* ls_print.c - prints one process as lines of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/ls_print.h"

#include "base/std.h"
#include <pwd.h>

#include "segments/read/losses.h"
#include "print/text/layout.h"
#include "view/sites/enum_words.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

enum {
	WIDE_MIN = 100,   /* columns for all figures, and 24 of the command */
	COMMAND_MAX = 60, /* columns */
	COMMAND_MIN = 12,
	ELLIPSIS = 3,
};

/* After so many columns of the line. */
static size_t room_for_command(unsigned columns, size_t used)
{
	size_t left = columns > used ? columns - used : 0;

	if (columns == 0 || left >= COMMAND_MAX + ELLIPSIS)
		return COMMAND_MAX;
	return left >= COMMAND_MIN + ELLIPSIS ? left - ELLIPSIS : COMMAND_MIN;
}

/* The name of the program, without the folders that it is in. */
static const char *base_of(const char *p, const char *end)
{
	const char *base = p;

	for (; p + 1 < end && *p; p++)
		if (*p == '/' && p[1])
			base = p + 1;
	return base;
}

static void print_command(const struct seg_header *h, size_t room)
{
	const char *p = h->command, *end = p + sizeof(h->command);
	const bool is_cut = room < COMMAND_MAX;

	if (*p == '\0') {
		p = h->exe;
		end = p + sizeof(h->exe);
	}
	if (is_cut)
		p = base_of(p, end);
	while (p < end && *p && room > 0) {
		char word[64];

		(void)snprintf(word, sizeof(word), "%.*s", (int)room, p);
		text_print(stdout, word);
		room -= strlen(word);
		if (strnlen(p, (size_t)(end - p)) > strlen(word))
			break;
		p += strnlen(p, (size_t)(end - p)) + 1;
		if (p >= end || *p == '\0' || h->command[0] == '\0')
			return;
		if (room > 0)
			(void)putchar(' ');
		if (is_cut && room > 0)
			room--;
	}
	(void)fputs("...", stdout);
}

/*
 * Number, label or reason, by which a user recognises it. The columns that it
 * takes.
 */
static size_t print_snapshot(const struct seg_header *h)
{
	const char *text =
	    h->snapshot_label[0] ? h->snapshot_label : enum_words_snapshot(h->snapshot_reason);
	size_t used = layout_columns(text) + 2;

	if (h->snapshot_number > 0)
		used += (size_t)printf("#%u ", h->snapshot_number);
	text_print(stdout, text);
	(void)fputs(": ", stdout);
	return used;
}

static void print_inert(const struct seg_header *h)
{
	(void)printf("%8s  not traced: ", "");
	if (h->inert_reason == SEG_INERT_PLACE)
		(void)printf("the directory for its segment belongs to uid %u\n", h->place_owner);
	else
		(void)printf("%s\n", losses_inert(h->inert_reason));
}

/* The directory that was asked for. */
static void print_place(const struct seg_header *h)
{
	char text[REFUSED_DIRECTORY_BYTES];

	if (!refused_directory(h, text, sizeof(text)))
		return;
	(void)printf("%8s  not in %s: ", "", refused_directory_setting(h));
	text_print(stdout, text);
	(void)putchar('\n');
}

/* The number of snapshots that are not listed. */
static void print_thinned(const struct process *p)
{
	uint64_t gone = p->header.counts[SEG_SNAPSHOTS_THINNED];

	if (gone > 0 && !p->is_snapshot)
		(void)printf("%8s  %s removed again between the first and the "
		             "newest\n",
		    "", WORDS_COUNTED(gone, "snapshot"));
}

/* The owner, if that is not us. */
static void print_owner(uid_t uid)
{
	const struct passwd *who;

	if (uid == geteuid())
		return;
	who = getpwuid(uid);
	(void)fputs("user ", stdout);
	if (who)
		text_print(stdout, who->pw_name);
	else
		(void)printf("%u", (unsigned)uid);
	(void)fputs(": ", stdout);
}

static bool is_narrow(unsigned columns)
{
	return columns > 0 && columns < WIDE_MIN;
}

void ls_print_head(unsigned columns)
{
	if (is_narrow(columns))
		(void)printf("%8s  %-9s %10s %10s %11s  %s\n", "PID", "STATE", "LIVE", "PEAK",
		    "AGE", "COMMAND");
	else
		(void)printf("%8s  %-12s %14s %14s %12s %10s  %s\n", "PID", "STATE", "LIVE", "PEAK",
		    "AGE", "SIZE", "COMMAND");
}

/* The columns that they take. */
static size_t print_figures(const struct ls_row *r, bool narrow)
{
	const struct process *p = r->process;
	char age[WORDS_MAX];
	uint64_t since_ns =
	    p->is_snapshot ? p->header.snapshot_realtime_ns : p->header.start_realtime_ns;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	words_time(age, now_ns > since_ns ? now_ns - since_ns : 0);
	if (narrow)
		return (size_t)printf("%8u  %-9s %10s %10s %11s  ", ls_row_pid(p), ls_row_state(p),
		    WORDS_BYTES(p->totals.live_bytes), WORDS_BYTES(p->totals.peak_bytes), age);
	return (size_t)printf("%8u  %-12s %14s %14s %12s %10s  ", ls_row_pid(p), ls_row_state(p),
	    WORDS_COUNT(p->totals.live_bytes), WORDS_COUNT(p->totals.peak_bytes), age,
	    WORDS_BYTES(r->stored_bytes));
}

void ls_print_process(const struct ls_row *r, unsigned columns)
{
	const struct process *p = r->process;
	size_t used = print_figures(r, is_narrow(columns));

	if (ls_row_pid(p) != p->header.pid && p->header.pid != 0)
		used += (size_t)printf("(pid %u inside) ", p->header.pid);
	if (p->is_snapshot)
		used += print_snapshot(&p->header);
	print_command(&p->header, room_for_command(columns, used));
	(void)putchar('\n');
	if (p->header.state == SEG_INERT)
		print_inert(&p->header);
	print_place(&p->header);
	if (p->is_out_of_memory)
		(void)printf("%8s  killed: out of memory\n", "");
	print_thinned(p);
	(void)printf("%8s  ", "");
	print_owner(r->owner);
	text_print(stdout, r->folder);
	if (r->folder[0])
		(void)putchar('/');
	text_print(stdout, r->name);
	(void)putchar('\n');
}
