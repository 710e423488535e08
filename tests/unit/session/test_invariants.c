/* test_invariants.c - figures that cannot be are reported, unfinished ones are not. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "../lib/mkseg.h"
#include "session/load/session.h"

static const uint64_t frames[] = {MKSEG_FRAME(1, 0x1000)};

/* Takes m; the doubt of its process, for free(). */
static char *doubt_of(struct mkseg *m)
{
	struct session *s = mkseg_load(m);
	char *text;

	text = strdup(s->processes[0]->doubt.text);
	assert_int_equal(s->note_count, text[0] != '\0');
	if (text[0])
		assert_non_null(strstr(s->notes[0], text));
	session_free(s);
	return text;
}

static void tells(struct mkseg *m, const char *expected)
{
	char *text = doubt_of(m);

	if (expected)
		assert_non_null(strstr(text, expected));
	else
		assert_string_equal(text, "");
	free(text);
}

/* A process that has exited; site 1 with 10 blocks of 16 bytes, 4 freed. */
static struct mkseg *sound(void)
{
	struct mkseg *m = mkseg_new();

	mkseg_header(m)->end_kind = SEG_END_EXITED;
	mkseg_header(m)->threads = 1;
	mkseg_book(m, 0, mkseg_stack(m, frames, 1), 10, 16, 4);
	mkseg_header(m)->peak_bytes = 160;
	return m;
}

TEST(a_sound_segment_gives_no_doubt)
{
	tells(sound(), NULL);
}

TEST(more_frees_than_allocations_over_all_arrays_are_told)
{
	struct mkseg *m = sound();

	mkseg_book(m, 7, 1, 0, 16, 6); /* one array alone may have this */
	tells(m, NULL);
	m = sound();
	mkseg_book(m, 7, 1, 0, 16, 7);
	tells(m, "site 1 has 11 frees of 10 allocations");
}

TEST(more_freed_bytes_than_allocated_are_told)
{
	struct mkseg *m = sound();

	mkseg_row(m, 0, 1)->freed_bytes = 161;
	tells(m, "site 1 has freed 161 of 160 bytes");
}

TEST(live_bytes_without_live_blocks_are_told_of_the_dead)
{
	struct mkseg *m = sound();

	mkseg_row(m, 0, 1)->frees = 10;
	tells(m, "site 1 has no live block, but 96 live bytes");
	m = sound();
	mkseg_row(m, 0, 1)->frees = 10;
	mkseg_header(m)->end_kind = 0; /* killed half-way, or running */
	tells(m, NULL);
	m = sound();
	mkseg_row(m, 0, 1)->frees = 10;
	mkseg_header(m)->threads = 3; /* exit() while others work */
	tells(m, NULL);
}

TEST(a_thread_that_jumped_out_of_a_hook_is_no_fault)
{
	struct mkseg *m = sound();

	mkseg_row(m, 0, 1)->frees = 12;
	mkseg_header(m)->counts[SEG_HEALED] = 2;
	tells(m, NULL);
	m = sound();
	mkseg_row(m, 0, 1)->frees = 13;
	mkseg_header(m)->counts[SEG_HEALED] = 2;
	tells(m, "13 frees of 10");
}

TEST(sites_must_be_in_the_tables)
{
	struct mkseg *m = sound();

	mkseg_header(m)->first_id = 2;
	tells(m, "site 1 is below the first id, 2");
	m = sound();
	mkseg_site(m, 1)->inner = 50000;
	tells(m, "site 1 names inner frames 50000");
	m = sound();
	mkseg_site(m, 1)->node = 50000;
	tells(m, "site 1 names node 50000");
	m = sound();
	mkseg_site(m, 1)->inner = 0; /* given out, never filled */
	tells(m, NULL);
}

TEST(a_peak_above_all_that_was_allocated_is_told)
{
	struct mkseg *m = sound();

	mkseg_header(m)->peak_bytes = 161;
	tells(m, "the peak of 161 bytes");
}

TEST(the_first_is_told_and_the_others_are_counted)
{
	struct mkseg *m = sound();
	static const uint64_t other[] = {MKSEG_FRAME(1, 0x2000)};

	mkseg_book(m, 0, mkseg_stack(m, other, 1), 1, 5, 3);
	mkseg_header(m)->peak_bytes = 1 << 20;
	tells(m, "site 2 has 3 frees of 1 allocations (and 1 more like it)");
}
