/* fields.c - the columns of top: titles, widths, order, and cells. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/fields.h"

#include "base/std.h"
#include <wchar.h>

#include "print/text/layout.h"
#include "follow/top/board.h"
#include "kit/words/text.h"

enum {
	GAP = 1,
	NAME_MIN = 10,     /* SERVICE */
	FUNCTION_MIN = 16, /* FUNCTION on a narrow screen */
	FUNCTION_FAIR = 24,
	NARROW = 60, /* columns */
	NAME_MAX_COLUMNS = 40,
	TREND_MIN = 8,
	LIMIT_HIGH = 90, /* percent of a memory limit that are worth a word */
};

struct description {
	const char *title;
	unsigned width;
	bool left;  /* text, not a figure */
	bool fixed; /* always there */
	enum fields_table table;
};

static const struct description descriptions[FIELDS] = {
    [FIELD_PID] = {"PID", 5, false, true, FIELDS_PROCESSES},
    [FIELD_SERVICE] = {"SERVICE", NAME_MIN, true, true, FIELDS_PROCESSES},
    [FIELD_MODE] = {"MODE", 7, true, false, FIELDS_PROCESSES},
    [FIELD_LIVE] = {"LIVE", 5, false, false, FIELDS_PROCESSES},
    [FIELD_GROWTH] = {"GROWTH/s", 8, false, false, FIELDS_PROCESSES},
    [FIELD_ALLOCS] = {"ALLOCS/s", 8, false, false, FIELDS_PROCESSES},
    [FIELD_PEAK] = {"PEAK", 5, false, false, FIELDS_PROCESSES},
    [FIELD_RSS] = {"RSS", 5, false, false, FIELDS_PROCESSES},
    [FIELD_LIMIT] = {"LIVE/LIMIT", 10, false, false, FIELDS_PROCESSES},
    [FIELD_SITES] = {"SITES", 5, false, false, FIELDS_PROCESSES},
    [FIELD_LOST] = {"LOST", 5, false, false, FIELDS_PROCESSES},
    [FIELD_AGE] = {"AGE", 5, false, false, FIELDS_PROCESSES},
    [FIELD_TREND] = {"TREND", TREND_MIN, true, false, FIELDS_PROCESSES},
    [FIELD_SITE_LIVE] = {"LIVE", 5, false, true, FIELDS_SITES},
    [FIELD_SITE_SHARE] = {"SHARE", 5, false, false, FIELDS_SITES},
    [FIELD_SITE_SINCE] = {"SINCE", 6, false, false, FIELDS_SITES},
    [FIELD_SITE_GROWTH] = {"GROWTH/s", 8, false, false, FIELDS_SITES},
    [FIELD_SITE_ALLOCS] = {"ALLOCS/s", 8, false, false, FIELDS_SITES},
    [FIELD_SITE_BLOCKS] = {"BLOCKS", 6, false, false, FIELDS_SITES},
    [FIELD_SITE_TREND] = {"TREND", TREND_MIN, true, false, FIELDS_SITES},
    [FIELD_SITE_FUNCTION] = {"FUNCTION", FUNCTION_FAIR, true, true, FIELDS_SITES},
};

/* ---- order ---- */

struct fields_order fields_order_of(int key)
{
	/* by word of FIELDS_KEYS: the column of each table */
	static const int columns[][2] = {
	    {FIELD_LIVE, FIELD_SITE_LIVE},
	    {FIELD_GROWTH, FIELD_SITE_GROWTH},
	    {FIELD_ALLOCS, FIELD_SITE_ALLOCS},
	    {FIELD_LIVE, FIELD_SITE_SINCE},
	    {FIELD_LIVE, FIELD_SITE_BLOCKS},
	    {FIELD_LIVE, FIELD_SITE_FUNCTION},
	    {FIELD_PEAK, FIELD_SITE_LIVE},
	    {FIELD_RSS, FIELD_SITE_LIVE},
	    {FIELD_LIMIT, FIELD_SITE_LIVE},
	    {FIELD_SITES, FIELD_SITE_LIVE},
	    {FIELD_LOST, FIELD_SITE_LIVE},
	    {FIELD_AGE, FIELD_SITE_LIVE},
	    {FIELD_PID, FIELD_SITE_LIVE},
	    {FIELD_SERVICE, FIELD_SITE_LIVE},
	    {FIELD_MODE, FIELD_SITE_LIVE},
	};
	size_t at = key < 0 ? 0 : (size_t)key;

