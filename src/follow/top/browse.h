/* browse.h - top on a terminal: pages of processes, sites and one stack. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_BROWSE_H
#define SEEP_BROWSE_H

#include <regex.h>

#include "follow/engine/engine.h"
#include "follow/top/focus.h"
#include "follow/top/fields.h"
#include "follow/top/screen.h"

/* Done in a child; what it prints is shown. Returns an exit status. */
struct browse_actions {
	int (*snapshot)(pid_t pid);
	int (*turn)(pid_t pid, bool on);
};

struct browse_plan {
	uint64_t interval_ns;
	struct fields_order order;
	struct namer_filter filter;
	const struct names_options *naming;
	struct browse_actions actions;
	bool colour, utf8;
	const char *notice; /* shown at first; NULL: nothing */
};

/* Intervals: what + and - choose from, and what --interval is at least. */
#define BROWSE_LEAST_NS UINT64_C(100000000)

/*
 * Until the user leaves. Errors as of screen_open(), or -ENOMEM; the terminal
 * is as it was before.
 */
int browse_run(struct engine *l, const struct browse_plan *plan);

/* The keys and what they do, for the help and for tests; NULL ends them. */
struct browse_key {
	const char *key, *meaning;
};
extern const struct browse_key browse_keys[];

/* ---- browse_parts: what the files of browse.h share ---- */

enum browse_page { BROWSE_PROCESSES, BROWSE_SITES, BROWSE_STACK };
enum browse_prompt { BROWSE_NO_PROMPT, BROWSE_FILTER, BROWSE_TURN };
enum { BROWSE_MESSAGE = 600 };

struct browse {
	struct engine *live;
	const struct browse_plan *plan;
	uint64_t interval_ns, next_look_ns;
	bool quit, is_frozen, is_help;
	int page;
	struct fields_order order;
	unsigned scroll[3]; /* columns hidden at the left, by page */

	/* rows as they are shown, and the positions of those that filters
	 * leave; all of the last look, or of the one before the freeze */
	struct board_list list;
	uint32_t *processes, *sites;
	size_t process_count, process_room, site_count, site_room;
	uint64_t process;        /* the number of the selected one */
	uint32_t site;           /* the id of the selected one */
	size_t top[3], help_top; /* first row, or line, on the screen */

	struct namer_filter filter;      /* of sites */
	char process_filter[NAMER_TEXT]; /* of services; "": none */
	regex_t process_regexp;

	struct focus *focus; /* sites are shown of this one; NULL: of none */
	unsigned page_columns;
	uint64_t page_ns; /* when the page of the stack was asked for */

	struct errand errand;
	char message[BROWSE_MESSAGE];
	bool message_is_bad;
	uint64_t message_until_ns;

	int prompt; /* enum browse_prompt */
	char typed[NAMER_TEXT];
	size_t typed_len;
	pid_t turn_pid;
	bool turn_on;
};

/* The rows of the selected process and site; NULL: there is none. */
struct board_process *browse_process(struct browse *b);
struct focus_site *browse_site(struct browse *b);

/* The process of the engine with this number; NULL: it is forgotten. */
struct engine_process *browse_find(const struct browse *b, uint64_t number);

/* Which row is selected: position in processes[] or sites[]. */
size_t browse_process_position(const struct browse *b);
size_t browse_site_position(struct browse *b);

/* Sorts and filters the rows again. */
void browse_arrange(struct browse *b);

/* Has the sites of the right process, or none. */
void browse_set_focus(struct browse *b);

/* Asks for the page of the selected site. */
void browse_ask_page(struct browse *b);

/* A sentence on the last line, for some seconds; text may be untrusted. */
void browse_say(struct browse *b, bool is_bad, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* All keys that wait. */
void browse_take_keys(struct browse *b);

/* Shows the picture. Also moves the first row so that the selected is seen. */
void browse_draw(struct browse *b);

/* Lines for rows on this page. */
size_t browse_room(const struct browse *b);

#endif
