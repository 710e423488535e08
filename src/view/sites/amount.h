/* amount.h - sums of figures of sites, with signs in a comparison. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AMOUNT_H
#define SEEP_AMOUNT_H

#include "view/sites/view.h"
#include "view/sites/enum_words.h"

/*
 * What was added and what was removed; both sums do not wrap. Without a
 * comparison nothing is removed. The amount is the difference.
 */
struct amount {
	uint64_t plus, minus;
};

struct amounts {
	struct amount bytes, blocks, calls; /* calls: allocations */
	struct amount holds, pins;          /* resident: recording/parts/rss_account.h */
	double variance;                    /* of the bytes; exact: 0 */
	uint64_t sites;
};

/* The figure by which reports are sorted, and of which they show shares. */
enum amount_order {
	AMOUNT_BYTES,
	AMOUNT_BLOCKS,
	AMOUNT_CALLS,
	AMOUNT_HOLDS,
	AMOUNT_PINS,
};

/* Is this order one of resident pages, which somebody must have read? */
static inline bool amount_is_resident(int order)
{
	return order == AMOUNT_HOLDS || order == AMOUNT_PINS;
}

/* One site of a view. */
void amounts_of(const struct view *v, const struct view_site *s, int metric, struct amounts *ret);

/*
 * The total of which shares are shown: everything that the report is about. It
 * does not include what filters and suppressions leave out, because that could
 * push the rest below a threshold.
 */
void amounts_whole(const struct view *v, int metric, struct amounts *ret);

void amounts_add(struct amounts *to, const struct amounts *from);

/* The figure of this order. */
const struct amount *amounts_key(const struct amounts *a, int order);

/*
 * For sorting: negative if a comes before b. The larger comes first; in a
 * comparison, the larger change, so that a leak that was fixed is in the first
 * row.
 */
int amounts_compare(const struct amounts *a, const struct amounts *b, int order);

/* The same, but sites that grew come first; the one that shrank most is last. */
int amounts_compare_growth(const struct amounts *a, const struct amounts *b, int order);

/* The figure that is compared with a threshold: the larger of both sums. */
uint64_t amount_size(const struct amount *a);

enum { AMOUNT_MAX = WORDS_MAX + 2 };

/* "1,234"; with signs "+1,234", "-1,234", "0" */
const char *amount_text(char buffer[AMOUNT_MAX], const struct amount *a, bool with_sign);

/* "+1 byte", "1,234 blocks"; the noun in the singular */
const char *amount_counted(
    char buffer[WORDS_COUNTED], const struct amount *a, bool with_sign, const char *noun);

/*
 * Percent of the whole. In a comparison, percent of the sum of all changes,
 * each taken without its sign; the result has the sign of its own change. The
 * page uses the same rule.
 */
double amount_share(const struct amount *a, const struct amount *whole);

#endif
