/* test_html.c - promises of print/page/html.h and html_blob.h. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <zlib.h>

#include "test.h"
#include "../lib/mkseg.h"
#include "print/page/html.h"
#include "print/page/html_blob.h"
#include "names/find/names.h"
#include "session/load/session.h"

/* ---- a reader of the other end ---- */

struct bytes {
	uint8_t *at;
	size_t len;
};

static int letter(char c)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *p = c ? strchr(letters, c) : NULL;

	return p ? (int)(p - letters) : -1;
}

/* What is no letter must be a line break, or padding at the end. */
static struct bytes from_base64(const char *text, size_t len)
{
	struct bytes b = {.at = malloc(len + 3)};
	unsigned word = 0, bits = 0;
	bool ended = false;

	assert_non_null(b.at);
	for (size_t i = 0; i < len; i++) {
		if (text[i] == '\n')
			continue;
		ended = ended || text[i] == '=';
		assert_true(ended ? text[i] == '=' : letter(text[i]) >= 0);
		if (ended)
			continue;
		word = word << 6 | (unsigned)letter(text[i]);
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			b.at[b.len++] = (uint8_t)(word >> bits);
		}
	}
	return b;
}

static struct bytes unpack(const char *text, size_t len)
{
	struct bytes packed = from_base64(text, len);
	struct bytes b = {.at = malloc(64 << 20)};
	z_stream z = {.next_in = packed.at, .avail_in = (uInt)packed.len};

	assert_non_null(b.at);
	z.next_out = b.at;
	z.avail_out = 64 << 20;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0);
	b.len = z.total_out;
	(void)inflateEnd(&z);
	free(packed.at);
	return b;
}

static uint64_t varint(const struct bytes *b, size_t *at)
{
	uint64_t value = 0;

	for (int shift = 0; shift < 70; shift += 7) {
		assert_true(*at < b->len);
		value |= (uint64_t)(b->at[*at] & 127) << shift;
		if (b->at[(*at)++] < 128)
			return value;
	}
	fail();
	return 0;
}

static int64_t zigzag(uint64_t n)
{
	return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

static struct bytes written(const struct html_blob *b, const char *head)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct bytes all;

	assert_non_null(out);
	assert_int_equal(html_blob_write(out, b, head, strlen(head)), 0);
	assert_int_equal(fclose(out), 0);
	all = unpack(text, len);
	free(text);
	return all;
}

/* ---- columns ---- */

TEST(numbers_come_back_as_they_went)
{
	static const uint64_t values[] = {
	    0, 1, 127, 128, 300, UINT32_MAX, INT64_MAX, UINT64_MAX, 5, 4};
	enum { N = sizeof(values) / sizeof(values[0]) };
	struct html_blob blob = {0};
	struct bytes b;
	uint64_t last = 0;
	size_t at;

	for (size_t i = 0; i < N; i++) {
		html_blob_put(&blob, HTML_FRAME_LINE, values[i]);    /* plain */
		html_blob_put(&blob, HTML_SITE_STACK, values[i]);    /* delta */
		html_blob_put(&blob, HTML_SITE_FIRST_MS, values[i]); /* signed */
	}
	b = written(&blob, "head");
	assert_memory_equal(b.at, "\4\0\0\0head", 8);
	at = 8;
	for (size_t i = 0; i < N; i++)
		assert_int_equal(varint(&b, &at), values[i]);
	for (size_t i = 0; i < N; i++) {
		last += (uint64_t)zigzag(varint(&b, &at));
		assert_int_equal(last, values[i]);
	}
	for (size_t i = 0; i < N; i++)
		assert_int_equal(zigzag(varint(&b, &at)), (int64_t)values[i]);
	assert_int_equal(at, b.len);
	free(b.at);
	html_blob_release(&blob);
}

/* What does not compress fills buffers of all sizes. */
TEST(any_length_is_packed)
{
	for (size_t n = 0; n < 300000; n = n < 10 ? n + 1 : n * 3 - 7) {
		struct html_blob blob = {0};
		uint64_t x = 88172645463325252u;
		struct bytes b;
		size_t at = 4;

		for (size_t i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			html_blob_put(&blob, HTML_FRAME_LINE, x);
		}
		b = written(&blob, "");
		x = 88172645463325252u;
		for (size_t i = 0; i < n; i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			assert_int_equal(varint(&b, &at), x);
		}
		assert_int_equal(at, b.len);
		free(b.at);
		html_blob_release(&blob);
	}
}

/* ---- pages ---- */

static struct session *some_session(void)
{
	struct mkseg *m = mkseg_new();
	struct session *s;
	size_t len;
	void *bytes;

	(void)mkseg_module(m, "/tmp/</script><b>'\"&\n", 0x1000);
	strcpy(mkseg_header(m)->exe, "/bin/</script><img src=x>");
	for (uint32_t i = 0; i < 5; i++) {
		const uint64_t frames[] = {MKSEG_FRAME(1, 0x1010 + i), MKSEG_FRAME(1, 0x1100)};

		mkseg_book(m, 0, mkseg_stack(m, frames, 2), 10, 100 + i, i);
	}
	bytes = mkseg_finish(m, &len);
	assert_int_equal(session_load_bytes(bytes, len, &s, NULL), 0);
	free(bytes);
	mkseg_free(m);
	return s;
}

static int write_page(FILE *out, const struct session *s, bool group)
{
	const struct html_options options = {.version = "1.2"};
	const struct view_options all = {.metric = VIEW_ALL, .group = group, .all_kinds = true};
	struct names *names;
	struct view *v;
	int err;

	assert_int_equal(names_new(NULL, &names), 0);
	assert_int_equal(view_new(s, names, &all, &v), 0);
	err = html_write(out, &(struct html_input){.view = v}, 1, &options);
	view_free(v);
	names_free(names);
	return err;
}

/* Between the two halves of the template there is base64 and nothing else. */
TEST(a_page_is_the_template_with_data_in_it)
{
	struct session *s = some_session();
	const char *place = strstr(html_template, HTML_TEMPLATE_DATA);
	const char *rest = place + strlen(HTML_TEMPLATE_DATA);
	size_t before = (size_t)(place - html_template);
	size_t after = strlen(rest);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	struct bytes b;

	assert_non_null(place);
	assert_null(strstr(rest, HTML_TEMPLATE_DATA));
	assert_int_equal(write_page(out, s, false), 0);
	assert_int_equal(fclose(out), 0);
	assert_true(len > before + after);
	assert_memory_equal(text, html_template, before);
	assert_memory_equal(text + len - after, rest, after);
	b = unpack(text + before, len - before - after);
	assert_non_null(memmem(b.at, b.len, "\"seep\":\"1.2\"", 12));
	assert_non_null(memmem(b.at, b.len, "</script><b>'\\\"&\\u000a", 22));
	free(b.at);
	free(text);
	session_free(s);
}

TEST(what_cannot_be_a_page_is_refused)
{
	struct session *s = some_session();
	FILE *full = fopen("/dev/full", "w");
	FILE *null = fopen("/dev/null", "w");

	assert_int_equal(write_page(null, s, true), -EINVAL);
	if (full) {
		assert_int_equal(write_page(full, s, false), -EIO);
		(void)fclose(full);
	}
	(void)fclose(null);
	session_free(s);
}
