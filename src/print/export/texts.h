/* texts.h - texts, modules and code addresses of a view, numbered. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TEXTS_H
#define SEEP_TEXTS_H

#include "base/std.h"
#include "kit/data/dict.h"
#include "view/sites/view.h"

/*
 * Stacks share frames and escaping a name takes time, so each text is made
 * once.
 */
struct texts;

/* `write` writes the text of a frame, without a NUL. -ENOMEM. */
int texts_new(
    const struct view *v, void (*write)(FILE *out, const struct frame *f), struct texts **ret);

/* NULL is fine. */
void texts_free(struct texts *t);

/* Writes the text of a frame. */
void texts_put(struct texts *t, uint32_t number, FILE *out);

/*
 * The function, by its short name if the view has these, or what else we can
 * call it: "libfoo.so+0x1b7", "0x7f12". Escaped as text_print() does.
 */
void texts_name(FILE *out, const struct frame *f);

/* "prog (pid 12)"; "(no name)" if it has none. */
void texts_process(FILE *out, const struct process *p);

/*
 * The same as strings, for formats that escape more; for free(). NULL: no
 * memory.
 */
char *texts_name_of(const struct frame *f);
char *texts_process_of(const struct process *p);

/* Any text as text_print() writes it; for free(). NULL: no memory. */
char *texts_shown(const char *from);

/* The arguments, those with a space in quotes, on one line. */
void texts_command(FILE *out, const struct process *p);

/* ---- modules: the modules of the frames of a view, numbered ---- */

struct modules_item {
	const char *path;
	const struct process_module *module; /* NULL: only the path is known */
	bool has_functions, has_files, has_lines, has_inlined;
};

/* Numbered as they come up: 0, 1, ... */
struct modules {
	struct modules_item *list;
	size_t count, room;
	struct modules_known *known; /* of all processes, by address */
	size_t known_count;
};

/* -ENOMEM. */
int modules_init(struct modules *m, const struct session *s);

void modules_release(struct modules *m);

/* By the path of a frame or module, not NULL. -ENOMEM. */
int modules_find(struct modules *m, const char *path, uint32_t *ret);

/* The address of a frame in the memory of the process. */
uint64_t modules_address(const struct modules *m, const struct frame *f);

/*
 * A frame as valgrind's tools write it: "0x401136: parse (a.c:12)" or
 * "0x401136: parse (in /usr/lib/libfoo.so)", where `unknown` stands for a module
 * that is not known.
 */
void modules_put_frame(
    FILE *out, const struct modules *m, const struct frame *f, const char *unknown);

/* ---- strings: texts kept once and numbered ---- */

/* Zeros: none yet. */
struct strings {
	char **list; /* by number, as they come up: 0, 1, ... */
	size_t count, room;
	struct dict index;
};

/* The number of a text, of which it keeps a copy. -ENOMEM. */
int strings_find(struct strings *s, const char *text, uint32_t *ret);

void strings_release(struct strings *s);

/* ---- locations: code addresses of stacks, with what is inlined there ---- */

/* Frames of a site: functions inlined, then the one that holds them. */
struct location {
	const uint32_t *frames; /* numbers, innermost first */
	uint32_t count;         /* 0: of a stack without frames */
};

/* Each once, numbered as they come up: 0, 1, ... Zeros: none yet. */
struct locations {
	struct location *list;
	size_t count, room;
	struct dict index;
};

/*
 * The next location of a site, from its frame number *at on; moves *at past it.
 * -ENOMEM.
 */
int locations_next(struct locations *l, const struct view *v, const struct view_site *s,
    uint32_t *at, uint32_t *ret);

void locations_release(struct locations *l);

#endif
