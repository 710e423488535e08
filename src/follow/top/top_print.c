/* top_print.c - top without a terminal: a table or an object for each look. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/top_print.h"

#include "segments/read/losses.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"
#include "kit/words/text.h"
#include "kit/words/words.h"

enum { NAMES_S = 60, WIDE = 140, FOCUS_MAX = 64, PLACES_MAX = 4 };
#define SECOND_NS UINT64_C(1000000000)

/* The processes whose sites are printed. */
struct sights {
	struct focus **items;
	size_t count, room;
};

static struct engine_process *find_process(const struct engine *l, uint64_t number)
{
	for (size_t i = 0; i < engine_count(l); i++)
		if (engine_at(l, i)->number == number)
			return engine_at(l, i);
	return NULL;
}

static struct focus *find_focus(const struct sights *s, uint64_t number)
{
	for (size_t i = 0; i < s->count; i++)
		if (focus_number(s->items[i]) == number)
			return s->items[i];
	return NULL;
}

/* Those that have gone, go. */
static void drop_gone(struct sights *s, const struct engine *l)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->count; i++)
		if (find_process(l, focus_number(s->items[i])))
			s->items[kept++] = s->items[i];
		else
			focus_free(s->items[i]);
	s->count = kept;
}

/* After a look: those that are known look too, and new ones begin. */
static int look_at_sites(struct sights *s, struct engine *l, const struct pages_plan *plan)
{
	int err = 0;

	drop_gone(s, l);
	for (size_t i = 0; i < engine_count(l) && err == 0; i++) {
		const struct engine_process *p = engine_at(l, i);
		struct focus *f = find_focus(s, p->number);

		if (f) {
			err = focus_look(f, l, p);
			continue;
		}
		if (s->count >= FOCUS_MAX)
			break;
		err = room_make(&s->items, &s->room, s->count, sizeof(struct focus *));
		if (err == 0)
			err = focus_new(l, p, plan->naming, &plan->filter, &f);
		if (err == 0)
			s->items[s->count++] = f;
	}
	return err;
}

/* Nobody presses keys here, so names are waited for. */
static int wait_for_names(struct sights *s)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + NAMES_S * SECOND_NS;
	int err = 0;

	for (size_t i = 0; i < s->count && err == 0; i++) {
		struct focus *f = s->items[i];

		focus_ask_names(f);
		while (focus_is_naming(f) && clock_ns(CLOCK_MONOTONIC) < until) {
			struct pollfd fd = {.fd = focus_fd(f), .events = POLLIN};

			(void)poll(&fd, 1, 1000);
			(void)focus_receive(f);
		}
		err = focus_fill(f);
	}
	return err;
}

/* ---- tables ---- */

/* A line of cells, without the spaces at its end. */
static void put_line(const struct pages_plan *plan, char *line)
{
	size_t len = strlen(line);

	while (len > 0 && line[len - 1] == ' ')
		line[--len] = '\0';
	(void)fprintf(plan->out, "%s\n", line);
}

struct line {
	char text[FIELDS_CELLS * FIELDS_TEXT];
	size_t len;
};

static void add_cell(struct line *l, const char *text, bool has_gap)
{
	l->len += (size_t)snprintf(
	    l->text + l->len, sizeof(l->text) - l->len, "%s%s", has_gap ? " " : "", text);
}

static void put_titles(
    const struct pages_plan *plan, const struct fields_layout *l, int sorted, bool reversed)
{
	struct line line = {.len = 0};
	char text[FIELDS_TEXT];

	for (size_t c = 0; c < l->count; c++) {
		fields_title_cell(text, l, c, sorted, reversed);
		add_cell(&line, text, false); /* begins in the gap */
	}
	put_line(plan, line.text);
}

static void put_processes(const struct pages_plan *plan, struct board_list *list)
{
	struct fields_layout l;
	char text[FIELDS_TEXT];

	fields_sort_processes(list->rows, list->count, &plan->order);
	fields_lay_out(
	    &l, FIELDS_PROCESSES, plan->columns ? plan->columns : WIDE, 0, PAGES_PID, plan->utf8);
	put_titles(plan, &l, plan->order.process, plan->order.process_reversed);
	for (size_t i = 0; i < list->count; i++) {
		struct line line = {.len = 0};

		for (size_t c = 0; c < l.count; c++) {
			(void)fields_process_cell(text, &l, c, &list->rows[i]);
			add_cell(&line, text, c > 0);
		}
		put_line(plan, line.text);
	}
}

/* Those whose SEEP_DIR could not be used. */
static void put_places(const struct pages_plan *plan, const struct engine *l)
{
	char text[REFUSED_DIRECTORY_BYTES];
	size_t more = 0, shown = 0;

	for (size_t i = 0; i < engine_count(l); i++) {
		const struct engine_process *p = engine_at(l, i);

		if (!refused_directory(&p->header, text, sizeof(text)))
			continue;
		if (shown >= PLACES_MAX) {
			more++;
			continue;
		}
		shown++;
		(void)fprintf(
		    plan->out, "%d not in SEEP_DIR: ", (int)(p->pid ? p->pid : p->inner_pid));
		text_print(plan->out, text);
		(void)putc('\n', plan->out);
	}
	if (more > 0)
		(void)fprintf(
		    plan->out, "and %s not in SEEP_DIR\n", WORDS_COUNTED(more, "more process"));
}

