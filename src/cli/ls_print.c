/* ls_print.c - prints one process as lines of seep ls. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ls_print.h"

#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "reader/losses.h"
#include "reader/place_words.h"
#include "report/words.h"
#include "util/clock.h"
#include "util/text.h"

static void
print_command(const struct seg_header *h)
{
	const char *p = h->command, *end = p + sizeof(h->command);
	size_t room = 60;

	if (*p == '\0')
		p = h->exe;
	while (p < end && *p && room > 0) {
		char word[64];

		(void)snprintf(word, sizeof(word), "%.*s", (int)room, p);
		text_print(stdout, word);
		room -= strlen(word);
		p += strnlen(p, (size_t)(end - p)) + 1;
		if (p >= end || *p == '\0' || h->command[0] == '\0')
			return;
		if (room > 0)
			(void)putchar(' ');
	}
	(void)fputs("...", stdout);
}

/* Number, label or reason, by which a user recognises it. */
static void
print_snapshot(const struct seg_header *h)
{
	if (h->snapshot_number > 0)
		(void)printf("#%u ", h->snapshot_number);
	text_print(stdout,
	    h->snapshot_label[0] ? h->snapshot_label
	                         : words_snapshot(h->snapshot_reason));
	(void)fputs(": ", stdout);
}

static void
print_inert(const struct seg_header *h)
{
	(void)printf("%8s  not traced: ", "");
	if (h->inert_reason == SEG_INERT_PLACE)
		(void)printf(
		    "the directory for its segment belongs to uid %u\n",
		    h->place_owner);
	else
		(void)printf("%s\n", losses_inert(h->inert_reason));
}

/* The directory that was asked for. */
static void
print_place(const struct seg_header *h)
{
	char text[PLACE_WORDS_BYTES];

	if (!place_words(h, text, sizeof(text)))
		return;
	(void)printf("%8s  not in %s: ", "", place_words_setting(h));
	text_print(stdout, text);
	(void)putchar('\n');
}

/* The number of snapshots that are not listed. */
static void
print_thinned(const struct process *p)
{
	uint64_t gone = p->header.counts[SEG_SNAPSHOTS_THINNED];
	char text[WORDS_COUNTED];

	if (gone > 0 && !p->is_snapshot)
		(void)printf("%8s  %s removed again between the first and the "
		             "newest\n",
		    "", words_counted(text, gone, "snapshot"));
}

/* The owner, if that is not us. */
static void
print_owner(uid_t uid)
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

void
ls_print_head(void)
{
	(void)printf("%8s  %-12s %14s %14s %12s %10s  %s\n", "PID", "STATE",
	    "LIVE", "PEAK", "AGE", "SIZE", "COMMAND");
}

void
ls_print_process(const struct ls_row *r)
{
	const struct process *p = r->process;
	char live[WORDS_MAX], peak[WORDS_MAX], age[WORDS_MAX], kb[WORDS_MAX];
	uint64_t since_ns = p->is_snapshot ? p->header.snapshot_realtime_ns
	                                   : p->header.start_realtime_ns;
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);

	(void)printf("%8u  %-12s %14s %14s %12s %10s  ", ls_row_pid(p),
	    ls_row_state(p), words_count(live, p->totals.live_bytes),
	    words_count(peak, p->totals.peak_bytes),
	    words_time(age, now_ns > since_ns ? now_ns - since_ns : 0),
	    words_bytes(kb, r->stored_bytes));
	if (ls_row_pid(p) != p->header.pid && p->header.pid != 0)
		(void)printf("(pid %u inside) ", p->header.pid);
	if (p->is_snapshot)
		print_snapshot(&p->header);
	print_command(&p->header);
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
