/* playback.c - replays the time line of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "session/timeline/playback.h"

#include "base/std.h"
#include "kit/data/room.h"
#include "kit/data/sorted.h"

enum {
	HEADER_WORDS = SEG_HEADER_BYTES / 8,
};

struct playback {
	struct playback_hooks hooks;
	struct playback_process **processes;
	size_t count, room;
	uint64_t time_us;
	uint64_t bytes;   /* bytes used so far */
	uint64_t allowed; /* at most */
};

int playback_new(const struct playback_hooks *hooks, struct playback **ret)
{
	struct playback *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->hooks = *hooks;
	r->allowed = PLAYBACK_FREE_BYTES;
	*ret = r;
	return 0;
}

static void free_process(struct playback_process *p)
{
	struct playback_state *s = p->state;

	for (size_t i = 0; s && i < s->block_room; i++)
		free(s->blocks[i]);
	for (size_t i = 0; s && i < s->patch_count; i++)
		free(s->patches[i].rows);
	if (s) {
		free(s->blocks);
		free(s->patches);
	}
	free(s);
	free(p);
}

void playback_free(struct playback *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++)
		free_process(r->processes[i]);
	free(r->processes);
	free(r);
}

size_t playback_count(const struct playback *r)
{
	return r->count;
}

struct playback_process *playback_process(const struct playback *r, size_t i)
{
	return r->processes[i];
}

uint64_t playback_time_us(const struct playback *r)
{
	return r->time_us;
}

/* Counts the memory in use, so that no input exceeds the limit. */
static int take(struct playback *r, uint64_t bytes)
{
	if (bytes > r->allowed || r->bytes > r->allowed - bytes)
		return -EFBIG;
	r->bytes += bytes;
	return 0;
}

/* The first process whose number is not below this one. */
static size_t find_place(const struct playback *r, uint64_t number)
{
	return sorted_first(r->processes, r->count, x, (*x)->number < number);
}

struct playback_process *playback_find(const struct playback *r, uint64_t number)
{
	size_t at = find_place(r, number);

	if (at == r->count || r->processes[at]->number != number)
		return NULL;
	return r->processes[at];
}

static int on_process(struct playback *r, struct codec_in *in)
{
	uint64_t number = codec_get(in);
	size_t at = find_place(r, number);
	struct playback_process *p;
	int err;

	if (in->bad || (at < r->count && r->processes[at]->number == number))
		return -EBADMSG;
	err = take(r, sizeof(*p) + sizeof(*p->state));
	if (err < 0)
		return err;
	err = room_make(&r->processes, &r->room, r->count, sizeof(struct playback_process *));
	if (err < 0)
		return err;
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	/* At the end, but for recordings of versions up to November 2026. */
	memmove(&r->processes[at + 1], &r->processes[at],
	    (r->count++ - at) * sizeof(struct playback_process *));
	r->processes[at] = p;
	p->number = number;
	p->begin_us = r->time_us;
	p->state = calloc(1, sizeof(*p->state));
	return p->state ? 0 : -ENOMEM;
}

static int on_header(struct playback *r, struct playback_process *p, struct codec_in *in)
{
	struct seg_header *h = &p->header;
	uint64_t words[HEADER_WORDS];
	uint64_t at = 0;

	memcpy(words, h, sizeof(words));
	while (in->at < in->end) {
		uint64_t gap = codec_get(in);

		if (in->bad || gap >= HEADER_WORDS - at)
			return -EBADMSG;
		at += gap;
		words[at] += (uint64_t)codec_get_signed(in);
		at++;
		if (in->bad)
			return -EBADMSG;
		if (at == HEADER_WORDS && in->at < in->end)
			return -EBADMSG;
	}
	memcpy(h, words, sizeof(*h));
	if (h->magic != SEG_MAGIC || h->version < SEG_VERSION || h->version > SEG_VERSION_INFOS)
		return -EBADMSG;
	h->session[sizeof(h->session) - 1] = '\0';
	h->start_dir[sizeof(h->start_dir) - 1] = '\0';
	h->exe[sizeof(h->exe) - 1] = '\0';
	h->command[sizeof(h->command) - 2] = '\0';
	h->command[sizeof(h->command) - 1] = '\0';
	p->rows_us = r->time_us;
	return 0;
}

