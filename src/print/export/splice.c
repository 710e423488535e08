/* splice.c - puts the time lines of several recordings behind each other. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/export/pack.h"

#include "session/timeline/playback.h"

enum {
	LEVEL = 3, /* of compression */
	/* numbers have more digits than before, and an entry has a limit */
	FLUSH_BYTES = CODEC_ENTRY_MAX / 4,
};

/* 285 years: a clock that was further off says nothing about a gap. */
#define LINE_MAX_US (UINT64_C(1) << 53)
#define NUMBERS_MAX (UINT64_C(1) << 48)

/* One recording. */
struct part {
	struct playback *replay; /* all of it, for the pids of the numbers */
	uint64_t base_us;
	uint64_t shift; /* is added to the numbers */
};

/* Where the recording begins in the time line, which never goes back. */
static uint64_t base_of(const struct splice *s, uint64_t start_ns)
{
	uint64_t gap_us = 0;

	if (s->start_ns > 0 && start_ns > s->start_ns)
		gap_us = (start_ns - s->start_ns) / 1000;
	return gap_us > s->until_us && gap_us < LINE_MAX_US ? gap_us : s->until_us;
}

static bool is_wanted(const struct splice *s, const struct part *p, uint64_t number)
{
	const struct playback_process *x = playback_find(p->replay, number);

	return x && (s->pid == 0 || x->header.pid == s->pid);
}

/* An item that begins with the number of a process. */
static void put_numbered(const struct splice *s, const struct part *p, uint32_t tag,
    struct codec_in *in, struct codec_out *out)
{
	uint64_t number = codec_get(in);
	struct codec_out body = {0};

	if (in->bad || !is_wanted(s, p, number))
		return;
	codec_put(&body, p->shift + number);
	codec_put_bytes(&body, in->at, (size_t)(in->end - in->at));
	codec_put_item(out, (enum codec_tag)tag, &body);
	out->failed |= body.failed;
	codec_release(&body);
}

static void put_time(const struct part *p, struct codec_in *in, struct codec_out *out)
{
	struct codec_out body = {0};

	codec_put(&body, p->base_us + codec_get(in));
	codec_put_item(out, CODEC_TIME, &body);
	out->failed |= body.failed;
	codec_release(&body);
}

static int flush(const struct splice *s, struct codec_out *out)
{
	int err = 0;

	if (out->failed)
		return -ENOMEM;
	if (out->len > 0)
		err = recording_append_packed(
		    s->writer, RECORDING_LINE, NULL, 0, out->bytes, out->len, LEVEL);
	out->len = 0;
	return err;
}

static int put_entry(const struct splice *s, const struct part *p, const uint8_t *bytes, size_t len)
{
	struct codec_in in = {.at = bytes, .end = bytes + len}, body;
	struct codec_out out = {0};
	uint32_t tag;
	int err = 0;

	while (err == 0 && codec_get_item(&in, &tag, &body)) {
		if (out.len > FLUSH_BYTES)
			err = flush(s, &out);
		switch (tag) {
		case CODEC_TIME:
			put_time(p, &body, &out);
			break;
		case CODEC_MARK: {
			const struct codec_out copy = {.bytes = (uint8_t *)(uintptr_t)body.at,
			    .len = (size_t)(body.end - body.at)};

			codec_put_item(&out, CODEC_MARK, &copy);
			break;
		}
		case CODEC_PROCESS:
		case CODEC_HEADER:
		case CODEC_ROWS:
		case CODEC_LEDGER:
		case CODEC_TOTALS:
			put_numbered(s, p, tag, &body, &out);
			break;
		default:
			break; /* whether it has a number is not known */
		}
	}
	if (err == 0)
		err = flush(s, &out);
	codec_release(&out);
	return err;
}

/* Replays all of it. *ret_entries: how many entries are sound. */
static int read_ahead(struct recording *b, struct part *p, size_t *ret_entries)
{
	const struct playback_hooks hooks = {.context = NULL};
	const void *bytes;
	uint32_t type;
	size_t len, sound = 0;
	int err = playback_new(&hooks, &p->replay);

	while (err == 0 && recording_next(b, &type, &bytes, &len) == 1) {
		if (type != RECORDING_LINE)
			continue;
		err = playback_entry(p->replay, bytes, len);
		sound += err == 0;
	}
	*ret_entries = sound;
	return err == -ENOMEM ? err : 0;
}

int splice_add(struct splice *s, struct recording *b, uint64_t start_ns)
{
	struct part p = {.base_us = base_of(s, start_ns), .shift = s->numbers};
	const void *bytes;
	uint32_t type;
	uint64_t last = 0, until_us = 0;
	size_t len, sound = 0;
	int err;

	recording_rewind(b);
	err = read_ahead(b, &p, &sound);
	recording_rewind(b);
	if (p.replay && playback_count(p.replay) > 0)
		last = playback_process(p.replay, playback_count(p.replay) - 1)->number;
	if (p.replay)
		until_us = playback_time_us(p.replay);
	if (last >= NUMBERS_MAX || until_us >= LINE_MAX_US)
		sound = 0; /* none of ours */
	while (err == 0 && sound > 0 && recording_next(b, &type, &bytes, &len) == 1) {
		if (type != RECORDING_LINE)
			continue;
		err = put_entry(s, &p, bytes, len);
		sound--;
	}
	if (p.replay && last < NUMBERS_MAX && until_us < LINE_MAX_US) {
		s->numbers += last + 1;
		s->until_us = p.base_us + until_us;
	}
	if (s->start_ns == 0)
		s->start_ns = start_ns;
	playback_free(p.replay);
	recording_rewind(b);
	return err;
}