	if (at >= sizeof(columns) / sizeof(columns[0]))
		at = 0;
	return (struct fields_order){.process = columns[at][0], .site = columns[at][1]};
}

/* A trend has no order, and a share that of LIVE. */
static bool is_sortable(int field)
{
	return field != FIELD_TREND && field != FIELD_SITE_TREND && field != FIELD_SITE_SHARE;
}

int fields_next(int field, int direction)
{
	int next = field;

	do {
		next += direction;
		if (next < 0 || next >= FIELDS ||
		    descriptions[next].table != descriptions[field].table)
			return field;
	} while (!is_sortable(next));
	return next;
}

static int compare_numbers(double a, double b)
{
	return a > b ? -1 : a < b; /* the larger first */
}

static double part_of_limit(const struct board_process *p)
{
	return p->limit ? (double)p->now.live_bytes / (double)p->limit : -1;
}

static pid_t pid_of(const struct board_process *p)
{
	return p->pid ? p->pid : p->inner_pid;
}

static int compare_processes(
    const struct board_process *a, const struct board_process *b, int field)
{
	char one[BOARD_CAUSE], other[BOARD_CAUSE];
	char first[BOARD_NAME], second[BOARD_NAME];

	switch (field) {
	case FIELD_PID: /* names and pids go up */
		return compare_numbers(pid_of(b), pid_of(a));
	case FIELD_SERVICE:
		return strcmp(board_name(first, a), board_name(second, b));
	case FIELD_MODE:
		return strcmp(board_mode(one, a), board_mode(other, b));
	case FIELD_GROWTH:
		return compare_numbers(a->growth, b->growth);
	case FIELD_ALLOCS:
		return compare_numbers(a->allocations_rate, b->allocations_rate);
	case FIELD_PEAK:
		return compare_numbers((double)a->now.peak_bytes, (double)b->now.peak_bytes);
	case FIELD_RSS:
		return compare_numbers((double)a->now.resident, (double)b->now.resident);
	case FIELD_LIMIT:
		return compare_numbers(part_of_limit(a), part_of_limit(b));
	case FIELD_SITES:
		return compare_numbers((double)a->sites, (double)b->sites);
	case FIELD_LOST:
		return compare_numbers((double)a->now.lost, (double)b->now.lost);
	case FIELD_AGE:
		return compare_numbers((double)a->age_ns, (double)b->age_ns);
	default:
		return compare_numbers((double)a->now.live_bytes, (double)b->now.live_bytes);
	}
}

static const char *name_of(const struct focus_site *s)
{
	return s->function ? s->function : s->module ? s->module : "";
}

static int compare_sites(const struct focus_site *a, const struct focus_site *b, int field)
{
	switch (field) {
	case FIELD_SITE_SINCE:
		return compare_numbers((double)a->since_bytes, (double)b->since_bytes);
	case FIELD_SITE_GROWTH:
		return compare_numbers(a->growth, b->growth);
	case FIELD_SITE_ALLOCS:
		return compare_numbers(a->allocations_rate, b->allocations_rate);
	case FIELD_SITE_BLOCKS:
		return compare_numbers((double)a->live_blocks, (double)b->live_blocks);
	case FIELD_SITE_FUNCTION:
		return strcmp(name_of(a), name_of(b));
	default:
		return compare_numbers((double)a->live_bytes, (double)b->live_bytes);
	}
}

static int order_processes(const void *a, const void *b, void *context)
{
	const struct board_process *x = a, *y = b;
	const struct fields_order *o = context;
	int way = o->process_reversed ? -1 : 1;
	int result = compare_processes(x, y, o->process) * way;

	if (result == 0)
		result = compare_processes(x, y, FIELD_LIVE);
	return result ? result : x->number < y->number ? -1 : 1;
}

static int order_sites(const void *a, const void *b, void *context)
{
	const struct focus_site *x = a, *y = b;
	const struct fields_order *o = context;
	int way = o->site_reversed ? -1 : 1;
	int result = compare_sites(x, y, o->site) * way;

	if (result == 0)
		result = compare_sites(x, y, FIELD_SITE_LIVE);
	return result ? result : x->id < y->id ? -1 : x->id > y->id;
}

