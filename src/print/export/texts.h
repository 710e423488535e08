/* texts.h - the text of each frame in a format, made once. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_TEXTS_H
#define SEEP_TEXTS_H

#include <stdio.h>

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

#endif
