/* amount.h - sums of figures of sites, and the tree of their callers. */
/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SEEP_AMOUNT_H
#define SEEP_AMOUNT_H

#include "view/sites/enum_words.h"
#include "view/sites/view.h"

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
    char buffer[WORDS_COUNTED_MAX], const struct amount *a, bool with_sign, const char *noun);

/*
 * Percent of the whole. In a comparison, percent of the sum of all changes,
 * each taken without its sign; the result has the sign of its own change. The
 * page uses the same rule.
 */
double amount_share(const struct amount *a, const struct amount *whole);

/* ---- tree: the sites of a view as a tree of callers, or of callees ---- */

struct tree_options {
	int metric;       /* enum view_metric */
	int order;        /* enum amount_order */
	bool top_down;    /* main first; else the user's own that allocates */
	bool by_line;     /* separate nodes for lines of a function */
	bool grown_first; /* sort by amounts_compare_growth() */
};

/*
 * Only the sites are stored, in the order of their stacks. A node is a range of
 * sites whose stacks begin alike, and its children are found when they are
 * asked for. So the tree costs as much as the part that is looked at.
 */
struct tree;

enum { TREE_API = UINT32_MAX }; /* instead of a frame: the allocation */

struct tree_node {
	uint32_t first, last; /* the range, without last */
	uint32_t depth;       /* number of frames that lead here; the root: 0 */
	uint32_t frame;       /* without a line if it stands for several */
	uint32_t repeats;     /* how deep the recursion is; 1: there is none */
	uint8_t api;          /* if frame is TREE_API */
	bool is_inner;        /* the node before it calls it */
	struct amounts amounts;
};

/* Borrows the view; may add frames to it. -ENOMEM. */
int tree_new(struct view *v, const struct tree_options *options, struct tree **ret);

/* NULL is fine. */
void tree_free(struct tree *t);

/* All sites. */
void tree_root(const struct tree *t, struct tree_node *ret);

/*
 * The children, sorted; the caller frees them. A node where all stacks end has
 * none. -ENOMEM.
 */
int tree_children(
    struct tree *t, const struct tree_node *n, struct tree_node **ret, size_t *ret_count);

#endif