void fields_sort_processes(struct board_process *rows, size_t count, const struct fields_order *o)
{
	struct fields_order order = *o;

	if (count > 1)
		qsort_r(rows, count, sizeof(*rows), order_processes, &order);
}

void fields_sort_sites(struct focus_site *rows, size_t count, const struct fields_order *o)
{
	struct fields_order order = *o;

	if (count > 1)
		qsort_r(rows, count, sizeof(*rows), order_sites, &order);
}

/* ---- widths ---- */

static void add_cell(struct fields_layout *l, int field, unsigned width)
{
	l->cells[l->count++] = (struct fields_cell){.field = field, .width = width};
}

/* What is left over goes to the names, then to the trend, then to names. */
static void spread(struct fields_layout *l, enum fields_table table, unsigned left)
{
	struct fields_cell *name = NULL, *trend = NULL;

	for (size_t i = 0; i < l->count; i++) {
		struct fields_cell *c = &l->cells[i];

		if (c->field == FIELD_SERVICE || c->field == FIELD_SITE_FUNCTION)
			name = c;
		if (c->field == FIELD_TREND || c->field == FIELD_SITE_TREND)
			trend = c;
	}
	for (int round = 0; left > 0 && name; round++) {
		unsigned fair = table == FIELDS_SITES ? 70 : 24, more = 0;
		struct fields_cell *to = round == 1 ? trend : name;

		if (round == 0 && name->width < fair)
			more = fair - name->width;
		else if (round == 1 && trend)
			more = TREND_LOOKS - trend->width;
		else if (round == 2)
			more = table == FIELDS_SITES         ? left
			    : name->width < NAME_MAX_COLUMNS ? NAME_MAX_COLUMNS - name->width
			                                     : 0;
		else if (round > 2)
			break;
		more = more > left ? left : more;
		if (to)
			to->width += more;
		left -= more;
	}
}

static unsigned width_of(int field, unsigned pid_width, unsigned width)
{
	if (field == FIELD_PID)
		return pid_width > descriptions[field].width ? pid_width
		                                             : descriptions[field].width;
	if (field == FIELD_SITE_FUNCTION && width < NARROW)
		return FUNCTION_MIN;
	return descriptions[field].width;
}

/* Returns how many columns it takes. */
static unsigned choose_cells(struct fields_layout *ret, enum fields_table table, unsigned width,
    unsigned scroll, unsigned pid_width, bool utf8)
{
	unsigned used = 0, number = 0, others = 0, fixed = 0;

	*ret = (struct fields_layout){.utf8 = utf8};
	for (int f = 0; f < FIELDS; f++) {
		if (descriptions[f].table != table)
			continue;
		others += !descriptions[f].fixed;
		if (descriptions[f].fixed)
			fixed += width_of(f, pid_width, width) + GAP;
	}
	if (scroll >= others)
		scroll = others - 1;
	used = fixed - GAP;
	for (int f = 0; f < FIELDS; f++) {
		unsigned wide = width_of(f, pid_width, width);

		if (descriptions[f].table != table)
			continue;
		if (descriptions[f].fixed) {
			add_cell(ret, f, wide);
		} else if (number++ < scroll) {
			ret->more_left = true;
		} else if (!ret->more_right && used + GAP + wide <= width) {
			add_cell(ret, f, wide);
			used += GAP + wide;
		} else {
			ret->more_right = true;
		}
	}
	ret->scroll = scroll;
	return used;
}

void fields_lay_out(struct fields_layout *ret, enum fields_table table, unsigned width,
    unsigned scroll, unsigned pid_width, bool utf8)
{
	unsigned used = choose_cells(ret, table, width, scroll, pid_width, utf8);

	/* room for the mark of hidden columns */
	if (ret->more_right && width > 1)
		used = choose_cells(ret, table, --width, scroll, pid_width, utf8);
	if (used > width) /* fewer columns than any table needs */
		for (size_t i = 0; i < ret->count; i++)
			ret->cells[i].width = ret->cells[i].width > 4 ? 4 : ret->cells[i].width;
	else
		spread(ret, table, width - used);
	used = 0;
	for (size_t i = 0; i < ret->count; i++) {
		ret->cells[i].at = used;
		used += ret->cells[i].width + GAP;
	}
}

