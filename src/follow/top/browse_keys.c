/* browse_keys.c - what keys do. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <regex.h>

#include "follow/top/browse.h"

#include "base/std.h"
#include "kit/os/clock.h"
#include "kit/words/text.h"

const struct browse_key browse_keys[] = {
    {"Up Down j k", "move by one row, or scroll"},
    {"PgUp PgDn", "move by a page"},
    {"Home End", "the first, the last row"},
    {"Left Right", "show the columns that do not fit"},
    {"Enter", "the sites of a process; the stack of a site"},
    {"Esc", "back by one page"},
    {"p", "back to the processes"},
    {"< >", "sort by the column to the left, to the right"},
    {"r", "reverse the order"},
    {"/",
        "filter: RE of functions; !RE excludes; @RE is of modules; empty: "
        "all. In the list of processes: RE of services"},
    {"z", "count SINCE from now on"},
    {"Space", "freeze the screen; looks go on"},
    {"s", "write a snapshot of the process"},
    {"o", "turn its recording on or off"},
    {"w", "show or skip wrappers such as xmalloc"},
    {"+ -", "a longer, a shorter interval"},
    {"?", "this list"},
    {"q", "quit"},
    {0},
};

/* ---- moving ---- */

/* Where a list of `count` goes from `at`; SIZE_MAX: not by this key. */
static size_t moved(int key, size_t at, size_t count, size_t page)
{
	size_t last = count > 0 ? count - 1 : 0;

	page = page > 1 ? page - 1 : 1;
	switch (key) {
	case SCREEN_UP:
	case 'k':
		return at > 0 ? at - 1 : 0;
	case SCREEN_DOWN:
	case 'j':
		return at < last ? at + 1 : last;
	case SCREEN_PAGE_UP:
		return at > page ? at - page : 0;
	case SCREEN_PAGE_DOWN:
		return at + page < last ? at + page : last;
	case SCREEN_HOME:
	case 'g':
		return 0;
	case SCREEN_END:
	case 'G':
		return last;
	default:
		return SIZE_MAX;
	}
}

/* True: the key moves something on this page. */
static bool move(struct browse *b, int key)
{
	size_t page = browse_room(b), to, n;

	if (b->is_help) {
		to = moved(key, b->help_top, SIZE_MAX / 2, page);
		b->help_top = to == SIZE_MAX ? b->help_top : to;
		return to != SIZE_MAX;
	}
	switch (b->page) {
	case BROWSE_PROCESSES:
		to = moved(key, browse_process_position(b), b->process_count, page);
		if (to < b->process_count)
			b->process = b->list.rows[b->processes[to]].number;
		break;
	case BROWSE_SITES:
		to = moved(key, browse_site_position(b), b->site_count, page);
		if (to < b->site_count)
			b->site = focus_rows(b->focus, &n)[b->sites[to]].id;
		break;
	default:
		/* drawing knows how long the text is */
		to = moved(key, b->top[BROWSE_STACK], SIZE_MAX / 2, page);
		if (to != SIZE_MAX)
			b->top[BROWSE_STACK] = to;
	}
	return to != SIZE_MAX;
}

static void scroll(struct browse *b, int by)
{
	unsigned step = b->page == BROWSE_STACK ? 8 : 1;

	if (by > 0)
		b->scroll[b->page] += step;
	else
		b->scroll[b->page] -= b->scroll[b->page] < step ? b->scroll[b->page] : step;
}

/* ---- pages ---- */

static void go_in(struct browse *b)
{
	if (b->page == BROWSE_PROCESSES && browse_process(b)) {
		/* without the list it would be the first that is filtered */
		b->process = browse_process(b)->number;
		b->page = BROWSE_SITES;
		browse_set_focus(b);
		browse_arrange(b);
	} else if (b->page == BROWSE_SITES && browse_site(b)) {
		b->page = BROWSE_STACK;
		b->top[BROWSE_STACK] = 0;
		b->scroll[BROWSE_STACK] = 0;
		focus_forget_page(b->focus);
		browse_ask_page(b);
	}
}

static void go_out(struct browse *b, bool all_the_way)
{
	if (b->page == BROWSE_STACK && !all_the_way)
		b->page = BROWSE_SITES;
	else
		b->page = BROWSE_PROCESSES;
	browse_arrange(b);
}

/* ---- order ---- */

static void sort_by(struct browse *b, int direction)
{
	int *field = b->page == BROWSE_PROCESSES ? &b->order.process : &b->order.site;

	*field = fields_next(*field, direction);
	browse_arrange(b);
}

