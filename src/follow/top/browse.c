/* browse.c - top on a terminal: its state, and the loop. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "follow/top/browse.h"

#include "base/std.h"
#include "kit/os/clock.h"
#include "kit/data/room.h"

enum { MS = 1000000, FIRST_LOOKS_MS = 250, MESSAGE_S = 6, PAGE_S = 5 };
#define SECOND_NS UINT64_C(1000000000)

/* ---- rows ---- */

struct engine_process *browse_find(const struct browse *b, uint64_t number)
{
	for (size_t i = 0; i < engine_count(b->live); i++)
		if (engine_at(b->live, i)->number == number)
			return engine_at(b->live, i);
	return NULL;
}

size_t browse_process_position(const struct browse *b)
{
	for (size_t i = 0; i < b->process_count; i++)
		if (b->list.rows[b->processes[i]].number == b->process)
			return i;
	return 0;
}

size_t browse_site_position(struct browse *b)
{
	struct focus_site *rows;
	size_t n;

	if (!b->focus)
		return 0;
	rows = focus_rows(b->focus, &n);
	for (size_t i = 0; i < b->site_count; i++)
		if (rows[b->sites[i]].id == b->site)
			return i;
	return 0;
}

struct board_process *browse_process(struct browse *b)
{
	size_t at = browse_process_position(b);

	/* the page of a process stays, also if the list has lost it */
	if (b->page != BROWSE_PROCESSES)
		for (size_t i = 0; i < b->list.count; i++)
			if (b->list.rows[i].number == b->process)
				return &b->list.rows[i];
	if (b->page != BROWSE_PROCESSES || at >= b->process_count)
		return NULL;
	return &b->list.rows[b->processes[at]];
}

struct focus_site *browse_site(struct browse *b)
{
	size_t at = browse_site_position(b), n;

	return b->focus && at < b->site_count ? &focus_rows(b->focus, &n)[b->sites[at]] : NULL;
}

static bool is_shown(const struct browse *b, const struct board_process *p)
{
	char name[BOARD_NAME];

	return !b->process_filter[0] ||
	    regexec(&b->process_regexp, board_name(name, p), 0, NULL, 0) == 0 ||
	    regexec(&b->process_regexp, p->program, 0, NULL, 0) == 0;
}

static void arrange_processes(struct browse *b)
{
	size_t was = browse_process_position(b);
	bool found = false;

	fields_sort_processes(b->list.rows, b->list.count, &b->order);
	b->process_count = 0;
	for (uint32_t i = 0; i < b->list.count; i++) {
		if (!is_shown(b, &b->list.rows[i]))
			continue;
		if (room_make(&b->processes, &b->process_room, b->process_count,
		        sizeof(*b->processes)) < 0)
			break;
		b->processes[b->process_count++] = i;
		found |= b->list.rows[i].number == b->process;
	}
	/* on a page below, the process of that page stays selected */
	if (found || b->page != BROWSE_PROCESSES || b->process_count == 0)
		return;
	was = was < b->process_count ? was : b->process_count - 1;
	b->process = b->list.rows[b->processes[was]].number;
}

static void arrange_sites(struct browse *b)
{
	size_t was = browse_site_position(b), count;
	struct focus_site *rows;
	bool found = false;

	if (!b->focus) {
		b->site_count = 0;
		return;
	}
	rows = focus_rows(b->focus, &count);
	fields_sort_sites(rows, count, &b->order);
	b->site_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!rows[i].is_chosen)
			continue;
		if (room_make(&b->sites, &b->site_room, b->site_count, sizeof(*b->sites)) < 0)
			break;
		b->sites[b->site_count++] = i;
		found |= rows[i].id == b->site;
	}
	if (found || b->site_count == 0 || b->page == BROWSE_STACK)
		return;
	was = was < b->site_count ? was : b->site_count - 1;
	b->site = rows[b->sites[was]].id;
}

void browse_arrange(struct browse *b)
{
	arrange_processes(b);
	browse_set_focus(b);
	arrange_sites(b);
}

/* Rows of the last look; a frozen screen keeps those it has. */
static void refresh_rows(struct browse *b)
{
	if (b->is_frozen)
		return;
	(void)board_list_fill(&b->list, b->live);
	if (b->focus)
		(void)focus_fill(b->focus);
	browse_arrange(b);
}

/* ---- the process whose sites are shown ---- */

/* With one process, its sites are below it. */
static uint64_t wanted_focus(const struct browse *b)
{
	if (b->page != BROWSE_PROCESSES)
		return b->process;
	return b->process_count == 1 ? b->list.rows[b->processes[0]].number : 0;
}

void browse_set_focus(struct browse *b)
{
	uint64_t wanted = wanted_focus(b);
	const struct engine_process *p;

	if (b->focus && focus_number(b->focus) == wanted)
		return;
	focus_free(b->focus);
	b->focus = NULL;
	b->site_count = 0;
	b->site = 0;
	b->top[BROWSE_SITES] = 0;
	p = wanted ? browse_find(b, wanted) : NULL;
	if (!p || focus_new(b->live, p, b->plan->naming, &b->filter, &b->focus) < 0 ||
	    focus_fill(b->focus) < 0)
		return;
	arrange_sites(b);
	/* the first one, not the one with the lowest id */
	if (b->site_count > 0) {
		size_t n;

		b->site = focus_rows(b->focus, &n)[b->sites[0]].id;
	}
}

