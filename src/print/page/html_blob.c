/* html_blob.c - columns of numbers, packed and written as text. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/page/html_blob.h"

#include "base/std.h"
#include <zlib.h>

enum {
	PACKED_BYTES = 48 << 10,
	TEXT_COLUMNS = 1024, /* of base64, a multiple of four */
	GZIP = 15 + 16,      /* window bits of zlib's for this format */
	LEVEL = 7,
};

/* How a column is written: as it is, zigzag, or zigzag of differences. */
enum code { PLAIN, SIGNED, DELTA };

static const struct {
	const char *name;
	enum code code;
} columns[HTML_COLUMNS] = {
    /* figures of sites: PLAIN */
    [HTML_FRAME_FUNCTION] = {"frame.function", DELTA},
    [HTML_FRAME_FILE] = {"frame.file", DELTA},
    [HTML_FRAME_LINE] = {"frame.line", PLAIN},
    [HTML_FRAME_MODULE] = {"frame.module", DELTA},
    [HTML_FRAME_OFFSET] = {"frame.offset", PLAIN},
    [HTML_FRAME_FLAGS] = {"frame.flags", PLAIN},
    [HTML_FRAME_BRIEF] = {"frame.brief", DELTA},
    [HTML_STACK_SHARED] = {"stack.shared", PLAIN},
    [HTML_STACK_ADDED] = {"stack.added", PLAIN},
    [HTML_STACK_FRAMES] = {"stack.frames", PLAIN},
    [HTML_SITE_STACK] = {"site.stack", DELTA},
    [HTML_SITE_ID] = {"site.id", PLAIN},
    [HTML_SITE_MERGED] = {"site.merged", PLAIN},
    [HTML_SITE_KIND] = {"site.kind", PLAIN},
    [HTML_SITE_API] = {"site.api", PLAIN},
    [HTML_SITE_POOL] = {"site.pool", PLAIN},
    [HTML_SITE_STATE] = {"site.state", PLAIN},
    [HTML_SITE_SUPPRESSION] = {"site.suppression", PLAIN},
    [HTML_SITE_SAMPLES] = {"site.samples", PLAIN},
    [HTML_SITE_ERROR_LIVE] = {"site.error_live", PLAIN},
    [HTML_SITE_ERROR_ALLOCATED] = {"site.error_allocated", PLAIN},
    [HTML_SITE_SIZE_MIN] = {"site.size_min", PLAIN},
    [HTML_SITE_SIZE_MAX] = {"site.size_max", PLAIN},
    [HTML_SITE_FIRST_MS] = {"site.first_ms", SIGNED},
    [HTML_SITE_LAST_MS] = {"site.last_ms", SIGNED},
    [HTML_SITE_AGES_KNOWN] = {"site.ages_known", PLAIN},
    [HTML_SITE_SIZES_KNOWN] = {"site.sizes_known", PLAIN},
    [HTML_SITE_STEPS_KNOWN] = {"site.steps_known", PLAIN},
    [HTML_DEATH_SITE] = {"death.site", DELTA},
    [HTML_DEATH_AGE] = {"death.age", PLAIN},
    [HTML_DEATH_COUNT] = {"death.count", PLAIN},
    [HTML_YOUNG_SITE] = {"young.site", DELTA},
    [HTML_YOUNG_STEP] = {"young.step", PLAIN},
    [HTML_YOUNG_COUNT] = {"young.count", PLAIN},
    [HTML_LIVING_SITE] = {"living.site", DELTA},
    [HTML_LIVING_AGE] = {"living.age", PLAIN},
    [HTML_LIVING_COUNT] = {"living.count", PLAIN},
    [HTML_SIZE_SITE] = {"size.site", DELTA},
    [HTML_SIZE_CLASS] = {"size.class", PLAIN},
    [HTML_SIZE_COUNT] = {"size.count", PLAIN},
    [HTML_BIRTH_SITE] = {"birth.site", DELTA},
    [HTML_BIRTH_SLOT] = {"birth.slot", PLAIN},
    [HTML_BIRTH_COUNT] = {"birth.count", PLAIN},
    [HTML_POINT_TIME_US] = {"point.time_us", DELTA},
    [HTML_POINT_LIVE_BYTES] = {"point.live_bytes", DELTA},
    [HTML_POINT_LIVE_BLOCKS] = {"point.live_blocks", DELTA},
    [HTML_POINT_ALLOCATIONS] = {"point.allocations", DELTA},
    [HTML_POINT_ALLOCATED_BYTES] = {"point.allocated_bytes", DELTA},
    [HTML_CHANGE_MOMENT] = {"change.moment", DELTA},
    [HTML_CHANGE_SITE] = {"change.site", DELTA},
    [HTML_CHANGE_ALLOCATIONS] = {"change.allocations", SIGNED},
    [HTML_CHANGE_ALLOCATED_BYTES] = {"change.allocated_bytes", SIGNED},
    [HTML_CHANGE_FREES] = {"change.frees", SIGNED},
    [HTML_CHANGE_FREED_BYTES] = {"change.freed_bytes", SIGNED},
};

