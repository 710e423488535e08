/* browse_draw.c - the pages of top as pictures. */
/* SPDX-License-Identifier: Apache-2.0 */

#include "segments/read/losses.h"
#include "print/text/layout.h"
#include "view/sites/enum_words.h"
#include "follow/top/board.h"
#include "follow/top/browse.h"
#include "kit/words/text.h"

enum { TITLE_ROW = 0, HEAD_ROW = 1, FIRST_ROW = 2, PREVIEW_MIN = 4 };

struct size {
	unsigned columns, rows;
};

static struct size size_now(void)
{
	struct size s;

	screen_size(&s.columns, &s.rows);
	return s;
}

/* Text that may be untrusted, cut at `room`; returns its columns. */
static unsigned put_text(const struct browse *b, unsigned row, unsigned column, int style,
    const char *text, unsigned room)
{
	size_t columns = layout_columns(text);
	unsigned width = columns < room ? (unsigned)columns : room;
	char out[FIELDS_TEXT];

	if (width == 0)
		return 0;
	fields_fit(out, text, width, false, b->plan->utf8);
	screen_put(row, column, style, out);
	return width;
}

static void fill_line(unsigned row, int style, unsigned columns)
{
	char blanks[FIELDS_TEXT];

	for (unsigned at = 0; at < columns; at += sizeof(blanks) - 1) {
		unsigned n =
		    columns - at < sizeof(blanks) - 1 ? columns - at : (unsigned)sizeof(blanks) - 1;

		memset(blanks, ' ', n);
		blanks[n] = '\0';
		screen_put(row, at, style, blanks);
	}
}

/* ---- the first line ---- */

static const char *growth_words(char buffer[BRIEF_MAX + 4], double growth)
{
	char digits[BRIEF_MAX];

	(void)snprintf(buffer, BRIEF_MAX + 4, "%s/s", brief_change(digits, (int64_t)growth));
	return buffer;
}

static void title_of_all(const struct browse *b, char *text, size_t bytes)
{
	char live[BRIEF_MAX], growth[BRIEF_MAX + 4], count[WORDS_COUNTED_MAX];

	(void)snprintf(text, bytes, "seep top  %s  %s live  %s",
	    words_counted(count, b->list.running, "process"), brief_bytes(live, b->list.live_bytes),
	    growth_words(growth, b->list.growth));
}

static void title_of_process(struct browse *b, char *text, size_t bytes)
{
	const struct board_process *p = browse_process(b);
	char live[BRIEF_MAX], peak[BRIEF_MAX], growth[BRIEF_MAX + 4];
	char cause[BOARD_SENTENCE], mode[BOARD_CAUSE], name[BOARD_NAME];

	if (!p) {
		(void)snprintf(text, bytes, "This process is gone.");
		return;
	}
	if (p->state == LIVE_ENDED)
		(void)snprintf(text, bytes, "%.64s (%d): %s; %s live, peak %s", board_name(name, p),
		    (int)(p->pid ? p->pid : p->inner_pid), board_cause(cause, p),
		    brief_bytes(live, p->now.live_bytes), brief_bytes(peak, p->now.peak_bytes));
	else
		(void)snprintf(text, bytes, "%.64s (%d)  %s live  %s  peak %s  %s",
		    board_name(name, p), (int)(p->pid ? p->pid : p->inner_pid),
		    brief_bytes(live, p->now.live_bytes), growth_words(growth, p->growth),
		    brief_bytes(peak, p->now.peak_bytes), board_mode(mode, p));
}

/* "FROZEN", the interval, the time: what fits beside `room` columns is shown. */
static unsigned draw_corner(const struct browse *b, struct size s, unsigned room)
{
	time_t now = time(NULL);
	char clock[16], every[48];
	const char *texts[] = {every, clock, ""};
	struct tm tm;

	if (b->is_frozen) {
		const char *word = " FROZEN ";
		unsigned wide = (unsigned)strlen(word);

		if (s.columns > wide)
			screen_put(TITLE_ROW, s.columns - wide, SCREEN_ALARM, word);
		return wide;
	}
	if (!localtime_r(&now, &tm) || strftime(clock, sizeof(clock), "%H:%M:%S", &tm) == 0)
		return 0;
	(void)snprintf(every, sizeof(every), "every %g s  %s", (double)b->interval_ns / 1e9, clock);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		unsigned wide = (unsigned)strlen(texts[i]);

		if (room + 2 + wide > s.columns)
			continue;
		screen_put(TITLE_ROW, s.columns - wide, FIELDS_DIM, texts[i]);
		return wide;
	}
	return 0;
}

