/* census_json.c - types of live blocks, and what could be given back, as JSON. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "print/json/leaks_json.h"

#include "print/json/processes.h"
#include "names/find/program.h"
#include "print/text/verdict_text.h"
#include "kit/json/json_put.h"
#include "kit/json/json_take.h"

enum { NS_PER_MS = 1000000, PLACES_MAX = 1000 };

static void put_sum(struct json *out, const char *name, uint64_t blocks, uint64_t bytes)
{
	JSON_OBJECT(out, name, {"blocks", blocks}, {"bytes", bytes});
}

static void put_spare(struct json *out, const struct census_spare *x)
{
	put_sum(out, "equal", x->equal_blocks, x->equal_bytes);
	put_sum(out, "zero_tails", x->tail_blocks, x->tail_bytes);
	put_sum(out, "never_written", x->unwritten_blocks, x->unwritten_bytes);
}

/* The sums of a census, without braces. */
static void put_census(
    struct json *out, const struct census *c, const struct by_type *t, const struct spare *s)
{
	json_number(out, "taken_ms", c->taken_ns / NS_PER_MS);
	json_number(out, "blocks", c->blocks);
	json_number(out, "bytes", c->bytes);
	json_boolean(out, "blocks_unknown", c->is_partial);
	json_number(out, "refused_blocks", c->refused_blocks);
	if (t) {
		put_sum(out, "untyped", t->none.blocks, t->none.bytes);
		put_sum(out, "filtered", t->filtered.blocks, t->filtered.bytes);
		JSON_OBJECT(
		    out, "known_twice", {"agree", t->both_agree}, {"differ", t->both_differ});
	}
	if (t && t->is_compared) {
		json_number(out, "before_taken_ms", t->old_taken_ns / NS_PER_MS);
		put_sum(out, "before", t->old_all.blocks, t->old_all.bytes);
		put_sum(out, "before_untyped", t->old_none.blocks, t->old_none.bytes);
	}
	if (s) {
		put_spare(out, &s->all);
		json_number(out, "equal_contents", c->equal_groups);
		json_number(out, "unread_blocks", c->unread_blocks);
	}
}

static void put_row(
    struct json *out, const struct by_type *t, const struct by_type_row *x, bool for_page)
{
	json_object(out, NULL);
	(for_page ? json_shown : json_text)(out, "type", x->name);
	json_text(out, "basis", by_type_basis_key(x->basis));
	json_text(out, "container", x->container);
	json_number(out, "blocks", x->blocks);
	json_number(out, "bytes", x->bytes);
	if (t->is_compared) {
		json_number(out, "before_blocks", x->old_blocks);
		json_number(out, "before_bytes", x->old_bytes);
	}
	if (x->module && !for_page) {
		json_object(out, "vtable");
		json_text(out, "module", x->module);
		json_number(out, "offset", x->offset);
		json_end(out);
	}
	json_end(out);
}

static void put_rows(struct json *out, const struct by_type *t, bool for_page)
{
	json_rows(out, "types");
	for (size_t i = 0; i < t->count; i++)
		put_row(out, t, &t->rows[i], for_page);
	json_end(out);
}

static int put_lines(struct json *out, const struct spare *s)
{
	struct frames_table *frames = NULL;
	const struct view *of = NULL;
	int err = 0;

	json_rows(out, "insight");
	for (size_t i = 0; i < s->count && err == 0; i++) {
		const struct spare_line *x = &s->lines[i];

		if (x->view && x->view != of) {
			frames_table_free(frames);
			frames = NULL;
			of = x->view;
			err = frames_table_new(of, NULL, &frames);
		}
		json_object(out, NULL);
		json_number(out, "id", x->sum.site);
		put_spare(out, &x->sum);
		if (err == 0 && x->site)
			err = frames_table_put(out, frames, x->site);
		else
			json_numbers(out, "frames", NULL, 0);
		json_end(out);
	}
	json_end(out);
	frames_table_free(frames);
	return err;
}

int census_json_write(FILE *out, const struct census_json *j)
{
	struct json to;
	const struct process *p = j->process;
	int err = 0;

	to = json_begin(out, j->version);
	json_number(&to, "exit_status", 0);
	json_rows(&to, "processes");
	json_object(&to, NULL);
	json_number(&to, "pid", p->header.pid);
	json_number_or_null(&to, "pid_here", p->running_pid > 0, (uint64_t)p->running_pid);
	json_text(&to, "program", program_name(&p->header));
	json_text(&to, "exe", p->header.exe);
	json_hex(&to, "uuid", p->header.uuid, sizeof(p->header.uuid));
	json_object(&to, "census");
	put_census(&to, j->census, j->types, j->spare);
	json_end(&to);
	json_end(&to);
	json_end(&to);
	if (j->types)
		put_rows(&to, j->types, false);
	if (j->spare)
		err = put_lines(&to, j->spare);
	return json_finish(&to, err);
}

