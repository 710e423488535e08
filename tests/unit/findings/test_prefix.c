/* test_prefix.c - a recording cut at every byte opens and says what is gone. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/mman.h>

#include "test.h"
#include "findings/check.h"
#include "print/export/export.h"
#include "names/find/names.h"
#include "kit/os/fault.h"
#include "session/load/session.h"
#include "print/json/report_json.h"
#include "print/text/report_text.h"
#include "recording/file/recording_bytes.h"

enum { ENTRIES_MAX = 64, HEAD = sizeof(struct recording_file_head) };

/* A copy that becomes shorter byte by byte, from its end. */
struct copy {
	int fd;
	char path[40];
	size_t size;
	size_t ends[ENTRIES_MAX]; /* of entries, without their padding */
	size_t count;
};

static void open_copy(struct copy *c, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	size_t at = HEAD;

	memset(c, 0, sizeof(*c));
	c->fd = memfd_create("copy", MFD_CLOEXEC);
	assert_true(from >= 0 && c->fd >= 0 && fstat(from, &st) == 0);
	c->size = (size_t)st.st_size;
	for (size_t i = 0; i < c->size; i++) {
		char byte;

		assert_int_equal(pread(from, &byte, 1, (off_t)i), 1);
		assert_int_equal(write(c->fd, &byte, 1), 1);
	}
	close(from);
	(void)snprintf(c->path, sizeof(c->path), "/proc/self/fd/%d", c->fd);
	while (at < c->size) {
		struct recording_entry_head h;

		assert_int_equal(pread(c->fd, &h, sizeof(h), (off_t)at), (ssize_t)sizeof(h));
		assert_true(c->count < ENTRIES_MAX);
		c->ends[c->count++] = at + sizeof(h) + h.length;
		at += sizeof(h) + recording_padded(h.length);
	}
	assert_int_equal(at, c->size);
}

static size_t whole_entries(const struct copy *c, size_t len)
{
	size_t n = 0;

	while (n < c->count && c->ends[n] <= len)
		n++;
	return n;
}

/* What a prefix tells; more of the file never tells less. */
struct told {
	size_t processes, unfinished;
	uint64_t allocations, until_us;
};

static bool has_note(const struct session *s, const char *words)
{
	for (size_t i = 0; i < s->note_count; i++)
		if (strstr(s->notes[i], words))
			return true;
	return false;
}

static void add_up(const struct session *s, struct told *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->processes = s->count;
	ret->until_us = s->until_us;
	for (size_t i = 0; i < s->count; i++) {
		ret->allocations += s->processes[i]->totals.allocations;
		ret->unfinished += s->processes[i]->is_unfinished;
	}
}

/* It is cut, and the words say so, and of whom the end is missing. */
static void check_words(const struct session *s, const struct told *t)
{
	assert_true(s->is_truncated);
	assert_true(has_note(s, "is cut off: its end is missing"));
	if (t->until_us > 0)
		assert_true(has_note(s, "it is complete up to"));
	if (t->unfinished > 0)
		assert_true(has_note(s, "is missing; its figures are those of"));
}

/* JSON says it too, and a check does not pass. */
static void check_json(const struct session *s, struct names *names)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	assert_int_equal(report_json_write(out, s, names, NULL, "test"), 0);
	assert_int_equal(fclose(out), 0);
	assert_non_null(strstr(text, "\"complete\":false"));
	free(text);
}

static void check_gate(struct session *s, struct names *names)
{
	const struct view_options live = {.group = true, .fold = true};
	const struct check_options options = {0};
	struct check_input input = {.name = "cut", .session = s};
	struct check *c;

	assert_int_equal(view_new(s, names, &live, &input.view), 0);
	assert_int_equal(check_new(&input, 1, &options, &c), 0);
	assert_true(c->is_damaged);
	check_free(c);
	view_free(input.view);
}

static void write_others(const struct session *s, struct names *names)
{
	const struct body_options body = {.threshold = 1, .view = {.group = true, .fold = true}};
	struct layout page = {.out = fopen("/dev/null", "w"), .width = 80};
	struct view *v;

	assert_non_null(page.out);
	assert_int_equal(report_text_write(&page, s, names, &body), 0);
	assert_int_equal(view_new(s, names, &body.view, &v), 0);
	assert_int_equal(
	    export_collapsed.write(page.out, v, &(struct export_options){.version = "test"}), 0);
	view_free(v);
	assert_int_equal(fclose(page.out), 0);
}

/* `all`: with reports, check and exports. */
static void check_prefix(const struct copy *c, size_t len, bool all, struct told *ret)
{
	const struct names_options options = {.no_symbols = true, .no_cache = true};
	struct fault where = {""};
	struct names *names;
	struct session *s;
	int err;

	assert_int_equal(ftruncate(c->fd, (off_t)len), 0);
	err = session_load(c->path, &s, &where);
	memset(ret, 0, sizeof(*ret));
	if (err < 0) {
		/* before the first process: refused, with a reason */
		assert_true(err == -EBADMSG || err == -EINVAL || (err == -ENODATA && len == 0));
		assert_true(where.text[0]);
		assert_true(len < HEAD || err == -EBADMSG);
		return;
	}
	add_up(s, ret);
	check_words(s, ret);
	if (all) {
		assert_int_equal(names_new(&options, &names), 0);
		check_json(s, names);
		check_gate(s, names);
		write_others(s, names);
		names_free(names);
	}
	session_free(s);
}

/* The parts of a cut recording are those of its whole entries. */
static void check_no_more(
    const struct copy *c, size_t len, const struct told *shorter, const struct told *longer)
{
	assert_true(shorter->processes <= longer->processes);
	assert_true(shorter->until_us <= longer->until_us);
	if (whole_entries(c, len) == whole_entries(c, len + 1))
		assert_memory_equal(shorter, longer, sizeof(*shorter));
}

static void check_all(const char *path, size_t every)
{
	struct told last, told;
	struct copy c;

	open_copy(&c, path);
	check_prefix(&c, c.size - 1, true, &last);
	assert_true(last.processes > 0);
	for (size_t len = c.size - 1; len-- > 0;) {
		bool near = whole_entries(&c, len > 0 ? len - 1 : 0) != whole_entries(&c, len + 1);

		check_prefix(&c, len, near || len % every == 0, &told);
		check_no_more(&c, len, &told, &last);
		last = told;
	}
	assert_int_equal(last.processes, 0);
	close(c.fd);
}

TEST(every_byte_of_a_recording_may_be_its_last)
{
	check_all("tests/golden/inputs/old.seep", 16);
}

TEST(every_byte_of_a_sampled_recording_may_be_its_last)
{
	check_all("tests/golden/inputs/sampled.seep", 256);
}

TEST(every_byte_of_a_family_may_be_its_last)
{
	check_all("tests/golden/inputs/family.seep", 256);
}