void html_blob_put(struct html_blob *b, enum html_column column, uint64_t value)
{
	struct codec_out *to = &b->columns[column];

	switch (columns[column].code) {
	case PLAIN:
		codec_put(to, value);
		break;
	case SIGNED:
		codec_put_signed(to, (int64_t)value);
		break;
	case DELTA:
		codec_put_signed(to, (int64_t)(value - b->last[column]));
		b->last[column] = value;
		break;
	}
	b->counts[column]++;
}

void html_blob_directory(struct json *out, const struct html_blob *b)
{
	static const char *const codes[] = {
	    [PLAIN] = "plain", [SIGNED] = "signed", [DELTA] = "delta"};

	json_rows(out, "columns");
	for (int i = 0; i < HTML_COLUMNS; i++) {
		json_list(out, NULL);
		if (i >= HTML_SITE_FIGURES && i < HTML_SITE_SAMPLES)
			json_format(out, NULL, "\"site.%s\"", figures[i - HTML_SITE_FIGURES].name);
		else
			json_text(out, NULL, columns[i].name);
		json_text(out, NULL, codes[columns[i].code]);
		json_number(out, NULL, b->counts[i]);
		json_number(out, NULL, b->columns[i].len);
		json_end(out);
	}
	json_end(out);
}

void html_blob_release(struct html_blob *b)
{
	for (int i = 0; i < HTML_COLUMNS; i++)
		free(b->columns[i].bytes);
	*b = (struct html_blob){0};
}

/* ---- base64 ---- */

struct text {
	FILE *out;
	char line[TEXT_COLUMNS + 1]; /* ends with a line break */
	size_t used;
};

static void text_flush(struct text *t)
{
	if (t->used == 0)
		return;
	t->line[t->used++] = '\n';
	(void)fwrite(t->line, 1, t->used, t->out);
	t->used = 0;
}

/* One to three bytes become four letters; only the last may be fewer. */
static void text_put(struct text *t, const unsigned char *bytes, size_t n)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned word = (unsigned)bytes[0] << 16;

	if (n > 1)
		word |= (unsigned)bytes[1] << 8;
	if (n > 2)
		word |= bytes[2];
	t->line[t->used++] = letters[word >> 18];
	t->line[t->used++] = letters[word >> 12 & 63];
	t->line[t->used++] = letters[word >> 6 & 63];
	t->line[t->used++] = letters[word & 63];
	for (size_t i = n; i < 3; i++)
		t->line[t->used - (3 - i)] = '=';
	if (t->used == TEXT_COLUMNS)
		text_flush(t);
}

/* ---- gzip ---- */

struct packer {
	z_stream z;
	struct text text;
	unsigned char packed[PACKED_BYTES]; /* what is not yet text first */
	size_t kept;
};

/* All but the last one or two bytes, which wait for more. */
static void print_packed(struct packer *p, size_t len, bool is_last)
{
	size_t i = 0;

	for (; i + 3 <= len; i += 3)
		text_put(&p->text, p->packed + i, 3);
	if (is_last && i < len)
		text_put(&p->text, p->packed + i, len - i);
	for (p->kept = 0; i < len; i++)
		p->packed[p->kept++] = p->packed[i];
}

static void pack(struct packer *p, const void *bytes, size_t len, int flush)
{
	const unsigned char *at = bytes;
	int status;

	do {
		uInt n = len > 1 << 20 ? 1 << 20 : (uInt)len;
		int how = n == len ? flush : Z_NO_FLUSH;

		p->z.next_in = (z_const Bytef *)(uintptr_t)at;
		p->z.avail_in = n;
		do {
			p->z.next_out = p->packed + p->kept;
			p->z.avail_out = (uInt)(PACKED_BYTES - p->kept);
			status = deflate(&p->z, how);
			print_packed(p, PACKED_BYTES - p->z.avail_out, status == Z_STREAM_END);
		} while (p->z.avail_out == 0 && status == Z_OK);
		at += n;
		len -= n;
	} while (len > 0);
}

int html_blob_write(FILE *out, const struct html_blob *b, const char *head, size_t len)
{
	const unsigned char size[4] = {(unsigned char)len, (unsigned char)(len >> 8),
	    (unsigned char)(len >> 16), (unsigned char)(len >> 24)};
	struct packer *p;

	for (int i = 0; i < HTML_COLUMNS; i++)
		if (b->columns[i].failed)
			return -ENOMEM;
	p = calloc(1, sizeof(*p));
	if (!p || len > UINT32_MAX ||
	    deflateInit2(&p->z, LEVEL, Z_DEFLATED, GZIP, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(p);
		return -ENOMEM;
	}
	p->text.out = out;
	pack(p, size, sizeof(size), Z_NO_FLUSH);
	pack(p, head, len, Z_NO_FLUSH);
	for (int i = 0; i < HTML_COLUMNS; i++)
		if (b->columns[i].len > 0)
			pack(p, b->columns[i].bytes, b->columns[i].len, Z_NO_FLUSH);
	pack(p, "", 0, Z_FINISH);
	text_flush(&p->text);
	(void)deflateEnd(&p->z);
	free(p);
	return ferror(out) ? -EIO : 0;
}