static void reverse(struct browse *b)
{
	bool *reversed =
	    b->page == BROWSE_PROCESSES ? &b->order.process_reversed : &b->order.site_reversed;

	*reversed = !*reversed;
	browse_arrange(b);
}

/* ---- filters ---- */

/* Says what is wrong with it. */
static bool compiles(struct browse *b, const char *text, regex_t *ret)
{
	char why[200];
	int err = regcomp(ret, text, REG_EXTENDED | REG_NOSUB);

	if (err == 0)
		return true;
	(void)regerror(err, ret, why, sizeof(why));
	browse_say(b, true, "\"%.200s\" is no regular expression: %s", text, why);
	return false;
}

static void filter_processes(struct browse *b)
{
	regex_t fresh;

	if (b->typed[0] && !compiles(b, b->typed, &fresh))
		return;
	if (b->process_filter[0])
		regfree(&b->process_regexp);
	(void)snprintf(b->process_filter, sizeof(b->process_filter), "%s", b->typed);
	if (b->typed[0])
		b->process_regexp = fresh;
	browse_arrange(b);
}

/* RE, !RE or @RE sets one of the three; nothing clears all. */
static void filter_sites(struct browse *b)
{
	const char *text = b->typed;
	char *to = b->filter.include;
	regex_t checked;

	if (*text == '!') {
		to = b->filter.exclude;
		text++;
	} else if (*text == '@') {
		to = b->filter.module;
		text++;
	}
	if (*text && !compiles(b, text, &checked))
		return;
	if (*text)
		regfree(&checked);
	if (b->typed[0] == '\0')
		b->filter.exclude[0] = b->filter.module[0] = '\0';
	(void)snprintf(to, NAMER_TEXT, "%s", text);
	if (b->focus)
		focus_choose(b->focus, &b->filter);
	browse_arrange(b);
}

/* ---- what is done to a process ---- */

struct task {
	struct browse *browse;
	pid_t pid;
	bool on;
};

static int do_snapshot(void *context)
{
	const struct task *t = context;

	return t->browse->plan->actions.snapshot(t->pid);
}

static int do_turn(void *context)
{
	const struct task *t = context;

	return t->browse->plan->actions.turn(t->pid, t->on);
}

/* Its pid; 0: nothing can be done to it, and that has been said. */
static pid_t target(struct browse *b)
{
	const struct board_process *p = browse_process(b);

	if (!p)
		browse_say(b, true, "there is no process here");
	else if (p->state == LIVE_ENDED)
		browse_say(b, true, "the process has ended");
	else if (p->pid == 0)
		browse_say(b, true, "the process is in a pid namespace that seep cannot see");
	else
		return p->pid;
	return 0;
}

static void start(struct browse *b, int (*work)(void *), struct task *task, bool snapshot)
{
	int err = errand_start(&b->errand, work, task);

	if (err < 0) {
		browse_say(b, true, "not started: %s", strerror(-err));
		return;
	}
	b->errand.is_snapshot = snapshot;
}

static void take_snapshot(struct browse *b)
{
	struct task t = {.browse = b, .pid = target(b)};

	if (t.pid > 0)
		start(b, do_snapshot, &t, true);
}

static void ask_to_turn(struct browse *b)
{
	const struct board_process *p = browse_process(b);
	pid_t pid = target(b);

	if (pid == 0)
		return;
	b->turn_pid = pid;
	b->turn_on = p->mode != SEG_MODE_ON && p->mode != SEG_MODE_SAMPLED;
	b->prompt = BROWSE_TURN;
}

static void zero(struct browse *b)
{
	struct engine_process *p;

	if (b->page == BROWSE_PROCESSES)
		for (size_t i = 0; i < engine_count(b->live); i++)
			engine_set_base(b->live, engine_at(b->live, i));
	p = b->focus ? browse_find(b, focus_number(b->focus)) : NULL;
	if (p) {
		engine_set_base(b->live, p);
		focus_set_base(b->focus, b->live, p);
		if (!b->is_frozen)
			(void)focus_fill(b->focus);
	}
	browse_arrange(b);
	browse_say(b, false, "SINCE counts from now on");
}