static void draw_title(struct browse *b, struct size s)
{
	char text[BROWSE_MESSAGE];
	unsigned used;

	if (b->page == BROWSE_PROCESSES)
		title_of_all(b, text, sizeof(text));
	else
		title_of_process(b, text, sizeof(text));
	used = draw_corner(b, s, (unsigned)layout_columns(text));
	if (s.columns > used + 1)
		(void)put_text(
		    b, TITLE_ROW, 0, FIELDS_STRONG, text, s.columns - used - (used ? 1 : 0));
}

/* ---- tables ---- */

static void draw_head(const struct browse *b, struct size s, unsigned row,
    const struct fields_layout *l, int sorted, bool reversed)
{
	char text[FIELDS_TEXT];

	fill_line(row, SCREEN_BAR, s.columns);
	for (size_t i = 0; i < l->count; i++) {
		fields_title_cell(text, l, i, sorted, reversed);
		screen_put(row, l->cells[i].at - (l->cells[i].at > 0),
		    SCREEN_BAR | (l->cells[i].field == sorted ? FIELDS_STRONG : 0), text);
	}
	if (l->more_right && s.columns > 0)
		screen_put(row, s.columns - 1, SCREEN_BAR, b->plan->utf8 ? "\xc2\xbb" : ">");
}

/* The first row on the screen, so that the selected one is seen. */
static size_t first_row(size_t top, size_t selected, size_t count, size_t room)
{
	if (room == 0)
		return selected;
	if (selected < top)
		top = selected;
	if (selected >= top + room)
		top = selected - room + 1;
	if (top + room > count)
		top = count > room ? count - room : 0;
	return top;
}

static unsigned pid_width(const struct browse *b)
{
	unsigned widest = 0;

	for (size_t i = 0; i < b->process_count; i++) {
		const struct board_process *p = &b->list.rows[b->processes[i]];
		char digits[16];
		unsigned n = (unsigned)snprintf(digits, sizeof(digits), p->pid ? "%d" : "(%d)",
		    (int)(p->pid ? p->pid : p->inner_pid));

		widest = n > widest ? n : widest;
	}
	return widest;
}

/* Rows of processes; returns the first free row. */
static unsigned draw_processes(struct browse *b, struct size s, unsigned row, size_t room)
{
	size_t selected = browse_process_position(b);
	struct fields_layout l;
	char text[FIELDS_TEXT];

	fields_lay_out(&l, FIELDS_PROCESSES, s.columns, b->scroll[BROWSE_PROCESSES], pid_width(b),
	    b->plan->utf8);
	b->scroll[BROWSE_PROCESSES] = l.scroll;
	draw_head(b, s, row++, &l, b->order.process, b->order.process_reversed);
	b->top[BROWSE_PROCESSES] =
	    first_row(b->top[BROWSE_PROCESSES], selected, b->process_count, room);
	for (size_t i = b->top[BROWSE_PROCESSES]; i < b->process_count && room > 0;
	     i++, room--, row++) {
		const struct board_process *p = &b->list.rows[b->processes[i]];
		int more = i == selected ? SCREEN_SELECTED : 0;

		if (more)
			fill_line(row, more, s.columns);
		for (size_t c = 0; c < l.count; c++) {
			int style = fields_process_cell(text, &l, c, p);

			screen_put(row, l.cells[c].at, style | more, text);
		}
	}
	return row;
}

static void draw_site(const struct fields_layout *l, unsigned row, const struct focus_site *site,
    uint64_t whole, int more)
{
	char text[FIELDS_TEXT];

	for (size_t c = 0; c < l->count; c++) {
		int style = fields_site_cell(text, l, c, site, whole);

		screen_put(row, l->cells[c].at, style | more, text);
	}
}

static uint64_t whole_of(struct browse *b)
{
	const struct board_process *p = browse_process(b);

	return p ? p->now.live_bytes : 0;
}

static void lay_out_sites(struct browse *b, struct size s, struct fields_layout *ret)
{
	fields_lay_out(ret, FIELDS_SITES, s.columns, b->scroll[BROWSE_SITES], 0, b->plan->utf8);
	b->scroll[BROWSE_SITES] = ret->scroll;
}

