/* items.c - rows of items (time line, names), taken apart and changed. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "items.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "twist.h"

enum { TAGS = 8, KNOWN_ITEMS = 2, KNOWN_NUMBERS = 10, ROW_NUMBERS = 4 };

/* One item in the bytes around it. */
struct item {
	size_t at;   /* of its tag */
	size_t body; /* of what it says */
	size_t end;
	uint32_t tag;
};

/* All items, as far as they are whole; for free(). */
static struct item *find_items(const struct codec_out *content, size_t *ret_count)
{
	struct codec_in in = {content->bytes, content->bytes + content->len, false};
	struct item *all = NULL;
	struct codec_in body;
	size_t n = 0, at = 0;
	uint32_t tag;

	while (codec_get_item(&in, &tag, &body)) {
		if ((n & (n - 1)) == 0)
			all = reallocarray(all, n ? n * 2 : 1, sizeof(*all));
		if (!all)
			abort(); /* the test's own trouble */
		all[n++] = (struct item){at, (size_t)(body.at - content->bytes),
		    (size_t)(body.end - content->bytes), tag};
		at = (size_t)(in.at - content->bytes);
	}
	*ret_count = n;
	return all;
}

/* `bytes` instead of [from, to). */
static void replace(
    struct codec_out *content, size_t from, size_t to, const struct codec_out *bytes)
{
	struct codec_out whole = {0};

	codec_put_bytes(&whole, content->bytes, from);
	codec_put_bytes(&whole, bytes->bytes, bytes->len);
	codec_put_bytes(&whole, content->bytes + to, content->len - to);
	codec_release(content);
	*content = whole;
}

/* The k-th number of an item: its bytes are [*from, *to); false: no such. */
static bool find_number(const struct codec_out *content, const struct item *x, size_t k,
    size_t *from, size_t *to, uint64_t *value)
{
	struct codec_in in = {content->bytes + x->body, content->bytes + x->end, false};

	for (size_t i = 0; i <= k; i++) {
		if (in.at == in.end)
			return false;
		*from = (size_t)(in.at - content->bytes);
		*value = codec_get(&in);
		if (in.bad)
			return false;
		*to = (size_t)(in.at - content->bytes);
	}
	return true;
}

/* The item anew, with bytes instead of [from, to) in its body. */
static void replace_in_item(struct codec_out *content, const struct item *x, size_t from, size_t to,
    const struct codec_out *bytes)
{
	struct codec_out body = {0}, item = {0};

	codec_put_bytes(&body, content->bytes + x->body, from - x->body);
	codec_put_bytes(&body, bytes->bytes, bytes->len);
	codec_put_bytes(&body, content->bytes + to, x->end - to);
	codec_put_item(&item, (enum codec_tag)x->tag, &body);
	replace(content, x->at, x->end, &item);
	codec_release(&item);
	codec_release(&body);
}

static void set_number(
    struct codec_out *content, const struct item *x, size_t from, size_t to, uint64_t value)
{
	struct codec_out number = {0};

	codec_put(&number, value);
	replace_in_item(content, x, from, to, &number);
	codec_release(&number);
}

/* Rows of a table have fields of their own. */
static bool twist_rows(struct codec_out *content, const struct item *x, struct chance *c)
{
	struct fields_place p;
	uint64_t kind, row_bytes, value;
	size_t from, to, rows;

	if (x->tag != CODEC_ROWS || !find_number(content, x, 1, &from, &to, &kind) ||
	    !find_number(content, x, 2, &from, &to, &row_bytes) ||
	    !find_number(content, x, ROW_NUMBERS - 1, &from, &to, &value) || row_bytes == 0 ||
	    row_bytes > x->end - to || !fields_of_row((uint32_t)kind, chance_below(c, 16), &p) ||
	    p.at + p.width > row_bytes)
		return false;
	rows = (x->end - to) / row_bytes;
	p.at += to + chance_below(c, rows) * row_bytes;
	fields_set(content->bytes, &p, twist_value(c, fields_get(content->bytes, &p)));
	return true;
}

static void twist_number(struct codec_out *content, const struct item *x, struct chance *c)
{
	static const uint8_t endless[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1};
	struct codec_out longer = {.len = sizeof(endless)};
	uint64_t value;
	size_t from, to;

	if (chance_below(c, 3) == 0 && twist_rows(content, x, c))
		return;
	if (!find_number(content, x, chance_below(c, 12), &from, &to, &value))
		return;
	if (chance_below(c, 16) > 0) {
		set_number(content, x, from, to, twist_value(c, value));
		return;
	}
	longer.bytes = malloc(sizeof(endless));
	if (!longer.bytes)
		abort();
	memcpy(longer.bytes, endless, sizeof(endless));
	replace_in_item(content, x, from, to, &longer);
	codec_release(&longer);
}

/* Items dropped, doubled, with another tag or length. */
static void twist_item(
    struct codec_out *content, const struct item *x, const struct item *y, struct chance *c)
{
	struct codec_out copy = {0};

	switch (chance_below(c, 5)) {
	case 0:
		replace(content, x->at, x->end, &copy);
		break;
	case 1:
		codec_put_bytes(&copy, content->bytes + x->at, x->end - x->at);
		replace(content, y->at, y->at, &copy);
		break;
	case 2:
		content->bytes[x->at] = (uint8_t)chance_below(c, TAGS + 1);
		break;
	case 3: /* a length that is not so */
		codec_put(&copy, twist_value(c, x->end - x->body));
		replace(content, x->at + 1, x->body, &copy);
		break;
	default:
		content->len = x->at + chance_below(c, x->end - x->at + 1);
		break;
	}
	codec_release(&copy);
}

void items_twist(struct codec_out *content, struct chance *c)
{
	struct item x, y, *all;
	size_t n;

	all = find_items(content, &n);
	if (n > 0) {
		x = all[chance_below(c, n)];
		y = all[chance_below(c, n)];
		if (chance_below(c, 4) == 0)
			twist_item(content, &x, &y, c);
		else
			twist_number(content, &x, c);
	}
	free(all);
}

bool items_known(struct codec_out *content, const uint64_t *values, size_t count, size_t *n)
{
	size_t seen[TAGS] = {0}, items;
	struct item *all = find_items(content, &items);
	bool done = false;

	for (size_t i = 0; i < items && !done; i++) {
		const struct item x = all[i];
		uint64_t was;
		size_t from, to;

		if (x.tag >= TAGS || seen[x.tag]++ >= KNOWN_ITEMS)
			continue;
		for (size_t k = 0;
		     k < KNOWN_NUMBERS && !done && find_number(content, &x, k, &from, &to, &was);
		     k++) {
			if (*n >= count) {
				*n -= count;
				continue;
			}
			set_number(content, &x, from, to, values[*n]);
			done = true;
		}
	}
	free(all);
	return done;
}