static int on_totals(struct playback *r, struct playback_process *p, struct codec_in *in)
{
	p->totals.allocations += (uint64_t)codec_get_signed(in);
	p->totals.allocated_bytes += (uint64_t)codec_get_signed(in);
	p->totals.frees += (uint64_t)codec_get_signed(in);
	p->totals.freed_bytes += (uint64_t)codec_get_signed(in);
	if (in->bad)
		return -EBADMSG;
	p->totals_us = r->time_us;
	if (r->hooks.totals)
		return r->hooks.totals(r->hooks.context, p);
	return 0;
}

static int on_mark(struct playback *r, struct codec_in *in)
{
	struct playback_mark mark = {.time_us = r->time_us};
	uint64_t kind = codec_get(in), pid = codec_get(in);
	size_t len = (size_t)(in->end - in->at);
	const uint8_t *label = codec_get_bytes(in, len);

	if (in->bad)
		return -EBADMSG;
	if (kind == 0 || kind > UINT32_MAX || pid > UINT32_MAX)
		return 0;
	mark.kind = (uint32_t)kind;
	mark.pid = (uint32_t)pid;
	if (len > sizeof(mark.label) - 1)
		len = sizeof(mark.label) - 1;
	memcpy(mark.label, label, len);
	if (r->hooks.mark)
		return r->hooks.mark(r->hooks.context, &mark);
	return 0;
}

static int on_rows(struct playback *r, struct playback_process *p, struct codec_in *in)
{
	struct playback_state *s = p->state;
	uint64_t kind = codec_get(in), row_bytes = codec_get(in);
	uint64_t first = codec_get(in);
	uint64_t len = (uint64_t)(in->end - in->at);
	struct playback_patch *to;
	int err;

	if (in->bad || kind == 0 || kind > UINT16_MAX || row_bytes == 0 ||
	    row_bytes > SEGMENT_MAX_ROW || len == 0 || len % row_bytes != 0 ||
	    first > UINT64_MAX - len / row_bytes)
		return -EBADMSG;
	err = take(r, len + sizeof(*to));
	if (err < 0)
		return err;
	err = room_make(&s->patches, &s->patch_room, s->patch_count, sizeof(*s->patches));
	if (err < 0)
		return err;
	to = &s->patches[s->patch_count];
	*to = (struct playback_patch){
	    .kind = (uint32_t)kind,
	    .row_bytes = (uint32_t)row_bytes,
	    .count = (uint32_t)(len / row_bytes),
	    .first = first,
	    .rows = malloc(len),
	};
	if (!to->rows)
		return -ENOMEM;
	memcpy(to->rows, in->at, len);
	s->patch_count++;
	return 0;
}

/* ---- the ledger ---- */

static int block_of(
    struct playback *r, struct playback_state *s, uint64_t id, struct playback_block **ret)
{
	size_t n = (size_t)(id >> PLAYBACK_BLOCK_BITS);
	int err;

	if (n >= s->block_room) {
		size_t room = s->block_room ? s->block_room : 16;
		struct playback_block **bigger;

		while (room <= n)
			room *= 2;
		err = take(r, (room - s->block_room) * sizeof(struct playback_block *));
		if (err < 0)
			return err;
		bigger = reallocarray(s->blocks, room, sizeof(struct playback_block *));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + s->block_room, 0,
		    (room - s->block_room) * sizeof(struct playback_block *));
		s->blocks = bigger;
		s->block_room = room;
	}
	if (!s->blocks[n]) {
		err = take(r, sizeof(struct playback_block));
		if (err < 0)
			return err;
		s->blocks[n] = calloc(1, sizeof(struct playback_block));
	}
	*ret = s->blocks[n];
	return *ret ? 0 : -ENOMEM;
}

static void new_peak(const struct playback_state *s)
{
	for (size_t n = 0; n < s->block_room; n++)
		for (size_t i = 0; s->blocks[n] && i < PLAYBACK_BLOCK_ROWS; i++)
			codec_new_peak(&s->blocks[n]->rows[i]);
}

/* Finds the start of each column; they are varints, one after the other. */
static bool find_columns(struct codec_in *in, uint64_t count, struct codec_in *column, int columns)
{
	for (int i = 0; i < columns; i++) {
		column[i] = *in;
		for (uint64_t n = 0; n < count && !in->bad; n++)
			(void)codec_get(in);
	}
	return !in->bad && in->at == in->end;
}

/*
 * Reads all columns that the flags announce. In recordings of earlier versions
 * there is only the first column about samples, whatever the flag says.
 */
