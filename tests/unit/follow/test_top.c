/* test_top.c - the rows, columns and figures of seep top, without a terminal. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>

#include "test.h"
#include "print/text/layout.h"
#include "follow/top/board.h"
#include "follow/top/focus.h"
#include "follow/top/fields.h"

/* ---- figures ---- */

TEST(bytes_take_five_columns)
{
	static const struct {
		uint64_t n;
		const char *text;
	} cases[] = {{0, "0"}, {999, "999"}, {1000, "0.98K"}, {1023, "1.00K"}, {1024, "1.00K"},
	    {10239, "10.0K"}, {102400, "100K"}, {1023 << 10, "1.00M"}, {UINT64_C(5) << 30, "5.00G"},
	    {UINT64_MAX, "16.0E"}};
	char b[BRIEF_MAX];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(brief_bytes(b, cases[i].n), cases[i].text);
	for (uint64_t n = 1; n < UINT64_MAX / 3; n += n / 3 + 1) {
		assert_in_range(strlen(brief_bytes(b, n)), 1, 5);
		assert_in_range(strlen(brief_count(b, n)), 1, 5);
		assert_in_range(strlen(brief_rate(b, (double)n)), 1, 5);
		assert_in_range(strlen(brief_change(b, (int64_t)n)), 2, 6);
		assert_in_range(strlen(brief_change(b, -(int64_t)n)), 2, 6);
		assert_in_range(strlen(brief_age(b, n)), 2, 5);
		assert_in_range(strlen(brief_share(b, n, 1000)), 2, 5);
	}
}

TEST(changes_have_signs)
{
	char b[BRIEF_MAX];

	assert_string_equal(brief_change(b, 0), "0");
	assert_string_equal(brief_change(b, 5), "+5");
	assert_string_equal(brief_change(b, -2048), "-2.00K");
	assert_string_equal(brief_change(b, INT64_MIN), "-8.00E");
	assert_string_equal(brief_change(b, INT64_MAX), "+8.00E");
}

TEST(shares_ages_and_rates_are_short)
{
	char b[BRIEF_MAX];

	assert_string_equal(brief_share(b, 1, 0), "-");
	assert_string_equal(brief_share(b, 1, 3), "33.3%");
	assert_string_equal(brief_share(b, 3, 3), "100%");
	assert_string_equal(brief_share(b, 30, 3), ">999%");
	assert_string_equal(brief_age(b, UINT64_C(59) * 1000000000), "59s");
	assert_string_equal(brief_age(b, UINT64_C(61) * 1000000000), "1m01");
	assert_string_equal(brief_age(b, UINT64_C(7260) * 1000000000), "2h01");
	assert_string_equal(brief_age(b, UINT64_C(90000) * 1000000000), "1d");
	assert_string_equal(brief_rate(b, 0.01), "0");
	assert_string_equal(brief_rate(b, 0.3), "0.3");
	assert_string_equal(brief_rate(b, 9.96), "10");
	assert_string_equal(brief_rate(b, 12345), "12.3k");
}

/* ---- trends ---- */

TEST(a_trend_goes_from_the_lowest_to_the_highest)
{
	const uint64_t values[] = {100, 200, 300, 800};
	char text[TREND_MAX];
	struct trend t;

	trend_of(&t, values, 4);
	assert_string_equal(trend_text(text, &t, 8, false), "    0127");
	assert_string_equal(trend_text(text, &t, 4, true), "\u2581\u2582\u2583\u2588");
	/* fewer columns than looks: the highest of each */
	assert_string_equal(trend_text(text, &t, 2, false), "17");
	assert_string_equal(trend_text(text, &t, 0, false), "");
}

TEST(a_trend_does_not_blow_up_noise)
{
	const uint64_t values[] = {1000000, 1000100, 1000000};
	char text[TREND_MAX];
	struct trend t;

	trend_of(&t, values, 3);
	assert_string_equal(trend_text(text, &t, 3, false), "000");
	trend_of(&t, NULL, 0);
	assert_string_equal(trend_text(text, &t, 3, false), "   ");
	trend_flat(&t, 1000);
	assert_int_equal(strlen(trend_text(text, &t, 500, false)), TREND_LOOKS);
}