void browse_ask_page(struct browse *b)
{
	struct namer_page page = {.id = b->site, .utf8 = b->plan->utf8, .colour = true};
	unsigned rows;

	screen_size(&page.columns, &rows);
	b->page_columns = page.columns;
	b->page_ns = clock_ns(CLOCK_MONOTONIC);
	if (b->focus)
		focus_ask_page(b->focus, &page);
}

/* The page has figures of the moment: it is read again, but not all the time. */
static void refresh_page(struct browse *b)
{
	unsigned columns, rows;

	if (b->page != BROWSE_STACK || !b->focus || focus_is_paging(b->focus))
		return;
	screen_size(&columns, &rows);
	if (columns != b->page_columns ||
	    (!b->is_frozen && clock_ns(CLOCK_MONOTONIC) - b->page_ns > PAGE_S * SECOND_NS))
		browse_ask_page(b);
}

static void receive(struct browse *b)
{
	if (!b->focus || !focus_receive(b->focus))
		return;
	if (b->is_frozen)
		focus_rename(b->focus);
	else
		(void)focus_fill(b->focus);
	arrange_sites(b);
}

/* ---- messages ---- */

void browse_say(struct browse *b, bool is_bad, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(b->message, sizeof(b->message), fmt, ap);
	va_end(ap);
	b->message_is_bad = is_bad;
	b->message_until_ns = clock_ns(CLOCK_MONOTONIC) + MESSAGE_S * SECOND_NS;
}

static void receive_errand(struct browse *b)
{
	bool ok;

	if (errand_fd(&b->errand) < 0 || !errand_receive(&b->errand, &ok))
		return;
	if (b->errand.text[0])
		browse_say(b, !ok, "%s%s", ok && b->errand.is_snapshot ? "snapshot written: " : "",
		    b->errand.text);
	else if (!ok)
		browse_say(b, true, "that failed, and did not say why");
}

/* ---- the loop ---- */

static int look(struct browse *b)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	const struct engine_process *p;
	int err = engine_look(b->live);

	if (err < 0)
		return err;
	p = b->focus ? browse_find(b, focus_number(b->focus)) : NULL;
	if (p && focus_look(b->focus, b->live, p) < 0)
		return -ENOMEM;
	b->next_look_ns = now + b->interval_ns;
	refresh_rows(b);
	refresh_page(b);
	return 0;
}

/* Milliseconds until something must be done without being asked for. */
static int pause_ms(const struct browse *b)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC), until = b->next_look_ns;

	if (b->message[0] && b->message_until_ns < until)
		until = b->message_until_ns;
	return until <= now ? 0 : (int)((until - now + MS - 1) / MS);
}

static int turn_once(struct browse *b)
{
	struct pollfd fds[] = {
	    {.fd = STDIN_FILENO, .events = POLLIN},
	    {.fd = engine_wake_fd(b->live), .events = POLLIN},
	    {.fd = b->focus ? focus_fd(b->focus) : -1, .events = POLLIN},
	    {.fd = errand_fd(&b->errand), .events = POLLIN},
	};
	int err = 0;

	(void)poll(fds, sizeof(fds) / sizeof(fds[0]), pause_ms(b));
	/* the terminal is gone */
	if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
		b->quit = true;
	browse_take_keys(b);
	if (fds[1].revents & POLLIN) {
		err = engine_look_at_roster(b->live);
		refresh_rows(b);
	}
	receive(b);
	receive_errand(b);
	if (err == 0 && clock_ns(CLOCK_MONOTONIC) >= b->next_look_ns)
		err = look(b);
	if (b->message[0] && clock_ns(CLOCK_MONOTONIC) >= b->message_until_ns)
		b->message[0] = '\0';
	return err;
}

static void release(struct browse *b)
{
	errand_stop(&b->errand);
	focus_free(b->focus);
	board_list_release(&b->list);
	free(b->processes);
	free(b->sites);
	if (b->process_filter[0])
		regfree(&b->process_regexp);
}

int browse_run(struct engine *l, const struct browse_plan *plan)
{
	struct browse b = {.live = l,
	    .plan = plan,
	    .interval_ns = plan->interval_ns,
	    .order = plan->order,
	    .filter = plan->filter};
	uint64_t soon = FIRST_LOOKS_MS * (uint64_t)MS;
	int err = screen_open(plan->colour);

	if (err < 0)
		return err;
	if (plan->notice)
		browse_say(&b, true, "%s", plan->notice);
	err = look(&b);
	/* rates need a second look: it comes early */
	if (b.interval_ns > soon)
		b.next_look_ns = clock_ns(CLOCK_MONOTONIC) + soon;
	while (err == 0 && !b.quit) {
		browse_draw(&b);
		err = turn_once(&b);
	}
	screen_close();
	release(&b);
	return err;
}
