/* test_events_out.c - events in the formats of other tools: what is left is what lives. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "print/export/events_out.h"

enum { A = 8200, B = 8201, C = 8202, X = 0x5000 };

static struct logcode_head head;

static void put(struct events_out *o, enum events_kind kind, uint32_t name, uint64_t size)
{
	const struct events_event e = {.process = &head,
	    .kind = kind,
	    .name = name,
	    .site = 1,
	    .size = size,
	    .address = kind == EVENTS_ALLOC ? X : 0,
	    .was_found = kind == EVENTS_FREE,
	    .old_address = X};

	assert_int_equal(events_out_put(o, &e), 0);
}

/* Opens the format of mmleak; the text is in *ret_text after fclose(). */
static struct events_out *begin(struct session *s, struct view *v, FILE **ret, char **ret_text)
{
	static size_t len;
	struct events_out *o;

	*ret = open_memstream(ret_text, &len);
	assert_non_null(*ret);
	v->session = s;
	assert_int_equal(events_out_new(*ret, v, 0, EVENTS_OUT_MMLEAK, "1", &o), 0);
	return o;
}

/* How many bytes the text leaves, by addresses; a size has three words. */
static long left(const char *text, int *ret_allocations)
{
	long sizes[8] = {0}, sum = 0;
	char addresses[8][32] = {{0}};

	*ret_allocations = 0;
	for (; *text; text = strchr(text, '\n') + 1) {
		char at[32], caller[64];
		long size = 0;
		int got = sscanf(text, "%31s %63s %ld", at, caller, &size);
		int i = 0;

		/* a number of words per line */
		if (strchr(text, '\n') - text < (long)(strlen(at) + strlen(caller) + 2))
			got = 2;
		while (i < 8 && addresses[i][0] && strcmp(addresses[i], at) != 0)
			i++;
		assert_true(i < 8);
		memcpy(addresses[i], at, sizeof(at));
		if (got == 3) {
			assert_int_equal(sizes[i], 0);
			sizes[i] = size;
			++*ret_allocations;
		} else {
			assert_true(sizes[i] > 0);
			sizes[i] = 0;
		}
	}
	for (int i = 0; i < 8; i++)
		sum += sizes[i];
	return sum;
}

/*
 * B has the address of A before the free of A comes; then C, which was there
 * before B, comes and goes while B lives.
 */
TEST(an_address_that_is_used_again_in_an_unknown_order)
{
	struct process p = {0}, *list[] = {&p};
	struct session s = {.processes = list, .count = 1};
	struct view v = {0};
	struct events_out *o;
	int allocations;
	char *text;
	FILE *f;

	o = begin(&s, &v, &f, &text);
	put(o, EVENTS_ALLOC, A, 10);
	put(o, EVENTS_ALLOC, B, 20);
	put(o, EVENTS_FREE, A, 10);
	put(o, EVENTS_ALLOC, C, 40);
	put(o, EVENTS_FREE, C, 40);
	assert_int_equal(events_out_left_out(o), 0);
	assert_int_equal(events_out_written(o), 5);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(left(text, &allocations), 20);
	assert_int_equal(allocations, 3);
	events_out_free(o);
	free(text);
}

/* The other way round: B lives on while C comes and goes. */
TEST(a_block_that_lives_is_not_written_as_freed)
{
	struct process p = {0}, *list[] = {&p};
	struct session s = {.processes = list, .count = 1};
	struct view v = {0};
	struct events_out *o;
	int allocations;
	char *text;
	FILE *f;

	o = begin(&s, &v, &f, &text);
	put(o, EVENTS_ALLOC, B, 20);
	put(o, EVENTS_ALLOC, C, 40);
	put(o, EVENTS_FREE, C, 40);
	/* a free whose allocation is not there is counted */
	put(o, EVENTS_FREE, A, 10);
	assert_int_equal(events_out_left_out(o), 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(left(text, &allocations), 20);
	assert_int_equal(allocations, 2);
	events_out_free(o);
	free(text);
}