/* ---- cells ---- */

/* Columns of a character that was escaped. */
static unsigned columns_of(const char *character, size_t bytes)
{
	int n = bytes == 1 ? 1 : wcwidth((wchar_t)text_decode(character, bytes));

	return n < 0 ? 1 : (unsigned)n;
}

void fields_fit(char text[FIELDS_TEXT], const char *from, unsigned width, bool right, bool utf8)
{
	/* a column has at most this many bytes, and the rest is cut */
	enum { COLUMN = 5 };
	char out[TEXT_ESCAPED];
	unsigned used = 0, limit = (FIELDS_TEXT - 1) / COLUMN;
	size_t at = 0, keep_at = 0;
	unsigned keep = 0;
	const char *dots = utf8 ? "\xe2\x80\xa6" : ".";
	bool cut = false;

	width = width < limit ? width : limit;
	while (*from && !cut) {
		size_t bytes = text_next(&from, out);
		bool is_escape = bytes > 1 && out[0] == '\\';
		unsigned columns = is_escape ? (unsigned)bytes : columns_of(out, bytes);

		if (!utf8 && bytes > 1 && !is_escape) {
			out[0] = '?';
			bytes = columns = 1;
		}
		if (used + columns > width || at + bytes + COLUMN >= FIELDS_TEXT) {
			cut = true;
			break;
		}
		memcpy(text + at, out, bytes);
		at += bytes;
		used += columns;
		if (used + 1 <= width) { /* an ellipsis would fit here */
			keep = used;
			keep_at = at;
		}
	}
	if (cut && width > 0) {
		at = keep_at;
		used = keep + 1;
		memcpy(text + at, dots, strlen(dots));
		at += strlen(dots);
	}
	if (right && used < width) {
		memmove(text + (width - used), text, at);
		memset(text, ' ', width - used);
		at += width - used;
		used = width;
	}
	while (used < width) {
		text[at++] = ' ';
		used++;
	}
	text[at] = '\0';
}

static void put(char text[FIELDS_TEXT], const struct fields_layout *l, const struct fields_cell *c,
    const char *from)
{
	fields_fit(text, from, c->width, !descriptions[c->field].left, l->utf8);
}

static int growth_style(double growth)
{
	return growth >= 1 ? FIELDS_MORE : growth <= -1 ? FIELDS_LESS : FIELDS_PLAIN;
}

/* A change a second: 0 where it is less than one byte. */
static const char *growth_text(char buffer[BRIEF_MAX], double growth, bool known)
{
	if (!known)
		return "-";
	if (growth > 9e18 || growth < -9e18)
		growth = growth > 0 ? 9e18 : -9e18;
	return brief_change(buffer, (int64_t)growth);
}

static int mode_style(const struct board_process *p)
{
	if (p->state == LIVE_ENDED)
		return p->cause == LIVE_CAUSE_EXIT && p->cause_number <= 0 ? FIELDS_DIM
		                                                           : FIELDS_BAD;
	return p->mode == SEG_MODE_ON || p->mode == SEG_MODE_SAMPLED ? FIELDS_PLAIN : FIELDS_DIM;
}

/* A pid that only the process itself has is in parentheses. */
static const char *pid_text(char buffer[BRIEF_MAX], const struct board_process *p)
{
	(void)snprintf(buffer, BRIEF_MAX, p->pid ? "%d" : "(%d)", (int)pid_of(p));
	return buffer;
}