static void change_interval(struct browse *b, int direction)
{
	static const uint16_t steps[] = {1, 2, 5, 10, 20, 50, 100, 300, 600}; /* of 100 ms */
	const size_t count = sizeof(steps) / sizeof(steps[0]);
	uint64_t next = b->interval_ns;

	for (size_t i = 0; i < count; i++) {
		uint64_t up = steps[i] * BROWSE_LEAST_NS;
		uint64_t down = steps[count - 1 - i] * BROWSE_LEAST_NS;

		if (direction > 0 && up > b->interval_ns) {
			next = up;
			break;
		}
		if (direction < 0 && down < b->interval_ns) {
			next = down;
			break;
		}
	}
	b->interval_ns = next;
	b->next_look_ns = clock_ns(CLOCK_MONOTONIC) + next;
	browse_say(b, false, "looks every %g s", (double)next / 1e9);
}

static void freeze(struct browse *b)
{
	b->is_frozen = !b->is_frozen;
	if (!b->is_frozen) {
		(void)board_list_fill(&b->list, b->live);
		if (b->focus)
			(void)focus_fill(b->focus);
		browse_arrange(b);
	}
}

static void toggle_wrappers(struct browse *b)
{
	b->filter.wrappers = !b->filter.wrappers;
	if (b->focus)
		focus_choose(b->focus, &b->filter);
	browse_say(b, false,
	    b->filter.wrappers ? "FUNCTION is the caller of the allocation function"
	                       : "FUNCTION is the program's own, behind wrappers");
}

/* ---- prompts ---- */

static void ask_filter(struct browse *b)
{
	b->prompt = BROWSE_FILTER;
	b->typed[0] = '\0';
	b->typed_len = 0;
}

static void type(struct browse *b, int key)
{
	if (key == SCREEN_ESCAPE) {
		b->prompt = BROWSE_NO_PROMPT;
	} else if (key == SCREEN_ENTER) {
		b->prompt = BROWSE_NO_PROMPT;
		if (b->page == BROWSE_PROCESSES)
			filter_processes(b);
		else
			filter_sites(b);
	} else if (key == SCREEN_BACKSPACE) {
		if (b->typed_len == 0)
			b->prompt = BROWSE_NO_PROMPT;
		/* a character may have several bytes */
		while (b->typed_len > 0 && ((unsigned char)b->typed[--b->typed_len] & 0xc0) == 0x80)
			continue;
		b->typed[b->typed_len] = '\0';
	} else if (key == 'U' - '@') {
		b->typed[b->typed_len = 0] = '\0';
	} else if (key >= ' ' && key < 256 && key != 127 && b->typed_len + 1 < sizeof(b->typed)) {
		b->typed[b->typed_len++] = (char)key;
		b->typed[b->typed_len] = '\0';
	}
}

static void answer(struct browse *b, int key)
{
	struct task t = {.browse = b, .pid = b->turn_pid, .on = b->turn_on};

	b->prompt = BROWSE_NO_PROMPT;
	if (key == 'y' || key == 'Y')
		start(b, do_turn, &t, false);
	else
		browse_say(b, false, "nothing was changed");
}

/* ---- all keys ---- */

static void press(struct browse *b, int key)
{
	switch (key) {
	case 'q':
		b->quit = true;
		break;
	case '?':
		b->is_help = !b->is_help;
		b->help_top = 0;
		break;
	case SCREEN_ENTER:
		go_in(b);
		break;
	case SCREEN_ESCAPE:
	case SCREEN_BACKSPACE:
		go_out(b, false);
		break;
	case 'p':
		go_out(b, true);
		break;
	case SCREEN_LEFT:
		scroll(b, -1);
		break;
	case SCREEN_RIGHT:
		scroll(b, 1);
		break;
	case '<':
		sort_by(b, -1);
		break;
	case '>':
		sort_by(b, 1);
		break;
	case 'r':
		reverse(b);
		break;
	case '/':
		ask_filter(b);
		break;
	case 'z':
		zero(b);
		break;
	case ' ':
		freeze(b);
		break;
	case 's':
		take_snapshot(b);
		break;
	case 'o':
		ask_to_turn(b);
		break;
	case 'w':
		toggle_wrappers(b);
		break;
	case '+':
	case '=':
		change_interval(b, 1);
		break;
	case '-':
		change_interval(b, -1);
		break;
	case 'L' - '@':
		screen_redraw();
		break;
	default:
		break;
	}
}

void browse_take_keys(struct browse *b)
{
	int key;

	while (!b->quit && (key = screen_key()) != SCREEN_NONE) {
		if (key == SCREEN_RESIZED)
			continue;
		if (b->prompt == BROWSE_FILTER)
			type(b, key);
		else if (b->prompt == BROWSE_TURN)
			answer(b, key);
		else if (move(b, key))
			continue;
		else if (b->is_help && key != 'q')
			b->is_help = false; /* any key ends the help */
		else
			press(b, key);
	}
}
