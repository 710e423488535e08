/* fuzz_inventory.c - any bytes as a stored inventory: what is accepted can be shown, and written again. */
/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print/json/leaks_json.h"
#include "recording/parts/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static void show(struct inventory *v, uint32_t id)
{
	struct process p = {.inventory = v};
	struct process *list[1] = {&p};
	struct session s = {.processes = list, .count = 1};
	const struct inventory_json j = {.version = "", .session = &s, .id = id, .retained = true};
	char *text = NULL;
	size_t len;
	struct json out = {.file = open_memstream(&text, &len)};

	check(out.file != NULL);
	check(inventory_json_page(&out, &p, v) == 0);
	check(inventory_json_write(out.file, &j) == 0);
	inventory_json_site(&out, &p, id);
	check(fclose(out.file) == 0);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inventory v, again;
	uint8_t *bytes;
	size_t len;

	if (inventory_decode(data, size, &v) < 0)
		return 0;
	for (size_t i = 0; i < v.site_count; i++) {
		const struct inventory_site *x = inventory_find(&v, v.sites[i].id);

		check(v.sites[i].id ? x && x->id == v.sites[i].id : !x);
	}
	show(&v, v.site_count ? v.sites[v.site_count - 1].id : 1);
	check(inventory_encode(&v, &bytes, &len) == 0);
	check(inventory_decode(bytes, len, &again) == 0);
	check(again.site_count == v.site_count && again.holder_count == v.holder_count &&
	    again.type_count == v.type_count);
	inventory_release(&again);
	free(bytes);
	inventory_release(&v);
	return 0;
}