int fields_process_cell(char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell,
    const struct board_process *p)
{
	const struct fields_cell *c = &l->cells[cell];
	char b[BRIEF_MAX], mode[BOARD_CAUSE], trend[TREND_MAX];
	char name[BOARD_NAME];
	const char *from = "";
	int style = FIELDS_PLAIN;

	switch (c->field) {
	case FIELD_PID:
		from = pid_text(b, p);
		break;
	case FIELD_SERVICE:
		from = board_name(name, p);
		style = FIELDS_STRONG;
		break;
	case FIELD_MODE:
		from = board_mode(mode, p);
		style = mode_style(p);
		break;
	case FIELD_LIVE:
		from = brief_bytes(b, p->now.live_bytes);
		break;
	case FIELD_GROWTH:
		from = growth_text(b, p->growth, p->has_rates);
		style = growth_style(p->growth);
		break;
	case FIELD_ALLOCS:
		from = p->has_rates ? brief_rate(b, p->allocations_rate) : "-";
		break;
	case FIELD_PEAK:
		from = brief_bytes(b, p->now.peak_bytes);
		break;
	case FIELD_RSS:
		from = p->now.resident ? brief_bytes(b, p->now.resident) : "-";
		break;
	case FIELD_LIMIT:
		from = brief_share(b, p->now.live_bytes, p->limit);
		if (part_of_limit(p) * 100 >= LIMIT_HIGH)
			style = FIELDS_BAD;
		break;
	case FIELD_SITES:
		from = brief_count(b, p->sites);
		break;
	case FIELD_LOST:
		from = brief_count(b, p->now.lost);
		style = p->now.lost ? FIELDS_BAD : FIELDS_PLAIN;
		break;
	case FIELD_AGE:
		from = brief_age(b, p->age_ns);
		break;
	case FIELD_TREND:
		from = trend_text(trend, &p->trend, c->width, l->utf8);
		break;
	default:
		break;
	}
	put(text, l, c, from);
	return p->state == LIVE_ENDED && style != FIELDS_BAD ? FIELDS_DIM : style;
}

/* "function file.c:12", as reports have it; shortened to the width. */
static void put_function(char text[FIELDS_TEXT], const struct fields_layout *l,
    const struct fields_cell *c, const struct focus_site *s)
{
	const struct frame x = {.function = s->function,
	    .file = s->file,
	    .module = s->module,
	    .offset = s->offset,
	    .line = s->line,
	    .is_main = s->is_main,
	    .is_missing = s->is_missing};
	struct layout page = {.width = c->width, .utf8 = l->utf8};
	char *line = NULL;
	size_t len;

	if (s->is_named)
		page.out = open_memstream(&line, &len);
	if (page.out) {
		layout_frame(&page, &x, 1, 0, LAYOUT_PLAIN);
		if (fclose(page.out) != 0) {
			free(line);
			line = NULL;
		}
	}
	put(text, l, c, line ? line : "(finding its name)");
	free(line);
}

int fields_site_cell(char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell,
    const struct focus_site *s, uint64_t whole)
{
	const struct fields_cell *c = &l->cells[cell];
	char b[BRIEF_MAX], trend[TREND_MAX];
	const char *from = "";
	int style = FIELDS_PLAIN;

	switch (c->field) {
	case FIELD_SITE_LIVE:
		from = brief_bytes(b, s->live_bytes);
		break;
	case FIELD_SITE_SHARE:
		from = brief_share(b, s->live_bytes, whole);
		break;
	case FIELD_SITE_SINCE:
		from = brief_change(b, s->since_bytes);
		style = growth_style((double)s->since_bytes);
		break;
	case FIELD_SITE_GROWTH:
		from = growth_text(b, s->growth, true);
		style = growth_style(s->growth);
		break;
	case FIELD_SITE_ALLOCS:
		from = s->has_rates ? brief_rate(b, s->allocations_rate) : "-";
		break;
	case FIELD_SITE_BLOCKS:
		from = brief_count(b, s->live_blocks);
		break;
	case FIELD_SITE_TREND:
		from = trend_text(trend, &s->trend, c->width, l->utf8);
		break;
	case FIELD_SITE_FUNCTION:
		put_function(text, l, c, s);
		return s->is_named ? FIELDS_STRONG : FIELDS_DIM;
	default:
		break;
	}
	put(text, l, c, from);
	return style;
}

void fields_title_cell(
    char text[FIELDS_TEXT], const struct fields_layout *l, size_t cell, int sorted, bool reversed)
{
	const struct fields_cell *c = &l->cells[cell];
	const char *mark = l->utf8 ? reversed ? "\xe2\x96\xb2" : "\xe2\x96\xbc"
	    : reversed             ? "^"
	                           : "v";
	bool is_left = descriptions[c->field].left;
	char title[32];

	if (c->field != sorted)
		mark = is_left && c->at > 0 ? " " : "";
	(void)snprintf(title, sizeof(title), "%s%s", mark, descriptions[c->field].title);
	fields_fit(text, title, c->width + (c->at > 0 ? GAP : 0), !is_left, l->utf8);
}