TEST(a_trend_has_the_newest_looks)
{
	uint64_t values[200] = {0};
	char text[TREND_MAX];
	struct trend t;

	values[199] = 7;
	values[0] = 1000; /* too old to be seen */
	trend_of(&t, values, 200);
	assert_int_equal(t.count, TREND_LOOKS);
	assert_int_equal(trend_text(text, &t, 60, false)[59], '7');
	assert_int_equal(text[0], '0');
}

/* ---- rows ---- */

static struct engine_process *make_process(void)
{
	struct engine_process *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	p->number = 7;
	p->pid = p->inner_pid = 1234;
	p->header.mode = SEG_MODE_ON;
	p->header.state = SEG_ALIVE;
	(void)strcpy(p->program, "server");
	(void)strcpy(p->service, "server");
	return p;
}

/* Looks one second apart, with these live bytes. */
static void add_looks(struct engine_process *p, const uint64_t *live, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct engine_totals t = {.at_ns = (p->looks + 1) * 1000000000,
		    .live_bytes = live[i],
		    .allocations = (p->looks + 1) * 50};

		p->ring[p->looks++ % LIVE_LOOKS] = t;
		p->now = t;
	}
}

TEST(rates_are_of_the_last_five_intervals)
{
	const uint64_t live[] = {0, 9000, 9000, 9100, 9200, 9300, 9400, 9500};
	struct engine_process *p = make_process();
	struct board_process row;

	add_looks(p, live, 1);
	board_process_of(p, 0, &row);
	assert_false(row.has_rates);
	add_looks(p, live + 1, 1);
	board_process_of(p, 0, &row);
	assert_true(row.has_rates && row.growth == 9000);
	add_looks(p, live + 2, 6);
	board_process_of(p, 0, &row);
	assert_true(row.growth == 100 && row.allocations_rate == 50);
	assert_int_equal(row.trend.count, 8);
	p->base.live_bytes = 9600;
	board_process_of(p, 0, &row);
	assert_int_equal(row.since_bytes, -100);
	free(p);
}

TEST(counters_that_run_backwards_are_no_huge_rates)
{
	const uint64_t live[] = {UINT64_MAX, 0};
	struct engine_process *p = make_process();
	struct board_process row;

	add_looks(p, live, 2);
	p->ring[0].allocations = UINT64_MAX;
	board_process_of(p, 0, &row);
	assert_true(row.allocations_rate == 0);
	assert_true(row.growth < 0);
	p->ring[1].at_ns = 0; /* a clock that stands still, or goes back */
	board_process_of(p, 0, &row);
	assert_false(row.has_rates);
	free(p);
}

TEST(an_end_has_its_cause)
{
	static const struct {
		enum engine_cause cause;
		int number;
		const char *mode, *words;
	} cases[] = {
	    {LIVE_CAUSE_EXIT, 3, "exit 3", "exited with status 3"},
	    {LIVE_CAUSE_EXIT, -1, "exited", "exited"},
	    {LIVE_CAUSE_SIGNAL, SIGKILL, "SIGKILL", "killed by SIGKILL"},
	    {LIVE_CAUSE_SIGNAL, 77, "signal 77", "killed by signal 77"},
	    {LIVE_CAUSE_OOM, 9, "oom", "killed by the kernel: out of memory"},
	    {LIVE_CAUSE_EXEC, 0, "exec", "called exec: it is another program now"},
	    {LIVE_CAUSE_UNKNOWN, 0, "ended", "ended; the cause is not known"},
	};
	struct engine_process *p = make_process();
	char mode[BOARD_CAUSE], words[BOARD_SENTENCE];
	struct board_process row;

	board_process_of(p, 0, &row);
	assert_string_equal(board_mode(mode, &row), "on");
	assert_string_equal(board_cause(words, &row), "");
	p->header.state = SEG_INERT;
	board_process_of(p, 0, &row);
	assert_string_equal(board_mode(mode, &row), "inert");
	p->is_silent = true;
	board_process_of(p, 0, &row);
	assert_string_equal(board_mode(mode, &row), "silent");
	p->state = LIVE_ENDED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		p->cause = cases[i].cause;
		p->cause_number = cases[i].number;
		board_process_of(p, 0, &row);
		assert_string_equal(board_mode(mode, &row), cases[i].mode);
		assert_string_equal(board_cause(words, &row), cases[i].words);
	}
	free(p);
}

