/* suggest.c - finds the word that a misspelt one may have meant. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "command/options/suggest.h"

#include <string.h>

enum { WORD_MAX = 32 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * The number of letters to add, drop, replace or swap with a neighbour to get
 * from a to b: the distance of Damerau and Levenshtein, with three rows of its
 * matrix.
 */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][WORD_MAX + 1];
	unsigned *before = rows[0], *above = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		above[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		unsigned *oldest = before;

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned d = above[j - 1] + (a[i - 1] != b[j - 1]);

			d = least(d, least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d = least(d, before[j - 2] + 1);
			row[j] = d;
		}
		before = above;
		above = row;
		row = oldest;
	}
	return above[m];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
	size_t n = strlen(s->word), m = strlen(candidate);
	unsigned d;

	if (n < 2 || n > WORD_MAX || m > WORD_MAX)
		return;
	/* the beginning of a word probably means that word */
	d = n < m && memcmp(s->word, candidate, n) == 0 ? 1 : distance(s->word, n, candidate, m);
	if (d > (n < 5 ? 1 : n < 9 ? 2 : 3) || (s->best && d >= s->distance))
		return;
	s->best = candidate;
	s->distance = d;
}
