/* amount.h - figures of sites added up, with signs where two are compared. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_REPORT_AMOUNT_H
#define SEEP_REPORT_AMOUNT_H

#include "report/view.h"
#include "report/words.h"

/*
 * What came and what went, each a sum that saturates; without a comparison
 * nothing went. The amount is the difference.
 */
struct amount {
	uint64_t plus, minus;
};

struct amounts {
	struct amount bytes, blocks, calls; /* calls: allocations */
	double variance;                    /* of the bytes; exact: 0 */
	uint64_t sites;
};

/* By what reports are sorted, and of what they give shares. */
enum amount_order { AMOUNT_BYTES, AMOUNT_BLOCKS, AMOUNT_CALLS };

/* One site of a view. */
void amounts_of(const struct view *v, const struct view_site *s, int metric,
    struct amounts *ret);

/*
 * What shares are of: all that the report is about. What filters and
 * suppressions leave out is not, or it would hide the rest below a threshold.
 */
void amounts_whole(const struct view *v, int metric, struct amounts *ret);

void amounts_add(struct amounts *to, const struct amounts *from);

/* The figure that counts. */
const struct amount *amounts_key(const struct amounts *a, int order);

/*
 * For sorting: negative when a comes before b. The larger first, in a
 * comparison the larger change: a leak that is mended is its first row.
 */
int amounts_compare(
    const struct amounts *a, const struct amounts *b, int order);

/* The same, but sites that grew come first; the one that shrank most is last. */
int amounts_compare_growth(
    const struct amounts *a, const struct amounts *b, int order);

/* What it is at least worth to be shown: the larger of both sums. */
uint64_t amount_size(const struct amount *a);

enum { AMOUNT_MAX = WORDS_MAX + 2 };

/* "1,234"; with signs "+1,234", "-1,234", "0" */
const char *amount_text(
    char buffer[AMOUNT_MAX], const struct amount *a, bool with_sign);

/* "+1 byte", "1,234 blocks"; the noun in the singular */
const char *amount_counted(char buffer[WORDS_COUNTED], const struct amount *a,
    bool with_sign, const char *noun);

/*
 * Percent of the whole; in a comparison of all changes, by how much each site
 * grew or shrank, and with the sign of its own. The page has the same.
 */
double amount_share(const struct amount *a, const struct amount *whole);

#endif