/* For a page: the place as text. */
static int put_places(struct json *out, const struct spare *s)
{
	const struct layout page = {.utf8 = true};

	json_rows(out, "insight");
	for (size_t i = 0; i < s->count && i < PLACES_MAX; i++) {
		const struct spare_line *x = &s->lines[i];
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		if (!f)
			return -ENOMEM;
		if (x->site)
			verdict_text_place(&page, f, x->view, x->site);
		if (fclose(f) != 0) {
			free(text);
			return -ENOMEM;
		}
		json_object(out, NULL);
		json_number(out, "id", x->sum.site);
		json_text(out, "place", text);
		put_spare(out, &x->sum);
		json_end(out);
		free(text);
	}
	json_end(out);
	return 0;
}

int census_json_page(
    FILE *out, const struct census *c, const struct by_type *t, const struct spare *s)
{
	struct json to = {.file = out};
	int err = 0;

	json_object(&to, "census");
	put_census(&to, c, t, s);
	if (t)
		put_rows(&to, t, true);
	if (s)
		err = put_places(&to, s);
	json_end(&to);
	return err;
}

/* ---- reading --------------------------------------------------------------- */

enum { KEY = 32, NAME = 8192 };

static void read_sum(struct json_take *j, struct by_type_sum *to)
{
	char key[KEY];

	if (!json_take_object(j))
		return;
	while (json_take_key(j, key, sizeof(key)))
		if (strcmp(key, "blocks") == 0)
			(void)json_take_number(j, &to->blocks);
		else if (strcmp(key, "bytes") == 0)
			(void)json_take_number(j, &to->bytes);
		else
			json_take_skip(j);
}

static int read_row(struct json_take *j, struct by_type *t)
{
	char key[KEY], name[NAME] = "", container[KEY * 2] = "", basis[KEY] = "";
	struct by_type_sum sum = {0};

	if (!json_take_object(j))
		return -EBADMSG;
	while (json_take_key(j, key, sizeof(key)))
		if (strcmp(key, "type") == 0)
			(void)json_take_text(j, name, sizeof(name));
		else if (strcmp(key, "container") == 0)
			(void)json_take_text(j, container, sizeof(container));
		else if (strcmp(key, "basis") == 0)
			(void)json_take_text(j, basis, sizeof(basis));
		else if (strcmp(key, "blocks") == 0)
			(void)json_take_number(j, &sum.blocks);
		else if (strcmp(key, "bytes") == 0)
			(void)json_take_number(j, &sum.bytes);
		else
			json_take_skip(j);
	if (j->is_bad || !name[0] || by_type_basis_of(basis) < 0)
		return -EBADMSG;
	return by_type_add_old(t, name, container, by_type_basis_of(basis), sum.blocks, sum.bytes);
}

static int read_rows(struct json_take *j, struct by_type *t)
{
	int err = 0;

	if (!json_take_list(j))
		return -EBADMSG;
	while (err == 0 && json_take_item(j))
		err = read_row(j, t);
	return err;
}

static void read_census(struct json_take *j, struct by_type *t)
{
	uint64_t ms = 0;
	char key[KEY];

	if (!json_take_object(j))
		return;
	while (json_take_key(j, key, sizeof(key)))
		if (strcmp(key, "taken_ms") == 0)
			(void)json_take_number(j, &ms);
		else if (strcmp(key, "untyped") == 0)
			read_sum(j, &t->old_none);
		else if (strcmp(key, "blocks") == 0)
			(void)json_take_number(j, &t->old_all.blocks);
		else if (strcmp(key, "bytes") == 0)
			(void)json_take_number(j, &t->old_all.bytes);
		else
			json_take_skip(j);
	t->old_taken_ns = ms < UINT64_MAX / NS_PER_MS ? ms * NS_PER_MS : UINT64_MAX;
}

static void read_process(struct json_take *j, struct by_type *t)
{
	char key[KEY];

	if (!json_take_object(j))
		return;
	while (json_take_key(j, key, sizeof(key)))
		if (strcmp(key, "census") == 0)
			read_census(j, t);
		else
			json_take_skip(j);
}

int census_json_read(const char *text, size_t len, struct by_type *t)
{
	struct json_take j = {.at = text, .end = text + len};
	bool has_types = false;
	char key[KEY];
	int err = 0;

	t->is_compared = true;
	if (!json_take_object(&j))
		return -EBADMSG;
	while (err == 0 && json_take_key(&j, key, sizeof(key))) {
		if (strcmp(key, "types") == 0) {
			has_types = true;
			err = read_rows(&j, t);
		} else if (strcmp(key, "processes") == 0 && json_take_list(&j)) {
			while (json_take_item(&j))
				read_process(&j, t);
		} else {
			json_take_skip(&j);
		}
	}
	if (err == 0 && (j.is_bad || !has_types))
		err = -EBADMSG;
	return err;
}
