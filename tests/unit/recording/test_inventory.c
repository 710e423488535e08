/* test_inventory.c - who held what, as an entry of a recording. */
/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "recording/parts/inventory.h"

static struct inventory_site sites[] = {
    {.id = 0, .live = {1, 8}, .retained = {1, 8}},
    {.id = 7,
        .function = "dict_add",
        .held = "global `sessions`+0x40 -> a block of dict_expand (8 MiB)",
        .live = {500, 24000},
        .retained = {1000, 36000}},
    {.id = 9, .function = "key_copy", .live = {500, 12000}},
};

static struct inventory_holder holders[] = {
    {.retained = {1001, 38048}, .way = "global `sessions`+0x40"},
};

static struct inventory_type types[] = {
    {.name = "app::session", .basis = INVENTORY_VTABLE, .live = {20, 800}},
    {.name = "int", .container = "std::vector", .basis = INVENTORY_FRAMES, .live = {1, 4096}},
};

static struct inventory example(void)
{
	return (struct inventory){.has_holders = true,
	    .has_types = true,
	    .at_exit = true,
	    .time_ns = 5,
	    .taken_ns = UINT64_MAX,
	    .all = {1002, 38056},
	    .unheld = {3, UINT64_MAX},
	    .counted = {1005, 40000},
	    .untyped = {984, 35104},
	    .sites = sites,
	    .site_count = 3,
	    .holders = holders,
	    .holder_count = 1,
	    .types = types,
	    .type_count = 2};
}

TEST(what_is_written_is_read)
{
	struct inventory v = example(), again;
	uint8_t *bytes;
	size_t len;

	assert_int_equal(inventory_encode(&v, &bytes, &len), 0);
	assert_int_equal(inventory_decode(bytes, len, &again), 0);
	assert_true(again.has_holders && again.has_types && again.at_exit);
	assert_false(again.is_partial || again.is_short);
	assert_memory_equal(&again.all, &v.all, sizeof(v.all));
	assert_memory_equal(&again.unheld, &v.unheld, sizeof(v.unheld));
	assert_int_equal(again.site_count, 3);
	assert_null(again.sites[0].function);
	assert_null(again.sites[0].held);
	assert_string_equal(again.sites[1].held, sites[1].held);
	assert_memory_equal(
	    &again.sites[1].retained, &sites[1].retained, sizeof(struct inventory_sum));
	assert_ptr_equal(inventory_find(&again, 9), &again.sites[2]);
	assert_null(inventory_find(&again, 8));
	assert_null(inventory_find(&again, 0)); /* that is no id */
	assert_string_equal(again.holders[0].way, holders[0].way);
	assert_string_equal(again.types[1].container, "std::vector");
	assert_int_equal(again.types[1].basis, INVENTORY_FRAMES);
	inventory_release(&again);
	/* an entry that is cut off anywhere is damaged */
	for (size_t i = 0; i < len; i++)
		assert_int_equal(inventory_decode(bytes, i, &again), -EBADMSG);
	free(bytes);
}

TEST(long_texts_are_cut)
{
	char *text = calloc(1, INVENTORY_TEXT_MAX + 100);
	struct inventory_holder holder = {.way = text};
	struct inventory v = {.has_holders = true, .holders = &holder, .holder_count = 1};
	struct inventory again;
	uint8_t *bytes;
	size_t len;

	assert_non_null(text);
	memset(text, 'x', INVENTORY_TEXT_MAX + 50);
	assert_int_equal(inventory_encode(&v, &bytes, &len), 0);
	assert_int_equal(inventory_decode(bytes, len, &again), 0);
	assert_int_equal(strlen(again.holders[0].way), INVENTORY_TEXT_MAX);
	inventory_release(&again);
	free(bytes);
	free(text);
}

/* Sets a number of 4 or 8 bytes and decodes; the bytes are as before then. */
static int decode_with(uint8_t *bytes, size_t len, size_t offset, uint64_t value, size_t width)
{
	struct inventory v;
	uint8_t old[8];
	int err;

	memcpy(old, bytes + offset, width);
	memcpy(bytes + offset, &value, width);
	err = inventory_decode(bytes, len, &v);
	memcpy(bytes + offset, old, width);
	if (err == 0)
		inventory_release(&v);
	return err;
}

TEST(numbers_that_cannot_be_are_refused)
{
	enum { SITES = 120, SITE = 48, HOLDERS = SITES + 3 * SITE };
	enum { TYPES = HOLDERS + 24 };
	struct inventory v = example();
	uint8_t *bytes;
	size_t len;

	assert_int_equal(inventory_encode(&v, &bytes, &len), 0);
	/* sizes and counts of rows; the bytes of all texts */
	for (size_t at = 0; at < 40; at += 4)
		if (at != 4 && at != 36)
			assert_int_equal(decode_with(bytes, len, at, UINT32_MAX, 4), -EBADMSG);
	/* texts that are not there */
	assert_int_equal(decode_with(bytes, len, SITES + 4, len, 4), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, SITES + 8, UINT32_MAX, 4), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, HOLDERS, 0, 4), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, TYPES, 0, 4), -EBADMSG);
	/* ids that go backwards; more than all */
	assert_int_equal(decode_with(bytes, len, SITES + 2 * SITE, 6, 4), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, HOLDERS + 16, 38057, 8), -EBADMSG);
	assert_int_equal(decode_with(bytes, len, TYPES + 24, 40001, 8), -EBADMSG);
	/* a basis of a later version is left out */
	assert_int_equal(decode_with(bytes, len, TYPES + 8, INVENTORY_BASES, 4), 0);
	bytes[len - 1] = 'x'; /* a text without an end */
	assert_int_equal(decode_with(bytes, len, SITES, 0, 4), -EBADMSG);
	free(bytes);
}

TEST(too_many_rows_are_refused)
{
	struct inventory v = {.sites = sites};
	uint8_t *bytes;
	size_t len;

	v.site_count = INVENTORY_SITES_MAX + 1;
	assert_int_equal(inventory_encode(&v, &bytes, &len), -EFBIG);
}
