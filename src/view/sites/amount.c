/* amount.c - sums of figures of sites, with signs in a comparison. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "view/sites/amount.h"
#include "kit/data/capped.h"

static struct amount between(uint64_t before, uint64_t after)
{
	return (struct amount){.plus = after > before ? after - before : 0,
	    .minus = before > after ? before - after : 0};
}

void amounts_of(const struct view *v, const struct view_site *s, int metric, struct amounts *ret)
{
	const struct view_figures *a = &s->before, *b = &s->figures;

	*ret = (struct amounts){.bytes = between(view_bytes(a, metric), view_bytes(b, metric)),
	    .blocks = between(view_blocks(a, metric), view_blocks(b, metric)),
	    .calls = between(a->all.allocations, b->all.allocations),
	    .holds = between(a->holds_bytes, b->holds_bytes),
	    .pins = between(view_pins(a), view_pins(b)),
	    .variance = view_variance(b, metric),
	    .sites = s->count};
	if (v->is_compared)
		ret->variance += view_variance(a, metric);
}

static void add_sum(struct amounts *to, const struct view_sum *sum, int metric)
{
	struct amounts a = {.bytes = {.plus = view_bytes(&sum->figures, metric)},
	    .blocks = {.plus = view_blocks(&sum->figures, metric)},
	    .calls = {.plus = sum->figures.all.allocations},
	    .holds = {.plus = sum->figures.holds_bytes},
	    .pins = {.plus = view_pins(&sum->figures)},
	    .variance = view_variance(&sum->figures, metric),
	    .sites = sum->sites};

	amounts_add(to, &a);
}

void amounts_whole(const struct view *v, int metric, struct amounts *ret)
{
	*ret = (struct amounts){0};
	if (!v->is_compared) {
		add_sum(ret, &v->chosen, metric);
		return;
	}
	for (size_t i = 0; i < v->site_count; i++) {
		struct amounts a;

		amounts_of(v, &v->sites[i], metric, &a);
		amounts_add(ret, &a);
	}
}

static void add(struct amount *to, const struct amount *from)
{
	to->plus = capped_sum(to->plus, from->plus);
	to->minus = capped_sum(to->minus, from->minus);
}

void amounts_add(struct amounts *to, const struct amounts *from)
{
	add(&to->bytes, &from->bytes);
	add(&to->blocks, &from->blocks);
	add(&to->calls, &from->calls);
	add(&to->holds, &from->holds);
	add(&to->pins, &from->pins);
	to->variance += from->variance;
	to->sites = capped_sum(to->sites, from->sites);
}

const struct amount *amounts_key(const struct amounts *a, int order)
{
	switch (order) {
	case AMOUNT_BLOCKS:
		return &a->blocks;
	case AMOUNT_CALLS:
		return &a->calls;
	case AMOUNT_HOLDS:
		return &a->holds;
	case AMOUNT_PINS:
		return &a->pins;
	default:
		return &a->bytes;
	}
}

static uint64_t net_size(const struct amount *a)
{
	return a->plus >= a->minus ? a->plus - a->minus : a->minus - a->plus;
}

/*
 * Negative: a changed more, up or down. Growth comes before an equal shrinkage,
 * and a site whose changes cancel out before one without changes.
 */
static int compare(const struct amount *a, const struct amount *b)
{
	uint64_t v = net_size(a), w = net_size(b);
	bool x = a->plus >= a->minus, y = b->plus >= b->minus;

	if (v != w)
		return v > w ? -1 : 1;
	if (x != y)
		return x ? -1 : 1;
	if (a->plus != b->plus)
		return a->plus > b->plus ? -1 : 1;
	return 0;
}

int amounts_compare(const struct amounts *a, const struct amounts *b, int order)
{
	int n = compare(amounts_key(a, order), amounts_key(b, order));

	if (n == 0)
		n = compare(&a->bytes, &b->bytes);
	return n ? n : compare(&a->blocks, &b->blocks);
}

int amounts_compare_growth(const struct amounts *a, const struct amounts *b, int order)
{
	const struct amount *x = amounts_key(a, order);
	const struct amount *y = amounts_key(b, order);
	bool v = x->plus >= x->minus, w = y->plus >= y->minus;

	if (v != w)
		return v ? -1 : 1;
	return v ? amounts_compare(a, b, order) : amounts_compare(b, a, order);
}

uint64_t amount_size(const struct amount *a)
{
	return a->plus > a->minus ? a->plus : a->minus;
}

const char *amount_text(char buffer[AMOUNT_MAX], const struct amount *a, bool with_sign)
{
	uint64_t n = net_size(a);

	(void)snprintf(buffer, AMOUNT_MAX, "%s%s",
	    a->minus > a->plus       ? "-"
	        : with_sign && n > 0 ? "+"
	                             : "",
	    WORDS_COUNT(n));
	return buffer;
}

const char *amount_counted(
    char buffer[WORDS_COUNTED_MAX], const struct amount *a, bool with_sign, const char *noun)
{
	uint64_t n = net_size(a);
	char digits[AMOUNT_MAX];

	(void)snprintf(buffer, WORDS_COUNTED_MAX, "%s %s%s", amount_text(digits, a, with_sign),
	    noun, words_ending(n, noun));
	return buffer;
}

double amount_share(const struct amount *a, const struct amount *whole)
{
	double all = (double)whole->plus + (double)whole->minus;

	if (all <= 0)
		return 0;
	return 100.0 * ((double)a->plus - (double)a->minus) / all;
}
