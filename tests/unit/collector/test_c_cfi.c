/* test_c_cfi.c - promises of cfi.h: right rules, and no load out of bounds. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <link.h>

#include "test.h"
#include "collector/unwind/rules.h"

/* The segment of libc that holds its unwind tables, and what lies in it. */
struct tables {
	const uint8_t *lo, *hi, *hdr;
	uint64_t base;
};

static int find_libc(struct dl_phdr_info *info, size_t bytes, void *arg)
{
	struct tables *t = arg;
	const uint8_t *hdr = NULL;
	int i;

	(void)bytes;
	if (!strstr(info->dlpi_name, "libc.so"))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME)
			hdr = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	}
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *lo = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);

		if (p->p_type == PT_LOAD && hdr >= lo && hdr < lo + p->p_memsz)
			*t = (struct tables){lo, lo + p->p_memsz, hdr, info->dlpi_addr};
	}
	return t->hdr != NULL;
}

static struct module module_at(const struct tables *t)
{
	struct module m = {.eh_hdr = t->hdr, .seg_lo = t->lo, .seg_hi = t->hi};
	uint32_t n;

	memcpy(&n, t->hdr + 8, sizeof(n));
	m.table_count = n;
	m.table = (const int32_t *)(const void *)(t->hdr + 12);
	return m;
}

/* The function that the i-th entry of the search table begins. */
static uint64_t function_at(const struct module *m, uint32_t i)
{
	return (uint64_t)(uintptr_t)m->eh_hdr + (uint64_t)(int64_t)m->table[(size_t)i * 2];
}

TEST(functions_begin_with_the_return_address_on_top)
{
	const struct tables *t = *state;
	struct module m = module_at(t);
	uint32_t i, plain = 0;

	for (i = 0; i < m.table_count; i++) {
		struct unwind_rule r = cfi_rule(&m, function_at(&m, i));

		plain += r.kind == RULE_SP && r.cfa == 8;
	}
	assert_true(m.table_count > 1000);
	assert_true(plain > m.table_count * 9 / 10);
}

TEST(addresses_that_no_function_covers_have_no_row)
{
	const struct tables *t = *state;
	struct module m = module_at(t);
	uint64_t first = function_at(&m, 0);

	assert_int_equal(cfi_rule(&m, 16).kind, RULE_STOP);
	assert_int_equal(
	    cfi_rule(&m, function_at(&m, m.table_count - 1) + (1 << 28)).kind, RULE_STOP);
	m.table = NULL;
	assert_int_equal(cfi_rule(&m, first).kind, RULE_STOP);
}

/* A copy of the tables, in a heap block that sanitizers watch. */
static uint8_t *copy_of(const struct tables *t, struct tables *ret)
{
	size_t bytes = (size_t)(t->hi - t->lo);
	uint8_t *p = malloc(bytes);

	assert_non_null(p);
	memcpy(p, t->lo, bytes);
	*ret = (struct tables){p, p + bytes, p + (t->hdr - t->lo), t->base + (uint64_t)(p - t->lo)};
	return p;
}

TEST(rows_do_not_depend_on_where_the_module_lies)
{
	const struct tables *t = *state;
	struct tables moved;
	uint8_t *p = copy_of(t, &moved);
	struct module a = module_at(t), b = module_at(&moved);
	uint32_t i, k;

	for (i = 0; i < a.table_count; i += 7) {
		for (k = 0; k < 200; k += 13) {
			struct unwind_rule ra = cfi_rule(&a, function_at(&a, i) + k);
			struct unwind_rule rb = cfi_rule(&b, function_at(&b, i) + k);

			assert_memory_equal(&ra, &rb, sizeof(ra));
		}
	}
	free(p);
}

/* Hostile tables give odd rows; what must not happen is a stray load. */
TEST(damaged_tables_are_read_within_bounds)
{
	const struct tables *t = *state;
	unsigned seed = 3, round, i;

	for (round = 0; round < 40; round++) {
		struct tables broken;
		uint8_t *p = copy_of(t, &broken);
		size_t from = (size_t)(broken.hdr - broken.lo) + 12;
		size_t bytes = (size_t)(broken.hi - broken.lo) - from;
		struct module m;

		for (i = 0; i < 20000; i++)
			p[from + (((size_t)rand_r(&seed) << 15) ^ (size_t)rand_r(&seed)) % bytes] =
			    (uint8_t)rand_r(&seed);
		m = module_at(&broken);
		for (i = 0; i < m.table_count; i += 3)
			cfi_rule(&m, function_at(&m, i) + i % 64);
		free(p);
	}
}

static int find(void **state)
{
	static struct tables libc;

	*state = &libc;
	return dl_iterate_phdr(find_libc, &libc) ? 0 : -1;
}

TEST_GROUP(find, NULL);