static void put_sites(
    const struct pages_plan *plan, struct focus *f, const struct engine_process *p)
{
	size_t count, shown = 0, more = 0;
	struct focus_site *rows = focus_rows(f, &count);
	struct fields_layout l;
	char text[FIELDS_TEXT];

	fields_sort_sites(rows, count, &plan->order);
	fields_lay_out(&l, FIELDS_SITES, plan->columns ? plan->columns : WIDE, 0, 0, plan->utf8);
	(void)fputs("\nSites of ", plan->out);
	text_print(plan->out, p->has_unit ? p->service : p->program);
	(void)fprintf(plan->out, " (%d):\n", (int)(p->pid ? p->pid : p->inner_pid));
	put_titles(plan, &l, plan->order.site, plan->order.site_reversed);
	for (size_t i = 0; i < count; i++) {
		struct line line = {.len = 0};

		if (!rows[i].is_chosen)
			continue;
		if (plan->top > 0 && shown >= plan->top) {
			more++;
			continue;
		}
		shown++;
		for (size_t c = 0; c < l.count; c++) {
			(void)fields_site_cell(text, &l, c, &rows[i], p->now.live_bytes);
			add_cell(&line, text, c > 0);
		}
		put_line(plan, line.text);
	}
	if (more > 0)
		(void)fprintf(plan->out, "and %s\n", WORDS_COUNTED(more, "more site"));
}

static int put_tables(
    struct engine *l, const struct pages_plan *plan, struct sights *s, uint64_t look)
{
	struct board_list list = {0};
	const struct engine_missing missing = engine_missing(l);
	char clock[32];
	time_t now = time(NULL);
	struct tm tm;
	int err = board_list_fill(&list, l);

	if (err < 0) {
		board_list_release(&list);
		return err;
	}
	if (!localtime_r(&now, &tm) ||
	    strftime(clock, sizeof(clock), "%Y-%m-%d %H:%M:%S", &tm) == 0)
		clock[0] = '\0';
	(void)fprintf(plan->out, "%s%s  %s\n", look > 0 ? "\n" : "", clock,
	    WORDS_COUNTED(list.running, "process"));
	if (list.count > 0)
		put_processes(plan, &list);
	put_places(plan, l);
	if (missing.processes > 0)
		(void)fprintf(plan->out, "no room for %s\n",
		    WORDS_COUNTED(missing.processes, "more process"));
	if (missing.files > 0)
		(void)fprintf(
		    plan->out, "no room for %s\n", WORDS_COUNTED(missing.files, "more file"));
	for (size_t i = 0; i < s->count; i++) {
		const struct engine_process *p = find_process(l, focus_number(s->items[i]));

		if (p)
			put_sites(plan, s->items[i], p);
	}
	board_list_release(&list);
	return 0;
}

/* ---- the loop ---- */

/* Waits, and takes those who come and end meanwhile. */
static int wait_until(struct engine *l, uint64_t until_ns)
{
	int err = 0;

	while (err == 0) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		struct pollfd fd = {.fd = engine_wake_fd(l), .events = POLLIN};

		if (now >= until_ns)
			break;
		if (poll(&fd, 1, (int)((until_ns - now) / 1000000 + 1)) > 0)
			err = engine_look_at_roster(l);
	}
	return err;
}

static int put_page(
    struct engine *l, const struct pages_plan *plan, struct sights *s, uint64_t look)
{
	int err = wait_for_names(s);

	if (err == 0)
		err = plan->is_json ? top_print_json(l, plan, s->items, s->count, look)
		                    : put_tables(l, plan, s, look);
	if (err == 0 && fflush(plan->out) != 0)
		err = -errno;
	if (err == 0 && ferror(plan->out))
		err = -EIO;
	return err;
}

int top_print_run(struct engine *l, const struct pages_plan *plan)
{
	uint64_t next = clock_ns(CLOCK_MONOTONIC);
	struct sights s = {0};
	int err = engine_look(l);

	if (err == 0 && plan->is_named)
		err = look_at_sites(&s, l, plan);
	for (uint64_t i = 0; err == 0; i++) {
		uint64_t now = clock_ns(CLOCK_MONOTONIC);

		/* names took longer: one look is late, not several */
		next += plan->interval_ns;
		if (next < now + plan->interval_ns / 2)
			next = now + plan->interval_ns / 2;
		err = wait_until(l, next);
		if (err == 0)
			err = engine_look(l);
		if (err == 0 && plan->is_named)
			err = look_at_sites(&s, l, plan);
		if (err == 0 && plan->is_named && engine_count(l) == 0 && i > 0)
			break;
		if (err == 0)
			err = put_page(l, plan, &s, i);
		if (err == 0 && plan->count > 0 && i + 1 >= plan->count)
			break;
	}
	for (size_t i = 0; i < s.count; i++)
		focus_free(s.items[i]);
	free(s.items);
	return err;
}
