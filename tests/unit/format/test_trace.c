/* test_trace.c - what collector and readers agree on: frames, rows, tables. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "format/frame.h"
#include "format/rows.h"
#include "format/seg_tables.h"

TEST(a_frame_is_packed_and_taken_apart)
{
	const uint64_t pc = 0x7f1234567890;
	uint64_t f = frame_pack(pc, false, 65535);

	assert_int_equal(SEG_FRAME_PC(f), pc);
	assert_int_equal(SEG_FRAME_MODULE(f), 65535);
	assert_int_equal(f & SEG_FRAME_EXACT, 0);
	assert_int_equal(frame_code(f), pc - 1);
	f = frame_pack(pc, true, 0);
	assert_int_equal(SEG_FRAME_PC(f), pc);
	assert_int_equal(SEG_FRAME_MODULE(f), 0);
	assert_int_equal(frame_code(f), pc);
	/* bits of an address that cannot be do not become a module */
	assert_int_equal(frame_pack(UINT64_MAX, false, 0), (UINT64_C(1) << 47) - 1);
}

TEST(frees_count_as_the_first_pass_saw_them)
{
	struct seg_row row = {
	    .allocations = 10, .allocated_bytes = 100, .frees = 4, .freed_bytes = 40, .epoch = 1};
	const struct seg_row again = {.allocations = 12,
	    .allocated_bytes = 120,
	    .frees = 9,
	    .freed_bytes = 90,
	    .snap_bytes = 7,
	    .snap_blocks = 8,
	    .epoch = 2,
	    .last_tick = 3,
	    .size_min = 5,
	    .size_span = 6};
	struct seg_row want = again;

	want.frees = 4;
	want.freed_bytes = 40;
	rows_read_again(&row, &again);
	assert_memory_equal(&row, &want, sizeof(row));
}

TEST(the_share_of_the_peak_is_saved_or_unchanged)
{
	struct seg_row row = {.allocations = 3,
	    .allocated_bytes = 30,
	    .frees = 5,
	    .freed_bytes = 50,
	    .snap_bytes = 11,
	    .snap_blocks = 12,
	    .epoch = 7};

	assert_int_equal(rows_at_peak(&row, 7).bytes, 11);
	assert_int_equal(rows_at_peak(&row, 7).blocks, 12);
	/* not changed since the peak; other threads have allocated them */
	assert_int_equal(rows_at_peak(&row, 8).bytes, -20);
	assert_int_equal(rows_at_peak(&row, 8).blocks, -2);
}

TEST(runs_end_at_gaps_that_are_worth_an_entry)
{
	enum { ROW = 64, COUNT = 64, GAP = ROWS_GAP_BYTES / ROW + 1 };
	uint8_t *rows = calloc(COUNT, ROW);

	assert_true(rows_is_zero(rows, ROW));
	rows[ROW - 1] = 1; /* row 0, in its last byte */
	assert_false(rows_is_zero(rows, ROW));
	assert_int_equal(rows_end_of_run(rows, COUNT, ROW, 0), 1);
	rows[GAP * ROW] = 1; /* GAP - 1 rows of zeros before it: part of it */
	assert_int_equal(rows_end_of_run(rows, COUNT, ROW, 0), GAP + 1);
	rows[GAP * ROW] = 0;
	rows[(GAP + 1) * ROW] = 1;
	assert_int_equal(rows_end_of_run(rows, COUNT, ROW, 0), 1);
	assert_int_equal(rows_end_of_run(rows, COUNT, ROW, GAP + 1), GAP + 2);
	rows[(COUNT - 1) * ROW] = 1;
	assert_int_equal(rows_end_of_run(rows, COUNT, ROW, COUNT - 1), COUNT);
	free(rows);
}

/* Where a kind comes in the order; each is there once. */
static uint32_t place_of(uint32_t kind)
{
	uint32_t place = TABLES_COUNT;

	for (uint32_t i = 0; i < TABLES_COUNT; i++)
		if (tables_kind(i) == kind) {
			assert_int_equal(place, TABLES_COUNT);
			place = i;
		}
	assert_true(place < TABLES_COUNT);
	return place;
}

TEST(tables_are_read_before_those_they_refer_to)
{
	static const uint32_t refers[][2] = {{SEG_EXT_LEDGER, SEG_EXT_SITE},
	    {SEG_EXT_SAMPLE, SEG_EXT_SITE}, {SEG_EXT_LIVE, SEG_EXT_SITE},
	    {SEG_EXT_INFO, SEG_EXT_SITE}, {SEG_EXT_SITE_INFO, SEG_EXT_SITE},
	    {SEG_EXT_AGES, SEG_EXT_SITE}, {SEG_EXT_SITE, SEG_EXT_INNER},
	    {SEG_EXT_SITE, SEG_EXT_NODE}, {SEG_EXT_SITE, SEG_EXT_POOL},
	    {SEG_EXT_INNER, SEG_EXT_MODULE}, {SEG_EXT_NODE, SEG_EXT_MODULE},
	    {SEG_EXT_MODULE, SEG_EXT_STRING}};

	assert_int_equal(place_of(SEG_EXT_LEDGER), 0);
	for (size_t i = 0; i < sizeof(refers) / sizeof(refers[0]); i++)
		assert_true(place_of(refers[i][0]) < place_of(refers[i][1]));
}

TEST(every_table_has_a_name_and_rows)
{
	for (uint32_t kind = 1; kind <= TABLES_COUNT; kind++) {
		(void)place_of(kind);
		assert_true(tables_row_min(kind) > 0);
		assert_string_not_equal(tables_name(kind), "unknown");
	}
	assert_int_equal(tables_row_min(SEG_EXT_NONE), 0);
	assert_int_equal(tables_row_min(TABLES_COUNT + 1), 0);
	assert_int_equal(tables_row_min(UINT32_MAX), 0);
	assert_string_equal(tables_name(UINT32_MAX), "unknown");
	assert_string_equal(tables_name(SEG_EXT_LEDGER), "ledger");
	assert_true(tables_in_time_line(SEG_EXT_MARK));
	assert_false(tables_in_time_line(SEG_EXT_LEDGER));
	assert_false(tables_in_time_line(SEG_EXT_LIVE));
}