static void draw_sites(
    struct browse *b, struct size s, unsigned row, size_t room, bool with_selection)
{
	size_t selected = browse_site_position(b), n = 0;
	const struct focus_site *rows = b->focus ? focus_rows(b->focus, &n) : NULL;
	struct fields_layout l;

	lay_out_sites(b, s, &l);
	draw_head(b, s, row++, &l, b->order.site, b->order.site_reversed);
	if (!rows)
		return;
	if (b->site_count == 0)
		(void)put_text(b, row, 0, FIELDS_DIM,
		    n == 0 ? "No allocation was recorded so far."
		        : focus_is_naming(b->focus)
		        ? "Finding the names that the filter is about ..."
		        : "No site matches; / and Enter shows all again.",
		    s.columns);
	b->top[BROWSE_SITES] = first_row(with_selection ? b->top[BROWSE_SITES] : 0,
	    with_selection ? selected : 0, b->site_count, room);
	for (size_t i = b->top[BROWSE_SITES]; i < b->site_count && room > 0; i++, room--, row++) {
		int more = with_selection && i == selected ? SCREEN_SELECTED : 0;

		if (more)
			fill_line(row, more, s.columns);
		draw_site(&l, row, &rows[b->sites[i]], whole_of(b), more);
	}
}

/* ---- the page of a stack ---- */

/* What an escape of layout_colour() means, behind its "[". */
static int style_of(const char *code)
{
	switch (strtol(code, NULL, 10)) {
	case 1:
		return FIELDS_STRONG;
	case 2:
		return FIELDS_DIM;
	case 31:
		return FIELDS_MORE;
	case 32:
		return FIELDS_LESS;
	default:
		return FIELDS_PLAIN;
	}
}