static bool find_all_columns(struct codec_in *in, uint32_t flags, uint64_t count,
    struct codec_in *column, int *ret_about_samples)
{
	struct codec_in begin = *in;
	int more = codec_sample_columns(flags);

	*ret_about_samples = more;
	if (find_columns(in, count, column, 1 + CODEC_COLUMNS + more))
		return true;
	*ret_about_samples = 1;
	*in = begin;
	return more == CODEC_SAMPLE_COLUMNS &&
	    find_columns(in, count, column, 1 + CODEC_COLUMNS + 1);
}

static int on_ledger(struct playback *r, struct playback_process *p, struct codec_in *in)
{
	struct codec_in column[CODEC_ALL_COLUMNS];
	uint64_t flags = codec_get(in), count = codec_get(in), id = 0;
	bool peak = flags & CODEC_NEW_PEAK;
	int about_samples = 0;

	if (in->bad || count > (uint64_t)(in->end - in->at) || flags > LINE_FLAGS ||
	    !find_all_columns(in, (uint32_t)flags, count, column, &about_samples))
		return -EBADMSG;
	if (peak)
		new_peak(p->state);
	for (uint64_t n = 0; n < count; n++) {
		int64_t value[CODEC_COLUMNS], samples[CODEC_WIDE_COLUMNS] = {0};
		struct codec_sum *row;
		struct playback_block *b;
		int err;

		id += codec_get(&column[0]);
		if (id >> SEG_SITE_BITS)
			return -EBADMSG;
		err = block_of(r, p->state, id, &b);
		if (err < 0)
			return err;
		for (int i = 0; i < CODEC_COLUMNS; i++)
			value[i] = codec_get_signed(&column[i + 1]);
		row = &b->rows[id % PLAYBACK_BLOCK_ROWS];
		codec_decode(row, peak, value);
		for (int i = 0; i < about_samples; i++)
			samples[i] = codec_get_signed(&column[1 + CODEC_COLUMNS + i]);
		codec_decode_samples(row, samples);
		err = r->hooks.row
		    ? r->hooks.row(r->hooks.context, p, (uint32_t)id, row, r->time_us)
		    : 0;
		if (err < 0)
			return err;
	}
	return 0;
}

struct codec_sum playback_sum(const struct playback_process *p, uint32_t id)
{
	size_t n = id >> PLAYBACK_BLOCK_BITS;

	if (n >= p->state->block_room || !p->state->blocks[n])
		return (struct codec_sum){0};
	return p->state->blocks[n]->rows[id % PLAYBACK_BLOCK_ROWS];
}

/* ---- an entry ---- */

static int on_item(struct playback *r, uint32_t tag, struct codec_in *in)
{
	struct playback_process *p;

	switch (tag) {
	case CODEC_MARK:
		return on_mark(r, in);
	case CODEC_PROCESS:
		return on_process(r, in);
	case CODEC_HEADER:
	case CODEC_ROWS:
	case CODEC_LEDGER:
	case CODEC_TOTALS:
		break;
	default:
		return 0; /* of a later version */
	}
	p = playback_find(r, codec_get(in));
	if (in->bad)
		return -EBADMSG;
	if (!p)
		return 0; /* it began in an entry that is damaged */
	if (tag == CODEC_HEADER)
		return on_header(r, p, in);
	if (tag == CODEC_TOTALS)
		return on_totals(r, p, in);
	if (!r->hooks.rows)
		return 0;
	return tag == CODEC_ROWS ? on_rows(r, p, in) : on_ledger(r, p, in);
}

int playback_entry(struct playback *r, const void *bytes, size_t len)
{
	const uint8_t *start = bytes;
	struct codec_in in = {.at = start, .end = start + len};
	struct codec_in body;
	uint32_t tag;

	if (len > CODEC_ENTRY_MAX)
		return -EFBIG;
	r->allowed += len * PLAYBACK_TIMES;
	if (r->allowed > PLAYBACK_MAX_BYTES)
		r->allowed = PLAYBACK_MAX_BYTES;
	while (codec_get_item(&in, &tag, &body)) {
		int err;

		if (tag == CODEC_TIME) {
			uint64_t us = codec_get(&body);

			if (body.bad || us < r->time_us)
				return -EBADMSG;
			if (r->hooks.until_us && us > r->hooks.until_us)
				return 0;
			r->time_us = us;
			continue;
		}
		err = on_item(r, tag, &body);
		if (err < 0)
			return err;
	}
	return in.bad ? -EBADMSG : 0;
}
