/* suggest.h - what a misspelt word may have meant. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_CLI_SUGGEST_H
#define SEEP_CLI_SUGGEST_H

/* The nearest of the words offered so far. */
struct suggest {
	const char *word; /* what was typed */
	const char *best; /* NULL: none is near */
	unsigned distance;
};

/* `candidate` must outlive s. Equal ones are won by who came first. */
void suggest_offer(struct suggest *s, const char *candidate);

#endif