/* One line of a page: texts between escapes, moved `skip` columns left. */
static void draw_line(const struct browse *b, struct size s, unsigned row, const char *text,
    size_t len, unsigned skip)
{
	char part[FIELDS_TEXT];
	unsigned column = 0;
	int style = FIELDS_PLAIN;
	const char *end = text + len;

	while (text < end) {
		const char *escape = memchr(text, 27, (size_t)(end - text));
		size_t n = (size_t)((escape ? escape : end) - text);
		unsigned wide, hidden;

		if (n >= sizeof(part))
			n = sizeof(part) - 1;
		memcpy(part, text, n);
		part[n] = '\0';
		text += n;
		wide = (unsigned)layout_columns(part);
		hidden = column >= skip ? 0 : skip - column < wide ? skip - column : wide;
		/* lines that are moved are figures and paths: one byte each */
		if (hidden < wide && hidden < n && column + hidden >= skip &&
		    column + hidden - skip < s.columns)
			(void)put_text(b, row, column + hidden - skip, style, part + hidden,
			    s.columns - (column + hidden - skip));
		column += wide;
		if (escape && text == escape) {
			const char *m = memchr(text, 'm', (size_t)(end - text));

			if (!m)
				return;
			style = style_of(text + 2);
			text = m + 1;
		}
	}
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void draw_text(struct browse *b, struct size s, unsigned row, size_t room, const char *text)
{
	size_t lines = count_lines(text), *top = &b->top[BROWSE_STACK];

	if (*top + room > lines)
		*top = lines > room ? lines - room : 0;
	for (size_t i = 0; i < *top; i++)
		text = strchr(text, '\n') + 1;
	for (; room > 0 && *text; room--, row++) {
		size_t len = strcspn(text, "\n");

		draw_line(b, s, row, text, len, b->scroll[BROWSE_STACK]);
		text += len + (text[len] == '\n');
	}
}

static void draw_stack(struct browse *b, struct size s)
{
	const char *text = b->focus ? focus_page(b->focus) : NULL;
	const struct focus_site *site = browse_site(b);
	unsigned row = HEAD_ROW;
	struct fields_layout l;

	lay_out_sites(b, s, &l);
	draw_head(b, s, row++, &l, b->order.site, b->order.site_reversed);
	if (site && site->id == b->site)
		draw_site(&l, row, site, whole_of(b), 0);
	row += 2;
	if (text)
		draw_text(b, s, row, browse_room(b), text);
	else if (b->focus && focus_has_namer(b->focus))
		screen_put(row, 0, FIELDS_DIM, "Finding names ...");
	else
		screen_put(row, 0, FIELDS_BAD, "The process that finds names has ended.");
}

/* ---- help ---- */

static void draw_help(struct browse *b, struct size s)
{
	struct layout page = {.width = s.columns > 24 ? s.columns - 14 : 10};
	size_t room = s.rows > 2 ? s.rows - 2 : 1;
	char *text = NULL;
	size_t len;
	FILE *memory = open_memstream(&text, &len);

	if (!memory)
		return;
	for (const struct browse_key *k = browse_keys; k->key; k++) {
		char *lines = NULL;
		FILE *inner = open_memstream(&lines, &len);

		if (!inner)
			break;
		page.out = inner;
		layout_paragraph(&page, k->meaning, 0);
		if (fclose(inner) != 0)
			break;
		for (char *at = lines, *next; at; at = next) {
			next = strchr(at, '\n');
			if (next)
				*next++ = '\0';
			(void)fprintf(memory, " %-12s %s\n", at == lines ? k->key : "", at);
		}
		free(lines);
	}
	if (fclose(memory) == 0) {
		const char *at = text;
		size_t lines = count_lines(text), *top = &b->help_top;
		unsigned row = 1;

		if (*top + room > lines)
			*top = lines > room ? lines - room : 0;
		for (size_t i = 0; i < *top; i++)
			at = strchr(at, '\n') + 1;
		for (; room > 0 && *at; room--, row++) {
			size_t n = strcspn(at, "\n");

			draw_line(b, s, row, at, n, 0);
			at += n + 1;
		}
	}
	free(text);
}

/* ---- the last line ---- */

static void describe_filter(const struct browse *b, char *text, size_t bytes)
{
	const struct namer_filter *f = &b->filter;

	text[0] = '\0';
	if (b->page == BROWSE_PROCESSES) {
		if (b->process_filter[0])
			(void)snprintf(text, bytes, " match /%.60s/", b->process_filter);
		return;
	}
	if (f->include[0] || f->exclude[0] || f->module[0])
		(void)snprintf(text, bytes, " match%s%.60s%s%.60s%s%.60s",
		    f->include[0] ? " /" : "", f->include, f->exclude[0] ? " /!" : "", f->exclude,
		    f->module[0] ? " /@" : "", f->module);
}

/* Adds the SEEP_DIR that could not be used, if there is one. */
static void describe_place(const struct browse *b, char *text, size_t bytes)
{
	const struct engine_process *p = browse_find(b, b->process);
	char words[REFUSED_DIRECTORY_BYTES];

	if (!p || !refused_directory(&p->header, words, sizeof(words)))
		return;
	(void)snprintf(text, bytes, "; not in SEEP_DIR: %.400s", words);
}

/* How many rows there are, and what about them. */
static void describe(struct browse *b, char *text, size_t bytes)
{
	bool is_list = b->page == BROWSE_PROCESSES;
	char filter[240], count[WORDS_COUNTED_MAX], shown[WORDS_MAX + 8] = "";
	size_t all = b->list.count, chosen = b->process_count;
	const struct board_process *p = browse_process(b);
	const struct engine_missing missing = engine_missing(b->live);
	const char *naming = "";

	describe_filter(b, filter, sizeof(filter));
	if (!is_list) {
		all = 0;
		if (b->focus)
			(void)focus_rows(b->focus, &all);
		chosen = b->site_count;
	}
	if (b->focus && !focus_has_namer(b->focus))
		naming = "; the process that finds names has ended";
	else if (b->focus && focus_is_naming(b->focus))
		naming = "; finding names";
	if (filter[0]) {
		(void)snprintf(shown, sizeof(shown), "%s of ", WORDS_COUNT(chosen));
	}
	(void)snprintf(text, bytes, "%s%s%s%s", shown,
	    words_counted(count, all, is_list ? "process" : "site"), filter, naming);
	if (is_list && missing.processes + missing.files > 0)
		(void)snprintf(text + strlen(text), bytes - strlen(text), "; no room for %s",
		    missing.processes > 0 ? words_counted(count, missing.processes, "more process")
		                          : words_counted(count, missing.files, "more file"));
	if (!is_list && p && p->run_state == SEG_INERT)
		(void)snprintf(text, bytes, "not traced: %s", losses_inert(p->inert_reason));
	if (!is_list && p && p->now.lost > 0)
		(void)snprintf(text + strlen(text), bytes - strlen(text), "; %s lost",
		    words_counted(count, p->now.lost, "event"));
	if (p && (!is_list || b->process_count == 1))
		describe_place(b, text + strlen(text), bytes - strlen(text));
}

static void draw_prompt(struct browse *b, struct size s, unsigned row)
{
	char text[BROWSE_MESSAGE + NAMER_TEXT];
	const struct board_process *p = browse_process(b);
	char name[BOARD_NAME];
	const char *from = text;
	unsigned used;

	if (b->prompt == BROWSE_TURN) {
		(void)snprintf(text, sizeof(text), "Turn recording %s in %.64s (%d)? y/n",
		    b->turn_on ? "on" : "off", p ? board_name(name, p) : "", (int)b->turn_pid);
		(void)put_text(b, row, 0, SCREEN_ALARM, text, s.columns);
		return;
	}
	(void)snprintf(text, sizeof(text), "/%s", b->typed);
	/* its end is seen, where one types */
	while (layout_columns(from) + 1 > s.columns && *from)
		from += text_utf8(from) ? text_utf8(from) : 1;
	used = put_text(b, row, 0, FIELDS_STRONG, from, s.columns);
	if (b->typed_len == 0 && s.columns > 44)
		screen_put(row, used + 2, FIELDS_DIM,
		    b->page == BROWSE_PROCESSES
		        ? "expression for services; empty: all"
		        : "RE functions, !RE without, @RE modules; empty: all");
	screen_cursor(row, used);
}

/* What one can do here: the longest that fits. */
static void draw_hints(const struct browse *b, struct size s, unsigned used)
{
	static const char *const pages[] = {
	    [BROWSE_PROCESSES] = "Enter sites  / filter  ? help  q quit",
	    [BROWSE_SITES] = "Enter stack  Esc back  z zero  / filter  ? help  q quit",
	    [BROWSE_STACK] = "Esc back  s snapshot  ? help  q quit",
	};
	const char *hints[] = {
	    b->is_help ? "any key: back" : pages[b->page], "? help  q quit", "? help"};

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++) {
		unsigned wide = (unsigned)strlen(hints[i]);

		if (used + 2 + wide > s.columns)
			continue;
		screen_put(s.rows - 1, s.columns - wide, FIELDS_DIM, hints[i]);
		return;
	}
}