TEST(a_process_is_called_by_its_unit_or_program)
{
	struct board_process row = {.program = "nginx", .service = "web.service"};
	char name[BOARD_NAME];

	row.has_unit = true;
	assert_string_equal(board_name(name, &row), "web.service");
	row.has_unit = false;
	row.has_container = true;
	assert_string_equal(board_name(name, &row), "nginx@web.service");
	row.has_container = false;
	assert_string_equal(board_name(name, &row), "nginx");
}

/* ---- columns ---- */

/* A whole line, as a terminal shows it. */
static void line_of(char *line, size_t bytes, const struct fields_layout *l,
    const struct board_process *p, const struct focus_site *s)
{
	unsigned at = 0;

	line[0] = '\0';
	for (size_t i = 0; i < l->count; i++) {
		char text[FIELDS_TEXT];

		if (p)
			(void)fields_process_cell(text, l, i, p);
		else
			(void)fields_site_cell(text, l, i, s, 1000);
		assert_int_equal(layout_columns(text), l->cells[i].width);
		for (; at < l->cells[i].at; at++)
			(void)strcat(line, " ");
		assert_true(strlen(line) + strlen(text) < bytes);
		(void)strcat(line, text);
		at += l->cells[i].width;
	}
}

TEST(every_column_is_reached_at_every_width)
{
	static const unsigned widths[] = {40, 41, 60, 80, 132, 200, 300};

	for (int table = FIELDS_PROCESSES; table <= FIELDS_SITES; table++)
		for (size_t w = 0; w < sizeof(widths) / sizeof(widths[0]); w++) {
			bool seen[FIELDS] = {false};
			unsigned scroll = 0;
			struct fields_layout l;
			size_t found = 0;

			for (;;) {
				const struct fields_cell *last;

				fields_lay_out(
				    &l, (enum fields_table)table, widths[w], scroll, 7, true);
				last = &l.cells[l.count - 1];
				assert_in_range(
				    last->at + last->width, 1, widths[w] - (l.more_right ? 1 : 0));
				for (size_t i = 0; i < l.count; i++)
					seen[l.cells[i].field] = true;
				assert_int_equal(l.more_left, scroll > 0);
				if (!l.more_right)
					break;
				scroll++;
			}
			for (int f = 0; f < FIELDS; f++)
				found += seen[f];
			assert_int_equal(found, table == FIELDS_PROCESSES ? 13 : 8);
			/* beyond the last column there is nothing */
			fields_lay_out(&l, (enum fields_table)table, widths[w], 1000, 7, true);
			assert_in_range(l.scroll, scroll, 20);
		}
}

TEST(a_screen_of_few_columns_is_survived)
{
	struct fields_layout l;

	for (unsigned w = 0; w < 40; w++) {
		fields_lay_out(&l, FIELDS_PROCESSES, w, 3, 7, false);
		assert_in_range(l.count, 1, FIELDS_CELLS);
		fields_lay_out(&l, FIELDS_SITES, w, 3, 7, false);
		assert_in_range(l.count, 1, FIELDS_CELLS);
	}
}

TEST(a_row_of_a_process_has_its_figures)
{
	struct board_process p = {.number = 1,
	    .pid = 1234,
	    .mode = SEG_MODE_SAMPLED,
	    .run_state = SEG_ALIVE,
	    .program = "server",
	    .now = {.live_bytes = 512 << 20,
	        .peak_bytes = 600 << 20,
	        .resident = 700 << 20,
	        .lost = 12},
	    .has_rates = true,
	    .growth = 2048,
	    .allocations_rate = 1500,
	    .limit = 1 << 30,
	    .sites = 5000,
	    .age_ns = UINT64_C(3700) * 1000000000};
	struct fields_layout l;
	char line[4096];

	fields_lay_out(&l, FIELDS_PROCESSES, 108, 0, 5, false);
	line_of(line, sizeof(line), &l, &p, NULL);
	assert_string_equal(line,
	    " 1234 server               sampled  512M   +2.00K    1.50k  600M  700M"
	    "      50.0% 5.00k    12  1h01         ");
	p.pid = 0;
	p.inner_pid = 1;
	p.has_rates = false;
	p.limit = p.now.resident = 0;
	line_of(line, sizeof(line), &l, &p, NULL);
	assert_string_equal(line,
	    "  (1) server               sampled  512M        -        -  600M     -"
	    "          - 5.00k    12  1h01         ");
}

