/* shell_text.h - the simple commands in the text of a shell, roughly. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SHELL_TEXT_H
#define SEEP_SHELL_TEXT_H

#include "attach/service/quoting.h"

/*
 * Takes the words of the next simple command from *text and moves it behind
 * them. Quotes and backslashes are taken away, comments skipped; what a shell
 * would replace stays in the word (${A}, `b`, $(c)), so that it can be seen
 * there. Of a word longer than 64 KiB the rest is dropped. It ends at ; & | newline and brackets. `w` is empty if there are no words,
 * as between two separators. 0: the text is at its end; 1; -ENOMEM.
 */
int shell_text_next(const char **text, struct quoting_words *w);

#endif
