/* columns.c - the figures at the left of a tree or a table. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/text/table_parts.h"

#include "base/std.h"
#include <math.h>

enum { SHARE = 7, GAP = 2 };

static int at_least(const char *text, const char *title)
{
	size_t a = strlen(text), b = strlen(title);

	return (int)(a > b ? a : b);
}

/* The widest text that can occur: no part is wider than the sums. */
static int width_of(const struct amount *a, bool with_sign, const char *title)
{
	struct amount most = {.plus = amount_size(a)};
	char buffer[AMOUNT_MAX];

	return at_least(amount_text(buffer, &most, with_sign), title);
}

static const char *error_text(char buffer[WORDS_MAX + 3], double variance)
{
	(void)snprintf(buffer, WORDS_MAX + 3, "+-%s", WORDS_COUNT(process_error(variance)));
	return buffer;
}

void columns_init(struct columns *c, const struct view *v, int metric, int order, bool with_holds)
{
	char buffer[WORDS_MAX + 3];

	*c = (struct columns){.order = order, .with_sign = v->is_compared};
	amounts_whole(v, metric, &c->whole);
	c->with_error = c->whole.variance > 0;
	c->with_calls = order == AMOUNT_CALLS && metric != VIEW_ALLOCS;
	c->blocks_word = metric == VIEW_ALLOCS ? "calls" : "blocks";
	c->bytes = width_of(&c->whole.bytes, c->with_sign, "bytes");
	c->blocks = width_of(&c->whole.blocks, c->with_sign, c->blocks_word);
	c->calls = width_of(&c->whole.calls, c->with_sign, "calls");
	/* without a split of the heap nothing is known of any site */
	c->with_holds =
	    (with_holds && amount_size(&c->whole.holds) > 0) || amount_is_resident(order);
	c->holds = width_of(&c->whole.holds, c->with_sign, "holds");
	c->pins = width_of(&c->whole.pins, c->with_sign, "pins");
	c->error = at_least(error_text(buffer, c->whole.variance), "+-95%");
}

/* Ready texts. */
struct line {
	const char *share, *bytes, *error, *blocks, *calls, *holds, *pins;
};

/* Writes the beginning of all lines. */
static size_t print(const struct columns *c, const struct layout *p, const struct line *x)
{
	int n;

	n = fprintf(p->out, "%*s %*s", SHARE, x->share, c->bytes, x->bytes);
	if (c->with_error)
		n += fprintf(p->out, " %*s", c->error, x->error);
	n += fprintf(p->out, " %*s", c->blocks, x->blocks);
	if (c->with_calls)
		n += fprintf(p->out, " %*s", c->calls, x->calls);
	if (c->with_holds)
		n += fprintf(p->out, " %*s %*s", c->holds, x->holds, c->pins, x->pins);
	n += fprintf(p->out, "%*s", GAP, "");
	return n > 0 ? (size_t)n : 0;
}

size_t columns_head(const struct columns *c, const struct layout *p)
{
	const struct line head = {
	    "share", "bytes", "+-95%", c->blocks_word, "calls", "holds", "pins"};

	return print(c, p, &head);
}

size_t columns_blank(const struct columns *c, const struct layout *p)
{
	const struct line blank = {"", "", "", "", "", "", ""};

	return print(c, p, &blank);
}

bool columns_is_below(const struct columns *c, const struct amounts *a, double threshold)
{
	/* growth in one place may hide shrinkage in another, so it is shown */
	const struct amount size = {.plus = amount_size(amounts_key(a, c->order))};

	return fabs(amount_share(&size, amounts_key(&c->whole, c->order))) < threshold;
}

size_t columns_print(const struct columns *c, const struct layout *p, const struct amounts *a)
{
	char share[16], bytes[AMOUNT_MAX], blocks[AMOUNT_MAX], calls[AMOUNT_MAX], holds[AMOUNT_MAX],
	    pins[AMOUNT_MAX], error[WORDS_MAX + 3];
	const struct amount *key = amounts_key(a, c->order);
	size_t n;

	(void)snprintf(share, sizeof(share), c->with_sign ? "%+.1f%%" : "%.1f%%",
	    amount_share(key, amounts_key(&c->whole, c->order)));
	if (c->with_sign && key->plus != key->minus)
		(void)fputs(
		    layout_colour(p, key->plus > key->minus ? LAYOUT_MORE : LAYOUT_LESS), p->out);
	n = print(c, p,
	    &(struct line){share, amount_text(bytes, &a->bytes, c->with_sign),
	        error_text(error, a->variance), amount_text(blocks, &a->blocks, c->with_sign),
	        amount_text(calls, &a->calls, c->with_sign),
	        amount_text(holds, &a->holds, c->with_sign),
	        amount_text(pins, &a->pins, c->with_sign)});
	if (c->with_sign && key->plus != key->minus)
		(void)fputs(layout_colour(p, LAYOUT_PLAIN), p->out);
	return n;
}

void columns_rest(const struct columns *c, const struct layout *p, const struct amounts *a,
    uint64_t places, size_t indent, const char *why)
{
	if (places == 0)
		return;
	(void)columns_print(c, p, a);
	(void)fprintf(p->out, "%*s%sin %s%s%s\n", (int)indent, "", layout_colour(p, LAYOUT_DIM),
	    WORDS_COUNTED(places, "place"), why, layout_colour(p, LAYOUT_PLAIN));
}
