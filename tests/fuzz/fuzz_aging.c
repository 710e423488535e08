/* fuzz_aging.c - any bytes as ages and births of a recording; all that is taken gives scores. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "session/load/load_beside.h"
#include "analysis/score/score.h"
#include "recording/file/recording.h"
#include "recording/parts/aging.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SITES = 8 };

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* What was taken is written again and is the same. */
static void again(const struct aging *b)
{
	struct aging more;
	uint8_t *bytes;
	size_t len;

	check(aging_encode(b, &bytes, &len) == 0);
	check(aging_decode(bytes, len, &more) == 0);
	check(more.count == b->count && more.tick == b->tick && more.limit_count == b->limit_count);
	check(b->count == 0 || memcmp(more.sites, b->sites, b->count * sizeof(*b->sites)) == 0);
	aging_release(&more);
	free(bytes);
}

/* As the sites 1 to 8 of a process; two of its ids are one site. */
static void judge(const uint8_t *data, size_t size)
{
	struct process_site sites[SITES] = {{0}};
	struct process_id ids[SITES + 1];
	struct process p = {.sites = sites, .site_count = SITES, .ids = ids, .id_count = SITES + 1};
	struct process *list[] = {&p};
	struct session s = {.processes = list, .count = 1};
	struct load_beside l = {0};
	struct forecast_rate rate = {.seen_s = 1e6};
	struct forecast f;

	for (uint32_t i = 0; i <= SITES; i++)
		ids[i] = (struct process_id){.id = i + 1, .site = i % SITES};
	for (uint32_t i = 0; i < SITES; i++)
		sites[i] = (struct process_site){.id = i + 1, .kind = SEG_SITE_HEAP};
	p.header.tick_ns = SEG_TICK_NS;
	if (size >= 16)
		memcpy(p.header.uuid, data, 16);
	check(load_beside_entry(&l, RECORDING_AGING, data, size, 1 << 20) == 0);
	check(load_beside_give(&l, &s, 0) == 0);
	load_beside_release(&l);
	for (size_t i = 0; i < SITES; i++) {
		const struct score *x = scores_of(&s, &p, i);

		if (!x)
			continue;
		check(score_class_key(x->class) && score_basis_key(x->basis));
		check(x->confidence >= 0 && x->confidence <= 1);
		check(!x->has_rate || (x->low <= x->rate && x->rate <= x->high));
		forecast_add(&rate, x);
	}
	if (forecast_make(&rate, 1e9, &f))
		check(f.low <= f.hours && f.hours <= f.high);
	if (p.aging)
		aging_release(p.aging);
	free(p.aging);
	free(p.scores);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aging b;

	if (aging_decode(data, size, &b) == 0) {
		again(&b);
		aging_release(&b);
	}
	judge(data, size);
	return 0;
}
