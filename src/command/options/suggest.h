/* suggest.h - finds the word that a misspelt one may have meant. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_SUGGEST_H
#define SEEP_SUGGEST_H

/* The most similar word so far. */
struct suggest {
	const char *word; /* the word that was typed */
	const char *best; /* NULL: none is similar */
	unsigned distance;
};

/* `candidate` must outlive s. Of equally similar ones the first wins. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