TEST(a_row_of_a_site_has_function_and_line)
{
	struct focus_site s = {.id = 4,
	    .is_named = true,
	    .is_main = true,
	    .has_rates = true,
	    .live_bytes = 250,
	    .live_blocks = 10,
	    .since_bytes = -50,
	    .growth = 12,
	    .allocations_rate = 0.5,
	    .function = "std::vector<int, std::allocator<int> >::grow(int)",
	    .file = "/src/vector.h",
	    .line = 12,
	    .module = "/bin/server"};
	struct fields_layout l;
	char line[4096];

	fields_lay_out(&l, FIELDS_SITES, 100, 0, 0, false);
	line_of(line, sizeof(line), &l, NULL, &s);
	assert_string_equal(line,
	    "  250 25.0%    -50      +12      0.5     10          "
	    "std::vector<...>::grow vector.h:12             ");
	s.function = NULL;
	s.file = NULL;
	s.offset = 0x1234;
	line_of(line, sizeof(line), &l, NULL, &s);
	assert_non_null(strstr(line, " server+0x1234 "));
	s.is_named = false;
	line_of(line, sizeof(line), &l, NULL, &s);
	assert_non_null(strstr(line, " (finding its name) "));
}

TEST(names_of_hosts_are_escaped_and_fit)
{
	struct board_process p = {.program = "\x1b[31mred\u202e\xff\u4e2d\u6587 end of a long name",
	    .run_state = SEG_ALIVE};
	struct focus_site s = {
	    .is_named = true, .function = "\x1b]0;title\x07()", .file = "a\nb", .line = 1};
	struct fields_layout l;
	char line[4096];

	for (int utf8 = 0; utf8 < 2; utf8++)
		for (unsigned w = 40; w < 260; w++) {
			fields_lay_out(&l, FIELDS_PROCESSES, w, 0, 5, utf8);
			line_of(line, sizeof(line), &l, &p, NULL);
			for (const char *c = line; *c; c++)
				assert_true(
				    (unsigned char)*c >= 32 && (utf8 || (unsigned char)*c < 127));
			fields_lay_out(&l, FIELDS_SITES, w, 0, 5, utf8);
			line_of(line, sizeof(line), &l, NULL, &s);
			for (const char *c = line; *c; c++)
				assert_true((unsigned char)*c >= 32);
		}
	fields_lay_out(&l, FIELDS_PROCESSES, 260, 0, 5, true);
	line_of(line, sizeof(line), &l, &p, NULL);
	assert_non_null(strstr(line, "\\x1b[31mred\\u202e\\xff\u4e2d\u6587 "));
}

TEST(texts_are_cut_to_their_columns)
{
	char text[FIELDS_TEXT], huge[5000];

	fields_fit(text, "abcdef", 4, false, true);
	assert_string_equal(text, "abc\u2026");
	fields_fit(text, "abcdef", 4, false, false);
	assert_string_equal(text, "abc.");
	fields_fit(text, "abc", 5, true, true);
	assert_string_equal(text, "  abc");
	fields_fit(text, "\u4e2d\u6587", 3, false, true); /* of two columns */
	assert_string_equal(text, "\u4e2d\u2026");
	fields_fit(text, "x", 0, false, true);
	assert_string_equal(text, "");
	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	fields_fit(text, huge, 100000, false, true);
	assert_in_range(strlen(text), 100, FIELDS_TEXT - 1);
}

TEST(the_sorted_column_has_a_mark)
{
	struct fields_layout l;
	char text[FIELDS_TEXT];

	fields_lay_out(&l, FIELDS_SITES, 80, 0, 0, false);
	fields_title_cell(text, &l, 0, FIELD_SITE_LIVE, false);
	assert_string_equal(text, "vLIVE");
	fields_title_cell(text, &l, 3, FIELD_SITE_GROWTH, true);
	assert_string_equal(text, "^GROWTH/s");
	fields_title_cell(text, &l, 3, FIELD_SITE_LIVE, false);
	assert_string_equal(text, " GROWTH/s");
}

