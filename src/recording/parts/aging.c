/* aging.c - encodes and decodes ages and births (docs/RECORDING.md). */
/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts/aging.h"

#include "recording/file/codec.h"

/*
 * Varints. The lengths of the lists are in the head, so a reader skips what a
 * later version appends to a list or to a row.
 */
enum { LIST_MAX = 256, ROW_MIN = 83 };

static void put_list(struct codec_out *o, const uint64_t *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		codec_put(o, list[i]);
}

int aging_encode(const struct aging *a, uint8_t **ret, size_t *ret_len)
{
	struct codec_out o = {0};
	uint32_t before = 0;

	if (a->count > AGING_SITES_MAX || a->limit_count > AGING_LIMITS)
		return -EFBIG;
	codec_put(&o, a->tick);
	codec_put(&o, AGING_DEATHS);
	codec_put(&o, AGING_LIVING);
	codec_put(&o, SEG_BIRTH_SLOTS);
	codec_put(&o, a->limit_count);
	for (size_t i = 0; i < a->limit_count; i++) {
		codec_put(&o, a->limits[i].kind);
		codec_put(&o, a->limits[i].limit);
		codec_put(&o, a->limits[i].used);
	}
	codec_put(&o, a->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct aging_site *s = &a->sites[i];

		codec_put(&o, s->site - before);
		codec_put(&o, s->first_tick);
		codec_put(&o, s->blocks);
		codec_put(&o, s->bytes);
		codec_put(&o, s->moved);
		put_list(&o, s->deaths, AGING_DEATHS);
		put_list(&o, s->living, AGING_LIVING);
		put_list(&o, s->births, SEG_BIRTH_SLOTS);
		before = s->site;
	}
	if (o.failed) {
		codec_release(&o);
		return -ENOMEM;
	}
	*ret = o.bytes;
	*ret_len = o.len;
	return 0;
}

/* ---- reading ---- */

struct lengths {
	uint64_t deaths, living, births;
};

/* A longer list is of a later version: what is behind is skipped. */
static void get_list(struct codec_in *in, uint64_t *ret, size_t count, uint64_t has)
{
	for (uint64_t i = 0; i < has && !in->bad; i++) {
		uint64_t n = codec_get(in);

		if (i < count)
			ret[i] = n;
	}
}

static bool get_small(struct codec_in *in, uint64_t max, uint32_t *ret)
{
	uint64_t n = codec_get(in);

	if (in->bad || n > max)
		return false;
	*ret = (uint32_t)n;
	return true;
}

static bool get_lengths(struct codec_in *in, struct lengths *ret)
{
	ret->deaths = codec_get(in);
	ret->living = codec_get(in);
	ret->births = codec_get(in);
	return ret->deaths >= AGING_DEATHS && ret->deaths <= LIST_MAX &&
	    ret->living >= AGING_LIVING && ret->living <= LIST_MAX &&
	    ret->births == SEG_BIRTH_SLOTS; /* other slots are other times */
}

static bool get_limits(struct codec_in *in, struct aging *a)
{
	uint64_t count = codec_get(in);

	if (count > LIST_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		struct aging_limit x;

		if (!get_small(in, UINT32_MAX, &x.kind))
			return false;
		x.limit = codec_get(in);
		x.used = codec_get(in);
		if (a->limit_count < AGING_LIMITS)
			a->limits[a->limit_count++] = x;
	}
	return !in->bad;
}

/* Ids grow, so each is there once. */
static bool get_site(
    struct codec_in *in, const struct lengths *l, uint32_t before, struct aging_site *s)
{
	uint32_t step;

	if (!get_small(in, UINT32_MAX - before, &step) || step == 0 ||
	    !get_small(in, UINT32_MAX, &s->first_tick))
		return false;
	s->site = before + step;
	s->blocks = codec_get(in);
	s->bytes = codec_get(in);
	s->moved = codec_get(in);
	get_list(in, s->deaths, AGING_DEATHS, l->deaths);
	get_list(in, s->living, AGING_LIVING, l->living);
	get_list(in, s->births, SEG_BIRTH_SLOTS, l->births);
	return !in->bad;
}

int aging_decode(const uint8_t *bytes, size_t len, struct aging *ret)
{
	struct codec_in in = {.at = bytes, .end = bytes + len};
	struct aging a = {0};
	struct lengths l;
	uint32_t count, before = 0;

	if (!get_small(&in, UINT32_MAX, &a.tick) || !get_lengths(&in, &l) || !get_limits(&in, &a) ||
	    !get_small(&in, AGING_SITES_MAX, &count) ||
	    /* a row has a byte or more for each number */
	    count > (size_t)(in.end - in.at) / ROW_MIN)
		return -EBADMSG;
	a.sites = calloc(count + 1u, sizeof(*a.sites));
	if (!a.sites)
		return -ENOMEM;
	for (; a.count < count; a.count++) {
		if (!get_site(&in, &l, before, &a.sites[a.count])) {
			aging_release(&a);
			return -EBADMSG;
		}
		before = a.sites[a.count].site;
	}
	*ret = a;
	return 0;
}

void aging_release(struct aging *a)
{
	free(a->sites);
	*a = (struct aging){0};
}

static int by_id(const void *key, const void *item)
{
	uint32_t a = *(const uint32_t *)key;
	uint32_t b = ((const struct aging_site *)item)->site;

	return (a > b) - (a < b);
}

const struct aging_site *aging_find(const struct aging *a, uint32_t id)
{
	return a->count > 0 ? bsearch(&id, a->sites, a->count, sizeof(*a->sites), by_id) : NULL;
}