static void draw_status(struct browse *b, struct size s)
{
	unsigned row = s.rows - 1, used;
	char text[BROWSE_MESSAGE];

	if (s.rows < 2)
		return;
	if (b->prompt != BROWSE_NO_PROMPT) {
		draw_prompt(b, s, row);
		return;
	}
	if (b->message[0]) {
		(void)put_text(b, row, 0, b->message_is_bad ? FIELDS_BAD : FIELDS_STRONG,
		    b->message, s.columns);
		return;
	}
	if (b->is_help)
		text[0] = '\0';
	else
		describe(b, text, sizeof(text));
	used = put_text(b, row, 0, FIELDS_DIM, text, s.columns);
	draw_hints(b, s, used);
}

/* ---- the whole ---- */

size_t browse_room(const struct browse *b)
{
	struct size s = size_now();
	unsigned taken = FIRST_ROW + 1;

	if (b->page == BROWSE_STACK)
		taken += 2;
	return s.rows > taken ? s.rows - taken : 1;
}

static void draw_list(struct browse *b, struct size s)
{
	size_t room = browse_room(b);
	unsigned row;

	row = draw_processes(b, s, HEAD_ROW, room);
	if (b->process_count == 0)
		(void)put_text(b, FIRST_ROW, 0, FIELDS_DIM,
		    b->process_filter[0] ? "No process matches."
		                         : "No process is traced; start one with: seep record "
		                           "CMD",
		    s.columns);
	/* one process leaves room for its sites */
	if (b->process_count == 1 && s.rows > row + PREVIEW_MIN)
		draw_sites(b, s, row + 1, s.rows - row - 3, false);
}

void browse_draw(struct browse *b)
{
	struct size s = size_now();

	screen_clear();
	if (b->is_help) {
		(void)put_text(b, TITLE_ROW, 0, FIELDS_STRONG, "Keys of seep top", s.columns);
		draw_help(b, s);
	} else {
		draw_title(b, s);
		if (b->page == BROWSE_PROCESSES)
			draw_list(b, s);
		else if (b->page == BROWSE_SITES)
			draw_sites(b, s, HEAD_ROW, browse_room(b), true);
		else
			draw_stack(b, s);
	}
	draw_status(b, s);
	screen_show();
}