TEST(columns_by_which_one_sorts_are_left_and_right)
{
	int at = FIELD_SITE_LIVE;

	assert_int_equal(fields_next(at, -1), at); /* the first */
	at = fields_next(at, 1);
	assert_int_equal(at, FIELD_SITE_SINCE); /* a share is that of LIVE */
	for (int i = 0; i < 10; i++)
		at = fields_next(at, 1);
	assert_int_equal(at, FIELD_SITE_FUNCTION);
	assert_int_equal(fields_next(FIELD_AGE, 1), FIELD_AGE);
	assert_int_equal(fields_next(FIELD_PID, -1), FIELD_PID);
	assert_int_equal(fields_order_of(0).process, FIELD_LIVE);
	assert_int_equal(fields_order_of(-1).site, FIELD_SITE_LIVE);
	assert_int_equal(fields_order_of(1000).site, FIELD_SITE_LIVE);
}

TEST(rows_are_sorted_by_any_column)
{
	struct focus_site s[3] = {
	    {.id = 1, .live_bytes = 5, .since_bytes = -1, .function = "b"},
	    {.id = 2, .live_bytes = 9, .since_bytes = 3, .function = "c"},
	    {.id = 3, .live_bytes = 7, .since_bytes = 3, .function = "a"},
	};
	struct fields_order o = fields_order_of(0);

	fields_sort_sites(s, 3, &o);
	assert_true(s[0].id == 2 && s[1].id == 3 && s[2].id == 1);
	o.site_reversed = true;
	fields_sort_sites(s, 3, &o);
	assert_true(s[0].id == 1 && s[1].id == 3 && s[2].id == 2);
	o = (struct fields_order){.site = FIELD_SITE_SINCE};
	fields_sort_sites(s, 3, &o); /* equal ones: the larger first */
	assert_true(s[0].id == 2 && s[1].id == 3 && s[2].id == 1);
	o.site = FIELD_SITE_FUNCTION;
	fields_sort_sites(s, 3, &o);
	assert_true(s[0].id == 3 && s[1].id == 1 && s[2].id == 2);
}

TEST(processes_are_sorted_by_any_column)
{
	struct board_process a = {
	    .number = 1, .pid = 10, .program = "a", .mode = SEG_MODE_OFF, .now = {.lost = 1}};
	struct board_process b = {.number = 2,
	    .pid = 5,
	    .program = "b",
	    .mode = SEG_MODE_ON,
	    .growth = 1,
	    .allocations_rate = 1,
	    .limit = 1,
	    .sites = 1,
	    .age_ns = 1,
	    .now = {.live_bytes = 1, .peak_bytes = 1, .resident = 1}};

	for (int f = FIELD_PID; f < FIELD_TREND; f++) {
		struct fields_order o = {.process = f};
		struct board_process rows[2] = {a, b};
		bool a_first = f == FIELD_SERVICE || f == FIELD_LOST || f == FIELD_MODE;

		fields_sort_processes(rows, 2, &o);
		assert_int_equal(rows[0].number, a_first ? 1 : 2);
		o.process_reversed = true;
		fields_sort_processes(rows, 2, &o);
		assert_int_equal(rows[0].number, a_first ? 2 : 1);
	}
}

/* ---- errands ---- */

static int print_and_fail(void *context)
{
	(void)fprintf(stderr, "seep: %s\nmore\n", (const char *)context);
	return 3;
}

static int print_much(void *context)
{
	(void)context;
	for (int i = 0; i < 100000; i++)
		(void)putchar('x');
	return 0;
}

static bool wait_for(struct errand *e, bool *ret_ok)
{
	struct pollfd fd = {.fd = errand_fd(e), .events = POLLIN};

	for (int i = 0; i < 600; i++) {
		(void)poll(&fd, 1, 100);
		if (errand_receive(e, ret_ok))
			return true;
	}
	return false;
}

TEST(an_errand_gives_its_first_line_and_status)
{
	char words[] = "no such thing";
	struct errand e = {0};
	bool ok = true;

	assert_int_equal(errand_fd(&e), -1);
	assert_int_equal(errand_start(&e, print_and_fail, words), 0);
	assert_int_equal(errand_start(&e, print_and_fail, words), -EBUSY);
	assert_true(wait_for(&e, &ok));
	assert_false(ok);
	assert_string_equal(e.text, words);
	assert_int_equal(errand_start(&e, print_much, NULL), 0);
	assert_true(wait_for(&e, &ok));
	assert_true(ok);
	assert_int_equal(strlen(e.text), ERRAND_TEXT - 1);
	errand_stop(&e);
}

static int set_locale(void **state)
{
	(void)state;
	(void)setlocale(LC_CTYPE, "C.UTF-8");
	return 0;
}

TEST_GROUP(set_locale, NULL);
